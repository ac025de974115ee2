package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// onMount is sift on a small file system of its own, which ends with it:
//
//	sift-on-a-mount FOLDER BYTES HOW ARG…
//
// mounts a tmpfs of that size at FOLDER, with what is in FOLDER-contents in
// it, and goes on as `sift ARG…`. HOW is rw, ro for one that is read-only, or
// full for one without room for another byte. It must be started in a mount
// namespace of its own.
func onMount() {
	dir, args := os.Args[1], os.Args[4:]
	if err := mount(dir, os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "cannot mount:", err)
		os.Exit(mountRefused)
	}
	os.Args = append([]string{"sift"}, args...)
	main()
}

// mountRefused is the exit code that says that the machine allows no mounts.
const mountRefused = 99

func mount(dir, size, how string) error {
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		return err
	}
	if _, err := os.Stat(dir + "-contents"); err == nil {
		if err := os.CopyFS(dir, os.DirFS(dir+"-contents")); err != nil {
			return err
		}
	}
	switch how {
	case "ro":
		return syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, "")
	case "full":
		n, err := strconv.Atoi(size)
		if err != nil {
			return err
		}
		f, err := os.Create(filepath.Join(dir, "filler"))
		if err != nil {
			return err
		}
		_, _ = f.Write(make([]byte, n)) // up to the end of the room
		_ = f.Close()
	}
	return nil
}

// mounted is a command on a small file system at dir, with what is in
// dir-contents. Where the machine allows no mounts the test is skipped.
func mounted(t *testing.T, work, dir string, size int, how string, args ...string) *exec.Cmd {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	var refused []string
	for _, attr := range []*syscall.SysProcAttr{
		{Unshareflags: syscall.CLONE_NEWNS},
		{
			Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
		},
	} {
		build := func(args ...string) *exec.Cmd {
			c := command(work, nil, args...)
			c.Path, c.Err = exec.LookPath("sift-on-a-mount")
			c.Args = append([]string{"sift-on-a-mount", dir, strconv.Itoa(size), how}, args...)
			c.SysProcAttr = attr
			return c
		}
		if out, err := build("version").CombinedOutput(); err != nil {
			refused = append(refused, fmt.Sprintf("%v: %s", err, strings.TrimSpace(string(out))))
			continue
		}
		return build(args...)
	}
	t.Skipf("this machine allows no mount, so a full and a read-only disk cannot be tried: %q", refused)
	return nil
}

func TestADiskThatCannotBeWrittenIsOneSentenceForTheServiceAndANoticeForAFetch(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		size   int
		how    string
		filled bool // with a store that was made before
		says   string
	}{
		"full":                 {64 << 10, "full", false, "no room left on the disk"},
		"full, with a store":   {1 << 20, "full", true, "no room left on the disk"},
		"too small for it":     {32 << 10, "rw", false, "no room left on the disk"},
		"read-only":            {1 << 20, "ro", false, "read-only file system"},
		"read-only with store": {1 << 20, "ro", true, "read-only file system"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			site, dir := newSite(t), t.TempDir()
			state := filepath.Join(dir, "state")
			config := writeFile(t, dir, "sift.toml", site.settings(""))
			if c.filled {
				if code, _, stderr := runSift(t, dir, nil, "fetch", "--config", config, site.URL+"/article"); code != 0 {
					t.Fatal(stderr)
				}
				if err := os.Rename(state, state+"-contents"); err != nil {
					t.Fatal(err)
				}
			}

			p := startIn(t, mounted(t, dir, state, c.size, c.how, "serve", "--listen", "127.0.0.1:0", "--config", config))
			p.endsWith(t, exitFailure)
			if got := p.log.String(); strings.Count(got, "\n") != 1 || !containsAll(got, []string{"sift: ", c.says, state}) {
				t.Errorf("serve said %q", got)
			}

			p = startIn(t, mounted(t, dir, state, c.size, c.how, "fetch", "--config", config, site.URL+"/article"))
			p.endsWith(t, 0)
			if !strings.Contains(p.out.String(), articleTitle) {
				t.Errorf("fetch printed %q", p.out)
			}
			if got := p.log.String(); strings.Count(got, "\n") != 1 || !containsAll(got, []string{"sift: ", "cache", c.says, state}) {
				t.Errorf("fetch said %q", got)
			}
			tidy(t, dir)
		})
	}
}

func TestADiskThatFillsUpCostsTheCopyAndNotTheAnswer(t *testing.T) {
	t.Parallel()
	site, dir := newSite(t), t.TempDir()
	state := filepath.Join(dir, "state")
	config := writeFile(t, dir, "sift.toml", site.settings(caller("hush", "restricted = true")))

	// A copy of /noise takes about a megabyte, and there is less.
	p := startIn(t, mounted(t, dir, state, 768<<10, "rw", "fetch", "--json", "--config", config, site.URL+"/noise", site.URL+"/noise?2", site.URL+"/article"))
	p.endsWith(t, 0)
	if n := wholeLines(t, p.out.String()); n != 3 || strings.Count(p.out.String(), `{"success":true`) != 3 {
		t.Errorf("%d answers", n)
	}
	if got := p.log.String(); strings.Count(got, "\n") != 1 || !containsAll(got, []string{"sift: keeping a copy failed", "no room left on the disk"}) {
		t.Errorf("it said %q", got)
	}

	p = startIn(t, mounted(t, dir, state, 768<<10, "rw", "serve", "--listen", "127.0.0.1:0", "--log-level", "debug", "--config", config))
	s, err := listening(p)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got := s.fetch(keyOf("hush"), site.URL+"/noise?"+secretQuery); got.status != 200 || !strings.Contains(got.body, `"snapshot":""`) {
			t.Errorf("%d: %.300s", got.status, got.body)
		}
	}
	s.waitLog(t, "level=WARN", "no room left on the disk")
	if got := get(s.url + "/metrics"); !strings.Contains(got.body, "\nsift_cache_store_errors_total 2\n") {
		t.Error("the metrics do not count it")
	}
	if got := s.fetch(keyOf("hush"), site.URL+"/article"); got.status != 200 {
		t.Errorf("a small page afterwards: %+v", got)
	}
	s.stop(t)
	for _, secret := range []string{"noise", secretQuery} {
		if strings.Contains(s.log.String(), secret) {
			t.Errorf("the log tells %q:\n%s", secret, s.log)
		}
	}
}
