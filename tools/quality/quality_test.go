package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sift.build/sift/internal/child"
	"sift.build/sift/internal/pdf"
)

// The children that read PDFs are this test program.
func TestMain(m *testing.M) {
	child.Main(pdf.Workers())
	os.Exit(m.Run())
}

const set = "../../testdata/questions"

func testLibrary(t *testing.T) *library {
	t.Helper()
	l, err := newLibrary(set)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.pdfs.Close)
	return l
}

// The figures that hold on the half of the set on which nothing was chosen, less
// what three questions make. Debian's documents are not on every machine:
// they are in `make quality` alone.
func TestTheHeldOutFiguresHold(t *testing.T) {
	all, err := testLibrary(t).all(t.Context(), func(q questions) bool {
		if strings.HasPrefix(q.document, "debian ") {
			t.Logf("%s is left to `make quality`, which installs what it needs", q.file)
			return false
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	ours, plain := sum(all, heldOut)
	t.Logf("ours %+v", ours)
	t.Logf("plain %+v", plain)
	for _, f := range []struct {
		name       string
		got, least float64
	}{
		{"recall at 1", ours.recall(0), 0.70},
		{"recall at 3", ours.recall(1), 0.86},
		{"recall at 5", ours.recall(2), 0.91},
		{"mean reciprocal rank", ours.mrr(), 0.79},
		{"share of the answers handed back", share(ours.given, ours.answerable), 0.82},
		{"balanced rightness of nothing", ours.balanced(), 0.72},
		{"recall at 1 above the plain way", ours.recall(0) - plain.recall(0), 0.12},
		{"recall at 5 above the plain way", ours.recall(2) - plain.recall(2), 0.08},
		{"share of the plain way's tokens that is saved", 1 - share(ours.tokens, plain.tokens), 0.5},
	} {
		if f.got < f.least {
			t.Errorf("%s is %.3f, and was %.3f and more", f.name, f.got, f.least)
		}
	}
	if ours.answerable < 100 || ours.unanswerable < 25 {
		t.Errorf("%d questions with an answer and %d without are too few to say anything", ours.answerable, ours.unanswerable)
	}
}

func TestTheSetIsAsLargeAsItHasToBe(t *testing.T) {
	all, err := readSet(set)
	if err != nil {
		t.Fatal(err)
	}
	answerable, unanswerable := 0, 0
	for _, q := range all {
		for _, one := range q.list {
			if len(one.answers) > 0 {
				answerable++
			} else {
				unanswerable++
			}
		}
	}
	if answerable < 200 || unanswerable < 50 {
		t.Errorf("%d questions with an answer and %d without, want 200 and 50", answerable, unanswerable)
	}
}

func TestQuotesAreFoundWhateverPartsTheirWords(t *testing.T) {
	content := "é one\n  two three. one two"
	if diff := cmp.Diff([]place{{2, 11}, {19, 26}}, placesOf(content, "one two"), cmp.AllowUnexported(place{})); diff != "" {
		t.Error(diff)
	}
	if got := placesOf(content, "two four"); got != nil {
		t.Errorf("found at %v", got)
	}
}

func TestAnAnswerCountsWhereHalfOfItIs(t *testing.T) {
	answers := []place{{100, 120}}
	for _, c := range []struct {
		places []place
		want   int
	}{
		{[]place{{0, 109}, {110, 200}}, 2},
		{[]place{{0, 110}}, 1},
		{[]place{{0, 100}, {111, 130}}, 0},
		{nil, 0},
	} {
		if got := rankOf(c.places, answers); got != c.want {
			t.Errorf("rank of %v in %v is %d, want %d", answers, c.places, got, c.want)
		}
	}
}

func TestThePlainWayIsBM25OverWindows(t *testing.T) {
	windows := windowsOf(strings.Repeat("nothing here ", 100) + "One apple. " + strings.Repeat("or there ", 100))
	if got := plain(windows, "Which apple?"); len(got) != 1 || got[0].start != 800 || got[0].end != 1600 {
		t.Errorf("%v, want the window from 800 to 1600", got)
	}
	if got := plain(windows, "pear"); len(got) != 0 {
		t.Errorf("%v, want none", got)
	}
}

func TestQuestionsThatAreWrittenWronglyAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"half: tuning\nQ: x\nA: y\n":                        "no document",
		"document: file a\nQ: x\nA: y\n":                    "no half",
		"document: file a\nhalf: tuning\n":                  "no question",
		"document: file a\nhalf: tuning\nQ: x\n":            "has no answer",
		"document: file a\nhalf: tuning\nQ: x\nN: y\n":      "has no answer",
		"document: file a\nhalf: tuning\nN: x\nA: y\n":      "cannot be answered",
		"document: file a\nhalf: tuning\nB: x\n":            "unknown key",
		"document: file a\nhalf: third\nQ: x\nA: y\n":       "unknown key",
		"document: file a\nhalf: tuning\nsomething\nA: y\n": "is not",
	} {
		path := t.TempDir() + "/x.txt"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readQuestions(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestADocumentIsShownAsItIsSearched(t *testing.T) {
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"-questions", set, "-show", "pdf documents/pump.txt"}, &out, &errs); code != 0 {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	for _, want := range []string{"<!-- page 4 -->", "Troubles", "the part number is AQ-4017"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in %s", want, out.String())
		}
	}
	if code := run(t.Context(), []string{"-questions", set, "-show", "nothing at all"}, &out, &errs); code != 1 {
		t.Errorf("exit code %d for no document, want 1", code)
	}
}
