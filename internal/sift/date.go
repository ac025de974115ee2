package sift

import (
	"strings"
	"time"
)

// ParseDate reads a day such as 2026-03-31, which begins at midnight UTC, or a
// time such as 2026-03-31T08:00:00Z (RFC 3339). The error is a Failure with code
// invalid. The empty text is the zero time.
func ParseDate(s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		t, err = time.Parse(time.RFC3339, strings.ToUpper(s))
	}
	if err != nil || t.Year() < 1 {
		return time.Time{}, Fail(CodeInvalid, "min_date %s is no date; write it like 2026-03-31, or like 2026-03-31T08:00:00Z", Quote(s))
	}
	return t.UTC(), nil
}
