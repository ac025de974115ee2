//go:build unix && !linux

package child

import (
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// rssUnit is what rusage counts memory in: macOS in bytes, the BSDs in KiB.
func rssUnit() int64 {
	if runtime.GOOS == "darwin" {
		return 1
	}
	return 1 << 10
}

func platformMissing() []string {
	return []string{
		"no bound on a child's memory on " + runtime.GOOS,
		"no filter of system calls on " + runtime.GOOS + ": a child could open sockets",
		"no confinement to named files on " + runtime.GOOS + ": a child could open the files of this user",
	}
}

func findExecutable(configured string) (string, error) {
	if configured != "" {
		return configured, nil
	}
	return os.Executable()
}

func sysProcAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// awaitExit has no way here that leaves the child to be reaped.
func awaitExit(int) bool { return false }

func peakMemory(string) int64   { return 0 }
func peakMemoryOf(int) int64    { return 0 }
func openPeak() func() int64    { return func() int64 { return 0 } }
func redirect(to, fd int) error { return unix.Dup2(to, fd) }

// reapGroup has nothing to do where no process is made a reaper of others.
func reapGroup(int) {}

// keepControl ends this process with its parent: the pipe that the orders
// came through is closed by that. A program that is executed is not watched.
func keepControl(control *os.File) {
	go func() {
		_, _ = io.Copy(io.Discard, control)
		os.Exit(exitFailed)
	}()
}

func confine(o *orders) ([]string, error) {
	if o.Nice > 0 {
		_ = unix.Setpriority(unix.PRIO_PROCESS, 0, o.Nice)
	}
	// macOS warns of the limit on processor time and does no more, and Go takes
	// no notice.
	over := make(chan os.Signal, 1)
	signal.Notify(over, syscall.SIGXCPU)
	go func() {
		<-over
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}()
	return platformMissing(), setLimits(o)
}
