package render

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What a person wrote down for each piece of a page, as sites write it.
func TestPiecesOfPagesComeOutAsAReaderSeesThem(t *testing.T) {
	for _, c := range []struct{ name, page, want string }{
		// Lists
		{"a list that counts down", `<ol reversed><li>Three<li>Two<li>One</ol>`, "3. Three\n2. Two\n1. One"},
		{"a list that counts down from a number", `<ol reversed start=10><li>a<li>b</ol>`, "10. a\n9. b"},
		{"a list that begins below nothing", `<ol start="-1"><li>a<li>b<li>c</ol>`, "−1. a\n\n0. b\n1. c"},
		{"numbers that jump", `<ol start=5><li>five<li value=9>nine<li>ten</ol>`, "5. five\n9. nine\n10. ten"},
		{"a list that goes on behind a paragraph", `<ol><li>a<li>b</ol><p>x</p><ol start=3><li>c</ol>`, "1. a\n2. b\n\nx\n\n3. c"},
		{"letters that the text refers to", `<p>Terms:</p><ol type=a><li>the fee;<li>the key:<ol type=i><li>big<li>small</ol></ol><p>Where (b) fails</p>`,
			"Terms:\n\na. the fee;\n\nb. the key:\n\ni. big\n\nii. small\n\nWhere (b) fails"},
		{"capital letters past Z", `<ol type=A start=26><li>x<li>y</ol>`, "Z. x\n\nAA. y"},
		{"Roman numbers", `<ol type=I start=9><li>x<li>y</ol>`, "IX. x\n\nX. y"},
		{"mixed and nested", `<ul><li>One<ol><li>First<li>Second<ul><li>deep</ul></ol><li>Two</ul>`, "- One\n  1. First\n  2. Second\n     - deep\n- Two"},
		{"a list right inside a list", `<ul><li>a</li><ul><li>b</li></ul><li>c</li></ul>`, "- a\n  - b\n- c"},
		{"an item of blocks", "<ol><li><p>One.</p><p>Two.</p><pre><code class=language-sh>ls\n</code></pre></li><li>Next</li></ol>", "1. One.\n\n   Two.\n\n   ```sh\n   ls\n   ```\n2. Next"},
		{"tasks with labels and sub-tasks", `<ul><li><input type=checkbox checked disabled> Done<li><label><input type=checkbox> Open</label><ul><li><input type=checkbox checked>Sub</ul></ul>`,
			"- [x] Done\n- [ ] Open\n  - [x] Sub"},
		{"definitions", `<dl><dt>Key</dt><dd>Val</dd><dt>K2</dt><dd>V2<ul><li>n</ul></dd></dl>`, "**Key**\n- Val\n\n**K2**\n- V2\n  - n"},

		// Tables
		{"a head of two rows", `<table><thead><tr><th rowspan=2>Name<th colspan=2>Cost</tr><tr><th>Net<th>Gross</tr></thead><tr><td>A<td>1<td>2</table>`,
			"| Name | Cost |  |\n| --- | --- | --- |\n|  | Net | Gross |\n| A | 1 | 2 |"},
		{"a head behind the body", `<table><tbody><tr><td>a<td>b</tbody><thead><tr><th>H<th>I</thead></table>`, "| H | I |\n| --- | --- |\n| a | b |"},
		{"a foot in front of the body", `<table><thead><tr><th>H<th>I</thead><tfoot><tr><td>sum<td>1</tfoot><tbody><tr><td>a<td>1</tbody></table>`, "| H | I |\n| --- | --- |\n| a | 1 |\n| sum | 1 |"},
		{"a caption", `<table><caption>Prices</caption><tr><th>H<th>I<tr><td>a<td>b</table>`, "Prices\n\n| H | I |\n| --- | --- |\n| a | b |"},
		{"bars, breaks and lists in cells", `<table><tr><th>a|b<th>I<tr><td>x<br>y<td><ul><li>p<li>q</ul></table>`, "| a\\|b | I |\n| --- | --- |\n| x<br>y | - p<br>- q |"},
		{"code in cells", "<table><tr><th>H<th>I<tr><td><code>a||b</code><td><pre>x | y\nz</pre></table>", "| H | I |\n| --- | --- |\n| `a\\|\\|b` | `x \\| y`<br>`z` |"},
		{"a table in a table", `<table><tr><th>H<th>I<tr><td>a<td><table><tr><td>1<td>2<tr><td>3<td>4</table></table>`, "| H | I |\n| --- | --- |\n| a | 1 2<br>3 4 |"},
		{"a table that lays a page out", `<table><tr><td><h2>Side</h2><p>x</p></td><td><p>One.</p><p>Two.</p></td></tr></table>`, "## Side\n\nx\n\nOne.\n\nTwo."},
		{"a picture in a cell", `<table><tr><th>H<th>I<tr><td><img src="/a.png" alt="x|y"><td>b</table>`, "| H | I |\n| --- | --- |\n| ![x\\|y](https://example.com/a.png) | b |"},

		// Code
		{"Sphinx", `<div class="highlight-python notranslate"><div class="highlight"><pre><span></span><span class="gp">&gt;&gt;&gt; </span><span class="nb">print</span>(1)` + "\n" + `<span class="go">1</span>` + "\n</pre></div></div>",
			"```python\n>>> print(1)\n1\n```"},
		{"Rouge", `<div class="language-bash highlighter-rouge"><div class="highlight"><pre class="highlight"><code><span class="nv">$ </span>ls</code></pre></div></div>`, "```bash\n$ ls\n```"},
		{"GitHub", `<div class="highlight highlight-source-js"><pre><span class="pl-k">const</span> a = "&lt;b&gt;"</pre><div class="zeroclipboard-container"><clipboard-copy value="x"><svg></svg></clipboard-copy></div></div>`, "```js\nconst a = \"<b>\"\n```"},
		{"Docusaurus", `<div class="language-jsx theme-code-block"><pre class="prism-code language-jsx"><code><span class="token-line"><span class="token plain">a {</span><br></span><span class="token-line"><span class="token plain" style="display:inline-block"></span><br></span><span class="token-line"><span class="token plain">}</span><br></span></code></pre><button class="clean-btn">Copy</button></div>`,
			"```jsx\na {\n\n}\n```"},
		{"Shiki", "<pre class=\"shiki\"><code><span class=\"line\">a</span>\n<span class=\"line\"></span>\n<span class=\"line\">b</span></code></pre>", "```\na\n\nb\n```"},
		{"Prism's toolbar", `<div class="code-toolbar"><pre class="language-ts"><code class="language-ts">a</code></pre><div class="toolbar"><div class="toolbar-item"><span>TypeScript</span></div><div class="toolbar-item"><button>Copy</button></div></div></div>`, "```ts\na\n```"},
		{"a head that names the language", `<div class="code-block"><div class="code-header"><span>Python</span><button>Copy code</button></div><pre><code>x</code></pre></div>`, "```python\nx\n```"},
		{"a head that repeats the language", `<div><div class="flex">python</div><pre><code class="language-python">x</code></pre></div>`, "```python\nx\n```"},
		{"a file's name is kept", `<div class="code-block"><div class="code-header">main.py</div><pre><code>x</code></pre></div>`, "main.py\n\n```\nx\n```"},
		{"a paragraph is no head", `<p>Go</p><pre><code>x</code></pre>`, "Go\n\n```\nx\n```"},
		{"code with lines but no pre", "<div><code class=\"language-python whitespace-pre!\"><span>a = 1\nb = 2\n</span></code></div>", "```python\na = 1\nb = 2\n```"},
		{"a fence in code", "<pre><code>```\nx\n```</code></pre>", "````\n```\nx\n```\n````"},
		{"backticks in code", "<p><code>a`b``c</code> <code>`x`</code></p>", "```a`b``c``` `` `x` ``"},

		// Formulas
		{"KaTeX without MathML", `<p>K <span class="katex"><span class="katex-html" aria-hidden="true">x2</span></span></p>`, "K x2"},
		{"KaTeX with its source in an attribute", `<p>K <span class="katex" data-tex="a^2"><span class="katex-html" aria-hidden="true">a2</span></span></p>`, "K $a^2$"},
		{"MathJax that draws, with its source", `<p>S <mjx-container class="MathJax" jax="SVG"><svg data-latex="\int x\,dx"><g></g></svg></mjx-container></p>`, `S $\int x\,dx$`},
		{"a formula of an editor", `<p>Q <span class="ql-formula" data-value="e^x">ex</span></p>`, "Q $e^x$"},

		// Headings
		{"a permalink's signs", `<h2>A <a href="#a">¶</a></h2><h2 id=b>B<a class="headerlink" href="#b">#</a></h2><h3>C <a href="#c">🔗</a></h3><h3>D <span class="anchor">#</span></h3>`, "## A\n\n## B\n\n### C\n\n### D"},
		{"links to an editor", `<h2>A<span class="e">[<a href="/w?title=A&amp;action=edit">edit source</a>]</span></h2><h2>B <a href="/b/edit">Edit</a></h2><h2>C [<a href="?edit=3">編集</a>]</h2>`, "## A\n\n## B\n\n## C"},
		{"a heading that is a link to an editor's page", `<h2><a href="/edit">Edit</a></h2><h3>How to <a href="/help/edit-pages">edit pages</a></h3>`, "## [Edit](https://example.com/edit)\n\n### How to [edit pages](https://example.com/help/edit-pages)"},
		{"a button to copy its address", `<h2>Config <button class="copy-link">Copy link</button></h2>`, "## Config"},
		{"a button that is the heading", `<h3><button aria-expanded="false">What is it?</button></h3>`, "### What is it?"},
		{"headings by role", `<div role=heading aria-level=2>A</div><span role=heading aria-level=3>B</span>`, "## A\n\n### B"},
		{"signs that belong to the text", `<h2>C# and F#</h2><h2>#1 in §3</h2>`, "## C# and F#\n\n## #1 in §3"},

		// Notes
		{"Word", `<p>X<a href="#_ftn1" name="_ftnref1">[1]</a> y</p><p><a href="#_ftnref1" name="_ftn1">[1]</a> Note</p>`, "X[^1] y\n\n[^1]: Note"},
		{"Sphinx's notes", `<p>S <a class="footnote-reference brackets" href="#id2" id="id1" role="doc-noteref"><span class="fn-bracket">[</span>1<span class="fn-bracket">]</span></a></p><aside class="footnote brackets" id="id2" role="doc-footnote"><span class="label"><span class="fn-bracket">[</span><a role="doc-backlink" href="#id1">1</a><span class="fn-bracket">]</span></span><p>Note.</p></aside>`,
			"S [^1]\n\n[^1]: Note."},
		{"WordPress", `<p>W<sup data-fn="abc" class="fn"><a href="#abc" id="abc-link">1</a></sup></p><ol class="wp-block-footnotes"><li id="abc">Note <a href="#abc-link">↩︎</a></li></ol>`, "W[^1]\n\n[^1]: Note"},
		{"Hugo", `<p>W<sup id="fnref:1"><a href="#fn:1" class="footnote-ref" role="doc-noteref">1</a></sup></p><div class="footnotes"><ol><li id="fn:1"><p>Note&#160;<a href="#fnref:1" class="footnote-backref" role="doc-backlink">↩︎</a></p></li></ol></div>`, "W[^1]\n\n[^1]: Note"},
		{"Pandoc", `<p>W<a href="#fn1" class="footnote-ref" id="fnref1" role="doc-noteref"><sup>1</sup></a>.</p><section class="footnotes" role="doc-endnotes"><ol><li id="fn1"><p>Note<a href="#fnref1" class="footnote-back" role="doc-backlink">↩︎</a></p></li></ol></section>`, "W[^1].\n\n[^1]: Note"},
		{"a citation in brackets", `<p>T<sup>[<a href="#cite_note-1">1</a>]</sup> x</p><ol class="references"><li id="cite_note-1">Note</li></ol>`, "T[^1] x\n\n[^1]: Note"},
		{"notes in the margin", `<p>A<label for=s class="margin-toggle"></label><input type=checkbox id=s class="margin-toggle"><span class="sidenote">Side.</span> b</p>`, "A (Side.) b"},

		// The rest
		{"an accordion of short questions", `<div><button aria-expanded=false aria-controls=a1>Rye?</button><div id=a1 role=region style="display:none"><p>Thursdays.</p></div></div>`, "Rye?\n\nThursdays."},
		{"a part that is visible again", `<p>a</p><div style="visibility:hidden">secret<img src="/x.png" alt="secret"><p style="visibility:visible">Seen.</p></div>`, "a\n\nSeen."},
		{"a link that only screen readers can name", `<p>a <a href="/x"><svg></svg><span class="sr-only">Cats</span></a></p>`, "a [Cats](https://example.com/x)"},
		{"ruby", `<p><ruby>東京<rp>(</rp><rt>とうきょう</rt><rp>)</rp></ruby>へ</p>`, "東京(とうきょう)へ"},
		{"changes", `<p><del>old</del> <ins>new</ins> H<sub>2</sub>O 10<sup>-3</sup> 1<sup>st</sup> <kbd>Ctrl</kbd>+<kbd>C</kbd></p>`, "~~old~~ new H<sub>2</sub>O 10<sup>-3</sup> 1st `Ctrl`+`C`"},
		{"line breaks of the source", "<p>日本語の\n文章\nHello\nworld</p>", "日本語の文章 Hello world"},
		{"marks of a page of a PDF that it is not", "<p>&lt;!-- page 3 --&gt;</p><p>[page 3]</p>", "\\<!-- page 3 -->\n\n\\[page 3]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(c.want, markdownOf(t, "<!doctype html><body>"+c.page)); d != "" {
				t.Errorf("%s\n(-want +got)\n%s", c.page, d)
			}
		})
	}
}
