package extract

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"golang.org/x/net/html"

	"sift.build/sift/internal/normalize"
	"sift.build/sift/internal/sift"
)

// An Explanation says why the main content of a page is what it is.
type Explanation struct {
	Title string `json:"title"`
	// By is "model" where trained trees chose, "rules" on short pages.
	By     string           `json:"by"`
	Cut    float64          `json:"cut,omitempty"` // the probability that a block needs; model only
	Blocks []ExplainedBlock `json:"blocks"`        // in the order of the page
}

// An ExplainedBlock is one run of text between block elements.
type ExplainedBlock struct {
	Kept  bool    `json:"kept"`
	Score float64 `json:"score,omitempty"` // the probability that it is content; model only
	Why   string  `json:"why,omitempty"`   // what overruled the score
	Words int     `json:"words"`
	Path  string  `json:"path"` // the elements around it, outermost first, with their first class
	Text  string  `json:"text"` // on one line
}

// Explain says of every block of a page whether it is part of the main content
// that Extract gives, and why. Its errors are those of Extract; what is no HTML
// page is unsupported.
func Explain(ctx context.Context, in Input) (*Explanation, error) {
	b, err := open(ctx, in)
	if err != nil {
		return nil, err
	}
	if b.kind != sift.KindHTML {
		return nil, sift.Fail(sift.CodeUnsupported, "only the main content of an HTML page is chosen; this is %s", b.mediaType)
	}
	root, _, err := parse(ctx, b.text)
	if err != nil {
		return nil, ended(err)
	}
	meta := collect(root)
	base, err := url.Parse(in.URL)
	if err != nil {
		return nil, fmt.Errorf("extract: %w", err)
	}
	body := normalize.Page(root, base).Body
	s := selectMain(body, meta.about(base))
	p := s.cut(meta.hints(base), in.Model)
	e := &Explanation{Title: meta.title, By: "model", Blocks: make([]ExplainedBlock, len(p.Blocks))}
	for i := range p.Blocks {
		e.Blocks[i] = ExplainedBlock{Words: p.Blocks[i].Words(), Path: p.Path(i), Text: strings.Join(strings.Fields(p.Blocks[i].Text()), " ")}
	}
	var main *html.Node
	if len(s.cells) > manyElements || byRules(p) {
		e.By = "rules"
		main = s.body(true)
	} else {
		c := p.Choose()
		e.Cut = float64(c.Cut)
		for i := range e.Blocks {
			e.Blocks[i].Score, e.Blocks[i].Why = float64(c.Score[i]), c.Why[i].String()
		}
		main = p.Carve(c.Keep)
		tidy(main)
		for i := range e.Blocks {
			if c.Keep[i] && !isWithin(p.Blocks[i].First, main) {
				e.Blocks[i].Why = "it is something to do, or leads elsewhere"
			}
		}
	}
	for i := range e.Blocks {
		e.Blocks[i].Kept = isWithin(p.Blocks[i].First, main)
	}
	return e, nil
}

// isWithin says whether a node still stands in a tree.
func isWithin(n, top *html.Node) bool {
	for ; n != nil; n = n.Parent {
		if n == top {
			return true
		}
	}
	return false
}

// kept counts the blocks that were kept.
func (e *Explanation) kept() (n int) {
	for i := range e.Blocks {
		if e.Blocks[i].Kept {
			n++
		}
	}
	return n
}

// summary says in one line how it was chosen.
func (e *Explanation) summary() string {
	if e.By == "rules" {
		return fmt.Sprintf("%d of %d blocks kept, by the rules for short pages", e.kept(), len(e.Blocks))
	}
	return fmt.Sprintf("%d of %d blocks kept, by the model; a block needs %.2f", e.kept(), len(e.Blocks), e.Cut)
}

// Text is the explanation for a terminal: a line for each block.
func (e *Explanation) Text() string {
	const longest = 60
	var b strings.Builder
	fmt.Fprintln(&b, e.summary())
	for i := range e.Blocks {
		k := &e.Blocks[i]
		sign, score := "-", "    "
		if k.Kept {
			sign = "+"
		}
		if e.By == "model" {
			score = fmt.Sprintf("%.2f", k.Score)
		}
		text := []rune(k.Text)
		if len(text) > longest {
			text = append(text[:longest-1], '…')
		}
		fmt.Fprintf(&b, "%s %s %4d words  %-*s  %s", sign, score, k.Words, longest, string(text), k.Path)
		if k.Why != "" {
			fmt.Fprintf(&b, "  (%s)", k.Why)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// HTML is the explanation as a page to look at: every block in its order, what
// was kept on green ground and what was dropped on red, with the rest in its
// tooltip. It holds no script, no picture and no link of the page's.
func (e *Explanation) HTML() string {
	var b strings.Builder
	fmt.Fprintf(&b, `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>%s</title>
<style>
body { font: 15px/1.5 sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em; background: #fff; color: #222 }
p { margin: 2px 0; padding: 2px 8px; border-left: 6px solid }
.kept { background: #e6f6e6; border-color: #3a9d3a }
.dropped { background: #fbeaea; border-color: #c66; color: #666 }
.ruled { border-left-style: double }
small { float: right; margin-left: 1em; color: #666; font-family: monospace }
</style>
</head>
<body>
<h1>%s</h1>
<div>%s. Green was kept, red was dropped; a double bar is a block whose score was overruled.</div>
`, html.EscapeString(e.Title), html.EscapeString(e.Title), html.EscapeString(e.summary()))
	for i := range e.Blocks {
		k := &e.Blocks[i]
		class := "dropped"
		if k.Kept {
			class = "kept"
		}
		tip := k.Path
		if k.Why != "" {
			class += " ruled"
			tip += ": " + k.Why
		}
		text := k.Text
		if text == "" {
			text = "(a picture)"
		}
		score := ""
		if e.By == "model" {
			score = fmt.Sprintf("<small>%.2f</small>", k.Score)
		}
		fmt.Fprintf(&b, "<p class=\"%s\" title=\"%s\">%s%s</p>\n", class, html.EscapeString(tip), score, html.EscapeString(text))
	}
	b.WriteString("</body>\n</html>\n")
	return b.String()
}
