package engine

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"sift.build/sift/internal/pdf/layout"
)

const (
	maxChars = 400_000 // of one page
	maxFonts = 2_000   // of one page
	minSize  = 1.0     // points; below, nobody reads it

	flattened = 1 // FLATTEN_SUCCESS
)

// page is a loaded page on its way to a layout.Page.
type page struct {
	d          *Document
	e          *Engine
	handle     uint64
	text       uint64
	box        layout.Rect // what is shown of the page, in PDF's own coordinates: X0 left, Y0 bottom, X1 right, Y1 top
	turn       int         // quarter turns clockwise
	fonts      map[uint32]int
	out        *layout.Page
	cut        bool
	buf        []byte
	current    run
	wordHeight height
	word       layout.Word // being built
	first      int         // its first and last character
	last       int
	space      bool
	newline    bool
	marks      int  // how often the marked-content id changes
	white      bool // some words are white
	heights    map[face]height
}

// face is a font at a size, and height how far its letters reach above and
// below the baseline.
type face struct {
	font int
	size float64
}

type height struct{ up, down float64 }

// run is what the characters of a text object have in common.
type run struct {
	object uint32
	font   int
	size   float64
	angle  float64
	height height
	hidden string
	mcid   int
}

// Page reads page n, counted from 1.
func (d *Document) Page(n int) (*layout.Page, error) {
	if err := d.ready(n); err != nil {
		return nil, err
	}
	p, err := d.read(n)
	if err != nil {
		return nil, err
	}
	defer func() { p.close() }()
	fields, flat := p.fields()
	painted := false
	if flat && d.e.call(d.e.fn.flatten, p.handle, 0) == flattened {
		// The page's content has changed; it shows when the page is loaded anew.
		p.close()
		flat, err := d.read(n)
		if err := d.e.failed(); err != nil {
			return nil, err
		}
		if err == nil {
			if keeps(p.out.Words, flat.out.Words) {
				p, painted = flat, true
			} else {
				flat.close()
			}
		}
	}
	p.addFields(fields, painted)
	if err := d.e.failed(); err != nil {
		return nil, err
	}
	if p.cut {
		return p.out, ErrCut
	}
	return p.out, nil
}

// read loads page n and reads what is on it.
func (d *Document) read(n int) (*page, error) {
	p, err := d.load(n)
	if err != nil {
		return nil, err
	}
	p.readText()
	p.readObjects()
	p.readTags()
	p.readLinks()
	return p, nil
}

// ready says whether page n can be asked for, and gives memory back before it
// runs out: PDFium keeps every object of the file that it has seen until the
// document is closed.
func (d *Document) ready(n int) error {
	if err := d.e.failed(); err != nil {
		return err
	}
	if n < 1 || n > d.pages {
		return fmt.Errorf("%w: there are %d", ErrPage, d.pages)
	}
	if d.e.mem.Size() > d.high {
		return d.reopen()
	}
	return nil
}

func (d *Document) load(n int) (*page, error) {
	e := d.e
	p := &page{d: d, e: e, fonts: map[uint32]int{}, heights: map[face]height{}, out: &layout.Page{Number: n}}
	p.handle = uint64(e.call(e.fn.loadPage, d.handle, uint64(n-1)))
	if err := e.failed(); err != nil {
		return nil, err
	}
	if p.handle == 0 {
		return nil, fmt.Errorf("%w: page %d", ErrPage, n)
	}
	if e.call(e.fn.pageBox, p.handle, e.at(0)) != 0 {
		l, t, r, b := e.float(0), e.float(4), e.float(8), e.float(12)
		p.box = layout.Rect{X0: min(l, r), Y0: min(b, t), X1: max(l, r), Y1: max(b, t)}
	}
	p.turn = int(e.call(e.fn.pageRotation, p.handle) & 3)
	p.out.Width, p.out.Height = p.box.X1-p.box.X0, p.box.Y1-p.box.Y0
	if p.turn&1 == 1 {
		p.out.Width, p.out.Height = p.out.Height, p.out.Width
	}
	return p, nil
}

// close frees the page in the guest; a second time does nothing.
func (p *page) close() {
	if p.text != 0 {
		p.e.call(p.e.fn.textClose, p.text)
	}
	p.e.call(p.e.fn.closePage, p.handle) // 0 is fine
	p.text, p.handle = 0, 0
}

// point turns PDF's coordinates into those of the page as it is shown.
func (p *page) point(x, y float64) (float64, float64) {
	switch p.turn {
	case 1:
		return y - p.box.Y0, x - p.box.X0
	case 2:
		return p.box.X1 - x, y - p.box.Y0
	case 3:
		return p.box.Y1 - y, p.box.X1 - x
	default:
		return x - p.box.X0, p.box.Y1 - y
	}
}

func (p *page) rect(l, b, r, t float64) layout.Rect {
	x0, y0 := p.point(l, b)
	x1, y1 := p.point(r, t)
	return layout.Rect{X0: min(x0, x1), Y0: min(y0, y1), X1: max(x0, x1), Y1: max(y0, y1)}
}

// readText goes through the characters of the page.
func (p *page) readText() {
	e := p.e
	p.text = uint64(e.call(e.fn.textLoad, p.handle))
	if p.text == 0 {
		return
	}
	n := int(int32(e.call(e.fn.textCount, p.text)))
	if n > maxChars {
		n, p.cut = maxChars, true
	}
	for i := 0; i < n && e.dead == nil; i++ {
		at := i
		c := rune(e.call(e.fn.textUnicode, p.text, uint64(i)))
		if utf16.IsSurrogate(c) {
			// A character beyond U+FFFF comes as two.
			next := rune(0)
			if i+1 < n {
				next = rune(e.call(e.fn.textUnicode, p.text, uint64(i+1)))
			}
			if c = utf16.DecodeRune(c, next); c != utf8.RuneError {
				i++
			}
		}
		switch {
		case c == '\r' || c == '\n' || c == '\u2028' || c == '\u2029' || c == '\v' || c == '\f':
			p.endWord()
			// A form feed is no line break: it is a glyph without a known character.
			p.newline = p.newline || c != '\v' && c != '\f'
			continue
		case c == 0xfffe || c == 2 && e.call(e.fn.textHyphen, p.text, uint64(i)) != 0:
			// The hyphen of a divided word; PDFium gives no line break after it.
			if len(p.buf) > 0 {
				p.last = i
				p.word.Hyphen = true
			}
			p.endWord()
			p.newline = true
			continue
		case unicode.IsSpace(c):
			p.endWord()
			p.space = true
			continue
		case c < 0x20 || c >= 0x7f && c < 0xa0 || c == 0xfeff || c == 0xffff || c == 0x200b:
			continue // no character: a glyph whose meaning the file does not tell
		}
		p.character(at, c)
	}
	p.endWord()
}

// character adds c, which is character i, to the word, or begins a new one.
func (p *page) character(i int, c rune) {
	e := p.e
	if object := e.call(e.fn.textObject, p.text, uint64(i)); object != p.current.object {
		old := p.current
		p.current = p.run(i, object)
		if len(p.buf) > 0 && !p.same(old, i) {
			p.endWord()
		}
	}
	if len(p.buf) == 0 {
		p.first = i
		x, y := p.origin(i)
		_, p.word.Baseline = p.point(x, y)
		r := &p.current
		p.word.Size, p.word.Font, p.word.Angle, p.word.MCID, p.word.Hidden = r.size, r.font, r.angle, r.mcid, r.hidden
		p.wordHeight = r.height
		p.word.Space, p.word.Break = p.space, p.newline
		p.space, p.newline = false, false
	}
	p.last = i
	p.buf = utf8.AppendRune(p.buf, c)
}

// same says whether a word goes on from run old into the current one, whose
// first character is i.
func (p *page) same(old run, i int) bool {
	r := &p.current
	if r.font != old.font || r.angle != old.angle || r.mcid != old.mcid || r.hidden != old.hidden || math.Abs(r.size-old.size) > 0.01*r.size {
		return false
	}
	x, y := p.origin(i)
	_, y = p.point(x, y)
	return r.angle != 0 || math.Abs(y-p.word.Baseline) < 0.1*r.size
}

func (p *page) origin(i int) (x, y float64) {
	e := p.e
	if e.call(e.fn.textOrigin, p.text, uint64(i), e.at(0), e.at(8)) == 0 {
		return 0, 0
	}
	return e.double(0), e.double(8)
}

// endWord puts the word that is being built into the page.
func (p *page) endWord() {
	if len(p.buf) == 0 {
		return
	}
	w := p.word
	w.Text = string(p.buf)
	p.buf = p.buf[:0]
	p.word = layout.Word{}
	w.Box = p.ink(p.first)
	if p.last != p.first {
		b := p.ink(p.last)
		w.Box = layout.Rect{X0: min(w.Box.X0, b.X0), Y0: min(w.Box.Y0, b.Y0), X1: max(w.Box.X1, b.X1), Y1: max(w.Box.Y1, b.Y1)}
	}
	if h := p.wordHeight; h != (height{}) {
		w.Box.Y0, w.Box.Y1 = w.Baseline-h.up, w.Baseline+h.down
	}
	if w.Hidden == "" {
		switch b := w.Box; {
		case b.X1 < 0 || b.Y1 < 0 || b.X0 > p.out.Width || b.Y0 > p.out.Height:
			w.Hidden = layout.HiddenOffPage
		case w.Size < minSize:
			w.Hidden = layout.HiddenTiny
		}
	}
	p.out.Words = append(p.out.Words, w)
}

// ink is the box of what character i paints.
func (p *page) ink(i int) layout.Rect {
	e := p.e
	if e.call(e.fn.textBox, p.text, uint64(i), e.at(0), e.at(8), e.at(16), e.at(24)) == 0 {
		return layout.Rect{}
	}
	return p.rect(e.double(0), e.double(16), e.double(8), e.double(24))
}

// height is how far the letters of a font at a size reach above and below the
// baseline: the same for all of its words, whatever letters are in them.
func (p *page) height(font uint32, f face) height {
	if h, ok := p.heights[f]; ok {
		return h
	}
	e := p.e
	h := height{0.8 * f.size, 0.2 * f.size} // for fonts that do not say
	size := uint64(math.Float32bits(float32(f.size)))
	if e.call(e.fn.fontAscent, uint64(font), size, e.at(0)) != 0 && e.call(e.fn.fontDescent, uint64(font), size, e.at(4)) != 0 {
		if up, down := e.float(0), -e.float(4); up > 0.4*f.size && up < 1.5*f.size && down >= 0 && down < f.size {
			h = height{up, down}
		}
	}
	if len(p.heights) < maxFonts {
		p.heights[f] = h
	}
	return h
}

// run describes the text object of character i.
func (p *page) run(i int, object uint32) run {
	e := p.e
	r := run{object: object, mcid: -1}
	if object == 0 {
		return r
	}
	r.size = math.Float64frombits(e.call64(e.fn.textFontSize, p.text, uint64(i)))
	if e.call(e.fn.textMatrix, p.text, uint64(i), e.at(0)) != 0 {
		a, b, c, d := e.float(0), e.float(4), e.float(8), e.float(12)
		r.size *= math.Hypot(c, d)
		angle := math.Atan2(b, a)*180/math.Pi - 90*float64(p.turn)
		r.angle = math.Round(angle*10) / 10
		for r.angle <= -180 {
			r.angle += 360
		}
		if r.angle == 0 {
			r.angle = 0 // not minus zero
		}
	}
	r.size = math.Abs(r.size)
	font := e.call(e.fn.objectFont, uint64(object))
	r.font = p.font(font)
	if r.angle == 0 {
		r.height = p.height(font, face{r.font, r.size})
	}
	if mode := e.call(e.fn.objectRenderMode, uint64(object)); mode == 3 || mode == 7 {
		r.hidden = layout.HiddenInvisible
	}
	if r.hidden == "" && e.call(e.fn.objectFillColor, uint64(object), e.at(0), e.at(4), e.at(8), e.at(12)) != 0 && e.white() {
		r.hidden, p.white = layout.HiddenWhite, true
	}
	if p.d.tagged {
		r.mcid = int(int32(e.call(e.fn.objectMCID, uint64(object))))
		if r.mcid != p.current.mcid {
			p.marks++
		}
	}
	return r
}

// font returns the index of a font in the page's list.
func (p *page) font(handle uint32) int {
	if i, ok := p.fonts[handle]; ok {
		return i
	}
	if len(p.out.Fonts) >= maxFonts {
		return -1
	}
	e := p.e
	f := layout.Font{}
	if n := e.call(e.fn.fontName, uint64(handle), e.at(0), scratch); n > 1 && n <= 1<<10 {
		b, _ := e.mem.Read(e.scratch, n-1)
		f.Name = strings.ToValidUTF8(string(b), "")
		// Six letters and a plus sign mark a font of which only some glyphs are in the file.
		if len(f.Name) > 7 && f.Name[6] == '+' {
			f.Name = f.Name[7:]
		}
	}
	const fixed, serif, italic, forceBold = 1, 2, 64, 1 << 18
	flags := max(int32(e.call(e.fn.fontFlags, uint64(handle))), 0)
	weight := int32(e.call(e.fn.fontWeight, uint64(handle)))
	style := styleOf(f.Name)
	f.Bold = style.Bold || flags&forceBold != 0 || weight >= 700
	f.Italic = style.Italic || flags&italic != 0
	f.Mono = style.Mono || flags&fixed != 0
	f.Serif = style.Serif || flags&serif != 0
	p.fonts[handle] = len(p.out.Fonts)
	p.out.Fonts = append(p.out.Fonts, f)
	return len(p.out.Fonts) - 1
}

// styleOf tells from a font's name what its flags often do not say.
func styleOf(name string) layout.Font {
	name = strings.ToLower(name)
	has := func(s string, parts ...string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(s, part) })
	}
	starts := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return strings.HasPrefix(name, part) })
	}
	// Words that are also parts of families count only behind the family.
	style := ""
	if i := strings.IndexAny(name, "-,"); i >= 0 {
		style = name[i:]
	}
	return layout.Font{
		// The letters behind cm are the styles of TeX's fonts.
		Bold:   has(name, "bold") || has(style, "black", "heavy", "demi", "medi") && !has(style, "medium") || starts("cmb", "cmssbx", "sfbx"),
		Italic: has(name, "italic", "oblique") || starts("cmti", "cmsl", "cmmi"),
		Mono:   has(name, "mono", "courier", "consol", "typewriter") || starts("cmtt"),
		Serif:  has(name, "times", "serif", "roman", "nimbusrom") && !has(name, "sans") || starts("cmr", "cmb", "cmti", "cmsl"),
	}
}
