package archive

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sift.build/sift/internal/fetch"
)

func TestABaseSaysWhichInterfacesAnArchiveHas(t *testing.T) {
	const page = "https://a.example/p?q=a%20b&r=%2F"
	const encoded = "https%3A%2F%2Fa.example%2Fp%3Fq%3Da%2520b%26r%3D%252F"
	type want struct{ Host, TimeGate, TimeMap, Availability string }
	for base, want := range map[string]want{
		"https://wayback.example":  {"wayback.example", "https://wayback.example/web/" + page, "https://wayback.example/web/timemap/link/" + page, "https://wayback.example/wayback/available"},
		"https://wayback.example/": {"wayback.example", "https://wayback.example/web/" + page, "https://wayback.example/web/timemap/link/" + page, "https://wayback.example/wayback/available"},
		"http://10.1.2.3:8080":     {"10.1.2.3", "http://10.1.2.3:8080/web/" + page, "http://10.1.2.3:8080/web/timemap/link/" + page, "http://10.1.2.3:8080/wayback/available"},

		// The Internet Archive documents its availability interface at
		// archive.org and serves its copies at web.archive.org.
		"https://web.archive.org": {"web.archive.org", "https://web.archive.org/web/" + page, "https://web.archive.org/web/timemap/link/" + page, "https://archive.org/wayback/available"},
		"https://archive.org/":    {"web.archive.org", "https://web.archive.org/web/" + page, "https://web.archive.org/web/timemap/link/" + page, "https://archive.org/wayback/available"},

		"https://web.archive.org/web/":          {"web.archive.org", "https://web.archive.org/web/" + page, "https://web.archive.org/web/timemap/link/" + page, ""},
		"https://x.example/timegate/":           {"x.example", "https://x.example/timegate/" + page, "https://x.example/timemap/link/" + page, ""},
		"https://x.example/timegate":            {"x.example", "https://x.example/timegate/" + page, "https://x.example/timemap/link/" + page, ""},
		"https://X.example/a/timegate/":         {"x.example", "https://X.example/a/timegate/" + page, "https://X.example/a/timemap/link/" + page, ""},
		"https://pywb.example/coll":             {"pywb.example", "https://pywb.example/coll/" + page, "https://pywb.example/coll/timemap/link/" + page, ""},
		"https://x.example/timemap/link/":       {"x.example", "", "https://x.example/timemap/link/" + page, ""},
		"https://x.example/timemap/link":        {"x.example", "", "https://x.example/timemap/link/" + page, ""},
		"https://x.example/timemap":             {"x.example", "", "https://x.example/timemap/" + page, ""},
		"https://x.example/tm?url=":             {"x.example", "https://x.example/tm?url=" + encoded, "", ""},
		"https://x.example/g/{url}/x":           {"x.example", "https://x.example/g/" + page + "/x", "", ""},
		"https://x.example/g?u={url}&k=1":       {"x.example", "https://x.example/g?u=" + encoded + "&k=1", "", ""},
		"https://x.example/timemap/{url}":       {"x.example", "", "https://x.example/timemap/" + page, ""},
		"https://x.example/timemap?u={url}":     {"x.example", "", "https://x.example/timemap?u=" + encoded, ""},
		"https://x.example/mytimemap/{url}":     {"x.example", "https://x.example/mytimemap/" + page, "", ""},
		"https://x.example/?u={url}":            {"x.example", "https://x.example/?u=" + encoded, "", ""},
		"https://x.example/{url}":               {"x.example", "https://x.example/" + page, "", ""},
		"https://x.example/t?a=timemap&u={url}": {"x.example", "https://x.example/t?a=timemap&u=" + encoded, "", ""},
	} {
		d, err := open(base)
		if err != nil {
			t.Errorf("%s: %v", base, err)
			continue
		}
		got := want
		got.Host, got.TimeGate, got.TimeMap, got.Availability = d.host, "", "", d.availability
		if d.timegate != nil {
			got.TimeGate = d.timegate.of(page)
		}
		if d.timemap != nil {
			got.TimeMap = d.timemap.of(page)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s:\n%s", base, diff)
		}
	}
}

func TestABaseThatIsNoneIsRefusedAndNotRepeated(t *testing.T) {
	get := func(context.Context, string, time.Time) (*fetch.Response, error) { panic("asked") }
	for _, base := range []string{
		"", "web.archive.org", "ftp://x.example", "//x.example", "https://", "https:///web/", "https:x.example", "http://%zz/",
		"https://user:secret@x.example/", "https://x.example/#secret", "https://x.example/{url}/{url}",
		"https://{url}/", "https://{url}", "{url}", "https://x.example:{url}/",
	} {
		_, err := New(Config{Base: base, Get: get})
		if err == nil {
			t.Errorf("%q was taken", base)
			continue
		}
		if strings.Contains(err.Error(), "secret") || !strings.HasPrefix(err.Error(), "archive: the base URL ") {
			t.Errorf("%q: %v", base, err)
		}
	}
	if _, err := New(Config{Base: "https://x.example"}); err == nil {
		t.Error("a client without a Getter")
	}
}

func TestLinksOfASecureArchiveAreFollowedSecurely(t *testing.T) {
	for _, tt := range []struct{ base, link, want string }{
		{"https://x.example", "http://x.example/web/1/http://x.example/", "https://x.example/web/1/http://x.example/"},
		{"https://x.example", "http://x.example:80/web/1", "https://x.example/web/1"},
		{"https://X.example/timegate/", "http://x.example/web/1", "https://x.example/web/1"},
		{"https://x.example", "http://y.example/web/1", "http://y.example/web/1"},
		{"https://x.example", "http://x.example:8080/web/1", "http://x.example:8080/web/1"},
		{"https://x.example:8443", "http://x.example/web/1", "http://x.example/web/1"},
		{"http://x.example", "http://x.example/web/1", "http://x.example/web/1"},
		{"https://archive.org", "http://web.archive.org/web/1", "https://web.archive.org/web/1"},
	} {
		d, err := open(tt.base)
		if err != nil {
			t.Fatal(err)
		}
		if got := d.secure(tt.link); got != tt.want {
			t.Errorf("%s: %s became %s, want %s", tt.base, tt.link, got, tt.want)
		}
	}
}
