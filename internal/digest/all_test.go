package digest

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sift.build/sift/internal/sift"
)

func rankAll(t testing.TB, text Text, question string, o Options, limit int) Ranking {
	t.Helper()
	r, err := RankAll(t.Context(), text, question, o, limit)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// farm has n sections, of which those whose number is a multiple of ten name the
// tractor.
func farm(n int) Text {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "## Part %d\n\nThe farmer of house %d keeps animals of many kinds.", i, i)
		if i%10 == 0 {
			b.WriteString(" The tractor stands there.")
		}
		b.WriteString("\n\n")
	}
	return markdown(b.String())
}

func TestAllPassagesOfAContentAreRankedWhereAskedFor(t *testing.T) {
	text := markdown(manual)
	r := rankAll(t, text, "How do I restore?", Options{}, 512)
	few, err := Rank(t.Context(), text, "How do I restore?", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(few.Passages) == 0 || few.Ranked != len(few.Passages) || len(r.Passages) <= len(few.Passages) {
		t.Fatalf("%d passages of %d, %d of them ranked", len(few.Passages), len(r.Passages), few.Ranked)
	}
	if diff := cmp.Diff(few.Passages, r.Passages[:len(few.Passages)]); diff != "" {
		t.Error("the best are not the same: ", diff)
	}
	if few.Answered != r.Answered || few.Margin != r.Margin {
		t.Errorf("answered %v by %v, and %v by %v", few.Answered, few.Margin, r.Answered, r.Margin)
	}
	if diff := cmp.Diff(few.Digest(), r.Digest()); diff != "" {
		t.Error("the digest is not the same: ", diff)
	}
	var whole []string
	for i, p := range r.Passages {
		if p.N != i+1 || (p.Score > 0) != (i < r.Ranked) {
			t.Errorf("passage %d has number %d and score %v, %d are ranked", i+1, p.N, p.Score, r.Ranked)
		}
		if i > r.Ranked && p.Start < r.Passages[i-1].Start {
			t.Errorf("passage %d stands before the one before it", i+1)
		}
		whole = append(whole, p.Text)
	}
	for _, want := range []string{"one binary", "Team", "thirty days", "keeper restore", "MaxBoxSize", "error 507", "help@", "--quiet"} {
		if !slices.ContainsFunc(whole, func(s string) bool { return strings.Contains(s, want) }) {
			t.Errorf("%q is in no passage", want)
		}
	}
}

func TestWhatDoesNotFitIsTakenByItsWordsThenEvenly(t *testing.T) {
	r := rankAll(t, farm(2000), "Where is the tractor?", Options{}, 300)
	if len(r.Passages) != 300 || r.Ranked != 200 {
		t.Fatalf("%d passages, %d of them ranked, want 300 and 200", len(r.Passages), r.Ranked)
	}
	last := r.Passages[len(r.Passages)-1]
	if total := len([]rune(farm(2000).Content)); last.Start < total*9/10 || r.Passages[200].Start > total/10 {
		t.Errorf("from %d to %d of %d", r.Passages[200].Start, last.Start, total)
	}
	if r := rankAll(t, farm(2000), "Where is the tractor?", Options{}, 100); len(r.Passages) != 100 || r.Ranked != 100 {
		t.Errorf("%d passages, %d of them ranked, want 100 and 100", len(r.Passages), r.Ranked)
	}
	// Fewer than Rank gives is no less than Rank gives.
	if r := rankAll(t, farm(2000), "Where is the tractor?", Options{}, 1); len(r.Passages) != MaxRanked {
		t.Errorf("%d passages, want %d", len(r.Passages), MaxRanked)
	}
}

func TestAQuestionWithoutAWordOfThePageHasPassagesForAnotherMeasure(t *testing.T) {
	r := rankAll(t, farm(3), "Quantenphysik", Options{}, 10)
	if len(r.Passages) != 3 || r.Ranked != 0 || r.Answered || r.Margin >= 0 {
		t.Fatalf("%+v", r)
	}
	d := r.DigestOf(Choice{Method: sift.DigestHybrid, Order: []int{2}, Scores: []float64{0.75}})
	if len(d.Passages) != 1 || d.Passages[0].Score != 0.75 || d.Passages[0].Heading != "Part 2" || d.Answer != "The farmer of house 2 keeps animals of many kinds." {
		t.Errorf("%+v", d)
	}
	if d := r.Digest(); len(d.Passages) != 0 {
		t.Errorf("%+v", d)
	}
}

func TestARankingThatIsHeldIsSmall(t *testing.T) {
	const size = 1 << 20
	for name, text := range hostile(size) {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		k := rankAll(t, text, dear, Options{}, 100)
		runtime.GC()
		runtime.ReadMemStats(&after)
		if held := int64(after.HeapAlloc) - int64(before.HeapAlloc); held > size {
			t.Errorf("%s: %d bytes are held for %d", name, held, size)
		}
		runtime.KeepAlive(k)
		runtime.KeepAlive(text)
	}
}

func TestWhatIsQuotedIsInAllPassages(t *testing.T) {
	r := rankAll(t, farm(40), `Where is "the tractor"?`, Options{}, 100)
	for _, p := range r.Passages {
		if !strings.Contains(p.Text, "The tractor") {
			t.Errorf("%s", p.Text)
		}
	}
	if len(r.Passages) != 4 {
		t.Errorf("%d passages, want 4", len(r.Passages))
	}
	if r := rankAll(t, farm(40), `Where is "the plough"?`, Options{}, 100); len(r.Passages) != 0 || r.Answered {
		t.Errorf("%d passages, answered %v", len(r.Passages), r.Answered)
	}
}

func TestTheOrderOfAnotherMeasureIsWrittenWithItsScores(t *testing.T) {
	r := rankAll(t, markdown(manual), "How long are backups kept and how many requests does Team have?", Options{}, 100)
	order, firsts := r.Order()
	if firsts != 2 || len(order) < 2 {
		t.Fatalf("order %v with %d firsts", order, firsts)
	}
	d := r.DigestOf(Choice{Method: sift.DigestHybrid, Order: order[:2], Scores: []float64{1, 0.5}, Firsts: firsts})
	if want := "They are kept for thirty days and then deleted.\n| Team | 600 | 50 GB |"; d.Answer != want || len(d.Passages) != 2 {
		t.Errorf("answer %q, want %q", d.Answer, want)
	}
	scores := []float64{d.Passages[0].Score, d.Passages[1].Score}
	slices.Sort(scores)
	if diff := cmp.Diff([]float64{0.5, 1}, scores); diff != "" {
		t.Error(diff)
	}
}

func TestAPassageKnowsItsLeadAndItsSentences(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Prices\n\n| Fruit | Price in 2025 |\n| --- | --- |\n")
	for i := range 200 {
		fmt.Fprintf(&b, "| Fruit number %d | %d euros |\n", i, i*3)
	}
	r := rankAll(t, markdown(b.String()), "fruit number 150", Options{}, 100)
	if !strings.Contains(r.Passages[0].Text, "| Fruit number 150 |") || !strings.HasPrefix(r.Lead(0), "| Fruit | Price in 2025 |") {
		t.Errorf("lead %q of %q", r.Lead(0), r.Passages[0].Text)
	}
	if s := r.Sentences(0); !slices.Contains(s, "| Fruit number 150 | 450 euros |") {
		t.Errorf("%q", s)
	}
}
