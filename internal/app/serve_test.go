package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sift.build/sift/internal/config"
	"sift.build/sift/internal/dcache"
)

// within bounds every wait; nothing here takes that long.
const within = 30 * time.Second

// running is a service in this process.
type running struct {
	url   string
	stop  context.CancelFunc
	ended chan error
	log   *logText
}

// logText is a log that may be read while it is written.
type logText struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func settings(t *testing.T) config.Config {
	cfg := config.Default()
	cfg.Listen = "127.0.0.1:0"
	cfg.DataDir = filepath.Join(t.TempDir(), "state")
	return cfg
}

func start(t *testing.T, cfg config.Config, opts ServeOptions) *running {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	r := &running{stop: stop, ended: make(chan error, 1), log: new(logText)}
	opts.Log = slog.New(slog.NewTextHandler(r.log, nil))
	address := make(chan net.Addr, 1)
	opts.Listening = func(a net.Addr) { address <- a }
	go func() { r.ended <- Serve(ctx, cfg, opts) }()
	t.Cleanup(stop)
	select {
	case a := <-address:
		r.url = "http://" + a.String()
	case err := <-r.ended:
		t.Fatalf("it did not start: %v", err)
	}
	return r
}

func receive[T any](t *testing.T, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(within):
		t.Fatalf("waited for %s in vain", what)
		panic("unreachable")
	}
}

func TestARequestThatOutlastsTheGraceIsCutOffAndNothingIsLeftRunning(t *testing.T) {
	before := goleak.IgnoreCurrent()
	arrived, left := make(chan struct{}, 1), make(chan struct{})
	site := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		<-r.Context().Done() // until sift hangs up
		close(left)
	}))
	cfg := settings(t)
	cfg.Guard.Allow = []string{site.Listener.Addr().String()}
	r := start(t, cfg, ServeOptions{Grace: 50 * time.Millisecond})

	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: within}
	answered := make(chan error, 1)
	go func() {
		resp, err := client.Get(r.url + "/v1/fetch?url=" + site.URL + "/")
		if err == nil {
			body, _ := io.ReadAll(resp.Body)
			resp.Body.Close()
			err = fmt.Errorf("an answer: %d, %s", resp.StatusCode, body)
		}
		answered <- err
	}()
	receive(t, "the request", arrived)
	r.stop()
	if err := receive(t, "the end of the service", r.ended); err != nil {
		t.Errorf("a stop that was asked for ended with %v", err)
	}
	if err := receive(t, "the end of the request", answered); strings.HasPrefix(err.Error(), "an answer") {
		t.Error(err)
	}
	receive(t, "the end of the download", left)
	if !strings.Contains(r.log.String(), "requests did not end in time and are cut off") {
		t.Errorf("the log does not say that it was cut off:\n%s", r.log)
	}
	site.Close()
	goleak.VerifyNone(t, before)

	// The folder is free again.
	lock, err := dcache.LockServer(cfg.DataDir)
	if err != nil {
		t.Fatal(err)
	}
	if err := lock.Release(); err != nil {
		t.Error(err)
	}
}

func TestHandlersAreWaitedForBeforeWhatTheyUseIsClosed(t *testing.T) {
	var f inFlight
	inside, goOn := make(chan struct{}), make(chan struct{})
	h := f.count(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		close(inside)
		<-goOn
	}))
	handled := make(chan struct{})
	go func() {
		defer close(handled)
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
	}()
	receive(t, "the handler", inside)
	ended := make(chan struct{})
	go func() {
		f.end()
		close(ended)
	}()
	// A request that comes now, on a connection that is being closed, is not
	// begun any more.
	for begun := true; begun; {
		func() {
			defer func() {
				if p := recover(); p != nil {
					if err, ok := p.(error); !ok || !errors.Is(err, http.ErrAbortHandler) {
						panic(p)
					}
					begun = false
				}
			}()
			f.count(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})).
				ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
		}()
	}
	select {
	case <-ended:
		t.Error("it did not wait for the handler")
	default:
	}
	close(goOn)
	receive(t, "the end", ended)
	receive(t, "the handler", handled)
}

func TestAConnectionOnWhichNothingIsAskedDoesNotHoldUpTheStop(t *testing.T) {
	r := start(t, settings(t), ServeOptions{})
	unused, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer unused.Close()
	client := &http.Client{Transport: &http.Transport{}, Timeout: within}
	resp, err := client.Get(r.url + "/healthz") // accepted after it; then kept open, idle
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	begin := time.Now()
	r.stop()
	if err := receive(t, "the end of the service", r.ended); err != nil {
		t.Error(err)
	}
	if took := time.Since(begin); took > 3*time.Second {
		t.Errorf("it took %v", took)
	}
	if strings.Contains(r.log.String(), "cut off") {
		t.Errorf("it was cut off:\n%s", r.log)
	}
}

// The name in `listen` may mean anything; what counts is the address that it
// turned out to be.
func TestWithoutCallersOnlyALoopbackAddressIsListenedOn(t *testing.T) {
	cfg := settings(t)
	for _, open := range []string{"0.0.0.0:0", "[::]:0", ":0"} {
		for key, set := range map[string]func(*config.Config, string){
			"listen":         func(c *config.Config, a string) { c.Listen = a },
			"metrics.listen": func(c *config.Config, a string) { c.Metrics.Listen = a },
		} {
			c := cfg
			set(&c, open)
			err := Serve(t.Context(), c, ServeOptions{Log: slog.New(slog.DiscardHandler)})
			if err == nil || !strings.Contains(err.Error(), "(key "+key+")") || !strings.Contains(err.Error(), "[[caller]]") {
				t.Errorf("%s on %s: %v", key, open, err)
			}
		}
	}
	for _, local := range []string{"127.0.0.1:0", "localhost:0", "127.3.4.5:0"} {
		c := cfg
		c.Listen, c.Metrics.Listen = local, local
		r := start(t, c, ServeOptions{})
		r.stop()
		if err := receive(t, "the end of the service", r.ended); err != nil {
			t.Errorf("%s: %v", local, err)
		}
	}
	// With a caller it may.
	c := cfg
	c.Listen, c.Callers = "0.0.0.0:0", []config.Caller{{Name: "ann", KeySHA256: strings.Repeat("ab", 32)}}
	r := start(t, c, ServeOptions{})
	r.stop()
	if err := receive(t, "the end of the service", r.ended); err != nil {
		t.Error(err)
	}
}

func TestAnAddressIsOnTheLoopbackOrNot(t *testing.T) {
	for text, want := range map[string]bool{
		"127.0.0.1:1": true, "[::1]:1": true, "127.9.9.9:1": true, "[::ffff:127.0.0.1]:1": true,
		"0.0.0.0:1": false, "[::]:1": false, "10.0.0.1:1": false, "[fe80::1]:1": false, "[::ffff:10.0.0.1]:1": false,
	} {
		if got := onLoopback(net.TCPAddrFromAddrPort(netip.MustParseAddrPort(text))); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
	if onLoopback(&net.UnixAddr{Name: "x", Net: "unix"}) {
		t.Error("an address of another kind")
	}
}

func TestAServiceThatIsStoppedBeforeItStartsHoldsNothing(t *testing.T) {
	cfg := settings(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Serve(ctx, cfg, ServeOptions{Log: slog.New(slog.DiscardHandler)}); err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	lock, err := dcache.LockServer(cfg.DataDir)
	if err != nil {
		t.Fatal(err)
	}
	if err := lock.Release(); err != nil {
		t.Error(err)
	}
}

func TestWhatCannotBeBuiltLeavesNoLockAndNoListener(t *testing.T) {
	cfg := settings(t)
	cfg.Guard.Allow = []string{"not an address"}
	if err := Serve(t.Context(), cfg, ServeOptions{Log: slog.New(slog.DiscardHandler)}); err == nil || !strings.Contains(err.Error(), "not an address") {
		t.Errorf("got %v", err)
	}
	cfg.Guard.Allow = nil
	cfg.Callers = []config.Caller{{Name: "No Name"}}
	if err := Serve(t.Context(), cfg, ServeOptions{Log: slog.New(slog.DiscardHandler)}); err == nil || !strings.Contains(err.Error(), "callers: ") {
		t.Errorf("got %v", err)
	}
	cfg.Callers = nil
	r := start(t, cfg, ServeOptions{})
	r.stop()
	if err := receive(t, "the end of the service", r.ended); err != nil {
		t.Error(err)
	}
}
