package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/google/go-cmp/cmp"
	"sift.build/sift/internal/auth"
	"sift.build/sift/internal/guard"
)

// home is an environment with nothing of ours in it.
var home = []string{"HOME=/home/u"}

var (
	hashA = strings.Repeat("a1", 32)
	hashB = strings.Repeat("b2", 32)
)

// write makes a configuration file.
func write(t *testing.T, document string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sift.toml")
	if err := os.WriteFile(path, []byte(document), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// mistakes loads a document and gives each mistake as one line, with the folder
// of the file left out.
func mistakes(t *testing.T, document string, environ []string, flags map[string]string) []string {
	t.Helper()
	path := write(t, document)
	c, err := Load(path, append(environ, home...), flags)
	if err == nil {
		return nil
	}
	if d := cmp.Diff(Config{}, c); d != "" {
		t.Errorf("a configuration with mistakes was handed out:\n%s", d)
	}
	e, ok := errors.AsType[*Error](err)
	if !ok {
		t.Fatalf("not an *Error: %v", err)
	}
	var out []string
	for _, m := range e.Mistakes {
		out = append(out, strings.TrimPrefix(m.String(), filepath.Dir(path)+"/"))
	}
	return out
}

// starts says for each pair whether the line begins with the text.
func starts(t *testing.T, want, got []string) {
	t.Helper()
	for i := range max(len(want), len(got)) {
		switch {
		case i >= len(got):
			t.Errorf("missing: %s", want[i])
		case i >= len(want):
			t.Errorf("not wanted: %s", got[i])
		case !strings.HasPrefix(got[i], want[i]):
			t.Errorf("got  %s\nwant %s…", got[i], want[i])
		}
	}
}

// The example of SPEC section 11, word for word but for the caller's hash.
const specExample = `
listen = "127.0.0.1:8642"
data_dir = ""                       # default: the XDG state folder

[metrics]
listen = ""                         # empty: on the main listener

[limits]
children_memory = "640MiB"          # PDF, jq and OCR children together
parse_memory = "256MiB"             # large pages take turns

[log]
level = "info"                      # debug, info, warn, error
format = "text"                     # or json

[guard]
ports = [80, 443]
allow = []                          # "10.20.0.0/16", "127.0.0.1:9000"
nat64 = []                          # "64:ff9b::/96"
resolver = ""                       # "127.0.0.1:53"; default: the system's, by the pure Go resolver

[gate]
global = 8
per_host = 2
per_caller = 4

[fetch]
timeout = "30s"
max_bytes = "10MiB"
max_pdf_bytes = "50MiB"
max_redirects = 5
user_agent = "sift/1 (+contact)"
robots = "ignore"                   # or "respect"

[cache]
max_bytes = "512MiB"
ttl = "1h"
digest_bytes = "32MiB"
embed_bytes = "64MiB"

[pdf]
slots = 2
queue = 4
wait = "20s"
timeout = "20s"
memory = "320MiB"
max_pages = 2000
ocr = false

[batch]
targets_per_job = 32
jobs_per_caller = 1
jobs_total = 8
workers = 2
ttl = "24h"
max_bytes = "64MiB"

[digest]                            # both optional, OpenAI-compatible
embeddings_url = ""
embeddings_model = ""
chat_url = ""
chat_model = ""
key_file = ""

[recover]
archive = ""                        # Memento/availability base URL; empty: page data only
restricted = false
max_bytes = "64MiB"

[store]
url = ""                            # later: postgres://…

[[caller]]
name = "research"                   # [a-z0-9_-]{1,64}
key_sha256 = "…"                    # of the whole key; sift key new prints both
class = "default"
restricted = false
`

func TestTheDefaultsAreThoseOfTheSpecification(t *testing.T) {
	want := Config{
		Listen:  "127.0.0.1:8642",
		DataDir: "/home/u/.local/state/sift",
		Limits:  Limits{ChildrenMemory: 671088640, ParseMemory: 268435456},
		Log:     Log{Level: "info", Format: "text"},
		Guard:   Guard{Ports: []uint16{80, 443}},
		Gate:    Gate{Global: 8, PerHost: 2, PerCaller: 4},
		Fetch: Fetch{Timeout: 30 * time.Second, MaxBytes: 10485760, MaxPDFBytes: 52428800, MaxRedirects: 5,
			UserAgent: "sift/1 (+contact)", Robots: "ignore"},
		Cache: Cache{MaxBytes: 536870912, TTL: time.Hour, DigestBytes: 33554432, EmbedBytes: 67108864},
		PDF:   PDF{Slots: 2, Queue: 4, Wait: 20 * time.Second, Timeout: 20 * time.Second, Memory: 335544320, MaxPages: 2000},
		Batch: Batch{TargetsPerJob: 32, JobsPerCaller: 1, JobsTotal: 8, Workers: 2, TTL: 24 * time.Hour, MaxBytes: 67108864,
			OnRestart: "fail"},
		Recover: Recover{MaxBytes: 67108864},
	}
	got, err := Load("", home, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("without a file:\n%s", d)
	}
	want.Callers = []Caller{{Name: "research", KeySHA256: hashA, Class: "default"}}
	got, err = Load(write(t, strings.Replace(specExample, "…\" ", hashA+"\" ", 1)), home, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("with the example:\n%s", d)
	}
}

// everything sets every key to something else than its default.
const everything = `
listen = "0.0.0.0:80"
data_dir = "/var/lib/sift"
metrics.listen = "[::1]:9642"
limits = { children_memory = "1GiB", parse_memory = "64MiB" }
"log".'level' = "debug"
log."format" = "json"
[guard]
ports = [80, 443, 8080]
allow = ["10.20.0.0/16", "127.0.0.1:9000", "[fd00::1]:8080"]
nat64 = ["64:ff9b::/96"]
resolver = "127.0.0.1:53"
[gate]
global = 9
per_host = 3
per_caller = 5
[fetch]
timeout = "1m30s"
max_bytes = "1048577"
max_pdf_bytes = 52428801
max_redirects = 0
user_agent = "bot/2 (+https://example.org)"
robots = "respect"
[cache]
max_bytes = "1GiB"
ttl = "90m"
digest_bytes = "512KiB"
embed_bytes = "1TiB"
[pdf]
slots = 1
queue = 0
wait = "500ms"
timeout = "10s"
memory = "256MiB"
max_pages = 10
[batch]
targets_per_job = 31
jobs_per_caller = 2
jobs_total = 7
workers = 1
ttl = "48h"
max_bytes = "128MiB"
on_restart = "fail"
[digest]
embeddings_url = "http://127.0.0.1:1/v1"
embeddings_model = "e"
chat_url = "https://models.example/v1/"
chat_model = "c"
key_file = "/run/secrets/model"
[recover]
archive = "https://archive.example/wayback/available?url="
restricted = true
max_bytes = "32MiB"
[[caller]]
name = "research"
key_sha256 = "A1A1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1"
[[caller]]
name = "ops_1-a"
key_sha256 = "b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2"
class = "ops"
restricted = true
`

func everythingLoaded() Config {
	return Config{
		Listen:  "0.0.0.0:80",
		DataDir: "/var/lib/sift",
		Metrics: Metrics{Listen: "[::1]:9642"},
		Limits:  Limits{ChildrenMemory: 1073741824, ParseMemory: 67108864},
		Log:     Log{Level: "debug", Format: "json"},
		Guard: Guard{Ports: []uint16{80, 443, 8080}, Allow: []string{"10.20.0.0/16", "127.0.0.1:9000", "[fd00::1]:8080"},
			NAT64: []string{"64:ff9b::/96"}, Resolver: "127.0.0.1:53"},
		Gate: Gate{Global: 9, PerHost: 3, PerCaller: 5},
		Fetch: Fetch{Timeout: 90 * time.Second, MaxBytes: 1048577, MaxPDFBytes: 52428801, MaxRedirects: 0,
			UserAgent: "bot/2 (+https://example.org)", Robots: "respect"},
		Cache: Cache{MaxBytes: 1073741824, TTL: 90 * time.Minute, DigestBytes: 524288, EmbedBytes: 1099511627776},
		PDF:   PDF{Slots: 1, Queue: 0, Wait: 500 * time.Millisecond, Timeout: 10 * time.Second, Memory: 268435456, MaxPages: 10},
		Batch: Batch{TargetsPerJob: 31, JobsPerCaller: 2, JobsTotal: 7, Workers: 1, TTL: 48 * time.Hour, MaxBytes: 134217728,
			OnRestart: "fail"},
		Digest: Digest{EmbeddingsURL: "http://127.0.0.1:1/v1", EmbeddingsModel: "e", ChatURL: "https://models.example/v1/",
			ChatModel: "c", KeyFile: "/run/secrets/model"},
		Recover: Recover{Archive: "https://archive.example/wayback/available?url=", Restricted: true, MaxBytes: 33554432},
		Callers: []Caller{
			{Name: "research", KeySHA256: hashA, Class: "default"},
			{Name: "ops_1-a", KeySHA256: hashB, Class: "ops", Restricted: true},
		},
	}
}

func TestEveryKeyIsReadFromTheFile(t *testing.T) {
	got, err := Load(write(t, everything), home, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(everythingLoaded(), got); d != "" {
		t.Error(d)
	}
}

func TestEveryKeyIsReadFromTheEnvironment(t *testing.T) {
	environ := []string{
		"SIFT_LISTEN=0.0.0.0:80",
		"SIFT_DATA_DIR=/var/lib/sift",
		"SIFT_METRICS_LISTEN=[::1]:9642",
		"SIFT_LIMITS_CHILDREN_MEMORY=1GiB",
		"SIFT_LIMITS_PARSE_MEMORY=64MiB",
		"SIFT_LOG_LEVEL=debug",
		"SIFT_LOG_FORMAT=json",
		"SIFT_GUARD_PORTS=80, 443,8080",
		"SIFT_GUARD_ALLOW=10.20.0.0/16, 127.0.0.1:9000,[fd00::1]:8080",
		"SIFT_GUARD_NAT64=64:ff9b::/96",
		"SIFT_GUARD_RESOLVER=127.0.0.1:53",
		"SIFT_GATE_GLOBAL=9",
		"SIFT_GATE_PER_HOST=3",
		"SIFT_GATE_PER_CALLER=5",
		"SIFT_FETCH_TIMEOUT=90s",
		"SIFT_FETCH_MAX_BYTES=1048577",
		"SIFT_FETCH_MAX_PDF_BYTES=52428801",
		"SIFT_FETCH_MAX_REDIRECTS=0",
		"SIFT_FETCH_USER_AGENT=bot/2 (+https://example.org)",
		"SIFT_FETCH_ROBOTS=respect",
		"SIFT_CACHE_MAX_BYTES=1GiB",
		"SIFT_CACHE_TTL=90m",
		"SIFT_CACHE_DIGEST_BYTES=512KiB",
		"SIFT_CACHE_EMBED_BYTES=1TiB",
		"SIFT_PDF_SLOTS=1",
		"SIFT_PDF_QUEUE=0",
		"SIFT_PDF_WAIT=500ms",
		"SIFT_PDF_TIMEOUT=10s",
		"SIFT_PDF_MEMORY=256MiB",
		"SIFT_PDF_MAX_PAGES=10",
		"SIFT_PDF_OCR=false",
		"SIFT_BATCH_TARGETS_PER_JOB=31",
		"SIFT_BATCH_JOBS_PER_CALLER=2",
		"SIFT_BATCH_JOBS_TOTAL=7",
		"SIFT_BATCH_WORKERS=1",
		"SIFT_BATCH_TTL=48h",
		"SIFT_BATCH_MAX_BYTES=128MiB",
		"SIFT_BATCH_ON_RESTART=fail",
		"SIFT_DIGEST_EMBEDDINGS_URL=http://127.0.0.1:1/v1",
		"SIFT_DIGEST_EMBEDDINGS_MODEL=e",
		"SIFT_DIGEST_CHAT_URL=https://models.example/v1/",
		"SIFT_DIGEST_CHAT_MODEL=c",
		"SIFT_DIGEST_KEY_FILE=/run/secrets/model",
		"SIFT_RECOVER_ARCHIVE=https://archive.example/wayback/available?url=",
		"SIFT_RECOVER_RESTRICTED=true",
		"SIFT_RECOVER_MAX_BYTES=32MiB",
		"SIFT_STORE_URL=",
		// The first of two counts, and others are none of ours.
		"SIFT_LISTEN=nonsense", "SIFT_URL=http://127.0.0.1:1", "SIFT_KEY=sift_x", "SIFT_NOTHING=1", "SIFT_CALLER_NAME=x", "=", "odd",
	}
	for _, f := range fields() {
		if !strings.Contains(strings.Join(environ, "\n")+"\n", envName(f.key)+"=") {
			t.Errorf("the test does not set %s", envName(f.key))
		}
	}
	callers := everything[strings.Index(everything, "[[caller]]"):]
	got, err := Load(write(t, callers), environ, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(everythingLoaded(), got); d != "" {
		t.Error(d)
	}
}

func TestFlagsWinOverEnvironmentOverFileOverDefaults(t *testing.T) {
	path := write(t, "[gate]\nglobal = 10\nper_host = 10\nper_caller = 10\n[guard]\nallow = [\"10.0.0.0/8\"]")
	environ := append([]string{"SIFT_GATE_PER_HOST=11", "SIFT_GATE_PER_CALLER=11", "SIFT_GUARD_ALLOW="}, home...)
	got, err := Load(path, environ, map[string]string{"gate.per_caller": "12", "guard.ports": "443"})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(Gate{Global: 10, PerHost: 11, PerCaller: 12}, got.Gate); d != "" {
		t.Error(d)
	}
	// An empty variable closes what the file opened.
	if d := cmp.Diff(Guard{Ports: []uint16{443}}, got.Guard); d != "" {
		t.Error(d)
	}
}

func TestAllMistakesAreReportedAtOnceEachWithItsPlace(t *testing.T) {
	got := mistakes(t, `lissten = "127.0.0.1:1"
listen = 8642
[fetch]
timeout = 30
max-bytes = "10MiB"
max_pdf_bytes = "50 MB"
max_redirects = "5"
robots = "Respect"
data_dir = "x"
[gate]
global = 0
per_host = 1.5
[guard]
ports = [80, 0,
  70000,
  "443"]
allow = ["10.20.3.0/16", # a comment
  "fd00::/8:80",
  "10.0.0.1:0", "evil.example"]
nat64 = "64:ff9b::/96"
resolver = "1.1.1.1"
[fecth]
timeout = true
timout = "3s"
[cache]
ttl = "1d"
max_bytes = 10
[nonsense]
a = 1
`, []string{"SIFT_FETCH_TIMEOUT=", "SIFT_GUARD_PORTS=80,x"}, map[string]string{"log.levl": "x", "log.level": "warning"})
	want := []string{
		`sift.toml:1: lissten: no such key; did you mean listen?`,
		`sift.toml:2: listen: is the number 8642; want a text in quotes; did you mean "127.0.0.1:8642"?`,
		`sift.toml:4: fetch.timeout: is the number 30 without a unit; want a duration with its unit, such as "500ms", "30s", "5m" or "24h", from 1ms to 10m; did you mean "30s"?`,
		`sift.toml:5: fetch.max-bytes: no such key; did you mean fetch.max_bytes?`,
		`sift.toml:6: fetch.max_pdf_bytes: "50 MB" is not a size; want a size from 1KiB to 1GiB, such as "512KiB", "10MiB" or "1GiB"; did you mean "50MiB"?`,
		`sift.toml:7: fetch.max_redirects: is the text "5"; want a whole number from 0 to 20, without quotes; did you mean 5?`,
		`sift.toml:8: fetch.robots: is the text "Respect"; want ignore or respect; did you mean "respect"?`,
		`sift.toml:9: fetch.data_dir: no such key in this section; want keys that belong to no section above the first one; did you mean data_dir?`,
		`sift.toml:11: gate.global: is 0; want a whole number from 1 to 1000`,
		`sift.toml:12: gate.per_host: is the number 1.5; want a whole number from 1 to 1000`,
		`sift.toml:14: guard.ports: entry 2 is the number 0; want port numbers from 1 to 65535`,
		`sift.toml:15: guard.ports: entry 3 is the number 70000; want port numbers from 1 to 65535`,
		`sift.toml:16: guard.ports: entry 4 is the text "443"; want port numbers from 1 to 65535`,
		`sift.toml:17: guard.allow: entry 1 "10.20.3.0/16" has bits set after the first 16; want an address or a range`,
		`sift.toml:19: guard.allow: entry 3 "10.0.0.1:0" is not an address or range; want`,
		`sift.toml:19: guard.allow: entry 4 "evil.example" is not an address or range; want`,
		`sift.toml:20: guard.nat64: is the text "64:ff9b::/96"; want a list of texts in square brackets; did you mean ["64:ff9b::/96"]?`,
		`sift.toml:21: guard.resolver: "1.1.1.1" is not a numeric address with a port; want a DNS server such as "127.0.0.1:53" or "[::1]:53"; did you mean "1.1.1.1:53"?`,
		`sift.toml:22: fecth: no such section; did you mean [fetch]?`,
		`sift.toml:23: fetch.timeout: is true; want a duration`,
		`sift.toml:24: fecth.timout: no such key; did you mean fetch.timeout?`,
		`sift.toml:26: cache.ttl: "1d" is not a duration; want a duration with its unit, such as "500ms", "30s", "5m" or "24h", from 1ms to 8760h; did you mean "24h"?`,
		`sift.toml:27: cache.max_bytes: is 10 bytes; want a size from 1KiB to 1TiB, such as "512KiB", "10MiB" or "1GiB"; did you mean "10MiB"?`,
		`sift.toml:28: nonsense: no such section`,
		`environment SIFT_GUARD_PORTS: guard.ports: entry 2 is the text "x"; want port numbers from 1 to 65535: [80, 443] in a file, 80,443 in a variable`,
		`environment SIFT_FETCH_TIMEOUT: fetch.timeout: is empty; want a duration`,
		`flag: log.level: is the text "warning"; want debug, info, warn or error; did you mean "warn"?`,
		`flag: log.levl: no such key; did you mean log.level?`,
	}
	starts(t, want, got)
}

func TestLinesAreRightHoweverAKeyIsWritten(t *testing.T) {
	for document, want := range map[string][]string{
		"fetch.timeout = 1\nfetch . \"robots\" = 2\n'fetch'.'max_bytes' = true":      {"sift.toml:1: fetch.timeout", "sift.toml:2: fetch.robots", "sift.toml:3: fetch.max_bytes"},
		"# [fetch]\n\n[ \"fetch\" ] # [gate]\n# timeout = 1\ntimeout = 1":            {"sift.toml:5: fetch.timeout"},
		"fetch = { timeout = 1, robots = 2 }\n[gate]\nglobal = 0":                    {"sift.toml:1: fetch.robots", "sift.toml:1: fetch.timeout", "sift.toml:3: gate.global"},
		"fetch = { timeout = \"1s\",\n # x\n robots = 2,\n}":                         {"sift.toml:3: fetch.robots"},
		"\ufeff\r\n[fetch]\r\ntimeout = 1\r\n":                                       {"sift.toml:3: fetch.timeout"},
		"[fetch]\nuser_agent = \"\"\"\n[gate]\nglobal = 0\n\"\"\"\nrobots = 1":       {"sift.toml:2: fetch.user_agent: holds a control character", "sift.toml:6: fetch.robots"},
		"[fetch]\nuser_agent = '''a \"\"\" # '' '''''\nrobots = 1":                   {"sift.toml:3: fetch.robots"},
		"[fetch]\nuser_agent = \"a \\\" # \\\\\"\nrobots = 1":                        {"sift.toml:3: fetch.robots"},
		"[fetch]\n\"time\\u006fut\" = 1":                                             {"sift.toml:2: fetch.timeout"},
		"[guard]\nallow = [\n  \"10.0.0.0/8\", # one ]\n\n  \"x]\",\n  [1],\n  3\n]": {"sift.toml:5: guard.allow: entry 2", "sift.toml:6: guard.allow: entry 3 is a list", "sift.toml:7: guard.allow: entry 4 is the number 3"},
		"[fetch.timeout]\na = 1":                                                     {"sift.toml:1: fetch.timeout: is a table"},
		"[fetch]\ntimeout = 2020-01-02 03:04:05\nrobots = 1":                         {"sift.toml:2: fetch.timeout: is a date", "sift.toml:3: fetch.robots"},
		"[fetch.robots.a.b]\n[fetch]\ntimeout = 1":                                   {"sift.toml:1: fetch.robots: is a table", "sift.toml:3: fetch.timeout"},
		"fetch = 3\nlog = \"debug\"":                                                 {"sift.toml:1: fetch: is the number 3; want a section: [fetch] on a line of its own, its keys below", "sift.toml:2: log: is the text \"debug\"; want a section"},
		"[[fetch]]\ntimeout = 1\n[[fetch]]\nrobots = 1":                              {"sift.toml:1: fetch: is written as a list of sections; want a section", "sift.toml:2: fetch.timeout", "sift.toml:4: fetch.robots"},
		"[[caller]]\nname = 1\nkey_sha256 = 2\n\n[[caller]]\nclas = \"x\"\nname = \"A\"\nkey_sha256 = 'x'\n": {
			"sift.toml:2: caller.name: is the number 1; want a text in quotes; did you mean \"1\"?", "sift.toml:3: caller.key_sha256: is not a text; want a text in quotes",
			"sift.toml:6: caller.clas: no such key; did you mean caller.class?", "sift.toml:7: caller.name: is the text \"A\"; want 1 to 64 characters of a-z, 0-9, _ and -",
			"sift.toml:8: caller.key_sha256: is 1 characters that are not a hash"},
		"caller = [\n { name = \"a\" },\n { name = \"B\", key_sha256 = \"" + hashA + "\" },\n]": {"sift.toml:2: caller.key_sha256: is missing", "sift.toml:3: caller.name"},
		"[caller]\nname = \"A\"\nkey_sha256 = \"" + hashA + "\"":                                {"sift.toml:1: caller: is one table; want [[caller]], in double brackets, once for every caller", "sift.toml:2: caller.name"},
		"[[callers]]\nname = \"A\"\nkey_sha256 = \"" + hashA + "\"":                             {"sift.toml:1: callers: no such section; did you mean [[caller]]?", "sift.toml:2: caller.name"},
		"caller = \"a\"": {"sift.toml:1: caller: is the text \"a\"; want [[caller]]"},
		"timeout = \"1s\"\n\"\" = 1\n\"a.b\" = 2": {"sift.toml:1: timeout: no such key; did you mean fetch.timeout or pdf.timeout?", "sift.toml:2: no such key", "sift.toml:3: a.b: no such key"},
	} {
		t.Run(document, func(t *testing.T) { starts(t, want, mistakes(t, document, nil, nil)) })
	}
}

func TestAFileThatIsNoTOMLIsReportedWithItsLineBesideTheRest(t *testing.T) {
	for document, want := range map[string]string{
		"a = \n": "sift.toml:1: not valid TOML: ",
		"[fetch]\n\ntimeout=\"1s\"\ntimeout=\"2s\"\n": "sift.toml:4: not valid TOML: Key 'fetch.timeout' has already been defined. (in line 3)",
		"[fetch]\n[gate]\n[fetch]\n":                  "sift.toml:3: not valid TOML: Key 'fetch' has already been defined. (in line 1)",
		"\n\n[[caller]]\n[caller]\n":                  "sift.toml:4: not valid TOML: Key 'caller' has already been defined. (in line 3)",
		"x = \"abc\n":                                 "sift.toml:1: not valid TOML: ",
		"\n[fetch\n":                                  "sift.toml:2: not valid TOML: ",
		"a=1\n\n\xff":                                 "sift.toml:3: not valid TOML: ",
		"\ufeff\na = [1,\n\n2\n\n":                    "sift.toml:5: not valid TOML: ",
		"\na = \"\"\"x\ny\n":                          "sift.toml:2: not valid TOML: ",
		"\"\\":                                        "sift.toml:1: not valid TOML: ",
		"a = 1\nb c = 2\n":                            "sift.toml:2: not valid TOML: ",
		"a = 1\nb = 1 2\nc = 3":                       "sift.toml:2: not valid TOML: ",
	} {
		got := mistakes(t, document, []string{"SIFT_GATE_GLOBAL=0"}, nil)
		starts(t, []string{want, "environment SIFT_GATE_GLOBAL: gate.global: is 0"}, got)
	}
}

func TestValuesAreCheckedOneByOne(t *testing.T) {
	for _, c := range []struct{ key, value, want string }{
		{"listen", "127.0.0.1:0", ""},
		{"listen", "[::1]:1", ""},
		{"listen", "localhost:65535", ""},
		{"listen", "127.0.0.1", `"127.0.0.1" is not a host and port; want an address and a port, such as "127.0.0.1:8642", "[::1]:8642" or "0.0.0.0:8642"; did you mean "127.0.0.1:8642"?`},
		{"listen", "::1", `"::1" is not a host and port; want an address and a port, such as "127.0.0.1:8642", "[::1]:8642" or "0.0.0.0:8642"; did you mean "[::1]:8642"?`},
		{"listen", "8642", `"8642" is not a host and port; want an address and a port, such as "127.0.0.1:8642", "[::1]:8642" or "0.0.0.0:8642"; did you mean "127.0.0.1:8642"?`},
		{"listen", "", `is empty`},
		{"listen", "127.0.0.1:65536", `"127.0.0.1:65536" has no valid port`},
		{"listen", "127.0.0.1:http", `"127.0.0.1:http" has no valid port`},
		{"listen", "127.0.0.1:+1", `"127.0.0.1:+1" has no valid port`},
		{"listen", "127.0.0.1:", `"127.0.0.1:" has no valid port`},
		{"listen", "127.1:80", `"127.1:80" has no valid host`},
		{"listen", "http://127.0.0.1:80", `"http://127.0.0.1:80" is not a host and port`},
		{"metrics.listen", "", ""},
		{"metrics.listen", "x", `"x" is not a host and port`},
		{"metrics.listen", "127.0.0.1:8642", `is the address of the main listener`},
		{"data_dir", "/a\nb", `holds a control character`},
		{"data_dir", "/a\xffb", `is not valid UTF-8`},
		{"data_dir", "/" + strings.Repeat("a", 4096), `is 4097 bytes long; want at most 4096 bytes`},
		{"data_dir", "/" + strings.Repeat("a", 4095), ``},
		{"data_dir", "~/sift", `"~/sift" begins with ~, which is not expanded here; want the whole path`},
		{"log.level", "WARN", `is the text "WARN"; want debug, info, warn or error; did you mean "warn"?`},
		{"log.level", "trace", `is the text "trace"; want debug, info, warn or error`},
		{"log.format", "jsno", `is the text "jsno"; want text or json; did you mean "json"?`},
		{"guard.ports", "", `is empty, and nothing at all could be reached`},
		{"guard.ports", "1,65535", ``},
		{"guard.ports", "65536", `entry 1 is the number 65536`},
		{"guard.ports", "80,,443", `entry 2 is empty`},
		{"guard.allow", "10.0.0.0/8,10.0.0.0/8:8080,10.1.2.3,10.1.2.3:1,fd00::1,fd00::/8,[fd00::1]:1,[fd00::/8]:1,[fd00::]/8:1,[fd00::1]", ``},
		{"guard.allow", "10.0.0.1:", `entry 1 "10.0.0.1:" is not an address or range`},
		{"guard.allow", "10.0.0.1:080", `entry 1 "10.0.0.1:080" is not an address or range`},
		{"guard.allow", "10.0.0.0/33", `entry 1 "10.0.0.0/33" is not an address or range`},
		{"guard.allow", "10.0.0.0/8:", `entry 1 "10.0.0.0/8:" is not an address or range`},
		{"guard.allow", "010.0.0.0/8", `entry 1 "010.0.0.0/8" is not an address or range`},
		{"guard.allow", "localhost:80", `entry 1 "localhost:80" is not an address or range`},
		{"guard.allow", "[10.0.0.1]:80", `entry 1 "[10.0.0.1]:80" is not an address or range`},
		{"guard.allow", "[fd00::1]x:80", `entry 1 "[fd00::1]x:80" is not an address or range`},
		{"guard.allow", "[fd00::1", `entry 1 "[fd00::1" is not an address or range`},
		{"guard.allow", "fe80::1%eth0", `entry 1 "fe80::1%eth0" has a zone`},
		{"guard.allow", "::ffff:10.0.0.1", `entry 1 "::ffff:10.0.0.1" is an IPv4 address written as IPv6`},
		{"guard.allow", "10.20.3.4/16:80", `entry 1 "10.20.3.4/16:80" has bits set after the first 16; want an address or a range, with a port or without, such as "10.20.0.0/16", "10.0.0.0/8:8080", "127.0.0.1:9000" or "[fd00::1]:8080"; did you mean "10.20.0.0/16:80"?`},
		{"guard.nat64", "64:ff9b::/96,2001:db8::/32,2001:db8:100::/40,2001:db8:1::/48,2001:db8:1:100::/56,2001:db8:1:1::/64", ``},
		{"guard.nat64", "64:ff9b::/95", `entry 1 "64:ff9b::/95" has 95 bits`},
		{"guard.nat64", "10.0.0.0/32", `entry 1 "10.0.0.0/32" is not an IPv6 prefix`},
		{"guard.nat64", "64:ff9b::", `entry 1 "64:ff9b::" is not a prefix`},
		{"guard.nat64", "64:ff9b::1/96", `entry 1 "64:ff9b::1/96" has bits set after the first 96; want an IPv6 prefix of 32, 40, 48, 56, 64 or 96 bits, such as "64:ff9b::/96"; did you mean "64:ff9b::/96"?`},
		{"guard.resolver", "[::1]:53", ``},
		{"guard.resolver", "dns.example:53", `"dns.example:53" is not a numeric address with a port`},
		{"guard.resolver", "1.1.1.1:0", `"1.1.1.1:0" is not a numeric address with a port`},
		{"gate.global", "1000", ``},
		{"gate.global", "1001", `is 1001; want a whole number from 1 to 1000`},
		{"gate.global", "-1", `is -1`},
		{"gate.global", "8.0", `"8.0" is not a whole number`},
		{"gate.global", "99999999999999999999", `"99999999999999999999" is not a whole number`},
		{"fetch.timeout", "0s", `is 0s; want a duration`},
		{"fetch.timeout", "10m", ``},
		{"fetch.timeout", "10m1ms", `is 10m0.001s; want a duration`},
		{"fetch.timeout", "-5s", `is -5s; want a duration`},
		{"fetch.timeout", "30 sec", `"30 sec" is not a duration; want a duration with its unit, such as "500ms", "30s", "5m" or "24h", from 1ms to 10m; did you mean "30s"?`},
		{"fetch.timeout", "soon", `"soon" is not a duration; want a duration with its unit, such as "500ms", "30s", "5m" or "24h", from 1ms to 10m`},
		{"fetch.max_bytes", "1KiB", ``},
		{"fetch.max_bytes", "1023", `is 1023 bytes`},
		{"fetch.max_bytes", "1GiB", ``},
		{"fetch.max_bytes", "2GiB", `is 2GiB; want a size from 1KiB to 1GiB`},
		{"fetch.max_bytes", "99999999TiB", `"99999999TiB" is not a size`},
		{"fetch.max_bytes", "10M", `"10M" is not a size; want a size from 1KiB to 1GiB, such as "512KiB", "10MiB" or "1GiB"; did you mean "10MiB"?`},
		{"fetch.max_bytes", "1.5MiB", `"1.5MiB" is not a size; want a size from 1KiB to 1GiB, such as "512KiB", "10MiB" or "1GiB"; did you mean "1536KiB"?`},
		{"fetch.max_bytes", "MiB", `"MiB" is not a size`},
		{"fetch.max_bytes", "-1MiB", `"-1MiB" is not a size`},
		{"fetch.max_redirects", "21", `is 21; want a whole number from 0 to 20`},
		{"fetch.user_agent", "", `is empty`},
		{"fetch.user_agent", "bot\r\nX: y", `holds a control character`},
		{"fetch.user_agent", "bôt", `"bôt" is not plain ASCII`},
		{"fetch.user_agent", strings.Repeat("a", 257), `is 257 bytes long`},
		{"fetch.robots", "obey", `is the text "obey"; want ignore or respect`},
		{"pdf.ocr", "yes", `is the text "yes"; want true or false; did you mean true?`},
		{"pdf.memory", "641MiB", `pdf.memory is 641MiB and limits.children_memory is 640MiB: no extraction could ever start`},
		{"limits.children_memory", "319MiB", `pdf.memory is 320MiB and limits.children_memory is 319MiB: no extraction could ever start`},
		{"batch.on_restart", "restart", `is the text "restart"; want fail or resume`},
		{"batch.on_restart", "resume", `is "resume", and going on with a job after a restart is not available in this build yet; want fail`},
		{"digest.embeddings_url", "https://h.example/v1", `is set without digest.embeddings_model; want both or neither`},
		{"digest.chat_model", "m", `is set without digest.chat_url; want both or neither`},
		{"digest.chat_url", "https://u:secret@h.example/v1", `has a user name or password in it`},
		{"digest.chat_url", "https://h.example/v1?key=secret", `has a query`},
		{"digest.chat_url", "h.example/v1", `"h.example/v1" is not a web URL`},
		{"digest.chat_url", "https:///v1", `"https:///v1" is not a web URL`},
		{"digest.chat_url", "https://h.example:99999/", `"https://h.example:99999/" has no valid port`},
		{"digest.chat_url", "https://h.example/\x7f", `holds a control character`},
		{"digest.chat_url", "https://h.example/%zz", `is not a URL`},
		{"recover.archive", "ftp://h.example/", `"ftp://h.example/" is not a web URL`},
		{"recover.archive", "https://h.example/#x", `"https://h.example/#x" has a fragment`},
		{"store.url", "postgres://u:secret@h/db", `is set, and a shared database is not available in this build yet`},
		{"no_such.key", "", `no such key`},
	} {
		t.Run(c.key+"="+c.value, func(t *testing.T) {
			_, err := Load("", home, map[string]string{c.key: c.value})
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && err == nil:
				t.Error("accepted")
			case c.want != "" && !strings.HasPrefix(err.Error(), "flag: "+c.key+": "+c.want):
				t.Errorf("got  %v\nwant flag: %s: %s…", err, c.key, c.want)
			case err != nil && strings.Contains(err.Error(), "secret"):
				t.Errorf("a password was printed: %v", err)
			}
		})
	}
}

func TestListeningBeyondLoopbackWantsACaller(t *testing.T) {
	caller := "[[caller]]\nname = \"a\"\nkey_sha256 = \"" + hashA + "\"\n"
	for _, listen := range []string{"0.0.0.0:80", ":80", "[::]:80", "10.0.0.1:80", "host.example:80", "[2001:db8::1]:80", "128.0.0.1:80"} {
		want := []string{`sift.toml:2: listen: "` + listen + `" is reachable from other machines, and there is no [[caller]] who would need a key; want an address such as "127.0.0.1:8642", or a [[caller]] in the file: ` + "`sift key new` prints one"}
		starts(t, want, mistakes(t, "\nlisten = \""+listen+"\"", nil, nil))
		starts(t, nil, mistakes(t, "listen = \""+listen+"\"\n"+caller, nil, nil))
		want = []string{`environment SIFT_LISTEN: listen: "` + listen + `" is reachable from other machines`}
		starts(t, want, mistakes(t, "", []string{"SIFT_LISTEN=" + listen}, nil))
		want = []string{`flag: metrics.listen: "` + listen + `" is reachable from other machines`}
		starts(t, want, mistakes(t, "", nil, map[string]string{"metrics.listen": listen}))
	}
	for _, listen := range []string{"127.0.0.1:1", "127.255.0.1:1", "[::1]:1", "localhost:1", "[::ffff:127.0.0.1]:1"} {
		starts(t, nil, mistakes(t, "listen = \""+listen+"\"", nil, nil))
	}
	// A caller with a mistake is still one: a second mistake would mislead.
	starts(t, []string{"sift.toml:3: caller.name"}, mistakes(t, "listen = \":80\"\n[[caller]]\nname = \"A\"\nkey_sha256 = \""+hashA+"\"", nil, nil))
}

func TestCallersHaveNamesAndKeysOfTheirOwn(t *testing.T) {
	got := mistakes(t, `[[caller]]
name = "a"
key_sha256 = "`+hashA+`"
[[caller]]
name = "a"
key_sha256 = "`+strings.ToUpper(hashA)+`"
[[caller]]
restricted = "yes"
class = "Ops"
[[caller]]
name = ""
key_sha256 = ""
`, nil, nil)
	starts(t, []string{
		"sift.toml:5: caller.name: is the name of the caller in line 2 too",
		"sift.toml:6: caller.key_sha256: is the key of the caller in line 3 too",
		"sift.toml:7: caller.name: is missing",
		"sift.toml:7: caller.key_sha256: is missing",
		"sift.toml:8: caller.restricted: is the text \"yes\"; want true or false, without quotes; did you mean true?",
		"sift.toml:9: caller.class: is the text \"Ops\"; want 1 to 64 characters of a-z, 0-9, _ and -",
		"sift.toml:11: caller.name: is empty",
		"sift.toml:12: caller.key_sha256: is empty",
	}, got)
}

func TestAKeyInTheFileIsNeverPrinted(t *testing.T) {
	key, _ := auth.NewKey()
	for _, document := range []string{
		"[[caller]]\nname = \"a\"\nkey_sha256 = \"" + key + "\"",
		"[[caller]]\nname = \"" + key + "\"\nkey_sha256 = \"" + hashA + "\"",
		"[[caller]]\nname = \"a\"\nkey_sha256 = " + key,
		"[[caller]]\nname = \"a\"\nkey_sha256 = [\"" + key + "\"]",
		"[[caller]]\nname = \"a\"\nkey = \"" + key + "\"",
		"[[caller]]\nname = \"a\"\n" + key + " = 1",
		key + " = 1",
		"[" + key + "]",
		"log.level = \"" + key + "\"",
		"fetch.user_agent = [\"" + key + "\"]",
		"guard.allow = \"" + key + "\"",
	} {
		got := strings.Join(mistakes(t, document, []string{"SIFT_LOG_FORMAT=" + key}, map[string]string{key: key}), "\n")
		if got == "" || strings.Contains(got, key) || strings.Contains(got, key[10:30]) {
			t.Errorf("%s\n→ %s", document, got)
		}
	}
	got := mistakes(t, "[[caller]]\nname = \"a\"\nkey_sha256 = \""+key+"\"", nil, nil)
	starts(t, []string{"sift.toml:3: caller.key_sha256: is the key itself, not its hash; that key has now been in a file, so make a new one; want 64 hex digits"}, got)
}

func TestTheFileIsTheOneNamedOrElseTheOneInTheXDGFolder(t *testing.T) {
	dir := t.TempDir()
	put := func(path string, global int) string {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, fmt.Appendf(nil, "gate.global = %d", global), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	named, variable := put("flag.toml", 11), put("variable.toml", 12)
	xdg := put("xdg/sift/sift.toml", 13)
	put("home/.config/sift/sift.toml", 14)
	in := func(name, path string) string { return name + "=" + filepath.Join(dir, path) }
	for _, c := range []struct {
		flag    string
		environ []string
		want    int
	}{
		{named, []string{"SIFT_CONFIG=" + variable, in("XDG_CONFIG_HOME", "xdg"), in("HOME", "home")}, 11},
		{"", []string{"SIFT_CONFIG=" + variable, in("XDG_CONFIG_HOME", "xdg"), in("HOME", "home")}, 12},
		{"", []string{"SIFT_CONFIG=", in("XDG_CONFIG_HOME", "xdg"), in("HOME", "home")}, 13},
		{"", []string{"XDG_CONFIG_HOME=relative", in("HOME", "home")}, 14},
		{"", []string{in("HOME", "home")}, 14},
		{"", []string{in("XDG_CONFIG_HOME", "empty"), in("HOME", "home")}, 8},
		{"", []string{in("HOME", "empty")}, 8},
		{"", []string{"XDG_STATE_HOME=/state"}, 8},
	} {
		got, err := Load(c.flag, c.environ, nil)
		if err != nil {
			t.Errorf("%q %v: %v", c.flag, c.environ, err)
		} else if got.Gate.Global != c.want {
			t.Errorf("%q %v: read the file that says %d, want %d", c.flag, c.environ, got.Gate.Global, c.want)
		}
	}
	if path, err := Path("", []string{in("XDG_CONFIG_HOME", "xdg")}); path != xdg || err != nil {
		t.Errorf("Path: %q, %v", path, err)
	}
}

func TestAFileThatCannotBeReadIsAMistake(t *testing.T) {
	dir := t.TempDir()
	missing := filepath.Join(dir, "missing.toml")
	big := filepath.Join(dir, "big.toml")
	if err := os.WriteFile(big, []byte("#"+strings.Repeat("x", maxFile)), 0o600); err != nil {
		t.Fatal(err)
	}
	loop := filepath.Join(dir, "sift")
	if err := os.Symlink(loop, loop); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		flag    string
		environ []string
		want    string
	}{
		{missing, home, missing + ": cannot be read: no such file or directory"},
		{"", append([]string{"SIFT_CONFIG=" + missing}, home...), missing + ": cannot be read: no such file or directory"},
		{dir, home, dir + ": cannot be read: is a directory"},
		{big, home, big + ": is over 1 MiB, which no configuration needs"},
		{"", append([]string{"XDG_CONFIG_HOME=" + dir}, home...), loop + "/sift.toml: cannot be read: too many levels of symbolic links"},
	} {
		if _, err := Load(c.flag, c.environ, nil); err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
	// One byte less is read.
	if err := os.WriteFile(big, []byte("#"+strings.Repeat("x", maxFile-1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(big, home, nil); err != nil {
		t.Error(err)
	}
}

func TestDeepNestingIsRefusedBeforeItIsParsed(t *testing.T) {
	many := maxFile - 10
	for document, line := range map[string]int{
		"\na = " + strings.Repeat("[", many):        2,
		"\n\na = " + strings.Repeat("{a=", many/3):  3,
		"a" + strings.Repeat(".a", many/2) + "=1":   1,
		"\n[a" + strings.Repeat(".a", many/2) + "]": 2,
	} {
		starts(t, []string{fmt.Sprintf("sift.toml:%d: lists, tables or keys nested too deep; want at most 16 levels", line)}, mistakes(t, document, nil, nil))
	}
}

func TestTheListOfMistakesIsBounded(t *testing.T) {
	var b strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&b, "wrong_%d = 1\n", i)
	}
	_, err := Load(write(t, b.String()), home, nil)
	e, ok := errors.AsType[*Error](err)
	if !ok || len(e.Mistakes) != 100 || e.More != 2900 {
		t.Fatalf("got %d and %d more", len(e.Mistakes), e.More)
	}
	if e.Mistakes[0].Line != 1 || e.Mistakes[99].Line != 100 {
		t.Errorf("not the first ones: lines %d to %d", e.Mistakes[0].Line, e.Mistakes[99].Line)
	}
	text := err.Error()
	if !strings.HasPrefix(text, "3000 mistakes in the configuration:\n  ") || !strings.HasSuffix(text, "\n  and 2900 more") {
		t.Errorf("%.60s … %s", text, text[len(text)-40:])
	}
}

func TestTheDataDirectoryIsTheXDGStateFolder(t *testing.T) {
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		environ []string
		want    string
	}{
		{[]string{"XDG_STATE_HOME=/state", "HOME=/home/u"}, "/state/sift"},
		{[]string{"XDG_STATE_HOME=relative", "HOME=/home/u"}, "/home/u/.local/state/sift"},
		{[]string{"XDG_STATE_HOME=", "HOME=/home/u"}, "/home/u/.local/state/sift"},
		{[]string{"SIFT_DATA_DIR=/var/lib/sift"}, "/var/lib/sift"},
		{[]string{"SIFT_DATA_DIR=data"}, filepath.Join(wd, "data")},
	} {
		got, err := Load("", c.environ, nil)
		if err != nil || got.DataDir != c.want {
			t.Errorf("%v: %q, %v", c.environ, got.DataDir, err)
		}
	}
	_, err = Load("", nil, nil)
	if want := `data_dir: is empty, and neither $XDG_STATE_HOME nor $HOME says where the state folder is; want a folder, such as "/var/lib/sift"`; err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

func TestWhatIsPrintedLoadsToTheSameValues(t *testing.T) {
	for _, document := range []string{"", everything, "data_dir = '/a \"b\" \\ ü'"} {
		want, err := Load(write(t, document), home, nil)
		if err != nil {
			t.Fatal(err)
		}
		printed := want.TOML()
		for _, c := range want.Callers {
			if strings.Contains(printed, c.KeySHA256) || !strings.Contains(printed, `# name = "`+c.Name+`"`) || !strings.Contains(printed, `# key_sha256 = "`+c.KeySHA256[:8]+`…"`) {
				t.Errorf("caller %s is not printed as it should be:\n%s", c.Name, printed)
			}
		}
		want.Callers = nil
		if !onLoopback(want.Listen) {
			// Without its callers it may only be loaded for loopback.
			printed = strings.Replace(printed, `listen = "0.0.0.0:80"`, `listen = "127.0.0.1:80"`, 1)
			want.Listen = "127.0.0.1:80"
		}
		got, err := Load(write(t, printed), nil, nil)
		if err != nil {
			t.Fatalf("%v\n%s", err, printed)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s\n%s", d, printed)
		}
	}
}

func TestNothingPrintedHoldsASecret(t *testing.T) {
	c := everythingLoaded()
	c.Store.URL = "postgres://u:secret@h/db"
	printed := c.TOML() + fmt.Sprintf("%v %+v %#v %s", c.Callers, c.Callers, c.Callers[0], c.Callers[0])
	for _, secret := range []string{"secret@", hashA, hashB[:16]} {
		if strings.Contains(printed, secret) {
			t.Errorf("%s is in\n%s", secret, printed)
		}
	}
	if _, err := toml.Decode(c.TOML(), &map[string]any{}); err != nil {
		t.Error(err)
	}
}

func TestSizesPrintAsTheyAreWritten(t *testing.T) {
	for text, want := range map[string]Size{
		"1": 1, "1023": 1023, "1KiB": 1024, "512KiB": 524288, "10MiB": 10485760, "1GiB": 1073741824, "1TiB": 1099511627776, "1025": 1025, "0": 0,
		"8191PiB": -1, "9223372036854775807": 9223372036854775807, "9223372036854775808": -1, "8388607TiB": 8388607 << 40, "8388608TiB": -1,
		"": -1, "KiB": -1, "-1": -1, "+1": -1, "1_000": -1, "0x10": -1, "1 KiB": -1, "1kib": -1, "1KB": -1, "1.0KiB": -1,
	} {
		got, ok := parseSize(text)
		if ok != (want >= 0) || ok && got != want {
			t.Errorf("parseSize(%q) = %d, %v", text, got, ok)
		}
		if ok && got.String() != text {
			t.Errorf("%d prints as %s, want %s", got, got, text)
		}
	}
	if s := Size(1048576).String(); s != "1MiB" {
		t.Errorf("1048576 prints as %s", s)
	}
}

func TestDurationsPrintAsPeopleWriteThem(t *testing.T) {
	for d, want := range map[time.Duration]string{
		30 * time.Second: "30s", time.Hour: "1h", 90 * time.Minute: "1h30m", 24 * time.Hour: "24h", 10 * time.Minute: "10m",
		time.Hour + time.Second: "1h0m1s", 500 * time.Millisecond: "500ms", 10 * time.Second: "10s", 0: "0s",
	} {
		if got := durationText(d); got != want {
			t.Errorf("%d prints as %s, want %s", d, got, want)
		}
		if back, err := time.ParseDuration(durationText(d)); err != nil || back != d {
			t.Errorf("%s reads as %v, %v", want, back, err)
		}
	}
}

func TestTheKeyForTheModelsComesFromTheEnvironmentAndDoesNotShow(t *testing.T) {
	c, err := Load("", append([]string{"SIFT_DIGEST_KEY=sk-tern-1234"}, home...), nil)
	if err != nil || c.Digest.Key != "sk-tern-1234" {
		t.Fatalf("%v", err)
	}
	asJSON, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, shown := range []string{fmt.Sprint(c), fmt.Sprintf("%+v", c), fmt.Sprintf("%#v", c), fmt.Sprintf("%q", c.Digest.Key), string(asJSON), c.TOML()} {
		if strings.Contains(shown, "tern") {
			t.Errorf("%s", shown)
		}
	}
}

func TestVariablesThatLookLikeASlipAreListed(t *testing.T) {
	var got []string
	for _, m := range Suspicious([]string{
		"SIFT_FETCH_TIMOUT=1s", "SIFT_TIMEOUT=1s", "SIFT_CALLER_NAME=a", "SIFT_PURPOSE=x", "SIFT_LISTEN=:1",
		"SIFT_URL=u", "SIFT_KEY=k", "SIFT_CONFIG=c", "SIFT_DIGEST_KEY=k", "PATH=/bin", "SIFTED=1", "sift_listen=x",
	}) {
		got = append(got, m.String())
	}
	want := []string{
		"environment SIFT_CALLER_NAME: is not a variable that sift reads; want callers in the configuration file, as [[caller]]",
		"environment SIFT_FETCH_TIMOUT: is not a variable that sift reads; did you mean SIFT_FETCH_TIMEOUT?",
		"environment SIFT_PURPOSE: is not a variable that sift reads",
		"environment SIFT_TIMEOUT: is not a variable that sift reads; did you mean SIFT_FETCH_TIMEOUT or SIFT_PDF_TIMEOUT?",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestSuggestionsAreNearOrAbsent(t *testing.T) {
	known := []string{"timeout", "max_bytes", "max_pdf_bytes", "allow", "listen", "key_sha256"}
	for word, want := range map[string]string{
		"timout": "timeout", "tiemout": "timeout", "Timeout": "timeout", "max-bytes": "max_bytes", "maxbytes": "max_bytes", "alow": "allow",
		"lsiten": "listen", "key": "key_sha256", "timeouts": "timeout", "timeout_seconds": "timeout",
		"": "", "x": "", "zzz": "", "cache": "", strings.Repeat("timeout", 100): "",
	} {
		if got := nearest(word, known); got != want {
			t.Errorf("nearest(%q) = %q, want %q", word, got, want)
		}
	}
}

// The rules for names and hashes stand in both packages: config does not build
// on auth, and auth does not trust config.
func TestCallersThatPassHereAreTakenByAuth(t *testing.T) {
	for _, name := range []string{"a", "0", "-", "_", "a-b_9", strings.Repeat("a", 64), strings.Repeat("a", 65), "", "A", "a b", "ä", "a.b", "a\n"} {
		_, err := auth.New([]auth.Entry{{Name: name, KeySHA256: hashA}})
		if ours := checkName(name) == nil; ours != (err == nil) {
			t.Errorf("name %q: %v here, %v there", name, ours, err)
		}
	}
	for _, hash := range []string{hashA, strings.ToUpper(hashA), hashA[1:], hashA + "a", hashA[:63] + "g", "", strings.Repeat("é", 32)} {
		_, err := auth.New([]auth.Entry{{Name: "a", KeySHA256: hash}})
		if ours := checkHash(hash) == nil; ours != (err == nil) {
			t.Errorf("hash %q: %v here, %v there", hash, ours, err)
		}
	}
	key, hash := auth.NewKey()
	if !strings.HasPrefix(key, keyPrefix) || checkHash(hash) != nil {
		t.Errorf("a new key does not fit: %s", hash)
	}
}

// What passes here must not be refused by the guard at the start, where no line
// is known any more.
func FuzzAllowEntriesThatPassHereAreTakenByTheGuard(f *testing.F) {
	for _, s := range []string{
		"10.20.0.0/16", "10.0.0.0/8:8080", "10.1.2.3", "127.0.0.1:9000", "fd00::1", "fd00::/8", "fd00::/8:80", "[fd00::1]:8080", "[fd00::/8]:1",
		"[fd00::]/8:1", "[fd00::1]", "[fd00::1]/128", "0.0.0.0/0", "::/0", "64:ff9b::/96", "::ffff:10.0.0.1", "fe80::1%eth0", "10.0.0.1:01",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, entry string) {
		if checkText(entry) == nil && checkAllow(entry) == nil {
			if _, err := guard.New(guard.Config{Allow: []string{entry}}); err != nil {
				t.Errorf("allow %q: %v", entry, err)
			}
		}
		if checkText(entry) == nil && checkNAT64(entry) == nil {
			if _, err := guard.New(guard.Config{NAT64: []string{entry}}); err != nil {
				t.Errorf("nat64 %q: %v", entry, err)
			}
		}
		if checkText(entry) == nil && checkResolver(entry) == nil {
			if _, err := guard.New(guard.Config{Resolver: entry}); err != nil {
				t.Errorf("resolver %q: %v", entry, err)
			}
		}
	})
}

func FuzzLoad(f *testing.F) {
	for _, s := range []string{
		specExample, everything, "", "a", "a=", "[", "[[", "[[caller]]\nname=1", "a = [1,\n[2], {b = 3}]", "a.b.c = 1\n[a.d]\n[a]", "\"\\u0061\" = '''x''''",
		"a = {b.c = 1, d = [{e = 2}]}", "x = 1979-05-27 07:32:00 # c", "\ufeffa = 1", "a = \"\"\"\n\\\n\"\"\"\"\"", "[a]\nb = 1\n[a]", "caller = [{}, {name = 'a'}]",
		"[[fecth]]\ntimout = 1", "fetch = 1", "[a.b]\n[a]\n[[a.c]]\n[[a.c]]\n[a.c.d]\ne=1",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, document []byte) {
		if len(document) > 1<<14 {
			return
		}
		l := newLoader()
		l.file("f", document)
		for _, m := range l.mistakes {
			if last := 1 + strings.Count(string(document), "\n"); m.Line < 1 || m.Line > last {
				t.Errorf("a mistake in line %d of %d: %s", m.Line, last, m)
			}
		}
		l.finish(map[string]string{"HOME": "/home/u"})
		_ = newError(l.mistakes).Error()

		// The scanner sees the keys that the library sees, in the same order.
		found, _, scanErr := scanLines(string(document))
		var values map[string]any
		if meta, err := decodeMeta(string(document), &values); err == nil && !errors.Is(scanErr, errNesting) {
			if scanErr != nil {
				t.Fatalf("the scanner gave up: %v", scanErr)
			}
			var got, want []string
			for _, k := range found.keys {
				got = append(got, toml.Key(k).String())
			}
			for _, k := range meta {
				want = append(want, k.String())
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("keys (-library, +scanner):\n%s", d)
			}
		}

		if len(l.mistakes) == 0 {
			want := l.config
			want.Callers = nil
			if !onLoopback(want.Listen) || want.Metrics.Listen != "" && !onLoopback(want.Metrics.Listen) {
				return
			}
			again := newLoader()
			again.file("f", []byte(want.TOML()))
			again.finish(nil)
			if len(again.mistakes) > 0 {
				t.Fatal(newError(again.mistakes))
			}
			if d := cmp.Diff(want, again.config); d != "" {
				t.Error(d)
			}
		}
	})
}

// decodeMeta is the library's view of the keys; its own panics are errors.
func decodeMeta(document string, into *map[string]any) (keys []toml.Key, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	meta, err := toml.Decode(document, into)
	return meta.Keys(), err
}
