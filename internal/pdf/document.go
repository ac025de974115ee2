package pdf

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"sift.build/sift/internal/dom"
	"sift.build/sift/internal/normalize"
	"sift.build/sift/internal/pdf/layout"
	"sift.build/sift/internal/sift"
)

// readPage is one page as it came from the child.
type readPage struct {
	layout.Result
	ImageArea float64 // share of the page that pictures cover, 0 to 1
	Cut       bool    // the page had more than was looked at
	OCR       string  // what OCR read on it, paragraphs separated by blank lines
}

// A page counts as a scan when it has hardly any text and is mostly a picture.
const (
	scanChars = 20
	scanArea  = 0.4
)

// scanned says that the page is a picture of text.
func (p *readPage) scanned() bool { return p.Chars < scanChars && p.ImageArea >= scanArea }

// contents is everything that was read of a file.
type contents struct {
	info   info
	pages  []*readPage // by number
	failed []int       // numbers of pages that could not be read

	// stopped says why not all pages were read, as the end of a sentence; ""
	// when there were no more.
	stopped string
	ocr     ocrOutcome
}

// document makes the Document of what was read.
func document(c *contents) *sift.Document {
	slices.SortFunc(c.pages, func(a, b *readPage) int { return a.Number - b.Number })
	results := make([]*layout.Result, len(c.pages))
	for i, p := range c.pages {
		results[i] = &p.Result
	}
	layout.Finish(results)

	b := builder{}
	doc := &sift.Document{
		Kind: sift.KindPDF, MediaType: "application/pdf",
		Title: b.text.Line(c.info.Title), Author: b.text.Line(c.info.Author), Description: b.text.Line(c.info.Subject),
		Published: date(c.info.Created, c.info.Modified), Language: language(c.info.Language),
		PDF: &sift.PDF{Total: c.info.Pages, Stopped: c.stopped != ""},
	}
	for _, m := range c.info.Bookmarks {
		if title := b.text.Line(m.Title); title != "" && m.Page >= 1 && m.Page <= c.info.Pages {
			doc.PDF.Bookmarks = append(doc.PDF.Bookmarks, sift.Bookmark{Level: m.Level, Title: title, Page: m.Page})
		}
	}
	doc.Main = dom.Element(atom.Body)
	var hidden int
	var sample string
	for _, p := range c.pages {
		section := dom.Element(atom.Section, html.Attribute{Key: "data-page", Val: strconv.Itoa(p.Number)})
		b.blocks(section, p.Blocks)
		b.recognised(section, p.OCR)
		doc.Main.AppendChild(section)
		doc.VisibleChars += max(p.Chars, normalize.CountVisible(section))
		hidden += p.Hidden
		if sample == "" {
			sample = b.text.Line(p.HiddenText)
		}
	}
	if placeholderTitle(doc.Title) {
		doc.Title = firstHeading(c.pages, &b.text)
	}
	c.warn(doc, b.text.Removed(), hidden)
	return doc
}

// warn adds what the caller must know about the text.
func (c *contents) warn(doc *sift.Document, removed normalize.Result, hidden int) {
	add := func(code sift.WarningCode, format string, args ...any) {
		doc.Warnings = append(doc.Warnings, sift.Warning{Code: code, Message: fmt.Sprintf(format, args...)})
	}
	var scans, cut []int
	for _, p := range c.pages {
		if p.scanned() && p.OCR == "" {
			scans = append(scans, p.Number)
		}
		if p.Cut {
			cut = append(cut, p.Number)
		}
	}
	switch {
	case len(scans) > 0 && doc.VisibleChars < scanChars:
		doc.Hint = sift.HintOCR
		add(sift.WarnNoText, "this PDF is a scan: its pages are pictures without a text layer%s", c.ocr.advice())
	case len(scans) > 0:
		doc.Hint = sift.HintOCR
		add(sift.WarnNoText, "%s without a text layer, so that what is written there is missing%s", pagesAre(scans, "is a picture", "are pictures"), c.ocr.advice())
	case doc.VisibleChars == 0 && len(c.pages) > 0:
		add(sift.WarnNoText, "no text was found in this PDF")
	}
	if len(c.ocr.pages) > 0 {
		add(sift.WarnFallback, "%s read by optical character recognition, which makes mistakes", pagesAre(c.ocr.pages, "is a picture and was", "are pictures and were"))
	}
	if len(c.failed) > 0 {
		add(sift.WarnPartial, "%s damaged and could not be read", pagesAre(c.failed, "is", "are"))
	}
	if len(cut) > 0 {
		add(sift.WarnPartial, "%s more text than is read of one page; the rest is missing", pagesAre(cut, "has", "have"))
	}
	if c.stopped != "" {
		doc.Hint = sift.HintPages
		add(sift.WarnPartial, "%d of %d pages were read: %s; ask for others with pages", len(c.pages), c.info.Pages, c.stopped)
	}
	if hidden > 0 {
		add(sift.WarnHiddenText, "%d characters of text that a reader could not see were left out", hidden)
	}
	if removed.TagChars > 0 {
		add(sift.WarnHiddenText, "%d invisible tag characters were left out", removed.TagChars)
	}
	if n := removed.Invisible + removed.Bidi; n > 0 {
		add(sift.WarnHiddenText, "%d invisible characters and direction overrides were left out", n)
	}
}

// pagesAre begins a sentence about pages: "page 3 is", "pages 3, 4 and 7 are".
func pagesAre(pages []int, one, many string) string {
	const most = 10
	if len(pages) == 1 {
		return "page " + strconv.Itoa(pages[0]) + " " + one
	}
	var b strings.Builder
	b.WriteString("pages ")
	for i, n := range pages[:min(len(pages), most)] {
		switch {
		case i == 0:
		case i == len(pages)-1:
			b.WriteString(" and ")
		default:
			b.WriteString(", ")
		}
		b.WriteString(strconv.Itoa(n))
	}
	if n := len(pages) - most; n > 0 {
		fmt.Fprintf(&b, " and %d more", n)
	}
	return b.String() + " " + many
}

// A builder makes trees in the normal form of blocks.
type builder struct{ text normalize.Builder }

func headingAtom(level int) atom.Atom {
	return [...]atom.Atom{atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6}[min(max(level, 1), 6)-1]
}

func (b *builder) blocks(to *html.Node, blocks []layout.Block) {
	for i := 0; i < len(blocks); {
		switch k := &blocks[i]; k.Kind {
		case layout.Item:
			n := 1
			for i+n < len(blocks) && blocks[i+n].Kind == layout.Item {
				n++
			}
			b.list(to, blocks[i:i+n])
			i += n
			continue
		case layout.Heading:
			b.filled(to, dom.Element(headingAtom(k.Level)), k.Spans)
		case layout.Table:
			b.table(to, k.Rows)
		case layout.Code:
			if text := b.text.Code(k.Text); strings.TrimSpace(text) != "" {
				pre, code := dom.Element(atom.Pre), dom.Element(atom.Code)
				code.AppendChild(&html.Node{Type: html.TextNode, Data: text})
				pre.AppendChild(code)
				to.AppendChild(pre)
			}
		default:
			b.filled(to, dom.Element(atom.P), k.Spans)
		}
		i++
	}
}

// filled appends n with spans in it, unless that leaves it empty.
func (b *builder) filled(to, n *html.Node, spans []layout.Span) {
	if b.spans(n, spans); n.FirstChild != nil {
		to.AppendChild(n)
	}
}

// level is a list that is being built.
type level struct {
	depth int
	list  *html.Node
	next  int // the number that the next item of an ordered list has by itself
}

// maxListDepth is how deep lists are nested; deeper items stand in the deepest.
const maxListDepth = 8

// list builds nested lists of a run of items.
func (b *builder) list(to *html.Node, items []layout.Block) {
	var open []level
	for i := range items {
		item := &items[i]
		depth := min(max(item.Level, 1), maxListDepth)
		for len(open) > 0 && open[len(open)-1].depth > depth {
			open = open[:len(open)-1]
		}
		number, ordered := itemNumber(item.Marker)
		kind := atom.Ul
		if ordered {
			kind = atom.Ol
		}
		if n := len(open); n > 0 && open[n-1].depth == depth && (open[n-1].list.DataAtom != kind || ordered && number != open[n-1].next) {
			open = open[:n-1] // another list begins
		}
		if n := len(open); n == 0 || open[n-1].depth < depth {
			parent := to
			if n > 0 && open[n-1].list.LastChild != nil {
				parent = open[n-1].list.LastChild
			}
			l := dom.Element(kind)
			if ordered && number != 1 {
				l.Attr = append(l.Attr, html.Attribute{Key: "start", Val: strconv.Itoa(number)})
			}
			parent.AppendChild(l)
			open = append(open, level{depth: depth, list: l, next: number})
		}
		top := &open[len(open)-1]
		top.next++
		li := dom.Element(atom.Li)
		if marker := item.Marker; !ordered && !bullet(marker) {
			b.append(li, b.text.Text(marker)+" ")
		}
		b.spans(li, item.Spans)
		top.list.AppendChild(li)
	}
}

// itemNumber reads a marker such as "3." or "3)".
func itemNumber(marker string) (int, bool) {
	digits := strings.TrimRight(marker, ".)")
	if digits == marker || len(digits) > 6 {
		return 0, false
	}
	n, err := strconv.Atoi(digits)
	return n, err == nil && n >= 0
}

// bullet says that a marker is a sign and says nothing.
func bullet(marker string) bool {
	return !strings.ContainsFunc(marker, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

func (b *builder) table(to *html.Node, rows [][]layout.Cell) {
	t := dom.Element(atom.Table)
	for _, row := range rows {
		tr := dom.Element(atom.Tr)
		for i := range row {
			cell := &row[i]
			n := dom.Element(atom.Td)
			if cell.Header {
				n = dom.Element(atom.Th)
			}
			if cell.ColSpan > 1 {
				n.Attr = append(n.Attr, html.Attribute{Key: "colspan", Val: strconv.Itoa(min(cell.ColSpan, 1000))})
			}
			if cell.RowSpan > 1 {
				n.Attr = append(n.Attr, html.Attribute{Key: "rowspan", Val: strconv.Itoa(min(cell.RowSpan, 65534))})
			}
			b.spans(n, cell.Spans)
			tr.AppendChild(n)
		}
		if tr.FirstChild != nil {
			t.AppendChild(tr)
		}
	}
	if t.FirstChild != nil {
		to.AppendChild(t)
	}
}

// spans appends runs of text with what marks them.
func (b *builder) spans(to *html.Node, spans []layout.Span) {
	for i := range spans {
		s := &spans[i]
		at := to
		enter := func(n *html.Node) {
			at.AppendChild(n)
			at = n
		}
		if s.URL != "" {
			if abs, private, ok := b.text.Link(s.URL); ok {
				a := dom.Element(atom.A, html.Attribute{Key: "href", Val: abs})
				if private {
					a.Attr = append(a.Attr, html.Attribute{Key: "data-private"})
				}
				enter(a)
			}
		}
		for _, mark := range []struct {
			on   bool
			atom atom.Atom
		}{{s.Sup, atom.Sup}, {s.Sub, atom.Sub}, {s.Bold, atom.Strong}, {s.Italic, atom.Em}, {s.Code, atom.Code}} {
			if mark.on {
				enter(dom.Element(mark.atom))
			}
		}
		for j, line := range strings.Split(s.Text, "\n") {
			if j > 0 {
				at.AppendChild(dom.Element(atom.Br))
			}
			b.append(at, b.text.Text(line))
		}
		for at != to && at.FirstChild == nil { // nothing was left of the text
			empty := at
			at = at.Parent
			at.RemoveChild(empty)
		}
	}
}

// append adds text to the end of n.
func (b *builder) append(n *html.Node, text string) {
	if text == "" {
		return
	}
	if last := n.LastChild; last != nil && last.Type == html.TextNode {
		last.Data += text
		return
	}
	n.AppendChild(&html.Node{Type: html.TextNode, Data: text})
}

// recognised appends what OCR read.
func (b *builder) recognised(to *html.Node, text string) {
	for para := range strings.SplitSeq(text, "\n\n") {
		if para = strings.Trim(b.text.Text(para), " \n"); para != "" {
			p := dom.Element(atom.P)
			b.append(p, para)
			to.AppendChild(p)
		}
	}
}

// date is when the document was written, as far as the file says: RFC 3339.
func date(created, modified time.Time) string {
	for _, t := range []time.Time{created, modified} {
		if t.IsZero() || t.Year() < 1970 || t.Year() > 9999 {
			continue
		}
		return t.Format(time.RFC3339)
	}
	return ""
}

// language takes a language tag that looks like one.
func language(tag string) string {
	tag = strings.TrimSpace(tag)
	if len(tag) < 2 || len(tag) > 35 || strings.ContainsFunc(tag, func(r rune) bool {
		return r != '-' && (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z')
	}) {
		return ""
	}
	return tag
}

// placeholderTitle says that a title in the metadata is none: the name of a
// file, or what programs write when nobody has filled it in.
func placeholderTitle(title string) bool {
	lower := strings.ToLower(title)
	for _, prefix := range []string{"microsoft word - ", "microsoft powerpoint - ", "untitled", "document1", "powerpoint presentation", "slide 1"} {
		if strings.HasPrefix(lower, prefix) {
			return true
		}
	}
	for _, suffix := range []string{".doc", ".docx", ".ppt", ".pptx", ".pdf", ".tex", ".dvi", ".indd", ".rtf", ".odt", ".xls", ".xlsx", ".qxd"} {
		if strings.HasSuffix(lower, suffix) {
			return true
		}
	}
	return lower == ""
}

// firstHeading gives the most important heading of the first pages: the first
// of those with the lowest level.
func firstHeading(pages []*readPage, text *normalize.Builder) string {
	best, title := 7, ""
	for _, p := range pages[:min(len(pages), 2)] {
		for i := range p.Blocks {
			if k := &p.Blocks[i]; k.Kind == layout.Heading && k.Level < best {
				var b strings.Builder
				for _, s := range k.Spans {
					b.WriteString(s.Text)
				}
				if t := text.Line(b.String()); t != "" {
					best, title = k.Level, t
				}
			}
		}
	}
	return title
}
