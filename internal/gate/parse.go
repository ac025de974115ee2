package gate

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
)

// ParseConfig bounds what parsers hold at once.
type ParseConfig struct {
	Memory int64 // bytes; zero admits one page at a time
	Trace  *ParseTrace
}

// ParseTrace lets a metrics package watch. Each hook may be nil.
type ParseTrace struct {
	InUse   func(bytes int64) // after every change
	Waiting func(pages int)   // after every change
}

// Parse lets pages into the parser by weight: small ones side by side, large
// ones in turns, first come first served. Make one with NewParse.
type Parse struct {
	memory int64
	trace  ParseTrace
	sem    *semaphore.Weighted

	mu      sync.Mutex
	inUse   int64
	waiting int
}

// NewParse makes a parse gate.
func NewParse(cfg ParseConfig) *Parse {
	p := &Parse{memory: max(cfg.Memory, 1)}
	if cfg.Trace != nil {
		p.trace = *cfg.Trace
	}
	p.sem = semaphore.NewWeighted(p.memory)
	return p
}

// Enter waits until weight bytes fit beside what is being parsed, and returns
// the function that leaves again. A page heavier than the whole gate waits
// until it is alone. The error is ctx's.
func (p *Parse) Enter(ctx context.Context, weight int64) (leave func(), err error) {
	weight = min(max(weight, 1), p.memory)
	if !p.sem.TryAcquire(weight) {
		p.count(0, 1)
		err := p.sem.Acquire(ctx, weight)
		p.count(0, -1)
		if err != nil {
			return nil, err
		}
	}
	p.count(weight, 0)
	var once sync.Once
	return func() {
		once.Do(func() {
			p.count(-weight, 0)
			p.sem.Release(weight)
		})
	}, nil
}

func (p *Parse) count(weight int64, waiting int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.inUse += weight
	p.waiting += waiting
	if p.trace.InUse != nil && weight != 0 {
		p.trace.InUse(p.inUse)
	}
	if p.trace.Waiting != nil && waiting != 0 {
		p.trace.Waiting(p.waiting)
	}
}
