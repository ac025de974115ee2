package main

import (
	"math/bits"
	"strings"
)

// align says for each block how much of it is marked content: the share of its
// words that are matched with words of the content. Words are matched along a
// longest common subsequence, where the word before or behind is matched with
// the one beside it too; what the content has in another order is found by
// runs of three words that are not matched yet.
func align(page, ends, gold []int) []float32 {
	match := subsequence(page, gold)
	used := make([]bool, len(gold))
	for i, j := range match {
		if j < 0 {
			continue
		}
		before := i > 0 && j > 0 && match[i-1] == j-1
		after := i+1 < len(match) && match[i+1] == j+1
		if !before && !after {
			match[i] = -1
		}
	}
	for _, j := range match {
		if j >= 0 {
			used[j] = true
		}
	}
	// A word that was dropped for standing alone elsewhere is matched where the
	// words beside it are.
	for i := 1; i < len(match); i++ {
		if j := match[i-1] + 1; j > 0 && match[i] < 0 && j < len(gold) && !used[j] && page[i] == gold[j] {
			match[i], used[j] = j, true
		}
	}
	for i := len(match) - 2; i >= 0; i-- {
		if j := match[i+1] - 1; j >= 0 && match[i] < 0 && !used[j] && page[i] == gold[j] {
			match[i], used[j] = j, true
		}
	}
	moved(page, gold, match, used)
	labels := make([]float32, len(ends))
	from := 0
	for k, to := range ends {
		n := 0
		for i := from; i < to; i++ {
			if match[i] >= 0 {
				n++
			}
		}
		if to > from {
			labels[k] = float32(n) / float32(to-from)
		}
		from = to
	}
	return nearest(page, ends, labels)
}

// moved matches words of the content that stand elsewhere on the page, in runs
// of at least three.
func moved(page, gold, match []int, used []bool) {
	type gram [3]int
	at := map[gram][]int{}
	for j := 0; j+3 <= len(gold); j++ {
		if !used[j] && !used[j+1] && !used[j+2] {
			g := gram(gold[j : j+3])
			at[g] = append(at[g], j)
		}
	}
	for i := 0; i+3 <= len(page); i++ {
		if match[i] >= 0 || match[i+1] >= 0 || match[i+2] >= 0 {
			continue
		}
		for _, j := range at[gram(page[i:i+3])] {
			if used[j] || used[j+1] || used[j+2] {
				continue
			}
			for k := 0; i+k < len(page) && j+k < len(gold) && page[i+k] == gold[j+k] && match[i+k] < 0 && !used[j+k]; k++ {
				match[i+k], used[j+k] = j+k, true
			}
			break
		}
	}
}

// nearest moves the label of a short block to the one with the same words that
// is nearest to a long block of content: which of them was meant the words do
// not tell.
func nearest(page, ends []int, labels []float32) []float32 {
	const short, long = 14, 15
	start := func(k int) int {
		if k == 0 {
			return 0
		}
		return ends[k-1]
	}
	key := func(k int) string {
		var b strings.Builder
		for _, w := range page[start(k):ends[k]] {
			b.WriteRune(rune(w + 1))
		}
		return b.String()
	}
	same := map[string][]int{}
	dist := make([]int, len(ends))
	last := -1 << 20
	for k := range ends {
		if ends[k]-start(k) >= long && labels[k] > 0.5 {
			last = k
		}
		dist[k] = k - last
	}
	last = 1 << 20
	for k := len(ends) - 1; k >= 0; k-- {
		if ends[k]-start(k) >= long && labels[k] > 0.5 {
			last = k
		}
		dist[k] = min(dist[k], last-k)
		if n := ends[k] - start(k); n > 0 && n <= short {
			s := key(k)
			same[s] = append(same[s], k)
		}
	}
	for _, list := range same {
		if len(list) < 2 {
			continue
		}
		for range list {
			from, to := -1, -1
			for _, k := range list {
				if labels[k] > 0.5 && (from < 0 || dist[k] > dist[from]) {
					from = k
				}
				if labels[k] <= 0.5 && (to < 0 || dist[k] < dist[to]) {
					to = k
				}
			}
			if from < 0 || to < 0 || dist[to] >= dist[from] {
				break
			}
			labels[from], labels[to] = labels[to], labels[from]
		}
	}
	return labels
}

// subsequence gives for each element of a the element of b that it is matched
// with in a longest common subsequence, or -1. It keeps a bit for each pair,
// after Hyyrö, "Bit-parallel LCS-length computation revisited" (2004).
func subsequence(a, b []int) []int {
	match := make([]int, len(a))
	for i := range match {
		match[i] = -1
	}
	if len(a) == 0 || len(b) == 0 {
		return match
	}
	words := (len(b) + 63) / 64
	where := map[int][]uint64{}
	for j, w := range b {
		if where[w] == nil {
			where[w] = make([]uint64, words)
		}
		where[w][j/64] |= 1 << (j % 64)
	}
	rows := make([]uint64, (len(a)+1)*words)
	for k := range words {
		rows[k] = ^uint64(0)
	}
	for i, w := range a {
		from, to := rows[i*words:(i+1)*words], rows[(i+1)*words:(i+2)*words]
		m := where[w]
		if m == nil {
			copy(to, from)
			continue
		}
		var carry uint64
		for k := range words {
			v := from[k]
			u := v & m[k]
			var sum uint64
			sum, carry = bits.Add64(v, u, carry)
			to[k] = sum | v&^m[k]
		}
	}
	bit := func(i, j int) bool { return rows[i*words+j/64]>>(j%64)&1 != 0 }
	for i, j := len(a), len(b); i > 0 && j > 0; {
		if bit(i, j-1) {
			j--
			continue
		}
		i--
		if i > 0 && !bit(i, j-1) {
			continue
		}
		j--
		match[i] = j
	}
	return match
}
