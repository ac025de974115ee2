// Package spelling says how far a word that was written is from one that exists,
// for everything that asks "did you mean …?". What counts as near is for the
// caller to say.
//
//	if spelling.Distance([]byte("mdoe"), []byte("mode")) <= 1 { … }
package spelling

// Distance counts the letters that must be put in, left out, replaced or swapped
// with their neighbour to make one word of the other (the optimal string
// alignment distance). Time and memory grow with the product and the length of
// the words: bound them before.
func Distance[T comparable](a, b []T) int {
	var c Comparer[T]
	return c.Distance(a, b)
}

// A Comparer compares many words in the same memory. The zero value is ready. It
// belongs to one goroutine at a time.
type Comparer[T comparable] struct{ rows [3][]int }

// Distance is as the function of that name.
func (c *Comparer[T]) Distance(a, b []T) int {
	for i := range c.rows {
		if len(c.rows[i]) <= len(b) {
			c.rows[i] = make([]int, len(b)+1)
		}
	}
	before, last, row := c.rows[0], c.rows[1], c.rows[2]
	for j := range len(b) + 1 {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
