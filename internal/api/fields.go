package api

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"sift.build/sift/internal/sift"
	"sift.build/sift/internal/spelling"
)

// Bounds of the numbers a target may carry. They are the schema's too.
const (
	maxMaxChars = 10_000_000    // characters in one window; more is a download, not an answer
	maxOffset   = 1_000_000_000 // no content is that long
	maxMaxAge   = 2_000_000_000 // seconds, 63 years: any copy will do
	minTimeout  = 0.001         // seconds
	maxPassword = 127           // bytes of UTF-8 (ISO 32000-2, 7.6.4.3.3)

	// A longer timeout is cut to the configured one anyway. Cutting it here
	// to 11 days keeps its nanoseconds inside an int64 wherever it goes.
	cutTimeout = 1e6
)

// kind is the type of a field's value.
type kind uint8

const (
	kindText kind = iota
	kindWhole
	kindNumber
	kindFlag
	kindList   // of what the field's item reads
	kindObject // only inside a list
)

func (k kind) String() string {
	switch k {
	case kindText:
		return "a string"
	case kindWhole:
		return "a whole number"
	case kindNumber:
		return "a number"
	case kindList:
		return "a list"
	case kindObject:
		return "an object"
	default:
		return "true or false"
	}
}

// value is one decoded value; which part counts is the field's kind.
type value struct {
	text   string
	number float64
	flag   bool
}

// field is one row of a table that requests are decoded with into a T. The
// table of a target is the one that every door of /v1/fetch goes by, and each
// target of a batch.
type field[T any] struct {
	name      string
	kind      kind
	low, high float64 // of a number, both inclusive
	required  bool

	put  func(*T, value) error                  // the value has the right kind and lies within the bounds
	item func(into *T, s *scanner, i int) error // of a kindList: reads its i-th value
}

// fields is the table of a target, in the order of SPEC section 2.
func fields() []field[sift.Target] {
	return []field[sift.Target]{
		{name: "url", kind: kindText, required: true, put: func(t *sift.Target, v value) error {
			t.URL = v.text
			return nil
		}},
		{name: "mode", kind: kindText, put: func(t *sift.Target, v value) error {
			t.Mode = sift.Mode(v.text)
			if !slices.Contains(sift.Modes(), t.Mode) {
				return sift.Fail(sift.CodeInvalid, "mode %s is not one of %s", sift.Quote(v.text), modeList())
			}
			return nil
		}},
		{name: "question", kind: kindText, put: func(t *sift.Target, v value) error {
			t.Question = v.text // package digest reads it
			return nil
		}},
		{name: "pages", kind: kindText, put: func(t *sift.Target, v value) error {
			t.Pages = v.text
			_, err := sift.ParsePages(v.text)
			return err
		}},
		{name: "section", kind: kindText, put: func(t *sift.Target, v value) error {
			t.Section = v.text // package narrow reads it
			return nil
		}},
		{name: "grep", kind: kindText, put: func(t *sift.Target, v value) error {
			t.Grep = v.text // package narrow reads it, and says what is wrong with it
			return nil
		}},
		{name: "jq", kind: kindText, put: func(t *sift.Target, v value) error {
			t.JQ = v.text // package jq reads it
			return nil
		}},
		{name: "context", kind: kindFlag, put: func(t *sift.Target, v value) error {
			t.Context = v.flag
			return nil
		}},
		{name: "recover", kind: kindFlag, put: func(t *sift.Target, v value) error {
			t.Recover = v.flag
			return nil
		}},
		{name: "min_date", kind: kindText, put: func(t *sift.Target, v value) error {
			t.MinDate = v.text
			_, err := sift.ParseDate(v.text)
			return err
		}},
		{name: "password", kind: kindText, put: func(t *sift.Target, v value) error {
			if len(v.text) > maxPassword {
				return sift.Fail(sift.CodeInvalid, "password is longer than %d bytes; no PDF has such a one", maxPassword)
			}
			t.Password = v.text
			return nil
		}},
		{name: "max_age", kind: kindWhole, low: 0, high: maxMaxAge, put: func(t *sift.Target, v value) error {
			age := int(v.number)
			t.MaxAge = &age
			return nil
		}},
		{name: "max_chars", kind: kindWhole, low: 1, high: maxMaxChars, put: func(t *sift.Target, v value) error {
			t.MaxChars = int(v.number)
			return nil
		}},
		{name: "offset", kind: kindWhole, low: 0, high: maxOffset, put: func(t *sift.Target, v value) error {
			t.Offset = int(v.number)
			return nil
		}},
		{name: "snapshot", kind: kindText, put: func(t *sift.Target, v value) error {
			t.Snapshot = v.text
			return nil
		}},
		{name: "timeout", kind: kindNumber, low: minTimeout, high: math.Inf(1), put: func(t *sift.Target, v value) error {
			seconds := min(v.number, cutTimeout)
			t.Timeout = &seconds
			return nil
		}},
	}
}

// submission is the body of POST /v1/batch.
type submission struct {
	targets []sift.Target
	fresh   bool
}

// batchFields is the table of a submission. Its targets have the fields of a
// fetch, but for those that may not be stored.
func batchFields() []field[submission] {
	table := fields()
	for i := range table {
		if table[i].name == "password" {
			table[i].put = func(_ *sift.Target, v value) error {
				if v.text == "" {
					return nil
				}
				return sift.Fail(sift.CodeInvalid, "password is not taken in a batch, where it would have to be stored; fetch this one by itself")
			}
		}
	}
	return []field[submission]{
		{name: "targets", kind: kindList, required: true, item: func(sub *submission, s *scanner, i int) error {
			t, err := readTarget(table, s, i)
			sub.targets = append(sub.targets, t)
			return err
		}},
		{name: "fresh", kind: kindFlag, put: func(sub *submission, v value) error {
			sub.fresh = v.flag
			return nil
		}},
	}
}

// jobQuery is the query of GET /v1/batch/{id}.
type jobQuery struct {
	wait  time.Duration
	after int // only the targets behind this index; allTargets: all
}

const (
	allTargets = -1
	noTargets  = 1_000_000_000 // no index is as high as the highest one that may be asked for

	maxJobWait = 300 // seconds
)

func jobFields() []field[jobQuery] {
	return []field[jobQuery]{
		{name: "wait", kind: kindNumber, low: 0, high: maxJobWait, put: func(q *jobQuery, v value) error {
			q.wait = time.Duration(v.number * float64(time.Second))
			return nil
		}},
		{name: "after", kind: kindWhole, low: allTargets, high: noTargets, put: func(q *jobQuery, v value) error {
			q.after = int(v.number)
			return nil
		}},
	}
}

// draft is a T while its fields come in. It is where every rule about fields
// is kept, whichever syntax they came in.
type draft[T any] struct {
	table []field[T]
	seen  uint64 // bit i: table[i] was given
	into  T
}

// field finds the row for a name and marks it as given.
func (d *draft[T]) field(name []byte) (*field[T], error) {
	for i := range d.table {
		if string(name) != d.table[i].name {
			continue
		}
		if d.seen&(1<<i) != 0 {
			return nil, sift.Fail(sift.CodeInvalid, "%s is given twice", d.table[i].name)
		}
		d.seen |= 1 << i
		return &d.table[i], nil
	}
	return nil, unknownField(d.table, string(name))
}

// set stores a value of the right kind.
func (d *draft[T]) set(f *field[T], v value) error {
	if f.kind == kindWhole && v.number != math.Trunc(v.number) {
		return sift.Fail(sift.CodeInvalid, "%s must be %s, without a fraction", f.name, f.kind)
	}
	if (f.kind == kindWhole || f.kind == kindNumber) && (v.number < f.low || v.number > f.high) {
		if math.IsInf(f.high, 1) {
			return sift.Fail(sift.CodeInvalid, "%s must be at least %s", f.name, plain(f.low))
		}
		return sift.Fail(sift.CodeInvalid, "%s must be between %s and %s", f.name, plain(f.low), plain(f.high))
	}
	return f.put(&d.into, v)
}

// complete says what is missing once every field is in.
func (d *draft[T]) complete() error {
	for i := range d.table {
		f := &d.table[i]
		if f.required && d.seen&(1<<i) == 0 {
			return sift.Fail(sift.CodeInvalid, "%s is required", f.name)
		}
	}
	return nil
}

func haveURL(t sift.Target) error {
	if t.URL == "" {
		return sift.Fail(sift.CodeInvalid, "url is required and may not be empty")
	}
	return nil
}

func modeList() string {
	var names []string
	for _, m := range sift.Modes() {
		names = append(names, string(m))
	}
	return strings.Join(names, ", ")
}

// plain writes a bound the way a person would.
func plain(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// unknownField names a field that is not in the table and, when one is near,
// the field that was probably meant.
func unknownField[T any](table []field[T], name string) error {
	text := fmt.Sprintf("unknown field %s", sift.Quote(name))
	if near := nearest(table, name); near != "" {
		text += "; did you mean " + near + "?"
	}
	return sift.Fail(sift.CodeInvalid, "%s", text)
}

// nearest is the field whose name is what was written but for case, joints or
// at most two letters; "" when none is.
func nearest[T any](table []field[T], name string) string {
	if len(name) > sift.QuoteMax {
		return ""
	}
	name = bare(name)
	best, at := "", 3
	for i := range table {
		known := bare(table[i].name)
		// Two letters of a short name are most of it.
		if d := spelling.Distance([]byte(name), []byte(known)); d < at && d <= len(known)/3 {
			best, at = table[i].name, d
		}
	}
	return best
}

// bare drops what differs between maxChars, max-chars and MAX_CHARS.
func bare(name string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
}
