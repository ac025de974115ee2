package engine

import (
	"github.com/tetratelabs/wazero/api"

	"sift.build/sift/internal/pdf/layout"
)

// What is read of the tagged structure of one page.
const (
	maxMarks    = 3_000 // pieces of content; a page with more has no tags
	maxTags     = 20_000
	maxTagSteps = 200_000 // kids looked at, most of which are on other pages
	maxTagDepth = 48
	maxTagText  = 4 << 10 // bytes of UTF-16
	maxSpan     = 1_000
)

// tagReader reads the part of a structure tree that is on one page.
type tagReader struct {
	p     *page
	tags  int
	steps int
}

// readTags reads the structure of the page, if the document has one.
func (p *page) readTags() {
	// For each piece PDFium goes through all children of the root.
	if !p.d.tagged || p.marks > maxMarks {
		return
	}
	e := p.e
	tree := uint64(e.call(e.fn.treeForPage, p.handle))
	if tree == 0 {
		return
	}
	defer e.call(e.fn.treeClose, tree)
	r := tagReader{p: p, tags: maxTags, steps: maxTagSteps}
	root := &layout.Tag{Type: "Document"}
	n := int(int32(e.call(e.fn.treeCount, tree)))
	for i := 0; i < n && r.steps > 0; i++ {
		r.steps--
		if element := e.call(e.fn.treeAt, tree, uint64(i)); element != 0 {
			if t := r.read(uint64(element), 1); t != nil {
				root.Kids = append(root.Kids, t)
			}
		}
	}
	switch len(root.Kids) {
	case 0:
	case 1:
		p.out.Tags = root.Kids[0]
	default:
		p.out.Tags = root
	}
}

// read returns nil for what has nothing on this page.
func (r *tagReader) read(element uint64, depth int) *layout.Tag {
	if depth > maxTagDepth || r.tags <= 0 {
		return nil
	}
	r.tags--
	e := r.p.e
	t := &layout.Tag{}
	n := int(int32(e.call(e.fn.elementCount, element)))
	for i := 0; i < n && r.steps > 0 && e.dead == nil; i++ {
		r.steps--
		if id := int32(e.call(e.fn.elementKidMCID, element, uint64(i))); id >= 0 {
			t.MCIDs = append(t.MCIDs, int(id))
			continue
		}
		if kid := e.call(e.fn.elementAt, element, uint64(i)); kid != 0 {
			if k := r.read(uint64(kid), depth+1); k != nil {
				t.Kids = append(t.Kids, k)
			}
		}
	}
	t.Alt = r.text(e.fn.elementAlt, element)
	t.ActualText = r.text(e.fn.elementActual, element)
	if len(t.MCIDs) == 0 && len(t.Kids) == 0 && t.Alt == "" && t.ActualText == "" {
		return nil
	}
	t.Type = r.text(e.fn.elementType, element)
	if t.Type == "TD" || t.Type == "TH" {
		t.ColSpan, t.RowSpan = r.span(element, "ColSpan"), r.span(element, "RowSpan")
	}
	return t
}

func (r *tagReader) text(get api.Function, element uint64) string {
	e := r.p.e
	return clean(e.utf16(maxTagText, func(p, n uint64) uint32 { return e.call(get, element, p, n) }))
}

// span is the value of an attribute that counts columns or rows; 1 if it is
// not there.
func (r *tagReader) span(element uint64, name string) int {
	e := r.p.e
	n := min(int(int32(e.call(e.fn.elementAttrCount, element))), 16)
	for i := range n {
		attr := uint64(e.call(e.fn.elementAttrAt, element, uint64(i)))
		if attr == 0 {
			continue
		}
		e.mem.Write(e.scratch, append([]byte(name), 0))
		value := uint64(e.call(e.fn.attrValue, attr, e.at(0)))
		if value == 0 || e.call(e.fn.attrNumber, value, e.at(32)) == 0 {
			continue
		}
		if v := e.float(32); v >= 1 && v <= maxSpan {
			return int(v)
		}
	}
	return 1
}
