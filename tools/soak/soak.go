package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"sift.build/sift/demo/server"
	"sift.build/sift/tools/report"
)

// soak is one run.
type soak struct {
	effort   effort
	binary   string
	seed     uint64
	progress io.Writer

	dir    string // everything that is written
	sift   *server.Server
	site   *site
	http   *http.Client
	checks *checks
	book   book
	gate   *gate
	load   *load
	watch  *watcher

	callers     []*caller // of the batches
	interactive []*caller
	holders     []*caller // of the slow pages on the host that all share

	windows []window

	mu       sync.Mutex // guards what follows
	dealer   *dealer
	left     map[*caller]*list // lists that were not let in before the window closed
	refusals int               // submits that had to wait

	refusedHeld, sentHeld int
}

func (s *soak) url() string { return s.sift.URL }

// report runs everything and prints the table. good says that every check held.
func (s *soak) report(ctx context.Context, out io.Writer) (good bool, err error) {
	begin := time.Now()
	if _, err := os.Stat(s.binary); err != nil {
		return false, fmt.Errorf("%w; `make build` makes it", err)
	}
	if s.dir, err = os.MkdirTemp("", "sift-soak-"); err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(s.dir)) }()
	restore, err := s.ownTemporary()
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, restore()) }()
	s.say("making the site")
	if s.site, err = newSite(ctx, s.effort); err != nil {
		return false, err
	}
	defer s.site.close()
	s.http = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256, IdleConnTimeout: time.Minute}}
	defer s.http.CloseIdleConnections()
	s.gate, s.left, s.book.newest = newGate(), make(map[*caller]*list), make(map[string]*job)
	s.dealer = newDealer(s.site, s.seed, s.effort.sizes)
	s.callers, s.interactive, s.holders = people("batch", s.effort.callers, s.seed), people("reader", 6, s.seed+1), people("holder", 2, s.seed+2)

	if err := s.start(ctx); err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, s.sift.Stop()) }()
	rows, err := s.soak(ctx)
	if err != nil || ctx.Err() != nil {
		return false, errors.Join(ctx.Err(), err)
	}
	checked, bad := s.checks.figures()
	fmt.Fprintf(out, "%s, %s/%s, %d cores, %s; seed %d, %s\n\n", s.binary, runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), s.seed, begin.Format(time.DateOnly))
	report.Print(out, append(rows, checked...))
	fmt.Fprintf(out, "\nTook %.0f s.\n", time.Since(begin).Seconds())
	for _, r := range rows {
		if r.Word == wrong {
			bad++
		}
	}
	if bad > 0 {
		fmt.Fprintf(out, "%d things are not as they must be. The end of the service's log, without requests:\n%s", bad, s.logTail())
	}
	return bad == 0, nil
}

func (s *soak) say(format string, args ...any) { fmt.Fprintf(s.progress, format+"\n", args...) }

// ownTemporary gives the service a temporary folder that nobody else uses, so
// that what is left in it is the service's.
func (s *soak) ownTemporary() (restore func() error, err error) {
	before, had := os.LookupEnv("TMPDIR")
	if err := os.Mkdir(s.temporary(), 0o700); err != nil {
		return nil, err
	}
	restore = func() error {
		if !had {
			return os.Unsetenv("TMPDIR")
		}
		return os.Setenv("TMPDIR", before)
	}
	return restore, os.Setenv("TMPDIR", s.temporary())
}

func (s *soak) temporary() string { return filepath.Join(s.dir, "tmp") }

// start starts the service, with the defaults of a small machine.
func (s *soak) start(ctx context.Context) (err error) {
	var settings strings.Builder
	settings.WriteString(s.site.allow())
	for _, c := range slices.Concat(s.callers, s.interactive, s.holders) {
		settings.WriteString(c.settings())
	}
	s.sift, err = server.Start(ctx, server.Config{Binary: s.binary, Dir: s.dir, Settings: settings.String()})
	return err
}

// soak is the run between the start and the end of the service.
func (s *soak) soak(ctx context.Context) ([]report.Figure, error) {
	s.say("warming up: a job with every kind of page")
	if err := s.warmUp(ctx); err != nil {
		return nil, err
	}
	start, err := s.levels(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.windowsInTurns(ctx); err != nil {
		return nil, err
	}
	s.say("looking whether all is as it must be")
	views := s.lastLook(ctx)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err := s.countMetrics(ctx, views); err != nil {
		return nil, err
	}
	end := s.backToStart(ctx, start)
	s.checkSite(views)
	if err := s.restart(ctx, views); err != nil {
		return nil, err
	}
	s.checkLog()
	return s.figures(views, start, end)
}

// warmUp has everything done once that is done lazily: a job with every kind of
// page, and what the interactive load asks for from the cache.
func (s *soak) warmUp(ctx context.Context) error {
	for range 2 {
		for _, c := range s.interactive {
			for n := range cachedPages {
				if err := s.fetch(ctx, c, fmt.Sprintf(`{"url":"http://%s/cached/%d"}`, s.site.front, n), mark("cached", n)); err != nil {
					return fmt.Errorf("warm up: %w\n%s", err, s.sift.Log())
				}
			}
		}
	}
	for _, l := range s.dealer.oneOfEach() {
		j := s.submit(ctx, s.callers[0], l, false)
		if j == nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return fmt.Errorf("the first job was not let in: %s\n%s", s.checks.first(), s.sift.Log())
		}
		s.follow(ctx, j, 10*time.Second, true)
	}
	return ctx.Err()
}

const cachedPages = 3

// fetch asks for one page and expects it.
func (s *soak) fetch(ctx context.Context, c *caller, body, want string) error {
	a, err := s.ask(ctx, c, http.MethodPost, "/v1/fetch", []byte(body))
	if err != nil {
		return err
	}
	if a.status != http.StatusOK || !strings.Contains(string(a.body), want) {
		return fmt.Errorf("POST /v1/fetch %s as %s answered %s", body, c.name, a.excerpt())
	}
	return nil
}

// sendInteractive is one request of the load.
func (s *soak) sendInteractive(ctx context.Context, c class, n int) error {
	who := s.interactive[n%len(s.interactive)]
	switch c {
	case cached:
		return s.fetch(ctx, who, fmt.Sprintf(`{"url":"http://%s/cached/%d"}`, s.site.front, n%cachedPages), mark("cached", n%cachedPages))
	case fresh:
		return s.fetch(ctx, who, fmt.Sprintf(`{"url":"http://%s/new/%d"}`, s.site.front, n), mark("new", n))
	}
	who = s.holders[n%len(s.holders)]
	a, err := s.ask(ctx, who, http.MethodPost, "/v1/fetch", fmt.Appendf(nil, `{"url":"http://%s/held/%d"}`, s.site.contended, n))
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.sentHeld++
	s.mu.Unlock()
	if a.status == http.StatusTooManyRequests && a.code() == "busy" {
		s.mu.Lock()
		s.refusedHeld++
		s.mu.Unlock()
		return nil
	}
	if a.status != http.StatusOK || !strings.Contains(string(a.body), mark("held", n)) {
		return fmt.Errorf("a slow page as %s: %s", who.name, a.excerpt())
	}
	return nil
}

// windowsInTurns runs the interactive load all the time, and the batches in
// every other window.
func (s *soak) windowsInTurns(ctx context.Context) error {
	ctx, stop := context.WithTimeoutCause(ctx, s.effort.limit, errors.New("the jobs took longer than they may: sift is much too slow, or stuck"))
	defer stop()
	s.load = &load{
		rates: [classes]float64{cached: s.effort.cached, fresh: s.effort.fresh, held: s.effort.held}, send: s.sendInteractive,
		wrong: func(c class, err error) { s.checks.that(false, checkLoad, "%s: %v", c, err) },
	}
	s.watch = &watcher{pid: s.sift.PID}
	watching, enough := context.WithCancel(ctx)
	playing, finish := context.WithCancel(ctx)
	var players, watchers sync.WaitGroup
	watchers.Go(func() {
		s.watch.run(watching, s.gate.isOpen, func(ctx context.Context) (metrics, error) { return scrape(ctx, s.url()) })
	})
	loading, quiet := context.WithCancel(ctx)
	watchers.Go(func() { s.load.run(loading) })
	for _, c := range s.callers {
		players.Go(func() { s.play(playing, c) })
	}
	err := func() error {
		for pair := range s.effort.pairs {
			if err := s.windowWithout(ctx, pair); err != nil {
				return err
			}
			if err := s.windowWith(ctx, pair); err != nil {
				return err
			}
		}
		return nil
	}()
	finish()
	quiet()
	players.Wait()
	enough()
	watchers.Wait()
	return err
}

func (s *soak) windowWithout(ctx context.Context, pair int) error {
	s.say("window %d of %d: without batches", 2*pair+1, 2*s.effort.pairs)
	w := window{start: time.Now()}
	if !after(ctx, s.effort.without) {
		return context.Cause(ctx)
	}
	w.end = time.Now()
	s.windows = append(s.windows, w)
	return nil
}

func (s *soak) windowWith(ctx context.Context, pair int) error {
	created, _ := s.book.count()
	quota := (s.effort.jobs*(pair+1) + s.effort.pairs - 1) / s.effort.pairs
	s.say("window %d of %d: with batches; %d jobs so far", 2*pair+2, 2*s.effort.pairs, created)
	w := window{batches: true, start: time.Now()}
	s.gate.start(ctx)
	prowling, home := context.WithCancel(ctx)
	var prowlers sync.WaitGroup
	prowlers.Go(func() { s.prowl(prowling, rand.New(rand.NewPCG(s.seed, uint64(pair)+10_000))) })
	for created < quota || time.Since(w.start) < s.effort.with {
		if !after(ctx, 50*time.Millisecond) {
			break
		}
		created, _ = s.book.count()
	}
	w.end = time.Now()
	s.windows = append(s.windows, w)
	s.gate.stop()
	home()
	prowlers.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := s.gate.empty(ctx); err != nil {
		return context.Cause(ctx)
	}
	// What was in flight when its job was cancelled may still be.
	_, err := s.idle(ctx)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// idle waits until no job and no target is at work.
func (s *soak) idle(ctx context.Context) (metrics, error) {
	deadline := time.Now().Add(s.effort.settle)
	for {
		m, err := scrape(ctx, s.url())
		if err != nil {
			return nil, fmt.Errorf("%w\n%s", err, s.sift.Log())
		}
		queued, inFlight := m["sift_batch_queue_depth"], m["sift_batch_targets_inflight"]
		if queued == 0 && inFlight == 0 || time.Now().After(deadline) {
			s.checks.that(queued == 0 && inFlight == 0, checkIdle, "%v queued, %v in flight", queued, inFlight)
			return m, nil
		}
		if !after(ctx, 100*time.Millisecond) {
			return nil, ctx.Err()
		}
	}
}

// levels are those of a service that is at rest.
func (s *soak) levels(ctx context.Context) (levels, error) {
	s.http.CloseIdleConnections()
	s.site.hangUp()
	if !after(ctx, 500*time.Millisecond) {
		return levels{}, ctx.Err()
	}
	return s.levelsNow(ctx)
}

func (s *soak) levelsNow(ctx context.Context) (levels, error) {
	m, err := scrape(ctx, s.url())
	if err != nil {
		return levels{}, err
	}
	entries, err := os.ReadDir(s.temporary())
	if err != nil {
		return levels{}, err
	}
	l := levels{
		goroutines: m["go_goroutines"], files: m["process_open_fds"], children: float64(len(descendants(s.sift.PID))), temporary: float64(len(entries)),
		open: openFiles(s.sift.PID), resident: residentOf(s.sift.PID),
	}
	for name, n := range l.open {
		switch {
		case strings.HasPrefix(name, s.temporary()): // unlinked, which is how sift keeps what does not fit in memory
			l.temporary += float64(n)
		case strings.HasPrefix(name, s.dir) && strings.Contains(name, ".db"):
			l.store += float64(n)
		}
	}
	return l, nil
}

// backToStart waits until nothing is left of the run.
func (s *soak) backToStart(ctx context.Context, start levels) levels {
	deadline := time.Now().Add(s.effort.settle)
	for {
		now, err := s.levels(ctx)
		over := now.over(start)
		if ctx.Err() != nil {
			return now
		}
		if err == nil && over == "" || time.Now().After(deadline) {
			s.checks.that(err == nil && over == "", checkBack, "%s after %s: %v", over, s.effort.settle, err)
			return now
		}
	}
}

// restart stops the service, starts it again on the same folder, and reads
// every job once more.
func (s *soak) restart(ctx context.Context, views map[*job]*view) error {
	s.http.CloseIdleConnections()
	if err := s.sift.Stop(); !s.checks.that(err == nil, checkStops, "%v", err) {
		return err
	}
	if err := s.start(ctx); err != nil {
		return err
	}
	for _, j := range s.book.snapshot() {
		a, err := s.ask(ctx, j.owner, http.MethodGet, "/v1/batch/"+j.id, nil)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if before := views[j]; before != nil {
			s.checks.that(err == nil && a.status == http.StatusOK && string(a.body) == string(before.raw), checkRestart, "%s: %v %s, and was %.300s", j.id, err, a.excerpt(), before.raw)
		}
	}
	return nil
}

// checkLog looks for what no line about a batch may hold.
func (s *soak) checkLog() {
	b, err := os.ReadFile(filepath.Join(s.dir, "sift.log"))
	if !s.checks.that(err == nil, checkLines, "%v", err) {
		return
	}
	for line := range strings.Lines(string(b)) {
		if !strings.Contains(line, "batch") && !strings.Contains(line, "job") {
			continue
		}
		// The addresses that only batches ask, and paths that only they do.
		found := strings.Contains(line, "://") || strings.Contains(line, "/once/") || strings.Contains(line, "10.7.0.")
		for _, a := range s.site.back {
			found = found || strings.Contains(line, a)
		}
		s.checks.that(!found, checkLines, "%.300s", line)
	}
}

// logTail is the end of the service's log without the lines of requests that
// were answered.
func (s *soak) logTail() string {
	const lines = 30
	b, err := os.ReadFile(filepath.Join(s.dir, "sift.log"))
	if err != nil {
		return err.Error() + "\n"
	}
	all := slices.Collect(strings.Lines(string(b)))
	all = slices.DeleteFunc(all, func(l string) bool { return strings.Contains(l, "msg=request ") })
	return strings.Join(all[max(0, len(all)-lines):], "")
}

// envelope is what of an answer is looked at.
type envelope struct {
	Success bool   `json:"success"`
	URL     string `json:"url"`
	Content string `json:"content"`
}

// decode reads a stored result.
func decode(raw json.RawMessage) (envelope, error) {
	var e envelope
	err := json.Unmarshal(raw, &e)
	return e, err
}
