package engine

import (
	"slices"
	"strings"
	"unicode/utf8"

	"sift.build/sift/internal/pdf/layout"
)

const (
	maxLinks = 2_000 // of one page
	maxQuads = 50    // of one link: it has one for each line
	maxURL   = 2_000 // bytes
)

const actionURI = 3 // fpdf_doc.h

// readLinks gives the words that lie under a link its address.
func (p *page) readLinks() {
	e := p.e
	if len(p.out.Words) == 0 || e.call(e.fn.annotCount, p.handle) == 0 {
		return
	}
	type area struct {
		layout.Rect
		url string
	}
	var areas []area
	e.mem.WriteUint32Le(e.scratch, 0) // where the enumeration stands
	for n := 0; n < maxLinks && e.call(e.fn.linkEnumerate, p.handle, e.at(0), e.at(4)) != 0; n++ {
		link := uint64(uint32(e.int(4)))
		action := uint64(e.call(e.fn.linkAction, link))
		if action == 0 || e.call(e.fn.actionType, action) != actionURI {
			continue
		}
		url := p.d.uri(action)
		if url == "" {
			continue
		}
		quads := min(int(int32(e.call(e.fn.linkQuadCount, link))), maxQuads)
		for i := range quads {
			if e.call(e.fn.linkQuad, link, uint64(i), e.at(16)) == 0 {
				continue
			}
			var x, y [4]float64
			for k := range 4 {
				x[k], y[k] = e.float(uint32(16+8*k)), e.float(uint32(20+8*k))
			}
			areas = append(areas, area{p.rect(slices.Min(x[:]), slices.Min(y[:]), slices.Max(x[:]), slices.Max(y[:])), url})
		}
		if quads <= 0 && e.call(e.fn.linkRect, link, e.at(16)) != 0 {
			// left, top, right, bottom
			l, t, r, b := e.float(16), e.float(20), e.float(24), e.float(28)
			areas = append(areas, area{p.rect(min(l, r), min(b, t), max(l, r), max(b, t)), url})
		}
	}
	if len(areas) == 0 {
		return
	}
	for i := range p.out.Words {
		w := &p.out.Words[i]
		x, y := (w.Box.X0+w.Box.X1)/2, (w.Box.Y0+w.Box.Y1)/2
		for _, a := range areas {
			if x >= a.X0 && x <= a.X1 && y >= a.Y0 && y <= a.Y1 {
				w.URL = a.url
				break
			}
		}
	}
}

// uri is the address of an action, or nothing if it is not one that a reader
// could follow.
func (d *Document) uri(action uint64) string {
	e := d.e
	const from = 1 << 10
	n := e.call(e.fn.actionURI, d.handle, action, e.at(from), maxURL)
	if n < 2 || n > maxURL {
		return ""
	}
	b, _ := e.mem.Read(e.scratch+from, n-1)
	return linkTarget(string(b))
}

func linkTarget(s string) string {
	s = strings.TrimSpace(s)
	if !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return ""
	}
	for _, scheme := range []string{"http://", "https://", "mailto:"} {
		if len(s) > len(scheme) && strings.EqualFold(s[:len(scheme)], scheme) {
			return s
		}
	}
	return ""
}
