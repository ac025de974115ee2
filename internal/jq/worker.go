package jq

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"time"

	"github.com/itchyny/gojq"

	"sift.build/sift/internal/child"
)

// workerName is what logs and metrics call the children.
const workerName = "jq"

// Workers are what the children of this package run, by name, for child.Main.
func Workers() map[string]child.Worker {
	return map[string]child.Worker{workerName: work}
}

// order is what a child is told, beside the program.
type order struct {
	Size   int   // of the body
	Lines  bool  // a document is a line
	Memory int64 // bytes that the child may hold
	Heap   int64 // bytes from which on they are collected eagerly
	Output int   // bytes of output
}

// encode writes the order and the program as a child's config. The program
// stands as it is: as a JSON string it could become six times as long.
func (o order) encode(program string) ([]byte, error) {
	b, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	return append(append(b, '\n'), program...), nil
}

// work runs a program on the body that is its input.
func work(c child.Conn) error {
	head, program, ok := bytes.Cut(c.Config, []byte("\n"))
	var o order
	if err := json.Unmarshal(head, &o); err != nil || !ok {
		return fmt.Errorf("decode order: %w", err)
	}
	if c.Input == nil {
		return errors.New("there is no body")
	}
	debug.SetMemoryLimit(o.Heap)
	defer watchMemory(o.Memory)()
	var body strings.Builder
	body.Grow(o.Size)
	if _, err := io.Copy(&body, io.LimitReader(c.Input, int64(o.Size))); err != nil {
		return fmt.Errorf("read body: %w", err)
	}
	r := &run{out: c.Output, order: newKeyOrder(), limit: o.Output}
	r.enc = encoder{order: r.order, limit: o.Output}
	r.docs = newReader(body.String(), o.Lines, r.order)
	e := r.all(string(program))
	if err := r.flush(); err != nil {
		return err
	}
	return writeEnd(c.Output, e)
}

// watchLook is how often the memory of a child is looked at.
const watchLook = 2 * time.Millisecond

// watchMemory ends the process when it has been given more memory than it may
// hold. It is a second line behind the kernel's limit, and the only one where
// there is none. The kernel's comes one allocation late: Go reserves addresses
// first and then maps memory over them, and Linux holds such a mapping against
// RLIMIT_DATA only with the next one, so that "x"*1000000000 can be given its
// gigabyte. Until it is written to that is only a number, and this looks at the
// number. It is no bound either: when the collector waits to stop the world, it
// waits with this for the copying to end.
func watchMemory(most int64) (stop func()) {
	sample := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	quit := make(chan struct{})
	go func() {
		look := time.NewTicker(watchLook)
		defer look.Stop()
		for {
			select {
			case <-quit:
				return
			case <-look.C:
			}
			metrics.Read(sample)
			if held := sample[0].Value.Uint64() - sample[1].Value.Uint64(); held > uint64(most) {
				// The words by which package child tells what happened.
				fmt.Fprintln(os.Stderr, "fatal error: out of memory:", held>>20, "MiB are held at once")
				os.Exit(exitFatal)
			}
		}
	}()
	return func() { close(quit) }
}

// exitFatal is the exit status of a fatal error of the Go runtime.
const exitFatal = 2

// run is a program at work.
type run struct {
	docs  *reader
	order *keyOrder
	out   io.Writer
	enc   encoder // whose buffer is what has not been written yet
	sent  int     // bytes that have
	limit int
}

// all runs the program on all documents.
func (r *run) all(program string) end {
	p, err := compile(program, r.docs, r.order)
	if err != nil {
		return end{Fault: faultProgram, Text: err.Error()}
	}
	if r.docs.skip(true); r.docs.pos == len(r.docs.s) {
		return end{Fault: faultEmpty}
	}
	if p.nothing {
		e, _ := r.one(p.code, nil)
		return e
	}
	for v, ok := r.docs.Next(); ok; v, ok = r.docs.Next() {
		if r.docs.err != nil {
			return r.fault(faultJSON, r.docs.err)
		}
		if e, last := r.one(p.code, v); last {
			return e
		}
	}
	return end{}
}

// one runs the program on one document. When that was the last, it says so,
// and what the end is.
func (r *run) one(code *gojq.Code, doc any) (e end, last bool) {
	iter := code.Run(doc)
	for {
		v, ok := iter.Next()
		if !ok {
			return end{}, false
		}
		if err, ok := v.(error); ok {
			halt, isHalt := err.(*gojq.HaltError)
			switch {
			case r.docs.err != nil && !isHalt:
				return r.fault(faultJSON, err), true // it was read with input
			case isHalt && halt.Value() == nil:
				return end{}, true
			case isHalt:
				return r.fault(faultHalt, err), true
			}
			return r.fault(faultRuntime, err), true
		}
		if err := r.output(v); errors.Is(err, errTooLong) {
			if r.sent+len(r.enc.buf) == 0 {
				return r.fault(faultOutput, err), true
			}
			return end{Cut: true}, true
		} else if err != nil {
			return r.fault(faultRuntime, err), true
		}
	}
}

// fault describes what went wrong.
func (r *run) fault(class faultClass, err error) end {
	if class == faultJSON {
		return end{Fault: class, Broken: r.docs.err}
	}
	e := end{Fault: class, Text: err.Error(), Doc: max(r.docs.docs, 1), Line: r.docs.line()}
	r.docs.skip(true)
	e.Docs = e.Doc > 1 || r.docs.pos < len(r.docs.s)
	return e
}

// output adds an output. One that does not fit leaves nothing.
func (r *run) output(v any) error {
	before := len(r.enc.buf)
	r.enc.limit = r.limit - r.sent - len("\n")
	if err := r.enc.encode(v); err != nil {
		r.enc.buf = r.enc.buf[:before]
		return err
	}
	r.enc.buf = append(r.enc.buf, '\n')
	if len(r.enc.buf) >= flushAt {
		return r.flush()
	}
	return nil
}

func (r *run) flush() error {
	if len(r.enc.buf) == 0 {
		return nil
	}
	err := writeMessage(r.out, outputsFollow, r.enc.buf)
	r.sent += len(r.enc.buf)
	r.enc.buf = r.enc.buf[:0]
	return err
}
