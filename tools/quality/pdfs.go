package main

import (
	"path/filepath"
	"strings"

	"sift.build/sift/internal/pdf/pdftest"
)

// makePDF sets a text file beside the questions as a PDF: "# page" begins a page,
// "# " and "## " a heading, anything else is a line of it.
func (l *library) makePDF(path string) ([]byte, error) {
	text, err := readFile(filepath.Join(l.set, path))
	if err != nil {
		return nil, err
	}
	doc := pdftest.New()
	for page := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n# page\n") {
		var items []pdftest.Item
		y := 740.0
		for line := range strings.SplitSeq(page, "\n") {
			heading, isHeading := strings.CutPrefix(strings.TrimPrefix(line, "#"), "# ")
			switch {
			case isHeading:
				y -= 10
				items = append(items, pdftest.In(pdftest.Font{Name: pdftest.HelveticaBold}, pdftest.Text(72, y, 16, heading)))
				y -= 24
			case line == "":
				y -= 10
			default:
				items = append(items, pdftest.Text(72, y, 11, line))
				y -= 14
			}
		}
		doc.Page(items...)
	}
	return doc.Bytes(), nil
}
