package sift

import (
	"encoding/json"
	"time"
)

// JobStatus is where a batch job stands.
type JobStatus string

// The states of a job. docs/batch-states.md draws the ways between them.
const (
	JobQueued    JobStatus = "queued"
	JobRunning   JobStatus = "running"
	JobDone      JobStatus = "done"      // every target was answered
	JobPartial   JobStatus = "partial"   // some were, some were not
	JobFailed    JobStatus = "failed"    // none was, or the job could not go on: see Job.Error
	JobCancelled JobStatus = "cancelled" // its caller did not want it any more
)

// JobStatuses lists every state of a job, in the order of the list above.
func JobStatuses() []JobStatus {
	return []JobStatus{JobQueued, JobRunning, JobDone, JobPartial, JobFailed, JobCancelled}
}

// Live says whether the job is still to be worked on. Only live jobs count
// against the caps.
func (s JobStatus) Live() bool { return s == JobQueued || s == JobRunning }

// TargetStatus is where a target of a job stands.
type TargetStatus string

// The states of a target in a job.
const (
	TargetPending TargetStatus = "pending"
	TargetRunning TargetStatus = "running"
	TargetDone    TargetStatus = "done"   // JobTarget.Result holds the answer
	TargetFailed  TargetStatus = "failed" // JobTarget.Error says why
)

// TargetStatuses lists every state of a target, in the order of the list above.
func TargetStatuses() []TargetStatus {
	return []TargetStatus{TargetPending, TargetRunning, TargetDone, TargetFailed}
}

// Job is a batch job as its caller sees it, and on the wire.
type Job struct {
	ID           string      `json:"job_id"`
	Status       JobStatus   `json:"status"`
	TargetsTotal int         `json:"targets_total"`
	TargetsDone  int         `json:"targets_done"` // answered or failed
	CreatedAt    time.Time   `json:"created_at"`   // UTC
	Error        string      `json:"error,omitempty"`
	Targets      []JobTarget `json:"targets,omitzero"` // in order; nil in a list of jobs
}

// JobTarget is one target of a job.
type JobTarget struct {
	Idx    int             `json:"idx"` // from 0, as submitted
	URL    string          `json:"url"` // as its caller wrote it
	Status TargetStatus    `json:"status"`
	Result json.RawMessage `json:"result,omitempty"` // the envelope, once done
	// ResultBytes is the length of a result that has not been read along.
	ResultBytes int    `json:"-"`
	Error       string `json:"error,omitempty"` // code, colon, sentence, once failed
	Hint        Hint   `json:"hint,omitempty"`
}

// Submitted is the answer to a submit, and its wire form but for "success".
type Submitted struct {
	JobID   string    `json:"job_id"`
	Status  JobStatus `json:"status"`
	Targets int       `json:"targets"`
	Reused  bool      `json:"reused"`         // the same list of the same caller was there already
	Hint    Hint      `json:"hint,omitempty"` // HintFresh where the job returned has failed or was cancelled
}
