package dcache

import (
	"bytes"
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestAnEntryComesBackAsItWasStored(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 30, 12, 0, 0, 123e6, time.UTC)
	full := Entry{
		Snapshot: NewSnapshot(), Class: "default", Key: "https://example.org/", FinalURL: "https://www.example.org/",
		Status: 404, ContentType: "text/html; charset=utf-8", ContentLanguage: "de", ETag: `W/"1"`, LastModified: "Mon, 30 Nov 2026 12:00:00 GMT",
		Body: []byte("<p>body\x00\xff"), Document: []byte(`{"title":"t"}`), Receipt: []byte(`{"hops":[]}`),
		FetchedAt: at, CheckedAt: at.Add(time.Hour), Reusable: true, MustRevalidate: true, Partial: true,
	}
	tests := []struct {
		name string
		edit func(*Entry)
	}{
		{"every field", func(*Entry) {}},
		{"no field but the snapshot", func(e *Entry) { *e = Entry{Snapshot: e.Snapshot} }},
		{"no body", func(e *Entry) { e.Body = nil }},
		{"no document", func(e *Entry) { e.Document = nil }},
		{"a body that compresses", func(e *Entry) { e.Body = bytes.Repeat([]byte("<li>row</li>\n"), 10_000) }},
		{"a body that does not", func(e *Entry) { e.Body = noise("x", 100_000) }},
		{"exactly one part", func(e *Entry) { e.Body = noise("x", partSize) }},
		{"parts and one byte", func(e *Entry) { e.Body = noise("x", 2*partSize+1) }},
		{"many parts that compress", func(e *Entry) { e.Body = bytes.Repeat([]byte("<li>row</li>\n"), 600_000) }},
		{"parts of both kinds", func(e *Entry) {
			e.Body = slices.Concat(noise("x", partSize), make([]byte, partSize), noise("y", 77))
			e.Document = bytes.Repeat([]byte("word "), partSize/3)
		}},
		{"a key of 8 KiB", func(e *Entry) { e.Key = strings.Repeat("k", 8192) }},
		{"text that is not UTF-8", func(e *Entry) { e.ETag, e.Key = "\xff\xfe", "\x80" }},
		{"the year 1", func(e *Entry) { e.FetchedAt, e.CheckedAt = time.Time{}, time.Time{} }},
	}
	db := openStore(t, Config{MaxBytes: 1 << 30})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := full
			e.Snapshot = NewSnapshot()
			tt.edit(&e)
			put(t, db, e)
			got, ok, err := db.BySnapshot(t.Context(), e.Class, e.Snapshot)
			if err != nil || !ok {
				t.Fatalf("by snapshot: %v, %v", ok, err)
			}
			if len(e.Body) > InlineBody && got.Body != nil {
				t.Error("a long body was read along")
			}
			want := e
			want.BodySize = int64(len(e.Body))
			if d := cmp.Diff(want, whole(t, db, got), cmp.Comparer(bytes.Equal)); d != "" {
				t.Errorf("by snapshot (-want +got):\n%s", d)
			}
			if !e.Reusable {
				return
			}
			if got, ok, err = db.Latest(t.Context(), e.Class, e.Key); err != nil || !ok {
				t.Fatalf("latest: %v, %v", ok, err)
			}
			if d := cmp.Diff(want, whole(t, db, got), cmp.Comparer(bytes.Equal)); d != "" {
				t.Errorf("latest (-want +got):\n%s", d)
			}
		})
	}
	checkSound(t, db)
}

func TestAMarkupBodyIsStoredCompressed(t *testing.T) {
	db := openStore(t, Config{MaxBytes: 1 << 30})
	e := testEntry("k", 0)
	e.Body = bytes.Repeat([]byte("<tr><td>cell</td></tr>\n"), 100_000)
	put(t, db, e)
	if got, ok, err := db.Latest(t.Context(), "default", "k"); !ok || err != nil || !bytes.Equal(whole(t, db, got).Body, e.Body) {
		t.Errorf("it came back changed: %v, %v", ok, err)
	}
	if s, err := db.Stats(t.Context()); err != nil || s.Bytes > int64(len(e.Body)/20) {
		t.Errorf("%d bytes of markup take %d, %v", len(e.Body), s.Bytes, err)
	}
}

func TestABodyOf50MiBIsKept(t *testing.T) {
	t.Parallel()
	db := openStore(t, Config{MaxBytes: 64 << 20})
	e := testEntry("k", 50<<20)
	put(t, db, e)
	got, ok, err := db.Latest(t.Context(), e.Class, e.Key)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	if err := intact(whole(t, db, got)); err != nil {
		t.Error(err)
	}
	if _, ok, err := db.Body(t.Context(), "other", e.Snapshot); ok || err != nil {
		t.Errorf("another class reads it: %v, %v", ok, err)
	}
	if _, ok, err := db.Body(t.Context(), e.Class, "gone"); ok || err != nil {
		t.Errorf("no copy has a body: %v, %v", ok, err)
	}
	if info, err := os.Stat(db.path + "-wal"); err != nil || info.Size() > walLimit {
		t.Errorf("the log was left at %d bytes, %v", info.Size(), err)
	}
}

// whole is an entry with its body, however long.
func whole(t *testing.T, db *DB, e Entry) Entry {
	t.Helper()
	if e.BodySize > InlineBody {
		body, ok, err := db.Body(t.Context(), e.Class, e.Snapshot)
		if err != nil || !ok {
			t.Fatalf("body: %v, %v", ok, err)
		}
		e.Body = body
	}
	return e
}

func TestASnapshotIdIsOpaqueAndNew(t *testing.T) {
	a, b := NewSnapshot(), NewSnapshot()
	if a == b || len(a) < 26 || a != strings.ToLower(a) {
		t.Errorf("%q, %q", a, b)
	}
}

func TestASnapshotIdIsGivenOnlyOnce(t *testing.T) {
	db := openStore(t, Config{MaxBytes: 1 << 20})
	e := testEntry("k", 10)
	put(t, db, e)
	if err := db.Put(t.Context(), e); err == nil {
		t.Error("the same snapshot was stored twice")
	}
	if err := db.Put(t.Context(), Entry{Key: "k"}); err == nil {
		t.Error("an entry without a snapshot was stored")
	}
	checkSound(t, db)
}

func TestLatestIsTheReusableEntryStoredLastWhateverTheClockSaid(t *testing.T) {
	db := openStore(t, Config{MaxBytes: 1 << 20})
	year := func(y int) time.Time { return time.Date(y, 1, 1, 0, 0, 0, 0, time.UTC) }
	if _, ok, err := db.Latest(t.Context(), "default", "k"); ok || err != nil {
		t.Fatal(ok, err)
	}
	var last Entry
	for _, at := range []time.Time{year(2026), year(2099), year(1970), year(2026), {}} {
		last = testEntry("k", 10)
		last.FetchedAt, last.CheckedAt = at, at
		put(t, db, last)
	}
	private := testEntry("k", 10)
	private.Reusable = false
	put(t, db, private)
	other := testEntry("k2", 10)
	put(t, db, other)

	got, ok, err := db.Latest(t.Context(), "default", "k")
	if err != nil || !ok || got.Snapshot != last.Snapshot {
		t.Errorf("latest is %q, %v, %v; want %q", got.Snapshot, ok, err, last.Snapshot)
	}
	if _, ok, err := db.BySnapshot(t.Context(), "default", private.Snapshot); !ok || err != nil {
		t.Errorf("an entry that is not reusable cannot be read by its snapshot: %v, %v", ok, err)
	}
}

func TestAClassNeverSeesWhatAnotherHasRead(t *testing.T) {
	db := openStore(t, Config{MaxBytes: 1 << 20})
	a, b := testEntry("k", 10), testEntry("k", 20)
	a.Class, b.Class = "a", "b"
	put(t, db, a)
	ctx := t.Context()

	if _, ok, err := db.Latest(ctx, "b", "k"); ok || err != nil {
		t.Errorf("latest of another class: %v, %v", ok, err)
	}
	if _, ok, err := db.BySnapshot(ctx, "b", a.Snapshot); ok || err != nil {
		t.Errorf("snapshot of another class: %v, %v", ok, err)
	}
	if ok, err := db.Revalidated(ctx, "b", a.Snapshot, time.Now(), "x", ""); ok || err != nil {
		t.Errorf("revalidation by another class: %v, %v", ok, err)
	}
	put(t, db, b)
	for _, want := range []Entry{a, b} {
		if got, ok, err := db.Latest(ctx, want.Class, "k"); err != nil || !ok || got.Snapshot != want.Snapshot {
			t.Errorf("latest of %s is %q, %v, %v", want.Class, got.Snapshot, ok, err)
		}
	}
	// Storing often in one class must not push out the copies of another.
	for range 2 * keepPerKey {
		e := testEntry("k", 10)
		e.Class = "b"
		put(t, db, e)
	}
	if _, ok, err := db.BySnapshot(ctx, "a", a.Snapshot); !ok || err != nil {
		t.Errorf("pushed out by another class: %v, %v", ok, err)
	}
}

func TestTheNewestFourCopiesOfAKeyStayReadable(t *testing.T) {
	db := openStore(t, Config{MaxBytes: 1 << 20})
	good := testEntry("k", 10)
	put(t, db, good)
	var private []string
	for range 7 {
		e := testEntry("k", 10)
		e.Reusable = false
		put(t, db, e)
		private = append(private, e.Snapshot)
	}
	for i, s := range private {
		if want := i >= 3; held(t, db, s) != want {
			t.Errorf("copy %d of 7: held is %v", i, !want)
		}
	}
	if got, ok, err := db.Latest(t.Context(), "default", "k"); err != nil || !ok || got.Snapshot != good.Snapshot {
		t.Errorf("copies that are not reusable pushed out the one that is: %v, %v", ok, err)
	}
	checkSound(t, db)
}

func TestARevalidationUpdatesTimeAndValidators(t *testing.T) {
	db := openStore(t, Config{MaxBytes: 1 << 20})
	e := testEntry("k", 10)
	e.ETag, e.LastModified = `"old"`, "then"
	put(t, db, e)
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

	steps := []struct{ etag, lastModified, wantETag, wantModified string }{
		{"", "", `"old"`, "then"},
		{`"a much longer new one"`, "", `"a much longer new one"`, "then"},
		{"", "now", `"a much longer new one"`, "now"},
	}
	for i, s := range steps {
		at = at.Add(-time.Hour) // a clock that went back is no reason to refuse
		if ok, err := db.Revalidated(t.Context(), "default", e.Snapshot, at, s.etag, s.lastModified); !ok || err != nil {
			t.Fatal(ok, err)
		}
		got, _, err := db.Latest(t.Context(), "default", "k")
		if err != nil || got.ETag != s.wantETag || got.LastModified != s.wantModified || !got.CheckedAt.Equal(at) || !got.FetchedAt.Equal(e.FetchedAt.Truncate(time.Millisecond)) {
			t.Errorf("step %d: %+v, %v", i, got, err)
		}
	}
	if ok, err := db.Revalidated(t.Context(), "default", "gone", at, "", ""); ok || err != nil {
		t.Errorf("a copy that is not held: %v, %v", ok, err)
	}
	checkSound(t, db)
}

func TestTheLeastRecentlyUsedGoFirst(t *testing.T) {
	size := int64(10_000)
	entry := func(key string) Entry {
		e := testEntry(key, int(size))
		e.Document = nil
		return e
	}
	db := openStore(t, Config{MaxBytes: 4 * 14_000}) // room for four
	var evicted, bytes int64
	db.trace = &Trace{OnEvict: func(n int, b int64) { evicted += int64(n); bytes += b }}
	a, b, c, d, e, f := entry("a"), entry("b"), entry("c"), entry("d"), entry("e"), entry("f")
	for _, x := range []Entry{a, b, c, d} {
		put(t, db, x)
	}
	// By key, by snapshot and by revalidation: each is a use.
	if _, ok, err := db.Latest(t.Context(), "default", "a"); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if _, ok, err := db.BySnapshot(t.Context(), "default", b.Snapshot); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if ok, err := db.Revalidated(t.Context(), "default", c.Snapshot, time.Now(), "", ""); !ok || err != nil {
		t.Fatal(ok, err)
	}
	put(t, db, e)
	put(t, db, f)
	var got []string
	for _, x := range []Entry{a, b, c, d, e, f} {
		if held(t, db, x.Snapshot) {
			got = append(got, x.Key)
		}
	}
	if d := cmp.Diff([]string{"b", "c", "e", "f"}, got); d != "" {
		t.Errorf("held (-want +got):\n%s", d)
	}
	if evicted != 2 || bytes < 2*size {
		t.Errorf("the trace heard of %d entries, %d bytes", evicted, bytes)
	}
	checkSound(t, db)
}

func TestAnEntryLargerThanTheBudgetIsNotStored(t *testing.T) {
	db := openStore(t, Config{MaxBytes: 100_000})
	var stored int64
	db.trace = &Trace{OnStored: func(n int64) { stored += n }}
	small := testEntry("small", 10_000)
	put(t, db, small)
	if s, err := db.Stats(t.Context()); err != nil || s.Bytes != stored || s.Entries != 1 {
		t.Errorf("stats %+v, %v; the trace heard of %d bytes", s, err, stored)
	}
	if err := db.Put(t.Context(), testEntry("big", 100_000)); !errors.Is(err, ErrTooBig) {
		t.Errorf("error is %v", err)
	}
	if !held(t, db, small.Snapshot) {
		t.Error("an entry that could not be stored pushed out another")
	}
	// The whole budget but not more: everything else makes room.
	big := testEntry("big", 94_000)
	put(t, db, big)
	if !held(t, db, big.Snapshot) || held(t, db, small.Snapshot) {
		t.Error("an entry of the whole budget was not stored")
	}
	if err := db.Put(t.Context(), Entry{Snapshot: "x", Body: make([]byte, maxPlain+1)}); !errors.Is(err, ErrTooBig) {
		t.Errorf("a body over the limit: %v", err)
	}
	checkSound(t, db)
}

func TestABudgetOfNothingKeepsNothing(t *testing.T) {
	db := openStore(t, Config{})
	if err := db.Put(t.Context(), testEntry("k", 1)); !errors.Is(err, ErrTooBig) {
		t.Errorf("error is %v", err)
	}
	if _, err := Open(t.Context(), Config{Dir: t.TempDir(), MaxBytes: -1}); err == nil {
		t.Error("a negative budget was taken")
	}
	if _, err := Open(t.Context(), Config{MaxBytes: 1}); err == nil {
		t.Error("a store without a folder was opened")
	}
}

func TestTheFilesStayNearTheBudgetUnderChurn(t *testing.T) {
	t.Parallel()
	const budget = 4 << 20
	db := openStore(t, Config{MaxBytes: budget})
	read, done := make(chan string, 4), make(chan error)
	go func() { // readers keep SQLite from starting the log again at times
		var errs []error
		for key := range read {
			_, _, err := db.Latest(t.Context(), "default", key)
			errs = append(errs, err)
		}
		done <- errors.Join(errs...)
	}()
	var worst int64
	for i := range 120 {
		e := testEntry(string(rune('0'+i%10)), 1000+i*7919%300_000)
		if i%3 == 0 {
			e.Key = e.Snapshot
		}
		read <- "5"
		put(t, db, e)
		if s, err := db.Stats(t.Context()); err != nil || s.Bytes > budget {
			t.Fatalf("holds %d of %d bytes, %v", s.Bytes, budget, err)
		}
		worst = max(worst, fileBytes(t, db))
	}
	close(read)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if limit := int64(budget*3/2 + 2*walLimit); worst > limit {
		t.Errorf("the files took up to %d bytes; %d are allowed", worst, limit)
	}
	t.Logf("budget %d, files at most %d with the log", budget, worst)
	checkSound(t, db)
}

// fileBytes is what database and write-ahead log take on the disk.
func fileBytes(t testing.TB, db *DB) int64 {
	t.Helper()
	var sum int64
	for _, name := range []string{db.path, db.path + "-wal"} {
		info, err := os.Stat(name)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		sum += info.Size()
	}
	return sum
}

func TestManySmallEntriesTakeWhatIsCounted(t *testing.T) {
	t.Parallel()
	db := openStore(t, Config{MaxBytes: 1 << 30})
	for i := range 300 {
		put(t, db, testEntry(strings.Repeat("k", i%50)+NewSnapshot(), 100+i*37%6000))
	}
	s, err := db.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := db.truncateWAL(t.Context()); !ok || err != nil {
		t.Fatal(ok, err)
	}
	info, err := os.Stat(db.path)
	if err != nil {
		t.Fatal(err)
	}
	if ratio := float64(info.Size()) / float64(s.Bytes); ratio > 1.3 || ratio < 0.7 {
		t.Errorf("counted %d bytes, the file has %d (%.2f)", s.Bytes, info.Size(), ratio)
	}
}

func TestARepeatedHitWritesNothing(t *testing.T) {
	db := openStore(t, Config{MaxBytes: 1 << 20})
	e := testEntry("k", 1000)
	put(t, db, e)
	before := fileBytes(t, db)
	for range 200 {
		if _, ok, err := db.Latest(t.Context(), "default", "k"); !ok || err != nil {
			t.Fatal(ok, err)
		}
	}
	if after := fileBytes(t, db); after != before {
		t.Errorf("200 hits wrote %d bytes", after-before)
	}
}

func TestADamagedPartIsReportedAndNeverHandedOut(t *testing.T) {
	db := openStore(t, Config{MaxBytes: 1 << 20})
	damage := map[string]string{
		"a flipped byte":  "UPDATE content_part SET data = CAST(substr(data, 1, 20) || x'00' || substr(data, 22) AS BLOB) WHERE codec = 1",
		"not a frame":     "UPDATE content_part SET data = x'0102030405' WHERE codec = 1",
		"a part too few":  "DELETE FROM content_part",
		"a part too long": "UPDATE content_part SET codec = 0, data = zeroblob(100000)",
		"unknown codec":   "UPDATE content_part SET codec = 9",
		"absurd size":     "UPDATE content SET body_size = 1 << 50",
		"negative size":   "UPDATE content SET document_size = -1",
	}
	for name, stmt := range damage {
		t.Run(name, func(t *testing.T) {
			e := testEntry("k", 0)
			e.Body = bytes.Repeat([]byte("<p>some text</p>"), 1000)
			e.Document = nil
			put(t, db, e)
			if _, err := db.writer.ExecContext(t.Context(), stmt); err != nil {
				t.Fatal(err)
			}
			if _, ok, err := db.BySnapshot(t.Context(), e.Class, e.Snapshot); ok || !errors.Is(err, ErrCorrupt) {
				t.Errorf("%v, %v", ok, err)
			}
			if _, err := db.writer.ExecContext(t.Context(), "DELETE FROM content"); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestAPutWhoseCallerHasLeftIsNotBegun(t *testing.T) {
	db := openStore(t, Config{MaxBytes: 1 << 20})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	e := testEntry("k", 10)
	if err := db.Put(ctx, e); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
	if held(t, db, e.Snapshot) {
		t.Error("it was stored")
	}
	put(t, db, testEntry("k", 10)) // and nothing was left locked
}

func TestAPutLeavesTheQueueWithItsCaller(t *testing.T) {
	db := openStore(t, Config{MaxBytes: 1 << 20})
	conn, err := db.writer.Conn(t.Context()) // another write that takes long
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	e := testEntry("k", 10)
	if err := db.Put(ctx, e); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error is %v", err)
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	put(t, db, e)
}

func TestAReaderThatLeavesHarmsNoOther(t *testing.T) {
	db := openStore(t, Config{MaxBytes: 64 << 20})
	e := testEntry("k", 3<<20)
	put(t, db, e)
	for i := range 40 {
		ctx, cancel := context.WithCancel(t.Context())
		left := make(chan struct{})
		go func() {
			defer close(left)
			if i%4 != 0 {
				cancel()
			}
		}()
		_, _, err := db.Latest(ctx, "default", "k")
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("a reader that left got %v", err)
		}
		body, ok, err := db.Body(ctx, "default", e.Snapshot)
		switch {
		case err != nil && !errors.Is(err, context.Canceled):
			t.Errorf("a reader that left got %v", err)
		case err == nil && (!ok || !bytes.Equal(body, e.Body)):
			t.Error("a reader got something else")
		}
		<-left
		cancel()
		if got, ok, err := db.Latest(t.Context(), "default", "k"); !ok || err != nil || !bytes.Equal(whole(t, db, got).Body, e.Body) {
			t.Fatalf("the next reader: %v, %v", ok, err)
		}
	}
}

func TestManyAtOnceOnOneStoreLoseNothing(t *testing.T) {
	t.Parallel()
	db := openStore(t, Config{MaxBytes: 1 << 30})
	errs := make(chan error)
	for range 8 {
		go func() {
			for range 10 {
				e := testEntry("shared", 20_000)
				e.Key = e.Snapshot
				if err := db.Put(t.Context(), e); err != nil {
					errs <- err
					return
				}
				got, ok, err := db.Latest(t.Context(), e.Class, e.Key)
				if err != nil || !ok {
					errs <- errors.Join(errors.New("not found"), err)
					return
				}
				if err := intact(got); err != nil {
					errs <- err
					return
				}
			}
			errs <- nil
		}()
	}
	for range 8 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if s, err := db.Stats(t.Context()); err != nil || s.Entries != 80 {
		t.Errorf("%+v, %v", s, err)
	}
}
