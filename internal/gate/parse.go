package gate

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
)

// Parse lets pages into the parser by weight: small ones side by side, large
// ones in turns, first come first served. Make one with NewParse.
type Parse struct {
	memory int64
	sem    *semaphore.Weighted

	mu      sync.Mutex
	inUse   int64
	waiting int
}

// NewParse makes a parse gate for so many bytes; with none it admits one page
// at a time.
func NewParse(memory int64) *Parse {
	memory = max(memory, 1)
	return &Parse{memory: memory, sem: semaphore.NewWeighted(memory)}
}

// Load is what the parsers may hold at the moment, in bytes, and how many
// pages wait for their turn.
func (p *Parse) Load() (bytes int64, waiting int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.inUse, p.waiting
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
}
