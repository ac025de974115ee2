package digest

import "math"

// A question counts as answered when one passage has enough of it: the share of
// its words that the passage has, each counted by how much it tells, and that which
// one of its sentences has with the headings above. Less counts where the word is
// nowhere that tells most, or a name, or where a number or a date is asked for and
// none is there. It has to reach thresholdBase and thresholdStep for each e-fold of
// passages: the more there are, the sooner one of them has some of the words by
// chance. All of it was fitted on the tuning half of testdata/questions. How near the
// words stand and how many there are told nothing more.
const (
	thresholdBase = 0.18
	thresholdStep = 0.03

	nameSurety   = 1.3 // how much a name tells
	commonSurety = 0.6 // a word such as "belong", which many an answer does without

	sentenceShare  = 0.5  // how much the best sentence counts, beside its passage
	aboveShare     = 0.5  // how much a word in the headings above counts in it
	nameless       = 0.1  // what it costs that a name is nowhere
	rareless       = 0.08 // that the word is nowhere that tells most
	kindless       = 0.3  // and that a number or a date is asked for and none is there
	sentencePieces = 5    // the sentences of so many passages are looked at
)

// farBehind is the share of the best score below which a passage is left out.
const farBehind = 0.25

// enough says from which confidence a question counts as answered.
func (r *ranking) enough() float64 {
	return thresholdBase + thresholdStep*math.Log(float64(max(r.pieces, 1)))
}

// shares gives, for each question in one, how much of it is covered, when its
// words are so far.
func (r *ranking) shares(cover []float64) []float64 {
	out := make([]float64, r.q.aspects)
	all := make([]float64, r.q.aspects)
	for i, u := range r.q.units {
		out[u.aspect] += cover[i] * r.sure[i]
		all[u.aspect] += r.sure[i]
	}
	for a := range out {
		out[a] /= max(all[a], math.SmallestNonzeroFloat64)
	}
	return out
}

// confidence gives, for each question in one, how sure it is that the passages,
// the best first, answer it.
func (r *ranking) confidence(best []scored) []float64 {
	out := make([]float64, r.q.aspects)
	sentence := make([]float64, r.q.aspects)
	kind := r.q.wants == wantsAnything
	for i, s := range best {
		if len(r.q.phrases) > 0 {
			out[s.best] = 1 // what was asked for to the letter is there to the letter
			continue
		}
		out[s.best] = max(out[s.best], s.sure[s.best])
		if i < sentencePieces {
			for a, v := range r.inOneSentence(s) {
				sentence[a] = max(sentence[a], v)
			}
			lead := r.t.Content[s.lead[0]:s.lead[1]]
			kind = kind || r.q.wants.has(r.t.Content[s.from:s.to]) || r.q.wants.has(lead[:min(len(lead), leadBytes)])
		}
	}
	if len(r.q.phrases) > 0 {
		return out
	}
	for a := range out {
		out[a] = (out[a] + sentenceShare*sentence[a]) / (1 + sentenceShare)
		if !kind && r.q.aspects == 1 {
			out[a] -= kindless
		}
	}
	for a := range out {
		rarest := -1
		for i, u := range r.q.units {
			if u.aspect == a && (rarest < 0 || r.sure[i] > r.sure[rarest]) {
				rarest = i
			}
		}
		if rarest >= 0 && r.absent[rarest] && !isCommon(r.q.units[rarest].text) && r.q.units[rarest].shown != "" {
			out[a] -= rareless
		}
	}
	missed := make([]bool, r.q.aspects)
	for i, u := range r.q.units {
		if u.name && r.absent[i] && !missed[u.aspect] {
			missed[u.aspect] = true
			out[u.aspect] -= nameless
		}
	}
	return out
}

// inOneSentence gives, for each question in one, the largest share of it that one
// sentence of a passage has.
func (r *ranking) inOneSentence(c scored) []float64 {
	text := r.t.Content[c.from:c.to]
	has := make([]float64, len(r.q.units))
	weight := aboveShare
	l := lexer{emit: func(t token) {
		for _, m := range r.matcher.of(t) {
			for _, a := range r.q.terms[m.term].units {
				has[a.unit] = max(has[a.unit], weight*m.strength*a.strength)
			}
		}
	}}
	lead := r.t.Content[c.lead[0]:c.lead[1]]
	l.run(r.trail(int(c.heading)))
	l.run(r.reader.of(lead[:min(len(lead), leadBytes)]))
	weight = 1
	above := append([]float64(nil), has...)
	out := make([]float64, r.q.aspects)
	for at := range sentencesOf(text) {
		copy(has, above)
		l.run(r.reader.of(text[at.from:at.to]))
		for a, v := range r.shares(has) {
			out[a] = max(out[a], v)
		}
	}
	return out
}
