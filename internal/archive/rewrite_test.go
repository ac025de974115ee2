package archive

import (
	"bytes"
	"strings"
	"testing"
)

func TestLinksOfARewrittenPageAreThoseOfTheOriginalAgain(t *testing.T) {
	const at = "https://web.archive.org/web/20190304050607/http://a.example/page"
	for _, tt := range []struct{ name, body, want string }{
		{"root-relative", `<a href="/web/20190304050607/http://a.example/x?q=1&amp;r">`, `<a href="http://a.example/x?q=1&amp;r">`},
		{"absolute", `<a href='https://web.archive.org/web/20190304050607/https://b.example/'>`, `<a href='https://b.example/'>`},
		{"absolute, the other scheme", `<a href=http://web.archive.org/web/20190304050607/https://b.example/>`, `<a href=https://b.example/>`},
		{"without scheme", `<img src="//web.archive.org/web/20190304050607im_/http://a.example/i.png">`, `<img src="http://a.example/i.png">`},
		{"flags", `url(/web/20190304050607cs_/http://a.example/c.css)`, `url(http://a.example/c.css)`},
		{"other dates", `"/web/2019/http://a.example/"`, `"http://a.example/"`},
		{"in a srcset", `srcset="/web/20190304050607im_/http://a.example/1.png 1x, /web/20190304050607im_/http://a.example/2.png 2x"`, `srcset="http://a.example/1.png 1x, http://a.example/2.png 2x"`},
		{"in a script", `{"u":"https:\/\/web.archive.org\/web\/20190304050607\/https:\/\/a.example\/x"}`, `{"u":"https:\/\/a.example\/x"}`},
		{"in a script, from the root", `{"u":"\/web\/20190304050607\/https:\/\/a.example\/x"}`, `{"u":"https:\/\/a.example\/x"}`},
		{"one after the other", `"/web/20190304050607/http://a.example/""/web/20190304050607/http://a.example/"`, `"http://a.example/""http://a.example/"`},
		{"one layer only", `"/web/20190304050607/https://web.archive.org/web/20100101000000/http://a.example/"`, `"https://web.archive.org/web/20100101000000/http://a.example/"`},
		{"at the very start", `/web/20190304050607/http://a.example/`, `http://a.example/`},
		{"the banner", "<body><!-- BEGIN WAYBACK TOOLBAR INSERT --><div>About this capture</div>\n<!-- END WAYBACK TOOLBAR INSERT --><p>text", "<body><p>text"},
		{"half a banner", "<body><!-- BEGIN WAYBACK TOOLBAR INSERT --><p>text", "<body><!-- BEGIN WAYBACK TOOLBAR INSERT --><p>text"},

		{"nothing to undo", `<a href="http://a.example/">`, `<a href="http://a.example/">`},
		{"another archive", `<a href="https://other.example/web/20190304050607/http://a.example/">`, `<a href="https://other.example/web/20190304050607/http://a.example/">`},
		{"a longer host", `<a href="https://xweb.archive.org/web/20190304050607/http://a.example/">`, `<a href="https://xweb.archive.org/web/20190304050607/http://a.example/">`},
		{"in the middle of a path", `<a href="/my/web/20190304050607/http://a.example/">`, `<a href="/my/web/20190304050607/http://a.example/">`},
		{"no date", `<a href="/web/http://a.example/">`, `<a href="/web/http://a.example/">`},
		{"too long a date", `<a href="/web/201903040506070/http://a.example/">`, `<a href="/web/201903040506070/http://a.example/">`},
		{"no link behind it", `<a href="/web/20190304050607/httpd.html">`, `<a href="/web/20190304050607/httpd.html">`},
		{"cut off", `<a href="/web/20190304050607/http:`, `<a href="/web/20190304050607/http:`},
		{"a PDF", "%PDF-1.7 /web/20190304050607/http://a.example/", "%PDF-1.7 /web/20190304050607/http://a.example/"},
		{"a picture", "\x89PNG\x00/web/20190304050607/http://a.example/", "\x89PNG\x00/web/20190304050607/http://a.example/"},
		{"empty", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			body := []byte(tt.body)
			if got := string(Unrewrite(body, at)); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if string(body) != tt.body {
				t.Error("the body was changed")
			}
		})
	}
	const link = `"/web/20190304050607/http://a.example/"`
	for u, want := range map[string]string{
		"https://web.archive.org/web/20190304050607id_/http://a.example/": link, // raw already
		"https://x.example/AbCdE":                                   link,
		"https://x.example/a/web/20190304050607/http://a.example/":  link,
		"https://x.example/web/20190304050607if_/http://a.example/": `"http://a.example/"`,
	} {
		if got := string(Unrewrite([]byte(link), u)); got != want {
			t.Errorf("%s: got %s, want %s", u, got, want)
		}
	}
	const rootLink = `"/20190304050607/http://a.example/" "https://archive.md:8080/2019/http://b.example/"`
	if got := string(Unrewrite([]byte(rootLink), "http://archive.md:8080/20190304050607/http://a.example/")); got != `"http://a.example/" "http://b.example/"` {
		t.Errorf("copies at the root: got %s", got)
	}
}

func TestALongPageIsUnrewrittenInOnePass(t *testing.T) {
	// Text that looks like a prefix nearly everywhere.
	body := bytes.Repeat([]byte("/web/20190304050607/http"), 400_000)
	if got := Unrewrite(body, "https://web.archive.org/web/20190304050607/http://a.example/"); len(got) != len(body) {
		t.Errorf("%d bytes of %d", len(got), len(body))
	}
	links := strings.Repeat(`<a href="/web/20190304050607/http://a.example/">`, 100_000)
	if got := Unrewrite([]byte(links), "https://web.archive.org/web/20190304050607/http://a.example/"); string(got) != strings.Repeat(`<a href="http://a.example/">`, 100_000) {
		t.Error("links are left")
	}
}
