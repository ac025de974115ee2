package pipeline

import (
	"context"
	"strings"
	"testing"

	"sift.build/sift/internal/dcache"
	"sift.build/sift/internal/model"
	"sift.build/sift/internal/model/modeltest"
	"sift.build/sift/internal/sift"
)

// cache is what app makes of the store for the models.
type cache struct{ db *dcache.DB }

func (c cache) Values(ctx context.Context, kind, class string, keys []string) (map[string][]byte, error) {
	return c.db.Values(ctx, dcache.Cache(kind), class, keys)
}

func (c cache) PutValues(ctx context.Context, kind, class string, values map[string][]byte) error {
	return c.db.PutValues(ctx, dcache.Cache(kind), class, values)
}

func newModelServer(t *testing.T) *modeltest.Server {
	t.Helper()
	m, err := modeltest.Start(modeltest.Config{Key: "sk-tern"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

func (r *rig) withModels(t *testing.T, c model.Config) *rig {
	t.Helper()
	c.Key, c.Cache = model.NewKey("sk-tern"), cache{r.store}
	models, err := model.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(models.Close)
	r.cfg.Models = models
	return r
}

func TestAModelWritesTheAnswerFromThePassages(t *testing.T) {
	m := newModelServer(t)
	s := newSite(t, serve(policy))
	r := newRig(t, s, rigOptions{}).withModels(t, model.Config{ChatURL: m.URL, ChatModel: "c"})
	target := sift.Target{URL: "http://a.example/", Question: "How long are backups kept?"}
	env := r.get(t, target)
	d := env.Digest
	if d == nil || d.Method != sift.DigestLLM || !strings.Contains(d.Answer, "[1]") || len(d.Passages) == 0 || len(env.Warnings) != 0 {
		t.Fatalf("%+v, %v", d, env.Warnings)
	}
	if !strings.HasPrefix(env.Content, d.Answer) || !strings.Contains(env.Content, d.Passages[0].Text) {
		t.Errorf("%s", env.Content)
	}
	whole := r.get(t, sift.Target{URL: "http://a.example/"})
	for _, p := range d.Passages {
		if between(whole.Content, p.Start, p.End) != p.Text {
			t.Errorf("%+v is not at its place", p)
		}
	}
	// It is kept: neither the same question nor a restart asks again.
	before := len(m.Requests(""))
	r.get(t, target)
	r.memory = newMemory(0)
	if again := r.get(t, target); again.Digest.Answer != d.Answer {
		t.Errorf("%q", again.Digest.Answer)
	}
	if after := len(m.Requests("")); after != before || s.hits.Load() != 1 {
		t.Errorf("%d requests more, %d downloads", after-before, s.hits.Load())
	}
	// But by class.
	if _, err := r.FetchTarget(t.Context(), sift.Caller{Name: "bob", Class: "other"}, target); err != nil {
		t.Error(err)
	}
	if after := len(m.Requests("")); after == before {
		t.Error("another class was given the answer of this one")
	}
}

func TestAModelThatFailsCostsAWarningAndIsAskedAgain(t *testing.T) {
	m := newModelServer(t)
	r := newRig(t, newSite(t, serve(policy)), rigOptions{}).withModels(t, model.Config{ChatURL: m.URL, ChatModel: "c"})
	target := sift.Target{URL: "http://a.example/", Question: "How long are backups kept?"}
	m.Chat(modeltest.Fault{Kind: "400", Times: 1})
	env := r.get(t, target)
	if env.Digest.Method != sift.DigestExtractive || !strings.Contains(env.Digest.Answer, "thirty days") || len(env.Warnings) != 1 || env.Warnings[0].Code != sift.WarnFallback {
		t.Fatalf("%+v, %v", env.Digest, env.Warnings)
	}
	if strings.Contains(env.Warnings[0].Message, "sk-tern") {
		t.Errorf("%s", env.Warnings[0].Message)
	}
	if env := r.get(t, target); env.Digest.Method != sift.DigestLLM || len(env.Warnings) != 0 {
		t.Errorf("%+v, %v", env.Digest, env.Warnings)
	}
}

func TestAJQProgramASectionAndAPageRangeComeBeforeTheModels(t *testing.T) {
	m := newModelServer(t)
	r := newRig(t, newSite(t, serve(policy)), rigOptions{}).withModels(t, model.Config{ChatURL: m.URL, ChatModel: "c"})
	env := r.get(t, sift.Target{URL: "http://a.example/", Section: "Backups", Question: "How long are backups kept?"})
	if env.Digest.Method != sift.DigestLLM || env.Section == nil || strings.Contains(env.Content, "ninety") {
		t.Errorf("%s", env.Content)
	}
	whole := r.get(t, sift.Target{URL: "http://a.example/"})
	if p := env.Digest.Passages[0]; between(whole.Content, p.Start, p.End) != p.Text || p.Heading != "Policy > Backups" {
		t.Errorf("%+v", p)
	}
	r = newRig(t, newSite(t, typed("application/json", api)), rigOptions{}).withModels(t, model.Config{ChatURL: m.URL, ChatModel: "c"})
	if env := r.get(t, sift.Target{URL: "http://a.example/", JQ: ".items[].name", Question: "where is the auk"}); env.Digest.Method != sift.DigestLLM || strings.Contains(env.Content, "page=2") {
		t.Errorf("%s", env.Content)
	}
}
