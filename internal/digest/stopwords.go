package digest

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

//go:embed words.txt
var wordsFile string

// wordLists are the lists of words.txt by their name, folded, in order.
var wordLists = sync.OnceValue(func() map[string][]string {
	m := make(map[string][]string)
	name := ""
	for line := range strings.Lines(wordsFile) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "["):
			name = strings.Trim(line, "[]")
		default:
			for w := range strings.FieldsSeq(line) {
				m[name] = append(m[name], foldUnicode(w))
			}
		}
	}
	return m
})

// stopWords gives, for each word that says nothing about what a text is about,
// the languages in which it does not.
var stopWords = sync.OnceValue(func() map[string][]tongue {
	m := make(map[string][]tongue)
	for _, of := range listed() {
		for _, w := range wordLists()[string(of)] {
			if !slices.Contains(m[w], of) {
				m[w] = append(m[w], of)
			}
		}
	}
	return m
})

// listed gives the languages that have stop words, in order.
func listed() []tongue {
	var out []tongue
	for name := range wordLists() {
		if len(name) == 2 {
			out = append(out, tongue(name))
		}
	}
	slices.Sort(out)
	return out
}

// wordSets are the lists of words.txt as sets.
var wordSets = sync.OnceValue(func() map[string]map[string]bool {
	sets := make(map[string]map[string]bool)
	for name, words := range wordLists() {
		sets[name] = make(map[string]bool, len(words))
		for _, w := range words {
			sets[name][w] = true
		}
	}
	return sets
})

// irregular gives the word that a form of English is one of.
var irregular = sync.OnceValue(func() map[string]string {
	m := make(map[string]string)
	for _, entry := range wordLists()["irregular"] {
		word, forms, _ := strings.Cut(entry, "/")
		for form := range strings.SplitSeq(forms, "/") {
			m[form] = word
		}
	}
	return m
})

// isLight says that a word counts for less than others.
func isLight(word string) bool { return wordSets()["light"][word] }

// isCommon says that a page may well answer a question without this word of it.
func isCommon(word string) bool { return wordSets()["common"][word] || isLight(word) }
