package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// What Linux tells about processes. There is no such thing elsewhere: what
// needs it is then left out, and the table says so.

func hasProc() bool {
	_, err := os.Stat("/proc/self/status")
	return err == nil
}

// residentOf is how much memory of a process is resident; 0: it has ended.
func residentOf(pid int) int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	return resident(b)
}

func resident(status []byte) int64 {
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			if n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64); err == nil {
				return n * 1024
			}
		}
	}
	return 0
}

// descendants are the children of a process, theirs, and so on.
func descendants(pid int) []int {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // the pattern is a good one
	var all []int
	for _, l := range lists {
		b, err := os.ReadFile(l)
		if err != nil {
			continue // the thread has ended
		}
		for f := range strings.FieldsSeq(string(b)) {
			if n, err := strconv.Atoi(f); err == nil {
				all = append(append(all, n), descendants(n)...)
			}
		}
	}
	return all
}

// started says that a child of sift runs its own program. Until then it shares
// its parent's memory, which must not be counted twice.
func started(pid int) bool {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	name, _, _ := bytes.Cut(line, []byte{0})
	return err == nil && string(name) == "sift-child"
}

// openFiles are the files that a process has open, by the names that the kernel
// gives them, without the numbers of sockets and pipes.
func openFiles(pid int) map[string]int {
	links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid)) // the pattern is a good one
	files := make(map[string]int)
	for _, l := range links {
		if to, err := os.Readlink(l); err == nil {
			name, _, _ := strings.Cut(to, ":[")
			files[name]++
		}
	}
	return files
}

// memory is one look at how much is resident.
type memory struct {
	at                time.Time
	service, children int64
}

func (m memory) all() int64 { return m.service + m.children }

// watcher looks at the service from outside while it runs.
type watcher struct {
	pid int

	mu       sync.Mutex
	memory   []memory
	children int       // the most at once
	inFlight []float64 // targets, while batches ran
	queued   []float64 // jobs, at the same moments
}

const lookEvery = 100 * time.Millisecond

// run looks until ctx ends. busy says whether batches run.
func (w *watcher) run(ctx context.Context, busy func() bool, scrape func(context.Context) (metrics, error)) {
	for n := 0; after(ctx, lookEvery); n++ {
		m := memory{at: time.Now(), service: residentOf(w.pid)}
		children := 0
		for _, child := range descendants(w.pid) {
			if started(child) {
				m.children += residentOf(child)
				children++
			}
		}
		w.mu.Lock()
		if m.service > 0 {
			w.memory = append(w.memory, m)
		}
		w.children = max(w.children, children)
		w.mu.Unlock()
		if n%10 == 0 && busy() {
			if all, err := scrape(ctx); err == nil && busy() {
				w.mu.Lock()
				w.inFlight = append(w.inFlight, all["sift_batch_targets_inflight"])
				w.queued = append(w.queued, all["sift_batch_queue_depth"])
				w.mu.Unlock()
			}
		}
	}
}

// peaks are the most that was resident in the first and the last third of the
// looks while batches ran, and of all looks.
func peaks(looks []memory, windows []window) (first, last, ever memory, ok bool) {
	var busy []memory
	most := func(m []memory) memory {
		return slices.MaxFunc(m, func(a, b memory) int { return cmp.Compare(a.all(), b.all()) })
	}
	for _, m := range looks {
		if slices.ContainsFunc(windows, func(w window) bool { return w.batches && !m.at.Before(w.start) && m.at.Before(w.end) }) {
			busy = append(busy, m)
		}
	}
	if len(busy) < 3 {
		return first, last, ever, false
	}
	third := len(busy) / 3
	return most(busy[:third]), most(busy[len(busy)-third:]), most(looks), true
}

// metrics are the series of one scrape, by name and labels as they stand.
type metrics map[string]float64

// maxScrape is how much of a scrape is read.
const maxScrape = 4 << 20

// scrape asks for the metrics over a connection of its own, so that each time
// there is one more goroutine and file for it, and not sometimes.
func scrape(ctx context.Context, base string) (metrics, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/metrics", nil)
	if err != nil {
		return nil, err
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("GET /metrics answered %d", resp.StatusCode)
	}
	return readMetrics(io.LimitReader(resp.Body, maxScrape))
}

// readMetrics reads the Prometheus text format as far as sift writes it.
func readMetrics(r io.Reader) (metrics, error) {
	m := make(metrics)
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		i := strings.LastIndexByte(line, ' ')
		if i < 0 {
			return nil, fmt.Errorf("%q is no line of metrics", line)
		}
		v, err := strconv.ParseFloat(line[i+1:], 64)
		if err != nil {
			return nil, fmt.Errorf("%q is no line of metrics: %w", line, err)
		}
		m[strings.TrimSpace(line[:i])] = v
	}
	return m, lines.Err()
}

// sum adds up the series of a name.
func (m metrics) sum(name string) float64 {
	var s float64
	for k, v := range m {
		if k == name || strings.HasPrefix(k, name+"{") {
			s += v
		}
	}
	return s
}

// outcome is a series with the label outcome.
func (m metrics) outcome(name, outcome string) float64 {
	return m[fmt.Sprintf("%s{outcome=%q}", name, outcome)]
}

// levels are what must go back to where it was.
type levels struct {
	goroutines, files, children, temporary float64

	resident int64 // memory of the service; it goes back when the system wants it, so that it is shown and not judged

	store float64        // files among them that are the store's
	open  map[string]int // the files by name, where they can be seen
}

// storeFiles is how many files of the store may be open at the end that were
// not at the start: it opens its connections for reading, two files each, when
// it first needs so many, and keeps them.
const storeFiles = 4

// over names what is higher than at the start.
func (l levels) over(start levels) string {
	var over []string
	for _, v := range []struct {
		what      string
		now, then float64
	}{
		{"goroutines", l.goroutines, start.goroutines},
		{"open files", l.files - l.store, start.files - start.store},
		{"open files of the store", l.store, start.store + storeFiles},
		{"child processes", l.children, start.children},
		{"temporary files", l.temporary, start.temporary},
	} {
		if v.now > v.then {
			over = append(over, fmt.Sprintf("%s: %.0f, and %.0f at the start", v.what, v.now, v.then))
		}
	}
	if len(over) > 0 {
		for name, n := range l.open {
			if was := start.open[name]; n > was {
				over = append(over, fmt.Sprintf("%s is open %d times, and was %d times", name, n, was))
			}
		}
	}
	return strings.Join(over, "; ")
}
