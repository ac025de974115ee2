package digest

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"sift.build/sift/internal/render"
	"sift.build/sift/internal/sift"
)

// Text is a content, and what is known of it.
type Text struct {
	Content  string // all of it, Markdown or plain text
	Markdown bool

	// Headings are the headings of Content in its order, each with the offset of its
	// line in characters.
	Headings []sift.Heading

	// Pages are the offsets at which the pages of a PDF begin, in order; the line
	// there is the page's marker. The first is below 0 where Content begins in the
	// middle of a page.
	Pages []render.PageStart

	// Language is what the document says it is in (BCP 47). It may be empty, and
	// it may be wrong.
	Language string
}

// Options says how much is wanted. Zero is the default.
type Options struct {
	MaxChars    int // of all passages together; 0: DefaultChars
	MaxPassages int // 0: DefaultPassages
}

// What is given where Options does not say.
const (
	DefaultChars    = 3000
	DefaultPassages = 5
)

// Extract gives the passages of t that answer the question. The error is a
// Failure: invalid for what is no question, timeout or cancel when ctx ends.
func Extract(ctx context.Context, t Text, question string, o Options) (sift.Digest, error) {
	r, err := Rank(ctx, t, question, o)
	if err != nil {
		return sift.Digest{}, err
	}
	return r.Digest(), nil
}

// Ranking is the passages of a content in the order of how well they fit a
// question.
type Ranking struct {
	// Passages are the best, at most MaxRanked, the best first, N being the rank.
	// They may overlap in what they say, and none of them need answer the question.
	// After RankAll others follow.
	Passages []sift.Passage

	// Ranked is how many of Passages have a word of the question, in themselves or
	// in a heading above. The others stand in the order of the content.
	Ranked int

	// Answered says that the question is answered, as far as words can tell, and
	// Margin by how much of its words it is so: which share one passage has, less
	// the share that is enough. Below 0 it is not.
	Answered bool
	Margin   float64

	question string
	options  Options
	q        *question
	r        *ranking
	scored   []scored  // as many as Passages
	sure     []float64 // for each question in one, how sure it is that it is answered
	looked   int       // so many of them, the best, were looked at closely
}

// MaxRanked is how many passages Rank gives for each question in one.
const MaxRanked = candidateMax

// Rank ranks the passages of t. Its errors are those of Extract.
func Rank(ctx context.Context, t Text, question string, o Options) (Ranking, error) {
	return rank(ctx, t, question, o, 0)
}

// RankAll is Rank with the passages that words do not bring to the top, for
// another measure to find an answer in that shares no word with the question. At
// most limit passages come back: all that have a word at all; of more, those that
// Rank gives, the others that have a word of the question in the order of their
// score, and in what room is left some that have none, taken evenly from the whole
// content. What is quoted in the question is in all of them.
func RankAll(ctx context.Context, t Text, question string, o Options, limit int) (Ranking, error) {
	return rank(ctx, t, question, o, limit)
}

// rank gives the best, and others up to limit.
func rank(ctx context.Context, t Text, question string, o Options, limit int) (Ranking, error) {
	if o.MaxChars <= 0 {
		o.MaxChars = DefaultChars
	}
	if o.MaxPassages <= 0 {
		o.MaxPassages = DefaultPassages
	}
	q, err := parseQuestion(question, t.Content, t.Language)
	if err != nil {
		return Ranking{}, err
	}
	r, err := newRanking(ctx, t, q, sizesFor(o.MaxChars), limit > 0)
	if err != nil {
		return Ranking{}, ended(err)
	}
	best, err := r.best(ctx, candidateMax)
	if err != nil {
		return Ranking{}, ended(err)
	}
	others, ranked := r.others(best, limit-len(best))
	best = r.withPhrases(best)
	out := Ranking{question: question, options: o, q: q, r: r, scored: best, looked: len(best), Margin: -r.enough()}
	if len(best) > 0 {
		out.sure = r.confidence(best)
		out.Margin += slices.Max(out.sure)
		out.Answered = out.Margin >= 0
	}
	with := r.withPhrases(others[:ranked])
	out.Ranked = len(best) + len(with)
	out.scored = slices.Concat(best, with, r.withPhrases(others[ranked:]))
	for i, s := range out.scored {
		p := r.passage(s)
		p.N = i + 1
		out.Passages = append(out.Passages, p)
	}
	// A Ranking may be held while a model is asked. What was most of its memory is
	// not needed any more.
	r.candidates, r.pool, r.base, r.heads = nil, nil, nil, nil
	r.matcher.known = make(map[string][]match)
	return out, nil
}

// others gives at most n of the passages that are not among the best: first
// those that have a word of the question, by their score, then such as have none,
// taken evenly. It also says how many of the first kind there are.
func (r *ranking) others(best []scored, n int) (out []scored, ranked int) {
	if n <= 0 {
		return nil, 0
	}
	taken := make(map[int]bool, len(best))
	for _, s := range best {
		taken[s.index] = true
	}
	// There may be a million of them: only those that are wanted are held.
	var with top
	without := 0
	for i := range r.candidates {
		switch {
		case taken[i]:
		case r.base[i] > 0:
			with.add(i, float64(r.base[i]), n)
		default:
			without++
		}
	}
	slices.SortFunc(with, func(a, b ratedCandidate) int {
		return cmp.Or(cmp.Compare(b.value, a.value), cmp.Compare(a.index, b.index))
	})
	for _, e := range with {
		out = append(out, scored{candidate: r.candidates[e.index], index: e.index, score: e.value})
	}
	left := min(n-len(with), without)
	seen, given := 0, 0
	for i := range r.candidates {
		if given == left {
			break
		}
		if taken[i] || r.base[i] > 0 {
			continue
		}
		if seen == given*without/left {
			out = append(out, scored{candidate: r.candidates[i], index: i})
			given++
		}
		seen++
	}
	return out, len(with)
}

func ended(err error) error {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return sift.Fail(sift.CodeTimeout, "the time was up before the whole content was searched for an answer").WithCause(err)
	case errors.Is(err, context.Canceled):
		return sift.Fail(sift.CodeCancel, "the caller went away").WithCause(err)
	}
	return err
}

// passage gives a candidate as a Passage, without its number.
func (r *ranking) passage(s scored) sift.Passage {
	return sift.Passage{
		Text: strings.Clone(r.t.Content[s.from:s.to]), Heading: r.trail(int(s.heading)), Page: int(s.page),
		Start: int(s.start), End: int(s.end), Score: math.Round(s.score*1000) / 1000,
	}
}

// trail writes the headings that a passage stands under.
func (r *ranking) trail(i int) string {
	var parts []string
	for depth := 0; i >= 0 && depth < trailMax; i, depth = int(r.parents[i]), depth+1 {
		if text := clip(strings.Join(strings.Fields(r.t.Headings[i].Text), " "), 120); text != "" {
			parts = append(parts, text)
		}
	}
	slices.Reverse(parts)
	return strings.Join(parts, " > ")
}

// clip cuts s behind n characters.
func clip(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i] + "…"
		}
		n--
	}
	return s
}

// withPhrases leaves those passages that have every quoted phrase, in themselves
// or in a heading above.
func (r *ranking) withPhrases(in []scored) []scored {
	if len(r.q.phrases) == 0 {
		return in
	}
	var out []scored
	for i := range in {
		if r.phrasesIn(&in[i].candidate) {
			out = append(out, in[i])
		}
	}
	return out
}

func (r *ranking) phrasesIn(c *candidate) bool {
	form := phraseForm(r.reader.of(r.t.Content[c.from:c.to]))
	var above string
	for _, p := range r.q.phrases {
		if hasPhrase(form, p) {
			continue
		}
		if above == "" {
			above = phraseForm(r.trail(int(c.heading)) + " \n " + r.reader.of(r.t.Content[c.lead[0]:c.lead[1]]))
		}
		if !hasPhrase(above, p) {
			return false
		}
	}
	return true
}

// Digest picks what goes into the answer, in the order of the ranking.
func (k *Ranking) Digest() sift.Digest {
	if !k.Answered {
		return sift.Digest{Question: k.question, Method: sift.DigestExtractive, Answer: k.nothing(), Passages: []sift.Passage{}}
	}
	order, firsts := k.order()
	return k.digest(sift.DigestExtractive, order, firsts)
}

// Choice is another order of the passages of a Ranking, in which another
// measure has its say.
type Choice struct {
	Method sift.DigestMethod
	Order  []int // indices of Passages, the best first; not all need be there

	// Scores are what is written as the scores of the passages in Order, from 0 to
	// 1. Without them it is the score of their words.
	Scores []float64

	// Firsts is how many passages at the beginning of Order have a line each in the
	// answer. 0: one has.
	Firsts int
}

// DigestOf picks in another order. Whether the question is answered is the
// caller's to know. With nothing in the order it is not.
func (k *Ranking) DigestOf(c Choice) sift.Digest {
	var of []scored
	for at, i := range c.Order {
		if i < 0 || i >= len(k.scored) {
			continue
		}
		s := k.scored[i]
		if at < len(c.Scores) {
			s.score = c.Scores[at]
		}
		of = append(of, s)
	}
	if len(of) == 0 {
		return sift.Digest{Question: k.question, Method: c.Method, Answer: k.nothing(), Passages: []sift.Passage{}}
	}
	return k.digest(c.Method, of, max(c.Firsts, 1))
}

// Order gives the indices of Passages in the order in which Digest picks from
// them, without leaving out what is far behind: the best for each question in one
// that is answered, the number of which is firsts, then the others that Rank
// gives.
func (k *Ranking) Order() (order []int, firsts int) {
	best := k.firsts()
	order = slices.Clone(best)
	for i := range k.looked {
		if !slices.Contains(best, i) {
			order = append(order, i)
		}
	}
	return order, len(best)
}

// Lead gives what belongs to passage i though it stands before it: the header
// row of its table, or what introduces its list. It may be empty.
func (k *Ranking) Lead(i int) string {
	c := k.scored[i]
	lead := k.r.t.Content[c.lead[0]:c.lead[1]]
	return strings.TrimSpace(strings.ToValidUTF8(lead[:min(len(lead), leadBytes)], ""))
}

// Sentences gives the sentences, items, lines and rows of passage i, of which
// the answer of a digest is one.
func (k *Ranking) Sentences(i int) []string {
	c := k.scored[i]
	var out []string
	text := k.r.t.Content[c.from:c.to]
	for at := range sentencesOf(text) {
		if s := clip(strings.TrimSpace(text[at.from:at.to]), answerChars); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// digest picks from order within the budget. The answer is from the first few.
func (k *Ranking) digest(method sift.DigestMethod, order []scored, firsts int) sift.Digest {
	d := sift.Digest{Question: k.question, Method: method, Passages: []sift.Passage{}}
	picked := k.pick(order)
	var answer []string
	for i, s := range picked {
		if i < firsts {
			answer = append(answer, k.r.sentence(s))
		}
	}
	d.Answer = strings.Join(slices.Compact(answer), "\n")
	slices.SortFunc(picked, func(a, b scored) int { return int(a.start) - int(b.start) })
	for i, s := range picked {
		p := k.r.passage(s)
		p.N = i + 1
		d.Passages = append(d.Passages, p)
	}
	return d
}

// nothing says that the question is not answered, and as far as it is known why.
func (k *Ranking) nothing() string {
	const says = "Nothing on this page answers the question."
	missing := k.missing()
	if len(missing) == 0 {
		return says
	}
	return says + " Not on the page: " + strings.Join(missing, ", ") + "."
}

// missing gives what was asked for and is not on the page, as it was written. A
// reader who looks for it finds no such word.
func (k *Ranking) missing() []string {
	content := k.r.reader.of(k.r.t.Content)
	page := phraseForm(content)
	var out []string
	for i, p := range k.q.phrases {
		if !hasPhrase(page, p) {
			out = append(out, `"`+clip(k.q.quoted[i], 80)+`"`)
		}
	}
	if len(out) > 0 {
		return out
	}
	for i, u := range k.q.units {
		if !k.r.absent[i] || utf8.RuneCountInString(u.shown) < 2 || slices.Contains(out, u.shown) {
			continue
		}
		form := phraseForm(u.shown)
		if form == "" && strings.Contains(content, u.shown) || form != "" && hasPhrase(page, form) {
			continue // it is there, in a place that does not count as a word
		}
		if out = append(out, u.shown); len(out) == missingMax {
			break
		}
	}
	return out
}

// missingMax bounds how many words are named that are not on the page.
const missingMax = 8

// firsts gives for each question in one that is answered its best passage, by
// score.
func (k *Ranking) firsts() []int {
	var firsts []int
	looked := k.scored[:k.looked]
	for a, confidence := range k.sure {
		best := 0
		for i, s := range looked {
			if s.of[a] > looked[best].of[a] {
				best = i
			}
		}
		if confidence >= k.r.enough() && !slices.Contains(firsts, best) {
			firsts = append(firsts, best)
		}
	}
	slices.SortStableFunc(firsts, func(a, b int) int { return cmp.Compare(looked[b].score, looked[a].score) })
	return firsts
}

// order is that in which passages are picked: for each question in one its best,
// then by score, those left out that are far behind. It also says how many are
// the best of a question.
func (k *Ranking) order() (order []scored, firsts int) {
	all, firsts := k.Order()
	for at, i := range all {
		if at < firsts || k.scored[i].score >= farBehind*k.scored[0].score {
			order = append(order, k.scored[i])
		}
	}
	return order, firsts
}

// pick chooses passages within the budget, in order, none that says what another
// has said. Where the first is longer than the budget it is cut: something is
// given whatever the budget is.
func (k *Ranking) pick(order []scored) []scored {
	var picked []scored
	var said []shingles
	left := k.options.MaxChars
	for i, s := range order {
		if len(picked) == k.options.MaxPassages {
			break
		}
		if i == 0 {
			s = k.r.cut(s, left)
		}
		size := int(s.end - s.start)
		if size > left {
			continue
		}
		sh := shinglesOf(k.r.reader.of(k.r.t.Content[s.from:s.to]))
		if slices.ContainsFunc(said, sh.near) {
			continue
		}
		picked, said = append(picked, s), append(said, sh)
		left -= size
	}
	return picked
}

// cut leaves n characters of a passage: from the sentence on that has most of the
// question, and what stands before it if there is room, up to the end of a word.
func (r *ranking) cut(s scored, n int) scored {
	if int(s.end-s.start) <= n {
		return s
	}
	text := r.t.Content[s.from:s.to]
	best := r.bestSentence(s)
	from := best.from + len(text[best.from:]) - len(strings.TrimLeftFunc(text[best.from:], unicode.IsSpace))
	end := strings.TrimRightFunc(text, unicode.IsSpace)
	for at := range sentencesOf(text) { // the first from which on all fits
		start := at.from + len(text[at.from:]) - len(strings.TrimLeftFunc(text[at.from:], unicode.IsSpace))
		if start < from && utf8.RuneCountInString(end[min(start, len(end)):]) <= n {
			from = start
		}
	}
	part := upTo(end[min(from, len(end)):], n)
	//nolint:gosec // within the passage
	s.start += uint32(utf8.RuneCountInString(text[:from]))
	s.from += uint32(from)                                 //nolint:gosec // likewise
	s.to = s.from + uint32(len(part))                      //nolint:gosec // likewise
	s.end = s.start + uint32(utf8.RuneCountInString(part)) //nolint:gosec // likewise
	return s
}

// upTo cuts s behind at most n characters: behind a word, or where there is no
// such place in the second half, between two characters as a reader sees them.
func upTo(s string, n int) string {
	end := 0
	for ; n > 0 && end < len(s); n-- {
		_, size := utf8.DecodeRuneInString(s[end:])
		end += size
	}
	if end == len(s) {
		return s
	}
	if r, _ := utf8.DecodeRuneInString(s[end:]); !unicode.IsSpace(r) {
		if i := strings.LastIndexFunc(s[:end], unicode.IsSpace); i > end/2 {
			end = i
		} else {
			end = wholeCharacter(s, end)
		}
	}
	return strings.TrimRightFunc(s[:end], unicode.IsSpace)
}

// answerChars bounds the answer.
const answerChars = 400

// givenShare is how much a word of the question counts in a sentence when the
// headings above or the header row of its table say it anyway.
const givenShare = 0.3

// sentence gives the sentence, the item, the line or the row of a passage that
// has most of the question.
func (r *ranking) sentence(c scored) string {
	text := r.t.Content[c.from:c.to]
	at := r.bestSentence(c)
	return clip(strings.TrimFunc(text[at.from:at.to], unicode.IsSpace), answerChars)
}

// bestSentence says where it is.
func (r *ranking) bestSentence(c scored) span {
	text := r.t.Content[c.from:c.to]
	has := make([]float64, len(r.q.units))
	l := lexer{emit: func(t token) {
		for _, m := range r.matcher.of(t) {
			for _, a := range r.q.terms[m.term].units {
				has[a.unit] = max(has[a.unit], m.strength*a.strength)
			}
		}
	}}
	l.run(r.trail(int(c.heading)))
	l.run(r.reader.of(r.t.Content[c.lead[0]:c.lead[1]]))
	l.run(r.reader.of(headerOf(text)))
	given := slices.Clone(has)
	best, score := span{0, len(text)}, -1.0
	for at := range sentencesOf(text) {
		clear(has)
		words := l.run(r.reader.of(text[at.from:at.to]))
		v := 0.0
		for i, n := range has {
			v += n * r.unit[i] * (1 - (1-givenShare)*given[i])
		}
		if words > 2 && v > score {
			best, score = at, v
		}
	}
	return best
}
