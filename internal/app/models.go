package app

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"sift.build/sift/internal/config"
	"sift.build/sift/internal/dcache"
	"sift.build/sift/internal/metrics"
	"sift.build/sift/internal/model"
)

// newModels makes what asks the configured models; nil: there are none. store and
// m may be nil.
func newModels(cfg config.Config, store *dcache.DB, m *metrics.Metrics, log *slog.Logger) (*model.Models, error) {
	d := cfg.Digest
	if d.EmbeddingsURL == "" && d.ChatURL == "" {
		return nil, nil
	}
	key, err := modelKey(d)
	if err != nil {
		return nil, err
	}
	mc := model.Config{
		EmbeddingsURL: d.EmbeddingsURL, EmbeddingsModel: d.EmbeddingsModel, ChatURL: d.ChatURL, ChatModel: d.ChatModel,
		Key: key, UserAgent: cfg.Fetch.UserAgent, Trace: modelTrace(m, log),
	}
	if store != nil {
		mc.Cache = modelCache{store}
	}
	models, err := model.New(mc)
	if err != nil {
		return nil, fmt.Errorf("digest: %w", err)
	}
	return models, nil
}

// CheckModels finds what is wrong with the files that a configuration names for
// the models.
func CheckModels(cfg config.Config) error {
	m, err := newModels(cfg, nil, nil, slog.New(slog.DiscardHandler))
	if m != nil {
		m.Close()
	}
	return err
}

// maxKeyFile is more than any key has.
const maxKeyFile = 16 << 10

func modelKey(d config.Digest) (model.Key, error) {
	if d.Key != "" {
		return model.NewKey(string(d.Key)), nil
	}
	if d.KeyFile == "" {
		return model.Key{}, nil
	}
	f, err := os.Open(d.KeyFile)
	if err != nil {
		return model.Key{}, fmt.Errorf("digest.key_file: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	b, err := io.ReadAll(io.LimitReader(f, maxKeyFile+1))
	switch {
	case err != nil:
		return model.Key{}, fmt.Errorf("digest.key_file: %w", err)
	case len(b) > maxKeyFile:
		return model.Key{}, fmt.Errorf("digest.key_file: %s is longer than a key is", d.KeyFile)
	case strings.TrimSpace(string(b)) == "":
		return model.Key{}, fmt.Errorf("digest.key_file: %s is empty; write the key into it, or leave digest.key_file out", d.KeyFile)
	}
	return model.NewKey(string(b)), nil
}

// modelCache keeps what models say in the store. The kinds are the names of its
// caches.
type modelCache struct{ db *dcache.DB }

func (c modelCache) Values(ctx context.Context, kind, class string, keys []string) (map[string][]byte, error) {
	return c.db.Values(ctx, dcache.Cache(kind), class, keys)
}

func (c modelCache) PutValues(ctx context.Context, kind, class string, values map[string][]byte) error {
	return c.db.PutValues(ctx, dcache.Cache(kind), class, values)
}

func modelTrace(m *metrics.Metrics, log *slog.Logger) *model.Trace {
	return &model.Trace{
		Asked: func(endpoint string, outcome model.Outcome, took time.Duration, err error) {
			if m != nil {
				m.ModelAsked(endpoint, string(outcome), took)
			}
			if err != nil {
				log.Warn("asking a model failed; the question was answered without it", "endpoint", endpoint, "outcome", string(outcome), "error", err)
			}
		},
		CacheFailed: func(kind string, err error) {
			log.Warn("the cache of what models say failed", "cache", kind, "error", err)
		},
	}
}
