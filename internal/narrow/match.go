package narrow

import (
	"context"
	"io"
	"strings"
	"unicode/utf8"
)

// stepMax bounds what is done between two looks at the clock, in steps of the
// pattern times bytes of text: about 40 ms where all of them are tried.
const stepMax = 1 << 20

// match says whether s has a match. The engine cannot be stopped, so that a long
// text is handed to it character by character: when the time is up there are no
// more. The answer is the same as for the whole, however long the match is.
func (p *Pattern) match(ctx context.Context, s string) (bool, error) {
	if p.literal != "" {
		return strings.Contains(s, p.literal), nil
	}
	if int64(p.size)*int64(len(s)) <= stepMax {
		return p.re.MatchString(s), nil
	}
	r := p.reader(ctx, s)
	ok := p.re.MatchReader(r)
	return ok, r.err
}

// find gives the place of the first match in s that begins at from or behind it,
// and where the shortest one there ends; at is -1 when there is none. It sees what
// stands before from.
func (p *Pattern) find(ctx context.Context, s string, from int) (at, end int, err error) {
	if p.literal != "" {
		if i := strings.Index(s[from:], p.literal); i >= 0 {
			return from + i, from + i + len(p.literal), nil
		}
		return -1, -1, nil
	}
	re, lead := p.re, 0
	if from > 0 {
		re = p.behind
		_, lead = utf8.DecodeLastRuneInString(s[:from])
	}
	r := p.reader(ctx, s[from-lead:])
	loc := re.FindReaderIndex(r)
	if r.err != nil || loc == nil {
		return -1, -1, r.err
	}
	at = from - lead + loc[0]
	end = from - lead + loc[1]
	if lead > 0 { // the character before is of the match
		_, size := utf8.DecodeRuneInString(s[at:])
		at += size
	}
	return at, end, nil
}

func (p *Pattern) reader(ctx context.Context, s string) *clockedReader {
	every := max(stepMax/p.size, 1)
	return &clockedReader{done: ctx.Err, s: s, every: every, left: every}
}

// clockedReader reads a text as the engine reads a string, and ends it when the
// time is up: err says so, and what the engine then found counts for nothing.
type clockedReader struct {
	done        func() error
	s           string
	at          int
	every, left int // characters between two looks at the clock, and until the next
	err         error
}

// ReadRune gives the next character.
func (r *clockedReader) ReadRune() (c rune, size int, err error) {
	if r.left--; r.left < 0 {
		r.left = r.every
		if err := r.done(); err != nil {
			r.err = err
			r.s = ""
			return 0, 0, io.EOF
		}
	}
	if r.at >= len(r.s) {
		return 0, 0, io.EOF
	}
	if c := r.s[r.at]; c < utf8.RuneSelf {
		r.at++
		return rune(c), 1, nil
	}
	c, size = utf8.DecodeRuneInString(r.s[r.at:])
	r.at += size
	return c, size, nil
}
