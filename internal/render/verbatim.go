package render

import (
	"strings"

	"sift.build/sift/internal/sift"
)

// This file reads headings and links from Markdown and plain text that a server
// sent as such. It knows what people write: ATX and setext headings, inline,
// reference and bare links, and fences, inside which nothing counts.

// lineMax bounds how much of one line is looked at.
const lineMax = 64 << 10

// lineLook is how much of a line is looked at for a fence.
const lineLook = 4096

// fence follows the fenced code blocks of a Markdown text line by line.
type fence struct {
	char byte
	size int
}

// in says that the line belongs to a fenced code block, its fences included.
func (f *fence) in(line string) bool {
	s := strings.TrimLeft(line, " >\t")
	if f.char == 0 {
		if s = behindMarkers(s); len(s) < 3 {
			return false
		}
	}
	n := 0
	if len(s) > 0 && (s[0] == '`' || s[0] == '~') {
		for n < len(s) && s[n] == s[0] {
			n++
		}
	}
	if f.char == 0 {
		if n < 3 || s[0] == '`' && strings.IndexByte(s[n:], '`') >= 0 {
			return false
		}
		f.char, f.size = s[0], n
		return true
	}
	if n >= f.size && s[0] == f.char && strings.TrimSpace(s[n:]) == "" {
		f.char = 0
	}
	return true
}

// over takes f past whole lines: only those with a fence's characters in them
// are looked at.
func (f *fence) over(s string) {
	tick, tilde := -1, -1 // where each stands next
	for at := 0; at < len(s); {
		if tick < at {
			tick = indexFrom(s, "```", at)
		}
		if tilde < at {
			tilde = indexFrom(s, "~~~", at)
		}
		i := min(tick, tilde)
		if i >= len(s) {
			return
		}
		from := strings.LastIndexByte(s[at:i], '\n') + 1 + at
		end := indexFrom(s, "\n", i)
		f.in(s[from:min(end, from+lineLook)])
		at = end + 1
	}
}

// indexFrom gives the position of sub in s at or behind at, len(s) when there is
// none.
func indexFrom(s, sub string, at int) int {
	if i := strings.Index(s[at:], sub); i >= 0 {
		return at + i
	}
	return len(s)
}

// behindMarkers takes the markers of lists, tasks and notes off the beginning of
// a line: a fence may stand right behind them.
func behindMarkers(s string) string {
	for range 100 {
		switch {
		case len(s) > 1 && (s[0] == '-' || s[0] == '+' || s[0] == '*') && (s[1] == ' ' || s[1] == '\t'):
			s = s[2:]
		case len(s) > 1 && s[0] >= '0' && s[0] <= '9':
			i := 1
			for i < len(s) && i < 10 && s[i] >= '0' && s[i] <= '9' {
				i++
			}
			if i+1 >= len(s) || s[i] != '.' && s[i] != ')' || s[i+1] != ' ' {
				return s
			}
			s = s[i+2:]
		case len(s) > 4 && s[0] == '[' && (s[1] == ' ' || s[1] == 'x') && s[2] == ']' && s[3] == ' ':
			s = s[4:]
		case strings.HasPrefix(s, "[^"):
			i := strings.Index(s[:min(len(s), 40)], "]: ")
			if i < 0 {
				return s
			}
			s = s[i+3:]
		default:
			return s
		}
		s = strings.TrimLeft(s, " >\t")
	}
	return s
}

// markdownHeads finds the headings of a Markdown text.
func markdownHeads(text string) []head {
	var heads []head
	var f fence
	prev, prevAt := "", 0 // the line before, when a setext line can make it a heading
	names := make(map[string]int)
	add := func(level int, s string, at int) {
		s, id := headingID(s)
		s = plainInline(s)
		if id == "" {
			id = slug(s, names)
		}
		heads = append(heads, head{level: level, text: s, anchor: id, at: at})
	}
	until := "" // what ends the block of HTML around
	for at := frontMatter(text); at < len(text); {
		end := strings.IndexByte(text[at:], '\n')
		if end < 0 {
			end = len(text)
		} else {
			end += at
		}
		line := strings.TrimSuffix(text[at:end], "\r")
		here := at
		at = end + 1
		if until != "" {
			if hasFold(line, until) {
				until = ""
			}
			continue
		}
		if len(line) > lineMax || f.in(line) {
			prev = ""
			continue
		}
		s := strings.TrimLeft(line, " ")
		if len(line)-len(s) > 3 || s == "" || s[0] == '\t' {
			prev = ""
			continue
		}
		if s[0] == '<' {
			if until = htmlBlock(s); until != "" && hasFold(s, until) {
				until = ""
			}
			prev = ""
			continue
		}
		if s[0] == '#' {
			level := 1
			for level < len(s) && s[level] == '#' {
				level++
			}
			if level <= 6 && (level == len(s) || s[level] == ' ' || s[level] == '\t') {
				title := strings.Trim(s[level:], " \t")
				if t := strings.TrimRight(title, "#"); t == "" || t != title && (strings.HasSuffix(t, " ") || strings.HasSuffix(t, "\t")) {
					title = strings.TrimRight(t, " \t")
				}
				if title != "" {
					add(level, title, here)
				}
				prev = ""
				continue
			}
		}
		if prev != "" && (strings.Trim(s, "= \t") == "" || strings.Trim(s, "- \t") == "") && strings.IndexByte(strings.TrimRight(s, " \t"), ' ') < 0 {
			level := 1
			if s[0] == '-' {
				level = 2
			}
			add(level, prev, prevAt)
			prev = ""
			continue
		}
		prev, prevAt = s, here
		switch s[0] {
		case '-', '*', '+', '>', '|':
			prev = ""
		}
	}
	return heads
}

// frontMatter gives the length of the block of YAML in front of a Markdown text:
// its closing line would make a heading of the last key.
func frontMatter(text string) int {
	rest := strings.TrimPrefix(text, "\ufeff")
	first, rest, _ := strings.Cut(rest, "\n")
	if strings.TrimRight(first, " \t\r") != "---" {
		return 0
	}
	second := rest[:min(len(rest), lineLook)]
	if second, _, _ = strings.Cut(second, "\n"); !strings.Contains(second, ":") {
		return 0
	}
	for rest != "" {
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		if line = strings.TrimRight(line, " \t\r"); line == "---" || line == "..." {
			return len(text) - len(rest)
		}
	}
	return 0
}

// htmlBlock gives the end of a block of HTML that begins with this line and in
// which nothing is Markdown, however many lines it has. "" says that there is no
// such block.
func htmlBlock(line string) string {
	for _, b := range [...]struct{ start, end string }{
		{"<!--", "-->"}, {"<pre", "</pre>"}, {"<script", "</script>"}, {"<style", "</style>"}, {"<textarea", "</textarea>"},
	} {
		if len(line) >= len(b.start) && strings.EqualFold(line[:len(b.start)], b.start) &&
			(b.end == "-->" || len(line) == len(b.start) || strings.IndexByte(" \t>", line[len(b.start)]) >= 0) {
			return b.end
		}
	}
	return ""
}

// hasFold says that s holds sub, which is in lower case.
func hasFold(s, sub string) bool {
	for i := strings.IndexByte(s, sub[0]); i >= 0 && len(s)-i >= len(sub); {
		if strings.EqualFold(s[i:i+len(sub)], sub) {
			return true
		}
		next := strings.IndexByte(s[i+1:], sub[0])
		if next < 0 {
			return false
		}
		i += 1 + next
	}
	return false
}

// headingID takes the anchor off a heading that is written with one: Install
// {#install}.
func headingID(s string) (text, id string) {
	at := strings.LastIndex(s, "{#")
	if at <= 0 || !strings.HasSuffix(s, "}") || s[at-1] != ' ' {
		return s, ""
	}
	if id = s[at+2 : len(s)-1]; id == "" || strings.ContainsAny(id, " \t{}\\") {
		return s, ""
	}
	return strings.TrimRight(s[:at], " "), id
}

// slug gives the anchor that GitHub makes from a heading.
func slug(s string, seen map[string]int) string {
	var b strings.Builder
	for _, r := range strings.ToLower(s) {
		switch {
		case r == ' ':
			b.WriteByte('-')
		case r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 0x80:
			b.WriteRune(r)
		}
	}
	name := b.String()
	n := seen[name]
	seen[name]++
	if n > 0 {
		return name + "-" + itoa(n)
	}
	return name
}

func itoa(n int) string {
	var b [20]byte
	i := len(b)
	for {
		i--
		b[i] = byte('0' + n%10)
		if n /= 10; n == 0 {
			return string(b[i:])
		}
	}
}

// plainInline takes the signs off one line of Markdown, for a heading's text.
func plainInline(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '\\':
			if i+1 < len(s) && isPunct(rune(s[i+1])) {
				i++
				b.WriteByte(s[i])
				continue
			}
		case '*', '`':
			continue
		case '!':
			if i+1 < len(s) && s[i+1] == '[' {
				continue
			}
		case '[', ']':
			if c == ']' && i+1 < len(s) && s[i+1] == '(' {
				if end := strings.IndexByte(s[i:], ')'); end > 0 {
					i += end
				}
			}
			continue
		}
		b.WriteByte(s[i])
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// textLinks finds the links of a Markdown text, or the bare ones of any other. A
// place is the byte at which a link's line begins.
func textLinks(text string, markdown bool) ([]sift.Link, []LinkPlace) {
	links := []sift.Link{}
	var places []LinkPlace
	at, next := 0, 0 // of the line
	seen := make(map[sift.Link]int)
	defs := make(map[string]string)
	add := func(label, url string) {
		url = strings.TrimSpace(url)
		if !linkable(url) {
			return
		}
		label = shorten(strings.Join(strings.Fields(label), " "), linkTextMax)
		if label == "" {
			label = url
		}
		l := sift.Link{Text: label, URL: url}
		i, ok := seen[l]
		if !ok {
			i = len(links)
			seen[l] = i
			links = append(links, l)
		}
		places = append(places, LinkPlace{Place: at, Link: i})
	}
	if markdown {
		var f fence
		for line := range strings.Lines(text) {
			if line = strings.TrimRight(line, "\r\n"); len(line) > lineMax || f.in(line) {
				continue
			}
			if name, url, ok := definition(line); ok {
				defs[name] = url
			}
		}
	}
	var f fence
	for line := range strings.Lines(text) {
		at, next = next, next+len(line)
		line = strings.TrimRight(line, "\r\n")
		if markdown {
			if f.in(line) {
				continue
			}
			if _, _, ok := definition(line); ok {
				continue
			}
		}
		scanLinks(line, markdown, defs, add)
	}
	return links, places
}

// linkable leaves out what is no link to follow.
func linkable(url string) bool {
	if url == "" || len(url) > 8192 || strings.ContainsAny(url, " \t<>") {
		return false
	}
	scheme, _, ok := strings.Cut(url, ":")
	if !ok || strings.ContainsAny(scheme, "/?#.") {
		return true // relative
	}
	switch strings.ToLower(scheme) {
	case "http", "https", "mailto":
		return true
	}
	return false
}

// definition reads a link reference definition: [name]: url.
func definition(line string) (name, url string, ok bool) {
	s := strings.TrimLeft(line, " ")
	if len(s) == 0 || s[0] != '[' || len(s) > lineMax {
		return "", "", false
	}
	i := strings.Index(s, "]:")
	if i < 2 || s[1] == '^' {
		return "", "", false
	}
	fields := strings.Fields(s[i+2:])
	if len(fields) == 0 {
		return "", "", false
	}
	return refName(s[1:i]), strings.Trim(fields[0], "<>"), true
}

func refName(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// scanLinks finds the links in one line, in one pass. Unclosed brackets cost
// nothing: the places where they opened are a stack.
func scanLinks(s string, markdown bool, defs map[string]string, add func(label, url string)) {
	var open []int
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && markdown:
			i++
		case c == '`' && markdown:
			n := 1
			for i+n < len(s) && s[i+n] == '`' {
				n++
			}
			if end := strings.Index(s[i+n:], s[i:i+n]); end >= 0 {
				i += n + end + n - 1
			} else {
				i += n - 1
			}
		case c == '[' && markdown:
			if len(open) < 1000 {
				open = append(open, i)
			}
		case c == ']' && markdown && len(open) > 0:
			start := open[len(open)-1]
			open = open[:len(open)-1]
			label := s[start+1 : i]
			image := start > 0 && s[start-1] == '!'
			switch {
			case i+1 < len(s) && s[i+1] == '(':
				url, end := inlineDestination(s, i+2)
				if end > 0 {
					if !image {
						add(plainInline(label), url)
					}
					i = end
				}
			case i+1 < len(s) && s[i+1] == '[':
				if end := strings.IndexByte(s[i+2:min(len(s), i+1000)], ']'); end >= 0 {
					name := s[i+2 : i+2+end]
					if name == "" {
						name = label
					}
					if url, ok := defs[refName(name)]; ok && !image {
						add(plainInline(label), url)
					}
					i += 2 + end
				}
			default:
				if url, ok := defs[refName(shorten(label, 1000))]; ok && !image {
					add(plainInline(label), url)
				}
			}
		case c == 'h' && (strings.HasPrefix(s[i:], "http://") || strings.HasPrefix(s[i:], "https://")) && (i == 0 || !isAlnum(s[i-1])):
			end := i
			depth := 0
			for end < len(s) && s[end] > ' ' && strings.IndexByte("<>\"`", s[end]) < 0 {
				if s[end] == '(' {
					depth++
				} else if s[end] == ')' {
					if depth--; depth < 0 {
						break
					}
				}
				end++
			}
			url := strings.TrimRight(s[i:end], ".,;:!?'*_]}\\")
			if len(url) > len("https://") {
				add(url, url)
			}
			i = end - 1
		}
	}
}

// inlineDestination reads what stands in the brackets behind a link's text,
// from s[i] on; end is where they close, 0 when they do not.
func inlineDestination(s string, i int) (url string, end int) {
	limit := min(len(s), i+9000)
	for i < limit && s[i] == ' ' {
		i++
	}
	if i < limit && s[i] == '<' {
		if j := strings.IndexByte(s[i:limit], '>'); j > 0 {
			url = s[i+1 : i+j]
			if k := strings.IndexByte(s[i+j:limit], ')'); k >= 0 {
				return url, i + j + k
			}
		}
		return "", 0
	}
	start, depth := i, 0
	for ; i < limit; i++ {
		switch s[i] {
		case '\\':
			i++
		case '(':
			depth++
		case ' ':
			if url == "" {
				url = s[start:i]
			}
		case ')':
			if depth == 0 {
				if url == "" {
					url = s[start:i]
				}
				return url, i
			}
			depth--
		}
	}
	return "", 0
}
