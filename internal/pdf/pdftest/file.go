package pdftest

import (
	"bytes"
	"crypto/md5"
	"fmt"
	"maps"
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

func (f *File) header(b *bytes.Buffer) {
	version := f.Version
	if version == "" {
		version = "1.7"
	}
	// The bytes above 127 tell transfer programs that this is not text.
	fmt.Fprintf(b, "%%PDF-%s\n%%\xe2\xe3\xcf\xd3\n", version)
}

func (f *File) object(b *bytes.Buffer, r Ref, v any) {
	var enc func([]byte) []byte
	if f.crypt != nil && r != f.crypt.ref {
		enc = func(data []byte) []byte { return f.crypt.encrypt(int(r), data) }
	}
	fmt.Fprintf(b, "%d 0 obj\n", int(r))
	write(b, v, enc)
	b.WriteString("\nendobj\n")
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
	var b bytes.Buffer
	f.header(&b)
	offsets := make([]int, len(f.objects))
	for i, v := range f.objects {
		if _, none := v.(free); none {
			continue
		}
		offsets[i] = b.Len()
		f.object(&b, Ref(i+1), v)
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, o := range offsets {
		if o == 0 {
			b.WriteString("0000000000 65535 f \n")
			continue
		}
		fmt.Fprintf(&b, "%010d 00000 n \n", o)
	}
	b.WriteString("trailer\n")
	write(&b, f.trailer(len(offsets)+1), nil)
	fmt.Fprintf(&b, "\nstartxref\n%d\n%%%%EOF\n", start)
	return b.Bytes()
}

// compact writes all objects that are not streams into object streams of a
// hundred, and the table as a stream (7.5.7, 7.5.8).
func (f *File) compact() []byte {
	const perStream = 100
	var b bytes.Buffer
	f.header(&b)

	type entry struct{ kind, a, b int }
	entries := []entry{{0, 0, 65535}}
	for range f.objects {
		entries = append(entries, entry{0, 0, 65535})
	}

	var z deflater
	var packed []Ref
	direct := func(r Ref, v any) {
		entries[r] = entry{1, b.Len(), 0}
		f.object(&b, r, v)
	}
	flush := func() {
		if len(packed) == 0 {
			return
		}
		holder := Ref(len(entries))
		entries = append(entries, entry{})
		var index, body bytes.Buffer
		for i, r := range packed {
			fmt.Fprintf(&index, "%d %d ", int(r), body.Len())
			write(&body, f.objects[r-1], nil) // the stream as a whole is encrypted
			body.WriteByte('\n')
			entries[r] = entry{2, int(holder), i}
		}
		d := Dict{"Type": Name("ObjStm"), "N": len(packed), "First": index.Len()}
		direct(holder, z.stream(d, append(index.Bytes(), body.Bytes()...)))
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
	start := b.Len()
	entries = append(entries, entry{1, start, 0})
	var table bytes.Buffer
	for _, e := range entries {
		table.Write([]byte{byte(e.kind), byte(e.a >> 24), byte(e.a >> 16), byte(e.a >> 8), byte(e.a), byte(e.b >> 8), byte(e.b)})
	}
	d := f.trailer(len(entries))
	d["Type"], d["W"] = Name("XRef"), Array{1, 4, 2}
	fmt.Fprintf(&b, "%d 0 obj\n", self)
	write(&b, z.stream(d, table.Bytes()), nil)
	fmt.Fprintf(&b, "\nendobj\nstartxref\n%d\n%%%%EOF\n", start)
	return b.Bytes()
}
