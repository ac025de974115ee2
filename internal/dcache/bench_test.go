package dcache

import (
	"bytes"
	"fmt"
	"testing"
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
