package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"
)

const (
	manySmall, manyMedium, manyLarge = 20, 10, 4

	codeOK = "ok" // outcome of a target that was answered; else the code of its failure
)

// kind is a kind of page, and what may come of it.
type kind struct {
	name    string
	weight  int // how many of them are in a deck
	pages   int // how many there are; 0: each time another
	fresh   bool
	timeout float64 // seconds that a target gives it; 0: sift's own
	modes   []string
	allow   []string                // the outcomes
	want    func(*site, int) string // what an answer's content holds; nil: anything

	serve func(s *site, w http.ResponseWriter, r *http.Request, n int) // nil: url says where it is
	url   func(n int) string
}

// kinds lists them. With what a usual machine does, a hundred targets take
// about twenty seconds.
func kinds(e effort) []*kind {
	marked := func(name string) func(*site, int) string {
		return func(_ *site, n int) string { return mark(name, n) }
	}
	one := func(name string) func(*site, int) string {
		return func(*site, int) string { return mark(name, 0) }
	}
	status := func(code int) func(*site, http.ResponseWriter, *http.Request, int) {
		return func(s *site, w http.ResponseWriter, _ *http.Request, n int) {
			w.Header().Set("Content-Type", htmlUTF8)
			if code == http.StatusTooManyRequests {
				w.Header().Set("Retry-After", "120")
			}
			w.WriteHeader(code)
			_, _ = w.Write(s.page("error", n, 1_500))
		}
	}
	always := func(contentType string, body func(s *site, n int) []byte) func(*site, http.ResponseWriter, *http.Request, int) {
		return func(s *site, w http.ResponseWriter, _ *http.Request, n int) { send(w, contentType, body(s, n)) }
	}
	pdfs := func(contentType string, files func(*site) []file) func(*site, http.ResponseWriter, *http.Request, int) {
		return always(contentType, func(s *site, n int) []byte { f := files(s); return f[n%len(f)].body })
	}
	found := func(files func(*site) []file) func(*site, int) string {
		return func(s *site, n int) string { f := files(s); return f[n%len(f)].want }
	}
	good := func(s *site) []file { return s.good }
	return []*kind{
		{name: "small", weight: 14, pages: manySmall, allow: []string{codeOK}, want: marked("small"),
			serve: always(htmlUTF8, func(s *site, n int) []byte { return s.small[n%manySmall] })},
		{name: "medium", weight: 8, pages: manyMedium, modes: []string{"clean", "text", "full", "raw"}, allow: []string{codeOK}, want: marked("medium"),
			serve: always(htmlUTF8, func(s *site, n int) []byte { return s.medium[n%manyMedium] })},
		{name: "large", weight: 3, pages: manyLarge, allow: []string{codeOK}, want: marked("large"),
			serve: always(htmlUTF8, func(s *site, n int) []byte { return s.large[n%manyLarge] })},
		{name: "once", weight: 12, allow: []string{codeOK}, fresh: true},
		{name: "slow", weight: 6, allow: []string{codeOK}, fresh: true},
		{name: "drip", weight: 4, timeout: e.patience, allow: []string{"timeout"},
			serve: func(_ *site, w http.ResponseWriter, r *http.Request, _ int) { drip(w, r) }},
		{name: "silent", weight: 1, timeout: e.patience, allow: []string{"timeout"},
			serve: func(_ *site, _ http.ResponseWriter, r *http.Request, _ int) { <-r.Context().Done() }},
		{name: "truncated", weight: 3, allow: []string{codeOK, "unreachable"},
			serve: func(s *site, w http.ResponseWriter, _ *http.Request, n int) {
				page := s.page("truncated", n, 8_000)
				cut(w, fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s", 2*len(page), page))
			}},
		{name: "chunkcut", weight: 2, allow: []string{codeOK, "unreachable"},
			serve: func(s *site, w http.ResponseWriter, _ *http.Request, n int) {
				page := s.page("chunkcut", n, 4_000)
				cut(w, fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n7f", len(page), page))
			}},
		{name: "reset", weight: 3, allow: []string{"unreachable"},
			serve: func(_ *site, w http.ResponseWriter, _ *http.Request, _ int) { reset(w, "") }},
		{name: "resetlate", weight: 2, allow: []string{codeOK, "unreachable"},
			serve: func(s *site, w http.ResponseWriter, _ *http.Request, n int) {
				reset(w, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 90000\r\n\r\n"+string(s.page("resetlate", n, 5_000)))
			}},
		{name: "bomb", weight: 3, allow: []string{"too_long"},
			serve: func(s *site, w http.ResponseWriter, _ *http.Request, _ int) {
				w.Header().Set("Content-Encoding", "gzip")
				send(w, htmlUTF8, s.bomb)
			}},
		{name: "bombs", weight: 1, allow: []string{"too_long"},
			serve: func(s *site, w http.ResponseWriter, _ *http.Request, _ int) {
				w.Header().Set("Content-Encoding", "gzip, gzip")
				send(w, htmlUTF8, s.bombOfBombs)
			}},
		{name: "huge", weight: 1, allow: []string{codeOK}, want: one("huge"), serve: always(htmlUTF8, func(s *site, _ int) []byte { return s.huge })},
		{name: "overlong", weight: 1, allow: []string{"too_long"}, serve: always(htmlUTF8, func(s *site, _ int) []byte { return s.overlong })},
		{name: "maze", weight: 3, allow: []string{"unreachable"},
			serve: func(_ *site, w http.ResponseWriter, r *http.Request, n int) {
				http.Redirect(w, r, fmt.Sprintf("/maze/%d", n+1), http.StatusFound)
			}},
		{name: "inward", weight: 4, allow: []string{"blocked"},
			serve: func(_ *site, w http.ResponseWriter, r *http.Request, n int) {
				to := []string{"http://10.0.0.7/", "http://169.254.169.254/latest/meta-data/", "http://127.0.0.1:22/", "http://[::1]/", "http://192.168.1.1/", "file:///etc/passwd", "http://0x7f.1/"}
				http.Redirect(w, r, to[n%len(to)], http.StatusFound)
			}},
		{name: "private", weight: 2, pages: 200, allow: []string{"blocked"}, url: func(n int) string { return fmt.Sprintf("http://10.7.0.%d/", n+1) }},
		{name: "notfound", weight: 5, allow: []string{"upstream_4xx"}, serve: status(http.StatusNotFound)},
		{name: "limited", weight: 2, allow: []string{"upstream_4xx"}, serve: status(http.StatusTooManyRequests)},
		{name: "broken", weight: 4, allow: []string{"upstream_5xx"}, serve: status(http.StatusInternalServerError)},
		{name: "charset", weight: 5, allow: []string{codeOK}, want: func(s *site, n int) string { return s.charsets[n%len(s.charsets)].want },
			serve: func(s *site, w http.ResponseWriter, _ *http.Request, n int) {
				c := s.charsets[n%len(s.charsets)]
				send(w, c.contentType, c.body)
			}},
		{name: "liar", weight: 1, allow: []string{codeOK, "unsupported"}, serve: always(htmlUTF8, func(s *site, _ int) []byte { return s.noise })},
		{name: "pdf", weight: 3, allow: []string{codeOK}, want: found(good), serve: pdfs(pdfType, good)},
		{name: "octetpdf", weight: 1, allow: []string{codeOK}, want: found(good), serve: pdfs("application/octet-stream", good)},
		{name: "badpdf", weight: 2, allow: []string{codeOK, "unsupported"}, serve: pdfs(pdfType, func(s *site) []file { return s.bad })},
		{name: "hostile", weight: 2, timeout: 4 * e.patience, allow: []string{codeOK, "unsupported", "timeout", "too_long"},
			serve: pdfs(pdfType, func(s *site) []file { return s.hostile })},
		{name: "octets", weight: 3, allow: []string{"unsupported"}, serve: always("application/octet-stream", func(s *site, _ int) []byte { return s.noise })},
		{name: "picture", weight: 1, allow: []string{"unsupported"}, serve: always("image/png", func(s *site, _ int) []byte { return s.picture })},
		{name: "empty", weight: 2, allow: []string{codeOK}, serve: always(htmlUTF8, func(*site, int) []byte { return nil })},
		{name: "json", weight: 1, allow: []string{codeOK}, want: one("json"), serve: always("application/json", func(s *site, _ int) []byte { return s.order })},
		{name: "deep", weight: 1, allow: []string{codeOK}, want: one("deep"), serve: always(htmlUTF8, func(s *site, _ int) []byte { return s.deep })},
	}
}

// card is one target of a list.
type card struct {
	kind *kind
	n    int
	url  string
	mode string
}

// list is one list of targets.
type list struct {
	name  string
	cards []card
	again int // how many jobs it became
}

// body is the list as POST /v1/batch takes it.
func (l *list) body(fresh bool) []byte {
	type target struct {
		URL     string  `json:"url"`
		Mode    string  `json:"mode,omitempty"`
		MaxAge  *int    `json:"max_age,omitempty"`
		Timeout float64 `json:"timeout,omitempty"`
	}
	body := struct {
		Targets []target `json:"targets"`
		Fresh   bool     `json:"fresh,omitempty"`
	}{Fresh: fresh}
	for _, c := range l.cards {
		t := target{URL: c.url, Mode: c.mode, Timeout: c.kind.timeout}
		if c.kind.fresh {
			t.MaxAge = new(int)
		}
		body.Targets = append(body.Targets, t)
	}
	b, err := json.Marshal(body)
	if err != nil {
		panic(err) // there is nothing in it that JSON cannot say
	}
	return b
}

// dealer hands out lists. It goes through decks, each of which has every kind
// by its weight, so that an early part of a run is as hard as a late one.
type dealer struct {
	site   *site
	random *rand.Rand
	sizes  []int // of the lists of one deck
	lists  int
	deck   []*kind
	lens   []int
	count  map[string]int // pages of a kind that were handed out
	seen   map[string]bool
}

func newDealer(s *site, seed uint64, sizes []int) *dealer {
	return &dealer{site: s, random: rand.New(rand.NewPCG(seed, 1)), sizes: sizes, count: make(map[string]int), seen: make(map[string]bool)}
}

// next is a list that nobody had before.
func (d *dealer) next() *list {
	if len(d.lens) == 0 {
		d.lens = slices.Clone(d.sizes)
		d.random.Shuffle(len(d.lens), func(i, j int) { d.lens[i], d.lens[j] = d.lens[j], d.lens[i] })
	}
	size := d.lens[0]
	d.lens = d.lens[1:]
	picked := make([]*kind, size)
	for i := range picked {
		if len(d.deck) == 0 {
			for _, k := range d.site.kinds {
				d.deck = append(d.deck, slices.Repeat([]*kind{k}, k.weight)...)
			}
			d.random.Shuffle(len(d.deck), func(i, j int) { d.deck[i], d.deck[j] = d.deck[j], d.deck[i] })
		}
		picked[i], d.deck = d.deck[0], d.deck[1:]
	}
	return d.list(picked)
}

// oneOfEach is lists that have every kind of page once between them.
func (d *dealer) oneOfEach() []*list {
	half := len(d.site.kinds) / 2 // all of them would be more than a list may have
	return []*list{d.list(d.site.kinds[:half]), d.list(d.site.kinds[half:])}
}

func (d *dealer) list(picked []*kind) *list {
	d.lists++
	l := &list{name: fmt.Sprint(d.lists)}
	for i, k := range picked {
		l.cards = append(l.cards, d.card(l, i, k))
	}
	var all strings.Builder
	for _, c := range l.cards {
		all.WriteString(c.url + " ")
	}
	if d.seen[all.String()] { // short lists of common pages come twice
		l.cards = append(l.cards, d.card(l, len(l.cards), d.kind("once")))
	}
	d.seen[all.String()] = true
	return l
}

func (d *dealer) kind(name string) *kind {
	return d.site.kinds[slices.IndexFunc(d.site.kinds, func(k *kind) bool { return k.name == name })]
}

func (d *dealer) card(l *list, idx int, k *kind) card {
	c := card{kind: k}
	host := d.site.back[d.random.IntN(len(d.site.back))]
	switch {
	case k.name == "once":
		c.url = fmt.Sprintf("http://%s/once/%s/%d?ms=%d", host, l.name, idx, 2+d.random.IntN(50))
		c.n = idx
	case k.name == "slow": // most of them not very
		u := d.random.Float64()
		c.url = fmt.Sprintf("http://%s/once/%s/%d?ms=%d", host, l.name, idx, 200+int(2800*u*u*u))
		c.n = idx
	default:
		c.n = d.count[k.name]
		if k.pages > 0 {
			c.n = d.random.IntN(k.pages)
		}
		d.count[k.name]++
		if k.url != nil {
			c.url = k.url(c.n)
		} else {
			c.url = fmt.Sprintf("http://%s/%s/%d", host, k.name, c.n)
		}
	}
	if len(k.modes) > 0 {
		c.mode = k.modes[d.random.IntN(len(k.modes))]
	}
	return c
}

// want is what the content of the answer holds.
func (c card) want(s *site, l *list) string {
	switch {
	case c.kind.name == "once" || c.kind.name == "slow":
		return mark("once-"+l.name, c.n)
	case c.kind.want != nil:
		return c.kind.want(s, c.n)
	}
	return ""
}

// effort says how much is done.
type effort struct {
	jobs, callers int
	pairs         int           // windows without batches and with, in turns
	without, with time.Duration // how long each lasts, at least
	limit         time.Duration // for all of it
	patience      float64       // seconds that a target gives a page that never ends
	sizes         []int         // of lists, in turn
	cached, fresh float64       // interactive requests a second
	held          float64
	settle        time.Duration // how long everything may take to go back to the start
	growth        int64         // bar of the last third's peak over the first third's
}
