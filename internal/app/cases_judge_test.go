package app

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// headers are the members of an object in the order in which they stand.
type headers [][2]string

func (h *headers) UnmarshalJSON(raw []byte) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	if _, err := d.Token(); err != nil {
		return err
	}
	for d.More() {
		var pair [2]string
		name, err := d.Token()
		if err != nil {
			return err
		}
		pair[0], _ = name.(string)
		if err := d.Decode(&pair[1]); err != nil {
			return err
		}
		*h = append(*h, pair)
	}
	return nil
}

// expectation is what has to be true of an answer. docs/cases.md has the words.
type expectation struct {
	Outcome     string          `json:"outcome"` // ok, error or ok-or-error; "": ok
	Contains    []string        `json:"contains"`
	NotContains []string        `json:"not_contains"`
	ContainsAny [][]string      `json:"contains_any"`
	Order       []string        `json:"order"`
	Count       map[string]int  `json:"count"`
	Matches     []string        `json:"matches"`
	MatchesAny  []string        `json:"matches_any"`
	NotMatches  []string        `json:"not_matches"`
	MinChars    int             `json:"min_chars"`
	MaxChars    int             `json:"max_chars"`
	MaxSeconds  float64         `json:"max_seconds"`
	JSONEquals  json.RawMessage `json:"json_equals"`
	Title       *string         `json:"title"`
	FinalPath   *string         `json:"final_path"`
	Steps       *struct {
		Min int `json:"min"`
	} `json:"steps"`
	Error *struct {
		Kind        string   `json:"kind"` // for the reader of the case
		MentionsAny []string `json:"mentions_any"`
	} `json:"error"`
	Items []struct {
		Path        string   `json:"path"` // for the reader of the case
		Outcome     string   `json:"outcome"`
		Contains    []string `json:"contains"`
		MentionsAny []string `json:"mentions_any"`
	} `json:"items"`
	SignalAny   []string       `json:"signal_any"`
	SignalAll   [][]string     `json:"signal_all"`
	SignalRE    []string       `json:"signal_re"`
	SignalScope string         `json:"signal_scope"` // any: the text counts too
	NoSignal    []string       `json:"no_signal"`
	Meta        map[string]any `json:"meta"` // dotted path in the answer: value, or {"min": …, "max": …}
	AnyOf       []*expectation `json:"any_of"`
}

// check finds what could never be judged, or would hold for anything.
func (e *expectation) check(items int) error {
	outcomes := []string{"", "ok", "error", "ok-or-error"}
	if !slices.Contains(outcomes, e.Outcome) {
		return fmt.Errorf("the outcome is %q", e.Outcome)
	}
	for _, list := range [][]string{e.Matches, e.MatchesAny, e.NotMatches, e.SignalRE} {
		for _, pattern := range list {
			if _, err := regexp.Compile(pattern); err != nil {
				return err
			}
		}
	}
	if e.SignalScope != "" && e.SignalScope != "any" {
		return fmt.Errorf("the signal_scope is %q", e.SignalScope)
	}
	if len(e.Items) != items {
		return fmt.Errorf("%d addresses and %d expected items", items, len(e.Items))
	}
	for i, item := range e.Items {
		if !slices.Contains(outcomes, item.Outcome) {
			return fmt.Errorf("the outcome of item %d is %q", i, item.Outcome)
		}
	}
	for _, alternative := range e.AnyOf {
		if err := alternative.check(0); err != nil {
			return err
		}
	}
	bare := *e
	bare.Outcome, bare.SignalScope = "", ""
	if reflect.DeepEqual(bare, expectation{}) && e.Outcome != "error" {
		return errors.New("nothing is expected")
	}
	return nil
}

// result is one answer as a caller sees it.
type result struct {
	ok       bool
	content  string
	err      string
	warnings []string
	meta     map[string]any // what else the answer says
	items    []result       // of a batch
	steps    int            // windows that were read
}

// shape reads an answer as it goes over the wire.
func shape(raw []byte) result {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	m := map[string]any{}
	if err := d.Decode(&m); err != nil {
		return result{err: "the answer is no JSON: " + err.Error()}
	}
	r := result{steps: 1, meta: m}
	r.ok, _ = m["success"].(bool)
	r.content, _ = m["content"].(string)
	r.err, _ = m["error"].(string)
	list, _ := m["warnings"].([]any)
	for _, w := range list {
		w, _ := w.(map[string]any)
		r.warnings = append(r.warnings, fmt.Sprintf("%v (%v)", w["message"], w["code"]))
	}
	if hint, _ := m["hint"].(string); hint != "" {
		r.warnings = append(r.warnings, "hint: "+hint)
	}
	if cut, _ := m["truncated"].(bool); cut {
		r.warnings = append(r.warnings, fmt.Sprintf("truncated, more at next_offset %v", m["next_offset"]))
	}
	for _, name := range []string{"success", "content", "error", "warnings", "digest"} {
		delete(m, name)
	}
	return r
}

// notices are the error, the warnings and the hint.
func (r *result) notices() string {
	return r.err + " " + strings.Join(r.warnings, " ")
}

// signals are all that an answer says beside the page's own words. An empty
// member is no signal, and the name of a text says nothing: every answer has a
// description and a member that is called truncated.
func (r *result) signals() string {
	var b strings.Builder
	b.WriteString(r.notices())
	var walk func(name string, v any)
	walk = func(name string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, key := range slices.Sorted(mapKeys(v)) {
				walk(key, v[key])
			}
		case []any:
			for _, item := range v {
				walk(name, item)
			}
		case string:
			if v != "" {
				b.WriteString(" " + v)
			}
		case bool:
			if v {
				b.WriteString(" " + name)
			}
		case json.Number:
			if v != "0" {
				b.WriteString(" " + name + " " + v.String())
			}
		}
	}
	for _, key := range slices.Sorted(mapKeys(r.meta)) {
		switch key {
		case "title", "author", "site", "description", "published":
		default:
			walk(key, r.meta[key])
		}
	}
	return b.String()
}

func mapKeys(m map[string]any) func(func(string) bool) {
	return func(yield func(string) bool) {
		for key := range m {
			if !yield(key) {
				return
			}
		}
	}
}

// at finds a value by its dotted path; numbers in it count in lists.
func at(v any, path string) (any, bool) {
	for name := range strings.SplitSeq(path, ".") {
		switch in := v.(type) {
		case map[string]any:
			next, ok := in[name]
			if !ok {
				return nil, false
			}
			v = next
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(in) {
				return nil, false
			}
			v = in[i]
		default:
			return nil, false
		}
	}
	return v, true
}

var (
	escaped = regexp.MustCompile("\\\\([!-/:-@\\[-`{-~])")
	spaces  = regexp.MustCompile(`[ \t\r\n\f\v]+`)
	fenced  = regexp.MustCompile("(?s)```[a-z]*\n(.*?)\n```")
)

// flat is a text as contains, order and count compare it.
func flat(s string) string {
	s = strings.ReplaceAll(norm.NFC.String(s), "\u00a0", " ")
	return spaces.ReplaceAllString(escaped.ReplaceAllString(s, "$1"), " ")
}

func readJSON(raw []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the value")
	}
	return v, nil
}

// judge says what of an expectation is not true of an answer.
func (e *expectation) judge(r result, took time.Duration, origin string) []string {
	sub := func(s string) string { return strings.ReplaceAll(s, "{{ORIGIN}}", origin) }
	var faults []string
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }

	if len(e.AnyOf) > 0 {
		var all []string
		for _, alternative := range e.AnyOf {
			f := alternative.judge(r, took, origin)
			if len(f) == 0 {
				all = nil
				break
			}
			all = append(all, f...)
		}
		faults = all
		rest := *e
		rest.AnyOf = nil
		if reflect.DeepEqual(rest, expectation{}) {
			return faults
		}
		return append(faults, rest.judge(r, took, origin)...)
	}

	raw := strings.ReplaceAll(r.content, "\r\n", "\n")
	text := flat(raw)
	has := func(s string) bool { return strings.Contains(text, flat(sub(s))) || strings.Contains(raw, sub(s)) }
	matches := func(pattern string) bool { return regexp.MustCompile(pattern).MatchString(raw) }

	if (e.Outcome == "" || e.Outcome == "ok") && !r.ok {
		fault("failed: %.200s", r.err)
	}
	if e.Outcome == "error" && r.ok {
		fault("succeeded, an error was due")
	}
	if r.ok || (e.Outcome != "error" && e.Outcome != "ok-or-error") {
		for _, s := range e.Contains {
			if !has(s) {
				fault("missing: %s", s)
			}
		}
		for _, group := range e.ContainsAny {
			if !slices.ContainsFunc(group, has) {
				fault("missing any of: %s", strings.Join(group, " / "))
			}
		}
		rest := text
		for _, s := range e.Order {
			_, after, found := strings.Cut(rest, flat(sub(s)))
			if !found {
				fault("missing or out of order: %s", s)
				break
			}
			rest = after
		}
		for s, want := range e.Count {
			if got := strings.Count(text, flat(s)); got != want {
				fault("%d times instead of %d: %s", got, want, s)
			}
		}
		for _, pattern := range e.Matches {
			if !matches(pattern) {
				fault("no match: %s", pattern)
			}
		}
		if len(e.MatchesAny) > 0 && !slices.ContainsFunc(e.MatchesAny, matches) {
			fault("none matches: %s", strings.Join(e.MatchesAny, " / "))
		}
		if n := utf8.RuneCountInString(r.content); n < e.MinChars {
			fault("%d characters, at least %d", n, e.MinChars)
		}
		if len(e.JSONEquals) > 0 {
			body := raw
			if m := fenced.FindStringSubmatch(raw); m != nil {
				body = m[1]
			}
			want, _ := readJSON(e.JSONEquals)
			switch got, err := readJSON([]byte(body)); {
			case err != nil:
				fault("not JSON: %v", err)
			case !reflect.DeepEqual(got, want):
				fault("the JSON differs: %.300s", body)
			}
		}
		if e.Title != nil {
			if title, _ := r.meta["title"].(string); strings.TrimSpace(flat(title)) != strings.TrimSpace(flat(*e.Title)) {
				fault("title: %q", title)
			}
		}
		if e.FinalPath != nil {
			final, _ := r.meta["final_url"].(string)
			if u, err := url.Parse(final); err != nil || u.EscapedPath()+query(u) != *e.FinalPath {
				fault("final_url: %q", final)
			}
		}
		if e.Steps != nil && r.steps < e.Steps.Min {
			fault("only %d windows", r.steps)
		}
		for path, want := range e.Meta {
			got, found := at(r.meta, path)
			if why := sameValue(got, want, sub); !found || why != "" {
				fault("%s: %s", path, why)
			}
		}
	}
	for _, s := range e.NotContains {
		if strings.Contains(raw, sub(s)) || strings.TrimSpace(s) != "" && utf8.RuneCountInString(s) > 2 && strings.Contains(text, flat(sub(s))) {
			fault("must not contain: %.80q", s)
		}
	}
	for _, pattern := range e.NotMatches {
		if matches(pattern) {
			fault("must not match: %s", pattern)
		}
	}
	if n := utf8.RuneCountInString(r.content); e.MaxChars > 0 && n > e.MaxChars {
		fault("%d characters, at most %d", n, e.MaxChars)
	}
	if e.MaxSeconds > 0 && took.Seconds() > e.MaxSeconds {
		fault("took %.1f s, at most %v", took.Seconds(), e.MaxSeconds)
	}
	lower := func(s string) string { return strings.ToLower(strings.ReplaceAll(s, origin, "")) }
	if !r.ok && e.Error != nil && len(e.Error.MentionsAny) > 0 && !mentions(strings.ToLower(r.err), e.Error.MentionsAny) {
		fault("the error says none of %q: %.200s", e.Error.MentionsAny, r.err)
	}
	signals := r.signals()
	if !r.ok || e.SignalScope == "any" {
		signals += " " + r.content
	}
	signals = lower(signals)
	if len(e.SignalAny) > 0 && !mentions(signals, e.SignalAny) {
		fault("no signal out of %q in %.300q", e.SignalAny, r.notices())
	}
	for _, group := range e.SignalAll {
		if !mentions(signals, group) {
			fault("no signal out of %q in %.300q", group, r.notices())
		}
	}
	if len(e.SignalRE) > 0 && !slices.ContainsFunc(e.SignalRE, func(p string) bool { return regexp.MustCompile("(?i)" + p).MatchString(signals) }) {
		fault("no signal that matches one of %q in %.300q", e.SignalRE, r.notices())
	}
	notices := lower(r.notices())
	for _, s := range e.NoSignal {
		if strings.Contains(notices, strings.ToLower(s)) {
			fault("a wrong signal, %q: %.200s", s, strings.TrimSpace(r.notices()))
		}
	}
	if len(e.Items) > 0 {
		if len(r.items) != len(e.Items) {
			fault("%d items instead of %d", len(r.items), len(e.Items))
		}
		for i, want := range e.Items[:min(len(e.Items), len(r.items))] {
			part := &expectation{Outcome: want.Outcome, Contains: want.Contains}
			for _, f := range part.judge(r.items[i], 0, origin) {
				fault("item %d: %s", i, f)
			}
			if got := r.items[i]; !got.ok && len(want.MentionsAny) > 0 && !mentions(strings.ToLower(got.err), want.MentionsAny) {
				fault("item %d: the error says none of %q: %.200s", i, want.MentionsAny, got.err)
			}
		}
	}
	if strings.Contains(r.content, "\x00") {
		fault("NUL in the content")
	}
	if strings.Contains(raw, "\uFFFE") || !utf8.ValidString(r.content) {
		fault("the content is not UTF-8")
	}
	return faults
}

func query(u *url.URL) string {
	if u.RawQuery == "" {
		return ""
	}
	return "?" + u.RawQuery
}

// mentions says whether one of some words stands in a text of lower case.
func mentions(text string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, strings.ToLower(w)) })
}

// sameValue says how a value of the answer differs from the one that is
// expected; "" when it does not.
func sameValue(got, want any, sub func(string) string) string {
	if s, ok := want.(string); ok {
		want = sub(s)
	}
	bounds, ok := want.(map[string]any)
	if !ok {
		if reflect.DeepEqual(got, want) {
			return ""
		}
		return fmt.Sprintf("%v instead of %v", got, want)
	}
	n, err := strconv.ParseFloat(fmt.Sprint(got), 64)
	if err != nil {
		return fmt.Sprintf("%v is no number", got)
	}
	for name, b := range bounds {
		limit, err := strconv.ParseFloat(fmt.Sprint(b), 64)
		if err != nil || (name != "min" && name != "max") || name == "min" && n < limit || name == "max" && n > limit {
			return fmt.Sprintf("%v is out of %v", n, bounds)
		}
	}
	return ""
}
