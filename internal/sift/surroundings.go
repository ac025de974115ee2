package sift

import "time"

// Context says where a page sits: what it tells of itself and of the pages
// around it. Lists are in the order of the page, bounded, and never null.
type Context struct {
	Canonical    string        `json:"canonical"`   // the URL that the page calls its own; "" when it names none
	Breadcrumbs  []Link        `json:"breadcrumbs"` // from the top; the page itself may be the last
	Authors      []string      `json:"authors"`
	Published    string        `json:"published"` // RFC 3339 date or date-time
	Modified     string        `json:"modified"`  // likewise
	Licence      string        `json:"licence"`   // a URL where there is one, else its name
	Feeds        []Feed        `json:"feeds"`
	Translations []Translation `json:"translations"`
	Previous     string        `json:"previous"` // URL of the page before this one in a series
	Next         string        `json:"next"`
	Outline      []Heading     `json:"outline"`         // of the clean content
	Outbound     []Outbound    `json:"outbound"`        // links of the whole page, by host; the page's own host first
	Cut          []string      `json:"cut"`             // names those lists that are not whole: feeds, translations, outline, outbound
	Hidden       []HiddenText  `json:"hidden,omitzero"` // with mode full: what was left out of the page since nobody could see it
}

// Feed is a feed that a page names.
type Feed struct {
	Title string `json:"title"`
	URL   string `json:"url"`
	Type  string `json:"type"` // media type, such as application/rss+xml
}

// Translation is the same page in another language.
type Translation struct {
	Language string `json:"language"` // BCP 47, or x-default
	URL      string `json:"url"`
}

// Outbound is what a page links to at one host.
type Outbound struct {
	Host  string `json:"host"`
	Count int    `json:"count"` // different URLs
	Links []Link `json:"links"` // the first of them
}

// Source says where the copy comes from that an answer reads.
type Source string

// The sources, in the order in which they are tried.
const (
	SourceLive        Source = "live"        // the server, just now or a copy that is still fresh
	SourceRevalidated Source = "revalidated" // an older copy of ours of which the server said that it is still right
	SourcePage        Source = "page"        // data embedded in the page, which does not show it
	SourceStale       Source = "stale"       // an older copy of ours, for want of an answer
	SourceArchive     Source = "archive"     // a copy of an archive
)

// Sources lists every source, in the order in which they are tried.
func Sources() []Source {
	return []Source{SourceLive, SourceRevalidated, SourcePage, SourceStale, SourceArchive}
}

// Recovered says where the copy comes from, when recovering was allowed.
type Recovered struct {
	Source     Source    `json:"source"`
	CapturedAt time.Time `json:"captured_at"`       // UTC
	URL        string    `json:"url"`               // where this copy was had; of an archive: the copy's own URL there
	From       string    `json:"from,omitempty"`    // of SourcePage: json-ld, state or noscript
	Archive    string    `json:"archive,omitempty"` // of SourceArchive: its host
	Reason     string    `json:"reason,omitempty"`  // why the page itself would not do: a failure's text or a warning's
}
