package api

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sift.build/sift/internal/sift"
)

// docs/http.md lists routes, fields, codes and headers; the lists are the code's.
func TestTheDocumentationListsWhatThereIs(t *testing.T) {
	raw, err := os.ReadFile("../../docs/http.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	rows := func(pattern string) [][]string {
		var out [][]string
		for _, m := range regexp.MustCompile("(?m)^\\| "+pattern).FindAllStringSubmatch(text, -1) {
			out = append(out, m[1:])
		}
		return out
	}

	var want [][]string
	for _, rt := range routes() {
		for _, m := range rt.methods {
			want = append(want, []string{m.name, rt.path, map[bool]string{true: "no", false: "yes"}[rt.open]})
		}
	}
	if diff := cmp.Diff(want, rows("`([A-Z]+) (/[^`]*)` \\| (yes|no) \\|")); diff != "" {
		t.Errorf("routes (-code +docs):\n%s", diff)
	}

	want = nil
	for _, f := range fields() {
		v := map[kind]string{kindText: "string", kindWhole: fmt.Sprintf("whole number from %s to %s", plain(f.low), plain(f.high)),
			kindNumber: "number from " + plain(f.low), kindFlag: "true or false"}[f.kind]
		if f.required {
			v += ", required"
		}
		if f.name == "mode" {
			v = "`" + strings.ReplaceAll(modeList(), ", ", "`, `") + "`"
		}
		want = append(want, []string{f.name, v})
	}
	_, part, _ := strings.Cut(text, "## Fields")
	part, _, _ = strings.Cut(part, "## Answers")
	var got [][]string
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| ([^|]+) \\|").FindAllStringSubmatch(part, -1) {
		got = append(got, m[1:])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fields (-code +docs):\n%s", diff)
	}
	if !strings.Contains(part, fmt.Sprintf("default %d", sift.DefaultMaxChars)) {
		t.Error("the default of max_chars is another")
	}

	// The fields of a batch, and the parameters of its states.
	describe := func(k kind, low, high float64, required bool) string {
		v := map[kind]string{kindList: "a list", kindFlag: "true or false", kindNumber: "number from " + plain(low) + " to " + plain(high),
			kindWhole: fmt.Sprintf("whole number from %s to %s", plain(low), plain(high))}[k]
		if required {
			v += ", required"
		}
		return v
	}
	want, got = nil, nil
	for _, f := range batchFields() {
		want = append(want, []string{f.name, describe(f.kind, f.low, f.high, f.required)})
	}
	for _, f := range jobFields() {
		want = append(want, []string{f.name, describe(f.kind, f.low, f.high, f.required)})
	}
	_, part, _ = strings.Cut(text, "## Batches")
	part, _, _ = strings.Cut(part, "## Failures")
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| ([^|]+) \\|").FindAllStringSubmatch(part, -1) {
		got = append(got, m[1:])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fields and parameters of batches (-code +docs):\n%s", diff)
	}
	for _, n := range []int{maxBody, maxBatchBody} {
		if !strings.Contains(text, fmt.Sprintf("one JSON object of at most %d KiB", n>>10)) {
			t.Errorf("that a body has at most %d bytes is not said", n)
		}
	}
	for _, list := range [][]string{words(sift.JobStatuses()), words(sift.TargetStatuses())} {
		for _, w := range list {
			if !strings.Contains(part, "`"+w+"`") {
				t.Errorf("the status %s is not explained", w)
			}
		}
	}

	// The examples work as they stand, whether there is a SIFT_URL or not.
	blocks := regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(text, -1)
	for _, m := range blocks {
		first, rest, _ := strings.Cut(m[1], "\n")
		if first != "SIFT_URL=${SIFT_URL:-http://127.0.0.1:8642}" || strings.Count(rest, "curl ") != strings.Count(rest, ` "$SIFT_URL/v1/`) {
			t.Errorf("an example does not begin with the server's address, or does not use it:\n%s", m[1])
		}
	}
	if len(blocks) < 2 {
		t.Errorf("there are %d examples", len(blocks))
	}

	want = nil
	for _, code := range sift.Codes() {
		want = append(want, []string{string(code), fmt.Sprint(Status(&sift.Failure{Code: code}))})
	}
	if diff := cmp.Diff(want, rows("`([a-z_0-9]+)` \\| (\\d{3}) \\|")); diff != "" {
		t.Errorf("codes (-code +docs):\n%s", diff)
	}

	want = nil
	for _, name := range []string{headerNextOffset, headerSnapshot, headerWarnings, headerHint, headerRecovered} {
		want = append(want, []string{name})
	}
	if diff := cmp.Diff(want, rows("`(X-Sift-[A-Za-z-]+)` \\|")); diff != "" {
		t.Errorf("headers (-code +docs):\n%s", diff)
	}
}
