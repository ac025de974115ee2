package pdf

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// memoryFile gives an empty file in memory for n bytes.
func memoryFile(n int) (*os.File, error) {
	if n > memSpool {
		return nil, errors.New("too long for memory")
	}
	fd, err := unix.MemfdCreate("sift-pdf", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "sift-pdf"), nil
}
