package extract

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"unicode"

	"golang.org/x/net/html"

	"sift.build/sift/internal/normalize"
	"sift.build/sift/internal/sift"
)

// Extract turns the body of one answer into a Document. Its errors are
// *sift.Failure: unsupported for bytes that are no text, too_long, and timeout
// or cancel when ctx ends first.
//
// Input.Partial is not reported in the Document: who fetched knows why.
func Extract(ctx context.Context, in Input) (*sift.Document, error) {
	if len(in.Body) == 0 {
		return empty(&sift.Document{
			Kind: sift.KindText, MediaType: mediaType(in.ContentType), Charset: "utf-8", CharsetFrom: fromDefault,
		}), nil
	}
	b, err := open(ctx, in)
	if err != nil {
		return nil, err
	}
	doc := &sift.Document{Kind: b.kind, MediaType: b.mediaType, Charset: b.charset.name, CharsetFrom: b.charset.from}
	if b.charset.guess != "" {
		warn(doc, sift.WarnCharsetGuess, b.charset.guess)
	}
	if b.kind == sift.KindHTML && len(bytes.TrimSpace(b.text)) == 0 {
		doc.Kind = sift.KindText // there is no page to show
	}
	if doc.Kind != sift.KindHTML {
		if err := readOther(ctx, doc, b.text, in); err != nil {
			return nil, err
		}
		return doc, nil
	}
	if err := readHTML(ctx, doc, b.text, in); err != nil {
		return nil, err
	}
	return doc, nil
}

// largePage is how long a page's text may be for its tree to be held twice, as
// Main and as Page. Of a longer one Page has to be asked for.
const largePage = 2 << 20

// readHTML fills the document from a page.
func readHTML(ctx context.Context, doc *sift.Document, text []byte, in Input) error {
	root, flat, err := parse(ctx, text)
	if err != nil {
		return ended(err)
	}
	if flat {
		warn(doc, sift.WarnDeepMarkup, "the page is nested too deeply or too large to be read as a tree; headings, paragraphs, lists, code and links are kept, tables and other structure may be lost")
	}
	meta, seen := collect(root), observe(root)
	if err := alive(ctx); err != nil {
		return err
	}
	base, _ := url.Parse(in.URL)
	page := normalize.Page(root, base)
	doc.Page, doc.VisibleChars = page.Body, page.VisibleChars
	meta.fill(doc, page.Body, base, in.ContentLanguage)
	unseen(doc, &page)
	suspect(doc, seen, meta, &page, in)
	if err := alive(ctx); err != nil {
		return err
	}
	large := len(text) > largePage
	main, fallback := mainContent(page.Body, meta, base, in.Model, large)
	doc.Main = main
	if large {
		doc.Page = nil
	}
	if fallback != "" {
		warn(doc, sift.WarnFallback, fallback)
	}
	if page.VisibleChars == 0 {
		warn(doc, sift.WarnNoText, "the page has no text that a reader could see")
	}
	return nil
}

// empty marks a document with nothing in it.
func empty(doc *sift.Document) *sift.Document {
	warn(doc, sift.WarnEmpty, "the body is empty")
	doc.Hint = sift.HintRetry
	return doc
}

func warn(doc *sift.Document, code sift.WarningCode, message string) {
	doc.Warnings = append(doc.Warnings, sift.Warning{Code: code, Message: message})
}

// countVisible counts characters, white space left out.
func countVisible(s string) int {
	n := 0
	for _, r := range s {
		if !unicode.IsSpace(r) {
			n++
		}
	}
	return n
}

// Page gives the whole page in its normal form, as Document.Page of Extract
// holds it, and its visible characters: for a Document that came from Load.
func Page(ctx context.Context, in Input) (page *html.Node, visible int, err error) {
	b, err := open(ctx, in)
	if err != nil {
		return nil, 0, err
	}
	if b.kind != sift.KindHTML {
		return nil, 0, fmt.Errorf("extract: a whole page was asked of %s", b.mediaType)
	}
	root, _, err := parse(ctx, b.text)
	if err != nil {
		return nil, 0, ended(err)
	}
	base, _ := url.Parse(in.URL)
	res := normalize.Page(root, base)
	return res.Body, res.VisibleChars, nil
}
