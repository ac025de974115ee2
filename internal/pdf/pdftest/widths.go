package pdftest

import (
	"strconv"
	"strings"
)

// advances are the widths of the printable ASCII characters, the space first,
// in thousandths of the size (Adobe's metrics of the core fonts). After them
// stand those of ‘ ’ “ ” • – — § ×.
func advances(font string) []string {
	switch font {
	case Helvetica:
		return strings.Fields("278 278 355 556 556 889 667 191 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 556 556 278 278 584 584 584 556" +
			" 1015 667 667 722 722 667 611 778 722 278 500 667 556 833 722 778 667 778 722 667 611 722 667 944 667 667 611 278 278 278 469 556" +
			" 333 556 556 500 556 556 278 556 556 222 222 500 222 833 556 556 556 556 333 500 278 556 500 722 500 500 500 334 260 334 584 222" +
			" 222 333 333 350 556 1000 556 584")
	case HelveticaBold:
		return strings.Fields("278 333 474 556 556 889 722 238 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 556 556 333 333 584 584 584 611" +
			" 975 722 722 722 722 667 611 778 722 278 556 722 611 833 722 778 667 778 722 667 611 722 667 944 667 667 611 333 278 333 584 556" +
			" 333 556 611 556 611 556 333 611 611 278 278 556 278 889 611 611 611 611 389 556 333 611 556 778 556 556 500 389 280 389 584 278" +
			" 278 500 500 350 556 1000 556 584")
	case TimesRoman:
		return strings.Fields("250 333 408 500 500 833 778 180 333 333 500 564 250 333 250 278 500 500 500 500 500 500 500 500 500 500 278 278 564 564 564 444" +
			" 921 722 667 667 722 611 556 722 722 333 389 722 611 889 722 722 556 722 667 556 611 722 722 944 722 722 611 333 278 333 469 500" +
			" 333 444 500 444 500 444 333 500 500 278 278 500 278 778 500 500 500 500 333 389 278 500 500 722 500 500 444 480 200 480 541 333" +
			" 333 444 444 350 500 1000 500 564")
	case TimesBold:
		return strings.Fields("250 333 555 500 500 1000 833 278 333 333 500 570 250 333 250 278 500 500 500 500 500 500 500 500 500 500 333 333 570 570 570 500" +
			" 930 722 667 722 722 667 611 778 778 389 500 778 667 944 722 778 611 778 722 556 667 722 722 1000 722 722 667 333 278 333 581 500" +
			" 333 500 556 444 556 444 333 500 556 278 333 556 278 833 556 500 556 556 444 389 333 556 500 722 500 500 444 394 220 394 520 333" +
			" 333 500 500 350 500 1000 500 570")
	case TimesItalic:
		return strings.Fields("250 333 420 500 500 833 778 214 333 333 500 675 250 333 250 278 500 500 500 500 500 500 500 500 500 500 333 333 675 675 675 500" +
			" 920 611 611 667 722 611 611 722 722 333 444 667 556 833 667 722 611 722 611 500 556 722 611 833 611 556 556 389 278 389 422 500" +
			" 333 500 500 444 500 444 278 500 500 278 278 444 278 722 500 500 500 500 389 389 278 500 444 667 444 444 389 400 275 400 541 333" +
			" 333 556 556 350 500 889 500 675")
	}
	panic("pdftest: no metrics of " + font)
}

// metrics gives widths of text in one of the fonts that every reader has.
type metrics struct {
	of    map[rune]float64
	fixed float64
}

func newMetrics(font string) metrics {
	if font == Courier || font == CourierBold {
		return metrics{fixed: 0.6}
	}
	m := metrics{of: map[rune]float64{}}
	var chars []rune
	for c := rune(0x20); c < 0x7f; c++ {
		chars = append(chars, c)
	}
	chars = append(chars, []rune("‘’“”•–—§×")...)
	widths := advances(font)
	for i, c := range chars {
		w, err := strconv.Atoi(widths[i])
		if err != nil {
			panic(err)
		}
		m.of[c] = float64(w) / 1000
	}
	// Accents do not change the width of a letter.
	for i, c := range []rune("áéíóúäöüåÖ") {
		m.of[c] = m.of[[]rune("aeiouaouaO")[i]]
	}
	return m
}

// width of s at size 1.
func (m metrics) width(s string) float64 {
	if m.fixed != 0 {
		return m.fixed * float64(len([]rune(s)))
	}
	total := 0.0
	for _, r := range s {
		w, ok := m.of[r]
		if !ok {
			panic("pdftest: no width of " + string(r))
		}
		total += w
	}
	return total
}
