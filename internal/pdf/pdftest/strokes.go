package pdftest

import (
	"fmt"
	"image"
	"image/color"
	"math"
	"strconv"
	"strings"
)

// The lettering of pictures: each character as the way of a pen, on a grid
// with the baseline at 0, capitals 14 and small letters 9 high. M goes to a
// point, L draws a line, Q a quadratic curve (control point, end), E an arc
// of an ellipse (centre, radii, angles in degrees). The first number is the
// width. It is enough for a recogniser of text to read, and needs no font
// file.
func strokes(r rune) (string, bool) {
	s, ok := map[rune]string{
		' ': "5",
		'A': "10 M 0 0 L 5 14 L 10 0 M 1.8 5 L 8.2 5",
		'B': "9.4 M 0 0 L 0 14 L 5 14 Q 8.6 14 8.6 10.6 Q 8.6 7.3 5 7.3 L 0 7.3 M 5 7.3 Q 9.4 7.3 9.4 3.7 Q 9.4 0 5 0 L 0 0",
		'C': "9.6 E 5.4 7 5.4 7 42 318",
		'D': "10 M 0 0 L 0 14 L 4 14 Q 10 14 10 7 Q 10 0 4 0 L 0 0",
		'E': "8.6 M 8.4 14 L 0 14 L 0 0 L 8.6 0 M 0 7.3 L 7.4 7.3",
		'F': "8 M 8.2 14 L 0 14 L 0 0 M 0 7.2 L 7 7.2",
		'G': "10 E 5.4 7 5.4 7 42 325 M 9.9 2.9 L 9.9 6.6 L 6 6.6",
		'H': "9.5 M 0 0 L 0 14 M 9.5 0 L 9.5 14 M 0 7.3 L 9.5 7.3",
		'I': "2 M 1 0 L 1 14",
		'J': "5.5 M 5.5 14 L 5.5 3.5 Q 5.5 0 2.8 0 Q 0 0 0 3.6",
		'K': "9.2 M 0 0 L 0 14 M 9 14 L 0 4.8 M 3.3 8.1 L 9.4 0",
		'L': "7.6 M 0 14 L 0 0 L 8 0",
		'M': "11 M 0 0 L 0 14 L 5.5 1 L 11 14 L 11 0",
		'N': "9.5 M 0 0 L 0 14 L 9.5 0 L 9.5 14",
		'O': "11.2 E 5.6 7 5.6 7 0 360",
		'P': "9 M 0 0 L 0 14 L 5 14 Q 9 14 9 10.2 Q 9 6.4 5 6.4 L 0 6.4",
		'Q': "11.2 E 5.6 7 5.6 7 0 360 M 6.5 3.5 L 10.8 -0.8",
		'R': "9.4 M 0 0 L 0 14 L 5 14 Q 9 14 9 10.2 Q 9 6.4 5 6.4 L 0 6.4 M 5 6.4 L 9.4 0",
		'S': "9.4 M 8.8 11.2 Q 7.8 14 4.7 14 Q 0.7 14 0.7 10.6 Q 0.7 7.9 4.7 7.2 Q 9.4 6.4 9.4 3.6 Q 9.4 0 4.8 0 Q 0.8 0 0 3.2",
		'T': "9.6 M 0 14 L 9.6 14 M 4.8 14 L 4.8 0",
		'U': "9.4 M 0 14 L 0 4.5 Q 0 0 4.7 0 Q 9.4 0 9.4 4.5 L 9.4 14",
		'V': "10 M 0 14 L 5 0 L 10 14",
		'W': "13.6 M 0 14 L 3.4 0 L 6.8 14 L 10.2 0 L 13.6 14",
		'X': "9.4 M 0 14 L 9.4 0 M 9.4 14 L 0 0",
		'Y': "9.6 M 0 14 L 4.8 6.5 L 9.6 14 M 4.8 6.5 L 4.8 0",
		'Z': "9.4 M 0.3 14 L 9 14 L 0 0 L 9.4 0",
		'a': "7 M 0.8 7.5 Q 2 9 4 9 Q 7 9 7 6 L 7 0 M 7 5.2 L 3.5 5.2 Q 0 5.2 0 2.6 Q 0 0 3 0 Q 6 0 7 2.5",
		'b': "7 M 0 14 L 0 0 E 3.5 4.5 3.5 4.5 0 360",
		'c': "6.6 E 3.8 4.5 3.8 4.5 45 315",
		'd': "7 M 7 14 L 7 0 E 3.5 4.5 3.5 4.5 0 360",
		'e': "7 M 0.2 4.9 L 7 4.9 E 3.6 4.5 3.5 4.5 5 320",
		'f': "4.2 M 4.5 14 Q 2 14 2 11 L 2 0 M 0 9 L 4.2 9",
		'g': "7 E 3.5 4.5 3.5 4.5 0 360 M 7 9 L 7 -1 Q 7 -4.3 3.5 -4.3 Q 1.5 -4.3 0.5 -3.2",
		'h': "6.8 M 0 14 L 0 0 M 0 5.5 Q 0.8 9 4 9 Q 6.8 9 6.8 6 L 6.8 0",
		'i': "2 M 1 9 L 1 0 M 1 12.6 L 1 12.9",
		'j': "2 M 2 9 L 2 -2.2 Q 2 -4.3 0 -4.2 M 2 12.6 L 2 12.9",
		'k': "6.4 M 0 14 L 0 0 M 6 9 L 0 3.5 M 2.3 5.6 L 6.5 0",
		'l': "2.4 M 1 14 L 1 2 Q 1 0 2.8 0",
		'm': "10 M 0 9 L 0 0 M 0 6 Q 1 9 3 9 Q 5 9 5 6.5 L 5 0 M 5 6 Q 6 9 8 9 Q 10 9 10 6.5 L 10 0",
		'n': "6.8 M 0 9 L 0 0 M 0 5.5 Q 0.8 9 4 9 Q 6.8 9 6.8 6 L 6.8 0",
		'o': "7.2 E 3.6 4.5 3.6 4.5 0 360",
		'p': "7 M 0 9 L 0 -4.3 E 3.5 4.5 3.5 4.5 0 360",
		'q': "7 M 7 9 L 7 -4.3 E 3.5 4.5 3.5 4.5 0 360",
		'r': "4 M 0 9 L 0 0 M 0 5.5 Q 1 9 4 9",
		's': "6.2 M 6 7.5 Q 5.2 9 3.2 9 Q 0.6 9 0.6 6.8 Q 0.6 4.9 3.2 4.6 Q 6.2 4.2 6.2 2.3 Q 6.2 0 3.2 0 Q 0.8 0 0 1.8",
		't': "4.4 M 2 12 L 2 2.5 Q 2 0 4.6 0.1 M 0 9 L 4.4 9",
		'u': "6.8 M 0 9 L 0 3 Q 0 0 3 0 Q 6 0 6.8 3.5 M 6.8 9 L 6.8 0",
		'v': "6.6 M 0 9 L 3.3 0 L 6.6 9",
		'w': "9.6 M 0 9 L 2.4 0 L 4.8 9 L 7.2 0 L 9.6 9",
		'x': "6.4 M 0 9 L 6.4 0 M 6.4 9 L 0 0",
		'y': "6.8 M 0 9 L 3.4 0.3 M 6.8 9 L 2.6 -2.5 Q 1.9 -4.3 0 -4.2",
		'z': "6.2 M 0.2 9 L 6 9 L 0 0 L 6.3 0",
		'0': "8 E 4 7 4 7 0 360",
		'1': "6 M 0.8 11 Q 3 12 3.8 14 L 3.8 0",
		'2': "8 M 0.2 10.5 Q 0.6 14 4 14 Q 7.7 14 7.7 10.6 Q 7.7 8 4 4.8 Q 0.8 2 0.2 0 L 8 0",
		'3': "8 M 0.4 11.2 Q 1 14 3.8 14 Q 7.2 14 7.2 10.8 Q 7.2 7.5 3 7.5 M 3 7.5 Q 7.8 7.5 7.8 3.8 Q 7.8 0 3.8 0 Q 0.5 0 0 3.2",
		'4': "8.4 M 6 0 L 6 14 L 0 4.3 L 8.4 4.3",
		'5': "8 M 7.2 14 L 1.3 14 L 0.7 7.2 Q 2 8.9 4 8.9 Q 7.9 8.9 7.9 4.6 Q 7.9 0 3.8 0 Q 0.7 0 0 3",
		'6': "8 E 4.1 4.5 4 4.5 0 360 M 7.4 11.6 Q 6.6 14 4.4 14 Q 0.1 14 0.1 5.5 L 0.1 4.5",
		'7': "8 M 0 14 L 8 14 Q 3.6 8.5 2.6 0",
		'8': "8 E 4 10.6 3.3 3.4 0 360 E 4 3.7 4 3.7 0 360",
		'9': "8 E 3.9 9.5 4 4.5 0 360 M 0.6 2.4 Q 1.4 0 3.6 0 Q 7.9 0 7.9 8.5 L 7.9 9.5",
		'.': "1.6 M 0.8 0 L 0.8 0.3", ',': "2 M 1.2 0.3 L 1.2 0 L 0.3 -2.4",
		':': "1.6 M 0.8 0 L 0.8 0.3 M 0.8 8 L 0.8 8.3", ';': "2 M 1.2 0.3 L 1.2 0 L 0.3 -2.4 M 1 8 L 1 8.3",
		'-': "4.4 M 0 5 L 4.4 5", '_': "8 M 0 -2 L 8 -2", '+': "8 M 4 1 L 4 9 M 0 5 L 8 5", '=': "8 M 0 3.4 L 8 3.4 M 0 6.8 L 8 6.8",
		'\'': "1.2 M 0.6 14 L 0.6 10.5", '"': "3.6 M 0.4 14 L 0.4 10.5 M 3.2 14 L 3.2 10.5",
		'(': "3 M 3 15 Q -2 6 3 -3", ')': "3 M 0 15 Q 5 6 0 -3", '/': "6 M 0 -1 L 6 15",
		'?': "7 M 0.2 11 Q 0.8 14 3.5 14 Q 7 14 7 10.8 Q 7 8.8 5 7.4 Q 3.4 6.2 3.4 4 M 3.4 0 L 3.4 0.3", '!': "1.6 M 0.8 14 L 0.8 4.4 M 0.8 0 L 0.8 0.3",
		'%': "12 E 2.6 11 2.6 3 0 360 E 9.4 3 2.6 3 0 360 M 9.6 14 L 2.4 0",
	}[r]
	return s, ok
}

type point struct{ x, y float64 }

// lettering gives the lines of s, scaled and put at x, y with y growing
// upwards, and where the pen ends.
func lettering(x, y, scale float64, s string) (lines [][]point, end float64) {
	for _, r := range s {
		glyph, ok := strokes(r)
		if !ok {
			panic(fmt.Sprintf("pdftest: pictures have no %q", r))
		}
		words := strings.Fields(glyph)
		next := func() float64 {
			v, err := strconv.ParseFloat(words[0], 64)
			if err != nil {
				panic(err)
			}
			words = words[1:]
			return v
		}
		to := func(p point) point { return point{x + p.x*scale, y + p.y*scale} }
		width := next()
		var pen point
		add := func(p point) {
			lines[len(lines)-1] = append(lines[len(lines)-1], to(p))
			pen = p
		}
		for len(words) > 0 {
			op := words[0]
			words = words[1:]
			switch op {
			case "M":
				pen = point{next(), next()}
				lines = append(lines, []point{to(pen)})
			case "L":
				add(point{next(), next()})
			case "Q":
				a, c, b := pen, point{next(), next()}, point{next(), next()}
				for i := 1; i <= 8; i++ {
					t := float64(i) / 8
					u := 1 - t
					add(point{u*u*a.x + 2*u*t*c.x + t*t*b.x, u*u*a.y + 2*u*t*c.y + t*t*b.y})
				}
			case "E":
				cx, cy, rx, ry, from, till := next(), next(), next(), next(), next(), next()
				lines = append(lines, nil)
				for i := range 25 {
					sin, cos := math.Sincos((from + (till-from)*float64(i)/24) * math.Pi / 180)
					add(point{cx + rx*cos, cy + ry*sin})
				}
			}
		}
		x += (width + 3) * scale
	}
	return lines, x
}

// Drawn draws s as lines, without any text: what a program leaves that turns
// letters into outlines. size is that of a font of the same look.
func Drawn(x, y, size float64, s string) Item {
	return func(p *page) {
		lines, _ := lettering(x, y, size/20, s)
		p.writef("q 1 J 1 j %s w\n", number(size/12))
		for _, l := range lines {
			for i, pt := range l {
				op := "l"
				if i == 0 {
					op = "m"
				}
				p.writef("%s %s %s\n", number(pt.x), number(pt.y), op)
			}
		}
		p.writef("S Q\n")
	}
}

// Photo is a sheet of white paper with lines of text on it, as a scanner
// gives it: 8.5 by 11 inches at the given dots per inch, the letters about 14
// points.
func Photo(dpi int, text string) *image.Gray {
	img := image.NewGray(image.Rect(0, 0, dpi*17/2, dpi*11))
	for i := range img.Pix {
		img.Pix[i] = 0xf8
	}
	inch := float64(dpi)
	scale := inch / 72 * 0.7
	for i, line := range strings.Split(text, "\n") {
		lines, end := lettering(inch, -(inch*1.2 + float64(i)*inch/72*24), scale, line)
		if end > inch*8 {
			panic("pdftest: a line is too long for the picture: " + line)
		}
		for _, l := range lines {
			stroke(img, l, scale*0.85)
		}
	}
	return img
}

// stroke draws a line with a round pen, its edge smoothed over one dot.
func stroke(img *image.Gray, line []point, radius float64) {
	for i := 1; i < len(line); i++ {
		a, b := line[i-1], line[i]
		a.y, b.y = -a.y, -b.y
		dx, dy := b.x-a.x, b.y-a.y
		length := dx*dx + dy*dy
		for y := int(min(a.y, b.y) - radius - 1); y <= int(max(a.y, b.y)+radius+1); y++ {
			for x := int(min(a.x, b.x) - radius - 1); x <= int(max(a.x, b.x)+radius+1); x++ {
				px, py := float64(x)-a.x, float64(y)-a.y
				t := 0.0
				if length > 0 {
					t = min(max((px*dx+py*dy)/length, 0), 1)
				}
				ink := min(max(radius-math.Hypot(px-t*dx, py-t*dy)+0.5, 0), 1)
				if grey := uint8(0xf0 * (1 - ink)); ink > 0 && grey < img.GrayAt(x, y).Y {
					img.SetGray(x, y, color.Gray{Y: grey})
				}
			}
		}
	}
}
