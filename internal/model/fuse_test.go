package model

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sift.build/sift/internal/digest"
	"sift.build/sift/internal/sift"
)

// farm is a page of which each section is a passage.
func farm(t *testing.T, question string, n int) *digest.Ranking {
	t.Helper()
	var b strings.Builder
	text := digest.Text{Markdown: true}
	for i := range n {
		text.Headings = append(text.Headings, sift.Heading{Level: 2, Text: fmt.Sprint("Part ", i), Offset: b.Len()})
		fmt.Fprintf(&b, "## Part %d\n\nThe farmer keeps animals of kind %d.", i, i)
		if i == 3 {
			b.WriteString(" A tractor stands there.")
		}
		b.WriteString("\n\n")
	}
	text.Content = b.String()
	k, err := digest.RankAll(t.Context(), text, question, digest.Options{}, 512)
	if err != nil {
		t.Fatal(err)
	}
	if len(k.Passages) != n {
		t.Fatalf("%d passages, want %d", len(k.Passages), n)
	}
	return &k
}

// at gives the passages at these places in the order of the content.
func at(k *digest.Ranking, order []int) []string {
	var out []string
	for _, i := range order {
		out = append(out, k.Passages[i].Heading)
	}
	return out
}

func TestRankingsAreFusedByReciprocalRank(t *testing.T) {
	k := farm(t, "Where does the tractor stand?", 5)
	if !k.Answered || k.Ranked != 1 {
		t.Fatalf("answered %v, %d ranked", k.Answered, k.Ranked)
	}
	near := make([]float64, 5)
	for i, p := range k.Passages {
		near[i] = map[string]float64{"Part 0": 0.1, "Part 1": 0.5, "Part 2": 0.4, "Part 3": 0.3, "Part 4": 0.2}[p.Heading]
	}
	p := fuse(k, near)
	// Part 3: 3/61 + 1/63. The others: 1/61, 1/62, 1/64, 1/65.
	if diff := cmp.Diff([]string{"Part 3", "Part 1", "Part 2", "Part 4", "Part 0"}, at(k, p.order)); diff != "" {
		t.Error(diff)
	}
	if want := (3.0/61 + 1.0/63) * 61 / 4; p.scores[0] < want-1e-9 || p.scores[0] > want+1e-9 || !slices.IsSortedFunc(p.scores, func(a, b float64) int { return int(1e9 * (b - a)) }) {
		t.Errorf("scores %v, want %v first", p.scores, want)
	}
	if !p.answered || p.near != 2 || p.firsts != 1 || p.method != sift.DigestHybrid {
		t.Errorf("%+v", p)
	}
}

func TestWhetherAnythingAnswersIsDecidedByWordsAndMeaning(t *testing.T) {
	for _, c := range []struct {
		question     string
		near, others float64
		want         bool
	}{
		{"Where does the tractor stand?", answersBeside - 0.01, 0, false},
		{"Where does the tractor stand?", answersBeside, answersBeside, true},
		{"Where does the automobile park?", answersAlone - 0.01, 0, false},
		{"Where does the automobile park?", answersAlone, 0, true},
		{"Where does the automobile park?", 0.7, 0.7 - standsOut - 0.01, true},
		{"Where does the automobile park?", 0.7, 0.7 - standsOut + 0.01, false},
		{"Where does the automobile park?", -0.1, -0.9, false},
	} {
		k := farm(t, c.question, 5)
		near := slices.Repeat([]float64{c.others}, 5)
		near[2] = c.near
		p := fuse(k, near)
		if p.answered != c.want {
			t.Errorf("%s %v beside %v: %v", c.question, c.near, c.others, p.answered)
		}
		if !k.Answered && c.want && p.order[0] != 2 {
			t.Errorf("%s: the nearest passage is not the first of %v", c.question, p.order)
		}
	}
}

func TestTheOnlyPassageStandsOut(t *testing.T) {
	k := farm(t, "Where does the automobile park?", 1)
	if p := fuse(k, []float64{answersAlone}); !p.answered {
		t.Error("it does not answer")
	}
}

func TestEachOfTwoQuestionsHasItsPassageFirst(t *testing.T) {
	k := farm(t, "Where does the tractor stand and what is part 4 of?", 5)
	best, firsts := k.Order()
	if firsts != 2 {
		t.Fatalf("%d firsts", firsts)
	}
	near := make([]float64, 5)
	other := slices.IndexFunc(k.Passages, func(p sift.Passage) bool { return p.Heading == "Part 0" })
	near[other] = 0.9
	p := fuse(k, near)
	for _, i := range best[:firsts] {
		if !slices.Contains(p.order[:p.firsts], i) {
			t.Errorf("passage %d is not among the first %d of %v", i, p.firsts, p.order)
		}
	}
	if len(p.order) != 5 || p.firsts > 3 {
		t.Errorf("%+v", p)
	}
}

func TestTheScaleOfCosinesIsThatOfTheModel(t *testing.T) {
	v := func(x, y, z float32) []float32 {
		u, _ := unit([]float32{x, y, z})
		return u
	}
	question := v(1, 0, 0)
	cohort := [][]float32{v(0.7, 0.7, 0), v(0.7, 0, 0.7)}
	got := nearness(question, [][]float32{v(1, 0, 0), v(0.7, 0.7, 0), v(0, 1, 0)}, cohort)
	if got[0] < 0.999 || got[1] > 1e-6 || got[1] < -1e-6 || got[2] > -1 {
		t.Errorf("%v, want 1, 0 and less", got)
	}
	if got := nearness(question, [][]float32{question}, [][]float32{question}); got[0] != 0 {
		t.Errorf("%v of a model that has all texts in one place", got)
	}
}

func TestTheCohortIsOfTextsAboutAnything(t *testing.T) {
	texts := cohortTexts()
	if len(texts) < 16 || slices.Contains(texts, "") {
		t.Errorf("%d texts", len(texts))
	}
}

func TestATextIsCutToWhatSmallModelsRead(t *testing.T) {
	if s := clip(strings.Repeat("é", 2*textMax)); len([]rune(s)) != textMax {
		t.Errorf("%d characters", len([]rune(s)))
	}
	if s := clip(strings.Repeat("語", textMax)); len([]rune(s)) != textMax/3 {
		t.Errorf("%d characters", len([]rune(s)))
	}
	if s := clip("short"); s != "short" {
		t.Error(s)
	}
}
