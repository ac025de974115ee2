package fetch

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// Body holds what was downloaded, after content decoding: in memory up to
// 1 MiB, above that in a temporary file that has no name any more, so that
// nothing is left behind whatever happens to the process. It may be read from
// several goroutines, and must be closed.
type Body struct {
	size int64
	mem  []byte   // the whole body, where file is nil
	file *os.File // the whole body, where it is not nil
	name string   // of file, only where the system cannot unlink an open file
}

// Size is the length in bytes.
func (b *Body) Size() int64 {
	if b == nil {
		return 0
	}
	return b.size
}

// OnDisk reports whether the body is in a file, so that Bytes makes a copy.
func (b *Body) OnDisk() bool { return b != nil && b.file != nil }

// Bytes gives the whole body. Up to 1 MiB it is the Body's own memory, which
// must not be changed; a larger one is read from disk anew at each call.
func (b *Body) Bytes() ([]byte, error) {
	if b == nil {
		return nil, nil
	}
	if b.file == nil {
		return b.mem, nil
	}
	out := make([]byte, b.size)
	if _, err := b.file.ReadAt(out, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read the spooled body: %w", err)
	}
	return out, nil
}

// Reader reads the body from its start; every call gives an independent one.
// After Close it fails for a body on disk.
func (b *Body) Reader() *io.SectionReader {
	switch {
	case b == nil:
		return io.NewSectionReader(bytes.NewReader(nil), 0, 0)
	case b.file == nil:
		return io.NewSectionReader(bytes.NewReader(b.mem), 0, b.size)
	}
	return io.NewSectionReader(b.file, 0, b.size)
}

// File gives a file of its own on a body that is on disk (see OnDisk), for
// another process to read. It outlives the Body; the caller closes it.
func (b *Body) File() (*os.File, error) {
	if !b.OnDisk() {
		return nil, errors.New("the body is not on disk")
	}
	fd, err := unix.FcntlInt(b.file.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("duplicate the spooled body: %w", err)
	}
	return os.NewFile(uintptr(fd), b.file.Name()), nil
}

// Close gives the memory and the file back. A second call does nothing.
func (b *Body) Close() error {
	if b == nil {
		return nil
	}
	b.mem = nil
	if b.file == nil {
		return nil
	}
	file := b.file
	b.file, b.size = nil, 0
	err := file.Close()
	if b.name != "" {
		err = errors.Join(err, os.Remove(b.name))
	}
	return err
}

// head is the first n bytes, for looking at what the body is.
func (b *Body) head(n int64) ([]byte, error) {
	if b.file == nil {
		return b.mem[:min(n, int64(len(b.mem)))], nil
	}
	out := make([]byte, min(n, b.size))
	if _, err := b.file.ReadAt(out, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read the spooled body: %w", err)
	}
	return out, nil
}

// spool fills a Body. The zero memory limit sends everything to disk.
type spool struct {
	body   Body
	memory int64                                       // the most that is kept in memory
	create func() (f *os.File, name string, err error) // the file for more
}

// spoolError is a failure of our disk, not of the server.
type spoolError struct{ err error }

func (e *spoolError) Error() string { return "spool the body: " + e.err.Error() }
func (e *spoolError) Unwrap() error { return e.err }

func (s *spool) Write(p []byte) (int, error) {
	if s.body.file == nil && s.body.size+int64(len(p)) > s.memory {
		if err := s.spill(); err != nil {
			return 0, &spoolError{err}
		}
	}
	if s.body.file == nil {
		if need := len(s.body.mem) + len(p); need > cap(s.body.mem) {
			// Doubled by hand: append grows large slices by a quarter, which
			// leaves five times as much behind for the collector.
			grown := make([]byte, len(s.body.mem), max(need, min(2*cap(s.body.mem), int(s.memory))))
			copy(grown, s.body.mem)
			s.body.mem = grown
		}
		s.body.mem = append(s.body.mem, p...)
		s.body.size += int64(len(p))
		return len(p), nil
	}
	n, err := s.body.file.Write(p)
	s.body.size += int64(n)
	if err != nil {
		return n, &spoolError{err}
	}
	return n, nil
}

// spill moves what is in memory to a file and lets the memory go, so that no
// body is ever held twice.
func (s *spool) spill() error {
	file, name, err := s.create()
	if err != nil {
		return err
	}
	s.body.file, s.body.name = file, name
	if _, err := file.Write(s.body.mem); err != nil {
		return err
	}
	s.body.mem = nil
	return nil
}

// tempFile opens a file in dir that has lost its name already. Where an open
// file cannot be unlinked, name says what to remove after closing.
func tempFile(dir string) (f *os.File, name string, err error) {
	f, err = os.CreateTemp(dir, "sift-body-*")
	if err != nil {
		return nil, "", err
	}
	if err := os.Remove(f.Name()); err != nil {
		name = f.Name()
	}
	return f, name, nil
}
