package digest

import (
	"testing"

	"sift.build/sift/internal/cputime"
)

func TestTheCostOfAHostileTextIsLinear(t *testing.T) {
	const eighth = 1 << 16
	small, large := hostile(eighth), hostile(8*eighth)
	for name := range small {
		cputime.Linear(t, name, eighth, func(n int) func() {
			text := small[name]
			if n > eighth {
				text = large[name]
			}
			return func() { extract(t, text, dear, Options{}) }
		})
	}
}
