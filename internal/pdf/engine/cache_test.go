package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"sift.build/sift/internal/pdf/pdftest"
)

// copyCache copies what Fill made into a directory of the test's own.
func copyCache(t *testing.T) (dir, entry string) {
	t.Helper()
	_, from, err := locate(cacheDir(t))
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, entry, err = locate(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(entry, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	return dir, entry
}

// codeFile is the path of the machine code.
func codeFile(t *testing.T, entry string) string {
	t.Helper()
	n, err := readNote(entry)
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(entry, n.Code)
}

func flip(t *testing.T, path string, at int64) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	b := make([]byte, 1)
	if _, err := f.ReadAt(b, at); err != nil {
		t.Fatal(err)
	}
	b[0] ^= 0x55
	if _, err := f.WriteAt(b, at); err != nil {
		t.Fatal(err)
	}
}

func cut(t *testing.T, path string) {
	t.Helper()
	if err := os.Truncate(path, 1000); err != nil {
		t.Fatal(err)
	}
}

func TestADamagedCacheIsSaidToBe(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func(t *testing.T, entry string)
		filled bool // what names and sizes cannot show
	}{
		{"nothing there", func(_ *testing.T, entry string) { _ = os.RemoveAll(entry) }, false},
		{"no note", func(_ *testing.T, entry string) { _ = os.Remove(filepath.Join(entry, noteName)) }, false},
		{"a note of something else", func(t *testing.T, entry string) {
			if err := os.WriteFile(filepath.Join(entry, noteName), []byte("{}"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, false},
		{"a note that leads out", func(t *testing.T, entry string) {
			if err := os.WriteFile(filepath.Join(entry, noteName), []byte(`{"Code":"../../x"}`), 0o600); err != nil {
				t.Fatal(err)
			}
		}, false},
		{"no code", func(t *testing.T, entry string) { _ = os.Remove(codeFile(t, entry)) }, false},
		{"code cut short", func(t *testing.T, entry string) { cut(t, codeFile(t, entry)) }, false},
		{"a changed byte of code", func(t *testing.T, entry string) { flip(t, codeFile(t, entry), 5_000_000) }, true},
		{"image cut short", func(t *testing.T, entry string) { cut(t, filepath.Join(entry, imageName)) }, false},
		{"a changed byte of the image", func(t *testing.T, entry string) { flip(t, filepath.Join(entry, imageName), 1_000_000) }, true},
		{"code under another name", func(t *testing.T, entry string) {
			// As on a machine whose processor wazero tells apart and we do not.
			from := codeFile(t, entry)
			n, err := readNote(entry)
			if err != nil {
				t.Fatal(err)
			}
			n.Code += "x"
			b, err := json.Marshal(n)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(os.Rename(from, from+"x"), os.WriteFile(filepath.Join(entry, noteName), b, 0o600)); err != nil {
				t.Fatal(err)
			}
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, entry := copyCache(t)
			if !Filled(dir) {
				t.Fatal("a whole copy of the cache counts as not filled")
			}
			c.damage(t, entry)
			if Filled(dir) != c.filled {
				t.Errorf("Filled says %v", !c.filled)
			}
			begin := time.Now()
			_, err := Start(t.Context(), Config{CacheDir: dir})
			if !errors.Is(err, ErrCache) {
				t.Errorf("Start says %v", err)
			}
			if d := time.Since(begin); d > 2*time.Second {
				t.Errorf("it took %v: something was compiled", d)
			}
			if err := Clear(dir); err != nil || Filled(dir) {
				t.Errorf("after Clear (%v) the cache is still there", err)
			}
		})
	}
}

func TestFillDoesNotTouchWhatIsComplete(t *testing.T) {
	dir, entry := copyCache(t)
	before, err := os.Stat(codeFile(t, entry))
	if err != nil {
		t.Fatal(err)
	}
	if err := Fill(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	after, err := os.Stat(codeFile(t, entry))
	if err != nil || !os.SameFile(before, after) {
		t.Errorf("the code is another file now (%v)", err)
	}
}

func TestACacheThatOthersCanWriteIsRefused(t *testing.T) {
	dir, _ := copyCache(t)
	for _, mode := range []os.FileMode{0o770, 0o707, 0o777} {
		if err := os.Chmod(dir, mode); err != nil { //nolint:gosec // it is the point
			t.Fatal(err)
		}
		if err := Fill(t.Context(), dir); err == nil {
			t.Errorf("Fill accepts mode %o", mode)
		}
		if _, err := Start(t.Context(), Config{CacheDir: dir}); err == nil || errors.Is(err, ErrCache) {
			t.Errorf("Start with mode %o: %v", mode, err)
		}
		if Filled(dir) {
			t.Errorf("Filled accepts mode %o", mode)
		}
	}
}

func TestACacheNeedsADirectory(t *testing.T) {
	if err := Fill(t.Context(), ""); err == nil {
		t.Error("Fill needs none")
	}
	if Filled("") {
		t.Error("Filled needs none")
	}
	if _, err := Start(t.Context(), Config{}); err == nil {
		t.Error("Start needs none")
	}
}

func TestTheCacheIsReadableForItsOwnerOnly(t *testing.T) {
	err := filepath.WalkDir(cacheDir(t), func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil && !errors.Is(err, os.ErrNotExist) { // another test is filling it
		t.Fatal(err)
	}
}

func TestOldFoldersAreSweptAway(t *testing.T) {
	dir := t.TempDir()
	old := time.Now().Add(-100 * 24 * time.Hour)
	for name, age := range map[string]time.Time{"pdfium-old": old, "pdfium-new": time.Now(), "pdfium-kept": old, "tmp-1": old, "tmp-2": time.Now(), "other": old} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.Mkdir(path, 0o700), os.Chtimes(path, age, age)); err != nil {
			t.Fatal(err)
		}
	}
	sweep(dir, filepath.Join(dir, "pdfium-kept"))
	var left []string
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range list {
		left = append(left, d.Name())
	}
	if want := "[other pdfium-kept pdfium-new tmp-2]"; want != fmt.Sprint(left) {
		t.Errorf("left are %v, want %s", left, want)
	}
}

func TestAnEngineReadsOneDocumentAfterAnother(t *testing.T) {
	e := start(t, Config{})
	for range 3 {
		data := pdftest.Pages("one after another")
		d, err := e.Open(bytes.NewReader(data), int64(len(data)), "")
		if err != nil {
			t.Fatal(err)
		}
		if got := plain(readPage(t, d, 1)); got != "one after another" {
			t.Errorf("got %q", got)
		}
		d.Close()
	}
}
