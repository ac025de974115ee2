package dcache

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"sift.build/sift/internal/batch"
	"sift.build/sift/internal/batch/storetest"
	"sift.build/sift/internal/sift"
)

func TestTheStoreKeepsTheContractOfBatches(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) batch.Store {
		db := openStore(t, Config{MaxBytes: 1 << 20})
		t.Cleanup(func() { checkSound(t, db) })
		return db
	})
}

const testTTL = 24 * time.Hour

// leaseAt is the lease clock of these tests, d after its start.
func leaseAt(d time.Duration) batch.Lease {
	return batch.Lease{Now: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC).Add(d), TTL: testTTL}
}

// Bounds that are in nobody's way.
func noCaps() batch.Caps { return batch.Caps{PerCaller: 1 << 20, Total: 1 << 20, ListBytes: 1 << 40} }

func testJob(caller, id string, n int) batch.NewJob {
	j := batch.NewJob{ID: id, Caller: sift.Caller{Name: caller, Class: "default"}, IdemKey: fmt.Sprintf("%064s", id), CreatedAt: leaseAt(0).Now}
	for i := range n {
		j.Targets = append(j.Targets, batch.NewTarget{URL: fmt.Sprintf("https://example.org/%d", i), Options: json.RawMessage(`{"mode":"clean"}`)})
	}
	return j
}

func createJob(t testing.TB, db *DB, caller string, n int) string {
	t.Helper()
	c, err := db.CreateJob(t.Context(), testJob(caller, NewSnapshot(), n), noCaps(), leaseAt(0))
	if err != nil {
		t.Fatal(err)
	}
	return c.ID
}

func claimJob(t testing.TB, db *DB) batch.Claimed {
	t.Helper()
	c, ok, err := db.ClaimJob(t.Context())
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	return c
}

// envelopeOf is a result of n bytes.
func envelopeOf(n int) json.RawMessage {
	return json.RawMessage(`{"content":"` + strings.Repeat("x", n-14) + `"}`)
}

func runTarget(t testing.TB, db *DB, c batch.Claim, idx, n int, l batch.Lease) batch.Finished {
	t.Helper()
	if ok, err := db.StartTarget(t.Context(), c, idx); !ok || err != nil {
		t.Fatal(ok, err)
	}
	f, err := db.FinishTarget(t.Context(), c, batch.Outcome{Idx: idx, Result: envelopeOf(n), MaxBytes: 1 << 40}, l)
	if !f.Stored || err != nil {
		t.Fatal(f, err)
	}
	return f
}

// commits counts the transactions that the write-ahead log holds: each ends with
// a frame that says how long the file is after it, and was synced. The log must
// not have been started again since.
func commits(t testing.TB, db *DB) (n int) {
	t.Helper()
	log, err := os.ReadFile(db.path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	const header, frameHeader = 32, 24
	pageSize := int(binary.BigEndian.Uint32(log[8:]))
	for frame := log[header:]; len(frame) >= frameHeader+pageSize; frame = frame[frameHeader+pageSize:] {
		if !bytes.Equal(frame[8:16], log[16:24]) { // the salt: left over from before
			break
		}
		if binary.BigEndian.Uint32(frame[4:]) != 0 {
			n++
		}
	}
	return n
}

func TestEachIntentIsOneDurableCommitAndATargetTwo(t *testing.T) {
	db := openStore(t, Config{MaxBytes: 1 << 20})
	ctx := t.Context()
	hook := countCommits(t, db)
	costs := func(what string, want int, fn func()) {
		t.Helper()
		before, hooked := commits(t, db), hook.Load()
		fn()
		if got := commits(t, db) - before; got != want {
			t.Errorf("%s is %d durable commits and should be %d", what, got, want)
		}
		// SQLite's own count, which has empty transactions in it, is what the
		// benchmark goes by.
		if got := int(hook.Load() - hooked); got < want || strings.HasPrefix(what, "a target") && got != want {
			t.Errorf("%s is %d transactions", what, got)
		}
	}
	var id string
	var c batch.Claim
	costs("creating a job", 1, func() { id = createJob(t, db, "a", 8) })
	costs("claiming it", 1, func() { c = claimJob(t, db).Claim })
	for idx := range 4 {
		costs("a target", 2, func() { runTarget(t, db, c, idx, 10_000, leaseAt(time.Duration(idx)*time.Hour)) })
	}
	// Also where others have to go for it.
	for range 3 {
		createJob(t, db, "b", 2)
		old := claimJob(t, db).Claim
		runTarget(t, db, old, 0, 50_000, leaseAt(0))
		runTarget(t, db, old, 1, 50_000, leaseAt(0))
	}
	costs("a target that evicts", 2, func() {
		if ok, err := db.StartTarget(ctx, c, 4); !ok || err != nil {
			t.Fatal(ok, err)
		}
		f, err := db.FinishTarget(ctx, c, batch.Outcome{Idx: 4, Result: envelopeOf(10_000), MaxBytes: 100_000}, leaseAt(3*time.Hour))
		if err != nil || f.Evicted != 3 {
			t.Fatal(f, err)
		}
	})
	costs("what is refused", 0, func() {
		for _, idx := range []int{0, 7, 99} {
			stale := batch.Claim{JobID: c.JobID, Epoch: c.Epoch - 1}
			if ok, err := db.StartTarget(ctx, stale, idx); ok || err != nil {
				t.Error(ok, err)
			}
			if f, err := db.FinishTarget(ctx, c, batch.Outcome{Idx: idx, Result: envelopeOf(20), MaxBytes: 1 << 30}, leaseAt(0)); f.Stored || err != nil {
				t.Error(f, err)
			}
		}
		if n, err := db.SweepJobs(ctx, leaseAt(0)); n != 0 || err != nil {
			t.Error(n, err)
		}
		if _, ok, err := db.ClaimJob(ctx); ok || err != nil {
			t.Error(ok, err)
		}
	})
	// The lease was renewed at 3 h; a thousandth of 24 h is 86.4 s. The job is
	// live.
	const worth = 86_400 * time.Millisecond
	read := func(at time.Duration) func() {
		return func() {
			if _, found, err := storetest.Whole(ctx, db, "a", id, -1, leaseAt(at)); !found || err != nil {
				t.Fatal(found, err)
			}
		}
	}
	costs("a thousand reads that gain too little", 0, func() {
		for range 1000 {
			read(3*time.Hour + worth - time.Millisecond)()
		}
	})
	costs("a read that gains enough", 1, read(3*time.Hour+worth))
	costs("the next one", 0, read(3*time.Hour+worth+time.Second))
	costs("a read with a clock that is behind", 0, read(0))
	again := testJob("a", "again", 8)
	again.IdemKey = testJob("a", id, 8).IdemKey
	resubmit := func(at time.Duration) func() {
		return func() {
			if r, err := db.CreateJob(ctx, again, batch.Caps{}, leaseAt(at)); err != nil || !r.Reused {
				t.Fatal(r, err)
			}
		}
	}
	costs("a resubmit that gains too little", 0, resubmit(3*time.Hour+worth+time.Second))
	costs("a resubmit that gains enough", 1, resubmit(5*time.Hour))
	costs("what only looks", 0, func() {
		if _, found, err := db.JobProgress(ctx, "a", id, leaseAt(9*time.Hour)); !found || err != nil {
			t.Error(found, err)
		}
		if jobs, err := db.Jobs(ctx, "a", 10, leaseAt(9*time.Hour)); len(jobs) != 1 || err != nil {
			t.Error(jobs, err)
		}
	})
	costs("cancelling", 1, func() {
		if c, found, err := db.CancelJob(ctx, "a", id, leaseAt(0)); !c.Changed || !found || err != nil {
			t.Error(c, found, err)
		}
	})
	// One that has ended is kept by what it gains from a read.
	costs("reads of an ended job that gain too little", 0, read(5*time.Hour+endedGain-time.Millisecond))
	costs("a read of an ended job", 1, read(5*time.Hour+endedGain))
	costs("the next read of it", 1, read(5*time.Hour+2*endedGain))
	costs("cancelling again", 0, func() {
		if c, found, err := db.CancelJob(ctx, "a", id, leaseAt(0)); c.Changed || !found || err != nil {
			t.Error(c, found, err)
		}
	})
}

// Also pairs of states that cannot come about: whatever a file says, an
// operation leaves alone what it does not name.
func TestInEveryPairOfStatesOnlyTheNamedOneIsLeft(t *testing.T) {
	t.Parallel()
	db := openStore(t, Config{MaxBytes: 1 << 20})
	ctx := t.Context()
	lease := leaseAt(0)
	type op struct {
		name string
		do   func(c batch.Claim) (bool, error)
		may  func(job sift.JobStatus, target sift.TargetStatus) bool
	}
	ops := []op{
		{"claim", func(batch.Claim) (bool, error) {
			_, ok, err := db.ClaimJob(ctx)
			return ok, err
		}, func(job sift.JobStatus, _ sift.TargetStatus) bool { return job == "queued" }},
		{"start", func(c batch.Claim) (bool, error) { return db.StartTarget(ctx, c, 0) },
			func(job sift.JobStatus, target sift.TargetStatus) bool {
				return job == "running" && target == "pending"
			}},
		{"finish", func(c batch.Claim) (bool, error) {
			f, err := db.FinishTarget(ctx, c, batch.Outcome{Result: envelopeOf(20), MaxBytes: 1 << 30}, lease)
			return f.Stored, err
		}, func(job sift.JobStatus, target sift.TargetStatus) bool {
			return (job == "running" || job == "cancelled") && target == "running"
		}},
		{"release", func(c batch.Claim) (bool, error) { return db.ReleaseTarget(ctx, c, 0) },
			func(job sift.JobStatus, target sift.TargetStatus) bool {
				return job == "cancelled" && target == "running"
			}},
		{"fail", func(c batch.Claim) (bool, error) { return db.FailJob(ctx, c, "store: full", lease) },
			func(job sift.JobStatus, _ sift.TargetStatus) bool { return job == "running" }},
		{"cancel", func(c batch.Claim) (bool, error) {
			x, found, err := db.CancelJob(ctx, "a", c.JobID, lease)
			return x.Changed && found, err
		}, func(job sift.JobStatus, _ sift.TargetStatus) bool { return job == "queued" || job == "running" }},
		{"evict", func(batch.Claim) (bool, error) {
			_, found, err := db.EvictBatchOldest(ctx)
			return found, err
		}, func(job sift.JobStatus, _ sift.TargetStatus) bool { return job != "queued" && job != "running" }},
		{"sweep", func(batch.Claim) (bool, error) {
			n, err := db.SweepJobs(ctx, leaseAt(testTTL))
			return n > 0, err
		}, func(job sift.JobStatus, _ sift.TargetStatus) bool { return job != "queued" && job != "running" }},
	}
	dump := func(id string) (all string) {
		err := db.reader.QueryRowContext(ctx, `SELECT concat_ws('|', j.status, j.error, j.epoch, j.targets_done, j.lease, j.nbytes, t.status, t.error, t.hint, t.result)
			FROM batch_job AS j JOIN batch_target AS t ON t.job_id = j.id WHERE j.id = ?`, id).Scan(&all)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			t.Fatal(err)
		}
		return all
	}
	pairs := 0
	for _, job := range sift.JobStatuses() {
		for _, target := range sift.TargetStatuses() {
			pairs++
			for _, o := range ops {
				id := createJob(t, db, "a", 1)
				err := db.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
					_, err := tx.ExecContext(ctx, `UPDATE batch_job SET status = ?1, epoch = 3 WHERE id = ?2`, job, id)
					if err == nil {
						_, err = tx.ExecContext(ctx, `UPDATE batch_target SET status = ?1, result = CASE WHEN ?1 = 'done' THEN '{}' END WHERE job_id = ?2`, target, id)
					}
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
				before := dump(id)
				changed, err := o.do(batch.Claim{JobID: id, Epoch: 3})
				if err != nil {
					t.Fatalf("%s in %s/%s: %v", o.name, job, target, err)
				}
				if want := o.may(job, target); changed != want || (dump(id) != before) != want {
					t.Errorf("%s in %s/%s: %v, from %q to %q", o.name, job, target, changed, before, dump(id))
				}
				if err := db.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
					_, err := tx.ExecContext(ctx, `DELETE FROM batch_job`)
					return err
				}); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if pairs != 24 {
		t.Errorf("%d pairs", pairs)
	}
	checkSound(t, db)
}

func TestNoStatementOfBatchesWalksAWholeTable(t *testing.T) {
	db := openStore(t, Config{MaxBytes: 1 << 20})
	for name, stmt := range map[string]string{
		"sqlNewest": sqlNewest, "sqlLiveOf": sqlLiveOf, "sqlLiveInAll": sqlLiveInAll, "sqlReplaced": sqlReplaced,
		"sqlClaim": sqlClaim, "sqlPending": sqlPending, "sqlStartTarget": sqlStartTarget, "sqlFinishTarget": sqlFinishTarget,
		"sqlTargetFinished": sqlTargetFinished, "sqlReleaseTarget": sqlReleaseTarget, "sqlFailJob": sqlFailJob, "sqlFailTargetsOf": sqlFailTargetsOf,
		"sqlCancelJob": sqlCancelJob, "sqlEndedJob": sqlEndedJob, "sqlMarkCancelled": sqlMarkCancelled, "sqlMarkLive": sqlMarkLive, "sqlMarkTargets": sqlMarkTargets,
		"sqlStaying": sqlStaying, "sqlDeleteOldest": sqlDeleteOldest, "sqlEvictOldest": sqlEvictOldest, "sqlAnyExpired": sqlAnyExpired,
		"sqlListBytes": sqlListBytes, "sqlLiveListBytes": sqlLiveListBytes, "sqlDeleteOldestOf": sqlDeleteOldestOf, "sqlToMark": sqlToMark, "sqlResult": sqlResult,
		"sqlJob": sqlJob, "sqlTargets": sqlTargets, "sqlRenew": sqlRenew, "sqlProgress": sqlProgress, "sqlJobs": sqlJobs, "sqlLiveJobs": sqlLiveJobs,
	} {
		params := strings.Count(stmt, "?")
		if numbered := regexp.MustCompile(`\?\d`).FindAllString(stmt, -1); len(numbered) > 0 {
			params = int(slices.Max(numbered)[1] - '0')
		}
		plan := planOf(t, db, stmt, params)
		for _, step := range plan {
			// The partial index of live jobs has a handful of rows: all of them
			// may be looked at. Of those of ended ones the first is taken.
			scan := strings.HasPrefix(step, "SCAN batch_")
			for _, small := range []string{"batch_job_live", "batch_job_ended", "batch_job_evictable", "batch_target_running"} {
				scan = scan && !strings.Contains(step, "INDEX "+small)
			}
			if scan || strings.Contains(step, "TEMP B-TREE") {
				t.Errorf("%s: %s\n%s", name, step, strings.Join(plan, "\n"))
			}
		}
	}
	// A caller may have thousands of jobs that have ended. A submit or a target
	// that finds its room does not look at each of them; but for the sum of
	// their lists, which is in an index.
	for stmt, index := range map[string]string{
		sqlLiveOf: "INDEX batch_job_live", sqlLiveListBytes: "INDEX batch_job_live", sqlListBytes: "COVERING INDEX batch_job_of",
		sqlDeleteOldestOf: "INDEX batch_job_ended_of", sqlEvictOldest: "INDEX batch_job_evictable",
	} {
		plan := slices.DeleteFunc(planOf(t, db, stmt, 1), func(step string) bool {
			return !strings.Contains(step, " batch_job ") || strings.Contains(step, "PRIMARY KEY")
		})
		for _, step := range plan {
			if !strings.Contains(step, "USING "+index) {
				t.Errorf("%s\n%s", stmt, step)
			}
		}
		if len(plan) == 0 {
			t.Errorf("%s looks at no job", stmt)
		}
	}
}

func planOf(t *testing.T, db *DB, stmt string, params int) (plan []string) {
	t.Helper()
	rows, err := db.writer.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+stmt, make([]any, params)...)
	if err != nil {
		t.Fatalf("%s: %v", stmt, err)
	}
	defer rows.Close()
	for rows.Next() {
		var id, parent, unused int
		var step string
		if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
			t.Fatal(err)
		}
		plan = append(plan, step)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return plan
}
