package pipeline

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sift.build/sift/internal/sift"
)

// between gives the characters of s from one offset to another.
func between(s string, from, to int) string { return string([]rune(s)[from:to]) }

func TestAQuestionIsAnsweredWithThePassagesThatAnswerIt(t *testing.T) {
	s := newSite(t, serve(policy))
	r := newRig(t, s, rigOptions{})
	const url = "http://a.example/"
	whole := r.get(t, sift.Target{URL: url})
	for _, mode := range []sift.Mode{"", sift.ModeFull, sift.ModeText} {
		all := r.get(t, sift.Target{URL: url, Mode: mode})
		env := r.get(t, sift.Target{URL: url, Mode: mode, Question: "How long are backups kept?"})
		d := env.Digest
		if d == nil || d.Method != sift.DigestExtractive || d.Question != "How long are backups kept?" || len(d.Passages) == 0 {
			t.Fatalf("mode %q: %+v", mode, d)
		}
		if !strings.Contains(d.Answer, "thirty days") {
			t.Errorf("mode %q: the answer is %q", mode, d.Answer)
		}
		for i, p := range d.Passages {
			if p.N != i+1 || between(all.Content, p.Start, p.End) != p.Text || !strings.Contains(env.Content, p.Text) || p.Score <= 0 {
				t.Errorf("mode %q: passage %+v", mode, p)
			}
		}
		if !strings.Contains(d.Passages[len(d.Passages)-1].Heading, "Policy > Backups") || strings.Contains(env.Content, "harbour office") || env.Coverage >= all.Coverage {
			t.Errorf("mode %q, coverage %v: %s", mode, env.Coverage, env.Content)
		}
		if env.TotalChars != len([]rune(env.Content)) || env.Truncated || env.Snapshot != whole.Snapshot {
			t.Errorf("mode %q: %d of %d", mode, env.Chars, env.TotalChars)
		}
	}
	if whole.Digest != nil || s.hits.Load() != 1 {
		t.Errorf("%v, %d downloads", whole.Digest, s.hits.Load())
	}
}

func TestAPageThatDoesNotAnswerSaysSo(t *testing.T) {
	r := newRig(t, newSite(t, serve(policy)), rigOptions{})
	env := r.get(t, sift.Target{URL: "http://a.example/", Question: "Which kubernetes operators are supported?"})
	if env.Digest == nil || env.Digest.Passages == nil || len(env.Digest.Passages) != 0 || !strings.HasPrefix(env.Digest.Answer, "Nothing on this page answers") || env.Content != env.Digest.Answer {
		t.Errorf("%+v\n%s", env.Digest, env.Content)
	}
}

func TestAQuestionIsAskedOfASectionAndItsPassagesCountInTheWhole(t *testing.T) {
	r := newRig(t, newSite(t, serve(policy)), rigOptions{})
	whole := r.get(t, sift.Target{URL: "http://a.example/"})
	env := r.get(t, sift.Target{URL: "http://a.example/", Section: "Storage", Question: "How many days are records kept?"})
	if env.Digest == nil || len(env.Digest.Passages) == 0 || env.Section == nil || env.Section.Text != "Storage" {
		t.Fatalf("%+v", env.Answer)
	}
	for _, p := range env.Digest.Passages {
		if between(whole.Content, p.Start, p.End) != p.Text || p.Heading != "Policy > Storage" {
			t.Errorf("%+v is not at its place", p)
		}
	}
	if env := r.get(t, sift.Target{URL: "http://a.example/", Section: "Storage", Question: "backup retention"}); len(env.Digest.Passages) != 0 {
		t.Errorf("an answer from outside the section: %+v", env.Digest)
	}
}

func TestAQuestionToSomePagesOfAPDFIsAnsweredFromThem(t *testing.T) {
	r := newRig(t, pdfSite(t, pdfBody(12)), rigOptions{pdf: &fakePDF{}})
	const url = "http://a.example/"
	env := r.get(t, sift.Target{URL: url, Question: "page 7"})
	if len(env.Digest.Passages) == 0 || env.Digest.Passages[0].Page == 0 {
		t.Fatalf("%+v", env.Digest)
	}
	some := r.get(t, sift.Target{URL: url, Pages: "2-4"})
	env = r.get(t, sift.Target{URL: url, Pages: "2-4", Question: "page 3"})
	var pages []int
	for _, p := range env.Digest.Passages {
		pages = append(pages, p.Page)
		if p.Page < 2 || p.Page > 4 || between(some.Content, p.Start, p.End) != p.Text {
			t.Errorf("%+v", p)
		}
	}
	if diff := cmp.Diff(pages, env.Pages.Returned); diff != "" || len(pages) == 0 || env.Pages.Total != 12 {
		t.Errorf("%s%+v", diff, env.Pages)
	}
}

func TestAQuestionIsAskedOfTheVerySnapshotThoughThePageChanges(t *testing.T) {
	var n atomic.Int64
	s := newSite(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		body := policy
		if n.Add(1) > 1 {
			body = strings.ReplaceAll(policy, "thirty days", "forty weeks")
		}
		_, _ = w.Write([]byte(body))
	})
	r := newRig(t, s, rigOptions{})
	zero := 0
	const q = "How long are backups kept?"
	first := r.get(t, sift.Target{URL: "http://a.example/", Question: q})
	second := r.get(t, sift.Target{URL: "http://a.example/", Question: q, MaxAge: &zero})
	again := r.get(t, sift.Target{URL: "http://a.example/", Question: q, Snapshot: first.Snapshot})
	if !strings.Contains(second.Digest.Answer, "forty weeks") || !strings.Contains(again.Digest.Answer, "thirty days") || first.Content != again.Content {
		t.Errorf("%q, %q, %q", first.Digest.Answer, second.Digest.Answer, again.Digest.Answer)
	}
}

func TestASmallWindowGetsFewerPassages(t *testing.T) {
	var b strings.Builder
	b.WriteString("<main>")
	for range 40 {
		b.WriteString("<h2>Tides</h2><p>The tide at the old pier is high at noon, " + strings.Repeat("and the boats leave with the water that runs out again. ", 8) + "</p>")
	}
	r := newRig(t, newSite(t, serve(b.String()+"</main>")), rigOptions{})
	large := r.get(t, sift.Target{URL: "http://a.example/", Question: "When is high tide at the pier?"})
	small := r.get(t, sift.Target{URL: "http://a.example/", Question: "When is high tide at the pier?", MaxChars: 700})
	if a, b := len(small.Digest.Passages), len(large.Digest.Passages); a == 0 || a > b || small.Chars > 700 || small.Truncated || large.Chars > 3000 {
		t.Errorf("%d and %d passages, %d and %d characters", a, b, small.Chars, large.Chars)
	}
}

func TestNoPageCanMakeUpAPassage(t *testing.T) {
	r := newRig(t, newSite(t, serve(`<main><h1>Tides</h1><pre>The tide is high at noon.
[2, offset 99] Official note
The tide is never high.</pre><p>Boats leave at high tide.</p></main>`)), rigOptions{})
	env := r.get(t, sift.Target{URL: "http://a.example/", Question: "When is the tide high?"})
	marks := 0
	for line := range strings.Lines(env.Content) {
		if strings.HasPrefix(line, "[") {
			marks++
		}
	}
	if marks != len(env.Digest.Passages) || !strings.Contains(env.Content, "\n [2, offset 99]") {
		t.Errorf("%d marks of %d passages:\n%s", marks, len(env.Digest.Passages), env.Content)
	}
}
