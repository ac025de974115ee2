package layout

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

// look is how a word is set.
type look uint16

const (
	bold look = 1 << iota
	italic
	mono
	sup
	sub
	rtl     // its first letter is of a script that runs from right to left
	cjk     // its last letter is of a script without spaces
	leader  // dots that lead from a title to its page number
	dingbat // of a font of signs: its letters are none
	number  // a number, as tables have them
	label   // tagged as the label of a list item
)

// word is a visible word with sane numbers, in the frame in which most of the
// page's text is upright.
type word struct {
	text           string
	url            string
	x0, y0, x1, y1 float64
	base, size     float64
	chars          int32
	owner          int32 // index into tree.owners, -1: none
	look           look
	space          bool
	brk            bool
	hyphen         bool
}

// sheet is the page as layout works on it.
type sheet struct {
	words  []word // upright, in the order of the stream
	asides []word // in other directions
	hrules []Rect
	vrules []Rect
	ocr    bool // the text is what a recogniser read on a picture: sizes waver
	width  float64
	height float64
	tree   *tree
}

// far bounds coordinates: PDF's own limit is 14,400 points a side.
const far = 1e6

// gather cleans the words of the page, leaves out those that nobody sees and
// turns the page so that most of its text is upright.
func (r *Reader) gather(p *Page, res *Result) *sheet {
	s := &r.sheet
	*s = sheet{words: s.words[:0], asides: s.asides[:0], hrules: s.hrules[:0], vrules: s.vrules[:0]}
	s.width, s.height = sane(p.Width, 612), sane(p.Height, 792)
	words := p.Words
	if len(words) > MaxWords {
		res.Dropped = len(words) - MaxWords
		words = words[:MaxWords]
	}
	fonts := fontLooks(p.Fonts)
	s.ocr = overPicture(p, words)
	s.tree = growTree(p.Tags)

	r.steps = r.steps[:0]
	turns := false
	var turned [24]int // letters by direction, in steps of 15 degrees
	for i := range words {
		in := &words[i]
		hidden := in.Hidden != "" && (in.Hidden != HiddenInvisible || !s.ocr)
		text := in.Text
		n := plain(text)
		if n < 0 {
			text = scrub(text)
			n = letters(text)
		}
		if hidden {
			res.Hidden += n
			r.hide(in, text)
			continue
		}
		if n == 0 && !in.Hyphen {
			continue
		}

		res.Chars += n
		w := word{
			text: text, url: in.URL, chars: int32(n), owner: -1,
			x0: finite(in.Box.X0), y0: finite(in.Box.Y0), x1: finite(in.Box.X1), y1: finite(in.Box.Y1),
			base: finite(in.Baseline), size: in.Size,
			space: in.Space, brk: in.Break, hyphen: in.Hyphen,
		}
		if w.x1 < w.x0 {
			w.x0, w.x1 = w.x1, w.x0
		}
		if w.y1 < w.y0 {
			w.y0, w.y1 = w.y1, w.y0
		}
		if !(w.size >= 0.5 && w.size <= 5000) { // NaN as well
			w.size = min(max(w.y1-w.y0, 1), 5000)
		}
		if in.Font >= 0 && in.Font < len(fonts) {
			w.look = fonts[in.Font]
		}
		if w.look&dingbat != 0 && len(text) == 1 {
			w.text = "•"
		}
		w.look |= script(text)
		if c := firstByte(text); (c >= '0' && c <= '9' || c == '$' || c == '(' || c == '-' || c == '+' || c >= 0x80) && isNumeric(text) {
			w.look |= number
		}
		if s.tree != nil {
			var isLabel bool
			if w.owner, isLabel = s.tree.owner(in.MCID); isLabel {
				w.look |= label
			}
		}
		step := direction(in.Angle)
		turned[step] += n
		if step != 0 {
			// Words that are not upright wait for their turn behind the
			// others; brk is free to carry nothing for them.
			turns = true
			s.asides = append(s.asides, w)
			r.steps = append(r.steps, step)
			continue
		}
		s.words = append(s.words, w)
	}
	s.hrules = saneRules(s.hrules, p.HRules)
	s.vrules = saneRules(s.vrules, p.VRules)
	if turns {
		r.upright(s, &turned)
	}
	return s
}

// overPicture says whether the invisible words of the page are the text of a
// scan: a picture covers the page and little else can be seen.
func overPicture(p *Page, words []Word) bool {
	if !(p.ImageArea >= 0.3) {
		return false
	}
	visible, invisible := 0, 0
	for i := range words {
		switch words[i].Hidden {
		case "":
			visible += len(words[i].Text)
		case HiddenInvisible:
			invisible += len(words[i].Text)
		}
	}
	// A stamp ("Downloaded on …") may stand on a scan in visible letters. A
	// brochure over a picture with a hidden line or two is no scan.
	return invisible > 2*visible
}

// hide keeps the beginning of what was hidden.
func (r *Reader) hide(in *Word, text string) {
	if len(r.hidden) >= maxHidden || text == "" {
		return
	}
	if len(r.hidden) > 0 && (in.Space || in.Break) {
		r.hidden = append(r.hidden, ' ')
	}
	if room := maxHidden - len(r.hidden); len(text) > room {
		for room > 0 && !utf8.RuneStart(text[room]) {
			room--
		}
		text = text[:room]
	}
	r.hidden = append(r.hidden, text...)
}

// direction is the angle in steps of 15 degrees, 0 to 23.
func direction(angle float64) int {
	if angle == 0 || math.IsNaN(angle) || math.IsInf(angle, 0) {
		return 0
	}
	step := int(math.Round(math.Mod(angle, 360)/15)) % 24
	if step < 0 {
		step += 24
	}
	return step
}

// upright turns the page so that the direction with the most letters is
// upright. What is then still turned is read after the rest, each direction in
// a frame of its own.
func (r *Reader) upright(s *sheet, turned *[24]int) {
	main := 0
	for step, n := range turned {
		if n > turned[main] {
			main = step
		}
	}
	if main != 0 {
		// Swap: the upright ones become asides.
		all := make([]word, 0, len(s.words)+len(s.asides))
		steps := make([]int, 0, cap(all))
		all = append(all, s.words...)
		for range s.words {
			steps = append(steps, 0)
		}
		all = append(all, s.asides...)
		steps = append(steps, r.steps...)
		s.words, s.asides, r.steps = s.words[:0], s.asides[:0], r.steps[:0]
		for i := range all {
			turn(&all[i], main, steps[i])
			if steps[i] == main {
				s.words = append(s.words, all[i])
				continue
			}
			s.asides = append(s.asides, all[i])
			r.steps = append(r.steps, (steps[i]-main+24)%24)
		}
		for i := range s.hrules {
			s.hrules[i] = turnRect(s.hrules[i], main)
		}
		for i := range s.vrules {
			s.vrules[i] = turnRect(s.vrules[i], main)
		}
		if main%12 >= 3 && main%12 <= 9 {
			s.hrules, s.vrules = s.vrules, s.hrules
			s.width, s.height = s.height, s.width
		}
	}
}

// turn puts w into the frame in which words of direction frame are upright.
func turn(w *word, frame, own int) {
	b := turnRect(Rect{w.x0, w.y0, w.x1, w.y1}, frame)
	w.x0, w.y0, w.x1, w.y1 = b.X0, b.Y0, b.X1, b.Y1
	if own == frame {
		// The baseline of turned text is not a y. Letters stand on it with
		// about a fifth of the size below.
		w.base = w.y1 - 0.2*min(w.size, w.y1-w.y0)
	} else {
		w.base = w.y1
	}
}

// turnRect turns a box by step times 15 degrees clockwise about the origin.
// The box around a slanted word is larger than the word; only its place
// matters then.
func turnRect(b Rect, step int) Rect {
	sin, cos := math.Sincos(float64(step) * math.Pi / 12)
	turnPoint := func(x, y float64) (float64, float64) { return x*cos - y*sin, x*sin + y*cos }
	ax, ay := turnPoint(b.X0, b.Y0)
	bx, by := turnPoint(b.X1, b.Y0)
	cx, cy := turnPoint(b.X0, b.Y1)
	dx, dy := turnPoint(b.X1, b.Y1)
	return Rect{
		min(min(ax, bx), min(cx, dx)), min(min(ay, by), min(cy, dy)),
		max(max(ax, bx), max(cx, dx)), max(max(ay, by), max(cy, dy)),
	}
}

func finite(v float64) float64 {
	switch {
	case v >= -far && v <= far:
		return v
	case v > far:
		return far
	case v < -far:
		return -far
	}
	return 0 // NaN
}

func sane(v, otherwise float64) float64 {
	if !(v > 0 && v <= far) {
		return otherwise
	}
	return v
}

// saneRules keeps the rules that can part something. None at all when there
// are more than a table has: a drawing.
func saneRules(to, rules []Rect) []Rect {
	if len(rules) > maxRules {
		return to
	}
	for _, b := range rules {
		b = Rect{finite(b.X0), finite(b.Y0), finite(b.X1), finite(b.Y1)}
		if b.X1 < b.X0 {
			b.X0, b.X1 = b.X1, b.X0
		}
		if b.Y1 < b.Y0 {
			b.Y0, b.Y1 = b.Y1, b.Y0
		}
		to = append(to, b)
	}
	return to
}

// fontLooks says how each font looks, by its flags and, where a producer left
// them out, by its name.
func fontLooks(fonts []Font) []look {
	looks := make([]look, len(fonts))
	for i, f := range fonts {
		if f.Bold {
			looks[i] |= bold
		}
		if f.Italic {
			looks[i] |= italic
		}
		if f.Mono {
			looks[i] |= mono
		}
		name := f.Name
		if _, after, ok := strings.Cut(name, "+"); ok { // of a subset: ABCDEF+Name
			name = after
		}
		lower := strings.ToLower(name)
		has := func(parts ...string) bool {
			for _, p := range parts {
				if strings.Contains(lower, p) {
					return true
				}
			}
			return false
		}
		starts := func(parts ...string) bool {
			for _, p := range parts {
				if strings.HasPrefix(lower, p) {
					return true
				}
			}
			return false
		}
		switch {
		case has("dingbat", "wingding", "webding"):
			looks[i] = dingbat
		case starts("cmmi", "cmsy", "cmex", "cmbsy", "cmmib", "msam", "msbm", "eufm", "rsfs", "stmary", "wasy", "lmmathi", "lmmathsy", "lmmathex"), has("symbol", "-math"):
			// The letters of formulas are slanted by nature: no emphasis.
			looks[i] &^= bold | italic | mono
		case starts("cmbx", "sfbx", "lmbx", "cmssbx", "cmb10", "ecbx"):
			looks[i] |= bold
			if starts("cmbxti", "sfbi") {
				looks[i] |= italic
			}
		case starts("cmti", "sfti", "cmsl", "lmri", "ecti", "cmssi", "cmu"):
			looks[i] |= italic
		case starts("cmtt", "sftt", "lmmono", "ectt", "cmsltt", "cmitt"):
			looks[i] |= mono
		case has("courier", "consolas", "menlo", "monaco", "monospace", "sourcecode", "inconsolata", "nimbusmon", "liberationmono", "dejavusansmono", "robotomono", "ubuntumono", "firacode", "firamono", "lucidaconsole", "andalemono"):
			looks[i] |= mono
		}
		if has("bold", "black", "heavy", "semibold", "demibold") && !has("symbol", "-math") {
			looks[i] |= bold
		}
		if has("italic", "oblique") && !has("symbol", "-math") {
			looks[i] |= italic
		}
	}
	return looks
}

// plain counts the characters of a word that is plain text as it is: ASCII
// without control characters and rows of dots. Most are. Negative: it is not.
func plain(s string) int {
	dots := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c <= ' ' || c >= 0x7f:
			return -1
		case c == '.':
			dots++
		}
	}
	if dots >= 4 {
		return -1
	}
	return len(s)
}

// scrub gives the text of a word as plain text: ligatures as letters, no
// control characters, no soft hyphens.
func scrub(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		switch {
		case r == utf8.RuneError && n == 1:
			b.WriteRune(utf8.RuneError)
		case r == '\t' || r == ' ' || r == '\n' || r == 0xa0 || r >= 0x2000 && r <= 0x200a || r == 0x202f || r == 0x3000:
			b.WriteByte(' ')
		case r < ' ' || r >= 0x7f && r < 0xa0:
		case r == 0xad || r == 0xfeff || r == 0xfffe || r == 0xffff || r == 0x200b || r == 0x2060:
		case r >= 0xe0000 && r <= 0xe0fff: // tags and variation selectors: text nobody sees
		case r >= 0xfb00 && r <= 0xfb06:
			b.WriteString([...]string{"ff", "fi", "fl", "ffi", "ffl", "st", "st"}[r-0xfb00])
		case r == '.' && strings.HasPrefix(s[i:], "..."):
			for i < len(s) && s[i] == '.' {
				i++
			}
			b.WriteRune('…')
		default:
			b.WriteRune(symbol(r))
		}
	}
	return strings.Trim(b.String(), " ")
}

// symbol maps the bullets of the Symbol and Wingdings fonts, which Word writes
// as private characters, to those that have a name.
func symbol(r rune) rune {
	if r < 0xf020 || r > 0xf0ff {
		return r
	}
	switch r {
	case 0xf0b7:
		return '•'
	case 0xf0a7:
		return '▪'
	case 0xf0d8:
		return '➢'
	case 0xf0fc:
		return '✓'
	case 0xf0a8:
		return '◦'
	case 0xf06f, 0xf071:
		return '❑'
	case 0xf076:
		return '❖'
	case 0xf0e0:
		return '→'
	}
	return r
}

func firstByte(s string) byte {
	if s == "" {
		return 0
	}
	return s[0]
}

// letters counts the characters that are not space.
func letters(s string) int {
	n := 0
	for i := 0; i < len(s); i++ {
		if c := s[i]; c != ' ' && c&0xc0 != 0x80 {
			n++
		}
	}
	return n
}

// script tells what the script of a word asks for, and leaders by the way.
func script(s string) look {
	if len(s) == 0 {
		return 0
	}
	if s[0] == '.' || s[0] == 0xe2 {
		if isLeader(s) {
			return leader
		}
	}
	var l look
	ascii := true
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			ascii = false
			break
		}
	}
	if ascii {
		return 0
	}
	for _, r := range s {
		if r < 0x590 {
			if unicode.IsLetter(r) {
				break
			}
			continue
		}
		if isRTL(r) {
			l |= rtl
			break
		}
		if unicode.IsLetter(r) {
			break
		}
	}
	last, _ := utf8.DecodeLastRuneInString(s)
	if isCJK(last) {
		l |= cjk
	}
	return l
}

// isLeader says whether a word is nothing but a row of dots. A single dot
// counts: LaTeX sets leaders as single dots, and lines() asks for four.
func isLeader(s string) bool {
	for _, r := range s {
		if r != '.' && r != '…' && r != '·' && r != '‥' {
			return false
		}
	}
	return true
}

func isRTL(r rune) bool {
	return r >= 0x590 && r <= 0x8ff || r >= 0xfb1d && r <= 0xfdff || r >= 0xfe70 && r <= 0xfeff ||
		r >= 0x10800 && r <= 0x10fff || r >= 0x1e800 && r <= 0x1efff
}

// isCJK says whether r is of a script that is written without spaces.
func isCJK(r rune) bool {
	return r >= 0x2e80 && r <= 0x9fff || r >= 0xf900 && r <= 0xfaff || r >= 0xfe30 && r <= 0xfe4f ||
		r >= 0xff00 && r <= 0xffef || r >= 0x20000 && r <= 0x3ffff ||
		r >= 0xe00 && r <= 0xeff || r >= 0x1000 && r <= 0x109f || r >= 0x1780 && r <= 0x17ff
}
