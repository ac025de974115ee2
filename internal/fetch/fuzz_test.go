package fetch

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// Whatever the bytes and the label: decoding ends, stays within the budget,
// and either gives bytes or says why not.
func FuzzDecode(f *testing.F) {
	const page = "<html><p>hello</p></html>"
	for _, c := range []coding{plain, gzipCoding, zlibCoding, rawDeflate, brCoding, zstdCoding} {
		for _, label := range []string{"", "gzip", "deflate", "br", "zstd", "gzip, br", "identity"} {
			f.Add([]byte(packed(c, page)), label, false)
		}
	}
	f.Add([]byte(packed(gzipCoding, "")+packed(gzipCoding, "x")+"garbage"), "gzip", true)
	f.Add([]byte(bomb(gzipCoding, 1<<20)), "gzip", false)
	f.Add([]byte(bomb(brCoding, 1<<20)), "br", false)
	f.Fuzz(func(t *testing.T, wire []byte, label string, file bool) {
		declared, err := codings([]string{label})
		if err != nil {
			if len(declared) != 0 {
				t.Error("codings and an error")
			}
			return
		}
		b := &budget{max: 64 << 10}
		d, err := decode(&capped{r: strings.NewReader(string(wire)), budget: b}, declared, file)
		if err != nil {
			return
		}
		defer d.Close()
		n, err := io.Copy(io.Discard, d)
		if n > b.max+64<<10 {
			t.Errorf("%d bytes came out, the budget is %d", n, b.max)
		}
		if err == nil && d.over() == nil && n > b.max {
			t.Errorf("%d bytes came out unnoticed", n)
		}
		if _, ok := errors.AsType[*overError](err); ok && n <= b.max && len(wire) <= int(b.max) {
			t.Errorf("over the budget with %d bytes", n)
		}
	})
}

func FuzzRefresh(f *testing.F) {
	for _, s := range []string{"0", "5; url=/x", "0,url='a b'", "1.5;URL=\"x", ".5;x", "0 url = y", "99999999999999999999;z", "0;url", "0;url=", " \t0\t;\turl\t=\tx ", "0;'x'", "5x"} {
		f.Add(s, "<meta http-equiv=refresh content=\""+s+"\">", "text/html")
	}
	f.Add("", "<base href=/b><!-- x --><noscript><meta http-equiv=refresh content=0></noscript><template></template>", "text/html; charset=utf-16le")
	f.Fuzz(func(t *testing.T, content, page, contentType string) {
		r, ok := parseRefresh(content)
		if !ok && r.url != "" {
			t.Errorf("%q: a URL of a refresh that is none", content)
		}
		if r.delay < 0 || r.delay > time.Hour {
			t.Errorf("%q: delay %v", content, r.delay)
		}
		if strings.Trim(r.url, htmlSpace) != r.url || !strings.Contains(content, r.url) {
			t.Errorf("%q: URL %q", content, r.url)
		}
		if len(page) > refreshScan {
			page = page[:refreshScan]
		}
		r, _, ok = metaRefresh([]byte(page), contentType)
		if ok && (r.delay < 0 || r.delay > time.Hour) {
			t.Errorf("%q: delay %v", page, r.delay)
		}
	})
}

func FuzzRobots(f *testing.F) {
	f.Add("User-agent: *\nDisallow: /a*b$\nAllow: /\n", "/a/b")
	f.Add("User-agent: sift\nDisallow: /%7e%zz%", "/~%2f?x")
	f.Fuzz(func(t *testing.T, text, path string) {
		rules := parseRobots([]byte(text), "sift")
		if len(rules.rules) > robotsMaxRules {
			t.Errorf("%d rules", len(rules.rules))
		}
		rules.allowed(path)
		if n := normalEscapes(path); normalEscapes(n) != n {
			t.Errorf("%q: normal form %q is not stable", path, n)
		}
	})
}

func FuzzClip(f *testing.F) {
	f.Add("text/html; charset=\"\u202e\x1b[31m\"", 12)
	f.Add("\xff\xfe日本語", 5)
	f.Fuzz(func(t *testing.T, s string, n int) {
		if n < 0 || n > 1<<16 {
			return
		}
		got := clip(s, n)
		if len(got) > n || !utf8.ValidString(got) {
			t.Errorf("%q cut to %d: %q", s, n, got)
		}
	})
}
