package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// figure is one row of the table.
type figure struct {
	what  string
	value string
	bar   string // "" where there is none
	word  verdict
	how   string // what stands behind it
}

type verdict string

const (
	ok     verdict = "ok"
	over   verdict = "over"  // a figure that missed its bar
	wrong  verdict = "WRONG" // what must never be
	noBar  verdict = ""
	unseen verdict = "not measured"
)

// within judges a figure that must not be over its bar.
func within(v, bar float64) verdict {
	if v <= bar {
		return ok
	}
	return over
}

// What is checked, as the table calls it.
const (
	checkSubmits  = "submits, answered as they should be"
	checkRefusals = "submits refused up front, as they should be"
	checkReuse    = "lists sent again: the same job, or a new one with fresh"
	checkViews    = "reads of jobs, with all that must hold of each"
	checkWaits    = "reads with wait, answered when something had changed"
	checkCancels  = "cancels, answered as they should be"
	checkForeign  = "tries on another's job: a 404 like that of no job"
	checkLists    = "lists of the callers' own jobs"
	checkFound    = "jobs that were let in and are there at the end"
	checkEnded    = "jobs that have ended, as their targets say"
	checkOutcomes = "targets with an outcome that their page allows"
	checkContents = "results that are those of their page"
	checkBounds   = "results within their bounds"
	checkOnce     = "targets fetched as often as they were run"
	checkSerial   = "lists fetched in order, never two targets at once"
	checkMetrics  = "metrics that add up"
	checkIdle     = "queue_depth and targets_inflight back at 0"
	checkBack     = "goroutines, files, children, temporary files back"
	checkStops    = "clean stops of the service"
	checkRestart  = "jobs that are the same after a restart"
	checkLines    = "lines of the log, without a URL or host of a batch"
	checkLoad     = "interactive requests, answered as they should be"
)

func everyCheck() []string {
	return []string{
		checkSubmits, checkRefusals, checkReuse, checkViews, checkWaits, checkCancels, checkForeign, checkLists, checkFound, checkEnded, checkOutcomes,
		checkContents, checkBounds, checkOnce, checkSerial, checkMetrics, checkIdle, checkBack, checkStops, checkRestart, checkLines, checkLoad,
	}
}

// check is one thing that must always hold.
type check struct {
	what  string
	tried int
	bad   int
	said  []string // the first that were wrong
}

// mostSaid is how many of them are shown.
const mostSaid = 5

// checks are what must always hold. One that was never tried is in the table
// too, and says so.
type checks struct {
	mu  sync.Mutex
	all []*check
}

func newChecks(names []string) *checks {
	c := new(checks)
	for _, n := range names {
		c.all = append(c.all, &check{what: n})
	}
	return c
}

// that notes whether a check held this time. The text says what was wrong.
func (c *checks) that(holds bool, what, format string, args ...any) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.all, func(k *check) bool { return k.what == what })
	if i < 0 {
		i = len(c.all)
		c.all = append(c.all, &check{what: what})
	}
	k := c.all[i]
	k.tried++
	if !holds {
		k.bad++
		if len(k.said) < mostSaid {
			k.said = append(k.said, fmt.Sprintf(format, args...))
		}
	}
	return holds
}

// figures are the rows of the checks.
func (c *checks) figures() (rows []figure, bad int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.all {
		row := figure{what: k.what, value: fmt.Sprint(k.tried), bar: "0 wrong", word: ok}
		if k.tried == 0 {
			row.word = unseen
		}
		if k.bad > 0 {
			row.word, row.how = wrong, fmt.Sprintf("%d of them:", k.bad)
			for _, s := range k.said {
				row.how += "\n    " + s
			}
			if k.bad > len(k.said) {
				row.how += "\n    …"
			}
		}
		bad += k.bad
		rows = append(rows, row)
	}
	return rows, bad
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

// mean of a list that is not empty.
func mean(values []float64) float64 {
	var sum float64
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
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
