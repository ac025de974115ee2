package main

import (
	"bytes"
	"fmt"
	"image"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sift.build/sift/internal/pdf/pdftest"
)

// What the service and its readers may hold together.
const mostTogether = 1e9

// sampler watches what a service and its readers hold.
type sampler struct {
	stop chan struct{}
	done chan struct{}

	samples             int
	peak, service, pdfs int64 // at the worst moment, in all and of each kind
	children            int   // then
	servicePeak         int64
	childPeak           int64
	most                int // children at once
}

func watch(pid int) *sampler {
	s := &sampler{stop: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(s.done)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				s.sample(pid)
			case <-s.stop:
				return
			}
		}
	}()
	return s
}

func (s *sampler) end() {
	close(s.stop)
	<-s.done
}

func (s *sampler) sample(pid int) {
	service := residentOf(pid)
	var pdfs, largest int64
	n := 0
	for _, child := range readersOf(pid, "") {
		m := residentOf(child)
		pdfs += m
		largest = max(largest, m)
		n++
	}
	s.samples++
	s.most = max(s.most, n)
	s.servicePeak, s.childPeak = max(s.servicePeak, service), max(s.childPeak, largest)
	if service+pdfs > s.peak {
		s.peak, s.service, s.pdfs, s.children = service+pdfs, service, pdfs, n
	}
}

// residentOf is the memory that a process holds (VmRSS), in bytes.
func residentOf(pid int) int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0 // it has ended
	}
	_, rest, _ := bytes.Cut(b, []byte("VmRSS:"))
	number, _, _ := strings.Cut(strings.TrimSpace(string(rest[:min(len(rest), 32)])), " ")
	kib, _ := strconv.ParseInt(number, 10, 64)
	return kib << 10
}

// bigHTML is a page of size bytes made of what long pages are made of.
func bigHTML(size int) []byte {
	var b bytes.Buffer
	b.WriteString("<!doctype html><html lang=en><title>A long page</title><main><article><h1>A long page</h1>\n")
	r := rand.New(rand.NewPCG(1, 2))
	for i := 0; b.Len() < size-2000; i++ {
		fmt.Fprintf(&b, "<h2 id=s%d>Part %d</h2>\n<p>", i, i)
		for range 60 {
			fmt.Fprintf(&b, "word%d ", r.IntN(5000))
		}
		fmt.Fprintf(&b, "and <a href=\"/topic/%d\">a link</a> with <em>stress</em>.</p>\n<ul><li>One</li><li>Two %d</li></ul>\n<table><tr><th>A<th>B</tr><tr><td>%d<td>%d</tr></table>\n", i, i, i, i*7)
	}
	b.WriteString("</article></main>")
	return append(b.Bytes(), bytes.Repeat([]byte("\n"), size-b.Len())...)
}

// bigPDF is a sound file of about 48 MB: pages full of text, and a picture that
// no compressor makes smaller.
func bigPDF() []byte {
	noise := image.NewGray(image.Rect(0, 0, 6700, 7000))
	r := rand.New(rand.NewPCG(3, 4))
	for i := 0; i+8 <= len(noise.Pix); i += 8 {
		v := r.Uint64()
		for k := range 8 {
			noise.Pix[i+k] = byte(v >> (8 * k))
		}
	}
	doc := pdftest.New()
	doc.Page(pdftest.Picture(72, 72, 400, 400, noise), pdftest.Text(72, 720, 12, "A picture of nothing at all, on a page with some text."))
	for page := range 500 {
		lines := make([]string, 60)
		for i := range lines {
			lines[i] = fmt.Sprintf("Page %d has its line %d, in which %d words are set as they are in a book of tables.", page, i, r.IntN(90))
		}
		doc.Page(pdftest.Lines(60, 740, 9, 11, lines...))
	}
	return doc.Bytes()
}

// manyWeights is a file in which no word has the weight of its neighbours: the
// parent holds more of it than of any other text of that length.
func manyWeights(pages int) []byte {
	doc := pdftest.New()
	for page := range pages {
		var b bytes.Buffer
		b.WriteString("BT 7 TL 20 780 Td\n")
		for line := range 100 {
			for i := range 60 {
				fmt.Fprintf(&b, "/F%d 6 Tf (%c%d ) Tj\n", 1+i%2, 'a'+rune((i+line+page)%26), i%10)
			}
			b.WriteString("T*\n")
		}
		b.WriteString("ET")
		doc.Page(pdftest.Text(20, 20, 6, "x"), pdftest.In(pdftest.Font{Name: pdftest.HelveticaBold}, pdftest.Text(40, 20, 6, "y")), pdftest.Content(b.String()))
	}
	return doc.Bytes()
}

// TestReadersAndEightFetchesStayWithinAGigabyte holds the whole product to
// what it promises of a small host: two readers at work on the files that are
// hardest on memory while eight pages of 10 MB are fetched at once.
func TestReadersAndEightFetchesStayWithinAGigabyte(t *testing.T) {
	if testing.Short() {
		t.Skip("reads hundreds of megabytes; make test does it")
	}
	site, dir := newPDFSite(t), t.TempDir()
	big := bigPDF()
	if len(big) < 45<<20 || len(big) > 50<<20-100 {
		t.Fatalf("the big file has %d bytes", len(big))
	}
	site.files["big"] = func() []byte { return big }
	site.files["weights"] = func() []byte { return manyWeights(40) }

	const fetches, pageSize = 8, 10 << 20
	page := bigHTML(pageSize - 100)
	all := make(chan struct{})
	var arrived atomic.Int64
	pages := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if arrived.Add(1) == fetches {
			close(all)
		}
		select {
		case <-all:
		case <-r.Context().Done():
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(page)
		_, _ = fmt.Fprintf(w, "<!-- %s -->", r.URL) // each is a page of its own
	}))
	defer pages.Close()
	address := pages.Listener.Addr().String()
	settings := strings.Replace(site.settings("[fetch]\ntimeout = \"5m\"\n[pdf]\nwait = \"5m\"\n"), "allow = [", fmt.Sprintf("allow = [%q, ", address), 1)
	s := serve(t, dir, nil, "--config", writeFile(t, dir, "sift.toml", settings))
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Minute}
	answered := func(target string) (int, error) {
		resp, err := client.Get(s.url + "/v1/fetch?mode=clean&url=" + target)
		if err != nil {
			return 0, err
		}
		defer resp.Body.Close()
		var b bytes.Buffer
		_, err = b.ReadFrom(resp.Body)
		return resp.StatusCode, err
	}
	sampled := watch(s.Process.Pid)

	// Two readers, until the fetches are done and each has had every file.
	var ended atomic.Bool
	var readers sync.WaitGroup
	var read atomic.Int64
	hard := []string{"big", "weights", "text-10m", "flate-1g", "form-self", "words-100k", "xmp-1g", "fonts-20k", "outline-title-16m"}
	for i := range 2 {
		files := slices.Clone(hard)
		if i == 1 { // other neighbours each time, and both big ones at the start
			slices.Reverse(files[1:])
		}
		readers.Go(func() {
			for round := 0; round == 0 || !ended.Load(); round++ {
				for _, name := range files {
					status, err := answered(site.at("", name, fmt.Sprintf("%d-%d", i, round)))
					if err != nil || status == 500 || name == "big" && status != 200 {
						t.Errorf("%s: %d, %v", name, status, err)
					}
					read.Add(1)
					if round > 0 && ended.Load() {
						return
					}
				}
			}
		})
	}
	s.becomes(t, "sift_pdf_running", 2)
	var fetched sync.WaitGroup
	start := time.Now()
	for i := range fetches {
		fetched.Go(func() {
			if status, err := answered(fmt.Sprintf("http://%s/%d", address, i)); err != nil || status != 200 {
				t.Errorf("page %d: %d, %v", i, status, err)
			}
		})
	}
	fetched.Wait()
	took := time.Since(start)
	ended.Store(true)
	readers.Wait()
	sampled.end()

	t.Logf("peak %.0f MB (service %.0f, %d readers %.0f) in %d samples; the service alone at most %.0f, a reader at most %.0f; %d files read, %d fetches in %v",
		mega(sampled.peak), mega(sampled.service), sampled.children, mega(sampled.pdfs), sampled.samples,
		mega(sampled.servicePeak), mega(sampled.childPeak), read.Load(), fetches, took.Round(time.Second))
	if sampled.peak > mostTogether {
		t.Errorf("the service and its readers held %.0f MB", mega(sampled.peak))
	}
	if sampled.most < 2 || sampled.samples < 50 || sampled.childPeak < 100<<20 {
		t.Errorf("this has not tried it: %d readers at once, %d samples, %.0f MB at most in a reader", sampled.most, sampled.samples, mega(sampled.childPeak))
	}
	if sampled.childPeak > 200<<20 {
		t.Errorf("a reader held %.0f MB", mega(sampled.childPeak))
	}
	s.stop(t)
	tidy(t, dir)
}

func mega(bytes int64) float64 { return float64(bytes) / 1e6 }
