//go:build !linux && !darwin

package engine

import (
	"io"
	"os"

	"github.com/tetratelabs/wazero/experimental"
)

// memory is what the guest uses as its own. It begins with the image.
type memory struct {
	image *os.File
	size  int64
	all   []byte
}

func (m *memory) Allocate(_, most uint64) experimental.LinearMemory {
	m.all = make([]byte, most)
	if _, err := m.image.ReadAt(m.all[:min(uint64(m.size), most)], 0); err != nil && err != io.EOF {
		m.all = nil // Reallocate says no
	}
	return m
}

func (m *memory) Reallocate(size uint64) []byte {
	if size > uint64(len(m.all)) {
		return nil
	}
	return m.all[:size:size]
}

func (m *memory) Free() { m.all = nil }
