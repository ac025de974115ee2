package api

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"time"

	"sift.build/sift/internal/sift"
)

// maxJobID is how much of an id is passed on, in bytes. No id is as long as
// that, so that a cut one is as unknown as the whole.
const maxJobID = 128

func (s *Server) postBatch(w http.ResponseWriter, r *http.Request, x *exchange) error {
	buf := s.buffer()
	defer s.release(buf)
	if err := s.readPost(w, r, buf, maxBatchBody); err != nil {
		return err
	}
	list, err := decodeBatch(s.lists, *buf)
	if err != nil {
		return err
	}
	got, err := s.batches.Submit(r.Context(), x.caller, list.targets, list.fresh)
	if err != nil {
		return err
	}
	s.writeJSON(w, x, http.StatusAccepted, struct {
		Success bool `json:"success"`
		sift.Submitted
	}{true, got})
	return nil
}

func (s *Server) getBatches(w http.ResponseWriter, r *http.Request, x *exchange) error {
	if err := noFields(r); err != nil {
		return err
	}
	jobs, err := s.batches.Jobs(r.Context(), x.caller)
	if err != nil {
		return err
	}
	list := make([]sift.Job, len(jobs)) // an empty list is a list too
	for i, job := range jobs {
		job.CreatedAt, job.Targets = job.CreatedAt.UTC(), nil
		list[i] = job
	}
	s.writeJSON(w, x, http.StatusOK, struct {
		Jobs []sift.Job `json:"jobs"`
	}{list})
	return nil
}

func (s *Server) getJob(w http.ResponseWriter, r *http.Request, x *exchange) error {
	if err := noBody(r); err != nil {
		return err
	}
	d := draft[jobQuery]{table: s.asks, into: jobQuery{after: allTargets}}
	if _, err := readQuery(&d, r.URL.RawQuery); err != nil {
		return err
	}
	id := jobID(r)
	if d.into.wait > 0 {
		if err := s.await(r.Context(), x.caller, id, d.into.wait); err != nil {
			return err
		}
	}
	// What is large is read once there is a place for it.
	giveBack, err := s.held.take(r.Context(), x.caller)
	if err != nil {
		return err
	}
	defer giveBack()
	job, err := s.batches.Job(r.Context(), x.caller, id, d.into.after, 0)
	if err != nil {
		return err
	}
	w.Header()["Content-Type"] = s.typeJSON
	s.write(w, x, http.StatusOK, encodeJob(job)...)
	return nil
}

// await waits for a job to change, without holding any of its results. When
// the service stops it returns at once: what there is then is the answer.
func (s *Server) await(ctx context.Context, caller sift.Caller, id string, wait time.Duration) error {
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-s.stopping:
			cancel()
		case <-waiting.Done():
		}
	}()
	_, err := s.batches.Job(waiting, caller, id, noTargets, wait)
	if waiting.Err() != nil && ctx.Err() == nil {
		return nil
	}
	return err
}

func (s *Server) deleteJob(w http.ResponseWriter, r *http.Request, x *exchange) error {
	if err := noFields(r); err != nil {
		return err
	}
	status, err := s.batches.Cancel(r.Context(), x.caller, jobID(r))
	if err != nil {
		return err
	}
	s.writeJSON(w, x, http.StatusOK, struct {
		Success bool           `json:"success"`
		Status  sift.JobStatus `json:"status"`
	}{true, status})
	return nil
}

// noFields refuses what a request without fields has no use for.
func noFields(r *http.Request) error {
	if r.URL.RawQuery != "" || r.ContentLength != 0 {
		return sift.Fail(sift.CodeInvalid, "a %s of this path takes no fields; query and body must be empty", r.Method)
	}
	return nil
}

// jobID is the id in the path. One that cannot be an id is unknown like any
// other; what a store could stumble over in it is taken out, and by that it
// becomes no other's: no id has a question mark.
func jobID(r *http.Request) string {
	id := r.PathValue("id")
	if len(id) > maxJobID {
		id = id[:maxJobID]
	}
	return strings.Map(func(c rune) rune {
		if c <= ' ' || c > '~' {
			return '?'
		}
		return c
	}, id)
}

// encodeJob gives the JSON of a job, which is that of encoding/json, in pieces.
// The results, which are nearly all of it, are in it as they are.
func encodeJob(job *sift.Job) [][]byte {
	head := *job
	head.CreatedAt, head.Targets = job.CreatedAt.UTC(), nil
	var b bytes.Buffer // what stands between the results
	b.Write(bytes.TrimSuffix(encode(head), []byte("}")))
	b.WriteString(`,"targets":[`)
	cuts := make([]int, 0, len(job.Targets)) // where in b each result goes
	for i, t := range job.Targets {
		if i > 0 {
			b.WriteByte(',')
		}
		// In front of a target's result stands this of it, and behind it that.
		b.Write(bytes.TrimSuffix(encode(struct {
			Idx    int               `json:"idx"`
			URL    string            `json:"url"`
			Status sift.TargetStatus `json:"status"`
		}{t.Idx, t.URL, t.Status}), []byte("}")))
		if len(t.Result) > 0 {
			b.WriteString(`,"result":`)
		}
		cuts = append(cuts, b.Len())
		tail := encode(struct {
			Error string    `json:"error,omitempty"`
			Hint  sift.Hint `json:"hint,omitempty"`
		}{t.Error, t.Hint})
		if len(tail) > len(`{}`) {
			tail[0] = ','
		} else {
			tail = tail[1:]
		}
		b.Write(tail)
	}
	b.WriteString(`]}`)
	pieces, from := make([][]byte, 0, 2*len(cuts)+1), 0
	for i, t := range job.Targets {
		if len(t.Result) == 0 {
			continue
		}
		pieces = append(pieces, b.Bytes()[from:cuts[i]], t.Result)
		from = cuts[i]
	}
	return append(pieces, b.Bytes()[from:])
}
