// Package client asks a running sift server for a target or a batch of them, the
// way the command line does when a server is named:
//
//	c, err := client.New(client.Config{URL: "http://127.0.0.1:8642", Key: key})
//	answer, err := c.FetchTarget(ctx, sift.Target{URL: "https://example.org/"})
//	job, err := c.SubmitBatch(ctx, []byte(`{"targets":[{"url":"https://example.org/"}]}`))
//	state, err := c.Job(ctx, job.JobID, -1, 30*time.Second)
//
// A failure that the server tells comes back as the *sift.Failure it was, as if
// it had happened here; a server that cannot be reached or that is not sift is
// one with code unreachable that names the server.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"sift.build/sift/internal/sift"
)

const (
	// maxAnswer is how much of an answer is read. The longest window is 10
	// million characters of up to 4 bytes, and JSON escapes few of them.
	maxAnswer = 128 << 20

	// maxWait is how long a call may take when the target has no timeout of
	// its own; the server's is 30 s unless it was configured otherwise. grace
	// is what a server may need on top of the target's timeout.
	maxWait = 5 * time.Minute
	grace   = 30 * time.Second

	// takeTime is how long an answer that has begun may take. The service
	// cuts off whoever takes less than 32 KiB a second.
	takeTime = 5 * time.Minute

	connectTimeout = 5 * time.Second

	typeJSON = "application/json"
)

// Config is what a Client is made of.
type Config struct {
	URL string // of the server, such as http://127.0.0.1:8642; a path in front of /v1 is kept
	Key string // "": none

	// SendKeyUnencrypted lets Key be sent over plain http to another machine,
	// where everybody on the way can read it. To this machine it always is.
	SendKeyUnencrypted bool
}

// Client asks one server. It may be used from many goroutines.
type Client struct {
	base string // without a slash at the end
	key  string
	most int // bytes of an answer that are read
	http *http.Client
}

// New checks the configuration. It does not connect.
func New(c Config) (*Client, error) {
	u, err := url.Parse(c.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return nil, sift.Fail(sift.CodeInvalid, "the server's address %q is not one like http://127.0.0.1:8642", c.URL)
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, sift.Fail(sift.CodeInvalid, "the server's address must be a scheme, a host and a path, no more; a key is given apart from it")
	}
	if strings.ContainsFunc(c.Key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, sift.Fail(sift.CodeInvalid, "the key holds a space or another character that no key has")
	}
	if c.Key != "" && u.Scheme == "http" && !loopback(u.Hostname()) && !c.SendKeyUnencrypted {
		return nil, sift.Fail(sift.CodeInvalid, "the key would go unencrypted to %s; use https, or allow it explicitly", u.Host)
	}
	return &Client{
		base: strings.TrimRight(u.String(), "/"),
		key:  c.Key,
		most: maxAnswer,
		http: &http.Client{
			Transport: &http.Transport{
				Proxy:                  proxy,
				DialContext:            (&net.Dialer{Timeout: connectTimeout}).DialContext,
				TLSHandshakeTimeout:    connectTimeout,
				MaxResponseHeaderBytes: 64 << 10,
				MaxIdleConnsPerHost:    8,
				IdleConnTimeout:        time.Minute,
				ForceAttemptHTTP2:      true,
			},
			// A redirect would take the key elsewhere, and no sift sends one.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

// Close lets go of kept connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// proxy takes a proxy from the environment, but never on the way to this machine.
func proxy(r *http.Request) (*url.URL, error) {
	if loopback(r.URL.Hostname()) {
		return nil, nil
	}
	return http.ProxyFromEnvironment(r)
}

func loopback(host string) bool {
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.Unmap().IsLoopback()
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// Answer is what the server answered for a target.
type Answer struct {
	sift.Envelope
	JSON json.RawMessage // as it came, with what a newer server may have added
}

// wireTarget is the body of POST /v1/fetch. What is zero is left out, so that
// the server's own defaults hold.
type wireTarget struct {
	URL      string    `json:"url"`
	Mode     sift.Mode `json:"mode,omitempty"`
	Question string    `json:"question,omitempty"`
	Pages    string    `json:"pages,omitempty"`
	Section  string    `json:"section,omitempty"`
	Grep     string    `json:"grep,omitempty"`
	JQ       string    `json:"jq,omitempty"`
	Context  bool      `json:"context,omitempty"`
	Recover  bool      `json:"recover,omitempty"`
	MinDate  string    `json:"min_date,omitempty"`
	Password string    `json:"password,omitempty"`
	MaxAge   *int      `json:"max_age,omitempty"`
	MaxChars int       `json:"max_chars,omitempty"`
	Offset   int       `json:"offset,omitempty"`
	Snapshot string    `json:"snapshot,omitempty"`
	Timeout  *float64  `json:"timeout,omitempty"`
}

// FetchTarget asks the server for one target. Every error is a *sift.Failure.
func (c *Client) FetchTarget(ctx context.Context, t sift.Target) (*Answer, error) {
	body, err := json.Marshal(wireTarget(t))
	if err != nil { // a timeout that is no number
		return nil, sift.Fail(sift.CodeInvalid, "the target cannot be written as JSON").WithCause(err)
	}
	wait := maxWait
	if t.Timeout != nil && *t.Timeout > 0 {
		wait = time.Duration(min(*t.Timeout, maxWait.Seconds())*float64(time.Second)) + grace
	}
	got, err := c.call(ctx, request{method: http.MethodPost, path: "/v1/fetch", body: body, wait: wait, most: c.most, smaller: "; ask for a smaller window"})
	if err != nil {
		return nil, err
	}
	return c.decode(got)
}

// request is one call of the server.
type request struct {
	method string
	path   string // with its query; the base goes in front
	body   []byte // JSON; nil: none
	wait   time.Duration
	most   int // bytes of the answer that are read

	smaller string // what to do about an answer that is longer; appended to the sentence
}

// reply is what came back, whatever its status.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// call sends a request and reads the answer, whatever its status. The answer
// must begin within the request's wait; its end may take takeTime more, so that
// a slow line does not make a long answer impossible to get.
func (c *Client) call(ctx context.Context, q request) (reply, error) {
	limited, cancel := context.WithCancel(ctx)
	defer cancel()
	limit := time.AfterFunc(q.wait, cancel)
	defer limit.Stop()
	var body io.Reader
	if q.body != nil {
		body = bytes.NewReader(q.body)
	}
	r, err := http.NewRequestWithContext(limited, q.method, c.base+q.path, body)
	if err != nil {
		return reply{}, c.unreachable("it cannot be asked", err)
	}
	if q.body != nil {
		r.Header.Set("Content-Type", typeJSON)
	}
	r.Header.Set("Accept", typeJSON)
	r.Header.Set("User-Agent", "sift-client/1")
	if c.key != "" {
		r.Header.Set("Authorization", "Bearer "+c.key)
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return reply{}, c.failed(ctx, limited, "did not answer within "+q.wait.String(), err)
	}
	defer resp.Body.Close()
	limit.Reset(takeTime)
	got, err := io.ReadAll(io.LimitReader(resp.Body, int64(q.most)+1))
	if err != nil {
		return reply{}, c.failed(ctx, limited, "began an answer and did not end it within "+takeTime.String(), err)
	}
	if len(got) > q.most {
		return reply{}, sift.Fail(sift.CodeTooLong, "the answer of the server at %s is longer than %d bytes%s", c.base, q.most, q.smaller)
	}
	return reply{status: resp.StatusCode, header: resp.Header, body: got}, nil
}

// decode tells an envelope, a failure and something that is neither apart.
func (c *Client) decode(got reply) (*Answer, error) {
	var wire struct {
		Success bool `json:"success"`
		*sift.Answer
		Recovered *sift.Recovered `json:"recovered"`
		Cache     sift.CacheInfo  `json:"cache"`
		Timing    sift.Timing     `json:"timing"`
	}
	wire.Answer = new(sift.Answer)
	if err := c.answer(got, http.StatusOK, &wire); err != nil {
		return nil, err
	}
	if !wire.Success {
		return nil, c.notSift(got)
	}
	return &Answer{
		Envelope: sift.Envelope{Answer: wire.Answer, Recovered: wire.Recovered, Cache: wire.Cache, Timing: wire.Timing},
		JSON:     got.body,
	}, nil
}

// answer decodes the body of an answer with that status into v. An answer with
// another is the failure that it tells.
func (c *Client) answer(got reply, status int, v any) error {
	if got.mediaType() != typeJSON {
		return c.notSift(got)
	}
	if got.status == status {
		if err := json.Unmarshal(got.body, v); err != nil {
			return c.notSift(got)
		}
		return nil
	}
	var wire struct {
		Success *bool `json:"success"`
		sift.FailureJSON
	}
	if err := json.Unmarshal(got.body, &wire); err != nil || wire.Success == nil || *wire.Success || got.status/100 == 2 {
		return c.notSift(got)
	}
	return failure(wire.FailureJSON)
}

// mediaType is "" where the answer has none, or no proper one.
func (r reply) mediaType() string {
	typ, _, _ := mime.ParseMediaType(r.header.Get("Content-Type"))
	return typ
}

// failure is the one that the server wrote.
func failure(w sift.FailureJSON) error {
	f := &sift.Failure{
		Code: w.Code, Message: strings.TrimPrefix(w.Error, string(w.Code)+": "), Hint: w.Hint, URL: w.URL,
		Status: w.Status, RetryAfter: time.Duration(w.RetryAfter) * time.Second, UpstreamBody: w.UpstreamBody,
	}
	if !slices.Contains(sift.Codes(), f.Code) {
		// Of a newer server. Exit codes and tables here know only our list.
		f.Code, f.Message = sift.CodeInternal, w.Error
	}
	if !slices.Contains(sift.Hints(), f.Hint) {
		f.Hint = ""
	}
	return f
}

// failed says why there was no answer at all.
func (c *Client) failed(ctx, limited context.Context, late string, err error) error {
	switch {
	case ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded):
		return sift.Fail(sift.CodeCancel, "the call was cancelled").WithCause(ctx.Err())
	case ctx.Err() != nil:
		return sift.Fail(sift.CodeTimeout, "the sift server at %s did not answer in time", c.base).WithHint(sift.HintRetry).WithCause(err)
	case limited.Err() != nil:
		return sift.Fail(sift.CodeTimeout, "the sift server at %s %s", c.base, late).WithHint(sift.HintRetry).WithCause(err)
	}
	var why string
	dns, isDNS := errors.AsType[*net.DNSError](err)
	network, isNetwork := errors.AsType[net.Error](err)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		why = "nothing listens there; is `sift serve` running?"
	case isDNS && dns.IsNotFound:
		why = "there is no such name"
	case isNetwork && network.Timeout():
		why = "it does not accept connections"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		why = "it closed the connection"
	default:
		// url.Error puts the method and the whole URL in front.
		why = err.Error()
		if u, ok := errors.AsType[*url.Error](err); ok {
			why = u.Err.Error()
		}
	}
	return c.unreachable(why, err)
}

func (c *Client) unreachable(why string, cause error) error {
	return sift.Fail(sift.CodeUnreachable, "cannot reach the sift server at %s: %s", c.base, why).WithHint(sift.HintRetry).WithCause(cause)
}

// notSift says that something answered, but not in the form of a sift server.
func (c *Client) notSift(got reply) error {
	what := "status " + strconv.Itoa(got.status)
	if typ := got.mediaType(); typ != "" {
		what += " and " + strconv.QuoteToGraphic(typ)
	}
	if to := got.header.Get("Location"); to != "" && got.status/100 == 3 {
		if len(to) > 200 {
			to = to[:200] + "…"
		}
		what += ", a redirect to " + strconv.QuoteToGraphic(to)
	}
	return sift.Fail(sift.CodeUnreachable, "what answers at %s is not a sift server of this version: %s", c.base, what)
}
