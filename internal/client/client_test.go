package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"sift.build/sift/internal/api"
	"sift.build/sift/internal/sift"
)

// backend is the way of one target, in one function.
type backend func(context.Context, sift.Caller, sift.Target) (*sift.Envelope, error)

func (b backend) FetchTarget(ctx context.Context, c sift.Caller, t sift.Target) (*sift.Envelope, error) {
	return b(ctx, c, t)
}

// oneKey lets in who has it; "" is a server without callers.
type oneKey string

func (k oneKey) Configured() bool { return k != "" }

func (k oneKey) Authenticate(authorization string) (sift.Caller, error) {
	if k != "" && authorization != "Bearer "+string(k) {
		return sift.Caller{}, sift.Fail(sift.CodeUnauthorized, "no key, or not a known one").WithHint(sift.HintAuth)
	}
	return sift.Caller{Name: "one", Class: "default"}, nil
}

// serve runs the real HTTP edge in front of b.
func serve(t *testing.T, key oneKey, b backend) string {
	t.Helper()
	srv := httptest.NewServer(api.New(api.Config{Fetcher: b, Auth: key}).Handler())
	t.Cleanup(srv.Close)
	return srv.URL
}

func ask(t *testing.T, c Config, target sift.Target) (*Answer, error) {
	t.Helper()
	cl, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	return cl.FetchTarget(t.Context(), target)
}

func envelope() *sift.Envelope {
	next := 6
	return &sift.Envelope{
		Answer: &sift.Answer{
			URL: "https://example.org/a", FinalURL: "https://example.org/b", Status: 203, ContentType: "text/html", Mode: sift.ModeLinks,
			Title: "T", Author: "A", Site: "S", Published: "2026-01-02", Language: "en", Description: "D", Content: "<ü>\n", Chars: 4, TotalChars: 9,
			Links: []sift.Link{{Text: "x", URL: "https://example.org/x"}}, Outline: []sift.Heading{{Level: 2, Text: "H", Anchor: "h", Offset: 1, Chars: 3}},
			Tokens: 2, Truncated: true, NextOffset: &next, Coverage: 0.25, Snapshot: "s", Hint: sift.HintFresh,
			Receipt: sift.Receipt{FetchedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), SHA256: "ab", Bytes: 7, Charset: "utf-8", CharsetFrom: "bom",
				Hops: []sift.Hop{{URL: "https://example.org/a", Status: 301}}, Protocol: "h2", Address: "93.184.216.34"},
			Warnings: []sift.Warning{{Code: sift.WarnPartial, Message: "cut"}},
		},
		Cache:  sift.CacheInfo{Hit: true, Age: 5, Revalidated: true},
		Timing: sift.Timing{QueueMS: 1, FetchMS: 2, RenderMS: 3, TotalMS: 6},
	}
}

func TestAnAnswerComesBackAsItWasGiven(t *testing.T) {
	e := envelope()
	base := serve(t, "", func(context.Context, sift.Caller, sift.Target) (*sift.Envelope, error) { return e, nil })
	got, err := ask(t, Config{URL: base}, sift.Target{URL: "https://example.org/a"})
	if err != nil {
		t.Fatal(err)
	}
	if string(got.JSON) != string(e.AppendJSON(nil)) {
		t.Errorf("JSON is %s", got.JSON)
	}
	if diff := cmp.Diff(*e, got.Envelope, cmpopts.IgnoreUnexported(sift.Answer{})); diff != "" {
		t.Errorf("(-given +came):\n%s", diff)
	}
}

func TestATargetArrivesAsItWasAsked(t *testing.T) {
	zero, hour, half := 0, 3600, 0.5
	for _, want := range []sift.Target{
		{URL: "https://example.org/?a=1&b=\u00fc<>\u2028"},
		{URL: "u", Mode: sift.ModeRaw, MaxAge: &hour, MaxChars: 10, Offset: 7, Snapshot: "s/+", Timeout: &half, Pages: "1-3,7-", Grep: "a|b", Password: "p\"w"},
		{URL: "u", MaxAge: &zero},
	} {
		var got sift.Target
		base := serve(t, "", func(_ context.Context, _ sift.Caller, target sift.Target) (*sift.Envelope, error) {
			got = target
			return envelope(), nil
		})
		if _, err := ask(t, Config{URL: base + "/"}, want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
}

func TestAFailureComesBackAsTheOneItWas(t *testing.T) {
	for _, code := range sift.Codes() {
		want := &sift.Failure{
			Code: code, Message: "a: sentence", Hint: sift.HintRecover, URL: "https://example.org/", Status: 404, RetryAfter: 3 * time.Second,
			UpstreamBody: "gone",
		}
		base := serve(t, "", func(context.Context, sift.Caller, sift.Target) (*sift.Envelope, error) { return nil, want })
		_, err := ask(t, Config{URL: base}, sift.Target{URL: "u"})
		f, ok := err.(*sift.Failure)
		if !ok {
			t.Fatalf("%T", err)
		}
		if code == sift.CodeInternal { // whose text says no more than that
			want.Message = sift.AsFailure(nil).Message
		}
		if diff := cmp.Diff(want, f); diff != "" {
			t.Errorf("%s:\n%s", code, diff)
		}
	}
}

func TestTheKeyIsSentAndOnlyWhereItIsSafe(t *testing.T) {
	base := serve(t, "k1", func(context.Context, sift.Caller, sift.Target) (*sift.Envelope, error) { return envelope(), nil })
	if _, err := ask(t, Config{URL: base, Key: "k1"}, sift.Target{URL: "u"}); err != nil {
		t.Error(err)
	}
	for _, key := range []string{"", "k2"} {
		_, err := ask(t, Config{URL: base, Key: key}, sift.Target{URL: "u"})
		if f := sift.AsFailure(err); f.Code != sift.CodeUnauthorized || f.Hint != sift.HintAuth {
			t.Errorf("%q: %v", key, err)
		}
	}
	for _, c := range []struct {
		config Config
		ok     bool
	}{
		{Config{URL: "http://localhost:8642", Key: "k"}, true},
		{Config{URL: "http://127.0.0.9", Key: "k"}, true},
		{Config{URL: "http://[::1]:1", Key: "k"}, true},
		{Config{URL: "https://sift.example", Key: "k"}, true},
		{Config{URL: "http://sift.example"}, true},
		{Config{URL: "http://sift.example", Key: "k"}, false},
		{Config{URL: "http://10.0.0.7:8642", Key: "k"}, false},
		{Config{URL: "http://localhost.example", Key: "k"}, false},
		{Config{URL: "http://10.0.0.7:8642", Key: "k", SendKeyUnencrypted: true}, true},
		{Config{URL: "https://sift.example", Key: "k\r\nX-Evil: 1"}, false},
		{Config{URL: "https://sift.example", Key: "k k"}, false},
		{Config{URL: "https://sift.example", Key: "ké"}, false},
		{Config{URL: ""}, false},
		{Config{URL: "localhost:8642"}, false},
		{Config{URL: "ftp://localhost"}, false},
		{Config{URL: "http://"}, false},
		{Config{URL: "http://:8642"}, false},
		{Config{URL: "http://user:k@localhost"}, false},
		{Config{URL: "http://localhost?key=k"}, false},
		{Config{URL: "http://localhost#k"}, false},
		{Config{URL: "http://%zz"}, false},
	} {
		_, err := New(c.config)
		if (err == nil) != c.ok {
			t.Errorf("%+v: %v", c.config, err)
		}
		if err != nil && sift.AsFailure(err).Code != sift.CodeInvalid {
			t.Errorf("%+v: %v", c.config, err)
		}
	}
}

func TestARedirectIsNotFollowedAndTheKeyStays(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("%s was asked with %q", r.URL, r.Header.Get("Authorization"))
	}))
	defer elsewhere.Close()
	front := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	defer front.Close()
	_, err := ask(t, Config{URL: front.URL, Key: "k"}, sift.Target{URL: "u"})
	f := sift.AsFailure(err)
	if f.Code != sift.CodeUnreachable || !strings.Contains(f.Message, `a redirect to "`+elsewhere.URL+`"`) {
		t.Error(err)
	}
}

func TestWhatIsNotSiftIsSaid(t *testing.T) {
	const good = `{"success":true,"content":"x"}`
	for name, c := range map[string]struct {
		status    int
		typ, body string
	}{
		"a page":                       {200, "text/html", "<p>hello"},
		"an error page":                {502, "text/html", "<p>bad gateway"},
		"no type":                      {200, "", good},
		"broken JSON":                  {200, "application/json", `{"success":tru`},
		"a list":                       {200, "application/json", `[]`},
		"another JSON":                 {200, "application/json", `{"ok":1}`},
		"wrong types":                  {200, "application/json", `{"success":true,"content":1}`},
		"failure with a 200":           {200, "application/json", `{"success":false,"error":"x","code":"blocked"}`},
		"success with a 500":           {500, "application/json", good},
		"a failure with a wrong field": {500, "application/json", `{"success":false,"error":1}`},
	} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = []string{c.typ}
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		}))
		_, err := ask(t, Config{URL: srv.URL}, sift.Target{URL: "u"})
		f := sift.AsFailure(err)
		if f.Code != sift.CodeUnreachable || !strings.HasPrefix(f.Message, "what answers at "+srv.URL+" is not a sift server of this version: status ") {
			t.Errorf("%s: %v", name, err)
		}
		if strings.Contains(f.Message, "hello") || strings.Contains(f.Message, "gateway") {
			t.Errorf("%s: the page got into the sentence: %v", name, err)
		}
		srv.Close()
	}
}

func TestAFailureOfANewerServerIsKept(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.WriteHeader(418)
		_, _ = io.WriteString(w, `{"success":false,"error":"teapot: short and stout","code":"teapot","hint":"tea","more":[1]}`)
	}))
	defer srv.Close()
	_, err := ask(t, Config{URL: srv.URL}, sift.Target{URL: "u"})
	if err == nil || err.Error() != "internal: teapot: short and stout" || sift.AsFailure(err).Hint != "" {
		t.Error(err)
	}
}

func TestAnAnswerWithoutEndIsNotRead(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		block := []byte(strings.Repeat(" ", 1<<20))
		for {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	}))
	defer srv.Close()
	c, err := New(Config{URL: srv.URL})
	if err != nil {
		t.Fatal(err)
	}
	if c.most != 128<<20 { // 10 million characters of 4 bytes, and room for escapes
		t.Errorf("%d bytes are read", c.most)
	}
	c.most = 3 << 20
	_, err = c.FetchTarget(t.Context(), sift.Target{URL: "u"})
	if f := sift.AsFailure(err); f.Code != sift.CodeTooLong || !strings.Contains(f.Message, "3145728 bytes") {
		t.Error(err)
	}
}

func TestAServerThatIsNotThereIsNamed(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := "http://" + l.Addr().String()
	l.Close()
	_, err = ask(t, Config{URL: closed}, sift.Target{URL: "u"})
	if err == nil || err.Error() != "unreachable: cannot reach the sift server at "+closed+": nothing listens there; is `sift serve` running?" ||
		sift.AsFailure(err).Hint != sift.HintRetry {
		t.Error(err)
	}

	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	defer silent.Close()
	_, err = ask(t, Config{URL: silent.URL}, sift.Target{URL: "u"})
	if err == nil || err.Error() != "unreachable: cannot reach the sift server at "+silent.URL+": it closed the connection" {
		t.Error(err)
	}

	secure := httptest.NewTLSServer(http.NotFoundHandler())
	defer secure.Close()
	_, err = ask(t, Config{URL: secure.URL}, sift.Target{URL: "u"})
	if f := sift.AsFailure(err); f.Code != sift.CodeUnreachable || !strings.Contains(f.Message, "certificate") || strings.Contains(f.Message, "Post ") {
		t.Error(err)
	}
}

func TestWhoCancelsGetsCancelAndWhoRunsOutOfTimeGetsTimeout(t *testing.T) {
	waiting := make(chan struct{}, 2)
	base := serve(t, "", func(ctx context.Context, _ sift.Caller, _ sift.Target) (*sift.Envelope, error) {
		waiting <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	})
	c, err := New(Config{URL: base})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-waiting; cancel() }()
	if _, err := c.FetchTarget(ctx, sift.Target{URL: "u"}); sift.AsFailure(err).Code != sift.CodeCancel || !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	expired, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	if _, err := c.FetchTarget(expired, sift.Target{URL: "u"}); sift.AsFailure(err).Code != sift.CodeTimeout {
		t.Error(err)
	}
}

// A server that took the call and never answers must not hold the command line for good.
func TestAServerThatNeverAnswersIsGivenUp(t *testing.T) {
	short, long := 2.0, 1e300
	for _, c := range []struct {
		timeout *float64
		want    time.Duration
	}{{nil, 5 * time.Minute}, {&short, 32 * time.Second}, {&long, 5*time.Minute + 30*time.Second}} {
		synctest.Test(t, func(t *testing.T) {
			cl, err := New(Config{URL: "http://127.0.0.1:8642"})
			if err != nil {
				t.Fatal(err)
			}
			defer cl.Close()
			here, there := net.Pipe()
			defer there.Close()
			cl.http.Transport.(*http.Transport).DialContext = func(context.Context, string, string) (net.Conn, error) { return here, nil }
			go func() { _, _ = io.Copy(io.Discard, there) }()
			start := time.Now()
			_, err = cl.FetchTarget(t.Context(), sift.Target{URL: "u", Timeout: c.timeout})
			if f := sift.AsFailure(err); f.Code != sift.CodeTimeout || f.Message != fmt.Sprintf("the sift server at http://127.0.0.1:8642 did not answer within %v", c.want) {
				t.Error(err)
			}
			if took := time.Since(start); took != c.want {
				t.Errorf("given up after %v, want %v", took, c.want)
			}
		})
	}
}

func TestATargetThatCannotBeWrittenIsRefusedHere(t *testing.T) {
	nan := math.NaN()
	if _, err := ask(t, Config{URL: "http://localhost:1"}, sift.Target{URL: "u", Timeout: &nan}); sift.AsFailure(err).Code != sift.CodeInvalid {
		t.Error(err)
	}
}

func TestNoProxyStandsBeforeThisMachine(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	t.Setenv("http_proxy", "http://127.0.0.1:1")
	for _, raw := range []string{"http://localhost:8642/", "http://sift.localhost/", "http://127.0.0.9/", "http://[::1]:8642/"} {
		u, err := url.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		if via, err := proxy(&http.Request{URL: u}); via != nil || err != nil {
			t.Errorf("%s goes by %v (%v)", raw, via, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(200, string(envelope().AppendJSON(nil)))
	f.Add(422, `{"success":false,"error":"blocked: private address 10.0.0.7","code":"blocked","retry_after":-1}`)
	f.Add(200, `{"success":true,"next_offset":1e400}`)
	c, err := New(Config{URL: "http://localhost"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, status int, body string) {
		got, err := c.decode(reply{status: status, header: http.Header{"Content-Type": {"application/json"}}, body: []byte(body)})
		if (got == nil) == (err == nil) {
			t.Fatalf("%v, %v", got, err)
		}
		if err != nil {
			if _, ok := err.(*sift.Failure); !ok {
				t.Fatalf("%T", err)
			}
			return
		}
		if status != 200 || !json.Valid(got.JSON) {
			t.Fatalf("status %d: %s", status, got.JSON)
		}
		got.AppendJSON(nil) // must not panic
	})
}
