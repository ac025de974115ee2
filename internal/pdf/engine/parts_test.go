package engine

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sift.build/sift/internal/pdf/layout"
	"sift.build/sift/internal/pdf/pdftest"
)

func TestRulesAreThinLinesAndTheSidesOfRectangles(t *testing.T) {
	for _, c := range []struct {
		name   string
		item   pdftest.Item
		hs, vs []layout.Rect
	}{
		{"a line", pdftest.Line(100, 692, 300, 692, 1), []layout.Rect{{X0: 100, Y0: 100, X1: 300, Y1: 100}}, nil},
		{"an upright line", pdftest.Line(100, 692, 100, 592, 1), nil, []layout.Rect{{X0: 100, Y0: 100, X1: 100, Y1: 200}}},
		{"a flat filled rectangle", pdftest.Filled(100, 692, 200, 1, 0), []layout.Rect{{X0: 100, Y0: 99, X1: 300, Y1: 100}}, nil},
		{"a box", pdftest.Box(100, 592, 200, 100, 1),
			[]layout.Rect{{X0: 100, Y0: 200, X1: 300, Y1: 200}, {X0: 100, Y0: 100, X1: 300, Y1: 100}},
			[]layout.Rect{{X0: 300, Y0: 100, X1: 300, Y1: 200}, {X0: 100, Y0: 100, X1: 100, Y1: 200}}},
		{"a shaded cell", pdftest.Filled(100, 592, 200, 100, 0.9),
			[]layout.Rect{{X0: 100, Y0: 200, X1: 300, Y1: 200}, {X0: 100, Y0: 100, X1: 300, Y1: 100}},
			[]layout.Rect{{X0: 300, Y0: 100, X1: 300, Y1: 200}, {X0: 100, Y0: 100, X1: 100, Y1: 200}}},
		{"a slanting line", pdftest.Line(100, 692, 300, 592, 1), nil, nil},
		{"a dot", pdftest.Filled(100, 692, 2, 2, 0), nil, nil},
		{"the paper", pdftest.Filled(0, 0, 612, 792, 0.95), nil, nil},
		{"a filled triangle", pdftest.Content("100 592 m 300 592 l 200 692 l f"), nil, nil},
		{"a clipping path", pdftest.Content("100 592 200 100 re W n"), nil, nil},
		{"a line under a transformation", pdftest.Content("q 2 0 0 2 0 0 cm 50 346 m 150 346 l S Q"), []layout.Rect{{X0: 100, Y0: 100, X1: 300, Y1: 100}}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := onlyPage(t, pdftest.New().Page(c.item).Bytes())
			sorted := func(list []layout.Rect) []layout.Rect {
				return slices.SortedFunc(slices.Values(list), func(a, b layout.Rect) int { return int(a.Y0-b.Y0)*1000 + int(a.X0-b.X0) })
			}
			if diff := cmp.Diff([][]layout.Rect{sorted(c.hs), sorted(c.vs)}, [][]layout.Rect{sorted(p.HRules), sorted(p.VRules)}, roughly()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestADrawingOfManyLinesIsBounded(t *testing.T) {
	var b strings.Builder
	for i := range maxRules + 500 {
		fmt.Fprintf(&b, "100 %d m 300 %d l S\n", i%700, i%700)
	}
	p := onlyPage(t, pdftest.New().Page(pdftest.Content(b.String())).Bytes())
	if len(p.HRules) != maxRules {
		t.Errorf("%d rules", len(p.HRules))
	}
}

func TestTheShareOfThePageThatIsImage(t *testing.T) {
	white := image.NewGray(image.Rect(0, 0, 10, 10))
	for _, c := range []struct {
		name  string
		items []pdftest.Item
		want  float64
	}{
		{"none", nil, 0},
		{"a quarter", []pdftest.Item{pdftest.Picture(0, 0, 306, 396, white)}, 0.25},
		{"half of it beside the page", []pdftest.Item{pdftest.Picture(-306, 0, 612, 396, white)}, 0.25},
		{"a scan", []pdftest.Item{pdftest.Picture(0, 0, 612, 792, white)}, 1},
		{"in strips", []pdftest.Item{pdftest.Picture(0, 0, 612, 396, white), pdftest.Picture(0, 396, 612, 396, white)}, 1},
		{"more than all", []pdftest.Item{pdftest.Picture(0, 0, 612, 792, white), pdftest.Picture(0, 0, 612, 792, white)}, 1},
	} {
		if got := onlyPage(t, pdftest.New().Page(c.items...).Bytes()).ImageArea; got < c.want-0.01 || got > c.want+0.01 {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// outline writes a tree of tags.
func outline(tag *layout.Tag) string {
	if tag == nil {
		return "none"
	}
	s := tag.Type
	if len(tag.MCIDs) > 0 {
		s += fmt.Sprint(tag.MCIDs)
	}
	if tag.Alt != "" {
		s += fmt.Sprintf("%q", tag.Alt)
	}
	if tag.ColSpan > 1 || tag.RowSpan > 1 {
		s += fmt.Sprintf("%dx%d", tag.ColSpan, tag.RowSpan)
	}
	var kids []string
	for _, k := range tag.Kids {
		kids = append(kids, outline(k))
	}
	if len(kids) > 0 {
		s += "(" + strings.Join(kids, " ") + ")"
	}
	return s
}

func TestTheTaggedStructureOfAPage(t *testing.T) {
	p := onlyPage(t, pdftest.Tagged())
	if got, want := outline(p.Tags), `Document(H1[0] P[1] H2[2] L(LI(Lbl[3] LBody[4]) LI(Lbl[5] LBody[6])) H2[7] Table(TR(TH[8] TH[9] TH[10]) TR(TD[11] TD[12] TD[13]) TR(TD[14] TD[15] TD[16]) TR(TD[17] TD[18] TD[19])) Figure[20]"A drawing of a cloud")`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for text, id := range map[string]int{"Running": -1, "Weather": 0, "Alpha": 11} {
		if w := word(t, p, text); w.MCID != id {
			t.Errorf("%q has the id %d, want %d", text, w.MCID, id)
		}
	}

	cell := pdftest.Tag{Type: "TD", ColSpan: 2, RowSpan: 3}
	p = onlyPage(t, pdftest.New().Page(pdftest.Tag{Type: "Table"}.Group(pdftest.Tag{Type: "TR"}.Group(cell.Mark(pdftest.Text(72, 700, 12, "wide"))))).Bytes())
	if got := outline(p.Tags); got != "Document(Table(TR(TD[0]2x3)))" {
		t.Errorf("got %s", got)
	}
	if p := onlyPage(t, pdftest.Pages("untagged")); p.Tags != nil || p.Words[0].MCID != -1 {
		t.Errorf("an untagged page has tags: %s", outline(p.Tags))
	}
}

func TestLinksAreOfTheWordsUnderThem(t *testing.T) {
	p := onlyPage(t, pdftest.Links())
	for text, want := range map[string]string{"See": "", "handbook": "https://example.com/handbook", "for": "", "https://example.com/start": "https://example.com/start"} {
		if got := word(t, p, text).URL; got != want {
			t.Errorf("%q leads to %q, want %q", text, got, want)
		}
	}
}

func TestOnlyAddressesThatAReaderCanFollowAreLinks(t *testing.T) {
	for in, want := range map[string]string{
		"https://example.com/a?b#c": "https://example.com/a?b#c",
		" HTTP://example.com ":      "HTTP://example.com",
		"mailto:a@example.com":      "mailto:a@example.com",
		"javascript:alert(1)":       "",
		"file:///etc/passwd":        "",
		"https://":                  "",
		"www.example.com":           "",
		"/relative":                 "",
		"https://example.com/\x00":  "",
		"https://example.com/a b":   "",
		"https://example.com/\xff":  "",
		"https://example.com/\n<b>": "",
		"https://example.com/größe": "https://example.com/größe",
		"":                          "",
	} {
		if got := linkTarget(in); got != want {
			t.Errorf("%q gives %q, want %q", in, got, want)
		}
	}
}

func TestFormsShowWhatWasFilledIn(t *testing.T) {
	p := onlyPage(t, pdftest.Form())
	for _, text := range []string{"Applicant:", "Rosalind", "Franklin", "call", "first", "blue"} {
		w := word(t, p, text)
		if w.Hidden != "" || w.Box.X1 <= w.Box.X0 {
			t.Errorf("%+v", w)
		}
	}
	// The value without an appearance stands in its field, beside its label.
	label, value := word(t, p, "Note:"), word(t, p, "call")
	if d := label.Baseline - value.Baseline; d < -6 || d > 6 || value.Box.X0 < label.Box.X1 {
		t.Errorf("the value at %v, its label at %v", value.Box, label.Box)
	}
	if got := strings.Count(plain(p), "Rosalind"); got != 1 {
		t.Errorf("the value is there %d times:\n%s", got, plain(p))
	}
}

func TestSecretsAndHiddenFieldsStayIn(t *testing.T) {
	widget := func(more pdftest.Dict) pdftest.Item {
		d := pdftest.Dict{"Subtype": pdftest.Name("Widget"), "FT": pdftest.Name("Tx"), "T": pdftest.String("f"), "V": pdftest.String("value")}
		maps.Copy(d, more)
		return pdftest.Annotation(72, 600, 200, 20, d)
	}
	for name, c := range map[string]struct {
		more pdftest.Dict
		want string
	}{
		"plain":    {nil, "label\nvalue"},
		"password": {pdftest.Dict{"Ff": 1 << 13}, "label"},
		"hidden":   {pdftest.Dict{"F": 2}, "label"},
		"button":   {pdftest.Dict{"FT": pdftest.Name("Btn")}, "label"},
	} {
		if got := plain(onlyPage(t, pdftest.New().Page(pdftest.Text(72, 700, 12, "label"), widget(c.more)).Bytes())); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestAFlattenedPageMustKeepItsWords(t *testing.T) {
	list := func(s string) []layout.Word {
		var words []layout.Word
		for w := range strings.FieldsSeq(s) {
			words = append(words, layout.Word{Text: w})
		}
		return words
	}
	for _, c := range []struct {
		before, after string
		want          bool
	}{
		{"", "", true},
		{"", "value", true},
		{"a b c", "a b c value", true},
		{"a b c", "value c b a", true},
		{"a a", "a value", false},
		{"Name Ort", "%&$ §§!", false},
		{strings.Repeat("w ", 40), strings.Repeat("w ", 39) + "wvalue", true}, // one that has become part of another
		{strings.Repeat("w ", 40), strings.Repeat("w ", 30), false},
	} {
		if got := keeps(list(c.before), list(c.after)); got != c.want {
			t.Errorf("%q, then %q: %v", c.before, c.after, got)
		}
	}
}

func TestAPageIsPainted(t *testing.T) {
	dark := func(img *image.Gray, x0, y0, x1, y1 int) bool {
		for y := y0; y < y1; y++ {
			for x := x0; x < x1; x++ {
				if img.GrayAt(x, y).Y < 64 {
					return true
				}
			}
		}
		return false
	}
	upright := pdftest.New().Page(pdftest.Filled(0, 692, 100, 100, 0)).Bytes()
	img, err := open(t, upright, "").Render(1, 144, 10_000_000)
	if err != nil {
		t.Fatal(err)
	}
	if got := img.Bounds().Max; got != image.Pt(1224, 1584) {
		t.Errorf("the image is %v", got)
	}
	if !dark(img, 10, 10, 190, 190) || dark(img, 210, 0, 1224, 1584) || dark(img, 0, 210, 1224, 1584) {
		t.Error("the square is not at the top left")
	}

	turned := pdftest.New().Page(pdftest.Rotate(90), pdftest.Filled(0, 0, 100, 100, 0)).Bytes()
	img, err = open(t, turned, "").Render(1, 72, 10_000_000)
	if err != nil {
		t.Fatal(err)
	}
	if got := img.Bounds().Max; got != image.Pt(792, 612) || !dark(img, 10, 10, 90, 90) || dark(img, 110, 110, 792, 612) {
		t.Errorf("the turned page is %v, or its square is elsewhere", got)
	}
}

func TestAPaintedPageIsBounded(t *testing.T) {
	d := open(t, pdftest.New().Page(pdftest.Text(72, 700, 12, "x")).Page(pdftest.PaperSize(14_000, 3)).Bytes(), "")
	for n := 1; n <= 2; n++ {
		img, err := d.Render(n, 1200, 250_000)
		if err != nil {
			t.Fatal(err)
		}
		if b := img.Bounds().Max; b.X*b.Y > 250_000 || b.X*b.Y < 1_000 || b.X > maxSide {
			t.Errorf("page %d is %v", n, b)
		}
	}
	for _, c := range []struct {
		dpi    float64
		pixels int
	}{{0, 100}, {-1, 100}, {72, 0}} {
		if _, err := d.Render(1, c.dpi, c.pixels); !errors.Is(err, ErrPage) {
			t.Errorf("at %v dpi with %d pixels: %v", c.dpi, c.pixels, err)
		}
	}
}

// What hostile files do to a child with limits is tested in package pdf; here
// are those against which this package has bounds of its own.
func TestHostileFilesEndSoon(t *testing.T) {
	for _, name := range []string{"outline-next-cycle", "outline-child-cycle", "structure-cycle", "structure-wide", "fields-50k", "kids-loop"} {
		t.Run(name, func(t *testing.T) {
			data := hostile(t, name)
			begin := time.Now()
			e := start(t, Config{})
			d, err := e.Open(bytes.NewReader(data), int64(len(data)), "")
			if err != nil {
				t.Fatal(err)
			}
			i := d.Info()
			for n := 1; n <= i.Pages; n++ {
				if _, err := d.Page(n); err != nil && !errors.Is(err, ErrPage) && !errors.Is(err, ErrCut) && !errors.Is(err, ErrDead) {
					t.Error(err)
				}
			}
			if strings.HasSuffix(name, "-cycle") && strings.HasPrefix(name, "outline") && !i.BookmarksCut {
				t.Errorf("%d bookmarks, and it does not say that there are more", len(i.Bookmarks))
			}
			if took := time.Since(begin); took > 15*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}
