package fetch

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/net/html/charset"
)

const (
	// maxCodings is how many content codings may lie on top of each other.
	// Real servers stack two at most, by mistake; each one more multiplies
	// what a bomb can ask for.
	maxCodings = 2

	// zstdWindow is what RFC 9659 lets a server use. A frame may declare far
	// more, and the decoder would allocate it.
	zstdWindow = 8 << 20

	// maxMembers bounds the members of one gzip body. Each costs a reset of
	// the decoder and may hold nothing, so bytes alone do not bound the time.
	maxMembers = 16 << 10

	// peekBytes is how much of a body is looked at to tell what it is.
	peekBytes = 4 << 10
)

// A coding is one way in which a body may be compressed.
type coding string

const (
	plain      coding = ""
	gzipCoding coding = "gzip"
	zlibCoding coding = "deflate"
	rawDeflate coding = "raw deflate" // what some servers send as "deflate"
	brCoding   coding = "br"
	zstdCoding coding = "zstd"
)

// unknownCodingError is a Content-Encoding that cannot be undone.
type unknownCodingError struct{ token string }

func (e *unknownCodingError) Error() string { return fmt.Sprintf("content encoding %q", e.token) }

var (
	errManyCodings = errors.New("more than two content encodings")
	errManyMembers = fmt.Errorf("more than %d gzip members", maxMembers)
	errMislabelled = errors.New("the body is not what its Content-Encoding says")
)

// budget is how many bytes a body may have, on the wire and after each
// decoding. It is raised when the body turns out to be a PDF.
type budget struct {
	max int64
	pdf bool // it has been raised
}

// overError says that a body went over its budget.
type overError struct{ decoded bool }

func (e *overError) Error() string { return "over the size limit" }

// capped counts what passes and fails once it is over the budget. The check
// comes before a read, not after it, because the first bytes may raise the
// budget; what is over at the end is found by over.
type capped struct {
	r       io.Reader
	n       int64
	budget  *budget
	decoded bool // behind a decoder, not on the wire
}

func (c *capped) Read(p []byte) (int, error) {
	if err := c.over(); err != nil {
		return 0, err
	}
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

func (c *capped) over() error {
	if c.n > c.budget.max {
		return &overError{decoded: c.decoded}
	}
	return nil
}

// decoded is a body with its content codings undone.
type decoded struct {
	io.Reader
	layers []*capped // the wire first, then the output of each decoder
	close  []func()
}

// over reports whether any layer is over its budget.
func (d *decoded) over() error {
	for _, l := range d.layers {
		if err := l.over(); err != nil {
			return err
		}
	}
	return nil
}

// Close frees the decoders' memory.
func (d *decoded) Close() {
	for _, f := range d.close {
		f()
	}
}

// codings reads the Content-Encoding lines: the codings in the order in which
// they were applied. Tokens that name no coding at all (identity, and the
// character sets and transfer encodings that servers write there by mistake)
// are ignored; anything else unknown is an error, because the alternative is
// to show compressed bytes as text.
func codings(lines []string) ([]coding, error) {
	var out []coding
	for _, line := range lines {
		for token := range strings.SplitSeq(line, ",") {
			token = strings.ToLower(strings.Trim(token, " \t\"'"))
			switch token {
			case "", "identity", "none", "binary", "7bit", "8bit", "chunked", "aws-chunked":
				continue
			case "gzip", "x-gzip":
				out = append(out, gzipCoding)
			case "deflate":
				out = append(out, zlibCoding)
			case "br":
				out = append(out, brCoding)
			case "zstd":
				out = append(out, zstdCoding)
			default:
				if e, _ := charset.Lookup(token); e != nil {
					continue
				}
				return nil, &unknownCodingError{token: clip(token, 40)}
			}
			if len(out) > maxCodings {
				return nil, errManyCodings
			}
		}
	}
	return out, nil
}

// decode undoes the codings of a body, outermost last in declared. What each
// layer really is, is decided from its first bytes: a label is wrong often
// enough, in both directions, that it is only the first guess. A compressed
// body without a label is undone too, unless file says that the compressed
// bytes are what was asked for.
func decode(wire *capped, declared []coding, file bool) (*decoded, error) {
	d := &decoded{Reader: wire, layers: []*capped{wire}}
	undone := 0
	for _, label := range slices.Backward(declared) {
		br := bufio.NewReaderSize(d.Reader, peekBytes)
		d.Reader = br
		c, err := recognise(br, label)
		if err != nil {
			d.Close()
			return nil, err
		}
		if c == plain {
			continue
		}
		if err := d.undo(br, c); err != nil {
			d.Close()
			return nil, err
		}
		undone++
	}
	if !file && undone < maxCodings {
		br := bufio.NewReaderSize(d.Reader, peekBytes)
		d.Reader = br
		head, _ := br.Peek(peekBytes)
		if c := magic(head); c != plain && opens(c, head) {
			if err := d.undo(br, c); err != nil {
				d.Close()
				return nil, err
			}
		}
	}
	return d, nil
}

// undo puts a decoder for c on top.
func (d *decoded) undo(br *bufio.Reader, c coding) error {
	r, closer, err := newDecoder(br, c)
	if err != nil {
		return err
	}
	if closer != nil {
		d.close = append(d.close, closer)
	}
	layer := &capped{r: r, budget: d.layers[0].budget, decoded: true}
	d.layers = append(d.layers, layer)
	d.Reader = layer
	return nil
}

// recognise says what the body behind br is, whose label says want.
func recognise(br *bufio.Reader, want coding) (coding, error) {
	head, err := br.Peek(peekBytes)
	if len(head) == 0 {
		if err != nil && err != io.EOF {
			return plain, err
		}
		return plain, nil // an empty body is empty whatever its label
	}
	if c := magic(head); c != plain {
		return c, nil // says br, is gzip
	}
	// Text comes before the label's own decoder: raw deflate has no magic
	// number, and some texts decode to a few bytes of nonsense.
	if looksText(head) {
		return plain, nil // says gzip, is plain
	}
	tries := []coding{zlibCoding}
	switch want {
	case zlibCoding:
		tries = []coding{zlibCoding, rawDeflate}
	case brCoding:
		tries = []coding{brCoding, zlibCoding}
	}
	for _, c := range tries {
		if opens(c, head) {
			return c, nil
		}
	}
	if http.DetectContentType(head) != "application/octet-stream" {
		return plain, nil // says gzip, is a picture or a PDF
	}
	return plain, errMislabelled
}

// magic recognises the codings that begin with a number of their own.
func magic(head []byte) coding {
	switch {
	case len(head) >= 4 && head[0] == 0x1f && head[1] == 0x8b && head[2] == 8 && head[3]&0xe0 == 0:
		return gzipCoding
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}),
		len(head) >= 4 && head[0]&0xf0 == 0x50 && string(head[1:4]) == "\x2a\x4d\x18": // a skippable frame first
		return zstdCoding
	}
	return plain
}

// opens tries the first bytes of a body: they decode as c, as far as they go.
func opens(c coding, head []byte) bool {
	if c == zlibCoding && (len(head) < 2 || head[0]&0x0f != 8 || head[0]>>4 > 7 || (uint(head[0])<<8|uint(head[1]))%31 != 0) {
		return false
	}
	r, closer, err := newDecoder(bufio.NewReader(bytes.NewReader(head)), c)
	if err != nil {
		return errors.Is(err, io.ErrUnexpectedEOF)
	}
	if closer != nil {
		defer closer()
	}
	n, err := io.CopyN(io.Discard, r, 64<<10)
	switch {
	case err == nil:
		return true
	case errors.Is(err, io.ErrUnexpectedEOF):
		// Cut off by our own peek, or a body that is cut short itself.
		return n > 0 || len(head) == peekBytes
	}
	return errors.Is(err, io.EOF)
}

// looksText reports whether head could be the start of a text in an
// ASCII-compatible encoding that is UTF-8. Compressed data never is, beyond a
// handful of bytes.
func looksText(head []byte) bool {
	for len(head) > 0 {
		r, n := utf8.DecodeRune(head)
		switch {
		case r == utf8.RuneError && n == 1:
			return !utf8.FullRune(head) // cut inside a character
		case r < ' ' && r != '\t' && r != '\n' && r != '\r' && r != '\f' && r != 0x1b:
			return false
		}
		head = head[n:]
	}
	return true
}

// newDecoder undoes one coding.
func newDecoder(br *bufio.Reader, c coding) (io.Reader, func(), error) {
	switch c {
	case gzipCoding:
		zr, err := gzip.NewReader(br)
		if err != nil {
			return nil, nil, err
		}
		zr.Multistream(false)
		return &members{br: br, zr: zr, n: 1}, nil, nil
	case zlibCoding:
		zr, err := zlib.NewReader(br)
		return zr, nil, err
	case rawDeflate:
		return flate.NewReader(br), nil, nil
	case brCoding:
		return &brReader{brotli.NewReader(br)}, nil, nil
	case zstdCoding:
		zr, err := zstd.NewReader(br, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(zstdWindow))
		if err != nil {
			return nil, nil, err
		}
		return &zstdReader{zr: zr}, zr.Close, nil
	}
	return nil, nil, fmt.Errorf("no decoder for %q", string(c))
}

// members reads the members of a gzip body one by one. The standard reader
// does so too, but takes whatever follows the last one for a broken header,
// and counts nothing.
type members struct {
	br *bufio.Reader
	zr *gzip.Reader
	n  int
}

func (m *members) Read(p []byte) (int, error) {
	for {
		n, err := m.zr.Read(p)
		if !errors.Is(err, io.EOF) {
			return n, err
		}
		if n > 0 {
			return n, nil // the end is found again at the next read
		}
		if head, _ := m.br.Peek(4); magic(head) != gzipCoding {
			return 0, io.EOF // the end, or garbage after it
		}
		if m.n++; m.n > maxMembers {
			return 0, errManyMembers
		}
		switch err := m.zr.Reset(m.br); {
		case errors.Is(err, io.EOF):
			return 0, io.ErrUnexpectedEOF
		case errors.Is(err, gzip.ErrHeader):
			return 0, io.EOF
		case err != nil:
			return 0, err
		}
		m.zr.Multistream(false)
	}
}

// brReader ignores what follows the end of a brotli stream.
type brReader struct{ br *brotli.Reader }

func (b *brReader) Read(p []byte) (int, error) {
	n, err := b.br.Read(p)
	// The library has no exported value for this error; a test holds the text.
	if err != nil && err.Error() == "brotli: excessive input" {
		err = io.EOF
	}
	return n, err
}

// zstdReader ignores what follows the last zstd frame.
type zstdReader struct {
	zr  *zstd.Decoder
	got bool
}

func (z *zstdReader) Read(p []byte) (int, error) {
	n, err := z.zr.Read(p)
	z.got = z.got || n > 0
	if z.got && errors.Is(err, zstd.ErrMagicMismatch) {
		err = io.EOF
	}
	return n, err
}

// isCompressedFile tells a compressed file, which is handed on as it is, from
// a compressed transfer that lost its Content-Encoding. The Content-Type
// decides: one that names a readable format (text/html, application/xml)
// speaks of what is inside, so the compression is the transfer's; one that
// names an archive or nothing in particular speaks of the bytes themselves.
// Without a type the name in the URL decides.
func isCompressedFile(mediaType, urlPath string) bool {
	switch mediaType {
	case "":
		switch strings.ToLower(path.Ext(urlPath)) {
		case ".gz", ".tgz", ".zst", ".tzst", ".svgz", ".warc", ".deb", ".rpm", ".apk":
			return true
		}
		return false
	case "application/octet-stream", "binary/octet-stream", "application/download", "application/force-download", "application/x-download", "application/binary":
		return true
	}
	for _, part := range []string{"gzip", "zstd", "tar", "compress", "archive", "tgz", "warc"} {
		if strings.Contains(mediaType, part) {
			return true
		}
	}
	return false
}

// clip cuts s to at most n bytes, at a character's end, and leaves out what
// does not print, for text of strangers in our sentences.
func clip(s string, n int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r >= 0x2028 && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			return -1
		}
		return r
	}, s)
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
