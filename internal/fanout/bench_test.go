package fanout_test

import (
	"context"
	"crypto/sha256"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"

	"sift.build/sift/internal/fanout"
)

// tiny is work that costs next to nothing, so that the pool is what is measured.
func tiny(n int) int { return n*n + 1 }

// medium is a few tens of microseconds of work.
func medium(n int) int {
	var block [32 << 10]byte
	block[0] = byte(n)
	return int(sha256.Sum256(block[:])[0])
}

// bare is the floor: workers on an atomic counter and nothing else. It notices
// no cancellation, loses everything to a panic and tells no failure.
func bare(items []int, workers int, work func(int) int) []int {
	out := make([]int, len(items))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(items) {
					return
				}
				out[i] = work(items[i])
			}
		})
	}
	wg.Wait()
	return out
}

func BenchmarkPools(b *testing.B) {
	workers := runtime.NumCPU()
	for _, load := range []struct {
		name  string
		items int
		work  func(int) int
	}{{"tiny", 10_000, tiny}, {"medium", 1_000, medium}} {
		items := make([]int, load.items)
		for i := range items {
			items[i] = i
		}
		work := func(_ context.Context, n int) (int, error) { return load.work(n), nil }
		for _, pool := range []struct {
			name string
			run  func(ctx context.Context)
		}{
			{"bare", func(context.Context) { bare(items, workers, load.work) }},
			{"All", func(ctx context.Context) { fanout.All(ctx, items, workers, work) }},
			{"Process", func(ctx context.Context) {
				fanout.Process(ctx, items, func(n int) (int, error) { return load.work(n), nil })
			}},
			{"Stream", func(ctx context.Context) {
				for r := range fanout.Stream(ctx, items, workers, work) {
					_ = r
				}
			}},
			{"InOrder", func(ctx context.Context) {
				for r := range fanout.InOrder(ctx, items, workers, work) {
					_ = r
				}
			}},
			{"errgroup", func(ctx context.Context) {
				out := make([]int, len(items))
				g, _ := errgroup.WithContext(ctx)
				g.SetLimit(workers)
				for i, n := range items {
					g.Go(func() error { out[i] = load.work(n); return nil })
				}
				_ = g.Wait()
			}},
		} {
			b.Run(load.name+"/"+pool.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					pool.run(b.Context())
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(items)), "ns/task")
			})
		}
	}
}
