package pdf

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html/atom"

	"sift.build/sift/internal/dom"
	"sift.build/sift/internal/pdf/layout"
	"sift.build/sift/internal/render"
	"sift.build/sift/internal/sift"
)

func said(text string) []layout.Span { return []layout.Span{{Text: text}} }

func item(level int, marker, text string) layout.Block {
	return layout.Block{Kind: layout.Item, Level: level, Marker: marker, Spans: said(text)}
}

func markdown(t *testing.T, blocks ...layout.Block) string {
	t.Helper()
	b := builder{}
	body := dom.Element(atom.Body)
	b.blocks(body, blocks)
	r, err := render.Content(&sift.Document{Kind: sift.KindPDF, Main: body, PDF: &sift.PDF{}}, sift.ModeClean)
	if err != nil {
		t.Fatal(err)
	}
	return r.Content
}

func TestBlocksBecomeMarkdown(t *testing.T) {
	for name, tt := range map[string]struct {
		blocks []layout.Block
		want   string
	}{
		"heading and paragraph": {
			[]layout.Block{{Kind: layout.Heading, Level: 2, Spans: said("Method")}, {Kind: layout.Paragraph, Spans: said("We  measured\u200b it.")}},
			"## Method\n\nWe measured it.",
		},
		"marks and links": {
			[]layout.Block{{Kind: layout.Paragraph, Spans: []layout.Span{
				{Text: "See "}, {Text: "the report", URL: "https://a.example/r"}, {Text: ", "}, {Text: "m", Bold: true}, {Text: "2", Sup: true},
				{Text: " and "}, {Text: "x", Italic: true}, {Text: ", "}, {Text: "a_b", Code: true}, {Text: ", "}, {Text: "no", URL: "javascript:x"},
			}}},
			"See [the report](https://a.example/r), **m**<sup>2</sup> and *x*, `a_b`, no",
		},
		"a meant line break": {
			[]layout.Block{{Kind: layout.Paragraph, Spans: said("1 High Street\nSmalltown")}},
			"1 High Street  \nSmalltown",
		},
		"nested lists": {
			[]layout.Block{item(1, "•", "one"), item(2, "–", "inner"), item(2, "–", "more"), item(1, "•", "two")},
			"- one\n  - inner\n  - more\n- two",
		},
		"numbers": {
			[]layout.Block{item(1, "3.", "three"), item(1, "4.", "four"), item(2, "a)", "inner"), item(1, "5.", "five")},
			"3. three\n4. four\n   - a) inner\n5. five",
		},
		"numbers that begin again": {
			[]layout.Block{item(1, "1.", "one"), item(1, "2.", "two"), item(1, "1.", "one")},
			"1. one\n2. two\n\n1) one",
		},
		"a deeper list first": {
			[]layout.Block{item(3, "•", "deep"), item(1, "•", "flat")},
			"- deep\n\n+ flat",
		},
		"table": {
			[]layout.Block{{Kind: layout.Table, Rows: [][]layout.Cell{
				{{Spans: said("Year"), Header: true}, {Spans: said("Fish | t"), Header: true}},
				{{Spans: said("2025")}, {Spans: said("12")}},
				{{Spans: said("all"), ColSpan: 2}},
			}}},
			"| Year | Fish \\| t |\n| --- | --- |\n| 2025 | 12 |\n| all |  |",
		},
		"code": {
			[]layout.Block{{Kind: layout.Code, Text: "if x {\n\treturn  1\n}"}},
			"```\nif x {\n\treturn  1\n}\n```",
		},
		"nothing": {
			[]layout.Block{{Kind: layout.Paragraph}, {Kind: layout.Heading, Level: 1, Spans: said(" ")}, {Kind: layout.Table}, {Kind: layout.Code, Text: "\n"}},
			"",
		},
	} {
		if diff := cmp.Diff(tt.want, markdown(t, tt.blocks...)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// heard is a document of one page a string, numbered from 1.
func heard(c contents, texts ...string) *contents {
	for i, text := range texts {
		p := &readPage{Result: layout.Result{Number: i + 1, Width: 600, Height: 800, Chars: len(text)}}
		if text != "" {
			p.Blocks = []layout.Block{{Kind: layout.Paragraph, Spans: said(text)}}
		}
		c.pages = append(c.pages, p)
	}
	if c.info.Pages == 0 {
		c.info.Pages = len(texts)
	}
	return &c
}

func TestWhatIsMissingIsSaid(t *testing.T) {
	const text = "There is enough text on this page to be read as one."
	scan := func(c *contents, pages ...int) *contents {
		for _, n := range pages {
			c.pages[n-1].ImageArea = 0.9
		}
		return c
	}
	for name, tt := range map[string]struct {
		c    *contents
		want []sift.Warning
		hint sift.Hint
	}{
		"all of it":      {heard(contents{}, text, text), nil, ""},
		"one empty page": {heard(contents{}, text, ""), nil, ""},
		"a scan": {
			scan(heard(contents{}, "", ""), 1, 2),
			[]sift.Warning{{Code: sift.WarnNoText, Message: "this PDF is a scan: its pages are pictures without a text layer; OCR, which would read them, is off ([pdf] ocr)"}},
			sift.HintOCR,
		},
		"scanned pages among others": {
			scan(heard(contents{}, text, "", text, ""), 2, 4),
			[]sift.Warning{{Code: sift.WarnNoText, Message: "pages 2 and 4 are pictures without a text layer, so that what is written there is missing; OCR, which would read them, is off ([pdf] ocr)"}},
			sift.HintOCR,
		},
		"a scan that OCR could not read": {
			scan(heard(contents{ocr: ocrOutcome{on: true, failed: errors.New("x")}}, ""), 1),
			[]sift.Warning{{Code: sift.WarnNoText, Message: "this PDF is a scan: its pages are pictures without a text layer; OCR could not read them"}},
			sift.HintOCR,
		},
		"nothing at all": {
			heard(contents{}, ""),
			[]sift.Warning{{Code: sift.WarnNoText, Message: "no text was found in this PDF"}}, "",
		},
		"a damaged page": {
			heard(contents{failed: []int{2}, info: info{Pages: 2}}, text),
			[]sift.Warning{{Code: sift.WarnPartial, Message: "page 2 is damaged and could not be read"}}, "",
		},
		"stopped": {
			heard(contents{stopped: "at most 2 are read at once", info: info{Pages: 9}}, text, text),
			[]sift.Warning{{Code: sift.WarnPartial, Message: "2 of 9 pages were read: at most 2 are read at once; ask for others with pages"}},
			sift.HintPages,
		},
	} {
		doc := document(tt.c)
		if diff := cmp.Diff(tt.want, doc.Warnings); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if doc.Hint != tt.hint || doc.PDF.Stopped != (tt.c.stopped != "") {
			t.Errorf("%s: hint %q, stopped %v", name, doc.Hint, doc.PDF.Stopped)
		}
	}
}

func TestHiddenAndInvisibleTextIsLeftOutAndSaid(t *testing.T) {
	c := heard(contents{}, "Seen\U000e0041\U000e0042 \u202ethe\u202c rest of the page")
	c.pages[0].Hidden = 12
	doc := document(c)
	var got []string
	for _, w := range doc.Warnings {
		if w.Code != sift.WarnHiddenText {
			t.Errorf("warning %s", w.Code)
		}
		got = append(got, w.Message)
	}
	if diff := cmp.Diff([]string{
		"12 characters of text that a reader could not see were left out",
		"2 invisible tag characters were left out",
		"2 invisible characters and direction overrides were left out",
	}, got); diff != "" {
		t.Error(diff)
	}
}

func TestATitleThatIsNoneGivesWayToTheFirstHeading(t *testing.T) {
	for in, want := range map[string]string{
		"Annual report":                   "Annual report",
		"":                                "The heading",
		"Microsoft Word - report v3.docx": "The heading",
		"untitled":                        "The heading",
		"paper.tex":                       "The heading",
		"  A\u200b  title ":               "A title",
	} {
		c := heard(contents{info: info{Title: in}}, "text")
		c.pages[0].Blocks = append([]layout.Block{
			{Kind: layout.Heading, Level: 2, Spans: said("Preface")},
			{Kind: layout.Heading, Level: 1, Spans: []layout.Span{{Text: "The "}, {Text: "heading"}}},
		}, c.pages[0].Blocks...)
		doc := document(c)
		if in != "" && want != "The heading" && doc.Title != want {
			t.Errorf("%q: %q", in, doc.Title)
		}
	}
}

func TestMetadataIsTakenWhereItMeansSomething(t *testing.T) {
	created := time.Date(2025, 3, 4, 5, 6, 7, 0, time.FixedZone("", 2*3600))
	doc := document(heard(contents{info: info{
		Author: "A\u200b. Writer", Subject: "On tides", Created: created, Language: "en-GB",
		Bookmarks: []bookmark{{1, "One", 1}, {2, " ", 1}, {1, "Nowhere", 0}, {1, "Beyond", 3}},
	}}, "text", "text"))
	if doc.Author != "A. Writer" || doc.Description != "On tides" || doc.Published != "2025-03-04T05:06:07+02:00" || doc.Language != "en-GB" {
		t.Errorf("got %+v", doc)
	}
	if diff := cmp.Diff([]sift.Bookmark{{Level: 1, Title: "One", Page: 1}}, doc.PDF.Bookmarks); diff != "" {
		t.Error(diff)
	}
	if doc := document(heard(contents{info: info{Language: "<script>", Modified: created.AddDate(-100, 0, 0)}}, "text")); doc.Language != "" || doc.Published != "" {
		t.Errorf("got language %q, published %q", doc.Language, doc.Published)
	}
}
