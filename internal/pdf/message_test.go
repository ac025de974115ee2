package pdf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"reflect"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"sift.build/sift/internal/pdf/layout"
)

// fill gives every field of v a value of its own.
func fill(v reflect.Value, n *int) {
	*n++
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int:
		v.SetInt(int64(*n))
	case reflect.Float64:
		v.SetFloat(float64(*n) + 0.1)
	case reflect.String:
		v.SetString("word " + time.Unix(int64(*n), 0).UTC().Format(time.TimeOnly))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i), n)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(int64(*n), 0).UTC()))
			return
		}
		for _, f := range v.Fields() {
			fill(f, n)
		}
	default:
		panic("a kind that messages have not had: " + v.Kind().String())
	}
}

func sent(t testing.TB, list ...message) []byte {
	t.Helper()
	var b bytes.Buffer
	s, err := newSender(&b)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range list {
		if err := s.send(m); err != nil {
			t.Fatal(err)
		}
	}
	if s.written != int64(b.Len()) {
		t.Errorf("%d bytes were counted, %d written", s.written, b.Len())
	}
	return b.Bytes()
}

// received reads messages, and what ended that if it was not the end.
func received(r io.Reader, most int) (list []message, err error) {
	for m, err := range messages(r, most) {
		if err != nil {
			return list, err
		}
		list = append(list, m)
	}
	return list, nil
}

func TestMessagesArriveAsTheyWereSent(t *testing.T) {
	var full, other message
	n := 0
	fill(reflect.ValueOf(&full).Elem(), &n)
	fill(reflect.ValueOf(&other).Elem(), &n)
	list := []message{
		full, other,
		{Info: &info{Pages: 3}}, {Bad: 2}, {End: &end{}},
		// A page that somebody set where no page is.
		{Page: &readPage{Result: layout.Result{Number: 1, Width: math.Inf(1), Height: math.NaN()}}},
	}
	got, err := received(bytes.NewReader(sent(t, list...)), maxMessage)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(list, got, cmpopts.EquateNaNs()); diff != "" {
		t.Error(diff)
	}
}

func TestOfAMessageThatIsCutOffTheOnesBeforeAreKept(t *testing.T) {
	before := sent(t, message{Bad: 1}, message{Bad: 2})
	all := sent(t, message{Bad: 1}, message{Bad: 2}, message{Info: &info{Title: "A long title"}})
	for n := len(before); n < len(all); n++ {
		got, err := received(bytes.NewReader(all[:n]), maxMessage)
		if err != nil || len(got) != 2 {
			t.Errorf("%d of %d bytes: %d messages, %v", n, len(all), len(got), err)
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func TestAMessageIsBounded(t *testing.T) {
	const most = 1 << 20
	good := sent(t, message{Bad: 1})
	long := binary.LittleEndian.AppendUint32(nil, most+1)
	got, err := received(io.MultiReader(bytes.NewReader(good), bytes.NewReader(long), zeros{}), most)
	if !errors.Is(err, errTooLong) || len(got) != 1 {
		t.Errorf("%d messages, %v", len(got), err)
	}
	// The bound is one of each message, not of all.
	title := string(bytes.Repeat([]byte("title "), most/10))
	list := []message{{Info: &info{Title: title}}, {Info: &info{Title: title}}, {Info: &info{Title: title}}}
	got, err = received(bytes.NewReader(sent(t, list...)), most)
	if err != nil || len(got) != len(list) {
		t.Errorf("%d messages of %d, %v", len(got), len(list), err)
	}
}

func TestAMessageThatSaysMoreThanItHoldsIsRefused(t *testing.T) {
	good := sent(t, message{Page: &readPage{Result: layout.Result{Number: 7, Blocks: make([]layout.Block, 3)}}})[lengthBytes:]
	withLength := func(b []byte) []byte {
		return append(binary.LittleEndian.AppendUint32(nil, uint32(len(b))), b...)
	}
	if list, err := received(bytes.NewReader(withLength(good)), maxMessage); err != nil || len(list) != 1 {
		t.Fatalf("%v, %v", list, err)
	}
	for n := range good {
		if list, err := received(bytes.NewReader(withLength(good[:n])), maxMessage); !errors.Is(err, errGarbled) {
			t.Errorf("%d bytes of %d: %v, %v", n, len(good), list, err)
		}
	}
	if list, err := received(bytes.NewReader(withLength(append(good, 0))), maxMessage); !errors.Is(err, errGarbled) {
		t.Errorf("a byte too many: %v, %v", list, err)
	}
}

// A count must not make memory of bytes that are not there.
func TestAMessageTakesMemoryByItsLength(t *testing.T) {
	// A map of one, "Page": a map of one, "blocks": an array of 2^20 (RFC 8949,
	// section 3), and zeros, which are numbers and no blocks.
	body := append([]byte("\xa1\x64Page\xa1\x66blocks\x9a\x00\x10\x00\x00"), make([]byte, 1<<19)...)
	wire := append(binary.LittleEndian.AppendUint32(nil, uint32(len(body))), body...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	list, err := received(bytes.NewReader(wire), maxMessage)
	runtime.ReadMemStats(&after)
	if !errors.Is(err, errGarbled) || len(list) != 0 {
		t.Errorf("%v, %v", list, err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 16<<20 {
		t.Errorf("%d MB for a message of 1 MB", took>>20)
	}
}

func FuzzMessages(f *testing.F) {
	var full message
	n := 0
	fill(reflect.ValueOf(&full).Elem(), &n)
	f.Add(sent(f, full, message{End: &end{Fault: faultPages}}))
	f.Add([]byte{})
	f.Add([]byte("{\"page\":{}}\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		list, _ := received(bytes.NewReader(b), 1<<20)
		if len(list) > len(b) {
			t.Errorf("%d messages in %d bytes", len(list), len(b))
		}
	})
}
