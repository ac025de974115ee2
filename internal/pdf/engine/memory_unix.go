//go:build linux || darwin

package engine

import (
	"github.com/tetratelabs/wazero/experimental"
	"golang.org/x/sys/unix"
)

// allocator backs the guest's memory by one reservation of address space that
// is never moved: growing it makes more of it usable. wazero's own way appends
// to a slice, which at 128 MiB takes over 400 MB while it copies. What is not
// usable yet is not counted by RLIMIT_DATA.
func allocator() experimental.MemoryAllocator {
	return experimental.MemoryAllocatorFunc(func(_, max uint64) experimental.LinearMemory {
		b, err := unix.Mmap(-1, 0, int(max), unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON)
		if err != nil {
			return &mapping{} // its Reallocate says no
		}
		return &mapping{all: b}
	})
}

type mapping struct {
	all  []byte
	used int
}

func (m *mapping) Reallocate(size uint64) []byte {
	if size > uint64(len(m.all)) {
		return nil
	}
	if n := int(size); n > m.used {
		if err := unix.Mprotect(m.all[:n], unix.PROT_READ|unix.PROT_WRITE); err != nil {
			return nil
		}
		m.used = n
	}
	return m.all[:size:size]
}

func (m *mapping) Free() {
	if m.all != nil {
		_ = unix.Munmap(m.all) // fails only for what is not a mapping
	}
	m.all, m.used = nil, 0
}
