package main

import (
	"math/rand/v2"
	"slices"
	"testing"

	"sift.build/sift/tools/wcxb"
)

// numbers turns texts into words by number, as describe does.
func numbers(gold string, blocks ...string) (words, ends, marked []int) {
	n := map[string]int{}
	add := func(to []int, s string) []int {
		for _, w := range wcxb.Words(s) {
			if _, ok := n[w]; !ok {
				n[w] = len(n)
			}
			to = append(to, n[w])
		}
		return to
	}
	marked = add(nil, gold)
	for _, b := range blocks {
		words = add(words, b)
		ends = append(ends, len(words))
	}
	return words, ends, marked
}

func TestBlocksAreLabelledByWhatOfThemIsMarked(t *testing.T) {
	long := "the weir was rebuilt in stages so that the water never stopped at any time of the year"
	for _, tt := range []struct {
		name, gold string
		blocks     []string
		want       []float32
	}{
		{"in order", "One two three.\nFour five six.", []string{"home about", "one two three", "four five six", "privacy terms"}, []float32{0, 1, 1, 0}},
		{"half of a block", "one two three four", []string{"one two three four five six seven eight"}, []float32{0.5}},
		{"single words by chance", "an old gate of oak", []string{"an hour ago", "an old gate of oak", "of interest"}, []float32{0, 1, 0}},
		{"in another order", "four five six seven\none two three", []string{"one two three", "four five six seven"}, []float32{1, 1}},
		{"the copy beside the text", "read on " + long, []string{"read on", "a menu of other words", "read on", long}, []float32{0, 0, 1, 1}},
		{"nothing is marked", "", []string{"a b c"}, []float32{0}},
	} {
		words, ends, gold := numbers(tt.gold, tt.blocks...)
		if got := align(words, ends, gold); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestALongestCommonSubsequenceIsFound(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		a, b := make([]int, r.IntN(200)), make([]int, r.IntN(200))
		for i := range a {
			a[i] = r.IntN(8)
		}
		for i := range b {
			b[i] = r.IntN(8)
		}
		// By the textbook's table.
		table := make([][]int, len(a)+1)
		for i := range table {
			table[i] = make([]int, len(b)+1)
			for j := range table[i] {
				switch {
				case i == 0 || j == 0:
				case a[i-1] == b[j-1]:
					table[i][j] = table[i-1][j-1] + 1
				default:
					table[i][j] = max(table[i-1][j], table[i][j-1])
				}
			}
		}
		n, last := 0, -1
		for i, j := range subsequence(a, b) {
			if j < 0 {
				continue
			}
			if j <= last || a[i] != b[j] {
				t.Fatalf("%v and %v: %d is matched with %d after %d", a, b, i, j, last)
			}
			n, last = n+1, j
		}
		if want := table[len(a)][len(b)]; n != want {
			t.Fatalf("%v and %v: %d matched, %d can be", a, b, n, want)
		}
	}
}
