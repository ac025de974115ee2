package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"sift.build/sift/internal/client"
	"sift.build/sift/internal/sift"
)

func (p *program) batchCommand() *cobra.Command {
	c := group(&cobra.Command{
		Use:   "batch",
		Short: "Hand a list of targets to the server, and collect them later",
		Long: `Hand a list of targets to a running server, go on with other work, and collect
what came of them once. The server fetches one after the other; what it has
fetched outlives a restart, and waits a day for whoever collects it.

The server is the one of --server or $SIFT_URL, else the one that the
configuration's listen address belongs to; $SIFT_KEY or --key-file is the key
for it.`,
		Example: `  sift batch submit urls.txt
  sift batch wait JOB > results.jsonl
  sift batch submit --wait urls.txt > results.jsonl`,
	})
	c.AddCommand(p.batchSubmitCommand(), p.batchStatusCommand(), p.batchWaitCommand(), p.batchCancelCommand(), p.batchListCommand())
	return c
}

// batchCall is what the commands about batches share.
type batchCall struct {
	p      *program
	cmd    *cobra.Command
	at     remote
	asJSON bool

	named bool // a server was named
	c     *client.Client
}

// askingCommand makes of c a command that asks a server. run is called with the
// client in place.
func (p *program) askingCommand(c *cobra.Command, jsonUsage string, check func(args []string) error, run func(ctx context.Context, b *batchCall, args []string) error) {
	b := &batchCall{p: p, cmd: c}
	b.at.addTo(c.Flags(), ", else the configured listen address")
	c.Flags().BoolVar(&b.asJSON, "json", false, jsonUsage)
	c.Args = func(_ *cobra.Command, args []string) error {
		if err := check(args); err != nil {
			return b.explain(&usageError{err: err})
		}
		return nil
	}
	c.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		// A flag behind the one that is wrong has not been read.
		words := p.args
		if i := slices.Index(words, "--"); i >= 0 {
			words = words[:i]
		}
		b.asJSON = b.asJSON || slices.Contains(words, "--json")
		return b.explain(&usageError{err: suggestFlag(cmd, err)})
	})
	c.RunE = func(cmd *cobra.Command, args []string) error {
		err := run(cmd.Context(), b, args)
		if b.c != nil {
			b.c.Close()
		}
		return b.explain(err)
	}
}

// connect makes the client. What is wrong with the arguments should have been
// said before.
func (b *batchCall) connect() error {
	server := b.at.server(b.p)
	b.named = server != ""
	var err error
	if !b.named {
		if server, err = b.p.ownServer(); err != nil {
			return err
		}
	}
	b.c, err = b.at.connect(b.p, server)
	return err
}

// explain hands a failure on: with --json on standard output, as its wire form,
// whether the server tells it or it is a mistake that was found here. The exit
// code stays.
func (b *batchCall) explain(err error) error {
	code, show := codeOf(b.cmd.Context(), err)
	if !show {
		return err
	}
	f, failed := errors.AsType[*sift.Failure](err)
	_, usage := errors.AsType[*usageError](err)
	switch {
	case b.asJSON && usage:
		f = sift.Fail(sift.CodeInvalid, "%s", strings.TrimPrefix(err.Error(), string(sift.CodeInvalid)+": "))
	case b.asJSON && !failed:
		f = sift.Fail(sift.CodeInternal, "%v", err)
	case usage || !failed:
		return err
	}
	if b.asJSON {
		raw, jsonErr := json.Marshal(f.JSON())
		if jsonErr != nil {
			return fmt.Errorf("encode failure: %w", jsonErr)
		}
		if err := b.line(raw); err != nil {
			return err
		}
		b.p.confess(f)
	} else {
		b.p.complain(err)
	}
	if !b.named && errors.Is(err, syscall.ECONNREFUSED) {
		b.p.notice("start it with `sift serve`, or name another server with --server or $SIFT_URL")
	}
	return &exitError{code}
}

// line prints one JSON value as one line: as it came, when it is one.
func (b *batchCall) line(raw []byte) error {
	raw = bytes.TrimSpace(raw)
	if bytes.ContainsAny(raw, "\r\n") { // of a JSON text they are space, or it would not be one
		var one bytes.Buffer
		if err := json.Compact(&one, raw); err != nil {
			return fmt.Errorf("the server's answer: %w", err)
		}
		raw = one.Bytes()
	}
	_, err := fmt.Fprintf(b.p.out, "%s\n", raw)
	return err
}

// notice prints a line about the work itself.
func (p *program) notice(format string, args ...any) {
	fmt.Fprintf(p.err, "sift: "+format+"\n", args...)
}

// again is the command line that goes on with a job: the same server and key,
// another verb.
func (b *batchCall) again(verb string, args ...string) string {
	words := []string{"sift", "batch", verb}
	if b.p.configFile != "" {
		words = append(words, "--config", b.p.configFile)
	}
	if b.at.flags.Changed("server") {
		words = append(words, "--server", b.at.url)
	}
	if b.at.keyFile != "" {
		words = append(words, "--key-file", b.at.keyFile)
	}
	if b.at.unencrypted {
		words = append(words, "--send-key-unencrypted")
	}
	for i, w := range words {
		words[i] = shellWord(w)
	}
	return strings.Join(append(words, args...), " ")
}

// shellWord quotes a word for a POSIX shell where it needs it.
func shellWord(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:@%+=,", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// shown is text of a server's answer as it may go to a terminal, in one line.
func shown(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

// oneJob wants the id of one job, and says what to write instead.
func oneJob(verb string) func(args []string) error {
	write := fmt.Sprintf("write: sift batch %s JOB", verb)
	return func(args []string) error {
		switch {
		case len(args) == 0:
			return fmt.Errorf("no job given; %s, with the job_id that `sift batch submit` printed; `sift batch list` shows them all", write)
		case len(args) > 1:
			return fmt.Errorf("one job at a time, not %d; %s", len(args), write)
		case args[0] == "":
			return fmt.Errorf("the job's id is empty; %s", write)
		}
		id := args[0]
		if strings.Contains(id, "://") {
			return fmt.Errorf("%s is a URL, no job's id; %s", sift.Quote(id), write)
		}
		strange := func(r rune) bool {
			return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.~", r))
		}
		if i := strings.IndexFunc(id, strange); i >= 0 {
			return fmt.Errorf("%s is no job's id: there is no %q in one; %s", sift.Quote(id), []rune(id[i:])[0], write)
		}
		if len(id) > maxJobID || strings.Trim(id, ".") == "" {
			return fmt.Errorf("%s is no job's id; %s", sift.Quote(id), write)
		}
		return nil
	}
}

// maxJobID is longer than any server's ids.
const maxJobID = 200

func (p *program) batchStatusCommand() *cobra.Command {
	var after string
	c := &cobra.Command{
		Use:        "status [flags] JOB",
		SuggestFor: []string{"get", "show", "state", "results"},
		Short:      "Print the state of a job, with the results so far",
		Long: `Print the whole state of a job as one line of JSON: its status, the counts, and
every target with its result or error as far as there is one. It does not wait.
The exit code says only whether the server answered.`,
		Example: `  sift batch status JOB
  sift batch status JOB | jq -r .status`,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	p.askingCommand(c, "the output is JSON in any case; with this a failure is too", oneJob("status"), func(ctx context.Context, b *batchCall, args []string) error {
		behind, err := targetIndex(after)
		if err != nil {
			return err
		}
		if err := b.connect(); err != nil {
			return err
		}
		job, err := b.c.Job(ctx, args[0], behind, 0)
		if err != nil {
			return err
		}
		return b.line(job.JSON)
	})
	afterFlag(c, &after)
	return c
}

func afterFlag(c *cobra.Command, after *string) {
	c.Flags().StringVar(after, "after", "", "leave out the targets up to this `INDEX`, which have been collected; -1 leaves out none")
}

// targetIndex reads --after; -1, or nothing, is in front of all targets.
func targetIndex(after string) (int, error) {
	if after == "" {
		return -1, nil
	}
	n, err := strconv.Atoi(after)
	if err != nil || n < -1 || n > 1e9 {
		return 0, usagef("--after %s is not the index of a target; they count from 0, and -1 leaves out none", sift.Quote(after))
	}
	return n, nil
}

func (p *program) batchCancelCommand() *cobra.Command {
	c := &cobra.Command{
		Use:        "cancel [flags] JOB",
		SuggestFor: []string{"delete", "stop", "rm", "abort"},
		Short:      "Stop a job before its next target",
		Long: `Stop a job before its next target and print the server's answer as one line of
JSON. The target that is being fetched is finished; what is there can still be
collected. A job that has ended stays as it is, and its status is printed.`,
		Example:           `  sift batch cancel JOB`,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	p.askingCommand(c, "the output is JSON in any case; with this a failure is too", oneJob("cancel"), func(ctx context.Context, b *batchCall, args []string) error {
		if err := b.connect(); err != nil {
			return err
		}
		answer, err := b.c.CancelBatch(ctx, args[0])
		if err != nil {
			return err
		}
		return b.line(answer.JSON)
	})
	return c
}

func (p *program) batchListCommand() *cobra.Command {
	c := &cobra.Command{
		Use:        "list [flags]",
		SuggestFor: []string{"ls", "jobs"},
		Short:      "List your jobs, the newest first",
		Long: `List the jobs of the caller whose key is used, the newest first, as a table or
as one line of JSON.`,
		Example: `  sift batch list
  sift batch list --json | jq -r '.jobs[].job_id'`,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	none := func(args []string) error {
		if len(args) > 0 {
			return fmt.Errorf("sift batch list takes no argument; of one job write: sift batch status %s", shellWord(args[0]))
		}
		return nil
	}
	p.askingCommand(c, "print the server's answer as one line of JSON, a failure too", none, func(ctx context.Context, b *batchCall, _ []string) error {
		if err := b.connect(); err != nil {
			return err
		}
		list, err := b.c.Jobs(ctx)
		if err != nil {
			return err
		}
		if b.asJSON {
			return b.line(list.JSON)
		}
		if len(list.Jobs) == 0 {
			b.p.notice("there are no jobs of yours")
			return nil
		}
		var table bytes.Buffer
		t := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
		fmt.Fprintln(t, "JOB\tSTATUS\tTARGETS\tCREATED\tERROR")
		for _, j := range list.Jobs {
			fmt.Fprintf(t, "%s\t%s\t%d/%d\t%s\t%s\n", shown(j.ID), j.Status, j.TargetsDone, j.TargetsTotal, j.CreatedAt.UTC().Format(time.RFC3339), shown(j.Error))
		}
		if err := t.Flush(); err != nil {
			return err
		}
		for line := range strings.Lines(table.String()) {
			if _, err := fmt.Fprintln(b.p.out, strings.TrimRight(line, " \n")); err != nil {
				return err
			}
		}
		return nil
	})
	return c
}
