package main

import (
	"fmt"
	"net"
	"net/netip"

	"github.com/spf13/pflag"

	"sift.build/sift/internal/client"
)

// remote says which server a command asks, and with which key.
type remote struct {
	url         string
	keyFile     string
	unencrypted bool

	flags *pflag.FlagSet
}

// addTo defines the flags. without says whom the command asks when no server is
// named.
func (r *remote) addTo(f *pflag.FlagSet, without string) {
	r.flags = f
	f.StringVar(&r.url, "server", "", "ask the sift server at `URL` (default $SIFT_URL"+without+")")
	f.StringVar(&r.keyFile, "key-file", "", "`FILE` with the key for the server (default: $SIFT_KEY)")
	f.BoolVar(&r.unencrypted, "send-key-unencrypted", false, "send the key over plain http to another machine, where everybody on the way can read it")
}

// server is the one that was named: by the flag, which may name none, else by
// the environment. "" is none.
func (r *remote) server(p *program) string {
	if r.flags.Changed("server") {
		return r.url
	}
	return p.env("SIFT_URL")
}

// connect makes the client of a server. It does not ask it anything yet.
func (r *remote) connect(p *program, server string) (*client.Client, error) {
	key, err := p.key(r.keyFile)
	if err != nil {
		return nil, err
	}
	cfg := client.Config{URL: server, Key: key, SendKeyUnencrypted: r.unencrypted}
	c, err := client.New(cfg)
	if err != nil {
		cfg.SendKeyUnencrypted = true
		if _, other := client.New(cfg); other == nil {
			err = fmt.Errorf("%w (--send-key-unencrypted)", err)
		}
		return nil, &usageError{err: err}
	}
	return c, nil
}

// ownServer is the address of the server that this configuration would start.
func (p *program) ownServer() (string, error) {
	cfg, err := p.loadWithoutStore()
	if err != nil {
		return "", err
	}
	host, port, err := net.SplitHostPort(cfg.Listen)
	if err != nil {
		return "", fmt.Errorf("the configured address: %w", err)
	}
	if port == "0" {
		return "", usagef("listen = %q is any free port, so that the server cannot be found by it; name the server with --server or $SIFT_URL", cfg.Listen)
	}
	// One that listens everywhere is reached on this machine's own address.
	if host == "" {
		host = "127.0.0.1"
	}
	if addr, err := netip.ParseAddr(host); err == nil && addr.Unmap().IsUnspecified() {
		host = "127.0.0.1"
		if addr.Unmap().Is6() {
			host = "::1"
		}
	}
	return "http://" + net.JoinHostPort(host, port), nil
}
