package extract

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"sift.build/sift/internal/maincontent"
	"sift.build/sift/internal/sift"
)

// Input is one answer as it was fetched.
type Input struct {
	Body            []byte // after content decoding; never written to
	URL             string // where it came from in the end; links are resolved against it
	ContentType     string // the header as sent; "" when there was none
	ContentLanguage string // the header as sent
	Partial         bool   // the body was cut short

	// What helps to tell a page that stands in the place of another. Neither
	// needs to be known.
	Status int    // of the answer; 0: not known
	Asked  string // the URL that was asked for, before redirects

	// MaxText bounds the decoded text in bytes; 0 means the constant MaxText.
	MaxText int

	// Model chooses the main content; nil is the one that the program carries.
	Model *maincontent.Model
}

// body is an Input after everything that does not depend on its kind.
type body struct {
	kind      sift.Kind
	mediaType string
	charset   charset
	text      []byte // valid UTF-8; may share memory with Input.Body
}

// textLimit is the bound on decoded text that in asks for.
func textLimit(in Input) int {
	if in.MaxText > 0 {
		return in.MaxText
	}
	return MaxText
}

// open decides what the bytes are and decodes them. A page in XML is written so
// that a parser of HTML reads it as it is meant.
func open(ctx context.Context, in Input) (body, error) {
	b, err := decode(ctx, in)
	if err == nil && b.kind == sift.KindHTML && isXML(in.ContentType) {
		b.text = closeTags(b.text)
	}
	return b, err
}

// decode decides what the bytes are and decodes them, and changes nothing else.
func decode(ctx context.Context, in Input) (body, error) {
	limit := textLimit(in)
	raw := in.Body
	if inner, ok, err := unzip(ctx, raw, limit); err != nil {
		return body{}, err
	} else if ok {
		// The header speaks of the wrapping and the path ends in .gz.
		raw, in.ContentType = inner, ""
		in.URL = strings.TrimSuffix(in.URL, ".gz")
	}
	if mt := binaryType(raw, in.ContentType); mt != "" {
		return body{}, refuse(mt, len(raw), in.Partial)
	}
	cs := decideCharset(raw, in.ContentType, mayDeclare(raw, in.ContentType), in.Partial)
	text, err := convert(ctx, raw, cs, limit)
	if err != nil {
		return body{}, ended(err)
	}
	b := body{charset: cs, text: text}
	b.kind, b.mediaType = sniff(text, in.ContentType, pathOf(in.URL))
	return b, nil
}

// unzip opens a file that is one gzip stream around a text, such as
// sitemap.xml.gz. What is inside is judged like a body of its own, but not
// opened again.
func unzip(ctx context.Context, raw []byte, limit int) (inner []byte, ok bool, err error) {
	if !isGzip(raw) {
		return nil, false, nil
	}
	inner, err = gunzip(ctx, raw, limit)
	switch {
	case errors.Is(err, errExpired):
		return nil, false, ended(err)
	case len(inner) > limit:
		return nil, false, sift.Fail(sift.CodeTooLong, "the compressed file holds more than %d bytes", limit)
	}
	// One that cannot be read, or holds no text, is refused as the archive it is.
	return inner, err == nil && binaryType(inner, "") == "", nil
}

// gunzip gives what a gzip stream holds, and one byte over the limit of what
// holds more.
func gunzip(ctx context.Context, raw []byte, limit int) ([]byte, error) {
	z, err := gzip.NewReader(newSource(ctx, raw))
	if err != nil {
		return nil, fmt.Errorf("gunzip: %w", err)
	}
	inner, err := io.ReadAll(io.LimitReader(z, int64(limit)+1))
	if err != nil {
		return nil, fmt.Errorf("gunzip: %w", err)
	}
	return inner, nil
}

func isGzip(b []byte) bool { return bytes.HasPrefix(b, []byte("\x1f\x8b\x08")) }

// ended turns the error of a step into what the caller is told.
func ended(err error) error {
	switch {
	case errors.Is(err, context.Canceled):
		return sift.Fail(sift.CodeCancel, "the caller went away").WithCause(err)
	case errors.Is(err, errExpired), errors.Is(err, context.DeadlineExceeded):
		return sift.Fail(sift.CodeTimeout, "reading the page ran out of time").WithCause(err)
	}
	return fmt.Errorf("extract: %w", err)
}

// alive is the check between two steps.
func alive(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return ended(fmt.Errorf("%w: %w", errExpired, err))
	}
	return nil
}

// pathOf gives the path of an address, or "".
func pathOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Path
}
