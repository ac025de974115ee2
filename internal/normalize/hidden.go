package normalize

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// sampleMax is how much hidden text is shown in a warning, in characters.
const sampleMax = 200

// How an element is hidden.
const (
	visible    = iota
	hiddenText // out of sight: left out and counted
	assistive  // for screen readers only: left out and counted apart
	decoration // says nothing, or says again what stands beside it
)

// hidden judges one element by its own attributes. Rules of style sheets are
// not looked at, except that the usual names of classes that hide are known;
// so text that only a site's own class hides comes through, and so does white
// text on a white page.
func (p *pass) hidden(n *html.Node, a *attrs) int {
	if a.class != "" {
		if k := hiddenClass(a.class); k != visible && !(k == hiddenText && p.opens(n, a)) {
			return k
		}
	}
	if a.hidden && !a.untilFound && !p.opens(n, a) {
		return hiddenText
	}
	if a.style != "" {
		switch s := readStyle(a.style); {
		case s.gone:
			if !p.opens(n, a) {
				return hiddenText
			}
		case s.unseen && !a.animated && !s.moves && !animatedClass(a.class) && !sectioned(n):
			return hiddenText
		case s.tiny, s.colourless:
			if p.hideOwnText(n, s) {
				return hiddenText
			}
		}
	}
	if a.ariaHidden {
		return p.ariaHidden(n, a)
	}
	return visible
}

// sectioned says that n holds a whole part of the page, with a heading of its
// own: many sites keep such a part unseen until a script has styled it. Text
// that hides on its own has no heading.
func sectioned(n *html.Node) bool {
	return n.DataAtom == atom.Main || n.DataAtom == atom.Article || find(n, 2_000, IsHeading) != nil
}

// unseen says that an element inside a formula or a code block, where the rules
// for panels and sections mean nothing, is hidden.
func unseen(a *attrs) bool {
	if a.hidden || a.class != "" && hiddenClass(a.class) != visible {
		return true
	}
	if a.style == "" {
		return false
	}
	s := readStyle(a.style)
	return s.gone || s.unseen || s.tiny || s.colourless
}

// hide counts the text of n, which is about to go, in total.
func (p *pass) hide(n *html.Node, total *int) {
	for c := n; c != nil; c = following(c, n, visibleByNature(c)) {
		if c.Type != html.TextNode || !visibleByNature(c.Parent) {
			continue
		}
		*total += countText(c.Data)
		if total == &p.res.HiddenText && len(p.blurb) < 4*sampleMax {
			p.blurb = append(append(p.blurb, c.Data[:min(len(c.Data), 4*sampleMax)]...), ' ')
		}
	}
}

// visibleByNature says that the contents of n are shown when n is.
func visibleByNature(n *html.Node) bool {
	if n == nil || n.Type != html.ElementNode {
		return true
	}
	switch n.DataAtom {
	case atom.Script, atom.Style, atom.Template, atom.Noscript, atom.Noframes, atom.Noembed, atom.Svg, atom.Select, atom.Textarea, atom.Iframe:
		return false
	}
	return true
}

// plainCSS takes the comments out of declarations and resolves escapes, behind
// which a declaration that hides could hide itself (CSS Syntax Level 3, 4.3).
func plainCSS(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case strings.HasPrefix(s[i:], "/*"):
			end := strings.Index(s[i+2:], "*/")
			if end < 0 {
				return strings.ToLower(b.String())
			}
			i += 2 + end + 1
		case s[i] == '\\' && i+1 < len(s):
			n := 1
			for n <= 6 && i+n < len(s) && strings.IndexByte("0123456789abcdefABCDEF", s[i+n]) >= 0 {
				n++
			}
			if n == 1 {
				continue // the next character stands for itself
			}
			if r, err := strconv.ParseUint(s[i+1:i+n], 16, 32); err == nil && r < 0x80 {
				b.WriteByte(byte(r))
			} else {
				b.WriteRune(utf8.RuneError)
			}
			i += n - 1
			if i+1 < len(s) && (s[i+1] == ' ' || s[i+1] == '\t' || s[i+1] == '\n') {
				i++ // one white space ends an escape
			}
		default:
			b.WriteByte(s[i])
		}
	}
	return strings.ToLower(b.String())
}

// style is what an inline style says about being seen.
type style struct {
	gone       bool // not there, or out of the picture
	unseen     bool // takes up its place: opacity 0, visibility hidden
	moves      bool // a transition or transform that a script may end
	tiny       bool // a font of at most one pixel
	colourless bool // transparent text, or text of its background's colour
}

// readStyle reads the declarations of a style attribute. It allocates only for
// upper-case letters.
func readStyle(s string) (out style) {
	for i := 0; i < len(s); i++ {
		if s[i] >= 'A' && s[i] <= 'Z' {
			s = strings.ToLower(s)
			break
		}
	}
	if strings.Contains(s, "/*") || strings.IndexByte(s, '\\') >= 0 {
		s = plainCSS(s)
	}
	var cropped, empty, placed, boxed, padded, clipsText bool
	var colour, background string
	far := false
	for s != "" {
		var decl string
		decl, s, _ = strings.Cut(s, ";")
		name, val, ok := strings.Cut(decl, ":")
		if !ok {
			continue
		}
		name = strings.TrimSpace(name)
		val = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(val), "!important"))
		switch name {
		case "display":
			out.gone = out.gone || val == "none"
		case "visibility":
			out.unseen = out.unseen || val == "hidden" || val == "collapse"
		case "content-visibility":
			out.gone = out.gone || val == "hidden"
		case "mso-hide":
			out.gone = out.gone || val == "all"
		case "opacity":
			if n, _, ok := number(val); ok && n <= 0.01 {
				out.unseen = true
			}
		case "filter":
			out.unseen = out.unseen || strings.HasPrefix(val, "opacity(0")
		case "transition", "animation", "will-change", "animation-name", "transition-property":
			out.moves = true
		case "transform", "-webkit-transform":
			out.moves = true
			switch {
			case strings.HasPrefix(val, "scale(0)"), strings.HasPrefix(val, "scale(0,"), strings.HasPrefix(val, "scalex(0)"), strings.HasPrefix(val, "scaley(0)"):
				out.gone = true
			case strings.HasPrefix(val, "translate"):
				_, arg, _ := strings.Cut(val, "(")
				x, y, _ := strings.Cut(strings.TrimSuffix(arg, ")"), ",")
				out.gone = out.gone || farAway(x) || farAway(y)
			}
		case "font-size":
			n, unit, ok := number(val)
			out.tiny = ok && (n == 0 || n <= 1 && (unit == "px" || unit == "pt"))
		case "font":
			if size, _, _ := strings.Cut(val, "/"); size != "" {
				n, unit, ok := number(size[strings.LastIndexByte(size, ' ')+1:])
				out.tiny = out.tiny || ok && (n == 0 || n <= 1 && (unit == "px" || unit == "pt"))
			}
		case "color":
			colour = val
			out.colourless = noColour(val)
		case "-webkit-text-fill-color":
			clipsText = clipsText || noColour(val)
		case "background", "background-color":
			background = val
			clipsText = clipsText || strings.Contains(val, "text")
		case "background-clip", "-webkit-background-clip":
			clipsText = true
		case "position":
			placed = val == "absolute" || val == "fixed" || val == "relative"
		case "left", "right", "top", "bottom":
			far = far || farAway(val)
		case "margin-left", "margin-top", "text-indent", "margin":
			out.gone = out.gone || farAway(val)
		case "clip":
			if rest, ok := strings.CutPrefix(val, "rect("); ok {
				boxed = onlySmall(strings.TrimSuffix(rest, ")"))
			}
		case "clip-path", "-webkit-clip-path":
			out.gone = out.gone || clipsAll(val)
		case "width", "height", "max-height", "max-width":
			n, unit, ok := number(val)
			empty = empty || ok && (n == 0 || n <= 1 && unit == "px")
		case "padding", "padding-bottom", "padding-top":
			padded = padded || strings.IndexByte(val, '%') > 0 // a box kept in proportion, as around videos
		case "overflow", "overflow-x", "overflow-y":
			cropped = cropped || val == "hidden" || val == "clip"
		}
	}
	out.gone = out.gone || placed && (far || boxed) || cropped && empty && !padded
	if clipsText {
		out.colourless = false
	} else if colour != "" && colour == background {
		out.colourless = true
	}
	return out
}

// onlySmall says that every length in s is at most one pixel.
func onlySmall(s string) bool {
	fields := strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == ',' })
	for _, f := range fields {
		if n, _, ok := number(f); !ok || n > 1 {
			return false
		}
	}
	return len(fields) > 0
}

// number reads a CSS number and its unit.
func number(s string) (n float64, unit string, ok bool) {
	i := 0
	for i < len(s) && (s[i] >= '0' && s[i] <= '9' || s[i] == '.' || i == 0 && (s[i] == '-' || s[i] == '+')) {
		i++
	}
	if i == 0 || i > 24 {
		return 0, "", false
	}
	n, err := strconv.ParseFloat(s[:i], 64)
	return n, s[i:], err == nil
}

// farAway says that a length moves its element off any screen. (A fifth of a
// million to the right is as invisible as to the left.)
func farAway(s string) bool {
	n, unit, ok := number(strings.TrimSpace(s))
	if !ok {
		return false
	}
	switch unit {
	case "px", "", "pt":
		return n <= -900 || n >= 9000
	case "em", "rem", "vw", "vh", "ch":
		return n <= -90 || n >= 900
	case "%":
		return n <= -500 || n >= 900
	}
	return false
}

func noColour(s string) bool {
	if s == "transparent" {
		return true
	}
	if strings.HasPrefix(s, "rgba(") || strings.HasPrefix(s, "hsla(") || strings.HasPrefix(s, "rgb(") && strings.ContainsAny(s, "/") {
		s = strings.TrimSpace(strings.TrimSuffix(s, ")"))
		i := strings.LastIndexAny(s, ",/ ")
		if strings.Count(s, ",") < 3 && !strings.Contains(s, "/") {
			return false
		}
		n, _, ok := number(strings.TrimSpace(s[i+1:]))
		return ok && n <= 0.01
	}
	return len(s) == 5 && s[0] == '#' && s[4] == '0' || len(s) == 9 && s[0] == '#' && s[7:] == "00"
}

// clipsAll says that a clip-path leaves nothing to see.
func clipsAll(s string) bool {
	if arg, ok := strings.CutPrefix(s, "inset("); ok {
		n, unit, ok := number(arg)
		return ok && strings.HasPrefix(unit, "%") && n >= 50
	}
	return strings.HasPrefix(s, "circle(0") || strings.HasPrefix(s, "polygon(0 0,0 0,") || strings.HasPrefix(s, "polygon(0 0, 0 0,") ||
		strings.HasPrefix(s, "polygon(0px 0px, 0px 0px,")
}

// hideOwnText takes care of a font size or colour that hides: descendants that
// set their own come through, as in mail layouts, whose cells have size 0. It
// says whether the whole element is hidden; else only its own text has gone.
func (p *pass) hideOwnText(n *html.Node, s style) bool {
	const bound = 4096 // nodes looked at: such elements are small
	resets := false
	i := 0
	for c := n.FirstChild; c != nil && !resets; c = following(c, n, true) {
		if i++; i > bound {
			return false
		}
		if c.Type != html.ElementNode {
			continue
		}
		if st := Attr(c, "style"); st != "" {
			st = strings.ToLower(st)
			r := readStyle(st)
			resets = s.tiny && strings.Contains(st, "font") && !r.tiny || s.colourless && strings.Contains(st, "color") && !r.colourless
		} else if c.DataAtom == atom.Font || c.DataAtom == atom.Img || c.DataAtom == atom.Table {
			resets = true
		}
	}
	if !resets {
		return true
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.TextNode {
			p.hide(c, &p.res.HiddenText)
			c.Data = ""
		}
	}
	return false
}

// hiddenClass knows the usual names of classes that hide.
func hiddenClass(class string) int {
	kind := visible
	shown := false
	eachToken(class, func(t string) bool {
		switch t {
		case "sr-only", "sr_only", "sronly", "visually-hidden", "visuallyhidden", "visually_hidden", "screen-reader-text", "screen-reader-only",
			"screenreader-only", "screenreader", "sr-text", "a11y-hidden", "u-visually-hidden", "is-visually-hidden", "u-visuallyhidden",
			"element-invisible", "assistive-text", "offscreen", "off-screen", "a-offscreen", "hidden-visually", "visually-hidden-focusable",
			"sr-only-focusable", "cdk-visually-hidden", "mw-visually-hidden", "hidden-accessible", "ui-helper-hidden-accessible", "accessibly-hidden":
			kind = assistive
		case "d-none", "hidden", "is-hidden", "u-hidden", "invisible", "display-none", "uk-hidden", "ng-hide", "visibility-hidden":
			kind = max(kind, hiddenText)
		case "not-sr-only", "visible":
			shown = true
		default:
			switch {
			case t[0] == 'd' && strings.HasPrefix(t, "d-") && !strings.HasSuffix(t, "-none") && !strings.HasPrefix(t, "d-print"):
				shown = shown || strings.Count(t, "-") >= 2 // d-md-block: shown on a wider screen
			case strings.IndexByte(t, ':') > 0: // md:block, lg:flex
				_, v, _ := strings.Cut(t, ":")
				switch v {
				case "block", "flex", "inline", "inline-block", "inline-flex", "grid", "table", "table-cell", "table-row", "contents", "visible", "not-sr-only":
					shown = shown || !strings.HasPrefix(t, "print:")
				}
			case len(t) > 14 && (strings.HasPrefix(t, "visuallyHidden") || strings.HasPrefix(t, "VisuallyHidden") || strings.HasPrefix(t, "visually-hidden_")):
				kind = assistive
			}
		}
		return false
	})
	if shown {
		return visible
	}
	return kind
}

func animatedClass(class string) bool {
	return eachToken(class, func(t string) bool {
		return hasWord(t, "anim") || hasWord(t, "fade") || hasWord(t, "reveal") || hasWord(t, "aos") || hasWord(t, "wow") || hasWord(t, "lazy") || hasWord(t, "appear")
	})
}

// hasWord says that t holds w, whatever the case.
func hasWord(t, w string) bool {
	for i := 0; i+len(w) <= len(t); i++ {
		if (t[i]|0x20) == w[0] && strings.EqualFold(t[i:i+len(w)], w) {
			return true
		}
	}
	return false
}

// opener notes which panels n opens: a tab's, or those of a button that says
// whether it is open. Menus and dialogs are not meant.
func (p *pass) opener(n *html.Node) {
	var controls, role string
	expands, popup := false, false
	for i := range n.Attr {
		switch at := &n.Attr[i]; at.Key {
		case "hidden":
			if id := Attr(n, "id"); strings.HasPrefix(id, "S:") && n.DataAtom == atom.Div {
				if p.parts == nil {
					p.parts = make(map[string]*html.Node)
				}
				p.parts[id[2:]] = n
			}
		case "aria-controls":
			controls = at.Val
		case "role":
			role = at.Val
		case "aria-expanded":
			expands = true
		case "aria-haspopup":
			popup = at.Val != "false"
		}
	}
	if controls == "" || popup || role != "tab" && !expands {
		return
	}
	if p.controlled == nil {
		p.controlled = make(map[string]struct{})
	}
	p.controlled[controls] = struct{}{}
}

// opens says that n is something that a reader opens with a click: a tab's
// panel, an accordion's, details. Its text is content, though hidden at first.
func (p *pass) opens(n *html.Node, a *attrs) bool {
	switch n.DataAtom {
	case atom.Nav, atom.Dialog, atom.Header, atom.Footer, atom.Aside:
		return false
	case atom.Details, atom.Summary:
		return true
	}
	switch a.role {
	case "tabpanel":
		return true
	case "region":
		// An accordion's panel is named by its button. A region without a name
		// says nothing of being opened.
		if Attr(n, "aria-labelledby") != "" {
			return true
		}
	case "dialog", "alertdialog", "menu", "menubar", "navigation", "search", "alert", "status", "tooltip", "banner":
		return false
	}
	panel, furniture := false, false
	eachToken(a.class, func(t string) bool {
		switch {
		case hasWord(t, "menu"), hasWord(t, "nav"), hasWord(t, "modal"), hasWord(t, "popup"), hasWord(t, "dropdown"), hasWord(t, "search"),
			hasWord(t, "cookie"), hasWord(t, "dialog"), hasWord(t, "tooltip"), hasWord(t, "drawer"):
			furniture = true
		case hasWord(t, "tab") && (hasWord(t, "pane") || hasWord(t, "content") || hasWord(t, "panel")),
			hasWord(t, "accordion"), hasWord(t, "collaps"), hasWord(t, "expander"), hasWord(t, "spoiler"), hasWord(t, "faq"), hasWord(t, "disclosure"):
			panel = true
		}
		return furniture
	})
	if furniture {
		return false
	}
	if panel {
		return true
	}
	if a.id != "" && p.controlled != nil {
		_, ok := p.controlled[a.id]
		return ok
	}
	return false
}

// ariaHidden judges an element that is kept from screen readers. It may well
// be what everybody else reads, so it goes only when it is an ornament, a copy
// of what stands beside it, or a closed dialog or menu.
func (p *pass) ariaHidden(n *html.Node, a *attrs) int {
	// An ornament: no letter or digit in it, or only a few in an icon's element.
	const enough = 40
	letters, parts, bound := 0, 0, 500 // what has more nodes is no ornament
	for c := n.FirstChild; c != nil && letters < enough; c = following(c, n, visibleByNature(c)) {
		if bound--; bound < 0 {
			letters = enough
			break
		}
		if c.Type == html.TextNode && visibleByNature(c.Parent) {
			for i := 0; i < len(c.Data) && letters < enough; i++ {
				if b := c.Data[i]; b >= '0' && b <= '9' || b|0x20 >= 'a' && b|0x20 <= 'z' || b >= 0xc3 && b < 0xe2 || b > 0xe2 && b < 0xee {
					letters++
				}
			}
		}
		if c.DataAtom == atom.Img && letters == 0 {
			return visible
		}
		if IsBlock(c) {
			parts++
		}
	}
	if letters == 0 {
		return decoration
	}
	icon := n.DataAtom == atom.I || eachToken(a.class, func(t string) bool {
		return hasWord(t, "icon") || hasWord(t, "lineno") || hasWord(t, "line-number") || t == "ln" || hasWord(t, "anchor") || hasWord(t, "glyph")
	})
	if icon && letters < enough {
		return decoration
	}
	if eachToken(a.class, func(t string) bool {
		return hasWord(t, "modal") || hasWord(t, "dialog") || hasWord(t, "popup") || hasWord(t, "drawer") || hasWord(t, "offcanvas") || hasWord(t, "off-canvas") ||
			hasWord(t, "overlay") || hasWord(t, "cloned") || hasWord(t, "dropdown") || hasWord(t, "menu")
	}) || a.role == "dialog" || a.role == "menu" {
		return hiddenText
	}
	// A few words in running text: most often what an element for screen
	// readers beside it says better, such as a price in pieces.
	if parts == 0 && (n.DataAtom == atom.Span || a.class == "" && a.id == "") {
		return hiddenText
	}
	return visible
}
