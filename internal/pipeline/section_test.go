package pipeline

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sift.build/sift/internal/sift"
)

func TestASectionIsAContentOfItsOwn(t *testing.T) {
	s := newSite(t, serve(policy))
	r := newRig(t, s, rigOptions{})
	const url = "http://a.example/"
	whole := r.get(t, sift.Target{URL: url})
	env := r.get(t, sift.Target{URL: url, Section: "backups"})
	if env.Content != "## Backups\n\nBackup retention is thirty days." || env.TotalChars != len(env.Content) || env.Truncated || env.Snapshot != whole.Snapshot {
		t.Errorf("%q of %d", env.Content, env.TotalChars)
	}
	want := &sift.Section{Text: "Backups", Level: 2, Anchor: env.Section.Anchor, Trail: []string{"Policy"}, Offset: strings.Index(whole.Content, "## Backups"), Chars: len(env.Content)}
	if diff := cmp.Diff(want, env.Section); diff != "" || env.Coverage >= whole.Coverage {
		t.Errorf("%s\ncoverage %v of %v", diff, env.Coverage, whole.Coverage)
	}
	if whole.Section != nil {
		t.Error("a section that nobody asked for")
	}
	// Windows join to the section, in the very same copy.
	var joined strings.Builder
	for next := 0; ; {
		part := r.get(t, sift.Target{URL: url, Section: "Storage", MaxChars: 60, Offset: next, Snapshot: whole.Snapshot})
		joined.WriteString(part.Content)
		if part.NextOffset == nil {
			break
		}
		next = *part.NextOffset
	}
	if all := r.get(t, sift.Target{URL: url, Section: "Storage"}); joined.String() != all.Content {
		t.Errorf("the windows join to %q, not %q", joined.String(), all.Content)
	}
	// grep looks into the section alone.
	if env := r.get(t, sift.Target{URL: url, Section: "Storage", Grep: "days|harbour"}); !strings.HasPrefix(env.Content, "1 matching line\n") || !strings.Contains(env.Content, "Policy > Storage") {
		t.Errorf("got %q", env.Content)
	}
	if env := r.get(t, sift.Target{URL: url, Section: "Policy", Mode: sift.ModeOutline}); len(env.Outline) != 4 || env.Outline[0].Offset != 0 {
		t.Errorf("outline %+v", env.Outline)
	}
	for _, mode := range []sift.Mode{sift.ModeFull, sift.ModeText, sift.ModeHTML} {
		if env := r.get(t, sift.Target{URL: url, Section: "Backups", Mode: mode}); !strings.Contains(env.Content, "thirty days") || strings.Contains(env.Content, "harbour") {
			t.Errorf("mode %s: %q", mode, env.Content)
		}
	}
	f := r.fail(t, alice, sift.Target{URL: url, Section: "Backup plan of the year"}, sift.CodeInvalid)
	for _, heading := range []string{"Policy", "Storage", "Backups", "Contact"} {
		if !strings.Contains(f.Message, heading) {
			t.Errorf("the headings that exist are not told: %s", f.Message)
		}
	}
	r.fail(t, alice, sift.Target{URL: url, Section: "Backups", Mode: sift.ModeRaw}, sift.CodeInvalid)
	r.fail(t, alice, sift.Target{URL: url, Section: strings.Repeat("x", 2000)}, sift.CodeInvalid)
	if s.hits.Load() != 1 {
		t.Errorf("%d downloads", s.hits.Load())
	}
}

func TestASectionIsReadOnInItsSnapshotThoughThePageChanges(t *testing.T) {
	var n atomic.Int64
	s := newSite(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		body := policy
		if n.Add(1) > 1 {
			body = strings.ReplaceAll(policy, "Backups", "Copies")
		}
		_, _ = w.Write([]byte(body))
	})
	r := newRig(t, s, rigOptions{})
	zero := 0
	first := r.get(t, sift.Target{URL: "http://a.example/", Section: "Backups"})
	r.get(t, sift.Target{URL: "http://a.example/", Section: "Copies", MaxAge: &zero})
	again := r.get(t, sift.Target{URL: "http://a.example/", Section: "Backups", Snapshot: first.Snapshot})
	if again.Content != first.Content {
		t.Errorf("%q and %q", first.Content, again.Content)
	}
	r.fail(t, alice, sift.Target{URL: "http://a.example/", Section: "Backups"}, sift.CodeInvalid) // of the new one
}
