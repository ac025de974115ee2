package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Size is a number of bytes. It is written "10MiB", "512KiB", "1GiB", or in
// plain bytes, "1048576"; it prints in the largest unit that divides it.
type Size int64

const (
	kib Size = 1 << 10
	mib Size = 1 << 20
	gib Size = 1 << 30
	tib Size = 1 << 40
)

// unit is one that a Size may be written in.
type unit struct {
	name  string
	bytes Size
}

// units lists them, the largest first.
func units() []unit { return []unit{{"TiB", tib}, {"GiB", gib}, {"MiB", mib}, {"KiB", kib}} }

// String writes the size so that ParseSize reads it back.
func (s Size) String() string {
	for _, u := range units() {
		if s != 0 && s%u.bytes == 0 {
			return strconv.FormatInt(int64(s/u.bytes), 10) + u.name
		}
	}
	return strconv.FormatInt(int64(s), 10)
}

// parseSize reads digits and one unit, or digits alone: bytes.
func parseSize(text string) (Size, bool) {
	number, bytes := text, Size(1)
	for _, u := range units() {
		if before, ok := strings.CutSuffix(text, u.name); ok {
			number, bytes = before, u.bytes
			break
		}
	}
	n, err := strconv.ParseUint(number, 10, 63)
	if err != nil || Size(n) > math.MaxInt64/bytes {
		return 0, false
	}
	return Size(n) * bytes, true
}

// guessSize finds the size that someone meant by "10 MB", "10m" or "1.5GiB".
func guessSize(text string) (Size, bool) {
	text = strings.ToLower(strings.Join(strings.Fields(text), ""))
	number := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyz")
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || n <= 0 {
		return 0, false
	}
	bytes := Size(0)
	switch strings.TrimSuffix(strings.TrimSuffix(text[len(number):], "b"), "i") {
	case "", "byte", "bytes":
		bytes = 1
	case "k":
		bytes = kib
	case "m":
		bytes = mib
	case "g":
		bytes = gib
	case "t":
		bytes = tib
	}
	whole := n * float64(bytes)
	if bytes == 0 || whole != math.Trunc(whole) || whole >= float64(1024*tib) {
		return 0, false
	}
	return Size(whole), true
}

// durationText writes d as people do: "1h" and not "1h0m0s".
func durationText(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// guessDuration finds the time that someone meant by "30", "30 sec" or "1d".
func guessDuration(text string) (time.Duration, bool) {
	text = strings.ToLower(strings.Join(strings.Fields(text), ""))
	number := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyz")
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || n <= 0 {
		return 0, false
	}
	u := time.Duration(0)
	switch text[len(number):] {
	case "", "s", "sec", "secs", "second", "seconds":
		u = time.Second
	case "ms", "msec", "millisecond", "milliseconds":
		u = time.Millisecond
	case "m", "min", "mins", "minute", "minutes":
		u = time.Minute
	case "h", "hr", "hrs", "hour", "hours":
		u = time.Hour
	case "d", "day", "days":
		u = 24 * time.Hour
	case "w", "week", "weeks":
		u = 7 * 24 * time.Hour
	}
	whole := n * float64(u)
	if u == 0 || whole != math.Trunc(whole) || whole > float64(maxAge) {
		return 0, false
	}
	return time.Duration(whole), true
}

// problem is what is wrong with one value. The place and the key are added by
// whoever knows them.
type problem struct {
	entry      int    // which entry of a list, from 1; 0: the value as a whole
	what       string // `"abc" is not a duration`
	want       string // what is allowed
	suggestion string // what was probably meant
}

// one makes the usual list of one problem out of a check's result.
func one(p *problem) []problem {
	if p == nil {
		return nil
	}
	return []problem{*p}
}

// value is where one key's value is stored, with what is allowed there. What
// is wrong is not stored.
type value interface {
	set(raw any) []problem       // from the file: what the TOML decoder made of it
	parse(text string) []problem // from a variable or a flag
	literal() string             // as TOML
	allowed() string             // the bounds in short, for the reference; "": the meaning says it
}

// text is a string.
type text struct {
	to    *string
	check func(string) *problem // nil: anything that checkText lets through
}

func (v text) set(raw any) []problem {
	s, ok := raw.(string)
	if !ok {
		p := problem{what: "is " + describe(raw), want: "a text in quotes"}
		switch raw.(type) {
		case int64, float64, bool:
			// Only the quotes may be missing, or more than that.
			var unquoted string
			if inner := (text{&unquoted, v.check}).parse(fmt.Sprint(raw)); len(inner) > 0 {
				p.suggestion = inner[0].suggestion
			} else {
				p.suggestion = quote(unquoted)
			}
		}
		return []problem{p}
	}
	return v.parse(s)
}

func (v text) parse(s string) []problem {
	if p := checkText(s); p != nil {
		return one(p)
	}
	if v.check != nil {
		if p := v.check(s); p != nil {
			return one(p)
		}
	}
	*v.to = s
	return nil
}

func (v text) literal() string { return quote(*v.to) }

func (v text) allowed() string { return "" }

// count is a whole number within bounds.
type count struct {
	to       *int
	min, max int
}

func (v count) allowed() string { return fmt.Sprintf("%d to %d", v.min, v.max) }

func (v count) want() string { return "a whole number from " + v.allowed() }

func (v count) set(raw any) []problem {
	switch n := raw.(type) {
	case int64:
		if n < int64(v.min) || n > int64(v.max) {
			return []problem{{what: fmt.Sprintf("is %d", n), want: v.want()}}
		}
		*v.to = int(n)
		return nil
	case string:
		p := problem{what: "is " + describe(raw), want: v.want() + ", without quotes"}
		if i, err := strconv.Atoi(strings.TrimSpace(n)); err == nil && i >= v.min && i <= v.max {
			p.suggestion = strconv.Itoa(i)
		}
		return []problem{p}
	}
	return []problem{{what: "is " + describe(raw), want: v.want()}}
}

func (v count) parse(s string) []problem {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return []problem{{what: notA(s, "a whole number"), want: v.want()}}
	}
	return v.set(n)
}

func (v count) literal() string { return strconv.Itoa(*v.to) }

// flag is true or false.
type flag struct{ to *bool }

func (v flag) set(raw any) []problem {
	b, ok := raw.(bool)
	if !ok {
		p := problem{what: "is " + describe(raw), want: "true or false, without quotes"}
		if s, ok := raw.(string); ok {
			p.suggestion = guessBool(s)
		}
		return []problem{p}
	}
	*v.to = b
	return nil
}

func (v flag) parse(s string) []problem {
	switch s {
	case "true", "false":
		*v.to = s == "true"
		return nil
	}
	return []problem{{what: "is " + describe(s), want: "true or false", suggestion: guessBool(s)}}
}

func guessBool(s string) string {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "1", "on", "yes", "y", "t", "true":
		return "true"
	case "0", "off", "no", "n", "f", "false":
		return "false"
	}
	return ""
}

func (v flag) allowed() string { return "true, false" }

func (v flag) literal() string { return strconv.FormatBool(*v.to) }

// size is a Size within bounds.
type size struct {
	to       *Size
	min, max Size
}

func (v size) allowed() string { return fmt.Sprintf("%v to %v", v.min, v.max) }

func (v size) want() string {
	return fmt.Sprintf(`a size from %s, such as "512KiB", "10MiB" or "1GiB"`, v.allowed())
}

func (v size) set(raw any) []problem {
	switch n := raw.(type) {
	case string:
		return v.parse(n)
	case int64:
		// Plain bytes; what the bounds refuse was probably meant in another unit.
		return v.parse(strconv.FormatInt(n, 10))
	}
	return []problem{{what: "is " + describe(raw), want: v.want()}}
}

func (v size) parse(s string) []problem {
	n, ok := parseSize(s)
	if !ok {
		p := problem{what: notA(s, "a size"), want: v.want()}
		if guess, ok := guessSize(s); ok && guess >= v.min && guess <= v.max {
			p.suggestion = quote(guess.String())
		}
		return []problem{p}
	}
	if n < v.min || n > v.max {
		p := problem{what: fmt.Sprintf("is %v", n), want: v.want()}
		if n < v.min {
			p.what = fmt.Sprintf("is %d bytes", n)
		}
		if guess := n * mib; n > 0 && n < kib && guess >= v.min && guess <= v.max {
			p.suggestion = quote(guess.String())
		}
		return []problem{p}
	}
	*v.to = n
	return nil
}

func (v size) literal() string { return quote(v.to.String()) }

// duration is a time.Duration within bounds.
type duration struct {
	to       *time.Duration
	min, max time.Duration
}

func (v duration) allowed() string { return durationText(v.min) + " to " + durationText(v.max) }

func (v duration) want() string {
	return fmt.Sprintf(`a duration with its unit, such as "500ms", "30s", "5m" or "24h", from %s`, v.allowed())
}

func (v duration) set(raw any) []problem {
	switch n := raw.(type) {
	case string:
		return v.parse(n)
	case int64, float64:
		// A bare number could be seconds or nanoseconds: ask.
		return []problem{v.unreadable("is "+describe(raw)+" without a unit", fmt.Sprint(n))}
	}
	return []problem{{what: "is " + describe(raw), want: v.want()}}
}

func (v duration) parse(s string) []problem {
	d, err := time.ParseDuration(s)
	if err != nil {
		return []problem{v.unreadable(notA(s, "a duration"), s)}
	}
	if d < v.min || d > v.max {
		return []problem{{what: "is " + durationText(d), want: v.want()}}
	}
	*v.to = d
	return nil
}

func (v duration) unreadable(what, s string) problem {
	p := problem{what: what, want: v.want()}
	if guess, ok := guessDuration(s); ok && guess >= v.min && guess <= v.max {
		p.suggestion = quote(durationText(guess))
	}
	return p
}

func (v duration) literal() string { return quote(durationText(*v.to)) }

// list is a list of texts.
type list struct {
	to    *[]string
	check func(string) *problem
}

func (v list) set(raw any) []problem {
	entries, ok := raw.([]any)
	if !ok {
		p := problem{what: "is " + describe(raw), want: "a list of texts in square brackets"}
		if s, ok := raw.(string); ok {
			p.suggestion = "[" + quote(s) + "]"
		}
		return []problem{p}
	}
	var wrong []problem
	var out []string // an empty list is nil, like the default
	for i, e := range entries {
		var s string
		for _, p := range (text{&s, v.check}).set(e) {
			p.entry = i + 1
			wrong = append(wrong, p)
		}
		out = append(out, s)
	}
	if wrong == nil {
		*v.to = out
	}
	return wrong
}

func (v list) parse(s string) []problem { return v.set(split(s)) }

func (v list) allowed() string { return "" }

func (v list) literal() string {
	quoted := make([]string, len(*v.to))
	for i, s := range *v.to {
		quoted[i] = quote(s)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// split cuts a variable at its commas; an empty one is an empty list.
func split(s string) []any {
	if strings.TrimSpace(s) == "" {
		return []any{}
	}
	var out []any
	for part := range strings.SplitSeq(s, ",") {
		out = append(out, strings.TrimSpace(part))
	}
	return out
}

// ports is a list of port numbers with at least one in it.
type ports struct{ to *[]uint16 }

const wantPorts = "port numbers from 1 to 65535: [80, 443] in a file, 80,443 in a variable"

func (v ports) set(raw any) []problem {
	entries, ok := raw.([]any)
	if !ok {
		p := problem{what: "is " + describe(raw), want: wantPorts}
		if n, ok := raw.(int64); ok && n >= 1 && n <= math.MaxUint16 {
			p.suggestion = fmt.Sprintf("[%d]", n)
		}
		return []problem{p}
	}
	if len(entries) == 0 {
		return []problem{{what: "is empty, and nothing at all could be reached", want: wantPorts}}
	}
	var wrong []problem
	out := make([]uint16, 0, len(entries))
	for i, e := range entries {
		n, ok := e.(int64)
		if !ok || n < 1 || n > math.MaxUint16 {
			wrong = append(wrong, problem{entry: i + 1, what: "is " + describe(e), want: wantPorts})
			continue
		}
		out = append(out, uint16(n))
	}
	if wrong == nil {
		*v.to = out
	}
	return wrong
}

func (v ports) parse(s string) []problem {
	entries := split(s)
	for i, e := range entries {
		if n, err := strconv.ParseInt(e.(string), 10, 64); err == nil {
			entries[i] = n
		}
	}
	return v.set(entries)
}

func (v ports) allowed() string { return "1 to 65535" }

func (v ports) literal() string {
	out := make([]string, len(*v.to))
	for i, p := range *v.to {
		out[i] = strconv.Itoa(int(p))
	}
	return "[" + strings.Join(out, ", ") + "]"
}

// notA says that s is no such thing ("a size"), or that it is empty.
func notA(s, thing string) string {
	if s == "" {
		return "is empty"
	}
	return fmt.Sprintf("%s is not %s", short(s), thing)
}

// describe says what a TOML value is, for a mistake.
func describe(raw any) string {
	switch v := raw.(type) {
	case string:
		if v == "" {
			return "empty"
		}
		return "the text " + short(v)
	case int64, float64:
		return fmt.Sprintf("the number %v", v)
	case bool:
		return strconv.FormatBool(v)
	case time.Time:
		return "a date"
	case map[string]any:
		return "a table"
	default:
		return "a list"
	}
}

// short quotes the beginning of a value.
func short(s string) string {
	const most = 80
	if len(s) <= most {
		return quote(s)
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return quote(s[:cut] + "…")
}

// quote writes s as a TOML basic string.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029':
			// Also what a terminal would act on and a reader could not see.
			fmt.Fprintf(&b, `\U%08X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
