// Command demo shows a real sift at work: it serves Go's own documentation
// pages and some odd neighbours on a loopback port, starts `sift serve` and
// walks through what a person wants to see. It needs no network and no
// set-up, leaves nothing behind, and fails when anything is not as it should
// be, so that it is a test too.
//
//	go run ./demo -sift bin/sift
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"sift.build/sift/demo/server"
)

const (
	// On a slow and busy machine. The first PDF of a machine waits until the
	// engine that reads it has been compiled.
	walkWithin = 5 * time.Minute
	stepWithin = 2 * time.Minute
)

func main() {
	// SIGPIPE too: `make demo | head` must not leave a server behind.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr, coloured(os.Stdout))
	stop()
	os.Exit(code)
}

// coloured reports whether somebody sees colours there and has not said that
// they do not want them (https://no-color.org).
func coloured(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// run is the command without its process: the exit code is 0 when all was as
// expected, 1 when not, and 2 when it was called wrongly.
func run(ctx context.Context, args []string, stdout, stderr io.Writer, colour bool) int {
	flags := flag.NewFlagSet("demo", flag.ContinueOnError)
	flags.SetOutput(stderr)
	binary := flags.String("sift", "bin/sift", "the sift binary to show")
	doc := flags.String("doc", "", "folder with asm.html, go_mem.html and go_spec.html; default: Go's own doc folder")
	stay := flags.Bool("stay", false, "keep the site and sift running at the end, until Ctrl-C")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if flags.NArg() > 0 {
		fmt.Fprintf(stderr, "demo: takes no arguments, got %q\n", flags.Args())
		return 2
	}
	d := &demo{binary: *binary, out: &transcript{w: stdout, colour: colour}}
	err := d.show(ctx, *doc, *stay)
	switch {
	case err == nil:
		return 0
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, "demo: interrupted; everything it started has been stopped and removed")
	default:
		fmt.Fprintln(stderr, "demo:", err)
	}
	return 1
}

// demo is one run.
type demo struct {
	binary string
	out    *transcript

	site   *site
	url    string // of the site
	sift   *server.Server
	client *http.Client
}

// show sets everything up, walks, and takes everything down again.
func (d *demo) show(ctx context.Context, doc string, stay bool) (err error) {
	start := time.Now()
	if _, err := os.Stat(d.binary); err != nil {
		return fmt.Errorf("%w; `make build` makes it", err)
	}
	if doc == "" {
		if doc, err = goDoc(ctx); err != nil {
			return err
		}
	}
	if d.site, err = newSite(doc); err != nil {
		return err
	}
	handler, err := d.site.handler()
	if err != nil {
		return err
	}
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen for the local site: %w", err)
	}
	d.url = "http://" + listener.Addr().String()
	web := &http.Server{Handler: handler, ReadHeaderTimeout: stepWithin}
	served := make(chan error, 1)
	go func() { served <- web.Serve(listener) }()
	defer func() {
		_ = web.Close()
		if e := <-served; !errors.Is(e, http.ErrServerClosed) {
			err = errors.Join(err, fmt.Errorf("the local site ended early: %w", e))
		}
	}()

	dir, err := os.MkdirTemp("", "sift-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	d.sift, err = server.Start(ctx, server.Config{
		Binary: d.binary, Dir: dir,
		Settings: fmt.Sprintf("[guard]\nallow = [%q]\n[recover]\narchive = %q", listener.Addr().String(), d.url),
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.sift.Stop()) }()
	d.client = &http.Client{Transport: &http.Transport{}, Timeout: stepWithin}
	defer d.client.CloseIdleConnections()

	d.out.printf("%s  a real service, a site of real pages, no network\n\n", d.out.paint("1", "sift demo"))
	d.out.printf("  site   %s  asm.html, go_mem.html, go_spec.html from %s, and odd neighbours\n", d.url, doc)
	d.out.printf("  sift   %s  %s serve --config %s\n", d.sift.URL, d.binary, d.sift.File)
	d.out.printf("         ready %s after it was started; one private address is open to it:\n", short(d.sift.Ready))
	d.out.printf("         [guard] allow = [%q]\n", listener.Addr().String())

	steps := d.steps()
	good, err := d.walk(ctx, steps)
	if err != nil {
		return err
	}
	if stay {
		err := d.verdict(good, len(steps), start)
		d.out.printf("The site and sift go on running: try the commands above. Ctrl-C ends them.\n")
		<-ctx.Done()
		return err
	}
	// Stopping is part of what is shown: a service must go when it is asked.
	if err := d.sift.Stop(); err != nil {
		return err
	}
	return d.verdict(good, len(steps), start)
}

func (d *demo) verdict(good, all int, start time.Time) error {
	d.out.printf("\n%s\n", d.out.paint("1", fmt.Sprintf("demo: %d of %d steps as expected in %s", good, all, short(time.Since(start)))))
	if good < all {
		return fmt.Errorf("%d of %d steps were not as expected; they are marked above", all-good, all)
	}
	return nil
}

// walk takes the steps in order and counts those that went as expected.
func (d *demo) walk(ctx context.Context, steps []namedStep) (good int, err error) {
	ctx, cancel := context.WithTimeout(ctx, walkWithin)
	defer cancel()
	for i, named := range steps {
		s := &step{title: named.title}
		start := time.Now()
		stepCtx, cancel := context.WithTimeout(ctx, stepWithin)
		if err := named.take(stepCtx, s); err != nil {
			s.expect(false, "that the step could be taken at all: %v", err)
		}
		cancel()
		if ctx.Err() != nil {
			return good, fmt.Errorf("step %d (%s): %w", i+1, named.title, ctx.Err())
		}
		d.out.print(i+1, s, time.Since(start))
		if len(s.faults) == 0 {
			good++
		}
	}
	return good, nil
}

// goDoc finds the folder of HTML pages that comes with Go.
func goDoc(ctx context.Context) (string, error) {
	root := os.Getenv("GOROOT")
	if root == "" {
		out, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
		if err != nil {
			return "", fmt.Errorf("go env GOROOT: %w", err)
		}
		root = strings.TrimSpace(string(out))
	}
	return filepath.Join(root, "doc"), nil
}
