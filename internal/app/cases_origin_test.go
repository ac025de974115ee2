package app

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// caseResponse is one answer of a case's origin.
type caseResponse struct {
	Path     string  `json:"path"` // of a route
	Status   int     `json:"status"`
	Headers  headers `json:"headers"`
	BodyFile string  `json:"body_file"` // of a route
	Template bool    `json:"template"`  // {{ORIGIN}} counts in the body too

	// A route that has conditions goes before one that has none.
	IfCookie string            `json:"if_cookie"` // part of the Cookie header
	IfAccept string            `json:"if_accept"` // part of the Accept header
	IfHeader map[string]string `json:"if_header"`
	OnHit    int               `json:"on_hit"` // from the n-th request for the path on

	StatusLine            string  `json:"status_line"`
	BeforeStatusLine      string  `json:"before_status_line"` // raw; an interim answer, say
	ExtraRawHeader        string  `json:"extra_raw_header"`
	DeclaredLengthExtra   int     `json:"declared_length_extra"`
	Wire                  string  `json:"wire"`
	ResetAfterBytes       *int    `json:"reset_after_bytes"`
	StallAfterBytes       *int    `json:"stall_after_bytes"`
	StallSeconds          float64 `json:"stall_seconds"`
	TrickleHeadersSeconds float64 `json:"trickle_headers_seconds"`
}

// The ways of Wire. "" is a length and the body.
const (
	wireChunked      = "chunked"        // several chunks and their end
	wireChunkedNoEnd = "chunked-no-end" // two thirds of the body as one chunk, then the connection ends
	wireUntilClose   = "until-close"    // no length: the end of the connection is the end of the body
	wireBareLF       = "bare-lf"        // header lines end without a carriage return
)

func (r *caseResponse) conditional() bool {
	return r.IfCookie != "" || r.IfAccept != "" || len(r.IfHeader) > 0 || r.OnHit > 0
}

func (r *caseResponse) meets(h http.Header, hit int) bool {
	if !strings.Contains(strings.Join(h["Cookie"], "; "), r.IfCookie) ||
		!strings.Contains(strings.ToLower(strings.Join(h["Accept"], ", ")), r.IfAccept) || hit < r.OnHit {
		return false
	}
	for name, value := range r.IfHeader {
		if h.Get(name) != value {
			return false
		}
	}
	return true
}

// origin serves the answers of one case as they stand. It writes to the
// connection by itself, since net/http would mend what the case breaks.
type origin struct {
	c        *caseFile
	url      string
	listener net.Listener
	stopped  chan struct{}
	serving  sync.WaitGroup

	mu   sync.Mutex
	hits map[string]int
}

func newOrigin(c *caseFile) (*origin, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	o := &origin{c: c, url: "http://" + l.Addr().String(), listener: l, stopped: make(chan struct{}), hits: map[string]int{}}
	o.serving.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			o.serving.Go(func() { o.serve(conn) })
		}
	})
	return o, nil
}

func (o *origin) address() string { return o.listener.Addr().String() }

// full is the address of a path, or what is an address already.
func (o *origin) full(path string) string {
	if strings.Contains(path, "://") {
		return path
	}
	return o.url + path
}

func (o *origin) close() {
	close(o.stopped)
	o.listener.Close()
	o.serving.Wait()
}

func (o *origin) pick(target string, h http.Header) *caseResponse {
	o.mu.Lock()
	o.hits[target]++
	hit := o.hits[target]
	o.mu.Unlock()
	var plain *caseResponse
	for i := range o.c.Routes {
		r := &o.c.Routes[i]
		if r.Path != target {
			continue
		}
		if !r.conditional() {
			if plain == nil {
				plain = r
			}
			continue
		}
		if r.meets(h, hit) {
			return r
		}
	}
	if o.c.Request.Path == target {
		main := o.c.Response
		main.BodyFile = o.c.BodyFile
		return &main
	}
	return plain
}

// maxHead is more than any client here sends.
const maxHead = 64 << 10

func (o *origin) serve(conn net.Conn) {
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(callLimit))
	method, target, h, err := readHead(conn)
	if err != nil {
		return // hung up, or nothing that a client of ours would send
	}
	r := o.pick(target, h)
	if r == nil {
		io.WriteString(conn, "HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nContent-Length: 9\r\nConnection: close\r\n\r\nnot found")
		return
	}
	if err := o.answer(conn, method, r); err != nil {
		return
	}
	// So that what was sent arrives, and the end with it, before a reset could.
	if tcp, ok := conn.(*net.TCPConn); ok && r.ResetAfterBytes == nil {
		_ = tcp.CloseWrite()
		_ = conn.SetDeadline(time.Now().Add(time.Second))
		_, _ = io.Copy(io.Discard, conn)
	}
}

// readHead reads a request up to its blank line. What is asked for is left as
// it was written.
func readHead(conn io.Reader) (method, target string, h http.Header, err error) {
	var head []byte
	chunk := make([]byte, 4096)
	for !bytes.Contains(head, []byte("\r\n\r\n")) {
		n, err := conn.Read(chunk)
		if err != nil {
			return "", "", nil, err
		}
		if head = append(head, chunk[:n]...); len(head) > maxHead {
			return "", "", nil, fmt.Errorf("the head is too long")
		}
	}
	lines := strings.Split(strings.SplitN(string(head), "\r\n\r\n", 2)[0], "\r\n")
	words := strings.Split(lines[0], " ")
	if len(words) < 2 {
		return "", "", nil, fmt.Errorf("no request line: %q", lines[0])
	}
	method, target = words[0], words[1]
	if strings.HasPrefix(target, "http://") {
		u, err := url.Parse(target)
		if err != nil {
			return "", "", nil, err
		}
		target = u.RequestURI()
	}
	h = http.Header{}
	for _, line := range lines[1:] {
		if name, value, ok := strings.Cut(line, ":"); ok {
			h.Add(strings.TrimSpace(name), strings.TrimSpace(value))
		}
	}
	return method, target, h, nil
}

func (o *origin) answer(conn net.Conn, method string, r *caseResponse) error {
	body, err := os.ReadFile(filepath.Join(o.c.dir, r.BodyFile))
	if err != nil {
		return err
	}
	if r.Template {
		body = bytes.ReplaceAll(body, []byte("{{ORIGIN}}"), []byte(o.url))
	}
	head := o.head(r, len(body))
	for i := range head {
		if r.TrickleHeadersSeconds <= 0 {
			if _, err := conn.Write(head); err != nil {
				return err
			}
			break
		}
		if _, err := conn.Write(head[i : i+1]); err != nil {
			return err
		}
		if !o.wait(conn, r.TrickleHeadersSeconds) {
			return net.ErrClosed
		}
	}
	switch {
	case method == http.MethodHead || r.Status == http.StatusNoContent || r.Status == http.StatusNotModified:
		return nil
	case r.Wire == wireChunkedNoEnd:
		part := body[:len(body)*2/3]
		_, err = fmt.Fprintf(conn, "%x\r\n%s\r\n", len(part), part)
	case r.Wire == wireChunked:
		for part := range slices.Chunk(body, max(len(body)/3, 1)) {
			if _, err = fmt.Fprintf(conn, "%x;part=1\r\n%s\r\n", len(part), part); err != nil {
				return err
			}
		}
		_, err = io.WriteString(conn, "0\r\nX-Sum: none\r\n\r\n")
	case r.ResetAfterBytes != nil:
		if _, err = conn.Write(body[:min(*r.ResetAfterBytes, len(body))]); err == nil {
			// A reset must not overtake what was sent before it.
			o.wait(conn, 0.2)
			if tcp, ok := conn.(*net.TCPConn); ok {
				err = tcp.SetLinger(0)
			}
		}
	case r.StallAfterBytes != nil:
		if _, err = conn.Write(body[:min(*r.StallAfterBytes, len(body))]); err == nil {
			o.wait(conn, r.StallSeconds)
		}
	default:
		_, err = conn.Write(body)
	}
	return err
}

// head is the status line and the headers up to their end.
func (o *origin) head(r *caseResponse, length int) []byte {
	first := r.StatusLine
	if first == "" {
		reason := "X"
		if r.Status == http.StatusOK {
			reason = "OK"
		}
		first = fmt.Sprintf("HTTP/1.1 %d %s", r.Status, reason)
	}
	lines := []string{first}
	declared := false
	for _, h := range r.Headers {
		declared = declared || strings.EqualFold(h[0], "Content-Length")
		lines = append(lines, h[0]+": "+strings.ReplaceAll(h[1], "{{ORIGIN}}", o.url))
	}
	switch {
	case r.Wire == wireChunked || r.Wire == wireChunkedNoEnd:
		lines = append(lines, "Transfer-Encoding: chunked")
	case r.Wire == wireUntilClose || declared || r.Status == http.StatusNotModified:
	default:
		lines = append(lines, "Content-Length: "+strconv.Itoa(length+r.DeclaredLengthExtra))
	}
	lines = append(lines, "Connection: close")
	if r.ExtraRawHeader != "" {
		lines = slices.Insert(lines, min(2, len(lines)), r.ExtraRawHeader)
	}
	end := "\r\n"
	if r.Wire == wireBareLF {
		end = "\n"
	}
	return []byte(r.BeforeStatusLine + strings.Join(lines, end) + end + end)
}

// wait lets a time pass unless the client or the test ends before. It reports
// whether it passed.
func (o *origin) wait(conn net.Conn, seconds float64) bool {
	timer := time.NewTimer(time.Duration(seconds * float64(time.Second)))
	defer timer.Stop()
	gone := make(chan struct{})
	o.serving.Go(func() {
		// A client that waits for an answer sends nothing more: the read ends
		// when it hangs up, or with the deadline below.
		_, _ = conn.Read(make([]byte, 1))
		close(gone)
	})
	defer func() {
		_ = conn.SetReadDeadline(time.Now())
		<-gone
		_ = conn.SetReadDeadline(time.Now().Add(callLimit))
	}()
	select {
	case <-timer.C:
		return true
	case <-gone:
	case <-o.stopped:
	}
	return false
}
