package normalize

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"sift.build/sift/internal/dom"
)

// apart puts a space between two pieces of a line that only a style sheet keeps
// apart: a time, a speaker and what is said, a name and a date, a field and its
// type. n has just been finished; what stands before it is in the normal form.
func (p *pass) apart(n *html.Node) {
	prev := n.PrevSibling
	if prev == nil || n.Parent == nil || prev.Type != html.ElementNode || !isPiece(prev) || n.Type == html.ElementNode && !isPiece(n) {
		return
	}
	last, long := lastRune(prev)
	first := firstRune(n)
	if !joins(last, first) && (n.DataAtom != atom.Code || !wordRune(last)) || inCode(n) {
		return
	}
	if n.Type == html.TextNode {
		if !opensLine(prev) || !labelled(prev, last, first, long) {
			return
		}
	} else if !piecesDiffer(prev, n, last, first, long) {
		return
	}
	n.Parent.InsertBefore(dom.Text(" "), n)
}

// isPiece says that n is an element that people style pieces of a line with.
func isPiece(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Span, atom.A, atom.Time, atom.Code, atom.Strong, atom.Em, atom.Small, atom.Cite:
		return !dom.HasAttr(n, "data-math") && !dom.HasAttr(n, "data-noteref")
	}
	return false
}

// joins says that two characters would be read as one word, or as a label and
// its value without a space.
func joins(last, first rune) bool {
	if !wordRune(first) {
		return false
	}
	return wordRune(last) || last == ')' || last == ':'
}

// wordRune says that r is a letter of a script with spaces, or a digit.
func wordRune(r rune) bool { return (unicode.IsLetter(r) || unicode.IsDigit(r)) && !isCJK(r) }

// piecesDiffer says that two elements beside each other are pieces of their own
// and not parts of one word: they have names, or one is a number, and neither is
// a single letter.
func piecesDiffer(prev, n *html.Node, last, first rune, long bool) bool {
	_, other := lastRune(n)
	a, b := pieceName(prev), pieceName(n)
	if a != "" || b != "" {
		return !marking(a) && !marking(b) && (long && other || a != b && (long || other))
	}
	return (prev.DataAtom == atom.Span || n.DataAtom == atom.Span) && other && unicode.IsDigit(last) && unicode.IsLetter(first)
}

// labelled says that the element prev, which a line begins with, is a label for
// the text behind it.
func labelled(prev *html.Node, last, first rune, long bool) bool {
	switch {
	case !long:
		return false
	case prev.DataAtom == atom.Cite || prev.DataAtom == atom.Time:
		return true
	case last == ':' && unicode.IsLetter(first):
		return true
	case pieceName(prev) == "" || marking(pieceName(prev)):
		return false
	}
	return last == ')' || unicode.IsUpper(first) && !unicode.IsUpper(last) || unicode.IsDigit(first) && unicode.IsLetter(last)
}

// pieceName gives what names a piece: its class, or an element that means one.
func pieceName(n *html.Node) string {
	switch n.DataAtom {
	case atom.Time, atom.Cite:
		return n.Data
	case atom.Code:
		return ""
	}
	if s := dom.Attr(n, "class"); s != "" {
		return s
	}
	return dom.Attr(n, "itemprop")
}

// marking says that a class marks a part of a word: what was searched for, a
// first letter, a syllable.
func marking(class string) bool {
	return eachToken(class, func(t string) bool {
		return hasWord(t, "highlight") || hasWord(t, "match") || t == "hl" || hasWord(t, "cap") || hasWord(t, "letter") || hasWord(t, "char") || hasWord(t, "syllab") || hasWord(t, "token") || hasWord(t, "logo")
	})
}

// opensLine says that nothing but such pieces stands before n in its block.
func opensLine(n *html.Node) bool {
	bound := 8
	for s := n.PrevSibling; s != nil; s = s.PrevSibling {
		if bound--; bound < 0 || s.Type == html.TextNode && strings.Trim(s.Data, " \n") != "" || s.Type == html.ElementNode && s.DataAtom != atom.Br && !isPiece(s) {
			return s.Type == html.ElementNode && (s.DataAtom == atom.Br || s.DataAtom == atom.Img)
		}
		if s.DataAtom == atom.Br {
			return true
		}
	}
	return n.Parent != nil && (IsBlock(n.Parent) || n.Parent.DataAtom == atom.Span || n.Parent.DataAtom == atom.Label || n.Parent.DataAtom == atom.Form)
}

// inCode says that n stands in inline code or in a formula.
func inCode(n *html.Node) bool {
	for up := n.Parent; up != nil && !IsBlock(up); up = up.Parent {
		if up.DataAtom == atom.Code || up.DataAtom == atom.Samp || up.DataAtom == atom.Var || dom.HasAttr(up, "data-math") {
			return true
		}
	}
	return false
}

// lastRune gives the last character under n, and whether there are more.
func lastRune(n *html.Node) (r rune, long bool) {
	for c := n; c != nil; c = c.LastChild {
		if c.Type == html.TextNode {
			r, size := utf8.DecodeLastRuneInString(c.Data)
			return r, len(c.Data) > size || c != n && c.PrevSibling != nil
		}
	}
	return 0, false
}

// firstRune gives the first character under n.
func firstRune(n *html.Node) rune {
	for c := n; c != nil; c = c.FirstChild {
		if c.Type == html.TextNode {
			r, _ := utf8.DecodeRuneInString(c.Data)
			return r
		}
	}
	return 0
}
