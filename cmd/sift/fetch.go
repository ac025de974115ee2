package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"sift.build/sift/internal/app"
	"sift.build/sift/internal/client"
	"sift.build/sift/internal/sift"
)

// fetchWorkers is how many URLs are under way at once. The gate's limits hold
// beside it: what it refuses is tried again.
const fetchWorkers = 8

// maxList bounds a list of URLs on standard input.
const maxList = 4 << 20

func (p *program) fetchCommand() *cobra.Command {
	var t sift.Target
	var mode, timeout, server, keyFile string
	var maxAge int
	var asJSON bool
	c := &cobra.Command{
		Use:   "fetch [flags] URL…",
		Short: "Fetch pages and print what was asked for",
		Long: `Fetch one or many URLs. The content goes to standard output and nothing else
does; notices go to standard error. Without a server this process fetches by
itself, with the same guard and cache; --server or $SIFT_URL names a server to
ask instead, $SIFT_KEY or --key-file the key for it.

"-", or no URL with a list piped in, reads one URL a line from standard input.`,
		Example: `  sift fetch https://example.com/
  sift fetch --mode outline https://go.dev/ref/spec
  sift fetch --max-chars 4000 --offset 4000 https://go.dev/ref/spec
  sift fetch --json - < urls.txt`,
	}
	f := c.Flags()
	f.StringVar(&mode, "mode", string(sift.ModeClean), "`MODE`: "+modeList())
	f.IntVar(&t.MaxChars, "max-chars", sift.DefaultMaxChars, "window on the content, in `CHARACTERS`")
	f.IntVar(&t.Offset, "offset", 0, "where the window starts, in `CHARACTERS`")
	f.StringVar(&t.Snapshot, "snapshot", "", "go on reading the very copy with this `ID`")
	f.IntVar(&maxAge, "max-age", 0, "newest cached copy that will do, in `SECONDS`; 0 fetches again")
	f.StringVar(&timeout, "timeout", "", "one deadline for each URL, in `SECONDS` or as 1m30s")
	f.BoolVar(&asJSON, "json", false, "print one JSON envelope a line, failures too")
	f.StringVar(&server, "server", "", "ask the sift server at `URL` (default $SIFT_URL)")
	f.StringVar(&keyFile, "key-file", "", "`FILE` with the key for the server (default: $SIFT_KEY)")
	_ = c.RegisterFlagCompletionFunc("mode", cobra.FixedCompletions(modeNames(), cobra.ShellCompDirectiveNoFileComp))
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if !slices.Contains(sift.Modes(), sift.Mode(mode)) {
			return usagef("unknown mode %q; the modes are %s", mode, modeList())
		}
		t.Mode = sift.Mode(mode)
		if t.MaxChars < 1 {
			return usagef("--max-chars must be at least 1, not %d", t.MaxChars)
		}
		if t.Offset < 0 {
			return usagef("--offset must not be negative")
		}
		if f.Changed("max-age") {
			if maxAge < 0 {
				return usagef("--max-age must not be negative")
			}
			t.MaxAge = &maxAge
		}
		if timeout != "" {
			s, err := seconds(timeout)
			if err != nil {
				return err
			}
			t.Timeout = &s
		}
		urls, err := p.list(args)
		if err != nil {
			return err
		}
		if server == "" {
			server = p.env("SIFT_URL")
		}
		fetch, closeFetcher, err := p.fetcher(cmd.Context(), server, keyFile)
		if err != nil {
			return err
		}
		err = p.fetchAll(cmd.Context(), fetch, t, urls, asJSON)
		return errors.Join(err, closeFetcher())
	}
	return c
}

func modeNames() []string {
	var names []string
	for _, m := range sift.Modes() {
		names = append(names, string(m))
	}
	return names
}

func modeList() string { return strings.Join(modeNames(), ", ") }

// seconds reads "5", "1.5" or a Go duration.
func seconds(s string) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		d, derr := time.ParseDuration(s)
		if derr != nil {
			return 0, usagef("--timeout %q is neither a number of seconds nor a duration such as 1m30s", s)
		}
		v = d.Seconds()
	}
	if !(v > 0) { // NaN too
		return 0, usagef("--timeout must be more than 0")
	}
	return v, nil
}

// list gives the arguments, or the lines of standard input for "-" and for no
// argument with something piped in. Blank lines and lines that begin with #
// are left out.
func (p *program) list(args []string) ([]string, error) {
	piped := len(args) == 0 && !isTerminal(p.in)
	var out []string
	read := false
	for _, a := range args {
		if a != "-" {
			out = append(out, a)
			continue
		}
		if read {
			return nil, usagef(`"-" stands for standard input and can be given once`)
		}
		read = true
		lines, err := p.lines()
		if err != nil {
			return nil, err
		}
		out = append(out, lines...)
	}
	if piped {
		lines, err := p.lines()
		if err != nil {
			return nil, err
		}
		out = lines
	}
	if len(out) == 0 {
		return nil, usagef("no URL given; name one, or pipe a list in with one URL a line")
	}
	return out, nil
}

func (p *program) lines() ([]string, error) {
	b, err := io.ReadAll(io.LimitReader(p.in, maxList+1))
	if err != nil {
		return nil, fmt.Errorf("read standard input: %w", err)
	}
	if len(b) > maxList {
		return nil, usagef("the list on standard input is longer than %d bytes", maxList)
	}
	var out []string
	sc := bufio.NewScanner(strings.NewReader(string(b)))
	sc.Buffer(nil, maxList+1)
	for sc.Scan() {
		if line := strings.TrimSpace(sc.Text()); line != "" && line[0] != '#' {
			out = append(out, line)
		}
	}
	return out, sc.Err()
}

// answer is what one URL came to: an envelope as JSON with its content, or a
// failure.
type answer struct {
	json    []byte
	content string
	notices []string
	failure *sift.Failure
}

type fetchFunc func(ctx context.Context, t sift.Target) answer

// fetcher gives the way to fetch: a server's, or this process's own.
func (p *program) fetcher(ctx context.Context, server, keyFile string) (fetchFunc, func() error, error) {
	if server != "" {
		key, err := p.key(keyFile)
		if err != nil {
			return nil, nil, err
		}
		c, err := client.New(client.Config{URL: server, Key: key})
		if err != nil {
			return nil, nil, &usageError{err}
		}
		return func(ctx context.Context, t sift.Target) answer {
			a, err := c.FetchTarget(ctx, t)
			if err != nil {
				return failed(err)
			}
			return answered(&a.Envelope, a.JSON)
		}, func() error { c.Close(); return nil }, nil
	}
	if keyFile != "" {
		return nil, nil, usagef("--key-file goes with --server or $SIFT_URL")
	}
	cfg, err := p.load(nil)
	if err != nil {
		return nil, nil, err
	}
	local, err := app.OpenLocal(ctx, cfg, p.quietLog(), func(s string) { fmt.Fprintln(p.err, "sift:", s) })
	if err != nil {
		return nil, nil, err
	}
	return func(ctx context.Context, t sift.Target) answer {
		env, err := local.FetchTarget(ctx, t)
		if err != nil {
			return failed(err)
		}
		return answered(env, env.AppendJSON(nil))
	}, local.Close, nil
}

func failed(err error) answer {
	f := sift.AsFailure(err)
	raw, err := json.Marshal(f.JSON())
	if err != nil {
		raw = []byte("{}") // strings and numbers cannot fail to encode
	}
	return answer{json: raw, failure: f}
}

func answered(env *sift.Envelope, raw []byte) answer {
	a := answer{json: raw, content: env.Content}
	for _, w := range env.Warnings {
		a.notices = append(a.notices, fmt.Sprintf("%s: %s", w.Code, w.Message))
	}
	if env.NextOffset != nil {
		a.notices = append(a.notices, fmt.Sprintf("%d of %d characters; go on with --offset %d --snapshot %s",
			env.Chars, env.TotalChars, *env.NextOffset, env.Snapshot))
	}
	return a
}

// fetchAll fetches every URL, several at once, and prints the answers in the
// order asked.
func (p *program) fetchAll(ctx context.Context, fetch fetchFunc, t sift.Target, urls []string, asJSON bool) error {
	answers := make([]chan answer, len(urls))
	for i := range answers {
		answers[i] = make(chan answer, 1)
	}
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	next := make(chan int)
	wg.Go(func() {
		defer close(next)
		for i := range urls {
			select {
			case next <- i:
			case <-ctx.Done():
				return
			}
		}
	})
	for range min(fetchWorkers, len(urls)) {
		wg.Go(func() {
			for i := range next {
				target := t
				target.URL = urls[i]
				answers[i] <- fetchPatiently(ctx, fetch, target)
			}
		})
	}

	failures, code := 0, exitOK
	for i := range urls {
		var a answer
		select {
		case a = <-answers[i]:
		case <-ctx.Done():
			return ctx.Err()
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if a.failure != nil {
			failures++
			if code == exitOK {
				code = exitCode(a.failure.Code)
			}
		}
		if err := p.print(urls[i], a, asJSON, len(urls) > 1); err != nil {
			return err
		}
	}
	switch {
	case failures == 0:
		return nil
	case failures < len(urls):
		return &exitError{exitPartial}
	default:
		return &exitError{code}
	}
}

// fetchPatiently waits where a gate says busy: on the command line many URLs
// of one host are ordinary.
func fetchPatiently(ctx context.Context, fetch fetchFunc, t sift.Target) answer {
	for {
		a := fetch(ctx, t)
		if a.failure == nil || a.failure.Code != sift.CodeBusy {
			return a
		}
		wait := time.NewTimer(min(max(a.failure.RetryAfter, 100*time.Millisecond), time.Minute))
		select {
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()
			return a
		}
	}
}

func (p *program) print(url string, a answer, asJSON, many bool) error {
	if asJSON {
		_, err := fmt.Fprintf(p.out, "%s\n", a.json)
		return err
	}
	if a.failure != nil {
		if many {
			fmt.Fprintf(p.err, "sift: %s\n", url)
		}
		p.complain(a.failure)
		if a.failure.UpstreamBody != "" {
			fmt.Fprintf(p.err, "the server said: %s\n", strings.TrimSpace(a.failure.UpstreamBody))
		}
		return nil
	}
	for _, n := range a.notices {
		if many {
			fmt.Fprintf(p.err, "%s: ", url)
		}
		fmt.Fprintln(p.err, n)
	}
	text := a.content
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	if many {
		text += "\n"
	}
	_, err := io.WriteString(p.out, text)
	return err
}
