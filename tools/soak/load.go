package main

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"sift.build/sift/tools/report"
)

// class is a kind of interactive request.
type class int

const (
	cached class = iota // a page that is in the cache
	fresh               // a small page that nobody has asked for before
	held                // a slow page on a host that the batches ask too: takes its slots, so that they must wait
	classes
)

func (c class) String() string { return [...]string{"cached", "fresh", "held"}[c] }

// sample is one interactive request.
type sample struct {
	due  time.Time
	took time.Duration // since it was due
}

// load sends interactive requests at a constant rate each class, whatever the
// service does: the next is sent when it is due and not when the one before
// has been answered. A request's time runs from when it was due, so that a
// stall counts for every request that people would have sent during it.
type load struct {
	rates   [classes]float64                                // a second
	send    func(ctx context.Context, c class, n int) error // an answer as it should be, or what was wrong
	wrong   func(c class, err error)
	waiting atomic.Int64

	mu      sync.Mutex
	samples [classes][]sample
	unsent  int
}

// mostWaiting is how many requests may be under way. Who is over it is not
// sent, which is as bad as an answer that never comes, and is told.
const mostWaiting = 2000

// run sends until ctx ends, and returns when all has been answered.
func (l *load) run(ctx context.Context) {
	var all sync.WaitGroup
	for c := range classes {
		if l.rates[c] <= 0 {
			continue
		}
		all.Go(func() { l.runClass(ctx, c) })
	}
	all.Wait()
}

func (l *load) runClass(ctx context.Context, c class) {
	var under sync.WaitGroup
	defer under.Wait()
	interval := float64(time.Second) / l.rates[c]
	start := time.Now()
	for n := 0; ; n++ {
		due := start.Add(time.Duration(float64(n) * interval))
		if !after(ctx, time.Until(due)) {
			return
		}
		if l.waiting.Add(1) > mostWaiting {
			l.waiting.Add(-1)
			l.mu.Lock()
			l.unsent++
			l.mu.Unlock()
			continue
		}
		under.Go(func() {
			defer l.waiting.Add(-1)
			// What has been sent is waited for, though no more are sent.
			err := l.send(context.WithoutCancel(ctx), c, n)
			took := time.Since(due)
			if err != nil {
				l.wrong(c, err)
				return
			}
			l.mu.Lock()
			defer l.mu.Unlock()
			l.samples[c] = append(l.samples[c], sample{due, took})
		})
	}
}

// window is a stretch of time in which batches run, or none.
type window struct {
	batches    bool
	start, end time.Time
}

// latencies are those of a class that were due within a window.
func (l *load) latencies(c class, w window) []time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	var in []time.Duration
	for _, s := range l.samples[c] {
		if !s.due.Before(w.start) && s.due.Before(w.end) {
			in = append(in, s.took)
		}
	}
	return in
}

// compared is a percentile of a class with batches and without.
type compared struct {
	with, without time.Duration // medians of the windows
	ratio         float64       // median of those of neighbours
	requests      int
}

// compare takes windows in turns: one without, one with. One in which nothing
// was answered counts neither way.
func compare(windows []window, latencies func(window) []time.Duration, p float64) (compared, error) {
	var with, without []time.Duration
	var ratios []float64
	var c compared
	for i := 0; i+1 < len(windows); i += 2 {
		a, b := windows[i], windows[i+1]
		if a.batches || !b.batches {
			return c, fmt.Errorf("windows %d and %d are not one without batches and one with", i, i+1)
		}
		la, lb := latencies(a), latencies(b)
		c.requests += len(la) + len(lb)
		if len(la) == 0 || len(lb) == 0 {
			continue
		}
		pa, pb := report.Percentile(la, p), report.Percentile(lb, p)
		without, with, ratios = append(without, pa), append(with, pb), append(ratios, pb.Seconds()/pa.Seconds())
	}
	if len(ratios) == 0 {
		return c, fmt.Errorf("there is no pair of windows in which anything was answered")
	}
	c.with, c.without, c.ratio = report.Median(with), report.Median(without), report.Median(ratios)
	return c, nil
}
