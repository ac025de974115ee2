package app

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"sift.build/sift/internal/batch"
	"sift.build/sift/internal/render"
	"sift.build/sift/internal/sift"
)

// book is a page that answers windows as the pipeline does. asked are the
// targets it was asked for.
type book struct {
	content  string
	snapshot string
	fixed    string // of the answer, whatever the window
	asked    []sift.Target
}

func (b *book) fetch(_ context.Context, _ sift.Caller, t sift.Target) (*sift.Envelope, error) {
	b.asked = append(b.asked, t)
	part, next, more := render.Window(b.content, t.Offset, t.MaxChars)
	a := &sift.Answer{URL: t.URL, Content: part, Chars: len([]rune(part)), TotalChars: len([]rune(b.content)), Snapshot: b.snapshot, Description: b.fixed, Warnings: []sift.Warning{}}
	if more {
		a.Truncated, a.NextOffset = true, &next
	}
	return &sift.Envelope{Answer: a}, nil
}

func paragraphs(n int, text string) string { return strings.Repeat(text+"\n\n", n) }

func TestALongContentIsCutToItsFirstWindowWithWhereToReadOn(t *testing.T) {
	const limit = 256 << 10
	for name, content := range map[string]string{
		"ASCII":                    paragraphs(4000, strings.Repeat("word ", 30)),
		"three bytes a character":  paragraphs(2000, strings.Repeat("漢字", 100)),
		"escaped in JSON":          paragraphs(3000, strings.Repeat(`"\`, 80)),
		"a dear beginning":         strings.Repeat("𝄞", 60_000) + paragraphs(2000, strings.Repeat("word ", 30)),
		"one line without a break": strings.Repeat("x", 1_000_000),
		"just over":                strings.Repeat("y", limit),
	} {
		t.Run(name, func(t *testing.T) {
			b := &book{content: content, snapshot: "copy"}
			got, err := fetchForBatch(b.fetch)(t.Context(), batch.Target{Target: sift.Target{URL: "http://example.com/", MaxChars: 10_000_000}, MaxBytes: limit})
			if err != nil {
				t.Fatal(err)
			}
			if len(got.JSON) > limit || len(got.JSON) < limit/2 {
				t.Errorf("the result takes %d bytes of %d", len(got.JSON), limit)
			}
			var env struct {
				Content    string
				Truncated  bool
				NextOffset *int `json:"next_offset"`
				Snapshot   string
			}
			if err := json.Unmarshal(got.JSON, &env); err != nil {
				t.Fatal(err)
			}
			if !env.Truncated || env.NextOffset == nil || env.Snapshot != "copy" {
				t.Fatalf("truncated %v, next %v, snapshot %q", env.Truncated, env.NextOffset, env.Snapshot)
			}
			if rest := string([]rune(content)[*env.NextOffset:]); env.Content+rest != content {
				t.Error("what follows does not join")
			}
			for _, again := range b.asked[1:] {
				if again.Snapshot != "copy" {
					t.Error("a smaller window was asked of another copy")
				}
			}
		})
	}
}

func TestAShortAnswerIsStoredAsItIs(t *testing.T) {
	b := &book{content: "hello", snapshot: "copy"}
	got, err := fetchForBatch(b.fetch)(t.Context(), batch.Target{Target: sift.Target{URL: "http://example.com/"}, MaxBytes: 1 << 10})
	if err != nil || len(b.asked) != 1 || !strings.Contains(string(got.JSON), `"content":"hello"`) {
		t.Errorf("%s, %v after %d calls", got.JSON, err, len(b.asked))
	}
}

func TestAnAnswerThatDoesNotFitUsefullySaysWhatToDo(t *testing.T) {
	long := paragraphs(4000, strings.Repeat("word ", 30))
	for name, c := range map[string]struct {
		book
		limit int
	}{
		"long without its content": {book{content: "hello", fixed: strings.Repeat("x", 5000)}, 1 << 10},
		"hardly any room left":     {book{content: long, snapshot: "copy"}, 1500},
	} {
		b := c.book
		_, err := fetchForBatch(b.fetch)(t.Context(), batch.Target{Target: sift.Target{URL: "http://example.com/"}, MaxBytes: c.limit})
		f, ok := errors.AsType[*sift.Failure](err)
		if !ok || f.Code != sift.CodeTooLong || !strings.Contains(f.Message, "/v1/fetch") {
			t.Errorf("%s: got %v", name, err)
		}
		if len(b.asked) > shrinkTries+1 {
			t.Errorf("%s: it was tried %d times", name, len(b.asked))
		}
	}
}

// The store may be too small for the page, or full.
func TestAPartOfACopyThatIsNotKeptSaysSo(t *testing.T) {
	b := &book{content: paragraphs(4000, strings.Repeat("word ", 30))}
	got, err := fetchForBatch(b.fetch)(t.Context(), batch.Target{Target: sift.Target{URL: "http://example.com/"}, MaxBytes: 50_000})
	if err != nil {
		t.Fatal(err)
	}
	var env struct {
		Truncated bool
		Warnings  []sift.Warning
	}
	if err := json.Unmarshal(got.JSON, &env); err != nil || !env.Truncated || len(env.Warnings) != 1 || env.Warnings[0].Code != sift.WarnPartial {
		t.Errorf("%v: truncated %v, warnings %v", err, env.Truncated, env.Warnings)
	}
	if len(got.JSON) > 50_000 {
		t.Errorf("it takes %d bytes", len(got.JSON))
	}
}
