package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sift.build/sift/internal/client"
	"sift.build/sift/internal/sift"
)

const (
	// How long the server is asked to hold its answer back while nothing
	// changes: at first, and at most. The server goes by what it finds at the
	// request, so that what changed since its last answer shows only when this
	// is over; that is why it is short after a change, and doubles.
	firstStep = time.Second
	lastStep  = 30 * time.Second

	// outage is how long a server that has answered before is tried again.
	outage = time.Minute

	// The wait before another try, which doubles.
	firstRetry = 250 * time.Millisecond
	lastRetry  = 5 * time.Second
)

func (p *program) batchWaitCommand() *cobra.Command {
	var after, timeout string
	c := &cobra.Command{
		Use:        "wait [flags] JOB",
		SuggestFor: []string{"collect", "follow", "watch"},
		Short:      "Wait for a job and collect its results",
		Long: `Follow a job to its end. Each target is printed once, as one line of JSON in the
order submitted, as soon as it is finished: the object that the status has for
it, with the result or the error. Those that were not reached, because the job
was cancelled or failed, stand there as pending. How the job ended stands on standard error;
with --json it is one more line of JSON on standard output.

Exit codes: 0 when the job is done; 11 when it is partial, or was cancelled with
some targets answered; of a failed job the code of its first target's failure, 1
where the job itself failed (restart, store); 1 when it was cancelled before any
was answered.

Ctrl-C and --timeout end the waiting, not the job. A server that has answered
once and then goes away is tried again for a minute; one that cannot be reached
to begin with is not.`,
		Example: `  sift batch wait JOB > results.jsonl
  sift batch wait JOB | jq -r 'select(.status == "done") | .result.title'
  sift batch wait --timeout 5m --after 2 JOB`,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	p.askingCommand(c, "print how the job ended as one more line of JSON; a failure too", oneJob("wait"), func(ctx context.Context, b *batchCall, args []string) error {
		behind, err := targetIndex(after)
		if err != nil {
			return err
		}
		limit, err := waitLimit(timeout)
		if err != nil {
			return err
		}
		if err := b.connect(); err != nil {
			return err
		}
		return b.wait(ctx, args[0], behind, limit, false)
	})
	afterFlag(c, &after)
	c.Flags().StringVar(&timeout, "timeout", "", "wait no longer than that, in `SECONDS` or as 1m30s; the job goes on")
	return c
}

// waitLimit reads --timeout; 0 is no limit.
func waitLimit(timeout string) (time.Duration, error) {
	if timeout == "" {
		return 0, nil
	}
	s, err := seconds(timeout)
	if err != nil {
		return 0, err
	}
	return max(time.Duration(min(s, (365*24*time.Hour).Seconds())*float64(time.Second)), time.Millisecond), nil
}

// waiting is one job that is waited for.
type waiting struct {
	b    *batchCall
	job  func(ctx context.Context, id string, after int, wait time.Duration) (*client.Job, error)
	id   string
	bar  *waitBar
	next int // the index of the first target that has not been printed

	heard bool // the server has answered
	seen  tally
}

// wait prints the targets behind index after as they are finished, and decides
// how the program ends. heard says that the server has answered already.
func (b *batchCall) wait(ctx context.Context, id string, after int, limit time.Duration, heard bool) error {
	limited := ctx
	if limit > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	w := &waiting{b: b, job: b.c.Job, id: id, next: after + 1, heard: heard}
	job, err := w.follow(limited)
	w.bar.clear()
	switch {
	case err == nil:
		return w.end(ctx, job, after)
	case ctx.Err() != nil:
		w.goesOn("stopped waiting")
		return context.Canceled // what the interrupted call said is of no interest
	case limited.Err() != nil:
		w.goesOn("waited for " + limit.String())
		return sift.Fail(sift.CodeTimeout, "job %s has not ended within %s", shown(id), limit).WithHint(sift.HintRetry)
	case w.heard:
		if c := sift.AsFailure(err).Code; c == sift.CodeUnreachable || c == sift.CodeTimeout {
			w.goesOn("gave up waiting")
		}
	}
	return err
}

// goesOn says that the job goes on without this process, and how to collect it.
func (w *waiting) goesOn(what string) {
	args := []string{w.id}
	if w.next > 0 {
		args = []string{"--after", fmt.Sprint(w.next - 1), w.id}
	}
	w.b.p.notice("%s; the job goes on. Collect the rest with: %s", what, w.b.again("wait", args...))
	w.b.p.notice("or end it with: %s", w.b.again("cancel", w.id))
}

// follow asks until nothing of the job can change any more.
func (w *waiting) follow(ctx context.Context) (*client.Job, error) {
	var before sift.Job
	step := time.Duration(0) // to begin with, what is there already
	for {
		start := time.Now()
		job, err := w.ask(ctx, step)
		if err != nil {
			return nil, err
		}
		if w.bar == nil {
			w.bar = w.b.p.newWaitBar()
		}
		running, err := w.collect(job)
		if err != nil {
			return nil, err
		}
		if !job.Status.Live() && !running {
			return job, nil
		}
		w.bar.show(job.TargetsDone, job.TargetsTotal, w.seen.failed)
		if job.Status != before.Status || job.TargetsDone != before.TargetsDone {
			before, step = job.Job, firstStep
			continue
		}
		// A server that does not hold its answer back is not asked in a loop.
		if early := firstStep - time.Since(start); early > 0 {
			if err := pause(ctx, early); err != nil {
				return nil, err
			}
		}
		step = min(2*step, lastStep)
	}
}

// ask asks once for what has not been printed. A server that has answered
// before may be away for a while.
func (w *waiting) ask(ctx context.Context, step time.Duration) (*client.Job, error) {
	var since time.Time
	next := firstRetry
	for {
		job, err := w.job(ctx, w.id, w.next-1, step)
		if err == nil {
			if !since.IsZero() {
				w.bar.clear()
				w.b.p.notice("the server answers again")
			}
			w.heard = true
			return job, nil
		}
		f := sift.AsFailure(err)
		away := f.Code == sift.CodeUnreachable || f.Code == sift.CodeTimeout
		if again := f.Code == sift.CodeBusy || away && w.heard; !again || ctx.Err() != nil {
			return nil, err
		}
		if since.IsZero() {
			since = time.Now()
			w.bar.clear()
			w.b.p.notice("%s; trying again for %s", shown(f.Message), outage)
		}
		wait := max(next, f.RetryAfter)
		if time.Since(since)+wait > outage {
			return nil, err
		}
		next = min(2*next, lastRetry)
		if err := pause(ctx, wait); err != nil {
			return nil, err
		}
	}
}

// pause waits, unless ctx ends first.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// collect prints the finished targets that are next. running says that one is
// under way.
func (w *waiting) collect(job *client.Job) (running bool, err error) {
	raw, err := rawTargets(job)
	if err != nil {
		return false, err
	}
	finished := func(s sift.TargetStatus) bool { return s == sift.TargetDone || s == sift.TargetFailed }
	for i := range job.Targets {
		t := &job.Targets[i]
		running = running || t.Status == sift.TargetRunning
		if t.Idx == w.next && finished(t.Status) {
			if err := w.print(t, raw[i]); err != nil {
				return false, err
			}
		}
	}
	if running || job.Status.Live() {
		return running, nil
	}
	// No more will come: the rest is printed as it is.
	for i := range job.Targets {
		if t := &job.Targets[i]; t.Idx >= w.next {
			if err := w.print(t, raw[i]); err != nil {
				return false, err
			}
		}
	}
	return false, nil
}

// rawTargets gives the targets of a job as they came.
func rawTargets(job *client.Job) ([]json.RawMessage, error) {
	var wire struct {
		Targets []json.RawMessage `json:"targets"`
	}
	if err := json.Unmarshal(job.JSON, &wire); err != nil {
		return nil, fmt.Errorf("the targets of the job: %w", err)
	}
	if len(wire.Targets) != len(job.Targets) {
		return nil, fmt.Errorf("the job lists %d targets, and %d were read", len(wire.Targets), len(job.Targets))
	}
	return wire.Targets, nil
}

// print prints a target on standard output, and on a terminal what came of it.
func (w *waiting) print(t *sift.JobTarget, raw []byte) error {
	w.bar.clear()
	if err := w.b.line(raw); err != nil {
		return err
	}
	word, why := "ok", ""
	switch t.Status {
	case sift.TargetDone:
		w.seen.add(exitOK)
	case sift.TargetFailed:
		w.seen.add(exitCode(codeIn(t.Error)))
		word, why = "failed", ": "+t.Error
		if t.Hint != "" {
			why += " (hint: " + string(t.Hint) + ")"
		}
	case sift.TargetPending, sift.TargetRunning:
		word = "not reached"
	}
	w.next = max(w.next, t.Idx+1)
	w.bar.outcome(fmt.Sprintf("targets[%d] %s %s%s", t.Idx, word, shown(t.URL), shown(why)))
	return nil
}

// codeIn is the code in front of an error text; CodeInternal where there is
// none that we know.
func codeIn(text string) sift.Code {
	word, _, _ := strings.Cut(text, ":")
	for _, c := range sift.Codes() {
		if string(c) == word {
			return c
		}
	}
	return sift.CodeInternal
}

// end says how the job ended and decides the exit code by it.
func (w *waiting) end(ctx context.Context, job *client.Job, after int) error {
	seen := w.seen
	if after >= 0 && (job.Status == sift.JobFailed || job.Status == sift.JobCancelled) {
		// What the targets up to there came to decides too.
		whole, err := w.job(ctx, w.id, -1, 0)
		if err != nil {
			return err
		}
		seen = tally{}
		for _, t := range whole.Targets {
			switch t.Status {
			case sift.TargetDone:
				seen.add(exitOK)
			case sift.TargetFailed:
				seen.add(exitCode(codeIn(t.Error)))
			case sift.TargetPending, sift.TargetRunning:
			}
		}
	}
	text := fmt.Sprintf("job %s is %s: %d of %d targets finished", shown(w.id), job.Status, job.TargetsDone, job.TargetsTotal)
	if w.seen.failed > 0 {
		text += fmt.Sprintf(", %d failed", w.seen.failed)
	}
	if job.Error != "" {
		text += " (" + shown(job.Error) + ")"
	}
	w.b.p.notice("%s", text)
	if w.b.asJSON {
		only := job.Job
		only.Targets = nil
		raw, err := json.Marshal(only)
		if err != nil {
			return fmt.Errorf("encode job: %w", err)
		}
		if err := w.b.line(raw); err != nil {
			return err
		}
	}
	if code := jobExitCode(job.Job, seen); code != exitOK {
		return &exitError{code}
	}
	return nil
}

// jobExitCode is how the program ends after a job that ended so.
func jobExitCode(job sift.Job, seen tally) int {
	switch job.Status {
	case sift.JobDone:
		return exitOK
	case sift.JobPartial:
		return exitPartial
	case sift.JobCancelled:
		if seen.items > seen.failed {
			return exitPartial
		}
		return exitFailure
	case sift.JobFailed:
		if job.Error == "" && seen.code != exitOK {
			return seen.code
		}
		return exitFailure
	case sift.JobQueued, sift.JobRunning:
	}
	return exitFailure
}

// waitBar shows on a terminal how far a job is: one line that is written over,
// and above it one line for each target. The nil waitBar shows nothing.
type waitBar struct{ w io.Writer }

// newWaitBar shows a bar, if somebody can see it. Standard output may be the
// same terminal: the bar is taken away before anything is written there.
func (p *program) newWaitBar() *waitBar {
	if !isTerminal(p.err) || p.env("TERM") == "dumb" {
		return nil
	}
	return &waitBar{p.err}
}

const barWidth = 20

func (b *waitBar) show(done, total, failed int) {
	if b == nil || total < 1 {
		return
	}
	full := min(done, total) * barWidth / total
	text := fmt.Sprintf("[%s%s] %d of %d", strings.Repeat("#", full), strings.Repeat(".", barWidth-full), done, total)
	if failed > 0 {
		text += fmt.Sprintf(", %d failed", failed)
	}
	fmt.Fprint(b.w, eraseLine+text)
}

func (b *waitBar) clear() {
	if b != nil {
		fmt.Fprint(b.w, eraseLine)
	}
}

func (b *waitBar) outcome(line string) {
	if b != nil {
		fmt.Fprintln(b.w, line)
	}
}
