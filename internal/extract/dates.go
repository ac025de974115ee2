package extract

import (
	"strings"
	"time"
)

// dateLayouts are the forms of dates in metadata. Those with numbers only and
// the day in front are not among them: 03/04/2024 is two days.
func dateLayouts() []string {
	return []string{
		"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05Z07",
		"2006-01-02T15:04Z07:00", "2006-01-02T15:04Z0700",
		"2006-01-02 15:04:05 Z07:00", "2006-01-02 15:04:05 Z0700", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05 MST",
		"2006-01-02 15:04:05.999999999 -0700 MST",
		"2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04",
		"2006-01-02", "2006/01/02", "2006.01.02", "20060102", "20060102T150405Z0700", "2006/01/02 15:04:05", "2006/01/02 15:04",
		time.RFC1123Z, time.RFC1123, time.RFC850, time.ANSIC, time.UnixDate,
		"Mon, 2 Jan 2006 15:04:05 Z0700", "Mon, 2 Jan 2006 15:04:05 MST", "2 Jan 2006 15:04:05 Z0700",
		"January 2, 2006", "Jan 2, 2006", "Jan. 2, 2006", "January 2 2006", "2 January 2006", "2 Jan 2006", "Monday, January 2, 2006",
		"January 2, 2006 3:04 PM", "January 2, 2006 at 3:04 PM", "Jan 2, 2006 3:04 PM",
		"Mon Jan 02 2006 15:04:05 MST-0700",
		"2006-01",
	}
}

// maxDate is longer than any date.
const maxDate = 64

// rfc3339 writes a date from metadata as RFC 3339, or gives "". A time of day
// without a zone is dropped: it names no moment. A month has no such form.
func rfc3339(s string) string {
	s = strings.TrimSpace(s)
	if len(s) < len("20060102") || len(s) > maxDate {
		return ""
	}
	if i := strings.Index(s, " ("); i > 0 && strings.HasSuffix(s, ")") {
		s = s[:i] // "GMT+0100 (Central European Standard Time)"
	}
	s = strings.Join(strings.Fields(s), " ")
	for _, layout := range dateLayouts() {
		t, err := time.Parse(layout, s)
		if err != nil {
			continue
		}
		if t.Year() < 1400 || t.Year() > 2200 || layout == "2006-01" {
			return ""
		}
		if !strings.Contains(layout, "15") && !strings.Contains(layout, "3:04") {
			return t.Format(time.DateOnly)
		}
		zoned := strings.Contains(layout, "Z07") || strings.Contains(layout, "-0700")
		if !zoned && strings.Contains(layout, "MST") {
			// A name for a zone says nothing by itself, but for these.
			zoned = strings.HasSuffix(s, "GMT") || strings.HasSuffix(s, "UTC")
		}
		if !zoned {
			return t.Format(time.DateOnly)
		}
		return t.Format(time.RFC3339)
	}
	return ""
}

// feedDate gives a date as RFC 3339, and one in no known form as it is.
func feedDate(s string) string {
	s = oneLine(s, maxDate)
	if s == "" {
		return ""
	}
	if d := mailDate(s); d != "" {
		return d
	}
	if d := rfc3339(s); d != "" {
		return d
	}
	return s
}

// mailDate reads the dates of RSS: RFC 822 with its names for zones, years of
// two digits, a wrong day of the week or none, and no seconds. One without a
// zone names no moment, and is not read.
func mailDate(s string) string {
	if i := strings.IndexByte(s, ','); i > 0 && i < 12 {
		s = strings.TrimSpace(s[i+1:])
	}
	at := strings.LastIndexByte(s, ' ')
	if at < 0 {
		return ""
	}
	zone := s[at+1:]
	switch strings.ToUpper(zone) {
	case "GMT", "UT", "UTC", "Z":
		zone = "+0000"
	case "EDT":
		zone = "-0400"
	case "EST", "CDT":
		zone = "-0500"
	case "CST", "MDT":
		zone = "-0600"
	case "MST", "PDT":
		zone = "-0700"
	case "PST":
		zone = "-0800"
	}
	s = s[:at+1] + zone
	for _, layout := range [...]string{
		"2 Jan 2006 15:04:05 -0700", "2 Jan 2006 15:04:05 -07:00", "2 Jan 2006 15:04 -0700", "2 January 2006 15:04:05 -0700",
		"2 Jan 06 15:04:05 -0700", "2 Jan 06 15:04 -0700", "2-Jan-2006 15:04:05 -0700", "2-Jan-06 15:04:05 -0700",
	} {
		if t, err := time.Parse(layout, s); err == nil && t.Year() >= 1900 && t.Year() <= 2200 {
			return t.Format(time.RFC3339)
		}
	}
	return ""
}
