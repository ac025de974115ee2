package pdftest

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"slices"
)

// repeated is the zlib stream of head, then block n times, then tail, made
// without ever holding or compressing the whole: a block compresses to the
// same bytes each time once the window before it is the same, so its third
// copy is compressed once and then written again. Gigabytes take
// milliseconds. A block shorter than the window of 32 KiB is doubled first,
// so n is rounded down to what the doubled blocks give.
func repeated(head, block []byte, n int, tail []byte) []byte {
	for len(block) < 1<<16 && n > 1 {
		block, n = append(slices.Clip(block), block...), n/2
	}
	var b bytes.Buffer
	b.Write([]byte{0x78, 0xda}) // zlib: 32 KiB window, best compression
	w, err := flate.NewWriter(&b, flate.BestCompression)
	if err != nil {
		panic(err) // only for a level that does not exist
	}
	add := func(data []byte) []byte {
		before := b.Len()
		// Writes to a buffer cannot fail. Flush ends at a whole byte.
		_, _ = w.Write(data)
		_ = w.Flush()
		return b.Bytes()[before:]
	}
	sum := adler{a: 1}
	add(head)
	sum.add(head)
	var steady []byte
	for range min(n, 3) {
		steady = bytes.Clone(add(block))
		sum.add(block)
	}
	of := adler{}
	of.add(block)
	for range n - 3 {
		b.Write(steady)
		sum.again(of, len(block))
	}
	sum.add(tail)
	_, _ = w.Write(tail)
	_ = w.Close()
	return binary.BigEndian.AppendUint32(b.Bytes(), sum.b<<16|sum.a)
}

// adler is the checksum of zlib (RFC 1950, 8.2).
type adler struct{ a, b uint32 }

const adlerBase = 65521

func (s *adler) add(data []byte) {
	for _, c := range data {
		s.a = (s.a + uint32(c)) % adlerBase
		s.b = (s.b + s.a) % adlerBase
	}
}

// again adds n bytes whose sums from nothing are known.
func (s *adler) again(of adler, n int) {
	s.b = (s.b + of.b + uint32(uint64(n)*uint64(s.a)%adlerBase)) % adlerBase
	s.a = (s.a + of.a) % adlerBase
}
