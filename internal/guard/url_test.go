package guard

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAURLIsPutIntoCanonicalForm(t *testing.T) {
	g, _ := newGuard(t, Config{Allow: []string{"127.0.0.1:9000"}})
	for raw, want := range map[string]string{
		"http://example.com":                              "http://example.com/",
		"HTTP://EXAMPLE.com/A":                            "http://example.com/A",
		"hTTpS://example.com/":                            "https://example.com/",
		"http://example.com:80/":                          "http://example.com/",
		"https://example.com:443":                         "https://example.com/",
		"http://example.com:443/":                         "http://example.com:443/",
		"https://example.com:80/":                         "https://example.com:80/",
		"http://example.com:/":                            "http://example.com/",
		"http://example.com:9000/":                        "http://example.com:9000/",
		"http://example.com./":                            "http://example.com/",
		"http://example.com.:80/":                         "http://example.com/",
		"http://münchen.example/":                         "http://xn--mnchen-3ya.example/",
		"http://MÜNCHEN.example/":                         "http://xn--mnchen-3ya.example/",
		"http://XN--MNCHEN-3YA.example/":                  "http://xn--mnchen-3ya.example/",
		"http://straße.example/":                          "http://xn--strae-oqa.example/", // UTS 46 not transitional
		"https://例え.テスト/":                                 "https://xn--r8jz45g.xn--zckzah/",
		"https://рф.example/":                             "https://xn--p1ai.example/",
		"https://مثال.إختبار/":                            "https://xn--mgbh0fb.xn--kgbechtv/",
		"http://i❤.example/":                              "http://xn--i-7iq.example/",
		"http://a_b.example/":                             "http://a_b.example/",
		"http://_dmarc.example.com/":                      "http://_dmarc.example.com/",
		"http://-a.example/":                              "http://-a.example/",
		"http://a-.example/":                              "http://a-.example/",
		"http://r3---sn-abc.example/":                     "http://r3---sn-abc.example/",
		"http://ab--cd.example/":                          "http://ab--cd.example/",
		"http://1and1.example/":                           "http://1and1.example/",
		"http://" + strings.Repeat("a", 63) + ".example/": "http://" + strings.Repeat("a", 63) + ".example/",
		"http://intranet/":                                "http://intranet/",
		"http://8.8.8.8/":                                 "http://8.8.8.8/",
		"http://[2606:4700:4700:0:0:0:0:1111]:443/":       "http://[2606:4700:4700::1111]:443/",
		"http://[2001:DB8::A]/":                           "http://[2001:db8::a]/",
		"http://[::ffff:8.8.8.8]/":                        "http://8.8.8.8/",

		// The path and the query, byte for byte as they are sent.
		"https://example.com?x=1":                              "https://example.com/?x=1",
		"https://example.com/?":                                "https://example.com/?",
		"https://example.com/%E2%82%AC?q=%20x":                 "https://example.com/%E2%82%AC?q=%20x",
		"https://example.com/a%2Fb%2e%2e":                      "https://example.com/a%2Fb%2e%2e",
		"https://example.com/a;b=c?d=e|f":                      "https://example.com/a;b=c?d=e|f",
		"https://example.com/?re=\\d+":                         "https://example.com/?re=\\d+",
		"https://example.com//double//slash":                   "https://example.com//double//slash",
		"https://example.com/€?€=ü":                            "https://example.com/%E2%82%AC?%E2%82%AC=%C3%BC",
		"https://example.com/a|b\"<>^`{}":                      "https://example.com/a%7Cb%22%3C%3E%5E%60%7B%7D",
		"https://example.com/?a=\"<>^`{}'":                     "https://example.com/?a=%22%3C%3E^`{}'",
		"https://example.com/100%":                             "https://example.com/100%25",
		"https://example.com/100%zz%4":                         "https://example.com/100%25zz%254",
		"https://example.com/?q=100%":                          "https://example.com/?q=100%",
		"https://example.com/a/./b/../c":                       "https://example.com/a/c",
		"https://example.com/a/b/..":                           "https://example.com/a/",
		"https://example.com/../../a/.":                        "https://example.com/a/",
		"https://example.com/a/..//b":                          "https://example.com//b",
		"https://example.com/...":                              "https://example.com/...",
		"https://example.com/~a-b_c.d!$&'()*+,=:@":             "https://example.com/~a-b_c.d!$&'()*+,=:@",
		"https://example.com/[x]?y[]=1":                        "https://example.com/[x]?y[]=1",
		"https://example.com/p#frag?x":                         "https://example.com/p",
		"http://example.com#@127.0.0.1/":                       "http://example.com/",
		"https://web.archive.org/web/2020/http://example.com/": "https://web.archive.org/web/2020/http://example.com/",
	} {
		u, err := g.CheckURL(raw)
		if err != nil {
			t.Errorf("%s: %v", raw, err)
			continue
		}
		if u.String() != want {
			t.Errorf("%s became %s, want %s", raw, u, want)
		}
		// What net/http would send is what String shows.
		h := u.HTTP()
		if got := h.Scheme + "://" + h.Host + h.RequestURI(); got != want {
			t.Errorf("%s would be sent as %s, want %s", raw, got, want)
		}
		if h.String() != want {
			t.Errorf("%s as a url.URL is %s, want %s", raw, h, want)
		}
	}
}

func TestAURLKnowsItsParts(t *testing.T) {
	g, _ := newGuard(t, Config{})
	type parts struct {
		Scheme, Host, Fragment string
		Port                   uint16
		Literal                bool
	}
	for raw, want := range map[string]parts{
		"http://Example.com/a#Über":         {"http", "example.com", "Über", 80, false},
		"https://example.com:80/#":          {"https", "example.com", "", 80, false},
		"https://[2606:4700:4700::1111]/#a": {"https", "2606:4700:4700::1111", "a", 443, true},
		"http://8.8.8.8:443/?#?/#":          {"http", "8.8.8.8", "?/#", 443, true},
	} {
		u, err := g.CheckURL(raw)
		if err != nil {
			t.Fatal(err)
		}
		got := parts{u.Scheme(), u.Host(), u.Fragment(), u.Port(), u.Literal()}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", raw, diff)
		}
	}
}

func TestAURLCannotBeChangedThroughItsHTTPForm(t *testing.T) {
	g, _ := newGuard(t, Config{})
	u, err := g.CheckURL("https://example.com/a?b")
	if err != nil {
		t.Fatal(err)
	}
	h := u.HTTP()
	h.Host, h.Path, h.RawQuery, h.User = "127.0.0.1", "/x", "y", url.User("z")
	if got := u.HTTP().String(); got != "https://example.com/a?b" {
		t.Errorf("the next copy is %s", got)
	}
}

func TestTheRefusalSaysWhatIsWrong(t *testing.T) {
	g, _ := newGuard(t, Config{Ports: []uint16{443}})
	for raw, want := range map[string]string{
		"":                                 "blocked: the URL has no scheme; write http:// or https:// in front of it",
		"example.com/":                     "blocked: the URL has no scheme; write http:// or https:// in front of it",
		"://example.com/":                  "blocked: the URL has no scheme; write http:// or https:// in front of it",
		"ftp://example.com/":               `blocked: scheme "ftp" is not allowed; only http and https are`,
		"https:/example.com/":              "blocked: the URL needs two slashes behind https:",
		"https://u@example.com/":           "blocked: the URL has user information in front of its host; leave it and the @ out",
		"https://@example.com/":            "blocked: the URL has user information in front of its host; leave it and the @ out",
		"https://:@example.com/":           "blocked: the URL has user information in front of its host; leave it and the @ out",
		"https://example.com:80/":          "blocked: port 80 is not allowed; only 443",
		"http://example.com/":              "blocked: port 80 is not allowed; only 443",
		"https://example.com:0443/":        `blocked: port "0443" is not a number from 1 to 65535 in plain digits`,
		"https://example.com:0/":           `blocked: port "0" is not a number from 1 to 65535 in plain digits`,
		"https://example.com:４４３/":         `blocked: port "４４３" is not a number from 1 to 65535 in plain digits`,
		"https://:443/":                    "blocked: the URL has no host",
		"https://./":                       "blocked: the host has an empty label: two dots in a row, or a dot in front",
		"https://.example.com/":            "blocked: the host has an empty label: two dots in a row, or a dot in front",
		"https://example.com\\/":           "blocked: the URL has a backslash before its query, which parsers read differently; write / or %5C",
		"https://example.com/ ":            "blocked: the URL has a space or control character at byte 20; percent-encode it",
		"https://example.com/\xff":         "blocked: the URL is not valid UTF-8; percent-encode it",
		"https://127.1/":                   `blocked: host "127.1" ends in a number and is not an address in four decimal parts`,
		"https://0x/":                      `blocked: host "0x" ends in a number and is not an address in four decimal parts`,
		"https://8.8.8.8./":                `blocked: host "8.8.8.8." ends in a number and is not an address in four decimal parts`,
		"https://[::1/":                    `blocked: host "[::1" is not an IPv6 address in brackets, without a zone`,
		"https://[fe80::1%25eth0]/":        `blocked: host "[fe80::1%25eth0]" is not an IPv6 address in brackets, without a zone`,
		"https://a%62c.example/":           `blocked: host "a%62c.example" has a percent sign; write it plainly`,
		"https://exam!ple.com/":            `blocked: host label "exam!ple" has a character that no host name has`,
		"https://ｅxample.com/":             `blocked: host label "ｅxample" only looks different from an ordinary name; write it in ASCII`,
		"https://例え。テスト/":                  `blocked: host label "例え。テスト" has a character that no host name has`,
		"https://℀例.example/":              `blocked: host label "℀例" has a character that no host name has`,
		"https://xn--a.example/":           `blocked: host label "xn--a" is not an international name in its canonical form`,
		"https://xn--.example/":            `blocked: host label "xn--" is not an international name in its canonical form`,
		"https://xn--xample-hva5671a.com/": `blocked: host label "xn--xample-hva5671a" is not an international name in its canonical form`,
		"https://http//example.com":        "blocked: the URL has a second scheme where its host should be; write one only",
	} {
		_, err := g.CheckURL(raw)
		if err == nil {
			t.Errorf("%q was accepted", raw)
			continue
		}
		if err.Error() != want {
			t.Errorf("%q:\n got %s\nwant %s", raw, err, want)
		}
	}
}

func TestAnALabelThatIsNotCanonicalIsRefused(t *testing.T) {
	g, _ := newGuard(t, Config{})
	for _, host := range []string{
		"xn--mnchen-3Ya.example", // decodes to münchen, case does not matter: fine
		"xn--Mnchen-3ya.example", // the same
	} {
		if _, err := g.CheckURL("http://" + host + "/"); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
	for _, host := range []string{
		"xn--fsqu00a-.example", // trailing hyphen
		"xn--a-ecp.ru",         // decodes to a̧… with a combining mark that normalises away
		"xn--xn--a--gua.example",
		"xn--localhost-.example",
		"xn--0a.example",
	} {
		if u, err := g.CheckURL("http://" + host + "/"); err == nil {
			t.Errorf("%s was accepted as %s", host, u)
		}
	}
}

func TestLengthLimitsHold(t *testing.T) {
	g, _ := newGuard(t, Config{})
	base, err := g.CheckURL("https://example.com/")
	if err != nil {
		t.Fatal(err)
	}
	const stem = "https://example.com/"
	fits := stem + strings.Repeat("a", 8192-len(stem))
	if _, err := g.CheckURL(fits); err != nil {
		t.Errorf("8192 bytes: %v", err)
	}
	if _, err := g.CheckReference(base, fits); err != nil {
		t.Errorf("8192 bytes by reference: %v", err)
	}
	tripled := stem + strings.Repeat("ü", 2000) // 4020 bytes, 12020 when encoded
	label := strings.Repeat("a", 64)
	name := strings.Repeat("a.", 126) + "aa" // 254 bytes
	for what, raw := range map[string]string{
		"the URL is longer than 8192 bytes":                                                 fits + "a",
		"the URL is longer than 8192 bytes ":                                                tripled,
		"the URL is longer than 8192 bytes  ":                                               stem + "#" + strings.Repeat("a", 8192),
		`host label "` + label[:40] + `…" is longer than 63 bytes`:                          "http://" + label + ".example/",
		`host label "` + strings.Repeat("ü", 20) + `…" is longer than 63 bytes`:             "http://" + strings.Repeat("ü", 60) + ".example/",
		`host label "` + strings.Repeat("ü", 20) + `…" is longer than 63 bytes `:            "http://" + strings.Repeat("ü", 4000) + ".example/",
		`host "` + name[:40] + `…" is longer than 253 bytes`:                                "http://" + name + "/",
		`scheme "` + strings.Repeat("s", 40) + `…" is not allowed; only http and https are`: strings.Repeat("s", 4000) + ":x",
	} {
		_, err := g.CheckURL(raw)
		if want := "blocked: " + strings.TrimRight(what, " "); err == nil || err.Error() != want {
			t.Errorf("CheckURL of %d bytes gives %v, want %s", len(raw), err, want)
		}
		_, err = g.CheckReference(base, raw)
		if want := "blocked: " + strings.TrimRight(what, " "); err == nil || err.Error() != want {
			t.Errorf("CheckReference of %d bytes gives %v, want %s", len(raw), err, want)
		}
	}
	if name := strings.TrimSuffix(name, "a"); len(name) != 253 {
		t.Fatal(len(name))
	} else if _, err := g.CheckURL("http://" + name + "./"); err != nil {
		t.Errorf("a name of 253 bytes: %v", err)
	}
	// A short reference on a long base is held to the limit as well.
	long, err := g.CheckURL(fits[:len(fits)-1] + "/")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.CheckReference(long, "ab"); err == nil {
		t.Error("a reference went over the limit together with its base")
	}
}

// The examples of RFC 3986 section 5.4, as far as they stay on http.
func TestReferencesAreResolvedByRFC3986(t *testing.T) {
	g, _ := newGuard(t, Config{})
	base, err := g.CheckURL("http://a/b/c/d;p?q")
	if err != nil {
		t.Fatal(err)
	}
	for ref, want := range map[string]string{
		"g":             "http://a/b/c/g",
		"./g":           "http://a/b/c/g",
		"g/":            "http://a/b/c/g/",
		"/g":            "http://a/g",
		"//g":           "http://g/",
		"?y":            "http://a/b/c/d;p?y",
		"g?y":           "http://a/b/c/g?y",
		"#s":            "http://a/b/c/d;p?q",
		"g#s":           "http://a/b/c/g",
		"g?y#s":         "http://a/b/c/g?y",
		";x":            "http://a/b/c/;x",
		"g;x":           "http://a/b/c/g;x",
		"g;x?y#s":       "http://a/b/c/g;x?y",
		"":              "http://a/b/c/d;p?q",
		".":             "http://a/b/c/",
		"./":            "http://a/b/c/",
		"..":            "http://a/b/",
		"../":           "http://a/b/",
		"../g":          "http://a/b/g",
		"../..":         "http://a/",
		"../../":        "http://a/",
		"../../g":       "http://a/g",
		"../../../g":    "http://a/g",
		"../../../../g": "http://a/g",
		"/./g":          "http://a/g",
		"/../g":         "http://a/g",
		"g.":            "http://a/b/c/g.",
		".g":            "http://a/b/c/.g",
		"g..":           "http://a/b/c/g..",
		"..g":           "http://a/b/c/..g",
		"./../g":        "http://a/b/g",
		"./g/.":         "http://a/b/c/g/",
		"g/./h":         "http://a/b/c/g/h",
		"g/../h":        "http://a/b/c/h",
		"g;x=1/./y":     "http://a/b/c/g;x=1/y",
		"g;x=1/../y":    "http://a/b/c/y",
		"g?y/./x":       "http://a/b/c/g?y/./x",
		"g?y/../x":      "http://a/b/c/g?y/../x",
		"g#s/./x":       "http://a/b/c/g",
	} {
		u, err := g.CheckReference(base, ref)
		if err != nil {
			t.Errorf("%q: %v", ref, err)
			continue
		}
		if u.String() != want {
			t.Errorf("%q became %s, want %s", ref, u, want)
		}
		if _, fragment, _ := strings.Cut(ref, "#"); u.Fragment() != fragment {
			t.Errorf("%q has fragment %q", ref, u.Fragment())
		}
	}
}

func TestAReferenceIsReadAsServersWriteIt(t *testing.T) {
	g, _ := newGuard(t, Config{})
	base, err := g.CheckURL("https://example.com/dir/page?q#f")
	if err != nil {
		t.Fatal(err)
	}
	for ref, want := range map[string]string{
		" \t/a\r\n":                        "https://example.com/a",
		"/straße und weg?ü=1 2":            "https://example.com/stra%C3%9Fe%20und%20weg?%C3%BC=1%202",
		"/latin1-\xe9":                     "https://example.com/latin1-%E9",
		"/%zz":                             "https://example.com/%25zz",
		"next page":                        "https://example.com/dir/next%20page",
		"?x":                               "https://example.com/dir/page?x",
		"?":                                "https://example.com/dir/page?",
		"//other.example":                  "https://other.example/",
		"http://other.example:443/x":       "http://other.example:443/x",
		"HTTP://OTHER.example./":           "http://other.example/",
		"http://münchen.example/ä#ö":       "http://xn--mnchen-3ya.example/%C3%A4",
		"127.0.0.1:8080/x":                 "https://example.com/dir/127.0.0.1:8080/x", // a path, as in browsers
		"/..//other.example/":              "https://example.com//other.example/",
		"/a?u=http://10.0.0.1/&v=\\\\host": "https://example.com/a?u=http://10.0.0.1/&v=\\\\host",
	} {
		u, err := g.CheckReference(base, ref)
		if err != nil {
			t.Errorf("%q: %v", ref, err)
			continue
		}
		if u.String() != want {
			t.Errorf("%q became %s, want %s", ref, u, want)
		}
	}
	for ref, want := range map[string]string{
		"/a\nb":               "blocked: the redirect's URL has a control character at byte 2",
		"/a\x00":              "blocked: the redirect's URL has a control character at byte 2",
		"/a\x7f":              "blocked: the redirect's URL has a control character at byte 2",
		"http://exa mple.com": `blocked: host label "exa mple" has a character that no host name has`,
		"http://ex\xe9.com/":  `blocked: host label "ex\xe9" is not a valid international name`,
		`/\127.0.0.1/`:        "blocked: the URL has a backslash before its query, which parsers read differently; write / or %5C",
		`\\127.0.0.1\`:        "blocked: the URL has a backslash before its query, which parsers read differently; write / or %5C",
		"///127.0.0.1/":       "blocked: the URL has no host",
		"//:80/":              "blocked: the URL has no host",
		"https:127.0.0.1":     "blocked: the URL needs two slashes behind https:",
		"javascript:alert(1)": `blocked: scheme "javascript" is not allowed; only http and https are`,
		"//u:p@example.com/":  "blocked: the URL has user information in front of its host; leave it and the @ out",
		"//example.com:22/":   "blocked: port 22 is not allowed; only 80 and 443",
		"//0x7f.1/":           `blocked: host "0x7f.1" ends in a number and is not an address in four decimal parts`,
	} {
		u, err := g.CheckReference(base, ref)
		if err == nil {
			t.Errorf("%q was accepted as %s", ref, u)
			continue
		}
		if err.Error() != want {
			t.Errorf("%q:\n got %s\nwant %s", ref, err, want)
		}
	}
	if _, err := g.CheckReference(nil, "/a"); err == nil {
		t.Error("a relative reference without a base was accepted")
	}
}

func FuzzCheckURL(f *testing.F) {
	for _, c := range readCases(f) {
		if c.URL != "" {
			f.Add(c.URL)
		}
	}
	g, _ := newGuard(f, Config{})
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := g.CheckURL(raw)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "blocked: ") {
				t.Fatalf("%q: %v", raw, err)
			}
			return
		}
		checkCanonical(t, g, u)
		if strings.Contains(raw, "@") {
			authority := strings.SplitN(raw, "/", 4)[2]
			if strings.Contains(strings.FieldsFunc(authority, func(r rune) bool { return r == '?' || r == '#' })[0], "@") {
				t.Fatalf("%q has user information and was accepted", raw)
			}
		}
	})
}

func FuzzCheckReference(f *testing.F) {
	for _, c := range readCases(f) {
		for _, h := range c.Hops {
			f.Add("http://start.example/dir/page?q", h.Location)
		}
	}
	f.Add("http://a/b/c/d;p?q", "../../g?y#s")
	f.Add("https://[2606:4700:4700::1111]:80/", "ä b\xff")
	g, _ := newGuard(f, Config{})
	f.Fuzz(func(t *testing.T, rawBase, ref string) {
		base, err := g.CheckURL(rawBase)
		if err != nil {
			return
		}
		before := *base
		u, err := g.CheckReference(base, ref)
		if *base != before {
			t.Fatal("the base was changed")
		}
		if err != nil {
			return
		}
		checkCanonical(t, g, u)
		// A reference that names no authority stays where it is.
		if r := strings.Trim(ref, " \t\r\n\f"); !strings.HasPrefix(r, "//") && !strings.Contains(r, ":") {
			if u.Host() != base.Host() || u.Port() != base.Port() || u.Scheme() != base.Scheme() {
				t.Fatalf("%q on %s went to %s", ref, base, u)
			}
		}
	})
}

// checkCanonical holds a URL to what every user of it relies on.
func checkCanonical(t *testing.T, g *Guard, u *URL) {
	t.Helper()
	text := u.String()
	if len(text) > 8192 {
		t.Fatalf("%d bytes", len(text))
	}
	for i := range len(text) {
		if text[i] <= ' ' || text[i] >= 0x7f {
			t.Fatalf("%q has a byte that may not be sent", text)
		}
	}
	again, err := g.CheckURL(text)
	if err != nil {
		t.Fatalf("%s is refused when read again: %v", text, err)
	}
	if again.String() != text {
		t.Fatalf("%s becomes %s when read again", text, again)
	}
	std, err := url.Parse(text)
	if err != nil {
		t.Fatalf("net/url refuses %s: %v", text, err)
	}
	if std.Hostname() != u.Host() || std.User != nil || std.Scheme != u.Scheme() {
		t.Fatalf("net/url reads %s as %+v", text, std)
	}
	if got := u.HTTP(); got.String() != text || got.Scheme+"://"+got.Host+got.RequestURI() != text {
		t.Fatalf("%s would be sent as %s", text, got)
	}
}
