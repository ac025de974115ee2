package child

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"
)

// pipe is one whose other end somebody keeps open.
func pipe(t *testing.T, content string) (*stream, *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	if _, err := w.WriteString(content); err != nil {
		t.Fatal(err)
	}
	return &stream{f: r}, w
}

func TestAPipeThatSomebodyKeepsOpenEndsWithTheChild(t *testing.T) {
	content := strings.Repeat("x", 50_000)
	s, w := pipe(t, content)
	s.expire()
	got, err := io.ReadAll(s)
	if err != nil || string(got) != content {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if n, err := s.Read(make([]byte, 10)); n != 0 || err != io.EOF {
		t.Errorf("%d, %v", n, err)
	}

	// A Read that waits already is ended.
	s, _ = pipe(t, "")
	done := make(chan error)
	go func() {
		_, err := s.Read(make([]byte, 10))
		done <- err
	}()
	s.expire()
	if err := <-done; err != io.EOF {
		t.Error(err)
	}

	// And so is one of a pipe that nobody writes to any more.
	w.Close()
	s.f.Close()
	if _, err := s.Read(make([]byte, 10)); err != io.EOF {
		t.Error(err)
	}
}

func TestAnOutputIsReadToItsBoundAndNoFurther(t *testing.T) {
	for _, c := range []struct {
		length, bound int
		over          bool
	}{{0, 1, false}, {9, 10, false}, {10, 10, false}, {11, 10, true}, {30_000, 10, true}, {30_000, 29_999, true}, {30_000, 30_000, false}} {
		content := strings.Repeat("0123456789", 3000)[:c.length]
		for _, read := range []func(io.Reader) io.Reader{iotest.OneByteReader, iotest.HalfReader, func(r io.Reader) io.Reader { return r }} {
			s, w := pipe(t, content)
			w.Close()
			over := false
			o := &output{stream: s, left: int64(c.bound), over: func() { over = true }}
			if n, err := o.Read(nil); n != 0 || err != nil {
				t.Errorf("an empty Read gives %d, %v", n, err)
			}
			got, err := io.ReadAll(read(o))
			if want := content[:min(c.length, c.bound)]; err != nil || string(got) != want || over != c.over || !o.done {
				t.Errorf("%+v: %d bytes, over %v, done %v, %v", c, len(got), over, o.done, err)
			}
			if n, err := o.Read(make([]byte, 1)); n != 0 || err != io.EOF {
				t.Errorf("after the end: %d, %v", n, err)
			}
		}
	}
}

func TestTheBeginningAndTheEndOfStandardErrorAreKept(t *testing.T) {
	var all bytes.Buffer
	for i := range 2000 {
		fmt.Fprintf(&all, "line %04d\n", i)
	}
	for _, length := range []int{0, 100, 1023, 1024, 1025, 4095, 4096, 4097, 5000, 20_000} {
		b := all.Bytes()[:length]
		want := string(b)
		if length > 4096 {
			want = string(b[:1024]) + "\n[…]\n" + string(b[length-3072:])
		}
		want = strings.TrimRight(want, "\n")
		for _, piece := range []int{1, 7, 4096} {
			var tl tail
			for rest := b; len(rest) > 0; {
				n := min(piece, len(rest))
				tl.add(rest[:n])
				rest = rest[n:]
			}
			if got := tl.text(); got != want {
				t.Errorf("of %d bytes in pieces of %d: %q", length, piece, got)
			}
			if tl.total != int64(length) || len(tl.head) > headStderr || len(tl.end) > headStderr+tailStderr {
				t.Errorf("of %d bytes it keeps %d and %d", length, len(tl.head), len(tl.end))
			}
		}
	}
}

func TestWordsOfMissingMemoryAreFoundWhereverTheyStand(t *testing.T) {
	for text, want := range map[string]bool{
		"fatal error: runtime: out of memory":                   true,
		"runtime: cannot allocate memory":                       true,
		"sh: 1: Cannot allocate memory":                         true,
		"Out of memory!":                                        true,
		"what():  std::bad_alloc":                               true,
		"panic: runtime error: index out of range":              false,
		"error: out of  memory, out\nof memory, bad\x00_alloc.": false,
	} {
		text = strings.Repeat("a", 3000) + text + strings.Repeat("z", 9000)
		for _, piece := range []int{1, 5, 1000, len(text)} {
			var tl tail
			for rest := text; rest != ""; {
				n := min(piece, len(rest))
				tl.add([]byte(rest[:n]))
				rest = rest[n:]
			}
			if tl.memory != want {
				t.Errorf("%q in pieces of %d: %v", strings.Trim(text, "az"), piece, tl.memory)
			}
		}
	}
}

func TestStandardErrorIsFitForALog(t *testing.T) {
	var tl tail
	tl.add([]byte("tab\tline\ncolour \x1b[31m, return \r, right to left \u202e, C1 \u0085, broken \xff, umlaut ü\n\n"))
	if got, want := tl.text(), "tab\tline\ncolour \uFFFD[31m, return \uFFFD, right to left \uFFFD, C1 \uFFFD, broken \uFFFD, umlaut ü"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
