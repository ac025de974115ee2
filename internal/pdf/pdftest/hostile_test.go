package pdftest

import (
	"bytes"
	"compress/zlib"
	"io"
	"runtime"
	"testing"
	"time"
)

func TestHostileFilesAreMadeWithinBounds(t *testing.T) {
	const (
		maxFile  = 32 << 20
		maxAlloc = 400 << 20 // in all; what is in use at once is far less
		maxTime  = 10 * time.Second
	)
	seen := map[string]bool{}
	for _, h := range Hostile() {
		if h.Name == "" || h.Why == "" || seen[h.Name] {
			t.Errorf("%q is not named and explained once", h.Name)
		}
		seen[h.Name] = true
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		file := h.Make()
		took := time.Since(start)
		runtime.ReadMemStats(&after)
		alloc := after.TotalAlloc - before.TotalAlloc
		t.Logf("%-22s %9d bytes, %4d MB, %v", h.Name, len(file), alloc>>20, took.Round(time.Millisecond))
		if len(file) > maxFile || alloc > maxAlloc || took > maxTime {
			t.Errorf("%s: %d bytes, allocated %d MB in %v", h.Name, len(file), alloc>>20, took)
		}
		if !bytes.HasPrefix(file, []byte("%PDF-")) {
			t.Errorf("%s does not begin as a PDF does", h.Name)
		}
	}
}

func TestARepeatedBlockIsWhatACompressorWouldHaveWritten(t *testing.T) {
	block := bytes.Repeat([]byte("a block of text, "), 5000)
	for _, n := range []int{3, 4, 9} {
		r, err := zlib.NewReader(bytes.NewReader(repeated([]byte("head"), block, n, []byte("tail"))))
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(r) // also holds the checksum against it
		if err != nil {
			t.Fatalf("%d times: %v", n, err)
		}
		want := append(append([]byte("head"), bytes.Repeat(block, n)...), "tail"...)
		if !bytes.Equal(got, want) {
			t.Errorf("%d times: %d bytes came out, want %d", n, len(got), len(want))
		}
	}
}
