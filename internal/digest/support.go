package digest

// Support says which share of the words of a claim stand in a text, by their
// stems and without stop words, as words of a question are looked for. It tells a
// claim that is about something else from one that says the same in other words.
// It is not ok where that cannot be told: the claim has no word, or is in another
// language than the document, or in another script than the text.
func (k *Ranking) Support(claim, text string) (share float64, ok bool) {
	document := k.q.tongues[0]
	if len(questionLanguages(claim, document)) > 1 {
		return 0, false
	}
	q := &question{tongues: []tongue{document}}
	q.words(clip(claim, questionMax), nil, false)
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
	var has, all float64
	spaced := 0
	for i, u := range q.units {
		has += cover[i] * u.weight
		all += u.weight
		if u.weight != gramWeight {
			spaced++
		}
	}
	switch {
	case all == 0:
		return 0, false
	case 2*spaced > len(q.units) && like > read, 2*spaced <= len(q.units) && like < read:
		return 0, false // one has spaces between its words, the other has not
	}
	return has / all, true
}
