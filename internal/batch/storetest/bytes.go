package storetest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"sift.build/sift/internal/batch"
	"sift.build/sift/internal/sift"
)

func renew(s *suite) {
	// By reads, each just before the end of the lease.
	id := s.done("a", 100, at(0))
	for i := range 4 {
		s.job("a", id, at(time.Duration(i+1)*(ttl-time.Second)))
	}
	if !s.peek("a", id, at(4*(ttl-time.Second)+ttl-1)) {
		s.Error("a read did not renew the lease")
	}
	// Not by what is no read of it.
	_, err := s.Jobs(s.Context(), "a", 10, at(4*ttl+ttl/2))
	s.ok(err)
	s.peek("a", id, at(4*ttl+ttl/2))
	if s.peek("a", id, at(4*(ttl-time.Second)+ttl)) {
		s.Error("something else renewed the lease")
	}
	// By a target that finishes, as late as it may be.
	c := s.running("a", 2, at(0))
	s.drain(c, at(10*ttl), answered(0))
	s.cancel("a", c.JobID, at(10*ttl))
	if !s.peek("a", c.JobID, at(11*ttl-1)) || s.peek("a", c.JobID, at(11*ttl)) {
		s.Error("a target that finished did not renew the lease, once")
	}
	// A clock that is behind makes no lease older.
	id = s.done("a", 100, at(ttl/2))
	s.job("a", id, at(0))
	if !s.peek("a", id, at(ttl+ttl/2-1)) {
		s.Error("a read with an older clock took from the lease")
	}
	for name, end := range map[string]func(c batch.Claim){
		"a target that finished": func(c batch.Claim) { s.finish(c, answered(0), at(0)) },
		"a job that failed":      func(c batch.Claim) { _, err := s.FailJob(s.Context(), c, "store: full", at(0)); s.ok(err) },
		"a restart":              func(batch.Claim) { _, err := s.MarkInFlightFailed(s.Context(), "restart", at(0).Now); s.ok(err) },
	} {
		c := s.running("a", 1, at(ttl/2))
		s.startTarget(c, 0)
		end(c)
		if !s.peek("a", c.JobID, at(ttl+ttl/2-1)) {
			s.Errorf("%s with an older clock took from the lease", name)
		}
	}
}

func sweep(s *suite) {
	same(s, "jobs swept with none there", s.sweep(at(ttl)), 0)
	var old, young []string
	for i := range 3 {
		old = append(old, s.done("a", 100, at(time.Duration(i)*time.Minute)))
	}
	for i := range 3 {
		young = append(young, s.done("a", 100, at(time.Hour+time.Duration(i)*time.Minute)))
	}
	live := s.running("a", 2, at(0))
	s.startTarget(live, 0)
	waiting := s.queued("b", 1, at(0))
	same(s, "jobs swept before any has expired", s.sweep(at(ttl-1)), 0)
	same(s, "jobs swept when one has", s.sweep(at(ttl)), 1)
	same(s, "jobs swept", s.sweep(at(ttl+2*time.Minute)), 2)
	same(s, "jobs swept again", s.sweep(at(ttl+2*time.Minute)), 0)
	// Also those that look alive to an older clock are gone.
	for _, id := range old {
		same(s, "whether "+id+" is there", s.peek("a", id, at(0)), false)
	}
	for _, id := range young {
		same(s, "the young job", s.job("a", id, at(time.Hour)).Status, sift.JobDone)
	}
	same(s, "jobs swept a year later", s.sweep(at(365*24*time.Hour)), 3)
	s.finish(live, answered(0), at(0))
	same(s, "the queued job", s.job("b", waiting.ID, at(0)).Status, sift.JobQueued)
}

func expiredIsGone(s *suite) {
	ends := map[sift.JobStatus]func() string{
		sift.JobDone: func() string { return s.done("a", 100, at(0)) },
		sift.JobPartial: func() string {
			c := s.running("a", 2, at(0))
			s.drain(c, at(0), answered(0), failed(1))
			return c.JobID
		},
		sift.JobFailed: func() string { c := s.running("a", 1, at(0)); s.drain(c, at(0), failed(0)); return c.JobID },
		sift.JobCancelled: func() string {
			j := s.queued("a", 1, at(0))
			s.cancel("a", j.ID, at(0))
			return j.ID
		},
	}
	for status, end := range ends {
		id := end()
		for _, l := range []batch.Lease{at(ttl), at(100 * ttl), {Now: at(0).Now}} {
			if j, found, err := Whole(s.Context(), s, "a", id, -1, l); found || err != nil || !isZero(j) {
				s.Errorf("a %s job that has expired is read: %+v, %v, %v", status, j, found, err)
			}
			if s.peek("a", id, l) {
				s.Errorf("a %s job that has expired has progress", status)
			}
			if c, found, err := s.CancelJob(s.Context(), "a", id, l); found || err != nil || c != (batch.Cancelled{}) {
				s.Errorf("a %s job that has expired is cancelled: %+v, %v, %v", status, c, found, err)
			}
			jobs, err := s.Jobs(s.Context(), "a", 100, l)
			s.ok(err)
			same(s, "jobs listed", len(jobs), 0)
		}
		// None of that has brought it back or deleted it.
		same(s, "the job within its lease", s.job("a", id, at(0)).Status, status)
		same(s, "jobs swept", s.sweep(at(ttl)), 1)
	}
}

func shiftLeases(s *suite) {
	id := s.done("a", 100, at(0))
	live := s.queued("b", 1, at(0))
	shift := func(d time.Duration) {
		s.Helper()
		s.ok(s.ShiftLeases(s.Context(), d))
	}
	until := func(d time.Duration) {
		s.Helper()
		if !s.peek("a", id, at(d-time.Millisecond)) || s.peek("a", id, at(d)) {
			s.Errorf("it does not expire at %v", d)
		}
	}
	until(ttl)
	shift(400 * 24 * time.Hour)
	until(ttl + 400*24*time.Hour)
	shift(-500 * 24 * time.Hour)
	until(ttl - 100*24*time.Hour)
	shift(100 * 24 * time.Hour)
	shift(0)
	until(ttl)
	same(s, "the time of creation", s.job("a", id, at(0)).CreatedAt, start())
	s.cancel("b", live.ID, at(0))
	if !s.peek("b", live.ID, at(ttl-1)) || s.peek("b", live.ID, at(ttl)) {
		s.Error("a live job's lease was not moved")
	}
}

func (s *suite) evict() (int64, bool) {
	s.Helper()
	before := s.bytes()
	n, found, err := s.EvictBatchOldest(s.Context())
	s.ok(err)
	same(s, "the bytes that an eviction freed", n, before-s.bytes())
	return n, found
}

func evictOldest(s *suite) {
	if n, found := s.evict(); found || n != 0 {
		s.Errorf("evicted %d, %v with nothing there", n, found)
	}
	live := s.running("a", 1, at(0))
	var ids []string
	for _, lease := range []int{3, 1, 2, 1, 5, 1} {
		ids = append(ids, s.done("a", 100, at(time.Duration(lease)*time.Hour)))
	}
	s.job("a", ids[1], at(4*time.Hour)) // was read since
	queued := s.queued("a", 1, at(0))
	cancelled := s.queued("a", 1, at(30*time.Minute))
	s.cancel("a", cancelled.ID, at(0))

	for _, want := range []string{cancelled.ID, ids[3], ids[5], ids[2], ids[0], ids[1], ids[4]} {
		if !s.peek("a", want, at(5*time.Hour)) {
			s.Fatalf("%s went too early", want)
		}
		// The one that was cancelled in the queue has no results.
		if n, found := s.evict(); !found || (n > 0) != (want != cancelled.ID) {
			s.Errorf("evicted %d bytes, %v", n, found)
		}
		if s.peek("a", want, at(5*time.Hour)) {
			s.Errorf("%s should have been next", want)
		}
	}
	if _, found := s.evict(); found {
		s.Error("a live job was evicted")
	}
	for _, id := range []string{live.JobID, queued.ID} {
		same(s, "whether a live job is there", s.peek("a", id, at(0)), true)
	}
}

// size is what a job of that caller with n targets takes in this store before
// anything is finished.
func (s *suite) size(caller string, n int) int64 {
	s.Helper()
	before := s.bytes()
	j := s.queued(caller, n, at(-2*ttl))
	size := s.bytes() - before
	s.claim()
	s.cancel(caller, j.ID, at(-2*ttl))
	same(s, "jobs swept", s.sweep(at(-ttl)), 1)
	return size
}

// liveWithinBytes is eight live jobs as large as they may be, to the byte, in
// bytes that finished ones have filled before, and which they then fill.
func liveWithinBytes(s *suite) {
	const jobs, targets, result = 8, 8, 32 << 10
	budget := jobs * (s.size("caller-0", targets) + targets*result)
	caps := batch.Caps{PerCaller: 1, Total: jobs, ListBytes: budget}
	within := func() {
		s.Helper()
		if n := s.bytes(); n > budget {
			s.Fatalf("all jobs take %d of %d bytes", n, budget)
		}
	}
	for i := range jobs + 4 {
		j := s.newJob("old", targets)
		_, err := s.CreateJob(s.Context(), j, caps, at(time.Duration(i)))
		s.ok(err)
		c := s.claim().Claim
		for idx := range targets {
			o := large(idx, result)
			o.MaxBytes = budget
			s.drain(c, at(0), o)
			within()
		}
	}
	var claims []batch.Claim
	for i := range jobs {
		_, err := s.CreateJob(s.Context(), s.newJob(fmt.Sprintf("caller-%d", i), targets), caps, at(0))
		s.ok(err)
		claims = append(claims, s.claim().Claim)
		within()
	}
	evicted := 0
	for idx := range targets {
		for i, c := range claims {
			s.startTarget(c, idx)
			o := large(idx, result)
			o.MaxBytes = budget
			f := s.finish(c, o, at(0))
			evicted += f.Evicted
			within()
			if last := idx == targets-1; last != (f.Job == sift.JobDone) {
				s.Errorf("job %d is %s after target %d", i, f.Job, idx)
			}
		}
	}
	same(s, "the bytes in the end", s.bytes(), budget)
	left, err := s.Jobs(s.Context(), "old", 100, at(0))
	s.ok(err)
	same(s, "jobs from before", len(left), 0)
	if evicted == 0 {
		s.Error("no eviction was told")
	}
	for i, c := range claims {
		j := s.job(fmt.Sprintf("caller-%d", i), c.JobID, at(0))
		s.ok(whole(j, targets))
		same(s, "the length of a result", len(j.Targets[0].Result), result)
	}
}

func makeRoom(s *suite) {
	const result = 10_000
	one := s.size("a", 1) + result
	budget := 4 * one
	var ids []string
	for i := range 4 {
		ids = append(ids, s.done("a", result, at(time.Duration(4-i)*time.Minute))) // the last has the oldest lease
	}
	same(s, "the bytes", s.bytes(), budget)
	there := func(want ...string) {
		s.Helper()
		var got []string
		for _, id := range ids {
			if s.peek("a", id, at(0)) {
				got = append(got, id)
			}
		}
		same(s, "jobs there", got, want)
	}
	// Only a result needs room, and one that has none makes none: it would go
	// for nothing, though its lease is the oldest of all.
	idle := s.queued("a", 1, at(-time.Hour))
	s.cancel("a", idle.ID, at(-time.Hour))
	s.queued("b", 1, at(0))
	c := s.claim().Claim
	s.startTarget(c, 0)
	there(ids...)
	o := large(0, result+1)
	o.MaxBytes = budget
	f := s.finish(c, o, at(0))
	same(s, "jobs evicted", f.Evicted, 2)
	same(s, "whether the one without results is there", s.peek("a", idle.ID, at(0)), true)
	same(s, "the job", f.Job, sift.JobDone)
	there(ids[:2]...)

	// A job that ends with this very target, or was cancelled, does not make
	// the room for it itself.
	for _, cancel := range []bool{false, true} {
		c := s.running("b", 1, at(-time.Hour))
		s.startTarget(c, 0)
		if cancel {
			s.cancel("b", c.JobID, at(0))
		}
		o := large(0, int(budget-s.size("a", 1)))
		o.MaxBytes = budget
		if f := s.finish(c, o, at(-time.Hour)); f.Evicted == 0 {
			s.Error("nothing was evicted for a job as large as all")
		}
		there()
		same(s, "whether it is there itself", s.peek("b", c.JobID, at(0)), true)
		same(s, "the bytes", s.bytes(), budget)
	}

	// A smaller budget than before takes as many as it must.
	for range 6 {
		s.done("c", 2000, at(0))
	}
	c = s.running("b", 1, at(0))
	s.startTarget(c, 0)
	o = large(0, 1000)
	o.MaxBytes = s.size("a", 1) + 1000
	f = s.finish(c, o, at(0))
	same(s, "jobs evicted", f.Evicted, 7)
	same(s, "the bytes", s.bytes(), o.MaxBytes)
}

func noRoom(s *suite) {
	old := s.done("a", 100, at(0))
	live := s.queued("b", 1, at(0))
	c := s.claim().Claim
	same(s, "the claim", c.JobID, live.ID)
	s.startTarget(c, 0)
	before, nbytes := s.job("b", live.ID, at(0)), s.bytes()
	unchanged := func() {
		s.Helper()
		same(s, "the job", s.job("b", live.ID, at(0)), before)
		same(s, "the bytes", s.bytes(), nbytes)
		same(s, "whether the finished job is there", s.peek("a", old, at(0)), true)
	}
	for _, maxBytes := range []int64{0, 1, 999} {
		o := large(0, 1000)
		o.MaxBytes = maxBytes
		f, err := s.FinishTarget(s.Context(), c, o, at(0))
		if !errors.Is(err, batch.ErrNoRoom) || f.Stored {
			s.Errorf("%+v, %v with %d bytes", f, err, maxBytes)
		}
		unchanged()
	}
	// A target without room can still be told to have failed with its job.
	if ok, err := s.FailJob(s.Context(), c, "store: no room", at(0)); !ok || err != nil {
		s.Error(ok, err)
	}
}

// listRoom is the bound on what a caller's lists take. How a store counts them is
// its own affair, but for that what is written down counts.
func listRoom(s *suite) {
	caps := func(n int64) batch.Caps { return batch.Caps{PerCaller: 9, Total: 99, ListBytes: n} }
	// The least that a list of that many targets with urls so much longer takes.
	size := func(targets, longer int) int64 {
		s.Helper()
		low, high := int64(0), int64(1<<20)
		for low+1 < high {
			j := s.newJob("p", targets)
			j.Targets[0].URL += strings.Repeat("x", longer)
			_, err := s.CreateJob(s.Context(), j, caps((low+high)/2), at(-2*ttl))
			if err == nil {
				high = (low + high) / 2
				s.cancel("p", j.ID, at(-2*ttl))
				same(s, "jobs swept", s.sweep(at(-ttl)), 1)
				continue
			}
			over, ok := errors.AsType[*batch.CapError](err)
			if !ok || *over != (batch.CapError{Cap: batch.CapLists, Limit: (low + high) / 2}) {
				s.Fatalf("got %v", err)
			}
			low = (low + high) / 2
		}
		return high
	}
	one := size(1, 0)
	if grown := size(1, 3000) - one; grown < 3000 {
		s.Errorf("3000 bytes of URL count as %d", grown)
	}
	if four := size(4, 0); four < one+3*int64(len(target(0).URL)+len(target(0).Options)) {
		s.Errorf("one target counts as %d, four as %d", one, four)
	}

	other := s.done("b", 5000, at(-time.Hour))
	var ids []string
	for i := range 3 {
		ids = append(ids, s.done("a", 5000, at(time.Duration(i)*time.Minute)))
	}
	s.job("a", ids[0], at(time.Hour)) // was read since
	live := s.queued("a", 1, at(-time.Hour))
	there := func(want ...string) {
		s.Helper()
		var got []string
		for _, id := range ids {
			if s.peek("a", id, at(time.Hour)) {
				got = append(got, id)
			}
		}
		same(s, "finished jobs there", got, want)
		same(s, "whether another caller's is there", s.peek("b", other, at(time.Hour)), true)
		same(s, "whether the live one is there", s.peek("a", live.ID, at(time.Hour)), true)
	}
	add := func(limit int64) {
		s.Helper()
		j := s.newJob("a", 1)
		_, err := s.CreateJob(s.Context(), j, caps(limit), at(time.Hour))
		s.ok(err)
		s.cancel("a", j.ID, at(time.Hour))
		ids = append(ids, j.ID)
	}
	add(5 * one)
	there(ids...)
	add(5 * one)
	there(ids[0], ids[2], ids[3], ids[4])
	add(5*one - 1)
	there(ids[3], ids[4], ids[5])
	add(2 * one)
	there(ids[6])
	s.capped(s.newJob("a", 1), caps(2*one-1), at(time.Hour), batch.CapError{Cap: batch.CapLists, Limit: 2*one - 1})
	there(ids[6])
}

func nbytes(s *suite) {
	same(s, "the bytes of nothing", s.bytes(), 0)
	sizes := map[string]int64{}
	total := func() {
		s.Helper()
		var sum int64
		for _, n := range sizes {
			sum += n
		}
		same(s, "the bytes of all jobs", s.bytes(), sum)
	}
	var claims []batch.Claim
	for i := range 4 {
		j := s.newJob(fmt.Sprintf("caller-%d", i), 5)
		j.Targets[0].URL += strings.Repeat("x", 1000*i)
		s.create(j, at(0))
		c := s.claim()
		same(s, "the bytes of a job without results", c.NBytes, 0)
		sizes[c.JobID] = c.NBytes
		claims = append(claims, c.Claim)
		total()
	}
	for idx := range 5 {
		for i, c := range claims {
			o := large(idx, 100+1000*i)
			if (idx+i)%2 == 0 {
				o = failed(idx)
			}
			f := s.drain(c, at(0), o)
			// Exactly this: the runner holds a job's bytes by it, before it stores.
			same(s, "what a target adds", f.NBytes-sizes[c.JobID], int64(len(o.Result)+len(o.Error)+len(o.Hint)))
			sizes[c.JobID] = f.NBytes
			total()
		}
	}
	// Reasons count too.
	c := s.running("b", 1, at(0))
	s.startTarget(c, 0)
	before := s.bytes()
	reason := "store: " + strings.Repeat("x", 500)
	if ok, err := s.FailJob(s.Context(), c, reason, at(0)); !ok || err != nil {
		s.Fatal(ok, err)
	}
	if n := s.bytes() - before; n < 2*int64(len(reason)) {
		s.Errorf("a reason of %d bytes, of a job and a target, counts as %d", len(reason), n)
	}
	for {
		if _, found := s.evict(); !found {
			break
		}
	}
	same(s, "the bytes when all are gone", s.bytes(), 0)
}
