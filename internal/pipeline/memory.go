package pipeline

import (
	"container/list"
	"sync"
	"time"

	"sift.build/sift/internal/sift"
)

// copyRef is what must be known of a stored copy to answer from memory.
type copyRef struct {
	class, key, finalURL string
	snapshot             string
	checkedAt            time.Time
	mustRevalidate       bool
	recovered            bool // it is not the page's own, and only its snapshot finds it
}

// answers reports whether this copy may be read under the given key.
func (r copyRef) answers(key string) bool { return r.key == key || r.finalURL == key }

// memory keeps rendered answers, least recently used out first, so that a
// repeated request costs no SQL, no parsing and no JSON encoding. It never
// decides freshness; it says what it holds and how old that is.
type memory struct {
	limit int64

	mu     sync.Mutex
	bytes  int64
	order  *list.List // of *held, most recent in front
	byView map[answerKey]*list.Element
	newest map[copyKey]copyRef
	held   map[copyKey]int // answers held under each key, so that newest ends with the last
}

type copyKey struct{ class, key string }

type answerKey struct {
	class, snapshot string
	view            view
}

type held struct {
	at     answerKey
	ref    copyRef
	answer *sift.Answer
	size   int64
}

func newMemory(limit int64) *memory {
	return &memory{
		limit: limit, order: list.New(), byView: make(map[answerKey]*list.Element),
		newest: make(map[copyKey]copyRef), held: make(map[copyKey]int),
	}
}

// latest gives the answer for the newest copy known under key.
func (m *memory) latest(class, key string, v view) (*sift.Answer, copyRef, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	ref, ok := m.newest[copyKey{class, key}]
	if !ok {
		return nil, copyRef{}, false
	}
	a, ok := m.getLocked(answerKey{class, ref.snapshot, v})
	return a, ref, ok
}

// bySnapshot gives the answer for one copy.
func (m *memory) bySnapshot(class, snapshot string, v view) (*sift.Answer, copyRef, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := answerKey{class, snapshot, v}
	a, ok := m.getLocked(k)
	if !ok {
		return nil, copyRef{}, false
	}
	return a, m.byView[k].Value.(*held).ref, true
}

func (m *memory) getLocked(k answerKey) (*sift.Answer, bool) {
	e, ok := m.byView[k]
	if !ok {
		return nil, false
	}
	m.order.MoveToFront(e)
	return e.Value.(*held).answer, true
}

// put keeps an answer. reusable says whether the copy may answer later
// requests for its key; if not, only its snapshot finds it.
func (m *memory) put(ref copyRef, reusable bool, v view, a *sift.Answer) {
	size := int64(a.Size())
	if size > m.limit/4 || ref.snapshot == "" {
		return // one huge answer must not push all others out
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	k := answerKey{ref.class, ref.snapshot, v}
	if e, ok := m.byView[k]; ok {
		m.dropLocked(e)
	}
	ck := copyKey{ref.class, ref.key}
	m.byView[k] = m.order.PushFront(&held{at: k, ref: ref, answer: a, size: size})
	m.held[ck]++
	m.bytes += size
	if old, ok := m.newest[ck]; reusable && !ref.recovered && (!ok || !ref.checkedAt.Before(old.checkedAt)) {
		m.newest[ck] = ref
	}
	for m.bytes > m.limit {
		m.dropLocked(m.order.Back())
	}
}

func (m *memory) dropLocked(e *list.Element) {
	h := m.order.Remove(e).(*held)
	delete(m.byView, h.at)
	m.bytes -= h.size
	ck := copyKey{h.ref.class, h.ref.key}
	if m.held[ck]--; m.held[ck] == 0 {
		delete(m.held, ck)
		delete(m.newest, ck)
	}
}

// superseded forgets which copy is the newest under key, so that the store is
// asked again.
func (m *memory) superseded(class, key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.newest, copyKey{class, key})
}
