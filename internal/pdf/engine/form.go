package engine

import (
	"strings"
	"unicode/utf8"

	"sift.build/sift/internal/pdf/layout"
)

const (
	maxAnnotations = 2_000    // of one page that are looked at
	maxValue       = 32 << 10 // bytes of UTF-16 of one field's value
)

// Kinds and flags of annotations (fpdf_annot.h).
const (
	annotFreeText = 3
	annotStamp    = 13
	annotWidget   = 20

	annotHidden = 1 << 1
	annotNoView = 1 << 5

	appearanceNormal = 0       // FPDF_ANNOT_APPEARANCEMODE_NORMAL
	fieldPassword    = 1 << 13 // of the field flags (ISO 32000-2, table 231)
)

// field is a field of a form with a value.
type field struct {
	box     layout.Rect
	value   string
	painted bool // it has an appearance, which flattening makes part of the page
}

// fields lists the text and choices that were filled into the page's form, and
// says whether the page shows text that is not in its content: values of
// fields, notes written on the page, stamps.
func (p *page) fields() (list []field, flat bool) {
	e := p.e
	n := int(int32(e.call(e.fn.annotCount, p.handle)))
	for i := range min(n, maxAnnotations) {
		a := uint64(e.call(e.fn.annotAt, p.handle, uint64(i)))
		if a == 0 {
			continue
		}
		kind, flags := e.call(e.fn.annotSubtype, a), e.call(e.fn.annotFlags, a)
		if (kind == annotWidget || kind == annotFreeText || kind == annotStamp) && flags&(annotHidden|annotNoView) == 0 {
			// The length is that of a NUL where there is no appearance.
			painted := e.call(e.fn.annotLook, a, appearanceNormal, 0, 0) > 2
			flat = flat || painted
			if kind == annotWidget {
				if f, ok := p.field(a); ok {
					f.painted = painted
					list = append(list, f)
				}
			}
		}
		e.call(e.fn.annotClose, a)
	}
	// Flattening takes the square of their number.
	return list, flat && n <= maxAnnotations
}

func (p *page) field(a uint64) (field, bool) {
	e := p.e
	if kind := e.annotText(a, "FT"); kind != "Tx" && kind != "Ch" {
		return field{}, false
	}
	f := field{value: e.annotText(a, "V")}
	e.mem.Write(e.scratch, []byte("Ff\x00"))
	if e.call(e.fn.annotNumber, a, e.at(0), e.at(16)) != 0 && int(e.float(16))&fieldPassword != 0 {
		return field{}, false
	}
	if f.value == "" || e.call(e.fn.annotRect, a, e.at(0)) == 0 {
		return field{}, false
	}
	// left, top, right, bottom
	f.box = p.rect(min(e.float(0), e.float(8)), min(e.float(4), e.float(12)), max(e.float(0), e.float(8)), max(e.float(4), e.float(12)))
	return f, true
}

func (e *Engine) annotText(a uint64, key string) string {
	e.mem.Write(e.scratch, append([]byte(key), 0))
	return clean(e.utf16(maxValue, func(p, n uint64) uint32 { return e.call(e.fn.annotString, a, e.at(0), p, n) }))
}

// addFields puts the values behind the page's words that are not among them:
// those without an appearance, and all where the page could not be flattened.
func (p *page) addFields(list []field, flattened bool) {
	for _, f := range list {
		if f.painted && flattened {
			continue
		}
		size := min(max(0.7*(f.box.Y1-f.box.Y0), 4), 12)
		words := strings.Fields(f.value)
		width := min((f.box.X1-f.box.X0)/float64(max(utf8.RuneCountInString(f.value), 1)), size/2) // of a letter
		x := f.box.X0
		for i, text := range words {
			end := x + width*float64(utf8.RuneCountInString(text))
			base := f.box.Y1 - 0.25*size
			p.out.Words = append(p.out.Words, layout.Word{
				Text: text, Box: layout.Rect{X0: x, Y0: base - 0.8*size, X1: end, Y1: base + 0.2*size},
				Baseline: base, Size: size, Font: -1, Space: i > 0, Break: i == 0, MCID: -1,
			})
			x = end + width
		}
	}
}

// keeps says whether the words of after still hold those of before. Flattening
// a form can turn a page's text into codes of glyphs, where it gives two fonts
// the same name; then the form's values are not worth it.
func keeps(before, after []layout.Word) bool {
	count := make(map[string]int, len(after))
	for _, w := range after {
		count[w.Text]++
	}
	missing := 0
	for _, w := range before {
		if count[w.Text]--; count[w.Text] < 0 {
			missing++
		}
	}
	// A value that is set right behind a word may become one with it.
	return missing*20 <= len(before)
}
