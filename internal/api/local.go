package api

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"sift.build/sift/internal/sift"
)

// onlyLocal refuses what a program on this machine would not send. Without
// callers anyone who can connect is served, and a web page that is open in a
// browser here can connect: under a name of its own that it points at the
// loopback (DNS rebinding, seen in Host), or across sites (seen in Origin and
// Sec-Fetch-Site). Keys make this needless, for no page can send one unasked.
func onlyLocal(r *http.Request) error {
	if !loopbackHost(r.Host) {
		return sift.Fail(sift.CodeUnauthorized, "no callers are configured, so that only programs on this machine may ask, "+
			"and only by a loopback name such as localhost or 127.0.0.1; the Host header names another")
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return errCrossSite()
	}
	for _, origin := range r.Header["Origin"] {
		// Opaque origins ("null") are never ours.
		u, err := url.Parse(origin)
		if err != nil || u.Host == "" || !strings.EqualFold(u.Host, r.Host) {
			return errCrossSite()
		}
	}
	return nil
}

func errCrossSite() error {
	return sift.Fail(sift.CodeUnauthorized, "no callers are configured, so that a web page of another site may not ask")
}

// loopbackHost reports whether a Host header, with or without a port, can only
// mean this machine.
func loopbackHost(host string) bool {
	if name, port, err := net.SplitHostPort(host); err == nil {
		if strings.Trim(port, "0123456789") != "" {
			return false
		}
		host = name
	} else if strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]") {
		host = host[1 : len(host)-1]
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.Unmap().IsLoopback()
	}
	// RFC 6761: localhost and every name under it resolve to the loopback.
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}
