package main

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sift.build/sift/internal/sift"
)

// converts is where converted files go: to standard output, or each to a file of
// its own.
type converts struct {
	p      *program
	asJSON bool
	many   bool
	names  []string // of the files to write, by the position of what they come from; nil: standard output
}

// into decides which file in dir the content of each of files is written to,
// and makes dir.
func (o *converts) into(dir string, files []string, mode sift.Mode) error {
	ext := ".md"
	switch {
	case o.asJSON:
		ext = ".json"
	case mode == sift.ModeText, mode == sift.ModeRaw:
		ext = ".txt"
	case mode == sift.ModeHTML:
		ext = ".html"
	}
	stem := func(file string) string {
		if file == "-" {
			return "stdin"
		}
		name := filepath.Base(file)
		return strings.TrimSuffix(name, filepath.Ext(name))
	}
	shared := make(map[string]int)
	for _, f := range files {
		shared[stem(f)]++
	}
	taken := make(map[string]string)
	for _, f := range files {
		name := stem(f)
		if shared[name] > 1 {
			name = filepath.Base(f)
		}
		name = filepath.Join(dir, name+ext)
		if other, ok := taken[name]; ok {
			return usagef("%s and %s would both be written to %s; convert them into different folders", other, f, name)
		}
		taken[name] = f
		if sameFile(name, f) {
			return usagef("%s would be replaced by its own content; name another folder with -o", f)
		}
		o.names = append(o.names, name)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return usagef("-o %s: the folder cannot be made: %v", dir, cause(err))
	}
	return nil
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// put hands on what one file came to: an answer, or else a failure. Its own
// error is about the output.
func (o *converts) put(i int, file string, a *sift.Answer, f *sift.Failure) error {
	if o.asJSON {
		line, err := o.line(file, a, f)
		if err != nil {
			return err
		}
		if o.names != nil {
			return writeWhole(o.names[i], line)
		}
		_, err = o.p.out.Write(line)
		return err
	}
	if f != nil {
		o.p.complain(fmt.Errorf("%s: %w", file, f))
		return nil
	}
	for _, w := range a.Warnings {
		fmt.Fprintf(o.p.err, "%s: %s: %s\n", file, w.Code, w.Message)
	}
	if o.names == nil {
		return o.p.content(a.Content, o.many)
	}
	return writeWhole(o.names[i], []byte(endLine(a.Content)))
}

// line is the envelope or failure of a file as one line of JSON.
func (o *converts) line(file string, a *sift.Answer, f *sift.Failure) ([]byte, error) {
	name, err := json.Marshal(file)
	if err != nil {
		return nil, fmt.Errorf("encode file name: %w", err)
	}
	line := bytes.NewBufferString(`{"file":`)
	line.Write(name)
	line.WriteByte(',')
	var rest []byte
	if f != nil {
		o.p.confess(f)
		if rest, err = json.Marshal(f.JSON()); err != nil {
			return nil, fmt.Errorf("encode failure: %w", err)
		}
	} else {
		rest = (&sift.Envelope{Answer: a}).AppendJSON(nil)
	}
	line.Write(rest[1:])
	line.WriteByte('\n')
	return line.Bytes(), nil
}

// writeWhole writes a file that is there whole or not at all.
func writeWhole(name string, content []byte) error {
	fault := func(err error) error { return fmt.Errorf("%s cannot be written: %w", name, cause(err)) }
	// A name that nobody else has, and no link that somebody has put there.
	partial := name + "." + rand.Text()[:8] + ".partial"
	f, err := os.OpenFile(partial, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return fault(err)
	}
	_, err = f.Write(content)
	if err = cmp.Or(err, f.Close()); err == nil {
		err = os.Rename(partial, name)
	}
	if err != nil {
		_ = os.Remove(partial)
		return fault(err)
	}
	return nil
}
