package batch

import "sift.build/sift/internal/sift"

// Transition is one legal change of a state, by the operations of a Store that
// make it. The state "" is that of what is not there: not yet, or not any more.
type Transition[S ~string] struct {
	From, To S
	By       []string
}

// JobTransitions lists every change of a job's state. A Store makes no other.
func JobTransitions() []Transition[sift.JobStatus] {
	gone := []string{"SweepJobs", "EvictBatchOldest", "CreateJob", "FinishTarget"} // the last two to make room
	return []Transition[sift.JobStatus]{
		{"", sift.JobQueued, []string{"CreateJob"}},
		{sift.JobQueued, sift.JobRunning, []string{"ClaimJob"}},
		{sift.JobQueued, sift.JobCancelled, []string{"CancelJob"}},
		{sift.JobQueued, sift.JobFailed, []string{"MarkInFlightFailed"}},
		{sift.JobRunning, sift.JobDone, []string{"FinishTarget"}},
		{sift.JobRunning, sift.JobPartial, []string{"FinishTarget"}},
		{sift.JobRunning, sift.JobFailed, []string{"FinishTarget", "FailJob", "MarkInFlightFailed"}},
		{sift.JobRunning, sift.JobCancelled, []string{"CancelJob"}},
		{sift.JobDone, "", gone},
		{sift.JobPartial, "", gone},
		{sift.JobFailed, "", gone},
		{sift.JobCancelled, "", gone},
	}
}

// TargetTransitions lists every change of a target's state. A Store makes no
// other. A target goes with its job.
func TargetTransitions() []Transition[sift.TargetStatus] {
	return []Transition[sift.TargetStatus]{
		{"", sift.TargetPending, []string{"CreateJob"}},
		{sift.TargetPending, sift.TargetRunning, []string{"StartTarget"}},
		{sift.TargetRunning, sift.TargetPending, []string{"ReleaseTarget"}},
		{sift.TargetRunning, sift.TargetDone, []string{"FinishTarget"}},
		{sift.TargetRunning, sift.TargetFailed, []string{"FinishTarget", "FailJob", "MarkInFlightFailed"}},
	}
}
