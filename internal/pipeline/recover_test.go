package pipeline

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sift.build/sift/internal/archive/archivetest"
	"sift.build/sift/internal/sift"
)

// archived is a site with an archive beside it, under a name of its own.
type archived struct {
	*site
	archive *archivetest.Archive
	page    atomic.Pointer[http.HandlerFunc]
}

const archiveURL = "http://archive.example"

func newArchived(t testing.TB, page http.HandlerFunc) *archived {
	t.Helper()
	a := &archived{archive: archivetest.New()}
	a.answer(page)
	a.site = newSite(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Host == "archive.example" {
			a.archive.ServeHTTP(w, r)
			return
		}
		(*a.page.Load())(w, r)
	})
	return a
}

// answer changes what the site itself answers.
func (a *archived) answer(page http.HandlerFunc) { a.page.Store(&page) }

func status(code int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

const (
	url1 = "http://a.example/report?y=2025&q=a%20b"
	tale = "The harbour was dredged in the spring of the year, and the pilots have used the new channel since the middle of June."
)

func day(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 9, 30, 0, 0, time.UTC) }

func TestAPageThatIsGoneIsReadInTheArchiveAndTheAnswerSaysSo(t *testing.T) {
	for _, code := range []int{404, 410, 403, 500, 503} {
		s := newArchived(t, status(code, page("Not here", "Nothing to see.")))
		s.archive.Add(
			archivetest.Capture{URL: url1, At: day(2024, 5, 1), Body: page("Report", "The old text. "+tale)},
			archivetest.Capture{URL: url1, At: day(2025, 11, 2), Body: page("Report", tale+` See <a href="/tables">the tables</a>.`)},
		)
		r := newRig(t, s.site, rigOptions{archive: archiveURL})
		env := r.get(t, sift.Target{URL: url1, Recover: true})
		got := env.Recovered
		if got == nil || got.Source != sift.SourceArchive || !got.CapturedAt.Equal(day(2025, 11, 2)) || got.Archive != "archive.example" || !strings.HasPrefix(got.URL, archiveURL+"/web/20251102093000") || !strings.HasPrefix(got.Reason, "upstream_") {
			t.Fatalf("%d: %+v", code, got)
		}
		if !strings.Contains(env.Content, tale) || !strings.Contains(env.Content, "(http://a.example/tables)") || env.URL != url1 || env.FinalURL != url1 || env.Status != 200 || env.Title != "Report" {
			t.Errorf("%d: %+v", code, env.Answer)
		}
		// It is read on in its snapshot, whatever the site does.
		s.answer(serve(page("Back", "The page is back.")))
		part := r.get(t, sift.Target{URL: url1, Snapshot: env.Snapshot, MaxChars: 40})
		if !strings.HasPrefix(env.Content, part.Content) || part.Recovered == nil || part.Recovered.Source != sift.SourceArchive {
			t.Errorf("%d: %q, %+v", code, part.Content, part.Recovered)
		}
		// And it never stands in for the page.
		now := r.get(t, sift.Target{URL: url1, Recover: true})
		if !strings.Contains(now.Content, "The page is back.") || now.Recovered == nil || now.Recovered.Source != sift.SourceLive || now.Recovered.Reason != "" {
			t.Errorf("%d: %q, %+v", code, now.Content, now.Recovered)
		}
		if plain := r.get(t, sift.Target{URL: url1}); plain.Recovered != nil {
			t.Errorf("%d: %+v without asking", code, plain.Recovered)
		}
	}
}

func TestNothingIsRecoveredUnlessItIsAskedFor(t *testing.T) {
	s := newArchived(t, status(404, "no"))
	s.archive.Add(archivetest.Capture{URL: url1, At: day(2025, 11, 2), Body: page("Report", tale)})
	r := newRig(t, s.site, rigOptions{archive: archiveURL})
	r.fail(t, alice, sift.Target{URL: url1}, sift.CodeUpstream4xx)
	if n := len(s.archive.Requests()); n != 0 {
		t.Errorf("the archive was asked %d times", n)
	}
	r.get(t, sift.Target{URL: url1, Recover: true})
	r.fail(t, alice, sift.Target{URL: url1}, sift.CodeUpstream4xx)
}

func TestACopyOlderThanMinDateIsRefused(t *testing.T) {
	s := newArchived(t, status(404, "no"))
	s.archive.Add(archivetest.Capture{URL: url1, At: day(2024, 5, 1), Body: page("Report", tale)})
	r := newRig(t, s.site, rigOptions{archive: archiveURL})
	f := r.fail(t, alice, sift.Target{URL: url1, Recover: true, MinDate: "2025-01-01"}, sift.CodeUpstream4xx)
	if !strings.Contains(f.Message, "404") || !strings.Contains(f.Message, "nothing was recovered") || !strings.Contains(f.Message, "2024-05-01") {
		t.Errorf("got %s", f.Message)
	}
	if env := r.get(t, sift.Target{URL: url1, Recover: true, MinDate: "2024-05-01"}); env.Recovered.Source != sift.SourceArchive {
		t.Errorf("%+v", env.Recovered)
	}
	// What was recovered before does not get round it.
	r.fail(t, alice, sift.Target{URL: url1, Recover: true, MinDate: "2024-05-02"}, sift.CodeUpstream4xx)
	for _, bad := range []sift.Target{{URL: url1, Recover: true, MinDate: "last year"}, {URL: url1, MinDate: "2024-05-01"}} {
		if f := r.fail(t, alice, bad, sift.CodeInvalid); !strings.Contains(f.Message, "min_date") {
			t.Errorf("%s", f.Message)
		}
	}
}

func TestAnOlderCopyOfOursComesBeforeTheArchive(t *testing.T) {
	s := newArchived(t, serve(page("Report", tale)))
	s.archive.Add(archivetest.Capture{URL: url1, At: day(2025, 11, 2), Body: page("Report", "Archived. "+tale)})
	r := newRig(t, s.site, rigOptions{archive: archiveURL})
	first := r.get(t, sift.Target{URL: url1})
	s.answer(status(503, "down"))
	r.fail(t, alice, sift.Target{URL: url1, MaxAge: zero()}, sift.CodeUpstream5xx)
	env := r.get(t, sift.Target{URL: url1, MaxAge: zero(), Recover: true})
	if env.Content != first.Content || env.Snapshot != first.Snapshot || env.Recovered.Source != sift.SourceStale || !env.Recovered.CapturedAt.Equal(first.Receipt.FetchedAt.Truncate(time.Millisecond)) || !strings.Contains(env.Recovered.Reason, "503") {
		t.Errorf("%+v", env.Recovered)
	}
	// One that is too old does not do.
	tomorrow := time.Now().Add(24 * time.Hour).UTC().Format(time.RFC3339)
	if f := r.fail(t, alice, sift.Target{URL: url1, MaxAge: zero(), Recover: true, MinDate: tomorrow}, sift.CodeUpstream5xx); !strings.Contains(f.Message, "nothing was recovered") {
		t.Errorf("%s", f.Message)
	}
	if n := len(s.archive.Requests()); n == 0 {
		t.Error("the archive was not asked for a newer one")
	}
}

func TestALiveAndARevalidatedCopyAreCalledSo(t *testing.T) {
	s := newArchived(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"1"`)
		if r.Header.Get("If-None-Match") == `"1"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		serve(page("Report", tale))(w, r)
	})
	r := newRig(t, s.site, rigOptions{})
	now := time.Now()
	r.now = func() time.Time { return now }
	first := r.get(t, sift.Target{URL: url1, Recover: true})
	if got := first.Recovered; got == nil || got.Source != sift.SourceLive || !got.CapturedAt.Equal(first.Receipt.FetchedAt) || got.URL != url1 {
		t.Errorf("%+v", got)
	}
	now = now.Add(2 * time.Hour)
	if got := r.get(t, sift.Target{URL: url1, Recover: true}).Recovered; got == nil || got.Source != sift.SourceRevalidated || got.CapturedAt.Before(now.Add(-2*time.Second)) {
		t.Errorf("%+v, not %v", got, now)
	}
}

const shell = `<!doctype html><html><head><title>Report</title><script type="application/ld+json">{"@context":"https://schema.org","@type":"NewsArticle",
"headline":"Report","articleBody":"` + tale + ` ` + tale + `\n\nThe second part tells of the tolls that were paid at the gate of the lock, and of those who did not pay."}</script></head>
<body><div id="root"></div><noscript>Please enable JavaScript to view this page.</noscript><script src="/app.js"></script></body></html>`

func TestAShellIsReadFromTheDataEmbeddedInIt(t *testing.T) {
	s := newArchived(t, serve(shell))
	r := newRig(t, s.site, rigOptions{archive: archiveURL})
	plain := r.get(t, sift.Target{URL: url1})
	if strings.Contains(plain.Content, "dredged") {
		t.Fatalf("the page shows it by itself: %q", plain.Content)
	}
	for _, mode := range []sift.Mode{sift.ModeClean, sift.ModeFull, sift.ModeText, sift.ModeHTML} {
		env := r.get(t, sift.Target{URL: url1, Recover: true, Mode: mode})
		if !strings.Contains(env.Content, tale) || !strings.Contains(env.Content, "tolls that were paid") || env.Title != "Report" || env.Snapshot == "" {
			t.Errorf("mode %s: %q", mode, env.Content)
		}
		if got := env.Recovered; got == nil || got.Source != sift.SourcePage || got.From != "json-ld" || got.CapturedAt.IsZero() || got.URL != url1 || got.Reason == "" {
			t.Errorf("mode %s: %+v", mode, got)
		}
	}
	env := r.get(t, sift.Target{URL: url1, Recover: true, Question: "Who paid the tolls?"})
	if len(env.Digest.Passages) == 0 || env.Recovered.Source != sift.SourcePage {
		t.Errorf("%+v", env.Digest)
	}
	part := r.get(t, sift.Target{URL: url1, Recover: true, Snapshot: env.Snapshot, Offset: 20, MaxChars: 60})
	if part.Chars == 0 || part.Recovered == nil || part.Recovered.Source != sift.SourcePage {
		t.Errorf("reading on: %q, %+v", part.Content, part.Recovered)
	}
	if len(s.archive.Requests()) != 0 || s.hits.Load() != 6 { // a shell is never answered from the cache
		t.Errorf("%d requests to the archive, %d in all", len(s.archive.Requests()), s.hits.Load())
	}
}

func TestAShellWithoutDataIsReadInTheArchive(t *testing.T) {
	empty := `<html><head><title>App</title></head><body><div id=root></div><noscript>Please enable JavaScript to run this app.</noscript></body></html>`
	s := newArchived(t, serve(empty))
	r := newRig(t, s.site, rigOptions{archive: archiveURL})
	env := r.get(t, sift.Target{URL: url1, Recover: true})
	if env.Recovered.Source != sift.SourceLive || env.Recovered.Reason == "" || env.Hint != sift.HintBrowser {
		t.Errorf("%+v, hint %q", env.Recovered, env.Hint)
	}
	found := false
	for _, w := range env.Warnings {
		found = found || w.Code == sift.WarnJSShell && strings.Contains(w.Message, "nothing was recovered")
	}
	if !found {
		t.Errorf("%+v", env.Warnings)
	}
	s.archive.Add(archivetest.Capture{URL: url1, At: day(2025, 11, 2), Body: page("Report", tale)})
	if env := r.get(t, sift.Target{URL: url1, Recover: true}); env.Recovered.Source != sift.SourceArchive || !strings.Contains(env.Content, tale) {
		t.Errorf("%+v: %q", env.Recovered, env.Content)
	}
}

func TestAShortPageIsNotTakenForAShell(t *testing.T) {
	s := newArchived(t, serve("<html><head><title>It works</title></head><body><h1>It works!</h1></body></html>"))
	s.archive.Add(archivetest.Capture{URL: url1, At: day(2025, 11, 2), Body: page("Report", tale)})
	r := newRig(t, s.site, rigOptions{archive: archiveURL})
	if env := r.get(t, sift.Target{URL: url1, Recover: true}); env.Recovered.Source != sift.SourceLive || !strings.Contains(env.Content, "It works!") || len(env.Warnings) != 0 {
		t.Errorf("%+v: %q, %v", env.Recovered, env.Content, env.Warnings)
	}
}

func TestTheDataInAnErrorPageIsThePageUnlessTheServerSaysThereIsNone(t *testing.T) {
	s := newArchived(t, status(403, shell))
	r := newRig(t, s.site, rigOptions{})
	env := r.get(t, sift.Target{URL: url1, Recover: true})
	if env.Recovered.Source != sift.SourcePage || !strings.Contains(env.Recovered.Reason, "403") || !strings.Contains(env.Content, tale) || env.Status != 403 {
		t.Errorf("%+v: %q", env.Recovered, env.Content)
	}
	if again := r.get(t, sift.Target{URL: url1, Snapshot: env.Snapshot, Mode: sift.ModeText}); !strings.Contains(again.Content, tale) || again.Recovered == nil {
		t.Errorf("%q", again.Content)
	}
	s.answer(status(404, shell))
	r.fail(t, alice, sift.Target{URL: url1, Recover: true, MaxAge: zero()}, sift.CodeUpstream4xx)
}

func TestNothingThatTheGuardRefusedIsRecovered(t *testing.T) {
	s := newArchived(t, status(404, "no"))
	for _, u := range []string{"http://10.0.0.7/", "http://inside.example/", "http://a.example:8080/", "http://a.example/moved"} {
		s.archive.Add(archivetest.Capture{URL: u, At: day(2025, 11, 2), Body: page("Secret", tale)})
	}
	s.answer(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://10.0.0.7/", http.StatusFound)
	})
	r := newRig(t, s.site, rigOptions{archive: archiveURL, addresses: map[string]string{"inside.example": "10.1.2.3"}})
	for _, u := range []string{"http://10.0.0.7/", "http://inside.example/", "http://a.example:8080/", "http://a.example/moved"} {
		r.fail(t, alice, sift.Target{URL: u, Recover: true}, sift.CodeBlocked)
	}
	if n := len(s.archive.Requests()); n != 0 {
		t.Errorf("the archive was asked %d times", n)
	}
}

func TestTheArchiveIsReachedThroughTheGuard(t *testing.T) {
	s := newArchived(t, status(404, "no"))
	s.archive.Add(archivetest.Capture{URL: url1, At: day(2025, 11, 2), Body: page("Report", tale)})
	r := newRig(t, s.site, rigOptions{archive: archiveURL, addresses: map[string]string{"archive.example": "10.1.2.3"}})
	f := r.fail(t, alice, sift.Target{URL: url1, Recover: true}, sift.CodeUpstream4xx)
	if !strings.Contains(f.Message, "nothing was recovered") || len(s.archive.Requests()) != 0 {
		t.Errorf("%s", f.Message)
	}
	// An archive that sends on to a private address does not get there either.
	s.archive.Behave(archivetest.Behaviour{Faults: map[archivetest.Door]archivetest.Fault{
		archivetest.TimeGate:     {Status: 302, Header: http.Header{"Location": {"http://10.0.0.7/"}}},
		archivetest.TimeMap:      {Status: 302, Header: http.Header{"Location": {"http://10.0.0.7/"}}},
		archivetest.Availability: {Status: 302, Header: http.Header{"Location": {"http://10.0.0.7/"}}},
	}})
	r = newRig(t, s.site, rigOptions{archive: archiveURL})
	r.fail(t, alice, sift.Target{URL: url1, Recover: true}, sift.CodeUpstream4xx)
}

func TestWhatARestrictedCallerReadsIsToldToAnArchiveOnlyIfConfigured(t *testing.T) {
	s := newArchived(t, status(404, "no"))
	s.archive.Add(archivetest.Capture{URL: url1, At: day(2025, 11, 2), Body: page("Report", tale)})
	carol := sift.Caller{Name: "carol", Class: "secret", Restricted: true}
	r := newRig(t, s.site, rigOptions{archive: archiveURL})
	if f := r.fail(t, carol, sift.Target{URL: url1, Recover: true}, sift.CodeUpstream4xx); !strings.Contains(f.Message, "nothing was recovered") || len(s.archive.Requests()) != 0 {
		t.Errorf("%d requests: %s", len(s.archive.Requests()), f.Message)
	}
	r = newRig(t, s.site, rigOptions{archive: archiveURL, archiveRestricted: true})
	env, err := r.FetchTarget(t.Context(), carol, sift.Target{URL: url1, Recover: true})
	if err != nil || env.Recovered.Source != sift.SourceArchive {
		t.Fatalf("%v", err)
	}
	// It is of their class alone.
	s.archive.Behave(archivetest.Behaviour{Faults: map[archivetest.Door]archivetest.Fault{
		archivetest.TimeGate: {Status: 503}, archivetest.TimeMap: {Status: 503}, archivetest.Availability: {Status: 503},
	}})
	r.fail(t, alice, sift.Target{URL: url1, Recover: true}, sift.CodeUpstream4xx)
	r.fail(t, alice, sift.Target{URL: url1, Snapshot: env.Snapshot}, sift.CodeGone)
	if env, err := r.FetchTarget(t.Context(), carol, sift.Target{URL: url1, Recover: true}); err != nil || !env.Cache.Hit {
		t.Errorf("%v", err)
	}
}

func TestAnArchiveThatFailsLeavesTheFirstFailureAndSaysWhatItSaid(t *testing.T) {
	every := func(f archivetest.Fault) map[archivetest.Door]archivetest.Fault {
		return map[archivetest.Door]archivetest.Fault{archivetest.TimeGate: f, archivetest.TimeMap: f, archivetest.Availability: f}
	}
	for name, f := range map[string]archivetest.Fault{
		"rate limit": {Status: 429, Header: http.Header{"Retry-After": {"120"}}},
		"down":       {Status: 503},
		"nonsense":   {Status: 200, Header: http.Header{"Content-Type": {"text/html"}}, Body: "<p>Hello</p>"},
		"loop":       {Loop: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newArchived(t, status(404, "no"))
			s.archive.Add(archivetest.Capture{URL: url1, At: day(2025, 11, 2), Body: page("Report", tale)})
			s.archive.Behave(archivetest.Behaviour{Faults: every(f)})
			r := newRig(t, s.site, rigOptions{archive: archiveURL})
			got := r.fail(t, alice, sift.Target{URL: url1, Recover: true}, sift.CodeUpstream4xx)
			if !strings.Contains(got.Message, "404 Not Found; nothing was recovered: ") || got.Status != 404 {
				t.Errorf("%s", got.Message)
			}
			s.archive.Behave(archivetest.Behaviour{})
			if f.Status != 429 { // which asked to be left alone
				if env := r.get(t, sift.Target{URL: url1, Recover: true}); env.Recovered.Source != sift.SourceArchive {
					t.Errorf("%+v", env.Recovered)
				}
			} else if before := len(s.archive.Requests()); true {
				r.fail(t, alice, sift.Target{URL: url1, Recover: true}, sift.CodeUpstream4xx)
				if after := len(s.archive.Requests()); after != before {
					t.Errorf("asked %d times although it wants to be left alone", after-before)
				}
			}
		})
	}
}

func TestASlowPageLeavesTimeForTheArchive(t *testing.T) {
	s := newArchived(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	s.archive.Add(archivetest.Capture{URL: url1, At: day(2025, 11, 2), Body: page("Report", tale)})
	r := newRig(t, s.site, rigOptions{archive: archiveURL})
	seconds := 3.0
	env := r.get(t, sift.Target{URL: url1, Recover: true, Timeout: &seconds})
	if env.Recovered.Source != sift.SourceArchive || !strings.HasPrefix(env.Recovered.Reason, "timeout: ") {
		t.Errorf("%+v", env.Recovered)
	}
}

func TestAPageOnTheOwnNetworkIsNotToldToAPublicArchive(t *testing.T) {
	for _, name := range []string{"wiki", "printer.local", "db.internal", "nas.home.arpa", "x.corp."} {
		if !isLocalName(name) {
			t.Errorf("%s may be told", name)
		}
	}
	for _, name := range []string{"a.example", "local.example", "internal.org"} {
		if isLocalName(name) {
			t.Errorf("%s may not be told", name)
		}
	}
	s := newArchived(t, status(404, "no"))
	s.archive.Add(archivetest.Capture{URL: "http://db.internal/", At: day(2025, 11, 2), Body: page("Report", tale)})
	r := newRig(t, s.site, rigOptions{archive: archiveURL})
	if f := r.fail(t, alice, sift.Target{URL: "http://db.internal/", Recover: true}, sift.CodeUpstream4xx); !strings.Contains(f.Message, "private network") || len(s.archive.Requests()) != 0 {
		t.Errorf("%d requests: %s", len(s.archive.Requests()), f.Message)
	}
}

func TestAnArchivedPDFIsReadPageByPage(t *testing.T) {
	s := newArchived(t, status(404, "no"))
	s.archive.Add(archivetest.Capture{URL: url1, At: day(2025, 11, 2), Type: "application/pdf", Body: pdfBody(5)})
	r := newRig(t, s.site, rigOptions{archive: archiveURL, pdf: &fakePDF{}})
	env := r.get(t, sift.Target{URL: url1, Recover: true, Pages: "2-3"})
	if env.Pages == nil || env.Pages.Total != 5 || len(env.Pages.Returned) != 2 || env.Recovered.Source != sift.SourceArchive {
		t.Errorf("%+v, %+v", env.Pages, env.Recovered)
	}
}

func TestWhatIsRecoveredFromAPageCutShortIsPartial(t *testing.T) {
	s := newArchived(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Content-Length", "100000")
		_, _ = io.WriteString(w, shell)
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
	r := newRig(t, s.site, rigOptions{})
	env := r.get(t, sift.Target{URL: url1, Recover: true})
	partial := false
	for _, w := range env.Warnings {
		partial = partial || w.Code == sift.WarnPartial
	}
	if env.Recovered.Source != sift.SourcePage || !partial {
		t.Errorf("%+v, %v", env.Recovered, env.Warnings)
	}
}

func TestAnArchiveThatStallsDoesNotCostTheFirstAnswer(t *testing.T) {
	stalls := archivetest.Fault{Hang: true}
	for name, page := range map[string]http.HandlerFunc{
		"gone":  status(404, "no"),
		"shell": serve("<html><head><title>App</title></head><body><div id=root></div><noscript>Please enable JavaScript to run this app.</noscript></body></html>"),
	} {
		s := newArchived(t, page)
		s.archive.Behave(archivetest.Behaviour{Faults: map[archivetest.Door]archivetest.Fault{
			archivetest.TimeGate: stalls, archivetest.TimeMap: stalls, archivetest.Availability: stalls,
		}})
		r := newRig(t, s.site, rigOptions{archive: archiveURL})
		seconds := 1.0
		env, err := r.FetchTarget(t.Context(), alice, sift.Target{URL: url1, Recover: true, Timeout: &seconds})
		switch f := sift.AsFailure(err); {
		case name == "gone":
			if f.Code != sift.CodeUpstream4xx || f.Status != 404 || !strings.Contains(f.Message, "nothing was recovered: the archive did not answer in time") {
				t.Errorf("%v", err)
			}
		case err != nil || env.Recovered.Source != sift.SourceLive || env.Recovered.Reason == "":
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAnEmptyPageIsOneThatShowsNothing(t *testing.T) {
	s := newArchived(t, serve(""))
	r := newRig(t, s.site, rigOptions{archive: archiveURL})
	if env := r.get(t, sift.Target{URL: url1, Recover: true}); env.Recovered.Source != sift.SourceLive || env.Recovered.Reason == "" {
		t.Errorf("%+v", env.Recovered)
	}
	s.archive.Add(archivetest.Capture{URL: url1, At: day(2025, 11, 2), Body: page("Report", tale)})
	if env := r.get(t, sift.Target{URL: url1, Recover: true, MaxAge: zero()}); env.Recovered.Source != sift.SourceArchive {
		t.Errorf("%+v", env.Recovered)
	}
}

func TestAGoodCopyOfOursStandsInForAPageThatHasBecomeAShell(t *testing.T) {
	s := newArchived(t, serve(page("Report", tale)))
	r := newRig(t, s.site, rigOptions{})
	good := r.get(t, sift.Target{URL: url1})
	s.answer(serve("<html><head><title>App</title></head><body><div id=root></div><noscript>Please enable JavaScript to run this app.</noscript></body></html>"))
	env := r.get(t, sift.Target{URL: url1, Recover: true, MaxAge: zero()})
	if env.Recovered.Source != sift.SourceStale || env.Content != good.Content || env.Recovered.Reason == "" {
		t.Errorf("%+v: %q", env.Recovered, env.Content)
	}
}

func TestAnOldSnapshotIsNotCalledLive(t *testing.T) {
	r := newRig(t, newSite(t, serve(page("Report", tale))), rigOptions{})
	now := time.Now()
	r.now = func() time.Time { return now }
	first := r.get(t, sift.Target{URL: url1})
	again := r.get(t, sift.Target{URL: url1, Snapshot: first.Snapshot, Recover: true})
	now = now.Add(48 * time.Hour)
	later := r.get(t, sift.Target{URL: url1, Snapshot: first.Snapshot, Recover: true})
	if again.Recovered.Source != sift.SourceLive || later.Recovered.Source != sift.SourceStale || later.Recovered.CapturedAt.After(now.Add(-47*time.Hour)) {
		t.Errorf("%+v, %+v", again.Recovered, later.Recovered)
	}
}

func TestAFailureThatAnArchiveMayHelpWithSaysSo(t *testing.T) {
	s := newArchived(t, status(404, "no"))
	if f := newRig(t, s.site, rigOptions{archive: archiveURL}).fail(t, alice, sift.Target{URL: url1}, sift.CodeUpstream4xx); f.Hint != sift.HintRecover {
		t.Errorf("hint %q", f.Hint)
	}
	if f := newRig(t, s.site, rigOptions{}).fail(t, alice, sift.Target{URL: url1}, sift.CodeUpstream4xx); f.Hint != "" {
		t.Errorf("without an archive: hint %q", f.Hint)
	}
	carol := sift.Caller{Name: "carol", Class: "secret", Restricted: true}
	if f := newRig(t, s.site, rigOptions{archive: archiveURL}).fail(t, carol, sift.Target{URL: url1}, sift.CodeUpstream4xx); f.Hint != "" {
		t.Errorf("a restricted caller: hint %q", f.Hint)
	}
	if f := newRig(t, s.site, rigOptions{archive: archiveURL}).fail(t, alice, sift.Target{URL: url1, Recover: true}, sift.CodeUpstream4xx); f.Hint != "" {
		t.Errorf("after it was tried: hint %q", f.Hint)
	}
}
