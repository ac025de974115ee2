package extract

import (
	"bytes"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

const (
	// maxXMLDepth is how deep elements are followed; the texts of deeper ones
	// belong to the last that is.
	maxXMLDepth = 200
	// maxXMLAttrs is how many attributes of an element are kept.
	maxXMLAttrs = 64
	// maxXMLNames is how many namespace declarations are in force at once.
	maxXMLNames = 256
	// maxXMLNodes is the largest part of a document that is held as a tree: one
	// entry of a feed, for one.
	maxXMLNodes = 100_000
)

// An xmlReader walks an XML document as it is found on the web. It reads what
// encoding/xml refuses: undeclared entities and bare ampersands stay as they
// are, control characters are text, an end tag closes the nearest element of
// its name and is nothing when there is none, and a document that breaks off
// ends there. Every element that is opened is closed, in order.
//
// It expands no entity but the references of XML and HTML, and fetches nothing.
type xmlReader struct {
	b   []byte
	pos int

	open    []xmlOpen
	over    int // elements open beyond maxXMLDepth
	pending int // elements still to be closed before reading on
	spaces  []xmlSpace
	rooted  bool
	native  xmlFamily         // of the root: its names are written without a family; see xmlNode
	names   map[string]string // names as written before, so that each is kept once
	base    string            // what links are resolved against: the document's address, then xml:base
	cut     bool              // something was left out because it is too large or too deep

	// What next found.
	name  string
	attrs []xmlAttr
	text  string
	cdata bool // text is a CDATA section
}

type xmlOpen struct {
	qname  []byte // as written
	spaces int    // how many declarations were in force around it
	base   string // and what base was
}

type xmlAttr struct{ name, value string }

// An xmlSpace is one namespace declaration.
type xmlSpace struct {
	prefix string
	family xmlFamily
}

// An xmlFamily is a vocabulary, by the prefix it usually has.
type xmlFamily string

const (
	familyNone    xmlFamily = ""
	familyOther   xmlFamily = "?" // a namespace without a prefix that nothing here reads
	familyAtom    xmlFamily = "atom"
	familyRSS     xmlFamily = "rss"
	familyRDF     xmlFamily = "rdf"
	familyContent xmlFamily = "content"
	familyDC      xmlFamily = "dc"
	familyMedia   xmlFamily = "media"
	familyITunes  xmlFamily = "itunes"
	familyXHTML   xmlFamily = "xhtml"
	familyXLink   xmlFamily = "xlink"
	familyXML     xmlFamily = "xml"
)

// familyOf names the vocabulary of a namespace. Feeds write them with and
// without www, a slash at the end, and https.
func familyOf(uri string) xmlFamily {
	uri = strings.ToLower(strings.TrimSpace(uri))
	_, uri, _ = strings.Cut(uri, "://")
	switch strings.TrimRight(strings.TrimPrefix(uri, "www."), "/#") {
	case "w3.org/2005/atom", "purl.org/atom/ns":
		return familyAtom
	case "purl.org/rss/1.0", "my.netscape.com/rdf/simple/0.9", "backend.userland.com/rss2", "backend.userland.com/rss", "channel.netscape.com/rdf/simple/0.9",
		"purl.org/net/rss1.1", "blogs.law.harvard.edu/tech/rss":
		return familyRSS
	case "w3.org/1999/02/22-rdf-syntax-ns":
		return familyRDF
	case "purl.org/rss/1.0/modules/content":
		return familyContent
	case "purl.org/dc/elements/1.1", "purl.org/dc/elements/1.0", "purl.org/dc/terms":
		return familyDC
	case "search.yahoo.com/mrss", "search.yahoo.com/mrss/1.0":
		return familyMedia
	case "itunes.com/dtds/podcast-1.0.dtd":
		return familyITunes
	case "w3.org/1999/xhtml":
		return familyXHTML
	case "w3.org/1999/xlink":
		return familyXLink
	case "":
		return familyNone
	}
	return familyOther
}

// familyOfPrefix is what a prefix stands for that nothing declares.
func familyOfPrefix(prefix string) xmlFamily {
	switch f := xmlFamily(strings.ToLower(prefix)); f {
	case familyAtom, familyRSS, familyRDF, familyContent, familyDC, familyMedia, familyITunes, familyXHTML, familyXLink, familyXML:
		return f
	case "dcterms", "dct":
		return familyDC
	case "a10": // what one maker of feeds calls Atom
		return familyAtom
	case "rss1":
		return familyRSS
	default:
		return f
	}
}

type xmlKind uint8

const (
	xmlEnd xmlKind = iota // of the document
	xmlStart
	xmlClose
	xmlText
)

// next goes to the next tag or text; comments, declarations and processing
// instructions are passed over.
func (r *xmlReader) next() xmlKind {
	for {
		if r.pending > 0 {
			return r.close()
		}
		if r.pos >= len(r.b) {
			if len(r.open) > 0 {
				r.pending = len(r.open)
				continue
			}
			return xmlEnd
		}
		if r.b[r.pos] != '<' || !isTag(r.b[r.pos:]) {
			end := r.pos + 1
			for {
				i := bytes.IndexByte(r.b[end:], '<')
				if i < 0 {
					end = len(r.b)
					break
				}
				end += i
				if isTag(r.b[end:]) {
					break
				}
				end++
			}
			r.text, r.cdata = unescapeXML(string(r.b[r.pos:end])), false
			r.pos = end
			return xmlText
		}
		switch rest := r.b[r.pos:]; {
		case bytes.HasPrefix(rest, []byte("<!--")):
			r.skip(4, "-->")
		case bytes.HasPrefix(rest, []byte("<![CDATA[")):
			from := r.pos + len("<![CDATA[")
			r.skip(len("<![CDATA["), "]]>")
			r.text, r.cdata = string(bytes.TrimSuffix(r.b[from:r.pos], []byte("]]>"))), true
			return xmlText
		case rest[1] == '?':
			r.skip(2, ">")
		case rest[1] == '!':
			r.declaration()
		case rest[1] == '/':
			r.endTag()
		default:
			if r.startTag() {
				return xmlStart
			}
		}
	}
}

// isTag says whether a "<" begins anything but text.
func isTag(b []byte) bool {
	if len(b) < 2 {
		return false
	}
	c := b[1]
	return isLetter(c) || c == '/' || c == '!' || c == '?' || c == '_' || c >= 0x80
}

// skip moves behind mark, which is looked for n bytes ahead.
func (r *xmlReader) skip(n int, mark string) {
	from := min(r.pos+n, len(r.b))
	i := bytes.Index(r.b[from:], []byte(mark))
	if i < 0 {
		r.pos = len(r.b)
		return
	}
	r.pos = from + i + len(mark)
}

// declaration moves behind a doctype and what it declares.
func (r *xmlReader) declaration() {
	rest := r.b[r.pos:]
	end := bytes.IndexByte(rest, '>')
	if i := bytes.IndexByte(rest, '['); i >= 0 && end >= 0 && i < end {
		if j := bytes.IndexByte(rest[i:], ']'); j >= 0 {
			if k := bytes.IndexByte(rest[i+j:], '>'); k >= 0 {
				r.pos += i + j + k + 1
				return
			}
		}
	}
	r.skip(2, ">")
}

func isNameByte(c byte) bool {
	return isLetter(c) || c >= '0' && c <= '9' || c == ':' || c == '-' || c == '_' || c == '.' || c >= 0x80
}

// endTag reads </name>.
func (r *xmlReader) endTag() {
	i := r.pos + 2
	from := i
	for i < len(r.b) && isNameByte(r.b[i]) {
		i++
	}
	name := r.b[from:i]
	r.pos = i
	r.skip(0, ">")
	if r.over > 0 {
		r.over--
		return
	}
	for k := range slices.Backward(r.open) {
		if len(r.open[k].qname) == len(name) && bytes.Equal(r.open[k].qname, name) {
			r.pending = len(r.open) - k
			return
		}
	}
}

// close ends the innermost element.
func (r *xmlReader) close() xmlKind {
	r.pending--
	top := r.open[len(r.open)-1]
	r.open = r.open[:len(r.open)-1]
	r.spaces, r.base = r.spaces[:top.spaces], top.base
	return xmlClose
}

// startTag reads <name …>; false says that it is too deep to be one.
func (r *xmlReader) startTag() bool {
	i := r.pos + 1
	from := i
	for i < len(r.b) && isNameByte(r.b[i]) {
		i++
	}
	qname := r.b[from:i]
	r.attrs = r.attrs[:0]
	around := len(r.spaces)
	closed := false
	for i < len(r.b) {
		c := r.b[i]
		switch {
		case c == '>':
			i++
		case c == '<' && isTag(r.b[i:]): // a tag that breaks off
		case c == '/':
			closed = true
			i++
			continue
		case isSpace(c):
			i++
			continue
		default:
			closed = false
			i = r.attribute(i)
			continue
		}
		break
	}
	r.pos = i
	if len(r.open) >= maxXMLDepth {
		r.spaces = r.spaces[:around]
		r.cut = true
		if !closed {
			r.over++
		}
		return false
	}
	r.open = append(r.open, xmlOpen{qname: qname, spaces: around, base: r.base})
	if !r.rooted {
		prefix, _, ok := bytes.Cut(qname, []byte(":"))
		if !ok {
			prefix = nil
		}
		r.rooted, r.native = true, r.family(string(prefix))
	}
	r.name = r.expand(qname, true)
	for k := range r.attrs {
		r.attrs[k].name = r.expand([]byte(r.attrs[k].name), false)
	}
	r.base = joinBase(r.base, r.attr("xml:base"))
	if closed {
		r.pending = 1
	}
	return true
}

// attribute reads one attribute and gives the position behind it.
func (r *xmlReader) attribute(i int) int {
	from := i
	for i < len(r.b) && !isSpace(r.b[i]) && r.b[i] != '=' && r.b[i] != '>' && r.b[i] != '/' && r.b[i] != '<' {
		i++
	}
	name := r.b[from:i]
	for i < len(r.b) && isSpace(r.b[i]) {
		i++
	}
	if i >= len(r.b) || r.b[i] != '=' {
		return max(i, from+1)
	}
	i++
	for i < len(r.b) && isSpace(r.b[i]) {
		i++
	}
	var value []byte
	if i < len(r.b) && (r.b[i] == '"' || r.b[i] == '\'') {
		end := bytes.IndexByte(r.b[i+1:], r.b[i])
		if end < 0 { // the quote is never closed
			end = max(bytes.IndexByte(r.b[i+1:], '>'), 0)
		}
		value = r.b[i+1 : i+1+end]
		i += end + 2
		if i > len(r.b) || r.b[i-1] == '>' {
			i--
		}
	} else {
		from := i
		for i < len(r.b) && !isSpace(r.b[i]) && r.b[i] != '>' {
			i++
		}
		value = r.b[from:i]
	}
	switch key := string(name); {
	case key == "xmlns" || strings.HasPrefix(key, "xmlns:"):
		if len(r.spaces) < maxXMLNames {
			r.spaces = append(r.spaces, xmlSpace{strings.TrimPrefix(key[len("xmlns"):], ":"), familyOf(string(value))})
		}
	case len(r.attrs) < maxXMLAttrs:
		r.attrs = append(r.attrs, xmlAttr{key, unescapeXML(string(value))})
	default:
		r.cut = true
	}
	return i
}

// expand gives the name of an element or attribute as xmlNode has it.
func (r *xmlReader) expand(qname []byte, element bool) string {
	prefix, local, ok := bytes.Cut(qname, []byte(":"))
	if !ok {
		prefix, local = nil, qname
	}
	family := familyNone
	if ok || element {
		family = r.family(string(prefix))
	}
	if family == r.native || family == familyRSS {
		family = familyNone
	}
	if family == familyNone {
		return r.intern(local)
	}
	return r.intern(append(append([]byte(family), ':'), local...))
}

// family gives what a prefix stands for here.
func (r *xmlReader) family(prefix string) xmlFamily {
	for _, s := range slices.Backward(r.spaces) {
		if s.prefix == prefix {
			if f := s.family; f != familyOther || prefix == "" {
				return f
			}
			break // a misspelt namespace: go by the prefix
		}
	}
	if prefix == "" {
		return familyNone
	}
	return familyOfPrefix(prefix)
}

func (r *xmlReader) intern(b []byte) string {
	if s, ok := r.names[string(b)]; ok {
		return s
	}
	s := strings.ToLower(string(b))
	if r.names == nil {
		r.names = make(map[string]string)
	}
	if len(r.names) < 4096 {
		r.names[string(b)] = s
	}
	return s
}

// attr gives an attribute of the element that next found.
func (r *xmlReader) attr(name string) string { return attrOf(r.attrs, name) }

func attrOf(attrs []xmlAttr, name string) string {
	for _, a := range attrs {
		if a.name == name {
			return a.value
		}
	}
	return ""
}

// unescapeXML resolves references, once. Only those that end in a semicolon are
// any: an address such as ?a=1&copy=2 is often written bare.
func unescapeXML(s string) string {
	at := strings.IndexByte(s, '&')
	if at < 0 {
		return s
	}
	var b strings.Builder
	for at >= 0 {
		b.WriteString(s[:at])
		s = s[at:]
		end := strings.IndexByte(s[:min(len(s), 40)], ';')
		if end < 2 || strings.ContainsAny(s[1:end], "& <\n") {
			b.WriteByte('&')
			s = s[1:]
		} else {
			b.WriteString(html.UnescapeString(s[:end+1]))
			s = s[end+1:]
		}
		at = strings.IndexByte(s, '&')
	}
	b.WriteString(s)
	return b.String()
}

// An xmlNode is a part of an XML document as a tree. A name is in lower case and
// has its family in front, as in "dc:date", but for the names of the document's
// own family and of RSS. A text has no name.
type xmlNode struct {
	name  string
	attrs []xmlAttr
	kids  []*xmlNode
	text  string
	cdata bool
	base  string // what its links are resolved against
}

// element reads the element whose start next found, up to its end.
func (r *xmlReader) element() *xmlNode {
	top := &xmlNode{name: r.name, attrs: append([]xmlAttr(nil), r.attrs...), base: r.base}
	stack := []*xmlNode{top}
	skip := 0
	for n := 0; len(stack) > 0; n++ {
		at := stack[len(stack)-1]
		kind := r.next()
		if n >= maxXMLNodes && kind != xmlClose && kind != xmlEnd {
			r.cut = true
			if kind == xmlStart {
				skip++
			}
			continue
		}
		switch kind {
		case xmlEnd:
			return top
		case xmlClose:
			if skip > 0 {
				skip--
				continue
			}
			stack = stack[:len(stack)-1]
		case xmlStart:
			c := &xmlNode{name: r.name, attrs: append([]xmlAttr(nil), r.attrs...), base: r.base}
			at.kids = append(at.kids, c)
			stack = append(stack, c)
		case xmlText:
			at.kids = append(at.kids, &xmlNode{text: r.text, cdata: r.cdata})
		}
	}
	return top
}

// attr gives an attribute, or "".
func (n *xmlNode) attr(name string) string { return attrOf(n.attrs, name) }

// child gives the first child of a name, nil when there is none.
func (n *xmlNode) child(name string) *xmlNode {
	for _, c := range n.kids {
		if c.name == name {
			return c
		}
	}
	return nil
}

// words gives the text under n, not further than its first maxNodeText bytes.
func (n *xmlNode) words() string {
	if n == nil {
		return ""
	}
	if len(n.kids) == 1 && n.kids[0].name == "" {
		return strings.TrimSpace(n.kids[0].text)
	}
	var b strings.Builder
	n.each(func(c *xmlNode) bool {
		if c.name == "" {
			b.WriteString(c.text)
		}
		return b.Len() < maxNodeText
	})
	return strings.TrimSpace(b.String())
}

// each calls f on every node below n, in order, until f says that it is enough.
func (n *xmlNode) each(f func(*xmlNode) bool) bool {
	for _, c := range n.kids {
		if !f(c) || !c.each(f) {
			return false
		}
	}
	return true
}

// hasElements says whether n holds more than text.
func (n *xmlNode) hasElements() bool {
	for _, c := range n.kids {
		if c.name != "" {
			return true
		}
	}
	return false
}

// source gives the text that n holds, of any length, white space kept.
func (n *xmlNode) source() string {
	if len(n.kids) == 1 && n.kids[0].name == "" {
		return n.kids[0].text
	}
	var b strings.Builder
	n.each(func(c *xmlNode) bool { b.WriteString(c.text); return true })
	return b.String()
}

// markup writes what n holds as HTML: elements without their prefixes, none of
// them closed in its own tag, and links as they are where n's own base is theirs.
// A CDATA section beside elements is markup itself when it looks like it.
func (n *xmlNode) markup() string {
	var b strings.Builder
	n.write(&b, n.base)
	return b.String()
}

func (n *xmlNode) write(b *strings.Builder, base string) {
	for _, c := range n.kids {
		if c.name == "" {
			if c.cdata && isHTML(c.text) {
				b.WriteString(c.text)
			} else {
				b.WriteString(html.EscapeString(c.text))
			}
			continue
		}
		name := c.name[strings.LastIndexByte(c.name, ':')+1:]
		if !tagName(name) {
			c.write(b, base)
			continue
		}
		b.WriteByte('<')
		b.WriteString(name)
		for _, a := range c.attrs {
			key := a.name
			switch {
			case key == "xml:base" || key == "xlink:href":
				continue
			case strings.HasPrefix(key, "xml:"):
				key = key[len("xml:"):]
			}
			if !tagName(key) {
				continue
			}
			b.WriteByte(' ')
			b.WriteString(key)
			b.WriteString(`="`)
			value := a.value
			if c.base != base && (key == "href" || key == "src" || key == "poster") {
				value = resolveIn(c.base, value)
			}
			b.WriteString(html.EscapeString(value))
			b.WriteByte('"')
		}
		b.WriteByte('>')
		if standsAlone(name) {
			c.write(b, base) // what a tag that was never closed has swallowed
			continue
		}
		c.write(b, base)
		b.WriteString("</")
		b.WriteString(name)
		b.WriteByte('>')
	}
}

// tagName says whether a name can stand in a tag of HTML.
func tagName(s string) bool {
	if s == "" || !isLetter(s[0]) {
		return false
	}
	for i := range len(s) {
		if c := s[i]; !isLetter(c) && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

// standsAlone says whether an element of HTML has no end tag.
func standsAlone(name string) bool {
	switch name {
	case "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr":
		return true
	}
	return false
}

// joinBase resolves one base against another.
func joinBase(outer, inner string) string {
	if inner = strings.TrimSpace(inner); inner == "" {
		return outer
	}
	o, err := url.Parse(outer)
	if err != nil {
		return inner
	}
	i, err := o.Parse(inner)
	if err != nil || len(inner) > 2048 {
		return outer
	}
	return i.String()
}

// resolveIn resolves a link against a base.
func resolveIn(base, ref string) string {
	if base == "" || ref == "" {
		return ref
	}
	b, err := url.Parse(strings.TrimSpace(base))
	if err != nil {
		return ref
	}
	u, err := b.Parse(strings.TrimSpace(ref))
	if err != nil || u.String() == "" {
		return ref
	}
	return u.String()
}
