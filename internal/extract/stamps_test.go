package extract

import (
	"net/url"
	"strings"
	"testing"

	"sift.build/sift/internal/cputime"
)

func TestADateInALineIsReadInManyLanguages(t *testing.T) {
	tests := []struct {
		line  string
		order rune
		want  string
	}{
		{"Published on 12 March 2024", '?', "2024-03-12"},
		{"March 12th, 2024", '?', "2024-03-12"},
		{"Mar. 12, 2024 at 3:04 pm", '?', "2024-03-12"},
		{"12. März 2024", '?', "2024-03-12"},
		{"Publié le 1er août 2024", '?', "2024-08-01"},
		{"12 de marzo de 2024", '?', "2024-03-12"},
		{"12 marzo 2024", '?', "2024-03-12"},
		{"12 de março de 2024", '?', "2024-03-12"},
		{"12 maart 2024", '?', "2024-03-12"},
		{"12 września 2024", '?', "2024-09-12"},
		{"12 марта 2024 г.", '?', "2024-03-12"},
		{"2024年3月12日", '?', "2024-03-12"},
		{"2024년 3월 12일", '?', "2024-03-12"},
		{"2024-03-12 10:20", '?', "2024-03-12"},
		{"4-Aug-2021", '?', "2021-08-04"},
		{"12.03.2024", '?', "2024-03-12"},
		{"03/25/2024", '?', "2024-03-25"},
		{"03/04/2024", '?', ""},
		{"03/04/2024", 'd', "2024-04-03"},
		{"03/04/2024", 'm', "2024-03-04"},
		{"March 2024", '?', ""},
		{"31 February 2024", '?', ""},
		{"12 March 1889", '?', ""},
	}
	for _, tt := range tests {
		got := ""
		if d := datesIn(tt.line, tt.order); len(d) > 0 {
			got = d[0].date
		}
		if got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.line, got, tt.want)
		}
	}
}

func TestTheDateOfAPageIsTheOneBesideItsTitle(t *testing.T) {
	const long = "<p>The water in the lock fell on 3 May 2019 by more than a foot, and nobody who was there had an explanation for it, nor has anyone since; the keeper wrote it down and went home.</p>"
	tests := []struct{ name, url, page, want string }{
		{"under the title", "", "<h1>Low water</h1><div>March 12, 2024</div>" + long, "2024-03-12"},
		{"with the writer", "", "<h1>Low water</h1><p>Posted by Ann Weir on 12 March 2024 · 4 min read</p>" + long, "2024-03-12"},
		{"published before changed", "", "<h1>Low water</h1><p>Updated 1 May 2024</p><p>Published 12 March 2024</p>" + long, "2024-03-12"},
		{"only changed", "", "<h1>Low water</h1><p>Last updated:</p><p>12 March 2024</p>" + long, "2024-03-12"},
		{"above the title", "", "<span class=date>12 March 2024</span><h1>Low water</h1>" + long, "2024-03-12"},
		{"running text", "", "<h1>Low water</h1>" + long, ""},
		{"a comment", "", "<h1>Low water</h1>" + long + "<div class=comments><p>12 March 2024</p></div>", ""},
		{"the address", "https://a.example/2024/03/12/low-water", "<h1>Low water</h1>" + long, "2024-03-12"},
		{"what is to come", "", "<h1>Low water</h1><p>12 March 2199</p>" + long, ""},
		{"a list of others", "", "<h1>News of locks</h1>" + strings.Repeat("<li><span>1 May 2024</span> Ebb</li><li><span>2 May 2024</span> Ebb</li><li><span>3 May 2024</span> Ebb</li>", 2), ""},
		{"a thread", "https://a.example/forum/thread-7", "<h1>Why does it fall?</h1><p>Joined: 1 May 2019</p><p>12 March 2024, 10:20</p><p>Why?</p><p>13 March 2024, 10:20</p><p>No idea.</p>", "2024-03-12"},
		{"the first page of a site", "https://a.example/", "<h1>Low water</h1><p>12 March 2024</p>", ""},
		{"of another thing", "", "<h1>Low water</h1><p>Member since 12 March 2024</p>" + long, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := extractPage(t, tt.url, "<title>x</title><body>"+tt.page).Published; got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestAnAuthorIsFoundBesideTheTitle(t *testing.T) {
	tests := []struct{ name, url, page, want string }{
		{"behind by", "", "<h1>Low water</h1><p>By Ann Weir, keeper of the lock</p>", "Ann Weir"},
		{"behind a date", "", "<h1>Low water</h1><p>12 March 2024 by Ann Weir</p>", "Ann Weir"},
		{"in a cell of its own", "", "<h1>Low water</h1><div>Written by</div><div>Ann Weir</div>", "Ann Weir"},
		{"a link to an author", "", "<h1>Low water</h1><p><a href=/authors/ann-weir>Ann Weir</a> in Locks</p>", "Ann Weir"},
		{"a class in camel case", "", "<h1>Low water</h1><p class=styles_authorName__x1>Ann Weir</p>", "Ann Weir"},
		{"a role", "", "<h1>Low water</h1><p>By Staff Writer</p>", ""},
		{"a verb", "", "<h1>Low water</h1><p>By the end of May it fell.</p>", ""},
		{"data of a question", "https://a.example/questions/1", `<script type="application/ld+json">{"@type":"QAPage","mainEntity":{"@type":"Question","author":{"name":"weir7"}}}</script><h1>Why?</h1>`, "weir7"},
		{"a thread", "https://a.example/forum/thread-7", "<h1>Why?</h1><a rel=author href=/u/1>weir7</a><a rel=author href=/u/2>lock8</a>", "weir7"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := extractPage(t, tt.url, "<title>x</title><body>"+tt.page+"<p>Text.</p>").Author; got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestLinesAreReadInLinearTime(t *testing.T) {
	for _, part := range []string{"<p>Published 12 March 2024", "<div class='date author'><a href=/author/x>", "<b>2024-01-", "<p>" + strings.Repeat("1 ", 200)} {
		cputime.Linear(t, part, 2000, func(n int) func() {
			page := "<title>x</title><h1>x</h1>" + strings.Repeat(part, n)
			root, _, err := parse(t.Context(), []byte(page))
			if err != nil {
				t.Fatal(err)
			}
			address, _ := url.Parse("https://a.example/x")
			return func() {
				m := collect(root)
				m.address = address
				m.published(nil)
				m.authors(nil)
			}
		})
	}
}
