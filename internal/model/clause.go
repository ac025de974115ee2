package model

import (
	_ "embed" // the words of directives
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/sentences"

	"sift.build/sift/internal/digest"
)

// What a sentence says has to stand in what it cites in each of its parts: a good
// beginning buys no tail. In a clause of several words half of them do, by their
// stems, and nowhere in the sentence so many in a row do not. A clause that wants
// its reader to do something has to stand there as one that does.
const (
	clauseShare = 0.5
	gramShare   = 0.4
	strangers   = 3  // words in a row
	strangeness = 10 // characters of a script without spaces in a row
	closeShare  = 0.8
)

//go:embed directives.txt
var directivesFile string

// directives are the lists of directives.txt by their name.
var directives = sync.OnceValue(func() map[string]map[string]bool {
	lists := make(map[string]map[string]bool)
	name := ""
	for line := range strings.Lines(directivesFile) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "["):
			name = strings.Trim(line, "[]")
			lists[name] = make(map[string]bool)
		default:
			for w := range strings.FieldsSeq(line) {
				lists[name][w] = true
			}
		}
	}
	return lists
})

func listed(list, word string) bool { return directives()[list][word] }

// holder says which words of a claim stand in a text.
type holder func(claim, text string) digest.Claim

// clause is a part of a sentence: the bytes from one to another.
type clause struct {
	from, to int
	words    []string // in lower case
	label    bool     // a colon stands behind it
}

// clausesOf takes a spelled sentence, or several, apart: at what parts sentences
// and clauses, and at words that join.
func clausesOf(text string) []clause {
	var out []clause
	cur := clause{}
	cut := func(end, next int, label bool) {
		if cur.to = end; len(cur.words) > 0 {
			cur.label = label
			out = append(out, cur)
		}
		cur = clause{from: next}
	}
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if wordSign(r) {
			end := i
			for end < len(text) {
				r, size := utf8.DecodeRuneInString(text[end:])
				next, _ := utf8.DecodeRuneInString(text[end+size:])
				if !wordSign(r) && !(strings.ContainsRune("'-./_@:", r) && wordSign(next)) {
					break
				}
				end += size
			}
			word := strings.ToLower(text[i:end])
			if listed("joins", word) {
				cut(i, end, false)
			} else {
				cur.words = append(cur.words, word)
			}
			i = end
			continue
		}
		next, _ := utf8.DecodeRuneInString(text[i+size:])
		open := i+size == len(text) || unicode.IsSpace(next)
		switch {
		case strings.ContainsRune(";|&(){}[]<>…!?、，。；：！？·•→=", r),
			strings.ContainsRune(".,:", r) && (open || strings.ContainsRune("\"')]}»", next)),
			r == '-' && open:
			cut(i, i+size, r == ':' || r == '：')
		}
		i += size
	}
	cut(len(text), len(text), false)
	return out
}

func wordSign(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r) || r == '_'
}

// supported says that a sentence is about what it cites, in each of its parts.
func (s sentence) supported(question string, passages []passage, hold holder) bool {
	var cited []passage
	var b strings.Builder
	for _, p := range passages {
		if slices.Contains(s.Cites, p.N) {
			cited = append(cited, p)
			b.WriteString(p.Heading + "\n" + p.Before + "\n" + p.Text + "\n")
		}
	}
	text := spelled(s.Text)
	there := hold(text, b.String())
	// What the caller asked may be said again.
	known := hold(text, b.String()+"\n"+question)
	for i := range known.Words {
		if w := &known.Words[i]; listed("neutral", strings.ToLower(text[w.At:w.End])) {
			w.Weight = 0
		}
	}
	words := !there.Foreign || !there.Asked // else no word need stand there
	if words && !together(known.Words) {
		return false
	}
	for _, c := range clausesOf(text) {
		in := c.of(known.Words)
		if words && len(in) > 1 {
			least := clauseShare
			if in[0].Gram {
				least = gramShare
			}
			if share, ok := digest.Share(in); ok && share < least {
				return false
			}
		}
		if c.directs(text, in, words) && !c.directed(text, cited, hold) {
			return false
		}
	}
	return true
}

// of gives the words that stand in the clause.
func (c clause) of(words []digest.ClaimWord) []digest.ClaimWord {
	var out []digest.ClaimWord
	for _, w := range words {
		if w.At >= c.from && w.At < c.to {
			out = append(out, w)
		}
	}
	return out
}

// together says that nowhere too many words in a row stand nowhere.
func together(words []digest.ClaimWord) bool {
	run, grams := 0, 0
	for _, w := range words {
		switch {
		case w.Weight == 0:
		case w.Has > 0:
			run, grams = 0, 0
		case w.Gram:
			grams++
		default:
			run++
		}
		if run >= strangers || grams >= strangeness {
			return false
		}
	}
	return true
}

// directs says that a clause wants its reader, or a model that reads it, to do
// something: it speaks to somebody, begins like an order, obliges somebody, or is
// the name of who speaks. words says that what it says can be looked for: then what
// begins with an unknown word and has no verb of a statement may be an order too.
func (c clause) directs(text string, in []digest.ClaimWord, words bool) bool {
	if c.label && len(c.words) <= 3 && slices.ContainsFunc(c.words, func(w string) bool { return listed("roles", w) }) {
		return true
	}
	for _, w := range c.words {
		if listed("addressed", w) || listed("obliged", w) {
			return true
		}
	}
	if unspacedAddress(text[c.from:c.to]) {
		return true
	}
	verb := c.verb()
	if verb < 0 || slices.ContainsFunc(c.words[verb:], func(w string) bool { return listed("finite", w) }) {
		return false
	}
	if listed("verbs", c.words[verb]) {
		return true
	}
	w := c.words[verb]
	if !words || len(in) < 2 || in[0].Has > 0 || in[0].Weight == 0 || in[0].Gram || strings.HasSuffix(w, "ing") || strings.HasSuffix(w, "ed") || strings.HasSuffix(w, "ly") || strings.HasSuffix(w, "s") {
		return false
	}
	return strings.ToLower(text[in[0].At:in[0].End]) == w
}

// verb is where the verb of an order would stand, -1: there is no word.
func (c clause) verb() int {
	for i, w := range c.words {
		does := w == "do" && (i+1 == len(c.words) || !listed("before", c.words[i+1]))
		if does || !listed("before", w) && !listed("addressed", w) {
			return i
		}
	}
	return -1
}

// unspacedAddress finds who is spoken to in a script without spaces.
func unspacedAddress(text string) bool {
	if !strings.ContainsFunc(text, func(r rune) bool { return r >= 0x2e80 }) {
		return false
	}
	for w := range directives()["addressed"] {
		if r, _ := utf8.DecodeRuneInString(w); r >= 0x2e80 && strings.Contains(text, w) {
			return true
		}
	}
	return false
}

// directed says that a clause that directs stands in one sentence of a passage: to
// the letter, or with its words and as a clause that directs in the same way.
func (c clause) directed(text string, cited []passage, hold holder) bool {
	claim := strings.TrimSpace(text[c.from:c.to])
	for _, p := range cited {
		for _, part := range []string{p.Text, p.Before, p.Heading} {
			for s := range strings.SplitSeq(unmarked(part), "\n") {
				if stands(spelled(s), claim) {
					return true
				}
			}
			for _, s := range sentencesOf(unmarked(part)) {
				there := hold(claim, s)
				share, ok := digest.Share(there.Words)
				if ok && !there.Foreign && share >= closeShare && c.like(spelled(s)) {
					return true
				}
			}
		}
	}
	return false
}

// like says that a sentence has what makes the clause direct.
func (c clause) like(of string) bool {
	parts := clausesOf(of)
	has := func(list string) bool {
		return slices.ContainsFunc(parts, func(p clause) bool {
			return slices.ContainsFunc(p.words, func(w string) bool { return listed(list, w) })
		})
	}
	if slices.ContainsFunc(c.words, func(w string) bool { return listed("obliged", w) }) && !has("obliged") {
		return false
	}
	verb := ""
	if v := c.verb(); v >= 0 {
		verb = c.words[v]
	}
	orders := slices.ContainsFunc(parts, func(p clause) bool {
		if v := p.verb(); v >= 0 && p.words[v] == verb {
			return true
		}
		i := slices.Index(p.words, verb)
		return i > 0 && p.words[i-1] == "to"
	})
	if slices.ContainsFunc(c.words, func(w string) bool { return listed("addressed", w) }) {
		return has("addressed") || orders && listed("verbs", verb)
	}
	return !listed("verbs", verb) || orders
}

// sentencesOf takes a passage apart: into its sentences, which may go on in the
// next line, and into those of each line.
func sentencesOf(text string) []string {
	var out []string
	for _, part := range append([]string{strings.ReplaceAll(text, "\n", " ")}, strings.Split(text, "\n")...) {
		it := sentences.FromString(part)
		for it.Next() {
			out = append(out, it.Value())
		}
	}
	return out
}
