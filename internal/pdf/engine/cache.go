package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/tetratelabs/wazero"
	"golang.org/x/sys/cpu"
)

// A cache directory holds a folder for each combination of PDFium, wazero and
// processor that was seen. A folder appears whole, by a rename, and is not
// changed afterwards: wazero's own folder with one file of machine code, and
// a note with that file's path and size.
const (
	entryPrefix = "pdfium-"
	noteName    = "complete"
	maxNote     = 1 << 10
	keepEntries = 90 * 24 * time.Hour // after an upgrade, those of other versions
)

// Filled says whether dir holds PDFium compiled for this program and machine.
// It looks at names and sizes; damage within shows when Start fails.
func Filled(dir string) bool {
	d, err := entry(dir)
	return err == nil && complete(d)
}

// Clear removes what Fill made for this program and machine.
func Clear(dir string) error {
	d, err := entry(dir)
	if err != nil {
		return err
	}
	return os.RemoveAll(d)
}

// entry returns the folder for this PDFium, wazero and processor.
func entry(dir string) (string, error) {
	if dir == "" {
		return "", errors.New("no cache directory")
	}
	_, id, err := skeleton(pdfium)
	if err != nil {
		return "", err
	}
	return entryOf(dir, id), nil
}

func entryOf(dir, id string) string {
	h := sha256.New()
	// The features of the processor decide which instructions are in the code.
	fmt.Fprintf(h, "%s %s %s %v %v", id, runtime.GOOS, runtime.GOARCH, cpu.X86, cpu.ARM64)
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, d := range info.Deps {
			if d.Path == "github.com/tetratelabs/wazero" {
				fmt.Fprintf(h, " %s %s", d.Version, d.Sum)
			}
		}
	}
	return filepath.Join(dir, entryPrefix+hex.EncodeToString(h.Sum(nil)[:8]))
}

// complete says whether the file that the note names is there in full size.
func complete(dir string) bool {
	f, err := os.Open(filepath.Join(dir, noteName))
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	b := make([]byte, maxNote)
	n, _ := f.Read(b)
	var size int64
	var name string
	if _, err := fmt.Sscanf(string(b[:n]), "%d %s", &size, &name); err != nil || !filepath.IsLocal(name) {
		return false
	}
	st, err := os.Lstat(filepath.Join(dir, name))
	return err == nil && st.Mode().IsRegular() && st.Size() == size
}

// Fill compiles PDFium into dir, unless it is there. It takes some 3.5 s of
// CPU and 350 MB, so call it in a process of its own. What it leaves is code
// that will be run: dir is made with mode 0700, and refused if anybody else
// can write there.
func Fill(ctx context.Context, dir string) error {
	final, err := entry(dir)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("cache directory: %w", err)
	}
	if err := private(dir); err != nil {
		return err
	}
	if complete(final) {
		return nil
	}
	tmp, err := os.MkdirTemp(dir, "tmp-") // mode 0700
	if err != nil {
		return fmt.Errorf("cache directory: %w", err)
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	if err := compile(ctx, tmp); err != nil {
		return err
	}
	if err := os.RemoveAll(final); err != nil { // an incomplete one
		return fmt.Errorf("cache directory: %w", err)
	}
	if err := os.Rename(filepath.Join(tmp, "entry"), final); err != nil {
		if complete(final) { // another process was faster
			return nil
		}
		return fmt.Errorf("cache directory: %w", err)
	}
	prune(dir, final)
	return nil
}

// compile makes tmp/entry.
func compile(ctx context.Context, tmp string) error {
	module, _, err := skeleton(pdfium)
	if err != nil {
		return err
	}
	// The name that wazero gives to the skeleton's code, with the code of the
	// whole module in it.
	name, err := compileInto(ctx, filepath.Join(tmp, "entry"), module)
	if err != nil {
		return err
	}
	code, err := compileInto(ctx, filepath.Join(tmp, "whole"), pdfium)
	if err != nil {
		return err
	}
	target := filepath.Join(tmp, "entry", name)
	if err := os.Rename(filepath.Join(tmp, "whole", code), target); err != nil {
		return fmt.Errorf("compiled code: %w", err)
	}
	st, err := os.Stat(target)
	if err != nil {
		return fmt.Errorf("compiled code: %w", err)
	}
	return os.WriteFile(filepath.Join(tmp, "entry", noteName), fmt.Appendf(nil, "%d %s\n", st.Size(), filepath.ToSlash(name)), 0o600)
}

// compileInto compiles module with dir as wazero's cache and returns the path
// of the one file that it left there.
func compileInto(ctx context.Context, dir string, module []byte) (string, error) {
	cache, err := wazero.NewCompilationCacheWithDir(dir)
	if err != nil {
		return "", fmt.Errorf("compilation cache: %w", err)
	}
	defer func() { _ = cache.Close(ctx) }()
	r := wazero.NewRuntimeWithConfig(ctx, runtimeConfig().WithCompilationCache(cache))
	defer func() { _ = r.Close(ctx) }()
	if _, err := r.CompileModule(ctx, module); err != nil {
		return "", fmt.Errorf("compile PDFium: %w", err)
	}
	var found []string
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		return "", fmt.Errorf("compiled code: %w", err)
	}
	if len(found) != 1 {
		return "", fmt.Errorf("compiled code: %d files where one was expected", len(found))
	}
	return filepath.Rel(dir, found[0])
}

// prune removes entries of other versions and left-over work that nobody has
// touched for a long time. Failing to is no harm.
func prune(dir, keep string) {
	list, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, d := range list {
		path := filepath.Join(dir, d.Name())
		info, err := d.Info()
		if err != nil || path == keep || !d.IsDir() {
			continue
		}
		age := time.Since(info.ModTime())
		if strings.HasPrefix(d.Name(), entryPrefix) && age > keepEntries || strings.HasPrefix(d.Name(), "tmp-") && age > time.Hour {
			_ = os.RemoveAll(path)
		}
	}
}
