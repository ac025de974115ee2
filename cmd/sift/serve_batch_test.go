package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sift.build/sift/internal/sift"
)

// list writes a batch of targets, each a URL alone.
func list(urls ...string) string {
	var targets []map[string]string
	for _, u := range urls {
		targets = append(targets, map[string]string{"url": u})
	}
	b, err := json.Marshal(map[string]any{"targets": targets})
	if err != nil {
		panic(err)
	}
	return string(b)
}

// submit submits a list and wants it to be taken.
func (s *server) submit(t testing.TB, key, body string) sift.Submitted {
	t.Helper()
	got := ask(http.MethodPost, s.url+"/v1/batch", key, body)
	var sub struct {
		Success bool
		sift.Submitted
	}
	if got.err != nil || got.status != http.StatusAccepted || json.Unmarshal([]byte(got.body), &sub) != nil || !sub.Success || sub.JobID == "" {
		t.Fatalf("submit: %+v", got)
	}
	return sub.Submitted
}

// job reads a job; query is ?wait=… or "".
func (s *server) job(t testing.TB, key, id, query string) sift.Job {
	t.Helper()
	got := ask(http.MethodGet, s.url+"/v1/batch/"+id+query, key, "")
	var job sift.Job
	if got.err != nil || got.status != http.StatusOK || json.Unmarshal([]byte(got.body), &job) != nil {
		t.Fatalf("read a job: %+v", got)
	}
	return job
}

// follow waits until a job is as wanted.
func (s *server) follow(t testing.TB, key, id, what string, wanted func(sift.Job) bool) sift.Job {
	t.Helper()
	deadline := time.Now().Add(within)
	query := ""
	for {
		job := s.job(t, key, id, query)
		if wanted(job) {
			return job
		}
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for a job that %s: %+v", what, job)
		}
		query = "?wait=2"
	}
}

func ended(j sift.Job) bool {
	if j.Status.Live() {
		return false
	}
	for _, t := range j.Targets {
		if t.Status == sift.TargetRunning {
			return false
		}
	}
	return true
}

func (s *server) cancel(t testing.TB, key, id string) string {
	t.Helper()
	got := ask(http.MethodDelete, s.url+"/v1/batch/"+id, key, "")
	var said struct {
		Success bool
		Status  string
	}
	if got.err != nil || got.status != http.StatusOK || json.Unmarshal([]byte(got.body), &said) != nil || !said.Success {
		t.Fatalf("cancel: %+v", got)
	}
	return said.Status
}

func states(j sift.Job) string {
	var out []string
	for _, t := range j.Targets {
		out = append(out, string(t.Status))
	}
	return string(j.Status) + ": " + strings.Join(out, " ")
}

func TestABatchIsTakenAtOnceAndCollectedLater(t *testing.T) {
	t.Parallel()
	site, dir := newSite(t), t.TempDir()
	s := serve(t, dir, nil, "--config", writeFile(t, dir, "sift.toml", site.settings("")))

	body := `{"targets":[{"url":"` + site.URL + `/article"},{"url":"` + site.URL + `/download/paper","pages":"1"},{"url":"` + site.URL + `/article","mode":"outline"},` +
		`{"url":"http://10.0.0.7/"},{"url":"` + site.URL + `/gone-page"},{"url":"` + site.URL + `/long","grep":"number1234 ","max_chars":500}]}`
	sub := s.submit(t, "", body)
	if sub.Reused || sub.Status != sift.JobQueued || sub.Targets != 6 || sub.Hint != "" {
		t.Errorf("submitted: %+v", sub)
	}
	job := s.follow(t, "", sub.JobID, "has ended", ended)
	if got, want := states(job), "partial: done done done failed failed done"; got != want {
		t.Fatalf("got %s, want %s", got, want)
	}
	if job.Targets[3].Error != "blocked: private address 10.0.0.7" || !strings.HasPrefix(job.Targets[4].Error, "upstream_4xx: the server answered 404") {
		t.Errorf("errors: %q, %q", job.Targets[3].Error, job.Targets[4].Error)
	}
	// Each result is what /v1/fetch answers for the same target.
	for i, target := range []string{`{"url":"` + site.URL + `/article"}`, `{"url":"` + site.URL + `/download/paper","pages":"1"}`, `{"url":"` + site.URL + `/article","mode":"outline"}`} {
		got := ask(http.MethodPost, s.url+"/v1/fetch", "", target)
		var fetched, stored map[string]any
		if json.Unmarshal([]byte(got.body), &fetched) != nil || json.Unmarshal(job.Targets[i].Result, &stored) != nil {
			t.Fatalf("%.200s and %.200s", got.body, job.Targets[i].Result)
		}
		for _, other := range []string{"cache", "timing"} { // the second is from the cache
			delete(fetched, other)
			delete(stored, other)
		}
		if diff := cmp.Diff(fetched, stored); diff != "" {
			t.Errorf("target %d: /v1/fetch and the batch differ:\n%s", i, diff)
		}
	}

	again := s.submit(t, "", strings.Replace(body, site.URL+"/article", strings.ToUpper(site.URL[:5])+site.URL[5:]+"/article", 1))
	if !again.Reused || again.JobID != sub.JobID || again.Status != sift.JobPartial || again.Hint != "" {
		t.Errorf("the same list, spelled another way: %+v", again)
	}
	if got := s.job(t, "", sub.JobID, "?after=4"); len(got.Targets) != 1 || got.Targets[0].Idx != 5 || got.TargetsTotal != 6 {
		t.Errorf("behind the fifth: %s", states(got))
	}
	start := time.Now()
	if s.job(t, "", sub.JobID, "?wait=30"); time.Since(start) > 10*time.Second {
		t.Error("a job that has ended was waited for")
	}
	fresh := s.submit(t, "", strings.Replace(body, `]}`, `],"fresh":true}`, 1))
	if fresh.Reused || fresh.JobID == sub.JobID {
		t.Errorf("a fresh one: %+v", fresh)
	}
	s.follow(t, "", fresh.JobID, "has ended", ended)
	if again := s.submit(t, "", body); again.JobID != fresh.JobID || !again.Reused {
		t.Errorf("after a fresh one: %+v", again)
	}
	var listed struct {
		Jobs []map[string]any `json:"jobs"`
	}
	got := get(s.url + "/v1/batch")
	if json.Unmarshal([]byte(got.body), &listed) != nil || len(listed.Jobs) != 2 || listed.Jobs[0]["job_id"] != fresh.JobID || listed.Jobs[1]["job_id"] != sub.JobID {
		t.Errorf("the list: %+v", got)
	}
	if strings.Contains(got.body, site.URL) {
		t.Error("the list of jobs holds their targets")
	}

	metrics := get(s.url + "/metrics").body
	for _, want := range []string{
		`sift_batch_jobs_total{outcome="created"} 2`, `sift_batch_jobs_total{outcome="reused"} 2`, `sift_batch_jobs_total{outcome="partial"} 2`,
		`sift_batch_targets_total{outcome="ok"} 8`, `sift_batch_targets_total{outcome="blocked"} 2`, `sift_batch_targets_total{outcome="upstream_4xx"} 2`,
		`sift_batch_queue_depth 0`, `sift_batch_targets_inflight 0`, `sift_batch_job_seconds_count 2`, `sift_batch_target_seconds_count 12`, `sift_batch_result_bytes_count 8`,
	} {
		if !strings.Contains(metrics, "\n"+want+"\n") {
			t.Errorf("the metrics lack %s", want)
		}
	}
	s.stop(t)
}

func TestASubmitIsRefusedUpFrontWithTheTargetAtFault(t *testing.T) {
	t.Parallel()
	site, dir := newSite(t), t.TempDir()
	s := serve(t, dir, nil, "--config", writeFile(t, dir, "sift.toml", site.settings("")))
	many := make([]string, 33)
	for i := range many {
		many[i] = fmt.Sprintf("%s/n/%d", site.URL, i)
	}
	for name, c := range map[string]struct {
		body   string
		status int
		says   []string
	}{
		"a port":                {list(site.URL+"/article", "http://public.example.net:8080/"), 422, []string{`"code":"blocked"`, "targets[1]", "8080"}},
		"a scheme":              {list("ftp://public.example.net/"), 422, []string{`"code":"blocked"`, "targets[0]"}},
		"one too many":          {list(many...), 422, []string{`"code":"cap"`, "32"}},
		"none":                  {`{"targets":[]}`, 400, []string{`"code":"invalid"`, "targets"}},
		"no list":               {`{}`, 400, []string{`"code":"invalid"`, "targets"}},
		"no JSON":               {`targets`, 400, []string{`"code":"invalid"`}},
		"an unknown field":      {`{"targets":[{"url":"` + site.URL + `"},{"url":"` + site.URL + `","colour":1}]}`, 400, []string{"targets[1]", "colour"}},
		"a wrong type":          {`{"targets":[{"url":5}]}`, 400, []string{"targets[0]", "url"}},
		"a password":            {`{"targets":[{"url":"` + site.URL + `","password":"x"}]}`, 400, []string{"targets[0]", "password"}},
		"a broken program":      {`{"targets":[{"url":"` + site.URL + `","jq":".a["}]}`, 400, []string{"targets[0]", "jq"}},
		"a bad pattern":         {`{"targets":[{"url":"` + site.URL + `","grep":"("}]}`, 400, []string{"targets[0]", "grep"}},
		"bad pages":             {`{"targets":[{"url":"` + site.URL + `","pages":"3-1"}]}`, 400, []string{"targets[0]", "3-1"}},
		"a duplicate key":       {`{"targets":[{"url":"` + site.URL + `","url":"` + site.URL + `"}]}`, 400, []string{"targets[0]", "url"}},
		"more than 256 KiB":     {`{"targets":[{"url":"` + site.URL + `/?` + strings.Repeat("x", 256<<10) + `"}]}`, 413, []string{`"code":"too_long"`, "262144"}},
		"fresh that is no flag": {`{"targets":[{"url":"` + site.URL + `"}],"fresh":"yes"}`, 400, []string{"fresh"}},
	} {
		got := ask(http.MethodPost, s.url+"/v1/batch", "", c.body)
		if got.err != nil || got.status != c.status || !containsAll(got.body, c.says) {
			t.Errorf("%s: %d %.300s, %v; want %d with %q", name, got.status, got.body, got.err, c.status, c.says)
		}
	}
	if got := get(s.url + "/v1/batch"); !strings.Contains(got.body, `"jobs":[]`) {
		t.Errorf("something was kept: %s", got.body)
	}
	if got := s.submit(t, "", list(many[:32]...)); got.Targets != 32 {
		t.Errorf("32 targets: %+v", got)
	}
	// A list as long as the body may be is taken.
	s.cancel(t, "", s.submit(t, "", list(many[:32]...)).JobID)
	long := make([]string, 30)
	for i := range long {
		long[i] = fmt.Sprintf("%s/n/%d?%s", site.URL, i, strings.Repeat("y", 8000))
	}
	s.submit(t, "", list(long...))
	s.stop(t)
}

func TestNobodyLearnsOfAnothersJob(t *testing.T) {
	t.Parallel()
	site, dir := newSite(t), t.TempDir()
	s := serve(t, dir, nil, "--config", writeFile(t, dir, "sift.toml", site.settings(caller("anna")+caller("bert", "restricted = true"))))
	sub := s.submit(t, keyOf("anna"), list(site.URL+"/article"))
	s.follow(t, keyOf("anna"), sub.JobID, "has ended", ended)
	for _, method := range []string{http.MethodGet, http.MethodDelete, http.MethodHead, http.MethodPut} {
		others := ask(method, s.url+"/v1/batch/"+sub.JobID, keyOf("bert"), "")
		unknown := ask(method, s.url+"/v1/batch/"+strings.Repeat("a", len(sub.JobID)), keyOf("bert"), "")
		if others != unknown {
			t.Errorf("%s: %+v and %+v", method, others, unknown)
		}
		if method != http.MethodPut && others.status != http.StatusNotFound {
			t.Errorf("%s: %+v", method, others)
		}
		if nobody := ask(method, s.url+"/v1/batch/"+sub.JobID, "", ""); method != http.MethodPut && nobody.status != http.StatusUnauthorized {
			t.Errorf("%s without a key: %+v", method, nobody)
		}
	}
	if got := ask(http.MethodGet, s.url+"/v1/batch", keyOf("bert"), ""); !strings.Contains(got.body, `"jobs":[]`) {
		t.Errorf("the other's list: %s", got.body)
	}
	// The same list of another caller is another job.
	if other := s.submit(t, keyOf("bert"), list(site.URL+"/article")); other.Reused || other.JobID == sub.JobID {
		t.Errorf("%+v", other)
	}
	s.stop(t)
}

func TestTheCapsOnJobsSayWhatIsInTheWay(t *testing.T) {
	t.Parallel()
	site, dir := newSite(t), t.TempDir()
	more := caller("anna") + caller("bert") + caller("carl") + "[batch]\njobs_total = 2\n"
	s := serve(t, dir, nil, "--config", writeFile(t, dir, "sift.toml", site.settings(more)))
	first := s.submit(t, keyOf("anna"), list(site.URL+"/held/a"))
	receive(t, "the first target", site.arrived)
	refused := func(who, says string) {
		t.Helper()
		got := ask(http.MethodPost, s.url+"/v1/batch", keyOf(who), list(site.URL+"/article?of="+who))
		if got.status != http.StatusTooManyRequests || !containsAll(got.body, []string{`"code":"cap"`, `"retry_after":`, says}) {
			t.Errorf("%s: %+v", who, got)
		}
	}
	refused("anna", first.JobID)
	if again := s.submit(t, keyOf("anna"), list(site.URL+"/held/a")); !again.Reused || again.JobID != first.JobID {
		t.Errorf("the same list is no second job: %+v", again)
	}
	second := s.submit(t, keyOf("bert"), list(site.URL+"/held/b"))
	receive(t, "the second target", site.arrived)
	refused("carl", "2")
	// Cancelled is not live, though its target is still on its way.
	if got := s.cancel(t, keyOf("anna"), first.JobID); got != "cancelled" {
		t.Errorf("cancelled: %s", got)
	}
	s.submit(t, keyOf("carl"), list(site.URL+"/article?of=carl"))
	if got := s.cancel(t, keyOf("anna"), first.JobID); got != "cancelled" {
		t.Errorf("cancelled twice: %s", got)
	}
	site.release <- struct{}{}
	site.release <- struct{}{}
	if got := s.follow(t, keyOf("anna"), first.JobID, "has stored what was in flight", ended); states(got) != "cancelled: done" || got.TargetsDone != 1 {
		t.Errorf("the cancelled job: %s", states(got))
	}
	if got := s.follow(t, keyOf("bert"), second.JobID, "has ended", ended); states(got) != "done: done" {
		t.Errorf("the second job: %s", states(got))
	}
	if got := s.cancel(t, keyOf("bert"), second.JobID); got != "done" {
		t.Errorf("cancelled after its end: %s", got)
	}
	s.stop(t)
}

// Two fetches hold the host's slots; the batch waits for one, without a request
// to the site, until it is cancelled.
func TestACancelBreaksTheWaitForASlotAtOnce(t *testing.T) {
	t.Parallel()
	site, dir := newSite(t), t.TempDir()
	s := serve(t, dir, nil, "--config", writeFile(t, dir, "sift.toml", site.settings("")))
	first := later(func() reply { return s.fetch("", site.URL+"/held/1") })
	second := later(func() reply { return s.fetch("", site.URL+"/held/2") })
	receive(t, "the first fetch", site.arrived)
	receive(t, "the second fetch", site.arrived)
	sub := s.submit(t, "", list(site.URL+"/article", site.URL+"/plain.txt"))
	s.follow(t, "", sub.JobID, "runs", func(j sift.Job) bool { return j.Status == sift.JobRunning })
	s.waitMetric(t, `sift_fetch_requests_total{outcome="busy"} `, 2)
	if got := get(s.url + "/metrics").body; !strings.Contains(got, "\nsift_batch_targets_inflight 0\n") {
		t.Error("a target that waits for a slot counts as in flight")
	}
	start := time.Now()
	if got := s.cancel(t, "", sub.JobID); got != "cancelled" {
		t.Errorf("cancelled: %s", got)
	}
	job := s.follow(t, "", sub.JobID, "waits no more", ended)
	if took := time.Since(start); states(job) != "cancelled: pending pending" || took > 5*time.Second {
		t.Errorf("%s after %v", states(job), took)
	}
	close(site.release)
	for _, c := range []<-chan reply{first, second} {
		if got := receive(t, "a fetch", c); got.status != http.StatusOK {
			t.Errorf("%+v", got)
		}
	}
	if site.count("/article")+site.count("/plain.txt") != 0 {
		t.Error("the cancelled targets were fetched")
	}
	// With the slots free a batch goes through.
	again := s.submit(t, "", strings.Replace(list(site.URL+"/article", site.URL+"/plain.txt"), `]}`, `],"fresh":true}`, 1))
	if got := s.follow(t, "", again.JobID, "has ended", ended); states(got) != "done: done done" {
		t.Errorf("afterwards: %s", states(got))
	}
	s.stop(t)
}

// waitMetric waits until a counter has reached a number.
func (s *server) waitMetric(t testing.TB, series string, least int) {
	t.Helper()
	deadline := time.Now().Add(within)
	for {
		for line := range strings.Lines(get(s.url + "/metrics").body) {
			var n int
			if rest, ok := strings.CutPrefix(line, series); ok {
				if _, err := fmt.Sscan(rest, &n); err == nil && n >= least {
					return
				}
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s never came to %d", series, least)
		}
	}
}

// Two jobs wait for slots of a host that others keep busy. A third, to another
// host, is not held up by them.
func TestJobsThatWaitForASlotHoldUpNobody(t *testing.T) {
	t.Parallel()
	site, dir := newSite(t), t.TempDir()
	s := serve(t, dir, nil, "--config", writeFile(t, dir, "sift.toml", site.settings(caller("anna")+caller("bert")+caller("carl")+caller("dave"))))
	first := later(func() reply { return s.fetch(keyOf("dave"), site.URL+"/held/1") })
	second := later(func() reply { return s.fetch(keyOf("dave"), site.URL+"/held/2") })
	receive(t, "the first fetch", site.arrived)
	receive(t, "the second fetch", site.arrived)
	waiting := map[string]string{}
	for _, who := range []string{"anna", "bert"} {
		waiting[who] = s.submit(t, keyOf(who), list(site.URL+"/article?of="+who)).JobID
		s.follow(t, keyOf(who), waiting[who], "runs", func(j sift.Job) bool { return j.Status == sift.JobRunning })
	}
	_, port, _ := strings.Cut(site.addr, ":")
	other := s.submit(t, keyOf("carl"), list("http://other."+siteName+":"+port+"/article"))
	if got := s.follow(t, keyOf("carl"), other.JobID, "has ended", ended); states(got) != "done: done" {
		t.Errorf("the job to another host: %s, %+v", states(got), got.Targets)
	}
	for who, id := range waiting {
		if got := s.job(t, keyOf(who), id, ""); got.Status != sift.JobRunning {
			t.Errorf("%s's job does not wait: %s", who, states(got))
		}
	}
	close(site.release)
	for who, id := range waiting {
		if got := s.follow(t, keyOf(who), id, "has ended", ended); states(got) != "done: done" {
			t.Errorf("%s's job: %s", who, states(got))
		}
	}
	for _, c := range []<-chan reply{first, second} {
		receive(t, "a fetch", c)
	}
	s.stop(t)
}

func TestAJobIsGivenUpWhenItsCallersKeyIsTakenAway(t *testing.T) {
	t.Parallel()
	site, dir := newSite(t), t.TempDir()
	both, one := site.settings(caller("anna")+caller("bert")), site.settings(caller("bert"))
	config := writeFile(t, dir, "sift.toml", both)
	s := serve(t, dir, nil, "--config", config)
	sub := s.submit(t, keyOf("anna"), list(site.URL+"/held/a", site.URL+"/article", site.URL+"/plain.txt"))
	receive(t, "the target in flight", site.arrived)
	reload := func(text string, n int) {
		t.Helper()
		writeFile(t, dir, "sift.toml", text)
		s.signal(t, syscall.SIGHUP)
		if _, err := s.log.wait(s.exited, n, "callers re-read"); err != nil {
			t.Fatal(err)
		}
	}
	reload(one, 1)
	if got := ask(http.MethodGet, s.url+"/v1/batch/"+sub.JobID, keyOf("anna"), ""); got.status != http.StatusUnauthorized {
		t.Errorf("whose key was taken away: %+v", got)
	}
	site.release <- struct{}{}
	if _, err := s.log.wait(s.exited, 1, "batch job", sub.JobID, "failed"); err != nil {
		t.Fatal(err)
	}
	reload(both, 2)
	job := s.job(t, keyOf("anna"), sub.JobID, "")
	if states(job) != "failed: done pending pending" && states(job) != "failed: done failed pending" || !strings.HasPrefix(job.Error, "unauthorized: ") {
		t.Errorf("%s, %q", states(job), job.Error)
	}
	if site.count("/article")+site.count("/plain.txt") != 0 {
		t.Error("it went on for somebody who is not let in any more")
	}
	s.stop(t)
}

// Ten readers ask for a job of 8 MiB and do not read.
func TestReadersThatStandStillHoldUpNobody(t *testing.T) {
	t.Parallel()
	site, dir := newSite(t), t.TempDir()
	s := serve(t, dir, nil, "--config", writeFile(t, dir, "sift.toml", site.settings("")))
	sub := s.submit(t, "", noisy(site, 32))
	s.follow(t, "", sub.JobID, "has ended", ended)
	for range 10 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := fmt.Fprintf(conn, "GET /v1/batch/%s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", sub.JobID); err != nil {
			t.Fatal(err)
		}
		// The answer has begun, and goes no further than the buffers in between.
		if _, err := io.ReadFull(conn, make([]byte, 100)); err != nil {
			t.Fatal(err)
		}
	}
	start := time.Now()
	job := s.job(t, "", sub.JobID, "")
	total := 0
	for _, target := range job.Targets {
		total += len(target.Result)
	}
	if took := time.Since(start); states(job) != "done:"+strings.Repeat(" done", 32) || total < 7<<20 || total > 8<<20 || took > 15*time.Second {
		t.Errorf("%s, %d bytes after %v", states(job), total, took)
	}
	if got := get(s.url + "/v1/batch/unknown"); got.status != http.StatusNotFound {
		t.Errorf("an unknown job: %+v", got)
	}
	_ = s.Process.Kill() // a stop would wait for the readers
}

// noisy writes a list of long pages that take as much room as a result may.
func noisy(site *site, n int) string {
	var targets []string
	for i := range n {
		targets = append(targets, fmt.Sprintf(`{"url":"%s/noise?%d","max_chars":1000000}`, site.URL, i))
	}
	return `{"targets":[` + strings.Join(targets, ",") + `]}`
}

func TestResultsOutliveAStopAndWhatWasLiveIsFailed(t *testing.T) {
	t.Parallel()
	site, dir := newSite(t), t.TempDir()
	config := writeFile(t, dir, "sift.toml", site.settings("[batch]\njobs_per_caller = 3\n"))
	s := serve(t, dir, nil, "--config", config)
	whole := s.submit(t, "", list(site.URL+"/article"))
	want := s.follow(t, "", whole.JobID, "has ended", ended)
	// One has a target that is finished within the grace, one that is not.
	soon := s.submit(t, "", list(site.URL+"/held/soon", site.URL+"/plain.txt"))
	receive(t, "the target in flight", site.arrived)
	never := s.submit(t, "", list(site.URL+"/never", site.URL+"/plain.txt"))
	s.follow(t, "", never.JobID, "runs", func(j sift.Job) bool { return len(j.Targets) > 0 && j.Targets[0].Status == sift.TargetRunning })
	s.signal(t, syscall.SIGTERM)
	s.waitLog(t, "msg=stopping")
	site.release <- struct{}{}
	s.endsWith(t, 0)

	s = serve(t, dir, nil, "--config", config)
	if got := s.job(t, "", whole.JobID, ""); states(got) != states(want) || string(got.Targets[0].Result) != string(want.Targets[0].Result) {
		t.Errorf("the finished job: %s", states(got))
	}
	if got := s.job(t, "", soon.JobID, ""); states(got) != "failed: done pending" || got.Error != "restart" || got.TargetsDone != 1 {
		t.Errorf("what was in flight and came in time: %s, %q", states(got), got.Error)
	}
	got := s.job(t, "", never.JobID, "")
	if states(got) != "failed: failed pending" || got.Error != "restart" || got.Targets[0].Error != "restart" || got.Targets[0].Hint != sift.HintFresh || got.TargetsDone != 1 {
		t.Errorf("what was cut off: %s, %+v", states(got), got)
	}
	if again := s.submit(t, "", list(site.URL+"/never", site.URL+"/plain.txt")); !again.Reused || again.JobID != never.JobID || again.Status != sift.JobFailed || again.Hint != sift.HintFresh {
		t.Errorf("the same list: %+v", again)
	}
	if metrics := get(s.url + "/metrics").body; !strings.Contains(metrics, "\nsift_batch_jobs_total{outcome=\"restart\"} 2\n") {
		t.Error("the restart is not counted")
	}
	s.stop(t)
	if n := site.count("/plain.txt"); n != 0 {
		t.Errorf("a target behind the one in flight was fetched %d times", n)
	}
}

// A job is gone when it has not been read or moved for the time it is kept.
func TestAJobIsGoneWhenItsLeaseHasLapsed(t *testing.T) {
	t.Parallel()
	site, dir := newSite(t), t.TempDir()
	s := serve(t, dir, nil, "--config", writeFile(t, dir, "sift.toml", site.settings("[batch]\nttl = \"1500ms\"\n")))
	sub := s.submit(t, "", list(site.URL+"/article"))
	s.follow(t, "", sub.JobID, "has ended", ended)
	for range 8 { // each read renews it: together they take longer than it is kept
		time.Sleep(300 * time.Millisecond)
		s.job(t, "", sub.JobID, "")
	}
	if again := s.submit(t, "", list(site.URL+"/article")); !again.Reused {
		t.Errorf("within the lease: %+v", again)
	}
	time.Sleep(2 * time.Second)
	if got := get(s.url + "/v1/batch/" + sub.JobID); got.status != http.StatusNotFound {
		t.Errorf("after the lease: %+v", got)
	}
	if again := s.submit(t, "", list(site.URL+"/article")); again.Reused || again.JobID == sub.JobID {
		t.Errorf("after the lease: %+v", again)
	}
	s.stop(t)
}

// No line of the log, at any level, tells what a batch fetches: not even of a
// caller whose fetches it tells.
func TestTheLogDoesNotTellWhatABatchFetches(t *testing.T) {
	t.Parallel()
	site, dir := newSite(t), t.TempDir()
	for _, format := range []string{"text", "json"} {
		t.Run(format, func(t *testing.T) {
			dir := filepath.Join(dir, format)
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			s := serve(t, dir, nil, "--log-level", "debug", "--config",
				writeFile(t, dir, "sift.toml", site.settings(caller("anna")+caller("bert", "restricted = true")+"[log]\nformat = \""+format+"\"\n")))
			for _, who := range []string{"anna", "bert"} {
				sub := s.submit(t, keyOf(who), list(
					"http://first."+siteName+"/", site.URL+"/article", site.URL+"/gone-page", site.URL+"/inside", "http://"+privateName+"/secret-path",
					"http://"+mixedName+"/", site.URL+"/cut", site.URL+"/unasked", site.URL+"/download/broken", "http://nowhere.invalid/", "http://"+site.closed+"/",
				))
				s.follow(t, keyOf(who), sub.JobID, "has ended", ended)
				for _, query := range []string{"", "?wait=x", "?after=0"} {
					ask(http.MethodGet, s.url+"/v1/batch/"+sub.JobID+query, keyOf(who), "")
				}
				ask(http.MethodPost, s.url+"/v1/batch", keyOf(who), list(site.URL+"/article", "http://"+publicName+":8080/"))
				ask(http.MethodPost, s.url+"/v1/batch", keyOf(who), `{"targets":[{"url":"http://`+publicName+`/","colour":1}]}`)
				ask(http.MethodDelete, s.url+"/v1/batch/"+sub.JobID, keyOf(who), "")
			}
			s.stop(t)
			log := s.log.String()
			if !containsAll(log, []string{"batch job", "batch target", "anna", "bert"}) {
				t.Errorf("the log does not tell of batches at all:\n%s", log)
			}
			log = strings.ReplaceAll(log, `"allow":"`+site.addr, "")
			log = strings.ReplaceAll(log, `allow=`+site.addr, "") // the configuration's own word, at the start
			log = strings.ReplaceAll(strings.ReplaceAll(log, `"allow":"`+site.closed, ""), `allow=`+site.closed, "")
			for _, secret := range []string{siteName, publicName, privateName, mixedName, site.addr, site.closed, "nowhere", "secret-path", "gone-page", "10.0.0.7", "93.184.216.34", "/article"} {
				if i := strings.Index(log, secret); i >= 0 {
					t.Errorf("the log tells %q: %s", secret, log[max(0, i-300):min(len(log), i+100)])
				}
			}
		})
	}
}
