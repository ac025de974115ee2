// Package auth says who is asking: it turns the Authorization header of a
// request into a [sift.Caller].
//
// Keys are never stored. A [Callers] holds the SHA-256 of every configured
// key; a presented key is hashed and compared with all of them in constant
// time. Whatever is wrong with a header, the answer is one and the same
// failure, so that nobody learns which names or keys exist.
//
// With no callers configured, everyone is the one local caller: whoever builds
// the service must then listen on loopback only. The zero Callers knows no
// caller at all and refuses everyone.
package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"sift.build/sift/internal/sift"
)

const (
	// keyPrefix begins every key that NewKey makes, so that a key is known as
	// one where it should not be: in a commit, in a log, in a configuration
	// that wants its hash.
	keyPrefix = "sift_"

	// DefaultClass is the class of a caller whose entry names none, and of the
	// local caller: a service without keys and the command line without a
	// server read and fill the same part of the cache.
	DefaultClass = "default"

	// LocalName is the name of the one caller when none are configured.
	LocalName = "local"

	maxName   = 64  // bytes of a caller's or a class's name
	maxHeader = 512 // bytes of an Authorization header; our keys need 64
	keyBytes  = 32  // of randomness in a key
)

// An Entry is one configured caller. It prints without its hash.
type Entry struct {
	Name       string // a-z, 0-9, _ and -, at most 64; unique
	KeySHA256  string `json:"-"` // 64 hex digits: the SHA-256 of the whole key; unique
	Class      string // as Name; "": DefaultClass
	Restricted bool
}

// String names the entry without key material.
func (e Entry) String() string {
	return fmt.Sprintf("{Name:%s Class:%s Restricted:%t}", e.Name, e.Class, e.Restricted)
}

// GoString is what %#v prints: the same.
func (e Entry) GoString() string { return e.String() }

// LogValue is what slog prints: the same.
func (e Entry) LogValue() slog.Value { return slog.StringValue(e.String()) }

// Callers is the set of those who may ask. It is safe for concurrent use.
type Callers struct {
	replacing sync.Mutex // one Replace at a time
	set       atomic.Pointer[set]
}

// set is never changed once it is stored.
type set struct {
	open  bool // no callers configured: everyone is the local caller
	known []known
}

type known struct {
	hash   [sha256.Size]byte
	caller sift.Caller
}

// New makes the set of callers. With no entries everyone is the local caller.
// The error names every wrong entry.
func New(entries []Entry) (*Callers, error) {
	c := &Callers{}
	if err := c.Replace(entries); err != nil {
		return nil, err
	}
	return c, nil
}

// Replace puts a new set in the place of the old one, in one step: a request
// sees either the whole old set or the whole new one. On an error, which names
// every wrong entry, the old set stays.
//
// A set with callers cannot be replaced by one without: a file emptied by
// mistake would open a service that listens to the network. That takes a
// restart, where the listening address is judged again.
func (c *Callers) Replace(entries []Entry) error {
	next, err := newSet(entries)
	if err != nil {
		return err
	}
	c.replacing.Lock()
	defer c.replacing.Unlock()
	if now := c.set.Load(); now != nil && !now.open && next.open {
		return errors.New("no callers in the new configuration: the old ones stay; to run without keys, restart sift")
	}
	c.set.Store(next)
	return nil
}

// newSet checks the entries and hashes nothing: they hold hashes already.
func newSet(entries []Entry) (*set, error) {
	s := &set{open: len(entries) == 0, known: make([]known, 0, len(entries))}
	var wrong []error
	names := make(map[string]bool, len(entries))
	owner := make(map[[sha256.Size]byte]string, len(entries))
	for i, e := range entries {
		who := fmt.Sprintf("caller %d", i+1)
		if ValidName(e.Name) {
			who += fmt.Sprintf(" (%s)", e.Name)
			if names[e.Name] {
				wrong = append(wrong, fmt.Errorf("%s: the name is taken by an earlier caller", who))
			}
			names[e.Name] = true
		} else {
			wrong = append(wrong, fmt.Errorf("%s: the name must be 1 to %d characters of a-z, 0-9, _ and -", who, maxName))
		}
		class := e.Class
		if class == "" {
			class = DefaultClass
		}
		if !ValidName(class) {
			wrong = append(wrong, fmt.Errorf("%s: the class must be 1 to %d characters of a-z, 0-9, _ and -", who, maxName))
		}
		hash, ok := parseHash(e.KeySHA256)
		if !ok {
			// The value is not shown: it may be the key itself.
			wrong = append(wrong, fmt.Errorf("%s: the key's hash must be 64 hex digits, the SHA-256 of the whole key", who))
			continue
		}
		if other, taken := owner[hash]; taken {
			wrong = append(wrong, fmt.Errorf("%s: has the same key as %s; give every caller a key of its own", who, other))
		}
		owner[hash] = who
		s.known = append(s.known, known{hash, sift.Caller{Name: e.Name, Class: class, Restricted: e.Restricted}})
	}
	if len(wrong) > 0 {
		return nil, errors.Join(wrong...)
	}
	return s, nil
}

// Configured reports whether there are callers with keys; without any,
// everyone is the local caller.
func (c *Callers) Configured() bool {
	s := c.set.Load()
	return s == nil || !s.open
}

// Known reports whether there is still a caller of that name: what was begun
// for one who is not may have to be given up.
func (c *Callers) Known(name string) bool {
	s := c.set.Load()
	switch {
	case s == nil:
		return false
	case s.open:
		return name == LocalName
	}
	return slices.ContainsFunc(s.known, func(k known) bool { return k.caller.Name == name })
}

// String says how many callers there are, without names or key material.
func (c *Callers) String() string {
	switch s := c.set.Load(); {
	case s == nil:
		return "no caller at all"
	case s.open:
		return "the local caller"
	default:
		return fmt.Sprintf("%d callers", len(s.known))
	}
}

// GoString is what %#v prints: the same.
func (c *Callers) GoString() string { return c.String() }

// LogValue is what slog prints: the same.
func (c *Callers) LogValue() slog.Value { return slog.StringValue(c.String()) }

// Authenticate finds the caller whose key the Authorization header holds. It
// takes the header as it came, "" for none; several headers, joined by ", " as
// HTTP does, are refused like a wrong key. The error is always the same
// *sift.Failure, whether the header is missing, malformed or holds an unknown
// key.
func (c *Callers) Authenticate(authorization string) (sift.Caller, error) {
	s := c.set.Load()
	if s == nil {
		return sift.Caller{}, unauthorized()
	}
	if s.open {
		return Local(), nil
	}
	key := bearer(authorization)
	if key == "" {
		return sift.Caller{}, unauthorized()
	}
	// Every entry is compared, with no way out at the first match, so that the
	// time says nothing about which caller it was or whether there is one.
	hash := sha256.Sum256([]byte(key))
	found := -1
	for i := range s.known {
		found = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(hash[:], s.known[i].hash[:]), i, found)
	}
	if found < 0 {
		return sift.Caller{}, unauthorized()
	}
	return s.known[found].caller, nil
}

// Local is the one caller when none are configured, and the command line when
// it works without a server.
func Local() sift.Caller {
	return sift.Caller{Name: LocalName, Class: DefaultClass, Anonymous: true}
}

func unauthorized() *sift.Failure {
	return sift.Fail(sift.CodeUnauthorized, "this needs one valid key, sent as `Authorization: Bearer <key>`; the operator makes one with `sift key new`").
		WithHint(sift.HintAuth)
}

// bearer takes the key out of `Bearer <key>`, as RFC 6750 section 2.1 writes
// it: the scheme in any case, one space, one token68. "" if it is anything
// else.
func bearer(header string) string {
	if len(header) > maxHeader {
		return ""
	}
	scheme, key, ok := strings.Cut(header, " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	body := strings.TrimRight(key, "=")
	if body == "" {
		return ""
	}
	for _, b := range []byte(body) {
		if !isAlnum(b) && !strings.ContainsRune("-._~+/", rune(b)) {
			return ""
		}
	}
	return key
}

func isAlnum(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9'
}

// ValidName reports whether s may be the name of a caller or of a class.
func ValidName(s string) bool {
	if s == "" || len(s) > maxName {
		return false
	}
	for _, b := range []byte(s) {
		if !('a' <= b && b <= 'z' || '0' <= b && b <= '9' || b == '_' || b == '-') {
			return false
		}
	}
	return true
}

// parseHash reads the SHA-256 of a key as an Entry holds it.
func parseHash(s string) (hash [sha256.Size]byte, ok bool) {
	if len(s) != hex.EncodedLen(sha256.Size) {
		return hash, false
	}
	_, err := hex.Decode(hash[:], []byte(s))
	return hash, err == nil
}

// NewKey makes a key from 32 random bytes and the hash that the configuration
// holds in its place. The key is shown once and kept nowhere.
func NewKey() (key, sha256hex string) {
	var random [keyBytes]byte
	rand.Read(random[:]) // never fails: the runtime ends the program instead
	// Base32 in lower case: one word to a double click, no letter that is
	// mistaken for a digit, nothing to escape in a shell, a URL or a file.
	key = keyPrefix + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(random[:]))
	hash := sha256.Sum256([]byte(key))
	return key, hex.EncodeToString(hash[:])
}
