package normalize

import (
	"strings"
	"testing"

	"golang.org/x/net/html"

	"sift.build/sift/internal/cputime"
)

// whole is what a page says that is hidden as a whole.
var whole = "<h1>Bread</h1>" + strings.Repeat("<p>The dough rests by the stove until noon, and then it is baked in the tin that was greased before.</p>", 6)

func TestAPageThatIsHiddenUntilItsScriptRunsStays(t *testing.T) {
	const bar = `<header><nav><a href=/>Home</a> <a href=/about>About us</a></nav></header>`
	const foot = `<footer><p>© 2024 The Bakery. All rights reserved. No bread was harmed.</p></footer>`
	for name, in := range map[string]string{
		"a wrapper":                       `<div id=app style="display:none">W</div>`,
		"a wrapper without a heading":     `<div id=app style="visibility:hidden">` + strings.ReplaceAll(whole, "h1", "p") + `</div>`,
		"the main part":                   `<main style="display:none">W</main>`,
		"the main part, by attribute":     `<main hidden>W</main>`,
		"the main part, by class":         `<main class="d-none">W</main>`,
		"the article":                     `<article style="display: none">W</article>`,
		"a box in the main part":          `<main><div class=content style="display:none">W</div><div class=denied style="display:none"><p>No entry.</p></div></main>`,
		"behind a line that says loading": `<div class=spinner>Loading, please wait a little</div><div class=page style="opacity:0;display:none">W</div>`,
		"in pieces":                       `<div><div id=piece2 style="display:none"><p>The second piece.</p></div></div><div><div id=piece10 style="display:none">W</div></div>`,
		"the main part with text around":  `<p>` + strings.Repeat("Free delivery on Sundays. ", 8) + `</p><main><div class=content style="display:none">W</div></main>`,
	} {
		in = strings.ReplaceAll(in, ">W<", ">"+whole+"<")
		r := parse(t, "<!doctype html><body>"+bar+in+foot+"<script src=a.js></script>")
		got := inner(t, r.Body)
		if strings.Count(got, "The dough rests") != 6 || strings.Contains(in, "second") && !strings.Contains(got, "second") {
			t.Errorf("%s: %s", name, got)
		}
		if strings.Contains(got, "No entry") {
			t.Errorf("%s: what else is hidden came with it: %s", name, got)
		}
	}
}

func TestAPageThatCanBeReadLosesWhatItHides(t *testing.T) {
	text := "<p>" + strings.Repeat("The ferry leaves at six. ", 8) + "</p>"
	orders := strings.Repeat("<p>"+secret+" to the owner of this page.</p>", 20)
	for name, in := range map[string]string{
		"beside its content":            `<main>T</main><div style="display:none">S</div><script></script>`,
		"in its main part":              `<main>T<div style="display:none">S</div></main><script></script>`,
		"in front of its content":       `<div hidden>S</div><main>T</main><script></script>`,
		"in a main part with a heading": `<p>` + strings.Repeat("The ferry leaves at six. ", 40) + `</p><main><h1>Ferry</h1><div hidden>S</div></main><script></script>`,
		"a page without a script":       `<div style="display:none">S</div>`,
		"a page with data":              `<div style="display:none">S</div><script type="application/ld+json">{}</script>`,
		"one text":                      `<div style="display:none">` + strings.Repeat(secret+". ", 40) + `</div><script></script>`,
		"little text":                   `<p>Hello.</p><div style="display:none"><h2>a</h2><p>b</p><p>` + secret + `</p></div><script></script>`,
		"a dialog":                      `<p>Hello.</p><div role=dialog style="display:none">S</div><script></script>`,
		"a dialog by class":             `<p>Hello.</p><div class="login-modal" hidden>S</div><script></script>`,
		"a menu":                        `<p>Hello.</p><nav hidden>S</nav><script></script>`,
		"a bar at the side":             `<p>Hello.</p><aside style="display:none">S</aside><script></script>`,
		"what asks for consent":         `<p>Hello.</p><div id=sdk style="display:none"><h2 id=cookie-title>Privacy</h2><div id=cookie-a></div><div class=cookie-b></div>S</div><script></script>`,
		"a template":                    `<p>Hello.</p><template>S</template><script></script>`,
		"off screen in a page":          `<main>T</main><div style="position:absolute;left:-9999px">S</div><script></script>`,
	} {
		in = strings.ReplaceAll(strings.ReplaceAll(in, ">S<", ">"+orders+"<"), ">T", ">"+text)
		r := parse(t, "<!doctype html><body>"+in)
		if got := inner(t, r.Body); strings.Contains(got, "Assistant") {
			t.Errorf("%s: %s", name, got)
		}
		if r.HiddenText == 0 && !strings.Contains(in, "<template") {
			t.Errorf("%s: nothing was counted", name)
		}
	}
}

func TestTheSearchForAHiddenPageTakesTimeThatGrowsWithThePageOnly(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	for name, shape := range map[string]func(n int) string{
		"hidden boxes":    func(n int) string { return strings.Repeat("<div hidden>x</div>", n) },
		"links and boxes": func(n int) string { return strings.Repeat("<a href=x>some words</a><div hidden>x</div>", n) },
		"invisible in another": func(n int) string {
			return strings.Repeat("<div style='visibility:hidden'>", 400) + strings.Repeat("<b>x</b>", n)
		},
		"one great box": func(n int) string { return "<div hidden>" + strings.Repeat("<p>words of it</p>", n) },
		"numbered boxes": func(n int) string {
			return strings.Repeat("<div id=a1 hidden>x</div>", n) + "<div id=a2 hidden>" + whole
		},
		"empty boxes": func(n int) string { return strings.Repeat("<div></div>", n) + "<div hidden>x</div>" },
	} {
		cputime.Linear(t, name, 500, func(n int) func() {
			doc, err := html.Parse(strings.NewReader("<script></script><body>" + shape(n)))
			if err != nil {
				t.Fatal(err)
			}
			return func() { Page(doc, nil) }
		})
	}
}
