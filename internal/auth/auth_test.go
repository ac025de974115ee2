package auth

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sift.build/sift/internal/sift"
)

// The key and its hash were made with printf and sha256sum.
const (
	knownKey  = "sift_abcdefghijklmnopqrstuvwxyz234567abcdefghijklmnopqrst"
	knownHash = "79b1e85342dfc2c2f08a82a2c158cb0d7dcb7d336a1fa13ecef8abc8d16908d4"
)

func entry(name, key string) Entry {
	h := sha256.Sum256([]byte(key))
	return Entry{Name: name, KeySHA256: hex.EncodeToString(h[:])}
}

func mustNew(t *testing.T, entries ...Entry) *Callers {
	t.Helper()
	c, err := New(entries)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestAKnownKeyNamesItsCaller(t *testing.T) {
	keys := make([]string, 3)
	entries := make([]Entry, 3)
	for i, name := range []string{"research", "ops", "night-watch_2"} {
		key, hash := NewKey()
		keys[i], entries[i] = key, Entry{Name: name, KeySHA256: hash}
	}
	entries[1].Class = "ops"
	entries[2].Restricted = true
	entries[2].KeySHA256 = strings.ToUpper(entries[2].KeySHA256)
	c := mustNew(t, entries...)
	want := []sift.Caller{
		{Name: "research", Class: "default"},
		{Name: "ops", Class: "ops"},
		{Name: "night-watch_2", Class: "default", Restricted: true},
	}
	for i, key := range keys {
		for _, scheme := range []string{"Bearer", "bearer", "BEARER"} {
			got, err := c.Authenticate(scheme + " " + key)
			if err != nil {
				t.Fatalf("%s: %v", want[i].Name, err)
			}
			if d := cmp.Diff(want[i], got); d != "" {
				t.Error(d)
			}
		}
	}
	if !c.Configured() {
		t.Error("Configured says no callers")
	}
}

func TestAnythingButOneKnownKeyGetsTheSameRefusal(t *testing.T) {
	key, hash := NewKey()
	other, _ := NewKey()
	c := mustNew(t, Entry{Name: "research", KeySHA256: hash, Restricted: true})
	headers := map[string]string{
		"missing":                "",
		"scheme alone":           "Bearer",
		"scheme and space":       "Bearer ",
		"padding alone":          "Bearer =",
		"unknown key":            "Bearer " + other,
		"key without scheme":     key,
		"another scheme":         "Basic " + key,
		"two spaces":             "Bearer  " + key,
		"tab":                    "Bearer\t" + key,
		"leading space":          " Bearer " + key,
		"trailing space":         "Bearer " + key + " ",
		"trailing newline":       "Bearer " + key + "\n",
		"quoted":                 `Bearer "` + key + `"`,
		"two headers":            "Bearer " + key + ", Bearer " + key,
		"right one after wrong":  "Bearer " + other + ", Bearer " + key,
		"a prefix of the key":    "Bearer " + key[:len(key)-1],
		"more than the key":      "Bearer " + key + "a",
		"padded key":             "Bearer " + key + "=",
		"key in another case":    "Bearer " + strings.ToUpper(key),
		"hash instead of key":    "Bearer " + hash,
		"name instead of key":    "Bearer research",
		"too long":               "Bearer " + key + strings.Repeat("a", maxHeader),
		"very long":              "Bearer " + strings.Repeat("a", 1<<20),
		"not ASCII":              "Bearer ｓift_" + key[5:],
		"control characters":     "Bearer \x00\x01",
		"nothing but the prefix": "Bearer " + keyPrefix,
	}
	want := sift.Failure{
		Code:    sift.CodeUnauthorized,
		Message: "this needs one valid key, sent as `Authorization: Bearer <key>`; the operator makes one with `sift key new`",
		Hint:    sift.HintAuth,
	}
	for what, header := range headers {
		t.Run(what, func(t *testing.T) {
			caller, err := c.Authenticate(header)
			f, ok := errors.AsType[*sift.Failure](err)
			if !ok {
				t.Fatalf("got %v, %v; want a failure", caller, err)
			}
			if d := cmp.Diff(want, *f); d != "" {
				t.Error(d)
			}
			if caller != (sift.Caller{}) {
				t.Errorf("a refused header named %v", caller)
			}
		})
	}
}

func TestAKeyAsLongAsTheBoundIsRead(t *testing.T) {
	key := strings.Repeat("k", maxHeader-len("Bearer "))
	c := mustNew(t, entry("long", key), entry("longer", key+"k"))
	if _, err := c.Authenticate("Bearer " + key); err != nil {
		t.Error(err)
	}
	if _, err := c.Authenticate("Bearer " + key + "k"); err == nil {
		t.Error("a header over the bound was read")
	}
}

func TestWithoutCallersEveryoneIsTheLocalCaller(t *testing.T) {
	c := mustNew(t)
	for _, header := range []string{"", "Bearer sift_whatever", "a, b"} {
		got, err := c.Authenticate(header)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(sift.Caller{Name: "local", Class: "default", Anonymous: true}, got); d != "" {
			t.Error(d)
		}
	}
	if c.Configured() {
		t.Error("Configured says there are callers")
	}
}

func TestTheZeroCallersRefusesEveryone(t *testing.T) {
	var c Callers
	if _, err := c.Authenticate("Bearer " + knownKey); err == nil {
		t.Error("a caller came out of nothing")
	}
	if !c.Configured() {
		t.Error("Configured would let the service answer without keys")
	}
}

func TestEveryWrongEntryIsNamedAtOnceAndWithoutItsValue(t *testing.T) {
	key, hash := NewKey()
	_, other := NewKey()
	_, err := New([]Entry{
		{Name: "good", KeySHA256: hash},
		{Name: "good", KeySHA256: other},
		{Name: "Bad Name", KeySHA256: strings.Repeat("0", 64)},
		{Name: "pasted", KeySHA256: key},
		{Name: "short", KeySHA256: hash[:63]},
		{Name: "not-hex", KeySHA256: hash[:63] + "g"},
		{Name: "none"},
		{Name: "again", KeySHA256: strings.ToUpper(hash)},
		{Name: "class", KeySHA256: strings.Repeat("1", 64), Class: "Ops"},
		{Name: strings.Repeat("n", 65), KeySHA256: strings.Repeat("2", 64)},
	})
	if err == nil {
		t.Fatal("no error")
	}
	want := strings.Join([]string{
		"caller 2 (good): the name is taken by an earlier caller",
		"caller 3: the name must be 1 to 64 characters of a-z, 0-9, _ and -",
		"caller 4 (pasted): the key's hash must be 64 hex digits, the SHA-256 of the whole key",
		"caller 5 (short): the key's hash must be 64 hex digits, the SHA-256 of the whole key",
		"caller 6 (not-hex): the key's hash must be 64 hex digits, the SHA-256 of the whole key",
		"caller 7 (none): the key's hash must be 64 hex digits, the SHA-256 of the whole key",
		"caller 8 (again): has the same key as caller 1 (good); give every caller a key of its own",
		"caller 9 (class): the class must be 1 to 64 characters of a-z, 0-9, _ and -",
		"caller 10: the name must be 1 to 64 characters of a-z, 0-9, _ and -",
	}, "\n")
	if d := cmp.Diff(want, err.Error()); d != "" {
		t.Error(d)
	}
	for _, secret := range []string{key, hash, other, hash[:32]} {
		if strings.Contains(strings.ToLower(err.Error()), secret) {
			t.Errorf("the error holds key material: %v", err)
		}
	}
}

func TestAWrongReplacementLeavesTheOldSet(t *testing.T) {
	key, hash := NewKey()
	c := mustNew(t, Entry{Name: "old", KeySHA256: hash})
	if err := c.Replace([]Entry{{Name: "new", KeySHA256: "no hash"}}); err == nil {
		t.Fatal("no error")
	}
	if got, err := c.Authenticate("Bearer " + key); err != nil || got.Name != "old" {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestReplacingTakesAKeyAwayAndGivesAnother(t *testing.T) {
	key1, hash1 := NewKey()
	key2, hash2 := NewKey()
	c := mustNew(t, Entry{Name: "one", KeySHA256: hash1})
	if err := c.Replace([]Entry{{Name: "two", KeySHA256: hash2}}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Authenticate("Bearer " + key1); err == nil {
		t.Error("the old key still opens")
	}
	if got, err := c.Authenticate("Bearer " + key2); err != nil || got.Name != "two" {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestACallerIsKnownByNameForAsLongAsThereIsAnEntry(t *testing.T) {
	if new(Callers).Known(LocalName) {
		t.Error("the zero set knows somebody")
	}
	open, err := New(nil)
	if err != nil {
		t.Fatal(err)
	}
	if !open.Known(LocalName) || open.Known("anna") {
		t.Error("without callers there is the local one, and nobody else")
	}
	hash := func(b byte) string { return strings.Repeat(string(b), 64) }
	c, err := New([]Entry{{Name: "anna", KeySHA256: hash('a')}, {Name: "bert", KeySHA256: hash('b')}})
	if err != nil {
		t.Fatal(err)
	}
	if !c.Known("anna") || !c.Known("bert") || c.Known(LocalName) || c.Known("") {
		t.Error("two callers")
	}
	if err := c.Replace([]Entry{{Name: "bert", KeySHA256: hash('c')}}); err != nil {
		t.Fatal(err)
	}
	if c.Known("anna") || !c.Known("bert") {
		t.Error("anna was taken out, and bert has another key")
	}
}

func TestAServiceWithKeysCannotBeOpenedByAnEmptySet(t *testing.T) {
	key, hash := NewKey()
	c := mustNew(t, Entry{Name: "one", KeySHA256: hash})
	if err := c.Replace(nil); err == nil {
		t.Fatal("the keys were given up")
	}
	if _, err := c.Authenticate(""); err == nil {
		t.Error("a request without a key was let in")
	}
	if _, err := c.Authenticate("Bearer " + key); err != nil {
		t.Error(err)
	}
	// The other way is fine: keys are added to a service that had none.
	open := mustNew(t)
	if err := open.Replace(nil); err != nil {
		t.Error(err)
	}
	if err := open.Replace([]Entry{{Name: "one", KeySHA256: hash}}); err != nil {
		t.Fatal(err)
	}
	if _, err := open.Authenticate(""); err == nil {
		t.Error("a request without a key was let in after keys were configured")
	}
}

// Both sets hold the same key for callers of another name and class: a mix of
// the two would show, and so would a moment without any.
func TestARequestSeesOneWholeSetWhileSetsAreReplaced(t *testing.T) {
	key, hash := NewKey()
	sets := [][]Entry{
		{{Name: "a", KeySHA256: hash, Class: "a"}},
		{{Name: "filler", KeySHA256: strings.Repeat("0", 64)}, {Name: "b", KeySHA256: hash, Class: "b", Restricted: true}},
	}
	want := map[sift.Caller]bool{
		{Name: "a", Class: "a"}:                   true,
		{Name: "b", Class: "b", Restricted: true}: true,
	}
	c := mustNew(t, sets[0]...)
	var wg sync.WaitGroup
	for w := range 2 {
		wg.Go(func() {
			for i := range 500 {
				if err := c.Replace(sets[(i+w)%2]); err != nil {
					t.Error(err)
					return
				}
				if err := c.Replace(nil); err == nil {
					t.Error("emptied")
				}
			}
		})
	}
	for range 4 {
		wg.Go(func() {
			for range 500 {
				if got, err := c.Authenticate("Bearer " + key); err != nil || !want[got] {
					t.Errorf("got %v, %v", got, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestNothingThatIsPrintedHoldsKeyMaterial(t *testing.T) {
	key, hash := NewKey()
	e := Entry{Name: "research", KeySHA256: hash, Class: "ops"}
	c := mustNew(t, e)
	_, failure := c.Authenticate("Bearer " + key + "x")
	var out bytes.Buffer
	for _, h := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
		slog.New(h).Info("callers", "callers", c, "entry", e, "entries", []Entry{e}, "error", failure)
	}
	for _, v := range []any{e, &e, []Entry{e}, map[string]Entry{"e": e}, struct{ E Entry }{e}, c, failure} {
		fmt.Fprintf(&out, "%v %+v %#v %s\n", v, v, v, v)
	}
	raw := sha256.Sum256([]byte(key))
	for _, secret := range []string{key, key[len(keyPrefix):][:16], hash, hash[:16], fmt.Sprint(raw[:4]), string(raw[:8])} {
		if strings.Contains(out.String(), secret) {
			t.Errorf("printed: %q", secret)
		}
	}
	if !strings.Contains(out.String(), "research") {
		t.Error("the entry's name is not printed; the test looks at nothing")
	}
}

func TestANewKeyIsRandomAndFitsItsHash(t *testing.T) {
	seen := make(map[string]bool)
	form := regexp.MustCompile(`^sift_[a-z2-7]{52}$`)
	for range 100 {
		key, hash := NewKey()
		if !form.MatchString(key) {
			t.Fatalf("key %q", key)
		}
		if seen[key] {
			t.Fatal("the same key twice")
		}
		seen[key] = true
		if want := sha256.Sum256([]byte(key)); hash != hex.EncodeToString(want[:]) {
			t.Fatal("the hash is not the key's")
		}
	}
}

func TestAHashMadeByOtherToolsFits(t *testing.T) {
	c := mustNew(t, Entry{Name: "printf", KeySHA256: knownHash})
	if _, err := c.Authenticate("Bearer " + knownKey); err != nil {
		t.Error(err)
	}
}

func TestNamesAreLowerCaseWordsOfAtMost64(t *testing.T) {
	for name, want := range map[string]bool{
		"research": true, "a": true, "0": true, "-": true, "_": true, "night-watch_2": true, strings.Repeat("a", 64): true,
		"": false, "A": false, "a b": false, "ä": false, "a.b": false, "a\n": false, strings.Repeat("a", 65): false,
	} {
		if got := ValidName(name); got != want {
			t.Errorf("ValidName(%q) = %v", name, got)
		}
	}
}

// A header comes from a stranger: nothing but one of the two configured keys
// may open, whatever the bytes.
func FuzzAuthenticate(f *testing.F) {
	c, err := New([]Entry{entry("a", "alpha"), entry("b", "beta==")})
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range []string{"", "Bearer alpha", "bearer beta==", "Bearer beta", "Basic alpha", "Bearer  alpha", "Bearer =", "Bearer \x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, header string) {
		caller, err := c.Authenticate(header)
		scheme, key, _ := strings.Cut(header, " ")
		opens := strings.ToLower(scheme) == "bearer" && (key == "alpha" || key == "beta==")
		if opens != (err == nil) || opens != (caller != sift.Caller{}) {
			t.Errorf("%q: %v, %v", header, caller, err)
		}
	})
}
