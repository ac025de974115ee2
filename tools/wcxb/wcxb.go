// Package wcxb reads the pages of the WCXB benchmark (M. Murrough-Foley, Web
// Content Extraction Benchmark, CC-BY-4.0) and compares texts as it does.
//
// A folder of it has ground-truth.jsonl.gz, a page a line, and html/ID.html.gz.
// It is no part of the repository.
package wcxb

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"sift.build/sift/internal/maincontent"
)

// A Page is one page with what people said of it.
type Page struct {
	ID      string   `json:"id"`
	URL     string   `json:"url"`
	Type    string   `json:"type"`
	Main    string   `json:"main_content"`
	Title   string   `json:"title"`
	Author  string   `json:"author"`
	Date    string   `json:"publish_date"` // year, month, day
	With    []string `json:"with"`         // what must be in the content
	Without []string `json:"without"`      // what must not

	file string
}

// Read gives every n-th page of a folder, without their bodies.
func Read(dir string, n int) ([]*Page, error) {
	b, err := Unpack(filepath.Join(dir, "ground-truth.jsonl.gz"))
	if err != nil {
		return nil, err
	}
	var pages []*Page
	i := 0
	for line := range bytes.Lines(b) {
		if i++; (i-1)%n != 0 {
			continue
		}
		p := &Page{}
		if err := json.Unmarshal(line, p); err != nil {
			return nil, fmt.Errorf("ground-truth.jsonl.gz: %w", err)
		}
		p.file = filepath.Join(dir, "html", p.ID+".html.gz")
		pages = append(pages, p)
	}
	return pages, nil
}

// Body reads the page itself.
func (p *Page) Body() ([]byte, error) { return Unpack(p.file) }

// Unpack reads a file in gzip form.
func Unpack(name string) ([]byte, error) {
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

// Words are those of a text in small letters.
func Words(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsNumber(r) })
}

// Score compares two texts as bags of words: of two empty ones all is 1.
func Score(got, want string) (precision, recall, f1 float64) {
	bag := map[string]int{}
	wanted := Words(want)
	for _, w := range wanted {
		bag[w]++
	}
	have, both := Words(got), 0
	for _, w := range have {
		if bag[w] > 0 {
			bag[w]--
			both++
		}
	}
	switch {
	case len(have)+len(wanted) == 0:
		return 1, 1, 1
	case both == 0:
		return 0, 0, 0
	}
	precision, recall = float64(both)/float64(len(have)), float64(both)/float64(len(wanted))
	return precision, recall, 2 * precision * recall / (precision + recall)
}

// Models reads the models of the folds that train.py wrote: for each page's ID
// the one that has seen no page of its domain.
func Models(dir string) (map[string]*maincontent.Model, error) {
	b, err := os.ReadFile(filepath.Join(dir, "folds.json"))
	if err != nil {
		return nil, err
	}
	var folds map[string]int
	if err := json.Unmarshal(b, &folds); err != nil {
		return nil, fmt.Errorf("folds.json: %w", err)
	}
	read, of := map[int]*maincontent.Model{}, map[string]*maincontent.Model{}
	for id, k := range folds {
		if read[k] == nil {
			b, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("fold%d.bin", k)))
			if err != nil {
				return nil, err
			}
			if read[k], err = maincontent.ReadModel(b); err != nil {
				return nil, fmt.Errorf("fold%d.bin: %w", k, err)
			}
		}
		of[id] = read[k]
	}
	return of, nil
}
