package extract

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Bounds on the data that a page carries in its scripts.
const (
	maxValues     = 250_000 // values that are kept of all data of a page; the rest is passed over
	maxValueDepth = 200     // what is nested deeper is passed over
	maxNested     = 3       // how often JSON may stand in a string of JSON
)

type valueKind uint8

const (
	valueNull valueKind = iota // null, undefined, and what was passed over
	valueTrue
	valueFalse
	valueNumber
	valueString  // str is the string
	valueEscaped // str is the string as written between its quotation marks
	valueArray
	valueObject
	valueName // of a variable, which is a parameter of the function around it
	valueLink // first is the value that this one stands for
)

// A value is one value of JSON or of a script's literal. Members of an object
// keep their order.
type value struct {
	kind  valueKind
	key   string // in an object, as written
	str   string // shares memory with the page
	first int32  // of an array or object, or of a link; -1: none
	next  int32  // the next in the same array or object; -1: none
}

// values holds the data of one page: all values in one list, so that a million
// of them are no burden and a failed attempt can be taken back.
type values struct {
	alive func() error // of the one call that this lives for
	list  []value
	steps int
	err   error
}

// tick counts a step of work and says whether to go on.
func (v *values) tick() bool {
	if v.steps++; v.steps%4096 == 0 && v.err == nil {
		if err := v.alive(); err != nil {
			v.err = fmt.Errorf("%w: %w", errExpired, err)
		}
	}
	return v.err == nil
}

func (v *values) add(n value) int32 {
	v.list = append(v.list, n)
	return int32(len(v.list) - 1)
}

// at gives a value with links followed, or -1.
func (v *values) at(i int32) int32 {
	for range 8 {
		if i < 0 || v.list[i].kind != valueLink {
			return i
		}
		i = v.list[i].first
	}
	return -1
}

func (v *values) kind(i int32) valueKind {
	if i = v.at(i); i < 0 {
		return valueNull
	}
	return v.list[i].kind
}

// text gives a string's value, or "".
func (v *values) text(i int32) string {
	if i = v.at(i); i < 0 {
		return ""
	}
	switch n := &v.list[i]; n.kind {
	case valueString:
		return n.str
	case valueEscaped:
		n.kind, n.str = valueString, unescape(n.str)
		return n.str
	default:
		return ""
	}
}

// get gives a member of an object by any of several keys, the first that is
// there, or -1.
func (v *values) get(i int32, keys ...string) int32 {
	i = v.at(i)
	if i < 0 || v.list[i].kind != valueObject {
		return -1
	}
	found, best := int32(-1), len(keys)
	n := 0
	for c := v.list[i].first; c >= 0 && n < maxMembers; c = v.list[c].next {
		n++
		for k := range best {
			if v.list[c].key == keys[k] {
				found, best = c, k
				break
			}
		}
	}
	return v.at(found)
}

// maxMembers is how many members of an object are looked at for one of a name:
// an object that stands for something has fewer.
const maxMembers = 200

// A literalParser reads JSON, or with js the literals of a script, which may be
// anything that JSON is written as by hand or by a tool: other quotation marks,
// bare keys, !0 and void 0, undefined, and a function of one return with its
// arguments. What it reads is never run.
type literalParser struct {
	v    *values
	src  string
	pos  int
	js   bool
	fail bool
}

// literal reads one value that begins at pos of src. end is where it ends, or
// where it stops being one.
func (v *values) literal(src string, pos int, js bool) (root int32, end int, ok bool) {
	p := literalParser{v: v, src: src, pos: pos, js: js}
	before := len(v.list)
	root = p.value("", 0)
	if p.fail || v.err != nil {
		v.list = v.list[:before]
		return -1, max(p.pos, pos), false
	}
	return root, p.pos, true
}

// json reads a whole text as one value.
func (v *values) json(src string) (int32, bool) {
	before := len(v.list)
	root, end, ok := v.literal(src, 0, true)
	if !ok {
		return -1, false
	}
	p := literalParser{src: src, pos: end, js: true}
	p.space()
	for p.pos < len(src) && src[p.pos] == ';' {
		p.pos++
		p.space()
	}
	if p.pos < len(src) {
		v.list = v.list[:before]
		return -1, false
	}
	return root, true
}

func (p *literalParser) space() {
	for p.pos < len(p.src) {
		switch c := p.src[p.pos]; {
		case c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f':
			p.pos++
		case c == 0xc2 && strings.HasPrefix(p.src[p.pos:], "\u00a0"):
			p.pos += 2
		case c == 0xef && strings.HasPrefix(p.src[p.pos:], "\ufeff"):
			p.pos += 3
		case c == '/' && p.js && strings.HasPrefix(p.src[p.pos:], "/*"):
			i := strings.Index(p.src[p.pos+2:], "*/")
			if i < 0 {
				p.pos = len(p.src)
				return
			}
			p.pos += i + 4
		case c == '/' && p.js && strings.HasPrefix(p.src[p.pos:], "//"):
			i := strings.IndexByte(p.src[p.pos:], '\n')
			if i < 0 {
				p.pos = len(p.src)
				return
			}
			p.pos += i + 1
		default:
			return
		}
	}
}

// peek gives the next character that is not space, or 0.
func (p *literalParser) peek() byte {
	p.space()
	if p.pos >= len(p.src) {
		return 0
	}
	return p.src[p.pos]
}

// take moves over a sign, or fails.
func (p *literalParser) take(c byte) bool {
	if p.peek() != c {
		p.fail = true
		return false
	}
	p.pos++
	return true
}

func (p *literalParser) add(kind valueKind, key, str string) int32 {
	if len(p.v.list) >= maxValues {
		return -1
	}
	return p.v.add(value{kind: kind, key: key, str: str, first: -1, next: -1})
}

// value reads a value; -1 is one that was passed over, or a failure.
func (p *literalParser) value(key string, depth int) int32 {
	if !p.v.tick() {
		p.fail = true
		return -1
	}
	switch c := p.peek(); {
	case c == '{' || c == '[':
		if depth >= maxValueDepth || len(p.v.list) >= maxValues {
			p.skip()
			return -1
		}
		if c == '{' {
			return p.object(key, depth)
		}
		return p.array(key, depth)
	case c == '"', p.js && (c == '\'' || c == '`'):
		s, escaped := p.quoted(c)
		if p.fail {
			return -1
		}
		if escaped {
			return p.add(valueEscaped, key, s)
		}
		return p.add(valueString, key, s)
	case c == '-' || c >= '0' && c <= '9' || c == '.' && p.js:
		from := p.pos
		for p.pos++; p.pos < len(p.src) && strings.IndexByte("+-.0123456789abcdefABCDEFxn_", p.src[p.pos]) >= 0; p.pos++ {
		}
		return p.add(valueNumber, key, p.src[from:p.pos])
	case c == '!' && p.js:
		p.pos++
		switch p.peek() {
		case '0':
			p.pos++
			return p.add(valueTrue, key, "")
		case '1':
			p.pos++
			return p.add(valueFalse, key, "")
		}
	case c == '(' && p.js && depth < maxValueDepth:
		return p.parenthesis(key, depth)
	case isName(c):
		return p.word(key, depth)
	}
	p.fail = true
	return -1
}

func isName(c byte) bool { return c == '_' || c == '$' || isLetter(c) || c >= 0x80 }

func isNameOrDigit(c byte) bool { return isName(c) || c >= '0' && c <= '9' }

func (p *literalParser) name() string {
	from := p.pos
	for p.pos < len(p.src) && isNameOrDigit(p.src[p.pos]) {
		p.pos++
	}
	return p.src[from:p.pos]
}

// word reads a value that begins with a name.
func (p *literalParser) word(key string, depth int) int32 {
	from := p.pos
	name := p.name()
	switch name {
	case "null", "undefined", "NaN", "Infinity":
		return p.add(valueNull, key, "")
	case "true":
		return p.add(valueTrue, key, "")
	case "false":
		return p.add(valueFalse, key, "")
	}
	if !p.js || depth >= maxValueDepth {
		p.fail = true
		return -1
	}
	switch name {
	case "void":
		p.value("", depth+1)
		return p.add(valueNull, key, "")
	case "new":
		p.space()
		switch p.name() {
		case "Date", "URL", "Set", "Map", "String", "Number":
			return p.call(key, depth)
		}
		p.fail = true
		return -1
	case "JSON":
		if strings.HasPrefix(p.src[p.pos:], ".parse(") {
			p.pos += len(".parse")
			return p.call(key, depth)
		}
	case "Object":
		for _, f := range []string{".freeze", ".assign", ".create"} {
			if strings.HasPrefix(p.src[p.pos:], f+"(") {
				p.pos += len(f)
				return p.call(key, depth)
			}
		}
	case "decodeURIComponent", "unescape":
		i := p.call(key, depth)
		if i >= 0 {
			if s := p.v.text(i); strings.Contains(s, "%") {
				p.v.list[i].str = unpercent(s)
			}
		}
		return i
	case "Array":
		p.skipCall()
		return p.add(valueNull, key, "")
	case "function":
		p.pos = from
		return p.function(key, depth)
	}
	switch p.peek() {
	case ',', '}', ']', ')':
		return p.add(valueName, key, name)
	}
	p.fail = true
	return -1
}

// call reads the arguments of a function that gives its last one back.
func (p *literalParser) call(key string, depth int) int32 {
	if !p.take('(') {
		return -1
	}
	last := int32(-1)
	for !p.fail && p.peek() != ')' {
		last = p.value(key, depth+1)
		if p.peek() == ',' {
			p.pos++
		} else if p.peek() != ')' {
			p.fail = true
		}
	}
	if p.fail || !p.take(')') {
		return -1
	}
	return last
}

func (p *literalParser) skipCall() {
	if p.peek() != '(' {
		p.fail = true
		return
	}
	p.skip()
}

// parenthesis reads a value or function in parentheses.
func (p *literalParser) parenthesis(key string, depth int) int32 {
	p.pos++
	i := p.value(key, depth+1)
	p.closeParenthesis()
	return i
}

func (p *literalParser) closeParenthesis() {
	if !p.fail {
		p.take(')')
	}
}

// function reads a function of one return and its arguments, as Nuxt 2 and
// devalue write them: function(a,b){return {x:a}}("one","two"), with the
// parenthesis of the function's end in front of the arguments or not.
func (p *literalParser) function(key string, depth int) int32 {
	p.pos += len("function")
	if !p.take('(') {
		return -1
	}
	var params []string
	for !p.fail && p.peek() != ')' {
		n := p.name()
		if n == "" {
			p.fail = true
			return -1
		}
		params = append(params, n)
		if p.peek() == ',' {
			p.pos++
		}
	}
	if p.fail || !p.take(')') || !p.take('{') {
		return -1
	}
	from := len(p.v.list)
	for !p.fail {
		p.space()
		if strings.HasPrefix(p.src[p.pos:], "return") && !isNameOrDigit(byteAt(p.src, p.pos+len("return"))) {
			p.pos += len("return")
			break
		}
		p.statement()
	}
	if p.fail {
		return -1
	}
	root := p.value(key, depth+1)
	if p.peek() == ';' {
		p.pos++
	}
	if p.fail || !p.take('}') {
		return -1
	}
	inner := p.peek() == ')' && strings.HasPrefix(strings.TrimLeft(p.src[p.pos+1:], " \n\t\r"), "(")
	if inner {
		p.pos++
	}
	if !p.take('(') {
		return -1
	}
	to := len(p.v.list)
	args := make(map[string]int32, len(params))
	for n := 0; !p.fail && p.peek() != ')'; n++ {
		i := p.value("", depth+1)
		if n < len(params) {
			args[params[n]] = i
		}
		if p.peek() == ',' {
			p.pos++
		}
	}
	if inner {
		// The parenthesis that parenthesis would look for has gone by.
		if p.peek() != ')' {
			p.fail = true
		}
	} else if !p.fail {
		p.take(')')
	}
	if p.fail {
		return -1
	}
	for i := from; i < to; i++ {
		n := &p.v.list[i]
		if n.kind != valueName {
			continue
		}
		n.kind, n.first = valueNull, -1
		if a, ok := args[n.str]; ok && a >= 0 {
			n.kind, n.first = valueLink, a
		}
	}
	return root
}

func byteAt(s string, i int) byte {
	if i >= len(s) {
		return 0
	}
	return s[i]
}

// statement moves over one statement that is not read.
func (p *literalParser) statement() {
	for p.pos < len(p.src) && !p.fail && p.v.tick() {
		switch c := p.src[p.pos]; c {
		case ';':
			p.pos++
			return
		case '{', '[', '(':
			p.skip()
		case '"', '\'', '`':
			p.quoted(c)
		case '}', ')':
			p.fail = true
		default:
			p.pos++
		}
	}
	p.fail = true
}

func (p *literalParser) object(key string, depth int) int32 {
	self := p.add(valueObject, key, "")
	p.pos++
	last := int32(-1)
	for {
		c := p.peek()
		name := ""
		switch {
		case c == '}':
			p.pos++
			return self
		case c == '"', p.js && (c == '\'' || c == '`'):
			raw, escaped := p.quoted(c)
			if name = raw; escaped {
				name = unescape(raw)
			}
		case p.js && isNameOrDigit(c):
			name = p.name()
		default:
			p.fail = true
		}
		if p.fail || !p.take(':') {
			return -1
		}
		last = p.link(self, last, p.value(name, depth+1))
		if p.fail || !p.more('}') {
			return -1
		}
	}
}

func (p *literalParser) array(key string, depth int) int32 {
	self := p.add(valueArray, key, "")
	p.pos++
	last := int32(-1)
	for {
		switch c := p.peek(); {
		case c == ']':
			p.pos++
			return self
		case c == ',' && p.js: // [,1]
			p.pos++
			continue
		}
		last = p.link(self, last, p.value("", depth+1))
		if p.fail || !p.more(']') {
			return -1
		}
	}
}

// link puts a value behind the last one of its array or object.
func (p *literalParser) link(self, last, i int32) int32 {
	switch {
	case i < 0:
		return last
	case last < 0:
		p.v.list[self].first = i
	default:
		p.v.list[last].next = i
	}
	return i
}

// more moves over a comma, or sees that the end comes next.
func (p *literalParser) more(end byte) bool {
	switch p.peek() {
	case ',':
		p.pos++
		return true
	case end:
		return true
	}
	p.fail = true
	return false
}

// quoted reads a string and gives it as written.
func (p *literalParser) quoted(q byte) (raw string, escaped bool) {
	p.pos++
	from := p.pos
	for {
		i := p.pos
		for i < len(p.src) && p.src[i] != q && p.src[i] != '\\' {
			if q == '`' && p.src[i] == '$' && byteAt(p.src, i+1) == '{' {
				p.pos, p.fail = i, true
				return "", false
			}
			i++
		}
		if i >= len(p.src) {
			p.pos, p.fail = len(p.src), true
			return "", false
		}
		if p.src[i] == q {
			p.pos = i + 1
			return p.src[from:i], escaped
		}
		escaped = true
		p.pos = min(i+2, len(p.src))
	}
}

// skip moves over a bracket with all that is in it.
func (p *literalParser) skip() {
	depth := 0
	for p.pos < len(p.src) && p.v.tick() {
		switch c := p.src[p.pos]; {
		case c == '{' || c == '[' || c == '(':
			depth++
			p.pos++
		case c == '}' || c == ']' || c == ')':
			depth--
			p.pos++
			if depth == 0 {
				return
			}
		case c == '"', p.js && (c == '\'' || c == '`'):
			if p.quoted(c); p.fail {
				return
			}
		default:
			p.pos++
		}
	}
	p.fail = true
}

// unescape resolves the escapes of a string of JSON or of a script.
func unescape(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for {
		i := strings.IndexByte(s, '\\')
		if i < 0 || i+1 >= len(s) {
			b.WriteString(strings.TrimSuffix(s, `\`))
			return b.String()
		}
		b.WriteString(s[:i])
		c := s[i+1]
		s = s[i+2:]
		switch c {
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case 'r':
			b.WriteByte('\r')
		case 'b', 'f', 'v', '0':
			b.WriteByte(' ')
		case '\n':
		case 'x':
			r, rest, ok := hexRune(s, 2)
			if !ok {
				b.WriteByte(c)
				continue
			}
			b.WriteRune(r)
			s = rest
		case 'u':
			if strings.HasPrefix(s, "{") {
				if j := strings.IndexByte(s[:min(len(s), 8)], '}'); j > 0 {
					if n, err := strconv.ParseUint(s[1:j], 16, 32); err == nil && n <= utf8.MaxRune {
						b.WriteRune(rune(n))
						s = s[j+1:]
						continue
					}
				}
			}
			r, rest, ok := hexRune(s, 4)
			if !ok {
				b.WriteByte(c)
				continue
			}
			s = rest
			if utf16.IsSurrogate(r) {
				low, rest, ok := rune(0), "", false
				if strings.HasPrefix(s, `\u`) {
					low, rest, ok = hexRune(s[2:], 4)
				}
				if pair := utf16.DecodeRune(r, low); ok && pair != utf8.RuneError {
					r, s = pair, rest
				} else {
					r = utf8.RuneError
				}
			}
			b.WriteRune(r)
		default:
			b.WriteByte(c)
		}
	}
}

func hexRune(s string, digits int) (r rune, rest string, ok bool) {
	if len(s) < digits {
		return 0, s, false
	}
	n, err := strconv.ParseUint(s[:digits], 16, 32)
	return rune(n), s[digits:], err == nil
}

// unpercent resolves percent signs as decodeURIComponent does; one that stands
// for itself stays.
func unpercent(s string) string {
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				b = append(b, byte(n))
				i += 2
				continue
			}
		}
		b = append(b, s[i])
	}
	return strings.ToValidUTF8(string(b), "\ufffd")
}
