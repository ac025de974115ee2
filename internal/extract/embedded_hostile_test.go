package extract

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/net/html"

	"sift.build/sift/internal/cputime"
	"sift.build/sift/internal/dom"
	"sift.build/sift/internal/sift"
)

const coin = `<script id="__NEXT_DATA__" type="application/json">{"post":{"title":"The coin","content":"<p>At the bottom lies a coin, and nobody has touched it for a hundred years. ` +
	`Those who dive for it come back with sand, with shells, and now and then with a story that nobody believes.</p><p>The water is clear, the coin is there, and the children point at it from the bridge.</p>"}}</script>`

// hostileData are pages whose data would cost time or memory without bounds.
// n is about their size in bytes.
func hostileData() map[string]func(n int) string {
	rep := strings.Repeat
	state := func(s string) string { return `<script>window.__STATE__=` + s + `</script>` }
	numbered := func(n int, format string) string {
		var b strings.Builder
		for i := 0; b.Len() < n; i++ {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	return map[string]func(n int) string{
		"nested arrays":       func(n int) string { return state(rep("[", n)) },
		"nested and closed":   func(n int) string { return state(rep("[", n/2) + rep("]", n/2)) },
		"nested objects":      func(n int) string { return state(rep(`{"a":`, n/6) + "1" + rep("}", n/6)) },
		"nested to the bound": func(n int) string { return state("[" + rep(rep("[", 190)+rep("]", 190)+",", n/400) + "1]") },
		"many keys":           func(n int) string { return state("{" + numbered(n, `"k%d":1,`) + `"z":2}`) },
		"many short texts":    func(n int) string { return state("[" + rep(`"a few words, no more.",`, n/25) + "1]") },
		"many bodies": func(n int) string {
			return state("[" + rep(`{"body":"<p>A few words, and then some more of them. And more.</p>"},`, n/70) + "1]")
		},
		"many different bodies": func(n int) string {
			return state("[" + numbered(n, `{"title":"T%[1]d","body":"<p>Words %[1]d of a text, word %[1]d, some %[1]d more, for %[1]d.</p>"},`) + "1]")
		},
		"one long text":            func(n int) string { return state(`{"body":"` + rep("Words and more words. ", n/22) + `"}`) },
		"one long text of tags":    func(n int) string { return state(`{"body":"` + rep("<p>Words, and more.</p>", n/23) + `"}`) },
		"unclosed tags in a text":  func(n int) string { return state(`{"body":"` + rep("<b><p>words. ", n/13) + `"}`) },
		"deep tags in a text":      func(n int) string { return state(`{"body":"words. words. ` + rep("<div>", n/5) + `words. "}`) },
		"escaped quotes":           func(n int) string { return `<script>` + rep(`\"`, n/2) + `</script>` },
		"starts that fail":         func(n int) string { return `<script>` + rep(`x={a:[b+`, n/8) + `</script>` },
		"starts that do not end":   func(n int) string { return `<script>` + rep(`={a:`, n/4) + `</script>` },
		"strings that do not end":  func(n int) string { return `<script>` + rep(`={"a":"`, n/7) + `</script>` },
		"quotes of three kinds":    func(n int) string { return "<script>" + rep("={a:'`\"\\", n/8) + `</script>` },
		"templates":                func(n int) string { return "<script>" + rep("=[`${x}", n/7) + `</script>` },
		"comments that do not end": func(n int) string { return `<script>` + rep(`=[/* `, n/5) + `</script>` },
		"functions":                func(n int) string { return `<script>` + rep(`=(function(a){return {a:`, n/24) + `</script>` },
		"functions in functions": func(n int) string {
			return `<script>x=` + rep(`(function(a){return `, n/22) + "1" + rep(`}(1))`, n/22) + `</script>`
		},
		"parameters": func(n int) string {
			return `<script>x=(function(` + numbered(n/3, "a%d,") + `z){return [` + numbered(n/3, "a%d,") + `z]}(` + rep("1,", n/6) + `1))</script>`
		},
		"calls":                     func(n int) string { return `<script>x=` + rep(`JSON.parse(`, n/11) + `</script>` },
		"JSON in JSON in JSON":      func(n int) string { return state(nest(`{"a":"`+rep("x ", n/16)+`"}`, 3)) },
		"strings that look like it": func(n int) string { return state("[" + rep(`"{`+rep(`[`, 70)+`",`, n/75) + "1]") },
		"flight chunks": func(n int) string {
			return rep(`<script>self.__next_f.push([1,"1:[\"$\",\"p\",null,{\"children\":\"x\"}]\n"])</script>`, n/80)
		},
		"flight rows": func(n int) string {
			return `<script>self.__next_f.push([1,"` + numbered(n, `%x:[\"$\",\"p\",null,{\"children\":\"$%[1]x\"}]\n`) + `"])</script>`
		},
		"flight without lines": func(n int) string { return `<script>self.__next_f.push([1,"` + rep(`1:`, n/2) + `"])</script>` },
		"flight texts": func(n int) string {
			return `<script>self.__next_f.push([1,"` + rep(`1:Tffffff,`, n/10) + `"])</script>`
		},
		"values that are each other": func(n int) string {
			return `<script type="application/json" id="__NUXT_DATA__">[` + numbered(n, `{"a":1,"b":2,"c":3,"d":%d},`) + `0]</script>`
		},
		"values that are twice the next": func(n int) string {
			var b strings.Builder
			for i := 0; b.Len() < n; i++ {
				fmt.Fprintf(&b, "[%d,%d],", i+1, i+1)
			}
			return `<script type="application/json" id="__NUXT_DATA__">[` + b.String() + `"end"]</script>`
		},
		"objects that name each other": func(n int) string {
			return state(`{"ROOT_QUERY":{"a":{"__ref":"P:0"}},` + numbered(n, `"P:%d":{"a":{"__ref":"P:0"},"b":{"__ref":"P:1"},"c":{"__ref":"P:2"}},`) + `"z":1}`)
		},
		"rich text": func(n int) string {
			return state(`{"content":[` + rep(`{"type":"paragraph","content":[{"type":"text","text":"Some words, and more."}]},`, n/80) + `1]}`)
		},
		"rich text in rich text": func(n int) string {
			return state(rep(`{"type":"doc","content":[{"type":"blockquote","content":[`, n/60) + `{"type":"paragraph","content":[{"type":"text","text":"x"}]}` + rep(`]}]}`, n/60))
		},
		"loose items": func(n int) string {
			return state("[" + rep(`{"type":"unordered-list-item","text":"An item of it.","depth":7},{"type":"ordered-list-item","text":"One.","depth":0},`, n/120) + "1]")
		},
		"Markdown brackets": func(n int) string { return state(`{"markdown":"# A text. With words.\n\n` + rep("[a](b ", n/6) + `"}`) },
		"Markdown emphasis": func(n int) string {
			return state(`{"markdown":"# A text. With words.\n\n` + rep("*a **b ", n/7) + `"}`)
		},
		"Markdown quotes": func(n int) string { return state(`{"markdown":"# A text. With words.\n\n` + rep("> ", n/2) + `"}`) },
		"Markdown lists":  func(n int) string { return state(`{"markdown":"# A text. With words.\n` + rep(`- a\n  `, n/7) + `"}`) },
		"many Markdowns": func(n int) string {
			return state("[" + numbered(n, `{"markdown":"# Text %d\n\nSome words. And [more](/x) of them.\n"},`) + "1]")
		},
		"attributes": func(n int) string { return rep(`<div data-x='{"a":"`+rep("x ", 100)+`"}'></div>`, n/230) },
		"noscripts":  func(n int) string { return rep(`<noscript>`+rep("x ", 100)+`</noscript>`, n/220) },
		"linked data": func(n int) string {
			return `<script type="application/ld+json">{"@type":"Article","articleBody":"` + rep("Words. ", n/7) + `"}</script>`
		},
		"linked comments": func(n int) string {
			return `<script type="application/ld+json">{"@type":"DiscussionForumPosting","text":"x","comment":[` + rep(`{"text":"y","comment":[{"text":"z"}]},`, n/40) + `{}]}</script>`
		},
		"a bundle": func(n int) string {
			return `<script>` + rep(`!function(e,t){"use strict";var n={a:1,b:"c"},r=[1,2,3];t.exports=function(e){return e&&e.x?{y:e}:[e]}}(window,{});`, n/110) + `</script>`
		},
		"numbers": func(n int) string { return state("[" + rep("1,", n/2) + "1]") },
		"titles":  func(n int) string { return state("[" + rep(`{"title":"<p>`, n/16) + "1]") },
		"the same titles": func(n int) string {
			return `<title>A title of it</title>` + state("["+rep(`{"title":"A title of it","x":{}},`, n/34)+"1]")
		},
	}
}

// nest writes JSON as a string in JSON.
func nest(s string, times int) string {
	for range times {
		b, err := json.Marshal(map[string]string{"a": s})
		if err != nil {
			panic(err)
		}
		s = string(b)
	}
	return s
}

func TestHostileDataCostsBoundedTimeAndMemoryAndHidesNothing(t *testing.T) {
	size := 256 << 10
	if *full {
		size = 9 << 20
	}
	for name, shape := range hostileData() {
		t.Run(name, func(t *testing.T) {
			page := coin + shape(size-len(coin))
			var err error
			var ok bool
			start := time.Now()
			grown := peak(func() {
				_, ok, err = Embedded(context.Background(), Input{Body: []byte(page), URL: "https://a.example/x", ContentType: "text/html"})
			})
			t.Logf("%d bytes: %v, heap %d MB, found %v", len(page), time.Since(start), grown>>20, ok)
			if err != nil {
				t.Fatal(err)
			}
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("took %v", took)
			}
			if grown > 300<<20 {
				t.Errorf("the heap grew by %d MB", grown>>20)
			}
		})
	}
}

func TestReadingDataTakesTimeLinearInIt(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	for name, shape := range hostileData() {
		cputime.Linear(t, name, 8<<10, func(n int) func() {
			page := []byte(shape(n))
			return func() {
				if _, _, err := Embedded(context.Background(), Input{Body: page, URL: "https://a.example/x", ContentType: "text/html"}); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func TestReadingDataEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for name, f := range map[string]func() error{
		"embedded": func() error {
			_, _, err := Embedded(ctx, Input{Body: []byte(coin), ContentType: "text/html"})
			return err
		},
		"context": func() error {
			_, err := Context(ctx, Input{Body: []byte(coin), ContentType: "text/html"}, "")
			return err
		},
	} {
		var f2 *sift.Failure
		if err := f(); !errors.As(err, &f2) || f2.Code != sift.CodeCancel {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Far into the work, between two checks of the steps before it.
	calls := 0
	d, err := readData([]byte(`<script>x=[`+strings.Repeat("1,", 100_000)+`1]</script>`), func() error {
		if calls++; calls > 3 {
			return context.DeadlineExceeded
		}
		return nil
	})
	if !errors.Is(err, errExpired) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if len(d.values.list) > 50_000 {
		t.Errorf("%d values were read after the end", len(d.values.list))
	}
}

func TestValuesOverTheBoundAreLeftOut(t *testing.T) {
	d, err := readData([]byte(`<script type="application/json">[`+strings.Repeat("1,", maxValues+10)+`1]</script>`), func() error { return nil })
	if err != nil || len(d.values.list) != maxValues || len(d.roots) != 1 {
		t.Errorf("%d values, %d roots, %v", len(d.values.list), len(d.roots), err)
	}
	// Deeper than the bound is passed over, and what stands behind it is read.
	v := values{alive: func() error { return nil }}
	r, ok := v.json(`{"a":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `,"b":"here"}`)
	if !ok || v.text(v.get(r, "b")) != "here" {
		t.Error("what stands behind deep data was lost")
	}
}

// toAny gives a value as encoding/json has it.
func (v *values) toAny(i int32) any {
	switch v.list[i].kind {
	case valueTrue:
		return true
	case valueFalse:
		return false
	case valueNumber:
		f, err := strconv.ParseFloat(v.list[i].str, 64)
		if err != nil {
			return nil
		}
		return f
	case valueString, valueEscaped:
		return v.text(i)
	case valueArray:
		out := []any{}
		for c := v.list[i].first; c >= 0; c = v.list[c].next {
			out = append(out, v.toAny(c))
		}
		return out
	case valueObject:
		out := map[string]any{}
		for c := v.list[i].first; c >= 0; c = v.list[c].next {
			out[v.list[c].key] = v.toAny(c)
		}
		return out
	default:
		return nil
	}
}

// FuzzLiteral holds the reader of literals to encoding/json on all that is
// JSON, and to its bounds on all else.
func FuzzLiteral(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,-2.5e3,true,false,null,"x\n\u00e9\ud83d\ude00\/"],"b":{}}`, `[]`, `{}`, `"x"`, `0`, `[[[]]]`, `{"":{"":""}}`, `{a:'b',c:!0,d:void 0,e:undefined,}`,
		`(function(a,b){return {x:a,y:[b]}}("1",{z:2}))`, `JSON.parse("{\"a\":1}")`, `new Date(12)`, "`t`", `[,1]`, `{"a":1`, `"\x41\u{1F600}\
"`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) {
			return
		}
		v := values{alive: func() error { return nil }}
		r, ok := v.json(s)
		if len(v.list) > 2*len(s)+2 {
			t.Errorf("%d values of %d bytes", len(v.list), len(s))
		}
		for i := range v.list {
			if text := v.text(int32(i)); !utf8.ValidString(text) {
				t.Errorf("a string is no UTF-8: %q", text)
			}
		}
		var want any
		if json.Unmarshal([]byte(s), &want) != nil || strings.ContainsAny(s, "\u00a0\ufeff") {
			return
		}
		if !ok || r < 0 {
			if !tooDeep(s) {
				t.Fatalf("JSON was not read: %q", s)
			}
			return
		}
		if tooDeep(s) || strings.Contains(s, `\b`) || strings.Contains(s, `\f`) {
			return // what is passed over, and control characters
		}
		if got := v.toAny(r); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %#v, want %#v", s, got, want)
		}
	})
}

func tooDeep(s string) bool { return strings.Count(s, "[")+strings.Count(s, "{") >= maxValueDepth }

func FuzzEmbedded(f *testing.F) {
	for _, shape := range hostileData() {
		f.Add(shape(600))
	}
	for _, p := range frameworkPages() {
		f.Add(p.page)
	}
	f.Fuzz(func(t *testing.T, page string) {
		e, ok, err := Embedded(context.Background(), Input{Body: []byte(page), URL: "https://a.example/x/y", ContentType: "text/html; charset=utf-8"})
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return
		}
		doc := e.Document
		if doc.Main == nil || doc.Page == nil && len(page) < largePage || doc.VisibleChars < leastArticleBody || doc.Kind != sift.KindHTML {
			t.Errorf("not a whole document: %+v", doc)
		}
		for _, n := range []*html.Node{doc.Main, doc.Page} {
			for c := n; c != nil; c = dom.Next(c, n) {
				switch {
				case c.Type == html.TextNode:
					if !utf8.ValidString(c.Data) || strings.ContainsAny(c.Data, "\x00\x1b\u202e\u2066") {
						t.Errorf("text is not clean: %q", c.Data)
					}
				case c.Data == "script" || c.Data == "style" || c.Data == "iframe" || c.Data == "base" || c.Data == "noscript" || c.Data == "template":
					t.Errorf("<%s> came through", c.Data)
				}
				for _, a := range c.Attr {
					if strings.HasPrefix(a.Key, "on") || a.Key == "style" || a.Key == "href" && strings.HasPrefix(strings.ToLower(strings.TrimSpace(a.Val)), "javascript:") {
						t.Errorf("%s=%q came through", a.Key, a.Val)
					}
				}
			}
		}
		for _, s := range []string{doc.Title, doc.Author, doc.Site, doc.Description, doc.Published, doc.Language} {
			if strings.ContainsAny(s, "\n\x00\x1b\u202e") || utf8.RuneCountInString(s) > maxDescription+maxAuthors*maxName {
				t.Errorf("a line is not clean: %q", s)
			}
		}
		saved, err := Save(doc)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Load(saved, Input{}); err != nil {
			t.Fatal(err)
		}
	})
}
