// Command bench measures a sift binary from outside, over the interfaces that
// people use: cached fetches a second against a bare net/http handler,
// latency at half that load, the CPU of rendering against bare parsing,
// memory, start, size. What is compared runs side by side in one run, since
// machines are noisy; a figure is the median of several rounds.
//
//	go run ./tools/bench -sift bin/sift
//
// docs/benchmarks.md says what each figure means.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"sift.build/sift/tools/report"
)

// The bars of the product: what a figure must hold.
const (
	barCachedRatio = 0.5 // of the requests a second of a bare handler; no less
	barP99         = 10 * time.Millisecond
	barRenderRatio = 3.0 // times the CPU of bare parsing
	barIdle        = int64(60e6)
	barPeak        = int64(350e6)
	barStart       = 200 * time.Millisecond
	barBinary      = int64(60e6)
)

// effort says how much is measured.
type effort struct {
	rounds    int           // of everything that has rounds
	closed    time.Duration // one round of as-fast-as-you-can
	open      time.Duration // one round at a constant rate
	everyNth  int           // WCXB page
	settle    time.Duration // how long idle memory is watched
	bigPage   int           // bytes of one of the eight
	bigRounds int
	starts    int
}

func usual() effort {
	return effort{
		rounds: 5, closed: time.Second, open: 2 * time.Second, everyNth: 10,
		settle: 5 * time.Second, bigPage: 10_000_000, bigRounds: 3, starts: 11,
	}
}

// quick is for trying whether the bench works; its figures mean little.
func quick() effort {
	return effort{
		rounds: 1, closed: 200 * time.Millisecond, open: 300 * time.Millisecond, everyNth: 100,
		settle: 200 * time.Millisecond, bigPage: 1_000_000, bigRounds: 1, starts: 1,
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the command without its process. The exit code is 0 whatever the
// figures are, 1 when something could not be measured, 2 for wrong usage.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	binary := flags.String("sift", "bin/sift", "the sift binary to measure")
	wcxb := flags.String("wcxb", "", "folder of the WCXB pages (default $SIFT_WCXB, else ../shared/wcxb); without it Go's own pages are rendered")
	fast := flags.Bool("quick", false, "one short round of each: shows that it works, the figures mean little")
	only := flags.String("only", "", "measure one part: "+strings.Join(partNames(), ", "))
	child := flags.String("child", "", "used by bench itself: bare or parse")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	var err error
	switch *child {
	case "":
		if flags.NArg() > 0 {
			fmt.Fprintf(stderr, "bench: takes no arguments, got %q\n", flags.Args())
			return 2
		}
		if *only != "" && !slices.Contains(partNames(), *only) {
			fmt.Fprintf(stderr, "bench: there is no part %q; there are %s\n", *only, strings.Join(partNames(), ", "))
			return 2
		}
		b := &bench{binary: *binary, wcxb: *wcxb, only: *only, effort: usual(), progress: stderr}
		if *fast {
			b.effort = quick()
		}
		if b.wcxb == "" {
			b.wcxb = os.Getenv("SIFT_WCXB")
		}
		if b.wcxb == "" {
			b.wcxb = filepath.Join("..", "shared", "wcxb")
		}
		err = b.report(ctx, stdout)
	case "bare":
		err = serveBare(ctx, stdin, stdout)
	case "parse":
		err = parseFiles(flags.Args())
	default:
		err = fmt.Errorf("there is no child %q", *child)
	}
	if err != nil {
		fmt.Fprintln(stderr, "bench:", err)
		return 1
	}
	return 0
}

// part is one thing that is measured.
type part struct {
	name, what string
	measure    func(*bench, context.Context) ([]report.Figure, error)
}

// parts lists them in the order of the table.
func parts() []part {
	return []part{
		{"cached", "cached fetches", (*bench).cachedFetches},
		{"rendering", "rendering", (*bench).rendering},
		{"idle", "idle memory", (*bench).idleMemory},
		{"peak", "memory with eight large pages", (*bench).peakMemory},
		{"start", "start", (*bench).startTime},
	}
}

func partNames() []string {
	var names []string
	for _, p := range parts() {
		names = append(names, p.name)
	}
	return names
}

// bench is one run.
type bench struct {
	binary, wcxb string
	only         string // the part that is wanted; "": all
	effort       effort
	progress     io.Writer

	self string // this program, for its children
	dir  string // everything that is written
	site *site
}

// report measures everything and prints the table, ratios first. What could
// not be measured does not keep the rest from being shown.
func (b *bench) report(ctx context.Context, out io.Writer) (err error) {
	start := time.Now()
	info, err := os.Stat(b.binary)
	if err != nil {
		return fmt.Errorf("%w; `make build` makes it", err)
	}
	if b.self, err = os.Executable(); err != nil {
		return err
	}
	if b.dir, err = os.MkdirTemp("", "sift-bench-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	if b.site, err = newSite(ctx); err != nil {
		return err
	}
	defer b.site.close()

	var rows []report.Figure
	var failed []error
	for _, part := range parts() {
		if b.only != "" && b.only != part.name {
			continue
		}
		fmt.Fprintf(b.progress, "measuring: %s\n", part.what)
		figures, err := part.measure(b, ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", part.what, err))
			figures = []report.Figure{{What: part.what, Word: report.Unseen}}
		}
		rows = append(rows, figures...)
	}
	rows = append(rows, report.Figure{
		What: "binary", Value: report.Megabytes(info.Size()), Bar: "< " + report.Megabytes(barBinary), Word: report.Within(info.Size(), barBinary),
	})

	fmt.Fprintf(out, "%s, %s/%s, %d cores, %s; %s\n\n", b.binary, runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), start.Format(time.DateOnly))
	report.Print(out, rows)
	fmt.Fprintf(out, "\nAllocations are not among the figures: a process does not tell them from outside. `go test -bench` in\ninternal/ has them. Took %.0f s.\n", time.Since(start).Seconds())
	return errors.Join(failed...)
}
