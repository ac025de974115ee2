// Package server runs the real sift binary for those who watch it from
// outside: the demo and the benchmarks. Start writes a configuration, starts
// `sift serve` as a child process on a free loopback port and waits until it
// is ready; Stop ends it.
package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	readyWithin = 10 * time.Second // for a start on a slow, busy machine
	stopWithin  = 10 * time.Second // then it is killed, and that is an error
	poll        = time.Millisecond // how exactly FirstByte and Ready are measured
	logTail     = 4 << 10          // bytes of the child's log that an error quotes
	maxAnswer   = 64 << 10         // bytes of a health answer that are read
)

// Config says what to run.
type Config struct {
	Binary   string
	Dir      string // an existing folder; configuration, store and log are kept in it
	Settings string // TOML that follows listen and data_dir
}

// Server is a running `sift serve`.
type Server struct {
	URL       string        // http://127.0.0.1:PORT
	File      string        // its configuration
	PID       int           //
	FirstByte time.Duration // from exec to the first byte of an answer to GET /healthz
	Ready     time.Duration // from exec to a 200 from /readyz

	log   string
	cmd   *exec.Cmd
	ended chan struct{} // closed when the child has exited
	exit  error         // how; valid once ended is closed
	stop  sync.Once
	err   error // what Stop found; valid after stop
}

// Start starts a server and returns once it is ready. The server is stopped
// when ctx ends; call Stop in any case, which waits for that.
func Start(ctx context.Context, cfg Config) (*Server, error) {
	port, err := freePort(ctx)
	if err != nil {
		return nil, err
	}
	address := fmt.Sprintf("127.0.0.1:%d", port)
	s := &Server{
		URL: "http://" + address, File: filepath.Join(cfg.Dir, "sift.toml"), log: filepath.Join(cfg.Dir, "sift.log"),
		ended: make(chan struct{}),
	}
	text := fmt.Sprintf("listen = %q\ndata_dir = %q\n%s\n", address, filepath.Join(cfg.Dir, "data"), strings.TrimSpace(cfg.Settings))
	if err := os.WriteFile(s.File, []byte(text), 0o600); err != nil {
		return nil, fmt.Errorf("write configuration: %w", err)
	}
	log, err := os.OpenFile(s.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	defer func() { _ = log.Close() }() // the child has its own copy

	// Not killed with ctx: AfterFunc below asks it to stop instead.
	s.cmd = exec.CommandContext(context.WithoutCancel(ctx), cfg.Binary, "serve", "--config", s.File)
	s.cmd.Env = Environment()
	s.cmd.Stdout, s.cmd.Stderr = log, log
	// A process group of its own: Ctrl-C reaches its starter alone, which then
	// stops it and can tell that from an end that nobody asked for.
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	started := time.Now()
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", cfg.Binary, err)
	}
	s.PID = s.cmd.Process.Pid
	go func() {
		s.exit = s.cmd.Wait()
		close(s.ended)
	}()
	context.AfterFunc(ctx, func() { _ = s.Stop() }) // the caller's Stop has the error

	if s.FirstByte, err = s.until(ctx, started, "/healthz", func(int) bool { return true }); err == nil {
		s.Ready, err = s.until(ctx, started, "/readyz", func(status int) bool { return status == http.StatusOK })
	}
	if err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

// until asks for a path again and again, and says how long after start an
// answer was good.
func (s *Server) until(ctx context.Context, start time.Time, path string, good func(status int) bool) (time.Duration, error) {
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Second}
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+path, nil)
		if err != nil {
			return 0, err
		}
		if resp, err := client.Do(req); err == nil {
			took := time.Since(start)
			_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxAnswer))
			_ = resp.Body.Close()
			if good(resp.StatusCode) {
				return took, nil
			}
		}
		select {
		case <-s.ended:
			return 0, fmt.Errorf("sift serve ended before it was ready: %w\n%s", s.exited(), s.Log())
		case <-ctx.Done():
			return 0, fmt.Errorf("sift serve did not answer %s as expected within %s: %w\n%s", path, readyWithin, ctx.Err(), s.Log())
		case <-time.After(poll):
		}
	}
}

// Stop asks the server to stop and waits for it. The error says when it did
// not end by itself or not well. A second call gives the same answer.
func (s *Server) Stop() error {
	s.stop.Do(func() {
		select {
		case <-s.ended: // it went by itself: stopping was somebody else's idea
			s.err = fmt.Errorf("sift serve ended early: %w", s.exited())
			return
		default:
		}
		_ = s.cmd.Process.Signal(syscall.SIGTERM) // it may have ended since
		select {
		case <-s.ended:
			if s.exit != nil {
				s.err = fmt.Errorf("sift serve did not stop well: %w\n%s", s.exit, s.Log())
			}
		case <-time.After(stopWithin):
			_ = s.cmd.Process.Kill()
			<-s.ended
			s.err = fmt.Errorf("sift serve did not stop within %s of SIGTERM and was killed\n%s", stopWithin, s.Log())
		}
	})
	return s.err
}

// exited is how the child ended, as an error in every case.
func (s *Server) exited() error {
	if s.exit != nil {
		return s.exit
	}
	return errors.New("exit status 0")
}

// Log is the end of what the server has written.
func (s *Server) Log() string {
	b, err := os.ReadFile(s.log)
	if err != nil {
		return err.Error()
	}
	return string(b[max(0, len(b)-logTail):])
}

// Environment is this process's environment without what would configure
// sift: a person's own settings must not change what is shown or measured.
func Environment() []string {
	var out []string
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "SIFT_") {
			out = append(out, e)
		}
	}
	return out
}

// freePort finds a port that nobody listens on. Somebody may take it before
// the child does; then the child says so and Start fails.
func freePort(ctx context.Context) (int, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port, nil
}
