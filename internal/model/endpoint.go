package model

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"sift.build/sift/internal/sift"
)

// Outcome says what became of a request.
type Outcome string

// The outcomes.
const (
	OutcomeOK          Outcome = "ok"
	OutcomeBusy        Outcome = "busy"        // too many requests of ours are under way
	OutcomeResting     Outcome = "resting"     // not asked: it wanted to be left alone, or failed too often
	OutcomeTimeout     Outcome = "timeout"     // no answer in time
	OutcomeUnreachable Outcome = "unreachable" // no connection, or a broken one
	OutcomeRefused     Outcome = "refused"     // 401 and 403: the key is not right
	OutcomeLimited     Outcome = "limited"     // 429
	OutcomeRejected    Outcome = "rejected"    // any other status of 300 to 499
	OutcomeServer      Outcome = "server"      // 500 and above
	OutcomeBad         Outcome = "bad_answer"  // an answer that cannot be used
	OutcomeCancelled   Outcome = "cancelled"   // the caller went away
)

// Outcomes lists every outcome.
func Outcomes() []Outcome {
	return []Outcome{
		OutcomeOK, OutcomeBusy, OutcomeResting, OutcomeTimeout, OutcomeUnreachable, OutcomeRefused, OutcomeLimited,
		OutcomeRejected, OutcomeServer, OutcomeBad, OutcomeCancelled,
	}
}

// failure is why an endpoint was of no help. Its words go to the caller: they
// are ours, and hold nothing of what the endpoint said.
type failure struct {
	outcome Outcome
	words   string // "did not answer …"
	cause   error

	// content says that it may be the doing of what was sent. A page must not be able
	// to have the endpoint left alone.
	content bool
}

func fail(outcome Outcome, format string, args ...any) *failure {
	return &failure{outcome: outcome, words: fmt.Sprintf(format, args...)}
}

func (f *failure) because(cause error) *failure {
	f.cause = cause
	return f
}

func (f *failure) ofContent() *failure {
	f.content = true
	return f
}

func (f *failure) Error() string {
	if f.cause != nil {
		return f.words + ": " + f.cause.Error()
	}
	return f.words
}

func (f *failure) Unwrap() error { return f.cause }

// endpoint is one that is asked, and what is known of how it does.
type endpoint struct {
	name, url, model string

	mu       sync.Mutex
	until    time.Time // it is left alone until then
	why      string    // "asked to be left alone"
	failures int       // in a row
	modern   bool      // it wants max_completion_tokens, and no temperature
}

func newEndpoint(name, base, path, model string) (*endpoint, error) {
	switch {
	case model == "":
		return nil, errors.New("there is a URL and no model; want both or neither")
	case base == "":
		return nil, errors.New("there is a model and no URL; want both or neither")
	}
	u, err := url.Parse(base)
	switch {
	case err != nil:
		return nil, errors.New("the base is not a URL")
	case u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "", u.Opaque != "":
		return nil, errors.New("the base is not an http or https URL")
	case u.User != nil, u.RawQuery != "", u.ForceQuery, u.Fragment != "":
		return nil, errors.New("the base has more than scheme, host and path; a key belongs in the key file")
	}
	u.Path = strings.TrimRight(u.Path, "/")
	u.RawPath = ""
	if !strings.HasSuffix(u.Path, path) {
		u.Path += path
	}
	return &endpoint{name: name, url: u.String(), model: model}, nil
}

// warning says that the endpoint was of no help, and what was done instead. It
// names the kind of the endpoint and not where it is, which is the operator's to
// know.
func (e *endpoint) warning(err error, instead string) sift.Warning {
	words := "failed"
	if f, ok := errors.AsType[*failure](err); ok {
		words = f.words
	}
	return sift.Warning{Code: sift.WarnFallback, Message: fmt.Sprintf("the %s endpoint %s; %s", e.name, words, instead)}
}

// Bounds on a connection.
const (
	connectTimeout = 5 * time.Second
	headersMax     = 64 << 10
	idleTimeout    = 90 * time.Second
)

// newClient makes a client that goes where it is told to and nowhere else.
func newClient(timeout time.Duration, requests int) (*http.Client, *http.Transport) {
	dialer := &net.Dialer{Timeout: connectTimeout, KeepAlive: 30 * time.Second}
	t := &http.Transport{
		Proxy:                  nil, // the environment is not asked
		DialContext:            dialer.DialContext,
		TLSHandshakeTimeout:    connectTimeout,
		ResponseHeaderTimeout:  timeout,
		ExpectContinueTimeout:  time.Second,
		MaxResponseHeaderBytes: headersMax,
		MaxIdleConns:           2 * requests,
		MaxIdleConnsPerHost:    requests,
		MaxConnsPerHost:        2 * requests,
		IdleConnTimeout:        idleTimeout,
		DisableCompression:     true, // so that the bound on the body is one on what was sent
		ForceAttemptHTTP2:      true,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
	}
	return &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, t
}

// How an endpoint is left alone.
const (
	slotWait   = 5 * time.Second        // how long a request waits until fewer are under way
	shortRest  = 2 * time.Second        // one that is shorter is waited for, once
	firstRest  = 500 * time.Millisecond // after a 429 that does not say for how long
	longestOne = 5 * time.Minute        // however long it asks for
	failureMax = 3                      // in a row
	afterThree = 15 * time.Second
	fairShare  = 3 // a failure counts after this part of the timeout, when the question has no more time
)

// round is what is wanted of an endpoint at one time, in one request or in
// several at once. It succeeds or fails once: what fails first ends the others,
// which say nothing of the endpoint.
type round struct {
	m *Models
	e *endpoint

	mu    sync.Mutex
	asked bool  // a request was answered
	first error // a *failure
	fair  bool  // that had time enough to be answered
}

// fails takes in a failure, and says whether it is the first.
func (r *round) fails(err error, fair bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.first != nil {
		return false
	}
	r.first, r.fair = err, fair
	return true
}

func (r *round) answered() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = true
}

// end tells the endpoint how it did, and gives the first failure.
func (r *round) end() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.first != nil || r.asked {
		r.e.heard(r.first, r.fair)
	}
	return r.first
}

// ask sends body and has what comes back read. The error is a *failure.
func (r *round) ask(ctx context.Context, body []byte, limit int64, read func([]byte) error) error {
	for attempt := 0; ; attempt++ {
		start := time.Now()
		fair, err := r.m.askOnce(ctx, r.e, body, limit, attempt > 0, read)
		outcome, tell := OutcomeOK, true
		f, failed := errors.AsType[*failure](err)
		if failed {
			outcome = f.outcome
			if _, rests := errors.AsType[restError](f.cause); rests {
				r.e.heard(err, false) // the next attempt has to know
			}
		} else {
			r.answered()
		}
		again := outcome == OutcomeLimited && attempt == 0 // which waits or gives up, as long as it has to be
		if failed && !again {
			tell = r.fails(err, fair)
		}
		if tell && r.m.trace.Asked != nil {
			r.m.trace.Asked(r.e.name, outcome, time.Since(start), err)
		}
		if !again {
			return err
		}
	}
}

// askOnce is one attempt: what waits, and what asks. fair says that the endpoint
// had time enough to answer.
func (m *Models) askOnce(ctx context.Context, e *endpoint, body []byte, limit int64, again bool, read func([]byte) error) (fair bool, err error) {
	if err := e.rest(ctx, again); err != nil {
		return false, err
	}
	wait := time.NewTimer(slotWait)
	defer wait.Stop()
	select {
	case m.slots <- struct{}{}:
	case <-wait.C:
		return false, fail(OutcomeBusy, "was not asked, since %d requests are under way", cap(m.slots))
	case <-ctx.Done():
		return false, ended(ctx, "was not asked, since other requests took the time")
	}
	defer func() { <-m.slots }()
	if ctx.Err() != nil {
		return false, ended(ctx, "was not asked, since the time was up")
	}
	start := time.Now()
	answer, err := m.send(ctx, e, body, limit)
	fair = ctx.Err() == nil || errors.Is(ctx.Err(), context.DeadlineExceeded) && time.Since(start) >= m.timeout/fairShare
	if err == nil {
		err = read(answer)
	}
	return fair, err
}

// ended is for what ended with ctx.
func ended(ctx context.Context, words string) *failure {
	if errors.Is(ctx.Err(), context.Canceled) {
		return fail(OutcomeCancelled, "was not waited for, since the caller went away").because(ctx.Err())
	}
	return fail(OutcomeTimeout, "%s", words).because(ctx.Err())
}

// rest waits until the endpoint may be asked, if that is soon.
func (e *endpoint) rest(ctx context.Context, again bool) error {
	e.mu.Lock()
	left, why := time.Until(e.until), e.why
	e.mu.Unlock()
	if left <= 0 {
		return nil
	}
	if end, ok := ctx.Deadline(); left > shortRest || ok && time.Until(end) < 2*left {
		outcome := OutcomeResting
		if again {
			outcome = OutcomeLimited
		}
		return fail(outcome, "%s, and is asked again in %s", why, left.Round(time.Second)+time.Second)
	}
	t := time.NewTimer(left)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ended(ctx, why)
	}
}

// restError is an error that says for how long the endpoint wants to be left alone.
type restError time.Duration

func (r restError) Error() string {
	return fmt.Sprintf("asked to be left alone for %s", time.Duration(r))
}

// heard takes in what became of a request. fair says that it had time enough to
// be answered.
func (e *endpoint) heard(err error, fair bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	f, failed := errors.AsType[*failure](err)
	if !failed {
		e.failures = 0
		return
	}
	pause, why := time.Duration(0), ""
	if r, ok := errors.AsType[restError](f.cause); ok {
		pause, why = min(time.Duration(r), longestOne), "takes no more requests for now"
	}
	switch f.outcome {
	case OutcomeTimeout, OutcomeUnreachable, OutcomeServer, OutcomeBad:
		if !fair || f.content {
			break // others will give it more time, or another page
		}
		if e.failures++; e.failures >= failureMax && pause < afterThree {
			pause, why = afterThree, fmt.Sprintf("has failed %d times in a row", e.failures)
		}
	}
	if until := time.Now().Add(pause); pause > 0 && until.After(e.until) {
		e.until, e.why = until, why
	}
}

// send makes one request.
func (m *Models) send(ctx context.Context, e *endpoint, body []byte, limit int64) ([]byte, error) {
	limited, done := context.WithTimeout(ctx, m.timeout)
	defer done()
	req, err := http.NewRequestWithContext(limited, http.MethodPost, e.url, bytes.NewReader(body))
	if err != nil {
		return nil, fail(OutcomeUnreachable, "cannot be asked").because(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	if m.userAgent != "" {
		req.Header.Set("User-Agent", m.userAgent)
	}
	if key := m.key.secret(); key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	// Asking twice does no harm, so that a connection that was closed while it was
	// idle is no failure. An empty key says so to net/http and is not sent.
	req.Header["X-Idempotency-Key"] = nil

	resp, err := m.client.Do(req)
	if err != nil {
		return nil, m.broken(ctx, limited, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		return nil, refused(resp)
	}
	answer, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	switch {
	case err != nil:
		return nil, m.broken(ctx, limited, err)
	case int64(len(answer)) > limit:
		return nil, fail(OutcomeBad, "sent more than %d KiB", limit>>10)
	}
	return answer, nil
}

// broken puts into words why there was no answer.
func (m *Models) broken(ctx, limited context.Context, err error) *failure {
	var dns *net.DNSError
	var certificate *tls.CertificateVerificationError
	var unknown x509.UnknownAuthorityError
	var record tls.RecordHeaderError
	var network net.Error
	f := fail(OutcomeUnreachable, "broke off the connection")
	switch {
	case ctx.Err() != nil:
		f = ended(ctx, "did not answer in the time that there was")
	case limited.Err() != nil:
		f = fail(OutcomeTimeout, "did not answer within %s", m.timeout)
	case errors.As(err, &dns):
		f = fail(OutcomeUnreachable, "was not found: its host has no address")
	case errors.As(err, &certificate), errors.As(err, &unknown), errors.As(err, &record):
		f = fail(OutcomeUnreachable, "cannot be trusted: TLS failed")
	case errors.Is(err, syscall.ECONNREFUSED):
		f = fail(OutcomeUnreachable, "refused the connection")
	case errors.As(err, &network) && network.Timeout():
		f = fail(OutcomeTimeout, "did not answer within %s", m.timeout)
	}
	// The text of a malformed answer is in the error, and that may be an echo.
	if key := m.key.secret(); key != "" && strings.Contains(err.Error(), key) {
		return f.because(errors.New("what went wrong has the key in its text"))
	}
	return f.because(err)
}

// refusedMax bounds what is read of an answer that is none, so that the
// connection can be used again.
const refusedMax = 16 << 10

// refused puts into words what a status says.
func refused(resp *http.Response) *failure {
	excerpt, _ := io.ReadAll(io.LimitReader(resp.Body, refusedMax)) // what it says has no say
	status := resp.StatusCode
	var f *failure
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		f = fail(OutcomeRefused, "refused the key (status %d)", status)
	case status == http.StatusNotFound:
		f = fail(OutcomeRejected, "does not know the address or the model (status 404)")
	case status == http.StatusTooManyRequests:
		f = fail(OutcomeLimited, "takes no more requests for now (status 429)")
		f.cause = restError(retryAfter(resp.Header, firstRest))
	case status >= 500:
		f = fail(OutcomeServer, "failed (status %d)", status)
		if d := retryAfter(resp.Header, 0); d > 0 {
			f.cause = restError(d)
			if status == http.StatusServiceUnavailable {
				f.outcome = OutcomeLimited
			}
		}
	case status >= 400:
		f = fail(OutcomeRejected, "did not understand the request (status %d)", status)
		if status == http.StatusBadRequest && dialect(excerpt) {
			f.cause = errDialect
		}
	default:
		f = fail(OutcomeRejected, "sent us elsewhere (status %d), where the key does not go", status)
	}
	return f
}

// errDialect says that the endpoint takes the parameters of a newer model.
var errDialect = errors.New("the model takes max_completion_tokens, or no temperature")

// dialect finds that in what the endpoint says.
func dialect(excerpt []byte) bool {
	return bytes.Contains(excerpt, []byte("max_completion_tokens")) || bytes.Contains(excerpt, []byte("temperature"))
}

// retryAfter reads how long the endpoint wants to be left alone.
func retryAfter(h http.Header, otherwise time.Duration) time.Duration {
	v := strings.TrimSpace(h.Get("Retry-After"))
	if ms, err := strconv.ParseFloat(strings.TrimSpace(h.Get("Retry-After-Ms")), 64); err == nil && ms > 0 && ms < 1e9 {
		return max(time.Duration(ms*float64(time.Millisecond)), time.Millisecond)
	}
	if s, err := strconv.ParseFloat(v, 64); err == nil && s >= 0 && s < 1e9 {
		return max(time.Duration(s*float64(time.Second)), 50*time.Millisecond)
	}
	if at, err := http.ParseTime(v); err == nil {
		return max(time.Until(at), 50*time.Millisecond)
	}
	return otherwise
}
