package guard

import (
	"context"
	"errors"
	"net/netip"

	"sift.build/sift/internal/sift"
)

// The decisions that Explain reports.
const (
	VerdictAllow      = "allow"      // every address may be connected to
	VerdictRefused    = "refused"    // by the pre-check
	VerdictBlocked    = "blocked"    // by one of its addresses
	VerdictUnresolved = "unresolved" // the name has no address, or could not be looked up
)

// Verdict is what the guard decides about one URL, and why.
type Verdict struct {
	URL       string       `json:"url"` // as it was asked for
	Verdict   string       `json:"verdict"`
	Reason    string       `json:"reason"`
	Addresses []netip.Addr `json:"addresses"` // all that the name has; never null
}

// Explain says what would happen to a URL. It looks the name up but connects
// to nothing but the name server. It is for an operator: the reason may hold
// an address.
func (g *Guard) Explain(ctx context.Context, raw string) Verdict {
	v := Verdict{URL: raw, Addresses: []netip.Addr{}}
	u, err := g.CheckURL(raw)
	if err != nil {
		v.Verdict, v.Reason = VerdictRefused, sift.AsFailure(err).Message
		return v
	}
	addrs := []netip.Addr{u.addr}
	if !u.Literal() {
		if addrs, err = g.resolve(ctx, u.host); err != nil {
			v.Verdict, v.Reason = VerdictUnresolved, "the lookup of "+u.host+" was ended before it had an answer"
			if f, ok := errors.AsType[*sift.Failure](err); ok {
				v.Reason = f.Message
			}
			return v
		}
	}
	v.Addresses = addrs
	opened, refused := g.judgeAll(u.host, addrs, u.port)
	switch {
	case refused != nil:
		v.Verdict, v.Reason = VerdictBlocked, refused.Error()
		if refused.note != "" {
			v.Reason += "; " + refused.note
		}
	case opened != "":
		v.Verdict, v.Reason = VerdictAllow, "opened by the exception "+opened
	default:
		v.Verdict, v.Reason = VerdictAllow, "every address is a public one"
	}
	return v
}

// Opened says whether an exception of the configuration is what lets a URL's host
// be reached: whether it stands on the operator's own network. A name that cannot
// be looked up now is not opened.
func (g *Guard) Opened(ctx context.Context, u *URL) (bool, error) {
	opened, _, err := g.reach(ctx, u)
	return opened, err
}

// Public says whether a URL's host may be reached and needs no exception for it.
func (g *Guard) Public(ctx context.Context, u *URL) (bool, error) {
	opened, refused, err := g.reach(ctx, u)
	return !opened && !refused, err
}

// reach judges all addresses of a host. A name that cannot be looked up now is
// refused.
func (g *Guard) reach(ctx context.Context, u *URL) (opened, refused bool, err error) {
	addrs := []netip.Addr{u.addr}
	if !u.Literal() {
		if addrs, err = g.resolve(ctx, u.host); err != nil {
			if ctx.Err() != nil {
				return false, true, err
			}
			return false, true, nil
		}
	}
	by, bad := g.judgeAll(u.host, addrs, u.port)
	return by != "", bad != nil, nil
}
