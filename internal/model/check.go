package model

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// check gives those sentences that hold, and says how many do not.
func (d draft) check(question string, passages []passage, hold holder) (good draft, failed int) {
	good.Answered = d.Answered
	sources := make(map[int]*source, len(passages))
	for _, p := range passages {
		sources[p.N] = sourceOf(p)
	}
	question = spelled(question)
	for _, s := range d.Sentences {
		if holds(s, question, sources) && s.supported(question, passages, hold) {
			good.Sentences = append(good.Sentences, s)
		} else {
			failed++
		}
	}
	return good, failed
}

// source is a passage as sentences are held against it.
type source struct {
	written string // as it stands on the page, its heading and what introduces it
	read    string // the same without the signs of Markdown
	numbers map[string]bool
	dates   map[monthDate]bool
}

func sourceOf(p passage) *source {
	s := &source{numbers: make(map[string]bool), dates: make(map[monthDate]bool)}
	// The parts do not run into each other: no quotation reaches from one to the next.
	s.written = strings.Join([]string{spelled(p.Text), spelled(p.Heading), spelled(p.Before)}, " \x00 ")
	s.read = strings.Join([]string{spelled(unmarked(p.Text)), spelled(unmarked(p.Heading)), spelled(unmarked(p.Before))}, " \x00 ")
	for _, text := range []string{s.written, s.read} {
		for _, n := range numbersIn(text) {
			s.numbers[n], s.numbers[ungrouped(n)] = true, true
			for part := range strings.FieldsSeq(n) {
				s.numbers[part] = true
			}
		}
		for _, d := range monthDatesIn(text) {
			s.dates[d] = true
		}
	}
	return s
}

// has says that a text stands in the passage, as words of their own.
func (s *source) has(text string) bool { return stands(s.written, text) || stands(s.read, text) }

// holds says that nothing in a sentence that can be checked is other than in the
// passages that it cites.
func holds(s sentence, question string, sources map[int]*source) bool {
	var cited []*source
	for _, n := range s.Cites {
		if sources[n] == nil {
			return false
		}
		cited = append(cited, sources[n])
	}
	text := spelled(s.Text)
	if len(cited) == 0 || text == "" || utf8.RuneCountInString(text) > sentenceMax || strings.ContainsRune(text, utf8.RuneError) {
		return false
	}
	in := func(part string) bool { return slices.ContainsFunc(cited, func(c *source) bool { return c.has(part) }) }
	quotes, rest, ok := quotesIn(text)
	if !ok || strings.Contains(text, "``") || !plain(rest, in) { // two together begin another kind of code
		return false
	}
	for _, q := range quotes {
		if !quoted(q, question, cited) {
			return false
		}
	}
	without := webAddress.ReplaceAllStringFunc(unemphasised(text), func(found string) string {
		at := strings.TrimLeft(strings.TrimRight(found, addressEnd), " (")
		if !slices.ContainsFunc(cited, func(c *source) bool { return hasAddress(c.written, at) || hasAddress(c.read, at) }) {
			ok = false
		}
		return " "
	})
	if !ok {
		return false
	}
	for _, n := range numbersIn(without) {
		if !slices.ContainsFunc(cited, func(c *source) bool { return c.hasNumber(n) }) {
			return false
		}
	}
	for _, d := range monthDatesIn(without) {
		if !slices.ContainsFunc(cited, func(c *source) bool { return c.dates[d] }) {
			return false
		}
	}
	for _, d := range numericDate.FindAllString(without, -1) {
		if !in(d) {
			return false
		}
	}
	for _, name := range namesIn(without) {
		if !in(name) {
			return false
		}
	}
	return true
}

// markup is what a reader of Markdown or HTML acts on.
var markup = regexp.MustCompile(`!\[|\]\(|\]\[|\]:|<[A-Za-z/!?]`)

// entity is a character of HTML written another way.
var entity = regexp.MustCompile(`&(?:#[0-9]+|#[xX][0-9A-Fa-f]+|[A-Za-z][A-Za-z0-9]*);`)

// plain says that a text is plain. Markup that is spoken of goes between
// backticks, where it has to stand in a passage.
func plain(text string, in func(string) bool) bool {
	if markup.MatchString(text) {
		return false
	}
	for _, e := range entity.FindAllString(text, -1) {
		if !in(e) {
			return false
		}
	}
	return true
}

// quotation is what stands between marks.
type quotation struct {
	text string
	code bool // between backticks
}

// closing gives, for each mark that begins a quotation, those that end it.
var closing = map[rune]string{
	'"': `"`, '`': "`", '«': "»", '»': "«", '„': `"`, '‹': "›", '›': "‹", '「': "」", '『': "』", '《': "》", '〈': "〉",
}

// quotesIn takes a spelled text apart into its quotations and the rest. It is not
// ok when one does not end. A mark behind a digit is one of inches or seconds.
func quotesIn(text string) (quotes []quotation, rest string, ok bool) {
	var b strings.Builder
	before := ' '
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		ends := closing[r]
		if r == '\'' && !letterOrDigit(before) {
			// It begins a quotation when one ends before the words do; else it is an
			// apostrophe, as in 'tis.
			if end := singleEnd(text[i+1:]); end > 0 {
				quotes = append(quotes, quotation{text: text[i+1 : i+1+end]})
				b.WriteString(text[i+1 : i+1+end])
				i += end + 2
				before = '\''
				continue
			}
		}
		if end := emphasis(text[i:], before); end > 0 {
			quotes = append(quotes, quotation{text: text[i+size : i+end]})
			b.WriteString(" " + text[i+size:i+end] + " ")
			i += end + size
			before = r
			continue
		}
		if ends == "" || r == '"' && unicode.IsDigit(before) || (r == '»' || r == '›') && letterOrDigit(before) {
			if r == '»' || r == '›' || r == '」' || r == '』' {
				return nil, "", false // an end without a beginning
			}
			b.WriteString(text[i : i+size])
			i, before = i+size, r
			continue
		}
		end := strings.IndexAny(text[i+size:], ends)
		if end < 0 {
			return nil, "", false
		}
		in := text[i+size : i+size+end]
		_, after := utf8.DecodeRuneInString(text[i+size+end:])
		quotes = append(quotes, quotation{text: in, code: r == '`'})
		if r != '`' {
			b.WriteString(" " + in + " ")
		}
		i += size + end + after
		before = r
	}
	return quotes, b.String(), true
}

// emphasis finds where what begins with a sign of emphasis ends, 0: it is none, as
// in 2 * 3 or snake_case. Words that are set apart are a quotation too.
func emphasis(text string, before rune) int {
	sign, size := utf8.DecodeRuneInString(text)
	if !strings.ContainsRune("*_~^", sign) || letterOrDigit(before) {
		return 0
	}
	first, _ := utf8.DecodeRuneInString(text[size:])
	if unicode.IsSpace(first) || first == sign || first == utf8.RuneError {
		return 0
	}
	for i := size + 1; i < len(text); i++ {
		if text[i] != text[0] {
			continue
		}
		last, _ := utf8.DecodeLastRuneInString(text[:i])
		after, _ := utf8.DecodeRuneInString(text[i+1:])
		if !unicode.IsSpace(last) && !letterOrDigit(after) && last != sign {
			return i
		}
	}
	return 0
}

// unemphasised gives a text without its signs of emphasis.
func unemphasised(text string) string {
	before := ' '
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if end := emphasis(text[i:], before); end > 0 {
			text = text[:i] + " " + text[i+size:i+end] + " " + text[i+end+size:]
		}
		i, before = i+size, r
	}
	return text
}

// singleEnd finds the mark that ends what a single quotation mark has begun, -1
// or 0 when there is none.
func singleEnd(text string) int {
	for i := 0; i < len(text); i++ {
		if text[i] != '\'' {
			continue
		}
		next, _ := utf8.DecodeRuneInString(text[i+1:])
		if i+1 == len(text) || !letterOrDigit(next) {
			return i
		}
	}
	return -1
}

// fewWords is how many words may stand between quotation marks because they are
// the question's.
const fewWords = 3

// quoted says that a quotation stands in one of the passages, to the letter but
// for white space. Its parts around an ellipsis stand there in order. Final
// punctuation may be the sentence's own, and the first letter may be a capital. A
// few words may be those of the question.
func quoted(q quotation, question string, cited []*source) bool {
	text := strings.TrimSpace(q.text)
	if text == "" {
		return true
	}
	if !q.code && len(strings.Fields(text)) <= fewWords && stands(question, strings.TrimRight(text, ".,;:!?")) {
		return true
	}
	parts := ellipsis.Split(text, -1)
	return slices.ContainsFunc(cited, func(c *source) bool {
		return inTurn(c.written, parts) || inTurn(c.read, parts)
	})
}

var ellipsis = regexp.MustCompile(`\s*[\[(]?(?:…|\.\.\.)[\])]?\s*`)

// inTurn says that the parts stand in a text one behind the other.
func inTurn(text string, parts []string) bool {
	at, all := 0, ""
	for i, p := range parts {
		if i == len(parts)-1 {
			p = strings.TrimRight(p, ".,;:!?")
		}
		if p = strings.TrimSpace(p); p == "" {
			continue
		}
		found := standsAt(text[at:], p)
		if found < 0 && i == 0 {
			first, size := utf8.DecodeRuneInString(p)
			other := unicode.ToLower(first)
			if other == first {
				other = unicode.ToUpper(first)
			}
			p = string(other) + p[size:]
			found = standsAt(text[at:], p)
		}
		if found < 0 {
			return false
		}
		at, all = at+found+len(p), all+p
	}
	return all != ""
}

// stands says that a part stands in a text, as words of its own.
func stands(text, part string) bool { return part != "" && standsAt(text, part) >= 0 }

// standsAt says where, -1: nowhere. Inside of a longer word it does not stand,
// and a name with dots or slashes does not stand inside of a longer one.
func standsAt(text, part string) int {
	first, _ := utf8.DecodeRuneInString(part)
	last, _ := utf8.DecodeLastRuneInString(part)
	name := strings.ContainsAny(part, "./@") && !strings.Contains(part, " ")
	for from := 0; ; {
		i := strings.Index(text[from:], part)
		if i < 0 {
			return -1
		}
		i += from
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		after, size := utf8.DecodeRuneInString(text[i+len(part):])
		beyond, _ := utf8.DecodeRuneInString(text[i+len(part)+size:])
		switch {
		case i > 0 && inWord(first) && inWord(before):
		case size > 0 && inWord(last) && inWord(after):
		case name && i > 0 && inWord(first) && strings.ContainsRune("./-", before):
		case name && inWord(last) && strings.ContainsRune("./@-", after) && size > 0 && letterOrDigit(beyond):
		default:
			return i
		}
		from = i + 1
		for from < len(text) && !utf8.RuneStart(text[from]) {
			from++
		}
	}
}

func letterOrDigit(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// inWord says that r is of a script that writes spaces between words.
func inWord(r rune) bool {
	return (letterOrDigit(r) || r == '_') && !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan)
}

// webAddress finds what a reader could follow. A bare host is a name (namesIn).
var webAddress = regexp.MustCompile(`(?i)[a-z][a-z0-9+.-]*://[^\s<>"«»]+|\bwww\.[^\s<>"«»]+|\b(?:mailto|javascript|data|vbscript|tel|file|blob|intent|sms):[^\s<>"«»]+|(?:^|[ (])//[a-z0-9][^\s<>"«»]*|(?:^|[ (])\\\\[a-z0-9][^\s<>"«»]*`)

// addressEnd is what ends the sentence rather than the address.
const addressEnd = ".,;:!?)]}'*_`"

// hasAddress says that an address stands in a text, and not as the beginning of
// a longer one.
func hasAddress(text, at string) bool {
	at = strings.TrimRight(at, "/")
	for from := 0; at != ""; {
		i := strings.Index(text[from:], at)
		if i < 0 {
			return false
		}
		i += from
		rest := strings.TrimPrefix(text[i+len(at):], "/")
		next, size := utf8.DecodeRuneInString(rest)
		beyond, _ := utf8.DecodeRuneInString(rest[size:])
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		goesOn := size > 0 && (letterOrDigit(next) || strings.ContainsRune("/?#&=%+~@$_-", next) || strings.ContainsRune(".:,;!'*", next) && letterOrDigit(beyond))
		if !goesOn && (i == 0 || !letterOrDigit(before)) {
			return true
		}
		from = i + len(at)
	}
	return false
}

// number finds numbers: 30, 2.4.1, 1,000, 10:30, 10 000.
var number = regexp.MustCompile(`[0-9]{1,3}(?: [0-9]{3})+\b|[0-9]+(?:[.,:'][0-9]+)*`)

func numbersIn(text string) []string { return number.FindAllString(text, -1) }

// grouped is a number whose digits stand in groups of three.
var grouped = regexp.MustCompile(`^[0-9]{1,3}(?:(?:,[0-9]{3})+|(?:'[0-9]{3})+|(?: [0-9]{3})+|(?:\.[0-9]{3}){2,})$`)

// ungrouped gives a number without what groups its digits: 1,000 is 1000.
func ungrouped(n string) string {
	if grouped.MatchString(n) {
		return strings.NewReplacer(",", "", "'", "", " ", "", ".", "").Replace(n)
	}
	return n
}

// hasNumber says that a number stands in the passage, however its digits are
// grouped. What looks like groups of three may be numbers side by side, and then
// each of them has to.
func (s *source) hasNumber(n string) bool {
	if s.numbers[n] || s.numbers[ungrouped(n)] {
		return true
	}
	parts := strings.Fields(n)
	return len(parts) > 1 && !slices.ContainsFunc(parts, func(p string) bool { return !s.numbers[p] })
}

// numericDate is a date in numbers; one with dots is a number.
var numericDate = regexp.MustCompile(`\b[0-9]{1,4}-[0-9]{1,2}-[0-9]{1,4}\b|\b[0-9]{1,4}/[0-9]{1,2}/[0-9]{1,4}\b`)

// monthDate is a month with the day or the year that stands beside it.
type monthDate struct {
	month  int
	number string
}

// monthNames lists the names of the twelve months in one language each.
var monthNames = []string{
	"january february march april may june july august september october november december",
	"jan feb mar apr may jun jul aug sep oct nov dec",
	"januar februar märz april mai juni juli august september oktober november dezember",
	"janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
	"enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
	"gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
	"janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
	"januari februari maart april mei juni juli augustus september oktober november december",
	"января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
}

var months = monthsByName()

func monthsByName() map[string]int {
	out := map[string]int{"sept": 9}
	for _, names := range monthNames {
		for i, name := range strings.Fields(names) {
			out[name] = i + 1
		}
	}
	return out
}

// wordOrNumber finds what a date in words is made of.
var wordOrNumber = regexp.MustCompile(`[0-9]+|\p{L}+`)

// monthDatesIn finds dates in words: 5 May 2024, May 5, 2024, 5. Mai, 5 de mayo.
func monthDatesIn(text string) []monthDate {
	var out []monthDate
	var words []string
	for _, w := range wordOrNumber.FindAllString(strings.ToLower(text), -1) {
		switch w {
		case "st", "nd", "rd", "th", "of", "de", "del", "er", "the":
		default:
			words = append(words, w)
		}
	}
	isNumber := func(i int) bool { return i >= 0 && i < len(words) && words[i][0] >= '0' && words[i][0] <= '9' }
	for i, w := range words {
		month := months[w]
		if month == 0 {
			continue
		}
		if isNumber(i - 1) {
			out = append(out, monthDate{month, words[i-1]})
		}
		if isNumber(i + 1) {
			out = append(out, monthDate{month, words[i+1]})
			if isNumber(i+2) && len(words[i+2]) == 4 {
				out = append(out, monthDate{month, words[i+2]})
			}
		}
	}
	return out
}

// The names that are checked: of code, files, hosts, flags, products. A plain
// word is none.
var (
	camel     = regexp.MustCompile(`\p{Ll}\p{Lu}|\p{Lu}{2}\p{Ll}{2}`)
	dotted    = regexp.MustCompile(`[\p{L}\p{Nd}]{2}\.[\p{L}\p{Nd}]{2}|[\p{L}_]\.[\p{L}_]{2}|[\p{L}\p{Nd}]\.[\p{L}]{1,4}$`)
	mixed     = regexp.MustCompile(`\p{L}[0-9]|[0-9]\p{L}{4}|[0-9]\p{L}+[0-9]`)
	coded     = regexp.MustCompile(`^\p{Lu}{2,}-[0-9]`)
	abbreviat = regexp.MustCompile(`^(?:\p{L}\.)+\p{L}?$`)
	flagged   = regexp.MustCompile(`^--?[A-Za-z]`)
	ordinal   = regexp.MustCompile(`^[0-9]+(?:st|nd|rd|th|er|ère|re|e|ème|te|ten|er|º|ª|-\p{L}+)$`)
)

const nameTrim = ".,;:!?()[]{}\"'…“”«»„`*<>|=。、，；：！？（）「」『』"

// namesIn finds the names in a text.
func namesIn(text string) []string {
	var out []string
	for w := range strings.FieldsSeq(text) {
		name := strings.TrimRight(strings.TrimLeft(w, nameTrim), nameTrim)
		name = strings.TrimSuffix(strings.TrimSuffix(name, "'s"), "'")
		if name == "" || ordinal.MatchString(name) || abbreviat.MatchString(name) || !isName(name) {
			continue
		}
		out = append(out, name)
	}
	return out
}

func isName(w string) bool {
	if i := strings.IndexByte(w, '/'); i >= 0 {
		// "and/or" is none; "net/http" is looked for as words too, since the passage may
		// have them apart.
		return i == 0 || strings.Count(w, "/") > 1 || strings.ContainsAny(w, "._~@:0123456789") || camel.MatchString(w)
	}
	switch {
	case strings.ContainsRune(w, '_') && len(w) > 1, strings.Contains(w, "::"), flagged.MatchString(w), strings.HasPrefix(w, "~/"):
		return true
	case strings.ContainsRune(w, '@') && len(w) > 2, strings.ContainsRune(w, '\\'):
		return true
	case coded.MatchString(w), dotted.MatchString(w):
		return true
	}
	for part := range strings.SplitSeq(w, "-") {
		if camel.MatchString(part) || mixed.MatchString(part) {
			return true
		}
	}
	return false
}

// spelled gives a text in the spelling in which texts are compared: white space
// as one space, quotation marks, apostrophes and hyphens of one kind, digits as
// ASCII, letters and signs in their plain form (NFKC: full-width, circled, raised),
// and without what does not show.
func spelled(text string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '’', '‘', 'ʼ', '‛', '＇', '‚', '❛', '❜', '❟', '´':
			return '\''
		case '“', '”', '‟', '＂', '„', '❝', '❞', '❠', '〝', '〞', '〟', '⹂', 'ˮ', '″', '🙶', '🙷', '🙸':
			return '"'
		case '‐', '‑', '−', '–', '—':
			return '-'
		}
		for _, zero := range zeros {
			if r >= zero && r <= zero+9 {
				return '0' + r - zero
			}
		}
		return r
	}, clean(norm.NFKC.String(accents.Replace(text))))
}

// accents are signs that are used as quotation marks, and that NFKC makes something
// else of.
var accents = strings.NewReplacer("´", "'", "″", `"`, "′", "'", "‶", `"`, "‵", "'")

// zeros are the zeros of the digits that are read as ASCII's: Arabic, Persian,
// Devanagari, Bengali, Thai.
var zeros = []rune{'٠', '۰', '०', '০', '๐'}

// unmarked gives a text of Markdown as it is read: without escapes, emphasis and
// the destinations of links.
func unmarked(text string) string {
	text = link.ReplaceAllString(text, "$1")
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\\' && i+1 < len(text) && text[i+1] > ' ' && text[i+1] < 0x7f && !letterOrDigit(rune(text[i+1])):
			i++
			b.WriteByte(text[i])
		case c == '*' || c == '`':
		case c == '_' && (i == 0 || !letterOrDigit(rune(text[i-1])) && text[i-1] < 0x80 || i+1 == len(text) || !letterOrDigit(rune(text[i+1])) && text[i+1] < 0x80 && text[i+1] != '_'):
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// link is a link or an image with its destination.
var link = regexp.MustCompile(`!?\[([^\[\]]*)\]\([^()\s]*(?: "[^"]*")?\)`)
