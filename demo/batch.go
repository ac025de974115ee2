package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// job is what GET /v1/batch/{id} answers, as far as the demo looks at it.
type job struct {
	ID      string `json:"job_id"`
	Status  string `json:"status"`
	Total   int    `json:"targets_total"`
	Done    int    `json:"targets_done"`
	Targets []struct {
		Idx    int    `json:"idx"`
		URL    string `json:"url"`
		Status string `json:"status"`
		Error  string `json:"error"`
		Hint   string `json:"hint"`
		Result answer `json:"result"`
	} `json:"targets"`
}

// submitted is what POST /v1/batch answers.
type submitted struct {
	Success bool   `json:"success"`
	ID      string `json:"job_id"`
	Status  string `json:"status"`
	Targets int    `json:"targets"`
	Reused  bool   `json:"reused"`
	Hint    string `json:"hint"`
	Error   string `json:"error"`
}

// batchTargets is a list as a research thread has one: a good page, a PDF, a
// slow page, a duplicate, a private address and a page that is gone.
func (d *demo) batchTargets() []request {
	return []request{
		{URL: d.url + "/go_mem.html"},
		{URL: d.url + paperURL, Pages: "1"},
		{URL: d.url + "/slow.html", MaxChars: 300},
		{URL: d.url + "/go_mem.html"},
		{URL: privateURL},
		{URL: d.url + "/removed.html"},
	}
}

// batchBody is the list as POST /v1/batch takes it.
func (d *demo) batchBody(fresh bool) (string, error) {
	var targets []string
	for _, t := range d.batchTargets() {
		body, err := t.encode()
		if err != nil {
			return "", err
		}
		targets = append(targets, body)
	}
	body := `{"targets":[` + strings.Join(targets, ",") + `]`
	if fresh {
		body += `,"fresh":true`
	}
	return body + "}", nil
}

// call shows a request that a person could type, sends it and decodes what
// comes back.
func (d *demo) call(ctx context.Context, s *step, method, path, body string, shown string, into any) (int, error) {
	command := "curl -s '" + d.sift.URL + path + "'"
	if method != http.MethodGet {
		command += " -X " + method
	}
	if body != "" {
		command = "curl -s " + d.sift.URL + path + " --json " + shown
	}
	s.command(command)
	var a answer
	raw, err := d.do(ctx, method, path, body, &a)
	if err != nil {
		return 0, err
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return 0, fmt.Errorf("the answer (%d) is not JSON: %w: %.200q", a.http, err, raw)
	}
	return a.http, nil
}

func (d *demo) submit(ctx context.Context, s *step, fresh bool) (submitted, error) {
	body, err := d.batchBody(fresh)
	if err != nil {
		return submitted{}, err
	}
	shown := "@list.json"
	if fresh {
		shown = `@list.json  # with "fresh":true in it`
	}
	var sub submitted
	status, err := d.call(ctx, s, http.MethodPost, "/v1/batch", body, shown, &sub)
	if err != nil {
		return sub, err
	}
	s.show("answer", "%d: job %s, %s, %d targets, reused %v%s", status, sub.ID, sub.Status, sub.Targets, sub.Reused, hinted(sub.Hint))
	s.expect(status == http.StatusAccepted && sub.Success && sub.ID != "", "202 and a job id, got %d %s", status, sub.Error)
	s.expect(sub.Targets == len(d.batchTargets()), "%d targets, got %d", len(d.batchTargets()), sub.Targets)
	return sub, nil
}

func hinted(hint string) string {
	if hint == "" {
		return ""
	}
	return ", hint " + hint
}

// cancelBatch submits the list, looks at it while the slow page is on its way,
// cancels it and sends it again.
func (d *demo) cancelBatch(ctx context.Context, s *step) error {
	var list []string
	for _, t := range d.batchTargets() {
		list = append(list, strings.TrimPrefix(t.URL, d.url))
	}
	s.show("list.json", "%s", strings.Join(list, ", "))
	sub, err := d.submit(ctx, s, false)
	if err != nil || !sub.Success {
		return err
	}
	s.expect(!sub.Reused && sub.Status == "queued", "a new job, queued")
	j, err := d.follow(ctx, s, sub.ID, func(j *job) bool { return j.Done >= 2 })
	if err != nil {
		return err
	}
	s.expect(j.Status == "running", "a job that runs, got %s", j.Status)

	var cancelled struct {
		Success bool   `json:"success"`
		Status  string `json:"status"`
	}
	status, err := d.call(ctx, s, http.MethodDelete, "/v1/batch/"+sub.ID, "", "", &cancelled)
	if err != nil {
		return err
	}
	s.show("answer", "%d: %s", status, cancelled.Status)
	s.expect(status == http.StatusOK && cancelled.Success && cancelled.Status == "cancelled", "200 and cancelled, got %d %s", status, cancelled.Status)

	again, err := d.submit(ctx, s, false)
	if err != nil {
		return err
	}
	s.expect(again.Reused && again.ID == sub.ID && again.Status == "cancelled" && again.Hint == "fresh", "the same job, reused, cancelled, with the hint fresh")
	return nil
}

// collectBatch sends the list afresh, follows it to its end and collects every
// result once.
func (d *demo) collectBatch(ctx context.Context, s *step) error {
	sub, err := d.submit(ctx, s, true)
	if err != nil || !sub.Success {
		return err
	}
	s.expect(!sub.Reused, "a new job")
	j, err := d.follow(ctx, s, sub.ID, func(j *job) bool { return j.Status != "queued" && j.Status != "running" })
	if err != nil {
		return err
	}
	for _, t := range j.Targets {
		what := t.Error + hinted(t.Hint)
		if t.Status == "done" {
			what = fmt.Sprintf("%s characters of %s", group(t.Result.Chars), t.Result.ContentType)
			if t.Result.Title != "" {
				what += ", “" + t.Result.Title + "”"
			}
		}
		s.show(fmt.Sprintf("%d %s", t.Idx, t.Status), "%s", what)
	}
	var states []string
	for _, t := range j.Targets {
		states = append(states, t.Status)
	}
	s.expect(j.Status == "partial", "a partial job, got %s", j.Status)
	s.expect(slices.Equal(states, []string{"done", "done", "done", "done", "failed", "failed"}), "four done and two failed, got %v", states)
	if len(j.Targets) == 6 {
		s.expect(strings.Contains(j.Targets[0].Result.Content, "memory model") && j.Targets[0].Result.Content == j.Targets[3].Result.Content, "the same page for the duplicate")
		s.expect(j.Targets[1].Result.Pages.Total > 1 && slices.Equal(j.Targets[1].Result.Pages.Returned, []int{1}), "page 1 of the PDF")
		s.expect(strings.HasPrefix(j.Targets[4].Error, "blocked: private address 10.0.0.7"), "the private address blocked, got %q", j.Targets[4].Error)
		s.expect(strings.HasPrefix(j.Targets[5].Error, "upstream_4xx: "), "the 404 as a failure of its own, got %q", j.Targets[5].Error)
	}
	again, err := d.submit(ctx, s, false)
	if err != nil {
		return err
	}
	s.expect(again.Reused && again.ID == sub.ID && again.Status == "partial", "the newest job, reused: true")

	// The same on the command line: results as JSON lines, an exit code.
	out, code, err := d.run(ctx, s, "batch", "wait", sub.ID)
	if err != nil {
		return err
	}
	s.show("stdout", "%d lines of JSON, exit code %d: some were answered, some were not", strings.Count(out, "\n"), code)
	s.expect(code == 11 && strings.Count(out, "\n") == 6, "6 lines and exit code 11, got %d and %d", strings.Count(out, "\n"), code)
	return nil
}

// follow waits for a job until it is as wanted, and shows how far it comes.
func (d *demo) follow(ctx context.Context, s *step, id string, wanted func(*job) bool) (*job, error) {
	path := "/v1/batch/" + id
	s.command("curl -s '" + d.sift.URL + path + "?wait=30'   # answers when something has changed")
	start := time.Now()
	shown := ""
	for {
		raw, err := d.do(ctx, http.MethodGet, path, "", &answer{})
		if err != nil {
			return nil, err
		}
		j := &job{}
		if err := json.Unmarshal(raw, j); err != nil || j.ID != id {
			return nil, fmt.Errorf("the answer is not this job: %.200q", raw)
		}
		if bar := bar(j.Done, j.Total) + fmt.Sprintf(" %d of %d  %s", j.Done, j.Total, j.Status); bar != shown {
			s.show(short(time.Since(start)), "%s", bar)
			shown = bar
		}
		if wanted(j) {
			return j, nil
		}
		if path == "/v1/batch/"+id {
			path += "?wait=30"
		}
	}
}

func bar(done, total int) string {
	return "[" + strings.Repeat("#", 2*done) + strings.Repeat(".", 2*(total-done)) + "]"
}

// submitOnTheCommandLine is the way of a person: a file with a URL a line.
func (d *demo) submitOnTheCommandLine(ctx context.Context, s *step) error {
	file := filepath.Join(filepath.Dir(d.sift.File), "urls.txt")
	if err := os.WriteFile(file, []byte(d.url+"/asm.html\n# a comment\n"+d.url+"/coffee.html\n"), 0o600); err != nil {
		return err
	}
	out, code, err := d.run(ctx, s, "batch", "submit", "--wait", file)
	if err != nil {
		return err
	}
	s.expect(code == 0, "exit code 0, got %d", code)
	s.expect(strings.Contains(out, `"job_id"`) && strings.Count(out, `"status":"done"`) == 2, "a job id and two results")
	s.quote(out, 1)
	return nil
}
