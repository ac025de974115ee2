package batch_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sift.build/sift/internal/batch"
	"sift.build/sift/internal/sift"
)

// lines are the log's lines with that message.
func (w *world) lines(msg string) []map[string]any {
	w.Helper()
	var lines []map[string]any
	for s := bufio.NewScanner(strings.NewReader(w.log.String())); s.Scan(); {
		var line map[string]any
		if err := json.Unmarshal(s.Bytes(), &line); err != nil {
			w.Fatal(err)
		}
		if line["msg"] == msg {
			lines = append(lines, line)
		}
	}
	return lines
}

func TestTheLogHasALineForEveryStepOfAJobAndEveryTarget(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.pages["http://bad/"] = fails(missing())
		slow := w.hold("http://slow/")
		s := w.submit("a", "http://one/", "http://bad/", "http://slow/")
		time.Sleep(10 * time.Second)
		w.start()
		synctest.Wait()
		time.Sleep(5 * time.Second)
		w.submit("a", "http://one/", "http://bad/", "http://slow/") // reuse is no step
		slow <- outcome{result: large(1000)}
		synctest.Wait()
		cancelled := w.submit("a", "http://slow/")
		synctest.Wait()
		w.cancel("a", cancelled.JobID)
		w.cancel("a", cancelled.JobID)
		slow <- outcome{err: busy()}
		synctest.Wait()

		var got []string
		for _, l := range w.lines("batch job") {
			got = append(got, fmt.Sprint(l["job"], l["caller"], l["status"], l["targets"], l["done"], l["took"]))
		}
		job := func(id, status string, more ...any) string {
			return fmt.Sprint(append([]any{id, "a", status}, more...)...)
		}
		want := []string{
			job(s.JobID, "queued", 3.0, nil, nil), job(s.JobID, "running", 3.0, nil, nil), job(s.JobID, "partial", 3.0, 3.0, float64(15*time.Second)),
			job(cancelled.JobID, "queued", 1.0, nil, nil), job(cancelled.JobID, "running", 1.0, nil, nil), job(cancelled.JobID, "cancelled", 1.0, 0.0, 0.0),
		}
		if !slices.Equal(got, want) {
			t.Errorf("jobs:\n%s\nand not\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		got = nil
		for _, l := range w.lines("batch target") {
			if l["job"] != s.JobID {
				t.Errorf("a target of %s", l["job"])
			}
			got = append(got, fmt.Sprint(l["idx"], l["outcome"], l["took"], l["bytes"]))
		}
		size := float64(len(answer("http://one/").JSON))
		want = []string{fmt.Sprint(0.0, "ok", 0.0, size), fmt.Sprint(1.0, "upstream_4xx", 0.0, 0.0), fmt.Sprint(2.0, "ok", float64(5*time.Second), 1000.0)}
		if !slices.Equal(got, want) {
			t.Errorf("targets %q and not %q", got, want)
		}
	})
}

func TestTheLogTellsNothingOfWhatIsFetched(t *testing.T) {
	hosts := []string{"good.example", "gone.example", "panics.example", "exits.example", "breaks.example", "busy.example", "lost.example", "large.example", "refused.example", "withheld.example", "stopped.example"}
	for _, who := range []sift.Caller{
		{Name: "open", Class: "default"},
		{Name: "closed", Class: "vault", Restricted: true},
		{Name: "local", Anonymous: true},
	} {
		inWorld(t, func(t *testing.T, w *world) {
			f := w.faults()
			url := func(host string) string { return "https://" + host + "/secret-path?q=secret-query" }
			secret := func(host string) error { return fmt.Errorf("dial %s: %w", url(host), errors.New("10.0.0.7")) }
			set := func(host string, p page) { w.pages[url(host)] = p }
			set("gone.example", fails(sift.Fail(sift.CodeUnreachable, "no such name: %s", url("gone.example")).WithCause(secret("gone.example"))))
			set("panics.example", func(_ context.Context, t batch.Target) (batch.Result, error) { panic(t.URL) })
			set("exits.example", func(context.Context, batch.Target) (batch.Result, error) {
				runtime.Goexit()
				return batch.Result{}, nil
			})
			set("breaks.example", func(context.Context, batch.Target) (batch.Result, error) {
				return batch.Result{}, secret("breaks.example")
			})
			tries := 0
			set("busy.example", func(context.Context, batch.Target) (batch.Result, error) {
				if tries++; tries < 50 {
					return batch.Result{}, sift.Fail(sift.CodeBusy, "slots of %s are in use", "busy.example").WithCause(secret("busy.example"))
				}
				panic(fmt.Errorf("wrapped: %w", secret("busy.example")))
			})
			set("large.example", func(_ context.Context, t batch.Target) (batch.Result, error) { return large(t.MaxBytes + 1), nil })
			set("lost.example", func(context.Context, batch.Target) (batch.Result, error) {
				f.set(errFull, "FinishTarget", "FailJob")
				return answer(url("lost.example")), nil
			})
			set("withheld.example", fails(busy()))
			set("stopped.example", held(nil).page)

			submit := func(hosts ...string) string {
				t.Helper()
				var list []sift.Target
				for _, h := range hosts {
					list = append(list, sift.Target{URL: url(h), Grep: "secret-pattern", Snapshot: "secret-snapshot"})
				}
				s, err := w.Submit(t.Context(), who, list, false)
				if err != nil {
					t.Fatal(err)
				}
				return s.JobID
			}
			ended := func(id string) {
				t.Helper()
				for {
					j, err := w.Job(t.Context(), who, id, -1, time.Hour)
					if err != nil {
						t.Fatal(err)
					}
					if !j.Status.Live() {
						return
					}
				}
			}
			w.start()
			if _, err := w.Submit(t.Context(), who, urls(url("refused.example:8080")), false); err == nil {
				t.Fatal("it was accepted")
			}
			all := submit("good.example", "gone.example", "panics.example", "exits.example", "breaks.example", "busy.example", "large.example", "lost.example", "good.example")
			ended(all)
			f.set(nil, "FinishTarget", "FailJob")
			time.Sleep(time.Minute)
			submit("good.example", "gone.example", "panics.example", "exits.example", "breaks.example", "busy.example", "large.example", "lost.example", "good.example")
			waits := submit("withheld.example")
			time.Sleep(time.Minute)
			if _, err := w.Cancel(t.Context(), who, waits); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			stopped := submit("stopped.example")
			synctest.Wait()
			w.restart()
			w.start()
			ended(stopped)
			w.end()

			log := w.log.String()
			for _, needle := range append(hosts, "example", "secret", "http", "10.0.0.7", "no such name", "8080", w.store.jobs[all].IdemKey, w.store.jobs[all].IdemKey[:16]) {
				if i := strings.Index(log, needle); i >= 0 {
					t.Errorf("%q is in the log of %s: %s", needle, who.Name, log[max(0, i-300):min(len(log), i+100)])
				}
			}
			// It was all there to be told of.
			for msg, n := range map[string]int{
				"batch job": 9, "batch target": 8, "a batch target panicked": 3, "a batch target failed inside sift": 1,
				"a batch job cannot go on, the store failed": 1,
			} {
				if got := len(w.lines(msg)); got != n {
					t.Errorf("%d lines of %q, not %d", got, msg, n)
				}
			}
			for _, l := range w.lines("a batch target panicked") {
				stack, _ := l["stack"].(string)
				if !strings.Contains(stack, "log_test.go") || !slices.Contains([]any{"string", "*fmt.wrapError", "runtime.Goexit"}, l["panic"]) {
					t.Errorf("a panic is told as %q, %q", l["panic"], stack)
				}
			}
			if len(log) < 3000 {
				t.Errorf("the log is %q", log)
			}
		})
	}
}
