package pdf

import (
	"fmt"
	"strings"
	"testing"

	"sift.build/sift/internal/pdf/pdftest"
	"sift.build/sift/internal/sift"
)

// What stands at the same place of every page is a running header only when it
// cannot be the text.
func TestLinesThatCountAlongWithThePagesAreText(t *testing.T) {
	d := pdftest.New()
	for n := 1; n <= 5; n++ {
		d.Page(
			pdftest.Text(72, 760, 8, "Journal of Tides"),
			pdftest.Text(72, 700, 12, fmt.Sprintf("Invoice No. %d", 1000+n)),
			pdftest.Text(72, 680, 12, fmt.Sprintf("Sample %s was taken at depth %d", []string{"granite", "basalt", "chalk", "sand", "clay"}[n-1], n)),
			pdftest.Lines(72, 640, 12, 16, "The text of a page is different on each of them, and this one is about", fmt.Sprintf("the harbour in the year %d, of which there is much to be told.", 1900+7*n*n)),
			pdftest.Text(300, 30, 8, fmt.Sprintf("Page %d of 5", n)),
		)
	}
	got := content(t, read(t, newReader(t, nil), Request{Body: d.Bytes()}), sift.ModeText)
	for n := 1; n <= 5; n++ {
		for _, want := range []string{fmt.Sprintf("Invoice No. %d", 1000+n), fmt.Sprintf("was taken at depth %d", n)} {
			if !strings.Contains(got, want) {
				t.Errorf("no %q in\n%s", want, got)
			}
		}
	}
	if strings.Count(got, "Journal of Tides") != 1 || strings.Contains(got, "Page 3 of 5") {
		t.Errorf("the running header and the page numbers are left in:\n%s", got)
	}
}
