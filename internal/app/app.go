// Package app builds sift's parts from a configuration and runs them. It is
// the only place that knows them all.
package app

import (
	"context"
	"errors"
	"io"
	"log/slog"

	"sift.build/sift/internal/auth"
	"sift.build/sift/internal/config"
	"sift.build/sift/internal/dcache"
	"sift.build/sift/internal/fetch"
	"sift.build/sift/internal/gate"
	"sift.build/sift/internal/guard"
	"sift.build/sift/internal/metrics"
	"sift.build/sift/internal/model"
	"sift.build/sift/internal/pipeline"
	"sift.build/sift/internal/sift"
)

// answersMemory bounds the rendered answers that a server keeps in memory.
// It is part of the 60 MB that an idle service may hold.
const answersMemory = 16 << 20

// NewGuard makes the guard of a configuration.
func NewGuard(c config.Guard) (*guard.Guard, error) {
	return guard.New(guard.Config{Ports: c.Ports, Allow: c.Allow, NAT64: c.NAT64, Resolver: c.Resolver})
}

// NewLogger makes the logger of a configuration.
func NewLogger(c config.Log, w io.Writer) *slog.Logger {
	var level slog.Level
	// Load has checked the word; a Config made by hand with another logs at info.
	_ = level.UnmarshalText([]byte(c.Level))
	opts := &slog.HandlerOptions{Level: level}
	if c.Format == "json" {
		return slog.New(slog.NewJSONHandler(w, opts))
	}
	return slog.New(slog.NewTextHandler(w, opts))
}

// storeConfig is the part of a configuration that the store goes by.
func storeConfig(cfg config.Config) dcache.Config {
	return dcache.Config{
		Dir: cfg.DataDir, MaxBytes: int64(cfg.Cache.MaxBytes), RecoveredBytes: int64(cfg.Recover.MaxBytes),
		DigestBytes: int64(cfg.Cache.DigestBytes), EmbedBytes: int64(cfg.Cache.EmbedBytes),
	}
}

// parts is what answers targets, with what must be closed afterwards.
type parts struct {
	guard    *guard.Guard
	store    *dcache.DB // may be nil
	client   *fetch.Client
	gate     *gate.Gate
	parse    *gate.Parse
	children children
	models   *model.Models // may be nil
	pipeline *pipeline.Pipeline
}

// build joins the parts on an open store. m may be nil.
func build(cfg config.Config, store *dcache.DB, m *metrics.Metrics, log *slog.Logger, memory int64, c children, models *model.Models) (*parts, error) {
	g, err := NewGuard(cfg.Guard)
	if err != nil {
		return nil, err
	}
	client := fetch.New(fetch.Config{
		Guard: g, Timeout: cfg.Fetch.Timeout, MaxBytes: int64(cfg.Fetch.MaxBytes), MaxPDFBytes: int64(cfg.Fetch.MaxPDFBytes),
		MaxRedirects: cfg.Fetch.MaxRedirects, UserAgent: cfg.Fetch.UserAgent, Robots: cfg.Fetch.Robots,
	})
	p := &parts{
		guard: g, store: store, client: client,
		gate: gate.New(gate.Config{
			Global: cfg.Gate.Global, PerHost: cfg.Gate.PerHost, PerCaller: cfg.Gate.PerCaller, Refused: refused(m),
		}),
		parse:    gate.NewParse(int64(cfg.Limits.ParseMemory)),
		children: c,
	}
	p.models = models
	p.pipeline, err = pipeline.New(pipeline.Config{
		Guard: g,
		Gate:  p.gate,
		Parse: p.parse,
		Fetch: client, Store: store,
		PDF: c.reader, PDFPool: c.pool, JQ: c.jq, Models: p.models,
		TTL: cfg.Cache.TTL, Timeout: cfg.Fetch.Timeout, Memory: memory, Log: log, Trace: pipelineTrace(m),
		ArchiveURL: cfg.Recover.Archive, ArchiveRestricted: cfg.Recover.Restricted,
	})
	if err != nil {
		client.Close()
		return nil, err
	}
	return p, nil
}

func (p *parts) close() error {
	p.pipeline.Close()
	p.children.reader.Close()
	p.client.Close()
	if p.models != nil {
		p.models.Close()
	}
	if p.store == nil {
		return nil
	}
	return p.store.Close()
}

// Local answers targets in this process, with no server: what the command
// line uses.
type Local struct {
	parts   *parts
	stopRun context.CancelFunc
	ran     chan struct{}
}

// OpenLocal builds the parts for one caller. A store that cannot be used is
// no reason to fail: notice is told why, and nothing is cached.
func OpenLocal(ctx context.Context, cfg config.Config, log *slog.Logger, notice func(string)) (*Local, error) {
	store, err := dcache.Open(ctx, storeConfig(cfg))
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		notice("going on without a cache: " + err.Error())
		store = nil
	}
	models, err := newModels(cfg, store, nil, log)
	if err != nil {
		notice("going on without models: " + err.Error())
	}
	p, err := build(cfg, store, nil, log, 0, newLocalChildren(cfg, localTrace(notice)), models)
	if err != nil {
		if store != nil {
			err = errors.Join(err, store.Close())
		}
		return nil, err
	}
	l := &Local{parts: p, stopRun: func() {}, ran: make(chan struct{})}
	if store == nil {
		close(l.ran)
		return l, nil
	}
	runCtx, stop := context.WithCancel(context.WithoutCancel(ctx))
	l.stopRun = stop
	go func() {
		defer close(l.ran)
		if err := store.Run(runCtx); err != nil && !errors.Is(err, context.Canceled) {
			log.Warn("keeping the cache in order failed", "error", err)
		}
	}()
	return l, nil
}

// FetchTarget answers one target for the local caller.
func (l *Local) FetchTarget(ctx context.Context, target sift.Target) (*sift.Envelope, error) {
	return l.parts.pipeline.FetchTarget(ctx, auth.Local(), target)
}

// Close ends what OpenLocal started and closes the store.
func (l *Local) Close() error {
	l.parts.pipeline.Close()
	l.stopRun()
	<-l.ran
	return l.parts.close()
}

// callers turns the configured callers into what auth takes.
func callers(cfg config.Config) []auth.Entry {
	entries := make([]auth.Entry, 0, len(cfg.Callers))
	for _, c := range cfg.Callers {
		entries = append(entries, auth.Entry{Name: c.Name, KeySHA256: c.KeySHA256, Class: c.Class, Restricted: c.Restricted})
	}
	return entries
}
