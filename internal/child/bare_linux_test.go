package child

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/elastic/go-seccomp-bpf"
)

func background() context.Context { return context.Background() }

// strip makes this process one in which neither seccomp nor Landlock is to be
// had, as some containers are.
func strip() error {
	return seccomp.LoadFilter(seccomp.Filter{NoNewPrivs: true, Flag: seccomp.FilterFlagTSync, Policy: seccomp.Policy{
		DefaultAction: seccomp.ActionAllow,
		Syscalls:      []seccomp.SyscallGroup{{Action: seccomp.ActionErrno, Names: []string{"seccomp", "landlock_create_ruleset"}}},
	}})
}

// bare runs children there.
func bare() error {
	err := strip()
	if err != nil {
		return err
	}
	var told []string
	l := New(Config{Memory: 1 << 30, Trace: &Trace{Limited: func(missing string) { told = append(told, missing) }}})
	_, before := l.Limited()
	for range 2 {
		s := spec("echo")
		s.Config = []byte("ran all the same\n")
		if _, err := l.Run(background(), s, func(r io.Reader) error {
			_, err := io.Copy(io.Discard, r)
			return err
		}); err != nil {
			return err
		}
	}
	if !raceDetector {
		_, err = l.Run(background(), spec("hog"), nil)
	}
	ok, after := l.Limited()
	return json.NewEncoder(os.Stdout).Encode(map[string]any{"told": told, "ok": ok, "before": before, "after": after, "hog": fmt.Sprint(err)})
}

// escape runs a program there that leaves its process group, with its input,
// its output and standard error, and ends.
func escape() error {
	if err := strip(); err != nil {
		return err
	}
	s := program("/usr/bin/perl", "-e", `
		use POSIX; pipe(R, W);
		if (fork) { close W; sysread(R, $_, 1); exit }
		POSIX::setsid(); syswrite(STDOUT, "$$\n"); syswrite(W, "x"); close(W); sleep 60`)
	s.Fork, s.Wall, s.Data = true, 20*time.Second, make([]byte, 1<<20)
	var pid int
	_, err := New(Config{Memory: 1 << 30}).Run(background(), s, func(r io.Reader) error {
		_, err := fmt.Fscan(r, &pid)
		_, cerr := io.Copy(io.Discard, r)
		return errors.Join(err, cerr)
	})
	if pid == 0 {
		return fmt.Errorf("nothing escaped: %w", err)
	}
	if kerr := syscall.Kill(pid, syscall.SIGKILL); kerr != nil {
		return fmt.Errorf("%d did not escape: %w", pid, kerr)
	}
	fmt.Print("escaped")
	return err
}
