package archive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sift.build/sift/internal/archive/archivetest"
	"sift.build/sift/internal/fetch"
	"sift.build/sift/internal/sift"
)

// faults is a behaviour with one fault.
func faults(d archivetest.Door, f archivetest.Fault) archivetest.Behaviour {
	return archivetest.Behaviour{Faults: map[archivetest.Door]archivetest.Fault{d: f}}
}

func TestAnArchiveThatWantsToBeLeftAloneIsNotAskedUntilThen(t *testing.T) {
	for _, tt := range []struct {
		name   string
		status int
		after  string
		want   time.Duration
	}{
		{"429 with seconds", 429, "120", 2 * time.Minute},
		{"429 with a date long past", 429, "Wed, 01 Jan 1998 00:00:00 GMT", time.Minute},
		{"429 without a word", 429, "", time.Minute},
		{"429 for a hundred years", 429, "3153600000", 24 * time.Hour},
		{"503 with seconds", 503, "30", 30 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, door := range []archivetest.Door{archivetest.TimeGate, archivetest.Availability, archivetest.TimeMap, archivetest.Memento, archivetest.Raw} {
				w := newWorld(t)
				w.Add(archivetest.Capture{URL: page, At: day(2020, 1, 1), Body: "it"})
				b := faults(door, archivetest.Fault{Times: 1, Status: tt.status, Header: http.Header{"Retry-After": {tt.after}}, Body: "<p>Too many requests"})
				base := w.URL
				switch door {
				case archivetest.Availability:
					b.Faults[archivetest.TimeGate] = archivetest.Fault{Status: 500}
				case archivetest.TimeMap:
					base += "/timemap/link/"
				}
				w.Behave(b)
				c := w.client(base)
				_, err := w.ask(c, page, Wanted{})
				code := sift.CodeUpstream4xx
				if tt.status == 503 {
					code = sift.CodeUpstream5xx
				}
				f := failed(t, err, code, fmt.Sprintf("answered %d and asked to be left alone for %s", tt.status, tt.want))
				if f.Status != tt.status || f.RetryAfter != tt.want || f.Hint != sift.HintRetry {
					t.Errorf("%s: %+v", door, f)
				}
				asked := len(w.Requests())
				w.pass(tt.want - time.Second)
				_, err = w.ask(c, "http://b.example/", Wanted{})
				f = failed(t, err, sift.CodeUpstream4xx, "asked to be left alone for another 1s")
				if f.RetryAfter != time.Second || len(w.Requests()) != asked {
					t.Errorf("%s: %+v, and %d more requests", door, f, len(w.Requests())-asked)
				}
				w.pass(time.Second)
				w.Behave(archivetest.Behaviour{})
				if got, err := w.ask(c, page, Wanted{}); err != nil || got.Body != "it" {
					t.Errorf("%s: %+v, %v", door, got, err)
				}
				if len(c.held) != 0 {
					t.Errorf("%s: still remembered: %v", door, c.held)
				}
			}
		})
	}
}

func TestOnlySoManyHostsAreRemembered(t *testing.T) {
	w := newWorld(t)
	c := w.client(w.URL)
	for i := range 2 * maxHeld {
		c.hold(fmt.Sprintf("h%d.example", i), time.Duration(i+1)*time.Second)
	}
	if len(c.held) != maxHeld {
		t.Errorf("%d hosts", len(c.held))
	}
	if c.holds("http://h0.example/") != 0 || c.holds(fmt.Sprintf("https://H%d.example:80/x", 2*maxHeld-1)) == 0 {
		t.Error("the wrong hosts were forgotten")
	}
}

func TestOneWayThatIsBrokenLeavesTheOthers(t *testing.T) {
	for name, f := range map[string]archivetest.Fault{
		"500":             {Status: 500},
		"503 unspecified": {Status: 503},
		"403":             {Status: 403},
		"404":             {Status: 404},
		"a web page":      {Body: "<!DOCTYPE html><p>Maintenance"},
		"nothing":         {},
		"a loop":          {Loop: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.Add(archivetest.Capture{URL: page, At: day(2020, 1, 1), Body: "it"})
			for _, doors := range [][]archivetest.Door{{archivetest.TimeGate}, {archivetest.Availability}, {archivetest.TimeMap}, {archivetest.TimeGate, archivetest.Availability}, {archivetest.TimeGate, archivetest.TimeMap}} {
				b := archivetest.Behaviour{Faults: map[archivetest.Door]archivetest.Fault{}}
				for _, d := range doors {
					b.Faults[d] = f
				}
				w.Behave(b)
				if got, err := w.find(w.URL, page, Wanted{}); err != nil || got.Body != "it" {
					t.Errorf("%v: %+v, %v", doors, got, err)
				}
			}
		})
	}
}

func TestWhatIsWrongWithAnArchiveIsSaid(t *testing.T) {
	linkFormat := http.Header{"Content-Type": {"application/link-format"}}
	asJSON := http.Header{"Content-Type": {"application/json"}}
	entry := func(u string) string {
		return `<` + u + `>;rel="memento";datetime="Wed, 01 Jan 2020 05:06:07 GMT"`
	}
	for _, tt := range []struct {
		name  string
		door  archivetest.Door
		fault archivetest.Fault
		code  sift.Code // "": there is none
		words string
	}{
		{"500", archivetest.TimeGate, archivetest.Fault{Status: 500}, sift.CodeUpstream5xx, "answered 500"},
		{"403", archivetest.TimeGate, archivetest.Fault{Status: 403}, sift.CodeUpstream4xx, "answered 403"},
		{"404", archivetest.TimeGate, archivetest.Fault{Status: 404}, "", "has no copy of it"},
		{"406", archivetest.TimeGate, archivetest.Fault{Status: 406}, "", "has no copy of it"},
		{"a page that is no copy", archivetest.TimeGate, archivetest.Fault{Body: "<p>Welcome to the archive"}, sift.CodeUnreachable, "a page that is no copy"},
		{"a copy of when is not said", archivetest.TimeGate, archivetest.Fault{Header: http.Header{"Memento-Datetime": {"long ago"}}, Body: "x"}, sift.CodeUnreachable, "nothing says when it was captured"},
		{"a loop", archivetest.TimeGate, archivetest.Fault{Loop: true}, sift.CodeUnreachable, "could not be asked: too many redirects (they run in a loop)"},
		{"a redirect into the private network", archivetest.TimeGate, archivetest.Fault{Status: 302, Header: http.Header{"Location": {"http://10.0.0.7/"}}}, sift.CodeBlocked, "leads on to what is not: private address"},
		{"a redirect to another port", archivetest.TimeGate, archivetest.Fault{Status: 302, Header: http.Header{"Location": {"http://a.example:22/"}}}, sift.CodeBlocked, "port 22"},
		{"a copy of tomorrow", archivetest.TimeGate, archivetest.Fault{Header: http.Header{"Memento-Datetime": {"Fri, 01 Jan 2027 00:00:00 GMT"}}, Body: "x"}, sift.CodeUnreachable, "of 2027-01-01, which cannot be"},
		{"a copy from before the web", archivetest.TimeGate, archivetest.Fault{Header: http.Header{"Memento-Datetime": {"Thu, 01 Jan 1970 00:00:00 GMT"}}, Body: "x"}, sift.CodeUnreachable, "of 1970-01-01, which cannot be"},
		{"a copy of another page", archivetest.TimeGate, archivetest.Fault{Header: http.Header{"Memento-Datetime": {"Wed, 01 Jan 2020 05:06:07 GMT"}, "Link": {`<http://b.example/>; rel="original"`}}, Body: "x"}, "", "only captures of errors, of redirects or of other pages"},

		{"500", archivetest.TimeMap, archivetest.Fault{Status: 500}, sift.CodeUpstream5xx, "answered 500 for its list of copies"},
		{"404", archivetest.TimeMap, archivetest.Fault{Status: 404}, "", "has no copy of it"},
		{"a web page", archivetest.TimeMap, archivetest.Fault{Body: "<!DOCTYPE html><p>All copies"}, sift.CodeUnreachable, "a web page where a list of copies was due"},
		{"a web page that says it is none", archivetest.TimeMap, archivetest.Fault{Header: linkFormat, Body: "<!DOCTYPE html><p>All copies"}, sift.CodeUnreachable, "not application/link-format"},
		{"JSON", archivetest.TimeMap, archivetest.Fault{Header: asJSON, Body: `{"mementos":{"list":[]}}`}, sift.CodeUnreachable, "not application/link-format"},
		{"bytes", archivetest.TimeMap, archivetest.Fault{Header: linkFormat, Body: strings.Repeat("\x00\xff<,;\"", 1000)}, sift.CodeUnreachable, "not application/link-format"},
		{"an empty list", archivetest.TimeMap, archivetest.Fault{Header: linkFormat}, "", "has no copy of it"},
		{"a list without copies", archivetest.TimeMap, archivetest.Fault{Header: linkFormat, Body: `<` + page + `>;rel="original"`}, "", "has no copy of it"},
		{"the list of another page", archivetest.TimeMap, archivetest.Fault{Header: linkFormat, Body: `<http://b.example/>;rel="original",` + entry("http://b.example/1")}, sift.CodeUnreachable, "the list of copies of another page"},
		{"a list of copies of other pages", archivetest.TimeMap, archivetest.Fault{Header: linkFormat, Body: entry("http://127.0.0.1:1/web/20200101050607/http://b.example/")}, "", "has no copy of it"},
		{"a list of impossible dates", archivetest.TimeMap, archivetest.Fault{Header: linkFormat, Body: `<http://127.0.0.1:1/x>;rel="memento";datetime="Thu, 01 Jan 2099 00:00:00 GMT",<http://127.0.0.1:1/y>;rel=memento;datetime="Thu, 01 Jan 1970 00:00:00 GMT",<http://127.0.0.1:1/z>;rel=memento`}, "", "has no copy of it"},
		{"a list that leads into the private network", archivetest.TimeMap, archivetest.Fault{Header: linkFormat, Body: entry("http://10.0.0.7/")}, sift.CodeBlocked, "private address"},
		{"a list of what is no web", archivetest.TimeMap, archivetest.Fault{Header: linkFormat, Body: entry("file:///etc/passwd") + "," + entry("javascript:alert(1)")}, "", "has no copy of it"},
		{"a list that leads to the page itself", archivetest.TimeMap, archivetest.Fault{Header: linkFormat, Body: `<>;rel="memento";datetime="Wed, 01 Jan 2020 05:06:07 GMT"`}, sift.CodeUnreachable, "a page that is no copy"},
		{"a loop", archivetest.TimeMap, archivetest.Fault{Loop: true}, sift.CodeUnreachable, "loop"},

		{"500", archivetest.Availability, archivetest.Fault{Status: 500}, sift.CodeUpstream5xx, "answered 500"},
		{"a web page", archivetest.Availability, archivetest.Fault{Body: "<!DOCTYPE html><p>Not now"}, sift.CodeUnreachable, "a web page where JSON was due"},
		{"a web page that says it is none", archivetest.Availability, archivetest.Fault{Header: asJSON, Body: "<!DOCTYPE html><p>Not now"}, sift.CodeUnreachable, "broken JSON"},
		{"half of it", archivetest.Availability, archivetest.Fault{Header: asJSON, Body: `{"archived_snapshots":{"closest":{"avail`}, sift.CodeUnreachable, "broken JSON"},
		{"nothing", archivetest.Availability, archivetest.Fault{Header: asJSON}, sift.CodeUnreachable, "broken JSON"},
		{"a date that is none", archivetest.Availability, archivetest.Fault{Header: asJSON, Body: `{"archived_snapshots":{"closest":{"available":true,"url":"http://127.0.0.1:1/","timestamp":"2020"}}}`}, sift.CodeUnreachable, "broken JSON"},
		{"a date to come", archivetest.Availability, archivetest.Fault{Header: asJSON, Body: `{"archived_snapshots":{"closest":{"available":true,"url":"http://127.0.0.1:1/","timestamp":"20990101000000"}}}`}, sift.CodeUnreachable, "which cannot be"},
		{"no address", archivetest.Availability, archivetest.Fault{Header: asJSON, Body: `{"archived_snapshots":{"closest":{"available":true,"timestamp":"20200101000000"}}}`}, sift.CodeUnreachable, "without a web address"},
		{"a private address", archivetest.Availability, archivetest.Fault{Header: asJSON, Body: `{"archived_snapshots":{"closest":{"available":true,"url":"http://10.0.0.7/web/20200101000000/` + page + `","timestamp":"20200101000000"}}}`}, sift.CodeBlocked, "private address"},
		{"100 KiB", archivetest.Availability, archivetest.Fault{Header: asJSON, Body: `{"archived_snapshots":{}` + strings.Repeat(" ", 100<<10) + `}`}, sift.CodeTooLong, "more than 64 KiB"},
		{"a deep answer", archivetest.Availability, archivetest.Fault{Header: asJSON, Body: strings.Repeat("[", 60<<10)}, sift.CodeUnreachable, "broken JSON"},
		{"an error", archivetest.Availability, archivetest.Fault{Header: asJSON, Body: `{"archived_snapshots":{"closest":{"available":true,"url":"http://127.0.0.1:1/","timestamp":"20200101000000","status":"404"}}}`}, "", "only captures of errors"},
		{"none", archivetest.Availability, archivetest.Fault{Header: asJSON, Body: `{"url":"x","archived_snapshots":{}}`}, "", "has no copy of it"},
		{"not available", archivetest.Availability, archivetest.Fault{Header: asJSON, Body: `{"archived_snapshots":{"closest":{"available":false,"timestamp":20200101000000,"status":200}}}`}, "", "has no copy of it"},
	} {
		t.Run(string(tt.door)+" "+tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.Behave(faults(tt.door, tt.fault))
			base := w.URL
			switch tt.door {
			case archivetest.TimeGate:
				base += "/timegate/"
			case archivetest.TimeMap:
				base += "/timemap/link/"
			}
			_, err := w.find(base, page, Wanted{})
			if tt.code == "" {
				none(t, err, tt.words)
				return
			}
			f := failed(t, err, tt.code, tt.words)
			if strings.Contains(f.Message, "secret") || strings.Contains(f.Message, "<") {
				t.Errorf("the failure repeats the archive: %s", f)
			}
		})
	}
}

func TestACopyThatContradictsItselfIsRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		mangle func(archivetest.Capture, http.Header)
		code   sift.Code
		words  string
	}{
		"two dates": {func(_ archivetest.Capture, h http.Header) {
			h.Set("Memento-Datetime", "Sat, 01 Jan 2022 00:00:00 GMT")
		}, sift.CodeUnreachable, "says two dates of one copy: 2022-01-01 and 2020-01-01"},
		"another original": {func(_ archivetest.Capture, h http.Header) {
			h.Set("Link", `<http://b.example/>; rel="original"`)
		}, "", "of other pages"},
	} {
		w := newWorld(t)
		w.Add(archivetest.Capture{URL: page, At: day(2020, 1, 1), Body: "it"})
		w.Behave(archivetest.Behaviour{Mangle: tt.mangle})
		for _, base := range w.bases() {
			_, err := w.find(base, page, Wanted{})
			if tt.code == "" {
				none(t, err, tt.words)
			} else {
				failed(t, err, tt.code, tt.words)
			}
		}
		_ = name
	}
}

func TestAnOriginalThatIsNoWebAddressIsNotHandedOn(t *testing.T) {
	for original, want := range map[string]string{
		"a.example/page":                      page, // as some archives write it
		"javascript:a.example/page":           "",
		"https://user@a.example/page":         "",
		"http://a.example:80/page/#elsewhere": "http://a.example:80/page/#mine",
	} {
		w := newWorld(t)
		w.Add(archivetest.Capture{URL: page, At: day(2020, 1, 1), Body: "it"})
		w.Behave(archivetest.Behaviour{Mangle: func(_ archivetest.Capture, h http.Header) {
			h.Set("Link", "<"+original+">; rel=original")
		}})
		got, err := w.find(w.URL, page+"#mine", Wanted{})
		switch {
		case want == "":
			none(t, err, "of other pages")
		case err != nil || strings.TrimSuffix(got.Original, "#mine")+"#mine" != strings.TrimSuffix(want, "#mine")+"#mine":
			t.Errorf("%s: %s, %v", original, got.Original, err)
		}
	}
}

func TestATimeGateThatLeadsToAnotherPagesCopyIsNotBelieved(t *testing.T) {
	w := newWorld(t)
	w.Add(
		archivetest.Capture{URL: page, At: day(2015, 1, 1), Body: "it"},
		archivetest.Capture{URL: "http://b.example/", At: day(2020, 1, 1), Body: "another"},
	)
	b := faults(archivetest.TimeGate, archivetest.Fault{Status: 302, Header: http.Header{"Location": {archivetest.CopyURL("http://b.example/", day(2020, 1, 1))}}})
	for _, b.NoDates = range []bool{false, true} {
		w.Behave(b)
		for _, base := range w.bases() {
			if got, err := w.find(base, page, Wanted{}); err != nil || got.Body != "it" {
				t.Errorf("%s: %+v, %v", base, got, err)
			}
		}
	}
}

func TestWhatWillNotDoIsNotAskedForTwice(t *testing.T) {
	w := newWorld(t)
	w.Add(archivetest.Capture{URL: page, At: day(2020, 1, 1), Location: "http://b.example/"})
	_, err := w.find(w.URL, page, Wanted{})
	none(t, err, "of redirects")
	asked := map[string]int{}
	for _, r := range w.Requests() {
		asked[r.Target]++
	}
	for target, n := range asked {
		if n > 1 {
			t.Errorf("%s was asked %d times", target, n)
		}
	}

	// Some archives lead from such a capture to the page of today.
	w.Behave(faults(archivetest.Raw, archivetest.Fault{Status: 302, Header: http.Header{"Location": {"/today"}}}))
	_, err = w.find(w.URL, page, Wanted{})
	failed(t, err, sift.CodeUnreachable, "leads from a copy to a page that is not there")
	w.Behave(archivetest.Behaviour{})

	// A list that is a page of itself.
	w.Behave(faults(archivetest.TimeMap, archivetest.Fault{Header: http.Header{"Content-Type": {"application/link-format"}},
		Body: "<" + w.URL + "/timemap/link/" + page + ">;rel=timemap"}))
	before := len(w.Requests())
	_, err = w.find(w.URL+"/timemap/link/", page, Wanted{})
	none(t, err, "has no copy")
	if n := len(w.Requests()) - before; n != 1 {
		t.Errorf("%d requests", n)
	}
}

func TestListsInOtherFormatsAreNotAskedFor(t *testing.T) {
	w := newWorld(t)
	w.Add(archivetest.Capture{URL: page, At: day(2019, 1, 1), Body: "it"}, archivetest.Capture{URL: page, At: day(2020, 1, 1), Status: 404, Body: "gone"})
	const others = `</timemap/json>;rel=timemap;type="application/json", </timemap/html>;rel=timemap;type="text/html;charset=utf-8"`
	w.Behave(archivetest.Behaviour{Mangle: func(_ archivetest.Capture, h http.Header) {
		h.Set("Link", others+", "+h.Get("Link"))
	}})
	if got, err := w.find(w.URL+"/timegate/", page, Wanted{}); err != nil || got.Body != "it" {
		t.Errorf("%+v, %v", got, err)
	}
	w.Behave(faults(archivetest.TimeMap, archivetest.Fault{Header: http.Header{"Content-Type": {"application/link-format"}}, Body: others}))
	_, err := w.find(w.URL+"/timemap/link/", page, Wanted{})
	none(t, err, "has no copy")
	for _, r := range w.Requests() {
		if r.Target == "/timemap/json" || r.Target == "/timemap/html" {
			t.Errorf("asked %s", r.Target)
		}
	}
}

func TestTheAvailabilityInterfaceIsBelievedOnlyWhereNothingContradictsIt(t *testing.T) {
	w := newWorld(t)
	w.Add(archivetest.Capture{URL: page, At: day(2015, 1, 1), Body: "it"}, archivetest.Capture{URL: page, At: day(2020, 1, 1), Status: 404, Body: "gone"})
	// There are captures, so that it has none of a page is not the last word.
	w.Behave(faults(archivetest.Availability, archivetest.Fault{Header: http.Header{"Content-Type": {"application/json"}}, Body: `{"archived_snapshots":{}}`}))
	if got, err := w.find(w.URL, page, Wanted{}); err != nil || got.Body != "it" {
		t.Errorf("%+v, %v", got, err)
	}
	// That its newest is too old is.
	w.Behave(faults(archivetest.TimeGate, archivetest.Fault{Status: 404}))
	before := len(w.doors())
	_, err := w.find(w.URL, page, Wanted{NotBefore: day(2018, 1, 1)})
	none(t, err, "one of 2015-01-01 would be too old")
	if d := cmp.Diff([]string{"timegate", "availability"}, w.doors()[before:]); d != "" {
		t.Error(d)
	}
}

func TestALongTimeMapIsReadAndATooLongOneIsAFailure(t *testing.T) {
	w := newWorld(t)
	w.fetch = fetch.New(fetch.Config{Guard: w.guard, MaxBytes: 2 << 20, SpoolDir: t.TempDir()})
	t.Cleanup(w.fetch.Close)
	newest := archivetest.Capture{URL: page, At: day(2020, 1, 1), Body: "it"}
	w.Add(newest)
	list := func(n int) archivetest.Behaviour {
		var b bytes.Buffer
		at := day(2000, 1, 1)
		for i := range n {
			at := at.Add(time.Duration(i) * time.Minute)
			fmt.Fprintf(&b, "<%s%s>; rel=\"memento\"; datetime=\"%s\",\n", w.URL, archivetest.CopyURL(page, at), at.Format(http.TimeFormat))
		}
		fmt.Fprintf(&b, "<%s%s>; rel=\"last memento\"; datetime=\"%s\"", w.URL, archivetest.CopyURL(page, newest.At), newest.At.Format(http.TimeFormat))
		return faults(archivetest.TimeMap, archivetest.Fault{Header: http.Header{"Content-Type": {"application/link-format"}}, Body: b.String()})
	}
	w.Behave(list(12_000)) // 1.6 MB
	if got, err := w.find(w.URL+"/timemap/link/", page, Wanted{}); err != nil || got.Body != "it" {
		t.Errorf("%+v, %v", got, err)
	}
	w.Behave(list(20_000))
	_, err := w.find(w.URL+"/timemap/link/", page, Wanted{})
	failed(t, err, sift.CodeTooLong, "could not be asked: the body is larger than 2 MiB")

	w.Behave(faults(archivetest.TimeGate, archivetest.Fault{Body: strings.Repeat("x", 3<<20)}))
	_, err = w.find(w.URL+"/timegate/", "http://b.example/", Wanted{})
	failed(t, err, sift.CodeTooLong, "larger than 2 MiB")
}

func TestPagesOfATimeMapThatGoOnForEverEnd(t *testing.T) {
	w := newWorld(t)
	n := 0
	get := func(ctx context.Context, raw string, at time.Time) (*fetch.Response, error) {
		n++
		var b strings.Builder
		for i := range 200 {
			fmt.Fprintf(&b, "<%s/timemap/link/%d/%s>;rel=timemap,", w.URL, n*1000+i, page)
		}
		fmt.Fprintf(&b, "<%s>;rel=timemap,<%s/x/%d>;rel=memento;datetime=%q", raw, w.URL, n, day(2010, 1, n).Format(http.TimeFormat))
		w.Behave(faults(archivetest.TimeMap, archivetest.Fault{Header: http.Header{"Content-Type": {"application/link-format"}}, Body: b.String()}))
		return w.get(ctx, raw, at)
	}
	c, err := New(Config{Base: w.URL + "/timemap/link/", Get: get, Now: w.clock})
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.ask(c, page, Wanted{})
	none(t, err, "has no copy")
	maps := 0
	for _, d := range w.doors() {
		if d == "timemap" {
			maps++
		}
	}
	if maps != maxTimeMaps || n > maxRequests {
		t.Errorf("%d TimeMaps in %d requests", maps, n)
	}
}

func TestAnArchiveThatLiesInEveryAnswerCostsABoundedNumberOfRequests(t *testing.T) {
	w := newWorld(t)
	var b strings.Builder
	for i := range 5000 {
		at := day(2001, 1, 1).Add(time.Duration(i) * time.Hour)
		fmt.Fprintf(&b, "<%s%s>;rel=memento;datetime=%q,\n", w.URL, archivetest.CopyURL(page, at), at.Format(http.TimeFormat))
	}
	w.Behave(archivetest.Behaviour{Faults: map[archivetest.Door]archivetest.Fault{
		archivetest.TimeGate: {Status: 500}, archivetest.Availability: {Status: 500}, archivetest.Memento: {Body: "<p>no"}, archivetest.Raw: {Status: 500},
		archivetest.TimeMap: {Header: http.Header{"Content-Type": {"application/link-format"}}, Body: b.String()},
	}})
	_, err := w.find(w.URL, page, Wanted{})
	failed(t, err, sift.CodeUpstream5xx, "answered 500")
	if n := len(w.Requests()); n != maxRequests {
		t.Errorf("%d requests", n)
	}
}

func TestAnArchiveThatDoesNotAnswerIsATimeout(t *testing.T) {
	w := newWorld(t)
	w.fetch = fetch.New(fetch.Config{Guard: w.guard, Timeout: 50 * time.Millisecond, SpoolDir: t.TempDir()})
	t.Cleanup(w.fetch.Close)
	w.Behave(archivetest.Behaviour{Faults: map[archivetest.Door]archivetest.Fault{
		archivetest.TimeGate: {Hang: true}, archivetest.Availability: {Hang: true}, archivetest.TimeMap: {Hang: true},
	}})
	_, err := w.find(w.URL, page, Wanted{})
	failed(t, err, sift.CodeTimeout, "could not be asked: timed out")
}

func TestWhoeverAsksMayGoAway(t *testing.T) {
	w := newWorld(t)
	w.Behave(archivetest.Behaviour{Faults: map[archivetest.Door]archivetest.Fault{archivetest.TimeGate: {Hang: true}}})
	ctx, cancel := context.WithCancel(t.Context())
	asked := 0
	c, err := New(Config{Base: w.URL, Now: w.clock, Get: func(ctx context.Context, raw string, at time.Time) (*fetch.Response, error) {
		asked++
		cancel()
		return w.get(ctx, raw, at)
	}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Find(ctx, page, Wanted{})
	if f, ok := errors.AsType[*sift.Failure](err); !ok || f.Code != sift.CodeCancel || asked != 1 {
		t.Errorf("%v after %d requests", err, asked)
	}
}

func TestWhatIsNotTheArchivesFaultEndsTheSearch(t *testing.T) {
	for _, tt := range []struct {
		err   error
		code  sift.Code
		asked int
	}{
		{sift.Fail(sift.CodeBusy, "8 fetches are running"), sift.CodeBusy, 1},
		{sift.Fail(sift.CodeBlocked, "private address"), sift.CodeBlocked, 1},
		{sift.Fail(sift.CodeInternal, "disk"), sift.CodeInternal, 1},
		{errors.New("a bug"), sift.CodeInternal, 1},
		{sift.Fail(sift.CodeUnreachable, "no connection to the server"), sift.CodeUnreachable, 3},
		{sift.Fail(sift.CodeUnsupported, "content encoding x"), sift.CodeUnsupported, 3},
	} {
		asked := 0
		c, err := New(Config{Base: "https://x.example", Get: func(context.Context, string, time.Time) (*fetch.Response, error) {
			asked++
			return nil, tt.err
		}})
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Find(t.Context(), page, Wanted{})
		f, ok := errors.AsType[*sift.Failure](err)
		if !ok || f.Code != tt.code || asked != tt.asked {
			t.Errorf("%v: %v after %d requests", tt.err, err, asked)
		}
		if g, ok := errors.AsType[*sift.Failure](tt.err); ok && strings.Contains(g.Message, "archive") {
			t.Error("the Getter's own failure was changed")
		}
	}
}

func TestManyMayAskAtOnce(t *testing.T) {
	w := newWorld(t)
	w.Add(archivetest.Capture{URL: page, At: day(2020, 1, 1), Body: "it"})
	w.Behave(faults(archivetest.TimeGate, archivetest.Fault{Times: 1, Status: 429, Header: http.Header{"Retry-After": {"60"}}}))
	c := w.client(w.URL)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			got, err := c.Find(t.Context(), page, Wanted{})
			if err == nil {
				got.Response.Body.Close()
			} else if f, ok := errors.AsType[*sift.Failure](err); !ok || f.Status != 429 {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if c.holds(w.URL) == 0 {
		t.Error("the wish to be left alone is forgotten")
	}
}
