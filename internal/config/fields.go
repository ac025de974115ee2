package config

import (
	"strings"
	"time"
)

// field is one key. T is Config, or Caller for the keys of a [[caller]].
type field[T any] struct {
	key     string // "fetch.timeout"
	meaning string // one line for the reference
	at      func(*T) value
	secret  bool // neither printed nor quoted in a mistake
}

// section and name are the two parts of the key; a key above all sections has
// the section "".
func (f field[T]) section() string {
	section, _, found := strings.Cut(f.key, ".")
	if !found {
		return ""
	}
	return section
}

func (f field[T]) name() string { return f.key[strings.LastIndexByte(f.key, '.')+1:] }

// The largest values that make sense: beyond them a figure is a slip (a unit
// too many), not a wish.
const (
	maxCount     = 1000
	maxTimeout   = 10 * time.Minute
	maxAge       = 365 * 24 * time.Hour
	minSize      = kib // "10" is a forgotten unit
	maxBody      = gib // one body, on its way through memory or a spool file
	maxMemory    = 64 * gib
	maxStored    = tib
	maxUserAgent = 256
)

// fields lists every key outside [[caller]], in the order of SPEC section 11.
func fields() []field[Config] {
	return []field[Config]{
		{key: "listen", meaning: "the address and port of the service; beyond loopback only with a [[caller]]",
			at: func(c *Config) value { return text{&c.Listen, checkListen} }},
		{key: "data_dir", meaning: "the folder of the store; empty: $XDG_STATE_HOME/sift, or ~/.local/state/sift",
			at: func(c *Config) value { return text{&c.DataDir, checkPath} }},

		{key: "metrics.listen", meaning: "an address and port of its own for /metrics; empty: on the main listener",
			at: func(c *Config) value { return text{&c.Metrics.Listen, optional(checkListen)} }},

		{key: "limits.children_memory", meaning: "the memory that PDF, jq and OCR children share",
			at: func(c *Config) value { return size{&c.Limits.ChildrenMemory, mib, maxMemory} }},
		{key: "limits.parse_memory", meaning: "the memory within which large pages take turns in the parser",
			at: func(c *Config) value { return size{&c.Limits.ParseMemory, mib, maxMemory} }},

		{key: "log.level", meaning: "the least severity that is logged: debug, info, warn or error",
			at: func(c *Config) value { return text{&c.Log.Level, oneOf("debug", "info", "warn", "error")} }},
		{key: "log.format", meaning: "how a log line is written: text or json",
			at: func(c *Config) value { return text{&c.Log.Format, oneOf("text", "json")} }},

		{key: "guard.ports", meaning: "the ports that may be reached on public addresses",
			at: func(c *Config) value { return ports{&c.Guard.Ports} }},
		{key: "guard.allow", meaning: "private addresses or ranges that may be reached all the same, with a port or without",
			at: func(c *Config) value { return list{&c.Guard.Allow, checkAllow} }},
		{key: "guard.nat64", meaning: "NAT64 translation prefixes of this network, whose inner address is judged too",
			at: func(c *Config) value { return list{&c.Guard.NAT64, checkNAT64} }},
		{key: "guard.resolver", meaning: "the address and port of a DNS server; empty: the system's",
			at: func(c *Config) value { return text{&c.Guard.Resolver, optional(checkResolver)} }},

		{key: "gate.global", meaning: "fetches at once in all",
			at: func(c *Config) value { return count{&c.Gate.Global, 1, maxCount} }},
		{key: "gate.per_host", meaning: "fetches at once to one host",
			at: func(c *Config) value { return count{&c.Gate.PerHost, 1, maxCount} }},
		{key: "gate.per_caller", meaning: "fetches at once for one caller",
			at: func(c *Config) value { return count{&c.Gate.PerCaller, 1, maxCount} }},

		{key: "fetch.timeout", meaning: "the time a whole fetch may take, redirects and body included",
			at: func(c *Config) value { return duration{&c.Fetch.Timeout, time.Millisecond, maxTimeout} }},
		{key: "fetch.max_bytes", meaning: "the largest body, on the wire, decoded and as UTF-8",
			at: func(c *Config) value { return size{&c.Fetch.MaxBytes, minSize, maxBody} }},
		{key: "fetch.max_pdf_bytes", meaning: "the largest PDF",
			at: func(c *Config) value { return size{&c.Fetch.MaxPDFBytes, minSize, maxBody} }},
		{key: "fetch.max_redirects", meaning: "redirects that are followed; 0: none",
			at: func(c *Config) value { return count{&c.Fetch.MaxRedirects, 0, 20} }},
		{key: "fetch.user_agent", meaning: "the User-Agent header; put an address there at which you can be reached",
			at: func(c *Config) value { return text{&c.Fetch.UserAgent, checkUserAgent} }},
		{key: "fetch.robots", meaning: "what a site's robots.txt counts for: ignore or respect",
			at: func(c *Config) value { return text{&c.Fetch.Robots, oneOf("ignore", "respect")} }},

		{key: "cache.max_bytes", meaning: "the bound on stored pages; the least recently used go first",
			at: func(c *Config) value { return size{&c.Cache.MaxBytes, minSize, maxStored} }},
		{key: "cache.ttl", meaning: "how old a stored page may be when a request names no max_age",
			at: func(c *Config) value { return duration{&c.Cache.TTL, time.Millisecond, maxAge} }},
		{key: "cache.digest_bytes", meaning: "the bound on stored digests",
			at: func(c *Config) value { return size{&c.Cache.DigestBytes, minSize, maxStored} }},
		{key: "cache.embed_bytes", meaning: "the bound on stored embeddings",
			at: func(c *Config) value { return size{&c.Cache.EmbedBytes, minSize, maxStored} }},

		{key: "pdf.slots", meaning: "PDF extractions at once",
			at: func(c *Config) value { return count{&c.PDF.Slots, 1, maxCount} }},
		{key: "pdf.queue", meaning: "PDF extractions that may wait for a slot; 0: none",
			at: func(c *Config) value { return count{&c.PDF.Queue, 0, maxCount} }},
		{key: "pdf.wait", meaning: "how long one waits for a slot",
			at: func(c *Config) value { return duration{&c.PDF.Wait, time.Millisecond, maxTimeout} }},
		{key: "pdf.timeout", meaning: "the processor time one extraction may take",
			at: func(c *Config) value { return duration{&c.PDF.Timeout, time.Millisecond, maxTimeout} }},
		{key: "pdf.memory", meaning: "the memory at which an extraction is killed; at most limits.children_memory",
			at: func(c *Config) value { return size{&c.PDF.Memory, mib, maxMemory} }},
		{key: "pdf.max_pages", meaning: "the most pages read of one PDF",
			at: func(c *Config) value { return count{&c.PDF.MaxPages, 1, 100_000} }},
		{key: "pdf.ocr", meaning: "read pages that are pictures with tesseract, which must be installed",
			at: func(c *Config) value { return flag{&c.PDF.OCR} }},

		{key: "batch.targets_per_job", meaning: "the most targets in one job",
			at: func(c *Config) value { return count{&c.Batch.TargetsPerJob, 1, maxCount} }},
		{key: "batch.jobs_per_caller", meaning: "jobs of one caller that may be queued or running",
			at: func(c *Config) value { return count{&c.Batch.JobsPerCaller, 1, maxCount} }},
		{key: "batch.jobs_total", meaning: "jobs in all that may be queued or running",
			at: func(c *Config) value { return count{&c.Batch.JobsTotal, 1, maxCount} }},
		{key: "batch.workers", meaning: "fetches at once for all batches together",
			at: func(c *Config) value { return count{&c.Batch.Workers, 1, maxCount} }},
		{key: "batch.ttl", meaning: "how long a job is kept after it was last read or moved",
			at: func(c *Config) value { return duration{&c.Batch.TTL, time.Millisecond, maxAge} }},
		{key: "batch.max_bytes", meaning: "the bound on the results of all jobs; finished ones make room, the longest unread before others",
			at: func(c *Config) value { return size{&c.Batch.MaxBytes, minSize, maxStored} }},
		{key: "batch.on_restart", meaning: "what becomes of a live job when sift starts again: fail; resume is not available in this build yet",
			at: func(c *Config) value { return text{&c.Batch.OnRestart, checkOnRestart} }},

		{key: "digest.embeddings_url", meaning: "the base URL of an OpenAI-compatible embeddings endpoint; empty: none",
			at: func(c *Config) value { return text{&c.Digest.EmbeddingsURL, optional(checkEndpoint)} }},
		{key: "digest.embeddings_model", meaning: "the model asked there",
			at: func(c *Config) value { return text{&c.Digest.EmbeddingsModel, nil} }},
		{key: "digest.chat_url", meaning: "the base URL of an OpenAI-compatible chat endpoint; empty: none",
			at: func(c *Config) value { return text{&c.Digest.ChatURL, optional(checkEndpoint)} }},
		{key: "digest.chat_model", meaning: "the model asked there",
			at: func(c *Config) value { return text{&c.Digest.ChatModel, nil} }},
		{key: "digest.key_file", meaning: "the file that holds the key for both endpoints; empty: none is sent",
			at: func(c *Config) value { return text{&c.Digest.KeyFile, optional(checkPath)} }},

		{key: "recover.archive", meaning: "the base URL of a web archive (Memento or availability interface); empty: page data only",
			at: func(c *Config) value { return text{&c.Recover.Archive, optional(checkArchive)} }},
		{key: "recover.restricted", meaning: "whether URLs of restricted callers may be sent to the archive",
			at: func(c *Config) value { return flag{&c.Recover.Restricted} }},
		{key: "recover.max_bytes", meaning: "the bound on stored archived copies",
			at: func(c *Config) value { return size{&c.Recover.MaxBytes, minSize, maxStored} }},

		{key: "store.url", meaning: "the database that several nodes share; not available in this build yet", secret: true,
			at: func(c *Config) value { return text{&c.Store.URL, optional(checkStore)} }},
	}
}

// callerFields lists the keys of one [[caller]].
func callerFields() []field[Caller] {
	return []field[Caller]{
		{key: "caller.name", meaning: "who it is: 1 to 64 characters of a-z, 0-9, _ and -; required, unique",
			at: func(c *Caller) value { return text{&c.Name, checkName} }},
		{key: "caller.key_sha256", meaning: "the SHA-256 of the whole key in hex, as `sift key new` prints it; required, unique", secret: true,
			at: func(c *Caller) value { return text{&c.KeySHA256, checkHash} }},
		{key: "caller.class", meaning: "callers of one class share what is stored; no class sees what another has read",
			at: func(c *Caller) value { return text{&c.Class, checkName} }},
		{key: "caller.restricted", meaning: "whether hosts, URLs and errors of this caller are kept out of logs and metrics",
			at: func(c *Caller) value { return flag{&c.Restricted} }},
	}
}

// defaultCaller holds what a key of a [[caller]] is when the file leaves it out.
func defaultCaller() Caller { return Caller{Class: "default"} }

// Field describes one key for the reference and for `sift config`.
type Field struct {
	Key     string // "fetch.timeout"
	Env     string // "SIFT_FETCH_TIMEOUT"; "" for the keys of a [[caller]]
	Default string // as TOML; "" for a key that must be given
	Allowed string // the bounds in short; "": the meaning says it
	Meaning string
}

// Fields lists every key in the order of the reference, those of a [[caller]]
// last.
func Fields() []Field {
	var out []Field
	c := Default()
	for _, f := range fields() {
		out = append(out, Field{f.key, envName(f.key), f.at(&c).literal(), f.at(&c).allowed(), f.meaning})
	}
	caller := defaultCaller()
	for _, f := range callerFields() {
		d := f.at(&caller).literal()
		if f.key == "caller.name" || f.key == "caller.key_sha256" {
			d = ""
		}
		out = append(out, Field{f.key, "", d, f.at(&caller).allowed(), f.meaning})
	}
	return out
}

// envName is the variable that sets a key.
func envName(key string) string {
	return "SIFT_" + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}
