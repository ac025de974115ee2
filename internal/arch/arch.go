// Package arch holds the table of which package may import which. Its test
// reads every file of the module and fails when an import is not in the
// table, so that the picture in docs/design.md stays true.
package arch

// Rule says what one package of ours may import.
type Rule struct {
	Ours    []string // packages of this module, by their path under internal/; others by their whole path
	Outside []string // prefixes of modules from elsewhere
	Std     []string // if not nil, nothing of the standard library under StdDenied but these
	Tests   bool     // holds tests for the tests of others: may import testing, and nothing may import it
}

// Table lists every package of the module, by its path from the module's
// root. A package that is not here fails the test: say in the commit which
// idea did not fit, and add it.
func Table() map[string]Rule {
	return map[string]Rule{
		"internal/arch": {},
		"internal/sift": {Outside: []string{"golang.org/x/net/html"}},

		// Core: one idea each.
		"internal/guard":       {Ours: []string{"sift"}, Outside: []string{"code.dny.dev/ssrf", "golang.org/x/net", "golang.org/x/text"}},
		"internal/gate":        {Ours: []string{"sift"}, Outside: []string{"golang.org/x/sync"}},
		"internal/pdfpool":     {},
		"internal/fanout":      {},
		"internal/spelling":    {Std: []string{}},
		"internal/fetch":       {Ours: []string{"sift", "guard"}, Outside: []string{"golang.org/x/net", "github.com/andybalholm/brotli", "github.com/klauspost/compress", "golang.org/x/sys"}},
		"internal/dom":         {Outside: []string{"golang.org/x/net/html"}, Std: []string{}},
		"internal/normalize":   {Ours: []string{"dom"}, Outside: []string{"golang.org/x/net", "golang.org/x/text"}, Std: []string{}},
		"internal/extract":     {Ours: []string{"sift", "dom", "normalize", "maincontent"}, Outside: []string{"golang.org/x/net", "golang.org/x/text", "github.com/gogs/chardet", "github.com/yuin/goldmark"}, Std: []string{}},
		"internal/maincontent": {Ours: []string{"dom", "normalize"}, Outside: []string{"golang.org/x/net/html"}, Std: []string{}},
		"internal/render":      {Ours: []string{"sift", "dom", "normalize"}, Outside: []string{"github.com/clipperhouse/uax29", "golang.org/x/net/html", "golang.org/x/text"}, Std: []string{}},
		"internal/narrow":      {Ours: []string{"sift", "render", "spelling"}, Outside: []string{"golang.org/x/text"}, Std: []string{}},
		"internal/digest":      {Ours: []string{"sift", "render"}, Outside: []string{"github.com/blevesearch/snowballstem", "github.com/clipperhouse/uax29", "golang.org/x/text"}, Std: []string{}},
		"internal/archive":     {Ours: []string{"sift", "fetch"}},
		"internal/model":       {Ours: []string{"sift", "digest", "fanout"}, Outside: []string{"github.com/clipperhouse/uax29", "github.com/x448/float16", "golang.org/x/text"}},
		"internal/dcache":      {Ours: []string{"sift", "batch"}, Outside: []string{"modernc.org/sqlite", "github.com/klauspost/compress", "golang.org/x/sys"}},
		"internal/auth":        {Ours: []string{"sift"}},
		"internal/child":       {Outside: []string{"github.com/elastic/go-seccomp-bpf", "golang.org/x/net/bpf", "golang.org/x/sync", "golang.org/x/sys"}},
		"internal/config":      {Ours: []string{"spelling"}, Outside: []string{"github.com/BurntSushi/toml"}},

		// Many targets, later. The store speaks the words of its runner.
		"internal/batch": {Ours: []string{"sift", "fanout"}},

		// PDFs, read in children of this program.
		"internal/pdf":        {Ours: []string{"sift", "dom", "normalize", "child", "pdf/engine", "pdf/layout"}, Outside: []string{"github.com/fxamacker/cbor", "golang.org/x/net/html", "golang.org/x/sys"}},
		"internal/pdf/engine": {Ours: []string{"pdf/layout"}, Outside: []string{"github.com/klippa-app/go-pdfium/webassembly", "github.com/tetratelabs/wazero", "golang.org/x/sys"}},
		"internal/pdf/layout": {Std: []string{}},

		// jq programs, run in such children too.
		"internal/jq": {Ours: []string{"sift", "child", "pdfpool", "spelling"}, Outside: []string{"github.com/itchyny/gojq"}},

		// The way of one target.
		"internal/pipeline": {Ours: []string{"sift", "guard", "gate", "fetch", "dcache", "extract", "render", "narrow", "digest", "jq", "archive", "model", "pdf", "pdfpool"}, Outside: []string{"golang.org/x/net/html"}},

		// Ways in.
		"internal/api":    {Ours: []string{"sift", "spelling"}},
		"internal/client": {Ours: []string{"sift"}},

		"internal/metrics": {Outside: []string{"github.com/prometheus"}},

		// The only place that knows them all, and what starts it.
		"internal/app": {Ours: []string{"sift", "guard", "gate", "fetch", "dcache", "extract", "render", "auth", "config", "pipeline", "batch", "api", "metrics", "child", "pdf", "pdfpool", "jq", "archive", "model"}},
		"cmd/sift":     {Ours: []string{"sift", "app", "config", "auth", "client", "guard", "extract", "render", "gate", "fanout", "spelling"}, Outside: []string{"github.com/spf13/cobra", "github.com/spf13/pflag", "golang.org/x/sync", "golang.org/x/sys"}},

		// Not part of the product: production code imports none of these.
		"internal/cputime":             {Tests: true},
		"internal/pdf/pdftest":         {},
		"internal/model/modeltest":     {},
		"internal/batch/storetest":     {Ours: []string{"sift", "batch"}, Tests: true},
		"internal/archive/archivetest": {Tests: true},

		"demo":             {Ours: []string{"sift.build/sift/demo/server", "pdf/pdftest"}, Outside: []string{"github.com/andybalholm/brotli", "github.com/klauspost/compress", "golang.org/x/text"}},
		"demo/server":      {},
		"tools/poolbench":  {Ours: []string{"fanout"}, Outside: []string{"github.com/alitto/pond/v2", "github.com/sourcegraph/conc", "golang.org/x/sync"}},
		"examples/fanout":  {Ours: []string{"fanout"}},
		"tools/report":     {},
		"tools/bench":      {Ours: []string{"sift.build/sift/demo/server", "sift.build/sift/tools/report"}, Outside: []string{"golang.org/x/net/html"}},
		"tools/soak":       {Ours: []string{"sift.build/sift/demo/server", "sift.build/sift/tools/report", "pdf/pdftest"}, Outside: []string{"golang.org/x/text"}},
		"tools/quality":    {Ours: []string{"sift", "child", "digest", "extract", "pdf", "pdf/pdftest", "render"}},
		"tools/wcxb":       {Ours: []string{"maincontent"}},
		"tools/extractors": {Ours: []string{"sift", "extract", "maincontent", "render", "sift.build/sift/tools/wcxb"}, Outside: []string{"codeberg.org/readeck/go-readability/v2", "github.com/markusmobius/go-trafilatura", "golang.org/x/net/html"}},
		"tools/train":      {Ours: []string{"sift", "extract", "maincontent", "render", "sift.build/sift/tools/wcxb"}, Outside: []string{"golang.org/x/net/publicsuffix"}},
		"tools/pdfbench":   {Ours: []string{"sift.build/sift/demo/server", "pdf/pdftest"}, Outside: []string{"golang.org/x/text"}},
	}
}

// StdDenied lists the standard library packages that pure packages (Std not
// nil) must stay free of: no network, no files, no database.
func StdDenied() []string {
	return []string{"net", "net/http", "os", "os/exec", "io/fs", "io/ioutil", "path/filepath", "database/sql", "syscall"}
}
