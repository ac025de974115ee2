package digest

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
	"github.com/clipperhouse/uax29/v2/sentences"

	"sift.build/sift/internal/render"
	"sift.build/sift/internal/sift"
)

// piece is a passage before it has a score: content[from:to], in bytes.
type piece struct {
	from, to   int
	start, end int // in characters
	heading    int // which of the headings it stands under, -1: none
	page       int

	// lead is what belongs to the piece though it stands before it: the header row
	// of its table, the line that introduces its list.
	lead span
}

// sizes are in characters.
type sizes struct {
	target int // up to which neighbours are joined
	whole  int // a paragraph or a list item above it is cut at sentences
	hard   int // no piece is longer
	small  int // a piece that is shorter looks for a neighbour
}

// sizesFor gives the sizes for a budget. A small one makes no small pieces, of
// which none would have enough of a question: what is handed out is cut then.
func sizesFor(budget int) sizes {
	budget = max(budget, leastChars)
	return sizes{target: min(targetChars, budget), whole: min(wholeChars, budget), hard: min(hardChars, budget), small: min(smallChars, budget/8)}
}

const (
	targetChars = 600
	wholeChars  = 1000
	hardChars   = 2000
	leadChars   = 300 // an introduction that is longer is a paragraph by itself
	smallChars  = 150
	leastChars  = 300
)

// blockKind is what a run of lines is.
type blockKind uint8

const (
	blockParagraph blockKind = iota
	blockItem
	blockRow
	blockCode
)

// splitter reads a content line by line and gives its pieces to emit, in order.
type splitter struct {
	t    Text
	size sizes
	emit func(piece)

	headings []sift.Heading
	pages    []render.PageStart
	page     int
	heading  int  // index of the last one seen
	title    span // the line of the last heading while nothing stands under it
	titleAt  int  // its character

	at, offset int // byte and character of the line being read

	// The block being read.
	kind    blockKind
	open    bool
	block   span
	blockAt int // character
	fence   string
	blank   bool // a blank line stands behind the block, which an item outlives
	header  span // of the table: its first row, and the line under it

	// The piece being filled.
	cur      piece
	filling  bool
	intro    unit // its last unit, where that may introduce what follows
	leads    span // what introduced the list or table being read
	hasIntro bool
	held     piece // the one before, which a small rest may be joined to
	holding  bool
}

// unit is what is not cut any more.
type unit struct {
	from, to   int // bytes
	start, end int // characters
	kind       blockKind
	lead       span
}

// run cuts the content. ctx is looked at now and then.
func (s *splitter) run(ctx context.Context) error {
	s.headings, s.pages, s.heading = s.t.Headings, s.t.Pages, -1
	if len(s.pages) > 0 && s.pages[0].Offset < 0 {
		s.page, s.pages = s.pages[0].Number, s.pages[1:]
	}
	content := s.t.Content
	next := 0
	for s.at < len(content) {
		if s.at >= next {
			if err := ctx.Err(); err != nil {
				return err
			}
			next = s.at + 64<<10
		}
		end := len(content)
		if i := strings.IndexByte(content[s.at:], '\n'); i >= 0 {
			end = s.at + i + 1
		}
		line := content[s.at:end]
		chars := utf8.RuneCountInString(line)
		s.line(line, chars)
		s.at, s.offset = end, s.offset+chars
	}
	s.section(0)
	return nil
}

// line takes in one line, its end included.
func (s *splitter) line(line string, chars int) {
	text := strings.TrimSpace(line)
	if s.fence != "" {
		s.extend(len(line))
		if s.closes(text) {
			s.fence = ""
			s.close()
		}
		return
	}
	isPage := false
	for len(s.pages) > 0 && s.pages[0].Offset < s.offset+chars {
		isPage = isPage || s.pages[0].Offset == s.offset && pageMarker(text)
		if s.page != s.pages[0].Number {
			s.rest()
		}
		s.page, s.pages = s.pages[0].Number, s.pages[1:]
	}
	isHeading := s.heads(line, text, chars)
	switch {
	case isPage || isHeading:
	case text == "":
		s.blankLine()
	case s.t.Markdown && s.underline(text):
		s.close()
	default:
		s.textLine(line, text)
	}
}

// pageMarker says that a line is what the renderer puts where a page begins.
func pageMarker(text string) bool {
	return strings.HasPrefix(text, "<!-- page ") || strings.HasPrefix(text, "[page ")
}

// heads begins a section for each heading that begins in the line, and says
// whether the line is a heading and nothing else.
func (s *splitter) heads(line, text string, chars int) bool {
	is := false
	for s.heading+1 < len(s.headings) && s.headings[s.heading+1].Offset < s.offset+chars {
		h := s.headings[s.heading+1]
		s.section(h.Level)
		s.heading++
		if is = sameLetters(text, h.Text); is {
			lead := len(line) - len(strings.TrimLeft(line, " \t\r\n"))
			s.title, s.titleAt = span{s.at + lead, s.at + lead + len(text)}, s.offset+lead
		}
	}
	return is
}

// underline says that a line only underlines the heading above it.
func (s *splitter) underline(text string) bool {
	return s.title.to > 0 && !s.open && len(strings.Trim(text, "=")) == 0 ||
		s.title.to > 0 && !s.open && len(strings.Trim(text, "-")) == 0
}

// sameLetters says that a line has the letters and digits of a heading, and
// hardly more.
func sameLetters(line, heading string) bool {
	i := 0
	for _, want := range heading {
		if !unicode.IsLetter(want) && !unicode.IsDigit(want) {
			continue
		}
		for {
			r, size := utf8.DecodeRuneInString(line[i:])
			if size == 0 {
				return false
			}
			i += size
			if r == want {
				break
			}
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				return false
			}
		}
	}
	rest := strings.IndexFunc(line[i:], func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
	return rest < 0 || line[i+rest-1] == '(' || line[i+rest-1] == '{' // an anchor, a destination
}

func (s *splitter) blankLine() {
	if !s.open {
		return
	}
	if s.kind == blockItem || s.kind == blockCode {
		s.blank = true
		return
	}
	s.close()
}

func (s *splitter) textLine(line, text string) {
	indent := len(line) - len(strings.TrimLeft(line, " \t"))
	code := s.t.Markdown && (line[0] == '\t' || strings.HasPrefix(line, "    "))
	switch {
	case s.open && s.kind == blockCode: // indented code ends with what is not
		if code {
			s.blank = false
			s.extend(len(line))
			return
		}
		s.close()
	case s.open && s.blank:
		// An item goes on behind a blank line with what is indented.
		if indent < 2 || marker(text) > 0 {
			s.close()
		}
		s.blank = false
	}
	if code && !s.open {
		s.start(blockCode)
		s.extend(len(line))
		return
	}
	bare := strings.TrimLeft(text, "> \t")
	switch {
	case s.t.Markdown && fenceOf(bare) != "":
		if s.open && s.kind != blockItem {
			s.close()
		}
		if s.open && indent < 2 {
			s.close()
		}
		if s.open { // code in an item is a block by itself, which the item introduces
			s.close()
		}
		s.start(blockCode)
		s.fence = fenceOf(bare)
		s.extend(len(line))
	case s.t.Markdown && s.row(text):
		s.close()
		s.tableRow(line, text)
	case marker(bare) > 0:
		s.close()
		s.start(blockItem)
		s.extend(len(line))
		if m := bare[marker(bare):]; s.t.Markdown && fenceOf(strings.TrimSpace(m)) != "" {
			s.kind, s.fence = blockCode, fenceOf(strings.TrimSpace(m))
		}
	default:
		if !s.open {
			s.start(blockParagraph)
		}
		s.extend(len(line))
	}
}

// fenceOf gives the run of signs that opens a fenced code block, "" for a line
// that does not.
func fenceOf(text string) string {
	for _, c := range []byte{'`', '~'} {
		n := 0
		for n < len(text) && text[n] == c {
			n++
		}
		if n >= 3 && (c != '`' || strings.IndexByte(text[n:], '`') < 0) {
			return text[:n]
		}
	}
	return ""
}

func (s *splitter) closes(text string) bool {
	text = strings.TrimLeft(text, "> \t")
	return len(text) >= len(s.fence) && strings.Trim(text, s.fence[:1]) == ""
}

// marker gives the length of the sign that begins a list item; 0: none does.
func marker(text string) int {
	n := 0
	for n < len(text) && n < 9 && isDigit(text[n]) {
		n++
	}
	switch {
	case n > 0 && n < len(text) && (text[n] == '.' || text[n] == ')'):
		n++
	case n == 0 && text != "" && (text[0] == '-' || text[0] == '*' || text[0] == '+'):
		n = 1
	case n == 0 && strings.HasPrefix(text, "•"):
		n = len("•")
	default:
		return 0
	}
	if n < len(text) && (text[n] == ' ' || text[n] == '\t') {
		return n + 1
	}
	return 0
}

// row says that a line is a row of a table. A table is told by its first sign,
// or by the line under its header.
func (s *splitter) row(text string) bool {
	if text[0] == '|' {
		return true
	}
	if strings.IndexByte(text, '|') < 0 {
		return false
	}
	if s.header.to > 0 || delimiter(text) {
		return true
	}
	// Without a leading sign, the next line tells.
	rest := s.t.Content[s.at:]
	i := strings.IndexByte(rest, '\n')
	if i < 0 {
		return false
	}
	rest = rest[i+1:]
	if i = strings.IndexByte(rest, '\n'); i >= 0 {
		rest = rest[:i]
	}
	return len(rest) < 1000 && strings.IndexByte(rest, '|') >= 0 && delimiter(strings.TrimSpace(rest))
}

// delimiter says that a line is the one between a table's header and its rows.
func delimiter(text string) bool {
	return strings.Trim(text, "|-: \t") == "" && strings.IndexByte(text, '-') >= 0
}

func (s *splitter) tableRow(line, text string) {
	first := s.header.to == 0
	s.start(blockRow)
	s.extend(len(line))
	header := s.block
	delim := delimiter(text)
	s.finish(blockRow)
	switch {
	case first:
		s.header = header
	case delim && s.header.to == header.from:
		s.header.to = header.to
	}
}

func (s *splitter) start(kind blockKind) {
	if kind != blockRow {
		s.header = span{}
	}
	s.kind, s.open, s.blank = kind, true, false
	s.block, s.blockAt = span{s.at, s.at}, s.offset
}

func (s *splitter) extend(n int) { s.block.to = s.at + n }

// close ends the block being read, and a table.
func (s *splitter) close() {
	if !s.open {
		return
	}
	s.finish(s.kind)
}

// finish makes units of the block being read.
func (s *splitter) finish(kind blockKind) {
	s.open, s.blank = false, false
	s.title = span{}
	u := s.trimmed(unit{from: s.block.from, to: s.block.to, start: s.blockAt, kind: kind})
	if u.from == u.to {
		return
	}
	if kind == blockRow {
		u.lead = s.header
	}
	limit := s.size.whole
	if kind == blockCode || kind == blockRow {
		limit = s.size.hard
	}
	if u.end-u.start <= limit {
		s.add(u)
		return
	}
	switch kind {
	case blockCode:
		s.cutLines(u)
	case blockRow:
		s.cutWords(u)
	default:
		s.cutSentences(u)
	}
}

// trimmed leaves out the blank lines before a unit and the white space behind
// it, and counts its characters.
func (s *splitter) trimmed(u unit) unit {
	text := s.t.Content[u.from:u.to]
	text = strings.TrimRight(text, " \t\r\n")
	for {
		i := strings.IndexByte(text, '\n')
		if i < 0 || strings.TrimSpace(text[:i]) != "" {
			break
		}
		u.from += i + 1
		u.start += utf8.RuneCountInString(text[:i+1])
		text = text[i+1:]
	}
	u.to = u.from + len(text)
	u.end = u.start + utf8.RuneCountInString(text)
	return u
}

// part adds the part of u from one byte to another, without white space around
// it; one that is longer than a piece may be is cut again.
func (s *splitter) part(u unit, from, start, to int) (nextFrom, nextStart int) {
	text := s.t.Content[from:to]
	nextFrom, nextStart = to, start+utf8.RuneCountInString(text)
	trimmed := text
	if u.kind != blockCode {
		trimmed = strings.TrimLeft(text, " \t\r\n")
	}
	p := s.trimmed(unit{
		from: from + len(text) - len(trimmed), to: to,
		start: start + utf8.RuneCountInString(text[:len(text)-len(trimmed)]), kind: u.kind, lead: u.lead,
	})
	switch {
	case p.from == p.to:
	case p.end-p.start > s.size.hard:
		s.cutWords(p)
	default:
		s.add(p)
	}
	return nextFrom, nextStart
}

// sentenceWindow bounds, in bytes, what the sentence breaker sees at once.
const sentenceWindow = 8 << 10

// cutSentences cuts a unit at the ends of its sentences.
func (s *splitter) cutSentences(u unit) {
	from, start := u.from, u.start
	for from < u.to {
		window := s.t.Content[from:min(from+sentenceWindow, u.to)]
		whole := from+len(window) == u.to
		if !whole {
			window = window[:lastStart(window)]
		}
		// A line break ends a sentence by the standard; here lines are wrapped.
		it := sentences.FromString(oneLine(window))
		base, got := from, false
		for it.Next() {
			if !whole && base+it.End() == base+len(window) && got {
				break // it may go on in the next window
			}
			got = true
			from, start = s.part(u, from, start, base+it.End())
		}
	}
}

// lastStart is where the last character of s begins, which may be cut short.
func lastStart(s string) int {
	n := len(s)
	for n > 1 {
		n--
		if utf8.RuneStart(s[n]) {
			return n
		}
	}
	return len(s)
}

// oneLine gives s with spaces in place of its line breaks, of the same length.
func oneLine(s string) string {
	if strings.IndexByte(s, '\n') < 0 {
		return s
	}
	return strings.NewReplacer("\r\n", "  ", "\n", " ", "\r", " ").Replace(s)
}

// cutLines cuts code that is too long at its blank lines, and where there is
// none at a line.
func (s *splitter) cutLines(u unit) {
	from, start := u.from, u.start
	chars, at := 0, from
	blankAt := 0 // end of the last blank line in the part, as a byte
	blankChars := 0
	for at < u.to {
		end := u.to
		if i := strings.IndexByte(s.t.Content[at:u.to], '\n'); i >= 0 {
			end = at + i + 1
		}
		line := s.t.Content[at:end]
		n := utf8.RuneCountInString(line)
		if strings.TrimSpace(line) == "" && chars > 0 {
			blankAt, blankChars = end, chars+n
		}
		if chars+n > s.size.target && chars > 0 {
			if blankChars > s.size.target/2 {
				from, start = s.part(u, from, start, blankAt)
				at, chars, blankAt, blankChars = blankAt, 0, 0, 0
				continue
			}
			from, start = s.part(u, from, start, at)
			chars, blankAt, blankChars = 0, 0, 0
		}
		chars += n
		at = end
	}
	s.part(u, from, start, u.to)
}

// cutWords cuts what is too long and has no boundary that means anything: at a
// space, else between two characters as a reader sees them.
func (s *splitter) cutWords(u unit) {
	from, start := u.from, u.start
	for {
		text := s.t.Content[from:u.to]
		if utf8.RuneCountInString(text[:min(len(text), utf8.UTFMax*s.size.target)]) <= s.size.target && len(text) <= utf8.UTFMax*s.size.target {
			break
		}
		end := 0
		for n := 0; n < s.size.target; n++ {
			_, size := utf8.DecodeRuneInString(text[end:])
			end += size
		}
		if i := strings.LastIndexAny(text[:end], " \t\r\n"); i > end/2 {
			end = i + 1
		} else {
			end = wholeCharacter(text, end)
		}
		p := s.trimmed(unit{from: from, to: from + end, start: start, kind: u.kind, lead: u.lead})
		if p.from < p.to {
			s.add(p)
		}
		start += utf8.RuneCountInString(text[:end])
		from += end
	}
	if p := s.trimmed(unit{from: from, to: u.to, start: start, kind: u.kind, lead: u.lead}); p.from < p.to {
		s.add(p)
	}
}

// wholeCharacter moves a cut back to between two characters as a reader sees
// them. A character that is itself very long is cut.
func wholeCharacter(text string, end int) int {
	from := max(0, end-64)
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	it := graphemes.FromString(text[from:min(len(text), end+64)])
	last := 0
	for it.Next() {
		if from+it.End() > end {
			break
		}
		last = it.End()
	}
	if last == 0 {
		return end
	}
	return from + last
}

// add puts a unit into the piece being filled, or begins another with it.
func (s *splitter) add(u unit) {
	if !s.filling {
		s.begin(u)
		return
	}
	total := u.end - s.cur.start
	follows := s.introduces(u.kind)
	switch {
	case total <= s.size.target:
		s.join(u)
	case s.cur.end-s.cur.start < s.size.small && total <= s.size.whole,
		follows && s.intro.from == s.cur.from && total <= s.size.hard:
		s.join(u)
	case follows && u.end-s.intro.start <= s.size.hard:
		// What introduces u goes with it.
		intro := s.intro
		s.cur.to, s.cur.end = s.beforeIntro(intro)
		s.flush()
		s.begin(intro)
		s.join(u)
	default:
		s.flush()
		s.begin(u)
	}
}

// beforeIntro gives where the piece ends without its last unit.
func (s *splitter) beforeIntro(intro unit) (to, end int) {
	p := s.trimmed(unit{from: s.cur.from, to: intro.from, start: s.cur.start})
	return p.to, p.end
}

func (s *splitter) begin(u unit) {
	lead := u.lead
	if lead.to > 0 && lead.from >= u.from {
		lead = span{} // it is the header itself
	}
	if lead == (span{}) && u.kind != blockParagraph && s.holding && s.leads.to > 0 {
		lead = s.leads
	}
	s.cur = piece{from: u.from, to: u.to, start: u.start, end: u.end, heading: s.heading, page: s.page, lead: lead}
	s.filling = true
	s.remember(u)
}

func (s *splitter) join(u unit) {
	s.cur.to, s.cur.end = u.to, u.end
	s.remember(u)
}

// remember keeps what may introduce the next unit.
func (s *splitter) remember(u unit) {
	short := u.end-u.start <= leadChars
	switch u.kind {
	case blockParagraph:
		s.hasIntro, s.intro, s.leads = short, u, span{}
		if short {
			s.leads = span{u.from, u.to}
		}
	case blockItem:
		s.hasIntro, s.intro = short, u
	default:
		s.hasIntro = false
	}
}

// introduces says that the last unit introduces one of that kind: a paragraph a
// list, a table or code, an item its code.
func (s *splitter) introduces(kind blockKind) bool {
	return s.hasIntro && (kind == blockCode || kind != blockParagraph && s.intro.kind == blockParagraph)
}

// flush ends the piece being filled. A small one is joined to the one before.
func (s *splitter) flush() {
	if !s.filling {
		return
	}
	s.filling = false
	if s.cur.from == s.cur.to {
		return
	}
	if s.holding && s.cur.end-s.cur.start < s.size.small && s.cur.end-s.held.start <= s.size.whole {
		s.held.to, s.held.end = s.cur.to, s.cur.end
		return
	}
	s.release()
	s.held, s.holding = s.cur, true
}

func (s *splitter) release() {
	if s.holding {
		s.emit(s.held)
		s.holding = false
	}
}

// rest ends everything that is open, where a page or a section does.
func (s *splitter) rest() {
	s.close()
	s.flush()
	s.release()
	s.hasIntro, s.leads, s.header = false, span{}, span{}
}

// section ends a section; the next begins with a heading of that level, 0 at the
// end. A heading with nothing under it is a piece by itself.
func (s *splitter) section(level int) {
	s.rest()
	if s.title.to > 0 && level <= s.headings[s.heading].Level {
		u := s.trimmed(unit{from: s.title.from, to: s.title.to, start: s.titleAt})
		if u.end-u.start > s.size.hard {
			s.cutWords(u)
			s.rest()
		} else {
			s.emit(piece{from: u.from, to: u.to, start: u.start, end: u.end, heading: s.heading, page: s.page})
		}
	}
	s.title = span{}
}
