package child

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"time"
	"unicode"
)

// stream reads one pipe from a child, until its end or, once expired, until
// there is nothing more in it.
type stream struct{ f *os.File }

func (s *stream) Read(b []byte) (int, error) {
	n, err := s.f.Read(b)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return s.readNow(b)
	}
	if err != nil {
		err = io.EOF
	}
	return n, err
}

// expire is called when the child is gone. It ends a Read that waits.
func (s *stream) expire() { _ = s.f.SetReadDeadline(time.Unix(1, 0)) }

// readNow reads what is in the pipe and takes an empty one for its end. A
// deadline that has passed makes every Read of the file fail, but not this.
func (s *stream) readNow(b []byte) (int, error) {
	conn, err := s.f.SyscallConn()
	if err != nil {
		return 0, io.EOF
	}
	n := 0
	err = conn.Control(func(fd uintptr) {
		for {
			if n, err = syscall.Read(int(fd), b); err != syscall.EINTR {
				return
			}
		}
	})
	if err != nil || n <= 0 {
		return 0, io.EOF
	}
	return n, nil
}

// output is what read sees of a child's standard output.
type output struct {
	stream *stream
	left   int64
	over   func() // called when there is more
	done   bool   // the end was seen
}

func (o *output) Read(b []byte) (int, error) {
	if o.done {
		return 0, io.EOF
	}
	if len(b) == 0 {
		return 0, nil
	}
	// One byte more than is left, so that an output of just the bound is told
	// from a longer one.
	if int64(len(b)) > o.left {
		b = b[:o.left+1]
	}
	n, err := o.stream.Read(b)
	if int64(n) > o.left {
		n, err = int(o.left), io.EOF
		o.over()
	}
	o.left -= int64(n)
	o.done = err != nil
	return n, err
}

// Bounds of standard error: what is kept of it, and what a child may write to
// it before it is killed.
const (
	headStderr = 1 << 10
	tailStderr = 3 << 10
	maxStderr  = 1 << 20
)

// tail keeps the beginning and the end of standard error: Go says what is
// wrong first and then lists goroutines; others end with what is wrong.
type tail struct {
	head, end []byte
	total     int64
	memory    bool // it spoke of having no memory
}

func (t *tail) add(b []byte) {
	t.total += int64(len(b))
	if n := headStderr - len(t.head); n > 0 {
		n = min(n, len(b))
		t.head = append(t.head, b[:n]...)
	}
	// What the last piece ended with is looked at again, as the words may lie
	// across both.
	last := t.end[max(0, len(t.end)-maxMark):]
	t.memory = t.memory || speaksOfMemory(append(bytes.Clone(last), b...))
	t.end = append(t.end, b...)
	if n := len(t.end) - headStderr - tailStderr; n > 0 {
		t.end = append(t.end[:0], t.end[n:]...)
	}
}

// maxMark is longer than any of the words below.
const maxMark = 32

// speaksOfMemory knows the words of Go's runtime, of the C library, and of
// programs in other languages, for a request that was refused.
func speaksOfMemory(b []byte) bool {
	b = bytes.ToLower(b)
	for _, mark := range []string{"out of memory", "cannot allocate memory", "memory exhausted", "bad_alloc", "failed to create new os thread"} {
		if bytes.Contains(b, []byte(mark)) {
			return true
		}
	}
	return false
}

// text is what was kept, made fit for a log.
func (t *tail) text() string {
	b := t.end
	if t.total > int64(len(t.end)) {
		b = append(append(bytes.Clone(t.head), "\n[…]\n"...), t.end[len(t.end)-tailStderr:]...)
	}
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, strings.TrimRight(string(b), "\n"))
}
