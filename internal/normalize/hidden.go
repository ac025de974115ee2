package normalize

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"sift.build/sift/internal/dom"
)

// What becomes of an element.
const (
	visible    = iota
	hiddenText // out of sight: left out and counted
	assistive  // for screen readers only: left out and counted apart
	decoration // says nothing, or says again what stands beside it
)

// paint is how text is drawn from one element on.
type paint struct {
	node *html.Node
	fg   colour
	bg   colour
	tiny How // how the size came to be nothing, "" when it is not
	gone How // how visibility came to be hidden, "" when it is not
}

// faint says that text drawn so cannot be seen, and how that was done.
func (p *paint) faint() (How, bool) {
	switch {
	case p.gone != "":
		return p.gone, true
	case p.tiny != "":
		return HowSize, true
	case p.fg.clear || p.fg.like(p.bg):
		return HowTransparent, true
	}
	return "", false
}

// hidden judges one element by its attributes and by the style sheets that
// stand in the page itself. Of other sheets only the usual names of classes
// that hide are known. What a click or scrolling brings to sight is not hidden.
func (p *pass) hidden(n *html.Node, a *attrs) (int, How) {
	if a.class != "" {
		if k := hiddenClass(a.class); k == assistive {
			if !p.onlyLabel(n) && readerTwin(n, func(s *html.Node) bool { return dom.Attr(s, "aria-hidden") == "true" }) == nil {
				return k, HowOffscreen
			}
		} else if k == hiddenText && !p.opens(n, a) {
			return k, HowSheet
		}
	}
	if (a.hidden && !a.untilFound || a.inert && !holdsPage(n)) && !p.opens(n, a) {
		return hiddenText, HowAttribute
	}
	if kind, how := p.styled(n, a); kind != visible {
		return kind, how
	}
	if a.ariaHidden {
		return p.ariaHidden(n, a), HowAttribute
	}
	return visible, ""
}

// styled judges an element by its style attribute and the sheets, and keeps
// the paint up to date.
func (p *pass) styled(n *html.Node, a *attrs) (int, How) {
	var style, says rules
	var shown property
	var ground colour
	grounded := false
	if a.style != "" {
		style = readStyle(a.style)
	}
	if p.sheet.rules != nil {
		says, shown, ground, grounded = p.sheet.seen(n, a.id, a.class)
	}
	d := cascade(says[0], style[0], says[1], style[1])
	if d.set == 0 && !grounded && a.colour == "" && a.ground == "" && !(p.sheet.external && p.tinted) && (n.DataAtom != atom.Table || !p.tinted) {
		return visible, ""
	}
	var gone How
	own := style[0].set | style[1].set
	sheets := (says[0].hid | says[1].hid) &^ own // what only the sheets hide
	if d.hid&hiding != 0 {
		if sheets&(propAcross|propDown|propClip) != 0 && d.set&propPosition == 0 {
			d.set |= propPosition // set by a rule that was not worth keeping
		}
		seen := d
		seen.hid &^= sheets & shown
		if sheets&(propWidth|propHeight|propOverflow) != 0 && shown&(propWidth|propHeight|propOverflow) != 0 {
			seen.hid &^= propOverflow
		}
		if how, ok := seen.gone(); ok {
			bySheet := !goneWithout(seen, sheets)
			switch {
			case p.opens(n, a):
			case bySheet && p.doubtful(n, a, &seen):
			default:
				if how == HowStyle && bySheet {
					how = HowSheet
				}
				if bySheet && srPattern(&seen) {
					if p.onlyLabel(n) {
						return visible, ""
					}
					if isLabel(n) {
						return assistive, how
					}
				}
				return hiddenText, how
			}
		} else if how, ok := seen.unseen(); ok {
			own := unseenWithout(seen, sheets)
			moves := d.set&propAnimated != 0 && d.hid&propAnimated == 0 || shown&propAnimated != 0
			if !a.animated && !moves && !animatedClass(a.class) && !sectioned(n) && (own || !p.doubtful(n, a, &seen)) && !p.slides(a) && !p.opens(n, a) {
				if how == HowStyle && !own {
					how = HowSheet
				}
				if how == HowTransparent {
					return hiddenText, how
				}
				gone = how // a part of it may be visible again
			}
		}
	}
	p.draw(n, a, &d, own, shown, ground, grounded, gone)
	return visible, ""
}

// goneWithout says that the element would be gone without the sheets too.
func goneWithout(d declared, sheets property) bool {
	d.hid &^= sheets
	_, ok := d.gone()
	return ok
}

// unseenWithout says that the element would be unseen without the sheets too.
func unseenWithout(d declared, sheets property) bool {
	d.hid &^= sheets
	_, ok := d.unseen()
	return ok
}

// draw works out how the text in n is drawn.
func (p *pass) draw(n *html.Node, a *attrs, d *declared, own, shown property, ground colour, grounded bool, gone How) {
	if gone == "" && d.set&(propVisible|propSize|propColour|propGround|propPicture|propClipText|propShadow|propPosition) == 0 && !grounded && a.colour == "" && a.ground == "" && n.DataAtom != atom.Table &&
		(!p.sheet.external || a.class == "" && a.id == "") {
		return
	}
	now := p.paint[len(p.paint)-1]
	was := now
	now.node = n
	if gone != "" || d.set&propVisible != 0 && d.hid&propVisible == 0 {
		now.gone = gone
	}
	switch {
	case d.set&propSize != 0:
		now.tiny = ""
		if d.hid&propSize != 0 && (own&propSize != 0 || shown&propSize == 0) {
			now.tiny = HowStyle
			if own&propSize == 0 {
				now.tiny = HowSheet
			}
		}
	case n.DataAtom == atom.Table, now.tiny == HowSheet && p.sheet.external && a.class != "":
		now.tiny = "" // has a size of its own, or may have
	}
	bg, painted := d.bg, d.set&propGround != 0
	if a.ground != "" && !painted {
		bg, painted = readColour(strings.ToLower(strings.TrimSpace(a.ground)))
	}
	switch {
	case d.set&propPicture != 0 && d.hid&propPicture == 0:
		now.bg = colour{}
	case painted:
		now.bg = bg
	case grounded && !p.sheet.external:
		now.bg = ground
	case d.set&propPosition != 0 && d.hid&propPosition == 0, p.sheet.external && (a.class != "" || a.id != ""):
		now.bg = colour{} // over something else, or painted by a sheet that is not read
	}
	fg, coloured := d.fg, d.set&propColour != 0
	if a.colour != "" && !coloured {
		fg, coloured = readColour(strings.ToLower(strings.TrimSpace(a.colour)))
	}
	if coloured {
		now.fg = fg
		if own&propColour == 0 && a.colour == "" && (shown&propColour != 0 || p.sheet.external && !painted) {
			now.fg = colour{}
		}
		if now.fg.light() && !painted && (IsHeading(n) || besidePicture(n)) {
			now.bg = colour{} // letters on a picture
		}
	}
	if d.set&propClipText != 0 || d.set&propShadow != 0 && d.hid&propShadow == 0 {
		now.fg = colour{}
	}
	was.node = n
	if now != was {
		p.paint = append(p.paint, now)
		p.tinted = true
	}
}

// whole says that n, drawn so that text cannot be seen, goes as a whole: what is
// read in one piece, and pictures of what is not visible.
func (p *pass) whole(n *html.Node, how How) bool {
	switch n.DataAtom {
	case atom.Pre, atom.Listing, atom.Xmp, atom.Plaintext, atom.Textarea:
		return find(n, 500, func(c *html.Node) bool { return dom.HasAttr(c, "style") || dom.HasAttr(c, "class") }) == nil
	case atom.Img, atom.Picture, atom.Iframe, atom.Video, atom.Audio, atom.Object, atom.Embed:
		return how == HowStyle || how == HowSheet
	}
	return false
}

// besidePicture says that a picture stands in front of n.
func besidePicture(n *html.Node) bool {
	bound := 6
	for s := n.PrevSibling; s != nil && bound > 0; s = s.PrevSibling {
		bound--
		switch s.DataAtom {
		case atom.Img, atom.Picture, atom.Video, atom.Svg, atom.Canvas, atom.Figure:
			return true
		}
	}
	return false
}

// srPattern says that the declarations are those that hide a label from all but
// screen readers.
func srPattern(d *declared) bool {
	return d.hid&(propClip|propClipPath) != 0 || d.hid&propWidth != 0 && d.hid&propHeight != 0 && d.hid&propOverflow != 0
}

// isLabel says that n, which a sheet keeps for screen readers, is no more than a
// label.
func isLabel(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Span, atom.A, atom.Label, atom.Legend, atom.Caption, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		return short(n, 40)
	}
	return false
}

// short says that the text under n has at most so many characters.
func short(n *html.Node, limit int) bool { return !visibleLetters(n, limit+1) }

// discloses says that n is what a click on something beside it brings to sight:
// the panel of a list of questions, say, that a script of the page's own opens.
// A panel is known by the button in front of it, or by more than one of its kind
// under headings or questions.
func (p *pass) discloses(n *html.Node) bool {
	if _, ok := p.disclosed[n]; ok {
		return true
	}
	if n.Parent == nil || n.DataAtom == atom.Span || n.DataAtom == atom.A {
		return false
	}
	class := dom.Attr(n, "class")
	inList := false
	if !asks(n.PrevSibling, false) {
		if inList = inAccordion(n); !inList || !asks(n.PrevSibling, true) || listing(n, false) {
			return false
		}
	}
	if n.DataAtom == atom.P && class == "" {
		// Panels are boxes. A paragraph without a name below a heading is text
		// like any other, and hidden for good when it is hidden.
		if prev := prevElement(n); prev == nil || !question(label(prev)) {
			return false
		}
	}
	kind := func(c *html.Node) bool {
		if c.Type != html.ElementNode || c.DataAtom != n.DataAtom || dom.Attr(c, "class") != class {
			return false
		}
		if _, ok := p.disclosed[c]; ok || class != "" {
			return true
		}
		return p.hides(c) // any other paragraph below a heading proves nothing
	}
	if !panelOfMany(n, inList, kind) {
		return false
	}
	if p.disclosed == nil {
		p.disclosed = make(map[*html.Node]struct{})
	}
	p.disclosed[n] = struct{}{}
	return true
}

// panelOfMany says that another element of its kind stands beside n, below a
// heading or question as n does, or below what a list that says that it opens has
// in its place.
func panelOfMany(n *html.Node, inList bool, kind func(*html.Node) bool) bool {
	// In one list with others: a question, an answer, a question, an answer.
	for c, bound := n.NextSibling, 8; c != nil && bound > 0; c, bound = c.NextSibling, bound-1 {
		if kind(c) && asks(c.PrevSibling, inList) {
			return true
		}
	}
	for c, bound := n.PrevSibling, 8; c != nil && bound > 0; c, bound = c.PrevSibling, bound-1 {
		if kind(c) && asks(c.PrevSibling, inList) {
			return true
		}
	}
	// Each in a box of its own.
	for _, box := range [...]*html.Node{nextElement(n.Parent), prevElement(n.Parent)} {
		if box == nil || box.DataAtom != n.Parent.DataAtom {
			continue
		}
		for c, bound := box.FirstChild, 8; c != nil && bound > 0; c, bound = c.NextSibling, bound-1 {
			if kind(c) && asks(c.PrevSibling, inList) {
				return true
			}
		}
	}
	return false
}

// asks says that the element that ends at c is a heading or a question; in a list
// that says that it opens, a short text in an element is enough.
func asks(c *html.Node, inList bool) bool {
	for c != nil && c.Type == html.TextNode && strings.Trim(c.Data, " \t\r\n\f") == "" {
		c = c.PrevSibling
	}
	if c == nil || c.Type != html.ElementNode {
		return false
	}
	if IsHeading(c) || c.DataAtom == atom.Dt || c.DataAtom == atom.Button || c.DataAtom == atom.Summary || find(c, 12, func(h *html.Node) bool { return IsHeading(h) || h.DataAtom == atom.Button }) != nil {
		return true
	}
	s := plainText(c, 300)
	return question(s) || inList && s != "" && len(s) <= labelMax/2 && c.DataAtom != atom.P
}

// doubtful says that a sheet alone is not believed when it hides n: what the
// page is about, which some script shows when it is ready.
func (p *pass) doubtful(n *html.Node, a *attrs, d *declared) bool {
	if holdsPage(n) || n.Parent != nil && n.Parent.DataAtom == 0 && n.Parent.Type == html.ElementNode {
		return true
	}
	if d.hid&propIndent != 0 && d.set&propPicture != 0 {
		return true // a picture of the same words
	}
	return p.slides(a)
}

// holdsPage says that n is the page's main part or has it inside.
func holdsPage(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Body, atom.Html, atom.Main, atom.Article, 0:
		return true // a custom element shows itself when its script has come
	case atom.P, atom.Span, atom.A, atom.Li, atom.Td:
		return false
	}
	return find(n, 1_000, func(c *html.Node) bool {
		return c.DataAtom == atom.Main || c.DataAtom == atom.Article || c.DataAtom == atom.H1
	}) != nil
}

// slides says that n is a part of what goes round.
func (p *pass) slides(a *attrs) bool {
	return a.class != "" && eachToken(a.class, func(t string) bool {
		return hasWord(t, "carousel") || hasWord(t, "slide") || hasWord(t, "slick") || hasWord(t, "swiper") || hasWord(t, "splide") || hasWord(t, "glide") || hasWord(t, "flickity") || hasWord(t, "owl-")
	})
}

// onlyLabel says that n, a text for screen readers, is all the text that the
// link around it has.
func (p *pass) onlyLabel(n *html.Node) bool {
	a := n.Parent
	for range 4 {
		if a == nil || a.DataAtom == atom.A {
			break
		}
		a = a.Parent
	}
	if a == nil || a.DataAtom != atom.A || !dom.HasAttr(a, "href") || !short(n, 120) {
		return false
	}
	bound := 100
	for c := a.FirstChild; c != nil; {
		if bound--; bound < 0 {
			return false
		}
		if c == n {
			c = following(c, a, false)
			continue
		}
		if c.Type == html.TextNode && strings.Trim(c.Data, " \t\r\n\f\u00a0") != "" || c.DataAtom == atom.Img {
			return false
		}
		c = following(c, a, visibleByNature(c))
	}
	return true
}

// sectioned says that n holds a whole part of the page, with a heading of its
// own: many sites keep such a part unseen until a script has styled it. Text
// that hides on its own has no heading.
func sectioned(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Main, atom.Article, atom.H1, atom.H2:
		return true
	}
	return find(n, 2_000, IsHeading) != nil
}

// unseen says that an element inside a formula or a code block, where the rules
// for panels and sections mean nothing, is hidden.
func (p *pass) unseen(n *html.Node, a *attrs) (How, bool) {
	if a.hidden {
		return HowAttribute, true
	}
	if a.class != "" && hiddenClass(a.class) != visible {
		return HowSheet, true
	}
	d := p.declarations(n, a)
	if how, ok := d.gone(); ok {
		return how, true
	}
	if how, ok := d.unseen(); ok {
		return how, true
	}
	switch {
	case d.hid&propSize != 0:
		return HowSize, true
	case d.set&propClipText == 0 && d.set&propColour != 0 && (d.fg.clear || d.set&propGround != 0 && d.fg.like(d.bg)):
		return HowTransparent, true
	}
	return "", false
}

// declarations gives what the style attribute and the sheets say of n, where no
// other state of the page says otherwise.
func (p *pass) declarations(n *html.Node, a *attrs) (d declared) {
	var says rules
	if p.sheet.rules != nil {
		var shown property
		says, shown, _, _ = p.sheet.seen(n, a.id, a.class)
		says[0].hid &^= shown
		says[1].hid &^= shown
	}
	if a.style == "" && says.empty() {
		return d
	}
	style := readStyle(a.style)
	return cascade(says[0], style[0], says[1], style[1])
}

// hide counts the text of n, which is about to go, in total.
func (p *pass) hide(n *html.Node, total *int, how How) {
	first := *total
	var text []byte
	for c := n; c != nil; c = following(c, n, visibleByNature(c)) {
		if c.Type != html.TextNode || c != n && !visibleByNature(c.Parent) {
			continue
		}
		*total += countText(c.Data)
		if p.passages != nil && len(text) < 8*passageMax {
			text = append(append(text, c.Data[:min(len(c.Data), 8*passageMax)]...), ' ')
		}
	}
	if p.passages != nil && *total > first {
		p.passage(string(text), *total-first, how)
	}
}

// closed says that n, which cannot be seen, is what many pages keep closed until
// it is asked for: a menu, or a small dialog with something to press. It is left
// out like other hidden text, but nobody has to be warned of it.
func closed(n *html.Node, a *attrs) bool {
	const (
		dialog = 20  // letters of a dialog without a button
		form   = 300 // of one with
		label  = 40  // of an entry in a menu
	)
	if a.role == "dialog" || a.role == "alertdialog" || n.DataAtom == atom.Dialog || eachToken(a.class, func(t string) bool {
		return hasWord(t, "modal") || hasWord(t, "popup") || hasWord(t, "dialog") || hasWord(t, "overlay") || hasWord(t, "cookie") || hasWord(t, "newsletter")
	}) {
		presses := find(n, 200, func(c *html.Node) bool { return c.DataAtom == atom.Button || c.DataAtom == atom.Input }) != nil
		return short(n, dialog) || presses && short(n, form)
	}
	if a.role != "menu" && n.DataAtom != atom.Nav && n.DataAtom != atom.Ul && !eachToken(a.class, func(t string) bool {
		return hasWord(t, "menu") || hasWord(t, "nav") || hasWord(t, "dropdown") || hasWord(t, "drawer")
	}) {
		return false
	}
	links, bound := 0, 2_000
	for c := n.FirstChild; c != nil; {
		if bound--; bound < 0 {
			return false
		}
		if c.DataAtom == atom.A {
			if !dom.HasAttr(c, "href") || !short(c, label) {
				return false
			}
			links++
			c = following(c, n, false)
			continue
		}
		if c.Type == html.TextNode && strings.Trim(c.Data, " \t\r\n\f|·") != "" {
			return false
		}
		c = following(c, n, visibleByNature(c))
	}
	return links > 0
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
	expands, popup, clicks, kind := false, false, false, ""
	for i := range n.Attr {
		switch at := &n.Attr[i]; at.Key {
		case "hidden":
			if id := dom.Attr(n, "id"); strings.HasPrefix(id, "S:") && n.DataAtom == atom.Div {
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
		case "type":
			kind = at.Val
		case "data-toggle", "data-bs-toggle":
			expands = expands || at.Val == "collapse" || at.Val == "tab" || at.Val == "pill"
		case "data-target", "data-bs-target":
			if controls == "" && strings.HasPrefix(at.Val, "#") {
				controls = at.Val[1:]
			}
		case "onclick":
			clicks = true
			p.onclick(at.Val)
		case "style":
			p.sheet.light = p.sheet.light || strings.Contains(at.Val, "olor") || strings.Contains(at.Val, "OLOR")
		case "color":
			p.sheet.light = true
		}
	}
	if expands && controls == "" && n.DataAtom == atom.A {
		if _, id, ok := strings.Cut(dom.Attr(n, "href"), "#"); ok && id != "" {
			controls = id
		}
	}
	if p.main == nil && (n.DataAtom == atom.Main || role == "main") {
		p.main = n
	}
	sends := n.DataAtom == atom.Button && (strings.EqualFold(kind, "submit") || strings.EqualFold(kind, "reset"))
	if !popup && !sends && (presses(n) || n.DataAtom == atom.A && role == "") {
		p.control(n, controls)
	}
	if expands && !popup && controls == "" || clicks && n.DataAtom != atom.A {
		p.disclose(n)
	}
	if controls == "" || popup || role != "tab" && !expands {
		return
	}
	if p.controlled == nil {
		p.controlled = make(map[string]struct{})
	}
	p.controlled[controls] = struct{}{}
}

// onclick takes note of the ids that a script on a button names.
func (p *pass) onclick(script string) {
	if len(script) > 512 || len(p.controlled) > 10_000 {
		return
	}
	for {
		i := strings.IndexAny(script, "'\"")
		if i < 0 {
			return
		}
		q := script[i]
		var id string
		var ok bool
		if id, script, ok = strings.Cut(script[i+1:], string(q)); !ok {
			return
		}
		if id = strings.TrimPrefix(id, "#"); id != "" && len(id) < 64 && strings.IndexByte(id, ' ') < 0 {
			if p.controlled == nil {
				p.controlled = make(map[string]struct{})
			}
			p.controlled[id] = struct{}{}
		}
	}
}

// disclose takes note of what the button n opens when it does not say: what
// stands behind it, or behind the heading or row that it is in.
func (p *pass) disclose(n *html.Node) {
	for range 3 {
		if n == nil || n.DataAtom == atom.Body || n.DataAtom == atom.Nav || n.DataAtom == atom.Header || n.DataAtom == atom.Footer {
			return
		}
		if next := nextElement(n); next != nil {
			if len(p.disclosed) < 10_000 && next.DataAtom != atom.Button {
				if p.disclosed == nil {
					p.disclosed = make(map[*html.Node]struct{})
				}
				p.disclosed[next] = struct{}{}
			}
			return
		}
		n = n.Parent
	}
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
		if dom.Attr(n, "aria-labelledby") != "" {
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
			hasWord(t, "accordion"), hasWord(t, "collaps"), hasWord(t, "expand"), hasWord(t, "spoiler"), hasWord(t, "faq"), hasWord(t, "disclosure"),
			hasWord(t, "read-more"), hasWord(t, "readmore"), hasWord(t, "read_more"), hasWord(t, "show-more"), hasWord(t, "showmore"), hasWord(t, "more-text"),
			hasWord(t, "more-content"), hasWord(t, "moretext"), hasWord(t, "morecontent"), hasWord(t, "toggle"), hasWord(t, "truncat"), hasWord(t, "full-text"), t == "more":
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
		if _, ok := p.controlled[a.id]; ok {
			return true
		}
	}
	return p.slides(a) || p.discloses(n) || p.veiled(n, a)
}

// ariaHidden judges an element that is kept from screen readers. It may well
// be what everybody else reads, so it goes only when it is an ornament, a copy
// of what stands beside it, or a closed dialog or menu.
func (p *pass) ariaHidden(n *html.Node, a *attrs) int {
	// An ornament: no letter or digit in it, or only a few in an icon's element.
	const enough = 40
	letters, bound := 0, 500 // what has more nodes is no ornament
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
	}
	if letters == 0 {
		return decoration
	}
	icon := n.DataAtom == atom.I || eachToken(a.class, func(t string) bool {
		return hasWord(t, "icon") || hasWord(t, "lineno") || hasWord(t, "line-number") || t == "ln" || hasWord(t, "anchor") || hasWord(t, "glyph") || hasWord(t, "material-symbols")
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
	if letters < enough && p.copied(n) {
		return decoration
	}
	return visible
}

// copied says that a text beside n, for screen readers, says what n does: a
// price in pieces, a number with its unit. That text stands for both.
func (p *pass) copied(n *html.Node) bool {
	t := readerTwin(n, func(s *html.Node) bool {
		return hiddenClass(dom.Attr(s, "class")) == assistive
	})
	return t != nil
}

// readerTwin gives the element beside n that is kept and says the same, letter
// by letter.
func readerTwin(n *html.Node, is func(*html.Node) bool) *html.Node {
	for _, s := range [...]*html.Node{prevElement(n), nextElement(n)} {
		if s != nil && is(s) {
			if a, b := bare(n), bare(s); a != "" && a == b {
				return s
			}
		}
	}
	return nil
}

// bare gives the letters and digits under n, "" when there are many.
func bare(n *html.Node) string {
	var b []byte
	bound := 60
	for c := n.FirstChild; c != nil; c = following(c, n, visibleByNature(c)) {
		if bound--; bound < 0 || len(b) > 200 {
			return ""
		}
		if c.Type != html.TextNode {
			continue
		}
		for i := range len(c.Data) {
			if d := c.Data[i]; d >= '0' && d <= '9' || d|0x20 >= 'a' && d|0x20 <= 'z' || d >= 0xc3 {
				b = append(b, d|0x20)
			}
		}
	}
	return string(b)
}
