package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"sift.build/sift/internal/pdf/pdftest"
)

// built makes the real binary once for a test.
func built(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a build of cmd/sift; run without -short")
	}
	t.Setenv("XDG_CACHE_HOME", pdftest.CacheHome()) // or the PDF engine would be compiled once more
	binary := filepath.Join(t.TempDir(), "sift")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "sift.build/sift/cmd/sift")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return binary
}

// leftovers lists what a demo keeps while it runs, in a folder for temporary
// files of the test's own.
func leftovers(t *testing.T) (list func() []string) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	return func() []string {
		found, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
}

func TestWithTheRealBinary(t *testing.T) {
	binary := built(t) // linking takes longer than the demo: once for both

	t.Run("the whole demo goes as expected and leaves nothing behind", func(t *testing.T) {
		left := leftovers(t)
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), []string{"-sift", binary}, &stdout, &stderr, false)
		t.Log("\n" + stdout.String() + stderr.String())
		if code != 0 {
			t.Errorf("exit code %d", code)
		}
		if !regexp.MustCompile(`(?m)^demo: (\d+) of (\d+) steps as expected in [0-9.]+ m?s\n\z`).MatchString(stdout.String()) {
			t.Error("the last line is not the verdict")
		}
		if strings.Contains(stdout.String(), "\x1b") {
			t.Error("colour codes where nobody sees colours")
		}
		if got := left(); len(got) > 0 {
			t.Errorf("left behind: %v", got)
		}
	})

	t.Run("an interrupted demo cleans up", func(t *testing.T) {
		left := leftovers(t)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		// The first step that is printed is the moment to interrupt.
		out := writer(func(b []byte) {
			if bytes.Contains(b, []byte("curl")) {
				cancel()
			}
		})
		var stderr bytes.Buffer
		code := run(ctx, []string{"-sift", binary}, out, &stderr, false)
		if code != 1 || !strings.Contains(stderr.String(), "interrupted") {
			t.Errorf("exit code %d, %q", code, stderr.String())
		}
		if got := left(); len(got) > 0 {
			t.Errorf("left behind: %v", got)
		}
	})
}

type writer func([]byte)

func (w writer) Write(b []byte) (int, error) { w(b); return len(b), nil }

func TestADemoWithoutABinaryNamesTheWayToOne(t *testing.T) {
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), []string{"-sift", filepath.Join(t.TempDir(), "sift")}, &stdout, &stderr, false)
	if code != 1 || !strings.Contains(stderr.String(), "make build") {
		t.Errorf("exit code %d, %q", code, stderr.String())
	}
}

func TestAWrongFlagIsAUsageError(t *testing.T) {
	for _, args := range [][]string{{"-nonsense"}, {"argument"}} {
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), args, &stdout, &stderr, false); code != 2 || stderr.Len() == 0 {
			t.Errorf("%v: exit code %d, %q", args, code, stderr.String())
		}
	}
}

func TestAFaultIsMarkedAndNamed(t *testing.T) {
	var out bytes.Buffer
	d := &demo{out: &transcript{w: &out}}
	good, err := d.walk(t.Context(), []namedStep{
		{"Fine", func(_ context.Context, s *step) error { s.expect(true, "nothing"); return nil }},
		{"Not fine", func(_ context.Context, s *step) error { s.expect(false, "5, got %d", 6); return nil }},
		{"Impossible", func(context.Context, *step) error { return os.ErrClosed }},
	})
	if err != nil || good != 1 {
		t.Errorf("%d good, %v", good, err)
	}
	for _, want := range []string{"Fine  ok", "Not fine  NOT AS EXPECTED", "expected 5, got 6", "file already closed"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing:\n%s", want, out.String())
		}
	}
	if err := d.verdict(good, 3, time.Now()); err == nil || !strings.Contains(err.Error(), "2 of 3") {
		t.Errorf("got %v", err)
	}
}

func TestWhatAPageSaysCannotDriveTheTerminal(t *testing.T) {
	var out bytes.Buffer
	tr := &transcript{w: &out}
	s := &step{title: "x"}
	s.quote("a\x1b[2Jb\u202Ec", 3)
	s.show("title", "%s", "\x07bell")
	s.expect(false, "%s", "\x1b]0;title\x07")
	tr.print(1, s, 0)
	if strings.ContainsAny(out.String(), "\x1b\x07\u202E") {
		t.Errorf("%q", out.String())
	}
}

func TestLinesAreCutAndWrappedByColumns(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{
		{"short", 10, "short"},
		{"exactly ten", 11, "exactly ten"},
		{"one too many", 11, "one too ma…"},
		{"コーヒー", 8, "コーヒー"},
		{"コーヒー", 7, "コーヒ…"},
	} {
		if got := cut(c.in, c.n); got != c.want {
			t.Errorf("cut(%q, %d) = %q, want %q", c.in, c.n, got, c.want)
		}
	}
	if got := strings.Join(wrap("one two three four", 9), "/"); got != "one two/three/four" {
		t.Errorf("wrap: %q", got)
	}
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000"} {
		if got := group(n); got != want {
			t.Errorf("group(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestQuotedContentSaysHowMuchIsLeftOut(t *testing.T) {
	s := &step{}
	s.quote("# One\n\ntwo\n\nthree\nfour\n", 2)
	got := make([]string, 0, len(s.lines))
	for _, l := range s.lines {
		got = append(got, l.text)
	}
	if strings.Join(got, "/") != "# One/two/… (2 more lines)" {
		t.Errorf("%q", got)
	}
}
