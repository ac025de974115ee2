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

// What a server packs, in any of the codings or two of them, comes out as it
// was: whole, and the same byte for byte.
func FuzzPacked(f *testing.F) {
	for i := range 5 {
		f.Add("<html><p>hello</p></html>", uint8(i), i%2 == 0)
		f.Add("", uint8(i), i%2 == 1)
		f.Add("\x1f\x8b\x08\x00\x78\x9c", uint8(i), false)
	}
	f.Fuzz(func(t *testing.T, body string, which uint8, twice bool) {
		if len(body) > 64<<10 {
			return
		}
		c := []coding{gzipCoding, zlibCoding, rawDeflate, brCoding, zstdCoding}[which%5]
		wire, declared := packed(c, body), []coding{c}
		head := []byte(wire)[:min(len(wire), peekBytes)]
		if (c == brCoding || c == rawDeflate) && (looksText(head) || opens(zlibCoding, head)) {
			return // no number at its beginning, and a few bytes may be those of a text
		}
		if c == rawDeflate {
			declared[0] = zlibCoding // what such servers say
		}
		if twice {
			wire, declared = packed(gzipCoding, wire), append(declared, gzipCoding)
		}
		d, err := decode(&capped{r: strings.NewReader(wire), budget: &budget{max: 256 << 10}}, declared, true)
		if err != nil {
			t.Fatalf("%q packed as %q: %v", body, declared, err)
		}
		defer d.Close()
		var got strings.Builder
		if _, err := io.Copy(&got, d); err != nil || got.String() != body {
			t.Fatalf("%q packed as %q becomes %q, %v", body, declared, got.String(), err)
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
