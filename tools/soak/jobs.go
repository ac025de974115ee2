package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// caller is somebody with a key.
type caller struct {
	name, class string
	restricted  bool
	key         string

	random *rand.Rand // of the one goroutine that plays it
}

// settings is its entry in the configuration.
func (c *caller) settings() string {
	sum := sha256.Sum256([]byte(c.key))
	return fmt.Sprintf("[[caller]]\nname = %q\nclass = %q\nrestricted = %v\nkey_sha256 = %q\n", c.name, c.class, c.restricted, hex.EncodeToString(sum[:]))
}

// people makes n callers, every fourth of them restricted, of three classes.
func people(name string, n int, seed uint64) []*caller {
	var all []*caller
	for i := range n {
		all = append(all, &caller{
			name: fmt.Sprintf("%s-%d", name, i), class: []string{"default", "science", "press"}[i%3], restricted: i%4 == 3,
			key: fmt.Sprintf("sift_soak_%s_%d", name, i), random: rand.New(rand.NewPCG(seed, uint64(i)+100)),
		})
	}
	return all
}

// answer is what the service said.
type answer struct {
	status int
	header http.Header
	body   []byte
	took   time.Duration
}

const (
	maxAnswer = 64 << 20         // of an answer that is read: a whole job and what JSON makes of it
	patience  = 90 * time.Second // for an answer, beyond what was asked for
)

// ask sends a request as a caller and reads the answer to its end.
func (s *soak) ask(ctx context.Context, c *caller, method, path string, body []byte) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, s.url()+path, bytes.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Authorization", "Bearer "+c.key)
	begin := time.Now()
	resp, err := s.http.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	a := answer{status: resp.StatusCode, header: resp.Header}
	if a.body, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1)); err == nil && len(a.body) > maxAnswer {
		err = fmt.Errorf("%s %s answered more than %d bytes", method, path, maxAnswer)
	}
	a.took = time.Since(begin)
	return a, err
}

// excerpt is the beginning of an answer, for what is said about it.
func (a answer) excerpt() string { return fmt.Sprintf("%d %.300s", a.status, a.body) }

// code is the code of a failure.
func (a answer) code() string {
	var f struct {
		Code string `json:"code"`
	}
	if json.Unmarshal(a.body, &f) != nil {
		return ""
	}
	return f.Code
}

// submitted is the answer to a submit that was let in.
type submitted struct {
	Success bool   `json:"success"`
	JobID   string `json:"job_id"`
	Status  string `json:"status"`
	Targets int    `json:"targets"`
	Reused  bool   `json:"reused"`
	Hint    string `json:"hint"`
}

// view is a job as it was answered.
type view struct {
	JobID        string       `json:"job_id"`
	Status       string       `json:"status"`
	TargetsTotal int          `json:"targets_total"`
	TargetsDone  int          `json:"targets_done"`
	CreatedAt    time.Time    `json:"created_at"`
	Error        string       `json:"error"`
	Targets      []targetView `json:"targets"`

	raw []byte
}

type targetView struct {
	Idx    int             `json:"idx"`
	URL    string          `json:"url"`
	Status string          `json:"status"`
	Result json.RawMessage `json:"result"`
	Error  string          `json:"error"`
	Hint   string          `json:"hint"`
}

func (v *view) live() bool { return v.Status == "queued" || v.Status == "running" }

func (t targetView) finished() bool { return t.Status == "done" || t.Status == "failed" }

// outcome is "ok" or the code of a finished target's failure.
func (t targetView) outcome() string {
	if t.Status == "done" {
		return codeOK
	}
	code, _, _ := strings.Cut(t.Error, ":")
	return code
}

// finished counts the targets that have been answered or have failed.
func (v *view) finished() int {
	n := 0
	for _, t := range v.Targets {
		if t.finished() {
			n++
		}
	}
	return n
}

// job is a job that was let in.
type job struct {
	id    string
	owner *caller
	list  *list

	mu         sync.Mutex
	cancelSent bool
	seen       map[int][sha256.Size]byte // finished targets, as they were first read
}

// book has every job that was let in.
type book struct {
	mu      sync.Mutex
	jobs    []*job
	newest  map[string]*job // by owner and list
	created int             // 202s with reused false
	reused  int             // 202s with reused true
}

func (b *book) snapshot() []*job {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.jobs)
}

func (b *book) count() (created, reused int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.created, b.reused
}

// accept takes a 202 into the book. fresh says that a new job was asked for.
func (s *soak) accept(c *caller, l *list, a answer, fresh bool) *job {
	var got submitted
	err := json.Unmarshal(a.body, &got)
	if !s.checks.that(err == nil && got.Success && got.JobID != "" && got.Targets == len(l.cards) && slices.Contains([]string{"queued", "running", "done", "partial", "failed", "cancelled"}, got.Status),
		checkSubmits, "a list of %d targets: %s", len(l.cards), a.excerpt()) {
		return nil
	}
	key := c.name + "/" + l.name
	b := &s.book
	b.mu.Lock()
	defer b.mu.Unlock()
	before := b.newest[key]
	if got.Reused {
		b.reused++
		s.checks.that(!fresh && before != nil && before.id == got.JobID, checkReuse, "list %s of %s is said to be reused: %s", l.name, c.name, a.excerpt())
		s.checks.that((got.Hint == "fresh") == (got.Status == "failed" || got.Status == "cancelled"), checkReuse, "the hint of %s", a.excerpt())
		return before
	}
	b.created++
	s.checks.that(before == nil || fresh, checkReuse, "list %s of %s is a new job, and was %s before: %s", l.name, c.name, idOf(before), a.excerpt())
	s.checks.that(!slices.ContainsFunc(b.jobs, func(j *job) bool { return j.id == got.JobID }), checkSubmits, "an id was given twice: %s", a.excerpt())
	j := &job{id: got.JobID, owner: c, list: l, seen: make(map[int][sha256.Size]byte)}
	b.jobs = append(b.jobs, j)
	b.newest[key] = j
	l.again++
	return j
}

func idOf(j *job) string {
	if j == nil {
		return "none"
	}
	return j.id
}

// refused checks a submit that was not let in for now, and says how long to
// wait.
func (s *soak) refused(a answer) time.Duration {
	seconds, err := strconv.Atoi(a.header.Get("Retry-After"))
	s.checks.that(a.status == http.StatusTooManyRequests && a.code() == "cap" && err == nil && seconds >= 1 && seconds <= 300,
		checkSubmits, "Retry-After %q: %s", a.header.Get("Retry-After"), a.excerpt())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refusals++
	return time.Duration(min(max(seconds, 1), 30)) * time.Second
}

// submit sends a list until it is let in, and waits in between as it is told.
// nil: the window has closed meanwhile, or something is wrong.
func (s *soak) submit(ctx context.Context, c *caller, l *list, fresh bool) *job {
	for ctx.Err() == nil {
		a, err := s.ask(context.WithoutCancel(ctx), c, http.MethodPost, "/v1/batch", l.body(fresh)) // an answer that nobody reads would be a job that nobody knows
		switch {
		case err != nil:
			s.checks.that(false, checkSubmits, "%v", err)
			return nil
		case a.status == http.StatusAccepted:
			return s.accept(c, l, a, fresh)
		}
		wait := s.refused(a)
		if a.status != http.StatusTooManyRequests || !after(ctx, wait) {
			return nil
		}
	}
	return nil
}

// submitTwice sends a list that nobody has sent before twice at once. Two at
// once must create one job.
func (s *soak) submitTwice(ctx context.Context, c *caller, l *list) *job {
	var answers [2]answer
	var errs [2]error
	var both sync.WaitGroup
	for i := range answers {
		both.Go(func() {
			answers[i], errs[i] = s.ask(context.WithoutCancel(ctx), c, http.MethodPost, "/v1/batch", l.body(false))
		})
	}
	both.Wait()
	if !s.checks.that(errors.Join(errs[:]...) == nil, checkSubmits, "two at once: %v", errors.Join(errs[:]...)) {
		return nil
	}
	var j *job
	for _, reused := range []bool{false, true} { // the one that made the job goes into the book first
		for _, a := range answers {
			if a.status == http.StatusAccepted && bytes.Contains(a.body, []byte(`"reused":true`)) == reused {
				if got := s.accept(c, l, a, false); got != nil {
					j = got
				}
			}
		}
	}
	for _, a := range answers {
		if a.status != http.StatusAccepted {
			s.refused(a)
		}
	}
	return j
}

// read asks for a job and checks everything that must hold of any answer. nil:
// it was none.
func (s *soak) read(ctx context.Context, j *job, behind int, wait time.Duration) (*view, answer) {
	path := "/v1/batch/" + j.id
	sep := "?"
	if behind >= 0 {
		path += sep + "after=" + strconv.Itoa(behind)
		sep = "&"
	}
	if wait > 0 {
		path += sep + "wait=" + strconv.FormatFloat(wait.Seconds(), 'f', -1, 64)
	}
	a, err := s.ask(ctx, j.owner, http.MethodGet, path, nil)
	if ctx.Err() != nil {
		return nil, a
	}
	if !s.checks.that(err == nil && a.status == http.StatusOK, checkViews, "GET %s: %v %s", path, err, a.excerpt()) {
		return nil, a
	}
	v := &view{raw: a.body}
	err = json.Unmarshal(a.body, v)
	total := len(j.list.cards)
	if !s.checks.that(err == nil && v.JobID == j.id && v.TargetsTotal == total && v.TargetsDone >= 0 && v.TargetsDone <= total && !v.CreatedAt.IsZero() && v.Error == "" && len(v.Targets) == total-1-behind,
		checkViews, "GET %s: %v %s", path, err, a.excerpt()) {
		return nil, a
	}
	s.look(j, v, behind, path)
	return v, a
}

// look checks the targets of an answer.
func (s *soak) look(j *job, v *view, behind int, path string) {
	running, unfinished := 0, -1
	j.mu.Lock()
	defer j.mu.Unlock()
	for i, t := range v.Targets {
		what := fmt.Sprintf("GET %s, target %d of kind %s, %s", path, t.Idx, j.list.cards[behind+1+i].kind.name, t.Status)
		s.checks.that(t.Idx == behind+1+i && t.URL == j.list.cards[t.Idx].url, checkViews, "%s: index %d, %s", what, behind+1+i, t.URL)
		switch t.Status {
		case "done":
			s.checks.that(len(t.Result) > 0 && t.Result[0] == '{' && len(t.Result) <= maxResult && t.Error == "", checkViews, "%s: %d bytes, error %q", what, len(t.Result), t.Error)
		case "failed":
			s.checks.that(len(t.Result) == 0 && strings.Contains(t.Error, ": "), checkViews, "%s: %d bytes, error %q", what, len(t.Result), t.Error)
		case "pending", "running":
			s.checks.that(len(t.Result) == 0 && t.Error == "", checkViews, "%s: %d bytes, error %q", what, len(t.Result), t.Error)
			s.checks.that(t.Status == "pending" || v.Status == "running" || v.Status == "cancelled", checkViews, "%s, of a job that is %s", what, v.Status)
			if t.Status == "running" {
				running++
			}
			unfinished = max(unfinished, 0)
			continue
		default:
			s.checks.that(false, checkViews, "%s", what)
			continue
		}
		s.checks.that(unfinished < 0, checkViews, "%s, before one in front of it", what)
		sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s\x00%s", t.Status, t.Result, t.Error, t.Hint))
		if first, again := j.seen[t.Idx]; again {
			s.checks.that(first == sum, checkViews, "%s, read again, is not what it was", what)
		}
		j.seen[t.Idx] = sum
	}
	s.checks.that(running <= 1, checkViews, "GET %s: %d targets are running", path, running)
	if behind < 0 { // job and targets are of one moment
		s.checks.that(v.TargetsDone == v.finished(), checkViews, "GET %s: targets_done is %d, and %d targets are finished", path, v.TargetsDone, v.finished())
	}
}

const (
	maxResult = 256 << 10 // of a target
	maxJob    = 8 << 20   // of all results of a job
	maxStored = 64 << 20  // of all jobs
)

// follow reads a job until it has ended, waiting for changes. collect asks only
// for what has not been collected before.
func (s *soak) follow(ctx context.Context, j *job, wait time.Duration, collect bool) {
	behind := -1
	var before *view
	for ctx.Err() == nil {
		v, a := s.read(ctx, j, behind, wait)
		if v == nil {
			return
		}
		if before != nil {
			s.checks.that(v.TargetsDone >= before.TargetsDone && rank(v.Status) >= rank(before.Status), checkViews, "%s went back from %s with %d to %s with %d", j.id, before.Status, before.TargetsDone, v.Status, v.TargetsDone)
			// What the reader knew was no older than this, so that nothing had
			// changed since the request either.
			if v.live() && v.Status == before.Status && v.TargetsDone == before.TargetsDone {
				s.checks.that(a.took > wait*9/10, checkWaits, "%s: nothing had changed, and the answer came after %s of %s", j.id, a.took, wait)
			}
			s.checks.that(a.took < wait+20*time.Second, checkWaits, "%s: the answer took %s, with a wait of %s", j.id, a.took, wait)
		}
		if !v.live() {
			return
		}
		if collect {
			for _, t := range v.Targets {
				if !t.finished() {
					break
				}
				behind = t.Idx
			}
		}
		before = v
	}
}

// rank is how far a job has come.
func rank(status string) int {
	switch status {
	case "queued":
		return 0
	case "running":
		return 1
	default:
		return 2
	}
}

// cancel cancels a job and checks the answer.
func (s *soak) cancel(ctx context.Context, j *job) {
	j.mu.Lock()
	j.cancelSent = true
	j.mu.Unlock()
	a, err := s.ask(ctx, j.owner, http.MethodDelete, "/v1/batch/"+j.id, nil)
	if ctx.Err() != nil {
		return
	}
	var got struct {
		Success bool   `json:"success"`
		Status  string `json:"status"`
	}
	if err == nil {
		err = json.Unmarshal(a.body, &got)
	}
	s.checks.that(err == nil && a.status == http.StatusOK && got.Success && slices.Contains([]string{"cancelled", "done", "partial", "failed"}, got.Status), checkCancels, "DELETE %s: %v %s", j.id, err, a.excerpt())
}

// play is one caller: it submits list after list while the gate is open, and
// does with each job what callers do.
func (s *soak) play(ctx context.Context, c *caller) {
	for {
		open, ok := s.gate.enter(ctx)
		if !ok {
			return
		}
		var others sync.WaitGroup
		var last *job
		for open.Err() == nil {
			if j := s.round(ctx, open, c, &others); j != nil {
				last = j
			} else if !after(open, 50*time.Millisecond) { // so that what is wrong is not asked for without a pause
				break
			}
		}
		others.Wait()
		if last != nil { // the caller has one live job at most: when this has ended all have
			s.follow(ctx, last, 5*time.Second, true)
		}
		s.gate.leave()
	}
}

// round is one list of a caller and what becomes of it.
func (s *soak) round(ctx, open context.Context, c *caller, others *sync.WaitGroup) *job {
	chance := func(p float64) bool { return c.random.Float64() < p }
	if chance(0.06) {
		s.tryBadSubmit(ctx, c)
	}
	l := s.take(c)
	var j *job
	if chance(0.2) {
		j = s.submitTwice(ctx, c, l)
	}
	if j == nil {
		j = s.submit(open, c, l, false)
	}
	if j == nil {
		s.giveBack(c, l)
		return nil
	}
	if chance(0.15) {
		s.submit(open, c, l, false) // the same list again
	}
	for range c.random.IntN(4) { // readers, sometimes none
		wait, collect := time.Duration(500+c.random.IntN(4500))*time.Millisecond, chance(0.5)
		others.Go(func() { s.follow(ctx, j, wait, collect) })
	}
	cancelled := chance(0.15)
	if cancelled {
		delay, twice := time.Duration(c.random.IntN(2500))*time.Millisecond, chance(0.3)
		others.Go(func() {
			after(open, delay)
			s.cancel(ctx, j)
			if twice {
				s.cancel(ctx, j)
			}
		})
	}
	switch {
	case cancelled && chance(0.5): // it is still the one that is answered, until a new one is asked for
		others.Wait()
		s.follow(ctx, j, 5*time.Second, false)
		s.submit(open, c, l, false)
		if next := s.submit(open, c, l, true); next != nil {
			j = next
		}
	case chance(0.6): // collected before the next list is sent
		s.follow(ctx, j, 5*time.Second, true)
	}
	return j
}

// tryBadSubmit sends what must be refused.
func (s *soak) tryBadSubmit(ctx context.Context, c *caller) {
	at := c.random.IntN(3)
	good := `{"url":"http://` + s.site.front + `/cached/0"}`
	with := func(bad string) []byte {
		targets := []string{good, good, good}
		targets[at] = bad
		return []byte(`{"targets":[` + strings.Join(targets, ",") + `]}`)
	}
	for _, t := range []struct {
		body       []byte
		status     int
		code, text string
	}{
		{[]byte(`{"targets":[` + strings.Repeat(good+",", 32) + good + `]}`), http.StatusUnprocessableEntity, "cap", "32"},
		{with(`{"url":"http://example.org:8080/"}`), http.StatusUnprocessableEntity, "blocked", fmt.Sprintf("targets[%d]", at)},
		{with(`{"url":"ftp://example.org/"}`), http.StatusUnprocessableEntity, "blocked", fmt.Sprintf("targets[%d]", at)},
		{with(`{"url":"http://example.org/","password":"x"}`), http.StatusBadRequest, "invalid", fmt.Sprintf("targets[%d]", at)},
		{with(`{"url":"http://example.org/","modes":"x"}`), http.StatusBadRequest, "invalid", fmt.Sprintf("targets[%d]", at)},
		{[]byte(`{"targets":[]}`), http.StatusBadRequest, "invalid", "targets"},
		{[]byte(`{"targets":[` + good), http.StatusBadRequest, "invalid", ""},
	} {
		a, err := s.ask(ctx, c, http.MethodPost, "/v1/batch", t.body)
		if ctx.Err() != nil {
			return
		}
		s.checks.that(err == nil && a.status == t.status && a.code() == t.code && bytes.Contains(a.body, []byte(t.text)), checkRefusals, "%.200s: %v %s", t.body, err, a.excerpt())
	}
}

// take is the next list for a caller: the one that was not let in last, or a new one.
func (s *soak) take(c *caller) *list {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.left[c]; l != nil {
		delete(s.left, c)
		return l
	}
	return s.dealer.next()
}

func (s *soak) giveBack(c *caller, l *list) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left[c] = l
}

// prowl tries other callers' jobs now and then.
func (s *soak) prowl(ctx context.Context, random *rand.Rand) {
	for after(ctx, 200*time.Millisecond) {
		jobs := s.book.snapshot()
		if len(jobs) == 0 {
			continue
		}
		j := jobs[random.IntN(len(jobs))]
		c := s.callers[random.IntN(len(s.callers))]
		if c == j.owner {
			continue
		}
		s.tryForeign(ctx, c, j, random)
	}
}

// tryForeign asks for a job as somebody who does not own it, and for one that
// does not exist.
func (s *soak) tryForeign(ctx context.Context, c *caller, j *job, random *rand.Rand) {
	method, query := http.MethodGet, ""
	switch random.IntN(4) {
	case 0:
		method = http.MethodDelete
	case 1:
		query = "?wait=2&after=0"
	}
	theirs, err := s.ask(ctx, c, method, "/v1/batch/"+j.id+query, nil)
	none, err2 := s.ask(ctx, c, method, "/v1/batch/"+likeness(j.id, random)+query, nil)
	if ctx.Err() != nil {
		return
	}
	theirs.header.Del("Date")
	none.header.Del("Date")
	s.checks.that(err == nil && err2 == nil && theirs.status == http.StatusNotFound && none.status == http.StatusNotFound && bytes.Equal(theirs.body, none.body) &&
		fmt.Sprint(theirs.header) == fmt.Sprint(none.header), checkForeign,
		"%s %s%s of %s as %s: %v %s %v; no job: %v %s %v", method, j.id, query, j.owner.name, c.name, err, theirs.excerpt(), theirs.header, err2, none.excerpt(), none.header)
}

// likeness is an id that nobody has but that looks like one.
func likeness(id string, random *rand.Rand) string {
	b := []byte(id)
	for i, c := range b {
		switch {
		case c >= '0' && c <= '9':
			b[i] = byte('0' + random.IntN(10))
		case c >= 'a' && c <= 'f': // it may be hexadecimal
			b[i] = byte('a' + random.IntN(6))
		case c >= 'g' && c <= 'z':
			b[i] = byte('g' + random.IntN(20))
		case c >= 'A' && c <= 'Z':
			b[i] = byte('A' + random.IntN(26))
		}
	}
	return string(b)
}

// gate lets callers submit while it is open.
type gate struct {
	mu     sync.Mutex
	open   bool
	inside int
	change chan struct{} // closed and made anew at every change
	end    context.CancelFunc
	ctx    context.Context //nolint:containedctx // ends when the gate closes: what those inside wait with
}

func newGate() *gate { return &gate{change: make(chan struct{})} }

func (g *gate) changedLocked() {
	close(g.change)
	g.change = make(chan struct{})
}

// enter waits until the gate is open. The context it gives ends when it closes.
func (g *gate) enter(ctx context.Context) (context.Context, bool) {
	for {
		g.mu.Lock()
		if g.open {
			g.inside++
			open := g.ctx
			g.mu.Unlock()
			return open, true
		}
		change := g.change
		g.mu.Unlock()
		select {
		case <-change:
		case <-ctx.Done():
			return nil, false
		}
	}
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inside--
	g.changedLocked()
}

func (g *gate) start(ctx context.Context) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ctx, g.end = context.WithCancel(ctx)
	g.open = true
	g.changedLocked()
}

// stop closes the gate.
func (g *gate) stop() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open = false
	g.end()
	g.changedLocked()
}

// empty waits until nobody is inside.
func (g *gate) empty(ctx context.Context) error {
	for {
		g.mu.Lock()
		inside, change := g.inside, g.change
		g.mu.Unlock()
		if inside == 0 {
			return nil
		}
		select {
		case <-change:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (g *gate) isOpen() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.open
}
