package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"sift.build/sift/demo/server"
)

// What one program may take for one file, which is what sift's own child may:
// some of the files are made to harm a reader.
const (
	maxCPU    = 20 * time.Second
	maxMemory = 1 << 30
	maxWall   = 5 * time.Minute // on a machine that has other work
)

// usage is what a process took with all its children.
type usage struct{ cpu, wall time.Duration }

// side is what one program made of one file.
type side struct {
	text   string
	failed string // why there is nothing to compare; "": there is
	found  int    // words

	// The most that was resident at once in the process and in its largest
	// child; 0: not known.
	memory, childMemory int64

	cpu, wall []time.Duration // of each round
}

// run runs a command that is known to end well.
func (b *bench) run(ctx context.Context, command []string) (usage, error) {
	out, err := os.Create(filepath.Join(b.work, "output"))
	if err != nil {
		return usage{}, err
	}
	defer out.Close()
	cmd, stop, said := b.command(ctx, command)
	defer stop()
	cmd.Stdout = out
	begin := time.Now()
	if err := cmd.Run(); err != nil {
		return usage{}, fmt.Errorf("%s: %w\n%s", strings.Join(command, " "), err, tail(said))
	}
	return usage{cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), time.Since(begin)}, nil
}

// look runs a command once, watches its memory, keeps what it writes, and ends
// it when it takes too much.
func (b *bench) look(ctx context.Context, command []string) (side, error) {
	cmd, stop, said := b.command(ctx, command)
	defer stop()
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		return side{}, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var s side
	watch := time.NewTicker(time.Millisecond)
	defer watch.Stop()
	for {
		select {
		case <-watch.C:
			if s.failed == "" {
				s.watch(cmd.Process.Pid, b.maxMemory)
			}
			if s.failed != "" {
				stop()
			}
		case err := <-ended:
			switch _, isExit := errors.AsType[*exec.ExitError](err); {
			case ctx.Err() != nil:
				return s, ctx.Err()
			case s.failed != "":
			case isExit:
				s.failed = "refused: " + firstLine(said)
			case err != nil:
				return s, err
			default:
				s.text = out.String()
			}
			return s, nil
		}
	}
}

// command prepares a process and its end: it has a group of its own, with which
// it is killed.
func (b *bench) command(ctx context.Context, command []string) (*exec.Cmd, context.CancelFunc, *bytes.Buffer) {
	ctx, stop := context.WithTimeout(ctx, maxWall)
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = server.Environment()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	var said bytes.Buffer
	cmd.Stderr = &said
	return cmd, stop, &said
}

func tail(b *bytes.Buffer) []byte { return b.Bytes()[max(0, b.Len()-2000):] }

func firstLine(b *bytes.Buffer) string {
	line, _, _ := strings.Cut(strings.TrimSpace(b.String()), "\n")
	return line
}

// watch notes what a running process and its children hold. The kernel keeps
// the most that it was (VmHWM) and counts it anew when a process becomes
// another program, so the last figure is the right one.
func (s *side) watch(pid int, most int64) {
	if m := memoryOf(pid); m > 0 {
		s.memory = m
	}
	largest := s.memory
	for _, child := range childrenOf(pid) {
		// Until it has become another program, a child is its parent's copy.
		if m := memoryOf(child); m > 0 && started(child) {
			s.childMemory = m
			largest = max(largest, m)
		}
	}
	cpu := cpuOf(pid) // without children at work, but those of sift are held to their own bounds
	switch {
	case largest > most:
		s.failed = fmt.Sprintf("ended at %d MB", largest>>20)
	case cpu > maxCPU:
		s.failed = fmt.Sprintf("ended after %s of CPU", maxCPU)
	}
}

// What Linux tells about processes. Elsewhere it is all unknown.

func memoryOf(pid int) int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	return highWater(b)
}

func highWater(status []byte) int64 {
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			if err == nil {
				return n * 1024
			}
		}
	}
	return 0
}

func childrenOf(pid int) []int {
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		return nil
	}
	var all []int
	for _, l := range lists {
		b, err := os.ReadFile(l)
		if err != nil {
			continue // the thread has ended
		}
		for f := range strings.FieldsSeq(string(b)) {
			if n, err := strconv.Atoi(f); err == nil {
				all = append(all, n)
			}
		}
	}
	return all
}

// started says that a child of sift runs its own program: its name is not that
// of the command any more.
func started(pid int) bool {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	name, _, _ := strings.Cut(string(line), "\x00")
	return err == nil && name == "sift-child"
}

// ticksPerSecond is USER_HZ, which is 100 on every platform of Linux that Go
// runs on.
const ticksPerSecond = 100

// cpuOf reads how much CPU time a process has used so far, its children that
// have ended with it.
func cpuOf(pid int) time.Duration {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	return statCPU(b)
}

func statCPU(stat []byte) time.Duration {
	// The second field is the name in brackets, which may hold anything.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 15 {
		return 0
	}
	var ticks int64
	for _, f := range fields[11:15] { // utime, stime, cutime and cstime: 14 to 17 of the whole
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return 0
		}
		ticks += n
	}
	return time.Duration(ticks) * (time.Second / ticksPerSecond)
}
