package render

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"sift.build/sift/internal/sift"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Each file in testdata/constructs holds a piece of HTML as sites write it and
// what it looks like in the modes that render it.
func TestConstructsOfRealPagesKeepTheirFormInEveryMode(t *testing.T) {
	files, err := filepath.Glob("testdata/constructs/*.txtar")
	if err != nil || len(files) < 41 {
		t.Fatalf("%d specimens, %v", len(files), err)
	}
	modes := map[string]sift.Mode{"page.md": sift.ModeClean, "page.txt": sift.ModeText, "sanitised.html": sift.ModeHTML}
	order := []string{"page.md", "page.txt", "sanitised.html"}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			want := make(map[string]string)
			for _, f := range ar.Files {
				want[f.Name] = string(f.Data)
			}
			body := tree(t, "<!doctype html><body>"+want["page.html"])
			out := &txtar.Archive{Comment: ar.Comment, Files: []txtar.File{{Name: "page.html", Data: []byte(want["page.html"])}}}
			for _, k := range order {
				r, err := Content(&sift.Document{Kind: sift.KindHTML, Main: body, Page: body}, modes[k])
				if err != nil {
					t.Fatal(err)
				}
				got := r.Content + "\n"
				out.Files = append(out.Files, txtar.File{Name: k, Data: []byte(got)})
				if d := cmp.Diff(want[k], got); d != "" && !*update {
					t.Errorf("%s (-want +got)\n%s", k, d)
				}
			}
			if *update {
				if err := os.WriteFile(name, txtar.Format(out), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
