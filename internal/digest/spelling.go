package digest

import "strings"

// american gives an English word in the spelling of the United States, as far as
// rules go: words are compared in it, whichever of the spellings a page and a
// question have. What the rules make of other words does not matter, since they do
// it to both.
func american(word string) string {
	if len(word) < 4 || len(word) > stemMax {
		return word
	}
	for _, s := range endings {
		if base, ok := strings.CutSuffix(word, s.british); ok && (len(base) > 1 || len(base) == 1 && len(s.british) > 4) {
			word = base + s.american
			break
		}
	}
	// colour, behavioural, harbours; not four, your, course, journey.
	for from := 3; ; {
		i := strings.Index(word[min(from, len(word)):], "our")
		if i < 0 {
			break
		}
		i += from
		if rest := word[i+3:]; afterOur(rest) && !vowel(word[i-1]) {
			return word[:i] + "or" + rest
		}
		from = i + 1
	}
	if word == "grey" || word == "greys" {
		return strings.Replace(word, "e", "a", 1)
	}
	return word
}

// afterOur says that a word may end so behind the our of colour.
func afterOur(rest string) bool {
	switch rest {
	case "", "s", "ed", "ing", "ings", "er", "ers", "al", "ally", "able", "ably", "ful", "fully", "less", "ite", "ites", "ist", "ists", "ism", "y", "ly", "hood", "hoods", "ize", "ized", "izing", "izes", "ization":
		return true
	}
	return false
}

func vowel(c byte) bool { return strings.IndexByte("aeou", c) >= 0 }

// endings are those that differ.
var endings = []struct{ british, american string }{
	{"ractise", "ractice"}, {"ractises", "ractices"}, {"ractised", "racticed"}, {"ractising", "racticing"},
	{"isation", "ization"}, {"isational", "izational"},
	{"ise", "ize"}, {"ises", "izes"}, {"ised", "ized"}, {"ising", "izing"}, {"iser", "izer"}, {"isers", "izers"}, {"isable", "izable"}, {"isations", "izations"},
	{"yse", "yze"}, {"yses", "yzes"}, {"ysed", "yzed"}, {"ysing", "yzing"}, {"yser", "yzer"}, {"ysers", "yzers"},
	{"tre", "ter"}, {"tres", "ters"}, {"tred", "tered"}, {"tring", "tering"}, {"bre", "ber"}, {"bres", "bers"},
	{"ogue", "og"}, {"ogues", "ogs"}, {"ogued", "oged"}, {"oguing", "oging"}, {"oged", "oged"}, {"oging", "oging"}, {"ogged", "oged"}, {"ogging", "oging"},
	{"ogramme", "ogram"}, {"ogrammes", "ograms"},
	{"icence", "icense"}, {"icences", "icenses"}, {"icenced", "icensed"}, {"icencing", "icensing"}, {"efence", "efense"}, {"efences", "efenses"}, {"ffence", "ffense"}, {"ffences", "ffenses"}, {"retence", "retense"}, {"retences", "retenses"},
	{"dgement", "dgment"}, {"dgements", "dgments"}, {"rtefact", "rtifact"}, {"rtefacts", "rtifacts"},
}
