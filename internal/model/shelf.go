package model

import (
	"context"
	"time"
)

// shelf is where what models say to one caller is kept: what of the cache is
// open to its class, and nothing where there is no cache or the content is a
// secret.
type shelf struct {
	cache  Cache // nil: nothing is kept
	class  string
	failed func(kind string, err error) // may be nil
}

func (m *Models) shelf(a Ask) shelf {
	if a.Secret {
		return shelf{}
	}
	return shelf{cache: m.cache, class: a.Class, failed: m.trace.CacheFailed}
}

// values gives those of the keys that are there. A cache that fails has none.
func (s shelf) values(ctx context.Context, kind string, keys []string) map[string][]byte {
	if s.cache == nil {
		return nil
	}
	kept, err := s.cache.Values(ctx, kind, s.class, keys)
	if err != nil {
		s.fails(kind, err)
		return nil
	}
	return kept
}

// keepTime bounds how long writing to the cache may hold up an answer.
const keepTime = 500 * time.Millisecond

// keep puts into the cache what has been paid for, also when the time for models
// is over.
func (s shelf) keep(ctx context.Context, kind string, values map[string][]byte) {
	if s.cache == nil || len(values) == 0 {
		return
	}
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), keepTime)
	defer done()
	if err := s.cache.PutValues(ctx, kind, s.class, values); err != nil {
		s.fails(kind, err)
	}
}

func (s shelf) fails(kind string, err error) {
	if s.failed != nil {
		s.failed(kind, err)
	}
}
