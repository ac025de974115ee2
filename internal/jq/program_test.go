package jq

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"sift.build/sift/internal/sift"
)

func TestABrokenProgramIsRefusedWithItsPlaceAndWhatToDo(t *testing.T) {
	for program, want := range map[string][]string{
		"":                         {"empty program"},
		" \n":                      {"empty program"},
		".a |\n .b |":              {"it ends too early", "line 2, column 6", "` .b |`"},
		".items[] | {a: .b":        {"it ends too early", "line 1, column 18"},
		"..a":                      {`unexpected token "a"`, "line 1, column 3"},
		"\"ä\" | [.b}":             {`unexpected token "}"`, "line 1, column 10", "[.b ⟨here⟩ }`"},
		`"abc`:                     {"unterminated string"},
		`"\x"`:                     {`invalid escape sequence "\x"`},
		".[] | selct(.a)":          {"selct/1", "line 1, column 7", "is select meant?"},
		"[.[] | lenght]":           {"lenght/0", "is length meant?"},
		"map(.; .)":                {"map/2", "map takes 1 argument"},
		"range":                    {"range/0", "range takes 1 or 2 or 3 arguments"},
		`"\(.a | foo)"`:            {"foo/0", "line 1, column 9"},
		"# foo\n.a | foo":          {"foo/0", "line 2, column 6"},
		`"foo" | foo`:              {"foo/0", "line 1, column 9"},
		".foo | foo":               {"foo/0", "line 1, column 8"},
		"$x":                       {"variable $x", "line 1, column 1", "$ENV"},
		". as $x | $xy":            {"variable $xy", "line 1, column 11"},
		"break $out":               {"label $out", "line 1, column 7"},
		`import "a" as a; a::f`:    {"import", "no modules"},
		`include "a"; .`:           {"include", "no modules"},
		`"a" | modulemeta`:         {"modulemeta", "no modules"},
		"get_search_list":          {"get_search_list", "no modules"},
		"$__loc__":                 {"$__loc__"},
		"input_line_number":        {"input_line_number", "lines"},
		".a | @base32":             {"@base32", "line 1, column 6", "@base64"},
		"'.a'":                     {"quotes of the shell"},
		"jq .a":                    {"without the word jq"},
		"-r .a":                    {"options"},
		"--slurp '.a'":             {"options"},
		".a == 'b'":                {"double quotes"},
		"\x00.":                    {"zero byte"},
		"\"\xff\"":                 {"UTF-8"},
		strings.Repeat(".", 16385): {"16385 bytes", "16384"},
		strings.Repeat("[", 1001) + strings.Repeat("]", 1001): {"deep"},
	} {
		f := asFailure(t, Parse(program))
		if f.Code != sift.CodeInvalid || !strings.HasPrefix(f.Message, "jq has ") {
			t.Errorf("%q: %v", program, f)
		}
		for _, w := range want {
			if !strings.Contains(f.Message, w) {
				t.Errorf("%q: %s, which does not say %q", program, f.Message, w)
			}
		}
	}
}

func asFailure(t *testing.T, err error) *sift.Failure {
	t.Helper()
	if err == nil {
		t.Error("no failure")
		return &sift.Failure{}
	}
	return sift.AsFailure(err)
}

func TestOrdinaryProgramsAreAccepted(t *testing.T) {
	for _, program := range []string{
		".", ".a", ".a.b[0]?", ".[] | {id, name: .n}", "[.[] | select(.a > 1) | .b] | sort_by(.x) | unique",
		"def f(g; $x): g + $x; f(.a; 1)", "reduce .[] as [$a, {b: $c}] (0; . + $a + $c)", "label $out | .[] | break $out",
		"$ENV.PATH, env.HOME, now, input_filename, (1 | debug), debug(\"x\"), stderr, halt, halt_error", "inputs", "[limit(3; input)]",
		"try error catch .", `"a\(1 + 2)b" | @base64 "x\(.)"`, "getpath([\"a\"]), paths, leaf_paths, keys_unsorted, ascii, todate, toarray",
		"def input_line_number: 1; input_line_number", ". as [$a] ?// $a | $a", ".a |= 1 | .b += 2 | del(.c)", "# comment\n.a # another", "@json, @text, @csv \"\\(.)\"",
	} {
		if err := Parse(program); err != nil {
			t.Errorf("%s: %v", program, err)
		}
	}
}

// What is compiled in the service must not take long there, whatever it is.
func TestNoProgramIsLongInCompiling(t *testing.T) {
	fill := func(parts ...string) string { // head, repeated, middle, repeated, tail
		n := (MaxProgram - len(parts[0]) - len(parts[2]) - len(parts[4])) / max(len(parts[1])+len(parts[3]), 1)
		return parts[0] + strings.Repeat(parts[1], n) + parts[2] + strings.Repeat(parts[3], n) + parts[4]
	}
	for name, program := range map[string]string{
		"pipes":          fill("", ".|", ".", "", ""),
		"commas":         fill("", ".,", ".", "", ""),
		"minuses":        fill("", "-", "1", "", ""),
		"additions":      fill("", "1+", "1", "", ""),
		"alternatives":   fill("", "1//", "1", "", ""),
		"patterns":       fill("", ". as [$a] ?// $b | ", ".", "", ""),
		"more patterns":  fill(". as $a", "?//$a", "|.", "", ""),
		"tries":          fill("", "try ", ".", "", ""),
		"reduces":        nest("reduce . as $a(.;", ".", ")"),
		"functions":      fill("", "def f:.;", "f", "", ""),
		"inner ones":     fill("", "def f:", ".", ";.", ""),
		"calls of all":   "def f(a):a;" + nest("f(", ".", ")"),
		"each other":     doubling(900),
		"questions":      fill(".a", "?", "", "", ""),
		"indexes":        fill("", ".[0]", "", "", ""),
		"strings":        nest(`"\(`, "1", `)"`),
		"ifs":            fill("if . then . ", "elif . then . ", "else . end", "", ""),
		"labels":         fill("", "label $a|", "break $a", "", ""),
		"big number":     fill("", "9", "", "", ""),
		"names":          fill("", "a", "", "", ""),
		"updates":        fill("", ".a|=", ".", "", ""),
		"objects":        fill("{a:1", ",a:1", "}", "", ""),
		"open brackets":  fill("", "[", "", "", ""),
		"comments":       fill("", "#\n", ".", "", ""),
		"objects in it":  nest("{a:", ".", "}"),
		"interpolations": fill(`"`, `\(1)`, "", "", `"`),
	} {
		start := time.Now()
		err := Parse(program)
		if took := time.Since(start); took > 3*time.Second {
			t.Errorf("%s: %v, %v", name, took, err)
		} else if took > 200*time.Millisecond {
			t.Logf("%s: %v", name, took)
		}
	}
}

// nest puts as much into itself as a program may.
func nest(before, inner, after string) string {
	n := min(maxNesting-1, (MaxProgram-100)/(len(before)+len(after)))
	return strings.Repeat(before, n) + inner + strings.Repeat(after, n)
}

// doubling defines functions of which each calls the next one twice.
func doubling(n int) string {
	var b strings.Builder
	b.WriteString("def f0:inputs;")
	for i := 1; b.Len() < MaxProgram-100 && i < n; i++ {
		b.WriteString("def f" + strconv.Itoa(i) + ":f" + strconv.Itoa(i-1) + ",f" + strconv.Itoa(i-1) + ";")
	}
	return b.String() + "f1"
}

func TestItIsKnownWhetherAProgramLooksAtItsInput(t *testing.T) {
	for program, want := range map[string]bool{
		"inputs": false, "[inputs]": false, "[inputs | .a]": false, "input.a": false, "reduce inputs as $x (0; . + $x.n)": false,
		"foreach inputs as $x (0; . + 1; [$x, .])": false, "[limit(3; inputs)]": false, "first(inputs | select(.a))": false,
		"[inputs] | group_by(.k) | map({k: .[0].k, n: length})": false, "def count(s): reduce s as $_ (0; . + 1); count(inputs)": false,
		"input as $head | [inputs | {($head[0]): .[0]}]": false, "{n: [inputs] | length}": false, "\"\\([inputs] | length)\"": false,
		"try input catch .": false, "label $f | inputs | if .a then ., break $f else empty end": false, "[range(3) as $i | input]": false,
		"if (input | .a) then 1 else 2 end": false, "-(input)": false, "input // 1": false, "@base64 \"\\(input)\"": false, "{\"a\": input, (\"b\"): 1}": false,
		"isempty(inputs)": false, "def f: def g: inputs; g; [f]": false, "def f: if input then f else 1 end; f": false, "$ENV, inputs": false,

		"., inputs": true, "[., inputs]": true, ". as $first | inputs": true, ".a, input": true, "[.[], inputs[]]": true, "reduce inputs as $x (.; . + $x)": true,
		"{a, b: input}": true, "length, input": true, "map(.), input": true, "if . then input else 1 end": true, "if true then input end": true,
		"[inputs, (.a | 1)]": true, "def f: .a; [f, inputs]": true, "def f(g): g; [f(.a), inputs]": true, "def inputs: .a; inputs": true, ".. , input": true,
		"input[.a]": true, "@json, input": true, "input |= 1": true, "\"\\(.a)\\(input)\"": true, "try .a catch 1, input": true, "-.a, input": true,
		"foreach inputs as $x (.; .; .)": true, "limit(.n; inputs)": true, "def f: input; def f(g): .; [f, f(1)]": true, "label $f | ., input": true,
	} {
		p, err := compile(program, newReader("", false, newKeyOrder()), newKeyOrder())
		if err != nil {
			t.Errorf("%s: %v", program, err)
			continue
		}
		if p.nothing == want {
			t.Errorf("%s: it is said to look at its input: %v", program, !p.nothing)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, p := range []string{".", ".a[0] | {b, \"c\": 1}", "def f($x): reduce inputs as $y (0; . + $x); f(1)", "'.a'", "\"\\(1", "@foo \"a\"", ". as {a: [$b]} ?// $b | $b", "if . then 1 elif 2 then 3 end", "$__loc__", "label $x | break $x", "\\", "..", "1e1000, 0x1"} {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, program string) {
		late := time.AfterFunc(10*time.Second, func() { panic(fmt.Sprintf("%q is compiled without an end", program)) })
		defer late.Stop()
		err := Parse(program)
		if err == nil {
			return
		}
		fail := sift.AsFailure(err)
		if fail.Code != sift.CodeInvalid {
			t.Fatalf("%q: %v (%v)", program, fail, fail.Cause)
		}
		if !utf8.ValidString(fail.Message) || utf8.RuneCountInString(fail.Message) > 2000 ||
			strings.ContainsFunc(fail.Message, func(r rune) bool { return r != utf8.RuneError && !unicode.IsPrint(r) }) {
			t.Fatalf("%q: %q cannot be shown", program, fail.Message)
		}
	})
}
