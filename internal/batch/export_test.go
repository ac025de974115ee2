package batch

import "time"

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
