package digest

import (
	"hash/maphash"
	"iter"
	"strings"

	"github.com/clipperhouse/uax29/v2/sentences"
)

// sameShare is from which share of their word pairs two passages say the same.
const sameShare = 0.8

// shingles are the pairs of neighbouring words of a passage, hashed.
type shingles map[uint64]struct{}

// shingleSeed makes the hashes of one process comparable.
var shingleSeed = maphash.MakeSeed()

func shinglesOf(text string) shingles {
	set := make(shingles)
	prev := ""
	l := lexer{emit: func(t token) {
		if t.kind == tokenWhole {
			return
		}
		var h maphash.Hash
		h.SetSeed(shingleSeed)
		h.WriteString(prev)
		h.WriteByte(0)
		h.WriteString(t.text)
		set[h.Sum64()] = struct{}{}
		prev = t.text
	}}
	l.run(text)
	return set
}

// near says that two passages say the same: by Jaccard's measure, or because all
// of the shorter one stands in the longer.
func (a shingles) near(b shingles) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	both := 0
	for h := range a {
		if _, ok := b[h]; ok {
			both++
		}
	}
	union := len(a) + len(b) - both
	return float64(both) >= sameShare*float64(union) || len(a) > 0 && both == len(a)
}

// headerOf gives the header row of the first table in a passage, "" if there is
// none.
func headerOf(text string) string {
	before := ""
	for line := range strings.Lines(text) {
		if t := strings.TrimSpace(line); strings.HasPrefix(before, "|") && delimiter(t) {
			return before
		}
		before = strings.TrimSpace(line)
	}
	return ""
}

// sentencesOf gives where the sentences of a passage are, or its lines where they
// are items, rows or code. The header row of a table is none.
func sentencesOf(text string) iter.Seq[span] {
	return func(yield func(span) bool) {
		var para strings.Builder
		from := 0
		give := func(to int) bool {
			if para.Len() == 0 {
				return true
			}
			para.Reset()
			it := sentences.FromString(oneLine(text[from:to]))
			for it.Next() {
				if !yield(span{from + it.Start(), from + it.End()}) {
					return false
				}
			}
			return true
		}
		at := 0
		code := false
		header := headerOf(text)
		for line := range strings.Lines(text) {
			trimmed := strings.TrimSpace(line)
			own := code || trimmed == "" || marker(trimmed) > 0 || trimmed[0] == '|'
			if fenceOf(trimmed) != "" {
				code, own = !code, true
			}
			if own {
				if !give(at) {
					return
				}
				skip := trimmed == "" || trimmed == header || fenceOf(trimmed) != "" || delimiter(trimmed)
				if !skip && !yield(span{at, at + len(line)}) {
					return
				}
			} else {
				if para.Len() == 0 {
					from = at
				}
				para.WriteString(line)
			}
			at += len(line)
		}
		give(at)
	}
}
