package layout

import "testing"

func TestParagraphsArePartedByGapsIndentsAndSizes(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(b *builder)
		want string
	}{
		{"a gap", func(b *builder) {
			y := b.lines(72, 100, 10, 12, "The first paragraph takes up two\nlines of the page and then ends.")
			b.lines(72, y+8, 10, 12, "The second paragraph takes up two\nlines of the page and then ends.")
		}, `
P The first paragraph takes up two lines of the page and then ends.
P The second paragraph takes up two lines of the page and then ends.
`},
		{"an indent", func(b *builder) {
			b.lines(72, 100, 10, 12, ">The first paragraph takes up three\nlines of the page and it ends in a line\nthat is as long as the other lines were.\n>The second paragraph begins with an\nindent and goes on for another line here\nuntil it comes to its end.")
		}, `
P The first paragraph takes up three lines of the page and it ends in a line that is as long as the other lines were.
P The second paragraph begins with an indent and goes on for another line here until it comes to its end.
`},
		{"a hanging indent", func(b *builder) {
			b.lines(72, 100, 10, 12, "Adams, A. The first entry of this list\n>of books goes on further to the right,\n>and so does its third line. Town, 1990.\nBaker, B. The second entry does so too\n>and it ends with the year. Town, 1991.\nClark, C. A third one. Town, 1992.")
		}, `
P Adams, A. The first entry of this list of books goes on further to the right, and so does its third line. Town, 1990.
P Baker, B. The second entry does so too and it ends with the year. Town, 1991.
P Clark, C. A third one. Town, 1992.
`},
		{"a smaller size", func(b *builder) {
			b.lines(72, 100, 10, 12, filler)
			b.lines(72, 148, 8, 10, "A caption follows closely, and it is\nset in smaller type.")
		}, fillerText + "P A caption follows closely, and it is set in smaller type.\n"},
		{"a short line", func(b *builder) {
			b.lines(72, 100, 10, 12, "The paragraphs of this page have no gaps between\nthem, only short last lines.\nThe next one begins at the margin as the first did\nand goes on for some words.")
		}, `
P The paragraphs of this page have no gaps between them, only short last lines.
P The next one begins at the margin as the first did and goes on for some words.
`},
		{"double spacing", func(b *builder) {
			b.lines(72, 100, 10, 23, "Lines set wide apart are still lines of one\nparagraph when all lines of it are set like\nthat, as in a manuscript that was typed for\nan editor, with room for marks.")
		}, `
P Lines set wide apart are still lines of one paragraph when all lines of it are set like that, as in a manuscript that was typed for an editor, with room for marks.
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newPage(1)
			c.set(b)
			wantShown(t, read(nil, b), c.want)
		})
	}
}

func TestALineBreakThatIsMeantIsKept(t *testing.T) {
	b := newPage(1)
	b.lines(72, 100, 10, 12, "The Harbour Office\nPier 4\nNorth Quay and Customs House\nDover")
	wantShown(t, read(nil, b), "P The Harbour Office⏎Pier 4⏎North Quay and Customs House⏎Dover\n")
}

func TestWordsAreJoinedOverLineEnds(t *testing.T) {
	for _, c := range []struct{ name, lines, want string }{
		{"a word that the typesetter broke", "we com¬\npile it", "we compile it"},
		{"a capital after the hyphen", "Schwarz¬\nWeiß Bilder", "Schwarz-Weiß Bilder"},
		{"capitals throughout", "the INTRO¬\nDUCTION of it", "the INTRODUCTION of it"},
		{"a digit before the hyphen", "after COVID-19¬\nrelated work", "after COVID-19-related work"},
		{"one letter before the hyphen", "send an e¬\nmail to it", "send an e-mail to it"},
		{"a compound of three", "state-of¬\nthe-art work", "state-of-the-art work"},
		{"self", "a self¬\ncontained one", "a self-contained one"},
		{"a number", "in twenty¬\nnine of them", "in twenty-nine of them"},
		{"a part left out", "for pre¬\nand post-war years", "for pre- and post-war years"},
		{"German, a part left out", "die Ein¬\nund Ausgabe", "die Ein- und Ausgabe"},
		{"a hyphen left in the text", "a high-\nlevel word", "a high-level word"},
		{"a dash at the end", "the end -\nand more", "the end - and more"},
		{"a slash", "input/\noutput here", "input/output here"},
		{"an address", "see https://example.com/a/\nlong/path.html for", "see https://example.com/a/long/path.html for"},
		{"an address with a hyphen", "see https://example.com/a¬\nlong-path.html for", "see https://example.com/a-long-path.html for"},
		{"an address before a sentence", "see https://example.com/\nThe next", "see https://example.com/ The next"},
		{"Chinese", "这是一个中文\n句子的例子", "这是一个中文句子的例子"},
		{"Korean", "한국어 문장은\n띄어 쓴다", "한국어 문장은 띄어 쓴다"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newPage(1)
			b.lines(72, 100, 10, 12, c.lines)
			wantShown(t, read(nil, b), "P "+c.want+"\n")
		})
	}
}

func TestALinkSaysHowItsAddressIsJoined(t *testing.T) {
	b := newPage(1)
	const url = "https://example.com/some-long/Name"
	b.line(72, 100, 10, "https://example.com/some¬", with{url: url})
	b.line(72, 112, 10, "long/Name", with{url: url})
	wantShown(t, read(nil, b), "P [https://example.com/some-long/Name]("+url+")\n")
}

func TestTheDocumentDecidesOnAHyphenThatTheWordsLeaveOpen(t *testing.T) {
	first := newPage(1)
	first.lines(72, 100, 10, 12, "A high¬\nperformance tool and a work¬\nbench that is new to us all.")
	second := newPage(2)
	second.lines(72, 100, 10, 12, "Another high-performance tool\nstands on the workbench.")
	wantShown(t, read(nil, first, second), `
P A high-performance tool and a workbench that is new to us all.
--- 2
P Another high-performance tool stands on the workbench.
`)
}

func TestAHyphenAtTheEndOfAPageStays(t *testing.T) {
	b := newPage(1)
	b.lines(72, 100, 10, 12, "the last word of this page is com¬")
	wantShown(t, read(nil, b), "P the last word of this page is com-\n")
}

func TestAParagraphThatTheColumnsPartIsJoined(t *testing.T) {
	b := newPage(1)
	b.lines(72, 600, 10, 12, "The left column ends here in the\nmiddle of a sentence and of a com¬")
	b.lines(320, 100, 10, 12, "pound word, which the right column\nbrings to its end.")
	b.lines(320, 140, 10, 12, "Another paragraph follows it.")
	wantShown(t, read(nil, b), `
P The left column ends here in the middle of a sentence and of a compound word, which the right column brings to its end.
P Another paragraph follows it.
`)
}

func TestCharactersComeOutAsPlainText(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"ligatures", "oﬀice ﬁle ﬂat aﬃne baﬄe ﬅand ﬆop", "office file flat affine baffle stand stop"},
		{"soft hyphens", "com\u00adpile", "compile"},
		{"control characters", "a\x01b\x0cc\u0085d", "abcd"},
		{"beyond the basic plane", "𝜋𝑟² 😀", "𝜋𝑟² 😀"},
		{"invisible characters", "a\ufeffb\u200bc\u2060d", "abcd"},
		{"tag characters", "ab\U000E0041\U000E0042", "ab"},
		{"no-break space", "10\u00a0km", "10 km"},
		{"a broken byte", "a\xffb", "a\ufffdb"},
		{"a symbol font", "\uf0b7x", "•x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if plain(c.in) >= 0 {
				t.Errorf("%q passes for plain text", c.in)
			}
			if got := scrub(c.in); got != c.want {
				t.Errorf("scrub(%q) = %q, want %q", c.in, got, c.want)
			}
		})
	}
}

func TestRightToLeftTextStaysInLogicalOrder(t *testing.T) {
	b := newPage(1)
	// Words in logical order, each to the left of the one before it.
	set := func(y float64, words ...string) {
		x := 500.0
		for i, w := range words {
			n := 5 * float64(len([]rune(w)))
			b.page.Words = append(b.page.Words, Word{
				Text: w, Size: 10, Baseline: y, MCID: -1, Space: i > 0, Break: i == 0 && len(b.page.Words) > 0,
				Box: Rect{x - n, y - 7.5, x, y + 2},
			})
			x -= n + 2.5
		}
	}
	set(100, "שלום", "עולם", "זה", "משפט", "ארוך", "עם", "המילה")
	set(112, "PDFium", "בתוכו", "וגם", "סוף.")
	wantShown(t, read(nil, b), "P שלום עולם זה משפט ארוך עם המילה PDFium בתוכו וגם סוף.\n")
}

func TestEmphasisIsMarkedWhereItDiffersWithinAParagraph(t *testing.T) {
	b := newPage(1)
	x := b.line(72, 100, 10, "Words can be")
	x = b.line(x+2.5, 100, 10, "strong", with{font: strong})
	x = b.line(x+2.5, 100, 10, "or")
	x = b.line(x+2.5, 100, 10, "slanted words", with{font: slanted})
	x = b.line(x+2.5, 100, 10, "or")
	x = b.line(x+2.5, 100, 10, "code", with{font: typed})
	b.line(x, 100, 10, ", and none of it spoils the spaces.", with{glued: true})
	b.lines(72, 140, 10, 12, "A paragraph that is bold from its beginning to its end, over\nmore than one line of the page, is no emphasis, and it is too\nlong by far to be a heading of what follows under it, so that\nit stays a paragraph like any other of the page, without a\nmark.", with{font: strong})
	wantShown(t, read(nil, b), `
P Words can be **strong** or _slanted words_ or `+"`code`"+`, and none of it spoils the spaces.
P A paragraph that is bold from its beginning to its end, over more than one line of the page, is no emphasis, and it is too long by far to be a heading of what follows under it, so that it stays a paragraph like any other of the page, without a mark.
`)
}

func TestRaisedAndLoweredTextIsMarked(t *testing.T) {
	b := newPage(1)
	x := b.line(72, 100, 10, "A claim")
	x = b.line(x, 100, 6, "12", with{raise: 4})
	x = b.line(x+2.5, 100, 10, "and some H", with{glued: true})
	b.page.Words[len(b.page.Words)-3].Space = true
	x = b.line(x, 100, 6, "2", with{raise: -2, glued: true})
	b.line(x, 100, 10, "O here.", with{glued: true})
	wantShown(t, read(nil, b), "P A claim^12^ and some H~2~O here.\n")
}

func TestLinksAreKept(t *testing.T) {
	b := newPage(1)
	x := b.line(72, 100, 10, "See")
	x = b.line(x+2.5, 100, 10, "the manual", with{url: "https://example.com/"})
	b.line(x, 100, 10, ".", with{glued: true})
	wantShown(t, read(nil, b), "P See [the manual](https://example.com/).\n")
}

func TestCodeKeepsItsIndentationAndBlankLines(t *testing.T) {
	b := newPage(1)
	b.lines(72, 100, 10, 12, filler)
	b.line(90, 170, 10, "func main() {", with{font: typed})
	b.line(90, 182, 10, "    x := f(1)", with{font: typed})
	b.line(90, 206, 10, "    print(x)  // out", with{font: typed})
	b.line(90, 218, 10, "}", with{font: typed})
	wantShown(t, read(nil, b), fillerText+"```\nfunc main() {\n    x := f(1)\n\n    print(x)  // out\n}\n```\n")
}

func TestATypedPageOfProseIsNoCode(t *testing.T) {
	b := newPage(1)
	b.lines(72, 100, 10, 12, "This letter was written on a machine that has one\nwidth for all of its letters, as letters were then,\nand it is no code for all that. It has sentences.", with{font: typed})
	b.lines(72, 160, 10, 12, "for (i = 0; i < n; i++) {\n  sum += a[i] * b[i];\n}", with{font: typed})
	wantShown(t, read(nil, b), "P This letter was written on a machine that has one width for all of its letters, as letters were then, and it is no code for all that. It has sentences.\n```\nfor (i = 0; i < n; i++) {\n  sum += a[i] * b[i];\n}\n```\n")
}

func TestALineOfCodeWithinASentenceIsNoBlock(t *testing.T) {
	b := newPage(1)
	b.lines(72, 100, 10, 12, "The manual of this program stands at the address that is")
	b.line(72, 112, 10, "https://example.com/manual/of/the/program/all.html", with{font: typed})
	b.line(72, 124, 10, "and can be read there by everybody who wants to use it.")
	wantShown(t, read(nil, b), "P The manual of this program stands at the address that is `https://example.com/manual/of/the/program/all.html` and can be read there by everybody who wants to use it.\n")
}

func TestADropCapitalBelongsToItsWord(t *testing.T) {
	b := newPage(1)
	b.line(72, 124, 36, "O")
	b.line(92, 100, 10, "nce upon a time there was a harbour with")
	b.line(92, 112, 10, "a pump that ran day and night, and nobody")
	b.line(92, 124, 10, "knew who had built it or what for it was")
	b.line(72, 136, 10, "there, until one day it stopped all by itself.")
	wantShown(t, read(nil, b), "P Once upon a time there was a harbour with a pump that ran day and night, and nobody knew who had built it or what for it was there, until one day it stopped all by itself.\n")
}

func TestTextPaintedTwiceToLookBoldIsReadOnce(t *testing.T) {
	b := newPage(1)
	b.line(72, 100, 10, "Poor man's bold type")
	b.line(72.3, 100, 10, "Poor man's bold type")
	wantShown(t, read(nil, b), "P Poor man's bold type\n")
}

func TestAnAccentStandsWithItsLetterWhereverTheStreamHasIt(t *testing.T) {
	b := newPage(1)
	b.line(72, 100, 10, "in the stable branch and so on")
	// Over the s of "stable", after the rest of the line.
	b.page.Words = append(b.page.Words, Word{Text: "\u0300", Size: 10, Baseline: 98, Space: true, MCID: -1, Box: Rect{101.5, 90, 104, 98}})
	wantShown(t, read(nil, b), "P in the \u0300stable branch and so on\n")
}
