package extract

import (
	"hash/maphash"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"sift.build/sift/internal/dom"
)

// Bounds on the lines that are kept of a page, and on each of them in bytes.
// What is longer is running text: nobody signs or dates a page there.
const (
	maxLines = 4000
	maxLine  = 180
)

// A line is a short text of the page with nothing beside it: what a reader sees
// as one line, or as one cell of a row. Title, author and date stand in such.
type line struct {
	text    string
	machine string // a date for machines: of a time element, or as a title
	signed  string // text of a link to the page of an author
	heading int    // level of the heading that it is, or 0
	says    name   // what classes around it say that it is
	away    role   // the parts around it that hold what others wrote
	card    bool   // one of several lines in one link
	prose   int    // bytes of running text in front of it
	like    uint64 // the same for lines that are built alike
}

// name is what a class says that an element holds.
type name uint8

const (
	namesDate name = 1 << iota
	namesChange
	namesAuthor
	namesOther // a date or a name of something else: joined, expires
)

// away are the parts of a page whose dates and names are not its own.
const away = roleNav | roleFooter | roleSide | roleRelated | rolePromo | roleDialog | roleComments | roleForm | roleReviews

// setting is what holds for everything in an element.
type setting struct {
	n       *html.Node
	says    [3]name // of it, and of the two around it
	away    role
	heading int
	link    int // number of lines before the link that it is in, plus one
	like    [3]uint64
	divides bool
}

// liner reads the lines of a page.
type liner struct {
	lines []line
	stack []setting
	now   line
	text  strings.Builder
	long  int // bytes of the line when it is running text
	all   int // bytes of running text
	count int // of lines, also of those that are not kept
	from  int // count where the link began that the line begins in
	seed  maphash.Seed
}

// linesOf reads the short lines of a page in one walk.
func linesOf(root *html.Node) []line {
	l := &liner{seed: maphash.MakeSeed(), stack: []setting{{}}}
	for n := root; n != nil && len(l.lines) < maxLines; {
		if n.Type == html.TextNode {
			l.write(n)
		}
		if n.Type != html.ElementNode && n.Type != html.DocumentNode || !l.enter(n) || n.FirstChild == nil {
			n = l.after(n, root)
			continue
		}
		n = n.FirstChild
	}
	l.end()
	return l.lines
}

// after gives the next node that is not in n, and leaves the elements that end.
func (l *liner) after(n, root *html.Node) *html.Node {
	for {
		if top := &l.stack[len(l.stack)-1]; top.n == n {
			if top.divides {
				l.end()
			}
			l.stack = l.stack[:len(l.stack)-1]
		}
		if n == root {
			return nil
		}
		if n.NextSibling != nil {
			return n.NextSibling
		}
		n = n.Parent
	}
}

// enter reads an element, and says whether what is in it is read.
func (l *liner) enter(n *html.Node) bool {
	if n.Type == html.DocumentNode {
		return true
	}
	if n.Namespace != "" || unread(n) {
		return false
	}
	if n.DataAtom == atom.Br || n.DataAtom == atom.Hr {
		l.end()
		return true
	}
	up := &l.stack[len(l.stack)-1]
	a := setting{n: n, away: up.away, heading: up.heading, link: up.link, divides: !inline(n)}
	if a.divides {
		l.end()
	}
	copy(a.says[1:], up.says[:2])
	copy(a.like[1:], up.like[:2])
	class := dom.Attr(n, "class")
	a.says[0] = nameOf(class)
	a.like[0] = maphash.String(l.seed, n.Data+"."+class[:min(len(class), maxClass)])
	if n.DataAtom != atom.Html && n.DataAtom != atom.Body {
		a.away |= roleOf(n) & away
	}
	if level := dom.HeadingLevel(n); level > 0 {
		a.heading = level
	}
	if n.DataAtom == atom.A && dom.HasAttr(n, "href") {
		a.link = l.count + 1
		if l.now.signed == "" && isAuthorLink(n) {
			l.now.signed = oneLine(text(n), maxName)
		}
	}
	if l.now.machine == "" {
		l.now.machine = machineDate(n)
	}
	l.stack = append(l.stack, a)
	return true
}

// unread says whether an element shows nothing.
func unread(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Head, atom.Select, atom.Textarea, atom.Svg, atom.Iframe, atom.Object, atom.Dialog:
		return true
	}
	style := dom.Attr(n, "style")
	return dom.HasAttr(n, "hidden") || len(style) < maxClass && strings.Contains(strings.ReplaceAll(style, " ", ""), "display:none")
}

// inline says whether an element stands in a line with what is beside it.
func inline(n *html.Node) bool {
	switch n.DataAtom {
	case atom.A, atom.Abbr, atom.B, atom.Bdi, atom.Bdo, atom.Big, atom.Cite, atom.Code, atom.Data, atom.Del, atom.Dfn, atom.Em, atom.Font, atom.I, atom.Img,
		atom.Ins, atom.Kbd, atom.Label, atom.Mark, atom.Q, atom.S, atom.Samp, atom.Small, atom.Span, atom.Strike, atom.Strong, atom.Sub, atom.Sup, atom.Time,
		atom.Tt, atom.U, atom.Var, atom.Wbr, atom.Address:
		return true
	}
	return n.DataAtom == 0 // elements of a page's own
}

// machineDate gives the date that an element has for machines beside the text
// that readers see.
func machineDate(n *html.Node) string {
	if n.DataAtom == atom.Time {
		if d := dom.Attr(n, "datetime"); d != "" {
			return rfc3339(d)
		}
		return ""
	}
	if d := dom.Attr(n, "title"); len(d) >= len("2006-01-02") && len(d) <= maxDate && d[0] >= '0' && d[0] <= '9' {
		return rfc3339(d)
	}
	return ""
}

// write appends a text to the line.
func (l *liner) write(n *html.Node) {
	up := &l.stack[len(l.stack)-1]
	s := n.Data
	if strings.TrimSpace(s) == "" {
		if l.text.Len() > 0 {
			l.text.WriteByte(' ')
		}
		return
	}
	if l.text.Len() == 0 && l.long == 0 {
		l.now.heading, l.now.away, l.now.like = up.heading, up.away, up.like[0]+3*up.like[1]+5*up.like[2]
		l.from = up.link
	}
	l.now.says |= up.says[0] | up.says[1] | up.says[2]
	if l.long += len(s); l.text.Len() < 2*maxLine {
		if l.text.Len() > 0 && n.PrevSibling == nil {
			l.text.WriteByte(' ') // elements in a row are often apart by their style alone
		}
		l.text.WriteString(s[:min(len(s), 4*maxLine)])
	}
}

// end closes the line.
func (l *liner) end() {
	if l.long == 0 {
		l.now = line{}
		l.text.Reset()
		return
	}
	l.count++
	s := oneLine(strings.ToValidUTF8(l.text.String(), ""), 0)
	l.now.prose = l.all
	switch {
	case l.long > 4*maxLine, len(s) > maxLine:
		l.all += l.long
		if l.now.heading == 0 {
			break
		}
		s = cut(s, maxLine)
		fallthrough
	default:
		l.now.text = s
		l.now.card = l.from > 0 && l.from < l.count
		l.lines = append(l.lines, l.now)
	}
	l.now, l.long, l.from = line{}, 0, 0
	l.text.Reset()
}

// cut gives the beginning of a text, of at most n bytes and whole characters.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// nameOf reads what a class says that its element holds.
func nameOf(class string) name {
	var out name
	var word [24]byte
	n := 0
	end := func() {
		out |= nameWord(string(word[:n]))
		n = 0
	}
	lower := false
	for i := 0; i < len(class) && i < maxClass; i++ {
		c := class[i]
		switch {
		case c >= 'A' && c <= 'Z':
			if lower {
				end()
			}
			lower = false
			c += 'a' - 'A'
		case c >= 'a' && c <= 'z':
			lower = true
		default:
			end()
			lower = false
			continue
		}
		if n < len(word) {
			word[n] = c
			n++
		}
	}
	end()
	if out&namesOther != 0 {
		return namesOther
	}
	return out
}

func nameWord(w string) name {
	switch w {
	case "date", "pubdate", "published", "publish", "publication", "posted", "timestamp", "dateline", "datetime", "postdate", "postdatum", "datum", "fecha":
		return namesDate
	case "updated", "update", "modified", "modify", "revised", "edited", "lastmod", "reviewed":
		return namesDate | namesChange
	case "author", "authors", "byline", "bylines", "writer", "contributor", "contributors", "authorname", "username", "postedby", "postauthor", "creator":
		return namesAuthor
	case "event", "events", "joined", "registered", "expires", "expiry", "deadline", "birthday", "birth", "calendar", "picker", "datepicker", "copyright":
		return namesOther
	}
	return 0
}

// isAuthorLink says whether a link leads to the page of who wrote this one.
func isAuthorLink(n *html.Node) bool {
	if hasWord(dom.Attr(n, "rel"), "author") {
		return true
	}
	href := dom.Attr(n, "href")
	if len(href) > 500 {
		return false
	}
	path, _, _ := strings.Cut(strings.ToLower(href), "?")
	for _, part := range []string{"/author/", "/authors/", "/contributor/", "/contributors/", "/writer/", "/writers/", "/profile/author/", "/byline/", "/autor/", "/autoren/", "/auteur/", "/autore/", "/redazione/"} {
		if i := strings.Index(path, part); i >= 0 && len(strings.Trim(path[i+len(part):], "/")) > 0 {
			return true
		}
	}
	return false
}
