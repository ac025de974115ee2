package child

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

// This test binary is the program that is run again as a child, and, where a
// test needs a parent to be rid of, as that too.
func TestMain(m *testing.M) {
	Main(workers())
	if role := os.Getenv("CHILD_TEST_PARENT"); role != "" {
		if err := parents()[role](); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func workers() map[string]Worker {
	return map[string]Worker{
		"echo": func(c Conn) error {
			if _, err := c.Output.Write(c.Config); err != nil || c.Input == nil {
				return err
			}
			_, err := io.Copy(c.Output, c.Input)
			return err
		},
		"first": func(c Conn) error { // of its input, and leaves the rest
			_, err := io.CopyN(c.Output, c.Input, 10)
			return err
		},
		"at": func(c Conn) error { // reads its input as a file, from behind
			var b [4]byte
			if _, err := c.Input.ReadAt(b[:], 6); err != nil {
				return err
			}
			_, err := c.Output.Write(b[:])
			return err
		},
		"pid": func(c Conn) error { // says who it is and stays
			fmt.Fprintln(c.Output, os.Getpid())
			return stay()
		},
		"look":    look,
		"attempt": attempt,
		"files":   files,
		"code":    code,
		"hog": func(c Conn) error {
			fmt.Fprintln(c.Output, "begun")
			var held [][]byte
			for {
				b := make([]byte, 1<<20)
				for i := 0; i < len(b); i += 4096 {
					b[i] = 1
				}
				held = append(held, b)
				if len(held) > 2000 {
					return fmt.Errorf("took %d MiB", len(held))
				}
			}
		},
		"grab": func(c Conn) error { // asks for all at once, as jq can
			b := make([]byte, 8<<30)
			fmt.Fprintln(c.Output, len(b))
			return nil
		},
		"mmap": func(Conn) error { // as an allocator of its own does
			for range 2000 {
				if _, err := unix.Mmap(-1, 0, 1<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON); err != nil {
					return fmt.Errorf("mmap: %w", err)
				}
			}
			return nil
		},
		"spin": func(c Conn) error {
			fmt.Fprintln(c.Output, "begun")
			for {
				spun++
			}
		},
		"flood": func(c Conn) error {
			for {
				if _, err := c.Output.Write(make([]byte, 64<<10)); err != nil {
					return err
				}
			}
		},
		"complain": func(Conn) error {
			for {
				if _, err := os.Stderr.WriteString(strings.Repeat("no ", 1000)); err != nil {
					return err
				}
			}
		},
		"mute": func(c Conn) error { // ends its output, goes on, and fails
			fmt.Fprintln(c.Output, "that is all")
			closer, ok := c.Output.(io.Closer)
			if !ok {
				return errors.New("output cannot be closed")
			}
			if err := closer.Close(); err != nil {
				return err
			}
			_, _ = io.Copy(io.Discard, c.Input)
			return errors.New("after the output")
		},
		"print": func(c Conn) error { // as a library may
			fmt.Fprintln(os.Stdout, "stray")
			_, err := io.WriteString(c.Output, "meant")
			return err
		},
		"fail":  func(c Conn) error { return errors.New("bad \x1b[31minput " + string(c.Config)) },
		"panic": func(Conn) error { panic(strings.Repeat("p", 5000)) },
		"gopanic": func(Conn) error {
			go func() { panic("elsewhere") }()
			return stay()
		},
		"exit3": func(Conn) error { os.Exit(3); return nil },
		"fault": func(Conn) error {
			return unix.Tgkill(os.Getpid(), unix.Gettid(), syscall.SIGKILL)
		},
		"secret": func(c Conn) error { // everything that others could see of it
			for _, f := range []string{"cmdline", "environ"} {
				b, err := os.ReadFile("/proc/self/" + f)
				if err != nil {
					return err
				}
				fmt.Fprintf(c.Output, "%s %q\n", f, b)
			}
			return nil
		},
	}
}

var spun int

// stay does nothing for longer than any test.
func stay() error {
	<-time.After(time.Hour)
	return errors.New("stayed too long")
}

// surroundings are what a child finds itself in.
type surroundings struct {
	Args, Env   []string
	Dir         string
	Files       map[int]string
	Limits      map[string][2]uint64
	Nice        map[int]int // of each thread, as setpriority has it
	NoNewPrivs  int
	OOM         string
	Procs       int
	Name        string
	Group, Self int
}

func look(c Conn) error {
	s := surroundings{Args: os.Args, Env: os.Environ(), Files: map[int]string{}, Limits: map[string][2]uint64{}, Nice: map[int]int{},
		Procs: runtime.GOMAXPROCS(0), Group: unix.Getpgrp(), Self: os.Getpid()}
	var err error
	if s.Dir, err = os.Getwd(); err != nil {
		return err
	}
	for fd := range maxFiles {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != nil {
			continue
		}
		name, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
		if err != nil {
			return err
		}
		s.Files[fd], _, _ = strings.Cut(name, ":")
	}
	for name, resource := range map[string]int{"data": unix.RLIMIT_DATA, "cpu": unix.RLIMIT_CPU, "fsize": unix.RLIMIT_FSIZE, "core": unix.RLIMIT_CORE, "nofile": unix.RLIMIT_NOFILE} {
		var l unix.Rlimit
		if err := unix.Getrlimit(resource, &l); err != nil {
			return err
		}
		s.Limits[name] = [2]uint64{l.Cur, l.Max}
	}
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return err
	}
	for _, t := range threads {
		var id int
		fmt.Sscan(t.Name(), &id)
		// The system call has 20 less the niceness.
		n, err := unix.Getpriority(unix.PRIO_PROCESS, id)
		if err != nil {
			return err
		}
		s.Nice[id] = 20 - n
	}
	if s.NoNewPrivs, err = unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0); err != nil {
		return err
	}
	for path, to := range map[string]*string{"/proc/self/oom_score_adj": &s.OOM, "/proc/self/comm": &s.Name} {
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		*to = strings.TrimSpace(string(b))
	}
	return json.NewEncoder(c.Output).Encode(s)
}

// attempt tries what is refused, and some that is not. Every thread is under
// the same filter, so that it matters on which one a call is made.
func attempt(c Conn) error {
	tried := map[string]string{}
	try := func(name string, errno error) {
		if e, ok := errno.(syscall.Errno); ok && e == 0 {
			errno = nil
		}
		tried[name] = fmt.Sprint(errno)
	}
	raw := func(name string, trap uintptr, args ...uintptr) {
		var a [6]uintptr
		copy(a[:], args)
		_, _, errno := syscall.Syscall6(trap, a[0], a[1], a[2], a[3], a[4], a[5])
		try(name, errno)
	}
	all := func() {
		for name, domain := range map[string]int{"inet": unix.AF_INET, "inet6": unix.AF_INET6, "unix": unix.AF_UNIX, "netlink": unix.AF_NETLINK, "packet": unix.AF_PACKET} {
			_, err := unix.Socket(domain, unix.SOCK_STREAM, 0)
			try("socket "+name, err)
		}
		_, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		try("socketpair", err)
		raw("io_uring_setup", unix.SYS_IO_URING_SETUP, 1, 0)
		raw("ptrace", unix.SYS_PTRACE, unix.PTRACE_TRACEME)
		raw("process_vm_readv", unix.SYS_PROCESS_VM_READV, uintptr(os.Getppid()))
		raw("kill", unix.SYS_KILL, uintptr(os.Getppid()), 0)
		raw("tgkill parent", unix.SYS_TGKILL, uintptr(os.Getppid()), uintptr(os.Getppid()), 0)
		raw("tgkill self", unix.SYS_TGKILL, uintptr(os.Getpid()), uintptr(unix.Gettid()), 0)
		raw("pidfd_open", unix.SYS_PIDFD_OPEN, uintptr(os.Getppid()), 0)
		raw("setsid", unix.SYS_SETSID)
		raw("setpgid", unix.SYS_SETPGID, 0, 0)
		raw("memfd_create", unix.SYS_MEMFD_CREATE, uintptr(unsafe.Pointer(&[]byte("x\x00")[0])), 0)
		raw("mmap shared", unix.SYS_MMAP, 0, 4096, unix.PROT_READ, unix.MAP_SHARED|unix.MAP_ANONYMOUS, ^uintptr(0), 0)
		raw("mmap private", unix.SYS_MMAP, 0, 4096, unix.PROT_READ, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS, ^uintptr(0), 0)
		raw("shmget", unix.SYS_SHMGET, 0, 4096, 0o600)
		raw("prlimit64 get", unix.SYS_PRLIMIT64, 0, unix.RLIMIT_CPU, 0, uintptr(unsafe.Pointer(&unix.Rlimit{})))
		raw("prlimit64 set", unix.SYS_PRLIMIT64, 0, unix.RLIMIT_CPU, uintptr(unsafe.Pointer(&unix.Rlimit{Cur: 1 << 30, Max: 1 << 30})), 0)
		raw("setrlimit", unix.SYS_SETRLIMIT, unix.RLIMIT_CPU, uintptr(unsafe.Pointer(&unix.Rlimit{Cur: 1 << 30, Max: 1 << 30})))
		raw("keyctl", unix.SYS_KEYCTL, 0, 0)
		raw("bpf", unix.SYS_BPF, 0, 0, 0)
		raw("unshare", unix.SYS_UNSHARE, unix.CLONE_NEWUSER)
		raw("mount", unix.SYS_MOUNT, 0, 0, 0)
		raw("prctl pdeathsig", unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, 0)
		raw("ioctl TIOCSTI", unix.SYS_IOCTL, 0, 0x5412, uintptr(unsafe.Pointer(&[]byte("x")[0])))
		raw("clone3", unix.SYS_CLONE3, 0, 0)
		if pid, _, errno := syscall.RawSyscall(unix.SYS_CLONE, uintptr(syscall.SIGCHLD), 0, 0); errno == 0 && pid == 0 {
			syscall.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
		} else {
			try("fork", errno)
		}
		try("exec", unix.Exec("/bin/true", []string{"true"}, nil))
		raw("execveat", unix.SYS_EXECVEAT, ^uintptr(0), 0, 0, 0, 0)
	}
	runtime.GOMAXPROCS(4)
	done := make(chan bool)
	go func() { // on another thread, this one being kept
		runtime.LockOSThread()
		all()
		done <- true
	}()
	<-done
	runtime.LockOSThread()
	all()
	return json.NewEncoder(c.Output).Encode(tried)
}

// files does with each path of its config what the word before it says.
func files(c Conn) error {
	// On another thread than the one that was confined first.
	runtime.LockOSThread()
	done := make(chan error)
	go func() { done <- useFiles(c) }()
	return <-done
}

func useFiles(c Conn) error {
	for line := range strings.Lines(string(c.Config)) {
		what, path, _ := strings.Cut(strings.TrimSpace(line), " ")
		var err error
		switch what {
		case "read":
			_, err = os.ReadFile(path)
		case "list":
			_, err = os.ReadDir(path)
		case "write":
			err = os.WriteFile(path, []byte("1234567890"), 0o600)
		case "mkdir":
			err = os.Mkdir(path, 0o700)
		case "remove":
			err = os.Remove(path)
		}
		var errno syscall.Errno
		if err != nil && !errors.As(err, &errno) {
			return err
		}
		fmt.Fprintln(c.Output, what, filepath.Base(path), errno.Error())
	}
	return nil
}

// code writes machine code and makes it executable, as a compiler at run time
// does, from many goroutines while the garbage collector works.
func code(c Conn) error {
	for range 20 {
		done := make(chan error)
		for range 8 {
			go func() {
				b, err := unix.Mmap(-1, 0, 64<<10, unix.PROT_READ|unix.PROT_WRITE|unix.PROT_EXEC, unix.MAP_PRIVATE|unix.MAP_ANON)
				if err == nil {
					b[0] = 0xc3
					err = errors.Join(unix.Mprotect(b, unix.PROT_READ|unix.PROT_EXEC), unix.Munmap(b))
				}
				_ = make([]byte, 1<<20)
				done <- err
			}()
		}
		for range 8 {
			if err := <-done; err != nil {
				return err
			}
		}
		runtime.GC()
	}
	_, err := io.WriteString(c.Output, "ran")
	return err
}

// parents are what a test starts this binary for when it needs a parent in a
// process of its own.
func parents() map[string]func() error {
	return map[string]func() error{
		// Runs a worker that says its pid and stays.
		"stay": func() error {
			_, err := New(Config{Memory: 1 << 30}).Run(background(), spec("pid"), func(r io.Reader) error {
				_, err := io.Copy(os.Stdout, r)
				return err
			})
			return err
		},
		// Waits for a word, then runs a worker.
		"wait": func() error {
			if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
				return err
			}
			s := spec("echo")
			s.Config = []byte("from what was there")
			_, err := New(Config{Memory: 1 << 30}).Run(background(), s, func(r io.Reader) error {
				_, err := io.Copy(os.Stdout, r)
				return err
			})
			return err
		},
		"bare":   bare,
		"escape": escape,
		// Has held much before it starts children that hold little.
		"large": func() error {
			b := make([]byte, 200<<20)
			for i := 0; i < len(b); i += 4096 {
				b[i] = 1
			}
			runtime.KeepAlive(b)
			l := New(Config{Memory: 1 << 30})
			for _, s := range []Spec{spec("print"), program("/bin/true")} {
				u, err := l.Run(background(), s, nil)
				if err != nil {
					return err
				}
				fmt.Println(u.MaxRSS)
			}
			return nil
		},
	}
}

// parent starts this binary in one of those roles, from the given file.
func parent(t *testing.T, binary, role string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary)
	cmd.Env = append(os.Environ(), "CHILD_TEST_PARENT="+role, quickExit)
	cmd.Stderr = os.Stderr
	return cmd
}
