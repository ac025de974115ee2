package batch_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"sift.build/sift/internal/batch"
	"sift.build/sift/internal/sift"
)

// namedStore tells a fetch which target of which job it is for: in the URL.
type namedStore struct{ *memStore }

func (s namedStore) ClaimJob(ctx context.Context) (batch.Claimed, bool, error) {
	c, ok, err := s.memStore.ClaimJob(ctx)
	for i := range c.Targets {
		c.Targets[i].URL += fmt.Sprintf("#%s/%d", c.JobID, i)
	}
	return c, ok, err
}

// model is a random walk, and what must hold all along it.
type model struct {
	*world
	rand *rand.Rand
	f    *faults

	mu      sync.Mutex
	flying  map[string]int  // job: the target that is being fetched
	next    map[string]int  // job: no target before this one may be fetched any more
	fetched map[string]bool // job/target: something came of it
	most    int
	unknown map[string]bool // callers

	ids  map[string]string    // job: its caller
	last map[string]*sift.Job // as it was last seen
}

const modelWorkers = 3

func (m *model) fetch(ctx context.Context, t batch.Target) (batch.Result, error) {
	_, name, _ := strings.Cut(t.URL, "#")
	job, number, _ := strings.Cut(name, "/")
	idx, err := strconv.Atoi(number)
	if err != nil {
		m.Error(err)
	}
	m.mu.Lock()
	if other, ok := m.flying[job]; ok {
		m.Errorf("%s is fetched while target %d is", name, other)
	}
	if idx < m.next[job] || m.fetched[name] {
		m.Errorf("%s is fetched after target %d", name, m.next[job])
	}
	m.next[job] = idx
	m.flying[job] = idx
	m.most = max(m.most, len(m.flying))
	if len(m.flying) > modelWorkers || m.InFlight() > modelWorkers {
		m.Errorf("%d in flight", len(m.flying))
	}
	does, long := m.rand.IntN(12), time.Duration(m.rand.IntN(8000))*time.Millisecond
	m.mu.Unlock()
	busy := does < 4
	defer func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.flying, job)
		m.fetched[name] = !busy
	}()
	switch does {
	case 0, 1, 2, 3:
		return batch.Result{}, sift.Fail(sift.CodeBusy, "no slot")
	case 4, 5:
		return batch.Result{}, missing()
	case 6:
		panic("no")
	case 7, 8, 9:
		select {
		case <-time.After(long):
		case <-ctx.Done():
			return batch.Result{}, ctx.Err()
		}
	}
	return large(100 + int(long)%5000), nil
}

// see compares a job with how it was seen before.
func (m *model) see(j *sift.Job, whole bool) {
	m.Helper()
	done := 0
	for _, t := range j.Targets {
		if t.Status == sift.TargetDone || t.Status == sift.TargetFailed {
			done++
		}
		if (t.Status == sift.TargetDone) != (t.Result != nil) || (t.Status == sift.TargetFailed) != (t.Error != "") {
			m.Errorf("a target is %+v", t)
		}
	}
	if whole && done != j.TargetsDone {
		m.Errorf("%d are finished of %s: %s", done, j.ID, states(j))
	}
	before := m.last[j.ID]
	if before == nil {
		if whole {
			m.last[j.ID] = j
		}
		return
	}
	if j.TargetsDone < before.TargetsDone || !before.Status.Live() && j.Status != before.Status || before.Status == sift.JobRunning && j.Status == sift.JobQueued {
		m.Errorf("%s was %q and is %q", j.ID, states(before), states(j))
	}
	if !whole {
		return
	}
	for i, t := range before.Targets {
		if t.Status == sift.TargetDone || t.Status == sift.TargetFailed {
			if d := cmp.Diff(t, j.Targets[i]); d != "" {
				m.Errorf("a finished target has changed: %s", d)
			}
		}
	}
	running := slices.ContainsFunc(before.Targets, func(t sift.JobTarget) bool { return t.Status == sift.TargetRunning })
	if !before.Status.Live() && !running {
		if d := cmp.Diff(before, j); d != "" {
			m.Errorf("a finished job has changed: %s", d)
		}
	}
	m.last[j.ID] = j
}

// caps are held by the store's own count.
func (m *model) capsHold() {
	m.Helper()
	m.store.mu.Lock()
	defer m.store.mu.Unlock()
	of := map[string]int{}
	live := 0
	for _, j := range m.store.jobs {
		if j.status.Live() {
			of[j.Caller.Name]++
			live++
		}
	}
	for who, n := range of {
		if n > m.conf.JobsPerCaller {
			m.Errorf("%s has %d live jobs", who, n)
		}
	}
	if n := batch.ClaimedJobs(m.Runner); n > m.conf.JobsTotal {
		m.Errorf("%d jobs are worked on", n)
	}
	if live > m.conf.JobsTotal || m.store.bytes() > m.conf.MaxBytes+1<<20 {
		m.Errorf("%d live jobs, %d bytes", live, m.store.bytes())
	}
	for target, n := range m.store.writes {
		if n != 1 {
			m.Errorf("%s was recorded %d times", target, n)
		}
	}
}

// fine is an error that a call may have, here.
func (m *model) fine(err error, codes ...sift.Code) bool {
	m.Helper()
	f, ok := errors.AsType[*sift.Failure](err)
	if err != nil && (!ok || !slices.Contains(codes, f.Code)) {
		m.Errorf("%v", err)
	}
	return err == nil
}

func (m *model) n(n int) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.rand.IntN(n)
}

func (m *model) step() {
	who := fmt.Sprintf("caller-%d", m.n(4))
	ids := slices.Sorted(maps.Keys(m.ids))
	id := "unknown"
	if len(ids) > 0 {
		id = ids[m.n(len(ids))]
	}
	faulty := m.f.any()
	may := []sift.Code{sift.CodeNotFound}
	if faulty {
		may = append(may, sift.CodeInternal)
	}
	switch m.n(15) {
	case 0, 1, 2, 3:
		var list []string
		for i := range 1 + m.n(4) {
			list = append(list, fmt.Sprintf("http://%d/%d", m.n(3), i))
		}
		s, err := m.Submit(m.Context(), caller(who), urls(list...), m.n(3) == 0)
		if m.fine(err, append(may, sift.CodeCap)...) {
			if owner, ok := m.ids[s.JobID]; ok != s.Reused || ok && owner != who {
				m.Errorf("%s got %+v, a job of %s", who, s, owner)
			}
			m.ids[s.JobID] = who
		}
	case 4, 5:
		status, err := m.Cancel(m.Context(), caller(who), id)
		if m.fine(err, may...) {
			if m.ids[id] != who || status.Live() {
				m.Errorf("%s cancelled %s of %s: %s", who, id, m.ids[id], status)
			}
			if before := m.last[id]; before != nil && !before.Status.Live() && status != before.Status {
				m.Errorf("cancelling says %s of a job that was %s", status, before.Status)
			}
		}
	case 6, 7:
		j, err := m.Job(m.Context(), caller(m.ids[id]), id, -1, time.Duration(m.n(2)*m.n(20))*time.Second)
		if m.fine(err, may...) {
			m.see(j, true)
		}
	case 8:
		if j, err := m.Job(m.Context(), caller("another"), id, -1, 0); m.fine(err, may...) {
			m.Errorf("another reads %+v", j)
		}
	case 9:
		jobs, err := m.Jobs(m.Context(), caller(who))
		if m.fine(err, may...) {
			for i := range jobs {
				if m.ids[jobs[i].ID] != who {
					m.Errorf("%s lists %+v", who, jobs[i])
				}
				m.see(&jobs[i], false)
			}
		}
	case 10, 11:
		time.Sleep(time.Duration(m.n(20_000)) * time.Millisecond)
	case 12:
		ops := []string{"ClaimJob", "StartTarget", "FinishTarget", "FailJob", "ReleaseTarget", "CancelJob", "CreateJob", "MarkInFlightFailed"}
		if faulty {
			m.f.set(nil, ops...)
			return
		}
		for range 1 + m.n(3) {
			m.f.set([]error{errFull, errOdd, batch.ErrNoRoom}[m.n(3)], ops[m.n(len(ops))])
		}
	case 13:
		if m.n(3) > 0 {
			return
		}
		m.end()
		// What is only shown as failed is "restart" from now on.
		for _, id := range batch.LostJobs(m.Runner) {
			delete(m.last, id)
		}
		m.restart()
		jobs, err := m.Jobs(m.Context(), caller(who))
		if err != nil {
			m.Error(err)
		}
		for _, j := range jobs {
			if j.Status.Live() {
				m.Errorf("live after a restart: %+v", j)
			}
		}
		m.start()
	case 14:
		m.mu.Lock()
		defer m.mu.Unlock()
		m.unknown[who] = !m.unknown[who] && m.rand.IntN(3) == 0
	}
}

func (m *model) known(caller string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return !m.unknown[caller]
}

func (f *faults) any() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, err := range f.ops {
		if err != nil {
			return true
		}
	}
	return false
}

// A round prints its seed when it fails; it says the same each time, but for
// which of two goroutines that were woken together goes first.
func TestNothingIsDoneTwiceOrLostWhateverHappens(t *testing.T) {
	all, most, unmarked := map[move]int{}, 0, 0
	for seed := range uint64(60) {
		synctest.Test(t, func(t *testing.T) {
			m := &model{
				world: newWorld(t, batch.Config{Workers: modelWorkers, JobsPerCaller: 2, JobsTotal: 5, TTL: 2 * time.Minute, MaxBytes: 1_500, ListBytes: 5_000}),
				rand:  rand.New(rand.NewPCG(seed, 0)), flying: map[string]int{}, next: map[string]int{}, fetched: map[string]bool{},
				ids: map[string]string{}, last: map[string]*sift.Job{}, unknown: map[string]bool{},
			}
			defer func() { m.end() }()
			m.f = m.faults()
			m.conf.Store, m.conf.Fetch, m.conf.Known = namedStore{m.store}, m.fetch, m.known
			m.Runner = batch.New(m.conf)
			m.start()
			for range 80 {
				m.step()
				if m.n(3) > 0 {
					synctest.Wait()
				}
				m.capsHold()
				if batch.Unmarked(m.Runner) {
					unmarked++
				}
				if t.Failed() {
					t.Fatalf("seed %d", seed)
				}
			}
			// Left alone it comes to rest, with nothing undone.
			m.f.set(nil, slices.Collect(maps.Keys(m.f.ops))...)
			time.Sleep(time.Hour)
			synctest.Wait()
			queued, running, err := m.store.LiveJobs(t.Context())
			if err != nil || queued+running != 0 || batch.Lost(m.Runner) != 0 || m.InFlight() != 0 || batch.Watched(m.Runner) != 0 || batch.ClaimedJobs(m.Runner) != 0 {
				t.Errorf("seed %d: in the end %d and %d are live, %d lost, %d in flight, %v", seed, queued, running, batch.Lost(m.Runner), m.InFlight(), err)
			}
			m.end()
			if m.store.bytes() != 0 {
				t.Errorf("seed %d: after an hour %d bytes are left", seed, m.store.bytes())
			}
			for mv, n := range m.store.moved {
				all[mv] += n
			}
			most = max(most, m.most)
		})
	}
	// The walk has been everywhere.
	if most != modelWorkers {
		t.Errorf("there were at most %d in flight", most)
	}
	if unmarked < 20 {
		t.Errorf("after %d steps there were jobs to be marked", unmarked)
	}
	gone := map[string]int{} // each operation, and from each state
	for mv, n := range all {
		if mv.of == "job" && mv.to == "" {
			gone[mv.by] += n
			gone[mv.from] += n
		}
	}
	for _, tr := range batch.JobTransitions() {
		for _, by := range tr.By {
			n := all[move{"job", string(tr.From), string(tr.To), by}]
			if tr.To == "" {
				n = min(gone[by], gone[string(tr.From)])
			}
			if n == 0 && by != "EvictBatchOldest" { // which no runner calls
				t.Errorf("%s never made a job %q from %q", by, tr.To, tr.From)
			}
		}
	}
	for _, tr := range batch.TargetTransitions() {
		for _, by := range tr.By {
			if all[move{"target", string(tr.From), string(tr.To), by}] == 0 {
				t.Errorf("%s never made a target %q from %q", by, tr.To, tr.From)
			}
		}
	}
}
