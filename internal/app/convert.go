package app

import (
	"context"
	"path/filepath"
	"strings"

	"sift.build/sift/internal/config"
	"sift.build/sift/internal/extract"
	"sift.build/sift/internal/gate"
	"sift.build/sift/internal/pipeline"
	"sift.build/sift/internal/sift"
)

// ConvertOptions say how local files are converted.
type ConvertOptions struct {
	BaseURL  string // what relative links are resolved against; "": they become text
	Mode     sift.Mode
	Pages    sift.PageRanges // of PDFs; nil: all
	Password string          // of PDFs
	Explain  Explain         // why the main content is what it is, instead of the content
	// Notice is told what takes its time.
	Notice func(string)
}

// Explain is a form of saying why the main content of a page is what it is.
type Explain string

// The forms.
const (
	ExplainNothing Explain = ""
	ExplainText    Explain = "text"
	ExplainHTML    Explain = "html"
)

// Converter turns local files into answers. It may be used from many
// goroutines: large files take turns. Close ends it.
type Converter struct {
	opts     ConvertOptions
	children children
	convert  pipeline.Converter
	maxPage  int64
	maxPDF   int64
}

// NewConverter makes a Converter.
func NewConverter(cfg config.Config, opts ConvertOptions) *Converter {
	children := newLocalChildren(cfg, localTrace(opts.Notice))
	return &Converter{
		opts: opts, children: children,
		convert: pipeline.Converter{Parse: gate.NewParse(int64(cfg.Limits.ParseMemory)), PDF: children.reader},
		maxPage: int64(cfg.Fetch.MaxBytes), maxPDF: int64(cfg.Fetch.MaxPDFBytes),
	}
}

// MaxBytes is the longest file that Convert takes, whatever it is.
func (c *Converter) MaxBytes() int64 { return max(c.maxPage, c.maxPDF) }

// Convert reads one file. name serves to tell its type where the bytes do not.
func (c *Converter) Convert(ctx context.Context, name string, body []byte) (*sift.Answer, error) {
	limit, key := c.maxPage, "max_bytes"
	if extract.IsPDF(body, contentType(name)) {
		limit, key = c.maxPDF, "max_pdf_bytes"
	}
	if int64(len(body)) > limit {
		return nil, sift.Fail(sift.CodeTooLong, "the file is longer than %s; raise [fetch] %s to read it", config.Size(limit), key)
	}
	if c.opts.Explain != ExplainNothing {
		e, err := extract.Explain(ctx, extract.Input{Body: body, URL: c.opts.BaseURL, ContentType: contentType(name)})
		if err != nil {
			return nil, err
		}
		if c.opts.Explain == ExplainHTML {
			return &sift.Answer{Content: e.HTML()}, nil
		}
		return &sift.Answer{Content: e.Text()}, nil
	}
	return c.convert.Convert(ctx, pipeline.File{
		Body: body, BaseURL: c.opts.BaseURL, ContentType: contentType(name), Mode: c.opts.Mode,
		Pages: c.opts.Pages, Password: c.opts.Password,
	})
}

// Close ends what Convert has started.
func (c *Converter) Close() { c.children.reader.Close() }

// contentType gives the type that the name of a file promises, "" where it
// promises none.
func contentType(name string) string {
	if name == "-" {
		return "text/html" // what the command is for; other kinds are told from their bytes all the same
	}
	switch strings.ToLower(filepath.Ext(name)) {
	case ".htm", ".html", ".xhtml":
		return "text/html"
	case ".md", ".markdown":
		return "text/markdown"
	case ".json":
		return "application/json"
	case ".pdf":
		return "application/pdf"
	}
	return "" // the system's tables of types differ from machine to machine
}
