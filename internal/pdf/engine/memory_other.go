//go:build !linux && !darwin

package engine

import "github.com/tetratelabs/wazero/experimental"

// allocator leaves the guest's memory to wazero.
func allocator() experimental.MemoryAllocator { return nil }
