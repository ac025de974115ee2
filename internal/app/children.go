package app

import (
	"context"
	"log/slog"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"sift.build/sift/internal/child"
	"sift.build/sift/internal/config"
	"sift.build/sift/internal/jq"
	"sift.build/sift/internal/metrics"
	"sift.build/sift/internal/pdf"
	"sift.build/sift/internal/pdfpool"
)

// RunChild must be called first thing in main: in a child process, which reads
// a PDF or runs a jq program, it does that and exits. In any other it returns at
// once.
func RunChild() {
	workers := jq.Workers()
	maps.Copy(workers, pdf.Workers())
	child.Main(workers)
}

// children is what works in child processes, within one budget of memory: it
// reads PDFs and runs jq programs.
type children struct {
	launcher *child.Launcher
	pool     *pdfpool.Pool
	reader   *pdf.Reader
	jq       *jq.Runner
}

// jqMemory is what a jq program may hold where all children together may hold
// more. docs/jq.md says how it was found.
const jqMemory = 320 << 20

// newChildren joins the parts. It starts nothing. limited is told of each
// protection that this system does not give a child; it may be nil.
func newChildren(cfg config.Config, trace *pdf.Trace, limited func(missing string)) children {
	launcher := child.New(child.Config{Memory: int64(cfg.Limits.ChildrenMemory), Trace: &child.Trace{Limited: limited}})
	return children{
		launcher: launcher,
		pool:     pdfpool.New(cfg.PDF.Slots, cfg.PDF.Queue, cfg.PDF.Wait),
		reader: pdf.New(pdf.Config{
			Launcher: launcher, Children: int64(cfg.Limits.ChildrenMemory), CacheDirs: cacheDirs(cfg),
			Memory: int64(cfg.PDF.Memory), CPU: cfg.PDF.Timeout, MaxPages: cfg.PDF.MaxPages, OCR: cfg.PDF.OCR, Trace: trace,
		}),
		jq: jq.New(jq.Config{Launcher: launcher, Memory: min(jqMemory, int64(cfg.Limits.ChildrenMemory))}),
	}
}

// newLocalChildren is newChildren for a command that has the machine to itself:
// one child a processor, and whoever finds them busy waits.
func newLocalChildren(cfg config.Config, trace *pdf.Trace) children {
	cfg.PDF.Slots = max(cfg.PDF.Slots, runtime.NumCPU())
	cfg.PDF.Queue = math.MaxInt32
	cfg.PDF.Wait = max(cfg.PDF.Wait, time.Hour)
	cfg.Limits.ChildrenMemory = max(cfg.Limits.ChildrenMemory, config.Size(cfg.PDF.Slots)*cfg.PDF.Memory)
	return newChildren(cfg, trace, nil)
}

// cacheDirs are the folders where what is made once per host is kept: the
// user's own, for all runs, and the one of this store where there is no such.
func cacheDirs(cfg config.Config) []string {
	var dirs []string
	if dir, err := os.UserCacheDir(); err == nil {
		dirs = append(dirs, filepath.Join(dir, "sift"))
	}
	if cfg.DataDir != "" {
		dirs = append(dirs, filepath.Join(cfg.DataDir, "cache"))
	}
	return dirs
}

// localTrace tells somebody at a terminal what takes its time.
func localTrace(notice func(string)) *pdf.Trace {
	return &pdf.Trace{Warming: func() { notice("preparing the PDF engine; this is done once per machine and takes a few seconds") }}
}

// serviceTrace counts and logs for the service.
func serviceTrace(m *metrics.Metrics, log *slog.Logger) *pdf.Trace {
	return &pdf.Trace{
		Done: func(o pdf.Outcome) { m.PDFRead(string(o.Result), string(o.Killed), o.Elapsed) },
		Warmed: func(took time.Duration, err error) {
			if err != nil {
				log.Error("preparing the PDF engine failed; it is tried again with the next PDF", "error", err)
				return
			}
			log.Info("the PDF engine is ready", "took", took.Round(time.Millisecond).String())
		},
	}
}

// warnLimited logs what a child of the service lacks.
func warnLimited(log *slog.Logger) func(string) {
	return func(missing string) {
		log.Warn("this system does not give child processes every protection", "missing", missing)
	}
}

// prepare gets ready, beside the service, what the first PDF would wait for,
// and says what the configuration asks for and this host does not have.
func (c *children) prepare(ctx context.Context, cfg config.Config, log *slog.Logger) {
	c.launcher.Tell()
	if err := c.reader.Warm(ctx); err != nil && ctx.Err() == nil {
		log.Error("PDFs cannot be read", "error", err)
		return
	}
	if !cfg.PDF.OCR || ctx.Err() != nil {
		return
	}
	languages, err := c.reader.Languages(ctx)
	if err != nil && ctx.Err() == nil {
		log.Error("pages that are pictures cannot be read", "error", err)
		return
	}
	log.Info("pages that are pictures are read by OCR", "languages", languages)
}

// watch is the state of the children, for a metrics scrape.
func (c *children) watch() metrics.Children {
	m := metrics.Children{PDFRunning: c.pool.Running(), PDFQueued: c.pool.Queued()}
	m.JQRunning, m.JQQueued = c.jq.Load()
	m.Bytes, m.Waiting = c.launcher.Load()
	return m
}
