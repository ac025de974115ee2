package config

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The TOML library checks a document and gives its values, but keeps to itself
// on which line each stands (and forgets it for all but the last of several
// [[caller]]). So the lines are found here, by a scanner that knows just enough
// TOML to tell keys, values and comments apart. It trusts the library to refuse
// what is no TOML: where it meets such a thing it stops.

// lines is where one table, value or list entry stands, with what is in it.
// All methods work on nil, which stands nowhere.
type lines struct {
	at      int  // the line, from 1
	defined bool // by a header or an assignment of its own, not only as part of a longer key
	table   map[string]*lines
	list    []*lines // entries of a list, or the tables of an array of tables
}

// key is what stands under a key of this table.
func (n *lines) key(name string) *lines {
	if n == nil {
		return nil
	}
	return n.table[name]
}

// entry is the i-th entry of this list, from 0.
func (n *lines) entry(i int) *lines {
	if n == nil || i < 0 || i >= len(n.list) {
		return nil
	}
	return n.list[i]
}

// line is where this stands, or the line of what holds it.
func (n *lines) line(otherwise int) int {
	if n == nil || n.at == 0 {
		return otherwise
	}
	return n.at
}

// inner finds or makes what stands under a key.
func (n *lines) inner(name string, line int) *lines {
	if n.table == nil {
		n.table = make(map[string]*lines)
	}
	if n.table[name] == nil {
		n.table[name] = &lines{at: line}
	}
	return n.table[name]
}

// latest is the table that the next part of a header or dotted key goes into:
// of an array of tables, the last.
func (n *lines) latest() *lines {
	if len(n.list) > 0 {
		return n.list[len(n.list)-1]
	}
	return n
}

// maxNesting bounds tables and lists within each other and the parts of a key.
// The library reads nested lists by recursion and long keys in quadratic time;
// nothing that we read is deeper than three.
const maxNesting = 16

var (
	errNotTOML = errors.New("not TOML")
	errNesting = errors.New("lists, tables or keys nested too deep")
)

// scan is what a scanner finds out about a document.
type scan struct {
	root   *lines
	keys   [][]string  // every header and key with its whole path, in order
	second map[int]int // lines that set a key again → the line that set it first
}

// scanLines finds the lines of a document. After an error, which line names,
// the scan holds what stands before.
func scanLines(document string) (found scan, line int, err error) {
	s := scanner{rest: withoutMark(document), line: 1, found: scan{root: &lines{at: 1}, second: make(map[int]int)}}
	err = s.document()
	return s.found, s.line, err
}

// withoutMark takes a byte order mark off, as the library does.
func withoutMark(document string) string {
	for _, mark := range []string{"\ufeff", "\xff\xfe", "\xfe\xff"} {
		if rest, ok := strings.CutPrefix(document, mark); ok {
			return rest
		}
	}
	return document
}

type scanner struct {
	rest  string
	line  int
	found scan
}

// skip goes n bytes on.
func (s *scanner) skip(n int) {
	s.line += strings.Count(s.rest[:n], "\n")
	s.rest = s.rest[n:]
}

// take goes over text if it comes next.
func (s *scanner) take(text string) bool {
	if !strings.HasPrefix(s.rest, text) {
		return false
	}
	s.skip(len(text))
	return true
}

// spaces goes over blanks on this line.
func (s *scanner) spaces() { s.skip(len(s.rest) - len(strings.TrimLeft(s.rest, " \t"))) }

// blank goes over blanks, newlines, comments and whatever else is in also.
func (s *scanner) blank(also string) {
	for {
		s.skip(len(s.rest) - len(strings.TrimLeft(s.rest, " \t\r\n"+also)))
		if !strings.HasPrefix(s.rest, "#") {
			return
		}
		if end := strings.IndexByte(s.rest, '\n'); end >= 0 {
			s.skip(end)
		} else {
			s.skip(len(s.rest))
		}
	}
}

func (s *scanner) document() error {
	table, path := s.found.root, []string(nil)
	for {
		s.blank("")
		if s.rest == "" {
			return nil
		}
		line := s.line
		if s.take("[") {
			array := s.take("[")
			parts, err := s.path("]")
			if err != nil {
				return err
			}
			if !s.take("]") || array && !s.take("]") {
				return errNotTOML
			}
			path = parts
			s.found.keys = append(s.found.keys, path)
			table = s.header(path, array, line)
			continue
		}
		if err := s.assignment(table, path, 0); err != nil {
			return err
		}
	}
}

// header is the table that [path] or [[path]] opens.
func (s *scanner) header(path []string, array bool, line int) *lines {
	n := s.found.root
	for _, part := range path[:len(path)-1] {
		n = n.inner(part, line).latest()
	}
	n = n.inner(path[len(path)-1], line)
	if array {
		n.defined = true
		n.list = append(n.list, &lines{at: line, defined: true})
		return n.latest()
	}
	s.define(n, line)
	return n
}

// define says that n is set on this line, unless it was on another before.
func (s *scanner) define(n *lines, line int) {
	if n.defined {
		s.found.second[line] = n.at
		return
	}
	n.at, n.defined = line, true
}

// assignment reads `key = value` into a table.
func (s *scanner) assignment(table *lines, path []string, depth int) error {
	line := s.line
	parts, err := s.path("=")
	if err != nil {
		return err
	}
	if !s.take("=") {
		return errNotTOML
	}
	path = append(slices.Clip(path), parts...)
	s.found.keys = append(s.found.keys, path)
	for _, part := range parts[:len(parts)-1] {
		table = table.inner(part, line).latest()
	}
	n := table.inner(parts[len(parts)-1], line)
	s.define(n, line)
	s.spaces()
	return s.value(n, path, depth)
}

// path reads a key up to, not over, what must end it.
func (s *scanner) path(end string) ([]string, error) {
	var parts []string
	for {
		if len(parts) >= maxNesting {
			return nil, errNesting
		}
		s.spaces()
		part, ok := s.part()
		if !ok {
			return nil, errNotTOML
		}
		parts = append(parts, part)
		s.spaces()
		if strings.HasPrefix(s.rest, end) {
			return parts, nil
		}
		if !s.take(".") {
			return nil, errNotTOML
		}
	}
}

// part reads one part of a key.
func (s *scanner) part() (string, bool) {
	if strings.HasPrefix(s.rest, `"`) || strings.HasPrefix(s.rest, "'") {
		raw, ok := s.quoted(s.rest[:1])
		if !ok {
			return "", false
		}
		if raw[0] == '\'' {
			return raw[1 : len(raw)-1], true
		}
		return unescape(raw[1 : len(raw)-1]), true
	}
	end := strings.IndexAny(s.rest, " \t\r\n.=[]{}\"'#,")
	if end <= 0 {
		return "", false
	}
	part := s.rest[:end]
	s.skip(end)
	return part, true
}

// quoted goes over a string that begins and ends with mark and returns it with
// its marks.
func (s *scanner) quoted(mark string) (string, bool) {
	for i := len(mark); i < len(s.rest); i++ {
		switch {
		case s.rest[i] == '\\' && mark[0] == '"':
			i++
		case s.rest[i] == '\n' && len(mark) == 1:
			return "", false
		case strings.HasPrefix(s.rest[i:], mark):
			end := i + len(mark)
			// Up to two quotes may stand before the three that end it.
			for more := 0; len(mark) == 3 && more < 2 && end < len(s.rest) && s.rest[end] == mark[0]; more++ {
				end++
			}
			whole := s.rest[:end]
			s.skip(end)
			return whole, true
		}
	}
	return "", false
}

// value goes over a value and notes what is in it.
func (s *scanner) value(n *lines, path []string, depth int) error {
	if depth >= maxNesting || len(path) >= 2*maxNesting {
		return errNesting
	}
	for _, mark := range []string{`"""`, `'''`, `"`, `'`} {
		if strings.HasPrefix(s.rest, mark) {
			if _, ok := s.quoted(mark); !ok {
				return errNotTOML
			}
			return nil
		}
	}
	switch {
	case s.take("["):
		for {
			s.blank(",")
			if s.take("]") {
				return nil
			}
			entry := &lines{at: s.line, defined: true}
			n.list = append(n.list, entry)
			if err := s.value(entry, path, depth+1); err != nil {
				return err
			}
		}
	case s.take("{"):
		for {
			s.blank(",")
			if s.take("}") {
				return nil
			}
			if err := s.assignment(n, path, depth+1); err != nil {
				return err
			}
		}
	}
	end := strings.IndexAny(s.rest, ",]}#\r\n")
	if end < 0 {
		end = len(s.rest)
	}
	if strings.TrimSpace(s.rest[:end]) == "" {
		return errNotTOML
	}
	s.skip(end)
	return nil
}

// unescape reads the escapes of a basic string. One that is none stays as it
// is: the library refuses it.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	simple := map[byte]string{'b': "\b", 't': "\t", 'n': "\n", 'f': "\f", 'r': "\r", 'e': "\x1b", '"': `"`, '\\': `\`}
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		if plain, ok := simple[s[i]]; ok {
			b.WriteString(plain)
			continue
		}
		if n := digits[s[i]]; n > 0 && i+n < len(s) {
			if r, err := strconv.ParseUint(s[i+1:i+1+n], 16, 32); err == nil && utf8.ValidRune(rune(r)) {
				b.WriteRune(rune(r))
				i += n
				continue
			}
		}
		b.WriteByte('\\')
		b.WriteByte(s[i])
	}
	return b.String()
}
