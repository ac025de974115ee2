package layout

import (
	"strings"
	"unicode"
)

// Reader reads the pages of one document. It is not safe for concurrent use.
type Reader struct {
	titles map[int]map[string]int // by page: the letters of a title to its level

	// Room that is used again for every page.
	sheet     sheet
	steps     []int // direction of each aside
	hidden    []byte
	segs      []seg
	segs2     []seg
	lines     []line
	lines2    []line
	gaps      []span
	gaps2     []span
	gaps3     []span
	rules     []rule
	placed    []bool
	taken     []int32
	itemOf    []int32
	markers   []marker
	gapAt     []int32
	gapped    []gapTab
	starts    []bool
	breaks    []bool
	floats    []float64
	depths    []float64
	depthY    float64
	sizes     map[int32]int32
	usual     map[int32]float64
	votes     map[[2]int32]int
	writer    writer
	key       []byte
	out       []Block
	owner     int32
	lastOwner int32
}

// NewReader makes a reader for a document with this outline.
func NewReader(bookmarks []Bookmark) *Reader {
	r := &Reader{
		titles: map[int]map[string]int{},
		sizes:  map[int32]int32{},
		usual:  map[int32]float64{},
		votes:  map[[2]int32]int{},
	}
	for _, b := range bookmarks {
		r.addTitle(b, b.Title)
		if number, rest, ok := strings.Cut(strings.TrimSpace(b.Title), " "); ok && isNumeric(number) && len(rest) > 3 {
			r.addTitle(b, rest) // the number may stand only in the outline
		}
	}
	return r
}

func (r *Reader) addTitle(b Bookmark, title string) {
	key := string(appendKey(nil, title))
	if b.Page < 1 || key == "" || len(key) > 300 {
		return
	}
	m := r.titles[b.Page]
	if m == nil {
		m = map[string]int{}
		r.titles[b.Page] = m
	}
	if _, ok := m[key]; !ok {
		m[key] = min(max(b.Level, 1), 16)
	}
}

// Page reads one page. The pages may come in any order; the result is the
// caller's.
func (r *Reader) Page(p *Page) *Result {
	res := &Result{Number: p.Number}
	r.hidden = r.hidden[:0]
	r.out = nil
	s := r.gather(p, res)
	res.Width, res.Height = s.width, s.height
	res.HiddenText = string(r.hidden)
	if s.tree != nil {
		s.tree.judge(s.words)
	}
	grids, taken := r.tables(s)
	if s.tree != nil {
		// Owners that only cells or too fine tags give are none.
		for i := range s.words {
			if o := s.words[i].owner; o >= 0 && (s.tree.owners[o].role == roleCell || s.tree.plain && s.tree.owners[o].role == roleText) {
				s.words[i].owner = -1
			}
		}
	}
	r.rules = rulesOf(s.hrules, true)
	r.read(s.words, taken, grids, p.Number, false)
	r.aside(s, p.Number)
	res.Blocks = r.out
	r.out = nil
	return res
}

// read lays out words that are upright.
func (r *Reader) read(words []word, taken []int32, grids []grid, page int, aside bool) {
	if len(words) == 0 {
		return
	}
	r.lastOwner = -1
	r.segment(words, taken, grids)
	if !aside {
		r.order(words)
	}
	r.dropCaps(words)
	r.leads()
	r.gapTables(words)
	r.blocks(words, grids, page, aside)
}

// aside reads the words in other directions, each direction in its own frame,
// after the rest of the page.
func (r *Reader) aside(s *sheet, page int) {
	if len(s.asides) == 0 {
		return
	}
	s.hrules, s.vrules = s.hrules[:0], s.vrules[:0]
	r.rules = r.rules[:0]
	var group []word
	for step := range 24 {
		group = group[:0]
		for i := range s.asides {
			if r.steps[i] == step && s.asides[i].chars > 0 {
				w := s.asides[i]
				turn(&w, step, step)
				group = append(group, w)
			}
		}
		r.read(group, nil, nil, page, true)
	}
}

// appendKey adds the letters and digits of s in lower case: what is the same
// in a title and in its bookmark.
func appendKey(to []byte, s string) []byte {
	for _, c := range s {
		switch {
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9':
			to = append(to, byte(c))
		case c >= 'A' && c <= 'Z':
			to = append(to, byte(c+'a'-'A'))
		case c >= 0x80 && (unicode.IsLetter(c) || unicode.IsDigit(c)):
			to = append(to, string(unicode.ToLower(c))...)
		}
	}
	return to
}

// titleAt says how many lines from i on are the title of a bookmark of this
// page, and its level. A number before the title may be missing on either
// side.
func (r *Reader) titleAt(words []word, lines []line, i int, titles map[string]int) (n, level int) {
	key := r.key[:0]
	first := 0 // length of the first word's key: it may be the number
	for k := i; k < len(lines) && k < i+3; k++ {
		l := &lines[k]
		if l.grid != 0 || k > i && !r.runsOn(&lines[k-1], l) || len(key) > 300 || l.leader {
			break
		}
		for s := l.i; s < l.j; s++ {
			for x := r.segs[s].i; x < r.segs[s].j; x++ {
				key = appendKey(key, words[x].text)
				if first == 0 {
					first = len(key)
				}
			}
		}
		if lv, ok := titles[string(key)]; ok && len(key) > 1 {
			n, level = k+1-i, lv
		} else if first < len(key) && key[0] >= '0' && key[0] <= '9' {
			if lv, ok := titles[string(key[first:])]; ok {
				n, level = k+1-i, lv
			}
		}
	}
	r.key = key
	return n, level
}
