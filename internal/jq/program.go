package jq

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/itchyny/gojq"

	"sift.build/sift/internal/sift"
	"sift.build/sift/internal/spelling"
)

// MaxProgram is how many bytes a program may have.
const MaxProgram = 16 << 10

// maxNesting bounds how deep the parts of a program stand in each other: it is
// compiled in this process, by functions that call themselves.
const maxNesting = 1000

// Parse checks a program before anything is fetched for it: that it can be read
// and knows all that it names. The error is a *sift.Failure with code invalid.
func Parse(program string) error {
	_, err := compile(program, gojq.NewIter[any](), newKeyOrder())
	if err != nil {
		return sift.Fail(sift.CodeInvalid, "jq has %s", err).WithCause(err)
	}
	return nil
}

// prelude is what jq has and gojq has not, or leaves to its caller. What debug
// and stderr would print is seen by nobody.
const prelude = `
def debug: .;
def stderr: .;
def input_filename: null;
def keys_unsorted: keys;
def ascii: [.] | implode;
def leaf_paths: paths(scalars);
def toarray: if type == "array" then . else [.] end;
def date: todate;
def dateadd(u; n): . + n;
def datesub(u; n): . - n;
def todate(f): strftime(f);
def have_literal_numbers: true;
def have_decnum: false;
.`

// compiled is a program that is ready to run.
type compiled struct {
	code *gojq.Code
	// nothing says that the program runs once, on null, as with jq -n: it reads
	// documents itself and never looks at the one that it would be given.
	nothing bool
}

// programError says what is wrong with a program, to follow "jq has ".
type programError struct{ text string }

func (e *programError) Error() string { return e.text }

func broken(format string, args ...any) error { return &programError{fmt.Sprintf(format, args...)} }

// compile makes a program ready. Documents that it reads itself come from more.
// What it writes as objects is noted in order.
func compile(program string, more gojq.Iter, order *keyOrder) (*compiled, error) {
	switch {
	case len(program) > MaxProgram:
		return nil, broken("a program of %d bytes; at most %d are run", len(program), MaxProgram)
	case !utf8.ValidString(program):
		return nil, broken("a program that is no valid UTF-8")
	case strings.TrimSpace(program) == "":
		return nil, broken("an empty program; “.” gives the whole JSON")
	case strings.ContainsRune(program, 0):
		return nil, broken("a program with a zero byte")
	}
	if depth(program) > maxNesting {
		return nil, broken("a program whose parts stand more than %d deep in each other", maxNesting)
	}
	q, err := gojq.Parse(program)
	if err != nil {
		return nil, unreadable(program, err)
	}
	s := survey(q)
	if err := s.refused(program); err != nil {
		return nil, err
	}
	own, err := gojq.Parse(prelude)
	if err != nil {
		return nil, fmt.Errorf("prelude: %w", err)
	}
	for _, keys := range s.objects {
		order.object(keys)
	}
	nothing := s.reads && !s.looksAtInput(q)
	q.FuncDefs = append(own.FuncDefs, q.FuncDefs...)
	code, err := gojq.Compile(q, gojq.WithInputIter(more))
	if err != nil {
		return nil, s.unknown(program, err)
	}
	return &compiled{code: code, nothing: nothing}, nil
}

// depth is how deep the brackets of a program stand in each other, at most.
// Those in strings count too.
func depth(program string) int {
	open, most := 0, 0
	for i := range len(program) {
		switch program[i] {
		case '(', '[', '{':
			open++
			most = max(most, open)
		case ')', ']', '}':
			open--
		}
	}
	return most
}

// unreadable says where a program breaks off.
func unreadable(program string, err error) error {
	e, ok := errors.AsType[*gojq.ParseError](err)
	if !ok {
		return broken("a broken program: %s", clean(err.Error(), maxText))
	}
	at := min(max(e.Offset-len(e.Token), 0), len(program))
	what := clean(e.Error(), maxText)
	if e.Token == "" {
		at = len(program)
		what = strings.Replace(what, "unexpected EOF", "it ends too early", 1)
	}
	return broken("a broken program: %s%s%s", what, place(program, at), habit(program))
}

// habit recognises what is written out of habit with the jq of a shell.
func habit(program string) string {
	p := strings.TrimSpace(program)
	switch {
	case strings.HasPrefix(p, "jq "):
		return "; give the program alone, without the word jq"
	case len(p) > 2 && p[0] == '-' && (p[1] == '-' || 'a' <= p[1] && p[1] <= 'z' && (p[2] == ' ' || p[2] == '\'')):
		return "; give the program alone, without options of the command: [inputs] stands for -s, and inputs for -n"
	case p[0] == '\'':
		return "; leave out the quotes of the shell"
	case strings.Contains(p, "'") && !strings.Contains(p, `"`):
		return "; strings stand in double quotes"
	}
	return ""
}

// place says where in a program something stands, and what stands there.
func place(program string, at int) string {
	before := program[:at]
	start := strings.LastIndexByte(before, '\n') + 1
	text := fmt.Sprintf(" at line %d, column %d", strings.Count(before, "\n")+1, utf8.RuneCountInString(program[start:at])+1)
	left := lastChars(program[start:at], shown)
	right, _, _ := strings.Cut(program[at:], "\n")
	right = firstChars(right, shown)
	switch {
	case right == "" && left == "":
		return text
	case right == "":
		return fmt.Sprintf("%s, behind `%s`", text, clean(left, maxText))
	default:
		return fmt.Sprintf("%s: `%s ⟨here⟩ %s`", text, clean(left, maxText), clean(right, maxText))
	}
}

func firstChars(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i] + "…"
		}
	}
	return s
}

func lastChars(s string, n int) string {
	for i := len(s); i > 0; n-- {
		if n == 0 {
			return "…" + s[i:]
		}
		_, size := utf8.DecodeLastRuneInString(s[:i])
		i -= size
	}
	return s
}

// unknown says what a program names that there is not.
func (s *surveyed) unknown(program string, err error) error {
	text := err.Error()
	if name, ok := strings.CutPrefix(text, "function not defined: "); ok {
		name, arity, _ := strings.Cut(name, "/")
		return broken("a call of %s/%s, which is not defined%s%s", clean(name, maxText), arity, place(program, find(program, name)), cmp.Or(habit(program), suggest(name)))
	}
	if name, ok := strings.CutPrefix(text, "variable not defined: "); ok {
		why := "; a program is given no variables but $ENV, which is empty"
		return broken("the variable %s, which is not defined%s%s", clean(name, maxText), place(program, find(program, name)), why)
	}
	if name, ok := strings.CutPrefix(text, "label not defined: "); ok {
		return broken("a break to the label %s, which is not defined%s", clean(name, maxText), place(program, find(program, name)))
	}
	return broken("a broken program: %s", clean(text, maxText))
}

// find looks for a name outside of strings and comments, else anywhere.
func find(program, name string) int {
	hidden, quoted := false, false
	anywhere := -1
	for i := 0; i < len(program); i++ {
		c := program[i]
		switch {
		case hidden:
			hidden = c != '\n'
			continue
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case c == '#' && !quoted:
			hidden = true
		}
		if !namedAt(program, i, name) {
			continue
		}
		if !quoted {
			return i
		}
		if anywhere < 0 {
			anywhere = i
		}
	}
	if anywhere < 0 {
		return max(strings.Index(program, name), 0)
	}
	return anywhere
}

func namedAt(program string, i int, name string) bool {
	if !strings.HasPrefix(program[i:], name) {
		return false
	}
	end := i + len(name)
	return (i == 0 || !isName(program[i-1]) && program[i-1] != '.' && program[i-1] != '$') && (end == len(program) || !isName(program[end]))
}

func isName(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_'
}

// suggest says what a name may have been meant to be.
func suggest(name string) string {
	if len(name) > 2*sift.QuoteMax {
		return ""
	}
	type def struct{ name, arity string }
	var all []def
	for _, b := range builtins() {
		n, a, _ := strings.Cut(b, "/")
		all = append(all, def{n, a})
	}
	var arities []string
	for _, d := range all {
		if d.name == name {
			arities = append(arities, d.arity)
		}
	}
	if len(arities) > 0 {
		s := "arguments"
		if len(arities) == 1 && arities[0] == "1" {
			s = "argument"
		}
		return fmt.Sprintf("; %s takes %s %s", name, strings.Join(arities, " or "), s)
	}
	best, far := "", len(name)/3+1
	for _, d := range all {
		if more := len(name) - len(d.name); more >= far || -more >= far {
			continue // and so not compared letter by letter, long as it may be
		}
		if n := spelling.Distance([]byte(name), []byte(d.name)); n < far {
			best, far = d.name, n
		}
	}
	if best == "" {
		return "; the manual of jq lists what there is"
	}
	return fmt.Sprintf("; is %s meant?", best)
}

// builtins lists the functions that programs may call, as name/arity.
func builtins() []string {
	q, err := gojq.Parse("builtins[]")
	if err != nil {
		return nil
	}
	var names []string
	iter := q.Run(nil)
	for v, ok := iter.Next(); ok; v, ok = iter.Next() {
		if s, ok := v.(string); ok {
			names = append(names, s)
		}
	}
	if own, err := gojq.Parse(prelude); err == nil {
		for _, d := range own.FuncDefs {
			names = append(names, fmt.Sprintf("%s/%d", d.Name, len(d.Args)))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
