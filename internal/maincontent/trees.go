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
	base  float32
	trees []int32
	nodes []node
	words *wordWeights
}

type node struct {
	value   float32
	feature uint16
	right   uint16
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
	m.trees = make([]int32, trees)
	for i := range m.trees {
		m.trees[i] = int32(le.Uint32(b[4*i:]))
		if m.trees[i] < 0 || int(m.trees[i]) >= nodes || i > 0 && m.trees[i] <= m.trees[i-1] {
			return nil, errModel
		}
	}
	b = b[4*trees:]
	width := len(FeatureNames())
	m.nodes = make([]node, nodes)
	for i := range m.nodes {
		n := node{math.Float32frombits(le.Uint32(b[8*i:])), le.Uint16(b[8*i+4:]), le.Uint16(b[8*i+6:])}
		if n.feature != leafMark && (int(n.feature) >= width || n.right < 2 || i+int(n.right) >= nodes) {
			return nil, errModel
		}
		m.nodes[i] = n
	}
	if m.nodes[nodes-1].feature != leafMark {
		return nil, errModel
	}
	b = b[8*nodes:]
	m.words.w = make([]int8, len(b))
	for i, c := range b {
		m.words.w[i] = int8(c)
	}
	return m, nil
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
		for k := range sums {
			sums[k] = m.base
		}
		for _, t := range m.trees {
			for k := range sums {
				sums[k] += m.leaf(t, r.values[k*width:(k+1)*width])
			}
		}
		for k := range sums {
			sums[k] = float32(1 / (1 + math.Exp(-float64(sums[k]))))
		}
	}
	return out
}

// leaf follows one tree.
func (m *Model) leaf(i int32, x []float32) float32 {
	for {
		n := &m.nodes[i]
		if n.feature == leafMark {
			return n.value
		}
		if x[n.feature] < n.value {
			i++
		} else {
			i += int32(n.right)
		}
	}
}
