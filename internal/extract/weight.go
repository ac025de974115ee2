package extract

import "bytes"

// Weight estimates how many bytes of memory a call of Extract holds at once,
// its result included, from the size of the body and the number of its tags. It
// does not decode anything.
func Weight(in Input) int64 {
	size := int64(len(in.Body))
	return 3*size + 600*int64(bytes.Count(in.Body, []byte("<")))
}
