package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// row is what was measured of one file.
type row struct {
	file
	pages        int
	theirs, ours side
	common       int             // words that both found
	service      []time.Duration // CPU of reading in the service, of each round; 0: not known
}

// read says that both programs have read the file.
func (r *row) read() bool { return r.theirs.failed == "" && r.ours.failed == "" }

// sum adds up the files that both have read.
type sum struct {
	files, pages          int
	theirs, ours, service time.Duration // CPU
	theirWall, wall       time.Duration
	theirWords, words     int
	common                int
	theirMemory, memory   int64 // the most of any
	childMemory           int64
	serviceKnown          bool
}

func total(rows []row) sum {
	t := sum{serviceKnown: true}
	for i := range rows {
		r := &rows[i]
		if !r.read() {
			continue
		}
		t.files++
		t.pages += r.pages
		t.theirs += mean(r.theirs.cpu)
		t.ours += mean(r.ours.cpu)
		t.theirWall += mean(r.theirs.wall)
		t.wall += mean(r.ours.wall)
		service := mean(r.service)
		t.service += service
		t.serviceKnown = t.serviceKnown && service > 0
		t.words += r.ours.found
		t.theirWords += r.theirs.found
		t.common += r.common
		t.memory = max(t.memory, r.ours.memory)
		t.childMemory = max(t.childMemory, r.ours.childMemory)
		t.theirMemory = max(t.theirMemory, r.theirs.memory)
	}
	return t
}

func (t sum) ratio() float64 { return times(t.ours, t.theirs) }

func times(ours, theirs time.Duration) float64 {
	return ours.Seconds() / max(theirs, time.Microsecond).Seconds()
}

// show writes the table, a row of sums, and the summary.
func show(out io.Writer, rows []row, t sum) {
	cells := [][]string{
		{"", "", "CPU ms", "", "", "×", "×", "wall ms", "", "MB", "", "", "words", "", "of its words", ""},
		{"file", "pages", "pdftotext", "convert", "serve", "convert", "serve", "pdftotext", "convert", "pdftotext", "convert", "child", "pdftotext", "sift", "sift has", "pdftotext has"},
	}
	var notes []string
	for i := range rows {
		r := &rows[i]
		if !r.read() {
			cells = append(cells, []string{r.name, number(r.pages)})
			for program, s := range map[string]*side{"pdftotext": &r.theirs, "sift": &r.ours} {
				if s.failed != "" {
					notes = append(notes, fmt.Sprintf("%s: %s %s", r.name, program, s.failed))
				}
			}
			continue
		}
		one := total(rows[i : i+1])
		cells = append(cells, append([]string{r.name}, one.cells()...))
	}
	cells = append(cells, append([]string{fmt.Sprintf("all %d that both read", t.files)}, t.cells()...))
	align(out, cells)
	slices.Sort(notes)
	for _, n := range notes {
		fmt.Fprintln(out, n)
	}
	word := "ok"
	if t.ratio() > bar {
		word = "over"
	}
	fmt.Fprintf(out, "\ntotal CPU, sift convert ÷ pdftotext: %.2f s ÷ %.2f s = %.2f, bar ≤ %.1f: %s", t.ours.Seconds(), t.theirs.Seconds(), t.ratio(), bar, word)
	if t.serviceKnown {
		fmt.Fprintf(out, "; in sift serve %.2f s = %.2f", t.service.Seconds(), times(t.service, t.theirs))
	}
	fmt.Fprintln(out)
}

// cells are the figures of a row: of one file, or of all.
func (t sum) cells() []string {
	serve, timesServe := "–", "–"
	if t.serviceKnown {
		serve, timesServe = ms(t.service), fmt.Sprintf("%.2f", times(t.service, t.theirs))
	}
	return []string{
		number(t.pages), ms(t.theirs), ms(t.ours), serve, fmt.Sprintf("%.2f", t.ratio()), timesServe, ms(t.theirWall), ms(t.wall),
		megabytes(t.theirMemory), megabytes(t.memory), megabytes(t.childMemory),
		number(t.theirWords), number(t.words), share(t.common, t.theirWords), share(t.common, t.words),
	}
}

// align writes the cells in columns, all but the first set to the right.
func align(out io.Writer, cells [][]string) {
	var widths []int
	for _, row := range cells {
		for i, c := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(c))
		}
	}
	for _, row := range cells {
		var b strings.Builder
		for i, c := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c))
			if i == 0 {
				b.WriteString(c + pad)
			} else {
				b.WriteString("  " + pad + c)
			}
		}
		fmt.Fprintln(out, strings.TrimRight(b.String(), " "))
	}
}

// mean of a list that is not empty. Machines that are shared run at one speed
// and then at another, for a second or so: the median of a short program falls
// on one of them, where a long program has both.
func mean(values []time.Duration) time.Duration {
	var sum time.Duration
	for _, v := range values {
		sum += v
	}
	return sum / time.Duration(len(values))
}

func number(n int) string { return fmt.Sprint(n) }

func ms(d time.Duration) string { return fmt.Sprintf("%.0f", d.Seconds()*1000) }

func megabytes(n int64) string {
	if n == 0 {
		return "–"
	}
	return fmt.Sprintf("%.0f", float64(n)/1e6)
}

// share of the words that one found, which the other found too.
func share(common, all int) string {
	if all == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(common)/float64(all))
}
