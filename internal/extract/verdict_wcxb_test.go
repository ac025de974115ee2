package extract

import (
	"context"
	"html"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestVerdictsOnWCXB lists the benchmark's pages that are told to stand in the
// place of others. They were chosen because they have a main content, so that
// there should be next to none.
func TestVerdictsOnWCXB(t *testing.T) {
	pages := readWCXB(t)
	told := 0
	for _, g := range pages {
		in := Input{Body: load(t, g), URL: g.URL, Asked: g.URL, ContentType: "text/html", Status: 200}
		doc, err := Extract(context.Background(), in)
		if err != nil {
			t.Fatal(g.ID, err)
		}
		for _, w := range verdicts(doc) {
			told++
			t.Logf("%s %s, %d visible characters, %d of main content: %s: %s", g.ID, g.URL, doc.VisibleChars, len(g.Main), w.Code, w.Message)
			if testing.Verbose() {
				t.Logf("%q\n%q\n%s", cutTo(g.Main, 600), cutTo(squash(plainText(doc.Page)), 1500), explain(in))
			}
		}
	}
	t.Logf("%d of %d pages", told, len(pages))
	if told > 1+len(pages)/200 {
		t.Errorf("%d of %d pages are told to be none", told, len(pages))
	}
}

// TestShortPagesMadeOfWCXBAreReal makes short pages of the title and the first
// lines of each page of the benchmark, and puts beside them what real pages
// have beside them. None is a wall.
func TestShortPagesMadeOfWCXBAreReal(t *testing.T) {
	made, told := 0, 0
	for _, g := range readWCXB(t) {
		for _, size := range []int{60, 150, 300} {
			body := "<h1>" + html.EscapeString(g.Title) + "</h1>"
			start := g.Main[:min(len(g.Main), size)]
			for !utf8.ValidString(start) {
				start = start[:len(start)-1]
			}
			if start == "" {
				continue
			}
			for line := range strings.SplitSeq(start, "\n") {
				if strings.TrimSpace(line) != "" {
					body += "<p>" + html.EscapeString(line) + "</p>"
				}
			}
			title := html.EscapeString(g.Title)
			for name, page := range map[string]string{
				"nothing":        head(title, "") + "<body>" + body + "</body>",
				"scripts":        head(title, `<script type="module" src="/assets/index-4f2d.js"></script>`) + `<body><div id="root">` + body + `</div><div id="modal"></div><noscript>You need to enable JavaScript to run this app.</noscript></body>`,
				"a banner":       head(title, `<script src="https://cdn.example/onetrust.js"></script>`) + "<body>" + banner + body + "</body>",
				"an odd banner":  head(title, "") + "<body>" + body + `<div class="cc-window"><p>We use cookies to personalise content and ads, to provide social media features and to analyse our traffic.</p><p>You can accept or decline them.</p><button>Accept</button><button>Decline</button></div></body>`,
				"guards":         head(title, `<script src="https://js.datadome.example/tags.js"></script><script src="https://www.google.example/recaptcha/api.js"></script>`) + "<body>" + body + `<form><input name=m><div class="g-recaptcha"></div></form><script>(function(){window.__CF$cv$params={r:'8'};a.src='/cdn-cgi/challenge-platform/scripts/jsd/main.js';})();</script></body>`,
				"a login":        head(title, "") + `<body><form action="/login"><input name=u><input type=password name=p><button>Log in</button></form>` + body + "</body>",
				"a subscription": head(title, "") + "<body>" + body + `<div class="newsletter"><p>Subscribe to our newsletter.</p><form><input type=email name=mail><button>Subscribe</button></form></div></body>`,
			} {
				made++
				in := Input{Body: []byte(page), URL: g.URL, Asked: g.URL, ContentType: "text/html", Status: 200}
				doc, err := Extract(context.Background(), in)
				if err != nil {
					t.Fatal(err)
				}
				for _, w := range verdicts(doc) {
					told++
					t.Logf("%s with %s: %s\n\t%q\n\t%s", g.ID, name, w.Code, body, explain(in))
				}
			}
		}
	}
	t.Logf("%d of %d pages", told, made)
	if told > made/1000 {
		t.Errorf("%d of %d pages are told to be none", told, made)
	}
}
