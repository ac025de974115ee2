package dcache

import (
	"bytes"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"modernc.org/sqlite"

	"sift.build/sift/internal/batch"
)

// page is markup of about n bytes that compresses as pages do, to a quarter.
func page(n int) []byte {
	var b bytes.Buffer
	words := noise("words", n)
	for i := 0; b.Len() < n; i += 4 {
		fmt.Fprintf(&b, `<p class="text">%x <a href="/page/%d">more</a></p>`+"\n", words[i%len(words):min(len(words), i%len(words)+12)], i)
	}
	return b.Bytes()[:n]
}

func benchEntry(n int) Entry {
	e := testEntry("k", 0)
	e.Body, e.Document = page(n), page(n/4)
	e.Receipt = []byte(`{"hops":[]}`)
	return e
}

func BenchmarkPut(b *testing.B) {
	for _, size := range []int{20 << 10, 200 << 10, 10 << 20} {
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) {
			db := openStore(b, Config{MaxBytes: 64 << 20})
			e := benchEntry(size)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				e.Snapshot = NewSnapshot()
				e.Key = e.Snapshot
				put(b, db, e)
			}
		})
	}
}

func BenchmarkLatest(b *testing.B) {
	for _, size := range []int{20 << 10, 200 << 10, 10 << 20} {
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) {
			db := openStore(b, Config{MaxBytes: 64 << 20})
			put(b, db, benchEntry(size))
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				if _, ok, err := db.Latest(b.Context(), "default", "k"); !ok || err != nil {
					b.Fatal(ok, err)
				}
			}
		})
	}
}

func BenchmarkLatestMiss(b *testing.B) {
	db := openStore(b, Config{MaxBytes: 64 << 20})
	put(b, db, benchEntry(1000))
	for b.Loop() {
		if _, ok, err := db.Latest(b.Context(), "default", "other"); ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}

// countCommits counts the transactions that the writer commits from now on, by
// SQLite's own hook.
func countCommits(t testing.TB, db *DB) *atomic.Int64 {
	t.Helper()
	var n atomic.Int64
	conn, err := db.writer.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	err = conn.Raw(func(c any) error {
		c.(sqlite.HookRegisterer).RegisterCommitHook(func() int32 {
			n.Add(1)
			return 0
		})
		return nil
	})
	if err := errors.Join(err, conn.Close()); err != nil {
		t.Fatal(err)
	}
	return &n
}

// BenchmarkBatchTarget is what the store adds to each target of a batch: its
// durable commits and their time, beside that of a bare durable commit of as
// many bytes, which takes turns with it.
func BenchmarkBatchTarget(b *testing.B) {
	for _, size := range []int{2 << 10, 20 << 10, 256 << 10} {
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) {
			db := openStore(b, Config{MaxBytes: 64 << 20})
			if _, err := db.writer.ExecContext(b.Context(), "CREATE TABLE bare (id INTEGER PRIMARY KEY, data TEXT NOT NULL) STRICT"); err != nil {
				b.Fatal(err)
			}
			hook := countCommits(b, db)
			result := envelopeOf(size)
			l := batch.Lease{Now: time.Now(), TTL: 24 * time.Hour}
			const targets = 32
			next, row := targets, 0
			var c batch.Claim
			var store, bare time.Duration
			var commits int64
			b.ReportAllocs()
			for b.Loop() {
				if next == targets {
					// Jobs of before go when there are too many, as they do in service.
					createJob(b, db, "a", targets)
					c, next = claimJob(b, db).Claim, 0
				}
				before, start := hook.Load(), time.Now()
				if ok, err := db.StartTarget(b.Context(), c, next); !ok || err != nil {
					b.Fatal(ok, err)
				}
				f, err := db.FinishTarget(b.Context(), c, batch.Outcome{Idx: next, Result: result, MaxBytes: 64 << 20}, l)
				if !f.Stored || err != nil {
					b.Fatal(f, err)
				}
				store += time.Since(start)
				commits += hook.Load() - before
				next++

				start = time.Now()
				if _, err := db.writer.ExecContext(b.Context(), "INSERT OR REPLACE INTO bare (id, data) VALUES (?, CAST(? AS TEXT))", row%256, []byte(result)); err != nil {
					b.Fatal(err)
				}
				bare += time.Since(start)
				row++
			}
			n := float64(b.N)
			b.ReportMetric(float64(commits)/n, "commits/target")
			b.ReportMetric(float64(store.Microseconds())/n, "store-µs/target")
			b.ReportMetric(float64(bare.Microseconds())/n, "bare-commit-µs")
			b.ReportMetric(float64(store)/float64(bare), "store/bare")
		})
	}
}

// Embeddings of the passages of a long page: 1,536 numbers of 4 bytes each.
const benchValues, benchValueBytes = 512, 6 << 10

func benchPassages(i int) (keys []string, values map[string][]byte) {
	values = make(map[string][]byte)
	for j := range benchValues {
		key := fmt.Sprint(i, "/", j)
		keys = append(keys, key)
		values[key] = noise(key, benchValueBytes)
	}
	return keys, values
}

func BenchmarkPutValues(b *testing.B) {
	db := openStore(b, Config{EmbedBytes: 16 << 20}) // room for four: it evicts
	for i := 0; b.Loop(); i++ {
		b.StopTimer()
		_, values := benchPassages(i)
		b.StartTimer()
		putValues(b, db, CacheEmbed, "default", values)
	}
}

func BenchmarkValues(b *testing.B) {
	db := openStore(b, Config{EmbedBytes: 16 << 20})
	keys, values := benchPassages(0)
	putValues(b, db, CacheEmbed, "default", values)
	for b.Loop() {
		if got := getValues(b, db, CacheEmbed, "default", keys...); len(got) != len(keys) {
			b.Fatal(len(got))
		}
	}
}

func BenchmarkOneValue(b *testing.B) {
	db := openStore(b, Config{DigestBytes: 16 << 20})
	putValues(b, db, CacheDigest, "default", map[string][]byte{"k": noise("k", 4000)})
	for b.Loop() {
		if got := getValues(b, db, CacheDigest, "default", "k"); len(got) != 1 {
			b.Fatal(len(got))
		}
	}
}
