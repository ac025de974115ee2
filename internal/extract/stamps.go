package extract

import (
	"net/url"
	"strings"
	"time"
	"unicode"
)

// firstYear is before there were pages. What a page dates before it is not the page.
const firstYear = 1990

// label is what words say of the date or the name beside them.
type label uint8

const (
	labelNone label = iota
	labelPublished
	labelChanged
	labelOther // of something else than the page
)

// labelOf reads the last words that say what the date behind them is.
func labelOf(s string) label {
	s = strings.ToLower(s)
	out, at := labelNone, -1
	for _, l := range [...]struct {
		is    label
		words []string
	}{
		{labelPublished, publishedWords()},
		{labelChanged, changedWords()},
		{labelOther, otherWords()},
	} {
		for _, w := range l.words {
			if i := lastWord(s, w); i > at {
				out, at = l.is, i
			}
		}
	}
	return out
}

// lastWord finds the last place of a word that begins a word of s.
func lastWord(s, w string) int {
	for i := strings.LastIndex(s, w); i >= 0; i = strings.LastIndex(s[:i], w) {
		if i == 0 || w[0] >= 0x80 || !isLetterByte(s[i-1]) {
			return i + len(w)
		}
	}
	return -1
}

func isLetterByte(c byte) bool { return c >= 'a' && c <= 'z' || c >= 0x80 }

// publishedWords stand before the date on which a page was published. The
// beginning of a word is enough.
func publishedWords() []string {
	return []string{
		"publish", "posted", "date posted", "created", "written", "submitted", "asked", "started", "released", "first seen", "publication",
		"veröffentlicht", "erschienen", "erstellt", "verfasst", "geschrieben", "eingestellt", "publié", "publie", "paru", "posté", "mis en ligne", "publicad", "publicación", "publicação",
		"pubblicat", "gepubliceerd", "geplaatst", "opublikowan", "data publikacji", "dodano", "опубликован", "дата публикации", "размещен", "publicerad", "publicerat",
		"udgivet", "offentliggjort", "publisert", "publikováno", "yayın", "公開", "投稿", "掲載", "発表", "发布", "发表", "發布", "發表", "刊登", "게시", "작성", "등록", "입력",
	}
}

// changedWords stand before the date on which a page was changed.
func changedWords() []string {
	return []string{
		"update", "modified", "revised", "edited", "last edit", "reviewed", "last review", "fact checked", "fact-checked", "last change", "changed",
		"aktualisier", "geändert", "zuletzt", "letzte änderung", "bearbeitet", "mis à jour", "mise à jour", "modifié", "actualizad", "última actualización", "modificad", "atualizad",
		"aggiornat", "ultimo aggiornamento", "modificat", "bijgewerkt", "gewijzigd", "zaktualizowan", "aktualizacja", "обновлен", "обновлён", "изменен", "изменён",
		"uppdaterad", "opdateret", "oppdatert", "更新", "修改", "修订", "修訂", "수정", "업데이트",
	}
}

// otherWords stand before dates of something else.
func otherWords() []string {
	return []string{
		"joined", "join date", "registered", "member since", "since", "copyright", "©", "(c)", "as of", "expires", "expiry", "valid", "until", "through", "deadline", "due",
		"last activity", "last post", "last seen", "last visit", "last reply", "latest", "accessed", "retrieved", "archived", "born", "died", "effective", "starts", "begins",
		"ends", "next", "founded", "established", "event", "from", "between", "before", "after", "by the", "filed", "hearing", "sale", "check-in", "arrival", "delivery", "available",
		"version", "release date", "beigetreten", "registriert", "gültig", "stand:", "inscrit", "membre depuis", "registrad", "iscritto", "lid sinds", "dołączył",
		"зарегистрирован", "регистрация", "登録", "注册", "가입",
	}
}

// stamp is a date that a reader sees in a line.
type stamp struct {
	date  string
	line  int // its number
	is    label
	bare  bool // there is little in the line beside it
	names bool // markup says that it is a date of the page
}

// maxStamps bounds how many dates of a page are looked at.
const maxStamps = 300

// stampsIn finds the dates in lines that could be the page's own.
func stampsIn(lines []line, order rune) []stamp {
	var out []stamp
	for i := range lines {
		l := &lines[i]
		if len(out) >= maxStamps {
			break
		}
		if l.heading == 1 || l.says&namesOther != 0 || l.card || l.machine == "" && !hasYear(l.text) {
			continue
		}
		out = append(out, l.stamps(i, order, labelBefore(lines, i))...)
	}
	return out
}

// labelBefore gives what the line before another says of its date: a label in
// a cell of its own.
func labelBefore(lines []line, i int) label {
	if i == 0 {
		return labelNone
	}
	before := &lines[i-1]
	if len(before.text) > 40 || hasYear(before.text) || before.prose != lines[i].prose {
		return labelNone
	}
	return labelOf(before.text)
}

// stamps gives the dates of one line.
func (l *line) stamps(number int, order rune, before label) []stamp {
	found := datesIn(l.text, order)
	names := l.says&namesDate != 0 || l.machine != ""
	if len(found) == 0 {
		if l.machine == "" || len(l.text) > 80 {
			return nil
		}
		is := labelOf(l.text)
		if is == labelNone {
			is = before
		}
		return []stamp{{l.machine, number, l.changed(is), true, true}}
	}
	rest, from := 0, 0
	var out []stamp
	for k, f := range found {
		is := labelOf(l.text[from:f.start])
		if is == labelNone && k == 0 {
			is = before
		}
		if is == labelNone && k == len(found)-1 {
			is = labelBehind(l.text[f.end:])
		}
		rest += countWords(l.text[from:f.start])
		date := f.date
		if k == 0 && sameDay(l.machine, date) {
			date = l.machine
		}
		out = append(out, stamp{date, number, l.changed(is), false, names})
		from = f.end
	}
	rest += countWords(l.text[from:])
	for k := range out {
		out[k].bare = rest <= 9
	}
	if rest > 16 && !(out[0].is == labelPublished && found[0].start < 40) {
		return nil // a sentence
	}
	return out
}

// changed makes a date without a label one of a change where a class says so.
func (l *line) changed(is label) label {
	if is == labelNone && l.says&namesChange != 0 {
		return labelChanged
	}
	return is
}

// labelBehind reads a label that stands behind a date, as in Chinese.
func labelBehind(s string) label {
	return labelOf(cut(strings.TrimSpace(s), 24))
}

// sameDay says whether a date for machines is the one that readers see, or a
// moment that is the same day in another zone.
func sameDay(machine, date string) bool {
	if machine == "" {
		return false
	}
	a, err1 := time.Parse(time.DateOnly, machine[:len(time.DateOnly)])
	b, err2 := time.Parse(time.DateOnly, date)
	return err1 == nil && err2 == nil && a.Sub(b).Abs() <= 24*time.Hour
}

// hasYear says whether there are four digits that can be a year.
func hasYear(s string) bool {
	for i := 0; i+4 <= len(s); i++ {
		if (s[i] == '1' && s[i+1] == '9' || s[i] == '2' && s[i+1] == '0') && isDigit(s[i+2]) && isDigit(s[i+3]) {
			return true
		}
	}
	return false
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func countWords(s string) int {
	n := 0
	for range strings.FieldsFuncSeq(s, func(r rune) bool { return !unicode.IsLetter(r) }) {
		n++
	}
	return n
}

// shown is what the visible lines of a page say of its dates, the surest first.
type shown struct {
	published []string // said to be of publication, beside the title
	beside    []string // without a word, beside the title
	elsewhere []string // said to be of publication, or named so by markup, in another place
	changed   []string // said to be of a change
}

// How far from the title its date may stand.
const (
	linesAbove = 8
	linesBelow = 25
	proseBelow = 500 // an introduction
)

// shownDates looks for the dates of a page that readers see.
func (m *metadata) shownDates() shown {
	var out shown
	if m.isProduct() || m.address != nil && m.address.Host != "" && strings.Trim(m.address.Path, "/") == "" && m.address.RawQuery == "" {
		return out // a thing for sale and the first page of a site have no date of their own
	}
	title := m.titleLine()
	stamps := stampsIn(m.lines, m.dateOrder())
	if m.isThread(m.address) {
		return m.firstPost(stamps, title)
	}
	alike := map[uint64]map[string]bool{}
	for _, s := range stamps {
		like := m.lines[s.line].like
		if alike[like] == nil {
			alike[like] = map[string]bool{}
		}
		alike[like][s.date] = true
	}
	var own role
	if title >= 0 {
		own = m.lines[title].away
	}
	for _, s := range stamps {
		l := &m.lines[s.line]
		if l.away&^own != 0 || s.is == labelOther {
			continue
		}
		near := title >= 0 && m.near(title, s.line)
		many := len(alike[l.like]) >= 3
		switch {
		case s.is == labelChanged:
			if near {
				out.changed = append(out.changed, s.date)
			}
		case many:
		case near && s.is == labelPublished:
			out.published = append(out.published, s.date)
		case near && (s.names || s.bare):
			out.beside = append(out.beside, s.date)
		case s.is == labelPublished && s.bare, s.names && s.bare && title >= 0:
			out.elsewhere = append(out.elsewhere, s.date)
		}
	}
	return out
}

// near says whether a line stands beside the title.
func (m *metadata) near(title, at int) bool {
	prose := m.lines[at].prose - m.lines[title].prose
	if at < title {
		return title-at <= linesAbove && prose == 0
	}
	return at-title <= linesBelow && prose <= proseBelow
}

// firstPost gives the date of the first post of a thread: the first one behind
// its title that is not of who wrote it, or of the last answer.
func (m *metadata) firstPost(stamps []stamp, title int) shown {
	for _, s := range stamps {
		l := &m.lines[s.line]
		// A board can put the date and the writer above the title of a post.
		if s.line < title-linesAbove || s.is == labelOther || s.is == labelChanged || !s.bare || l.away&^(roleComments|roleRelated) != 0 {
			continue
		}
		return shown{beside: []string{s.date}}
	}
	return shown{}
}

// titleLine gives the number of the line that is the title, or -1.
func (m *metadata) titleLine() int {
	titles := []string{}
	for _, t := range []string{m.first("og:title"), m.title, m.first("twitter:title")} {
		if t = oneLine(t, maxTitle); t != "" {
			titles = append(titles, t)
		}
	}
	best, rank := -1, 0
	for i := range m.lines {
		l := &m.lines[i]
		if l.away&(roleNav|roleFooter) != 0 || l.card {
			continue
		}
		if r := titleRank(l, titles); r > rank {
			best, rank = i, r
		}
	}
	return best
}

// titleRank says how much a line is the title of the page.
func titleRank(l *line, titles []string) int {
	if l.heading == 0 && len(l.text) < 12 {
		return 0
	}
	for _, t := range titles {
		if !isSegment(t, l.text) {
			continue
		}
		switch {
		case l.heading == 1:
			return 6
		case l.heading > 0 && l.away&(roleSide|roleRelated) == 0:
			return 5
		case l.away == 0 && len(l.text) >= 20:
			return 2
		}
	}
	if l.heading != 1 {
		return 0
	}
	if likeOne(l.text, titles) {
		return 4
	}
	return 1
}

// dateOrder says how numbers are read that are a date in two ways: by the
// language of the page, where that leaves no doubt.
func (m *metadata) dateOrder() rune {
	tag := m.language("")
	base, region, _ := strings.Cut(tag, "-")
	switch {
	case tag == "en-US":
		return 'm'
	case base == "en" && region == "", tag == "":
		return '?'
	case base == "zh", base == "ja", base == "ko", base == "hu":
		return '?'
	}
	return 'd'
}

// addressDate gives the day that a part of an address like /2024/03/12/ names.
func addressDate(u *url.URL) string {
	if u == nil {
		return ""
	}
	parts := strings.Split(cut(u.Path, 500), "/")
	for i := 0; i+2 < len(parts); i++ {
		if len(parts[i]) == 4 && len(parts[i+1]) <= 2 && len(parts[i+2]) <= 2 && hasYear(parts[i]) {
			if d := datesIn(strings.Join(parts[i:i+3], "-"), '?'); len(d) == 1 {
				return d[0].date
			}
		}
	}
	for _, p := range parts { // /2024-03-12-title
		if len(p) >= len(time.DateOnly) && hasYear(p[:4]) && (len(p) == len(time.DateOnly) || !isDigit(p[len(time.DateOnly)])) {
			if d := datesIn(p[:len(time.DateOnly)], '?'); len(d) == 1 {
				return d[0].date
			}
		}
	}
	return ""
}
