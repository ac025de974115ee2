package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"sift.build/sift/tools/report"
)

// first is what was wrong first; "": nothing was.
func (c *checks) first() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.all {
		if len(k.said) > 0 {
			return k.said[0]
		}
	}
	return ""
}

// lastLook reads every job a last time and judges it.
func (s *soak) lastLook(ctx context.Context) map[*job]*view {
	views := make(map[*job]*view)
	jobs := s.book.snapshot()
	random := rand.New(rand.NewPCG(s.seed, 77))
	for _, j := range jobs {
		v, a := s.read(ctx, j, -1, 0)
		if ctx.Err() != nil {
			return nil
		}
		if s.checks.that(v != nil, checkFound, "%s of %s: %s", j.id, j.owner.name, a.excerpt()) {
			views[j] = v
			s.judge(j, v)
		}
		if c := s.callers[random.IntN(len(s.callers))]; c != j.owner {
			s.tryForeign(ctx, c, j, random)
		}
	}
	var stored int
	for _, v := range views {
		stored += len(v.raw)
	}
	s.checks.that(stored < maxStored*9/10, checkBounds, "all jobs together are %d bytes: so much that some may have gone for want of room", stored)
	for _, c := range s.callers {
		s.checkList(ctx, c, jobs, views)
	}
	return views
}

// judge looks at a job that must have ended.
func (s *soak) judge(j *job, v *view) {
	answered, failed, pending := 0, 0, 0
	size := 0
	for _, t := range v.Targets {
		card := j.list.cards[t.Idx]
		size += len(t.Result)
		switch t.Status {
		case "done":
			answered++
		case "failed":
			failed++
		default:
			pending++
			s.checks.that(t.Status == "pending", checkEnded, "%s (%s): target %d is %s", j.id, v.Status, t.Idx, t.Status)
			continue
		}
		s.checks.that(slices.Contains(card.kind.allow, t.outcome()), checkOutcomes, "%s of kind %s: %s %q of job %s", card.url, card.kind.name, t.Status, t.Error, j.id)
		if t.Status != "done" {
			continue
		}
		e, err := decode(t.Result)
		s.checks.that(err == nil && e.Success && e.URL == card.url && strings.Contains(e.Content, card.want(s.site, j.list)), checkContents,
			"%s of kind %s holds no %q: %v %.300s", card.url, card.kind.name, card.want(s.site, j.list), err, t.Result)
	}
	s.checks.that(size <= maxJob, checkBounds, "%s: results of %d bytes", j.id, size)
	var fits bool
	switch v.Status {
	case "done":
		fits = failed == 0 && pending == 0
	case "failed":
		fits = answered == 0 && pending == 0
	case "partial":
		fits = answered > 0 && failed > 0 && pending == 0
	case "cancelled":
		j.mu.Lock()
		fits = j.cancelSent
		j.mu.Unlock()
	}
	s.checks.that(fits, checkEnded, "%s is %s, with %d targets answered, %d failed, %d pending", j.id, v.Status, answered, failed, pending)
}

// mostListed is how many jobs a list has.
const mostListed = 100

// checkList looks whether the list of a caller's jobs is the one that was kept here.
func (s *soak) checkList(ctx context.Context, c *caller, jobs []*job, views map[*job]*view) {
	a, err := s.ask(ctx, c, http.MethodGet, "/v1/batch", nil)
	var got struct {
		Jobs []view `json:"jobs"`
	}
	if err == nil {
		err = json.Unmarshal(a.body, &got)
	}
	if ctx.Err() != nil {
		return
	}
	var want []string
	for _, j := range slices.Backward(jobs) {
		if v := views[j]; j.owner == c && v != nil && len(want) < mostListed {
			want = append(want, fmt.Sprintf("%s %s %d/%d", j.id, v.Status, v.TargetsDone, v.TargetsTotal))
		}
	}
	var listed []string
	for _, v := range got.Jobs {
		listed = append(listed, fmt.Sprintf("%s %s %d/%d", v.JobID, v.Status, v.TargetsDone, v.TargetsTotal))
	}
	s.checks.that(err == nil && a.status == http.StatusOK && slices.Equal(listed, want), checkLists, "of %s: %v %d %v, want %v", c.name, err, a.status, listed, want)
}

// tally is what the jobs came to.
type tally struct {
	jobs, targets map[string]int // by outcome
	finished      int
	answered      int
	bytes         int // of results
}

func tallyOf(views map[*job]*view) tally {
	t := tally{jobs: make(map[string]int), targets: make(map[string]int)}
	for _, v := range views {
		t.jobs[v.Status]++
		for _, target := range v.Targets {
			if !target.finished() {
				continue
			}
			t.finished++
			t.targets[target.outcome()]++
			if target.Status == "done" {
				t.answered++
				t.bytes += len(target.Result)
			}
		}
	}
	return t
}

// namedTargets are the outcomes that the metrics tell apart.
var namedTargets = [...]string{codeOK, "blocked", "timeout", "busy", "upstream_4xx", "upstream_5xx", "unsupported", "too_long", "cancel"}

// countMetrics compares what the service has counted with what it has answered.
func (s *soak) countMetrics(ctx context.Context, views map[*job]*view) error {
	m, err := s.idle(ctx)
	if err != nil {
		return err
	}
	t := tallyOf(views)
	created, reused := s.book.count()
	same := func(series string, got float64, want int) {
		s.checks.that(got == float64(want), checkMetrics, "%s is %v, want %d", series, got, want)
	}
	for outcome, want := range map[string]int{
		"created": created, "reused": reused, "done": t.jobs["done"], "partial": t.jobs["partial"], "failed": t.jobs["failed"], "cancelled": t.jobs["cancelled"], "restart": 0, "other": 0,
	} {
		same("sift_batch_jobs_total "+outcome, m.outcome("sift_batch_jobs_total", outcome), want)
	}
	rest := t.finished
	for _, outcome := range namedTargets {
		same("sift_batch_targets_total "+outcome, m.outcome("sift_batch_targets_total", outcome), t.targets[outcome])
		rest -= t.targets[outcome]
	}
	same("sift_batch_targets_total other", m.outcome("sift_batch_targets_total", "other"), rest)
	same("sift_batch_targets_total of all outcomes", m.sum("sift_batch_targets_total"), t.finished)
	same("sift_batch_job_seconds_count", m["sift_batch_job_seconds_count"], created)
	same("sift_batch_target_seconds_count", m["sift_batch_target_seconds_count"], t.finished)
	same("sift_batch_result_bytes_count", m["sift_batch_result_bytes_count"], t.answered)
	same("sift_batch_result_bytes_sum", m["sift_batch_result_bytes_sum"], t.bytes)
	same("sift_gate_slots_in_use", m["sift_gate_slots_in_use"], 0)
	same("sift_gate_parse_bytes_in_use", m["sift_gate_parse_bytes_in_use"], 0)
	same("sift_pdf_running", m["sift_pdf_running"], 0)
	same("sift_children_memory_bytes", m["sift_children_memory_bytes"], 0)
	return nil
}

// checkSite looks at the batches from where the pages come from.
func (s *soak) checkSite(views map[*job]*view) {
	type place struct {
		l   *list
		idx int
	}
	runs := make(map[place]int)
	for j, v := range views {
		for _, t := range v.Targets {
			if name := j.list.cards[t.Idx].kind.name; name != "once" && name != "slow" {
				continue
			}
			n := 0
			if t.finished() {
				n = 1
			}
			runs[place{j.list, t.Idx}] += n
		}
	}
	for p, n := range runs {
		hits := s.site.hits(p.l.name, p.idx)
		s.checks.that(hits == n, checkOnce, "target %d of list %s was fetched %d times, and is finished in %d jobs", p.idx, p.l.name, hits, n)
	}
	found, lists := s.site.wrongs()
	for i := range max(lists, len(found)) {
		s.checks.that(i >= len(found), checkSerial, "%s", func() string {
			if i < len(found) {
				return found[i]
			}
			return ""
		}())
	}
}

// figures are the rows of the table that are not only checks.
func (s *soak) figures(views map[*job]*view, start, end levels) ([]report.Figure, error) {
	var rows []report.Figure
	for _, r := range []struct {
		class class
		p     float64
		bar   float64
	}{{cached, 50, barCached50}, {cached, 99, barCached99}, {fresh, 50, barFresh50}, {fresh, 99, barFresh99}} {
		c, err := compare(s.windows, func(w window) []time.Duration { return s.load.latencies(r.class, w) }, r.p)
		if err != nil {
			return nil, fmt.Errorf("the interactive load, %s: %w", r.class, err)
		}
		rows = append(rows, report.Figure{
			What: fmt.Sprintf("%s fetch, p%.0f with batches ÷ without", r.class, r.p), Value: fmt.Sprintf("%.2f", c.ratio), Bar: fmt.Sprintf("≤ %.0f", r.bar), Word: report.Within(c.ratio, r.bar),
			How: fmt.Sprintf("%s ÷ %s, %d requests in %d windows of each", report.Milliseconds(c.with), report.Milliseconds(c.without), c.requests, len(s.windows)/2),
		})
	}
	for c := range classes {
		s.checks.countAnswered(len(s.load.samples[c]))
	}
	s.checks.that(s.load.unsent == 0, checkLoad, "%d requests were not sent, since %d had no answer", s.load.unsent, mostWaiting)

	t := tallyOf(views)
	created, reused := s.book.count()
	var busy time.Duration
	for _, w := range s.windows {
		if w.batches {
			busy += w.end.Sub(w.start)
		}
	}
	outcomes := func(m map[string]int) string {
		var parts []string
		for _, k := range slices.Sorted(maps.Keys(m)) {
			parts = append(parts, fmt.Sprintf("%d %s", m[k], k))
		}
		return strings.Join(parts, ", ")
	}
	rows = append(rows,
		report.Figure{What: "jobs", Value: fmt.Sprint(created), How: fmt.Sprintf("%s; %d submits answered with a job that was there, %d told to wait", outcomes(t.jobs), reused, s.refusals)},
		report.Figure{What: "targets finished", Value: fmt.Sprint(t.finished), How: fmt.Sprintf("%s; %.0f s with batches", outcomes(t.targets), busy.Seconds())},
	)
	if n := len(s.watch.inFlight); n > 0 {
		rows = append(rows, report.Figure{
			What: "targets in flight, mean while batches ran", Value: fmt.Sprintf("%.2f", mean(s.watch.inFlight)),
			How: fmt.Sprintf("and %.1f jobs queued, in %d looks; a target that waits for a slot is not in flight", mean(s.watch.queued), n),
		})
	}
	rows = append(rows, report.Figure{What: "slow pages on a host that all share", Value: fmt.Sprint(s.sentHeld), How: fmt.Sprintf("interactive; %d answered busy, since both slots were taken", s.refusedHeld)})
	stored := 0
	for _, v := range views {
		stored += len(v.raw)
	}
	rows = append(rows, report.Figure{What: "all jobs as answered", Value: report.Megabytes(int64(stored)), Bar: "< " + report.Megabytes(maxStored), Word: mustBe(int64(stored), maxStored)})
	rows = append(rows, s.memoryFigures()...)
	if start.resident > 0 {
		rows = append(rows, report.Figure{What: "memory, service at rest", Value: report.Megabytes(end.resident), How: fmt.Sprintf("after the warm-up %s; what Go keeps for its next use is in both", report.Megabytes(start.resident))})
	}
	return append(rows, report.Figure{
		What: "goroutines, files, children, temporary files", Value: fmt.Sprintf("%.0f, %.0f, %.0f, %.0f", end.goroutines, end.files, end.children, end.temporary),
		How: fmt.Sprintf("at the start %.0f, %.0f, %.0f, %.0f", start.goroutines, start.files, start.children, start.temporary),
	}), nil
}

// countAnswered counts interactive requests that were answered well.
func (c *checks) countAnswered(n int) {
	for range n {
		c.that(true, checkLoad, "")
	}
}

// mustBe judges a figure that is a matter of correctness.
func mustBe(v, bar int64) report.Verdict {
	if v <= bar {
		return report.OK
	}
	return wrong
}

func (s *soak) memoryFigures() []report.Figure {
	growth := report.Figure{What: "memory, last third's peak over the first's", Bar: "≤ " + report.Megabytes(s.effort.growth), Word: report.Unseen}
	most := report.Figure{What: "memory, most at once", Bar: "< " + report.Megabytes(barMemory), Word: report.Unseen}
	if !hasProc() {
		growth.How, most.How = "needs Linux's /proc", "needs Linux's /proc"
		return []report.Figure{growth, most}
	}
	first, last, ever, enough := peaks(s.watch.memory, s.windows)
	if !enough {
		growth.How, most.How = "too few looks", "too few looks"
		return []report.Figure{growth, most}
	}
	parts := func(m memory) string {
		return fmt.Sprintf("%s (children %s)", report.Megabytes(m.all()), report.Megabytes(m.children))
	}
	growth.Value, growth.Word = report.Megabytes(last.all()-first.all()), mustBe(last.all()-first.all(), s.effort.growth)
	growth.How = fmt.Sprintf("%s, after %s; service and children, while batches ran", parts(last), parts(first))
	most.Value, most.Word = report.Megabytes(ever.all()), mustBe(ever.all(), barMemory)
	most.How = fmt.Sprintf("%s; up to %d children; %d looks, one every %s", parts(ever), s.watch.children, len(s.watch.memory), lookEvery)
	return []report.Figure{growth, most}
}
