package sift

import "golang.org/x/net/html"

// Kind is what a body turned out to be, decided from its bytes as well as
// from its header.
type Kind string

// The kinds that have content.
const (
	KindHTML     Kind = "html"     // HTML and XHTML
	KindJSON     Kind = "json"     // one JSON value, or one a line
	KindMarkdown Kind = "markdown" // handed on untouched
	KindText     Kind = "text"     // plain text, handed on untouched
	KindPDF      Kind = "pdf"

	KindFeed    Kind = "feed"    // RSS, Atom or JSON Feed
	KindSitemap Kind = "sitemap" // a sitemap or an index of them
	KindOPML    Kind = "opml"    // an outline of subscriptions
	KindTable   Kind = "table"   // comma-separated values and their like, small enough for a table
	KindDrawing Kind = "drawing" // an SVG with words in it
	KindCode    Kind = "code"    // source code, XML among it; its language stands in MediaType
)

// HasTree says that a document of this kind has its content as a tree in the
// normal form, not as text.
func (k Kind) HasTree() bool {
	switch k {
	case KindHTML, KindPDF, KindFeed, KindSitemap, KindOPML, KindTable, KindDrawing:
		return true
	default:
		return false
	}
}

// Document is what one body turned out to be: its kind, what it says about
// itself, and its content in a form every mode can be rendered from.
type Document struct {
	Kind        Kind
	MediaType   string // the type the bytes show, such as text/html; lower case, no parameters
	Charset     string // the WHATWG name, lower case: utf-8, gb18030, windows-1252 …
	CharsetFrom string // bom, header, meta, xml, content or default

	Title       string
	Author      string
	Site        string
	Published   string // RFC 3339 date or date-time; "" when the page does not say
	Language    string // BCP 47
	Description string

	// Text is the decoded body of every kind without a tree. It is verbatim.
	Text string

	// Main is the main content of an HTML page and Page the whole of its
	// visible body, both in the normal form that package normalize
	// documents. Each is a detached <body> element; neither shares nodes
	// with the other. Page is nil for a Document that came back from the
	// cache. Of the other kinds with a tree, Main is the whole and Page nil.
	//
	// The Main of a PDF has one <section data-page="N"> for each page that was
	// read, by number; its pages are the whole of it, so that Page is nil.
	Main *html.Node
	Page *html.Node

	PDF *PDF // what only a PDF has; nil for other kinds

	// VisibleChars counts the characters, white space left out, that a
	// reader of the whole page would see.
	VisibleChars int

	Warnings []Warning
	Hint     Hint
}

// PDF is what a PDF file says about its pages.
type PDF struct {
	Total     int // pages of the file; not all need have been read
	Bookmarks []Bookmark

	// Stopped says that reading ended before the last page. Others can still be
	// had by asking for them.
	Stopped bool
}

// Bookmark is one entry of a PDF's own outline.
type Bookmark struct {
	Level int // 1 and more
	Title string
	Page  int // 1 to Total
}

// WarningCode names one kind of notice about content that was delivered. The
// list is closed; a new one is added to SPEC section 2 and to the OpenAPI
// document.
type WarningCode string

// The warning codes.
const (
	WarnHiddenText   WarningCode = "hidden_text"   // text a reader could not see was left out
	WarnPartial      WarningCode = "partial"       // the body was cut short
	WarnNoText       WarningCode = "no_text"       // nothing to read was found
	WarnFallback     WarningCode = "fallback"      // the usual way failed; this is the next best
	WarnCharsetGuess WarningCode = "charset_guess" // the character set was guessed from the bytes
	WarnDeepMarkup   WarningCode = "deep_markup"   // nested too deeply or too large to parse as a tree
	WarnChallenge    WarningCode = "challenge"     // a bot check
	WarnConsent      WarningCode = "consent"       // a consent wall
	WarnLogin        WarningCode = "login"         // a login page
	WarnJSShell      WarningCode = "js_shell"      // an empty page that a script would fill
	WarnSoft404      WarningCode = "soft_404"      // "not found" with status 200
	WarnEmpty        WarningCode = "empty"         // an empty body
)

// WarningCodes lists every warning code, in the order of SPEC section 2.
func WarningCodes() []WarningCode {
	return []WarningCode{
		WarnHiddenText, WarnPartial, WarnNoText, WarnFallback, WarnCharsetGuess, WarnDeepMarkup,
		WarnChallenge, WarnConsent, WarnLogin, WarnJSShell, WarnSoft404, WarnEmpty,
	}
}

// Warning is one notice about content that was delivered.
type Warning struct {
	Code    WarningCode `json:"code"`
	Message string      `json:"message"`
}
