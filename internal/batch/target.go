package batch

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"
	"unicode/utf8"

	"sift.build/sift/internal/sift"
)

// Target is one target of a job as it is fetched. What stands beside the
// sift.Target is outside its canonical form.
type Target struct {
	sift.Target
	Caller   sift.Caller // whose job it is
	MaxBytes int         // how long the result may be
}

// Result is what was fetched.
type Result struct {
	JSON []byte // the envelope, one JSON value, as it will be stored and shown
}

// FetchFunc answers one target, in the way of /v1/fetch. It heeds its context.
// The error is a *sift.Failure; one with code busy says that there was no slot,
// that nothing has been fetched, and that it should be tried again.
type FetchFunc func(ctx context.Context, t Target) (Result, error)

// CheckFunc finds what can be refused before anything is fetched: a URL that
// fails the guard's pre-check, an option that cannot be read. It answers the URL
// as the guard's parser writes it. The error is a *sift.Failure.
type CheckFunc func(t sift.Target) (url string, err error)

// canonical is a target in its canonical form: keys in the order of SPEC
// section 2, defaults filled in, also those of the configuration, so that they
// may be written out or not. A password is never in a batch.
type canonical struct {
	URL string `json:"url"`
	options
}

// options is a target without its URL: what is stored beside it.
type options struct {
	Mode     sift.Mode `json:"mode"`
	Question string    `json:"question"`
	Pages    string    `json:"pages"`
	Section  string    `json:"section"`
	Grep     string    `json:"grep"`
	JQ       string    `json:"jq"`
	Context  bool      `json:"context"`
	Recover  bool      `json:"recover"`
	MinDate  string    `json:"min_date"`
	MaxAge   *int      `json:"max_age"`
	MaxChars int       `json:"max_chars"`
	Offset   int       `json:"offset"`
	Snapshot string    `json:"snapshot"`
	Timeout  *float64  `json:"timeout"`
}

func optionsOf(t sift.Target) options {
	o := options{
		Mode: t.Mode, Question: t.Question, Pages: t.Pages, Section: t.Section, Grep: t.Grep, JQ: t.JQ,
		Context: t.Context, Recover: t.Recover, MinDate: t.MinDate, MaxAge: t.MaxAge, MaxChars: t.MaxChars,
		Offset: t.Offset, Snapshot: t.Snapshot, Timeout: t.Timeout,
	}
	if o.Mode == "" {
		o.Mode = sift.ModeClean
	}
	if o.MaxChars == 0 {
		o.MaxChars = sift.DefaultMaxChars
	}
	return o
}

// canonical is the canonical form of a target whose URL the guard's parser
// writes so. It is for the key alone: what is stored is what was asked for.
func (c Config) canonical(url string, o options) canonical {
	if o.MaxAge == nil {
		o.MaxAge = &c.MaxAge
	}
	if c.Timeout > 0 && (o.Timeout == nil || *o.Timeout > c.Timeout) {
		o.Timeout = &c.Timeout
	}
	if pages, err := sift.ParsePages(o.Pages); err == nil { // what cannot be read is refused elsewhere
		o.Pages = pages.String()
	}
	if date, err := sift.ParseDate(o.MinDate); err == nil && !date.IsZero() {
		o.MinDate = date.Format(time.RFC3339Nano)
	}
	return canonical{URL: url, options: o}
}

// target puts a stored target together again.
func (t NewTarget) target() (sift.Target, error) {
	var o options
	d := json.NewDecoder(bytes.NewReader(t.Options))
	d.DisallowUnknownFields() // what a newer version has written cannot be run as it was meant
	if err := d.Decode(&o); err != nil {
		return sift.Target{}, fmt.Errorf("read the options of a target: %w", err)
	}
	return sift.Target{
		URL: t.URL, Mode: o.Mode, Question: o.Question, Pages: o.Pages, Section: o.Section, Grep: o.Grep, JQ: o.JQ,
		Context: o.Context, Recover: o.Recover, MinDate: o.MinDate, MaxAge: o.MaxAge, MaxChars: o.MaxChars,
		Offset: o.Offset, Snapshot: o.Snapshot, Timeout: o.Timeout,
	}, nil
}

// storable finds what would not be read back as it was written, so that a list
// could be taken for another.
func storable(t sift.Target) error {
	if t.Password != "" {
		return errors.New("password cannot be in a batch, since the list is stored; ask for that one with /v1/fetch")
	}
	for _, s := range []string{t.URL, string(t.Mode), t.Question, t.Pages, t.Section, t.Grep, t.JQ, t.MinDate, t.Snapshot} {
		if !utf8.ValidString(s) {
			return fmt.Errorf("%s is not UTF-8 text", sift.Quote(s))
		}
	}
	if t.Timeout != nil && (math.IsNaN(*t.Timeout) || math.IsInf(*t.Timeout, 0)) {
		return errors.New("timeout is not a number of seconds")
	}
	return nil
}

// idemKey is the key of a caller's canonical list.
func idemKey(caller string, list []canonical) (string, error) {
	b, err := sift.EncodeJSON(list)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	h.Write([]byte(caller + "\x00"))
	h.Write(b)
	return hex.EncodeToString(h.Sum(nil)), nil
}
