package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"sift.build/sift/internal/api"
	"sift.build/sift/internal/sift"
)

// asked is a request as a server saw it.
type asked struct{ Method, Path, Body, Type, Key string }

// canned is a server that answers everything alike, and a client of it.
func canned(t *testing.T, status int, body string) (*Client, *asked) {
	t.Helper()
	var saw asked
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		saw = asked{r.Method, r.RequestURI, string(b), r.Header.Get("Content-Type"), r.Header.Get("Authorization")}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(srv.Close)
	return clientOf(t, srv.URL), &saw
}

func clientOf(t *testing.T, base string) *Client {
	t.Helper()
	c, err := New(Config{URL: base, Key: "k1"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

const (
	goodJob = `{"job_id":"j1","status":"partial","targets_total":3,"targets_done":2,"created_at":"2026-01-02T03:04:05.678Z","error":"store: full","targets":[` +
		`{"idx":0,"url":"https://example.org/ü","status":"done","result":{"success":true, "content":"x"}},` +
		`{"idx":1,"url":"http://10.0.0.7/","status":"failed","error":"blocked: private address 10.0.0.7","hint":"browser"},` +
		`{"idx":2,"url":"u","status":"pending"}]}`
	goodSubmit = `{"success":true,"job_id":"j1","status":"cancelled","targets":3,"reused":true,"hint":"fresh"}`
	goodCancel = `{"success":true,"status":"cancelled"}`
	goodList   = `{"jobs":[{"job_id":"j2","status":"running","targets_total":3,"targets_done":1,"created_at":"2026-01-02T03:04:05Z"},` +
		`{"job_id":"j1","status":"failed","targets_total":1,"targets_done":0,"created_at":"2026-01-01T00:00:00Z","error":"restart"}]}`
)

func TestABatchIsSubmittedAsItWasWritten(t *testing.T) {
	c, saw := canned(t, 202, goodSubmit)
	const body = `{"targets":[{"url":"https://example.org/"} ],"fresh":true}`
	got, err := c.SubmitBatch(t.Context(), []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	want := &Submitted{
		Submitted: sift.Submitted{JobID: "j1", Status: sift.JobCancelled, Targets: 3, Reused: true, Hint: sift.HintFresh},
		JSON:      json.RawMessage(goodSubmit),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(asked{"POST", "/v1/batch", body, "application/json", "Bearer k1"}, *saw); diff != "" {
		t.Error(diff)
	}
}

func TestAJobComesBackAsItIsWithItsResultsAsTheyCame(t *testing.T) {
	c, saw := canned(t, 200, goodJob)
	got, err := c.Job(t.Context(), "j1", -1, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := &Job{Job: sift.Job{
		ID: "j1", Status: sift.JobPartial, TargetsTotal: 3, TargetsDone: 2, CreatedAt: time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC), Error: "store: full",
		Targets: []sift.JobTarget{
			{Idx: 0, URL: "https://example.org/ü", Status: sift.TargetDone, Result: json.RawMessage(`{"success":true, "content":"x"}`)},
			{Idx: 1, URL: "http://10.0.0.7/", Status: sift.TargetFailed, Error: "blocked: private address 10.0.0.7", Hint: sift.HintBrowser},
			{Idx: 2, URL: "u", Status: sift.TargetPending},
		},
	}, JSON: json.RawMessage(goodJob)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(asked{Method: "GET", Path: "/v1/batch/j1", Key: "Bearer k1"}, *saw); diff != "" {
		t.Error(diff)
	}
}

func TestTheListOfJobsAndTheAnswerToACancelComeBack(t *testing.T) {
	c, saw := canned(t, 200, goodList)
	got, err := c.Jobs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := &Jobs{Jobs: []sift.Job{
		{ID: "j2", Status: sift.JobRunning, TargetsTotal: 3, TargetsDone: 1, CreatedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)},
		{ID: "j1", Status: sift.JobFailed, TargetsTotal: 1, CreatedAt: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Error: "restart"},
	}, JSON: json.RawMessage(goodList)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if saw.Method != "GET" || saw.Path != "/v1/batch" {
		t.Errorf("%+v", *saw)
	}
	c, _ = canned(t, 200, `{"jobs":[]}`)
	if got, err := c.Jobs(t.Context()); err != nil || len(got.Jobs) != 0 {
		t.Errorf("%v, %v", got, err)
	}

	c, saw = canned(t, 200, goodCancel)
	cancelled, err := c.CancelBatch(t.Context(), "j1")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&Cancelled{Status: sift.JobCancelled, JSON: json.RawMessage(goodCancel)}, cancelled); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(asked{Method: "DELETE", Path: "/v1/batch/j1", Key: "Bearer k1"}, *saw); diff != "" {
		t.Error(diff)
	}
}

func TestAnIDStaysInsideItsSegmentAndWaitAndAfterAreSent(t *testing.T) {
	for _, c := range []struct {
		id    string
		after int
		wait  time.Duration
		want  string
	}{
		{"j1", -1, 30 * time.Second, "/v1/batch/j1?wait=30"},
		{"j1", 0, 0, "/v1/batch/j1?after=0"},
		{"j1", 7, 1500 * time.Millisecond, "/v1/batch/j1?after=7&wait=1.5"},
		{"j1", -5, -time.Second, "/v1/batch/j1"},
		{"j1", -1, 24 * time.Hour, "/v1/batch/j1?wait=300"},
		{"../../healthz", -1, 0, "/v1/batch/..%2F..%2Fhealthz"},
		{".", -1, 0, "/v1/batch/%2E"},
		{"..", -1, time.Second, "/v1/batch/%2E%2E?wait=1"},
		{"a?wait=9&b#c", -1, 0, "/v1/batch/a%3Fwait=9&b%23c"},
		{"ü \r\nX: y%", -1, 0, "/v1/batch/%C3%BC%20%0D%0AX:%20y%25"},
	} {
		cl, saw := canned(t, 404, `{"success":false,"error":"not_found: no such job","code":"not_found"}`)
		if _, err := cl.Job(t.Context(), c.id, c.after, c.wait); sift.AsFailure(err).Code != sift.CodeNotFound {
			t.Errorf("%q: %v", c.id, err)
		}
		if saw.Path != c.want {
			t.Errorf("%q: %s, want %s", c.id, saw.Path, c.want)
		}
		if _, err := cl.CancelBatch(t.Context(), c.id); sift.AsFailure(err).Code != sift.CodeNotFound {
			t.Errorf("%q: %v", c.id, err)
		}
		if want, _, _ := strings.Cut(c.want, "?"); saw.Path != want || saw.Method != "DELETE" {
			t.Errorf("%q: %s %s, want DELETE %s", c.id, saw.Method, saw.Path, want)
		}
	}
	cl, saw := canned(t, 200, goodJob)
	if _, err := cl.Job(t.Context(), "", -1, 0); sift.AsFailure(err).Code != sift.CodeInvalid {
		t.Error(err)
	}
	if _, err := cl.CancelBatch(t.Context(), ""); sift.AsFailure(err).Code != sift.CodeInvalid {
		t.Error(err)
	}
	if saw.Method != "" {
		t.Errorf("an empty id was asked for: %+v", *saw)
	}
}

// calls are the batch calls of a client, each with an answer that it takes.
func calls() map[string]struct {
	status int
	good   string
	call   func(context.Context, *Client) (any, error)
} {
	type row = struct {
		status int
		good   string
		call   func(context.Context, *Client) (any, error)
	}
	return map[string]row{
		"submit": {202, goodSubmit, func(ctx context.Context, c *Client) (any, error) { return c.SubmitBatch(ctx, []byte(`{}`)) }},
		"job":    {200, goodJob, func(ctx context.Context, c *Client) (any, error) { return c.Job(ctx, "j1", -1, 10*time.Second) }},
		"list":   {200, goodList, func(ctx context.Context, c *Client) (any, error) { return c.Jobs(ctx) }},
		"cancel": {200, goodCancel, func(ctx context.Context, c *Client) (any, error) { return c.CancelBatch(ctx, "j1") }},
	}
}

func TestAFailureOfABatchCallComesBackAsTheOneItWas(t *testing.T) {
	want := &sift.Failure{
		Code: sift.CodeCap, Message: "a caller has at most 1 live job: this one's is j7", Hint: sift.HintRetry, URL: "u", RetryAfter: 5 * time.Second,
	}
	for name, c := range calls() {
		cl, _ := canned(t, 429, `{"success":false,"error":"cap: a caller has at most 1 live job: this one's is j7","code":"cap","hint":"retry","url":"u","retry_after":5}`)
		_, err := c.call(t.Context(), cl)
		f, ok := err.(*sift.Failure)
		if !ok {
			t.Fatalf("%s: %T", name, err)
		}
		if diff := cmp.Diff(want, f); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestAnAnswerToABatchCallThatIsNotSiftsIsSaid(t *testing.T) {
	for name, c := range calls() {
		if cl, _ := canned(t, c.status, c.good); true {
			if _, err := c.call(t.Context(), cl); err != nil {
				t.Fatalf("%s: the good answer: %v", name, err)
			}
		}
		bodies := map[string][2]any{
			"broken JSON":          {c.status, c.good[:len(c.good)-1]},
			"more than one value":  {c.status, c.good + "{}"},
			"a list":               {c.status, `[]`},
			"null":                 {c.status, `null`},
			"another JSON":         {c.status, `{"ok":1}`},
			"no body":              {c.status, ``},
			"another status":       {201, c.good},
			"success with a 500":   {500, c.good},
			"a failure with a 2xx": {c.status, `{"success":false,"error":"x","code":"blocked"}`},
		}
		edits := map[string][][2]string{
			"submit": {{`"success":true`, `"success":false`}, {`"j1"`, `""`}, {`"j1"`, `1`}, {`"cancelled"`, `"news"`}, {`"targets":3`, `"targets":0`}, {`"targets":3`, `"targets":[]`}},
			"job": {
				{`"j1"`, `"j2"`}, {`"partial"`, `"news"`}, {`"targets_done":2`, `"targets_done":4`}, {`"targets_done":2`, `"targets_done":-1`},
				{`2026-01-02T`, `yesterday `}, {`"created_at":"2026-01-02T03:04:05.678Z",`, ``}, {`"idx":1`, `"idx":0`}, {`"idx":2`, `"idx":3`}, {`"idx":0`, `"idx":-1`},
				{`"pending"`, `"news"`}, {`"status":"failed"`, `"status":"done"`}, {`{"success":true, "content":"x"}`, `null`}, {`{"success":true, "content":"x"}`, `"x"`},
				{`"status":"pending"`, `"status":"pending","result":{}`}, {`"targets":[`, `"more":[`}, {`"targets":[`, `"targets":{}, "more":[`},
			},
			"list":   {{`"j2"`, `""`}, {`"running"`, `"news"`}, {`"targets_done":1`, `"targets_done":9`}, {`"jobs":`, `"more":`}},
			"cancel": {{`"success":true`, `"success":false`}, {`"cancelled"`, `"news"`}, {`"cancelled"`, `1`}},
		}
		for _, e := range edits[name] {
			if !strings.Contains(c.good, e[0]) {
				t.Fatalf("%s is not in the answer", e[0])
			}
			bodies[e[0]+" → "+e[1]] = [2]any{c.status, strings.Replace(c.good, e[0], e[1], 1)}
		}
		for what, b := range bodies {
			cl, _ := canned(t, b[0].(int), b[1].(string))
			got, err := c.call(t.Context(), cl)
			if f := sift.AsFailure(err); f.Code != sift.CodeUnreachable || !strings.Contains(f.Message, "is not a sift server of this version: status ") {
				t.Errorf("%s, %s: %+v, %v", name, what, got, err)
			}
		}
	}
	// A state behind the index that was asked for is another answer's.
	cl, _ := canned(t, 200, goodJob)
	if _, err := cl.Job(t.Context(), "j1", 0, 0); sift.AsFailure(err).Code != sift.CodeUnreachable {
		t.Error(err)
	}
}

func TestAHintOfANewerServerIsLeftOutOfABatchAnswer(t *testing.T) {
	cl, _ := canned(t, 202, strings.Replace(goodSubmit, "fresh", "tea", 1))
	if got, err := cl.SubmitBatch(t.Context(), nil); err != nil || got.Hint != "" {
		t.Errorf("%+v, %v", got, err)
	}
	cl, _ = canned(t, 200, strings.Replace(goodJob, `"hint":"browser"`, `"hint":"tea","more":[1]`, 1))
	if got, err := cl.Job(t.Context(), "j1", -1, 0); err != nil || got.Targets[1].Hint != "" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestServersThatMisbehaveAreToldApartInEveryBatchCall(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("%s was asked with %q", r.URL, r.Header.Get("Authorization"))
	}))
	defer elsewhere.Close()
	asJSON := func(w http.ResponseWriter) { w.Header().Set("Content-Type", "application/json") }
	for name, server := range map[string]struct {
		handler http.HandlerFunc
		code    sift.Code
		want    string
	}{
		"a redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
		},
			sift.CodeUnreachable, "a redirect to \"" + elsewhere.URL},
		"a page": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, "<p>hello")
		}, sift.CodeUnreachable, `is not a sift server of this version: status 200 and "text/html"`},
		"closed at once": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, sift.CodeUnreachable, "it closed the connection"},
		"cut in the middle": {func(w http.ResponseWriter, _ *http.Request) {
			asJSON(w)
			w.Header().Set("Content-Length", "100000")
			_, _ = io.WriteString(w, `{"success":true,`)
		}, sift.CodeUnreachable, "it closed the connection"},
		"without end": {func(w http.ResponseWriter, _ *http.Request) {
			asJSON(w)
			block := []byte(strings.Repeat(" ", 1<<20))
			for {
				if _, err := w.Write(block); err != nil {
					return
				}
			}
		}, sift.CodeTooLong, " bytes"},
	} {
		srv := httptest.NewServer(server.handler)
		for call, c := range calls() {
			_, err := c.call(t.Context(), clientOf(t, srv.URL))
			f := sift.AsFailure(err)
			if f.Code != server.code || !strings.Contains(f.Message, server.want) || strings.Contains(f.Message, "hello") {
				t.Errorf("%s, %s: %v", name, call, err)
			}
		}
		srv.Close()
	}
}

// A job's 8 MiB of results come whole, and their URLs with them.
func TestTheLongestJobIsRead(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"job_id":"j1","status":"done","targets_total":32,"targets_done":32,"created_at":"2026-01-02T03:04:05Z","targets":[`)
	result := `{"content":"` + strings.Repeat("x", 256<<10) + `"}`
	for i := range 32 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"idx":%d,"url":"%s","status":"done","result":%s}`, i, strings.Repeat(`\u0001`, 8<<10), result)
	}
	b.WriteString(`]}`)
	c, _ := canned(t, 200, b.String())
	got, err := c.Job(t.Context(), "j1", -1, 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Targets) != 32 || string(got.Targets[31].Result) != result || string(got.JSON) != b.String() {
		t.Errorf("%d targets", len(got.Targets))
	}
}

func TestABatchCallIsGivenUpInTime(t *testing.T) {
	const begun = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"
	for name, c := range calls() {
		want := 30 * time.Second
		if name == "job" { // which waits for 10 s
			want += 10 * time.Second
		}
		for _, half := range []bool{false, true} {
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
				after, text := want, "did not answer within "+want.String()
				if half { // an answer that begins just in time and then stops has five minutes more
					go func() {
						<-time.After(want - time.Second)
						_, _ = io.WriteString(there, begun)
					}()
					after, text = want-time.Second+5*time.Minute, "began an answer and did not end it within 5m0s"
				}
				start := time.Now()
				_, err = c.call(t.Context(), cl)
				if f := sift.AsFailure(err); f.Code != sift.CodeTimeout || f.Message != "the sift server at http://127.0.0.1:8642 "+text {
					t.Errorf("%s: %v", name, err)
				}
				if took := time.Since(start); took != after {
					t.Errorf("%s: given up after %v, want %v", name, took, after)
				}
			})
		}
	}
}

func TestWhoCancelsABatchCallGetsCancel(t *testing.T) {
	for name, c := range calls() {
		waiting := make(chan struct{})
		srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			close(waiting)
			<-r.Context().Done()
		}))
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-waiting; cancel() }()
		if _, err := c.call(ctx, clientOf(t, srv.URL)); sift.AsFailure(err).Code != sift.CodeCancel {
			t.Errorf("%s: %v", name, err)
		}
		srv.Close()
	}
}

func FuzzDecodeJob(f *testing.F) {
	f.Add(200, goodJob)
	f.Add(200, goodList)
	f.Add(202, goodSubmit)
	f.Add(404, `{"success":false,"error":"not_found: no such job","code":"not_found"}`)
	f.Add(200, `{"job_id":"j1","targets":[{"idx":1e400}]}`)
	f.Fuzz(func(t *testing.T, status int, body string) {
		cl, err := New(Config{URL: "http://localhost"})
		if err != nil {
			t.Fatal(err)
		}
		cl.http.Transport = answers{status, body}
		for name, c := range calls() {
			got, err := c.call(t.Context(), cl)
			if err == nil {
				if !json.Valid([]byte(body)) || status != c.status {
					t.Fatalf("%s: %d %s was taken: %+v", name, status, body, got)
				}
				continue
			}
			if _, ok := err.(*sift.Failure); !ok {
				t.Fatalf("%s: %T", name, err)
			}
		}
	})
}

// answers is a transport that answers everything alike.
type answers struct {
	status int
	body   string
}

func (a answers) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: a.status, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(a.body))}, nil
}

// edge is an api.Batches with one job, behind the real HTTP edge.
type edge struct {
	t   *testing.T
	job sift.Job
}

func (e edge) Submit(_ context.Context, _ sift.Caller, targets []sift.Target, fresh bool) (sift.Submitted, error) {
	if diff := cmp.Diff([]sift.Target{{URL: "a"}, {URL: "b", Mode: sift.ModeRaw}}, targets); diff != "" || !fresh {
		e.t.Errorf("fresh %v, targets:\n%s", fresh, diff)
	}
	return sift.Submitted{JobID: e.job.ID, Status: sift.JobQueued, Targets: 2}, nil
}

func (e edge) Job(_ context.Context, _ sift.Caller, id string, after int, _ time.Duration) (*sift.Job, error) {
	if id != e.job.ID {
		return nil, sift.Fail(sift.CodeNotFound, "there is no such job")
	}
	job := e.job
	job.Targets = []sift.JobTarget{}
	for _, t := range e.job.Targets {
		if t.Idx > after {
			t.Result, t.ResultBytes = nil, len(t.Result)
			job.Targets = append(job.Targets, t)
		}
	}
	return &job, nil
}

func (e edge) Result(_ context.Context, _ sift.Caller, id string, idx int) (json.RawMessage, error) {
	if id != e.job.ID {
		return nil, sift.Fail(sift.CodeNotFound, "there is no such job")
	}
	return e.job.Targets[idx].Result, nil
}

func (e edge) Jobs(context.Context, sift.Caller) ([]sift.Job, error) { return []sift.Job{e.job}, nil }

func (e edge) Cancel(_ context.Context, _ sift.Caller, id string) (sift.JobStatus, error) {
	if id != e.job.ID {
		return "", sift.Fail(sift.CodeNotFound, "there is no such job")
	}
	return sift.JobCancelled, nil
}

func TestABatchGoesThroughTheRealEdge(t *testing.T) {
	want := sift.Job{
		ID: "odd/id", Status: sift.JobPartial, TargetsTotal: 2, TargetsDone: 2, CreatedAt: time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC), Error: "e",
		Targets: []sift.JobTarget{
			{Idx: 0, URL: "a", Status: sift.TargetDone, Result: envelope().AppendJSON(nil)},
			{Idx: 1, URL: "b", Status: sift.TargetFailed, Error: "timeout: late", Hint: sift.HintRetry},
		},
	}
	srv := httptest.NewServer(api.New(api.Config{Batches: edge{t, want}, Auth: oneKey("k1")}).Handler())
	defer srv.Close()
	c := clientOf(t, srv.URL)

	submitted, err := c.SubmitBatch(t.Context(), []byte(`{"targets":[{"url":"a"},{"url":"b","mode":"raw"}],"fresh":true}`))
	if err != nil || submitted.JobID != want.ID || submitted.Targets != 2 {
		t.Errorf("%+v, %v", submitted, err)
	}
	if _, err := c.SubmitBatch(t.Context(), []byte(`{"targets":[{"url":"a"},{}]}`)); err == nil || err.Error() != "invalid: targets[1]: url is required" {
		t.Error(err)
	}
	if _, err := c.SubmitBatch(t.Context(), make([]byte, 256<<10+1)); sift.AsFailure(err).Code != sift.CodeTooLong {
		t.Error(err)
	}
	job, err := c.Job(t.Context(), want.ID, -1, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, job.Job); diff != "" {
		t.Error(diff)
	}
	if job, err := c.Job(t.Context(), want.ID, 0, 0); err != nil || len(job.Targets) != 1 {
		t.Errorf("%+v, %v", job, err)
	}
	if job, err := c.Job(t.Context(), want.ID, 1, 0); err != nil || len(job.Targets) != 0 {
		t.Errorf("%+v, %v", job, err)
	}
	list, err := c.Jobs(t.Context())
	short := want
	short.Targets = nil
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]sift.Job{short}, list.Jobs); diff != "" {
		t.Error(diff)
	}
	if got, err := c.CancelBatch(t.Context(), want.ID); err != nil || got.Status != sift.JobCancelled {
		t.Errorf("%+v, %v", got, err)
	}
	for _, id := range []string{"other", ".", "..", "a//b", "\x00", "../../healthz"} {
		_, jobErr := c.Job(t.Context(), id, -1, time.Second)
		_, cancelErr := c.CancelBatch(t.Context(), id)
		for _, err := range []error{jobErr, cancelErr} {
			if err == nil || err.Error() != "not_found: there is no such job" {
				t.Errorf("%q: %v", id, err)
			}
		}
	}
}
