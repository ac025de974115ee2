package maincontent

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
)

// A Model is a set of boosted decision trees that turns the features of a block
// into the probability that the block is content.
//
// Before that, a logistic regression gives weights to the words in and around
// it; its scores are features for the trees.
//
// Its file is little-endian: the eight bytes of modelMagic, the hash of the
// features' names (64 bits), the number of trees and of nodes (32 bits each),
// the base score and the scale of the words' weights (32-bit floats), where each
// tree begins (32 bits each), the nodes, and a weight for each word's token (8
// bits). A node has eight bytes: a threshold or a leaf's score (a 32-bit
// float), the number of the feature (16 bits, leafMark for a leaf) and how many
// nodes further its right child is (16 bits). The left child, taken when the
// feature is less than the threshold, is the next node.
type Model struct {
	base   float32
	trees  []tree
	nodes  []node
	leaves []float32 // of each node that is a leaf its score
	words  *wordWeights
}

type tree struct {
	first int32
	depth int32 // of its deepest leaf
}

// A node with right 0 is a leaf, which no value is less than: whoever is there
// goes on to it.
type node struct {
	value   int32 // as ordered gives it
	feature uint16
	right   uint16
}

// ordered gives integers that compare as the numbers do.
func ordered(f float32) int32 {
	i := int32(math.Float32bits(f + 0)) // there is one zero
	return i ^ i>>31&math.MaxInt32
}

const (
	modelMagic = "siftmc02"
	leafMark   = 0xffff
	maxNodes   = 1 << 20
)

var errModel = errors.New("maincontent: the model is damaged")

// ReadModel reads a model's file. A model for other features than those that
// this package makes is refused.
func ReadModel(b []byte) (*Model, error) {
	const head = len(modelMagic) + 8 + 4 + 4 + 4 + 4
	if len(b) < head || string(b[:len(modelMagic)]) != modelMagic {
		return nil, errModel
	}
	b = b[len(modelMagic):]
	le := binary.LittleEndian
	if le.Uint64(b) != FeatureHash() {
		return nil, fmt.Errorf("maincontent: the model was trained on other features; make train makes a new one")
	}
	trees, nodes := int(le.Uint32(b[8:])), int(le.Uint32(b[12:]))
	m := &Model{
		base:  math.Float32frombits(le.Uint32(b[16:])),
		words: &wordWeights{scale: math.Float32frombits(le.Uint32(b[20:]))},
	}
	b = b[24:]
	if trees == 0 || trees > nodes || nodes > maxNodes || len(b) != 4*trees+8*nodes+1<<tokenBits {
		return nil, errModel
	}
	m.trees = make([]tree, trees)
	for i := range m.trees {
		m.trees[i].first = int32(le.Uint32(b[4*i:]))
		if m.trees[i].first < 0 || int(m.trees[i].first) >= nodes || i > 0 && m.trees[i].first <= m.trees[i-1].first {
			return nil, errModel
		}
	}
	if !m.readNodes(b[4*trees : 4*trees+8*nodes]) {
		return nil, errModel
	}
	b = b[4*trees+8*nodes:]
	m.words.w = make([]int8, len(b))
	for i, c := range b {
		m.words.w[i] = int8(c)
	}
	return m, nil
}

// readNodes reads the nodes of all trees, whose depths it finds. It says whether
// every path ends at a leaf of its tree.
func (m *Model) readNodes(b []byte) bool {
	le := binary.LittleEndian
	width := len(FeatureNames())
	m.nodes, m.leaves = make([]node, len(b)/8), make([]float32, len(b)/8)
	for t := range m.trees {
		first, end := m.trees[t].first, int32(len(m.nodes))
		if t+1 < len(m.trees) {
			end = m.trees[t+1].first
		}
		depth := make([]int32, end-first)
		for i := first; i < end; i++ {
			value, feature, right := math.Float32frombits(le.Uint32(b[8*i:])), le.Uint16(b[8*i+4:]), le.Uint16(b[8*i+6:])
			if feature == leafMark {
				m.nodes[i], m.leaves[i] = node{value: math.MinInt32}, value
				continue
			}
			if int(feature) >= width || right < 2 || i+int32(right) >= end {
				return false
			}
			m.nodes[i] = node{ordered(value), feature, right}
			down := depth[i-first] + 1
			depth[i+1-first] = max(depth[i+1-first], down)
			depth[i+int32(right)-first] = max(depth[i+int32(right)-first], down)
			m.trees[t].depth = max(m.trees[t].depth, down)
		}
	}
	return true
}

// FeatureHash tells one list of features from another.
func FeatureHash() uint64 {
	h := fnv.New64a()
	for _, n := range FeatureNames() {
		h.Write([]byte(n))
		h.Write([]byte{0})
	}
	return h.Sum64()
}

// batch is how many rows one tree is used for before the next: the rows stay
// in the processor's second cache, the tree in its first.
const batch = 32

// scores gives the probability of each block.
func (m *Model) scores(p *Page) []float32 {
	out := make([]float32, len(p.Blocks))
	if len(out) == 0 {
		return out
	}
	s := p.survey()
	r := row{}
	var rows []int32
	width := 0
	for from := 0; from < len(out); from += batch {
		to := min(from+batch, len(out))
		r.values = r.values[:0]
		for i := from; i < to; i++ {
			s.describe(i, &r)
			if width == 0 {
				width = len(r.values)
			}
		}
		sums := out[from:to]
		rows = rows[:0]
		for _, v := range r.values {
			rows = append(rows, ordered(v))
		}
		for k := range sums {
			sums[k] = m.base
		}
		for _, t := range m.trees {
			m.climb(t, rows, width, sums)
		}
		for k := range sums {
			sums[k] = float32(1 / (1 + math.Exp(-float64(sums[k]))))
		}
	}
	return out
}

// climb adds what one tree says of each row. Rows go down four at once, all by
// the same number of steps and without a branch that depends on them: a
// processor guesses such branches wrong half of the time.
func (m *Model) climb(t tree, rows []int32, width int, sums []float32) {
	nodes := m.nodes
	k := 0
	for ; k+4 <= len(sums); k += 4 {
		a, b := rows[k*width:(k+1)*width], rows[(k+1)*width:(k+2)*width]
		c, d := rows[(k+2)*width:(k+3)*width], rows[(k+3)*width:(k+4)*width]
		i, j, g, h := t.first, t.first, t.first, t.first
		for range t.depth {
			i += step(&nodes[i], a)
			j += step(&nodes[j], b)
			g += step(&nodes[g], c)
			h += step(&nodes[h], d)
		}
		sums[k] += m.leaves[i]
		sums[k+1] += m.leaves[j]
		sums[k+2] += m.leaves[g]
		sums[k+3] += m.leaves[h]
	}
	for ; k < len(sums); k++ {
		i := t.first
		for range t.depth {
			i += step(&nodes[i], rows[k*width:(k+1)*width])
		}
		sums[k] += m.leaves[i]
	}
}

// step says how many nodes further a row goes.
func step(n *node, row []int32) int32 {
	right := int32(n.right)
	less := int32((int64(row[n.feature]) - int64(n.value)) >> 63) // all bits when it is less
	return right + less&(1-right)
}
