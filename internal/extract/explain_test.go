package extract

import (
	"context"
	"fmt"
	"strings"
)

// explainScores lists the clues that a page shows.
func explainScores(text []byte, in Input) string {
	s := sceneOf(context.Background(), text, in)
	if s == nil {
		return "not judged"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "points %v loose %d whole %d says %v heads %v titled %v alien %v kin %v", s.points(), s.loose, s.whole, s.says, s.headed, s.titled, s.alien, s.kin)
	for _, c := range clues {
		if c.seen(s) {
			fmt.Fprintf(&b, "\n\t\t%d %+d %s", c.wall, c.points, c.what)
		}
	}
	return b.String()
}
