package pdf

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sift.build/sift/internal/child"
	"sift.build/sift/internal/pdf/engine"
	"sift.build/sift/internal/pdf/pdftest"
	"sift.build/sift/internal/render"
	"sift.build/sift/internal/sift"
)

func TestPDFsReadAsAReaderSeesThem(t *testing.T) {
	left, right := pdftest.Columns()
	columns := strings.Join(left, " ") + "\n\n" + strings.Join(right, " ")
	r := newReader(t, nil)
	for name, tt := range map[string]struct {
		file []byte
		want string // the Markdown, with its page markers
	}{
		"two pages":               {pdftest.Pages("First.\nSecond line.", "Next page."), "<!-- page 1 -->\n\nFirst. Second line.\n\n<!-- page 2 -->\n\nNext page."},
		"columns written across":  {pdftest.TwoColumns(), "<!-- page 1 -->\n\n" + columns},
		"columns written down":    {pdftest.TwoColumnsInOrder(), "<!-- page 1 -->\n\n" + columns},
		"junk before the header":  {pdftest.JunkBefore(pdftest.Markers(1)), "<!-- page 1 -->\n\nmarker-page-1 is printed here."},
		"ligatures by name":       {pdftest.Ligatures(), "<!-- page 1 -->\n\nAn official notifies the fleet of a unified signal.\n\nIt reflects the final offer."},
		"ligatures by map":        {pdftest.LigaturesMapped(), "<!-- page 1 -->\n\nthe office file has a flat define"},
		"spaces by kerning":       {pdftest.KerningSpaces(), "<!-- page 1 -->\n\nWords set apart by kerning\n\nWAVE Today"},
		"an OCR layer":            {pdftest.OCRLayer(), "<!-- page 1 -->\n\nThe scanned deed was signed in May."},
		"an empty password":       {pdftest.Encrypted(""), "<!-- page 1 -->\n\nThe vault is open."},
		"Hebrew":                  {pdftest.Hebrew(), "<!-- page 1 -->\n\n" + pdftest.HebrewText},
		"Arabic":                  {pdftest.Arabic(), "<!-- page 1 -->\n\n" + pdftest.ArabicText},
		"characters above U+FFFF": {pdftest.NonBMP(), "<!-- page 1 -->\n\n" + pdftest.NonBMPText},
		"tables": {pdftest.Tables(), "<!-- page 1 -->\n\nThe stations and what they measured stand in a ruled table.\n\n" +
			"| Station | Height (m) | Rain (mm) |\n| --- | --- | --- |\n| Alpha | 120 | 804 |\n| Bravo Hill | 455 | 1,210 |\n| Charlie | 18 | 655 |\n\n" +
			"The visitors of three years stand in columns without any lines.\n\n" +
			"| Year | Visitors | Guides |\n| --- | --- | --- |\n| 2021 | 10,400 | 12 |\n| 2022 | 15,900 | 17 |\n| 2023 | 18,250 | 19 |\n\n" +
			"Here the text goes on below both tables, as a paragraph that is long enough."},
	} {
		t.Run(name, func(t *testing.T) {
			doc := read(t, r, Request{Body: tt.file})
			if diff := cmp.Diff(tt.want, content(t, doc, sift.ModeClean)); diff != "" {
				t.Error(diff)
			}
			if len(doc.Warnings) > 0 {
				t.Errorf("warnings %v", doc.Warnings)
			}
		})
	}
}

func TestChineseJapaneseAndKoreanComeOutOfFontsThatAreNotThere(t *testing.T) {
	got := content(t, read(t, newReader(t, nil), Request{Body: pdftest.CJK()}), sift.ModeText)
	for _, want := range []string{"日本語の文章", "あいうえお", "简体中文", "繁體中文", "한국어"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %q", want, got)
		}
	}
}

func TestTheOutlineOfAFileIsItsOwn(t *testing.T) {
	doc := read(t, newReader(t, nil), Request{Body: pdftest.Outline()})
	r, err := render.Content(doc, sift.ModeOutline)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, h := range r.Outline {
		got = append(got, fmt.Sprint(h.Level, " ", h.Text))
	}
	want := []string{"1 Part I - Definitions", "1 Part II - Terms", "2 2.1 Payment", "3 2.1.1 Größe der Raten", "2 2.2 Delivery", "1 Part III - Ending"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if doc.Title != "An agreement" {
		t.Errorf("title %q", doc.Title)
	}
	if clean := content(t, doc, sift.ModeClean); !strings.Contains(clean, "# Part I - Definitions\n\nTerms are defined here.") {
		t.Errorf("content %q", clean)
	}
}

func TestAProtectedFileSaysSoAndItsPasswordOpensIt(t *testing.T) {
	for _, c := range []pdftest.Cipher{pdftest.RC4, pdftest.AES128, pdftest.AES256} {
		r := newReader(t, nil)
		file := pdftest.EncryptedWith(c, "hunter2")
		if f := failure(t, r, Request{Body: file}); f.Code != sift.CodeUnsupported || f.Hint != sift.HintPassword || !strings.Contains(f.Message, "needs a password") {
			t.Errorf("%v: %+v", c, f)
		}
		if f := failure(t, r, Request{Body: file, Password: "hunter3"}); f.Hint != sift.HintPassword || !strings.Contains(f.Message, "does not open") || strings.Contains(fmt.Sprintf("%+v", f), "hunter3") {
			t.Errorf("%v: %+v", c, f)
		}
		doc := read(t, r, Request{Body: file, Password: "hunter2"})
		if got := content(t, doc, sift.ModeText); got != "[page 1]\n\nThe vault is open." || doc.Author != "Ada Example" {
			t.Errorf("%v: %q by %q", c, got, doc.Author)
		}
	}
}

func TestWhatIsFilledInInAFormIsRead(t *testing.T) {
	got := content(t, read(t, newReader(t, nil), Request{Body: pdftest.Form()}), sift.ModeText)
	for _, want := range []string{"Application for a library card", "Applicant:", "Rosalind Franklin", "blue"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
}

func TestTextThatNobodySeesIsLeftOutAndSaid(t *testing.T) {
	doc := read(t, newReader(t, nil), Request{Body: pdftest.HiddenText()})
	if len(doc.Warnings) != 1 || doc.Warnings[0].Code != sift.WarnHiddenText {
		t.Errorf("warnings %v", doc.Warnings)
	}
	got := content(t, doc, sift.ModeText)
	if !strings.Contains(got, "This sentence can be seen.") {
		t.Errorf("the sentence that is seen is missing: %q", got)
	}
	for _, secret := range []string{"one", "two", "three", "four"} {
		if strings.Contains(got, "Secret "+secret) {
			t.Errorf("secret %s came through: %q", secret, got)
		}
	}
}

func TestLinksLeadWhereTheyLead(t *testing.T) {
	doc := read(t, newReader(t, nil), Request{Body: pdftest.Links()})
	r, err := render.Content(doc, sift.ModeLinks)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Links) == 0 {
		t.Fatalf("no links in %q", content(t, doc, sift.ModeHTML))
	}
	for _, l := range r.Links {
		if !strings.HasPrefix(l.URL, "http") && !strings.HasPrefix(l.URL, "mailto:") || l.Text == "" {
			t.Errorf("link %+v", l)
		}
	}
}

func TestAScanIsToldApart(t *testing.T) {
	doc := read(t, newReader(t, nil), Request{Body: pdftest.Scan("A picture of a letter", "and its second page")})
	if len(doc.Warnings) != 1 || doc.Warnings[0].Code != sift.WarnNoText || doc.Hint != sift.HintOCR || !strings.Contains(doc.Warnings[0].Message, "scan") {
		t.Errorf("warnings %v, hint %q", doc.Warnings, doc.Hint)
	}
}

func TestFilesThatAreNoPDFsAreRefusedInWords(t *testing.T) {
	r := newReader(t, nil)
	for name, body := range map[string][]byte{
		"empty":   {},
		"header":  []byte("%PDF-1.7\n"),
		"text":    []byte("%PDF-1.7\nThis is no PDF at all, though it says so.\n%%EOF"),
		"cut":     pdftest.CutBeforeTrailer(pdftest.Markers(1)),
		"half":    pdftest.Encrypted("x")[:400],
		"no page": pdftest.New().Bytes(),
	} {
		f := failure(t, r, Request{Body: body})
		if f.Code != sift.CodeUnsupported || !strings.Contains(f.Message, "damaged") {
			t.Errorf("%s: %+v", name, f)
		}
		if f := failure(t, r, Request{Body: body, Cut: true}); f.Hint != sift.HintRetry {
			t.Errorf("%s, cut short: %+v", name, f)
		}
	}
	stillGood(t, r)
}

func TestAFileOnDiskIsReadWithoutItsPositionOrAName(t *testing.T) {
	f := tempFile(t, pdftest.Markers(3))
	if err := os.Remove(f.Name()); err != nil {
		t.Fatal(err)
	}
	r := newReader(t, nil)
	for range 2 {
		if doc := read(t, r, Request{File: f}); doc.PDF.Total != 3 {
			t.Errorf("%d pages", doc.PDF.Total)
		}
	}
}

func TestMorePagesThanAreReadAreReadWhenTheyComeFirst(t *testing.T) {
	var told []Outcome
	r := newReader(t, func(c *Config) { outcomes(&told)(c); c.MaxPages = 4 })
	doc := read(t, r, Request{Body: pdftest.Markers(10)})
	if diff := cmp.Diff([]int{1, 2, 3, 4}, render.PagesOf(doc)); diff != "" || !doc.PDF.Stopped || doc.PDF.Total != 10 {
		t.Errorf("%+v: %s", doc.PDF, diff)
	}
	want := []sift.Warning{{Code: sift.WarnPartial, Message: "4 of 10 pages were read: at most 4 are read at once; ask for others with pages"}}
	if diff := cmp.Diff(want, doc.Warnings); diff != "" || doc.Hint != sift.HintPages {
		t.Errorf("hint %q, %s", doc.Hint, diff)
	}
	doc = read(t, r, Request{Body: pdftest.Markers(10), First: sift.PageRanges{{First: 9}, {First: 7, Last: 7}}})
	if diff := cmp.Diff([]int{1, 7, 9, 10}, render.PagesOf(doc)); diff != "" {
		t.Error(diff)
	}
	if len(told) != 2 || told[0].Result != ResultPartial || told[0].Killed != "" || told[0].Elapsed <= 0 || told[0].Usage.CPU <= 0 {
		t.Errorf("told %+v", told)
	}
}

func TestAnEndedContextKillsTheChild(t *testing.T) {
	r := newReader(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Read(ctx, Request{Body: pdftest.Markers(1)}); err == nil {
		t.Error("it was read")
	}
	stillGood(t, r)
}

func TestAClosedReaderKillsItsChildrenAndRefusesMore(t *testing.T) {
	r := newReader(t, nil)
	read(t, r, Request{Body: pdftest.Markers(1)})
	r.Close()
	if f := failure(t, r, Request{Body: pdftest.Markers(1)}); f.Code != sift.CodeCancel {
		t.Errorf("got %+v", f)
	}
}

func TestDamagedMachineCodeIsMadeAnew(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles PDFium twice, which takes seconds; make test does it")
	}
	dir := filepath.Join(t.TempDir(), "cache", "sift") // as on a new machine: nothing is there
	var warmed int
	r := newReader(t, func(c *Config) {
		c.CacheDirs = []string{dir}
		c.Trace = &Trace{Warming: func() { warmed++ }}
	})
	stillGood(t, r)
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o700 || warmed != 1 || !engine.Filled(dir) {
		t.Fatalf("%v, %v, warmed %d times", info, err, warmed)
	}
	spoil(t, dir)
	stillGood(t, r)
	if warmed != 2 || !engine.Filled(dir) {
		t.Errorf("warmed %d times", warmed)
	}
	// A new process finds it.
	again := newReader(t, func(c *Config) {
		c.CacheDirs = []string{dir}
		c.Trace = &Trace{Warming: func() { t.Error("it was made once more") }}
	})
	stillGood(t, again)
}

// spoil flips a byte in the middle of the largest file under dir.
func spoil(t *testing.T, dir string) {
	t.Helper()
	name, size := "", int64(0)
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() && info.Size() > size {
			name, size = path, info.Size()
		}
		return err
	})
	if err != nil || size < 1<<20 {
		t.Fatalf("%s of %d bytes, %v", name, size, err)
	}
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b := make([]byte, 1)
	if _, err := f.ReadAt(b, size/2); err != nil {
		t.Fatal(err)
	}
	b[0] ^= 0xff
	if _, err := f.WriteAt(b, size/2); err != nil {
		t.Fatal(err)
	}
}

func TestAFolderThatOthersCanWriteIsNotUsed(t *testing.T) {
	open := t.TempDir()
	if err := os.Chmod(open, 0o777); err != nil { //nolint:gosec // that is the point
		t.Fatal(err)
	}
	r := newReader(t, func(c *Config) { c.CacheDirs = append([]string{open}, c.CacheDirs...) })
	stillGood(t, r) // from the second folder
	none := newReader(t, func(c *Config) { c.CacheDirs = []string{open, "/proc/no-such-folder"} })
	f := failure(t, none, Request{Body: pdftest.Markers(1)})
	if f.Code != sift.CodeInternal || !strings.Contains(fmt.Sprint(f.Cause), "$XDG_CACHE_HOME") {
		t.Errorf("got %+v", f)
	}
	if files, err := os.ReadDir(open); err != nil || len(files) > 1 {
		t.Errorf("%v was left there, %v", files, err)
	}
}

func TestTooLittleMemoryIsATypedFailure(t *testing.T) {
	var told []Outcome
	r := newReader(t, func(c *Config) {
		outcomes(&told)(c)
		c.Launcher = child.New(child.Config{Memory: 640 << 20})
		c.Memory = 24 << 20 // less than the program itself needs
	})
	if f := failure(t, r, Request{Body: pdftest.Markers(1)}); f.Code != sift.CodeTooLong {
		t.Errorf("got %+v, cause %v", f, f.Cause)
	}
	if len(told) != 1 || told[0].Result != ResultMemory {
		t.Errorf("told %+v", told)
	}
}
