package extract

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
)

// Weight estimates how many bytes of memory a call of Extract holds at once,
// its result included, from the size of the body and the number of its tags.
// It decodes nothing, and errs on the large side: on real pages it is what is
// allocated in all.
func Weight(in Input) int64 {
	w, err := weigh(bytes.NewReader(in.Body), int64(len(in.Body)), int64(textLimit(in)))
	if err != nil {
		return 0 // memory can be read
	}
	return w
}

// WeightOf is Weight for a body of that size which is not in memory. It reads
// it once, in small pieces.
func WeightOf(body io.ReaderAt, size int64) (int64, error) {
	return weigh(body, size, int64(textLimit(Input{})))
}

func weigh(body io.ReaderAt, size, limit int64) (int64, error) {
	// perTag is an element, its text, its attributes, and the copies of those
	// that are kept.
	const perTag = 600
	buf := make([]byte, 32<<10)
	read := func(at, n int64) ([]byte, error) {
		got, err := body.ReadAt(buf[:n], at)
		if int64(got) == n {
			err = nil
		}
		if err != nil {
			return nil, fmt.Errorf("weigh body: %w", err)
		}
		return buf[:n], nil
	}
	head, err := read(0, min(size, 16))
	if err != nil {
		return 0, err
	}
	if isGzip(head) && size > 8 {
		// The length of what is inside stands at the end. Text of that length
		// has a tag in every thirty bytes at most.
		tail, err := read(size-4, 4)
		if err != nil {
			return 0, err
		}
		size += min(int64(binary.LittleEndian.Uint32(tail)), limit)
		return weight(size, size/30, perTag), nil
	}
	tags := int64(0)
	for at := int64(0); at < size; at += int64(len(buf)) {
		b, err := read(at, min(size-at, int64(len(buf))))
		if err != nil {
			return 0, err
		}
		tags += int64(bytes.Count(b, []byte("<")))
		tags += int64(bytes.Count(b, []byte("&lt;"))) // of the entries of a feed
	}
	return weight(size, tags, perTag), nil
}

func weight(size, tags, perTag int64) int64 {
	return 3*size + perTag*min(tags, maxNodes/2) // above the bound on nodes no tree is built
}
