package engine

import (
	"bytes"
	"errors"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// A module in the text format:
//
//	(import "env" "f" (func))
//	(func $a (export "a") call $b)      ;; function 1
//	(func $b)                           ;; 2
//	(func $c (export "c") i64.const -9223372036854775808 drop call 0)
//	(func $d)                           ;; 4: in the table
//	(func $e)                           ;; 5: called by nobody
func tinyModule() []byte {
	return slices.Concat([]byte("\x00asm\x01\x00\x00\x00"),
		[]byte{1, 4, 1, 0x60, 0, 0},                                    // types: one, of nothing
		[]byte("\x02\x09\x01\x03env\x01f\x00\x00"),                     // imports
		[]byte{3, 6, 5, 0, 0, 0, 0, 0},                                 // functions
		[]byte{4, 4, 1, 0x70, 0, 1},                                    // a table
		[]byte("\x07\x09\x02\x01a\x00\x01\x01c\x00\x03"),               // exports
		[]byte{9, 7, 1, 0, 0x41, 0, 0x0b, 1, 4},                        // elements
		[]byte{10, 34, 5, 4, 0, 0x10, 2, 0x0b, 4, 0, 0x01, 0x01, 0x0b}, // code: a, b
		[]byte{16, 0, 0x42, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f, 0x1a, 0x10, 0, 0x0b}, // c
		[]byte{2, 0, 0x0b, 2, 0, 0x0b}, // d, e
		[]byte("\x00\x06\x04notes"),
	)
}

// bodiesOf lists the bodies of a module's functions.
func bodiesOf(t *testing.T, module []byte) []string {
	t.Helper()
	list, err := sections(module)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, s := range list {
		if s.id == sectionCode {
			r := reader{b: s.body}
			for range r.count() {
				found = append(found, string(r.skip(r.count())))
			}
			if r.bad || r.at != len(s.body) {
				t.Fatal("the code does not end where its section does")
			}
		}
	}
	return found
}

func TestFunctionsThatNobodyCanCallAreLeftOut(t *testing.T) {
	const none = "\x00\x00\x0b" // a trap
	all := bodiesOf(t, tinyModule())
	for _, c := range []struct {
		keep string
		want []string
	}{
		{"a", []string{all[0], all[1], none, all[3], none}},
		{"c", []string{none, none, all[2], all[3], none}},
		{"ac", []string{all[0], all[1], all[2], all[3], none}},
	} {
		out, err := prune(tinyModule(), func(name string) bool { return strings.Contains(c.keep, name) })
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, bodiesOf(t, out)); diff != "" {
			t.Errorf("keeping %s: %s", c.keep, diff)
		}
		m, err := wazero.NewRuntime(t.Context()).CompileModule(t.Context(), out)
		if err != nil {
			t.Errorf("keeping %s: %v", c.keep, err)
		} else if len(m.ExportedFunctions()) != 2 {
			t.Errorf("keeping %s: exports are gone", c.keep)
		}
	}
}

func TestWhatIsNotUnderstoodOfAModuleIsRefused(t *testing.T) {
	all := func(string) bool { return true }
	for _, c := range []struct {
		name     string
		from, to string
	}{
		{"cut", "\x00\x06\x04notes", "\x00\x06\x04no"},
		{"an unknown instruction", "\x04\x00\x10\x02\x0b", "\x04\x00\xff\x02\x0b"},
		{"a function that does not exist", "\x04\x00\x10\x02\x0b", "\x04\x00\x10\x63\x0b"},
		{"an imported table", "env\x01f\x00", "env\x01f\x01"},
		{"elements of another form", "\x09\x07\x01\x00\x41", "\x09\x07\x01\x01\x41"},
		{"a body longer than its section", "\x02\x00\x0b\x02\x00\x0b", "\x02\x00\x0b\x72\x00\x0b"},
	} {
		bad := bytes.Replace(tinyModule(), []byte(c.from), []byte(c.to), 1)
		if bytes.Equal(bad, tinyModule()) {
			t.Fatalf("%s: nothing was changed", c.name)
		}
		if _, err := prune(bad, all); !errors.Is(err, errModule) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	for _, bad := range []string{"", "\x00asm", "\x00asm\x01\x00\x00\x00"} {
		if _, err := skeleton([]byte(bad), ""); !errors.Is(err, errModule) {
			t.Errorf("a skeleton of %q: %v", bad, err)
		}
	}
}

func TestTheSkeletonHasNoCodeAndAName(t *testing.T) {
	out, err := skeleton(tinyModule(), "its name")
	if err != nil {
		t.Fatal(err)
	}
	trap := "\x00\x00\x0b"
	if diff := cmp.Diff([]string{trap, trap, trap, trap, trap}, bodiesOf(t, out)); diff != "" {
		t.Error(diff)
	}
	if !bytes.Contains(out, []byte("its name")) || bytes.Contains(out, []byte("notes")) {
		t.Errorf("%q", out)
	}
}

func FuzzPrune(f *testing.F) {
	f.Add(tinyModule())
	f.Fuzz(func(t *testing.T, module []byte) {
		out, err := prune(module, func(string) bool { return true })
		if err == nil {
			if _, err := sections(out); err != nil {
				t.Errorf("what comes out is no module: %v", err)
			}
		}
		_, _ = skeleton(module, "name")
	})
}

func TestMostOfWhatPDFiumEditsIsLeftOut(t *testing.T) {
	wanted := exports()
	out, err := prune(pdfium, func(name string) bool { return slices.Contains(wanted, name) })
	if err != nil {
		t.Fatal(err)
	}
	if most := len(pdfium) * 17 / 20; len(out) > most {
		t.Errorf("%d of %d bytes are left, want at most %d", len(out), len(pdfium), most)
	}
}

func TestTheHostGivesWhatPDFiumImportsAndNothingElse(t *testing.T) {
	bones, err := skeleton(pdfium, "")
	if err != nil {
		t.Fatal(err)
	}
	r := wazero.NewRuntimeWithConfig(t.Context(), runtimeConfig())
	defer func() { _ = r.Close(t.Context()) }()
	m, err := r.CompileModule(t.Context(), bones)
	if err != nil {
		t.Fatal(err)
	}
	type signature struct{ Params, Results []api.ValueType }
	want, got := map[string]signature{}, map[string]signature{}
	for _, f := range m.ImportedFunctions() {
		module, name, _ := f.Import()
		want[module+"."+name] = signature{append([]api.ValueType{}, f.ParamTypes()...), append([]api.ValueType{}, f.ResultTypes()...)}
	}
	for module, list := range (&Engine{}).imports() {
		for _, f := range list {
			got[module+"."+f.name] = signature{valueTypes(f.params), valueTypes(f.results)}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestTheCacheIsKeyedByWhatMadeIt(t *testing.T) {
	build := func(version, sum string) *debug.BuildInfo {
		return &debug.BuildInfo{Deps: []*debug.Module{
			{Path: "github.com/klippa-app/go-pdfium", Version: "v1", Sum: "h1:a"},
			{Path: "github.com/tetratelabs/wazero", Version: version, Sum: sum},
		}}
	}
	seen := map[string]string{}
	for name, info := range map[string]*debug.BuildInfo{
		"one": build("v1", "h1:b"), "another version": build("v2", "h1:b"), "another sum": build("v1", "h1:c"), "no sum": build("v1", ""), "no information": nil,
	} {
		id := moduleID(info)
		if other, ok := seen[id]; ok && (name != "no sum" && name != "no information" || other != "no sum" && other != "no information") {
			t.Errorf("%s and %s have the name %q", name, other, id)
		}
		seen[id] = name
	}
}
