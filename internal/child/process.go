package child

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// How parent and child find each other. The name is what the child finds as
// its argv[0], and what a list of processes shows, before the worker's name.
const (
	argv0     = "sift-child"
	controlFD = 3 // the child reads its orders from it
	statusFD  = 4 // the child says on it what it could not apply
)

// orders are what a child is told before it begins. They go through a pipe:
// nobody else on the host can read it, other than arguments and environment.
// Words are bytes, not strings, as paths and arguments need not be UTF-8.
type orders struct {
	Worker    string
	Config    []byte
	Program   string
	Args      [][]byte
	Env       [][]byte // of a program; a worker has its own from the start
	Fork      bool
	HasInput  bool
	Read      [][]byte
	Write     [][]byte
	MaxFile   int64
	Memory    int64
	Addresses int64
	CPU       int64 // seconds
	Nice      int
	Procs     int
}

// maxOrders bounds what a child reads as its orders: config and words within
// their bounds, in base64, and some.
const maxOrders = 512 << 10

// report is what a child says on its status descriptor: first what it could
// not apply, then why it could not begin (a program that was executed says no
// more), or, of a worker that has come to its end, the most memory it held.
type report struct {
	Missing []string `json:",omitempty"`
	Error   string   `json:",omitempty"`
	Peak    int64    `json:",omitempty"`
}

// maxReports bounds the reports of one child: it may have fallen into hostile
// hands when it writes the last.
const maxReports = 16 << 10

func words(list []string) [][]byte {
	out := make([][]byte, len(list))
	for i, s := range list {
		out[i] = []byte(s)
	}
	return out
}

func encodeOrders(s *Spec) ([]byte, error) {
	o := orders{
		Worker: s.Worker, Config: s.Config, Program: s.Program, Args: words(s.Args), Fork: s.Fork,
		HasInput: s.Input != nil || s.Data != nil,
		Read:     words(s.ReadPaths), Write: words(s.WritePaths),
		MaxFile: s.MaxFile, Memory: s.Memory, Addresses: s.Addresses, CPU: cpuSeconds(s.CPU), Nice: s.Nice, Procs: s.Procs,
	}
	if s.Program != "" {
		o.Env = words(s.Env)
	}
	body, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...), nil
}

func cpuSeconds(d time.Duration) int64 {
	return int64((d + time.Second - 1) / time.Second)
}

// process is one child at work.
type process struct {
	spec      *Spec
	orders    []byte
	control   *os.File // to the child
	feed      *os.File // Spec.Data to the child, or nil
	out       *output
	errs      *stream
	tail      *tail
	reports   *json.Decoder
	status    *stream
	ownPeak   int64 // the most this process has held, when the child was started
	childPeak int64 // as a worker that came to its end says itself
	started   time.Time
	exited    chan struct{}  // closed when the child is reaped
	all       sync.WaitGroup // of the goroutines

	mu     sync.Mutex
	pid    int
	reaped bool
	cause  Reason // of the first call of stop
	peak   int64  // as it was right before the first kill

	// Written before exited is closed.
	state   *os.ProcessState
	waitErr error
	wall    time.Duration
}

// start makes the pipes and the process. When it succeeds, run must follow.
func start(executable string, s *Spec) (_ *process, err error) {
	p := &process{spec: s, tail: &tail{}, exited: make(chan struct{})}
	if p.orders, err = encodeOrders(s); err != nil {
		return nil, err
	}
	if executable, err = findExecutable(executable); err != nil {
		return nil, err
	}

	// Of each pipe the child gets one end, which is closed here once it has it.
	var ours, theirs []*os.File
	defer func() {
		closeAll(theirs)
		if err != nil {
			closeAll(ours)
		}
	}()
	toChild := func() (r, w *os.File, err error) {
		if r, w, err = os.Pipe(); err == nil {
			theirs, ours = append(theirs, r), append(ours, w)
		}
		return r, w, err
	}
	fromChild := func() (r, w *os.File, err error) {
		if r, w, err = os.Pipe(); err == nil {
			theirs, ours = append(theirs, w), append(ours, r)
		}
		return r, w, err
	}
	stdin := s.Input
	switch {
	case s.Data != nil:
		stdin, p.feed, err = toChild()
	case stdin == nil:
		stdin, err = os.Open(os.DevNull)
		theirs = append(theirs, stdin)
	}
	if err != nil {
		return nil, err
	}
	stdoutR, stdout, err := fromChild()
	if err != nil {
		return nil, err
	}
	stderrR, stderr, err := fromChild()
	if err != nil {
		return nil, err
	}
	control, controlW, err := toChild()
	if err != nil {
		return nil, err
	}
	statusR, status, err := fromChild()
	if err != nil {
		return nil, err
	}
	p.control = controlW
	files := []*os.File{0: stdin, 1: stdout, 2: stderr, controlFD: control, statusFD: status}

	p.out = &output{stream: &stream{f: stdoutR}, left: s.MaxOutput, over: func() { p.stop(ReasonOutput) }}
	p.errs = &stream{f: stderrR}
	p.status = &stream{f: statusR}
	p.reports = json.NewDecoder(io.LimitReader(p.status, maxReports))

	attr := &os.ProcAttr{Dir: s.Dir, Env: []string{}, Files: files, Sys: sysProcAttr()}
	if attr.Dir == "" {
		attr.Dir = "/"
	}
	if s.Worker != "" {
		attr.Env = append(attr.Env, s.Env...)
	}
	p.ownPeak = peakMemory("self")
	p.started = time.Now()
	begun := make(chan error)
	p.all.Go(func() { p.keep(executable, []string{argv0, s.name()}, attr, begun) })
	if err := <-begun; err != nil {
		return nil, err
	}
	return p, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}

// keep starts the process and stays until it is reaped. It keeps its thread:
// the kernel sends the signal of PDEATHSIG when the thread that started the
// child ends, not the process.
func (p *process) keep(executable string, argv []string, attr *os.ProcAttr, begun chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	proc, err := os.StartProcess(executable, argv, attr)
	if err != nil {
		begun <- err
		return
	}
	p.pid = proc.Pid
	begun <- nil

	// The group is killed before its leader is reaped: after that, the number
	// may belong to somebody else. Where the end of a process cannot be seen
	// without reaping it, the moment between both must do.
	seen := awaitExit(proc.Pid)
	if !seen {
		p.state, p.waitErr = proc.Wait()
	}
	p.mu.Lock()
	killGroup(proc.Pid)
	if seen {
		p.state, p.waitErr = proc.Wait()
	}
	p.reaped = true
	p.mu.Unlock()
	if p.spec.Fork {
		// What it started and left behind becomes a child of this process where
		// that is the first of its container, and then nobody else reaps it.
		reapGroup(proc.Pid)
	}
	p.wall = time.Since(p.started)

	// A process that escaped from the group may hold the other ends of our
	// pipes for ever. From here on, only what is there already counts.
	p.out.stream.expire()
	p.errs.expire()
	p.status.expire()
	p.control.Close()
	if p.feed != nil {
		p.feed.Close()
	}
	close(p.exited)
}

// stop kills the whole group, once, and keeps why. To a child that is gone
// already only too much output can still happen: what it left in the pipe.
func (p *process) stop(cause Reason) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cause != "" || p.reaped && cause != ReasonOutput {
		return
	}
	p.cause = cause
	if !p.reaped {
		p.peak = peakMemoryOf(p.pid)
		killGroup(p.pid)
	}
}

func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) } // ESRCH: all gone already

// run sees the child to its end.
func (p *process) run(ctx context.Context, note func([]string), read func(io.Reader) error) (Usage, error) {
	done := false
	defer func() {
		if !done { // read panicked, or ended this goroutine
			p.stop(ReasonRead)
			p.end()
		}
	}()
	p.all.Go(func() { p.watch(ctx) })
	p.all.Go(p.collect)
	if p.feed != nil {
		p.all.Go(func() {
			// A child that does not read to the end of its input is no error.
			_, _ = p.feed.Write(p.spec.Data)
			p.feed.Close()
		})
	}

	var startErr, readErr error
	if failure := p.begin(note); failure != "" {
		startErr = errors.New(failure)
	}
	switch {
	case startErr != nil:
		p.stop(ReasonStart)
	case read == nil:
		_, readErr = io.Copy(io.Discard, p.out)
	default:
		readErr = read(p.out)
	}
	if readErr != nil && p.out.done {
		// Most likely the output makes no sense because the child died, and its
		// end, which says why, comes a moment after that of its output.
		grace := time.NewTimer(endGrace)
		select {
		case <-p.exited:
		case <-grace.C:
		}
		grace.Stop()
	}
	if readErr != nil || !p.out.done {
		p.stop(ReasonRead)
	}
	<-p.exited
	var last report
	if p.reports.Decode(&last) == nil {
		p.childPeak = last.Peak
	}
	p.end()
	done = true
	return p.verdict(ctx, startErr, readErr)
}

// endGrace is how long a child whose output has ended may take to follow.
const endGrace = 200 * time.Millisecond

// end waits for everything and lets go of it.
func (p *process) end() {
	<-p.exited
	p.all.Wait()
	p.out.stream.f.Close()
	p.errs.f.Close()
	p.status.f.Close()
}

// watch kills the child when its time is over.
func (p *process) watch(ctx context.Context) {
	deadline := time.NewTimer(p.spec.Wall - time.Since(p.started))
	defer deadline.Stop()
	select {
	case <-ctx.Done():
		p.stop(ReasonCancel)
	case <-deadline.C:
		p.stop(ReasonWall)
	case <-p.exited:
	}
}

// collect reads standard error.
func (p *process) collect() {
	buf := make([]byte, 4<<10)
	for {
		n, err := p.errs.Read(buf)
		p.tail.add(buf[:n])
		if p.tail.total > maxStderr {
			p.stop(ReasonOutput)
			return
		}
		if err != nil {
			return
		}
	}
}

// begin hands over the orders and waits until the child has applied them. The
// answer says why it could not. A child that died over it says so by its end.
func (p *process) begin(note func([]string)) (failure string) {
	_, _ = p.control.Write(p.orders)
	var r report
	if p.reports.Decode(&r) != nil {
		return ""
	}
	note(r.Missing)
	if r.Error == "" && p.spec.Program != "" {
		// The next is either why it could not be executed, or the end of the
		// pipe, which is closed by that.
		_ = p.reports.Decode(&r)
	}
	return r.Error
}

func (p *process) verdict(ctx context.Context, startErr, readErr error) (Usage, error) {
	u := Usage{Wall: p.wall, MaxRSS: p.peak}
	e := &Error{Name: p.spec.name(), Stderr: p.tail.text()}
	if p.state == nil {
		e.Reason, e.Err = ReasonCrash, p.waitErr
		return u, e
	}
	u.CPU = p.state.UserTime() + p.state.SystemTime()
	u.MaxRSS = max(u.MaxRSS, p.childPeak)
	if ru, ok := p.state.SysUsage().(*syscall.Rusage); ok {
		// The kernel keeps count of memory on each processor and sums up when it
		// pleases, so that the same memory has not the same size twice.
		if rss := ru.Maxrss * rssUnit(); rss > p.ownPeak+p.ownPeak/8+4<<20 {
			u.MaxRSS = rss
		}
	}
	status, _ := p.state.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		e.Signal = status.Signal().String()
	} else {
		e.ExitCode = status.ExitStatus()
	}

	e.Err = readErr
	switch e.Reason = p.reason(status, u, startErr, readErr); e.Reason {
	case "":
		return u, nil
	case ReasonStart:
		e.Err, e.ExitCode, e.Signal = startErr, 0, ""
		return u, e
	case ReasonCancel:
		e.Err = context.Cause(ctx)
	case ReasonFailed:
		return u, e
	}
	u.Killed = e.Reason
	if e.Reason == ReasonRead && readErr == nil {
		return u, nil // read had what it wanted
	}
	return u, e
}

// reason tells the child's own end from what was done to it. Both can happen
// at once: what the kernel says about the end decides.
func (p *process) reason(status syscall.WaitStatus, u Usage, startErr, readErr error) Reason {
	if startErr != nil {
		return ReasonStart
	}
	switch {
	case status.Exited() && status.ExitStatus() == 0:
		switch {
		case p.cause == ReasonOutput:
			return ReasonOutput
		case readErr != nil:
			return ReasonRead
		case p.out.done:
			return "" // what was about to stop it came too late
		}
		return p.cause
	case status.Signaled() && status.Signal() == syscall.SIGXCPU:
		return ReasonCPU
	case status.Signaled() && status.Signal() == syscall.SIGKILL:
		// A hard limit on processor time kills with the signal that we use. The
		// kernel counts for it in ticks, and usage exactly, so that both differ.
		limit := time.Duration(cpuSeconds(p.spec.CPU)) * time.Second
		if (p.cause == "" || p.cause == ReasonRead) && u.CPU >= limit*3/4 {
			return ReasonCPU
		}
		if p.cause != "" {
			return p.cause
		}
		return ReasonCrash // somebody else's: the out-of-memory killer's, or a person's
	case p.tail.memory:
		return ReasonMemory
	case status.Signaled():
		// Native code that is refused memory runs into a null pointer or aborts,
		// with or without a word. One that grows by doubling holds half by then.
		sig := status.Signal()
		if (sig == syscall.SIGSEGV || sig == syscall.SIGABRT || sig == syscall.SIGBUS) && u.MaxRSS >= p.spec.Memory/2 {
			return ReasonMemory
		}
		return ReasonCrash
	case p.spec.Worker != "" && status.ExitStatus() != exitFailed:
		return ReasonCrash // 2 is a panic or a fatal error of Go
	}
	return ReasonFailed
}
