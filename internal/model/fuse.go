package model

import (
	"cmp"
	"context"
	_ "embed" // the cohort
	"slices"
	"strings"

	"sift.build/sift/internal/digest"
	"sift.build/sift/internal/sift"
)

// Two rankings are made one by reciprocal rank fusion: a passage gets, from each
// of them, weight / (rankConstant + rank). The constant is that of Cormack, Clarke
// and Büttcher, Reciprocal Rank Fusion outperforms Condorcet and individual Rank
// Learning Methods, SIGIR 2009. Words weigh more, but where meaning answers and
// they do not: there they have found what happens to share some with the question.
// docs/question.md has the figures.
const (
	rankConstant = 60

	meaningWeight   = 1.0
	wordsWeight     = 3.0
	wordsElseWeight = 0.5 // where meaning alone answers
)

// How large a cosine is says little: one model has unrelated texts at 0.1, the
// next at 0.7. So it is put on a scale from 0, the mean of the cosines that the
// same question has with texts about anything (the cohort), to 1, that of a text
// with itself.
//
// A question counts as answered when words say so and the nearest passage has at
// least answersBeside; or when that has at least answersAlone and is ahead of the
// fifth by standsOut: on a page about the matter all passages are near, and one
// that answers is nearer than the others. docs/question.md says where the figures
// come from.
const (
	answersBeside = 0.1
	answersAlone  = 0.45
	standsOut     = 0.15
	standsOutOf   = 5
)

// nearShare says from which share of the nearest one's value a passage is not far
// behind.
const nearShare = 0.9

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
	vectors, err := m.vectors(ctx, m.shelf(a), texts)
	if err != nil {
		return plan{}, err
	}
	question, passages := vectors[0], vectors[1:1+len(k.Passages)]
	cohort := vectors[1+len(k.Passages):]
	if known == nil {
		m.cohort.Store(&cohort)
	} else if cohort = *known; len(cohort[0]) != len(question) {
		// The model behind the name is another one than it was.
		fresh, err := m.vectors(ctx, m.shelf(a), append([]string{clip(a.Question)}, cohortTexts()...))
		if err != nil {
			return plan{}, err
		}
		if len(fresh[0]) != len(question) {
			return plan{}, fail(OutcomeBad, "sent vectors of different lengths")
		}
		cohort = fresh[1:]
		m.cohort.Store(&cohort)
	}
	p := fuse(k, nearness(question, passages, cohort))
	if p.answered && (p.order[0] >= k.Ranked || !k.Answered) {
		// Words have not found the passage, and cannot tell which of its sentences says
		// it.
		p.answer = m.nearestSentence(ctx, m.shelf(a), question, k.Sentences(p.order[0]))
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

// clip cuts s where it may be more than small models read, 512 tokens, and some
// servers refuse. A character of Chinese or Japanese is a token or more.
func clip(s string) string {
	n := 0
	for i, r := range s {
		n++
		if r >= '\u2e80' {
			n += 2
		}
		if n > textMax {
			return s[:i]
		}
	}
	return s
}

// nearness puts the cosine of each passage on the scale that the cohort makes.
func nearness(question []float32, passages, cohort [][]float32) []float64 {
	zero := 0.0
	for _, v := range cohort {
		zero += cosine(question, v) / float64(len(cohort))
	}
	out := make([]float64, len(passages))
	for i, v := range passages {
		out[i] = (cosine(question, v) - zero) / max(1-zero, 0.01)
	}
	return out
}

// fuse makes one plan of the ranking and of how near its passages are.
func fuse(k *digest.Ranking, near []float64) plan {
	byMeaning := make([]int, len(near))
	for i := range byMeaning {
		byMeaning[i] = i
	}
	slices.SortStableFunc(byMeaning, func(a, b int) int { return cmp.Compare(near[b], near[a]) })
	top := near[byMeaning[0]]
	alone := !k.Answered && top >= answersAlone && ahead(near, byMeaning) >= standsOut
	weight := wordsWeight
	if alone {
		weight = wordsElseWeight
	}
	scores := make([]float64, len(near))
	for i := range k.Ranked {
		scores[i] += weight / float64(rankConstant+i+1)
	}
	for rank, i := range byMeaning {
		scores[i] += meaningWeight / float64(rankConstant+rank+1)
	}
	order := slices.Clone(byMeaning)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })

	// Where meaning alone answers, the passage that does comes first. Of two questions
	// in one, each has its best passage before the others.
	firsts := 1
	if alone {
		order = unique(slices.Concat(byMeaning[:1], order))
	} else if best, n := k.Order(); n > 1 {
		order = unique(slices.Concat(order[:1], best[:n], order[1:]))
		firsts = n
		if !slices.Contains(best[:n], order[0]) {
			firsts++
		}
	}
	p := plan{method: sift.DigestHybrid, firsts: firsts, answered: alone || k.Answered && top >= answersBeside}
	var behind []int
	for at, i := range order {
		byWords := i < k.Ranked && k.Answered && k.Passages[i].Score >= farBehind*k.Passages[0].Score
		if at < firsts || near[i] >= nearShare*top || byWords {
			p.order = append(p.order, i)
		} else {
			behind = append(behind, i)
		}
	}
	p.near = len(p.order)
	p.order = append(p.order, behind...)
	for _, i := range p.order {
		p.scores = append(p.scores, scores[i]*(rankConstant+1)/(weight+meaningWeight))
	}
	for at := len(p.scores) - 2; at >= 0; at-- { // what was put before others is not worth less
		p.scores[at] = max(p.scores[at], p.scores[at+1])
	}
	return p
}

// ahead says by how much the nearest passage is nearer than the others. The only
// one is nearer than nothing.
func ahead(near []float64, order []int) float64 {
	other := 0.0
	if last := min(len(order), standsOutOf) - 1; last > 0 {
		other = near[order[last]]
	}
	return near[order[0]] - other
}

// farBehind is the share of the best score of words below which a passage is far
// behind by words, as in package digest.
const farBehind = 0.25

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
func (m *Models) nearestSentence(ctx context.Context, in shelf, question []float32, sentences []string) string {
	sentences = sentences[:min(len(sentences), batchTexts)]
	if len(sentences) < 2 {
		return ""
	}
	vectors, err := m.vectors(ctx, in, sentences)
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
