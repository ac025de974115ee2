package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sift.build/sift/internal/pdf/pdftest"
)

func TestWordsAreTheSameHoweverTheyAreSet(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       words
	}{
		{"punctuation", "Rain, rain; (rain).", words{"Rain": 1, "rain": 2}},
		{"hyphen at a line's end", "mea-\nsure mea\u2010\n  sure mea\u00adsure measure", words{"measure": 4}},
		{"own hyphen", "forty-one forty-\none", words{"fortyone": 2}},
		{"dash", "rain - or\nsnow -\nhail", words{"rain": 1, "or": 1, "snow": 1, "hail": 1}},
		{"end of a paragraph", "rain-\n\nsnow", words{"rain": 1, "snow": 1}},
		{"end of a page", "rain-\n\fsnow", words{"rain": 1, "snow": 1}},
		{"ligatures and wide letters", "ﬁnal ｒａｉｎ", words{"final": 1, "rain": 1}},
		{"no spaces", "雨の\n音", words{"雨": 1, "の": 1, "音": 1}},
		{"directions", "\u202bשלום\u202cעולם\u202c שלו\u200dם", words{"שלום": 2, "עולם": 1}},
		{"pages", "[page 1]\n\nrain [page 2]\n\n[page 2]\n\nsnow", words{"rain": 1, "page": 1, "2": 1, "snow": 1}},
		{"nothing", " \n-\f", words{}},
	} {
		if diff := cmp.Diff(c.want, count(c.text)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
	if n := pages("[page 1]\n\nrain [page 2]\n\n[page 2]\n"); n != 2 {
		t.Errorf("%d pages", n)
	}
}

func TestAWordCountsInCommonAsOftenAsBothHaveIt(t *testing.T) {
	a, z := count("rain rain snow"), count("rain hail hail")
	if a.common(z) != 1 || z.common(a) != 1 || a.total() != 3 {
		t.Errorf("%d, %d of %d", a.common(z), z.common(a), a.total())
	}
}

func TestLinuxsFiguresOfAProcessAreRead(t *testing.T) {
	if got := highWater([]byte("Name:\tsift\nVmPeak:\t 1234567 kB\nVmHWM:\t   45678 kB\nVmRSS:\t   34567 kB\n")); got != 45678*1024 {
		t.Errorf("%d", got)
	}
	got := statCPU([]byte("4242 (a ) b) S 1 4242 4242 0 -1 4194560 2113 0 0 0 130 25 700 80 20 0 9 0 100 1 2 3"))
	if got != 9350*time.Millisecond {
		t.Errorf("%s", got)
	}
	for _, bad := range []string{"", "nonsense", "1 (x) S 1 2"} {
		if statCPU([]byte(bad)) != 0 || highWater([]byte(bad)) != 0 {
			t.Errorf("%q was read", bad)
		}
	}
}

func testBench(t *testing.T) *bench {
	t.Helper()
	return &bench{work: t.TempDir(), maxMemory: 64 << 20}
}

func TestTheCPUOfChildrenIsCounted(t *testing.T) {
	b := testBench(t)
	u, err := b.run(t.Context(), []string{"/bin/sh", "-c", `sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done'; true`})
	if err != nil {
		t.Fatal(err)
	}
	if u.cpu < 5*time.Millisecond || u.wall <= 0 {
		t.Errorf("%+v", u)
	}
	if _, err := b.run(t.Context(), []string{"/bin/sh", "-c", "echo no such file >&2; exit 3"}); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("got %v", err)
	}
}

func TestWhatAProgramWritesIsKeptAndARefusalIsSaid(t *testing.T) {
	b := testBench(t)
	s, err := b.look(t.Context(), []string{"/bin/echo", "rain"})
	if err != nil || s.text != "rain\n" || s.failed != "" {
		t.Errorf("%+v, %v", s, err)
	}
	s, err = b.look(t.Context(), []string{"/bin/sh", "-c", "echo half; echo no password >&2; exit 3"})
	if err != nil || s.text != "" || s.failed != "refused: no password" {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err = b.look(t.Context(), []string{filepath.Join(b.work, "none")}); err == nil {
		t.Error("a program that is not there has run")
	}
}

func TestAProgramThatTakesTooMuchIsEnded(t *testing.T) {
	if memoryOf(os.Getpid()) == 0 {
		t.Skip("needs Linux's /proc")
	}
	b := testBench(t)
	// dd asks for its block at once, and writes into it from the first to the last byte.
	s, err := b.look(t.Context(), []string{"dd", "if=/dev/zero", "of=/dev/null", "bs=256M", "count=1000"})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(s.failed, "ended at ") {
		t.Errorf("%+v", s)
	}
}

func TestARunEndsWithItsContext(t *testing.T) {
	b := testBench(t)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	begin := time.Now()
	if _, err := b.look(ctx, []string{"/bin/sh", "-c", "sleep 100; true"}); err == nil || time.Since(begin) > 50*time.Second {
		t.Errorf("%v after %s", err, time.Since(begin))
	}
}

func TestThePDFsThatAreGivenAndInstalledAreFound(t *testing.T) {
	b := testBench(t)
	b.dir, b.doc = t.TempDir(), t.TempDir()
	write := func(path string, data []byte) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(b.dir, "mine.pdf"), pdftest.Pages("mine"))
	write(filepath.Join(b.dir, "README.md"), nil)
	write(filepath.Join(b.doc, "shelf", "long.pdf"), pdftest.Markers(9))
	write(filepath.Join(b.doc, "shelf", "notes.txt"), nil)
	packed := pack(t, pdftest.Pages("packed"))
	write(filepath.Join(b.doc, "box", "a", "packed.pdf.gz"), packed)
	files, err := b.files()
	if err != nil {
		t.Fatal(err)
	}
	made := 0
	var rest []string
	for _, f := range files {
		data, err := os.ReadFile(f.path)
		if err != nil || !bytes.HasPrefix(data, []byte("%PDF-")) {
			t.Errorf("%s: %.10q, %v", f.name, data, err)
		}
		if strings.HasPrefix(filepath.Base(f.path), "made") {
			made++
			continue
		}
		rest = append(rest, f.name)
	}
	if made < 10 {
		t.Errorf("%d files were made", made)
	}
	if diff := cmp.Diff([]string{"mine.pdf", "long.pdf", "packed.pdf"}, rest); diff != "" {
		t.Error(diff)
	}
}

func TestOnlyWhatBothHaveReadIsAddedUp(t *testing.T) {
	second := []time.Duration{time.Second}
	rows := []row{
		{file: file{name: "a"}, pages: 1, theirs: side{cpu: second, wall: second, found: 10, memory: 10e6}, ours: side{cpu: []time.Duration{3e9, 2e9, 1e9}, wall: second, found: 8, memory: 20e6, childMemory: 50e6}, common: 8, service: second},
		{file: file{name: "b"}, theirs: side{failed: "refused: no password"}, ours: side{found: 100}},
	}
	var out bytes.Buffer
	got := total(rows)
	show(&out, rows, got)
	if got.ratio() != 2 {
		t.Errorf("%+v", got)
	}
	for _, want := range []string{
		"b: pdftotext refused: no password\n",
		"total CPU, sift convert ÷ pdftotext: 2.00 s ÷ 1.00 s = 2.00, bar ≤ 2.5: ok; in sift serve 1.00 s = 1.00\n",
		"80.0 %        100.0 %\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

func TestWrongUsageIsSaid(t *testing.T) {
	for _, args := range [][]string{{"-nonsense"}, {"argument"}, {"-n", "0"}} {
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), args, &stdout, &stderr); code != 2 || stderr.Len() == 0 {
			t.Errorf("%v: exit code %d, %q", args, code, stderr.String())
		}
	}
	for want, args := range map[string][]string{
		"make build": {"-sift", filepath.Join(t.TempDir(), "sift")},
		"deps.sh":    {"-sift", os.Args[0], "-pdftotext", "no-such-pdftotext"},
	} {
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), args, &stdout, &stderr); code != 1 || !strings.Contains(stderr.String(), want) {
			t.Errorf("%v: exit code %d, %q", args, code, stderr.String())
		}
	}
}

// cat plays pdftotext: what it finds is not the point here.
func TestTheWholeBenchRunsAgainstTheRealBinary(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a build of cmd/sift; run without -short")
	}
	dir := t.TempDir()
	binary, fake := filepath.Join(dir, "sift"), filepath.Join(dir, "pdftotext")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "sift.build/sift/cmd/sift")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	if err := os.WriteFile(fake, []byte("#!/bin/sh\nexec cat \"$1\"\n"), 0o700); err != nil { //nolint:gosec // it is to be run
		t.Fatal(err)
	}
	t.Setenv("XDG_CACHE_HOME", pdftest.CacheHome())
	t.Setenv("TMPDIR", t.TempDir())
	for _, strict := range []bool{false, true} {
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), []string{"-quick", "-sift", binary, "-pdftotext", fake, "-dir", dir, fmt.Sprintf("-strict=%v", strict)}, &stdout, &stderr)
		t.Log("\n" + stdout.String() + stderr.String())
		// No PDF reader is within 2.5 times of cat.
		if want := map[bool]int{false: 0, true: 1}[strict]; code != want || !strings.Contains(stdout.String(), "total CPU, sift convert") {
			t.Errorf("strict %v: exit code %d", strict, code)
		}
	}
	left, err := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func pack(t *testing.T, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
