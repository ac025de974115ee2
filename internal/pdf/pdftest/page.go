package pdftest

import (
	"bytes"
	"fmt"
	"image"
	"maps"
	"math"
)

// An Item draws on a page, or sets something of it.
type Item func(*page)

// page is a page while it is drawn.
type page struct {
	doc     *builder
	content bytes.Buffer
	font    Font
	dict    Dict
	fonts   Dict
	images  Dict
	annots  Array
	parents Array // the structure element of each marked content
	group   *element
	self    Ref
}

func draw(p *page, items []Item) {
	for _, it := range items {
		it(p)
	}
}

func (p *page) writef(format string, args ...any) { fmt.Fprintf(&p.content, format, args...) }

func (p *page) fontName(f Font) Name {
	name, ref := p.doc.font(f)
	p.fonts[name] = ref
	return name
}

// show writes one text object.
func (p *page) show(matrix string, size float64, operand, operator string) {
	p.writef("BT /%s %s Tf %s %s %s ET\n", p.fontName(p.font), number(size), matrix, operand, operator)
}

func literal(b []byte) string {
	return string(appendString(nil, String(b)))
}

func at(x, y float64) string { return number(x) + " " + number(y) + " Td" }

// Text writes s with its baseline starting at x, y.
func Text(x, y, size float64, s string) Item {
	return func(p *page) { p.show(at(x, y), size, literal(p.font.encode(s)), "Tj") }
}

// Codes writes character codes as they stand, for fonts that Text cannot
// encode.
func Codes(x, y, size float64, codes string) Item {
	return func(p *page) { p.show(at(x, y), size, literal([]byte(codes)), "Tj") }
}

// Lines writes lines below each other in one text object, as most writers do.
func Lines(x, y, size, leading float64, lines ...string) Item {
	return func(p *page) {
		p.writef("BT /%s %s Tf %s TL %s", p.fontName(p.font), number(size), number(leading), at(x, y))
		for i, l := range lines {
			if i > 0 {
				p.writef(" T*")
			}
			p.writef(" %s Tj", literal(p.font.encode(l)))
		}
		p.writef(" ET\n")
	}
}

// Kerned writes strings and, between them, numbers: how far to go left, in
// thousandths of the size (the TJ operator). A negative one makes a gap.
func Kerned(x, y, size float64, parts ...any) Item {
	return func(p *page) {
		a := []byte("[")
		for _, part := range parts {
			switch v := part.(type) {
			case string:
				a = append(a, literal(p.font.encode(v))...)
			case int:
				a = append(a, " "+number(float64(v))+" "...)
			case float64:
				a = append(a, " "+number(v)+" "...)
			default:
				panic(fmt.Sprintf("pdftest: a %T in Kerned", part))
			}
		}
		p.show(at(x, y), size, string(append(a, ']')), "TJ")
	}
}

// Turned writes s at an angle in degrees, counter-clockwise.
func Turned(x, y, size, degrees float64, s string) Item {
	sin, cos := math.Sincos(degrees * math.Pi / 180)
	matrix := fmt.Sprintf("%s %s %s %s %s %s Tm", number(cos), number(sin), number(-sin), number(cos), number(x), number(y))
	return func(p *page) { p.show(matrix, size, literal(p.font.encode(s)), "Tj") }
}

// In draws items in a font.
func In(f Font, items ...Item) Item {
	return func(p *page) {
		before := p.font
		p.font = f
		draw(p, items)
		p.font = before
	}
}

func within(open, end string, items []Item) Item {
	return func(p *page) {
		p.writef("%s\n", open)
		draw(p, items)
		p.writef("%s\n", end)
	}
}

// Invisible draws text that leaves no mark (render mode 3), as recognised
// text under a scan is.
func Invisible(items ...Item) Item { return within("q 3 Tr", "Q", items) }

// Colored fills with a colour; each part is from 0 to 1.
func Colored(r, g, b float64, items ...Item) Item {
	return within(fmt.Sprintf("q %s %s %s rg", number(r), number(g), number(b)), "Q", items)
}

// Raised shifts text up, as superscripts are written; negative is down.
func Raised(by float64, items ...Item) Item { return within("q "+number(by)+" Ts", "Q", items) }

// Content writes operators as they stand.
func Content(operators string) Item {
	return func(p *page) { p.writef("%s\n", operators) }
}

// Line draws a straight line.
func Line(x0, y0, x1, y1, width float64) Item {
	return Content(fmt.Sprintf("%s w %s %s m %s %s l S", number(width), number(x0), number(y0), number(x1), number(y1)))
}

// Box draws the edges of a rectangle.
func Box(x, y, w, h, width float64) Item {
	return Content(fmt.Sprintf("%s w %s %s %s %s re S", number(width), number(x), number(y), number(w), number(h)))
}

// Filled fills a rectangle with grey: 0 is black, 1 is white. A flat one is
// how some writers draw rules.
func Filled(x, y, w, h, grey float64) Item {
	return Content(fmt.Sprintf("q %s g %s %s %s %s re f Q", number(grey), number(x), number(y), number(w), number(h)))
}

// Picture draws an image over a rectangle.
func Picture(x, y, w, h float64, img *image.Gray) Item {
	return func(p *page) {
		name := p.doc.image(p, img)
		p.writef("q %s 0 0 %s %s %s cm /%s Do Q\n", number(w), number(h), number(x), number(y), name)
	}
}

// Link lays a link to an address over a rectangle.
func Link(x, y, w, h float64, url string) Item {
	return Annotation(x, y, w, h, Dict{"Subtype": Name("Link"), "Border": Array{0, 0, 0}, "A": Dict{"S": Name("URI"), "URI": String(url)}})
}

// Annotation lays any annotation over a rectangle.
func Annotation(x, y, w, h float64, d Dict) Item {
	return func(p *page) {
		a := Dict{"Type": Name("Annot"), "Rect": Array{x, y, x + w, y + h}, "P": p.self}
		maps.Copy(a, d)
		p.annots = append(p.annots, p.doc.file.Add(a))
	}
}

// Rotate turns the page for display: 90, 180 or 270 degrees clockwise.
func Rotate(degrees int) Item { return Set("Rotate", degrees) }

// PaperSize sets the size of the page instead of 612 by 792.
func PaperSize(w, h float64) Item { return Set("MediaBox", Array{0, 0, w, h}) }

// Set sets an entry of the page's dictionary.
func Set(key Name, v any) Item {
	return func(p *page) { p.dict[key] = v }
}
