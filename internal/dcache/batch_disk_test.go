package dcache

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sift.build/sift/internal/batch"
	"sift.build/sift/internal/batch/storetest"
	"sift.build/sift/internal/sift"
)

func TestOnAFullDiskABatchFailsTypedAndStaysReadable(t *testing.T) {
	t.Parallel()
	onSmallDisk(t, 8<<20, func(t *testing.T, d disk) {
		ballast := filepath.Join(d.dir, "ballast")
		fewWords := filepath.Join(d.dir, "few words")
		for name, size := range map[string]int{ballast: 2 << 20, fewWords: 128 << 10} {
			if err := os.WriteFile(name, make([]byte, size), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var told []error
		db, err := Open(t.Context(), Config{Dir: filepath.Join(d.dir, "data"), MaxBytes: 64 << 20, Trace: &Trace{OnError: func(err error) { told = append(told, err) }}})
		if err != nil {
			t.Fatal(err)
		}
		limitPages := func(n int) {
			if !d.mounted {
				if _, err := db.writer.ExecContext(t.Context(), fmt.Sprintf("PRAGMA max_page_count = %d", n)); err != nil {
					t.Fatal(err)
				}
			}
		}
		limitPages(800)
		ctx := t.Context()
		full := func(what string, err error) {
			t.Helper()
			if !errors.Is(err, batch.ErrFull) || !errors.Is(err, ErrFull) || !strings.Contains(err.Error(), "batch.max_bytes") {
				t.Fatalf("%s: %v", what, err)
			}
		}
		id := createJob(t, db, "a", 100)
		c := claimJob(t, db).Claim
		stored := 0
		fill := func() error {
			for ; stored < 100; stored++ {
				if ok, err := db.StartTarget(ctx, c, stored); err != nil {
					return err
				} else if !ok {
					// It was started before; only the end of it did not fit.
					if p, _, err := db.JobProgress(ctx, "a", id, leaseAt(0)); err != nil || !p.InFlight {
						t.Fatal(p, err)
					}
				}
				f, err := db.FinishTarget(ctx, c, batch.Outcome{Idx: stored, Result: envelopeOf(200 << 10), MaxBytes: 1 << 40}, leaseAt(0))
				if err != nil {
					if f != (batch.Finished{}) {
						t.Errorf("%+v with %v", f, err)
					}
					return err
				}
				if !f.Stored {
					t.Fatal("not stored, and no error")
				}
			}
			return nil
		}
		check := func() {
			t.Helper()
			checkSound(t, db)
			// Late enough to be worth a renewal, which may not fit.
			j, found, err := storetest.Whole(ctx, db, "a", id, -1, leaseAt(time.Hour))
			if err != nil || !found || j.Status != sift.JobRunning || j.TargetsDone != stored {
				t.Fatalf("%d of %d targets, %s, %v, %v", j.TargetsDone, stored, j.Status, found, err)
			}
			for _, target := range j.Targets[:stored] {
				if len(target.Result) != 200<<10 {
					t.Errorf("target %d has %d bytes", target.Idx, len(target.Result))
				}
			}
		}
		full("storing until it is full", fill())
		check()
		full("and again", fill())
		check()
		if stored == 0 {
			t.Fatal("nothing fitted")
		}
		_, err = db.CreateJob(ctx, testJob("b", "large", 400), noCaps(), leaseAt(0))
		if err != nil { // a small one may still fit into what is left of a page
			full("creating", err)
		}
		before := stored
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
		limitPages(1200)
		full("with some room again", fill())
		if stored == before {
			t.Error("nothing was stored with room again")
		}
		check()
		limitPages(1300)
		if err := os.Remove(fewWords); err != nil {
			t.Fatal(err)
		}
		want := stored
		if p, _, err := db.JobProgress(ctx, "a", id, leaseAt(0)); err != nil {
			t.Fatal(err)
		} else if p.InFlight { // it was the end of it that did not fit, not the start
			want++
		}
		if ok, err := db.FailJob(ctx, c, "store: no room", leaseAt(0)); !ok || err != nil {
			t.Fatal(ok, err)
		}
		if j, found, err := storetest.Whole(ctx, db, "a", id, 1000, leaseAt(0)); !found || err != nil || j.Status != sift.JobFailed || j.TargetsDone != want {
			t.Errorf("%+v, %v, %v", j, found, err)
		}
		for _, err := range told {
			full("told", err)
		}
		if err := db.Close(); err != nil && !errors.Is(err, ErrFull) {
			t.Error(err)
		}
	})
}

func TestAJobIsReadThoughItsLeaseCannotBeRenewed(t *testing.T) {
	t.Parallel()
	onSmallDisk(t, 4<<20, func(t *testing.T, d disk) {
		var told []error
		db, err := Open(t.Context(), Config{Dir: filepath.Join(d.dir, "data"), MaxBytes: 1 << 20, Trace: &Trace{OnError: func(err error) { told = append(told, err) }}})
		if err != nil {
			t.Fatal(err)
		}
		ctx := t.Context()
		id := createJob(t, db, "a", 2)
		c := claimJob(t, db).Claim
		runTarget(t, db, c, 0, 1000, leaseAt(0))
		if d.mounted {
			err = remountReadOnly(d.dir)
		}
		if !d.mounted || err != nil { // files that are open for writing may forbid it
			if _, err := db.writer.ExecContext(ctx, "PRAGMA query_only = 1"); err != nil {
				t.Fatal(err)
			}
		}
		j, found, err := storetest.Whole(ctx, db, "a", id, -1, leaseAt(time.Hour))
		if err != nil || !found || len(j.Targets) != 2 || j.Targets[0].Result == nil {
			t.Errorf("%+v, %v, %v", j, found, err)
		}
		if len(told) != 1 || !errors.Is(told[0], ErrReadOnly) || strings.Contains(told[0].Error(), "example.org") {
			t.Errorf("the trace was told %v", told)
		}
		for what, do := range map[string]func() error{
			"create": func() error { _, err := db.CreateJob(ctx, testJob("b", "x", 1), noCaps(), leaseAt(0)); return err },
			"claim":  func() error { _, _, err := db.ClaimJob(ctx); return err },
			"start":  func() error { _, err := db.StartTarget(ctx, c, 1); return err },
			"fail":   func() error { _, err := db.FailJob(ctx, c, "store: x", leaseAt(0)); return err },
			"cancel": func() error { _, _, err := db.CancelJob(ctx, "a", id, leaseAt(0)); return err },
			"mark":   func() error { _, err := db.MarkInFlightFailed(ctx, "restart", leaseAt(0).Now); return err },
		} {
			if err := do(); what != "claim" && !errors.Is(err, ErrReadOnly) {
				t.Errorf("%s: %v", what, err)
			}
		}
		if p, _, err := db.JobProgress(ctx, "a", id, leaseAt(0)); err != nil || p.Status != sift.JobRunning || p.TargetsDone != 1 {
			t.Errorf("%+v, %v", p, err)
		}
		_ = db.Close() // it cannot move its log into the file
	})
}

// A writer that is taken for long keeps a read waiting for a bounded time only.
func TestAReadDoesNotWaitLongForTheRenewalOfItsLease(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var told []error
		db, err := Open(t.Context(), Config{Dir: dir, MaxBytes: 1 << 20, Trace: &Trace{OnError: func(err error) { told = append(told, err) }}})
		if err != nil {
			t.Fatal(err)
		}
		id := createJob(t, db, "a", 1)
		conn, err := db.writer.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if _, found, err := storetest.Whole(t.Context(), db, "a", id, -1, leaseAt(time.Hour)); !found || err != nil || time.Since(start) != renewWait {
			t.Errorf("%v, %v after %v", found, err, time.Since(start))
		}
		if len(told) != 1 || !errors.Is(told[0], context.DeadlineExceeded) {
			t.Errorf("the trace was told %v", told)
		}
		if err := errors.Join(conn.Close(), db.Close()); err != nil {
			t.Error(err)
		}
	})
}

func TestADamagedJobIsNamedAndNotGuessedAt(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		table string
		want  []func(ctx *DB, id string) error
	}{
		"jobs": {"batch_job", []func(*DB, string) error{
			func(db *DB, id string) error {
				_, _, err := storetest.Whole(t.Context(), db, "a", id, -1, leaseAt(0))
				return err
			},
			func(db *DB, id string) error {
				_, _, err := db.JobProgress(t.Context(), "a", id, leaseAt(0))
				return err
			},
			func(db *DB, _ string) error { _, err := db.Jobs(t.Context(), "a", 9, leaseAt(0)); return err },
			func(db *DB, _ string) error {
				_, err := db.MarkInFlightFailed(t.Context(), "restart", leaseAt(0).Now)
				return err
			},
			func(db *DB, id string) error { _, _, err := db.CancelJob(t.Context(), "a", id, leaseAt(0)); return err },
			func(db *DB, _ string) error { _, _, err := db.ClaimJob(t.Context()); return err },
		}},
		"targets": {"batch_target", []func(*DB, string) error{
			func(db *DB, id string) error {
				_, _, err := storetest.Whole(t.Context(), db, "a", id, -1, leaseAt(0))
				return err
			},
			func(db *DB, _ string) error { _, _, err := db.ClaimJob(t.Context()); return err },
			func(db *DB, id string) error {
				_, err := db.StartTarget(t.Context(), batch.Claim{JobID: id, Epoch: 1}, 1)
				return err
			},
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			db, err := Open(t.Context(), Config{Dir: dir, MaxBytes: 1 << 20})
			if err != nil {
				t.Fatal(err)
			}
			id := createJob(t, db, "a", 2)
			c := claimJob(t, db).Claim
			runTarget(t, db, c, 0, 100, leaseAt(0))
			createJob(t, db, "a", 2)
			var root int64
			if err := db.reader.QueryRowContext(t.Context(), "SELECT rootpage FROM sqlite_schema WHERE name = ?", tt.table).Scan(&root); err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			f, err := os.OpenFile(db.path, os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			_, err = f.WriteAt(noise("x", 4096), (root-1)*4096)
			if err := errors.Join(err, f.Close()); err != nil {
				t.Fatal(err)
			}
			db = openStore(t, Config{Dir: dir, MaxBytes: 1 << 20})
			for i, do := range tt.want {
				if err := do(db, id); !errors.Is(err, ErrCorrupt) || !errors.Is(err, batch.ErrDamaged) {
					t.Errorf("call %d: %v", i, err)
				}
			}
		})
	}

	// Damage that SQLite does not see.
	db := openStore(t, Config{MaxBytes: 1 << 20})
	id := createJob(t, db, "a", 2)
	if _, err := db.writer.ExecContext(t.Context(), "DELETE FROM batch_target WHERE job_id = ? AND idx = 1", id); err != nil {
		t.Fatal(err)
	}
	if _, found, err := storetest.Whole(t.Context(), db, "a", id, -1, leaseAt(0)); found || !errors.Is(err, ErrCorrupt) {
		t.Errorf("a job without one of its targets: %v, %v", found, err)
	}
}
