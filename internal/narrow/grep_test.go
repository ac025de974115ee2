package narrow

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"
	"pgregory.net/rapid"

	"sift.build/sift/internal/render"
	"sift.build/sift/internal/sift"
)

func pattern(t interface {
	Helper()
	Fatalf(string, ...any)
}, s string) *Pattern {
	t.Helper()
	p, err := ParsePattern(s)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return p
}

// pages gives page starts from pairs of number and offset.
func pages(pairs ...int) []render.PageStart {
	var out []render.PageStart
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, render.PageStart{Number: pairs[i], Offset: pairs[i+1]})
	}
	return out
}

// heads finds the lines of a Markdown text that begin with #.
func heads(content string) []sift.Heading {
	var out []sift.Heading
	at := 0
	for l := range strings.Lines(content) {
		if text := strings.TrimLeft(l, "#"); text != l {
			out = append(out, sift.Heading{Level: len(l) - len(text), Text: strings.TrimSpace(text), Offset: at})
		}
		at += utf8.RuneCountInString(l)
	}
	return out
}

const policy = `# Policy

Élan first.

## Storage

Each archive has a keeper.

Records are kept for ninety days.

They are counted in spring.

One is shown.

Two is not.

Three is not.

Four is shown.

Five is shown.

Paper is kept for a year.

## Backups

Backup retention is thirty days.

## Contact

Write to the office.`

func TestMatchingLinesComeWithNumberNeighboursAndHeading(t *testing.T) {
	for _, c := range []struct {
		name, pattern string
		text          Text
		want          string
	}{
		{"groups", "retention|kept for", Text{Content: policy, Markdown: true, Headings: heads(policy)}, `3 matching lines

[offset 35] Policy > Storage
7-Each archive has a keeper.
9:Records are kept for ninety days.
11-They are counted in spring.
13-One is shown.
--
[offset 170] Policy > Storage
19-Four is shown.
21-Five is shown.
23:Paper is kept for a year.
--
[offset 241] Policy > Backups
27:Backup retention is thirty days.`},
		{"a heading, whose section is what is around it", "^## Cont", Text{Content: policy, Markdown: true, Headings: heads(policy)}, `1 matching line

[offset 275] Policy > Contact
29:## Contact
31-Write to the office.`},
		{"nothing", "RETENTION", Text{Content: policy}, "no line matches"},
		{"case ignored", "(?i)THIRTY", Text{Content: policy, Markdown: true, Headings: heads(policy)}, `1 matching line

[offset 241] Policy > Backups
27:Backup retention is thirty days.`},
		{"no structure is known", "first", Text{Content: policy}, `1 matching line

[offset 0]
1-# Policy
3:Élan first.
5-## Storage
7-Each archive has a keeper.`},
		{"groups that touch are one", "2|7", Text{Content: "1\n2\n3\n4\n5\n6\n7\n8\n9\n10"}, `2 matching lines

[offset 0]
1-1
2:2
3-3
4-4
5-5
6-6
7:7
8-8
9-9`},
		{"groups that do not touch", "2|8", Text{Content: "1\n2\n3\n4\n5\n6\n7\n8\n9\n10"}, `2 matching lines

[offset 0]
1-1
2:2
3-3
4-4
--
[offset 10]
6-6
7-7
8:8
9-9
10-10`},
		{"every line end is one", "b|c|d", Text{Content: "a\r\nb\rc\n\rd\r\n"}, `3 matching lines

[offset 0]
1-a
2:b
3:c
5:d`},
		{"empty lines are neither matches nor neighbours", "^$|^ *$|b", Text{Content: "a\n\n \n\t\nb\n"}, `1 matching line

[offset 0]
1-a
5:b`},
		{"the lines of a quote with nothing in them", ">|b", Text{Content: "> a\n>\n> > \n> b", Markdown: true}, `2 matching lines

[offset 0]
1:> a
4:> b`},
		{"a sign alone is something where the text is no Markdown", ">", Text{Content: "a\n>\nb"}, `1 matching line

[offset 0]
1-a
2:>
3-b`},
		{"pages", "a", Text{Content: "<!-- page 3 -->\n\na\n\nb\n\n<!-- page 4 -->\n\nc\n\n<!-- page 5 -->\n\n# Än\n\nxa", Markdown: true, Pages: pages(3, 0, 4, 23, 5, 43),
			Headings: []sift.Heading{{Level: 1, Text: "Än", Offset: 60}}}, `2 matching lines

[page 3, offset 17]
3:a
5-b
--
[page 5, offset 66] Än
15:xa`},
		{"a bookmark that begins with its page", "a|b", Text{Content: "[page 1]\n\na\n\n[page 2]\n\nb", Pages: pages(1, 0, 2, 13),
			Headings: []sift.Heading{{Level: 1, Text: "One", Offset: 0}, {Level: 2, Text: "Sub", Offset: 0}, {Level: 1, Text: "Two", Offset: 13}}}, `2 matching lines

[page 1, offset 10] One > Sub
3:a
--
[page 2, offset 23] Two
7:b`},
		{"levels that skip and fall back", "x", Text{Content: "a\nx\nb\nx\nc\nx\n", Headings: []sift.Heading{
			{Level: 3, Text: "deep", Offset: 0}, {Level: 2, Text: "mid", Offset: 4}, {Level: 99, Text: "line\nbreak  and\u2028blanks", Offset: 8}}}, `3 matching lines

[offset 0] deep
1-a
2:x
--
[offset 4] mid
3-b
4:x
--
[offset 8] mid > line break and blanks
5-c
6:x`},
		{"an empty content", "x", Text{}, "no line matches"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := Grep(t.Context(), c.text, pattern(t, c.pattern))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, r.Content); diff != "" {
				t.Error(diff)
			}
			if r.Cut {
				t.Error("cut")
			}
		})
	}
}

func TestThePagesOfWhatIsShownAreTold(t *testing.T) {
	text := Text{Content: "[page 3]\na\n[page 4]\nb\n[page 7]\na\na\nx\nx\nx\nx\nx\na", Pages: pages(3, 0, 4, 11, 7, 22)}
	r, err := Grep(t.Context(), text, pattern(t, "a$"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{3, 7}, r.Pages); diff != "" || r.Hits != 4 {
		t.Errorf("%d hits: %s", r.Hits, diff)
	}
}

func TestAPagesMarkerIsNoText(t *testing.T) {
	r, err := Grep(t.Context(), Text{Content: "[page 3]\n\nthe next page", Pages: pages(3, 0)}, pattern(t, "page"))
	if err != nil || r.Hits != 1 || strings.Contains(r.Content, "[page 3]") {
		t.Errorf("%v: %s", err, r.Content)
	}
}

func TestAMatchIsFoundInMarkdownAsAReaderSeesIt(t *testing.T) {
	for _, c := range []struct{ pattern, line string }{
		{`shared_ptr`, `the shared\_ptr of it`},
		{`shared_ptr`, "`shared_ptr`"},
		{`shared\\_ptr`, `the shared\_ptr of it`}, // and as it stands
		{`Backup retention is`, `**Backup** *retention* is`},
		{`Backup retention is`, `[Backup](https://h.example/a_(b)) retention [is](<x> "y")`},
		{`see map below`, `see ![map](m.png) below`},
		{`call f\(x\) now`, "call `f(x)` now"},
		{`not this`, `~~not~~ this`},
		{`H2O`, `H<sub>2</sub>O`},
		{`2 \* 3`, `2 * 3`},
		{`a\|b`, `| a\|b |`},
		{`\[x\] y`, `[x] y`},
		{`\(m\)\.`, `\[a](m).`}, // no link: the bracket is escaped
		{`^- item one`, `- item **one**`},
		{`https://h\.example/x`, `[text](https://h.example/x)`},
		{`~home/~user`, `~home/~user`},
	} {
		for _, p := range []struct {
			markdown bool
			want     bool
		}{{true, true}, {false, regexp.MustCompile(c.pattern).MatchString(c.line)}} {
			r, err := Grep(t.Context(), Text{Content: c.line, Markdown: p.markdown}, pattern(t, c.pattern))
			if err != nil {
				t.Fatal(err)
			}
			if (r.Hits == 1) != p.want {
				t.Errorf("%s in %s, Markdown %v: %d hits", c.pattern, c.line, p.markdown, r.Hits)
			}
			if p.want && !strings.HasSuffix(r.Content, "\n1:"+c.line) {
				t.Errorf("%s is not shown as it stands: %s", c.line, r.Content)
			}
		}
	}
}

func TestALongLineIsShownAroundItsMatches(t *testing.T) {
	words := func(n int) string { return strings.Repeat("word ", n) }
	long := words(1000) + "needle " + words(1000)
	shown := func(text Text, p string) string {
		t.Helper()
		r, err := Grep(t.Context(), text, pattern(t, p))
		if err != nil {
			t.Fatal(err)
		}
		_, s, _ := strings.Cut(r.Content, "\n1:")
		return s
	}
	if got, want := shown(Text{Content: long}, "needle"), "…"+words(100)+"needle "+words(297)+"word…"; got != want {
		t.Errorf("in the middle:\n%q\n%q", got, want)
	}
	if got, want := shown(Text{Content: "needle " + long}, "^needle"), "needle "+words(397)+"word…"; got != want {
		t.Errorf("at the beginning:\n%q\n%q", got, want)
	}
	if got, want := shown(Text{Content: words(1000) + "needle"}, "needle$"), "…"+words(398)+"needle"; got != want {
		t.Errorf("at the end:\n%q\n%q", got, want)
	}
	if got, want := shown(Text{Content: long + long}, "needle"), "…"+words(50)+"needle "+words(147)+"word…"+words(50)+"needle "+words(147)+"word…"; got != want {
		t.Errorf("twice:\n%q\n%q", got, want)
	}
	// The match is where a reader sees it; the line is shown as it stands.
	if got := shown(Text{Content: strings.Repeat(`\_`, 5000) + " a\\_needle " + words(1000), Markdown: true}, "a_needle"); !strings.HasPrefix(got, "…_"+strings.Repeat(`\_`, 249)+" a") {
		t.Errorf("behind signs: %q", got)
	}
	// A word boundary in the middle of a line is one of the whole line.
	if got := shown(Text{Content: "cat " + strings.Repeat("concat", 1000)}, `\bcat`); strings.Count(got, "…") != 1 {
		t.Errorf("word boundaries that are none: %q", got)
	}
	// Without words to cut at, no character is cut.
	if got := shown(Text{Content: strings.Repeat("é漢👩", 3000) + "x" + strings.Repeat("é漢👩", 3000)}, "x"); !utf8.ValidString(got) || utf8.RuneCountInString(got) != 2002 {
		t.Errorf("%d characters, valid %v", utf8.RuneCountInString(got), utf8.ValidString(got))
	}
	exact := strings.Repeat("é", 1999) + "x"
	if got := shown(Text{Content: exact}, "x"); got != exact {
		t.Error("a line of 2,000 characters is cut")
	}
	if got := shown(Text{Content: exact + "é"}, "x"); got != "…"+exact[2:]+"é" {
		t.Errorf("a line of 2,001 characters: %q", got)
	}
}

func TestNeighboursAreCutOnTheSideThatIsAwayFromTheMatch(t *testing.T) {
	long := "first " + strings.Repeat("word ", 200) + "last"
	r, err := Grep(t.Context(), Text{Content: long + "\nhit\n" + long}, pattern(t, "hit"))
	if err != nil {
		t.Fatal(err)
	}
	want := "1 matching line\n\n[offset 0]\n1-…" + strings.Repeat("word ", 99) + "last\n2:hit\n3-first " + strings.Repeat("word ", 98) + "word…"
	if diff := cmp.Diff(want, r.Content); diff != "" {
		t.Error(diff)
	}
}

func TestMoreMatchesThanAreShownAreCounted(t *testing.T) {
	for _, c := range []struct {
		name, content string
		first         string
		hits          int
	}{
		{"200", strings.Repeat("hit\n", 200), "200 matching lines", 200},
		{"201", strings.Repeat("hit\n", 201), "first 200 of 201 matching lines", 201},
		{"1,250 with others between", strings.Repeat("a\nb\nc\nd\ne\nhit\n", 1250), "first 200 of 1250 matching lines", 1250},
		{"too many characters", strings.Repeat("hit"+strings.Repeat("é", 1990)+"\n", 60), "first 50 of 60 matching lines", 60},
	} {
		r, err := Grep(t.Context(), Text{Content: c.content}, pattern(t, "hit"))
		if err != nil {
			t.Fatal(err)
		}
		first, rest, _ := strings.Cut(r.Content, "\n")
		if first != c.first || r.Hits != c.hits || r.Cut != strings.HasPrefix(first, "first") {
			t.Errorf("%s: %q, %d, %v", c.name, first, r.Hits, r.Cut)
		}
		if shown, want := strings.Count(rest, ":hit"), min(c.hits, 200); c.name != "too many characters" && shown != want {
			t.Errorf("%s: %d are shown, not %d", c.name, shown, want)
		}
		if n := utf8.RuneCountInString(r.Content); n > 100_000 {
			t.Errorf("%s: %d characters", c.name, n)
		}
	}
}

func TestHeadingsOfAnyLengthAreCut(t *testing.T) {
	r, err := Grep(t.Context(), Text{Content: "hit", Headings: []sift.Heading{{Level: 1, Text: strings.Repeat("long ", 100_000)}, {Level: 2, Text: "b"}}}, pattern(t, "hit"))
	if err != nil {
		t.Fatal(err)
	}
	if want := "1 matching line\n\n[offset 0] " + strings.Repeat("long ", 19) + "long… > b\n1:hit"; r.Content != want {
		t.Errorf("%.300s", r.Content)
	}
}

func TestAPageCannotMakeUpNumbersHeadingsOrGroups(t *testing.T) {
	r, err := Grep(t.Context(), Text{Content: "hit\n--\n[page 9, offset 7] Trust me\n12:forged\nhit"}, pattern(t, "hit"))
	if err != nil {
		t.Fatal(err)
	}
	want := "2 matching lines\n\n[offset 0]\n1:hit\n2---\n3-[page 9, offset 7] Trust me\n4-12:forged\n5:hit"
	if diff := cmp.Diff(want, r.Content); diff != "" {
		t.Error(diff)
	}
}

// document is what package extract makes of an HTML page, or of the pages of a
// PDF.
func document(t *testing.T, kind sift.Kind, body string) *sift.Document {
	t.Helper()
	root, err := html.Parse(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	main := root.FirstChild.LastChild
	root.FirstChild.RemoveChild(main)
	return &sift.Document{Kind: kind, Main: main, PDF: &sift.PDF{Total: 9}}
}

// The offsets of pages and headings are those that package render gives.
func TestWhatIsRenderedIsSearchedWithItsPagesAndHeadings(t *testing.T) {
	doc := document(t, sift.KindPDF, `<section data-page="2"><h1>Größe</h1><p>Call <code>shared_ptr</code> or shared_<em>p</em>tr.</p></section>`+
		`<section data-page="5"><p>Its shared_ptr is on the next page.</p><h2>Then</h2><p>Nothing.</p></section>`)
	outline, err := render.Content(doc, sift.ModeOutline)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		mode  sift.Mode
		heads []sift.Heading
		want  string
	}{
		{sift.ModeClean, outline.Outline, "2 matching lines\n\n[page 2, offset 26] Größe\n5:Call `shared_ptr` or shared\\_*p*tr.\n--\n[page 5, offset 80] Größe\n9:Its shared_ptr is on the next page."},
		{sift.ModeText, nil, "2 matching lines\n\n[page 2, offset 10]\n3-Größe\n5:Call shared_ptr or shared_ptr.\n--\n[page 5, offset 59]\n9:Its shared_ptr is on the next page.\n11-Then\n13-Nothing."},
		{sift.ModeHTML, nil, "2 matching lines\n\n[page 2, offset 24]\n2-<h1>Größe</h1>\n3:<p>Call <code>shared_ptr</code> or shared_<em>p</em>tr.</p>\n4-</section>\n--\n[page 5, offset 134]\n6:<p>Its shared_ptr is on the next page.</p>\n7-<h2>Then</h2>\n8-<p>Nothing.</p>"},
	} {
		r, err := render.Content(doc, c.mode)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Grep(t.Context(), Text{Content: r.Content, Markdown: c.mode == sift.ModeClean, Headings: c.heads, Pages: r.Pages}, pattern(t, "shared_ptr|page"))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, got.Content); diff != "" {
			t.Errorf("%s of %q: %s", c.mode, r.Content, diff)
		}
	}
}

var shownLine = regexp.MustCompile(`^(\d+)([:-])((?s).*)$`)

// check holds a result against the content, read in another way.
func check(t interface {
	Helper()
	Fatalf(string, ...any)
}, text Text, p *Pattern, r Result) {
	t.Helper()
	lines := regexp.MustCompile("\r\n|\r|\n").Split(text.Content, -1)
	want := 0
	for _, l := range lines {
		if strings.TrimSpace(l) != "" && !text.Markdown && len(text.Pages) == 0 && p.re.MatchString(l) {
			want++
		}
	}
	if !text.Markdown && len(text.Pages) == 0 && r.Hits != want {
		t.Fatalf("%d hits, want %d of %q in %q", r.Hits, want, p, text.Content)
	}
	if n := utf8.RuneCountInString(r.Content); n > outMax {
		t.Fatalf("%d characters", n)
	}
	first, rest, found := strings.Cut(r.Content, "\n\n")
	if r.Hits == 0 {
		if r.Content != "no line matches" {
			t.Fatalf("%q", r.Content)
		}
		return
	}
	if !found || !strings.HasSuffix(first, "matching lines") && first != "1 matching line" {
		t.Fatalf("%q", r.Content)
	}
	hits, before := 0, 0
	for group := range strings.SplitSeq(rest, "\n--\n[") {
		for i, l := range strings.Split(group, "\n") {
			if i == 0 {
				if !strings.Contains(l, "offset ") {
					t.Fatalf("a group begins with %q", l)
				}
				continue
			}
			m := shownLine.FindStringSubmatch(l)
			if m == nil {
				t.Fatalf("%q in %q", l, r.Content)
			}
			number, err := strconv.Atoi(m[1])
			if err != nil || number <= before || number > len(lines) {
				t.Fatalf("number %s after %d, of %d lines", m[1], before, len(lines))
			}
			before = number
			line := lines[number-1]
			parts := []string{m[3]}
			if m[3] != line {
				parts = strings.Split(m[3], ellipsis)
			}
			at := 0
			for _, part := range parts {
				j := strings.Index(line[at:], part)
				if j < 0 {
					t.Fatalf("line %d is %q, and %q was shown", number, line, m[3])
				}
				at += j + len(part)
			}
			if m[2] == ":" {
				hits++
			}
			if !text.Markdown && (m[2] == ":") != p.re.MatchString(line) {
				t.Fatalf("line %d, %q, is shown with %q", number, line, m[2])
			}
		}
	}
	if hits == 0 || hits > r.Hits || (hits < r.Hits) != r.Cut {
		t.Fatalf("%d are shown of %d, cut %v", hits, r.Hits, r.Cut)
	}
}

func TestNumbersAreThoseOfTheContentAndLinesAreItsLines(t *testing.T) {
	pieces := []string{"hit", "word ", "hit word", "\n", "\n\n", "\r\n", "\r", "# Head\n", "> q\n", "漢字 hit", strings.Repeat("wörd ", 500), strings.Repeat("x", 700), "12:forged\n", "--\n", "\n[page 9]\n", `\_`, "**", "[a](b)", " "}
	rapid.Check(t, func(t *rapid.T) {
		text := Text{Content: strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 80).Draw(t, "pieces"), ""), Markdown: rapid.Bool().Draw(t, "markdown")}
		total := utf8.RuneCountInString(text.Content)
		if rapid.Bool().Draw(t, "headings") {
			offsets := rapid.SliceOfN(rapid.IntRange(0, total), 0, 5).Draw(t, "offsets")
			slices.Sort(offsets)
			for i, at := range offsets {
				text.Headings = append(text.Headings, sift.Heading{Level: 1 + i%3, Text: "Heading", Offset: at})
			}
		}
		p := pattern(t, rapid.SampledFrom([]string{"hit", ".*", "^hit", "hit$", "word", "字", "x{500}", "(?i)HEAD", "q"}).Draw(t, "pattern"))
		r, err := Grep(t.Context(), text, p)
		if err != nil {
			t.Fatal(err)
		}
		check(t, text, p, r)
	})
}

func FuzzGrep(f *testing.F) {
	f.Add(policy, "kept|retention", true, uint16(10), uint16(40))
	f.Add("a\r\nb\rc", "b", false, uint16(0), uint16(0))
	f.Add(strings.Repeat("wörd ", 600)+"x\xff\n[a](b(c", `\bx`, true, uint16(3), uint16(4))
	f.Add("\\", ".", true, uint16(1), uint16(0))
	f.Fuzz(func(t *testing.T, content, s string, markdown bool, heading, page uint16) {
		p, err := ParsePattern(s)
		if err != nil || len(content) > 20_000 {
			return
		}
		text := Text{Content: content, Markdown: markdown, Headings: []sift.Heading{{Level: 2, Text: content[:min(50, len(content))], Offset: int(heading)}}}
		if page > 0 {
			text.Pages = pages(1, 0, 2, int(page))
		}
		r, err := Grep(t.Context(), text, p)
		if err != nil {
			t.Fatal(err)
		}
		check(t, text, p, r)
	})
}

func TestTheOffsetOfAHitFarIntoALongLineLeadsToIt(t *testing.T) {
	content := "intro\n" + strings.Repeat("é x ", 300_000) + "NEEDLE here" + strings.Repeat(" y", 300_000) + "\nend"
	res, err := Grep(t.Context(), Text{Content: content}, pattern(t, "NEEDLE"))
	if err != nil {
		t.Fatal(err)
	}
	got := res.Content
	m := regexp.MustCompile(`\n\[offset (\d+)\]`).FindStringSubmatch(got)
	if m == nil {
		t.Fatalf("no offset in %.200q", got)
	}
	at, err := strconv.Atoi(m[1])
	if err != nil {
		t.Fatal(err)
	}
	if from := string([]rune(content)[at:min(at+hitChars, utf8.RuneCountInString(content))]); !strings.Contains(from, "NEEDLE") {
		t.Errorf("at offset %d stands %.80q", at, from)
	}
}
