package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"sift.build/sift/demo/server"
	"sift.build/sift/tools/report"
)

const (
	closedConns = 8   // connections that are kept busy
	openConns   = 128 // requests that may be under way at a constant rate
	maxAnswer   = 64 << 20
)

// start runs `sift serve` with the store in a folder of that name.
func (b *bench) start(ctx context.Context, store, settings string) (*server.Server, error) {
	dir := filepath.Join(b.dir, store)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return server.Start(ctx, server.Config{Binary: b.binary, Dir: dir, Settings: settings})
}

// fetched is the answer to one POST /v1/fetch.
type fetched struct {
	header http.Header
	raw    []byte

	Success  bool   `json:"success"`
	Error    string `json:"error"`
	Chars    int    `json:"chars"`
	Total    int    `json:"total_chars"`
	Snapshot string `json:"snapshot"`
	Cache    struct {
		Hit bool `json:"hit"`
	} `json:"cache"`
}

// fetch sends one request and expects a page.
func fetch(ctx context.Context, base, key, body string) (*fetched, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/v1/fetch", strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	f := &fetched{header: resp.Header}
	if f.raw, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer)); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(f.raw, f); err != nil {
		return nil, fmt.Errorf("POST /v1/fetch %s answered %d: %w", body, resp.StatusCode, err)
	}
	if !f.Success {
		return nil, fmt.Errorf("POST /v1/fetch %s answered %d %s", body, resp.StatusCode, f.Error)
	}
	return f, nil
}

func target(url string) string { return `{"url":` + strconv.Quote(url) + `}` }

// cachedFetches compares cached fetches over HTTP with a bare handler that
// writes the same bytes, and then looks at latency at half the load.
func (b *bench) cachedFetches(ctx context.Context) (rows []report.Figure, err error) {
	sift, err := b.start(ctx, "cached", b.site.settings())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, sift.Stop()) }()
	url, err := b.site.page("asm.html")
	if err != nil {
		return nil, err
	}
	body := target(url)
	if _, err := fetch(ctx, sift.URL, "", body); err != nil {
		return nil, err
	}
	hit, err := fetch(ctx, sift.URL, "", body)
	if err != nil {
		return nil, err
	}
	if !hit.Cache.Hit {
		return nil, errors.New("the second fetch of a page was no cache hit")
	}
	bare, stopBare, err := b.startBare(ctx, hit)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stopBare()) }()

	siftLoad := load{address: strings.TrimPrefix(sift.URL, "http://")}
	siftLoad.request = postRequest(siftLoad.address, "/v1/fetch", body)
	bareLoad := load{address: bare.address}
	bareLoad.request = postRequest(bareLoad.address, "/v1/fetch", body)

	// Interleaved, so that what the machine does besides meets both; the
	// ratio is that of neighbours.
	var ours, theirs, ratios []float64
	var oursCPU, theirsCPU time.Duration
	var oursN, theirsN float64
	one := func(l load, pid int, cpu *time.Duration, n *float64) (float64, error) {
		before, _ := cpuOf(pid) // 0 where there is no /proc: then no CPU figure is shown
		rate, err := l.closed(ctx, closedConns, b.effort.closed)
		after, _ := cpuOf(pid)
		*cpu += after - before
		*n += rate * b.effort.closed.Seconds()
		return rate, err
	}
	for range b.effort.rounds {
		s, err := one(siftLoad, sift.PID, &oursCPU, &oursN)
		if err != nil {
			return nil, fmt.Errorf("sift under load: %w", err)
		}
		t, err := one(bareLoad, bare.pid, &theirsCPU, &theirsN)
		if err != nil {
			return nil, fmt.Errorf("the bare handler under load: %w", err)
		}
		ours, theirs, ratios = append(ours, s), append(theirs, t), append(ratios, s/t)
	}
	ratio := report.Figure{
		What: "cached fetch, requests/s ÷ bare handler's", Value: fmt.Sprintf("%.2f", report.Median(ratios)),
		Bar: fmt.Sprintf("≥ %.1f", barCachedRatio), Word: report.Within(-report.Median(ratios), -barCachedRatio),
		How: fmt.Sprintf("%.0f/s ÷ %.0f/s; %d connections, %.1f kB an answer, %d rounds of %s each",
			report.Median(ours), report.Median(theirs), closedConns, float64(len(hit.raw))/1e3, b.effort.rounds, b.effort.closed),
	}
	rows = append(rows, ratio)
	if theirsCPU > 0 {
		rows = append(rows, report.Figure{
			What: "cached fetch, server CPU ÷ bare handler's", Value: fmt.Sprintf("%.2f", (oursCPU.Seconds()/oursN)/(theirsCPU.Seconds()/theirsN)),
			How: fmt.Sprintf("%.0f µs ÷ %.0f µs a request, in the same rounds", 1e6*oursCPU.Seconds()/oursN, 1e6*theirsCPU.Seconds()/theirsN),
		})
	}

	rate := report.Median(ours) / 2
	var p99s, bareP99s []time.Duration
	for range b.effort.rounds {
		for _, side := range []struct {
			l  load
			to *[]time.Duration
		}{{siftLoad, &p99s}, {bareLoad, &bareP99s}} {
			latencies, err := side.l.open(ctx, openConns, rate, b.effort.open)
			if err != nil {
				return nil, fmt.Errorf("at a constant rate: %w", err)
			}
			*side.to = append(*side.to, report.Percentile(latencies, 99))
		}
	}
	return append(rows, report.Figure{
		What: "cached fetch, 99th percentile at half that load", Value: report.Milliseconds(report.Median(p99s)), Bar: "< " + report.Milliseconds(barP99),
		Word: besides(report.Median(p99s), report.Median(bareP99s), barP99),
		How: fmt.Sprintf("at a constant %.0f/s, timed from when each was due; the bare handler at the same rate: %s; %d rounds of %s each",
			rate, report.Milliseconds(report.Median(bareP99s)), len(p99s), b.effort.open),
	}), nil
}

type bareServer struct {
	address string
	pid     int
}

// startBare starts the bare handler in a process of its own, with the answer
// that it has to write.
func (b *bench) startBare(ctx context.Context, f *fetched) (bareServer, func() error, error) {
	header := f.header.Clone()
	header.Del("Date") // the server writes it itself
	answer, err := json.Marshal(canned{header, f.raw})
	if err != nil {
		return bareServer{}, nil, err
	}
	cmd := exec.CommandContext(ctx, b.self, "-child", "bare")
	cmd.Stderr = b.progress
	in, err := cmd.StdinPipe()
	if err != nil {
		return bareServer{}, nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return bareServer{}, nil, err
	}
	if err := cmd.Start(); err != nil {
		return bareServer{}, nil, err
	}
	stop := func() error { return errors.Join(in.Close(), cmd.Wait()) }
	if _, err := in.Write(append(answer, '\n')); err != nil {
		return bareServer{}, nil, errors.Join(err, stop())
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return bareServer{}, nil, errors.Join(fmt.Errorf("start the bare handler: %w", err), stop())
	}
	return bareServer{strings.TrimSpace(line), cmd.Process.Pid}, stop, nil
}

// rendering compares the CPU of `sift convert` with that of html.Parse over
// the same files, start-up of either taken off.
func (b *bench) rendering(ctx context.Context) ([]report.Figure, error) {
	dir := filepath.Join(b.dir, "pages")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	files, what, err := realPages(ctx, b.wcxb, dir, b.effort.everyNth)
	if err != nil {
		return nil, err
	}
	tiny := filepath.Join(dir, "tiny.html")
	config := filepath.Join(dir, "sift.toml")
	if err := errors.Join(os.WriteFile(tiny, []byte("<p>Hello</p>\n"), 0o600), os.WriteFile(config, nil, 0o600)); err != nil {
		return nil, err
	}
	convert := []string{b.binary, "convert", "--config", config, "--mode", "clean"}
	parse := []string{b.self, "-child", "parse"}

	var ours, theirs, ratios []float64
	for range b.effort.rounds {
		s, err := netCPU(ctx, convert, files, tiny)
		if err != nil {
			return nil, err
		}
		t, err := netCPU(ctx, parse, files, tiny)
		if err != nil {
			return nil, err
		}
		if t <= 0 {
			return nil, errors.New("parsing took no CPU that could be measured")
		}
		ours, theirs, ratios = append(ours, s.Seconds()), append(theirs, t.Seconds()), append(ratios, s.Seconds()/t.Seconds())
	}
	return []report.Figure{{
		What: "clean rendering, CPU ÷ bare html.Parse's", Value: fmt.Sprintf("%.2f", report.Median(ratios)),
		Bar: fmt.Sprintf("≤ %.0f", barRenderRatio), Word: report.Within(report.Median(ratios), barRenderRatio),
		How: fmt.Sprintf("%.2f s ÷ %.2f s; %s; start-up taken off, %d rounds", report.Median(ours), report.Median(theirs), what, b.effort.rounds),
	}}, nil
}

// netCPU is the CPU of a command over files, less that of the same command
// over one tiny file.
func netCPU(ctx context.Context, command, files []string, tiny string) (time.Duration, error) {
	whole, err := cpu(ctx, command, files...)
	if err != nil {
		return 0, err
	}
	start, err := cpu(ctx, command, tiny)
	return whole - start, err
}

// cpu runs a command to its end and returns what it used, system time too.
func cpu(ctx context.Context, command []string, files ...string) (time.Duration, error) {
	cmd := exec.CommandContext(ctx, command[0], append(command[1:len(command):len(command)], files...)...)
	cmd.Env = server.Environment()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		said := stderr.Bytes()
		return 0, fmt.Errorf("%s over %d files: %w\n%s", strings.Join(command, " "), len(files), err, said[max(0, len(said)-2000):])
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}

// idleMemory is what the service holds some seconds after a few fetches.
func (b *bench) idleMemory(ctx context.Context) (rows []report.Figure, err error) {
	if !hasProc() {
		return []report.Figure{{What: "memory, idle", Bar: "< " + report.Megabytes(barIdle), Word: report.Unseen, How: "needs Linux's /proc"}}, nil
	}
	sift, err := b.start(ctx, "idle", b.site.settings())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, sift.Stop()) }()
	for _, name := range []string{"asm.html", "go_mem.html", "go_spec.html"} {
		url, err := b.site.page(name)
		if err != nil {
			return nil, err
		}
		for range 2 {
			if _, err := fetch(ctx, sift.URL, "", target(url)); err != nil {
				return nil, err
			}
		}
	}
	select {
	case <-time.After(b.effort.settle):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	rss, err := memoryOf(sift.PID, "VmRSS")
	if err != nil {
		return nil, err
	}
	return []report.Figure{{
		What: "memory, idle", Value: report.Megabytes(rss), Bar: "< " + report.Megabytes(barIdle), Word: report.Within(rss, barIdle),
		How: fmt.Sprintf("VmRSS %s after six fetches of three pages", b.effort.settle),
	}}, nil
}

// peakMemory is the most that the service held while it fetched eight large
// pages at once.
func (b *bench) peakMemory(ctx context.Context) ([]report.Figure, error) {
	if !hasProc() {
		return []report.Figure{{What: "memory, 8 large pages at once", Bar: "< " + report.Megabytes(barPeak), Word: report.Unseen, How: "needs Linux's /proc"}}, nil
	}
	pages := make([][]byte, bigFetches)
	for i := range pages {
		pages[i] = bigPage(b.effort.bigPage, uint64(i))
	}
	var peaks []int64
	var times, cpus []time.Duration
	for n := range b.effort.bigRounds {
		r, err := b.onePeak(ctx, fmt.Sprintf("peak%d", n), pages)
		if err != nil {
			return nil, err
		}
		peaks, times, cpus = append(peaks, r.memory), append(times, r.took), append(cpus, r.cpu)
	}
	return []report.Figure{{
		What:  fmt.Sprintf("memory, 8 pages of %s at once", strings.Replace(report.Megabytes(int64(b.effort.bigPage)), ".0", "", 1)),
		Value: report.Megabytes(report.Median(peaks)), Bar: "< " + report.Megabytes(barPeak), Word: report.Within(report.Median(peaks), barPeak),
		How: fmt.Sprintf("VmHWM of a fresh service, which answered them all in %.1f s with %.1f s of CPU; %d rounds, the highest %s",
			report.Median(times).Seconds(), report.Median(cpus).Seconds(), len(peaks), report.Megabytes(slices.Max(peaks))),
	}}, nil
}

// peak is one round of large pages.
type peak struct {
	memory    int64
	took, cpu time.Duration
}

// onePeak needs a service of its own, since VmHWM never goes down, and two
// callers, since one may have four fetches under way.
func (b *bench) onePeak(ctx context.Context, store string, pages [][]byte) (p peak, err error) {
	keys := []string{"sift_bench_caller_one", "sift_bench_caller_two"}
	var settings strings.Builder
	settings.WriteString(b.site.settings())
	// Memory is what is asked here: a slow machine may take its time.
	settings.WriteString("[fetch]\ntimeout = \"2m\"\n")
	for i, key := range keys {
		sum := sha256.Sum256([]byte(key))
		fmt.Fprintf(&settings, "[[caller]]\nname = \"bench%d\"\nkey_sha256 = %q\n", i+1, hex.EncodeToString(sum[:]))
	}
	sift, err := b.start(ctx, store, settings.String())
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, sift.Stop()) }()
	urls, err := b.site.large(pages)
	if err != nil {
		return p, err
	}
	ctx, cancel := context.WithCancel(ctx) // the first failure ends the others: the barrier would hold them
	defer cancel()
	begin := time.Now()
	results := make(chan error, len(urls))
	for i, url := range urls {
		go func() {
			f, err := fetch(ctx, sift.URL, keys[i*len(keys)/len(urls)], target(url))
			if err == nil && f.Total < len(pages[i])/2 {
				err = fmt.Errorf("%s: only %d characters came out of %d bytes", url, f.Total, len(pages[i]))
			}
			results <- err
		}()
	}
	var first error
	for range urls {
		if err := <-results; err != nil && first == nil {
			first = err
			cancel()
		}
	}
	if first != nil {
		return p, first
	}
	p.took = time.Since(begin)
	if p.cpu, err = cpuOf(sift.PID); err != nil {
		return p, err
	}
	p.memory, err = memoryOf(sift.PID, "VmHWM")
	return p, err
}

// startTime is how long a service with a store takes from exec to its first
// answer.
func (b *bench) startTime(ctx context.Context) ([]report.Figure, error) {
	const store = "idle" // left by idleMemory, with pages in it
	if _, err := os.Stat(filepath.Join(b.dir, store)); err != nil {
		sift, err := b.start(ctx, store, b.site.settings())
		if err != nil {
			return nil, err
		}
		if err := sift.Stop(); err != nil {
			return nil, err
		}
	}
	var first, ready []time.Duration
	for range b.effort.starts {
		sift, err := b.start(ctx, store, b.site.settings())
		if err != nil {
			return nil, err
		}
		first, ready = append(first, sift.FirstByte), append(ready, sift.Ready)
		if err := sift.Stop(); err != nil {
			return nil, err
		}
	}
	how := fmt.Sprintf("on an existing store, asked every millisecond; %d starts", len(first))
	return []report.Figure{
		{What: "start, exec to first byte of /healthz", Value: report.Milliseconds(report.Median(first)), Bar: "< " + report.Milliseconds(barStart), Word: report.Within(report.Median(first), barStart), How: how},
		{What: "start, exec to /readyz 200", Value: report.Milliseconds(report.Median(ready)), Bar: "< " + report.Milliseconds(barStart), Word: report.Within(report.Median(ready), barStart), How: "the same starts"},
	}, nil
}
