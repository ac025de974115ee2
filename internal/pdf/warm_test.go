package pdf

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestALockThatIsNeverGivenBackIsNotWaitedForForEver(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	held, unlock, err := lock(t.Context(), name)
	if err != nil || !held {
		t.Fatal(held, err)
	}
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		locked, release, err := lock(t.Context(), name)
		if err != nil || locked || time.Since(start) != lockWait {
			t.Errorf("locked %v after %v, %v", locked, time.Since(start), err)
		}
		release()

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, _, err := lock(ctx, name); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != lockWait+time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
	unlock()
	locked, unlock, err := lock(t.Context(), name)
	if err != nil || !locked {
		t.Errorf("when it was given back: %v, %v", locked, err)
	}
	unlock()
}

// folder is one for an engine of its own, which the test has to compile.
func folder(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("compiles PDFium, which takes seconds; make test does it")
	}
	dir := filepath.Join(t.TempDir(), "sift")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

func namesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

func TestWhatACompilerHasLeftIsRemovedByTheNext(t *testing.T) {
	dir := folder(t)
	if err := os.MkdirAll(filepath.Join(dir, "tmp-killed", "entry"), 0o700); err != nil {
		t.Fatal(err)
	}
	// One that is stopped in its work.
	ctx, cancel := context.WithCancel(t.Context())
	stopped := newReader(t, func(c *Config) { c.CacheDirs = []string{dir} })
	done := make(chan error)
	go func() { done <- stopped.Warm(ctx) }()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for {
		work, err := filepath.Glob(filepath.Join(dir, "tmp-*", "*", "*"))
		if err != nil {
			t.Fatal(err)
		}
		if len(work) > 0 {
			break
		}
		select {
		case <-look.C:
		case err := <-done:
			t.Fatalf("it ended before it was seen at work: %v", err)
		}
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("it was stopped, and says %v", err)
	}
	if names := namesIn(t, dir); !slices.Equal(names, []string{lockName}) {
		t.Errorf("it left %v", names)
	}
	stillGood(t, newReader(t, func(c *Config) { c.CacheDirs = []string{dir} }))
	if names := namesIn(t, dir); len(names) != 2 || names[1] != lockName {
		t.Errorf("there are %v", names)
	}
}

func TestDamageThatTwoFindAtOnceIsMendedOnce(t *testing.T) {
	dir := folder(t)
	var warmed int
	r := newReader(t, func(c *Config) {
		c.CacheDirs = []string{dir}
		c.Trace = &Trace{Warming: func() { warmed++ }} // whoever warms has a token
	})
	stillGood(t, r)
	spoil(t, dir)
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() { stillGood(t, r) })
	}
	both.Wait()
	if warmed != 2 {
		t.Errorf("it was compiled %d times", warmed)
	}
}

func TestAFailureToCompileStandsForAWhile(t *testing.T) {
	open := t.TempDir()
	if err := os.Chmod(open, 0o777); err != nil { //nolint:gosec // that is what is wrong with it
		t.Fatal(err)
	}
	var warmed int
	r := newReader(t, func(c *Config) {
		c.CacheDirs = []string{open}
		c.Trace = &Trace{Warming: func() { warmed++ }}
	})
	for range 3 {
		if err := r.Warm(t.Context()); err == nil {
			t.Error("it was compiled into a folder that others can write")
		}
	}
	if warmed != 1 {
		t.Errorf("it was tried %d times", warmed)
	}
	r.last.at = r.last.at.Add(-failPause)
	if err := r.Warm(t.Context()); err == nil || warmed != 2 {
		t.Errorf("later it was tried %d times", warmed)
	}
}

func TestAFolderThatIsRemovedIsMadeAnew(t *testing.T) {
	dir := folder(t)
	r := newReader(t, func(c *Config) { c.CacheDirs = []string{dir} })
	stillGood(t, r)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	stillGood(t, r)
}
