package pdf

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sift.build/sift/internal/child"
	"sift.build/sift/internal/pdf/pdftest"
	"sift.build/sift/internal/render"
	"sift.build/sift/internal/sift"
)

// readable says that a file was read or refused as one that cannot be; nothing
// else may become of damage.
func readable(t *testing.T, what string, r *Reader, req Request) (*sift.Document, *sift.Failure) {
	t.Helper()
	doc, err := r.Read(t.Context(), req)
	if err == nil {
		return doc, nil
	}
	f := sift.AsFailure(err)
	if f.Code != sift.CodeUnsupported {
		t.Errorf("%s: %v (%v)", what, f, f.Cause)
	}
	return nil, f
}

func TestAFileThatIsCutOffAnywhereIsReadOrRefused(t *testing.T) {
	file := pdftest.Pages("A page that comes in whole, or does not.")
	var cuts []int
	for n := 0; n < len(file); n += 10 {
		if !testing.Short() || n%100 == 0 {
			cuts = append(cuts, n)
		}
	}
	cuts = append(cuts, len(file)-1)
	r := newReader(t, nil)
	whole := 0
	for _, n := range cuts {
		doc, f := readable(t, fmt.Sprint("cut at ", n), r, Request{Body: file[:n], Cut: true})
		switch {
		case doc == nil && f.Hint != sift.HintRetry:
			t.Errorf("cut at %d: %+v", n, f)
		case doc != nil && strings.Contains(content(t, doc, sift.ModeText), "A page that comes in whole, or does not."):
			whole++
		}
	}
	if whole == 0 || whole == len(cuts) {
		t.Errorf("%d of %d pieces read whole", whole, len(cuts))
	}
	stillGood(t, r)
}

func TestWhatStandsBeforeAndBehindAPDFDoesNotMatter(t *testing.T) {
	file := pdftest.Pages("In between.")
	page := []byte("<!doctype html><title>No</title><p>This is HTML.</p>\n")
	r := newReader(t, nil)
	for name, body := range map[string][]byte{
		"HTML before":        append(bytes.Clone(page), file...),
		"HTML behind":        append(bytes.Clone(file), page...),
		"a kilobyte before":  append(bytes.Repeat([]byte(" "), 1000), file...),
		"zeros behind":       append(bytes.Clone(file), make([]byte, 1<<20)...),
		"blank lines behind": append(bytes.Clone(file), bytes.Repeat([]byte("\r\n"), 500)...),
		"twice":              append(bytes.Clone(file), file...),
	} {
		doc, f := readable(t, name, r, Request{Body: body})
		if f != nil {
			t.Errorf("%s: %v", name, f)
			continue
		}
		if got := content(t, doc, sift.ModeText); got != "[page 1]\n\nIn between." {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestPagesThatComeFirstMayBeNamedInAnyWay(t *testing.T) {
	file := pdftest.Markers(120)
	r := newReader(t, func(c *Config) { c.MaxPages = 3 })
	var hundred []string
	for n := 100; n > 0; n-- {
		hundred = append(hundred, strconv.Itoa(n+20))
	}
	for pages, want := range map[string][]int{
		"":                          {1, 2, 3},
		"7,5,5,7":                   {1, 5, 7},
		"119-":                      {1, 119, 120},
		"120-8388607":               {1, 2, 120},
		"8388607":                   {1, 2, 3}, // the pipeline refuses this
		strings.Join(hundred, ","):  {21, 22, 23},
		"2-4,3-5,1-3,4-":            {1, 2, 3},
		"60-61,60,61,60-60,61-61,1": {1, 60, 61},
	} {
		ranges, err := sift.ParsePages(pages)
		if err != nil {
			t.Fatal(err)
		}
		doc := read(t, r, Request{Body: file, First: ranges})
		if diff := cmp.Diff(want, render.PagesOf(doc)); diff != "" || doc.PDF.Total != 120 || !doc.PDF.Stopped {
			t.Errorf("%q: %+v, %s", pages, doc.PDF, diff)
		}
	}
}

func TestATitleOfManyMegabytesHidesNoPage(t *testing.T) {
	if testing.Short() {
		t.Skip("fills the memory of two readers; make test does it")
	}
	for _, size := range []int{1 << 20, 10 << 20} {
		doc := pdftest.New()
		doc.Info.Title = strings.Repeat("title ", size/6)
		doc.Page(pdftest.Text(72, 700, 12, "The page is sound."))
		var told []Outcome
		got := read(t, newReader(t, outcomes(&told)), Request{Body: doc.Bytes()})
		if text := content(t, got, sift.ModeText); text != "[page 1]\n\nThe page is sound." {
			t.Errorf("%d bytes: %q", size, text)
		}
		if len(got.Title) > 64<<10 || told[0].Usage.MaxRSS > mostMemory {
			t.Errorf("%d bytes: a title of %d, %d MB", size, len(got.Title), told[0].Usage.MaxRSS>>20)
		}
	}
}

func TestAPageThatPDFiumDiesOfHidesNoOther(t *testing.T) {
	if testing.Short() {
		t.Skip("fills the memory of many engines; make test does it")
	}
	saves := pdftest.Content(strings.Repeat("q ", 1_000_000)) // a hundred megabytes of saved states
	line := func(s string) pdftest.Item { return pdftest.Text(72, 700, 12, s) }
	for _, tt := range []struct {
		deadly []bool // of the pages
		text   []int  // pages that are read
		failed string
		stops  bool
	}{
		{deadly: []bool{false, true, false}, text: []int{1, 3}, failed: "page 2 is"},
		{deadly: []bool{true, true, true, false}, text: []int{4}, failed: "pages 1, 2 and 3 are"},
		{deadly: []bool{false, true, true, true, true, false}, text: []int{1}, failed: "pages 2, 3 and 4 are", stops: true},
	} {
		doc := pdftest.New()
		for i, deadly := range tt.deadly {
			if deadly {
				doc.Page(saves)
			} else {
				doc.Page(line(fmt.Sprint("Page ", i+1, " is sound.")))
			}
		}
		var told []Outcome
		got := read(t, newReader(t, outcomes(&told)), Request{Body: doc.Bytes()})
		if diff := cmp.Diff(tt.text, render.PagesOf(got)); diff != "" {
			t.Errorf("%v: %s", tt.deadly, diff)
		}
		if w := got.Warnings; len(w) == 0 || w[0].Code != sift.WarnPartial || !strings.HasPrefix(w[0].Message, tt.failed) || got.PDF.Stopped != tt.stops {
			t.Errorf("%v: %v, %+v", tt.deadly, w, got.PDF)
		}
		if text := content(t, got, sift.ModeText); strings.Count(text, "is sound.") != len(tt.text) {
			t.Errorf("%v: %q", tt.deadly, text)
		}
		if u := told[0].Usage; u.MaxRSS > mostMemory || told[0].Result != ResultPartial {
			t.Errorf("%v: %d MB, %s", tt.deadly, u.MaxRSS>>20, told[0].Result)
		}
	}
	f := failure(t, newReader(t, nil), Request{Body: pdftest.New().Page(saves).Page(saves).Bytes()})
	if f.Code != sift.CodeTooLong || f.Hint != sift.HintPages {
		t.Errorf("nothing but such pages: %+v", f)
	}
}

func TestAReaderThatTheSystemEndsIsNoFaultOfTheFile(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Logf("NOT TRIED: nothing tells the children of a process here: %v", err)
		return
	}
	warmed(t)
	var slow []byte
	for _, h := range pdftest.Hostile() {
		if h.Name == "map-ranges" { // seconds of work
			slow = h.Make()
		}
	}
	var told []Outcome
	r := newReader(t, outcomes(&told))
	failed := make(chan error)
	go func() {
		_, err := r.Read(t.Context(), Request{Body: slow})
		failed <- err
	}()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for killed := false; !killed; {
		for _, c := range children(t, os.Getpid()) {
			pid, _, _ := strings.Cut(c, " ")
			n, err := strconv.Atoi(pid)
			if err != nil {
				t.Fatal(err)
			}
			killed = syscall.Kill(n, syscall.SIGKILL) == nil || killed
		}
		select {
		case <-look.C:
		case err := <-failed:
			if !killed {
				t.Fatalf("it ended before it was seen: %v", err)
			}
			go func() { failed <- err }()
		}
	}
	f := sift.AsFailure(<-failed)
	if f.Code != sift.CodeBusy || f.Hint != sift.HintRetry || f.RetryAfter <= 0 || !strings.Contains(f.Message, "memory") {
		t.Errorf("got %+v", f)
	}
	if len(told) != 1 || told[0].Result != ResultError || told[0].Killed != child.ReasonCrash {
		t.Errorf("told %+v", told)
	}
	stillGood(t, r)
}
