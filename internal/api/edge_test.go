package api

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sift.build/sift/internal/sift"
)

func TestAKeyIsNeededWhereCallersAreConfigured(t *testing.T) {
	asked := 0
	c := Config{Auth: twoCallers(), Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, "sift_up 1\n")
	}), Fetcher: fetcher(func(_ context.Context, caller sift.Caller, _ sift.Target) (*sift.Envelope, error) {
		asked++
		if caller.Name != "research" {
			t.Errorf("the caller is %q", caller.Name)
		}
		return answer("x"), nil
	})}
	var refusals []string
	for name, headers := range map[string][]string{
		"none":                {},
		"empty":               {"Authorization", ""},
		"another scheme":      {"Authorization", "Basic open-key"},
		"no scheme":           {"Authorization", "open-key"},
		"empty key":           {"Authorization", "Bearer "},
		"a byte too many":     {"Authorization", "Bearer open-keyx"},
		"a megabyte":          {"Authorization", "Bearer " + strings.Repeat("k", 1<<20)},
		"two headers":         {"Authorization", "Bearer open-key", "Authorization", "Bearer open-key"},
		"two, one of them ok": {"Authorization", "Bearer wrong", "Authorization", "Bearer open-key"},
	} {
		for _, r := range []*http.Request{post(`{"url":"u"}`), get("/v1/fetch?url=u"), post(`not JSON`)} {
			w := do(t, c, with(r, headers...))
			if w.Code != 401 || w.Header().Get("WWW-Authenticate") != `Bearer realm="sift"` {
				t.Errorf("%s: %d %q", name, w.Code, w.Header().Get("WWW-Authenticate"))
			}
			refusals = append(refusals, w.Body.String())
		}
	}
	for _, body := range refusals {
		if body != refusals[0] {
			t.Errorf("refusals differ:\n%s\n%s", refusals[0], body)
		}
	}
	if w := do(t, c, get("/v1/fetch?url=u&key=open-key")); w.Code != 401 {
		t.Errorf("a key in the query: %d", w.Code)
	}
	if asked != 0 {
		t.Fatalf("%d fetches for callers without a key", asked)
	}
	if w := do(t, c, with(post(`{"url":"u"}`), "Authorization", "Bearer open-key")); w.Code != 200 {
		t.Errorf("with the key: %d %s", w.Code, w.Body)
	}
	for _, path := range []string{"/healthz", "/readyz", "/metrics", "/openapi.yaml"} {
		r := get(path)
		r.Host = "sift.example.org" // any name: the keys are the protection
		if w := do(t, c, r); w.Code != 200 {
			t.Errorf("%s without a key: %d", path, w.Code)
		}
	}
}

func TestAServerWithoutAnAuthenticatorLetsNobodyIn(t *testing.T) {
	h := checked(t, New(Config{Fetcher: always(answer("x"), nil)}).Handler())
	w := httptest.NewRecorder()
	h.ServeHTTP(w, with(post(`{"url":"u"}`), "Authorization", "Bearer x"))
	if w.Code != 401 {
		t.Errorf("%d", w.Code)
	}
}

// A page in a browser on this machine can reach the loopback; the names and
// the sites that it cannot hide are what tells it from a program.
func TestWithoutCallersOnlyThisMachineMayAsk(t *testing.T) {
	for _, c := range []struct {
		host    string
		headers []string
		ok      bool
	}{
		{"localhost", nil, true},
		{"localhost:8642", nil, true},
		{"LOCALHOST:1", nil, true},
		{"localhost.:8642", nil, true},
		{"sift.localhost:8642", nil, true},
		{"127.0.0.1:8642", nil, true},
		{"127.200.3.4", nil, true},
		{"[::1]:8642", nil, true},
		{"[::1]", nil, true},
		{"[::ffff:127.0.0.1]:80", nil, true},
		// DNS rebinding: the page's own name, pointed at 127.0.0.1
		{"evil.example:8642", nil, false},
		{"localhost.evil.example", nil, false},
		{"evil-localhost", nil, false},
		{"127.0.0.1.evil.example:8642", nil, false},
		{"127.1", nil, false},
		{"2130706433", nil, false},
		{"0x7f000001", nil, false},
		{"0.0.0.0:8642", nil, false},
		{"[::]:8642", nil, false},
		{"192.168.0.5:8642", nil, false},
		{"[fe80::1]:8642", nil, false},
		{"", nil, false},
		{":8642", nil, false},
		{"localhost:8642@evil.example", nil, false},
		// the site that a browser says the request comes from
		{"localhost:8642", []string{"Sec-Fetch-Site", "same-origin", "Origin", "http://localhost:8642"}, true},
		{"localhost:8642", []string{"Sec-Fetch-Site", "none"}, true}, // typed into the address bar
		{"localhost:8642", []string{"Sec-Fetch-Site", "cross-site"}, false},
		{"localhost:8642", []string{"Sec-Fetch-Site", "same-site"}, false}, // another port of localhost
		{"localhost:8642", []string{"Sec-Fetch-Site", "news"}, false},
		{"localhost:8642", []string{"Origin", "http://localhost:8642"}, true},
		{"localhost:8642", []string{"Origin", "https://localhost:8642"}, true}, // behind a proxy that ends TLS
		{"localhost:8642", []string{"Origin", "http://localhost:3000"}, false},
		{"localhost:8642", []string{"Origin", "http://127.0.0.1:8642"}, false},
		{"localhost:8642", []string{"Origin", "https://evil.example"}, false},
		{"localhost:8642", []string{"Origin", "null"}, false},
		{"localhost:8642", []string{"Origin", ""}, false},
		{"localhost:8642", []string{"Origin", "http://localhost:8642", "Origin", "https://evil.example"}, false},
		{"localhost:8642", []string{"Sec-Fetch-Site", "same-origin", "Origin", "https://evil.example"}, false},
	} {
		asked := false
		config := Config{Fetcher: fetcher(func(context.Context, sift.Caller, sift.Target) (*sift.Envelope, error) {
			asked = true
			return answer("x"), nil
		}), Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Type", "text/plain") })}
		want := map[bool]int{true: 200, false: 401}[c.ok]
		for _, r := range []*http.Request{get("/v1/fetch?url=u"), post(`{"url":"u"}`), get("/openapi.yaml"), get("/metrics")} {
			r.Host = c.host
			w := do(t, config, with(r, c.headers...))
			if w.Code != want {
				t.Errorf("%s %s for Host %q, %q: %d, want %d", r.Method, r.URL.Path, c.host, c.headers, w.Code, want)
			}
		}
		if asked != c.ok {
			t.Errorf("Host %q, %q: a fetch was made: %v", c.host, c.headers, asked)
		}
		// A prober calls by whatever name it has.
		for _, path := range []string{"/healthz", "/readyz"} {
			r := get(path)
			r.Host = c.host
			if w := do(t, config, with(r, c.headers...)); w.Code != 200 {
				t.Errorf("%s for Host %q: %d", path, c.host, w.Code)
			}
		}
		r := get("/nowhere")
		r.Host = c.host
		if w := do(t, config, with(r, c.headers...)); w.Code != map[bool]int{true: 404, false: 401}[c.ok] {
			t.Errorf("an unknown path for Host %q: %d", c.host, w.Code)
		}
	}
}

// logged runs one request and gives the lines it left.
func logged(t *testing.T, level slog.Level, c Config, r *http.Request) []string {
	t.Helper()
	var b bytes.Buffer
	c.Log = slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{Level: level, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == "time" || a.Key == "took" {
			return slog.Attr{}
		}
		return a
	}}))
	if c.Auth == nil {
		c.Auth = twoCallers()
	}
	func() {
		defer func() {
			if p := recover(); p != nil && p != http.ErrAbortHandler { // which net/http takes without a word
				panic(p)
			}
		}()
		New(c).Handler().ServeHTTP(httptest.NewRecorder(), r)
	}()
	return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
}

func TestARequestLeavesOneLine(t *testing.T) {
	const open, closed = "Bearer open-key", "Bearer closed-key"
	target := `{"url":"https://user:pw@secret.example/a?token=t#f"}`
	failing := always(nil, (&sift.Failure{Code: sift.CodeUnreachable, Message: "no"}).WithCause(errors.New("dial secret.example")))
	odd := get("/v1/fetch")
	odd.Method = "BREW\x1b[31m"
	for name, c := range map[string]struct {
		level   slog.Level
		fetcher fetcher
		r       *http.Request
		want    string
	}{
		"an answer": {slog.LevelInfo, always(answer("x"), nil), with(post(target), "Authorization", open),
			`level=INFO msg=request method=POST route=/v1/fetch status=200 caller=research`},
		"a failure": {slog.LevelInfo, failing, with(post(target), "Authorization", open),
			`level=INFO msg=request method=POST route=/v1/fetch status=502 code=unreachable caller=research`},
		"a failure, debugging": {slog.LevelDebug, failing, with(post(target), "Authorization", open),
			`level=INFO msg=request method=POST route=/v1/fetch status=502 code=unreachable caller=research cause="dial secret.example" target=https://secret.example/a`},
		"our fault": {slog.LevelInfo, always(nil, errors.New("disk\nfull")), with(post(target), "Authorization", open),
			`level=ERROR msg=request method=POST route=/v1/fetch status=500 code=internal caller=research cause="disk\nfull"`},
		"a restricted caller's failure": {slog.LevelDebug, failing, with(post(target), "Authorization", closed),
			`level=INFO msg=request method=POST route=/v1/fetch status=502 code=unreachable caller=legal`},
		"a restricted caller's, our fault": {slog.LevelDebug, always(nil, errors.New("at https://secret.example/")), with(post(target), "Authorization", closed),
			`level=ERROR msg=request method=POST route=/v1/fetch status=500 code=internal caller=legal`},
		"a restricted caller's answer": {slog.LevelDebug, always(answer("x"), nil), with(get("/v1/fetch?url=https://secret.example/"), "Authorization", closed),
			`level=INFO msg=request method=GET route=/v1/fetch status=200 caller=legal`},
		"nobody": {slog.LevelDebug, nil, post(target),
			`level=INFO msg=request method=POST route=/v1/fetch status=401 code=unauthorized`},
		"nobody, by GET": {slog.LevelDebug, nil, get("/v1/fetch?url=https://secret.example/"),
			`level=INFO msg=request method=GET route=/v1/fetch status=401 code=unauthorized`},
		"nowhere": {slog.LevelDebug, nil, get("/https://secret.example/"),
			`level=INFO msg=request method=GET route=none status=404 code=not_found`},
		"an odd method": {slog.LevelDebug, nil, odd,
			`level=INFO msg=request method=other route=/v1/fetch status=405 code=invalid`},
	} {
		got := logged(t, c.level, Config{Fetcher: c.fetcher}, c.r)
		if diff := cmp.Diff([]string{c.want}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestAPanicIsA500AndRestrictedCallersStayPrivate(t *testing.T) {
	boom := fetcher(func(context.Context, sift.Caller, sift.Target) (*sift.Envelope, error) {
		panic(errors.New("at https://secret.example/?q"))
	})
	w := do(t, Config{Fetcher: boom, Auth: twoCallers()}, with(post(`{"url":"https://secret.example/"}`), "Authorization", "Bearer closed-key"))
	if f := failure(t, w); w.Code != 500 || f.Error != "internal: something went wrong inside sift; the operator's log has the details" {
		t.Errorf("%d %s", w.Code, f.Error)
	}
	for key, private := range map[string]bool{"open-key": false, "closed-key": true} {
		lines := logged(t, slog.LevelDebug, Config{Fetcher: boom}, with(post(`{"url":"https://secret.example/"}`), "Authorization", "Bearer "+key))
		if len(lines) != 2 {
			t.Fatalf("%d lines: %q", len(lines), lines)
		}
		all := strings.Join(lines, "\n")
		if strings.Contains(all, "secret") == private {
			t.Errorf("%s: the URL is in the log: %v\n%s", key, !private, all)
		}
		if !strings.Contains(lines[0], "edge_test.go") || !strings.Contains(lines[0], "level=ERROR") {
			t.Errorf("%s: the log does not say where: %s", key, lines[0])
		}
		if private && !strings.Contains(lines[0], "panic=*errors.errorString") {
			t.Errorf("the log does not say what kind: %s", lines[0])
		}
	}
}

type panickyAuth struct{ keys }

func (panickyAuth) Authenticate(authorization string) (sift.Caller, error) { panic(authorization) }

func TestAPanicBeforeTheCallerIsKnownKeepsTheKeyOutOfTheLog(t *testing.T) {
	lines := logged(t, slog.LevelDebug, Config{Auth: panickyAuth{twoCallers()}}, with(post(`{}`), "Authorization", "Bearer open-key"))
	if all := strings.Join(lines, "\n"); strings.Contains(all, "open-key") {
		t.Error(all)
	}
}

func TestAPanicInTheMiddleOfAnAnswerEndsTheConnection(t *testing.T) {
	for name, p := range map[string]any{"a panic": "boom", "an abort": http.ErrAbortHandler} {
		srv := httptest.NewServer(New(Config{Auth: keys{}, Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "half")
			_ = http.NewResponseController(w).Flush()
			panic(p)
		})}).Handler())
		resp, err := http.Get(srv.URL + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		if body, err := io.ReadAll(resp.Body); err == nil {
			t.Errorf("%s: the answer looks whole: %q", name, body)
		}
		resp.Body.Close()
		srv.Close()
	}
}

func TestRequestsAreCountedByRouteAndStatus(t *testing.T) {
	type seen struct {
		Route  string
		Status int
	}
	var got []seen
	c := Config{Fetcher: always(nil, sift.Fail(sift.CodeBusy, "full")), Metrics: http.NotFoundHandler(), Trace: Trace{
		Answered: func(route string, status int, took time.Duration) {
			if took < 0 {
				t.Errorf("%v", took)
			}
			got = append(got, seen{route, status})
		},
	}}
	h := New(Config{Auth: keys{}, Fetcher: c.Fetcher, Metrics: c.Metrics, Trace: c.Trace}).Handler()
	for _, r := range []*http.Request{post(`{"url":"u"}`), get("/healthz"), get("/nowhere"), get("//"), get("/metrics"), httptest.NewRequest("PUT", "http://localhost/readyz", nil)} {
		h.ServeHTTP(httptest.NewRecorder(), r)
	}
	want := []seen{{"/v1/fetch", 429}, {"/healthz", 200}, {"", 404}, {"", 404}, {"/metrics", 404}, {"/readyz", 405}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"/v1/fetch", "/v1/batch", "/v1/batch/{id}", "/healthz", "/readyz", "/metrics", "/openapi.yaml"}, Routes()); diff != "" {
		t.Error(diff)
	}
}

func TestACallerWhoGoesAwayCancelsTheFetch(t *testing.T) {
	for _, body := range []string{"", `{"url":"u"}`} {
		started, ended := make(chan struct{}), make(chan int, 1)
		s := New(Config{Auth: keys{}, Fetcher: fetcher(func(ctx context.Context, _ sift.Caller, _ sift.Target) (*sift.Envelope, error) {
			close(started)
			<-ctx.Done()
			return nil, fmt.Errorf("fetch: %w", ctx.Err())
		}), Trace: Trace{Answered: func(_ string, status int, _ time.Duration) { ended <- status }}})
		srv := httptest.NewServer(s.Handler())
		ctx, cancel := context.WithCancel(context.Background())
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, srv.URL+"/v1/fetch?url=u", nil)
		if body != "" {
			r, err = http.NewRequestWithContext(ctx, http.MethodPost, srv.URL+"/v1/fetch", strings.NewReader(body))
		}
		if err != nil {
			t.Fatal(err)
		}
		go func() { <-started; cancel() }()
		if resp, err := http.DefaultClient.Do(r); err == nil {
			resp.Body.Close()
			t.Error("an answer came")
		}
		if status := <-ended; status != 499 {
			t.Errorf("counted as %d", status)
		}
		srv.Close()
	}
}

func TestTheServerBoundsHeadBodyAndIdleTime(t *testing.T) {
	var log bytes.Buffer
	srv := NewHTTPServer(New(Config{Auth: keys{}}).Handler(), slog.New(slog.NewTextHandler(&log, nil)))
	for name, ok := range map[string]bool{
		"ReadHeaderTimeout": srv.ReadHeaderTimeout > 0 && srv.ReadHeaderTimeout <= 10*time.Second,
		"ReadTimeout":       srv.ReadTimeout > 0 && srv.ReadTimeout <= 30*time.Second,
		"IdleTimeout":       srv.IdleTimeout > 0 && srv.IdleTimeout <= 2*time.Minute,
		"MaxHeaderBytes":    srv.MaxHeaderBytes == 64<<10,
		// A fetch may take as long as it is configured to; writing has a
		// deadline of its own.
		"WriteTimeout": srv.WriteTimeout == 0,
	} {
		if !ok {
			t.Errorf("%s", name)
		}
	}
	srv.ErrorLog.Print("from net/http\nmsg=forged")
	if got := log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "level=WARN") {
		t.Errorf("%q", got)
	}

	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = srv.Serve(l) }()
	defer srv.Close()
	for _, c := range []struct {
		request string
		want    int
	}{
		{"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", 200},
		{"GET /healthz HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + strings.Repeat("k", 1<<20) + "\r\n\r\n", 431},
		{"GET /healthz?" + strings.Repeat("k", 1<<20) + " HTTP/1.1\r\nHost: localhost\r\n\r\n", 431},
		{"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n", 404},
		{"GET /v1/fetch?url=u HTTP/1.0\r\n\r\n", 401}, // no Host at all
		{"GET http://evil.example/v1/fetch?url=u HTTP/1.1\r\nHost: localhost\r\n\r\n", 401},
		{"POST /v1/fetch HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n", 413},
		{"POST /v1/fetch HTTP/1.1\r\nHost: localhost\r\nContent-Length: 70000\r\n\r\n{", 413}, // and no more of it
		{"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", 200},                             // still there
	} {
		conn, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		go func() { _, _ = io.WriteString(conn, c.request) }()
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatalf("%.60q: %v", c.request, err)
		}
		if resp.StatusCode != c.want {
			t.Errorf("%.60q: %d, want %d", c.request, resp.StatusCode, c.want)
		}
		conn.Close()
	}
}

// deadlines is a ResponseWriter that can be given a deadline.
type deadlines struct {
	*httptest.ResponseRecorder
	got []time.Time
}

func (d *deadlines) SetWriteDeadline(t time.Time) error { d.got = append(d.got, t); return nil }

func TestAReaderWhoDoesNotReadIsCutOff(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for chars, want := range map[int]time.Duration{10: 30 * time.Second, 320 << 10: 40 * time.Second} {
		s := New(Config{Auth: keys{}, Fetcher: always(answer(strings.Repeat("x", chars)), nil)})
		s.now = func() time.Time { return now }
		w := &deadlines{ResponseRecorder: httptest.NewRecorder()}
		s.Handler().ServeHTTP(w, post(`{"url":"u"}`))
		if len(w.got) != 1 || w.got[0].Sub(now) != want {
			t.Errorf("%d characters: deadlines %v, want after %v", chars, w.got, want)
		}
	}
}

func TestALargeAnswersBufferIsNotKept(t *testing.T) {
	s := New(Config{})
	small, large := make([]byte, 0, maxPooled), make([]byte, 0, maxPooled+1)
	s.release(&large)
	if got := s.buffer(); cap(*got) != 0 {
		t.Errorf("a buffer of %d bytes was kept", cap(*got))
	}
	s.release(&small) // whether it comes back is up to the pool
}

// A client that writes its whole body before it reads, on a connection that is
// to be closed, must not find a broken connection instead of the answer.
func TestABodyThatIsTooLongIsAnsweredAndNotCutOff(t *testing.T) {
	srv := NewHTTPServer(New(Config{Auth: keys{}}).Handler(), slog.New(slog.DiscardHandler))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(l) }()
	t.Cleanup(func() {
		_ = srv.Close()
		<-ended
	})
	body := strings.Repeat(" ", 1<<20)
	for _, how := range []string{"Content-Length: 1048576\r\n\r\n" + body, "Transfer-Encoding: chunked\r\n\r\n100000\r\n" + body + "\r\n0\r\n\r\n"} {
		for range 20 {
			conn, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			_, err = io.WriteString(conn, "POST /v1/fetch HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"+how)
			if err != nil {
				t.Fatalf("it was cut off while it wrote: %v", err)
			}
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatalf("no answer: %v", err)
			}
			if resp.StatusCode != http.StatusRequestEntityTooLarge {
				t.Errorf("got %d", resp.StatusCode)
			}
			_ = resp.Body.Close()
			_ = conn.Close()
		}
	}
}
