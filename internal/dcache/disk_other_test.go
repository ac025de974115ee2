//go:build !linux

package dcache

import (
	"errors"
	"os"
	"runtime"
	"testing"
)

func onSmallDisk(t *testing.T, _ int, fn func(*testing.T, disk)) {
	t.Logf("NOT RUN ON A REAL SMALL DISK: there is no way to mount one on %s; the stand-in ran", runtime.GOOS)
	fn(t, disk{dir: t.TempDir()})
}

func remountReadOnly(string) error { return errors.ErrUnsupported }

func tryMount(string) error { return errors.ErrUnsupported }

func asNobody(t *testing.T, fn func()) {
	if os.Geteuid() == 0 {
		t.Skip("NOT RUN: root may write everywhere, and this system has no way to give that up for one thread")
	}
	fn()
}
