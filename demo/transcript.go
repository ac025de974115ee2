package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"
)

const width = 100 // columns; longer lines are cut, commands are not

// transcript is what a person reads.
type transcript struct {
	w      io.Writer
	colour bool
}

// paint wraps text in an SGR sequence, where there is somebody to see it.
func (t *transcript) paint(sgr, text string) string {
	if !t.colour || text == "" {
		return text
	}
	return "\x1b[" + sgr + "m" + text + "\x1b[0m"
}

func (t *transcript) printf(format string, args ...any) { fmt.Fprintf(t.w, format, args...) }

// step is one thing that is shown, and whether it went as it should.
type step struct {
	title  string
	lines  []line
	faults []string
}

type line struct {
	kind  byte // '$' a command, ':' a labelled result, '|' a line of content
	label string
	text  string
}

// command shows what a person could type.
func (s *step) command(text string) { s.lines = append(s.lines, line{kind: '$', text: text}) }

// show adds a labelled result.
func (s *step) show(label, format string, args ...any) {
	s.lines = append(s.lines, line{kind: ':', label: label, text: fmt.Sprintf(format, args...)})
}

// quote shows the first n lines of content that are not empty.
func (s *step) quote(content string, n int) {
	all := strings.Split(strings.Trim(content, "\n"), "\n")
	shown := 0
	for i, text := range all {
		if strings.TrimSpace(text) == "" {
			continue
		}
		if shown == n {
			s.lines = append(s.lines, line{kind: '|', text: fmt.Sprintf("… (%s more lines)", group(len(all)-i))})
			return
		}
		shown++
		s.lines = append(s.lines, line{kind: '|', text: text})
	}
}

// expect notes a fault unless ok; the text says what should have been.
func (s *step) expect(ok bool, format string, args ...any) {
	if !ok {
		s.faults = append(s.faults, fmt.Sprintf(format, args...))
	}
}

// print writes one step: title, commands, results, and what is wrong.
func (t *transcript) print(n int, s *step, took time.Duration) {
	mark := t.paint("32", "ok")
	if len(s.faults) > 0 {
		mark = t.paint("1;31", "NOT AS EXPECTED")
	}
	t.printf("\n%2d  %s  %s %s\n", n, t.paint("1", s.title), mark, t.paint("2", short(took)))
	for _, l := range s.lines {
		switch l.kind {
		case '$':
			t.printf("    %s %s\n", t.paint("36", "$"), t.paint("36", l.text))
		case ':':
			for i, text := range wrap(plain(l.text), width-17) {
				label := l.label
				if i > 0 {
					label = ""
				}
				t.printf("      %-10s %s\n", label, text)
			}
		case '|':
			t.printf("      %s %s\n", t.paint("2", "|"), cut(plain(l.text), width-8))
		}
	}
	for _, f := range s.faults {
		t.printf("    %s\n", t.paint("31", "expected "+plain(f)))
	}
}

// plain takes out what a terminal would act on: what is shown comes from
// pages, and the demo shows hostile ones too.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r):
			return '\uFFFD'
		}
		return r
	}, s)
}

// columns counts how wide a terminal shows s: East Asian characters take two.
func columns(s string) int {
	n := 0
	for _, r := range s {
		n += runeColumns(r)
	}
	return n
}

func runeColumns(r rune) int {
	switch {
	case 0x1100 <= r && r <= 0x115F, 0x2E80 <= r && r <= 0xA4CF, 0xAC00 <= r && r <= 0xD7A3, 0xF900 <= r && r <= 0xFAFF, 0xFF01 <= r && r <= 0xFF60:
		return 2
	}
	return 1
}

// cut shortens s to n columns.
func cut(s string, n int) string {
	if columns(s) <= n {
		return s
	}
	w := 0
	for i, r := range s {
		if w += runeColumns(r); w > n-1 {
			return s[:i] + "…"
		}
	}
	return s
}

// wrap breaks s at spaces into lines of n columns.
func wrap(s string, n int) []string {
	var lines []string
	current := ""
	for word := range strings.FieldsSeq(s) {
		switch {
		case current == "":
			current = word
		case columns(current)+1+columns(word) <= n:
			current += " " + word
		default:
			lines = append(lines, current)
			current = word
		}
	}
	return append(lines, current)
}

// group writes 1234567 as 1,234,567.
func group(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// short writes a duration with two or three digits.
func short(d time.Duration) string {
	switch {
	case d >= time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d >= 10*time.Millisecond:
		return fmt.Sprintf("%.0f ms", float64(d)/float64(time.Millisecond))
	default:
		return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
	}
}
