package jq

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What a child writes are messages: a byte that says what follows, its length
// in four bytes, and that. Outputs come as whole lines; the end comes once.
const (
	outputsFollow = 'o'
	endFollows    = 'e'
	headBytes     = 5
)

// Bounds of messages.
const (
	maxChunk = MaxOutput + 1 // one output may be as long as all
	maxEnd   = 64 << 10
	flushAt  = 64 << 10 // outputs are kept back until they are so many bytes
)

// end is a child's last word.
type end struct {
	Cut   bool       `json:",omitempty"` // there is more output
	Fault faultClass `json:",omitempty"`
	Text  string     `json:",omitempty"` // of the fault, as jq says it
	Doc   int        `json:",omitempty"` // the document at which the fault was, from one
	Line  int        `json:",omitempty"` // where it begins
	Docs  bool       `json:",omitempty"` // there are several documents, or may be

	Broken *brokenError `json:",omitempty"`
}

// faultClass says what went wrong in a child that came to its end.
type faultClass string

const (
	faultProgram faultClass = "program" // the program cannot be compiled
	faultRuntime faultClass = "runtime" // the program failed
	faultHalt    faultClass = "halt"    // the program ended itself with an error
	faultJSON    faultClass = "json"    // the body is no JSON
	faultEmpty   faultClass = "empty"   // there is nothing in the body
	faultOutput  faultClass = "output"  // the first output is longer than all may be
)

func writeMessage(w io.Writer, kind byte, body []byte) error {
	head := binary.LittleEndian.AppendUint32([]byte{kind}, uint32(len(body)))
	if _, err := w.Write(head); err != nil {
		return err
	}
	_, err := w.Write(body)
	return err
}

func writeEnd(w io.Writer, e end) error {
	e.Text = firstChars(e.Text, maxText)
	body, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return writeMessage(w, endFollows, body)
}

// heard is what a child has said.
type heard struct {
	outputs strings.Builder
	lines   int
	end     *end
}

var (
	errGarbled = errors.New("a message is garbled")
	errLong    = errors.New("a message is too long")
)

// hear reads what a child says, to its end. A message that is cut off is the
// end too: the child has died over it.
func (h *heard) hear(r io.Reader) error {
	in := bufio.NewReaderSize(r, 64<<10)
	for {
		var head [headBytes]byte
		if _, err := io.ReadFull(in, head[:]); err != nil {
			return unlessEnd(err)
		}
		n := int64(binary.LittleEndian.Uint32(head[1:]))
		switch {
		case h.end != nil:
			return fmt.Errorf("%w: it comes behind the end", errGarbled)
		case head[0] == outputsFollow && n <= maxChunk && int64(h.outputs.Len())+n <= maxChunk:
			// What there is room for grows with what has come, not with what is
			// said to come.
			var b strings.Builder
			if got, err := io.CopyN(&b, in, n); got < n {
				return unlessEnd(err)
			}
			h.outputs.WriteString(b.String())
			h.lines += strings.Count(b.String(), "\n")
		case head[0] == endFollows && n <= maxEnd:
			body := make([]byte, n)
			if _, err := io.ReadFull(in, body); err != nil {
				return unlessEnd(err)
			}
			h.end = &end{}
			if err := json.Unmarshal(body, h.end); err != nil {
				return fmt.Errorf("%w: %w", errGarbled, err)
			}
		case head[0] == outputsFollow || head[0] == endFollows:
			return errLong
		default:
			return fmt.Errorf("%w: of kind %q", errGarbled, head[0])
		}
	}
}

func unlessEnd(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return nil
	}
	return err
}

// maxText is how many characters an error shows of what a program or a body
// says.
const maxText = 400

// maxQuoted is the same where most of it may be the page's: an error is no way to
// pass on what stands there.
const maxQuoted = 160

// clean makes a stranger's text fit to be shown in one line of an error: cut,
// and without what a terminal would act on or a reader would not see.
func clean(s string, most int) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case r == utf8.RuneError || !unicode.IsPrint(r):
			return utf8.RuneError
		}
		return r
	}, firstChars(s, most))
}
