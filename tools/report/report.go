// Package report prints what the measuring tools have found: a table of figures
// beside their bars, and the statistics that stand in it.
package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Figure is one row of the table.
type Figure struct {
	What  string
	Value string
	Bar   string  // "" where there is none
	Word  Verdict // against the bar
	How   string  // what stands behind it: rounds, sizes, what it is compared with
}

// Verdict is what a figure comes to.
type Verdict string

// The verdicts that every tool has. The zero one is for a figure without a bar.
const (
	OK     Verdict = "ok"
	Over   Verdict = "over" // a figure that missed its bar
	Unseen Verdict = "not measured"
)

// Within judges a figure that must not be over its bar.
func Within[T int64 | float64 | time.Duration](v, bar T) Verdict {
	if v <= bar {
		return OK
	}
	return Over
}

// Print writes the rows below a head, columns aligned.
func Print(w io.Writer, rows []Figure) {
	cells := make([][]string, 0, 1+len(rows))
	cells = append(cells, []string{"what", "figure", "bar", ""})
	for _, r := range rows {
		cells = append(cells, []string{r.What, r.Value, r.Bar, string(r.Word)})
	}
	widths := make([]int, len(cells[0]))
	for _, row := range cells {
		for i, c := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(c))
		}
	}
	for n, row := range cells {
		var b strings.Builder
		for i, c := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c)+2)
			if i == 0 || i == len(row)-1 {
				b.WriteString(c + pad)
			} else {
				b.WriteString(pad[2:] + c + "  ") // figures are read from the right
			}
		}
		if n > 0 && rows[n-1].How != "" {
			b.WriteString(rows[n-1].How)
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
}

// Median of a list that is not empty; of an even number, the upper one of the
// two in the middle, so that every figure is one that was measured.
func Median[T int64 | float64 | time.Duration](values []T) T {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

// Percentile gives the smallest value that p percent of the values do not
// exceed. The list is not empty.
func Percentile(values []time.Duration, p float64) time.Duration {
	sorted := slices.Sorted(slices.Values(values))
	n := int(float64(len(sorted))*p/100+0.999999) - 1
	return sorted[min(max(n, 0), len(sorted)-1)]
}

// Milliseconds writes a duration.
func Milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
}

// Megabytes writes a size, in millions of bytes.
func Megabytes(bytes int64) string { return fmt.Sprintf("%.1f MB", float64(bytes)/1e6) }
