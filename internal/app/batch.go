package app

import (
	"context"
	"log/slog"
	"time"

	"sift.build/sift/internal/auth"
	"sift.build/sift/internal/batch"
	"sift.build/sift/internal/config"
	"sift.build/sift/internal/metrics"
	"sift.build/sift/internal/sift"
)

// newBatches makes the runner of batch jobs on the parts. It starts nothing.
func newBatches(cfg config.Config, p *parts, people *auth.Callers, m *metrics.Metrics, log *slog.Logger, grace time.Duration) *batch.Runner {
	if cfg.Batch.Workers >= cfg.Gate.Global {
		log.Warn("batches can take every slot for fetches, so that others are told to wait; keep batch.workers under gate.global",
			"workers", cfg.Batch.Workers, "slots", cfg.Gate.Global)
	}
	return batch.New(batch.Config{
		Store: p.store, Fetch: fetchForBatch(p.pipeline.FetchTarget), Check: p.pipeline.Check,
		TargetsPerJob: cfg.Batch.TargetsPerJob, JobsPerCaller: cfg.Batch.JobsPerCaller, JobsTotal: cfg.Batch.JobsTotal, Workers: cfg.Batch.Workers,
		TTL: cfg.Batch.TTL, MaxBytes: int64(cfg.Batch.MaxBytes), Grace: grace, Log: log,
		MaxAge: int(cfg.Cache.TTL / time.Second), Timeout: cfg.Fetch.Timeout.Seconds(), Known: people.Known,
		Trace: &batch.Trace{Job: m.BatchJob, Target: m.BatchTarget, Stored: m.BatchStored},
	})
}

// watchBatches is the state of the batches, for a metrics scrape.
func watchBatches(p *parts, r *batch.Runner) func() metrics.Batch {
	return func() metrics.Batch {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		b := metrics.Batch{InFlight: r.InFlight()}
		if queued, _, err := p.store.LiveJobs(ctx); err == nil {
			b.Queued = queued
		}
		return b
	}
}

// fetchTarget is the one method for a target.
type fetchTarget func(ctx context.Context, caller sift.Caller, t sift.Target) (*sift.Envelope, error)

// fetchForBatch answers a target for a batch: the way it is answered for
// /v1/fetch, but with an answer that may be stored. A content too long for that
// is cut to its first window by asking for a smaller one of the same copy, so
// that everything said about the content (pages, links, where to go on) fits
// what is left of it.
func fetchForBatch(fetch fetchTarget) batch.FetchFunc {
	return func(ctx context.Context, t batch.Target) (batch.Result, error) {
		target := t.Target
		env, err := fetch(ctx, t.Caller, target)
		if err != nil {
			return batch.Result{}, err
		}
		raw := env.AppendJSON(nil)
		if len(raw) <= t.MaxBytes {
			return batch.Result{JSON: raw}, nil
		}
		whole := len(raw)
		for range shrinkTries {
			chars := smallerWindow(env, len(raw), t.MaxBytes-len(notKept))
			if chars < usefulWindow {
				break
			}
			target.MaxChars, target.Snapshot = chars, env.Snapshot
			if env, err = fetch(ctx, t.Caller, target); err != nil {
				return batch.Result{}, err
			}
			if env.Truncated && env.Snapshot == "" {
				env.Answer = env.With(sift.Warning{Code: sift.WarnPartial, Message: notKept})
			}
			if raw = env.AppendJSON(nil); len(raw) <= t.MaxBytes {
				return batch.Result{JSON: raw}, nil
			}
		}
		return batch.Result{}, sift.Fail(sift.CodeTooLong,
			"the answer takes %d bytes, and the job has room for %d more, which is not enough for a useful part of it; ask for it with /v1/fetch", whole, t.MaxBytes)
	}
}

// notKept is the warning about a part that cannot be read on in the copy that it is of.
const notKept = "this is the first part of what a batch can store, and the copy could not be kept: what follows it has to be read from a new one"

// usefulWindow is how much of a content, in characters, is still an answer. A
// job whose room is used up must not look as if its last targets had been read.
const usefulWindow = 2000

// shrinkTries is how often a smaller window is tried. Each is sized by what
// the one before took, so that the first fits unless characters of the page's
// beginning take more bytes than its average.
const shrinkTries = 6

// smallerWindow is how many characters of a content, whose answer takes size
// bytes, are likely to fit into limit.
func smallerWindow(env *sift.Envelope, size, limit int) int {
	// What does not depend on the window: all but the content and its lists.
	fixed := min(size-len(env.Content), 8<<10, limit/2)
	if len(env.Links) > 0 || len(env.Outline) > 0 {
		fixed = min(fixed, 2<<10) // the lists shrink with the content
	}
	share := 0.95 * float64(limit-fixed) / float64(size-fixed)
	return min(int(float64(env.Chars)*share), env.Chars-1)
}
