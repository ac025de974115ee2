package archive

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"sift.build/sift/internal/fetch"
	"sift.build/sift/internal/sift"
)

// availability is an answer of the Internet Archive's interface
// (https://archive.org/help/wayback_api.php).
type availability struct {
	Snapshots struct {
		Closest *struct {
			Available bool   `json:"available"`
			URL       string `json:"url"`
			Timestamp text   `json:"timestamp"`
			Status    text   `json:"status"`
		} `json:"closest"`
	} `json:"archived_snapshots"`
}

// text is a string, or a number as it is written: both are seen.
type text string

func (t *text) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		var s string
		err := json.Unmarshal(b, &s)
		*t = text(s)
		return err
	}
	var n json.Number
	err := json.Unmarshal(b, &n)
	*t = text(n)
	return err
}

// snapshot is the copy that such an answer names.
type snapshot struct {
	url    string
	at     time.Time
	status string
}

// parseAvailability reads an answer; nil: it names no copy.
func parseAvailability(body []byte) (*snapshot, error) {
	var a availability
	if err := json.Unmarshal(body, &a); err != nil {
		return nil, err
	}
	c := a.Snapshots.Closest
	if c == nil || !c.Available {
		return nil, nil
	}
	at, err := time.Parse(waybackForm, string(c.Timestamp))
	if err != nil {
		return nil, err
	}
	return &snapshot{url: c.URL, at: at, status: string(c.Status)}, nil
}

// askAvailability asks the availability interface, where there is one.
func (s *search) askAvailability(ctx context.Context) (*Copy, error) {
	c := s.client
	if s.doors.availability == "" {
		return nil, nil
	}
	resp, err := s.get(ctx, s.doors.availability+"?url="+url.QueryEscape(s.page)+"&timestamp="+s.around().UTC().Format(waybackForm), time.Time{})
	if err != nil {
		return nil, err
	}
	defer s.close(resp)
	switch {
	case resp.Status == http.StatusNotFound:
		return nil, nil // there is no such interface
	case resp.Status/100 != 2:
		f := c.fail(statusCode(resp.Status), "answered %d", resp.Status).WithHint(sift.HintRetry)
		f.Status, f.RetryAfter = resp.Status, resp.RetryAfter
		return nil, f
	case isHTML(resp):
		return nil, c.fail(sift.CodeUnreachable, "answered with a web page where JSON was due, at its availability interface")
	case resp.Body.Size() > maxAvailable:
		return nil, c.fail(sift.CodeTooLong, "answered with more than %d KiB at its availability interface", maxAvailable>>10)
	}
	body, err := io.ReadAll(resp.Body.Reader())
	if err != nil {
		return nil, &stop{sift.AsFailure(err)}
	}
	found, err := parseAvailability(body)
	s.spoke = err == nil
	switch {
	case err != nil:
		return nil, c.fail(sift.CodeUnreachable, "answered with broken JSON at its availability interface").WithCause(err)
	case found == nil && s.failure == nil && !s.spoiled && s.old.IsZero():
		return nil, s.conclusion() // as the TimeGate said
	case found == nil:
		return nil, nil
	case found.status != "" && !strings.HasPrefix(found.status, "2"):
		return nil, errSpoiled
	}
	if err := s.possible(found.at); err != nil {
		return nil, err
	}
	if found.at.Before(s.want.NotBefore) {
		s.tooOld(found.at)
		if s.want.Around.IsZero() && s.failure == nil {
			return nil, s.conclusion() // it is the newest that is no error
		}
		return nil, errOld
	}
	if !strings.HasPrefix(found.url, "http://") && !strings.HasPrefix(found.url, "https://") {
		return nil, c.fail(sift.CodeUnreachable, "names a copy without a web address at its availability interface")
	}
	return s.takeURL(ctx, s.doors.secure(found.url))
}

// isHTML reports whether a response says that it is a web page.
func isHTML(resp *fetch.Response) bool {
	t, _, _ := strings.Cut(resp.ContentType, ";")
	t = strings.ToLower(strings.TrimSpace(t))
	return t == "text/html" || t == "application/xhtml+xml"
}
