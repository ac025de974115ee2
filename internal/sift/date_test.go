package sift

import (
	"strings"
	"testing"
	"time"
)

func TestADateIsADayOrATime(t *testing.T) {
	for in, want := range map[string]time.Time{
		"":                          {},
		"2026-03-31":                time.Date(2026, 3, 31, 0, 0, 0, 0, time.UTC),
		"2024-02-29":                time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC),
		"2026-03-31T08:00:00Z":      time.Date(2026, 3, 31, 8, 0, 0, 0, time.UTC),
		"2026-03-31t08:00:00z":      time.Date(2026, 3, 31, 8, 0, 0, 0, time.UTC),
		"2026-03-31T08:00:00+02:00": time.Date(2026, 3, 31, 6, 0, 0, 0, time.UTC),
		"2026-03-31T08:00:00.5Z":    time.Date(2026, 3, 31, 8, 0, 0, 500_000_000, time.UTC),
	} {
		got, err := ParseDate(in)
		if err != nil || !got.Equal(want) || got.Location() != time.UTC && in != "" {
			t.Errorf("%q: %v, %v", in, got, err)
		}
	}
}

func TestWhatIsNoDateIsRefusedWithWhatToWrite(t *testing.T) {
	for _, in := range []string{"yesterday", "2026", "2026-02-30", "2026-3-1", "31.03.2026", "2026-03-31 08:00", " 2026-03-31", "0000-01-01", "20260331"} {
		_, err := ParseDate(in)
		if f := AsFailure(err); err == nil || f.Code != CodeInvalid || !strings.Contains(f.Message, "2026-03-31") {
			t.Errorf("%q: %v", in, err)
		}
	}
}
