package sift

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Link is one link of a page, resolved.
type Link struct {
	Text string `json:"text"`
	URL  string `json:"url"`
}

// Heading is one entry of an outline. Offset and Chars are in characters of
// the clean content: where the heading's line starts, and how long its
// section is up to the next heading of the same or a higher level.
type Heading struct {
	Level  int    `json:"level"`
	Text   string `json:"text"`
	Anchor string `json:"anchor"`
	Offset int    `json:"offset"`
	Chars  int    `json:"chars"`
}

// Hop is one redirect that was followed.
type Hop struct {
	URL    string `json:"url"`
	Status int    `json:"status"` // 3xx, or 200 for a Refresh header or meta refresh
}

// Section says which part of a content an answer is of. Its offsets, and those
// of its outline, count from the section's start.
type Section struct {
	Text   string   `json:"text"` // of the heading that was found
	Level  int      `json:"level"`
	Anchor string   `json:"anchor"`
	Trail  []string `json:"trail"`  // the headings above it, never null
	Offset int      `json:"offset"` // characters from the start of the whole content
	Chars  int      `json:"chars"`  // of the section
	Others int      `json:"others"` // further headings that match as well
}

// Pages says which pages of a PDF an answer holds.
type Pages struct {
	Total    int   `json:"total"`    // of the file
	Returned []int `json:"returned"` // those that Content begins, goes on with or ends in; never null
}

// Receipt says where the bytes came from.
type Receipt struct {
	FetchedAt   time.Time `json:"fetched_at"`   // when this copy was downloaded, UTC
	SHA256      string    `json:"sha256"`       // of the body after content decoding, hex
	Bytes       int       `json:"bytes"`        // length of that body
	Charset     string    `json:"charset"`      // see Document
	CharsetFrom string    `json:"charset_from"` // see Document
	Hops        []Hop     `json:"hops"`         // redirects on the way, never null
	Protocol    string    `json:"protocol"`     // http/1.1 or h2
	Address     string    `json:"address"`      // of the socket, without port; "" for a restricted caller
}

// Answer is the part of an envelope that is the same each time this copy is
// read this way. It is immutable once it has been handed out, so that it can
// be kept and shared.
type Answer struct {
	URL         string    `json:"url"` // as the caller wrote it
	FinalURL    string    `json:"final_url"`
	Status      int       `json:"status"`
	ContentType string    `json:"content_type"` // as the server said
	Mode        Mode      `json:"mode"`
	Title       string    `json:"title"`
	Author      string    `json:"author"`
	Site        string    `json:"site"`
	Published   string    `json:"published"`
	Language    string    `json:"language"`
	Description string    `json:"description"`
	Content     string    `json:"content"`
	Links       []Link    `json:"links,omitzero"`   // mode links
	Outline     []Heading `json:"outline,omitzero"` // mode outline
	Chars       int       `json:"chars"`            // of Content, in code points
	TotalChars  int       `json:"total_chars"`      // of the whole content
	Tokens      int       `json:"tokens"`           // of Content, estimated
	Truncated   bool      `json:"truncated"`        // there is more behind NextOffset
	NextOffset  *int      `json:"next_offset"`      // null when there is no more
	Coverage    float64   `json:"coverage"`         // 0 to 1
	Snapshot    string    `json:"snapshot"`         // "" when the copy could not be kept
	Receipt     Receipt   `json:"receipt"`
	Pages       *Pages    `json:"pages,omitempty"`   // of a PDF
	Section     *Section  `json:"section,omitempty"` // when one was asked for
	Digest      *Digest   `json:"digest,omitempty"`  // when a question was asked
	Context     *Context  `json:"context,omitempty"` // when asked for
	Warnings    []Warning `json:"warnings"`          // never null
	Hint        Hint      `json:"hint,omitempty"`

	// Origin says where the copy comes from that this reads, if that is not the
	// page as it stands; or, with SourceLive and a Reason, why that would not do.
	// What a caller is told of it is in the Envelope.
	Origin *Recovered `json:"-"`

	once    sync.Once
	encoded []byte
}

// encode gives the JSON of the answer with "success" in front and no closing
// brace. It is computed once.
func (a *Answer) encode() []byte {
	a.once.Do(func() {
		type plain Answer // drops methods; the sync.Once inside is unexported and not encoded
		whole, err := EncodeJSON((*plain)(a))
		if err != nil {
			panic(fmt.Sprintf("sift: an Answer cannot fail to encode: %v", err))
		}
		body := bytes.TrimSuffix(whole, []byte("}"))
		a.encoded = append([]byte(`{"success":true,`), body[1:]...)
	})
	return a.encoded
}

// With is a copy of the answer that has one more warning.
func (a *Answer) With(w Warning) *Answer {
	return &Answer{
		URL: a.URL, FinalURL: a.FinalURL, Status: a.Status, ContentType: a.ContentType, Mode: a.Mode,
		Title: a.Title, Author: a.Author, Site: a.Site, Published: a.Published, Language: a.Language, Description: a.Description,
		Content: a.Content, Links: a.Links, Outline: a.Outline, Chars: a.Chars, TotalChars: a.TotalChars, Tokens: a.Tokens,
		Truncated: a.Truncated, NextOffset: a.NextOffset, Coverage: a.Coverage, Snapshot: a.Snapshot, Receipt: a.Receipt,
		Pages: a.Pages, Section: a.Section, Digest: a.Digest, Context: a.Context, Origin: a.Origin, Warnings: append(slices.Clone(a.Warnings), w), Hint: a.Hint,
	}
}

// Size is about how many bytes the answer holds in memory: its fields, and
// their JSON once more.
func (a *Answer) Size() int { return 2*len(a.encode()) + 512 }

// CacheInfo says how an answer relates to the cache.
type CacheInfo struct {
	Hit         bool `json:"hit"`
	Age         int  `json:"age"` // seconds since the copy was fetched or revalidated
	Revalidated bool `json:"revalidated"`
}

// Timing says where the time went, in milliseconds.
type Timing struct {
	QueueMS  int64 `json:"queue_ms"`  // waiting for a slot or for the parser's turn
	FetchMS  int64 `json:"fetch_ms"`  // on the wire, redirects included
	RenderMS int64 `json:"render_ms"` // from bytes to content
	TotalMS  int64 `json:"total_ms"`
}

// Envelope is the answer for one target.
type Envelope struct {
	*Answer
	Recovered *Recovered // where the copy comes from, when recovering was allowed; nil: it was not
	Cache     CacheInfo
	Timing    Timing
}

// AppendJSON appends the envelope as one JSON object. The large part is
// encoded once per Answer and shared by every envelope that carries it.
func (e *Envelope) AppendJSON(dst []byte) []byte {
	dst = append(dst, e.encode()...)
	if e.Recovered != nil {
		r, err := EncodeJSON(e.Recovered)
		if err != nil {
			panic(fmt.Sprintf("sift: a Recovered cannot fail to encode: %v", err))
		}
		dst = append(append(dst, `,"recovered":`...), r...)
	}
	dst = append(dst, `,"cache":{"hit":`...)
	dst = strconv.AppendBool(dst, e.Cache.Hit)
	dst = append(dst, `,"age":`...)
	dst = strconv.AppendInt(dst, int64(e.Cache.Age), 10)
	dst = append(dst, `,"revalidated":`...)
	dst = strconv.AppendBool(dst, e.Cache.Revalidated)
	dst = append(dst, `},"timing":{"queue_ms":`...)
	dst = strconv.AppendInt(dst, e.Timing.QueueMS, 10)
	dst = append(dst, `,"fetch_ms":`...)
	dst = strconv.AppendInt(dst, e.Timing.FetchMS, 10)
	dst = append(dst, `,"render_ms":`...)
	dst = strconv.AppendInt(dst, e.Timing.RenderMS, 10)
	dst = append(dst, `,"total_ms":`...)
	dst = strconv.AppendInt(dst, e.Timing.TotalMS, 10)
	return append(dst, "}}"...)
}

// MarshalJSON is AppendJSON for encoding/json; it copies and checks the
// content again, so serve with AppendJSON.
func (e *Envelope) MarshalJSON() ([]byte, error) { return e.AppendJSON(nil), nil }

// FailureJSON is the wire form of a Failure.
type FailureJSON struct {
	Success      bool   `json:"success"` // false
	Error        string `json:"error"`   // code, colon, sentence
	Code         Code   `json:"code"`
	Hint         Hint   `json:"hint,omitempty"`
	URL          string `json:"url,omitempty"`
	Status       int    `json:"status,omitempty"`
	RetryAfter   int    `json:"retry_after,omitempty"` // seconds, rounded up
	UpstreamBody string `json:"upstream_body,omitempty"`
}

// JSON gives the wire form. The cause is not part of it.
func (f *Failure) JSON() FailureJSON {
	return FailureJSON{
		Error: f.Error(), Code: f.Code, Hint: f.Hint, URL: f.URL, Status: f.Status,
		RetryAfter: int((f.RetryAfter + time.Second - 1) / time.Second), UpstreamBody: f.UpstreamBody,
	}
}
