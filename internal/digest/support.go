package digest

import "slices"

// Claim is what is known of a claim that was held against a text.
type Claim struct {
	Words []ClaimWord // those that say something, in order; stop words do not

	// Foreign says that the claim is in another language than the document, or in
	// another script than the text, so that its words need not stand there. Asked says
	// that the question is too.
	Foreign, Asked bool
}

// ClaimWord is one word of a claim: the bytes from At to End.
type ClaimWord struct {
	At, End int
	Has     float64 // how far it stands in the text, by its stem: 0 to 1
	Weight  float64 // how much it says, beside others
	Gram    bool    // it is a pair of characters of a script without spaces
}

// Share gives how much of the words stands in the text. It is not ok where none
// says anything.
func Share(words []ClaimWord) (share float64, ok bool) {
	var has, all float64
	for _, w := range words {
		has += w.Has * w.Weight
		all += w.Weight
	}
	if all == 0 {
		return 0, false
	}
	return has / all, true
}

// Hold says which words of a claim stand in a text, as words of a question are
// looked for. It tells a claim that is about something else from one that says the
// same in other words. Of a very long claim it takes what a question may have.
func (k *Ranking) Hold(claim, text string) Claim {
	document := k.q.tongues[0]
	claim = first(claim, questionMax)
	q := &question{tongues: []tongue{document}}
	q.words(claim, nil, false)
	matcher := newMatcher(q)
	cover := make([]float64, len(q.units))
	read, like := 0, 0
	l := lexer{emit: func(t token) {
		if t.kind == tokenPart {
			read++
		} else if t.kind == tokenGram {
			like++
		}
		for _, m := range matcher.of(t) {
			for _, a := range q.terms[m.term].units {
				cover[a.unit] = max(cover[a.unit], m.strength*a.strength)
			}
		}
	}}
	l.run(k.r.reader.of(text))
	var out Claim
	grams := 0
	of := lexer{emit: func(t token) {
		w := ClaimWord{At: t.at, End: t.end, Gram: t.kind == tokenGram}
		for _, m := range matcher.exact[t.text] {
			for _, a := range q.terms[m.term].units {
				w.Has, w.Weight = max(w.Has, cover[a.unit]), max(w.Weight, q.units[a.unit].weight)
			}
		}
		if n := len(out.Words); w.Weight == 0 || t.kind == tokenWhole && n > 0 && out.Words[n-1].At >= t.at {
			return // it says nothing, or its parts have been there
		}
		if w.Gram {
			grams++
		}
		out.Words = append(out.Words, w)
	}}
	of.run(claim)
	unspaced := 2*grams > len(out.Words)
	languages := questionLanguages(claim, document)
	switch {
	case len(out.Words) == 0:
	case unspaced && like < read, !unspaced && like > read:
		out.Foreign, out.Asked = true, unspaced == k.q.unspaced()
	case len(languages) > 1:
		out.Foreign, out.Asked = true, slices.Contains(k.q.tongues, languages[1])
	}
	return out
}

// unspaced says that most of a question is in a script without spaces.
func (q *question) unspaced() bool {
	grams := 0
	for _, u := range q.units {
		if u.weight == gramWeight {
			grams++
		}
	}
	return 2*grams > len(q.units)
}

// first gives the first n characters of s.
func first(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
