// Command soak runs batches against a sift binary for some minutes, beside
// people who fetch pages one by one, and then looks whether everything is as it
// must be: no job lost, no target fetched twice, nobody sees another's job, the
// metrics add up, and memory, files and goroutines are back where they were.
//
//	go run ./tools/soak -sift bin/sift
//
// The pages come from a hostile site in this process. docs/benchmarks.md says
// what each row of the table means.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// The bars. A latency that misses its own is told and no more: on a small
// machine the pages of the batches take both cores. What is not a latency must
// hold.
const (
	barCached50 = 2.0 // times the latency without batches
	barCached99 = 5.0
	barFresh50  = 3.0
	barFresh99  = 5.0

	barMemory = int64(1e9)
)

// usual is a run of the given length.
func usual(jobs, callers int, length time.Duration) effort {
	return effort{
		jobs: jobs, callers: callers, pairs: 3, without: length / 12, with: length / 4, limit: 4*length + 2*time.Minute, patience: 1,
		sizes:  []int{1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 6, 6, 8, 8, 10, 12, 16, 32},
		cached: 60, fresh: 6, held: 2, settle: time.Minute, growth: 128e6,
	}
}

// quick is for trying whether the soak works. Its latencies mean little, and
// its thirds are too short to have the same pages in them.
func quick() effort {
	return effort{
		jobs: 12, callers: 12, pairs: 3, without: 500 * time.Millisecond, with: 1500 * time.Millisecond, limit: 2 * time.Minute, patience: 0.3,
		sizes: []int{1, 2, 2, 3, 4, 5}, cached: 30, fresh: 5, held: 2, settle: time.Minute, growth: 400e6,
	}
}

func main() {
	// Not SIGPIPE: it comes whenever the site writes to a connection that sift has
	// closed, which is what much of the site is for.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the command without its process. The exit code is 1 when something
// was not as it must be or could not be run, 2 for wrong usage.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("soak", flag.ContinueOnError)
	flags.SetOutput(stderr)
	binary := flags.String("sift", "bin/sift", "the sift binary to run")
	jobs := flags.Int("jobs", 200, "how many jobs, at least")
	callers := flags.Int("callers", 20, "how many callers send them")
	length := flags.Duration("for", 3*time.Minute, "how long, at least; a slow machine takes longer for the jobs")
	fast := flags.Bool("quick", false, "few jobs and short windows: shows that it works, the latencies mean little")
	seed := flags.Uint64("seed", 1, "decides the lists and what callers do with them")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	switch {
	case flags.NArg() > 0:
		fmt.Fprintf(stderr, "soak: takes no arguments, got %q\n", flags.Args())
		return 2
	case *jobs < 1 || *callers < 2 || *callers > 1000 || *length < time.Second:
		fmt.Fprintln(stderr, "soak: at least one job, two to a thousand callers, and a second")
		return 2
	}
	e := usual(*jobs, *callers, *length)
	if *fast {
		e = quick()
	}
	s := &soak{effort: e, binary: *binary, seed: *seed, progress: stderr, checks: newChecks(everyCheck())}
	good, err := s.report(ctx, stdout)
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, "soak: stopped")
		return 1
	case err != nil:
		fmt.Fprintln(stderr, "soak:", err)
		return 1
	case !good:
		return 1
	}
	return 0
}
