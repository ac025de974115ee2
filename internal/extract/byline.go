package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// seenAuthors gives the name in the line beside the title that says who wrote
// the page: behind a word like "by", in a link to an author's page, or where a
// class says so.
func (m *metadata) seenAuthors() []string {
	if m.isProduct() || m.isThread(m.address) {
		return nil
	}
	title := m.titleLine()
	if title < 0 {
		return nil
	}
	own := m.lines[title].away
	for i := max(0, title-linesAbove); i < len(m.lines) && i <= title+linesBelow; i++ {
		l := &m.lines[i]
		if i == title || l.away&^own != 0 || l.card || l.heading == 1 || !m.near(title, i) {
			continue
		}
		for _, s := range []string{behindBy(l.text), l.signed, namedBy(m.lines, i)} {
			if s = personName(s); s != "" {
				return []string{s}
			}
		}
	}
	return nil
}

// namedBy gives the text of a line that a class or the line before names as
// the author.
func namedBy(lines []line, i int) string {
	if i > 0 && isBy(lines[i-1].text) || lines[i].says&namesAuthor != 0 && lines[i].says&namesDate == 0 {
		return lines[i].text
	}
	return ""
}

// isBy says whether a line is nothing but a word in front of a name.
func isBy(s string) bool {
	switch strings.TrimRight(strings.ToLower(s), " :") {
	case "by", "written by", "author", "posted by", "words by", "text by", "story by", "von", "autor", "autorin", "par", "auteur", "por", "di", "autore", "door",
		"автор", "作者", "文", "글", "著者", "執筆者":
		return true
	}
	return false
}

// behindBy gives the words behind "by" and its like, where the line begins with
// it or with a date in front of it.
func behindBy(s string) string {
	low := strings.ToLower(s)
	if len(low) != len(s) {
		return ""
	}
	for _, w := range []string{"written by ", "written by: ", "posted by ", "published by ", "words by ", "text by ", "story by ", "by: ", "by ", "author: ", "von ", "par ", "por ", "autor: ", "автор: "} {
		if rest, ok := strings.CutPrefix(low, w); ok {
			return s[len(s)-len(rest):]
		}
	}
	if i := strings.Index(low, " by "); i >= 0 && hasYear(s[:i]) {
		return s[i+len(" by "):]
	}
	return ""
}

// personName gives the name at the beginning of a text, or "" where there is
// none: a few words that begin with capital letters, up to a sign, a date or a
// word that ends a name.
func personName(s string) string {
	if i := strings.IndexAny(s, "|•·●–—()/:;@<"); i >= 0 {
		s = s[:i]
	}
	for _, w := range []string{" - ", " on ", " in ", " for ", " at ", ", ", " Updated", " Published", " Posted", " Last ", " Reviewed", " Edited", " Medically", " Fact"} {
		if i := strings.Index(s, w); i > 0 {
			s = s[:i]
		}
	}
	if i := strings.IndexFunc(s, unicode.IsDigit); i >= 0 {
		s = s[:i]
		if w := strings.Fields(s); len(w) > 0 && month(strings.ToLower(strings.Trim(w[len(w)-1], "."))) != 0 {
			s = strings.Join(w[:len(w)-1], " ")
		}
	}
	s = author(s)
	words := strings.Fields(s)
	if len(words) < 2 || len(words) > 5 || len(s) > maxByline || strings.ContainsAny(s, ".!?") && !strings.Contains(s, ". ") {
		return ""
	}
	capitals := 0
	for _, w := range words {
		r, _ := utf8.DecodeRuneInString(w)
		if !unicode.IsLower(r) {
			capitals++
		}
		switch strings.ToLower(w) {
		case "read", "follow", "more", "view", "all", "posts", "about", "share", "our", "author", "authors", "profile", "editorial", "subscribe", "click", "articles",
			"updated", "published", "minute", "minutes", "min", "comments", "comment", "home", "blog", "by", "see", "meet", "guest", "contact", "staff", "writer", "editor", "owner", "admin", "moderator", "member":
			return ""
		}
	}
	if capitals+1 < len(words) || capitals == 0 {
		return ""
	}
	return s
}
