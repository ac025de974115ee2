package extract

import (
	"bytes"
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"sift.build/sift/internal/dom"
)

// countNodes is the size of a tree as the plan counts it.
func countNodes(root *html.Node) int {
	n := 0
	for c := root; c != nil; c = dom.Next(c, root) {
		n += 1 + len(c.Attr)/2
	}
	return n
}

func TestTheEstimateHoldsForTheTree(t *testing.T) {
	tests := map[string]string{
		"well formed":        "<html><body><p a=1 b=2>x <b>y</b></p><ul><li>1</li></ul></body></html>",
		"cells alone":        "<table>" + strings.Repeat("<td>x<table>", 50),
		"end tags alone":     strings.Repeat("</p></br>", 100),
		"misnested":          strings.Repeat("<b><div></b><i><p></i></div>", 50),
		"unclosed":           strings.Repeat("<b a=1><font x=y>", 20) + strings.Repeat("<p>x", 100),
		"columns":            strings.Repeat("<table><col>", 50),
		"a link in a link":   strings.Repeat("<a href=1><div>", 50),
		"select and options": "<select>" + strings.Repeat("<option>x", 50),
	}
	for name, page := range tests {
		t.Run(name, func(t *testing.T) {
			root, err := html.Parse(strings.NewReader(page))
			if err != nil {
				t.Fatal(err)
			}
			w := follow([]byte(page))
			if got := countNodes(root); got > w.nodes+w.reopened+10 {
				t.Errorf("the tree has %d, the estimate is %+v", got, w)
			}
		})
	}
}

func TestAPlanFitsThePage(t *testing.T) {
	attrs := func(n int) string { return strings.Repeat("a ", n) }
	tests := []struct {
		name, page string
		want       plan
	}{
		{"an ordinary page", "<p>x", plan{}},
		{"unclosed formatting", strings.Repeat("<b a=1>", 500) + strings.Repeat("<p>x", 50_000), plan{rename: true}},
		{"closed formatting", strings.Repeat("<p><b a=1>x</b>", 100_000), plan{}},
		{"many attributes", "<p " + attrs(maxAttrs+1) + ">", plan{cut: true}},
		{"as many attributes as are kept", "<p " + attrs(maxAttrs) + ">", plan{}},
		{"too many tags", strings.Repeat("<i>", maxNodes+1), plan{flat: true, rename: true}},
		{"end tags that look far", strings.Repeat("<x>", 500) + strings.Repeat("</y>", maxSteps/500+1), plan{flat: true}},
		{"tags in a style in a drawing, among too much else", "<svg><style><b a></style></svg><p " + attrs(maxAttrs+1) + ">", plan{flat: true, cut: true}},
		{"an ordinary drawing", "<svg><style>.a{}</style><title>x</title><path/></svg>", plan{}},
		{"an old script", "<script><!-- document.write('<script>x</script>') --></script><p>x", plan{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := makePlan([]byte(tt.page))
			got.nodes = 0
			if got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestARenamedPageKeepsItsElements(t *testing.T) {
	page := "<p>One <B class=x>bold</B> and <code>code</code>, <a href=/1>first<a href=/2>second</a></p><p style='display:none'><em>hidden</em></p><bold>x</bold>"
	root, err := html.Parse(bytes.NewReader(plan{rename: true}.rewrite([]byte(page))))
	if err != nil {
		t.Fatal(err)
	}
	giveBack(root)
	plain, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := render(t, root), render(t, plain); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestAttributesOverTheBoundAreLeftOut(t *testing.T) {
	page := "<p id=a " + strings.Repeat("x=1 ", maxAttrs) + "last=y>text</p><p id=b>more"
	got := string(plan{cut: true}.rewrite([]byte(page)))
	if len(got) != len(page) || strings.Contains(got, "last") || !strings.Contains(got, "<p id=a x=1") || !strings.HasSuffix(got, ">text</p><p id=b>more") {
		t.Errorf("%.80s … %s", got, got[len(got)-60:])
	}
}

// Documents put together from few different tags find more than bytes at
// random: what they have in common is that nothing is closed where it should be.
func TestTheEstimateHoldsForTangledMarkup(t *testing.T) {
	tags := strings.Split("<b>,<b x=1>,<b x=2 y=3>,</b>,<i>,</i>,<a href=1>,</a>,<font c=1>,</font>,<nobr>,</nobr>,<p>,</p>,<div>,</div>,<h1>,</h1>,"+
		"<table>,</table>,<caption>,<tr>,<td>,</td>,<col>,<select>,</select>,<option>,<li>,<ul>,</ul>,<dd>,<ruby>,<rtc>,<pre>,<button>,</button>,"+
		"<svg>,</svg>,<svg/>,<g/>,<div/>,<desc>,</desc>,<foreignObject>,</foreignObject>,<math>,<mi>,</mi>,</math>,<annotation-xml>,"+
		"<style>,</style>,<script>,</script>,<title>,</title>,<textarea>,</textarea>,<template>,</template>,<noscript>,</noscript>,<plaintext>,"+
		"<object>,</object>,<marquee>,</marquee>,<form>,</form>,<body>,</body>,<html>,</html>,<head>,<frameset>,</br>,<br>,<img>,<input>,<span>,</span>,"+
		"<!--,-->,<![CDATA[,]]>,x,y", ",")
	rng := rand.New(rand.NewPCG(1, 2))
	for range 4000 {
		var b strings.Builder
		some := make([]string, 3+rng.IntN(12))
		for i := range some {
			some[i] = tags[rng.IntN(len(tags))]
		}
		for range 1 + rng.IntN(300) {
			b.WriteString(some[rng.IntN(len(some))])
		}
		for _, text := range [][]byte{[]byte(b.String()), renameFormatting([]byte(b.String()))} {
			root, err := html.Parse(bytes.NewReader(text))
			if err != nil {
				continue
			}
			if w, got := follow(text), countNodes(root); !w.unsure && got > w.nodes+w.reopened+10 {
				t.Fatalf("the tree has %d, the estimate is %+v, of\n%s", got, w, text)
			}
		}
	}
}

// FuzzPlan holds the walk over the tags to what the parser makes of them.
func FuzzPlan(f *testing.F) {
	f.Add([]byte("<b a=1><div><div></b><p>x</div><a><table><td><a></a>"))
	f.Add([]byte("<svg><foreignObject><b></svg><style></b></style><p>x"))
	f.Add([]byte("<script><!--<script></script>--></script><b x='>'><!--></b>--!><p>"))
	f.Add([]byte("<select><b></b><textarea></b></textarea><p>x</p></select>"))
	f.Add([]byte("<table><b><tr></b><td><i></table><p>x"))
	f.Add([]byte("<noscript><b><p>x</b></noscript><template><b></template></b>"))
	f.Fuzz(func(t *testing.T, page []byte) {
		if len(page) > 4096 {
			return
		}
		text, err := convert(context.Background(), page, charset{name: "utf-8"}, MaxText)
		if err != nil {
			return
		}
		w := follow(text)
		root, err := html.Parse(bytes.NewReader(text))
		if err != nil {
			return
		}
		if got := countNodes(root); !w.unsure && got > w.nodes+w.reopened+20 {
			t.Errorf("the tree has %d, the estimate is %+v", got, w)
		}
		if !strings.Contains(strings.ToLower(string(text)), "<svg") && !strings.Contains(strings.ToLower(string(text)), "<math") {
			sameTags(t, text)
		}
		if _, err := flatten(context.Background(), text); err != nil {
			t.Error(err)
		}
		renamedText := renameFormatting(text)
		if again, err := html.Parse(bytes.NewReader(renamedText)); err == nil {
			w := follow(renamedText)
			if got := countNodes(again); !w.unsure && got > w.nodes+20 {
				t.Errorf("renamed, the tree has %d, the estimate is %+v", got, w)
			}
		}
	})
}

// sameTags compares the lexer with the tokenizer that the parser reads from.
func sameTags(t *testing.T, text []byte) {
	t.Helper()
	l := lexer{b: text}
	z := html.NewTokenizer(bytes.NewReader(text))
	for {
		kind := l.next()
		for kind == lexComment {
			kind = l.next()
		}
		tt := z.Next()
		for tt == html.TextToken || tt == html.CommentToken || tt == html.DoctypeToken {
			tt = z.Next()
		}
		if tt == html.ErrorToken || kind == lexEnd {
			if (tt == html.ErrorToken) != (kind == lexEnd) {
				t.Fatalf("one ends before the other: %v, %v at %d", kind, tt, l.pos)
			}
			return
		}
		name, _ := z.TagName()
		if got := lowerASCII(l.name); !bytes.HasPrefix(name, got) || len(got) < maxTagName && len(name) != len(got) || (tt == html.EndTagToken) != (kind == lexClose) {
			t.Fatalf("%q is %q to the tokenizer", got, name)
		}
		if tt == html.StartTagToken || tt == html.SelfClosingTagToken {
			switch string(name) {
			case "script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes", "noscript":
				l.skipRaw(atom.Lookup(name))
			case "plaintext":
				return
			}
		}
	}
}

func lowerASCII(b []byte) []byte {
	out := bytes.Clone(b)
	for i, c := range out {
		if 'A' <= c && c <= 'Z' {
			out[i] = c + 'a' - 'A'
		}
	}
	return out
}
