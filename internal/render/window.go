package render

import (
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"

	"sift.build/sift/internal/sift"
)

// Window gives the part of content that begins at the character offset and has
// at most maxChars characters, the offset of what follows it, and whether
// anything does. The windows that next leads to join to the whole exactly.
//
// A window ends where a block does: never inside a fenced code block, a list or
// a table that would fit into one window. A block that is longer than that ends
// a window at a line, a line at a word, a word between two characters as a
// reader sees them (an emoji with its joiners, a letter with its accents), and
// only such a character that is itself longer is cut. A window is never empty
// while there is more: offset plus one character is always possible.
//
// An offset past the end gives "", the offset and false. maxChars below 1 is
// sift.DefaultMaxChars.
func Window(content string, offset, maxChars int) (part string, next int, more bool) {
	if maxChars < 1 {
		maxChars = sift.DefaultMaxChars
	}
	offset = max(offset, 0)
	start, ok := skipChars(content, 0, offset)
	if !ok || start == len(content) {
		return "", offset, false
	}
	limit, _ := skipChars(content, start, maxChars)
	if limit == len(content) {
		return content[start:], offset + utf8.RuneCountInString(content[start:]), false
	}
	end := cutAt(content, start, limit, maxChars)
	part = content[start:end]
	return part, offset + utf8.RuneCountInString(part), true
}

// skipChars gives the position n characters behind at; not ok when the end
// comes first.
func skipChars(s string, at, n int) (int, bool) {
	for n > 0 && at < len(s) {
		if s[at] < utf8.RuneSelf {
			at++
		} else {
			_, size := utf8.DecodeRuneInString(s[at:])
			at += size
		}
		n--
	}
	return at, n == 0
}

// cutAt finds where a window from start to at most limit ends. There is text
// behind limit.
//
// A coarser boundary is taken when what it leaves for the next window would fit
// into one, or when this window is at least half full; so a long block does not
// make a tiny window before it.
func cutAt(s string, start, limit, maxChars int) int {
	size := limit - start
	if end, ok := blockEnd(s, start, limit, maxChars); ok {
		return end
	}
	// Lines: the last line break in the window.
	if i := strings.LastIndexByte(s[start:limit], '\n'); i >= 0 {
		end := start + i + 1
		rest := strings.IndexByte(s[limit:], '\n')
		if rest < 0 {
			rest = len(s) - limit
		}
		if end-start >= size/2 || fits(s, end, limit+rest, maxChars) {
			return end
		}
	}
	// Words.
	if i := strings.LastIndexByte(s[start:limit], ' '); i >= 0 {
		if end := start + i + 1; end-start >= size/2 || size > 40 && size-(end-start) < 40 {
			return end
		}
	}
	return characterEnd(s, start, limit)
}

// blockEnd finds the last end of a block in the window: behind the empty line
// after it. Lines inside a fence are followed from the beginning of content,
// because a window may begin inside one.
func blockEnd(s string, start, limit, maxChars int) (int, bool) {
	var f fence
	best, bestFence := -1, -1
	first := strings.LastIndexByte(s[:start], '\n') + 1
	f.over(s[:first])
	inFence, fenceAt := f.char != 0, 0
	for at := first; at < limit; {
		end := strings.IndexByte(s[at:], '\n')
		if end < 0 {
			break
		}
		if end += at; end >= limit {
			break
		}
		line := s[at:end]
		was := f.char != 0
		f.in(line[:min(len(line), lineLook)])
		is := f.char != 0
		if !was && is {
			fenceAt = at
		}
		inFence = is
		if !is && strings.Trim(line, " >\t\r") == "" && end+1 > start && end+1 <= limit {
			best = end + 1
		}
		at = end + 1
	}
	if at, ok := atBlockEnd(s, limit, f); ok {
		return at, true
	}
	if inFence && fenceAt > start {
		bestFence = fenceAt
	}
	if bestFence > start && bestFence > best {
		best = bestFence // a fence that no empty line stands before
	}
	if best <= start {
		return 0, false
	}
	if best-start >= (limit-start)/2 {
		return best, true
	}
	// What is cut off goes into the next window whole, if it fits there.
	most, _ := skipChars(s, best, maxChars)
	return best, endOfBlock(s, best, most) <= most
}

// fits says that s[from:to] has at most maxChars characters.
func fits(s string, from, to, maxChars int) bool {
	most, _ := skipChars(s, from, maxChars)
	return to <= most
}

// atBlockEnd says that a block ends exactly at limit, in front of its empty line.
// f is the state of the fences in front of the line that limit is on.
func atBlockEnd(s string, limit int, f fence) (int, bool) {
	if s[limit] != '\n' || s[limit-1] == '\r' {
		return 0, false
	}
	line := s[strings.LastIndexByte(s[:limit], '\n')+1 : limit]
	if limit+1 < len(s) && s[limit+1] != '\n' && strings.TrimSpace(line) != "" {
		return 0, false
	}
	f.in(line[:min(len(line), lineLook)])
	return limit, f.char == 0
}

// endOfBlock gives the end of the block that begins at s[at], looked for no
// further than a line beyond most.
func endOfBlock(s string, at, most int) int {
	var f fence
	for i := at; i < len(s); {
		end := strings.IndexByte(s[i:], '\n')
		if end < 0 {
			break
		}
		end += i
		line := s[i:end]
		f.in(line[:min(len(line), lineLook)])
		if f.char == 0 && strings.Trim(line, " >\t\r") == "" && i > at {
			return i - 1 // the line break and the empty line may be cut off
		}
		if end > most {
			return end
		}
		i = end + 1
	}
	return len(s)
}

// characterEnd gives the last boundary between two characters as a reader sees
// them, up to limit; limit itself when the window has none.
func characterEnd(s string, start, limit int) int {
	// Begin at a place that is a boundary for sure, or as far back as a long
	// character may reach.
	const reach = 1024
	from := limit
	for from > start && limit-from < reach {
		from--
		if c := s[from]; c == ' ' || c == '\n' {
			break
		}
	}
	for from > start && !utf8.RuneStart(s[from]) {
		from--
	}
	to := min(len(s), limit+reach)
	for to < len(s) && !utf8.RuneStart(s[to]) {
		to++
	}
	last := start
	it := graphemes.FromString(s[from:to])
	for it.Next() {
		if end := from + it.End(); end <= limit {
			last = end
		} else {
			break
		}
	}
	if last <= start {
		return limit
	}
	return last
}

// Tokens estimates how many tokens a language model makes of s: for each word
// of Latin letters one, and one more for every six letters after the first six;
// one for three digits and for a sign; two thirds for a letter of another
// alphabet, one for a Chinese, Japanese or Korean character and two for an
// emoji. White space is free but for line breaks. It is an estimate for
// planning, within about a fifth for prose in English.
func Tokens(s string) int {
	third := 0 // thirds of a token
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case isLetter(c):
			n := i
			for i < len(s) && isLetter(s[i]) {
				i++
			}
			third += 3 * (1 + (i-n-1)/6)
		case c >= '0' && c <= '9':
			n := i
			for i < len(s) && s[i] >= '0' && s[i] <= '9' {
				i++
			}
			third += 3 * ((i - n + 2) / 3)
		case c == '\n':
			for i < len(s) && (s[i] == '\n' || s[i] == ' ') {
				i++
			}
			third += 3
		case c <= ' ':
			i++
		case c < utf8.RuneSelf:
			n := i
			for i < len(s) && s[i] == c {
				i++
			}
			third += 3 * (1 + (i-n-1)/4)
		default:
			r, size := utf8.DecodeRuneInString(s[i:])
			i += size
			switch {
			case r < 0x2000:
				third += 2
			case isCJK(r), r >= 0xac00 && r < 0xd7b0:
				third += 3
			case r >= 0x10000:
				third += 6
			default:
				third += 3
			}
		}
	}
	return (third + 2) / 3
}
