package render

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
	"pgregory.net/rapid"

	"sift.build/sift/internal/sift"
)

// windows reads content from beginning to end.
func windows(t interface{ Fatalf(string, ...any) }, content string, maxChars int) []string {
	var out []string
	total := utf8.RuneCountInString(content)
	for offset := 0; ; {
		part, next, more := Window(content, offset, maxChars)
		if n := utf8.RuneCountInString(part); n > maxChars || next != offset+n || more && n == 0 || more != (next < total) {
			t.Fatalf("window at %d of %d: %d characters, next %d, more %v, in all %d", offset, maxChars, n, next, more, total)
		}
		out = append(out, part)
		if !more {
			return out
		}
		offset = next
	}
}

var pieces = []string{
	"A short paragraph of words.\n\n", "word ", "x", "\n", "\n\n", "漢字かな。", "한국어 ", "👩\u200d👩\u200d👧\u200d👦", "🇳🇴", "e\u0301\u0323", "\r\n", "- item\n- item two\n", "| a | b |\n| --- | --- |\n| 1 | 2 |\n\n",
	"```go\ncode\n\nmore code\n```\n\n", "~~~\nx\n~~~\n", "> quote\n>\n> ```\n> y\n> ```\n\n", "- ```\n  z\n  ```\n", "`````\n```\n`````\n", "# Heading\n\n", "\u00a0", "क्षि", "\t", "…",
}

func TestWindowsJoinToTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		content := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 60).Draw(t, "pieces"), "")
		if rapid.Bool().Draw(t, "any") {
			content += rapid.String().Draw(t, "string")
		}
		maxChars := rapid.IntRange(1, 80).Draw(t, "max")
		if got := strings.Join(windows(t, content, maxChars), ""); got != content {
			t.Fatalf("windows of %d join to %q, not %q", maxChars, got, content)
		}
	})
}

func TestAWindowNeverCutsACharacterAsAReaderSeesIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		content := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 60).Draw(t, "pieces"), "")
		whole := make(map[int]bool) // the ends of characters
		for it := graphemes.FromString(content); it.Next(); {
			whole[it.End()] = true
		}
		at := 0
		for _, part := range windows(t, content, rapid.IntRange(12, 80).Draw(t, "max")) {
			if at += len(part); !whole[at] {
				t.Fatalf("cut inside a character: %q|%q", content[:at], content[at:])
			}
		}
	})
}

func TestAFenceThatFitsIntoAWindowIsNeverCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		type span struct{ from, to int }
		var fences []span
		for range rapid.IntRange(1, 12).Draw(t, "blocks") {
			if rapid.Bool().Draw(t, "fence") {
				from := b.Len()
				b.WriteString("```\n" + strings.Repeat("line of code\n\n", rapid.IntRange(1, 12).Draw(t, "lines")) + "```")
				fences = append(fences, span{from, b.Len()})
				b.WriteString("\n\n")
			} else {
				b.WriteString(strings.Repeat("some words of prose ", rapid.IntRange(1, 15).Draw(t, "words")) + "\n\n")
			}
		}
		content := strings.TrimRight(b.String(), "\n")
		maxChars := rapid.IntRange(20, 300).Draw(t, "max")
		at := 0
		for _, part := range windows(t, content, maxChars) {
			at += len(part)
			for _, f := range fences {
				if f.from < at && at < f.to && f.to-f.from <= maxChars {
					t.Fatalf("a fence of %d characters was cut at %d by windows of %d", f.to-f.from, at-f.from, maxChars)
				}
			}
		}
	})
}

func TestWhereAWindowEnds(t *testing.T) {
	para := func(n int) string { return strings.TrimSuffix(strings.Repeat("word ", n), " ") }
	for _, c := range []struct {
		name, content string
		max           int
		want          string // the first window
	}{
		{"all of it", "short", 100, "short"},
		{"at a block", "One.\n\nTwo.\n\nThree is longer.", 14, "One.\n\nTwo.\n\n"},
		{"before a heading's block, not inside", "# A\n\nText of a.\n\n# B\n\n" + para(10), 24, "# A\n\nText of a.\n\n# B\n\n"},
		{"at a line, when the block is too long", strings.Repeat("| cell | cell |\n", 20), 40, "| cell | cell |\n| cell | cell |\n"},
		{"at a line inside a fence that is too long", "```\n" + strings.Repeat("0123456789\n", 20) + "```", 30, "```\n0123456789\n0123456789\n"},
		{"before a fence, though the window is short then", "A.\n\n```\n0123456789\n\n0123456789\n```\n\nB.", 31, "A.\n\n"},
		{"at a word", para(30), 23, "word word word word "},
		{"between characters of a script without spaces", strings.Repeat("漢", 50), 7, strings.Repeat("漢", 7)},
		{"not inside an emoji", strings.Repeat("x", 9) + "👩\u200d👩\u200d👧" + "yyyyyyyyy", 12, strings.Repeat("x", 9)},
		{"not between a letter and its accent", "xxxxxxxxxe\u0301yyyyyyyyy", 10, "xxxxxxxxx"},
		{"not between two halves of a flag", "🇳🇴🇩🇪🇫🇷🇳🇴", 5, "🇳🇴🇩🇪"},
		{"inside a character that is longer than a window", "👩\u200d👩\u200d👧\u200d👦", 3, "👩\u200d👩"},
		{"one character", "漢字", 1, "漢"},
	} {
		part, _, _ := Window(c.content, 0, c.max)
		if part != c.want {
			t.Errorf("%s: %q, want %q", c.name, part, c.want)
		}
	}
}

func TestAnOffsetPastTheEndGivesNothingMore(t *testing.T) {
	for _, offset := range []int{5, 6, 50_000} {
		if part, next, more := Window("short", offset, 10); part != "" || more || next != offset {
			t.Errorf("at %d: %q, %d, %v", offset, part, next, more)
		}
	}
	if part, next, more := Window("", 0, 10); part != "" || next != 0 || more {
		t.Errorf("of nothing: %q, %d, %v", part, next, more)
	}
}

func TestAWindowOfNoSizeIsTheDefaultOne(t *testing.T) {
	content := strings.Repeat("x", sift.DefaultMaxChars+10)
	if part, next, more := Window(content, -1, 0); len(part) != sift.DefaultMaxChars || next != sift.DefaultMaxChars || !more {
		t.Errorf("%d characters, next %d, more %v", len(part), next, more)
	}
}

func TestAHugeLineIsReadToItsEnd(t *testing.T) {
	for name, content := range map[string]string{
		"letters": strings.Repeat("x", 3<<20), "words": strings.Repeat("word ", 600_000), "characters": strings.Repeat("漢", 1<<20),
		"accents": "e" + strings.Repeat("\u0301", 1<<20), "line breaks": strings.Repeat("\n", 1<<20), "open fence": "```\n" + strings.Repeat("x\n", 1<<20),
		"tildes": strings.Repeat("~~~\n", 1<<18), "ticks": strings.Repeat("a ``` b\n", 1<<17),
	} {
		if got := strings.Join(windows(t, content, sift.DefaultMaxChars), ""); got != content {
			t.Errorf("%s: windows do not join", name)
		}
	}
}

func TestTokensAreAboutWhatModelsCount(t *testing.T) {
	// What a byte-pair vocabulary of 100,000 entries would about make of each,
	// estimated by hand: no tokenizer was asked. Tokens may be off by a third.
	for _, c := range []struct {
		text string
		want int
	}{
		{"The quick brown fox jumps over the lazy dog.", 10},
		{"Operators walk the line twice a week and write down the pressure at nine fixed points.", 17},
		{"func main() {\n\tfmt.Println(\"hello\")\n}\n", 13},
		{"", 0},
		{"1871, 1900 and 2026", 9},
	} {
		got := Tokens(c.text)
		if got*3 < c.want*2 || got*2 > c.want*3 {
			t.Errorf("%q: %d, want about %d", c.text, got, c.want)
		}
	}
	if got := Tokens(strings.Repeat("漢", 300)); got < 200 || got > 600 {
		t.Errorf("300 characters of Chinese: %d", got)
	}
}
