package dcache

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// disk is where a test of full and read-only disks runs: a file system of its
// own where that is allowed (mounted is true), else an ordinary folder.
type disk struct {
	dir     string
	mounted bool
}

func TestAFullDiskIsATypedErrorAndTheNextPutWorksWhenThereIsRoom(t *testing.T) {
	t.Parallel()
	onSmallDisk(t, 8<<20, func(t *testing.T, d disk) {
		ballast := filepath.Join(d.dir, "ballast")
		if err := os.WriteFile(ballast, make([]byte, 2<<20), 0o600); err != nil {
			t.Fatal(err)
		}
		open := func() *DB {
			t.Helper()
			db, err := Open(t.Context(), Config{Dir: filepath.Join(d.dir, "data"), MaxBytes: 64 << 20})
			if err != nil {
				t.Fatal(err)
			}
			return db
		}
		closeFull := func(db *DB) { // last-use times may not fit any more
			t.Helper()
			if err := db.Close(); err != nil && !errors.Is(err, ErrFull) {
				t.Error(err)
			}
		}
		db := open()
		limitPages := func(n int) { // what a small disk is where there is none
			if !d.mounted {
				if _, err := db.writer.ExecContext(t.Context(), fmt.Sprintf("PRAGMA max_page_count = %d", n)); err != nil {
					t.Fatal(err)
				}
			}
		}
		limitPages(800)
		var stored []string
		fill := func() error {
			for range 200 {
				e := testEntry(NewSnapshot(), 150_000)
				if err := db.Put(t.Context(), e); err != nil {
					if held(t, db, e.Snapshot) {
						t.Error("an entry is held though Put failed")
					}
					return err
				}
				stored = append(stored, e.Snapshot)
			}
			return nil
		}
		check := func() {
			t.Helper()
			checkSound(t, db)
			for _, s := range stored {
				e, ok, err := db.BySnapshot(t.Context(), "default", s)
				if err != nil || !ok {
					t.Fatalf("%s: %v, %v", s, ok, err)
				}
				if err := intact(e); err != nil {
					t.Error(err)
				}
			}
		}
		for range 2 { // full, and still full
			err := fill()
			if !errors.Is(err, ErrFull) {
				t.Fatalf("error is %v", err)
			}
			if !strings.Contains(err.Error(), db.dir) || !strings.Contains(err.Error(), "free some space") {
				t.Errorf("%q does not say where or what to do", err)
			}
			check()
		}
		before := len(stored)
		if before == 0 {
			t.Fatal("nothing fitted")
		}
		_ = db.tend(t.Context()) // what Run does meanwhile does no harm
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
		limitPages(1200)
		if err := fill(); !errors.Is(err, ErrFull) || len(stored) == before {
			t.Errorf("with room again %d more were stored, %v", len(stored)-before, err)
		}
		check()
		// And a store that was closed on the full disk opens again.
		closeFull(db)
		db = open()
		check()
		closeFull(db)
	})
}

func TestAFullDiskAtOpenIsNamed(t *testing.T) {
	t.Parallel()
	onSmallDisk(t, 512<<10, func(t *testing.T, d disk) {
		if !d.mounted {
			err := (&DB{dir: d.dir}).explain("open store", &os.PathError{Op: "mkdir", Path: d.dir, Err: syscall.ENOSPC})
			if !errors.Is(err, ErrFull) {
				t.Errorf("error is %v", err)
			}
			return
		}
		ballast := filepath.Join(d.dir, "ballast")
		opened := false
		// From nothing free to enough, a page at a time: the disk is full at
		// another step of the opening each time.
		for free := 0; !opened; free += 4 << 10 {
			if err := os.WriteFile(ballast, make([]byte, 512<<10-free), 0o600); err != nil && !errors.Is(err, syscall.ENOSPC) {
				t.Fatal(err)
			}
			dir := filepath.Join(d.dir, "data")
			db, err := Open(t.Context(), Config{Dir: dir, MaxBytes: 1 << 20})
			switch {
			case err == nil:
				opened = true
				if free == 0 {
					t.Error("a store was opened on a full disk")
				}
				if err := db.Close(); err != nil && !errors.Is(err, ErrFull) {
					t.Error(err)
				}
			case !errors.Is(err, ErrFull):
				t.Errorf("with %d bytes free the error is %v", free, err)
			case free >= 400<<10:
				t.Fatal("never enough")
			}
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestAReadOnlyFileSystemIsNamed(t *testing.T) {
	t.Parallel()
	onSmallDisk(t, 4<<20, func(t *testing.T, d disk) {
		dir := filepath.Join(d.dir, "data")
		db, err := Open(t.Context(), Config{Dir: dir, MaxBytes: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		put(t, db, testEntry("k", 10))
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		if !d.mounted {
			err := db.explain("open store", &os.PathError{Op: "open", Path: dir, Err: syscall.EROFS})
			if !errors.Is(err, ErrReadOnly) {
				t.Errorf("error is %v", err)
			}
			return
		}
		if err := remountReadOnly(d.dir); err != nil {
			t.Fatal(err)
		}
		for _, dir := range []string{dir, filepath.Join(d.dir, "new")} {
			_, err := Open(t.Context(), Config{Dir: dir, MaxBytes: 1 << 20})
			_, lockErr := LockServer(dir)
			for _, err := range []error{err, lockErr} {
				if !errors.Is(err, ErrReadOnly) || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "data_dir") {
					t.Errorf("error is %v", err)
				}
			}
		}
	})
}

func TestAFolderOfAnotherUserIsNamed(t *testing.T) {
	dir := t.TempDir()
	db, err := Open(t.Context(), Config{Dir: dir, MaxBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	open := func() error {
		var err error
		asNobody(t, func() { _, err = Open(t.Context(), Config{Dir: dir, MaxBytes: 1 << 20}) })
		return err
	}
	modes := map[string][2]os.FileMode{
		"nothing":                 {0o000, 0o600},
		"a folder to read":        {0o555, 0o666},
		"a file to read":          {0o777, 0o444},
		"a folder without a file": {0o555, 0},
	}
	for name, mode := range modes {
		t.Run(name, func(t *testing.T) {
			if mode[1] == 0 {
				if err := os.Remove(db.path); err != nil {
					t.Fatal(err)
				}
			} else if err := os.Chmod(db.path, mode[1]); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(dir, mode[0]); err != nil {
				t.Fatal(err)
			}
			err := open()
			if err := os.Chmod(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if !errors.Is(err, ErrPermission) || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "user id") {
				t.Errorf("error is %v", err)
			}
			if mode[1] == 0 { // for the cases after this one
				if err := os.WriteFile(db.path, nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
