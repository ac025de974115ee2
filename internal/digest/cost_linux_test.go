package digest

import (
	"runtime"
	"syscall"
	"testing"
	"time"
)

// threadTime is the processor time of this thread, which other programs on the
// machine do not change as they do the clock's.
func threadTime(t *testing.T) time.Duration {
	t.Helper()
	const thisThread = 1 // RUSAGE_THREAD
	var u syscall.Rusage
	if err := syscall.Getrusage(thisThread, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func TestTheCostOfAHostileTextIsLinear(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	// An eighth of the size against all of it: what takes the square of the size
	// takes sixty-four times as long.
	small, large := hostile(1<<16), hostile(1<<19)
	for name := range small {
		took := func(text Text) time.Duration {
			begin := threadTime(t)
			extract(t, text, dear, Options{})
			return threadTime(t) - begin
		}
		a := took(small[name])
		if b := took(large[name]); b > 50*time.Millisecond && b > 24*max(a, time.Millisecond) {
			t.Errorf("%s: %v for an eighth, %v for all", name, a, b)
		}
	}
}
