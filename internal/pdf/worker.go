package pdf

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"io"
	"runtime/debug"
	"time"

	"sift.build/sift/internal/child"
	"sift.build/sift/internal/pdf/engine"
	"sift.build/sift/internal/pdf/layout"
	"sift.build/sift/internal/sift"
)

// The workers' names, as logs and metrics show them.
const (
	workerRead   = "pdf"
	workerWarm   = "pdf-warm"
	workerRender = "pdf-render"
)

// Workers are what the children of this package run, by name, for child.Main.
func Workers() map[string]child.Worker {
	return map[string]child.Worker{workerRead: readWorker, workerWarm: warmWorker, workerRender: renderWorker}
}

// order is what a child is told.
type order struct {
	CacheDir string
	Guest    int64 // bytes of memory that PDFium may use
	Size     int64 // of the file
	Password string
	First    sift.PageRanges // pages to read before the others
	MaxPages int             // pages to read in all
	MaxText  int64           // bytes of output after which no page is begun
	Page     int             // the page to render
	DPI      float64
}

// info is what the file says about itself.
type info struct {
	Pages                  int
	Title, Author, Subject string
	Created, Modified      time.Time
	Language               string
	Encrypted              bool
	Bookmarks              []bookmark
}

type bookmark struct {
	Level int
	Title string
	Page  int
}

// end says why there is no more.
type end struct {
	Fault fault
	Text  string // for the log
}

// fault is a class of what can go wrong with a file.
type fault string

const (
	faultNone     fault = ""         // every page was tried
	faultPages    fault = "pages"    // there are more pages than are read
	faultText     fault = "text"     // there is more text than is read
	faultPassword fault = "password" // it needs a password, or another one
	faultSecurity fault = "security" // it is protected by a method that PDFium does not know
	faultFormat   fault = "format"   // it is damaged, or no PDF
	faultEngine   fault = "engine"   // PDFium has stopped: memory, or a trap
	faultCache    fault = "cache"    // PDFium's machine code is missing or damaged
)

// readWorker reads a file, page by page.
func readWorker(c child.Conn) error {
	var o order
	if err := json.Unmarshal(c.Config, &o); err != nil {
		return fmt.Errorf("decode order: %w", err)
	}
	// Little garbage, much of it short-lived: collecting late is cheaper, and
	// the limit is far above what a page needs.
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(96 << 20)

	out, err := newSender(c.Output)
	if err != nil {
		return err
	}
	doc, closeDoc, err := openDocument(c, &o)
	if err != nil {
		return out.end(err)
	}
	defer func() { closeDoc() }()
	// anew opens the file in a new engine, after one has died of a part of it.
	anew := func() error {
		closeDoc()
		debug.FreeOSMemory() // the engine's code goes with the collector
		if doc, closeDoc, err = openDocument(c, &o); err != nil {
			closeDoc = func() {}
		}
		return err
	}
	i := doc.Info()
	if doc.Err() != nil {
		// What the file says about itself is too much, such as a title of many
		// megabytes. Its pages need not be, and what was found before stands.
		if err := anew(); err != nil {
			return out.end(err)
		}
	}
	send := info{
		Pages: i.Pages, Title: i.Title, Author: i.Author, Subject: i.Subject,
		Created: i.Created, Modified: i.Modified, Language: i.Language, Encrypted: i.Encrypted,
	}
	for _, b := range i.Bookmarks {
		send.Bookmarks = append(send.Bookmarks, bookmark{b.Level, b.Title, b.Page})
	}
	if err := out.send(message{Info: &send}); err != nil {
		return err
	}
	reader := layout.NewReader(i.Bookmarks)
	left := o.MaxPages
	var deaths []error
	pages := 0
	for n := range inOrder(o.First, i.Pages) {
		switch {
		case left == 0:
			return out.send(message{End: &end{Fault: faultPages}})
		case out.written > o.MaxText:
			return out.send(message{End: &end{Fault: faultText}})
		}
		left--
		page, err := doc.Page(n)
		cut := errors.Is(err, engine.ErrCut)
		switch {
		case cut:
		case errors.Is(err, engine.ErrPage):
			if err := out.send(message{Bad: n}); err != nil {
				return err
			}
			continue
		case errors.Is(err, engine.ErrDead) && len(deaths) < maxDeaths:
			// The page was too much. The next need not be.
			deaths = append(deaths, err)
			if err := out.send(message{Bad: n}); err != nil {
				return err
			}
			if err := anew(); err != nil {
				return out.end(err)
			}
			continue
		case err != nil:
			return out.end(err)
		}
		pages++
		p := readPage{Result: *reader.Page(page), ImageArea: page.ImageArea}
		p.Cut = cut || p.Dropped > 0
		if err := out.send(message{Page: &p}); err != nil {
			return err
		}
	}
	if pages == 0 && len(deaths) > 0 {
		return out.end(deaths[0])
	}
	return out.send(message{End: &end{}})
}

// maxDeaths is of how many pages of a file PDFium may die before the rest is
// given up.
const maxDeaths = 3

// inOrder gives the numbers of all pages, those that are wanted first.
func inOrder(first sift.PageRanges, pages int) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for _, wanted := range []bool{true, false} {
			for n := 1; n <= pages; n++ {
				if first.Has(n) == wanted && !yield(n) {
					return
				}
			}
		}
	}
}

func openDocument(c child.Conn, o *order) (*engine.Document, func(), error) {
	if c.Input == nil {
		return nil, nil, errors.New("there is no file")
	}
	e, err := engine.Start(context.Background(), engine.Config{CacheDir: o.CacheDir, Memory: o.Guest})
	if err != nil {
		return nil, nil, fmt.Errorf("start: %w", err)
	}
	doc, err := e.Open(c.Input, o.Size, o.Password)
	if err != nil {
		e.Close()
		return nil, nil, fmt.Errorf("open: %w", err)
	}
	return doc, e.Close, nil
}

// end sends what an error of the engine means. Its own error is nil then: the
// parent has been told.
func (s *sender) end(err error) error {
	f := faultFormat
	switch {
	case errors.Is(err, engine.ErrCache):
		f = faultCache
	case errors.Is(err, engine.ErrPassword):
		f = faultPassword
	case errors.Is(err, engine.ErrSecurity):
		f = faultSecurity
	case errors.Is(err, engine.ErrFormat):
	case errors.Is(err, engine.ErrDead):
		f = faultEngine
	default:
		return err
	}
	return s.send(message{End: &end{Fault: f, Text: err.Error()}})
}

// warmWorker compiles PDFium.
func warmWorker(c child.Conn) error {
	return engine.Fill(context.Background(), string(c.Config))
}

// renderWorker paints one page and writes it as a PGM image.
func renderWorker(c child.Conn) error {
	var o order
	if err := json.Unmarshal(c.Config, &o); err != nil {
		return fmt.Errorf("decode order: %w", err)
	}
	debug.SetMemoryLimit(96 << 20)
	doc, closeDoc, err := openDocument(c, &o)
	if err != nil {
		return err
	}
	defer closeDoc()
	img, err := doc.Render(o.Page, o.DPI, maxPixels)
	if err != nil {
		return err
	}
	return writePGM(c.Output, img)
}

// writePGM writes a grey image in the binary form of PGM.
func writePGM(w io.Writer, img *image.Gray) error {
	b := bufio.NewWriterSize(w, 256<<10)
	size := img.Rect.Size()
	fmt.Fprintf(b, "P5\n%d %d\n255\n", size.X, size.Y)
	for y := range size.Y {
		row := img.Pix[y*img.Stride:]
		if _, err := b.Write(row[:size.X]); err != nil {
			return err
		}
	}
	return b.Flush()
}
