package narrow

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"sift.build/sift/internal/sift"
)

// Bounds on a pattern.
const (
	patternMax = 1000 // characters

	// sizeMax bounds the steps of a pattern, its repeats written out. Each may
	// have to be tried at each character: about 40 ns of work in the worst case.
	sizeMax = 2000

	// wideMax bounds the wide ranges of characters in a pattern that may ignore
	// case: the parser walks through each of them, for up to 6 ms, and cannot be
	// stopped.
	wideMax = 8
)

// Pattern is a pattern that can be searched for, by any number of goroutines.
type Pattern struct {
	text string

	// re finds a line if the pattern does, and is cheaper to search for: see core.
	re   *regexp.Regexp
	size int // steps of it, at least those of the compiled program

	// behind is re with a character before it. Looking from the middle of a line,
	// only this sees what stands before.
	behind *regexp.Regexp

	// literal is what re finds if it is one text; "" if it is not.
	literal string
}

// String gives the pattern as it was written.
func (p *Pattern) String() string { return p.text }

// ParsePattern reads a pattern. The error is a Failure with code invalid: it
// says what is wrong with the pattern and where, and what to write instead.
func ParsePattern(s string) (*Pattern, error) {
	if s == "" {
		return nil, sift.Fail(sift.CodeInvalid, "grep has an empty pattern; leave it out to get the whole content")
	}
	if n := utf8.RuneCountInString(s); n > patternMax {
		return nil, sift.Fail(sift.CodeInvalid, "grep has a pattern of %d characters; at most %d can be searched for at once", n, patternMax)
	}
	if n := wideRanges(s); n > wideMax {
		return nil, sift.Fail(sift.CodeInvalid,
			`grep has a pattern with %d wide ranges of characters; at most %d can be searched for at once. Name a script instead, such as \p{Greek}`, n, wideMax)
	}
	tree, err := syntax.Parse(s, syntax.Perl)
	if err != nil {
		return nil, refusal(s, err)
	}
	tree = core(tree)
	// Before it is compiled: in 1,000 characters one can ask for a million steps.
	size := steps(tree) + 2 // the beginning and the match
	if size > sizeMax {
		return nil, sift.Fail(sift.CodeInvalid,
			"grep has a pattern that is too large: with its repeats written out it has %d steps, and at most %d can be searched for. Use smaller counts, or .* instead of .{0,1000}", size, sizeMax)
	}
	p := &Pattern{text: s, size: size}
	if tree.Op == syntax.OpLiteral && tree.Flags&syntax.FoldCase == 0 && !slices.Contains(tree.Rune, utf8.RuneError) { // which finds bytes that are no character
		p.literal = string(tree.Rune)
	}
	if p.re, err = regexp.Compile(tree.String()); err != nil {
		return nil, fmt.Errorf("narrow: core of pattern %q: %w", s, err)
	}
	if p.behind, err = regexp.Compile("(?s:.)(?:" + tree.String() + ")"); err != nil {
		return nil, fmt.Errorf("narrow: pattern %q behind a character: %w", s, err)
	}
	return p, nil
}

// core gives what is to be searched for, so that a pattern is found. A repeat at
// the beginning or the end need not be there more often than it must: a line that
// matches .{0,200}foo.* is one with foo in it, which is found a hundred times
// faster. All other repeats are made to take as little as they can: that changes
// where a match ends, which nobody asks for, and spares reading on to the end of a
// long line.
func core(re *syntax.Regexp) *syntax.Regexp {
	for {
		switch re.Op {
		case syntax.OpConcat:
			subs := slices.Clone(re.Sub)
			for len(subs) > 0 {
				least := atLeast(subs[0])
				if least != nil && least == subs[0] {
					break
				}
				if subs = subs[1:]; least != nil {
					subs = slices.Concat([]*syntax.Regexp{least}, subs)
				}
			}
			for len(subs) > 0 {
				n := len(subs) - 1
				least := atLeast(subs[n])
				if least != nil && least == subs[n] {
					break
				}
				if subs = subs[:n]; least != nil {
					subs = append(subs, least)
				}
			}
			switch len(subs) {
			case 0:
				return &syntax.Regexp{Op: syntax.OpEmptyMatch}
			case 1:
				re = subs[0]
				continue
			}
			re = &syntax.Regexp{Op: syntax.OpConcat, Flags: re.Flags, Sub: subs}
		case syntax.OpAlternate:
			subs := slices.Clone(re.Sub)
			for i := range subs {
				subs[i] = core(subs[i])
			}
			re = &syntax.Regexp{Op: syntax.OpAlternate, Flags: re.Flags, Sub: subs}
		default:
			least := atLeast(re)
			if least == nil {
				return &syntax.Regexp{Op: syntax.OpEmptyMatch}
			}
			if least != re {
				re = least
				continue
			}
		}
		reluctant(re)
		return re
	}
}

// atLeast gives the least that must be there of a repeat, nil for nothing, and
// what a group is of; anything else is itself.
func atLeast(re *syntax.Regexp) *syntax.Regexp {
	switch {
	case re.Op == syntax.OpStar, re.Op == syntax.OpQuest, re.Op == syntax.OpRepeat && re.Min == 0:
		return nil
	case re.Op == syntax.OpCapture, re.Op == syntax.OpPlus, re.Op == syntax.OpRepeat && re.Min == 1:
		return re.Sub[0]
	case re.Op == syntax.OpRepeat && re.Max != re.Min:
		least := *re
		least.Max = re.Min
		return &least
	default:
		return re
	}
}

// reluctant makes every repeat in a tree take as little as it can.
func reluctant(re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		re.Flags |= syntax.NonGreedy
	}
	for _, sub := range re.Sub {
		reluctant(sub)
	}
}

// steps counts the instructions of the program that a tree is compiled to, or
// more.
func steps(re *syntax.Regexp) int {
	n := 0
	for _, sub := range re.Sub {
		n += steps(sub)
	}
	switch re.Op {
	case syntax.OpLiteral:
		return max(len(re.Rune), 1)
	case syntax.OpCapture, syntax.OpStar:
		return n + 2
	case syntax.OpPlus, syntax.OpQuest:
		return n + 1
	case syntax.OpConcat:
		return max(n, 1)
	case syntax.OpAlternate:
		return n + len(re.Sub)
	case syntax.OpRepeat:
		if re.Max < 0 { // x{2,} is xx+
			return n*max(re.Min, 1) + 2
		}
		return max(n*re.Max+re.Max-re.Min, 1)
	default:
		return 1
	}
}

// wideRanges counts the ranges of more than 1,000 characters, and those whose
// end is written as an escape, in a pattern that may ignore case.
func wideRanges(s string) int {
	if !strings.Contains(s, "(?") {
		return 0
	}
	const wide = 1000
	n := 0
	for i := 0; i < len(s); {
		end := partEnd(s, i)
		if s[i] == '[' {
			for ; i < end; i++ {
				if s[i] != '-' {
					continue
				}
				lo, _ := utf8.DecodeLastRuneInString(s[:i])
				if hi, _ := utf8.DecodeRuneInString(s[i+1:]); hi == '\\' || hi-lo > wide {
					n++
				}
			}
		}
		i = end
	}
	return n
}

// refusal says what is wrong with a pattern.
func refusal(s string, err error) error {
	e, ok := errors.AsType[*syntax.Error](err)
	if !ok {
		return sift.Fail(sift.CodeInvalid, "grep has a pattern that cannot be read: %s", err).WithCause(err)
	}
	what, do := fault(e)
	where := ""
	if at, n, ok := place(s, e); ok {
		where = fmt.Sprintf(" at character %d, between the marks in %s", utf8.RuneCountInString(s[:at])+1, marked(s, at, n))
	}
	return sift.Fail(sift.CodeInvalid, "grep has a broken pattern: %s%s; %s", what, where, do).WithCause(err)
}

// fault puts an error of the parser into words: what is wrong, and what to do.
func fault(e *syntax.Error) (what, do string) {
	expr := quoted(e.Expr)
	switch e.Code {
	case syntax.ErrMissingParen:
		return `a "(" is not closed, ")" is missing`, `close it, or write \( for the sign itself`
	case syntax.ErrUnexpectedParen:
		return `a ")" closes nothing`, `write \) for the sign itself`
	case syntax.ErrMissingBracket:
		return `a "[" is not closed, "]" is missing`, `close it, or write \[ for the sign itself`
	case syntax.ErrInvalidCharRange:
		switch {
		case strings.HasPrefix(e.Expr, `\`), strings.HasPrefix(e.Expr, "[:"):
			return expr + " is no class of characters", `write one like \p{Greek}, [[:alpha:]], \w or [a-z]`
		default:
			return expr + " is no range of characters", `write it from the lower to the higher one, and \- for the sign itself`
		}
	case syntax.ErrInvalidEscape:
		if c := strings.TrimPrefix(e.Expr, `\`); c != "" && c[0] >= '1' && c[0] <= '9' {
			return expr + " refers back to a group", "RE2 patterns cannot do that; write out what is to be found"
		}
		return expr + " means nothing", `write \\ for a backslash, and \b, \d, \s or \w for what they stand for`
	case syntax.ErrTrailingBackslash:
		return "a backslash has nothing behind it", `write \\ for the sign itself`
	case syntax.ErrMissingRepeatArgument:
		return expr + " has nothing before it to repeat", `write \` + firstOf(e.Expr) + " for the sign itself"
	case syntax.ErrInvalidRepeatOp:
		return expr + " repeats what is repeated already", "leave one out; RE2 patterns have no possessive repeats"
	case syntax.ErrInvalidRepeatSize:
		return "the repeat " + expr + " is out of range", "counts go from the lower to the higher one and up to 1000, repeats inside repeats multiplied"
	case syntax.ErrInvalidPerlOp, syntax.ErrInvalidNamedCapture:
		for _, sign := range []string{"(?=", "(?!", "(?<=", "(?<!"} {
			if strings.HasPrefix(e.Expr, sign) {
				return quoted(sign) + " looks ahead or behind", "RE2 patterns cannot do that; search for the text itself, its neighbours are shown anyway"
			}
		}
		if e.Code == syntax.ErrInvalidNamedCapture {
			return expr + " is no named group", "leave the name out"
		}
		return expr + " means nothing", `write (?i) to ignore case, (?:…) for a group, and \( for the sign itself`
	case syntax.ErrInvalidUTF8:
		return "it is not UTF-8", "send it as UTF-8"
	case syntax.ErrLarge, syntax.ErrNestingDepth:
		return "it is too large or nested too deeply", "use smaller repeat counts and fewer groups"
	default:
		return string(e.Code) + " " + expr, "write it as RE2 has it"
	}
}

func firstOf(s string) string {
	_, size := utf8.DecodeRuneInString(s)
	return s[:size]
}

// placeTries bounds how often a pattern is parsed to find where it is broken.
const placeTries = 8

// place finds what is wrong in a pattern: n bytes at at. The parser tells the
// text but not the place of it, and for parentheses not even that.
func place(s string, e *syntax.Error) (at, n int, ok bool) {
	switch e.Code {
	case syntax.ErrMissingParen, syntax.ErrUnexpectedParen:
		at = oddParen(s)
		return at, 1, at >= 0
	case syntax.ErrTrailingBackslash:
		return len(s) - 1, 1, true
	case syntax.ErrMissingBracket:
		return len(s) - len(e.Expr), 1, strings.HasSuffix(s, e.Expr)
	case syntax.ErrInvalidUTF8:
		for i, r := range s {
			if r == utf8.RuneError && !strings.HasPrefix(s[i:], "\ufffd") {
				return i, 1, true
			}
		}
		return 0, 0, false
	}
	if e.Expr == "" || e.Expr == s {
		return 0, len(s), e.Expr != ""
	}
	// The same text may stand earlier, where nothing is wrong with it.
	for range placeTries {
		i := strings.Index(s[at:], e.Expr)
		if i < 0 {
			return 0, 0, false
		}
		at += i
		_, err := syntax.Parse(s[:at+len(e.Expr)], syntax.Perl)
		if found, is := errors.AsType[*syntax.Error](err); is && *found == *e {
			return at, len(e.Expr), true
		}
		at++
	}
	return 0, 0, false
}

// oddParen gives the place of the first ")" that closes nothing, else of the
// last "(" that nothing closes; -1 when there is neither.
func oddParen(s string) int {
	var open []int
	for i := 0; i < len(s); i = partEnd(s, i) {
		switch s[i] {
		case '(':
			open = append(open, i)
		case ')':
			if len(open) == 0 {
				return i
			}
			open = open[:len(open)-1]
		}
	}
	if len(open) == 0 {
		return -1
	}
	return open[len(open)-1]
}

// partEnd gives the end of the escape, the quotation, the class or the single
// byte that begins at s[i].
func partEnd(s string, i int) int {
	switch {
	case strings.HasPrefix(s[i:], `\Q`): // literal up to \E
		if end := strings.Index(s[i:], `\E`); end >= 0 {
			return i + end + 2
		}
		return len(s)
	case s[i] == '\\':
		return min(i+2, len(s))
	case s[i] == '[':
		return classEnd(s, i)
	default:
		return i + 1
	}
}

// classEnd gives the end of the class of characters that begins at s[i].
func classEnd(s string, i int) int {
	i++
	if i < len(s) && s[i] == '^' {
		i++
	}
	for first := true; i < len(s); first = false {
		switch {
		case s[i] == ']' && !first: // a first one is a character of the class
			return i + 1
		case s[i] == '\\':
			i += 2
		case strings.HasPrefix(s[i:], "[:"):
			i += 2
			if end := strings.Index(s[i:], ":]"); end >= 0 {
				i += end + 2
			} else {
				i-- // a bracket like any other character
			}
		default:
			i++
		}
	}
	return min(i, len(s))
}

// marked shows a pattern with marks around n bytes of it, and no more of it than
// helps to find them.
func marked(s string, at, n int) string {
	const around, most = 30, 40
	before, fault, after := s[:at], s[at:at+n], s[at+n:]
	if i := back(before, len(before), around); i > 0 {
		before = "…" + before[i:]
	}
	if i := forward(fault, 0, most); i < len(fault) {
		fault = fault[:i] + "…"
	}
	if i := forward(after, 0, around); i < len(after) {
		after = after[:i] + "…"
	}
	return quoted(before + ">>>" + fault + "<<<" + after)
}

// quoted shows a part of a pattern, cut, its backslashes as they were written.
func quoted(s string) string {
	const most = 120
	if i := forward(s, 0, most); i < len(s) {
		s = s[:i] + "…"
	}
	for _, r := range s {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return strconv.QuoteToGraphic(s)
		}
	}
	return `"` + s + `"`
}
