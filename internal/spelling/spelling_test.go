package spelling

import "testing"

func TestASlipOfEachKindCountsOne(t *testing.T) {
	var c Comparer[rune] // one for all, so that what it holds of a word is seen in the next
	for _, x := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"mode", "mode", 0}, {"", "mode", 4}, {"mode", "", 4},
		{"mode", "modes", 1}, {"modes", "mode", 1}, {"mode", "made", 1}, {"mode", "mdoe", 1},
		{"offset", "ofsett", 2}, {"kitten", "sitting", 3}, {"abcdefghij", "jihgfedcba", 9}, // but the two in the middle
		{"ca", "abc", 3}, // no letter is touched twice
		{"größe", "grösse", 2}, {"日本", "本日", 1},
	} {
		a, b := []rune(x.a), []rune(x.b)
		for _, got := range []int{Distance(a, b), Distance(b, a), c.Distance(a, b), c.Distance(b, a)} {
			if got != x.want {
				t.Errorf("%q and %q: %d, want %d", x.a, x.b, got, x.want)
			}
		}
	}
	if got := Distance([]byte("mdoe"), []byte("mode")); got != 1 {
		t.Errorf("bytes: %d", got)
	}
}

func TestAComparerTakesItsMemoryOnce(t *testing.T) {
	var c Comparer[byte]
	a, b := []byte("installation"), []byte("instalation")
	c.Distance(a, b)
	if n := testing.AllocsPerRun(100, func() { c.Distance(b, a[:5]) }); n != 0 {
		t.Errorf("%v allocations a comparison", n)
	}
}
