package archive

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTheURLOfACopyTellsItsDateAndItsOriginal(t *testing.T) {
	for u, want := range map[string]wayback{
		"https://web.archive.org/web/20190304050607/http://a.example/":                                    {"https://web.archive.org/web/", "20190304050607", "", "http://a.example/"},
		"https://web.archive.org/web/20190304050607id_/https://a.example/x?q=http://b/":                   {"https://web.archive.org/web/", "20190304050607", "id_", "https://a.example/x?q=http://b/"},
		"http://archive.md/20130618185742/http://a.example/~m/":                                           {"http://archive.md/", "20130618185742", "", "http://a.example/~m/"},
		"https://x.example/coll/20190304050607mp_/http:/a.example/":                                       {"https://x.example/coll/", "20190304050607", "mp_", "http://a.example/"},
		"https://x.example/20190304050607/HTTP://a.example/?":                                             {"https://x.example/", "20190304050607", "", "http://a.example/?"},
		"https://x.example/web/20200101000000/https://y.example/web/20100101000000id_/http://a.example/1": {"https://x.example/web/", "20200101000000", "", "https://y.example/web/20100101000000id_/http://a.example/1"},
	} {
		got, ok := parseWayback(u)
		if d := cmp.Diff(want, got, cmp.AllowUnexported(wayback{})); d != "" || !ok {
			t.Errorf("%s:\n%s", u, d)
		}
	}
	for _, u := range []string{
		"", "20190304050607/http://a.example/", "https://x.example", "https://x.example/web/http://a.example/",
		"https://x.example/web/2019030405060/http://a.example/", "https://x.example/web/201903040506078/http://a.example/",
		"https://x.example/web/20190304050607/", "https://x.example/web/20190304050607", "https://x.example/web/20190304050607/a.example/",
		"https://x.example/web/20190304050607id/http://a.example/", "https://x.example/web/20190304050607ID_/http://a.example/",
		"https://x.example/web/20190304050607/ftp://a.example/", "https://x.example/web/20190304050607/http:a.example/",
		"https://x.example/web/20190304050607/http://", "https://x.example/?u=/20190304050607/http://a.example/",
	} {
		if got, ok := parseWayback(u); ok {
			t.Errorf("%s is taken for %+v", u, got)
		}
	}
	w, _ := parseWayback("https://x.example/web/20190304050607im_/http://a.example/?q#f")
	if w.raw() != "https://x.example/web/20190304050607id_/http://a.example/?q#f" || !w.time().Equal(time.Date(2019, 3, 4, 5, 6, 7, 0, time.UTC)) {
		t.Errorf("raw %s, time %v", w.raw(), w.time())
	}
	if w.date = "20191304050607"; !w.time().IsZero() {
		t.Error("a 13th month")
	}
}

func TestOnePageIsFiledUnderItsSpellings(t *testing.T) {
	for _, same := range [][]string{
		{"http://a.example/x", "https://a.example/x", "http://www.a.example/x/", "http://A.example:80/x", "https://www2.a.example:443/x#frag", "a.example/x", "http://a.example./x"},
		{"http://a.example", "http://a.example/", "https://a.example/?", "http://a.example//"},
		{"http://a.example/?a=1&b=2", "http://a.example/?b=2&a=1", "http://a.example?a=1&b=2&"},
		{"http://a.example/%7Em/%c3%a4|x", "http://a.example/~m/ä%7Cx"},
		{"http://www.example/x", "https://www.example/x"},
		{"http://a.example/100%", "http://a.example/100%"},
	} {
		for _, u := range same {
			if !samePage(same[0], u) {
				t.Errorf("%s and %s are two pages (%s, %s)", same[0], u, pageKey(same[0]), pageKey(u))
			}
		}
	}
	for _, two := range [][2]string{
		{"http://a.example/x", "http://a.example/X"}, {"http://a.example/x", "http://b.example/x"}, {"http://a.example/x", "http://a.example/x?y"},
		{"http://a.example/?a=1", "http://a.example/?a=2"}, {"http://a.example/a%2Fb", "http://a.example/a/b"}, {"http://a.example/?a%26b", "http://a.example/?a&b"},
		{"http://www.example/", "http://example/"}, {"http://a.example/", "http://a.example:8080/"}, {"http://wwwa.example.org/", "http://example.org/"},
		{"http://a.example/100%25", "http://a.example/100%"}, {"http://a.example/?x=1%2B1", "http://a.example/?x=1+1"}, {"http://a.example/login?to=http://b/", "http://b/"},
	} {
		if samePage(two[0], two[1]) {
			t.Errorf("%s and %s are one page (%s)", two[0], two[1], pageKey(two[0]))
		}
	}
}
