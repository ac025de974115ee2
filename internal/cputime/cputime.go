// Package cputime holds tests of cost to the processor's time: on a busy machine
// a clock says more of the other programs.
package cputime

import (
	"syscall"
	"testing"
	"time"
)

// Used is what this process has used, of all its threads, in user and system mode.
func Used(t testing.TB) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Linear fails t if eight times the input costs far more than eight times the
// time. What is quadratic costs sixty-four times as much. prepare makes an input
// of size n and returns what is measured. The best of several looks counts.
func Linear(t testing.TB, name string, n int, prepare func(n int) func()) {
	t.Helper()
	const (
		times = 8
		most  = 30               // fixed costs and the collector of garbage need some room
		floor = time.Millisecond // below it the collector alone may cost more
	)
	took := func(n int) time.Duration {
		best := time.Hour
		for range 2 {
			run := prepare(n)
			start := Used(t)
			run()
			best = min(best, Used(t)-start)
		}
		return best
	}
	var small, large time.Duration
	for range 6 {
		if small, large = took(n), took(times*n); large <= most*max(small, floor) {
			t.Logf("%s: %v, %v for %d times as much", name, small, large, times)
			return
		}
	}
	t.Errorf("%s: %v, %v for %d times as much", name, small, large, times)
}
