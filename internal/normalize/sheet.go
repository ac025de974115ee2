package normalize

import (
	"cmp"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"sift.build/sift/internal/dom"
)

// Bounds on what is read of a page's style sheets.
const (
	sheetMax  = 2 << 20 // bytes in all
	nestMax   = 8       // at-rules inside each other
	rulesMax  = 20_000  // selectors that are kept in all
	keyMax    = 64      // and for one class, id or element: the last of them
	partsMax  = 8       // compounds of one selector
	testsMax  = 8       // simple selectors of one compound
	tokensMax = 64      // classes of one element that are looked at
	climbMax  = 256     // elements around one that are looked at
	matchWork = 4 << 20 // steps of matching on one page
)

// sheet is what the style elements of a page say about being seen. Only rules
// that could hide something are kept, and those that could show it again.
//
// What a reader of the style sheet must get right is what is shown: where it is
// in doubt, as with a selector that it does not know, a condition on the width
// of the screen, a state that a click brings about, the text is content.
type sheet struct {
	external bool // there are sheets that are not read
	bytes    int
	kept     int
	order    int32
	found    property // what some rule hides
	light    bool     // some rule makes text white
	later    []pending
	rules    map[string]*keyed
	work     int
	matched  []*rule
}

// keyed is what is known of one key: a class with its dot, an id with its sign,
// the name of an element, or *.
type keyed struct {
	rules []rule
	shown property // what other states or other screens show
	bg    colour   // the ground that some rule paints
	paint bool     // one does
}

// rule is one selector with its declarations.
type rule struct {
	parts []compound // from the right
	spec  int32
	order int32
	says  rules
	wild  bool // the selector is not understood but for its key
}

// compound is one part of a selector.
type compound struct {
	tag     string
	child   bool // the next part to the left is the parent, not just around
	classes []string
	id      string
	attrs   []attrTest
	any     bool // *
}

type attrTest struct {
	name, val string
	op        byte // 0 is there; else the sign in front of =
}

// pending is a rule that can only show, looked at when all rules are known.
type pending struct {
	prelude string
	says    rules
	sure    bool // not under a condition
	order   int32
}

// The properties of which a rule that hides is worth keeping.
const hiding = propDisplay | propContent | propVisible | propOpacity | propScale | propMove | propAcross | propDown | propIndent | propMargin | propClip |
	propClipPath | propWidth | propHeight | propSize

// addSheet reads a style element.
func (p *pass) addSheet(n *html.Node) {
	if n.Namespace != "" || n.FirstChild == nil {
		return
	}
	if t := strings.ToLower(strings.TrimSpace(dom.Attr(n, "type"))); t != "" && t != "text/css" {
		return
	}
	sure, ok := medium(dom.Attr(n, "media"))
	if !ok {
		return
	}
	for up := n.Parent; up != nil; up = up.Parent {
		if up.DataAtom == atom.Template || up.DataAtom == atom.Noscript || up.DataAtom == atom.Svg {
			return // a shadow tree's own, or for another browser
		}
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.TextNode {
			p.sheet.read(c.Data, sure)
		}
	}
}

// medium judges a media query: sure is one that holds on every screen, not ok
// is one that holds on none.
func medium(q string) (sure, ok bool) {
	q = strings.ToLower(trimCSS(q))
	switch q {
	case "", "all", "screen", "only screen", "screen, print", "all, print", "screen,print", "print, screen":
		return true, true
	case "print", "speech", "aural", "only print", "not all", "not screen", "braille", "embossed", "handheld", "projection":
		return false, false
	}
	if strings.HasPrefix(q, "print") && strings.IndexByte(q, ',') < 0 {
		return false, false
	}
	return false, true
}

// read reads a sheet. It takes time linear in its length.
func (s *sheet) read(css string, sure bool) {
	if room := sheetMax - s.bytes; len(css) > room {
		css = css[:max(room, 0)]
	}
	s.bytes += len(css)
	r := cssReader{s: css}
	s.block(&r, sure, 0)
}

// block reads rules up to the end of the block that they stand in.
func (s *sheet) block(r *cssReader, sure bool, depth int) {
	for {
		prelude, end := r.prelude()
		switch end {
		case 0:
			return
		case '}':
			if depth > 0 {
				return
			}
		case ';':
			if len(prelude) > 7 && strings.EqualFold(prelude[:7], "@import") {
				s.external = true
			}
		case '{':
			if prelude == "" || prelude[0] != '@' {
				s.rule(prelude, r.body(), sure)
				continue
			}
			name, arg, _ := strings.Cut(prelude, " ")
			if i := strings.IndexByte(name, '('); i > 0 {
				name, arg = name[:i], name[i:]+" "+arg
			}
			inner, ok := sure, depth < nestMax
			switch strings.ToLower(name) {
			case "@media":
				always, some := medium(arg)
				inner, ok = sure && always, ok && some
			case "@layer":
			case "@supports", "@container", "@scope", "@starting-style", "@document", "@-moz-document":
				inner = false
			default: // @keyframes, @font-face, @page
				ok = false
			}
			if ok {
				s.block(r, inner, depth+1)
			} else {
				r.skip()
			}
		}
	}
}

// rule takes note of one rule.
func (s *sheet) rule(prelude, body string, sure bool) {
	says := readStyle(body)
	if says.empty() {
		return
	}
	s.order++
	set, hid := says[0].set|says[1].set, says[0].hid|says[1].hid
	fg := says[0].fg
	if says[1].set&propColour != 0 {
		fg = says[1].fg
	}
	pale := set&propColour != 0 && (fg.clear || fg.light() || set&propGround != 0 && fg.like(says[0].bg))
	if hid&hiding == 0 && !pale || !sure {
		if !sure { // what hides only on some screens hides nothing
			says[0].hid, says[1].hid = 0, 0
		}
		if len(s.later) < rulesMax {
			s.later = append(s.later, pending{prelude: prelude, says: says, sure: sure, order: s.order})
		}
		return
	}
	s.found |= hid & hiding
	s.light = s.light || pale
	for sel := range selectors(prelude) {
		s.keep(sel, says, true, s.order)
	}
}

// keep files one selector under its key.
func (s *sheet) keep(sel string, says rules, sure bool, order int32) {
	ru := rule{says: says, order: order}
	key, state, known, ok := ru.parse(sel)
	if !ok || s.kept >= rulesMax {
		return
	}
	shows := (says[0].set|says[1].set)&^(says[0].hid|says[1].hid) | propAnimated&says[0].set
	if !known || !sure {
		if shows == 0 {
			return // what is not understood hides nothing
		}
		ru.wild = true
	}
	if s.rules == nil {
		s.rules = make(map[string]*keyed)
	}
	for i, name := range ru.parts[0].keys(key) {
		k := s.rules[name]
		if k == nil {
			k = &keyed{}
			s.rules[name] = k
		}
		if state || ru.wild {
			k.shown |= shows
		}
		if says[0].set&(propGround|propPicture) != 0 || says[1].set&propGround != 0 {
			bg := says[0].bg
			if k.paint && bg != k.bg || ru.wild || says[0].set&propPicture != 0 {
				bg = colour{}
			}
			k.bg, k.paint = bg, true
		}
		if i > 0 || ru.wild {
			continue
		}
		s.kept++
		if len(k.rules) >= keyMax {
			k.rules = append(k.rules[:0], k.rules[1:]...)
		}
		k.rules = append(k.rules, ru)
	}
}

// keys gives what a rule is found by: its key, and for what shows its other
// classes too.
func (c *compound) keys(key string) []string {
	out := append(make([]string, 0, 4), key)
	if c.id != "" && key != c.id {
		out = append(out, c.id)
	}
	for _, k := range c.classes {
		if k != key && len(out) < 4 {
			out = append(out, k)
		}
	}
	return out
}

// finish looks at the rules that can show, now that it is known what is hidden.
func (s *sheet) finish() {
	if s.found == 0 && !s.light {
		s.rules, s.later = nil, nil
		return
	}
	want := s.found
	if want&(propAcross|propDown|propClip) != 0 {
		want |= propPosition
	}
	if want&(propWidth|propHeight) != 0 {
		want |= propOverflow | propPadding | propWidth | propHeight
	}
	if want&(propVisible|propOpacity) != 0 {
		want |= propAnimated
	}
	always := want & propSize
	if s.light {
		always |= propColour | propGround | propPicture | propShadow | propClipText | propPosition
	}
	for i := range s.later {
		l := &s.later[i]
		set := l.says[0].set | l.says[1].set
		switch {
		case set&always != 0:
			for sel := range selectors(l.prelude) {
				s.keep(sel, l.says, l.sure, l.order)
			}
		case set&want != 0:
			for sel := range selectors(l.prelude) {
				if s.about(sel) {
					s.keep(sel, l.says, l.sure, l.order)
				}
			}
		}
	}
	s.later = nil
}

// about says that the last part of a selector names something that a rule
// hides. It looks at the text alone.
func (s *sheet) about(sel string) bool {
	i := len(sel)
	for i > 0 && sel[i-1] != ' ' && sel[i-1] != '>' && sel[i-1] != '~' && sel[i-1] != '+' {
		i--
	}
	last := sel[i:]
	for j := 0; j < len(last); {
		k := j + 1
		for k < len(last) && (isNameByte(last[k]) || last[k] == '\\') {
			k++
		}
		if _, ok := s.rules[last[j:k]]; ok {
			return true
		}
		if last[j] == '\\' || strings.IndexByte(last[j:k], '\\') >= 0 {
			return true // spelled another way: look closely
		}
		j = k
	}
	return last == "" || strings.IndexByte(last, '*') >= 0
}

// selectors gives the selectors of a list.
func selectors(list string) func(func(string) bool) {
	return func(yield func(string) bool) {
		depth, start := 0, 0
		for i := 0; i < len(list); i++ {
			switch list[i] {
			case '\\':
				i++
			case '(', '[':
				depth++
			case ')', ']':
				depth--
			case ',':
				if depth <= 0 {
					if !yield(trimCSS(list[start:i])) {
						return
					}
					start = i + 1
				}
			}
		}
		yield(trimCSS(list[start:]))
	}
}

func isNameByte(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c >= 0x80
}

// parse reads one selector. key is what the rule is found by; state says that it
// asks for more than its key; not known is a selector of which only the key was
// understood; not ok one of which not even that, or of a part that is no
// element.
func (ru *rule) parse(sel string) (key string, state, known, ok bool) {
	known = true
	var parts []compound
	c, empty := compound{}, true
	tests := 0
	end := func() {
		if !empty {
			parts = append(parts, c)
		}
		c, empty, tests = compound{}, true, 0
	}
	for i := 0; i < len(sel); {
		ch := sel[i]
		switch {
		case ch == ' ' || ch == '\t' || ch == '\n' || ch == '\r' || ch == '\f':
			end()
			i++
		case ch == '>':
			end()
			if len(parts) == 0 {
				known = false
			} else {
				parts[len(parts)-1].child = true
			}
			i++
		case ch == '+' || ch == '~':
			end()
			known = false
			i++
		case ch == '*':
			c.any, empty = true, false
			i++
		case ch == '&':
			return "", false, false, false // nested
		case ch == '.' || ch == '#':
			name, n := identifier(sel[i+1:])
			if n == 0 {
				return "", false, false, false
			}
			if tests++; tests <= testsMax {
				if ch == '.' {
					c.classes = append(c.classes, "."+name)
				} else {
					c.id = "#" + name
				}
			} else {
				known = false
			}
			empty = false
			i += 1 + n
		case ch == '[':
			test, n := attributeTest(sel[i:])
			if n == 0 {
				return "", false, false, false
			}
			if tests++; tests <= testsMax && test.name != "" {
				c.attrs = append(c.attrs, test)
			} else {
				known = false
			}
			empty = false
			i += n
		case ch == ':':
			if strings.HasPrefix(sel[i:], "::") || strings.HasPrefix(sel[i:], ":before") || strings.HasPrefix(sel[i:], ":after") || strings.HasPrefix(sel[i:], ":first-l") {
				return "", false, false, false // a part that is no element of the page
			}
			known, empty = false, false
			i++
			for i < len(sel) && isNameByte(sel[i]) {
				i++
			}
			if i < len(sel) && sel[i] == '(' {
				depth := 0
				for ; i < len(sel); i++ {
					if sel[i] == '(' {
						depth++
					} else if sel[i] == ')' {
						if depth--; depth == 0 {
							i++
							break
						}
					}
				}
			}
		default:
			name, n := identifier(sel[i:])
			if n == 0 || !empty && c.tag == "" && len(c.classes)+len(c.attrs) > 0 {
				return "", false, false, false
			}
			c.tag, empty = strings.ToLower(name), false
			i += n
		}
		if len(parts) > partsMax {
			known = false
			parts = append(parts[:0], parts[1:]...)
		}
	}
	end()
	if len(parts) == 0 {
		return "", false, false, false
	}
	for _, p := range parts {
		if p.id != "" {
			ru.spec += 10_000
		}
		ru.spec += int32(100 * (len(p.classes) + len(p.attrs)))
		if p.tag != "" {
			ru.spec++
		}
		for _, k := range p.classes {
			if k == ".no-js" || k == ".nojs" || k == ".noscript" || k == ".no-javascript" {
				known = false // a class that scripts take away
			}
		}
	}
	slices.Reverse(parts)
	for i := range len(parts) - 1 { // child belongs to the part that must be the parent
		parts[i].child = parts[i+1].child
	}
	parts[len(parts)-1].child = false
	ru.parts = parts
	last := &parts[0]
	switch {
	case last.id != "":
		key = last.id
	case len(last.classes) > 0:
		key = last.classes[0]
	case last.tag != "":
		key = last.tag
	default:
		key = "*"
	}
	state = !known || len(parts) > 1 || len(last.classes)+len(last.attrs) > 1 || last.id != "" && len(last.classes) > 0
	return key, state, known, true
}

// identifier reads a name with its escapes and gives the length that it had.
func identifier(s string) (string, int) {
	i := 0
	for i < len(s) && isNameByte(s[i]) {
		i++
	}
	if i >= len(s) || s[i] != '\\' {
		return s[:i], i
	}
	b := append(make([]byte, 0, 32), s[:i]...)
	for i < len(s) {
		switch {
		case isNameByte(s[i]):
			b = append(b, s[i])
			i++
			continue
		case s[i] == '\\' && i+1 < len(s):
			r, n := unescapeCSS(s[i:])
			if r >= 0 {
				b = append(b, string(r)...)
				i += n
				continue
			}
			b = append(b, s[i+1])
			i += 2
			continue
		}
		break
	}
	return string(b), i
}

// attributeTest reads [name], [name=val] and the like, and gives its length.
func attributeTest(s string) (t attrTest, n int) {
	end := -1
	for i := 1; i < len(s); i++ {
		if s[i] == '"' || s[i] == '\'' {
			j := strings.IndexByte(s[i+1:], s[i])
			if j < 0 {
				return t, 0
			}
			i += j + 1
		} else if s[i] == ']' {
			end = i
			break
		}
	}
	if end < 0 {
		return t, 0
	}
	name, val, is := strings.Cut(s[1:end], "=")
	if is && name != "" {
		t.op = '='
		switch c := name[len(name)-1]; c {
		case '*', '^', '$', '~', '|':
			t.op, name = c, name[:len(name)-1]
		}
		val = trimCSS(val)
		if len(val) > 1 && (val[len(val)-1]|0x20 == 'i' || val[len(val)-1]|0x20 == 's') && (val[len(val)-2] == ' ' || val[len(val)-2] == '"') {
			val = trimCSS(val[:len(val)-1])
		}
		if len(val) >= 2 && (val[0] == '"' || val[0] == '\'') && val[len(val)-1] == val[0] {
			val = val[1 : len(val)-1]
		}
		t.val = val
	}
	if name = strings.ToLower(trimCSS(name)); name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_") == "" {
		t.name = name
	}
	return t, end + 1
}

// matches says that the element n, with all of its attributes, is what c
// describes.
func (c *compound) matches(n *html.Node) bool {
	if c.tag != "" && c.tag != n.Data {
		return false
	}
	if c.id != "" && dom.Attr(n, "id") != c.id[1:] {
		return false
	}
	if len(c.classes) > 0 {
		class := dom.Attr(n, "class")
		for _, k := range c.classes {
			if !hasToken(class, k[1:]) {
				return false
			}
		}
	}
	for i := range c.attrs {
		t := &c.attrs[i]
		found := false
		for j := range n.Attr {
			if n.Attr[j].Key == t.name {
				found = t.matches(n.Attr[j].Val)
				break
			}
		}
		if !found {
			return false
		}
	}
	return true
}

func (t *attrTest) matches(val string) bool {
	switch t.op {
	case 0:
		return true
	case '=':
		return val == t.val
	case '*':
		return t.val != "" && strings.Contains(val, t.val)
	case '^':
		return t.val != "" && strings.HasPrefix(val, t.val)
	case '$':
		return t.val != "" && strings.HasSuffix(val, t.val)
	case '~':
		return t.val != "" && hasToken(val, t.val)
	}
	return val == t.val || strings.HasPrefix(val, t.val+"-")
}

// matches says that the rule is about n. The elements around have the
// attributes of the normal form left, class and id among them.
func (ru *rule) matches(s *sheet, n *html.Node) bool {
	if !ru.parts[0].matches(n) {
		return false
	}
	at := n
	for i := 1; i < len(ru.parts); i++ {
		c := &ru.parts[i]
		direct := ru.parts[i-1].child
		climb := climbMax
		for {
			at = at.Parent
			s.work++
			if climb--; at == nil || climb < 0 || at.Type != html.ElementNode {
				return false
			}
			if c.matches(at) {
				break
			}
			if direct {
				return false
			}
		}
	}
	return true
}

// seen gives what the sheets say of n, and what of it other states or other
// screens show.
func (s *sheet) seen(n *html.Node, id, class string) (says rules, shown property, ground colour, grounded bool) {
	if len(s.rules) == 0 || s.work > matchWork {
		return says, 0, ground, false
	}
	s.matched = s.matched[:0]
	look := func(key string) {
		k := s.rules[key]
		if k == nil {
			return
		}
		shown |= k.shown
		if k.paint {
			if ground = k.bg; grounded && ground != k.bg {
				ground = colour{}
			}
			grounded = true
		}
		for i := range k.rules {
			s.work++
			if ru := &k.rules[i]; ru.matches(s, n) {
				s.matched = append(s.matched, ru)
			}
		}
	}
	look("*")
	look(n.Data)
	var buf [128]byte
	if id != "" && len(id) < len(buf) {
		look(string(append(append(buf[:0], '#'), id...)))
	}
	if class != "" {
		tokens := 0
		eachToken(class, func(t string) bool {
			if len(t) < len(buf) {
				key := append(append(buf[:0], '.'), t...)
				if _, ok := s.rules[string(key)]; ok {
					look(string(key))
				}
			}
			tokens++
			return tokens >= tokensMax
		})
	}
	if len(s.matched) == 0 {
		return says, shown, ground, grounded
	}
	if len(s.matched) > 1 {
		slices.SortFunc(s.matched, func(a, b *rule) int {
			return cmp.Or(cmp.Compare(a.spec, b.spec), cmp.Compare(a.order, b.order))
		})
	}
	for _, ru := range s.matched {
		says[0].put(&ru.says[0])
		says[1].put(&ru.says[1])
	}
	return says, shown, ground, grounded
}

// cssReader reads a style sheet part by part.
type cssReader struct {
	s string
	i int
}

// blank passes over white space and comments, and the signs that may stand
// around a sheet in old pages.
func (r *cssReader) blank() {
	for r.i < len(r.s) {
		switch c := r.s[r.i]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f':
			r.i++
		case c == '/' && strings.HasPrefix(r.s[r.i:], "/*"):
			r.comment()
		case c == '<' && strings.HasPrefix(r.s[r.i:], "<!--"):
			r.i += 4
		case c == '-' && strings.HasPrefix(r.s[r.i:], "-->"):
			r.i += 3
		default:
			return
		}
	}
}

func (r *cssReader) comment() {
	end := strings.Index(r.s[r.i+2:], "*/")
	if end < 0 {
		r.i = len(r.s)
		return
	}
	r.i += 2 + end + 2
}

// str passes over a string; one that does not end ends with its line.
func (r *cssReader) str() {
	q := r.s[r.i]
	for r.i++; r.i < len(r.s); r.i++ {
		switch r.s[r.i] {
		case q:
			r.i++
			return
		case '\\':
			r.i++
		case '\n':
			return
		}
	}
	r.i = min(r.i, len(r.s))
}

// prelude reads up to a brace or a semicolon and gives what ended it, 0 at the
// end.
func (r *cssReader) prelude() (string, byte) {
	r.blank()
	start := r.i
	comments := false
	for r.i < len(r.s) {
		switch c := r.s[r.i]; c {
		case '{', '}', ';':
			s := trimCSS(r.s[start:r.i])
			r.i++
			if comments {
				s = dropCSSComments(s)
			}
			return s, c
		default:
			comments = r.step() || comments
		}
	}
	r.i = len(r.s)
	return "", 0
}

// step passes over a string, an escape, a comment, or else one byte. It says
// whether that was a comment.
func (r *cssReader) step() (comment bool) {
	switch c := r.s[r.i]; {
	case c == '"' || c == '\'':
		r.str()
	case c == '\\':
		r.i += 2
	case strings.HasPrefix(r.s[r.i:], "/*"):
		r.comment()
		return true
	default:
		r.i++
	}
	return false
}

func dropCSSComments(s string) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(s, "/*")
		b.WriteString(before)
		if !ok {
			return trimCSS(b.String())
		}
		if _, s, ok = strings.Cut(rest, "*/"); !ok {
			return trimCSS(b.String())
		}
	}
}

// body reads the declarations of a rule, without the rules that are nested in
// it.
func (r *cssReader) body() string {
	start, last := r.i, r.i // last: where the current declaration began
	var kept []byte
	for r.i < len(r.s) {
		switch r.s[r.i] {
		case '}':
			s := r.s[start:r.i]
			r.i++
			if kept != nil {
				return string(append(kept, s...))
			}
			return s
		case '{':
			r.i++
			kept = append(append(kept, r.s[start:last]...), ';')
			r.skip()
			start, last = r.i, r.i
		case ';':
			r.i++
			last = r.i
		default:
			r.step()
		}
	}
	r.i = len(r.s)
	return string(append(kept, r.s[min(start, len(r.s)):]...))
}

// skip passes over the rest of a block, with the blocks in it.
func (r *cssReader) skip() {
	depth := 1
	for r.i < len(r.s) {
		switch r.s[r.i] {
		case '{':
			depth++
			r.i++
		case '}':
			r.i++
			if depth--; depth == 0 {
				return
			}
		default:
			r.step()
		}
	}
	r.i = len(r.s)
}
