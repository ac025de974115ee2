package app

import (
	"context"
	"path/filepath"
	"strings"

	"sift.build/sift/internal/config"
	"sift.build/sift/internal/gate"
	"sift.build/sift/internal/pipeline"
	"sift.build/sift/internal/sift"
)

// Converter turns local files into answers. It may be used from many
// goroutines: large files take turns.
type Converter struct {
	parse *gate.Parse
	max   int64
	base  string
	mode  sift.Mode
}

// NewConverter makes a Converter. base is what relative links are resolved
// against; where it is "" they become text.
func NewConverter(cfg config.Config, base string, mode sift.Mode) *Converter {
	return &Converter{
		parse: gate.NewParse(int64(cfg.Limits.ParseMemory)),
		max:   int64(cfg.Fetch.MaxBytes), base: base, mode: mode,
	}
}

// MaxBytes is the longest file that Convert takes: the limit of a fetched
// page.
func (c *Converter) MaxBytes() int64 { return c.max }

// Convert reads one file. name serves to tell its type where the bytes do not.
func (c *Converter) Convert(ctx context.Context, name string, body []byte) (*sift.Answer, error) {
	if int64(len(body)) > c.max {
		return nil, sift.Fail(sift.CodeTooLong, "the file is longer than %s; raise [fetch] max_bytes to read it", config.Size(c.max))
	}
	return pipeline.Convert(ctx, c.parse, pipeline.File{
		Body: body, BaseURL: c.base, ContentType: contentType(name), Mode: c.mode,
	})
}

// contentType is the type that a file's name suggests, for the few kinds that
// cannot be told from their bytes. It carries no charset: a file has no
// header that could declare one.
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
	}
	return "" // the system's tables of types differ from machine to machine
}
