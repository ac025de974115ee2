package normalize

import (
	"bytes"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const testPage = "https://example.com/docs/guide/page.html"

func parse(t testing.TB, markup string) Result {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(markup))
	if err != nil {
		t.Fatal(err)
	}
	base, err := url.Parse(testPage)
	if err != nil {
		t.Fatal(err)
	}
	return Page(doc, base)
}

// inner gives the markup inside the body.
func inner(t testing.TB, body *html.Node) string {
	t.Helper()
	var b bytes.Buffer
	for c := body.FirstChild; c != nil; c = c.NextSibling {
		if err := html.Render(&b, c); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

type rewrite struct{ name, in, want string }

func checkRewrites(t *testing.T, cases []rewrite) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Helper()
			r := parse(t, "<!doctype html><body>"+c.in)
			if d := cmp.Diff(c.want, inner(t, r.Body)); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
			checkNormal(t, r.Body)
		})
	}
}

// checkNormal holds a tree to the package comment.
func checkNormal(t testing.TB, body *html.Node) {
	t.Helper()
	if body == nil || body.DataAtom != atom.Body || body.Parent != nil || body.NextSibling != nil {
		t.Fatal("the result is not a detached body")
	}
	for n := body; n != nil; n = following(n, body, true) {
		if n.Type == html.TextNode {
			if !utf8.ValidString(n.Data) {
				t.Errorf("text is not UTF-8: %q", n.Data)
			}
			if n.Parent.DataAtom != atom.Code && strings.ContainsAny(n.Data, "\t\r\f\x00\u00ad\u200b\u2060\ufeff\u202e\u2066") {
				t.Errorf("text is not clean: %q", n.Data)
			}
			continue
		}
		if n.Type != html.ElementNode || n.Namespace != "" {
			t.Errorf("a node of type %d, namespace %q", n.Type, n.Namespace)
			continue
		}
		switch n.DataAtom {
		case atom.Script, atom.Style, atom.Template, atom.Noscript, atom.Svg, atom.Math, atom.Iframe, atom.Button, atom.Select, atom.Textarea,
			atom.Video, atom.Object, atom.Embed, atom.Font, atom.B, atom.I, atom.Form:
			t.Errorf("<%s> in the normal form", n.Data)
		case atom.Ul, atom.Ol:
			for c := n.FirstChild; c != nil; c = c.NextSibling {
				if c.DataAtom != atom.Li {
					t.Errorf("%q directly in a list", c.Data)
				}
			}
		case atom.Pre:
			if c := n.FirstChild; c == nil || c.DataAtom != atom.Code || c != n.LastChild || c.FirstChild == nil || c.FirstChild != c.LastChild || c.FirstChild.Type != html.TextNode {
				t.Errorf("a code block that is not <pre><code>text")
			}
		case atom.Input:
			if n.Parent.DataAtom != atom.Li || n.Parent.FirstChild != n {
				t.Errorf("a checkbox that is not first in an item")
			}
		}
		for _, a := range n.Attr {
			switch a.Key {
			case "href", "src":
				if strings.ContainsAny(a.Val, " \"<>\\`|\n") || !strings.Contains(a.Val, ":") {
					t.Errorf("%s=%q", a.Key, a.Val)
				}
				for _, bad := range []string{"javascript:", "data:", "file:", "vbscript:", "blob:"} {
					if strings.HasPrefix(a.Val, bad) {
						t.Errorf("%s=%q", a.Key, a.Val)
					}
				}
			case "id", "class", "role", "itemprop", "itemtype", "rel", "title", "aria-label", "lang", "dir", "datetime", "alt", "colspan", "rowspan",
				"scope", "start", "value", "type", "checked", "open", "data-math", "data-lang", "data-private", "data-noteref":
			default:
				t.Errorf("attribute %q on <%s>", a.Key, n.Data)
			}
		}
	}
}

func TestLinksAndImagesGetTheirRealAddresses(t *testing.T) {
	checkRewrites(t, []rewrite{
		{"relative, with what cannot stand in a URL", `<a href=" a b|c.html&#10;">x</a>`, `<a href="https://example.com/docs/guide/a%20b%7Cc.html">x</a>`},
		{"script and data links become their text", `<a href="javascript:x()">a</a><a href=" JAVA` + "\t" + `script:x()">b</a><a href="data:text/html,x">c</a>`, `<span>a</span><span>b</span><span>c</span>`},
		{"a button in disguise is no link", `<a href="#">menu</a> <a href="#!">x</a>`, `<span>menu</span> <span>x</span>`},
		{"an anchor by name keeps its id", `<a name="old"></a>text`, `<a id="old"></a>text`},
		{"a base that is a script is ignored", `<base href="javascript:1"><a href="x">x</a>`, `<a href="https://example.com/docs/guide/x">x</a>`},
		{"the first base counts", `<base href="//other.example/d/"><base href="/no/"><a href="x">x</a>`, `<a href="https://other.example/d/x">x</a>`},
		{"links that touch are set apart", `<a href="/a">a</a><a href="/b">b</a>`, `<a href="https://example.com/a">a</a> <a href="https://example.com/b">b</a>`},
		{"private addresses are marked", `<a href="http://127.0.0.1:8080/x">a</a> <a href="http://[::1]/">b</a> <a href="http://localhost/">c</a> <a href="http://10.0.0.9/">d</a>`,
			`<a href="http://127.0.0.1:8080/x" data-private="">a</a> <a href="http://[::1]/" data-private="">b</a> <a href="http://localhost/" data-private="">c</a> <a href="http://10.0.0.9/" data-private="">d</a>`},
		{"the largest of a srcset", `<img srcset="/a,1.jpg 400w, /b.jpg 800w,/c.jpg 2x" alt="x">`, `<img src="https://example.com/b.jpg" alt="x"/>`},
		{"what lazy loading put aside", `<img src="/blank.gif" data-src="/real.jpg" alt="x"><img src="small.jpg" data-original="/large.jpg">`,
			`<img src="https://example.com/real.jpg" alt="x"/><img src="https://example.com/large.jpg" alt=""/>`},
		{"spacers and counting pixels go", `<img src="/s.gif" width="1" height="40"><img src="/p" width=0><img src="data:image/png;base64,AA">`, ``},
		{"a data image is its alt", `<img src="data:image/png;base64,AA" alt="Chart of totals">`, `<img alt="Chart of totals"/>`},
		{"a picture's first source", `<picture><source srcset="/p.webp 1x"><img alt="p"></picture>`, `<span><img src="https://example.com/p.webp" alt="p"/></span>`},
		{"AMP", `<amp-img src="/a.jpg" alt="a"></amp-img><amp-youtube data-videoid="xyz"></amp-youtube><amp-ad>ad</amp-ad>`,
			`<img src="https://example.com/a.jpg" alt="a"/><p><a href="https://www.youtube.com/watch?v=xyz">Video at youtube.com</a></p>`},
	})
}

func TestPrivateLinksAreNotMarkedOnAPrivatePage(t *testing.T) {
	doc, _ := html.Parse(strings.NewReader(`<a href="/x">a</a><a href="http://10.1.2.3/">b</a>`))
	base, _ := url.Parse("http://127.0.0.1:9000/m/")
	r := Page(doc, base)
	if r.PrivateLinks != 0 || strings.Contains(inner(t, r.Body), "data-private") {
		t.Errorf("%d marked: %s", r.PrivateLinks, inner(t, r.Body))
	}
}

func TestWithoutABaseRelativeLinksAreText(t *testing.T) {
	doc, _ := html.Parse(strings.NewReader(`<a href="/x">a</a> <a href="https://h.example/y">b</a>`))
	if got := inner(t, Page(doc, nil).Body); got != `<span>a</span> <a href="https://h.example/y">b</a>` {
		t.Error(got)
	}
}

func TestNoscriptComesInWhereThePageDoesNotSayIt(t *testing.T) {
	long := "Every valve carries a brass tag with a number that matches the drawing in the control room of the mill."
	checkRewrites(t, []rewrite{
		{"a call to turn JavaScript on goes", `<noscript>You need to enable <b>JavaScript</b> to run this app.</noscript><p>x</p>`, `<p>x</p>`},
		{"text that stands on the page goes", `<p>` + long + `</p><noscript><div>` + long + `</div></noscript>`, `<p>` + long + `</p>`},
		{"text that stands nowhere else comes in", `<noscript><article><h2>Thread</h2><p>` + long + `</p></article></noscript>`, `<div><article><h2>Thread</h2><p>` + long + `</p></article></div>`},
		{"once, if it is there twice", `<noscript><p>` + long + `</p></noscript><noscript><p>` + long + `</p></noscript>`, `<div><p>` + long + `</p></div>`},
		{"counting pixels go", `<noscript><img height="1" width="1" style="display:none" src="https://t.example/p"></noscript>a`, `a`},
		{"a lazy image in front is completed", `<img class="lazy" alt="a"><noscript><img src="/a.jpg"></noscript>`, `<img class="lazy" alt="a" src="https://example.com/a.jpg"/>`},
		{"so is one that follows", `<noscript><img src="/a.jpg" alt="a"></noscript><img class="lazy">`, `<img class="lazy" src="https://example.com/a.jpg" alt="a"/>`},
		{"an image with no other copy comes in", `<p>x</p><noscript><img src="/a.jpg" alt="a"></noscript>`, `<p>x</p><img src="https://example.com/a.jpg" alt="a"/>`},
		{"hidden text in it stays hidden", `<noscript><p>` + long + `</p><p style="display:none">secret words that nobody can see here</p></noscript>`, `<div><p>` + long + `</p></div>`},
	})
}

func TestAFramesetIsItsFramesAsLinksAndItsOtherText(t *testing.T) {
	got := inner(t, parse(t, `<frameset><frame src="/menu.html" title="Menu"><noframes>Use the <a href="/plain.html">plain page</a> of our harbour.</noframes></frameset>`).Body)
	want := `<p><a href="https://example.com/menu.html">Embedded page: Menu</a></p><div>Use the <a href="https://example.com/plain.html">plain page</a> of our harbour.</div>`
	if got != want {
		t.Errorf("got %s", got)
	}
}

func TestAnUnresolvedLazyImageIsCompletedFromItsNoscriptCopy(t *testing.T) {
	got := inner(t, parse(t, `<p><img class="lazyload" alt="Lamp"><noscript><img src="/lamp.jpg" alt="Lamp"></noscript></p>`).Body)
	if want := `<p><img class="lazyload" alt="Lamp" src="https://example.com/lamp.jpg"/></p>`; got != want {
		t.Errorf("got %s", got)
	}
}

func TestListsAreMended(t *testing.T) {
	checkRewrites(t, []rewrite{
		{"a list directly in a list", `<ul><li>Hull</li><ul><li>Planks</li></ul><li>Sail</li></ul>`, `<ul><li>Hull<ul><li>Planks</li></ul></li><li>Sail</li></ul>`},
		{"a list that begins with one", `<ul><ul><li>a</li></ul><li>b</li></ul>`, `<ul><li><ul><li>a</li></ul></li><li>b</li></ul>`},
		{"wrappers around items", `<ul><div><div><li>a</li></div><li>b</li></div></ul>`, `<ul><li>a</li><li>b</li></ul>`},
		{"loose text", `<ul>one <b>two</b><li>three</li></ul>`, `<ul><li>one <strong>two</strong></li><li>three</li></ul>`},
		{"items without a list", `<div><li>a</li> <li>b</li></div>`, `<div><ul><li>a</li><li>b</li></ul> </div>`},
		{"a definition list's groups", `<dl><div><dt>a</dt><dd>b</dd></div><p>c</p></dl>`, `<dl><dt>a</dt><dd>b<p>c</p></dd></dl>`},
		{"a task's mark comes first", `<ul><li><p><label><input type=checkbox checked> do</label></p></li><li>x <input type=checkbox></li></ul>`,
			`<ul><li><input type="checkbox" checked=""/><p><span> do</span></p></li><li>x </li></ul>`},
	})
}

func TestTablesOfDataStayAndTablesForLayoutGo(t *testing.T) {
	checkRewrites(t, []rewrite{
		{"short cells in a grid", `<table><tr><td>11</td><td>amber</td></tr><tr><td>12</td><td>teal</td></tr></table>`,
			`<table><tbody><tr><td>11</td><td>amber</td></tr><tr><td>12</td><td>teal</td></tr></tbody></table>`},
		{"spans are bounded", `<table><tr><th colspan=1000000000>a</th><th rowspan="-3">b</th></tr><tr><td>c<td>d</table>`,
			`<table><tbody><tr><th colspan="1000">a</th><th rowspan="1">b</th></tr><tr><td>c</td><td>d</td></tr></tbody></table>`},
		{"the page says presentation", `<table role=presentation class=c><tr><td>a</td><td>b</td></tr></table>`, `<div class="c"><div><div> <span>a</span> <span>b</span></div></div></div>`},
		{"a single cell", `<table><tr><td><p>a</p><p>b</p></td></tr></table>`, `<div><div><div><div><p>a</p><p>b</p></div></div></div></div>`},
		{"headings in cells", `<table><tr><td><h2>A</h2>x</td><td><h2>B</h2>y</td></tr><tr><td>1</td><td>2</td></tr></table>`,
			`<div><div><div><div><h2>A</h2>x</div><div><h2>B</h2>y</div></div><div> <span>1</span> <span>2</span></div></div></div>`},
		{"a table in a cell of another", `<table><tr><td><table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table></td><td>x</td></tr></table>`,
			`<div><div><div><div><table><tbody><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></tbody></table></div><div>x</div></div></div></div>`},
		{"a table in a table of data is flattened", `<table class=infobox><tr><th>k</th><td><table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table></td></tr></table>`,
			`<table class="infobox"><tbody><tr><th>k</th><td><div><div><div> <span>a</span> <span>b</span></div><div> <span>1</span> <span>2</span></div></div></div></td></tr></tbody></table>`},
	})
}

func TestCodeLosesWhatIsNotCode(t *testing.T) {
	code := func(lang, s string) string {
		if lang != "" {
			lang = ` data-lang="` + lang + `"`
		}
		return "<pre" + lang + "><code>" + s + "</code></pre>"
	}
	checkRewrites(t, []rewrite{
		{"line numbers of many kinds", `<pre><span class="lineno">1 </span>a
<span class="linenos">2</span>b
<span class="ln">3</span>c
<span data-line-number="4">4</span>d
<span style="user-select:none">5</span>e
<span aria-hidden="true">6</span>f</pre>`, code("", "a\nb\nc\nd\ne\nf")},
		{"a span called ln that is code", `<pre><span class="ln">call</span> x</pre>`, code("", "call x")},
		{"copy buttons", `<pre><button>Copy</button><code>x</code><span class="copy-button">Copy</span></pre>`, code("", "x")},
		{"Sphinx", `<div class="highlight-python notranslate"><div class="highlight"><pre><span></span><span class="k">def</span> f():
    <span class="k">pass</span>
</pre></div></div>`, `<div class="highlight-python notranslate"><div class="highlight">` + code("python", "def f():\n    pass") + `</div></div>`},
		{"Rouge's table", `<div class="language-ruby highlighter-rouge"><pre class="highlight"><code><table class="rouge-table"><tbody><tr><td class="rouge-gutter gl"><pre class="lineno">1
2
</pre></td><td class="rouge-code"><pre>puts 1
puts 2
</pre></td></tr></tbody></table></code></pre></div>`, `<div class="language-ruby highlighter-rouge"><pre class="highlight" data-lang="ruby"><code>puts 1
puts 2</code></pre></div>`},
		{"a row for each line", `<table class="highlight" data-tab-size="8"><tbody><tr><td class="blob-num" data-line-number="1"></td><td class="blob-code">package main</td></tr>
<tr><td class="blob-num" data-line-number="2"></td><td class="blob-code"></td></tr><tr><td class="blob-num" data-line-number="3"></td><td class="blob-code">func f() {}</td></tr></tbody></table>`,
			`<pre class="highlight"><code>package main

func f() {}</code></pre>`},
		{"inline code with line breaks", `<p><code>a<br>b</code></p>`, `<p>` + code("", "a\nb") + `</p>`},
		{"no-break spaces and soft hyphens", "<pre>a\u00a0\u00a0b\u00adc\u200bd</pre>", code("", "a  bcd")},
		{"a language by a bare class", `<pre><code class="hljs rust">fn</code></pre><pre class="sourceCode haskell"><code>x</code></pre>`,
			`<pre data-lang="rust"><code>fn</code></pre><pre class="sourceCode haskell" data-lang="haskell"><code>x</code></pre>`},
		{"no language from a name that is none", `<pre class="language-plaintext">x</pre><pre class="language-&quot;&gt;x">y</pre>`,
			`<pre class="language-plaintext"><code>x</code></pre><pre class="language-&#34;&gt;x"><code>y</code></pre>`},
		{"SyntaxHighlighter", `<div class="syntaxhighlighter js"><table><tr><td class="gutter"><div class="line">1</div><div class="line">2</div></td><td class="code"><div class="container"><div class="line"><code>a</code> <code>b</code></div><div class="line">c</div></div></td></tr></table></div>`,
			`<div class="syntaxhighlighter js"><pre><code>a b
c</code></pre></div>`},
	})
}

func TestHeadingsLoseTheirPermalinkAndKeepTheirAnchor(t *testing.T) {
	checkRewrites(t, []rewrite{
		{"a sign behind", `<h2>Run<a class=headerlink href="#run">¶</a></h2>`, `<h2 id="run">Run</h2>`},
		{"a sign in front", `<h2><a href="#run">#</a> Run</h2>`, `<h2 id="run"> Run</h2>`},
		{"a heading that links to itself", `<h3 id=deep><a href="#deep">Deep</a></h3>`, `<h3 id="deep"><span>Deep</span></h3>`},
		{"a link to elsewhere stays", `<h3><a href="#other">Other</a></h3>`, `<h3 id="other"><span>Other</span></h3>`},
		{"an id inside, in front, around", `<h2><span id=a>A</span></h2><a name=b></a><h2>B</h2><section id=c><h2>C</h2></section>`,
			`<h2 id="a"><span id="a">A</span></h2><a id="b"></a><h2 id="b">B</h2><section id="c"><h2 id="c">C</h2></section>`},
		{"an icon's button", `<h2>A<button aria-label="Link"><svg></svg></button></h2>`, `<h2>A</h2>`},
		{"a button that is the heading", `<h3><button aria-expanded="false">Question?</button></h3>`, `<h3><span>Question?</span></h3>`},
		{"edit links", `<h2>History<span class="mw-editsection">[<a href="/e">edit</a>]</span></h2>`, `<h2>History</h2>`},
		{"a heading by role", `<div role="heading" aria-level="3">X</div>`, `<h3 role="heading">X</h3>`},
	})
}

func TestFootnoteReferencesAreMarkedWhenThereIsANote(t *testing.T) {
	checkRewrites(t, []rewrite{
		{"by list", `<p>a<sup><a href="#n">1</a></sup></p><ol><li id=n>note <a href="#r" class="footnote-backref">↩</a></li></ol>`,
			`<p>a<sup><a href="https://example.com/docs/guide/page.html#n" data-noteref="n">1</a></sup></p><ol><li id="n">note </li></ol>`},
		{"by paragraph, the anchor inside", `<p>a<a href="#n"><sup>1</sup></a></p><p><a name=n></a>note</p>`,
			`<p>a<a href="https://example.com/docs/guide/page.html#n" data-noteref="n"><sup>1</sup></a></p><p id="n"><a id="n"></a>note</p>`},
		{"not a link to a section", `<p><sup><a href="#s">1</a></sup></p><section id=s><h2>S</h2></section>`,
			`<p><sup><a href="https://example.com/docs/guide/page.html#s">1</a></sup></p><section id="s"><h2 id="s">S</h2></section>`},
		{"not a table of contents", `<ul><li><a href="#n">1</a></li></ul><p id=n>x</p>`, `<ul><li><a href="https://example.com/docs/guide/page.html#n">1</a></li></ul><p id="n">x</p>`},
	})
}

func TestSmallThings(t *testing.T) {
	checkRewrites(t, []rewrite{
		{"old names of elements", `<b>a</b><i>b</i><strike>c</strike><tt>d</tt><center>e</center><font color=red>f</font>`,
			`<strong>a</strong><em>b</em><del>c</del><code>d</code><div>e</div><span>f</span>`},
		{"quotes and ruby", `<q>a</q> <ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby>`, `<span>“a”</span> <span>漢<span>(kan)</span></span>`},
		{"word-break hints", `shared_<wbr>ptr`, `shared_ptr`},
		{"form controls", `<form><select><option>x</select><input value=y><textarea>z</textarea><button>Go</button><label>Name</label></form>`, `<div><span>Name</span></div>`},
		{"comments and the like", `a<!-- x --><template><p>y</p></template><style>z</style><svg><text>w</text></svg>b`, `ab`},
		{"style and events", `<p style="color:red" onclick="x()" data-x="1" id="p" class="c">a</p>`, `<p id="p" class="c">a</p>`},
		{"a video", `<p><video src="/v.mp4" title="A film"></video></p>`, `<p><a href="https://example.com/v.mp4">Video: A film</a></p>`},
		{"frames that are no content", `<iframe src="about:blank"></iframe><iframe src="https://www.googletagmanager.com/x" width=0></iframe><iframe></iframe>`, ``},
		{"an object's fallback", `<object><p>x</p></object>`, `<div><p>x</p></div>`},
	})
}

func TestPageOfADocumentWithoutABodyIsEmpty(t *testing.T) {
	r := Page(&html.Node{Type: html.DocumentNode}, nil)
	checkNormal(t, r.Body)
	if r.Body.FirstChild != nil || r.VisibleChars != 0 {
		t.Errorf("%+v", r)
	}
}

func TestPartsThatReactStreamsStandWhereTheyBelong(t *testing.T) {
	got := inner(t, parse(t, `<main><h1>Top</h1><!--$?--><template id="B:0"></template><p>Loading…</p><!--/$--><p>End</p></main><div hidden id="S:0"><p>The story</p></div><script>$RC("B:0","S:0")</script>`).Body)
	if want := `<main><h1>Top</h1><div id="S:0"><p>The story</p></div><p>End</p></main>`; got != want {
		t.Errorf("got %s", got)
	}
}

func TestTeXInTextIsAFormulaWhereAScriptOfThePageMakesItOne(t *testing.T) {
	with := `<script src="https://cdn.example/MathJax.js"></script><p>So \(a_1\) and \[b\] cost $5.</p><p><code>\(x\)</code></p>`
	got := inner(t, parse(t, with).Body)
	if want := `<p>So <span data-math="inline">a_1</span> and <span data-math="block">b</span> cost $5.</p><p><code>\(x\)</code></p>`; got != want {
		t.Errorf("got %s", got)
	}
	got = inner(t, parse(t, `<script>MathJax = {tex: {inlineMath: [['$','$']]}}</script><p>$x^2$ costs $5 or $10, \$3 too.</p>`).Body)
	if want := `<p><span data-math="inline">x^2</span> costs $5 or $10, \$3 too.</p>`; got != want {
		t.Errorf("got %s", got)
	}
	got = inner(t, parse(t, `<p>So \(a_1\).</p>`).Body)
	if want := `<p>So \(a_1\).</p>`; got != want {
		t.Errorf("got %s", got)
	}
}

func TestMathMLBecomesReadableTeX(t *testing.T) {
	for in, want := range map[string]string{
		`<mfrac><mn>1</mn><mn>2</mn></mfrac>`:     `\frac{1}{2}`,
		`<mroot><mi>x</mi><mn>3</mn></mroot>`:     `\sqrt[3]{x}`,
		`<mover><mi>x</mi><mo>¯</mo></mover>`:     `\overline{x}`,
		`<mfenced><mi>a</mi><mi>b</mi></mfenced>`: `(a,b)`,
		`<mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>0</mn></mtd></mtr><mtr><mtd><mn>0</mn></mtd></mtr></mtable>`: `\begin{matrix} 1 & 0 \\ 0 \end{matrix}`,
		`<msub><mi>lim</mi><mrow><mi>n</mi><mo>→</mo><mi>∞</mi></mrow></msub><mtext>if it {exists}</mtext>`:      `\lim_{n\to\infty}\text{if it exists}`,
		`<mi>α</mi><mi>x</mi><mo>&#x2062;</mo><mi>y</mi><mo>%</mo>`:                                              `\alpha xy\%`,
	} {
		got := inner(t, parse(t, `<math>`+in+`</math>`).Body)
		if want := `<span data-math="inline">` + html.EscapeString(want) + `</span>`; got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}

func TestPartsThatAreSentLateAreFoundWhereCommentsWereTakenOut(t *testing.T) {
	got := inner(t, parse(t, `<main><template id="B:0"></template><div>Loading…</div><template id="B:1"></template><div>Loading…</div><p>Between</p><template id="B:2"></template></main>
<div hidden id="S:1"><p>Second</p></div><div hidden id="S:0"><p>First</p></div><div hidden id="S:2"><p>Third</p></div>`).Body)
	if want := `<main><div id="S:0"><p>First</p></div><div id="S:1"><p>Second</p></div><p>Between</p><div id="S:2"><p>Third</p></div></main>`; strings.ReplaceAll(got, "\n", "") != want {
		t.Errorf("%s, want %s", got, want)
	}
}
