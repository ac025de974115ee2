package pdftest

import (
	"fmt"
	"math"
	"strings"
)

// PaperFacts is what a reader should find in Paper.
type PaperFacts struct {
	Title      string
	Authors    []string
	Abstract   string
	Headings   []string   // in order, with their numbers
	Paragraphs []string   // in order, lines joined and marks of footnotes left out; also the items of the list
	SoftBreaks []string   // words that a line end parts with a hyphen that is not theirs
	RealBreaks []string   // words that a line end parts at their own hyphen
	Ruled      [][]string // the table with ruling lines
	Unruled    [][]string // the table without
	Captions   []string
	Footnotes  []string
	References []string
	Code       []string // its lines
	Header     string   // stands on every page but the first
	Pages      int
	HeadingsOn [][]string // for each page the headings that begin on it
}

// Paper is a paper as journals print them: a title block over two columns of
// justified text with ligatures and no space characters, line-end hyphens of
// both kinds, two tables, a figure, footnotes, running headers, an outline
// and metadata. It is untagged, as most are.
func Paper() []byte {
	file, _ := paper()
	return file
}

// PaperExpected says what stands in Paper.
func PaperExpected() PaperFacts {
	_, facts := paper()
	return facts
}

const (
	paperTop, paperBottom = 706.0, 90.0
	paperLeft, paperWidth = 70.0, 222.0
	paperGap              = 28.0
)

// setter sets text in columns. It is a small part of what a typesetting
// program does: greedy lines, hyphens where the source allows them, notes at
// the foot of the column that cites them.
type setter struct {
	doc     *Document
	facts   PaperFacts
	metrics map[string]metrics

	page   []Item
	column int
	y      float64 // the top of what comes next
	top    float64 // of the columns of this page
	bottom float64 // of this column: higher where it has notes
	notes  []note
}

type note struct{ mark, text string }

// style is how a run of words is set.
type style struct {
	size, leading, width, indent float64
	font                         string
}

func bodyStyle() style {
	return style{size: 11, leading: 14, width: paperWidth, indent: 12, font: TimesRoman}
}

// ligated is a font with the ligatures of old TeX fonts.
func ligated(name string) Font { return Font{Name: name, Glyphs: map[byte]string{2: "fi", 3: "fl"}} }

func (s *setter) width(font, text string, size float64) float64 {
	m, ok := s.metrics[font]
	if !ok {
		m = newMetrics(font)
		s.metrics[font] = m
	}
	w := m.width(text)
	if strings.HasPrefix(font, "Times") {
		// The ligatures are narrower than their letters.
		w -= 0.055 * float64(strings.Count(text, "fi")+strings.Count(text, "fl"))
	}
	return w * size
}

// word is a word, or what of it stands in one line.
type word struct {
	text, font, mark string
}

func (s *setter) wordWidth(w word, size float64) float64 {
	return s.width(w.font, w.text, size) + s.width(TimesRoman, w.mark, size*0.7)
}

// words reads the marks of the source.
func words(text, font string) []word {
	var out []word
	for f := range strings.FieldsSeq(text) {
		w := word{font: font}
		f, w.mark, _ = strings.Cut(f, "^")
		if rest, ok := strings.CutPrefix(f, "_"); ok {
			w.font, f = TimesItalic, rest
		}
		w.text = f
		out = append(out, w)
	}
	return out
}

func plain(text string) string {
	var parts []string
	for _, w := range words(text, TimesRoman) {
		parts = append(parts, strings.ReplaceAll(w.text, "|", ""))
	}
	return strings.Join(parts, " ")
}

// breaks lists the ways to part a word, the longest first part first.
func breaks(text string) (heads, tails []string, soft []bool) {
	for i := len(text) - 1; i > 0; i-- {
		switch text[i] {
		case '|':
			heads, tails, soft = append(heads, strings.ReplaceAll(text[:i], "|", "")+"-"), append(tails, text[i+1:]), append(soft, true)
		case '-':
			if i < len(text)-1 {
				heads, tails, soft = append(heads, strings.ReplaceAll(text[:i+1], "|", "")), append(tails, text[i+1:]), append(soft, false)
			}
		}
	}
	return heads, tails, soft
}

// lines breaks words into lines and notes what it parts.
func (s *setter) lines(ws []word, st style, first float64) [][]word {
	var out [][]word
	var line []word
	space := 0.25 * st.size
	room := st.width - first
	used := 0.0
	end := func() {
		out, line, used, room = append(out, line), nil, 0, st.width
	}
	for _, w := range ws {
		whole := strings.ReplaceAll(w.text, "|", "")
		for {
			before := used
			if len(line) > 0 {
				before += space
			}
			fit := word{strings.ReplaceAll(w.text, "|", ""), w.font, w.mark}
			if width := s.wordWidth(fit, st.size); before+width <= room {
				line, used = append(line, fit), before+width
				break
			}
			heads, tails, soft := breaks(w.text)
			parted := false
			for i, h := range heads {
				part := word{text: h, font: w.font}
				if len(h) < 3 || before+s.wordWidth(part, st.size) > room {
					continue
				}
				line = append(line, part)
				if bare := strings.Trim(whole, ".,;:"); soft[i] {
					s.facts.SoftBreaks = append(s.facts.SoftBreaks, bare)
				} else {
					s.facts.RealBreaks = append(s.facts.RealBreaks, bare)
				}
				w.text, parted = tails[i], true
				break
			}
			if !parted && len(line) == 0 {
				panic("pdftest: no line is wide enough for " + whole)
			}
			end()
		}
	}
	if len(line) > 0 {
		end()
	}
	return out
}

// setLine draws a line of words, spread over the width if it is not the last
// of its paragraph: one text object for each font, gaps made by kerning.
func (s *setter) setLine(x, y float64, line []word, st style, width float64, spread bool) {
	natural := 0.0
	for _, w := range line {
		natural += s.wordWidth(w, st.size)
	}
	gap := 0.25 * st.size
	if spread && len(line) > 1 {
		gap = (width - natural) / float64(len(line)-1)
	}
	for i := 0; i < len(line); {
		font, start := line[i].font, x
		var parts []any
		var mark Item
		for ; i < len(line) && line[i].font == font; i++ {
			if len(parts) > 0 {
				parts = append(parts, -math.Round(gap/st.size*1000))
			}
			parts = append(parts, line[i].text)
			x += s.wordWidth(line[i], st.size) + gap
			if m := line[i].mark; m != "" {
				mark = In(Font{Name: TimesRoman}, Text(x-gap-s.width(TimesRoman, m, st.size*0.7), y+st.size*0.35, st.size*0.7, m))
				i++
				break
			}
		}
		s.page = append(s.page, In(ligated(font), Kerned(start, y, st.size, parts...)))
		if mark != nil {
			s.page = append(s.page, mark)
		}
	}
}

func (s *setter) x() float64 { return paperLeft + float64(s.column)*(paperWidth+paperGap) }

// room makes sure that height is left in the column.
func (s *setter) room(height float64) {
	if s.y-height < s.bottom {
		s.nextColumn()
	}
}

func (s *setter) nextColumn() {
	s.endColumn()
	if s.column == 1 {
		s.endPage()
		s.startPage()
		return
	}
	s.column, s.y, s.bottom = 1, s.top, paperBottom
}

// endColumn sets the notes of the column at its foot.
func (s *setter) endColumn() {
	if len(s.notes) == 0 {
		return
	}
	y := s.bottom - 4
	s.page = append(s.page, Line(s.x(), y, s.x()+70, y, 0.4))
	st := noteStyle()
	y -= 2
	for _, n := range s.notes {
		mark := word{text: n.mark, font: TimesRoman}
		for i, l := range s.lines(append([]word{mark}, words(n.text, TimesRoman)...), st, 0) {
			y -= st.leading
			if i == 0 {
				s.page = append(s.page, In(Font{Name: TimesRoman}, Text(s.x(), y+2.5, 5.5, n.mark)))
				s.setLine(s.x()+6, y, l[1:], st, 0, false)
				continue
			}
			s.setLine(s.x(), y, l, st, 0, false)
		}
	}
	s.notes = nil
}

func noteStyle() style { return style{size: 8, leading: 9.4, width: paperWidth, font: TimesRoman} }

func (s *setter) startPage() {
	s.page, s.column, s.top, s.bottom = nil, 0, paperTop, paperBottom
	s.y = s.top
	s.facts.Pages++
	s.facts.HeadingsOn = append(s.facts.HeadingsOn, nil)
	if s.facts.Pages > 1 {
		s.page = append(s.page, In(Font{Name: TimesItalic}, Text(paperLeft, 748, 9, paperHeader)), Line(paperLeft, 743, 612-paperLeft, 743, 0.4))
	}
}

func (s *setter) endPage() {
	s.page = append(s.page, In(Font{Name: TimesRoman}, Text(303, 52, 9, fmt.Sprint(s.facts.Pages))))
	s.doc.Page(s.page...)
}

// paragraph sets text in the column. When it cites notes, they are added to
// the column where it begins.
func (s *setter) paragraph(text string, st style, first float64, notes []note) {
	ls := s.lines(words(text, st.font), st, first)
	for i, l := range ls {
		height := 0.0
		if i == 0 {
			for _, n := range notes {
				height += 6 + noteStyle().leading*math.Ceil((s.width(TimesRoman, n.text, 8)+8)/(paperWidth-8))
			}
			// The mark is to stand in the same column as its note.
			if len(notes) > 0 {
				s.room(height + st.leading*float64(min(len(ls), 9)))
			}
		}
		s.room(height + st.leading)
		if i == 0 {
			s.notes = append(s.notes, notes...)
			s.bottom += height
		}
		indent := 0.0
		if i == 0 {
			indent = first
		}
		s.setLine(s.x()+indent, s.y-st.size, l, st, st.width-indent, i < len(ls)-1)
		s.y -= st.leading
	}
}

func (s *setter) heading(level int, title string) {
	size := 13.0
	if level == 2 {
		size = 11
	}
	s.room(size + 50)
	if s.y < s.top {
		s.y -= size * 0.7
	}
	number, rest, numbered := strings.Cut(title, " ")
	y := s.y - size
	if numbered && number[0] >= '0' && number[0] <= '9' {
		s.page = append(s.page, In(ligated(TimesBold), Kerned(s.x(), y, size, number, -1000, rest)))
	} else {
		s.page = append(s.page, In(ligated(TimesBold), Kerned(s.x(), y, size, spaced(title)...)))
	}
	s.facts.Headings = append(s.facts.Headings, title)
	on := &s.facts.HeadingsOn[s.facts.Pages-1]
	*on = append(*on, title)
	b := Bookmark{Title: title, Page: s.facts.Pages, Y: s.y}
	if outline := s.doc.Outline; level == 2 {
		last := &outline[len(outline)-1]
		last.Kids = append(last.Kids, b)
	} else {
		s.doc.Outline = append(outline, b)
	}
	s.y -= size + 6
}

// spaced is a text for Kerned whose spaces are kerning.
func spaced(text string) []any {
	var parts []any
	for i, w := range strings.Fields(text) {
		if i > 0 {
			parts = append(parts, -250)
		}
		parts = append(parts, w)
	}
	return parts
}

func (s *setter) caption(text string) {
	s.facts.Captions = append(s.facts.Captions, text)
	s.paragraph(text, style{size: 9, leading: 10.8, width: paperWidth, font: TimesRoman}, 0, nil)
	s.y -= 4
}

func (s *setter) table(caption string, rows [][]string, widths []float64, ruled bool) {
	s.room(30 + 18*float64(len(rows)) + 14)
	s.y -= 4
	s.caption(caption)
	if ruled {
		s.page = append(s.page, Ruled(s.x(), s.y, widths, rows))
		s.y -= 18 * float64(len(rows))
	} else {
		s.page = append(s.page, Unruled(s.x(), s.y-12, widths, 14, rows))
		s.y -= 14*float64(len(rows)) + 4
	}
	s.y -= 12
}

// figure draws a chart with its axes and labels.
func (s *setter) figure() {
	s.room(190)
	x, bottom := s.x()+36, s.y-140
	s.page = append(s.page, Line(x, bottom, x+180, bottom, 0.8), Line(x, bottom, x, bottom+125, 0.8))
	for i := range 5 {
		at := bottom + 30*float64(i)
		s.page = append(s.page, Line(x-3, at, x, at, 0.5), Text(x-24, at-2.5, 7, fmt.Sprint(i*50)))
	}
	for i, month := range []string{"Jan", "Mar", "May", "Jul", "Sep", "Nov"} {
		s.page = append(s.page, Text(x+4+30*float64(i), bottom-11, 7, month))
	}
	gauges := []float64{118, 96, 88, 71, 63, 58, 74, 142, 97, 109, 121, 111}
	for i, v := range gauges {
		s.page = append(s.page, Filled(x+4+15*float64(i), bottom, 6, v*0.6, 0.75), Filled(x+10+15*float64(i), bottom, 6, v*0.6*(0.94+0.01*float64(i)), 0.35))
	}
	s.page = append(s.page, Turned(x-29, bottom+40, 7, 90, "Rain in mm"))
	s.y = bottom - 22
	s.caption("Figure 1: Rain of each month by the gauges (light) and by the roofs (dark), the mean of all.")
	s.y -= 8
}

func (s *setter) titleBlock() {
	centred := func(y, size float64, font, text string) {
		total := s.width(font, text, size)
		s.page = append(s.page, In(ligated(font), Kerned(306-total/2, y, size, spaced(text)...)))
	}
	s.page = append(s.page, In(Font{Name: TimesRoman}, Text(paperLeft, 752, 8, "Preprint of the Institute of Coastal Weather, 14 May 2024")))
	centred(706, 19, TimesBold, "Listening for Rain: Estimating Rainfall")
	centred(684, 19, TimesBold, "from the Sound of Roofs")
	centred(658, 11, TimesRoman, strings.Join(s.facts.Authors, ", "))
	centred(644, 10, TimesItalic, "Institute of Coastal Weather, Port Alder")
	centred(620, 11, TimesBold, "Abstract")
	st := style{size: 9.5, leading: 11.4, width: 410, font: TimesRoman}
	y := 603.0
	ls := s.lines(words(paperAbstract, TimesRoman), st, 0)
	for i, l := range ls {
		s.setLine(101, y, l, st, st.width, i < len(ls)-1)
		y -= st.leading
	}
	s.top = y - 10
	s.y = s.top
}

func paper() ([]byte, PaperFacts) {
	s := &setter{doc: New(), metrics: map[string]metrics{}}
	s.facts.Title, s.facts.Abstract, s.facts.Header = paperTitle, plain(paperAbstract), paperHeader
	s.facts.Authors = []string{"Marta Lindqvist", "Tomás Okafor", "Wen Aldana"}
	s.facts.Ruled, s.facts.Unruled = paperTables()
	s.doc.Compact = true
	s.doc.Info = Info{Title: paperTitle, Author: strings.Join(s.facts.Authors, ", "), Subject: "Rainfall by sound", Keywords: "rain, sound, roofs, citizen science",
		Creator: "pdftest", Producer: "pdftest", Created: "D:20240514093000Z", Modified: "D:20240516120000Z", XMP: true}
	s.startPage()
	s.titleBlock()

	s.source(paperSource)
	s.endColumn()
	s.endPage()
	return s.doc.Bytes(), s.facts
}

// source sets a text with the marks of paperSource.
func (s *setter) source(text string) {
	body := bodyStyle()
	var notes []note
	first := 0.0 // no indent after a heading
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "## "):
			s.heading(2, line[3:])
			first = 0
		case strings.HasPrefix(line, "# "):
			if strings.HasPrefix(line, "# Appendix") {
				s.endColumn()
				s.endPage()
				s.startPage()
			}
			s.heading(1, line[2:])
			first = 0
		case strings.HasPrefix(line, "[^"):
			mark, text, _ := strings.Cut(line[2:], "] ")
			notes = append(notes, note{mark, text})
			s.facts.Footnotes = append(s.facts.Footnotes, plain(text))
		case strings.HasPrefix(line, "["):
			st := style{size: 9, leading: 10.8, width: paperWidth, font: TimesRoman}
			s.paragraph(line, st, 0, nil)
			s.y -= 2
			s.facts.References = append(s.facts.References, plain(line))
			if i := strings.Index(line, "https://"); i >= 0 {
				url := strings.TrimSuffix(strings.Fields(line[i:])[0], ",")
				s.page = append(s.page, Link(s.x(), s.y, paperWidth, st.leading*2, url))
			}
		case strings.HasPrefix(line, "* "):
			s.facts.Paragraphs = append(s.facts.Paragraphs, plain(line[2:]))
			s.item(line[2:])
		case strings.HasPrefix(line, "("):
			s.room(30)
			s.page = append(s.page, In(Font{Name: TimesItalic}, Kerned(s.x()+60, s.y-17, 11, spaced("R = a (P - P0)")...), Text(s.x()+60+s.width(TimesItalic, "R = a (P - P0)", 11), s.y-12.5, 7.5, "b")))
			s.page = append(s.page, In(Font{Name: TimesRoman}, Text(s.x()+paperWidth-14, s.y-17, 10, "(1)")))
			s.y -= 30
			first = 0
		case strings.HasPrefix(line, ">"):
			s.room(10)
			s.facts.Code = append(s.facts.Code, line[1:])
			if line != ">" {
				s.page = append(s.page, In(Font{Name: Courier}, Text(s.x(), s.y-8, 8, line[1:])))
			}
			s.y -= 10
		case line == "!ruled":
			s.table("Table 1: The four groups of roofs, with the mean of their factors.", s.facts.Ruled, []float64{78, 42, 54, 48}, true)
		case line == "!unruled":
			s.table("Table 2: Error of hourly amounts by the wind at the pier.", s.facts.Unruled, []float64{56, 40, 70, 56}, false)
		case line == "!figure":
			s.figure()
		default:
			s.facts.Paragraphs = append(s.facts.Paragraphs, plain(line))
			s.paragraph(line, body, first, notes)
			notes, first = nil, body.indent
		}
	}
}

// item sets an item of a list, its lines hung beside the bullet.
func (s *setter) item(text string) {
	st := bodyStyle()
	st.width -= 14
	for i, ls := 0, s.lines(words(text, st.font), st, 0); i < len(ls); i++ {
		s.room(st.leading)
		if i == 0 {
			s.page = append(s.page, In(Font{Name: st.font}, Text(s.x()+2, s.y-st.size, st.size, "•")))
		}
		s.setLine(s.x()+14, s.y-st.size, ls[i], st, st.width, i < len(ls)-1)
		s.y -= st.leading
	}
	s.y -= 2
}
