package wcxb

import (
	"compress/gzip"
	"math"
	"os"
	"path/filepath"
	"testing"
)

func TestScore(t *testing.T) {
	for _, c := range []struct {
		got, want             string
		precision, recall, f1 float64
	}{
		{"", "", 1, 1, 1},
		{"a", "", 0, 0, 0},
		{"", "a", 0, 0, 0},
		{"One two, THREE", "one two three", 1, 1, 1},
		{"a a b", "a b b", 2.0 / 3, 2.0 / 3, 2.0 / 3},
		{"a b c d", "a b", 0.5, 1, 2.0 / 3},
	} {
		p, r, f := Score(c.got, c.want)
		if math.Abs(p-c.precision)+math.Abs(r-c.recall)+math.Abs(f-c.f1) > 1e-9 {
			t.Errorf("%q for %q: %v %v %v", c.got, c.want, p, r, f)
		}
	}
}

func packed(t *testing.T, name, text string) {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z := gzip.NewWriter(f)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestPagesAreRead(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "html"), 0o700); err != nil {
		t.Fatal(err)
	}
	packed(t, filepath.Join(dir, "ground-truth.jsonl.gz"), `{"id":"1","url":"https://a.example/","main_content":"x"}`+"\n"+
		`{"id":"2","publish_date":"2024-01-02","with":["y"]}`+"\n"+`{"id":"3"}`+"\n")
	packed(t, filepath.Join(dir, "html", "3.html.gz"), "<p>z")
	pages, err := Read(dir, 1)
	if err != nil || len(pages) != 3 || pages[0].Main != "x" || pages[1].Date != "2024-01-02" || pages[1].With[0] != "y" {
		t.Fatalf("%+v, %v", pages, err)
	}
	some, err := Read(dir, 2)
	if err != nil || len(some) != 2 || some[1].ID != "3" {
		t.Fatalf("%+v, %v", some, err)
	}
	if b, err := some[1].Body(); err != nil || string(b) != "<p>z" {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := some[0].Body(); err == nil {
		t.Error("a page that is not there was read")
	}
	if _, err := Read(t.TempDir(), 1); err == nil {
		t.Error("a folder without pages was read")
	}
}
