package extract

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"sift.build/sift/internal/sift"
)

var update = flag.Bool("update", false, "write the golden files")

// said is what a page says about itself.
type said struct {
	Title, Author, Site, Published, Language, Description string
}

func saidBy(doc *sift.Document) said {
	return said{doc.Title, doc.Author, doc.Site, doc.Published, doc.Language, doc.Description}
}

func extractPage(t testing.TB, url, page string) *sift.Document {
	t.Helper()
	doc, err := Extract(context.Background(), Input{Body: []byte(page), ContentType: "text/html; charset=utf-8", URL: url})
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestMetadataOfWholePages(t *testing.T) {
	pages, err := filepath.Glob("testdata/metadata/*.html")
	if err != nil || len(pages) == 0 {
		t.Fatal("no pages", err)
	}
	for _, name := range pages {
		t.Run(filepath.Base(name), func(t *testing.T) {
			page, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			doc := extractPage(t, "https://www.harbour-news.example/2024/05/"+filepath.Base(name), string(page))
			got, err := json.MarshalIndent(saidBy(doc), "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			golden := strings.TrimSuffix(name, ".html") + ".json"
			if *update {
				if err := os.WriteFile(golden, append(got, '\n'), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.TrimSpace(string(want)), string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestATitleLosesTheNameOfTheSiteAndNothingElse(t *testing.T) {
	tests := []struct{ name, url, head, body, want string }{
		{"a colon stays", "", "<title>Locks: how to pass them in winter</title>", "", "Locks: how to pass them in winter"},
		{"a dash stays", "", "<title>Zürich – Genf, eine Reise</title>", "", "Zürich – Genf, eine Reise"},
		{"the site behind a dash", "", "<title>Low water - Harbour News</title><meta property=og:site_name content='Harbour News'>", "", "Low water"},
		{"the site in front", "", "<title>Harbour News: Low water</title><meta property=og:site_name content='Harbour News'>", "", "Low water"},
		{"the site by its address", "https://www.harbournews.example/x", "<title>Low water — Harbour News</title>", "", "Low water"},
		{"a bar divides", "", "<title>Low water in May | The Harbour</title>", "", "Low water in May"},
		{"a dash divides what the heading says", "", "<title>Low water - something else</title>", "<h1>Low water</h1>", "Low water"},
		{"the heading is the site's name", "https://www.harbour.example/", "<title>Low water | Harbour</title>", "<h1>Harbour</h1>", "Low water"},
		{"og shows what the tail is", "", "<title>Low water - X Y Z</title><meta property=og:title content='Low water'>", "", "Low water"},
		{"the heading in other words", "", "<title>Ten facts on low water 2024</title>", "<h1>Ten facts about low water</h1>", "Ten facts about low water"},
		{"only a heading", "", "", "<h1>Low <b>water</b></h1>", "Low water"},
		{"only data", "", `<script type="application/ld+json">{"@type":"NewsArticle","headline":"Ebb &amp; flow"}</script>`, "", "Ebb & flow"},
		{"nothing", "", "", "<p>x</p>", ""},
		{"one line, without what cannot be seen", "", "<title>A\n title\u202e \x1b[31mred\u200b\U000e0041</title>", "", "A title red"},
		{"only a name of the site", "https://harbour.example/", "<title>Harbour</title>", "", "Harbour"},
		{"too long is cut", "", "<title>" + strings.Repeat("long ", 200) + "</title>", "", strings.Repeat("long ", 99) + "long…"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			doc := extractPage(t, tt.url, "<html><head>"+tt.head+"</head><body>"+tt.body+"<p>Text.</p></body></html>")
			if diff := cmp.Diff(tt.want, doc.Title); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestADateIsWrittenAsRFC3339OrNotAtAll(t *testing.T) {
	tests := map[string]string{
		"2024-05-01":                     "2024-05-01",
		"2024/05/01":                     "2024-05-01",
		"20240501":                       "2024-05-01",
		"2024-05-01T10:20:30Z":           "2024-05-01T10:20:30Z",
		"2024-05-01T10:20:30.123+02:00":  "2024-05-01T10:20:30+02:00",
		"2024-05-01T10:20:30+0200":       "2024-05-01T10:20:30+02:00",
		"2024-05-01T10:20Z":              "2024-05-01T10:20:00Z",
		"2024-05-01 10:20:30 -0500":      "2024-05-01T10:20:30-05:00",
		"2024-05-01T10:20:30":            "2024-05-01", // no zone: no moment
		"2024-05-01 10:20:30":            "2024-05-01",
		"2024-05-01 10:20:30 UTC":        "2024-05-01T10:20:30Z",
		"Wed, 01 May 2024 10:20:30 GMT":  "2024-05-01T10:20:30Z",
		"Wed, 1 May 2024 10:20:30 +0200": "2024-05-01T10:20:30+02:00",
		"Wed, 01 May 2024 10:20:30 EST":  "2024-05-01", // Go knows no offset for it
		"May 1, 2024":                    "2024-05-01",
		"1 May 2024":                     "2024-05-01",
		"  May 1,  2024 ":                "2024-05-01",
		"Wed May 01 2024 10:20:30 GMT+0200 (Central European Summer Time)": "2024-05-01T10:20:30+02:00",
		"03/04/2024":                      "", // two days
		"2024-05":                         "",
		"2024":                            "",
		"yesterday":                       "",
		"2024-13-01":                      "",
		"0001-01-01T00:00:00Z":            "",
		"9999-12-31":                      "",
		strings.Repeat("2024-05-01 ", 20): "",
	}
	for in, want := range tests {
		if got := rfc3339(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestAnAuthorIsANameOrNothing(t *testing.T) {
	tests := []struct{ name, head, body, want string }{
		{"a name", "<meta name=author content='Ann Weir'>", "", "Ann Weir"},
		{"by is not part of it", "<meta name=author content='By  Ann Weir,'>", "", "Ann Weir"},
		{"an address is no name", "<meta property=article:author content='https://www.facebook.example/ann'>", "", ""},
		{"an account is no name", "<meta name=author content='admin'>", "", ""},
		{"several", "<meta name=citation_author content='Weir, R.'><meta name=citation_author content='Lock, S.'>", "", "Weir, R., Lock, S."},
		{"the same twice", "<meta name=author content='Ann Weir'><meta name=author content='ann weir'>", "", "Ann Weir"},
		{"data of people in a list", `<script type="application/ld+json">{"@type":"Article","author":[{"@type":"Person","name":"Ann Weir"},{"@type":"Person","name":"Sam Lock"}]}</script>`, "", "Ann Weir, Sam Lock"},
		{"data that refers", `<script type="application/ld+json">{"@graph":[{"@type":"Article","author":{"@id":"#a"}},{"@type":"Person","@id":"#a","name":"Ann Weir"}]}</script>`, "", "Ann Weir"},
		{"microdata", "", "<p>By <span itemprop=author itemscope><a itemprop=url href=/a><span itemprop=name>Ann Weir</span></a>, editor</span></p>", "Ann Weir"},
		{"a link that says so", "", "<p>By <a rel=author href=/a>Ann Weir</a></p>", "Ann Weir"},
		{"a class that says so", "", "<p class=byline>By Ann Weir</p>", "Ann Weir"},
		{"a class around more", "", "<div class=author>12 posts: 3 today</div>", ""},
		{"broken data is no loss", `<script type="application/ld+json">{"@type":</script><meta name=author content='Ann Weir'>`, "", "Ann Weir"},
		{"data with line breaks in strings", "<script type=\"application/ld+json\">{\"@type\":\"Article\",\"author\":\"Ann\nWeir\"}</script>", "", "Ann Weir"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			doc := extractPage(t, "", "<html><head>"+tt.head+"</head><body>"+tt.body+"<p>Text.</p></body></html>")
			if diff := cmp.Diff(tt.want, doc.Author); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestALanguageIsATagOrNothing(t *testing.T) {
	tests := []struct{ page, header, want string }{
		{"<html lang=de>", "", "de"},
		{"<html lang=EN_us>", "fr", "en-US"},
		{"<html xml:lang=fr-CH>", "", "fr-CH"},
		{"<meta http-equiv=Content-Language content=pt-br>", "", "pt-BR"},
		{"<meta property=og:locale content=es_MX>", "", "es-MX"},
		{"<p>x", "nl", "nl"},
		{"<p>x", "en, fr", ""},
		{"<html lang='not a language'>", "", ""},
		{"<html lang=x>", "it", "it"},
	}
	for _, tt := range tests {
		doc, err := Extract(context.Background(), Input{Body: []byte(tt.page + "<p>text"), ContentType: "text/html", ContentLanguage: tt.header})
		if err != nil || doc.Language != tt.want {
			t.Errorf("%s, header %q: got %q, want %q (%v)", tt.page, tt.header, doc.Language, tt.want, err)
		}
	}
}

func TestDataAboutThePageIsReadWithinBounds(t *testing.T) {
	deep := strings.Repeat(`{"@graph":[`, 5000) + strings.Repeat(`]}`, 5000)
	large := `{"@type":"Article","headline":"` + strings.Repeat("x", maxLDBytes) + `"}`
	page := `<head><script type="application/ld+json">` + deep + `</script><script type="application/ld+json">` + large + `</script>` +
		strings.Repeat(`<meta name=author content=x>`, 10_000) + strings.Repeat(`<script type="application/ld+json">{"@type":"Article","headline":"No"}</script>`, 50) +
		`<title>Yes</title><body><p>text`
	doc := extractPage(t, "", page)
	if doc.Title != "Yes" {
		t.Errorf("title %q", doc.Title)
	}
}

func FuzzLinkedData(f *testing.F) {
	f.Add(`{"@graph":[{"@type":["Article","X"],"author":{"@id":"a"}},{"@id":"a","name":["x"]}]}`)
	f.Add(`[[{"mainEntity":{"@type":"http://schema.org/QAPage"}}]]`)
	f.Fuzz(func(t *testing.T, script string) {
		var l linked
		l.add(script)
		m := metadata{linked: l}
		about := l.main()
		m.isThread(nil)
		m.isProduct()
		if len(l.objects) > maxLDObjects {
			t.Errorf("%d objects", len(l.objects))
		}
		// What ends up in an answer is one clean line, and a date is one.
		for what, s := range map[string]string{"authors": m.authors(about), "site": oneLine(l.site(), maxName), "description": oneLine(str(about["description"]), maxDescription)} {
			if !utf8.ValidString(s) || strings.ContainsAny(s, "\n\r\x00\x1b\u202e\u2066") || utf8.RuneCountInString(s) > maxDescription+maxAuthors*(maxName+2) {
				t.Errorf("%s of %q: %q is not a clean line", what, script, s)
			}
		}
		if s := m.published(about); s != "" && (len(s) < len("2006") || strings.Trim(s, "0123456789-:.+TZ") != "") {
			t.Errorf("%q is published %q", script, s)
		}
	})
}
