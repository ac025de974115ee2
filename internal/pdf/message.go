package pdf

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/fxamacker/cbor/v2"
)

// message is what the reading child says at a time: first the info, then the
// pages, then the end. One field is set.
//
// It goes as its length in four bytes and CBOR (RFC 8949). JSON took the parent
// longer to read than all else that it does with a file, and cannot write a
// coordinate that is no number. Gob is, as its documentation says, not made for
// what an adversary writes, and the file may have the child in its hands.
type message struct {
	Info *info     `cbor:",omitempty"`
	Page *readPage `cbor:",omitempty"`
	Bad  int       `cbor:",omitempty"` // the number of a page that cannot be read
	End  *end      `cbor:",omitempty"`
}

const lengthBytes = 4

var (
	errTooLong = errors.New("a message is too long")
	errGarbled = errors.New("a message is garbled")
)

// sender sends messages, each at once: the child may be killed over the next
// page.
type sender struct {
	w       io.Writer
	mode    cbor.EncMode
	written int64
}

func newSender(w io.Writer) (*sender, error) {
	mode, err := cbor.EncOptions{Time: cbor.TimeRFC3339Nano}.EncMode()
	return &sender{w: w, mode: mode}, err
}

func (s *sender) send(m message) error {
	body, err := s.mode.Marshal(m)
	if err != nil {
		return err
	}
	b := append(binary.LittleEndian.AppendUint32(make([]byte, 0, lengthBytes+len(body)), uint32(len(body))), body...)
	s.written += int64(len(b))
	_, err = s.w.Write(b)
	return err
}

// messages reads what a child says to its end, each message of at most so many
// bytes. One that is cut off is the end, too: the child has died over it, and
// how is for others to say.
func messages(r io.Reader, most int) iter.Seq2[message, error] {
	return func(yield func(message, error) bool) {
		// More elements than bytes are refused anyway.
		mode, err := cbor.DecOptions{
			MaxArrayElements: most, MaxMapPairs: 64, MaxNestedLevels: 16, IndefLength: cbor.IndefLengthForbidden, TagsMd: cbor.TagsForbidden,
			UTF8: cbor.UTF8RejectInvalid, ExtraReturnErrors: cbor.ExtraDecErrorUnknownField, DupMapKey: cbor.DupMapKeyEnforcedAPF,
		}.DecMode()
		if err != nil {
			yield(message{}, err)
			return
		}
		in := bufio.NewReaderSize(r, 64<<10)
		var length [lengthBytes]byte
		var buf []byte
		for {
			if _, err := io.ReadFull(in, length[:]); err != nil {
				fail(err, yield)
				return
			}
			n := binary.LittleEndian.Uint32(length[:])
			if uint64(n) > uint64(most) {
				yield(message{}, errTooLong)
				return
			}
			if int(n) > cap(buf) {
				buf = make([]byte, n)
			}
			if _, err := io.ReadFull(in, buf[:n]); err != nil {
				fail(err, yield)
				return
			}
			var m message
			if err := mode.Unmarshal(buf[:n], &m); err != nil {
				yield(message{}, fmt.Errorf("%w: %w", errGarbled, err))
				return
			}
			if !yield(m, nil) {
				return
			}
		}
	}
}

// fail hands on an error that is not the end.
func fail(err error, yield func(message, error) bool) {
	if err != io.EOF && err != io.ErrUnexpectedEOF {
		yield(message{}, err)
	}
}
