package engine

import (
	"testing"

	"sift.build/sift/internal/pdf/pdftest"
)

func TestTextComesOutAsItReads(t *testing.T) {
	for _, c := range []struct {
		name string
		file []byte
		want string
	}{
		{"plain", pdftest.Pages("First line.\nSecond line."), "First line.\nSecond line."},
		{"beyond U+FFFF", pdftest.NonBMP(), pdftest.NonBMPText},
		{"Hebrew", pdftest.Hebrew(), pdftest.HebrewText},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := plain(readPage(t, open(t, c.file, ""), 1)); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}
