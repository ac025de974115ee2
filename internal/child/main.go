package child

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// Worker does one piece of work in a child. An error that it returns is
// written to standard error, and Run's error is ErrFailed: what the parent is
// to act on goes through Output. It must not leave anything for later: the
// process ends with it.
type Worker func(c Conn) error

// Conn is a worker's side of the connection to its parent.
type Conn struct {
	// Config is Spec.Config.
	Config []byte
	// Input is Spec.Input, or a pipe that Spec.Data comes from; nil: neither.
	Input *os.File
	// Output is what Run's read sees. Nothing else goes there: os.Stdout is
	// standard error in a worker, so that a stray print breaks no protocol.
	Output io.Writer
}

// exitFailed is the exit status of a worker that returned an error. Go's
// runtime uses 2 for panics and fatal errors.
const exitFailed = 1

// Main must be the first thing in the program's main function. In a child it
// applies the limits, runs the named worker (or becomes the program it was
// started for) and exits. In any other process it returns at once.
//
// A child is known by its argv[0] and by the two pipes it was started with;
// no argument or variable makes one of an ordinary start.
func Main(workers map[string]Worker) {
	if !isChild() {
		return
	}
	os.Exit(runChild(workers))
}

func isChild() bool {
	return len(os.Args) == 2 && os.Args[0] == argv0 &&
		isPipe(controlFD, syscall.O_RDONLY) && isPipe(statusFD, syscall.O_WRONLY)
}

func isPipe(fd, mode int) bool {
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFIFO {
		return false
	}
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	return err == nil && flags&unix.O_ACCMODE == mode
}

func runChild(workers map[string]Worker) int {
	closeInherited()
	syscall.CloseOnExec(controlFD)
	syscall.CloseOnExec(statusFD)
	control, status := os.NewFile(controlFD, "control"), os.NewFile(statusFD, "status")
	say := func(r report) {
		if b, err := json.Marshal(r); err == nil {
			_, _ = status.Write(b) // nobody is left to hear of a failure
		}
	}
	fail := func(err error) int {
		say(report{Error: err.Error()})
		return exitFailed
	}

	o, err := readOrders(control)
	if err != nil {
		return fail(err)
	}
	worker := workers[o.Worker]
	if o.Program == "" && worker == nil {
		return fail(fmt.Errorf("there is no worker %q", o.Worker))
	}
	// A write over the limit on files fails, and does not kill: so it is in Go,
	// and a program inherits it.
	signal.Ignore(syscall.SIGXFSZ)
	runtime.GOMAXPROCS(max(o.Procs, 1))
	keepControl(control)
	peak := openPeak()

	// What cannot be applied to all threads is applied to this one, which
	// becomes the program.
	runtime.LockOSThread()
	missing, err := confine(&o)
	if err != nil {
		return fail(err)
	}
	say(report{Missing: missing})
	if o.Program != "" {
		err := syscall.Exec(o.Program, append([]string{o.Program}, stringsOf(o.Args)...), stringsOf(o.Env))
		return fail(&os.PathError{Op: "exec", Path: o.Program, Err: err})
	}
	runtime.UnlockOSThread()

	c := Conn{Config: o.Config}
	if o.HasInput {
		c.Input = os.Stdin
	}
	out, err := unix.FcntlInt(1, unix.F_DUPFD_CLOEXEC, 3)
	if err == nil {
		err = redirect(2, 1)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "standard output:", err)
		return exitFailed
	}
	c.Output = os.NewFile(uintptr(out), "output")

	err = worker(c)
	say(report{Peak: peak()})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitFailed
	}
	return 0
}

// closeInherited closes what came into this process unasked: descriptors that
// some library, or whoever started the service, left open across exec. Those
// that Go's runtime opened here are close-on-exec and so told apart.
func closeInherited() {
	open, err := os.ReadDir("/dev/fd")
	if err != nil {
		return // none of ours is among them, and /dev is missing
	}
	for _, e := range open {
		fd, err := strconv.Atoi(e.Name())
		if err != nil || fd <= statusFD {
			continue
		}
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			_ = unix.Close(fd)
		}
	}
}

func readOrders(r io.Reader) (o orders, err error) {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return o, fmt.Errorf("orders: %w", err)
	}
	n := binary.BigEndian.Uint32(size[:])
	if n > maxOrders {
		return o, errors.New("orders: too long")
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(r, body); err != nil {
		return o, fmt.Errorf("orders: %w", err)
	}
	if err := json.Unmarshal(body, &o); err != nil {
		return o, fmt.Errorf("orders: %w", err)
	}
	return o, nil
}

func stringsOf(list [][]byte) []string {
	out := make([]string, len(list))
	for i, b := range list {
		out[i] = string(b)
	}
	return out
}

// setLimits bounds what this process may take, soft and hard limit alike: Go
// ignores the signal of the soft limit on processor time.
func setLimits(o *orders) error {
	for _, l := range []struct {
		name     string
		resource int
		value    int64
	}{
		{"core", unix.RLIMIT_CORE, 0},
		{"open files", unix.RLIMIT_NOFILE, maxFiles},
		{"file size", unix.RLIMIT_FSIZE, o.MaxFile},
		{"processor time", unix.RLIMIT_CPU, o.CPU},
		{"memory", unix.RLIMIT_DATA, o.Memory},
	} {
		if l.resource == unix.RLIMIT_DATA && raceDetector {
			continue
		}
		var limit syscall.Rlimit
		if err := syscall.Getrlimit(l.resource, &limit); err != nil {
			return fmt.Errorf("limit on %s: %w", l.name, err)
		}
		lower(&limit.Max, l.value)
		limit.Cur = limit.Max
		if err := syscall.Setrlimit(l.resource, &limit); err != nil {
			return fmt.Errorf("limit on %s: %w", l.name, err)
		}
	}
	return nil
}

// maxFiles is how many descriptors a child may have. A worker has a handful; a
// program opens its libraries one after the other.
const maxFiles = 64

// lower is generic for systems that count limits in signed numbers. A limit
// that is lower already stays: only root may raise it.
func lower[T int64 | uint64](limit *T, value int64) {
	if uint64(value) < uint64(*limit) {
		*limit = T(value)
	}
}
