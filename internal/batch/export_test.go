package batch

import (
	"maps"
	"slices"
	"time"
)

// Watched is how many jobs are waited for.
func Watched(r *Runner) int {
	r.hub.mu.Lock()
	defer r.hub.mu.Unlock()
	return len(r.hub.jobs)
}

// SetWall makes wall the computer's clock.
func SetWall(r *Runner, wall func() time.Time) { r.clock.wall = wall }

// SetStart is what the computer's clock showed when r was made.
func SetStart(r *Runner, start time.Time) { r.clock.start = start }

// Lost is how many jobs are shown as failed and not written so.
func Lost(r *Runner) int { return len(r.lost.look()) }

// LostJobs are their ids.
func LostJobs(r *Runner) []string { return slices.Collect(maps.Keys(r.lost.look())) }

// ClaimedJobs is how many jobs are being worked on.
func ClaimedJobs(r *Runner) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.claimed)
}

// Waiting is how many callers have calls that wait.
func Waiting(r *Runner) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.waiting)
}

// Unmarked is whether what a restart cut off is still to be marked.
func Unmarked(r *Runner) bool { return r.unmarked.Load() }
