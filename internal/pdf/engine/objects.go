package engine

import (
	"math"

	"sift.build/sift/internal/pdf/layout"
)

// What is looked at of the objects of one page. More of them is a drawing.
const (
	maxObjects  = 50_000
	maxSegments = 50_000
	maxRules    = 2_000 // of each direction
	maxPainted  = 1_000
	maxForms    = 3 // how deep a form XObject may lie in others
)

const (
	thickRule = 3.0 // points; a thicker one is an area
	shortRule = 6.0 // points; a shorter one is a dash or a part of a drawing
)

// Types of page objects and of path segments (fpdf_edit.h).
const (
	objectPath    = 2
	objectImage   = 3
	objectShading = 4
	objectForm    = 5

	segmentLine  = 0
	segmentCurve = 1
	segmentMove  = 2
)

// matrix is the format's [a b c d e f].
type matrix [6]float64

func (m matrix) apply(x, y float64) (float64, float64) {
	return m[0]*x + m[2]*y + m[4], m[1]*x + m[3]*y + m[5]
}

// then is m followed by n.
func (m matrix) then(n matrix) matrix {
	return matrix{
		m[0]*n[0] + m[1]*n[2], m[0]*n[1] + m[1]*n[3],
		m[2]*n[0] + m[3]*n[2], m[2]*n[1] + m[3]*n[3],
		m[4]*n[0] + m[5]*n[2] + n[4], m[4]*n[1] + m[5]*n[3] + n[5],
	}
}

func identity() matrix { return matrix{1, 0, 0, 1, 0, 0} }

// drawing collects what is painted on a page beside text.
type drawing struct {
	p        *page
	objects  int // budgets
	segments int
	images   float64       // points squared
	collect  bool          // whether painted is asked for
	painted  []layout.Rect // areas that are not white
}

// readObjects finds the rules, how much of the page is image, and which of the
// white words lie on something.
func (p *page) readObjects() {
	e := p.e
	d := drawing{p: p, objects: maxObjects, segments: maxSegments, collect: p.white}
	n := int(int32(e.call(e.fn.objectCount, p.handle)))
	for i := 0; i < n && d.objects > 0 && e.dead == nil; i++ {
		d.object(e.call(e.fn.objectAt, p.handle, uint64(i)), identity(), 0)
	}
	if area := p.out.Width * p.out.Height; area > 0 {
		p.out.ImageArea = min(d.images/area, 1)
	}
	if p.white {
		// Who did not see everything cannot know what lies under a word.
		whole := d.objects > 0 && len(d.painted) < maxPainted
		for i := range p.out.Words {
			if w := &p.out.Words[i]; w.Hidden == layout.HiddenWhite && (!whole || d.under(w.Box)) {
				w.Hidden = ""
			}
		}
	}
}

func (d *drawing) under(b layout.Rect) bool {
	for _, r := range d.painted {
		if r.X0 < b.X1 && r.X1 > b.X0 && r.Y0 < b.Y1 && r.Y1 > b.Y0 {
			return true
		}
	}
	return false
}

func (d *drawing) object(object uint32, m matrix, depth int) {
	d.objects--
	e := d.p.e
	if object == 0 {
		return
	}
	switch e.call(e.fn.objectType, uint64(object)) {
	case objectPath:
		d.path(uint64(object), m)
	case objectImage:
		if b, ok := d.bounds(uint64(object), m); ok {
			b = layout.Rect{X0: max(b.X0, 0), Y0: max(b.Y0, 0), X1: min(b.X1, d.p.out.Width), Y1: min(b.Y1, d.p.out.Height)}
			d.images += max(b.X1-b.X0, 0) * max(b.Y1-b.Y0, 0)
			d.paint(b)
		}
	case objectShading:
		if b, ok := d.bounds(uint64(object), m); ok {
			d.paint(b)
		}
	case objectForm:
		if depth == maxForms {
			if b, ok := d.bounds(uint64(object), m); ok {
				d.paint(b)
			}
			return
		}
		inner := d.matrix(uint64(object)).then(m)
		n := int(int32(e.call(e.fn.formCount, uint64(object))))
		for i := 0; i < n && d.objects > 0 && e.dead == nil; i++ {
			d.object(e.call(e.fn.formAt, uint64(object), uint64(i)), inner, depth+1)
		}
	}
}

func (d *drawing) paint(r layout.Rect) {
	if d.collect && len(d.painted) < maxPainted {
		d.painted = append(d.painted, r)
	}
}

func (d *drawing) matrix(object uint64) matrix {
	e := d.p.e
	if e.call(e.fn.objectMatrix, object, e.at(0)) == 0 {
		return identity()
	}
	return matrix{e.float(0), e.float(4), e.float(8), e.float(12), e.float(16), e.float(20)}
}

// bounds is the box of an object on the page as it is shown.
func (d *drawing) bounds(object uint64, m matrix) (layout.Rect, bool) {
	e := d.p.e
	if e.call(e.fn.objectBounds, object, e.at(0), e.at(4), e.at(8), e.at(12)) == 0 {
		return layout.Rect{}, false
	}
	l, b, r, t := e.float(0), e.float(4), e.float(8), e.float(12)
	x0, y0 := m.apply(l, b)
	x1, y1 := m.apply(r, t)
	x2, y2 := m.apply(l, t)
	x3, y3 := m.apply(r, b)
	return d.p.rect(min(x0, x1, x2, x3), min(y0, y1, y2, y3), max(x0, x1, x2, x3), max(y0, y1, y2, y3)), true
}

// path takes rules from a path: all of it if it is thin, else its straight
// sides, if they are drawn or it is a filled rectangle.
func (d *drawing) path(object uint64, m matrix) {
	e := d.p.e
	if e.call(e.fn.pathMode, object, e.at(0), e.at(4)) == 0 {
		return
	}
	fill, stroke := e.int(0) != 0, e.int(4) != 0
	if !fill && !stroke {
		return // a clipping path
	}
	b, ok := d.bounds(object, m)
	if !ok {
		return
	}
	w, h := b.X1-b.X0, b.Y1-b.Y0
	if w < shortRule && h < shortRule {
		return
	}
	if !stroke { // the bounds of lines are wider than what is drawn
		switch {
		case h <= thickRule:
			d.rule(b, true)
			return
		case w <= thickRule:
			d.rule(b, false)
			return
		}
	}
	if d.collect && fill && !d.whiteFill(object) {
		d.paint(b)
	}
	if w > 0.95*d.p.out.Width && h > 0.95*d.p.out.Height {
		return // the paper
	}
	d.sides(object, m, stroke)
}

func (d *drawing) whiteFill(object uint64) bool {
	e := d.p.e
	return e.call(e.fn.objectFillColor, object, e.at(0), e.at(4), e.at(8), e.at(12)) != 0 && e.white()
}

// white says whether the colour that was just read into the scratch block is
// that of paper.
func (e *Engine) white() bool {
	const nearly = 250
	return e.int(0) >= nearly && e.int(4) >= nearly && e.int(8) >= nearly
}

func (d *drawing) sides(object uint64, m matrix, stroke bool) {
	e := d.p.e
	const rectangle = 6 // segments: a move, four lines, and a close
	n := int(int32(e.call(e.fn.pathCount, object)))
	if n < 2 || !stroke && n > rectangle || n > d.segments {
		return
	}
	d.segments -= n
	m = d.matrix(object).then(m)
	type side struct {
		r    layout.Rect
		flat bool
	}
	var found []side
	var startX, startY, x, y float64
	line := func(x1, y1 float64) bool {
		dx, dy := math.Abs(x1-x), math.Abs(y1-y)
		r := layout.Rect{X0: min(x, x1), Y0: min(y, y1), X1: max(x, x1), Y1: max(y, y1)}
		switch {
		case dy < 0.5 && dx >= shortRule:
			found = append(found, side{r, true})
		case dx < 0.5 && dy >= shortRule:
			found = append(found, side{r, false})
		default:
			return dx < 0.5 && dy < 0.5
		}
		return true
	}
	for i := range n {
		s := uint64(e.call(e.fn.pathSegment, object, uint64(i)))
		if s == 0 || e.call(e.fn.segmentPoint, s, e.at(0), e.at(4)) == 0 {
			return
		}
		nx, ny := d.p.point(m.apply(e.float(0), e.float(4)))
		straight := true
		switch e.call(e.fn.segmentType, s) {
		case segmentMove:
			startX, startY = nx, ny
		case segmentLine:
			straight = line(nx, ny)
		case segmentCurve:
			straight = false
		}
		x, y = nx, ny
		if e.call(e.fn.segmentClose, s) != 0 {
			straight = line(startX, startY) && straight
			x, y = startX, startY
		}
		if !straight && !stroke {
			return // a filled shape that is no rectangle
		}
	}
	for _, s := range found {
		d.rule(s.r, s.flat)
	}
}

func (d *drawing) rule(r layout.Rect, flat bool) {
	list := &d.p.out.VRules
	if flat {
		list = &d.p.out.HRules
	}
	if len(*list) < maxRules {
		*list = append(*list, r)
	}
}
