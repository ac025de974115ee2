package digest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"sift.build/sift/internal/render"
	"sift.build/sift/internal/sift"
)

// headingsOf finds the # headings of a Markdown text, as the renderer would list
// them.
func headingsOf(content string) []sift.Heading {
	var out []sift.Heading
	offset := 0
	code := false
	for line := range strings.Lines(content) {
		if strings.HasPrefix(line, "```") {
			code = !code
		}
		level := len(line) - len(strings.TrimLeft(line, "#"))
		if !code && level > 0 && level < 7 && strings.HasPrefix(line[level:], " ") {
			out = append(out, sift.Heading{Level: level, Text: strings.TrimSpace(line[level:]), Offset: offset})
		}
		offset += utf8.RuneCountInString(line)
	}
	return out
}

func markdown(content string) Text {
	return Text{Content: content, Markdown: true, Headings: headingsOf(content)}
}

// split gives the pieces of a text.
func split(t testing.TB, text Text, size sizes) []piece {
	t.Helper()
	var out []piece
	s := splitter{t: text, size: size, emit: func(p piece) { out = append(out, p) }}
	if err := s.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	check(t, text, size, out)
	return out
}

// check holds what every piece has to hold.
func check(t testing.TB, text Text, size sizes, pieces []piece) {
	t.Helper()
	runes := []rune(text.Content)
	last := 0
	for _, p := range pieces {
		if p.from < last || p.to <= p.from || p.to > len(text.Content) {
			t.Fatalf("piece %+v begins before %d, is empty or ends behind the content (%d bytes)", p, last, len(text.Content))
		}
		last = p.to
		if got, want := text.Content[p.from:p.to], string(runes[p.start:p.end]); got != want && utf8.ValidString(got) {
			t.Fatalf("bytes %d:%d are %q, characters %d:%d are %q", p.from, p.to, got, p.start, p.end, want)
		}
		if p.end-p.start > size.hard {
			t.Fatalf("piece of %d characters, over %d: %q", p.end-p.start, size.hard, text.Content[p.from:p.to])
		}
		if p.heading >= len(text.Headings) {
			t.Fatalf("piece under heading %d of %d", p.heading, len(text.Headings))
		}
	}
}

func texts(text Text, pieces []piece) []string {
	var out []string
	for _, p := range pieces {
		s := text.Content[p.from:p.to]
		if p.lead.to > 0 {
			s = fmt.Sprintf("{%s} %s", text.Content[p.lead.from:p.lead.to], s)
		}
		out = append(out, s)
	}
	return out
}

func TestPassagesFollowTheStructureOfTheContent(t *testing.T) {
	long := strings.Repeat("A sentence of some forty characters here. ", 12)
	for _, c := range []struct {
		name, content string
		size          sizes
		want          []string
	}{
		{
			name:    "short neighbours are joined, sections are not",
			content: "# One\n\nFirst.\n\nSecond.\n\n## Two\n\nThird.\n",
			size:    sizesFor(3000),
			want:    []string{"First.\n\nSecond.", "Third."},
		},
		{
			name:    "a heading with nothing under it is a passage, one with parts is not",
			content: "# Title\n\n## Empty\n\n## Full\n\nText.\n\n## Last\n",
			size:    sizesFor(3000),
			want:    []string{"## Empty", "Text.", "## Last"},
		},
		{
			name:    "a long paragraph is cut at its sentences",
			content: strings.TrimSpace(strings.Repeat("Every one of these is a sentence. ", 6)),
			size:    sizes{target: 80, whole: 100, hard: 200},
			want: []string{
				"Every one of these is a sentence. Every one of these is a sentence.",
				"Every one of these is a sentence. Every one of these is a sentence.",
				"Every one of these is a sentence. Every one of these is a sentence.",
			},
		},
		{
			name:    "a list keeps what introduces it, and its later parts know it",
			content: strings.TrimSpace(long) + "\n\nThe limits are:\n\n- " + strings.Repeat("one ", 15) + "\n- " + strings.Repeat("two ", 15) + "\n",
			size:    sizes{target: 90, whole: 600, hard: 600},
			want: []string{
				strings.TrimSpace(long),
				"The limits are:\n\n- " + strings.TrimSpace(strings.Repeat("one ", 15)),
				"{The limits are:} - " + strings.TrimSpace(strings.Repeat("two ", 15)),
			},
		},
		{
			name:    "a table is cut between rows, each part knowing the header",
			content: "| code | meaning |\n| --- | --- |\n| 404 | not found |\n| 429 | too many requests |\n| 503 | unavailable |\n",
			size:    sizes{target: 60, whole: 100, hard: 100},
			want: []string{
				"| code | meaning |\n| --- | --- |\n| 404 | not found |",
				"{| code | meaning |\n| --- | --- |\n} | 429 | too many requests |\n| 503 | unavailable |",
			},
		},
		{
			name:    "a table without signs at its ends",
			content: "code | meaning\n--- | ---\n404 | not found\n",
			size:    sizesFor(3000),
			want:    []string{"code | meaning\n--- | ---\n404 | not found"},
		},
		{
			name:    "code is not cut, and goes with what introduces it",
			content: strings.TrimSpace(long) + "\n\nRun this:\n\n```sh\n# not a heading\n\nmake\n\n- not an item\n```\n\nAfter it.\n",
			size:    sizes{target: 50, whole: 600, hard: 600},
			want:    []string{strings.TrimSpace(long), "Run this:\n\n```sh\n# not a heading\n\nmake\n\n- not an item\n```", "After it."},
		},
		{
			name:    "code longer than any passage is cut between lines",
			content: "```\naaaa aaaa\nbbbb bbbb\n\ncccc cccc\ndddd dddd\n```\n",
			size:    sizes{target: 30, whole: 30, hard: 40},
			want:    []string{"```\naaaa aaaa\nbbbb bbbb", "cccc cccc\ndddd dddd\n```"},
		},
		{
			name:    "indented code is code, its blank lines included",
			content: strings.TrimSpace(long) + "\n\nRun:\n\n\tone. Two\n\n\t- three\nAfter.\n",
			size:    sizes{target: 20, whole: 600, hard: 600},
			want:    []string{strings.TrimSpace(long), "Run:\n\n\tone. Two\n\n\t- three", "After."},
		},
		{
			name:    "what has no boundary is cut between characters",
			content: strings.Repeat("é", 25),
			size:    sizes{target: 10, whole: 10, hard: 10},
			want:    []string{strings.Repeat("é", 10), strings.Repeat("é", 10), strings.Repeat("é", 5)},
		},
		{
			name:    "an item goes on behind a blank line where it is indented",
			content: "- first\n\n  goes on, long\n\n- second\n\nIt is outside.\n",
			size:    sizes{target: 20, whole: 50, hard: 50},
			want:    []string{"- first\n\n  goes on, long", "- second", "It is outside."},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := markdown(c.content)
			if diff := cmp.Diff(c.want, texts(text, split(t, text, c.size))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPlainTextHasNoFencesAndItsWrappedLinesAreOneParagraph(t *testing.T) {
	text := Text{Content: "```\nA line that is\nwrapped here. Another\nsentence.\n\n| not | a table\n"}
	want := []string{"```\nA line that is\nwrapped here.", "Another\nsentence.", "| not | a table"}
	if diff := cmp.Diff(want, texts(text, split(t, text, sizes{target: 20, whole: 30, hard: 60}))); diff != "" {
		t.Error(diff)
	}
}

func TestAPassageStandsOnOnePageAndUnderItsHeadings(t *testing.T) {
	content := "<!-- page 1 -->\n\n# Storage\n\nBoxes are dry.\n\n<!-- page 2 -->\n\nThey are counted.\n\n## Fire\n\nDoors close.\n"
	text := markdown(content)
	second := strings.Index(content, "<!-- page 2")
	text.Pages = []render.PageStart{{Number: 1, Offset: 0}, {Number: 2, Offset: second}}
	r, err := Rank(t.Context(), text, "boxes counted, doors close?", Options{})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(r.Passages, func(a, b sift.Passage) int { return a.Start - b.Start })
	type where struct {
		Text, Heading string
		Page          int
	}
	var got []where
	for _, p := range r.Passages {
		got = append(got, where{p.Text, p.Heading, p.Page})
	}
	want := []where{{"Boxes are dry.", "Storage", 1}, {"They are counted.", "Storage", 2}, {"Doors close.", "Storage > Fire", 2}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestASectionThatBeginsInTheMiddleOfAPageIsOnThatPage(t *testing.T) {
	text := Text{Content: "The vault is open on Mondays.", Pages: []render.PageStart{{Number: 7, Offset: -40}}}
	d, err := Extract(t.Context(), text, "when is the vault open?", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Passages) != 1 || d.Passages[0].Page != 7 {
		t.Errorf("passages %+v, want one on page 7", d.Passages)
	}
}

func TestSplittingEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	s := splitter{t: Text{Content: strings.Repeat("a b c.\n\n", 1<<18)}, size: sizesFor(100), emit: func(piece) {
		if n++; n == 10 {
			cancel()
		}
	}}
	if err := s.run(ctx); err == nil || n > 20_000 {
		t.Errorf("error %v after %d pieces, want the context's within some 64 KiB", err, n)
	}
}

func FuzzSplit(f *testing.F) {
	for _, s := range []string{
		"# A\n\ntext\n\n- x\n- y\n\n| a | b |\n| - | - |\n| c | d |\n\n```\ncode\n", "> ```\n> x\n", "1. a\n\n   b\n2. c", "\xff\xfe # x", "a | b\n- | -\n", "T\n===\n\n中文。第二句。", "- ```\n  x\n  ```\n",
	} {
		f.Add(s, true, 40)
		f.Add(s, false, 7)
	}
	f.Fuzz(func(t *testing.T, content string, md bool, budget int) {
		content = strings.ToValidUTF8(content, "\uFFFD")
		text := Text{Content: content, Markdown: md}
		if md {
			text.Headings = headingsOf(content)
		}
		size := sizesFor(max(1, budget%5000))
		pieces := split(t, text, size)
		// Nothing is lost but white space and headings.
		kept := 0
		for _, p := range pieces {
			kept += len(strings.Join(strings.Fields(content[p.from:p.to]), ""))
		}
		if all := len(strings.Join(strings.Fields(content), "")); len(text.Headings) == 0 && kept != all {
			t.Errorf("%d bytes of %d are in passages", kept, all)
		}
	})
}
