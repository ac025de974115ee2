package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"sift.build/sift/internal/batch"
	"sift.build/sift/internal/sift"
)

func readBack(s *suite) {
	j := s.newJob("a", 32)
	j.CreatedAt = start().Add(-time.Hour)
	j.Targets[3].URL = "https://example.org/" + strings.Repeat("x", 8000)
	j.Targets[4] = j.Targets[5] // the same target twice is two targets
	same(s, "what was created", s.create(j, at(0)), batch.Created{ID: j.ID, Status: sift.JobQueued, Targets: 32})

	want := sift.Job{ID: j.ID, Status: sift.JobQueued, TargetsTotal: 32, CreatedAt: j.CreatedAt}
	for i, t := range j.Targets {
		want.Targets = append(want.Targets, sift.JobTarget{Idx: i, URL: t.URL, Status: sift.TargetPending})
	}
	same(s, "the new job", s.job("a", j.ID, at(0)), want)

	c := s.claim()
	same(s, "the claim's job", c.JobID, j.ID)
	same(s, "the time of creation", c.CreatedAt, j.CreatedAt)
	same(s, "the bytes", c.NBytes, s.bytes())
	var targets []batch.ClaimedTarget
	for i, t := range j.Targets {
		targets = append(targets, batch.ClaimedTarget{Idx: i, NewTarget: t})
	}
	same(s, "the targets to fetch", c.Targets, targets)
	want.Status = sift.JobRunning

	for i := range 32 {
		s.startTarget(c.Claim, i)
		want.Targets[i].Status = sift.TargetRunning
		if i%8 == 0 {
			same(s, "a job with a target in flight", s.job("a", j.ID, at(0)), want)
		}
		o := answered(i)
		switch {
		case i == 0:
			o.Result = json.RawMessage("{}") // the least there can be
		case i%3 == 1:
			o = failed(i)
		}
		f := s.finish(c.Claim, o, at(0))
		want.TargetsDone++
		want.Targets[i].Result, want.Targets[i].Error, want.Targets[i].Hint = o.Result, o.Error, o.Hint
		want.Targets[i].Status = sift.TargetDone
		if o.Result == nil {
			want.Targets[i].Status = sift.TargetFailed
		}
		if i == 31 {
			want.Status = sift.JobPartial
		}
		same(s, "what a target came to", f, batch.Finished{Stored: true, Job: want.Status, NBytes: s.bytes()})
	}
	same(s, "the finished job", s.job("a", j.ID, at(0)), want)
}

func refuseNonsense(s *suite) {
	j := s.queued("a", 1, at(0))
	twice := s.newJob("b", 1)
	twice.ID = j.ID
	for name, j := range map[string]batch.NewJob{
		"a job without targets":        s.newJob("a", 0),
		"a job with the id of another": twice,
	} {
		if c, err := s.CreateJob(s.Context(), j, roomy(), at(0)); err == nil {
			s.Errorf("%s was created: %+v", name, c)
		}
	}
	got, err := s.Jobs(s.Context(), "b", 10, at(0))
	s.ok(err)
	same(s, "b's jobs", len(got), 0)
	same(s, "a's job", s.job("a", j.ID, at(0)).TargetsTotal, 1)
}

func callerTravels(s *suite) {
	for _, caller := range []sift.Caller{
		{Name: "a", Class: "default"},
		{Name: "b", Class: "secret", Restricted: true},
		{Name: "local", Class: "", Anonymous: true},
	} {
		j := s.newJob(caller.Name, 1)
		j.Caller = caller
		s.create(j, at(0))
		same(s, "the caller", s.claim().Caller, caller)
	}
}

func reuse(s *suite) {
	first := s.newJob("a", 2)
	s.create(first, at(0))
	c := s.claim().Claim
	s.drain(c, at(0), answered(0), answered(1))

	again := first
	again.ID = "again"
	want := batch.Created{ID: first.ID, Status: sift.JobDone, Targets: 2, Reused: true}
	same(s, "the same list at once", s.create(again, at(0)), want)
	same(s, "just before it expires", s.create(again, at(ttl-time.Millisecond)), want)
	// That renewed it.
	same(s, "just before it expires again", s.create(again, at(2*ttl-2*time.Millisecond)), want)
	if s.peek("a", again.ID, at(0)) {
		s.Error("a job was made beside the one that was reused")
	}
	late := at(3*ttl - 2*time.Millisecond)
	same(s, "once it has expired", s.create(again, late), batch.Created{ID: again.ID, Status: sift.JobQueued, Targets: 2})
	third := first
	third.ID = "third"
	same(s, "the list after that", s.create(third, late), batch.Created{ID: again.ID, Status: sift.JobQueued, Targets: 2, Reused: true})
	if s.peek("a", first.ID, late) {
		s.Error("the job that had expired is readable")
	}
}

func reuseEnded(s *suite) {
	ends := map[sift.JobStatus]func(c batch.Claim){
		sift.JobQueued:  func(batch.Claim) {},
		sift.JobRunning: func(batch.Claim) {},
		sift.JobDone:    func(c batch.Claim) { s.drain(c, at(0), answered(0), answered(1)) },
		sift.JobPartial: func(c batch.Claim) { s.drain(c, at(0), answered(0), failed(1)) },
		sift.JobFailed: func(c batch.Claim) {
			_, err := s.FailJob(s.Context(), c, "store: full", at(0))
			s.ok(err)
		},
		sift.JobCancelled: func(c batch.Claim) { s.cancel("a", c.JobID, at(0)) },
	}
	for _, status := range sift.JobStatuses() {
		j := s.newJob("a", 2)
		s.create(j, at(0))
		if status != sift.JobQueued {
			ends[status](s.claim().Claim)
		}
		again := j
		again.ID += "-again"
		same(s, "the list of a job that is "+string(status), s.create(again, at(time.Hour)),
			batch.Created{ID: j.ID, Status: status, Targets: 2, Reused: true})
		if status == sift.JobQueued {
			s.claim() // not to be in the way of the next
		}
	}
}

func reuseBeforeCaps(s *suite) {
	j := s.queued("a", 1, at(0))
	again := j
	again.ID = "again"
	none := batch.Caps{}
	c, err := s.CreateJob(s.Context(), again, none, at(ttl/2))
	s.ok(err)
	same(s, "the answer over every cap", c, batch.Created{ID: j.ID, Status: sift.JobQueued, Targets: 1, Reused: true})
	s.cancel("a", j.ID, at(ttl/2))
	if same(s, "jobs swept", s.sweep(at(ttl+time.Hour)), 0); !s.peek("a", j.ID, at(ttl+time.Hour)) {
		s.Error("the lease was not renewed")
	}
	same(s, "jobs swept later", s.sweep(at(ttl/2+ttl)), 1)
}

func keyOfTwoCallers(s *suite) {
	a, b := s.newJob("a", 1), s.newJob("b", 1)
	b.IdemKey = a.IdemKey
	s.create(a, at(0))
	same(s, "b's job", s.create(b, at(0)), batch.Created{ID: b.ID, Status: sift.JobQueued, Targets: 1})
	for _, j := range []batch.NewJob{a, b} {
		again := j
		again.ID += "-again"
		same(s, "the list again", s.create(again, at(0)).ID, j.ID)
	}
}

func fresh(s *suite) {
	first := s.newJob("a", 1)
	s.create(first, at(0))
	s.drain(s.claim().Claim, at(0), failed(0))
	other := s.queued("a", 1, at(0)) // another list, which none of this concerns

	again := func(id string, fresh bool, l batch.Lease) batch.Created {
		j := first
		j.ID, j.Fresh = id, fresh
		return s.create(j, l)
	}
	queued := func(id string) batch.Created { return batch.Created{ID: id, Status: sift.JobQueued, Targets: 1} }
	reused := func(id string) batch.Created {
		return batch.Created{ID: id, Status: sift.JobQueued, Targets: 1, Reused: true}
	}
	same(s, "the first fresh job", again("second", true, at(time.Hour)), queued("second"))
	same(s, "the list from then on", again("x", false, at(time.Hour)), reused("second"))
	same(s, "another fresh job", again("third", true, at(time.Hour)), queued("third"))
	same(s, "the list from then on", again("x", false, at(time.Hour)), reused("third"))
	for _, id := range []string{first.ID, "second", "third", other.ID} {
		if !s.peek("a", id, at(time.Hour)) {
			s.Errorf("%s cannot be read any more", id)
		}
	}
	// One that was replaced does not come back when its successor has gone.
	s.cancel("a", "third", at(time.Hour))
	same(s, "the list once the newest has expired", again("fourth", false, at(ttl+2*time.Hour)), queued("fourth"))
	same(s, "fresh with nothing there", s.create(func() batch.NewJob {
		j := s.newJob("b", 1)
		j.ID, j.Fresh = "b1", true
		return j
	}(), at(0)), queued("b1"))

	// Fresh is under the caps as any other.
	j := first
	j.ID, j.Fresh = "fifth", true
	s.capped(j, batch.Caps{PerCaller: 1, Total: 99, ListBytes: plenty}, at(ttl+2*time.Hour), batch.CapError{Cap: batch.CapPerCaller, Limit: 1, JobID: other.ID})
	same(s, "the list after a fresh one was refused", again("x", false, at(ttl+2*time.Hour)), reused("fourth"))
}

func liveNeverExpires(s *suite) {
	running := s.running("a", 2, at(0))
	queued := s.queued("a", 1, at(0))
	late := at(100 * ttl)
	same(s, "jobs swept", s.sweep(late), 0)
	if _, found, err := s.EvictBatchOldest(s.Context()); found || err != nil {
		s.Errorf("evicted: %v, %v", found, err)
	}
	jobs, err := s.Jobs(s.Context(), "a", 10, late)
	s.ok(err)
	same(s, "jobs listed", len(jobs), 2)
	for _, id := range []string{running.JobID, queued.ID} {
		if !s.peek("a", id, late) {
			s.Errorf("%s has no progress", id)
		}
	}
	s.capped(s.newJob("a", 1), batch.Caps{PerCaller: 2, Total: 9, ListBytes: plenty}, late, batch.CapError{Cap: batch.CapPerCaller, Limit: 2, JobID: running.JobID})
	s.capped(s.newJob("b", 1), batch.Caps{PerCaller: 2, Total: 2, ListBytes: plenty}, late, batch.CapError{Cap: batch.CapTotal, Limit: 2})
	again := queued
	again.ID = "again"
	same(s, "its list", s.create(again, late), batch.Created{ID: queued.ID, Status: sift.JobQueued, Targets: 1, Reused: true})
	same(s, "the running job", s.job("a", running.JobID, late).Status, sift.JobRunning)
	s.drain(running, at(200*ttl), answered(0), answered(1))
	same(s, "the job when it has ended", s.job("a", running.JobID, at(201*ttl-1)).Status, sift.JobDone)
}

func createTogether(n, rounds int) func(*suite) {
	return func(s *suite) {
		for round := range rounds {
			j := s.newJob("a", 3)
			created := together(s, n, func(i int) (batch.Created, error) {
				j := j
				j.ID = fmt.Sprintf("%s-%d", j.ID, i)
				return s.CreateJob(s.Context(), j, batch.Caps{PerCaller: 1, Total: 1, ListBytes: plenty}, at(0))
			})
			made := 0
			for _, c := range created {
				if !c.Reused {
					made++
				}
				same(s, "the job of every one", c.ID, created[0].ID)
			}
			same(s, "jobs made", made, 1)
			jobs, err := s.Jobs(s.Context(), "a", 100, at(0))
			s.ok(err)
			same(s, "jobs there", len(jobs), round+1)
			same(s, "targets read", len(s.job("a", created[0].ID, at(0)).Targets), 3)
			s.cancel("a", created[0].ID, at(0))
		}
	}
}

func freshTogether(s *suite) {
	j := s.newJob("a", 1)
	created := together(s, 8, func(i int) (batch.Created, error) {
		j := j
		j.ID, j.Fresh = fmt.Sprintf("fresh-%d", i), i%2 == 0
		return s.CreateJob(s.Context(), j, roomy(), at(0))
	})
	made := map[string]bool{}
	for i, c := range created {
		if i%2 == 0 && (c.Reused || c.ID != fmt.Sprintf("fresh-%d", i)) {
			s.Errorf("a fresh one is %+v", c)
		}
		made[c.ID] = true
	}
	jobs, err := s.Jobs(s.Context(), "a", 100, at(0))
	s.ok(err)
	same(s, "jobs there", len(jobs), len(made))
	again := j
	again.ID = "again"
	same(s, "the newest", s.create(again, at(0)).ID, jobs[0].ID)
}

func caps(s *suite) {
	tight := batch.Caps{PerCaller: 2, Total: 3, ListBytes: plenty}
	create := func(caller string) string {
		s.Helper()
		j := s.newJob(caller, 1)
		c, err := s.CreateJob(s.Context(), j, tight, at(0))
		s.ok(err)
		same(s, "the new job", c, batch.Created{ID: j.ID, Status: sift.JobQueued, Targets: 1})
		return j.ID
	}
	s.capped(s.newJob("a", 1), batch.Caps{}, at(0), batch.CapError{Cap: batch.CapPerCaller})
	first := create("a")
	create("a")
	s.capped(s.newJob("a", 1), tight, at(0), batch.CapError{Cap: batch.CapPerCaller, Limit: 2, JobID: first})
	third := create("b")
	s.capped(s.newJob("b", 1), batch.Caps{PerCaller: 1, Total: 9, ListBytes: plenty}, at(0), batch.CapError{Cap: batch.CapPerCaller, Limit: 1, JobID: third})
	// The caller's own cap is named where both are reached: another's job is
	// not what is in the way.
	s.capped(s.newJob("a", 1), tight, at(0), batch.CapError{Cap: batch.CapPerCaller, Limit: 2, JobID: first})
	s.capped(s.newJob("b", 1), tight, at(0), batch.CapError{Cap: batch.CapTotal, Limit: 3})
	s.capped(s.newJob("c", 1), tight, at(0), batch.CapError{Cap: batch.CapTotal, Limit: 3})
	s.claim() // a running job counts as a queued one does
	s.capped(s.newJob("a", 1), tight, at(0), batch.CapError{Cap: batch.CapPerCaller, Limit: 2, JobID: first})
	s.capped(s.newJob("c", 1), tight, at(0), batch.CapError{Cap: batch.CapTotal, Limit: 3})
	// Both before the bytes.
	tight.ListBytes = 1
	s.capped(s.newJob("a", 1), tight, at(0), batch.CapError{Cap: batch.CapPerCaller, Limit: 2, JobID: first})
	s.capped(s.newJob("c", 1), tight, at(0), batch.CapError{Cap: batch.CapTotal, Limit: 3})
	tight.Total = 4
	s.capped(s.newJob("c", 1), tight, at(0), batch.CapError{Cap: batch.CapLists, Limit: 1})
}

func capsTogether(s *suite) {
	const total, perCaller = 8, 2
	var jobs []batch.NewJob
	for i := range 32 {
		jobs = append(jobs, s.newJob(fmt.Sprintf("caller-%d", i%8), 2))
	}
	created := together(s, len(jobs), func(i int) (batch.Cap, error) {
		_, err := s.CreateJob(s.Context(), jobs[i], batch.Caps{PerCaller: perCaller, Total: total, ListBytes: plenty}, at(0))
		if e, ok := errors.AsType[*batch.CapError](err); ok {
			return e.Cap, nil
		}
		return "", err
	})
	made := map[string]int{}
	n := 0
	for i, refused := range created {
		if refused == "" {
			made[jobs[i].Caller.Name]++
			n++
		}
	}
	same(s, "jobs made", n, total)
	for caller, n := range made {
		if n > perCaller {
			s.Errorf("%s has %d jobs", caller, n)
		}
	}
	queued, running, err := s.LiveJobs(s.Context())
	s.ok(err)
	same(s, "live jobs", queued+running, total)
	if slices.Index(created, batch.CapTotal) < 0 {
		s.Error("nobody was told of the cap in all")
	}
}

func capsFreed(s *suite) {
	one := batch.Caps{PerCaller: 1, Total: 1, ListBytes: plenty}
	ends := []func(c batch.Claim){
		func(c batch.Claim) { s.drain(c, at(0), answered(0)) },
		func(c batch.Claim) { s.drain(c, at(0), failed(0)) },
		func(c batch.Claim) { s.cancel("a", c.JobID, at(0)) },
		func(c batch.Claim) { s.startTarget(c, 0); s.cancel("a", c.JobID, at(0)) }, // though one is in flight
		func(c batch.Claim) {
			_, err := s.FailJob(s.Context(), c, "store: full", at(0))
			s.ok(err)
		},
		func(batch.Claim) {
			_, err := s.MarkInFlightFailed(s.Context(), "restart", at(0).Now)
			s.ok(err)
		},
	}
	for _, end := range ends {
		_, err := s.CreateJob(s.Context(), s.newJob("a", 1), one, at(0))
		s.ok(err)
		c := s.claim().Claim
		s.capped(s.newJob("a", 1), one, at(0), batch.CapError{Cap: batch.CapPerCaller, Limit: 1, JobID: c.JobID})
		end(c)
	}
	_, err := s.CreateJob(s.Context(), s.newJob("a", 1), one, at(0))
	s.ok(err)
}

func claimOldest(s *suite) {
	if c, ok, err := s.ClaimJob(s.Context()); ok || err != nil {
		s.Errorf("claimed %+v, %v, %v with nothing there", c, ok, err)
	}
	var want []string
	for i := range 5 {
		j := s.newJob("a", 1)
		j.CreatedAt = start().Add(-time.Duration(i) * time.Hour) // a clock that goes back
		s.create(j, at(0))
		want = append(want, j.ID)
	}
	s.cancel("a", want[2], at(0))
	want = slices.Delete(want, 2, 3)
	var got []string
	for {
		c, ok, err := s.ClaimJob(s.Context())
		s.ok(err)
		if !ok {
			break
		}
		got = append(got, c.JobID)
		same(s, "the claimed job", s.job("a", c.JobID, at(0)).Status, sift.JobRunning)
	}
	same(s, "the order", got, want)
}

func claimTogether(s *suite) {
	const jobs, claimers = 5, 24
	for range 4 {
		for range jobs {
			s.queued("a", 2, at(0))
		}
		won := map[string]int{}
		for _, id := range together(s, claimers, func(int) (string, error) {
			c, ok, err := s.ClaimJob(s.Context())
			if ok && len(c.Targets) != 2 {
				err = errors.Join(err, fmt.Errorf("claimed with %d targets", len(c.Targets)))
			}
			return c.JobID, err
		}) {
			won[id]++
		}
		same(s, "claimers without a job", won[""], claimers-jobs)
		delete(won, "")
		same(s, "jobs claimed", len(won), jobs)
		for id, n := range won {
			same(s, "claims of "+id, n, 1)
		}
	}
}

func list(s *suite) {
	jobs, err := s.Jobs(s.Context(), "a", 10, at(0))
	s.ok(err)
	same(s, "jobs before there are any", len(jobs), 0)
	var want []sift.Job
	for i := range 5 {
		j := s.newJob("a", i+1)
		j.CreatedAt = start().Add(-time.Duration(i) * time.Hour)
		s.create(j, at(0))
		s.queued("b", 1, at(0))
		want = append([]sift.Job{{ID: j.ID, Status: sift.JobQueued, TargetsTotal: i + 1, CreatedAt: j.CreatedAt}}, want...)
	}
	c := s.claim() // the oldest
	s.startTarget(c.Claim, 0)
	_, err = s.FailJob(s.Context(), c.Claim, "store: full", at(0))
	s.ok(err)
	last := &want[len(want)-1]
	last.Status, last.TargetsDone, last.Error = sift.JobFailed, 1, "store: full"
	for _, limit := range []int{100, 5, 2, 0, -1} {
		jobs, err := s.Jobs(s.Context(), "a", limit, at(0))
		s.ok(err)
		same(s, fmt.Sprintf("at most %d jobs", limit), append([]sift.Job{}, jobs...), want[:max(0, min(limit, 5))])
	}
}

func liveJobs(s *suite) {
	counts := func(wantQueued, wantRunning int) {
		s.Helper()
		queued, running, err := s.LiveJobs(s.Context())
		s.ok(err)
		same(s, "queued and running jobs", []int{queued, running}, []int{wantQueued, wantRunning})
	}
	counts(0, 0)
	a := s.queued("a", 1, at(0))
	b := s.queued("b", 1, at(0))
	counts(2, 0)
	c := s.claim().Claim
	counts(1, 1)
	s.cancel("b", b.ID, at(0))
	counts(0, 1)
	s.startTarget(c, 0)
	counts(0, 1)
	s.cancel("a", a.ID, at(0)) // with a target in flight
	counts(0, 0)
}

func after(s *suite) {
	c := s.running("a", 5, at(0))
	s.drain(c, at(0), answered(0), failed(1), answered(2))
	all := s.job("a", c.JobID, at(0))
	same(s, "targets in all", len(all.Targets), 5)
	for _, after := range []int{-2, -1, 0, 1, 3, 4, 5, 1e9} {
		want := all
		want.Targets = all.Targets[min(max(after+1, 0), 5):]
		got, found, err := Whole(s.Context(), s, "a", c.JobID, after, at(0))
		s.ok(err)
		if !found {
			s.Fatalf("after %d: not found", after)
		}
		if got.Targets == nil {
			s.Errorf("after %d: the list of targets is nil, as in a list of jobs", after)
		}
		same(s, fmt.Sprintf("the job after %d", after), got, want)
	}
}

func progress(s *suite) {
	j := s.queued("a", 2, at(0))
	is := func(want batch.Progress) {
		s.Helper()
		p, found, err := s.JobProgress(s.Context(), "a", j.ID, at(0))
		s.ok(err)
		if !found {
			s.Fatal("not found")
		}
		same(s, "the progress", p, want)
	}
	is(batch.Progress{Status: sift.JobQueued})
	c := s.claim().Claim
	is(batch.Progress{Status: sift.JobRunning})
	s.startTarget(c, 0)
	is(batch.Progress{Status: sift.JobRunning, InFlight: true})
	s.finish(c, failed(0), at(0))
	is(batch.Progress{Status: sift.JobRunning, TargetsDone: 1})
	s.startTarget(c, 1)
	s.cancel("a", j.ID, at(0))
	is(batch.Progress{Status: sift.JobCancelled, TargetsDone: 1, InFlight: true})
	s.finish(c, answered(1), at(0))
	is(batch.Progress{Status: sift.JobCancelled, TargetsDone: 2})
}

func ownership(s *suite) {
	c := s.running("a", 2, at(0))
	s.drain(c, at(0), answered(0))
	before := s.job("a", c.JobID, at(0))
	for _, who := range []struct{ caller, id string }{{"b", c.JobID}, {"", c.JobID}, {"A", c.JobID}, {"a", "other"}, {"a", ""}, {"a%", c.JobID}, {"a", c.JobID + " "}} {
		if j, found, err := Whole(s.Context(), s, who.caller, who.id, -1, at(0)); found || err != nil || !isZero(j) {
			s.Errorf("%q reads %q: %+v, %v, %v", who.caller, who.id, j, found, err)
		}
		if p, found, err := s.JobProgress(s.Context(), who.caller, who.id, at(0)); found || err != nil || p != (batch.Progress{}) {
			s.Errorf("%q sees the progress of %q: %+v, %v, %v", who.caller, who.id, p, found, err)
		}
		if x, found, err := s.CancelJob(s.Context(), who.caller, who.id, at(0)); found || err != nil || x != (batch.Cancelled{}) {
			s.Errorf("%q cancels %q: %+v, %v, %v", who.caller, who.id, x, found, err)
		}
		if r, found, err := s.Result(s.Context(), who.caller, who.id, 0); found || err != nil || r != nil {
			s.Errorf("%q reads a result of %q: %s, %v, %v", who.caller, who.id, r, found, err)
		}
		if who.caller != "a" {
			if jobs, err := s.Jobs(s.Context(), who.caller, 10, at(0)); err != nil || len(jobs) != 0 {
				s.Errorf("%q lists %+v, %v", who.caller, jobs, err)
			}
		}
	}
	same(s, "the job afterwards", s.job("a", c.JobID, at(0)), before)
	// The cap counts the caller's own.
	if _, err := s.CreateJob(s.Context(), s.newJob("b", 1), batch.Caps{PerCaller: 1, Total: 9, ListBytes: plenty}, at(0)); err != nil {
		s.Error(err)
	}
}

func isZero(j sift.Job) bool { return reflect.DeepEqual(j, sift.Job{}) }
