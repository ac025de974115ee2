package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"sift.build/sift/tools/report"
)

// TestMain lets the test binary be the child that bench starts of itself.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "-child" {
		os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

func loadOn(t *testing.T, h http.Handler) load {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	address := strings.TrimPrefix(server.URL, "http://")
	return load{address: address, request: postRequest(address, "/v1/fetch", `{"url":"http://x/"}`)}
}

func TestTheGeneratorSendsWhatItSaysAndCountsWhatIsAnswered(t *testing.T) {
	var count atomic.Int64
	l := loadOn(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Method != http.MethodPost || r.URL.Path != "/v1/fetch" || string(body) != `{"url":"http://x/"}` {
			t.Errorf("%s %s %q", r.Method, r.URL, body)
		}
		count.Add(1)
		w.Write(bytes.Repeat([]byte("x"), 10_000))
	}))
	start := time.Now()
	rate, err := l.closed(t.Context(), 4, 50*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	// The generator's own clock stops a little before ours.
	if most := float64(count.Load()) / 0.05; rate <= 0 || rate > most {
		t.Errorf("%.0f/s from %d answers in %s", rate, count.Load(), time.Since(start))
	}
}

func TestChunkedAnswersAreReadToTheirEnd(t *testing.T) {
	l := loadOn(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for range 3 {
			io.WriteString(w, "part ")
			w.(http.Flusher).Flush()
		}
	}))
	w, err := l.dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer w.conn.Close()
	for range 3 { // the same connection: a byte left over would spoil the next
		n, err := w.roundTrip(l.request)
		if err != nil || n != int64(len("part part part ")) {
			t.Fatalf("%d bytes, %v", n, err)
		}
	}
}

func TestARefusalIsNoFigure(t *testing.T) {
	l := loadOn(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) }))
	if _, err := l.closed(t.Context(), 2, time.Second); err == nil || !strings.Contains(err.Error(), "429") {
		t.Errorf("closed: %v", err)
	}
	if _, err := l.open(t.Context(), 2, 100, time.Second); err == nil || !strings.Contains(err.Error(), "429") {
		t.Errorf("open: %v", err)
	}
}

// The mistake that this guards against is called coordinated omission: a
// generator that waits for a stalled server does not send, and so does not
// count, what users would have sent meanwhile.
func TestAStallCountsForEveryRequestThatWasDueDuringIt(t *testing.T) {
	const rate, stall = 1000.0, 150 * time.Millisecond
	var once sync.Once
	var mu sync.Mutex
	l := loadOn(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		mu.Lock() // while one stalls, all do
		defer mu.Unlock()
		once.Do(func() { <-time.After(stall) })
	}))
	latencies, err := l.open(t.Context(), 4, rate, 400*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if len(latencies) != 400 {
		t.Fatalf("%d requests, want 400", len(latencies))
	}
	late := 0
	for _, d := range latencies {
		if d > stall/3 {
			late++
		}
	}
	// Due in the first two thirds of the stall: 100 of them, whatever the
	// number of connections. A busy machine makes more of them late.
	if late < 95 {
		t.Errorf("only %d requests were late, with four connections and a stall of %s", late, stall)
	}
}

func TestLoadEndsWithItsContext(t *testing.T) {
	l := loadOn(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then does the server notice that the client has gone
		<-r.Context().Done()
	}))
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	if _, err := l.closed(ctx, 2, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestTheBareHandlerWritesTheSameBytesAndGoesWithItsStarter(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{self: self, progress: io.Discard}
	answer := &fetched{
		header: http.Header{"Content-Type": {"application/json"}, "X-Content-Type-Options": {"nosniff"}, "Date": {"long ago"}},
		raw:    []byte(`{"success":true}`),
	}
	bare, stop, err := b.startBare(t.Context(), answer)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Post("http://"+bare.address+"/v1/fetch", "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(answer.raw) || resp.Header.Get("X-Content-Type-Options") != "nosniff" || resp.Header.Get("Date") == "long ago" {
		t.Errorf("%q, %v", got, resp.Header)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	if _, err := http.Get("http://" + bare.address); err == nil {
		t.Error("it still answers")
	}
}

func TestTheCPUOfParsingIsMeasuredLessStartUp(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	big := filepath.Join(t.TempDir(), "big.html")
	tiny := filepath.Join(t.TempDir(), "tiny.html")
	if err := errors.Join(os.WriteFile(big, bigPage(4_000_000, 1), 0o600), os.WriteFile(tiny, []byte("<p>"), 0o600)); err != nil {
		t.Fatal(err)
	}
	got, err := netCPU(t.Context(), []string{self, "-child", "parse"}, []string{big, big}, tiny)
	if err != nil || got <= 0 {
		t.Errorf("%s, %v", got, err)
	}
	if _, err := cpu(t.Context(), []string{self, "-child", "parse"}, filepath.Join(t.TempDir(), "none")); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("a file that is missing: %v", err)
	}
}

func TestALargePageHasItsSizeAndItsParts(t *testing.T) {
	page := bigPage(200_000, 7)
	if len(page) != 200_000 {
		t.Errorf("%d bytes", len(page))
	}
	if !bytes.Equal(page, bigPage(200_000, 7)) || bytes.Equal(page, bigPage(200_000, 8)) {
		t.Error("the seed does not decide the page")
	}
	root, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for n := range root.Descendants() {
		if n.Type == html.ElementNode {
			seen[n.Data]++
		}
	}
	for _, tag := range []string{"h1", "h2", "p", "a", "em", "ul", "li", "table", "td", "pre", "code", "nav", "footer"} {
		if seen[tag] == 0 {
			t.Errorf("no <%s>", tag)
		}
	}
}

func TestLargePagesAreSentWhenAllHaveBeenAskedFor(t *testing.T) {
	s, err := newSite(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	if len(s.addresses) < 4 {
		t.Skip("this system has one loopback address")
	}
	pages := make([][]byte, bigFetches)
	for i := range pages {
		pages[i] = bigPage(10_000, uint64(i))
	}
	urls, err := s.large(pages)
	if err != nil {
		t.Fatal(err)
	}
	hosts := map[string]int{}
	var wg sync.WaitGroup
	var answered atomic.Int64
	get := func(i int) {
		resp, err := http.Get(urls[i])
		if err != nil {
			t.Error(err)
			return
		}
		defer resp.Body.Close()
		if got, err := io.ReadAll(resp.Body); err != nil || !bytes.Equal(got, pages[i]) {
			t.Errorf("%s: %d bytes, %v", urls[i], len(got), err)
		}
		answered.Add(1)
	}
	for i := range urls {
		host, _, _ := strings.Cut(strings.TrimPrefix(urls[i], "http://"), ":")
		hosts[host]++
		if i < len(urls)-1 {
			wg.Go(func() { get(i) })
		}
	}
	if n := answered.Load(); n > 0 {
		t.Errorf("%d were sent before the last was asked for", n)
	}
	get(len(urls) - 1)
	wg.Wait()
	if diff := cmp.Diff(map[string]int{"127.0.0.1": 2, "127.0.0.2": 2, "127.0.0.3": 2, "127.0.0.4": 2}, hosts); diff != "" {
		t.Error(diff)
	}
}

func TestWithoutWCXBGosOwnPagesAreTakenAndSaid(t *testing.T) {
	files, what, err := realPages(t.Context(), t.TempDir(), t.TempDir(), 10)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 3 || !strings.Contains(what, "Go's documentation") {
		t.Errorf("%d files, %q", len(files), what)
	}
}

func TestLinuxsStatusIsRead(t *testing.T) {
	status := []byte("Name:\tsift\nVmPeak:\t 1234567 kB\nVmHWM:\t   45678 kB\nVmRSS:\t   34567 kB\nThreads:\t9\n")
	got, err := statusField(status, "VmHWM")
	if err != nil || got != 45678*1024 {
		t.Errorf("%d, %v", got, err)
	}
	for _, field := range []string{"VmSwap", "Threads"} {
		if _, err := statusField(status, field); err == nil {
			t.Errorf("%s was read", field)
		}
	}
	stat := []byte("4242 (a ) b) S 1 4242 4242 0 -1 4194560 2113 0 0 0 130 25 0 0 20 0 9 0 100 1 2 3")
	cpu, err := statCPU(stat)
	if err != nil || cpu != 1550*time.Millisecond {
		t.Errorf("%s, %v", cpu, err)
	}
	for _, bad := range []string{"", "nonsense", "1 (x) S 1 2"} {
		if _, err := statCPU([]byte(bad)); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

func TestAnswersAreJudgedAgainstTheirBars(t *testing.T) {
	if report.Within(10*time.Millisecond, barP99) != report.OK || report.Within(11*time.Millisecond, barP99) != report.Over {
		t.Error("p99 alone")
	}
	for _, c := range []struct {
		v, bare time.Duration
		want    report.Verdict
	}{
		{9 * time.Millisecond, time.Millisecond, report.OK},
		{9 * time.Millisecond, 90 * time.Millisecond, report.OK},
		{11 * time.Millisecond, 9 * time.Millisecond, report.Over},
		{11 * time.Millisecond, 11 * time.Millisecond, noisy},
	} {
		if got := besides(c.v, c.bare, barP99); got != c.want {
			t.Errorf("%s beside %s: %q, want %q", c.v, c.bare, got, c.want)
		}
	}
}

func TestWrongUsageIsSaid(t *testing.T) {
	for _, args := range [][]string{{"-nonsense"}, {"argument"}, {"-only", "nonsense"}} {
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), args, nil, &stdout, &stderr); code != 2 || stderr.Len() == 0 {
			t.Errorf("%v: exit code %d, %q", args, code, stderr.String())
		}
	}
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), []string{"-sift", filepath.Join(t.TempDir(), "sift")}, nil, &stdout, &stderr); code != 1 || !strings.Contains(stderr.String(), "make build") {
		t.Errorf("exit code %d, %q", code, stderr.String())
	}
}

func TestTheWholeBenchRunsAgainstTheRealBinary(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a build of cmd/sift; run without -short")
	}
	binary := filepath.Join(t.TempDir(), "sift")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "sift.build/sift/cmd/sift")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	t.Setenv("TMPDIR", t.TempDir())
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), []string{"-quick", "-sift", binary}, nil, &stdout, &stderr)
	t.Log("\n" + stdout.String() + stderr.String())
	if code != 0 {
		t.Errorf("exit code %d", code)
	}
	left, err := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestTheAnswerForTheBareHandlerSurvivesItsPipe(t *testing.T) {
	in, err := json.Marshal(canned{http.Header{"A": {"b"}}, []byte{0, 255, '\n'}})
	if err != nil {
		t.Fatal(err)
	}
	var got canned
	if err := json.Unmarshal(in, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(canned{http.Header{"A": {"b"}}, []byte{0, 255, '\n'}}, got); diff != "" {
		t.Error(diff)
	}
}
