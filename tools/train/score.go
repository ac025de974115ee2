package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"

	"sift.build/sift/internal/extract"
	"sift.build/sift/internal/maincontent"
	"sift.build/sift/internal/render"
	"sift.build/sift/internal/sift"
)

// score reads every page with the model of its fold, and prints the word F1 by
// type of page, with that of the model which has seen all pages beside it.
func score(data, models string, pages []page, w io.Writer) error {
	b, err := os.ReadFile(filepath.Join(models, "folds.json"))
	if err != nil {
		return err
	}
	var folds map[string]int
	if err := json.Unmarshal(b, &folds); err != nil {
		return fmt.Errorf("folds.json: %w", err)
	}
	of := map[int]*maincontent.Model{}
	for _, f := range folds {
		if of[f] != nil {
			continue
		}
		b, err := os.ReadFile(filepath.Join(models, fmt.Sprintf("fold%d.bin", f)))
		if err != nil {
			return err
		}
		if of[f], err = maincontent.ReadModel(b); err != nil {
			return fmt.Errorf("fold%d.bin: %w", f, err)
		}
	}
	held, seen := make([]float64, len(pages)), make([]float64, len(pages))
	err = each(context.Background(), pages, func(ctx context.Context, i int) error {
		in, err := pages[i].input(data)
		if err != nil {
			return err
		}
		for m, to := range map[*maincontent.Model][]float64{of[folds[pages[i].ID]]: held, nil: seen} {
			in.Model = m
			doc, err := extract.Extract(ctx, in)
			if err != nil {
				return err
			}
			r, err := render.Content(doc, sift.ModeText)
			if err != nil {
				return err
			}
			to[i] = wordF1(r.Content, pages[i].Main)
		}
		return nil
	})
	if err != nil {
		return err
	}
	type sum struct{ n, held, seen float64 }
	by := map[string]*sum{}
	for i, p := range pages {
		for _, k := range [...]string{p.Type, "all"} {
			if by[k] == nil {
				by[k] = &sum{}
			}
			by[k].n++
			by[k].held += held[i]
			by[k].seen += seen[i]
		}
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "type\tpages\tF1, cross-validated\tF1, trained on all\t")
	for _, k := range slices.SortedFunc(maps.Keys(by), func(a, b string) int { return cmp.Compare(by[a].n, by[b].n) }) {
		s := by[k]
		fmt.Fprintf(t, "%s\t%.0f\t%.4f\t%.4f\t\n", k, s.n, s.held/s.n, s.seen/s.n)
	}
	return t.Flush()
}

// wordF1 compares two texts as bags of words, as the benchmark does: of two
// empty ones it is 1.
func wordF1(got, want string) float64 {
	bag := map[string]int{}
	wanted := wordsOf(want)
	for _, w := range wanted {
		bag[w]++
	}
	words, both := wordsOf(got), 0
	for _, w := range words {
		if bag[w] > 0 {
			bag[w]--
			both++
		}
	}
	if len(words)+len(wanted) == 0 {
		return 1
	}
	return 2 * float64(both) / float64(len(words)+len(wanted))
}
