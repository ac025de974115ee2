package sift

// Mode is the form in which a target's content is asked for.
type Mode string

// The modes.
const (
	ModeClean   Mode = "clean"   // the main content as GitHub-flavoured Markdown
	ModeFull    Mode = "full"    // the whole page as Markdown
	ModeText    Mode = "text"    // the main content as plain text
	ModeHTML    Mode = "html"    // the main content as sanitised HTML
	ModeRaw     Mode = "raw"     // the body, decoded to UTF-8, otherwise untouched
	ModeLinks   Mode = "links"   // every link, resolved, one a line
	ModeOutline Mode = "outline" // headings as a nested list with their offsets
)

// Modes lists every mode, in the order of SPEC section 2.
func Modes() []Mode {
	return []Mode{ModeClean, ModeFull, ModeText, ModeHTML, ModeRaw, ModeLinks, ModeOutline}
}

// DefaultMaxChars is the window a target gets when it names none, in characters.
const DefaultMaxChars = 100_000

// Target is one URL with its options: what /v1/fetch takes and what a batch
// holds a list of. The zero value of an option is its default.
type Target struct {
	URL      string
	Mode     Mode     // "": ModeClean
	Question string   // only the passages that answer it; "": everything
	Pages    string   // of a PDF, as ParsePages reads them; "": all
	Section  string   // a heading's text or anchor: only what stands under it; "": everything
	Grep     string   // an RE2 pattern: only the lines that match; "": all of them
	JQ       string   // a program to run on a JSON body; "": none
	Context  bool     // add where the page sits
	Recover  bool     // where the page itself will not do, its embedded data, an older copy or an archived one
	MinDate  string   // with Recover: as ParseDate reads it; older copies will not do; "": any will
	Password string   // opens a protected PDF; never stored, logged or part of a key
	MaxAge   *int     // seconds; nil: the configured time; 0: fetch again
	MaxChars int      // characters (Unicode code points); 0: DefaultMaxChars
	Offset   int      // characters from the start of the whole content
	Snapshot string   // read this very copy, no other
	Timeout  *float64 // seconds for the whole call; nil or above the configured one: that
}

// Caller is who asks: the owner of a key, or the one local caller when no
// callers are configured.
type Caller struct {
	Name       string
	Class      string // caches are kept apart by it
	Restricted bool   // nothing that identifies what they read may reach a log, a metric or an error of another

	// Anonymous is the one local caller, behind which there may be many: their
	// requests are told apart, and none counts against another's share.
	Anonymous bool
}
