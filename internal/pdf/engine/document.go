package engine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf16"

	"sift.build/sift/internal/pdf/layout"
)

const (
	maxPassword  = 1 << 10
	maxMeta      = 16 << 10 // bytes of UTF-16 of one text of the metadata
	maxTitle     = 2 << 10  // bytes of UTF-16 of a bookmark's title
	maxBookmarks = 5_000
	maxLevel     = 16
)

// PDFium's error codes (fpdfview.h).
const (
	errPasswordCode = 4
	errSecurityCode = 5
)

// Info is what a document says of itself.
type Info struct {
	Pages                                               int
	Title, Author, Subject, Keywords, Creator, Producer string
	Created, Modified                                   time.Time // zero: unknown
	Language                                            string    // of the catalog, such as "en-GB"
	Tagged, Encrypted                                   bool
	Bookmarks                                           []layout.Bookmark
	BookmarksCut                                        bool // there are more, or they go round in circles
}

// Document is an open file.
type Document struct {
	e      *Engine
	handle uint64
	access uint64
	pages  int
	tagged bool

	password string
	high     uint32 // size of the guest's memory at which to open the file anew
}

// Open opens the file. PDFium reads from it only what it needs.
func (e *Engine) Open(src io.ReaderAt, size int64, password string) (*Document, error) {
	if err := e.failed(); err != nil {
		return nil, err
	}
	if size <= 0 || size > maxFile {
		return nil, fmt.Errorf("%w: %d bytes", ErrFormat, size)
	}
	if len(password) > maxPassword || strings.ContainsRune(password, 0) {
		return nil, ErrPassword // no file has such a one
	}
	d, err := e.openFile(src, size, password)
	if errors.Is(err, ErrPassword) && password != "" {
		// Whoever gives a password to a file that needs none means no harm.
		return e.openFile(src, size, "")
	}
	return d, err
}

func (e *Engine) openFile(src io.ReaderAt, size int64, password string) (*Document, error) {
	e.file, e.size, e.readError = src, size, nil
	d := &Document{e: e, password: password, access: uint64(e.call(e.fn.fileAccess, uint64(size), 0))}
	if err := d.open(); err != nil {
		e.call(e.fn.free, d.access)
		e.file = nil
		return nil, err
	}
	d.pages = int(e.call(e.fn.pageCount, d.handle))
	d.tagged = e.call(e.fn.isTagged, d.handle) != 0
	d.high = max(e.limit/2, e.mem.Size())
	return d, e.failed()
}

func (d *Document) open() error {
	e := d.e
	var secret uint32
	if d.password != "" {
		var err error
		if secret, err = e.alloc([]byte(d.password)); err != nil {
			return err
		}
	}
	d.handle = uint64(e.call(e.fn.loadDocument, d.access, uint64(secret)))
	code := e.call(e.fn.lastError)
	e.call(e.fn.free, uint64(secret)) // 0 is fine
	if err := e.failed(); err != nil {
		return err
	}
	switch {
	case d.handle != 0:
		return nil
	case e.readError != nil:
		return fmt.Errorf("read the file: %w", e.readError)
	case code == errPasswordCode:
		return ErrPassword
	case code == errSecurityCode:
		return ErrSecurity
	default:
		return fmt.Errorf("%w: code %d", ErrFormat, code)
	}
}

// reopen lets PDFium forget what it has read of the file. The guest's memory
// does not shrink, but is used again.
func (d *Document) reopen() error {
	e := d.e
	e.call(e.fn.closeDocument, d.handle)
	d.handle = 0
	if err := d.open(); err != nil {
		e.dead = err
		return e.failed()
	}
	// The next time when what was given back has been used up again.
	d.high = e.mem.Size() + e.limit/32
	return nil
}

// Close closes the document, so that the Engine can open another: tests do.
func (d *Document) Close() {
	d.e.call(d.e.fn.closeDocument, d.handle)
	d.e.call(d.e.fn.free, d.access)
	d.e.file = nil
}

// Info reads the metadata and the outline. What cannot be read is left out.
func (d *Document) Info() Info {
	e := d.e
	i := Info{
		Pages:     d.pages,
		Tagged:    d.tagged,
		Encrypted: int32(e.call(e.fn.securityRevision, d.handle)) >= 0,
		Title:     d.meta("Title"),
		Author:    d.meta("Author"),
		Subject:   d.meta("Subject"),
		Keywords:  d.meta("Keywords"),
		Creator:   d.meta("Creator"),
		Producer:  d.meta("Producer"),
		Created:   parseDate(d.meta("CreationDate")),
		Modified:  parseDate(d.meta("ModDate")),
	}
	i.Language = clean(e.utf16(maxTitle, func(p, n uint64) uint32 { return e.call(e.fn.language, d.handle, p, n) }))
	w := walk{d: d}
	w.level(0, 1)
	i.Bookmarks, i.BookmarksCut = w.found, w.cut
	return i
}

// Err says whether PDFium has stopped.
func (d *Document) Err() error { return d.e.failed() }

func (d *Document) meta(tag string) string {
	e := d.e
	e.mem.Write(e.scratch, append([]byte(tag), 0))
	return clean(e.utf16(maxMeta, func(p, n uint64) uint32 { return e.call(e.fn.metaText, d.handle, e.at(0), p, n) }))
}

// utf16 calls a function that fills a buffer with UTF-16 and a NUL and returns
// the number of bytes that this takes; if it is more than most there is no text.
// The first kilobyte of the scratch block stays free for arguments.
func (e *Engine) utf16(most uint32, get func(p, n uint64) uint32) string {
	const from = 1 << 10
	n := get(e.at(from), uint64(most))
	if e.dead != nil || n < 4 {
		return ""
	}
	buffer := e.scratch + from
	if n > most {
		// PDFium copies all or nothing: fetch it whole, keep the beginning.
		if n > 4<<20 {
			return ""
		}
		p := e.call(e.fn.malloc, uint64(n))
		if p == 0 {
			return ""
		}
		defer e.call(e.fn.free, uint64(p))
		get(uint64(p), uint64(n))
		buffer, n = p, most
	} else {
		n -= 2 // the NUL
	}
	b, ok := e.mem.Read(buffer, n)
	if !ok {
		return ""
	}
	u := make([]uint16, 0, len(b)/2)
	for ; len(b) >= 2; b = b[2:] {
		c := binary.LittleEndian.Uint16(b)
		if c == 0 {
			break
		}
		u = append(u, c)
	}
	if n := len(u); n > 0 && u[n-1]>>10 == 0xd800>>10 {
		u = u[:n-1] // cut in the middle of a character
	}
	return string(utf16.Decode(u))
}

// clean removes what is not text: control characters, and the language
// escapes (ESC en ESC) that a PDF text string may hold.
func clean(s string) string {
	for {
		i := strings.IndexByte(s, 0x1b)
		if i < 0 {
			break
		}
		j := strings.IndexByte(s[i+1:], 0x1b)
		if j < 0 || j > 5 {
			s = s[:i] + s[i+1:]
			continue
		}
		s = s[:i] + s[i+1+j+1:]
	}
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n' || r == '\r':
			return ' '
		case r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0xfeff || r == 0xfffe || r == 0xffff:
			return -1
		}
		return r
	}, s))
}

// parseDate reads a PDF date, D:YYYYMMDDHHmmSSOHH'mm', and what programs write
// instead: without D:, cut short anywhere after the year, with Z or without
// apostrophes, or as ISO 8601. A date that makes no sense is zero.
func parseDate(s string) time.Time {
	s = strings.TrimPrefix(strings.TrimSpace(s), "D:")
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t
	}
	part := [6]int{0, 1, 1, 0, 0, 0}
	digits := 0
	for digits < len(s) && digits < 14 && s[digits] >= '0' && s[digits] <= '9' {
		digits++
	}
	if digits < 4 {
		return time.Time{}
	}
	number := func(t string) int {
		n := 0
		for _, c := range []byte(t) {
			n = n*10 + int(c-'0')
		}
		return n
	}
	part[0] = number(s[:4])
	for i, at := 1, 4; i < len(part) && at+2 <= digits; i, at = i+1, at+2 {
		part[i] = number(s[at : at+2])
	}
	zone := time.UTC
	if rest := s[digits:]; rest != "" && (rest[0] == '+' || rest[0] == '-') {
		var z []byte
		for _, c := range []byte(rest[1:]) {
			if c >= '0' && c <= '9' && len(z) < 4 {
				z = append(z, c)
			}
		}
		offset := 0
		if len(z) >= 2 {
			offset = number(string(z[:2])) * 3600
		}
		if len(z) == 4 {
			offset += number(string(z[2:])) * 60
		}
		if offset < 24*3600 {
			if rest[0] == '-' {
				offset = -offset
			}
			zone = time.FixedZone("", offset)
		}
	}
	t := time.Date(part[0], time.Month(part[1]), part[2], part[3], part[4], part[5], 0, zone)
	if part[0] == 0 || t.Month() != time.Month(part[1]) || t.Day() != part[2] || part[3] > 24 || part[4] > 59 || part[5] > 60 {
		return time.Time{}
	}
	return t
}

// walk goes through the outline. PDFium does not see when one goes round in
// circles (chromium bug pdfium:1759), so that level and number are bounded,
// and handles already seen are not entered again.
type walk struct {
	d     *Document
	found []layout.Bookmark
	seen  map[uint32]bool
	cut   bool
}

func (w *walk) level(parent uint32, level int) {
	if w.seen == nil {
		w.seen = map[uint32]bool{}
	}
	e := w.d.e
	for b := e.call(e.fn.firstChild, w.d.handle, uint64(parent)); b != 0; b = e.call(e.fn.nextSibling, w.d.handle, uint64(b)) {
		if w.seen[b] || level > maxLevel || len(w.found) >= maxBookmarks {
			w.cut = true
			return
		}
		w.seen[b] = true
		w.found = append(w.found, w.d.bookmark(uint64(b), level))
		w.level(b, level+1)
	}
}

func (d *Document) bookmark(b uint64, level int) layout.Bookmark {
	e := d.e
	m := layout.Bookmark{
		Level: level,
		Title: clean(e.utf16(maxTitle, func(p, n uint64) uint32 { return e.call(e.fn.bookmarkTitle, b, p, n) })),
	}
	dest := e.call(e.fn.bookmarkDest, d.handle, b)
	if dest == 0 {
		if action := e.call(e.fn.bookmarkAction, b); action != 0 {
			dest = e.call(e.fn.actionDest, d.handle, uint64(action))
		}
	}
	if dest == 0 {
		return m
	}
	if p := int(int32(e.call(e.fn.destPage, d.handle, uint64(dest)))); p >= 0 && p < d.pages {
		m.Page = p + 1
	}
	m.Y = d.destY(dest, m.Page)
	return m
}

// destY is how far below the top of its page a destination lies; 0 if that is
// not known.
func (d *Document) destY(dest uint32, page int) float64 {
	e := d.e
	if page == 0 || e.call(e.fn.destLocation, uint64(dest), e.at(0), e.at(4), e.at(8), e.at(12), e.at(16), e.at(20)) == 0 || e.int(4) == 0 {
		return 0
	}
	y := e.float(16)
	// The page is not loaded for this: its box is taken to begin at 0, as nearly all do.
	if e.call(e.fn.pageSize, d.handle, uint64(page-1), e.at(0)) == 0 {
		return 0
	}
	if h := e.float(4); y >= 0 && y <= h {
		return h - y
	}
	return 0
}

// Label is how page n calls itself, such as "iv" or "A-3"; "" if it has no
// label.
func (d *Document) Label(n int) string {
	e := d.e
	const maxLabel = 256
	if n < 1 || n > d.pages {
		return ""
	}
	return clean(e.utf16(maxLabel, func(p, size uint64) uint32 { return e.call(e.fn.pageLabel, d.handle, uint64(n-1), p, size) }))
}
