package api

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"sift.build/sift/internal/sift"
)

// batches is a Batches of functions; what is nil must not be asked.
type batches struct {
	submit func(context.Context, sift.Caller, []sift.Target, bool) (sift.Submitted, error)
	job    func(context.Context, sift.Caller, string, int, time.Duration) (*sift.Job, error)
	result func(context.Context, sift.Caller, string, int) (json.RawMessage, error)
	jobs   func(context.Context, sift.Caller) ([]sift.Job, error)
	cancel func(context.Context, sift.Caller, string) (sift.JobStatus, error)
}

func (b batches) Submit(ctx context.Context, c sift.Caller, ts []sift.Target, fresh bool) (sift.Submitted, error) {
	return b.submit(ctx, c, ts, fresh)
}

func (b batches) Job(ctx context.Context, c sift.Caller, id string, after int, wait time.Duration) (*sift.Job, error) {
	return b.job(ctx, c, id, after, wait)
}

func (b batches) Result(ctx context.Context, c sift.Caller, id string, idx int) (json.RawMessage, error) {
	return b.result(ctx, c, id, idx)
}
func (b batches) Jobs(ctx context.Context, c sift.Caller) ([]sift.Job, error) { return b.jobs(ctx, c) }
func (b batches) Cancel(ctx context.Context, c sift.Caller, id string) (sift.JobStatus, error) {
	return b.cancel(ctx, c, id)
}

// fails is a Batches whose every answer is that error.
func fails(err error) batches {
	return batches{
		submit: func(context.Context, sift.Caller, []sift.Target, bool) (sift.Submitted, error) {
			return sift.Submitted{}, err
		},
		job:    func(context.Context, sift.Caller, string, int, time.Duration) (*sift.Job, error) { return nil, err },
		result: func(context.Context, sift.Caller, string, int) (json.RawMessage, error) { return nil, err },
		jobs:   func(context.Context, sift.Caller) ([]sift.Job, error) { return nil, err },
		cancel: func(context.Context, sift.Caller, string) (sift.JobStatus, error) { return "", err },
	}
}

// shows is a Batches with one job, whichever is asked for.
func shows(whole *sift.Job) batches {
	return batches{
		job: func(_ context.Context, _ sift.Caller, _ string, after int, _ time.Duration) (*sift.Job, error) {
			job := *whole
			job.Targets = nil
			for _, t := range whole.Targets {
				if t.Idx > after {
					t.Result, t.ResultBytes = nil, len(t.Result)
					job.Targets = append(job.Targets, t)
				}
			}
			return &job, nil
		},
		result: func(_ context.Context, _ sift.Caller, _ string, idx int) (json.RawMessage, error) {
			for _, t := range whole.Targets {
				if t.Idx == idx && len(t.Result) > 0 {
					return t.Result, nil
				}
			}
			return nil, sift.Fail(sift.CodeNotFound, "there is no such job")
		},
	}
}

// large is a job with that many results of that size.
func large(targets, size int) *sift.Job {
	job := &sift.Job{ID: "j1", Status: sift.JobDone, TargetsTotal: targets, TargetsDone: targets, CreatedAt: time.Unix(0, 0)}
	for i := range targets {
		result := answer(fmt.Sprintf("%d %s", i, strings.Repeat("x", size))).AppendJSON(nil)
		job.Targets = append(job.Targets, sift.JobTarget{Idx: i, URL: "u", Status: sift.TargetDone, Result: result})
	}
	return job
}

func aJob() *sift.Job {
	return &sift.Job{
		ID: "j1", Status: sift.JobPartial, TargetsTotal: 4, TargetsDone: 2, Error: "store: the <disk> & all",
		CreatedAt: time.Date(2026, 1, 2, 5, 4, 5, 678e6, time.FixedZone("", 2*3600)),
		Targets: []sift.JobTarget{
			{Idx: 0, URL: "https://example.org/?a=<1>&b=\u2028ü\"", Status: sift.TargetDone, Result: answer("# A <b>\n\u2028 & more").AppendJSON(nil)},
			{Idx: 1, URL: "http://10.0.0.7/", Status: sift.TargetFailed, Error: "blocked: private address 10.0.0.7", Hint: sift.HintBrowser},
			{Idx: 2, URL: "v", Status: sift.TargetFailed, Error: "unreachable: no such name"},
			{Idx: 3, URL: "u", Status: sift.TargetPending},
		},
	}
}

func postList(body string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "http://localhost:8642/v1/batch", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	return r
}

func request(method, target string) *http.Request {
	return httptest.NewRequest(method, "http://localhost:8642"+target, nil)
}

const oneTarget = `{"targets":[{"url":"u"}]}`

// everyCall is each of the calls about batches once.
func everyCall() []*http.Request {
	return []*http.Request{
		postList(oneTarget), request("GET", "/v1/batch"), request("HEAD", "/v1/batch"), request("GET", "/v1/batch/j1"), request("HEAD", "/v1/batch/j1"),
		request("GET", "/v1/batch/j1?wait=5&after=3"), request("DELETE", "/v1/batch/j1"),
	}
}

func TestASubmitIsHandedOnAndAnsweredWith202(t *testing.T) {
	age, seconds := 60, 2.5
	for body, want := range map[string]struct {
		targets []sift.Target
		fresh   bool
	}{
		`{"targets":[{"url":"https://example.org/"}]}`: {targets: []sift.Target{{URL: "https://example.org/"}}},
		` { "fresh" : true , "targets" : [ {"url":"u","mode":"outline","max_age":60,"max_chars":5000,"offset":17,"snapshot":"s\/1","timeout":2.5,"pages":"1-3","grep":"a|b"} , {"timeout":1e400,"url":"\u00fc"}, {"url":"u"} ] } `: {
			targets: []sift.Target{
				{URL: "u", Mode: sift.ModeOutline, MaxAge: &age, MaxChars: 5000, Offset: 17, Snapshot: "s/1", Timeout: &seconds, Pages: "1-3", Grep: "a|b"},
				{URL: "ü", Timeout: new(float64(cutTimeout))},
				{URL: "u"},
			}, fresh: true,
		},
		`{"targets":[{"url":"u","jq":"","context":false,"question":null,"password":null}],"fresh":null}`: {targets: []sift.Target{{URL: "u"}}},
		`{"targets":[{"url":"u","password":""}],"fresh":false}`:                                          {targets: []sift.Target{{URL: "u"}}},
	} {
		asked := 0
		w := do(t, Config{Auth: twoCallers(), Batches: batches{submit: func(ctx context.Context, c sift.Caller, ts []sift.Target, fresh bool) (sift.Submitted, error) {
			asked++
			if diff := cmp.Diff(want.targets, ts); diff != "" || fresh != want.fresh || c.Name != "legal" || ctx.Err() != nil {
				t.Errorf("%s: fresh %v, caller %s:\n%s", body, fresh, c.Name, diff)
			}
			return sift.Submitted{JobID: "j1", Status: sift.JobQueued, Targets: len(ts)}, nil
		}}}, with(postList(body), "Authorization", "Bearer closed-key"))
		if got, want := w.Body.String(), fmt.Sprintf(`{"success":true,"job_id":"j1","status":"queued","targets":%d,"reused":false}`, len(want.targets)); w.Code != 202 || got != want || asked != 1 {
			t.Errorf("%s: %d %s, want %s", body, w.Code, got, want)
		}
	}
	w := do(t, Config{Batches: batches{submit: func(context.Context, sift.Caller, []sift.Target, bool) (sift.Submitted, error) {
		return sift.Submitted{JobID: "j1", Status: sift.JobCancelled, Targets: 3, Reused: true, Hint: sift.HintFresh}, nil
	}}}, postList(oneTarget))
	if got, want := w.Body.String(), `{"success":true,"job_id":"j1","status":"cancelled","targets":3,"reused":true,"hint":"fresh"}`; w.Code != 202 || got != want {
		t.Errorf("%d %s, want %s", w.Code, got, want)
	}
}

func TestAMistakeInABatchIsRefusedByFieldAndTarget(t *testing.T) {
	const modes = "clean, full, text, html, raw, links, outline"
	const shape = `the body must be one JSON object, such as {"targets":[{"url":"https://example.org/"}]}`
	list := func(second string) string { return `{"targets":[{"url":"u"},` + second + `]}` }
	for _, c := range []struct{ body, want string }{
		// the outer object
		{`{}`, `targets is required`},
		{`{"fresh":true}`, `targets is required`},
		{`{"targets":null}`, `targets is required and may not be null`},
		{`{"targets":[]}`, `targets is empty; a batch has at least one`},
		{`{"targets":[ ] }`, `targets is empty; a batch has at least one`},
		{`{"targets":[{"url":"u"}],"targets":[{"url":"u"}]}`, `targets is given twice`},
		{`{"targets":[{"url":"u"}],"t\u0061rgets":null}`, `targets is given twice`},
		{`{"fresh":true,"targets":[{"url":"u"}],"fresh":true}`, `fresh is given twice`},
		{`{"targets":[{"url":"u"}],"freshh":true}`, `unknown field "freshh"; did you mean fresh?`},
		{`{"Targets":[{"url":"u"}]}`, `unknown field "Targets"; did you mean targets?`},
		{`{"url":"u"}`, `unknown field "url"`},
		{`{"targets":[{"url":"u"}],"mode":"raw"}`, `unknown field "mode"`},
		{`{"targets":{"url":"u"}}`, `targets must be a list, not an object`},
		{`{"targets":"u"}`, `targets must be a list, not a string`},
		{`{"targets":1}`, `targets must be a list, not a number`},
		{`{"targets":true}`, `targets must be a list, not true or false`},
		{`{"targets":[{"url":"u"}],"fresh":1}`, `fresh must be true or false, not a number`},
		{`{"targets":[{"url":"u"}],"fresh":"true"}`, `fresh must be true or false, not a string`},
		{`{"targets":[{"url":"u"}],"fresh":[true]}`, `fresh must be true or false, not a list`},
		{`[{"url":"u"}]`, shape},
		{`"u"`, shape},
		{``, shape},
		{oneTarget + `x`, `the body must be one JSON object: something follows it at position 26`},
		{oneTarget + oneTarget, `the body must be one JSON object: something follows it at position 26`},
		// a target
		{list(`{}`), `targets[1]: url is required`},
		{list(`{"url":""}`), `targets[1]: url is required and may not be empty`},
		{list(`{"url":null}`), `targets[1]: url is required and may not be null`},
		{list(`{"mode":"raw"}`), `targets[1]: url is required`},
		{list(`{"url":"u","mode":"x"}`), `targets[1]: mode "x" is not one of ` + modes},
		{list(`{"url":"u","url":"v"}`), `targets[1]: url is given twice`},
		{list(`{"url":"u","gr\u0065p":"a","grep":"a"}`), `targets[1]: grep is given twice`},
		{list(`{"url":"u","ulr":"v"}`), `targets[1]: unknown field "ulr"; did you mean url?`},
		{list(`{"url":"u","fresh":true}`), `targets[1]: unknown field "fresh"`},
		{list(`{"url":"u","targets":[]}`), `targets[1]: unknown field "targets"`},
		{list(`{"url":["u"]}`), `targets[1]: url must be a string, not a list`},
		{list(`{"url":"u","max_chars":"5"}`), `targets[1]: max_chars must be a whole number, not a string`},
		{list(`{"url":"u","max_chars":1.5}`), `targets[1]: max_chars must be a whole number, without a fraction`},
		{list(`{"url":"u","offset":-1}`), `targets[1]: offset must be between 0 and 1000000000`},
		{list(`{"url":"u","timeout":0}`), `targets[1]: timeout must be at least 0.001`},
		{list(`{"url":"u","pages":"4-2"}`), `targets[1]: the page range 4-2 is turned round; write 2-4`},
		{list(`{"url":"u","password":"hunter2"}`), `targets[1]: password is not taken in a batch, where it would have to be stored; fetch this one by itself`},
		{list(`{"url":"u","password":1}`), `targets[1]: password must be a string, not a number`},
		{list(`"u"`), `targets[1]: the target must be an object, not a string`},
		{list(`null`), `targets[1]: the target must be an object, not null`},
		{list(`3`), `targets[1]: the target must be an object, not a number`},
		{list(`[{"url":"u"}]`), `targets[1]: the target must be an object, not a list`},
		{`{"targets":` + strings.Repeat("[", 200_000), `targets[0]: the target must be an object, not a list`},
		{`{"targets":[` + strings.Repeat(`{"url":`, 30_000), `targets[0]: url must be a string, not an object`},
		{`{"targets":[` + strings.Repeat(`{"url":"u"},`, 20_000) + `{"url":""}]}`, `targets[20000]: url is required and may not be empty`},
		// JSON
		{`{"targets":[{"url":"u"}`, `the body is not JSON: it ends at position 24, where a comma or a closing bracket should be`},
		{`{"targets":[{"url":"u"},]}`, `the body is not JSON: "]" at position 25, where the value of the target should be`},
		{`{"targets":[,]}`, `the body is not JSON: "," at position 13, where the value of the target should be`},
		{`{"targets":[{"url":"u"} {"url":"u"}]}`, `the body is not JSON: "{" at position 25, where a comma or a closing bracket should be`},
		{`{"targets":[{"url":"u",}]}`, `the body is not JSON: "}" at position 24, where a field name in quotes should be`},
		{`{"targets":[{"url":"\ud800"}]}`, `the body is not JSON: "u" at position 22, where a whole surrogate pair should be`},
		{`{"targets":[nul]}`, `the body is not JSON: "]" at position 16, where null should be`},
		{"{\"targets\":[{\"url\":\"\xff\"}]}", `the body is not UTF-8: bad byte at position 21`},
	} {
		w := do(t, Config{Batches: batches{}}, postList(c.body))
		if f := failure(t, w); w.Code != 400 || f.Code != sift.CodeInvalid || f.Error != "invalid: "+c.want {
			t.Errorf("%.80q:\ngot  %d %s\nwant 400 invalid: %s", c.body, w.Code, f.Error, c.want)
		}
	}
}

func TestABatchMayBeLongerThanATargetAndNotLongerThan256KiB(t *testing.T) {
	const head, tail = `{"targets":[{"url":"`, `"}]}`
	fits := head + strings.Repeat("u", 256<<10-len(head)-len(tail)) + tail
	took := 0
	c := Config{Batches: batches{submit: func(context.Context, sift.Caller, []sift.Target, bool) (sift.Submitted, error) {
		took++
		return sift.Submitted{JobID: "j", Status: sift.JobQueued, Targets: 1}, nil
	}}}
	exact, declared, chunked := postList(fits), postList(fits+" "), postList(fits+" ")
	exact.ContentLength, chunked.ContentLength = -1, -1
	for _, r := range []*http.Request{postList(fits), exact} {
		if w := do(t, c, r); w.Code != 202 {
			t.Errorf("a body of 256 KiB: %d %s", w.Code, w.Body)
		}
	}
	for _, r := range []*http.Request{declared, chunked} {
		w := do(t, c, r)
		if f := failure(t, w); w.Code != 413 || f.Error != "too_long: the request's body is longer than 262144 bytes" {
			t.Errorf("%d %s", w.Code, f.Error)
		}
	}
	if took != 2 {
		t.Errorf("%d were taken", took)
	}
}

func TestEveryFailureOfABatchHasItsStatusOnEveryCall(t *testing.T) {
	want := map[sift.Code]int{ // SPEC section 2
		"invalid": 400, "unauthorized": 401, "blocked": 422, "busy": 429, "timeout": 504, "upstream_4xx": 502, "upstream_5xx": 502,
		"unreachable": 502, "unsupported": 415, "too_long": 413, "cap": 422, "not_found": 404, "gone": 404, "cancel": 499, "internal": 500,
	}
	doc := loadDescription(t)
	for _, code := range sift.Codes() {
		h := New(Config{Auth: keys{}, Batches: fails(sift.Fail(code, "because").WithCause(errors.New("secret")))}).Handler()
		for _, r := range everyCall() {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != want[code] {
				t.Errorf("%s %s, %s: %d, want %d", r.Method, r.URL, code, w.Code, want[code])
			}
			if _, err := describedResponse(doc, r, w.Code); err == nil { // not every code can come of every call
				if err := check(doc, r, w.Result(), w.Body.Bytes()); err != nil {
					t.Errorf("%s %s, %s: %v", r.Method, r.URL, code, err)
				}
			}
			if f := failure(t, w); f.Code != code || f.URL != "" || strings.Contains(f.Error, "secret") {
				t.Errorf("%s %s, %s: %+v", r.Method, r.URL, code, f)
			}
		}
	}
}

func TestWhatASubmitIsRefusedForIsTold(t *testing.T) {
	for name, c := range map[string]struct {
		f      sift.Failure
		status int
		after  string
		want   string
	}{
		"a refused target": {sift.Failure{Code: sift.CodeBlocked, Message: "targets[1]: port 8080 is not open", URL: "http://example.org:8080/"}, 422, "",
			`{"success":false,"error":"blocked: targets[1]: port 8080 is not open","code":"blocked","url":"http://example.org:8080/"}`},
		"too many targets": {sift.Failure{Code: sift.CodeCap, Message: "at most 32"}, 422, "", `{"success":false,"error":"cap: at most 32","code":"cap"}`},
		"a live job": {sift.Failure{Code: sift.CodeCap, Message: "at most 1", Hint: sift.HintRetry, RetryAfter: 1500 * time.Millisecond}, 429, "2",
			`{"success":false,"error":"cap: at most 1","code":"cap","hint":"retry","retry_after":2}`},
		"too many jobs": {sift.Failure{Code: sift.CodeCap, Message: "at most 8", RetryAfter: time.Millisecond}, 429, "1",
			`{"success":false,"error":"cap: at most 8","code":"cap","retry_after":1}`},
		"our fault": {sift.Failure{Code: sift.CodeInternal, Message: "/var/lib/sift is full"}, 500, "",
			`{"success":false,"error":"internal: something went wrong inside sift; the operator's log has the details","code":"internal"}`},
	} {
		w := do(t, Config{Batches: fails(fmt.Errorf("submit: %w", &c.f))}, postList(oneTarget))
		if w.Code != c.status || w.Body.String() != c.want || w.Header().Get("Retry-After") != c.after {
			t.Errorf("%s: %d, Retry-After %q\ngot  %s\nwant %s", name, w.Code, w.Header().Get("Retry-After"), w.Body, c.want)
		}
	}
}

func TestAJobIsAnsweredAsEncodingJSONWouldWriteIt(t *testing.T) {
	full := sift.JobTarget{Idx: 7, URL: "u", Status: sift.TargetDone, Result: json.RawMessage(`{"success":true}`), ResultBytes: 16, Error: "e: x", Hint: sift.HintRetry}
	for i := range reflect.TypeFor[sift.JobTarget]().NumField() { // a field that is new must be told to frameJob
		if reflect.ValueOf(full).Field(i).IsZero() {
			t.Fatalf("%s has no value in this test", reflect.TypeFor[sift.JobTarget]().Field(i).Name)
		}
	}
	long := aJob()
	for i := range 40 {
		long.Targets = append(long.Targets, sift.JobTarget{Idx: 4 + i, URL: strings.Repeat("u", i), Status: sift.TargetDone, Result: answer(strings.Repeat("x", i*1000)).AppendJSON(nil)})
	}
	for name, job := range map[string]*sift.Job{
		"a job":             aJob(),
		"many targets":      long,
		"every field":       {ID: "j", Status: sift.JobDone, TargetsTotal: 9, TargetsDone: 9, CreatedAt: time.Unix(1, 0), Error: "e", Targets: []sift.JobTarget{full, full, {}, full}},
		"nothing":           {Targets: []sift.JobTarget{}},
		"no targets yet":    {ID: "j", Status: sift.JobQueued, TargetsTotal: 1, Targets: []sift.JobTarget{{URL: "u", Status: sift.TargetPending}}},
		"empty raw results": {Targets: []sift.JobTarget{{Result: json.RawMessage{}}, {Result: nil, Error: "x"}}},
	} {
		w := httptest.NewRecorder()
		New(Config{Auth: keys{}, Batches: shows(job)}).Handler().ServeHTTP(w, request("GET", "/v1/batch/j"))
		got := w.Body.String()
		if w.Code != 200 || w.Header().Get("Content-Length") != strconv.Itoa(len(got)) {
			t.Errorf("%s: %d, Content-Length %s of %d", name, w.Code, w.Header().Get("Content-Length"), len(got))
		}
		utc := *job
		utc.CreatedAt = job.CreatedAt.UTC()
		if diff := cmp.Diff(string(encode(&utc)), got); diff != "" {
			t.Errorf("%s (-encoding/json +ours):\n%s", name, diff)
		}
		var a, b any // and as it would escape it unasked
		escaped, err := json.Marshal(&utc)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(json.Unmarshal(escaped, &a), json.Unmarshal([]byte(got), &b)); err != nil || !reflect.DeepEqual(a, b) {
			t.Errorf("%s: another value, %v", name, err)
		}
	}
	before := aJob()
	b := shows(before)
	b.job = func(context.Context, sift.Caller, string, int, time.Duration) (*sift.Job, error) { return before, nil }
	for i := range before.Targets {
		before.Targets[i].ResultBytes = len(before.Targets[i].Result)
	}
	want := *before
	want.Targets = slices.Clone(before.Targets)
	w := do(t, Config{Batches: b}, request("GET", "/v1/batch/j1"))
	if w.Code != 200 || !strings.Contains(w.Body.String(), `"created_at":"2026-01-02T03:04:05.678Z"`) {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	if diff := cmp.Diff(&want, before); diff != "" {
		t.Errorf("what Batches gave was changed:\n%s", diff)
	}
	// The list is there when nothing is in it.
	if w := do(t, Config{Batches: shows(&sift.Job{ID: "j", Status: sift.JobQueued, TargetsTotal: 1})}, request("GET", "/v1/batch/j")); !strings.HasSuffix(w.Body.String(), `,"targets":[]}`) {
		t.Error(w.Body)
	}
}

// counter is a ResponseWriter that counts what it is given, and notes which
// memory it was.
type counter struct {
	drain
	size int
	got  map[*byte]bool
}

func (c *counter) Write(b []byte) (int, error) {
	if c.size += len(b); len(b) > 0 {
		c.got[&b[0]] = true
	}
	return len(b), nil
}

// Not more than one result is in memory: each is asked for when everything in
// front of it has been taken, once and in order, and is written without a copy.
func TestAResultIsReadWhenItIsItsTurn(t *testing.T) {
	for query, after := range map[string]int{"": -1, "?after=-1": -1, "?after=2": 2} {
		job := aJob()
		job.Targets = append(job.Targets, large(40, 256<<10).Targets[4:]...)
		whole := *job
		whole.Targets = job.Targets[after+1:]
		whole.CreatedAt = job.CreatedAt.UTC()
		text := encode(whole)
		w := &counter{drain: drain{http.Header{}}, got: map[*byte]bool{}}
		b := shows(job)
		var asked []int
		shown := b.result
		b.result = func(ctx context.Context, c sift.Caller, id string, idx int) (json.RawMessage, error) {
			result, err := shown(ctx, c, id, idx)
			if at := bytes.Index(text, result); w.size != at || c.Name != "research" || id != "j1" || ctx.Err() != nil {
				t.Errorf("%s: result %d of %q is asked for by %q after %d bytes, and stands at %d", query, idx, id, c.Name, w.size, at)
			}
			asked = append(asked, idx)
			return result, err
		}
		New(Config{Auth: twoCallers(), Batches: b}).Handler().ServeHTTP(w, with(request("GET", "/v1/batch/j1"+query), "Authorization", "Bearer open-key"))
		var want []int
		for _, target := range whole.Targets {
			if len(target.Result) > 0 {
				want = append(want, target.Idx)
				if !w.got[&target.Result[0]] {
					t.Errorf("%s: the result of target %d was copied", query, target.Idx)
				}
			}
		}
		if !slices.Equal(asked, want) || len(want) < 36 || w.size != len(text) {
			t.Errorf("%s: asked for %d, want %d; %d bytes of %d", query, asked, want, w.size, len(text))
		}
	}
}

func TestAnAnswerWhoseResultIsGoneDoesNotLookWhole(t *testing.T) {
	for name, c := range map[string]struct {
		change func(json.RawMessage) (json.RawMessage, error)
		log    string
	}{
		"gone": {func(json.RawMessage) (json.RawMessage, error) {
			return nil, sift.Fail(sift.CodeNotFound, "no job https://secret.example/").WithCause(errors.New("secret.example"))
		}, `level=WARN msg=request method=GET route=/v1/batch/{id} status=200 caller=research cause="the answer broke off at the result of targets[2]: not_found"`},
		"our fault": {func(json.RawMessage) (json.RawMessage, error) { return nil, errors.New("disk error") },
			`level=ERROR msg=request method=GET route=/v1/batch/{id} status=200 caller=research cause="the answer broke off at the result of targets[2]: disk error"`},
		"shorter": {func(r json.RawMessage) (json.RawMessage, error) { return r[:len(r)-1], nil },
			`level=ERROR msg=request method=GET route=/v1/batch/{id} status=200 caller=research cause="the answer broke off at the result of targets[2]: it has 999 bytes and not 1000"`},
		"longer": {func(r json.RawMessage) (json.RawMessage, error) { return append(slices.Clone(r), ' '), nil },
			`level=ERROR msg=request method=GET route=/v1/batch/{id} status=200 caller=research cause="the answer broke off at the result of targets[2]: it has 1001 bytes and not 1000"`},
		"empty": {func(json.RawMessage) (json.RawMessage, error) { return nil, nil },
			`level=ERROR msg=request method=GET route=/v1/batch/{id} status=200 caller=research cause="the answer broke off at the result of targets[2]: it has 0 bytes and not 1000"`},
	} {
		job := large(4, 0)
		for i := range job.Targets {
			job.Targets[i].Result = json.RawMessage(`"` + strings.Repeat("x", 998) + `"`)
		}
		b := shows(job)
		shown := b.result
		b.result = func(ctx context.Context, caller sift.Caller, id string, idx int) (json.RawMessage, error) {
			if idx > 2 {
				t.Errorf("%s: the result of target %d was read for nothing", name, idx)
			}
			result, err := shown(ctx, caller, id, idx)
			if idx < 2 {
				return result, err
			}
			return c.change(result)
		}
		if diff := cmp.Diff([]string{c.log}, logged(t, slog.LevelInfo, Config{Batches: b}, with(request("GET", "/v1/batch/j1"), "Authorization", "Bearer open-key"))); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
		srv := httptest.NewServer(New(Config{Auth: keys{}, Batches: b}).Handler())
		resp, err := http.Get(srv.URL + "/v1/batch/j1")
		if err == nil { // the head may have got out
			var body []byte
			body, err = io.ReadAll(resp.Body)
			resp.Body.Close()
			if bytes.Contains(body, []byte(`"idx":3`)) {
				t.Errorf("%s: it went on: %s", name, body)
			}
		}
		if err == nil {
			t.Errorf("%s: the answer looks whole", name)
		}
		srv.Close()
	}
}

func TestTheListOfJobsHasNoTargets(t *testing.T) {
	for _, c := range []struct {
		jobs []sift.Job
		want string
	}{
		{nil, `{"jobs":[]}`},
		{[]sift.Job{*aJob(), {ID: "j0", Status: sift.JobQueued, TargetsTotal: 1, CreatedAt: time.Unix(0, 0)}},
			`{"jobs":[{"job_id":"j1","status":"partial","targets_total":4,"targets_done":2,"created_at":"2026-01-02T03:04:05.678Z","error":"store: the <disk> & all"},` +
				`{"job_id":"j0","status":"queued","targets_total":1,"targets_done":0,"created_at":"1970-01-01T00:00:00Z"}]}`},
	} {
		w := do(t, Config{Auth: twoCallers(), Batches: batches{jobs: func(_ context.Context, caller sift.Caller) ([]sift.Job, error) {
			if caller.Name != "research" {
				t.Errorf("asked for %q", caller.Name)
			}
			return c.jobs, nil
		}}}, with(request("GET", "/v1/batch"), "Authorization", "Bearer open-key"))
		if got := w.Body.String(); w.Code != 200 || got != c.want {
			t.Errorf("%d\ngot  %s\nwant %s", w.Code, got, c.want)
		}
	}
}

func TestACancelAnswersTheStatus(t *testing.T) {
	for _, status := range sift.JobStatuses() {
		w := do(t, Config{Batches: batches{cancel: func(_ context.Context, _ sift.Caller, id string) (sift.JobStatus, error) {
			if id != "j1" {
				t.Errorf("%q", id)
			}
			return status, nil
		}}}, request("DELETE", "/v1/batch/j1"))
		if got, want := w.Body.String(), `{"success":true,"status":"`+string(status)+`"}`; w.Code != 200 || got != want {
			t.Errorf("%d %s, want %s", w.Code, got, want)
		}
	}
}

func TestWaitAndAfterAreHandedOn(t *testing.T) {
	type call struct {
		After int
		Wait  time.Duration
	}
	for query, want := range map[string][]call{
		"":                     {{-1, 0}},
		"?wait=0":              {{-1, 0}},
		"?after=0":             {{0, 0}},
		"?after=-1":            {{-1, 0}},
		"?after=-1&wait=1":     {{1e9, time.Second}, {-1, 0}},
		"?wait=30":             {{1e9, 30 * time.Second}, {-1, 0}}, // the waiting holds no results
		"?wait=300&after=7":    {{1e9, 300 * time.Second}, {7, 0}},
		"?after=1e9&wait=0.25": {{1e9, 250 * time.Millisecond}, {1e9, 0}},
	} {
		var got []call
		w := do(t, Config{Batches: batches{job: func(_ context.Context, _ sift.Caller, id string, after int, wait time.Duration) (*sift.Job, error) {
			if id != "j1" {
				t.Errorf("%q", id)
			}
			got = append(got, call{after, wait})
			return aJob(), nil
		}}}, request("GET", "/v1/batch/j1"+query))
		if diff := cmp.Diff(want, got); diff != "" || w.Code != 200 {
			t.Errorf("%s: %d\n%s", query, w.Code, diff)
		}
	}
}

func TestFieldsOfABatchInTheWrongPlaceAreRefused(t *testing.T) {
	withBody := func(method, path string) *http.Request {
		return httptest.NewRequest(method, "http://localhost"+path, strings.NewReader(oneTarget))
	}
	query := postList(oneTarget)
	query.URL.RawQuery = "fresh=true"
	for _, c := range []struct {
		r    *http.Request
		want string
	}{
		{query, "a POST takes its fields from the body; the query must be empty"},
		{with(postList(oneTarget), "Content-Encoding", "gzip"), "the body must not be compressed (Content-Encoding)"},
		{request("GET", "/v1/batch?wait=1"), "a GET of this path takes no fields; query and body must be empty"},
		{withBody("GET", "/v1/batch"), "a GET of this path takes no fields; query and body must be empty"},
		{request("DELETE", "/v1/batch/j1?after=1"), "a DELETE of this path takes no fields; query and body must be empty"},
		{withBody("DELETE", "/v1/batch/j1"), "a DELETE of this path takes no fields; query and body must be empty"},
		{withBody("GET", "/v1/batch/j1"), "a GET takes its fields from the query; it must not have a body"},
		{request("GET", "/v1/batch/j1?wait=301"), "wait must be between 0 and 300"},
		{request("GET", "/v1/batch/j1?wait=-1"), "wait must be between 0 and 300"},
		{request("GET", "/v1/batch/j1?wait=1e999"), "wait must be between 0 and 300"},
		{request("GET", "/v1/batch/j1?wait=30s"), "wait must be a number"},
		{request("GET", "/v1/batch/j1?wait="), "wait must be a number"},
		{request("GET", "/v1/batch/j1?wait=NaN"), "wait must be a number"},
		{request("GET", "/v1/batch/j1?wait=1&wait=1"), "wait is given twice"},
		{request("GET", "/v1/batch/j1?after=-2"), "after must be between -1 and 1000000000"},
		{request("GET", "/v1/batch/j1?after=1000000001"), "after must be between -1 and 1000000000"},
		{request("GET", "/v1/batch/j1?after=1.5"), "after must be a whole number, without a fraction"},
		{request("GET", "/v1/batch/j1?afer=1"), `unknown field "afer"; did you mean after?`},
		{request("GET", "/v1/batch/j1?url=u"), `unknown field "url"`},
		{request("GET", "/v1/batch/j1?a=%zz"), `unknown field "a"`},
		{request("GET", "/v1/batch/j1?wait=%zz"), `the query has a broken %-escape in "%zz"`},
	} {
		w := do(t, Config{Batches: batches{}}, c.r)
		if f := failure(t, w); w.Code != 400 || f.Error != "invalid: "+c.want {
			t.Errorf("%s %s:\ngot  %d %s\nwant 400 invalid: %s", c.r.Method, c.r.URL, w.Code, f.Error, c.want)
		}
	}
}

// whole is an answer in full, headers included.
func whole(t *testing.T, h http.Handler, r *http.Request) string {
	t.Helper()
	w := httptest.NewRecorder()
	checked(t, h).ServeHTTP(w, r)
	var b bytes.Buffer
	fmt.Fprintln(&b, w.Code)
	if err := w.Header().Write(&b); err != nil {
		t.Fatal(err)
	}
	b.Write(w.Body.Bytes())
	return b.String()
}

func TestAnothersJobIsInNoWayDifferentFromOneThatDoesNotExist(t *testing.T) {
	find := func(c sift.Caller, id string) error {
		if c.Name == "research" && id == "the-job-of-research" {
			return nil
		}
		return sift.Fail(sift.CodeNotFound, "there is no such job")
	}
	h := New(Config{Auth: twoCallers(), Batches: batches{
		job: func(_ context.Context, c sift.Caller, id string, _ int, _ time.Duration) (*sift.Job, error) {
			return aJob(), find(c, id)
		},
		cancel: func(_ context.Context, c sift.Caller, id string) (sift.JobStatus, error) {
			return sift.JobCancelled, find(c, id)
		},
	}}).Handler()
	strange := []string{
		"unknown", "the-job-of-researcH", "the-job-of-research%20", "the-job-of-research%00", "%00", "%20", "%2e", "%2e%2e", "..%2f..%2fhealthz", "a%2Fb", "a%2F%2Fb", "%2Fa",
		"%ff%fe", "%F0%9F%A6%8A", "%25", "%3Cscript%3E", "'%20OR%201=1--", "-1", "{id}", "*", strings.Repeat("x", 60_000), strings.Repeat("%ff", 20_000),
		"the-job-of-research" + strings.Repeat("x", 1000), "null", ";", "a;b=c", "~", "@", ":",
	}
	for _, call := range []struct{ method, query string }{{"GET", ""}, {"HEAD", ""}, {"GET", "?wait=5"}, {"GET", "?after=3"}, {"DELETE", ""}} {
		ask := func(key, id string) string {
			return whole(t, h, with(request(call.method, "/v1/batch/"+id+call.query), "Authorization", "Bearer "+key))
		}
		if got := ask("open-key", "the-job-of-research"); !strings.HasPrefix(got, "200") {
			t.Fatalf("%s: the owner's: %s", call.method, got)
		}
		unknown := ask("open-key", "unknown")
		if !strings.HasPrefix(unknown, "404") || call.method != "HEAD" && !strings.HasSuffix(unknown, `{"success":false,"error":"not_found: there is no such job","code":"not_found"}`) {
			t.Errorf("%s: %s", call.method, unknown)
		}
		if got := ask("closed-key", "the-job-of-research"); got != unknown {
			t.Errorf("%s%s: another's:\n%s\none that does not exist:\n%s", call.method, call.query, got, unknown)
		}
		for _, id := range strange {
			if got := ask("open-key", id); got != unknown {
				t.Errorf("%s%s: %.60q:\n%s\nwant\n%s", call.method, call.query, id, got, unknown)
			}
		}
	}
}

func TestAnIDIsPassedOnWithinBounds(t *testing.T) {
	for id, want := range map[string]string{
		"Zq3nB0yVQm5rXw2uLt8sKA": "Zq3nB0yVQm5rXw2uLt8sKA",
		"a_b-c.d~e":              "a_b-c.d~e",
		"a%2Fb":                  "a/b",
		"%2e%2e":                 "..",
		"j1%00":                  "j1?",
		"j1%20":                  "j1?",
		"%c3%bc%ff%0a":           "???",
		strings.Repeat("x", 999): strings.Repeat("x", 128),
	} {
		got := []string{}
		c := Config{Batches: batches{
			job: func(_ context.Context, _ sift.Caller, id string, _ int, _ time.Duration) (*sift.Job, error) {
				got = append(got, id)
				return aJob(), nil
			},
			cancel: func(_ context.Context, _ sift.Caller, id string) (sift.JobStatus, error) {
				got = append(got, id)
				return sift.JobDone, nil
			},
		}}
		do(t, c, request("GET", "/v1/batch/"+id))
		do(t, c, request("DELETE", "/v1/batch/"+id))
		if !slices.Equal(got, []string{want, want}) {
			t.Errorf("%.40q: %q, want %q", id, got, want)
		}
	}
}

func TestBatchesNeedAKeyAndOnlyThisMachineMayAskWithoutCallers(t *testing.T) {
	for _, r := range everyCall() {
		w := do(t, Config{Auth: twoCallers(), Batches: batches{}}, r)
		if w.Code != 401 || w.Header().Get("WWW-Authenticate") == "" {
			t.Errorf("%s %s without a key: %d", r.Method, r.URL, w.Code)
		}
	}
	for _, r := range everyCall() {
		r.Host = "evil.example"
		if w := do(t, Config{Batches: batches{}}, r); w.Code != 401 {
			t.Errorf("%s %s for another host: %d", r.Method, r.URL, w.Code)
		}
	}
	for _, r := range everyCall() {
		if w := do(t, Config{Batches: batches{}}, with(r, "Origin", "https://evil.example")); w.Code != 401 {
			t.Errorf("%s %s from another site: %d", r.Method, r.URL, w.Code)
		}
	}
}

func TestMethodsThatBatchesDoNotHaveAreRefused(t *testing.T) {
	for _, c := range []struct{ method, path, allow string }{
		{"DELETE", "/v1/batch", "POST, GET, HEAD"},
		{"PUT", "/v1/batch", "POST, GET, HEAD"},
		{"POST", "/v1/batch/j1", "GET, HEAD, DELETE"},
		{"PATCH", "/v1/batch/j1", "GET, HEAD, DELETE"},
	} {
		w := do(t, Config{Batches: batches{}}, request(c.method, c.path))
		if w.Code != 405 || w.Header().Get("Allow") != c.allow {
			t.Errorf("%s %s: %d, Allow %q", c.method, c.path, w.Code, w.Header().Get("Allow"))
		}
	}
	for _, path := range []string{"/v1/batch/", "/v1/batch//", "/v1/batch/j1/", "/v1/batch/j1/targets", "/v1/batch//j1", "/v1/batch/../fetch", "/v1/batches"} {
		r := request("GET", "/")
		r.URL.Path = path
		w := httptest.NewRecorder()
		New(Config{Auth: keys{}, Batches: batches{}}).Handler().ServeHTTP(w, r)
		if f := failure(t, w); w.Code != 404 || !strings.Contains(f.Error, "there are POST /v1/fetch, GET /v1/fetch, POST /v1/batch, GET /v1/batch, GET /v1/batch/{id}, DELETE /v1/batch/{id}, ") {
			t.Errorf("%s: %d %s", path, w.Code, f.Error)
		}
	}
	// Without a Batches there are no such paths, and none is named.
	w := httptest.NewRecorder()
	New(Config{Auth: keys{}}).Handler().ServeHTTP(w, postList(oneTarget))
	if f := failure(t, w); w.Code != 404 || strings.Contains(f.Error, "batch") {
		t.Errorf("%d %s", w.Code, f.Error)
	}
}

func TestHeadOfABatchIsGetWithoutTheBody(t *testing.T) {
	b := shows(aJob())
	b.jobs = func(context.Context, sift.Caller) ([]sift.Job, error) { return []sift.Job{*aJob()}, nil }
	var reads atomic.Int32
	shown := b.result
	b.result = func(ctx context.Context, c sift.Caller, id string, idx int) (json.RawMessage, error) {
		reads.Add(1)
		return shown(ctx, c, id, idx)
	}
	srv := httptest.NewServer(New(Config{Auth: keys{}, Batches: b}).Handler())
	defer srv.Close()
	for _, path := range []string{"/v1/batch", "/v1/batch/j1", "/v1/batch/j1?wait=1"} {
		head, err := http.Head(srv.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		head.Body.Close()
		if n := reads.Swap(0); n > 0 {
			t.Errorf("%s: HEAD reads %d results", path, n)
		}
		full, err := http.Get(srv.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(full.Body)
		full.Body.Close()
		if err != nil || head.StatusCode != 200 || head.ContentLength != int64(len(body)) || full.ContentLength != int64(len(body)) {
			t.Errorf("%s: %d, HEAD says %d bytes, GET %d, and there are %d (%v)", path, head.StatusCode, head.ContentLength, full.ContentLength, len(body), err)
		}
		reads.Store(0)
	}
}

func TestNoLineOfTheLogHoldsAURLOfABatch(t *testing.T) {
	const url = "https://secret.example/path"
	list := `{"targets":[{"url":"` + url + `"},{"url":"` + url + `","mode":"` + url + `"}]}`
	good := `{"targets":[{"url":"` + url + `"}]}`
	cause := fmt.Errorf("dial %s", url)
	for name, b := range map[string]batches{
		"answers": {
			submit: func(context.Context, sift.Caller, []sift.Target, bool) (sift.Submitted, error) {
				return sift.Submitted{JobID: "the-id", Status: sift.JobQueued, Targets: 1}, nil
			},
			job: func(context.Context, sift.Caller, string, int, time.Duration) (*sift.Job, error) {
				return &sift.Job{ID: "the-id", Targets: []sift.JobTarget{{URL: url}}}, nil
			},
			jobs:   func(context.Context, sift.Caller) ([]sift.Job, error) { return nil, nil },
			cancel: func(context.Context, sift.Caller, string) (sift.JobStatus, error) { return sift.JobDone, nil },
		},
		"refuses":  fails(&sift.Failure{Code: sift.CodeBlocked, Message: "targets[0]: " + url, URL: url, Cause: cause}),
		"is full":  fails(&sift.Failure{Code: sift.CodeCap, RetryAfter: time.Second, Message: url, Cause: cause}),
		"has none": fails(&sift.Failure{Code: sift.CodeNotFound, Message: url, Cause: cause}),
		"breaks off": {
			submit: func(context.Context, sift.Caller, []sift.Target, bool) (sift.Submitted, error) {
				return sift.Submitted{JobID: "the-id", Status: sift.JobQueued, Targets: 1}, nil
			},
			job: func(context.Context, sift.Caller, string, int, time.Duration) (*sift.Job, error) {
				return &sift.Job{ID: "the-id", Targets: []sift.JobTarget{{URL: url, ResultBytes: 9}}}, nil
			},
			result: func(context.Context, sift.Caller, string, int) (json.RawMessage, error) {
				return nil, sift.Fail(sift.CodeNotFound, "no %s", url).WithCause(cause)
			},
			jobs:   func(context.Context, sift.Caller) ([]sift.Job, error) { return nil, nil },
			cancel: func(context.Context, sift.Caller, string) (sift.JobStatus, error) { return sift.JobDone, nil },
		},
		"panics": {
			submit: func(context.Context, sift.Caller, []sift.Target, bool) (sift.Submitted, error) { panic(cause) },
			job:    func(context.Context, sift.Caller, string, int, time.Duration) (*sift.Job, error) { panic(cause) },
			jobs:   func(context.Context, sift.Caller) ([]sift.Job, error) { panic(cause) },
			cancel: func(context.Context, sift.Caller, string) (sift.JobStatus, error) { panic(cause) },
		},
	} {
		for _, key := range []string{"open-key", "closed-key", "none"} {
			requests := append(everyCall(), postList(list), postList(good), request("GET", "/v1/batch/the-id"), request("DELETE", "/v1/batch/the-id"), request("GET", "/v1/batch/secret.example"))
			for _, r := range requests {
				for _, line := range logged(t, slog.LevelDebug, Config{Batches: b}, with(r, "Authorization", "Bearer "+key)) {
					if strings.Contains(line, "secret") || strings.Contains(line, "the-id") {
						t.Errorf("%s, %s, %s %s: %s", name, key, r.Method, r.URL, line)
					}
				}
			}
		}
	}
	got := logged(t, slog.LevelDebug, Config{Batches: fails(sift.Fail(sift.CodeNotFound, "no"))}, with(request("GET", "/v1/batch/the-id"), "Authorization", "Bearer open-key"))
	if diff := cmp.Diff([]string{`level=INFO msg=request method=GET route=/v1/batch/{id} status=404 code=not_found caller=research`}, got); diff != "" {
		t.Error(diff)
	}
	// What is our own fault must be found out about.
	got = logged(t, slog.LevelInfo, Config{Batches: fails(errors.New("disk full"))}, with(postList(oneTarget), "Authorization", "Bearer open-key"))
	if diff := cmp.Diff([]string{`level=ERROR msg=request method=POST route=/v1/batch status=500 code=internal caller=research cause="disk full"`}, got); diff != "" {
		t.Error(diff)
	}
}

// patient waits as Batches is described to: for the time, or for its context.
func patient(waits func()) batches {
	b := shows(aJob())
	shown := b.job
	b.job = func(ctx context.Context, c sift.Caller, id string, after int, wait time.Duration) (*sift.Job, error) {
		if wait > 0 {
			waits()
			select {
			case <-ctx.Done():
			case <-time.After(wait):
			}
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return shown(ctx, c, id, after, 0)
	}
	return b
}

func TestAWaitEndsWhenItsCallerGoesAway(t *testing.T) {
	started, ended := make(chan struct{}), make(chan int, 1)
	b := patient(func() { close(started) })
	asked := b.job
	b.job = func(ctx context.Context, c sift.Caller, id string, after int, wait time.Duration) (*sift.Job, error) {
		if wait == 0 {
			t.Error("the results were read for nobody")
		}
		return asked(ctx, c, id, after, wait)
	}
	srv := httptest.NewServer(New(Config{Auth: keys{}, Batches: b,
		Trace: Trace{Answered: func(_ string, status int, _ time.Duration) { ended <- status }}}).Handler())
	defer srv.Close()
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, srv.URL+"/v1/batch/j1?wait=300", nil)
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
}

// bubble runs f with a server, and connections to it, in a time of their own.
func bubble(t *testing.T, s func() *Server, f func(t *testing.T, s *Server, srv *http.Server, connect func() net.Conn)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
		edge := s()
		srv := NewHTTPServer(edge.Handler(), slog.New(slog.DiscardHandler))
		ended := make(chan struct{})
		go func() { _ = srv.Serve(p); close(ended) }()
		var conns []net.Conn
		f(t, edge, srv, func() net.Conn {
			here, there := net.Pipe()
			conns = append(conns, here)
			p.conns <- there
			return here
		})
		for _, c := range conns {
			c.Close()
		}
		srv.Close()
		<-ended
	})
}

const rawWait = "GET /v1/batch/j1?wait=300 HTTP/1.1\r\nHost: localhost\r\n\r\n"

func TestALongWaitIsNotCutByTheServersTimes(t *testing.T) {
	bubble(t, func() *Server { return New(Config{Auth: keys{}, Batches: patient(func() {})}) }, func(t *testing.T, _ *Server, _ *http.Server, connect func() net.Conn) {
		conn, start := connect(), time.Now()
		go func() { _, _ = io.WriteString(conn, rawWait) }()
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || resp.StatusCode != 200 || time.Since(start) != 5*time.Minute {
			t.Fatalf("%+v, %v, after %v", resp, err, time.Since(start))
		}
		var job sift.Job
		if err := json.NewDecoder(resp.Body).Decode(&job); err != nil || job.ID != "j1" {
			t.Errorf("%v, %+v", err, job)
		}
	})
}

func TestAStopEndsEveryWaitWithThePresentState(t *testing.T) {
	bubble(t, func() *Server { return New(Config{Auth: keys{}, Batches: patient(func() {})}) }, func(t *testing.T, s *Server, srv *http.Server, connect func() net.Conn) {
		srv.RegisterOnShutdown(s.StopWaiting)
		start, answers := time.Now(), make(chan int)
		ask := func(conn net.Conn) {
			go func() { _, _ = io.WriteString(conn, rawWait) }()
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Error(err)
				answers <- 0
				return
			}
			body, err := io.ReadAll(resp.Body)
			if err != nil || !bytes.Contains(body, []byte(`"targets":[{"idx":0`)) {
				t.Errorf("%s, %v", body, err)
			}
			answers <- resp.StatusCode
		}
		const waiting = 5
		for range waiting {
			go ask(connect())
		}
		<-time.After(time.Second)
		synctest.Wait()
		stopped := make(chan error)
		go func() { stopped <- srv.Shutdown(t.Context()) }()
		for range waiting {
			if status := <-answers; status != 200 {
				t.Errorf("status %d", status)
			}
		}
		// So does one that comes when the stop has begun.
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, request("GET", "/v1/batch/j1?wait=300"))
		if w.Code != 200 {
			t.Errorf("the late one: %d", w.Code)
		}
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("the waits ended after %v", took)
		}
		if err := <-stopped; err != nil || time.Since(start) > 10*time.Second {
			t.Errorf("the stop: %v, after %v", err, time.Since(start))
		}
		s.StopWaiting() // twice is no harm
	})
}

func TestAStopDoesNotTurnAnUnknownJobIntoAKnownOne(t *testing.T) {
	s := New(Config{Auth: keys{}, Batches: fails(sift.Fail(sift.CodeNotFound, "there is no such job"))})
	s.StopWaiting()
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, request("GET", "/v1/batch/j1?wait=9"))
	if w.Code != 404 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// fetchJob asks for a job on a connection and gives the answer's beginning.
func fetchJob(t *testing.T, conn net.Conn) *http.Response {
	t.Helper()
	go func() { _, _ = io.WriteString(conn, "GET /v1/batch/j1 HTTP/1.1\r\nHost: localhost\r\n\r\n") }()
	resp, err := http.ReadResponse(bufio.NewReaderSize(conn, 16), nil)
	if err != nil || resp.StatusCode != 200 {
		t.Fatalf("%+v, %v", resp, err)
	}
	return resp
}

func TestReadersWhoStandStillDelayNobodyAndAreCutOff(t *testing.T) {
	job := large(32, 255<<10)
	var reads, answered atomic.Int32
	b := shows(job)
	shown := b.result
	b.result = func(ctx context.Context, c sift.Caller, id string, idx int) (json.RawMessage, error) {
		reads.Add(1)
		return shown(ctx, c, id, idx)
	}
	edge := func() *Server {
		return New(Config{Auth: keys{}, Batches: b, Trace: Trace{Answered: func(string, int, time.Duration) { answered.Add(1) }}})
	}
	bubble(t, edge, func(t *testing.T, _ *Server, _ *http.Server, connect func() net.Conn) {
		const still = 50
		start := time.Now()
		var standing []net.Conn
		for range still {
			conn := connect()
			fetchJob(t, conn)
			standing = append(standing, conn)
		}
		synctest.Wait()
		if n := reads.Load(); n > still {
			t.Errorf("%d results were read for %d callers who take none", n, still)
		}
		resp := fetchJob(t, connect())
		if body, err := io.ReadAll(resp.Body); err != nil || int64(len(body)) != resp.ContentLength || time.Since(start) != 0 {
			t.Errorf("the next caller got %d bytes of %d after %v: %v", len(body), resp.ContentLength, time.Since(start), err)
		}
		conn := connect()
		go func() { _, _ = io.WriteString(conn, "GET /v1/batch/j1?after=31 HTTP/1.1\r\nHost: localhost\r\n\r\n") }()
		if resp, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil || resp.StatusCode != 200 || time.Since(start) != 0 {
			t.Errorf("one who asks for little: %+v, %v", resp, err)
		}
		<-time.After(40 * time.Second)
		synctest.Wait()
		if n := answered.Load(); n != still+2 {
			t.Errorf("after 40 s %d of %d are done with", n, still+2)
		}
		for _, conn := range standing {
			if rest, _ := io.ReadAll(conn); len(rest) > 300<<10 {
				t.Errorf("%d bytes came", len(rest))
			}
		}
	})
}

func TestAReaderWhoGoesOnIsNotCutOff(t *testing.T) {
	job := large(16, 255<<10)
	bubble(t, func() *Server { return New(Config{Auth: keys{}, Batches: shows(job)}) }, func(t *testing.T, _ *Server, _ *http.Server, connect func() net.Conn) {
		start, resp := time.Now(), fetchJob(t, connect())
		var took int64
		for took < resp.ContentLength {
			n, err := io.CopyN(io.Discard, resp.Body, min(8<<10, resp.ContentLength-took))
			if took += n; err != nil {
				t.Fatalf("cut off after %d of %d bytes and %v: %v", took, resp.ContentLength, time.Since(start), err)
			}
			<-time.After(time.Second)
		}
		if time.Since(start) < 8*time.Minute {
			t.Errorf("it took %v, which shows nothing", time.Since(start))
		}
	})
}

func TestWhoWaitsTakesNoGoroutineMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Config{Auth: keys{}, Batches: patient(func() {})})
		before := runtime.NumGoroutine()
		var all sync.WaitGroup
		const waiting = 100
		for range waiting {
			all.Go(func() {
				s.Handler().ServeHTTP(drain{http.Header{}}, request("GET", "/v1/batch/j1?wait=300"))
			})
		}
		synctest.Wait()
		if n := runtime.NumGoroutine() - before; n > waiting+waiting/2 { // others of this process may come and go
			t.Errorf("%d goroutines for %d who wait", n, waiting)
		}
		s.StopWaiting()
		all.Wait()
	})
}

func TestTheDescribedBatchIsWhatTheDecoderTakes(t *testing.T) {
	doc := loadDescription(t)
	submit := doc.Components.Schemas["Submit"].Value
	var bodies []string
	values := []string{`""`, `"x"`, `"raw"`, `true`, `false`, `0`, `1`, `1.5`, `-1`, `1e300`, `[]`, `{}`, `[1]`, `[[]]`, `[{"url":"u"}]`, `[{"url":"u"},{"url":""}]`, `{"url":"u"}`}
	for _, v := range values {
		bodies = append(bodies, fmt.Sprintf(`{"targets":%s}`, v), fmt.Sprintf(`{"targets":[{"url":"u"}],"fresh":%s}`, v), fmt.Sprintf(`{"targets":[%s]}`, v),
			fmt.Sprintf(`{"targets":[{"url":"u"}],"more":%s}`, v), fmt.Sprintf(`{"fresh":%s}`, v))
		for _, f := range fields() {
			if f.name != "url" {
				bodies = append(bodies, fmt.Sprintf(`{"targets":[{"url":"u",%q:%s}]}`, f.name, v))
			}
		}
	}
	taken := 0
	for _, body := range bodies {
		var decoded any
		if err := json.Unmarshal([]byte(body), &decoded); err != nil {
			t.Fatal(err)
		}
		described := submit.VisitJSON(decoded, openapi3.EnableJSONSchema2020()) == nil
		_, err := decodeBatch(batchFields(), []byte(body))
		if described != (err == nil) {
			t.Errorf("%s: allowed by the description: %v; decoder: %v", body, described, err)
		}
		if err == nil {
			taken++
		}
	}
	if taken < 20 {
		t.Errorf("only %d of %d bodies are good", taken, len(bodies))
	}
	var want, got []string
	for _, f := range batchFields() {
		want = append(want, f.name)
		if p := submit.Properties[f.name]; p == nil || f.required != slices.Contains(submit.Required, f.name) {
			t.Errorf("%s is not described, or not as required as it is", f.name)
		}
	}
	if len(submit.Properties) != len(want) {
		t.Errorf("%d properties are described, the table has %q", len(submit.Properties), want)
	}
	want = nil
	for _, f := range jobFields() {
		want = append(want, fmt.Sprintf("%s %s %v %v", f.name, map[kind]string{kindWhole: "integer", kindNumber: "number"}[f.kind], f.low, f.high))
	}
	for _, p := range doc.Paths.Value(pathJob).Get.Parameters {
		s := p.Value.Schema.Value
		got = append(got, fmt.Sprintf("%s %s %v %v", p.Value.Name, s.Type.Slice()[0], *s.Min, *s.Max))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("parameters (-table +description):\n%s", diff)
	}
	if text := doc.Paths.Value(pathBatch).Post.RequestBody.Value.Description; !strings.Contains(text, fmt.Sprintf("at most %d KiB", maxBatchBody>>10)) {
		t.Errorf("the longest body is not described: %s", text)
	}
}

// SPEC section 5, and what comes of every call.
func TestTheStatusesOfBatchesAreDescribed(t *testing.T) {
	doc := loadDescription(t)
	for call, want := range map[string][]string{
		"POST /v1/batch":        {"202", "400", "401", "413", "422", "429", "499", "500"},
		"GET /v1/batch":         {"200", "400", "401", "499", "500"},
		"GET /v1/batch/{id}":    {"200", "400", "401", "404", "499", "500"},
		"DELETE /v1/batch/{id}": {"200", "400", "401", "404", "499", "500"},
	} {
		method, path, _ := strings.Cut(call, " ")
		var got []string
		for status := range doc.Paths.Value(path).GetOperation(method).Responses.Map() {
			got = append(got, status)
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s:\n%s", call, diff)
		}
	}
}
