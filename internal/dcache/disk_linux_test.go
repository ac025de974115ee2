package dcache

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

const mountEnv = "DCACHE_TEST_MOUNTS"

// onSmallDisk runs fn on a file system of size bytes. It is mounted in a mount
// namespace of its own, in a second run of this one test, so that nothing of
// it can be left behind. Where not even a user namespace is allowed, fn runs
// on an ordinary folder and the log says so.
func onSmallDisk(t *testing.T, size int, fn func(*testing.T, disk)) {
	if os.Getenv(mountEnv) != "" {
		dir := t.TempDir()
		if err := mountSmall(dir, size); err != nil {
			t.Fatal(err)
		}
		// After fn's own cleanups, before TempDir's.
		t.Cleanup(func() {
			if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
				t.Error(err)
			}
		})
		fn(t, disk{dir, true})
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var refused []error
	for _, attr := range []*syscall.SysProcAttr{
		{Unshareflags: syscall.CLONE_NEWNS},
		{
			Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
		},
	} {
		probe := exec.CommandContext(t.Context(), self, t.TempDir())
		probe.Env = append(os.Environ(), childEnv+"=mount")
		probe.SysProcAttr = attr
		if out, err := probe.CombinedOutput(); err != nil {
			refused = append(refused, fmt.Errorf("%w: %s", err, strings.TrimSpace(string(out))))
			continue
		}
		c := exec.CommandContext(t.Context(), self, "-test.run=^"+t.Name()+"$", "-test.v")
		c.Env = append(os.Environ(), mountEnv+"=1")
		c.SysProcAttr = attr
		out, err := c.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
			t.Errorf("on a mounted tmpfs of %d bytes: %v\n%s", size, err, out)
		}
		t.Logf("ran on a mounted tmpfs of %d bytes", size)
		return
	}
	t.Logf("NOT RUN ON A REAL SMALL DISK: mounting is refused here (%v); the stand-in ran", refused)
	fn(t, disk{dir: t.TempDir()})
}

func mountSmall(dir string, size int) error {
	return syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", size))
}

func remountReadOnly(dir string) error {
	return syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, "")
}

// tryMount is the probe, in a process that may be in a namespace.
func tryMount(dir string) error {
	if err := mountSmall(dir, 64<<10); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "x"), nil, 0o600)
}

// asNobody runs fn without root's right to everything: file accesses of this
// thread are those of another user. fn must not start work elsewhere.
func asNobody(t *testing.T, fn func()) {
	if os.Geteuid() != 0 {
		fn()
		return
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := syscall.Setfsuid(65534); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Setfsuid(0); err != nil {
			t.Fatal(err)
		}
	}()
	fn()
}
