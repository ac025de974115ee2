package batch_test

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sift.build/sift/internal/batch"
	"sift.build/sift/internal/sift"
)

// arrows are changes of a state, one an operation: "queued > running by ClaimJob".
type arrows []string

func arrow(from, to, by string) string { return fmt.Sprintf("%s > %s by %s", from, to, by) }

func ofTable[S ~string](table []batch.Transition[S]) (a arrows) {
	for _, t := range table {
		for _, by := range t.By {
			a = append(a, arrow(string(t.From), string(t.To), by))
		}
	}
	slices.Sort(a)
	return a
}

// ofPage reads what a section of the page draws, and what its table says.
func ofPage(t *testing.T, section string) (drawn, listed arrows) {
	t.Helper()
	page, err := os.ReadFile("../../docs/batch-states.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, ok := strings.Cut(string(page), "\n## "+section+"\n")
	if !ok {
		t.Fatalf("there is no section %q", section)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	_, text, ok = strings.Cut(text, "```mermaid\nstateDiagram-v2\n")
	drawing, rest, closed := strings.Cut(text, "```\n")
	if !ok || !closed {
		t.Fatalf("there is no drawing in section %q", section)
	}
	state := func(s string) string { return strings.ReplaceAll(strings.TrimSpace(s), "[*]", "") }
	for line := range strings.Lines(drawing) {
		from, to, ok := strings.Cut(line, "-->")
		to, by, named := strings.Cut(to, ":")
		if !ok || !named {
			t.Fatalf("a line of the drawing is %q", line)
		}
		for op := range strings.SplitSeq(by, ",") {
			drawn = append(drawn, arrow(state(from), state(to), strings.TrimSpace(op)))
		}
	}
	for line := range strings.Lines(rest) {
		cells := strings.Split(line, "|")
		if len(cells) != 6 || strings.Contains(line, "---") || strings.Contains(line, "| from |") {
			continue
		}
		if strings.TrimSpace(cells[4]) == "" {
			t.Errorf("no word on when: %q", line)
		}
		for op := range strings.SplitSeq(cells[3], ",") {
			listed = append(listed, arrow(state(cells[1]), state(cells[2]), strings.TrimSpace(op)))
		}
	}
	slices.Sort(drawn)
	slices.Sort(listed)
	return drawn, listed
}

func TestTheDrawingOfTheStatesIsWhatTheCodeHolds(t *testing.T) {
	for section, want := range map[string]arrows{
		"A job": ofTable(batch.JobTransitions()), "A target": ofTable(batch.TargetTransitions()),
	} {
		drawn, listed := ofPage(t, section)
		if d := cmp.Diff(want, drawn); d != "" {
			t.Errorf("%s: the table of the code (-) and the drawing (+): %s", section, d)
		}
		if d := cmp.Diff(want, listed); d != "" {
			t.Errorf("%s: the table of the code (-) and the page's (+): %s", section, d)
		}
	}
}

func TestTheTablesOfStatesNameEveryStateAndOnlyOperationsOfAStore(t *testing.T) {
	checkTable(t, batch.JobTransitions(), sift.JobStatuses())
	checkTable(t, batch.TargetTransitions(), sift.TargetStatuses())
}

func checkTable[S ~string](t *testing.T, table []batch.Transition[S], all []S) {
	t.Helper()
	store := reflect.TypeFor[batch.Store]()
	var ops []string
	for m := range store.Methods() {
		ops = append(ops, m.Name)
	}
	reached := map[S]bool{"": true}
	for _, tr := range table {
		reached[tr.To] = true
		if tr.From != "" && !slices.Contains(all, tr.From) || tr.To != "" && !slices.Contains(all, tr.To) {
			t.Errorf("%q to %q is between states that do not exist", tr.From, tr.To)
		}
		for _, by := range tr.By {
			if !slices.Contains(ops, by) {
				t.Errorf("%q to %q is by %s, which no store has", tr.From, tr.To, by)
			}
		}
	}
	for _, s := range all {
		if !reached[s] {
			t.Errorf("nothing leads to %s", s)
		}
	}
}

// Of two changes from one state to another the table has one line.
func TestNoChangeStandsTwiceInATable(t *testing.T) {
	for name, table := range map[string]arrows{"job": ofTable(batch.JobTransitions()), "target": ofTable(batch.TargetTransitions())} {
		if c := slices.Compact(slices.Clone(table)); len(c) != len(table) {
			t.Errorf("%s: %v", name, table)
		}
	}
}
