package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"sift.build/sift/internal/pdf/pdftest"

	"sift.build/sift/tools/report"
)

func openSite(t *testing.T) *site {
	t.Helper()
	s, err := newSite(t.Context(), quick())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.close)
	return s
}

// got is what a client of the site sees.
type got struct {
	status int
	body   []byte
	err    error
}

func get(ctx context.Context, t *testing.T, url string) got {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	client := http.Client{
		Transport:     &http.Transport{DisableCompression: true, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := client.Do(req)
	if err != nil {
		return got{err: err}
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return got{resp.StatusCode, body, err}
}

func TestEveryPageOfTheSiteIsOfItsKind(t *testing.T) {
	s := openSite(t)
	at := func(name string) string { return "http://" + s.front + "/" + name + "/0" }
	for name, want := range map[string]func(got) bool{
		"small":     func(g got) bool { return g.err == nil && bytes.Contains(g.body, []byte(mark("small", 0))) },
		"huge":      func(g got) bool { return g.err == nil && len(g.body) > 9_900_000 && len(g.body) <= 10_000_000 },
		"overlong":  func(g got) bool { return len(g.body) > 10<<20 },
		"truncated": func(g got) bool { return errors.Is(g.err, io.ErrUnexpectedEOF) && len(g.body) > 1000 },
		"chunkcut":  func(g got) bool { return errors.Is(g.err, io.ErrUnexpectedEOF) && len(g.body) > 1000 },
		"reset":     func(g got) bool { return g.err != nil && g.body == nil },
		"resetlate": func(g got) bool { return g.err != nil },
		"maze":      func(g got) bool { return g.status == http.StatusFound },
		"inward":    func(g got) bool { return g.status == http.StatusFound },
		"notfound":  func(g got) bool { return g.status == http.StatusNotFound },
		"limited":   func(g got) bool { return g.status == http.StatusTooManyRequests },
		"broken":    func(g got) bool { return g.status == http.StatusInternalServerError },
		"pdf":       func(g got) bool { return bytes.HasPrefix(g.body, []byte("%PDF-")) },
		"empty":     func(g got) bool { return g.err == nil && g.status == http.StatusOK && len(g.body) == 0 },
	} {
		if g := get(t.Context(), t, at(name)); !want(g) {
			t.Errorf("%s: %d, %d bytes, %v", name, g.status, len(g.body), g.err)
		}
	}
	for _, name := range []string{"drip", "silent"} {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		if g := get(ctx, t, at(name)); !errors.Is(g.err, context.DeadlineExceeded) {
			t.Errorf("%s ended: %d, %d bytes, %v", name, g.status, len(g.body), g.err)
		}
		cancel()
	}
}

func TestABombIsWholeAndLarge(t *testing.T) {
	s := openSite(t)
	for name, layers := range map[string]int{"bomb": 1, "bombs": 2} {
		var r io.Reader = bytes.NewReader(get(t.Context(), t, "http://"+s.front+"/"+name+"/0").body)
		for range layers {
			z, err := gzip.NewReader(r)
			if err != nil {
				t.Fatal(name, err)
			}
			r = z
		}
		if n, err := io.Copy(io.Discard, r); err != nil || n < 64<<20 {
			t.Errorf("%s: %d bytes, %v", name, n, err)
		}
	}
}

func TestTheSiteNoticesTargetsThatAreOutOfOrderOrAtOnce(t *testing.T) {
	for _, c := range []struct {
		what  string
		visit func(s *site)
		wrong int
	}{
		{"in order", func(s *site) {
			for _, idx := range []int{1, 4, 7} {
				s.enterOnce("1", idx)
				s.leaveOnce("1")
			}
		}, 0},
		{"run again", func(s *site) {
			for _, idx := range []int{1, 4, 1, 4} {
				s.enterOnce("1", idx)
				s.leaveOnce("1")
			}
		}, 0},
		{"back", func(s *site) {
			for _, idx := range []int{1, 7, 4} {
				s.enterOnce("1", idx)
				s.leaveOnce("1")
			}
		}, 1},
		{"at once", func(s *site) {
			s.enterOnce("1", 1)
			s.enterOnce("1", 2)
		}, 1},
		{"two lists at once", func(s *site) {
			s.enterOnce("1", 1)
			s.enterOnce("2", 1)
		}, 0},
	} {
		s := &site{once: make(map[string]*visits)}
		c.visit(s)
		if wrong, _ := s.wrongs(); len(wrong) != c.wrong {
			t.Errorf("%s: %q", c.what, wrong)
		}
	}
}

func TestEveryDeckHasEveryKindByItsWeight(t *testing.T) {
	s := &site{kinds: kinds(quick()), back: []string{"127.0.0.2:80"}}
	d := newDealer(s, 1, []int{7, 3})
	size := 0
	for _, k := range s.kinds {
		size += k.weight
	}
	counts, dealt, urls := map[string]int{}, 0, map[string]bool{}
	for dealt < 10*size {
		l := d.next()
		var urlsOf []string
		for _, c := range l.cards[:min(len(l.cards), 10*size-dealt)] {
			counts[c.kind.name]++
			dealt++
			urlsOf = append(urlsOf, c.url)
		}
		if key := strings.Join(urlsOf, " "); urls[key] {
			t.Errorf("list %s was dealt before", l.name)
		} else {
			urls[key] = true
		}
	}
	for _, k := range s.kinds {
		if n := counts[k.name]; n < 8*k.weight || n > 12*k.weight {
			t.Errorf("%s: %d in ten decks, weight %d", k.name, n, k.weight)
		}
	}
	each := map[string]int{}
	for _, l := range d.oneOfEach() {
		if len(l.cards) > 32 {
			t.Errorf("a list of %d targets", len(l.cards))
		}
		for _, c := range l.cards {
			each[c.kind.name]++
		}
	}
	if len(each) != len(s.kinds) {
		t.Errorf("%d kinds of %d", len(each), len(s.kinds))
	}
}

func TestTheSeedDecidesTheLists(t *testing.T) {
	s := &site{kinds: kinds(quick()), back: []string{"127.0.0.2:80"}}
	lists := func(seed uint64) (all []string) {
		d := newDealer(s, seed, usual(1, 2, time.Minute).sizes)
		for range 20 {
			all = append(all, string(d.next().body(false)))
		}
		return all
	}
	if diff := cmp.Diff(lists(1), lists(1)); diff != "" {
		t.Error(diff)
	}
	if slices.Equal(lists(1), lists(2)) {
		t.Error("two seeds deal the same")
	}
}

func TestAListIsSentAsTheServiceTakesIt(t *testing.T) {
	l := &list{cards: []card{
		{kind: &kind{}, url: "http://x/1", mode: "text"},
		{kind: &kind{fresh: true, timeout: 1.5}, url: "http://x/2"},
	}}
	want := `{"targets":[{"url":"http://x/1","mode":"text"},{"url":"http://x/2","max_age":0,"timeout":1.5}],"fresh":true}`
	if got := string(l.body(true)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// The mistake that this guards against is called coordinated omission: a
// generator that waits for a stalled server does not send, and so does not
// count, what users would have sent meanwhile.
func TestAStallCountsForEveryRequestThatWasDueDuringIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const stall = 2 * time.Second
		begin := time.Now()
		l := &load{
			send: func(context.Context, class, int) error {
				if d := stall - time.Since(begin); d > 0 {
					<-time.After(d) // all of them, until the stall is over
				}
				return nil
			},
			wrong: func(c class, err error) { t.Errorf("%s: %v", c, err) },
		}
		l.rates[cached] = 100
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second+time.Millisecond)
		defer cancel()
		l.run(ctx)
		all := l.latencies(cached, window{start: begin, end: begin.Add(time.Hour)})
		late := 0
		for _, d := range all {
			if d > stall/2 {
				late++
			}
		}
		if len(all) != 401 || late != 100 {
			t.Errorf("%d requests, %d of them late by more than half the stall; want 401 and 100", len(all), late)
		}
		if n := len(l.latencies(cached, window{start: begin.Add(time.Second), end: begin.Add(2 * time.Second)})); n != 100 {
			t.Errorf("%d requests were due in the second second", n)
		}
	})
}

func TestARequestThatWentWrongIsNoLatency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said atomic.Int64
		l := &load{
			send:  func(_ context.Context, _ class, n int) error { return []error{nil, errors.New("refused")}[n%2] },
			wrong: func(class, error) { said.Add(1) },
		}
		l.rates[fresh] = 10
		ctx, cancel := context.WithTimeout(t.Context(), time.Second-time.Millisecond)
		defer cancel()
		l.run(ctx)
		if n := len(l.samples[fresh]); n != 5 || said.Load() != 5 {
			t.Errorf("%d latencies, %d errors", n, said.Load())
		}
	})
}

func TestWindowsAreComparedWithTheirNeighbours(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(int64(s), 0) }
	windows := []window{{false, at(0), at(1)}, {true, at(1), at(2)}, {false, at(2), at(3)}, {true, at(3), at(4)}, {false, at(4), at(5)}, {true, at(5), at(6)}}
	took := map[time.Time][]time.Duration{at(0): {10}, at(1): {20}, at(2): {100}, at(3): {300}, at(4): {10}, at(5): {80}}
	c, err := compare(windows, func(w window) []time.Duration { return took[w.start] }, 99)
	if err != nil {
		t.Fatal(err)
	}
	if want := (compared{with: 80, without: 10, ratio: 3, requests: 6}); c != want {
		t.Errorf("got %+v, want %+v", c, want)
	}
	if _, err := compare(windows[1:], func(w window) []time.Duration { return took[w.start] }, 99); err == nil {
		t.Error("windows that are not in turns were compared")
	}
	if _, err := compare(windows, func(window) []time.Duration { return nil }, 99); err == nil {
		t.Error("nothing was compared with nothing")
	}
}

func TestPeaksAreThoseOfTheThirdsWithBatches(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(int64(s), 0) }
	var looks []memory
	for i, m := range []int64{900, 10, 20, 30, 40, 50, 60, 800} {
		looks = append(looks, memory{at: at(i), service: m, children: 1})
	}
	first, last, ever, enough := peaks(looks, []window{{false, at(0), at(1)}, {true, at(1), at(4)}, {true, at(4), at(7)}})
	if !enough || first.service != 20 || last.service != 60 || ever.service != 900 || ever.all() != 901 {
		t.Errorf("%v %v %v %v", first, last, ever, enough)
	}
	if _, _, _, enough := peaks(looks, []window{{true, at(0), at(2)}}); enough {
		t.Error("two looks have thirds")
	}
}

func TestMetricsAreRead(t *testing.T) {
	m, err := readMetrics(strings.NewReader("# HELP a b\n# TYPE a counter\na{outcome=\"done\"} 3\na{outcome=\"x y\"} 4\nab 5\nb 1.5e+06\n"))
	if err != nil || m.outcome("a", "done") != 3 || m.sum("a") != 7 || m["b"] != 1.5e6 {
		t.Errorf("%v, %v", m, err)
	}
	for _, bad := range []string{"nonsense", "a b"} {
		if _, err := readMetrics(strings.NewReader(bad)); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

func TestWhatIsLeftOverIsNamed(t *testing.T) {
	start := levels{goroutines: 20, files: 15, store: 5, open: map[string]int{"socket": 2}}
	for _, c := range []struct {
		now  levels
		over string
	}{
		{start, ""},
		{levels{goroutines: 19, files: 10}, ""},
		{levels{goroutines: 20, files: 19, store: 9}, ""},
		{levels{goroutines: 20, files: 21, store: 11}, "open files of the store: 11, and 9 at the start"},
		{levels{goroutines: 21, files: 15, store: 5}, "goroutines: 21, and 20 at the start"},
		{levels{goroutines: 20, files: 16, store: 5, open: map[string]int{"socket": 3}}, "open files: 11, and 10 at the start; socket is open 3 times, and was 2 times"},
		{levels{files: 15, store: 5, children: 1, temporary: 2}, "child processes: 1, and 0 at the start; temporary files: 2, and 0 at the start"},
	} {
		if got := c.now.over(start); got != c.over {
			t.Errorf("%+v: %q, want %q", c.now, got, c.over)
		}
	}
}

func TestLinuxsStatusIsRead(t *testing.T) {
	if got := resident([]byte("Name:\tsift\nVmHWM:\t 9 kB\nVmRSS:\t   34567 kB\n")); got != 34567*1024 {
		t.Errorf("%d", got)
	}
	if got := resident([]byte("Name:\tsift\n")); got != 0 {
		t.Errorf("a process that has ended: %d", got)
	}
}

// judged is a soak that judges made-up answers.
func judged(t *testing.T, cards ...card) (*soak, *job) {
	t.Helper()
	s := &soak{effort: quick(), checks: newChecks(everyCheck()), site: &site{}}
	s.book.newest = make(map[string]*job)
	c := &caller{name: "a"}
	l := &list{name: "1", cards: cards}
	j := s.accept(c, l, answer{body: fmt.Appendf(nil, `{"success":true,"job_id":"abc","status":"queued","targets":%d,"reused":false}`, len(cards))}, false)
	if j == nil {
		t.Fatal("the job was not taken")
	}
	return s, j
}

func wrongOf(s *soak) []string {
	var all []string
	for _, k := range s.checks.all {
		if k.bad > 0 {
			all = append(all, k.what)
		}
	}
	return all
}

func TestEveryMistakeInAnAnswerIsSeen(t *testing.T) {
	once := &kind{name: "once", allow: []string{codeOK}}
	drip := &kind{name: "drip", allow: []string{"timeout"}}
	cards := []card{{kind: once, n: 0, url: "http://x/0"}, {kind: drip, n: 1, url: "http://x/1"}}
	good := func() *view {
		return &view{JobID: "abc", Status: "partial", TargetsTotal: 2, TargetsDone: 2, Targets: []targetView{
			{Idx: 0, URL: "http://x/0", Status: "done", Result: json.RawMessage(`{"success":true,"url":"http://x/0","content":"` + mark("once-1", 0) + `"}`)},
			{Idx: 1, URL: "http://x/1", Status: "failed", Error: "timeout: too slow"},
		}}
	}
	for _, c := range []struct {
		what   string
		change func(v *view)
		want   []string
	}{
		{"nothing", func(*view) {}, nil},
		{"targets_done is too high", func(v *view) { v.Targets[1] = targetView{Idx: 1, URL: "http://x/1", Status: "pending"} }, []string{checkViews, checkEnded}},
		{"two run at once", func(v *view) {
			v.Status, v.TargetsDone = "running", 0
			for i := range v.Targets {
				v.Targets[i] = targetView{Idx: i, URL: v.Targets[i].URL, Status: "running"}
			}
		}, []string{checkViews, checkEnded}},
		{"the second before the first", func(v *view) {
			v.TargetsDone, v.Status = 1, "running"
			v.Targets[0] = targetView{Idx: 0, URL: "http://x/0", Status: "pending"}
		}, []string{checkViews, checkEnded}},
		{"another's page", func(v *view) {
			v.Targets[0].Result = json.RawMessage(`{"success":true,"url":"http://x/0","content":"` + mark("once-2", 0) + `"}`)
		}, []string{checkContents}},
		{"a code that the page does not allow", func(v *view) { v.Targets[1].Error = "internal: oh" }, []string{checkOutcomes}},
		{"a failure that is called an answer", func(v *view) { v.Status = "done" }, []string{checkEnded}},
		{"cancelled by nobody", func(v *view) { v.Status = "cancelled" }, []string{checkEnded}},
		{"a result that is too long", func(v *view) {
			v.Targets[0].Result = json.RawMessage(`{"success":true,"url":"http://x/0","content":"` + mark("once-1", 0) + strings.Repeat("x", maxResult) + `"}`)
		}, []string{checkViews}},
		{"the wrong URL", func(v *view) { v.Targets[1].URL = "http://x/2" }, []string{checkViews}},
	} {
		s, j := judged(t, cards...)
		v := good()
		c.change(v)
		s.look(j, v, -1, "/")
		s.judge(j, v)
		if diff := cmp.Diff(c.want, wrongOf(s)); diff != "" {
			t.Errorf("%s: %s", c.what, diff)
		}
	}
	s, j := judged(t, cards...)
	v := good()
	s.look(j, v, -1, "/")
	v.Targets[1].Error = "timeout: another text"
	s.look(j, v, -1, "/")
	if diff := cmp.Diff([]string{checkViews}, wrongOf(s)); diff != "" {
		t.Errorf("a result that changed: %s", diff)
	}
}

func TestEveryMistakeInASubmitsAnswerIsSeen(t *testing.T) {
	const again = `{"success":true,"job_id":"%s","status":"%s","targets":1,"reused":%v%s}`
	for _, c := range []struct {
		what  string
		body  string
		fresh bool
		want  []string
	}{
		{"reused", fmt.Sprintf(again, "abc", "done", true, ""), false, nil},
		{"reused and cancelled", fmt.Sprintf(again, "abc", "cancelled", true, `,"hint":"fresh"`), false, nil},
		{"fresh", fmt.Sprintf(again, "def", "queued", false, ""), true, nil},
		{"a second job for the same list", fmt.Sprintf(again, "def", "queued", false, ""), false, []string{checkReuse}},
		{"another job", fmt.Sprintf(again, "def", "done", true, ""), false, []string{checkReuse}},
		{"fresh was not heard", fmt.Sprintf(again, "abc", "done", true, ""), true, []string{checkReuse}},
		{"no hint", fmt.Sprintf(again, "abc", "failed", true, ""), false, []string{checkReuse}},
		{"the id of another", fmt.Sprintf(again, "abc", "queued", false, ""), true, []string{checkSubmits}},
		{"no job", `{"success":true}`, false, []string{checkSubmits}},
	} {
		s, j := judged(t, card{kind: &kind{name: "once"}, url: "http://x/0"})
		s.accept(j.owner, j.list, answer{body: []byte(c.body)}, c.fresh)
		if diff := cmp.Diff(c.want, wrongOf(s)); diff != "" {
			t.Errorf("%s: %s", c.what, diff)
		}
	}
}

func TestAnIdThatNobodyHasLooksLikeOne(t *testing.T) {
	random := people("x", 1, 1)[0].random
	const id = "hca7fccnhczrgfe2ku6bjfk6x4"
	got := likeness(id, random)
	if got == id || len(got) != len(id) {
		t.Errorf("%q", got)
	}
}

func TestWhoIsInsideAGateThatClosesIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		entered := make(chan context.Context)
		go func() {
			open, _ := g.enter(t.Context())
			entered <- open
		}()
		synctest.Wait()
		select {
		case <-entered:
			t.Fatal("somebody went through a closed gate")
		default:
		}
		g.start(t.Context())
		open := <-entered
		g.stop()
		<-open.Done()
		empty := make(chan error)
		go func() { empty <- g.empty(t.Context()) }()
		synctest.Wait()
		select {
		case <-empty:
			t.Fatal("empty, with somebody inside")
		default:
		}
		g.leave()
		if err := <-empty; err != nil {
			t.Error(err)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, ok := g.enter(ended); ok {
			t.Error("entered a closed gate")
		}
	})
}

func TestChecksSayWhatWasWrongAndWhatWasNeverTried(t *testing.T) {
	c := newChecks([]string{"a", "b"})
	for i := range 8 {
		c.that(i == 0, "b", "number %d", i)
	}
	rows, bad := c.figures()
	want := []report.Figure{
		{What: "a", Value: "0", Bar: "0 wrong", Word: report.Unseen},
		{What: "b", Value: "8", Bar: "0 wrong", Word: wrong, How: "7 of them:\n    number 1\n    number 2\n    number 3\n    number 4\n    number 5\n    …"},
	}
	if diff := cmp.Diff(want, rows); diff != "" || bad != 7 {
		t.Errorf("%d wrong, %s", bad, diff)
	}
	if c.first() != "number 1" {
		t.Errorf("first: %q", c.first())
	}
}

func TestWrongUsageIsSaid(t *testing.T) {
	for _, args := range [][]string{{"-nonsense"}, {"argument"}, {"-jobs", "0"}, {"-callers", "1"}, {"-for", "1ms"}} {
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), args, &stdout, &stderr); code != 2 || stderr.Len() == 0 {
			t.Errorf("%v: exit code %d, %q", args, code, stderr.String())
		}
	}
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), []string{"-sift", filepath.Join(t.TempDir(), "sift")}, &stdout, &stderr); code != 1 || !strings.Contains(stderr.String(), "make build") {
		t.Errorf("exit code %d, %q", code, stderr.String())
	}
}

func TestTheSoakHoldsOnTheRealBinaryAndLeavesNothing(t *testing.T) {
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
	t.Setenv("XDG_CACHE_HOME", pdftest.CacheHome())
	nothingLeft := func() {
		t.Helper()
		left, err := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "*"))
		if err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	}
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), []string{"-quick", "-sift", binary}, &stdout, &stderr)
	t.Log("\n" + stdout.String() + stderr.String())
	if code != 0 {
		t.Errorf("exit code %d", code)
	}
	nothingLeft()

	// Stopped in the middle, it goes away and takes all with it.
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stdout.Reset()
	stderr.Reset()
	code = run(ctx, []string{"-quick", "-sift", binary}, &stdout, writerFunc(func(p []byte) (int, error) {
		if bytes.Contains(p, []byte("with batches")) {
			cancel()
		}
		return stderr.Write(p)
	}))
	if code != 1 || !strings.Contains(stderr.String(), "soak: stopped") || stdout.Len() > 0 {
		t.Errorf("exit code %d\n%s\n%s", code, &stdout, &stderr)
	}
	nothingLeft()
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
