package extract

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"sift.build/sift/internal/dom"
	"sift.build/sift/internal/normalize"
	"sift.build/sift/internal/sift"
)

const (
	// maxSitemap is how many addresses of a sitemap are listed, twice as many
	// as the protocol allows.
	maxSitemap = 100_000
	// maxSitemapLinks is how many links a sitemap's list has at most: its
	// entries, and their images and translations.
	maxSitemapLinks = 200_000
	// maxFurther is how many images and translations of one address are listed.
	maxFurther = 1000
	// maxOPMLDepth is how deep the lists of an OPML outline are nested.
	maxOPMLDepth = 32
	// maxOPML is how many entries of an OPML outline are listed.
	maxOPML = 50_000
)

// A lister builds a list of links in the normal form.
type lister struct {
	clean  normalize.Builder
	public bool // the list itself is not at a private address
	base   *url.URL
}

func newLister(in Input) *lister {
	l := &lister{}
	l.base, _ = url.Parse(in.URL)
	_, private, ok := l.clean.Link(in.URL)
	l.public = ok && !private
	return l
}

// link makes a link; text when the address is none. An empty text is the address.
func (l *lister) link(s, href string) *html.Node {
	s = l.clean.Line(s)
	href = strings.TrimSpace(href)
	if l.base != nil && !strings.Contains(href, "://") && href != "" {
		if u, err := l.base.Parse(href); err == nil {
			href = u.String()
		}
	}
	abs, private, ok := l.clean.Link(href)
	if s == "" {
		s = l.clean.Line(href)
	}
	if !ok {
		return dom.Text(s)
	}
	a := dom.Element(atom.A)
	a.Attr = []html.Attribute{{Key: "href", Val: abs}}
	if private && l.public {
		a.Attr = append(a.Attr, html.Attribute{Key: "data-private"})
	}
	a.AppendChild(dom.Text(s))
	return a
}

// heading gives a paragraph of ours.
func paragraph(s string) *html.Node {
	p := dom.Element(atom.P)
	p.AppendChild(dom.Text(s))
	return p
}

// A mapped is one entry of a sitemap.
type mapped struct {
	loc     string
	about   []string // date, frequency, priority
	title   string   // of a video or a piece of news
	further []mappedLink
	cut     bool // it has more of these
}

type mappedLink struct{ label, href string }

// readSitemap fills the document from a sitemap or a sitemap index. Not ok is
// one without an address.
func readSitemap(ctx context.Context, doc *sift.Document, text []byte, in Input) (ok bool, err error) {
	r := &xmlReader{b: text}
	l := newLister(in)
	list := dom.Element(atom.Ul)
	entries, links, left := 0, 0, 0
	name := "Sitemap"
	depth := 0
	for n := 0; ; n++ {
		if n%1024 == 0 {
			if err := alive(ctx); err != nil {
				return false, err
			}
		}
		kind := r.next()
		if kind == xmlEnd {
			break
		}
		switch {
		case kind == xmlClose:
			depth--
		case kind != xmlStart:
		case r.name == "sitemapindex":
			name = "Sitemap index"
			depth++
		case depth <= 2 && (r.name == "url" || r.name == "sitemap"):
			m := readMapped(r)
			if m.loc == "" {
				continue
			}
			if entries >= maxSitemap || links >= maxSitemapLinks {
				left++
				continue
			}
			entries++
			links += 1 + len(m.further)
			list.AppendChild(l.entry(&m))
		default:
			depth++
		}
	}
	if entries == 0 {
		return false, nil
	}
	doc.Kind = sift.KindSitemap
	doc.Main = dom.Element(atom.Body)
	what := "pages"
	if name == "Sitemap index" {
		what = "sitemaps"
	}
	doc.Main.AppendChild(paragraph(fmt.Sprintf("%s of %d %s:", name, entries, what)))
	doc.Main.AppendChild(list)
	doc.Language = (&metadata{}).language(in.ContentLanguage)
	doc.VisibleChars = normalize.CountVisible(doc.Main)
	removed := l.clean.Removed()
	unseen(doc, &removed)
	if left > 0 {
		warn(doc, sift.WarnDeepMarkup, fmt.Sprintf("the sitemap is too large to be listed whole: %d more entries are left out; mode raw has all of it", left))
	}
	return true, nil
}

// readMapped reads an entry whose start has been read.
func readMapped(r *xmlReader) mapped {
	var m mapped
	var at []string
	var href, lang string
	for {
		switch r.next() {
		case xmlEnd:
			return m
		case xmlClose:
			if len(at) == 0 {
				return m
			}
			at = at[:len(at)-1]
		case xmlStart:
			at = append(at, r.name)
			if r.name == "xhtml:link" || r.name == "link" {
				if href = r.attr("href"); href != "" {
					if lang = r.attr("hreflang"); lang == "" {
						lang = r.attr("media")
					}
					if lang == "" {
						lang = r.attr("rel")
					}
					m.add(lang, href)
				}
			}
		case xmlText:
			s := strings.TrimSpace(r.text)
			if s == "" || len(at) == 0 || len(s) > 8192 {
				continue
			}
			switch at[len(at)-1] {
			case "loc":
				if m.loc == "" {
					m.loc = s
				}
			case "lastmod", "news:publication_date":
				m.about = append(m.about, s)
			case "changefreq":
				m.about = append(m.about, s)
			case "priority":
				m.about = append(m.about, "priority "+s)
			case "news:title", "video:title", "pagemap:title":
				if m.title == "" {
					m.title = s
				}
			case "image:loc":
				m.add("image", s)
			case "video:content_loc", "video:player_loc":
				m.add("video", s)
			}
		}
	}
}

// add takes a further link of an entry.
func (m *mapped) add(label, href string) {
	if len(m.further) == maxFurther {
		m.cut = true
		return
	}
	m.further = append(m.further, mappedLink{label, href})
}

// entry writes one line: the address, what is said of it, and its images and
// translations.
func (l *lister) entry(m *mapped) *html.Node {
	item := dom.Element(atom.Li)
	item.AppendChild(l.link(m.loc, m.loc))
	if m.title != "" {
		item.AppendChild(dom.Text(" " + l.clean.Line(m.title)))
	}
	if len(m.about) > 0 {
		item.AppendChild(dom.Text(" (" + l.clean.Line(strings.Join(m.about, ", ")) + ")"))
	}
	for i, f := range m.further {
		if i == 0 {
			item.AppendChild(dom.Text(": "))
		} else {
			item.AppendChild(dom.Text(", "))
		}
		item.AppendChild(l.link(f.label, f.href))
	}
	if m.cut {
		item.AppendChild(dom.Text(" and more"))
	}
	return item
}

// readOPML fills the document from an outline of subscriptions. Not ok is one
// without an entry.
func readOPML(ctx context.Context, doc *sift.Document, text []byte, in Input) (ok bool, err error) {
	r := &xmlReader{b: text}
	l := newLister(in)
	body := dom.Element(atom.Body)
	var title, author string
	var path []*html.Node // the item of each element that is open, nil for others
	entries, left := 0, 0
	for n := 0; ; n++ {
		if n%1024 == 0 {
			if err := alive(ctx); err != nil {
				return false, err
			}
		}
		kind := r.next()
		if kind == xmlEnd {
			break
		}
		switch kind {
		case xmlClose:
			if len(path) > 0 {
				path = path[:len(path)-1]
			}
		case xmlStart:
			if r.name != "outline" {
				path = append(path, nil)
				if r.name == "title" && title == "" {
					title = r.element().words()
					path = path[:len(path)-1]
				} else if r.name == "ownername" && author == "" {
					author = r.element().words()
					path = path[:len(path)-1]
				}
				continue
			}
			if entries >= maxOPML {
				left++
				path = append(path, nil)
				continue
			}
			entries++
			item := l.outline(r)
			listOf(body, path).AppendChild(item)
			path = append(path, item)
		}
	}
	if entries == 0 {
		return false, nil
	}
	doc.Kind, doc.Main = sift.KindOPML, body
	doc.Title, doc.Author = l.clean.Line(oneLine(title, maxTitle)), l.clean.Line(oneLine(author, maxName))
	if doc.Title != "" {
		h := dom.Element(atom.H1)
		h.AppendChild(dom.Text(doc.Title))
		body.InsertBefore(h, body.FirstChild)
	}
	doc.Language = (&metadata{}).language(in.ContentLanguage)
	doc.VisibleChars = normalize.CountVisible(body)
	removed := l.clean.Removed()
	unseen(doc, &removed)
	switch {
	case left > 0:
		warn(doc, sift.WarnDeepMarkup, fmt.Sprintf("the outline is too large to be listed whole: %d more entries are left out; mode raw has all of it", left))
	case r.cut:
		warn(doc, sift.WarnDeepMarkup, "the outline is too large or too deep to be listed whole; mode raw has all of it")
	}
	return true, nil
}

// listOf gives the list that an item goes into: of the innermost item around
// it, or of the document.
func listOf(body *html.Node, path []*html.Node) *html.Node {
	in, depth := body, 0
	for _, p := range path {
		if p != nil && depth < maxOPMLDepth {
			in = p
			depth++
		}
	}
	if c := in.LastChild; c != nil && c.DataAtom == atom.Ul {
		return c
	}
	list := dom.Element(atom.Ul)
	in.AppendChild(list)
	return list
}

// outline makes the item of one outline element.
func (l *lister) outline(r *xmlReader) *html.Node {
	item := dom.Element(atom.Li)
	name := r.attr("text")
	if name == "" {
		name = r.attr("title")
	}
	page, feed := r.attr("htmlurl"), r.attr("xmlurl")
	if page == "" {
		page = r.attr("url")
	}
	switch {
	case page != "" && feed != "":
		item.AppendChild(l.link(name, page))
		item.AppendChild(dom.Text(" ("))
		item.AppendChild(l.link("feed", feed))
		item.AppendChild(dom.Text(")"))
	case page != "" || feed != "":
		item.AppendChild(l.link(name, page+feed))
	default:
		item.AppendChild(dom.Text(l.clean.Line(name)))
	}
	if d := l.clean.Line(r.attr("description")); d != "" && d != name {
		item.AppendChild(dom.Text(": " + d))
	}
	return item
}
