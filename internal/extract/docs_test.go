package extract

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// docs/kinds.md tells the bounds; they are the code's.
func TestTheDocumentTellsTheBoundsOfTheCode(t *testing.T) {
	raw, err := os.ReadFile("../../docs/kinds.md")
	if err != nil {
		t.Fatal(err)
	}
	doc := string(raw)
	for what, want := range map[string]string{
		"text":           "| a text as UTF-8 | " + strconv.Itoa(MaxText>>20) + " MiB |",
		"depth":          "| XML: depth | " + grouped(maxXMLDepth) + " elements;",
		"attributes":     "| XML: attributes of an element, namespaces in force | " + grouped(maxXMLAttrs) + ", " + grouped(maxXMLNames) + " |",
		"nodes":          "| XML: one entry of a feed | " + grouped(maxXMLNodes) + " elements and texts |",
		"entries":        "| entries of a feed | " + grouped(maxEntries) + " |",
		"markup":         "| the markup of all entries together | " + grouped(maxNodes) + " nodes;",
		"names":          "| authors, categories, attachments of an entry | " + grouped(maxFeedItems) + " each |",
		"sitemap":        "| addresses of a sitemap | " + grouped(maxSitemap) + " (the protocol has 50,000), and " + grouped(maxSitemapLinks) + " links in all; " + grouped(maxFurther) + " images and translations of one |",
		"outline":        "| entries of an OPML outline, lists in each other | " + grouped(maxOPML) + ", " + grouped(maxOPMLDepth) + " |",
		"table":          "| a table | " + grouped(maxTableCells) + " cells, " + grouped(maxTableColumns) + " columns, " + grouped(maxTableBytes>>10) + " KiB;",
		"drawing":        "| groups and texts of a drawing | " + grouped(maxDrawingNodes) + " |",
		"character sets": "a declaration in the first " + grouped(prescanBytes>>10) + " KiB",
	} {
		if !strings.Contains(doc, want) {
			t.Errorf("%s: docs/kinds.md does not say %q", what, want)
		}
	}
}

// grouped writes a number with commas between its thousands.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
