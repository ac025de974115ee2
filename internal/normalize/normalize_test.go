package normalize

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"sift.build/sift/internal/cputime"
	"sift.build/sift/internal/dom"
)

const pageURL = "https://example.com/docs/guide/page.html"

// normal parses a page and gives its normal form as HTML, with the figures.
func normal(t testing.TB, page string) (string, Result) {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	base, err := url.Parse(pageURL)
	if err != nil {
		t.Fatal(err)
	}
	res := Page(doc, base)
	return serialised(t, res.Body), res
}

func serialised(t testing.TB, body *html.Node) string {
	t.Helper()
	var b strings.Builder
	for c := body.FirstChild; c != nil; c = c.NextSibling {
		if err := html.Render(&b, c); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

// A specimen is a piece of a page beside the normal form that a person wrote
// down for it.
type specimen struct{ name, page, want string }

func check(t *testing.T, specimens []specimen) {
	t.Helper()
	for _, s := range specimens {
		t.Run(s.name, func(t *testing.T) {
			got, _ := normal(t, s.page)
			if d := cmp.Diff(s.want, got); d != "" {
				t.Errorf("normal form of\n%s\n(-want +got)\n%s", s.page, d)
			}
		})
	}
}

func TestAnImageHasItsRealAddress(t *testing.T) {
	const gif = "data:image/gif;base64,R0lGODlhAQABAAAAACw="
	check(t, []specimen{
		{"plain", `<img src="../img/a.png" alt="A cat" width="300" onerror="x()">`, `<img src="https://example.com/docs/img/a.png" alt="A cat"/>`},
		{"lazy", `<img src="` + gif + `" data-src="/a.png" alt="A">`, `<img src="https://example.com/a.png" alt="A"/>`},
		{"lazy beside a spacer", `<img src="/spacer.gif" data-original="/a.png" alt="A">`, `<img src="https://example.com/a.png" alt="A"/>`},
		{"lazy that is no address", `<img src="/a.png" data-src="{{img}}" alt="A">`, `<img src="https://example.com/a.png" alt="A"/>`},
		{"srcset alone", `<img srcset="/s.png 320w, /l.png 1280w, /m.png 640w" alt="A">`, `<img src="https://example.com/l.png" alt="A"/>`},
		{"srcset with densities", `<img srcset="/1.png, /3.png 3x, /2.png 2x" alt="A">`, `<img src="https://example.com/3.png" alt="A"/>`},
		{"srcset whose addresses hold commas", `<img srcset="/w_100,h_50/a.png 1x, /w_200,h_100/a.png 2x" alt="A">`, `<img src="https://example.com/w_200,h_100/a.png" alt="A"/>`},
		{"src before srcset", `<img src="/a.png" srcset="/b.png 2x" alt="A">`, `<img src="https://example.com/a.png" alt="A"/>`},
		{"lazy srcset", `<img src="` + gif + `" data-srcset="/s.png 320w, /l.png 1280w" alt="A">`, `<img src="https://example.com/l.png" alt="A"/>`},
		{"picture", `<picture><source srcset="/a.webp 1x, /b.webp 2x"><img alt="A"></picture>`, `<span><img src="https://example.com/b.webp" alt="A"/></span>`},
		{"picture with src", `<picture><source srcset="/a.webp"><img src="/a.png" alt="A"></picture>`, `<span><img src="https://example.com/a.png" alt="A"/></span>`},
		{"data alone", `<p><img src="` + gif + `" alt="A chart"></p>`, `<p><img alt="A chart"/></p>`},
		{"data without alt", `<p>x<img src="` + gif + `"></p>`, `<p>x</p>`},
		{"javascript", `<p><img src="javascript:alert(1)" alt="A"></p>`, `<p><img alt="A"/></p>`},
		{"a counting pixel", `<p>x<img src="/p.gif" width="1" height="1" alt="x"></p>`, `<p>x</p>`},
		{"alt with a line break", "<img src=\"/a.png\" alt=\"one\n two\">", `<img src="https://example.com/a.png" alt="one two"/>`},
		{"AMP", `<amp-img src="/a.png" alt="A" layout="responsive"></amp-img>`, `<img src="https://example.com/a.png" alt="A"/>`},
		{"figure", `<figure><img src="/a.png" alt="A"><figcaption>Cap</figcaption></figure>`, `<figure><img src="https://example.com/a.png" alt="A"/><figcaption>Cap</figcaption></figure>`},
	})
}

func TestVideosAndFramesAreLinksThatNameThem(t *testing.T) {
	check(t, []specimen{
		{"YouTube", `<iframe src="https://www.youtube.com/embed/abc123?rel=0" title="How to sift"></iframe>`,
			`<p><a href="https://www.youtube.com/watch?v=abc123">Video: How to sift</a></p>`},
		{"YouTube with the title that all have", `<iframe src="//www.youtube-nocookie.com/embed/abc123" title="YouTube video player"></iframe>`,
			`<p><a href="https://www.youtube.com/watch?v=abc123">Video at youtube.com</a></p>`},
		{"Vimeo", `<iframe src="https://player.vimeo.com/video/76979871" title="T"></iframe>`, `<p><a href="https://vimeo.com/76979871">Video: T</a></p>`},
		{"video with sources", `<video controls><source src="/v.mp4" type="video/mp4">Old browser</video>`, `<p><a href="https://example.com/v.mp4">Video at example.com</a></p>`},
		{"audio in a paragraph", `<p>Listen: <audio src="/a.mp3" title="Talk"></audio></p>`, `<p>Listen: <a href="https://example.com/a.mp3">Audio: Talk</a></p>`},
		{"an object's fallback", `<object><p>Instead</p></object>`, `<div><p>Instead</p></div>`},
		{"a frame that counts visits", `<p>x</p><iframe src="https://www.googletagmanager.com/ns.html?id=G"></iframe>`, `<p>x</p>`},
		{"a frame of no size", `<p>x</p><iframe src="/f" width="0" height="0"></iframe>`, `<p>x</p>`},
		{"a frame with a script for an address", `<p>x</p><iframe src="javascript:x()"></iframe>`, `<p>x</p>`},
		{"frames of a frameset", `<html><head></head><frameset><frame src="a.html"><noframes>Old</noframes></frameset></html>`,
			`<p><a href="https://example.com/docs/guide/a.html">Embedded page at example.com</a></p><div>Old</div>`},
	})
}

func TestAFormulaIsItsTeXWhateverItsSource(t *testing.T) {
	const e = `<p>E: <span data-math="inline">E=mc^{2}</span>.</p>`
	const drawn = `<math xmlns="http://www.w3.org/1998/Math/MathML"><semantics><mrow><mi>E</mi><mo>=</mo><mi>m</mi><msup><mi>c</mi><mn>2</mn></msup></mrow>` +
		`<annotation encoding="application/x-tex">E=mc^{2}</annotation></semantics></math>`
	check(t, []specimen{
		{"MathML with an annotation", `<p>E: ` + drawn + `.</p>`, e},
		{"MathML with an annotation, block", `<p>E: ` + strings.Replace(drawn, "<math ", `<math display="block" `, 1) + `.</p>`, strings.Replace(e, "inline", "block", 1)},
		{"MathML with alttext, as LaTeXML writes it", `<p>E: <math class="ltx_Math" alttext="E=mc^{2}" display="inline"><mi>E</mi></math>.</p>`, e},
		{"bare MathML", `<p>E: <math><mi>E</mi><mo>=</mo><mi>m</mi><msup><mi>c</mi><mn>2</mn></msup></math>.</p>`, `<p>E: <span data-math="inline">E=mc^2</span>.</p>`},
		{"bare MathML, a fraction under a root", `<p><math display="block"><msqrt><mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mn>12</mn></mfrac></msqrt></math></p>`,
			`<p><span data-math="block">\sqrt{\frac{a+b}{12}}</span></p>`},
		{"bare MathML, names and limits", `<p><math><munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></munderover><mi>sin</mi><mi>α</mi></math></p>`,
			`<p><span data-math="inline">\sum_{i=1}^n\sin\alpha</span></p>`},
		{"bare MathML, text and accents", `<p><math><mover><mi>x</mi><mo>¯</mo></mover><mtext>if odd</mtext></math></p>`, `<p><span data-math="inline">\overline{x}\text{if odd}</span></p>`},
		{"bare MathML, a matrix", `<p><math><mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>0</mn></mtd></mtr><mtr><mtd><mn>0</mn></mtd><mtd><mn>1</mn></mtd></mtr></mtable></math></p>`,
			`<p><span data-math="inline">\begin{matrix} 1 &amp; 0 \\ 0 &amp; 1 \end{matrix}</span></p>`},
		{"KaTeX", `<p>E: <span class="katex"><span class="katex-mathml">` + drawn + `</span><span class="katex-html" aria-hidden="true"><span class="base">E=mc2</span></span></span>.</p>`, e},
		{"KaTeX, block", `<p>E: <span class="katex-display"><span class="katex"><span class="katex-mathml">` + drawn + `</span><span class="katex-html" aria-hidden="true">E=mc2</span></span></span>.</p>`,
			strings.Replace(e, "inline", "block", 1)},
		{"MathJax 2", `<p>E: <script type="math/tex">E=mc^{2}</script>.</p>`, e},
		{"MathJax 2, drawn", `<p>E: <span class="MathJax_Preview">?</span><span class="MathJax" id="f"><span>E=mc2</span></span><script type="math/tex" id="s">E=mc^{2}</script>.</p>`, e},
		{"MathJax 2, block", `<p>E: <script type="math/tex; mode=display">E=mc^{2}</script>.</p>`, strings.Replace(e, "inline", "block", 1)},
		{"MathJax 3", `<p>E: <mjx-container class="MathJax" jax="CHTML"><mjx-math aria-hidden="true"><mjx-mi>E</mjx-mi></mjx-math><mjx-assistive-mml unselectable="on">` + drawn + `</mjx-assistive-mml></mjx-container>.</p>`, e},
		{"a picture of Wikipedia's", `<p>E: <img src="https://wikimedia.org/api/rest_v1/media/math/render/svg/9f7" class="mwe-math-fallback-image-inline" alt="{\displaystyle E=mc^{2}}">.</p>`, e},
		{"Wikipedia's picture and MathML", `<p>E: <span class="mwe-math-element"><span class="mwe-math-mathml-inline mwe-math-mathml-a11y" style="display: none;">` +
			strings.Replace(drawn, "E=mc^{2}</annotation>", `{\displaystyle E=mc^{2}}</annotation>`, 1) +
			`</span><img src="/m.svg" class="mwe-math-fallback-image-inline" aria-hidden="true" alt="{\displaystyle E=mc^{2}}"></span>.</p>`, e},
		{"Pandoc", `<p>E: <span class="math inline">\(E=mc^{2}\)</span>.</p>`, e},
		{"delimiters that a script replaces", `<head><script src="/mathjax/3/tex.js"></script></head><p>E: \(E=mc^{2}\).</p>`, e},
		{"dollars that a script replaces", `<head><script>MathJax = {tex: {inlineMath: [['$', '$']]}}</script></head><p>E: $E=mc^{2}$.</p>`, e},
		{"dollars that are prices", `<head><script>MathJax = {tex: {inlineMath: [['$', '$']]}}</script></head><p>From $5 to $10.</p>`, `<p>From $5 to $10.</p>`},
		{"delimiters that nothing replaces", `<p>E: \(E=mc^{2}\).</p>`, `<p>E: \(E=mc^{2}\).</p>`},
		{"delimiters in code", `<head><script src="/mathjax/3/tex.js"></script></head><p><code>\(x\)</code></p>`, `<p><code>\(x\)</code></p>`},
	})
}

func TestACodeBlockKnowsItsLanguage(t *testing.T) {
	want := func(lang string) string {
		if lang == "" {
			return "<pre><code>x := 1</code></pre>"
		}
		return `<pre data-lang="` + lang + `"><code>x := 1</code></pre>`
	}
	for _, c := range []struct{ page, lang string }{
		{`<pre><code class="language-go">x := 1</code></pre>`, "go"},
		{`<pre><code class="lang-Go">x := 1</code></pre>`, "go"},
		{`<pre><code class="hljs go">x := 1</code></pre>`, "go"},
		{`<pre data-lang="go">x := 1</pre>`, "go"},
		{`<pre data-language="go"><code>x := 1</code></pre>`, "go"},
		{`<pre lang="shell">x := 1</pre>`, "shell"},
		{`<pre lang="en">x := 1</pre>`, ""},
		{`<div class="highlight highlight-source-go"><pre>x := 1</pre></div>`, "go"},
		{`<div class="highlight highlight-text-html-basic"><pre>x := 1</pre></div>`, "html"},
		{`<div class="highlight-python notranslate"><div class="highlight"><pre>x := 1</pre></div></div>`, "python"},
		{`<div class="highlight-default notranslate"><div class="highlight"><pre>x := 1</pre></div></div>`, ""},
		{`<pre class="brush: go; toolbar: false">x := 1</pre>`, "go"},
		{`<pre class="brush:go">x := 1</pre>`, "go"},
		{`<pre class="sourceCode go"><code class="sourceCode go">x := 1</code></pre>`, "go"},
		{`<pre class="prettyprint lang-go prettyprinted">x := 1</pre>`, "go"},
		{`<figure class="highlight go"><pre>x := 1</pre></figure>`, "go"},
		{`<pre><code class="language-none">x := 1</code></pre>`, ""},
		{`<pre><code class="language-plaintext">x := 1</code></pre>`, ""},
		{`<pre><code class="language-c++">x := 1</code></pre>`, "c++"},
		{`<pre><code class="language-&quot;&gt;&lt;b">x := 1</code></pre>`, ""},
		{`<pre class="wrap">x := 1</pre>`, ""},
		{`<table class="highlighttable"><tr><td class="linenos"><pre>1</pre></td><td class="code"><div><pre><span></span><code class="language-go">x := 1</code></pre></div></td></tr></table>`, "go"},
		{`<pre>x := 1</pre>`, ""},
	} {
		got, _ := normal(t, c.page)
		i := strings.Index(got, "<pre")
		j := strings.Index(got, "</pre>")
		if i < 0 || j < 0 {
			t.Errorf("%s: no code block in %s", c.page, got)
			continue
		}
		got = got[i : j+len("</pre>")]
		if k := strings.Index(got, ` class="`); k >= 0 { // the class stays for the selection
			end := strings.IndexByte(got[k+8:], '"')
			got = got[:k] + got[k+8+end+1:]
		}
		if k := strings.Index(got, ` lang="`); k >= 0 {
			end := strings.IndexByte(got[k+7:], '"')
			got = got[:k] + got[k+7+end+1:]
		}
		if got != want(c.lang) {
			t.Errorf("%s\n got %s\nwant %s", c.page, got, want(c.lang))
		}
	}
}

func TestACodeBlockIsItsLinesAndNothingElse(t *testing.T) {
	pre := func(code string) string { return "<pre><code>" + html.EscapeString(code) + "</code></pre>" }
	check(t, []specimen{
		{"indentation and blank lines", "<pre><code>if x {\n\n\ty()\n    z()\n}\n</code></pre>", pre("if x {\n\n\ty()\n    z()\n}")},
		{"angle brackets", "<pre><code>a &lt;b&gt; &amp;amp; c</code></pre>", pre("a <b> &amp; c")},
		{"<br> for line breaks", "<pre>a<br>b<br><br>c</pre>", pre("a\nb\n\nc")},
		{"a span for each line", "<pre><code><span class=\"line\">a</span>\n<span class=\"line\">  b</span>\n<span class=\"line\"></span>\n<span class=\"line\">c</span></code></pre>", pre("a\n  b\n\nc")},
		{"a span for each line without line breaks", `<pre><code><span class="line">a</span><span class="line">  b</span><span class="line"></span><span class="line">c</span></code></pre>`, pre("a\n  b\n\nc")},
		{"a div for each line", `<pre><code><div class="line">a</div><div class="line">b</div></code></pre>`, pre("a\nb")},
		{"coloured words", `<pre><span class="k">func</span> <span class="nf">f</span><span class="p">()</span></pre>`, pre("func f()")},
		{"line numbers in spans", "<pre><span class=\"lineno\">1</span>a\n<span class=\"lineno\">2</span>b</pre>", pre("a\nb")},
		{"line numbers that cannot be selected", "<pre><span style=\"user-select:none\">1\n</span><span>a\n</span><span style=\"user-select:none\">2\n</span><span>b\n</span></pre>", pre("a\nb")},
		{"a copy button", `<pre><code>a</code><button class="copy">Copy</button></pre>`, pre("a")},
		{"carriage returns", "<pre>a&#13;\nb</pre>", pre("a\nb")},
		{"no-break spaces", "<pre>a\u00a0\u00a0b</pre>", pre("a  b")},
		{"zero-width spaces", "<pre>a\u200bb</pre>", pre("ab")},
		{"a gutter in a table", `<table class="highlighttable"><tr><td class="linenos"><div class="linenodiv"><pre>1
2</pre></div></td><td class="code"><div><pre><span></span>a
  b
</pre></div></td></tr></table>`, `<pre class="highlighttable"><code>a` + "\n" + `  b</code></pre>`},
		{"a row for each line", `<table class="js-file-line-container"><tr><td class="blob-num" data-line-number="1"></td><td class="blob-code">a</td></tr>` +
			`<tr><td class="blob-num" data-line-number="2"></td><td class="blob-code">b</td></tr></table>`, `<pre class="js-file-line-container"><code>a` + "\n" + `b</code></pre>`},
		{"inline", `<p>Use <code>go <b>test</b></code>, <kbd>Ctrl</kbd>, <tt>x</tt>.</p>`, `<p>Use <code>go <strong>test</strong></code>, <code>Ctrl</code>, <code>x</code>.</p>`},
		{"inline code with lines", `<p><code>a<br>b</code></p>`, `<p>` + pre("a\nb") + `</p>`},
		{"empty", `<p>x</p><pre>  </pre>`, `<p>x</p>`},
	})
}

func TestWhatAClickOpensIsContent(t *testing.T) {
	check(t, []specimen{
		{"details", `<details><summary>S</summary><p>D</p></details>`, `<details><summary>S</summary><p>D</p></details>`},
		{"open details", `<details open><summary>S</summary>D</details>`, `<details open=""><summary>S</summary>D</details>`},
		{"tab panels", `<div role="tablist"><button role="tab" aria-controls="p1">One</button><button role="tab" aria-controls="p2">Two</button></div>` +
			`<div role="tabpanel" id="p1">1</div><div role="tabpanel" id="p2" hidden>2</div>`,
			`<div role="tabpanel" id="p1"><p><strong>One</strong></p>1</div><div role="tabpanel" id="p2"><p><strong>Two</strong></p>2</div>`},
		{"a panel that a tab names", `<a role="tab" aria-controls="p" href="#p">T</a><div id="p" style="display:none">2</div>`,
			`<a href="https://example.com/docs/guide/page.html#p" role="tab">T</a><div id="p">2</div>`},
		{"an accordion", `<h3><button aria-expanded="false" aria-controls="a">Question?</button></h3><div id="a" hidden>Answer.</div>`, `<h3><span>Question?</span></h3><div id="a">Answer.</div>`},
		{"found by the browser's search", `<p hidden="until-found">x</p>`, `<p>x</p>`},
		{"a menu's panel is not", `<button aria-expanded="false" aria-haspopup="true" aria-controls="m">M</button><p>x</p><div id="m" hidden>Menu</div>`, `<p>x</p>`},
	})
}

func TestNoscriptStandsInWhereThePageDoesNotSayTheSame(t *testing.T) {
	check(t, []specimen{
		{"a call to turn JavaScript on", `<p>x</p><noscript>Please enable JavaScript to view this page.</noscript>`, `<p>x</p>`},
		{"the only copy of a thread", `<div id="app"></div><noscript data-path="/t/1"><h1>Topic</h1><p>The first post of a thread says a good deal more than nothing.</p></noscript>`,
			`<div id="app"></div><div><h1>Topic</h1><p>The first post of a thread says a good deal more than nothing.</p></div>`},
		{"what the page says already", `<p>The quick brown fox jumps over the lazy dog every day.</p><noscript><p>The quick brown fox jumps over the lazy dog every day.</p></noscript>`,
			`<p>The quick brown fox jumps over the lazy dog every day.</p>`},
		{"a lazy image alone", `<p><noscript><img src="/a.png" alt="A"></noscript></p>`, `<p><img src="https://example.com/a.png" alt="A"/></p>`},
		{"a lazy image's twin", `<p><img class="lazy" src="data:image/gif;base64,R0" alt=""><noscript><img src="/a.png" alt="A"></noscript></p>`,
			`<p><img src="https://example.com/a.png" alt="A"/></p>`},
		{"empty", `<p>x</p><noscript> </noscript>`, `<p>x</p>`},
		{"a counting pixel", `<p>x</p><noscript><img src="/p.gif" width="1" height="1"></noscript>`, `<p>x</p>`},
		{"a style sheet", `<p>x</p><noscript><style>p{}</style></noscript>`, `<p>x</p>`},
	})
}

func TestFootnoteReferencesNameTheirNotes(t *testing.T) {
	check(t, []specimen{
		{"GitHub", `<p>x<sup><a href="#fn-1" id="ref-1" data-footnote-ref>1</a></sup></p><ol><li id="fn-1"><p>Note. <a href="#ref-1" class="data-footnote-backref">↩</a></p></li></ol>`,
			`<p>x<sup><a href="https://example.com/docs/guide/page.html#fn-1" id="ref-1" data-noteref="fn-1">1</a></sup></p><ol><li id="fn-1"><p>Note. </p></li></ol>`},
		{"Wikipedia", `<p>x<sup class="reference" id="cite_ref-1"><a href="#cite_note-1">[1]</a></sup></p><ol class="references"><li id="cite_note-1"><span class="mw-cite-backlink"><b><a href="#cite_ref-1">^</a></b></span> <span class="reference-text">Note.</span></li></ol>`,
			`<p>x<sup class="reference" id="cite_ref-1"><a href="https://example.com/docs/guide/page.html#cite_note-1" data-noteref="cite_note-1">[1]</a></sup></p><ol class="references"><li id="cite_note-1"> <span class="reference-text">Note.</span></li></ol>`},
	})
}

func TestTextIsWhatAReaderSees(t *testing.T) {
	check(t, []specimen{
		{"white space", "<p>a  b\t c\n d\r\n\r\n e</p>", "<p>a b c\nd\ne</p>"},
		{"no-break and thin spaces", "<p>a\u00a0b\u2009c\u202fd</p>", "<p>a b c d</p>"},
		{"soft hyphens", "<p>Donau\u00addampf\u00adschiff</p>", "<p>Donaudampfschiff</p>"},
		{"zero-width spaces and joiners in words", "<p>ig\u200bno\u200dre\u2060 th\ufeffis</p>", "<p>ignore this</p>"},
		{"<wbr>", "<p>very<wbr>long</p>", "<p>verylong</p>"},
		{"a family", "<p>👨‍👩‍👧‍👦 ❤️ 1️⃣</p>", "<p>👨‍👩‍👧‍👦 ❤️ 1️⃣</p>"},
		{"a skin", "<p>👋🏽</p>", "<p>👋🏽</p>"},
		{"Persian", "<p>می\u200cخواهم</p>", "<p>می\u200cخواهم</p>"},
		{"Hindi", "<p>क्\u200dष</p>", "<p>क्\u200dष</p>"},
		{"flags", "<p>🇩🇪 🏴󠁧󠁢󠁳󠁣󠁴󠁿</p>", "<p>🇩🇪 🏴󠁧󠁢󠁳󠁣󠁴󠁿</p>"},
		{"a flag that is none", "<p>🏴\U000e0078\U000e0079\U000e007f</p>", "<p>🏴</p>"},
		{"Japanese over two lines", "<p>日本\n語の\n文</p>", "<p>日本語の文</p>"},
		{"Korean over two lines", "<p>한국\n어</p>", "<p>한국\n어</p>"},
		{"Japanese and Latin", "<p>日本\nJapan</p>", "<p>日本\nJapan</p>"},
		{"an ideographic space", "<p>第一章\u3000始まり</p>", "<p>第一章\u3000始まり</p>"},
		{"ideographic spaces first", "<p>\u3000\u3000段落</p>", "<p>\u3000\u3000段落</p>"},
		{"ideographic variants", "<p>葛\U000e0100飾</p>", "<p>葛\U000e0100飾</p>"},
		{"control characters", "<p>a\x01b\x7fc\x1bd</p>", "<p>abcd</p>"},
		{"ruby", "<p><ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby></p>", "<p><span>漢<span>(kan)</span></span></p>"},
		{"a quotation", "<p><q>x</q></p>", "<p><span>“x”</span></p>"},
		{"an icon font", "<p><i class=\"fa\">\ue001</i>Save</p>", "<p><em class=\"fa\"> </em>Save</p>"},
		{"old elements", "<center><font color=red>a</font> <strike>b</strike></center>", "<div><span>a</span> <del>b</del></div>"},
		{"comments, scripts and styles", "<p>a<!-- b --><script>c</script><style>d</style><template>e</template>f</p>", "<p>af</p>"},
		{"form controls", `<form><label>Name</label><input value="v"><select><option>o</select><textarea>t</textarea><button>Go</button></form>`, `<div><span>Name</span></div>`},
		{"svg", `<p>a<svg><title>t</title><text>u</text><foreignObject><p>v</p></foreignObject></svg>b</p>`, `<p>ab</p>`},
	})
}

func TestInvisibleCharactersAreCounted(t *testing.T) {
	tagged := func(s string) string {
		var b strings.Builder
		for _, r := range s {
			b.WriteRune(0xe0000 + r)
		}
		return b.String()
	}
	type figures struct {
		Tags, Invisible, Bidi int
	}
	for _, c := range []struct {
		name, page string
		want       figures
	}{
		{"tag characters", "<p>hello" + tagged("obey me") + " world</p>", figures{Tags: 7}},
		{"tag characters in code", "<pre>x" + tagged("hi") + "</pre>", figures{Tags: 2}},
		{"a tag language mark", "<p>a\U000e0001b</p>", figures{Tags: 1}},
		{"a flag", "<p>🏴󠁧󠁢󠁳󠁣󠁴󠁿</p>", figures{}},
		{"tag characters behind a flag that is none", "<p>🏴" + tagged("evil") + "\U000e007f</p>", figures{Tags: 5}},
		{"overrides and isolates", "<p>a\u202eb\u202cc\u2066d\u2069</p>", figures{Bidi: 4}},
		{"overrides in code, as in Trojan Source", "<pre>/*\u202e } \u2066if\u2069 */</pre>", figures{Bidi: 3}},
		{"joiners between letters", "<p>i\u200dg\u200cn</p>", figures{Invisible: 2}},
		{"variation selectors between letters", "<p>a\ufe00b\ufe0fc\U000e0101</p>", figures{Invisible: 3}},
		{"Hangul fillers", "<p>a\u3164b\u115fc\uffa0d</p>", figures{Invisible: 3}},
		{"soft hyphens, zero-width spaces and marks are ordinary", "<p>a\u00adb\u200bc\u200ed\ufeff</p>", figures{}},
		{"emoji and Persian are text", "<p>👨‍👩‍👧 می\u200cخواهم</p>", figures{}},
	} {
		_, r := normal(t, c.page)
		got := figures{r.TagChars, r.Invisible, r.Bidi}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s (-want +got)\n%s", c.name, d)
		}
	}
}

func TestOverridesAreTakenOutOfTheText(t *testing.T) {
	check(t, []specimen{
		{"in text", "<p>a\u202eb\u202c</p>", "<p>ab</p>"},
		{"in code", "<pre>/*\u202e } \u2066if\u2069 */</pre>", "<pre><code>/* } if */</code></pre>"},
		{"in a link's title", "<a href=\"/\" title=\"a\u202eb\">x</a>", `<a href="https://example.com/" title="ab">x</a>`},
	})
}

func TestWhatIsKeptFromScreenReadersIsJudgedByWhatItIs(t *testing.T) {
	for _, c := range []struct {
		page, want string
		hidden     int
	}{
		{`<p>$5 <span aria-hidden="true">five</span></p>`, `<p>$5 <span>five</span></p>`, 0},
		{`<p>now <span class="a-offscreen">$19.99</span><span aria-hidden="true"><b>$</b>19<i>99</i></span></p>`, `<p>now <span class="a-offscreen">$19.99</span></p>`, 0},
		{`<p>a<span aria-hidden="true"> → </span>b</p>`, `<p>ab</p>`, 0},
		{`<p>a<i class="icon" aria-hidden="true">star</i></p>`, `<p>a</p>`, 0},
		{`<div aria-hidden="true" class="modal"><p>Sign in to go on, or go away now</p></div><p>x</p>`, `<p>x</p>`, 24},
		{`<div aria-hidden="true" class="modal"><p>Subscribe!</p></div><p>x</p>`, `<p>x</p>`, 0},
		{`<div aria-hidden="true" class="hero"><p>The story that everybody reads here</p></div>`, `<div class="hero"><p>The story that everybody reads here</p></div>`, 0},
	} {
		got, res := normal(t, c.page)
		if got != c.want || res.HiddenText != c.hidden {
			t.Errorf("%s\n got %s and %d\nwant %s and %d", c.page, got, res.HiddenText, c.want, c.hidden)
		}
	}
}

func TestHiddenTextInMalformedMarkupDoesNotLeakAndItsSiblingsStay(t *testing.T) {
	for _, page := range []string{
		`<p>Seen<span style="display:none">SECRET`,
		`<p style="display:none">SECRET<p>Seen`,
		`<ul><li>Seen<li hidden>SECRET<li>Seen</ul>`,
		`<ul><li hidden>SECRET<ul><li>SECRET</ul><li>Seen</ul>`,
		`<table><tr><td>Seen<td style="display:none">SECRET<td>Seen<tr><td>Seen<td>Seen</table>`,
		`<table><tr hidden><td>SECRET<td>SECRET<tr><td>Seen<td>Seen<tr><td>Seen<td>Seen</table>`,
		`<table><tr><td style="display:none"><table><tr><td>SECRET</table>SECRET<td>Seen</table>`,
		`<table hidden><tr><td>SECRET<table><tr><td>SECRET</table></table><p>Seen`,
		`<div hidden><div>SECRET</div>SECRET</div><p>Seen`,
		`<div hidden><p>SECRET</div>Seen`,
		`<div hidden><b>SECRET</div><p>Seen`,
		`<span hidden><svg><foreignObject><p>SECRET</p></foreignObject></svg>SECRET</span><p>Seen`,
		`<svg><foreignObject><div hidden>SECRET</div></foreignObject></svg><p>Seen`,
		`<p>Seen<span hidden><math><mtext>SECRET</mtext></math></span>`,
		`<p>Seen<math><mi>x</mi><mtext style="display:none">SECRET</mtext></math>`,
		`<p>Seen<math><mi>x</mi><mtext><span hidden>SECRET</span></mtext></math>`,
		`<p>Seen<math><mi>x</mi><mphantom><mtext>SECRET</mtext></mphantom></math>`,
		`<p>Seen<math><mrow hidden><mi>SECRET</mi></mrow><mi>x</mi></math>`,
		`<dl><dt>Seen<dd hidden>SECRET<dd>Seen</dl>`,
		`<p>Seen<!-- SECRET --></p><!-- SECRET`,
		`<p>Seen<template>SECRET</template><input type="hidden" value="SECRET">`,
		`<p>Seen<noscript><div style="display:none">SECRET</div><p>More of it that nothing else on the page says</p></noscript>`,
		`<p>Seen<img src="data:," alt=""><a href="https://x.example/" data-x="SECRET">y</a>`,
		`<pre>Seen<span hidden>SECRET</span></pre>`,
		`<pre>Seen<span style="opacity:0">SECRET</span></pre>`,
		`<pre>Seen<span style="font-size:0">SECRET</span></pre>`,
		`<pre>Seen<span style="visibility:hidden">SECRET</span></pre>`,
		`<pre>Seen<span class="d-none">SECRET</span></pre>`,
		`<pre hidden>SECRET</pre><p>Seen`,
		`<h2>Seen<span style="display:none">SECRET</span></h2>`,
		`<div style="font-size:0">SECRET<span style="font-size:16px">Seen</span></div>`,
		`<div style="display:none"><script>x</script>SECRET<p>SECRET</div><p>Seen`,
		`<a hidden href="/x">SECRET</a><p>Seen`,
		`<a href="/x"><span hidden>SECRET</span>Seen</a>`,
		`<button hidden>SECRET SECRET SECRET SECRET SECRET SECRET SECRET SECRET SECRET SECRET SECRET</button><p>Seen`,
	} {
		got, res := normal(t, page)
		if strings.Contains(got, "SECRET") {
			t.Errorf("%s\nlets hidden text out: %s", page, got)
		}
		if n := strings.Count(page, "Seen"); strings.Count(got, "Seen") != n {
			t.Errorf("%s\nloses what is to be seen: %s", page, got)
		}
		if strings.Contains(serialised(t, res.Body), "SECRET") {
			t.Errorf("%s\nkeeps hidden text in the tree", page)
		}
	}
}

// The list of what the normal form may hold, as the package comment gives it.
var (
	allowedAttr = map[string]bool{
		"id": true, "class": true, "role": true, "itemprop": true, "itemtype": true, "rel": true, "title": true, "aria-label": true, "lang": true, "dir": true,
		"datetime": true, "href": true, "src": true, "alt": true, "colspan": true, "rowspan": true, "scope": true, "start": true, "value": true, "type": true,
		"checked": true, "open": true, "reversed": true, "data-math": true, "data-lang": true, "data-private": true, "data-noteref": true,
	}
	refused = map[atom.Atom]bool{
		atom.Script: true, atom.Style: true, atom.Template: true, atom.Noscript: true, atom.Svg: true, atom.Math: true, atom.Select: true, atom.Option: true,
		atom.Textarea: true, atom.Button: true, atom.Form: true, atom.Iframe: true, atom.Frame: true, atom.Object: true, atom.Embed: true, atom.Video: true,
		atom.Audio: true, atom.Source: true, atom.Track: true, atom.Canvas: true, atom.Picture: true, atom.Meta: true, atom.Link: true, atom.Base: true, atom.Head: true,
		atom.Title: true, atom.Dialog: true, atom.Progress: true, atom.Meter: true, atom.Datalist: true, atom.Fieldset: true, atom.Listing: true, atom.Xmp: true, atom.Plaintext: true,
	}
)

// faults names what in a tree is not of the normal form.
func faults(body *html.Node) []string {
	var out []string
	fault := func(n *html.Node, s string) { out = append(out, "<"+n.Data+">: "+s) }
	if body.Parent != nil || body.PrevSibling != nil || body.NextSibling != nil || body.DataAtom != atom.Body {
		fault(body, "not a detached body")
	}
	depth := 0
	for n := body.FirstChild; n != nil; n = following(n, body, true) {
		if depth++; depth > 5_000_000 {
			return append(out, "the tree does not end")
		}
		if n.Type == html.TextNode {
			if n.FirstChild != nil {
				fault(n, "a text with children")
			}
			continue
		}
		if n.Type != html.ElementNode {
			fault(n, "neither element nor text")
			continue
		}
		if n.Namespace != "" {
			fault(n, "namespace "+n.Namespace)
		}
		if refused[n.DataAtom] {
			fault(n, "not an element of the normal form")
		}
		for _, a := range n.Attr {
			if !allowedAttr[a.Key] || a.Namespace != "" {
				fault(n, "attribute "+a.Key)
			}
			switch a.Key {
			case "href":
				u, err := url.Parse(strings.ReplaceAll(a.Val, "%", "%25"))
				switch {
				case n.DataAtom != atom.A:
					fault(n, "href")
				case err != nil:
					// A host with an odd port: net/url is stricter than browsers.
				case u.Scheme == "javascript", u.Scheme == "data", u.Scheme == "vbscript", u.Scheme == "file", u.Scheme == "":
					fault(n, "href "+a.Val)
				}
				if strings.ContainsAny(a.Val, " \n\t<>\"\\`") {
					fault(n, "href that breaks out: "+a.Val)
				}
			case "src":
				if n.DataAtom != atom.Img {
					fault(n, "src")
				}
				if !strings.HasPrefix(a.Val, "https://") && !strings.HasPrefix(a.Val, "http://") || strings.ContainsAny(a.Val, " \n\t<>\"\\`") {
					fault(n, "src "+a.Val)
				}
			case "data-math", "data-lang":
				if n.FirstChild == nil || n.FirstChild != n.LastChild {
					fault(n, a.Key+" with other than one child")
				}
			}
		}
		switch n.DataAtom {
		case atom.Li:
			up := n.Parent
			for up != nil && up.DataAtom != atom.Ul && up.DataAtom != atom.Ol {
				up = up.Parent
			}
			if up == nil {
				fault(n, "outside of a list, in "+n.Parent.Data)
			}
		case atom.Ul, atom.Ol:
			for c := n.FirstChild; c != nil; c = c.NextSibling {
				if c.DataAtom != atom.Li {
					fault(n, "holds "+c.Data)
				}
			}
		case atom.Dl:
			for c := n.FirstChild; c != nil; c = c.NextSibling {
				if c.DataAtom != atom.Dt && c.DataAtom != atom.Dd {
					fault(n, "holds "+c.Data)
				}
			}
		case atom.Pre:
			if c := n.FirstChild; c == nil || c != n.LastChild || c.DataAtom != atom.Code || c.FirstChild == nil || c.FirstChild != c.LastChild || c.FirstChild.Type != html.TextNode {
				fault(n, "not one code with one text")
			}
		case atom.Input:
			if n.Parent.DataAtom != atom.Li || n.PrevSibling != nil || dom.Attr(n, "type") != "checkbox" {
				fault(n, "not the mark of a task")
			}
		case atom.Table:
			for up := n.Parent; up != nil; up = up.Parent {
				if up.DataAtom == atom.Table {
					fault(n, "inside a table")
				}
			}
		}
	}
	return out
}

// hostile are pages made to break a reader: the seeds of the fuzzer, held to
// the same invariants in every run.
var hostile = []string{
	"", "<", "\x00", "<body", "<!doctype html>", "<html><head></head><frameset><frame src=a><noframes>Old</noframes></frameset>",
	`<div href="javascript:alert(1)" src="javascript:alert(2)" onclick=x data-x=y style=z>a</div>`,
	`<p xlink:href="javascript:x" title="a&#10;b">a</p><a xlink:href="javascript:x">b</a>`,
	`<a href="java&#9;script:x">a</a><a href="&#1;javascript:x">b</a><a href="//">c</a><a href="https:///x">d</a><a href="https:x">e</a>`,
	"<a href='\"><script>x</script>'>a</a><img src='\"><b>'><a href='`|\\ {}'>b</a>",
	`<math><mi>x</mi><annotation-xml encoding="text/html"><script>x</script><p>y</p></annotation-xml></math>`,
	`<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=alert(1)&gt;">`,
	`<svg><style><img src=x onerror=alert(1)></style></svg><svg></p><style><a id="</style><img src=1 onerror=alert(1)>">`,
	`<noscript><p title="</noscript><img src=x onerror=alert(1)>"></noscript>`,
	`<noscript><noscript><noscript>x</noscript><p>y z w v</p>`,
	`<ul><ul><ul>a<li>b<ol>c</ol>d</ul>e<div><div><li>f</div></div></ul><li>g<dl>h<div><div><dt>i</div></div><dd>j<p>k</dl>`,
	`<table><tr><td><table><tr><td><table><tr><th>a<th>b<tr><td>c<td>d</table><td>e<tr><td>f</table><td>g</table>`,
	`<table><li>a<tr>b<td colspan=-1>c<caption>d<th rowspan=1e9>e</table><td>f<tr>g`,
	`<table class=wikitable><tr><th>a<th>b<tr><td><pre>x<table><tr><td>y</table></pre><td><table><tr><td>1<td>2<tr><td>3<td>4</table></table>`,
	`<pre><pre><table><tr><td class=gutter>1<td>x</table><li>y</pre>z</pre><listing>a</listing><xmp><b></xmp><plaintext><i>`,
	`<h1><h2>a<ul><li>b</h1></h2><h3><table><tr><td>c</table></h3><h4><pre>d</pre></h4>`,
	`<a href=1>a<a href=2>b<p>c<a href=3><h2>d</a></h2>`,
	`<p>x<sup><a href="#n">1</a></sup><p id=n><a href="#n">1</a><sup><a href="#n">2</a></sup>`,
	`<template id="B:1"></template><div hidden id="S:1"><template id="B:2"></template></div><div hidden id="S:2"><template id="B:1"></template>x</div>`,
	`<div hidden id="S:1"><template id="B:1"></template>x</div><template id="P:3"></template><div hidden id="S:3">y</div>`,
	`<li><input type=checkbox><li><label><input type=checkbox checked>a</label><input type=checkbox>`,
	`<ul><div><div><li><input type=checkbox>a</div></div></ul><ul><li><ul><li><input type=checkbox></ul></ul>`,
	`<iframe src="javascript:x"></iframe><iframe src="data:text/html,x"></iframe><object data="javascript:x">a</object><embed src="x.swf"><video src=a><audio>`,
	`<button aria-expanded=false>` + strings.Repeat("long text ", 20) + `<button role=tab>t</button>`,
	`<dialog open>a</dialog><dialog>b</dialog><map><area href=x>c</map><details hidden>d</details><form><fieldset><legend>e</legend>`,
	`<my-widget onclick=x href="javascript:x"><slot>a</slot></my-widget><amp-video src=v.mp4></amp-video><amp-accordion><section>b</section></amp-accordion>`,
	`<script type="math/tex">x^2</script><script type="math/mml"><math><mi>y</mi></math></script><span class=katex><math></math></span>`,
	`<script src=mathjax.js></script><p>\(a\) $$b \[c\] $$ \( \\( <b>$$</b>`,
	"<p>\u202ea\u2066b\U000e0041\U000e0042\u200d\ufeff\u3164\x01\xff\xfe\u115f\u1160\U0001f3f4\U000e0067\U000e007f",
	"<p style='color:rgba(,,,)'>a<p style='font-size:;opacity:x;clip:rect(;transform:translate('>b<p style=':;:;;'>c",
}

func TestThePageIsInTheNormalFormWhateverTheMarkup(t *testing.T) {
	for _, page := range hostile {
		got, res := normal(t, page)
		for _, f := range faults(res.Body) {
			t.Errorf("%s\nas %s\nis not in the normal form: %s", page, got, f)
		}
	}
}

func TestAFormulaOrCodeBlockInTheNormalFormStaysOne(t *testing.T) {
	// What an answer is cached as is the serialised normal form, parsed again.
	for _, page := range []string{
		`<p>a <code>b</code> <a href="/x">c</a></p><ul><li>d<ul><li>e</li></ul></li></ul><table><tr><th>f<th>g<tr><td>h<td>i</table><blockquote><p>j</p></blockquote>`,
		"<pre><code class=language-go>\n\nx\n\n  y</code></pre>",
		`<h2 id=a>A<a href="#a">#</a></h2><p>n<sup><a href="#fn">1</a></sup></p><ol><li id=fn>note</li></ol>`,
		`<dl><dt>a</dt><dd>b</dd></dl><figure><img src="/i.png" alt="i"><figcaption>c</figcaption></figure><details><summary>s</summary>t</details>`,
		`<ul><li><input type=checkbox checked> done</li></ul><p>soft\u00adhyphen 👨‍👩‍👧 می\u200cخواهم 日本\n語</p>`,
	} {
		once, first := normal(t, page)
		twice, second := normal(t, once)
		if d := cmp.Diff(once, twice); d != "" {
			t.Errorf("%s\nchanges when it is brought to the normal form again (-once +twice)\n%s", page, d)
		}
		if first.VisibleChars != second.VisibleChars {
			t.Errorf("%s\nhas %d visible characters, then %d", page, first.VisibleChars, second.VisibleChars)
		}
	}
}

func FuzzPage(f *testing.F) {
	for _, page := range hostile {
		f.Add(page)
	}
	f.Fuzz(func(t *testing.T, page string) {
		if len(page) > 64<<10 {
			return
		}
		once, first := normal(t, page)
		if bad := faults(first.Body); bad != nil {
			t.Fatalf("%q\nas %s\nis not in the normal form: %q", page, once, bad)
		}
		if first.VisibleChars != CountVisible(first.Body) || first.HiddenText < 0 {
			t.Fatalf("%q: the figures are off: %+v", page, first)
		}
		if again, _ := normal(t, page); again != once {
			t.Fatalf("%q: two runs differ:\n%s\n%s", page, once, again)
		}
		// Once more adds nothing: no text, no hidden text of the first run.
		twice, second := normal(t, once)
		if bad := faults(second.Body); bad != nil {
			t.Fatalf("%q\nas %s\nis not in the normal form: %q", once, twice, bad)
		}
		if second.VisibleChars > first.VisibleChars {
			t.Fatalf("%q\nhas %d visible characters as %s, and %d as %s", page, first.VisibleChars, once, second.VisibleChars, twice)
		}
	})
}

func TestMarkupNestedAsDeepAsTheParserGoesIsNoTrouble(t *testing.T) {
	for _, open := range []string{"<div>", "<ul><li>", "<dl><dd>", "<blockquote>", "<b><p>", "<table><tr><td>", "<span aria-hidden=true>", "<details>", "<math><mrow>", "<div style='font-size:0'>"} {
		depth := 512 / strings.Count(open, "<")
		var doc *html.Node
		for doc == nil { // the deepest that the parser takes
			depth--
			if d, err := html.Parse(strings.NewReader(strings.Repeat(open, depth) + "bottom")); err == nil {
				doc = d
			}
		}
		if depth < 120 {
			t.Fatalf("%s: only %d deep", open, depth)
		}
		res := Page(doc, nil)
		if bad := faults(res.Body); bad != nil {
			t.Errorf("%s: %q", open, bad[:1])
		}
		if got := res.VisibleChars + res.HiddenText; got != len("bottom") {
			t.Errorf("%s: %d characters, want %d", open, got, len("bottom"))
		}
	}
}

func TestTimeGrowsWithThePageAndNoFaster(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	for name, shape := range map[string]func(n int) string{
		"paragraphs":        func(n int) string { return strings.Repeat("<p>one <b>two</b> <a href=x>three</a>\n", n) },
		"items of one list": func(n int) string { return "<ul>" + strings.Repeat("<li>x", n) },
		"loose text":        func(n int) string { return "<ul>" + strings.Repeat("x<b>y</b>", n) },
		"stray items":       func(n int) string { return strings.Repeat("<li>x</li>", n) },
		"hidden":            func(n int) string { return strings.Repeat("<p hidden>x</p>", n) },
		"comments":          func(n int) string { return strings.Repeat("<!--x--><h2></h2>", n) },
		"code lines":        func(n int) string { return "<pre>" + strings.Repeat("<span class=line>x</span>\n", n) },
		"rows":              func(n int) string { return "<table>" + strings.Repeat("<tr><td>a<td>b", n) },
		"tables":            func(n int) string { return strings.Repeat("<table><tr><td>a<td>b<tr><td>c<td>d</table>", n) },
		"notes": func(n int) string {
			return strings.Repeat("<sup><a href='#n'>1</a></sup>", n) + strings.Repeat("<p id=n>x", n)
		},
		"noscripts":    func(n int) string { return strings.Repeat("<noscript>a few words of it</noscript>", n) },
		"lazy images":  func(n int) string { return strings.Repeat("<noscript><img src=a></noscript>", n) },
		"anchors":      func(n int) string { return strings.Repeat("<a name=x></a>", n) + strings.Repeat("<h2>x</h2>", n) },
		"definitions":  func(n int) string { return "<dl>" + strings.Repeat("<div><dt>x<dd>y</div>", n) },
		"dollars":      func(n int) string { return "<script src=mathjax.js></script><p>" + strings.Repeat(`$$ \( `, n) },
		"fragments":    func(n int) string { return strings.Repeat("<h2>x<a href='#x'>#</a></h2>", n) },
		"formulas":     func(n int) string { return strings.Repeat("<math><mi>x</mi></math>", n) },
		"a long style": func(n int) string { return "<p style='" + strings.Repeat("color:red;", n) + "'>x" },
		"a long class": func(n int) string { return "<p class='" + strings.Repeat("a-b ", n) + "'>x" },
		"one srcset":   func(n int) string { return "<img srcset='" + strings.Repeat("/a 1x,", min(n, 10_000)) + "'>" },
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

func TestNestingDoesNotMakeEveryElementLookAtAllOfThePage(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	for name, open := range map[string]string{
		"kept from screen readers": "<div aria-hidden=true class=x>", "code": "<code>", "headings": "<h2><div>", "items": "<ul><div>", "definitions": "<dl><div>",
		"line numbers": "<span data-line-number=1 class=ln>", "formulas": "<mjx-container>", "unseen": "<div style='visibility:hidden'>",
		"buttons": "<div role=tab>", "panels": "<button>x?</button><div hidden>", "rows": "<div><b role=button>x</b><div>", "footnotes": "<sup>", "details": "<details>",
	} {
		took := func(depth int) time.Duration {
			page, best := strings.Repeat(open, depth/strings.Count(open, "<"))+"<p>"+strings.Repeat("<b>1</b><br>", 12_000), time.Hour
			for range 2 {
				doc, err := html.Parse(strings.NewReader(page))
				if err != nil {
					t.Fatal(err)
				}
				start := cputime.Used(t)
				Page(doc, nil)
				best = min(best, cputime.Used(t)-start)
			}
			return best
		}
		flat, deep := took(2), took(480)
		if deep > 20*max(flat, 3*time.Millisecond) {
			t.Errorf("%s: %v inside two, %v inside many", name, flat, deep)
		}
	}
}
