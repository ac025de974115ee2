package engine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"runtime/debug"
	"slices"
	_ "unsafe" // for go:linkname

	// The package that embeds the module is internal to go-pdfium; this one
	// links it. Nothing else of it is used.
	_ "github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// pdfium is the WebAssembly module that go-pdfium ships. Its Go API makes a
// reference and several allocations of every character, so we call the C
// functions ourselves; see docs/decisions/pdf-engine.md.
//
//go:linkname pdfium github.com/klippa-app/go-pdfium/internal/pdfium_wasm.Module
var pdfium []byte

// Sections of a WebAssembly module that matter here.
const (
	sectionCustom    = 0
	sectionImport    = 2
	sectionExport    = 7
	sectionStart     = 8
	sectionElement   = 9
	sectionCode      = 10
	sectionData      = 11
	sectionDataCount = 12

	wasmHeader = 8
)

var errModule = errors.New("the PDFium module is not what it should be")

// moduleID names the module and what compiles it: what the cache is keyed by,
// beside the processor. Go knows the checksums of the modules that it built
// in; where it does not, as in a vendored build, the bytes are summed up.
func moduleID(info *debug.BuildInfo) string {
	id := fmt.Sprint(len(pdfium))
	for _, path := range []string{"github.com/tetratelabs/wazero", "github.com/klippa-app/go-pdfium"} {
		i := -1
		if info != nil {
			i = slices.IndexFunc(info.Deps, func(m *debug.Module) bool { return m.Path == path && m.Replace == nil && m.Sum != "" })
		}
		if i < 0 {
			return fmt.Sprintf("%s %08x", id, crc32.Checksum(pdfium, crc32.MakeTable(crc32.Castagnoli)))
		}
		id += " " + info.Deps[i].Version + " " + info.Deps[i].Sum
	}
	return id
}

// section is a part of a module; whole has its head too.
type section struct {
	id          byte
	body, whole []byte
}

func sections(module []byte) ([]section, error) {
	if len(module) < wasmHeader {
		return nil, errModule
	}
	var list []section
	for rest := module[wasmHeader:]; len(rest) > 0; {
		size, n := binary.Uvarint(rest[1:])
		if n <= 0 || size > uint64(len(rest)-1-n) {
			return nil, errModule
		}
		end := 1 + n + int(size)
		list = append(list, section{rest[0], rest[1+n : end], rest[:end]})
		rest = rest[end:]
	}
	return list, nil
}

func appendSection(out []byte, id byte, body []byte) []byte {
	out = binary.AppendUvarint(append(out, id), uint64(len(body)))
	return append(out, body...)
}

// trap is the body of a function that does nothing but fail: three bytes that
// say no locals, unreachable, end.
func trap() []byte { return []byte{3, 0, 0x00, 0x0b} }

// skeleton returns the module with the body of each function replaced by a
// trap, without its data, and with its name in a section of its own.
//
// It serves as the name under which the compiled code is cached: wazero
// decodes, validates and hashes a module before it looks into its cache, which
// for the whole module is three quarters of what a start costs. It validated
// the real one when Fill compiled it. And where the cache has nothing, wazero
// compiles what it was given: of the skeleton that is traps, in milliseconds,
// where the whole module would take a limited child over its limits. The data
// is in the image of the memory that Fill makes.
func skeleton(module []byte, name string) ([]byte, error) {
	list, err := sections(module)
	if err != nil {
		return nil, err
	}
	out := append(make([]byte, 0, 128<<10), module[:wasmHeader]...)
	code := false
	for _, s := range list {
		switch s.id {
		case sectionCustom, sectionData, sectionDataCount:
		case sectionCode:
			count, n := binary.Uvarint(s.body)
			if n <= 0 || count > uint64(len(s.body)) {
				return nil, errModule
			}
			traps := binary.AppendUvarint(nil, count)
			for range count {
				traps = append(traps, trap()...)
			}
			out = appendSection(out, sectionCode, traps)
			code = true
		default:
			out = append(out, s.whole...)
		}
	}
	if !code {
		return nil, errModule
	}
	return appendSection(out, sectionCustom, append([]byte("\x04sift"), name...)), nil
}

// runtimeConfig must be the same for Fill and Start as far as it changes the
// code that wazero makes.
func runtimeConfig() wazero.RuntimeConfig {
	return wazero.NewRuntimeConfigCompiler().
		// PDFium's setjmp is made with exceptions.
		WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesExceptionHandling).
		WithDebugInfoEnabled(false)
}
