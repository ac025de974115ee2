package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"sift.build/sift/internal/guard"
	"sift.build/sift/internal/sift"
)

// errRobotsDeadline is the cause of a context that ended with the time for
// robots.txt.
var errRobotsDeadline = errors.New("the time for robots.txt is up")

// robotsRedirects is what RFC 9309 asks for at least. Beyond them the file
// counts as missing.
const robotsRedirects = 5

// askRobots fails where robots.txt forbids u, or cannot be known.
func (ch *chain) askRobots(ctx context.Context, u *guard.URL) error {
	c := ch.client
	if c.cfg.Robots == "" || c.cfg.Robots == "ignore" {
		return nil
	}
	root, err := c.cfg.Guard.CheckReference(u, "/robots.txt")
	if err != nil {
		return err
	}
	rules, ok := ch.robots[root.String()]
	// What a restricted caller reads leaves no trace in the shared cache, and
	// how long it takes tells them nothing about the others.
	if !ok && !ch.request.Restricted {
		rules, ok = c.robots.get(root.String(), c.now())
	}
	if !ok {
		if rules, err = ch.readRobots(ctx, root); err != nil {
			return err
		}
		if ch.robots == nil {
			ch.robots = map[string]*robotsRules{}
		}
		ch.robots[root.String()] = rules
		if !ch.request.Restricted {
			c.robots.put(root.String(), rules, c.now(), c.limits)
		}
	}
	h := u.HTTP()
	path := h.EscapedPath()
	if h.RawQuery != "" {
		path += "?" + h.RawQuery
	}
	if rules.allowed(path) {
		return nil
	}
	if ch.request.Restricted {
		return sift.Fail(sift.CodeBlocked, `the site's robots.txt disallows this URL; the operator can set [fetch] robots = "ignore"`)
	}
	return sift.Fail(sift.CodeBlocked, `robots.txt of %s disallows %s; the operator can set [fetch] robots = "ignore"`, u.Host(), clip(path, 200))
}

// readRobots fetches robots.txt and judges its status as RFC 9309 section
// 2.3.1 says, except that a login or a refusal is taken for a no.
func (ch *chain) readRobots(ctx context.Context, at *guard.URL) (*robotsRules, error) {
	c := ch.client
	host := "the site"
	if !ch.request.Restricted {
		host = at.Host()
	}
	unread := func(f *sift.Failure) error {
		if f.Code == sift.CodeBlocked || f.Code == sift.CodeCancel || f.Code == sift.CodeInternal {
			return f
		}
		out := *f
		out.Message = fmt.Sprintf("robots.txt of %s could not be read, so it is not known whether the page may be: %s", host, f.Message)
		return &out
	}
	ctx, cancel := context.WithTimeoutCause(ctx, c.limits.robotsTime, errRobotsDeadline)
	defer cancel()
	header, retried := http.Header{
		"User-Agent":      {c.cfg.UserAgent},
		"Accept":          {"text/plain, */*;q=0.8"},
		"Accept-Encoding": {acceptEncoding},
	}, false
	for range robotsRedirects + 1 {
		p, err := ch.visit(ctx, at, header, keep(c.limits.robotsBytes), &retried)
		if err != nil {
			return nil, unread(sift.AsFailure(ch.failure(at, err)))
		}
		switch {
		case p.status/100 == 2:
			text, err := p.body.Bytes()
			p.close()
			switch {
			case err != nil:
				return nil, spoolFailure(err)
			case p.partial != "" && int64(len(text)) < c.limits.robotsBytes:
				return nil, unread(sift.Fail(sift.CodeUnreachable, "%s", p.partial).WithHint(sift.HintRetry))
			}
			return parseRobots(text, productToken(c.cfg.UserAgent)), nil
		case p.status == http.StatusUnauthorized, p.status == http.StatusForbidden:
			p.close()
			return nil, sift.Fail(sift.CodeBlocked, `robots.txt of %s may not be read (status %d), which is taken for a no; the operator can set [fetch] robots = "ignore"`, host, p.status)
		case p.status >= 500:
			p.close()
			return nil, sift.Fail(sift.CodeBlocked, `robots.txt of %s cannot be read now (status %d), which forbids everything until it can; the operator can set [fetch] robots = "ignore"`, host, p.status).WithHint(sift.HintRetry)
		case p.status/100 == 4:
			p.close()
			return &robotsRules{}, nil
		}
		p.close()
		location := strings.TrimSpace(p.header.Get("Location"))
		if location == "" {
			break // a 3xx that leads nowhere: there is no such file
		}
		if at, err = ch.reference(at, location); err != nil {
			return nil, err
		}
	}
	return &robotsRules{}, nil
}

// robotsCache remembers the rules of a bounded number of sites.
type robotsCache struct {
	mu      sync.Mutex // guards entries
	entries map[string]robotsEntry
}

type robotsEntry struct {
	rules *robotsRules
	until time.Time
}

func (c *robotsCache) get(root string, now time.Time) (*robotsRules, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries[root]
	if !ok || !now.Before(e.until) {
		return nil, false
	}
	return e.rules, true
}

// put remembers rules. When the cache is full, the entry that would end first
// goes; rules of unusual size are not worth a place at all.
func (c *robotsCache) put(root string, rules *robotsRules, now time.Time, l limits) {
	if rules.bytes > robotsMaxKept {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries == nil {
		c.entries = map[string]robotsEntry{}
	}
	if _, ok := c.entries[root]; !ok && len(c.entries) >= l.robotsHosts {
		first := ""
		for k, e := range c.entries {
			if first == "" || e.until.Before(c.entries[first].until) {
				first = k
			}
		}
		delete(c.entries, first)
	}
	c.entries[root] = robotsEntry{rules: rules, until: now.Add(l.robotsFor)}
}
