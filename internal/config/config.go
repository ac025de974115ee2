// Package config turns a TOML file, the environment and the command line's
// flags into one [Config].
//
// What stands later wins: defaults, the file, the variables SIFT_SECTION_KEY,
// flags. Everything is checked while it is read, and a mistake hides no other:
// [Load] fails with one [*Error] that lists all of them, each with the place
// where it was made. A key that does not exist is a mistake; a SIFT_ variable
// that does not exist is not (see [Suspicious]).
//
// The tables in fields.go are the whole list of keys: reading, checking,
// printing and the reference in docs/configuration.md all go by them.
package config

import (
	"fmt"
	"time"
)

// Config holds the effective values. One that Load returned is valid, and its
// DataDir is absolute.
type Config struct {
	Listen  string
	DataDir string
	Metrics Metrics
	Limits  Limits
	Log     Log
	Guard   Guard
	Gate    Gate
	Fetch   Fetch
	Cache   Cache
	PDF     PDF
	Batch   Batch
	Digest  Digest
	Recover Recover
	Store   Store
	Callers []Caller
}

// Metrics is the section [metrics].
type Metrics struct {
	Listen string // "": on the main listener
}

// Limits is the section [limits].
type Limits struct {
	ChildrenMemory Size
	ParseMemory    Size
}

// Log is the section [log].
type Log struct {
	Level  string // debug, info, warn or error
	Format string // text or json
}

// Guard is the section [guard].
type Guard struct {
	Ports    []uint16
	Allow    []string
	NAT64    []string
	Resolver string // "": the system's
}

// Gate is the section [gate].
type Gate struct {
	Global    int
	PerHost   int
	PerCaller int
}

// Fetch is the section [fetch].
type Fetch struct {
	Timeout      time.Duration
	MaxBytes     Size
	MaxPDFBytes  Size
	MaxRedirects int
	UserAgent    string
	Robots       string // ignore or respect
}

// Cache is the section [cache].
type Cache struct {
	MaxBytes    Size
	TTL         time.Duration
	DigestBytes Size
	EmbedBytes  Size
}

// PDF is the section [pdf].
type PDF struct {
	Slots    int
	Queue    int
	Wait     time.Duration
	Timeout  time.Duration
	Memory   Size
	MaxPages int
	OCR      bool
}

// Batch is the section [batch].
type Batch struct {
	TargetsPerJob int
	JobsPerCaller int
	JobsTotal     int
	Workers       int
	TTL           time.Duration
	MaxBytes      Size
	OnRestart     string // fail or resume
}

// Digest is the section [digest].
type Digest struct {
	EmbeddingsURL   string
	EmbeddingsModel string
	ChatURL         string
	ChatModel       string
	KeyFile         string
	Key             Secret // from the environment alone; it counts before KeyFile
}

// Secret is a text that does not show however a Config is printed.
type Secret string

// String says whether there is one.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return "(hidden)"
}

// GoString is String.
func (s Secret) GoString() string { return s.String() }

// MarshalText is String, in JSON too.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Recover is the section [recover].
type Recover struct {
	Archive    string // "": page data only
	Restricted bool
	MaxBytes   Size
}

// Store is the section [store].
type Store struct {
	URL string // "": the SQLite file in the data directory
}

// Caller is one [[caller]]. It prints without its hash.
type Caller struct {
	Name       string
	KeySHA256  string `json:"-"` // 64 hex digits in lower case
	Class      string
	Restricted bool
}

// String names the caller without key material.
func (c Caller) String() string {
	return fmt.Sprintf("{Name:%s Class:%s Restricted:%t}", c.Name, c.Class, c.Restricted)
}

// GoString is what %#v prints: the same.
func (c Caller) GoString() string { return c.String() }

// Default holds what every key is when nothing sets it. Its DataDir is empty:
// where the XDG state folder is depends on the environment that Load is given.
func Default() Config {
	return Config{
		Listen: "127.0.0.1:8642",
		Limits: Limits{ChildrenMemory: 640 * mib, ParseMemory: 256 * mib},
		Log:    Log{Level: "info", Format: "text"},
		Guard:  Guard{Ports: []uint16{80, 443}},
		Gate:   Gate{Global: 8, PerHost: 2, PerCaller: 4},
		Fetch: Fetch{
			Timeout: 30 * time.Second, MaxBytes: 10 * mib, MaxPDFBytes: 50 * mib, MaxRedirects: 5,
			UserAgent: "sift/1 (+contact)", Robots: "ignore",
		},
		Cache: Cache{MaxBytes: 512 * mib, TTL: time.Hour, DigestBytes: 32 * mib, EmbedBytes: 64 * mib},
		PDF: PDF{
			Slots: 2, Queue: 4, Wait: 20 * time.Second, Timeout: 20 * time.Second,
			Memory: 320 * mib, MaxPages: 2000,
		},
		Batch: Batch{
			TargetsPerJob: 32, JobsPerCaller: 1, JobsTotal: 8, Workers: 2,
			TTL: 24 * time.Hour, MaxBytes: 64 * mib, OnRestart: "fail",
		},
		Recover: Recover{MaxBytes: 64 * mib},
	}
}
