package api

import (
	"errors"
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"sift.build/sift/internal/sift"
)

// decodeJSON reads a target from a request body. It is a scanner of its own
// because encoding/json takes the last of two equal keys, matches keys without
// regard to case, and repairs bad UTF-8, all without a word. Nothing in the
// table holds a list or an object, so that nothing nests: one is refused at
// its first byte, however deep it goes.
func decodeJSON(table []field[sift.Target], body []byte) (sift.Target, error) {
	d := draft[sift.Target]{table: table}
	if err := decodeBody(&d, body, `{"url":"https://example.org/"}`); err != nil {
		return d.into, err
	}
	return d.into, haveURL(d.into)
}

// decodeBatch reads a list of targets, each by the table of a target.
func decodeBatch(table []field[submission], body []byte) (submission, error) {
	d := draft[submission]{table: table}
	if err := decodeBody(&d, body, `{"targets":[{"url":"https://example.org/"}]}`); err != nil {
		return d.into, err
	}
	if len(d.into.targets) == 0 {
		return d.into, sift.Fail(sift.CodeInvalid, "targets is empty; a batch has at least one")
	}
	return d.into, nil
}

// decodeBody reads the one object that a body must be.
func decodeBody[T any](d *draft[T], body []byte, example string) error {
	if at := invalidUTF8(body); at >= 0 {
		return sift.Fail(sift.CodeInvalid, "the body is not UTF-8: bad byte at position %d", at+1)
	}
	s := scanner{in: body}
	s.space()
	if s.peek() != '{' {
		return sift.Fail(sift.CodeInvalid, "the body must be one JSON object, such as %s", example)
	}
	if err := readObject(&s, d); err != nil {
		return err
	}
	s.space()
	if s.at != len(s.in) {
		return sift.Fail(sift.CodeInvalid, "the body must be one JSON object: something follows it at position %d", s.at+1)
	}
	return d.complete()
}

// decodeQuery reads a target from a query string.
func decodeQuery(table []field[sift.Target], raw string) (sift.Target, error) {
	d := draft[sift.Target]{table: table}
	if unfit, err := readQuery(&d, raw); err != nil {
		f := sift.AsFailure(err)
		if unfit && strings.Contains(d.into.URL, "?") {
			// The commonest mistake: url=https://x/?a=1&b=2 as it stands.
			f.Message += "; an & inside url is written %26"
		}
		return d.into, f
	}
	if err := d.complete(); err != nil {
		return d.into, err
	}
	return d.into, haveURL(d.into)
}

// readQuery reads a query string by the rules of the URL standard's form
// encoding: only & separates. unfit says that the error is a field that is not
// in the table, or is there a second time.
func readQuery[T any](d *draft[T], raw string) (unfit bool, err error) {
	for len(raw) > 0 {
		var pair string
		pair, raw, _ = strings.Cut(raw, "&")
		if pair == "" {
			continue
		}
		rawName, rawText, _ := strings.Cut(pair, "=")
		name, err := unescape(rawName)
		if err != nil {
			return false, err
		}
		f, err := d.field([]byte(name))
		if err != nil {
			return true, err
		}
		text, err := unescape(rawText)
		if err != nil {
			return false, err
		}
		v, err := f.parse(text)
		if err != nil {
			return false, err
		}
		if err := d.set(f, v); err != nil {
			return false, err
		}
	}
	return false, nil
}

func unescape(s string) (string, error) {
	text, err := url.QueryUnescape(s)
	if err != nil {
		return "", sift.Fail(sift.CodeInvalid, "the query has a broken %%-escape in %s", sift.Quote(s))
	}
	if !utf8.ValidString(text) {
		return "", sift.Fail(sift.CodeInvalid, "the query is not UTF-8 in %s", sift.Quote(s))
	}
	return text, nil
}

// parse reads a value of the field's kind from a query string, where a number
// is written as in JSON.
func (f *field[T]) parse(text string) (value, error) {
	switch f.kind {
	case kindText:
		return value{text: text}, nil
	case kindFlag:
		if text == "true" || text == "false" {
			return value{flag: text == "true"}, nil
		}
	default:
		s := scanner{in: []byte(text)}
		if n, err := s.number(); err == nil && s.at == len(text) {
			return value{number: n}, nil
		}
	}
	return value{}, sift.Fail(sift.CodeInvalid, "%s must be %s", f.name, f.kind)
}

func invalidUTF8(b []byte) int {
	if utf8.Valid(b) {
		return -1
	}
	for i := 0; ; {
		r, size := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && size <= 1 {
			return i
		}
		i += size
	}
}

// scanner reads JSON as RFC 8259 writes it. in is valid UTF-8.
type scanner struct {
	in     []byte
	at     int
	broken bool // in turned out not to be JSON
}

// unexpected says what stands at the scanner's position.
func (s *scanner) unexpected(wanted string) error {
	s.broken = true
	if s.at >= len(s.in) {
		return sift.Fail(sift.CodeInvalid, "the body is not JSON: it ends at position %d, where %s should be", s.at+1, wanted)
	}
	r, _ := utf8.DecodeRune(s.in[s.at:])
	return sift.Fail(sift.CodeInvalid, "the body is not JSON: %s at position %d, where %s should be", sift.Quote(string(r)), s.at+1, wanted)
}

func (s *scanner) space() {
	for s.at < len(s.in) {
		switch s.in[s.at] {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return
		}
	}
}

// peek is the next byte, 0 at the end. (A NUL in the input is no token either.)
func (s *scanner) peek() byte {
	if s.at < len(s.in) {
		return s.in[s.at]
	}
	return 0
}

func (s *scanner) take(c byte) bool {
	if s.at < len(s.in) && s.in[s.at] == c {
		s.at++
		return true
	}
	return false
}

// readObject reads an object whose opening brace stands at the scanner's
// position. It is a function because a method can have no type parameter.
func readObject[T any](s *scanner, d *draft[T]) error {
	s.at++ // the opening brace
	s.space()
	if s.take('}') {
		return nil
	}
	for {
		s.space()
		if s.peek() != '"' {
			return s.unexpected("a field name in quotes")
		}
		name, err := s.text()
		if err != nil {
			return err
		}
		f, err := d.field(name)
		if err != nil {
			return err
		}
		s.space()
		if !s.take(':') {
			return s.unexpected("a colon")
		}
		s.space()
		if err := readField(s, d, f); err != nil {
			return err
		}
		s.space()
		if s.take('}') {
			return nil
		}
		if !s.take(',') {
			return s.unexpected("a comma or a closing brace")
		}
	}
}

// readField reads the value of a field.
func readField[T any](s *scanner, d *draft[T], f *field[T]) error {
	if f.kind == kindList && s.peek() == '[' {
		return s.list(func(i int) error { return f.item(&d.into, s, i) })
	}
	v, null, err := s.value(f.name, f.kind)
	if err != nil {
		return err
	}
	if !null {
		return d.set(f, v)
	}
	if f.required { // a null is as good as absent, but a second one is still a second one
		return sift.Fail(sift.CodeInvalid, "%s is required and may not be null", f.name)
	}
	return nil
}

// list reads a list whose opening bracket stands at the scanner's position.
// item reads its i-th value, from the first byte of that.
func (s *scanner) list(item func(i int) error) error {
	s.at++ // the opening bracket
	s.space()
	if s.take(']') {
		return nil
	}
	for i := 0; ; i++ {
		s.space()
		if err := item(i); err != nil {
			return err
		}
		s.space()
		if s.take(']') {
			return nil
		}
		if !s.take(',') {
			return s.unexpected("a comma or a closing bracket")
		}
	}
}

// readTarget reads the i-th target of a batch. A mistake in it names it, but
// for one in the JSON, which names the position.
func readTarget(table []field[sift.Target], s *scanner, i int) (sift.Target, error) {
	d := draft[sift.Target]{table: table}
	var err error
	if s.peek() == '{' {
		if err = readObject(s, &d); err == nil {
			err = d.complete()
		}
		if err == nil {
			err = haveURL(d.into)
		}
	} else if _, null, e := s.value("the target", kindObject); e != nil || !null {
		err = e
	} else {
		err = sift.Fail(sift.CodeInvalid, "the target must be %s, not null", kindObject)
	}
	if err != nil && !s.broken {
		f := sift.AsFailure(err)
		f.Message = fmt.Sprintf("targets[%d]: %s", i, f.Message)
		err = f
	}
	return d.into, err
}

// value reads one value of a field's kind, or a null. A list or an object is
// never read, but refused.
func (s *scanner) value(name string, want kind) (v value, null bool, err error) {
	var got string
	switch c := s.peek(); {
	case c == '"':
		if want == kindText {
			text, err := s.text()
			return value{text: string(text)}, false, err
		}
		got = "a string"
	case c == '-' || c >= '0' && c <= '9':
		if want == kindWhole || want == kindNumber {
			n, err := s.number()
			return value{number: n}, false, err
		}
		got = "a number"
	case c == 't' || c == 'f':
		if want == kindFlag {
			word := "false"
			if c == 't' {
				word = "true"
			}
			return value{flag: c == 't'}, false, s.word(word)
		}
		got = "true or false"
	case c == 'n':
		return value{}, true, s.word("null")
	case c == '[':
		got = "a list"
	case c == '{':
		got = "an object"
	default:
		return value{}, false, s.unexpected("the value of " + name)
	}
	return value{}, false, sift.Fail(sift.CodeInvalid, "%s must be %s, not %s", name, want, got)
}

func (s *scanner) word(w string) error {
	for i := range len(w) {
		if !s.take(w[i]) {
			return s.unexpected(w)
		}
	}
	return nil
}

// text reads a string. It is a part of the input unless it holds escapes.
func (s *scanner) text() ([]byte, error) {
	s.at++ // the opening quote
	start := s.at
	for s.at < len(s.in) {
		switch c := s.in[s.at]; {
		case c == '"':
			s.at++
			return s.in[start : s.at-1], nil
		case c == '\\':
			return s.escaped(start)
		case c < 0x20:
			return nil, s.unexpected("an escape instead of a control character")
		default:
			s.at++
		}
	}
	return nil, s.unexpected("a closing quote")
}

// escaped goes on with a string whose first escape has been reached.
func (s *scanner) escaped(start int) ([]byte, error) {
	out := append([]byte(nil), s.in[start:s.at]...)
	for s.at < len(s.in) {
		c := s.in[s.at]
		switch {
		case c == '"':
			s.at++
			return out, nil
		case c < 0x20:
			return nil, s.unexpected("an escape instead of a control character")
		case c != '\\':
			out = append(out, c)
			s.at++
			continue
		}
		s.at++ // the backslash
		if s.peek() == 'u' {
			r, err := s.codePoint()
			if err != nil {
				return nil, err
			}
			out = utf8.AppendRune(out, r)
			continue
		}
		i := strings.IndexByte(`"\/bfnrt`, s.peek())
		if i < 0 || s.at >= len(s.in) {
			return nil, s.unexpected("one of the escapes of JSON")
		}
		out = append(out, "\"\\/\b\f\n\r\t"[i])
		s.at++
	}
	return nil, s.unexpected("a closing quote")
}

// codePoint reads uXXXX, or a pair of surrogates. A surrogate alone is no
// character: guessing one would let two different requests read the same.
func (s *scanner) codePoint() (rune, error) {
	at := s.at
	r, err := s.hex()
	if err != nil || !utf16.IsSurrogate(r) {
		return r, err
	}
	if s.take('\\') && s.peek() == 'u' {
		low, err := s.hex()
		if err != nil {
			return 0, err
		}
		if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
			return r, nil
		}
	}
	s.at = at
	return 0, s.unexpected("a whole surrogate pair")
}

// hex reads the u and four digits after a backslash.
func (s *scanner) hex() (rune, error) {
	s.at++
	var r rune
	for range 4 {
		c := s.peek()
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, s.unexpected("a hexadecimal digit")
		}
		s.at++
	}
	return r, nil
}

// number reads a number. One too large for a float64 is infinite, which every
// bound of the table refuses or cuts.
func (s *scanner) number() (float64, error) {
	start := s.at
	s.take('-')
	if !s.take('0') && !s.digits() {
		return 0, s.unexpected("a digit")
	}
	if s.take('.') && !s.digits() {
		return 0, s.unexpected("a digit")
	}
	if s.take('e') || s.take('E') {
		if !s.take('+') {
			s.take('-')
		}
		if !s.digits() {
			return 0, s.unexpected("a digit")
		}
	}
	n, err := strconv.ParseFloat(string(s.in[start:s.at]), 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		// The grammar above is narrower than ParseFloat's.
		s.broken = true
		return math.NaN(), sift.Fail(sift.CodeInvalid, "the body is not JSON: bad number at position %d", start+1)
	}
	return n, nil
}

func (s *scanner) digits() bool {
	start := s.at
	for c := s.peek(); c >= '0' && c <= '9'; c = s.peek() {
		s.at++
	}
	return s.at > start
}
