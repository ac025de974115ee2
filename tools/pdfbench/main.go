// Command pdfbench reads PDFs with Debian's pdftotext and with a sift binary,
// in turns in one run, and sets side by side what each took and which words
// each found: CPU with start-up and children, wall time, memory, words.
//
//	go run ./tools/pdfbench -sift bin/sift -dir ~/papers
//
// docs/benchmarks.md says what each column means.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"sift.build/sift/internal/pdf/pdftest"
)

// bar is what the product promises: at most so many times pdftotext's CPU.
const bar = 2.5

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	// The engine's machine code is kept where the tests keep theirs, so that it
	// is made once and the person's own cache is left alone.
	err := os.Setenv("XDG_CACHE_HOME", pdftest.CacheHome())
	code := 1
	if err != nil {
		fmt.Fprintln(os.Stderr, "pdfbench:", err)
	} else {
		code = run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	}
	stop()
	os.Exit(code)
}

// errOver is for -strict: the run went well, and the bar was not held.
var errOver = errors.New("over the bar")

// run is the command without its process. The exit code is 0 whatever the
// figures are, unless -strict asks otherwise; 1 when something could not be
// measured, 2 for wrong usage.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("pdfbench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	b := bench{progress: stderr, maxMemory: maxMemory}
	flags.StringVar(&b.sift, "sift", "bin/sift", "the sift binary to measure")
	flags.StringVar(&b.pdftotext, "pdftotext", "pdftotext", "the pdftotext to measure it against (Debian: poppler-utils)")
	flags.StringVar(&b.dir, "dir", "", "folder with PDFs to read beside those that are made (default $SIFT_PDFS, else ../shared/pdf)")
	flags.StringVar(&b.doc, "doc", "/usr/share/doc", "folder in which the manuals that are installed as PDFs are looked for; empty: nowhere")
	flags.IntVar(&b.rounds, "n", 5, "how many times each file is read by each")
	flags.BoolVar(&b.quick, "quick", false, "one round over a few short files: shows that it works, the figures mean little")
	strict := flags.Bool("strict", false, "fail when sift convert is over the bar")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if flags.NArg() > 0 || b.rounds < 1 {
		fmt.Fprintf(stderr, "pdfbench: takes no arguments, got %q, and at least one round\n", flags.Args())
		return 2
	}
	if b.quick {
		b.rounds = 1
	}
	if b.dir == "" {
		b.dir = os.Getenv("SIFT_PDFS")
	}
	if b.dir == "" {
		b.dir = filepath.Join("..", "shared", "pdf")
	}
	ratio, err := b.report(ctx, stdout)
	if err == nil && *strict && ratio > bar {
		err = errOver
	}
	if err != nil {
		fmt.Fprintln(stderr, "pdfbench:", err)
		return 1
	}
	return 0
}

// bench is one run.
type bench struct {
	sift, pdftotext string
	dir, doc        string
	rounds          int
	quick           bool
	progress        io.Writer
	maxMemory       int64 // of a process that is looked at

	work   string // everything that is written
	config string // an empty one: a person's own must not change what is measured
}

// report measures everything, prints the table, and returns the ratio of all
// the CPU.
func (b *bench) report(ctx context.Context, out io.Writer) (ratio float64, err error) {
	begin := time.Now()
	if _, err := os.Stat(b.sift); err != nil {
		return 0, fmt.Errorf("%w; `make build` makes it", err)
	}
	if b.pdftotext, err = exec.LookPath(b.pdftotext); err != nil {
		return 0, fmt.Errorf("%w; `tools/deps.sh pdftotext:poppler-utils` installs it", err)
	}
	if b.work, err = os.MkdirTemp("", "sift-pdfbench-"); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.work)) }()
	b.config = filepath.Join(b.work, "convert.toml")
	if err := os.WriteFile(b.config, nil, 0o600); err != nil {
		return 0, err
	}
	fmt.Fprintln(b.progress, "making the files")
	files, err := b.files()
	if err != nil {
		return 0, err
	}
	service, err := b.startService(ctx, files)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, service.stop()) }()

	// The engine is compiled here, if it has not been yet.
	if _, err := b.run(ctx, b.siftCommand(files[0].path)); err != nil {
		return 0, err
	}
	var rows []row
	for i, f := range files {
		fmt.Fprintf(b.progress, "reading %d of %d: %s\n", i+1, len(files), f.name)
		r, err := b.measure(ctx, service, f)
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		if err != nil {
			return 0, fmt.Errorf("%s: %w", f.name, err)
		}
		rows = append(rows, r)
	}

	fmt.Fprintf(out, "%s beside %s, %d rounds; %s/%s, %d cores, %s\n\n", b.sift, b.pdftotext, b.rounds,
		runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), begin.Format(time.DateOnly))
	t := total(rows)
	show(out, rows, t)
	fmt.Fprintf(out, "\nTook %.0f s.\n", time.Since(begin).Seconds())
	return t.ratio(), nil
}

// measure reads one file again and again, each in its turn: the two programs,
// and the service.
func (b *bench) measure(ctx context.Context, s *service, f file) (row, error) {
	r := row{file: f}
	theirs, ours := b.pdftotextCommand(f.path), b.siftCommand(f.path)
	// The first time is looked at closely, which costs: its times do not count.
	var err error
	if r.theirs, err = b.look(ctx, theirs); err != nil {
		return r, err
	}
	if r.ours, err = b.look(ctx, ours); err != nil {
		return r, err
	}
	r.pages = pages(r.ours.text)
	a, z := count(r.theirs.text), count(r.ours.text)
	r.theirs.found, r.ours.found, r.common = a.total(), z.total(), a.common(z)
	r.theirs.text, r.ours.text = "", ""
	if r.theirs.failed != "" || r.ours.failed != "" {
		return r, nil
	}
	if err := s.fetch(ctx, f); err != nil { // what is done once is done here
		return r, err
	}
	for range b.rounds {
		for side, command := range map[*side][]string{&r.theirs: theirs, &r.ours: ours} {
			u, err := b.run(ctx, command)
			if err != nil {
				return r, err
			}
			side.cpu, side.wall = append(side.cpu, u.cpu), append(side.wall, u.wall)
		}
		u, err := s.read(ctx, f)
		if err != nil {
			return r, err
		}
		r.service = append(r.service, u)
	}
	return r, nil
}

func (b *bench) pdftotextCommand(path string) []string { return []string{b.pdftotext, path, "-"} }

func (b *bench) siftCommand(path string) []string {
	return []string{b.sift, "convert", "--config", b.config, "--mode", "text", path}
}
