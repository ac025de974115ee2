package layout

import (
	"fmt"
	"slices"
	"testing"
)

// grid draws the lines of a table.
func (b *builder) grid(xs, ys []float64) {
	for _, y := range ys {
		b.hrule(xs[0], xs[len(xs)-1], y)
	}
	for _, x := range xs {
		b.vrule(x, ys[0], ys[len(ys)-1])
	}
}

func TestARuledTableIsReadByItsLines(t *testing.T) {
	b := newPage(1)
	b.lines(72, 60, 10, 12, filler)
	b.grid([]float64{72, 172, 272, 372}, []float64{120, 140, 160, 190})
	for c, t := range []string{"Name", "Born", "Place"} {
		b.line(76+100*float64(c), 134, 10, t, with{font: strong})
	}
	b.line(76, 154, 10, "Ada")
	b.line(176, 154, 10, "1815")
	b.line(276, 154, 10, "London")
	b.line(76, 172, 10, "Charles")
	b.line(76, 184, 10, "Babbage")
	b.line(176, 172, 10, "1791")
	b.line(276, 172, 10, "Walworth")
	wantShown(t, read(nil, b), fillerText+`|!Name|!Born|!Place|
|Ada|1815|London|
|Charles Babbage|1791|Walworth|
`)
}

func TestCellsSpanWhereALineIsMissing(t *testing.T) {
	b := newPage(1)
	for _, y := range []float64{100, 120, 140, 160} {
		from := 72.0
		if y == 140 {
			from = 172 // the last cell of the first column takes two rows
		}
		b.hrule(from, 372, y)
	}
	b.vrule(72, 100, 160)
	b.vrule(172, 100, 160)
	b.vrule(272, 120, 160) // not in the first row
	b.vrule(372, 100, 160)
	b.line(76, 114, 10, "Year")
	b.line(210, 114, 10, "Tons of coal")
	b.line(76, 144, 10, "1890")
	b.line(176, 134, 10, "12")
	b.line(276, 134, 10, "13")
	b.line(176, 154, 10, "14")
	b.line(276, 154, 10, "15")
	wantShown(t, read(nil, b), `
|Year|(2x1)Tons of coal|
|(1x2)1890|12|13|
|14|15|
`)
}

func TestAFrameRoundProseIsNoTable(t *testing.T) {
	b := newPage(1)
	b.grid([]float64{60, 540}, []float64{80, 200})
	b.lines(72, 100, 10, 12, filler)
	wantShown(t, read(nil, b), fillerText)
}

func TestAPageLaidOutInBoxesIsNoTable(t *testing.T) {
	b := newPage(1)
	b.grid([]float64{60, 320, 580}, []float64{80, 300, 520})
	long := ""
	for i := range 11 {
		if i > 0 {
			long += "\n"
		}
		long += "one of many lines of prose in a box of a page"
	}
	for _, at := range [][2]float64{{66, 100}, {326, 100}, {66, 320}, {326, 320}} {
		b.lines(at[0], at[1], 10, 12, long)
	}
	for _, r := range read(nil, b) {
		for _, k := range r.Blocks {
			if k.Kind == Table {
				t.Errorf("prose in boxes was taken for a table:\n%s", show(read(nil, b)))
			}
		}
	}
}

func TestRowsThatAreOnlyShadedArePartedLikeTheOthers(t *testing.T) {
	b := newPage(1)
	b.grid([]float64{72, 172, 272, 372}, []float64{100, 120})
	b.hrule(72, 372, 140)
	b.vrule(72, 120, 140)
	b.vrule(372, 120, 140) // the second row has no lines within
	b.grid([]float64{72, 172, 272, 372}, []float64{140, 160})
	for r, row := range [][]string{{"Assam", "14", "25"}, {"Bihar", "21", "43"}, {"Goa", "40", "11"}} {
		for c, text := range row {
			b.line(76+100*float64(c), 114+20*float64(r), 10, text)
		}
	}
	wantShown(t, read(nil, b), `
|Assam|14|25|
|Bihar|21|43|
|Goa|40|11|
`)
}

func TestAColumnTitleThatIsTurnedStandsInItsCell(t *testing.T) {
	b := newPage(1)
	b.grid([]float64{72, 172, 202, 232}, []float64{100, 160, 180})
	b.line(76, 154, 10, "State")
	b.line(190, 155, 10, "Adults", with{angle: 90})
	b.line(220, 155, 10, "Children", with{angle: 90})
	b.line(76, 174, 10, "Assam")
	b.line(176, 174, 10, "14")
	b.line(206, 174, 10, "25")
	wantShown(t, read(nil, b), `
|State|Adults|Children|
|Assam|14|25|
`)
}

func TestGapsMakeATableWhereCellsAreShortAndAligned(t *testing.T) {
	b := newPage(1)
	b.lines(72, 60, 10, 12, filler)
	rows := [][3]string{{"Country", "People", "Capital"}, {"Austria", "8.9", "Vienna"}, {"Belgium", "11.5", "Brussels"}, {"Denmark", "5.8", "Copenhagen"}}
	for i, r := range rows {
		y := 130 + 14*float64(i)
		b.line(72, y, 10, r[0])
		b.line(200-5*float64(len(r[1])), y, 10, r[1]) // set flush right
		b.line(230, y, 10, r[2])
	}
	b.lines(72, 200, 10, 12, filler)
	wantShown(t, read(nil, b), fillerText+`|Country|People|Capital|
|Austria|8.9|Vienna|
|Belgium|11.5|Brussels|
|Denmark|5.8|Copenhagen|
`+fillerText)
}

func TestRulesAboveAndBelowAHeaderMarkIt(t *testing.T) {
	b := newPage(1)
	rows := [][3]string{{"Method", "Error", "Time"}, {"ours", "0.12", "3 s"}, {"theirs", "0.34", "12 s"}}
	for i, r := range rows {
		y := 130 + 14*float64(i)
		for c, text := range r {
			b.line(72+80*float64(c), y, 10, text)
		}
	}
	b.hrule(70, 300, 118)
	b.hrule(70, 300, 134)
	b.hrule(70, 300, 164)
	wantShown(t, read(nil, b), `
|!Method|!Error|!Time|
|ours|0.12|3 s|
|theirs|0.34|12 s|
`)
}

func TestTitlesWrittenColumnByColumnStandOverTheirColumns(t *testing.T) {
	b := newPage(1)
	b.lines(72, 60, 10, 12, filler)
	b.line(72, 140, 10, "State")
	b.line(180, 128, 10, "Total")
	b.line(180, 140, 10, "debt")
	b.line(260, 128, 10, "Market")
	b.line(260, 140, 10, "loans")
	for i, r := range [][3]string{{"Assam", "12.69", "10.02"}, {"Bihar", "40.75", "41.54"}, {"Goa", "1.40", "1.02"}} {
		y := 160 + 14*float64(i)
		b.line(72, y, 10, r[0])
		b.line(180, y, 10, r[1])
		b.line(260, y, 10, r[2])
	}
	wantShown(t, read(nil, b), fillerText+`|!State|!Total debt|!Market loans|
|Assam|12.69|10.02|
|Bihar|40.75|41.54|
|Goa|1.40|1.02|
`)
}

func TestDotsMayLeadToTheNumbersOfATable(t *testing.T) {
	b := newPage(1)
	for i, r := range [][3]string{{"Total", "11,062.6", "1,540.0"}, {"Robbery", "102.1", "25.5"}, {"Arson", "9.8", "4.3"}} {
		y := 100 + 14*float64(i)
		b.line(72, y, 10, r[0]+" . . . . . . . . . .")
		b.line(220-5*float64(len(r[1])), y, 10, r[1])
		b.line(280-5*float64(len(r[2])), y, 10, r[2])
	}
	wantShown(t, read(nil, b), `
|Total …|11,062.6|1,540.0|
|Robbery …|102.1|25.5|
|Arson …|9.8|4.3|
`)
}

func TestATableOfContentsIsLinesAndNoTable(t *testing.T) {
	t.Run("with dots", func(t *testing.T) {
		b := newPage(1)
		b.line(72, 100, 10, "1 Introduction . . . . . . . . . . . . . . . . . .")
		b.line(350, 100, 10, "3")
		b.line(72, 112, 10, "2 A chapter whose title is too long for one line and")
		b.line(82, 124, 10, "needs a second one . . . . . . . . . . . . .")
		b.line(350, 124, 10, "17")
		b.line(72, 136, 10, "3 Conclusion . . . . . . . . . . . . . . . . . . .")
		b.line(350, 136, 10, "99")
		wantShown(t, read(nil, b), "P 1 Introduction … 3⏎2 A chapter whose title is too long for one line and needs a second one … 17⏎3 Conclusion … 99\n")
	})
	t.Run("without", func(t *testing.T) {
		b := newPage(1)
		for i, title := range []string{"Introduction", "The methods of the study", "Results", "Conclusion"} {
			b.line(72, 100+12*float64(i), 10, title)
			b.line(400, 100+12*float64(i), 10, fmt.Sprint(3+7*i))
		}
		wantShown(t, read(nil, b), "P Introduction 3⏎The methods of the study 10⏎Results 17⏎Conclusion 24\n")
	})
}

func TestNumberedEquationsAreNoTable(t *testing.T) {
	b := newPage(1)
	for i := range 4 {
		b.line(150, 100+20*float64(i), 10, "x = y + z")
		b.line(400, 100+20*float64(i), 10, fmt.Sprintf("(%d)", i+1))
	}
	for _, k := range read(nil, b)[0].Blocks {
		if k.Kind == Table {
			t.Error("equations were taken for a table")
		}
	}
}

func TestTwoColumnsOfSentencesAreNoTable(t *testing.T) {
	b := newPage(1)
	left := []string{"the harbour was built long ago and", "nobody knows by whom it was, or", "what it was for, but ships still", "come there, and some of them stay"}
	right := []string{"over winter in it, since there is", "no better place along this coast", "for many miles to the north and", "none at all to the south of it."}
	for i := range left {
		b.line(72, 100+12*float64(i), 10, left[i])
		b.line(320, 100+12*float64(i), 10, right[i])
	}
	wantShown(t, read(nil, b), "P the harbour was built long ago and nobody knows by whom it was, or what it was for, but ships still come there, and some of them stay over winter in it, since there is no better place along this coast for many miles to the north and none at all to the south of it.\n")
}

func TestTaggedTablesComeFirst(t *testing.T) {
	b := newPage(1)
	words := []struct {
		x, y float64
		text string
	}{{72, 100, "Name"}, {180, 100, "Years"}, {72, 114, "Ada"}, {180, 114, "1815"}, {240, 114, "1852"}}
	for i, w := range words {
		b.line(w.x, w.y, 10, w.text, with{mcid: i + 1})
	}
	cell := func(kind string, id, span int) *Tag { return &Tag{Type: kind, ColSpan: span, MCIDs: []int{id}} }
	b.page.Tags = &Tag{Type: "Document", Kids: []*Tag{{Type: "Table", Kids: []*Tag{
		{Type: "THead", Kids: []*Tag{{Type: "TR", Kids: []*Tag{cell("TH", 0, 1), cell("TH", 1, 2)}}}},
		{Type: "TBody", Kids: []*Tag{{Type: "TR", Kids: []*Tag{
			{Type: "TD", Kids: []*Tag{{Type: "P", MCIDs: []int{2}}}}, cell("TD", 3, 1), cell("TD", 4, 1),
		}}}},
	}}}}
	wantShown(t, read(nil, b), `
|!Name|!(2x1)Years|
|Ada|1815|1852|
`)
}

func TestATaggedTableThatPlacesThingsIsNone(t *testing.T) {
	b := newPage(1)
	b.line(72, 100, 10, "Only one cell a row,", with{mcid: 1})
	b.line(72, 140, 10, "so nothing is tabular.", with{mcid: 2})
	b.page.Tags = &Tag{Type: "Table", Kids: []*Tag{
		{Type: "TR", Kids: []*Tag{{Type: "TD", MCIDs: []int{0}}}},
		{Type: "TR", Kids: []*Tag{{Type: "TD", MCIDs: []int{1}}}},
	}}
	wantShown(t, read(nil, b), "P Only one cell a row,\nP so nothing is tabular.\n")
}

func TestATablePaintedFromTheBottomUpIsReadFromTheTop(t *testing.T) {
	b := newPage(1)
	rows := [][3]string{{"Austria", "8.9", "Vienna"}, {"Belgium", "11.5", "Brussels"}, {"Denmark", "5.8", "Copenhagen"}, {"Finland", "5.5", "Helsinki"}}
	for i, r := range slices.Backward(rows) {
		y := 130 + 14*float64(i)
		b.line(230, y, 10, r[2])
		b.line(150, y, 10, r[1])
		b.line(72, y, 10, r[0])
	}
	wantShown(t, read(nil, b), `
|Austria|8.9|Vienna|
|Belgium|11.5|Brussels|
|Denmark|5.8|Copenhagen|
|Finland|5.5|Helsinki|
`)
}

func TestAPlotIsNoTable(t *testing.T) {
	b := newPage(1)
	b.grid([]float64{72, 100, 128, 156, 184}, []float64{100, 128, 156, 184})
	b.line(70, 98, 10, "y")
	b.line(190, 190, 10, "x")
	b.line(110, 115, 10, "+")
	b.line(140, 145, 10, "+")
	for _, k := range read(nil, b)[0].Blocks {
		if k.Kind == Table {
			t.Error("a plot was taken for a table")
		}
	}
}

func TestLinesOfCodeWithColumnsAreNoTable(t *testing.T) {
	b := newPage(1)
	b.lines(72, 60, 10, 12, filler)
	b.lines(72, 130, 10, 12, "apt-get update          apt update\napt-get upgrade         apt upgrade\napt-get remove package  apt remove package", with{font: typed})
	wantShown(t, read(nil, b), fillerText+"```\napt-get update          apt update\napt-get upgrade         apt upgrade\napt-get remove package  apt remove package\n```\n")
}

func TestATaggedTableOfTooManyCellsIsReadAsText(t *testing.T) {
	b := newPage(1)
	table := &Tag{Type: "Table"}
	for r := range 101 {
		row := &Tag{Type: "TR"}
		for c := range maxCells / 100 {
			row.Kids = append(row.Kids, &Tag{Type: "TD", MCIDs: []int{r*(maxCells/100) + c}})
		}
		table.Kids = append(table.Kids, row)
	}
	b.page.Tags = table
	for i, at := range []int{0, 1, maxCells / 100, maxCells/100 + 1} {
		b.line(72+200*float64(i%2), 100+100*float64(i/2), 10, "word", with{mcid: at + 1})
	}
	for _, k := range read(nil, b)[0].Blocks {
		if k.Kind == Table {
			t.Errorf("a table of %d rows", len(k.Rows))
		}
	}
}
