package layout

import (
	"slices"
	"strings"
)

// Finish takes the decisions that belong to the whole document, over all the
// pages that were read: it removes running headers, footers and page numbers,
// gives headings their levels, takes back those that are none, and decides on
// the hyphens at line ends. It changes the results in place. Calling it with
// some of a document's pages is fine; calling it twice changes nothing more
// that matters.
//
// A paragraph that a page's end breaks stays in two, so that what stands
// between two page markers is what stands on that page.
func Finish(results []*Result) {
	results = slices.DeleteFunc(slices.Clone(results), func(r *Result) bool { return r == nil })
	running(results)
	headings(results)
	hyphens(results)
}

// text is what a block says, with its marker.
func (b *Block) text() string {
	if len(b.Spans) == 1 && b.Marker == "" {
		return b.Spans[0].Text
	}
	var s strings.Builder
	if b.Marker != "" {
		s.WriteString(b.Marker)
		s.WriteByte(' ')
	}
	for _, sp := range b.Spans {
		s.WriteString(sp.Text)
	}
	return s.String()
}
