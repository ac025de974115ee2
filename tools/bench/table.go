package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// figure is one row of the table.
type figure struct {
	what  string
	value string
	bar   string  // "" where there is none
	word  verdict // against the bar
	how   string  // what stands behind it: rounds, sizes, what it is compared with
}

type verdict string

const (
	ok     verdict = "ok"
	over   verdict = "over"
	noBar  verdict = ""
	unseen verdict = "not measured"
	noisy  verdict = "machine too busy"
)

// within judges a figure that must not be over its bar.
func within[T int64 | float64 | time.Duration](v, bar T) verdict {
	if v <= bar {
		return ok
	}
	return over
}

// besides judges a figure beside that of a bare process which did the same at
// the same time. Where not even that held the bar, the machine was too busy
// for either figure to say anything.
func besides(v, bare, bar time.Duration) verdict {
	if v > bar && bare > bar {
		return noisy
	}
	return within(v, bar)
}

// printTable writes the rows, columns aligned.
func printTable(w io.Writer, rows []figure) {
	cells := make([][]string, 0, 1+len(rows))
	cells = append(cells, []string{"what", "figure", "bar", ""})
	for _, r := range rows {
		cells = append(cells, []string{r.what, r.value, r.bar, string(r.word)})
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
		if n > 0 && rows[n-1].how != "" {
			b.WriteString(rows[n-1].how)
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
}

// median of a list that is not empty; of an even number, the upper one of the
// two in the middle, so that every figure is one that was measured.
func median[T int64 | float64 | time.Duration](values []T) T {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

// percentile gives the smallest value that p percent of the values do not
// exceed.
func percentile(values []time.Duration, p float64) time.Duration {
	sorted := slices.Sorted(slices.Values(values))
	n := int(float64(len(sorted))*p/100+0.999999) - 1
	return sorted[min(max(n, 0), len(sorted)-1)]
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
}

func megabytes(bytes int64) string { return fmt.Sprintf("%.1f MB", float64(bytes)/1e6) }
