package pdf

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sift.build/sift/internal/pdf/pdftest"
	"sift.build/sift/internal/render"
	"sift.build/sift/internal/sift"
)

// withOCR needs tesseract, which `make test` installs.
func withOCR(c *Config) { c.OCR = true }

func TestPagesThatArePicturesAreReadByOCR(t *testing.T) {
	doc := read(t, newReader(t, withOCR), Request{Body: pdftest.Scan("The harbour closes at nine", "Boats leave on Monday")})
	got := content(t, doc, sift.ModeText)
	for _, want := range []string{"[page 1]", "The harbour closes at nine", "[page 2]", "Boats leave on Monday"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
	want := []sift.Warning{{Code: sift.WarnFallback, Message: "pages 1 and 2 are pictures and were read by optical character recognition, which makes mistakes"}}
	if diff := cmp.Diff(want, doc.Warnings); diff != "" || doc.Hint != "" {
		t.Errorf("hint %q, %s", doc.Hint, diff)
	}
}

func TestPagesWithATextLayerAreNotRecognisedAgain(t *testing.T) {
	doc := read(t, newReader(t, withOCR), Request{Body: pdftest.OCRLayer()})
	if got := content(t, doc, sift.ModeText); got != "[page 1]\n\nThe scanned deed was signed in May." || len(doc.Warnings) > 0 {
		t.Errorf("%q, %v", got, doc.Warnings)
	}
}

func TestAnEmptyPictureIsSaidToHaveNoText(t *testing.T) {
	doc := read(t, newReader(t, withOCR), Request{Body: pdftest.Scan("")})
	if len(doc.Warnings) != 1 || doc.Warnings[0].Code != sift.WarnNoText || !strings.Contains(doc.Warnings[0].Message, "OCR found no text") {
		t.Errorf("warnings %v", doc.Warnings)
	}
}

func TestOnlySoManyPicturesAreReadAtOnceAndTheOthersCanBeAskedFor(t *testing.T) {
	texts := slices.Repeat([]string{"Sheet"}, ocrPages+3)
	r := newReader(t, withOCR)
	doc := read(t, r, Request{Body: pdftest.Scan(texts...), First: sift.PageRanges{{First: ocrPages + 2}}})
	pages := render.PagesOf(doc)
	if len(pages) > ocrPages || !slices.Contains(pages, ocrPages+2) || !slices.Contains(pages, ocrPages+3) {
		t.Errorf("pages %v", pages)
	}
	if !doc.PDF.Stopped || doc.Hint != sift.HintPages {
		t.Errorf("stopped %v, hint %q, %v", doc.PDF.Stopped, doc.Hint, doc.Warnings)
	}
}

func TestWithoutTesseractAScanSaysThatOCRCouldNotReadIt(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	r := newReader(t, withOCR)
	doc := read(t, r, Request{Body: pdftest.Scan("A letter")})
	if len(doc.Warnings) != 1 || doc.Warnings[0].Code != sift.WarnNoText || doc.Hint != sift.HintOCR || !strings.Contains(doc.Warnings[0].Message, "OCR could not read them") {
		t.Errorf("warnings %v", doc.Warnings)
	}
	if _, err := r.Languages(t.Context()); err == nil || !strings.Contains(err.Error(), "tesseract-ocr") {
		t.Errorf("got %v", err)
	}
}

func TestTheLanguagesOfTesseractAreItsOwn(t *testing.T) {
	languages, err := newReader(t, withOCR).Languages(t.Context())
	if err != nil || !slices.Contains(languages, "eng") || slices.Contains(languages, "osd") {
		t.Errorf("%v, %v", languages, err)
	}
	all := tesseract{languages: []string{"chi_sim", "deu", "eng", "fra", "ita", "spa"}}
	for language, want := range map[string]string{"de-AT": "deu+eng+chi_sim+fra", "": "eng+chi_sim+deu+fra", "zh": "chi_sim+eng+deu+fra", "xx": "eng+chi_sim+deu+fra"} {
		if got := all.choose(language); got != want {
			t.Errorf("%q: %s", language, got)
		}
	}
}

func TestLinesOfRecognisedTextBecomeParagraphs(t *testing.T) {
	if got := paragraphs("  One line\nand another \n\n\n\nA paragraph.\n\f"); got != "One line and another\n\nA paragraph." {
		t.Errorf("got %q", got)
	}
	if got := paragraphs("\f\n \n"); got != "" {
		t.Errorf("got %q", got)
	}
}

func TestAScanLeavesNoFilesBehind(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	read(t, newReader(t, withOCR), Request{Body: pdftest.Scan("A letter")})
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}
