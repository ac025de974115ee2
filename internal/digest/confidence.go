package digest

// threshold is the confidence from which a question counts as answered, and
// farBehind the share of the best score below which a passage is left out.
const (
	threshold = 0.3
	farBehind = 0.4
)

// confidence gives, for each question in one, how sure it is that a passage
// answers it.
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
