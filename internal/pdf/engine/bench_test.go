package engine

import (
	"bytes"
	"context"
	"testing"

	"github.com/tetratelabs/wazero"

	"sift.build/sift/internal/pdf/pdftest"
)

func BenchmarkStart(b *testing.B) {
	dir := cacheDir(b)
	for b.Loop() {
		e, err := Start(b.Context(), Config{CacheDir: dir})
		if err != nil {
			b.Fatal(err)
		}
		e.Close()
	}
}

// BenchmarkStartOfTheWholeModule is what a start costs without a skeleton and
// an image: what docs/decisions/pdf-engine.md compares with.
func BenchmarkStartOfTheWholeModule(b *testing.B) {
	dir := b.TempDir()
	begin := func() {
		ctx := context.Background()
		cache, err := wazero.NewCompilationCacheWithDir(dir)
		if err != nil {
			b.Fatal(err)
		}
		defer func() { _ = cache.Close(ctx) }()
		r := wazero.NewRuntimeWithConfig(ctx, runtimeConfig().WithCompilationCache(cache))
		defer func() { _ = r.Close(ctx) }()
		m, err := r.CompileModule(ctx, pdfium)
		if err != nil {
			b.Fatal(err)
		}
		if _, _, err := snapshot(ctx, r, m); err != nil {
			b.Fatal(err)
		}
	}
	begin() // fills the cache
	for b.Loop() {
		begin()
	}
}

func BenchmarkPages(b *testing.B) {
	const pages = 50
	data := pdftest.Book(pages, 1)
	e := start(b, Config{})
	for b.Loop() {
		d, err := e.Open(bytes.NewReader(data), int64(len(data)), "")
		if err != nil {
			b.Fatal(err)
		}
		for n := 1; n <= pages; n++ {
			if _, err := d.Page(n); err != nil {
				b.Fatal(err)
			}
		}
		d.Close()
	}
	b.ReportMetric(b.Elapsed().Seconds()*1e6/float64(b.N*pages), "µs/page")
}
