package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"sift.build/sift/internal/pdf/pdftest"
)

// TestScripts runs testdata/script against the real program. Beside the
// commands of testscript there are:
//
//	expand FILE…              fill variables into files of the script
//	exits CODE PROGRAM ARG…   run a program that must end with that exit code
//	lines FILE N              FILE has N lines
//	json FILE LINE KEY VALUE  line LINE, from 0, is JSON and has VALUE at KEY
//	                          (a.b.0); \n in VALUE is the end of a line
//	jsonvar VAR FILE LINE KEY puts it into a variable
//	keys FILE LINE KEY…       the line is an object with these keys, in this order
//	contents WHOLE PART…      the contents of the parts join to the whole's
//	pdf FILE KIND             write a PDF of that kind (site_test.go)
//	hits PATH N               the site was asked for PATH N times so far
//	serve ARG…                start a server; $SERVER is its URL
//	stop                      stop it; it must end well
//
// $SITE is a small web site (site_test.go), $SITE_ADDR its address, $CLOSED an
// address where nobody listens, $RESOLVER a name server, $NAMED the site by
// its name there.
func TestScripts(t *testing.T) {
	t.Parallel()
	type serverKey struct{}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			tb, ok := e.T().(testing.TB)
			if !ok {
				return errors.New("testscript's T is no testing.TB")
			}
			s := newSite(tb)
			e.Values[serverKey{}] = new(*server)
			e.Values["site"] = s
			_, port, _ := strings.Cut(s.addr, ":")
			for k, v := range map[string]string{
				"SITE": s.URL, "SITE_ADDR": s.addr, "CLOSED": s.closed, "RESOLVER": s.resolver,
				"NAMED": "http://" + siteName + ":" + port, "PORT": port, "HOME": e.WorkDir + "/home",
				"XDG_CACHE_HOME": pdftest.CacheHome(),
			} {
				e.Setenv(k, v)
			}
			tmp := e.Getenv("TMPDIR")
			e.Defer(func() {
				if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
					tb.Errorf("left in the folder for temporary files: %v, %v", left, err)
				}
			})
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"expand": func(ts *testscript.TestScript, _ bool, args []string) {
				for _, name := range args {
					text := os.Expand(ts.ReadFile(name), ts.Getenv)
					ts.Check(os.WriteFile(ts.MkAbs(name), []byte(text), 0o600))
				}
			},
			"exits": func(ts *testscript.TestScript, _ bool, args []string) {
				want, err := strconv.Atoi(args[0])
				ts.Check(err)
				err = ts.Exec(args[1], args[2:]...)
				got := 0
				if e, ok := errors.AsType[*exec.ExitError](err); ok {
					got = e.ExitCode()
				} else {
					ts.Check(err)
				}
				if got != want {
					ts.Fatalf("it ended with %d, want %d", got, want)
				}
			},
			"lines": func(ts *testscript.TestScript, _ bool, args []string) {
				if got := strings.Count(ts.ReadFile(args[0]), "\n"); strconv.Itoa(got) != args[1] {
					ts.Fatalf("%d lines, want %s", got, args[1])
				}
			},
			"json": func(ts *testscript.TestScript, neg bool, args []string) {
				if len(args) != 4 {
					ts.Fatalf("usage: json FILE LINE KEY VALUE")
				}
				want := strings.ReplaceAll(args[3], `\n`, "\n")
				if got := jsonAt(ts, args[0], args[1], args[2]); (got == want) == neg {
					ts.Fatalf("%s is %q", args[2], got)
				}
			},
			"jsonvar": func(ts *testscript.TestScript, _ bool, args []string) {
				ts.Setenv(args[0], jsonAt(ts, args[1], args[2], args[3]))
			},
			"keys": func(ts *testscript.TestScript, _ bool, args []string) {
				got, err := keysOf(jsonLine(ts, args[0], args[1]))
				ts.Check(err)
				if !slices.Equal(got, args[2:]) {
					ts.Fatalf("keys %q, want %q", got, args[2:])
				}
			},
			"contents": func(ts *testscript.TestScript, _ bool, args []string) {
				var joined strings.Builder
				for _, part := range args[1:] {
					joined.WriteString(jsonAt(ts, part, "0", "content"))
				}
				if whole := jsonAt(ts, args[0], "0", "content"); joined.String() != whole {
					ts.Fatalf("%d bytes of parts do not join to the %d of the whole", joined.Len(), len(whole))
				}
			},
			"pdf": func(ts *testscript.TestScript, _ bool, args []string) {
				ts.Check(os.WriteFile(ts.MkAbs(args[0]), pdfOf(args[1]), 0o600))
			},
			"hits": func(ts *testscript.TestScript, _ bool, args []string) {
				if got := ts.Value("site").(*site).count(args[0]); strconv.Itoa(got) != args[1] {
					ts.Fatalf("%s was asked for %d times, want %s", args[0], got, args[1])
				}
			},
			"serve": func(ts *testscript.TestScript, _ bool, args []string) {
				c := exec.Command("sift", append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)
				c.Dir = ts.MkAbs(".")
				for _, name := range []string{"PATH", "HOME", "TMPDIR", "SIFT_CONFIG", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"} {
					if v := ts.Getenv(name); v != "" {
						c.Env = append(c.Env, name+"="+v)
					}
				}
				p, err := start(c)
				ts.Check(err)
				ts.Defer(p.kill)
				s, err := listening(p)
				ts.Check(err)
				*ts.Value(serverKey{}).(**server) = s
				ts.Setenv("SERVER", s.url)
			},
			"stop": func(ts *testscript.TestScript, _ bool, _ []string) {
				s := *ts.Value(serverKey{}).(**server)
				ts.Check(s.Process.Signal(syscall.SIGTERM))
				code, err := s.end()
				ts.Check(err)
				if code != 0 {
					ts.Fatalf("the server ended with %d:\n%s", code, s.log)
				}
			},
		},
	})
}

// jsonLine is one line of a file.
func jsonLine(ts *testscript.TestScript, file, n string) []byte {
	i, err := strconv.Atoi(n)
	ts.Check(err)
	lines := strings.Split(strings.TrimSuffix(ts.ReadFile(file), "\n"), "\n")
	if i >= len(lines) {
		ts.Fatalf("%s has %d lines", file, len(lines))
	}
	return []byte(lines[i])
}

// jsonAt is the value at a key of one line, as text; "absent" when there is none.
func jsonAt(ts *testscript.TestScript, file, line, key string) string {
	d := json.NewDecoder(bytes.NewReader(jsonLine(ts, file, line)))
	d.UseNumber()
	var v any
	ts.Check(d.Decode(&v))
	for k := range strings.SplitSeq(key, ".") {
		switch at := v.(type) {
		case map[string]any:
			inner, ok := at[k]
			if !ok {
				return "absent"
			}
			v = inner
		case []any:
			i, err := strconv.Atoi(k)
			if err != nil || i >= len(at) {
				return "absent"
			}
			v = at[i]
		default:
			return "absent"
		}
	}
	if v == nil {
		return "null"
	}
	return fmt.Sprint(v)
}

// keysOf lists the keys of an object in their order.
func keysOf(b []byte) ([]string, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	var keys []string
	for d.More() {
		k, err := d.Token()
		if err != nil {
			return nil, err
		}
		keys = append(keys, fmt.Sprint(k))
		var skipped json.RawMessage
		if err := d.Decode(&skipped); err != nil {
			return nil, err
		}
	}
	return keys, nil
}
