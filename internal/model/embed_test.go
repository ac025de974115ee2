package model

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
)

func TestVectorsKeepTheirDirectionInTheCache(t *testing.T) {
	v := make([]float32, 1536)
	w := make([]float32, 1536)
	for i := range v {
		v[i], w[i] = float32(math.Sin(float64(i))), float32(math.Cos(float64(i*i)))
	}
	a, ok := unit(v)
	b, ok2 := unit(w)
	if !ok || !ok2 {
		t.Fatal("no vectors")
	}
	packed := pack(a)
	c, ok := unpack(packed)
	if !ok || len(packed) != 2*len(v) || math.Abs(cosine(a, c)-1) > 1e-4 || math.Abs(cosine(a, b)-cosine(c, b)) > 1e-3 {
		t.Errorf("%d bytes, cosine %v, and %v for %v", len(packed), cosine(a, c), cosine(c, b), cosine(a, b))
	}
	for _, bad := range [][]byte{nil, {}, {1}, {0, 0}, {0, 0x7c}, {0, 0x7e}, make([]byte, 2*dimensionsMax+2)} {
		if _, ok := unpack(bad); ok {
			t.Errorf("%v is a vector", bad[:min(len(bad), 4)])
		}
	}
}

func TestKeysDependOnEverythingAndRunTogetherWithNothing(t *testing.T) {
	seen := make(map[string]string)
	for _, parts := range [][]string{{"a", "b", "c"}, {"ab", "", "c"}, {"a", "bc", ""}, {"a", "b", "d"}, {"a", "b"}, {"a", "b", "c", ""}, {"a\x00b", "c"}} {
		key := keyOf(parts...)
		if was, ok := seen[key]; ok || len(key) != 64 {
			t.Errorf("%q and %s have the same key", parts, was)
		}
		seen[key] = fmt.Sprintf("%q", parts)
	}
}

func TestBatchesAreBoundedByCountAndBytes(t *testing.T) {
	var keys []string
	for i := range 100 {
		keys = append(keys, fmt.Sprint(i))
	}
	long := strings.Repeat("x", batchBytes/4)
	for _, c := range []struct {
		text string
		most int
		n    int
	}{{"short", batchTexts, 4}, {long, 4, 25}, {strings.Repeat(long, 5), 1, 100}} {
		batches := batchesOf(keys, func(string) string { return c.text })
		got := 0
		for _, b := range batches {
			if len(b.keys) > c.most || len(b.keys) != len(b.texts) {
				t.Errorf("%d texts of %d bytes in one request", len(b.keys), len(c.text))
			}
			got += len(b.keys)
		}
		if got != 100 || len(batches) != c.n {
			t.Errorf("%d texts in %d requests, want 100 in %d", got, len(batches), c.n)
		}
	}
	if batches := batchesOf(nil, nil); len(batches) != 0 {
		t.Errorf("%d requests for nothing", len(batches))
	}
}

func FuzzReadVectors(f *testing.F) {
	f.Add([]byte(`{"data":[{"index":1,"embedding":[1,2]},{"index":0,"embedding":"AACAPwAAAAA="}]}`), 2)
	f.Add([]byte(`{"data":[{"embedding":[1e39]}]}`), 1)
	f.Add([]byte(`{"data":[{"index":-1,"embedding":null}]}`), 1)
	f.Fuzz(func(t *testing.T, answer []byte, n int) {
		if n < 1 || n > 64 {
			return
		}
		vectors, err := readVectors(answer, n)
		if err != nil {
			return
		}
		if len(vectors) != n {
			t.Fatalf("%d vectors for %d texts", len(vectors), n)
		}
		for _, v := range vectors {
			if c := cosine(v, v); len(v) != len(vectors[0]) || math.Abs(c-1) > 1e-3 {
				t.Errorf("a vector of length %v", c)
			}
		}
	})
}

func FuzzReadChoice(f *testing.F) {
	for _, content := range []any{"a", nil, []any{map[string]string{"type": "text", "text": "a"}}, 7} {
		b, err := json.Marshal(map[string]any{"choices": []any{map[string]any{"finish_reason": "stop", "message": map[string]any{"content": content}}}})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		if text, err := readChoice(answer); err == nil && strings.TrimSpace(text) == "" {
			t.Error("an answer with nothing in it")
		}
	})
}
