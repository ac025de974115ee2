package extract

import (
	"bytes"
	"encoding/binary"
)

// Weight estimates how many bytes of memory a call of Extract holds at once,
// its result included, from the size of the body and the number of its tags.
// It decodes nothing, and errs on the large side: on real pages it is what is
// allocated in all.
func Weight(in Input) int64 {
	const perTag = 600 // an element, its text, its attributes, and the copies of those that are kept
	size, tags := int64(len(in.Body)), int64(0)
	if isGzip(in.Body) && size > 8 {
		// The length of what is inside stands at the end. Text of that length
		// has a tag in every thirty bytes at most.
		inner := int64(binary.LittleEndian.Uint32(in.Body[size-4:]))
		size += min(inner, int64(textLimit(in)))
		tags = size / 30
	} else {
		tags = int64(bytes.Count(in.Body, []byte("<")))
	}
	// Above the bound on nodes no tree is built.
	return 3*size + perTag*min(tags, maxNodes/2)
}
