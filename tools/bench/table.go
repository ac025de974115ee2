package main

import (
	"time"

	"sift.build/sift/tools/report"
)

const noisy report.Verdict = "machine too busy"

// besides judges a figure beside that of a bare process which did the same at
// the same time. Where not even that held the bar, the machine was too busy
// for either figure to say anything.
func besides(v, bare, bar time.Duration) report.Verdict {
	if v > bar && bare > bar {
		return noisy
	}
	return report.Within(v, bar)
}
