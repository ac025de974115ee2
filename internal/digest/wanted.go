package digest

import (
	"strings"
	"unicode"
)

// wanted is what kind of thing answers a question, as far as its words say.
type wanted uint8

const (
	wantsAnything wanted = iota
	wantsNumber          // how many, how long
	wantsDate            // when was, in which year
)

// wantedBy reads that from the words of a question, in lower case.
func wantedBy(words []string) wanted {
	sets := wordSets()
	for i, w := range words {
		next := ""
		if i+1 < len(words) {
			next = words[i+1]
		}
		switch {
		case sets["quantity"][w], sets["how"][w] && sets["howmany"][next]:
			return wantsNumber
		case sets["when"][w] && sets["past"][next], i > 0 && i < 4 && sets["year"][w] && !sets["how"][words[0]]:
			return wantsDate
		}
	}
	return wantsAnything
}

// has says that a text has something of that kind. It is generous.
func (w wanted) has(text string) bool {
	if w == wantsAnything {
		return true
	}
	found := false
	l := lexer{emit: func(t token) {
		switch {
		case found:
		case w == wantsNumber:
			found = strings.ContainsFunc(t.text, unicode.IsDigit) || t.kind == tokenGram || wordSets()["numbers"][t.text]
		default:
			found = len(t.text) == 4 && strings.Trim(t.text, "0123456789") == "" || t.kind == tokenGram || wordSets()["months"][t.text]
		}
	}}
	l.run(text)
	return found
}
