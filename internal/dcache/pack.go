package dcache

import (
	"context"
	"fmt"

	"github.com/klauspost/compress/zstd"
)

const (
	// partSize is how much of a body goes into one row, before compression.
	// It bounds the copies that the driver and SQLite make on the way.
	partSize = 1 << 20

	// maxPlain is the largest body or document that is taken, before
	// compression.
	maxPlain = 128 << 20

	// packerCount is how many entries are compressed or written at once: one
	// can compress while another is written.
	packerCount = 2
)

// The codecs of content_part.
const (
	codecPlain = 0
	codecZstd  = 1
)

// packer compresses one entry at a time.
type packer struct {
	encoder *zstd.Encoder // made at first use
	scratch []byte
}

func newPackers() chan *packer {
	c := make(chan *packer, packerCount)
	for range packerCount {
		c <- &packer{}
	}
	return c
}

// takePacker waits for one of the packers; give it back to db.packers.
func (db *DB) takePacker(ctx context.Context) (*packer, error) {
	select {
	case p := <-db.packers:
		return p, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

type part struct {
	codec int
	data  []byte
}

// pack cuts plain into parts and compresses those that get smaller by a
// sixteenth or more. The others are slices of plain itself.
func (p *packer) pack(plain []byte) ([]part, error) {
	if p.encoder == nil {
		// One goroutine's worth of state, and none kept running. Fastest: a page
		// is compressed once and read a few times at best, on two shared cores.
		enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true),
			zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(partSize))
		if err != nil {
			return nil, err
		}
		p.encoder = enc
	}
	var parts []part
	for len(plain) > 0 {
		piece := plain[:min(len(plain), partSize)]
		plain = plain[len(piece):]
		p.scratch = p.encoder.EncodeAll(piece, p.scratch[:0])
		if len(p.scratch) <= len(piece)-len(piece)/16-1 {
			parts = append(parts, part{codecZstd, append([]byte(nil), p.scratch...)})
		} else {
			parts = append(parts, part{codecPlain, piece})
		}
	}
	return parts, nil
}

// unpack appends what a part holds to dst, whose capacity it may not exceed.
func (db *DB) unpack(dst []byte, codec int, data []byte) ([]byte, error) {
	switch codec {
	case codecPlain:
		if len(data) > cap(dst)-len(dst) {
			return nil, fmt.Errorf("a part of %d bytes is larger than what is left of its entry", len(data))
		}
		return append(dst, data...), nil
	case codecZstd:
		return db.decoder.DecodeAll(data, dst) // checks the frame's checksum, stops at cap(dst)
	}
	return nil, fmt.Errorf("part with the unknown codec %d", codec)
}
