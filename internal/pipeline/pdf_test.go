package pipeline

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"sift.build/sift/internal/pdf"
	"sift.build/sift/internal/sift"
)

// A fakePDF has as many pages as its body says, behind "pages=". It reads at
// most limit of them at once, waits at the gate, and wants the password that
// the body names.
type fakePDF struct {
	reads atomic.Int64
	limit int
	gate  chan struct{} // nil: open
	begun chan pdf.Request
}

func pdfBody(pages int, more ...string) string {
	return fmt.Sprintf("%%PDF-1.7\n%%\xe2\xe3\xcf\xd3\npages=%d\n%s\n", pages, strings.Join(more, "\n"))
}

func (f *fakePDF) Read(ctx context.Context, r pdf.Request) (*sift.Document, error) {
	f.reads.Add(1)
	if f.begun != nil {
		f.begun <- r
	}
	if f.gate != nil {
		select {
		case <-f.gate:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	body := r.Body
	if r.File != nil {
		var err error
		if body, err = io.ReadAll(io.NewSectionReader(r.File, 0, 1<<30)); err != nil {
			return nil, err
		}
	}
	value := func(key string) string {
		_, rest, _ := strings.Cut(string(body), "\n"+key+"=")
		v, _, _ := strings.Cut(rest, "\n")
		return v
	}
	if want := value("password"); want != r.Password && want != "" {
		return nil, sift.Fail(sift.CodeUnsupported, "it needs a password").WithHint(sift.HintPassword)
	}
	total, err := strconv.Atoi(value("pages"))
	if err != nil {
		return nil, err
	}
	doc := &sift.Document{Kind: sift.KindPDF, MediaType: "application/pdf", Title: "A file", PDF: &sift.PDF{Total: total}}
	doc.Main = &html.Node{Type: html.ElementNode, Data: "body", DataAtom: atom.Body}
	read := 0
	for n := 1; n <= total; n++ {
		if f.limit > 0 && (read == f.limit || len(r.First) > 0 && !r.First.Has(n)) {
			doc.PDF.Stopped = true
			continue
		}
		read++
		section := &html.Node{Type: html.ElementNode, Data: "section", DataAtom: atom.Section, Attr: []html.Attribute{{Key: "data-page", Val: strconv.Itoa(n)}}}
		p := &html.Node{Type: html.ElementNode, Data: "p", DataAtom: atom.P}
		p.AppendChild(&html.Node{Type: html.TextNode, Data: fmt.Sprintf("This is page %d.", n)})
		section.AppendChild(p)
		doc.Main.AppendChild(section)
		doc.VisibleChars += 12
	}
	return doc, nil
}

// waitFor looks until something is so.
func waitFor(t *testing.T, so func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !so(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("waited in vain")
		}
	}
}

func pdfSite(t *testing.T, body string) *site {
	return newSite(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = io.WriteString(w, body)
	})
}

func TestAPDFIsToldByItsBytesAndReadOnceForEveryPageRangeAndMode(t *testing.T) {
	for _, size := range []int{0, 3 << 20} { // in memory, and on disk
		f := &fakePDF{}
		s := pdfSite(t, pdfBody(12, strings.Repeat("x", size)))
		r := newRig(t, s, rigOptions{pdf: f})
		whole := r.get(t, sift.Target{URL: "http://a.example/download?id=7"})
		if whole.Title != "A file" || !strings.HasPrefix(whole.Content, "<!-- page 1 -->\n\nThis is page 1.\n\n<!-- page 2 -->") || whole.Pages.Total != 12 || len(whole.Pages.Returned) != 12 {
			t.Errorf("got %+v", whole.Answer)
		}
		if whole.Receipt.Bytes < size || whole.Coverage != 1 || whole.Snapshot == "" {
			t.Errorf("receipt %+v, coverage %v", whole.Receipt, whole.Coverage)
		}
		for pages, want := range map[string][]int{"2-3": {2, 3}, "9,3,3": {3, 9}, "11-": {11, 12}, "12-40": {12}, "": {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}} {
			for _, m := range []sift.Mode{sift.ModeClean, sift.ModeText, sift.ModeHTML, sift.ModeFull, sift.ModeLinks, sift.ModeOutline} {
				env := r.get(t, sift.Target{URL: "http://a.example/download?id=7", Pages: pages, Mode: m})
				if diff := cmp.Diff(&sift.Pages{Total: 12, Returned: want}, env.Pages); diff != "" {
					t.Errorf("%q as %s: %s", pages, m, diff)
				}
				if has := strings.Contains(env.Content, "This is page 1."); m != sift.ModeLinks && m != sift.ModeOutline && has != (pages == "") {
					t.Errorf("%q as %s: %q", pages, m, env.Content)
				}
			}
		}
		env := r.get(t, sift.Target{URL: "http://a.example/download?id=7", Snapshot: whole.Snapshot, Pages: "4"})
		if env.Content != "<!-- page 4 -->\n\nThis is page 4." || env.Coverage != 0.08 {
			t.Errorf("content %q, coverage %v", env.Content, env.Coverage)
		}
		if n := f.reads.Load(); n != 1 || s.hits.Load() != 1 {
			t.Errorf("%d extractions, %d downloads", n, s.hits.Load())
		}
	}
}

func TestAWindowNamesThePagesItShows(t *testing.T) {
	s := pdfSite(t, pdfBody(5))
	r := newRig(t, s, rigOptions{pdf: &fakePDF{}})
	var got [][]int
	var text strings.Builder
	target := sift.Target{URL: "http://a.example/", MaxChars: 40}
	for {
		env := r.get(t, target)
		got = append(got, env.Pages.Returned)
		text.WriteString(env.Content)
		if env.NextOffset == nil {
			break
		}
		target.Offset, target.Snapshot = *env.NextOffset, env.Snapshot
	}
	if diff := cmp.Diff([][]int{{1}, {2}, {3}, {4}, {5}}, got); diff != "" {
		t.Error(diff)
	}
	if whole := r.get(t, sift.Target{URL: "http://a.example/"}); whole.Content != text.String() {
		t.Error("the windows do not join to the whole")
	}
}

func TestPagesThatAreNotThereAreRefusedWithHowManyThereAre(t *testing.T) {
	f := &fakePDF{}
	r := newRig(t, pdfSite(t, pdfBody(5)), rigOptions{pdf: f})
	for range 2 { // downloaded, and from the cache
		if got := r.fail(t, alice, sift.Target{URL: "http://a.example/", Pages: "9"}, sift.CodeInvalid); !strings.Contains(got.Message, "the PDF has 5 pages") || got.Hint != sift.HintPages {
			t.Errorf("got %+v", got)
		}
	}
	r.fail(t, alice, sift.Target{URL: "http://a.example/", Pages: "4-2"}, sift.CodeInvalid)
	if f.reads.Load() != 1 {
		t.Errorf("%d extractions", f.reads.Load())
	}
	r.fail(t, alice, sift.Target{URL: "http://a.example/", Mode: sift.ModeRaw}, sift.CodeUnsupported)
	html := newRig(t, newSite(t, serve(page("T", "body text that is long enough to be the page"))), rigOptions{pdf: f})
	if got := html.fail(t, alice, sift.Target{URL: "http://a.example/", Pages: "1"}, sift.CodeInvalid); !strings.Contains(got.Message, "text/html") {
		t.Errorf("got %v", got)
	}
}

func TestPagesThatReadingDidNotGetToAreReadWhenTheyAreAskedFor(t *testing.T) {
	for _, big := range []int{0, 2 << 20} { // the stored body is read along, or is not
		f := &fakePDF{limit: 3}
		r := newRig(t, pdfSite(t, pdfBody(10, strings.Repeat("x", big))), rigOptions{pdf: f})
		if env := r.get(t, sift.Target{URL: "http://a.example/"}); cmp.Diff([]int{1, 2, 3}, env.Pages.Returned) != "" {
			t.Errorf("pages %+v", env.Pages)
		}
		env := r.get(t, sift.Target{URL: "http://a.example/", Pages: "8-9"})
		if env.Content != "<!-- page 8 -->\n\nThis is page 8.\n\n<!-- page 9 -->\n\nThis is page 9." || f.reads.Load() != 2 {
			t.Errorf("%q after %d extractions", env.Content, f.reads.Load())
		}
		// More than is read at once: what there is of it.
		if env := r.get(t, sift.Target{URL: "http://a.example/", Pages: "5-"}); cmp.Diff([]int{5, 6, 7}, env.Pages.Returned) != "" {
			t.Errorf("pages %+v", env.Pages)
		}
	}
}

func TestIdenticalRequestsOfDifferentCallersShareOneExtraction(t *testing.T) {
	f := &fakePDF{gate: make(chan struct{}), begun: make(chan pdf.Request, 8)}
	r := newRig(t, pdfSite(t, pdfBody(3)), rigOptions{pdf: f, slots: 1})
	callers := []sift.Caller{alice, {Name: "bob", Class: "other"}, {Name: "eve", Class: "third", Restricted: true}}
	var wg sync.WaitGroup
	for i, c := range callers {
		wg.Go(func() {
			// Each of another class downloads for itself, from an address of its own.
			env, err := r.FetchTarget(t.Context(), c, sift.Target{URL: fmt.Sprintf("http://host%d.example/", i)})
			if err != nil || env.Pages.Total != 3 {
				t.Errorf("%s: %v", c.Name, err)
			}
		})
	}
	<-f.begun
	key := fmt.Sprintf("%x ", sha256.Sum256([]byte(pdfBody(3))))
	waitFor(t, func() bool { return r.cfg.PDFPool.Waiting(key) == 2 })
	close(f.gate)
	wg.Wait()
	if f.reads.Load() != 1 {
		t.Errorf("%d extractions", f.reads.Load())
	}
}

func TestACallerHasOnePDFInWorkAndTheLocalOneAsManyAsThereArePlaces(t *testing.T) {
	f := &fakePDF{gate: make(chan struct{}), begun: make(chan pdf.Request, 8)}
	n := atomic.Int64{}
	s := newSite(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, pdfBody(1, fmt.Sprint(n.Add(1))))
	})
	r := newRig(t, s, rigOptions{pdf: f, slots: 2})
	var wg sync.WaitGroup
	ask := func(c sift.Caller, url string) {
		wg.Go(func() {
			if _, err := r.FetchTarget(t.Context(), c, sift.Target{URL: url}); err != nil {
				t.Errorf("%s: %v", url, err)
			}
		})
		<-f.begun
	}
	ask(alice, "http://a.example/")
	busy := r.fail(t, alice, sift.Target{URL: "http://b.example/"}, sift.CodeBusy)
	if busy.RetryAfter <= 0 || busy.Hint != sift.HintRetry || !strings.Contains(busy.Message, "already") {
		t.Errorf("got %+v", busy)
	}
	local := sift.Caller{Name: "local", Class: "default", Anonymous: true}
	ask(local, "http://c.example/")
	if busy := r.fail(t, local, sift.Target{URL: "http://d.example/"}, sift.CodeBusy); busy.RetryAfter <= 0 || strings.Contains(busy.Message, "already") {
		t.Errorf("got %+v", busy)
	}
	close(f.gate)
	wg.Wait()
}

func TestWhatAPasswordOpensIsKeptNowhere(t *testing.T) {
	f := &fakePDF{}
	s := pdfSite(t, pdfBody(2, "password=hunter2"))
	r := newRig(t, s, rigOptions{pdf: f})
	if got := r.fail(t, alice, sift.Target{URL: "http://a.example/"}, sift.CodeUnsupported); got.Hint != sift.HintPassword {
		t.Errorf("got %+v", got)
	}
	env := r.get(t, sift.Target{URL: "http://a.example/", Password: "hunter2"})
	if env.Snapshot != "" || !strings.Contains(env.Content, "This is page 2.") {
		t.Errorf("got %+v", env.Answer)
	}
	r.fail(t, alice, sift.Target{URL: "http://a.example/"}, sift.CodeUnsupported)
	r.fail(t, alice, sift.Target{URL: "http://a.example/", Password: "other"}, sift.CodeUnsupported)
	if stats, err := r.store.Stats(t.Context()); err != nil || stats.Entries != 0 {
		t.Errorf("%d copies are stored, %v", stats.Entries, err)
	}
	if files, err := os.ReadDir(t.TempDir()); err != nil || len(files) != 0 {
		t.Errorf("%v, %v", files, err)
	}
}

func TestACallerWithAPasswordSharesWithNobody(t *testing.T) {
	f := &fakePDF{gate: make(chan struct{}), begun: make(chan pdf.Request, 8)}
	r := newRig(t, pdfSite(t, pdfBody(2, "password=hunter2")), rigOptions{pdf: f, slots: 4})
	var wg sync.WaitGroup
	outcomes := make(chan error, 3)
	for i, password := range []string{"hunter2", "", "wrong"} {
		c := sift.Caller{Name: fmt.Sprint("c", i), Class: "default"}
		wg.Go(func() {
			_, err := r.FetchTarget(t.Context(), c, sift.Target{URL: "http://a.example/", Password: password})
			if (err == nil) != (password == "hunter2") {
				t.Errorf("with %q: %v", password, err)
			}
			outcomes <- err
		})
		<-f.begun
	}
	close(f.gate)
	wg.Wait()
	if f.reads.Load() != 3 {
		t.Errorf("%d extractions", f.reads.Load())
	}
}

func TestACallerWhoLeavesAWaitingPDFTakesNothingAway(t *testing.T) {
	f := &fakePDF{gate: make(chan struct{}), begun: make(chan pdf.Request, 8)}
	r := newRig(t, pdfSite(t, pdfBody(1, strings.Repeat("x", 2<<20))), rigOptions{pdf: f})
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() {
		_, err := r.FetchTarget(ctx, alice, sift.Target{URL: "http://a.example/"})
		left <- err
	}()
	req := <-f.begun
	leave()
	if err := <-left; sift.AsFailure(err).Code != sift.CodeCancel {
		t.Errorf("got %v", err)
	}
	// The extraction goes on, and its file is still there.
	if _, err := req.File.Stat(); err != nil {
		t.Errorf("the file was closed under the reader: %v", err)
	}
	close(f.gate)
	waitFor(t, func() bool { return r.cfg.PDFPool.Running() == 0 })
	waitFor(t, func() bool { _, err := req.File.Stat(); return errors.Is(err, os.ErrClosed) })
}

func TestWhoLeavesAPDFThatIsNotBegunTakesTheirFileAlongAndNobodyElses(t *testing.T) {
	f := &fakePDF{gate: make(chan struct{}), begun: make(chan pdf.Request, 8)}
	big := strings.Repeat("x", 2<<20) // on disk
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		pages, _ := strconv.Atoi(r.URL.Query().Get("pages"))
		_, _ = io.WriteString(w, pdfBody(pages, big))
	})
	r := newRig(t, s, rigOptions{pdf: f, slots: 1, queue: 4})
	ask := func(ctx context.Context, name, url string) <-chan error {
		done := make(chan error, 1)
		go func() {
			_, err := r.FetchTarget(ctx, sift.Caller{Name: name, Class: name}, sift.Target{URL: url})
			done <- err
		}()
		return done
	}
	offered := func() (n int) {
		r.offers.mu.Lock()
		defer r.offers.mu.Unlock()
		for _, all := range r.offers.byKey {
			n += len(all)
		}
		return n
	}
	running := ask(t.Context(), "first", "http://a.example/?pages=1")
	<-f.begun

	// The only one who waits.
	ctx, leave := context.WithCancel(t.Context())
	waits := ask(ctx, "second", "http://a.example/?pages=2")
	waitFor(t, func() bool { return r.cfg.PDFPool.Queued() == 1 })
	leave()
	<-waits
	waitFor(t, func() bool { return r.cfg.PDFPool.Queued() == 0 && offered() == 0 })

	// One of two: the other's file is read.
	ctx, leave = context.WithCancel(t.Context())
	starts := ask(ctx, "third", "http://a.example/?pages=3")
	waitFor(t, func() bool { return r.cfg.PDFPool.Queued() == 1 })
	shares := ask(t.Context(), "fourth", "http://b.example/?pages=3")
	waitFor(t, func() bool {
		return r.cfg.PDFPool.Waiting(fmt.Sprintf("%x ", sha256.Sum256([]byte(pdfBody(3, big))))) == 1
	})
	leave()
	<-starts
	waitFor(t, func() bool { return offered() == 1 })
	close(f.gate)
	for _, done := range []<-chan error{running, shares} {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if offered() != 0 || f.reads.Load() != 2 {
		t.Errorf("%d files are left, %d extractions", offered(), f.reads.Load())
	}
}
