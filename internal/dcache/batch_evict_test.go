package dcache

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"sift.build/sift/internal/batch"
	"sift.build/sift/internal/batch/storetest"
	"sift.build/sift/internal/sift"
)

// The largest that a runner stores, by its defaults.
const (
	largestResult = 256 << 10
	largestJob    = 8 << 20
	mostBytes     = 64 << 20
)

// fillJob makes a job of 32 targets with as much as a job may hold.
func fillJob(t testing.TB, db *DB, caller string, l batch.Lease) (id string, longest time.Duration) {
	t.Helper()
	j := testJob(caller, NewSnapshot(), 32)
	if _, err := db.CreateJob(t.Context(), j, batch.Caps{PerCaller: 1, Total: 8, ListBytes: mostBytes}, l); err != nil {
		t.Fatal(err)
	}
	c := claimJob(t, db)
	nbytes := c.NBytes
	for idx := range 32 {
		if ok, err := db.StartTarget(t.Context(), c.Claim, idx); !ok || err != nil {
			t.Fatal(ok, err)
		}
		n := min(largestResult, largestJob-int(nbytes)-(31-idx)*1024)
		start := time.Now()
		f, err := db.FinishTarget(t.Context(), c.Claim, batch.Outcome{Idx: idx, Result: envelopeOf(n), MaxBytes: mostBytes}, l)
		if !f.Stored || err != nil {
			t.Fatal(f, err)
		}
		longest = max(longest, time.Since(start))
		nbytes = f.NBytes
		if held, err := db.BatchNbytes(t.Context()); held > mostBytes || err != nil {
			t.Fatalf("%d bytes are held, %v", held, err)
		}
	}
	if nbytes > largestJob || nbytes < largestJob-32<<10 {
		t.Fatalf("the job takes %d bytes", nbytes)
	}
	return j.ID, longest
}

// storeEnded stores jobs whose targets are all answered, in one transaction,
// which is quicker than one by one.
func storeEnded(t *testing.T, db *DB, jobs []batch.NewJob, size int, l batch.Lease) {
	t.Helper()
	result := []byte(envelopeOf(size))
	err := db.write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		for _, j := range jobs {
			if err := insertJob(ctx, tx, j, l, int64(jobOverhead+targetOverhead*len(j.Targets))); err != nil {
				return err
			}
			_, err := tx.ExecContext(ctx, `UPDATE batch_target SET status = 'done', result = CAST(? AS TEXT) WHERE job_id = ?`, result, j.ID)
			if err != nil {
				return err
			}
			_, err = tx.ExecContext(ctx, `UPDATE batch_job SET status = 'done', targets_done = targets_total,
				nbytes = (SELECT sum(octet_length(result)) FROM batch_target WHERE job_id = batch_job.id),
				list_bytes = list_bytes + octet_length(id) + octet_length(caller) + octet_length(caller_class) + octet_length(idem_key)
					+ (SELECT sum(octet_length(url) + octet_length(options)) FROM batch_target WHERE job_id = batch_job.id)
				WHERE id = ?`, j.ID)
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestTheBytesAreHeldAtFullSizeAndTheFileIsNotMuchLonger(t *testing.T) {
	t.Parallel()
	db := openStore(t, Config{MaxBytes: 1 << 20})
	var ids []string
	var longest time.Duration
	for i := range 6 {
		j := testJob("a", NewSnapshot(), 32)
		storeEnded(t, db, []batch.NewJob{j}, largestResult-1500, leaseAt(time.Duration(i)*time.Second))
		ids = append(ids, j.ID)
	}
	for i := 6; i < 10; i++ { // two more than there is room for
		id, took := fillJob(t, db, "a", leaseAt(time.Duration(i)*time.Second))
		ids = append(ids, id)
		longest = max(longest, took)
	}
	for i, id := range ids {
		if _, found, err := db.JobProgress(t.Context(), "a", id, leaseAt(0)); found != (i >= 2) || err != nil {
			t.Errorf("job %d of 10 is there: %v, %v", i, found, err)
		}
	}
	if n := fileBytes(t, db); n > mostBytes+mostBytes/8+2*walLimit {
		t.Errorf("the files take %d bytes for %d", n, int64(mostBytes))
	}

	start := time.Now()
	j, found, err := storetest.Whole(t.Context(), db, "a", ids[9], -1, leaseAt(0))
	read := time.Since(start)
	if !found || err != nil || len(j.Targets) != 32 {
		t.Fatal(found, err)
	}
	for _, target := range j.Targets {
		if cap(target.Result) > largestResult+largestResult/8 {
			t.Errorf("a result of %d bytes holds %d", len(target.Result), cap(target.Result))
		}
	}

	start = time.Now()
	n, found, err := db.EvictBatchOldest(t.Context())
	evict := time.Since(start)
	if !found || err != nil || n < largestJob/2 {
		t.Error(n, found, err)
	}
	start = time.Now()
	if n, err := db.SweepJobs(t.Context(), leaseAt(2*testTTL)); n != 7 || err != nil {
		t.Error(n, err)
	}
	t.Logf("8 MiB: read in %v, deleted in %v; 7 of them swept in %v; the longest FinishTarget took %v",
		read, evict, time.Since(start), longest)
	if n, err := db.BatchNbytes(t.Context()); n != 0 || err != nil {
		t.Errorf("%d bytes are held, %v", n, err)
	}
	checkSound(t, db)

	// The pages are the content cache's again, or the disk's.
	if err := db.tend(t.Context()); err != nil {
		t.Fatal(err)
	}
	if ok, err := db.truncateWAL(t.Context()); !ok || err != nil {
		t.Error(ok, err)
	}
	if n := fileBytes(t, db); n > 4<<20 {
		t.Errorf("the files still take %d bytes", n)
	}
}

// Not in parallel: what others allocate would be counted too.
func TestAJobIsReadWithoutItsResultsAndEachOfThemWithOneCopy(t *testing.T) {
	const size = 64 << 10
	db := openStore(t, Config{MaxBytes: 1 << 20})
	j := testJob("a", NewSnapshot(), 32)
	storeEnded(t, db, []batch.NewJob{j}, size, leaseAt(0))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	outline, found, err := db.Job(t.Context(), "a", j.ID, -1, leaseAt(0))
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; !found || err != nil || len(outline.Targets) != 32 || n > size {
		t.Fatalf("%d bytes are allocated for a job without results: %v, %v", n, found, err)
	}
	runtime.ReadMemStats(&before)
	got, found, err := storetest.Whole(t.Context(), db, "a", j.ID, -1, leaseAt(0))
	runtime.ReadMemStats(&after)
	if !found || err != nil || len(got.Targets) != 32 {
		t.Fatal(found, err)
	}
	// Beside the driver's own, of which one is there at a time.
	if n := after.TotalAlloc - before.TotalAlloc; n > 2*32*size+32*size/4 {
		t.Errorf("%d bytes are allocated for %d", n, 32*size)
	}
}

func TestManySmallJobsTakeNotMuchMoreThanIsCounted(t *testing.T) {
	t.Parallel()
	for _, size := range []int{20, 1500, 3000, 5000} {
		db := openStore(t, Config{MaxBytes: 1 << 20})
		before := fileBytes(t, db)
		var jobs []batch.NewJob
		for range 100 {
			jobs = append(jobs, testJob("a", NewSnapshot(), 4))
		}
		storeEnded(t, db, jobs, size, leaseAt(0))
		if ok, err := db.truncateWAL(t.Context()); !ok || err != nil {
			t.Error(ok, err)
		}
		var n int64
		if err := db.reader.QueryRowContext(t.Context(), "SELECT sum(nbytes + list_bytes) FROM batch_job").Scan(&n); err != nil {
			t.Fatal(err)
		}
		grown := fileBytes(t, db) - before
		t.Logf("results of %d bytes: %d are counted, the file grew by %d", size, n, grown)
		if grown > n*3/2 {
			t.Errorf("results of %d bytes: %d are counted, and the file grew by %d", size, n, grown)
		}
	}
}

func TestALoweredBudgetIsReachedInSeveralTransactions(t *testing.T) {
	t.Parallel()
	db := openStore(t, Config{MaxBytes: 1 << 20})
	ctx := t.Context()
	var old []string
	for i := range 12 {
		old = append(old, createJob(t, db, "a", 1))
		runTarget(t, db, claimJob(t, db).Claim, 0, 300<<10, leaseAt(time.Duration(i)))
	}
	createJob(t, db, "b", 2)
	c := claimJob(t, db).Claim
	const budget = 1 << 20
	for idx, want := range []int{10, 0} {
		if ok, err := db.StartTarget(ctx, c, idx); !ok || err != nil {
			t.Fatal(ok, err)
		}
		before := commits(t, db)
		f, err := db.FinishTarget(ctx, c, batch.Outcome{Idx: idx, Result: envelopeOf(150 << 10), MaxBytes: budget}, leaseAt(0))
		if err != nil || !f.Stored || f.Evicted != want {
			t.Errorf("%+v, %v", f, err)
		}
		if n := commits(t, db) - before; idx == 1 && n != 1 || n < 1 {
			t.Errorf("in %d transactions", n)
		}
		if n, err := db.BatchNbytes(ctx); n > budget || err != nil {
			t.Errorf("%d bytes are held, %v", n, err)
		}
	}
	for i, id := range old {
		if _, found, err := db.JobProgress(ctx, "a", id, leaseAt(0)); found != (i >= 10) || err != nil {
			t.Errorf("job %d is there: %v, %v", i, found, err)
		}
	}
	// Not at all where it cannot be reached, however much there is to evict.
	for range 8 {
		createJob(t, db, "a", 1)
		runTarget(t, db, claimJob(t, db).Claim, 0, 300<<10, leaseAt(0))
	}
	createJob(t, db, "b", 1)
	c = claimJob(t, db).Claim
	if ok, err := db.StartTarget(ctx, c, 0); !ok || err != nil {
		t.Fatal(ok, err)
	}
	before, err := db.BatchNbytes(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.FinishTarget(ctx, c, batch.Outcome{Result: envelopeOf(5000), MaxBytes: 4999}, leaseAt(0)); !errors.Is(err, batch.ErrNoRoom) {
		t.Errorf("error is %v", err)
	}
	if n, err := db.BatchNbytes(ctx); n != before || err != nil {
		t.Errorf("%d bytes became %d, %v", before, n, err)
	}
	checkSound(t, db)
}

func TestASweepOfManyLetsOthersInAndEndsWithItsCaller(t *testing.T) {
	t.Parallel()
	db := openStore(t, Config{MaxBytes: 1 << 20})
	const n = 3*deleteJobs + 10
	err := db.write(t.Context(), func(ctx context.Context, tx *sql.Tx) error { // quicker than one by one
		for i := range n {
			if err := insertJob(ctx, tx, testJob("a", fmt.Sprint(i), 1), leaseAt(0), jobOverhead); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, "UPDATE batch_job SET status = 'cancelled'")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	live := createJob(t, db, "b", 1)
	ctx, cancel := context.WithCancel(t.Context())
	before := commits(t, db)
	left := make(chan struct{})
	go func() { // leaves as soon as some are gone
		defer close(left)
		for ctx.Err() == nil {
			if jobs, err := db.Jobs(ctx, "a", n, leaseAt(0)); err != nil || len(jobs) < n {
				cancel()
			}
		}
	}()
	first, err := db.SweepJobs(ctx, leaseAt(testTTL))
	<-left
	if first == 0 || first == n && err != nil || first < n && !errors.Is(err, context.Canceled) {
		t.Errorf("%d of %d were swept, %v", first, n, err)
	}
	rest, err := db.SweepJobs(t.Context(), leaseAt(testTTL))
	if err != nil || first+rest != n {
		t.Errorf("%d and %d of %d, %v", first, rest, n, err)
	}
	if c := commits(t, db) - before; c < n/deleteJobs {
		t.Errorf("in %d transactions", c)
	}
	if p, found, err := db.JobProgress(t.Context(), "b", live, leaseAt(testTTL)); !found || err != nil || p.Status != sift.JobQueued {
		t.Errorf("the live job: %+v, %v, %v", p, found, err)
	}
}

func TestTheRoomOfDeletedJobsIsGivenBackToTheDisk(t *testing.T) {
	t.Parallel()
	db := openStore(t, Config{MaxBytes: 512 << 20})
	for i := range 4 {
		storeEnded(t, db, []batch.NewJob{testJob("a", NewSnapshot(), 32)}, largestResult-1500, leaseAt(time.Duration(i)*time.Second))
	}
	if ok, err := db.truncateWAL(t.Context()); !ok || err != nil {
		t.Fatal(ok, err)
	}
	before := fileBytes(t, db)
	if n, err := db.SweepJobs(t.Context(), leaseAt(48*time.Hour)); n != 4 || err != nil {
		t.Fatal(n, err)
	}
	if err := db.tend(t.Context()); err != nil {
		t.Fatal(err)
	}
	if ok, err := db.truncateWAL(t.Context()); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if after := fileBytes(t, db); before < 30<<20 || after > keepFree+2<<20 {
		t.Errorf("the files took %d bytes, and take %d", before, after)
	}
}
