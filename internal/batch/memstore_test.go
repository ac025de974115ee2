package batch_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sift.build/sift/internal/batch"
	"sift.build/sift/internal/batch/storetest"
	"sift.build/sift/internal/sift"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestTheMemoryStoreOfTheseTestsKeepsTheContract(t *testing.T) {
	storetest.Run(t, func(*testing.T) batch.Store { return newMemStore() })
}

// memStore is a Store in memory, for tests under the race detector and with a
// clock of their own. It refuses to make a change of state that is not in the
// package's tables, and counts those that it makes.
type memStore struct {
	// fault, if not nil, is asked before each operation, with its name; what it
	// returns is what the operation fails with, without having done anything.
	fault func(op string) error

	mu     sync.Mutex
	seq    int
	jobs   map[string]*memJob
	writes map[string]int // of a target, "job/idx": how often it was finished
	moved  map[move]int
}

type memJob struct {
	batch.NewJob
	seq    int
	epoch  int64
	newest bool
	status sift.JobStatus
	err    string
	done   int
	lease  time.Time
	nbytes int64 // of the results
	list   int64 // of the list
	parts  []sift.JobTarget
}

type move struct{ of, from, to, by string }

func newMemStore() *memStore {
	return &memStore{jobs: map[string]*memJob{}, writes: map[string]int{}, moved: map[move]int{}}
}

// begin starts an operation; end is called when it is over.
func (m *memStore) begin(ctx context.Context, op string) (end func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if m.fault != nil {
		if err := m.fault(op); err != nil {
			return nil, err
		}
	}
	m.mu.Lock()
	return m.mu.Unlock, nil
}

func legal[S ~string](table []batch.Transition[S], from, to S, by string) bool {
	return slices.ContainsFunc(table, func(t batch.Transition[S]) bool {
		return t.From == from && t.To == to && slices.Contains(t.By, by)
	})
}

func (m *memStore) setJob(j *memJob, to sift.JobStatus, by string) {
	if !legal(batch.JobTransitions(), j.status, to, by) {
		panic(fmt.Sprintf("%s made a job %s from %q", by, to, j.status))
	}
	m.moved[move{"job", string(j.status), string(to), by}]++
	j.status = to
}

func (m *memStore) setTarget(j *memJob, idx int, to sift.TargetStatus, by string) {
	p := &j.parts[idx]
	if !legal(batch.TargetTransitions(), p.Status, to, by) {
		panic(fmt.Sprintf("%s made a target %s from %q", by, to, p.Status))
	}
	m.moved[move{"target", string(p.Status), string(to), by}]++
	p.Status = to
}

func there(j *memJob, l batch.Lease) bool { return j.status.Live() || j.lease.After(l.ExpiredAt()) }

func (j *memJob) renew(l batch.Lease) {
	if l.Now.After(j.lease) {
		j.lease = l.Now
	}
}

func (m *memStore) of(caller, id string, l batch.Lease) *memJob {
	if j := m.jobs[id]; j != nil && j.Caller.Name == caller && there(j, l) {
		return j
	}
	return nil
}

// inOrder is the jobs from the oldest on.
func (m *memStore) inOrder() []*memJob {
	return slices.SortedFunc(maps.Values(m.jobs), func(a, b *memJob) int { return a.seq - b.seq })
}

func (m *memStore) bytes() (n int64) {
	for _, j := range m.jobs {
		n += j.nbytes
	}
	return n
}

func (m *memStore) drop(j *memJob, by string) {
	m.setJob(j, "", by)
	delete(m.jobs, j.ID)
}

func (m *memStore) oldestEnded(of func(*memJob) bool) *memJob {
	var oldest *memJob
	for _, j := range m.inOrder() {
		if !j.status.Live() && of(j) && (oldest == nil || j.lease.Before(oldest.lease)) {
			oldest = j
		}
	}
	return oldest
}

// room evicts until there are at most limit bytes.
func (m *memStore) room(limit int64, except, by string) (evicted int, ok bool) {
	rest := m.bytes()
	for _, j := range m.jobs {
		if !j.status.Live() && j.ID != except {
			rest -= j.nbytes
		}
	}
	if rest > limit {
		return 0, false
	}
	for ; m.bytes() > limit; evicted++ {
		m.drop(m.oldestEnded(func(j *memJob) bool { return j.ID != except && j.nbytes > 0 }), by)
	}
	return evicted, true
}

func (m *memStore) CreateJob(ctx context.Context, n batch.NewJob, caps batch.Caps, l batch.Lease) (batch.Created, error) {
	end, err := m.begin(ctx, "CreateJob")
	if err != nil {
		return batch.Created{}, err
	}
	defer end()
	if len(n.Targets) == 0 || m.jobs[n.ID] != nil {
		return batch.Created{}, errors.New("no such job can be created")
	}
	var newest *memJob
	live, own, first := 0, 0, ""
	for _, j := range m.inOrder() {
		if j.newest && j.Caller.Name == n.Caller.Name && j.IdemKey == n.IdemKey {
			newest = j
		}
		if j.status.Live() {
			live++
			if j.Caller.Name == n.Caller.Name {
				own++
				if first == "" {
					first = j.ID
				}
			}
		}
	}
	if newest != nil && !n.Fresh && there(newest, l) {
		newest.renew(l)
		return batch.Created{ID: newest.ID, Status: newest.status, Targets: len(newest.parts), Reused: true}, nil
	}
	j := &memJob{NewJob: n, lease: l.Now, newest: true, list: 500}
	for i, t := range n.Targets {
		j.list += int64(200 + len(t.URL) + len(t.Options))
		j.parts = append(j.parts, sift.JobTarget{Idx: i, URL: t.URL})
	}
	switch {
	case own >= caps.PerCaller:
		return batch.Created{}, &batch.CapError{Cap: batch.CapPerCaller, Limit: int64(caps.PerCaller), JobID: first}
	case live >= caps.Total:
		return batch.Created{}, &batch.CapError{Cap: batch.CapTotal, Limit: int64(caps.Total)}
	}
	of := func(o *memJob) bool { return o.Caller.Name == n.Caller.Name }
	have, alive := j.list, j.list
	for _, o := range m.jobs {
		if of(o) {
			have += o.list
			if o.status.Live() {
				alive += o.list
			}
		}
	}
	if alive > caps.ListBytes {
		return batch.Created{}, &batch.CapError{Cap: batch.CapLists, Limit: caps.ListBytes}
	}
	for have > caps.ListBytes {
		oldest := m.oldestEnded(of)
		have -= oldest.list
		m.drop(oldest, "CreateJob")
	}
	if newest != nil {
		newest.newest = false
	}
	m.seq++
	j.seq = m.seq
	m.jobs[j.ID] = j
	m.setJob(j, sift.JobQueued, "CreateJob")
	for i := range j.parts {
		m.setTarget(j, i, sift.TargetPending, "CreateJob")
	}
	return batch.Created{ID: j.ID, Status: j.status, Targets: len(j.parts)}, nil
}

func (m *memStore) ClaimJob(ctx context.Context) (batch.Claimed, bool, error) {
	end, err := m.begin(ctx, "ClaimJob")
	if err != nil {
		return batch.Claimed{}, false, err
	}
	defer end()
	for _, j := range m.inOrder() {
		if j.status != sift.JobQueued {
			continue
		}
		m.setJob(j, sift.JobRunning, "ClaimJob")
		j.epoch++
		c := batch.Claimed{Claim: batch.Claim{JobID: j.ID, Epoch: j.epoch}, Caller: j.Caller, CreatedAt: j.CreatedAt, NBytes: j.nbytes}
		for i, t := range j.Targets {
			c.Targets = append(c.Targets, batch.ClaimedTarget{Idx: i, NewTarget: t})
		}
		return c, true, nil
	}
	return batch.Claimed{}, false, nil
}

// claimed is the job of a claim, if that is the newest and the target is what
// it should be.
func (m *memStore) claimed(c batch.Claim, idx int, is sift.TargetStatus, in ...sift.JobStatus) *memJob {
	j := m.jobs[c.JobID]
	if j == nil || j.epoch != c.Epoch || !slices.Contains(in, j.status) || idx < 0 || idx >= len(j.parts) || j.parts[idx].Status != is {
		return nil
	}
	return j
}

func (m *memStore) StartTarget(ctx context.Context, c batch.Claim, idx int) (bool, error) {
	end, err := m.begin(ctx, "StartTarget")
	if err != nil {
		return false, err
	}
	defer end()
	j := m.claimed(c, idx, sift.TargetPending, sift.JobRunning)
	if j == nil {
		return false, nil
	}
	m.setTarget(j, idx, sift.TargetRunning, "StartTarget")
	return true, nil
}

func (m *memStore) FinishTarget(ctx context.Context, c batch.Claim, o batch.Outcome, l batch.Lease) (batch.Finished, error) {
	end, err := m.begin(ctx, "FinishTarget")
	if err != nil {
		return batch.Finished{}, err
	}
	defer end()
	j := m.claimed(c, o.Idx, sift.TargetRunning, sift.JobRunning, sift.JobCancelled)
	if j == nil || !there(j, l) {
		return batch.Finished{}, nil
	}
	grows := int64(len(o.Result) + len(o.Error) + len(o.Hint))
	evicted, ok := m.room(o.MaxBytes-grows, j.ID, "FinishTarget")
	if !ok {
		return batch.Finished{}, batch.ErrNoRoom
	}
	j.nbytes += grows
	j.done++
	j.renew(l)
	m.writes[fmt.Sprintf("%s/%d", j.ID, o.Idx)]++
	to := sift.TargetDone
	if o.Result == nil {
		to = sift.TargetFailed
	}
	m.setTarget(j, o.Idx, to, "FinishTarget")
	p := &j.parts[o.Idx]
	p.Result, p.Error, p.Hint = o.Result, o.Error, o.Hint
	if j.status == sift.JobRunning && j.done == len(j.parts) {
		good := 0
		for _, p := range j.parts {
			if p.Status == sift.TargetDone {
				good++
			}
		}
		switch good {
		case 0:
			m.setJob(j, sift.JobFailed, "FinishTarget")
		case len(j.parts):
			m.setJob(j, sift.JobDone, "FinishTarget")
		default:
			m.setJob(j, sift.JobPartial, "FinishTarget")
		}
	}
	return batch.Finished{Stored: true, Job: j.status, NBytes: j.nbytes, Evicted: evicted}, nil
}

func (m *memStore) ReleaseTarget(ctx context.Context, c batch.Claim, idx int) (bool, error) {
	end, err := m.begin(ctx, "ReleaseTarget")
	if err != nil {
		return false, err
	}
	defer end()
	j := m.claimed(c, idx, sift.TargetRunning, sift.JobCancelled)
	if j == nil {
		return false, nil
	}
	m.setTarget(j, idx, sift.TargetPending, "ReleaseTarget")
	return true, nil
}

// failRunning fails the targets of a job that are running.
func (m *memStore) failRunning(j *memJob, reason, by string) (changed bool) {
	for i := range j.parts {
		if p := &j.parts[i]; p.Status == sift.TargetRunning {
			m.setTarget(j, i, sift.TargetFailed, by)
			p.Error, p.Hint = reason, sift.HintFresh
			j.nbytes += int64(len(reason) + len(p.Hint))
			j.done++
			changed = true
			m.writes[fmt.Sprintf("%s/%d", j.ID, i)]++
		}
	}
	return changed
}

func (m *memStore) FailJob(ctx context.Context, c batch.Claim, reason string, l batch.Lease) (bool, error) {
	end, err := m.begin(ctx, "FailJob")
	if err != nil {
		return false, err
	}
	defer end()
	j := m.jobs[c.JobID]
	if j == nil || j.epoch != c.Epoch || j.status != sift.JobRunning {
		return false, nil
	}
	m.failRunning(j, reason, "FailJob")
	m.setJob(j, sift.JobFailed, "FailJob")
	j.err = reason
	j.nbytes += int64(len(reason))
	j.renew(l)
	return true, nil
}

func (m *memStore) CancelJob(ctx context.Context, caller, id string, l batch.Lease) (batch.Cancelled, bool, error) {
	end, err := m.begin(ctx, "CancelJob")
	if err != nil {
		return batch.Cancelled{}, false, err
	}
	defer end()
	j := m.of(caller, id, l)
	if j == nil {
		return batch.Cancelled{}, false, nil
	}
	live := j.status.Live()
	if live {
		m.setJob(j, sift.JobCancelled, "CancelJob")
	}
	return batch.Cancelled{Status: j.status, Changed: live, CreatedAt: j.CreatedAt}, true, nil
}

func (j *memJob) show() sift.Job {
	return sift.Job{ID: j.ID, Status: j.status, TargetsTotal: len(j.parts), TargetsDone: j.done, CreatedAt: j.CreatedAt, Error: j.err}
}

func (m *memStore) Job(ctx context.Context, caller, id string, after int, l batch.Lease) (sift.Job, bool, error) {
	end, err := m.begin(ctx, "Job")
	if err != nil {
		return sift.Job{}, false, err
	}
	defer end()
	j := m.of(caller, id, l)
	if j == nil {
		return sift.Job{}, false, nil
	}
	j.renew(l)
	job := j.show()
	job.Targets = append([]sift.JobTarget{}, j.parts[min(max(after, -1)+1, len(j.parts)):]...)
	for i := range job.Targets {
		t := &job.Targets[i]
		t.ResultBytes, t.Result = len(t.Result), nil
	}
	return job, true, nil
}

func (m *memStore) Result(ctx context.Context, caller, id string, idx int) (json.RawMessage, bool, error) {
	end, err := m.begin(ctx, "Result")
	if err != nil {
		return nil, false, err
	}
	defer end()
	j := m.jobs[id]
	if j == nil || j.Caller.Name != caller || idx < 0 || idx >= len(j.parts) || j.parts[idx].Status != sift.TargetDone {
		return nil, false, nil
	}
	return j.parts[idx].Result, true, nil
}

func (m *memStore) JobProgress(ctx context.Context, caller, id string, l batch.Lease) (batch.Progress, bool, error) {
	end, err := m.begin(ctx, "JobProgress")
	if err != nil {
		return batch.Progress{}, false, err
	}
	defer end()
	j := m.of(caller, id, l)
	if j == nil {
		return batch.Progress{}, false, nil
	}
	running := slices.ContainsFunc(j.parts, func(p sift.JobTarget) bool { return p.Status == sift.TargetRunning })
	return batch.Progress{Status: j.status, TargetsDone: j.done, InFlight: running}, true, nil
}

func (m *memStore) Jobs(ctx context.Context, caller string, limit int, l batch.Lease) ([]sift.Job, error) {
	end, err := m.begin(ctx, "Jobs")
	if err != nil {
		return nil, err
	}
	defer end()
	var jobs []sift.Job
	for _, j := range slices.Backward(m.inOrder()) {
		if len(jobs) < limit && j.Caller.Name == caller && there(j, l) {
			jobs = append(jobs, j.show())
		}
	}
	return jobs, nil
}

func (m *memStore) LiveJobs(ctx context.Context) (queued, running int, err error) {
	end, err := m.begin(ctx, "LiveJobs")
	if err != nil {
		return 0, 0, err
	}
	defer end()
	for _, j := range m.jobs {
		switch j.status {
		case sift.JobQueued:
			queued++
		case sift.JobRunning:
			running++
		}
	}
	return queued, running, nil
}

func (m *memStore) SweepJobs(ctx context.Context, l batch.Lease) (n int, err error) {
	end, err := m.begin(ctx, "SweepJobs")
	if err != nil {
		return 0, err
	}
	defer end()
	for _, j := range m.inOrder() {
		if !there(j, l) {
			m.drop(j, "SweepJobs")
			n++
		}
	}
	return n, nil
}

func (m *memStore) EvictBatchOldest(ctx context.Context) (int64, bool, error) {
	end, err := m.begin(ctx, "EvictBatchOldest")
	if err != nil {
		return 0, false, err
	}
	defer end()
	j := m.oldestEnded(func(*memJob) bool { return true })
	if j == nil {
		return 0, false, nil
	}
	m.drop(j, "EvictBatchOldest")
	return j.nbytes, true, nil
}

func (m *memStore) BatchNbytes(ctx context.Context) (int64, error) {
	end, err := m.begin(ctx, "BatchNbytes")
	if err != nil {
		return 0, err
	}
	defer end()
	return m.bytes(), nil
}

func (m *memStore) MarkInFlightFailed(ctx context.Context, reason string, now time.Time) (marked []batch.Marked, err error) {
	end, err := m.begin(ctx, "MarkInFlightFailed")
	if err != nil {
		return nil, err
	}
	defer end()
	for _, j := range m.inOrder() {
		mark, before := batch.Marked{JobID: j.ID, Caller: j.Caller.Name}, j.done
		changed := m.failRunning(j, reason, "MarkInFlightFailed")
		mark.Targets = j.done - before
		if j.status.Live() {
			m.setJob(j, sift.JobFailed, "MarkInFlightFailed")
			j.err = reason
			j.nbytes += int64(len(reason))
			mark.Live, changed = true, true
		}
		if changed {
			j.renew(batch.Lease{Now: now})
			marked = append(marked, mark)
		}
	}
	return marked, nil
}

func (m *memStore) ShiftLeases(ctx context.Context, d time.Duration) error {
	end, err := m.begin(ctx, "ShiftLeases")
	if err != nil {
		return err
	}
	defer end()
	for _, j := range m.jobs {
		j.lease = j.lease.Add(d)
	}
	return nil
}
