package extract

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// richPieces gives the markup that a value's rich text becomes.
func richPieces(t *testing.T, data string) string {
	t.Helper()
	d := &pageData{values: values{alive: func() error { return nil }}}
	v, ok := d.values.json(data)
	if !ok {
		t.Fatalf("no JSON: %s", data)
	}
	d.roots = []root{{v, true}}
	var out []string
	for _, p := range readProse(d, nil).pieces {
		out = append(out, p.html)
	}
	return strings.ReplaceAll(strings.Join(out, " || "), "\n", "")
}

func TestRichTextKeepsItsStructure(t *testing.T) {
	for _, tt := range []struct{ name, data, want string }{
		{"ProseMirror marks", `{"type":"doc","content":[{"type":"paragraph","content":[{"type":"text","text":"A <b> and some words of it, "},{"type":"text","marks":[{"type":"bold"},{"type":"link","attrs":{"href":"/x?a=1&b"}}],"text":"more"},{"type":"hardBreak"},{"type":"text","marks":[{"type":"code"}],"text":"c"}]}]}`,
			`<div><p>A &lt;b&gt; and some words of it, <strong><a href="/x?a=1&amp;b">more</a></strong><br><code>c</code></p></div>`},
		{"lists in lists", `{"type":"doc","content":[{"type":"orderedList","content":[{"type":"listItem","content":[{"type":"paragraph","content":[{"type":"text","text":"one, or first, as some people say"}]},{"type":"bulletList","content":[{"type":"listItem","content":[{"type":"paragraph","content":[{"type":"text","text":"inner"}]}]}]}]}]}]}`,
			`<div><ol><li><p>one, or first, as some people say</p><ul><li><p>inner</p></li></ul></li></ol></div>`},
		{"code", `[{"type":"codeBlock","attrs":{"language":"go"},"content":[{"type":"text","text":"if a < b { return }; x := []int{1, 2, 3}"}]},{"type":"paragraph","content":[{"type":"text","text":"x"}]}]`,
			`<pre><code class="language-go">if a &lt; b { return }; x := []int{1, 2, 3}</code></pre><p>x</p>`},
		{"a table", `{"type":"doc","content":[{"type":"table","content":[{"type":"tableRow","content":[{"type":"tableHeader","content":[{"type":"paragraph","content":[{"type":"text","text":"A head of it, of some words"}]}]}]},{"type":"tableRow","content":[{"type":"tableCell","content":[{"type":"paragraph","content":[{"type":"text","text":"A cell of it, of some words"}]}]}]}]}]}`,
			`<div><table><tr><th><p>A head of it, of some words</p></th></tr><tr><td><p>A cell of it, of some words</p></td></tr></table></div>`},
		{"Portable Text", `[{"_type":"block","style":"h3","children":[{"_type":"span","text":"A heading of some words","marks":[]}]},{"_type":"block","style":"normal","markDefs":[{"_key":"k","_type":"link","href":"/x"}],"children":[{"_type":"span","text":"see","marks":["k","em"]}]},{"_type":"block","listItem":"bullet","level":1,"children":[{"_type":"span","text":"one"}]},{"_type":"block","listItem":"bullet","level":2,"children":[{"_type":"span","text":"two"}]},{"_type":"block","listItem":"number","level":1,"children":[{"_type":"span","text":"three"}]},{"_type":"image","asset":{"url":"/i.png"},"alt":"An image"}]`,
			`<h3>A heading of some words</h3><p><a href="/x"><em>see</em></a></p><ul><li>one</li><ul><li>two</li></ul></ul><ol><li>three</li></ol><p><img src="/i.png" alt="An image"></p>`},
		{"Slate", `[{"type":"paragraph","children":[{"text":"Some words, "},{"text":"bold","bold":true},{"text":" and "},{"type":"link","url":"/x","children":[{"text":"linked"}]}]},{"type":"numbered-list","children":[{"type":"list-item","children":[{"text":"one"}]}]},{"type":"block-quote","children":[{"text":"said"}]}]`,
			`<p>Some words, <strong>bold</strong> and <a href="/x">linked</a></p><ol><li>one</li></ol><blockquote>said</blockquote>`},
		{"Lexical", `{"root":{"type":"root","children":[{"type":"heading","tag":"h1","children":[{"type":"text","text":"A heading of some words"}]},{"type":"list","listType":"number","tag":"ol","children":[{"type":"listitem","children":[{"type":"text","format":3,"text":"one"}]}]},{"type":"paragraph","children":[{"type":"link","url":"/x","children":[{"type":"text","text":"y"}]},{"type":"linebreak"}]}]}}`,
			`<div><h1>A heading of some words</h1><ol><li><strong><em>one</em></strong></li></ol><p><a href="/x">y</a><br></p></div>`},
		{"Draft.js", `{"blocks":[{"type":"header-one","text":"A heading of <i> words","inlineStyleRanges":[]},{"type":"ordered-list-item","text":"one","depth":0},{"type":"ordered-list-item","text":"two","depth":1},{"type":"code-block","text":"x = 1","inlineStyleRanges":[]},{"type":"unstyled","text":"end","inlineStyleRanges":[]}],"entityMap":{}}`,
			`<div><h1>A heading of &lt;i&gt; words</h1><ol><li>one</li><ol><li>two</li></ol></ol><pre><code class="language-">x = 1</code></pre><p>end</p></div>`},
		{"Editor.js", `{"blocks":[{"type":"header","data":{"text":"A heading of some words","level":4}},{"type":"paragraph","data":{"text":"Some &amp; <b>bold</b> words"}},{"type":"list","data":{"style":"ordered","items":[{"content":"one","items":[{"content":"two","items":[]}]}]}},{"type":"delimiter","data":{}},{"type":"code","data":{"code":"a < b"}},{"type":"image","data":{"file":{"url":"/i.png"},"caption":"C"}}]}`,
			`<h4>A heading of some words</h4><p>Some &amp; <b>bold</b> words</p><ol><li>one<ol><li>two</li></ol></li></ol><hr><pre><code class="language-">a &lt; b</code></pre><p><img src="/i.png" alt="C"></p>`},
		{"mdast", `{"type":"root","children":[{"type":"heading","depth":2,"children":[{"type":"text","value":"A heading of some words"}]},{"type":"paragraph","children":[{"type":"emphasis","children":[{"type":"text","value":"em"}]},{"type":"inlineCode","value":"c<d"},{"type":"link","url":"/x","children":[{"type":"text","value":"y"}]}]},{"type":"list","ordered":true,"children":[{"type":"listItem","children":[{"type":"paragraph","children":[{"type":"text","value":"one"}]}]}]},{"type":"code","lang":"go","value":"x := 1"},{"type":"thematicBreak"}]}`,
			`<div><h2>A heading of some words</h2><p><em>em</em><code>c&lt;d</code><a href="/x">y</a></p><ol><li><p>one</p></li></ol><pre><code class="language-go">x := 1</code></pre><hr></div>`},
		{"hast", `{"type":"root","children":[{"type":"element","tagName":"p","properties":{"className":["a","b"],"onClick":"x()"},"children":[{"type":"text","value":"Some words, and then some of the "},{"type":"element","tagName":"a","properties":{"href":"/x"},"children":[{"type":"text","value":"more"}]},{"type":"element","tagName":"script","children":[{"type":"text","value":"SECRET"}]}]}]}`,
			`<div><p class="a b">Some words, and then some of the <a href="/x">more</a></p></div>`},
		{"React", `["$","div",null,{"children":[["$","p","k",{"style":{"fontSize":12,"display":"none"},"onClick":"$F1","children":["Some words, all in a line, ",["$","br",null,{}],3,["$","$L5",null,{"children":"and more"}]]}],["$","img",null,{"src":"/i.png","alt":"An \"i\""}]]}]`,
			`<div><p style="font-size:12;display:none;">Some words, all in a line, <br>3<div>and more</div></p><img src="/i.png" alt="An &#34;i&#34;"></div>`},
		{"a component of the site's own", `[{"type":"paragraph","content":[{"type":"text","text":"Some words, and then some more of them."}]},{"type":"weatherMap","data":{"id":3}},{"type":"factBox","html":"<p>A fact, or two of them, or even three.</p>"},{"type":"paragraph","content":[{"type":"text","text":"end"}]}]`,
			`<p>Some words, and then some more of them.</p><div><p>A fact, or two of them, or even three.</p></div><p>end</p>`},
		{"what is hidden", `[{"type":"paragraph","content":[{"type":"text","text":"Some words, and then some more of them."}]},{"type":"paragraph","hidden":true,"content":[{"type":"text","text":"SECRET"}]}]`,
			`<p>Some words, and then some more of them.</p>`},
		{"no rich text", `[{"type":"text","name":"email","label":"Your address, please."},{"type":"checkbox","text":"I do, and I will."},{"type":"link","text":"Home","url":"/"}]`, ``},
	} {
		if diff := cmp.Diff(tt.want, richPieces(t, tt.data)); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}
