package main

import (
	"context"
	"fmt"
	"slices"
	"unicode/utf8"

	"sift.build/sift/internal/digest"
	"sift.build/sift/internal/render"
)

// depth is how far down a ranking an answer is looked for, and windowsGiven how
// many windows the plain way hands back.
const (
	depth        = digest.MaxRanked
	windowsGiven = 5
)

// figures are what one way came to over some questions.
type figures struct {
	answerable, unanswerable int

	at         [3]int  // the answer is the first, among the first three, five
	reciprocal float64 // sum of one over the answer's rank
	given      int     // the answer is in what is handed back

	falseNothing int // nothing, though there is an answer
	trueNothing  int // nothing, and there is none

	chars, tokens         int // handed back for what has an answer
	pageChars, pageTokens int // of the pages, once for each question that has an answer
}

func (f *figures) add(g figures) {
	f.answerable += g.answerable
	f.unanswerable += g.unanswerable
	for i := range f.at {
		f.at[i] += g.at[i]
	}
	f.reciprocal += g.reciprocal
	f.given += g.given
	f.falseNothing += g.falseNothing
	f.trueNothing += g.trueNothing
	f.chars += g.chars
	f.tokens += g.tokens
	f.pageChars += g.pageChars
	f.pageTokens += g.pageTokens
}

func share(n, of int) float64 { return float64(n) / float64(max(of, 1)) }

func (f *figures) recall(i int) float64 { return share(f.at[i], f.answerable) }
func (f *figures) mrr() float64         { return f.reciprocal / float64(max(f.answerable, 1)) }

// balanced is how often "nothing" was right: the mean of both kinds of question,
// since there are more of the one than of the other.
func (f *figures) balanced() float64 {
	return (share(f.answerable-f.falseNothing, f.answerable) + share(f.trueNothing, f.unanswerable)) / 2
}

// measured is a document with what both ways came to.
type measured struct {
	questions
	ours, plain figures
	missed      []string // what has an answer that ours does not hand back, or none that ours answers
}

// measure puts the questions to their document.
func (l *library) measure(ctx context.Context, q questions) (measured, error) {
	m := measured{questions: q}
	text, err := l.document(ctx, q.document)
	if err != nil {
		return m, fmt.Errorf("%s: %w", q.document, err)
	}
	windows := windowsOf(text.Content)
	tokens := render.Tokens(text.Content)
	chars := utf8.RuneCountInString(text.Content)
	for _, question := range q.list {
		var answers []place
		for _, a := range question.answers {
			answers = append(answers, placesOf(text.Content, a)...)
		}
		if len(question.answers) > 0 && len(answers) == 0 {
			return m, fmt.Errorf("%s: the answer to %q is not in %s; has the document changed?", q.file, question.text, q.document)
		}
		ranking, err := digest.Rank(ctx, text, question.text, digest.Options{})
		if err != nil {
			return m, fmt.Errorf("%q: %w", question.text, err)
		}
		ours := result{nothing: !ranking.Answered}
		for _, p := range ranking.Passages {
			ours.ranked = append(ours.ranked, place{p.Start, p.End})
		}
		d := ranking.Digest()
		for _, p := range d.Passages {
			ours.given = append(ours.given, place{p.Start, p.End})
			ours.tokens += render.Tokens(p.Text)
		}
		theirs := result{ranked: plain(windows, question.text)}
		theirs.nothing = len(theirs.ranked) == 0
		theirs.given = theirs.ranked[:min(len(theirs.ranked), windowsGiven)]
		runes := []rune(text.Content)
		for _, p := range theirs.given {
			theirs.tokens += render.Tokens(string(runes[p.start:p.end]))
		}
		if !m.ours.score(ours, answers, chars, tokens) {
			m.missed = append(m.missed, describe(question, ours, answers))
		}
		m.plain.score(theirs, answers, chars, tokens)
	}
	return m, nil
}

// result is what one way gives for a question.
type result struct {
	ranked, given []place
	nothing       bool
	tokens        int
}

// score takes in one result, and says whether it was right.
func (f *figures) score(r result, answers []place, pageChars, pageTokens int) bool {
	if len(answers) == 0 {
		f.unanswerable++
		if r.nothing {
			f.trueNothing++
		}
		return r.nothing
	}
	f.answerable++
	f.pageChars += pageChars
	f.pageTokens += pageTokens
	f.tokens += r.tokens
	for _, p := range r.given {
		f.chars += p.end - p.start
	}
	if rank := rankOf(r.ranked, answers); rank > 0 && rank <= depth {
		f.reciprocal += 1 / float64(rank)
		for i, n := range []int{1, 3, 5} {
			if rank <= n {
				f.at[i]++
			}
		}
	}
	if r.nothing {
		f.falseNothing++
	}
	ok := rankOf(r.given, answers) > 0
	if ok {
		f.given++
	}
	return ok
}

// rankOf is the rank of the first place that holds half of an answer and more;
// 0: none does.
func rankOf(places, answers []place) int {
	return 1 + slices.IndexFunc(places, func(p place) bool {
		return slices.ContainsFunc(answers, func(a place) bool {
			return 2*(min(p.end, a.end)-max(p.start, a.start)) >= a.end-a.start
		})
	})
}

func describe(q question, r result, answers []place) string {
	switch {
	case len(answers) == 0:
		return "answered, and there is nothing: " + q.text
	case r.nothing:
		return fmt.Sprintf("nothing, and there is an answer (rank %d): %s", rankOf(r.ranked, answers), q.text)
	}
	return fmt.Sprintf("not handed back (rank %d): %s", rankOf(r.ranked, answers), q.text)
}
