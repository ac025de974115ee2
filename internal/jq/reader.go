package jq

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth is how deep arrays and objects may stand in each other.
const maxDepth = 10_000

// bom is what some servers put before a text in UTF-8.
const bom = "\uFEFF"

// recordSeparator begins each document of a JSON text sequence (RFC 7464).
const recordSeparator = 0x1e

// reader reads the JSON documents of a body, one after the other. It is strict
// where jq is, and lets pass what jq lets pass: NaN, Infinity, and bytes that are
// no UTF-8 (each becomes U+FFFD).
//
// Strings of the body are shared with it, and numbers stay as they were
// written: a body of 10 MiB has to fit into a child many times over.
type reader struct {
	s     string
	pos   int
	base  int  // where the first line begins: behind a byte order mark
	lines bool // a document is a line
	begin int  // of the document being read, or read last
	docs  int  // how many have been read
	err   *brokenError
	order *keyOrder

	vals []any    // of the arrays and objects being read, the inner ones last
	keys []string // of the objects being read, likewise
}

func newReader(body string, lines bool, order *keyOrder) *reader {
	r := &reader{s: body, lines: lines, order: order}
	if strings.HasPrefix(body, bom) {
		r.base = len(bom)
		r.pos = r.base
	}
	return r
}

// brokenError says where a body is no JSON, and why.
type brokenError struct {
	Line, Column int // from one; columns are characters
	Byte         int // from zero
	Doc          int // the number of the document, from one
	Found        string
	Expected     string
	Before       string // what stands before the place, on its line
	After        string // what stands there
	AtEnd        bool   // the body ends there
}

func (e *brokenError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s where %s is expected", e.Line, e.Column, e.Found, e.Expected)
}

// Next gives the next document, for gojq: an error as a value, and false at the
// end. After an error there is nothing but the same error.
func (r *reader) Next() (any, bool) {
	if r.err != nil {
		return r.err, true
	}
	r.skip(true)
	if r.pos == len(r.s) {
		return nil, false
	}
	r.begin = r.pos
	v, bad := r.value(0)
	if bad == nil {
		r.docs++
		return v, true
	}
	if r.lines {
		bad = r.inLine(bad)
	}
	r.err = r.broken(bad)
	return r.err, true
}

// line is on which line the current document begins.
func (r *reader) line() int { return strings.Count(r.s[:r.begin], "\n") + 1 }

// fault is a place where the body is no JSON.
type fault struct {
	pos             int
	found, expected string
}

// inLine looks for the fault in the line that a document begins on: when a line
// stops short, it only shows on the next one.
func (r *reader) inLine(bad *fault) *fault {
	n := strings.IndexByte(r.s[r.begin:], '\n')
	if n < 0 || r.begin+n >= bad.pos {
		return bad
	}
	line := &reader{s: strings.TrimSuffix(r.s[:r.begin+n], "\r"), pos: r.begin, base: r.base, order: r.order}
	_, first := line.value(0)
	if first == nil {
		return bad
	}
	if first.pos == len(line.s) {
		first.found = "the end of the line"
	}
	return first
}

// shown is how many bytes an error shows on each side of the place.
const shown = 40

func (r *reader) broken(bad *fault) *brokenError {
	before := r.s[:bad.pos]
	start := min(max(strings.LastIndexByte(before, '\n')+1, r.base), bad.pos)
	e := &brokenError{
		Line: strings.Count(before, "\n") + 1, Column: utf8.RuneCountInString(r.s[start:bad.pos]) + 1,
		Byte: bad.pos, Doc: r.docs + 1, Found: bad.found, Expected: bad.expected,
		Before: r.s[max(start, bad.pos-shown):bad.pos], AtEnd: strings.TrimSpace(r.s[bad.pos:]) == "",
	}
	for e.Before != "" && !utf8.RuneStart(e.Before[0]) {
		e.Before = e.Before[1:]
	}
	after := r.s[bad.pos:min(len(r.s), bad.pos+shown)]
	e.After, _, _ = strings.Cut(after, "\n")
	e.After = strings.TrimRight(e.After, "\r")
	return e
}

// skip skips white space, and between documents what separates them.
func (r *reader) skip(between bool) {
	for r.pos < len(r.s) {
		switch c := r.s[r.pos]; {
		case c == ' ' || c == '\n' || c == '\t' || c == '\r':
		case between && c == recordSeparator:
		default:
			return
		}
		r.pos++
	}
}

const aValue = "a JSON value"

// unexpected is a fault at the place that the reader has come to.
func (r *reader) unexpected(expected string) *fault {
	return &fault{r.pos, found(r.s[r.pos:]), expected}
}

// found names what a text begins with.
func found(s string) string {
	if s == "" {
		return "the end of the body"
	}
	c, n := utf8.DecodeRuneInString(s)
	switch {
	case c == utf8.RuneError && n == 1:
		return fmt.Sprintf("the byte 0x%02X", s[0])
	case isWord(s[0]):
		end := 0
		for end < len(s) && isWord(s[end]) && end < shown {
			end++
		}
		return strconv.Quote(s[:end])
	}
	return strconv.QuoteToGraphic(string(c))
}

func isWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-' || c == '+' || c == '.'
}

func (r *reader) value(depth int) (any, *fault) {
	if r.pos == len(r.s) {
		return nil, r.unexpected(aValue)
	}
	switch c := r.s[r.pos]; {
	case c == '{':
		return r.object(depth + 1)
	case c == '[':
		return r.array(depth + 1)
	case c == '"':
		return boxed(r.text())
	case c == '-' || '0' <= c && c <= '9':
		return r.number()
	}
	word := r.word()
	switch word {
	case "null":
		return nil, nil
	case "true":
		return true, nil
	case "false":
		return false, nil
	case "NaN", "nan":
		return math.NaN(), nil
	case "Infinity":
		return math.Inf(1), nil
	}
	r.pos -= len(word)
	return nil, r.unexpected(aValue)
}

func boxed(s string, bad *fault) (any, *fault) {
	if bad != nil {
		return nil, bad
	}
	return s, nil
}

// word reads what looks like one.
func (r *reader) word() string {
	start := r.pos
	for r.pos < len(r.s) && isWord(r.s[r.pos]) {
		r.pos++
	}
	return r.s[start:r.pos]
}

func (r *reader) tooDeep() *fault {
	return &fault{r.pos, fmt.Sprintf("level %d of arrays and objects", maxDepth+1), fmt.Sprintf("at most %d in each other", maxDepth)}
}

func (r *reader) array(depth int) (any, *fault) {
	if depth > maxDepth {
		return nil, r.tooDeep()
	}
	r.pos++
	from := len(r.vals)
	defer func() { r.vals = r.vals[:from] }()
	if r.skip(false); r.at(']') {
		r.pos++
		return []any{}, nil
	}
	for {
		v, bad := r.value(depth)
		if bad != nil {
			if bad.expected == aValue && len(r.vals) == from && bad.pos == r.pos {
				bad.expected = `a JSON value or "]"`
			}
			return nil, bad
		}
		r.vals = append(r.vals, v)
		r.skip(false)
		switch {
		case r.at(','):
			r.pos++
			r.skip(false)
		case r.at(']'):
			r.pos++
			return append(make([]any, 0, len(r.vals)-from), r.vals[from:]...), nil
		default:
			return nil, r.unexpected(`"," or "]"`)
		}
	}
}

func (r *reader) at(c byte) bool { return r.pos < len(r.s) && r.s[r.pos] == c }

func (r *reader) object(depth int) (any, *fault) {
	if depth > maxDepth {
		return nil, r.tooDeep()
	}
	r.pos++
	from, fromKey := len(r.vals), len(r.keys)
	defer func() { r.vals, r.keys = r.vals[:from], r.keys[:fromKey] }()
	if r.skip(false); r.at('}') {
		r.pos++
		return map[string]any{}, nil
	}
	for {
		if !r.at('"') {
			expected := "a key in double quotes"
			if len(r.keys) == fromKey {
				expected += ` or "}"`
			}
			return nil, r.unexpected(expected)
		}
		key, bad := r.text()
		if bad != nil {
			return nil, bad
		}
		if r.skip(false); !r.at(':') {
			return nil, r.unexpected(`":"`)
		}
		r.pos++
		r.skip(false)
		v, bad := r.value(depth)
		if bad != nil {
			return nil, bad
		}
		r.keys, r.vals = append(r.keys, key), append(r.vals, v)
		r.skip(false)
		switch {
		case r.at(','):
			r.pos++
			r.skip(false)
		case r.at('}'):
			r.pos++
			r.order.object(r.keys[fromKey:])
			m := make(map[string]any, len(r.keys)-fromKey)
			for i, k := range r.keys[fromKey:] {
				m[k] = r.vals[from+i] // of equal keys the last one stays
			}
			return m, nil
		default:
			return nil, r.unexpected(`"," or "}"`)
		}
	}
}

// number reads a number. One that an int holds becomes one; any other stays as
// it is written.
func (r *reader) number() (any, *fault) {
	start := r.pos
	if r.at('-') {
		r.pos++
		if strings.HasPrefix(r.s[r.pos:], "Infinity") {
			r.pos += len("Infinity")
			return math.Inf(-1), nil
		}
	}
	whole := r.pos
	if !r.digits() {
		return nil, r.unexpected("a digit")
	}
	if r.s[whole] == '0' && r.pos > whole+1 {
		return nil, &fault{whole, "a number that begins with 0", "another digit"}
	}
	asInt := r.pos-whole <= 18 && !(r.s[whole] == '0' && whole > start)
	if r.at('.') {
		asInt = false
		if r.pos++; !r.digits() {
			return nil, r.unexpected("a digit")
		}
	}
	if r.at('e') || r.at('E') {
		asInt = false
		r.pos++
		if r.at('+') || r.at('-') {
			r.pos++
		}
		if !r.digits() {
			return nil, r.unexpected("a digit of the exponent")
		}
	}
	if r.pos < len(r.s) && isWord(r.s[r.pos]) {
		return nil, r.unexpected("the end of the number")
	}
	if asInt {
		if n, err := strconv.Atoi(r.s[start:r.pos]); err == nil {
			return n, nil
		}
	}
	return json.Number(r.s[start:r.pos]), nil
}

func (r *reader) digits() bool {
	start := r.pos
	for r.pos < len(r.s) && '0' <= r.s[r.pos] && r.s[r.pos] <= '9' {
		r.pos++
	}
	return r.pos > start
}

// text reads a string.
func (r *reader) text() (string, *fault) {
	quote := r.pos
	r.pos++
	start := r.pos
	for r.pos < len(r.s) {
		switch c := r.s[r.pos]; {
		case c == '"':
			s := r.s[start:r.pos]
			if !utf8.ValidString(s) {
				return r.unescape(quote, start)
			}
			r.pos++
			return s, nil
		case c == '\\':
			return r.unescape(quote, start)
		case c < ' ':
			return "", r.control()
		}
		r.pos++
	}
	return "", r.unclosed(quote)
}

// control is a fault that often means that a quote is missing before it.
func (r *reader) control() *fault {
	name := fmt.Sprintf("the control character U+%04X", r.s[r.pos])
	if r.s[r.pos] == '\n' || r.s[r.pos] == '\r' {
		name = "the end of the line"
	}
	return &fault{r.pos, name, `the end of the string, or \n or the like for a control character,`}
}

func (r *reader) unclosed(quote int) *fault {
	at := r.broken(&fault{pos: quote})
	return &fault{len(r.s), "the end of the body", fmt.Sprintf("the end of the string that begins at line %d, column %d", at.Line, at.Column)}
}

// unescape reads a string that is not as it stands.
func (r *reader) unescape(quote, start int) (string, *fault) {
	r.pos = start
	var b []byte
	for r.pos < len(r.s) {
		c := r.s[r.pos]
		switch {
		case c == '"':
			r.pos++
			return string(b), nil
		case c == '\\':
			var bad *fault
			if b, bad = r.escape(quote, b); bad != nil {
				return "", bad
			}
		case c < ' ':
			return "", r.control()
		case c < utf8.RuneSelf:
			b = append(b, c)
			r.pos++
		default:
			char, n := utf8.DecodeRuneInString(r.s[r.pos:])
			b = utf8.AppendRune(b, char)
			r.pos += n
		}
	}
	return "", r.unclosed(quote)
}

func (r *reader) escape(quote int, b []byte) ([]byte, *fault) {
	r.pos++
	if r.pos == len(r.s) {
		return nil, r.unclosed(quote)
	}
	c := r.s[r.pos]
	if i := strings.IndexByte(`"\/bfnrt`, c); i >= 0 {
		r.pos++
		return append(b, "\"\\/\b\f\n\r\t"[i]), nil
	}
	if c != 'u' {
		return nil, r.unexpected(`one of "\/bfnrtu after the backslash`)
	}
	r.pos++
	char, ok := r.hex()
	if !ok {
		return nil, r.unexpected(`four hexadecimal digits after \u`)
	}
	if utf16.IsSurrogate(char) {
		pair := rune(utf8.RuneError)
		if before := r.pos; strings.HasPrefix(r.s[r.pos:], `\u`) {
			r.pos += 2
			if low, ok := r.hex(); ok {
				pair = utf16.DecodeRune(char, low)
			}
			if pair == utf8.RuneError {
				r.pos = before // what follows stands for itself
			}
		}
		char = pair
	}
	return utf8.AppendRune(b, char), nil
}

// hex reads four hexadecimal digits, or nothing.
func (r *reader) hex() (rune, bool) {
	if len(r.s)-r.pos < 4 {
		return 0, false
	}
	n, err := strconv.ParseUint(r.s[r.pos:r.pos+4], 16, 16)
	if err != nil {
		return 0, false
	}
	r.pos += 4
	return rune(n), true
}
