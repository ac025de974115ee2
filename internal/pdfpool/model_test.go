package pdfpool

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// model is the pool of the specification, one step at a time and without a
// goroutine: what happens to whom after each step is written out by hand.
type model struct {
	slots, queue int
	wait         time.Duration

	now  time.Duration
	jobs []*modelJob // oldest first
}

type modelJob struct {
	key, caller string
	starter     int
	running     bool
	deadline    time.Duration // of a queued one
	waiters     map[int]bool  // calls, by number
}

// outcome is how a call ended. A result is the number of the call whose work
// was run; -1 if there is none.
type outcome struct {
	result int
	err    error
}

func (m *model) find(is func(*modelJob) bool) *modelJob {
	if i := slices.IndexFunc(m.jobs, is); i >= 0 {
		return m.jobs[i]
	}
	return nil
}

func (m *model) count(running bool) (n int) {
	for _, j := range m.jobs {
		if j.running == running {
			n++
		}
	}
	return n
}

func (m *model) waiting(key string) int {
	j := m.find(func(j *modelJob) bool { return j.key == key })
	if j == nil {
		return 0
	}
	n := len(j.waiters)
	if j.waiters[j.starter] {
		n--
	}
	return n
}

// drop removes a job and gives its slot, if it had one, to the one that has
// waited longest.
func (m *model) drop(j *modelJob, how outcome, outcomes map[int]outcome) {
	m.jobs = slices.DeleteFunc(m.jobs, func(other *modelJob) bool { return other == j })
	for call := range j.waiters {
		outcomes[call] = how
	}
	if next := m.find(func(j *modelJob) bool { return !j.running }); next != nil && m.count(true) < m.slots {
		next.running = true
	}
}

func (m *model) ask(call int, key, caller string, hasWork bool, outcomes map[int]outcome) {
	if j := m.find(func(j *modelJob) bool { return j.key == key }); j != nil {
		j.waiters[call] = true
		return
	}
	refuse := func(err error) { outcomes[call] = outcome{-1, err} }
	switch {
	case m.find(func(j *modelJob) bool { return j.caller == caller }) != nil:
		refuse(ErrCallerBusy)
	case !hasWork:
		refuse(errNoWork)
	case m.count(true) < m.slots:
		m.jobs = append(m.jobs, &modelJob{key: key, caller: caller, starter: call, running: true, waiters: map[int]bool{call: true}})
	case m.wait <= 0 || m.count(false) >= m.queue:
		refuse(ErrBusy)
	default:
		m.jobs = append(m.jobs, &modelJob{key: key, caller: caller, starter: call, deadline: m.now + m.wait, waiters: map[int]bool{call: true}})
	}
}

func (m *model) leave(call int, outcomes map[int]outcome) {
	j := m.find(func(j *modelJob) bool { return j.waiters[call] })
	if j == nil {
		return
	}
	delete(j.waiters, call)
	outcomes[call] = outcome{-1, context.Canceled}
	if len(j.waiters) == 0 && !j.running {
		m.drop(j, outcome{}, outcomes)
	}
}

func (m *model) advance(d time.Duration, outcomes map[int]outcome) {
	m.now += d
	for _, j := range slices.Clone(m.jobs) {
		if !j.running && j.deadline <= m.now {
			m.drop(j, outcome{-1, ErrBusy}, outcomes)
		}
	}
}

// TestThePoolDoesWhatTheModelDoes makes random steps, one at a time, and
// compares all that can be seen of the pool with the model after each: what
// runs, what is queued, who waits, which work has started (so also in which
// order), and how every call has ended.
func TestThePoolDoesWhatTheModelDoes(t *testing.T) {
	for seed := range uint64(40) {
		synctest.Test(t, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 3))
			m := &model{slots: 1 + rnd.IntN(3), queue: rnd.IntN(5), wait: time.Duration(rnd.IntN(8)) * time.Second}
			p := New(m.slots, m.queue, m.wait)
			keys := 2 + rnd.IntN(6)
			callers := 2 + rnd.IntN(8)

			var works []*work // by call; nil: it gave none
			var calls []*call
			var open []int // calls that had not ended a step ago
			want := make(map[int]outcome)
			failure := errors.New("failed")
			for step := range 250 {
				var what string
				switch n := rnd.IntN(10); {
				case n < 5:
					key, caller := fmt.Sprint("k", rnd.IntN(keys)), fmt.Sprint("c", rnd.IntN(callers))
					var w *work
					if rnd.IntN(8) > 0 {
						w = newWork()
					}
					what = fmt.Sprintf("call %d: %s asks for %s (work: %v)", len(calls), caller, key, w != nil)
					m.ask(len(calls), key, caller, w != nil, want)
					open = append(open, len(calls))
					works = append(works, w)
					calls = append(calls, ask(p, key, caller, w))
				case n < 7 && len(calls) > 0:
					i := max(0, len(calls)-1-rnd.IntN(12))
					what = fmt.Sprint("leaves: ", i)
					m.leave(i, want)
					calls[i].leave()
				case n < 9:
					running := slices.DeleteFunc(slices.Clone(m.jobs), func(j *modelJob) bool { return !j.running })
					if len(running) == 0 {
						continue
					}
					j := running[rnd.IntN(len(running))]
					how := rnd.IntN(4)
					what = fmt.Sprintf("the work of call %d ends in way %d", j.starter, how)
					switch how {
					case 0:
						m.drop(j, outcome{-1, failure}, want)
						works[j.starter].end(nil, failure)
					case 1:
						m.drop(j, outcome{-1, errGoexit}, want)
						works[j.starter].endWith(func() (any, error) { runtime.Goexit(); return nil, nil })
					case 2:
						m.drop(j, outcome{-1, failure}, want)
						works[j.starter].endWith(func() (any, error) { panic(failure) })
					default:
						m.drop(j, outcome{j.starter, nil}, want)
						works[j.starter].end(j.starter, nil)
					}
				default:
					d := time.Duration(rnd.IntN(4)) * time.Second
					what = fmt.Sprint("the clock goes on by ", d)
					m.advance(d, want)
					after(d)
				}

				wantState(t, p, m.count(true), m.count(false))
				for k := range keys {
					key := fmt.Sprint("k", k)
					wantWaiting(t, p, key, m.waiting(key))
				}
				open = slices.DeleteFunc(open, func(i int) bool {
					o, ended := want[i]
					switch {
					case !ended:
						wantWaits(t, calls[i])
					case o.err != nil:
						wantErr(t, calls[i], o.err)
					default:
						wantVal(t, calls[i], o.result)
					}
					return ended
				})
				for _, j := range m.jobs {
					var n int32
					if j.running {
						n = 1
					}
					wantStarts(t, works[j.starter], n)
				}
				if t.Failed() {
					t.Fatalf("seed %d (slots %d, queue %d, wait %v), step %d: %s", seed, m.slots, m.queue, m.wait, step, what)
				}
			}

			// No work has run twice, and none of a call that was refused.
			owned := 0
			for i, w := range works {
				if w == nil {
					continue
				}
				n := w.starts.Load()
				if o, ended := want[i]; n > 1 || n == 1 && ended && (o.err == ErrBusy || o.err == ErrCallerBusy) {
					t.Errorf("seed %d: the work of call %d started %d times though it ended with %v", seed, i, n, o.err)
				}
				owned += int(n)
			}
			if owned == 0 {
				t.Errorf("seed %d: no work was started, so nothing was tested", seed)
			}
			for len(m.jobs) > 0 {
				j := m.jobs[0] // the oldest runs: jobs are granted in this order
				m.drop(j, outcome{}, want)
				works[j.starter].end(nil, nil)
			}
			wantIdle(t, p)
		})
	}
}

// TestManyCallersAtOnceBreakNoRule lets many goroutines loose on a pool. The
// bubble's clock moves only when all of them wait, and every duration is a few
// whole milliseconds, so that timers, cancels and ends of work fall together
// all the time.
func TestManyCallersAtOnceBreakNoRule(t *testing.T) {
	for seed := range uint64(12) {
		synctest.Test(t, func(t *testing.T) { hammer(t, seed) })
	}
}

// pause waits on the bubble's clock. A channel timer that is due before
// anyone waits for it is run by whoever receives from it; when two goroutines
// of a bubble do that at once under -race, the race detector itself crashes
// (seen with Go 1.26.8: both use the bubble's one race context). So there are
// no pauses of zero.
func pause(d time.Duration) {
	if d > 0 {
		<-time.After(d)
	}
}

func hammer(t *testing.T, seed uint64) {
	const goroutines, rounds = 24, 100
	setup := rand.New(rand.NewPCG(seed, 0))
	slots, queue, wait := 1+setup.IntN(3), setup.IntN(5), time.Duration(1+setup.IntN(4))*time.Millisecond
	p := New(slots, queue, wait)

	var mu sync.Mutex
	busyKeys, busyCallers := make(map[string]bool), make(map[string]bool)
	flights, ended := 0, 0
	outcomes := make(map[string]int)
	failure := errors.New("failed")

	type flight struct{ key string }
	// begin and end hold the rules from the work's own point of view.
	begin := func(key, caller string) {
		mu.Lock()
		defer mu.Unlock()
		if busyKeys[key] || busyCallers[caller] {
			t.Errorf("work for %s of %s starts while key (%v) or caller (%v) has work running", key, caller, busyKeys[key], busyCallers[caller])
		}
		busyKeys[key], busyCallers[caller] = true, true
		flights++
		if n := len(busyKeys); n > slots {
			t.Errorf("%d run on %d slots", n, slots)
		}
	}
	end := func(key, caller string) {
		mu.Lock()
		defer mu.Unlock()
		delete(busyKeys, key)
		delete(busyCallers, caller)
		ended++
	}
	look := func() {
		if err := consistent(p); err != nil {
			t.Error(err)
		}
	}

	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(seed, uint64(g)+1))
			ms := func(n int) time.Duration { return time.Duration(rnd.IntN(n)) * time.Millisecond }
			for range rounds {
				key, caller := fmt.Sprint("k", rnd.IntN(6)), fmt.Sprint("c", rnd.IntN(8))
				patience := time.Hour
				if rnd.IntN(4) == 0 {
					patience = ms(5)
				}
				ctx, cancel := context.WithTimeout(context.Background(), patience)
				if rnd.IntN(8) == 0 {
					go cancel()
				}
				hold, how := ms(4), rnd.IntN(8)
				var starts atomic.Int32
				fn := func(context.Context) (any, error) {
					if starts.Add(1) > 1 {
						t.Error("one call's work started twice")
					}
					begin(key, caller)
					defer end(key, caller)
					look()
					pause(hold)
					switch how {
					case 0:
						return nil, failure
					case 1:
						panic(failure)
					case 2:
						runtime.Goexit()
					}
					return &flight{key}, nil
				}
				if rnd.IntN(8) == 0 {
					fn = nil
				}
				v, err := p.Do(ctx, key, caller, fn)
				kind := "result"
				switch {
				case err == nil:
					if f, ok := v.(*flight); !ok || f.key != key {
						t.Errorf("Do(%s) = %v", key, v)
					}
				case err == ErrBusy || err == ErrCallerBusy:
					kind = err.Error()
				case errors.Is(err, failure) || err == errGoexit:
					kind = "failed"
				case err == errNoWork && fn == nil:
					kind = "no work"
				case ctx.Err() != nil && err == ctx.Err():
					kind = "left"
				default:
					t.Errorf("Do(%s) = %v, %v", key, v, err)
				}
				if err != nil && v != nil {
					t.Errorf("Do(%s) = %v beside %v", key, v, err)
				}
				cancel()
				look()
				mu.Lock()
				outcomes[kind]++
				mu.Unlock()
				if rnd.IntN(3) == 0 {
					pause(ms(4))
				}
			}
		})
	}
	wg.Wait()
	synctest.Wait()
	<-time.After(time.Second) // what nobody waits for ends too
	mu.Lock()
	if flights == 0 || flights != ended {
		t.Errorf("%d flights began, %d ended", flights, ended)
	}
	if outcomes["result"] == 0 || outcomes["left"] == 0 || outcomes["busy"] == 0 {
		t.Errorf("seed %d tested too little: %v", seed, outcomes)
	}
	t.Logf("seed %d (slots %d, queue %d, wait %v): %d flights, %v", seed, slots, queue, wait, flights, slices.Sorted(maps.Keys(outcomes)))
	mu.Unlock()
	wantIdle(t, p)
}
