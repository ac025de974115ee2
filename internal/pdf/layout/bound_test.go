package layout

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// hostile makes pages of nothing but odd numbers out of data.
func hostile(data []byte) *Page {
	next := func() byte {
		if len(data) == 0 {
			return 0
		}
		c := data[0]
		data = data[1:]
		return c
	}
	odd := []float64{0, 1, -1, 12, 100, 300, 700, 1e-9, 1e9, -1e9, 1e300, math.NaN(), math.Inf(1), math.Inf(-1)}
	number := func() float64 {
		c := next()
		if c < 100 {
			return odd[int(c)%len(odd)]
		}
		return float64(c)*3 + float64(next())/100
	}
	rect := func() Rect { return Rect{number(), number(), number(), number()} }
	texts := []string{"", "word", "Word.", "1.", "•", "-", "....", "…", ".", "42", "com", "(a)", "[1]", "שלום", "你好", "ﬁ", "\u00ad", "\x00", "\xff", "https://a.b/c", "A", "̀", "x y", "IV", strings.Repeat("long", 50), "{}", "…5"}
	p := &Page{Number: int(next()), Width: number(), Height: number(), ImageArea: number()}
	p.Fonts = []Font{{}, {Bold: true}, {Mono: true}, {Name: "CMTI10", Italic: true}}
	x, y := 60.0, 60.0
	hidden := []string{"", "", "", "", HiddenInvisible, HiddenWhite, "odd"}
	for len(data) > 0 && len(p.Words) < 500 {
		flags := next()
		switch flags % 16 {
		case 0:
			p.HRules = append(p.HRules, rect())
		case 1:
			p.VRules = append(p.VRules, rect())
		default:
			w := Word{
				Text: texts[int(next())%len(texts)], Box: rect(), Baseline: number(), Size: number(), Font: int(next()) - 2,
				Space: flags&16 != 0, Break: flags&32 != 0, Hyphen: flags&64 != 0, MCID: int(next()) - 5, Hidden: hidden[int(next())%len(hidden)],
			}
			switch {
			case flags&128 != 0:
				w.Angle = number()
			case flags&64 != 0:
				w.Box.X1, w.Box.Y1 = w.Box.X0+20, w.Box.Y0+10
				w.Baseline, w.Size = w.Box.Y1-2, 10
			default:
				// On a line of a page that goes down, or now and then up.
				if step := next(); step < 60 {
					x, y = 60+float64(step%8)*60, y+12
				} else if step > 250 {
					x, y = 60, y-100
				} else {
					x += 22 + float64(step%16)
				}
				w.Size, w.Baseline, w.Box = 10, y, Rect{x, y - 8, x + 20, y + 2}
			}
			p.Words = append(p.Words, w)
		}
	}
	if next()%3 == 0 {
		p.Tags = &Tag{Type: "Table"}
		at := p.Tags
		for i := range 40 {
			kid := &Tag{Type: []string{"TR", "TD", "TH", "L", "LI", "Lbl", "LBody", "H1", "P", "Table", "Span", "Artifact", ""}[int(next())%13], MCIDs: []int{i, i * 3}, ColSpan: int(next()) - 10, RowSpan: int(next()) * 1000}
			at.Kids = append(at.Kids, kid, nil)
			if next()%2 == 0 {
				at = kid
			}
		}
	}
	return p
}

func FuzzNoPageIsTooOdd(f *testing.F) {
	f.Add([]byte("a page"))
	src := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		b := make([]byte, 2000)
		for i := range b {
			b[i] = byte(src.Uint32())
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r := NewReader([]Bookmark{{Level: -3, Title: "Word.", Page: 1, Y: math.NaN()}, {Level: 900, Title: "word", Page: 0}})
		p := hostile(data)
		results := []*Result{r.Page(p), r.Page(p), r.Page(p), r.Page(p)}
		for i, res := range results {
			res.Number = i + 1
		}
		Finish(results)
		for _, res := range results {
			for _, k := range res.Blocks {
				if k.Kind == Heading && (k.Level < 1 || k.Level > 6) {
					t.Errorf("a heading of level %d", k.Level)
				}
				if k.Kind == Item && k.Level < 1 {
					t.Errorf("an item of depth %d", k.Level)
				}
				for _, v := range []float64{k.Clue.Box.X0, k.Clue.Box.Y0, k.Clue.Box.X1, k.Clue.Box.Y1, k.Clue.Size} {
					if math.IsNaN(v) || math.IsInf(v, 0) {
						t.Errorf("%v cannot be written as JSON", v)
					}
				}
			}
		}
	})
}

var token = regexp.MustCompile(`w[0-9]+x`)

// TestEveryVisibleWordComesOutOnce sets words at random, most of them on lines
// as in real pages, and looks for each in the result.
func TestEveryVisibleWordComesOutOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := newPage(1)
		n := 0
		sent := map[string]bool{}
		kinds := rapid.SliceOfN(rapid.IntRange(0, 9), 1, 12).Draw(t, "parts")
		y := 60.0
		say := func() string {
			n++
			w := fmt.Sprintf("w%dx", n)
			sent[w] = true
			return w
		}
		words := func(count int) string {
			out := make([]string, count)
			for i := range out {
				out[i] = say()
			}
			return strings.Join(out, " ")
		}
		size := rapid.SampledFrom([]float64{8, 10, 12, 18})
		font := rapid.IntRange(roman, typed)
		for _, kind := range kinds {
			s := size.Draw(t, "size")
			lead := s * rapid.Float64Range(1, 2.5).Draw(t, "lead")
			look := with{font: font.Draw(t, "font")}
			switch kind {
			case 0: // anywhere
				b.line(rapid.Float64Range(0, 600).Draw(t, "x"), rapid.Float64Range(0, 790).Draw(t, "y"), s, words(2), look)
			case 1: // two columns, interleaved
				for range rapid.IntRange(1, 6).Draw(t, "rows") {
					b.line(60, y, s, words(4), look)
					b.line(330, y, s, words(4), look)
					y += lead
				}
			case 2: // cells
				cols := rapid.IntRange(2, 5).Draw(t, "cols")
				for range rapid.IntRange(1, 6).Draw(t, "rows") {
					for c := range cols {
						if rapid.IntRange(0, 5).Draw(t, "empty") > 0 {
							b.line(60+100*float64(c), y, s, words(1), look)
						}
					}
					y += lead
				}
			case 3: // a ruled table
				b.grid([]float64{60, 200, 340}, []float64{y, y + lead, y + 2*lead})
				for r := range 2 {
					for c := range 2 {
						b.line(64+140*float64(c), y+lead*(float64(r)+0.7), s, words(1), look)
					}
				}
				y += 2.5 * lead
			case 4: // a list
				for i := range rapid.IntRange(1, 4).Draw(t, "items") {
					b.line(60, y, s, fmt.Sprintf("%d.", i+1))
					b.line(80, y, s, words(3), look)
					y += lead
				}
			case 5:
				look.angle = 90
				b.line(40, 600, s, words(3), look)
			default: // prose
				for range rapid.IntRange(1, 5).Draw(t, "lines") {
					b.line(60, y, s, words(rapid.IntRange(1, 8).Draw(t, "words")), look)
					y += lead
				}
			}
			y += rapid.Float64Range(0, 30).Draw(t, "gap")
		}
		if rapid.IntRange(0, 2).Draw(t, "shuffle") == 0 {
			// A producer that paints its lines in any order.
			var lines [][]Word
			for _, w := range b.page.Words {
				if w.Break || len(lines) == 0 {
					lines = append(lines, nil)
				}
				lines[len(lines)-1] = append(lines[len(lines)-1], w)
			}
			b.page.Words = nil
			for _, l := range rapid.Permutation(lines).Draw(t, "order") {
				b.page.Words = append(b.page.Words, l...)
			}
		}
		seen := map[string]int{}
		for _, r := range read(nil, b) {
			for _, k := range r.Blocks {
				text := k.text() + " " + k.Text
				for _, row := range k.Rows {
					for _, c := range row {
						for _, s := range c.Spans {
							text += " " + s.Text
						}
					}
				}
				for _, w := range token.FindAllString(text, -1) {
					seen[w]++
				}
			}
		}
		for w := range sent {
			if seen[w] != 1 {
				t.Fatalf("%s came out %d times:\n%s", w, seen[w], show(read(nil, b)))
			}
		}
	})
}

// quick fails if reading the page takes longer than any page may.
func quick(t *testing.T, p *Page) *Result {
	t.Helper()
	start := time.Now()
	res := NewReader(nil).Page(p)
	Finish([]*Result{res})
	// A hundred times what it takes on a machine that is not busy; what is
	// quadratic takes minutes.
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("%d words took %v", len(p.Words), took)
	}
	return res
}

func TestManyWordsInOddPlacesAreReadInTime(t *testing.T) {
	const n = MaxWords / 4
	src := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct {
		name string
		at   func(i int) (x, y, size float64)
	}{
		{"all at one place", func(int) (x, y, size float64) { return 100, 100, 10 }},
		{"anywhere", func(int) (x, y, size float64) { return src.Float64() * 600, src.Float64() * 800, 10 }},
		{"one line", func(i int) (x, y, size float64) { return float64(i) * 22, 100, 10 }},
		{"one line with gaps", func(i int) (x, y, size float64) { return float64(i) * 60, 100, 10 }},
		{"one column", func(i int) (x, y, size float64) { return 100, float64(i) * 12, 10 }},
		{"two columns", func(i int) (x, y, size float64) { return 100 + 200*float64(i%2), float64(i/2) * 12, 10 }},
		{"many columns", func(i int) (x, y, size float64) { return 60 * float64(i%300), float64(i/300) * 12, 10 }},
		{"upwards", func(i int) (x, y, size float64) { return 100, 1e6 - float64(i)*9, 10 }},
		{"a staircase", func(i int) (x, y, size float64) { return float64(i) * 40, float64(i) * 12, 10 }},
		{"sizes of all kinds", func(i int) (x, y, size float64) { return float64(i%50) * 30, float64(i/50) * 12, 1 + float64(i%997) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &Page{Width: 612, Height: 792}
			for i := range n {
				x, y, size := c.at(i)
				p.Words = append(p.Words, Word{Text: "word", Size: size, Baseline: y, Space: true, MCID: -1, Box: Rect{x, y - 0.75*size, x + 2*size, y + 0.2*size}})
			}
			quick(t, p)
		})
	}
}

func TestManyRulesAreReadInTime(t *testing.T) {
	b := newPage(1)
	for i := range maxRules {
		b.hrule(0, 600, float64(i)*5)
		b.vrule(float64(i)*5, 0, 8000)
	}
	for i := range 2000 {
		b.line(float64(i%100)*30, float64(i/100)*12, 10, "word")
	}
	quick(t, b.page)
}

func TestWordsBeyondTheLimitAreDroppedAndCounted(t *testing.T) {
	p := &Page{Width: 612, Height: 792}
	for i := range MaxWords + 7 {
		x, y := float64(i%10)*50, float64(i/10)*12
		p.Words = append(p.Words, Word{Text: "word", Size: 10, Baseline: y, Space: true, MCID: -1, Box: Rect{x, y - 8, x + 20, y + 2}})
	}
	if r := quick(t, p); r.Dropped != 7 || r.Chars != 4*MaxWords {
		t.Errorf("%d words dropped, %d characters read", r.Dropped, r.Chars)
	}
}

func TestDeepTagsEndSomewhere(t *testing.T) {
	b := newPage(1)
	b.line(72, 100, 10, "Some text.", with{mcid: 1})
	b.page.Tags = &Tag{Type: "Document"}
	at := b.page.Tags
	for range 100_000 {
		kid := &Tag{Type: "Div"}
		at.Kids = []*Tag{kid}
		at = kid
	}
	at.MCIDs = []int{0}
	wantShown(t, read(nil, b), "P Some text.\n")
}

// prosePages makes a book: pages of 500 words each.
func prosePages(pages int) []*Page {
	src := rand.New(rand.NewPCG(5, 6))
	out := make([]*Page, 0, pages)
	for n := range pages {
		b := newPage(n + 1)
		b.line(72, 40, 9, fmt.Sprintf("The Book %d", n+1))
		y := 80.0
		for line := range 42 {
			if line%10 == 9 {
				y += 12
				if line == 19 {
					b.line(72, y, 14, "A Heading of the Book", with{font: strong})
					y += 20
				}
			}
			words := make([]string, 12)
			for i := range words {
				words[i] = "wordsinabook"[:2+src.IntN(9)]
			}
			if line%3 == 0 {
				words[11] += "¬"
			}
			b.line(72, y, 10, strings.Join(words, " "))
			y += 12
		}
		out = append(out, b.page)
	}
	return out
}

func BenchmarkABookOf400Pages(b *testing.B) {
	pages := prosePages(400)
	b.ReportAllocs()
	for b.Loop() {
		r := NewReader(nil)
		results := make([]*Result, 0, len(pages))
		for _, p := range pages {
			results = append(results, r.Page(p))
		}
		Finish(results)
	}
}
