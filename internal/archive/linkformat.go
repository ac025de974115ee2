package archive

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"
)

// link is one of a Link header or of a TimeMap.
type link struct {
	uri         string
	rel         string // in lower case; relation types with spaces between
	mediaType   string // in lower case
	datetime    time.Time
	from, until time.Time
}

// is reports whether a relation type is one of the link's.
func (l *link) is(rel string) bool {
	for r := range strings.FieldsSeq(l.rel) {
		if r == rel {
			return true
		}
	}
	return false
}

// isList reports whether what is linked is in application/link-format, as far
// as the link says: TimeMaps come in JSON and as web pages too.
func (l *link) isList() bool {
	return l.mediaType == "" || l.mediaType == "application/link-format"
}

// Bounds of one link. What is over them is no link that could be followed.
const (
	maxURI    = 16 << 10
	maxValue  = 1 << 10
	maxParams = 32
)

// errLink is a link that cannot be read. Those behind it can.
var errLink = errors.New("not a link of application/link-format")

// links reads application/link-format (RFC 6690, section 2, with the white
// space of RFC 7089) and the Link header (RFC 8288, section 3), one link at a
// time and in the memory of one.
type links struct {
	r *bufio.Reader
}

func readLinks(r io.Reader) *links { return &links{bufio.NewReaderSize(r, 8<<10)} }

// next gives the next link; errLink for one that cannot be read, of which
// there may be any number; io.EOF at the end, and what else the reader says.
func (ls *links) next() (link, error) {
	for {
		c, err := ls.skipSpace()
		switch {
		case err != nil:
			return link{}, err
		case c == ',':
			continue // empty elements are allowed in lists (RFC 9110, section 5.6.1)
		case c != '<':
			return link{}, ls.resync()
		}
		return ls.link()
	}
}

// link reads a link behind its <.
func (ls *links) link() (link, error) {
	var l link
	uri, err := ls.until('>', maxURI, false)
	if err != nil {
		return link{}, ls.broken(err)
	}
	l.uri = strings.TrimSpace(uri)
	foreign := false
	seen := map[string]bool{}
	for range maxParams {
		c, err := ls.skipSpace()
		switch {
		case err == io.EOF, err == nil && c == ',':
			if foreign {
				l.rel = ""
			}
			return l, nil
		case err != nil:
			return link{}, err
		case c != ';':
			return link{}, ls.resync()
		}
		name, value, err := ls.param()
		if err != nil {
			return link{}, ls.broken(err)
		}
		if seen[name] {
			continue // the first of a name counts (RFC 8288, section 3)
		}
		switch name {
		case "rel":
			l.rel = strings.ToLower(value)
		case "type":
			t, _, _ := strings.Cut(value, ";")
			l.mediaType = strings.ToLower(strings.TrimSpace(t))
		case "anchor":
			foreign = true // it speaks of another page
		case "datetime":
			l.datetime = date(value)
		case "from":
			l.from = date(value)
		case "until":
			l.until = date(value)
		default:
			continue
		}
		seen[name] = true
	}
	return link{}, ls.resync()
}

// param reads a parameter behind its semicolon; an empty one has no name.
func (ls *links) param() (name, value string, err error) {
	c, err := ls.skipSpace()
	if err == io.EOF {
		return "", "", nil
	} else if err != nil {
		return "", "", err
	}
	var b strings.Builder
	for isToken(c) {
		if b.Len() >= maxValue {
			return "", "", errLink
		}
		b.WriteByte(c)
		if c, err = ls.r.ReadByte(); err == io.EOF {
			return strings.ToLower(b.String()), "", nil
		} else if err != nil {
			return "", "", err
		}
	}
	name = strings.ToLower(b.String())
	if isSpace(c) {
		if c, err = ls.skipSpace(); err == io.EOF {
			return name, "", nil
		} else if err != nil {
			return "", "", err
		}
	}
	if c != '=' || name == "" {
		if c != ';' && c != ',' {
			return "", "", errLink
		}
		return name, "", ls.r.UnreadByte()
	}
	if c, err = ls.skipSpace(); err != nil {
		return "", "", err
	}
	if c == '"' {
		value, err = ls.until('"', maxValue, true)
		return name, value, err
	}
	b.Reset()
	for !isSpace(c) && c != ';' && c != ',' {
		if c == '<' || c == '>' || b.Len() >= maxValue {
			return "", "", errLink
		}
		b.WriteByte(c)
		if c, err = ls.r.ReadByte(); err == io.EOF {
			return name, b.String(), nil
		} else if err != nil {
			return "", "", err
		}
	}
	return name, b.String(), ls.r.UnreadByte()
}

// until reads up to a closing character.
func (ls *links) until(end byte, most int, escapes bool) (string, error) {
	var b strings.Builder
	for {
		c, err := ls.r.ReadByte()
		if err != nil {
			return "", err
		}
		if c == end {
			return b.String(), nil
		}
		if escapes && c == '\\' {
			if c, err = ls.r.ReadByte(); err != nil {
				return "", err
			}
		}
		if b.Len() >= most {
			return "", errLink
		}
		b.WriteByte(c)
	}
}

// broken turns what ended a link into what next gives.
func (ls *links) broken(err error) error {
	switch err {
	case io.EOF:
		return errLink // the end in the middle of one; next gives io.EOF after it
	case errLink:
		return ls.resync()
	}
	return err
}

// resync goes on to where the next link may begin: the comma before a <.
func (ls *links) resync() error {
	comma := false
	for {
		c, err := ls.r.ReadByte()
		switch {
		case err == io.EOF:
			return errLink
		case err != nil:
			return err
		case c == ',':
			comma = true
		case c == '<' && comma:
			if err := ls.r.UnreadByte(); err != nil {
				return err
			}
			return errLink
		case !isSpace(c):
			comma = false
		}
	}
}

func (ls *links) skipSpace() (byte, error) {
	for {
		c, err := ls.r.ReadByte()
		if err != nil || !isSpace(c) {
			return c, err
		}
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// isToken is tchar of RFC 9110, section 5.6.2.
func isToken(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0
}

func date(s string) time.Time {
	t, err := http.ParseTime(strings.TrimSpace(s))
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}

// headerLinks reads a Link header. What cannot be read of it is left out.
func headerLinks(header string) []link {
	var out []link
	for ls := readLinks(strings.NewReader(header)); ; {
		l, err := ls.next()
		switch {
		case err == nil:
			out = append(out, l)
		case err != errLink:
			return out
		}
	}
}
