package dcache

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func putValues(t testing.TB, db *DB, cache Cache, class string, values map[string][]byte) {
	t.Helper()
	if err := db.PutValues(t.Context(), cache, class, values); err != nil {
		t.Fatal(err)
	}
}

func getValues(t testing.TB, db *DB, cache Cache, class string, keys ...string) map[string][]byte {
	t.Helper()
	got, err := db.Values(t.Context(), cache, class, keys)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// useValues uses values one after the other.
func useValues(t *testing.T, db *DB, cache Cache, keys ...string) {
	t.Helper()
	for _, key := range keys {
		if got := getValues(t, db, cache, "default", key); len(got) != 1 {
			t.Fatalf("%q is not held", key)
		}
	}
}

// values are one for each key, of that many bytes, which can be told from it.
func values(n int, keys ...string) map[string][]byte {
	all := make(map[string][]byte)
	for _, key := range keys {
		all[key] = noise(key, n)
	}
	return all
}

// numbered are n keys that begin with prefix.
func numbered(prefix string, n int) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf("%s%04d", prefix, i)
	}
	return keys
}

// keysHeld says of which keys the class default has a value, and uses none.
func keysHeld(t *testing.T, db *DB, cache Cache, keys ...string) (got []string) {
	t.Helper()
	found := make(map[string][]byte)
	if _, err := db.readValues(t.Context(), cache, "default", keys, found); err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		if _, ok := found[key]; ok {
			got = append(got, key)
		}
	}
	return got
}

func statsOf(t *testing.T, db *DB, cache Cache) Stats {
	t.Helper()
	s, err := db.StatsOf(t.Context(), cache)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestValuesComeBackAsTheyWereStored(t *testing.T) {
	t.Parallel()
	db := openStore(t, Config{DigestBytes: 8 << 20, EmbedBytes: 8 << 20})
	want := map[string][]byte{
		"": []byte("of no key"), "nothing": {}, "text": []byte("a\x00\xff"), "\x80\xff": []byte("of a key that is not UTF-8"),
		"'\"],[": []byte("of a key in no list"), strings.Repeat("k", 8192): []byte("of a long key"), "long": noise("x", MaxValueBytes),
	}
	keys := []string{"missing", "text", "text"} // asked for twice
	for key := range want {
		keys = append(keys, key)
	}
	for _, cache := range []Cache{CacheDigest, CacheEmbed} {
		putValues(t, db, cache, "default", want)
		got := getValues(t, db, cache, "default", keys...)
		if d := cmp.Diff(want, got, cmp.Comparer(bytes.Equal)); d != "" {
			t.Errorf("%s (-want +got):\n%s", cache, d)
		}
		if got["nothing"] == nil {
			t.Errorf("%s: an empty value came back as none", cache)
		}
	}
	if got := getValues(t, db, CacheDigest, "default"); got == nil || len(got) != 0 {
		t.Errorf("for no keys: %v", got)
	}
	putValues(t, db, CacheDigest, "default", nil)
	putValues(t, db, CacheDigest, "default", map[string][]byte{"nil": nil})
	if got := getValues(t, db, CacheDigest, "default", "nil"); got["nil"] == nil {
		t.Error("a value of nil is not held as an empty one")
	}
	checkSound(t, db)
}

func TestAsManyValuesAsAreAllowedAreStoredAndReadAtOnce(t *testing.T) {
	t.Parallel()
	db := openStore(t, Config{EmbedBytes: 64 << 20})
	keys := numbered("", MaxValues)
	want := values(200, keys...)
	putValues(t, db, CacheEmbed, "default", want)
	if d := cmp.Diff(want, getValues(t, db, CacheEmbed, "default", keys...), cmp.Comparer(bytes.Equal)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if _, err := db.Values(t.Context(), CacheEmbed, "default", append(keys, "more")); err == nil || !strings.Contains(err.Error(), "4096") {
		t.Errorf("with one key more the error is %v", err)
	}
	want["more"] = nil
	if err := db.PutValues(t.Context(), CacheEmbed, "default", want); err == nil || errors.Is(err, ErrTooBig) || !strings.Contains(err.Error(), "4096") {
		t.Errorf("with one value more the error is %v", err)
	}
	if got := keysHeld(t, db, CacheEmbed, "more"); got != nil {
		t.Error("and it was stored")
	}
	checkSound(t, db)
}

func TestOneCallStoresAndGives32MiBOfValuesAtMost(t *testing.T) {
	t.Parallel()
	db := openStore(t, Config{EmbedBytes: 1 << 30})
	const atOnce = maxValuesBytes / MaxValueBytes
	all := make(map[string][]byte)
	for _, key := range numbered("", atOnce+2) {
		all[key] = make([]byte, MaxValueBytes) // one array would do as well
	}
	keys := slices.Sorted(func(yield func(string) bool) {
		for key := range all {
			if !yield(key) {
				return
			}
		}
	})
	if err := db.PutValues(t.Context(), CacheEmbed, "default", all); !errors.Is(err, ErrTooBig) || !strings.Contains(err.Error(), "3 of 34") {
		t.Errorf("error is %v", err) // 32 of them and what the rows take are over it
	}
	held := keysHeld(t, db, CacheEmbed, keys...)
	if len(held) != atOnce-1 {
		t.Errorf("%d are held", len(held))
	}
	rest := make(map[string][]byte)
	for _, key := range keys {
		if !slices.Contains(held, key) {
			rest[key] = all[key]
		}
	}
	putValues(t, db, CacheEmbed, "default", rest)
	if got := getValues(t, db, CacheEmbed, "default", keys...); len(got) != atOnce {
		t.Errorf("%d values of a MiB were given", len(got))
	}
	if s := statsOf(t, db, CacheEmbed); s.Entries != int64(len(keys)) {
		t.Errorf("%d are held", s.Entries)
	}
}

func TestAValueIsOfItsClassAndItsCacheOnly(t *testing.T) {
	db := openStore(t, Config{DigestBytes: 1 << 20, EmbedBytes: 1 << 20})
	want := map[Cache]map[string]string{CacheDigest: {"a": "of a", "b": "of b"}, CacheEmbed: {"b": "another"}}
	for cache, classes := range want {
		for class, v := range classes {
			putValues(t, db, cache, class, map[string][]byte{"k": []byte(v)})
		}
	}
	for _, cache := range []Cache{CacheDigest, CacheEmbed} {
		for _, class := range []string{"a", "b", "", "default"} {
			if got := string(getValues(t, db, cache, class, "k")["k"]); got != want[cache][class] {
				t.Errorf("%s of class %q: %q", cache, class, got)
			}
		}
	}
	// Storing in one class takes nothing from another.
	putValues(t, db, CacheDigest, "b", map[string][]byte{"k": []byte("new")})
	if got := string(getValues(t, db, CacheDigest, "a", "k")["k"]); got != "of a" {
		t.Errorf("after another class stored the same key: %q", got)
	}
	for _, cache := range []Cache{CacheContent, CacheRecovered, "", "batch", "x"} {
		if _, err := db.Values(t.Context(), cache, "a", []string{"k"}); err == nil {
			t.Errorf("%q was read as a cache of values", cache)
		}
		if err := db.PutValues(t.Context(), cache, "a", values(1, "k")); err == nil {
			t.Errorf("%q was written as a cache of values", cache)
		}
	}
	for _, cache := range []Cache{"", "batch", "x"} {
		if _, err := db.StatsOf(t.Context(), cache); err == nil {
			t.Errorf("%q was counted", cache)
		}
	}
	checkSound(t, db)
}

func TestAKeyOfAValueIsNotInTheFileAsItIs(t *testing.T) {
	db := openStore(t, Config{DigestBytes: 1 << 20})
	const key = "https://example.org/private?token=0123456789"
	putValues(t, db, CacheDigest, "default", map[string][]byte{key: []byte("v")})
	useValues(t, db, CacheDigest, key)
	for _, name := range []string{db.path, db.path + "-wal"} {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(b, []byte("0123456789")) {
			t.Errorf("%s holds it", filepath.Base(name))
		}
	}
}

func TestAValueTakesThePlaceOfTheOneBefore(t *testing.T) {
	const size = 6000
	each := valueBytes("default", make([]byte, size))
	db := openStore(t, Config{EmbedBytes: 3 * each}) // full with three
	var evicted int
	db.trace = &Trace{OnEvictValues: func(_ Cache, n int, _ int64) { evicted += n }}
	for _, key := range []string{"a", "b", "c"} {
		putValues(t, db, CacheEmbed, "default", values(size, key))
	}
	for range 2 {
		putValues(t, db, CacheEmbed, "default", map[string][]byte{"b": noise("new b", size), "c": noise("new c", size)})
	}
	want := map[string][]byte{"a": noise("a", size), "b": noise("new b", size), "c": noise("new c", size)}
	if d := cmp.Diff(want, getValues(t, db, CacheEmbed, "default", "a", "b", "c"), cmp.Comparer(bytes.Equal)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if s := statsOf(t, db, CacheEmbed); s != (Stats{3, 3 * each}) || evicted != 0 {
		t.Errorf("%+v, %d evicted", s, evicted)
	}
	// Also by one of another length.
	putValues(t, db, CacheEmbed, "default", map[string][]byte{"b": []byte("short")})
	if s := statsOf(t, db, CacheEmbed); s != (Stats{3, 2*each + valueBytes("default", []byte("short"))}) {
		t.Errorf("%+v", s)
	}
	checkSound(t, db)
}

func TestTheLeastRecentlyUsedValuesGoFirst(t *testing.T) {
	const size = 6000
	each := valueBytes("default", make([]byte, size))
	db := openStore(t, Config{EmbedBytes: 6 * each})
	var told Stats
	db.trace = &Trace{
		OnEvictValues: func(c Cache, n int, b int64) {
			if c != CacheEmbed {
				t.Errorf("%d of %s were evicted", n, c)
			}
			told.Entries += int64(n)
			told.Bytes += b
		},
		OnEvict:  func(n int, _ int64) { t.Errorf("%d entries were evicted", n) },
		OnStored: func(int64) { t.Error("an entry was stored") },
	}
	putValues(t, db, CacheEmbed, "default", values(size, "a", "b", "c"))
	putValues(t, db, CacheEmbed, "default", values(size, "d", "e"))
	putValues(t, db, CacheEmbed, "other", values(size, "f"))
	useValues(t, db, CacheEmbed, "b", "e", "a") // c, d, f, b, e, a
	putValues(t, db, CacheEmbed, "default", values(size, "g", "h"))
	all := []string{"a", "b", "c", "d", "e", "g", "h", "i", "j"}
	if d := cmp.Diff([]string{"a", "b", "e", "g", "h"}, keysHeld(t, db, CacheEmbed, all...)); d != "" {
		t.Errorf("held (-want +got):\n%s", d)
	}
	putValues(t, db, CacheEmbed, "default", values(size, "i")) // f of the other class is next
	putValues(t, db, CacheEmbed, "default", values(size, "j"))
	if d := cmp.Diff([]string{"a", "e", "g", "h", "i", "j"}, keysHeld(t, db, CacheEmbed, all...)); d != "" {
		t.Errorf("held (-want +got):\n%s", d)
	}
	if want := (Stats{4, 3*each + valueBytes("other", make([]byte, size))}); told != want {
		t.Errorf("the trace heard of %+v; %+v went", told, want)
	}
	checkSound(t, db)
}

func TestNoCacheMakesRoomInAnother(t *testing.T) {
	t.Parallel()
	const size = 6000
	each := valueBytes("default", make([]byte, size))
	db := openStore(t, Config{MaxBytes: 100_000, RecoveredBytes: 100_000, DigestBytes: 4 * each, EmbedBytes: 4 * each})
	keys := []string{"a", "b", "c", "d"}
	fill := map[Cache]func(){
		CacheContent:   func() { put(t, db, testEntry(NewSnapshot(), size)) },
		CacheRecovered: func() { put(t, db, recoveredEntry(NewSnapshot(), size)) },
		CacheDigest:    func() { putValues(t, db, CacheDigest, "default", values(size, NewSnapshot())) },
		CacheEmbed:     func() { putValues(t, db, CacheEmbed, "default", values(size, NewSnapshot())) },
	}
	put(t, db, testEntry("k", size))
	put(t, db, recoveredEntry("k", size))
	putValues(t, db, CacheDigest, "default", values(size, keys...))
	putValues(t, db, CacheEmbed, "default", values(size, keys...))
	for cache, one := range fill {
		before := make(map[Cache]Stats)
		for other := range fill {
			before[other] = statsOf(t, db, other)
		}
		for range 15 {
			one()
		}
		for other, s := range before {
			if now := statsOf(t, db, other); now != s && other != cache {
				t.Errorf("filling %s changed %s from %+v to %+v", cache, other, s, now)
			}
		}
		if s := statsOf(t, db, cache); s.Bytes > db.budgets[cache].max || s.Entries < 4 {
			t.Errorf("%s holds %+v of %d bytes", cache, s, db.budgets[cache].max)
		}
	}
	checkSound(t, db)
}

func TestValuesThatAreTooLargeAreNotKeptAndTheOthersAre(t *testing.T) {
	t.Parallel()
	db := openStore(t, Config{DigestBytes: 4 << 20, EmbedBytes: 50_000})
	tests := []struct {
		name   string
		cache  Cache
		values map[string][]byte
		want   []string
		says   string
	}{
		{"over the size", CacheDigest, map[string][]byte{"a": make([]byte, MaxValueBytes+1), "b": []byte("b")}, []string{"b"}, "1 of 2"},
		{"over the size alone", CacheDigest, map[string][]byte{"a": make([]byte, MaxValueBytes+1)}, []string{"b"}, "1 of 1"},
		{"one over the budget", CacheEmbed, map[string][]byte{"a": make([]byte, 50_001), "b": []byte("b")}, []string{"b"}, "embed_bytes (50000)"},
		{"together over the budget", CacheEmbed, values(20_000, "a", "b", "c"), []string{"a", "b"}, "1 of 3"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := db.PutValues(t.Context(), tt.cache, "default", tt.values)
			if !errors.Is(err, ErrTooBig) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("error is %v", err)
			}
			if d := cmp.Diff(tt.want, keysHeld(t, db, tt.cache, "a", "b", "c")); d != "" {
				t.Errorf("held (-want +got):\n%s", d)
			}
			checkSound(t, db)
		})
	}
	none := openStore(t, Config{MaxBytes: 1 << 20})
	for _, cache := range []Cache{CacheDigest, CacheEmbed} {
		if err := none.PutValues(t.Context(), cache, "default", values(1, "k")); !errors.Is(err, ErrTooBig) || !strings.Contains(err.Error(), string(cache)+"_bytes") {
			t.Errorf("a budget of nothing: %v", err)
		}
		if got := getValues(t, none, cache, "default", "k"); len(got) != 0 {
			t.Errorf("a budget of nothing keeps %v", got)
		}
	}
	for option, c := range map[string]Config{
		"cache.max_bytes": {MaxBytes: -1}, "recover.max_bytes": {RecoveredBytes: -1},
		"cache.digest_bytes": {DigestBytes: -1}, "cache.embed_bytes": {EmbedBytes: -1},
	} {
		c.Dir = t.TempDir()
		if _, err := Open(t.Context(), c); err == nil || !strings.Contains(err.Error(), option+" is -1") {
			t.Errorf("error is %v", err)
		}
	}
}

func TestAHitOfValuesWritesNothingAndItsUseIsWrittenWithOthers(t *testing.T) {
	t.Parallel()
	db := openStore(t, Config{DigestBytes: 1 << 20, EmbedBytes: 16 << 20})
	keys := numbered("", 2*usesPerWrite+10)
	putValues(t, db, CacheEmbed, "default", values(100, keys...))
	putValues(t, db, CacheDigest, "default", values(100, "d"))
	before, hook := fileBytes(t, db), countCommits(t, db)
	for range 20 {
		if got := getValues(t, db, CacheEmbed, "default", keys...); len(got) != len(keys) {
			t.Fatal(len(got))
		}
		useValues(t, db, CacheDigest, "d")
	}
	if after := fileBytes(t, db); after != before || hook.Load() != 0 {
		t.Errorf("hits wrote %d bytes in %d transactions", after-before, hook.Load())
	}
	if err := db.flushUses(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := hook.Load(); got != 3 {
		t.Errorf("the uses of %d values were written in %d transactions", len(keys)+1, got)
	}
	if db.valueUses.pending() {
		t.Error("some were not written")
	}
}

func TestStoringValuesIsOneDurableCommit(t *testing.T) {
	t.Parallel()
	const size = 2000
	keys := numbered("", 300)
	each := valueBytes("default", make([]byte, size))
	db := openStore(t, Config{EmbedBytes: 500 * each})
	putValues(t, db, CacheEmbed, "default", values(size, keys[:200]...))
	getValues(t, db, CacheEmbed, "default", keys[:50]...)
	before := commits(t, db)
	putValues(t, db, CacheEmbed, "default", values(size, numbered("x", 450)...)) // evicts 150
	if got := commits(t, db) - before; got != 1 {
		t.Errorf("%d durable commits", got)
	}
	// And what goes was chosen by the uses that it took along.
	if got := keysHeld(t, db, CacheEmbed, keys...); !slices.Equal(got, keys[:50]) {
		t.Errorf("%d are held: %v", len(got), got)
	}
	checkSound(t, db)
}

func TestMuchToEvictForValuesTakesSeveralTransactions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db, err := Open(t.Context(), Config{Dir: dir, EmbedBytes: 16 << 20})
	if err != nil {
		t.Fatal(err)
	}
	keys := numbered("", 2*evictValues+100)
	putValues(t, db, CacheEmbed, "default", values(10, keys...))
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = openStore(t, Config{Dir: dir, EmbedBytes: 100_000})
	var steps []int
	db.trace = &Trace{OnEvictValues: func(_ Cache, n int, _ int64) { steps = append(steps, n) }}
	putValues(t, db, CacheEmbed, "default", values(90_000, "large"))
	if len(steps) != 3 || slices.Max(steps) > evictValues {
		t.Errorf("evicted in steps of %v", steps)
	}
	if s := statsOf(t, db, CacheEmbed); s.Bytes > 100_000 {
		t.Errorf("%+v", s)
	}
	if got := keysHeld(t, db, CacheEmbed, "large", keys[0]); !slices.Equal(got, []string{"large"}) {
		t.Errorf("held %q", got)
	}
	checkSound(t, db)
}

func TestRunEvictsFromEachCacheWhoseBudgetHasShrunk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db, err := Open(t.Context(), Config{Dir: dir, MaxBytes: 1 << 20, RecoveredBytes: 1 << 20, DigestBytes: 1 << 20, EmbedBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	page := testEntry("page", 50_000)
	put(t, db, page)
	var recovered []string
	for range 8 {
		e := recoveredEntry("", 50_000)
		e.Key = e.Snapshot
		put(t, db, e)
		recovered = append(recovered, e.Snapshot)
	}
	keys := numbered("", 80)
	putValues(t, db, CacheDigest, "default", values(6000, keys...))
	putValues(t, db, CacheEmbed, "default", values(6000, keys...))
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		var entries int
		gone := make(map[Cache]int)
		db, err := Open(t.Context(), Config{Dir: dir, MaxBytes: 1 << 20, RecoveredBytes: 200_000, EmbedBytes: 100_000, Trace: &Trace{
			OnEvict:       func(n int, _ int64) { entries += n },
			OnEvictValues: func(c Cache, n int, _ int64) { gone[c] += n },
			OnError:       func(err error) { t.Error(err) },
		}})
		if err != nil {
			t.Fatal(err)
		}
		useValues(t, db, CacheEmbed, keys[0]) // is written before, with the others
		ctx, cancel := context.WithCancel(t.Context())
		ran := make(chan error, 1)
		go func() { ran <- db.Run(ctx) }()
		time.Sleep(tendEvery + time.Second)
		cancel()
		if err := <-ran; err != nil {
			t.Error(err)
		}
		if !held(t, db, page.Snapshot) || held(t, db, recovered[0]) || !held(t, db, recovered[7]) || entries == 0 || entries > 6 {
			t.Errorf("%d entries went", entries)
		}
		want := map[Cache]int{CacheDigest: 80, CacheEmbed: 80 - 100_000/int(valueBytes("default", make([]byte, 6000)))}
		if d := cmp.Diff(want, gone); d != "" {
			t.Errorf("values that went (-want +got):\n%s", d)
		}
		for cache, b := range db.budgets {
			if s := statsOf(t, db, cache); s.Bytes > b.max {
				t.Errorf("%s holds %+v of %d bytes", cache, s, b.max)
			}
		}
		if got := keysHeld(t, db, CacheEmbed, keys[0], keys[1], keys[79]); !slices.Equal(got, []string{keys[0], keys[79]}) {
			t.Errorf("of the first, used last, the second and the last are held %q", got)
		}
		checkSound(t, db)
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestUsesOfValuesAreWrittenByRunAndByClose(t *testing.T) {
	dir := t.TempDir()
	oldest := func(t *testing.T, db *DB) (id int64) {
		t.Helper()
		var nbytes int64
		if err := db.reader.QueryRowContext(t.Context(), sqlLeastUsedDigests, 1).Scan(&id, &nbytes); err != nil {
			t.Fatal(err)
		}
		return id
	}
	synctest.Test(t, func(t *testing.T) {
		db, err := Open(t.Context(), Config{Dir: dir, DigestBytes: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"a", "b", "c"} { // ids 1, 2 and 3
			putValues(t, db, CacheDigest, "default", values(10, key))
		}
		ctx, cancel := context.WithCancel(t.Context())
		ran := make(chan error, 1)
		go func() { ran <- db.Run(ctx) }()
		useValues(t, db, CacheDigest, "a")
		if id := oldest(t, db); id != 1 {
			t.Errorf("a hit was written at once: the next to go is %d", id)
		}
		time.Sleep(tendEvery + time.Second)
		if id := oldest(t, db); id != 2 {
			t.Errorf("a hit was not written in time: the next to go is %d", id)
		}
		cancel()
		if err := <-ran; err != nil {
			t.Error(err)
		}
		useValues(t, db, CacheDigest, "b")
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	if id := oldest(t, openStore(t, Config{Dir: dir})); id != 3 {
		t.Errorf("a hit was not written at the end: the next to go is %d", id)
	}
}

func TestManyUsesOfValuesWakeRun(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		db, err := Open(t.Context(), Config{Dir: dir, DigestBytes: 1 << 20, Trace: &Trace{OnError: func(err error) { t.Error(err) }}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ran := make(chan error, 1)
		go func() { ran <- db.Run(ctx) }()
		for id := range int64(maxUses / 2) {
			db.valueUses.note(id)
		}
		synctest.Wait()
		if db.valueUses.pending() {
			t.Error("they wait for the clock")
		}
		cancel()
		if err := errors.Join(<-ran, db.Close()); err != nil {
			t.Error(err)
		}
	})
}

func TestManySmallValuesTakeWhatIsCounted(t *testing.T) {
	t.Parallel()
	size := func(db *DB) int64 {
		t.Helper()
		if ok, err := db.truncateWAL(t.Context()); !ok || err != nil {
			t.Fatal(ok, err)
		}
		info, err := os.Stat(db.path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	for _, each := range []int{20, 400, 1500, 2100, 3072, 4050, 6144, 12288} {
		db := openStore(t, Config{EmbedBytes: 1 << 30})
		empty := size(db)
		n := min(3000, 500_000/each)
		for i := range 4 {
			putValues(t, db, CacheEmbed, "default", values(each, numbered(fmt.Sprint(i, "-"), n/4)...))
		}
		s := statsOf(t, db, CacheEmbed)
		ratio := float64(size(db)-empty) / float64(s.Bytes)
		t.Logf("%d values of %d bytes take %.2f of what is counted", s.Entries, each, ratio)
		if ratio > 1.1 || ratio < 0.8 {
			t.Errorf("which is %d bytes", s.Bytes)
		}
	}
}

func TestADamagedValueIsReportedAndNeverHandedOut(t *testing.T) {
	t.Parallel()
	db := openStore(t, Config{DigestBytes: 4 << 20})
	putValues(t, db, CacheDigest, "default", values(10, "a", "b"))
	if _, err := db.writer.ExecContext(t.Context(), "UPDATE value_data SET data = zeroblob(?)", MaxValueBytes+1); err != nil {
		t.Fatal(err)
	}
	if got, err := db.Values(t.Context(), CacheDigest, "default", []string{"a"}); !errors.Is(err, ErrCorrupt) || got != nil {
		t.Errorf("a value that is too long: %v, %v", got, err)
	}
	// One without its data is not there, and storing it again mends that.
	if _, err := db.writer.ExecContext(t.Context(), "DELETE FROM value_data"); err != nil {
		t.Fatal(err)
	}
	if got := getValues(t, db, CacheDigest, "default", "a", "b"); len(got) != 0 {
		t.Errorf("values without their data: %v", got)
	}
	putValues(t, db, CacheDigest, "default", values(10, "a", "b"))
	useValues(t, db, CacheDigest, "a", "b")
	checkSound(t, db)
}

func TestADamagedPageOfValuesIsNamed(t *testing.T) {
	t.Parallel()
	for _, table := range []string{"value", "value_data", "value_by_key", "value_by_use"} {
		dir := t.TempDir()
		db, err := Open(t.Context(), Config{Dir: dir, EmbedBytes: 200_000})
		if err != nil {
			t.Fatal(err)
		}
		keys := numbered("", 16)
		putValues(t, db, CacheEmbed, "default", values(5000, keys...))
		var root int64
		if err := db.reader.QueryRowContext(t.Context(), "SELECT rootpage FROM sqlite_schema WHERE name = ?", table).Scan(&root); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(db.path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteAt(noise("x", 4096), (root-1)*4096); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		db, err = Open(t.Context(), Config{Dir: dir, EmbedBytes: 50_000})
		if err != nil {
			t.Fatal(err)
		}
		read := table == "value_data" || table == "value_by_key" // a read needs no more than these
		if got, err := db.Values(t.Context(), CacheEmbed, "default", keys); errors.Is(err, ErrCorrupt) != read || err != nil && got != nil {
			t.Errorf("%s: reading: %d values, %v", table, len(got), err)
		}
		if err := db.PutValues(t.Context(), CacheEmbed, "default", values(5000, "new")); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), db.path) {
			t.Errorf("%s: writing: %v", table, err)
		}
		if err := db.evict(t.Context()); kindOf(err) != ErrCorrupt {
			t.Errorf("%s: evicting: %v", table, err)
		}
		_ = db.Close()
	}
}

func TestValuesAreNotBegunForACallerThatHasLeft(t *testing.T) {
	db := openStore(t, Config{DigestBytes: 1 << 20})
	putValues(t, db, CacheDigest, "default", values(10, "a"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := db.PutValues(ctx, CacheDigest, "default", values(10, "b")); !errors.Is(err, context.Canceled) {
		t.Errorf("storing: %v", err)
	}
	if got, err := db.Values(ctx, CacheDigest, "default", []string{"a"}); !errors.Is(err, context.Canceled) || got != nil {
		t.Errorf("reading: %v, %v", got, err)
	}
	// And one that leaves while it waits.
	conn, err := db.writer.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := db.PutValues(ctx, CacheDigest, "default", values(10, "b")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("storing: %v", err)
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	if got := keysHeld(t, db, CacheDigest, "a", "b"); !slices.Equal(got, []string{"a"}) {
		t.Errorf("held %q", got)
	}
	putValues(t, db, CacheDigest, "default", values(10, "b")) // and nothing was left locked
}

func TestAReaderOfValuesThatLeavesHarmsNoOther(t *testing.T) {
	t.Parallel()
	db := openStore(t, Config{EmbedBytes: 64 << 20})
	keys := numbered("", 500)
	want := values(5000, keys...)
	putValues(t, db, CacheEmbed, "default", want)
	whole := 0
	for i := range 40 {
		ctx, cancel := context.WithCancel(t.Context())
		left := make(chan struct{})
		go func() {
			defer close(left)
			if i%4 != 0 {
				cancel()
			}
		}()
		got, err := db.Values(ctx, CacheEmbed, "default", keys)
		switch {
		case err != nil && (got != nil || !errors.Is(err, context.Canceled)):
			t.Errorf("a reader that left got %d values, %v", len(got), err)
		case err == nil && len(got) != len(want):
			t.Errorf("a reader got %d values", len(got))
		case err == nil:
			whole++
		}
		<-left
		cancel()
	}
	if whole < 10 {
		t.Errorf("%d readers that did not leave were answered", whole)
	}
	if d := cmp.Diff(want, getValues(t, db, CacheEmbed, "default", keys...), cmp.Comparer(bytes.Equal)); d != "" {
		t.Errorf("the next reader (-want +got):\n%s", d)
	}
}

func TestTheFilesStayNearTheBudgetOfValuesUnderChurn(t *testing.T) {
	t.Parallel()
	const budget = 2 << 20
	db := openStore(t, Config{EmbedBytes: budget})
	var worst int64
	for i := range 60 {
		putValues(t, db, CacheEmbed, "default", values(1000+i*997%7000, numbered(fmt.Sprint(i%20, "-"), 40)...))
		if s := statsOf(t, db, CacheEmbed); s.Bytes > budget {
			t.Fatalf("holds %d of %d bytes", s.Bytes, budget)
		}
		worst = max(worst, fileBytes(t, db))
	}
	if limit := int64(budget*3/2 + 2*walLimit); worst > limit {
		t.Errorf("the files took up to %d bytes; %d are allowed", worst, limit)
	}
	checkSound(t, db)
}

func TestManyAtOnceOnTheCachesOfOneStoreMixNothingUp(t *testing.T) {
	t.Parallel()
	const budget = 300_000 // so that they evict what others store
	db := openStore(t, Config{MaxBytes: budget, RecoveredBytes: budget, DigestBytes: budget, EmbedBytes: budget})
	errs := make(chan error)
	work := func(fn func(i int) error) {
		go func() {
			var err error
			for i := 0; i < 15 && err == nil; i++ {
				err = fn(i)
			}
			errs <- err
		}()
	}
	n := 0
	for _, class := range []string{"a", "b"} {
		for _, cache := range []Cache{CacheDigest, CacheEmbed} {
			n += 2
			keys := numbered("", 30)
			of := func(key string) []byte { return []byte(strings.Repeat(string(cache)+class+key, 100)) }
			work(func(i int) error {
				all := make(map[string][]byte)
				for _, key := range keys[i : i+15] {
					all[key] = of(key)
				}
				return db.PutValues(t.Context(), cache, class, all)
			})
			work(func(int) error {
				got, err := db.Values(t.Context(), cache, class, keys)
				for key, value := range got {
					if !bytes.Equal(value, of(key)) {
						return fmt.Errorf("%s of %s and class %s came back as another", key, cache, class)
					}
				}
				return err
			})
		}
	}
	for _, of := range []func(string, int) Entry{testEntry, recoveredEntry} {
		n++
		work(func(int) error { return db.Put(t.Context(), of(NewSnapshot(), 20_000)) })
	}
	n++
	work(func(int) error { return db.tend(t.Context()) })
	for range n {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	for cache := range db.budgets {
		if s := statsOf(t, db, cache); s.Entries == 0 || s.Bytes > budget {
			t.Errorf("%s: %+v", cache, s)
		}
	}
	checkSound(t, db)
}

// What a child stores in one call: playValues.
const childValues = 20

// playValues stores values, n times or until it is killed, and says of each
// call that it has returned.
func playValues(ctx context.Context, dir, prefix string, n int) error {
	db, err := Open(ctx, Config{Dir: dir, DigestBytes: 1 << 30, EmbedBytes: 1 << 30})
	if err != nil {
		return err
	}
	for i := range n {
		name := fmt.Sprint(prefix, "-", i)
		all := values(3000, numbered(name+"/", childValues)...)
		all["shared"] = noise("shared", 5000)
		if err := db.PutValues(ctx, CacheEmbed, "default", all); err != nil {
			return err
		}
		fmt.Println(name)
		got, err := db.Values(ctx, CacheEmbed, "default", []string{"shared"})
		if err != nil || !bytes.Equal(got["shared"], all["shared"]) {
			return fmt.Errorf("reading what all store: %w", err)
		}
	}
	return db.Close()
}

// checkCalls says how many of the calls of children are in the file, each of
// which must be there as a whole.
func checkCalls(t *testing.T, db *DB, names []string) {
	t.Helper()
	checkSound(t, db)
	for _, name := range names {
		keys := numbered(name+"/", childValues)
		if d := cmp.Diff(values(3000, keys...), getValues(t, db, CacheEmbed, "default", keys...), cmp.Comparer(bytes.Equal)); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
	// One more for each that was stored and not said any more; never a part.
	s := statsOf(t, db, CacheEmbed)
	if whole := (s.Entries - 1) / childValues; (s.Entries-1)%childValues != 0 || whole < int64(len(names)) {
		t.Errorf("%d values are held, which are not %d calls or more", s.Entries, len(names))
	}
}

func TestValuesOfACallAreAllThereAfterAKillOrNone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var names []string
	for round := range 4 {
		c := startChild(t, "values", dir, strconv.Itoa(round), "1000000")
		for range 1 + rand.IntN(12) {
			if !c.out.Scan() {
				break
			}
			names = append(names, c.out.Text())
		}
		if err := c.Process.Signal(syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		names = append(names, c.lines()...)
		err := c.Wait()
		if c.stderr.Len() > 0 || err == nil || c.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
			t.Fatalf("child ended by itself: %v: %s", err, c.stderr.String())
		}
	}
	checkCalls(t, openStore(t, Config{Dir: dir, EmbedBytes: 1 << 30}), names)
}

func TestTwoProcessesStoreValuesAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db := openStore(t, Config{Dir: dir, EmbedBytes: 1 << 30})
	var children []*child
	for i := range 2 {
		children = append(children, startChild(t, "values", dir, strconv.Itoa(i), "15"))
	}
	var names []string
	for _, c := range children {
		names = append(names, c.lines()...)
		c.end(t)
	}
	if len(names) != 30 {
		t.Errorf("%d calls were made", len(names))
	}
	checkCalls(t, db, names)
}

func TestAFullDiskIsATypedErrorForValuesToo(t *testing.T) {
	t.Parallel()
	onSmallDisk(t, 8<<20, func(t *testing.T, d disk) {
		ballast := filepath.Join(d.dir, "ballast")
		if err := os.WriteFile(ballast, make([]byte, 2<<20), 0o600); err != nil {
			t.Fatal(err)
		}
		db, err := Open(t.Context(), Config{Dir: filepath.Join(d.dir, "data"), RecoveredBytes: 64 << 20, DigestBytes: 64 << 20, EmbedBytes: 64 << 20})
		if err != nil {
			t.Fatal(err)
		}
		limitPages := func(n int) { // what a small disk is where there is none
			if !d.mounted {
				if _, err := db.writer.ExecContext(t.Context(), fmt.Sprintf("PRAGMA max_page_count = %d", n)); err != nil {
					t.Fatal(err)
				}
			}
		}
		limitPages(800)
		const calls, size = 30, 5000
		var stored []string // each a call of as many values
		fill := func() error {
			for range 100 {
				name := NewSnapshot()
				keys := numbered(name, calls)
				if err := db.PutValues(t.Context(), CacheEmbed, "default", values(size, keys...)); err != nil {
					if got := keysHeld(t, db, CacheEmbed, keys...); got != nil {
						t.Errorf("%d values are held though PutValues failed", len(got))
					}
					return err
				}
				stored = append(stored, name)
			}
			return nil
		}
		check := func() {
			t.Helper()
			checkSound(t, db)
			for _, name := range stored {
				keys := numbered(name, calls)
				if d := cmp.Diff(values(size, keys...), getValues(t, db, CacheEmbed, "default", keys...), cmp.Comparer(bytes.Equal)); d != "" {
					t.Fatalf("%s (-want +got):\n%s", name, d)
				}
			}
		}
		for range 2 { // full, and still full
			if err := fill(); !errors.Is(err, ErrFull) || !strings.Contains(err.Error(), db.dir) {
				t.Fatalf("error is %v", err)
			}
			check()
		}
		if err := db.Put(t.Context(), recoveredEntry("k", 300_000)); !errors.Is(err, ErrFull) {
			t.Errorf("a recovered copy: %v", err)
		}
		before := len(stored)
		if before == 0 {
			t.Fatal("nothing fitted")
		}
		_ = db.tend(t.Context()) // what Run does meanwhile does no harm
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
		limitPages(1200)
		if err := fill(); !errors.Is(err, ErrFull) || len(stored) == before {
			t.Errorf("with room again %d more calls were stored, %v", len(stored)-before, err)
		}
		check()
		if err := db.Close(); err != nil && !errors.Is(err, ErrFull) { // last-use times may not fit any more
			t.Error(err)
		}
	})
}

func TestNoStatementOfCachesWalksAWholeTable(t *testing.T) {
	db := openStore(t, Config{})
	for _, tt := range []struct {
		stmt   string
		params int
		index  string // must be used, where not any index does
	}{
		{sqlLatest, 3, "content_by_key"},
		{sqlLatestRecovered, 3, "content_by_key"},
		{sqlBySnapshot, 3, ""},
		{sqlOldCopies, 5, "content_by_key"},
		{sqlLeastUsedPages, 1, "content_by_use"},
		{sqlLeastUsedRecovered, 1, "recovered_by_use"},
		{sqlLeastUsedDigests, 1, "value_by_use"},
		{sqlLeastUsedEmbeds, 1, "value_by_use"},
		{"SELECT " + sqlNextUse, 0, "recovered_by_use"},
		{sqlUsed, 1, "content_by_use"},
		{sqlNextValueUse, 1, "value_by_use (cache=?)"},
		{sqlValueUsed, 1, "value_by_use (cache=?)"},
		{sqlValues, 3, "value_by_key"},
		{sqlReplaceValues, 3, "value_by_key"},
		{sqlRemove, 1, ""},
		{sqlRemoveValue, 1, ""},
		{sqlStats, 1, ""},
	} {
		plan := planOf(t, db, tt.stmt, tt.params)
		text := strings.Join(plan, "\n")
		for _, step := range plan {
			ordered := strings.HasPrefix(step, "SCAN content USING INDEX") // the first rows of it
			small := strings.Contains(step, "SCAN k VIRTUAL TABLE") || strings.Contains(step, "SCAN json_each VIRTUAL TABLE") || step == "SCAN CONSTANT ROW"
			if strings.HasPrefix(step, "SCAN") && !ordered && !small || strings.Contains(step, "TEMP B-TREE FOR ORDER BY") && !strings.Contains(tt.stmt, "content_part") {
				t.Errorf("%s:\n%s", tt.stmt, text)
			}
		}
		if !strings.Contains(text, tt.index) {
			t.Errorf("%s is not by %s:\n%s", tt.stmt, tt.index, text)
		}
	}
}
