package digest

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"

	"sift.build/sift/internal/sift"
)

// Bounds on a question.
const (
	questionMax = 1000 // characters
	phrasesMax  = 8    // in quotation marks
	aspectsMax  = 6    // questions in one
	unitsMax    = 256  // words
)

// question is what was asked, taken apart.
type question struct {
	units   []asked
	terms   []term
	aspects int      // questions in one, 1 and more
	phrases []string // in quotation marks, as phraseForm gives them
	quoted  []string // the same as they were written
	tongues []tongue
	wants   wanted
}

// asked is one word of a question, or one character of a script without spaces.
type asked struct {
	text   string
	shown  string // as it was written, of a part the whole; "": nobody would look for it
	whole  string // the compound it is a part of
	aspect int
	weight float64
	pos    int
	name   bool
}

// surety is how much a word tells, beside others, of whether the question is
// answered: one that is so common that an answer may well be without it tells less,
// and a name more.
func (q *question) surety(i int) float64 {
	u := q.units[i]
	switch {
	case u.weight == gramWeight && u.shown == "":
		return gramWeight
	case u.name:
		return nameSurety
	case u.whole == "" && isCommon(u.text):
		return commonSurety
	}
	return 1
}

// names finds the names among the words of a question: what has digits, signs or
// capitals inside, and what begins with a capital, but at the beginning of a
// sentence, in German, or where most words do.
func (q *question) names(starts map[int]bool) {
	capitals := func(u asked) bool {
		r, _ := utf8.DecodeRuneInString(u.shown)
		return unicode.IsUpper(r)
	}
	most := 0
	for _, u := range q.units {
		if capitals(u) {
			most++
		}
	}
	told := 2*most <= len(q.units)+1 && !slices.Contains(q.tongues, "de")
	for i, u := range q.units {
		inside, last := false, rune(0)
		for _, r := range u.shown {
			inside = inside || last != 0 && unicode.IsUpper(r) || unicode.IsDigit(r) || strings.ContainsRune("_/.@:", r) || last == 0 && r == '-'
			last = r
		}
		q.units[i].name = inside || told && capitals(u) && !starts[u.pos]
	}
}

// term is one form under which words are looked for.
type term struct {
	key    string // folded
	kind   tokenKind
	weight float64
	stems  []string // of a word, for each language of the question
	units  []answer // the words that it answers to
}

// answer says how far a term answers to a word: 1 is wholly.
type answer struct {
	unit     int
	strength float64
}

// parseQuestion takes a question apart. The error is a Failure that says what to
// ask.
func parseQuestion(text, content, says string) (*question, error) {
	if strings.TrimSpace(text) == "" {
		return nil, sift.Fail(sift.CodeInvalid, "question is empty; ask what the page is to answer, in a sentence or a few words")
	}
	if n := utf8.RuneCountInString(text); n > questionMax {
		return nil, sift.Fail(sift.CodeInvalid, "question has %d characters, and may have %d; ask for one thing at a time", n, questionMax)
	}
	if !utf8.ValidString(text) {
		return nil, sift.Fail(sift.CodeInvalid, "question is not valid UTF-8")
	}
	q := &question{}
	q.tongues = questionLanguages(text, languageOf(content, says))
	text, kept := q.takePhrases(text)
	q.words(text, kept, false)
	if len(q.units) == 0 && len(q.phrases) > 0 {
		q.words(text, kept, true) // quoted as it is, even "to be or not to be" is a question
	}
	if len(q.units) == 0 {
		return nil, sift.Fail(sift.CodeInvalid, "question has no word to look for; name the thing that is asked about, as in \"how long are backups kept\"")
	}
	return q, nil
}

// takePhrases keeps what stands in quotation marks, which has to be in a passage
// to the letter, and what stands between backticks, of which every word counts.
// The text comes back with spaces for the marks; kept says for each byte whether
// the word there is kept though it is a stop word.
func (q *question) takePhrases(text string) (string, []span) {
	var kept []span
	b := []byte(text)
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		closing := closingQuote(r)
		if closing == "" {
			i += size
			continue
		}
		end := strings.IndexAny(text[i+size:], closing)
		if end < 0 {
			i += size
			continue
		}
		in := span{i + size, i + size + end}
		kept = append(kept, in)
		if phrase := phraseForm(text[in.from:in.to]); phrase != "" && r != '`' && len(q.phrases) < phrasesMax {
			q.phrases = append(q.phrases, phrase)
			q.quoted = append(q.quoted, strings.Join(strings.Fields(text[in.from:in.to]), " "))
		}
		_, after := utf8.DecodeRuneInString(text[in.to:])
		for j := i; j < in.from; j++ {
			b[j] = ' '
		}
		for j := in.to; j < in.to+after; j++ {
			b[j] = ' '
		}
		i = in.to + after
	}
	return string(b), kept
}

// closingQuote gives the signs that end what r begins; "" if it begins nothing.
// A single quotation mark is an apostrophe too often.
func closingQuote(r rune) string {
	switch r {
	case '"':
		return `"`
	case '`':
		return "`"
	case '“', '„', '”':
		return "”“\""
	case '«':
		return "»"
	case '»':
		return "«"
	case '「':
		return "」"
	case '『':
		return "』"
	}
	return ""
}

// phraseForm gives a text in the form in which phrases are compared: its letters
// and digits in lower case, one space for whatever stands between words.
func phraseForm(s string) string {
	var b strings.Builder
	gap := false
	for _, r := range foldUnicode(s) {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.M, r) {
			gap = true
			continue
		}
		if gap && b.Len() > 0 {
			b.WriteByte(' ')
		}
		gap = false
		b.WriteRune(r)
	}
	return b.String()
}

// hasPhrase says that form, made by phraseForm, has the phrase, as whole words
// where there are spaces between words.
func hasPhrase(form, phrase string) bool {
	for at := 0; ; {
		i := strings.Index(form[at:], phrase)
		if i < 0 {
			return false
		}
		i += at
		end := i + len(phrase)
		before, _ := utf8.DecodeLastRuneInString(form[:i])
		after, _ := utf8.DecodeRuneInString(form[end:])
		first, _ := utf8.DecodeRuneInString(phrase)
		last, _ := utf8.DecodeLastRuneInString(phrase)
		if (i == 0 || before == ' ' || unspaced(first)) && (end == len(form) || after == ' ' || unspaced(last)) {
			return true
		}
		_, size := utf8.DecodeRuneInString(form[i:])
		at = i + size
	}
}

// words reads the words of a question. all says that stop words count too.
func (q *question) words(text string, kept []span, all bool) {
	bounds := q.splitAspects(text)
	r := questionReader{q: q, text: text, byKey: make(map[string]int), seen: make(map[string]int), env: snowballstem.NewEnv("")}
	var tokens []token
	l := lexer{emit: func(t token) { tokens = append(tokens, t) }}
	l.run(blankGrams(text))
	wholes := make(map[int]token) // by the position of each word in them
	for _, t := range tokens {
		for i := range t.words {
			if w, ok := wholes[t.pos+i]; !ok || w.words < t.words {
				wholes[t.pos+i] = t
			}
		}
	}
	before := ""
	for _, t := range tokens {
		if len(q.units) >= unitsMax {
			break
		}
		measure := isMeasure(before, t.text)
		before = t.text
		r.aspect = 0
		for r.aspect < len(bounds) && t.at >= bounds[r.aspect] {
			r.aspect++
		}
		isKept := all || slices.ContainsFunc(kept, func(k span) bool { return k.from <= t.at && t.at < k.to })
		whole, in := wholes[t.pos]
		switch {
		case t.kind == tokenGram:
			r.pair(t)
		case t.kind == tokenWhole && t.words == 0:
			r.word(t, 1, 1) // the minor version of a number, say
		case t.kind == tokenWhole:
			r.compound(t)
		case in:
			if !isStop(t.text, q.tongues) {
				r.part(t, whole)
			}
		case isKept:
			r.word(t, 1, 1)
		case measure || isStop(t.text, q.tongues):
		case isLight(t.text):
			r.word(t, lightWeight, lightWeight)
		default:
			r.word(t, 1, 1)
		}
	}
	starts := map[int]bool{0: true}
	for i, t := range tokens {
		if i > 0 && strings.ContainsAny(text[min(tokens[i-1].end, t.at):t.at], ".?!:\n") {
			starts[t.pos] = true
		}
	}
	q.names(starts)
	var spoken []string
	for _, t := range tokens {
		if t.kind == tokenPart {
			spoken = append(spoken, t.text)
		}
	}
	q.wants = wantedBy(spoken)
	q.settleAspects()
}

// questionReader collects the words of a question.
type questionReader struct {
	q      *question
	text   string
	byKey  map[string]int // terms
	seen   map[string]int // units
	env    *snowballstem.Env
	aspect int

	pairEnd int // byte at which the second character of the last pair begins
}

// unit gives the word, which may have been there already.
func (r *questionReader) unit(t token, weight float64) int {
	if u, ok := r.seen[t.text]; ok && r.q.units[u].aspect == r.aspect {
		return u
	}
	u := len(r.q.units)
	r.q.units = append(r.q.units, asked{text: t.text, shown: r.text[t.at:t.end], aspect: r.aspect, weight: weight, pos: t.pos})
	r.seen[t.text] = u
	return u
}

// answers makes a term answer to a word, as far as strength says.
func (r *questionReader) answers(key string, kind tokenKind, weight float64, unit int, strength float64) {
	id, ok := r.byKey[key]
	if !ok {
		id = len(r.q.terms)
		r.byKey[key] = id
		t := term{key: key, kind: kind, weight: weight}
		if kind == tokenPart && !isDigit(key[0]) {
			for _, lang := range r.q.tongues {
				t.stems = append(t.stems, bare(lang.stem(r.env, key)))
			}
		}
		r.q.terms = append(r.q.terms, t)
	}
	t := &r.q.terms[id]
	for _, a := range t.units {
		if a.unit == unit {
			return
		}
	}
	t.units = append(t.units, answer{unit, strength})
}

func (r *questionReader) word(t token, weight, termWeight float64) {
	r.answers(t.text, t.kind, termWeight, r.unit(t, weight), 1)
}

// compound makes the whole of a compound answer to each of its words.
func (r *questionReader) compound(t token) {
	weight := 1.0
	if !isCode(t.text) {
		weight = softWholeWeight
	}
	n := 0
	for _, u := range r.q.units {
		if u.pos >= t.pos && u.pos < t.pos+t.words && u.whole == t.text {
			n++
		}
	}
	if n == 0 { // its parts say nothing: they are stop words, or letters
		r.answers(t.text, tokenWhole, weight, r.unit(t, 1), 1)
		return
	}
	for i, u := range r.q.units {
		if u.pos >= t.pos && u.pos < t.pos+t.words && u.whole == t.text {
			r.answers(t.text, tokenWhole, weight, i, 1)
		}
	}
}

// part is a word of a compound. The words of a name of code, each by itself, are
// half of what was asked for.
func (r *questionReader) part(t, whole token) {
	weight, strength := 1.0, 1.0
	if isCode(whole.text) {
		weight, strength = partWeight, partStrength
	}
	key := t.text + "\x00" + whole.text
	u, ok := r.seen[key]
	if !ok || r.q.units[u].aspect != r.aspect {
		u = len(r.q.units)
		r.q.units = append(r.q.units, asked{text: t.text, shown: r.text[whole.at:whole.end], aspect: r.aspect, weight: weight, pos: t.pos, whole: whole.text})
		r.seen[key] = u
	}
	r.answers(t.text, tokenPart, weight, u, strength)
}

// isCode says that a compound is a name rather than a hyphenated word.
func isCode(whole string) bool {
	return strings.Trim(whole, "-") != whole || !strings.Contains(whole, "-")
}

// pair makes two neighbouring characters a term that answers to both of them, so
// that the pair of the last character of one word and the first of the next,
// which may stand nowhere, costs nothing.
func (r *questionReader) pair(t token) {
	_, size := utf8.DecodeRuneInString(t.text)
	for size < len(t.text) {
		m, n := utf8.DecodeRuneInString(t.text[size:])
		if !unicode.Is(unicode.M, m) {
			break
		}
		size += n
	}
	first := len(r.q.units) - 1
	if r.pairEnd == 0 || r.pairEnd != t.at {
		first = len(r.q.units)
		r.q.units = append(r.q.units, asked{text: t.text[:size], aspect: r.aspect, weight: gramWeight, pos: t.pos})
	}
	r.answers(t.text, tokenGram, gramWeight, first, 1)
	if size < len(t.text) {
		r.q.units = append(r.q.units, asked{text: t.text[size:], aspect: r.aspect, weight: gramWeight, pos: t.pos + 1})
		r.answers(t.text, tokenGram, gramWeight, len(r.q.units)-1, 1)
		r.pairEnd = t.second
	}
}

// blankGrams puts spaces for the words with which questions are asked in scripts
// without spaces.
func blankGrams(text string) string {
	if strings.IndexFunc(text, unspaced) < 0 {
		return text
	}
	for _, w := range wordLists()["unspaced"] {
		text = strings.ReplaceAll(text, w, strings.Repeat(" ", len(w)))
	}
	return text
}

// splitAspects finds the bytes at which a further question begins: behind a
// question mark, a semicolon or a line break, and at "and" before a word that
// asks.
func (q *question) splitAspects(text string) []int {
	var bounds []int
	words := 0
	and := -1
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == ';' || r == '\n' || r == '；' || r == '？' || r == '。',
			r == '?' && (i+1 == len(text) || text[i+1] == ' '):
			bounds = append(bounds, i+size)
			and, i = -1, i+size
			continue
		case !unicode.IsLetter(r):
			i += size
			continue
		}
		from := i
		for i < len(text) {
			r, size := utf8.DecodeRuneInString(text[i:])
			if !unicode.IsLetter(r) && r != '\'' {
				break
			}
			i += size
		}
		word := foldUnicode(text[from:i])
		if and >= 0 && words == 0 && slices.Contains(wordLists()["asking"], word) {
			bounds = append(bounds, and)
		}
		words++
		if strings.Contains(" and und et y e en och og и ", " "+word+" ") {
			and, words = from, 0
		}
	}
	return bounds
}

// settleAspects joins a question that has one word of its own or none to the one
// before it: "and why?" asks about the same.
func (q *question) settleAspects() {
	count := make(map[int]int)
	for _, u := range q.units {
		count[u.aspect]++
	}
	number := make(map[int]int)
	n, last := 0, -1
	for a := 0; len(number) < len(count); a++ {
		if count[a] == 0 {
			continue
		}
		if last < 0 || count[a] >= 2 && n < aspectsMax {
			last = n
			n++
		}
		number[a] = last
	}
	for i := range q.units {
		q.units[i].aspect = number[q.units[i].aspect]
	}
	q.aspects = max(n, 1)
}

// isMeasure says that a word behind the one before it asks how much: the long of
// "how long" stands in no answer.
func isMeasure(before, word string) bool {
	const how = " how wie hur hvor как qué cuán "
	return before != "" && strings.Contains(how, " "+before+" ") && slices.Contains(wordLists()["measure"], word)
}
