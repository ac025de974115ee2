package child

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/elastic/go-seccomp-bpf"
)

func background() context.Context { return context.Background() }

// bare makes this process one in which neither seccomp nor Landlock is to be
// had, as some containers are, and runs two children.
func bare() error {
	err := seccomp.LoadFilter(seccomp.Filter{NoNewPrivs: true, Flag: seccomp.FilterFlagTSync, Policy: seccomp.Policy{
		DefaultAction: seccomp.ActionAllow,
		Syscalls:      []seccomp.SyscallGroup{{Action: seccomp.ActionErrno, Names: []string{"seccomp", "landlock_create_ruleset"}}},
	}})
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
