package narrow

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"sift.build/sift/internal/sift"
)

// looks is a context that is over at its nth look.
type looks struct{ left, seen int }

func (*looks) Deadline() (time.Time, bool) { return time.Time{}, false }
func (*looks) Done() <-chan struct{}       { return nil }
func (*looks) Value(any) any               { return nil }

func (c *looks) Err() error {
	c.seen++
	if c.seen > c.left {
		return context.DeadlineExceeded
	}
	return nil
}

func TestTheClockIsLookedAtWithinALongLine(t *testing.T) {
	p := pattern(t, `.{1000}z`)
	ctx := &looks{left: 5}
	// The first look is before the line. Each of the others is at most stepMax
	// steps apart.
	text := strings.Repeat("a", 4*stepMax/p.size+100)
	if _, err := Grep(ctx, Text{Content: text}, p); err != nil {
		t.Fatalf("%d looks: %v", ctx.seen, err)
	}
	if ctx.seen < 5 {
		t.Errorf("looked only %d times", ctx.seen)
	}
	ctx = &looks{left: 3}
	_, err := Grep(ctx, Text{Content: text}, p)
	if f := sift.AsFailure(err); f.Code != sift.CodeTimeout {
		t.Errorf("after three looks: %v", err)
	}
	if ctx.seen > 5 {
		t.Errorf("looked %d times, which is on after the end", ctx.seen)
	}
}

func TestTheClockIsLookedAtBetweenLinesAndWhileAMatchIsPlaced(t *testing.T) {
	for _, left := range []int{0, 1, 7} {
		ctx := &looks{left: left}
		if _, err := Grep(ctx, Text{Content: strings.Repeat("a\n", 20)}, pattern(t, "b")); sift.AsFailure(err).Code != sift.CodeTimeout || ctx.seen != left+1 {
			t.Errorf("%d looks, then %v", ctx.seen, err)
		}
	}
	// The line matches at its second character, which is seen at once; where the
	// next match is takes reading the rest of it.
	ctx := &looks{left: 2}
	_, err := Grep(ctx, Text{Content: "ab" + strings.Repeat("a", 3*stepMax)}, pattern(t, "[bc]"))
	if sift.AsFailure(err).Code != sift.CodeTimeout {
		t.Errorf("%d looks, then %v", ctx.seen, err)
	}
}

func TestTimeThatIsUpSaysWhatToDoAndACallerWhoLeftIsNoTimeout(t *testing.T) {
	ctx := &looks{left: 5}
	_, err := Grep(ctx, Text{Content: strings.Repeat("a\n", 10)}, pattern(t, "b"))
	const want = "timeout: grep ran out of time when it had searched 50% of the content; use a plainer pattern, with smaller repeat counts and fewer alternatives, or a longer timeout"
	if f := sift.AsFailure(err); f.Error() != want || f.Hint != "" || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, hint %q", err, f.Hint)
	}
	ctx = &looks{}
	_, err = Grep(ctx, Text{Content: "a", Pages: pages(1, 0, 2, 1)}, pattern(t, "b"))
	if f := sift.AsFailure(err); f.Hint != sift.HintPages {
		t.Errorf("in a PDF the hint is %q", f.Hint)
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	_, err = Grep(gone, Text{Content: "a"}, pattern(t, "b"))
	if f := sift.AsFailure(err); f.Error() != "cancel: the caller went away" {
		t.Errorf("%v", err)
	}
}

// Patterns that cost the most, on five megabytes: row E01 of the hostile
// callers. None may run on after its deadline.
func TestACostlyPatternEndsAtTheDeadline(t *testing.T) {
	if testing.Short() {
		t.Skip("searches megabytes")
	}
	const size = 5 << 20
	for _, in := range []string{`.{1000}z`, `(?:a?){500}a{500}c`, `(?:(?:a{1,30}){1,30})z`, `(?i)(?:[a-y]{1,30}){1,30}z`} {
		p := pattern(t, in)
		for name, content := range map[string]string{
			"one line":             strings.Repeat("a", size),
			"lines of 60,000":      strings.Repeat(strings.Repeat("a", 60_000)+"\n", size/60_000),
			"lines of 1,000":       strings.Repeat(strings.Repeat("a", 1000)+"\n", size/1000),
			"Markdown, all signs":  strings.Repeat("[a](", size/4),
			"lines of wide letter": strings.Repeat(strings.Repeat("é", 500)+"\n", size/1001),
		} {
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			start := time.Now()
			_, err := Grep(ctx, Text{Content: content, Markdown: name == "Markdown, all signs"}, p)
			cancel()
			if took := time.Since(start); took > 1500*time.Millisecond {
				t.Errorf("%s, %s: took %v", in, name, took)
			}
			if err != nil && sift.AsFailure(err).Code != sift.CodeTimeout {
				t.Errorf("%s, %s: %v", in, name, err)
			}
			if name == "one line" && err == nil {
				t.Errorf("%s: five megabytes in 50 ms is not to be believed", in)
			}
		}
	}
}

// Row E02: what makes a backtracking engine run for years.
func TestPatternsThatBlowUpElsewhereAreLinear(t *testing.T) {
	content := strings.Repeat(strings.Repeat("a", 200)+"\n", 5000)
	for _, in := range []string{`(a+a+)+c`, `(a*)*c`, `(a|aa)+c`} {
		start := time.Now()
		r, err := Grep(t.Context(), Text{Content: content}, pattern(t, in))
		if err != nil || r.Hits != 0 {
			t.Errorf("%s: %d hits, %v", in, r.Hits, err)
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%s: took %v", in, took)
		}
	}
}

// Row E04, and what costs most beside the engine.
func TestHugeAndOddContentIsSearchedInBoundedTimeAndSpace(t *testing.T) {
	if testing.Short() {
		t.Skip("searches megabytes")
	}
	const size = 1 << 20
	for _, c := range []struct {
		name, pattern, content string
		hits                   int
	}{
		{"everything in one line", `.*`, strings.Repeat("word ", 2*size), 1},
		{"all of one line but its end", `.*[^z]$`, strings.Repeat("word ", size/5), 1},
		{"everything in short lines", `.*`, strings.Repeat("a\n", size/2), size / 2},
		{"nothing but line ends", `.*`, strings.Repeat("\n", size), 0},
		{"nothing but carriage returns", `x|$`, strings.Repeat("\r", size), 0},
		{"carriage returns, then line feeds", `a`, strings.Repeat("a\r", size/4) + strings.Repeat("a\n", size/4), size / 2},
		{"the end of one line", `z$`, strings.Repeat("y", size) + "z", 1},
		{"a text far into one line", `needle`, strings.Repeat("hay ", size) + "needle", 1},
		{"a word far into one line", `(?i)\bNEEDLE\b`, strings.Repeat("hay ", size/4) + "needle", 1},
		{"open brackets", `xyz`, strings.Repeat("[", size), 0},
		{"links without an end", `xyz`, strings.Repeat("[](", size/3), 0},
		{"links inside links", `xyz`, strings.Repeat("[", size/8) + strings.Repeat("](a)", size/8), 0},
		{"stars", `xyz`, strings.Repeat("*a", size/2), 0},
		{"backslashes", `xyz`, strings.Repeat(`\`, size), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			start := time.Now()
			r, err := Grep(t.Context(), Text{Content: c.content, Markdown: true}, pattern(t, c.pattern))
			if err != nil {
				t.Fatal(err)
			}
			if r.Hits != c.hits {
				t.Errorf("%d hits, want %d", r.Hits, c.hits)
			}
			if n := utf8.RuneCountInString(r.Content); n > 100_000 {
				t.Errorf("%d characters", n)
			}
			if r.Cut != (c.hits > 200) {
				t.Errorf("cut: %v", r.Cut)
			}
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}
