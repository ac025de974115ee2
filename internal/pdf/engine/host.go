package engine

import (
	"context"
	"encoding/binary"
	"errors"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// hostFunction is a function that the guest imports. The letters are those of
// its parameters and results: i and I for integers, f and F for floats of 32
// and 64 bits.
type hostFunction struct {
	name, params, results string
	call                  api.GoModuleFunc
}

// Error numbers of WASI (wasi_snapshot_preview1).
const (
	wasiBadDescriptor = 8
	wasiNoEntry       = 44
)

var errExit = errors.New("PDFium has ended itself")

// host gives the guest all that it imports, and it is nothing: there is no
// file to open, no clock that moves, no environment, and what PDFium would
// print is thrown away. The one exception is the callback that reads the
// document. Of the other callbacks none is ever asked for, since no form
// environment, timer, writer or download hints are set up.
//
// The list is written out, because asking wazero for the module's imports
// costs a tenth of a start; a test compares the two.
func (e *Engine) host(ctx context.Context, r wazero.Runtime) error {
	for module, list := range e.imports() {
		b := r.NewHostModuleBuilder(module)
		for _, f := range list {
			b.NewFunctionBuilder().WithGoModuleFunction(f.call, valueTypes(f.params), valueTypes(f.results)).Export(f.name)
		}
		if _, err := b.Instantiate(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (e *Engine) imports() map[string][]hostFunction {
	answer := func(v uint64) api.GoModuleFunc {
		return func(_ context.Context, _ api.Module, stack []uint64) {
			if len(stack) > 0 {
				stack[0] = v
			}
		}
	}
	none, bad, absent := answer(0), answer(wasiBadDescriptor), answer(wasiNoEntry)
	return map[string][]hostFunction{
		"wasi_snapshot_preview1": {
			{"fd_close", "i", "i", bad},
			{"fd_write", "iiii", "i", discard},
			{"fd_fdstat_get", "ii", "i", bad},
			{"fd_read", "iiii", "i", bad},
			{"fd_filestat_get", "ii", "i", bad},
			{"path_filestat_get", "iiiii", "i", absent},
			{"path_unlink_file", "iii", "i", absent},
			{"path_remove_directory", "iii", "i", absent},
			{"fd_filestat_set_size", "iI", "i", bad},
			{"fd_fdstat_set_flags", "ii", "i", bad},
			{"path_open", "iiiiiIIii", "i", absent},
			{"fd_sync", "i", "i", bad},
			{"environ_get", "ii", "i", none},
			{"environ_sizes_get", "ii", "i", func(_ context.Context, m api.Module, stack []uint64) {
				m.Memory().WriteUint32Le(uint32(stack[0]), 0)
				m.Memory().WriteUint32Le(uint32(stack[1]), 0)
				stack[0] = 0
			}},
			{"fd_seek", "iIii", "i", bad},
			{"clock_time_get", "iIi", "i", func(_ context.Context, m api.Module, stack []uint64) {
				m.Memory().WriteUint64Le(uint32(stack[2]), 0)
				stack[0] = 0
			}},
			{"proc_exit", "i", "", func(context.Context, api.Module, []uint64) {
				panic(errExit) // wazero makes it the error of the call
			}},
			{"fd_readdir", "iiiIi", "i", bad},
			{"fd_prestat_dir_name", "iii", "i", bad},
			{"fd_prestat_get", "ii", "i", bad}, // there is no folder
		},
		"env": {
			{"FPDF_FILEACCESS_CB", "iiii", "i", e.readBlock},
			{"IFSDK_PAUSE_NeedToPauseNow_CB", "i", "i", none},
			{"FPDF_FORMFILLINFO_Release_CB", "i", "", none},
			{"FPDF_FORMFILLINFO_FFI_Invalidate_CB", "iiFFFF", "", none},
			{"FPDF_FORMFILLINFO_FFI_OutputSelectedRect_CB", "iiFFFF", "", none},
			{"FPDF_FORMFILLINFO_FFI_SetCursor_CB", "ii", "", none},
			{"FPDF_FORMFILLINFO_FFI_SetTimer_CB", "iii", "i", none},
			{"FPDF_FORMFILLINFO_FFI_KillTimer_CB", "ii", "", none},
			{"FPDF_FORMFILLINFO_FFI_GetLocalTime_CB", "ii", "", none},
			{"FPDF_FORMFILLINFO_FFI_OnChange_CB", "i", "", none},
			{"FPDF_FORMFILLINFO_FFI_GetPage_CB", "iii", "i", none},
			{"FPDF_FORMFILLINFO_FFI_GetCurrentPage_CB", "ii", "i", none},
			{"FPDF_FORMFILLINFO_FFI_GetRotation_CB", "ii", "i", none},
			{"FPDF_FORMFILLINFO_FFI_ExecuteNamedAction_CB", "ii", "", none},
			{"FPDF_FORMFILLINFO_FFI_SetTextFieldFocus_CB", "iiii", "", none},
			{"FPDF_FORMFILLINFO_FFI_DoURIAction_CB", "ii", "", none},
			{"FPDF_FORMFILLINFO_FFI_DoGoToAction_CB", "iiiii", "", none},
			{"FSDK_SetLocaltimeFunction_CB", "i", "i", none},
			{"FSDK_SetTimeFunction_CB", "", "I", none},
			{"UNSUPPORT_INFO_HANDLER_CB", "ii", "", none},
			{"FX_DOWNLOADHINTS_ADD_SEGMENT_CB", "iii", "", none},
			{"FX_FILEAVAIL_IS_DATA_AVAILABLE_CB", "iii", "i", none},
			{"FPDF_FILEWRITE_CB", "iii", "i", none},
			{"emscripten_notify_memory_growth", "i", "", none},
		},
	}
}

func valueTypes(letters string) []api.ValueType {
	list := make([]api.ValueType, len(letters))
	for i, c := range []byte(letters) {
		switch c {
		case 'i':
			list[i] = api.ValueTypeI32
		case 'I':
			list[i] = api.ValueTypeI64
		case 'f':
			list[i] = api.ValueTypeF32
		case 'F':
			list[i] = api.ValueTypeF64
		}
	}
	return list
}

// discard is fd_write(descriptor, vectors, count, written): it says that all
// was written, because the C library tries again what was not.
func discard(_ context.Context, m api.Module, stack []uint64) {
	const maxVectors = 16
	mem := m.Memory()
	total := uint32(0)
	vectors, ok := mem.Read(uint32(stack[1]), 8*min(uint32(stack[2]), maxVectors))
	for ; ok && len(vectors) >= 8; vectors = vectors[8:] {
		total += binary.LittleEndian.Uint32(vectors[4:])
	}
	mem.WriteUint32Le(uint32(stack[3]), total)
	stack[0] = 0
}

// readBlock is PDFium's m_GetBlock(param, position, buffer, size): all of it
// or nothing.
func (e *Engine) readBlock(_ context.Context, m api.Module, stack []uint64) {
	position, buffer, size := int64(uint32(stack[1])), uint32(stack[2]), uint32(stack[3])
	stack[0] = 0
	b, ok := m.Memory().Read(buffer, size)
	if !ok || e.file == nil || position+int64(size) > e.size {
		return
	}
	n, err := e.file.ReadAt(b, position)
	if n < len(b) {
		if e.readError == nil {
			e.readError = err
		}
		return
	}
	stack[0] = 1
}
