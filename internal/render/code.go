package render

import (
	"strings"

	"golang.org/x/net/html"

	"sift.build/sift/internal/sift"
)

// codeLanguage names the language of source code by its media type, as package
// extract has it: what is left without text/, application/ and x-.
func codeLanguage(mediaType string) string {
	_, lang, _ := strings.Cut(mediaType, "/")
	if strings.HasSuffix(lang, "xml") { // image/svg+xml, application/soap+xml
		return "xml"
	}
	return info(strings.TrimPrefix(lang, "x-"))
}

// fenceMax is the longest fence that is written.
const fenceMax = 1000

// fenced gives source code as a block of Markdown. Its fence is longer than any
// run of the same sign in the code, so that the code cannot end it. Not ok is
// code that leaves no room for one.
func fenced(doc *sift.Document) (s string, ok bool) {
	sign := "`"
	long := longestRun(doc.Text, '`')
	if long >= fenceMax {
		sign, long = "~", longestRun(doc.Text, '~')
	}
	if long >= fenceMax {
		return "", false
	}
	fence := strings.Repeat(sign, max(3, long+1))
	end := "\n"
	if strings.HasSuffix(doc.Text, "\n") {
		end = ""
	}
	return fence + codeLanguage(doc.MediaType) + "\n" + doc.Text + end + fence, true
}

// longestRun gives the length of the longest run of a sign.
func longestRun(s string, sign byte) int {
	longest, run := 0, 0
	for i := range len(s) {
		if s[i] != sign {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}

// codeHTML gives source code as a block of HTML.
func codeHTML(doc *sift.Document) string {
	class := ""
	if lang := codeLanguage(doc.MediaType); lang != "" {
		class = ` class="language-` + html.EscapeString(lang) + `"`
	}
	return "<pre><code" + class + ">" + html.EscapeString(doc.Text) + "</code></pre>"
}
