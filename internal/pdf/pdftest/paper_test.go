package pdftest

import (
	"bytes"
	"compress/zlib"
	"encoding/hex"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// shownText is what the contents of a file show, string by string, with the
// codes of the ligatures spelled out.
func shownText(t *testing.T, file []byte) []string {
	t.Helper()
	var out []string
	spell := strings.NewReplacer("\x02", "fi", "\x03", "fl")
	shows := regexp.MustCompile(`\[.*\] TJ|\((?:\\.|[^\\)])*\) Tj|<[0-9a-f]+> Tj`)
	operand := regexp.MustCompile(`\((?:\\.|[^\\)])*\)|<[0-9a-f]+>`)
	for _, m := range regexp.MustCompile(`stream\n`).FindAllIndex(file, -1) {
		z, err := zlib.NewReader(bytes.NewReader(file[m[1]:]))
		if err != nil {
			continue // the end of a stream, or one that is not compressed
		}
		data, err := io.ReadAll(z)
		if err != nil {
			continue
		}
		for _, show := range shows.FindAllString(string(data), -1) {
			for _, s := range operand.FindAllString(show, -1) {
				if s[0] == '<' {
					raw, err := hex.DecodeString(s[1 : len(s)-1])
					if err != nil {
						t.Fatal(err)
					}
					out = append(out, spell.Replace(latin(raw)))
					continue
				}
				out = append(out, regexp.MustCompile(`\\(.)`).ReplaceAllString(s[1:len(s)-1], "$1"))
			}
		}
	}
	return out
}

func latin(b []byte) string {
	r := make([]rune, len(b))
	for i, c := range b {
		r[i] = rune(c)
	}
	return string(r)
}

func TestThePaperShowsWhatItsFactsSay(t *testing.T) {
	facts := PaperExpected()
	shown := shownText(t, Paper())
	text := strings.Join(shown, " ")
	// Lines are joined as a good reader joins them.
	for _, w := range facts.SoftBreaks {
		parted := regexp.MustCompile(`\S+- \S+`).FindAllString(text, -1)
		i := slices.IndexFunc(parted, func(p string) bool {
			return strings.Trim(strings.Replace(p, "- ", "", 1), ".,;:") == w
		})
		if i < 0 {
			t.Errorf("%q is not parted at a line's end", w)
			continue
		}
		text = strings.Replace(text, parted[i], strings.Replace(parted[i], "- ", "", 1), 1)
	}
	for _, w := range facts.RealBreaks {
		i := strings.Index(w, "-") + 1
		if !strings.Contains(text, w[:i]+" "+w[i:]) {
			t.Errorf("%q is not parted at its own hyphen", w)
		}
		text = strings.Replace(text, w[:i]+" "+w[i:], w, 1)
	}
	// Notes and the edges of pages come between the lines of some paragraphs,
	// so only the first words of each are looked for.
	at := 0
	for _, p := range facts.Paragraphs {
		words := strings.Fields(p)
		start := strings.Join(words[:min(len(words), 7)], " ")
		i := strings.Index(text[at:], start)
		if i < 0 {
			t.Errorf("%q does not come after what stands before it", start)
			continue
		}
		at += i
	}
	at = 0
	for _, h := range facts.Headings {
		i := strings.Index(text[at:], strings.TrimLeft(h, "123 "))
		if i < 0 {
			t.Errorf("the heading %q does not come in its order", h)
			continue
		}
		at += i
	}
	for _, s := range slices.Concat(facts.Ruled, facts.Unruled) {
		for _, cell := range s {
			if !slices.Contains(shown, cell) {
				t.Errorf("the cell %q is not shown", cell)
			}
		}
	}
	if got := strings.Count(text, facts.Header); got != facts.Pages-1 {
		t.Errorf("the running header stands %d times on %d pages", got, facts.Pages)
	}
}

func TestThePaperIsLongAndHasHyphensOfBothKinds(t *testing.T) {
	facts := PaperExpected()
	if facts.Pages < 6 || facts.Pages > 10 || len(facts.HeadingsOn) != facts.Pages {
		t.Errorf("%d pages, headings on %d", facts.Pages, len(facts.HeadingsOn))
	}
	if len(facts.SoftBreaks) < 8 || len(facts.RealBreaks) < 2 {
		t.Errorf("soft %q, real %q", facts.SoftBreaks, facts.RealBreaks)
	}
	if n := bytes.Count(Paper(), []byte("%%EOF")); n != 1 {
		t.Errorf("the file ends %d times", n)
	}
	for _, s := range append(slices.Clone(facts.Paragraphs), facts.Abstract) {
		if strings.ContainsAny(s, "|_^") {
			t.Errorf("a mark of the source is left in %q", s)
		}
	}
}
