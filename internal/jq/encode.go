package jq

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/itchyny/gojq"
)

// keyOrder is in which order the keys of objects are printed. The values of
// gojq are maps, which know none; jq prints keys in the order of the body, or
// of the program that made the object. So this keeps the order of each set of
// keys that the program or the body writes as an object, the program's first,
// and for all other objects when each key was first seen.
type keyOrder struct {
	seed  maphash.Seed
	rank  map[string]int
	known map[uint64][]string // by the sum of the keys' hashes
	seen  map[uint64]bool     // hashes of sequences of keys that have been looked at
}

// Bounds of what is kept about keys. Those beyond come last, by the alphabet.
const (
	maxRanks = 1 << 16
	maxKnown = 1 << 10
)

func newKeyOrder() *keyOrder {
	return &keyOrder{seed: maphash.MakeSeed(), rank: make(map[string]int), known: make(map[uint64][]string), seen: make(map[uint64]bool)}
}

// object notes the keys of an object as they are written.
func (o *keyOrder) object(keys []string) {
	if len(o.rank) < maxRanks {
		for _, k := range keys {
			if _, ok := o.rank[k]; !ok {
				o.rank[k] = len(o.rank)
			}
		}
	}
	if len(keys) > maxShape || len(o.known) >= maxKnown {
		return
	}
	// Most objects of a body have the keys of the one before.
	var h uint64
	for _, k := range keys {
		h = h*31 + o.hash(k)
	}
	if o.seen[h] {
		return
	}
	o.seen[h] = true
	distinct := make([]string, 0, len(keys))
	for _, k := range keys {
		if !slices.Contains(distinct, k) {
			distinct = append(distinct, k)
		}
	}
	var set uint64
	for _, k := range distinct {
		set += o.hash(k)
	}
	if o.known[set] == nil {
		o.known[set] = distinct
	}
}

func (o *keyOrder) hash(key string) uint64 { return maphash.String(o.seed, key) }

// maxShape is how many keys an object may have whose set of keys is kept.
const maxShape = 64

// keys gives the keys of an object as they are to be printed.
func (o *keyOrder) keys(m map[string]any) []string {
	if len(m) <= maxShape {
		var set uint64
		for k := range m {
			set += o.hash(k)
		}
		if keys := o.known[set]; len(keys) == len(m) && !slices.ContainsFunc(keys, func(k string) bool { _, ok := m[k]; return !ok }) {
			return keys
		}
	}
	keys := slices.Collect(maps.Keys(m))
	slices.SortFunc(keys, func(a, b string) int {
		return cmp.Or(cmp.Compare(o.of(a), o.of(b)), strings.Compare(a, b))
	})
	return keys
}

func (o *keyOrder) of(key string) int {
	if n, ok := o.rank[key]; ok {
		return n
	}
	return math.MaxInt
}

// errTooLong is what an output ends with that is longer than it may be.
var errTooLong = errors.New("the output is too long")

// encoder writes values as jq -c does. It stops at its limit: a program makes
// values whose text would fill any memory, by putting one into itself.
type encoder struct {
	buf   []byte
	limit int // of buf
	order *keyOrder
}

func (e *encoder) encode(v any) error {
	if len(e.buf) > e.limit {
		return errTooLong
	}
	switch v := v.(type) {
	case nil:
		e.buf = append(e.buf, "null"...)
	case bool:
		e.buf = strconv.AppendBool(e.buf, v)
	case int:
		e.buf = strconv.AppendInt(e.buf, int64(v), 10)
	case json.Number:
		e.buf = append(e.buf, v...)
	case *big.Int:
		// A number of many bits takes long to write; one with more digits than
		// there is room for need not be.
		if float64(v.BitLen())*math.Log10(2) > float64(e.limit-len(e.buf)+2) {
			return errTooLong
		}
		e.buf = v.Append(e.buf, 10)
	case float64:
		b, err := gojq.Marshal(v)
		if err != nil {
			return err
		}
		e.buf = append(e.buf, b...)
	case string:
		return e.text(v)
	case []any:
		e.buf = append(e.buf, '[')
		for i, x := range v {
			if i > 0 {
				e.buf = append(e.buf, ',')
			}
			if err := e.encode(x); err != nil {
				return err
			}
		}
		e.buf = append(e.buf, ']')
	case map[string]any:
		e.buf = append(e.buf, '{')
		for i, k := range e.order.keys(v) {
			if i > 0 {
				e.buf = append(e.buf, ',')
			}
			if err := e.text(k); err != nil {
				return err
			}
			e.buf = append(e.buf, ':')
			if err := e.encode(v[k]); err != nil {
				return err
			}
		}
		e.buf = append(e.buf, '}')
	default:
		return fmt.Errorf("jq made a %T", v)
	}
	if len(e.buf) > e.limit {
		return errTooLong
	}
	return nil
}

// text writes a string. What need not be escaped is not.
func (e *encoder) text(s string) error {
	if len(s) > e.limit-len(e.buf) {
		return errTooLong
	}
	e.buf = append(e.buf, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				e.buf = append(append(e.buf, s[from:i]...), "\uFFFD"...)
				from = i + 1
			}
			i += n
			continue
		}
		if c < ' ' || c == '"' || c == '\\' || c == 0x7f {
			e.buf = append(e.buf, s[from:i]...)
			if at := strings.IndexByte("\"\\\b\f\n\r\t", c); at >= 0 {
				e.buf = append(e.buf, '\\', `"\bfnrt`[at])
			} else {
				e.buf = fmt.Appendf(e.buf, `\u%04x`, c)
			}
			from = i + 1
		}
		i++
	}
	e.buf = append(append(e.buf, s[from:]...), '"')
	if len(e.buf) > e.limit {
		return errTooLong
	}
	return nil
}
