package batch

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"sift.build/sift/internal/sift"
)

// outside are the fields of a target that are not in its canonical form: a
// password is refused.
func outside() []string { return []string{"Password"} }

// filled is a target in which each field but those has a value that is not its
// default.
func filled(t *testing.T) sift.Target {
	t.Helper()
	var target sift.Target
	v := reflect.ValueOf(&target).Elem()
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		if slices.Contains(outside(), name) {
			continue
		}
		set(t, name, v.Field(i))
	}
	return target
}

func set(t *testing.T, name string, f reflect.Value) {
	t.Helper()
	switch f.Kind() {
	case reflect.String:
		f.SetString("a " + name)
	case reflect.Int:
		f.SetInt(7)
	case reflect.Float64:
		f.SetFloat(7.5)
	case reflect.Bool:
		f.SetBool(true)
	case reflect.Pointer:
		f.Set(reflect.New(f.Type().Elem()))
		set(t, name, f.Elem())
	default:
		t.Fatalf("%s is a %s, which this test cannot fill", name, f.Type())
	}
}

func key(t *testing.T, caller string, targets ...sift.Target) string {
	t.Helper()
	list := []canonical{}
	for _, target := range targets {
		list = append(list, Config{MaxAge: 3600, Timeout: 20}.canonical(target.URL, optionsOf(target)))
	}
	k, err := idemKey(caller, list)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// A field that is new in sift.Target must be stored and told apart, or stand in
// the list of those outside.
func TestEveryFieldOfATargetIsStoredAndInItsKey(t *testing.T) {
	full := filled(t)
	stored, err := sift.EncodeJSON(optionsOf(full))
	if err != nil {
		t.Fatal(err)
	}
	back, err := NewTarget{URL: full.URL, Options: stored}.target()
	if err != nil || !reflect.DeepEqual(back, full) {
		t.Errorf("stored %+v, and read %+v, %v", full, back, err)
	}
	v := reflect.ValueOf(full)
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		less := full
		reflect.ValueOf(&less).Elem().Field(i).SetZero()
		same := key(t, "a", full) == key(t, "a", less)
		if same != slices.Contains(outside(), name) {
			t.Errorf("without %s the key is the same: %v", name, same)
		}
	}
}

func TestTheCanonicalFormIsCompactInAFixedOrderWithDefaults(t *testing.T) {
	age, timeout := 0, 2.5
	c := Config{MaxAge: 3600, Timeout: 20}
	list := []canonical{
		c.canonical("http://one/", optionsOf(sift.Target{})),
		c.canonical("http://two/?a&b", optionsOf(sift.Target{
			Mode: sift.ModeText, Question: "q", Pages: "1-3", Section: "s", Grep: "<b>", JQ: ".", Context: true, Recover: true, MinDate: "2026-01-02", MaxAge: &age, MaxChars: 10, Offset: 5, Snapshot: "s", Timeout: &timeout,
		})),
	}
	const want = `[{"url":"http://one/","mode":"clean","question":"","pages":"","section":"","grep":"","jq":"","context":false,"recover":false,"min_date":"","max_age":3600,"max_chars":100000,"offset":0,"snapshot":"","timeout":20},` +
		`{"url":"http://two/?a&b","mode":"text","question":"q","pages":"1-3","section":"s","grep":"<b>","jq":".","context":true,"recover":true,"min_date":"2026-01-02T00:00:00Z","max_age":0,"max_chars":10,"offset":5,"snapshot":"s","timeout":2.5}]`
	got, err := sift.EncodeJSON(list)
	if err != nil || string(got) != want {
		t.Errorf("%s, %v", got, err)
	}
	sum := sha256.Sum256([]byte("a\x00" + want))
	if k, err := idemKey("a", list); err != nil || k != hex.EncodeToString(sum[:]) {
		t.Errorf("the key is %s, %v", k, err)
	}
}

func TestDefaultsAreTheSameWrittenOutOrNot(t *testing.T) {
	plain := sift.Target{URL: "http://one/"}
	own, longest := 3600, 20.0
	spelled := sift.Target{URL: "http://one/", Mode: sift.ModeClean, MaxAge: &own, MaxChars: sift.DefaultMaxChars, Timeout: &longest}
	if key(t, "a", plain) != key(t, "a", spelled) {
		t.Error("two keys")
	}
	age := 0
	fresh := sift.Target{URL: "http://one/", MaxAge: &age}
	for name, other := range map[string]string{
		"a fresh copy":   key(t, "a", fresh),
		"another caller": key(t, "b", plain),
		"twice":          key(t, "a", plain, plain),
		"none":           key(t, "a"),
	} {
		if other == key(t, "a", plain) {
			t.Errorf("%s has the same key", name)
		}
	}
}

func FuzzWhatIsStoredOfATargetIsReadBack(f *testing.F) {
	f.Add("http://one/", "text", "1-3", "<a>\u2028\x00", "copy", 1, 2, 3, 4.5)
	f.Fuzz(func(t *testing.T, url, mode, pages, grep, snapshot string, age, chars, offset int, timeout float64) {
		want := sift.Target{
			URL: url, Mode: sift.Mode(mode), Pages: pages, Grep: grep, Snapshot: snapshot,
			MaxAge: &age, MaxChars: chars, Offset: offset, Timeout: &timeout,
		}
		if storable(want) != nil {
			return
		}
		stored, err := sift.EncodeJSON(optionsOf(want))
		if err != nil || !json.Valid(stored) || strings.Contains(string(stored), "\n") {
			t.Fatalf("%s, %v", stored, err)
		}
		got, err := NewTarget{URL: url, Options: stored}.target()
		if err != nil {
			t.Fatal(err)
		}
		if want.Mode == "" {
			want.Mode = sift.ModeClean
		}
		if want.MaxChars == 0 {
			want.MaxChars = sift.DefaultMaxChars
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("stored %+v, and read %+v", want, got)
		}
	})
}
