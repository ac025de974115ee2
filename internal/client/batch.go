package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"sift.build/sift/internal/sift"
)

const (
	// maxJob is how much of a job's state is read: the service keeps 8 MiB of a
	// job, and what of it are URLs and errors may grow with JSON's escapes.
	maxJob = 64 << 20

	// maxSmall is how much of an answer without results is read. A list of a
	// hundred jobs is the longest of them.
	maxSmall = 1 << 20

	// maxJobWait is the longest wait that the service takes.
	maxJobWait = 5 * time.Minute
)

// Submitted is what the server answered to a submit.
type Submitted struct {
	sift.Submitted
	JSON json.RawMessage // as it came
}

// SubmitBatch hands in a batch. The body is what POST /v1/batch takes:
// {"targets":[{"url":…},…],"fresh":…}. Every error is a *sift.Failure; one that
// is about a target names its index.
//
// When it failed on the way (codes unreachable and timeout), the job may have
// been created all the same: the same submit again answers that one.
func (c *Client) SubmitBatch(ctx context.Context, body []byte) (*Submitted, error) {
	got, err := c.call(ctx, request{method: http.MethodPost, path: "/v1/batch", body: body, wait: grace, most: maxSmall})
	if err != nil {
		return nil, err
	}
	var wire struct {
		Success bool `json:"success"`
		sift.Submitted
	}
	if err := c.answer(got, http.StatusAccepted, &wire); err != nil {
		return nil, err
	}
	if !wire.Success || wire.JobID == "" || !known(wire.Status) || wire.Targets < 1 {
		return nil, c.notSift(got)
	}
	if !slices.Contains(sift.Hints(), wire.Hint) {
		wire.Hint = ""
	}
	return &Submitted{Submitted: wire.Submitted, JSON: got.body}, nil
}

// Job is the state of a job as the server answered it.
type Job struct {
	sift.Job
	JSON json.RawMessage // as it came
}

// Job asks for the state of a job, with the targets behind index after (-1: all
// of them). With wait the server answers when the job's status or its
// targets_done has changed, or after that time: at most five minutes, and
// sooner when it stops. Every error is a *sift.Failure.
func (c *Client) Job(ctx context.Context, id string, after int, wait time.Duration) (*Job, error) {
	path, err := jobPath(id)
	if err != nil {
		return nil, err
	}
	query := url.Values{}
	if wait = min(max(wait, 0), maxJobWait); wait > 0 {
		query.Set("wait", strconv.FormatFloat(wait.Seconds(), 'f', -1, 64))
	}
	if after >= 0 {
		query.Set("after", strconv.Itoa(after))
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	got, err := c.call(ctx, request{method: http.MethodGet, path: path, wait: wait + grace, most: maxJob})
	if err != nil {
		return nil, err
	}
	var job sift.Job
	if err := c.answer(got, http.StatusOK, &job); err != nil {
		return nil, err
	}
	if job.ID != id || !whole(job) || job.Targets == nil {
		return nil, c.notSift(got)
	}
	before := max(after, -1)
	for i := range job.Targets {
		t := &job.Targets[i]
		if t.Idx <= before || t.Idx >= job.TargetsTotal || !slices.Contains(sift.TargetStatuses(), t.Status) {
			return nil, c.notSift(got)
		}
		before = t.Idx
		// Whoever reads results counts on one for each target that is done.
		if done := t.Status == sift.TargetDone; done != (len(t.Result) > 0 && t.Result[0] == '{') {
			return nil, c.notSift(got)
		}
		if !slices.Contains(sift.Hints(), t.Hint) {
			t.Hint = ""
		}
	}
	return &Job{Job: job, JSON: got.body}, nil
}

// Jobs is the list of the caller's jobs as the server answered it.
type Jobs struct {
	Jobs []sift.Job      // the newest first, without their targets
	JSON json.RawMessage // as it came
}

// Jobs lists the caller's own jobs. Every error is a *sift.Failure.
func (c *Client) Jobs(ctx context.Context) (*Jobs, error) {
	got, err := c.call(ctx, request{method: http.MethodGet, path: "/v1/batch", wait: grace, most: maxSmall})
	if err != nil {
		return nil, err
	}
	var wire struct {
		Jobs []sift.Job `json:"jobs"`
	}
	if err := c.answer(got, http.StatusOK, &wire); err != nil {
		return nil, err
	}
	for _, job := range wire.Jobs {
		if !whole(job) {
			return nil, c.notSift(got)
		}
	}
	if wire.Jobs == nil {
		return nil, c.notSift(got)
	}
	return &Jobs{Jobs: wire.Jobs, JSON: got.body}, nil
}

// Cancelled is what the server answered to a cancel.
type Cancelled struct {
	Status sift.JobStatus  // cancelled, or what a job that had ended before has ended as
	JSON   json.RawMessage // as it came
}

// CancelBatch cancels a job. Of one that has ended it changes nothing. Every
// error is a *sift.Failure.
func (c *Client) CancelBatch(ctx context.Context, id string) (*Cancelled, error) {
	path, err := jobPath(id)
	if err != nil {
		return nil, err
	}
	got, err := c.call(ctx, request{method: http.MethodDelete, path: path, wait: grace, most: maxSmall})
	if err != nil {
		return nil, err
	}
	var wire struct {
		Success bool           `json:"success"`
		Status  sift.JobStatus `json:"status"`
	}
	if err := c.answer(got, http.StatusOK, &wire); err != nil {
		return nil, err
	}
	if !wire.Success || !known(wire.Status) {
		return nil, c.notSift(got)
	}
	return &Cancelled{Status: wire.Status, JSON: got.body}, nil
}

// jobPath is the path of a job. Whatever is in the id stays inside its segment.
func jobPath(id string) (string, error) {
	switch id {
	case "":
		return "", sift.Fail(sift.CodeInvalid, "a job's id may not be empty")
	case ".", "..": // on the way they would be taken as steps in the path
		return "/v1/batch/" + map[string]string{".": "%2E", "..": "%2E%2E"}[id], nil
	}
	return "/v1/batch/" + url.PathEscape(id), nil
}

// known says whether a job can have that status. Another one is of a newer
// server; whether such a job still goes on cannot be told.
func known(s sift.JobStatus) bool { return slices.Contains(sift.JobStatuses(), s) }

// whole says whether what every job has is there.
func whole(j sift.Job) bool {
	return j.ID != "" && known(j.Status) && j.TargetsDone >= 0 && j.TargetsDone <= j.TargetsTotal && !j.CreatedAt.IsZero()
}
