package pdf

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"sift.build/sift/internal/child"
	"sift.build/sift/internal/pdf/engine"
)

// What the child that compiles PDFium may take: it needs some 350 MB and 4 s.
const (
	warmMemory = 512 << 20
	warmCPU    = time.Minute
	warmWall   = 3 * time.Minute
	warmFile   = 128 << 20 // the longest file it may write
	warmNice   = 10
	lockName   = "pdfium.lock"
	lockLook   = 50 * time.Millisecond // how often a lock that another process holds is looked at
)

// Warm sees to it that PDFium's machine code is there, so that the first file
// does not wait for it. It takes seconds the first time on a host.
func (r *Reader) Warm(ctx context.Context) error {
	_, err := r.machineCode(ctx)
	return err
}

// machineCode gives the directory with PDFium's machine code. It makes it where
// it is missing: one process of the host at a time, and the others wait for it.
func (r *Reader) machineCode(ctx context.Context) (string, error) {
	if dir := r.dir.Load(); dir != nil {
		return *dir, nil
	}
	select {
	case <-r.warm:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	defer func() { r.warm <- struct{}{} }()
	if dir := r.dir.Load(); dir != nil {
		return *dir, nil
	}
	var errs []error
	for _, dir := range r.cfg.CacheDirs {
		err := r.fill(ctx, dir)
		if err == nil {
			r.dir.Store(&dir)
			return dir, nil
		}
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		errs = append(errs, fmt.Errorf("%s: %w", dir, err))
	}
	return "", fmt.Errorf("the PDF engine cannot be kept anywhere; name a folder that only this user can write in $XDG_CACHE_HOME: %w", errors.Join(errs...))
}

// fill makes the machine code in dir, unless it is there.
func (r *Reader) fill(ctx context.Context, dir string) error {
	if engine.Filled(dir) {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	unlock, err := lock(ctx, filepath.Join(dir, lockName))
	if err != nil {
		return err
	}
	defer unlock()
	if engine.Filled(dir) { // another process was at it
		return nil
	}
	if r.cfg.Trace.Warming != nil {
		r.cfg.Trace.Warming()
	}
	start := time.Now()
	// With fewer children to share with it might not get what it needs.
	_, err = r.cfg.Launcher.Run(ctx, child.Spec{
		Worker: workerWarm, Config: []byte(dir), WritePaths: []string{dir}, MaxFile: warmFile,
		Memory: min(warmMemory, r.cfg.Children), CPU: warmCPU, Wall: warmWall, MaxOutput: 1, Nice: warmNice,
	}, nil)
	if err != nil {
		err = fmt.Errorf("compile PDFium: %w", withStderr(err))
	}
	if r.cfg.Trace.Warmed != nil {
		r.cfg.Trace.Warmed(time.Since(start), err)
	}
	return err
}

// withStderr adds what a child of our own making wrote. It has seen no input.
func withStderr(err error) error {
	if e, ok := errors.AsType[*child.Error](err); ok && e.Stderr != "" {
		return fmt.Errorf("%w: %s", err, e.Stderr)
	}
	return err
}

// spoiled forgets machine code that turned out to be damaged.
func (r *Reader) spoiled(dir string) {
	<-r.warm
	defer func() { r.warm <- struct{}{} }()
	if at := r.dir.Load(); at == nil || *at != dir {
		return // another file's reader was faster
	}
	r.dir.Store(nil)
	_ = engine.Clear(dir) // what cannot be removed cannot be filled either: that is reported
}

// lock waits for a lock that only one process of the host has at a time.
func lock(ctx context.Context, name string) (unlock func(), err error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	look := time.NewTicker(lockLook)
	defer look.Stop()
	for {
		ok, err := tryLock(f)
		if err != nil || ctx.Err() != nil {
			return nil, errors.Join(err, ctx.Err(), f.Close())
		}
		if ok {
			return func() { _ = f.Close() }, nil // which unlocks
		}
		select {
		case <-look.C:
		case <-ctx.Done():
		}
	}
}
