package extract

import (
	"context"
	"strings"
	"testing"

	"sift.build/sift/internal/sift"
)

func embedded(t *testing.T, page string) (EmbeddedDocument, bool) {
	t.Helper()
	e, ok, err := Embedded(context.Background(), Input{Body: []byte(page), URL: "https://news.example/2024/bridge-reopens", ContentType: "text/html; charset=utf-8"})
	if err != nil {
		t.Fatal(err)
	}
	return e, ok
}

const (
	bridge1 = "The east bridge reopened at dawn after nine weeks of work, and the first to cross were cyclists on their way to the market."
	bridge2 = "The milk lorry followed them, and behind it a queue of cars that reached back to the mill. Nobody minded waiting, said the mayor."
	bridge3 = "The repair cost more than was planned. Two of the piers had to be built anew, since the river had washed out what they stood on."
)

func TestTextOfAShellComesFromItsData(t *testing.T) {
	quote := func(s string) string { return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) }
	htmlBody := "<h2>Cyclists first</h2><p>" + bridge1 + "</p><p>" + bridge2 + "</p><p>" + bridge3 + "</p>"
	for _, tt := range []struct{ name, page, from string }{
		{"json-ld", `<title>Bridge reopens</title><script type="application/ld+json">{"@type":"NewsArticle","headline":"Bridge reopens","articleBody":"` + bridge1 + `\n\n` + bridge2 + `\n` + bridge3 + `"}</script><div id=app></div>`, "json-ld"},
		{"next", `<div id="__next"></div><script id="__NEXT_DATA__" type="application/json">{"props":{"pageProps":{"article":{"title":"Bridge reopens","slug":"bridge-reopens","body":"` + quote(htmlBody) + `","author":{"name":"Ann Weir"},"publishedAt":"2024-05-01T07:00:00Z"},"related":[{"title":"Other","body":"<p>` + strings.Repeat("Another story altogether. ", 40) + `</p>"}]}},"page":"/[slug]"}</script>`, "state"},
		{"state", `<div id="root"></div><script>window.__INITIAL_STATE__ = {"post":{"title":"Bridge reopens","content":"` + quote(htmlBody) + `","author":"Ann Weir","date":1714546800}};</script>`, "state"},
		{"parse", `<div id="root"></div><script>window.__PRELOADED_STATE__=JSON.parse("` + quote(`{"post":{"title":"Bridge reopens","content":"`+quote(htmlBody)+`"}}`) + `")</script>`, "state"},
		{"nuxt2", `<div id="__nuxt"></div><script>window.__NUXT__=(function(a,b,c){return {layout:"default",data:[{post:{title:a,body:b,draft:!1,x:void 0,n:c}}],error:null}}("Bridge reopens","` + quote(htmlBody) + `",null));</script>`, "state"},
		{"nuxt3", `<div id="__nuxt"></div><script type="application/json" id="__NUXT_DATA__">[["ShallowReactive",1],{"data":2,"state":6},["ShallowReactive",3],{"post":4},{"title":5,"body":7,"author":8},"Bridge reopens",["Reactive",9],"` + quote(htmlBody) + `","Ann Weir",{}]</script>`, "state"},
		{"flight", `<script>self.__next_f.push([0])</script><script>self.__next_f.push([1,"1:I[123,[],\"default\"]\n0:[\"$\",\"main\",null,{\"children\":[[\"$\",\"h1\",null,{\"children\":\"Bridge reopens\"}],[\"$\",\"p\",null,{\"children\":\"` + bridge1 + `\"}],[\"$\",\"p\",null,{\"children\":\"` + bridge2 + `\"}]"])</script><script>self.__next_f.push([1,",[\"$\",\"p\",null,{\"children\":\"` + bridge3 + `\"}]]}]\n"])</script>`, "state"},
		{"inertia", `<div id="app" data-page="{&quot;component&quot;:&quot;Post&quot;,&quot;props&quot;:{&quot;post&quot;:{&quot;title&quot;:&quot;Bridge reopens&quot;,&quot;body&quot;:&quot;&lt;p&gt;` + bridge1 + `&lt;/p&gt;&lt;p&gt;` + bridge2 + `&lt;/p&gt;&lt;p&gt;` + bridge3 + `&lt;/p&gt;&quot;}}}"></div>`, "state"},
		{"noscript", `<head><noscript><style>x</style></noscript><noscript><p>Please enable JavaScript to read this.</p><h1>Bridge reopens</h1><p>` + bridge1 + `</p><p>` + bridge2 + `</p><p>` + bridge3 + `</p></noscript></head><div id=app></div>`, "noscript"},
		{"apollo", `<script>window.__APOLLO_STATE__={"Paragraph:1":{"__typename":"Paragraph","text":"` + bridge1 + `","type":"P"},"Paragraph:2":{"text":"` + bridge2 + `","type":"P"},"Paragraph:3":{"text":"` + bridge3 + `","type":"P"},"Post:1":{"title":"Bridge reopens","creator":{"__ref":"User:1"},"content({\"x\":1})":{"bodyModel":{"paragraphs":[{"__ref":"Paragraph:1"},{"__ref":"Paragraph:2"},{"__ref":"Paragraph:3"}]}}},"User:1":{"name":"Ann Weir"},"ROOT_QUERY":{"post({\"id\":1})":{"__ref":"Post:1"}}}</script>`, "state"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e, ok := embedded(t, tt.page)
			if !ok {
				t.Fatal("nothing was found")
			}
			text := plainText(e.Document.Main)
			t.Logf("%s|%s|%s|%s\n%s", e.From, e.Document.Title, e.Document.Author, e.Document.Published, text)
			if e.From != tt.from {
				t.Errorf("from %s", e.From)
			}
			for _, want := range []string{bridge1, bridge2, bridge3} {
				if !strings.Contains(squash(text), squash(want)) {
					t.Errorf("lacks %q", want)
				}
			}
			if strings.Contains(text, "Another story") || strings.Contains(text, "JavaScript") {
				t.Error("has what is not of the page")
			}
			if e.Document.Title != "Bridge reopens" {
				t.Errorf("title %q", e.Document.Title)
			}
		})
	}
}

var _ = sift.KindHTML
