package normalize

import "testing"

func TestPiecesThatAStyleSheetKeepsApartHaveASpaceBetweenThem(t *testing.T) {
	for _, c := range [][2]string{
		{`<p><span class="time">00:12</span><span class="speaker">Host</span>Who opens?</p>`, `<p><span class="time">00:12</span> <span class="speaker">Host</span> Who opens?</p>`},
		{`<p><a class="author">Ann</a><time>2 May</time><span class="read">5 min</span></p>`, `<p><span class="author">Ann</span> <time>2 May</time> <span class="read">5 min</span></p>`},
		{`<h1><span class="descriptor">Title:</span>On kilns</h1>`, `<h1><span class="descriptor">Title:</span> On kilns</h1>`},
		{`<p><strong>Host:</strong>Welcome</p>`, `<p><strong>Host:</strong> Welcome</p>`},
		{`<td><code>zone</code><span class="required">required</span></td>`, `<code>zone</code> <span class="required">required</span>`},
		{`<blockquote><cite>tarn wrote, at 9:00 am</cite>did it?</blockquote>`, `<blockquote><cite>tarn wrote, at 9:00 am</cite> did it?</blockquote>`},
		// Parts of one word, of code and of formulas stay together.
		{`<p><span class="dropcap">T</span>he kiln</p>`, `<p><span class="dropcap">T</span>he kiln</p>`},
		{`<p>un<em class="highlight">believ</em>able</p>`, `<p>un<em class="highlight">believ</em>able</p>`},
		{`<p><em class="hl">foo</em><em class="hl">bar</em></p>`, `<p><em class="hl">foo</em><em class="hl">bar</em></p>`},
		{`<p><span class="l">K</span><span class="l">i</span></p>`, `<p><span class="l">K</span><span class="l">i</span></p>`},
		{`<p><code><span class="k">int</span><span class="n">x</span></code></p>`, `<p><code><span class="k">int</span><span class="n">x</span></code></p>`},
		{`<p><b>bold</b><i>er</i></p>`, `<p><strong>bold</strong><em>er</em></p>`},
		{`<p><span class="sig-prename">kiln.</span><span class="sig-name">Ramp</span><span class="p">(</span></p>`, `<p><span class="sig-prename">kiln.</span><span class="sig-name">Ramp</span><span class="p">(</span></p>`},
		{`<p><span class="a">登り</span><span class="b">窯の話</span></p>`, `<p><span class="a">登り</span><span class="b">窯の話</span></p>`},
	} {
		if got, _ := normal(t, c[0]); got != c[1] {
			t.Errorf("%s\n got %s\nwant %s", c[0], got, c[1])
		}
	}
}

func TestLinksThatOnlyLeadToWhereTheyStandGo(t *testing.T) {
	for _, c := range [][2]string{
		{`<h2 id="a">One</h2><a class="anchor-link" href="#a"><span>Section titled One</span></a><p>x</p>`, `<h2 id="a">One</h2><p>x</p>`},
		{`<h2>Two</h2><a class="anchor" href="#b">#</a>`, `<h2 id="b">Two</h2>`},
		{`<p><span>rate</span><a class="anchor field" href="#f">§</a></p>`, `<p><span>rate</span></p>`},
		{`<p>See <a class="anchor" href="#f">the fields</a>.</p>`, `<p>See <a class="anchor" href="https://example.com/docs/guide/page.html#f">the fields</a>.</p>`},
		{`<h2 id="c">Three</h2><p><a href="#top">Up</a></p>`, `<h2 id="c">Three</h2><p><a href="https://example.com/docs/guide/page.html#top">Up</a></p>`},
	} {
		if got, _ := normal(t, c[0]); got != c[1] {
			t.Errorf("%s\n got %s\nwant %s", c[0], got, c[1])
		}
	}
}

func TestLinesOfCodeComeWithoutNumbersAndWithTheMarksOfAChange(t *testing.T) {
	for _, c := range [][2]string{
		{`<table class="code-table"><tr><td>1</td><td class="src">a();</td></tr><tr><td>2</td><td class="src">  b();</td></tr></table>`, "<pre class=\"code-table\"><code>a();\n  b();</code></pre>"},
		{`<table class="diff-table"><tr><td class="blob-num">4</td><td class="blob-code"><span class="blob-code-inner" data-code-marker="-">old</span></td></tr><tr><td class="blob-num">4</td><td class="blob-code"><span class="blob-code-inner" data-code-marker="+">new</span></td></tr></table>`,
			"<pre class=\"diff-table\" data-lang=\"diff\"><code>-old\n+new</code></pre>"},
		// A table of numbers is none.
		{`<table><tr><td>1</td><td>Ash</td></tr><tr><td>2</td><td>Elm</td></tr></table>`, `<table><tbody><tr><td>1</td><td>Ash</td></tr><tr><td>2</td><td>Elm</td></tr></tbody></table>`},
	} {
		if got, _ := normal(t, c[0]); got != c[1] {
			t.Errorf("%s\n got %s\nwant %s", c[0], got, c[1])
		}
	}
}
