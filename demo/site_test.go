package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/text/encoding/japanese"
)

// serveSite gives the site's address and a GET that follows no redirect and
// undoes no content coding.
func serveSite(t *testing.T) (*site, string, func(path string, header ...string) *http.Response) {
	t.Helper()
	doc, err := goDoc(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s, err := newSite(doc)
	if err != nil {
		t.Fatal(err)
	}
	h, err := s.handler()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	client := &http.Client{
		Transport:     &http.Transport{DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	t.Cleanup(client.CloseIdleConnections)
	return s, server.URL, func(path string, header ...string) *http.Response {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(header); i += 2 {
			req.Header.Set(header[i], header[i+1])
		}
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { resp.Body.Close() })
		return resp
	}
}

func body(t *testing.T, r io.Reader) []byte {
	t.Helper()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestGosOwnPagesAreServedByteForByte(t *testing.T) {
	s, _, get := serveSite(t)
	for name, want := range s.pages {
		if got := body(t, get("/"+name).Body); !bytes.Equal(got, want) || len(got) < 10_000 {
			t.Errorf("%s: %d bytes, want %d", name, len(got), len(want))
		}
	}
	if !bytes.Contains(s.pages["go_spec.html"], []byte("The Go Programming Language Specification")) {
		t.Error("go_spec.html is not the specification")
	}
}

func TestTheSpecificationIsServedInThreeCodings(t *testing.T) {
	s, _, get := serveSite(t)
	undo := map[string]func(io.Reader) (io.Reader, error){
		"gzip": func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
		"br":   func(r io.Reader) (io.Reader, error) { return brotli.NewReader(r), nil },
		"zstd": func(r io.Reader) (io.Reader, error) { return zstd.NewReader(r) },
	}
	for coding, reader := range undo {
		resp := get("/" + coding + "/go_spec.html")
		if got := resp.Header.Get("Content-Encoding"); got != coding {
			t.Errorf("Content-Encoding %q, want %q", got, coding)
		}
		r, err := reader(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(body(t, r), s.pages["go_spec.html"]) {
			t.Errorf("%s does not decode to the specification", coding)
		}
	}
}

func TestTheJapanesePageSaysItsCharsetInMetaOnly(t *testing.T) {
	_, _, get := serveSite(t)
	resp := get("/coffee.html")
	if got := resp.Header.Get("Content-Type"); got != "text/html" {
		t.Errorf("Content-Type %q", got)
	}
	raw := body(t, resp.Body)
	if bytes.Contains(raw, []byte("コーヒー")) {
		t.Error("the page is UTF-8")
	}
	text, err := japanese.ShiftJIS.NewDecoder().Bytes(raw)
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != coffeePage {
		t.Error("the page does not survive its encoding")
	}
}

func TestRedirectsLeadOnAndInside(t *testing.T) {
	_, _, get := serveSite(t)
	for path, want := range map[string]struct {
		status   int
		location string
	}{
		"/memory-model": {301, "/doc/mem"},
		"/doc/mem":      {301, "/go_mem.html"},
		"/inside":       {302, "http://10.0.0.7/"},
	} {
		resp := get(path)
		if resp.StatusCode != want.status || resp.Header.Get("Location") != want.location {
			t.Errorf("%s: %d to %q, want %d to %q", path, resp.StatusCode, resp.Header.Get("Location"), want.status, want.location)
		}
	}
}

func TestTheDailyPageIsNotSentTwice(t *testing.T) {
	s, _, get := serveSite(t)
	first := get("/daily.html")
	second := get("/daily.html", "If-None-Match", first.Header.Get("ETag"))
	if first.StatusCode != http.StatusOK || second.StatusCode != http.StatusNotModified {
		t.Errorf("%d, then %d", first.StatusCode, second.StatusCode)
	}
	if got := s.answers("/daily.html"); !slices.Equal(got, []int{200, 304}) {
		t.Errorf("noted %v", got)
	}
}

func TestWhatIsMissingIsExplained(t *testing.T) {
	_, _, get := serveSite(t)
	resp := get("/removed.html")
	if resp.StatusCode != http.StatusNotFound || !strings.Contains(string(body(t, resp.Body)), "removed in March") {
		t.Errorf("status %d", resp.StatusCode)
	}
}

func TestTheEndlessPageBeginsAndThenNothingComes(t *testing.T) {
	_, url, _ := serveSite(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/never.html", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	buf := make([]byte, 100)
	n, err := resp.Body.Read(buf)
	if err != nil || !strings.HasPrefix(string(buf[:n]), "<p>A beginning") {
		t.Fatalf("%q, %v", buf[:n], err)
	}
	time.AfterFunc(20*time.Millisecond, cancel)
	if _, err := resp.Body.Read(buf); err == nil {
		t.Error("more came")
	}
}

func TestHeldPagesAnswerTogether(t *testing.T) {
	s, url, _ := serveSite(t)
	done := make(chan int, 2)
	for _, path := range []string{"/held/1", "/held/2"} {
		go func() {
			resp, err := http.Get(url + path)
			if err != nil {
				t.Error(err)
				done <- 0
				return
			}
			resp.Body.Close()
			done <- resp.StatusCode
		}()
	}
	<-s.waiting
	<-s.waiting
	if len(s.answers("/held/1")) != 0 {
		t.Error("answered before the release")
	}
	close(s.release)
	if a, b := <-done, <-done; a != 200 || b != 200 {
		t.Errorf("%d and %d", a, b)
	}
}

func TestWithoutGosPagesTheDemoSaysWhatToDo(t *testing.T) {
	_, err := newSite(t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "-doc") {
		t.Errorf("got %v", err)
	}
}
