package pdf

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sift.build/sift/internal/sift"
)

// Odd files that others have found, and a script that writes hostile ones, are
// not in the repository. Where they are at hand they are read too.
var odd = flag.String("oddpdf", "", "folder with odd PDF files and mkhostile.py; default $SIFT_ODDPDF, else shared/pdf beside the repository")

func oddFolder(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("not read: -short")
	}
	dir := cmp.Or(*odd, os.Getenv("SIFT_ODDPDF"), "../../../shared/pdf")
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("NOT READ: the odd files are not in the repository; $SIFT_ODDPDF or -oddpdf names their folder: %v", err)
	}
	return dir
}

// oddFile says what is right for one file.
type oddFile struct {
	name     string
	password string
	fails    string   // a part of the failure's message; "": it is read
	pages    int      // in all
	text     []string // parts of the text, in this order
	never    []string // no part of the text
	warns    []sift.WarningCode
	title    string
	author   string
	outline  []string // how it begins: level, title, page
	nodes    int      // of the outline; 0: not counted
	memory   int64    // at most; 0: as for any
	cpu      time.Duration
}

func oddFiles() []oddFile {
	return []oddFile{
		{name: "r6-user-password.pdf", fails: "needs a password"},
		{name: "r6-user-password.pdf", password: "wrong", fails: "password does not open"},
		{name: "r6-user-password.pdf", password: "asdfzxcv", pages: 1, text: []string{"pdf encryption test", "password: asdfzxcv"}},
		{name: "r6-empty-password.pdf", pages: 1, text: []string{"pdf encryption test", "password: asdfzxcv"}, author: "cheng"},
		{name: "bookmarks_circular.pdf", text: []string{"Page1", "Page2"}, cpu: time.Second},
		{name: "389339260.fuzz", fails: "none of its 30 pages"},
		{name: "bomb_giant.pdf", text: []string{"GIANT JBIG2 BOMB"}, memory: 100 << 20},
		{name: "poppler-67295-0.pdf", text: []string{"TestString123"}, cpu: time.Second},
		{name: "Pages-tree-refs.pdf", pages: 2, text: []string{"Testcase:", "Pages loop"}, warns: []sift.WarningCode{sift.WarnPartial}},
		{name: "issue11656.pdf", text: []string{"[page 1]\n\nשלום עולם מה שלום כולם?"}},
		{name: "noembed-sjis.pdf", text: []string{"あいうえお"}},
		{name: "bug1937438_from_word.pdf", text: []string{"\U0001d70b"}, never: []string{"\ufffd"}},
		{name: "bug1669099.pdf", text: []string{"Antrag auf Mitgliedschaft", "Vorname(n)", "Nachname"}},
		{name: "form_acrobatReader.pdf", text: []string{"foo", "1"}},
		{name: "form_acrobatReader.pdf", text: []string{"Bar"}},
		{name: "non_searchable.pdf", warns: []sift.WarningCode{sift.WarnNoText}},
		{name: "bookmark_sample.pdf", pages: 3, nodes: 8, outline: []string{"1 PART I - DEFINITIONS p1"}},
		{name: "multicolumn.pdf", pages: 3, title: "Two-Column Document with Lorem Ipsum", text: []string{
			// Each runs over the end of a line, and they follow down one column and then the other.
			"Mauris ut leo. Cras viverra metus rhoncus sem. Nulla et lectus vestibulum urna fringilla ultrices.",
			"Nam dui ligula, fringilla a, euismod sodales, sollicitudin vel, wisi. Morbi auctor lorem non justo.",
			"Nulla malesuada porttitor diam. Donec felis erat, congue non, volutpat at, tincidunt tristique, libero.",
			"Quisque ullamcorper placerat ipsum. Cras nibh. Morbi vel justo vitae lacus tincidunt ultrices.",
		}},
	}
}

func TestOddFilesOfOthersReadAsTheyShould(t *testing.T) {
	dir := oddFolder(t)
	warmed(t)
	files := oddFiles()
	trials := make([]*trial, len(files))
	for i := range files {
		trials[i] = &trial{name: files[i].name, path: filepath.Join(dir, files[i].name), request: Request{Password: files[i].password}}
	}
	// try sorts its own list.
	try(t, slices.Clone(trials))
	for i := range files {
		if wrong := files[i].judge(t, trials[i]); len(wrong) > 0 {
			t.Errorf("%s: %s", trials[i], strings.Join(wrong, "; "))
		}
	}
}

func (f *oddFile) judge(t *testing.T, tr *trial) (wrong []string) {
	t.Helper()
	add := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	u := tr.outcome.Usage
	if f.memory > 0 && u.MaxRSS > f.memory {
		add("it took %d MB", u.MaxRSS>>20)
	}
	if f.cpu > 0 && u.CPU > f.cpu {
		add("it took %v", u.CPU)
	}
	if f.fails != "" {
		if tr.failure == nil || !strings.Contains(tr.failure.Message, f.fails) {
			add("it should fail with %q", f.fails)
		}
		return wrong
	}
	if tr.failure != nil {
		add("it should be read")
		return wrong
	}
	doc, text := tr.doc, tr.text(t)
	at := 0
	for _, part := range f.text {
		i := strings.Index(text[at:], part)
		if i < 0 {
			add("%q is not there or not in its place: %.500q", part, text)
			continue
		}
		at += i + len(part)
	}
	for _, part := range f.never {
		if strings.Contains(text, part) {
			add("%q is in it: %.500q", part, text)
		}
	}
	var codes []sift.WarningCode
	for _, w := range doc.Warnings {
		codes = append(codes, w.Code)
	}
	if !slices.Equal(codes, f.warns) {
		add("warnings %v", doc.Warnings)
	}
	if f.pages > 0 && doc.PDF.Total != f.pages {
		add("%d pages", doc.PDF.Total)
	}
	if f.title != "" && doc.Title != f.title || f.author != "" && doc.Author != f.author {
		add("title %q, author %q", doc.Title, doc.Author)
	}
	var outline []string
	for _, b := range doc.PDF.Bookmarks {
		outline = append(outline, fmt.Sprintf("%d %s p%d", b.Level, b.Title, b.Page))
	}
	if f.nodes > 0 && len(outline) != f.nodes || !slices.Equal(outline[:min(len(f.outline), len(outline))], f.outline) {
		add("outline %q", outline)
	}
	return wrong
}

func TestHostileFilesOfAScriptHarmNothing(t *testing.T) {
	dir := oddFolder(t)
	script := filepath.Join(dir, "mkhostile.py")
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skipf("NOT READ: python3 writes the files: %v", err)
	}
	warmed(t)
	to := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), python, script, to).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	files, err := os.ReadDir(to)
	if err != nil || len(files) != 13 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	var trials []*trial
	for _, f := range files {
		trials = append(trials, &trial{name: f.Name(), path: filepath.Join(to, f.Name())})
	}
	try(t, slices.Clone(trials))
	for _, tr := range trials {
		t.Log(tr)
	}
	for name, want := range map[string]string{
		"count-lie.pdf": "count lie", "outline-sibling-cycle.pdf": "outline cycle", "outline-child-cycle.pdf": "outline cycle",
		"giant-image.pdf": "with giant image", "pages100k-shared.pdf": "same page",
	} {
		i := slices.IndexFunc(trials, func(tr *trial) bool { return tr.name == name })
		if i < 0 || !strings.Contains(trials[i].text(t), want) {
			t.Errorf("%s does not say %q", name, want)
		}
	}
}
