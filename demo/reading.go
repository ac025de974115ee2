package main

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// question asks a question of the Go specification, and one that it does not
// answer.
func (d *demo) question(ctx context.Context, s *step) error {
	page := request{URL: d.url + "/go_spec.html"}
	whole, err := json.Marshal(page)
	if err != nil {
		return err
	}
	all, err := d.post(ctx, string(whole))
	if err != nil {
		return err
	}
	page.Question = "What does clear do with a map?"
	a, err := d.fetch(ctx, s, page)
	if err != nil || !s.page(a) {
		return err
	}
	s.show("answer", "%s", a.Digest.Answer)
	s.show("cost", "%d passages, about %s tokens instead of %s a window of the page", len(a.Digest.Passages), group(a.Tokens), group(all.Tokens))
	s.quote(a.Content, 4)
	s.expect(strings.Contains(a.Digest.Answer, "deletes all"), "the row of the table that says so, got %q", a.Digest.Answer)
	s.expect(len(a.Digest.Passages) > 0 && len(a.Digest.Passages) < 6 && a.Tokens*10 < all.Tokens, "few passages, got %d", len(a.Digest.Passages))
	page.Question = "How are Kubernetes operators deployed?"
	none, err := d.fetch(ctx, s, page)
	if err != nil || !s.page(none) {
		return err
	}
	s.show("answer", "%s", none.Digest.Answer)
	s.expect(len(none.Digest.Passages) == 0 && strings.HasPrefix(none.Digest.Answer, "Nothing on this page"), "to be told that nothing answers it")
	return nil
}

func (d *demo) pdfQuestion(ctx context.Context, s *step) error {
	a, err := d.fetch(ctx, s, request{URL: d.url + paperURL, Pages: "1-2", Question: "What does a tipping-bucket gauge cost?"})
	if err != nil || !s.page(a) {
		return err
	}
	s.show("answer", "%s", a.Digest.Answer)
	s.expect(strings.Contains(a.Digest.Answer, "costs as much as a bicycle"), "the sentence that says so, got %q", a.Digest.Answer)
	s.expect(len(a.Digest.Passages) > 0 && a.Digest.Passages[0].Page == 1, "its page")
	return nil
}

func (d *demo) sectionAndGrep(ctx context.Context, s *step) error {
	a, err := d.fetch(ctx, s, request{URL: d.url + "/go_spec.html", Section: "Built-in functions > Clear", Grep: "map"})
	if err != nil || !s.page(a) {
		return err
	}
	s.quote(a.Content, 5)
	s.expect(a.Section.Text == "Clear" && strings.Contains(a.Content, "matching line"), "the lines of that section, got %+v", a.Section)
	unknown, err := d.fetch(ctx, s, request{URL: d.url + "/go_mem.html", Section: "Garbage collection"})
	if err != nil {
		return err
	}
	s.show("unknown", "%s", unknown.Error)
	s.expect(unknown.Code == "invalid" && strings.Contains(unknown.Error, "Memory Model"), "to be told the headings that there are")
	return nil
}

func (d *demo) program(ctx context.Context, s *step) error {
	a, err := d.fetch(ctx, s, request{URL: d.url + "/order.json", JQ: "{order, first: .items[0]}"})
	if err != nil || !s.page(a) {
		return err
	}
	s.quote(a.Content, 2)
	s.expect(a.Content == `{"order":9007199254740993,"first":"oak"}`, "the number to the last digit, got %q", a.Content)
	hostile, err := d.fetch(ctx, s, request{URL: d.url + "/order.json", JQ: `"x" * 1000000000`})
	if err != nil {
		return err
	}
	s.show("a gigabyte", "%s", hostile.Error)
	s.failure(hostile, http.StatusRequestEntityTooLarge, "too_long")
	return nil
}

func (d *demo) recovered(ctx context.Context, s *step) error {
	a, err := d.fetch(ctx, s, request{URL: d.url + "/app.html", Recover: true})
	if err != nil || !s.page(a) {
		return err
	}
	s.show("source", "%s (%s): %s", a.Recovered.Source, a.Recovered.From, a.Recovered.Reason)
	s.quote(a.Content, 2)
	s.expect(a.Recovered.Source == "page" && strings.Contains(a.Content, "keepers of the lighthouse"), "the article in the page's data, got %+v", a.Recovered)
	a, err = d.fetch(ctx, s, request{URL: d.url + "/removed.html", Recover: true, MinDate: "2025-01-01"})
	if err != nil || !s.page(a) {
		return err
	}
	s.show("source", "%s of %s, since %s", a.Recovered.Source, a.Recovered.CapturedAt.Format(time.DateOnly), a.Recovered.Reason)
	s.quote(a.Content, 3)
	s.expect(a.Recovered.Source == "archive" && strings.Contains(a.Content, "A desk of oak"), "the archived copy, got %+v", a.Recovered)
	a, err = d.fetch(ctx, s, request{URL: d.url + "/removed.html", Recover: true, MinDate: "2026-06-01"})
	if err != nil {
		return err
	}
	s.show("min_date", "%s", a.Error)
	s.failure(a, http.StatusBadGateway, "upstream_4xx")
	return nil
}

// archivedAt is when the demo's archive has taken its one copy.
const archivedAt = "20250412101500"

// archive is what the demo's site has of an archive: one copy of one page, by the
// Memento protocol (RFC 7089). It reads the request's target to the letter: a
// router would tidy up the URL in it.
func archive(w http.ResponseWriter, r *http.Request) {
	captured, err := time.Parse("20060102150405", archivedAt)
	if err != nil {
		panic(err)
	}
	removed := "http://" + r.Host + "/removed.html"
	w.Header().Set("Link", "<"+removed+`>; rel="original"`)
	switch strings.TrimPrefix(r.RequestURI, "/web/") {
	case removed:
		w.Header().Set("Vary", "accept-datetime")
		http.Redirect(w, r, "http://"+r.Host+"/web/"+archivedAt+"/"+removed, http.StatusFound)
	case archivedAt + "/" + removed, archivedAt + "id_/" + removed:
		w.Header().Set("Memento-Datetime", captured.Format(http.TimeFormat))
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(pricesPage)) // a client that has gone away is its own affair
	default:
		http.NotFound(w, r)
	}
}

const pricesPage = `<!DOCTYPE html>
<html lang="en">
<head><title>Prices 2025</title></head>
<body><main><h1>Prices 2025</h1>
<p>A desk of oak costs 890 crowns, one of beech 760. Both are delivered free of charge within the country.</p></main></body>
</html>
`

const appPage = `<!DOCTYPE html>
<html lang="en">
<head><title>The last keepers</title>
<script type="application/ld+json">{"@context":"https://schema.org","@type":"NewsArticle","headline":"The last keepers","articleBody":
"The keepers of the lighthouse left in October, after a hundred and forty years. The lamp is watched from the mainland now.\n\nWhat remains is the garden, which two of them come to dig every spring, when the ferry has begun to run again and the birds are back on the rocks."}</script>
</head>
<body><div id="root"></div><noscript>Please enable JavaScript to read this page.</noscript><script src="/app.js"></script></body>
</html>
`
