package main

import (
	"fmt"
	"slices"
	"sync"

	"sift.build/sift/tools/report"
)

const wrong report.Verdict = "WRONG" // what must never be

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
func (c *checks) figures() (rows []report.Figure, bad int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.all {
		row := report.Figure{What: k.what, Value: fmt.Sprint(k.tried), Bar: "0 wrong", Word: report.OK}
		if k.tried == 0 {
			row.Word = report.Unseen
		}
		if k.bad > 0 {
			row.Word, row.How = wrong, fmt.Sprintf("%d of them:", k.bad)
			for _, s := range k.said {
				row.How += "\n    " + s
			}
			if k.bad > len(k.said) {
				row.How += "\n    …"
			}
		}
		bad += k.bad
		rows = append(rows, row)
	}
	return rows, bad
}

// mean of a list that is not empty.
func mean(values []float64) float64 {
	var sum float64
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}
