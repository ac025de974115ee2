package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"sift.build/sift/internal/child"
	"sift.build/sift/internal/dcache"
	"sift.build/sift/internal/fetch"
	"sift.build/sift/internal/gate"
	"sift.build/sift/internal/guard"
	"sift.build/sift/internal/jq"
	"sift.build/sift/internal/pdfpool"
	"sift.build/sift/internal/sift"
)

// site is a web site under public names. Its address is mapped to a loopback
// listener at the guard's last step, so that the guard itself is the real one.
type site struct {
	*httptest.Server
	hits atomic.Int64
}

func newSite(t testing.TB, h http.HandlerFunc) *site {
	t.Helper()
	s := &site{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.hits.Add(1)
		h(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// rig is a pipeline on a site.
type rig struct {
	*Pipeline
	store   *dcache.DB
	lookups []CacheResult
	mu      sync.Mutex
}

type rigOptions struct {
	maxBytes  int64 // of the store; 0: 64 MiB
	noStore   bool
	noMemory  bool
	perHost   int
	addresses map[string]string // of host names; others are public
	pdf       PDFReader
	slots     int // for PDFs; 0: 2
	queue     int
	archive   string // the URL of one; "": none

	archiveRestricted bool
}

func newRig(t testing.TB, s *site, o rigOptions) *rig {
	t.Helper()
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	g, err := guard.New(guard.Config{
		Lookup: func(_ context.Context, host string) ([]netip.Addr, error) {
			if a, ok := o.addresses[strings.TrimSuffix(host, ".")]; ok {
				return []netip.Addr{netip.MustParseAddr(a)}, nil
			}
			return []netip.Addr{netip.MustParseAddr("93.184.216.34")}, nil
		},
		Connect: func(ctx context.Context, _ netip.AddrPort) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", u.Host)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	client := fetch.New(fetch.Config{
		Guard: g, Timeout: 30 * time.Second, MaxBytes: 10 << 20, MaxPDFBytes: 50 << 20, MaxRedirects: 5,
		UserAgent: "sift-test", Robots: "ignore", SpoolDir: t.TempDir(),
	})
	r := &rig{}
	if !o.noStore {
		if o.maxBytes == 0 {
			o.maxBytes = 64 << 20
		}
		if r.store, err = dcache.Open(t.Context(), dcache.Config{Dir: t.TempDir(), MaxBytes: o.maxBytes, RecoveredBytes: 8 << 20, DigestBytes: 8 << 20, EmbedBytes: 8 << 20}); err != nil {
			t.Fatal(err)
		}
	}
	if o.perHost == 0 {
		o.perHost = 2
	}
	memory := int64(8 << 20)
	if o.noMemory {
		memory = 0
	}
	if o.slots == 0 {
		o.slots = 2
	}
	r.Pipeline, err = New(Config{
		PDF: o.pdf, PDFPool: pdfpool.New(o.slots, o.queue, 10*time.Second),
		JQ:    jq.New(jq.Config{Launcher: child.New(child.Config{Memory: 640 << 20})}),
		Guard: g, Gate: gate.New(gate.Config{Global: 8, PerHost: o.perHost, PerCaller: 4}),
		Parse: gate.NewParse(256 << 20),
		Fetch: client, Store: r.store, TTL: time.Hour, Timeout: 30 * time.Second, Memory: memory,
		Trace: &Trace{Lookup: func(c CacheResult) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.lookups = append(r.lookups, c)
		}},
		ArchiveURL: o.archive, ArchiveRestricted: o.archiveRestricted,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r.Close()
		client.Close()
		if r.store != nil {
			if err := r.store.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	return r
}

var alice = sift.Caller{Name: "alice", Class: "default"}

func page(title, body string) string {
	return "<!doctype html><html lang=en><head><title>" + title + "</title></head><body><main><h1>" + title + "</h1><p>" + body + "</p></main></body></html>"
}

func serve(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, body)
	}
}

func (r *rig) get(t testing.TB, target sift.Target) *sift.Envelope {
	t.Helper()
	env, err := r.FetchTarget(t.Context(), alice, target)
	if err != nil {
		t.Fatalf("%+v: %v (cause: %v)", target, err, sift.AsFailure(err).Cause)
	}
	return env
}

func (r *rig) fail(t testing.TB, caller sift.Caller, target sift.Target, code sift.Code) *sift.Failure {
	t.Helper()
	_, err := r.FetchTarget(t.Context(), caller, target)
	f, ok := errors.AsType[*sift.Failure](err)
	if !ok || f.Code != code {
		t.Fatalf("%+v: got %v, want a failure %s", target, err, code)
	}
	return f
}

func zero() *int { n := 0; return &n }

func TestAFetchedPageIsAnsweredWithEverythingTheContractNames(t *testing.T) {
	s := newSite(t, serve(page("Tides", "High water is at nine, and the ferry leaves a little later than that every day of the week.")))
	r := newRig(t, s, rigOptions{})
	env := r.get(t, sift.Target{URL: "http://tides.example/today#x"})
	if !strings.Contains(env.Content, "# Tides") || !strings.Contains(env.Content, "High water is at nine") {
		t.Errorf("content %q", env.Content)
	}
	if env.URL != "http://tides.example/today#x" || env.FinalURL != "http://tides.example/today" || env.Status != 200 || env.Mode != sift.ModeClean {
		t.Errorf("got %+v", env.Answer)
	}
	if env.Title != "Tides" || env.Language != "en" || env.Snapshot == "" || env.Coverage <= 0 || env.Coverage > 1 || env.NextOffset != nil {
		t.Errorf("got title %q, language %q, snapshot %q, coverage %v", env.Title, env.Language, env.Snapshot, env.Coverage)
	}
	if env.Receipt.Address != "93.184.216.34" && env.Receipt.Address != "127.0.0.1" {
		t.Errorf("address %q", env.Receipt.Address)
	}
	if env.Receipt.Bytes == 0 || len(env.Receipt.SHA256) != 64 || env.Receipt.Charset != "utf-8" || env.Receipt.Protocol != "http/1.1" {
		t.Errorf("receipt %+v", env.Receipt)
	}
	if env.Cache.Hit {
		t.Error("a first fetch says that it came from the cache")
	}
}

func TestASecondFetchComesFromTheCacheWithoutARequest(t *testing.T) {
	for _, noMemory := range []bool{false, true} {
		t.Run(fmt.Sprint("no memory: ", noMemory), func(t *testing.T) {
			s := newSite(t, serve(page("T", "body text that is long enough to be the page")))
			r := newRig(t, s, rigOptions{noMemory: noMemory})
			first := r.get(t, sift.Target{URL: "http://a.example/"})
			r.now = func() time.Time { return time.Now().Add(5 * time.Minute) }
			second := r.get(t, sift.Target{URL: "http://a.example/"})
			if s.hits.Load() != 1 {
				t.Errorf("%d requests", s.hits.Load())
			}
			if !second.Cache.Hit || second.Cache.Age < 299 || second.Cache.Age > 302 || second.Cache.Revalidated {
				t.Errorf("cache %+v", second.Cache)
			}
			if second.Content != first.Content || second.Snapshot != first.Snapshot || second.Receipt.SHA256 != first.Receipt.SHA256 {
				t.Error("the copy differs")
			}
			if diff := cmp.Diff([]CacheResult{CacheMiss, CacheHit}, r.lookups); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEveryModeOfACachedPageCostsNoDownload(t *testing.T) {
	s := newSite(t, serve(page("T", `body text that is long enough to be the page <a href="/x">link</a>`)))
	r := newRig(t, s, rigOptions{})
	for _, m := range sift.Modes() {
		env := r.get(t, sift.Target{URL: "http://a.example/", Mode: m})
		if env.Mode != m || env.Content == "" {
			t.Errorf("%s: %q", m, env.Content)
		}
		if (env.Links != nil) != (m == sift.ModeLinks) || (env.Outline != nil) != (m == sift.ModeOutline) {
			t.Errorf("%s: links %v, outline %v", m, env.Links, env.Outline)
		}
	}
	if s.hits.Load() != 1 {
		t.Errorf("%d requests for %d modes", s.hits.Load(), len(sift.Modes()))
	}
}

func TestMaxAgeZeroFetchesAgainAndACopyThatIsTooOldIsNotUsed(t *testing.T) {
	s := newSite(t, serve(page("T", "body text that is long enough to be the page")))
	r := newRig(t, s, rigOptions{})
	r.get(t, sift.Target{URL: "http://a.example/"})
	if env := r.get(t, sift.Target{URL: "http://a.example/", MaxAge: zero()}); env.Cache.Hit || s.hits.Load() != 2 {
		t.Errorf("cache %+v after %d requests", env.Cache, s.hits.Load())
	}
	r.now = func() time.Time { return time.Now().Add(2 * time.Hour) }
	if env := r.get(t, sift.Target{URL: "http://a.example/"}); env.Cache.Hit || s.hits.Load() != 3 {
		t.Errorf("an old copy was used: %+v after %d requests", env.Cache, s.hits.Load())
	}
	day := 86400
	r.now = func() time.Time { return time.Now().Add(5 * time.Hour) }
	if env := r.get(t, sift.Target{URL: "http://a.example/", MaxAge: &day}); !env.Cache.Hit || s.hits.Load() != 3 {
		t.Errorf("a caller who takes older copies was refused one: %+v", env.Cache)
	}
}

func TestAnUnchangedPageIsRevalidatedAndNotDownloadedAgain(t *testing.T) {
	var conditional atomic.Int64
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"v1"`)
		w.Header().Set("Cache-Control", "no-cache")
		if r.Header.Get("If-None-Match") == `"v1"` {
			conditional.Add(1)
			w.WriteHeader(http.StatusNotModified)
			return
		}
		serve(page("T", "body text that is long enough to be the page"))(w, r)
	})
	r := newRig(t, s, rigOptions{})
	first := r.get(t, sift.Target{URL: "http://a.example/"})
	for range 2 {
		env := r.get(t, sift.Target{URL: "http://a.example/"})
		if !env.Cache.Revalidated || !env.Cache.Hit || env.Content != first.Content || env.Snapshot != first.Snapshot {
			t.Errorf("got %+v, snapshot %s after %s", env.Cache, env.Snapshot, first.Snapshot)
		}
	}
	if conditional.Load() != 2 {
		t.Errorf("%d conditional requests", conditional.Load())
	}
	hour := 3600
	if env := r.get(t, sift.Target{URL: "http://a.example/", MaxAge: &hour}); env.Cache.Revalidated || !env.Cache.Hit {
		t.Errorf("a caller who named an age was made to wait for the server: %+v", env.Cache)
	}
}

func TestIdenticalFetchesInFlightShareOneRequest(t *testing.T) {
	arrived, release := make(chan struct{}, 8), make(chan struct{})
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		<-release
		serve(page("T", "body text that is long enough to be the page"))(w, r)
	})
	r := newRig(t, s, rigOptions{perHost: 1})
	modes := []sift.Mode{sift.ModeClean, sift.ModeText, sift.ModeFull, sift.ModeOutline, sift.ModeClean}
	var wg sync.WaitGroup
	fetch := func(m sift.Mode) {
		env, err := r.FetchTarget(t.Context(), alice, sift.Target{URL: "http://a.example/", Mode: m})
		if err != nil || env.Mode != m || env.Content == "" {
			t.Errorf("%s: %v", m, err)
		}
	}
	wg.Go(func() { fetch(modes[0]) })
	<-arrived
	for _, m := range modes[1:] {
		wg.Go(func() { fetch(m) })
	}
	// Each of them has joined once the flight counts it.
	for waiting(r) < len(modes) {
		time.Sleep(time.Millisecond)
	}
	close(release)
	wg.Wait()
	if s.hits.Load() != 1 {
		t.Errorf("%d requests", s.hits.Load())
	}
}

func waiting(r *rig) int {
	r.flights.mu.Lock()
	defer r.flights.mu.Unlock()
	n := 0
	for _, f := range r.flights.byKey {
		n += f.waiters
	}
	return n
}

func TestClassesLearnNothingFromEachOther(t *testing.T) {
	s := newSite(t, serve(page("T", "body text that is long enough to be the page")))
	r := newRig(t, s, rigOptions{})
	first := r.get(t, sift.Target{URL: "http://a.example/"})
	bob := sift.Caller{Name: "bob", Class: "other"}
	env, err := r.FetchTarget(t.Context(), bob, sift.Target{URL: "http://a.example/"})
	if err != nil || env.Cache.Hit || s.hits.Load() != 2 {
		t.Errorf("another class was answered from the cache: %+v, %v", env, err)
	}
	r.fail(t, bob, sift.Target{URL: "http://a.example/", Snapshot: first.Snapshot}, sift.CodeGone)
}

func TestWindowsReadByOneSnapshotJoinThoughThePageChangesMeanwhile(t *testing.T) {
	n := 0
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		n++
		var b strings.Builder
		for i := range 200 {
			fmt.Fprintf(&b, "<p>Version %d, paragraph %d of a long page about the harbour.</p>", n, i)
		}
		serve(page("T", b.String()))(w, r)
	})
	r := newRig(t, s, rigOptions{})
	whole := r.get(t, sift.Target{URL: "http://a.example/"})
	var joined strings.Builder
	target := sift.Target{URL: "http://a.example/", MaxChars: 1000, Snapshot: whole.Snapshot}
	for steps := 0; ; steps++ {
		if steps == 3 {
			r.get(t, sift.Target{URL: "http://a.example/", MaxAge: zero()}) // the page is read anew in between
		}
		env := r.get(t, target)
		joined.WriteString(env.Content)
		if env.TotalChars != whole.TotalChars || env.Truncated != (env.NextOffset != nil) {
			t.Fatalf("%d of %d characters, truncated %v", env.TotalChars, whole.TotalChars, env.Truncated)
		}
		if env.NextOffset == nil {
			break
		}
		target.Offset = *env.NextOffset
	}
	if joined.String() != whole.Content {
		t.Error("the windows do not join to the whole")
	}
}

func TestASnapshotGoesWithItsURL(t *testing.T) {
	s := newSite(t, serve(page("T", "body text that is long enough to be the page")))
	r := newRig(t, s, rigOptions{})
	env := r.get(t, sift.Target{URL: "http://a.example/"})
	r.fail(t, alice, sift.Target{URL: "http://a.example/elsewhere", Snapshot: env.Snapshot}, sift.CodeInvalid)
	f := r.fail(t, alice, sift.Target{URL: "http://a.example/", Snapshot: "nosuchsnapshot"}, sift.CodeGone)
	if f.Hint != sift.HintFresh {
		t.Errorf("hint %q", f.Hint)
	}
}

func TestErrorsAreNeverCached(t *testing.T) {
	n := 0
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		n++
		if n == 1 {
			w.Header().Set("Content-Type", "text/html")
			w.Header().Set("Retry-After", "600")
			w.WriteHeader(http.StatusTooManyRequests)
			_, _ = io.WriteString(w, "<title>x</title><p>Slow   down, <b>please</b>.</p>")
			return
		}
		serve(page("T", "The page was published."))(w, r)
	})
	r := newRig(t, s, rigOptions{})
	f := r.fail(t, alice, sift.Target{URL: "http://a.example/new"}, sift.CodeUpstream4xx)
	if f.Status != 429 || f.RetryAfter != 10*time.Minute || f.Hint != sift.HintRetry || !strings.Contains(f.Message, "429") {
		t.Errorf("got %+v", f)
	}
	if !strings.Contains(f.UpstreamBody, "Slow down, please.") || strings.Contains(f.Message, "Slow") {
		t.Errorf("excerpt %q, message %q", f.UpstreamBody, f.Message)
	}
	if f.URL != "http://a.example/new" {
		t.Errorf("url %q", f.URL)
	}
	if env := r.get(t, sift.Target{URL: "http://a.example/new"}); !strings.Contains(env.Content, "published") {
		t.Errorf("content %q", env.Content)
	}
}

func TestTheThirdFetchFromAHostIsBusyAtOnceAndACachedPageIsNot(t *testing.T) {
	arrived, release := make(chan struct{}, 8), make(chan struct{})
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/slow") {
			arrived <- struct{}{}
			<-release
		}
		serve(page("T", "body text that is long enough to be the page"))(w, r)
	})
	r := newRig(t, s, rigOptions{})
	r.get(t, sift.Target{URL: "http://a.example/cached"})
	var wg sync.WaitGroup
	for i := range 2 {
		wg.Go(func() {
			if _, err := r.FetchTarget(t.Context(), alice, sift.Target{URL: fmt.Sprint("http://a.example/slow", i)}); err != nil {
				t.Error(err)
			}
		})
	}
	<-arrived
	<-arrived
	f := r.fail(t, alice, sift.Target{URL: "http://a.example/third"}, sift.CodeBusy)
	if f.RetryAfter <= 0 || f.Hint != sift.HintRetry {
		t.Errorf("got %+v", f)
	}
	if env := r.get(t, sift.Target{URL: "http://a.example/cached"}); !env.Cache.Hit {
		t.Error("a cached page was not answered while the host is busy")
	}
	close(release)
	wg.Wait()
}

func TestARedirectToABusyHostIsBusy(t *testing.T) {
	arrived, release := make(chan struct{}, 8), make(chan struct{})
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Host == "b.example" {
			arrived <- struct{}{}
			<-release
			serve(page("T", "body text"))(w, r)
			return
		}
		http.Redirect(w, r, "http://b.example/", http.StatusFound)
	})
	r := newRig(t, s, rigOptions{perHost: 1})
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := r.FetchTarget(t.Context(), alice, sift.Target{URL: "http://b.example/"}); err != nil {
			t.Error(err)
		}
	})
	<-arrived
	r.fail(t, alice, sift.Target{URL: "http://a.example/"}, sift.CodeBusy)
	close(release)
	wg.Wait()
}

func TestThePrivateAddressBehindANameOrARedirectIsBlocked(t *testing.T) {
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://intranet.example/", http.StatusFound)
	})
	r := newRig(t, s, rigOptions{addresses: map[string]string{"intranet.example": "10.0.0.7"}})
	for _, u := range []string{"http://10.0.0.7/", "http://intranet.example/", "http://public.example/"} {
		if f := r.fail(t, alice, sift.Target{URL: u}, sift.CodeBlocked); f.Error() != "blocked: private address 10.0.0.7" {
			t.Errorf("%s: %q", u, f.Error())
		}
	}
	restricted := sift.Caller{Name: "r", Class: "r", Restricted: true}
	for _, u := range []string{"http://intranet.example/", "http://public.example/"} {
		f := r.fail(t, restricted, sift.Target{URL: u}, sift.CodeBlocked)
		if !strings.HasPrefix(f.Error(), "blocked: private address") || strings.Contains(f.Error(), "10.0.0.7") {
			t.Errorf("a restricted caller is told %q", f.Error())
		}
	}
}

func TestARestrictedCallerIsNotToldTheAddressOfTheSocket(t *testing.T) {
	s := newSite(t, serve(page("T", "body text that is long enough to be the page")))
	r := newRig(t, s, rigOptions{})
	first := r.get(t, sift.Target{URL: "http://a.example/"})
	if first.Receipt.Address == "" {
		t.Error("an ordinary caller is not told the address")
	}
	same := sift.Caller{Name: "r", Class: alice.Class, Restricted: true} // shares the class and thus the copy
	env, err := r.FetchTarget(t.Context(), same, sift.Target{URL: "http://a.example/"})
	if err != nil || !env.Cache.Hit || env.Receipt.Address != "" {
		t.Errorf("got %+v, %v", env, err)
	}
}

func TestAStoreThatTakesNothingCostsTheSnapshotAndNotTheAnswer(t *testing.T) {
	s := newSite(t, serve(page("T", strings.Repeat("incompressible? no, but large all the same. ", 50))))
	for name, o := range map[string]rigOptions{"too small": {maxBytes: 1}, "none": {noStore: true}} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, s, o)
			env := r.get(t, sift.Target{URL: "http://a.example/"})
			if env.Snapshot != "" || env.Content == "" {
				t.Errorf("snapshot %q", env.Snapshot)
			}
			if env := r.get(t, sift.Target{URL: "http://a.example/"}); env.Cache.Hit || env.Content == "" {
				t.Errorf("got %+v", env.Cache)
			}
		})
	}
}

func TestACutShortBodyIsMarkedAndNotReused(t *testing.T) {
	s := newSite(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Length", "100000")
		_, _ = io.WriteString(w, page("T", "only this much of the page arrived before the end"))
	})
	r := newRig(t, s, rigOptions{})
	for range 2 {
		env := r.get(t, sift.Target{URL: "http://a.example/"})
		if len(env.Warnings) == 0 || env.Warnings[len(env.Warnings)-1].Code != sift.WarnPartial || env.Cache.Hit || env.Hint != sift.HintRetry {
			t.Errorf("warnings %v, cache %+v", env.Warnings, env.Cache)
		}
	}
	if s.hits.Load() < 2 {
		t.Error("a part of a page was handed to the next caller as the page")
	}
}

func TestANoStorePageIsReadOnBySnapshotButNotReused(t *testing.T) {
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "private, no-store")
		serve(page("T", "body text that is long enough to be the page"))(w, r)
	})
	r := newRig(t, s, rigOptions{})
	env := r.get(t, sift.Target{URL: "http://a.example/"})
	if env2 := r.get(t, sift.Target{URL: "http://a.example/"}); env2.Cache.Hit {
		t.Error("it was reused")
	}
	if env3 := r.get(t, sift.Target{URL: "http://a.example/", Snapshot: env.Snapshot, Mode: sift.ModeText}); env3.Content == "" {
		t.Error("it cannot be read on")
	}
}

func TestAnOffsetPastTheEndIsTheStartersProblemAlone(t *testing.T) {
	arrived, release := make(chan struct{}, 8), make(chan struct{})
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		<-release
		serve(page("T", "Only this line."))(w, r)
	})
	r := newRig(t, s, rigOptions{})
	var wg sync.WaitGroup
	wg.Go(func() {
		f := r.fail(t, alice, sift.Target{URL: "http://a.example/", Offset: 50_000}, sift.CodeInvalid)
		if !strings.Contains(f.Message, "past the end") {
			t.Errorf("message %q", f.Message)
		}
	})
	<-arrived
	wg.Go(func() {
		if env, err := r.FetchTarget(t.Context(), alice, sift.Target{URL: "http://a.example/"}); err != nil || !strings.Contains(env.Content, "Only this line.") {
			t.Errorf("got %v", err)
		}
	})
	for waiting(r) < 2 {
		time.Sleep(time.Millisecond)
	}
	close(release)
	wg.Wait()
}

func TestOutOfTimeAndGoneAwayAreToldApart(t *testing.T) {
	ended := make(chan struct{}, 2)
	s := newSite(t, func(_ http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
		ended <- struct{}{}
	})
	r := newRig(t, s, rigOptions{})
	little := 0.05
	f := r.fail(t, alice, sift.Target{URL: "http://a.example/", Timeout: &little}, sift.CodeTimeout)
	if f.Hint != sift.HintRetry || !strings.Contains(f.Message, "50ms") {
		t.Errorf("got %+v", f)
	}
	<-ended // the request ends with its only caller
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		_, err := r.FetchTarget(ctx, alice, sift.Target{URL: "http://a.example/"})
		if sift.AsFailure(err).Code != sift.CodeCancel {
			t.Errorf("got %v", err)
		}
	})
	for s.hits.Load() < 2 {
		time.Sleep(time.Millisecond)
	}
	cancel()
	wg.Wait()
	<-ended
}

func TestEveryBadURLFailsTheSameWayAndNothingIsFetched(t *testing.T) {
	s := newSite(t, serve("x"))
	r := newRig(t, s, rigOptions{})
	for _, u := range []string{"", "file:///etc/passwd", "http://a.example:22/", "http://user@a.example/", "http://127.1/", "nonsense"} {
		if f := r.fail(t, alice, sift.Target{URL: u}, sift.CodeBlocked); f.URL != u {
			t.Errorf("%q: url %q", u, f.URL)
		}
	}
	if s.hits.Load() != 0 {
		t.Error("something was fetched")
	}
}

func TestWhatCheckRefusesIsRefusedByAFetchInTheSameWords(t *testing.T) {
	s := newSite(t, serve("x"))
	r := newRig(t, s, rigOptions{})
	for name, target := range map[string]sift.Target{
		"port":    {URL: "http://www.example.com:8080/"},
		"scheme":  {URL: "ftp://www.example.com/"},
		"pages":   {URL: "http://www.example.com/", Pages: "4-2"},
		"pattern": {URL: "http://www.example.com/", Grep: "("},
	} {
		_, checked := r.Check(target)
		_, fetched := r.FetchTarget(t.Context(), alice, target)
		if checked == nil || fetched == nil || checked.Error() != fetched.Error() {
			t.Errorf("%s: Check says %v, FetchTarget %v", name, checked, fetched)
		}
	}
	if s.hits.Load() != 0 {
		t.Error("something was fetched")
	}
	// Two spellings of one URL are one; what an address is shows only at connect.
	for in, want := range map[string]string{
		"HTTP://WWW.Example.com:80/a?b#c": "http://www.example.com/a?b",
		"http://10.0.0.7/":                "http://10.0.0.7/",
	} {
		if got, err := r.Check(sift.Target{URL: in, Pages: "1-", Grep: "x", Mode: sift.ModeText}); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", in, got, err, want)
		}
	}
}

func TestHugeNumbersFromACallerOverflowNothing(t *testing.T) {
	s := newSite(t, serve(page("T", "body text that is long enough to be the page")))
	r := newRig(t, s, rigOptions{})
	age, timeout := int(^uint(0)>>1), 1e300
	for range 2 {
		env := r.get(t, sift.Target{URL: "http://a.example/", MaxAge: &age, Timeout: &timeout, MaxChars: int(^uint(0) >> 1)})
		if env.Content == "" || env.NextOffset != nil {
			t.Errorf("got %+v", env.Answer)
		}
	}
	if s.hits.Load() != 1 {
		t.Errorf("%d requests", s.hits.Load())
	}
}

func TestWindowsOfLargePagesDoNotKeepThePagesInMemory(t *testing.T) {
	s := newSite(t, serve(page("T", strings.Repeat("word ", 400_000))))
	r := newRig(t, s, rigOptions{})
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	r.get(t, sift.Target{URL: "http://a.example/first", MaxChars: 100})
	before := heap()
	for i := range 20 {
		for _, m := range []sift.Mode{sift.ModeClean, sift.ModeText, sift.ModeRaw} {
			r.get(t, sift.Target{URL: fmt.Sprint("http://a.example/", i), MaxChars: 100, Mode: m})
		}
	}
	if after := heap(); after > before+20<<20 {
		t.Errorf("60 windows of 100 characters hold %d MB", (after-before)>>20)
	}
}

func TestListsOfLinksAndHeadingsGoWithTheWindow(t *testing.T) {
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, `</p><h2 id="h%d">Heading number %d</h2><p>Some text, and <a href="/target/%d">link number %d</a>.`, i, i, i, i)
	}
	s := newSite(t, serve(page("T", b.String())))
	r := newRig(t, s, rigOptions{})
	for _, m := range []sift.Mode{sift.ModeLinks, sift.ModeOutline} {
		whole := r.get(t, sift.Target{URL: "http://a.example/", Mode: m})
		var links []sift.Link
		var outline []sift.Heading
		target := sift.Target{URL: "http://a.example/", Mode: m, MaxChars: 700}
		for {
			env := r.get(t, target)
			if n := len(env.Links) + len(env.Outline); n > strings.Count(env.Content, "\n")+1 {
				t.Fatalf("%s: %d entries beside %d lines", m, n, strings.Count(env.Content, "\n"))
			}
			links, outline = append(links, env.Links...), append(outline, env.Outline...)
			if env.NextOffset == nil {
				break
			}
			target.Offset = *env.NextOffset
		}
		if diff := cmp.Diff(whole.Links, links, cmpopts.EquateEmpty()); diff != "" || m == sift.ModeLinks && len(links) < 300 {
			t.Errorf("%s: the links do not join: %s", m, diff)
		}
		if diff := cmp.Diff(whole.Outline, outline, cmpopts.EquateEmpty()); diff != "" || m == sift.ModeOutline && len(outline) < 300 {
			t.Errorf("%s: the headings do not join: %s", m, diff)
		}
	}
}
