package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"sift.build/sift/internal/extract"
	"sift.build/sift/internal/maincontent"
	"sift.build/sift/tools/wcxb"
)

// rows is what the learner gets of a page. Words are numbers within the page.
type rows struct {
	ID     string `json:"id"`
	Type   string `json:"type"`
	Domain string `json:"domain"`
	Blocks int    `json:"blocks"`
	Gold   []int  `json:"gold"`  // words of the marked content
	Words  []int  `json:"words"` // words of the blocks
	Ends   []int  `json:"ends"`  // where each block's words end

	values []float32 // features, block after block
	width  int
	labels []float32 // how much of each block is marked
	tokens []uint32  // words in and around each block
	counts []uint32  // how many of them each block has
}

func describe(ctx context.Context, g *wcxb.Page) (*rows, error) {
	in, err := input(g)
	if err != nil {
		return nil, err
	}
	body, hints, err := extract.Normal(ctx, in)
	if err != nil {
		return nil, err
	}
	p := maincontent.Scan(body, hints, &maincontent.Model{})
	r := &rows{ID: g.ID, Type: g.Type, Domain: domain(g), Blocks: len(p.Blocks), Gold: []int{}, Words: []int{}, Ends: []int{}}
	r.values, r.width = p.Features()
	for _, t := range maincontent.Tokens(body, hints) {
		r.tokens = append(r.tokens, t...)
		r.counts = append(r.counts, uint32(len(t)))
	}
	number := map[string]int{}
	add := func(to []int, s string) []int {
		for _, w := range wcxb.Words(s) {
			n, ok := number[w]
			if !ok {
				n = len(number)
				number[w] = n
			}
			to = append(to, n)
		}
		return to
	}
	r.Gold = add(r.Gold, g.Main)
	for i := range p.Blocks {
		r.Words = add(r.Words, p.Blocks[i].Text())
		r.Ends = append(r.Ends, len(r.Words))
	}
	r.labels = align(r.Words, r.Ends, r.Gold)
	return r, nil
}

// writeRows writes pages.jsonl, the features' names.json, and little-endian
// arrays: rows.f32 and labels.f32 of 32-bit floats, tokens.u32 and counts.u32.
func writeRows(out string, pages []*wcxb.Page) error {
	all := make([]*rows, len(pages))
	err := each(context.Background(), pages, func(ctx context.Context, i int) (err error) {
		all[i], err = describe(ctx, pages[i])
		return err
	})
	if err != nil {
		return err
	}
	names := maincontent.FeatureNames()
	for _, r := range all {
		if r.width != 0 && r.width != len(names) {
			return fmt.Errorf("%d features have %d names", r.width, len(names))
		}
	}
	list, err := json.Marshal(names)
	if err != nil {
		return err
	}
	return errors.Join(
		os.MkdirAll(out, 0o755),
		os.WriteFile(filepath.Join(out, "names.json"), list, 0o644),
		writeArray(filepath.Join(out, "rows.f32"), all, func(r *rows) any { return r.values }),
		writeArray(filepath.Join(out, "labels.f32"), all, func(r *rows) any { return r.labels }),
		writeArray(filepath.Join(out, "tokens.u32"), all, func(r *rows) any { return r.tokens }),
		writeArray(filepath.Join(out, "counts.u32"), all, func(r *rows) any { return r.counts }),
		writeLines(filepath.Join(out, "pages.jsonl"), all),
	)
}

func writeArray(name string, all []*rows, of func(*rows) any) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	for _, r := range all {
		if err := binary.Write(w, binary.LittleEndian, of(r)); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	return errors.Join(w.Flush(), f.Close())
}

func writeLines(name string, all []*rows) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	e := json.NewEncoder(w)
	for _, r := range all {
		if err := e.Encode(r); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	return errors.Join(w.Flush(), f.Close())
}
