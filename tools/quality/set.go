package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// half is which part of the set a document belongs to: what is chosen is chosen
// on the tuning half, and judged on the other.
type half string

const (
	tuning  half = "tuning"
	heldOut half = "held out"
)

// questions are those put to one document.
type questions struct {
	file     string
	document string
	half     half
	list     []question
}

// question is one of them.
type question struct {
	text    string
	answers []string // any of these quotes answers it; none: nothing in the document does
}

// readSet reads every file of questions in a folder. docs/question.md says what
// they look like.
func readSet(dir string) ([]questions, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no questions in %s", dir)
	}
	slices.Sort(files)
	var set []questions
	for _, f := range files {
		q, err := readQuestions(f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f, err)
		}
		set = append(set, q)
	}
	return set, nil
}

func readQuestions(path string) (questions, error) {
	f, err := os.Open(path)
	if err != nil {
		return questions{}, err
	}
	defer f.Close()
	out := questions{file: filepath.Base(path)}
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		key, value, ok := strings.Cut(line, ": ")
		value = strings.TrimSpace(value)
		switch {
		case !ok || value == "":
			return out, fmt.Errorf("line %d is not \"KEY: text\"", n)
		case key == "document":
			out.document = value
		case key == "half" && (value == string(tuning) || value == string(heldOut)):
			out.half = half(value)
		case key == "Q" || key == "N":
			if err := out.complete(); err != nil {
				return out, fmt.Errorf("line %d: %w", n, err)
			}
			out.list = append(out.list, question{text: value})
			if key == "N" {
				out.list[len(out.list)-1].answers = []string{}
			}
		case key == "A" && len(out.list) > 0:
			q := &out.list[len(out.list)-1]
			if q.answers != nil && len(q.answers) == 0 {
				return out, fmt.Errorf("line %d answers what cannot be answered", n)
			}
			q.answers = append(q.answers, value)
		default:
			return out, fmt.Errorf("line %d has the unknown key %q", n, key)
		}
	}
	if err := lines.Err(); err != nil {
		return out, err
	}
	if out.document == "" || out.half == "" || len(out.list) == 0 {
		return out, errors.New("no document, no half or no question")
	}
	return out, out.complete()
}

// complete says that the last question has an answer or can have none.
func (q *questions) complete() error {
	if n := len(q.list); n > 0 && q.list[n-1].answers == nil {
		return fmt.Errorf("%q has no answer", q.list[n-1].text)
	}
	return nil
}

// place is where a quote stands, in characters.
type place struct{ start, end int }

// placesOf finds a quote wherever it stands in a content, whatever white space
// parts its words.
func placesOf(content, quote string) []place {
	words := strings.Fields(quote)
	if len(words) == 0 {
		return nil
	}
	var out []place
	at, chars := 0, 0
	for {
		i := strings.Index(content[at:], words[0])
		if i < 0 {
			return out
		}
		chars += utf8.RuneCountInString(content[at : at+i])
		at += i
		if end := match(content, at, words); end > 0 {
			out = append(out, place{chars, chars + utf8.RuneCountInString(content[at:end])})
		}
		_, size := utf8.DecodeRuneInString(content[at:])
		at, chars = at+size, chars+1
	}
}

// match gives where the words end that stand at a byte of content, 0 if others
// do.
func match(content string, at int, words []string) int {
	for i, w := range words {
		if i > 0 {
			rest := strings.TrimLeftFunc(content[at:], unicode.IsSpace)
			if len(rest) == len(content)-at {
				return 0
			}
			at = len(content) - len(rest)
		}
		if !strings.HasPrefix(content[at:], w) {
			return 0
		}
		at += len(w)
	}
	return at
}
