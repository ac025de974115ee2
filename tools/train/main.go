// Command train makes what train.py learns the choice of a page's main content
// from, and measures what was learned.
//
//	go run ./tools/train -data ../shared/wcxb -rows DIR
//	go run ./tools/train -data ../shared/wcxb -score DIR
//
// With -rows it writes the features and the label of every block of every page.
// With -score it reads every page with the model of its fold, which has seen no
// page of the same domain, and prints the word F1 of what the product renders.
// docs/extraction.md has the method and the figures; make train runs it all.
package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"golang.org/x/net/publicsuffix"

	"sift.build/sift/internal/extract"
)

// A page of the data, as ground-truth.jsonl.gz has it.
type page struct {
	ID   string `json:"id"`
	URL  string `json:"url"`
	Type string `json:"type"`
	Main string `json:"main_content"` // what people marked as the content
}

func main() {
	log.SetFlags(0)
	data := flag.String("data", "../shared/wcxb", "folder with ground-truth.jsonl.gz and html/")
	out := flag.String("rows", "", "folder to write the rows for train.py to")
	models := flag.String("score", "", "folder with the models of the folds, as train.py writes it")
	flag.Parse()
	pages, err := readPages(*data)
	switch {
	case err != nil:
	case *out != "":
		err = writeRows(*data, *out, pages)
	case *models != "":
		err = score(*data, *models, pages, os.Stdout)
	default:
		err = errors.New("say what to do: -rows DIR or -score DIR")
	}
	if err != nil {
		log.Fatal("train: ", err)
	}
}

func readPages(data string) ([]page, error) {
	b, err := unzip(filepath.Join(data, "ground-truth.jsonl.gz"))
	if err != nil {
		return nil, err
	}
	var pages []page
	for line := range bytes.Lines(b) {
		var p page
		if err := json.Unmarshal(line, &p); err != nil {
			return nil, fmt.Errorf("ground-truth.jsonl.gz: %w", err)
		}
		pages = append(pages, p)
	}
	return pages, nil
}

func unzip(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return io.ReadAll(z)
}

// input is the page as it is handed to the product.
func (p *page) input(data string) (extract.Input, error) {
	body, err := unzip(filepath.Join(data, "html", p.ID+".html.gz"))
	return extract.Input{URL: p.URL, ContentType: "text/html; charset=utf-8", Body: body}, err
}

// domain is the page's registrable domain: pages of one are never on both sides
// of a fold.
func (p *page) domain() string {
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
func each(ctx context.Context, pages []page, f func(ctx context.Context, i int) error) error {
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
