// Command train makes what train.py learns the choice of a page's main content
// from, and measures what was learned.
//
//	go run ./tools/train -data ../shared/wcxb -rows DIR
//	go run ./tools/train -data ../shared/wcxb -score DIR
//
// With -rows it writes the features and the label of every block of every page.
// With -score it reads every page with the model of its fold, which has seen no
// page of the same domain, and prints the word F1 of what the product renders,
// by type of page and by cause of what is lost; -worst 50 lists pages.
// docs/extraction.md has the method and the figures; make train runs it all.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net/url"
	"os"
	"runtime"
	"sync"

	"golang.org/x/net/publicsuffix"

	"sift.build/sift/internal/extract"
	"sift.build/sift/tools/wcxb"
)

func main() {
	log.SetFlags(0)
	data := flag.String("data", "../shared/wcxb", "folder with ground-truth.jsonl.gz and html/")
	out := flag.String("rows", "", "folder to write the rows for train.py to")
	models := flag.String("score", "", "folder with the models of the folds, as train.py writes it")
	worst := flag.Int("worst", 0, "with -score, how many of the worst pages to list")
	flag.Parse()
	pages, err := wcxb.Read(*data, 1)
	switch {
	case err != nil:
	case *out != "":
		err = writeRows(*out, pages)
	case *models != "":
		err = score(*models, pages, *worst, os.Stdout)
	default:
		err = errors.New("say what to do: -rows DIR or -score DIR")
	}
	if err != nil {
		log.Fatal("train: ", err)
	}
}

// input is a page as it is handed to the product.
func input(p *wcxb.Page) (extract.Input, error) {
	body, err := p.Body()
	return extract.Input{URL: p.URL, ContentType: "text/html; charset=utf-8", Body: body}, err
}

// domain is the page's registrable domain: pages of one are never on both sides
// of a fold.
func domain(p *wcxb.Page) string {
	u, err := url.Parse(p.URL)
	if err != nil {
		return p.URL
	}
	d, err := publicsuffix.EffectiveTLDPlusOne(u.Hostname())
	if err != nil {
		return u.Hostname()
	}
	return d
}

// each calls f for every page, as many at once as there are processors.
func each(ctx context.Context, pages []*wcxb.Page, f func(ctx context.Context, i int) error) error {
	var wg sync.WaitGroup
	slots := make(chan struct{}, runtime.NumCPU())
	errs := make([]error, len(pages))
	for i := range pages {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			if err := f(ctx, i); err != nil {
				errs[i] = fmt.Errorf("page %s: %w", pages[i].ID, err)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}
