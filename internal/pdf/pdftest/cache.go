package pdftest

import (
	"fmt"
	"os"
	"path/filepath"
)

// CacheHome is what tests use as $XDG_CACHE_HOME: one folder of this user for
// all of them, because compiling the PDF engine into it takes seconds.
func CacheHome() string {
	base, err := os.UserCacheDir()
	if err != nil {
		base = os.TempDir()
	}
	return filepath.Join(base, fmt.Sprintf("sift-test-%d", os.Getuid()))
}
