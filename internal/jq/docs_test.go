package jq

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// docs/jq.md tells the limits; they are the code's.
func TestThePageTellsTheLimitsAsTheyAre(t *testing.T) {
	raw, err := os.ReadFile("../../docs/jq.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(raw)
	r := New(Config{})
	for _, want := range []string{
		fmt.Sprintf("| program | %s, brackets %d deep |", size(MaxProgram), maxNesting), fmt.Sprintf("| body | %s |", size(MaxBody)),
		fmt.Sprintf("| output | %s |", size(MaxOutput)), fmt.Sprintf("| memory | %s |", size(memory)), fmt.Sprintf("| processor time | %v |", strings.Replace(cpu.String(), "s", " s", 1)),
		fmt.Sprintf("| time on the clock | %v |", strings.Replace(wall.String(), "s", " s", 1)),
		fmt.Sprintf("| at once | 2 running, 8 more waiting %v at most", strings.Replace(r.wait.String(), "s", " s", 1)), "more than 10,000 deep",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("it does not say %q", want)
		}
	}
	// What it says to be refused is, and what it recommends is understood.
	_, rest, _ := strings.Cut(page, "- Refused by name: ")
	refused, _, _ := strings.Cut(rest, ".\n")
	for name := range strings.SplitSeq(refused, ", ") {
		program := strings.Trim(name, "`")
		if program == "import" || program == "include" {
			program += ` "a" as a; .`
		}
		if Parse(program) == nil {
			t.Errorf("%s is not refused", program)
		}
	}
	_, rest, _ = strings.Cut(page, "| as with | write |\n| --- | --- |\n")
	table, _, _ := strings.Cut(rest, "\n\n")
	for row := range strings.SplitSeq(table, "\n") {
		program := strings.ReplaceAll(strings.Trim(strings.Split(strings.Trim(row, "| "), " | ")[1], "`"), `\|`, "|")
		if err := Parse(program); err != nil {
			t.Errorf("%s: %v", program, err)
		}
	}
}
