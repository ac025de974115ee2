package pdfpool

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// work is what a test gives to Do: it runs until the test says how it ends.
type work struct {
	starts  atomic.Int32
	release chan func() (any, error)
}

func newWork() *work { return &work{release: make(chan func() (any, error))} }

func (w *work) fn(context.Context) (any, error) {
	w.starts.Add(1)
	return (<-w.release)()
}

// end lets the work return, and waits until all that follows from it is done.
func (w *work) end(val any, err error) {
	w.endWith(func() (any, error) { return val, err })
}

func (w *work) endWith(how func() (any, error)) {
	w.release <- how
	synctest.Wait()
}

// call is one call of Do on a goroutine of its own.
type call struct {
	cancel context.CancelFunc
	done   chan struct{}
	val    any
	err    error
	took   time.Duration
}

func (c *call) over() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// ask calls Do and waits until the call has returned or waits for a job.
func ask(p *Pool, key, caller string, w *work) *call {
	ctx, cancel := context.WithCancel(context.Background())
	c := &call{cancel: cancel, done: make(chan struct{})}
	var fn func(context.Context) (any, error)
	if w != nil {
		fn = w.fn
	}
	began := time.Now()
	go func() {
		defer close(c.done)
		defer cancel()
		c.val, c.err = p.Do(ctx, key, caller, fn)
		c.took = time.Since(began)
	}()
	synctest.Wait()
	return c
}

// leave ends the call's context and waits until all that follows is done.
func (c *call) leave() {
	c.cancel()
	synctest.Wait()
}

// after lets the bubble's clock go on.
func after(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func wantErr(t *testing.T, c *call, want error) {
	t.Helper()
	switch {
	case !c.over():
		t.Errorf("Do still waits, want %v", want)
	case c.val != nil || !errors.Is(c.err, want):
		t.Errorf("Do = %v, %v, want nil, %v", c.val, c.err, want)
	}
}

func wantVal(t *testing.T, c *call, want any) {
	t.Helper()
	switch {
	case !c.over():
		t.Errorf("Do still waits, want %v", want)
	case c.val != want || c.err != nil:
		t.Errorf("Do = %v, %v, want %v", c.val, c.err, want)
	}
}

func wantWaits(t *testing.T, calls ...*call) {
	t.Helper()
	for _, c := range calls {
		if c.over() {
			t.Errorf("Do = %v, %v, want it to wait", c.val, c.err)
		}
	}
}

func wantStarts(t *testing.T, w *work, want int32) {
	t.Helper()
	if got := w.starts.Load(); got != want {
		t.Errorf("the work started %d times, want %d", got, want)
	}
}

func wantState(t *testing.T, p *Pool, running, queued int) {
	t.Helper()
	if r, q := p.Running(), p.Queued(); r != running || q != queued {
		t.Errorf("%d run and %d are queued, want %d and %d", r, q, running, queued)
	}
	if err := consistent(p); err != nil {
		t.Error(err)
	}
}

func wantWaiting(t *testing.T, p *Pool, key string, want int) {
	t.Helper()
	if got := p.Waiting(key); got != want {
		t.Errorf("Waiting(%q) = %d, want %d", key, got, want)
	}
}

// consistent looks at what must be true of a pool at every moment.
func consistent(p *Pool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.running < 0 || p.running > max(p.slots, 0):
		return fmt.Errorf("%d jobs run on %d slots", p.running, p.slots)
	case len(p.queued) > max(p.queue, 0):
		return fmt.Errorf("%d jobs wait in a queue of %d", len(p.queued), p.queue)
	case p.wait <= 0 && len(p.queued) > 0:
		return fmt.Errorf("%d jobs wait though nothing may", len(p.queued))
	case p.running < p.slots && len(p.queued) > 0:
		return fmt.Errorf("%d jobs wait though only %d of %d slots are taken", len(p.queued), p.running, p.slots)
	case len(p.jobs) != p.running+len(p.queued):
		return fmt.Errorf("%d keys are held by %d running and %d queued jobs", len(p.jobs), p.running, len(p.queued))
	case len(p.callers) != len(p.jobs):
		return fmt.Errorf("%d callers are held by %d jobs", len(p.callers), len(p.jobs))
	}
	for key, j := range p.jobs {
		if j.key != key || p.callers[j.caller] != j {
			return fmt.Errorf("the job for %q is filed wrongly", key)
		}
		select {
		case <-j.done:
			return fmt.Errorf("the job for %q has ended and holds its key", key)
		default:
		}
	}
	for _, j := range p.queued {
		if p.jobs[j.key] != j {
			return fmt.Errorf("the queued job for %q cannot be joined", j.key)
		}
		if len(j.waiters) == 0 {
			return fmt.Errorf("nobody waits for the queued job for %q", j.key)
		}
	}
	return nil
}

// wantIdle checks that nothing is held any more, and that every slot works.
func wantIdle(t *testing.T, p *Pool) {
	t.Helper()
	synctest.Wait()
	wantState(t, p, 0, 0)
	w := newWork()
	var calls []*call
	for i := range p.slots {
		calls = append(calls, ask(p, fmt.Sprint("idle", i), fmt.Sprint("idle", i), w))
	}
	wantState(t, p, max(p.slots, 0), 0)
	for range calls {
		w.end("idle", nil)
	}
	for _, c := range calls {
		wantVal(t, c, "idle")
	}
	wantState(t, p, 0, 0)
}

func TestAJobStartsAtOnceWhenASlotIsFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(2, 4, time.Second)
		a, b := newWork(), newWork()
		ca, cb := ask(p, "a", "alice", a), ask(p, "b", "bob", b)
		wantStarts(t, a, 1)
		wantStarts(t, b, 1)
		wantState(t, p, 2, 0)
		wantWaits(t, ca, cb)
		b.end("B", nil)
		wantVal(t, cb, "B")
		wantWaits(t, ca)
		wantState(t, p, 1, 0)
		a.end("A", nil)
		wantVal(t, ca, "A")
		wantIdle(t, p)
	})
}

func TestIdenticalRequestsShareOneJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(1, 4, time.Second)
		w := newWork()
		calls := []*call{ask(p, "k", "alice", w)}
		wantWaiting(t, p, "k", 0)
		for i := range 5 {
			calls = append(calls, ask(p, "k", fmt.Sprint("caller", i), w))
			wantWaiting(t, p, "k", i+1)
		}
		calls = append(calls, ask(p, "k", "alice", w)) // a caller may join its own job
		wantWaiting(t, p, "k", 6)
		wantWaiting(t, p, "other", 0)
		wantState(t, p, 1, 0)
		wantStarts(t, w, 1)

		w.end("shared", nil)
		for _, c := range calls {
			wantVal(t, c, "shared")
		}
		wantStarts(t, w, 1)
		wantWaiting(t, p, "k", 0)
		wantIdle(t, p)
	})
}

func TestWhateverTheWorkReturnsReachesEverySharer(t *testing.T) {
	failed := errors.New("broken file")
	for _, tt := range []struct {
		name string
		val  any
		err  error
	}{
		{"a value", "pages", nil},
		{"nothing", nil, nil},
		{"an error", nil, failed},
		{"a value and an error", "the first pages", failed},
		{"an error that looks like a context's", nil, context.Canceled},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := New(1, 1, time.Second)
				w := newWork()
				calls := []*call{ask(p, "k", "a", w), ask(p, "k", "b", w), ask(p, "k", "c", nil)}
				w.end(tt.val, tt.err)
				for i, c := range calls {
					if !c.over() || c.val != tt.val || c.err != tt.err {
						t.Errorf("call %d: over %v with %v, %v", i, c.over(), c.val, c.err)
					}
				}
				wantIdle(t, p)
			})
		})
	}
}

func TestJoiningTakesNothingAndNeedsNoWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(1, 1, time.Minute)
		a, b := newWork(), newWork()
		ca := ask(p, "a", "alice", a)
		cb := ask(p, "b", "bob", b)
		wantState(t, p, 1, 1)
		// Slots and queue are full, alice and bob are busy.
		joined := []*call{
			ask(p, "a", "bob", b), ask(p, "b", "alice", a),
			ask(p, "a", "carol", nil), ask(p, "b", "carol", nil),
		}
		wantWaits(t, joined...)
		wantState(t, p, 1, 1)
		wantWaiting(t, p, "a", 2)
		wantWaiting(t, p, "b", 2)

		a.end("A", nil)
		wantVal(t, joined[0], "A")
		wantVal(t, joined[2], "A")
		wantWaits(t, cb, joined[1], joined[3])
		b.end("B", nil)
		wantVal(t, joined[1], "B")
		wantVal(t, joined[3], "B")
		wantVal(t, ca, "A")
		wantVal(t, cb, "B")
		wantStarts(t, a, 1)
		wantStarts(t, b, 1)
		wantIdle(t, p)
	})
}

func TestACallerThatJoinsAJobMayStillStartOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(2, 1, time.Second)
		a, b := newWork(), newWork()
		ca := ask(p, "a", "alice", a)
		joined := ask(p, "a", "bob", b)
		cb := ask(p, "b", "bob", b)
		wantState(t, p, 2, 0)
		a.end("A", nil)
		b.end("B", nil)
		wantVal(t, ca, "A")
		wantVal(t, joined, "A")
		wantVal(t, cb, "B")
		wantIdle(t, p)
	})
}

func TestACallerHasOneJobAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(1, 2, time.Minute)
		a, b, no := newWork(), newWork(), newWork()
		ca := ask(p, "a", "alice", a)
		cb := ask(p, "b", "bob", b)
		for _, caller := range []string{"alice", "bob"} { // one runs, one is queued
			c := ask(p, "other", caller, no)
			wantErr(t, c, ErrCallerBusy)
			if c.took != 0 {
				t.Errorf("%s was refused after %v, want at once", caller, c.took)
			}
			wantErr(t, ask(p, "other", caller, nil), ErrCallerBusy)
		}
		wantState(t, p, 1, 1)

		a.end("A", nil)
		wantVal(t, ca, "A")
		c := ask(p, "c", "alice", newWork())
		wantWaits(t, c)
		wantState(t, p, 1, 1)
		c.leave()
		b.end("B", nil)
		wantVal(t, cb, "B")
		wantStarts(t, no, 0)
		wantIdle(t, p)
	})
}

func TestABusyCallerIsToldSoEvenWhenThePoolIsFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(1, 1, time.Minute)
		a, b := newWork(), newWork()
		ca, cb := ask(p, "a", "alice", a), ask(p, "b", "bob", b)
		for range 10 {
			wantErr(t, ask(p, "c", "alice", newWork()), ErrCallerBusy)
			wantErr(t, ask(p, "c", "bob", newWork()), ErrCallerBusy)
			wantErr(t, ask(p, "c", "carol", newWork()), ErrBusy)
		}
		a.end("A", nil)
		b.end("B", nil)
		wantVal(t, ca, "A")
		wantVal(t, cb, "B")
		wantIdle(t, p)
	})
}

func TestAFullQueueRefusesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(2, 4, time.Minute)
		w := newWork()
		var calls []*call
		for i := range 6 {
			calls = append(calls, ask(p, fmt.Sprint("k", i), fmt.Sprint("c", i), w))
		}
		wantState(t, p, 2, 4)
		no := newWork()
		c := ask(p, "one too many", "x", no)
		wantErr(t, c, ErrBusy)
		if c.took != 0 {
			t.Errorf("refused after %v, want at once", c.took)
		}
		// The refused one holds neither its key nor its name.
		calls[5].leave()
		c = ask(p, "one too many", "x", w)
		wantWaits(t, c)
		wantState(t, p, 2, 4)
		for range 6 {
			w.end("done", nil)
		}
		wantVal(t, c, "done")
		wantStarts(t, no, 0)
		wantStarts(t, w, 6)
		wantIdle(t, p)
	})
}

func TestSlotsAreGrantedFirstComeFirstServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(1, 8, time.Hour)
		works := make([]*work, 8)
		calls := make([]*call, 8)
		for i := range works {
			works[i] = newWork()
			calls[i] = ask(p, fmt.Sprint("k", i), fmt.Sprint("c", i), works[i])
			after(time.Second)
		}
		wantState(t, p, 1, 7)
		// Joining does not move a job, and one that leaves lets the others move up.
		joined := ask(p, "k7", "x", nil)
		calls[3].leave()
		wantErr(t, calls[3], context.Canceled)
		order := []int{0, 1, 2, 4, 5, 6, 7}
		for n, i := range order {
			for m, other := range order {
				var want int32
				if m <= n {
					want = 1
				}
				wantStarts(t, works[other], want)
			}
			works[i].end(i, nil)
			wantVal(t, calls[i], i)
		}
		wantVal(t, joined, 7)
		wantStarts(t, works[3], 0)
		wantIdle(t, p)
	})
}

func TestAJobThatWaitedTooLongLeavesTheQueueAndEveryoneIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(1, 2, 20*time.Second)
		a, no := newWork(), newWork()
		ca := ask(p, "a", "alice", a)
		starter := ask(p, "b", "bob", no)
		after(5 * time.Second)
		early := ask(p, "b", "carol", no)
		later := ask(p, "c", "carol", no)
		after(15*time.Second - 1)
		late := ask(p, "b", "dave", nil)
		wantWaits(t, starter, early, late)
		wantState(t, p, 1, 2)
		after(1)
		wantErr(t, starter, ErrBusy)
		wantErr(t, early, ErrBusy)
		wantErr(t, late, ErrBusy)
		if starter.took != 20*time.Second || early.took != 15*time.Second || late.took != 1 {
			t.Errorf("waited %v, %v and %v, want 20s, 15s and 1ns", starter.took, early.took, late.took)
		}
		wantState(t, p, 1, 1)
		wantWaits(t, later) // its own clock began five seconds later

		// Key, caller and place are free again.
		b := newWork()
		again := ask(p, "b", "bob", b)
		wantState(t, p, 1, 2)
		after(5 * time.Second)
		wantErr(t, later, ErrBusy)
		a.end("A", nil)
		wantVal(t, ca, "A")
		// A running job has no clock.
		after(time.Hour)
		wantWaits(t, again)
		b.end("B", nil)
		wantVal(t, again, "B")
		wantStarts(t, no, 0)
		wantIdle(t, p)
	})
}

func TestAWaiterThatLeavesTheQueueGivesUpItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(1, 1, time.Minute)
		a, b, no := newWork(), newWork(), newWork()
		ca := ask(p, "a", "alice", a)
		gone := ask(p, "b", "bob", no)
		after(time.Second)
		gone.leave()
		wantErr(t, gone, context.Canceled)
		if gone.took != time.Second {
			t.Errorf("the call ended after %v, want 1s", gone.took)
		}
		wantState(t, p, 1, 0)
		cb := ask(p, "b", "bob", b) // key, caller and place are free
		wantState(t, p, 1, 1)
		after(time.Minute - time.Second) // when the first clock would have run out
		wantWaits(t, cb)
		a.end("A", nil)
		wantVal(t, ca, "A")
		b.end("B", nil)
		wantVal(t, cb, "B")
		wantStarts(t, no, 0)
		wantIdle(t, p)
	})
}

func TestADeadlineOfTheCallerEndsItsWaitInTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(1, 1, time.Minute)
		a, no := newWork(), newWork()
		ca := ask(p, "a", "alice", a)
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		began := time.Now()
		if _, err := p.Do(ctx, "b", "bob", no.fn); err != context.DeadlineExceeded || time.Since(began) != time.Second {
			t.Errorf("Do ended with %v after %v, want the deadline's error after 1s", err, time.Since(began))
		}
		wantState(t, p, 1, 0)
		a.end("A", nil)
		wantVal(t, ca, "A")
		wantStarts(t, no, 0)
		wantIdle(t, p)
	})
}

func TestAQueuedJobStaysForItsSharersWhenItsStarterLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(1, 2, time.Minute)
		a, b, c := newWork(), newWork(), newWork()
		ca := ask(p, "a", "alice", a)
		starter := ask(p, "b", "bob", b)
		cc := ask(p, "c", "carol", c)
		sharer := ask(p, "b", "dave", nil)
		wantWaiting(t, p, "b", 1)
		starter.leave()
		wantErr(t, starter, context.Canceled)
		wantState(t, p, 1, 2)
		wantWaiting(t, p, "b", 1)
		wantWaits(t, sharer, cc)
		late := ask(p, "b", "erin", nil)
		wantWaiting(t, p, "b", 2)

		a.end("A", nil) // the job has kept its place
		wantVal(t, ca, "A")
		wantStarts(t, b, 1)
		wantStarts(t, c, 0)
		b.end("B", nil)
		wantVal(t, sharer, "B")
		wantVal(t, late, "B")
		c.end("C", nil)
		wantVal(t, cc, "C")
		wantIdle(t, p)
	})
}

func TestAQueuedJobKeepsItsStartersClockWhenTheStarterLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(1, 1, 20*time.Second)
		a, no := newWork(), newWork()
		ca := ask(p, "a", "alice", a)
		starter := ask(p, "b", "bob", no)
		after(8 * time.Second)
		sharer := ask(p, "b", "carol", no)
		starter.leave()
		after(12*time.Second - 1)
		wantWaits(t, sharer)
		wantState(t, p, 1, 1)
		after(1)
		wantErr(t, sharer, ErrBusy)
		wantState(t, p, 1, 0)
		a.end("A", nil)
		wantVal(t, ca, "A")
		wantStarts(t, no, 0)
		wantIdle(t, p)
	})
}

func TestAQueuedJobLeavesTheQueueWithTheLastWhoWaits(t *testing.T) {
	for _, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		t.Run(fmt.Sprint(order), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := New(1, 1, time.Minute)
				a, no := newWork(), newWork()
				ca := ask(p, "a", "alice", a)
				calls := []*call{ask(p, "b", "bob", no), ask(p, "b", "carol", no), ask(p, "b", "dave", nil)}
				joiners := 2
				for n, i := range order {
					wantState(t, p, 1, 1)
					calls[i].leave()
					wantErr(t, calls[i], context.Canceled)
					if i != 0 {
						joiners--
					}
					if n < 2 {
						wantWaiting(t, p, "b", joiners)
					}
				}
				wantState(t, p, 1, 0)
				wantWaiting(t, p, "b", 0)
				b := newWork()
				again := ask(p, "b", "bob", b) // everything is free for a new job
				wantState(t, p, 1, 1)
				a.end("A", nil)
				wantVal(t, ca, "A")
				b.end("B", nil)
				wantVal(t, again, "B")
				wantStarts(t, no, 0)
				wantIdle(t, p)
			})
		})
	}
}

func TestACallerOwnsItsJobToTheEndEvenWhenItLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(1, 2, time.Minute)
		a, b, no := newWork(), newWork(), newWork()
		ca := ask(p, "a", "alice", a)
		cb := ask(p, "b", "bob", b)
		sharer := ask(p, "b", "carol", nil)
		ca.leave()
		cb.leave()
		wantErr(t, ca, context.Canceled)
		wantErr(t, cb, context.Canceled)
		wantErr(t, ask(p, "x", "alice", no), ErrCallerBusy) // its job runs on
		wantErr(t, ask(p, "x", "bob", no), ErrCallerBusy)   // its job is queued for carol
		back := ask(p, "b", "bob", no)
		wantWaits(t, back)
		wantWaiting(t, p, "b", 2)
		cx := ask(p, "x", "carol", no) // who shares owns nothing
		wantWaits(t, cx)
		cx.leave()

		a.end("A", nil)
		wantErr(t, ask(p, "x", "bob", no), ErrCallerBusy) // it runs now
		c := newWork()
		cc := ask(p, "c", "alice", c)
		wantWaits(t, cc)
		b.end("B", nil)
		wantVal(t, sharer, "B")
		wantVal(t, back, "B")
		c.end("C", nil)
		wantVal(t, cc, "C")
		d := newWork()
		cd := ask(p, "d", "bob", d)
		d.end("D", nil)
		wantVal(t, cd, "D")
		wantStarts(t, no, 0)
		wantIdle(t, p)
	})
}

func TestACallerIsFreeWhenItsQueuedJobRanOutOfTimeForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(1, 1, time.Second)
		a, no := newWork(), newWork()
		ca := ask(p, "a", "alice", a)
		cb := ask(p, "b", "bob", no)
		sharer := ask(p, "b", "carol", nil)
		cb.leave()
		wantErr(t, ask(p, "x", "bob", no), ErrCallerBusy)
		after(time.Second)
		wantErr(t, sharer, ErrBusy)
		x := newWork()
		cx := ask(p, "x", "bob", x)
		wantWaits(t, cx)
		a.end("A", nil)
		wantVal(t, ca, "A")
		x.end("X", nil)
		wantVal(t, cx, "X")
		wantIdle(t, p)
	})
}

func TestARunningJobGoesOnWhenEveryoneHasLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(1, 1, time.Hour)
		a, b := newWork(), newWork()
		starter := ask(p, "a", "alice", a)
		sharer := ask(p, "a", "bob", nil)
		cb := ask(p, "b", "bob", b)
		starter.leave()
		wantErr(t, starter, context.Canceled)
		wantWaiting(t, p, "a", 1)
		sharer.leave()
		wantErr(t, sharer, context.Canceled)
		wantWaiting(t, p, "a", 0)
		wantState(t, p, 1, 1)
		late := ask(p, "a", "carol", newWork()) // it can still be joined
		wantWaiting(t, p, "a", 1)
		a.end("A", nil)
		wantVal(t, late, "A")
		wantStarts(t, a, 1)
		wantStarts(t, b, 1)
		cb.leave()
		wantState(t, p, 1, 0)
		b.end("B", nil)
		wantIdle(t, p)
	})
}

func TestASharerThatLeavesDoesNotDisturbTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(1, 1, time.Hour)
		w := newWork()
		starter := ask(p, "k", "a", w)
		gone := ask(p, "k", "b", nil)
		stays := ask(p, "k", "c", nil)
		after(time.Second)
		gone.leave()
		wantErr(t, gone, context.Canceled)
		if gone.took != time.Second {
			t.Errorf("the sharer was let go after %v, want at once after 1s", gone.took)
		}
		wantWaits(t, starter, stays)
		wantWaiting(t, p, "k", 1)
		w.end("V", nil)
		wantVal(t, starter, "V")
		wantVal(t, stays, "V")
		wantStarts(t, w, 1)
		wantIdle(t, p)
	})
}

type ctxKey struct{}

func TestTheWorkHasItsStartersValuesAndNobodysEnd(t *testing.T) {
	for _, queued := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			p := New(1, 1, time.Hour)
			var first *call
			w := newWork()
			if queued {
				first = ask(p, "first", "first", w)
			}
			ctx, cancel := context.WithTimeout(context.WithValue(context.Background(), ctxKey{}, "trace"), time.Minute)
			defer cancel()
			seen := make(chan context.Context, 1)
			errs := make(chan error, 1)
			go func() {
				_, err := p.Do(ctx, "k", "a", func(ctx context.Context) (any, error) {
					seen <- ctx
					return (<-w.release)()
				})
				errs <- err
			}()
			synctest.Wait()
			sharer := ask(p, "k", "b", nil)
			if queued {
				w.end(nil, nil)
				wantVal(t, first, nil)
			}
			work := <-seen
			cancel()
			if err := <-errs; err != context.Canceled {
				t.Errorf("the starter got %v", err)
			}
			if _, ok := work.Deadline(); ok || work.Done() != nil || work.Err() != nil {
				t.Error("the work's context ends with its starter's")
			}
			if v := work.Value(ctxKey{}); v != "trace" {
				t.Errorf("the work's context has the value %v, want its starter's", v)
			}
			w.end("V", nil)
			wantVal(t, sharer, "V")
			wantIdle(t, p)
		})
	}
}

func TestAContextThatIsOverIsAnsweredFirstAndStartsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cancelled, cancel := context.WithCancelCause(context.Background())
		cancel(errors.New("the reason is the caller's own business"))
		late, stop := context.WithDeadline(context.Background(), time.Now())
		defer stop()
		p := New(1, 1, time.Minute)
		no := newWork()
		refused := func() {
			t.Helper()
			for range 100 {
				for _, key := range []string{"new", "a", "b"} {
					for _, caller := range []string{"alice", "x"} {
						if v, err := p.Do(cancelled, key, caller, no.fn); v != nil || err != context.Canceled {
							t.Fatalf("Do = %v, %v, want the context's error", v, err)
						}
						if v, err := p.Do(late, key, caller, nil); v != nil || err != context.DeadlineExceeded {
							t.Fatalf("Do = %v, %v, want the context's error", v, err)
						}
					}
				}
			}
		}
		refused()
		wantState(t, p, 0, 0)
		a, b := newWork(), newWork()
		ca := ask(p, "a", "alice", a)
		refused()
		cb := ask(p, "b", "bob", b)
		refused()
		wantState(t, p, 1, 1)
		a.end("A", nil)
		b.end("B", nil)
		wantVal(t, ca, "A")
		wantVal(t, cb, "B")
		wantStarts(t, no, 0)
		wantIdle(t, p)
	})
}

// lateDone is a context that lets Do look at its Done only when the test says
// so, once Do waits for a job.
type lateDone struct {
	context.Context //nolint:containedctx // it is a context
	pool            *Pool
	looking         chan struct{} // closed when Do is about to look
	look            chan struct{}
}

func (c *lateDone) Done() <-chan struct{} {
	if c.pool.Running() > 0 {
		close(c.looking)
		<-c.look
	}
	return c.Context.Done()
}

func TestAContextThatEndsInTheMomentOfTheResultWinsOverIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(1, 0, 0)
		for range 50 { // a select with both ready picks at random
			ctx, cancel := context.WithCancel(context.Background())
			late := &lateDone{ctx, p, make(chan struct{}), make(chan struct{})}
			go func() {
				<-late.looking
				synctest.Wait()
				wantState(t, p, 0, 0)
				cancel()
				close(late.look)
			}()
			v, err := p.Do(late, "k", "a", func(context.Context) (any, error) {
				<-late.looking
				return "V", nil
			})
			if v != nil || err != context.Canceled {
				t.Fatalf("Do = %v, %v, want the context's error", v, err)
			}
		}
		wantIdle(t, p)
	})
}

func TestAPanicReachesEverySharerAndFreesEverything(t *testing.T) {
	cause := errors.New("index out of range")
	for _, tt := range []struct {
		name string
		how  func() (any, error)
		want string
	}{
		{"text", func() (any, error) { explode("nasty file"); return 1, nil }, "nasty file"},
		{"an error", func() (any, error) { explode(cause); return 1, nil }, cause.Error()},
		{"a runtime error", func() (any, error) { return at(nil, 0), nil }, "index out of range"},
		{"nil", func() (any, error) { explode(nil); return 1, nil }, "nil"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := New(1, 1, time.Minute)
				a, b := newWork(), newWork()
				calls := []*call{ask(p, "a", "alice", a), ask(p, "a", "x", nil), ask(p, "a", "y", nil)}
				next := ask(p, "b", "bob", b)
				a.endWith(tt.how)
				for _, c := range calls {
					if !c.over() || c.val != nil || c.err == nil {
						t.Fatalf("over %v with %v, %v, want an error", c.over(), c.val, c.err)
					}
					if !strings.Contains(c.err.Error(), tt.want) || !strings.Contains(c.err.Error(), "pool_test.go") {
						t.Errorf("the error lacks the value (%s) or the stack:\n%v", tt.want, c.err)
					}
				}
				if tt.name == "an error" && !errors.Is(calls[1].err, cause) {
					t.Error("errors.Is does not find the error that was panicked with")
				}
				wantStarts(t, b, 1) // the slot went on
				wantState(t, p, 1, 0)
				b.end("B", nil)
				wantVal(t, next, "B")
				c := newWork()
				again := ask(p, "a", "alice", c)
				c.end("A", nil)
				wantVal(t, again, "A")
				wantIdle(t, p)
			})
		})
	}
}

func explode(v any) { panic(v) }

func at(s []int, i int) int { return s[i] }

func TestAGoexitReachesEverySharerAndFreesEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(1, 1, time.Minute)
		a, b := newWork(), newWork()
		calls := []*call{ask(p, "a", "alice", a), ask(p, "a", "x", nil), ask(p, "a", "y", nil)}
		next := ask(p, "b", "bob", b)
		a.endWith(func() (any, error) { runtime.Goexit(); return 1, nil })
		for _, c := range calls {
			wantErr(t, c, errGoexit)
		}
		wantStarts(t, b, 1)
		wantState(t, p, 1, 0)
		b.end("B", nil)
		wantVal(t, next, "B")
		c := newWork()
		again := ask(p, "a", "alice", c)
		c.end("A", nil)
		wantVal(t, again, "A")
		wantIdle(t, p)
	})
}

func TestAPanicThatNobodyWaitsForFreesEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(1, 1, time.Minute)
		for _, how := range []func() (any, error){
			func() (any, error) { panic("alone") },
			func() (any, error) { runtime.Goexit(); return nil, nil },
		} {
			w := newWork()
			ask(p, "k", "a", w).leave()
			wantState(t, p, 1, 0)
			w.endWith(how)
			wantIdle(t, p)
		}
	})
}

func TestARetryRightAfterTheResultStartsAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(1, 0, 0) // without a queue: a slot that is not free yet is seen
		const sharers = 4
		var flights atomic.Int64
		for range 200 {
			w := newWork()
			first := ask(p, "k", "starter", w)
			var wg sync.WaitGroup
			for i := range sharers {
				wg.Go(func() {
					v, err := p.Do(context.Background(), "k", fmt.Sprint(i), nil)
					if v != "old" || err != nil {
						t.Errorf("the sharer got %v, %v", v, err)
					}
					// All retry at once: one starts, the others join it.
					v, err = p.Do(context.Background(), "k", fmt.Sprint(i), func(context.Context) (any, error) {
						flights.Add(1)
						<-time.After(time.Millisecond)
						return "new", nil
					})
					if v != "new" || err != nil {
						t.Errorf("the retry got %v, %v", v, err)
					}
				})
			}
			synctest.Wait()
			w.end("old", nil)
			wg.Wait()
			wantVal(t, first, "old")
		}
		if n := flights.Load(); n != 200 {
			t.Errorf("200 rounds of retries took %d flights", n)
		}
		wantIdle(t, p)
	})
}

func TestAResultCannotBeSeenBeforeItsKeyIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(1, 0, 0)
		w := newWork()
		c := ask(p, "k", "a", w)
		// While the test has the lock, the key cannot be forgotten.
		p.mu.Lock()
		job := p.jobs["k"]
		w.release <- func() (any, error) { return "V", nil }
		for range 10_000 {
			runtime.Gosched()
		}
		select {
		case <-job.done:
			t.Error("the result can be seen, and its key is still held")
		default:
		}
		p.mu.Unlock()
		synctest.Wait()
		wantVal(t, c, "V")
		wantIdle(t, p)
	})
}

func TestATimerThatLosesTheRaceWithTheGrantChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(1, 1, time.Minute)
		a, b := newWork(), newWork()
		ca := ask(p, "a", "alice", a)
		cb := ask(p, "b", "bob", b)
		p.mu.Lock()
		job := p.jobs["b"]
		p.mu.Unlock()
		a.end("A", nil)
		if job.timer.Stop() {
			t.Error("the timer goes on after the grant")
		}
		p.expire(job) // it fired before it could be stopped
		wantState(t, p, 1, 0)
		wantWaits(t, cb)
		wantStarts(t, b, 1)
		wantErr(t, ask(p, "x", "bob", newWork()), ErrCallerBusy)
		b.end("B", nil)
		wantVal(t, ca, "A")
		wantVal(t, cb, "B")
		wantIdle(t, p)
	})
}

func TestWhatAnOldJobLeavesBehindDoesNotTouchANewerOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(1, 1, time.Minute)
		a, no, b := newWork(), newWork(), newWork()
		ca := ask(p, "a", "alice", a)
		gone := ask(p, "b", "bob", no)
		p.mu.Lock()
		old := p.jobs["b"]
		p.mu.Unlock()
		gone.leave()

		stale := func() {
			p.expire(old)
			p.leave(old, old.starter)
			p.leave(old, &waiter{})
		}
		// The newer job has the old one's key and caller; first it is queued, then it runs.
		cb := ask(p, "b", "bob", b)
		stale()
		wantState(t, p, 1, 1)
		sharer := ask(p, "b", "carol", nil)
		wantWaiting(t, p, "b", 1)
		a.end("A", nil)
		stale()
		wantState(t, p, 1, 0)
		wantWaiting(t, p, "b", 1)
		wantErr(t, ask(p, "x", "bob", no), ErrCallerBusy)
		b.end("B", nil)
		wantVal(t, ca, "A")
		wantVal(t, cb, "B")
		wantVal(t, sharer, "B")
		wantStarts(t, no, 0)
		wantIdle(t, p)
	})
}

func TestAWaiterCancelledBeforeTheGrantHandsTheSlotOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, sharers := range []int{0, 1, 3} {
			for range 100 {
				p := New(1, 3, time.Minute)
				a, no, c := newWork(), newWork(), newWork()
				ca := ask(p, "a", "alice", a)
				gone := []*call{ask(p, "b", "bob", no), ask(p, "b2", "bert", no)}
				for i := range sharers {
					gone = append(gone, ask(p, "b", fmt.Sprint(i), no))
				}
				cc := ask(p, "c", "carol", c)
				for _, g := range gone {
					g.cancel()
				}
				a.end("A", nil) // no Wait before it: the cancelled may not have the lock yet
				wantVal(t, ca, "A")
				for _, g := range gone {
					wantErr(t, g, context.Canceled)
				}
				wantStarts(t, no, 0)
				wantStarts(t, c, 1)
				wantState(t, p, 1, 0)
				c.end("C", nil)
				wantVal(t, cc, "C")
				wantState(t, p, 0, 0)
			}
		}
	})
}

func TestAJobIsStartedForASharerThoughTheOthersWereCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 100 {
			p := New(1, 1, time.Minute)
			a, b := newWork(), newWork()
			ca := ask(p, "a", "alice", a)
			starter, sharer, stays := ask(p, "b", "bob", b), ask(p, "b", "carol", b), ask(p, "b", "dave", b)
			starter.cancel()
			sharer.cancel()
			a.end("A", nil)
			wantStarts(t, b, 1)
			b.end("B", nil)
			wantVal(t, ca, "A")
			wantErr(t, starter, context.Canceled)
			wantErr(t, sharer, context.Canceled)
			wantVal(t, stays, "B")
			wantState(t, p, 0, 0)
		}
	})
}

func TestASlotThatFreesAsTheWaitEndsIsNeverLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const wait = time.Second
		outcomes := make(map[error]int)
		for range 300 {
			p := New(1, 2, wait)
			// One job ends in the very moment in which the wait of one that is
			// queued and the patience of another end.
			ends := time.After(wait)
			var wg sync.WaitGroup
			wg.Go(func() {
				if _, err := p.Do(context.Background(), "a", "alice", func(context.Context) (any, error) { <-ends; return nil, nil }); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
			errs := make([]error, 2)
			for i := range errs {
				wg.Go(func() {
					ctx := context.Background()
					if i == 1 {
						var cancel context.CancelFunc
						ctx, cancel = context.WithTimeout(ctx, wait)
						defer cancel()
					}
					_, errs[i] = p.Do(ctx, fmt.Sprint("k", i), fmt.Sprint("c", i), func(context.Context) (any, error) { return nil, nil })
				})
			}
			wg.Wait()
			for i, err := range errs {
				if err != nil && err != ErrBusy && (i != 1 || err != context.DeadlineExceeded) {
					t.Fatal(err)
				}
				outcomes[err]++
			}
			wantIdle(t, p)
		}
		t.Log(outcomes)
	})
}

func TestWithoutAWaitAFullPoolRefusesAtOnce(t *testing.T) {
	for _, wait := range []time.Duration{0, -1, -time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			p := New(1, 4, wait)
			a := newWork()
			ca := ask(p, "a", "alice", a)
			wantStarts(t, a, 1)
			no := newWork()
			for range 10 {
				c := ask(p, "b", "bob", no)
				wantErr(t, c, ErrBusy)
				if c.took != 0 {
					t.Errorf("refused after %v, want at once", c.took)
				}
				wantState(t, p, 1, 0)
				// Not even for a moment is it in the queue.
				if _, _, err := p.enter(t.Context(), "b", "bob", no.fn); err != ErrBusy {
					t.Errorf("enter says %v, want ErrBusy", err)
				}
			}
			joined := ask(p, "a", "bob", nil)
			wantWaits(t, joined)
			a.end("A", nil)
			wantVal(t, ca, "A")
			wantVal(t, joined, "A")
			wantStarts(t, no, 0)
			wantIdle(t, p)
		})
	}
}

func TestAPoolWithoutSlotsIsClosedAndOneWithoutAQueueDoesNotWait(t *testing.T) {
	for _, slots := range []int{0, -1} {
		synctest.Test(t, func(t *testing.T) {
			p := New(slots, 4, time.Minute)
			no := newWork()
			for range 10 {
				c := ask(p, "k", "a", no)
				wantErr(t, c, ErrBusy)
				if c.took != 0 {
					t.Errorf("refused after %v, want at once: no slot will ever free", c.took)
				}
			}
			wantStarts(t, no, 0)
			wantState(t, p, 0, 0)
		})
	}
	for _, queue := range []int{0, -1} {
		synctest.Test(t, func(t *testing.T) {
			p := New(1, queue, time.Minute)
			a := newWork()
			ca := ask(p, "a", "alice", a)
			wantErr(t, ask(p, "b", "bob", newWork()), ErrBusy)
			wantState(t, p, 1, 0)
			a.end("A", nil)
			wantVal(t, ca, "A")
			wantIdle(t, p)
		})
	}
}

func TestWithoutWorkAndWithoutAJobToJoinDoFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(1, 1, time.Minute)
		wantErr(t, ask(p, "k", "a", nil), errNoWork)
		wantState(t, p, 0, 0)
		w := newWork()
		c := ask(p, "k", "a", w)
		wantErr(t, ask(p, "other", "b", nil), errNoWork)
		wantState(t, p, 1, 0)
		w.end("V", nil)
		wantVal(t, c, "V")
		wantErr(t, ask(p, "k", "b", nil), errNoWork) // nothing is cached
		wantIdle(t, p)
	})
}

func TestWorkThatAsksForOtherWorkInAFullPoolIsRefusedNotStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(1, 1, time.Second)
		began := time.Now()
		var same, other error
		_, err := p.Do(context.Background(), "a", "alice", func(ctx context.Context) (any, error) {
			_, same = p.Do(ctx, "b", "alice", func(context.Context) (any, error) { return nil, nil })
			_, other = p.Do(ctx, "b", "bob", func(context.Context) (any, error) { return nil, nil })
			return nil, nil
		})
		if err != nil || same != ErrCallerBusy || other != ErrBusy || time.Since(began) != time.Second {
			t.Errorf("got %v, %v, %v after %v", err, same, other, time.Since(began))
		}
		wantIdle(t, p)
	})
}

func TestTheErrorsSayWhatTheContractSays(t *testing.T) {
	got := []string{ErrBusy.Error(), ErrCallerBusy.Error()}
	if want := []string{"pdf workers busy", "busy"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func BenchmarkUncontendedDo(b *testing.B) {
	p := New(2, 4, time.Second)
	ctx := context.Background()
	fn := func(context.Context) (any, error) { return nil, nil }
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Do(ctx, "key", "caller", fn); err != nil {
			b.Fatal(err)
		}
	}
}
