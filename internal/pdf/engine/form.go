package engine

import "sift.build/sift/internal/pdf/layout"

const maxAnnotations = 2_000 // of one page that are looked at

// Kinds and flags of annotations (fpdf_annot.h).
const (
	annotFreeText = 3
	annotStamp    = 13
	annotWidget   = 20

	annotHidden = 1 << 1
	annotNoView = 1 << 5
)

// hasFields says whether the page shows text that is not in its content: the
// values of form fields, notes written on the page, stamps.
func (p *page) hasFields() bool {
	e := p.e
	n := min(int(int32(e.call(e.fn.annotCount, p.handle))), maxAnnotations)
	for i := range n {
		a := uint64(e.call(e.fn.annotAt, p.handle, uint64(i)))
		if a == 0 {
			continue
		}
		kind := e.call(e.fn.annotSubtype, a)
		flags := e.call(e.fn.annotFlags, a)
		e.call(e.fn.annotClose, a)
		if (kind == annotWidget || kind == annotFreeText || kind == annotStamp) && flags&(annotHidden|annotNoView) == 0 {
			return true
		}
	}
	return false
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
