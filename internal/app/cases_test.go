package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sift.build/sift/internal/config"
	"sift.build/sift/internal/sift"
)

// casesDir holds the specimens. docs/cases.md says how one is written.
const casesDir = "../../testdata/cases"

// caseFile is a case.json. A member that is not here is a mistake in it: an
// expectation with a typing error would hold for ever.
type caseFile struct {
	ID          string         `json:"id"`
	Kind        string         `json:"kind"`
	Source      string         `json:"source"`
	MoreSources []string       `json:"more_sources"`
	Why         string         `json:"why"`
	Note        string         `json:"note"`
	Weight      string         `json:"weight"`
	Request     caseRequest    `json:"request"`
	Response    caseResponse   `json:"response"`
	BodyFile    string         `json:"body_file"`
	Routes      []caseResponse `json:"routes"`
	Expect      *expectation   `json:"expect"`

	dir string
}

const (
	must   = "must"   // a wrong answer is a fault
	should = "should" // better tools get it right; reasonable people may differ
)

// caseRequest is what is asked of sift.
type caseRequest struct {
	Path        string   `json:"path"`
	URLs        []string `json:"urls"` // as one batch
	Mode        string   `json:"mode"`
	Grep        string   `json:"grep"`
	JQ          string   `json:"jq"`
	Pages       string   `json:"pages"`
	Section     string   `json:"section"`
	Question    string   `json:"question"`
	Password    string   `json:"password"`
	Context     bool     `json:"context"`
	Recover     bool     `json:"recover"`
	MaxChars    int      `json:"max_chars"`
	Offset      int      `json:"offset"`
	FollowPages bool     `json:"follow_pages"` // read window after window and join them
	TimeoutS    float64  `json:"timeout_s"`
	Repeat      int      `json:"repeat"` // the same call so often; the last one counts
}

func (r caseRequest) target(url string) sift.Target {
	t := sift.Target{
		URL: url, Mode: sift.Mode(r.Mode), Question: r.Question, Pages: r.Pages, Section: r.Section, Grep: r.Grep, JQ: r.JQ,
		Context: r.Context, Recover: r.Recover, Password: r.Password, MaxChars: r.MaxChars, Offset: r.Offset,
	}
	if r.Mode == "markdown" { // the word of those who know no other tool's modes
		t.Mode = sift.ModeClean
	}
	if r.TimeoutS > 0 {
		t.Timeout = &r.TimeoutS
	}
	return t
}

// plain says that the answer is the whole of the page's clean content.
func (r caseRequest) plain() bool {
	return r.Mode == "" && len(r.URLs) == 0 && r.Grep+r.JQ+r.Pages+r.Section+r.Question+r.Password == "" &&
		!r.Recover && r.MaxChars == 0 && r.Offset == 0 && !r.FollowPages
}

// fields are the members of the request's body at the service's door.
func (r caseRequest) fields(url string) map[string]any {
	m := map[string]any{"url": url}
	for name, v := range map[string]string{"mode": r.Mode, "grep": r.Grep, "jq": r.JQ, "pages": r.Pages, "section": r.Section, "question": r.Question} {
		if v != "" {
			m[name] = v
		}
	}
	return m
}

func loadCase(dir string) (*caseFile, error) {
	raw, err := os.ReadFile(filepath.Join(dir, "case.json"))
	if err != nil {
		return nil, err
	}
	c := &caseFile{dir: dir}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	d.UseNumber()
	if err := d.Decode(c); err != nil {
		return nil, fmt.Errorf("case.json: %w", err)
	}
	return c, c.check()
}

// check finds what would make a case say nothing.
func (c *caseFile) check() error {
	switch {
	case c.ID != filepath.Base(c.dir):
		return fmt.Errorf("its id is %q", c.ID)
	case c.Kind == "" || c.Why == "":
		return fmt.Errorf("kind or why is missing")
	case c.Weight != must && c.Weight != should:
		return fmt.Errorf("its weight is %q", c.Weight)
	case c.Request.Path == "" || c.Response.Status == 0:
		return fmt.Errorf("no path is asked for, or the answer has no status")
	case c.Expect == nil:
		return fmt.Errorf("nothing is expected")
	}
	known := map[string]bool{"case.json": true}
	main := c.Response
	main.BodyFile = c.BodyFile
	for _, r := range append([]caseResponse{main}, c.Routes...) {
		known[r.BodyFile] = true
		if _, err := os.Stat(filepath.Join(c.dir, r.BodyFile)); err != nil {
			return fmt.Errorf("the body of an answer: %w", err)
		}
	}
	files, err := os.ReadDir(c.dir)
	if err != nil {
		return err
	}
	for _, f := range files {
		if !known[f.Name()] {
			return fmt.Errorf("nothing sends the file %s", f.Name())
		}
	}
	return c.Expect.check(len(c.Request.URLs))
}

func loadCases(t *testing.T) []*caseFile {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(casesDir, "*", "case.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []*caseFile
	for _, file := range dirs {
		c, err := loadCase(filepath.Dir(file))
		if err != nil {
			t.Errorf("%s: %v", filepath.Base(filepath.Dir(file)), err)
			continue
		}
		cases = append(cases, c)
	}
	return cases
}

// openCases are the must-cases that are known not to be met, with the reason.
func openCases(t *testing.T) map[string]string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(casesDir, "open.txt"))
	if err != nil {
		t.Fatal(err)
	}
	open := map[string]string{}
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		id, reason, _ := strings.Cut(line, " ")
		if strings.TrimSpace(reason) == "" {
			t.Errorf("open.txt gives no reason for %s", id)
		}
		open[id] = strings.TrimSpace(reason)
	}
	return open
}

// origins are the servers of some cases. Each has a port of its own, since
// cases share paths and a port is what tells one site from another in the store.
func origins(t *testing.T, cases []*caseFile) (map[string]*origin, []string) {
	t.Helper()
	byID, allow := map[string]*origin{}, []string(nil)
	for _, c := range cases {
		o, err := newOrigin(c)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(o.close)
		byID[c.ID], allow = o, append(allow, o.address())
	}
	return byID, allow
}

// reader answers requests as the product does: in this process, and through a
// service where it takes one.
type reader struct {
	local   *Local
	service *running
}

func newReader(t *testing.T, allow []string) *reader {
	t.Helper()
	cfg := settings(t)
	cfg.Guard.Allow = allow
	// Every case comes from the same host and the same caller.
	cfg.Gate = config.Gate{Global: 64, PerHost: 64, PerCaller: 64}
	cfg.Batch.JobsPerCaller = 8
	serve := cfg
	serve.DataDir = filepath.Join(t.TempDir(), "served")
	r := &reader{service: start(t, serve, ServeOptions{Grace: within})}
	var err error
	r.local, err = OpenLocal(t.Context(), cfg, slog.New(slog.DiscardHandler), func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r.service.stop()
		if err := receive(t, "the end of the service", r.service.ended); err != nil {
			t.Error(err)
		}
		if err := r.local.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// callLimit ends a call that ends by nothing else.
const callLimit = time.Minute

// run does what a case asks for and says how long that took.
func (r *reader) run(ctx context.Context, c *caseFile, o *origin) (result, time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	began := time.Now()
	if len(c.Request.URLs) > 0 {
		res := r.batch(ctx, c.Request, o)
		return res, time.Since(began)
	}
	target := c.Request.target(o.url + c.Request.Path)
	var res result
	for range max(c.Request.Repeat, 1) {
		res = r.fetch(ctx, target)
	}
	text := res.content
	for c.Request.FollowPages && res.ok && res.steps < 200 {
		next, more := res.meta["next_offset"].(json.Number)
		if !more {
			break
		}
		offset, _ := next.Int64()
		target.Offset = int(offset)
		steps := res.steps + 1
		res = r.fetch(ctx, target)
		text, res.steps = text+res.content, steps
	}
	if res.ok {
		res.content = text
	}
	return res, time.Since(began)
}

func (r *reader) fetch(ctx context.Context, t sift.Target) result {
	env, err := r.local.FetchTarget(ctx, t)
	if err != nil {
		raw, err := json.Marshal(sift.AsFailure(err).JSON())
		if err != nil {
			return result{err: err.Error()}
		}
		return shape(raw)
	}
	return shape(env.AppendJSON(nil))
}

// batch submits the addresses as one job and collects it.
func (r *reader) batch(ctx context.Context, q caseRequest, o *origin) result {
	var targets []map[string]any
	for _, path := range q.URLs {
		targets = append(targets, q.fields(o.full(path)))
	}
	body, err := json.Marshal(map[string]any{"targets": targets})
	if err != nil {
		return result{err: err.Error()}
	}
	status, raw, err := r.call(ctx, http.MethodPost, "/v1/batch", body)
	if err != nil {
		return result{err: err.Error()}
	}
	if status != http.StatusAccepted {
		return shape(raw)
	}
	var job struct {
		Status  string `json:"status"`
		Error   string `json:"error"`
		Targets []struct {
			Status string          `json:"status"`
			Result json.RawMessage `json:"result"`
			Error  string          `json:"error"`
			Hint   string          `json:"hint"`
		} `json:"targets"`
	}
	submitted := struct {
		ID string `json:"job_id"`
	}{}
	if err := json.Unmarshal(raw, &submitted); err != nil {
		return result{err: err.Error()}
	}
	for job.Status == "" || job.Status == "queued" || job.Status == "running" {
		if _, raw, err = r.call(ctx, http.MethodGet, "/v1/batch/"+submitted.ID+"?wait=10", nil); err != nil {
			return result{err: err.Error()}
		}
		if err := json.Unmarshal(raw, &job); err != nil {
			return result{err: err.Error()}
		}
	}
	res := result{ok: job.Status == "done" || job.Status == "partial", err: job.Error, meta: map[string]any{"status": job.Status}, steps: 1}
	for _, t := range job.Targets {
		if t.Status == "done" {
			res.items = append(res.items, shape(t.Result))
			continue
		}
		res.items = append(res.items, result{err: t.Error, meta: map[string]any{"hint": t.Hint}})
	}
	return res
}

func (r *reader) call(ctx context.Context, method, path string, body []byte) (int, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, r.service.url+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	return resp.StatusCode, raw, err
}

// windows reads an answer once more in several windows and says where they do
// not join to what came in one.
func (r *reader) windows(ctx context.Context, url string, whole result) []string {
	snapshot, _ := whole.meta["snapshot"].(string)
	chars := len([]rune(whole.content))
	if snapshot == "" || chars < 40 || chars > 60_000 || whole.meta["next_offset"] != nil {
		return nil
	}
	var text strings.Builder
	t := sift.Target{URL: url, Snapshot: snapshot, MaxChars: chars/3 + 1}
	for range chars {
		part := r.fetch(ctx, t)
		if !part.ok {
			return []string{"a window of it failed: " + part.err}
		}
		if part.content == "" {
			return []string{fmt.Sprintf("the window at %d is empty", t.Offset)}
		}
		text.WriteString(part.content)
		next, more := part.meta["next_offset"].(json.Number)
		if !more {
			break
		}
		offset, _ := next.Int64()
		t.Offset = int(offset)
	}
	if text.String() != whole.content {
		return []string{"its windows do not join to the whole"}
	}
	return nil
}

// verdict is what came of one case.
type verdict struct {
	id, weight, why string
	faults          []string
	took            time.Duration
}

func TestEveryCaseReadsAsItShould(t *testing.T) {
	cases, open := loadCases(t), openCases(t)
	byID, allow := origins(t, cases)
	r := newReader(t, allow)

	var mu sync.Mutex
	var verdicts []verdict
	t.Run("case", func(t *testing.T) {
		// No more at once than the machine has processors, whatever -parallel
		// says: cases have time limits.
		slots := make(chan struct{}, runtime.NumCPU())
		for _, c := range cases {
			t.Run(c.ID, func(t *testing.T) {
				t.Parallel()
				if !c.waits() { // one that waits for its origin takes no processor
					slots <- struct{}{}
					defer func() { <-slots }()
				}
				res, took := r.run(t.Context(), c, byID[c.ID])
				faults := c.Expect.judge(res, took, byID[c.ID].url)
				if c.Request.plain() && res.ok {
					faults = append(faults, r.windows(t.Context(), byID[c.ID].url+c.Request.Path, res)...)
				}
				mu.Lock()
				verdicts = append(verdicts, verdict{c.ID, c.Weight, c.Why, faults, took})
				mu.Unlock()
				reason, listed := open[c.ID]
				switch {
				case listed && c.Weight != must:
					t.Error("open.txt is for must-cases; this one is a should-case")
				case listed && len(faults) == 0:
					t.Errorf("it is met now: take it out of testdata/cases/open.txt (%s)", reason)
				case listed:
					t.Logf("STILL OPEN: %s: %s\n%s\n%s", c.ID, reason, c.Why, strings.Join(faults, "\n"))
				case len(faults) > 0 && c.Weight == must:
					t.Errorf("%s\n%s\nThe content was:\n%.2000s", c.Why, strings.Join(faults, "\n"), res.content)
				case len(faults) > 0:
					t.Logf("a should-case is not met: %s\n%s\nThe content was:\n%.2000s", c.Why, strings.Join(faults, "\n"), res.content)
				default:
					t.Log(c.Why)
				}
			})
		}
	})
	report(t, cases, open, verdicts)
}

// waits says that the case takes its time without work: its origin holds back.
func (c *caseFile) waits() bool {
	return c.Response.StallSeconds > 0 || c.Response.TrickleHeadersSeconds > 0
}

// report prints what is not met and holds the whole set to its bounds.
func report(t *testing.T, cases []*caseFile, open map[string]string, verdicts []verdict) {
	slices.SortFunc(verdicts, func(a, b verdict) int { return strings.Compare(a.id, b.id) })
	for id := range open {
		if !slices.ContainsFunc(cases, func(c *caseFile) bool { return c.ID == id }) {
			t.Errorf("open.txt names %s, which is no case", id)
		}
	}
	met, all := map[string]int{}, map[string]int{}
	for _, v := range verdicts {
		all[v.weight]++
		if len(v.faults) == 0 {
			met[v.weight]++
			continue
		}
		note := v.weight
		if _, listed := open[v.id]; listed {
			note = "OPEN"
		}
		t.Logf("not met: %s [%s] %s", v.id, note, strings.Join(v.faults, "; "))
	}
	slices.SortFunc(verdicts, func(a, b verdict) int { return int(b.took - a.took) })
	for _, v := range verdicts[:min(5, len(verdicts))] {
		t.Logf("slow: %s took %v", v.id, v.took.Round(time.Millisecond))
	}
	t.Logf("must %d/%d (%d listed as open), should %d/%d", met[must], all[must], len(open), met[should], all[should])
	// With -run for some of them the share says nothing.
	if len(verdicts) == len(cases) && met[should]*10 < all[should]*9 {
		t.Errorf("%d of %d should-cases are met; nine of ten are due", met[should], all[should])
	}
}
