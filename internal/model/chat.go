package model

import (
	"bytes"
	"context"
	_ "embed" // the prompt
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sift.build/sift/internal/digest"
	"sift.build/sift/internal/sift"
)

// PromptVersion names the instructions in prompt.txt and the form of what goes
// with them. Change it with them: answers to other instructions are not taken from
// the cache.
const PromptVersion = "2"

//go:embed prompt.txt
var prompt string

// Bounds on what is asked of a chat endpoint.
const (
	answerTokens = 2000      // some models think aloud before they answer
	modernTokens = 8000      // and newer ones think more
	chatLimit    = 512 << 10 // bytes of one answer
)

// message is one turn.
type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// request is what is asked of a chat endpoint. There are no tools in it.
type request struct {
	Model               string    `json:"model"`
	Messages            []message `json:"messages"`
	Temperature         *int      `json:"temperature,omitempty"`
	MaxTokens           int       `json:"max_tokens,omitempty"`
	MaxCompletionTokens int       `json:"max_completion_tokens,omitempty"`
}

// asked is the content of the user's turn.
type asked struct {
	Question string    `json:"question"`
	Passages []passage `json:"passages"`
}

// passage is one as the model gets it, and as its answer is checked.
type passage struct {
	N       int    `json:"n"`
	Heading string `json:"heading,omitempty"`
	Before  string `json:"before,omitempty"`
	Text    string `json:"text"`
}

// written is the digest that the chat model writes. The error is a *failure.
func (m *Models) written(ctx context.Context, a Ask, k *digest.Ranking, p plan) (sift.Digest, error) {
	read := p.read(k)
	if len(read) == 0 {
		return sift.Digest{}, fail(OutcomeBad, "was not asked, since no passage fits")
	}
	q := asked{Question: a.Question}
	for _, r := range read {
		q.Passages = append(q.Passages, passage{N: r.N, Heading: r.Heading, Before: k.Lead(indexOf(k, r)), Text: r.Text})
	}
	data, err := sift.EncodeJSON(q)
	if err != nil {
		return sift.Digest{}, fail(OutcomeBad, "cannot be asked").because(err)
	}
	key := keyOf(m.chat.url, m.chat.model, PromptVersion, string(data))
	in := m.shelf(a)
	if kept, ok := keptAnswer(ctx, in, key, q, k.Hold); ok {
		return kept.digest(k, read, p)
	}
	d, err := m.chatWith(ctx, string(data))
	if err != nil {
		return sift.Digest{}, err
	}
	good, failed := d.check(a.Question, q.Passages, k.Hold)
	if m.trace.Checked != nil {
		m.trace.Checked(len(d.Sentences), failed)
	}
	if failed > 0 && (len(good.Sentences) == 0 || 3*failed > len(d.Sentences)) {
		return sift.Digest{}, fail(OutcomeBad, "wrote what does not stand in the passages that it names (%d of %d sentences)", failed, len(d.Sentences))
	}
	if value, err := json.Marshal(good); err == nil {
		in.keep(ctx, KindDigest, map[string][]byte{key: value})
	}
	return good.digest(k, read, p)
}

// sureMargin is from which margin words are sure that a question is answered. On
// the tuning half of testdata/questions 95 of 100 such questions are.
const sureMargin = 0.15

// keptAnswer gives an answer from the cache. It is checked once more: nothing
// is handed out that was not.
func keptAnswer(ctx context.Context, in shelf, key string, q asked, hold holder) (draft, bool) {
	values := in.values(ctx, KindDigest, []string{key})
	var d draft
	if values[key] == nil || json.Unmarshal(values[key], &d) != nil || d.Answered != (len(d.Sentences) > 0) {
		return draft{}, false
	}
	good, failed := d.check(q.Question, q.Passages, hold)
	return good, failed == 0
}

// digest is the answer as the caller gets it, with those passages that it cites.
// That nothing answers is not taken on trust either where words are sure that
// something does: a page can order a model to say so. The error is a *failure.
func (d draft) digest(k *digest.Ranking, read []sift.Passage, p plan) (sift.Digest, error) {
	if !d.Answered && p.answered && k.Answered && k.Margin >= sureMargin {
		return sift.Digest{}, fail(OutcomeOK, "found no answer in the passages, which have the words of the question")
	}
	out := k.DigestOf(digest.Choice{Method: sift.DigestLLM}) // says that there is nothing
	if !d.Answered {
		return out, nil
	}
	number := make(map[int]int) // of a passage that was read, in what is handed out
	for _, p := range read {
		if !slices.ContainsFunc(d.Sentences, func(s sentence) bool { return slices.Contains(s.Cites, p.N) }) {
			continue
		}
		number[p.N] = len(out.Passages) + 1
		p.N = number[p.N]
		out.Passages = append(out.Passages, p)
	}
	var parts []string
	for _, s := range d.Sentences {
		text := strings.TrimRight(s.Text, " .!?。！？")
		end := strings.TrimSpace(s.Text[len(text):])
		var cites strings.Builder
		for _, n := range s.Cites {
			fmt.Fprintf(&cites, "[%d]", number[n])
		}
		parts = append(parts, text+" "+cites.String()+end)
	}
	out.Answer = strings.Join(parts, " ")
	return out, nil
}

// chatWith gives what the model writes to data. The error is a *failure.
func (m *Models) chatWith(ctx context.Context, data string) (draft, error) {
	e := m.chat
	e.mu.Lock()
	modern := e.modern
	e.mu.Unlock()
	d, err := m.chatOnce(ctx, data, modern)
	if errors.Is(err, errDialect) {
		if d, err = m.chatOnce(ctx, data, !modern); err == nil {
			e.mu.Lock()
			e.modern = !modern
			e.mu.Unlock()
		}
	}
	return d, err
}

func (m *Models) chatOnce(ctx context.Context, data string, modern bool) (d draft, err error) {
	r := request{Model: m.chat.model, Messages: []message{{"system", prompt}, {"user", data}}}
	if modern {
		r.MaxCompletionTokens = modernTokens
	} else {
		r.Temperature, r.MaxTokens = new(0), answerTokens
	}
	body, err := sift.EncodeJSON(r)
	if err != nil {
		return draft{}, fail(OutcomeBad, "cannot be asked").because(err)
	}
	one := round{m: m, e: m.chat}
	err = one.ask(ctx, body, chatLimit, func(answer []byte) error {
		text, err := readChoice(answer)
		if err == nil {
			d, err = readAnswer(text)
		}
		return err
	})
	_ = one.end() // which is err
	return d, err
}

// readChoice reads what the model said out of the answer of the endpoint.
func readChoice(answer []byte) (string, error) {
	var got struct {
		Choices []struct {
			FinishReason string `json:"finish_reason"`
			Message      struct {
				Content   json.RawMessage   `json:"content"`
				Refusal   string            `json:"refusal"`
				ToolCalls []json.RawMessage `json:"tool_calls"`
			} `json:"message"`
		} `json:"choices"`
	}
	if err := json.Unmarshal(answer, &got); err != nil {
		return "", fail(OutcomeBad, "sent what is no answer: it is not the JSON that was asked for")
	}
	if len(got.Choices) == 0 {
		return "", fail(OutcomeBad, "sent an answer with nothing in it")
	}
	c := got.Choices[0]
	text := contentOf(c.Message.Content)
	switch {
	case c.FinishReason == "length":
		return "", fail(OutcomeBad, "sent an answer that is cut off").ofContent()
	case c.FinishReason == "content_filter":
		return "", fail(OutcomeBad, "held its answer back (content filter)").ofContent()
	case c.Message.Refusal != "":
		return "", fail(OutcomeBad, "refused to answer").ofContent()
	case c.FinishReason == "tool_calls" || len(c.Message.ToolCalls) > 0:
		return "", fail(OutcomeBad, "wanted to call a tool, and there are none").ofContent()
	case strings.TrimSpace(text) == "":
		return "", fail(OutcomeBad, "sent an answer with nothing in it").ofContent()
	}
	return text, nil
}

// contentOf reads a content, which is a text or a list of parts.
func contentOf(raw json.RawMessage) string {
	var text string
	if !bytes.HasPrefix(bytes.TrimSpace(raw), []byte("[")) {
		_ = json.Unmarshal(raw, &text) // null, and whatever else, is no text
		return text
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return ""
	}
	for _, p := range parts {
		if p.Type == "text" || p.Type == "output_text" || p.Type == "" {
			text += p.Text
		}
	}
	return text
}
