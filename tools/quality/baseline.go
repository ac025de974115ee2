package main

import (
	"math"
	"slices"
	"strings"
	"unicode"
)

// The plain way: windows of a fixed size, words in lower case as they stand, BM25
// with the values that most engines have by default. It says that nothing answers
// when no window has any word of the question.
const (
	windowChars = 800
	plainK1     = 1.2
	plainB      = 0.75
)

type window struct {
	place
	words map[string]int
	size  int
}

func windowsOf(content string) []window {
	var out []window
	runes := []rune(content)
	for start := 0; start < len(runes); start += windowChars {
		end := min(start+windowChars, len(runes))
		w := window{place: place{start, end}, words: make(map[string]int)}
		for _, word := range plainWords(string(runes[start:end])) {
			w.words[word]++
			w.size++
		}
		out = append(out, w)
	}
	return out
}

func plainWords(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// plain gives the windows that have a word of the question, the best first.
func plain(windows []window, question string) []place {
	total := 0
	for _, w := range windows {
		total += w.size
	}
	average := max(float64(total)/float64(max(len(windows), 1)), 1)
	asked := plainWords(question)
	slices.Sort(asked)
	asked = slices.Compact(asked)
	idf := make(map[string]float64)
	for _, word := range asked {
		n := 0.0
		for _, w := range windows {
			if w.words[word] > 0 {
				n++
			}
		}
		idf[word] = math.Log(1 + (float64(len(windows))-n+0.5)/(n+0.5))
	}
	type scored struct {
		place
		score float64
	}
	var out []scored
	for _, w := range windows {
		s := scored{place: w.place}
		for _, word := range asked {
			tf := float64(w.words[word])
			s.score += idf[word] * tf * (plainK1 + 1) / (tf + plainK1*(1-plainB+plainB*float64(w.size)/average))
		}
		if s.score > 0 {
			out = append(out, s)
		}
	}
	slices.SortStableFunc(out, func(a, b scored) int {
		if a.score > b.score {
			return -1
		}
		if a.score < b.score {
			return 1
		}
		return 0
	})
	places := make([]place, len(out))
	for i, s := range out {
		places[i] = s.place
	}
	return places
}
