package storetest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"sift.build/sift/internal/batch"
	"sift.build/sift/internal/sift"
)

// op is an operation that changes a state.
type op string

const (
	opClaim   op = "ClaimJob"
	opStart   op = "StartTarget"
	opFinish  op = "FinishTarget"
	opRelease op = "ReleaseTarget"
	opFail    op = "FailJob"
	opCancel  op = "CancelJob"
)

// do does the operation and tells whether it changed something.
func (s *suite) do(o op, c batch.Claim, idx int) (changed bool) {
	s.Helper()
	var err error
	switch o {
	case opClaim:
		_, changed, err = s.ClaimJob(s.Context())
	case opStart:
		changed, err = s.StartTarget(s.Context(), c, idx)
	case opFinish:
		var f batch.Finished
		f, err = s.FinishTarget(s.Context(), c, answered(idx), at(time.Minute))
		changed = f.Stored
		if !changed {
			same(s, "what a target that was not stored came to", f, batch.Finished{})
		}
	case opRelease:
		changed, err = s.ReleaseTarget(s.Context(), c, idx)
	case opFail:
		changed, err = s.FailJob(s.Context(), c, "store: full", at(time.Minute))
	case opCancel:
		var x batch.Cancelled
		x, _, err = s.CancelJob(s.Context(), "a", c.JobID, at(time.Minute))
		changed = x.Changed
	}
	s.ok(err)
	return changed
}

type pair struct {
	job    sift.JobStatus
	target sift.TargetStatus
}

// allowed is what may be done in which state of a job and of one of its
// targets; all else is refused. A pair that is not here cannot come about by
// what is here.
func allowed() map[pair][]op {
	return map[pair][]op{
		{sift.JobQueued, sift.TargetPending}: {opClaim, opCancel},

		{sift.JobRunning, sift.TargetPending}: {opStart, opFail, opCancel},
		{sift.JobRunning, sift.TargetRunning}: {opFinish, opFail, opCancel},
		{sift.JobRunning, sift.TargetDone}:    {opFail, opCancel},
		{sift.JobRunning, sift.TargetFailed}:  {opFail, opCancel},

		{sift.JobCancelled, sift.TargetPending}: {},
		{sift.JobCancelled, sift.TargetRunning}: {opFinish, opRelease},
		{sift.JobCancelled, sift.TargetDone}:    {},
		{sift.JobCancelled, sift.TargetFailed}:  {},

		{sift.JobFailed, sift.TargetPending}: {}, // by FailJob or a restart
		{sift.JobFailed, sift.TargetDone}:    {}, // likewise
		{sift.JobFailed, sift.TargetFailed}:  {},

		{sift.JobPartial, sift.TargetDone}:   {},
		{sift.JobPartial, sift.TargetFailed}: {},
		{sift.JobDone, sift.TargetDone}:      {},
	}
}

// bring makes a job of two targets whose first is in that state.
func (s *suite) bring(p pair) batch.Claim {
	s.Helper()
	j := s.queued("a", 2, at(0))
	if p.job == sift.JobQueued {
		return batch.Claim{JobID: j.ID, Epoch: 0}
	}
	c := s.claim().Claim
	second := answered(1)
	switch p.target {
	case sift.TargetRunning:
		s.startTarget(c, 0)
	case sift.TargetDone:
		s.drain(c, at(0), answered(0))
		if p.job == sift.JobPartial {
			second = failed(1)
		}
	case sift.TargetFailed:
		s.drain(c, at(0), failed(0))
		if p.job == sift.JobFailed {
			second = failed(1)
		}
	case sift.TargetPending:
	}
	switch p.job {
	case sift.JobCancelled:
		s.cancel("a", j.ID, at(0))
	case sift.JobDone, sift.JobPartial, sift.JobFailed:
		if p.job == sift.JobFailed && p.target != sift.TargetFailed {
			s.do(opFail, c, 0)
			break
		}
		s.drain(c, at(0), second)
	case sift.JobQueued, sift.JobRunning:
	}
	got := s.job("a", j.ID, at(0))
	same(s, "the state to begin with", pair{got.Status, got.Targets[0].Status}, p)
	return c
}

func states(s *suite) {
	ops := []op{opClaim, opStart, opFinish, opRelease, opFail, opCancel}
	reachable := 0
	for _, job := range sift.JobStatuses() {
		for _, target := range sift.TargetStatuses() {
			p := pair{job, target}
			may, ok := allowed()[p]
			if !ok {
				continue
			}
			reachable++
			c := s.bring(p)
			before, nbytes := s.job("a", c.JobID, at(0)), s.bytes()

			// All that is refused changes nothing, one after the other.
			for _, o := range ops {
				wrong := map[string]batch.Claim{
					"an older claim":          {JobID: c.JobID, Epoch: c.Epoch - 1},
					"a claim there never was": {JobID: c.JobID, Epoch: c.Epoch + 1},
					"another job":             {JobID: "no such job", Epoch: c.Epoch},
				}
				if !slices.Contains(may, o) {
					wrong = map[string]batch.Claim{"the newest claim": c}
				} else if o == opClaim || o == opCancel { // of these none names a claim
					continue
				}
				for name, claim := range wrong {
					if s.do(o, claim, 0) {
						s.Errorf("%s with %s in a %s job with a %s target was not refused", o, name, job, target)
					}
				}
				if slices.Contains(may, o) && o != opFail {
					for _, idx := range []int{-1, 2, 1 << 40} {
						if s.do(o, c, idx) {
							s.Errorf("%s of target %d of two was not refused", o, idx)
						}
					}
				}
				same(s, fmt.Sprintf("a %s job with a %s target after a refused %s", job, target, o), s.job("a", c.JobID, at(0)), before)
			}
			same(s, "the bytes", s.bytes(), nbytes)

			// Of all that is allowed each changes it, once.
			for i, o := range may {
				if i > 0 {
					c = s.bring(p)
				}
				if !s.do(o, c, 0) {
					s.Errorf("%s in a %s job with a %s target was refused", o, job, target)
				}
				if s.do(o, c, 0) {
					s.Errorf("%s in a %s job with a %s target was done twice", o, job, target)
				}
				if got := s.job("a", c.JobID, at(0)); got.Status.Live() {
					s.cancel("a", c.JobID, at(0)) // not to be claimed in place of the next
				}
			}
		}
	}
	same(s, "pairs of states", reachable, len(allowed()))
}

func finishOnce(s *suite) {
	for round := range 12 {
		c := s.running("a", 2, at(0))
		s.startTarget(c, 0)
		l := at(time.Duration(round) * time.Minute)
		finished := together(s, 8, func(i int) (batch.Finished, error) {
			o := answered(0)
			if i%2 == 1 {
				o = failed(0)
			}
			return s.FinishTarget(s.Context(), c, o, l)
		})
		stored := 0
		var winner int
		for i, f := range finished {
			if f.Stored {
				stored++
				winner = i
			}
		}
		same(s, "writes that were stored", stored, 1)
		j := s.job("a", c.JobID, at(0))
		same(s, "targets done", j.TargetsDone, 1)
		if won := j.Targets[0].Status == sift.TargetDone; won != (winner%2 == 0) {
			s.Errorf("write %d won, and the target is %+v", winner, j.Targets[0])
		}
		s.cancel("a", c.JobID, at(0))
	}
}

func finalStatus(s *suite) {
	tests := []struct {
		outcomes []func(int) batch.Outcome
		want     sift.JobStatus
	}{
		{[]func(int) batch.Outcome{answered}, sift.JobDone},
		{[]func(int) batch.Outcome{failed}, sift.JobFailed},
		{[]func(int) batch.Outcome{answered, answered, answered}, sift.JobDone},
		{[]func(int) batch.Outcome{failed, failed, failed}, sift.JobFailed},
		{[]func(int) batch.Outcome{failed, failed, answered}, sift.JobPartial},
		{[]func(int) batch.Outcome{answered, failed, failed}, sift.JobPartial},
		{[]func(int) batch.Outcome{answered, failed, answered}, sift.JobPartial},
	}
	for _, tt := range tests {
		c := s.running("a", len(tt.outcomes), at(0))
		for i, outcome := range tt.outcomes {
			f := s.drain(c, at(0), outcome(i))
			want := sift.JobRunning
			if i == len(tt.outcomes)-1 {
				want = tt.want
			}
			same(s, "the job after a target", f.Job, want)
			got := s.job("a", c.JobID, at(0))
			same(s, "the job as read", []any{got.Status, got.TargetsDone, got.Error}, []any{want, i + 1, ""})
		}
	}
}

func cancelInFlight(s *suite) {
	for name, tt := range map[string]struct {
		before []batch.Outcome
		last   batch.Outcome
		n      int
	}{
		"the first of three":    {nil, answered(0), 3},
		"the second, failing":   {[]batch.Outcome{answered(0)}, failed(1), 3},
		"the last":              {[]batch.Outcome{answered(0), answered(1)}, answered(2), 3},
		"the only one":          {nil, answered(0), 1},
		"the only one, failing": {nil, failed(0), 1},
	} {
		c := s.running("a", tt.n, at(0))
		s.drain(c, at(0), tt.before...)
		s.startTarget(c, tt.last.Idx)
		s.cancel("a", c.JobID, at(0))
		// It finishes long after, and renews the lease all the same.
		f := s.finish(c, tt.last, at(ttl/2))
		same(s, name+": the job", f.Job, sift.JobCancelled)
		j := s.job("a", c.JobID, at(ttl/2))
		same(s, name+": the job as read", []any{j.Status, j.TargetsDone, j.Targets[tt.last.Idx].Result}, []any{sift.JobCancelled, len(tt.before) + 1, tt.last.Result})
		if next := tt.last.Idx + 1; next < tt.n {
			if s.do(opStart, c, next) {
				s.Errorf("%s: another target was started", name)
			}
			same(s, name+": the next target", j.Targets[next].Status, sift.TargetPending)
		}
		if !s.peek("a", c.JobID, at(ttl+ttl/4)) {
			s.Errorf("%s: the lease was not renewed", name)
		}
	}

	// One that was waiting for a slot is given back, and not fetched any more.
	c := s.running("a", 2, at(0))
	s.startTarget(c, 0)
	nbytes := s.bytes()
	s.cancel("a", c.JobID, at(0))
	if !s.do(opRelease, c, 0) {
		s.Error("it was not given back")
	}
	j := s.job("a", c.JobID, at(0))
	same(s, "the job", []any{j.Status, j.TargetsDone, j.Targets[0].Status}, []any{sift.JobCancelled, 0, sift.TargetPending})
	same(s, "its bytes", s.bytes(), nbytes)
	for _, o := range []op{opStart, opFinish, opRelease} {
		if s.do(o, c, 0) {
			s.Errorf("%s after it was given back", o)
		}
	}
}

func cancelTells(s *suite) {
	created := start().Add(-time.Hour)
	is := func(id string, want batch.Cancelled) {
		s.Helper()
		want.CreatedAt = created
		same(s, "what cancelling came to", s.cancel("a", id, at(time.Hour)), want)
	}
	another := func() batch.NewJob {
		j := s.newJob("a", 1)
		j.CreatedAt = created
		s.create(j, at(0))
		return j
	}
	now, already := batch.Cancelled{Status: sift.JobCancelled, Changed: true}, batch.Cancelled{Status: sift.JobCancelled}

	queued := another()
	is(queued.ID, now)
	is(queued.ID, already)
	running := another()
	c := s.claim().Claim
	is(running.ID, now)
	is(running.ID, already)
	same(s, "a claim with nothing queued", s.do(opClaim, c, 0), false)

	for _, tt := range []struct {
		o    batch.Outcome
		want sift.JobStatus
	}{{answered(0), sift.JobDone}, {failed(0), sift.JobFailed}} {
		ended := another()
		s.drain(s.claim().Claim, at(0), tt.o)
		is(ended.ID, batch.Cancelled{Status: tt.want})
		same(s, "the job", s.job("a", ended.ID, at(0)).Status, tt.want)
	}

	// The lease is as old as it was: this one expires by its creation.
	j := another()
	is(j.ID, now)
	if !s.peek("a", j.ID, at(ttl-1)) || s.peek("a", j.ID, at(ttl)) {
		s.Error("cancelling changed the lease")
	}
}

func cancelAgainstFinish(s *suite) {
	for range 20 {
		c := s.running("a", 1, at(0))
		s.startTarget(c, 0)
		var finished batch.Finished
		var cancelled batch.Cancelled
		together(s, 2, func(i int) (_ struct{}, err error) {
			if i == 0 {
				finished, err = s.FinishTarget(s.Context(), c, answered(0), at(0))
			} else {
				cancelled, _, err = s.CancelJob(s.Context(), "a", c.JobID, at(0))
			}
			return struct{}{}, err
		})
		want := sift.JobDone
		if cancelled.Changed {
			want = sift.JobCancelled
		}
		j := s.job("a", c.JobID, at(0))
		same(s, "who was told what", []any{finished.Stored, finished.Job, cancelled.Status, j.Status, j.TargetsDone}, []any{true, want, want, want, 1})
	}
}

func failJob(s *suite) {
	c := s.running("a", 4, at(0))
	s.drain(c, at(0), answered(0), failed(1))
	s.startTarget(c, 2)
	want := s.job("a", c.JobID, at(0))
	if ok, err := s.FailJob(s.Context(), c, "store: full", at(ttl/2)); !ok || err != nil {
		s.Fatal(ok, err)
	}
	want.Status, want.Error, want.TargetsDone = sift.JobFailed, "store: full", 3
	want.Targets[2].Status, want.Targets[2].Error, want.Targets[2].Hint = sift.TargetFailed, "store: full", sift.HintFresh
	same(s, "the failed job", s.job("a", c.JobID, at(ttl/2)), want)
	if !s.peek("a", c.JobID, at(ttl+ttl/4)) {
		s.Error("the lease was not renewed")
	}

	// With none in flight.
	c = s.running("a", 1, at(0))
	if ok, err := s.FailJob(s.Context(), c, "store: damaged", at(0)); !ok || err != nil {
		s.Fatal(ok, err)
	}
	j := s.job("a", c.JobID, at(0))
	same(s, "the failed job", []any{j.Status, j.Error, j.TargetsDone, j.Targets[0].Status}, []any{sift.JobFailed, "store: damaged", 0, sift.TargetPending})
}

func finishGone(s *suite) {
	gone := map[string]func(c batch.Claim){
		"evicted": func(batch.Claim) {
			if _, found, err := s.EvictBatchOldest(s.Context()); !found || err != nil {
				s.Fatal(found, err)
			}
		},
		"swept":       func(batch.Claim) { same(s, "jobs swept", s.sweep(at(ttl)), 1) },
		"not swept":   func(batch.Claim) {},
		"also failed": func(c batch.Claim) { s.do(opFail, c, 0) },
	}
	for name, fn := range gone {
		c := s.running("a", 2, at(0))
		s.startTarget(c, 0)
		s.cancel("a", c.JobID, at(0))
		fn(c)
		f, err := s.FinishTarget(s.Context(), c, answered(0), at(ttl))
		s.ok(err)
		same(s, name+": what came of it", f, batch.Finished{})
		if _, found, err := Whole(s.Context(), s, "a", c.JobID, -1, at(ttl)); found || err != nil {
			s.Errorf("%s: it is there again: %v, %v", name, found, err)
		}
		s.sweep(at(ttl))
	}
	same(s, "the bytes with no job left", s.bytes(), 0)
}

func restart(s *suite) {
	// One of every kind, in the order in which they can be made.
	done := s.done("a", 100, at(0))
	cancelled := s.running("a", 3, at(0)) // with a target in flight
	s.drain(cancelled, at(0), answered(0))
	s.startTarget(cancelled, 1)
	s.cancel("a", cancelled.JobID, at(0))
	idle := s.running("b", 1, at(0)) // between two targets
	s.cancel("b", idle.JobID, at(0))
	between := s.running("b", 3, at(0))
	s.drain(between, at(0), answered(0))
	inFlight := s.running("a", 3, at(0))
	s.drain(inFlight, at(0), failed(0))
	s.startTarget(inFlight, 1)
	last := s.running("c", 1, at(0))
	s.startTarget(last, 0)
	queued := s.queued("a", 2, at(0))

	jobs := func(l batch.Lease) (all []sift.Job) {
		for _, j := range []struct{ caller, id string }{
			{"a", done}, {"a", cancelled.JobID}, {"b", idle.JobID}, {"b", between.JobID}, {"a", inFlight.JobID}, {"c", last.JobID}, {"a", queued.ID},
		} {
			all = append(all, s.job(j.caller, j.id, l))
		}
		return all
	}
	want := jobs(at(0))
	for _, i := range []int{3, 4, 5, 6} {
		want[i].Status, want[i].Error = sift.JobFailed, "restart"
	}
	for _, i := range []struct{ job, target int }{{1, 1}, {4, 1}, {5, 0}} {
		t := &want[i.job].Targets[i.target]
		t.Status, t.Error, t.Hint = sift.TargetFailed, "restart", sift.HintFresh
		want[i.job].TargetsDone++
	}
	mark := func(want ...batch.Marked) {
		s.Helper()
		marked, err := s.MarkInFlightFailed(s.Context(), "restart", at(ttl/2).Now)
		s.ok(err)
		same(s, "what was marked", marked, want)
	}
	mark(
		batch.Marked{JobID: cancelled.JobID, Caller: "a", Targets: 1},
		batch.Marked{JobID: between.JobID, Caller: "b", Live: true},
		batch.Marked{JobID: inFlight.JobID, Caller: "a", Live: true, Targets: 1},
		batch.Marked{JobID: last.JobID, Caller: "c", Live: true, Targets: 1},
		batch.Marked{JobID: queued.ID, Caller: "a", Live: true},
	)
	nbytes := s.bytes()
	// The lease of each that was changed is new; of the two others it is not.
	late := at(ttl)
	for _, j := range []struct {
		caller, id string
		want       bool
	}{
		{"a", done, false}, {"a", cancelled.JobID, true}, {"b", idle.JobID, false}, {"b", between.JobID, true},
		{"a", inFlight.JobID, true}, {"c", last.JobID, true}, {"a", queued.ID, true},
	} {
		same(s, "whether "+j.id+" is there a lease later", s.peek(j.caller, j.id, late), j.want)
	}
	same(s, "all jobs after it", jobs(at(ttl/2)), want)
	mark()
	same(s, "all jobs after a second time", jobs(at(ttl/2)), want)
	same(s, "the bytes", s.bytes(), nbytes)

	q, r, err := s.LiveJobs(s.Context())
	s.ok(err)
	same(s, "live jobs", []int{q, r}, []int{0, 0})
	same(s, "a claim", s.do(opClaim, last, 0), false)
	for _, c := range []batch.Claim{cancelled, between, inFlight, last} {
		for idx := range 2 {
			for _, o := range []op{opStart, opFinish, opRelease, opFail} {
				if s.do(o, c, idx) {
					s.Errorf("%s of target %d of %s with a claim from before", o, idx, c.JobID)
				}
			}
		}
	}
	again := queued
	again.ID = "again"
	same(s, "its list", s.create(again, at(ttl/2)), batch.Created{ID: queued.ID, Status: sift.JobFailed, Targets: 2, Reused: true})
}

func oneMoment(s *suite) {
	const readers, rounds = 2, 10
	ctx, stop := context.WithCancelCause(s.Context()) // at the first error
	defer stop(nil)
	written := make(chan struct{})
	// Nothing is kept in it: who writes goes on only once a reader has taken it,
	// however fast the store is.
	ids := make(chan string)
	var reads atomic.Int64
	read := func() error {
		var known []string
		for last := false; !last; {
			select {
			case id := <-ids:
				if !slices.Contains(known, id) {
					known = append(known, id)
				}
			case <-written:
				last = true // once more, after it
			case <-ctx.Done():
				return nil
			default:
			}
			for _, id := range known[max(0, len(known)-2):] {
				j, found, err := Whole(ctx, s, "a", id, -1, at(0))
				if err != nil {
					return err
				}
				if found {
					reads.Add(1)
					if err := whole(j, 4); err != nil {
						return err
					}
				}
			}
		}
		return nil
	}
	sweeper := func() error {
		for {
			select {
			case <-written:
				return nil
			case <-ctx.Done():
				return nil
			default:
			}
			if _, err := s.SweepJobs(ctx, at(ttl)); err != nil {
				return err
			}
		}
	}
	tell := func(id string) {
		select {
		case ids <- id:
		case <-ctx.Done():
		}
	}
	write := func() error {
		defer close(written)
		for i := range rounds {
			j := job("a", fmt.Sprintf("moment-%d", i), 4)
			if _, err := s.CreateJob(ctx, j, roomy(), at(0)); err != nil {
				return err
			}
			c, ok, err := s.ClaimJob(ctx)
			if !ok || err != nil {
				return fmt.Errorf("claim: %v, %w", ok, err)
			}
			for idx := range 4 {
				if idx%2 == 0 {
					tell(j.ID)
				}
				if ok, err := s.StartTarget(ctx, c.Claim, idx); !ok || err != nil {
					return fmt.Errorf("start: %v, %w", ok, err)
				}
				o := large(idx, 5000)
				if (i+idx)%3 == 0 {
					o = failed(idx)
				}
				if f, err := s.FinishTarget(ctx, c.Claim, o, at(0)); !f.Stored || err != nil {
					return fmt.Errorf("finish: %v, %w", f, err)
				}
			}
		}
		// One that stays, since it is live: whoever is told of it reads it.
		j := job("a", "moment-last", 4)
		if _, err := s.CreateJob(ctx, j, roomy(), at(0)); err != nil {
			return err
		}
		tell(j.ID)
		return nil
	}
	var all sync.WaitGroup
	for _, fn := range append(slices.Repeat([]func() error{read}, readers), sweeper, write) {
		all.Go(func() {
			if err := fn(); err != nil {
				stop(err)
			}
		})
	}
	all.Wait()
	if err := context.Cause(ctx); err != nil {
		s.Error(err)
	}
	if reads.Load() == 0 {
		s.Error("nothing was read")
	}
}

// A result is no reading of its job: it renews nothing, and does not judge the
// lease, so that an answer that has begun can go on.
func result(s *suite) {
	c := s.running("a", 4, at(0))
	s.drain(c, at(0), answered(0), failed(1))
	s.startTarget(c, 2)
	is := func(idx int, want json.RawMessage) {
		s.Helper()
		r, found, err := s.Result(s.Context(), "a", c.JobID, idx)
		s.ok(err)
		same(s, fmt.Sprintf("the result of target %d", idx), string(r), string(want))
		same(s, fmt.Sprintf("whether target %d has one", idx), found, want != nil)
	}
	for _, idx := range []int{-1, 1, 2, 3, 4, 1e9} {
		is(idx, nil)
	}
	is(0, answered(0).Result)
	s.cancel("a", c.JobID, at(0))
	is(0, answered(0).Result)
	s.finish(c, answered(2), at(0))
	is(2, answered(2).Result)
	if s.peek("a", c.JobID, at(ttl)) {
		s.Error("it renewed the lease")
	}
	is(0, answered(0).Result)
	same(s, "jobs swept", s.sweep(at(ttl)), 1)
	is(0, nil)
}

// whole tells whether a job's numbers and its n targets agree.
func whole(j sift.Job, n int) error {
	if len(j.Targets) != n || j.TargetsTotal != n {
		return fmt.Errorf("%s has %d of %d targets", j.ID, len(j.Targets), j.TargetsTotal)
	}
	count := map[sift.TargetStatus]int{}
	for i, t := range j.Targets {
		count[t.Status]++
		if t.Idx != i {
			return fmt.Errorf("%s has target %d in place %d", j.ID, t.Idx, i)
		}
		if (t.Status == sift.TargetDone) != (t.Result != nil) || (t.Status == sift.TargetFailed) != (t.Error != "") {
			return fmt.Errorf("%s has a %s target with %d bytes and error %q", j.ID, t.Status, len(t.Result), t.Error)
		}
	}
	done, bad := count[sift.TargetDone], count[sift.TargetFailed]
	if done+bad != j.TargetsDone {
		return fmt.Errorf("%s counts %d done and has %d done and %d failed", j.ID, j.TargetsDone, done, bad)
	}
	want := j.Status
	switch {
	case j.Status == sift.JobQueued && count[sift.TargetPending] != n:
		return fmt.Errorf("%s is queued and has %v", j.ID, count)
	case done+bad < n && !j.Status.Live():
		want = sift.JobRunning
	case done+bad == n && bad == 0:
		want = sift.JobDone
	case done+bad == n && done == 0:
		want = sift.JobFailed
	case done+bad == n:
		want = sift.JobPartial
	}
	if j.Status != want {
		return fmt.Errorf("%s is %s and has %v", j.ID, j.Status, count)
	}
	return nil
}
