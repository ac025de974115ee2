package engine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
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
// changed afterwards: wazero's own folder with one file of machine code, the
// image of the memory, and a note about them.
const (
	entryPrefix = "pdfium-"
	workPrefix  = "tmp-"
	noteName    = "complete"
	imageName   = "memory"
	maxNote     = 1 << 10
	maxImage    = 16 << 20
	keepEntries = 90 * 24 * time.Hour // after an upgrade, those of other versions
)

// note describes what is in a folder.
type note struct {
	Code      string // the path of wazero's file
	CodeSize  int64
	ImageSize int64
	ImageSum  uint32 // CRC-32C; wazero has one of its own for the code
	Scratch   uint32 // the address of the scratch block
}

// Filled says whether dir holds PDFium compiled for this program and machine.
// It looks at names and sizes; damage within shows when Start fails.
func Filled(dir string) bool {
	_, entry, err := locate(dir)
	if err != nil || private(dir) != nil {
		return false
	}
	_, err = readNote(entry)
	return err == nil
}

// Clear removes what Fill made for this program and machine.
func Clear(dir string) error {
	_, entry, err := locate(dir)
	if err != nil {
		return err
	}
	return os.RemoveAll(entry)
}

// locate returns the name of this PDFium, wazero and processor, and its folder
// in dir.
func locate(dir string) (name, entry string, err error) {
	if dir == "" {
		return "", "", errors.New("no cache directory")
	}
	info, _ := debug.ReadBuildInfo()
	h := sha256.New()
	// The features of the processor decide which instructions are in the code;
	// what we make of the module, what is called.
	_, _ = fmt.Fprintf(h, "%s %s %s %v %v %v", moduleID(info), runtime.GOOS, runtime.GOARCH, cpu.X86, cpu.ARM64, exports())
	name = hex.EncodeToString(h.Sum(nil)[:8])
	return name, filepath.Join(dir, entryPrefix+name), nil
}

// exports lists the functions of PDFium that are called.
func exports() []string {
	var f functions
	list := []string{startFunction}
	for _, x := range f.table() {
		list = append(list, x.name)
	}
	return list
}

// readNote reads the note of a folder and looks whether the files that it
// names are there in full size. All errors are ErrCache.
func readNote(entry string) (note, error) {
	var n note
	b, err := readSome(filepath.Join(entry, noteName), maxNote)
	if err == nil {
		err = json.Unmarshal(b, &n)
	}
	if err == nil && !filepath.IsLocal(n.Code) {
		err = fmt.Errorf("its note names %q", n.Code)
	}
	for name, size := range map[string]int64{n.Code: n.CodeSize, imageName: n.ImageSize} {
		if err != nil {
			break
		}
		var st fs.FileInfo
		if st, err = os.Lstat(filepath.Join(entry, name)); err == nil && (!st.Mode().IsRegular() || st.Size() != size) {
			err = fmt.Errorf("%s has %d bytes where %d were written", name, st.Size(), size)
		}
	}
	if err != nil {
		return note{}, fmt.Errorf("%w: %w", ErrCache, err)
	}
	return n, nil
}

func readSome(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(io.LimitReader(f, most))
}

// Fill compiles PDFium into dir, unless it is there. It takes some 3 s of CPU
// and 350 MB, so call it in a process of its own. What it leaves is code that
// will be run: dir is made with mode 0700, and refused if anybody else can
// write there.
func Fill(ctx context.Context, dir string) error {
	name, final, err := locate(dir)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("cache directory: %w", err)
	}
	if err := private(dir); err != nil {
		return err
	}
	if _, err := readNote(final); err == nil {
		return nil
	}
	tmp, err := os.MkdirTemp(dir, workPrefix) // mode 0700
	if err != nil {
		return fmt.Errorf("cache directory: %w", err)
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	entry := filepath.Join(tmp, "entry")
	if err := build(ctx, name, tmp, entry); err != nil {
		return err
	}
	// What cannot be started must not replace anything.
	e, err := startFrom(ctx, name, entry, defMemory)
	if err != nil {
		return fmt.Errorf("try what was compiled: %w", err)
	}
	e.Close()
	if err := os.RemoveAll(final); err != nil { // an incomplete one
		return fmt.Errorf("cache directory: %w", err)
	}
	if err := os.Rename(entry, final); err != nil {
		if _, other := readNote(final); other == nil { // another process was faster
			return nil
		}
		return fmt.Errorf("cache directory: %w", err)
	}
	sweep(dir, final)
	return nil
}

// build makes the folder entry, working in tmp.
func build(ctx context.Context, name, tmp, entry string) error {
	wanted := make(map[string]bool)
	for _, name := range exports() {
		wanted[name] = true
	}
	whole, err := prune(pdfium, func(name string) bool { return wanted[name] })
	if err != nil {
		return err
	}
	bones, err := skeleton(pdfium, name)
	if err != nil {
		return err
	}
	var n note
	// The name that wazero gives to the skeleton's code, with the code of the
	// module in it.
	if n.Code, err = compile(ctx, entry, bones, nil); err != nil {
		return err
	}
	var image []byte
	code, err := compile(ctx, filepath.Join(tmp, "whole"), whole, func(r wazero.Runtime, m wazero.CompiledModule) error {
		image, n.Scratch, err = snapshot(ctx, r, m)
		return err
	})
	if err != nil {
		return err
	}
	target := filepath.Join(entry, n.Code)
	if err := os.Rename(filepath.Join(tmp, "whole", code), target); err != nil {
		return fmt.Errorf("compiled code: %w", err)
	}
	st, err := os.Stat(target)
	if err != nil {
		return fmt.Errorf("compiled code: %w", err)
	}
	n.CodeSize, n.ImageSize, n.ImageSum = st.Size(), int64(len(image)), sum(image)
	if err := os.WriteFile(filepath.Join(entry, imageName), image, 0o600); err != nil {
		return fmt.Errorf("image of the memory: %w", err)
	}
	b, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(entry, noteName), b, 0o600)
}

func sum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// compile compiles module with dir as wazero's cache and returns the path of
// the one file that it left there. What else is to be done with the compiled
// module, use does.
func compile(ctx context.Context, dir string, module []byte, use func(wazero.Runtime, wazero.CompiledModule) error) (string, error) {
	cache, err := wazero.NewCompilationCacheWithDir(dir)
	if err != nil {
		return "", fmt.Errorf("compilation cache: %w", err)
	}
	defer func() { _ = cache.Close(ctx) }()
	r := wazero.NewRuntimeWithConfig(ctx, runtimeConfig().WithCompilationCache(cache))
	defer func() { _ = r.Close(ctx) }()
	compiled, err := r.CompileModule(ctx, module)
	if err != nil {
		return "", fmt.Errorf("compile PDFium: %w", err)
	}
	if use != nil {
		if err := use(r, compiled); err != nil {
			return "", err
		}
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

// snapshot runs PDFium until it is ready to open a document and returns what
// is in its memory then, so that a start need not put it there piece by piece;
// and where the scratch block is.
func snapshot(ctx context.Context, r wazero.Runtime, m wazero.CompiledModule) ([]byte, uint32, error) {
	e := &Engine{}
	if err := e.host(ctx, r); err != nil {
		return nil, 0, fmt.Errorf("host functions: %w", err)
	}
	guest, err := r.InstantiateModule(ctx, m, wazero.NewModuleConfig().WithName("").WithStartFunctions(startFunction))
	if err != nil {
		return nil, 0, fmt.Errorf("start PDFium: %w", err)
	}
	e.mem = guest.Memory()
	before := e.mem.Size()
	if err := e.fn.resolve(guest); err != nil {
		return nil, 0, err
	}
	e.call(e.fn.initLibrary)
	e.scratch = e.call(e.fn.malloc, scratch)
	if err := e.failed(); err != nil || e.scratch == 0 {
		return nil, 0, fmt.Errorf("start PDFium: %w", err)
	}
	all, ok := e.mem.Read(0, e.mem.Size())
	if !ok || len(all) != int(before) {
		// The skeleton asks for as much memory as the module does.
		return nil, 0, fmt.Errorf("%w: it grew to %d bytes at its start", errModule, len(all))
	}
	used := len(bytes.TrimRight(all, "\x00"))
	used = min((used+pageSize-1)/pageSize*pageSize, len(all))
	if used > maxImage {
		return nil, 0, fmt.Errorf("%w: %d bytes of memory at its start", errModule, used)
	}
	return bytes.Clone(all[:used]), e.scratch, nil
}

// sweep removes folders of other versions and left-over work that nobody has
// touched for a long time. Failing to is no harm.
func sweep(dir, keep string) {
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
		if strings.HasPrefix(d.Name(), entryPrefix) && age > keepEntries || strings.HasPrefix(d.Name(), workPrefix) && age > time.Hour {
			_ = os.RemoveAll(path)
		}
	}
}
