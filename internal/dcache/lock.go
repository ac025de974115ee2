package dcache

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

const lockName = "serve.lock"

// Lock says that this process is the one server of a data folder.
type Lock struct{ f *os.File }

// LockServer takes a data folder, which it makes when it is missing, for one
// server. A second one gets ErrInUse with the first one's process id. The lock
// is the kernel's: it ends with the process, however that ends, and is not
// inherited by a child.
func LockServer(dir string) (*Lock, error) {
	l, err := lockServer(dir)
	if err != nil {
		if abs, absErr := filepath.Abs(dir); absErr == nil {
			dir = abs
		}
		db := &DB{dir: dir, path: filepath.Join(dir, lockName)} // for its sentences
		return nil, db.explain("lock data folder", err)
	}
	return l, nil
}

func lockServer(dir string) (*Lock, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	switch err := flock(f, syscall.LOCK_EX|syscall.LOCK_NB); {
	case errors.Is(err, syscall.EWOULDBLOCK):
		defer f.Close()
		return nil, &fault{kind: ErrInUse, text: fmt.Sprintf(
			"%s is in use by another sift server%s; stop that one, or set data_dir to another folder", dir, owner(f))}
	case err != nil:
		f.Close()
		return nil, err
	}
	l := &Lock{f}
	if err := l.sign(); err != nil {
		f.Close()
		return nil, err
	}
	return l, nil
}

// sign writes who has it, over who had it before.
func (l *Lock) sign() error {
	if err := l.f.Truncate(0); err != nil {
		return err
	}
	_, err := l.f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

// Release gives the folder up. The file stays: removing it could take it away
// from one who has just locked it.
func (l *Lock) Release() error {
	return errors.Join(l.f.Truncate(0), l.f.Close())
}

// owner reads " (pid 123)" from the lock file, or nothing in the moment
// between a lock and its number.
func owner(f *os.File) string {
	b, _ := io.ReadAll(io.NewSectionReader(f, 0, 20))
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		return ""
	}
	return fmt.Sprintf(" (pid %d)", pid)
}

func flock(f *os.File, how int) error {
	for {
		err := syscall.Flock(int(f.Fd()), how)
		if err != syscall.EINTR {
			return err
		}
	}
}
