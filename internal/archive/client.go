package archive

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"sift.build/sift/internal/fetch"
	"sift.build/sift/internal/sift"
)

// Getter gets a URL with its redirects, as fetch.Client does. A zero time: no
// Accept-Datetime. Its error should be a *sift.Failure.
type Getter func(ctx context.Context, url string, acceptDatetime time.Time) (*fetch.Response, error)

// Config is what a Client needs. Base and Get are required.
type Config struct {
	// Base is where the archive is: a root such as https://web.archive.org,
	// or the URL of a TimeGate or TimeMap up to where the page's goes.
	// docs/recover.md says how they are told apart.
	Base string
	Get  Getter
	Now  func() time.Time // nil: time.Now
}

// Bounds of one Find. They hold together: an archive that lies in every
// answer costs maxRequests and no more.
const (
	maxRequests  = 16       // of every kind, without the redirects of each
	maxTimeMaps  = 4        // documents, pages of one included
	maxTimeMap   = 10 << 20 // bytes of one that are read
	maxMementos  = 64       // of a TimeMap that are remembered: those that suit best
	maxAvailable = 64 << 10 // bytes of an answer of the availability interface

	// An archive that wants to be left alone without saying how long (429,
	// no Retry-After), and the longest that one is believed.
	defaultHold = time.Minute
	maxHold     = 24 * time.Hour
	maxHeld     = 256 // hosts that are remembered for it
)

// Client asks one archive. It is safe for concurrent use, and remembers
// nothing but until when which host wants to be left alone.
type Client struct {
	get   Getter
	now   func() time.Time
	doors doors

	mu   sync.Mutex // guards held
	held map[string]time.Time
}

// New makes a client. It asks nothing.
func New(c Config) (*Client, error) {
	if c.Get == nil {
		return nil, errors.New("archive: no Getter")
	}
	d, err := open(c.Base)
	if err != nil {
		return nil, fmt.Errorf("archive: the base URL %w", err)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Client{get: c.Get, now: c.Now, doors: d, held: map[string]time.Time{}}, nil
}

// Wanted says which copy is wanted.
type Wanted struct {
	Around    time.Time // the one nearest to this; zero: the newest
	NotBefore time.Time // none older than this; zero: any
}

// Copy is an archived copy. Its Response.Body must be closed.
type Copy struct {
	Response   *fetch.Response
	URL        string    // of the copy itself, in the archive
	Original   string    // of the page, as the archive has it, with the fragment that was asked for
	CapturedAt time.Time // UTC
	Archive    string    // host of the copy
}

// Base is the URL against which links in the copy are resolved. In an archive
// whose copies have the original's URL in their own, that is the original:
// the copy is its bytes, or Unrewrite makes its links those of the original.
// Other archives serve copies whose links stand as they are to be followed.
func (c *Copy) Base() string {
	if _, ok := parseWayback(c.URL); ok {
		return c.Original
	}
	return c.URL
}

// ErrNone is what errors.Is finds in the error of Find when the archive
// answered, and has no copy that would do. The error's text says why, and can
// follow “nothing was recovered: ”.
var ErrNone = errors.New("the archive has no copy of it")

// miss is an ErrNone with its reason.
type miss struct{ reason string }

func (m *miss) Error() string        { return m.reason }
func (m *miss) Is(target error) bool { return target == ErrNone }

// hold remembers that a host wants to be left alone.
func (c *Client) hold(host string, d time.Duration) time.Duration {
	if d <= 0 {
		d = defaultHold
	}
	d = min(d, maxHold)
	now := c.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.held[host]; !ok && len(c.held) >= maxHeld {
		first := ""
		for h, until := range c.held {
			if first == "" || until.Before(c.held[first]) {
				first = h
			}
		}
		delete(c.held, first)
	}
	c.held[host] = now.Add(d)
	return d
}

// holds says for how much longer the host of a URL wants to be left alone.
func (c *Client) holds(raw string) time.Duration {
	u, err := url.Parse(raw)
	if err != nil {
		return 0
	}
	now := c.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	host := strings.ToLower(u.Hostname())
	until, ok := c.held[host]
	if !ok {
		return 0
	}
	if !until.After(now) {
		delete(c.held, host)
		return 0
	}
	return until.Sub(now)
}

// fail makes a failure of the archive.
func (c *Client) fail(code sift.Code, format string, args ...any) *sift.Failure {
	return sift.Fail(code, "the archive %s %s", c.doors.host, fmt.Sprintf(format, args...))
}
