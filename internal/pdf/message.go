package pdf

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"iter"
	"math"
	"reflect"
	"strings"
	"time"
)

// message is what the reading child says at a time: first the info, then the
// pages, then the end. One field is set.
//
// Both sides are the same program, so that a message needs no names: it is its
// length in four bytes, and then the fields in their order. JSON took the
// parent longer to read than all else that it does with a file, and cannot
// write a coordinate that is no number. Gob is, as its documentation says, not
// made for what an adversary writes, and the file may have the child in its
// hands.
type message struct {
	Info *info
	Page *readPage
	Bad  int // the number of a page that cannot be read
	End  *end
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
	buf     []byte
	written int64
}

func (s *sender) send(m message) error {
	s.buf = appendValue(append(s.buf[:0], make([]byte, lengthBytes)...), reflect.ValueOf(&m).Elem())
	binary.LittleEndian.PutUint32(s.buf, uint32(len(s.buf)-lengthBytes))
	s.written += int64(len(s.buf))
	_, err := s.w.Write(s.buf)
	return err
}

// messages reads what a child says to its end, each message of at most so many
// bytes. One that is cut off is the end, too: the child has died over it, and
// how is for others to say.
func messages(r io.Reader, most int) iter.Seq2[message, error] {
	return func(yield func(message, error) bool) {
		in := bufio.NewReaderSize(r, 64<<10)
		var length [lengthBytes]byte
		var buf []byte
		d := decoder{least: make(map[reflect.Type]int)}
		for {
			if _, err := io.ReadFull(in, length[:]); err != nil {
				fail(err, yield)
				return
			}
			n := binary.LittleEndian.Uint32(length[:])
			if n > uint32(most) {
				yield(message{}, errTooLong)
				return
			}
			if int(n) > cap(buf) {
				buf = make([]byte, n)
			}
			d.rest, d.garbled = buf[:n], false
			if _, err := io.ReadFull(in, d.rest); err != nil {
				fail(err, yield)
				return
			}
			var m message
			d.value(reflect.ValueOf(&m).Elem())
			if d.garbled || len(d.rest) > 0 {
				yield(message{}, errGarbled)
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

// appendValue writes v: numbers as varints or eight bytes, strings and slices
// after their length, what a pointer points to after a 1, the exported fields
// of a struct one after the other.
func appendValue(b []byte, v reflect.Value) []byte {
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			return append(b, 1)
		}
		return append(b, 0)
	case reflect.Int:
		return binary.AppendVarint(b, v.Int())
	case reflect.Float64:
		return binary.LittleEndian.AppendUint64(b, math.Float64bits(v.Float()))
	case reflect.String:
		s := v.String()
		return append(binary.AppendUvarint(b, uint64(len(s))), s...)
	case reflect.Slice:
		n := v.Len()
		b = binary.AppendUvarint(b, uint64(n))
		for i := range n {
			b = appendValue(b, v.Index(i))
		}
		return b
	case reflect.Pointer:
		if v.IsNil() {
			return append(b, 0)
		}
		return appendValue(append(b, 1), v.Elem())
	case reflect.Struct:
		if t, ok := reflect.TypeAssert[time.Time](v); ok {
			text, _ := t.MarshalText() // fails for years that the engine does not give: then it is unknown
			return append(binary.AppendUvarint(b, uint64(len(text))), text...)
		}
		for i := range v.NumField() { //nolint:modernize // Fields describes each field, which takes longer than to write it
			if f := v.Field(i); f.CanSet() {
				b = appendValue(b, f)
			}
		}
		return b
	}
	panic("pdf: messages have no " + v.Kind().String())
}

// decoder reads what appendValue writes. What it reads may come from anybody:
// it takes time and memory in proportion to the bytes that are there.
type decoder struct {
	rest    []byte
	garbled bool
	least   map[reflect.Type]int // how many bytes a value takes at least
}

func (d *decoder) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(d.bytes(1)[0] != 0)
	case reflect.Int:
		n, size := binary.Varint(d.rest)
		d.advance(size)
		v.SetInt(n)
	case reflect.Float64:
		v.SetFloat(math.Float64frombits(binary.LittleEndian.Uint64(d.bytes(8))))
	case reflect.String:
		v.SetString(d.text())
	case reflect.Slice:
		n := d.count(d.atLeast(v.Type().Elem()))
		if n == 0 {
			return
		}
		v.Grow(n)
		v.SetLen(n)
		for i := 0; i < n && !d.garbled; i++ {
			d.value(v.Index(i))
		}
	case reflect.Pointer:
		if d.bytes(1)[0] != 0 {
			v.Set(reflect.New(v.Type().Elem()))
			d.value(v.Elem())
		}
	case reflect.Struct:
		if t, ok := reflect.TypeAssert[*time.Time](v.Addr()); ok {
			if s := d.text(); s != "" {
				d.garbled = t.UnmarshalText([]byte(s)) != nil || d.garbled
			}
			return
		}
		for i := range v.NumField() { //nolint:modernize // as above
			if f := v.Field(i); f.CanSet() {
				d.value(f)
			}
		}
	default:
		panic("pdf: messages have no " + v.Kind().String())
	}
}

// atLeast is how many bytes any value of a type takes.
func (d *decoder) atLeast(t reflect.Type) int {
	n, ok := d.least[t]
	if ok {
		return n
	}
	switch {
	case t.Kind() == reflect.Float64:
		n = 8
	case t.Kind() == reflect.Struct && t != reflect.TypeFor[time.Time]():
		for f := range t.Fields() {
			if f.IsExported() {
				n += d.atLeast(f.Type)
			}
		}
	default:
		n = 1
	}
	d.least[t] = n
	return n
}

// advance goes on by what binary.Varint and its like say that they have read.
func (d *decoder) advance(size int) {
	if size <= 0 {
		d.rest, d.garbled = nil, true
		return
	}
	d.rest = d.rest[size:]
}

// bytes gives the next n bytes, or zeros.
func (d *decoder) bytes(n int) []byte {
	if n > len(d.rest) {
		d.rest, d.garbled = nil, true
		return make([]byte, n)
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}

// count reads how many things follow that take so many bytes each at least.
func (d *decoder) count(least int) int {
	n, size := binary.Uvarint(d.rest)
	d.advance(size)
	if n > uint64(len(d.rest)/max(least, 1)) {
		d.rest, d.garbled = nil, true
		return 0
	}
	return int(n)
}

func (d *decoder) text() string {
	return strings.ToValidUTF8(string(d.bytes(d.count(1))), "\ufffd")
}
