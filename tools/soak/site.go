package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"

	"sift.build/sift/internal/pdf/pdftest"
)

// site is what sift fetches from: good pages, bad ones and hostile ones, in
// this process. kinds.go says what is to come of each.
type site struct {
	kinds   []*kind
	servers []*http.Server

	front     string   // address of what the interactive load asks for
	back      []string // addresses of what the batches ask for
	contended string   // of both: its two slots are often taken

	words                       []string
	small, medium, large        [][]byte
	huge, overlong              []byte
	bomb, bombOfBombs           []byte
	good, bad, hostile          []file
	charsets                    []charsetPage
	noise, picture, deep, order []byte

	mu   sync.Mutex
	once map[string]*visits // by list
}

// file is a PDF of the site.
type file struct {
	body []byte
	want string // what a reader finds in it
}

type charsetPage struct {
	contentType string
	body        []byte
	want        string
}

// visits is what was asked for of one list's pages that are fetched once.
type visits struct {
	hits   map[int]int // by index
	inside int         // being answered now
	first  int         // index
	last   int
	wrong  []string
}

// addresses is how many the site listens on where it can: the gate counts by
// address.
const addresses = 4

// newSite serves on 127.0.0.1 and, where the system has them, on the ones
// behind it.
func newSite(ctx context.Context, e effort) (*site, error) {
	s := &site{kinds: kinds(e), once: make(map[string]*visits), words: strings.Fields(vocabulary)}
	if err := s.write(); err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	for _, k := range s.kinds {
		if k.serve == nil {
			continue // it is elsewhere
		}
		mux.HandleFunc("GET /"+k.name+"/{n}", func(w http.ResponseWriter, r *http.Request) {
			n, err := strconv.Atoi(r.PathValue("n"))
			if err != nil || n < 0 {
				http.NotFound(w, r)
				return
			}
			k.serve(s, w, r, n)
		})
	}
	mux.HandleFunc("GET /once/{list}/{idx}", s.serveOnce)
	mux.HandleFunc("GET /cached/{n}", func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.PathValue("n"))
		send(w, htmlUTF8, s.page("cached", n, 3_000*(1+n*8)))
	})
	mux.HandleFunc("GET /new/{n}", func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.PathValue("n"))
		send(w, htmlUTF8, s.page("new", n, 2_000))
	})
	mux.HandleFunc("GET /held/{n}", func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.PathValue("n"))
		if after(r.Context(), time.Duration(300+n*7%900)*time.Millisecond) {
			send(w, htmlUTF8, s.page("held", n, 2_000))
		}
	})
	var all []string
	for i := range addresses {
		var lc net.ListenConfig
		l, err := lc.Listen(ctx, "tcp", fmt.Sprintf("127.0.0.%d:0", i+1))
		if err != nil {
			if i > 0 { // macOS has 127.0.0.1 alone
				break
			}
			return nil, fmt.Errorf("listen for the local site: %w", err)
		}
		server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
		go func() { _ = server.Serve(l) }() // ends with close
		s.servers = append(s.servers, server)
		all = append(all, l.Addr().String())
	}
	s.front, s.back, s.contended = all[0], all[min(1, len(all)-1):], all[len(all)-1]
	return s, nil
}

func (s *site) close() {
	for _, server := range s.servers {
		_ = server.Close()
	}
}

// hangUp ends the connections that nobody uses, which sift would keep for a
// while.
func (s *site) hangUp() {
	for _, server := range s.servers {
		server.SetKeepAlivesEnabled(false)
		server.SetKeepAlivesEnabled(true)
	}
}

// allow opens the site's addresses to sift.
func (s *site) allow() string {
	quoted := []string{strconv.Quote(s.front)}
	for _, a := range s.back {
		if a != s.front {
			quoted = append(quoted, strconv.Quote(a))
		}
	}
	return "[guard]\nallow = [" + strings.Join(quoted, ", ") + "]\n"
}

const (
	htmlUTF8 = "text/html; charset=utf-8"
	pdfType  = "application/pdf"
)

// send writes a whole page. A client that has gone away is its own affair.
func send(w http.ResponseWriter, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body)
}

// after waits, and says whether the client did too.
func after(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// mark is a word that no other page has.
func mark(kind string, n int) string { return fmt.Sprintf("mark-%s-%d-here", kind, n) }

// page makes an article of about size bytes that begins with its mark.
func (s *site) page(kind string, n, size int) []byte {
	b := make([]byte, 0, size+1000)
	b = fmt.Appendf(b, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Page %d</title></head><body>\n"+
		"<nav><a href=\"/\">Home</a></nav><main><article><h1>Page %d</h1>\n<p>The word of this page is %s, and it stands here so that everybody can tell it from the others.</p>\n", n, n, mark(kind, n))
	for i := 0; len(b) < size; i++ {
		if i%7 == 0 {
			b = fmt.Appendf(b, "<h2>Part %d</h2>\n", i/7+1)
		}
		b = append(b, "<p>"...)
		for k := range 40 {
			b = append(append(b, s.words[(n*31+i*17+k*k+k)%len(s.words)]...), ' ')
		}
		b = fmt.Appendf(b, "<a href=\"/topic/%d\">more on it</a>.</p>\n", i)
	}
	return append(b, "</article></main><footer><p>The end</p></footer></body></html>\n"...)
}

// write makes what is the same each time it is asked for.
func (s *site) write() error {
	several := func(kind string, n, size int) (all [][]byte) {
		for i := range n {
			all = append(all, s.page(kind, i, size))
		}
		return all
	}
	s.small, s.medium, s.large = several("small", manySmall, 2_500), several("medium", manyMedium, 40_000), several("large", manyLarge, 300_000)
	s.huge = s.page("huge", 0, 9_990_000)
	s.overlong = s.page("overlong", 0, 12_000_000)
	s.deep = slicesOf("<!DOCTYPE html><p>"+mark("deep", 0)+" stands above a deep nest of elements.", "<div>", 20_000)
	s.order = []byte(`{"order":1,"mark":"` + mark("json", 0) + `","items":[1,2,3]}`)
	s.picture = append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00"), make([]byte, 300)...)
	s.noise = make([]byte, 20_000)
	rand.NewChaCha8([32]byte{1}).Read(s.noise) //nolint:errcheck // it never fails
	var err error
	if s.bomb, err = zipped(make([]byte, 1<<20), 64); err != nil {
		return err
	}
	once, err := zipped(make([]byte, 1<<20), 256)
	if err != nil {
		return err
	}
	if s.bombOfBombs, err = zipped(once, 1); err != nil {
		return err
	}
	facts := pdftest.PaperExpected()
	s.good = []file{
		{pdftest.Markers(3), "marker-page-2"},
		{pdftest.Paper(), strings.Fields(facts.Title)[0]},
		{pdftest.Book(12, 7), ""},
		{pdftest.Tables(), ""},
		{pdftest.JunkBefore(pdftest.Markers(2)), "marker-page-1"},
	}
	paper := pdftest.Paper()
	s.bad = []file{
		{pdftest.CutBeforeTrailer(pdftest.Markers(4)), ""},
		{paper[:len(paper)/2], ""},
		{[]byte("%PDF-1.7\nand then something else altogether"), ""},
		{pdftest.Encrypted("secret"), ""},
	}
	for _, h := range pdftest.Hostile() {
		if hostilePDFs[h.Name] {
			s.hostile = append(s.hostile, file{h.Make(), ""})
		}
	}
	if len(s.hostile) != len(hostilePDFs) {
		return fmt.Errorf("only %d of %d hostile PDFs are known by their names", len(s.hostile), len(hostilePDFs))
	}
	return s.writeCharsets()
}

// hostilePDFs are those of pdftest that are made quickly.
var hostilePDFs = map[string]bool{
	"flate-double-8m": true, "flate-double-4g": true, "hex-open": true, "length-huge": true, "kids-loop": true, "count-lie": true, "prev-self": true,
	"xref-wrong": true, "forms-billion": true, "form-self": true, "outline-next-cycle": true, "structure-cycle": true, "font-self": true,
	"image-giant": true, "jbig2-image": true, "lock-unknown": true, "acts": true, "header-only": true, "half": true,
}

func (s *site) writeCharsets() error {
	const russian, japaneseText, chinese = "Каждый охотник желает знать, где сидит фазан", "色は匂へど散りぬるを我が世誰ぞ常ならむ", "天地玄黄宇宙洪荒日月盈昃辰宿列张"
	for _, c := range []struct {
		enc         encoding.Encoding
		contentType string
		meta, text  string
	}{
		{japanese.ShiftJIS, "text/html", "Shift_JIS", japaneseText},
		{japanese.EUCJP, "text/html; charset=euc-jp", "", japaneseText},
		{simplifiedchinese.GB18030, "text/html; charset=gb2312", "", chinese},
		{charmap.Windows1251, "text/html; charset=windows-1251", "utf-8", russian},
		{charmap.KOI8R, "text/html", "koi8-r", russian},
		{unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), "text/html", "", russian},
	} {
		meta := ""
		if c.meta != "" {
			meta = "<meta charset=\"" + c.meta + "\">"
		}
		body, err := c.enc.NewEncoder().String("<!DOCTYPE html><html><head>" + meta + "<title>" + c.text + "</title></head><body><article><p>" +
			strings.Repeat(c.text+". ", 12) + "</p></article></body></html>")
		if err != nil {
			return fmt.Errorf("encode a page: %w", err)
		}
		s.charsets = append(s.charsets, charsetPage{c.contentType, []byte(body), c.text})
	}
	return nil
}

// slicesOf is a beginning and then the same again and again.
func slicesOf(head, part string, n int) []byte {
	return append([]byte(head), bytes.Repeat([]byte(part), n)...)
}

// zipped compresses n times the same block.
func zipped(block []byte, n int) ([]byte, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	for range n {
		if _, err := z.Write(block); err != nil {
			return nil, err
		}
	}
	err := z.Close() // writes the end
	return b.Bytes(), err
}

// serveOnce answers a page that belongs to one target of one list. Whoever
// drains a list one after the other, and no target twice, asks for these in
// order, never for two at once, and for each as often as the list was run.
func (s *site) serveOnce(w http.ResponseWriter, r *http.Request) {
	list := r.PathValue("list")
	idx, err := strconv.Atoi(r.PathValue("idx"))
	ms, err2 := strconv.Atoi(r.URL.Query().Get("ms"))
	if err != nil || err2 != nil {
		http.NotFound(w, r)
		return
	}
	s.enterOnce(list, idx)
	there := after(r.Context(), time.Duration(ms)*time.Millisecond)
	s.leaveOnce(list) // before the answer: its reader may be quicker with the next than this function with its end
	if there {
		send(w, htmlUTF8, s.page("once-"+list, idx, 3_000))
	}
}

func (s *site) enterOnce(list string, idx int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.once[list]
	if v == nil {
		v = &visits{hits: make(map[int]int), first: idx, last: -1}
		s.once[list] = v
	}
	if v.inside > 0 {
		v.wrong = append(v.wrong, fmt.Sprintf("target %d of list %s was fetched while target %d was", idx, list, v.last))
	}
	if idx <= v.last && idx != v.first { // a list that is run again begins again
		v.wrong = append(v.wrong, fmt.Sprintf("target %d of list %s was fetched after target %d", idx, list, v.last))
	}
	v.hits[idx]++
	v.inside++
	v.last = idx
}

func (s *site) leaveOnce(list string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.once[list].inside--
}

// hits is how often a page was asked for.
func (s *site) hits(list string, idx int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v := s.once[list]; v != nil {
		return v.hits[idx]
	}
	return 0
}

// wrongs says what was asked for as it must not be, and of how many lists
// anything was asked for.
func (s *site) wrongs() (wrong []string, lists int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range s.once {
		wrong = append(wrong, v.wrong...)
	}
	return wrong, len(s.once)
}

// reset ends the connection with a reset, after some bytes of an answer.
func reset(w http.ResponseWriter, before string) {
	conn, out, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	_, _ = out.WriteString(before)
	_ = out.Flush()
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// cut ends the connection in the middle of an answer, with a FIN.
func cut(w http.ResponseWriter, answer string) {
	conn, out, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	_, _ = out.WriteString(answer)
	_ = out.Flush()
	_ = conn.Close()
}

// drip goes on for ever, some bytes at a time.
func drip(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", htmlUTF8)
	c := http.NewResponseController(w)
	for {
		if _, err := io.WriteString(w, "<p>And one more paragraph that leads to the next.</p>\n"); err != nil || c.Flush() != nil {
			return
		}
		if !after(r.Context(), 20*time.Millisecond) {
			return
		}
	}
}

const vocabulary = `the a river stone house garden letter winter morning engine paper window bridge market signal
	harbour ladder number answer kitchen question station silver corner mountain teacher theatre village weather
	animal history science measure pattern problem process quality reason record result season shape side simple
	small sound source story strong system table thing travel under until value water where which while world
	write yellow young carries follows holds keeps leaves makes opens reaches shows stands takes`
