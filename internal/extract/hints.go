package extract

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"golang.org/x/net/html"

	"sift.build/sift/internal/maincontent"
	"sift.build/sift/internal/normalize"
)

// Normal gives a page in normal form, and what it says of itself, as the choice
// of its main content gets them: for training, and to show why a block was
// kept. Its errors are those of Extract.
func Normal(ctx context.Context, in Input) (*html.Node, maincontent.Hints, error) {
	b, err := open(ctx, in)
	if err != nil {
		return nil, maincontent.Hints{}, err
	}
	root, _, err := parse(ctx, b.text)
	if err != nil {
		return nil, maincontent.Hints{}, ended(err)
	}
	meta := collect(root)
	base, err := url.Parse(in.URL)
	if err != nil {
		return nil, maincontent.Hints{}, fmt.Errorf("extract: %w", err)
	}
	body := normalize.Page(root, base).Body
	h := meta.hints(base)
	h.Rules = selectMain(body, meta.about(base)).reading()
	return body, h, nil
}

// maxHintText is how much of the text in structured data is compared with the
// page's, in bytes.
const maxHintText = 200 << 10

// hints gives what the page says of itself to the choice of its main content.
func (m *metadata) hints(address *url.URL) maincontent.Hints {
	h := maincontent.Hints{
		Title:       firstOf(m.first("og:title"), m.title),
		Description: firstOf(m.first("description"), m.first("og:description")),
		OpenGraph:   m.first("og:type"),
		Generator:   m.first("generator"),
		Address:     address,
		Thread:      m.isThread(address),
		Product:     m.isProduct(),
	}
	if o := m.linked.main(); o != nil {
		h.Types = types(o)
	}
	var b strings.Builder
	for _, o := range m.linked.objects {
		for _, key := range [...]string{"articleBody", "text", "description", "reviewBody"} {
			if s, ok := o[key].(string); ok && b.Len()+len(s) < maxHintText {
				b.WriteString(s)
				b.WriteByte('\n')
			}
		}
	}
	h.Text = b.String()
	return h
}
