package layout

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// hyphens decides on the hyphens at line ends that the two halves of a word
// did not settle. The words of the document are the dictionary: "well-known"
// elsewhere keeps the hyphen, "compile" elsewhere drops it, and so does not
// knowing, since most hyphens at line ends are the typesetter's.
func hyphens(results []*Result) {
	counts := map[string]int{}
	found := false
	each(results, func(s *string) {
		if strings.ContainsRune(*s, undecided) {
			found = true
			for _, w := range parted(*s) {
				counts[w.joined()] = 0
				counts[w.left+"-"+w.right] = 0
			}
		}
	})
	if !found {
		return
	}
	each(results, func(s *string) { count(*s, counts) })
	each(results, func(s *string) {
		if !strings.ContainsRune(*s, undecided) {
			return
		}
		var b strings.Builder
		b.Grow(len(*s))
		at := 0
		for _, w := range parted(*s) {
			b.WriteString((*s)[at:w.at])
			if counts[w.left+"-"+w.right] > counts[w.joined()] {
				b.WriteByte('-')
			}
			at = w.at + len("\u00ad")
		}
		b.WriteString((*s)[at:])
		*s = b.String()
	})
}

// each visits every text of the results.
func each(results []*Result, visit func(*string)) {
	for _, res := range results {
		for i := range res.Blocks {
			b := &res.Blocks[i]
			for j := range b.Spans {
				visit(&b.Spans[j].Text)
			}
			for _, row := range b.Rows {
				for k := range row {
					for j := range row[k].Spans {
						visit(&row[k].Spans[j].Text)
					}
				}
			}
		}
	}
}

// halves are the parts of a word round an undecided hyphen, in lower case.
type halves struct {
	at          int
	left, right string
}

func (h halves) joined() string { return h.left + h.right }

func parted(s string) []halves {
	var out []halves
	for at := 0; ; {
		i := strings.IndexRune(s[at:], undecided)
		if i < 0 {
			return out
		}
		i += at
		at = i + len("\u00ad")
		a := i
		for a > 0 {
			r, n := utf8.DecodeLastRuneInString(s[:a])
			if !unicode.IsLetter(r) {
				break
			}
			a -= n
		}
		b := at
		for b < len(s) {
			r, n := utf8.DecodeRuneInString(s[b:])
			if !unicode.IsLetter(r) {
				break
			}
			b += n
		}
		out = append(out, halves{i, strings.ToLower(s[a:i]), strings.ToLower(s[at:b])})
	}
}

// count counts the words of s that are asked for.
func count(s string, counts map[string]int) {
	var low [64]byte
	for i := 0; i < len(s); {
		c := s[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80) {
			i++
			continue
		}
		j, n, plain := i, 0, true
		for ; j < len(s); j++ {
			c := s[j]
			switch {
			case c >= 'A' && c <= 'Z':
				c += 'a' - 'A'
			case c >= 'a' && c <= 'z' || c == '-':
			case c >= 0x80:
				plain = false
			default:
				goto end
			}
			if n < len(low) {
				low[n] = c
			}
			n++
		}
	end:
		if n <= len(low) {
			if plain {
				if v, ok := counts[string(low[:n])]; ok {
					counts[string(low[:n])] = v + 1
				}
			} else {
				w := strings.Trim(strings.ToLower(s[i:j]), "“”‘’«»„…–—")
				if v, ok := counts[w]; ok {
					counts[w] = v + 1
				}
			}
		}
		i = j
	}
}
