package dcache

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"sift.build/sift/internal/batch"
	"sift.build/sift/internal/batch/storetest"
	"sift.build/sift/internal/sift"
)

// resultOf is what a child stores for a target: it can be told from it.
func resultOf(id string, idx int) []byte {
	return fmt.Appendf(nil, `{"job":%q,"idx":%d,"x":"%0*d"}`, id, idx, 3000*(idx+1), 0)
}

// playBatch drains one job after the other, as a server after a restart, and
// says of each change that it has been made. It ends when it is killed.
func playBatch(ctx context.Context, dir string) error {
	db, err := Open(ctx, Config{Dir: dir, MaxBytes: 1 << 20})
	if err != nil {
		return err
	}
	if _, err := db.MarkInFlightFailed(ctx, "restart", time.Now()); err != nil {
		return err
	}
	for n := 0; ; n++ {
		l := batch.Lease{Now: time.Now(), TTL: testTTL}
		j := testJob("a", NewSnapshot(), 4)
		if _, err := db.CreateJob(ctx, j, batch.Caps{PerCaller: 1, Total: 1, ListBytes: 1 << 40}, l); err != nil {
			return err
		}
		fmt.Println("created", j.ID)
		c, ok, err := db.ClaimJob(ctx)
		if !ok || err != nil {
			return fmt.Errorf("claim: %v, %w", ok, err)
		}
		for idx := range j.Targets {
			if ok, err := db.StartTarget(ctx, c.Claim, idx); !ok || err != nil {
				return fmt.Errorf("start: %v, %w", ok, err)
			}
			if n%3 == 2 && idx == 2 {
				if _, _, err := db.CancelJob(ctx, "a", j.ID, l); err != nil {
					return err
				}
				fmt.Println("cancelled", j.ID)
			}
			f, err := db.FinishTarget(ctx, c.Claim, batch.Outcome{Idx: idx, Result: resultOf(j.ID, idx), MaxBytes: 1 << 40}, l)
			if !f.Stored || err != nil {
				return fmt.Errorf("finish: %v, %w", f, err)
			}
			fmt.Println("stored", j.ID, idx)
			if f.Job == sift.JobCancelled {
				break
			}
		}
	}
}

func TestNothingThatABatchWasToldIsLostWithItsProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var said []string
	for range 8 {
		c := startChild(t, "batch", dir)
		for range 1 + rand.IntN(15) {
			if !c.out.Scan() {
				break
			}
			said = append(said, c.out.Text())
		}
		if err := c.Process.Signal(syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		said = append(said, c.lines()...)
		err := c.Wait()
		if c.stderr.Len() > 0 || err == nil || c.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
			t.Fatalf("child ended by itself: %v: %s", err, c.stderr.String())
		}
	}
	db := openStore(t, Config{Dir: dir, MaxBytes: 1 << 20})
	checkSound(t, db)
	if _, err := db.MarkInFlightFailed(t.Context(), "restart", time.Now()); err != nil {
		t.Fatal(err)
	}
	checkSound(t, db)
	now := batch.Lease{Now: time.Now(), TTL: testTTL}
	jobs := map[string]sift.Job{}
	all, err := db.Jobs(t.Context(), "a", 1<<20, now)
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range all {
		whole, found, err := storetest.Whole(t.Context(), db, "a", j.ID, -1, now)
		if !found || err != nil {
			t.Fatal(found, err)
		}
		jobs[j.ID] = whole
		for _, target := range whole.Targets {
			if target.Status == sift.TargetRunning || target.Status == sift.TargetDone && string(target.Result) != string(resultOf(j.ID, target.Idx)) {
				t.Errorf("target %d of %s is %s, or another's", target.Idx, j.ID, target.Status)
			}
		}
		if j.Status.Live() || j.Status == sift.JobFailed != (j.Error == "restart") {
			t.Errorf("%s is %s (%s)", j.ID, j.Status, j.Error)
		}
	}
	stored := 0
	for _, line := range said {
		word := strings.Fields(line)
		j, ok := jobs[word[1]]
		if !ok {
			t.Fatalf("%q, and it is not there", line)
		}
		switch word[0] {
		case "stored":
			stored++
			idx, err := strconv.Atoi(word[2])
			if err != nil || j.Targets[idx].Status != sift.TargetDone {
				t.Errorf("%q, and it is %+v, %v", line, j.Targets[idx].Status, err)
			}
		case "cancelled":
			if j.Status != sift.JobCancelled {
				t.Errorf("%q, and it is %s", line, j.Status)
			}
		}
	}
	if stored < 8 {
		t.Errorf("only %d targets were stored", stored)
	}
}

// batchSteps are the transactions in the life of a job, one after the other.
func batchSteps(ctx context.Context, db *DB) []func() error {
	l := leaseAt(0)
	c := batch.Claim{JobID: "job", Epoch: 1}
	must := func(ok bool, err error) error {
		if err == nil && !ok {
			return fmt.Errorf("refused")
		}
		return err
	}
	start := func(idx int) func() error {
		return func() error { return must(db.StartTarget(ctx, c, idx)) }
	}
	finish := func(idx int) func() error {
		return func() error {
			f, err := db.FinishTarget(ctx, c, batch.Outcome{Idx: idx, Result: resultOf("job", idx), MaxBytes: 1 << 40}, l)
			return must(f.Stored, err)
		}
	}
	return []func() error{
		func() error { _, err := db.CreateJob(ctx, testJob("a", "job", 3), noCaps(), l); return err },
		func() error { _, ok, err := db.ClaimJob(ctx); return must(ok, err) },
		start(0), finish(0), start(1),
		func() error { _, ok, err := db.CancelJob(ctx, "a", "job", l); return must(ok, err) },
		finish(1),
	}
}

func TestAProcessKilledBetweenTwoTransactionsLeavesWhatTheFirstOnesMade(t *testing.T) {
	t.Parallel()
	pending, running, done, failed := sift.TargetPending, sift.TargetRunning, sift.TargetDone, sift.TargetFailed
	type state struct {
		job     sift.JobStatus
		done    int
		targets [3]sift.TargetStatus
	}
	tests := []struct{ left, marked state }{
		{state{sift.JobQueued, 0, [3]sift.TargetStatus{pending, pending, pending}}, state{sift.JobFailed, 0, [3]sift.TargetStatus{pending, pending, pending}}},
		{state{sift.JobRunning, 0, [3]sift.TargetStatus{pending, pending, pending}}, state{sift.JobFailed, 0, [3]sift.TargetStatus{pending, pending, pending}}},
		{state{sift.JobRunning, 0, [3]sift.TargetStatus{running, pending, pending}}, state{sift.JobFailed, 1, [3]sift.TargetStatus{failed, pending, pending}}},
		{state{sift.JobRunning, 1, [3]sift.TargetStatus{done, pending, pending}}, state{sift.JobFailed, 1, [3]sift.TargetStatus{done, pending, pending}}},
		{state{sift.JobRunning, 1, [3]sift.TargetStatus{done, running, pending}}, state{sift.JobFailed, 2, [3]sift.TargetStatus{done, failed, pending}}},
		{state{sift.JobCancelled, 1, [3]sift.TargetStatus{done, running, pending}}, state{sift.JobCancelled, 2, [3]sift.TargetStatus{done, failed, pending}}},
		{state{sift.JobCancelled, 2, [3]sift.TargetStatus{done, done, pending}}, state{sift.JobCancelled, 2, [3]sift.TargetStatus{done, done, pending}}},
	}
	for i, tt := range tests {
		dir := t.TempDir()
		c := startChild(t, "batchsteps", dir, strconv.Itoa(i+1))
		if !c.out.Scan() {
			t.Fatalf("child: %s", c.stderr.String())
		}
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = c.Wait()
		db := openStore(t, Config{Dir: dir, MaxBytes: 1 << 20})
		is := func(want state) {
			t.Helper()
			checkSound(t, db)
			j, found, err := storetest.Whole(t.Context(), db, "a", "job", -1, leaseAt(0))
			if !found || err != nil {
				t.Fatal(found, err)
			}
			got := state{job: j.Status, done: j.TargetsDone}
			for i, target := range j.Targets {
				got.targets[i] = target.Status
			}
			if got != want {
				t.Errorf("after %d transactions it is %v and should be %v", i+1, got, want)
			}
		}
		is(tt.left)
		if _, err := db.MarkInFlightFailed(t.Context(), "restart", leaseAt(0).Now); err != nil {
			t.Fatal(err)
		}
		is(tt.marked)
	}
}
