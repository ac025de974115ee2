package pipeline

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sift.build/sift/internal/sift"
)

const policy = `<!doctype html><html lang=en><title>P</title><body><main><h1>Policy</h1><h2>Storage</h2><p>Records are kept for ninety days.</p>
<p>The pump station was rebuilt in stages so that water never stopped flowing.</p><p>Operators walk the line twice a week.</p><p>Each valve carries a tag.</p>
<h2>Backups</h2><p>Backup retention is thirty days.</p><h2>Contact</h2><p>Write to the harbour office, or call shared_ptr.</p></main></body></html>`

func TestGrepAnswersWithTheLinesThatMatchAndWhereTheyStand(t *testing.T) {
	s := newSite(t, serve(policy))
	r := newRig(t, s, rigOptions{})
	whole := r.get(t, sift.Target{URL: "http://a.example/"})
	env := r.get(t, sift.Target{URL: "http://a.example/", Grep: "retention|kept for"})
	for _, want := range []string{"2 matching lines", "Records are kept for ninety days.", "Policy > Storage", "Backup retention is thirty days.", "Policy > Backups", "--"} {
		if !strings.Contains(env.Content, want) {
			t.Errorf("no %q in\n%s", want, env.Content)
		}
	}
	if strings.Contains(env.Content, "harbour office") || env.Snapshot != whole.Snapshot || s.hits.Load() != 1 || env.Coverage >= whole.Coverage {
		t.Errorf("coverage %v, %d downloads:\n%s", env.Coverage, s.hits.Load(), env.Content)
	}
	if env := r.get(t, sift.Target{URL: "http://a.example/", Grep: "nowhere"}); env.Content != "no line matches" {
		t.Errorf("got %q", env.Content)
	}
	if env := r.get(t, sift.Target{URL: "http://a.example/", Grep: "shared_ptr", Mode: sift.ModeText}); !strings.Contains(env.Content, "call shared_ptr.") {
		t.Errorf("got %q", env.Content)
	}
	if env := r.get(t, sift.Target{URL: "http://a.example/", Grep: "Backups", Mode: sift.ModeOutline}); env.Outline != nil || !strings.Contains(env.Content, "Backups") {
		t.Errorf("got %q", env.Content)
	}
	f := r.fail(t, alice, sift.Target{URL: "http://a.example/", Grep: "kept (for"}, sift.CodeInvalid)
	if !strings.Contains(f.Message, "pattern") {
		t.Errorf("got %v", f)
	}
}

func TestGrepOfAPDFNamesThePagesOfItsLines(t *testing.T) {
	r := newRig(t, pdfSite(t, pdfBody(12)), rigOptions{pdf: &fakePDF{}})
	env := r.get(t, sift.Target{URL: "http://a.example/", Grep: "page (3|7)"})
	if diff := cmp.Diff(&sift.Pages{Total: 12, Returned: []int{3, 7}}, env.Pages); diff != "" || !strings.Contains(env.Content, "[page 7") {
		t.Errorf("%s in\n%s", diff, env.Content)
	}
	if env := r.get(t, sift.Target{URL: "http://a.example/", Grep: "page 3", Pages: "4-"}); env.Content != "no line matches" || env.Pages.Returned == nil || len(env.Pages.Returned) != 0 {
		t.Errorf("%q, %+v", env.Content, env.Pages)
	}
}
