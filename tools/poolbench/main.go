// Command poolbench measures internal/fanout beside bare workers on an atomic
// counter and beside the pools that people use, in one run and in turns, since
// machines are noisy. It has a module file of its own, so that those pools are
// no dependencies of the product.
//
//	go run .          # in this folder
//	go run . -quick   # whether it works, not how fast
//
// docs/benchmarks.md says what the figures mean.
package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/alitto/pond/v2"
	conciter "github.com/sourcegraph/conc/iter"
	concpool "github.com/sourcegraph/conc/pool"
	"golang.org/x/sync/errgroup"

	"sift.build/sift/internal/fanout"
)

// bar is what the slice variant may cost on tiny tasks, in bare workers.
const bar = 1.5

func main() {
	quick := flag.Bool("quick", false, "one short round of each: shows that it works, the figures mean little")
	flag.Parse()
	rounds, each := 41, 10*time.Millisecond
	if *quick {
		rounds, each = 1, time.Millisecond
	}
	if err := report(context.Background(), os.Stdout, rounds, each); err != nil {
		fmt.Fprintln(os.Stderr, "poolbench:", err)
		os.Exit(1)
	}
}

// job is what every pool is given: the same work for each item, in the form
// that it wants.
type job struct {
	items   []int
	workers int
	bare    func(int) int
	alone   func(int) (int, error)
	with    func(context.Context, int) (int, error)
}

// pool runs a job its own way and gives the sum of what came of it.
type pool struct {
	name string
	run  func(ctx context.Context, j job) (int, error)
}

func pools() []pool {
	return []pool{
		{"bare workers, atomic counter", bare},
		{"fanout.All", func(ctx context.Context, j job) (int, error) {
			out, errs := fanout.All(ctx, j.items, j.workers, j.with)
			return sum(out), errors.Join(errs...)
		}},
		{"fanout.Process", func(ctx context.Context, j job) (int, error) {
			out, err := fanout.Process(ctx, j.items, j.alone)
			total := 0
			for _, r := range out {
				total += r.Value
			}
			return total, err
		}},
		{"fanout.Stream", func(ctx context.Context, j job) (int, error) {
			sum := 0
			for r, err := range fanout.Stream(ctx, j.items, j.workers, j.with) {
				if err != nil {
					return 0, err
				}
				sum += r.Value
			}
			return sum, nil
		}},
		{"fanout.InOrder", func(ctx context.Context, j job) (int, error) {
			sum := 0
			for r, err := range fanout.InOrder(ctx, j.items, j.workers, j.with) {
				if err != nil {
					return 0, err
				}
				sum += r.Value
			}
			return sum, nil
		}},
		{"errgroup, SetLimit", func(ctx context.Context, j job) (int, error) {
			out := make([]int, len(j.items))
			g, ctx := errgroup.WithContext(ctx)
			g.SetLimit(j.workers)
			for i, n := range j.items {
				g.Go(func() (err error) {
					out[i], err = j.with(ctx, n)
					return err
				})
			}
			err := g.Wait()
			return sum(out), err
		}},
		{"conc iter.Mapper", func(ctx context.Context, j job) (int, error) {
			m := conciter.Mapper[int, int]{MaxGoroutines: j.workers}
			out, err := m.MapErr(j.items, func(n *int) (int, error) { return j.with(ctx, *n) })
			return sum(out), err
		}},
		{"conc ResultContextPool", func(ctx context.Context, j job) (int, error) {
			p := concpool.NewWithResults[int]().WithContext(ctx).WithMaxGoroutines(j.workers)
			for _, n := range j.items {
				p.Go(func(ctx context.Context) (int, error) { return j.with(ctx, n) })
			}
			out, err := p.Wait()
			return sum(out), err
		}},
		{"pond result group", func(ctx context.Context, j job) (int, error) {
			p := pond.NewResultPool[int](j.workers)
			defer p.StopAndWait()
			g := p.NewGroupContext(ctx)
			for _, n := range j.items {
				g.SubmitErr(func() (int, error) { return j.with(ctx, n) })
			}
			out, err := g.Wait()
			return sum(out), err
		}},
	}
}

// bare is the floor: it notices no cancellation, loses everything to a panic,
// and an item cannot fail.
func bare(_ context.Context, j job) (int, error) {
	out, work := make([]int, len(j.items)), j.bare
	var next atomic.Int64
	var wg sync.WaitGroup
	for range j.workers {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(j.items) {
					return
				}
				out[i] = work(j.items[i])
			}
		})
	}
	wg.Wait()
	return sum(out), nil
}

func sum(out []int) int {
	total := 0
	for _, v := range out {
		total += v
	}
	return total
}

// tiny costs next to nothing, so that what is measured is the pool.
func tiny(n int) int                                 { return n*n + 1 }
func tinyAlone(n int) (int, error)                   { return n*n + 1, nil }
func tinyWith(_ context.Context, n int) (int, error) { return n*n + 1, nil }

// medium is a few tens of microseconds of work, and the pool hardly counts.
func medium(n int) int {
	var block [32 << 10]byte
	block[0] = byte(n)
	return int(sha256.Sum256(block[:])[0])
}
func mediumAlone(n int) (int, error)                   { return medium(n), nil }
func mediumWith(_ context.Context, n int) (int, error) { return medium(n), nil }

// measured is what one pool did in its rounds.
type measured struct {
	perTask []float64 // ns
	ratio   []float64 // to bare workers in the same round
	allocs  float64   // a call
	bytes   float64
}

func report(ctx context.Context, w io.Writer, rounds int, each time.Duration) error {
	// A context that can be cancelled, as callers have it.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	workers := runtime.NumCPU()
	fmt.Fprintf(w, "%d workers, %s %s/%s; medians of %d rounds of %v, taken in turns\n", workers, runtime.Version(), runtime.GOOS, runtime.GOARCH, rounds, each)
	for _, load := range []struct {
		name string
		tiny bool
		job  job
	}{
		{"10,000 tiny tasks", true, job{make([]int, 10_000), workers, tiny, tinyAlone, tinyWith}},
		{"1,000 tasks of SHA-256 over 32 KiB", false, job{make([]int, 1_000), workers, medium, mediumAlone, mediumWith}},
	} {
		j := load.job
		want := 0
		for i := range j.items {
			j.items[i] = i
			want += j.bare(i)
		}
		ways := pools()
		seen := make([]measured, len(ways))
		for round := range rounds {
			order := make([]int, len(ways)) // each round begins with another pool
			for k := range ways {
				order[k] = (k + round) % len(ways)
			}
			now := make([]float64, len(ways))
			for _, k := range order {
				m := &seen[k]
				perTask, err := m.measure(ctx, ways[k], j, want, each)
				if err != nil {
					return fmt.Errorf("%s: %w", ways[k].name, err)
				}
				now[k] = perTask
			}
			for k := range ways {
				seen[k].perTask = append(seen[k].perTask, now[k])
				seen[k].ratio = append(seen[k].ratio, now[k]/now[0])
			}
		}
		fmt.Fprintln(w)
		fmt.Fprintf(w, "%-36s %9s %8s %12s %9s\n", load.name, "ns/task", "× bare", "allocs/call", "kB/call")
		for k, way := range ways {
			m := seen[k]
			verdict := ""
			if way.name == "fanout.All" && load.tiny {
				verdict = fmt.Sprintf("  bar %.1f: ok", bar)
				if median(m.ratio) > bar {
					verdict = fmt.Sprintf("  bar %.1f: over", bar)
				}
			}
			fmt.Fprintf(w, "%-36s %9.1f %8.2f %12.0f %9.0f%s\n", way.name, median(m.perTask), median(m.ratio), m.allocs, m.bytes/1e3, verdict)
		}
	}
	return nil
}

// measure runs the pool over and over for a while and gives ns a task.
func (m *measured) measure(ctx context.Context, p pool, j job, want int, each time.Duration) (float64, error) {
	runtime.GC() // or the next pool pays for what the last one left
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	calls := 0
	start := time.Now()
	for calls == 0 || time.Since(start) < each {
		got, err := p.run(ctx, j)
		if err != nil {
			return 0, err
		}
		if got != want {
			return 0, fmt.Errorf("the results add up to %d, not %d", got, want)
		}
		calls++
	}
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	m.allocs = float64(after.Mallocs-before.Mallocs) / float64(calls)
	m.bytes = float64(after.TotalAlloc-before.TotalAlloc) / float64(calls)
	return float64(took.Nanoseconds()) / float64(calls*len(j.items)), nil
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
