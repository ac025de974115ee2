package jq

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sift.build/sift/internal/child"
	"sift.build/sift/internal/sift"
)

// hostile is a program that is out for harm, and what may become of it.
type hostile struct {
	program, body string
	codes         []sift.Code // "": it may also succeed
}

func hostilePrograms() []hostile {
	const ok = sift.Code("")
	tooMuch := []sift.Code{sift.CodeTooLong, sift.CodeTimeout}
	long := fmt.Sprintf("%q", strings.Repeat("aaaaaaaaab", 100_000)) // a megabyte
	many := "[" + strings.Repeat("1,", 999_999) + "1]"
	return []hostile{
		// E05 to E09 of the list of hostile queries.
		{program: ".a[536870911]=1", codes: tooMuch},
		{program: `"x"*1000000000`, codes: tooMuch},
		{program: "def f: [f]; f", codes: tooMuch},
		{program: "[range(1e8)]", codes: tooMuch},
		{program: "repeat(1)", codes: []sift.Code{ok, sift.CodeTimeout}},
		{program: "[limit(1e8; repeat(1))]", codes: tooMuch},
		{program: "def f: f; f", codes: tooMuch},
		{program: "reduce range(26) as $i (12345678901234567890; . * .)", codes: tooMuch},
		// Recursion and generators.
		{program: "def f: 1 + f; f", codes: tooMuch},
		{program: "def f(g): f(g | g); f(.)", codes: tooMuch},
		{program: "limit(1e9; repeat(0)) | empty", codes: tooMuch},
		{program: "[recurse([.])] | length", codes: tooMuch},
		{program: "reduce range(3000000) as $i (1; [.])", codes: tooMuch},
		{program: "last(range(1e12))", codes: tooMuch},
		{program: "[range(60)] | [combinations(60)] | length", codes: tooMuch},
		{program: "[range(10)] | [[., .], [., .], [., .], [., .]] | combinations", codes: append(tooMuch, ok)},
		{program: "until(false; . + 1)", body: "0", codes: tooMuch},
		{program: "[.[] as $a | .[] as $b | $a]", body: many, codes: tooMuch},
		{program: "try (def f: f; f) catch 1", codes: tooMuch},
		{program: "label $x | repeat(1) | select(. == 2)", codes: tooMuch},
		{program: "[inputs] | repeat(inputs)", body: "1 2 3", codes: []sift.Code{ok, sift.CodeTimeout, sift.CodeInvalid}},
		{program: "def f: (try input catch 1) | f; f", body: "1 2 3", codes: tooMuch},
		// Values that hold themselves many times.
		{program: "reduce range(60) as $i (1; [., .])", codes: tooMuch},
		{program: "reduce range(60) as $i (1; [., .]) | tojson | length", codes: tooMuch},
		{program: "reduce range(60) as $i (1; {a: ., b: .}) | [..] | length", codes: tooMuch},
		{program: "reduce range(60) as $i (1; [., .]) | [paths] | length", codes: tooMuch},
		{program: "reduce range(60) as $i (1; [., .]) | . == .", codes: tooMuch},
		{program: "reduce range(60) as $i (1; [., .]) | flatten", codes: tooMuch},
		{program: "reduce range(26) as $i (\"xxxxxxxxxx\"; . + .)", codes: tooMuch},
		// Paths.
		{program: "getpath([\"a\", 1e9])", codes: []sift.Code{ok}},
		{program: "[getpath(range(1e8) | [.])]", codes: append(tooMuch, sift.CodeInvalid)},
		{program: "setpath([1e9]; 1)", body: "null", codes: append(tooMuch, sift.CodeInvalid)},
		{program: "setpath([100000000]; 1)", body: "null", codes: append(tooMuch, sift.CodeInvalid)},
		{program: "[path(..)] | length", body: many, codes: append(tooMuch, ok)},
		{program: "path(repeat(.a))", codes: []sift.Code{ok, sift.CodeTimeout}},
		{program: "delpaths([range(1000000) | [.]])", body: many, codes: append(tooMuch, ok)},
		// Strings.
		{program: `. * 1000`, body: long, codes: tooMuch},
		{program: "[.[:range(1000000)]] | length", body: long, codes: tooMuch},
		{program: "[range(300) as $i | tojson | tojson] | length", body: long, codes: append(tooMuch, ok)},
		{program: "reduce range(40) as $i (.; tojson)", body: `"\""`, codes: tooMuch},
		{program: "reduce range(80) as $i (.; @base64)", body: long, codes: tooMuch},
		{program: "explode | [., ., ., .] | map(implode) | add | explode | implode | length", body: long, codes: append(tooMuch, ok)},
		{program: "[range(100000000)] | implode", codes: tooMuch},
		{program: "reduce range(200000) as $i (.; ltrimstr(\"a\"))", body: long, codes: append(tooMuch, ok)},
		{program: "[splits(\"a\")] | length", body: long, codes: append(tooMuch, ok)},
		{program: "gsub(\"a\"; \"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\") | length", body: long, codes: append(tooMuch, ok)},
		{program: `[match(""; "g")] | length`, body: long, codes: append(tooMuch, ok)},
		{program: `test("(a+a+)+c")`, body: long, codes: []sift.Code{ok}},
		{program: `test("(?:(?:a{1,30}){1,30})z")`, body: long, codes: append(tooMuch, ok)},
		{program: `test("((((a{10}){10}){10}){10})")`, body: `"a"`, codes: []sift.Code{sift.CodeInvalid}},
		{program: `[range(1000000) | tostring as $r | "a" | test($r)] | length`, codes: append(tooMuch, ok)},
		{program: `[.[] | @base64d] | length`, body: "[" + strings.Repeat(`"`+strings.Repeat("QUFB", 1000)+`",`, 1000) + `""]`, codes: append(tooMuch, ok)},
		{program: `split("") | map(ascii_downcase) | join("") | length`, body: long, codes: append(tooMuch, ok)},
		// Numbers and dates.
		{program: "[range(1000) | pow(10; .) | tostring]", codes: []sift.Code{ok}},
		{program: "9999999999999999999 as $x | reduce range(1e6) as $i (1; . * $x) | tostring | length", codes: tooMuch},
		{program: ". + 1 | . * . | tostring | length", body: strings.Repeat("9", 5_000_000), codes: append(tooMuch, ok)},
		{program: ". % 97", body: strings.Repeat("9", 5_000_000), codes: append(tooMuch, ok)},
		{program: "1e1000 * 1e1000, -1e1000, (1e308 * 10 | floor), ([1e1000] | implode)", codes: []sift.Code{ok, sift.CodeInvalid}},
		{program: `strftime("%1000000000Y")`, body: "0", codes: append(tooMuch, ok, sift.CodeInvalid)},
		{program: `strftime("%c" * 10000000) | length`, body: "0", codes: append(tooMuch, ok)},
		{program: "1e18 | todate, gmtime, (. * 1e300 | todate)", codes: []sift.Code{ok, sift.CodeInvalid}},
		{program: "[range(1000000)] | group_by(. % 1000) | map(add) | add, ([range(1000000)] | sort_by(-.) | .[0])", codes: append(tooMuch, ok)},
		{program: "transpose | length", body: "[[" + strings.Repeat("1,", 20000) + "1]" + strings.Repeat(",[]", 20000) + "]", codes: append(tooMuch, ok)},
		// The body.
		{program: "length", body: "[" + strings.Repeat("{},", 3_400_000) + "{}]", codes: append(tooMuch, ok)},
		{program: "length", body: "[" + strings.Repeat("[1],", 2_600_000) + "1]", codes: append(tooMuch, ok)},
		{program: ".", body: strings.Repeat("[", 5_000_000) + strings.Repeat("]", 5_000_000), codes: []sift.Code{sift.CodeUnsupported}},
		{program: "length", body: `{"a":` + strings.Repeat(`{"a":`, 9_998) + "1" + strings.Repeat("}", 9_999), codes: []sift.Code{ok}},
		{program: "[..] | length", body: strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000), codes: []sift.Code{ok}},
		{program: "length", body: "{" + strings.Repeat(`"k":0,`, 600_000) + `"k":1}`, codes: []sift.Code{ok}},
		{program: "empty", body: strings.Repeat("1 ", 5_000_000), codes: append(tooMuch, ok)},
		{program: ".", body: `"` + strings.Repeat(`\u0000`, 1_700_000) + `"`, codes: []sift.Code{ok, sift.CodeTooLong}},
	}
}

// ownPeak is the most memory that this process has held since the count was
// last begun anew; 0 where that cannot be told.
func ownPeak(t *testing.T) int64 {
	t.Helper()
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(b), "VmHWM:")
	var kib int64
	if _, err := fmt.Sscan(rest, &kib); err != nil {
		t.Fatal(err)
	}
	return kib << 10
}

func TestNoProgramHarmsMoreThanItself(t *testing.T) {
	all := hostilePrograms()
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // where there is no such file nothing is counted
	before := ownPeak(t)

	type told struct {
		usage child.Usage
		err   error
	}
	var table sync.Mutex
	lines := make([]string, 0, len(all))
	next := make(chan hostile)
	var workers sync.WaitGroup
	launcher := child.Config{Memory: 2 * memory}
	for range 2 {
		workers.Go(func() {
			var last told
			l := launcher
			l.Trace = &child.Trace{Ended: func(_ string, u child.Usage, err error) { last = told{u, err} }}
			r := New(Config{Launcher: child.New(l)})
			r.limits.cpu = time.Second      // half of what the product gives, which takes half as long
			r.limits.wall = 5 * time.Minute // a child that gets little of a busy machine is no slower for it
			for h := range next {
				if h.body == "" {
					h.body = "{}"
				}
				start := time.Now()
				res, err := r.Run(context.Background(), Query{Program: h.program, Body: []byte(h.body)})
				took, u := time.Since(start), last.usage
				var code sift.Code
				var text string
				if err != nil {
					f := sift.AsFailure(err)
					code, text = f.Code, f.Message
				}
				if !slices.Contains(h.codes, code) {
					t.Errorf("%s: %q (%s; %v), and not one of %q", h.program, code, text, last.err, h.codes)
				}
				if u.CPU > time.Second+500*time.Millisecond {
					t.Errorf("%s: %v of processor time", h.program, u.CPU)
				}
				if u.MaxRSS > memory+16<<20 {
					t.Errorf("%s: %d MB", h.program, u.MaxRSS>>20)
				}
				if code != "" && text == "" || len(res.Content) > MaxOutput {
					t.Errorf("%s: %d bytes, failure %q", h.program, len(res.Content), text)
				}
				// The next request is fine.
				if res, err := r.Run(context.Background(), Query{Program: ".a", Body: []byte(`{"a":12345678901234567890}`)}); err != nil || res.Content != "12345678901234567890" {
					t.Errorf("after %s: %v, %v", h.program, res, err)
				}
				table.Lock()
				lines = append(lines, fmt.Sprintf("%5.2f s CPU %5.2f s %4d MB  %-8s %s", u.CPU.Seconds(), took.Seconds(), u.MaxRSS>>20, code, h.program))
				table.Unlock()
			}
		})
	}
	run := 0
	for i, h := range all {
		if testing.Short() && i%12 != 1 {
			continue
		}
		run++
		next <- h
	}
	close(next)
	workers.Wait()
	t.Logf("%d of %d programs:\n%s", run, len(all), strings.Join(lines, "\n"))

	// Bodies of 10 MiB and outputs of as much, twice at once.
	if grown := ownPeak(t) - before; grown > 120<<20 {
		t.Errorf("this process has grown by %d MB", grown>>20)
	}
	if kids := children(t); len(kids) > 0 {
		t.Errorf("there are children left: %q", kids)
	}
}

// children lists the children of this process.
func children(t *testing.T) []string {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/children", os.Getpid()))
	if err != nil {
		t.Logf("NOT CHECKED: nothing tells the children of this process: %v", err)
		return nil
	}
	var list []string
	for pid := range bytes.FieldsSeq(b) {
		list = append(list, string(pid))
	}
	return list
}

func TestTheClockEndsAProgramToo(t *testing.T) {
	r := newRunner(t, func(r *Runner) { r.limits.wall = 300 * time.Millisecond })
	f := failure(t, r, Query{Program: "def f: f; f", Body: []byte("1")})
	if f.Code != sift.CodeTimeout || !strings.Contains(f.Message, "longer than 300ms") || !strings.Contains(f.Message, "narrow it") {
		t.Error(f)
	}
	f = failure(t, newRunner(t, func(r *Runner) { r.limits.cpu = time.Second }), Query{Program: "1, (def f: f; f)", Body: []byte("1")})
	if f.Code != sift.CodeTimeout || !strings.Contains(f.Message, "more than 1s of processor time") {
		t.Error(f)
	}
}

// E10: nothing of the service is to be had.
func TestAProgramSeesNothingOfTheService(t *testing.T) {
	t.Setenv("SIFT_JQ_SECRET", "a secret of the service")
	r := newRunner(t, nil)
	for _, program := range []string{"env", "$ENV", "[env.SIFT_JQ_SECRET, $ENV.SIFT_JQ_SECRET]", "[builtins, now, input_filename, env] | tojson | test(\"secret\")"} {
		if res := result(t, r, Query{Program: program, Body: []byte("1")}); strings.Contains(res.Content, "secret of") || strings.Contains(res.Content, "true") {
			t.Errorf("%s: %s", program, res.Content)
		}
	}
	for _, program := range []string{`import "a" as $a; $a`, `include "/etc/passwd"; .`, `import "/etc/passwd" as $a {search: "/"}; $a`, `"/etc/passwd" | modulemeta`, "get_search_list", "input_line_number", `$__prog_args`} {
		if f := failure(t, r, Query{Program: program, Body: []byte("1")}); f.Code != sift.CodeInvalid {
			t.Errorf("%s: %v", program, f)
		}
	}
}
