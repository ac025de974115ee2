package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"

	"sift.build/sift/internal/extract"
	"sift.build/sift/internal/maincontent"
	"sift.build/sift/internal/render"
	"sift.build/sift/internal/sift"
	"sift.build/sift/tools/wcxb"
)

// result is what came of one page.
type result struct {
	*wcxb.Page
	f1, precision, recall float64 // by the model that has seen no page of its domain
	seen                  float64 // F1 by the one that has seen all
	best                  float64 // F1 of keeping just the blocks that are mostly marked
}

// score reads every page with the model of its fold. It prints the word F1 by
// type of page, that of the model which has seen all pages and that of a perfect
// choice of blocks beside it; then what was lost by cause, and the worst pages.
func score(models string, pages []*wcxb.Page, worst int, w io.Writer) error {
	of, err := wcxb.Models(models)
	if err != nil {
		return err
	}
	results := make([]result, len(pages))
	err = each(context.Background(), pages, func(ctx context.Context, i int) (err error) {
		results[i], err = judge(ctx, pages[i], of[pages[i].ID])
		return err
	})
	if err != nil {
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	printTypes(t, results)
	printCauses(t, results)
	printWorst(t, results, worst)
	return t.Flush()
}

func judge(ctx context.Context, p *wcxb.Page, held *maincontent.Model) (result, error) {
	r := result{Page: p}
	in, err := input(p)
	if err != nil {
		return r, err
	}
	read := func(m *maincontent.Model) (precision, recall, f1 float64, err error) {
		in.Model = m
		doc, err := extract.Extract(ctx, in)
		if err != nil {
			return 0, 0, 0, err
		}
		c, err := render.Content(doc, sift.ModeText)
		if err != nil {
			return 0, 0, 0, err
		}
		precision, recall, f1 = wcxb.Score(c.Content, p.Main)
		return precision, recall, f1, nil
	}
	if r.precision, r.recall, r.f1, err = read(held); err != nil {
		return r, err
	}
	if _, _, r.seen, err = read(nil); err != nil {
		return r, err
	}
	blocks, err := describe(ctx, p)
	if err != nil {
		return r, err
	}
	r.best = blocks.best()
	return r, nil
}

// best is the word F1 of the blocks of which more than half is marked.
func (r *rows) best() float64 {
	bag := map[int]int{}
	for _, w := range r.Gold {
		bag[w]++
	}
	kept, both, from := 0, 0, 0
	for i, end := range r.Ends {
		if r.labels[i] > 0.5 {
			for _, w := range r.Words[from:end] {
				kept++
				if bag[w] > 0 {
					bag[w]--
					both++
				}
			}
		}
		from = end
	}
	if kept+len(r.Gold) == 0 {
		return 1
	}
	return 2 * float64(both) / float64(kept+len(r.Gold))
}

func printTypes(w io.Writer, results []result) {
	type sum struct{ n, f1, seen, best float64 }
	by := map[string]*sum{}
	for i := range results {
		r := &results[i]
		for _, k := range [...]string{r.Type, "all"} {
			if by[k] == nil {
				by[k] = &sum{}
			}
			by[k].n++
			by[k].f1 += r.f1
			by[k].seen += r.seen
			by[k].best += r.best
		}
	}
	fmt.Fprintln(w, "type\tpages\tF1, cross-validated\tF1, trained on all\tperfect choice of blocks\t")
	for _, k := range slices.SortedFunc(maps.Keys(by), func(a, b string) int { return cmp.Compare(by[a].n, by[b].n) }) {
		s := by[k]
		fmt.Fprintf(w, "%s\t%.0f\t%.4f\t%.4f\t%.4f\t\n", k, s.n, s.f1/s.n, s.seen/s.n, s.best/s.n)
	}
}

// The causes of a low score, from those that no choice could help to those that
// hardly matter.
var causes = []string{"nothing is marked", "half of it is not in the page's text", "too much", "too little", "another part", "nearly right"}

func (r *result) cause() int {
	const well = 0.8
	switch {
	case len(wcxb.Words(r.Main)) == 0:
		return 0
	case r.best < 0.5:
		return 1
	case r.precision >= well && r.recall >= well:
		return 5
	case r.recall >= well:
		return 2
	case r.precision >= well:
		return 3
	}
	return 4
}

func printCauses(w io.Writer, results []result) {
	var pages [6]int
	var lost [6]float64
	all := 0.0
	for i := range results {
		c := results[i].cause()
		pages[c]++
		lost[c] += 1 - results[i].f1
		all += 1 - results[i].f1
	}
	fmt.Fprintln(w, "\ncause\tpages\tF1 lost\tshare\t")
	for c, name := range causes {
		fmt.Fprintf(w, "%s\t%d\t%.4f\t%.0f %%\t\n", name, pages[c], lost[c]/float64(len(results)), 100*lost[c]/max(all, 1e-9))
	}
}

func printWorst(w io.Writer, results []result, n int) {
	slices.SortStableFunc(results, func(a, b result) int { return cmp.Compare(a.f1, b.f1) })
	if n = min(n, len(results)); n == 0 {
		return
	}
	fmt.Fprintln(w, "\nworst\ttype\tF1\tprecision\trecall\tperfect choice\tcause\tpage\t")
	for i := range results[:n] {
		r := &results[i]
		fmt.Fprintf(w, "%s\t%s\t%.3f\t%.3f\t%.3f\t%.3f\t%s\t%s\t\n", r.ID, r.Type, r.f1, r.precision, r.recall, r.best, causes[r.cause()], r.URL)
	}
}
