package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

const maxAnswer = 16 << 20 // bytes of an answer that are read

// request is what POST /v1/fetch takes, as far as the demo uses it.
type request struct {
	URL      string  `json:"url"`
	Mode     string  `json:"mode,omitempty"`
	Question string  `json:"question,omitempty"`
	Pages    string  `json:"pages,omitempty"`
	Section  string  `json:"section,omitempty"`
	Grep     string  `json:"grep,omitempty"`
	JQ       string  `json:"jq,omitempty"`
	Recover  bool    `json:"recover,omitempty"`
	MinDate  string  `json:"min_date,omitempty"`
	MaxChars int     `json:"max_chars,omitempty"`
	Offset   int     `json:"offset,omitempty"`
	Snapshot string  `json:"snapshot,omitempty"`
	Timeout  float64 `json:"timeout,omitempty"`
}

// answer is what comes back, as far as the demo looks at it.
type answer struct {
	http   int           // status of the HTTP answer
	header http.Header   // of the HTTP answer
	took   time.Duration // as the demo measured it

	Success     bool      `json:"success"`
	FinalURL    string    `json:"final_url"`
	Status      int       `json:"status"`
	ContentType string    `json:"content_type"`
	Title       string    `json:"title"`
	Language    string    `json:"language"`
	Content     string    `json:"content"`
	Outline     []heading `json:"outline"`
	Chars       int       `json:"chars"`
	TotalChars  int       `json:"total_chars"`
	Tokens      int       `json:"tokens"`
	NextOffset  *int      `json:"next_offset"`
	Coverage    float64   `json:"coverage"`
	Snapshot    string    `json:"snapshot"`
	Receipt     struct {
		SHA256      string `json:"sha256"`
		Bytes       int    `json:"bytes"`
		Charset     string `json:"charset"`
		CharsetFrom string `json:"charset_from"`
		Hops        []struct {
			URL    string `json:"url"`
			Status int    `json:"status"`
		} `json:"hops"`
		Protocol string `json:"protocol"`
	} `json:"receipt"`
	Pages struct {
		Total    int   `json:"total"`
		Returned []int `json:"returned"`
	} `json:"pages"`
	Section struct {
		Text string `json:"text"`
	} `json:"section"`
	Digest struct {
		Answer   string `json:"answer"`
		Passages []struct {
			Page int `json:"page"`
		} `json:"passages"`
	} `json:"digest"`
	Recovered struct {
		Source     string    `json:"source"`
		CapturedAt time.Time `json:"captured_at"`
		From       string    `json:"from"`
		Reason     string    `json:"reason"`
	} `json:"recovered"`
	Warnings []struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"warnings"`
	Cache struct {
		Hit         bool `json:"hit"`
		Age         int  `json:"age"`
		Revalidated bool `json:"revalidated"`
	} `json:"cache"`

	Error        string `json:"error"`
	Code         string `json:"code"`
	Hint         string `json:"hint"`
	UpstreamBody string `json:"upstream_body"`
}

type heading struct {
	Level  int    `json:"level"`
	Text   string `json:"text"`
	Offset int    `json:"offset"`
	Chars  int    `json:"chars"`
}

// encode gives the request as one would type it.
func (r request) encode() (string, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(r)
	return strings.TrimSpace(b.String()), err
}

// fetch shows the request in s, sends it and reads the answer. A call that
// does not work at all is an error; a failure of the target is an answer.
func (d *demo) fetch(ctx context.Context, s *step, r request) (*answer, error) {
	body, err := r.encode()
	if err != nil {
		return nil, err
	}
	s.command(fmt.Sprintf("curl -s %s/v1/fetch --json '%s'", d.sift.URL, body))
	return d.post(ctx, body)
}

func (d *demo) post(ctx context.Context, body string) (*answer, error) {
	start := time.Now()
	a := &answer{}
	raw, err := d.do(ctx, http.MethodPost, "/v1/fetch", body, a)
	if err != nil {
		return nil, err
	}
	a.took = time.Since(start)
	if err := json.Unmarshal(raw, a); err != nil {
		return nil, fmt.Errorf("the answer (%d) is not JSON: %w: %.200q", a.http, err, raw)
	}
	return a, nil
}

// do sends a request, reads the whole answer and notes its status and header
// in a.
func (d *demo) do(ctx context.Context, method, path, body string, a *answer) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, d.sift.URL+path, bytes.NewBufferString(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := d.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	a.http, a.header = resp.StatusCode, resp.Header
	return io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
}

// page expects an answer with a page that has something to read.
func (s *step) page(a *answer) bool {
	s.expect(a.http == http.StatusOK && a.Success, "200 and a page, got %d %s", a.http, a.Error)
	s.expect(a.Content != "", "content")
	return a.Success && a.Content != ""
}

// failure shows a failure and expects the given status and code.
func (s *step) failure(a *answer, status int, code string) {
	s.show("answer", "%d %s", a.http, http.StatusText(a.http))
	s.show("error", "%s", a.Error)
	if a.Hint != "" {
		s.show("hint", "%s", a.Hint)
	}
	s.expect(a.http == status && !a.Success && a.Code == code, "%d with code %s, got %d with code %q", status, code, a.http, a.Code)
	s.expect(strings.HasPrefix(a.Error, code+": "), "an error that begins with its code, got %q", a.Error)
}
