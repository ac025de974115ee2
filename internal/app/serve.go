package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"sift.build/sift/internal/api"
	"sift.build/sift/internal/auth"
	"sift.build/sift/internal/config"
	"sift.build/sift/internal/dcache"
	"sift.build/sift/internal/metrics"
)

// ServeOptions is what Serve needs beside the configuration.
type ServeOptions struct {
	Version string
	Log     *slog.Logger
	// Reload delivers a new configuration each time one should be taken over.
	// Only its callers are. nil: never.
	Reload <-chan func() (config.Config, error)
	// Listening is called once, with the address, when requests are taken.
	// nil: nobody wants to know.
	Listening func(addr net.Addr)
	// Grace is how long requests in flight may go on after ctx has ended.
	// 0: defaultGrace.
	Grace time.Duration
}

// defaultGrace ends before a supervisor's patience does: docker kills after
// 10 s, systemd and Kubernetes later.
const defaultGrace = 8 * time.Second

// memoryTarget is the heap size at which the garbage collector works harder.
// Eight pages of 10 MB at once must leave the process under 350 MB; without a
// target the collector lets the heap double before it looks.
const memoryTarget = 300 << 20

// Serve runs the service until ctx ends, then lets requests in flight finish
// within a bound. It returns nil after a stop that was asked for, and leaves
// nothing running.
func Serve(ctx context.Context, cfg config.Config, opts ServeOptions) (err error) {
	log := opts.Log
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryTarget)
	}
	people, err := auth.New(callers(cfg))
	if err != nil {
		return fmt.Errorf("callers: %w", err)
	}

	lock, err := dcache.LockServer(cfg.DataDir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	m := metrics.New(opts.Version)
	stored := storeConfig(cfg)
	stored.Trace = storeTrace(m, log)
	store, err := dcache.Open(ctx, stored)
	if err != nil {
		return err
	}
	m.WatchCache(func() metrics.Cache { return storeStats(store) })
	children := newChildren(cfg, serviceTrace(m, log), warnLimited(log))
	m.WatchChildren(children.watch)
	models, err := newModels(cfg, store, m, log)
	if err != nil {
		return errors.Join(err, store.Close())
	}
	p, err := build(cfg, store, m, log, answersMemory, children, models)
	if err != nil {
		return errors.Join(err, store.Close())
	}
	defer func() { err = errors.Join(err, p.close()) }()
	m.WatchGate(func() metrics.Gate {
		bytes, waiting := p.parse.Load()
		return metrics.Gate{Slots: cfg.Gate.Global, SlotsInUse: p.gate.InUse(), ParseBytesInUse: bytes, ParseWaiting: waiting}
	})

	grace := cmp.Or(opts.Grace, defaultGrace)
	batches := newBatches(cfg, p, people, m, log, grace)
	m.WatchBatch(watchBatches(p, batches))
	// Before anybody can ask: what was live when the last server ended is not.
	if err := batches.Recover(ctx); err != nil {
		return fmt.Errorf("mark the batch jobs that were running: %w", err)
	}

	var stopping atomic.Bool
	edge := api.Config{
		Fetcher: p.pipeline, Batches: batches, Auth: people, Log: log, Version: opts.Version, Trace: httpTrace(m),
		Ready: func() error {
			if stopping.Load() {
				return errors.New("stopping")
			}
			return nil
		},
	}
	listener, err := listen(ctx, "listen", cfg.Listen, people)
	if err != nil {
		return err
	}
	var metricsListener net.Listener
	metricsAddress := ""
	if cfg.Metrics.Listen == "" {
		edge.Metrics = m.Handler()
	} else if metricsListener, err = listen(ctx, "metrics.listen", cfg.Metrics.Listen, people); err != nil {
		return errors.Join(err, listener.Close())
	} else {
		metricsAddress = metricsListener.Addr().String()
	}

	var flight inFlight
	service := api.New(edge)
	srv := api.NewHTTPServer(flight.count(service.Handler()), log)
	// Requests in flight outlive the stop signal by the grace, no longer.
	requests, endRequests := context.WithCancel(context.WithoutCancel(ctx))
	defer endRequests()
	srv.BaseContext = func(net.Listener) context.Context { return requests }
	var fresh freshConns
	srv.ConnState = fresh.watch
	srv.RegisterOnShutdown(fresh.close)

	log.Info("listening", "address", listener.Addr().String(), "version", opts.Version, "data_dir", cfg.DataDir,
		"callers", len(cfg.Callers), "metrics", metricsAddress)
	for _, e := range p.guard.Exceptions() {
		log.Warn("the guard has an exception", "allow", e)
	}
	if opts.Listening != nil {
		opts.Listening(listener.Addr())
	}

	running, stop := context.WithCancel(ctx)
	defer stop()
	var wg sync.WaitGroup
	failed := make(chan error, 3)
	serve := func(s *http.Server, l net.Listener) {
		wg.Go(func() {
			if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
				failed <- err
			}
		})
	}
	serve(srv, listener)
	var metricsSrv *http.Server
	if metricsListener != nil {
		mux := http.NewServeMux()
		mux.Handle("GET /metrics", m.Handler())
		metricsSrv = api.NewHTTPServer(mux, log)
		serve(metricsSrv, metricsListener)
	}
	storeCtx, stopStore := context.WithCancel(context.WithoutCancel(ctx))
	defer stopStore()
	var storeWG sync.WaitGroup
	storeWG.Go(func() {
		if err := store.Run(storeCtx); err != nil && !errors.Is(err, context.Canceled) {
			log.Error("keeping the cache in order failed", "error", err)
		}
	})
	wg.Go(func() {
		if err := batches.Run(running); err != nil && !errors.Is(err, context.Canceled) {
			failed <- fmt.Errorf("run batches: %w", err)
		}
	})
	wg.Go(func() { reload(running, people, opts.Reload, log) })
	wg.Go(func() { children.prepare(running, cfg, log) })

	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	stopping.Store(true)
	service.StopWaiting()
	stop()
	told := make(chan struct{})
	srv.RegisterOnShutdown(func() { // who reads it may rely on it: the listener is closed
		log.Info("stopping", "grace", grace.String())
		close(told)
	})
	graceful, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if e := srv.Shutdown(graceful); e != nil {
		log.Warn("requests did not end in time and are cut off")
		endRequests()
		err = errors.Join(err, ignoreDeadline(srv.Close()))
	}
	<-told
	flight.end()
	if metricsSrv != nil {
		err = errors.Join(err, ignoreDeadline(metricsSrv.Close()))
	}
	wg.Wait()
	// After the last request: its use times are written too.
	stopStore()
	storeWG.Wait()
	log.Info("stopped")
	return err
}

// ignoreDeadline drops what only says that time was up.
func ignoreDeadline(err error) error {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// listen opens a listener. Without callers it must turn out to be on the
// loopback: the configuration was judged by what it says, and a name such as
// localhost means what the system's tables make of it.
func listen(ctx context.Context, key, address string, people *auth.Callers) (net.Listener, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", address)
	if err != nil {
		hint := ""
		if errors.Is(err, syscall.EADDRINUSE) {
			hint = "; another program, perhaps another sift, listens there"
		}
		if op, ok := errors.AsType[*net.OpError](err); ok {
			err = op.Err // it names the address once more
		}
		return nil, fmt.Errorf("cannot listen on %s (key %s): %w%s", address, key, err, hint)
	}
	if !people.Configured() && !onLoopback(l.Addr()) {
		err := fmt.Errorf("%s (key %s) is %s here, which other machines can reach, and there is no [[caller]] who would need a key; "+
			"listen on 127.0.0.1, or add a caller", address, key, l.Addr())
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

func onLoopback(a net.Addr) bool {
	tcp, ok := a.(*net.TCPAddr)
	return ok && tcp.AddrPort().Addr().Unmap().IsLoopback()
}

// reload takes over the callers of each new configuration. Work in flight
// keeps the caller it started with.
func reload(ctx context.Context, people *auth.Callers, source <-chan func() (config.Config, error), log *slog.Logger) {
	for {
		select {
		case <-ctx.Done():
			return
		case load := <-source:
			cfg, err := load()
			switch {
			case err != nil:
			case len(cfg.Callers) == 0 && people.Configured():
				// Without callers everybody on this machine would be let in.
				err = errors.New("the new configuration has no callers; restart sift to open it to every program on this machine")
			case len(cfg.Callers) > 0 && !people.Configured():
				err = errors.New("the running service has no callers; restart sift to close it to those without a key")
			default:
				err = people.Replace(callers(cfg))
			}
			if err != nil {
				log.Error("callers were not re-read; the old ones stay", "error", err)
				continue
			}
			log.Info("callers re-read", "callers", len(cfg.Callers))
		}
	}
}
