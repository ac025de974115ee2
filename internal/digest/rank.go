package digest

import (
	"cmp"
	"context"
	"math"
	"slices"

	"sift.build/sift/internal/sift"
)

// The weights of the ranking. k1 and b are those of Okapi BM25 as its authors
// give them (Robertson and Zaragoza, The Probabilistic Relevance Framework, 2009:
// k1 between 1.2 and 2, b between 0.5 and 0.8, less where the length of a passage is
// chosen by who cut it rather than by who wrote it); fields are weighted before the
// saturation, as in their BM25F. The rest was chosen on the tuning half of
// testdata/questions; docs/question.md says how.
const (
	k1           = 1.5
	bBody        = 0.4
	headWeight   = 0.7 // of a word in the headings above, beside one in the passage
	leadWeight   = 0.4 // of a word in the header row, or in what introduces the list
	bHead        = 0.5
	likeStrength = 0.5 // of a word that is only like the one asked for

	lightWeight     = 0.5
	gramWeight      = 0.5
	softWholeWeight = 0.5 // of a hyphenated word as a whole
	partWeight      = 0.6 // of a word in a name of code
	partStrength    = 0.6

	coverPower  = 0.5  // how much it counts that a passage has all the words
	nearWeight  = 0.35 // that they stand together
	asideWeight = 0.12 // that the passages around it have them
	headCover   = 0.8  // how far a word in a heading above is in the passage
	leadCover   = 0.8
)

// candidateMax is how many passages are looked at closely, for each question in
// one.
const candidateMax = 64

// candidate is a passage with a word of the question. There may be a million of
// them in a hostile text, so it is kept small.
type candidate struct {
	from, to, start, end uint32
	lead                 [2]uint32
	heading, page        int32
	seq                  uint32 // which piece of the content it is
	words                uint32
	hits                 uint32 // index of the first in the pool
	hitCount             uint16
	leadWords            uint16
}

// hit says how often a term stands in a passage, and in what belongs to it.
type hit struct {
	term       uint16
	body, lead float32
}

// head is what a heading has of the question.
type head struct {
	hits  []hit
	words int
	done  bool
}

// ranking is a question put to a content.
type ranking struct {
	t Text
	q *question

	pieces     int
	bodyWords  int
	headWords  int
	candidates []candidate
	pool       []hit
	df         []float64
	heads      []head
	parents    []int32

	idf    []float64
	unit   []float64 // how much each word of the question tells
	sure   []float64 // how much it tells of whether there is an answer
	total  []float64 // for each question in one, of its words
	ideal  []float64 // what a passage with all of its terms would have
	known  []float64 // the share of it that stands anywhere in the content
	absent []bool    // for each word of the question
	base   []float32 // for each candidate, what it is worth at first sight

	all     bool // candidates are also those that have no word of the question
	lexer   lexer
	reader  reader
	matcher *matcher
	counts  []hit // of the passage being read, by term
	touched []int
	inLead  bool
}

// contentMax bounds, in bytes, what is ranked: offsets are 32 bits wide.
const contentMax = 1 << 31

// newRanking reads the whole content once.
func newRanking(ctx context.Context, t Text, q *question, size sizes, all bool) (*ranking, error) {
	if len(t.Content) >= contentMax {
		return nil, sift.Fail(sift.CodeTooLong, "the content is too long to be searched for an answer")
	}
	r := &ranking{
		t: t, q: q, df: make([]float64, len(q.terms)), matcher: newMatcher(q),
		counts: make([]hit, len(q.terms)), reader: reader{markdown: t.Markdown},
		heads: make([]head, len(t.Headings)), parents: parents(t.Headings), all: all,
	}
	r.lexer.emit = r.count
	s := splitter{t: t, size: size, emit: r.take}
	if err := s.run(ctx); err != nil {
		return nil, err
	}
	r.weigh()
	return r, nil
}

// parents gives for each heading the one that it stands under, -1: none.
func parents(heads []sift.Heading) []int32 {
	out := make([]int32, len(heads))
	var open []int32
	for i, h := range heads {
		for len(open) > 0 && heads[open[len(open)-1]].Level >= h.Level {
			open = open[:len(open)-1]
		}
		out[i] = -1
		if len(open) > 0 {
			out[i] = open[len(open)-1]
		}
		open = append(open, int32(i)) //nolint:gosec // as many as there are headings
	}
	return out
}

// count takes in one word of what is being read.
func (r *ranking) count(t token) {
	for _, m := range r.matcher.of(t) {
		h := &r.counts[m.term]
		if h.body == 0 && h.lead == 0 {
			r.touched = append(r.touched, m.term)
		}
		if r.inLead {
			h.lead += float32(m.strength)
		} else {
			h.body += float32(m.strength)
		}
	}
}

// take reads one piece of the content.
func (r *ranking) take(p piece) {
	headed := false
	for j, depth := p.heading, 0; j >= 0 && depth < trailMax; j, depth = int(r.parents[j]), depth+1 {
		h := r.head(j)
		r.headWords += h.words
		headed = headed || len(h.hits) > 0
	}
	r.inLead = false
	words := r.lexer.run(r.reader.of(r.t.Content[p.from:p.to]))
	r.pieces++
	r.bodyWords += words
	for _, term := range r.touched {
		r.df[term] += min(float64(r.counts[term].body), 1)
	}
	leadWords := 0
	if p.lead.to > 0 {
		r.inLead = true
		lead := r.t.Content[p.lead.from:p.lead.to]
		leadWords = r.lexer.run(r.reader.of(lead[:min(len(lead), leadBytes)]))
	}
	if len(r.touched) == 0 && !headed && (!r.all || words == 0) {
		return
	}
	first := len(r.pool)
	r.pool = r.counted(r.pool)
	//nolint:gosec // contentMax bounds them
	r.candidates = append(r.candidates, candidate{
		from: uint32(p.from), to: uint32(p.to), start: uint32(p.start), end: uint32(p.end),
		lead: [2]uint32{uint32(p.lead.from), uint32(p.lead.to)}, heading: int32(p.heading), page: int32(p.page),
		seq: uint32(r.pieces), words: uint32(words), leadWords: uint16(min(leadWords, math.MaxUint16)),
		hits: uint32(first), hitCount: uint16(len(r.pool) - first),
	})
}

// counted appends what was counted since the last time.
func (r *ranking) counted(to []hit) []hit {
	for _, term := range r.touched {
		h := r.counts[term]
		h.term = uint16(term) //nolint:gosec // a question has at most a thousand characters
		to = append(to, h)
		r.counts[term] = hit{}
	}
	r.touched = r.touched[:0]
	return to
}

const (
	trailMax   = 8   // headings that are read as one trail
	headingMax = 800 // bytes of one
	leadBytes  = 1200
)

// head reads a heading, once.
func (r *ranking) head(i int) *head {
	h := &r.heads[i]
	if !h.done {
		h.done = true
		r.inLead = false
		text := r.t.Headings[i].Text
		h.words = r.lexer.run(text[:min(len(text), headingMax)])
		h.hits = r.counted(nil)
	}
	return h
}

// weigh computes how much each term, and each word of the question, tells.
func (r *ranking) weigh() {
	n := float64(r.pieces)
	idf := func(df float64) float64 { return math.Log(1 + (n-min(df, n)+0.5)/(df+0.5)) }
	r.idf = make([]float64, len(r.q.terms))
	r.unit = make([]float64, len(r.q.units))
	r.sure = make([]float64, len(r.q.units))
	best := make([]float64, len(r.q.units)) // document frequency
	for i, t := range r.q.terms {
		r.idf[i] = idf(r.df[i])
		for _, a := range t.units {
			best[a.unit] = max(best[a.unit], r.df[i])
		}
	}
	for i, u := range r.q.units {
		r.unit[i] = u.weight * idf(best[i])
		r.sure[i] = r.q.surety(i) * idf(best[i])
	}
	r.absent = make([]bool, len(r.q.units))
	r.ideal = make([]float64, r.q.aspects)
	r.known = make([]float64, r.q.aspects)
	total := make([]float64, r.q.aspects)
	for i, u := range r.q.units {
		total[u.aspect] += r.unit[i]
		if r.absent[i] = best[i] == 0; !r.absent[i] {
			r.known[u.aspect] += r.unit[i]
		}
	}
	r.total = total
	for a := range r.known {
		r.known[a] /= max(total[a], math.SmallestNonzeroFloat64)
	}
	seen := make([]int, r.q.aspects)
	for i, t := range r.q.terms {
		for _, ans := range t.units {
			if a := r.q.units[ans.unit].aspect; seen[a] != i+1 {
				seen[a] = i + 1
				r.ideal[a] += t.weight * r.idf[i]
			}
		}
	}
}

// scored is a candidate with what it is worth.
type scored struct {
	candidate
	index int
	score float64
	sure  []float64 // for each question in one, which share of it the passage has
	best  int       // which it answers best
	of    []float64 // for each question in one
}

// scorer has what scoring one passage after the other needs.
type scorer struct {
	r         *ranking
	tf, cover []float64 // by term, by word of the question
	terms     []int
	of, share []float64 // by question in one
}

func (r *ranking) scorer() *scorer {
	return &scorer{
		r: r, tf: make([]float64, len(r.q.terms)), cover: make([]float64, len(r.q.units)),
		of: make([]float64, r.q.aspects), share: make([]float64, r.q.aspects),
	}
}

// rate gives, for each question in one, how well the passage fits, from 0 to 1. It
// is overwritten by the next call.
func (s *scorer) rate(c *candidate) []float64 {
	r := s.r
	clear(s.of)
	clear(s.share)
	clear(s.cover)
	bodyNorm := 1 - bBody + bBody*float64(c.words)/max(float64(r.bodyWords)/float64(r.pieces), 1)
	add := func(term uint16, n float64) {
		if s.tf[term] == 0 {
			s.terms = append(s.terms, int(term))
		}
		s.tf[term] += n
	}
	for _, h := range r.pool[c.hits : c.hits+uint32(c.hitCount)] {
		add(h.term, float64(h.body)/bodyNorm+leadWeight*float64(h.lead)/bodyNorm)
		s.covers(h.term, float64(h.body)+leadCover*float64(h.lead))
	}
	words := 0
	for j, depth := int(c.heading), 0; j >= 0 && depth < trailMax; j, depth = int(r.parents[j]), depth+1 {
		words += r.heads[j].words
	}
	headNorm := 1 - bHead + bHead*float64(words)/max(float64(r.headWords)/float64(r.pieces), 1)
	for j, depth := int(c.heading), 0; j >= 0 && depth < trailMax; j, depth = int(r.parents[j]), depth+1 {
		for _, h := range r.heads[j].hits {
			add(h.term, headWeight*float64(h.body)/headNorm)
			s.covers(h.term, float64(h.body)*headCover)
		}
	}
	for _, t := range s.terms {
		term := &r.q.terms[t]
		v := term.weight * r.idf[t] * s.tf[t] / (k1 + s.tf[t])
		s.tf[t] = 0
		last := -1
		for _, a := range term.units {
			if aspect := r.q.units[a.unit].aspect; aspect != last {
				s.of[aspect] += v
				last = aspect
			}
		}
	}
	s.terms = s.terms[:0]
	for i, u := range r.q.units {
		s.share[u.aspect] += s.cover[i] * r.unit[i]
	}
	for a := range s.of {
		s.share[a] /= max(r.total[a], math.SmallestNonzeroFloat64)
		s.of[a] = s.of[a] / max(r.ideal[a], math.SmallestNonzeroFloat64) * math.Pow(s.share[a], coverPower)
	}
	return s.of
}

// covers notes that the passage has a term.
func (s *scorer) covers(term uint16, n float64) {
	for _, a := range s.r.q.terms[term].units {
		s.cover[a.unit] = max(s.cover[a.unit], min(n, 1)*a.strength)
	}
}

// best gives the passages that are worth most, at most n for each question in
// one, the best first.
func (r *ranking) best(ctx context.Context, n int) ([]scored, error) {
	s := r.scorer()
	base := make([]float32, len(r.candidates))
	r.base = base
	tops := make([]top, r.q.aspects)
	for i := range r.candidates {
		if i%4096 == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		of := s.rate(&r.candidates[i])
		for a, v := range of {
			base[i] = max(base[i], float32(v))
			tops[a].add(i, v, n)
		}
	}
	taken := make(map[int]bool)
	var out []scored
	for _, t := range tops {
		for _, e := range t {
			if !taken[e.index] {
				taken[e.index] = true
				out = append(out, r.close(s, e.index, base))
			}
		}
	}
	slices.SortStableFunc(out, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.seq, b.seq))
	})
	return out, ctx.Err()
}

// top holds the n best, as a heap with the worst at its root.
type top []ratedCandidate

// ratedCandidate is one with what it is worth at first sight.
type ratedCandidate struct {
	value float64
	index int
}

func (t *top) add(index int, value float64, n int) {
	h := *t
	switch {
	case value <= 0:
		return
	case len(h) < n:
		h = append(h, ratedCandidate{value, index})
		for i := len(h) - 1; i > 0 && h[i].value < h[(i-1)/2].value; i = (i - 1) / 2 {
			h[i], h[(i-1)/2] = h[(i-1)/2], h[i]
		}
		*t = h
		return
	case value <= h[0].value:
		return
	}
	h[0].value, h[0].index = value, index
	for i := 0; ; {
		c := 2*i + 1
		if c >= len(h) {
			return
		}
		if c+1 < len(h) && h[c+1].value < h[c].value {
			c++
		}
		if h[i].value <= h[c].value {
			return
		}
		h[i], h[c] = h[c], h[i]
		i = c
	}
}

// close looks closely at one passage: where the words stand in it, and what is
// around it.
func (r *ranking) close(s *scorer, i int, base []float32) scored {
	c := &r.candidates[i]
	of := s.rate(c)
	out := scored{candidate: *c, index: i, of: slices.Clone(of), sure: r.shares(s.cover)}
	near := r.nearness(c)
	aside := 0.0
	for _, j := range []int{i - 1, i + 1} {
		if j >= 0 && j < len(base) && r.candidates[j].heading == c.heading && (r.candidates[j].seq == c.seq+1 || r.candidates[j].seq+1 == c.seq) {
			aside = max(aside, float64(base[j]))
		}
	}
	for a := range out.of {
		v := out.of[a] * (1 + nearWeight*near[a])
		v += asideWeight * aside
		out.of[a] = v
		if v > out.score || a == 0 {
			out.score, out.best = v, a
		}
	}
	return out
}

// nearness says, for each question in one, how near to each other the words that
// stand next to each other in it stand in the passage, from 0 to 1, weighted by
// how much they tell.
func (r *ranking) nearness(c *candidate) (near []float64) {
	at := make([][]int, len(r.q.units))
	l := lexer{emit: func(t token) {
		for _, m := range r.matcher.of(t) {
			for _, a := range r.q.terms[m.term].units {
				if p := at[a.unit]; len(p) < 64 && (len(p) == 0 || p[len(p)-1] != t.pos) {
					at[a.unit] = append(p, t.pos)
				}
			}
		}
	}}
	l.run(r.reader.of(r.t.Content[c.from:c.to]))
	near = make([]float64, r.q.aspects)
	total := make([]float64, r.q.aspects)
	for i := 1; i < len(r.q.units); i++ {
		a := r.q.units[i].aspect
		if r.q.units[i-1].aspect != a {
			continue
		}
		w := min(r.unit[i-1], r.unit[i])
		total[a] += w
		if d := distance(at[i-1], at[i]); d >= 0 {
			near[a] += w / (1 + float64(max(d-1, 0))/nearWords)
		}
	}
	for a := range near {
		if total[a] > 0 {
			near[a] /= total[a]
		}
	}
	return near
}

// nearWords is the distance at which two words count half.
const nearWords = 4

// distance is the smallest one between two sorted lists; -1: one is empty.
func distance(a, b []int) int {
	best := -1
	for i, j := 0, 0; i < len(a) && j < len(b); {
		d := a[i] - b[j]
		if d < 0 {
			d = -d
		}
		if best < 0 || d < best {
			best = d
		}
		if a[i] < b[j] {
			i++
		} else {
			j++
		}
	}
	return best
}
