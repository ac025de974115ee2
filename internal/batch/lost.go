package batch

import (
	"maps"
	"sync"
)

// lost holds the jobs that have failed because the store could not be written
// to, as long as that cannot be written either. They are shown as failed
// meanwhile. A job that the store shows as ended is what the store says.
//
// Who reads a job looks here first and at the store then: what was taken out in
// between stands in the store.
type lost struct {
	mu   sync.RWMutex
	jobs failingJobs // replaced, never changed
}

type failingJobs map[string]failing

// failing is why a job has failed.
type failing struct {
	reason string
	flying bool // a target is running, and fails with the job
	full   bool // it cannot be written because the disk is full
}

func (l *lost) look() failingJobs {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.jobs
}

// hold is look, but no job is added until release is called.
func (l *lost) hold() (jobs failingJobs, release func()) {
	l.mu.RLock()
	return l.jobs, l.mu.RUnlock
}

func (l *lost) add(id string, f failing) {
	l.mu.Lock()
	defer l.mu.Unlock()
	jobs := maps.Clone(l.jobs)
	jobs[id] = f
	l.jobs = jobs
}

func (l *lost) remove(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	jobs := maps.Clone(l.jobs)
	delete(jobs, id)
	l.jobs = jobs
}
