package layout

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

// marker is what a list item begins with.
type marker struct {
	n      int    // bytes of the line's first word that are the marker
	kind   string // two markers of one list have the same
	value  int    // of a number or letter; 0 for bullets
	roman  int    // if it can be read as a Roman number
	weak   bool   // a dash or star, which may as well be text
	x0, x1 float64
	text   float64 // where the item's text begins
	in     bool    // it is one
	large  bool    // set larger than the text
	line   int
}

const (
	strongBullets = "•‣◦▪▫●○■□➢➤►▶✓✔❖❑❏◆◇∙⁃"
	weakBullets   = "-–—*·+→⇒»"
)

// markerOf reads the marker at the beginning of a word.
func markerOf(s string, alone bool) (m marker, ok bool) {
	if s == "" {
		return m, false
	}
	r, n := utf8.DecodeRuneInString(s)
	if r >= utf8.RuneSelf || strings.ContainsRune(weakBullets, r) {
		switch {
		case strings.ContainsRune(strongBullets, r) && (!alone || n == len(s)):
			return marker{n: n, kind: string(r)}, true
		case strings.ContainsRune(weakBullets, r) && n == len(s):
			return marker{n: n, kind: string(r), weak: true}, true
		}
		return m, false
	}
	if len(s) > 8 || len(s) < 2 {
		return m, false
	}
	var body, kind string
	switch last := s[len(s)-1]; {
	case s[0] == '(' && last == ')' || s[0] == '[' && last == ']':
		body, kind = s[1:len(s)-1], s[:1]
	case last == '.' || last == ')':
		body, kind = s[:len(s)-1], s[len(s)-1:]
	default:
		return m, false
	}
	if body == "" {
		return m, false
	}
	value := 0
	digits := true
	for i := 0; i < len(body); i++ {
		if body[i] < '0' || body[i] > '9' {
			digits = false
			break
		}
		value = value*10 + int(body[i]-'0')
	}
	if digits {
		if len(body) > 3 {
			return m, false
		}
		return marker{n: len(s), kind: kind + "1", value: value}, true
	}
	if kind == "[" {
		return m, false
	}
	lower := strings.ToLower(body)
	upper := body != lower
	if upper && strings.ToUpper(body) != body {
		return m, false
	}
	if upper {
		kind += "A"
	} else {
		kind += "a"
	}
	roman := romanValue(lower)
	if len(body) == 1 && lower[0] >= 'a' && lower[0] <= 'z' {
		return marker{n: len(s), kind: kind, value: int(lower[0]-'a') + 1, roman: roman}, true
	}
	if roman > 0 {
		return marker{n: len(s), kind: kind, value: roman, roman: roman}, true
	}
	return m, false
}

// romanValue reads a small Roman number in lower case; 0 if it is none.
func romanValue(s string) int {
	if len(s) == 0 || len(s) > 8 {
		return 0
	}
	total, before := 0, 0
	for i := len(s) - 1; i >= 0; i-- {
		var v int
		switch s[i] {
		case 'i':
			v = 1
		case 'v':
			v = 5
		case 'x':
			v = 10
		case 'l':
			v = 50
		case 'c':
			v = 100
		default:
			return 0
		}
		if v < before {
			total -= v
		} else {
			total += v
			before = v
		}
	}
	return total
}

// follows says whether b can be the item after a in one list.
func (m *marker) follows(a *marker) bool {
	if m.kind != a.kind {
		return false
	}
	if m.value == 0 || m.value == a.value+1 {
		return true
	}
	return m.roman > 0 && a.roman > 0 && m.roman == a.roman+1
}

// items finds the lines that begin a list item. A number at the beginning of a
// line proves little; one that counts on from another at the same place, or
// one whose item goes on to the right of it, does.
func (r *Reader) items(words []word, lines []line, body float64) {
	if cap(r.itemOf) < len(lines) {
		r.itemOf = make([]int32, len(lines))
	}
	r.itemOf = r.itemOf[:len(lines)]
	r.markers = r.markers[:0]
	for i := range lines {
		l := &lines[i]
		r.itemOf[i] = -1
		if l.grid != 0 || l.leader {
			continue
		}
		s := &r.segs[l.i]
		w := &words[s.i]
		if w.text == "" {
			continue
		}
		m, ok := markerOf(w.text, false)
		if !ok {
			continue
		}
		m.x0, m.x1, m.line = w.x0, w.x1, i
		next := -1
		switch {
		case m.n < len(w.text):
			m.text = w.x0 + (w.x1-w.x0)*float64(m.n)/float64(len(w.text))
		case s.j > s.i+1:
			next = s.i + 1
		case l.j > l.i+1:
			next = r.segs[l.i+1].i
		default:
			continue // a marker and nothing else
		}
		if next >= 0 {
			if between(w, &words[next]) == glue && words[next].x0-w.x1 < 0.25*w.size {
				continue // "1.5", "a)b"
			}
			if m.weak && words[next].text == w.text {
				continue // a line of dashes
			}
			m.text = words[next].x0
		}
		if m.value > 0 && l.allBold() {
			continue // a numbered heading
		}
		m.large = m.value > 0 && l.size > 1.08*body
		if l.toLeft() {
			m.x0, m.x1, m.text = -w.x1, -w.x0, -words[max(next, s.i)].x1
		}
		m.in = m.value == 0 && !m.weak
		r.itemOf[i] = int32(len(r.markers))
		r.markers = append(r.markers, m)
	}
	for k := range r.markers {
		m := &r.markers[k]
		l := &lines[m.line]
		// The next line goes on to the right of the marker.
		if n := m.line + 1; n < len(lines) && lines[n].grid == 0 && r.itemOf[n] < 0 {
			d := lines[n].base - l.base
			if d > 0.3*l.size && d < 1.8*l.size && !m.large && math.Abs(lines[n].start()-m.text) < 0.4*l.size && m.text > m.x0+0.6*l.size {
				m.in = true
			}
		}
		for q := k + 1; q < len(r.markers) && q <= k+6; q++ {
			n := &r.markers[q]
			if (m.large || n.large) && (n.line != m.line+1 || lines[n.line].base-l.base > 2.2*l.size) {
				continue // numbered headings, with text in between
			}
			if n.kind == m.kind && n.follows(m) && (math.Abs(n.x0-m.x0) < 1.2*l.size || math.Abs(n.x1-m.x1) < 0.5*l.size) {
				m.in, n.in = true, true
				break
			}
		}
	}
}

// endsSentence says whether a word ends a sentence or something like it.
func endsSentence(s string) bool {
	if isURL(s) && !strings.HasSuffix(s, ").") {
		return false // the line's end may have cut it at a full stop
	}
	s = strings.TrimRight(s, "\"'”’»)]")
	r, _ := utf8.DecodeLastRuneInString(s)
	switch r {
	case '.', '!', '?', ':', '。', '！', '？', '：', '؟', '۔', '…', ';':
		return true
	}
	return false
}

func startsLower(s string) bool {
	for _, r := range s {
		if unicode.IsLetter(r) {
			return unicode.IsLower(r)
		}
		if r != '(' && r != '"' && r != '“' && r != '\'' && r != '‘' {
			return false
		}
	}
	return false
}
