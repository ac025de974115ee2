package app

import (
	"context"
	"log/slog"
	"time"

	"sift.build/sift/internal/api"
	"sift.build/sift/internal/dcache"
	"sift.build/sift/internal/gate"
	"sift.build/sift/internal/metrics"
	"sift.build/sift/internal/pipeline"
	"sift.build/sift/internal/sift"
)

// What follows hangs the metrics into the hooks of the other packages. Without
// metrics the hooks stay empty.

func outcome(err error) string {
	if err == nil {
		return metrics.Success
	}
	return string(sift.AsFailure(err).Code)
}

func refused(m *metrics.Metrics) func(gate.Refusal) {
	if m == nil {
		return nil
	}
	return func(r gate.Refusal) { m.GateRefused(string(r)) }
}

func pipelineTrace(m *metrics.Metrics) *pipeline.Trace {
	if m == nil {
		return nil
	}
	ms := func(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
	return &pipeline.Trace{
		Done: func(o pipeline.Outcome) {
			m.Fetched(metrics.Fetch{
				Outcome: outcome(o.Err), Total: o.Total, Bytes: o.Bytes,
				Queue: ms(o.Timing.QueueMS), Fetch: ms(o.Timing.FetchMS), Render: ms(o.Timing.RenderMS),
			})
		},
		Download:   func(err error) { m.Downloaded(outcome(err)) },
		Lookup:     func(r pipeline.CacheResult) { m.CacheLookup(string(r)) },
		StoreError: m.CacheStoreFailed,
	}
}

func storeTrace(m *metrics.Metrics, log *slog.Logger) *dcache.Trace {
	return &dcache.Trace{
		OnEvict: func(n int, _ int64) { m.CacheEvicted(n) },
		OnError: func(err error) { log.Warn("keeping the cache in order failed; it is tried again", "error", err) },
	}
}

func httpTrace(m *metrics.Metrics) api.Trace {
	return api.Trace{Answered: func(route string, status int, _ time.Duration) { m.Requested(route, status) }}
}

// storeStats asks the store for its size, for a metrics scrape.
func storeStats(store *dcache.DB) metrics.Cache {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	var held [4]dcache.Stats
	for i, cache := range []dcache.Cache{dcache.CacheContent, dcache.CacheRecovered, dcache.CacheDigest, dcache.CacheEmbed} {
		s, err := store.StatsOf(ctx, cache)
		if err != nil {
			return metrics.Cache{}
		}
		held[i] = s
	}
	return metrics.Cache{
		Entries: held[0].Entries, Bytes: held[0].Bytes, RecoveredBytes: held[1].Bytes, DigestBytes: held[2].Bytes, EmbedBytes: held[3].Bytes,
	}
}
