package jq

import (
	"bytes"
	"errors"
	"os/exec"
	"strings"
	"testing"

	"sift.build/sift/internal/sift"
)

// ordinary are programs as people write them, with bodies.
func ordinary() [][2]string {
	const repo = `{"id":7,"name":"sift","private":false,"owner":{"login":"oak","id":1},"topics":["go","web","pdf"],"stars":12,"license":null,"issues":[{"n":1,"title":"Crash","labels":["bug","ui"],"open":true,"score":2.5},{"n":2,"title":"Docs","labels":[],"open":false,"score":1},{"n":3,"title":"Slow \"start\"","labels":["bug"],"open":true,"score":4}]}`
	const lines = "{\"k\":\"a\",\"v\":1}\n{\"k\":\"b\",\"v\":2}\n{\"k\":\"a\",\"v\":3}"
	const numbers = `[3,1,2,-5,2.5,0.25,1000000]`
	var list [][2]string
	for body, programs := range map[string][]string{
		repo: {
			".", ".name", ".owner.login", ".topics[0]", ".topics[-1]", ".topics[1:]", ".missing", ".missing?.x", ".license // \"none\"", ".issues | length",
			".issues[] | .title", ".issues[] | select(.open) | .n", "[.issues[] | {n, title}]", "{name, owner: .owner.login, count: (.issues | length)}",
			".issues | map(.score) | add", ".issues | map(select(.labels | index(\"bug\"))) | map(.n)", ".issues | sort_by(.score) | reverse | .[0].title",
			".issues | group_by(.open) | map({open: .[0].open, n: length})", ".issues | map({key: .title, value: .n}) | from_entries", ".issues | max_by(.score).n, min_by(.score).n",
			"[.issues[].labels[]] | unique", ".topics | join(\", \")", ".topics | to_entries", ".owner | to_entries | map(.key)", ".owner | with_entries(.value |= tostring)",
			"keys", ".topics | contains([\"go\"])", ".name | ascii_upcase, length, test(\"^s\"), ltrimstr(\"si\")", ".issues[] | \"\\(.n): \\(.title)\"", ".issues[] | [.n, .title, .open] | @csv",
			".issues[] | [.n, .title] | @tsv", ".name | @base64", ".name | @uri, @html, @json, @sh", "del(.issues, .owner)", ".stars += 1 | .stars", ".issues[0].labels |= sort | .issues[0].labels",
			"[paths(type == \"number\")] | length", "[.. | numbers] | add", "to_entries | map(select(.value | type == \"string\")) | from_entries", "has(\"name\"), has(\"x\")",
			"if .private then \"closed\" elif .stars > 10 then \"known\" else \"new\" end", "[.issues[] | .title | split(\" \")[0]]", "reduce .issues[] as $i ({}; .[$i.title] = $i.n)",
			"[foreach .issues[] as $i (0; . + $i.n)]", ".issues as [$first, $second] | [$first.n, $second.n]", ". as {name: $n, owner: {login: $l}} | \"\\($l)/\\($n)\"",
			"def big: .score > 2; [.issues[] | select(big) | .n]", "[limit(2; .issues[])] | map(.n)", "first(.issues[] | select(.n > 1)).title", "try (.name | tonumber) catch \"no number\"",
			"[.issues[] | .labels | any(. == \"ui\")]", "getpath([\"owner\", \"login\"])", "[.topics[] | {(.): length}] | add", ".topics | [.[] | explode | .[0]]", "[.topics | combinations(1)?]",
			".issues | map(.labels) | flatten", "[.topics, .topics] | transpose", ".topics | indices(\"web\")", ".issues | INDEX(.n) | keys", ".topics | map(sub(\"(?<x>.)\"; \"<\\(.x)>\"))", ".name | [match(\"i\").offset]",
			".issues | map(.title) | map(gsub(\"[aeiou]\"; \"_\"))", "[splits(\"x\")?]", ".topics | map(capture(\"(?<first>.)(?<rest>.*)\"))", "[scan(\"x\")?]", "walk(if type == \"boolean\" then not else . end) | .private", "env | type", "input_filename",
			"[.issues[] | select(.title | startswith(\"D\") or endswith(\"h\"))] | length", "[.issues[].n] | @text", ".owner + {extra: true}", ".owner * {login: \"elm\"}", "[.topics[] | select(. != \"go\")] | first, last", "tojson | length", "tojson | fromjson == .",
			"[range(0; 10; 3)]", "[1, [2]] | tostring", "{a: 1} | .b = 2", "[.[] | type]", "(.issues | length) as $n | $n * 2", ".issues | map(.score | floor)", "label $out | .issues[] | if .n == 2 then ., break $out else empty end | .n", "isvalid(.a)?",
			"1608422400 | todate", "\"2020-12-20T00:00:00Z\" | fromdate", "1608422400 | strftime(\"%Y-%m-%d\")", "\"a,b\" | split(\",\")", "[.topics | .[] | ascii_downcase | @json]", "[1,2,3] | IN(2)", "[1,2] - [2]", "{} | .a.b.c = 1", "[[1,2],[3]] | add", "null + 1", "[] | add", "\"x\" * 3",
		},
		lines:               {".v", "select(.k == \"a\")", "{k}", ".v + 1", "[., input] | map(.v)", "[., inputs] | map(.v) | add", "[.k, .v] | @csv", "try input catch \"none\" | .v?"},
		numbers:             {".", "sort", "add", "max, min", "map(. * 2)", "map(. / 2)", ".[0] / .[2]", "map(select(. > 1))", "map(tostring)", "map(floor)", "map(-.)", "[.[] | . % 3]", "map(sqrt? // 0) | length", "add / length", "unique", "index(2)", "map(. == 2.5)", "[.[:2], .[2:4]]", "bsearch(2)", "map(pow(.; 2))", "(.[0] | log2 | floor)"},
		`"Grüße, 日本 😀"`:     {".", "length", "utf8bytelength", "explode | implode", ".[0:3]", "ascii_downcase", "@uri", "@base64", "@html", "test(\"日\")", "split(\", \")", "tojson"},
		"[[1,2],[3,4]]":     {".[][0]", "map(add)", "flatten", "transpose", "[.[] | {a: .[0], b: .[1]}]", "combinations", "[paths]", "[leaf_paths]", "tostream", "fromstream(tostream)", "[getpath([0,1], [1,0])]"},
		"null true 1 \"a\"": {"type", ".", "not", "tostring", "[.]", ". == null", "(.. | scalars)"},
	} {
		for _, p := range programs {
			list = append(list, [2]string{p, body})
		}
	}
	return list
}

// differs says where what comes out here is meant to be something else than
// what jq 1.6 gives, and why. All of it stands in docs/jq.md.
func differs() map[string]string {
	const walk = "the values of an object are walked by the alphabet"
	return map[string]string{
		".owner | to_entries | map(.key)": walk, "[.[] | type]": walk, "[.topics[] | {(.): length}] | add": "keys that the body does not have are printed by the alphabet",
		".owner + {extra: true}":         "keys of a new set are printed in the order in which the body has them first",
		"input_filename":                 "null, and not a name that says nothing",
		"try input catch \"none\" | .v?": "it never looks at its input: it is run as with -n",
	}
}

func TestOrdinaryProgramsGiveWhatJQGives(t *testing.T) {
	path, err := exec.LookPath("jq")
	if err != nil {
		t.Logf("NOT COMPARED with the real jq, which is not installed (Debian: apt install jq): %v", err)
		return
	}
	version, err := exec.CommandContext(t.Context(), path, "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	r := newRunner(t, nil)
	same, differ, known := 0, 0, differs()
	for i, x := range ordinary() {
		if testing.Short() && i%5 != 0 {
			continue
		}
		program, body := x[0], x[1]
		cmd := exec.CommandContext(t.Context(), path, "-c", program)
		cmd.Stdin, cmd.Env = strings.NewReader(body), []string{"PATH=/nowhere"}
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		err := cmd.Run()
		if e := (*exec.ExitError)(nil); err != nil && !errors.As(err, &e) {
			t.Fatal(err)
		}
		want := strings.TrimSuffix(stdout.String(), "\n")
		res, ours := r.Run(t.Context(), Query{Program: program, Body: []byte(body), Lines: true})
		got := res.Content
		if ours != nil {
			got = sift.AsFailure(ours).Message
		}
		if (err != nil) == (ours != nil) && (got == want || err != nil) {
			same++
			continue
		}
		if known[program] != "" {
			differ++
			delete(known, program)
			continue
		}
		t.Errorf("%s on %.30s…\nhere  %s\nreal  %s %v %s", program, body, got, want, err, stderr.String())
	}
	for program := range known {
		if testing.Short() {
			break // it has not been looked at
		}
		t.Errorf("%s gives what jq gives, and is said to differ", program)
	}
	t.Logf("%d programs give what %s gives, %d differ on purpose", same, strings.TrimSpace(string(version)), differ)
}
