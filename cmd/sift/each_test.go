package main

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"sift.build/sift/internal/sift"
)

func TestAPanicIsTheFailureOfItsItemAlone(t *testing.T) {
	var out, notices bytes.Buffer
	p := &program{stdio: stdio{out: &out, err: &notices}}
	var shown []string
	var causes []error
	err := each(t.Context(), p, []string{"a", "b", "c"}, 2, func(_ context.Context, item string) (string, error) {
		if item == "b" {
			panic("of one item")
		}
		return item + "!", nil
	}, func(_ int, v string, f *sift.Failure) error {
		shown = append(shown, v)
		if f != nil {
			causes = append(causes, f.Cause)
		}
		return nil
	})
	if e, ok := errors.AsType[*exitError](err); !ok || e.code != exitPartial {
		t.Errorf("it ends with %v", err)
	}
	if strings.Join(shown, ",") != "a!,,c!" {
		t.Errorf("shown: %q", shown)
	}
	if len(causes) != 1 || !strings.Contains(causes[0].Error(), "of one item") || !strings.Contains(causes[0].Error(), "each_test.go") {
		t.Errorf("causes: %v", causes)
	}
}

func TestAFailedWriteEndsTheWorkWithItsError(t *testing.T) {
	full := errors.New("the disk is full")
	p := &program{stdio: stdio{err: new(bytes.Buffer)}}
	shown := 0
	err := each(t.Context(), p, make([]string, 100), 4, func(context.Context, string) (int, error) { return 0, nil }, func(i int, _ int, _ *sift.Failure) error {
		shown++
		if i == 1 {
			return full
		}
		return nil
	})
	if !errors.Is(err, full) || shown != 2 {
		t.Errorf("%v after %d", err, shown)
	}
}

func TestAStopSaysHowFarItCame(t *testing.T) {
	for _, c := range []struct {
		total, stopAfter int
		fails            string
		want             string
	}{
		{3, 0, "", "sift: stopped: 0 of 3 done\n"},
		{40, 12, "", "sift: stopped: 12 of 40 done\n"},
		{40, 12, "x", "sift: stopped: 12 of 40 done, 12 failed\n"},
		{1, 0, "", ""}, // nothing that the exit code does not say
		{3, 3, "", ""}, // it came to the end
	} {
		ctx, cancel := context.WithCancel(t.Context())
		if c.stopAfter == 0 {
			cancel()
		}
		var notices bytes.Buffer
		p := &program{stdio: stdio{err: &notices}}
		err := each(ctx, p, make([]string, c.total), 4, func(context.Context, string) (int, error) {
			if c.fails != "" {
				return 0, sift.Fail(sift.CodeBlocked, "%s", c.fails)
			}
			return 0, nil
		}, func(i int, _ int, _ *sift.Failure) error {
			if i+1 == c.stopAfter {
				cancel()
			}
			return nil
		})
		cancel()
		if notices.String() != c.want || (err == nil) != (c.stopAfter == c.total) {
			t.Errorf("%+v: %q, %v", c, notices.String(), err)
		}
	}
}
