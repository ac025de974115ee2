package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"path"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"sift.build/sift/internal/sift"
)

// Fetcher is the way of one target.
type Fetcher interface {
	FetchTarget(ctx context.Context, caller sift.Caller, t sift.Target) (*sift.Envelope, error)
}

// Batches keeps lists of targets that are worked on while nobody waits. Every
// error is a *sift.Failure; not_found says nothing of the id, so that a job of
// another caller is in no way different from one that does not exist.
type Batches interface {
	Submit(ctx context.Context, caller sift.Caller, targets []sift.Target, fresh bool) (sift.Submitted, error)
	// Job answers a job with the targets behind index after (-1: all of them),
	// without their results, of which ResultBytes is the length. With wait it
	// does so when the job's status or the number of its targets that are done
	// has changed, when nothing can change any more, when the time is up or
	// when ctx ends.
	Job(ctx context.Context, caller sift.Caller, id string, after int, wait time.Duration) (*sift.Job, error)
	// Result answers the result of a target that has one. It never changes.
	Result(ctx context.Context, caller sift.Caller, id string, idx int) (json.RawMessage, error)
	Jobs(ctx context.Context, caller sift.Caller) ([]sift.Job, error)
	Cancel(ctx context.Context, caller sift.Caller, id string) (sift.JobStatus, error)
}

// Authenticator says who asks.
type Authenticator interface {
	// Authenticate takes the Authorization header as it came, "" for none,
	// and answers a *sift.Failure for a key that nobody has. With no callers
	// configured everybody is the one local caller.
	Authenticate(authorization string) (sift.Caller, error)
	// Configured reports whether there are callers. Without them requests
	// must look as if they came from a program on this machine.
	Configured() bool
}

// Config is what a Server is made of.
type Config struct {
	Fetcher Fetcher
	Batches Batches       // nil: there are no paths for them
	Auth    Authenticator // nil: every call that needs a key is refused
	Log     *slog.Logger  // nil: no log
	Metrics http.Handler  // serves /metrics; nil: not on this listener
	Ready   func() error  // nil: always ready
	Version string        // of the build
	Trace   Trace
}

// Trace lets a measuring package look on. Nil functions are left out.
type Trace struct {
	// Answered is called once a request has been answered, with a route of
	// Routes or "" for a path that is none.
	Answered func(route string, status int, took time.Duration)
}

// Server is the HTTP edge. It runs nothing by itself.
type Server struct {
	fetcher Fetcher
	batches Batches
	auth    Authenticator
	log     *slog.Logger
	metrics http.Handler
	ready   func() error
	version string
	trace   Trace
	fields  []field[sift.Target]
	lists   []field[submission]
	asks    []field[jobQuery]
	handler http.Handler
	paths   string    // what exists, for the 404
	buffers sync.Pool // of *[]byte: request bodies and answers
	now     func() time.Time

	stopping context.Context //nolint:containedctx // it ends when nothing is to be waited for any more
	stop     context.CancelFunc

	// Values of headers that every answer carries, shared so that a header
	// costs no allocation. Nobody writes to them.
	nosniff, noStore, typeJSON []string
}

// New makes a Server.
func New(c Config) *Server {
	s := &Server{
		fetcher: c.Fetcher, batches: c.Batches, auth: c.Auth, log: c.Log, metrics: c.Metrics, ready: c.Ready, version: c.Version, trace: c.Trace,
		fields:   fields(),
		lists:    batchFields(),
		asks:     jobFields(),
		buffers:  sync.Pool{New: func() any { return new([]byte) }},
		now:      time.Now,
		nosniff:  []string{"nosniff"},
		noStore:  []string{"no-store"},
		typeJSON: []string{"application/json"},
	}
	s.stopping, s.stop = context.WithCancel(context.Background())
	if s.auth == nil {
		s.auth = nobody{}
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.ready == nil {
		s.ready = func() error { return nil }
	}
	mux := http.NewServeMux()
	var paths []string
	for _, rt := range routes() {
		if rt.path == pathMetrics && s.metrics == nil || rt.batch && s.batches == nil {
			continue
		}
		mux.Handle(rt.path, s.serve(rt))
		for _, m := range rt.methods {
			paths = append(paths, m.name+" "+rt.path)
		}
	}
	s.paths = strings.Join(paths, ", ")
	missing := s.serve(route{open: true})
	mux.Handle("/", missing)
	s.handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// ServeMux redirects a path that is not clean, with a page of HTML;
		// here such a path is simply not one that exists. What is escaped is not
		// looked into: an id of a job may hold anything.
		if p := r.URL.EscapedPath(); p == "*" || path.Clean(p) != p {
			missing(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
	return s
}

// Handler serves every route.
func (s *Server) Handler() http.Handler { return s.handler }

// StopWaiting makes every request that waits for something to change answer
// with what there is, now and from now on, so that a stop has not to wait for
// them. Everything else goes on.
func (s *Server) StopWaiting() { s.stop() }

// The bounds of a connection. The time to answer has no bound here: the
// Fetcher has a deadline, and writing gets one when there is something to
// write (see Server.send).
const (
	readHeaderTimeout = 10 * time.Second
	readTimeout       = 30 * time.Second // head and body together
	idleTimeout       = 2 * time.Minute
	maxHeaderBytes    = 64 << 10 // a GET carries its whole target in the first line
)

// NewHTTPServer gives an http.Server with the bounds that the edge counts on,
// and its errors in the log.
func NewHTTPServer(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		// "OPTIONS *" gets the same 404 as any other path.
		DisableGeneralOptionsHandler: true,
	}
}

// nobody is an Authenticator without callers that lets nobody in.
type nobody struct{}

func (nobody) Authenticate(string) (sift.Caller, error) {
	return sift.Caller{}, sift.Fail(sift.CodeUnauthorized, "this server lets nobody in")
}
func (nobody) Configured() bool { return true }

// The paths.
const (
	pathFetch   = "/v1/fetch"
	pathBatch   = "/v1/batch"
	pathJob     = "/v1/batch/{id}"
	pathHealth  = "/healthz"
	pathReady   = "/readyz"
	pathMetrics = "/metrics"
	pathOpenAPI = "/openapi.yaml"
)

// route is one path with its methods.
type route struct {
	path    string
	open    bool // needs no key
	probe   bool // answers under any Host: a prober calls by whatever address it has
	batch   bool // is about batches, of whose URLs nothing gets into the log, for no caller
	methods []method
}

type method struct {
	name   string
	handle func(*Server, http.ResponseWriter, *http.Request, *exchange) error
}

func routes() []route {
	return []route{
		{path: pathFetch, methods: []method{{http.MethodPost, (*Server).postFetch}, {http.MethodGet, (*Server).getFetch}}},
		{path: pathBatch, batch: true, methods: []method{{http.MethodPost, (*Server).postBatch}, {http.MethodGet, (*Server).getBatches}}},
		{path: pathJob, batch: true, methods: []method{{http.MethodGet, (*Server).getJob}, {http.MethodDelete, (*Server).deleteJob}}},
		{path: pathHealth, open: true, probe: true, methods: []method{{http.MethodGet, (*Server).getHealth}}},
		{path: pathReady, open: true, probe: true, methods: []method{{http.MethodGet, (*Server).getReady}}},
		{path: pathMetrics, open: true, methods: []method{{http.MethodGet, (*Server).getMetrics}}},
		{path: pathOpenAPI, open: true, methods: []method{{http.MethodGet, (*Server).getOpenAPI}}},
	}
}

// Routes lists the paths, for a label that holds nothing else.
func Routes() []string {
	var paths []string
	for _, rt := range routes() {
		paths = append(paths, rt.path)
	}
	return paths
}

// exchange is what is known of one request while it is answered.
type exchange struct {
	caller sift.Caller
	known  bool // caller holds who asks
	target sift.Target
	status int // as written; 0: nothing has been written
	code   sift.Code
	cause  error      // for the log, where level or the logger lets it in
	level  slog.Level // of the line in the log; zero is info
	batch  bool       // see route
}

// serve wraps a route in everything that is the same for all of them.
func (s *Server) serve(rt route) http.HandlerFunc {
	var names []string
	for _, m := range rt.methods {
		names = append(names, m.name)
		if m.name == http.MethodGet {
			names = append(names, http.MethodHead)
		}
	}
	allow := strings.Join(names, ", ")
	return func(w http.ResponseWriter, r *http.Request) {
		start := s.now()
		x := exchange{batch: rt.batch}
		defer func() {
			p := recover()
			begun := x.status != 0
			if p != nil && p != http.ErrAbortHandler {
				s.panicked(w, r, &x, p)
			}
			s.done(r, rt.path, &x, s.now().Sub(start))
			if p == http.ErrAbortHandler || p != nil && begun {
				panic(http.ErrAbortHandler) // half an answer is out: it must not look whole
			}
		}()
		h := w.Header()
		h["X-Content-Type-Options"] = s.nosniff
		h["Cache-Control"] = s.noStore
		if err := s.dispatch(rt, allow, w, r, &x); err != nil {
			s.fail(w, r, &x, err)
		}
	}
}

func (s *Server) dispatch(rt route, allow string, w http.ResponseWriter, r *http.Request, x *exchange) error {
	if !rt.probe && !s.auth.Configured() {
		if err := onlyLocal(r); err != nil {
			return err
		}
	}
	if rt.path == "" {
		return sift.Fail(sift.CodeNotFound, "there is no such path; there are %s", s.paths)
	}
	for _, m := range rt.methods {
		if r.Method != m.name && (r.Method != http.MethodHead || m.name != http.MethodGet) {
			continue
		}
		if !rt.open {
			// Two headers make a list, which is nobody's key.
			caller, err := s.auth.Authenticate(strings.Join(r.Header["Authorization"], ", "))
			if err != nil {
				return err
			}
			x.caller, x.known = caller, true
		}
		return m.handle(s, w, r, x)
	}
	w.Header()["Allow"] = []string{allow}
	s.writeFailure(w, x, http.StatusMethodNotAllowed, sift.Fail(sift.CodeInvalid, "this path has no method %s; it has %s", sift.Quote(r.Method), allow))
	return nil
}

// fail answers with the failure in err.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, x *exchange, err error) {
	f := *sift.AsFailure(err)
	if r.Context().Err() != nil && f.Code != sift.CodeInvalid && !errors.Is(err, errBody) {
		// Whatever went wrong, it did because the caller went away. (A body
		// that does not come in time ends the context as well.)
		f = sift.Failure{Code: sift.CodeCancel, Message: "the caller went away", Cause: err}
	}
	if f.Code == sift.CodeInternal {
		// The text says no more than that it is our fault, whoever wrote it.
		f.Message = sift.AsFailure(nil).Message
		x.level = slog.LevelError
	}
	if f.URL == "" {
		f.URL = x.target.URL
	}
	x.cause = f.Cause
	status := Status(&f)
	switch status {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", `Bearer realm="sift"`)
	case http.StatusTooManyRequests:
		f.RetryAfter = max(f.RetryAfter, time.Second)
		w.Header().Set("Retry-After", strconv.Itoa(f.JSON().RetryAfter))
	}
	s.writeFailure(w, x, status, &f)
}

// panicked answers a panic with a 500 and puts it into the log. The value of
// a panic can hold anything, a URL or a key too, so that it is shown only for
// a caller who is known and not restricted, and never of a batch; a stack holds
// only our own names.
func (s *Server) panicked(w http.ResponseWriter, r *http.Request, x *exchange, p any) {
	what := fmt.Sprintf("%T", p)
	if x.known && !x.caller.Restricted && !x.batch {
		what = fmt.Sprint(p)
	}
	s.log.LogAttrs(context.WithoutCancel(r.Context()), slog.LevelError, "panic while answering a request",
		slog.String("panic", what), slog.String("stack", string(debug.Stack())))
	if x.status == 0 {
		s.fail(w, r, x, errors.New("panic"))
	}
}

// done counts and logs one answered request.
func (s *Server) done(r *http.Request, route string, x *exchange, took time.Duration) {
	if s.trace.Answered != nil {
		s.trace.Answered(route, x.status, took)
	}
	ctx := context.WithoutCancel(r.Context())
	if !s.log.Enabled(ctx, x.level) {
		return
	}
	if route == "" {
		route = "none"
	}
	attrs := make([]slog.Attr, 0, 8)
	attrs = append(attrs,
		slog.String("method", loggedMethod(r.Method)),
		slog.String("route", route),
		slog.Int("status", x.status),
		slog.Duration("took", took))
	if x.code != "" {
		attrs = append(attrs, slog.String("code", string(x.code)))
	}
	if x.known {
		attrs = append(attrs, slog.String("caller", x.caller.Name))
	}
	if !x.caller.Restricted {
		debugging := s.log.Enabled(ctx, slog.LevelDebug)
		// Why a target was refused can hold its URL; what is our own fault is
		// about the store.
		quiet := x.batch && x.code != "" && x.code != sift.CodeInternal
		if x.cause != nil && !quiet && (debugging || x.level > slog.LevelInfo) {
			attrs = append(attrs, slog.String("cause", cut(x.cause.Error())))
		}
		if debugging && x.target.URL != "" {
			attrs = append(attrs, slog.String("target", cut(withoutSecrets(x.target.URL))))
		}
	}
	s.log.LogAttrs(ctx, x.level, "request", attrs...)
}

// loggedMethod folds what is no method of HTTP: the word is the caller's, and
// may be as long as a header.
func loggedMethod(m string) string {
	switch m {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodConnect, http.MethodOptions, http.MethodTrace:
		return m
	}
	return "other"
}

// withoutSecrets is a URL without the parts that hold passwords and tokens.
func withoutSecrets(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return "not a URL"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// cut bounds a text in the log. The logger quotes what is in it.
func cut(text string) string {
	const most = 1024
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
