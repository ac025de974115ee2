//go:build unix && !linux

package pdf

import (
	"errors"
	"os"
)

// memoryFile is for systems that have no nameless files in memory.
func memoryFile(int) (*os.File, error) { return nil, errors.New("no files in memory here") }
