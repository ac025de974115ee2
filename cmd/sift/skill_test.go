package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"sift.build/sift/internal/config"
	"sift.build/sift/internal/sift"
)

// skillFile is skill/SKILL.md: what agents are told. These tests hold it
// against the code.
type skillFile struct {
	text  string
	front map[string]string // the front matter
	body  string
}

func skill(t *testing.T) skillFile {
	t.Helper()
	raw, err := os.ReadFile("../../skill/SKILL.md")
	if err != nil {
		t.Fatal(err)
	}
	s := skillFile{text: string(raw), front: make(map[string]string)}
	head, ok := strings.CutPrefix(s.text, "---\n")
	if !ok {
		t.Fatal("it does not begin with front matter")
	}
	if head, s.body, ok = strings.Cut(head, "\n---\n"); !ok {
		t.Fatal("the front matter does not end")
	}
	for line := range strings.Lines(head) {
		// Plain scalars of one line, which is all that is needed here.
		name, value, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok || s.front[name] != "" || strings.ContainsAny(value, "\"'#[]{}&*!|>%@`") || strings.Contains(value, ": ") {
			t.Fatalf("%q is not a plain line of YAML", line)
		}
		s.front[name] = value
	}
	return s
}

// part is what stands under a heading.
func (s skillFile) part(t *testing.T, heading string) string {
	t.Helper()
	_, after, ok := strings.Cut(s.body, "\n## "+heading+"\n")
	if !ok {
		t.Fatalf("there is no heading %q", heading)
	}
	part, _, _ := strings.Cut(after, "\n## ")
	return part
}

// rows gives, for the table with that first cell in its head, the code in the first cells.
func rows(t *testing.T, part, head string) [][]string {
	t.Helper()
	_, table, ok := strings.Cut(part, "| "+head+" |")
	if !ok {
		t.Fatalf("there is no table of %s", head)
	}
	table, _, _ = strings.Cut(table, "\n\n")
	var out [][]string
	for _, m := range regexp.MustCompile("(?m)^\\| (`.*)\\|$").FindAllStringSubmatch(table, -1) {
		cells := strings.Split(m[1], " | ")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		out = append(out, cells)
	}
	return out
}

func firstCells(rows [][]string) []string {
	var out []string
	for _, r := range rows {
		out = append(out, codeOfText(r[0])...)
	}
	return out
}

var inlineCode = regexp.MustCompile("`([^`\n]+)`")

func codeOfText(text string) []string {
	var out []string
	for _, m := range inlineCode.FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	return out
}

func texts[T ~string](list []T) []string {
	var out []string
	for _, v := range list {
		out = append(out, string(v))
	}
	return out
}

func TestTheSkillHasTheFormOfOne(t *testing.T) {
	t.Parallel()
	s := skill(t)
	if s.front["name"] != "sift" {
		t.Errorf("the name is %q", s.front["name"])
	}
	if d := s.front["description"]; len(d) == 0 || len(d) >= 1024 {
		t.Errorf("the description has %d characters", len(d))
	}
	for name := range s.front {
		if !slices.Contains([]string{"name", "description", "license", "compatibility", "metadata", "allowed-tools"}, name) {
			t.Errorf("front matter has no %s", name)
		}
	}
	if n := strings.Count(s.text, "\n"); n >= 500 {
		t.Errorf("it has %d lines", n)
	}
	if first := s.body[strings.Index(s.body, "\n## "):]; !strings.HasPrefix(first, "\n## Commands\n") {
		t.Errorf("commands do not come first: %.40q", first)
	}
}

func TestTheSkillListsWhatThereIsAndNothingElse(t *testing.T) {
	t.Parallel()
	s := skill(t)
	compare := func(what string, want, got []string) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-code +skill):\n%s", what, diff)
		}
	}
	compare("modes", texts(sift.Modes()), firstCells(rows(t, s.part(t, "Options of a target"), "mode")))
	compare("hints", texts(sift.Hints()), firstCells(rows(t, s.part(t, "Hints"), "hint")))
	compare("warnings", texts(sift.WarningCodes()), firstCells(rows(t, s.part(t, "Warnings"), "code")))

	var codes []string
	for _, c := range sift.Codes() {
		codes = append(codes, fmt.Sprintf("`%s` %d", c, exitCode(c)))
	}
	var got []string
	for _, r := range rows(t, s.part(t, "Failures"), "code") {
		got = append(got, r[0]+" "+r[len(r)-1])
	}
	compare("codes and exit codes", codes, got)

	batches := s.part(t, "Batches")
	job := rows(t, batches, "key of a job")
	compare("keys of a job", keysOfType[sift.Job](), firstCells(job))
	compare("statuses of a job", texts(sift.JobStatuses()), codesBefore(job[1][1], texts(sift.JobStatuses())))
	target := rows(t, batches, "key of its target")
	compare("keys of a target", keysOfType[sift.JobTarget](), firstCells(target))
	compare("statuses of a target", texts(sift.TargetStatuses()), codeOfText(target[2][1]))

	// The envelope's stand in the order of use, not of the wire.
	envelope := firstCells(rows(t, s.part(t, "Reading an answer"), "key of an envelope"))
	want := append(keysOfType[sift.Answer](), "recovered", "cache", "timing")
	slices.Sort(envelope)
	slices.Sort(want)
	compare("keys of an envelope", want, envelope)
}

// codesBefore keeps of the code in text the words of a list.
func codesBefore(text string, list []string) []string {
	return slices.DeleteFunc(codeOfText(text), func(s string) bool { return !slices.Contains(list, s) })
}

// keysOfType lists the JSON keys of a type in their order.
func keysOfType[T any]() []string {
	var out []string
	for f := range reflect.TypeFor[T]().Fields() {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			out = append(out, name)
		}
	}
	return out
}

// apiFields reads the options of a target, and those that this build refuses,
// from docs/http.md, which a test of package api holds against the code.
func apiFields(t *testing.T) (options []string) {
	t.Helper()
	raw, err := os.ReadFile("../../docs/http.md")
	if err != nil {
		t.Fatal(err)
	}
	_, part, _ := strings.Cut(string(raw), "## Fields")
	part, _, _ = strings.Cut(part, "\n## ")
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\|").FindAllStringSubmatch(part, -1) {
		options = append(options, m[1])
	}
	if len(options) < 5 {
		t.Fatalf("options %q", options)
	}
	return options
}

func TestTheSkillOffersTheOptionsThatThereAreAndNoOther(t *testing.T) {
	t.Parallel()
	s := skill(t)
	options := apiFields(t)
	if diff := cmp.Diff(options, firstCells(rows(t, s.part(t, "Options of a target"), "option"))); diff != "" {
		t.Errorf("options (-code +skill):\n%s", diff)
	}
}

func TestEveryKeyOfTheSkillExists(t *testing.T) {
	t.Parallel()
	s := skill(t)
	options := apiFields(t)
	requests := append([]string{"targets", "fresh"}, options...)
	answers := slices.Concat([]string{"success", "recovered", "cache", "timing"}, keysOfType[sift.Answer](), keysOfType[sift.FailureJSON](), keysOfType[sift.Job](), keysOfType[sift.JobTarget](), keysOfType[sift.Submitted](), keysOfType[sift.Warning](), keysOfType[sift.Digest](), keysOfType[sift.Passage](), keysOfType[sift.Context](), keysOfType[sift.Recovered]())
	found := 0
	for line := range strings.Lines(s.text) {
		for _, m := range regexp.MustCompile(`-d '([^']*)'`).FindAllStringSubmatch(line, -1) {
			var body map[string]any
			if err := json.Unmarshal([]byte(m[1]), &body); err != nil {
				t.Errorf("%s: %v", m[1], err)
				continue
			}
			for _, key := range keysIn(body) {
				found++
				if !slices.Contains(requests, key) {
					t.Errorf("%s: there is no option %s", m[1], key)
				}
			}
		}
		for _, code := range codeOfText(line) {
			for _, m := range regexp.MustCompile(`"([A-Za-z_]+)":`).FindAllStringSubmatch(code, -1) {
				found++
				if !slices.Contains(answers, m[1]) && !slices.Contains(requests, m[1]) {
					t.Errorf("%s: there is no key %s", code, m[1])
				}
			}
		}
	}
	if found < 12 {
		t.Errorf("only %d keys were found", found)
	}
	// Whatever stands as code and looks like a word of ours is one.
	known := slices.Concat(answers, requests, texts(sift.Modes()), texts(sift.Codes()), texts(sift.Hints()), texts(sift.WarningCodes()), texts(sift.JobStatuses()), texts(sift.TargetStatuses()),
		[]string{"restart", "after", "wait"})
	for _, code := range codeOfText(s.text) {
		if regexp.MustCompile(`^[a-z][a-z0-9_]*$`).MatchString(code) && !slices.Contains(known, code) {
			t.Errorf("`%s` is no word of sift", code)
		}
	}
}

// keysIn lists the keys of an object and of those in it.
func keysIn(v any) []string {
	var out []string
	switch v := v.(type) {
	case map[string]any:
		for k, inner := range v {
			out = append(append(out, k), keysIn(inner)...)
		}
	case []any:
		for _, inner := range v {
			out = append(out, keysIn(inner)...)
		}
	}
	return out
}

func TestEveryCommandLineOfTheSkillIsTaken(t *testing.T) {
	t.Parallel()
	s := skill(t)
	all := commands(t)
	lines := codeOfText(s.text)
	for _, m := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(s.text, -1) {
		lines = append(lines, strings.Split(m[1], "\n")...)
	}
	checked := make(map[string]bool)
	flag := regexp.MustCompile(`^--[a-z-]+`)
	for _, line := range lines {
		line, _, _ = strings.Cut(strings.TrimSpace(line), " #")
		line, _, _ = strings.Cut(line, " >")
		words := strings.Fields(line)
		if len(words) > 0 && flag.MatchString(words[0]) { // a flag alone
			if !slices.ContainsFunc(slices.Collect(maps.Values(all)), func(c *cobra.Command) bool { return c.Flags().Lookup(words[0][2:]) != nil }) {
				t.Errorf("no command has %s", words[0])
			}
			continue
		}
		if len(words) < 2 || words[0] != "sift" {
			continue
		}
		n := 1
		for n < len(words) && all[strings.Join(words[:n+1], " ")] != nil {
			n++
		}
		path := strings.Join(words[:n], " ")
		c := all[path]
		if n == 1 || c.HasSubCommands() {
			t.Errorf("%q: there is no such command", line)
			continue
		}
		checked[path] = true
		for _, w := range words[n:] {
			if name := flag.FindString(w); name != "" && c.Flags().Lookup(name[2:]) == nil {
				t.Errorf("%q: %s has no %s", line, path, name)
			}
		}
		// A name alone is no call.
		if args := words[n:]; len(args) > 0 && strings.HasPrefix(path, "sift batch ") {
			if err := c.Args(c, slices.DeleteFunc(slices.Clone(args), flag.MatchString)); err != nil {
				t.Errorf("%q: %v", line, err)
			}
		}
	}
	for _, want := range []string{"sift fetch", "sift batch submit", "sift batch status", "sift batch wait", "sift batch cancel", "sift batch list", "sift explain", "sift serve"} {
		if !checked[want] {
			t.Errorf("%s is not in it", want)
		}
	}
	for _, route := range []string{"POST /v1/fetch", "POST /v1/batch", "GET /v1/batch/JOB?wait="} {
		if !strings.Contains(s.text, route) {
			t.Errorf("%s is not in it", route)
		}
	}
}

func TestTheFiguresOfTheSkillAreTheDefaults(t *testing.T) {
	t.Parallel()
	s := skill(t)
	cfg, err := config.Load("", []string{"HOME=" + t.TempDir()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		fmt.Sprintf("default %d", sift.DefaultMaxChars),
		fmt.Sprintf("(%d KiB at most)", maxBatch>>10),
		fmt.Sprintf("- %d targets a job, ", cfg.Batch.TargetsPerJob),
		fmt.Sprintf("kept for %d hours", int(cfg.Batch.TTL.Hours())),
		"http://" + cfg.Listen,
		"port than " + strconv.Itoa(int(cfg.Guard.Ports[0])) + " and " + strconv.Itoa(int(cfg.Guard.Ports[1])),
	} {
		if !strings.Contains(s.text, want) {
			t.Errorf("%q is not in it", want)
		}
	}
	if cfg.Batch.JobsPerCaller != 1 || !strings.Contains(s.text, "one live job at a time for you") {
		t.Errorf("a caller may have %d jobs", cfg.Batch.JobsPerCaller)
	}
}

// The pages are not there for the server, which has another name server to
// ask; everything else about the requests is as it is written.
func TestEveryRequestOfTheSkillIsTaken(t *testing.T) {
	t.Parallel()
	site, dir := newSite(t), t.TempDir()
	s := serve(t, dir, nil, "--config", writeFile(t, dir, "sift.toml", site.settings("")+caller("ann")))
	request := regexp.MustCompile(`^curl -s "\$SIFT_URL(/[^"]*)" -H "Authorization: Bearer \$SIFT_KEY"( -H 'Accept: ([a-z/]+)')?( -d '([^']*)')?$`)
	job, taken := "", 0
	// They begin with the address, which holds where SIFT_URL says no other.
	_, block, _ := strings.Cut(skill(t).text, "```sh\n")
	setting := regexp.MustCompile("(?m)^SIFT_URL=.*$").FindString(block)
	if at := strings.Index(block, setting); setting == "" || at > strings.Index(block, "curl -s") {
		t.Errorf("%q does not come first", setting)
	}
	for env, want := range map[string]string{"NONE=": "http://127.0.0.1:8642", "SIFT_URL=": "http://127.0.0.1:8642", "SIFT_URL=http://a.example": "http://a.example"} {
		sh := exec.CommandContext(t.Context(), "sh", "-uc", setting+"; printf %s \"$SIFT_URL\"")
		sh.Env = []string{env}
		if got, err := sh.Output(); err != nil || string(got) != want {
			t.Errorf("with %s %q gives %q, %v", env, setting, got, err)
		}
	}
	for line := range strings.Lines(skill(t).text) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "curl") {
			continue
		}
		m := request.FindStringSubmatch(line)
		if m == nil {
			t.Errorf("%q is no request that this test understands", line)
			continue
		}
		method := "GET"
		if m[5] != "" {
			method = "POST"
		}
		got := ask(method, s.url+strings.Replace(m[1], "JOB", job, 1), keyOf("ann"), m[5], "Accept", m[3])
		want := 502 // there is no such name
		switch {
		case strings.HasPrefix(m[1], "/v1/batch/"):
			want = 200
		case m[1] == "/v1/batch":
			want = 202
			var answer sift.Submitted
			if err := json.Unmarshal([]byte(got.body), &answer); err != nil {
				t.Errorf("%q: %v", got.body, err)
			}
			job = answer.JobID
		}
		if got.status != want || want == 502 && !strings.Contains(got.body, `"code":"unreachable"`) {
			t.Errorf("%q: %+v", line, got)
		}
		taken++
	}
	if taken < 4 {
		t.Errorf("only %d requests", taken)
	}
}
