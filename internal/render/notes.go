package render

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"sift.build/sift/internal/dom"
)

// findNotes collects the footnotes under body that something under body refers
// to, and names each after its first reference.
func (w *writer) findNotes(body *html.Node) {
	for c := body.FirstChild; c != nil; c = dom.Next(c, body) {
		if c.DataAtom != atom.A {
			continue
		}
		id := dom.Attr(c, "data-noteref")
		if id == "" {
			continue
		}
		if w.notes == nil {
			w.notes, w.noteNames = make(map[string]*note), make(map[string]bool)
		}
		if w.notes[id] == nil {
			w.notes[id] = &note{label: w.noteName(flatText(c))}
		}
	}
	if w.notes == nil {
		return
	}
	for c := body.FirstChild; c != nil; c = dom.Next(c, body) {
		if c.Type != html.ElementNode || c.DataAtom == atom.A {
			continue
		}
		if fn := w.notes[dom.Attr(c, "id")]; fn != nil && fn.node == nil && dom.Attr(c, "id") != "" {
			fn.node = c
		}
	}
}

// noteName makes a footnote's label from what its reference shows.
func (w *writer) noteName(s string) string {
	var b []byte
	for i := 0; i < len(s) && len(b) < 12; i++ {
		if isAlnum(s[i]) || s[i] == '-' {
			b = append(b, s[i])
		}
	}
	name := string(b)
	for k := len(w.noteNames) + 1; name == "" || w.noteNames[strings.ToLower(name)]; k++ {
		name = "n" + strconv.Itoa(k)
	}
	w.noteNames[strings.ToLower(name)] = true
	return name
}

// noteAt gives the footnote whose text is n.
func (w *writer) noteAt(n *html.Node) *note {
	if w.notes == nil || w.cell || len(n.Attr) == 0 {
		return nil
	}
	if fn := w.notes[dom.Attr(n, "id")]; fn != nil && fn.node == n {
		return fn
	}
	return nil
}

// reference writes a footnote reference. It says no when the link is to be
// written as any other.
func (w *writer) reference(n *html.Node, id string) bool {
	fn := w.notes[id]
	if fn == nil || fn.node == nil || w.plain || w.inLink {
		s := strings.Trim(flatText(n), "[]() ")
		if s == "" {
			return false
		}
		w.text("[" + s + "]") // no note: its number, but no way to it
		return true
	}
	w.raw("[^"+fn.label+"]", '[', ']')
	return true
}

// footnote writes the text of a note.
func (w *writer) footnote(n *html.Node, fn *note) {
	w.endText()
	if w.want > 1 && w.lastNote == len(w.out) && w.lastNote > 0 {
		w.want = 1
	}
	w.startBlock(1)
	w.dropLabel(n, fn)
	if w.plain {
		w.push("["+fn.label+"] ", "    ")
	} else {
		w.push("[^"+fn.label+"]: ", "    ")
	}
	w.children(n)
	w.endText()
	if w.pop() {
		w.lastNote = len(w.out)
	}
	w.startBlock(2)
}

// dropLabel takes the note's own number off its beginning.
func (w *writer) dropLabel(n *html.Node, fn *note) {
	c := n.FirstChild
	for range 4 {
		for c != nil && c.Type == html.TextNode && strings.Trim(c.Data, " \n") == "" {
			c = c.NextSibling
		}
		if c == nil || c.Type != html.ElementNode {
			return
		}
		switch c.DataAtom {
		case atom.A, atom.Sup, atom.Span, atom.Strong:
			if strings.Trim(flatText(c), "[]().: ") == fn.label {
				w.skipped = c
				return
			}
		}
		c = c.FirstChild
	}
}
