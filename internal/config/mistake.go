package config

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sift.build/sift/internal/spelling"
)

// Mistake is one thing that is wrong, and where.
type Mistake struct {
	File       string `json:"file,omitempty"`         // where it is in a file: which
	Line       int    `json:"line,omitempty"`         // and on which line, from 1; 0: the file as a whole
	Source     string `json:"source,omitempty"`       // where it is elsewhere: "environment SIFT_LISTEN", "flag"
	Key        string `json:"key,omitempty"`          // "fetch.timeout"
	Problem    string `json:"problem"`                // what is wrong
	Want       string `json:"want,omitempty"`         // what is allowed
	Suggestion string `json:"did_you_mean,omitempty"` // what was probably meant
}

// String is one line: place, key, problem, what is allowed, what was meant.
func (m Mistake) String() string {
	var b strings.Builder
	if m.File != "" {
		b.WriteString(m.File)
		if m.Line > 0 {
			fmt.Fprintf(&b, ":%d", m.Line)
		}
		b.WriteString(": ")
	}
	if m.Source != "" {
		b.WriteString(m.Source + ": ")
	}
	if m.Key != "" {
		b.WriteString(m.Key + ": ")
	}
	b.WriteString(m.Problem)
	if m.Want != "" {
		b.WriteString("; want " + m.Want)
	}
	if m.Suggestion != "" {
		b.WriteString("; did you mean " + m.Suggestion + "?")
	}
	return b.String()
}

// Error is why a configuration cannot be used: everything that is wrong with
// it, in the order file, environment, flags, the whole.
type Error struct {
	Mistakes []Mistake
	More     int // further ones, over the bound of maxMistakes
}

// maxMistakes bounds what is listed: past it, the file is something else.
const maxMistakes = 100

// Error lists the mistakes, one a line.
func (e *Error) Error() string {
	if len(e.Mistakes) == 1 && e.More == 0 {
		return e.Mistakes[0].String()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d mistakes in the configuration:", len(e.Mistakes)+e.More)
	for _, m := range e.Mistakes {
		b.WriteString("\n  " + m.String())
	}
	if e.More > 0 {
		fmt.Fprintf(&b, "\n  and %d more", e.More)
	}
	return b.String()
}

// newError sorts the mistakes of a file by line, cuts the list at its bound and
// takes keys out of it: wherever someone pasted one, it is not printed again.
func newError(mistakes []Mistake) *Error {
	place := func(m Mistake) int {
		if m.File == "" {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(mistakes, func(a, b Mistake) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a.Line, b.Line))
	})
	e := &Error{Mistakes: mistakes}
	if len(mistakes) > maxMistakes {
		e.Mistakes, e.More = mistakes[:maxMistakes], len(mistakes)-maxMistakes
	}
	key := regexp.MustCompile(keyPrefix + `[0-9A-Za-z]{8,}`)
	for i := range e.Mistakes {
		m := &e.Mistakes[i]
		for _, s := range []*string{&m.Key, &m.Problem, &m.Suggestion} {
			*s = key.ReplaceAllString(*s, keyPrefix+"…")
		}
	}
	return e
}

// nearest finds the word that was probably meant, or "": the one fewest slips
// away, or one that begins with the word or is its beginning.
func nearest(word string, known []string) string {
	const longest = 64 // of a word worth comparing
	if word == "" || len(word) > longest {
		return ""
	}
	word = strings.ReplaceAll(strings.ToLower(word), "-", "_")
	best, least := "", min(3, 1+len(word)/4)+1
	for _, k := range known {
		if d := spelling.Distance([]byte(word), []byte(strings.ToLower(k))); d < least {
			best, least = k, d
		}
	}
	if best != "" {
		return best
	}
	for _, k := range known {
		if len(word) >= 3 && strings.HasPrefix(k, word+"_") || len(k) >= 4 && strings.HasPrefix(word, k) {
			return k
		}
	}
	return ""
}
