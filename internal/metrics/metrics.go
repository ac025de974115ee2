// Package metrics counts what the service does and serves the counts to
// Prometheus. It is the only package that knows Prometheus; the others have
// nil-safe hooks that the methods here are hung into.
//
// No label holds a host, a URL or a caller, and none holds a word from
// outside: a value that is not in its closed list is counted as "other". Every
// series is there at 0 from the start, so that a rate over the first event is
// right. docs/metrics.md explains each.
package metrics

import (
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/common/expfmt"
)

// other is what a label value outside its closed list is folded to.
const other = "other"

// Success is the outcome of what did not fail.
const Success = "ok"

// outcomes: Success, or the code of the failure.
func outcomes() []string {
	return []string{
		Success, "invalid", "unauthorized", "blocked", "busy", "timeout", "upstream_4xx", "upstream_5xx", "unreachable", "unsupported",
		"too_long", "cap", "not_found", "gone", "cancel", "internal",
	}
}

func modelOutcomes() []string {
	return []string{
		"ok", "busy", "resting", "timeout", "unreachable", "refused", "limited", "rejected", "server", "bad_answer", "cancelled",
	}
}

func stages() []string  { return []string{"queue", "fetch", "render"} }
func lookups() []string { return []string{"hit", "miss", "revalidated", "shared", "bypass"} }
func extractions() []string {
	return []string{Success, "partial", "no_text", "password", "damaged", "timeout", "memory", "error"}
}
func kills() []string {
	return []string{"cpu", "wall", "memory", "output", "crash", "cancel", "read", "start", "failed"}
}
func gates() []string { return []string{"global", "host", "caller"} }

func jobOutcomes() []string {
	return []string{"created", "reused", "done", "partial", "failed", "cancelled", "restart"}
}

// targetOutcomes are those of SPEC section 5: what else a target can come to
// is counted as other.
func targetOutcomes() []string {
	return []string{Success, "blocked", "timeout", "busy", "upstream_4xx", "upstream_5xx", "unsupported", "too_long", "cancel"}
}

func routes() []string {
	return []string{"/v1/fetch", "/v1/batch", "/v1/batch/{id}", "/healthz", "/readyz", "/metrics", "/openapi.yaml"}
}

func statuses() []string {
	return []string{"200", "202", "400", "401", "404", "405", "413", "415", "422", "429", "499", "500", "502", "503", "504"}
}

// Metrics holds every series. Its methods may be called from many goroutines.
type Metrics struct {
	registry *prometheus.Registry

	requests  *counters
	seconds   prometheus.Histogram
	stages    map[string]prometheus.Observer
	bytes     prometheus.Histogram
	downloads *counters

	lookups     *counters
	evictions   prometheus.Counter
	storeErrors prometheus.Counter

	refusals *counters

	extractions *counters
	kills       *counters
	pdfSeconds  prometheus.Histogram

	embeddings   *counters
	chats        *counters
	modelSeconds prometheus.Histogram

	jobs          *counters
	targets       *counters
	jobSeconds    prometheus.Histogram
	targetSeconds prometheus.Histogram
	resultBytes   prometheus.Histogram

	http map[string]*counters // by route

	cache    atomic.Pointer[func() Cache]
	gate     atomic.Pointer[func() Gate]
	children atomic.Pointer[func() Children]
	batch    atomic.Pointer[func() Batch]
}

// New makes the series, all of them at 0.
func New(version string) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry()}
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))

	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "sift_build_info", Help: "Always 1; the labels say which build this is.",
		ConstLabels: prometheus.Labels{"version": version, "go_version": runtime.Version()},
	}, func() float64 { return 1 }))

	m.requests = m.counters("sift_fetch_requests_total", "Targets that were answered, by what came of them.", "outcome", outcomes())
	m.seconds = m.histogram("sift_fetch_seconds", "How long a target took, from the call to the answer.",
		[]float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60})
	stageSeconds := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "sift_fetch_stage_seconds", Help: "How long a stage of a target took; a stage that took no time is not observed.",
		Buckets: []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60},
	}, []string{"stage"})
	m.registry.MustRegister(stageSeconds)
	m.stages = make(map[string]prometheus.Observer)
	for _, stage := range stages() {
		m.stages[stage] = stageSeconds.WithLabelValues(stage)
	}
	m.bytes = m.histogram("sift_fetch_response_bytes", "Size of the content that was handed back for a target.",
		prometheus.ExponentialBuckets(256, 4, 10)) // 256 B to 64 MiB
	m.downloads = m.counters("sift_fetch_downloads_total", "Downloads from other servers, by what came of them.", "outcome", outcomes())

	m.lookups = m.counters("sift_cache_lookups_total", "Times the cache was asked for a copy, by what it had.", "result", lookups())
	m.registry.MustRegister(newGauges(func() []float64 {
		c := m.cacheNow()
		return []float64{float64(c.Entries), float64(c.Bytes), float64(c.RecoveredBytes), float64(c.DigestBytes), float64(c.EmbedBytes)}
	},
		gauge{"sift_cache_entries", "Cached copies."},
		gauge{"sift_cache_bytes", "Bytes that the cached copies take."},
		gauge{"sift_cache_recovered_bytes", "Bytes that the recovered copies take."},
		gauge{"sift_cache_digest_bytes", "Bytes that the answers of models take."},
		gauge{"sift_cache_embed_bytes", "Bytes that the embeddings take."},
	))
	m.evictions = m.counter("sift_cache_evictions_total", "Copies that were removed to make room.")
	m.storeErrors = m.counter("sift_cache_store_errors_total", "Copies that could not be kept.")

	m.refusals = m.counters("sift_gate_refusals_total", "Fetches that were refused a slot, by the limit that was reached.", "gate", gates())
	m.registry.MustRegister(newGauges(func() []float64 {
		g := m.gateNow()
		return []float64{float64(g.Slots), float64(g.SlotsInUse), float64(g.ParseBytesInUse), float64(g.ParseWaiting)}
	},
		gauge{"sift_gate_slots", "Fetches that may run at once."},
		gauge{"sift_gate_slots_in_use", "Fetches that are running."},
		gauge{"sift_gate_parse_bytes_in_use", "Memory that the pages being parsed may take."},
		gauge{"sift_gate_parse_waiting", "Pages that wait for their turn in the parser."},
	))

	m.extractions = m.counters("sift_pdf_extractions_total", "PDFs that were read, by what came of them.", "outcome", extractions())
	m.kills = m.counters("sift_pdf_killed_total", "PDF readers that did not end by themselves, by the reason.", "reason", kills())
	m.pdfSeconds = m.histogram("sift_pdf_seconds", "How long reading a PDF took, without the wait for its turn.",
		[]float64{0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 60})
	m.registry.MustRegister(newGauges(func() []float64 {
		c := m.childrenNow()
		return []float64{
			float64(c.PDFRunning), float64(c.PDFQueued), float64(c.JQRunning), float64(c.JQQueued), float64(c.Bytes), float64(c.Waiting),
		}
	},
		gauge{"sift_pdf_running", "PDFs that are being read."},
		gauge{"sift_pdf_queued", "PDFs that wait for their turn."},
		gauge{"sift_jq_running", "jq programs that are running."},
		gauge{"sift_jq_queued", "jq programs that wait for their turn."},
		gauge{"sift_children_memory_bytes", "Memory that the children running may take."},
		gauge{"sift_children_waiting", "Children that wait for their part of the memory."},
	))

	m.embeddings = m.counters("sift_model_embeddings_total", "Requests for embeddings, by what came of them.", "outcome", modelOutcomes())
	m.chats = m.counters("sift_model_chats_total", "Requests to a chat model, by what came of them.", "outcome", modelOutcomes())
	m.modelSeconds = m.histogram("sift_model_seconds", "How long a request to a model took.",
		[]float64{0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20})

	m.jobs = m.counters("sift_batch_jobs_total", "Batch jobs, by what became of them.", "outcome", jobOutcomes())
	m.targets = m.counters("sift_batch_targets_total", "Targets of batch jobs that were finished, by what came of them.", "outcome", targetOutcomes())
	m.registry.MustRegister(newGauges(func() []float64 {
		b := m.batchNow()
		return []float64{float64(b.Queued), float64(b.InFlight)}
	},
		gauge{"sift_batch_queue_depth", "Batch jobs that wait for their turn."},
		gauge{"sift_batch_targets_inflight", "Targets of batch jobs that are being fetched."},
	))
	m.jobSeconds = m.histogram("sift_batch_job_seconds", "How long a batch job took, from its creation to its end.",
		[]float64{0.1, 0.5, 1, 5, 10, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 28800})
	m.targetSeconds = m.histogram("sift_batch_target_seconds", "How long a target of a batch job took, with the wait for a slot.",
		[]float64{0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600})
	m.resultBytes = m.histogram("sift_batch_result_bytes", "Size of the result that was stored for a target of a batch job.",
		prometheus.ExponentialBuckets(1<<10, 2, 14)) // 1 KiB to 8 MiB

	httpRequests := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "sift_http_requests_total", Help: "HTTP requests that were answered, by route and status.",
	}, []string{"route", "status"})
	m.registry.MustRegister(httpRequests)
	m.http = make(map[string]*counters)
	for _, route := range append(routes(), other) {
		m.http[route] = newCounters(httpRequests.MustCurryWith(prometheus.Labels{"route": route}), statuses())
	}
	return m
}

// Handler serves the series as text. A few scrapes at once are served, and
// those that come while one is being collected share it.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorHandling:       promhttp.HTTPErrorOnError,
		DisableCompression:  true,
		MaxRequestsInFlight: 8,
		CoalesceGather:      true,
		AcceptedFormats:     []expfmt.Format{expfmt.NewFormat(expfmt.TypeTextPlain)},
	})
}

// Fetch is what one target came to.
type Fetch struct {
	Outcome              string // Success or the code of the failure
	Total                time.Duration
	Queue, Fetch, Render time.Duration // zero: there was no such stage
	Bytes                int           // of the content, if there is one
}

// Fetched counts one answered target.
func (m *Metrics) Fetched(f Fetch) {
	m.requests.add(f.Outcome)
	m.seconds.Observe(f.Total.Seconds())
	for _, s := range [...]struct {
		name string
		took time.Duration
	}{{"queue", f.Queue}, {"fetch", f.Fetch}, {"render", f.Render}} {
		if s.took > 0 {
			m.stages[s.name].Observe(s.took.Seconds())
		}
	}
	if f.Outcome == Success {
		m.bytes.Observe(float64(f.Bytes))
	}
}

// Downloaded counts one download that ended, with Success or the code of its failure.
func (m *Metrics) Downloaded(outcome string) { m.downloads.add(outcome) }

// CacheLookup counts one question to the cache.
func (m *Metrics) CacheLookup(result string) { m.lookups.add(result) }

// CacheEvicted counts copies that were removed to make room.
func (m *Metrics) CacheEvicted(n int) { m.evictions.Add(float64(max(n, 0))) }

// CacheStoreFailed counts one copy that could not be kept.
func (m *Metrics) CacheStoreFailed() { m.storeErrors.Inc() }

// GateRefused counts one fetch that got no slot.
func (m *Metrics) GateRefused(gate string) { m.refusals.add(gate) }

// PDFRead counts one PDF that was read, or was not: with Success or what was
// wrong, why its child was killed ("": it was not), and how long it took.
func (m *Metrics) PDFRead(outcome, killed string, took time.Duration) {
	m.extractions.add(outcome)
	if killed != "" {
		m.kills.add(killed)
	}
	m.pdfSeconds.Observe(took.Seconds())
}

// ModelAsked counts one request to a model's endpoint, embeddings or chat.
func (m *Metrics) ModelAsked(endpoint, outcome string, took time.Duration) {
	switch endpoint {
	case "embeddings":
		m.embeddings.add(outcome)
	case "chat":
		m.chats.add(outcome)
	}
	m.modelSeconds.Observe(took.Seconds())
}

// BatchJob counts one step in the life of a batch job: that it was created or
// reused, or how it ended. How long it took, from its creation, is observed of
// those that came to an end while sift was running.
func (m *Metrics) BatchJob(outcome string, took time.Duration) {
	m.jobs.add(outcome)
	switch outcome {
	case "done", "partial", "failed", "cancelled":
		m.jobSeconds.Observe(max(took, 0).Seconds())
	}
}

// BatchTarget counts one finished target of a batch job, with Success or the
// code of its failure.
func (m *Metrics) BatchTarget(outcome string, took time.Duration) {
	m.targets.add(outcome)
	m.targetSeconds.Observe(took.Seconds())
}

// BatchStored counts one result that was stored.
func (m *Metrics) BatchStored(bytes int) { m.resultBytes.Observe(float64(bytes)) }

// Requested counts one HTTP request that was answered. A route of "" is a path
// that does not exist.
func (m *Metrics) Requested(route string, status int) {
	byStatus, ok := m.http[route]
	if !ok {
		byStatus = m.http[other]
	}
	byStatus.add(strconv.Itoa(status))
}

// Cache is the state of the cache at one moment.
type Cache struct {
	Entries, Bytes                          int64 // of copies of pages
	RecoveredBytes, DigestBytes, EmbedBytes int64
}

// WatchCache makes every scrape call now, once, for the gauges of the cache.
func (m *Metrics) WatchCache(now func() Cache) { m.cache.Store(&now) }

// Gate is the state of the gates at one moment.
type Gate struct {
	Slots, SlotsInUse int
	ParseBytesInUse   int64
	ParseWaiting      int
}

// WatchGate makes every scrape call now, once, for the gauges of the gates.
func (m *Metrics) WatchGate(now func() Gate) { m.gate.Store(&now) }

// Children is the state of the PDF readers and of the jq programs, and of the
// memory of all children, at one moment.
type Children struct {
	PDFRunning, PDFQueued int
	JQRunning, JQQueued   int
	Bytes                 int64 // that those running may take
	Waiting               int   // for their part of the memory
}

// WatchChildren makes every scrape call now, once, for the gauges of the children.
func (m *Metrics) WatchChildren(now func() Children) { m.children.Store(&now) }

// Batch is the state of the batch jobs at one moment.
type Batch struct{ Queued, InFlight int }

// WatchBatch makes every scrape call now, once, for the gauges of the batches.
func (m *Metrics) WatchBatch(now func() Batch) { m.batch.Store(&now) }

func (m *Metrics) batchNow() Batch {
	if now := m.batch.Load(); now != nil {
		return (*now)()
	}
	return Batch{}
}

func (m *Metrics) childrenNow() Children {
	if now := m.children.Load(); now != nil {
		return (*now)()
	}
	return Children{}
}

func (m *Metrics) cacheNow() Cache {
	if now := m.cache.Load(); now != nil {
		return (*now)()
	}
	return Cache{}
}

func (m *Metrics) gateNow() Gate {
	if now := m.gate.Load(); now != nil {
		return (*now)()
	}
	return Gate{}
}

// counters is one counter for each value of a closed list, and one for the rest.
type counters struct {
	known map[string]prometheus.Counter
	rest  prometheus.Counter
}

func newCounters(vec *prometheus.CounterVec, values []string) *counters {
	c := &counters{known: make(map[string]prometheus.Counter, len(values)), rest: vec.WithLabelValues(other)}
	for _, v := range values {
		c.known[v] = vec.WithLabelValues(v)
	}
	return c
}

func (c *counters) add(value string) {
	counter, ok := c.known[value]
	if !ok {
		counter = c.rest
	}
	counter.Inc()
}

func (m *Metrics) counters(name, help, label string, values []string) *counters {
	vec := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, []string{label})
	m.registry.MustRegister(vec)
	return newCounters(vec, values)
}

func (m *Metrics) counter(name, help string) prometheus.Counter {
	c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	m.registry.MustRegister(c)
	return c
}

func (m *Metrics) histogram(name, help string, buckets []float64) prometheus.Histogram {
	h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: slices.Clone(buckets)})
	m.registry.MustRegister(h)
	return h
}

// gauge is one number of a state that is asked for at each scrape.
type gauge struct{ name, help string }

// gauges are several of them that come from one look, so that they fit together.
type gauges struct {
	descs []*prometheus.Desc
	now   func() []float64 // one for each desc
}

func newGauges(now func() []float64, list ...gauge) *gauges {
	g := &gauges{now: now}
	for _, one := range list {
		g.descs = append(g.descs, prometheus.NewDesc(one.name, one.help, nil, nil))
	}
	return g
}

// Describe and Collect make it a prometheus.Collector.
func (g *gauges) Describe(to chan<- *prometheus.Desc) {
	for _, d := range g.descs {
		to <- d
	}
}

// Collect looks once and reports each number.
func (g *gauges) Collect(to chan<- prometheus.Metric) {
	for i, v := range g.now() {
		to <- prometheus.MustNewConstMetric(g.descs[i], prometheus.GaugeValue, v)
	}
}
