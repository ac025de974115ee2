package child

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

// spec is a worker with bounds that none of the tests should reach.
func spec(worker string) Spec {
	s := Spec{Worker: worker, Memory: 128 << 20, CPU: 30 * time.Second, Wall: 60 * time.Second, MaxOutput: 1 << 20}
	if raceDetector && worker != "" {
		s.Env = []string{quickExit}
	}
	return s
}

// quickExit keeps the race detector from waiting a second at each exit.
const quickExit = "GORACE=atexit_sleep_ms=0"

func program(path string, args ...string) Spec {
	s := spec("")
	s.Program, s.Args = path, args
	return s
}

// run runs one child and returns all of its output.
func run(t *testing.T, s Spec) (string, Usage, error) {
	t.Helper()
	return runWith(t, New(Config{Memory: 1 << 30}), s)
}

func runWith(t *testing.T, l *Launcher, s Spec) (string, Usage, error) {
	t.Helper()
	var out bytes.Buffer
	u, err := l.Run(t.Context(), s, func(r io.Reader) error {
		_, err := out.ReadFrom(r)
		return err
	})
	if used, waiting := l.Load(); used != 0 || waiting != 0 {
		t.Errorf("after Run %d bytes are taken and %d wait", used, waiting)
	}
	return out.String(), u, err
}

func mustRun(t *testing.T, s Spec) string {
	t.Helper()
	out, _, err := run(t, s)
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr(err))
	}
	return out
}

func stderr(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Stderr
	}
	return ""
}

func wantError(t *testing.T, err error, reason Reason, is error) *Error {
	t.Helper()
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Reason != reason {
		t.Fatalf("got %v, want an error with reason %q\n%s", err, reason, stderr(err))
	}
	if is != nil && !errors.Is(err, is) {
		t.Errorf("%v is not %v", err, is)
	}
	return e
}

// waitGone waits for the end of any process of this host.
func waitGone(t *testing.T, pid int) {
	t.Helper()
	fd, err := unix.PidfdOpen(pid, 0)
	if err == unix.ESRCH {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 20_000)
		if err == unix.EINTR {
			continue
		}
		if n == 0 || err != nil {
			t.Fatalf("process %d lives on (%v)", pid, err)
		}
		return
	}
}

// eventually asks again until it is so.
func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	end := time.After(20 * time.Second)
	for !so() {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("not within 20 s: %s", what)
		}
	}
}

// inGroup lists the processes of a group, zombies included.
func inGroup(t *testing.T, group int) []int {
	t.Helper()
	var found []int
	procs, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range procs {
		b, err := os.ReadFile(p)
		if err != nil {
			continue // ended meanwhile
		}
		f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:])) // state, parent, group, …
		if f[2] == strconv.Itoa(group) {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(p)))
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, pid)
		}
	}
	return found
}

func TestAWorkerGetsItsConfigAndItsInputAndNothingIsLost(t *testing.T) {
	config := bytes.Repeat([]byte{0, 0xff, '"', 'x'}, maxConfig/4)
	data := bytes.Repeat([]byte("0123456789"), 90_000)
	s := spec("echo")
	s.Config, s.Data, s.MaxOutput = config, data, int64(len(config)+len(data))
	out, u, err := run(t, s)
	if err != nil {
		t.Fatal(err)
	}
	if out != string(config)+string(data) {
		t.Errorf("got %d bytes, want %d", len(out), len(config)+len(data))
	}
	if u.CPU <= 0 || u.Wall <= 0 || u.MaxRSS < 1<<20 || u.Killed != "" {
		t.Errorf("usage %+v", u)
	}
}

func TestAWorkerReadsAFileWhereItLikes(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "input"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("0123456789"); err != nil {
		t.Fatal(err)
	}
	s := spec("at")
	s.Input = f
	if got := mustRun(t, s); got != "6789" {
		t.Errorf("got %q", got)
	}
	if _, err := f.Stat(); err != nil {
		t.Errorf("the input was closed: %v", err)
	}
}

func TestAWorkerMayLeaveItsInput(t *testing.T) {
	s := spec("first")
	s.Data = make([]byte, 10<<20)
	if got := mustRun(t, s); len(got) != 10 {
		t.Errorf("got %d bytes", len(got))
	}
}

func TestAWorkerWithoutInputHasNone(t *testing.T) {
	s := spec("echo")
	s.Config = []byte("only this")
	if got := mustRun(t, s); got != "only this" {
		t.Errorf("got %q", got)
	}
	s.Data = []byte{}
	if got := mustRun(t, s); got != "only this" {
		t.Errorf("with an empty input: got %q", got)
	}
}

func TestAStrayPrintGoesToStandardError(t *testing.T) {
	if got := mustRun(t, spec("print")); got != "meant" {
		t.Errorf("got %q", got)
	}
}

func TestAChildFindsNothingButWhatItWasGiven(t *testing.T) {
	// What another library, or whoever started the service, left open.
	leak, err := syscall.Open("/etc/passwd", syscall.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(leak)
	t.Setenv("SECRET", "s3cret")

	s := spec("look")
	s.Env = append(s.Env, "NAMED=1")
	s.Data = []byte("x")
	s.ReadPaths = []string{"/proc"}
	s.MaxFile, s.Nice, s.Procs = 4096, 7, 3
	s.CPU = 1500 * time.Millisecond
	var got surroundings
	if err := json.Unmarshal([]byte(mustRun(t, s)), &got); err != nil {
		t.Fatal(err)
	}
	memory := uint64(s.Memory)
	if raceDetector {
		memory = got.Limits["data"][0]
	}
	if len(got.Nice) < 2 {
		t.Errorf("the worker has %d threads, too few to show anything of niceness", len(got.Nice))
	}
	for thread, nice := range got.Nice {
		if nice != 7 {
			t.Errorf("thread %d has niceness %d", thread, nice)
		}
	}
	if got.Group != got.Self {
		t.Errorf("process %d is in the group %d", got.Self, got.Group)
	}
	want := surroundings{
		Args: []string{argv0, "look"}, Env: s.Env, Dir: "/",
		Limits: map[string][2]uint64{
			"data": {memory, memory}, "cpu": {2, 2}, "fsize": {4096, 4096}, "core": {0, 0}, "nofile": {maxFiles, maxFiles},
		},
		// Standard error is there in the place of standard output too.
		Files:      map[int]string{0: "pipe", 1: "pipe", 2: "pipe", 4: "pipe"},
		NoNewPrivs: 1, OOM: "1000", Procs: 3, Name: argv0,
		Nice: got.Nice, Group: got.Group, Self: got.Self,
	}
	// Beside those: the output, what tells of its memory, and what Go's runtime
	// opens for itself (for polling, and to follow the container's quota).
	own := []string{"pipe", "status", "anon_inode", "cpu.max", "cpu.cfs_quota_us", "cpu.cfs_period_us"}
	for fd, name := range got.Files {
		if _, ok := want.Files[fd]; ok {
			continue
		}
		if !slices.Contains(own, filepath.Base(name)) {
			t.Errorf("descriptor %d is %s", fd, name)
		}
		delete(got.Files, fd)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestNobodyElseCanSeeTheConfig(t *testing.T) {
	s := spec("secret")
	s.Config, s.Env = []byte("s3cret"), nil
	s.ReadPaths = []string{"/proc"}
	if got, want := mustRun(t, s), "cmdline \"sift-child\\x00secret\\x00\"\nenviron \"\"\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAWorkerIsRefusedWhatItHasNoUseFor(t *testing.T) {
	s := spec("attempt")
	var got map[string]string
	if err := json.Unmarshal([]byte(mustRun(t, s)), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"tgkill self": "<nil>", "mmap private": "<nil>", "prlimit64 get": "<nil>", "clone3": "function not implemented"}
	for _, call := range []string{
		"socket inet", "socket inet6", "socket unix", "socket netlink", "socket packet", "socketpair", "io_uring_setup",
		"ptrace", "process_vm_readv", "kill", "tgkill parent", "pidfd_open", "setsid", "setpgid",
		"memfd_create", "mmap shared", "shmget", "prlimit64 set", "setrlimit",
		"keyctl", "bpf", "unshare", "mount", "prctl pdeathsig", "ioctl TIOCSTI", "fork", "exec", "execveat",
	} {
		want[call] = "operation not permitted"
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestOnlyNamedFilesCanBeUsed(t *testing.T) {
	if raceDetector {
		t.Log("not in a build with cgo: Landlock cannot be put on all threads")
		return
	}
	dir := t.TempDir()
	for _, d := range []string{"in", "out", "other"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, d, d+".txt"), []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	single := filepath.Join(dir, "single.txt")
	if err := os.WriteFile(single, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	s := spec("files")
	s.ReadPaths = []string{filepath.Join(dir, "in"), single}
	s.WritePaths = []string{filepath.Join(dir, "out")}
	s.MaxFile = 5
	s.Config = []byte(strings.ReplaceAll(`
read DIR/in/in.txt
list DIR/in
read DIR/single.txt
read DIR/other/other.txt
list DIR/other
read /etc/passwd
read /proc/self/status
read /proc/PARENT/environ
write DIR/in/new.txt
write DIR/other/new.txt
remove DIR/in/in.txt
mkdir DIR/out/folder
remove DIR/out/folder
remove DIR/out/out.txt
write DIR/out/long.txt`[1:], "DIR", dir))
	s.Config = bytes.ReplaceAll(s.Config, []byte("PARENT"), []byte(strconv.Itoa(os.Getpid())))
	want := `
read in.txt errno 0
list in errno 0
read single.txt errno 0
read other.txt permission denied
list other permission denied
read passwd permission denied
read status permission denied
read environ permission denied
write new.txt permission denied
write new.txt permission denied
remove in.txt permission denied
mkdir folder errno 0
remove folder errno 0
remove out.txt errno 0
write long.txt file too large
`[1:]
	if diff := cmp.Diff(want, mustRun(t, s)); diff != "" {
		t.Error(diff)
	}
	b, err := os.ReadFile(filepath.Join(dir, "out", "long.txt"))
	if err != nil || string(b) != "12345" {
		t.Errorf("the file has %q, %v", b, err)
	}

	s.ReadPaths = append(s.ReadPaths, filepath.Join(dir, "gone"))
	_, _, err = run(t, s)
	if e := wantError(t, err, ReasonStart, ErrStart); !errors.Is(err, ErrStart) || !strings.Contains(e.Error(), "gone") {
		t.Errorf("a path that does not exist: %v", err)
	}
}

func TestCodeCanBeMadeAtRunTime(t *testing.T) {
	s := spec("code")
	s.Procs = 2
	if got := mustRun(t, s); got != "ran" {
		t.Errorf("got %q", got)
	}
}

func TestAChildThatNeedsTooMuchMemoryDies(t *testing.T) {
	if raceDetector {
		t.Log("not with the race detector, whose memory would be counted")
		return
	}
	for _, worker := range []string{"hog", "grab", "mmap"} {
		t.Run(worker, func(t *testing.T) {
			s := spec(worker)
			s.Memory = 256 << 20
			out, u, err := run(t, s)
			e := wantError(t, err, ReasonMemory, ErrMemory)
			if u.Killed != ReasonMemory {
				t.Errorf("usage says %q", u.Killed)
			}
			if u.MaxRSS > s.Memory+16<<20 {
				t.Errorf("it held %d MiB", u.MaxRSS>>20)
			}
			if worker == "hog" && (out != "begun\n" || u.MaxRSS < s.Memory/2) {
				t.Errorf("it wrote %q and held %d MiB", out, u.MaxRSS>>20)
			}
			if strings.Contains(e.Error(), "goroutine") {
				t.Errorf("the error quotes standard error: %v", e)
			}
		})
	}
}

func TestAChildWithHardlyAnyMemoryRunsOrDiesOfIt(t *testing.T) {
	if raceDetector {
		t.Log("not with the race detector, in whose build memory is not bounded")
		return
	}
	for memory := int64(minMemory); memory <= 128<<20; memory *= 2 {
		for _, s := range []Spec{spec("code"), program("/bin/true")} {
			s.Memory = memory
			if _, _, err := run(t, s); err != nil {
				wantError(t, err, ReasonMemory, ErrMemory)
			}
		}
	}
}

func TestAProgramThatNeedsTooMuchMemoryDies(t *testing.T) {
	if raceDetector {
		t.Log("not with the race detector, in whose build memory is not bounded")
		return
	}
	s := program("/bin/sh", "-c", `x=x; while :; do x="$x$x"; done`)
	s.Memory = 256 << 20
	_, u, err := run(t, s)
	wantError(t, err, ReasonMemory, ErrMemory)
	if u.Killed != ReasonMemory {
		t.Errorf("usage says %q", u.Killed)
	}
}

func TestAChildThatTakesTooMuchProcessorTimeIsKilled(t *testing.T) {
	s := spec("spin")
	s.CPU = time.Second
	out, u, err := run(t, s)
	wantError(t, err, ReasonCPU, ErrCPU)
	if !errors.Is(err, ErrTimeout) || errors.Is(err, ErrCrashed) {
		t.Errorf("%v is of the wrong class", err)
	}
	if out != "begun\n" || u.Killed != ReasonCPU || u.CPU < 700*time.Millisecond || u.CPU > 3*time.Second {
		t.Errorf("it wrote %q and took %+v", out, u)
	}
}

func TestAChildThatTakesTooLongIsKilled(t *testing.T) {
	s := spec("pid")
	s.Wall = 300 * time.Millisecond
	_, u, err := run(t, s)
	wantError(t, err, ReasonWall, ErrTimeout)
	if errors.Is(err, ErrCPU) || u.Killed != ReasonWall || u.Wall < s.Wall {
		t.Errorf("%v, %+v", err, u)
	}
}

func TestAnOutputOverTheBoundIsCutAndItsChildKilled(t *testing.T) {
	for _, worker := range []string{"flood", "echo"} {
		s := spec(worker)
		s.MaxOutput = 100_000
		s.Data = make([]byte, s.MaxOutput+1)
		out, u, err := run(t, s)
		wantError(t, err, ReasonOutput, ErrOutput)
		if len(out) != 100_000 || u.Killed != ReasonOutput {
			t.Errorf("%s: read saw %d bytes, usage %+v", worker, len(out), u)
		}
		s.Worker, s.Data = "echo", s.Data[1:]
		if out := mustRun(t, s); len(out) != 100_000 {
			t.Errorf("of an output as long as the bound %d bytes came", len(out))
		}
	}
}

func TestAChildThatFloodsStandardErrorIsKilled(t *testing.T) {
	_, u, err := run(t, spec("complain"))
	e := wantError(t, err, ReasonOutput, ErrOutput)
	if len(e.Stderr) > headStderr+tailStderr+10 || len(e.Stderr) < tailStderr || u.Killed != ReasonOutput {
		t.Errorf("%d bytes were kept, usage %+v", len(e.Stderr), u)
	}
}

func TestAChildMayEndItsOutputBeforeItself(t *testing.T) {
	inR, inW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer inR.Close()
	s := spec("mute")
	s.Input = inR
	var out []byte
	_, err = New(Config{Memory: 1 << 30}).Run(t.Context(), s, func(r io.Reader) (err error) {
		out, err = io.ReadAll(r)
		inW.Close() // it goes on only now
		return err
	})
	if string(out) != "that is all\n" {
		t.Errorf("read saw %q", out)
	}
	if e := wantError(t, err, ReasonFailed, ErrFailed); !strings.HasPrefix(e.Stderr, "after the output") {
		t.Errorf("standard error is %q", e.Stderr)
	}
}

func TestAnEndThatIsNotGoodIsTold(t *testing.T) {
	for worker, want := range map[string]*Error{
		"fail":    {Reason: ReasonFailed, ExitCode: 1, Stderr: "bad \uFFFD[31minput x"},
		"exit3":   {Reason: ReasonCrash, ExitCode: 3},
		"panic":   {Reason: ReasonCrash, ExitCode: 2, Stderr: "panic: ppp"},
		"gopanic": {Reason: ReasonCrash, ExitCode: 2, Stderr: "panic: elsewhere"},
		"fault":   {Reason: ReasonCrash, Signal: "killed"},
		"nobody":  {Reason: ReasonStart},
	} {
		t.Run(worker, func(t *testing.T) {
			s := spec(worker)
			s.Config = []byte("x")
			_, u, err := run(t, s)
			e := wantError(t, err, want.Reason, nil)
			if e.ExitCode != want.ExitCode || e.Signal != want.Signal || !strings.HasPrefix(e.Stderr, want.Stderr) || e.Name != worker {
				t.Errorf("got %#v", e)
			}
			if errors.Is(err, ErrCrashed) != (want.Reason == ReasonCrash) || errors.Is(err, ErrFailed) != (want.Reason == ReasonFailed) || errors.Is(err, ErrStart) != (want.Reason == ReasonStart) {
				t.Errorf("%v is of the wrong class", err)
			}
			if killed := u.Killed != ""; killed != (want.Reason == ReasonCrash) {
				t.Errorf("usage says %q", u.Killed)
			}
			if strings.Contains(e.Error(), "31m") || strings.Contains(e.Error(), "pp") {
				t.Errorf("the text quotes the child: %s", e)
			}
		})
	}
}

func TestAReaderThatFailsEndsTheChild(t *testing.T) {
	broken := errors.New("not a page")
	u, err := New(Config{Memory: 1 << 30}).Run(t.Context(), spec("pid"), func(io.Reader) error { return broken })
	wantError(t, err, ReasonRead, broken)
	if u.Killed != ReasonRead {
		t.Errorf("usage says %q", u.Killed)
	}
	// A complaint about an output that was complete is the reader's all the same.
	_, err = New(Config{Memory: 1 << 30}).Run(t.Context(), spec("print"), func(r io.Reader) error {
		_, err := io.Copy(io.Discard, r)
		return errors.Join(broken, err)
	})
	wantError(t, err, ReasonRead, broken)
}

func TestAReaderThatFailsBecauseTheChildDiedIsNotToBlame(t *testing.T) {
	for worker, want := range map[string]Reason{"panic": ReasonCrash, "fault": ReasonCrash, "fail": ReasonFailed} {
		_, err := New(Config{Memory: 1 << 30}).Run(t.Context(), spec(worker), func(r io.Reader) error {
			_, err := io.ReadFull(r, make([]byte, 10))
			return err
		})
		e := wantError(t, err, want, io.EOF)
		if strings.Contains(e.Error(), "EOF") {
			t.Errorf("%s: %v", worker, e)
		}
	}
}

func TestAReaderThatHasEnoughMayLeave(t *testing.T) {
	var line [1]byte
	u, err := New(Config{Memory: 1 << 30}).Run(t.Context(), spec("pid"), func(r io.Reader) error {
		_, err := io.ReadFull(r, line[:])
		return err
	})
	if err != nil || u.Killed != ReasonRead {
		t.Errorf("%v, usage %+v", err, u)
	}
}

func TestNoReaderIsOneThatThrowsAway(t *testing.T) {
	s := spec("echo")
	s.Data = make([]byte, 500_000)
	l := New(Config{Memory: 1 << 30})
	if _, err := l.Run(t.Context(), s, nil); err != nil {
		t.Error(err)
	}
	s.MaxOutput = 1000
	_, err := l.Run(t.Context(), s, nil)
	wantError(t, err, ReasonOutput, ErrOutput)
}

func TestAReaderThatPanicsOrExitsLeavesNothing(t *testing.T) {
	for name, leave := range map[string]func(){"panic": func() { panic("reader") }, "goexit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			var ended error
			l := New(Config{Memory: 1 << 30, Trace: &Trace{Ended: func(_ string, _ Usage, err error) { ended = err }}})
			var pid int
			var recovered any
			var wg sync.WaitGroup
			wg.Go(func() {
				defer func() { recovered = recover() }()
				_, _ = l.Run(t.Context(), spec("pid"), func(r io.Reader) error {
					_, err := fmt.Fscan(r, &pid)
					leave()
					return err
				})
				t.Error("Run returned")
			})
			wg.Wait()
			if (recovered != nil) != (name == "panic") {
				t.Errorf("recovered %v", recovered)
			}
			if left := inGroup(t, pid); pid == 0 || len(left) > 0 {
				t.Errorf("of child %d are left: %v", pid, left)
			}
			if used, _ := l.Load(); used != 0 {
				t.Errorf("%d bytes are taken", used)
			}
			if ended == nil {
				t.Error("the trace was told of a good end")
			}
		})
	}
}

func TestTheEndOfTheContextEndsTheChild(t *testing.T) {
	gone := errors.New("the caller went away")
	ctx, cancel := context.WithCancelCause(t.Context())
	var pid int
	u, err := New(Config{Memory: 1 << 30}).Run(ctx, spec("pid"), func(r io.Reader) error {
		if _, err := fmt.Fscan(r, &pid); err != nil {
			return err
		}
		cancel(gone)
		_, err := io.Copy(io.Discard, r) // sees the end now
		return err
	})
	wantError(t, err, ReasonCancel, gone)
	if left := inGroup(t, pid); len(left) > 0 || u.Killed != ReasonCancel {
		t.Errorf("%v are left, usage %+v", left, u)
	}
}

func TestAContextThatHasEndedStartsNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	l := New(Config{Memory: 1 << 30, Trace: &Trace{Started: func(string, time.Duration) { t.Error("started") }}})
	_, err := l.Run(ctx, spec("echo"), nil)
	wantError(t, err, ReasonCancel, context.Canceled)
}

func TestADeadlineOfTheContextIsNoTimeoutOfTheChild(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err := New(Config{Memory: 1 << 30}).Run(ctx, spec("pid"), nil)
	wantError(t, err, ReasonCancel, context.DeadlineExceeded)
	if errors.Is(err, ErrTimeout) {
		t.Errorf("%v is of the wrong class", err)
	}
}

// held runs a child that stays until release is called.
func held(t *testing.T, l *Launcher, memory int64) (release func(), done chan error) {
	t.Helper()
	inR, inW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s := spec("echo")
	s.Input, s.Memory, s.Config = inR, memory, []byte("x")
	ready := make(chan bool, 1)
	done = make(chan error, 1)
	go func() {
		defer inR.Close()
		_, err := l.Run(t.Context(), s, func(r io.Reader) error {
			_, err := r.Read(make([]byte, 1))
			ready <- true
			_, cerr := io.Copy(io.Discard, r)
			return errors.Join(err, cerr)
		})
		done <- err
	}()
	<-ready
	return func() { inW.Close() }, done
}

func TestChildrenRunAtOnceWithinTheBudgetAndTheRestWaitInOrder(t *testing.T) {
	const part = 100 << 20
	var mu sync.Mutex
	var started []string
	l := New(Config{Memory: 2 * part, Trace: &Trace{Started: func(name string, _ time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		started = append(started, name)
	}}})
	releaseA, doneA := held(t, l, part)
	releaseB, doneB := held(t, l, part)
	if used, waiting := l.Load(); used != 2*part || waiting != 0 {
		t.Fatalf("%d bytes, %d waiting", used, waiting)
	}

	// The first of those that wait needs all, the second little: it waits too.
	var wg sync.WaitGroup
	wait := func(ctx context.Context, s Spec, waiting int, want Reason) {
		wg.Go(func() {
			_, err := l.Run(ctx, s, nil)
			if want != "" {
				wantError(t, err, want, nil)
			} else if err != nil {
				t.Error(err)
			}
		})
		eventually(t, "the child waits", func() bool { _, n := l.Load(); return n == waiting })
	}
	ctx, cancel := context.WithCancel(t.Context())
	large, gone, small := spec("print"), spec("look"), spec("code")
	large.Memory, gone.Memory, small.Memory = 2*part, part, part
	wait(t.Context(), large, 1, "")
	wait(ctx, gone, 2, ReasonCancel)
	wait(t.Context(), small, 3, "")
	releaseA()
	if err := <-doneA; err != nil {
		t.Error(err)
	}
	cancel()
	eventually(t, "the cancelled one leaves", func() bool { _, n := l.Load(); return n == 2 })
	releaseB()
	if err := <-doneB; err != nil {
		t.Error(err)
	}
	wg.Wait()
	if diff := cmp.Diff([]string{"echo", "echo", "print", "code"}, started); diff != "" {
		t.Error(diff)
	}
	if used, waiting := l.Load(); used != 0 || waiting != 0 {
		t.Errorf("%d bytes, %d waiting", used, waiting)
	}
}

func TestASpecThatCannotRunIsRefusedAtOnce(t *testing.T) {
	change := func(f func(*Spec)) Spec {
		s := spec("echo")
		f(&s)
		return s
	}
	for name, s := range map[string]Spec{
		"nothing":          {},
		"both":             change(func(s *Spec) { s.Program = "/bin/true" }),
		"relative program": change(func(s *Spec) { s.Worker, s.Program = "", "true" }),
		"config of a program": change(func(s *Spec) {
			s.Worker, s.Program, s.Config = "", "/bin/true", []byte{}
		}),
		"arguments of a worker": change(func(s *Spec) { s.Args = []string{"x"} }),
		"worker that forks":     change(func(s *Spec) { s.Fork = true }),
		"two inputs":            change(func(s *Spec) { s.Input, s.Data = os.Stdin, []byte{} }),
		"no memory":             change(func(s *Spec) { s.Memory = 0 }),
		"hardly any memory":     change(func(s *Spec) { s.Memory = minMemory - 1 }),
		"no processor time":     change(func(s *Spec) { s.CPU = 0 }),
		"no time":               change(func(s *Spec) { s.Wall = 0 }),
		"no output":             change(func(s *Spec) { s.MaxOutput = 0 }),
		"less than no file":     change(func(s *Spec) { s.MaxFile = -1 }),
		"pushy":                 change(func(s *Spec) { s.Nice = -1 }),
		"over the budget":       change(func(s *Spec) { s.Memory = 200<<20 + 1 }),
		"long config":           change(func(s *Spec) { s.Config = make([]byte, maxConfig+1) }),
		"long arguments":        change(func(s *Spec) { s.Worker, s.Program, s.Args = "", "/bin/true", []string{strings.Repeat("x", maxWords)} }),
		"zero byte":             change(func(s *Spec) { s.Env = []string{"a=\x00"} }),
		"relative path":         change(func(s *Spec) { s.ReadPaths = []string{"cache"} }),
	} {
		_, err := New(Config{Memory: 200 << 20}).Run(t.Context(), s, nil)
		if e := wantError(t, err, ReasonStart, ErrStart); e.Err == nil {
			t.Errorf("%s: no reason is given", name)
		}
	}
	_, err := New(Config{}).Run(t.Context(), spec("echo"), nil)
	wantError(t, err, ReasonStart, ErrStart)
}

func TestAProgramThatIsNotThereIsNotStarted(t *testing.T) {
	for _, s := range []Spec{program("/nowhere/tesseract"), program("/etc/passwd"), program("/usr")} {
		_, u, err := run(t, s)
		wantError(t, err, ReasonStart, ErrStart)
		if u.Killed != "" {
			t.Errorf("usage says %q", u.Killed)
		}
	}
	s := spec("echo")
	s.Dir = "/nowhere"
	_, _, err := run(t, s)
	wantError(t, err, ReasonStart, os.ErrNotExist)
	_, err = New(Config{Memory: 1 << 30, Executable: "/nowhere"}).Run(t.Context(), spec("echo"), nil)
	wantError(t, err, ReasonStart, os.ErrNotExist)
}

func TestAProgramRunsUnderTheSameLimits(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, []byte("s3cret"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SECRET", "s3cret")
	// Everything here is done by the shell itself, as it may start nothing.
	script := `
read line; echo "input $line"
echo "arguments $0 $1"
echo "environment $(export -p)" || :
`
	script = strings.ReplaceAll(script, `echo "environment $(export -p)" || :`, `export -p`) + `
ulimit -t; ulimit -f; ulimit -n; ulimit -c; ulimit -d
echo x > ` + dir + `/new || echo "no writing"
read line < ` + secret + ` && echo "$line" || echo "no reading"
(echo forked) || echo "no forking"
`
	s := program("/bin/sh", "-c", script, "name", "it's \xff")
	s.Env = []string{"NAMED=1"}
	s.Data = []byte("a word\n")
	s.Dir = "/usr"
	out, _, err := run(t, s)
	e := wantError(t, err, ReasonFailed, ErrFailed) // the shell gives up when it cannot fork
	if !strings.Contains(e.Stderr, "Cannot fork") {
		t.Errorf("standard error is %q", e.Stderr)
	}
	memory := strconv.FormatInt(s.Memory>>10, 10)
	if raceDetector {
		memory = "unlimited"
	}
	want := "input a word\narguments name it's \xff\nexport NAMED='1'\nexport PWD='/usr'\n30\n0\n64\n0\n" + memory + "\nno writing\nno reading\n"
	if diff := cmp.Diff(want, out); diff != "" {
		t.Error(diff)
	}
}

func TestAProgramReadsAndWritesWhatIsNamed(t *testing.T) {
	dir := t.TempDir()
	s := program("/bin/sh", "-c", "echo 12345678901234567890 > "+dir+"/new; read line < "+dir+"/new; echo $line")
	s.WritePaths, s.MaxFile = []string{dir}, 512
	if got := mustRun(t, s); got != "12345678901234567890\n" {
		t.Errorf("got %q", got)
	}
	// Over its bound the file is cut, and the program told and not killed.
	s.MaxFile = 10
	out, _, err := run(t, s)
	if out != "1234567890\n" || err == nil && stderr(err) != "" {
		t.Errorf("got %q, %v", out, err)
	}
}

func TestAProgramCannotGainPrivileges(t *testing.T) {
	s := program("/bin/grep", "NoNewPrivs", "/proc/self/status")
	s.ReadPaths = []string{"/proc/self/status"}
	if got := mustRun(t, s); got != "NoNewPrivs:\t1\n" {
		t.Errorf("got %q", got)
	}
}

func TestTheMemoryOfAChildIsNotTakenForThatOfALargeParent(t *testing.T) {
	b, err := parent(t, os.Args[0], "large").Output()
	if err != nil {
		t.Fatal(err)
	}
	var worker, program int64
	if _, err := fmt.Sscan(string(b), &worker, &program); err != nil {
		t.Fatal(err)
	}
	if worker < 1<<20 || worker > 100<<20 {
		t.Errorf("a worker that does little is said to have held %d MiB", worker>>20)
	}
	if program != 0 {
		t.Errorf("of a program that does little %d MiB are said to be known", program>>20)
	}
}

func TestAProcessThatEscapesKeepsNobodyWaiting(t *testing.T) {
	out, err := parent(t, os.Args[0], "escape").Output()
	if err != nil {
		t.Fatal(err)
	}
	if string(out) != "escaped" {
		t.Errorf("got %q", out)
	}
}

func TestAProgramHasNoSockets(t *testing.T) {
	perl, err := exec.LookPath("perl")
	if err != nil {
		t.Fatal("this test needs perl, which every Debian has")
	}
	s := program(perl, "-e", `use Socket; print socket(my $s, AF_INET, SOCK_STREAM, 0) ? "open" : "$!"; print " ", kill(0, getppid) ? "signalled" : "$!"`)
	if got := mustRun(t, s); got != "Operation not permitted Operation not permitted" {
		t.Errorf("got %q", got)
	}
}

func TestWhatAProgramStartsDiesWithIt(t *testing.T) {
	// As the first process of a container would be: what is orphaned is ours.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) }()
	for name, c := range map[string]struct {
		script string
		kill   bool
	}{
		"killed":                {"sleep 1000 & sleep 1000 & echo $$; wait", true},
		"ends itself":           {"sleep 1000 & echo $$", false},
		"tries to leave":        {"setsid sleep 1000 & echo $$; wait", false},
		"tries and stays alive": {"sleep 1000 & setsid sleep 1000 & echo $$; wait", true},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			s := program("/bin/sh", "-c", c.script)
			s.Fork = true
			var group int
			_, err := New(Config{Memory: 1 << 30}).Run(ctx, s, func(r io.Reader) error {
				_, err := fmt.Fscan(r, &group)
				if c.kill {
					cancel()
				}
				_, cerr := io.Copy(io.Discard, r)
				return errors.Join(err, cerr)
			})
			if c.kill {
				wantError(t, err, ReasonCancel, context.Canceled)
			} else if err != nil {
				t.Error(err)
			}
			if left := inGroup(t, group); group == 0 || len(left) > 0 {
				t.Errorf("of group %d are left: %v", group, left)
			}
			if pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil); err != unix.ECHILD {
				t.Errorf("a process was left: %d, %v", pid, err)
			}
		})
	}
}

func TestAChildDiesWithItsParent(t *testing.T) {
	cmd := parent(t, os.Args[0], "stay")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Fscan(out, &pid); err != nil {
		t.Fatal(err)
	}
	if len(inGroup(t, pid)) != 1 {
		t.Errorf("the child %d is not there", pid)
	}
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	waitGone(t, pid)
}

func TestTheProgramMayBeReplacedWhileItRuns(t *testing.T) {
	b, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(t.TempDir(), "binary")
	if err := os.WriteFile(binary, b, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := parent(t, binary, "wait")
	var out bytes.Buffer
	cmd.Stdout = &out
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(binary); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(binary, []byte("something else"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(in, "go on\n"); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil || out.String() != "from what was there" {
		t.Errorf("%v, %q", err, out.String())
	}
}

func TestAHostWithoutFiltersIsToldOnceAndRunsChildrenAllTheSame(t *testing.T) {
	cmd := parent(t, os.Args[0], "bare")
	b, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Told          []string
		OK            bool
		Before, After string
		Hog           string
	}
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"no filter of system calls (seccomp: operation not permitted): a child could open sockets",
		"no confinement to named files (Landlock: operation not permitted): a child could open the files of this user",
	}
	if raceDetector {
		want = append(want, missingMemory)
	} else if got.Hog != "child hog: out of memory (exit status 2)" {
		t.Errorf("the limit on memory did not hold: %s", got.Hog)
	}
	if diff := cmp.Diff(want, got.Told); diff != "" {
		t.Error(diff)
	}
	if all := strings.Join(want, "; "); got.OK || got.Before != all || got.After != all {
		t.Errorf("got %v, before %q, after %q", got.OK, got.Before, got.After)
	}
}

func TestThisHostHasEveryProtection(t *testing.T) {
	if raceDetector {
		t.Log("not in a build with the race detector")
		return
	}
	var told []string
	l := New(Config{Memory: 1 << 30, Trace: &Trace{Limited: func(m string) { told = append(told, m) }}})
	for _, s := range []Spec{spec("print"), program("/bin/true")} {
		if _, err := l.Run(t.Context(), s, nil); err != nil {
			t.Fatal(err)
		}
	}
	if ok, missing := l.Limited(); !ok || len(told) > 0 {
		t.Errorf("this host cannot show that children are confined: %s; %v", missing, told)
	}
}

func TestTheTraceIsTold(t *testing.T) {
	var got []string
	l := New(Config{Memory: 1 << 30, Trace: &Trace{
		Started: func(name string, _ time.Duration) { got = append(got, "started "+name) },
		Ended: func(name string, u Usage, err error) {
			got = append(got, fmt.Sprintf("ended %s %q %v %v", name, u.Killed, u.Wall > 0, err))
		},
	}})
	_, _, err := runWith(t, l, spec("print"))
	_, _, err2 := runWith(t, l, spec("exit3"))
	want := []string{
		"started print", "ended print \"\" true <nil>",
		"started exit3", "ended exit3 \"crash\" true child exit3: crashed (exit status 3)",
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil || err2 == nil {
		t.Error(diff, err, err2)
	}
}

func TestManyChildrenLeaveNothing(t *testing.T) {
	open := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	l := New(Config{Memory: 1 << 30})
	workers := []string{"print", "exit3", "flood", "complain", "pid"}
	if _, err := l.Run(t.Context(), spec("print"), nil); err != nil { // Go opens what it needs once
		t.Fatal(err)
	}
	before := open()
	ignore := goleak.IgnoreCurrent()
	for i := range 50 {
		s := spec(workers[i%len(workers)])
		s.Data = []byte("data")
		ctx := t.Context()
		if s.Worker == "pid" {
			c, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
			defer cancel()
			ctx = c
		}
		_, err := l.Run(ctx, s, nil)
		if (err == nil) != (s.Worker == "print") {
			t.Errorf("%s: %v", s.Worker, err)
		}
	}
	if after := open(); after != before {
		t.Errorf("%d descriptors, %d before", after, before)
	}
	goleak.VerifyNone(t, ignore)
}

func TestAnOrdinaryStartIsNeverTakenForAChild(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for name, c := range map[string]struct {
		args  []string
		extra []*os.File
	}{
		"its name alone":       {[]string{argv0, "pid"}, nil},
		"other files":          {[]string{argv0, "pid"}, []*os.File{null, null}},
		"pipes the wrong way":  {[]string{argv0, "pid"}, []*os.File{w, r}},
		"pipes and no name":    {[]string{"sift", "pid"}, []*os.File{r, w}},
		"pipes and more words": {[]string{argv0, "pid", "x"}, []*os.File{r, w}},
	} {
		cmd := exec.CommandContext(t.Context(), exe)
		cmd.Args = append(c.args, "-test.run=^$")[:len(c.args)]
		cmd.Env = append(os.Environ(), "CHILD_TEST_PARENT=wait", quickExit)
		cmd.ExtraFiles = c.extra
		cmd.Stdin = strings.NewReader("go on\n")
		out, err := cmd.Output()
		if err != nil || string(out) != "from what was there" {
			t.Errorf("%s: %v, %q", name, err, out)
		}
	}
}
