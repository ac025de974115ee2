package normalize

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// property is a set of the things that declarations say about being seen.
type property uint32

const (
	propDisplay  property = 1 << iota
	propContent           // content-visibility, mso-hide
	propVisible           // visibility
	propOpacity           // opacity, filter
	propScale             // transform: scale(0)
	propMove              // transform: translate, far away
	propPosition          // hid: static
	propAcross            // left, right: far away
	propDown              // top, bottom: far away
	propIndent            // text-indent: far away
	propMargin            // margin: far away
	propClip              // clip: a rectangle with nothing in it
	propClipPath
	propWidth    // nothing, or a pixel
	propHeight   // likewise
	propOverflow // hid: what does not fit is cut off
	propPadding  // in per cent: a box kept in proportion, as around videos
	propSize     // font-size: at most a pixel
	propColour
	propGround   // background
	propPicture  // background with a picture or a gradient
	propClipText // the background is seen through the letters
	propShadow   // text-shadow: seen whatever the colour
	propAnimated // transition, animation, transform: a script may end it
)

// declared is what one block of declarations says. What is not in set is left
// to other blocks.
type declared struct {
	set, hid property
	fg, bg   colour
}

// cascade puts blocks over each other, the last uppermost.
func cascade(all ...declared) declared {
	d := all[0]
	for i := range all[1:] {
		d.put(&all[i+1])
	}
	return d
}

// put has what o says in the place of what d says.
func (d *declared) put(o *declared) {
	d.hid = d.hid&^o.set | o.hid&o.set
	d.set |= o.set
	if o.set&propColour != 0 {
		d.fg = o.fg
	}
	if o.set&propGround != 0 {
		d.bg = o.bg
	}
}

// gone says that an element is not there, or out of the picture, and how.
func (d *declared) gone() (How, bool) {
	switch h := d.hid; {
	case h&(propDisplay|propContent) != 0:
		return HowStyle, true
	case h&(propIndent|propMargin|propMove) != 0, h&(propAcross|propDown) != 0 && d.placed(),
		h&propClipPath != 0, h&propClip != 0 && d.placed():
		return HowOffscreen, true
	case h&propScale != 0, h&propOverflow != 0 && h&(propWidth|propHeight) != 0 && d.set&propPadding == 0:
		return HowSize, true
	}
	return "", false
}

// placed says that the element's offsets count.
func (d *declared) placed() bool { return d.set&propPosition != 0 && d.hid&propPosition == 0 }

// unseen says that an element takes up its place and is not seen.
func (d *declared) unseen() (How, bool) {
	switch {
	case d.hid&propVisible != 0:
		return HowStyle, true
	case d.hid&propOpacity != 0:
		return HowTransparent, true
	}
	return "", false
}

// rules is what a block says, and what it says with !important.
type rules [2]declared

func (r *rules) empty() bool { return r[0].set|r[1].set == 0 }

// readStyle reads declarations, as of a style attribute. It allocates only for
// upper-case letters, comments and escapes.
func readStyle(s string) (out rules) {
	for i := 0; i < len(s); i++ {
		if s[i] >= 'A' && s[i] <= 'Z' {
			s = strings.ToLower(s)
			break
		}
	}
	if strings.Contains(s, "/*") || strings.IndexByte(s, '\\') >= 0 {
		s = plainCSS(s)
	}
	for s != "" {
		var one string
		one, s = cutDeclaration(s)
		colon := strings.IndexByte(one, ':')
		if colon < 0 {
			continue
		}
		name := trimCSS(one[:colon])
		if name == "" || !telling[name[0]] {
			continue
		}
		val, into := trimCSS(one[colon+1:]), &out[0]
		if n := len(val); n > 10 && val[n-1] == 't' && strings.HasSuffix(val, "important") {
			if v := trimCSS(val[:n-len("important")]); strings.HasSuffix(v, "!") {
				val, into = trimCSS(v[:len(v)-1]), &out[1]
			}
		}
		into.declare(name, val)
	}
	return out
}

// telling marks the letters that the properties begin with that declare knows.
var telling = func() (t [256]bool) {
	for _, c := range []byte("-abcdfhlmoprtvw") {
		t[c] = true
	}
	return t
}()

// cutDeclaration splits off what stands before the next semicolon outside of
// strings and brackets.
func cutDeclaration(s string) (one, rest string) {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case ';':
			if depth == 0 {
				return s[:i], s[i+1:]
			}
		case '(':
			depth++
		case ')':
			depth = max(depth-1, 0)
		case '"', '\'':
			end := strings.IndexByte(s[i+1:], c)
			if end < 0 {
				return s, ""
			}
			i += end + 1
		}
	}
	if depth > 0 { // a bracket that does not end must not hide what follows
		if one, rest, ok := strings.Cut(s, ";"); ok {
			return one, rest
		}
	}
	return s, ""
}

func trimCSS(s string) string { return strings.Trim(s, " \t\r\n\f") }

// say notes one property.
func (d *declared) say(p property, hid bool) {
	d.set |= p
	if d.hid &^= p; hid {
		d.hid |= p
	}
}

// declare notes one declaration, whose value is in lower case.
func (d *declared) declare(name, val string) {
	switch name {
	case "display":
		d.say(propDisplay, val == "none")
	case "visibility":
		d.say(propVisible, val == "hidden" || val == "collapse")
	case "content-visibility":
		d.say(propContent, val == "hidden")
	case "mso-hide":
		d.say(propContent, val == "all")
	case "opacity":
		if n, unit, ok := number(val); ok && (unit == "" || unit == "%") {
			d.say(propOpacity, n <= 0.01 || unit == "%" && n <= 1)
		}
	case "filter":
		if arg, ok := strings.CutPrefix(val, "opacity("); ok {
			if n, unit, ok := number(arg); ok && (n <= 0.01 || n <= 1 && strings.HasPrefix(unit, "%")) {
				d.say(propOpacity, true)
			}
		}
	case "transition", "animation", "will-change", "animation-name", "transition-property":
		d.say(propAnimated, val == "none")
	case "transform", "-webkit-transform":
		d.transform(val)
	case "scale":
		d.say(propScale, val == "0")
	case "font-size":
		d.size(val)
	case "font":
		size, _, _ := strings.Cut(val, "/")
		if size = trimCSS(size); size != "" {
			for f := range strings.FieldsSeq(size) {
				if c := f[0]; c >= '0' && c <= '9' || c == '.' {
					if n, unit, ok := number(f); ok && (unit != "" || n == 0) {
						d.size(f)
					}
				}
			}
		}
	case "color":
		if c, ok := readColour(val); ok {
			d.set |= propColour
			d.fg = c
		}
	case "-webkit-text-fill-color":
		if c, ok := readColour(val); ok && !c.clear {
			d.set |= propColour
			d.fg = c
		} else if ok {
			d.say(propClipText, false)
		}
	case "background", "background-color":
		if strings.Contains(val, "text") {
			d.say(propClipText, false)
		}
		c, ok := readGround(val)
		if ok {
			d.set |= propGround
			d.bg = c
		}
		if strings.Contains(val, "url(") || strings.Contains(val, "gradient(") {
			d.say(propPicture, false)
		}
	case "background-image":
		if val != "none" {
			d.say(propPicture|propGround, false)
			d.bg = colour{}
		}
	case "background-clip", "-webkit-background-clip":
		d.say(propClipText, false)
	case "text-shadow", "-webkit-text-stroke":
		d.say(propShadow, val == "none")
	case "position":
		d.say(propPosition, val == "static" || val == "sticky")
	case "left", "right":
		d.say(propAcross, farAway(val))
	case "top", "bottom":
		d.say(propDown, farAway(val))
	case "inset":
		first, _, _ := strings.Cut(val, " ")
		d.say(propAcross|propDown, farAway(first))
	case "margin-left", "margin-top":
		if farAway(val) {
			d.say(propMargin, true)
		}
	case "margin":
		far := false
		for f := range strings.FieldsSeq(val) {
			far = far || farAway(f)
		}
		d.say(propMargin, far)
	case "text-indent":
		first, _, _ := strings.Cut(val, " ")
		n, unit, ok := number(first)
		d.say(propIndent, farAway(first) || ok && unit == "%" && (n <= -100 || n >= 100))
	case "clip":
		rest, ok := strings.CutPrefix(val, "rect(")
		d.say(propClip, ok && onlySmall(strings.TrimSuffix(rest, ")")))
	case "clip-path", "-webkit-clip-path":
		d.say(propClipPath, clipsAll(val))
	case "width", "max-width":
		n, unit, ok := number(val)
		d.say(propWidth, ok && (n == 0 || n <= 1 && unit == "px"))
	case "height", "max-height":
		n, unit, ok := number(val)
		d.say(propHeight, ok && (n == 0 || n <= 1 && unit == "px"))
	case "padding", "padding-bottom", "padding-top":
		if strings.IndexByte(val, '%') > 0 {
			d.say(propPadding, false)
		}
	case "overflow", "overflow-x", "overflow-y":
		d.say(propOverflow, strings.HasPrefix(val, "hidden") || strings.HasPrefix(val, "clip"))
	}
}

// transform reads the value of a transform.
func (d *declared) transform(val string) {
	d.say(propAnimated, val == "none")
	d.say(propScale|propMove, false)
	for val != "" {
		name, rest, ok := strings.Cut(val, "(")
		if !ok {
			return
		}
		arg, rest, _ := strings.Cut(rest, ")")
		val = trimCSS(rest)
		x, y, _ := strings.Cut(arg, ",")
		switch name {
		case "scale", "scalex", "scaley", "scale3d":
			n, unit, ok := number(trimCSS(x))
			if m, _, two := number(trimCSS(y)); ok && unit == "" && n < 0.01 || two && m < 0.01 && name == "scale" {
				d.say(propScale, true)
			}
		case "translate", "translatex", "translatey", "translate3d":
			y, _, _ = strings.Cut(y, ",")
			if farAway(x) || farAway(y) {
				d.say(propMove, true)
			}
		}
	}
}

// size reads a font's size. One that is a part of the size around leaves it as
// it is when it is none too small itself.
func (d *declared) size(val string) {
	n, unit, ok := number(val)
	switch {
	case !ok:
		if val != "inherit" && val != "smaller" && val != "larger" && val != "unset" {
			d.say(propSize, false)
		}
	case n == 0, n <= 1 && (unit == "px" || unit == "pt"), n < 0.1 && (unit == "em" || unit == "rem"), n <= 8 && unit == "%", n < 0.05 && (unit == "vw" || unit == "vh"):
		d.say(propSize, true)
	case unit != "em" && unit != "%":
		d.say(propSize, false)
	}
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
			r, n := unescapeCSS(s[i:])
			if r < 0 {
				continue // the next character stands for itself
			}
			b.WriteRune(r)
			i += n - 1
		default:
			b.WriteByte(s[i])
		}
	}
	return strings.ToLower(b.String())
}

// unescapeCSS reads an escape by number at the beginning of s, which is a
// backslash, and gives the length of it; -1 when it is none.
func unescapeCSS(s string) (rune, int) {
	n := 1
	for n <= 6 && n < len(s) && strings.IndexByte("0123456789abcdefABCDEF", s[n]) >= 0 {
		n++
	}
	if n == 1 {
		return -1, 1
	}
	r := utf8.RuneError
	if v, err := strconv.ParseUint(s[1:n], 16, 32); err == nil && v > 0 && v < utf8.MaxRune && utf8.ValidRune(rune(v)) {
		r = rune(v)
	}
	if n < len(s) && (s[n] == ' ' || s[n] == '\t' || s[n] == '\n') {
		n++ // one white space ends an escape
	}
	return r, n
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
	if i < 6 && s[0] >= '0' && s[0] <= '9' { // most are whole and short
		whole := 0
		for k := range i {
			if s[k] == '.' {
				whole = -1
				break
			}
			whole = whole*10 + int(s[k]-'0')
		}
		if whole >= 0 {
			return float64(whole), s[i:], true
		}
	}
	n, err := strconv.ParseFloat(s[:i], 64)
	return n, s[i:], err == nil
}

// farAway says that a length moves its element off any screen. (A fifth of a
// million to the right is as invisible as to the left.)
func farAway(s string) bool {
	s = trimCSS(s)
	if rest, ok := strings.CutPrefix(s, "calc("); ok {
		s = trimCSS(rest)
	}
	n, unit, ok := number(s)
	if !ok {
		return false
	}
	unit = strings.TrimRight(unit, ") ")
	if i := strings.IndexByte(unit, ' '); i > 0 {
		unit = unit[:i]
	}
	switch unit {
	case "px", "", "pt":
		return n <= -900 || n >= 9000
	case "em", "rem", "vw", "vh", "ch":
		return n <= -90 || n >= 900
	case "in", "cm":
		return n <= -20 || n >= 200
	case "%":
		return n <= -500 || n >= 900
	}
	return false
}

// clipsAll says that a clip-path leaves nothing to see.
func clipsAll(s string) bool {
	if arg, ok := strings.CutPrefix(s, "inset("); ok {
		n, unit, ok := number(trimCSS(arg))
		return ok && strings.HasPrefix(unit, "%") && n >= 50
	}
	return strings.HasPrefix(s, "circle(0") && !strings.HasPrefix(s, "circle(0.") || strings.HasPrefix(s, "polygon(0 0,0 0,") || strings.HasPrefix(s, "polygon(0 0, 0 0,") ||
		strings.HasPrefix(s, "polygon(0px 0px, 0px 0px,")
}

// colour is a colour that is known, or clear; the zero value is one that is not
// known.
type colour struct {
	r, g, b      uint8
	known, clear bool
}

// paper is what a page is painted on that says nothing of it.
var paper = colour{r: 255, g: 255, b: 255, known: true}

// like says that text of one colour cannot be read on a ground of the other.
func (c colour) like(o colour) bool {
	const eye = 10
	far := func(a, b uint8) bool { return max(a, b)-min(a, b) > eye }
	return c.known && o.known && !far(c.r, o.r) && !far(c.g, o.g) && !far(c.b, o.b)
}

// light says that text of this colour cannot be read on white.
func (c colour) light() bool { return c.like(paper) }

// readColour reads a colour. Not ok is what leaves the colour as it is.
func readColour(s string) (colour, bool) {
	switch s {
	case "", "inherit", "currentcolor", "unset", "initial", "revert":
		return colour{}, false
	case "transparent":
		return colour{clear: true}, true
	case "white":
		return paper, true
	case "black":
		return colour{known: true}, true
	case "snow", "ivory", "floralwhite", "ghostwhite", "mintcream", "whitesmoke", "seashell":
		return paper, true // as good as
	}
	if s[0] == '#' {
		return hexColour(s[1:]), true
	}
	name, arg, ok := strings.Cut(s, "(")
	if !ok {
		return colour{}, true
	}
	fields := strings.FieldsFunc(strings.TrimSuffix(arg, ")"), func(r rune) bool { return r == ' ' || r == ',' || r == '/' })
	if len(fields) < 3 || len(fields) > 4 {
		return colour{}, true
	}
	var v [4]float64
	for i, f := range fields {
		n, unit, ok := number(f)
		if !ok {
			return colour{}, true
		}
		if unit == "%" && i == 3 {
			n /= 100
		}
		if unit == "%" && i < 3 && strings.HasPrefix(name, "rgb") {
			n *= 2.55
		}
		v[i] = n
	}
	if len(fields) == 4 && v[3] <= 0.02 {
		return colour{clear: true}, true
	}
	if len(fields) == 4 && v[3] < 1 {
		return colour{}, true // what shines through is not known
	}
	switch name {
	case "rgb", "rgba":
		return colour{r: clampByte(v[0]), g: clampByte(v[1]), b: clampByte(v[2]), known: true}, true
	case "hsl", "hsla":
		if v[2] >= 98 || v[2] <= 2 || v[1] == 0 {
			l := clampByte(v[2] * 2.55)
			return colour{r: l, g: l, b: l, known: true}, true
		}
	}
	return colour{}, true
}

func clampByte(v float64) uint8 { return uint8(min(max(v, 0), 255)) }

func hexColour(s string) colour {
	var v [8]byte
	if len(s) != 3 && len(s) != 4 && len(s) != 6 && len(s) != 8 {
		return colour{}
	}
	for i := range len(s) {
		h, ok := unhex(s[i])
		if !ok {
			return colour{}
		}
		v[i] = h
	}
	if len(s) <= 4 {
		v = [8]byte{v[0], v[0], v[1], v[1], v[2], v[2], v[3], v[3]}
	}
	if a := v[6]<<4 | v[7]; len(s)&3 == 0 && a < 0xff {
		if a <= 5 {
			return colour{clear: true}
		}
		return colour{}
	}
	return colour{r: v[0]<<4 | v[1], g: v[2]<<4 | v[3], b: v[4]<<4 | v[5], known: true}
}

// readGround reads the colour of a background. Not ok is a background that
// what lies behind is seen through.
func readGround(s string) (colour, bool) {
	if s == "none" || s == "0" || s == "0 0" {
		return colour{}, false
	}
	if strings.Contains(s, "url(") || strings.Contains(s, "gradient(") || strings.Contains(s, "var(") {
		return colour{}, true
	}
	if strings.IndexByte(s, ' ') > 0 && strings.IndexByte(s, '(') < 0 {
		for f := range strings.FieldsSeq(s) { // background: #fff no-repeat
			if c, ok := readColour(f); ok && (c.known || c.clear) {
				return c, !c.clear
			}
		}
		return colour{}, true
	}
	c, ok := readColour(s)
	return c, ok && !c.clear
}
