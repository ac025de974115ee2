package model_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sift.build/sift/internal/digest"
	"sift.build/sift/internal/model"
	"sift.build/sift/internal/model/modeltest"
	"sift.build/sift/internal/sift"
)

// secret is the key of all tests.
const secret = "sk-very-secret-0123456789"

// page has a section that answers without a word of the question.
const page = `# Keeper

Keeper stores boxes for archives. It is a service with one binary.

## Install

Download the package and unpack it into /opt/keeper. Then start the service with systemctl.

## Limits

| Plan | Requests per minute | Storage |
| --- | --- | --- |
| Free | 60 | 1 GB |
| Team | 600 | 50 GB |

## Retention

Copies are taken every night at two. They are kept for thirty days and then deleted. See "the manual of Keeper" for more.

## Heating

The automobile of the warden stands in front. It is warm.

## Flags

- --verbose prints more
- --quiet prints nothing
`

// synonyms are what the embeddings know and words do not tell.
var synonyms = map[string]string{"car": "automobile", "cars": "automobile", "vehicle": "automobile", "parked": "stands", "backups": "copies", "backup": "copies", "retention": "kept", "guard": "warden"}

func markdown(content string) digest.Text {
	t := digest.Text{Content: content, Markdown: true, Language: "en"}
	offset := 0
	for line := range strings.Lines(content) {
		if level := len(line) - len(strings.TrimLeft(line, "#")); level > 0 {
			t.Headings = append(t.Headings, sift.Heading{Level: level, Text: strings.TrimSpace(line[level:]), Offset: offset})
		}
		offset += len([]rune(line))
	}
	return t
}

func start(t testing.TB, c modeltest.Config) *modeltest.Server {
	t.Helper()
	if c.Synonyms == nil {
		c.Synonyms = synonyms
	}
	c.Key = secret
	s, err := modeltest.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// open makes Models with the endpoints named.
func open(t testing.TB, s *modeltest.Server, endpoints string, more func(*model.Config)) *model.Models {
	t.Helper()
	c := model.Config{Key: model.NewKey(secret), Timeout: 10 * time.Second}
	if strings.Contains(endpoints, "embeddings") {
		c.EmbeddingsURL, c.EmbeddingsModel = s.URL, "bag-of-words"
	}
	if strings.Contains(endpoints, "chat") {
		c.ChatURL, c.ChatModel = s.URL, "rules"
	}
	if more != nil {
		more(&c)
	}
	m, err := model.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

func ask(t testing.TB, m *model.Models, question string) (sift.Digest, []sift.Warning) {
	t.Helper()
	d, warnings, err := m.Digest(t.Context(), model.Ask{Class: "default", Text: markdown(page), Question: question})
	if err != nil {
		t.Fatal(err)
	}
	holds(t, page, d)
	return d, warnings
}

// holds is what every digest has to hold, whatever a model did.
func holds(t testing.TB, content string, d sift.Digest) {
	t.Helper()
	runes := []rune(content)
	last, total := 0, 0
	for i, p := range d.Passages {
		if p.N != i+1 || p.Start < last || p.End <= p.Start || p.End > len(runes) || string(runes[p.Start:p.End]) != p.Text {
			t.Errorf("passage %d: %+v", i+1, p)
		}
		last = p.End
		total += p.End - p.Start
	}
	if d.Passages == nil || d.Answer == "" || len(d.Passages) > digest.DefaultPassages || total > digest.DefaultChars {
		t.Errorf("digest with %d passages of %d characters, answer %q", len(d.Passages), total, d.Answer)
	}
	if !slices.Contains(sift.DigestMethods(), d.Method) {
		t.Errorf("method %q", d.Method)
	}
}

// memory is a cache that can fail.
type memory struct {
	mu     sync.Mutex
	values map[string][]byte
	broken bool
	reads  int
}

func (c *memory) Values(_ context.Context, kind, class string, keys []string) (map[string][]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken {
		return nil, errors.New("the disk is full")
	}
	c.reads++
	out := make(map[string][]byte)
	for _, k := range keys {
		if v, ok := c.values[kind+"\x00"+class+"\x00"+k]; ok {
			out[k] = v
		}
	}
	return out, nil
}

func (c *memory) PutValues(_ context.Context, kind, class string, values map[string][]byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken {
		return errors.New("the disk is full")
	}
	if c.values == nil {
		c.values = make(map[string][]byte)
	}
	for k, v := range values {
		c.values[kind+"\x00"+class+"\x00"+k] = v
	}
	return nil
}

// of gives what is kept of a kind and class.
func (c *memory) of(kind, class string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for k := range maps.Keys(c.values) {
		if strings.HasPrefix(k, kind+"\x00"+class+"\x00") {
			n++
		}
	}
	return n
}

func TestWithoutEndpointsTheAnswerIsTheEmbeddedOne(t *testing.T) {
	m, err := model.New(model.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	d, warnings := ask(t, m, "How many requests does Team get?")
	want, err := digest.Extract(t.Context(), markdown(page), "How many requests does Team get?", digest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, d); diff != "" || len(warnings) != 0 || d.Method != sift.DigestExtractive {
		t.Error(diff, warnings)
	}
}

func TestTheContentIsSearchedInItsTurnAndModelsAreAskedAfterIt(t *testing.T) {
	s := start(t, modeltest.Config{})
	for _, endpoints := range []string{"", "embeddings chat"} {
		m := open(t, s, endpoints, nil)
		asked := len(s.Requests(""))
		turn := "waited for"
		d, _, err := m.Digest(t.Context(), model.Ask{Text: markdown(page), Question: "How many requests does Team get?", Turn: func(context.Context) (func(), error) {
			turn = "taken"
			return func() {
				turn = "left"
				if n := len(s.Requests("")); n != asked {
					t.Errorf("%d requests before the turn was left", n-asked)
				}
			}, nil
		}})
		if err != nil || turn != "left" || len(d.Passages) == 0 {
			t.Errorf("%v, turn %s, %+v", err, turn, d)
		}
		busy := sift.Fail(sift.CodeBusy, "later")
		if _, _, err := m.Digest(t.Context(), model.Ask{Text: markdown(page), Question: "Team", Turn: func(context.Context) (func(), error) { return nil, busy }}); err != error(busy) {
			t.Errorf("%v", err)
		}
	}
}

func TestEmbeddingsFindWhatSharesNoWordWithTheQuestion(t *testing.T) {
	s := start(t, modeltest.Config{})
	m := open(t, s, "embeddings", nil)
	const question = "Where is the car parked?"
	if d, err := digest.Extract(t.Context(), markdown(page), question, digest.Options{}); err != nil || len(d.Passages) != 0 {
		t.Fatalf("words alone find %+v, %v", d, err)
	}
	d, warnings := ask(t, m, question)
	if d.Method != sift.DigestHybrid || len(warnings) != 0 || len(d.Passages) == 0 || !strings.Contains(d.Answer, "automobile of the warden") {
		t.Errorf("%+v\n%v", d, warnings)
	}

	// It is the synonyms that do it.
	s.Synonyms(false)
	m = open(t, s, "embeddings", nil)
	if d, _ := ask(t, m, question); d.Method != sift.DigestHybrid || len(d.Passages) != 0 || !strings.HasPrefix(d.Answer, "Nothing on this page") {
		t.Errorf("%+v", d)
	}
}

func TestTheChatModelWritesAnAnswerThatCitesItsPassages(t *testing.T) {
	s := start(t, modeltest.Config{})
	for _, endpoints := range []string{"chat", "embeddings chat"} {
		m := open(t, s, endpoints, nil)
		d, warnings := ask(t, m, "How long are backups kept until deleted?")
		if d.Method != sift.DigestLLM || len(warnings) != 0 || d.Answer != "They are kept for thirty days and then deleted [1]." {
			t.Errorf("%s: %+v\n%v", endpoints, d, warnings)
		}
		if len(d.Passages) != 1 || !strings.Contains(d.Passages[0].Text, "thirty days") || d.Passages[0].Heading != "Keeper > Retention" {
			t.Errorf("%s: passages %+v", endpoints, d.Passages)
		}
	}
}

func TestAModelMaySayThatNothingAnswersWhereWordsAreNotSure(t *testing.T) {
	s := start(t, modeltest.Config{})
	s.Chat(modeltest.Fault{Kind: modeltest.Says, Text: `{"answered": false, "sentences": []}`})
	cache := &memory{}
	m := open(t, s, "chat", func(c *model.Config) { c.Cache = cache })
	const unsure = "Does the warden polish the automobile with wax?"
	if k, err := digest.Rank(t.Context(), markdown(page), unsure, digest.Options{}); err != nil || !k.Answered || k.Margin > 0.15 {
		t.Fatalf("words are sure by %v, or answered is %v, %v", k.Margin, k.Answered, err)
	}
	d, warnings := ask(t, m, unsure)
	if d.Method != sift.DigestLLM || len(d.Passages) != 0 || len(warnings) != 0 || !strings.HasPrefix(d.Answer, "Nothing on this page answers") {
		t.Errorf("%+v\n%v", d, warnings)
	}

	// A page may have told it to say so, and what words have found is not kept from the
	// caller; nor when the answer comes from the cache.
	const sure = "How many requests does Team get?"
	want, err := digest.Extract(t.Context(), markdown(page), sure, digest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		d, warnings = ask(t, m, sure)
		if diff := cmp.Diff(want, d); diff != "" || len(warnings) != 1 || warnings[0].Code != sift.WarnFallback || !strings.Contains(warnings[0].Message, "the chat endpoint found no answer in the passages") {
			t.Errorf("%s\n%v", diff, warnings)
		}
	}
	if n := len(s.Requests("chat/completions")); n != 2 {
		t.Errorf("%d chats, want one for each question", n)
	}
}

func TestVectorsAndAnswersAreKeptByClass(t *testing.T) {
	s := start(t, modeltest.Config{})
	cache := &memory{}
	m := open(t, s, "embeddings chat", func(c *model.Config) { c.Cache = cache })
	put := func(class string) sift.Digest {
		t.Helper()
		d, warnings, err := m.Digest(t.Context(), model.Ask{Class: class, Text: markdown(page), Question: "How long are backups kept?"})
		if err != nil || len(warnings) > 0 || d.Method != sift.DigestLLM {
			t.Fatal(d, warnings, err)
		}
		return d
	}
	first := put("a")
	asked := len(s.Requests(""))
	if again := put("a"); !cmp.Equal(first, again) || len(s.Requests("")) != asked {
		t.Errorf("%d requests more for the same question: %s", len(s.Requests(""))-asked, cmp.Diff(first, again))
	}
	if n := cache.of(model.KindEmbed, "b") + cache.of(model.KindDigest, "b"); n != 0 {
		t.Errorf("%d values of another class", n)
	}
	put("b")
	if len(s.Requests("chat/completions")) != 2 || cache.of(model.KindDigest, "b") != 1 || cache.of(model.KindEmbed, "b") == 0 {
		t.Errorf("%d chats", len(s.Requests("chat/completions")))
	}
}

func TestACacheThatFailsIsNoFailure(t *testing.T) {
	s := start(t, modeltest.Config{})
	var failed []string
	m := open(t, s, "embeddings chat", func(c *model.Config) {
		c.Cache = &memory{broken: true}
		c.Trace = &model.Trace{CacheFailed: func(kind string, err error) { failed = append(failed, fmt.Sprint(kind, ": ", err)) }}
	})
	d, warnings := ask(t, m, "How long are backups kept?")
	if d.Method != sift.DigestLLM || len(warnings) != 0 || len(failed) == 0 {
		t.Errorf("%+v %v %v", d, warnings, failed)
	}
}
