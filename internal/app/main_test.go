package app

import (
	"fmt"
	"os"
	"testing"

	"sift.build/sift/internal/pdf/pdftest"
)

// The service's child processes are this test program. They keep what they make
// once per host where all tests of this user do.
func TestMain(m *testing.M) {
	RunChild()
	if err := os.Setenv("XDG_CACHE_HOME", pdftest.CacheHome()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}
