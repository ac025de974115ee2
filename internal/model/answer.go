package model

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/sentences"
)

// draft is what a model wrote, taken apart.
type draft struct {
	Answered  bool       `json:"answered"`
	Sentences []sentence `json:"sentences"`
}

// sentence is one, without its citations, which are in Cites in order.
type sentence struct {
	Text  string `json:"text"`
	Cites []int  `json:"cites"`
}

// Bounds on what a model wrote.
const (
	draftMax     = 64 << 10 // bytes, with the thoughts of those that think aloud
	sentencesMax = 12
	sentenceMax  = 600 // characters
	citesMax     = 16  // of one sentence
	objectsMax   = 64  // places where an object may begin that are tried
)

// readAnswer reads what a model wrote: the object that it was asked for, also
// between other words or in a code fence, else sentences with [1] in them. What
// it thought aloud is left out. The error is a *failure.
func readAnswer(text string) (draft, error) {
	if len(text) > draftMax {
		return draft{}, fail(OutcomeBad, "wrote more than %d KiB", draftMax>>10).ofContent()
	}
	text = strings.TrimSpace(withoutThoughts(strings.ToValidUTF8(text, "\uFFFD")))
	d, ok := readObjects(text)
	if !ok {
		bare := strings.TrimLeft(strings.TrimPrefix(strings.TrimLeft(text, "` \n"), "json"), " \r\n\t")
		if strings.HasPrefix(bare, "{") || strings.HasPrefix(bare, "[{") {
			return draft{}, fail(OutcomeBad, "wrote JSON that is broken or not what was asked for").ofContent()
		}
		d = readPlain(text)
	}
	switch {
	case !d.Answered:
		return draft{}, nil
	case len(d.Sentences) == 0:
		return draft{}, fail(OutcomeBad, "wrote an answer with nothing in it").ofContent()
	case len(d.Sentences) > sentencesMax:
		return draft{}, fail(OutcomeBad, "wrote more than %d sentences", sentencesMax).ofContent()
	}
	return d, nil
}

// thoughts are the tags between which models think aloud.
var thoughts = []string{"think", "thinking", "thought", "reasoning", "reflection"}

// withoutThoughts leaves out what a model thought before it answered. Thoughts
// that do not end are all that there is.
func withoutThoughts(text string) string {
	for {
		rest := strings.TrimSpace(text)
		found := false
		for _, tag := range thoughts {
			if len(rest) < len(tag)+2 || !strings.EqualFold(rest[:len(tag)+2], "<"+tag+">") {
				continue
			}
			_, after, ok := strings.Cut(rest, "</"+rest[1:len(tag)+1]+">")
			if !ok {
				return ""
			}
			text, found = after, true
			break
		}
		if !found {
			break
		}
	}
	// The template of some models begins the thoughts itself, so that only their end
	// is there.
	if i := strings.LastIndex(text, "</think>"); i >= 0 && !strings.HasPrefix(strings.TrimSpace(text), "{") {
		return text[i+len("</think>"):]
	}
	return text
}

// readObjects finds the last object or list in text that is an answer.
func readObjects(text string) (last draft, found bool) {
	tried := 0
	for i := 0; i < len(text) && tried < objectsMax; i++ {
		if text[i] != '{' && (text[i] != '[' || !strings.HasPrefix(strings.TrimLeft(text[i+1:], " \r\n\t"), "{")) {
			continue
		}
		tried++
		var raw json.RawMessage
		dec := json.NewDecoder(strings.NewReader(text[i:]))
		if dec.Decode(&raw) != nil {
			continue
		}
		if d, ok := readObject(raw); ok {
			last, found = d, true
		}
		i += int(dec.InputOffset()) - 1
	}
	return last, found
}

// readObject reads {"answered", "sentences"}, or the list of sentences alone.
func readObject(raw json.RawMessage) (draft, bool) {
	var o struct {
		Answered  *bool             `json:"answered"`
		Sentences []json.RawMessage `json:"sentences"`
	}
	if raw[0] == '[' {
		if json.Unmarshal(raw, &o.Sentences) != nil {
			return draft{}, false
		}
	} else if json.Unmarshal(raw, &o) != nil || o.Answered == nil && o.Sentences == nil {
		return draft{}, false
	}
	d := draft{Answered: o.Answered == nil && len(o.Sentences) > 0 || o.Answered != nil && *o.Answered}
	for _, r := range o.Sentences {
		var s struct {
			Text  *string         `json:"text"`
			Cites json.RawMessage `json:"cites"`
		}
		var text string
		switch {
		case json.Unmarshal(r, &text) == nil:
		case json.Unmarshal(r, &s) == nil && s.Text != nil:
			text = *s.Text
		default:
			return draft{}, false
		}
		text, cites := takeMarks(clean(text))
		if text == "" {
			continue
		}
		d.Sentences = append(d.Sentences, sentence{text, inOrder(append(cites, citesOf(s.Cites)...))})
	}
	return d, true
}

// citesOf reads numbers, also as strings, also one alone. What is none is a
// passage that does not exist.
func citesOf(raw json.RawMessage) []int {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	list := []json.RawMessage{raw}
	if raw[0] == '[' && json.Unmarshal(raw, &list) != nil {
		return []int{noPassage}
	}
	var out []int
	for _, r := range list {
		n, err := strconv.Atoi(strings.Trim(string(r), `"[] `))
		if err != nil {
			n = noPassage
		}
		out = append(out, n)
	}
	return out
}

// noPassage is the number of a passage that cannot exist.
const noPassage = -1

// inOrder sorts, leaves one of each, and bounds.
func inOrder(cites []int) []int {
	slices.Sort(cites)
	cites = slices.Compact(cites)
	if len(cites) > citesMax {
		return []int{noPassage}
	}
	return cites
}

// mark is a citation in a text: [1], [1, 3], [1-3], [^1], 【1】.
var mark = regexp.MustCompile(`[ \t]*(?:\[\^?(\d{1,4}(?:\s*[,;–-]\s*\d{1,4})*)\]|【(\d{1,4})[^【】]{0,20}】)`)

// takeMarks takes the citations out of a text. Those between backticks are code.
func takeMarks(text string) (string, []int) {
	var cites []int
	parts := strings.Split(text, "`")
	for i := 0; i < len(parts); i += 2 {
		parts[i] = mark.ReplaceAllStringFunc(parts[i], func(m string) string {
			cites = append(cites, numbersOf(m)...)
			return ""
		})
	}
	return strings.TrimSpace(strings.Join(parts, "`")), inOrder(cites)
}

// numbersOf reads the numbers of one mark.
func numbersOf(m string) []int {
	var out []int
	from := -1
	for i := 0; i < len(m); {
		r, size := utf8.DecodeRuneInString(m[i:])
		switch {
		case r >= '0' && r <= '9':
			end := i
			for end < len(m) && m[end] >= '0' && m[end] <= '9' {
				end++
			}
			n, err := strconv.Atoi(m[i:end])
			if err != nil {
				n = noPassage
			}
			for k := from + 1; from >= 0 && k < n && k < from+citesMax+2; k++ {
				out = append(out, k)
			}
			from = -1
			out = append(out, n)
			i = end
			continue
		case r == '-' || r == '–':
			if len(out) > 0 {
				from = out[len(out)-1]
			}
		case r == ',' || r == ';':
			from = -1
		case r == '†': // what follows is a line number of some tool
			return out
		}
		i += size
	}
	return out
}

// listMark is what a heading, an item or a quotation begins with.
var listMark = regexp.MustCompile(`^(?:[#>*•-]+\s+|[0-9]{1,2}[.)]\s+)+`)

// readPlain reads sentences that have their citations in them.
func readPlain(text string) draft {
	var d draft
	add := func(part string) {
		part, cites := takeMarks(clean(part))
		last := len(d.Sentences) - 1
		switch {
		case part == "" && len(cites) == 0:
		case !strings.ContainsFunc(part, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) && last >= 0:
			// "… for thirty days. [1]"
			d.Sentences[last].Cites = inOrder(append(d.Sentences[last].Cites, cites...))
		default:
			d.Sentences = append(d.Sentences, sentence{part, cites})
		}
	}
	for line := range strings.Lines(text) {
		line = listMark.ReplaceAllString(strings.TrimSpace(line), "")
		if strings.HasPrefix(line, "```") {
			continue
		}
		it := sentences.FromString(line)
		for it.Next() {
			part := it.Value()
			// A citation behind the full stop belongs to the sentence before it.
			if m := mark.FindStringIndex(part); m != nil && m[0] == 0 && len(d.Sentences) > 0 {
				add(part[:m[1]])
				part = part[m[1]:]
			}
			add(part)
		}
	}
	d.Answered = true
	return d
}

// clean leaves out what does not show or turns the text around, and bold type,
// and makes one space of white space.
func clean(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r) || unicode.In(r, unicode.Zl, unicode.Zp):
			return ' '
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.Variation_Selector), invisible(r):
			return -1
		}
		return r
	}, text)
	return strings.Join(strings.Fields(strings.ReplaceAll(text, "**", "")), " ")
}

// invisible says that r is a letter or sign by its class and shows nothing.
func invisible(r rune) bool {
	switch r {
	case '\u034f', '\u115f', '\u1160', '\u17b4', '\u17b5', '\u2800', '\u3164', '\uffa0':
		return true
	}
	return false
}
