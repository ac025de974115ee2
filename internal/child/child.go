package child

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
)

// Config says where children come from and what they may take together. The
// zero Config runs nothing.
type Config struct {
	// Executable is started for workers; "": this program, as it was when it
	// was started (on Linux even if its file has been replaced since).
	Executable string
	// Memory is what all children at once may be given, by their Spec.Memory.
	Memory int64
	Trace  *Trace // nil: nothing is told
}

// Trace is told what happens. Any of its functions may be nil. They are called
// from the goroutine of Run and must not block.
type Trace struct {
	// Started tells that a child runs, and how long it waited for memory.
	Started func(name string, waited time.Duration)
	// Ended tells that it is gone. The error is the one that Run returns.
	Ended func(name string, u Usage, err error)
	// Limited is told once of each protection that this host does not give.
	Limited func(missing string)
}

// Launcher runs children within a budget of memory. Make one with New.
type Launcher struct {
	cfg    Config
	budget *semaphore.Weighted // first come, first served

	used    atomic.Int64
	waiting atomic.Int64

	mu      sync.Mutex
	missing []string // what children have reported, each once
}

// New makes a launcher. It starts nothing.
func New(cfg Config) *Launcher {
	return &Launcher{cfg: cfg, budget: semaphore.NewWeighted(max(cfg.Memory, 0))}
}

// Load says how much of the budget is given out, and how many children wait
// for their part of it.
func (l *Launcher) Load() (memory int64, waiting int) {
	return l.used.Load(), int(l.waiting.Load())
}

// Limited says whether children get every protection that this package
// knows, and if not, which are missing: by what this system is known to have,
// and by what children have run into since.
func (l *Launcher) Limited() (ok bool, missing string) {
	all := platformMissing()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range l.missing {
		if !slices.Contains(all, m) {
			all = append(all, m)
		}
	}
	return len(all) == 0, strings.Join(all, "; ")
}

// Tell tells Trace.Limited at once what this system is known not to give,
// instead of with the first child.
func (l *Launcher) Tell() { l.noteMissing(platformMissing()) }

// noteMissing keeps and tells what a child could not apply, each thing once.
func (l *Launcher) noteMissing(missing []string) {
	for _, m := range missing {
		l.mu.Lock()
		isNew := !slices.Contains(l.missing, m)
		if isNew {
			l.missing = append(l.missing, m)
		}
		l.mu.Unlock()
		if t := l.cfg.Trace; isNew && t != nil && t.Limited != nil {
			t.Limited(m)
		}
	}
}

// Spec describes one child. Memory, CPU, Wall and MaxOutput must be given;
// everything else is at its safest when left out.
type Spec struct {
	// Worker is the name of a worker of this program, and Config what it needs
	// to know: up to 64 KiB, handed over where no other process can see it, so
	// that it may hold a password.
	Worker string
	Config []byte

	// Program is, instead of Worker, the absolute path of another program, and
	// Args its arguments (without its name). Other users of the host can see
	// them.
	Program string
	Args    []string
	// Fork lets the program start processes of its own. They are held to the
	// same limits, but each has them to itself. They die with their group;
	// only if this process is killed too hard to see to it, they may live on.
	Fork bool

	Env []string // the whole environment, as "KEY=value"
	Dir string   // the working directory; "": /

	// Input is the child's standard input. The caller closes it, after Run. The
	// child shares its position in the file, and its blocking mode.
	Input *os.File
	// Data is, instead of Input, what is written to the child's standard input.
	Data []byte

	// ReadPaths are files and folders (with all below) that the child may
	// read, WritePaths those that it may also change. For a program, the
	// folders where systems keep programs and libraries are added.
	ReadPaths, WritePaths []string
	MaxFile               int64 // the most bytes that any one file it writes may have

	// Memory bounds what the child can hold, and is taken from the budget. It is
	// RLIMIT_DATA, which counts private writable mappings whether they are used
	// or not: heap, stacks of threads, memory of WebAssembly. It does not count
	// shared anonymous mappings and files in memory, but the filter of system
	// calls and MaxFile leave a child none of these, so that nobody needs to
	// watch what it holds. A Go worker can use some 60 MB less than this.
	Memory int64
	// Addresses bounds, beside Memory, by how much the address space of a worker
	// may grow (RLIMIT_AS; Linux only); 0: not at all bounded. A worker that
	// works in Go's heap needs it: Go reserves addresses and maps memory over
	// them, and Linux holds such a mapping against RLIMIT_DATA only afterwards,
	// so that one allocation of any size gets through. 64 MiB more than Memory
	// is right, since the heap grows by reservations of that size.
	Addresses int64
	CPU       time.Duration // processor time, rounded up to whole seconds
	Wall      time.Duration // from its start; waiting for memory is not counted
	// MaxOutput is how many bytes read may see. A child that has more to say
	// is killed.
	MaxOutput int64

	Nice  int // 1 to 19 gives way to everything else on the host
	Procs int // how many processors a worker's Go runtime uses at once; 0: one
}

// Bounds of what goes to a child beside its input.
const (
	maxConfig = 64 << 10
	maxWords  = 64 << 10 // of Args, Env and paths together
)

// minMemory is about what it takes to start a Go program or to map one in C
// and its libraries. A worker that reads documents needs ten times that.
const minMemory = 16 << 20

// name is what logs and metrics call the child.
func (s *Spec) name() string {
	if s.Worker != "" {
		return s.Worker
	}
	return filepath.Base(s.Program)
}

func (s *Spec) check(budget int64) error {
	switch {
	case (s.Worker == "") == (s.Program == ""):
		return errors.New("a child is either a worker or a program")
	case s.Program != "" && !filepath.IsAbs(s.Program):
		return fmt.Errorf("program %q: the path must be absolute", s.Program)
	case s.Program != "" && s.Config != nil:
		return errors.New("a program takes no config")
	case s.Worker != "" && (s.Args != nil || s.Fork):
		return errors.New("a worker takes a config, no arguments, and starts no processes")
	case s.Input != nil && s.Data != nil:
		return errors.New("a child has one input")
	case s.Memory <= 0 || s.CPU <= 0 || s.Wall <= 0 || s.MaxOutput <= 0:
		return errors.New("memory, processor time, wall time and output of a child must be bounded")
	case s.Addresses < 0 || s.Addresses > 0 && s.Worker == "":
		return errors.New("only the address space of a worker is bounded")
	case s.Memory < minMemory:
		return fmt.Errorf("a child cannot begin with %d bytes of memory", s.Memory)
	case s.MaxFile < 0 || s.Procs < 0 || s.Nice < 0 || s.Nice > 19:
		return errors.New("a bound is out of range")
	case s.Memory > budget:
		return fmt.Errorf("a child of %d bytes can never run within a budget of %d", s.Memory, budget)
	case len(s.Config) > maxConfig:
		return fmt.Errorf("a config of %d bytes is over %d", len(s.Config), maxConfig)
	}
	words := 0
	for _, list := range [][]string{s.Args, s.Env, s.ReadPaths, s.WritePaths} {
		for _, w := range list {
			if strings.ContainsRune(w, 0) {
				return errors.New("an argument, variable or path holds a zero byte")
			}
			words += len(w) + 1
		}
	}
	if words > maxWords {
		return fmt.Errorf("arguments, variables and paths of %d bytes are over %d", words, maxWords)
	}
	for _, list := range [][]string{s.ReadPaths, s.WritePaths} {
		for _, p := range list {
			if !filepath.IsAbs(p) {
				return fmt.Errorf("path %q: must be absolute", p)
			}
		}
	}
	return nil
}

// Usage is what a child took.
type Usage struct {
	CPU  time.Duration
	Wall time.Duration
	// MaxRSS is the most memory it held at once, in bytes; 0: not known. What
	// the kernel counts for a child begins with the parent's own memory (both
	// share it until exec), so a count below that says nothing.
	MaxRSS int64
	Killed Reason // "": it ended by itself, well or with a failure of its own
}

// Run waits for its part of the budget, runs one child, and calls read with
// what the child writes to its standard output. read must read to the end of
// it: when it returns early or fails, the child is killed. It is called on
// this goroutine, and sees the end of the output early when the child dies or
// is killed; the error of Run says why, and what was read until then stands.
// A nil read throws the output away.
//
// The error is nil when the child ended well and read did, else an *Error.
// The end of ctx kills the child.
func (l *Launcher) Run(ctx context.Context, s Spec, read func(stdout io.Reader) error) (Usage, error) {
	if err := s.check(l.cfg.Memory); err != nil {
		return Usage{}, &Error{Name: s.name(), Reason: ReasonStart, Err: err}
	}
	asked := time.Now()
	l.waiting.Add(1)
	err := l.budget.Acquire(ctx, s.Memory)
	l.waiting.Add(-1)
	if err != nil {
		return Usage{Killed: ReasonCancel}, &Error{Name: s.name(), Reason: ReasonCancel, Err: context.Cause(ctx)}
	}
	l.used.Add(s.Memory)
	defer func() {
		l.used.Add(-s.Memory)
		l.budget.Release(s.Memory)
	}()

	p, err := start(l.cfg.Executable, &s)
	if err != nil {
		return Usage{}, &Error{Name: s.name(), Reason: ReasonStart, Err: err}
	}
	if t := l.cfg.Trace; t != nil && t.Started != nil {
		t.Started(s.name(), time.Since(asked))
	}
	var u Usage
	err = errPanicked
	defer func() {
		if t := l.cfg.Trace; t != nil && t.Ended != nil {
			t.Ended(s.name(), u, err)
		}
	}()
	u, err = p.run(ctx, l.noteMissing, read)
	return u, err
}

// errPanicked is what Trace.Ended is told when read panics.
var errPanicked = errors.New("the reader of a child's output panicked")
