package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
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
