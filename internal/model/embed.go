package model

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math"
	"slices"
	"sync/atomic"

	"github.com/x448/float16"

	"sift.build/sift/internal/fanout"
)

// Bounds on what is asked of an embeddings endpoint.
const (
	passagesMax     = 512   // of one content
	textMax         = 1200  // characters of one text, see clip
	batchTexts      = 32    // in one request; what text-embeddings-inference takes by default
	batchBytes      = 48000 // of text, likewise
	batchWorkers    = 4     // requests of one question at once
	dimensionsMax   = 8192
	embeddingsLimit = 8 << 20 // bytes of one answer
)

// vectors gives a vector of length 1 for each text, from the cache or from the
// endpoint. All have as many dimensions. What was had is kept even when it is not
// all. The error is a *failure.
func (m *Models) vectors(ctx context.Context, in shelf, texts []string) ([][]float32, error) {
	out, cached, err := m.vectorsOf(ctx, in, texts, true)
	if err == nil && !sameLength(out) && cached {
		// The model behind the name is another one than it was.
		out, _, err = m.vectorsOf(ctx, in, texts, false)
	}
	return out, err
}

func sameLength(vectors [][]float32) bool {
	return !slices.ContainsFunc(vectors, func(v []float32) bool { return len(v) != len(vectors[0]) })
}

func (m *Models) vectorsOf(ctx context.Context, in shelf, texts []string, look bool) (out [][]float32, cached bool, err error) {
	e := m.embeddings
	places := make(map[string][]int, len(texts)) // by key
	var keys []string
	for i, text := range texts {
		key := keyOf(e.url, e.model, text)
		if places[key] == nil {
			keys = append(keys, key)
		}
		places[key] = append(places[key], i)
	}
	out = make([][]float32, len(texts))
	var have map[string][]byte
	if look {
		have = in.values(ctx, KindEmbed, keys)
	}
	var missing []string // keys
	for _, key := range keys {
		v, ok := unpack(have[key])
		if !ok {
			missing = append(missing, key)
			continue
		}
		cached = true
		for _, i := range places[key] {
			out[i] = v
		}
	}
	batches := batchesOf(missing, func(key string) string { return texts[places[key][0]] })
	fresh := make(map[string][]byte, len(missing))
	all := embedding{round: round{m: m, e: e}}
	for r, ended := range fanout.Stream(ctx, batches, batchWorkers, all.embed) {
		if ended != nil {
			err = endedEarly(ctx)
			break
		}
		if r.Err != nil {
			err = r.Err
			break // which ends the others
		}
		for j, v := range r.Value {
			key := batches[r.Index].keys[j]
			fresh[key] = pack(v)
			for _, i := range places[key] {
				out[i] = v
			}
		}
	}
	if first := all.end(); first != nil {
		err = first
	}
	in.keep(ctx, KindEmbed, fresh)
	if err != nil {
		return nil, cached, err
	}
	return out, cached, nil
}

func endedEarly(ctx context.Context) error {
	return ended(ctx, "did not answer in the time that there was")
}

// keyOf names what is kept by what it depends on.
func keyOf(parts ...string) string {
	h := sha256.New()
	var size [8]byte
	for _, p := range parts {
		binary.LittleEndian.PutUint64(size[:], uint64(len(p)))
		h.Write(size[:])
		h.Write([]byte(p))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// batch is what goes into one request.
type batch struct{ keys, texts []string }

// batchesOf cuts what is missing into requests.
func batchesOf(keys []string, text func(string) string) []batch {
	var out []batch
	size := 0
	for _, key := range keys {
		t := text(key)
		if n := len(out); n == 0 || len(out[n-1].keys) == batchTexts || size+len(t) > batchBytes {
			out, size = append(out, batch{}), 0
		}
		last := &out[len(out)-1]
		last.keys, last.texts = append(last.keys, key), append(last.texts, t)
		size += len(t)
	}
	return out
}

// embedding is the round of one list of texts.
type embedding struct {
	round

	dimensions atomic.Int64 // of the vectors that came first
}

// embed asks for the vectors of one batch.
func (r *embedding) embed(ctx context.Context, b batch) (vectors [][]float32, err error) {
	body, err := json.Marshal(struct {
		Model string   `json:"model"`
		Input []string `json:"input"`
	}{r.e.model, b.texts})
	if err != nil {
		return nil, fail(OutcomeBad, "cannot be asked").because(err)
	}
	err = r.ask(ctx, body, embeddingsLimit, func(answer []byte) error {
		if vectors, err = readVectors(answer, len(b.texts)); err != nil {
			return err
		}
		n := int64(len(vectors[0]))
		if !r.dimensions.CompareAndSwap(0, n) && r.dimensions.Load() != n {
			return fail(OutcomeBad, "sent vectors of different lengths")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return vectors, nil
}

// readVectors reads an answer with n vectors, and makes their length 1.
func readVectors(answer []byte, n int) ([][]float32, error) {
	var got struct {
		Data []struct {
			Index     *int            `json:"index"`
			Embedding json.RawMessage `json:"embedding"`
		} `json:"data"`
	}
	if err := json.Unmarshal(answer, &got); err != nil {
		return nil, fail(OutcomeBad, "sent what is no answer: it is not the JSON that was asked for")
	}
	if len(got.Data) != n {
		return nil, fail(OutcomeBad, "sent %d vectors for %d texts", len(got.Data), n)
	}
	out := make([][]float32, n)
	for i, d := range got.Data {
		at := i
		if d.Index != nil {
			at = *d.Index
		}
		if at < 0 || at >= n || out[at] != nil {
			return nil, fail(OutcomeBad, "sent vectors of which it is not clear to which text they belong")
		}
		v, ok := readVector(d.Embedding)
		if !ok {
			return nil, fail(OutcomeBad, "sent a vector that is none")
		}
		out[at] = v
	}
	if !sameLength(out) {
		return nil, fail(OutcomeBad, "sent vectors of different lengths")
	}
	return out, nil
}

// readVector reads a list of numbers, or their little-endian float32 in base64.
func readVector(raw json.RawMessage) ([]float32, bool) {
	var v []float32
	if bytes.HasPrefix(raw, []byte(`"`)) {
		var s string
		if json.Unmarshal(raw, &s) != nil {
			return nil, false
		}
		b, err := base64.StdEncoding.DecodeString(s)
		if err != nil || len(b)%4 != 0 {
			return nil, false
		}
		for ; len(b) > 0; b = b[4:] {
			v = append(v, math.Float32frombits(binary.LittleEndian.Uint32(b)))
		}
	} else if json.Unmarshal(raw, &v) != nil {
		return nil, false
	}
	return unit(v)
}

// unit makes the length of v 1. It refuses what has no direction.
func unit(v []float32) ([]float32, bool) {
	if len(v) == 0 || len(v) > dimensionsMax {
		return nil, false
	}
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	length := math.Sqrt(sum)
	if math.IsNaN(length) || math.IsInf(length, 0) || length < 1e-12 {
		return nil, false
	}
	for i := range v {
		v[i] = float32(float64(v[i]) / length)
	}
	return v, true
}

// pack writes a vector as it is kept: as little-endian float16, half of float32
// at a loss of a ten-thousandth of a cosine.
func pack(v []float32) []byte {
	b := make([]byte, 0, 2*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint16(b, float16.Fromfloat32(x).Bits())
	}
	return b
}

// unpack reads what pack wrote.
func unpack(b []byte) ([]float32, bool) {
	if len(b)%2 != 0 {
		return nil, false
	}
	v := make([]float32, 0, len(b)/2)
	for ; len(b) > 0; b = b[2:] {
		v = append(v, float16.Frombits(binary.LittleEndian.Uint16(b)).Float32())
	}
	return unit(v)
}

// cosine is that of two vectors of length 1.
func cosine(a, b []float32) float64 {
	sum := 0.0
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}
