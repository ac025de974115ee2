package batch

import "sync"

// hub tells those who wait for a job that it has changed. Each waiter has a
// place on a channel of its job, and no goroutine; a job nobody waits for takes
// nothing.
type hub struct {
	mu   sync.Mutex
	jobs map[string]*watched
}

type watched struct {
	changed chan struct{} // closed at the next change
	waiters int
}

// watch gives a channel that is closed when the job changes after this call.
// leave is called by whoever does not wait any more, also after a change.
func (h *hub) watch(id string) (changed <-chan struct{}, leave func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	w := h.jobs[id]
	if w == nil {
		w = &watched{changed: make(chan struct{})}
		h.jobs[id] = w
	}
	w.waiters++
	return w.changed, func() { h.leave(id, w) }
}

func (h *hub) leave(id string, w *watched) {
	h.mu.Lock()
	defer h.mu.Unlock()
	w.waiters--
	// After a change another may stand under the same id.
	if w.waiters == 0 && h.jobs[id] == w {
		delete(h.jobs, id)
	}
}

// change wakes everybody who waits for the job.
func (h *hub) change(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if w := h.jobs[id]; w != nil {
		close(w.changed)
		delete(h.jobs, id)
	}
}
