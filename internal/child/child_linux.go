package child

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// rssUnit is what rusage counts memory in.
func rssUnit() int64 { return 1 << 10 }

func platformMissing() []string {
	var missing []string
	if err := seccompMissing(); err != nil {
		missing = append(missing, missingSeccomp(err))
	}
	if _, err := landlockVersion(); err != nil {
		missing = append(missing, missingLandlock(err))
	}
	if raceDetector {
		missing = append(missing, missingMemory)
	}
	return missing
}

// findExecutable names this program by the kernel's own link to it, which
// stays right when the file is replaced by a newer one.
func findExecutable(configured string) (string, error) {
	const self = "/proc/self/exe"
	if configured != "" {
		return configured, nil
	}
	if _, err := os.Stat(self); err != nil {
		return os.Executable()
	}
	return self, nil
}

// sysProcAttr gives the child a process group of its own, to be killed whole,
// and the end of its parent as its own. It stays in the session: with one of
// its own it would be a group of its own for the scheduler too (autogroup),
// and niceness would no longer yield to the service.
func sysProcAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// awaitExit waits for the end of a child and leaves it to be reaped.
func awaitExit(pid int) bool {
	for {
		switch err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err {
		case nil:
			return true
		case unix.EINTR:
		default:
			return false
		}
	}
}

// reapGroup reaps what is a child of this process and belongs to a group that
// has been killed. Where there is none, or init has them, it returns at once.
func reapGroup(group int) {
	for {
		if _, err := unix.Wait4(-group, nil, 0, nil); err != nil && err != unix.EINTR {
			return
		}
	}
}

// peakMemory is the most that a process has held ("self": this one), in bytes.
// It is 0 when that cannot be told.
func peakMemory(pid string) int64 {
	f, err := os.Open("/proc/" + pid + "/status")
	if err != nil {
		return 0
	}
	defer f.Close()
	return readPeak(f)
}

func peakMemoryOf(pid int) int64 { return peakMemory(strconv.Itoa(pid)) }

func readPeak(f *os.File) int64 {
	var buf [4 << 10]byte
	n, _ := f.ReadAt(buf[:], 0) // the file is shorter, so that this ends in io.EOF
	_, rest, ok := bytes.Cut(buf[:n], []byte("VmHWM:"))
	if !ok {
		return 0
	}
	line, _, _ := bytes.Cut(rest, []byte("kB"))
	kib, err := strconv.ParseInt(string(bytes.TrimSpace(line)), 10, 64)
	if err != nil {
		return 0
	}
	return kib << 10
}

// openPeak opens what tells this process's memory, while it may still open
// files, and returns what reads it.
func openPeak() func() int64 {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		return func() int64 { return 0 }
	}
	return func() int64 { return readPeak(f) }
}

// keepControl has nothing to do where PDEATHSIG tells of the parent's end.
func keepControl(control *os.File) { control.Close() }

func redirect(to, fd int) error { return unix.Dup3(to, fd, 0) }

// confine applies everything that bounds this process. What the system does
// not have is missing and no error: the limits hold without it.
func confine(o *orders) (missing []string, err error) {
	yield(o)
	if err := setLimits(o); err != nil {
		return nil, err
	}
	if err := limitAddresses(o.Addresses); err != nil {
		return nil, err
	}
	rules, noRules := newRuleset()
	if noRules == nil {
		// While files can still be opened.
		if err := rules.allowAll(o); err != nil {
			return nil, err
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("no_new_privs: %w", err)
	}
	if err := filterCalls(o); err != nil {
		missing = append(missing, missingSeccomp(err))
	}
	if noRules == nil {
		noRules = rules.enforce(o.Program == "")
	}
	if noRules != nil {
		missing = append(missing, missingLandlock(noRules))
	}
	if raceDetector {
		missing = append(missing, missingMemory)
	}
	return missing, nil
}

const missingMemory = "no bound on a child's memory in a build with the race detector"

func missingSeccomp(err error) string {
	return fmt.Sprintf("no filter of system calls (seccomp: %v): a child could open sockets", err)
}

func missingLandlock(err error) string {
	return fmt.Sprintf("no confinement to named files (Landlock: %v): a child could open the files of this user", err)
}

// yield makes way for everything else: for the scheduler as told, and for the
// out-of-memory killer wholly. None of it is a matter of safety, so that a
// failure is none.
func yield(o *orders) {
	_ = os.WriteFile("/proc/self/comm", []byte(argv0), 0) // else lists show "exe"
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
	if o.Nice == 0 {
		return
	}
	// Niceness belongs to a thread, and goes to those that it starts. A second
	// pass finds what was started during the first by one not yet slowed.
	for range 2 {
		threads, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return
		}
		for _, t := range threads {
			if id, err := strconv.Atoi(t.Name()); err == nil {
				_ = unix.Setpriority(unix.PRIO_PROCESS, id, o.Nice)
			}
		}
	}
}

// limitAddresses lets the address space of this process grow by so much.
func limitAddresses(more int64) error {
	if more == 0 || raceDetector {
		return nil
	}
	b, err := os.ReadFile("/proc/self/statm") // its first number is the size in pages
	if err != nil {
		return fmt.Errorf("limit on addresses: %w", err)
	}
	first, _, _ := bytes.Cut(b, []byte(" "))
	pages, err := strconv.ParseUint(string(first), 10, 64)
	if err != nil {
		return fmt.Errorf("limit on addresses: %w", err)
	}
	n := pages*uint64(os.Getpagesize()) + uint64(more)
	if err := syscall.Setrlimit(unix.RLIMIT_AS, &syscall.Rlimit{Cur: n, Max: n}); err != nil {
		return fmt.Errorf("limit on addresses: %w", err)
	}
	return nil
}
