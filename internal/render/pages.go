package render

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"sift.build/sift/internal/dom"
	"sift.build/sift/internal/sift"
)

// SelectPages gives a PDF document with those pages only that keep says, in
// trees of its own.
func SelectPages(doc *sift.Document, keep func(page int) bool) *sift.Document {
	d := *doc
	d.Main = &html.Node{Type: html.ElementNode, Data: "body", DataAtom: atom.Body}
	for c := doc.Main.FirstChild; c != nil; c = c.NextSibling {
		if number := pageNumber(c); number > 0 && keep(number) {
			d.Main.AppendChild(clone(c))
		}
	}
	return &d
}

// PagesOf lists the pages of a PDF document that were read.
func PagesOf(doc *sift.Document) []int {
	pages := []int{}
	for c := doc.Main.FirstChild; c != nil; c = c.NextSibling {
		if number := pageNumber(c); number > 0 {
			pages = append(pages, number)
		}
	}
	return pages
}

// clone copies a tree, without recursion.
func clone(n *html.Node) *html.Node {
	bare := func(n *html.Node) *html.Node {
		return &html.Node{Type: n.Type, Data: n.Data, DataAtom: n.DataAtom, Attr: n.Attr}
	}
	root := bare(n)
	at := root
	for c := n; ; {
		if c.FirstChild != nil {
			c = c.FirstChild
			next := bare(c)
			at.AppendChild(next)
			at = next
			continue
		}
		for c != n && c.NextSibling == nil {
			c, at = c.Parent, at.Parent
		}
		if c == n {
			return root
		}
		c = c.NextSibling
		next := bare(c)
		at.Parent.AppendChild(next)
		at = next
	}
}

// pageNumber gives the number of the page that a section of a PDF holds, 0 for
// any other element.
func pageNumber(n *html.Node) int {
	if n.DataAtom != atom.Section {
		return 0
	}
	number, err := strconv.Atoi(dom.Attr(n, "data-page"))
	if err != nil {
		return 0
	}
	return max(number, 0)
}

// pageStart is where a page begins in what was written, in bytes.
type pageStart struct{ number, at int }

// PageMarker is the line in front of a page of a PDF in Markdown.
func PageMarker(number int) string { return "<!-- page " + strconv.Itoa(number) + " -->" }

// pageMarker writes the line in front of a page of a PDF.
func (w *writer) pageMarker(number int) {
	w.startBlock(2)
	w.begin()
	w.pages = append(w.pages, pageStart{number, w.lineAt})
	if w.plain {
		w.out = append(w.out, "[page "...)
		w.out = append(strconv.AppendInt(w.out, int64(number), 10), ']')
	} else {
		w.out = append(w.out, PageMarker(number)...)
	}
	w.startBlock(2)
}

// ownMarkers puts a backslash in front of each line of the file's own that reads
// like the marker of a page, so that no page can forge one: in plain text, and in
// code. Of other text Markdown's escapes have done so.
func (w *writer) ownMarkers() {
	open, end := "<!-- page ", " -->"
	if w.plain {
		open, end = "[page ", "]"
	}
	if bytes.Count(w.out, []byte(open)) <= len(w.pages) {
		return // they are the writer's
	}
	var forged []int
	for at := 0; ; {
		i := bytes.Index(w.out[at:], []byte(open))
		if i < 0 {
			break
		}
		i += at
		at = i + len(open)
		line := bytes.LastIndexByte(w.out[:i], '\n') + 1
		_, own := slices.BinarySearchFunc(w.pages, line, func(p pageStart, at int) int { return cmp.Compare(p.at, at) })
		rest := bytes.TrimLeft(w.out[at:], "0123456789")
		if !own && len(rest) < len(w.out)-at && bytes.HasPrefix(rest, []byte(end)) && len(bytes.Trim(w.out[line:i], " >\t")) == 0 {
			forged = append(forged, i)
		}
	}
	out, from := make([]byte, 0, len(w.out)+len(forged)), 0
	for _, i := range forged {
		out = append(append(out, w.out[from:i]...), '\\')
		from = i
	}
	w.out = append(out, w.out[from:]...)
	for i := range w.heads {
		n, _ := slices.BinarySearch(forged, w.heads[i].at)
		w.heads[i].at += n
	}
	for i := range w.pages {
		n, _ := slices.BinarySearch(forged, w.pages[i].at)
		w.pages[i].at += n
	}
}

// pageStarts turns positions in bytes, in order, into characters.
func pageStarts(content string, at []pageStart) []PageStart {
	if len(at) == 0 {
		return nil
	}
	out := make([]PageStart, len(at))
	pos, chars := 0, 0
	for i, p := range at {
		to := min(max(p.at, pos), len(content))
		chars += utf8.RuneCountInString(content[pos:to])
		pos = to
		out[i] = PageStart{Number: p.number, Offset: chars}
	}
	return out
}

// bookmarked gives the outline that a PDF has of its own: each entry at the
// heading of its page that is named like it, else at the beginning of the page
// or where the entry before it is. Entries of pages that are not there are left
// out; nil says that there are none.
func bookmarked(heads []head, pages []pageStart, bookmarks []sift.Bookmark) []head {
	at := make(map[int]int, len(pages))    // where each page begins
	until := make(map[int]int, len(pages)) // and where the next does
	for i, p := range pages {
		at[p.number] = p.at
		until[p.number] = int(^uint(0) >> 1)
		if i+1 < len(pages) {
			until[p.number] = pages[i+1].at
		}
	}
	// The positions of the headings, by their names, and by these without numbers:
	// often only one of the two has the number.
	byName, byWords := make(map[string][]int, len(heads)), make(map[string][]int, len(heads))
	for _, h := range heads {
		name, words := bareName(h.text), bareName(unnumbered(h.text))
		byName[name] = append(byName[name], h.at)
		byWords[words] = append(byWords[words], h.at)
	}
	var out []head
	for _, b := range bookmarks {
		start, ok := at[b.Page]
		if !ok {
			continue
		}
		h := head{level: min(max(b.Level, 1), 6), text: b.Title, at: start}
		if n := len(out); n > 0 && out[n-1].at > start && out[n-1].at < until[b.Page] {
			h.at = out[n-1].at // not in front of the entry before it
		}
		for _, same := range [][]int{byName[bareName(b.Title)], byWords[bareName(unnumbered(b.Title))]} {
			if i, _ := slices.BinarySearch(same, h.at); i < len(same) && same[i] < until[b.Page] {
				h.at = same[i]
				break
			}
		}
		out = append(out, h)
	}
	slices.SortStableFunc(out, func(a, b head) int { return cmp.Compare(a.at, b.at) })
	return out
}

// merged puts the headings of the pages under the bookmarks that they follow,
// but for those that a bookmark names. Under one of the lowest level there is no
// room for them.
func merged(heads, marks []head) []head {
	if len(marks) == 0 {
		return heads
	}
	out := make([]head, 0, len(heads)+len(marks))
	for {
		// The headings in front of the next bookmark, which are under the last.
		n := len(heads)
		if len(marks) > 0 {
			n, _ = slices.BinarySearchFunc(heads, marks[0].at, func(h head, at int) int { return cmp.Compare(h.at, at) })
		}
		under, shift := 0, 0
		if len(out) > 0 {
			under = out[len(out)-1].level
			top := 6
			for _, h := range heads[:n] {
				top = min(top, h.level)
			}
			shift = under + 1 - top
		}
		for _, h := range heads[:n] {
			if h.level = min(h.level+shift, 6); h.level > under {
				out = append(out, h)
			}
		}
		heads = heads[n:]
		if len(marks) == 0 {
			return out
		}
		out = append(out, marks[0])
		for len(heads) > 0 && heads[0].at == marks[0].at && bareName(unnumbered(heads[0].text)) == bareName(unnumbered(marks[0].text)) {
			heads = heads[1:]
		}
		marks = marks[1:]
	}
}

// unnumbered is a heading without the number in front of it: 1.2, A.1, IV., or
// with the word for it, as in Chapter 3. What is nothing but a number is itself.
func unnumbered(s string) string {
	s = strings.TrimSpace(s)
	first, rest, _ := strings.Cut(s, " ")
	switch strings.ToLower(first) {
	case "chapter", "section", "appendix", "part", "annex", "kapitel", "abschnitt", "anhang", "teil", "chapitre", "annexe", "capítulo", "sección":
		first, rest, _ = strings.Cut(strings.TrimSpace(rest), " ")
		first += "." // after such a word a letter alone is a number too
	}
	rest = strings.TrimLeft(rest, " \u00a0-–—:.")
	if rest == "" || !isNumbering(first) {
		return s
	}
	return rest
}

// isNumbering says that a word is one of those that number headings: digits, single
// letters and Roman numerals, parted by dots.
func isNumbering(word string) bool {
	trimmed := strings.TrimRight(word, ".):")
	if trimmed == "" {
		return false
	}
	for part := range strings.SplitSeq(trimmed, ".") {
		digits := strings.Trim(part, "0123456789") == ""
		letter := len(part) == 1 && (part[0]|0x20 >= 'a' && part[0]|0x20 <= 'z')
		roman := strings.Trim(part, "IVXLC") == ""
		if part == "" || !digits && !letter && !roman {
			return false
		}
	}
	// A single letter alone may be a word: "A page".
	return len(trimmed) > 1 || trimmed[0] >= '0' && trimmed[0] <= '9' || trimmed != word
}

// bareName is what two spellings of one heading have in common: its letters and
// digits, in lower case.
func bareName(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
}
