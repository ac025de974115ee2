package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
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
	job, err := s.batches.Job(r.Context(), x.caller, id, d.into.after, 0)
	if err != nil {
		return err
	}
	frame := frameJob(job)
	w.Header()["Content-Type"] = s.typeJSON
	s.begin(w, x, http.StatusOK, frame.size())
	if r.Method != http.MethodHead {
		s.sendJob(w, r, x, id, frame)
	}
	return nil
}

// sendJob writes the body of a job's answer. Each result is read when the one
// before it has been taken: those of a job are up to 8 MiB, and a caller who
// takes them slowly must hold no more than one of them.
func (s *Server) sendJob(w http.ResponseWriter, r *http.Request, x *exchange, id string, frame jobFrame) {
	from := 0
	for _, gap := range frame.gaps {
		if !s.send(w, x, frame.text[from:gap.at]) {
			return
		}
		from = gap.at
		result, err := s.batches.Result(r.Context(), x.caller, id, gap.idx)
		if err == nil && len(result) != gap.size {
			err = fmt.Errorf("it has %d bytes and not %d", len(result), gap.size)
		}
		if err != nil {
			x.breakOff(r.Context(), gap.idx, err)
			panic(http.ErrAbortHandler) // the head has promised it: the answer must not look whole
		}
		if !s.send(w, x, result) {
			return
		}
	}
	s.send(w, x, frame.text[from:])
}

// breakOff notes for the log why an answer ends at the result of that target.
func (x *exchange) breakOff(ctx context.Context, idx int, err error) {
	f := sift.AsFailure(err)
	why := errors.New(string(f.Code)) // its sentence is for callers
	if f.Code == sift.CodeInternal && f.Cause != nil {
		why = f.Cause // about the store
	}
	x.cause = fmt.Errorf("the answer broke off at the result of targets[%d]: %w", idx, why)
	switch {
	case ctx.Err() != nil: // the caller went away
	case f.Code == sift.CodeInternal:
		x.level = slog.LevelError
	default: // the job has made room for another
		x.level = slog.LevelWarn
	}
}

// await waits for a job to change, without holding any of its results. When
// the service stops it returns at once: what there is then is the answer.
func (s *Server) await(ctx context.Context, caller sift.Caller, id string, wait time.Duration) error {
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.stopping, cancel)()
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

// jobFrame is the JSON of a job without its results.
type jobFrame struct {
	text []byte
	gaps []gap // in their order
}

// gap is where the result of a target goes.
type gap struct{ at, idx, size int }

// size is how long the whole is, with the results.
func (f jobFrame) size() int {
	n := len(f.text)
	for _, g := range f.gaps {
		n += g.size
	}
	return n
}

// frameJob gives the JSON that encoding/json would make of a job with its
// results, but for these, which go into it as they are.
func frameJob(job *sift.Job) jobFrame {
	head := *job
	head.CreatedAt, head.Targets = job.CreatedAt.UTC(), nil
	var b bytes.Buffer
	var gaps []gap
	b.Write(bytes.TrimSuffix(encode(head), []byte("}")))
	b.WriteString(`,"targets":[`)
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
		if t.ResultBytes > 0 {
			b.WriteString(`,"result":`)
			gaps = append(gaps, gap{b.Len(), t.Idx, t.ResultBytes})
		}
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
	return jobFrame{b.Bytes(), gaps}
}
