package extract

import (
	"bytes"
	"html"
	"strconv"
	"strings"

	"golang.org/x/net/html/atom"
)

const (
	// leastData is the length of the shortest script or attribute that is
	// looked at for content, in bytes.
	leastData = 150
	// maxPieces is how many scripts, attributes and noscript elements are read.
	maxPieces = 2000
	// maxRows is how many rows of a stream of React are read.
	maxRows = 20_000
)

// A pageData is what a page carries beside what it shows.
type pageData struct {
	values    values
	roots     []root
	noscripts []string
}

// A root is one whole piece of data.
type root struct {
	value int32
	// named says that the piece is told to be data by its type or by a name
	// that frameworks give it. Of others, such as the literals in a bundle,
	// less is believed.
	named bool
}

// readData finds the data in a page. It walks the tags itself: a page that is
// too much for a tree still has its scripts.
func readData(text []byte, alive func() error) (*pageData, error) {
	d := &pageData{values: values{alive: alive}}
	l := lexer{b: text}
	flight := flight{}
	pieces := 0
	for pieces < maxPieces && d.values.tick() {
		switch l.next() {
		case lexEnd:
			d.flight(&flight)
			return d, d.values.err
		case lexStart:
		default:
			continue
		}
		switch atom.Atom(l.id()) {
		case atom.Script:
			kind, id := strings.ToLower(strings.TrimSpace(l.attr("type"))), l.attr("id")
			if body := l.skipRaw(atom.Script); len(body) >= leastData || bytes.Contains(body, []byte("__next_f")) {
				pieces++
				d.script(string(body), kind, id, &flight)
			}
		case atom.Noscript:
			if body := bytes.TrimSpace(l.skipRaw(atom.Noscript)); len(body) >= leastData {
				pieces++
				d.noscripts = append(d.noscripts, string(body))
			}
		case atom.Style, atom.Textarea, atom.Title, atom.Xmp, atom.Iframe, atom.Noembed, atom.Noframes:
			l.skipRaw(atom.Atom(l.id()))
		default:
			if l.attrTo-l.attrFrom >= leastData {
				pieces += d.attributes(&l)
			}
		}
	}
	d.flight(&flight)
	return d, d.values.err
}

// attributes reads the JSON in the attributes of a tag, which is how Inertia,
// Astro and others hand data to their scripts.
func (d *pageData) attributes(l *lexer) (found int) {
	for i, n := l.attrFrom, 0; i < l.attrTo && n < maxAttrs; n++ {
		if isSpace(l.b[i]) || l.b[i] == '/' {
			i++
			continue
		}
		var k, v []byte
		k, v, i = attribute(l.b[:l.attrTo], i)
		if len(v) < leastData || v[0] != '{' && v[0] != '[' && v[0] != '&' || len(k) > 0 && (k[0] == ':' || k[0] == '@') {
			continue
		}
		s := html.UnescapeString(string(v))
		if !looksLikeJSON(s) {
			continue
		}
		found++
		before := len(d.values.list)
		if r, ok := d.values.json(s); ok {
			if bytes.EqualFold(l.name, []byte("astro-island")) {
				d.values.unpair(before)
			}
			d.roots = append(d.roots, root{r, true})
		}
	}
	return found
}

// unpair resolves the pairs that Astro writes each value as: [0,value], [1,list].
func (v *values) unpair(from int) {
	for i := from; i < len(v.list); i++ {
		n := &v.list[i]
		if n.kind != valueArray || n.first < 0 || v.list[n.first].kind != valueNumber || v.list[n.first].next < 0 {
			continue
		}
		if second := v.list[n.first].next; v.list[second].next < 0 {
			n.kind, n.first = valueLink, second
		}
	}
}

func looksLikeJSON(s string) bool {
	s = strings.TrimLeft(s, " \n\t\r\ufeff")
	return len(s) > 1 && (s[0] == '{' || s[0] == '[')
}

// script reads the data of one script.
func (d *pageData) script(body, kind, id string, f *flight) {
	if kind, _, _ = strings.Cut(kind, ";"); kind == ldJSON || kind == "importmap" || kind == "speculationrules" {
		return // linked data has a reader of its own
	}
	if strings.HasSuffix(kind, "json") || kind == "text/x-component" {
		d.json(body, id)
		return
	}
	switch kind {
	case "", "module", "text/javascript", "application/javascript", "text/ecmascript", "application/ecmascript", "text/partytown":
	default:
		if strings.HasPrefix(kind, "text/") && looksLikeJSON(body) {
			d.json(body, id)
		}
		return // a template, a shader
	}
	if f.add(body) {
		return
	}
	d.literals(body)
}

// json reads a script that is one value.
func (d *pageData) json(body, id string) {
	body = strings.TrimSpace(body)
	body = strings.TrimSuffix(strings.TrimPrefix(body, "<!--"), "-->")
	if strings.HasPrefix(body, "{&quot;") || strings.HasPrefix(body, "[{&quot;") || strings.HasPrefix(body, "[&quot;") {
		body = html.UnescapeString(body)
	}
	r, ok := d.values.json(body)
	if !ok {
		return
	}
	if id == "__NUXT_DATA__" || strings.Contains(id, "nuxt-data") {
		r = d.flattened(r)
	}
	d.roots = append(d.roots, root{r, true})
}

// literals reads the values in a script that are assigned or passed to a
// function. It goes on behind whatever it has looked at, so that a bundle of
// code costs one pass.
func (d *pageData) literals(src string) {
	var before byte // the last sign that is not white space
	word := 0       // where the statement begins
	restarts := 8   // after a string or bracket that does not end
	var dead [128]bool
	for i := 0; i < len(src) && d.values.tick(); {
		c := src[i]
		switch {
		case c == ' ' || c == '\n' || c == '\t' || c == '\r':
			i++
			continue
		case isNameOrDigit(c):
			from := i
			for i < len(src) && isNameOrDigit(src[i]) {
				i++
			}
			before = 'a'
			switch name := src[from:i]; {
			case name == "return":
				before = '='
			case name == "JSON" && strings.HasPrefix(src[i:], ".parse("):
				i = d.literal(src, from, src[max(word, from-200):from], &restarts)
				before = 'a'
			case name == "enqueue" && byteAt(src, i) == '(':
				// A stream of React Router: strings that make one text.
				if i = d.streamed(src, i+1); i < 0 {
					return
				}
			}
			continue
		case (c == '{' || c == '[') && (before == '=' || before == '(' || before == ',' || before == ':'),
			c == '(' && before == '=' && strings.HasPrefix(strings.TrimLeft(src[i+1:min(len(src), i+20)], " \n"), "function"):
			i = d.literal(src, i, src[max(word, i-200):i], &restarts)
			before = 'a'
			continue
		case (c == '"' || c == '\'' || c == '`') && !dead[c]:
			p := literalParser{v: &d.values, src: src, pos: i, js: true}
			if p.quoted(c); p.pos >= len(src) && p.fail {
				dead[c] = true // a quotation mark in a regular expression
				p.pos = i + 1
			}
			i = p.pos
			before = 'a'
			continue
		case c == '/' && strings.HasPrefix(src[i:], "/*"):
			j := strings.Index(src[i+2:], "*/")
			if j < 0 {
				return
			}
			i += j + 4
			continue
		case c == ';' || c == '}' || c == ')':
			word = i + 1
		}
		before = c
		i++
	}
}

// literal reads one value and gives where to go on.
func (d *pageData) literal(src string, at int, target string, restarts *int) int {
	before := len(d.values.list)
	r, end, ok := d.values.literal(src, at, true)
	switch {
	case !ok && end >= len(src) && *restarts > 0:
		*restarts--
		return at + 1
	case !ok:
	case end-at < leastData:
		d.values.list = d.values.list[:before]
	default:
		if r >= 0 && d.values.list[r].kind == valueString || d.values.kind(r) == valueEscaped {
			if s := d.values.text(r); looksLikeJSON(s) { // of JSON.parse
				if inner, ok := d.values.json(s); ok {
					r = inner
				}
			}
		}
		if d.values.kind(r) == valueObject || d.values.kind(r) == valueArray {
			d.roots = append(d.roots, root{r, stateName(target)})
		}
	}
	return max(end, at+1)
}

// stateName says whether what a value is assigned to is named as frameworks
// name the state of a page.
func stateName(target string) bool {
	target = strings.ToUpper(target)
	for _, name := range []string{
		"STATE", "NUXT", "NEXT_DATA", "APOLLO", "PRELOAD", "INITIAL", "REDUX", "REMIX", "HYDRAT", "SSR", "PAGE_DATA", "PAGEDATA", "BOOTSTRAP",
		"PROPS", "STORE", "FUSION", "GATSBY", "SVELTEKIT", "RELAY", "URQL", "TSR", "ARTICLE", "CONTENT", "DATA", "CONTEXT",
	} {
		if strings.Contains(target, name) {
			return true
		}
	}
	return false
}

// streamed reads what is enqueued to a stream: one string with a list in which
// values name each other by their number.
func (d *pageData) streamed(src string, at int) int {
	p := literalParser{v: &d.values, src: src, pos: at, js: true}
	c := p.peek()
	if c != '"' && c != '\'' && c != '`' {
		return p.pos
	}
	raw, escaped := p.quoted(c)
	if p.fail {
		return max(p.pos, at+1)
	}
	if escaped {
		raw = unescape(raw)
	}
	raw, _, _ = strings.Cut(raw, "\n") // what is promised comes on lines of its own
	if len(raw) >= leastData && looksLikeJSON(raw) {
		if r, ok := d.values.json(raw); ok {
			d.roots = append(d.roots, root{d.flattened(r), true})
		}
	}
	return p.pos
}

// flattened resolves a list in which every member of an array or object is the
// number of another value: devalue of Nuxt 3 and SvelteKit, and turbo-stream
// of Remix and React Router, whose keys are numbers as well ("_3").
func (d *pageData) flattened(r int32) int32 {
	v := &d.values
	if v.kind(r) != valueArray {
		return r
	}
	var all []int32
	for c := v.list[r].first; c >= 0; c = v.list[c].next {
		all = append(all, c)
	}
	if len(all) == 0 {
		return r
	}
	target := func(i int32) int32 {
		if v.list[i].kind != valueNumber {
			return -1
		}
		n, err := strconv.Atoi(v.list[i].str)
		if err != nil || n < 0 || n >= len(all) {
			return -1
		}
		return all[n]
	}
	for _, i := range all {
		n := &v.list[i]
		if n.kind != valueArray && n.kind != valueObject {
			continue
		}
		c := n.first
		if c < 0 {
			continue
		}
		if k := v.list[c].kind; n.kind == valueArray && (k == valueString || k == valueEscaped) {
			// ["Reactive",3], ["Date","2024-…"], ["Set",1,2]
			switch name := v.text(c); name {
			case "Set", "Map":
				n.first = v.list[c].next
				c = n.first
			default:
				to := v.list[c].next
				if to >= 0 {
					if t := target(to); t >= 0 {
						to = t
					}
				}
				n.kind, n.first = valueLink, to
				continue
			}
		}
		for ; c >= 0; c = v.list[c].next {
			m := &v.list[c]
			if len(m.key) > 1 && m.key[0] == '_' {
				if k, err := strconv.Atoi(m.key[1:]); err == nil && k >= 0 && k < len(all) {
					m.key = v.text(all[k])
				}
			}
			t := target(c)
			m.kind, m.first = valueLink, t
			if t < 0 {
				m.kind = valueNull
			}
		}
	}
	return all[0]
}

// A flight is the stream of React Server Components that Next.js pushes in
// many scripts: self.__next_f.push([1,"…"]).
type flight struct{ stream strings.Builder }

// add takes the chunks of one script, and says whether it was one of these.
func (f *flight) add(src string) bool {
	const push = "__next_f.push("
	found := false
	for {
		i := strings.Index(src, push)
		if i < 0 {
			return found
		}
		src = src[i+len(push):]
		p := literalParser{src: src, js: true, v: &values{alive: func() error { return nil }}}
		if p.peek() != '[' {
			continue
		}
		found = true
		p.pos++
		from := p.pos
		for p.pos < len(src) && p.pos < from+4 && src[p.pos] != ',' {
			p.pos++
		}
		if strings.TrimSpace(src[from:p.pos]) != "1" || byteAt(src, p.pos) != ',' {
			continue
		}
		p.pos++
		if c := p.peek(); c == '"' || c == '\'' {
			raw, escaped := p.quoted(c)
			if p.fail {
				return found
			}
			if escaped {
				raw = unescape(raw)
			}
			f.stream.WriteString(raw)
			src = src[p.pos:]
		}
	}
}

// flight reads the rows of the stream: a number, a tag and JSON, a line each,
// but for texts, which say how long they are.
func (d *pageData) flight(f *flight) {
	src := f.stream.String()
	if src == "" {
		return
	}
	v := &d.values
	rows := map[string]int32{}
	var order []int32
	from := len(v.list)
	for n := 0; src != "" && n < maxRows && v.tick(); n++ {
		i := strings.IndexByte(src[:min(len(src), 20)], ':')
		if i < 0 {
			_, src, _ = strings.Cut(src, "\n")
			continue
		}
		id := strings.TrimLeft(src[:i], "\n")
		src = src[i+1:]
		switch c := byteAt(src, 0); {
		case c == 'T':
			size, rest, ok := strings.Cut(src[1:min(len(src), 20)], ",")
			length, err := strconv.ParseInt(size, 16, 32)
			if !ok || err != nil {
				_, src, _ = strings.Cut(src, "\n")
				continue
			}
			_ = rest
			text := src[1+len(size)+1:]
			text = text[:min(int(length), len(text))]
			src = src[1+len(size)+1+len(text):]
			if len(v.list) < maxValues {
				rows[id] = v.add(value{kind: valueString, str: strings.ToValidUTF8(text, "\ufffd"), first: -1, next: -1})
			}
		case c == '{' || c == '[' || c == '"':
			r, end, ok := v.literal(src, 0, false)
			if ok {
				rows[id] = r
				order = append(order, r)
				src = src[min(end, len(src)):]
			}
			_, src, _ = strings.Cut(src, "\n")
		default:
			_, src, _ = strings.Cut(src, "\n")
		}
	}
	// "$1f" is row 1f; "$$" begins a text with one sign.
	for i := from; i < len(v.list); i++ {
		n := &v.list[i]
		if n.kind != valueString && n.kind != valueEscaped || len(n.str) < 2 || n.str[0] != '$' {
			continue
		}
		ref := strings.TrimLeft(n.str[1:], "L@")
		switch {
		case n.str[1] == '$':
			n.str = n.str[1:]
			continue
		case n.str[1] == 'D':
			n.str = n.str[2:]
			continue
		}
		n.kind, n.first = valueNull, -1
		if r, ok := rows[ref]; ok && r != int32(i) {
			n.kind, n.first = valueLink, r
		}
	}
	for _, r := range order {
		d.roots = append(d.roots, root{r, true})
	}
}
