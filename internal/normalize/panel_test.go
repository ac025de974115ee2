package normalize

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"sift.build/sift/internal/cputime"
)

// In these pages A and B are what two panels say.
func TestAPanelThatAControlOpensStays(t *testing.T) {
	const a, b = "The first ferry leaves at six in the morning.", "Dogs sail free, cats pay half."
	for name, in := range map[string]string{
		"a hidden region without visibility": `<div role=region aria-labelledby=x style="visibility:hidden;height:0"><p>A</p></div><p>B</p>`,
		"no opacity and a named region":      `<h3><button aria-expanded=false id=x>When?</button></h3><div role=region aria-labelledby=x style="opacity:0;height:0px"><p>A</p></div><p>B</p>`,
		"rows that are invisible": `<div><div class=row><div>When does it leave?</div></div><div class=p style="visibility:hidden">A</div></div>
			<div><div class=row><div>May I bring a dog?</div></div><div class=p style="visibility:hidden">B</div></div>`,
		"plain buttons, by attribute": `<div><button>When does it leave?</button><div hidden>A</div></div><div><button>May I bring a dog?</button><div hidden>B</div></div>`,
		"plain buttons, no questions": `<div><button>Times</button><div hidden>A</div></div><div><button>Animals</button><div hidden>B</div></div>`,
		"plain buttons in one box":    `<div><button>Times</button><div hidden>A</div><button>Animals</button><div hidden>B</div></div>`,
		"by a sheet":                  `<style>.p{display:none}</style><div><button>Times</button><div class=p>A</div></div><div><button>Animals</button><div class=p>B</div></div>`,
		"the first one open":          `<div><button>Times</button><div class="p open">A</div></div><div><button>Animals</button><div class=p style="display:none">B</div></div>`,
		"a heading in the button":     `<button type=button><h4>Times</h4><i></i></button><div style="display:none">A</div><p>B</p>`,
		"the button in a heading":     `<h4><button><span>Times</span></button></h4><div style="display:none">A</div><p>B</p>`,
		"a panel that says its button": `<div><button id=h1 aria-controls=p1 data-expanded=false>Times</button><div id=p1 aria-labelledby=h1 aria-hidden=true hidden>A</div></div>
			<p>B</p>`,
		"a button that says its panel":   `<button aria-controls=p1>Times</button><div id=p1 inert style="height:0;overflow:hidden">A</div><p>B</p>`,
		"a target":                       `<button data-target="#p1">Times</button><div id=p1 style="max-height:0;overflow:hidden">A</div><p>B</p>`,
		"a link to the panel":            `<a href="#p1">Times</a><div id=p1 style="display:none">A</div><p>B</p>`,
		"a state":                        `<button data-state=closed>Times</button><div data-state=closed hidden>A</div><p>B</p>`,
		"a box around the panel":         `<button>When does it leave?</button><div class=wrap><div class=in hidden>A</div></div><p>B</p>`,
		"the button in a row":            `<div class=faq><div><div><span>Times</span><button>+</button></div><div hidden>A</div></div></div><p>B</p>`,
		"a list that says so":            `<div class=my-accordion><div><div role=button>Times</div><div class=x hidden>A</div></div></div><p>B</p>`,
		"rows of a list that says so":    `<div class=faq-list><div><div class=q>Times</div><div class=a style="display:none">A</div></div><div><div class=q>Animals</div><div class=a style="display:none">B</div></div></div>`,
		"an answer that is a list":       `<button>What is on board?</button><div hidden><ul><li>A</li><li>B</li></ul></div>`,
		"a link in a short answer":       `<button>When does it leave?</button><div hidden><p>Look at <a href=/t>the timetable of the ferry upstream for the whole year</a> for that.</p></div><p>A</p><p>B</p>`,
		"an answer of short entries":     `<h3><button>Times</button></h3><div hidden><p>A</p><ul><li>B</li></ul></div><button>What is on board?</button><div hidden><ul><li>Ropes<li>Lamps<li>Bread</ul></div>`,
		"an answer with links":           `<button>When does it leave?</button><div hidden><p>A See <a href=/t>the table</a>.</p></div><p>B</p>`,
		"a definition behind its button": `<dl><dt><button>Times</button></dt><dd hidden>A</dd><dt><button>Animals</button></dt><dd hidden>B</dd></dl>`,
	} {
		page := strings.NewReplacer(">A<", ">"+a+"<", ">A ", ">"+a+" ", ">B<", ">"+b+"<").Replace(in)
		r := parse(t, "<body><main><h1>Ferry</h1>"+page+"</main>")
		got := inner(t, r.Body)
		if !strings.Contains(got, a) || !strings.Contains(got, b) || r.HiddenText != 0 {
			t.Errorf("%s: %s (%d hidden)", name, got, r.HiddenText)
		}
		for _, label := range []string{"Times", "Animals", "When does it leave?", "May I bring a dog?", "What is on board?"} {
			if strings.Contains(in, label) && !strings.Contains(got, label) {
				t.Errorf("%s: %q is missing: %s", name, label, got)
			}
		}
	}
}

func TestAButtonThatNamesAPanelIsALine(t *testing.T) {
	for in, want := range map[string]string{
		`<button>When does it leave?</button><div hidden>At six.</div>`:                                                              `<p><strong>When does it leave?</strong></p><div>At six.</div>`,
		`<button><h3>Times</h3><svg></svg></button><div hidden>At six.</div>`:                                                        `<div><h3>Times</h3></div><div>At six.</div>`,
		`<h3><button>Times</button></h3><div hidden>At six.</div>`:                                                                   `<h3><span>Times</span></h3><div>At six.</div>`,
		`<button><h3>Times</h3></button>`:                                                                                            `<div><h3>Times</h3></div>`,
		`<button><h3>Colour</h3></button><div><label><input type=checkbox>red</label><label><input type=checkbox>blue</label></div>`: `<div><span>red</span><span>blue</span></div>`,
		`<div><button><h3>Times</h3></button></div><div><button><h3>Fares</h3></button></div>`:                                       `<div><div><h3>Times</h3></div></div><div><div><h3>Fares</h3></div></div>`,
		`<p>Times: <button onclick="f('x')">show</button></p><div id=x hidden>At six.</div>`:                                         `<p>Times: </p><div id="x">At six.</div>`,
		`<div><button>Buy</button><div>A jar.</div></div><div><button>Sell</button><div>A lid.</div></div>`:                          `<div><div>A jar.</div></div><div><div>A lid.</div></div>`,
	} {
		if got := inner(t, parse(t, "<body>"+in).Body); got != want {
			t.Errorf("%s:\n%s, want\n%s", in, got, want)
		}
	}
}

func TestWhatAButtonOpensThatIsNoContentIsLeftOut(t *testing.T) {
	for name, in := range map[string]string{
		"a panel without a control":       `<p>Text.</p><div hidden>S</div>`,
		"a button that does something":    `<button>Subscribe</button><div style="display:none">S</div>`,
		"the same button many times":      `<div><button>Buy</button><div class=m hidden>S</div></div><div><button>Buy</button><div class=m></div></div><div><button>Buy</button><div class=m></div></div>`,
		"a button that sends":             `<div><button type=submit>Why?</button><div hidden>S</div></div>`,
		"a title with a button in it":     `<h2>Ferry <button>Share</button></h2><div style="display:none">S</div>`,
		"text behind the button's":        `<button>What?</button> and so on <div hidden>S</div>`,
		"a paragraph in such a list":      `<div class=faq-list><p>Brief.</p><div hidden>S</div><p>Brief too.</p><div hidden>S</div></div>`,
		"one box in such a list":          `<div class=faq-list><div>Brief.</div><div hidden>S</div></div>`,
		"a dialog behind its button":      `<button>What is this?</button><div role=dialog hidden><p>S</p><button>Close</button></div>`,
		"a dialog by class":               `<button aria-expanded=false>What is this?</button><div class=modal hidden><p>S</p></div>`,
		"a dialog element":                `<button>What is this?</button><dialog><p>S</p></dialog>`,
		"a menu that the button says":     `<button aria-haspopup=true>What?</button><div hidden>S</div>`,
		"in a bar":                        `<nav><div><button>One</button><div class=p hidden>S</div></div><div><button>Two</button><div class=p></div></div></nav>`,
		"settings of cookies":             `<div id=cookie-settings><div><button>Needed</button><div class=p hidden>S</div></div><div><button>Others</button><div class=p></div></div></div>`,
		"in the foot of a page":           `<footer><button>Who are we?</button><div hidden>S</div></footer>`,
		"off screen behind a button":      `<button>Subscribe</button><p style="position:absolute;left:-9999px">S</p>`,
		"a link that goes somewhere else": `<a href="/x">Why?</a><div hidden>S</div>`,
		"a link to another place":         `<a href="#y">Why?</a><div id=x hidden>S</div>`,
		"thanks for an answer":            `<div><span>Was this of help?</span><button>+</button><button><i></i></button></div><div hidden>S</div>`,
		"in a panel that is opened":       `<button>Why?</button><div hidden>Because.<span hidden>S</span></div>`,
	} {
		r := parse(t, "<body><div><p>Visible.</p></div>"+strings.ReplaceAll(in, ">S", ">"+secret)+"<p>After.</p>")
		got := inner(t, r.Body)
		if strings.Contains(got, "Assistant") || !strings.Contains(got, "Visible.") || !strings.Contains(got, "After.") {
			t.Errorf("%s: %s", name, got)
		}
		if n := r.HiddenText + r.Assistive; n < countText(secret) {
			t.Errorf("%s: %d characters counted", name, n)
		}
	}
}

func TestListsToChooseFromStayClosed(t *testing.T) {
	menu := `<a href=/a>Ferries</a><a href=/b>Timetables</a><a href=/c>Fares and tickets</a>`
	for name, in := range map[string]string{
		"a menu":                  `<div><button>Travel</button><div class=p hidden>` + menu + `</div></div><div><button>Company</button><div class=p hidden>` + menu + `</div></div>`,
		"a menu with long links":  `<div><button>Travel</button><div class=p hidden><a href=/a>Timetables of the ferry, upstream and down, for the whole year</a></div></div><div><button>Company</button><div class=p hidden>` + menu + `</div></div>`,
		"a menu under a question": `<button>Where to?</button><div hidden><ul><li>` + strings.ReplaceAll(menu, "</a><a", "</a><li><a") + `</ul></div>`,
		"countries":               `<button aria-controls=c>Country</button><ul id=c hidden><li>Germany<li>France<li>Timetables</ul>`,
		"ways to sort":            `<h3><button>Sort by</button></h3><div hidden><label><input type=radio>Timetables</label><label><input type=radio>Price</label></div>`,
		"options":                 `<div><button>Sort</button><div class=p role=listbox hidden><div role=option>Timetables</div><div role=option>Price</div></div></div><div><button>Show</button><div class=p role=listbox hidden><div role=option>Timetables</div><div role=option>All</div></div></div>`,
	} {
		if got := inner(t, parse(t, "<body><p>Visible.</p>"+in).Body); strings.Contains(got, "Timetables") || !strings.Contains(got, "Visible.") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestTheSearchForPanelsTakesTimeThatGrowsWithThePageOnly(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	for name, shape := range map[string]func(n int) string{
		"buttons":           func(n int) string { return strings.Repeat("<button>x</button>", n) },
		"buttons and boxes": func(n int) string { return strings.Repeat("<button>x</button><div hidden>y</div>", n) },
		"accordions":        func(n int) string { return strings.Repeat("<div><button>x?</button><div hidden>y</div></div>", n) },
		"icons":             func(n int) string { return strings.Repeat("<button><i></i></button><svg></svg>", n) },
		"one row of icons":  func(n int) string { return "<div>" + strings.Repeat("<b role=button></b><i></i>", n) + "<p hidden>x" },
		"buttons deep down": func(n int) string {
			return strings.Repeat("<div>", 400) + strings.Repeat("<button>x</button><p hidden>y</p>", n)
		},
		"one great panel": func(n int) string {
			return "<button>x?</button><div hidden>" + strings.Repeat("<p>one <a href=x>two</a>", n)
		},
		"one great question": func(n int) string { return "<button>" + strings.Repeat("x <b>y</b>", n) + "</button><div hidden>z" },
		"panels in panels": func(n int) string {
			return strings.Repeat(strings.Repeat("<button>x?</button><div hidden>", 100)+strings.Repeat("</div>", 100), n/50+1)
		},
		"a wide class around": func(n int) string {
			return "<div class='" + strings.Repeat("ab ", 10*n) + "'>" + strings.Repeat("<button>x</button><p hidden>y</p>", n)
		},
		"many attributes around": func(n int) string {
			var b strings.Builder
			for i := range 2 * n {
				fmt.Fprintf(&b, " a%d", i)
			}
			return "<div" + b.String() + "><div>" + strings.Repeat("<button>x</button><p hidden>y</p>", n) + "</div></div><div></div>"
		},
		"two boxes with one wide class": func(n int) string {
			box := "<div class='" + strings.Repeat("x", 20*n) + "'>" + strings.Repeat("<button>x</button><p hidden>y</p>", n) + "</div>"
			return box + box
		},
		"a row of nothing": func(n int) string {
			return "<div><div>" + strings.Repeat("<i></i>", n) + strings.Repeat("<button></button>", 8) + "</div></div><p hidden>x"
		},
	} {
		cputime.Linear(t, name, 500, func(n int) func() {
			doc, err := html.Parse(strings.NewReader(shape(n)))
			if err != nil {
				t.Fatal(err)
			}
			return func() { Page(doc, nil) }
		})
	}
}
