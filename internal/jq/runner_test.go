package jq

import (
	"context"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sift.build/sift/internal/child"
	"sift.build/sift/internal/sift"
)

func TestAProgramRunsOnABody(t *testing.T) {
	const ids = `{"items":[{"id":9007199254740993,"parent":12345678901234567890,"ratio":0.10},{"id":9007199254740995,"parent":null,"ratio":2}]}`
	type run struct {
		program, body string
		want          Result
	}
	r := newRunner(t, nil)
	for _, x := range []run{
		{".items[] | .id", ids, Result{Content: "9007199254740993\n9007199254740995", Outputs: 2}},
		{".", ids, Result{Content: ids, Outputs: 1}},
		{".items[0] | {ratio, id, next: (.parent + 1)}", ids, Result{Content: `{"ratio":0.10,"id":9007199254740993,"next":12345678901234567891}`, Outputs: 1}},
		{"empty", ids, Result{}},
		{".[] | .", "[1e400, 3.14159265358979323846264338327950288, -0, 1.0]", Result{Content: "1e400\n3.14159265358979323846264338327950288\n-0\n1.0", Outputs: 4}},
		{".[] | . + 0", "[1e400, 3.14159265358979323846264338327950288, 1.0]", Result{Content: "1.7976931348623157e+308\n3.141592653589793\n1", Outputs: 3}},
		{". * . * .", "12345678901234567890", Result{Content: "1881676372353657772490265749424677022198701224860897069000", Outputs: 1}},
		{". == 9007199254740992", "9007199254740993", Result{Content: "false", Outputs: 1}},
		{"unique", "[9007199254740993,9007199254740992,9007199254740993,0.10,0.1]", Result{Content: "[0.10,9007199254740992,9007199254740993]", Outputs: 1}},
		{"tojson, tostring", "[0.10,12345678901234567890]", Result{Content: `"[0.10,12345678901234567890]"` + "\n" + `"[0.10,12345678901234567890]"`, Outputs: 2}},
		{".a", `{"a":1,"a":2}`, Result{Content: "2", Outputs: 1}},
		{".", "NaN [Infinity]", Result{Content: "null\n[1.7976931348623157e+308]", Outputs: 2}},
		{".a", "\uFEFF{\"a\":\"\u00e9\"}", Result{Content: `"é"`, Outputs: 1}},
		{"env, $ENV, env.PATH, input_filename", "1", Result{Content: "{}\n{}\nnull\nnull", Outputs: 4}},
		{"debug, debug(\"x\"), stderr", "1", Result{Content: "1\n1\n1", Outputs: 3}},
		{"1, halt, 2", "7 8", Result{Content: "1", Outputs: 1}},
		{"now | . > 1700000000", "1", Result{Content: "true", Outputs: 1}},
		{"localtime == gmtime, strflocaltime(\"%Z\")", "0", Result{Content: "true\n\"UTC\"", Outputs: 2}},
		{"getpath([\"a\",1e9]), getpath([\"b\", \"c\"])", `{"a":[1]}`, Result{Content: "null\nnull", Outputs: 2}},
		{".[] | try error catch .", `["x",{"a":1}]`, Result{Content: "\"x\"\n{\"a\":1}", Outputs: 2}},
		{"@base64d", `"aGk="`, Result{Content: `"hi"`, Outputs: 1}},
		// Several documents.
		{".a", `{"a":1}{"a":2}` + "\n" + `{"a":3}`, Result{Content: "1\n2\n3", Outputs: 3}},
		{"[inputs.a]", `{"a":1} {"a":2}`, Result{Content: "[1,2]", Outputs: 1}},
		{"[., inputs] | length", "1 2 3", Result{Content: "3", Outputs: 1}},
		{"[., input]", "1 2 3 4", Result{Content: "[1,2]\n[3,4]", Outputs: 2}},
		{"first(inputs)", "1 [", Result{Content: "1", Outputs: 1}}, // what is not asked for is not read
		{"reduce inputs as $x (0; . + $x)", "1 2 3", Result{Content: "6", Outputs: 1}},
		{"[inputs]", "5", Result{Content: "[5]", Outputs: 1}},
	} {
		for _, lines := range []bool{false, true} {
			if d := cmp.Diff(x.want, result(t, r, Query{Program: x.program, Body: []byte(x.body), Lines: lines})); d != "" {
				t.Errorf("%s on %s (-want +got)\n%s", x.program, x.body, d)
			}
		}
	}
}

func TestDeepJSONIsReadAndWritten(t *testing.T) {
	deep := strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth)
	r := newRunner(t, nil)
	if res := result(t, r, Query{Program: ".", Body: []byte(deep)}); res.Content != deep {
		t.Errorf("it became %.60q", res.Content)
	}
	f := failure(t, r, Query{Program: ".", Body: []byte("[" + deep + "]")})
	if f.Code != sift.CodeUnsupported || !strings.Contains(f.Message, "10000 in each other") {
		t.Error(f)
	}
}

func TestAFailureSaysWhatIsWrongAndWhatToDo(t *testing.T) {
	r := newRunner(t, nil)
	for _, x := range []struct {
		name string
		q    Query
		code sift.Code
		want []string
	}{
		{"broken", Query{Program: ".rows[].a", Body: []byte(`{"rows":[{"a":1},{"a":2},{"a":`), MediaType: "application/json"}, sift.CodeUnsupported,
			[]string{"(application/json) is not valid JSON", "ends at line 1, column 31 (byte 30)", "a JSON value is expected", `"a":2},{"a": ⟨here⟩`, "mode raw"}},
		{"broken in the middle", Query{Program: ".", Body: []byte("{\n \"a\": 1,\n \"b\": oops\n}"), Kind: "JSON"}, sift.CodeUnsupported,
			[]string{"at line 3, column 7 (byte 17) stands \"oops\", where a JSON value is expected", "` \"b\":  ⟨here⟩ oops`"}},
		{"broken, and taken for text", Query{Program: ".", Body: []byte(`{"a":1,}`), Kind: "plain text", MediaType: "application/json"}, sift.CodeUnsupported,
			[]string{"is not valid JSON, and looks like plain text", "line 1, column 8"}},
		{"a broken line", Query{Program: ".a", Body: []byte("{\"a\":1}\n{\"a\":2\n{\"a\":3}"), Lines: true}, sift.CodeUnsupported,
			[]string{"line 2, column 7", "the end of the line", "document 2"}},
		{"a broken document read with input", Query{Program: "[., (try input catch 1)], input", Body: []byte("1 [} 3")}, sift.CodeUnsupported, []string{"line 1, column 4", "document 2"}},
		{"empty", Query{Program: ".", MediaType: "application/json"}, sift.CodeUnsupported, []string{"the body is empty (application/json)"}},
		{"blank", Query{Program: "inputs", Body: []byte("\uFEFF \r\n")}, sift.CodeUnsupported, []string{"the body is empty"}},
		{"HTML", Query{Program: ".a", Body: []byte("<!DOCTYPE html>\n<p>x"), MediaType: "text/html; charset=utf-8", Kind: "HTML"}, sift.CodeUnsupported,
			[]string{"this is not JSON but HTML (text/html; charset=utf-8)", "leave jq out"}},
		{"HTML that nobody has recognised", Query{Program: ".a", Body: []byte("\n<p>x"), MediaType: "application/json"}, sift.CodeUnsupported, []string{"not JSON but HTML or XML (application/json)"}},
		{"PDF", Query{Program: ".a", Body: []byte("%PDF-1.7\n"), Kind: "PDF"}, sift.CodeUnsupported, []string{"not JSON but PDF"}},
		{"text that begins like JSON", Query{Program: ".a", Body: []byte("true stories"), Kind: "plain text"}, sift.CodeUnsupported, []string{"not JSON but plain text"}},
		{"CSV", Query{Program: ".a", Body: []byte("1,2\n3,4"), Kind: "CSV"}, sift.CodeUnsupported, []string{"not JSON but CSV"}},
		{"too large", Query{Program: ".", Body: make([]byte, MaxBody+1)}, sift.CodeTooLong, []string{"10.0 MiB", "at most 10 MiB"}},
		{"no program", Query{Body: []byte("1")}, sift.CodeInvalid, []string{"empty program"}},
		{"not an object", Query{Program: ".[].a", Body: []byte(`[{"a":1},[2]]`)}, sift.CodeInvalid,
			[]string{"failed after 1 output", "expected an object but got: array ([2])", "?"}},
		{"not to be iterated", Query{Program: ".a[]", Body: []byte(`{"a":null}`)}, sift.CodeInvalid, []string{"cannot iterate over: null"}},
		{"at a document", Query{Program: ".a", Body: []byte("{\"a\":1}\n{\"a\":2}\n[3]\n{}")}, sift.CodeInvalid, []string{"after 2 outputs, at document 3 (line 3)"}},
		{"not to be added", Query{Program: ".a + 1", Body: []byte(`{"a":"x"}`)}, sift.CodeInvalid, []string{`cannot add: string ("x") and number (1)`}},
		{"an error of its own", Query{Program: "error(\"no \\u202egood\\n\")", Body: []byte("1")}, sift.CodeInvalid, []string{"error: no \uFFFDgood"}},
		{"an end of its own", Query{Program: "1, halt_error", Body: []byte(`"bye\n"`)}, sift.CodeInvalid, []string{"ended itself after 1 output", "bye"}},
		{"one input too many", Query{Program: ".a, input", Body: []byte("{}")}, sift.CodeInvalid, []string{"no more documents for input"}},
		{"an unknown format", Query{Program: "format(\"base32\")", Body: []byte("1")}, sift.CodeInvalid, []string{"format not defined: @base32"}},
		{"a bad pattern", Query{Program: `test("(?<=a)b")`, Body: []byte(`"ab"`)}, sift.CodeInvalid, []string{"invalid regular expression"}},
	} {
		f := failure(t, r, x.q)
		if f.Code != x.code {
			t.Errorf("%s: %v", x.name, f)
		}
		for _, w := range x.want {
			if !strings.Contains(f.Message, w) {
				t.Errorf("%s: %s, which does not say %q", x.name, f.Message, w)
			}
		}
	}
}

func TestOutputIsCutAfterAWholeOutput(t *testing.T) {
	r := newRunner(t, func(r *Runner) { r.limits.output = 100 })
	if d := cmp.Diff(Result{Content: strings.Repeat("123456789\n", 9) + "123456789", Outputs: 10, Cut: true}, result(t, r, Query{Program: "repeat(.)", Body: []byte("123456789")})); d != "" {
		t.Errorf("endless (-want +got)\n%s", d)
	}
	if d := cmp.Diff(Result{Content: strings.Repeat("1\n", 49) + "1", Outputs: 50}, result(t, r, Query{Program: "limit(50; repeat(.))", Body: []byte("1")})); d != "" {
		t.Errorf("as much as there is room for (-want +got)\n%s", d)
	}
	if d := cmp.Diff(Result{Content: "1", Outputs: 1, Cut: true}, result(t, r, Query{Program: ".[0], .", Body: []byte("[1" + strings.Repeat(",1", 60) + "]")})); d != "" {
		t.Errorf("a long one behind a short one (-want +got)\n%s", d)
	}
	f := failure(t, r, Query{Program: ".", Body: []byte("[1" + strings.Repeat(",1", 60) + "]")})
	if f.Code != sift.CodeTooLong || !strings.Contains(f.Message, "longer than 100 bytes; narrow it") {
		t.Error(f)
	}
	// What is longer than a message's worth comes in several.
	r = newRunner(t, nil)
	res := result(t, r, Query{Program: "range(100000)", Body: []byte("1")})
	if res.Outputs != 100000 || !strings.HasPrefix(res.Content, "0\n1\n") || !strings.HasSuffix(res.Content, "\n99999") || res.Cut {
		t.Errorf("%d outputs, %d bytes", res.Outputs, len(res.Content))
	}
}

func TestBodiesOfTheLargestSizeAreRead(t *testing.T) {
	var b strings.Builder
	b.WriteString("[")
	n := 0
	for b.Len() < MaxBody-1000 {
		if n++; n > 1 {
			b.WriteString(",\n ")
		}
		b.WriteString(`{"id": 123456, "title": "Something does not work", "state": "open", "user": {"login": "octocat", "id": 1, "url": "https://api.example.org/users/octocat"}, "labels": [{"name": "bug", "color": "f29513"}], "body": "It is described here in a few words, which are not many."}`)
	}
	b.WriteString("]")
	r := newRunner(t, nil)
	for program, want := range map[string]int{"length": n, "map(select(.state == \"open\") | .user.login) | length": n, "[.[] | tojson] | length": n} {
		if res := result(t, r, Query{Program: program, Body: []byte(b.String())}); res.Content != strconv.Itoa(want) {
			t.Errorf("%s: %s and not %d", program, res.Content, want)
		}
	}
	if res := result(t, r, Query{Program: ".", Body: []byte(b.String())}); res.Cut || len(res.Content) < MaxBody/2 {
		t.Errorf("%d bytes, cut: %v", len(res.Content), res.Cut)
	}
}

// endless is a program that runs until it is ended.
const endless = "def f: f; f"

// running gives a runner that tells when a child has begun.
func running(edit func(*Runner)) (*Runner, <-chan struct{}, func() []error) {
	begun := make(chan struct{}, 100)
	var mu sync.Mutex
	var ends []error
	launcher := child.New(child.Config{Memory: 640 << 20, Trace: &child.Trace{
		Started: func(string, time.Duration) { begun <- struct{}{} },
		Ended: func(_ string, _ child.Usage, err error) {
			mu.Lock()
			defer mu.Unlock()
			ends = append(ends, err)
		},
	}})
	r := New(Config{Launcher: launcher})
	r.limits.cpu, r.limits.wall = time.Minute, time.Minute
	if edit != nil {
		edit(r)
	}
	return r, begun, func() []error {
		mu.Lock()
		defer mu.Unlock()
		return append([]error{}, ends...)
	}
}

func TestARunEndsWithTheLastWhoWaitsForIt(t *testing.T) {
	r, begun, ends := running(nil)
	q := Query{Program: endless, Body: []byte("1"), Caller: "a"}
	first, leaveFirst := context.WithCancel(t.Context())
	second, leaveSecond := context.WithCancel(t.Context())
	defer leaveSecond()
	got := make(chan error, 2)
	go func() { _, err := r.Run(first, q); got <- err }()
	<-begun
	go func() { _, err := r.Run(second, q); got <- err }()
	for r.pool.Waiting(q.key()) == 0 {
		waitALittle()
	}
	leaveFirst()
	if err := <-got; !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if n := ends(); len(n) != 0 {
		t.Fatalf("the run has ended though one waits for it: %v", n)
	}
	leaveSecond()
	if err := <-got; !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if n := ends(); len(n) != 1 {
		t.Fatalf("Run has returned, and the child is not gone: %v", n)
	}
	if used, waiting := r.launcher.Load(); used != 0 || waiting != 0 {
		t.Errorf("%d bytes are given out, %d wait", used, waiting)
	}
	if got := result(t, r, Query{Program: ".", Body: []byte("1"), Caller: "b"}); got.Content != "1" {
		t.Errorf("the next one gives %v", got)
	}
}

// waitALittle lets others run; what is waited for is in another process.
func waitALittle() { <-time.After(time.Millisecond) }

func TestTheSameProgramOnTheSameBodyRunsOnce(t *testing.T) {
	r, _, ends := running(nil)
	var all sync.WaitGroup
	start := make(chan struct{})
	for i := range 20 {
		all.Go(func() {
			<-start
			res, err := r.Run(t.Context(), Query{Program: "[range(300000)] | length", Body: []byte("1"), Caller: strconv.Itoa(i), Key: "k"})
			if err != nil || res.Content != "300000" {
				t.Errorf("%v, %v", res, err)
			}
		})
	}
	close(start)
	all.Wait()
	if n := len(ends()); n > 10 {
		t.Errorf("%d runs for 20 callers", n)
	}
}

func TestWhoComesWhileARunIsBeingEndedGetsAResult(t *testing.T) {
	r, begun, _ := running(nil)
	for i := range 20 {
		q := Query{Program: "[range(100000)] | length", Body: []byte("1"), Key: strconv.Itoa(i)}
		ctx, leave := context.WithCancel(t.Context())
		left := make(chan struct{})
		go func() {
			defer close(left)
			_, _ = r.Run(ctx, q)
		}()
		<-begun
		go leave()
		if res, err := r.Run(t.Context(), q); err != nil || res.Content != "100000" {
			t.Fatalf("%v, %v", res, err)
		}
		<-left
		for len(begun) > 0 {
			<-begun
		}
	}
}

func TestAFullPoolSaysBusy(t *testing.T) {
	r, begun, _ := running(nil)
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	start := func(caller string) {
		all.Go(func() { _, _ = r.Run(ctx, Query{Program: endless, Body: []byte("1"), Caller: caller, Key: caller}) })
	}
	start("a")
	<-begun
	f := failure(t, r, Query{Program: ".", Body: []byte("1"), Caller: "a"})
	if f.Code != sift.CodeBusy || f.Hint != sift.HintRetry || f.RetryAfter <= 0 || !strings.Contains(f.Message, "this caller already has") {
		t.Error(f)
	}
	start("b")
	<-begun
	for i := range 8 {
		start("c" + strconv.Itoa(i))
	}
	for _, queued := r.Load(); queued < 8; _, queued = r.Load() {
		waitALittle()
	}
	f = failure(t, r, Query{Program: ".", Body: []byte("1"), Caller: "d"})
	if f.Code != sift.CodeBusy || f.Hint != sift.HintRetry || f.RetryAfter <= 0 || !strings.Contains(f.Message, "too many") {
		t.Error(f)
	}
}

func TestARunThatGetsNoMemoryIsBusy(t *testing.T) {
	r, _, _ := running(func(r *Runner) {
		r.launcher = child.New(child.Config{Memory: memory})
		r.wait, r.limits.wall = 0, time.Millisecond
	})
	// Somebody else's child has all of it.
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	held := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		_, err := r.launcher.Run(t.Context(), child.Spec{Program: "/bin/cat", Input: in, Memory: memory, CPU: time.Second, Wall: time.Minute, MaxOutput: 1}, func(r io.Reader) error {
			close(held)
			_, err := io.Copy(io.Discard, r)
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
	<-held
	f := failure(t, r, Query{Program: ".", Body: []byte("1")})
	if f.Code != sift.CodeBusy || f.Hint != sift.HintRetry || !strings.Contains(f.Message, "no memory") {
		t.Error(f, f.Cause)
	}
	out.Close()
	all.Wait()
	in.Close()
}

func TestWhatHasEndedIsNotBegun(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r, begun, _ := running(nil)
	if _, err := r.Run(ctx, Query{Program: ".", Body: []byte("1")}); !errors.Is(err, context.Canceled) || len(begun) > 0 {
		t.Error(err, len(begun))
	}
}

func TestALauncherThatCannotRunAChildIsOurFault(t *testing.T) {
	r := New(Config{Launcher: child.New(child.Config{Memory: 1 << 20})})
	if f := failure(t, r, Query{Program: ".", Body: []byte("1")}); f.Code != sift.CodeInternal || f.Cause == nil {
		t.Error(f)
	}
}
