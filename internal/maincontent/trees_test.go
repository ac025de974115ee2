package maincontent

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand"
	"testing"
)

// written is a node as a model's file has it.
type writtenNode struct {
	value          float32
	feature, right uint16
}

// forest makes trees of all shapes, with thresholds among values.
func forest(r *rand.Rand, values []float32, width int) (starts []int32, nodes []writtenNode) {
	var grow func(depth int)
	grow = func(depth int) {
		if depth == 0 || r.Intn(5) == 0 {
			nodes = append(nodes, writtenNode{r.Float32(), leafMark, 0})
			return
		}
		at := len(nodes)
		nodes = append(nodes, writtenNode{})
		grow(depth - 1)
		nodes[at] = writtenNode{values[r.Intn(len(values))], uint16(r.Intn(width)), uint16(len(nodes) - at)}
		grow(depth - 1)
	}
	for range 50 {
		starts = append(starts, int32(len(nodes)))
		grow(1 + r.Intn(7))
	}
	return starts, nodes
}

func modelBytes(t *testing.T, starts []int32, nodes []writtenNode) []byte {
	t.Helper()
	var b bytes.Buffer
	b.WriteString(modelMagic)
	for _, v := range []any{FeatureHash(), uint32(len(starts)), uint32(len(nodes)), float32(0), float32(1), starts} {
		if err := binary.Write(&b, binary.LittleEndian, v); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range nodes {
		for _, v := range []any{n.value, n.feature, n.right} {
			if err := binary.Write(&b, binary.LittleEndian, v); err != nil {
				t.Fatal(err)
			}
		}
	}
	b.Write(make([]byte, 1<<tokenBits))
	return b.Bytes()
}

func TestRowsGoDownTreesAsTheFileSays(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	values := []float32{0, float32(math.Copysign(0, -1)), 1, -1, 1e-30, -1e-30, 7.5, -7.5, 1e30, -1e30, 0.25, 9999, -9999}
	width := len(FeatureNames())
	starts, nodes := forest(r, values, width)
	m, err := ReadModel(modelBytes(t, starts, nodes))
	if err != nil {
		t.Fatal(err)
	}
	for count := range 10 {
		rows := make([]float32, count*width)
		compared := make([]int32, len(rows))
		for i := range rows {
			rows[i] = values[r.Intn(len(values))]
			compared[i] = ordered(rows[i])
		}
		for k, start := range starts {
			sums := make([]float32, count)
			m.climb(m.trees[k], compared, width, sums)
			for row := range sums {
				i := start
				for nodes[i].feature != leafMark {
					if rows[row*width+int(nodes[i].feature)] < nodes[i].value {
						i++
					} else {
						i += int32(nodes[i].right)
					}
				}
				if sums[row] != nodes[i].value {
					t.Fatalf("tree %d gives %v for row %d of %d, not %v", k, sums[row], row, count, nodes[i].value)
				}
			}
		}
	}
}
