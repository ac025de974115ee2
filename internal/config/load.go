package config

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// maxFile bounds the configuration file.
const maxFile = 1 << 20

// envPrefix begins every variable of ours.
const envPrefix = "SIFT_"

// otherVariables are ours and set no key: the client's address and key, the name
// of the configuration file, and the key for the models, which stands in no file
// that is shown around.
func otherVariables() []string { return []string{"SIFT_URL", "SIFT_KEY", "SIFT_CONFIG", modelKey} }

const modelKey = "SIFT_DIGEST_KEY"

// Load reads the configuration. path is what --config names, or "": see
// [Path]. environ is what os.Environ returns. overrides are the flags given,
// by the key they set ("fetch.timeout"), written as in the environment.
//
// The error is an [*Error] with every mistake in it.
func Load(path string, environ []string, overrides map[string]string) (Config, error) {
	env := variables(environ)
	l := newLoader()
	path, err := Path(path, environ)
	if err != nil {
		l.add(Mistake{File: path, Problem: fmt.Sprintf("cannot be read: %v", cause(err))})
	} else if path != "" {
		if data, problem := readFile(path); problem != "" {
			l.add(Mistake{File: path, Problem: problem})
		} else {
			l.file(path, data)
		}
	}
	l.environment(env)
	l.config.Digest.Key = Secret(env[modelKey])
	l.overrides(overrides)
	l.finish(env)
	if len(l.mistakes) > 0 {
		return Config{}, newError(l.mistakes)
	}
	return l.config, nil
}

// Path says which file Load reads: the one that --config names, else
// $SIFT_CONFIG, else $XDG_CONFIG_HOME/sift/sift.toml (~/.config/sift/sift.toml)
// if there is one, else none: "". The error says that it cannot be told whether
// there is one.
func Path(flag string, environ []string) (string, error) {
	env := variables(environ)
	if named := cmp.Or(flag, env["SIFT_CONFIG"]); named != "" {
		return named, nil
	}
	dir := xdg(env, "XDG_CONFIG_HOME", ".config")
	if dir == "" {
		return "", nil
	}
	path := filepath.Join(dir, "sift", "sift.toml")
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	// Any other error counts: to go on without the file would be to go on
	// without the callers and limits in it.
	return path, err
}

// xdg is a folder of the XDG base directory specification, which wants a
// relative path to be ignored; "" where not even a home folder is known.
func xdg(env map[string]string, name, otherwise string) string {
	if dir := env[name]; filepath.IsAbs(dir) {
		return dir
	}
	if home := env["HOME"]; filepath.IsAbs(home) {
		return filepath.Join(home, otherwise)
	}
	return ""
}

// variables makes a map of an environment; the first of two counts, as it does
// for os.Getenv.
func variables(environ []string) map[string]string {
	env := make(map[string]string, len(environ))
	for _, pair := range environ {
		name, v, _ := strings.Cut(pair, "=")
		if _, seen := env[name]; !seen {
			env[name] = v
		}
	}
	return env
}

// readFile reads at most maxFile bytes, or says why not.
func readFile(path string) (data []byte, problem string) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Sprintf("cannot be read: %v", cause(err))
	}
	defer f.Close()
	data, err = io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Sprintf("cannot be read: %v", cause(err))
	}
	if len(data) > maxFile {
		return nil, "is over 1 MiB, which no configuration needs"
	}
	return data, ""
}

// cause takes the path off an error: it stands in front already.
func cause(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// Suspicious lists the SIFT_ variables that set nothing, with what was probably
// meant. They are no mistake to [Load]: a host may have variables of that name
// for reasons of its own.
func Suspicious(environ []string) []Mistake {
	var out []Mistake
	var known []string // without SIFT_: what all share says nothing about which are close
	for _, name := range otherVariables() {
		known = append(known, strings.TrimPrefix(name, envPrefix))
	}
	for _, f := range fields() {
		known = append(known, strings.TrimPrefix(envName(f.key), envPrefix))
	}
	for _, name := range slices.Sorted(maps.Keys(variables(environ))) {
		rest, ours := strings.CutPrefix(name, envPrefix)
		if !ours || slices.Contains(known, rest) {
			continue
		}
		m := Mistake{Source: "environment " + name, Problem: "is not a variable that sift reads"}
		if strings.HasPrefix(rest, "CALLER") {
			m.Want = "callers in the configuration file, as [[caller]]"
		} else if near := nearest(rest, known); near != "" {
			m.Suggestion = envPrefix + near
		} else {
			var sections []string // SIFT_TIMEOUT: the section is missing
			for _, k := range known {
				if strings.HasSuffix(k, "_"+rest) {
					sections = append(sections, envPrefix+k)
				}
			}
			m.Suggestion = strings.Join(sections, " or ")
		}
		out = append(out, m)
	}
	return out
}

// loader collects values and mistakes.
type loader struct {
	config   Config
	fields   []field[Config]
	mistakes []Mistake

	from    map[string]Mistake // where a key was last set: a Mistake without its text
	bad     map[string]bool    // keys whose value is not what someone wanted
	callers int                // [[caller]] tables seen, right or wrong
}

func newLoader() *loader {
	return &loader{config: Default(), fields: fields(), from: make(map[string]Mistake), bad: make(map[string]bool)}
}

func (l *loader) add(m Mistake) { l.mistakes = append(l.mistakes, m) }

// find is the field of a key.
func (l *loader) find(key string) (field[Config], bool) {
	i := slices.IndexFunc(l.fields, func(f field[Config]) bool { return f.key == key })
	if i < 0 {
		return field[Config]{}, false
	}
	return l.fields[i], true
}

// keep notes where a key was set and what is wrong with its value; at is the
// place, lineOf the line of an entry of a list.
func (l *loader) keep(key string, at Mistake, lineOf func(entry int) int, wrong []problem) {
	l.from[key] = at
	delete(l.bad, key)
	for _, p := range wrong {
		l.bad[key] = true
		m := at
		m.Key, m.Problem, m.Want, m.Suggestion = key, p.what, p.want, p.suggestion
		if p.entry > 0 {
			m.Problem = fmt.Sprintf("entry %d %s", p.entry, p.what)
			m.Line = lineOf(p.entry)
		}
		l.add(m)
	}
}

func noLine(int) int { return 0 }

// environment sets keys from SIFT_SECTION_KEY. An empty variable counts: one
// that is meant to close an exception must not leave it open.
func (l *loader) environment(env map[string]string) {
	for _, f := range l.fields {
		name := envName(f.key)
		if v, ok := env[name]; ok {
			l.keep(f.key, Mistake{Source: "environment " + name}, noLine, f.at(&l.config).parse(v))
		}
	}
}

// overrides sets keys from flags.
func (l *loader) overrides(flags map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(flags)) {
		f, ok := l.find(key)
		if !ok {
			l.add(Mistake{Source: "flag", Key: key, Problem: "no such key", Suggestion: l.meant(key)})
			continue
		}
		l.keep(key, Mistake{Source: "flag"}, noLine, f.at(&l.config).parse(flags[key]))
	}
}

// file sets keys from a TOML document.
func (l *loader) file(path string, data []byte) {
	found, line, scanErr := scanLines(string(data))
	if errors.Is(scanErr, errNesting) {
		// Before the library sees it: it would take its time, or the stack.
		l.add(Mistake{File: path, Line: line, Problem: errNesting.Error(), Want: fmt.Sprintf("at most %d levels", maxNesting)})
		return
	}
	document, err := decode(string(data))
	if err != nil {
		m := Mistake{File: path, Problem: "not valid TOML: " + err.Error(), Line: line}
		if p, ok := errors.AsType[toml.ParseError](err); ok {
			m.Problem = "not valid TOML: " + strings.TrimSpace(p.Message)
			// Its line number is one off at the end of a line or file, its byte
			// offset is not. What has no end is better named where it begins.
			document := withoutMark(string(data))
			at := 1 + strings.Count(document[:max(0, min(p.Position.Start, len(document)))], "\n")
			if scanErr == nil || at < line {
				m.Line = at
			}
			if first, ok := found.second[m.Line]; ok {
				m.Problem += fmt.Sprintf(" (in line %d)", first)
			}
		}
		l.add(m)
		return
	}
	l.document(path, document, found.root)
}

// decode parses a document without a type in mind, so that a value of the wrong
// type hides no other mistake.
func decode(data string) (document map[string]any, err error) {
	defer func() {
		// The library panics where its lexer and parser disagree ("BUG: …").
		if r := recover(); r != nil {
			document, err = nil, errors.New("the parser cannot make sense of it")
		}
	}()
	_, err = toml.Decode(data, &document)
	return document, err
}

// document goes over the top level.
func (l *loader) document(path string, document map[string]any, root *lines) {
	for _, name := range slices.Sorted(maps.Keys(document)) {
		raw, at := document[name], root.key(name)
		place := Mistake{File: path, Line: at.line(1)}
		if f, ok := l.find(name); ok {
			l.set(f, raw, at, place)
			continue
		}
		section := name
		if !l.isSection(section) && section != "caller" {
			// What is in a section whose name is misspelt is checked too, as if
			// it were the one that was meant.
			section = ""
			m := place
			m.Key, m.Problem = name, "no such key"
			if isTable(raw) {
				m.Problem = "no such section"
				section = nearest(name, append(l.sections(), "caller"))
				switch section {
				case "":
				case "caller":
					m.Suggestion = "[[caller]]"
				default:
					m.Suggestion = "[" + section + "]"
				}
			} else {
				m.Suggestion = l.meant(name)
			}
			l.add(m)
		}
		switch section {
		case "":
		case "caller":
			l.callerList(raw, at, place)
		default:
			l.section(section, name, raw, at, place)
		}
	}
}

// isTable reports whether a value is a table or a list of them.
func isTable(raw any) bool {
	switch v := raw.(type) {
	case map[string]any, []map[string]any:
		return true
	case []any:
		return len(v) > 0 && !slices.ContainsFunc(v, func(e any) bool { _, table := e.(map[string]any); return !table })
	}
	return false
}

// tables makes one list of the forms in which the library gives tables.
func tables(raw any) []map[string]any {
	switch v := raw.(type) {
	case map[string]any:
		return []map[string]any{v}
	case []map[string]any:
		return v
	case []any:
		var out []map[string]any
		for _, e := range v {
			if t, ok := e.(map[string]any); ok {
				out = append(out, t)
			}
		}
		return out
	}
	return nil
}

// sections lists the sections, in order.
func (l *loader) sections() []string {
	var out []string
	for _, f := range l.fields {
		if s := f.section(); s != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

func (l *loader) isSection(name string) bool { return slices.Contains(l.sections(), name) }

// set gives a key its value from the file.
func (l *loader) set(f field[Config], raw any, at *lines, place Mistake) {
	l.keep(f.key, place, entryLine(at, place), setValue(f.at(&l.config), f.secret, raw))
}

// setValue keeps a secret of the wrong type out of the mistake.
func setValue(v value, secret bool, raw any) []problem {
	if _, ok := raw.(string); secret && !ok {
		return []problem{{what: "is not a text", want: "a text in quotes"}}
	}
	return v.set(raw)
}

func entryLine(at *lines, place Mistake) func(int) int {
	return func(entry int) int { return at.entry(entry - 1).line(place.Line) }
}

// section goes over the keys of one section; shown is its name in the file.
func (l *loader) section(section, shown string, raw any, at *lines, place Mistake) {
	table, ok := raw.(map[string]any)
	if !ok {
		m := place
		m.Key, m.Problem, m.Want = shown, "is "+describe(raw), fmt.Sprintf("a section: [%s] on a line of its own, its keys below", section)
		if isTable(raw) {
			m.Problem = "is written as a list of sections"
		}
		l.add(m)
		for i, table := range tables(raw) {
			l.sectionKeys(section, shown, table, at.entry(i), place)
		}
		return
	}
	l.sectionKeys(section, shown, table, at, place)
}

func (l *loader) sectionKeys(section, shown string, table map[string]any, at *lines, place Mistake) {
	place.Line = at.line(place.Line)
	for _, name := range slices.Sorted(maps.Keys(table)) {
		inner := at.key(name)
		p := place
		p.Line = inner.line(place.Line)
		if f, ok := l.find(section + "." + name); ok {
			l.set(f, table[name], inner, p)
			continue
		}
		p.Key, p.Problem, p.Suggestion = shown+"."+name, "no such key", l.meant(section+"."+name)
		if _, ok := l.find(name); ok { // it is a key, above all sections
			p.Problem = "no such key in this section"
			p.Want = "keys that belong to no section above the first one"
		}
		l.add(p)
	}
}

// meant is the key that was probably meant by one that does not exist: a
// similar one in the same section, the same one in another, or a similar one
// anywhere.
func (l *loader) meant(key string) string {
	if len(l.mistakes) > 10*maxMistakes {
		return "" // nobody will read it
	}
	section, name, found := strings.Cut(key, ".")
	if !found {
		section, name = "", key
	}
	var here, there, all []string
	for _, f := range l.fields {
		all = append(all, f.key)
		if f.section() == section {
			here = append(here, f.name())
		}
		if f.name() == name {
			there = append(there, f.key)
		}
	}
	if near := nearest(name, here); near != "" {
		return strings.TrimPrefix(section+"."+near, ".")
	}
	if len(there) > 0 {
		return strings.Join(there, " or ")
	}
	return nearest(key, all)
}

// callerList goes over the [[caller]] tables.
func (l *loader) callerList(raw any, at *lines, place Mistake) {
	list := tables(raw)
	l.callers += len(list)
	if _, single := raw.(map[string]any); single {
		m := place
		m.Key, m.Problem, m.Want = "caller", "is one table", "[[caller]], in double brackets, once for every caller"
		l.add(m)
		at = &lines{list: []*lines{at}}
	} else if entries, ok := raw.([]any); ok && len(entries) == 0 {
		return // caller = []
	} else if !isTable(raw) {
		m := place
		m.Key, m.Problem, m.Want = "caller", "is "+describe(raw), "[[caller]], in double brackets, once for every caller"
		l.add(m)
		l.callers++
		return
	}
	names, hashes := make(map[string]int), make(map[string]int) // → the line that has it
	for i, table := range list {
		l.caller(table, at.entry(i), place, names, hashes)
	}
}

// caller goes over the keys of one [[caller]].
func (l *loader) caller(table map[string]any, at *lines, place Mistake, names, hashes map[string]int) {
	c := defaultCaller()
	known := callerFields()
	place.Line = at.line(place.Line)
	for _, name := range slices.Sorted(maps.Keys(table)) {
		p := place
		p.Line = at.key(name).line(place.Line)
		p.Key = "caller." + name
		i := slices.IndexFunc(known, func(f field[Caller]) bool { return f.name() == name })
		if i < 0 {
			var all []string
			for _, f := range known {
				all = append(all, f.name())
			}
			p.Problem = "no such key"
			if near := nearest(name, all); near != "" {
				p.Suggestion = "caller." + near
			}
			l.add(p)
			continue
		}
		for _, wrong := range setValue(known[i].at(&c), known[i].secret, table[name]) {
			m := p
			m.Problem, m.Want, m.Suggestion = wrong.what, wrong.want, wrong.suggestion
			l.add(m)
		}
	}
	c.KeySHA256 = strings.ToLower(c.KeySHA256)
	for _, required := range []struct {
		name, value string
		seen        map[string]int
		taken       string
	}{
		{"name", c.Name, names, "is the name of the caller in line %d too"},
		{"key_sha256", c.KeySHA256, hashes, "is the key of the caller in line %d too"},
	} {
		m := place
		m.Key = "caller." + required.name
		if _, given := table[required.name]; !given {
			m.Problem = "is missing"
			m.Want = "a name and a key_sha256 for every caller; `sift key new` prints both"
			l.add(m)
			continue
		}
		if required.value == "" {
			continue // wrong, and said so
		}
		m.Line = at.key(required.name).line(place.Line)
		if first, taken := required.seen[required.value]; taken {
			m.Problem = fmt.Sprintf(required.taken, first)
			m.Want = "a caller of its own for every name and key"
			l.add(m)
			continue
		}
		required.seen[required.value] = m.Line
	}
	l.config.Callers = append(l.config.Callers, c)
}

// finish fills in what depends on the environment and checks what no value can
// say of itself. A rule about keys that are wrong already says nothing.
func (l *loader) finish(env map[string]string) {
	c := &l.config
	l.dataDir(env)
	for _, listener := range []struct{ key, at string }{{"listen", c.Listen}, {"metrics.listen", c.Metrics.Listen}} {
		if listener.at == "" || l.bad[listener.key] || l.callers > 0 || onLoopback(listener.at) {
			continue
		}
		l.wrong(listener.key, fmt.Sprintf("%s is reachable from other machines, and there is no [[caller]] who would need a key", short(listener.at)),
			"an address such as \"127.0.0.1:8642\", or a [[caller]] in the file: `sift key new` prints one")
	}
	if c.Metrics.Listen == c.Listen && !strings.HasSuffix(c.Listen, ":0") && !l.bad["listen"] && !l.bad["metrics.listen"] {
		l.wrong("metrics.listen", "is the address of the main listener", "another address, or nothing: /metrics is on the main listener then")
	}
	if c.PDF.Memory > c.Limits.ChildrenMemory && !l.bad["pdf.memory"] && !l.bad["limits.children_memory"] {
		key := "pdf.memory"
		if _, set := l.from[key]; !set {
			key = "limits.children_memory"
		}
		l.wrong(key, fmt.Sprintf("pdf.memory is %v and limits.children_memory is %v: no extraction could ever start", c.PDF.Memory, c.Limits.ChildrenMemory),
			"pdf.memory to be at most limits.children_memory")
	}
	for _, pair := range []struct{ url, urlKey, model, modelKey string }{
		{c.Digest.EmbeddingsURL, "digest.embeddings_url", c.Digest.EmbeddingsModel, "digest.embeddings_model"},
		{c.Digest.ChatURL, "digest.chat_url", c.Digest.ChatModel, "digest.chat_model"},
	} {
		switch {
		case l.bad[pair.urlKey] || l.bad[pair.modelKey]:
		case pair.url != "" && pair.model == "":
			l.wrong(pair.urlKey, "is set without "+pair.modelKey, "both or neither")
		case pair.url == "" && pair.model != "":
			l.wrong(pair.modelKey, "is set without "+pair.urlKey, "both or neither")
		}
	}
}

// wrong adds a mistake in a key at the place that set it.
func (l *loader) wrong(key, problem, want string) {
	m := l.from[key]
	m.Key, m.Problem, m.Want = key, problem, want
	l.bad[key] = true
	l.add(m)
}

// dataDir makes the folder of the store an absolute path.
func (l *loader) dataDir(env map[string]string) {
	if l.bad["data_dir"] {
		return
	}
	if l.config.DataDir == "" {
		state := xdg(env, "XDG_STATE_HOME", filepath.Join(".local", "state"))
		if state == "" {
			l.wrong("data_dir", "is empty, and neither $XDG_STATE_HOME nor $HOME says where the state folder is", "a folder, such as \"/var/lib/sift\"")
			return
		}
		l.config.DataDir = filepath.Join(state, "sift")
		return
	}
	dir, err := filepath.Abs(l.config.DataDir)
	if err != nil {
		l.wrong("data_dir", "is relative, and the current folder is unknown", "an absolute path")
		return
	}
	l.config.DataDir = dir
}
