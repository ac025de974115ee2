package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"sift.build/sift/internal/archive"
	"sift.build/sift/internal/dcache"
	"sift.build/sift/internal/extract"
	"sift.build/sift/internal/fetch"
	"sift.build/sift/internal/sift"
)

// liveShare is how much of a call's time the page itself gets where an archive
// can be asked after it.
const liveShare = 0.6

// archiveShare is how much of the time that is left then the archive gets.
const archiveShare = 0.85

// fetchOrRecover answers from the page, and where that will not do from what else
// there is of it: data embedded in it, an older copy of ours, an archived one.
func (p *Pipeline) fetchOrRecover(ctx context.Context, q query, maxAge *int) (*sift.Envelope, error) {
	live, share := ctx, time.Duration(0)
	if deadline, ok := ctx.Deadline(); ok && p.mayAskArchive(q) {
		share = time.Duration(float64(deadline.Sub(p.now())) * liveShare)
		var cancel context.CancelFunc
		live, cancel = context.WithTimeout(ctx, share)
		defer cancel()
	}
	before := p.newest(ctx, q)
	env, err := p.fromCacheOrNetwork(live, q, maxAge)
	if err != nil && live.Err() != nil && ctx.Err() == nil {
		err = outOfTime(live, share.Round(time.Millisecond), err)
	}
	reason, lacking := lacks(env, err)
	if !lacking {
		return env, err
	}
	if page, ok := errors.AsType[*pageError](err); ok {
		if env, ok := p.fromErrorPage(ctx, q, page); ok {
			return env, nil
		}
	}
	if env, ok := p.fromStale(ctx, q, before, reason); ok {
		return env, nil
	}
	// The first answer must still be given when the archive has none in time.
	asked := ctx
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		asked, cancel = context.WithTimeout(ctx, time.Duration(float64(deadline.Sub(p.now()))*archiveShare))
		defer cancel()
	}
	recovered, archiveErr := p.fromArchive(asked, q, maxAge, reason)
	if archiveErr == nil {
		return recovered, nil
	}
	if ctx.Err() != nil {
		return nil, archiveErr
	}
	if asked.Err() != nil {
		archiveErr = sift.Fail(sift.CodeTimeout, "the archive did not answer in time").WithCause(archiveErr)
	}
	why := "nothing was recovered: " + sentence(archiveErr)
	if err == nil {
		code := walled(env.Warnings)
		if code == "" {
			code = sift.WarnJSShell
		}
		env.Answer = env.With(sift.Warning{Code: code, Message: reason + "; " + why})
		if env.Hint == "" {
			env.Hint = sift.HintBrowser
		}
		return env, nil
	}
	f := *sift.AsFailure(err)
	f.Message += "; " + why
	return nil, &f
}

// sentence is the text of an error for a caller, without its code.
func sentence(err error) string {
	if f, ok := errors.AsType[*sift.Failure](err); ok {
		return f.Message
	}
	if errors.Is(err, archive.ErrNone) {
		return err.Error()
	}
	return sift.AsFailure(err).Message
}

// lacks says whether an answer is one for which something better may be had, and
// why. What the guard has refused is never recovered; neither is what would only
// have to be asked again, or asked otherwise.
func lacks(env *sift.Envelope, err error) (reason string, lacking bool) {
	if err == nil {
		switch {
		case env.Origin == nil && walled(env.Warnings) != "":
			return fmt.Sprintf("what was answered is not the page (%s)", walled(env.Warnings)), true
		case env.Origin != nil && env.Origin.Source == sift.SourceLive:
			return env.Origin.Reason, true
		}
		return "", false
	}
	f := sift.AsFailure(err)
	switch f.Code {
	case sift.CodeUpstream4xx, sift.CodeUpstream5xx, sift.CodeUnreachable, sift.CodeTimeout:
		return f.Error(), true
	}
	return "", false
}

// pageError is the failure that an error status becomes, with the page that came
// along: it may have the article in it that it does not show.
type pageError struct {
	failure *sift.Failure
	entry   dcache.Entry // Body and what says how to read it
}

func (e *pageError) Error() string { return e.failure.Error() }
func (e *pageError) Unwrap() error { return e.failure }

// isGone says that a status is the server's word that there is no such page. What
// its page carries is not the page.
func isGone(status int) bool { return status == http.StatusNotFound || status == http.StatusGone }

// fromErrorPage answers from the data embedded in an error page.
func (p *Pipeline) fromErrorPage(ctx context.Context, q query, page *pageError) (*sift.Envelope, bool) {
	if isGone(page.entry.Status) {
		return nil, false
	}
	c := &copied{entry: page.entry, store: p.cfg.Store}
	leave, err := p.cfg.Parse.Enter(ctx, 2*extract.Weight(c.input()))
	if err != nil {
		return nil, false
	}
	found, ok, err := extract.Embedded(ctx, c.input())
	leave()
	if err != nil || !ok {
		return nil, false
	}
	c.entry.Recovered, err = json.Marshal(sift.Recovered{
		Source: sift.SourcePage, CapturedAt: c.entry.FetchedAt, URL: c.entry.FinalURL, From: found.From, Reason: page.failure.Error(),
	})
	if err != nil {
		return nil, false
	}
	p.keep(ctx, c, found.Document)
	c.doc = found.Document
	env, err := p.answerStored(ctx, q, c)
	if err != nil {
		return nil, false
	}
	env.Cache = sift.CacheInfo{}
	return env, true
}

// newest is the snapshot of the newest copy of ours; "": there is none. A page that
// has become a shell has a copy of that itself by the time it is known.
func (p *Pipeline) newest(ctx context.Context, q query) string {
	if p.cfg.Store == nil {
		return ""
	}
	entry, ok, err := p.cfg.Store.Latest(ctx, q.caller.Class, q.key)
	if err != nil || !ok {
		return ""
	}
	return entry.Snapshot
}

// fromStale answers from a copy of ours, however old it is.
func (p *Pipeline) fromStale(ctx context.Context, q query, snapshot, reason string) (*sift.Envelope, bool) {
	if snapshot == "" {
		return nil, false
	}
	entry, ok, err := p.cfg.Store.BySnapshot(ctx, q.caller.Class, snapshot)
	if err != nil || !ok || entry.CheckedAt.Before(q.minDate) {
		return nil, false
	}
	env, err := p.answerStored(ctx, q, &copied{entry: entry, store: p.cfg.Store})
	if err != nil {
		return nil, false
	}
	if _, lacking := lacks(env, nil); lacking {
		return nil, false
	}
	env.Recovered = &sift.Recovered{Source: sift.SourceStale, CapturedAt: entry.CheckedAt, URL: entry.FinalURL, Reason: reason}
	return env, true
}

// mayAskArchive says whether there is an archive that may be told what this caller
// reads.
func (p *Pipeline) mayAskArchive(q query) bool {
	return p.archive != nil && (!q.caller.Restricted || p.cfg.ArchiveRestricted)
}

// fromArchive answers from an archived copy.
func (p *Pipeline) fromArchive(ctx context.Context, q query, maxAge *int, reason string) (*sift.Envelope, error) {
	switch {
	case p.archive == nil:
		return nil, sift.Fail(sift.CodeUnreachable, "there is no data in the page and no older copy, and this sift is not told of an archive")
	case !p.mayAskArchive(q):
		return nil, sift.Fail(sift.CodeUnreachable, "what this caller reads is not told to an archive")
	}
	if err := p.mayLeave(ctx, q); err != nil {
		return nil, err
	}
	if env, ok := p.fromRecovered(ctx, q, maxAge); ok {
		return env, nil
	}
	key := copyKey{q.caller.Class, "archive " + q.minDate.Format(time.RFC3339Nano) + " " + q.key}
	if q.password != "" {
		key.key += "\x00" + p.unique()
	}
	c, _, err := p.flights.do(ctx, key, func() (func(context.Context) (*copied, error), error) {
		return func(ctx context.Context) (*copied, error) {
			ctx, cancel := context.WithTimeout(ctx, p.cfg.Timeout)
			defer cancel()
			c, err := p.fetchArchived(ctx, q, reason)
			if err != nil && ctx.Err() != nil {
				err = outOfTime(ctx, p.cfg.Timeout, err)
			}
			return c, err
		}, nil
	})
	if err != nil {
		return nil, err
	}
	return p.answerCopy(ctx, q, c)
}

// mayLeave refuses to tell a public archive of a page on the operator's own
// network.
func (p *Pipeline) mayLeave(ctx context.Context, q query) error {
	base, err := p.cfg.Guard.CheckURL(strings.ReplaceAll(p.cfg.ArchiveURL, "{url}", ""))
	if err != nil {
		return err
	}
	public, err := p.cfg.Guard.Public(ctx, base)
	if err != nil || !public {
		return err // where it may not be reached at all, the guard says so
	}
	inside, err := p.cfg.Guard.Opened(ctx, q.url)
	if err != nil {
		return err
	}
	if inside || isLocalName(q.url.Host()) {
		return sift.Fail(sift.CodeUnreachable, "the page is on a private network, and the archive is not")
	}
	return nil
}

// isLocalName says that a name can only mean something on one network (RFC 6762,
// RFC 8375, and the names that the DNS root keeps away from).
func isLocalName(host string) bool {
	host = strings.TrimSuffix(host, ".")
	if !strings.Contains(host, ".") {
		return true
	}
	return slices.ContainsFunc([]string{".local", ".localhost", ".internal", ".intranet", ".private", ".corp", ".home", ".lan", ".home.arpa"}, func(suffix string) bool {
		return strings.HasSuffix(host, suffix)
	})
}

// fromRecovered answers from a copy that an archive gave before.
func (p *Pipeline) fromRecovered(ctx context.Context, q query, maxAge *int) (*sift.Envelope, bool) {
	limit := p.ageLimit(maxAge)
	if p.cfg.Store == nil || limit == 0 {
		return nil, false
	}
	entry, ok, err := p.cfg.Store.LatestRecovered(ctx, q.caller.Class, q.key)
	if err != nil || !ok || p.now().Sub(entry.CheckedAt) > limit {
		return nil, false
	}
	var r sift.Recovered
	if json.Unmarshal(entry.Recovered, &r) != nil || r.Source != sift.SourceArchive || r.CapturedAt.Before(q.minDate) {
		return nil, false
	}
	env, err := p.answerStored(ctx, q, &copied{entry: entry, store: p.cfg.Store})
	return env, err == nil
}

// callerOf carries the caller to the getter of the archive, which is one for all.
type callerOf struct{}

// fetchArchived finds and reads an archived copy.
func (p *Pipeline) fetchArchived(ctx context.Context, q query, reason string) (*copied, error) {
	start := p.now()
	found, err := p.archive.Find(context.WithValue(ctx, callerOf{}, q.caller), q.key, archive.Wanted{NotBefore: q.minDate})
	if err != nil {
		return nil, err
	}
	defer func() { _ = found.Response.Body.Close() }() // a spool file: closing it cannot lose anything
	timing := sift.Timing{FetchMS: p.now().Sub(start).Milliseconds()}
	return p.read(ctx, q, found.Response, timing, &origin{
		finalURL: found.Base(),
		recovered: sift.Recovered{
			Source: sift.SourceArchive, CapturedAt: found.CapturedAt, URL: found.URL, Archive: found.Archive, Reason: reason,
		},
	})
}

// origin is where a response comes from that is not the page's own.
type origin struct {
	finalURL  string // of the page
	recovered sift.Recovered
}

// getArchived is how the archive is asked: through the guard and the gate, as
// everything else.
func (p *Pipeline) getArchived(ctx context.Context, raw string, accept time.Time) (*fetch.Response, error) {
	u, err := p.cfg.Guard.CheckURL(raw)
	if err != nil {
		return nil, err
	}
	caller, _ := ctx.Value(callerOf{}).(sift.Caller)
	slot, err := p.cfg.Gate.Acquire(caller.Name, u.Host())
	if err != nil {
		return nil, err
	}
	defer slot.Release()
	return p.cfg.Fetch.Get(ctx, fetch.Request{
		URL: u, Restricted: caller.Restricted, AcceptDatetime: accept,
		OnHost: func(_ context.Context, host string) error { return slot.Move(host) },
	})
}

// hintRecover adds to a failure that an archive may have the page.
func (p *Pipeline) hintRecover(q query, target sift.Target, err error) error {
	f, ok := errors.AsType[*sift.Failure](err)
	if !ok || target.Recover || f.Hint != "" || !p.mayAskArchive(q) {
		return err
	}
	gone := isGone(f.Status) || f.Status == http.StatusUnavailableForLegalReasons
	if f.Code == sift.CodeUpstream4xx && gone || f.Code == sift.CodeUnreachable {
		return f.WithHint(sift.HintRecover)
	}
	return err
}

// label says in an answer where its copy comes from.
func (p *Pipeline) label(env *sift.Envelope, asked, snapshot bool) {
	switch {
	case env.Recovered != nil:
	case env.Origin != nil && env.Origin.Source != sift.SourceLive:
		env.Recovered = env.Origin
	case asked:
		r := sift.Recovered{Source: sift.SourceLive, CapturedAt: env.Receipt.FetchedAt, URL: env.FinalURL}
		if env.Origin != nil {
			r.Reason = env.Origin.Reason
		}
		switch {
		case env.Cache.Revalidated:
			r.Source = sift.SourceRevalidated
		case snapshot && time.Duration(env.Cache.Age)*time.Second > p.cfg.TTL:
			r.Source = sift.SourceStale
		}
		if at := p.now().Add(-time.Duration(env.Cache.Age) * time.Second).UTC().Truncate(time.Second); env.Cache.Hit && at.After(r.CapturedAt) {
			r.CapturedAt = at
		}
		env.Recovered = &r
	}
}

// newArchive makes the client of the configured archive; nil: none is.
func (p *Pipeline) newArchive() (*archive.Client, error) {
	if p.cfg.ArchiveURL == "" {
		return nil, nil
	}
	c, err := archive.New(archive.Config{Base: p.cfg.ArchiveURL, Get: p.getArchived})
	if err != nil {
		return nil, fmt.Errorf("recover.archive: %w", err)
	}
	return c, nil
}
