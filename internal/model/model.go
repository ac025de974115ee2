package model

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"sift.build/sift/internal/digest"
	"sift.build/sift/internal/sift"
)

// Config says which models there are. All of it is optional; with no endpoint
// Digest needs no model.
type Config struct {
	// The bases of the interface, such as https://models.example/v1. One that ends
	// in /embeddings or /chat/completions already is taken as it is.
	EmbeddingsURL   string
	EmbeddingsModel string
	ChatURL         string
	ChatModel       string

	Key   Key   // for both
	Cache Cache // nil: none

	Timeout  time.Duration // of one request; 0: DefaultTimeout
	Requests int           // at once, over all questions; 0: DefaultRequests

	UserAgent string
	Trace     *Trace
}

// What is taken where Config does not say.
const (
	DefaultTimeout  = 15 * time.Second
	DefaultRequests = 8
)

// Cache keeps vectors and answers. What it gives back is checked like what a
// model sends. Its methods may be called from several goroutines.
type Cache interface {
	// Values gives those of the keys that are there.
	Values(ctx context.Context, kind, class string, keys []string) (map[string][]byte, error)
	PutValues(ctx context.Context, kind, class string, values map[string][]byte) error
}

// The kinds of what is kept.
const (
	KindEmbed  = "embed"
	KindDigest = "digest"
)

// Trace has hooks that are called when something has happened. Any may be nil.
type Trace struct {
	// Asked is told of each request to an endpoint, and of each that was not made
	// since the endpoint is left alone or too many are under way: which endpoint
	// (embeddings or chat), the outcome, and how long it took. Of several at once it
	// is told of the first that fails, and not of those that are ended by that. err is
	// for the operator's log. It has no key in it and nothing of a page.
	Asked func(endpoint string, outcome Outcome, took time.Duration, err error)

	// Checked is told of each answer of the chat model that was read: how many
	// sentences it had and how many were left out.
	Checked func(sentences, failed int)

	// CacheFailed is told of what went wrong with the cache.
	CacheFailed func(kind string, err error)
}

// Ask is a question to a content.
type Ask struct {
	Class      string // of the caller
	Restricted bool   // changes nothing: no warning names a host, whoever reads it

	// Secret says that nothing of the content may be kept: the cache is neither read
	// nor written.
	Secret bool

	Text     digest.Text
	Question string
	Options  digest.Options

	// Turn, where set, is called before the content is searched, which takes up to
	// 16 bytes of memory for each of its bytes; leave after that, before any model
	// is asked. Its error ends the Digest as it is.
	Turn func(ctx context.Context) (leave func(), err error)
}

// Models answers questions. Make one with New.
type Models struct {
	embeddings *endpoint // nil: none
	chat       *endpoint

	key       Key
	cache     Cache
	timeout   time.Duration
	userAgent string
	client    *http.Client
	transport *http.Transport
	slots     chan struct{}
	trace     Trace
	cohort    atomic.Pointer[[][]float32] // vectors of the cohort
}

// New checks the configuration. It asks nobody anything. No error holds the key.
func New(c Config) (*Models, error) {
	m := &Models{
		key: c.Key, cache: c.Cache, timeout: c.Timeout, userAgent: c.UserAgent,
		slots: make(chan struct{}, orElse(c.Requests, DefaultRequests)),
	}
	if m.timeout <= 0 {
		m.timeout = DefaultTimeout
	}
	if c.Trace != nil {
		m.trace = *c.Trace
	}
	if strings.ContainsFunc(c.Key.secret(), func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New("the key has characters that a header cannot carry; want one line of ASCII without spaces")
	}
	var errs []error
	endpointOf := func(name, base, path, model string) *endpoint {
		if base == "" && model == "" {
			return nil
		}
		e, err := newEndpoint(name, base, path, model)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
		}
		return e
	}
	m.embeddings = endpointOf("embeddings", c.EmbeddingsURL, "/embeddings", c.EmbeddingsModel)
	m.chat = endpointOf("chat", c.ChatURL, "/chat/completions", c.ChatModel)
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	m.client, m.transport = newClient(m.timeout, cap(m.slots))
	return m, nil
}

func orElse(n, instead int) int {
	if n <= 0 {
		return instead
	}
	return n
}

// Close closes idle connections. Questions under way are not disturbed.
func (m *Models) Close() { m.transport.CloseIdleConnections() }

// modelShare is the share of the time left that the models get, and
// embeddingShare how much of that the embeddings get where a chat model waits.
const (
	modelShare     = 0.7
	embeddingShare = 0.5
)

// within gives a context that ends when so much of the time left is over. Who
// has all the time in the world gets otherwise.
func within(ctx context.Context, share float64, otherwise time.Duration) (context.Context, context.CancelFunc) {
	end, ok := ctx.Deadline()
	if !ok {
		return context.WithTimeout(ctx, otherwise)
	}
	return context.WithTimeout(ctx, time.Duration(float64(time.Until(end))*share))
}

// rank ranks the passages of the content when it is its turn.
func rank(ctx context.Context, a Ask, limit int) (digest.Ranking, error) {
	if a.Turn != nil {
		leave, err := a.Turn(ctx)
		if err != nil {
			return digest.Ranking{}, err
		}
		defer leave()
	}
	return digest.RankAll(ctx, a.Text, a.Question, a.Options, limit)
}

// Digest gives the passages that answer the question, and the answer. A model
// that fails is a warning. The errors are those of digest.Extract.
func (m *Models) Digest(ctx context.Context, a Ask) (sift.Digest, []sift.Warning, error) {
	limit := 0
	if m.embeddings != nil {
		limit = passagesMax
	}
	k, err := rank(ctx, a, limit)
	if err != nil {
		return sift.Digest{}, nil, err
	}
	if m.embeddings == nil && m.chat == nil {
		return k.Digest(), nil, nil
	}
	models, done := within(ctx, modelShare, 3*m.timeout)
	defer done()
	var warnings []sift.Warning
	p := byWords(&k)
	if m.embeddings != nil && len(k.Passages) > 0 {
		share := 1.0
		if m.chat != nil {
			share = embeddingShare
		}
		sub, done := within(models, share, m.timeout)
		better, err := m.byMeaning(sub, a, &k)
		done()
		if err == nil {
			p = better
		} else {
			warnings = append(warnings, m.embeddings.warning(err, "the passages were ranked by their words alone"))
		}
	}
	if m.chat != nil && len(p.order) > 0 && ctx.Err() == nil {
		d, err := m.written(models, a, &k, p)
		if err == nil {
			return d, warnings, nil
		}
		instead := "the answer was taken from the page to the letter"
		if !p.answered {
			instead = "that nothing answers was decided without it"
		}
		warnings = append(warnings, m.chat.warning(err, instead))
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return sift.Digest{}, nil, sift.Fail(sift.CodeCancel, "the caller went away").WithCause(ctx.Err())
	}
	return p.digest(&k), warnings, nil
}

// plan is an order of passages, and whether they answer the question.
type plan struct {
	method   sift.DigestMethod
	order    []int // indices of the ranking's passages, the best first
	scores   []float64
	firsts   int
	near     int // so many of order are not far behind the best
	answered bool
	answer   string // "": the sentence that has most of the question
}

// byWords is the plan that needs no model.
func byWords(k *digest.Ranking) plan {
	p := plan{method: sift.DigestExtractive, answered: k.Answered}
	p.order, p.firsts = k.Order()
	for _, i := range p.order {
		p.scores = append(p.scores, k.Passages[i].Score)
	}
	return p
}

// digest is the answer of a plan, to the letter of the page.
func (p plan) digest(k *digest.Ranking) sift.Digest {
	if p.method == sift.DigestExtractive {
		return k.Digest()
	}
	if !p.answered {
		return k.DigestOf(digest.Choice{Method: p.method})
	}
	d := k.DigestOf(digest.Choice{Method: p.method, Order: p.order[:p.near], Scores: p.scores, Firsts: p.firsts})
	if p.answer != "" {
		d.Answer = p.answer
	}
	return d
}

// read is what a chat model gets to read: as many of the passages as the caller
// would get.
func (p plan) read(k *digest.Ranking) []sift.Passage {
	return k.DigestOf(digest.Choice{Method: sift.DigestLLM, Order: p.order, Scores: p.scores}).Passages
}

// indexOf finds a passage of a digest, which may be cut, in its ranking.
func indexOf(k *digest.Ranking, p sift.Passage) int {
	return slices.IndexFunc(k.Passages, func(o sift.Passage) bool { return o.Start <= p.Start && p.End <= o.End })
}
