package digest

import (
	"strings"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
)

// match says that a word of the text is, or is like, a term of the question.
type match struct {
	term     int
	strength float64
}

// matcher finds the terms that a word of the text stands for. Words repeat, so
// what was found for one is kept, up to a bound.
type matcher struct {
	q     *question
	env   *snowballstem.Env
	exact map[string][]match
	stems []map[string][]match // for each language
	known map[string][]match
}

// knownMax bounds how many words are kept. A text has some ten thousand
// different ones, a hostile one as many as it likes.
const knownMax = 1 << 15

func newMatcher(q *question) *matcher {
	m := &matcher{q: q, env: snowballstem.NewEnv(""), exact: make(map[string][]match), known: make(map[string][]match)}
	for range q.tongues {
		m.stems = append(m.stems, make(map[string][]match))
	}
	for i, t := range q.terms {
		m.exact[t.key] = append(m.exact[t.key], match{i, 1})
		for j, s := range t.stems {
			m.stems[j][s] = append(m.stems[j][s], match{i, 1})
		}
	}
	return m
}

// of gives the terms that a token stands for.
func (m *matcher) of(t token) []match {
	if t.kind != tokenPart || isDigit(t.text[0]) {
		return m.exact[t.text]
	}
	if found, ok := m.known[t.text]; ok {
		return found
	}
	found := m.find(t.text)
	if len(m.known) >= knownMax {
		clear(m.known)
	}
	m.known[strings.Clone(t.text)] = found
	return found
}

func (m *matcher) find(word string) []match {
	var found []match
	has := func(term int) bool {
		for _, f := range found {
			if f.term == term {
				return true
			}
		}
		return false
	}
	found = append(found, m.exact[word]...)
	for i, lang := range m.q.tongues {
		stem := bare(lang.stem(m.env, word))
		for _, f := range m.stems[i][stem] {
			if !has(f.term) {
				found = append(found, f)
			}
		}
		for j, t := range m.q.terms {
			if len(t.stems) > i && !has(j) && alike(stem, t.stems[i], lang) && (lang != "en" || regular(word, stem) && regular(t.key, t.stems[i])) {
				found = append(found, match{j, likeStrength})
			}
		}
	}
	return found
}

// regular says that a stem is what its word begins with, as those of kept and
// found are not: what is like it is not like the word.
func regular(word, stem string) bool {
	return len(stem) < 4 || strings.HasPrefix(word, stem[:4])
}

// alike says that two stems that differ may still be of one word: the stemmer
// left an ending (fail, failur), there is no stemmer for the language, or one is
// a compound with the other.
func alike(a, b string, lang tongue) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	n := utf8.RuneCountInString(a)
	if n < 4 || len(b) > stemMax {
		return false
	}
	if strings.HasPrefix(b, a) {
		rest := utf8.RuneCountInString(b) - n
		return rest <= 2 && n >= 4 || lang.compounds() && n >= 5
	}
	if lang.compounds() && n >= 5 && strings.HasSuffix(b, a) {
		return true
	}
	if lang.stemmer() == nil && n >= 5 {
		common := 0
		for common < len(a) && a[common] == b[common] {
			common++
		}
		for common > 0 && common < len(a) && !utf8.RuneStart(a[common]) {
			common--
		}
		same := utf8.RuneCountInString(a[:common])
		return same >= 4 && n-same <= 2 && utf8.RuneCountInString(b)-same <= 3
	}
	return false
}
