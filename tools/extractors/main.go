// Command extractors scores the main content and the metadata that sift finds on the pages of
// the WCXB benchmark, beside go-trafilatura and go-readability, in one process.
//
//	cd tools/extractors && go run . -data ../../../shared/wcxb
//
// With -models, a folder that train.py wrote, sift reads every page with a
// model that has seen no page of its domain. docs/extraction.md has the table.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"net/url"
	"os"
	"runtime"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	readability "codeberg.org/readeck/go-readability/v2"
	"github.com/markusmobius/go-trafilatura"
	"golang.org/x/net/html"

	"sift.build/sift/internal/extract"
	"sift.build/sift/internal/maincontent"
	"sift.build/sift/internal/render"
	"sift.build/sift/internal/sift"
	"sift.build/sift/tools/wcxb"
)

// page is a page of the benchmark with its body.
type page struct {
	*wcxb.Page
	body    []byte
	address *url.URL
}

// found is what an extractor makes of a page.
type found struct{ text, title, author, date string }

type extractor struct {
	name string
	run  func(p *page) (found, error)
}

func main() {
	log.SetFlags(0)
	data := flag.String("data", "../../../shared/wcxb", "folder with ground-truth.jsonl.gz and html/")
	models := flag.String("models", "", "folder with models for cross-validation, as train.py writes it")
	every := flag.Int("every", 1, "every n-th page")
	wrong := flag.String("wrong", "", "file for a list of every title, author and date that is not as marked")
	flag.Parse()
	pages, err := readPages(*data, *every)
	if err != nil {
		log.Fatal("extractors: ", err)
	}
	runtime.GOMAXPROCS(1) // the collector's work counts, and nothing runs beside
	list := []extractor{{"html.Parse alone", parse}, {"sift", siftWith(nil)}}
	if *models != "" {
		of, err := wcxb.Models(*models)
		if err != nil {
			log.Fatal("extractors: ", err)
		}
		list = append(list, extractor{"sift, cross-validated", siftWith(of)})
	}
	list = append(list, extractor{"go-readability", readable}, extractor{"go-trafilatura", trafilaturaWith})
	var rows []*row
	for _, e := range list {
		rows = append(rows, score(e, pages))
	}
	print(os.Stdout, rows, len(pages))
	if *wrong != "" {
		if err := writeWrong(*wrong, rows[1:], pages); err != nil {
			log.Fatal("extractors: ", err)
		}
	}
}

func parse(p *page) (found, error) {
	_, err := html.Parse(bytes.NewReader(p.body))
	return found{}, err
}

func siftWith(of map[string]*maincontent.Model) func(p *page) (found, error) {
	return func(p *page) (found, error) {
		doc, err := extract.Extract(context.Background(), extract.Input{Body: p.body, URL: p.URL, ContentType: "text/html; charset=utf-8", Model: of[p.ID]})
		if err != nil {
			return found{}, err
		}
		r, err := render.Content(doc, sift.ModeText)
		return found{r.Content, doc.Title, doc.Author, doc.Published}, err
	}
}

// readable uses go-readability with its defaults, blocks on lines of their own.
func readable(p *page) (found, error) {
	a, err := readability.FromReader(bytes.NewReader(p.body), p.address)
	if err != nil {
		return found{}, err
	}
	var b bytes.Buffer
	if a.Node != nil {
		if err := a.RenderText(&b); err != nil {
			return found{}, err
		}
	}
	date := ""
	if t, err := a.PublishedTime(); err == nil {
		date = t.Format(time.DateOnly)
	}
	return found{b.String(), a.Title(), a.Byline(), date}, nil
}

// trafilaturaWith uses go-trafilatura with its fallbacks, the setting that does
// best on these pages.
func trafilaturaWith(p *page) (found, error) {
	r, err := trafilatura.Extract(bytes.NewReader(p.body), trafilatura.Options{OriginalURL: p.address, EnableFallback: true, ExcludeComments: true})
	if err != nil || r == nil {
		return found{}, nil // it gives an error for a page without content
	}
	f := found{text: r.ContentText, title: r.Metadata.Title, author: r.Metadata.Author}
	if !r.Metadata.Date.IsZero() {
		f.date = r.Metadata.Date.Format(time.DateOnly)
	}
	return f, nil
}

// row is what an extractor came to.
type row struct {
	name                     string
	f1, precision, recall    float64
	byType, pages            map[string]float64
	kept, with, out, without int
	title, author, date      int
	titles, authors, dates   int
	wrongAuthor, wrongDate   int
	failed                   int
	all                      []found // of every page
	cpu                      time.Duration
}

func score(e extractor, pages []*page) *row {
	r := &row{name: e.name, byType: map[string]float64{}, pages: map[string]float64{}}
	all := make([]found, len(pages))
	runtime.GC()
	before := cpu()
	for i, p := range pages {
		f, err := e.run(p)
		if err != nil {
			r.failed++
		}
		all[i] = f
	}
	r.cpu, r.all = cpu()-before, all
	for i, p := range pages {
		f := all[i]
		pr, rc, f1 := wcxb.Score(f.text, p.Main)
		r.f1, r.precision, r.recall = r.f1+f1, r.precision+pr, r.recall+rc
		r.byType[p.Type] += f1
		r.pages[p.Type]++
		flat := squash(f.text)
		for _, s := range p.With {
			r.with++
			if strings.Contains(flat, squash(s)) {
				r.kept++
			}
		}
		for _, s := range p.Without {
			r.without++
			if !strings.Contains(flat, squash(s)) {
				r.out++
			}
		}
		if p.Title != "" {
			r.titles++
			if letters(f.title) == letters(p.Title) {
				r.title++
			}
		}
		switch {
		case p.Author != "":
			r.authors++
			if letters(f.author) == letters(p.Author) {
				r.author++
			}
		case f.author != "":
			r.wrongAuthor++
		}
		switch {
		case p.Date != "":
			r.dates++
			if strings.HasPrefix(f.date, p.Date) {
				r.date++
			}
		case f.date != "":
			r.wrongDate++
		}
	}
	return r
}

var types = []string{"article", "documentation", "service", "forum", "collection", "listing", "product"}

func print(w io.Writer, rows []*row, n int) {
	bare := rows[0].cpu
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "%d pages\tF1\tprecision\trecall", n)
	for _, k := range types {
		fmt.Fprint(t, "\t", k)
	}
	fmt.Fprintln(t, "\tsnippets kept\tkept out\tCPU ÷ parsing\tfailed")
	for _, r := range rows[1:] {
		fmt.Fprintf(t, "%s\t%.4f\t%.3f\t%.3f", r.name, r.f1/float64(n), r.precision/float64(n), r.recall/float64(n))
		for _, k := range types {
			fmt.Fprintf(t, "\t%.3f", r.byType[k]/max(r.pages[k], 1))
		}
		fmt.Fprintf(t, "\t%d of %d\t%d of %d\t%.2f\t%d\n", r.kept, r.with, r.out, r.without, r.cpu.Seconds()/bare.Seconds(), r.failed)
	}
	fmt.Fprintln(t)
	fmt.Fprintln(t, "metadata\ttitle right\tauthor right\tauthor where none is marked\tdate right\tdate where none is marked")
	for _, r := range rows[1:] {
		fmt.Fprintf(t, "%s\t%d of %d\t%d of %d\t%d\t%d of %d\t%d\n", r.name, r.title, r.titles, r.author, r.authors, r.wrongAuthor, r.date, r.dates, r.wrongDate)
	}
	_ = t.Flush()
}

// writeWrong lists what is not as people marked it, a line for each value: the
// extractor, which value, whether it is missing, wrong or false, where the page
// has none, and the kind, number and address of the page.
func writeWrong(name string, rows []*row, pages []*page) error {
	var b bytes.Buffer
	for _, r := range rows {
		for i, p := range pages {
			f := r.all[i]
			line := func(what, got, want string, right bool) {
				fault := "wrong"
				switch {
				case right:
					return
				case want == "":
					fault = "false"
				case got == "":
					fault = "missing"
				}
				fmt.Fprintf(&b, "%s\t%s\t%s\t%s\t%s\t%q\t%q\t%s\n", r.name, what, fault, p.Type, p.ID, got, want, p.URL)
			}
			line("title", f.title, p.Title, p.Title == "" || letters(f.title) == letters(p.Title))
			line("author", f.author, p.Author, letters(f.author) == letters(p.Author))
			line("date", f.date, p.Date, f.date == p.Date || p.Date != "" && strings.HasPrefix(f.date, p.Date))
		}
	}
	return os.WriteFile(name, b.Bytes(), 0o600)
}

func cpu() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func squash(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// letters makes names and titles comparable.
func letters(s string) string { return strings.Join(wcxb.Words(s), " ") }

func readPages(data string, every int) ([]*page, error) {
	list, err := wcxb.Read(data, every)
	if err != nil {
		return nil, err
	}
	pages := make([]*page, len(list))
	for i, p := range list {
		body, err := p.Body()
		if err != nil {
			return nil, err
		}
		address, err := url.Parse(p.URL)
		if err != nil {
			return nil, err
		}
		pages[i] = &page{p, body, address}
	}
	return pages, nil
}
