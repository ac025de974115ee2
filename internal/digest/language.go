package digest

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/arabic"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/hungarian"
	"github.com/blevesearch/snowballstem/irish"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/romanian"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
	"github.com/blevesearch/snowballstem/tamil"
	"github.com/blevesearch/snowballstem/turkish"
	"golang.org/x/text/language"
)

// tongue is a language as far as this package knows it: by its ISO 639-1 code,
// "" for one that is not known.
type tongue string

// stemmer gives the one that the language has, nil for none.
func (t tongue) stemmer() func(*snowballstem.Env) bool {
	switch t {
	case "ar":
		return arabic.Stem
	case "da":
		return danish.Stem
	case "de":
		return german.Stem
	case "en":
		return english.Stem
	case "es":
		return spanish.Stem
	case "fi":
		return finnish.Stem
	case "fr":
		return french.Stem
	case "ga":
		return irish.Stem
	case "hu":
		return hungarian.Stem
	case "it":
		return italian.Stem
	case "nl":
		return dutch.Stem
	case "no":
		return norwegian.Stem
	case "pt":
		return portuguese.Stem
	case "ro":
		return romanian.Stem
	case "ru":
		return russian.Stem
	case "sv":
		return swedish.Stem
	case "ta":
		return tamil.Stem
	case "tr":
		return turkish.Stem
	}
	return nil
}

// compounds says that the language writes several nouns as one word.
func (t tongue) compounds() bool {
	switch t {
	case "da", "de", "fi", "hu", "nl", "no", "sv":
		return true
	}
	return false
}

// stemMax bounds, in bytes, the words that are stemmed. Nothing longer is a
// word, and some of the stemmers take the square of its length.
const stemMax = 64

// stem gives what the forms of a word have in common. A word of another script
// than the language's comes back as it is.
func (t tongue) stem(env *snowballstem.Env, word string) string {
	f := t.stemmer()
	if f == nil || len(word) > stemMax {
		return word
	}
	if t == "en" {
		if base := irregular()[word]; base != "" {
			word = base
		}
		word = american(word)
	}
	env.SetCurrent(word)
	f(env)
	if s := env.Current(); s != "" {
		return s
	}
	return word
}

// parseTongue reads a language tag as documents have it.
func parseTongue(tag string) tongue {
	if len(tag) > 64 {
		return ""
	}
	parsed, err := language.Parse(strings.ReplaceAll(strings.TrimSpace(tag), "_", "-"))
	if err != nil {
		return ""
	}
	base, confidence := parsed.Base()
	if confidence == language.No {
		return ""
	}
	switch s := base.String(); s {
	case "nb", "nn":
		return "no"
	default:
		return tongue(s)
	}
}

// sampleMax bounds, in bytes, how much of a text is looked at to tell its
// language: the middle of it, since pages begin with names and menus.
const sampleMax = 32 << 10

// sample gives the middle of s.
func sample(s string) string {
	if len(s) <= sampleMax {
		return s
	}
	from := (len(s) - sampleMax) / 2
	for from > 0 && !utf8.RuneStart(s[from]) {
		from--
	}
	to := from + sampleMax
	for to > from && !utf8.RuneStart(s[to]) {
		to--
	}
	return s[from:to]
}

// evidence counts, for each language, the words of a text that are among its
// stop words. words is how many there were of scripts that have spaces.
type evidence struct {
	of    map[tongue]int
	words int
}

func evidenceOf(s string) evidence {
	e := evidence{of: make(map[tongue]int)}
	var l lexer
	l.emit = func(t token) {
		if t.kind != tokenPart {
			return
		}
		e.words++
		for _, lang := range stopWords()[t.text] {
			e.of[lang]++
		}
	}
	l.run(s)
	return e
}

// best gives the language with the most evidence; "" when there is hardly any.
func (e evidence) best() (tongue, int) {
	var best tongue
	for t, n := range e.of {
		if n > e.of[best] || n == e.of[best] && t < best {
			best = t
		}
	}
	return best, e.of[best]
}

// languageOf decides what language a text is in. The document's word counts
// unless the text clearly is in another one: half of the templates of the web
// say "en" and are not.
func languageOf(text, says string) tongue {
	said := parseTongue(says)
	s := sample(text)
	if said == "" || said.alphabet() != nil && !mostly(s, said.alphabet()) {
		said = ""
	}
	e := evidenceOf(s)
	best, n := e.best()
	switch {
	case said != "" && (n >= 10 && 2*e.of[said] >= n || said.unlisted()):
		return said
	case (said == "" && n >= 3 || n >= 10) && 20*n >= e.words:
		return best
	}
	// What says "en" and has no Latin letters is not in English either.
	if other := scriptLanguage(s); said == "" || other != "" && said.alphabet() == nil && !said.unlisted() {
		return other
	}
	return said
}

// unlisted says that there are no stop words by which to tell the language.
func (t tongue) unlisted() bool {
	return len(t) != 2 || wordLists()[string(t)] == nil
}

// alphabet gives the script of the languages that have one other than the
// Latin.
func (t tongue) alphabet() *unicode.RangeTable {
	switch t {
	case "ar":
		return unicode.Arabic
	case "ru":
		return unicode.Cyrillic
	case "ta":
		return unicode.Tamil
	}
	return nil
}

// mostly says that a fifth of the letters of s and more are of script: code and
// names are Latin everywhere.
func mostly(s string, script *unicode.RangeTable) bool {
	letters, of := 0, 0
	for _, r := range s {
		if unicode.IsLetter(r) {
			letters++
			if unicode.Is(script, r) {
				of++
			}
		}
	}
	return 5*of >= letters
}

// scriptLanguage guesses by the script alone.
func scriptLanguage(s string) tongue {
	for _, t := range []tongue{"ru", "ar", "ta"} {
		if n := strings.IndexFunc(s, func(r rune) bool { return unicode.Is(t.alphabet(), r) }); n >= 0 && mostly(s, t.alphabet()) {
			return t
		}
	}
	return ""
}

// questionLanguages gives the languages that the words of a question are read
// in: the document's, and the question's own when it is clearly in another one.
func questionLanguages(question string, document tongue) []tongue {
	e := evidenceOf(question)
	best, n := e.best()
	out := []tongue{document}
	if best != "" && best != document && n > e.of[document] {
		out = append(out, best)
	}
	return out
}

// isStop says that the word is a stop word of one of the languages. For a
// language that has none, those of English are taken: what is technical in any
// language is full of it.
func isStop(word string, in []tongue) bool {
	for _, t := range stopWords()[word] {
		if slices.Contains(in, t) || t == "en" && slices.ContainsFunc(in, tongue.unlisted) {
			return true
		}
	}
	return false
}
