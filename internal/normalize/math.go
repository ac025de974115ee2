package normalize

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"sift.build/sift/internal/dom"
)

// texMax is the longest formula that is kept, in bytes.
const texMax = 32 << 10

// formula makes n the normal form's formula.
func (p *pass) formula(n *html.Node, tex string, block bool) {
	display := "inline"
	if block {
		display = "block"
	}
	n.Type, n.Namespace = html.ElementNode, ""
	rename(n, atom.Span)
	n.Attr = []html.Attribute{{Key: "data-math", Val: display}}
	n.FirstChild, n.LastChild = nil, nil
	n.AppendChild(dom.Text(tex))
	if len(p.tables) > 0 {
		p.countText(tex)
	}
}

// cleanTeX brings TeX from an attribute or an annotation to one line, without
// comments and without the wrapper that Wikipedia puts around.
func (p *pass) cleanTeX(s string) string {
	if len(s) > texMax {
		return ""
	}
	if strings.IndexByte(s, '%') >= 0 && strings.IndexByte(s, '\n') >= 0 {
		s = dropComments(s)
	}
	s = p.line(s)
	for _, style := range [...]string{`{\displaystyle`, `{\textstyle`, `{\scriptstyle`} {
		if rest, ok := strings.CutPrefix(s, style); ok && strings.HasSuffix(rest, "}") && (rest[0] == ' ' || rest[0] == '\\' || rest[0] == '{') {
			s = strings.TrimSpace(rest[:len(rest)-1])
		}
	}
	s = strings.TrimSpace(strings.TrimPrefix(s, `\displaystyle `))
	for _, d := range [...][2]string{{"$$", "$$"}, {"$", "$"}, {`\(`, `\)`}, {`\[`, `\]`}} {
		if len(s) > len(d[0])+len(d[1]) && strings.HasPrefix(s, d[0]) && strings.HasSuffix(s, d[1]) {
			s = strings.TrimSpace(s[len(d[0]) : len(s)-len(d[1])])
			break
		}
	}
	return s
}

// dropComments removes TeX comments, which would swallow the rest once the
// lines are joined.
func dropComments(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		for i := 0; i < len(line); i++ {
			if line[i] == '\\' {
				i++
			} else if line[i] == '%' {
				line = line[:i] + "\n"
				break
			}
		}
		b.WriteString(line)
	}
	return b.String()
}

// math turns a <math> element into a formula: the TeX that the page gives
// beside it, else TeX made from its elements.
func (p *pass) math(n *html.Node) (*html.Node, bool) {
	tex, block := p.mathTeX(n)
	if tex == "" {
		return skip(n)
	}
	p.formula(n, tex, block)
	return n, false
}

// dropHidden takes the hidden elements out of a formula.
func (p *pass) dropHidden(n *html.Node) {
	for c := n.FirstChild; c != nil; {
		next := following(c, n, true)
		if c.Type == html.ElementNode && len(c.Attr) > 0 {
			a := readAttr(c)
			if how, ok := p.unseen(c, &a); ok {
				next = following(c, n, false)
				p.hide(c, &p.res.HiddenText, how)
				c.Parent.RemoveChild(c)
			}
		}
		c = next
	}
}

func (p *pass) mathTeX(n *html.Node) (tex string, block bool) {
	p.dropHidden(n)
	block = dom.Attr(n, "display") == "block" || dom.Attr(n, "mode") == "display"
	tex = p.cleanTeX(dom.Attr(n, "alttext"))
	for c := n.FirstChild; c != nil && tex == ""; c = following(c, n, true) {
		if c.Type == html.ElementNode && c.Data == "annotation" && strings.Contains(strings.ToLower(dom.Attr(c, "encoding")), "tex") {
			if strings.Contains(text(c, texMax), `\displaystyle`) && strings.Contains(dom.Attr(n, "display"), "block") {
				block = true
			}
			tex = p.cleanTeX(text(c, texMax))
		}
	}
	if tex == "" {
		tex = p.cleanTeX(presentation(n))
	}
	return tex, block
}

// text gives the text under n as it is, nothing when it is longer than limit.
func text(n *html.Node, limit int) string {
	if c := n.FirstChild; c != nil && c == n.LastChild && c.Type == html.TextNode {
		if len(c.Data) > limit {
			return ""
		}
		return c.Data
	}
	var b strings.Builder
	for c := n.FirstChild; c != nil; c = following(c, n, true) {
		if c.Type == html.TextNode {
			if b.Len()+len(c.Data) > limit {
				return ""
			}
			b.WriteString(c.Data)
		}
	}
	return b.String()
}

// find gives the first element under n that f accepts, looking at no more than
// bound nodes.
func find(n *html.Node, bound int, f func(*html.Node) bool) *html.Node {
	for c := n.FirstChild; c != nil && bound > 0; c = following(c, n, true) {
		bound--
		if c.Type == html.ElementNode && f(c) {
			return c
		}
	}
	return nil
}

func isMath(n *html.Node) bool { return n.Namespace == "math" && n.Data == "math" }

// How many nodes of a formula's markup are searched for its source: KaTeX and
// Wikipedia have it in front, MathJax behind a drawing of the formula.
const (
	mathNear = 64
	mathFar  = 5_000
)

// enterMath knows the elements in which KaTeX, MathJax, Wikipedia and
// WordPress wrap formulas, and makes each a formula, once. It says whether n
// was one.
func (p *pass) enterMath(n *html.Node, a *attrs) bool {
	switch n.DataAtom {
	case atom.Span, atom.Div, 0:
	case atom.Img:
		return p.mathImage(n, a)
	default:
		return false
	}
	if n.Data == "mjx-container" || n.Data == "mjx-assistive-mml" {
		var tex string
		var block bool
		if m := find(n, mathFar, isMath); m != nil {
			tex, block = p.mathTeX(m)
		} else { // a drawing that says what it draws
			tex = p.texAttr(n)
		}
		if tex == "" {
			return false
		}
		p.formula(n, tex, block || dom.Attr(n, "display") == "true")
		return true
	}
	if a.class == "" {
		return false
	}
	switch {
	case hasToken(a.class, "katex-display"), hasToken(a.class, "katex"), hasToken(a.class, "katex-block"), hasToken(a.class, "katex--inline"), hasToken(a.class, "katex--display"):
		if m := find(n, mathNear, isMath); m != nil {
			if tex, block := p.mathTeX(m); tex != "" {
				p.formula(n, tex, block || strings.Contains(a.class, "display") || strings.Contains(a.class, "block"))
				return true
			}
		} else if tex := p.texAttr(n); tex != "" {
			p.formula(n, tex, strings.Contains(a.class, "display") || strings.Contains(a.class, "block"))
			return true
		}
	case hasToken(a.class, "ql-formula"):
		if tex := p.cleanTeX(dom.Attr(n, "data-value")); tex != "" {
			p.formula(n, tex, false)
			return true
		}
	case hasToken(a.class, "mwe-math-element"):
		var tex string
		var block bool
		if m := find(n, mathNear, isMath); m != nil {
			tex, block = p.mathTeX(m)
		}
		if img := find(n, mathFar, func(c *html.Node) bool { return c.DataAtom == atom.Img }); img != nil {
			if tex == "" {
				tex = p.cleanTeX(dom.Attr(img, "alt"))
			}
			block = block || strings.Contains(dom.Attr(img, "class"), "display") || strings.Contains(dom.Attr(img, "class"), "block")
		}
		if tex != "" {
			p.formula(n, tex, block || strings.Contains(a.class, "display") || strings.Contains(a.class, "block"))
			return true
		}
	case hasToken(a.class, "MathJax_Preview"):
		skip(n)
		return true
	case hasToken(a.class, "MathJax"), hasToken(a.class, "MathJax_Display"), hasToken(a.class, "MathJax_SVG"), hasToken(a.class, "MathJax_SVG_Display"),
		hasToken(a.class, "MathJax_CHTML"), hasToken(a.class, "mjx-chtml"), hasToken(a.class, "MJXc-display"), hasToken(a.class, "MathJax_MathML"):
		// MathJax 2 draws the formula in front of the script that holds it.
		if scriptFollows(n) {
			skip(n)
			return true
		}
		display := strings.Contains(a.class, "isplay")
		if src := dom.Attr(n, "data-mathml"); src != "" && len(src) <= texMax {
			if m := parseMath(src); m != nil {
				if tex, block := p.mathTeX(m); tex != "" {
					p.formula(n, tex, block || display)
					return true
				}
			}
		}
		if m := find(n, mathFar, isMath); m != nil {
			if tex, block := p.mathTeX(m); tex != "" {
				p.formula(n, tex, block || display)
				return true
			}
		}
	case hasToken(a.class, "math") && (hasToken(a.class, "inline") || hasToken(a.class, "display")), // Pandoc
		hasToken(a.class, "math-inline"), hasToken(a.class, "math-display"), hasToken(a.class, "arithmatex"), hasToken(a.class, "math-tex"),
		n.DataAtom == atom.Span && a.class == "math notranslate nohighlight", n.DataAtom == atom.Div && a.class == "math notranslate nohighlight":
		// TeX for a script to draw, in an element of its own.
		if c := n.FirstChild; c != nil && c == n.LastChild && c.Type == html.TextNode {
			src := strings.TrimSpace(c.Data)
			if tex := p.cleanTeX(src); tex != "" {
				block := n.DataAtom == atom.Div || strings.Contains(a.class, "display") || strings.HasPrefix(src, `\[`) || strings.HasPrefix(src, "$$")
				p.formula(n, tex, block)
				return true
			}
		}
	}
	return false
}

// texAttr gives the TeX that n, or the first element in it that has any, keeps in
// an attribute.
func (p *pass) texAttr(n *html.Node) string {
	tex := ""
	look := func(c *html.Node) bool {
		for i := range c.Attr {
			switch c.Attr[i].Key {
			case "data-latex", "data-tex":
				tex = p.cleanTeX(c.Attr[i].Val)
			}
		}
		return tex != ""
	}
	if !look(n) {
		find(n, mathNear, look)
	}
	return tex
}

func scriptFollows(n *html.Node) bool {
	for range 3 { // the frame, its display wrapper, and the element around both
		if s := nextElement(n); s != nil {
			return s.DataAtom == atom.Script && strings.HasPrefix(dom.Attr(s, "type"), "math/") ||
				strings.Contains(dom.Attr(s, "class"), "MathJax") && scriptFollows2(s)
		}
		if n = n.Parent; n == nil || !strings.Contains(dom.Attr(n, "class"), "MathJax") && !strings.Contains(dom.Attr(n, "class"), "MJXc") {
			return false
		}
	}
	return false
}

func scriptFollows2(n *html.Node) bool {
	s := nextElement(n)
	return s != nil && s.DataAtom == atom.Script && strings.HasPrefix(dom.Attr(s, "type"), "math/")
}

func parseMath(src string) *html.Node {
	nodes, err := html.ParseFragment(strings.NewReader(src), dom.Element(atom.Body))
	if err != nil {
		return nil
	}
	for _, n := range nodes {
		if isMath(n) {
			return n
		}
	}
	return nil
}

// mathScript turns MathJax 2's <script type="math/tex"> into a formula. Every
// other script goes.
func (p *pass) mathScript(n *html.Node) (*html.Node, bool) {
	typ := strings.ToLower(dom.Attr(n, "type"))
	if !strings.HasPrefix(typ, "math/") {
		return skip(n)
	}
	block := strings.Contains(typ, "mode=display")
	src := text(n, texMax)
	var tex string
	switch {
	case strings.HasPrefix(typ, "math/tex"), strings.HasPrefix(typ, "math/latex"):
		src = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(src), "% <![CDATA["), "%]]>")
		tex = p.cleanTeX(src)
	case strings.HasPrefix(typ, "math/mml"):
		if m := parseMath(src); m != nil {
			var b bool
			tex, b = p.mathTeX(m)
			block = block || b
		}
	case strings.HasPrefix(typ, "math/asciimath"):
		tex = p.line(src)
	}
	if tex == "" {
		return skip(n)
	}
	p.formula(n, tex, block)
	return n, false
}

// mathImage turns a picture of a formula into the formula that its alt holds.
func (p *pass) mathImage(n *html.Node, a *attrs) bool {
	is := false
	if a.class != "" {
		is = eachToken(a.class, func(t string) bool {
			return t == "tex" || t == "latex" || t == "mathtex" || strings.HasPrefix(t, "mwe-math-fallback-image")
		})
	}
	if !is {
		src := dom.Attr(n, "src")
		if len(src) > urlMax || !strings.Contains(src, "latex") {
			return false
		}
		is = strings.Contains(src, "latex.codecogs.com/") || strings.Contains(src, "/latex.php?")
	}
	if !is {
		return false
	}
	tex := p.cleanTeX(dom.Attr(n, "alt"))
	if tex == "" {
		return false
	}
	p.formula(n, tex, strings.Contains(a.class, "display") || strings.Contains(a.class, "block"))
	return true
}

// texDelimiters are those that a script of the page looks for in its text.
type texDelimiters struct {
	script bool // MathJax or KaTeX is there: \(…\), \[…\], $$…$$
	dollar bool // and it is told to take $…$ too
}

func (d *texDelimiters) any() bool { return d.script }

// look reads one script element.
func (d *texDelimiters) look(n *html.Node) {
	if src := dom.Attr(n, "src"); src != "" {
		src = strings.ToLower(src[:min(len(src), 512)])
		d.script = d.script || strings.Contains(src, "mathjax") || strings.Contains(src, "katex") && strings.Contains(src, "auto-render")
		return
	}
	c := n.FirstChild
	if c == nil || len(c.Data) > 64<<10 {
		return
	}
	if strings.Contains(c.Data, "MathJax") || strings.Contains(c.Data, "renderMathInElement") {
		d.script = d.script || strings.Contains(c.Data, "renderMathInElement") || strings.Contains(c.Data, "MathJax.Hub.Config") || strings.Contains(c.Data, "MathJax = {")
		d.dollar = d.dollar || strings.Contains(c.Data, "['$'") || strings.Contains(c.Data, `["$"`) || strings.Contains(c.Data, `left: "$"`) || strings.Contains(c.Data, `left: '$'`)
	}
}

// texInText makes formulas of the TeX in one text, where the page has a script
// that would. The delimiters must both be in this text.
func (p *pass) texInText(n *html.Node) {
	if strings.IndexByte(n.Data, '\\') < 0 && strings.IndexByte(n.Data, '$') < 0 || n.Parent == nil {
		return
	}
	for c := n.Parent; c != nil && c != p.body; c = c.Parent {
		if c.DataAtom == atom.Code || c.DataAtom == atom.Pre {
			return
		}
		if IsBlock(c) {
			break
		}
	}
	s := n.Data
	var nodes []*html.Node
	start := 0
	var ends texEnds
	for i := 0; i < len(s); {
		open, shut, block := p.tex.at(s, i)
		if open == "" {
			if s[i] == '\\' {
				i++ // \$ is a dollar
			}
			i++
			continue
		}
		from := i + len(open)
		end := ends.next(s, shut, from)
		if end-from > texMax || open == "$" && !dollarMath(s[from:end], s[end+1:]) {
			i = from
			continue
		}
		tex := p.cleanTeX(s[from:end])
		if tex == "" {
			i = from
			continue
		}
		if start < i {
			nodes = append(nodes, dom.Text(s[start:i]))
		}
		f := &html.Node{}
		p.formula(f, tex, block)
		nodes = append(nodes, f)
		i = end + len(shut)
		start = i
	}
	if nodes == nil {
		return
	}
	if start < len(s) {
		nodes = append(nodes, dom.Text(s[start:]))
	}
	for _, m := range nodes {
		n.Parent.InsertBefore(m, n)
	}
	n.Data = "" // leave takes it out
}

// texEnds remembers where each closing delimiter stands next, so that a text full
// of opening ones is searched once.
type texEnds struct {
	shut [4]string
	at   [4]int
}

// next gives the position of shut at or behind from, far behind the end when
// there is none.
func (e *texEnds) next(s, shut string, from int) int {
	for k := range e.shut {
		switch {
		case e.shut[k] == "":
			e.shut[k], e.at[k] = shut, -1
		case e.shut[k] != shut:
			continue
		}
		if e.at[k] < from {
			if e.at[k] = strings.Index(s[from:], shut); e.at[k] < 0 {
				e.at[k] = len(s) + 2*texMax
			} else {
				e.at[k] += from
			}
		}
		return e.at[k]
	}
	return len(s) + 2*texMax
}

// at gives the delimiters when a formula may begin at s[i].
func (d *texDelimiters) at(s string, i int) (open, shut string, block bool) {
	switch {
	case strings.HasPrefix(s[i:], "$$"):
		return "$$", "$$", true
	case strings.HasPrefix(s[i:], `\[`):
		return `\[`, `\]`, true
	case strings.HasPrefix(s[i:], `\(`):
		return `\(`, `\)`, false
	case s[i] == '$' && d.dollar:
		return "$", "$", false
	}
	return "", "", false
}

// dollarMath tells a formula from two prices, as Pandoc does: no white space
// inside the delimiters, no digit after them.
func dollarMath(tex, after string) bool {
	if tex == "" || len(tex) > 1000 || isSpace(tex[0]) || isSpace(tex[len(tex)-1]) || tex[len(tex)-1] == '\\' {
		return false
	}
	return after == "" || after[0] < '0' || after[0] > '9'
}

func isSpace(b byte) bool { return b == ' ' || b == '\n' || b == '\t' || b == '\r' || b == '\f' }
