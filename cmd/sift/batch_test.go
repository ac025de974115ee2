package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"sift.build/sift/internal/client"
	"sift.build/sift/internal/sift"
)

// jobServer speaks the forms of a server's batch calls. What happens to its
// jobs, a test says.
type jobServer struct {
	*httptest.Server

	mu      sync.Mutex
	changed chan struct{} // closed at the next change
	jobs    map[string]*heldJob
	bodies  []string      // of the submits
	asked   []string      // method, path and query of everything else
	keys    []string      // of every request
	submit  func() string // status and body of the answer to a submit
	drop    int           // requests whose connection is cut
}

type heldJob struct {
	status  sift.JobStatus
	err     string
	done    int
	targets []string // as in the status body
}

func newJobServer(t testing.TB) *jobServer {
	t.Helper()
	s := &jobServer{changed: make(chan struct{}), jobs: make(map[string]*heldJob)}
	mux := http.NewServeMux()
	say := func(w http.ResponseWriter, status int, body string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
	unknown := func(w http.ResponseWriter) {
		say(w, 404, `{"success":false,"error":"not_found: no such job","code":"not_found"}`)
	}
	mux.HandleFunc("POST /v1/batch", func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.bodies = append(s.bodies, string(b))
		status, body, _ := strings.Cut(s.submit(), " ")
		s.mu.Unlock()
		n, _ := strconv.Atoi(status)
		say(w, n, body)
	})
	mux.HandleFunc("GET /v1/batch", func(w http.ResponseWriter, _ *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		var list []string
		for _, id := range []string{"two", "one"} {
			if j := s.jobs[id]; j != nil {
				list = append(list, strings.TrimSuffix(j.head(id), ",")+"}")
			}
		}
		say(w, 200, `{"jobs":[`+strings.Join(list, ",")+"]}\n")
	})
	mux.HandleFunc("DELETE /v1/batch/{id}", func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.jobs[r.PathValue("id")] == nil {
			unknown(w)
			return
		}
		say(w, 200, `{"success":true,"status":"cancelled"}`+"\n")
	})
	mux.HandleFunc("GET /v1/batch/{id}", func(w http.ResponseWriter, r *http.Request) {
		id := r.PathValue("id")
		after, err := strconv.Atoi(r.URL.Query().Get("after"))
		if err != nil {
			after = -1
		}
		wait, _ := time.ParseDuration(r.URL.Query().Get("wait") + "s")
		timer := time.NewTimer(wait)
		defer timer.Stop()
		s.mu.Lock()
		defer s.mu.Unlock()
		j := s.jobs[id]
		if j == nil {
			unknown(w)
			return
		}
		status, done := j.status, j.done
		for wait > 0 && j.status == status && j.done == done && (j.status.Live() || j.running()) && r.Context().Err() == nil {
			changed := s.changed
			s.mu.Unlock()
			select {
			case <-changed:
			case <-timer.C:
				wait = 0
			case <-r.Context().Done():
			}
			s.mu.Lock()
		}
		var list []string
		for i := after + 1; i < len(j.targets); i++ {
			list = append(list, j.targets[i])
		}
		say(w, 200, j.head(id)+`"targets":[`+strings.Join(list, ",")+"]}\n")
	})
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.keys = append(s.keys, r.Header.Get("Authorization"))
		if r.Method != http.MethodPost {
			s.asked = append(s.asked, r.Method+" "+r.URL.RequestURI())
		}
		cut := s.drop > 0
		if cut {
			s.drop--
		}
		s.mu.Unlock()
		if cut {
			panic(http.ErrAbortHandler)
		}
		mux.ServeHTTP(w, r)
	}))
	s.Config.ErrorLog = nil
	t.Cleanup(s.Close)
	return s
}

func (j *heldJob) head(id string) string {
	e := ""
	if j.err != "" {
		e = fmt.Sprintf(`"error":%q,`, j.err)
	}
	return fmt.Sprintf(`{"job_id":%q,"status":%q,"targets_total":%d,"targets_done":%d,"created_at":"2026-12-01T00:00:00Z",%s`, id, j.status, len(j.targets), j.done, e)
}

func (j *heldJob) running() bool {
	return strings.Contains(strings.Join(j.targets, ""), `"status":"running"`)
}

// The forms of a target in a job.
func pending(i int) string {
	return fmt.Sprintf(`{"idx":%d,"url":"https://t.example/%d","status":"pending"}`, i, i)
}

func inFlight(i int) string {
	return fmt.Sprintf(`{"idx":%d,"url":"https://t.example/%d","status":"running"}`, i, i)
}

func answered1(i int) string {
	// With a key that this build does not know, and an order of its own.
	return fmt.Sprintf(`{"idx":%d,"new_key":[1,2],"url":"https://t.example/%d","status":"done","result":{"success":true,"content":"page <%d>"}}`, i, i, i)
}

func refused(i int, text string) string {
	return fmt.Sprintf(`{"idx":%d,"url":"https://t.example/%d","status":"failed","error":%q,"hint":"retry"}`, i, i, text)
}

// set changes a job, or makes it.
func (s *jobServer) set(id string, status sift.JobStatus, err string, targets ...string) {
	j := &heldJob{status: status, err: err, targets: targets}
	for _, t := range targets {
		if strings.Contains(t, `"status":"done"`) || strings.Contains(t, `"status":"failed"`) {
			j.done++
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if old := s.jobs[id]; old != nil {
		*old = *j
	} else {
		s.jobs[id] = j
	}
	close(s.changed)
	s.changed = make(chan struct{})
}

// sift runs the program in this process against the server.
func (s *jobServer) sift(t testing.TB, input string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return inProcess(t, []string{"SIFT_URL=" + s.URL, "SIFT_KEY=k1"}, input, args...)
}

func inProcess(t testing.TB, env []string, input string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, notices bytes.Buffer
	code = run(t.Context(), args, append([]string{"HOME=" + t.TempDir()}, env...), stdio{in: strings.NewReader(input), out: &out, err: &notices})
	return code, out.String(), notices.String()
}

func joined(lines ...string) string { return strings.Join(lines, "\n") + "\n" }

func TestAMistakenBatchCommandSaysWhatToWrite(t *testing.T) {
	t.Parallel()
	s := newJobServer(t)
	dir := t.TempDir()
	empty := writeFile(t, dir, "empty.txt", "# nothing\n\n")
	for _, c := range []struct {
		args  string // separated by |
		input string
		env   string
		want  string
	}{
		{args: "batch", want: "sift batch needs one of its commands: cancel, list, status, submit, wait"},
		{args: "batch|sumbit|x", want: `unknown command "sumbit" for "sift batch"; did you mean submit?`},
		{args: "batch|statsu|x", want: "did you mean status?"},
		{args: "batch|cancle", want: "did you mean cancel?"},
		{args: "batch|wiat|x", want: "did you mean wait?"},
		{args: "batch|lst", want: "did you mean list?"},
		{args: "batch|get|x", want: "did you mean status?"},
		{args: "batch|show|x", want: "did you mean status?"},
		{args: "batch|create|x", want: "did you mean submit?"},
		{args: "batch|delete|x", want: "did you mean cancel?"},
		{args: "batch|ls", want: "did you mean list?"},
		{args: "batch|collect|x", want: "did you mean wait?"},
		{args: "batch|xyzzy", want: `unknown command "xyzzy"`},

		{args: "batch|submit", want: "no file given; write: sift batch submit FILE"},
		{args: "batch|submit|a|b", want: "one file at a time, not 2; write: sift batch submit FILE"},
		{args: "batch|submit|", want: "the file's name is empty; write: sift batch submit FILE"},
		{args: "batch|submit|https://example.org/", want: "is a URL; write: sift batch submit FILE, where FILE holds one URL a line"},
		{args: "batch|submit|a|https://example.org/", want: "is a URL; write: sift batch submit FILE"},
		{args: "batch|submit|" + dir + "/missing.txt", want: "missing.txt cannot be read: no such file or directory; name a file with one URL a line"},
		{args: "batch|submit|" + dir, want: "cannot be read: is a directory; name a file"},
		{args: "batch|submit|" + empty, want: "empty.txt holds no target; write one URL a line, or JSON such as {\"targets\":"},
		{args: "batch|submit|-", input: "", want: "standard input holds no target; write one URL a line"},
		{args: "batch|submit|-", input: "[]", want: "standard input holds no target; write one URL a line"},
		{args: "batch|submit|-", input: `{"targets":[]}`, want: "standard input holds no target; write one URL a line"},
		{args: "batch|submit|--mode|cleen|-", input: "https://a.example/", want: `unknown mode "cleen"; did you mean clean?; the modes are clean`},
		{args: "batch|submit|--frsh|-", input: "https://a.example/", want: "unknown flag: --frsh; did you mean --fresh?"},
		{args: "batch|submit|--timeout|3|-", input: "https://a.example/", want: "--timeout goes with --wait"},
		{args: "batch|submit|--wait|--timeout|soon|-", input: "https://a.example/", want: `"soon" is neither a number of seconds nor a duration`},

		{args: "batch|status", want: "no job given; write: sift batch status JOB"},
		{args: "batch|status|a|b", want: "one job at a time, not 2; write: sift batch status JOB"},
		{args: "batch|status|", want: "the job's id is empty; write: sift batch status JOB"},
		{args: "batch|status|a/b", want: `"a/b" is no job's id: there is no '/' in one; write: sift batch status JOB`},
		{args: "batch|status|a b", want: `"a b" is no job's id: there is no ' ' in one; write: sift batch status JOB`},
		{args: "batch|status|..", want: `".." is no job's id; write: sift batch status JOB`},
		{args: "batch|status|a\x1b[2J", want: `"a\x1b[2J" is no job's id`},
		{args: "batch|status|" + strings.Repeat("x", 1000), want: "is no job's id"},
		{args: "batch|status|https://example.org/", want: "is a URL, no job's id; write: sift batch status JOB"},
		{args: "batch|status|--after|-2|one", want: `--after "-2" is not the index of a target`},
		{args: "batch|cancel", want: "no job given; write: sift batch cancel JOB"},
		{args: "batch|cancel|a|b|c", want: "one job at a time, not 3; write: sift batch cancel JOB"},
		{args: "batch|cancel|a?b", want: "there is no '?' in one; write: sift batch cancel JOB"},
		{args: "batch|wait", want: "no job given; write: sift batch wait JOB"},
		{args: "batch|wait|a|b", want: "one job at a time, not 2; write: sift batch wait JOB"},
		{args: "batch|wait|a/b", want: "write: sift batch wait JOB"},
		{args: "batch|wait|--timeout|0|a", want: "--timeout must be a time above 0"},
		{args: "batch|wait|--after|x|a", want: `--after "x" is not the index of a target; they count from 0, and -1 leaves out none`},
		{args: "batch|status|--after|1.5|a", want: `--after "1.5" is not the index of a target`},
		{args: "batch|status|--after|99999999999999999999|a", want: `--after "99999999999999999999" is not the index of a target`},
		{args: "batch|status|--after", want: "flag needs an argument: --after"},
		{args: "batch|help|statsu", want: `unknown command "statsu" for "sift batch"; did you mean status?`},
		{args: "batch|list|one", want: "sift batch list takes no argument; of one job write: sift batch status one"},

		{args: "batch|list|--server|sift.example.com", want: "not one like http://127.0.0.1:8642"},
		{args: "batch|list|--server|http://sift.example.com", want: "(--send-key-unencrypted)"},
		{args: "batch|list|--key-file|" + dir + "/none", want: "key file: open " + dir + "/none: no such file or directory"},
		{args: "batch|list|--key-file|" + dir, want: "key file: read " + dir + ": is a directory"},
		{args: "batch|submit|-", input: "{", want: "standard input, line 1: the JSON is not complete"},
		{args: "batch|list|--config|" + writeFile(t, dir, "bad.toml", "listen = 3\n"), env: "SIFT_URL=", want: "bad.toml:1: listen"},
	} {
		words := strings.Split(c.args, "|")
		env := []string{"SIFT_URL=" + s.URL, "SIFT_KEY=k1"}
		if c.env != "" {
			env = []string{c.env}
		}
		code, stdout, stderr := inProcess(t, env, c.input, words...)
		if code != exitUsage || stdout != "" || !strings.Contains(stderr, c.want) {
			t.Errorf("%q with %q: %d, %q, %q; want %q", c.args, c.input, code, stdout, stderr, c.want)
		}
		if len(words) < 2 || !slices.Contains([]string{"submit", "status", "wait", "cancel", "list"}, words[1]) {
			continue // no command that has --json
		}
		// A script finds the same on standard output, wherever it says --json.
		for _, words := range [][]string{slices.Insert(slices.Clone(words), 2, "--json"), append(slices.Clone(words), "--json")} {
			if c.args == "batch|status|--after" && words[3] == "--json" {
				continue // it is the index then
			}
			code, stdout, stderr := inProcess(t, env, c.input, words...)
			var f sift.FailureJSON
			if err := json.Unmarshal([]byte(stdout), &f); err != nil || f.Success || f.Code != sift.CodeInvalid || !strings.HasPrefix(f.Error, "invalid: ") ||
				strings.HasPrefix(f.Error, "invalid: invalid: ") || !strings.Contains(f.Error, c.want) || strings.Count(stdout, "\n") != 1 || code != exitUsage || stderr != "" {
				t.Errorf("%q with %q: %d, %q, %q; want %q", words, c.input, code, stdout, stderr, c.want)
			}
		}
	}
	if len(s.bodies)+len(s.asked) > 0 {
		t.Errorf("the server was asked: %q %q", s.bodies, s.asked)
	}
}

func TestWithJSONWhatHasNoCodeIsAFailureToo(t *testing.T) {
	t.Parallel()
	for asked, want := range map[string]string{
		"batch submit -":        "",
		"batch submit --json -": `{"success":false,"error":"internal: read standard input: it broke","code":"internal"}` + "\n",
	} {
		var out, notices bytes.Buffer
		code := run(t.Context(), strings.Fields(asked), []string{"HOME=" + t.TempDir()}, stdio{in: iotest.ErrReader(errors.New("it broke")), out: &out, err: &notices})
		if code != exitFailure || out.String() != want || (want == "") != strings.Contains(notices.String(), "sift: read standard input: it broke") {
			t.Errorf("%s: %d, %q, %q", asked, code, &out, &notices)
		}
	}
}

func TestTheHelpOfABatchCommandIsFoundBehindBatchToo(t *testing.T) {
	t.Parallel()
	for asked, like := range map[string]string{"batch help status": "help batch status", "batch help": "help batch", "key help new": "help key new"} {
		_, want, _ := inProcess(t, nil, "", strings.Fields(like)...)
		code, got, stderr := inProcess(t, nil, "", strings.Fields(asked)...)
		if code != 0 || got != want || stderr != "" || !strings.Contains(got, "Usage:") {
			t.Errorf("%s: %d, %q, %q", asked, code, got, stderr)
		}
	}
}

func TestABatchIsMadeFromURLsOrFromJSON(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in    string
		mode  sift.Mode
		fresh bool
		want  string
		err   string
	}{
		// URLs, one a line.
		{in: "https://a.example/\n", want: `{"targets":[{"url":"https://a.example/"}]}`},
		{in: "\ufeff# list\r\n\r\n  https://a.example/?x=1&y=<2>  \r\n\t# https://b.example/\r\nhttp://c.example/", want: `{"targets":[{"url":"https://a.example/?x=1&y=<2>"},{"url":"http://c.example/"}]}`},
		{in: "https://a.example/\nHTTP://B.EXAMPLE\n", mode: "text", fresh: true, want: `{"targets":[{"url":"https://a.example/","mode":"text"},{"url":"HTTP://B.EXAMPLE","mode":"text"}],"fresh":true}`},
		{in: "https://a.example/ü\"\\", want: `{"targets":[{"url":"https://a.example/ü\"\\"}]}`},
		{in: "ftp://a.example/", want: `{"targets":[{"url":"ftp://a.example/"}]}`}, // the server refuses it, with its reason
		{in: "", err: "list holds no target"},
		{in: "https://a.example/\n\nb.example/page\n", err: `list, line 3: "b.example/page" is no URL; write one a line, with https:// or http:// in front`},
		{in: "b.example:443/page\n", err: `list, line 1: "b.example:443/page" is no URL; write one a line, with https:// or http:// in front`},
		{in: "https://a.example/ https://b.example/", err: "list, line 1: \"https://a.example/ https://b.example/\" has a space in it; write one URL a line"},
		{in: "# x\n\"https://a.example/\",\n", err: "list, line 2: "},
		{in: "https://a.example/\nurl\x00\n", err: "list, line 2: there is a control character"},
		{in: "https://a.example/\n\xff\xfe\n", err: "list, line 2: this is not text"},
		{in: "<html>", err: "list, line 1: "},

		// JSON, as it stands.
		{in: `{"targets":[{"url":"https://a.example/","new_option":{"a":[1]}}],"other":null}`, want: `{"targets":[{"url":"https://a.example/","new_option":{"a":[1]}}],"other":null}`},
		{in: "\n {\"targets\" : [ {\"url\":\"x\", \"url\":\"y\"} ] }\n\n", want: `{"targets" : [ {"url":"x", "url":"y"} ] }`},
		{in: `{"unknown":1}`, want: `{"unknown":1}`},
		{in: `{"targets":"x"}`, want: `{"targets":"x"}`}, // the server says what it wants
		// With a flag.
		{in: `{"targets":[{"url":"a"},{"mode":"raw","url":"b"},{"url":"c","grep":"<"}],"x":1}`, mode: "text", want: `{"targets":[{"url":"a","mode":"text"},{"mode":"raw","url":"b"},{"url":"c","grep":"<","mode":"text"}],"x":1}`},
		{in: `{"targets":[{"url":"a"}]}`, fresh: true, want: `{"targets":[{"url":"a"}],"fresh":true}`},
		{in: `{"fresh": true, "targets":[{"url":"a"}]}`, fresh: true, want: `{"fresh": true, "targets":[{"url":"a"}]}`},
		{in: "{\"targets\":[{\"url\":\"a\"}],\n\"fresh\":false}", fresh: true, err: `list, line 2: it says "fresh":false, and --fresh the opposite`},
		// Lists.
		{in: `["https://a.example/<", {"url":"https://b.example/","pages":"1"}]`, want: `{"targets":[{"url":"https://a.example/<"},{"url":"https://b.example/","pages":"1"}]}`},
		{in: `["a",{"url":"b"}]`, mode: "links", fresh: true, want: `{"targets":[{"url":"a","mode":"links"},{"url":"b","mode":"links"}],"fresh":true}`},
		{in: "[\n\"a\",\n\n7]", err: "list, line 4: targets[1] is neither a URL in quotes nor an object"},
		{in: "{\"x\":[\n],\n\"targets\":[{\"url\":\"a\"},\n\"b\"]}", err: "list, line 4: targets[1] is no object"},
		{in: " [ ] ", err: "holds no target"},
		{in: `{"targets":[ ]}`, err: "holds no target"},
		// Neither.
		{in: `{"url":"https://a.example/"}`, err: `this is one target alone; write the list of them, such as {"targets":[{"url":"https://example.com/"}]}`},
		{in: "{\"targets\":[\n{\"url\":}]}", err: "list, line 2: this is not JSON: invalid character '}'"},
		{in: "{\"targets\":[\n{\"url\":\"a\"}", err: "list, line 2: the JSON is not complete"},
		{in: "{\"url\":\"a\"}\n{\"url\":\"b\"}\n", err: "list, line 2: something follows the JSON"},
		{in: "[https://a.example/]", err: "list, line 1: this is not JSON"},
		{in: strings.Repeat("[", 100_000), err: "list, line 1: this is not JSON"},
	} {
		b, err := batchBody("list", []byte(c.in), c.mode, c.fresh)
		text := ""
		if err != nil {
			text = err.Error()
			if _, usage := errors.AsType[*usageError](err); !usage {
				t.Errorf("%.80q: %v is no usage error", c.in, err)
			}
		}
		if string(b.json) != c.want || (c.err == "") != (err == nil) || !strings.Contains(text, c.err) {
			t.Errorf("%.80q:\n got %s, %q\nwant %s, %q", c.in, b.json, text, c.want, c.err)
		}
	}
}

func TestABatchLongerThanTheServerTakesIsRefusedHere(t *testing.T) {
	t.Parallel()
	s := newJobServer(t)
	s.submit = func() string {
		return `202 {"success":true,"job_id":"one","status":"queued","targets":1,"reused":false}`
	}
	pad := func(n int) string {
		const frame = `{"targets":[{"url":"https://a.example/"}]}`
		return frame + strings.Repeat(" ", n-len(frame))
	}
	if code, _, stderr := s.sift(t, pad(maxBatch), "batch", "submit", "-"); code != 0 {
		t.Errorf("as long as it may be: %d %s", code, stderr)
	}
	code, stdout, stderr := s.sift(t, pad(maxBatch+1), "batch", "submit", "-")
	if code != exitUnsupported || stdout != "" || !strings.Contains(stderr, "too_long: standard input is longer than the 262144 bytes that a batch may have; submit it in parts") {
		t.Errorf("a byte more: %d %q %q", code, stdout, stderr)
	}
	code, stdout, _ = s.sift(t, pad(maxBatch+1), "batch", "submit", "--json", "-")
	if code != exitUnsupported || !strings.Contains(stdout, `"code":"too_long"`) {
		t.Errorf("with --json: %d %q", code, stdout)
	}
	// Short as a list of URLs, but not as JSON.
	code, _, stderr = s.sift(t, strings.Repeat("http://a\n", maxBatch/9), "batch", "submit", "-")
	if code != exitUnsupported || !strings.Contains(stderr, "too_long: ") {
		t.Errorf("once it is JSON: %d %q", code, stderr)
	}
	if len(s.bodies) != 1 {
		t.Errorf("%d bodies were sent", len(s.bodies))
	}
}

func FuzzBatchBody(f *testing.F) {
	for _, s := range []string{"https://a.example/\n# x\n", `{"targets":[{"url":"a"}],"fresh":false}`, `["a",{"url":"b","mode":"x"}]`, "[[", "{\"\":", "\ufeff[1]", `{"targets":[{}],"targets":[{"mode":null}]}`} {
		f.Add([]byte(s), "text", true)
		f.Add([]byte(s), "", false)
	}
	f.Fuzz(func(t *testing.T, in []byte, mode string, fresh bool) {
		b, err := batchBody("list", in, sift.Mode(mode), fresh)
		if err != nil {
			return
		}
		if !json.Valid(b.json) || len(b.json) > maxBatch {
			t.Fatalf("%q gives %q", in, b.json)
		}
		// Without a flag a body of JSON stays as it is, and nothing is lost.
		if start := bytes.TrimLeft(bytes.TrimPrefix(in, []byte("\ufeff")), " \t\r\n"); mode == "" && !fresh && start[0] == '{' && !bytes.Equal(bytes.TrimRight(start, " \t\r\n"), b.json) {
			t.Fatalf("%q became %q", in, b.json)
		}
		for i, line := range b.lines {
			if !bytes.Contains(b.json, jsonText(strings.TrimSpace(string(bytes.Split(bytes.TrimPrefix(in, []byte("\ufeff")), []byte("\n"))[line-1])))) {
				t.Fatalf("targets[%d] is not from line %d of %q", i, line, in)
			}
		}
	})
}

func TestASubmitPrintsTheAnswerAndFailsAsTheServerDoes(t *testing.T) {
	t.Parallel()
	s := newJobServer(t)
	const list = "# mine\nhttps://a.example/\n\nhttps://b.example:8080/\n"
	for _, c := range []struct {
		name   string
		answer string
		args   []string
		code   int
		out    string
		notice string
	}{
		{"created", `202 {"success":true,"job_id":"one","status":"queued","targets":2,"reused":false,"newer":1}` + "\n", nil, 0,
			`{"success":true,"job_id":"one","status":"queued","targets":2,"reused":false,"newer":1}` + "\n", ""},
		{"reused", `202 {"success":true,"job_id":"one","status":"failed","targets":2,"reused":true,"hint":"fresh"}`, nil, 0,
			`{"success":true,"job_id":"one","status":"failed","targets":2,"reused":true,"hint":"fresh"}` + "\n", ""},
		{"refused", `422 {"success":false,"error":"blocked: targets[1]: port 8080 is not 80 or 443","code":"blocked","url":"https://b.example:8080/"}`, nil, exitBlocked,
			"", "sift: targets[1] is line 4 of standard input\nsift: blocked: targets[1]: port 8080 is not 80 or 443\n"},
		{"over a cap", `429 {"success":false,"error":"cap: job old is still live","code":"cap","hint":"retry","retry_after":30}`, nil, exitBusy,
			"", "sift: cap: job old is still live\nhint: retry (the same request may work later)\n"},
		{"over a cap, as JSON", `429 {"success":false,"error":"cap: job old is still live","code":"cap","hint":"retry","retry_after":30}`, []string{"--json"}, exitBusy,
			`{"success":false,"error":"cap: job old is still live","code":"cap","hint":"retry","retry_after":30}` + "\n", ""},
		{"no key", `401 {"success":false,"error":"unauthorized: no key","code":"unauthorized","hint":"auth"}`, nil, exitAuth,
			"", "sift: unauthorized: no key\nhint: auth (a login or a key is wanted)\n"},
	} {
		s.submit = func() string { return c.answer }
		code, stdout, stderr := s.sift(t, list, append([]string{"batch", "submit", "-"}, c.args...)...)
		if code != c.code || stdout != c.out || stderr != c.notice {
			t.Errorf("%s: %d\n%s\n%s", c.name, code, stdout, stderr)
		}
	}
	if want := `{"targets":[{"url":"https://a.example/"},{"url":"https://b.example:8080/"}]}`; s.bodies[0] != want {
		t.Errorf("the body was %s", s.bodies[0])
	}
	if s.keys[0] != "Bearer k1" {
		t.Errorf("the key was %q", s.keys[0])
	}
	// Cut off: whether the job was made cannot be told.
	s.drop = 1
	code, _, stderr := s.sift(t, list, "batch", "submit", "-")
	if code != exitUnreachable || !strings.Contains(stderr, "the same submit again answers that very job") {
		t.Errorf("cut off: %d %q", code, stderr)
	}
}

func TestAWaitEndsAsItsJobDid(t *testing.T) {
	t.Parallel()
	blocked := "blocked: private address 10.0.0.7"
	for _, c := range []struct {
		name    string
		status  sift.JobStatus
		err     string
		targets []string
		code    int
		end     string
	}{
		{"done", sift.JobDone, "", []string{answered1(0), answered1(1)}, 0, "job one is done: 2 of 2 targets finished"},
		{"partial", sift.JobPartial, "", []string{refused(0, blocked), answered1(1)}, exitPartial, "job one is partial: 2 of 2 targets finished, 1 failed"},
		{"failed", sift.JobFailed, "", []string{refused(0, "timeout: too slow"), refused(1, blocked)}, exitTimeout, "job one is failed: 2 of 2 targets finished, 2 failed"},
		{"failed with a code that is new", sift.JobFailed, "", []string{refused(0, "melted: it did")}, exitFailure, "job one is failed"},
		{"restart", sift.JobFailed, "restart", []string{answered1(0), refused(1, "restart"), pending(2)}, exitFailure, "job one is failed: 2 of 3 targets finished, 1 failed (restart)"},
		{"restart after a failure", sift.JobFailed, "restart", []string{refused(0, blocked), pending(1)}, exitFailure, "(restart)"},
		{"store", sift.JobFailed, "store: the disk is full", []string{refused(0, blocked)}, exitFailure, "(store: the disk is full)"},
		{"cancelled in the middle", sift.JobCancelled, "", []string{answered1(0), pending(1), pending(2)}, exitPartial, "job one is cancelled: 1 of 3 targets finished"},
		{"cancelled with only failures", sift.JobCancelled, "", []string{refused(0, blocked), pending(1)}, exitFailure, "job one is cancelled: 1 of 2"},
		{"cancelled at once", sift.JobCancelled, "", []string{pending(0)}, exitFailure, "job one is cancelled: 0 of 1"},
	} {
		s := newJobServer(t)
		s.set("one", c.status, c.err, c.targets...)
		code, stdout, stderr := s.sift(t, "", "batch", "wait", "one")
		if code != c.code || stdout != joined(c.targets...) || !strings.Contains(stderr, c.end) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: %d\n%s\n%s", c.name, code, stdout, stderr)
		}
		// Only what was not collected before; the code is of the whole job.
		code, stdout, _ = s.sift(t, "", "batch", "wait", "--after", "0", "--json", "one")
		lines := strings.SplitAfter(stdout, "\n")
		if code != c.code || strings.Join(lines[:len(lines)-2], "") != strings.TrimPrefix(joined(c.targets...), c.targets[0]+"\n") {
			t.Errorf("%s, the rest: %d\n%s", c.name, code, stdout)
		}
		var end sift.Job
		if err := json.Unmarshal([]byte(lines[len(lines)-2]), &end); err != nil || end.Status != c.status || end.Error != c.err || end.ID != "one" || end.TargetsTotal != len(c.targets) {
			t.Errorf("%s: the last line is %q", c.name, lines[len(lines)-2])
		}
	}
}

func TestAWaitCollectsEachTargetOnceAndAtOnce(t *testing.T) {
	t.Parallel()
	s := newJobServer(t)
	s.set("one", sift.JobRunning, "", answered1(0), inFlight(1), pending(2))
	p := startIn(t, command(t.TempDir(), []string{"SIFT_URL=" + s.URL}, "batch", "wait", "one"))
	seen := func(line string) {
		t.Helper()
		if _, err := p.wait(p.out, line); err != nil {
			t.Fatal(err)
		}
	}
	seen(answered1(0))
	s.set("one", sift.JobRunning, "", answered1(0), refused(1, "timeout: too slow"), inFlight(2))
	seen(refused(1, "timeout: too slow"))
	// Cancelled, and the one in flight is still finished.
	s.set("one", sift.JobCancelled, "", answered1(0), refused(1, "timeout: too slow"), inFlight(2))
	s.set("one", sift.JobCancelled, "", answered1(0), refused(1, "timeout: too slow"), answered1(2))
	p.endsWith(t, exitPartial)
	if diff := cmp.Diff(joined(answered1(0), refused(1, "timeout: too slow"), answered1(2)), p.out.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for _, a := range s.asked[1:] {
		if !strings.Contains(a, "after=") || !strings.Contains(a, "wait=") {
			t.Errorf("asked for %s", a)
		}
	}
}

func TestCtrlCLeavesTheJobAndSaysHowToCollectTheRest(t *testing.T) {
	t.Parallel()
	s := newJobServer(t)
	s.submit = func() string {
		return `202 {"success":true,"job_id":"one","status":"queued","targets":2,"reused":false}`
	}
	s.set("one", sift.JobRunning, "", answered1(0), inFlight(1))
	dir := t.TempDir()
	list := writeFile(t, dir, "my list.txt", "https://t.example/0\nhttps://t.example/1\n")
	key := writeFile(t, dir, "my key", "k2")
	for name, args := range map[string][]string{
		"wait":          {"batch", "wait", "one"},
		"submit --wait": {"batch", "submit", "--wait", list},
	} {
		p := startIn(t, command(dir, nil, append(args, "--server", s.URL, "--key-file", key)...))
		if _, err := p.wait(p.out, answered1(0)); err != nil {
			t.Fatal(err)
		}
		p.signal(t, syscall.SIGINT)
		p.endsWith(t, exitInterrupted)
		want := "sift: stopped waiting; the job goes on. Collect the rest with: sift batch wait --server " + s.URL + " --key-file '" + key + "' --after 0 one\n" +
			"sift: or end it with: sift batch cancel --server " + s.URL + " --key-file '" + key + "' one\n"
		if p.log.String() != want {
			t.Errorf("%s said %q", name, p.log)
		}
	}
	s.mu.Lock()
	for _, a := range s.asked {
		if strings.HasPrefix(a, "DELETE") {
			t.Errorf("the job was cancelled")
		}
	}
	s.mu.Unlock()
	s.set("one", sift.JobDone, "", answered1(0), answered1(1))
	code, stdout, _ := s.sift(t, "", "batch", "wait", "--after", "0", "one")
	if code != 0 || stdout != joined(answered1(1)) {
		t.Errorf("the rest: %d %q", code, stdout)
	}
}

func TestAWaitThatTakesTooLongIsATimeout(t *testing.T) {
	t.Parallel()
	s := newJobServer(t)
	s.submit = func() string {
		return `202 {"success":true,"job_id":"one","status":"queued","targets":2,"reused":false}`
	}
	s.set("one", sift.JobRunning, "", answered1(0), inFlight(1))
	for _, args := range [][]string{{"wait", "--timeout", "0.3", "one"}, {"submit", "--wait", "--timeout", "300ms", "-"}} {
		code, stdout, stderr := s.sift(t, "https://t.example/0", append([]string{"batch"}, args...)...)
		if code != exitTimeout || !strings.HasSuffix(stdout, joined(answered1(0))) {
			t.Errorf("%q: %d %q", args, code, stdout)
		}
		for _, want := range []string{"the job goes on. Collect the rest with: sift batch wait --after 0 one\n", "sift: timeout: job one has not ended within 300ms\n"} {
			if !strings.Contains(stderr, want) {
				t.Errorf("%q: %q is not in %q", args, want, stderr)
			}
		}
	}
}

func TestAServerThatGoesAwayWhileItIsWaitedForIsTriedAgain(t *testing.T) {
	t.Parallel()
	s := newJobServer(t)
	s.set("one", sift.JobRunning, "", answered1(0), inFlight(1))
	p := startIn(t, command(t.TempDir(), []string{"SIFT_URL=" + s.URL}, "batch", "wait", "one"))
	if _, err := p.wait(p.out, answered1(0)); err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	s.drop = 2
	s.mu.Unlock()
	s.CloseClientConnections()
	p.waitLog(t, "sift: cannot reach the sift server at "+s.URL, "it closed the connection; trying again for 1m0s")
	s.set("one", sift.JobFailed, "restart", answered1(0), refused(1, "restart"))
	p.waitLog(t, "sift: the server answers again")
	p.endsWith(t, exitFailure)
	if p.out.String() != joined(answered1(0), refused(1, "restart")) {
		t.Errorf("collected: %q", p.out)
	}
	if strings.Count(p.log.String(), "trying again") != 1 {
		t.Errorf("the notices: %q", p.log)
	}

	// One that has never answered is not: there may be none.
	s.drop = 1
	if code, _, _ := s.sift(t, "", "batch", "wait", "one"); code != exitUnreachable {
		t.Errorf("it ended with %d", code)
	}
}

func TestAServerThatStaysAwayIsGivenUpAfterAMinute(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fail  *sift.Failure
		tries int // after the one that was answered, at most
		after time.Duration
	}{
		"unreachable":        {sift.Fail(sift.CodeUnreachable, "gone"), 18, outage},
		"busy for long":      {&sift.Failure{Code: sift.CodeBusy, Message: "full", RetryAfter: 40 * time.Second}, 2, outage},
		"busy for very long": {&sift.Failure{Code: sift.CodeBusy, Message: "full", RetryAfter: time.Hour}, 1, outage},
		"the job is gone":    {sift.Fail(sift.CodeNotFound, "no such job"), 1, 0},
		"the key is gone":    {sift.Fail(sift.CodeUnauthorized, "no"), 1, 0},
		"a fault":            {sift.Fail(sift.CodeInternal, "no"), 1, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			var notices bytes.Buffer
			p := &program{stdio: stdio{out: io.Discard, err: &notices}}
			asked := 0
			w := &waiting{b: &batchCall{p: p}, id: "one", job: func(context.Context, string, int, time.Duration) (*client.Job, error) {
				if asked++; asked == 1 {
					return &client.Job{Job: sift.Job{Status: sift.JobRunning}, JSON: []byte(`{"targets":[]}`)}, nil
				}
				return nil, c.fail
			}}
			start := time.Now()
			_, err := w.follow(t.Context())
			if sift.AsFailure(err).Code != c.fail.Code || asked-1 > c.tries || asked-1 < min(c.tries, 10) || time.Since(start) > c.after {
				t.Errorf("%s: %v after %d tries in %v", name, err, asked-1, time.Since(start))
			}
		})
	}
}

func TestStatusCancelAndListPrintWhatTheServerAnswered(t *testing.T) {
	t.Parallel()
	s := newJobServer(t)
	if code, stdout, stderr := s.sift(t, "", "batch", "list"); code != 0 || stdout != "" || stderr != "sift: there are no jobs of yours\n" {
		t.Errorf("no jobs: %d %q %q", code, stdout, stderr)
	}
	s.set("one", sift.JobFailed, "restart", answered1(0), refused(1, "restart"))
	s.set("two", sift.JobRunning, "", answered1(0), inFlight(1), pending(2))
	const head = `{"job_id":"two","status":"running","targets_total":3,"targets_done":1,"created_at":"2026-12-01T00:00:00Z"`
	for _, c := range []struct {
		args string
		code int
		out  string
		log  string
	}{
		{"status two", 0, head + `,"targets":[` + answered1(0) + "," + inFlight(1) + "," + pending(2) + "]}\n", ""},
		{"status --after -1 two", 0, head + `,"targets":[` + answered1(0) + "," + inFlight(1) + "," + pending(2) + "]}\n", ""},
		{"status --json --after 1 two", 0, head + `,"targets":[` + pending(2) + "]}\n", ""},
		{"cancel two", 0, `{"success":true,"status":"cancelled"}` + "\n", ""},
		{"list --json", 0, `{"jobs":[` + head + `},{"job_id":"one","status":"failed","targets_total":2,"targets_done":2,"created_at":"2026-12-01T00:00:00Z","error":"restart"}]}` + "\n", ""},
		{"list", 0, "JOB  STATUS   TARGETS  CREATED               ERROR\n" +
			"two  running  1/3      2026-12-01T00:00:00Z\n" +
			"one  failed   2/2      2026-12-01T00:00:00Z  restart\n", ""},
		{"status three", exitGone, "", "sift: not_found: no such job\n"},
		{"cancel three", exitGone, "", "sift: not_found: no such job\n"},
		{"wait three", exitGone, "", "sift: not_found: no such job\n"},
		{"status --json three", exitGone, `{"success":false,"error":"not_found: no such job","code":"not_found"}` + "\n", ""},
		{"wait --json three", exitGone, `{"success":false,"error":"not_found: no such job","code":"not_found"}` + "\n", ""},
	} {
		code, stdout, stderr := s.sift(t, "", append([]string{"batch"}, strings.Fields(c.args)...)...)
		if code != c.code || stdout != c.out || stderr != c.log {
			t.Errorf("%s: %d\n%s\n%s", c.args, code, stdout, stderr)
		}
	}
}

func TestABatchGoesToTheServerOfTheConfigurationUnlessOneIsNamed(t *testing.T) {
	t.Parallel()
	s := newJobServer(t)
	s.set("one", sift.JobDone, "", answered1(0))
	_, port, _ := strings.Cut(s.Listener.Addr().String(), ":")
	file := writeFile(t, t.TempDir(), "sift.toml", "listen = \"127.0.0.1:"+port+"\"\n")
	list := []string{"batch", "list", "--json"}
	for name, c := range map[string]struct {
		env  []string
		args []string
		code int
	}{
		"the environment's key of the configuration": {[]string{"SIFT_LISTEN=localhost:" + port}, list, 0},
		"the file":                {nil, append(list, "--config", file), 0},
		"the flag over all":       {[]string{"SIFT_LISTEN=127.0.0.1:1", "SIFT_URL=http://127.0.0.1:1"}, append(list, "--server", s.URL), 0},
		"none by name":            {[]string{"SIFT_LISTEN=127.0.0.1:" + port, "SIFT_URL=http://127.0.0.1:1"}, append(list, "--server", ""), 0},
		"the variable":            {[]string{"SIFT_LISTEN=127.0.0.1:1", "SIFT_URL=" + s.URL}, list, 0},
		"a port that is not told": {[]string{"SIFT_LISTEN=127.0.0.1:0"}, list, exitUsage},
		"a broken configuration":  {[]string{"SIFT_LISTEN=nonsense"}, list, exitUsage},
	} {
		code, stdout, stderr := inProcess(t, c.env, "", c.args...)
		if code != c.code || (c.code == 0) != strings.Contains(stdout, `"job_id":"one"`) {
			t.Errorf("%s: %d %q %q", name, code, stdout, stderr)
		}
	}
	for listen, want := range map[string]string{
		"127.0.0.1:8642": "http://127.0.0.1:8642", "[::1]:8642": "http://[::1]:8642", "localhost:8642": "http://localhost:8642",
		"0.0.0.0:8642": "http://127.0.0.1:8642", ":8642": "http://127.0.0.1:8642", "[::]:8642": "http://[::1]:8642", "[::ffff:0.0.0.0]:8642": "http://127.0.0.1:8642",
		"10.0.0.1:80": "http://10.0.0.1:80",
	} {
		file := writeFile(t, t.TempDir(), "sift.toml", fmt.Sprintf("listen = %q\n[[caller]]\nname = \"x\"\nkey_sha256 = %q\n", listen, strings.Repeat("ab", 32)))
		p := &program{configFile: file, environ: []string{"HOME=" + t.TempDir()}}
		if got, err := p.ownServer(); err != nil || got != want {
			t.Errorf("%s: %s, %v", listen, got, err)
		}
	}
}

func TestWhereNothingListensABatchSaysToStartAServer(t *testing.T) {
	t.Parallel()
	s := newJobServer(t)
	addr := s.Listener.Addr().String()
	s.Close()
	code, stdout, stderr := inProcess(t, []string{"SIFT_LISTEN=" + addr}, "https://a.example/", "batch", "submit", "-")
	want := "sift: unreachable: cannot reach the sift server at http://" + addr + ": nothing listens there; is `sift serve` running?\n" +
		"hint: retry (the same request may work later)\n" +
		"sift: start it with `sift serve`, or name another server with --server or $SIFT_URL\n"
	if code != exitUnreachable || stdout != "" || stderr != want {
		t.Errorf("%d %q %q", code, stdout, stderr)
	}
}

func TestABatchCompletesFilesForSubmitAndNothingForJobs(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"submit ":        ":0\n", // the shell's own: files
		"submit list ":   ":4\n", // nothing
		"status ":        ":4\n",
		"wait ":          ":4\n",
		"cancel ":        ":4\n",
		"list ":          ":4\n",
		"submit --mode ": "outline\n:4\n",
	} {
		words := append([]string{"__complete", "batch"}, strings.Split(args, " ")...)
		if code, stdout, _ := inProcess(t, nil, "", words...); code != 0 || !strings.HasSuffix(stdout, want) {
			t.Errorf("%q: %d %q", args, code, stdout)
		}
	}
}

func TestAWordIsQuotedForTheShellWhereItNeedsIt(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"": "''", "a": "a", "http://127.0.0.1:8642/x-y_z": "http://127.0.0.1:8642/x-y_z", "my key": "'my key'",
		"it's": `'it'\''s'`, "$(id)": "'$(id)'", "a;b": "'a;b'", "~x": "'~x'", "ü": "'ü'",
	} {
		if got := shellWord(in); got != want {
			t.Errorf("%q: %s", in, got)
		}
	}
}

func TestAWaitAsksAgainSoonAfterAChangeAndSeldomWhileNothingHappens(t *testing.T) {
	t.Parallel()
	done := []int{0, 0, 0, 1, 1, 2, 2, 2, 2, 2, 2, 2, 3}
	want := []time.Duration{0, 1, 2, 4, 1, 2, 1, 2, 4, 8, 16, 30, 30}
	for name, holds := range map[string]bool{"a server that waits": true, "one that does not": false} {
		synctest.Test(t, func(t *testing.T) {
			var got []time.Duration
			w := &waiting{b: &batchCall{p: &program{stdio: stdio{out: io.Discard, err: io.Discard}}}, id: "one"}
			w.job = func(_ context.Context, _ string, _ int, wait time.Duration) (*client.Job, error) {
				i := len(got)
				got = append(got, wait/time.Second)
				if holds && i > 0 && done[i] == done[i-1] {
					<-time.After(wait)
				}
				j := &client.Job{Job: sift.Job{Status: sift.JobRunning, TargetsDone: done[i]}, JSON: []byte(`{"targets":[]}`)}
				if len(got) == len(done) {
					j.Status = sift.JobDone
				}
				return j, nil
			}
			start := time.Now()
			if _, err := w.follow(t.Context()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, seconds (-want +got):\n%s", name, diff)
			}
			// Nine times nothing had changed.
			took, least := time.Since(start), 9*time.Second
			if holds {
				least = (1 + 2 + 1 + 1 + 2 + 4 + 8 + 16 + 30) * time.Second
			}
			if took != least {
				t.Errorf("%s: it took %v, not %v", name, took, least)
			}
		})
	}
}

// pflag takes what stands in back quotes for the name of a flag's value.
func TestNoSwitchSeemsToTakeAValueInItsHelp(t *testing.T) {
	t.Parallel()
	for path, c := range commands(t) {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Value.Type() == "bool" && strings.Contains(f.Usage, "`") {
				t.Errorf("%s --%s: %s", path, f.Name, f.Usage)
			}
		})
	}
}
