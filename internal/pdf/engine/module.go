package engine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
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
	sectionCustom = 0
	sectionCode   = 10
	wasmHeader    = 8
)

var errModule = errors.New("the PDFium module is not what it should be")

// skeleton returns the module with the body of each function replaced by a
// trap, and a custom section that holds a checksum of the real bodies.
//
// It serves as the name under which the compiled code is cached: wazero
// decodes, validates and hashes a module before it looks into its cache, which
// for the whole module is three quarters of what a start costs. It validated
// the real one when Fill compiled it. And where the cache has nothing, wazero
// compiles what it was given: of the skeleton that is traps, in milliseconds,
// where the whole module would take a limited child over its limits.
//
// The second result names the module.
func skeleton(module []byte) ([]byte, string, error) {
	if len(module) < wasmHeader {
		return nil, "", errModule
	}
	castagnoli := crc32.MakeTable(crc32.Castagnoli) // processors have an instruction for it
	out := append(make([]byte, 0, len(module)/2), module[:wasmHeader]...)
	rest, code := module[wasmHeader:], false
	for len(rest) > 0 {
		id := rest[0]
		size, n := binary.Uvarint(rest[1:])
		if n <= 0 || size > uint64(len(rest)-1-n) {
			return nil, "", errModule
		}
		end := 1 + n + int(size)
		section, body := rest[:end], rest[1+n:end]
		rest = rest[end:]
		switch id {
		case sectionCustom:
			// Names and the like; nothing that runs.
		case sectionCode:
			count, n := binary.Uvarint(body)
			if n <= 0 || count > size {
				return nil, "", errModule
			}
			traps := binary.AppendUvarint(nil, count)
			for range count {
				traps = append(traps, 3, 0, 0x00, 0x0b) // 3 bytes: no locals, unreachable, end
			}
			out = appendSection(out, sectionCode, traps)

			sum := binary.LittleEndian.AppendUint32([]byte("\x04code"), crc32.Checksum(body, castagnoli))
			out = appendSection(out, sectionCustom, binary.LittleEndian.AppendUint64(sum, size))
			code = true
		default:
			out = append(out, section...)
		}
	}
	if !code {
		return nil, "", errModule
	}
	return out, fmt.Sprintf("%x-%08x", len(module), crc32.Checksum(out, castagnoli)), nil
}

func appendSection(out []byte, id byte, body []byte) []byte {
	out = binary.AppendUvarint(append(out, id), uint64(len(body)))
	return append(out, body...)
}

// runtimeConfig must be the same for Fill and Start as far as it changes the
// code that wazero makes.
func runtimeConfig() wazero.RuntimeConfig {
	return wazero.NewRuntimeConfigCompiler().
		// PDFium's setjmp is made with exceptions.
		WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesExceptionHandling).
		WithDebugInfoEnabled(false)
}
