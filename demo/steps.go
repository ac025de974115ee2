package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	"sift.build/sift/demo/server"
)

// namedStep is one step of the walk.
type namedStep struct {
	title string
	take  func(ctx context.Context, s *step) error
}

// steps lists the walk in order. Some build on what an earlier one fetched.
func (d *demo) steps() []namedStep {
	var first *answer // the first page
	return []namedStep{
		{"A page as Markdown", func(ctx context.Context, s *step) (err error) {
			first, err = d.cleanPage(ctx, s)
			return err
		}},
		{"Again: the copy in the cache", func(ctx context.Context, s *step) error { return d.cached(ctx, s, first) }},
		{"An outline, and the one section that is wanted", d.outline},
		{"A question of a long page, and one that it does not answer", d.question},
		{"Some lines of one section", d.sectionAndGrep},
		{"A window on a long page, and the next: they join", d.windows},
		{"gzip, br and zstd give the same page", d.encodings},
		{"A page that says Shift_JIS only in its own markup", d.charset},
		{"Redirects, each on the receipt", d.redirects},
		{"A copy that the site confirms instead of sending it again", d.revalidated},
		{"Text that no reader could see is left out", d.hidden},
		{"JSON comes as it is, a 64-bit number too", d.verbatim},
		{"A jq program, and a hostile one", d.program},
		{"PDFs and pages of this machine, on all cores, into a folder", d.convert},
		{"A PDF, told by its bytes: a paper of two columns", d.pdf},
		{"Two of its pages, and its outline: no second extraction", d.pdfPages},
		{"A question of two of its pages", d.pdfQuestion},
		{"A page that shows nothing, and one that is gone: recovered, and labelled", d.recovered},
		{"A private address is refused", d.private},
		{"A redirect to one is refused as well", d.insideRedirect},
		{"What the guard thinks, without connecting", d.explain},
		{"A page that never ends: one deadline", d.deadline},
		{"Not found, with what the site says about it", d.notFound},
		{"Three at once from one host: the third is told to wait", d.busy},
		{"A batch: a list is taken at once, and can be called off", d.cancelBatch},
		{"The same list afresh, collected when it is done", d.collectBatch},
		{"A batch on the command line, from a file with a URL a line", d.submitOnTheCommandLine},
		{"The same page on the command line, without a server", func(ctx context.Context, s *step) error { return d.commandLine(ctx, s, first) }},
		{"Metrics", d.metrics},
	}
}

const firstPage = "/asm.html"

func (d *demo) cleanPage(ctx context.Context, s *step) (*answer, error) {
	a, err := d.fetch(ctx, s, request{URL: d.url + firstPage})
	if err != nil || !s.page(a) {
		return a, err
	}
	if a.Title != "" {
		s.show("title", "%s", a.Title)
	}
	s.show("content", "%s characters, about %s tokens, from %s bytes of HTML in %s", group(a.Chars), group(a.Tokens), group(a.Receipt.Bytes), short(a.took))
	s.show("coverage", "%.0f %% of the page's visible text", 100*a.Coverage)
	s.quote(a.Content, 6)
	s.expect(strings.Contains(a.Content, "quick outline of the unusual form of assembly language"), "the guide's first sentence in the content")
	s.expect(!strings.Contains(a.Content, "<p>"), "no HTML in the Markdown")
	s.expect(strings.Contains(a.Content, "\n```"), "the guide's code in fences")
	s.expect(a.Chars > 20_000 && a.Chars == a.TotalChars && a.NextOffset == nil, "the whole guide, over 20,000 characters, got %d of %d", a.Chars, a.TotalChars)
	s.expect(a.Coverage > 0.8 && a.Coverage <= 1, "a coverage near 1, since nearly all of this page is content, got %v", a.Coverage)
	s.expect(!a.Cache.Hit, "a download, not a cached copy")
	s.expect(a.Receipt.SHA256 == hash(d.site.pages[firstPage[1:]]), "the hash of the page as served on the receipt, got %s", a.Receipt.SHA256)
	return a, nil
}

func (d *demo) cached(ctx context.Context, s *step, first *answer) error {
	if first == nil || !first.Success {
		return errors.New("the first page is missing")
	}
	a, err := d.fetch(ctx, s, request{URL: d.url + firstPage})
	if err != nil || !s.page(a) {
		return err
	}
	s.show("time", "%s the first time, %s now", short(first.took), short(a.took))
	s.show("cache", "hit %v, %d s old; the site was asked %d time(s)", a.Cache.Hit, a.Cache.Age, len(d.site.answers(firstPage)))
	s.expect(a.Cache.Hit && !first.Cache.Hit, "a miss and then a hit")
	s.expect(a.Content == first.Content && a.Snapshot == first.Snapshot && a.Snapshot != "", "the same copy with the same snapshot, got %q and %q", first.Snapshot, a.Snapshot)
	s.expect(len(d.site.answers(firstPage)) == 1, "one request at the site")
	return nil
}

func (d *demo) outline(ctx context.Context, s *step) error {
	a, err := d.fetch(ctx, s, request{URL: d.url + "/go_spec.html", Mode: "outline"})
	if err != nil || !s.page(a) {
		return err
	}
	s.show("headings", "%d", len(a.Outline))
	s.quote(a.Content, 5)
	s.expect(len(a.Outline) > 100, "over 100 headings, got %d", len(a.Outline))
	at := slices.IndexFunc(a.Outline, func(h heading) bool { return h.Text == "Clear" })
	if at < 0 {
		s.expect(false, "a heading “Clear”")
		return nil
	}
	section := a.Outline[at]
	s.show("section", "“%s”: %d characters at %s", section.Text, section.Chars, group(section.Offset))
	part, err := d.fetch(ctx, s, request{URL: d.url + "/go_spec.html", Offset: section.Offset, MaxChars: section.Chars})
	if err != nil || !s.page(part) {
		return err
	}
	s.quote(part.Content, 4)
	s.expect(strings.HasPrefix(part.Content, strings.Repeat("#", section.Level)+" Clear"), "the section to begin with its heading, got %.40q", part.Content)
	s.expect(part.Chars > section.Chars/2 && strings.Contains(part.Content, "clear"), "the section's text")
	return nil
}

func (d *demo) windows(ctx context.Context, s *step) error {
	const size = 1500
	url := d.url + "/go_spec.html"
	a, err := d.fetch(ctx, s, request{URL: url, MaxChars: size})
	if err != nil || !s.page(a) {
		return err
	}
	if a.NextOffset == nil {
		s.expect(false, "a next_offset")
		return nil
	}
	s.show("first", "characters 0 to %s of %s, and next_offset %d", group(a.Chars), group(a.TotalChars), *a.NextOffset)
	b, err := d.fetch(ctx, s, request{URL: url, MaxChars: size, Offset: *a.NextOffset, Snapshot: a.Snapshot})
	if err != nil || !s.page(b) {
		return err
	}
	s.show("next", "characters %s to %s of the very same copy", group(*a.NextOffset), group(*a.NextOffset+b.Chars))
	s.quote("… "+tail(a.Content, 70)+"\n"+head(b.Content, 70)+" …", 2)

	// The whole, unseen, to compare with.
	body, err := request{URL: url, MaxChars: 5_000_000}.encode()
	if err != nil {
		return err
	}
	whole, err := d.post(ctx, body)
	if err != nil || !s.page(whole) {
		return err
	}
	s.expect(a.Chars <= size && b.Chars <= size && a.Chars > 0 && b.Chars > 0, "windows of at most %d characters, got %d and %d", size, a.Chars, b.Chars)
	s.expect(strings.HasPrefix(whole.Content, a.Content+b.Content), "the two windows, joined, to be the beginning of the whole")
	s.expect(whole.NextOffset == nil && whole.TotalChars == a.TotalChars, "the whole to say that there is no more")
	return nil
}

func (d *demo) encodings(ctx context.Context, s *step) error {
	// In mode text, since Markdown has links in it, and those on the page
	// itself differ with its address. No window: only the sizes are compared.
	body, err := request{URL: d.url + "/go_spec.html", Mode: "text", MaxChars: 100}.encode()
	if err != nil {
		return err
	}
	plainPage, err := d.post(ctx, body)
	if err != nil || !s.page(plainPage) {
		return err
	}
	for _, coding := range []string{"gzip", "br", "zstd"} {
		a, err := d.fetch(ctx, s, request{URL: d.url + "/" + coding + "/go_spec.html", Mode: "text", MaxChars: 100})
		if err != nil || !s.page(a) {
			return err
		}
		s.show(coding, "%s bytes on the wire, %s decoded, sha256 %.12s…", group(len(d.site.encoded[coding])), group(a.Receipt.Bytes), a.Receipt.SHA256)
		s.expect(a.Receipt.SHA256 == hash(d.site.pages["go_spec.html"]), "the hash of the plain page, got %s", a.Receipt.SHA256)
		s.expect(a.TotalChars == plainPage.TotalChars, "the same text, got %d characters instead of %d", a.TotalChars, plainPage.TotalChars)
	}
	return nil
}

func (d *demo) charset(ctx context.Context, s *step) error {
	a, err := d.fetch(ctx, s, request{URL: d.url + "/coffee.html"})
	if err != nil || !s.page(a) {
		return err
	}
	s.show("title", "%s", a.Title)
	s.show("receipt", "charset %s, from %s; language %s", a.Receipt.Charset, a.Receipt.CharsetFrom, a.Language)
	s.quote(a.Content, 4)
	s.expect(a.Receipt.Charset == "shift_jis" && a.Receipt.CharsetFrom == "meta", "shift_jis from meta on the receipt, got %s from %s", a.Receipt.Charset, a.Receipt.CharsetFrom)
	s.expect(a.Title == "おいしいコーヒーの淹れ方", "the title in Japanese, got %q", a.Title)
	s.expect(strings.Contains(a.Content, "ペーパードリップは、家庭でいちばん手軽に"), "the text in Japanese")
	s.expect(!strings.Contains(a.Content, "\uFFFD"), "no replacement characters")
	s.expect(!strings.Contains(a.Content, "お問い合わせ"), "no navigation in the main content")
	return nil
}

func (d *demo) redirects(ctx context.Context, s *step) error {
	a, err := d.fetch(ctx, s, request{URL: d.url + "/memory-model", MaxChars: 400})
	if err != nil || !s.page(a) {
		return err
	}
	var hops []string
	for _, h := range a.Receipt.Hops {
		s.show("hop", "%d %s", h.Status, h.URL)
		hops = append(hops, fmt.Sprint(h.Status, " ", strings.TrimPrefix(h.URL, d.url)))
	}
	s.show("final", "%d %s", a.Status, a.FinalURL)
	s.quote(a.Content, 2)
	s.expect(a.FinalURL == d.url+"/go_mem.html", "the last page's URL, got %s", a.FinalURL)
	s.expect(len(hops) == 2 && strings.HasPrefix(hops[0], "301 ") && strings.HasPrefix(hops[1], "301 "), "two hops with status 301, got %q", hops)
	return nil
}

func (d *demo) revalidated(ctx context.Context, s *step) error {
	r := request{URL: d.url + "/daily.html", MaxChars: 300}
	a, err := d.fetch(ctx, s, r)
	if err != nil || !s.page(a) {
		return err
	}
	b, err := d.fetch(ctx, s, r)
	if err != nil || !s.page(b) {
		return err
	}
	seen := d.site.answers("/daily.html")
	s.show("site", "answered %d with an ETag and no-cache, then %d without a body", seen[0], seen[len(seen)-1])
	s.show("cache", "hit %v, then hit %v with revalidated %v", a.Cache.Hit, b.Cache.Hit, b.Cache.Revalidated)
	s.expect(slices.Equal(seen, []int{200, 304}), "the site to answer 200 and then 304, got %v", seen)
	s.expect(!a.Cache.Hit && b.Cache.Revalidated && b.Snapshot == a.Snapshot, "the second to be the first copy, revalidated")
	s.expect(b.Content == a.Content, "the same content")
	return nil
}

func (d *demo) hidden(ctx context.Context, s *step) error {
	a, err := d.fetch(ctx, s, request{URL: d.url + "/offer.html"})
	if err != nil || !s.page(a) {
		return err
	}
	s.quote(a.Content, 3)
	warned := false
	for _, w := range a.Warnings {
		s.show("warning", "%s: %s", w.Code, w.Message)
		warned = warned || w.Code == "hidden_text"
	}
	s.expect(warned, "a warning hidden_text")
	s.expect(strings.Contains(a.Content, "solid oak") && strings.Contains(a.Content, "about half an hour"), "what a reader sees")
	s.expect(!strings.Contains(a.Content, "Ignore all previous"), "nothing of the hidden instruction")
	return nil
}

func (d *demo) verbatim(ctx context.Context, s *step) error {
	a, err := d.fetch(ctx, s, request{URL: d.url + "/order.json"})
	if err != nil || !s.page(a) {
		return err
	}
	s.quote(a.Content, 3)
	s.expect(strings.TrimSpace(a.Content) == strings.TrimSpace(orderJSON), "the document byte for byte, got %q", a.Content)
	return nil
}

func (d *demo) private(ctx context.Context, s *step) error {
	a, err := d.fetch(ctx, s, request{URL: privateURL})
	if err != nil {
		return err
	}
	s.failure(a, http.StatusUnprocessableEntity, "blocked")
	s.expect(a.Error == "blocked: private address 10.0.0.7", "the address in the error, got %q", a.Error)
	return nil
}

func (d *demo) insideRedirect(ctx context.Context, s *step) error {
	a, err := d.fetch(ctx, s, request{URL: d.url + "/inside"})
	if err != nil {
		return err
	}
	s.failure(a, http.StatusUnprocessableEntity, "blocked")
	s.expect(strings.HasPrefix(a.Error, "blocked: private address"), "an error that begins “blocked: private address”, got %q", a.Error)
	s.expect(slices.Equal(d.site.answers("/inside"), []int{http.StatusFound}), "the site to have been asked once")
	return nil
}

func (d *demo) explain(ctx context.Context, s *step) error {
	urls := []string{d.url + "/", "http://10.0.0.7/", "http://2130706433/", "http://127.0.0.1:22/"}
	out, code, err := d.run(ctx, s, append([]string{"explain"}, urls...)...)
	if err != nil {
		return err
	}
	s.quote(out, 8)
	s.expect(code == 0 || code == 1, "exit code 0 or 1, got %d", code)
	for _, want := range []string{"allow", "blocked", "refused"} {
		s.expect(strings.Contains(out, want), "the verdict %s", want)
	}
	return nil
}

func (d *demo) deadline(ctx context.Context, s *step) error {
	a, err := d.fetch(ctx, s, request{URL: d.url + "/never.html", Timeout: 0.5})
	if err != nil {
		return err
	}
	s.show("time", "%s", short(a.took))
	s.failure(a, http.StatusGatewayTimeout, "timeout")
	s.expect(a.took > 400*time.Millisecond && a.took < 3*time.Second, "an answer after half a second, got one after %s", short(a.took))
	return nil
}

func (d *demo) notFound(ctx context.Context, s *step) error {
	a, err := d.fetch(ctx, s, request{URL: d.url + "/removed.html"})
	if err != nil {
		return err
	}
	s.failure(a, http.StatusBadGateway, "upstream_4xx")
	s.quote(a.UpstreamBody, 3)
	s.expect(a.Status == http.StatusNotFound, "status 404, got %d", a.Status)
	s.expect(strings.Contains(a.UpstreamBody, "removed in March") && !strings.Contains(a.UpstreamBody, "<h1>"), "the site's explanation as text in upstream_body, got %q", a.UpstreamBody)
	return nil
}

func (d *demo) busy(ctx context.Context, s *step) error {
	type result struct {
		a   *answer
		err error
	}
	results := make(chan result, 2)
	for _, n := range []string{"1", "2"} {
		body, err := request{URL: d.url + "/held/" + n, MaxChars: 100}.encode()
		if err != nil {
			return err
		}
		s.command(fmt.Sprintf("curl -s %s/v1/fetch --json '%s' &", d.sift.URL, body))
		go func() {
			a, err := d.post(ctx, body)
			results <- result{a, err}
		}()
	}
	for range 2 { // the third comes when the site has both in hand
		select {
		case <-d.site.waiting:
		case r := <-results:
			if r.err == nil {
				r.err = fmt.Errorf("%d %s", r.a.http, r.a.Error)
			}
			return fmt.Errorf("one of the first two ended before the site answered: %w", r.err)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	third, err := d.fetch(ctx, s, request{URL: d.url + "/held/3", MaxChars: 100})
	close(d.site.release)
	if err != nil {
		return err
	}
	s.failure(third, http.StatusTooManyRequests, "busy")
	s.show("header", "Retry-After: %s", third.header.Get("Retry-After"))
	s.expect(third.header.Get("Retry-After") != "", "a Retry-After header")
	for range 2 {
		r := <-results
		if r.err != nil {
			return r.err
		}
		s.page(r.a)
	}
	s.show("the others", "200 OK, both")
	return nil
}

func (d *demo) commandLine(ctx context.Context, s *step, first *answer) error {
	if first == nil || !first.Success {
		return errors.New("the first page is missing")
	}
	start := time.Now()
	out, code, err := d.run(ctx, s, "fetch", d.url+firstPage)
	if err != nil {
		return err
	}
	s.show("stdout", "%s characters in %s, exit code %d", group(len([]rune(out))), short(time.Since(start)), code)
	s.quote(out, 3)
	s.expect(code == 0, "exit code 0, got %d", code)
	s.expect(strings.TrimSpace(out) == strings.TrimSpace(first.Content), "on standard output what the service answered in content")
	return nil
}

// run runs sift as a person would and returns its standard output and exit
// code. What it says on standard error is shown when it fails.
func (d *demo) run(ctx context.Context, s *step, args ...string) (string, int, error) {
	args = slices.Insert(args, 1, "--config", d.sift.File)
	s.command(d.binary + " " + strings.Join(args, " "))
	cmd := exec.CommandContext(ctx, d.binary, args...)
	cmd.Env = server.Environment()
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		s.show("stderr", "%s", strings.TrimSpace(stderr.String()))
		return string(out), e.ExitCode(), nil
	}
	return string(out), 0, err
}

func (d *demo) metrics(ctx context.Context, s *step) error {
	s.command("curl -s " + d.sift.URL + "/metrics | grep '^sift_'")
	a := &answer{}
	raw, err := d.do(ctx, http.MethodGet, "/metrics", "", a)
	if err != nil {
		return err
	}
	counted := regexp.MustCompile(`(?m)^sift_[a-z_]+(?:\{[^}]*\})? [1-9].*$`)
	lines := counted.FindAllString(string(raw), -1)
	shown := 0
	for _, l := range lines {
		if shown < 8 && !strings.Contains(l, "_bucket{") && !strings.Contains(l, "_sum") {
			s.lines = append(s.lines, line{kind: '|', text: l})
			shown++
		}
	}
	s.expect(a.http == http.StatusOK, "200, got %d", a.http)
	s.expect(shown > 0, "series of sift's own that have counted something")
	s.expect(!strings.Contains(string(raw), "10.0.0.7") && !strings.Contains(string(raw), "go_spec"), "no address or URL in any series")
	return nil
}

func hash(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// head and tail give the first and last n characters on one line.
func head(s string, n int) string {
	r := []rune(oneLine(s))
	return string(r[:min(n, len(r))])
}

func tail(s string, n int) string {
	r := []rune(oneLine(s))
	return string(r[max(0, len(r)-n):])
}
