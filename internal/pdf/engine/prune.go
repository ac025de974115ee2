package engine

import (
	"encoding/binary"
	"fmt"
)

// prune returns the module with a trap in place of each function that cannot
// be reached from the exports named in keep: a third of PDFium's code edits
// and writes files, or draws on screens. What stays in tables, and so may be
// called by address, stays.
func prune(module []byte, keep func(name string) bool) ([]byte, error) {
	list, err := sections(module)
	if err != nil {
		return nil, err
	}
	var roots []uint32
	imported := uint32(0)
	var bodies [][]byte // with their length in front
	var calls [][]uint32
	for _, s := range list {
		r := reader{b: s.body}
		switch s.id {
		case sectionImport:
			for range r.count() {
				r.skip(r.count()) // module
				r.skip(r.count()) // name
				if kind := r.byte(); kind != 0 {
					return nil, fmt.Errorf("%w: it imports something of kind %d", errModule, kind)
				}
				r.u32()
				imported++
			}
		case sectionExport:
			for range r.count() {
				name := string(r.skip(r.count()))
				if kind, f := r.byte(), r.u32(); kind == 0 && keep(name) {
					roots = append(roots, f)
				}
			}
		case sectionStart:
			roots = append(roots, r.u32())
		case sectionElement:
			for range r.count() {
				// Only the plain form: table 0, an offset, function indices.
				if form, op := r.u32(), r.byte(); form != 0 || op != 0x41 {
					return nil, fmt.Errorf("%w: elements of form %d", errModule, form)
				}
				r.u32()
				if end := r.byte(); end != 0x0b {
					return nil, errModule
				}
				for range r.count() {
					roots = append(roots, r.u32())
				}
			}
		case sectionCode:
			for range r.count() {
				begin := r.at
				size := r.count()
				body := r.skip(size)
				if r.bad {
					break
				}
				bodies = append(bodies, s.body[begin:r.at])
				c, err := callees(body)
				if err != nil {
					return nil, err
				}
				calls = append(calls, c)
			}
		}
		if r.bad {
			return nil, errModule
		}
	}

	live := make([]bool, len(bodies))
	for len(roots) > 0 {
		f := roots[len(roots)-1]
		roots = roots[:len(roots)-1]
		if f < imported {
			continue
		}
		i := f - imported
		if int(i) >= len(live) {
			return nil, errModule
		}
		if !live[i] {
			live[i] = true
			roots = append(roots, calls[i]...)
		}
	}

	out := append(make([]byte, 0, len(module)), module[:wasmHeader]...)
	for _, s := range list {
		if s.id != sectionCode {
			out = append(out, s.whole...)
			continue
		}
		code := binary.AppendUvarint(make([]byte, 0, len(s.body)), uint64(len(bodies)))
		for i, b := range bodies {
			if !live[i] {
				b = trap()
			}
			code = append(code, b...)
		}
		out = appendSection(out, sectionCode, code)
	}
	return out, nil
}

// callees lists the functions that a function's body names: those it calls,
// and those it takes the address of.
func callees(body []byte) ([]uint32, error) {
	r := reader{b: body}
	for range r.count() { // locals: how many, of what type
		r.u32()
		r.byte()
	}
	var list []uint32
	for r.at < len(r.b) && !r.bad {
		switch op := r.byte(); {
		case op == 0x10 || op == 0x12 || op == 0xd2: // call, return_call, ref.func
			list = append(list, r.u32())
		case op == 0x11 || op == 0x13: // call_indirect, return_call_indirect
			r.u32()
			r.u32()
		case op >= 0x02 && op <= 0x04, // block, loop, if
			op == 0x08, op == 0x0c, op == 0x0d, // throw, br, br_if
			op >= 0x20 && op <= 0x26,           // locals, globals, tables
			op == 0x41, op == 0x42, op == 0xd0: // i32.const, i64.const, ref.null
			r.leb()
		case op == 0x0e: // br_table
			for range r.count() {
				r.u32()
			}
			r.u32()
		case op == 0x1c: // select of given types
			r.skip(r.count())
		case op == 0x1f: // try_table: its type, and what it catches
			r.leb()
			for range r.count() {
				if r.byte() < 2 {
					r.u32() // tag
				}
				r.u32() // label
			}
		case op >= 0x28 && op <= 0x3e: // loads and stores
			r.u32()
			r.u32()
		case op == 0x3f || op == 0x40: // memory.size, memory.grow
			r.byte()
		case op == 0x43: // f32.const
			r.skip(4)
		case op == 0x44: // f64.const
			r.skip(8)
		case op <= 0x01, op == 0x05, op == 0x0a, op == 0x0b, op == 0x0f, op == 0x1a, op == 0x1b, op >= 0x45 && op <= 0xc4, op == 0xd1:
			// no operands
		case op == 0xfc:
			switch sub := r.u32(); {
			case sub <= 7: // saturating conversions
			case sub == 8 || sub == 10 || sub == 12 || sub == 14: // memory.init, memory.copy, table.init, table.copy
				r.u32()
				r.u32()
			case sub <= 17:
				r.u32()
			default:
				return nil, fmt.Errorf("%w: instruction fc %d", errModule, sub)
			}
		case op == 0xfd: // vectors
			switch sub := r.u32(); {
			case sub <= 11 || sub == 92 || sub == 93: // loads and stores
				r.u32()
				r.u32()
			case sub == 12 || sub == 13: // v128.const, shuffle
				r.skip(16)
			case sub >= 21 && sub <= 34: // lanes
				r.byte()
			case sub >= 84 && sub <= 91: // loads and stores of a lane
				r.u32()
				r.u32()
				r.byte()
			}
		default:
			return nil, fmt.Errorf("%w: instruction %#x", errModule, op)
		}
	}
	if r.bad {
		return nil, errModule
	}
	return list, nil
}

// reader reads the binary format of WebAssembly. After a mistake all it gives
// is zero.
type reader struct {
	b   []byte
	at  int
	bad bool
}

func (r *reader) byte() byte {
	if r.at >= len(r.b) {
		r.bad = true
		return 0
	}
	r.at++
	return r.b[r.at-1]
}

// leb reads an integer of any size and sign, and gives its bits without their sign.
func (r *reader) leb() uint64 {
	const longest = 10 // bytes of 64 bits
	var v uint64
	for i := range longest {
		c := r.byte()
		v |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			return v
		}
	}
	r.bad = true
	return 0
}

func (r *reader) u32() uint32 { return uint32(r.leb()) }

// count reads how many of something follow; each takes a byte or more.
func (r *reader) count() int {
	n := r.leb()
	if n > uint64(len(r.b)-r.at) {
		r.bad = true
		return 0
	}
	return int(n)
}

func (r *reader) skip(n int) []byte {
	if r.bad || n > len(r.b)-r.at {
		r.bad = true
		return nil
	}
	r.at += n
	return r.b[r.at-n : r.at]
}
