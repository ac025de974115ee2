package model

import (
	"cmp"
	"context"
	_ "embed" // the cohort
	"math"
	"slices"
	"strings"

	"sift.build/sift/internal/digest"
	"sift.build/sift/internal/sift"
)

// Two rankings are made one by reciprocal rank fusion: a passage gets, from each
// of them, weight / (rankConstant + rank). The constant is that of Cormack, Clarke
// and Büttcher, Reciprocal Rank Fusion outperforms Condorcet and individual Rank
// Learning Methods, SIGIR 2009.
const (
	rankConstant  = 60
	wordsWeight   = 1
	meaningWeight = 1
)

// How large a cosine is says little: one model has unrelated texts at 0.1, the
// next at 0.7. So it is measured against the cosines that the same question has
// with texts about anything, the cohort: how many of their standard deviations it
// lies above their mean (as test normalisation does in speaker verification:
// Auckenthaler, Carey and Lloyd-Thomas, Digital Signal Processing 10, 2000).
//
// A question counts as answered when that measure of the nearest passage is at
// least marginHigh, or when it is at least marginLow and words say that it is.
const (
	marginHigh = 3.5
	marginLow  = 2.5
)

// nearShare says from which share of the best one's measure a passage is not far
// behind.
const nearShare = 0.6

//go:embed cohort.txt
var cohortText string

func cohortTexts() []string { return strings.Split(strings.TrimSpace(cohortText), "\n") }

// byMeaning is the plan in which the embeddings have their say. The error is a
// *failure.
func (m *Models) byMeaning(ctx context.Context, a Ask, k *digest.Ranking) (plan, error) {
	texts := []string{clip(a.Question)}
	for i := range k.Passages {
		texts = append(texts, embedded(k, i))
	}
	known := m.cohort.Load()
	if known == nil {
		texts = append(texts, cohortTexts()...)
	}
	vectors, err := m.vectors(ctx, a.Class, texts)
	if err != nil {
		return plan{}, err
	}
	question, passages := vectors[0], vectors[1:1+len(k.Passages)]
	cohort := vectors[1+len(k.Passages):]
	if known == nil {
		m.cohort.Store(&cohort)
	} else if cohort = *known; len(cohort[0]) != len(question) {
		// The model behind the name is another one than it was.
		fresh, err := m.vectors(ctx, a.Class, append([]string{clip(a.Question)}, cohortTexts()...))
		if err != nil {
			return plan{}, err
		}
		if len(fresh[0]) != len(question) {
			return plan{}, fail(OutcomeBad, "sent vectors of different lengths")
		}
		cohort = fresh[1:]
		m.cohort.Store(&cohort)
	}
	margins := marginsOf(question, passages, cohort)
	p := fuse(k, margins)
	if p.answered && p.order[0] >= k.Ranked {
		// No word of the question is in the passage, so words cannot tell which of its
		// sentences says it.
		p.answer = m.nearestSentence(ctx, a.Class, question, k.Sentences(p.order[0]))
	}
	return p, nil
}

// embedded is what of a passage goes to the endpoint: the headings and what
// belongs to it, since it is often not clear without what it is about.
func embedded(k *digest.Ranking, i int) string {
	var parts []string
	for _, s := range []string{k.Passages[i].Heading, k.Lead(i), k.Passages[i].Text} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	return clip(strings.Join(parts, "\n"))
}

// clip cuts s behind textMax characters.
func clip(s string) string {
	n := 0
	for i := range s {
		if n++; n > textMax {
			return s[:i]
		}
	}
	return s
}

// marginsOf measures the cosine of each passage against those of the cohort.
func marginsOf(question []float32, passages, cohort [][]float32) []float64 {
	mean, square := 0.0, 0.0
	for _, v := range cohort {
		c := cosine(question, v)
		mean += c / float64(len(cohort))
		square += c * c / float64(len(cohort))
	}
	deviation := max(math.Sqrt(max(square-mean*mean, 0)), 0.01)
	out := make([]float64, len(passages))
	for i, v := range passages {
		out[i] = (cosine(question, v) - mean) / deviation
	}
	return out
}

// fuse makes one plan of the ranking and of the margins of its passages.
func fuse(k *digest.Ranking, margins []float64) plan {
	byMeaning := make([]int, len(margins))
	for i := range byMeaning {
		byMeaning[i] = i
	}
	slices.SortStableFunc(byMeaning, func(a, b int) int { return cmp.Compare(margins[b], margins[a]) })
	scores := make([]float64, len(margins))
	for i := range k.Ranked {
		scores[i] += wordsWeight / float64(rankConstant+i+1)
	}
	for rank, i := range byMeaning {
		scores[i] += meaningWeight / float64(rankConstant+rank+1)
	}
	p := plan{method: sift.DigestHybrid, order: slices.Clone(byMeaning), firsts: 1}
	slices.SortStableFunc(p.order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })

	// Of two questions in one, each has its best passage before the others.
	if _, firsts := k.Order(); firsts > 1 {
		best, _ := k.Order()
		p.order = slices.Concat(p.order[:1], best[:firsts], p.order[1:])
		p.order = unique(p.order)
		p.firsts = firsts
		if p.order[0] != best[0] && !slices.Contains(best[:firsts], p.order[0]) {
			p.firsts++
		}
	}
	top := margins[byMeaning[0]]
	p.answered = top >= marginHigh || top >= marginLow && k.Answered
	near := func(i int) bool {
		return margins[i] >= nearShare*top || i < k.Ranked && k.Answered && k.Passages[i].Score >= farBehind*k.Passages[0].Score
	}
	var head, tail []int
	for at, i := range p.order {
		if at < p.firsts || near(i) {
			head = append(head, i)
		} else {
			tail = append(tail, i)
		}
	}
	p.order, p.near = slices.Concat(head, tail), len(head)
	for _, i := range p.order {
		p.scores = append(p.scores, scores[i]*(rankConstant+1)/(wordsWeight+meaningWeight))
	}
	return p
}

// farBehind is the share of the best score of words below which a passage is far
// behind by words, as in package digest.
const farBehind = 0.35

// unique leaves the first of each.
func unique(in []int) []int {
	seen := make(map[int]bool, len(in))
	return slices.DeleteFunc(in, func(i int) bool {
		was := seen[i]
		seen[i] = true
		return was
	})
}

// nearestSentence gives the sentence that is nearest to the question, "" where
// that cannot be told.
func (m *Models) nearestSentence(ctx context.Context, class string, question []float32, sentences []string) string {
	sentences = sentences[:min(len(sentences), batchTexts)]
	if len(sentences) < 2 {
		return ""
	}
	vectors, err := m.vectors(ctx, class, sentences)
	if err != nil || len(vectors[0]) != len(question) {
		return ""
	}
	best := 0
	for i, v := range vectors {
		if cosine(question, v) > cosine(question, vectors[best]) {
			best = i
		}
	}
	return sentences[best]
}
