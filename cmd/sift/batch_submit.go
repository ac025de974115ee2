package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"sift.build/sift/internal/sift"
)

// maxBatch is how long the body of a submit may be. The service has the same
// bound.
const maxBatch = 256 << 10

func (p *program) batchSubmitCommand() *cobra.Command {
	var mode, timeout string
	var fresh, wait bool
	c := &cobra.Command{
		Use:        "submit [flags] FILE",
		SuggestFor: []string{"create", "add", "new", "run", "start", "post"},
		Short:      "Submit a list of targets as one job",
		Long: `Submit a list of targets as one job, and print the server's answer as one line
of JSON: job_id is what the other commands take, reused says that the same list
was there already.

FILE, or "-" for standard input, holds either plain URLs, one a line, where
blank lines and lines that begin with # are left out; or JSON, as POST /v1/batch
takes it: {"targets":[{"url":…,"mode":…},…]}, or only the list of targets or of
URLs. JSON goes to the server as it stands, whatever options are in it. A body
has at most 256 KiB.`,
		Example: `  sift batch submit urls.txt
  grep -o 'https://[^ ]*' notes.txt | sift batch submit --mode text -
  echo '{"targets":[{"url":"https://example.com/a.pdf","pages":"1-3"}]}' | sift batch submit -
  sift batch submit --wait urls.txt > results.jsonl`,
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveDefault
		},
	}
	c.Flags().StringVar(&mode, "mode", "", "`MODE` of the targets that name none: "+modeList())
	c.Flags().BoolVar(&fresh, "fresh", false, "make a new job although the same list was submitted before")
	c.Flags().BoolVar(&wait, "wait", false, "wait for the job at once, as batch wait does; the answer's line comes first")
	c.Flags().StringVar(&timeout, "timeout", "", "with --wait: wait no longer than that, in `SECONDS` or as 1m30s; the job goes on")
	_ = c.RegisterFlagCompletionFunc("mode", cobra.FixedCompletions(modeNames(), cobra.ShellCompDirectiveNoFileComp))
	p.askingCommand(c, "the output is JSON in any case; with this a failure is too, and the end of --wait", oneFile, func(ctx context.Context, b *batchCall, args []string) error {
		if mode != "" && !slices.Contains(sift.Modes(), sift.Mode(mode)) {
			return unknownMode(mode)
		}
		if timeout != "" && !wait {
			return usagef("--timeout goes with --wait")
		}
		limit, err := waitLimit(timeout)
		if err != nil {
			return err
		}
		if args[0] == "-" && isTerminal(p.in) {
			return usagef(`"-" reads standard input, which is a terminal; pipe a list in, or name a file with one URL a line`)
		}
		text, err := p.readFile(ctx, args[0], maxBatch)
		if err != nil {
			if ctx.Err() != nil || args[0] == "-" {
				return err
			}
			return usagef("%s cannot be read: %w; name a file with one URL a line, or - for standard input", args[0], sift.AsFailure(err).Cause)
		}
		body, err := batchBody(inputName(args[0]), text, sift.Mode(mode), fresh)
		if err != nil {
			return err
		}
		if err := b.connect(); err != nil {
			return err
		}
		return b.submit(ctx, body, wait, limit)
	})
	return c
}

// oneFile wants one file, and says what to write instead.
func oneFile(args []string) error {
	const write = "write: sift batch submit FILE, where FILE holds one URL a line or JSON and - is standard input"
	if i := slices.IndexFunc(args, func(s string) bool { return strings.Contains(s, "://") }); i >= 0 {
		return fmt.Errorf("%s is a URL; %s", sift.Quote(args[i]), write)
	}
	switch {
	case len(args) == 0:
		return errors.New("no file given; " + write)
	case len(args) > 1:
		return fmt.Errorf("one file at a time, not %d; %s", len(args), write)
	case args[0] == "":
		return errors.New("the file's name is empty; " + write)
	}
	return nil
}

func inputName(file string) string {
	if file == "-" {
		return "standard input"
	}
	return file
}

// submit hands the body in and says how to go on, or waits.
func (b *batchCall) submit(ctx context.Context, body batch, wait bool, limit time.Duration) error {
	answer, err := b.c.SubmitBatch(ctx, body.json)
	if err != nil {
		f := sift.AsFailure(err)
		// The request may have arrived all the same.
		if f.Code == sift.CodeCancel || f.Code == sift.CodeTimeout || f.Code == sift.CodeUnreachable && !errors.Is(err, syscall.ECONNREFUSED) {
			b.p.notice("if the job was made before the answer was lost, the same submit again answers that very job")
		}
		if place := body.place(f.Message); place != "" {
			b.p.notice("%s", place)
		}
		return err
	}
	if err := b.line(answer.JSON); err != nil {
		return err
	}
	if isTerminal(b.p.err) {
		if answer.Reused {
			b.p.notice("the same list was submitted before: this is that job, %s", answer.Status)
		}
		if answer.Hint == sift.HintFresh {
			b.p.notice("--fresh makes a new one")
		}
		if !wait {
			b.p.notice("go on with: %s", b.again("wait", answer.JobID))
		}
	}
	if !wait {
		return nil
	}
	return b.wait(ctx, answer.JobID, -1, limit, true)
}

// batch is the body of a submit, and where its targets come from.
type batch struct {
	json  []byte
	file  string
	lines []int // by the index of the target; nil: they came as JSON
}

var targetInError = regexp.MustCompile(`^targets\[(\d+)\]`)

// place says which line of a plain list a message of the server is about.
func (b *batch) place(message string) string {
	m := targetInError.FindStringSubmatch(message)
	if m == nil {
		return ""
	}
	i, err := strconv.Atoi(m[1])
	if err != nil || i >= len(b.lines) {
		return ""
	}
	return fmt.Sprintf("targets[%d] is line %d of %s", i, b.lines[i], b.file)
}

// batchBody makes the body of a submit from what file holds: JSON, or plain
// URLs. What it cannot be made from is a usage error.
func batchBody(file string, text []byte, mode sift.Mode, fresh bool) (batch, error) {
	tooLong := func() error {
		return sift.Fail(sift.CodeTooLong, "%s is longer than the %d bytes that a batch may have; submit it in parts", file, maxBatch)
	}
	if len(text) > maxBatch {
		return batch{}, tooLong()
	}
	// Windows tools write a byte order mark.
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	b := batch{file: file}
	var err error
	if start := bytes.TrimLeft(text, " \t\r\n"); len(start) > 0 && (start[0] == '{' || start[0] == '[') {
		b.json, err = jsonBody(file, text, mode, fresh)
	} else {
		b.json, b.lines, err = plainBody(file, text, mode, fresh)
	}
	if err != nil {
		return batch{}, err
	}
	if len(b.json) > maxBatch {
		return batch{}, tooLong()
	}
	return b, nil
}

// plainBody makes the body from URLs, one a line. Whether they may be fetched
// is for the server to say.
func plainBody(file string, text []byte, mode sift.Mode, fresh bool) ([]byte, []int, error) {
	var targets [][]byte
	var lines []int
	n := 0
	for raw := range bytes.Lines(text) {
		n++
		wrong := func(format string, args ...any) error {
			return usagef("%s, line %d: %s", file, n, fmt.Sprintf(format, args...))
		}
		if !utf8.Valid(raw) {
			return nil, nil, wrong("this is not text; write one URL a line, or JSON")
		}
		line := strings.TrimSpace(string(raw))
		if line == "" || line[0] == '#' {
			continue
		}
		if strings.ContainsFunc(line, unicode.IsControl) {
			return nil, nil, wrong("there is a control character; write one URL a line, or JSON")
		}
		if !urlStart.MatchString(line) {
			return nil, nil, wrong("%s is no URL; write one a line, with https:// or http:// in front, or JSON such as %s", sift.Quote(line), exampleBody)
		}
		if strings.ContainsFunc(line, unicode.IsSpace) {
			return nil, nil, wrong("%s has a space in it; write one URL a line, and %%20 for a space in one", sift.Quote(line))
		}
		targets = append(targets, withMode([]byte(`{"url":`+string(jsonText(line))+`}`), mode))
		lines = append(lines, n)
	}
	if len(targets) == 0 {
		return nil, nil, noTargets(file)
	}
	return wholeBody(targets, fresh), lines, nil
}

const exampleBody = `{"targets":[{"url":"https://example.com/"}]}`

// urlStart is how a URL begins, whatever its scheme. A host and a port without
// one would begin like a scheme, but for the slashes.
var urlStart = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://`)

func noTargets(file string) error {
	return usagef("%s holds no target; write one URL a line, or JSON such as %s", file, exampleBody)
}

// jsonBody makes the body from JSON: the body itself, as it stands unless a
// flag adds to it, or a list of targets or of URLs.
func jsonBody(file string, text []byte, mode sift.Mode, fresh bool) ([]byte, error) {
	wrong := func(at int64, format string, args ...any) error {
		before := text[:at]
		return usagef("%s, line %d: %s", file, bytes.Count(before, []byte("\n"))+1, fmt.Sprintf(format, args...))
	}
	d := json.NewDecoder(bytes.NewReader(text))
	var whole json.RawMessage
	if err := d.Decode(&whole); err != nil {
		if e, ok := errors.AsType[*json.SyntaxError](err); ok {
			return nil, wrong(max(e.Offset-1, 0), "this is not JSON: %v; what begins with { or [ is read as JSON, anything else as one URL a line", e)
		}
		return nil, wrong(int64(len(text)), "the JSON is not complete: it ends before its last bracket")
	}
	if rest := bytes.TrimLeft(text[d.InputOffset():], " \t\r\n"); len(rest) > 0 {
		return nil, wrong(int64(len(text)-len(rest)), "something follows the JSON; write one object such as %s", exampleBody)
	}
	start := d.InputOffset() - int64(len(whole))
	if whole[0] == '[' {
		targets, err := jsonTargets(whole, mode, true, func(at int64, format string, args ...any) error {
			return wrong(start+at, format, args...)
		})
		if err != nil {
			return nil, err
		}
		if len(targets) == 0 {
			return nil, noTargets(file)
		}
		return wholeBody(targets, fresh), nil
	}

	members, err := membersOf(whole)
	if err != nil {
		return nil, wrong(start, "%v", err)
	}
	if slices.ContainsFunc(members, named("url")) && !slices.ContainsFunc(members, named("targets")) {
		return nil, wrong(start, "this is one target alone; write the list of them, such as %s", exampleBody)
	}
	changed, hasFresh := false, false
	for i, m := range members {
		switch m.name {
		case "targets":
			if m.value[0] != '[' {
				continue // the server says what it wants
			}
			targets, err := jsonTargets(m.value, mode, false, func(at int64, format string, args ...any) error {
				return wrong(start+m.at+at, format, args...)
			})
			if err != nil {
				return nil, err
			}
			if len(targets) == 0 {
				return nil, noTargets(file)
			}
			if mode != "" {
				members[i].value, changed = jsonList(targets), true
			}
		case "fresh":
			hasFresh = true
			if fresh && string(m.value) != "true" {
				return nil, wrong(start+m.at, "it says \"fresh\":%s, and --fresh the opposite; leave out one of them", m.value)
			}
		}
	}
	if fresh && !hasFresh {
		members, changed = append(members, member{name: "fresh", value: []byte("true")}), true
	}
	if !changed {
		return whole, nil
	}
	return jsonObject(members), nil
}

// jsonTargets gives the elements of a list of targets, each an object with the
// mode in it. urls says that a URL alone is one too.
func jsonTargets(raw []byte, mode sift.Mode, urls bool, wrong func(at int64, format string, args ...any) error) ([][]byte, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if _, err := d.Token(); err != nil {
		return nil, wrong(0, "%v", err)
	}
	var out [][]byte
	for d.More() {
		var v json.RawMessage
		if err := d.Decode(&v); err != nil {
			return nil, wrong(d.InputOffset(), "%v", err)
		}
		switch {
		case v[0] == '{':
			out = append(out, withMode(v, mode))
		case v[0] == '"' && urls:
			out = append(out, withMode(slices.Concat([]byte(`{"url":`), v, []byte("}")), mode))
		case urls:
			return nil, wrong(d.InputOffset()-int64(len(v)), "targets[%d] is neither a URL in quotes nor an object such as {\"url\":\"https://example.com/\"}", len(out))
		default:
			return nil, wrong(d.InputOffset()-int64(len(v)), "targets[%d] is no object; write {\"url\":\"https://example.com/\"}", len(out))
		}
	}
	return out, nil
}

// withMode adds the mode to a target that has none.
func withMode(target []byte, mode sift.Mode) []byte {
	if mode == "" {
		return target
	}
	members, err := membersOf(target)
	if err != nil || slices.ContainsFunc(members, named("mode")) {
		return target
	}
	return jsonObject(append(members, member{name: "mode", value: jsonText(string(mode))}))
}

func wholeBody(targets [][]byte, fresh bool) []byte {
	members := []member{{name: "targets", value: jsonList(targets)}}
	if fresh {
		members = append(members, member{name: "fresh", value: []byte("true")})
	}
	return jsonObject(members)
}

// member is one name and value of an object.
type member struct {
	name  string
	value []byte
	at    int64 // of the value, in the object's text
}

// membersOf takes an object apart, in its order and with names that stand there
// twice: what is wrong with them is for the server to say.
func membersOf(raw []byte) ([]member, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	var out []member
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		var v json.RawMessage
		if err := d.Decode(&v); err != nil {
			return nil, err
		}
		text, _ := name.(string)
		out = append(out, member{text, v, d.InputOffset() - int64(len(v))})
	}
	return out, nil
}

func named(name string) func(member) bool {
	return func(m member) bool { return m.name == name }
}

func jsonObject(members []member) []byte {
	var b bytes.Buffer
	for i, m := range members {
		b.WriteByte("{,"[min(i, 1)])
		b.Write(jsonText(m.name))
		b.WriteByte(':')
		b.Write(m.value)
	}
	b.WriteByte('}')
	return b.Bytes()
}

func jsonList(values [][]byte) []byte {
	return slices.Concat([]byte("["), bytes.Join(values, []byte(",")), []byte("]"))
}

// jsonText writes a text as JSON, without the escapes that only HTML needs.
func jsonText(s string) []byte {
	b, err := sift.EncodeJSON(s)
	if err != nil {
		panic(fmt.Sprintf("a string cannot fail to encode: %v", err))
	}
	return b
}
