package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// row is how docs/configuration.md shows a field.
func row(f Field) string {
	code := func(s, none string) string {
		if s == "" {
			return none
		}
		return "`" + s + "`"
	}
	return "| `" + f.Key + "` | " + code(f.Default, "required") + " | " + f.Allowed + " | " + code(f.Env, "file only") + " | " + f.Meaning + " |"
}

func reference(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", "configuration.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestTheReferenceShowsEveryKeyAsItIs(t *testing.T) {
	var got, want []string
	for line := range strings.Lines(reference(t)) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "| `") && strings.Count(line, " | ") == 4 {
			got = append(got, line)
		}
	}
	for _, f := range Fields() {
		want = append(want, row(f))
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("docs/configuration.md (-the code, +the reference):\n%s", d)
	}
}

func TestTheReferenceNamesEveryVariableAndNoOther(t *testing.T) {
	doc := reference(t)
	known := otherVariables()
	for _, f := range Fields() {
		if f.Env != "" {
			known = append(known, f.Env)
		}
	}
	for _, v := range known {
		if !strings.Contains(doc, "`"+v) {
			t.Errorf("the reference does not name %s", v)
		}
	}
	for word := range strings.FieldsFuncSeq(doc, func(r rune) bool { return r != '_' && (r < 'A' || r > 'Z') && (r < '0' || r > '9') }) {
		if strings.HasPrefix(word, "SIFT_") && word != "SIFT_" && word != "SIFT_SECTION_KEY" && !slices.Contains(known, word) {
			t.Errorf("the reference names %s, which sets nothing", word)
		}
	}
}

// tomlBlocks are the examples of the reference.
func tomlBlocks(t *testing.T) []string {
	t.Helper()
	var out []string
	for i, part := range strings.Split(reference(t), "```toml\n") {
		if i > 0 {
			block, _, _ := strings.Cut(part, "```")
			out = append(out, block)
		}
	}
	if len(out) < 2 {
		t.Fatalf("found %d examples", len(out))
	}
	return out
}

func TestTheExamplesOfTheReferenceLoad(t *testing.T) {
	for _, block := range tomlBlocks(t) {
		if _, err := Load(write(t, block), home, nil); err != nil {
			t.Errorf("%v\n%s", err, block)
		}
	}
}

func TestTheFirstExampleHoldsTheDefaults(t *testing.T) {
	c, err := Load(write(t, tomlBlocks(t)[0]), home, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := Default()
	want.DataDir = "/home/u/.local/state/sift"
	if d := cmp.Diff(want, c); d != "" {
		t.Error(d)
	}
}
