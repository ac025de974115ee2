package archive

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// all reads every link and counts those that cannot be read.
func all(t *testing.T, r io.Reader) (out []link, broken int) {
	t.Helper()
	for ls := readLinks(r); ; {
		l, err := ls.next()
		switch err {
		case nil:
			out = append(out, l)
		case io.EOF:
			return out, broken
		case errLink:
			broken++
		default:
			t.Fatal(err)
		}
	}
}

func TestTheTimeMapOfTheRFCIsRead(t *testing.T) {
	// RFC 7089, figure 28.
	const timemap = ` <http://a.example.org>;rel="original",
 <http://arxiv.example.net/timemap/http://a.example.org>
   ; rel="self";type="application/link-format"
   ; from="Tue, 20 Jun 2000 18:02:59 GMT"
   ; until="Wed, 09 Apr 2008 20:30:51 GMT",
 <http://arxiv.example.net/timegate/http://a.example.org>
   ; rel="timegate",
 <http://arxiv.example.net/web/20000620180259/http://a.example.org>
   ; rel="first memento";datetime="Tue, 20 Jun 2000 18:02:59 GMT"
   ; license="http://creativecommons.org/publicdomain/zero/1.0/",
 <http://arxiv.example.net/web/20091027204954/http://a.example.org>
    ; rel="last memento";datetime="Tue, 27 Oct 2009 20:49:54 GMT"
    ; license="http://creativecommons.org/publicdomain/zero/1.0/"
`
	first := time.Date(2000, 6, 20, 18, 2, 59, 0, time.UTC)
	want := []link{
		{uri: "http://a.example.org", rel: "original"},
		{uri: "http://arxiv.example.net/timemap/http://a.example.org", rel: "self", mediaType: "application/link-format",
			from: first, until: time.Date(2008, 4, 9, 20, 30, 51, 0, time.UTC)},
		{uri: "http://arxiv.example.net/timegate/http://a.example.org", rel: "timegate"},
		{uri: "http://arxiv.example.net/web/20000620180259/http://a.example.org", rel: "first memento", datetime: first},
		{uri: "http://arxiv.example.net/web/20091027204954/http://a.example.org", rel: "last memento", datetime: time.Date(2009, 10, 27, 20, 49, 54, 0, time.UTC)},
	}
	// Also when it comes byte by byte.
	for _, r := range []io.Reader{strings.NewReader(timemap), iotest.OneByteReader(strings.NewReader(timemap))} {
		got, broken := all(t, r)
		if d := cmp.Diff(want, got, cmp.AllowUnexported(link{})); d != "" || broken != 0 {
			t.Errorf("%d broken\n%s", broken, d)
		}
	}
	if !want[3].is("memento") || !want[3].is("first") || want[3].is("mem") {
		t.Error("relation types")
	}
}

func TestLinksAreReadAsTheyAreWritten(t *testing.T) {
	when := time.Date(2016, 5, 9, 20, 0, 5, 0, time.UTC)
	for _, tt := range []struct {
		name, text string
		want       []link
		broken     int
	}{
		{"nothing", "", nil, 0},
		{"white space and commas", " \r\n,,\t, ", nil, 0},
		{"no parameters", "<a>", []link{{uri: "a"}}, 0},
		{"a comma at the end", "<a>;rel=x,\n", []link{{uri: "a", rel: "x"}}, 0},
		{"values without quotes", `<a>; rel=Memento; datetime="Mon, 09 May 2016 20:00:05 GMT", <b>;rel=y`,
			[]link{{uri: "a", rel: "memento", datetime: when}, {uri: "b", rel: "y"}}, 0},
		{"commas, semicolons and quotes in a URL", `<http://a/?a,b;c"d>;rel=x`, []link{{uri: `http://a/?a,b;c"d`, rel: "x"}}, 0},
		{"escapes in a quoted value", `<a>;title="\"<x>, \\";rel="\x"`, []link{{uri: "a", rel: "x"}}, 0},
		{"white space around everything", "< a >\t;\n rel = \"x  y\" ; type = \"Application/Link-Format; charset=utf-8\" ,<b>",
			[]link{{uri: "a", rel: "x  y", mediaType: "application/link-format"}, {uri: "b"}}, 0},
		{"names in capitals", `<a>;REL=x;DateTime="Mon, 09 May 2016 20:00:05 GMT"`, []link{{uri: "a", rel: "x", datetime: when}}, 0},
		{"the first of a name counts", `<a>;rel=x;rel=y;type=t;type=u`, []link{{uri: "a", rel: "x", mediaType: "t"}}, 0},
		{"a link of another page", `<a>;rel=original;anchor="http://b/",<c>;rel=x`, []link{{uri: "a"}, {uri: "c", rel: "x"}}, 0},
		{"parameters without a value", `<a>;crossorigin;rel=x;foo ;bar=;;`, []link{{uri: "a", rel: "x"}}, 0},
		{"an extended parameter", `<a>;title*=UTF-8'de'n%c3%a4chste;rel=x`, []link{{uri: "a", rel: "x"}}, 0},
		{"a date that is none", `<a>;rel=memento;datetime="2016-05-09"`, []link{{uri: "a", rel: "memento"}}, 0},
		{"an old form of date", `<a>;datetime="Monday, 09-May-16 20:00:05 GMT"`, []link{{uri: "a", datetime: when}}, 0},
		{"text before a link", "oops <a>, <b>;rel=x", []link{{uri: "b", rel: "x"}}, 1},
		{"a broken link among good ones", `<a>;rel=x, <b> rel=y, <c>;rel=z`, []link{{uri: "a", rel: "x"}, {uri: "c", rel: "z"}}, 1},
		{"a broken parameter", `<a>;rel=x;@=1, <c>;rel=z`, []link{{uri: "c", rel: "z"}}, 1},
		{"no closing bracket", `<a;rel=x, `, nil, 1},
		{"no closing quote", `<a>;rel="x, <b>;rel=y`, nil, 1},
		{"cut in a name", `<a>;rel=x,<b>;re`, []link{{uri: "a", rel: "x"}, {uri: "b"}}, 0},
		{"cut before a value", `<a>;rel=x,<b>;rel=`, []link{{uri: "a", rel: "x"}}, 1},
		{"a web page", "<!DOCTYPE html><html><head><title>Hello, <b>you</b></title>", nil, 2},
		{"JSON", `{"mementos":{"list":[]}}`, nil, 1},
		{"a URL over the bound", "<" + strings.Repeat("x", maxURI+1) + ">;rel=x,<b>;rel=y", []link{{uri: "b", rel: "y"}}, 1},
		{"a URL at the bound", "<" + strings.Repeat("x", maxURI) + ">;rel=x", []link{{uri: strings.Repeat("x", maxURI), rel: "x"}}, 0},
		{"a value over the bound", `<a>;title="` + strings.Repeat("x", maxValue+1) + `",<b>;rel=y`, []link{{uri: "b", rel: "y"}}, 1},
		{"a value without quotes over the bound", `<a>;title=` + strings.Repeat("x", maxValue+1) + `,<b>;rel=y`, []link{{uri: "b", rel: "y"}}, 1},
		{"a name over the bound", `<a>;` + strings.Repeat("x", maxValue+1) + `,<b>;rel=y`, []link{{uri: "b", rel: "y"}}, 1},
		{"parameters over the bound", `<a>` + strings.Repeat(";x=y", maxParams+1) + `,<b>;rel=y`, []link{{uri: "b", rel: "y"}}, 1},
		{"parameters at the bound", `<a>` + strings.Repeat(";x=y", maxParams-1) + `,<b>;rel=y`, []link{{uri: "a"}, {uri: "b", rel: "y"}}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, broken := all(t, strings.NewReader(tt.text))
			if d := cmp.Diff(tt.want, got, cmp.AllowUnexported(link{})); d != "" {
				t.Error(d)
			}
			if broken != tt.broken {
				t.Errorf("%d broken, want %d", broken, tt.broken)
			}
		})
	}
}

func TestAReaderThatFailsIsNotTheEndOfAList(t *testing.T) {
	failed := errors.New("disk")
	for _, text := range []string{"", "<a", "<a>", "<a>;", "<a>;r", "<a>;rel=", "<a>;rel=x", `<a>;rel="x`, "<a> junk", "<a>;rel ", "junk"} {
		ls := readLinks(io.MultiReader(strings.NewReader(text), iotest.ErrReader(failed)))
		for i := 0; ; i++ {
			_, err := ls.next()
			if errors.Is(err, failed) {
				break
			}
			if err == io.EOF || i > 3 {
				t.Errorf("%q: ended with %v", text, err)
				break
			}
		}
	}
}
