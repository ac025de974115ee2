package api

import (
	"strconv"
	"strings"
)

// form is what an answer is written as.
type form uint8

const (
	formJSON     form = iota // the envelope
	formMarkdown             // the content alone, as text/markdown
	formPlain                // the content alone, as text/plain
)

// offers lists the forms in the order that wins when a caller likes two alike.
func offers() [3]struct {
	form      form
	typ, name string
} {
	return [3]struct {
		form      form
		typ, name string
	}{
		{formJSON, "application", "json"},
		{formMarkdown, "text", "markdown"},
		{formPlain, "text", "plain"},
	}
}

// negotiate picks the form from the Accept header (RFC 9110, section 12.5.1):
// the highest quality, then what was named more exactly ("text/markdown, */*"
// asks for Markdown), then the order of offers ("application/json, text/plain,
// */*", which some clients send unasked, stays JSON). Nothing acceptable, as
// from a client that only wants text/html, is answered with JSON, as if there
// were no header.
func negotiate(accept []string) form {
	if len(accept) == 0 || len(accept) == 1 && (accept[0] == "*/*" || accept[0] == "application/json") {
		return formJSON
	}
	type match struct {
		quality float64
		exact   int // 3: type/name, 2: type/*, 1: */*, 0: not named at all
	}
	known := offers()
	var best [len(known)]match
	for _, line := range accept {
		for part := range strings.SplitSeq(line, ",") {
			media, params, _ := strings.Cut(part, ";")
			typ, name, ok := strings.Cut(strings.ToLower(strings.TrimSpace(media)), "/")
			if !ok {
				continue
			}
			q := quality(params)
			for i, o := range known {
				exact := 0
				switch {
				case typ == o.typ && name == o.name:
					exact = 3
				case typ == o.typ && name == "*":
					exact = 2
				case typ == "*" && name == "*":
					exact = 1
				}
				if exact > best[i].exact {
					best[i] = match{q, exact}
				}
			}
		}
	}
	chosen, at := formJSON, match{}
	for i, o := range known {
		m := best[i]
		if m.quality > at.quality || m.quality == at.quality && m.quality > 0 && m.exact > at.exact {
			chosen, at = o.form, m
		}
	}
	return chosen
}

// quality reads q from the parameters of a media range. One that is no number
// from 0 to 1 counts as absent.
func quality(params string) float64 {
	for param := range strings.SplitSeq(params, ";") {
		name, text, _ := strings.Cut(strings.TrimSpace(param), "=")
		if !strings.EqualFold(strings.TrimSpace(name), "q") {
			continue
		}
		if q, err := strconv.ParseFloat(strings.TrimSpace(text), 64); err == nil && q >= 0 && q <= 1 {
			return q
		}
	}
	return 1
}
