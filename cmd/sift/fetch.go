package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sift.build/sift/internal/app"
	"sift.build/sift/internal/sift"
)

// fetchWorkers is how many URLs are under way at once. The gate's limits hold
// beside it: what it refuses is tried again.
const fetchWorkers = 8

// patience is how long a URL is tried again while a gate says busy, where no
// --timeout says it. Many URLs of one slow host take their time; a server that
// is busy for longer than this is not going to answer.
const patience = 5 * time.Minute

func (p *program) fetchCommand() *cobra.Command {
	var t sift.Target
	var mode, timeout, passwordFile string
	var maxAge int
	var asJSON bool
	var at remote
	c := &cobra.Command{
		Use:   "fetch [flags] URL…",
		Short: "Fetch pages and print what was asked for",
		Long: `Fetch one or many URLs. The content goes to standard output and nothing else
does; notices go to standard error. Without a server this process fetches by
itself, with the same guard and cache; --server or $SIFT_URL names a server to
ask instead, $SIFT_KEY or --key-file the key for it; --server "" names none.

"-", or no URL with a list piped in, reads one URL a line from standard input.`,
		Example: `  sift fetch https://example.com/
  sift fetch --mode outline https://go.dev/ref/spec
  sift fetch --question 'How long are backups kept?' https://example.com/manual.pdf
  sift fetch --jq '.items[].id' https://api.example.com/items
  sift fetch --section 'Type assertions' https://go.dev/ref/spec
  sift fetch --grep '(?i)memory model' https://go.dev/ref/spec
  sift fetch --recover --min-date 2026-03-31 https://example.com/gone
  sift fetch --pages 1-3 https://example.com/paper.pdf
  sift fetch --max-chars 4000 --offset 4000 https://go.dev/ref/spec
  sift fetch --json - < urls.txt
  SIFT_KEY=$(cat key) sift fetch --server https://sift.example.com https://example.com/`,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	f := c.Flags()
	f.StringVar(&mode, "mode", string(sift.ModeClean), "`MODE`: "+modeList())
	f.StringVar(&t.Question, "question", "", "only the passages that answer the `QUESTION`")
	f.StringVar(&t.Section, "section", "", "only what stands under the `HEADING`, given by its text or anchor")
	f.StringVar(&t.Grep, "grep", "", "only the lines that match the RE2 `PATTERN`, with two around each")
	f.StringVar(&t.JQ, "jq", "", "run the jq `PROGRAM` on a JSON body and print its outputs")
	f.BoolVar(&t.Context, "context", false, "with --json: add where the page sits: breadcrumbs, authors, dates, feeds, links by host …")
	f.BoolVar(&t.Recover, "recover", false, "where the page fails or shows nothing, take its embedded data, an older copy or an archived one")
	f.StringVar(&t.MinDate, "min-date", "", "with --recover: no copy older than `DATE`, such as 2026-03-31")
	f.StringVar(&t.Pages, "pages", "", "`PAGES` of a PDF, such as 1-3,7,10-")
	f.StringVar(&passwordFile, "password-file", "", "`FILE` with the password of a PDF")
	f.IntVar(&t.MaxChars, "max-chars", sift.DefaultMaxChars, "window on the content, in `CHARACTERS`")
	f.IntVar(&t.Offset, "offset", 0, "where the window starts, in `CHARACTERS`")
	f.StringVar(&t.Snapshot, "snapshot", "", "go on reading the very copy with this `ID`")
	f.IntVar(&maxAge, "max-age", 0, "newest cached copy that will do, in `SECONDS`; 0 fetches again")
	f.StringVar(&timeout, "timeout", "", "one deadline for each URL, in `SECONDS` or as 1m30s; the configured one holds too")
	f.BoolVar(&asJSON, "json", false, "print one JSON envelope a line, failures too")
	at.addTo(f, "")
	_ = c.RegisterFlagCompletionFunc("mode", cobra.FixedCompletions(modeNames(), cobra.ShellCompDirectiveNoFileComp))
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if !slices.Contains(sift.Modes(), sift.Mode(mode)) {
			return unknownMode(mode)
		}
		t.Mode = sift.Mode(mode)
		for flag, value := range map[string]string{"question": t.Question, "section": t.Section, "grep": t.Grep, "jq": t.JQ} {
			// An unset variable of a shell must not fetch the whole page.
			if f.Changed(flag) && strings.TrimSpace(value) == "" {
				return usagef("--%s is empty; leave it out to get the whole content", flag)
			}
		}
		if t.Context && !asJSON {
			return usagef("--context is part of the envelope; ask for it with --json")
		}
		if t.MaxChars < 1 {
			return usagef("--max-chars must be at least 1, not %d", t.MaxChars)
		}
		if t.Offset < 0 {
			return usagef("--offset must not be negative")
		}
		var err error
		if _, t.Password, err = p.pdfOptions(cmd.Context(), t.Pages, passwordFile); err != nil {
			return err
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
		if at.server(p) == "" && (at.keyFile != "" || at.unencrypted) {
			return usagef("--key-file and --send-key-unencrypted go with --server or $SIFT_URL")
		}
		urls, err := p.list(cmd.Context(), args)
		if err != nil {
			return err
		}
		fetch, closeFetcher, err := p.fetcher(cmd.Context(), &at)
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

func unknownMode(mode string) error {
	return usagef("unknown mode %q%s; the modes are %s", mode, didYouMean(mode, modeNames()), modeList())
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
	if !(v > 0) || math.IsInf(v, 1) { // NaN too
		return 0, usagef("--timeout must be a time above 0, not %s", s)
	}
	return v, nil
}

// answer is an envelope as JSON, with its content.
type answer struct {
	json    []byte
	content string
	notices []string
}

// fetchFunc answers one target. wait is how long it takes at least until a gate
// that was full is worth another try.
type fetchFunc func(ctx context.Context, t sift.Target) (a answer, wait time.Duration, err error)

// ownGateWait is the wait for a slot of this process: nobody else's fetches
// are in the way, and each ends by itself.
const ownGateWait = 100 * time.Millisecond

// fetcher gives the way to fetch: a server's, or this process's own.
func (p *program) fetcher(ctx context.Context, at *remote) (fetchFunc, func() error, error) {
	if server := at.server(p); server != "" {
		c, err := at.connect(p, server)
		if err != nil {
			return nil, nil, err
		}
		return func(ctx context.Context, t sift.Target) (answer, time.Duration, error) {
			a, err := c.FetchTarget(ctx, t)
			if err != nil {
				return answer{}, max(sift.AsFailure(err).RetryAfter, ownGateWait), err
			}
			return answered(&a.Envelope, a.JSON), 0, nil
		}, func() error { c.Close(); return nil }, nil
	}
	cfg, err := p.loadWithoutStore()
	if err != nil {
		return nil, nil, err
	}
	local, err := app.OpenLocal(ctx, cfg, p.quietLog(), func(s string) { fmt.Fprintln(p.err, "sift:", s) })
	if err != nil {
		return nil, nil, err
	}
	return func(ctx context.Context, t sift.Target) (answer, time.Duration, error) {
		env, err := local.FetchTarget(ctx, t)
		if err != nil {
			return answer{}, ownGateWait, err
		}
		return answered(env, env.AppendJSON(nil)), 0, nil
	}, local.Close, nil
}

func answered(env *sift.Envelope, raw []byte) answer {
	a := answer{json: raw, content: env.Content}
	if r := env.Recovered; r != nil && r.Source != sift.SourceLive {
		a.notices = append(a.notices, fmt.Sprintf("%s copy of %s, from %s", r.Source, r.CapturedAt.Format(time.RFC3339), r.URL))
	}
	for _, w := range env.Warnings {
		a.notices = append(a.notices, fmt.Sprintf("%s: %s", w.Code, w.Message))
	}
	if env.NextOffset != nil {
		more := fmt.Sprintf("%d of %d characters; go on with --offset %d", env.Chars, env.TotalChars, *env.NextOffset)
		if env.Snapshot != "" { // else the copy could not be kept, and the next window is of a new one
			more += " --snapshot " + env.Snapshot
		}
		a.notices = append(a.notices, more)
	}
	return a
}

// fetchAll fetches every URL, several at once, and prints the answers in the
// order asked.
func (p *program) fetchAll(ctx context.Context, fetch fetchFunc, t sift.Target, urls []string, asJSON bool) error {
	return each(ctx, p, urls, fetchWorkers, func(ctx context.Context, url string) (answer, error) {
		target := t
		target.URL = url
		return fetchPatiently(ctx, fetch, target)
	}, func(i int, a answer, f *sift.Failure) error {
		return p.print(urls[i], a, f, asJSON, len(urls) > 1)
	})
}

// fetchPatiently waits where a gate says busy: on the command line many URLs
// of one host are ordinary. The target's time counts from here, so that what
// it waits is taken from what it may still fetch.
func fetchPatiently(ctx context.Context, fetch fetchFunc, t sift.Target) (answer, error) {
	start, limit := time.Now(), patience
	if t.Timeout != nil {
		limit = time.Duration(min(*t.Timeout, (24*time.Hour).Seconds()) * float64(time.Second))
	}
	for {
		a, wait, err := fetch(ctx, t)
		if err == nil || sift.AsFailure(err).Code != sift.CodeBusy {
			return a, err
		}
		left := limit - time.Since(start) - wait
		if left <= 0 {
			return a, err
		}
		if t.Timeout != nil {
			s := left.Seconds()
			t.Timeout = &s
		}
		if pause(ctx, wait) != nil {
			return a, err
		}
	}
}

// print prints an answer, or the failure f.
func (p *program) print(url string, a answer, f *sift.Failure, asJSON, many bool) error {
	if asJSON {
		if f != nil {
			p.confess(f) // it is not part of the wire form
			raw, err := json.Marshal(f.JSON())
			if err != nil {
				return fmt.Errorf("encode failure: %w", err)
			}
			a.json = raw
		}
		_, err := fmt.Fprintf(p.out, "%s\n", a.json)
		return err
	}
	if f != nil {
		if many {
			fmt.Fprintf(p.err, "sift: %s\n", url)
		}
		p.complain(f)
		if f.UpstreamBody != "" {
			fmt.Fprintf(p.err, "the server said: %s\n", strings.TrimSpace(f.UpstreamBody))
		}
		return nil
	}
	for _, n := range a.notices {
		if many {
			fmt.Fprintf(p.err, "%s: ", url)
		}
		fmt.Fprintln(p.err, n)
	}
	return p.content(a.content, many)
}

// content prints one content with the end of its last line; among many, with a
// blank line behind it.
func (p *program) content(text string, many bool) error {
	text = endLine(text)
	if many {
		text += "\n"
	}
	_, err := io.WriteString(p.out, text)
	return err
}

// endLine ends the last line of a content, if there is one.
func endLine(text string) string {
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text
}
