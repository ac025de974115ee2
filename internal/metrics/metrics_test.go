package metrics_test

import (
	"io"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"sift.build/sift/internal/api"
	"sift.build/sift/internal/child"
	"sift.build/sift/internal/gate"
	"sift.build/sift/internal/metrics"
	"sift.build/sift/internal/model"
	"sift.build/sift/internal/pdf"
	"sift.build/sift/internal/sift"
)

// scrape gives what a scraper reads.
func scrape(t *testing.T, m *metrics.Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	r := httptest.NewRequest("GET", "/metrics", nil)
	// What a Prometheus server sends; it must get text all the same.
	r.Header.Set("Accept", "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.6,"+
		"application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.2")
	r.Header.Set("Accept-Encoding", "gzip")
	m.Handler().ServeHTTP(w, r)
	if got := w.Header().Get("Content-Type"); w.Code != 200 || !strings.HasPrefix(got, "text/plain; version=0.0.4") {
		t.Fatalf("%d %s", w.Code, got)
	}
	return w.Body.String()
}

// ours gives the samples of our own series.
func ours(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "sift_") {
			out = append(out, strings.TrimSpace(line))
		}
	}
	return out
}

// want writes out the counters with every label value.
func want() []string {
	outcomes := []string{"ok", "other"}
	for _, code := range sift.Codes() {
		outcomes = append(outcomes, string(code))
	}
	var lines []string
	add := func(name, label string, values ...string) {
		for _, v := range values {
			lines = append(lines, name+"{"+label+`="`+v+`"} 0`)
		}
	}
	add("sift_fetch_requests_total", "outcome", outcomes...)
	add("sift_fetch_downloads_total", "outcome", outcomes...)
	add("sift_cache_lookups_total", "result", "hit", "miss", "revalidated", "shared", "bypass", "other")
	limits := []string{"other"}
	for _, r := range gate.Refusals() {
		limits = append(limits, string(r))
	}
	add("sift_gate_refusals_total", "gate", limits...)
	reads, kills := []string{"other"}, []string{"other"}
	for _, r := range pdf.Results() {
		reads = append(reads, string(r))
	}
	for _, r := range child.Reasons() {
		kills = append(kills, string(r))
	}
	add("sift_pdf_extractions_total", "outcome", reads...)
	add("sift_pdf_killed_total", "reason", kills...)
	models := []string{"other"}
	for _, o := range model.Outcomes() {
		models = append(models, string(o))
	}
	add("sift_model_embeddings_total", "outcome", models...)
	add("sift_model_chats_total", "outcome", models...)
	add("sift_batch_jobs_total", "outcome", "created", "reused", "done", "partial", "failed", "cancelled", "restart", "other")
	add("sift_batch_targets_total", "outcome", "ok", "blocked", "timeout", "busy", "upstream_4xx", "upstream_5xx", "unsupported", "too_long", "cancel", "other")
	add("sift_fetch_stage_seconds_count", "stage", "queue", "fetch", "render")
	statuses := []string{"200", "202", "405", "503", "other"}
	for _, code := range sift.Codes() {
		if s := strconv.Itoa(api.Status(&sift.Failure{Code: code})); !slices.Contains(statuses, s) {
			statuses = append(statuses, s)
		}
	}
	for _, route := range append(api.Routes(), "other") {
		for _, s := range statuses {
			lines = append(lines, `sift_http_requests_total{route="`+route+`",status="`+s+`"} 0`)
		}
	}
	for _, name := range []string{
		"sift_fetch_seconds_count", "sift_fetch_response_bytes_count", "sift_cache_bytes", "sift_cache_recovered_bytes", "sift_cache_digest_bytes", "sift_cache_embed_bytes", "sift_cache_entries", "sift_cache_evictions_total",
		"sift_cache_store_errors_total", "sift_gate_slots", "sift_gate_slots_in_use", "sift_gate_parse_bytes_in_use", "sift_gate_parse_waiting",
		"sift_pdf_seconds_count", "sift_pdf_running", "sift_pdf_queued", "sift_jq_running", "sift_jq_queued", "sift_children_memory_bytes", "sift_children_waiting",
		"sift_batch_queue_depth", "sift_batch_targets_inflight",
		"sift_model_seconds_count", "sift_batch_job_seconds_count", "sift_batch_target_seconds_count", "sift_batch_result_bytes_count",
	} {
		lines = append(lines, name+" 0")
	}
	slices.Sort(lines)
	return lines
}

func TestEverySeriesWithEveryLabelValueIsThereAtZeroFromTheStart(t *testing.T) {
	var got []string
	for _, line := range ours(scrape(t, metrics.New("1.2.3"))) {
		name, _, _ := strings.Cut(line, "{")
		if strings.HasSuffix(name, "_bucket") || strings.Contains(name, "_sum") || name == "sift_build_info" {
			if !strings.HasSuffix(line, " 0") && name != "sift_build_info" {
				t.Errorf("not at 0: %s", line)
			}
			continue
		}
		got = append(got, line)
	}
	slices.Sort(got)
	if diff := cmp.Diff(want(), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTheBuildIsNamed(t *testing.T) {
	text := scrape(t, metrics.New("1.2.3"))
	if !regexp.MustCompile(`(?m)^sift_build_info\{go_version="go1\.[^"]+",version="1\.2\.3"\} 1$`).MatchString(text) {
		t.Error("no sift_build_info with the version")
	}
	for _, series := range []string{"go_goroutines ", "process_start_time_seconds "} {
		if !strings.Contains(text, "\n"+series) {
			t.Errorf("%s is missing", series)
		}
	}
}

func TestWhatHappensIsCounted(t *testing.T) {
	m := metrics.New("v")
	before := ours(scrape(t, m))
	m.Fetched(metrics.Fetch{Outcome: "ok", Total: 30 * time.Millisecond, Fetch: 20 * time.Millisecond, Render: 10 * time.Millisecond, Bytes: 1000})
	m.Fetched(metrics.Fetch{Outcome: "blocked", Total: time.Minute})
	m.Fetched(metrics.Fetch{Outcome: "https://secret.example/"})
	m.PDFRead("ok", "", 80*time.Millisecond)
	m.PDFRead("timeout", "cpu", 21*time.Second)
	m.PDFRead("10.0.0.7", "https://secret.example/", time.Second)
	m.WatchChildren(func() metrics.Children {
		return metrics.Children{PDFRunning: 2, PDFQueued: 3, JQRunning: 1, JQQueued: 4, Bytes: 640 << 20, Waiting: 1}
	})
	for _, outcome := range []string{"created", "reused", "restart", "https://secret.example/"} {
		m.BatchJob(outcome, time.Hour) // none of these is an end
	}
	m.BatchJob("done", 90*time.Second)
	m.BatchJob("partial", 3*time.Hour)
	m.BatchJob("failed", -time.Second) // a clock that was set
	m.BatchJob("cancelled", time.Second)
	m.BatchTarget("ok", 2*time.Second)
	m.BatchTarget("unreachable", 30*time.Second)
	m.BatchTarget("secret.example", time.Second)
	m.BatchStored(200_000)
	m.WatchBatch(func() metrics.Batch { return metrics.Batch{Queued: 5, InFlight: 2} })
	m.Downloaded("ok")
	m.Downloaded("upstream_5xx")
	m.CacheLookup("shared")
	m.CacheLookup("secret.example")
	m.CacheEvicted(3)
	m.CacheEvicted(-1) // a counter must not fall
	m.CacheStoreFailed()
	m.GateRefused("host")
	m.GateRefused("secret.example")
	m.Requested("/v1/fetch", 429)
	m.Requested("/v1/fetch", 418)
	m.Requested("/healthz", 200)
	m.Requested("", 404)
	m.Requested("/secret.example", 200)
	m.ModelAsked("embeddings", "ok", time.Second)
	m.ModelAsked("chat", "https://secret.example/", 2*time.Second)
	m.ModelAsked("https://secret.example/", "ok", time.Second)
	m.WatchCache(func() metrics.Cache { return metrics.Cache{Entries: 4, Bytes: 5000} })
	m.WatchGate(func() metrics.Gate {
		return metrics.Gate{Slots: 8, SlotsInUse: 2, ParseBytesInUse: 1 << 20, ParseWaiting: 1}
	})

	text := scrape(t, m)
	if strings.Contains(text, "secret") {
		t.Error("a word from outside became a label")
	}
	var changed []string
	for _, line := range ours(text) {
		if !slices.Contains(before, line) && !strings.Contains(line, "_bucket") {
			changed = append(changed, line)
		}
	}
	slices.Sort(changed)
	want := []string{
		`sift_batch_job_seconds_count 4`,
		`sift_batch_job_seconds_sum 10891`,
		`sift_batch_jobs_total{outcome="cancelled"} 1`,
		`sift_batch_jobs_total{outcome="created"} 1`,
		`sift_batch_jobs_total{outcome="done"} 1`,
		`sift_batch_jobs_total{outcome="failed"} 1`,
		`sift_batch_jobs_total{outcome="other"} 1`,
		`sift_batch_jobs_total{outcome="partial"} 1`,
		`sift_batch_jobs_total{outcome="restart"} 1`,
		`sift_batch_jobs_total{outcome="reused"} 1`,
		`sift_batch_queue_depth 5`,
		`sift_batch_result_bytes_count 1`,
		`sift_batch_result_bytes_sum 200000`,
		`sift_batch_target_seconds_count 3`,
		`sift_batch_target_seconds_sum 33`,
		`sift_batch_targets_inflight 2`,
		`sift_batch_targets_total{outcome="ok"} 1`,
		`sift_batch_targets_total{outcome="other"} 2`,
		`sift_cache_bytes 5000`,
		`sift_cache_entries 4`,
		`sift_cache_evictions_total 3`,
		`sift_cache_lookups_total{result="other"} 1`,
		`sift_cache_lookups_total{result="shared"} 1`,
		`sift_cache_store_errors_total 1`,
		`sift_children_memory_bytes 6.7108864e+08`,
		`sift_children_waiting 1`,
		`sift_fetch_downloads_total{outcome="ok"} 1`,
		`sift_fetch_downloads_total{outcome="upstream_5xx"} 1`,
		`sift_fetch_requests_total{outcome="blocked"} 1`,
		`sift_fetch_requests_total{outcome="ok"} 1`,
		`sift_fetch_requests_total{outcome="other"} 1`,
		`sift_fetch_response_bytes_count 1`,
		`sift_fetch_response_bytes_sum 1000`,
		`sift_fetch_seconds_count 3`,
		`sift_fetch_seconds_sum 60.03`,
		`sift_fetch_stage_seconds_count{stage="fetch"} 1`,
		`sift_fetch_stage_seconds_count{stage="render"} 1`,
		`sift_fetch_stage_seconds_sum{stage="fetch"} 0.02`,
		`sift_fetch_stage_seconds_sum{stage="render"} 0.01`,
		`sift_gate_parse_bytes_in_use 1.048576e+06`,
		`sift_gate_parse_waiting 1`,
		`sift_gate_refusals_total{gate="host"} 1`,
		`sift_gate_refusals_total{gate="other"} 1`,
		`sift_gate_slots 8`,
		`sift_gate_slots_in_use 2`,
		`sift_http_requests_total{route="/healthz",status="200"} 1`,
		`sift_http_requests_total{route="/v1/fetch",status="429"} 1`,
		`sift_http_requests_total{route="/v1/fetch",status="other"} 1`,
		`sift_http_requests_total{route="other",status="200"} 1`,
		`sift_http_requests_total{route="other",status="404"} 1`,
		`sift_jq_queued 4`,
		`sift_jq_running 1`,
		`sift_model_chats_total{outcome="other"} 1`,
		`sift_model_embeddings_total{outcome="ok"} 1`,
		`sift_model_seconds_count 3`,
		`sift_model_seconds_sum 4`,
		`sift_pdf_extractions_total{outcome="ok"} 1`,
		`sift_pdf_extractions_total{outcome="other"} 1`,
		`sift_pdf_extractions_total{outcome="timeout"} 1`,
		`sift_pdf_killed_total{reason="cpu"} 1`,
		`sift_pdf_killed_total{reason="other"} 1`,
		`sift_pdf_queued 3`,
		`sift_pdf_running 2`,
		`sift_pdf_seconds_count 3`,
		`sift_pdf_seconds_sum 22.08`,
	}
	if diff := cmp.Diff(want, changed); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The buckets reach as far as what they measure: a job of 32 slow targets that
// waited behind others, and the largest result that is stored, 256 KiB.
func TestTheBucketsOfBatchesReachFarEnough(t *testing.T) {
	m := metrics.New("v")
	m.BatchJob("done", 6*time.Hour)
	m.BatchTarget("ok", 50*time.Minute)
	m.BatchStored(256 << 10)
	text := scrape(t, m)
	for _, want := range []string{
		`sift_batch_job_seconds_bucket{le="14400"} 0`, `sift_batch_job_seconds_bucket{le="28800"} 1`,
		`sift_batch_target_seconds_bucket{le="1800"} 0`, `sift_batch_target_seconds_bucket{le="3600"} 1`,
		`sift_batch_result_bytes_bucket{le="131072"} 0`, `sift_batch_result_bytes_bucket{le="262144"} 1`,
		`sift_batch_result_bytes_bucket{le="8.388608e+06"} 1`,
	} {
		if !strings.Contains(text, "\n"+want+"\n") {
			t.Errorf("%s is missing", want)
		}
	}
}

func TestTheSeriesFollowTheConventions(t *testing.T) {
	problems, err := promlint.New(strings.NewReader(scrape(t, metrics.New("v")))).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// docs/metrics.md and the registry hold the same series, of the same type,
// with the same labels and values.
func TestTheDocumentationListsEverySeriesAndNoOther(t *testing.T) {
	text, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(sift_[a-z_]+)(?:\\{([a-z_, ]+)\\})?` \\| ([a-z]+) \\|").FindAllStringSubmatch(string(text), -1) {
		if documented[row[1]] != "" {
			t.Errorf("%s is listed twice", row[1])
		}
		documented[row[1]] = row[3] + " " + row[2]
	}
	served := map[string]string{}
	samples := scrape(t, metrics.New("v"))
	for _, row := range regexp.MustCompile(`(?m)^# TYPE (sift_[a-z_]+) ([a-z]+)$`).FindAllStringSubmatch(samples, -1) {
		name := row[1]
		if row[2] == "histogram" {
			name += "_count"
		}
		labels := regexp.MustCompile(`(?m)^` + name + `(?:\{(.*)\})? `).FindStringSubmatch(samples)[1]
		var names []string
		for _, pair := range regexp.MustCompile(`([a-z_]+)="([^"]*)"`).FindAllStringSubmatch(labels, -1) {
			names = append(names, pair[1])
		}
		served[row[1]] = row[2] + " " + strings.Join(names, ", ")
		if len(names) == 0 || row[1] == "sift_build_info" {
			continue
		}
		// Each value is explained, or its list is said to be somewhere else.
		line := regexp.MustCompile("(?m)^\\| `" + row[1] + "[{`].*$").FindString(string(text))
		for _, label := range regexp.MustCompile(`(?m)^`+name+`\{.*?(?:outcome|result|gate|stage)="([^"]*)"`).FindAllStringSubmatch(samples, -1) {
			if !strings.Contains(line, "`"+label[1]+"`") && !strings.Contains(line, "(outcomes)") {
				t.Errorf("%s: the value %s is not explained", row[1], label[1])
			}
		}
	}
	if diff := cmp.Diff(served, documented); diff != "" {
		t.Errorf("(-served +documented):\n%s", diff)
	}
	for _, code := range sift.Codes() {
		if !strings.Contains(string(text), "`"+string(code)+"`") {
			t.Errorf("the outcome %s is not listed", code)
		}
	}
}

func TestManyScrapesAtOnceAreRefusedAndNotQueued(t *testing.T) {
	m := metrics.New("v")
	entered, leave := make(chan struct{}), make(chan struct{})
	m.WatchCache(func() metrics.Cache {
		entered <- struct{}{}
		<-leave
		return metrics.Cache{}
	})
	h := m.Handler()
	done := make(chan int)
	get := func() {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
		_, _ = io.Copy(io.Discard, w.Body)
		done <- w.Code
	}
	go get()
	<-entered // the first holds the collection; the others wait for it or are refused
	const more = 40
	for range more {
		go get()
	}
	refused := 0
	for range more - 7 {
		if code := <-done; code == 503 {
			refused++
		}
	}
	if refused != more-7 {
		t.Errorf("%d of %d were refused", refused, more)
	}
	close(leave)
	go func() {
		for range entered { // a later collection may look again
		}
	}()
	for range 8 {
		if code := <-done; code != 200 {
			t.Errorf("one that was let in: %d", code)
		}
	}
	close(entered)
}
