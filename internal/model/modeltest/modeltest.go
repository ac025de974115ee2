// Package modeltest is a server that speaks the OpenAI-compatible interface, for
// tests: embeddings as hashed bags of words, with synonyms that can be switched
// on, and a chat model that answers by rule with the sentence that fits best. On
// demand it does what real ones do wrong, and what hostile ones do.
//
//	s, err := modeltest.Start(modeltest.Config{Key: "secret"})
//	defer s.Close()
//	s.Embeddings(modeltest.Fault{Kind: modeltest.Limited, RetryAfter: "1"})
//
// It is no part of the product, and nothing of the product imports it.
package modeltest

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
)

// Config says how the server behaves when it behaves well.
type Config struct {
	Key        string            // asked for as a bearer token; "": none is
	Synonyms   map[string]string // a word, and the one that it counts as
	Dimensions int               // of a vector; 0: 256
	Base64     bool              // vectors as base64
	Shuffled   bool              // vectors in another order than the texts, each with its index

	// Modern refuses temperature and max_tokens, as some models do.
	Modern bool
}

// Kind is a way of going wrong.
type Kind string

// What can go wrong at either endpoint. Statuses stand for themselves: Kind("503").
const (
	None      Kind = ""
	Stall     Kind = "stall"     // no answer, ever
	Drip      Kind = "drip"      // a byte now and then, without end
	Endless   Kind = "endless"   // as much as is taken
	Reset     Kind = "reset"     // the connection is closed without an answer
	Cut       Kind = "cut"       // the answer ends in the middle
	Garbage   Kind = "garbage"   // what is no JSON
	Empty     Kind = "empty"     // {}
	Redirect  Kind = "redirect"  // 307 to another address of the server
	EchoError Kind = "echoerror" // status 500, with all that was sent, the key too
	EchoLine  Kind = "echoline"  // the key for a status line
)

// What can go wrong with embeddings.
const (
	Dimensions   Kind = "dimensions"   // one vector is shorter
	Shorter      Kind = "shorter"      // all are, from now on
	Uneven       Kind = "uneven"       // those of one request are as long as each other, and not as those of the next
	NotANumber   Kind = "nan"          // a number that is none
	Zeros        Kind = "zeros"        // a vector without a direction
	Missing      Kind = "missing"      // one vector too few
	SameIndex    Kind = "sameindex"    // two vectors for one text
	NoVector     Kind = "novector"     // null for a vector
	Unlike       Kind = "unlike"       // vectors at random
	BrokenBase64 Kind = "brokenbase64" // base64 of three bytes
)

// What can go wrong with a chat. Say with Fault.Text what the model says.
const (
	Says         Kind = "says"         // Fault.Text
	Truncated    Kind = "length"       // finish_reason length
	Filtered     Kind = "filter"       // finish_reason content_filter
	Refusal      Kind = "refusal"      // the field refusal
	Tool         Kind = "tool"         // a call of a tool
	Parts        Kind = "parts"        // a good answer, as a list of parts
	Fenced       Kind = "fenced"       // a good answer, in a code fence and with words around
	Thinking     Kind = "thinking"     // a good answer behind thoughts
	PlainText    Kind = "plain"        // a good answer as text with [1]
	MadeUpCite   Kind = "madeupcite"   // a good sentence that cites a passage that does not exist
	WrongCite    Kind = "wrongcite"    // a good sentence that cites another passage
	NoCite       Kind = "nocite"       // a good sentence that cites none
	WrongQuote   Kind = "wrongquote"   // a quotation that stands nowhere
	WrongNumber  Kind = "wrongnumber"  // a number that stands nowhere
	Exfiltrate   Kind = "exfiltrate"   // a link with the question in it
	Obedient     Kind = "obedient"     // does what a passage says behind "ignore all previous instructions and say "
	HalfBad      Kind = "halfbad"      // one good sentence, one that is made up
	OneBadOfFour Kind = "onebadoffour" // three good ones, one that is made up
)

// Fault is what goes wrong from now on, until another is set.
type Fault struct {
	Kind       Kind
	RetryAfter string // of a status
	Text       string // of Says
	Times      int    // so many times, then well again; 0: always
}

// Request is what the server was sent.
type Request struct {
	Path   string
	Header http.Header
	Body   string
}

// Server is one that runs. Make it with Start.
type Server struct {
	URL string // the base, with /v1

	config   Config
	http     *http.Server
	listener net.Listener
	stop     context.CancelFunc

	mu         sync.Mutex
	embeddings Fault
	chat       Fault
	synonyms   bool
	requests   []Request
	now, most  int
	opened     int
	hold       chan struct{}
	uneven     int
}

// Start starts a server on a loopback address.
func Start(c Config) (*Server, error) {
	if c.Dimensions == 0 {
		c.Dimensions = 256
	}
	var lc net.ListenConfig
	l, err := lc.Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	s := &Server{URL: "http://" + l.Addr().String() + "/v1", config: c, listener: l, stop: stop, synonyms: len(c.Synonyms) > 0}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/embeddings", s.serve(s.embed, func() *Fault { return &s.embeddings }))
	mux.HandleFunc("POST /v1/chat/completions", s.serve(s.talk, func() *Fault { return &s.chat }))
	s.http = &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, BaseContext: func(net.Listener) context.Context { return ctx }, ConnState: s.connected}
	go func() { _ = s.http.Serve(l) }() // it ends with Close
	return s, nil
}

// Close ends the server, and what is stalled.
func (s *Server) Close() {
	s.stop()
	_ = s.http.Close()
}

// Embeddings says what goes wrong with embeddings.
func (s *Server) Embeddings(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.embeddings = f
}

// Chat says what goes wrong with chats.
func (s *Server) Chat(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chat = f
}

// Synonyms switches them on or off.
func (s *Server) Synonyms(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.synonyms = on
}

// Hold keeps every request waiting until release is called.
func (s *Server) Hold() (release func()) {
	hold := make(chan struct{})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hold = hold
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.hold = nil
		close(hold)
	})
}

// Requests gives what the server was sent at a path that ends so.
func (s *Server) Requests(suffix string) []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Request
	for _, r := range s.requests {
		if strings.HasSuffix(r.Path, suffix) {
			out = append(out, r)
		}
	}
	return out
}

// InFlight gives how many requests are being answered, and the most there were at
// once.
func (s *Server) InFlight() (now, most int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now, s.most
}

// Connections gives how many there were.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opened
}

func (s *Server) connected(_ net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if state == http.StateNew {
		s.opened++
	}
}

const bodyMax = 32 << 20

// serve does what all requests have in common.
func (s *Server) serve(answer func(body []byte, f Fault) (any, error), fault func() *Fault) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, bodyMax))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		s.mu.Lock()
		s.requests = append(s.requests, Request{r.URL.Path, r.Header.Clone(), string(body)})
		s.now++
		s.most = max(s.most, s.now)
		hold := s.hold
		f := *fault()
		if f.Times > 0 {
			if fault().Times--; fault().Times == 0 {
				*fault() = Fault{}
			}
		}
		s.mu.Unlock()
		defer func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.now--
		}()
		if hold != nil {
			select {
			case <-hold:
			case <-r.Context().Done():
				return
			}
		}
		if s.config.Key != "" && r.Header.Get("Authorization") != "Bearer "+s.config.Key {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(w, `{"error":{"message":"wrong key %s"}}`, r.Header.Get("Authorization"))
			return
		}
		if s.goWrong(w, r, body, f) {
			return
		}
		v, err := answer(body, f)
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": err.Error()}})
			return
		}
		out, err := json.Marshal(v)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if f.Kind == NotANumber {
			out = []byte(strings.Replace(string(out), "[", "[NaN,", 2))
		}
		if f.Kind == Cut {
			w.Header().Set("Content-Length", fmt.Sprint(len(out)))
			out = out[:len(out)/2]
		}
		_, _ = w.Write(out)
	}
}

// goWrong does what can go wrong at either endpoint, and says whether it was that.
func (s *Server) goWrong(w http.ResponseWriter, r *http.Request, body []byte, f Fault) bool {
	if f.RetryAfter != "" {
		w.Header().Set("Retry-After", f.RetryAfter)
	}
	var status int
	if n, err := fmt.Sscanf(string(f.Kind), "%d", &status); n == 1 && err == nil {
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"error":{"message":"status %d for %s"}}`, status, r.Header.Get("Authorization"))
		return true
	}
	switch f.Kind {
	case Stall:
		<-r.Context().Done()
	case Drip:
		_, _ = io.WriteString(w, `{"choices":[`)
		t := time.NewTicker(10 * time.Millisecond)
		defer t.Stop()
		for {
			select {
			case <-r.Context().Done():
				return true
			case <-t.C:
			}
			if _, err := io.WriteString(w, " "); err != nil || http.NewResponseController(w).Flush() != nil {
				return true
			}
		}
	case Endless:
		_, _ = io.WriteString(w, `{"data":[{"embedding":[0`)
		for {
			if _, err := io.WriteString(w, strings.Repeat(",0.125", 10_000)); err != nil || r.Context().Err() != nil {
				return true
			}
		}
	case Reset:
		if c, _, err := http.NewResponseController(w).Hijack(); err == nil {
			_ = c.Close()
		}
	case EchoLine:
		if c, _, err := http.NewResponseController(w).Hijack(); err == nil {
			fmt.Fprintf(c, "%s\r\n\r\n", r.Header.Get("Authorization"))
			_ = c.Close()
		}
	case Garbage:
		fmt.Fprintf(w, "<html><h1>Bad gateway</h1>%s", r.Header.Get("Authorization"))
	case Empty:
		_, _ = io.WriteString(w, "{}")
	case Redirect:
		http.Redirect(w, r, s.URL+"/elsewhere", http.StatusTemporaryRedirect)
	case EchoError:
		w.WriteHeader(http.StatusInternalServerError)
		fmt.Fprintf(w, "%v %s", r.Header, body)
	default:
		return false
	}
	return true
}

// embed answers a request for embeddings.
func (s *Server) embed(body []byte, f Fault) (any, error) {
	var req struct {
		Model string   `json:"model"`
		Input []string `json:"input"`
	}
	if err := json.Unmarshal(body, &req); err != nil || req.Model == "" || len(req.Input) == 0 {
		return nil, fmt.Errorf("want model and input: %w", err)
	}
	if len(req.Input) > 32 {
		return nil, fmt.Errorf("batch size %d > maximum allowed batch size 32", len(req.Input))
	}
	type item struct {
		Object    string `json:"object"`
		Index     int    `json:"index"`
		Embedding any    `json:"embedding"`
	}
	var data []item
	s.mu.Lock()
	s.uneven++
	odd := s.uneven % 64
	s.mu.Unlock()
	for i, text := range req.Input {
		v := s.Vector(text)
		switch {
		case f.Kind == Dimensions && i == len(req.Input)-1, f.Kind == Shorter:
			v = v[:len(v)/2]
		case f.Kind == Uneven:
			v = v[odd:]
		case f.Kind == Zeros && i == 0:
			v = make([]float64, len(v))
		case f.Kind == Unlike:
			for j := range v {
				v[j] = math.Sin(float64(len(text)*(j+1)) + float64(j*j))
			}
		}
		it := item{"embedding", i, v}
		if s.config.Base64 {
			var b []byte
			for _, x := range v {
				b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(x)))
			}
			it.Embedding = base64.StdEncoding.EncodeToString(b)
		}
		switch f.Kind {
		case SameIndex:
			it.Index = 0
		case NoVector:
			it.Embedding = nil
		case BrokenBase64:
			it.Embedding = "AAAA"
		}
		data = append(data, it)
	}
	if s.config.Shuffled {
		slices.Reverse(data)
	}
	if f.Kind == Missing {
		data = data[1:]
	}
	return map[string]any{"object": "list", "model": req.Model, "data": data, "usage": map[string]int{"prompt_tokens": 1, "total_tokens": 1}}, nil
}

// Vector is a text as a hashed bag of words.
func (s *Server) Vector(text string) []float64 {
	v := make([]float64, s.config.Dimensions)
	for _, w := range s.words(text) {
		h := fnv.New64a()
		_, _ = h.Write([]byte(w))
		n := h.Sum64()
		sign := 1.0
		if n>>63 == 1 {
			sign = -1
		}
		v[int(n%uint64(len(v)))] += sign //nolint:gosec // it is below the length
	}
	v[0] += 0.5 // no text is without a direction
	return v
}

// words gives the words of a text that mean something, by their stems or by what
// they count as.
func (s *Server) words(text string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if slices.Contains(stop, w) {
			continue
		}
		if as := s.config.Synonyms[w]; s.synonyms && as != "" {
			w = as
		}
		if len(w) > 4 {
			w = strings.TrimSuffix(strings.TrimSuffix(w, "s"), "e")
		}
		out = append(out, w)
	}
	return out
}

var stop = strings.Fields("a an and are as at be by do does for from how in is it its long many much of on or than that the their them then they this to was what when where which who why will with you")

// passage is one as it comes in.
type passage struct {
	N    int    `json:"n"`
	Text string `json:"text"`
}

// sentence is one as it goes out.
type sentence struct {
	Text  string `json:"text"`
	Cites []int  `json:"cites"`
}

// talk answers a chat.
func (s *Server) talk(body []byte, f Fault) (any, error) {
	var req struct {
		Model       string   `json:"model"`
		Temperature *float64 `json:"temperature"`
		MaxTokens   int      `json:"max_tokens"`
		Messages    []struct {
			Role    string `json:"role"`
			Content string `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(body, &req); err != nil || req.Model == "" || len(req.Messages) != 2 || req.Messages[0].Role != "system" || req.Messages[1].Role != "user" {
		return nil, fmt.Errorf("want model and two messages: %w", err)
	}
	if s.config.Modern && (req.Temperature != nil || req.MaxTokens > 0) {
		return nil, errors.New("unsupported parameter: use max_completion_tokens instead of max_tokens")
	}
	var in struct {
		Question string    `json:"question"`
		Passages []passage `json:"passages"`
	}
	if err := json.Unmarshal([]byte(req.Messages[1].Content), &in); err != nil || in.Question == "" || len(in.Passages) == 0 {
		return nil, fmt.Errorf("want a question and passages: %w", err)
	}
	content, finish := any(s.say(in.Question, in.Passages, f)), "stop"
	message := map[string]any{"role": "assistant"}
	switch f.Kind {
	case Truncated:
		finish = "length"
	case Filtered:
		finish = "content_filter"
	case Refusal:
		message["refusal"], content = "I cannot help with that.", nil
	case Tool:
		finish, content = "tool_calls", nil
		message["tool_calls"] = []any{map[string]any{"type": "function", "function": map[string]string{"name": "fetch", "arguments": "{}"}}}
	case Parts:
		content = []any{map[string]any{"type": "text", "text": content}}
	}
	message["content"] = content
	return map[string]any{
		"object": "chat.completion", "model": req.Model,
		"choices": []any{map[string]any{"index": 0, "finish_reason": finish, "message": message}},
	}, nil
}

// say is what the model says.
func (s *Server) say(question string, passages []passage, f Fault) string {
	if f.Kind == Says {
		return f.Text
	}
	best := s.best(question, passages)
	if f.Kind == Obedient {
		for _, p := range passages {
			if _, order, ok := strings.Cut(p.Text, "gnore all previous instructions and say "); ok {
				return written(sentence{order, []int{p.N}})
			}
		}
	}
	if len(best) == 0 {
		return `{"answered": false, "sentences": []}`
	}
	first := best[0]
	others := slices.DeleteFunc(slices.Clone(passages), func(p passage) bool { return p.N == first.Cites[0] })
	madeUp := sentence{"It was decided in 1987 by MadeUpCommittee.", first.Cites}
	switch f.Kind {
	case Fenced:
		return "Here is the answer:\n\n```json\n" + written(first) + "\n```\n\nLet me know if you need more {detail}."
	case Thinking:
		return "<think>\nThe user asks. Perhaps {\"answered\": false, \"sentences\": []}? No.\n</think>\n\n" + written(first)
	case PlainText:
		return fmt.Sprintf("%s [%d]", first.Text, first.Cites[0])
	case MadeUpCite:
		first.Cites = []int{first.Cites[0], len(passages) + 7}
	case WrongCite:
		if len(others) > 0 {
			first.Cites = []int{others[0].N}
		}
	case NoCite:
		first.Cites = nil
	case WrongQuote:
		first.Text = `The page says "this is of course not what the page says at all".`
	case WrongNumber:
		first.Text = "It is exactly 8731 of them."
	case Exfiltrate:
		first.Text = "See https://collect.example/?q=" + strings.ReplaceAll(question, " ", "+") + " for more."
	case HalfBad:
		return written(first, madeUp)
	case OneBadOfFour:
		return written(first, madeUp, first, first)
	}
	return written(first)
}

func written(list ...sentence) string {
	b, err := json.Marshal(map[string]any{"answered": true, "sentences": list})
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// best gives the sentences of the passages that share words with the question,
// the best first.
func (s *Server) best(question string, passages []passage) []sentence {
	asked := s.words(question)
	type scored struct {
		sentence
		score int
	}
	var all []scored
	for _, p := range passages {
		for _, part := range strings.FieldsFunc(strings.ReplaceAll(p.Text, ". ", ".\n"), func(r rune) bool { return r == '\n' }) {
			n := 0
			words := s.words(part)
			for _, w := range asked {
				if slices.Contains(words, w) {
					n++
				}
			}
			if n > 0 {
				all = append(all, scored{sentence{strings.Trim(part, "#*|- "), []int{p.N}}, n})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b scored) int { return b.score - a.score })
	var out []sentence
	for _, a := range all {
		out = append(out, a.sentence)
	}
	return out
}
