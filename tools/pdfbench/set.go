package main

import (
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sift.build/sift/internal/pdf/pdftest"
)

// file is a PDF to read.
type file struct{ name, path string }

const (
	maxManuals = 12
	maxFile    = 50 << 20 // what sift reads
)

// files lists what is read: files made here, those of the folder that was
// named, and manuals that happen to be installed.
func (b *bench) files() ([]file, error) {
	list, err := b.made()
	if err != nil {
		return nil, err
	}
	given, err := filepath.Glob(filepath.Join(b.dir, "*.pdf"))
	if err != nil {
		return nil, err
	}
	slices.Sort(given)
	for _, path := range given {
		list = append(list, file{filepath.Base(path), path})
	}
	if len(given) == 0 {
		fmt.Fprintf(b.progress, "no PDFs in %s\n", b.dir)
	}
	manuals, err := b.manuals()
	return append(list, manuals...), err
}

// made writes the files that every run has.
func (b *bench) made() ([]file, error) {
	type recipe struct {
		name string
		make func() []byte
	}
	recipes := []recipe{
		{"one page", func() []byte { return pdftest.Pages("One page with one line.") }},
		{"paper", pdftest.Paper},
		{"book, 10 pages", func() []byte { return pdftest.Book(10, 1) }},
		{"book, 100 pages", func() []byte { return pdftest.Book(100, 2) }},
		{"book, 450 pages", func() []byte { return pdftest.Book(450, 3) }},
		{"tables, 20 pages", func() []byte { return tables(20) }},
		{"tagged, 20 pages", func() []byte { return tagged(20) }},
		{"scans with text, 10 pages", func() []byte { return scans(10) }},
		{"Japanese, 10 pages", func() []byte { return japanese(10) }},
		{"form", pdftest.Form},
		{"Hebrew", pdftest.Hebrew},
	}
	if b.quick {
		recipes = []recipe{
			recipes[0], {"book, 2 pages", func() []byte { return pdftest.Book(2, 1) }}, {"tables, 1 page", func() []byte { return tables(1) }},
			{"tagged, 1 page", func() []byte { return tagged(1) }}, {"scan with text", func() []byte { return scans(1) }}, {"Japanese, 1 page", func() []byte { return japanese(1) }},
		}
	}
	var list []file
	for i, r := range recipes {
		f := file{r.name, filepath.Join(b.work, fmt.Sprintf("made%d.pdf", i))}
		if err := os.WriteFile(f.path, r.make(), 0o600); err != nil {
			return nil, err
		}
		list = append(list, f)
	}
	return list, nil
}

// prose makes n words up.
func prose(random *rand.Rand, n int) string {
	words := strings.Fields(`the a river stone house garden letter winter morning engine paper window bridge market signal
		harbour ladder number answer kitchen question station silver corner mountain teacher village weather history measure
		carries follows holds keeps leaves makes opens reaches shows stands takes under until where which while`)
	out := make([]string, n)
	for i := range out {
		out[i] = words[random.IntN(len(words))]
	}
	return strings.Join(out, " ")
}

func cells(random *rand.Rand, rows int) [][]string {
	out := [][]string{{"Station", "Height (m)", "Rain (mm)", "Wind (m/s)"}}
	for range rows {
		out = append(out, []string{prose(random, 2), fmt.Sprint(random.IntN(2000)), fmt.Sprint(random.IntN(1500)), fmt.Sprintf("%.1f", 20*random.Float64())})
	}
	return out
}

// tables has pages with a table that is ruled and one that is not.
func tables(pages int) []byte {
	random := rand.New(rand.NewPCG(4, 1))
	d := pdftest.New()
	widths := []float64{160, 90, 90, 90}
	for range pages {
		d.Page(
			pdftest.Text(72, 740, 11, prose(random, 12)), pdftest.Ruled(72, 720, widths, cells(random, 14)),
			pdftest.Text(72, 410, 11, prose(random, 12)), pdftest.Unruled(72, 386, widths, 15, cells(random, 18)),
		)
	}
	return d.Bytes()
}

// tagged has pages with the tags of headings, paragraphs and tables.
func tagged(pages int) []byte {
	random := rand.New(rand.NewPCG(5, 1))
	tag := func(name pdftest.Name) pdftest.Tag { return pdftest.Tag{Type: name} }
	d := pdftest.New()
	for n := range pages {
		items := []pdftest.Item{
			pdftest.Artifact(pdftest.Text(72, 770, 8, "Weather of the coast")),
			tag("H1").Mark(pdftest.Text(72, 735, 20, fmt.Sprintf("Chapter %d", n+1))),
		}
		y := 705.0
		for range 5 {
			lines := []string{prose(random, 13), prose(random, 13), prose(random, 13), prose(random, 7)}
			items = append(items, tag("P").Mark(pdftest.Lines(72, y, 11, 14, lines...)))
			y -= 64
		}
		var rows []pdftest.Item
		for i, row := range cells(random, 16) {
			kind := pdftest.Name("TD")
			if i == 0 {
				kind = "TH"
			}
			var marked []pdftest.Item
			for j, c := range row {
				marked = append(marked, tag(kind).Mark(pdftest.Text(72+110*float64(j), y-16*float64(i), 11, c)))
			}
			rows = append(rows, tag("TR").Group(marked...))
		}
		d.Page(append(items, tag("Table").Group(rows...))...)
	}
	d.Lang = "en-GB"
	return d.Bytes()
}

// scans has pages that are pictures, with what they say under them.
func scans(pages int) []byte {
	random := rand.New(rand.NewPCG(6, 1))
	d := pdftest.New()
	for range pages {
		var lines []string
		for range 20 {
			lines = append(lines, prose(random, 8))
		}
		d.Page(
			pdftest.Picture(0, 0, 612, 792, pdftest.Photo(100, strings.Join(lines, "\n"))),
			pdftest.Invisible(pdftest.Lines(72, 700, 12, 16, lines...)),
		)
	}
	return d.Bytes()
}

// japanese is in a font that is not embedded.
func japanese(pages int) []byte {
	random := rand.New(rand.NewPCG(7, 1))
	letters := []rune("日本語文章雨量計屋根音調査町港山風時間記録観測結果方法年月のはがをにでと")
	d := pdftest.New()
	for range pages {
		var lines []string
		for range 36 {
			line := make([]rune, 36)
			for i := range line {
				line[i] = letters[random.IntN(len(letters))]
			}
			lines = append(lines, string(line))
		}
		d.Page(pdftest.In(pdftest.Font{Name: "Mincho", CMap: "UniJIS-UCS2-H"}, pdftest.Lines(72, 720, 12, 18, lines...)))
	}
	return d.Bytes()
}

// manuals finds the longest of the PDFs among the documentation that is
// installed, and unpacks those that are compressed.
func (b *bench) manuals() ([]file, error) {
	if b.doc == "" || b.quick {
		return nil, nil
	}
	type found struct {
		path string
		size int64
	}
	var all []found
	err := filepath.WalkDir(b.doc, func(path string, d fs.DirEntry, err error) error {
		if err != nil { // what cannot be read is not measured
			return nil //nolint:nilerr // said above
		}
		if name := strings.TrimSuffix(d.Name(), ".gz"); d.Type().IsRegular() && strings.HasSuffix(name, ".pdf") {
			if info, err := d.Info(); err == nil && info.Size() <= maxFile {
				all = append(all, found{path, info.Size()})
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b found) int { return cmp.Or(cmp.Compare(b.size, a.size), cmp.Compare(a.path, b.path)) })
	var list []file
	for i, m := range all[:min(len(all), maxManuals)] {
		f := file{filepath.Base(m.path), m.path}
		if name, packed := strings.CutSuffix(f.name, ".gz"); packed {
			f = file{name, filepath.Join(b.work, fmt.Sprintf("manual%d.pdf", i))}
			if err := unpack(m.path, f.path); err != nil {
				return nil, fmt.Errorf("unpack %s: %w", m.path, err)
			}
		}
		list = append(list, f)
	}
	return list, nil
}

func unpack(from, to string) error {
	packed, err := os.Open(from)
	if err != nil {
		return err
	}
	defer packed.Close()
	z, err := gzip.NewReader(packed)
	if err != nil {
		return err
	}
	data, err := io.ReadAll(io.LimitReader(z, maxFile+1))
	if err != nil {
		return err
	}
	if len(data) > maxFile {
		return errors.New("longer than sift reads")
	}
	return os.WriteFile(to, data, 0o600)
}
