package extract

import (
	"html"
	"strconv"
	"strings"
)

const (
	// maxRichDepth is how deep a tree of rich text may be nested.
	maxRichDepth = 80
	// maxRichBytes is how much markup one tree may become.
	maxRichBytes = 2 << 20
)

// A part is what a node of rich text is: the tag it becomes, "" for what is
// only its children, and "text" for text.
type part string

// partOf knows the names that editors and content systems give to the parts
// of rich text: ProseMirror, Slate, Lexical, Draft.js, Editor.js, Quill,
// Contentful, Sanity's Portable Text, Prismic, Strapi, Storyblok, Gutenberg,
// Notion, Arc, Medium, mdast and hast.
func partOf(name string) (p part, ok bool) {
	name = strings.TrimPrefix(name, "core/")
	name = strings.TrimPrefix(name, "core-")
	digit := byte(0)
	if n := len(name); n > 0 && name[n-1] >= '1' && name[n-1] <= '6' {
		digit = name[n-1]
	}
	switch key := normalKey(name); key {
	case "paragraph", "p", "unstyled", "textblock", "paragraphblock", "par", "preformattedparagraph", "coreparagraph":
		return "p", true
	case "heading", "header", "h", "headingblock", "headerblock", "coreheading", "subheading", "subheadline", "subheader", "crosshead":
		if digit != 0 {
			return part("h" + string(digit)), true
		}
		return "h", true
	case "headingone", "headerone", "headlineone":
		return "h1", true
	case "headingtwo", "headertwo", "headlinetwo":
		return "h2", true
	case "headingthree", "headerthree", "headlinethree":
		return "h3", true
	case "headingfour", "headerfour":
		return "h4", true
	case "headingfive", "headerfive":
		return "h5", true
	case "headingsix", "headersix":
		return "h6", true
	case "list", "corelist":
		return "list", true
	case "bulletlist", "bulletedlist", "unorderedlist", "ul", "ullist", "ulist":
		return "ul", true
	case "orderedlist", "numberedlist", "ol", "ollist", "numberlist", "olist":
		return "ol", true
	case "listitem", "li", "corelistitem", "listitemtext":
		return "li", true
	case "unorderedlistitem", "bulletedlistitem", "uli", "bulletlistitem", "todo", "tasklistitem", "taskitem", "checklistitem":
		return "uli", true // an item without a list around it
	case "orderedlistitem", "numberedlistitem", "oli", "olistitem":
		return "oli", true
	case "blockquote", "quote", "bq", "pq", "pullquote", "corequote", "quoteblock":
		return "blockquote", true
	case "code", "codeblock", "pre", "fencedcode", "corecode", "preformatted", "codesnippet", "coderepl", "codefence":
		return "pre", true
	case "inlinecode", "codetext":
		return "code", true
	case "horizontalrule", "hr", "thematicbreak", "divider", "separator", "delimiter", "coreseparator":
		return "hr", true
	case "image", "img", "imageblock", "coreimage", "embeddedassetblock", "assetblock", "inlineimage", "figureimage":
		return "img", true
	case "table", "tableblock":
		return "table", true
	case "tablerow", "tr", "row":
		return "tr", true
	case "tablecell", "td", "cell":
		return "td", true
	case "tableheader", "th", "tableheadercell", "tableheadcell":
		return "th", true
	case "link", "hyperlink", "a", "anchor", "autolink", "urllink", "entryhyperlink", "assethyperlink":
		return "a", true
	case "hardbreak", "break", "br", "linebreak", "softbreak":
		return "br", true
	case "text", "textnode", "span", "string", "fragment", "tspan":
		return "text", true
	case "strong", "bold", "b":
		return "strong", true
	case "emphasis", "em", "italic", "i":
		return "em", true
	case "delete", "del", "strikethrough", "strike", "s":
		return "del", true
	case "sub", "subscript":
		return "sub", true
	case "sup", "superscript":
		return "sup", true
	case "underline", "u", "mark", "highlight", "small":
		return "", true
	case "doc", "document", "root", "body", "section", "div", "container", "column", "columns", "group", "layout", "article", "main", "richtext", "block", "blocks", "tbody", "thead", "tablebody", "tablehead",
		"figure", "figcaption", "coregroup", "corecolumns", "corecolumn", "listitemchild", "aside", "callout", "panel", "details", "detailssummary", "detailscontent", "toggle", "layoutsection", "layoutcolumn", "autolinkgroup":
		return "div", true
	case "html", "rawhtml", "raw", "corehtml":
		return "html", true
	}
	return "", false
}

// isBlock says whether a part stands on lines of its own.
func (p part) isBlock() bool {
	switch p {
	case "text", "a", "br", "strong", "em", "del", "sub", "sup", "code", "":
		return false
	}
	return true
}

// typeName gives what a node says that it is.
func (r *reader) typeName(i int32) string {
	v := r.v
	if i < 0 || v.list[i].kind != valueObject {
		return ""
	}
	best, n := "", 0
	for c := v.list[i].first; c >= 0 && n < 40; c = v.list[c].next {
		n++
		switch v.list[c].key {
		case "type", "nodeType", "_type", "blockName":
			if s := v.text(c); s != "" && len(s) <= 64 {
				best = s
			}
		case "name", "tag", "__typename":
			if s := v.text(c); best == "" && len(s) <= 64 {
				if _, ok := partOf(s); ok {
					best = s
				}
			}
		}
	}
	return best
}

// kids gives the list of what is in a node, or -1.
func (r *reader) kids(i int32) int32 {
	v := r.v
	if i < 0 {
		return -1
	}
	for _, key := range []string{"children", "content", "nodes", "blocks", "innerBlocks", "content_elements", "items", "rich_text", "body", "value"} {
		if c := r.follow(v.get(i, key)); c >= 0 && v.list[c].kind == valueArray && v.list[c].first >= 0 {
			return c
		}
	}
	return -1
}

// payload gives the object that holds what a node has, where it is not the node
// itself.
func (r *reader) payload(i int32, name string) int32 {
	v := r.v
	for _, key := range []string{"data", "model", name, "attributes", "attrs", "props", "fields", "primary"} {
		if c := r.follow(v.get(i, key)); c >= 0 && v.list[c].kind == valueObject && v.list[c].first >= 0 {
			return c
		}
	}
	return -1
}

// own gives the text that a node holds itself.
func (r *reader) own(i int32) (s string, ok bool) {
	v := r.v
	for _, key := range []string{"text", "value", "html", "content", "plain_text", "innerHTML", "renderedHtml", "code", "literal"} {
		if c := v.get(i, key); c >= 0 {
			if k := v.kind(c); k == valueString || k == valueEscaped {
				return v.text(c), true
			}
		}
	}
	if c := v.get(i, "text"); c >= 0 { // Notion: {"text":{"content":"…"}}
		if s := v.text(v.get(c, "content")); s != "" {
			return s, true
		}
	}
	return "", false
}

// isDocument says whether a type is that of the root of rich text.
func isDocument(name string) bool {
	switch normalKey(name) {
	case "doc", "document", "root", "richtext", "body", "fragment":
		return true
	}
	return false
}

// isRich says whether a node is a block of rich text: it is called so, and has
// text or children.
func (r *reader) isRich(i int32) bool {
	if i = r.follow(i); i < 0 {
		return false
	}
	if r.v.list[i].kind == valueArray {
		return r.isElement(i)
	}
	name := r.typeName(i)
	if name == "" {
		return false
	}
	if name == "element" {
		_, ok := partOf(r.v.text(r.v.get(i, "tagName", "tag")))
		return ok && r.kids(i) >= 0
	}
	p, ok := partOf(name)
	if !ok {
		return false
	}
	if p == "div" || p == "text" || p == "p" || p == "html" {
		if t := r.v.get(i, "title", "headline", "heading"); r.v.text(t) != "" {
			return false // a thing of its own, or a part with a heading
		}
	}
	if p.isBlock() || p == "text" {
		if r.kids(i) >= 0 {
			return p != "div" || r.hasRich(r.kids(i))
		}
		if s, ok := r.own(i); ok {
			return s != "" && (p.isBlock() || len(s) >= 40)
		}
		if in := r.payload(i, name); in >= 0 && p.isBlock() {
			if s, ok := r.own(in); ok {
				return s != ""
			}
			return r.kids(in) >= 0
		}
	}
	return false
}

// hasRich says whether one of the first members of a list is rich text.
func (r *reader) hasRich(i int32) bool {
	n := 0
	for c := r.v.list[i].first; c >= 0 && n < 8; c = r.v.list[c].next {
		n++
		e := r.follow(c)
		if e < 0 {
			continue
		}
		if r.v.list[e].kind == valueObject {
			name := r.typeName(e)
			if name == "element" {
				name = r.v.text(r.v.get(e, "tagName", "tag"))
			}
			if p, ok := partOf(name); ok && (p != "div" || r.kids(e) >= 0) {
				return true
			}
		} else if r.isElement(e) {
			return true
		}
	}
	return false
}

// isElement says whether a list is an element of React as it is streamed,
// ["$","p",null,{"children":…}].
func (r *reader) isElement(i int32) bool {
	v := r.v
	c := v.list[i].first
	if v.list[i].kind != valueArray || c < 0 {
		return false
	}
	if mark := v.text(c); mark != "$" && mark != "$r" {
		return false
	}
	n := 0
	for ; c >= 0 && n < 5; c = v.list[c].next {
		n++
	}
	return n >= 4
}

// rich renders a value if it is rich text as a whole, and says whether it was.
func (r *reader) rich(i, up int32, key string, depth int) bool {
	v := r.v
	switch v.list[i].kind {
	case valueArray:
		if !r.isElement(i) {
			found := false
			n := 0
			for c := v.list[i].first; c >= 0 && n < 8 && !found; c = v.list[c].next {
				n++
				found = r.isRich(c)
			}
			if !found {
				return false
			}
		}
	case valueObject:
		name := r.typeName(i)
		p, ok := partOf(name)
		root := ok && p == "div" && isDocument(name) && r.kids(i) >= 0 && r.hasRich(r.kids(i))
		if !root { // Lexical: {"root":{…}}; Draft.js: {"blocks":[…],"entityMap":{}}
			if v.get(i, "entityMap") < 0 || v.get(i, "blocks") < 0 {
				return false
			}
		}
	default:
		return false
	}
	w := richWriter{r: r, up: up, key: key, depth: depth}
	r.seen[i] = false
	w.node(i, 0)
	w.endLists()
	s := w.b.String()
	size, stops := measure(plainOf(s))
	t := trustWeak
	if size >= 60 && stops > 0 {
		t = trustStrong
	}
	if summaryKey(key) && size < 1000 {
		t = trustLow
	}
	r.add(s, int(size), up, t)
	return true
}

// A richWriter writes rich text as HTML.
type richWriter struct {
	r     *reader
	b     strings.Builder
	up    int32
	key   string
	depth int
	lists []string // lists that were opened for items without one

	verbatim int // how many elements around hold code
}

func (w *richWriter) full() bool { return w.b.Len() > maxRichBytes || !w.r.v.tick() }

func (w *richWriter) endLists() {
	for n := len(w.lists); n > 0; n-- {
		w.b.WriteString("</" + w.lists[n-1] + ">")
	}
	w.lists = w.lists[:0]
}

// looseItem opens the list that an item needs, at a level from 0.
func (w *richWriter) looseItem(tag string, level int) {
	level = min(max(level, 0), 8)
	for len(w.lists) > level+1 || len(w.lists) == level+1 && w.lists[level] != tag {
		w.b.WriteString("</" + w.lists[len(w.lists)-1] + ">")
		w.lists = w.lists[:len(w.lists)-1]
	}
	for len(w.lists) < level+1 {
		w.b.WriteString("<" + tag + ">")
		w.lists = append(w.lists, tag)
	}
}

// list writes the members of a list one by one.
func (w *richWriter) list(i int32, depth int) {
	for c := w.r.v.list[i].first; c >= 0 && !w.full(); c = w.r.v.list[c].next {
		w.node(c, depth+1)
	}
}

// inner writes the contents of a part with lists of its own.
func (w *richWriter) inner(i int32, depth int) {
	outer := w.lists
	w.lists = nil
	w.list(i, depth)
	w.endLists()
	w.lists = outer
}

// node writes one node with all that is in it.
func (w *richWriter) node(i int32, depth int) {
	r, v := w.r, w.r.v
	if i = r.follow(i); i < 0 || depth > maxRichDepth || w.full() {
		return
	}
	switch n := &v.list[i]; n.kind {
	case valueString, valueEscaped:
		s := v.text(i)
		if len(s) >= leastData && w.verbatim == 0 && (looksLikeJSON(s) || !likeWords(s)) {
			return // a script that is handed to a component
		}
		w.b.WriteString(html.EscapeString(s))
		return
	case valueNumber:
		w.b.WriteString(html.EscapeString(n.str))
		return
	case valueArray:
		if r.seen[i] {
			return
		}
		r.seen[i] = true
		if r.isElement(i) {
			w.element(i, depth)
			return
		}
		w.list(i, depth)
		return
	case valueObject:
		if r.seen[i] || r.unseen(i) {
			return
		}
		r.seen[i] = true
	default:
		return
	}
	name := r.typeName(i)
	if name == "element" {
		w.tag(i, v.text(v.get(i, "tagName", "tag")), v.get(i, "properties", "props"), r.kids(i), depth)
		return
	}
	p, ok := partOf(name)
	if p == "text" && (r.kids(i) >= 0 || r.kids(r.payload(i, name)) >= 0) {
		p = "div" // the BBC calls a block of paragraphs text
	} else if p == "" && name == "" && r.kids(i) < 0 {
		p = "text" // Slate's leaves have no type
	}
	style := v.text(v.get(i, "style"))
	in := i
	if q := r.payload(i, name); q >= 0 && r.kids(i) < 0 {
		if _, has := r.own(i); !has {
			in = q
		}
	}
	switch {
	case !ok && p != "text":
		w.unknown(i, in, depth)
		return
	case name == "block" && (style != "" || v.get(i, "listItem") >= 0): // Portable Text
		if p, ok = partOf(style); !ok || style == "normal" {
			p = "p"
		}
		if item := v.text(v.get(i, "listItem")); item != "" {
			p = "uli"
			if item == "number" {
				p = "oli"
			}
		}
	}
	if p.isBlock() && p != "uli" && p != "oli" {
		w.endLists()
	}
	switch p {
	case "text":
		if depth <= 1 { // Arc calls a paragraph text
			w.wrap("p", i, in, depth)
			break
		}
		w.leaf(i)
	case "br":
		w.b.WriteString("<br>")
	case "hr":
		w.b.WriteString("<hr>")
	case "img":
		w.image(i, in)
	case "html":
		if s, ok := r.own(in); ok {
			w.b.WriteString(s)
		}
	case "pre":
		w.code(i, in, depth)
	case "list":
		tag := "ul"
		if s := v.text(v.get(in, "style", "listType", "list_type", "tag", "kind")); s == "ordered" || s == "number" || s == "ol" || v.kind(v.get(in, "ordered")) == valueTrue || v.kind(v.get(i, "ordered")) == valueTrue {
			tag = "ol"
		}
		w.items(tag, in, depth)
	case "ul", "ol":
		w.items(string(p), in, depth)
	case "uli", "oli":
		tag := "ul"
		if p == "oli" {
			tag = "ol"
		}
		level, _ := strconv.Atoi(v.numberText(v.get(i, "level", "depth", "indent")))
		if v.get(i, "listItem") >= 0 {
			level-- // counts from 1
		}
		w.looseItem(tag, level)
		w.wrap("li", i, in, depth)
	case "a":
		href := w.href(i, in)
		if href == "" {
			w.wrap("span", i, in, depth)
			return
		}
		w.b.WriteString(`<a href="` + html.EscapeString(href) + `">`)
		w.contents(i, in, depth)
		w.b.WriteString("</a>")
	case "h":
		w.wrap("h"+w.level(i, in), i, in, depth)
	case "":
		w.contents(i, in, depth)
	default:
		w.wrap(string(p), i, in, depth)
	}
}

// numberText gives a number, or a string with one, as text.
func (v *values) numberText(i int32) string {
	if v.kind(i) == valueNumber {
		return v.list[v.at(i)].str
	}
	return v.text(i)
}

// level gives the level of a heading.
func (w *richWriter) level(nodes ...int32) string {
	v := w.r.v
	for _, i := range nodes {
		for _, in := range []int32{i, v.get(i, "attrs", "attributes", "data")} {
			s := v.numberText(v.get(in, "level", "depth", "rank", "size", "tag"))
			s = strings.TrimPrefix(strings.TrimPrefix(s, "h"), "H")
			if len(s) == 1 && s[0] >= '1' && s[0] <= '6' {
				return s
			}
		}
	}
	return "2"
}

func (w *richWriter) wrap(tag string, i, in int32, depth int) {
	w.b.WriteString("<" + tag + ">")
	w.contents(i, in, depth)
	w.b.WriteString("</" + tag + ">")
	if len(tag) < 3 {
		w.b.WriteByte('\n')
	}
}

// contents writes the children of a node, or its text.
func (w *richWriter) contents(i, in int32, depth int) {
	r := w.r
	if c := r.kids(in); c >= 0 {
		w.marks(i, func() {
			if defs := w.markDefs(i); defs != nil {
				for s := r.v.list[c].first; s >= 0 && !w.full(); s = r.v.list[s].next {
					w.span(s, defs, depth+1)
				}
				return
			}
			w.inner(c, depth)
		})
		return
	}
	s, ok := r.own(in)
	if !ok {
		s, ok = r.own(i)
	}
	if !ok {
		return
	}
	// A whole block as a string may have markup; the blocks of an editor that
	// keeps its styles apart have not.
	plain := r.v.get(i, "inlineStyleRanges") >= 0 || r.v.get(i, "markups") >= 0 || r.v.get(i, "spans") >= 0
	w.marks(i, func() {
		if !plain && strings.Contains(s, "<") && isHTML(s) {
			w.b.WriteString(s)
			return
		}
		if !plain && strings.Contains(s, "&") {
			s = html.UnescapeString(s)
		}
		w.b.WriteString(strings.ReplaceAll(html.EscapeString(s), "\n", "<br>\n"))
	})
}

// markDefs gives the links that the spans of Portable Text name by key.
func (w *richWriter) markDefs(i int32) map[string]string {
	v := w.r.v
	defs := v.get(i, "markDefs")
	if v.kind(defs) != valueArray {
		return nil
	}
	out := map[string]string{}
	for c := v.list[defs].first; c >= 0 && len(out) < 500; c = v.list[c].next {
		out[v.text(v.get(c, "_key"))] = v.text(v.get(c, "href", "url"))
	}
	return out
}

// span writes a span of Portable Text.
func (w *richWriter) span(i int32, defs map[string]string, depth int) {
	v := w.r.v
	if name := v.text(v.get(i, "_type")); name != "span" {
		w.node(i, depth)
		return
	}
	var open []string
	marks := v.get(i, "marks")
	if v.kind(marks) == valueArray {
		for c := v.list[marks].first; c >= 0 && len(open) < 8; c = v.list[c].next {
			name := v.text(c)
			if href := defs[name]; href != "" {
				w.b.WriteString(`<a href="` + html.EscapeString(href) + `">`)
				open = append(open, "a")
			} else if p, ok := partOf(name); ok && inlineTag(p) != "" {
				w.b.WriteString("<" + inlineTag(p) + ">")
				open = append(open, inlineTag(p))
			}
		}
	}
	w.text(v.text(v.get(i, "text")))
	for n := len(open); n > 0; n-- {
		w.b.WriteString("</" + open[n-1] + ">")
	}
}

func (w *richWriter) text(s string) {
	w.b.WriteString(strings.ReplaceAll(html.EscapeString(s), "\n", "<br>\n"))
}

// inlineTag gives the tag of a mark, or "".
func inlineTag(p part) string {
	switch p {
	case "strong", "em", "del", "sub", "sup", "code":
		return string(p)
	case "pre":
		return "code"
	}
	return ""
}

// marks writes what the marks of a node are around what f writes: ProseMirror
// and Contentful list them, Slate and Strapi set them, Lexical counts them.
func (w *richWriter) marks(i int32, f func()) {
	v := w.r.v
	var open []string
	mark := func(tag string) {
		if tag != "" && len(open) < 8 {
			w.b.WriteString("<" + tag + ">")
			open = append(open, tag)
		}
	}
	n := 0
	for c := v.list[i].first; c >= 0 && n < 40; c = v.list[c].next {
		n++
		switch m := &v.list[c]; m.key {
		case "bold", "italic", "code", "strikethrough", "superscript", "subscript", "strong", "em":
			if m.kind == valueTrue {
				p, _ := partOf(m.key)
				mark(inlineTag(p))
			}
		case "format":
			if m.kind == valueNumber {
				bits, _ := strconv.Atoi(m.str)
				for _, b := range []struct {
					bit int
					tag string
				}{{1, "strong"}, {2, "em"}, {4, "del"}, {16, "code"}, {32, "sub"}, {64, "sup"}} {
					if bits&b.bit != 0 {
						mark(b.tag)
					}
				}
			}
		case "marks":
			if v.kind(c) != valueArray {
				break
			}
			for k := v.list[v.at(c)].first; k >= 0; k = v.list[k].next {
				name := v.text(k)
				if v.kind(k) == valueObject {
					name = v.text(v.get(k, "type"))
				}
				if name == "link" {
					if href := w.href(v.at(k), v.at(k)); href != "" && len(open) < 8 {
						w.b.WriteString(`<a href="` + html.EscapeString(href) + `">`)
						open = append(open, "a")
					}
					continue
				}
				p, _ := partOf(name)
				mark(inlineTag(p))
			}
		}
	}
	f()
	for n := len(open); n > 0; n-- {
		w.b.WriteString("</" + open[n-1] + ">")
	}
}

// leaf writes a node of text, which never holds markup.
func (w *richWriter) leaf(i int32) {
	s, ok := w.r.own(i)
	if !ok {
		if in := w.r.payload(i, "text"); in >= 0 {
			s, ok = w.r.own(in)
		}
	}
	if !ok {
		return
	}
	w.marks(i, func() { w.text(s) })
}

// href gives where a node leads to.
func (w *richWriter) href(nodes ...int32) string {
	v := w.r.v
	for _, i := range nodes {
		for _, in := range []int32{i, v.get(i, "data"), v.get(i, "attrs"), v.get(i, "fields"), v.get(i, "attributes"), v.get(i, "locator")} {
			if s := v.text(v.get(in, "href", "url", "uri", "to", "link")); s != "" {
				return s
			}
		}
	}
	return ""
}

func (w *richWriter) image(i, in int32) {
	v := w.r.v
	for _, n := range []int32{in, i, v.get(i, "attrs"), v.get(i, "attributes"), v.get(in, "file"), v.get(in, "image"), v.get(in, "asset"), v.get(in, "target")} {
		src := v.text(v.get(n, "src", "url", "href"))
		if src == "" {
			continue
		}
		alt := v.text(v.get(n, "alt", "alternativeText", "altText", "alt_text"))
		if alt == "" {
			alt = v.text(v.get(in, "alt", "caption"))
		}
		w.b.WriteString(`<p><img src="` + html.EscapeString(src) + `" alt="` + html.EscapeString(plainOf(alt)) + `"></p>`)
		return
	}
}

// code writes a block of code.
func (w *richWriter) code(i, in int32, depth int) {
	v := w.r.v
	lang := ""
	for _, n := range []int32{i, in, v.get(i, "attrs")} {
		if s := v.text(v.get(n, "lang", "language", "codeLanguage", "params")); s != "" && len(s) < 32 && lang == "" {
			lang = s
		}
	}
	w.b.WriteString(`<pre><code class="language-` + html.EscapeString(lang) + `">`)
	if s, ok := w.r.own(in); ok && w.r.kids(in) < 0 {
		w.b.WriteString(html.EscapeString(s))
	} else if c := w.r.kids(in); c >= 0 {
		w.verbatim++
		w.inner(c, depth)
		w.verbatim--
	}
	w.b.WriteString("</code></pre>\n")
}

// items writes a list whose members may be strings, or objects with their text
// and a list of their own (Editor.js).
func (w *richWriter) items(tag string, in int32, depth int) {
	r, v := w.r, w.r.v
	c := r.kids(in)
	if c < 0 {
		if s, ok := r.own(in); ok && isHTML(s) { // Gutenberg
			w.b.WriteString("<" + tag + ">" + s + "</" + tag + ">")
		}
		return
	}
	w.b.WriteString("<" + tag + ">")
	for e := v.list[c].first; e >= 0 && !w.full(); e = v.list[e].next {
		i := r.follow(e)
		if i < 0 {
			continue
		}
		if p, ok := partOf(r.typeName(i)); ok && (p == "li" || p == "uli" || p == "oli" || p == "list" || p == "ul" || p == "ol") {
			if p == "uli" || p == "oli" { // it has its list
				w.b.WriteString("<li>")
				w.contents(i, i, depth+1)
				w.b.WriteString("</li>")
				continue
			}
			w.node(i, depth+1)
			continue
		}
		w.b.WriteString("<li>")
		switch v.list[i].kind {
		case valueString, valueEscaped:
			w.string(v.text(i))
		case valueObject:
			if s, ok := r.own(i); ok && r.typeName(i) == "" {
				w.string(s)
				if r.kids(i) >= 0 && depth < maxRichDepth {
					w.items(tag, i, depth+1)
				}
			} else {
				w.node(i, depth+1)
			}
		default:
			w.node(i, depth+1)
		}
		w.b.WriteString("</li>\n")
	}
	w.b.WriteString("</" + tag + ">\n")
}

// string writes text that may have markup.
func (w *richWriter) string(s string) {
	if strings.Contains(s, "<") && isHTML(s) {
		w.b.WriteString(s)
		return
	}
	w.text(html.UnescapeString(s))
}

// unknown writes what is between known parts: a component of the site's own.
func (w *richWriter) unknown(i, in int32, depth int) {
	r := w.r
	for _, n := range []int32{i, in} {
		if c := r.kids(n); c >= 0 && r.hasRich(c) {
			w.endLists()
			w.b.WriteString("<div>")
			w.inner(c, depth)
			w.b.WriteString("</div>")
			return
		}
		s, ok := r.own(n)
		if !ok || len(s) < leastPiece {
			continue
		}
		if size, stops := measure(plainOf(s)); size < leastPiece || stops == 0 || !isHTML(s) && !likeWords(s) {
			continue
		}
		w.endLists()
		if isHTML(s) {
			w.b.WriteString("<div>" + s + "</div>")
		} else {
			w.b.WriteString(textHTML(s))
		}
		return
	}
}

// element writes an element of React.
func (w *richWriter) element(i int32, depth int) {
	v := w.r.v
	c := v.list[v.list[i].first].next
	tag := v.text(c)
	props := int32(-1)
	for n := 0; c >= 0 && n < 3; n++ {
		props, c = c, v.list[c].next
	}
	props = w.r.follow(props)
	if props >= 0 && v.list[props].kind != valueObject {
		return
	}
	if props < 0 {
		w.tag(i, tag, -1, -1, depth)
		return
	}
	kids := v.get(props, "children")
	if raw := v.text(v.get(v.get(props, "dangerouslySetInnerHTML"), "__html")); raw != "" && tag != "script" && tag != "style" {
		if !isHTML(raw) && (looksLikeJSON(raw) || !likeWords(raw)) {
			return // linked data, or code
		}
		w.open(tag, props)
		w.b.WriteString(raw)
		w.close(tag)
		return
	}
	w.tag(i, tag, props, kids, depth)
	if kids < 0 && !knownTag(tag) {
		// A component that makes its markup in the browser: what it is given
		// is data like any other.
		w.r.walk(props, w.up, w.key, w.depth+depth+1)
	}
}

// knownTag says whether a name is that of an element of HTML.
func knownTag(tag string) bool {
	for i := range len(tag) {
		if c := tag[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9' || i == 0) {
			return false
		}
	}
	return tag != "" && len(tag) <= 12
}

func (w *richWriter) open(tag string, props int32) {
	if !knownTag(tag) {
		w.b.WriteString("<div>")
		return
	}
	w.b.WriteString("<" + tag)
	v := w.r.v
	if props = w.r.follow(props); props >= 0 && v.list[props].kind == valueObject {
		n := 0
		for c := v.list[props].first; c >= 0 && n < 60; c = v.list[c].next {
			n++
			w.attribute(c)
		}
	}
	w.b.WriteString(">")
}

// attribute writes one property as the attribute that the normal form looks at,
// among them those that hide an element.
func (w *richWriter) attribute(c int32) {
	v := w.r.v
	name := v.list[c].key
	switch name {
	case "className", "class":
		name = "class"
	case "hidden", "open":
		if v.kind(c) == valueTrue {
			w.b.WriteString(" " + name)
		}
		return
	case "ariaHidden", "aria-hidden":
		name = "aria-hidden"
		if v.kind(c) == valueTrue {
			w.b.WriteString(` aria-hidden="true"`)
			return
		}
	case "dateTime":
		name = "datetime"
	case "colSpan", "rowSpan", "srcSet":
		name = strings.ToLower(name)
	case "href", "src", "alt", "id", "lang", "dir", "title", "role", "rel", "datetime", "colspan", "rowspan", "start", "srcset", "width", "height", "type", "aria-label":
	case "style":
		if v.kind(c) == valueObject {
			var css strings.Builder
			for d := v.list[v.at(c)].first; d >= 0 && css.Len() < 1000; d = v.list[d].next {
				for _, r := range v.list[d].key {
					if r >= 'A' && r <= 'Z' {
						css.WriteByte('-')
						r += 'a' - 'A'
					}
					css.WriteRune(r)
				}
				css.WriteString(":" + v.numberText(d) + ";")
			}
			w.b.WriteString(` style="` + html.EscapeString(css.String()) + `"`)
			return
		}
	default:
		return
	}
	s := v.numberText(c)
	if s == "" && v.kind(c) == valueArray { // hast: ["a","b"]
		var words []string
		for d := v.list[v.at(c)].first; d >= 0 && len(words) < 50; d = v.list[d].next {
			words = append(words, v.text(d))
		}
		s = strings.Join(words, " ")
	}
	if s != "" {
		w.b.WriteString(" " + name + `="` + html.EscapeString(s) + `"`)
	}
}

func (w *richWriter) close(tag string) {
	switch {
	case !knownTag(tag):
		w.b.WriteString("</div>")
	case tag == "br" || tag == "img" || tag == "hr" || tag == "input" || tag == "wbr" || tag == "source":
	default:
		w.b.WriteString("</" + tag + ">")
	}
}

// tag writes an element of HTML, or the children of a component.
func (w *richWriter) tag(_ int32, tag string, props, kids int32, depth int) {
	switch tag {
	case "script", "style", "template", "noscript", "svg", "head", "title", "meta", "link", "iframe", "textarea", "select", "plaintext", "xmp", "noembed", "noframes", "listing", "base", "option", "button":
		return
	}
	if kids = w.r.follow(kids); kids < 0 && !knownTag(tag) {
		return
	}
	w.open(tag, props)
	if kids >= 0 {
		code := 0
		if tag == "pre" || tag == "code" {
			code = 1
		}
		w.verbatim += code
		w.node(kids, depth+1)
		w.verbatim -= code
	}
	w.close(tag)
}
