package extract

import (
	"context"
	"fmt"
	"net/url"

	"sift.build/sift/internal/normalize"
	"sift.build/sift/internal/sift"
)

// unseen says how much was left out because no reader could see it, and not
// what: a warning that repeated it would bring it to the reader after all.
func unseen(doc *sift.Document, page *normalize.Result) {
	if page.HiddenText > 0 {
		warn(doc, sift.WarnHiddenText, fmt.Sprintf("%d characters of text that a reader could not see were left out", page.HiddenText))
	}
	if page.TagChars > 0 {
		warn(doc, sift.WarnHiddenText, fmt.Sprintf("%d invisible tag characters were left out", page.TagChars))
	}
	if n := page.Invisible + page.Bidi; n > 0 {
		warn(doc, sift.WarnHiddenText, fmt.Sprintf("%d invisible characters and direction overrides were left out", n))
	}
}

// Hidden gives the texts that Extract leaves out of a page because no reader
// could see them, in the order of the page: at most 200 of at most 1,000
// characters each, 50,000 in all. It reads the body anew, and asks no other
// kind but HTML: what is handed on verbatim has everything in it.
func Hidden(ctx context.Context, in Input) ([]sift.HiddenText, error) {
	found := []sift.HiddenText{}
	if len(in.Body) == 0 {
		return found, nil
	}
	b, err := open(ctx, in)
	if err != nil {
		return nil, err
	}
	if b.kind != sift.KindHTML {
		return found, nil
	}
	root, _, err := parse(ctx, b.text)
	if err != nil {
		return nil, ended(err)
	}
	base, _ := url.Parse(in.URL)
	for _, p := range normalize.Hidden(root, base) {
		found = append(found, sift.HiddenText{Text: p.Text, Chars: p.Chars, How: string(p.How), Where: p.Where})
	}
	return found, nil
}
