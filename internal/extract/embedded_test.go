package extract

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"sift.build/sift/internal/dom"
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

type frameworkPage struct{ name, page, from string }

// inJSON writes a text as it stands between the quotation marks of JSON.
func inJSON(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b[1 : len(b)-1])
}

// frameworkPages are shells as frameworks and content systems serve them. Each
// holds the three sentences of the bridge under the title "Bridge reopens", and
// many hold other text beside it, which has the word "elsewhere" in it.
func frameworkPages() []frameworkPage {
	htmlBody := "<h2>Cyclists first</h2>\n<p>" + bridge1 + "</p><p>" + bridge2 + "</p><p>" + bridge3 + "</p>"
	other := strings.Repeat("Another story happened elsewhere, and it is long. ", 12)
	wixLike := strings.Repeat("Please choose {count} of them elsewhere, and then press the button to go on. ", 20)
	fill := strings.NewReplacer("§1", bridge1, "§2", bridge2, "§3", bridge3, "§HTML", inJSON(htmlBody), "§HTWICE", inJSON(inJSON(htmlBody)),
		"§OTHER", other, "§UI", wixLike, "§ATTR", html.EscapeString(inJSON(htmlBody)),
		"§MARKDOWN", inJSON("## Cyclists first\n\n"+bridge1+"\n\n"+bridge2+"\n\n"+bridge3+"\n"))
	next := func(props string) string {
		return `<!doctype html><html><head><title>Bridge reopens | The Example</title></head><body><div id="__next"></div><script id="__NEXT_DATA__" type="application/json">{"props":{"pageProps":` + props + `},"page":"/[slug]","buildId":"x"}</script></body></html>`
	}
	app := func(script string) string {
		return `<!doctype html><html><head><title>The Example</title><meta property="og:site_name" content="The Example"></head><body><div id="root"></div><script>` + script + `</script></body></html>`
	}
	pages := []frameworkPage{
		// schema.org
		{"an article", `<title>Bridge reopens</title><script type="application/ld+json">{"@type":"NewsArticle","headline":"Bridge reopens","articleBody":"§1\n\n§2\n§3"}</script><div id=app></div>`, "json-ld"},
		{"an article with HTML", `<script type="application/ld+json">{"@type":"BlogPosting","headline":"Bridge reopens","articleBody":"§HTML"}</script>`, "json-ld"},
		{"an article with escaped HTML", `<script type="application/ld+json">{"@type":"Article","headline":"Bridge reopens","articleBody":"&lt;p&gt;§1&lt;/p&gt;&lt;p&gt;§2&lt;/p&gt;&lt;p&gt;§3&lt;/p&gt;"}</script>`, "json-ld"},
		{"an article in a graph", `<script type="application/ld+json">{"@graph":[{"@type":"WebSite","name":"The Example","description":"§OTHER"},{"@type":"WebPage","mainEntity":{"@type":"Article","headline":"Bridge reopens","articleBody":["§1","§2","§3"]}}]}</script>`, "json-ld"},
		{"a forum thread", `<script type="application/ld+json">{"@type":"DiscussionForumPosting","headline":"Bridge reopens","text":"§1","comment":[{"@type":"Comment","text":"§2","author":{"name":"Sam Lock"}},{"@type":"Comment","text":"§3"}]}</script>`, "json-ld"},
		{"questions", `<script type="application/ld+json">{"@type":"QAPage","mainEntity":{"@type":"Question","name":"Bridge reopens","text":"§1","acceptedAnswer":{"@type":"Answer","text":"§2"},"suggestedAnswer":[{"@type":"Answer","text":"<p>§3</p>"}]}}</script>`, "json-ld"},
		{"a recipe", `<script type="application/ld+json">{"@type":"Recipe","name":"Bridge reopens","recipeIngredient":["flour","milk"],"recipeInstructions":[{"@type":"HowToSection","name":"First","itemListElement":[{"@type":"HowToStep","text":"§1"},{"@type":"HowToStep","text":"§2"}]},{"@type":"HowToStep","text":"§3"}]}</script>`, "json-ld"},
		{"a product", `<script type="application/ld+json">{"@type":"Product","name":"Bridge reopens","description":"§1 §2 §3","brand":{"name":"Weir"},"sku":123,"offers":{"price":19.5,"priceCurrency":"EUR"}}</script>`, "json-ld"},
		{"a live blog", `<script type="application/ld+json">{"@type":"LiveBlogPosting","headline":"Bridge reopens","liveBlogUpdate":[{"headline":"Dawn","articleBody":"§1"},{"articleBody":"§2"},{"articleBody":"§3"}]}</script>`, "json-ld"},
		{"a job", `<script type="application/ld+json">{"@type":"JobPosting","title":"Bridge reopens","description":"<p>§1</p><p>§2</p>","qualifications":"§3"}</script>`, "json-ld"},

		// State of frameworks
		{"Next.js", next(`{"article":{"title":"Bridge reopens","slug":"bridge-reopens","body":"§HTML","author":{"name":"Ann Weir","bio":"§OTHER"},"publishedAt":"2024-05-01T07:00:00Z"},"related":[{"title":"Other","body":"<p>§OTHER</p>"}],"footer":{"text":"§OTHER"}}`), "state"},
		{"Next.js among others", next(`{"posts":[{"title":"Other","slug":"other","body":"<p>§OTHER</p>"},{"title":"Bridge reopens","slug":"bridge-reopens","body":"§HTML"},{"title":"More","slug":"more","body":"<p>§OTHER</p>"}]}`), "state"},
		{"Next.js with translations", next(`{"_nextI18Next":{"initialI18nStore":{"en":{"common":{"cookies":"§OTHER","a":"§UI"}}}},"messages":{"a.b":"§OTHER","c":"§UI"},"post":{"headline":"Bridge reopens","content":"§HTML"}}`), "state"},
		{"Next.js with Markdown", next(`{"post":{"title":"Bridge reopens","content":"§MARKDOWN"}}`), "state"},
		{"Next.js flight", `<title>Bridge reopens</title><script>self.__next_f=self.__next_f||[];self.__next_f.push([0])</script><script>self.__next_f.push([1,"1:I[123,[],\"default\"]\n2:HL[\"/a.css\",\"style\"]\n0:[\"$\",\"main\",null,{\"children\":[[\"$\",\"h1\",null,{\"children\":\"Bridge reopens\"}],[\"$\",\"p\",null,{\"className\":\"a\",\"children\":\"§1\"}],[\"$\",\"p\",null,{\"children\":\"§2\"}]"])</script><script>self.__next_f.push([1,",[\"$\",\"$L1\",null,{\"children\":[\"$\",\"p\",null,{\"children\":\"§3\"}]}]]}]\n"])</script>`, "state"},
		{"Next.js flight with a text row", `<title>Bridge reopens</title><script>self.__next_f.push([1,"1:[\"$\",\"$L9\",null,{\"post\":{\"title\":\"Bridge reopens\",\"content\":\"$2\"}}]\n2:T` + hexLen(htmlBody) + `,§HTML"])</script>`, "state"},
		{"Nuxt 2", app(`window.__NUXT__=(function(a,b,c){a.x=1;return {layout:"default",data:[{post:{title:a,body:b,draft:!1,x:void 0,n:c}}],error:null,state:{i18n:{x:"§OTHER"}}}}("Bridge reopens","§HTML",null));`), "state"},
		{"Nuxt 3", `<title>Bridge reopens</title><div id="__nuxt"></div><script type="application/json" data-nuxt-data="nuxt-app" id="__NUXT_DATA__">[["ShallowReactive",1],{"data":2,"state":6},["ShallowReactive",3],{"post":4},{"title":5,"body":7,"author":8,"date":10},"Bridge reopens",["Reactive",9],"§HTML","Ann Weir",{},["Date","2024-05-01T07:00:00.000Z"]]</script>`, "state"},
		{"Nuxt Content", `<title>Bridge reopens</title><script type="application/json" id="__NUXT_DATA__">[{"data":1},{"page":2},{"title":3,"body":4},"Bridge reopens",{"type":5,"children":6},"root",[7,12,17],{"type":8,"tag":9,"children":10},"element","p",[11],{"type":22,"value":23},{"type":8,"tag":9,"children":13},[14],{"type":22,"value":24},0,0,{"type":8,"tag":9,"children":18},[19],{"type":22,"value":25},0,0,"text","§1","§2","§3"]</script>`, "state"},
		{"Redux", app(`window.__INITIAL_STATE__ = {"post":{"title":"Bridge reopens","content":"§HTML","author":"Ann Weir","date":1714546800},"ui":{"labels":{"a":"§OTHER"}}};(function(){var s;s=document.currentScript;s.remove()}());`), "state"},
		{"a string to parse", app(`window.__PRELOADED_STATE__=JSON.parse("{\"post\":{\"title\":\"Bridge reopens\",\"content\":\"§HTWICE\"}}")`), "state"},
		{"an encoded string to parse", app(`window.__STATE__=JSON.parse(decodeURIComponent("%7B%22post%22%3A%7B%22title%22%3A%22Bridge%20reopens%22%2C%22content%22%3A%22%3Cp%3E§1%3C%2Fp%3E%3Cp%3E§2%3C%2Fp%3E%3Cp%3E§3%3C%2Fp%3E%22%7D%7D"))`), "state"},
		{"Apollo", app(`window.__APOLLO_STATE__={"Paragraph:1":{"__typename":"Paragraph","text":"§1","type":"P"},"Paragraph:2":{"text":"§2","type":"P"},"Paragraph:3":{"text":"§3","type":"P"},"Post:2":{"title":"Other","previewContent":{"subtitle":"§OTHER"}},"Post:1":{"title":"Bridge reopens","creator":{"__ref":"User:1"},"content({\"x\":1})":{"bodyModel":{"paragraphs":[{"__ref":"Paragraph:1"},{"__ref":"Paragraph:2"},{"__ref":"Paragraph:3"}]}}},"User:1":{"name":"Ann Weir"},"ROOT_QUERY":{"post({\"id\":1})":{"__ref":"Post:1"}}}`), "state"},
		{"SvelteKit", `<title>Bridge reopens</title><script>{__sveltekit_x={base:""};const element=document.currentScript.parentElement;const data=[null,{type:"data",data:{post:{title:"Bridge reopens",html:"§HTML"}},uses:{}}];Promise.all([import("/a.js")]).then(([kit,app])=>{kit.start(app,element,{node_ids:[0,2],data,form:null,error:null})});}</script>`, "state"},
		{"SvelteKit fetched", `<title>Bridge reopens</title><script type="application/json" data-sveltekit-fetched data-url="/api">{"status":200,"statusText":"","headers":{},"body":"{\"post\":{\"title\":\"Bridge reopens\",\"html\":\"§HTWICE\"}}"}</script>`, "state"},
		{"Remix", app(`window.__remixContext = {"url":"/","state":{"loaderData":{"root":{"ENV":{"A":"§OTHER"}},"routes/$slug":{"post":{"title":"Bridge reopens","html":"§HTML"}}},"actionData":null,"errors":null}};`), "state"},
		{"React Router", app(`window.__reactRouterContext.streamController.enqueue("[{\"_1\":2},\"loaderData\",{\"_3\":4},\"routes/post\",{\"_5\":6,\"_7\":8},\"title\",\"Bridge reopens\",\"body\",\"§HTWICE\"]\n");`), "state"},
		{"Gatsby", `<title>Bridge reopens</title><div id="___gatsby"></div><script>window.pagePath="/x";window.___pageData={"componentChunkName":"x","path":"/bridge-reopens","result":{"data":{"markdownRemark":{"html":"§HTML","frontmatter":{"title":"Bridge reopens","date":"2024-05-01"}},"site":{"siteMetadata":{"description":"§OTHER"}}}}};</script>`, "state"},
		{"Inertia", `<div id="app" data-page="{&quot;component&quot;:&quot;Post&quot;,&quot;props&quot;:{&quot;post&quot;:{&quot;title&quot;:&quot;Bridge reopens&quot;,&quot;body&quot;:&quot;§ATTR&quot;},&quot;translations&quot;:{&quot;a&quot;:&quot;§OTHER&quot;}}}"></div>`, "state"},
		{"Discourse", `<title>Bridge reopens - Forum</title><div id="data-preloaded" data-preloaded="` + html.EscapeString(`{"topic_1":"`+inJSON(`{"id":1,"title":"Bridge reopens","post_stream":{"posts":[{"username":"ann","cooked":"<p>`)+`§1`+inJSON(`</p>"},{"username":"sam","cooked":"<p>`)+`§2`+inJSON(`</p><p>`)+`§3`+inJSON(`</p>"}]}}`)+`","site":"{}"}`) + `"></div>`, "state"},
		{"Astro", `<title>Bridge reopens</title><astro-island props="{&quot;post&quot;:[0,{&quot;title&quot;:[0,&quot;Bridge reopens&quot;],&quot;body&quot;:[0,&quot;§ATTR&quot;]}]}"></astro-island>`, "state"},
		{"JSON in a script", `<title>Bridge reopens</title><script type="application/json" class="js-react-on-rails-component">{"title":"Bridge reopens","contentHtml":"§HTML"}</script>`, "state"},

		// Rich text of editors and content systems
		{"ProseMirror", next(`{"title":"Bridge reopens","body":{"type":"doc","content":[{"type":"heading","attrs":{"level":2},"content":[{"type":"text","text":"Cyclists first"}]},{"type":"paragraph","content":[{"type":"text","text":"§1"}]},{"type":"bulletList","content":[{"type":"listItem","content":[{"type":"paragraph","content":[{"type":"text","marks":[{"type":"bold"}],"text":"§2"}]}]}]},{"type":"paragraph","content":[{"type":"text","text":"§3"}]}]}}`), "state"},
		{"Contentful", next(`{"fields":{"title":"Bridge reopens","body":{"nodeType":"document","data":{},"content":[{"nodeType":"heading-2","content":[{"nodeType":"text","value":"Cyclists first","marks":[],"data":{}}],"data":{}},{"nodeType":"paragraph","content":[{"nodeType":"text","value":"§1","marks":[{"type":"bold"}],"data":{}}],"data":{}},{"nodeType":"unordered-list","content":[{"nodeType":"list-item","content":[{"nodeType":"paragraph","content":[{"nodeType":"text","value":"§2"}]}]}]},{"nodeType":"paragraph","content":[{"nodeType":"hyperlink","data":{"uri":"/river"},"content":[{"nodeType":"text","value":"§3"}]}]}]}}}`), "state"},
		{"Portable Text", next(`{"post":{"title":"Bridge reopens","body":[{"_type":"block","style":"h2","markDefs":[],"children":[{"_type":"span","text":"Cyclists first","marks":[]}]},{"_type":"block","style":"normal","markDefs":[{"_key":"k","_type":"link","href":"/river"}],"children":[{"_type":"span","text":"§1","marks":["k","strong"]}]},{"_type":"block","listItem":"bullet","level":1,"style":"normal","children":[{"_type":"span","text":"§2"}]},{"_type":"block","style":"normal","children":[{"_type":"span","text":"§3"}]}]}}`), "state"},
		{"Slate", next(`{"post":{"title":"Bridge reopens","content":[{"type":"heading-two","children":[{"text":"Cyclists first"}]},{"type":"paragraph","children":[{"text":"§1","bold":true}]},{"type":"paragraph","children":[{"text":"§2"}]},{"type":"paragraph","children":[{"type":"link","url":"/river","children":[{"text":"§3"}]}]}]}}`), "state"},
		{"Lexical in a string", next(`{"post":{"title":"Bridge reopens","lexical":"{\"root\":{\"type\":\"root\",\"children\":[{\"type\":\"heading\",\"tag\":\"h2\",\"children\":[{\"type\":\"text\",\"text\":\"Cyclists first\"}]},{\"type\":\"paragraph\",\"children\":[{\"type\":\"text\",\"format\":1,\"text\":\"§1\"}]},{\"type\":\"paragraph\",\"children\":[{\"type\":\"text\",\"text\":\"§2\"}]},{\"type\":\"paragraph\",\"children\":[{\"type\":\"text\",\"text\":\"§3\"}]}]}}"}}`), "state"},
		{"Draft.js", next(`{"post":{"title":"Bridge reopens","content":{"blocks":[{"key":"a","text":"Cyclists first","type":"header-two","inlineStyleRanges":[],"depth":0},{"key":"b","text":"§1","type":"unstyled","inlineStyleRanges":[],"depth":0},{"key":"c","text":"§2","type":"unordered-list-item","inlineStyleRanges":[],"depth":0},{"key":"d","text":"§3","type":"unstyled","inlineStyleRanges":[],"depth":0}],"entityMap":{}}}}`), "state"},
		{"Editor.js", next(`{"post":{"title":"Bridge reopens","content":{"time":1,"blocks":[{"type":"header","data":{"text":"Cyclists first","level":2}},{"type":"paragraph","data":{"text":"§1"}},{"type":"list","data":{"style":"unordered","items":["§2"]}},{"type":"paragraph","data":{"text":"<b>§3</b>"}}]}}}`), "state"},
		{"Gutenberg", next(`{"post":{"title":{"rendered":"Bridge reopens"},"blocks":[{"name":"core/heading","attributes":{"content":"Cyclists first","level":2},"innerBlocks":[]},{"name":"core/paragraph","attributes":{"content":"§1"},"innerBlocks":[]},{"name":"core/list","attributes":{},"innerBlocks":[{"name":"core/list-item","attributes":{"content":"§2"},"innerBlocks":[]}]},{"name":"core/paragraph","attributes":{"content":"<strong>§3</strong>"},"innerBlocks":[]}]}}`), "state"},
		{"WordPress REST", next(`{"post":{"title":{"rendered":"Bridge reopens"},"content":{"rendered":"§HTML","protected":false},"excerpt":{"rendered":"<p>§1</p>"},"date_gmt":"2024-05-01T06:00:00"}}`), "state"},
		{"Strapi", next(`{"data":{"attributes":{"title":"Bridge reopens","content":[{"type":"heading","level":2,"children":[{"type":"text","text":"Cyclists first"}]},{"type":"paragraph","children":[{"type":"text","text":"§1"}]},{"type":"list","format":"unordered","children":[{"type":"list-item","children":[{"type":"text","text":"§2"}]}]},{"type":"paragraph","children":[{"type":"text","text":"§3"}]}]}}}`), "state"},
		{"Prismic", next(`{"page":{"data":{"title":[{"type":"heading1","text":"Bridge reopens","spans":[]}],"slices":[{"slice_type":"text","primary":{"text":[{"type":"heading2","text":"Cyclists first","spans":[]},{"type":"paragraph","text":"§1","spans":[]}]}},{"slice_type":"text","primary":{"text":[{"type":"list-item","text":"§2","spans":[]},{"type":"paragraph","text":"§3","spans":[]}]}}]}}}`), "state"},
		{"Notion", next(`{"title":"Bridge reopens","blocks":[{"type":"heading_2","heading_2":{"rich_text":[{"type":"text","plain_text":"Cyclists first"}]}},{"type":"paragraph","paragraph":{"rich_text":[{"type":"text","plain_text":"§1"}]}},{"type":"bulleted_list_item","bulleted_list_item":{"rich_text":[{"type":"text","plain_text":"§2"}]}},{"type":"paragraph","paragraph":{"rich_text":[{"type":"text","plain_text":"§3"}]}}]}`), "state"},
		{"Arc", app(`Fusion.globalContent={"headlines":{"basic":"Bridge reopens"},"headline":"Bridge reopens","content_elements":[{"type":"header","level":2,"content":"Cyclists first"},{"type":"text","content":"§1"},{"type":"image","url":"https://news.example/a.jpg","caption":"Cyclists"},{"type":"list","list_type":"unordered","items":[{"type":"text","content":"§2"}]},{"type":"text","content":"<b>§3</b>"}]};`), "state"},
		{"the BBC", next(`{"page":{"title":"Bridge reopens","contents":[{"type":"subheadline","model":{"blocks":[{"type":"text","model":{"blocks":[{"type":"paragraph","model":{"text":"Cyclists first","blocks":[{"type":"fragment","model":{"text":"Cyclists first"}}]}}]}}]}},{"type":"text","model":{"blocks":[{"type":"paragraph","model":{"text":"§1","blocks":[{"type":"fragment","model":{"text":"§1"}}]}},{"type":"paragraph","model":{"text":"§2","blocks":[{"type":"fragment","model":{"text":"§2"}}]}},{"type":"paragraph","model":{"text":"§3","blocks":[{"type":"fragment","model":{"text":"§3"}}]}}]}}]}}`), "state"},
		{"hast", next(`{"post":{"title":"Bridge reopens","htmlAst":{"type":"root","children":[{"type":"element","tagName":"h2","properties":{},"children":[{"type":"text","value":"Cyclists first"}]},{"type":"element","tagName":"p","properties":{},"children":[{"type":"text","value":"§1"}]},{"type":"element","tagName":"p","children":[{"type":"element","tagName":"a","properties":{"href":"/river"},"children":[{"type":"text","value":"§2"}]}]},{"type":"element","tagName":"p","children":[{"type":"text","value":"§3"}]}]}}}`), "state"},
		{"mdast", next(`{"post":{"title":"Bridge reopens","ast":{"type":"root","children":[{"type":"heading","depth":2,"children":[{"type":"text","value":"Cyclists first"}]},{"type":"paragraph","children":[{"type":"text","value":"§1"}]},{"type":"list","ordered":false,"children":[{"type":"listItem","children":[{"type":"paragraph","children":[{"type":"text","value":"§2"}]}]}]},{"type":"paragraph","children":[{"type":"strong","children":[{"type":"text","value":"§3"}]}]}]}}}`), "state"},
		{"a page of blocks", next(`{"page":{"title":"Bridge reopens","sections":[{"type":"hero","heading":"Dawn","text":"§1"},{"type":"columns","columns":[{"heading":"Cyclists first","body":"<p>§2</p>"},{"heading":"The cost","body":"<p>§3</p>"}]}]}}`), "state"},
		{"paragraphs in a list", next(`{"story":{"headline":"Bridge reopens","paragraphs":["§1","§2","§3"]}}`), "state"},
		{"posts of a thread", next(`{"topic":{"title":"Bridge reopens","posts":[{"username":"ann","cooked":"<p>§1</p>"},{"username":"sam","cooked":"<p>§2</p>"},{"username":"kim","cooked":"<p>§3</p>"}]}}`), "state"},
		{"Shopify", next(`{"product":{"title":"Bridge reopens","handle":"bridge-reopens","descriptionHtml":"§HTML"},"policies":[{"body":"<p>§OTHER</p>"}]}`), "state"},

		// noscript
		{"noscript", `<head><noscript><style>x</style></noscript><noscript><p>Please enable JavaScript to read this page elsewhere.</p><iframe src="https://t.example/ns.html"></iframe><img src="https://t.example/p.gif" width=1 height=1><h1>Bridge reopens</h1><p>§1</p><p>§2</p><p>§3</p></noscript></head><div id=app></div>`, "noscript"},
	}
	for i := range pages {
		pages[i].page = fill.Replace(pages[i].page)
	}
	return pages
}

func hexLen(s string) string {
	const digits = "0123456789abcdef"
	out := ""
	for n := len(s); n > 0; n /= 16 {
		out = string(digits[n%16]) + out
	}
	return out
}

func TestTextOfAShellComesFromItsData(t *testing.T) {
	for _, tt := range frameworkPages() {
		t.Run(tt.name, func(t *testing.T) {
			doc, err := Extract(context.Background(), Input{Body: []byte(tt.page), URL: "https://news.example/2024/bridge-reopens", ContentType: "text/html; charset=utf-8"})
			if err != nil {
				t.Fatal(err)
			}
			if !Shell(doc) {
				t.Error("the page is not taken for a shell")
			}
			e, ok := embedded(t, tt.page)
			if !ok {
				t.Fatal("nothing was found")
			}
			text := plainText(e.Document.Main)
			if e.From != tt.from {
				t.Errorf("from %s", e.From)
			}
			at := 0
			for _, want := range []string{bridge1, bridge2, bridge3} {
				i := strings.Index(squash(text)[at:], squash(want))
				if i < 0 {
					t.Errorf("lacks %q, or has it in another order", want)
					continue
				}
				at += i
			}
			if n := strings.Count(text, bridge1); n > 1 {
				t.Errorf("has a sentence %d times", n)
			}
			for _, bad := range []string{"elsewhere", "JavaScript", "<p>", "**", "{"} {
				if strings.Contains(text, bad) {
					t.Errorf("has what is not of the page: %q", bad)
				}
			}
			if e.Document.Title != "Bridge reopens" {
				t.Errorf("title %q", e.Document.Title)
			}
			if strings.Contains(tt.page, "Cyclists first") && !hasElement(e.Document.Main, atom.H2, "Cyclists first") {
				t.Error("the heading is none")
			}
			if t.Failed() {
				t.Log(text)
			}
		})
	}
}

func hasElement(n *html.Node, a atom.Atom, content string) bool {
	for c := n; c != nil; c = dom.Next(c, n) {
		if c.DataAtom == a && strings.TrimSpace(text(c)) == content {
			return true
		}
	}
	return false
}

func TestMetadataOfAShellComesFromItsDataWhereThePageHasNone(t *testing.T) {
	const data = `{"post":{"title":"Bridge reopens","content":"<p>` + bridge1 + `</p><p>` + bridge2 + `</p>","author":[{"firstName":"Ann","lastName":"Weir"},{"name":"Sam Lock"}],"publishedAt":1714546800000,"excerpt":"How it reopened.","locale":"en-GB"}}`
	type said struct{ Title, Author, Published, Description, Language string }
	of := func(page string) said {
		e, ok := embedded(t, page)
		if !ok {
			t.Fatal("nothing was found")
		}
		d := e.Document
		return said{d.Title, d.Author, d.Published, d.Description, d.Language}
	}
	state := `<script>window.__STATE__=` + data + `</script>`
	want := said{"Bridge reopens", "Ann Weir, Sam Lock", "2024-05-01T07:00:00Z", "How it reopened.", "en-GB"}
	if diff := cmp.Diff(want, of(`<title>Loading...</title>`+state)); diff != "" {
		t.Errorf("a page that says nothing: %s", diff)
	}
	page := `<html lang=fr><title>Bridge reopens at last</title><meta name=author content="Kim Mill"><meta name=description content=Short><meta property=article:published_time content=2020-01-01>`
	want = said{"Bridge reopens at last", "Kim Mill", "2020-01-01", "Short", "fr"}
	if diff := cmp.Diff(want, of(page+state)); diff != "" {
		t.Errorf("a page that says it all: %s", diff)
	}
}

func TestTextInDataIsCleanedAsPageTextIs(t *testing.T) {
	body := `<p>` + bridge1 + ` <a href="/river?a=1">River</a> <a href="javascript:alert(1)">Bad</a> <a href="http://127.0.0.1/x">Home</a></p>` +
		`<p style="display:none">SECRET one</p><p hidden>SECRET two</p><script>SECRET()</script><style>SECRET{}</style><p onclick="x()">` + bridge2 + "\u200b\U000E0041\U000E0042</p><base href=\"https://evil.example/\"><!-- " +
		`SECRET`
	page := `<base href="https://cdn.example/dir/"><title>Bridge reopens</title><script>window.__STATE__={"post":{"title":"Bridge reopens","body":"` + inJSON(body) + `","more":[{"text":"` + inJSON("<p>"+bridge3+"</p>") + `"}]}}</script>`
	e, ok := embedded(t, page)
	if !ok {
		t.Fatal("nothing was found")
	}
	var b bytes.Buffer
	if err := html.Render(&b, e.Document.Page); err != nil {
		t.Fatal(err)
	}
	got := b.String()
	for _, bad := range []string{"SECRET", "javascript", "onclick", "evil.example", "\u200b", "\U000E0041"} {
		if strings.Contains(got, bad) {
			t.Errorf("%q came through: %s", bad, got)
		}
	}
	for _, want := range []string{`href="https://cdn.example/river?a=1"`, bridge3} {
		if !strings.Contains(got, want) {
			t.Errorf("lacks %q: %s", want, got)
		}
	}
	if !warned(e.Document, sift.WarnHiddenText) {
		t.Errorf("no warning of hidden text in %v", e.Document.Warnings)
	}
}

func TestWhatElementsOfReactHideIsHidden(t *testing.T) {
	e, ok := embedded(t, `<title>Bridge reopens</title><script>self.__next_f.push([1,"0:[\"$\",\"div\",null,{\"children\":[[\"$\",\"h1\",null,{\"children\":\"Bridge reopens\"}],[\"$\",\"p\",null,{\"children\":\"`+bridge1+" "+bridge2+
		`\"}],[\"$\",\"p\",null,{\"style\":{\"display\":\"none\"},\"children\":\"SECRET one\"}],[\"$\",\"p\",null,{\"hidden\":true,\"children\":\"SECRET two\"}],[\"$\",\"div\",null,{\"className\":\"hidden\",\"children\":\"SECRET three\"}],[\"$\",\"script\",null,{\"children\":\"SECRET four\"}]]}]\n"])</script>`)
	if !ok {
		t.Fatal("nothing was found")
	}
	if s := plainText(e.Document.Page); strings.Contains(s, "SECRET") {
		t.Error(s)
	}
	if !warned(e.Document, sift.WarnHiddenText) {
		t.Error("no warning of hidden text")
	}
}

func TestAnObjectThatSaysItIsNotShownIsNot(t *testing.T) {
	e, ok := embedded(t, `<title>Bridge reopens</title><script>window.__STATE__={"post":{"title":"Bridge reopens","blocks":[{"text":"`+bridge1+`"},{"hidden":true,"text":"SECRET words that nobody is to see. Not one."},{"text":"`+bridge2+`"}]}}</script>`)
	if !ok {
		t.Fatal("nothing was found")
	}
	if s := plainText(e.Document.Page); strings.Contains(s, "SECRET") || !strings.Contains(s, bridge2) {
		t.Error(s)
	}
}

func TestDataWithoutContentStandsInForNothing(t *testing.T) {
	long := strings.Repeat("Some words of it, and more. ", 40)
	ui := strings.Repeat("Press it to go on. ", 30)
	for name, page := range map[string]string{
		"a short page":               `<h1>It works!</h1>`,
		"nothing at all":             ``,
		"white space":                " \n",
		"a call for JavaScript":      `<noscript>You need to enable JavaScript to run this app. It is built with components that a browser without JavaScript cannot show, so that you see nothing of it until you turn it on in the settings of your browser, which you find in its menu, and then load the page anew.</noscript><div id=root></div>`,
		"frames and pixels":          `<noscript><iframe src="https://www.googletagmanager.com/ns.html?id=GTM-XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX" height="0" width="0"></iframe><img height="1" width="1" style="display:none" src="https://www.facebook.com/tr?id=1"></noscript>`,
		"translations":               `<script id="__NEXT_DATA__" type="application/json">{"props":{"translations":{"en":{"a":"` + long + `"}},"i18n":{"b":"` + long + `"},"messages":{"c.d":"` + long + `"},"locale":{"e":"` + long + `"}}}</script>`,
		"what waits to be filled in": `<script id="__NEXT_DATA__" type="application/json">{"a":{"text":"` + strings.Repeat("You have {count} of them. ", 30) + `"},"b":{"text":"` + strings.Repeat("Hello %s, come in. ", 30) + `"}}</script>`,
		"short texts of the screen":  `<script id="__NEXT_DATA__" type="application/json">{"a":{"button":"Press it to go on.","hint":"It is there, below."},"c":["Yes, I do.","No, not I."],"d":{"x":"` + ui[:150] + `"}}</script>`,
		"settings":                   `<script id="__NEXT_DATA__" type="application/json">{"config":{"body":"` + long + `"},"settings":{"html":"<p>` + long + `</p>"},"runtimeConfig":{"text":"` + long + `"},"featureFlags":{"text":"` + long + `"},"analytics":{"text":"` + long + `"}}</script>`,
		"other pages":                `<title>The bridge is open again</title><script id="__NEXT_DATA__" type="application/json">{"related":[{"title":"Other","body":"<p>` + long + `</p>"}],"recommendedArticles":[{"body":"<p>` + long + `</p>"}],"mostRead":[{"body":"<p>` + long + `</p>"}]}</script>`,
		"base64":                     `<script id="__NEXT_DATA__" type="application/json">{"content":"` + strings.Repeat("aGVsbG8gd29ybGQsIGhlbGxv", 100) + `","body":"data:image/png;base64,` + strings.Repeat("iVBORw0KGgo", 100) + `"}</script>`,
		"style sheets":               `<script id="__NEXT_DATA__" type="application/json">{"content":"` + strings.Repeat(".a .b { color: red; margin: 0 auto; } ", 60) + `"}</script>`,
		"code":                       `<script id="__NEXT_DATA__" type="application/json">{"content":"` + strings.Repeat("function f(a, b) { return a.b(c => { d = e; }); } ", 60) + `"}</script>`,
		"a query":                    `<script id="__NEXT_DATA__" type="application/json">{"text":"` + strings.Repeat("query Q($id: ID!) { post(id: $id) { title, body } } ", 40) + `"}</script>`,
		"addresses":                  `<script id="__NEXT_DATA__" type="application/json">{"content":"https://a.example/` + strings.Repeat("a/b,c.d", 100) + `"}</script>`,
		"a bundle":                   `<script>(()=>{"use strict";var e={1:(e,t,n)=>{e.exports={license:"` + long + `",text:"<div>` + long + `</div>"}}};window.x=e})();</script>`,
		"a template":                 `<script type="text/template"><p>` + long + `</p></script><script type="text/x-handlebars"><p>` + long + `</p></script>`,
		"a site":                     `<script type="application/ld+json">[{"@type":"WebSite","description":"` + long + `"},{"@type":"Organization","description":"` + long + `"},{"@type":"BreadcrumbList","description":"` + long + `"}]</script>`,
		"a short description":        `<script type="application/ld+json">{"@type":"NewsArticle","headline":"Bridge reopens","description":"It is open again, at last."}</script>`,
		"linked data on its way":     `<script id="__NEXT_DATA__" type="application/json">{"head":{"x":"` + long + `"},"y":{"@context":"https://schema.org","@type":"Thing","text":"` + long + `"}}</script>`,
		"broken JSON":                `<script id="__NEXT_DATA__" type="application/json">{"content":"` + long + `"</script>`,
	} {
		if e, ok := embedded(t, page); ok {
			t.Errorf("%s: %s gives %q", name, e.From, plainText(e.Document.Main))
		}
	}
}

func TestWhatThePageShowsAnywayIsNoFind(t *testing.T) {
	data := `<title>Bridge reopens</title><script id="__NEXT_DATA__" type="application/json">{"post":{"title":"Bridge reopens","body":"<p>` + bridge1 + `</p><p>` + bridge2 + `</p><p>` + bridge3 + `</p>"}}</script>`
	if _, ok := embedded(t, data+`<h1>Bridge reopens</h1><p>`+bridge1+`</p><p>`+bridge2+`</p><p>`+bridge3+`</p>`); ok {
		t.Error("the whole text is shown")
	}
	if _, ok := embedded(t, data+`<h1>Bridge reopens</h1><p>`+bridge1[:60]+`…</p>`); !ok {
		t.Error("only the beginning is shown")
	}
}

func TestSummariesSayThatTheyAre(t *testing.T) {
	summary := strings.Repeat("The bridge is open again, and all are glad of it. ", 6)
	e, ok := embedded(t, `<script type="application/ld+json">{"@type":"NewsArticle","headline":"Bridge reopens","description":"`+summary+`"}</script>`)
	if !ok || !warned(e.Document, sift.WarnPartial) {
		t.Errorf("found %v; %+v", ok, e.Document)
	}
	// The text itself goes before its summary.
	e, ok = embedded(t, `<script type="application/ld+json">{"@type":"NewsArticle","headline":"Bridge reopens","description":"`+bridge1+` `+bridge2+`"}</script>`+
		`<script>window.__STATE__={"post":{"title":"Bridge reopens","body":"<p>`+strings.Repeat(bridge1+"</p><p>"+bridge2+"</p><p>"+bridge3+"</p><p>", 3)+`</p>"}}</script>`)
	if !ok || e.From != "state" || warned(e.Document, sift.WarnPartial) {
		t.Errorf("found %v from %s; %+v", ok, e.From, e.Document)
	}
	// A product's description is what there is to say of it.
	e, ok = embedded(t, `<script type="application/ld+json">{"@type":"Product","name":"Bridge","description":"`+summary+`"}</script>`)
	if !ok || warned(e.Document, sift.WarnPartial) {
		t.Errorf("found %v; %+v", ok, e.Document)
	}
}

func TestAShortArticleBodyIsBelieved(t *testing.T) {
	e, ok := embedded(t, `<title>Bridge reopens</title><script type="application/ld+json">{"@context":"https://schema.org","@type":"NewsArticle","headline":"Bridge reopens","articleBody":"The east bridge reopened at dawn after nine weeks of work. Cyclists crossed first, followed by the milk lorry."}</script><div id="app"></div>`)
	if !ok || !strings.Contains(plainText(e.Document.Main), "followed by the milk lorry") {
		t.Errorf("found %v", ok)
	}
}

func TestAPolicyIsTheContentOfItsOwnPage(t *testing.T) {
	page := `<title>Privacy policy</title><script>window.__STATE__={"privacyPolicy":{"title":"Privacy policy","body":"<p>` + bridge1 + `</p><p>` + bridge2 + `</p><p>` + bridge3 + `</p>"}}</script>`
	for address, want := range map[string]bool{"https://a.example/privacy-policy": true, "https://a.example/news": false} {
		if _, ok, err := Embedded(context.Background(), Input{Body: []byte(page), URL: address, ContentType: "text/html"}); ok != want || err != nil {
			t.Errorf("%s: %v, %v", address, ok, err)
		}
	}
}

func TestCommentsAreNotTheArticle(t *testing.T) {
	comments := `"comments":[{"body":"<p>I was there and it was loud. Never again will I go.</p>"},{"body":"<p>So was I, and it was not. I will go again.</p>"}]`
	e, ok := embedded(t, `<title>Bridge reopens</title><script>window.__STATE__={"post":{"title":"Bridge reopens","body":"<p>`+bridge1+`</p><p>`+bridge2+`</p><p>`+bridge3+`</p>",`+comments+`}}</script>`)
	if !ok || strings.Contains(plainText(e.Document.Main), "Never again") {
		t.Errorf("found %v: %s", ok, plainText(e.Document.Main))
	}
}

func TestOtherBodiesThanPagesHaveNoEmbeddedContent(t *testing.T) {
	article := `{"@type":"NewsArticle","articleBody":"` + bridge1 + `"}`
	for name, in := range map[string]Input{
		"JSON":       {Body: []byte(article), ContentType: "application/json"},
		"plain text": {Body: []byte(bridge1), ContentType: "text/plain"},
		"a PDF":      {Body: []byte("%PDF-1.7\n"), ContentType: "application/pdf"},
		"an image":   {Body: []byte("\x89PNG\r\n\x1a\n\x00\x00"), ContentType: "image/png"},
	} {
		if _, ok, err := Embedded(context.Background(), in); ok || err != nil {
			t.Errorf("%s: %v, %v", name, ok, err)
		}
	}
}

func TestEmbeddedReadsWhatExtractReads(t *testing.T) {
	page := `<meta charset=windows-1252><title>Caf` + "\xe9" + `</title><script type="application/ld+json">{"@type":"Article","headline":"Caf` + "\xe9" + ` reopens","articleBody":"` + bridge1 + " Caf\xe9. " + bridge2 + `"}</script>`
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	if _, err := w.Write([]byte(page)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for name, body := range map[string][]byte{"plain": []byte(page), "compressed": zipped.Bytes()} {
		e, ok, err := Embedded(context.Background(), Input{Body: body, ContentType: "text/html"})
		if err != nil || !ok {
			t.Fatalf("%s: %v, %v", name, ok, err)
		}
		if e.Document.Charset != "windows-1252" || !strings.Contains(plainText(e.Document.Main), "Café.") {
			t.Errorf("%s: %s, %q", name, e.Document.Charset, plainText(e.Document.Main))
		}
	}
	if _, _, err := Embedded(context.Background(), Input{Body: []byte(page), ContentType: "text/html", MaxText: 50}); err == nil {
		t.Error("a page over the bound was read")
	}
}

func TestAPageTooDeepForATreeStillHasItsData(t *testing.T) {
	page := strings.Repeat("<div>", 600) + `<script id="__NEXT_DATA__" type="application/json">{"post":{"title":"Bridge reopens","body":"<p>` + bridge1 + `</p><p>` + bridge2 + `</p>"}}</script>`
	if _, ok := embedded(t, page); !ok {
		t.Error("nothing was found")
	}
	body := strings.Repeat("<div>", 600) + bridge1 + " " + bridge2 + strings.Repeat("</div>", 600)
	e, ok := embedded(t, `<title>Bridge reopens</title><script>window.__STATE__={"post":{"title":"Bridge reopens","body":"`+body+`"}}</script>`)
	if !ok || !warned(e.Document, sift.WarnDeepMarkup) {
		t.Errorf("found %v", ok)
	}
}

func TestAShellIsAPageThatShowsHardlyAnything(t *testing.T) {
	prose := "<p>" + bridge1 + "</p><p>" + bridge2 + "</p>"
	menu := "<nav>" + strings.Repeat(`<a href="/a">A part of the site</a> `, 20) + "</nav>"
	for _, tt := range []struct {
		name, page string
		want       bool
	}{
		{"nothing", ``, true},
		{"an empty element", `<div id=root></div>`, true},
		{"a call for JavaScript", `<div id=root>Please enable JavaScript to continue using this application. We are sorry, but it does not work properly without it. ` + strings.Repeat("Thank you. ", 15) + `</div>`, true},
		{"a menu around nothing", menu + `<div id=root></div><footer>Imprint</footer>`, true},
		{"a short page", `<h1>It works!</h1>`, true},
		{"an article", prose, false},
		{"an article about JavaScript", strings.Repeat("<p>How to enable JavaScript in a browser, and what needs it.</p>"+prose, 4), false},
		{"a menu and an article", menu + "<main>" + prose + prose + "</main>", false},
	} {
		doc, err := Extract(context.Background(), Input{Body: []byte(tt.page), URL: "https://a.example/", ContentType: "text/html"})
		if err != nil {
			t.Fatal(err)
		}
		if got := Shell(doc); got != tt.want {
			t.Errorf("%s: %v, of %d characters", tt.name, got, doc.VisibleChars)
		}
	}
	for _, doc := range []*sift.Document{nil, {Kind: sift.KindJSON}, {Kind: sift.KindText, VisibleChars: 3}, {Kind: sift.KindPDF}} {
		if Shell(doc) {
			t.Errorf("%+v is a shell", doc)
		}
	}
	if !Shell(&sift.Document{Kind: sift.KindHTML, VisibleChars: 5000, Warnings: []sift.Warning{{Code: sift.WarnJSShell}}}) {
		t.Error("a page that was told to be a shell is none")
	}
}
