// Command fanout shows why the results channel of a worker pool has to hold
// the worst case. docs/fanout.md explains it.
//
//	go run ./examples/fanout                 # internal/fanout: it returns
//	go run ./examples/fanout -buffer small   # room for one result an item: it hangs
//
// Both do the same: as many items as there are workers are all in flight when
// somebody cancels.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"time"

	"sift.build/sift/internal/fanout"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is the command without its process: 0 when the pool returned, 1 when it
// hangs, 2 for wrong usage.
func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("fanout", flag.ContinueOnError)
	flags.SetOutput(stderr)
	buffer := flags.String("buffer", "enough", "room in the results channel: enough or small")
	patience := flags.Duration("patience", 2*time.Second, "how long the watchdog waits until it says that the pool hangs")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if flags.NArg() > 0 || *buffer != "enough" && *buffer != "small" {
		fmt.Fprintln(stderr, "fanout: -buffer is enough or small, and there are no arguments")
		return 2
	}

	workers := runtime.NumCPU()
	items := make([]int, workers)
	for i := range items {
		items[i] = i + 1
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()

	// Nobody returns before all are in flight and the first of them has
	// cancelled, as when Ctrl-C comes at the end of a long list.
	var inFlight sync.WaitGroup
	inFlight.Add(len(items))
	square := func(n int) (int, error) { //nolint:unparam // as Process wants it
		inFlight.Done()
		inFlight.Wait()
		if n == 1 {
			cancel()
		}
		<-ctx.Done()
		return n * n, nil
	}

	fmt.Fprintf(stdout, "%d items on %d workers, all in flight, and then a cancel\n", len(items), workers)
	var results []fanout.Result[int]
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		if *buffer == "small" {
			results, err = small(ctx, items, workers, square)
		} else {
			results, err = fanout.Process(ctx, items, square)
		}
	}()
	bark := time.NewTimer(*patience)
	defer bark.Stop()
	select {
	case <-done:
	case <-bark.C:
		fmt.Fprintf(stderr, "fanout: the pool hangs: it has not returned after %v\n"+
			"Each of %d workers sends its result and then that it was stopped: %d sends, room for %d, and nobody reads before all have ended.\n",
			*patience, workers, len(items)+workers, len(items))
		return 1
	}
	fmt.Fprintf(stdout, "it returned: %v\n", err)
	for _, r := range results {
		fmt.Fprintf(stdout, "item %d came to %d\n", r.Index, r.Value)
	}
	return 0
}

// small is how such a pool is often written: one result an item, so there is
// room for one result an item. It works as long as nobody cancels, and mostly
// when somebody does.
func small(ctx context.Context, items []int, workers int, fn func(int) (int, error)) ([]fanout.Result[int], error) {
	jobs := make(chan int, len(items))
	for i := range items {
		jobs <- i
	}
	close(jobs)
	results := make(chan fanout.Result[int], len(items)) // should be len(items)+workers
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for {
				if err := ctx.Err(); err != nil {
					results <- fanout.Result[int]{Index: -1, Err: err}
					return
				}
				select {
				case <-ctx.Done():
					results <- fanout.Result[int]{Index: -1, Err: ctx.Err()}
					return
				case i, ok := <-jobs:
					if !ok {
						return
					}
					v, err := fn(items[i])
					results <- fanout.Result[int]{Index: i, Value: v, Err: err}
				}
			}
		})
	}
	wg.Wait() // here it stays
	close(results)

	out := make([]fanout.Result[int], len(items))
	var first error
	for r := range results {
		if r.Index >= 0 {
			out[r.Index] = r
		}
		if first == nil {
			first = r.Err
		}
	}
	return out, first
}
