package archive

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"sift.build/sift/internal/archive/archivetest"
	"sift.build/sift/internal/fetch"
	"sift.build/sift/internal/guard"
	"sift.build/sift/internal/sift"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// today is the time of every test.
func today() time.Time { return time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC) }

func day(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 5, 6, 7, 0, time.UTC) }

// world is an archive and a client that asks it with the real fetcher through
// the real guard, in which the archive's socket is the one exception.
type world struct {
	*archivetest.Archive
	t     *testing.T
	guard *guard.Guard
	fetch *fetch.Client

	mu        sync.Mutex // guards what follows
	now       time.Time
	responses []*fetch.Response
}

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{Archive: archivetest.Start(t), t: t, now: today()}
	u, err := url.Parse(w.URL)
	if err != nil {
		t.Fatal(err)
	}
	if w.guard, err = guard.New(guard.Config{Allow: []string{u.Host}}); err != nil {
		t.Fatal(err)
	}
	w.fetch = fetch.New(fetch.Config{Guard: w.guard, MaxRedirects: 5, Timeout: 10 * time.Second, SpoolDir: t.TempDir()})
	t.Cleanup(w.fetch.Close)
	return w
}

func (w *world) get(ctx context.Context, raw string, accept time.Time) (*fetch.Response, error) {
	u, err := w.guard.CheckURL(raw)
	if err != nil {
		return nil, err
	}
	resp, err := w.fetch.Get(ctx, fetch.Request{URL: u, AcceptDatetime: accept})
	if err == nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.responses = append(w.responses, resp)
	}
	return resp, err
}

// closed fails the test when a body other than that of keep was left open.
func (w *world) closed(keep *Copy) {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.responses {
		// A closed body has its size still, and no bytes any more.
		if b, err := r.Body.Bytes(); err == nil && len(b) > 0 && (keep == nil || keep.Response != r) {
			w.t.Errorf("the body of %s was left open", r.FinalURL)
		}
	}
	w.responses = nil
}

func (w *world) client(base string) *Client {
	w.t.Helper()
	c, err := New(Config{Base: base, Get: w.get, Now: w.clock})
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

// found is what a test compares of a Copy.
type found struct {
	URL, Original, Body string
	At                  time.Time
}

func (w *world) find(base, page string, q Wanted) (found, error) {
	w.t.Helper()
	return w.ask(w.client(base), page, q)
}

func (w *world) ask(c *Client, page string, q Wanted) (found, error) {
	w.t.Helper()
	got, err := c.Find(w.t.Context(), page, q)
	w.closed(got)
	if err != nil {
		if got != nil {
			w.t.Error("a copy and an error")
		}
		if _, ok := errors.AsType[*sift.Failure](err); !ok && !errors.Is(err, ErrNone) {
			w.t.Errorf("the error is a %T: %v", err, err)
		}
		return found{}, err
	}
	defer got.Response.Body.Close()
	body, err := got.Response.Body.Bytes()
	if err != nil {
		w.t.Fatal(err)
	}
	return found{strings.TrimPrefix(got.URL, w.URL), got.Original, string(body), got.CapturedAt}, nil
}

// doors is which doors were asked, and what.
func (w *world) doors() []string {
	var out []string
	for _, r := range w.Requests() {
		out = append(out, string(r.Door))
	}
	return out
}

const page = "http://a.example/page"

func raw(page string, at time.Time) string {
	return strings.Replace(archivetest.CopyURL(page, at), "/"+page, "id_/"+page, 1)
}

func TestTheNewestCopyIsFoundByTheTimeGate(t *testing.T) {
	w := newWorld(t)
	w.Add(
		archivetest.Capture{URL: page, At: day(2015, 1, 1), Body: "old"},
		archivetest.Capture{URL: page, At: day(2019, 3, 4), Body: `<body><a href="/x">new</a>`},
		archivetest.Capture{URL: "http://b.example/page", At: day(2020, 3, 4), Body: "another page"},
	)
	got, err := w.find(w.URL, page, Wanted{})
	if err != nil {
		t.Fatal(err)
	}
	want := found{raw(page, day(2019, 3, 4)), page, `<body><a href="/x">new</a>`, day(2019, 3, 4)}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	wantRequests := []archivetest.Request{
		{Door: "timegate", Target: "/web/" + page, AcceptDatetime: "Tue, 01 Dec 2026 12:00:00 GMT"},
		{Door: "memento", Target: archivetest.CopyURL(page, day(2019, 3, 4)), AcceptDatetime: "Tue, 01 Dec 2026 12:00:00 GMT"},
		{Door: "raw", Target: raw(page, day(2019, 3, 4))},
	}
	if d := cmp.Diff(wantRequests, w.Requests()); d != "" {
		t.Error(d)
	}
}

func TestTheCopyNearestToATimeIsFound(t *testing.T) {
	w := newWorld(t)
	for _, y := range []int{2010, 2014, 2018} {
		w.Add(archivetest.Capture{URL: page, At: day(y, 1, 1), Body: fmt.Sprint(y)})
	}
	for _, base := range []string{w.URL, w.URL + "/timegate/", w.URL + "/timemap/link/"} {
		for around, want := range map[int]string{2000: "2010", 2013: "2014", 2015: "2014", 2017: "2018", 2026: "2018"} {
			if got, err := w.find(base, page, Wanted{Around: day(around, 1, 1)}); err != nil || got.Body != want {
				t.Errorf("%s around %d: %q, %v; want %s", base, around, got.Body, err, want)
			}
		}
	}
}

func TestEveryFormOfBaseLeadsToTheCopy(t *testing.T) {
	w := newWorld(t)
	at := day(2019, 3, 4)
	w.Add(archivetest.Capture{URL: page + "?q=1", At: at, Body: "it"})
	for _, tt := range []struct{ base, first string }{
		{"", "/web/" + page + "?q=1"},
		{"/", "/web/" + page + "?q=1"},
		{"/web/", "/web/" + page + "?q=1"},
		{"/web", "/web/" + page + "?q=1"},
		{"/timegate/", "/timegate/" + page + "?q=1"},
		{"/timegate/{url}", "/timegate/" + page + "?q=1"},
		{"/timemap/link/", "/timemap/link/" + page + "?q=1"},
		{"/web/timemap/link/{url}", "/web/timemap/link/" + page + "?q=1"},
	} {
		t.Run(tt.base, func(t *testing.T) {
			before := len(w.Requests())
			got, err := w.find(w.URL+tt.base, page+"?q=1", Wanted{})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(found{raw(page+"?q=1", at), page + "?q=1", "it", at}, got); d != "" {
				t.Error(d)
			}
			if first := w.Requests()[before].Target; first != tt.first {
				t.Errorf("asked %s first, want %s", first, tt.first)
			}
		})
	}
}

// bases are the three kinds of base at which the fake can be asked.
func (w *world) bases() []string {
	return []string{w.URL, w.URL + "/timegate/", w.URL + "/timemap/link/"}
}

// none checks an error that says that there is no copy.
func none(t *testing.T, err error, words string) {
	t.Helper()
	if !errors.Is(err, ErrNone) {
		t.Fatalf("error is %v, want an ErrNone", err)
	}
	if _, ok := errors.AsType[*sift.Failure](err); ok {
		t.Errorf("%v is a failure too", err)
	}
	if !strings.Contains(err.Error(), words) {
		t.Errorf("error is %q, does not say %q", err, words)
	}
}

// failed checks a failure of the archive.
func failed(t *testing.T, err error, code sift.Code, words string) *sift.Failure {
	t.Helper()
	f, ok := errors.AsType[*sift.Failure](err)
	if !ok || errors.Is(err, ErrNone) {
		t.Fatalf("error is %v, want a failure", err)
	}
	if f.Code != code || !strings.Contains(f.Message, words) {
		t.Errorf("error is %q, want %s with %q", f, code, words)
	}
	if !strings.HasPrefix(f.Message, "the archive 127.0.0.1 ") {
		t.Errorf("error is %q, does not say which archive", f)
	}
	return f
}

func TestAPageThatIsNotArchivedHasNone(t *testing.T) {
	w := newWorld(t)
	w.Add(archivetest.Capture{URL: "http://b.example/", At: day(2020, 1, 1), Body: "x"})
	for i, want := range [][]string{{"timegate", "availability"}, {"timegate"}, {"timemap"}} {
		before := len(w.doors())
		_, err := w.find(w.bases()[i], page, Wanted{})
		none(t, err, "the archive 127.0.0.1 has no copy of it")
		if d := cmp.Diff(want, w.doors()[before:]); d != "" {
			t.Errorf("%s:\n%s", w.bases()[i], d)
		}
	}
}

func TestCapturesOfErrorsAndRedirectsArePassedOver(t *testing.T) {
	for _, tt := range []struct {
		name  string
		newer []archivetest.Capture
	}{
		{name: "an error", newer: []archivetest.Capture{{Status: 404, Body: "gone"}}},
		{name: "errors of all kinds", newer: []archivetest.Capture{{Status: 410, Body: "gone"}, {Status: 503, Body: "later"}, {Status: 429, Body: "slowly"}, {Status: 403, Body: "no"}}},
		{name: "a redirect to another site", newer: []archivetest.Capture{{Location: "http://b.example/"}}},
		{name: "a redirect to another page", newer: []archivetest.Capture{{Location: "/login?to=/page", Status: 301}}},
		{name: "a page without a byte", newer: []archivetest.Capture{{Body: ""}}},
		{name: "many", newer: slices.Repeat([]archivetest.Capture{{Status: 404, Body: "gone"}}, 40)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.Add(archivetest.Capture{URL: page, At: day(2015, 1, 1), Body: "as it was"})
			w.Add(
				archivetest.Capture{URL: "http://b.example/", At: day(2020, 1, 1), Body: "another site"},
				archivetest.Capture{URL: "http://a.example/login?to=/page", At: day(2020, 1, 1), Body: "another page"},
			)
			for i, c := range tt.newer {
				c.URL, c.At = page, day(2020, 1, 1+i)
				w.Add(c)
			}
			for _, base := range w.bases() {
				got, err := w.find(base, page, Wanted{})
				if err != nil || got.Body != "as it was" || !got.At.Equal(day(2015, 1, 1)) {
					t.Errorf("%s: %+v, %v", base, got, err)
				}
			}
			_, err := w.find(w.bases()[1], page, Wanted{NotBefore: day(2018, 1, 1)})
			none(t, err, "has no copy of it from 2018-01-01 on; one of 2015-01-01 would be too old")
		})
	}
}

func TestAPageOfWhichThereAreOnlyErrorsHasNone(t *testing.T) {
	for _, n := range []int{1, 3, 200} {
		w := newWorld(t)
		for i := range n {
			w.Add(archivetest.Capture{URL: page, At: day(2020, 1, 1+i), Status: 404, Body: "gone"})
		}
		for _, base := range w.bases() {
			before := len(w.Requests())
			_, err := w.find(base, page, Wanted{})
			none(t, err, "only captures of errors, of redirects or of other pages")
			if asked := len(w.Requests()) - before; asked > maxRequests {
				t.Errorf("%s: %d requests for %d captures", base, asked, n)
			}
		}
	}
}

func TestARedirectToTheSamePageInAnotherSpellingIsFollowed(t *testing.T) {
	w := newWorld(t)
	w.Add(
		archivetest.Capture{URL: page, At: day(2020, 1, 1), Location: "https://www.a.example/page/"},
		archivetest.Capture{URL: "https://www.a.example/page/", At: day(2020, 1, 2), Body: "the page"},
	)
	for _, base := range w.bases() {
		got, err := w.find(base, page, Wanted{Around: day(2020, 1, 1)})
		if err != nil || got.Body != "the page" || got.Original != "https://www.a.example/page/" {
			t.Errorf("%s: %+v, %v", base, got, err)
		}
	}
}

func TestACopyIsNotOlderThanAllowed(t *testing.T) {
	w := newWorld(t)
	for _, y := range []int{2010, 2014, 2018} {
		w.Add(archivetest.Capture{URL: page, At: day(y, 1, 1), Body: fmt.Sprint(y)})
	}
	for _, base := range w.bases() {
		for _, tt := range []struct {
			q    Wanted
			want string
		}{
			{Wanted{NotBefore: day(2018, 1, 1)}, "2018"},
			{Wanted{NotBefore: day(2018, 1, 1).Add(time.Second)}, ""},
			{Wanted{NotBefore: day(2000, 1, 1)}, "2018"},
			{Wanted{NotBefore: day(2012, 1, 1), Around: day(2011, 1, 1)}, "2014"},
			{Wanted{NotBefore: day(2015, 1, 1), Around: day(2000, 1, 1)}, "2018"},
			{Wanted{NotBefore: day(2019, 1, 1), Around: day(2012, 1, 1)}, ""},
		} {
			before := len(w.Requests())
			got, err := w.find(base, page, tt.q)
			if tt.want == "" {
				none(t, err, fmt.Sprintf("no copy of it from %s on; one of 201", tt.q.NotBefore.Format(time.DateOnly)))
			} else if err != nil || got.Body != tt.want {
				t.Errorf("%s, %+v: %q, %v; want %s", base, tt.q, got.Body, err, tt.want)
			}
			if asked := len(w.Requests()) - before; tt.want == "" && tt.q.Around.IsZero() && asked > 2 {
				t.Errorf("%s: %d requests to learn that the newest copy is too old", base, asked)
			}
		}
	}
}

func TestQueryAndFragmentSurvive(t *testing.T) {
	w := newWorld(t)
	const odd = "http://a.example/%7Em/a%2Fb;c=1//d?q=a%20b+c&u=http://x.example/?y=%26&empty=&%zz=100%&#/app/route?x#y"
	const sent = "http://a.example/%7Em/a%2Fb;c=1//d?q=a%20b+c&u=http://x.example/?y=%26&empty=&%zz=100%&"
	w.Add(archivetest.Capture{URL: sent, At: day(2020, 1, 1), Body: "it"})
	w.Behave(archivetest.Behaviour{Faults: map[archivetest.Door]archivetest.Fault{archivetest.TimeGate: {Status: 502}}})
	for _, base := range append(w.bases(), w.URL+"/wayback/available?x=timemap&url={url}") {
		before := len(w.Requests())
		got, err := w.find(base, odd, Wanted{})
		if strings.HasSuffix(base, "{url}") {
			// No TimeGate is there; what counts is how it was asked.
			if r := w.Requests()[before]; r.Target != "/wayback/available?x=timemap&url="+url.QueryEscape(sent) {
				t.Errorf("asked %s", r.Target)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", base, err)
			continue
		}
		if got.Original != odd || got.URL != raw(sent, day(2020, 1, 1)) {
			t.Errorf("%s: original %s, copy %s", base, got.Original, got.URL)
		}
	}
	var targets []string
	for _, r := range w.Requests() {
		targets = append(targets, r.Target)
	}
	for _, want := range []string{"/web/" + sent, "/timegate/" + sent, "/timemap/link/" + sent, raw(sent, day(2020, 1, 1)),
		"/wayback/available?url=" + url.QueryEscape(sent) + "&timestamp=20261201120000"} {
		if !slices.Contains(targets, want) {
			t.Errorf("nobody asked %s", want)
		}
	}
	if all := strings.Join(targets, " "); strings.Contains(all, "route") {
		t.Errorf("the fragment was sent: %s", all)
	}
}

func TestACopyThatIsNotToBeHadRawIsTheRewrittenOne(t *testing.T) {
	const body = `<html><body class=x><p><a href="/next?a=1">n</a> <a href="https://b.example/">b</a><img src="http://a.example/i.png"></p><script>var u={"x":"http:\/\/a.example\/y"}</script></body></html>`
	const want = `<html><body class=x><p><a href="http://a.example/next?a=1">n</a> <a href="https://b.example/">b</a><img src="http://a.example/i.png"></p><script>var u={"x":"http:\/\/a.example\/y"}</script></body></html>`
	for name, b := range map[string]archivetest.Behaviour{
		"no raw form":                    {NoRaw: true},
		"no raw form, no dates":          {NoRaw: true, NoDates: true},
		"an error for the raw form":      {Faults: map[archivetest.Door]archivetest.Fault{archivetest.Raw: {Status: 500}}},
		"a search page for the raw form": {Faults: map[archivetest.Door]archivetest.Fault{archivetest.Raw: {Body: "<p>Search the archive"}}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.Add(archivetest.Capture{URL: page, At: day(2020, 1, 1), Body: body})
			w.Behave(b)
			for _, base := range w.bases() {
				got, err := w.find(base, page, Wanted{})
				if err != nil {
					t.Fatalf("%s: %v", base, err)
				}
				if got.URL != archivetest.CopyURL(page, day(2020, 1, 1)) || !strings.Contains(got.Body, "About this capture") || !strings.Contains(got.Body, `"/web/2020`) {
					t.Errorf("%s: not the rewritten copy: %+v", base, got)
				}
				if undone := string(Unrewrite([]byte(got.Body), w.URL+got.URL)); undone != want {
					t.Errorf("%s: undone it is\n%s", base, undone)
				}
			}
		})
	}
}

func TestAnErrorForTheRawFormOfAnUndatedCopyIsNotCoveredUp(t *testing.T) {
	// The Internet Archive's page about the capture of a redirect has no
	// Memento-Datetime. It must not pass for the copy.
	w := newWorld(t)
	w.Add(archivetest.Capture{URL: page, At: day(2020, 1, 1), Location: "http://b.example/"})
	w.Behave(archivetest.Behaviour{Faults: map[archivetest.Door]archivetest.Fault{archivetest.Raw: {Status: 502}}})
	for _, base := range w.bases() {
		_, err := w.find(base, page, Wanted{})
		failed(t, err, sift.CodeUpstream5xx, "answered 502")
	}
}

func TestAnArchiveWithoutMementoHeadersIsRead(t *testing.T) {
	w := newWorld(t)
	w.Add(archivetest.Capture{URL: page, At: day(2020, 1, 1), Body: "it"})
	w.Behave(archivetest.Behaviour{NoDates: true})
	for _, base := range w.bases() {
		got, err := w.find(base, page, Wanted{})
		if d := cmp.Diff(found{raw(page, day(2020, 1, 1)), page, "it", day(2020, 1, 1)}, got); d != "" || err != nil {
			t.Errorf("%s: %v\n%s", base, err, d)
		}
	}
}

func TestATimeGateMayAnswerWithTheCopyItself(t *testing.T) {
	w := newWorld(t)
	w.Add(archivetest.Capture{URL: page, At: day(2019, 1, 1), Body: "old"}, archivetest.Capture{URL: page, At: day(2020, 1, 1), Body: "it"})
	w.Behave(archivetest.Behaviour{Direct: true})
	for _, b := range w.bases()[:2] {
		got, err := w.find(b, page, Wanted{Around: day(2019, 2, 1)})
		if d := cmp.Diff(found{raw(page, day(2019, 1, 1)), page, "old", day(2019, 1, 1)}, got); d != "" || err != nil {
			t.Errorf("%v\n%s", err, d)
		}
	}
}

func TestACopyTellsAgainstWhatItsLinksResolve(t *testing.T) {
	w := newWorld(t)
	w.Add(archivetest.Capture{URL: page, At: day(2020, 1, 1), Body: "it"})
	got, err := w.client(w.URL).Find(t.Context(), page+"#part", Wanted{})
	if err != nil {
		t.Fatal(err)
	}
	defer got.Response.Body.Close()
	if got.Base() != page+"#part" || got.Archive != "127.0.0.1" {
		t.Errorf("base %s, archive %s", got.Base(), got.Archive)
	}
	other := Copy{URL: "https://wiki.example/index.php?oldid=7", Original: "https://wiki.example/Page"}
	if other.Base() != other.URL {
		t.Errorf("base %s", other.Base())
	}
}

func TestTheTimeMapThatTheTimeGateNamesIsAsked(t *testing.T) {
	w := newWorld(t)
	w.Add(archivetest.Capture{URL: page, At: day(2019, 1, 1), Body: "it"}, archivetest.Capture{URL: page, At: day(2020, 1, 1), Status: 404, Body: "gone"})
	if _, err := w.find(w.URL+"/timegate/", page, Wanted{}); err != nil {
		t.Fatal(err)
	}
	if r := w.Requests(); !slices.ContainsFunc(r, func(r archivetest.Request) bool { return r.Target == "/web/timemap/link/"+page }) {
		t.Errorf("asked %+v", r)
	}
}

func TestPagesOfATimeMapAreReadAsFarAsTheyMatter(t *testing.T) {
	w := newWorld(t)
	for y := 2001; y <= 2020; y++ {
		w.Add(archivetest.Capture{URL: page, At: day(y, 1, 1), Body: fmt.Sprint(y)})
	}
	w.Behave(archivetest.Behaviour{PageSize: 3})
	for _, tt := range []struct {
		q       Wanted
		want    string
		targets []string
	}{
		{Wanted{}, "2020", []string{"/timemap/link/" + page, "/web/timemap/link/7/" + page}},
		{Wanted{Around: day(2011, 2, 1)}, "2011", []string{"/timemap/link/" + page, "/web/timemap/link/4/" + page}},
		{Wanted{Around: day(2000, 1, 1)}, "2001", []string{"/timemap/link/" + page}},
		{Wanted{Around: day(2000, 1, 1), NotBefore: day(2016, 1, 1)}, "2016", []string{"/timemap/link/" + page, "/web/timemap/link/6/" + page}},
	} {
		before := len(w.Requests())
		got, err := w.find(w.URL+"/timemap/link/", page, tt.q)
		if err != nil || got.Body != tt.want {
			t.Errorf("%+v: %q, %v; want %s", tt.q, got.Body, err, tt.want)
		}
		var targets []string
		for _, r := range w.Requests()[before:] {
			if r.Door == archivetest.TimeMap {
				targets = append(targets, r.Target)
			}
		}
		if d := cmp.Diff(tt.targets, targets); d != "" {
			t.Errorf("%+v:\n%s", tt.q, d)
		}
	}
	_, err := w.find(w.URL+"/timemap/link/", page, Wanted{NotBefore: day(2021, 1, 1)})
	none(t, err, "one of 2020-01-01 would be too old")

	// An index of more pages than are remembered at once.
	for d := range 300 {
		w.Add(archivetest.Capture{URL: "http://b.example/", At: day(2010, 1, 1+d), Body: fmt.Sprint(d)})
	}
	w.Behave(archivetest.Behaviour{PageSize: 1})
	for _, tt := range []struct {
		q    Wanted
		want string
	}{
		{Wanted{}, "299"},
		{Wanted{Around: day(2010, 1, 151)}, "150"},
		{Wanted{Around: day(2000, 1, 1), NotBefore: day(2010, 1, 201)}, "200"},
	} {
		if got, err := w.find(w.URL+"/timemap/link/", "http://b.example/", tt.q); err != nil || got.Body != tt.want {
			t.Errorf("%+v: %q, %v; want %s", tt.q, got.Body, err, tt.want)
		}
	}
}

func TestARootWithAnotherLayoutIsAnArchiveToo(t *testing.T) {
	w := newWorld(t)
	w.Behave(archivetest.Behaviour{OpenWay: true})
	w.Add(archivetest.Capture{URL: "http://a.example/x?q=1", At: day(2025, 3, 4), Body: "<p>it</p>"})
	got, err := w.find(w.URL, "http://a.example/x?q=1", Wanted{})
	if err != nil || !got.At.Equal(day(2025, 3, 4)) || got.Body != "<p>it</p>" {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := w.find(w.URL, "http://a.example/none", Wanted{}); !errors.Is(err, ErrNone) {
		t.Errorf("%v", err)
	}
	if _, err := w.find(w.URL, "http://a.example/x?q=1", Wanted{NotBefore: day(2025, 3, 5)}); !errors.Is(err, ErrNone) || !strings.Contains(err.Error(), "2025-03-04") {
		t.Errorf("%v", err)
	}
	// An archive that answers is not asked by other ways.
	w.Behave(archivetest.Behaviour{})
	before := len(w.Requests())
	if _, err := w.find(w.URL, "http://a.example/none", Wanted{}); !errors.Is(err, ErrNone) {
		t.Errorf("%v", err)
	}
	for _, r := range w.Requests()[before:] {
		if strings.HasPrefix(r.Target, "/timegate/") || strings.HasPrefix(r.Target, "/timemap/") {
			t.Errorf("asked %s", r.Target)
		}
	}
}
