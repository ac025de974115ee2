package extract

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"sift.build/sift/internal/sift"
)

// saveVersion is the first byte of a saved document. It goes up with every
// change to the encoding and to what extraction finds, so that an old copy is
// read again from its body rather than served as it was.
const saveVersion = 5

// maxDepth is how deep a saved tree may be nested; the parser stops earlier.
const maxDepth = 1024

// Save encodes a document without its Page and Text, which [Page] and [Load]
// make again from the body. The encoding is this package's own: a tree written
// as HTML does not always read back as the same tree.
func Save(doc *sift.Document) ([]byte, error) {
	w := saver{seen: map[string]uint64{}}
	w.b = append(w.b, saveVersion)
	for _, s := range []string{
		string(doc.Kind), doc.MediaType, doc.Charset, doc.CharsetFrom,
		doc.Title, doc.Author, doc.Site, doc.Published, doc.Language, doc.Description, string(doc.Hint),
	} {
		w.string(s)
	}
	w.number(uint64(max(doc.VisibleChars, 0)))
	w.number(uint64(len(doc.Warnings)))
	for _, warning := range doc.Warnings {
		w.string(string(warning.Code))
		w.string(warning.Message)
	}
	if doc.PDF != nil {
		w.number(1)
		w.number(uint64(max(doc.PDF.Total, 0)))
		stopped := uint64(0)
		if doc.PDF.Stopped {
			stopped = 1
		}
		w.number(stopped)
		w.number(uint64(len(doc.PDF.Bookmarks)))
		for _, b := range doc.PDF.Bookmarks {
			w.number(uint64(max(b.Level, 0)))
			w.string(b.Title)
			w.number(uint64(max(b.Page, 0)))
		}
	} else {
		w.number(0)
	}
	if doc.Main == nil {
		w.number(0)
		return w.b, nil
	}
	w.number(1)
	if err := w.node(doc.Main, 0); err != nil {
		return nil, err
	}
	return w.b, nil
}

// A saver appends to b. Strings that repeat, such as tag names, classes and
// keys, are written once.
type saver struct {
	b    []byte
	seen map[string]uint64
}

func (w *saver) number(n uint64) { w.b = binary.AppendUvarint(w.b, n) }

func (w *saver) string(s string) {
	w.number(uint64(len(s)))
	w.b = append(w.b, s...)
}

// name writes a string that may have been written before: 0 and the string, or
// its number among those.
func (w *saver) name(s string) {
	if n, ok := w.seen[s]; ok {
		w.number(n)
		return
	}
	w.seen[s] = uint64(len(w.seen) + 1)
	w.number(0)
	w.string(s)
}

// What follows in the encoding of a tree.
const (
	saveEnd = iota // of the children of an element
	saveText
	saveElement
)

func (w *saver) node(n *html.Node, depth int) error {
	if depth > maxDepth {
		return errors.New("extract: the tree to save is too deep")
	}
	switch n.Type {
	case html.TextNode:
		w.b = append(w.b, saveText)
		w.string(n.Data)
		return nil
	case html.ElementNode:
	default:
		return fmt.Errorf("extract: a tree to save holds a node of type %d", n.Type)
	}
	w.b = append(w.b, saveElement)
	w.name(n.Data)
	w.number(uint64(len(n.Attr)))
	for _, a := range n.Attr {
		w.name(a.Key)
		w.string(a.Val)
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if err := w.node(c, depth+1); err != nil {
			return err
		}
	}
	w.b = append(w.b, saveEnd)
	return nil
}

// errSaved is the error for bytes that this version did not write.
var errSaved = errors.New("extract: not a saved document of this version")

// Load reads what Save wrote, without extracting again: Page stays nil, and
// the Text of what is handed on verbatim is decoded from in. An error means
// that the copy has to be extracted anew.
func Load(saved []byte, in Input) (*sift.Document, error) {
	if len(saved) == 0 || saved[0] != saveVersion {
		return nil, errSaved
	}
	r := loader{b: string(saved[1:])}
	var doc sift.Document
	kind, hint := "", ""
	for _, s := range []*string{
		&kind, &doc.MediaType, &doc.Charset, &doc.CharsetFrom,
		&doc.Title, &doc.Author, &doc.Site, &doc.Published, &doc.Language, &doc.Description, &hint,
	} {
		*s = r.string()
	}
	doc.Kind, doc.Hint = sift.Kind(kind), sift.Hint(hint)
	doc.VisibleChars = r.size()
	for n := r.number(); n > 0 && !r.bad; n-- {
		doc.Warnings = append(doc.Warnings, sift.Warning{Code: sift.WarningCode(r.string()), Message: r.string()})
	}
	if r.number() == 1 {
		doc.PDF = &sift.PDF{Total: r.size(), Stopped: r.number() == 1}
		for n := r.number(); n > 0 && !r.bad; n-- {
			doc.PDF.Bookmarks = append(doc.PDF.Bookmarks, sift.Bookmark{Level: r.size(), Title: r.string(), Page: r.size()})
		}
	}
	if r.number() == 1 {
		if r.byte() != saveElement {
			return nil, errSaved
		}
		doc.Main = r.element(0)
	}
	if r.bad || r.b != "" {
		return nil, errSaved
	}
	if !doc.Kind.HasTree() && len(in.Body) > 0 {
		// The bounds on decoding are those of Extract, which took the same body.
		b, err := open(context.Background(), in)
		if err != nil {
			return nil, err
		}
		doc.Text = string(b.text)
	}
	return &doc, nil
}

// A loader reads from b, which strings of the result share.
type loader struct {
	b     string
	bad   bool
	names []string
}

func (r *loader) fail() { r.b, r.bad = "", true }

func (r *loader) byte() byte {
	if r.b == "" {
		r.fail()
		return saveEnd
	}
	c := r.b[0]
	r.b = r.b[1:]
	return c
}

func (r *loader) number() uint64 {
	var n uint64
	for shift := 0; shift < 64; shift += 7 {
		c := r.byte()
		n |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return n
		}
	}
	r.fail()
	return 0
}

// size is a number that fits into an int on every platform and can be added to.
func (r *loader) size() int { return int(min(r.number(), 1<<30)) }

func (r *loader) string() string {
	n := r.number()
	if n > uint64(len(r.b)) {
		r.fail()
		return ""
	}
	s := r.b[:n]
	r.b = r.b[n:]
	return s
}

func (r *loader) name() string {
	n := r.number()
	switch {
	case n == 0:
		s := r.string()
		r.names = append(r.names, s)
		return s
	case n <= uint64(len(r.names)):
		return r.names[n-1]
	}
	r.fail()
	return ""
}

// element reads an element whose mark has been read.
func (r *loader) element(depth int) *html.Node {
	if depth > maxDepth {
		r.fail()
		return nil
	}
	n := &html.Node{Type: html.ElementNode, Data: r.name()}
	n.DataAtom = atom.Lookup([]byte(n.Data))
	count := r.number()
	if count > uint64(len(r.b)) { // each takes two bytes and more
		r.fail()
		return nil
	}
	if count > 0 {
		n.Attr = make([]html.Attribute, 0, count)
	}
	for ; count > 0 && !r.bad; count-- {
		n.Attr = append(n.Attr, html.Attribute{Key: r.name(), Val: r.string()})
	}
	for !r.bad {
		switch r.byte() {
		case saveEnd:
			return n
		case saveText:
			n.AppendChild(&html.Node{Type: html.TextNode, Data: r.string()})
		case saveElement:
			if c := r.element(depth + 1); c != nil {
				n.AppendChild(c)
			}
		default:
			r.fail()
		}
	}
	return nil
}
