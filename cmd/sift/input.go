package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"sift.build/sift/internal/sift"
)

// maxList bounds a list of URLs on standard input.
const maxList = 4 << 20

// list gives the arguments, or the lines of standard input for "-" and for no
// argument with something piped in. Blank lines and lines that begin with #
// are left out.
func (p *program) list(ctx context.Context, args []string) ([]string, error) {
	if len(args) == 0 && !isTerminal(p.in) {
		args = []string{"-"}
	}
	var out []string
	read := false
	for _, a := range args {
		if a != "-" {
			out = append(out, a)
			continue
		}
		if read {
			return nil, errTwoInputs()
		}
		read = true
		lines, err := p.lines(ctx)
		if err != nil {
			return nil, err
		}
		out = append(out, lines...)
	}
	if len(out) == 0 {
		return nil, usagef("no URL given; name one, or pipe a list in with one URL a line")
	}
	return out, nil
}

func errTwoInputs() error {
	return usagef(`"-" stands for standard input and can be given once`)
}

func (p *program) lines(ctx context.Context) ([]string, error) {
	b, err := p.readInput(ctx, maxList)
	if err != nil {
		return nil, err
	}
	if len(b) > maxList {
		return nil, usagef("the list on standard input is longer than %d bytes", maxList)
	}
	// Windows tools write a byte order mark, which is no part of the first URL.
	text := strings.TrimPrefix(string(b), "\ufeff")
	var out []string
	sc := bufio.NewScanner(strings.NewReader(text))
	sc.Buffer(nil, maxList+1)
	for sc.Scan() {
		if line := strings.TrimSpace(sc.Text()); line != "" && line[0] != '#' {
			out = append(out, line)
		}
	}
	return out, sc.Err()
}

// readInput reads standard input, at most one byte more than limit.
func (p *program) readInput(ctx context.Context, limit int64) ([]byte, error) {
	b, err := untilDone(ctx, func() ([]byte, error) { return io.ReadAll(io.LimitReader(p.in, limit+1)) })
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("read standard input: %w", err)
	}
	return b, err
}

// readFile reads a file, or standard input for "-", at most one byte more than
// limit. A file that cannot be read is the caller's mistake.
func (p *program) readFile(ctx context.Context, file string, limit int64) ([]byte, error) {
	if file == "-" {
		return p.readInput(ctx, limit)
	}
	b, err := untilDone(ctx, func() ([]byte, error) {
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return io.ReadAll(io.LimitReader(f, limit+1))
	})
	if err != nil && ctx.Err() == nil {
		err = cause(err) // the name stands in front already
		err = sift.Fail(sift.CodeInvalid, "the file cannot be read: %v", err).WithCause(err)
	}
	return b, err
}

// cause is what is wrong with a file, without its name.
func cause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// untilDone gives up on read when ctx ends: opening or reading a pipe or a
// terminal cannot be interrupted, and Ctrl-C must not wait for the other end.
// The goroutine stays behind then, in a process that is about to end.
func untilDone(ctx context.Context, read func() ([]byte, error)) ([]byte, error) {
	type result struct {
		bytes []byte
		err   error
	}
	done := make(chan result, 1)
	go func() {
		b, err := read()
		done <- result{b, err}
	}()
	select {
	case r := <-done:
		return r.bytes, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
