//go:build linux || darwin

package engine

import (
	"os"
	"unsafe"

	"github.com/tetratelabs/wazero/experimental"
	"golang.org/x/sys/unix"
)

// memory is what the guest uses as its own: one reservation of address space
// that is never moved, of which growing makes more usable. wazero's own way
// appends to a slice, which at 128 MiB takes over 400 MB while it copies. What
// is not usable yet is not counted by RLIMIT_DATA.
//
// It begins with a private mapping of the image: pages are read when they are
// first looked at, and copied when they are first written to.
type memory struct {
	image *os.File
	size  int64 // of the image
	all   []byte
	used  int
}

func (m *memory) Allocate(_, most uint64) experimental.LinearMemory {
	b, err := unix.Mmap(-1, 0, int(most), unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err == nil {
		m.all = b
	}
	return m // without memory, Reallocate says no
}

func (m *memory) Reallocate(size uint64) []byte {
	if size > uint64(len(m.all)) {
		return nil
	}
	n := int(size)
	if n <= m.used {
		return m.all[:n:n]
	}
	if err := unix.Mprotect(m.all[:n], unix.PROT_READ|unix.PROT_WRITE); err != nil {
		return nil
	}
	if m.used == 0 && m.size > 0 {
		if m.size > int64(n) {
			return nil
		}
		_, err := unix.MmapPtr(int(m.image.Fd()), 0, unsafe.Pointer(&m.all[0]), uintptr(m.size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_FIXED)
		if err != nil {
			return nil
		}
	}
	m.used = n
	return m.all[:n:n]
}

func (m *memory) Free() {
	if m.all != nil {
		_ = unix.Munmap(m.all) // fails only for what is not a mapping
	}
	m.all, m.used = nil, 0
}
