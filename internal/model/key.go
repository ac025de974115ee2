package model

import (
	"log/slog"
	"strings"
)

// Key is what the endpoints are asked with, as a bearer token. However it is
// printed, logged or encoded, it does not show. The zero Key is none.
type Key struct {
	// A function, since fmt prints the unexported fields of what holds a Key
	// without asking its methods.
	reveal func() string
}

// NewKey makes a Key. White space around it, as of a file's last line, is not
// part of it; an empty one is the zero Key.
func NewKey(secret string) Key {
	secret = strings.TrimSpace(secret)
	if secret == "" {
		return Key{}
	}
	return Key{reveal: func() string { return secret }}
}

func (k Key) secret() string {
	if k.reveal == nil {
		return ""
	}
	return k.reveal()
}

// String says whether there is a key.
func (k Key) String() string {
	if k.reveal == nil {
		return "no key"
	}
	return "a key"
}

// GoString is String.
func (k Key) GoString() string { return k.String() }

// LogValue is String.
func (k Key) LogValue() slog.Value { return slog.StringValue(k.String()) }

// MarshalText is String, in JSON too.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }
