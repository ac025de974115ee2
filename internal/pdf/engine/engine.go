package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

var (
	// ErrCache says that the compiled PDFium is missing, damaged or of another machine.
	ErrCache = errors.New("the compiled PDF engine is missing or damaged")
	// ErrFormat says that this is no PDF, or one that cannot be repaired.
	ErrFormat = errors.New("not a PDF file that can be read")
	// ErrPassword says that the file needs a password, or another one.
	ErrPassword = errors.New("the PDF file needs a password")
	// ErrSecurity says that the file is encrypted in a way that PDFium does not know.
	ErrSecurity = errors.New("the PDF file is encrypted in an unknown way")
	// ErrPage says that this page cannot be read; others may.
	ErrPage = errors.New("the page cannot be read")
	// ErrCut comes together with a page that holds more than we read of one.
	ErrCut = errors.New("the page holds more than is read of one page")
	// ErrDead says that PDFium ran into its memory limit or a fault of its own.
	// What was read before stands; the Engine is of no more use.
	ErrDead = errors.New("the PDF engine has stopped")
)

const (
	pageSize  = 64 << 10  // of WebAssembly
	minMemory = 24 << 20  // the module does not start with less than 18 MiB
	maxMemory = 1 << 30   // what Config.Memory can ask for
	defMemory = 128 << 20 // where it asks for nothing
	maxFile   = math.MaxInt32

	startFunction = "_initialize"

	scratch = 64 << 10 // bytes of guest memory for results and short texts
)

// Config says how to run PDFium.
type Config struct {
	CacheDir string // as given to Fill
	Memory   int64  // what the guest may use, in bytes; 0: 128 MiB
}

// Engine is a running PDFium.
type Engine struct {
	runtime wazero.Runtime
	cache   wazero.CompilationCache
	mem     api.Memory
	fn      functions
	scratch uint32
	stack   [16]uint64
	limit   uint32 // of the guest's memory, in bytes
	dead    error  // why the guest is of no more use

	file      io.ReaderAt // of the open document
	size      int64
	readError error // of file, the first
}

// Start runs the PDFium that Fill has compiled.
func Start(ctx context.Context, c Config) (*Engine, error) {
	name, entry, err := locate(c.CacheDir)
	if err != nil {
		return nil, err
	}
	if err := private(c.CacheDir); err != nil {
		return nil, err
	}
	limit := c.Memory
	if limit == 0 {
		limit = defMemory
	}
	return startFrom(ctx, name, entry, min(max(limit, minMemory), maxMemory))
}

func startFrom(ctx context.Context, name, entry string, limit int64) (*Engine, error) {
	module, err := skeleton(pdfium, name)
	if err != nil {
		return nil, err
	}
	n, err := readNote(entry)
	if err != nil {
		return nil, err
	}
	image, err := os.Open(filepath.Join(entry, imageName))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCache, err)
	}
	defer func() { _ = image.Close() }()
	cache, err := wazero.NewCompilationCacheWithDir(entry)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCache, err)
	}
	e := &Engine{limit: uint32(limit), cache: cache, scratch: n.Scratch}
	e.runtime = wazero.NewRuntimeWithConfig(ctx, runtimeConfig().
		WithCompilationCache(cache).
		WithMemoryLimitPages(uint32(limit/pageSize)))
	if err := e.start(ctx, module, image, n); err != nil {
		e.Close()
		return nil, err
	}
	return e, nil
}

func (e *Engine) start(ctx context.Context, module []byte, image *os.File, n note) error {
	compiled, err := e.runtime.CompileModule(ctx, module)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCache, err)
	}
	if err := e.host(ctx, e.runtime); err != nil {
		return fmt.Errorf("host functions: %w", err)
	}
	ctx = experimental.WithMemoryAllocator(ctx, &memory{image: image, size: n.ImageSize})
	// No start function: what it does is in the image.
	guest, err := e.instantiate(ctx, compiled)
	if err != nil {
		return err
	}
	e.mem = guest.Memory()
	if err := e.fn.resolve(guest); err != nil {
		return err
	}
	if b, ok := e.mem.Read(0, uint32(n.ImageSize)); !ok || sum(b) != n.ImageSum {
		return fmt.Errorf("%w: the image of the memory has changed", ErrCache)
	}
	// Anything that runs shows that the code is there, and not the skeleton's.
	if e.call(e.fn.lastError); e.dead != nil {
		return fmt.Errorf("%w: %w", ErrCache, e.dead)
	}
	return nil
}

// instantiate turns the panic with which wazero meets an allocator that has no
// memory into an error.
func (e *Engine) instantiate(ctx context.Context, m wazero.CompiledModule) (guest api.Module, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("no memory for PDFium: %v", v)
		}
	}()
	guest, err = e.runtime.InstantiateModule(ctx, m, wazero.NewModuleConfig().WithName("").WithStartFunctions())
	if err != nil {
		return nil, fmt.Errorf("instantiate PDFium: %w", err)
	}
	return guest, nil
}

// Close frees what the Engine holds. A child that exits need not call it.
func (e *Engine) Close() {
	ctx := context.Background()
	_ = e.runtime.Close(ctx)
	_ = e.cache.Close(ctx)
}

// call runs one function of PDFium and returns its result. After a trap it
// does nothing and returns 0; who calls looks at e.dead when it matters.
func (e *Engine) call(f api.Function, args ...uint64) uint32 {
	return uint32(e.call64(f, args...))
}

func (e *Engine) call64(f api.Function, args ...uint64) uint64 {
	if e.dead != nil {
		return 0
	}
	copy(e.stack[:], args)
	if err := f.CallWithStack(context.Background(), e.stack[:]); err != nil {
		e.dead = err
		return 0
	}
	return e.stack[0]
}

// failed returns ErrDead with its cause once the guest has trapped.
func (e *Engine) failed() error {
	if e.dead == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrDead, e.dead)
}

// at is an address in the scratch block.
func (e *Engine) at(offset uint32) uint64 { return uint64(e.scratch + offset) }

func (e *Engine) float(offset uint32) float64 {
	v, _ := e.mem.ReadFloat32Le(e.scratch + offset)
	return float64(v)
}

func (e *Engine) double(offset uint32) float64 {
	v, _ := e.mem.ReadFloat64Le(e.scratch + offset)
	return v
}

func (e *Engine) int(offset uint32) int {
	v, _ := e.mem.ReadUint32Le(e.scratch + offset)
	return int(int32(v))
}

// alloc puts data into the guest's memory, with a NUL after it.
func (e *Engine) alloc(data []byte) (uint32, error) {
	p := e.call(e.fn.malloc, uint64(len(data)+1))
	if p == 0 {
		return 0, cmpErr(e.failed(), ErrDead)
	}
	e.mem.Write(p, data)
	e.mem.WriteByte(p+uint32(len(data)), 0)
	return p, nil
}

func cmpErr(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}
