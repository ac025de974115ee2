package dcache

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// lastUsed gives the snapshots in the order the file says they were used,
// least recently first.
func lastUsed(t *testing.T, db *DB) (all []string) {
	t.Helper()
	rows, err := db.reader.QueryContext(t.Context(), "SELECT snapshot FROM content ORDER BY used, id")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

func hit(t *testing.T, db *DB, key string) {
	t.Helper()
	if _, ok, err := db.Latest(t.Context(), "default", key); !ok || err != nil {
		t.Fatal(ok, err)
	}
}

func TestUsesAreWrittenEveryFewSecondsAndWhenRunEnds(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	synctest.Test(t, func(t *testing.T) {
		db, err := Open(t.Context(), Config{Dir: dir, MaxBytes: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		a, b := testEntry("a", 10), testEntry("b", 10)
		put(t, db, a)
		put(t, db, b)
		ctx, cancel := context.WithCancel(t.Context())
		ran := make(chan error, 1)
		go func() { ran <- db.Run(ctx) }()
		synctest.Wait()

		last := func() string { all := lastUsed(t, db); return all[len(all)-1] }
		hit(t, db, "a")
		if last() != b.Snapshot {
			t.Error("a hit was written at once")
		}
		time.Sleep(tendEvery + time.Second)
		if last() != a.Snapshot {
			t.Error("a hit was not written in time")
		}
		hit(t, db, "b")
		cancel()
		if err := <-ran; err != nil {
			t.Errorf("Run: %v", err)
		}
		if last() != b.Snapshot {
			t.Error("a hit was not written at the end")
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}) // and fails when a goroutine is left
}

func TestCloseWritesTheUsesThatRunDidNot(t *testing.T) {
	dir := t.TempDir()
	db, err := Open(t.Context(), Config{Dir: dir, MaxBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	a, b := testEntry("a", 10), testEntry("b", 10)
	put(t, db, a)
	put(t, db, b)
	hit(t, db, "a")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = openStore(t, Config{Dir: dir, MaxBytes: 1 << 20})
	if got := lastUsed(t, db); got[1] != a.Snapshot {
		t.Error("the use was lost")
	}
}

func TestRunEvictsAndShrinksTheFileWhenTheBudgetHasShrunk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db, err := Open(t.Context(), Config{Dir: dir, MaxBytes: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for range 2 * evictRows {
		e := testEntry("", 150_000)
		e.Key = e.Snapshot
		put(t, db, e)
		all = append(all, e.Snapshot)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		const budget = 1 << 20
		var n int
		db, err := Open(t.Context(), Config{Dir: dir, MaxBytes: budget, Trace: &Trace{
			OnEvict: func(k int, _ int64) { n += k },
			OnError: func(err error) { t.Error(err) },
		}})
		if err != nil {
			t.Fatal(err)
		}
		before := fileBytes(t, db)
		ctx, cancel := context.WithCancel(t.Context())
		ran := make(chan error, 1)
		go func() { ran <- db.Run(ctx) }()
		time.Sleep(2*tendEvery + time.Second)
		cancel()
		if err := <-ran; err != nil {
			t.Error(err)
		}
		s, err := db.Stats(t.Context())
		if err != nil || s.Bytes > budget || s.Entries == 0 || int(s.Entries)+n != len(all) {
			t.Errorf("%+v, %d evicted, %v", s, n, err)
		}
		if !held(t, db, all[len(all)-1]) {
			t.Error("the newest went first")
		}
		checkSound(t, db)
		if ok, err := db.truncateWAL(t.Context()); !ok || err != nil {
			t.Error(ok, err)
		}
		if after := fileBytes(t, db); after > 3*budget {
			t.Errorf("the file had %d bytes and still has %d", before, after)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestATransactionEvictsABoundedNumberOfBytes(t *testing.T) {
	db := openStore(t, Config{})
	const each = evictBytes / 4
	err := db.write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		for range 10 {
			if err := insert(ctx, tx, testEntry("", 0), nil, nil, each); err != nil { // so much by its own account
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var steps []int
	db.trace = &Trace{OnEvict: func(n int, _ int64) { steps = append(steps, n) }}
	if err := db.evict(t.Context()); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]int{4, 4, 2}, steps); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestRunGoesOnAfterAFailureAndTellsIt(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	synctest.Test(t, func(t *testing.T) {
		var told []error
		db, err := Open(t.Context(), Config{Dir: dir, MaxBytes: 1 << 20, Trace: &Trace{OnError: func(err error) { told = append(told, err) }}})
		if err != nil {
			t.Fatal(err)
		}
		a, b := testEntry("a", 10), testEntry("b", 10)
		put(t, db, a)
		put(t, db, b)
		if _, err := db.writer.ExecContext(t.Context(), "PRAGMA query_only = 1"); err != nil { // as a disk that became read-only
			t.Fatal(err)
		}
		hit(t, db, "a")
		ctx, cancel := context.WithCancel(t.Context())
		ran := make(chan error, 1)
		go func() { ran <- db.Run(ctx) }()
		time.Sleep(tendEvery + time.Second)
		synctest.Wait()
		if len(told) != 1 || !errors.Is(told[0], ErrReadOnly) {
			t.Errorf("told of %v", told)
		}
		if _, err := db.writer.ExecContext(t.Context(), "PRAGMA query_only = 0"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(tendEvery)
		if got := lastUsed(t, db); got[1] != a.Snapshot {
			t.Error("the use that could not be written was forgotten")
		}
		cancel()
		if err := <-ran; err != nil {
			t.Error(err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestManyNotedUsesWakeRunAndAreBounded(t *testing.T) {
	u := newUses[string](sqlUsed)
	for i := range maxUses + 1000 {
		u.note(fmt.Sprint(i))
	}
	if len(u.last) != maxUses {
		t.Errorf("%d are held", len(u.last))
	}
	select {
	case <-u.wake:
	default:
		t.Error("Run was not woken")
	}
	u.note("0") // one that is held already moves to the end
	taken := u.take()
	if len(taken) != usesPerWrite || taken[0].of != "1" {
		t.Errorf("%d taken, the first is %s", len(taken), taken[0].of)
	}
	u.note(taken[1].of)
	again := u.last[taken[1].of]
	u.putBack(taken)
	if u.last[taken[1].of] != again || u.last[taken[0].of] != taken[0].counter {
		t.Error("a note that was put back replaced a newer one")
	}
}

func TestMoreUsesThanOneTransactionTakesAreAllWritten(t *testing.T) {
	t.Parallel()
	db := openStore(t, Config{MaxBytes: 1 << 30})
	err := db.write(t.Context(), func(ctx context.Context, tx *sql.Tx) error { // quicker than as many Puts
		for range usesPerWrite + 100 {
			e := testEntry("", 0)
			if err := insert(ctx, tx, e, nil, nil, 1000); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := lastUsed(t, db)
	for i, j := 0, len(want)-1; i < j; i, j = i+1, j-1 {
		want[i], want[j] = want[j], want[i]
	}
	for _, s := range want {
		db.Touch(s)
	}
	if err := db.flushUses(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := lastUsed(t, db)
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("place %d has another entry than the order of use says", i)
		}
	}
}

func TestALongReaderDoesNotKeepTheLogLongForEver(t *testing.T) {
	t.Parallel()
	db := openStore(t, Config{MaxBytes: 64 << 20})
	tx, err := db.reader.BeginTx(t.Context(), &sql.TxOptions{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := tx.QueryRowContext(t.Context(), "SELECT count(*) FROM content").Scan(&n); err != nil {
		t.Fatal(err)
	}
	for range 6 {
		put(t, db, testEntry("k", 2<<20))
	}
	if grown := fileBytes(t, db); grown < 12<<20 {
		t.Fatalf("the log has not grown: %d", grown)
	}
	if next := db.longWAL.Load(); next < 12<<20 {
		t.Errorf("every Put waits for the reader: the next try comes at %d bytes", next)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := db.tend(t.Context()); err != nil {
		t.Fatal(err)
	}
	wal, next := fileBytes(t, db), db.longWAL.Load()
	if next != walLimit*3/2 {
		t.Errorf("after a success the next try comes at %d bytes", next)
	}
	if ok, err := db.truncateWAL(t.Context()); !ok || err != nil {
		t.Error(ok, err)
	}
	if file := fileBytes(t, db); wal-file > walLimit {
		t.Errorf("the log was left at %d bytes", wal-file)
	}
}
