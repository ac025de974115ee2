package layout

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// undecided stands in Span.Text between the halves of a word that a hyphen
// parts at a line's end, until Finish has seen the whole document. It is the
// soft hyphen: a reader of Results that nobody finished sees a whole word.
const undecided = '\u00ad'

// sep is what comes between two words.
type sep uint8

const (
	glue       sep = iota // nothing
	blank                 // a space
	newline               // a line break that is meant
	hyphenOpen            // a hyphen that the whole document decides on
	hyphenKept            // a hyphen
	hyphenGap             // a hyphen and a space: "pre- and post-war"
)

// writer joins words to spans.
type writer struct {
	spans []Span
	buf   []byte
	look  look
	url   string
	drop  look // looks that the whole block has: no emphasis
	dots  bool // the last thing written is a leader
	any   bool
}

const shown = bold | italic | mono | sup | sub

func (w *writer) reset(drop look) {
	w.spans, w.buf, w.look, w.url, w.drop, w.dots, w.any = nil, w.buf[:0], 0, "", drop, false, false
}

func (w *writer) flush() {
	if len(w.buf) == 0 {
		return
	}
	w.spans = append(w.spans, Span{
		Text: string(w.buf), URL: w.url,
		Bold: w.look&bold != 0, Italic: w.look&italic != 0, Code: w.look&mono != 0, Sup: w.look&sup != 0, Sub: w.look&sub != 0,
	})
	w.buf = w.buf[:0]
}

func (w *writer) add(text string, l look, url string, s sep) {
	if text == "" {
		return
	}
	if l&leader != 0 {
		if w.dots {
			return // one mark for a row of dots
		}
		l &= shown
		text = "…"
		if s == glue && w.any {
			s = blank
		}
		w.dots = true
	} else {
		l &= shown
		if w.dots && s == glue {
			s = blank
		}
		w.dots = false
	}
	l &^= w.drop
	if !w.any {
		s = glue
	}
	w.any = true
	var between string
	switch s {
	case glue:
	case blank:
		between = " "
	case newline:
		between = "\n"
	case hyphenOpen:
		between = string(undecided)
	case hyphenKept:
		between = "-"
	case hyphenGap:
		between = "- "
	}
	if l != w.look || url != w.url {
		// A space goes to the plain side, so that no emphasis begins or ends
		// with one.
		plainBefore := w.look == 0 && w.url == ""
		plainAfter := l == 0 && url == ""
		if s == hyphenOpen || s == hyphenKept || s == hyphenGap || plainBefore || !plainAfter && s != blank {
			w.buf = append(w.buf, between...)
			between = ""
		}
		w.flush()
		if between != "" && !plainAfter {
			w.look, w.url = 0, ""
			w.buf = append(w.buf, between...)
			w.flush()
			between = ""
		}
		w.look, w.url = l, url
	}
	w.buf = append(w.buf, between...)
	w.buf = append(w.buf, text...)
}

// done gives the spans. A hyphen after the last word is kept: what it led to
// stands elsewhere.
func (w *writer) done(hyphen bool) []Span {
	if hyphen && w.any {
		w.buf = append(w.buf, '-')
	}
	w.flush()
	spans := w.spans
	w.spans = nil
	return spans
}

// between says what comes between two words of one line.
func between(a, b *word) sep {
	if a.hyphen {
		if b.space {
			return hyphenGap
		}
		return hyphenKept
	}
	gap := b.x0 - a.x1
	if b.space || b.brk {
		// PDFium sees a line break before what is raised or lowered.
		if b.size < 0.85*a.size && gap < 0.2*b.size && gap > -a.size && b.chars <= 4 && (a.base-b.base > 0.15*a.size || b.base-a.base > 0.08*a.size) {
			return glue
		}
		return blank
	}
	if (a.look^b.look)&rtl != 0 {
		// Where directions meet, PDFium puts the space elsewhere.
		gap = max(gap, a.x0-b.x1)
		if gap > 0.15*max(a.size, b.size) {
			return blank
		}
	}
	if gap > 0.5*max(a.size, b.size) && b.look&rtl == 0 {
		return blank
	}
	return glue
}

// across says what comes between the last word of a line and the first of the
// next.
func across(a, b *word) sep {
	if a.text == "" {
		return blank
	}
	if a.url != "" && a.url == b.url || isURL(a.text) {
		if s, ok := acrossURL(a, b); ok {
			return s
		}
	}
	last, n := utf8.DecodeLastRuneInString(a.text)
	first, _ := utf8.DecodeRuneInString(b.text)
	if a.hyphen {
		return hyphenation(a.text, b.text)
	}
	if last == ':' && strings.HasPrefix(b.text, "//") {
		return glue
	}
	if (last == '-' || last == '‐') && len(a.text) > n && unicode.IsLetter(first) {
		before, _ := utf8.DecodeLastRuneInString(a.text[:len(a.text)-n])
		if unicode.IsLetter(before) || unicode.IsDigit(before) {
			// PDFium left it in the text: it stays, as a hyphen or a dash.
			if suspended(b.text) {
				return blank
			}
			return glue
		}
	}
	if a.look&cjk != 0 && isCJK(first) {
		return glue
	}
	if (last == '/' && !isURL(a.text) || last == '—') && len(a.text) > n && (unicode.IsLetter(first) || unicode.IsDigit(first)) {
		before, _ := utf8.DecodeLastRuneInString(a.text[:len(a.text)-n])
		if unicode.IsLetter(before) || unicode.IsDigit(before) {
			return glue
		}
	}
	return blank
}

// hyphenation decides on the hyphen between the halves of a word, or leaves it
// to Finish.
func hyphenation(left, right string) sep {
	first, _ := utf8.DecodeRuneInString(right)
	last, n := utf8.DecodeLastRuneInString(left)
	switch {
	case suspended(right):
		return hyphenGap
	case !unicode.IsLetter(first) || !unicode.IsLetter(last):
		return hyphenKept // "COVID-/19", "1990-/2000", "(re-/)"
	case unicode.IsUpper(first):
		if unicode.IsUpper(last) && len(left) > n && strings.ToUpper(left) == left && strings.ToUpper(right) == right {
			return hyphenOpen // in capitals throughout
		}
		return hyphenKept // "Schwarz-/Weiß", "non-/Gaussian"
	}
	head := tail(left)
	if utf8.RuneCountInString(head) == 1 {
		return hyphenKept // "e-/mail", "x-/axis"
	}
	if strings.ContainsAny(left, "-‐") {
		return hyphenKept // "state-of-/the-art"
	}
	switch strings.ToLower(head) {
	case "self", "well", "quasi", "so":
		return hyphenKept
	case "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety":
		return hyphenKept
	}
	return hyphenOpen
}

// tail is the letters at the end of s: a word without the bracket before it.
func tail(s string) string {
	i := len(s)
	for i > 0 {
		r, n := utf8.DecodeLastRuneInString(s[:i])
		if !unicode.IsLetter(r) {
			break
		}
		i -= n
	}
	return s[i:]
}

// suspended says whether the word after a hyphen shows that the hyphen stands
// for a part left out: "pre- and post-war", "Ein- und Ausgabe".
func suspended(next string) bool {
	switch next {
	case "and", "or", "to", "und", "oder", "bzw.", "et", "ou", "y", "o", "en", "of", "och", "eller", "e":
		return true
	}
	return false
}

func isURL(s string) bool {
	s = strings.TrimLeft(s, "(<[\"'“")
	return strings.Contains(s, "://") || strings.HasPrefix(s, "www.") || strings.HasPrefix(s, "doi:10.") || strings.HasPrefix(s, "doi.org/")
}

// acrossURL joins an address that a line's end broke.
func acrossURL(a, b *word) (sep, bool) {
	left, right := a.text, b.text
	if a.url != "" && a.url == b.url {
		// The link itself knows.
		end := strings.TrimRight(right, ".,;:)]}>\"'”")
		switch {
		case strings.Contains(a.url, left+end):
			return glue, true
		case strings.Contains(a.url, left+"-"+end):
			return hyphenKept, true
		case !isURL(left):
			return 0, false // a link over plain words
		}
	}
	if !isURL(left) {
		return 0, false
	}
	last := left[len(left)-1]
	first, _ := utf8.DecodeRuneInString(right)
	if !(first < utf8.RuneSelf && (unicode.IsLetter(first) || unicode.IsDigit(first) || strings.ContainsRune("/-_.?&=%#~+", first))) {
		return 0, false
	}
	goesOn := strings.ContainsAny(right, "/_=?&%#") || strings.Contains(strings.TrimRight(right, ".,;"), ".") || strings.ContainsAny(right, "0123456789")
	switch {
	case a.hyphen:
		if goesOn || unicode.IsLower(first) || unicode.IsDigit(first) {
			return hyphenKept, true
		}
	case strings.IndexByte("/-_?&=%#~+", last) >= 0:
		if goesOn || unicode.IsLower(first) || unicode.IsDigit(first) {
			return glue, true
		}
	case last == '.':
		if goesOn && !unicode.IsUpper(first) {
			return glue, true
		}
	default:
		if strings.IndexByte("/-_?&=%#", right[0]) >= 0 && len(right) > 1 {
			return glue, true
		}
	}
	return 0, false
}

// flow writes the words of lines to spans. breaks says before which lines a
// line break is meant.
func (r *Reader) flow(words []word, lines []line, breaks []bool, skip int) []Span {
	var chars, nb, ni, nm int32
	for i := range lines {
		chars += lines[i].chars
		nb += lines[i].bold
		ni += lines[i].italic
		nm += lines[i].mono
	}
	var drop look
	if nb*20 >= chars*19 {
		drop |= bold
	}
	if ni*20 >= chars*19 {
		drop |= italic
	}
	if nm*20 >= chars*19 {
		drop |= mono
	}
	w := &r.writer
	w.reset(drop)
	var prev *word
	for i := range lines {
		l := &lines[i]
		fresh := i > 0
		for k := l.i; k < l.j; k++ {
			s := &r.segs[k]
			for x := s.i; x < s.j; x++ {
				cur := &words[x]
				if cur.text == "" {
					if cur.hyphen && prev != nil {
						prev.hyphen = true
					}
					continue
				}
				if skip > 0 {
					skip--
					continue
				}
				what := glue
				switch {
				case prev == nil:
				case fresh && len(breaks) > i && breaks[i]:
					what = newline
					if prev.hyphen {
						w.buf = append(w.buf, '-')
					}
				case fresh:
					what = across(prev, cur)
				case x == s.i:
					what = between(prev, cur)
					if what == glue {
						what = blank // over a gap
					}
				default:
					what = between(prev, cur)
				}
				fresh = false
				style := cur.look | cur.raised(l.base, l.size)
				if !l.leader {
					style &^= leader
				}
				w.add(cur.text, style, cur.url, what)
				prev = cur
			}
		}
	}
	return w.done(prev != nil && prev.hyphen)
}

// raised says whether a word is set as an index to text at this baseline.
func (w *word) raised(base, size float64) look {
	if w.size >= 0.9*size || w.chars > 12 || w.chars > 4 && strings.IndexFunc(w.text, func(r rune) bool { return !unicode.IsLetter(r) }) < 0 {
		return 0 // a whole word is small type, not an index
	}
	switch d := base - w.base; {
	case d > 0.15*size:
		return sup
	case d < -0.08*size:
		return sub
	}
	return 0
}

// cellSpans writes the words of a cell. Its lines are joined as prose is.
func (r *Reader) cellSpans(words []word, in []int32) []Span {
	if len(in) == 0 {
		return nil
	}
	var chars, nb, ni, nm int32
	size, dots := 0.0, 0
	for _, i := range in {
		c := &words[i]
		chars += c.chars
		if c.look&leader != 0 {
			dots++
		}
		if c.look&bold != 0 {
			nb += c.chars
		}
		if c.look&italic != 0 {
			ni += c.chars
		}
		if c.look&mono != 0 {
			nm += c.chars
		}
		size = max(size, c.size)
	}
	base := words[in[0]].base
	var drop look
	if nb == chars {
		drop |= bold
	}
	if ni == chars {
		drop |= italic
	}
	if nm == chars {
		drop |= mono
	}
	w := &r.writer
	w.reset(drop)
	var prev *word
	for _, i := range in {
		cur := &words[i]
		if cur.text == "" {
			continue
		}
		what := glue
		if prev != nil {
			if d := cur.base - base; cur.x0 < prev.x0 && (d > 0.5*size || d < -0.5*size) || d > 0.8*size {
				what = across(prev, cur)
				base = cur.base
			} else {
				what = between(prev, cur)
			}
		}
		style := cur.look | cur.raised(base, size)
		if dots < 4 {
			style &^= leader
		}
		w.add(cur.text, style, cur.url, what)
		prev = cur
	}
	return w.done(prev != nil && prev.hyphen)
}

// turnedSpans writes the words of a cell that are not upright.
func (r *Reader) turnedSpans(in []int32, more bool) []Span {
	words := make([]word, 0, len(in))
	at := make([]int32, 0, len(in))
	for n, i := range in {
		w := r.sheet.asides[i]
		turn(&w, r.steps[i], r.steps[i])
		words = append(words, w)
		at = append(at, int32(n))
	}
	spans := r.cellSpans(words, at)
	if more && len(spans) > 0 {
		spans[0].Text = " " + spans[0].Text
	}
	return spans
}
