package normalize

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// attrs are the attributes of one element that decide what becomes of it.
type attrs struct {
	id, class, style, role string
	label                  string // aria-label
	typ                    string // type
	width, height          string
	colour, ground         string // color of a font element, bgcolor
	hidden, untilFound     bool
	inert                  bool
	ariaHidden             bool
	checked                bool
	animated               bool // an attribute of an animation library: transparent only until a script shows it
}

func readAttr(n *html.Node) attrs {
	var a attrs
	for i := range n.Attr {
		at := &n.Attr[i]
		switch at.Key {
		case "id":
			a.id = at.Val
		case "class":
			a.class = at.Val
		case "style":
			a.style = at.Val
		case "role":
			a.role = at.Val
		case "aria-label":
			a.label = at.Val
		case "type":
			a.typ = at.Val
		case "width":
			a.width = at.Val
		case "height":
			a.height = at.Val
		case "hidden":
			a.hidden = true
			a.untilFound = strings.EqualFold(at.Val, "until-found")
		case "inert":
			a.inert = true
		case "color":
			if n.DataAtom == atom.Font {
				a.colour = at.Val
			}
		case "bgcolor":
			a.ground = at.Val
		case "aria-hidden":
			a.ariaHidden = at.Val == "true"
		case "checked":
			a.checked = true
		case "data-w-id", "data-aos", "data-animate", "data-animation", "data-framer-appear-id", "data-scroll", "data-sal", "data-ix":
			a.animated = true
		}
	}
	return a
}

func setAttr(n *html.Node, key, val string) {
	for i := range n.Attr {
		if n.Attr[i].Key == key {
			n.Attr[i].Val = val
			return
		}
	}
	n.Attr = append(n.Attr, html.Attribute{Key: key, Val: val})
}

func removeAttr(n *html.Node, key string) {
	for i := range n.Attr {
		if n.Attr[i].Key == key {
			n.Attr = append(n.Attr[:i], n.Attr[i+1:]...)
			return
		}
	}
}

// attrMax is the longest value of an attribute that is kept, links aside. A
// longer one names nothing.
const attrMax = 4096

// keepAttr leaves the attributes of the normal form, in place. href and src are
// the business of the elements that have them.
func keepAttr(p *pass, in []html.Attribute) []html.Attribute {
	out := in[:0]
	for _, at := range in {
		if at.Namespace != "" {
			continue
		}
		switch at.Key {
		case "href":
		case "id", "class", "role", "itemprop", "itemtype", "rel", "lang", "dir", "datetime", "colspan", "rowspan", "scope", "start", "value", "type", "open", "reversed":
			if len(at.Val) > attrMax {
				continue
			}
		case "title", "aria-label":
			if len(at.Val) > attrMax {
				continue
			}
			if at.Val = p.line(at.Val); at.Val == "" {
				continue
			}
		case "name": // the old way to write an id; a link target
			at.Key = "id"
			if len(at.Val) > attrMax || at.Val == "" || has(in, "id") {
				continue
			}
		default:
			continue
		}
		out = append(out, at)
	}
	return out
}

func has(in []html.Attribute, key string) bool {
	for i := range in {
		if in[i].Key == key {
			return true
		}
	}
	return false
}

// eachToken calls f with every token of a class attribute until f says true,
// and says whether it did.
func eachToken(class string, f func(string) bool) bool {
	for i := 0; i < len(class); {
		for i < len(class) && class[i] <= ' ' {
			i++
		}
		start := i
		for i < len(class) && class[i] > ' ' {
			i++
		}
		if i > start && f(class[start:i]) {
			return true
		}
	}
	return false
}

func hasToken(class, token string) bool {
	for i := 0; ; {
		j := strings.Index(class[i:], token)
		if j < 0 {
			return false
		}
		start, end := i+j, i+j+len(token)
		if (start == 0 || class[start-1] <= ' ') && (end == len(class) || class[end] <= ' ') {
			return true
		}
		i = end
	}
}

// nextElement gives the element after n, over white space; nil when text or
// nothing follows.
func nextElement(n *html.Node) *html.Node {
	for c := n.NextSibling; c != nil; c = c.NextSibling {
		if c.Type == html.ElementNode {
			return c
		}
		if c.Type == html.TextNode && strings.Trim(c.Data, " \t\r\n\f") != "" {
			return nil
		}
	}
	return nil
}

// prevElement is nextElement in the other direction.
func prevElement(n *html.Node) *html.Node {
	for c := n.PrevSibling; c != nil; c = c.PrevSibling {
		if c.Type == html.ElementNode {
			return c
		}
		if c.Type == html.TextNode && strings.Trim(c.Data, " \t\r\n\f") != "" {
			return nil
		}
	}
	return nil
}

// headingAtom gives the element for an aria-level.
func headingAtom(level string) atom.Atom {
	switch level {
	case "1":
		return atom.H1
	case "3":
		return atom.H3
	case "4":
		return atom.H4
	case "5":
		return atom.H5
	case "6", "7", "8", "9":
		return atom.H6
	}
	return atom.H2
}
