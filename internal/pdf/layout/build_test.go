package layout

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// Fonts of every page that a builder makes.
const (
	roman = iota
	strong
	slanted
	typed
)

// builder sets words at places: half a size wide a letter, a quarter a space.
type builder struct {
	page *Page
	said bool
}

func newPage(number int) *builder {
	return &builder{page: &Page{
		Number: number, Width: 612, Height: 792,
		Fonts: []Font{{Name: "Times", Serif: true}, {Name: "Times-Bold", Bold: true}, {Name: "Times-Italic", Italic: true}, {Name: "Courier", Mono: true}},
	}}
}

// with is what a line of words has beside its text.
type with struct {
	font   int
	hidden string
	angle  float64
	mcid   int // plus one
	url    string
	glued  bool // no space or line break before the first word
	raise  float64
}

// line sets the words of text from x on at the baseline y, and says where it
// ends. A word that ends in ¬ has its hyphen reported by PDFium.
func (b *builder) line(x, y, size float64, text string, opts ...with) float64 {
	var o with
	if len(opts) > 0 {
		o = opts[0]
	}
	wide := 0.5
	if o.font == typed {
		wide = 0.6
	}
	last := len(b.page.Words) - 1
	newline := last >= 0 && (b.page.Words[last].Baseline != y || b.page.Words[last].Box.X0 > x) && !o.glued
	for i, t := range strings.Split(text, " ") {
		if t == "" {
			x += wide * size
			continue
		}
		w := Word{Font: o.font, Size: size, Baseline: y - o.raise, Hidden: o.hidden, Angle: o.angle, MCID: o.mcid - 1, URL: o.url}
		w.Text = strings.TrimSuffix(t, "¬")
		w.Hyphen = w.Text != t
		w.Break = i == 0 && newline
		w.Space = i > 0 || !newline && b.said && !o.glued
		n := float64(utf8.RuneCountInString(w.Text)) * wide * size
		w.Box = Rect{x, y - o.raise - 0.75*size, x + n, y - o.raise + 0.2*size}
		if o.angle == 90 {
			// Upwards: x is the baseline, y where the text begins.
			w.Box = Rect{x - 0.75*size, y - n, x + 0.2*size, y}
			y -= n + 0.25*size
		}
		b.page.Words = append(b.page.Words, w)
		b.said = true
		if o.angle != 90 {
			x += n
			if o.font == typed {
				x += wide * size
			} else {
				x += 0.25 * size
			}
		}
	}
	if o.font == typed {
		return x - wide*size
	}
	return x - 0.25*size
}

// lines sets text line by line, one newline in it each lead further down, and
// says where the next line would stand.
func (b *builder) lines(x, y, size, lead float64, text string, opts ...with) float64 {
	for l := range strings.SplitSeq(text, "\n") {
		in := float64(len(l) - len(strings.TrimLeft(l, ">")))
		b.line(x+in*15, y, size, strings.TrimLeft(l, ">"), opts...)
		y += lead
	}
	return y
}

// justified sets lines that all end at the same right edge, save the last.
func (b *builder) justified(x, y, size, lead float64, text string) float64 {
	lines := strings.Split(text, "\n")
	wide := 0.0
	for _, l := range lines {
		wide = max(wide, 0.5*size*float64(utf8.RuneCountInString(l)))
	}
	for i, l := range lines {
		from := len(b.page.Words)
		end := b.line(x, y, size, l)
		words := b.page.Words[from:]
		if i < len(lines)-1 && len(words) > 1 {
			more := (wide - (end - x)) / float64(len(words)-1)
			for k := range words {
				words[k].Box.X0 += more * float64(k)
				words[k].Box.X1 += more * float64(k)
			}
		}
		y += lead
	}
	return y
}

func (b *builder) hrule(x0, x1, y float64) {
	b.page.HRules = append(b.page.HRules, Rect{x0, y, x1, y + 0.5})
}

func (b *builder) vrule(x, y0, y1 float64) {
	b.page.VRules = append(b.page.VRules, Rect{x, y0, x + 0.5, y1})
}

// read reads pages as one document.
func read(bookmarks []Bookmark, pages ...*builder) []*Result {
	r := NewReader(bookmarks)
	results := make([]*Result, 0, len(pages))
	for _, p := range pages {
		results = append(results, r.Page(p.page))
	}
	Finish(results)
	return results
}

// show writes results in a form that is easy to write down in a test.
func show(results []*Result) string {
	var b strings.Builder
	for i, r := range results {
		if i > 0 {
			fmt.Fprintf(&b, "--- %d\n", r.Number)
		}
		for _, k := range r.Blocks {
			switch k.Kind {
			case Heading:
				b.WriteString(strings.Repeat("#", k.Level) + " " + spansOf(k.Spans))
			case Item:
				b.WriteString(strings.Repeat("  ", k.Level-1) + "* " + k.Marker + " " + spansOf(k.Spans))
			case Code:
				b.WriteString("```\n" + k.Text + "\n```")
			case Table:
				for n, row := range k.Rows {
					if n > 0 {
						b.WriteByte('\n')
					}
					b.WriteByte('|')
					for _, c := range row {
						if c.Header {
							b.WriteByte('!')
						}
						if c.ColSpan > 1 || c.RowSpan > 1 {
							fmt.Fprintf(&b, "(%dx%d)", max(c.ColSpan, 1), max(c.RowSpan, 1))
						}
						b.WriteString(spansOf(c.Spans) + "|")
					}
				}
			default:
				b.WriteString("P " + spansOf(k.Spans))
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func spansOf(spans []Span) string {
	var b strings.Builder
	for _, s := range spans {
		mark := ""
		for _, m := range []struct {
			on   bool
			sign string
		}{{s.Bold, "**"}, {s.Italic, "_"}, {s.Code, "`"}, {s.Sup, "^"}, {s.Sub, "~"}} {
			if m.on {
				mark += m.sign
			}
		}
		text := mark + strings.ReplaceAll(s.Text, "\n", "⏎") + mark
		if s.URL != "" {
			text = "[" + text + "](" + s.URL + ")"
		}
		b.WriteString(text)
	}
	return b.String()
}

func wantShown(t *testing.T, results []*Result, want string) {
	t.Helper()
	want = strings.TrimLeft(want, "\n")
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(show(results), "\n")); diff != "" {
		t.Errorf("blocks differ (-want +got):\n%s", diff)
	}
}

// filler is a paragraph that makes 10 point the size of the text.
const filler = "This is the text of the document, which has to be long\nenough so that nothing else can be taken for its body, and\nit goes on for four lines of about the same length so that\nit looks like a paragraph of prose and like nothing else."

const fillerText = "P This is the text of the document, which has to be long enough so that nothing else can be taken for its body, and it goes on for four lines of about the same length so that it looks like a paragraph of prose and like nothing else.\n"
