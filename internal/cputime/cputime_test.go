package cputime

import (
	"fmt"
	"testing"
	"time"
)

// noted keeps what a test is told instead of failing.
type noted struct {
	testing.TB
	errors []string
}

func (n *noted) Errorf(format string, args ...any) {
	n.errors = append(n.errors, fmt.Sprintf(format, args...))
}

var sink int

func spin(n int) {
	for i := range n {
		sink += i % 7
	}
}

func TestLinearTellsWhatIsQuadratic(t *testing.T) {
	const n = 500
	for name, c := range map[string]struct {
		cost func(n int) int
		told int
	}{
		"linear":    {func(n int) int { return 6000 * n }, 0},
		"quadratic": {func(n int) int { return 12 * n * n }, 1},
	} {
		told := &noted{TB: t}
		Linear(told, name, n, func(n int) func() { return func() { spin(c.cost(n)) } })
		if len(told.errors) != c.told {
			t.Errorf("%s: told %q", name, told.errors)
		}
	}
}

func TestSleepCostsNothing(t *testing.T) {
	start := Used(t)
	time.Sleep(50 * time.Millisecond)
	if used := Used(t) - start; used > 25*time.Millisecond {
		t.Errorf("%v were used asleep", used)
	}
}
