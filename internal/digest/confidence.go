package digest

import "math"

// A question counts as answered when a passage has enough of it: the share of its
// words that the passage has, each counted by how much it tells, has to reach
// thresholdBase and thresholdStep for each e-fold of passages. The more passages
// there are, the sooner one of them has some of the words by chance. Both were
// fitted on the tuning half of testdata/questions, by logistic regression of
// whether there is an answer on that share and the logarithm; the share alone
// tells nearly as much, and the other things that were tried (how near the words
// stand, how many are nowhere, how many there are) told nothing more.
const (
	thresholdBase = 0.22
	thresholdStep = 0.034
)

// farBehind is the share of the best score below which a passage is left out.
const farBehind = 0.35

// enough says from which confidence a question counts as answered.
func (r *ranking) enough() float64 {
	return thresholdBase + thresholdStep*math.Log(float64(max(r.pieces, 1)))
}

// confidence gives, for each question in one, which share of it the passage has
// that has most of it.
func (r *ranking) confidence(best []scored) []float64 {
	out := make([]float64, r.q.aspects)
	for _, s := range best {
		v := s.cover
		if len(r.q.phrases) > 0 {
			v = 1 // what was asked for to the letter is there to the letter
		}
		out[s.best] = max(out[s.best], v)
	}
	return out
}
