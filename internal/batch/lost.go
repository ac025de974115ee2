package batch

import (
	"maps"
	"sync"

	"sift.build/sift/internal/sift"
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

// overlay is what has come about and is not in the store yet.
type overlay struct {
	jobs failingJobs
	all  bool // whatever is live in the store was cut off by a restart: see Runner.Recover
}

// of is why a job that is live in the store has failed.
func (o overlay) of(id string) (failing, bool) {
	if o.all {
		return failing{reason: reasonRestart}, true
	}
	f, ok := o.jobs[id]
	return f, ok
}

// showJob makes a job that the store gave look as it will when its failure has
// been written.
func (o overlay) showJob(j *sift.Job) {
	f, ok := o.of(j.ID)
	if !ok || !j.Status.Live() {
		return
	}
	j.Status, j.Error = sift.JobFailed, f.reason
	if f.flying {
		j.TargetsDone++
	}
	for i := range j.Targets {
		if t := &j.Targets[i]; t.Status == sift.TargetRunning {
			if o.all { // who reads only what is behind it sees one done less
				j.TargetsDone++
			}
			t.Status, t.Error, t.Hint = sift.TargetFailed, f.reason, sift.HintFresh
		}
	}
}
