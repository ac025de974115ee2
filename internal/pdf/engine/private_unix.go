//go:build unix

package engine

import (
	"fmt"
	"os"
	"syscall"
)

// private makes sure that nobody but us can put code into dir.
func private(dir string) error {
	st, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("cache directory: %w", err)
	}
	if s, ok := st.Sys().(*syscall.Stat_t); ok && s.Uid != uint32(os.Geteuid()) {
		return fmt.Errorf("cache directory %s belongs to another user", dir)
	}
	if st.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("cache directory %s can be written by others (mode %v)", dir, st.Mode().Perm())
	}
	return nil
}
