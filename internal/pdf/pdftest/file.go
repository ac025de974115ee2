package pdftest

import (
	"crypto/md5"
	"encoding/binary"
	"fmt"
	"maps"
	"strconv"
)

// A File is a list of numbered objects and the trailer that names the first
// of them to read. Add and Set fill it; Bytes writes it.
type File struct {
	Trailer Dict   // Size and ID are added; Root must be given
	Version string // "": 1.7
	Compact bool   // object streams and a cross-reference stream, as writers since PDF 1.5 make them

	objects []any
	crypt   *crypt
}

// free marks a number that has no object.
type free struct{}

// Reserve takes a number whose object comes later, by Set.
func (f *File) Reserve() Ref {
	f.objects = append(f.objects, free{})
	return Ref(len(f.objects))
}

// Add appends an object.
func (f *File) Add(v any) Ref {
	f.objects = append(f.objects, v)
	return Ref(len(f.objects))
}

// Set gives the object of a number, which must have been reserved or added.
func (f *File) Set(r Ref, v any) { f.objects[r-1] = v }

func (f *File) header() []byte {
	version := f.Version
	if version == "" {
		version = "1.7"
	}
	// The bytes above 127 tell transfer programs that this is not text.
	return fmt.Appendf(nil, "%%PDF-%s\n%%\xe2\xe3\xcf\xd3\n", version)
}

func (f *File) appendObject(b []byte, r Ref, v any) []byte {
	var enc func([]byte) []byte
	if f.crypt != nil && r != f.crypt.ref {
		enc = func(data []byte) []byte { return f.crypt.encrypt(int(r), data) }
	}
	b = append(strconv.AppendInt(b, int64(r), 10), " 0 obj\n"...)
	return append(appendValue(b, v, enc), "\nendobj\n"...)
}

func (f *File) trailer(size int) Dict {
	d := maps.Clone(f.Trailer)
	if d == nil {
		d = Dict{}
	}
	if _, ok := d["Size"]; !ok {
		d["Size"] = size
	}
	if f.crypt != nil {
		d["Encrypt"] = f.crypt.ref
	}
	if _, ok := d["ID"]; !ok {
		d["ID"] = Array{String(f.id()), String(f.id())}
	}
	return d
}

// id is what tells this file from others: made of how many objects it has,
// so that the same calls give the same bytes. Encryption mixes it in.
func (f *File) id() []byte {
	if f.crypt != nil {
		return f.crypt.id
	}
	sum := md5.Sum(fmt.Appendf(nil, "pdftest %d", len(f.objects)))
	return sum[:]
}

// Bytes writes the file.
func (f *File) Bytes() []byte {
	if f.Compact {
		return f.compact()
	}
	b := f.header()
	offsets := make([]int, len(f.objects))
	for i, v := range f.objects {
		if _, none := v.(free); none {
			continue
		}
		offsets[i] = len(b)
		b = f.appendObject(b, Ref(i+1), v)
	}
	start := len(b)
	b = fmt.Appendf(b, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, o := range offsets {
		if o == 0 {
			b = append(b, "0000000000 65535 f \n"...)
			continue
		}
		b = fmt.Appendf(b, "%010d 00000 n \n", o)
	}
	b = append(b, "trailer\n"...)
	b = appendValue(b, f.trailer(len(offsets)+1), nil)
	return fmt.Appendf(b, "\nstartxref\n%d\n%%%%EOF\n", start)
}

// compact writes all objects that are not streams into object streams of a
// hundred, and the table as a stream (7.5.7, 7.5.8).
func (f *File) compact() []byte {
	const perStream = 100
	b := f.header()

	type entry struct{ kind, a, b int }
	entries := []entry{{0, 0, 65535}}
	for range f.objects {
		entries = append(entries, entry{0, 0, 65535})
	}

	var z deflater
	var packed []Ref
	direct := func(r Ref, v any) {
		entries[r] = entry{1, len(b), 0}
		b = f.appendObject(b, r, v)
	}
	flush := func() {
		if len(packed) == 0 {
			return
		}
		holder := Ref(len(entries))
		entries = append(entries, entry{})
		var index, body []byte
		for i, r := range packed {
			index = fmt.Appendf(index, "%d %d ", int(r), len(body))
			body = append(appendValue(body, f.objects[r-1], nil), '\n') // the stream as a whole is encrypted
			entries[r] = entry{2, int(holder), i}
		}
		d := Dict{"Type": Name("ObjStm"), "N": len(packed), "First": len(index)}
		direct(holder, z.stream(d, append(index, body...)))
		packed = packed[:0]
	}
	for i, v := range f.objects {
		r := Ref(i + 1)
		switch v.(type) {
		case free:
		case Stream:
			direct(r, v)
		default:
			if f.crypt != nil && r == f.crypt.ref {
				direct(r, v)
				continue
			}
			if packed = append(packed, r); len(packed) == perStream {
				flush()
			}
		}
	}
	flush()

	self := len(entries)
	start := len(b)
	entries = append(entries, entry{1, start, 0})
	var table []byte
	for _, e := range entries {
		table = binary.BigEndian.AppendUint32(append(table, byte(e.kind)), uint32(e.a))
		table = binary.BigEndian.AppendUint16(table, uint16(e.b))
	}
	d := f.trailer(len(entries))
	d["Type"], d["W"] = Name("XRef"), Array{1, 4, 2}
	b = fmt.Appendf(b, "%d 0 obj\n", self)
	b = appendValue(b, z.stream(d, table), nil)
	return fmt.Appendf(b, "\nendobj\nstartxref\n%d\n%%%%EOF\n", start)
}
