package normalize

import (
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sift.build/sift/internal/dom"
)

func TestReferencesResolveAsInABrowser(t *testing.T) {
	base, _ := url.Parse("https://Example.com/docs/guide/page.html?x=1#frag")
	r := newResolver(base)
	for ref, want := range map[string]string{
		"next.html":                     "https://example.com/docs/guide/next.html",
		"../up.html":                    "https://example.com/docs/up.html",
		"../../../../up":                "https://example.com/up",
		"./":                            "https://example.com/docs/guide/",
		"..":                            "https://example.com/docs/",
		"a/./b/../c":                    "https://example.com/docs/guide/a/c",
		"%2e%2E/up":                     "https://example.com/docs/up",
		"/root":                         "https://example.com/root",
		"//cdn.example/x":               "https://cdn.example/x",
		`\\cdn.example\x\y`:             "https://cdn.example/x/y",
		`dir\file`:                      "https://example.com/docs/guide/dir/file",
		"?q=a b":                        "https://example.com/docs/guide/page.html?q=a%20b",
		"#part":                         "https://example.com/docs/guide/page.html?x=1#part",
		"":                              "https://example.com/docs/guide/page.html?x=1",
		"HTTP://HOST.example/Path":      "http://host.example/Path",
		"https:rel":                     "https://example.com/docs/guide/rel",
		"http:other":                    "http://other",
		"  /img/\nwinch\r.png\t ":       "https://example.com/img/winch.png",
		"https://müller.example/ü?ü#ü":  "https://xn--mller-kva.example/%C3%BC?%C3%BC#%C3%BC",
		"/100%":                         "https://example.com/100%",
		"/a%zz":                         "https://example.com/a%zz",
		"/wiki/Lock_(water)":            "https://example.com/wiki/Lock_(water)",
		`/q"<>|\^{}` + "`":              "https://example.com/q%22%3C%3E%7C/%5E%7B%7D%60",
		"https://u:p@host.example/x":    "https://u:p@host.example/x",
		"https://a@b@host.example/":     "https://a%40b@host.example/",
		"https://[::1]:8080/x":          "https://[::1]:8080/x",
		"mailto:a@example.org?x=y z":    "mailto:a@example.org?x=y%20z",
		"tel:+49 1":                     "tel:+49%201",
		"javascript:alert(1)":           "",
		"JaVaScRiPt:alert(1)":           "",
		"java\nscript:alert(1)":         "",
		"data:text/html,x":              "",
		"file:///etc/passwd":            "",
		"vbscript:x":                    "",
		"blob:https://example.com/x":    "",
		"about:blank":                   "",
		"mailto:":                       "",
		"https://":                      "",
		"https://ho st/":                "",
		"https://exa<mple.com/":         "",
		"/" + strings.Repeat("x", 9000): "",
	} {
		if got, _ := r.resolve(ref); got != want {
			t.Errorf("%q: %q, want %q", ref, got, want)
		}
	}
}

func TestPlainReferencesResolveAsNetURLDoes(t *testing.T) {
	base, _ := url.Parse("https://example.com/docs/guide/page.html?x=1")
	r := newResolver(base)
	rapid.Check(t, func(t *rapid.T) {
		segs := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b.html", "..", ".", "c_(d)", "e~", "%41"}), 1, 6).Draw(t, "segments")
		ref := rapid.SampledFrom([]string{"", "/", "//h.example/"}).Draw(t, "prefix") + strings.Join(segs, "/") + rapid.SampledFrom([]string{"", "/", "?q=1&r=2", "#f", "?#"}).Draw(t, "suffix")
		u, err := url.Parse(ref)
		if err != nil {
			t.Skip()
		}
		want := base.ResolveReference(u).String()
		got, _ := r.resolve(ref)
		// net/url drops an empty fragment's sign, and keeps no empty query.
		trim := func(s string) string { return strings.TrimSuffix(strings.TrimSuffix(s, "#"), "?") }
		if trim(got) != trim(want) {
			t.Fatalf("%q: %q, net/url %q", ref, got, want)
		}
	})
}

func TestALongBaseCannotBlowUpAPageOfShortLinks(t *testing.T) {
	r := parse(t, `<base href="https://h.example/`+strings.Repeat("d", 8000)+`/">`+strings.Repeat(`<a href=x>y</a> `, 20_000)+`<a href="https://h.example/last">z</a>`)
	total, last := 0, ""
	for n := r.Body; n != nil; n = following(n, r.Body, true) {
		href := dom.Attr(n, "href")
		total += len(href)
		if href != "" {
			last = href
		}
	}
	if total > growthMax+1<<20 || total < growthMax/2 || last != "https://h.example/last" {
		t.Errorf("%d bytes of links, the last one %q", total, last)
	}
}
