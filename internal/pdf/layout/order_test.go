package layout

import (
	"slices"
	"testing"
)

func TestTheOrderOfTheStreamIsKeptWhereColumnsAreReadToTheirEnd(t *testing.T) {
	b := newPage(1)
	b.lines(72, 100, 10, 12, "The left column is read first and\nall of it down to its last line\nbefore the right one begins.")
	b.lines(320, 100, 10, 12, "The right column stands at the\nsame height and comes after the\nleft one has ended.")
	wantShown(t, read(nil, b), `
P The left column is read first and all of it down to its last line before the right one begins.
P The right column stands at the same height and comes after the left one has ended.
`)
}

func TestColumnsThatTheStreamInterleavesAreReadOneAfterTheOther(t *testing.T) {
	left := []string{"Left column line one.", "Left column line two.", "Left column line three."}
	right := []string{"Right column line one.", "Right column line two.", "Right column line three."}
	b := newPage(1)
	for i := range left {
		b.line(72, 100+18*float64(i), 12, left[i])
		b.line(330, 100+18*float64(i), 12, right[i])
	}
	wantShown(t, read(nil, b), `
P Left column line one. Left column line two. Left column line three.
P Right column line one. Right column line two. Right column line three.
`)
}

func TestAFullWidthHeadingSplitsInterleavedColumns(t *testing.T) {
	b := newPage(1)
	b.line(72, 70, 20, "A Title Over Both Of The Columns")
	rows := [][2]string{
		{"the first column of the upper", "the second column of the upper"},
		{"part goes on for a few lines of", "part also goes on for a few more"},
		{"prose that is set in a column", "lines of prose set in a column"},
		{"and ends in this very line here", "and ends in this other line here"},
	}
	y := 110.0
	for _, r := range rows {
		b.line(72, y, 10, r[0])
		b.line(320, y, 10, r[1])
		y += 12
	}
	b.line(72, y+20, 10, "A line that reaches over the whole width of the page and parts the upper columns from what is below")
	y += 50
	for _, r := range rows {
		b.line(72, y, 10, "lower "+r[0])
		b.line(320, y, 10, "lower "+r[1])
		y += 12
	}
	wantShown(t, read(nil, b), `
# A Title Over Both Of The Columns
P the first column of the upper part goes on for a few lines of prose that is set in a column and ends in this very line here the second column of the upper part also goes on for a few more lines of prose set in a column and ends in this other line here
P A line that reaches over the whole width of the page and parts the upper columns from what is below
P lower the first column of the upper lower part goes on for a few lines of lower prose that is set in a column lower and ends in this very line here lower the second column of the upper lower part also goes on for a few more lower lines of prose set in a column lower and ends in this other line here
`)
}

func TestColumnsAtDifferentHeightsThatAlternateAreReadOneAfterTheOther(t *testing.T) {
	b := newPage(1)
	left := []string{"Here begins the left column which", "goes on for several lines that do", "not stand at the heights of those", "that are in the other column."}
	right := []string{"Here begins the right column with", "lines of its own that stand a bit", "lower than the lines to the left", "of them on the page."}
	for i := range left {
		b.line(72, 100+12*float64(i), 10, left[i])
		b.line(320, 106+12*float64(i), 10, right[i])
	}
	wantShown(t, read(nil, b), `
P Here begins the left column which goes on for several lines that do not stand at the heights of those that are in the other column.
P Here begins the right column with lines of its own that stand a bit lower than the lines to the left of them on the page.
`)
}

func TestLinesWrittenFromTheBottomUpAreReadFromTheTop(t *testing.T) {
	b := newPage(1)
	lines := []string{"Every line of this page was written", "by a program that began at the end", "of it and went upwards, which is a", "thing that some drivers do, and no", "reader wants to see it like that."}
	for i, l := range slices.Backward(lines) {
		b.line(72, 100+12*float64(i), 10, l)
	}
	wantShown(t, read(nil, b), `
P Every line of this page was written by a program that began at the end of it and went upwards, which is a thing that some drivers do, and no reader wants to see it like that.
`)
}

func TestAFooterWrittenFirstIsReadLast(t *testing.T) {
	b := newPage(1)
	b.line(72, 760, 8, "Printed by the harbour office")
	b.lines(72, 100, 10, 12, filler)
	wantShown(t, read(nil, b), fillerText+"P Printed by the harbour office\n")
}

func TestATitleWrittenLastIsReadFirst(t *testing.T) {
	b := newPage(1)
	b.lines(72, 100, 10, 12, filler)
	b.line(72, 60, 18, "A Title In Its Own Frame")
	wantShown(t, read(nil, b), "# A Title In Its Own Frame\n"+fillerText)
}

func TestAShortLastColumnBesideAFigureIsNoHeader(t *testing.T) {
	b := newPage(1)
	// The figure stands over the left column; the right one ends at the top.
	b.lines(72, 400, 10, 12, "The text of the left column begins\nunder a figure that takes most of\nthe page and goes on for a while.")
	b.lines(320, 100, 10, 12, "The right column has these lines\nonly, and they stand at the top.")
	wantShown(t, read(nil, b), `
P The text of the left column begins under a figure that takes most of the page and goes on for a while.
P The right column has these lines only, and they stand at the top.
`)
}

func TestWideSpacesInJustifiedTextAreNoColumns(t *testing.T) {
	b := newPage(1)
	// Spaces of more than a letter's size stand under each other in two lines.
	b.line(72, 100, 10, "a line of some words with wide")
	b.line(250, 100, 10, "spaces between two of its words")
	b.line(72, 112, 10, "and another with a wide space at")
	b.line(250, 112, 10, "the same place as in the first")
	b.line(72, 124, 10, "but the third line has none there and so it is one paragraph of text")
	wantShown(t, read(nil, b), `
P a line of some words with wide spaces between two of its words and another with a wide space at the same place as in the first but the third line has none there and so it is one paragraph of text
`)
}

func TestRotatedTextIsReadApartAfterTheRest(t *testing.T) {
	b := newPage(1)
	b.line(20, 500, 20, "arXiv:1234.5678v1 [cs.IR] 1 May 2026", with{angle: 90})
	b.lines(72, 100, 10, 12, filler)
	wantShown(t, read(nil, b), fillerText+"P arXiv:1234.5678v1 [cs.IR] 1 May 2026\n")
}

func TestAPageWhoseTextIsAllRotatedIsReadUpright(t *testing.T) {
	b := newPage(1)
	for i, l := range []string{"The page is a table in landscape", "that was turned by a quarter so", "that it fits on the paper."} {
		b.line(100+12*float64(i), 700, 10, l, with{angle: 90})
	}
	wantShown(t, read(nil, b), `
P The page is a table in landscape that was turned by a quarter so that it fits on the paper.
`)
}
