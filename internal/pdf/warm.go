package pdf

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sift.build/sift/internal/child"
	"sift.build/sift/internal/pdf/engine"
)

// What the child that compiles PDFium may take: it needs some 350 MB and 4 s.
const (
	warmMemory = 512 << 20
	warmCPU    = time.Minute
	warmWall   = 10 * time.Minute // it yields to everything else on the host
	warmFile   = 128 << 20        // the longest file it may write
	warmNice   = 10
	lockName   = "pdfium.lock"
	lockLook   = 50 * time.Millisecond // how often a lock that another process holds is looked at
	lockWait   = time.Minute           // how long it is waited for
	failPause  = 10 * time.Second      // how long a failure to compile stands
)

// machineCode is where PDFium's machine code is. What is made anew is another.
type machineCode struct {
	dir  string
	made bool // by this process
}

// mendable says whether it is worth while to make the code anew that did not
// run at a try. At the first it is. Afterwards it is only when another process,
// which found the same damage a moment later, has cleared away what was made.
func (m *machineCode) mendable(try int) bool {
	const most = 3
	return try == 1 || try < most && !(m.made && engine.Filled(m.dir))
}

// Warm sees to it that PDFium's machine code is there, so that the first file
// does not wait for it. It takes seconds the first time on a host.
func (r *Reader) Warm(ctx context.Context) error {
	_, err := r.compiled(ctx)
	return err
}

// compiled gives PDFium's machine code. It makes it where it is missing: one
// process of the host at a time, and the others wait for it.
func (r *Reader) compiled(ctx context.Context) (*machineCode, error) {
	if code := r.code.Load(); code != nil {
		return code, nil
	}
	select {
	case <-r.warm:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { r.warm <- struct{}{} }()
	if code := r.code.Load(); code != nil {
		return code, nil
	}
	if r.last.err != nil && time.Since(r.last.at) < failPause {
		return nil, r.last.err
	}
	var errs []error
	for _, dir := range r.cfg.CacheDirs {
		made, err := false, errStaysDamaged
		if !r.bad[dir] {
			made, err = r.fill(ctx, dir)
		}
		if err == nil {
			code := &machineCode{dir, made}
			r.code.Store(code)
			return code, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		errs = append(errs, fmt.Errorf("%s: %w", dir, err))
	}
	if len(errs) == 0 {
		errs = append(errs, errors.New("there is no folder for it: neither $XDG_CACHE_HOME nor $HOME is set"))
	}
	r.last = lastFailure{time.Now(), fmt.Errorf("the PDF engine cannot be kept anywhere; name a folder that only this user can write in $XDG_CACHE_HOME: %w",
		errors.Join(errs...))}
	return nil, r.last.err
}

// lastFailure keeps each of many files from trying for seconds, in vain, what
// the one before it has just tried.
type lastFailure struct {
	at  time.Time
	err error
}

var errStaysDamaged = errors.New("what is there is damaged and cannot be removed")

// fill sees to it that there is machine code in dir, and says whether it was
// made for that.
func (r *Reader) fill(ctx context.Context, dir string) (made bool, err error) {
	if engine.Filled(dir) {
		return false, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return false, err
	}
	locked, unlock, err := lock(ctx, filepath.Join(dir, lockName))
	if err != nil {
		return false, err
	}
	defer unlock()
	if engine.Filled(dir) { // another process was at it
		return false, nil
	}
	if r.cfg.Trace.Warming != nil {
		r.cfg.Trace.Warming()
	}
	if locked {
		// A compiler that was killed leaves its work behind, and nobody else is at
		// work here.
		sweep(dir)
	}
	start := time.Now()
	// With fewer children to share with it might not get what it needs.
	_, err = r.cfg.Launcher.Run(ctx, child.Spec{
		Worker: workerWarm, Config: []byte(dir), WritePaths: []string{dir}, MaxFile: warmFile,
		Memory: min(warmMemory, r.cfg.Children), CPU: warmCPU, Wall: warmWall, MaxOutput: 1, Nice: warmNice,
	}, nil)
	if err != nil {
		err = fmt.Errorf("compile PDFium: %w", withStderr(err))
		if locked {
			sweep(dir)
		}
	}
	if r.cfg.Trace.Warmed != nil {
		r.cfg.Trace.Warmed(time.Since(start), err)
	}
	return err == nil, err
}

// sweep removes what compilers have left in dir, without which it works too.
func sweep(dir string) {
	list, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range list {
		if strings.HasPrefix(e.Name(), "tmp-") {
			_ = os.RemoveAll(filepath.Join(dir, e.Name()))
		}
	}
}

// withStderr adds what a child of our own making wrote. It has seen no input.
func withStderr(err error) error {
	if e, ok := errors.AsType[*child.Error](err); ok && e.Stderr != "" {
		return fmt.Errorf("%w: %s", err, e.Stderr)
	}
	return err
}

// spoiled does away with machine code that turned out to be damaged.
func (r *Reader) spoiled(code *machineCode) {
	<-r.warm
	defer func() { r.warm <- struct{}{} }()
	if r.code.Load() != code {
		return // another file's reader was faster
	}
	r.code.Store(nil)
	if engine.Clear(code.dir) != nil {
		r.bad[code.dir] = true
	}
}

// lock waits for a lock that only one process of the host has at a time. It
// only saves work, since an engine appears whole or not at all: when the other
// process does not let go of it, perhaps because somebody has suspended it,
// this one goes on without.
func lock(ctx context.Context, name string) (locked bool, unlock func(), err error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return false, nil, err
	}
	unlock = func() { _ = f.Close() }
	look := time.NewTicker(lockLook)
	defer look.Stop()
	enough := time.NewTimer(lockWait)
	defer enough.Stop()
	for {
		locked, err := tryLock(f)
		if err != nil || ctx.Err() != nil {
			return false, nil, errors.Join(err, ctx.Err(), f.Close())
		}
		if locked {
			return true, unlock, nil
		}
		select {
		case <-look.C:
		case <-enough.C:
			return false, unlock, nil
		case <-ctx.Done():
		}
	}
}
