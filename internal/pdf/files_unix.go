//go:build unix

package pdf

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

func tryLock(f *os.File) (bool, error) {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) || errors.Is(err, unix.EINTR) {
		return false, nil
	}
	return err == nil, err
}

// spool gives a file without a name that holds body: in memory where the system
// can and it is short, else in dir.
func spool(body []byte, dir string) (*os.File, error) {
	f, err := memoryFile(len(body))
	if err != nil {
		if f, err = os.CreateTemp(dir, "sift-pdf-*"); err != nil {
			return nil, err
		}
		if err := os.Remove(f.Name()); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	if _, err := f.Write(body); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
