package guard

import (
	"net/netip"
	"strconv"

	"sift.build/sift/internal/sift"
)

// AddressError is what DialContext returns when an address is refused. It is
// the guard's decision and not a fault of the network: nothing was connected.
type AddressError struct {
	Host string     // what was to be reached: a name, or the address as a literal
	Addr netip.Addr // the address that was refused, IPv4-mapped ones as IPv4
	Port uint16

	why        string // for the brackets behind the address
	note       string // for Explain: what an exception near it does not do
	closedPort bool   // the address is fine, but the port is open for others only
}

// Error is the text of the failure for an unrestricted caller.
func (e *AddressError) Error() string { return e.message(true) }

// Failure is the refusal for a caller. A restricted caller is not told an
// address, unless Host is that very literal. For a redirect, which the caller
// did not write, empty Host in a copy first.
func (e *AddressError) Failure(restricted bool) *sift.Failure {
	return &sift.Failure{
		Code:    sift.CodeBlocked,
		Message: e.message(!restricted || e.hostIsAddr()),
		Cause:   e,
	}
}

func (e *AddressError) hostIsAddr() bool {
	literal, err := netip.ParseAddr(e.Host)
	return err == nil && literal.Unmap() == e.Addr
}

func (e *AddressError) message(withAddr bool) string {
	if e.closedPort {
		whom := "this host"
		if withAddr {
			whom = e.Addr.String()
		}
		return "port " + strconv.Itoa(int(e.Port)) + " is not open for " + whom +
			"; [guard] allow opens it for other addresses only"
	}
	if !withAddr {
		return "private address"
	}
	text := "private address"
	if e.Addr.IsValid() {
		text += " " + e.Addr.String()
	}
	if e.why != "" {
		text += " (" + e.why + ")"
	}
	return text
}

// Refused finds a refusal of the guard anywhere in err: behind url.Error,
// net.OpError and errors.Join too, in whatever order the connections were
// tried. For a restricted caller ask for the *AddressError in the chain and
// use its Failure.
func Refused(err error) (*sift.Failure, bool) {
	switch e := err.(type) {
	case nil:
		return nil, false
	case *AddressError:
		return e.Failure(false), true
	case *sift.Failure:
		if e.Code == sift.CodeBlocked {
			return e, true
		}
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		return Refused(e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, err := range e.Unwrap() {
			if f, ok := Refused(err); ok {
				return f, true
			}
		}
	}
	return nil, false
}

func blocked(format string, args ...any) *sift.Failure {
	return sift.Fail(sift.CodeBlocked, format, args...)
}
