package dcache

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// recoveredEntry is a testEntry that says where it was recovered from.
func recoveredEntry(key string, size int) Entry {
	e := testEntry(key, size)
	e.Recovered = []byte(`{"source":"archive","url":"https://archive.example/` + e.Snapshot + `"}`)
	return e
}

func latestRecovered(t *testing.T, db *DB, key string) string {
	t.Helper()
	e, ok, err := db.LatestRecovered(t.Context(), "default", key)
	if err != nil {
		t.Fatal(err)
	}
	if ok && e.Recovered == nil {
		t.Error("a copy of the page was given for a recovered one")
	}
	return e.Snapshot
}

func latest(t *testing.T, db *DB, key string) string {
	t.Helper()
	e, _, err := db.Latest(t.Context(), "default", key)
	if err != nil {
		t.Fatal(err)
	}
	if e.Recovered != nil {
		t.Error("a recovered copy was given for one of the page")
	}
	return e.Snapshot
}

func TestARecoveredCopyIsFoundAsOneAndNeverAsThePage(t *testing.T) {
	db := openStore(t, Config{MaxBytes: 1 << 20, RecoveredBytes: 4 << 20})
	e := recoveredEntry("k", InlineBody+1)
	put(t, db, e)
	if got := latest(t, db, "k"); got != "" {
		t.Errorf("the page's own copy is %q", got)
	}
	if got := latestRecovered(t, db, "k"); got != e.Snapshot {
		t.Errorf("the recovered copy is %q", got)
	}
	got, ok, err := db.BySnapshot(t.Context(), "default", e.Snapshot)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	want := e
	want.BodySize = int64(len(e.Body))
	want.FetchedAt, want.CheckedAt = e.FetchedAt.UTC(), e.CheckedAt.UTC()
	if d := cmp.Diff(want, whole(t, db, got), cmp.Comparer(bytes.Equal)); d != "" {
		t.Errorf("by snapshot (-want +got):\n%s", d)
	}
	if body, ok, err := db.Body(t.Context(), "default", e.Snapshot); !ok || err != nil || !bytes.Equal(body, e.Body) {
		t.Errorf("its body: %d bytes, %v, %v", len(body), ok, err)
	}

	page := testEntry("k", 10)
	put(t, db, page)
	if got := latest(t, db, "k"); got != page.Snapshot {
		t.Errorf("beside it the page's own copy is %q", got)
	}
	if got := latestRecovered(t, db, "k"); got != e.Snapshot {
		t.Errorf("beside the page's own the recovered copy is %q", got)
	}
	once := recoveredEntry("k", 10)
	once.Reusable = false
	put(t, db, once)
	if got := latestRecovered(t, db, "k"); got != e.Snapshot {
		t.Errorf("one that may answer no other request was given: %v", got == once.Snapshot)
	}
	checkSound(t, db)
}

func TestARecoveredCopyIsOfItsClassOnly(t *testing.T) {
	db := openStore(t, Config{RecoveredBytes: 1 << 20})
	e := recoveredEntry("k", 10)
	e.Class = "a"
	put(t, db, e)
	if _, ok, err := db.LatestRecovered(t.Context(), "b", "k"); ok || err != nil {
		t.Errorf("by key: %v, %v", ok, err)
	}
	if _, ok, err := db.BySnapshot(t.Context(), "b", e.Snapshot); ok || err != nil {
		t.Errorf("by snapshot: %v, %v", ok, err)
	}
	if _, ok, err := db.Body(t.Context(), "b", e.Snapshot); ok || err != nil {
		t.Errorf("its body: %v, %v", ok, err)
	}
}

func TestNoOriginRevalidatesARecoveredCopy(t *testing.T) {
	db := openStore(t, Config{RecoveredBytes: 1 << 20})
	e := recoveredEntry("k", 10)
	put(t, db, e)
	if ok, err := db.Revalidated(t.Context(), "default", e.Snapshot, time.Now(), `"new"`, ""); ok || err != nil {
		t.Errorf("%v, %v", ok, err)
	}
	if got, _, err := db.LatestRecovered(t.Context(), "default", "k"); err != nil || got.ETag != "" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestARecoveredCopyMustSayFromWhere(t *testing.T) {
	db := openStore(t, Config{MaxBytes: 1 << 20, RecoveredBytes: 1 << 20})
	e := testEntry("k", 10)
	e.Recovered = []byte{} // or it would be kept as a copy of the page
	if err := db.Put(t.Context(), e); err == nil || errors.Is(err, ErrTooBig) {
		t.Errorf("error is %v", err)
	}
	if held(t, db, e.Snapshot) {
		t.Error("it was stored")
	}
}

func TestTheNewestFourRecoveredCopiesOfAKeyAreCountedApart(t *testing.T) {
	db := openStore(t, Config{MaxBytes: 1 << 20, RecoveredBytes: 1 << 20})
	page := testEntry("k", 10)
	put(t, db, page)
	var all []string
	for range keepPerKey + 2 {
		e := recoveredEntry("k", 10)
		put(t, db, e)
		all = append(all, e.Snapshot)
	}
	for i, s := range all {
		if want := i >= 2; held(t, db, s) != want {
			t.Errorf("recovered copy %d: held is %v", i, !want)
		}
	}
	for range keepPerKey + 2 {
		put(t, db, testEntry("k", 10))
	}
	if held(t, db, page.Snapshot) || !held(t, db, all[2]) {
		t.Error("copies of one kind were counted with those of the other")
	}
	checkSound(t, db)
}

func TestFourCopiesOfEachKindOfAKeyAreKeptWhateverTheirOrder(t *testing.T) {
	db := openStore(t, Config{MaxBytes: 1 << 20, RecoveredBytes: 1 << 20})
	for range 2 * keepPerKey {
		put(t, db, testEntry("k", 10))
		put(t, db, recoveredEntry("k", 10))
	}
	for _, cache := range []Cache{CacheContent, CacheRecovered} {
		if s := statsOf(t, db, cache); s.Entries != keepPerKey {
			t.Errorf("%s: %d", cache, s.Entries)
		}
	}
}

func TestWhereACopyIsFromIsCountedWithIt(t *testing.T) {
	db := openStore(t, Config{RecoveredBytes: 1 << 20})
	e := recoveredEntry("k", 10)
	e.Recovered = noise("x", 100_000)
	put(t, db, e)
	if s := statsOf(t, db, CacheRecovered); s.Bytes < 100_000 {
		t.Errorf("%+v", s)
	}
}

func TestRecoveredCopiesAndThoseOfPagesNeverEvictEachOther(t *testing.T) {
	t.Parallel()
	const size = 10_000 // with its overhead under 14,000
	db := openStore(t, Config{MaxBytes: 4 * 14_000, RecoveredBytes: 2 * 14_000})
	entry := func(of func(string, int) Entry, key string) Entry {
		e := of(key, size)
		e.Document = nil
		return e
	}
	var pages, recovered []Entry
	for _, key := range []string{"a", "b", "c", "d"} {
		pages = append(pages, entry(testEntry, key))
		put(t, db, pages[len(pages)-1])
	}
	have := func(all []Entry) (keys string) {
		for _, e := range all {
			if held(t, db, e.Snapshot) {
				keys += e.Key
			}
		}
		return keys
	}
	for _, key := range []string{"p", "q"} {
		recovered = append(recovered, entry(recoveredEntry, key))
		put(t, db, recovered[len(recovered)-1])
	}
	latestRecovered(t, db, "p") // a use
	recovered = append(recovered, entry(recoveredEntry, "r"))
	put(t, db, recovered[2])
	if got := have(recovered); got != "pr" {
		t.Errorf("of the recovered copies %q are held; the least recently used is q", got)
	}
	if got := have(pages); got != "abcd" {
		t.Errorf("recovered copies left %q of the pages'", got)
	}
	latest(t, db, "a")
	for _, key := range []string{"e", "f", "g"} {
		pages = append(pages, entry(testEntry, key))
		put(t, db, pages[len(pages)-1])
	}
	if got := have(pages); got != "aefg" {
		t.Errorf("of the pages' copies %q are held", got)
	}
	if got := have(recovered); got != "pr" {
		t.Errorf("copies of pages left %q of the recovered ones", got)
	}
	checkSound(t, db)
}

func TestARecoveredCopyLargerThanItsBudgetIsNotStored(t *testing.T) {
	for _, budget := range []int64{0, 50_000} {
		db := openStore(t, Config{MaxBytes: 1 << 20, RecoveredBytes: budget})
		e := recoveredEntry("k", 60_000)
		err := db.Put(t.Context(), e)
		if !errors.Is(err, ErrTooBig) || !strings.Contains(err.Error(), "recover.max_bytes") {
			t.Errorf("error is %v", err)
		}
		if held(t, db, e.Snapshot) {
			t.Error("it was stored")
		}
	}
	db := openStore(t, Config{RecoveredBytes: 1 << 20}) // and none but recovered ones
	if err := db.Put(t.Context(), testEntry("k", 10)); !errors.Is(err, ErrTooBig) || !strings.Contains(err.Error(), "cache.max_bytes") {
		t.Errorf("error is %v", err)
	}
	put(t, db, recoveredEntry("k", 10))
}
