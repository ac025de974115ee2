package engine

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sift.build/sift/internal/pdf/layout"
	"sift.build/sift/internal/pdf/pdftest"
)

func TestTextComesOutAsItReads(t *testing.T) {
	left, right := pdftest.Columns()
	for _, c := range []struct {
		name string
		file []byte
		want string
	}{
		{"plain", pdftest.Pages("First line.\nSecond line."), "First line.\nSecond line."},
		{"beyond U+FFFF", pdftest.NonBMP(), pdftest.NonBMPText},
		{"Hebrew", pdftest.Hebrew(), pdftest.HebrewText},
		{"not embedded", pdftest.CJK(), "日本語の文章\nあいうえお\n简体中文\n繁體中文\n한국어"},
		{"ligatures by name", pdftest.Ligatures(), "An official notifies the fleet of a unified signal.\nIt reflects the final offer."},
		{"ligatures by map", pdftest.LigaturesMapped(), "the office file has a flat define"},
		{"spaces that are moves", pdftest.KerningSpaces(), "Words set apart by kerning\nWAVE Today"},
		{"columns", pdftest.TwoColumnsInOrder(), strings.Join(append(left, right...), "\n")},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := plain(onlyPage(t, c.file)); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestAHyphenAtALinesEndIsAMarkOfItsWord(t *testing.T) {
	p := onlyPage(t, pdftest.Pages("The con-\ntract is self-made, and its well-\nknown words -\nstand."))
	if got, want := plain(p), "The con~\ntract is self-made, and its well~\nknown words -\nstand."; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if b := word(t, p, "con").Box; b.X1-b.X0 < 20 {
		t.Errorf("the hyphen is not in the box of its word: %+v", b)
	}
}

func TestControlCharactersAreNoText(t *testing.T) {
	font := pdftest.Font{Name: "Odd", Wide: true, Unicode: map[int]string{1: "a", 2: "\x02", 3: "\f", 4: "\x1f", 5: "b", 6: "\ufeff", 7: "\u009f"}}
	p := onlyPage(t, pdftest.New().Page(pdftest.In(font, pdftest.Codes(72, 720, 12, "\x00\x01\x00\x02\x00\x03\x00\x04\x00\x06\x00\x07\x00\x05"))).Bytes())
	if got := strings.Join(strings.Fields(plain(p)), ""); got != "ab" {
		t.Errorf("got %q", plain(p))
	}
}

// roughly compares boxes by half a point.
func roughly() cmp.Option {
	return cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 0.5 })
}

func TestWordsStandWhereTheyAreSeen(t *testing.T) {
	box := pdftest.Set("CropBox", pdftest.Array{50, 100, 400, 700})
	for _, c := range []struct {
		name  string
		items []pdftest.Item
		w, h  float64
		base  float64
		box   layout.Rect
		angle float64
	}{
		{"upright", []pdftest.Item{pdftest.Text(72, 692, 10, "Mark")}, 612, 792, 100, layout.Rect{X0: 72.7, Y0: 90.5, X1: 93.8, Y1: 102.2}, 0},
		{"in a crop box", []pdftest.Item{box, pdftest.Text(72, 600, 10, "Mark")}, 350, 600, 100, layout.Rect{X0: 22.7, Y0: 90.5, X1: 43.8, Y1: 102.2}, 0},
		{"turned right", []pdftest.Item{pdftest.Rotate(90), pdftest.Turned(100, 72, 10, 90, "Mark")}, 792, 612, 100, layout.Rect{X0: 72.7, Y0: 90.5, X1: 93.8, Y1: 102.2}, 0},
		{"upside down", []pdftest.Item{pdftest.Rotate(180), pdftest.Turned(540, 100, 10, 180, "Mark")}, 612, 792, 100, layout.Rect{X0: 72.7, Y0: 90.5, X1: 93.8, Y1: 102.2}, 0},
		{"turned left", []pdftest.Item{pdftest.Rotate(270), pdftest.Turned(512, 720, 10, 270, "Mark")}, 792, 612, 100, layout.Rect{X0: 72.7, Y0: 90.5, X1: 93.8, Y1: 102.2}, 0},
		{"written upwards", []pdftest.Item{pdftest.Turned(100, 692, 10, 90, "Mark")}, 612, 792, 100, layout.Rect{X0: 92.8, Y0: 78.2, X1: 100.1, Y1: 99.3}, 90},
		{"on a page turned under it", []pdftest.Item{pdftest.Rotate(90), pdftest.Text(72, 100, 10, "Mark")}, 792, 612, 72, layout.Rect{X0: 99.9, Y0: 72.7, X1: 107.2, Y1: 93.8}, -90},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := onlyPage(t, pdftest.New().Page(c.items...).Bytes())
			if p.Width != c.w || p.Height != c.h {
				t.Errorf("the page is %v by %v", p.Width, p.Height)
			}
			w := word(t, p, "Mark")
			want := layout.Word{Text: "Mark", Box: c.box, Baseline: c.base, Size: 10, Angle: c.angle, MCID: -1}
			if diff := cmp.Diff(want, w, roughly()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAWordIsOfOneLook(t *testing.T) {
	bold := pdftest.Font{Name: pdftest.HelveticaBold}
	p := onlyPage(t, pdftest.New().Page(
		pdftest.Text(72, 720, 12, "re"), pdftest.In(bold, pdftest.Text(83, 720, 12, "act")),
		pdftest.Text(72, 690, 12, "E=mc"), pdftest.Raised(5, pdftest.Text(102.5, 690, 7, "2")),
		pdftest.Text(72, 660, 12, "spl"), pdftest.Text(87.4, 660, 12, "it"),
	).Bytes())
	type look struct {
		Text        string
		Bold, Space bool
		Size        float64
		Above       bool
	}
	var got []look
	for _, w := range p.Words {
		got = append(got, look{w.Text, p.Fonts[w.Font].Bold, w.Space || w.Break, w.Size, w.Baseline > 60 && w.Baseline < 100 && w.Size < 10})
	}
	want := []look{
		{"re", false, false, 12, false}, {"act", true, false, 12, false},
		{"E=mc", false, true, 12, false}, {"2", false, false, 7, true},
		{"split", false, true, 12, false}, // two objects, one word
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestFontsAreKnownByNameAndFlags(t *testing.T) {
	for name, want := range map[string]layout.Font{
		"Helvetica":              {},
		"Helvetica-Bold":         {Bold: true},
		"Times-BoldItalic":       {Bold: true, Italic: true, Serif: true},
		"TimesNewRomanPSMT":      {Serif: true},
		"Arial,Bold":             {Bold: true},
		"Courier-Oblique":        {Mono: true, Italic: true},
		"CMBX12":                 {Bold: true, Serif: true},
		"CMR10":                  {Serif: true},
		"CMTT10":                 {Mono: true},
		"CMTI10":                 {Italic: true, Serif: true},
		"NimbusRomNo9L-Medi":     {Bold: true, Serif: true},
		"Medieval":               {},
		"Blackadder-Regular":     {},
		"Roboto-Medium":          {},
		"Roboto-Black":           {Bold: true},
		"OpenSans-SemiBold":      {Bold: true},
		"NotoSerif":              {Serif: true},
		"NotoSansSerif":          {},
		"DejaVuSansMono-Oblique": {Mono: true, Italic: true},
	} {
		if diff := cmp.Diff(want, styleOf(name)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	p := onlyPage(t, pdftest.New().Page(pdftest.In(pdftest.Font{Name: "ABCDEF+CMBX12"}, pdftest.Text(72, 720, 12, "x")), pdftest.Text(72, 700, 12, "y")).Bytes())
	if diff := cmp.Diff([]layout.Font{{Name: "CMBX12", Bold: true, Serif: true}, {Name: "Helvetica"}}, p.Fonts); diff != "" {
		t.Error(diff)
	}
}

func TestTextThatNobodySeesIsMarked(t *testing.T) {
	hidden := func(p *layout.Page) map[string]string {
		m := map[string]string{}
		for _, w := range p.Words {
			m[w.Text] = w.Hidden
		}
		return m
	}
	white := func(s string, y float64) pdftest.Item { return pdftest.Colored(1, 1, 1, pdftest.Text(72, y, 12, s)) }
	p := onlyPage(t, pdftest.New().Page(
		pdftest.Text(72, 760, 12, "seen"),
		pdftest.Invisible(pdftest.Text(72, 740, 12, "mode3")),
		pdftest.Content("q BT /F1 12 Tf 7 Tr 72 730 Td (mode7) Tj ET Q"),
		white("onpaper", 700),
		pdftest.Filled(60, 640, 200, 40, 0.2), white("onbar", 650),
		pdftest.Filled(60, 590, 200, 40, 1), white("onwhitebar", 600),
		pdftest.Picture(60, 540, 200, 40, pdftest.Photo(10, "")), white("onpicture", 550),
		pdftest.Colored(0.9, 0.9, 0.9, pdftest.Text(72, 500, 12, "grey")),
		pdftest.Text(72, 480, 0.4, "tiny"),
		pdftest.Text(-100, 460, 12, "left"), pdftest.Text(700, 440, 12, "right"), pdftest.Text(72, 900, 12, "above"), pdftest.Text(72, -30, 12, "below"),
		pdftest.Text(72, -3, 12, "edge"),
	).Bytes())
	want := map[string]string{
		"seen": "", "mode3": "invisible", "mode7": "invisible", "onpaper": "white", "onbar": "", "onwhitebar": "white", "onpicture": "", "grey": "", "tiny": "tiny",
		"left": "offpage", "right": "offpage", "above": "offpage", "below": "offpage", "edge": "",
	}
	got := hidden(p)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestPagesThatAreNotThereAreErrorsOfTheirOwn(t *testing.T) {
	d := open(t, pdftest.Markers(2), "")
	for _, n := range []int{0, -1, 3, math.MaxInt} {
		if p, err := d.Page(n); !errors.Is(err, ErrPage) || p != nil {
			t.Errorf("page %d: %v, %v", n, p, err)
		}
		if _, err := d.Render(n, 72, 1e6); !errors.Is(err, ErrPage) {
			t.Errorf("page %d: %v", n, err)
		}
	}
	if got := plain(readPage(t, d, 2)); got != "marker-page-2 is printed here." {
		t.Errorf("after that page 2 says %q", got)
	}
}

func TestAPageOfTooMuchTextIsCut(t *testing.T) {
	var b bytes.Buffer
	line := strings.Repeat("abcdefg ", 50)
	for range maxChars/len(line) + 20 {
		fmt.Fprintf(&b, "(%s) Tj T*\n", line)
	}
	d := open(t, pdftest.New().Page(pdftest.Text(72, 700, 1, "first"), pdftest.Content("BT /F1 1 Tf 1 TL 72 690 Td "+b.String()+"ET")).Page(pdftest.Text(72, 700, 12, "next")).Bytes(), "")
	p, err := d.Page(1)
	if !errors.Is(err, ErrCut) || p == nil {
		t.Fatalf("%v", err)
	}
	letters := 0
	for _, w := range p.Words {
		letters += len(w.Text)
	}
	if letters > maxChars || letters < maxChars*3/4 {
		t.Errorf("%d letters", letters)
	}
	if got := plain(readPage(t, d, 2)); got != "next" {
		t.Errorf("the next page says %q", got)
	}
}

func TestManyPagesTakeNoMoreMemoryThanFew(t *testing.T) {
	const pages = 1_000
	e := start(t, Config{})
	data := pdftest.Markers(pages)
	d, err := e.Open(bytes.NewReader(data), int64(len(data)), "")
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= pages; n++ {
		if got, want := plain(readPage(t, d, n)), fmt.Sprintf("marker-page-%d is printed here.", n); got != want {
			t.Fatalf("page %d says %q", n, got)
		}
	}
	if size := e.mem.Size(); size > 24<<20 {
		t.Errorf("the guest has %d MB", size>>20)
	}
}

func TestTheFileIsOpenedAnewBeforeMemoryRunsOut(t *testing.T) {
	doc := pdftest.New()
	doc.Encrypt = &pdftest.Encryption{User: "secret"}
	for i := range 5 {
		doc.Page(pdftest.Text(72, 720, 12, fmt.Sprintf("page %d", i+1)))
	}
	d := open(t, doc.Bytes(), "secret")
	for n := 1; n <= 5; n++ {
		before := d.handle
		d.high = 0 // as if it had grown
		if got, want := plain(readPage(t, d, n)), fmt.Sprintf("page %d", n); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if d.handle == 0 || d.high == 0 {
			t.Errorf("page %d: handle %d, then %d, next at %d", n, before, d.handle, d.high)
		}
	}
}

func TestAPageThatTakesTooMuchMemoryEndsTheEngineAndNothingElse(t *testing.T) {
	bomb := hostile(t, "flate-double-4g")
	e := start(t, Config{Memory: 32 << 20})
	d, err := e.Open(bytes.NewReader(bomb), int64(len(bomb)), "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Page(1); !errors.Is(err, ErrDead) {
		t.Errorf("the page: %v", err)
	}
	if size := e.mem.Size(); size > 32<<20 {
		t.Errorf("the guest took %d MB", size>>20)
	}
	if _, err := d.Page(1); !errors.Is(err, ErrDead) {
		t.Errorf("afterwards: %v", err)
	}
	if _, err := d.Render(1, 72, 1e6); !errors.Is(err, ErrDead) {
		t.Errorf("afterwards: %v", err)
	}
	if _, err := e.Open(bytes.NewReader(bomb), int64(len(bomb)), ""); !errors.Is(err, ErrDead) {
		t.Errorf("afterwards: %v", err)
	}
	if d.Err() == nil || d.Info().Title != "" {
		t.Error("a dead engine does not say so")
	}
	if got := plain(onlyPage(t, pdftest.Pages("a good one"))); got != "a good one" {
		t.Errorf("the next file says %q", got)
	}
}

// hostile builds one of the hostile files.
func hostile(t testing.TB, name string) []byte {
	t.Helper()
	for _, h := range pdftest.Hostile() {
		if h.Name == name {
			return h.Make()
		}
	}
	t.Fatalf("there is no hostile file %q", name)
	return nil
}
