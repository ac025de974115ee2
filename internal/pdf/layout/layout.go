// Package layout turns the positioned words of PDF pages into what a reader
// sees: headings, paragraphs, list items, tables and code, in reading order.
//
// It is pure: no PDF parser, no files, no clock. Use it in two steps. A Reader
// takes the pages one by one and gives a Result for each; Results are plain
// data that go through JSON unchanged, so a page can be sent on as soon as it
// is read. When there are no more pages (or the process that read them died
// half-way) Finish looks at all Results there are and takes the decisions that
// belong to the document rather than to a page: which blocks are headings and
// of which level, which lines are running headers, footers and page numbers,
// and whether a hyphen at a line's end stays.
//
//	r := layout.NewReader(bookmarks)
//	for each page {
//		results = append(results, r.Page(page))
//	}
//	layout.Finish(results)
//
// The order of the words in the page's content stream is kept wherever it can
// be right, because most programs write text in the order in which it reads;
// it is changed only when the positions prove that it interleaves columns or
// runs backwards.
//
// Coordinates are points (1/72 inch) with the origin at the top left and y
// growing downwards; the rotation of the page has been applied. Hostile
// numbers (NaN, infinities, huge values) are harmless, and the time taken is
// bounded by n log n of the words looked at, which are at most MaxWords.
package layout

// What is looked at on one page; the rest is dropped and counted in
// Result.Dropped. A dense newspaper page has under 10,000 words.
const (
	MaxWords  = 200_000
	maxRules  = 1_500  // of each direction; a page with more is drawn, not ruled
	maxCells  = 20_000 // of one table
	maxDepth  = 64     // of the tag tree
	maxTags   = 100_000
	maxHidden = 4 << 10 // bytes of HiddenText
)

// Rect is a box with its left, top, right and bottom edge.
type Rect struct {
	X0 float64 `json:"x0"`
	Y0 float64 `json:"y0"`
	X1 float64 `json:"x1"`
	Y1 float64 `json:"y1"`
}

// Font is what layout needs to know of a font.
type Font struct {
	Name                      string
	Bold, Italic, Mono, Serif bool
}

// Why a word cannot be seen.
const (
	HiddenInvisible = "invisible" // render mode 3: nothing is painted
	HiddenWhite     = "white"     // the colour of the paper
	HiddenTiny      = "tiny"      // too small to read
	HiddenOffPage   = "offpage"   // outside of what is shown of the page
)

// Word is a maximal run of characters without space and of one font, size,
// angle, visibility and marked-content id, in the order of the content stream.
type Word struct {
	Text     string  // UTF-8; a hyphen at the line's end that PDFium reports as such is not in it, see Hyphen
	Box      Rect    // of the glyphs
	Baseline float64 // y
	Size     float64 // rendered font size in points
	Font     int     // index into Page.Fonts; one out of range is an ordinary font
	Space    bool    // a space, typed or generated, stands before it
	Break    bool    // a line break stands before it
	Hyphen   bool    // a hyphen at the line's end stands after it (U+FFFE or U+0002 in PDFium's text)
	Angle    float64 // degrees counter-clockwise, 0 for ordinary text
	MCID     int     // marked-content id; negative: none
	Hidden   string  // "" for what can be seen, else one of the Hidden constants
	URL      string  // of the link annotation that lies over it
}

// Page is one page as the engine sees it.
type Page struct {
	Number         int // from 1
	Width, Height  float64
	Fonts          []Font
	Words          []Word
	HRules, VRules []Rect  // thin lines and the edges of drawn rectangles
	Tags           *Tag    // tagged structure of this page; nil: untagged
	ImageArea      float64 // share of the page that images cover, 0 to 1
}

// Tag is an element of the tagged structure: H1 to H6, P, L, LI, Lbl, LBody,
// Table, TR, TH, TD, Span, Figure, Artifact and so on.
type Tag struct {
	Type             string
	MCIDs            []int // its own content, without that of its kids
	Alt, ActualText  string
	Kids             []*Tag
	ColSpan, RowSpan int
}

// Bookmark is an entry of the document's outline.
type Bookmark struct {
	Level int // from 1
	Title string
	Page  int     // from 1; 0: unknown
	Y     float64 // where on the page; 0 or NaN: unknown
}

// Kind says what a block is.
type Kind string

// The kinds of blocks.
const (
	Heading   Kind = "heading"
	Paragraph Kind = "paragraph"
	Item      Kind = "item" // of a list
	Table     Kind = "table"
	Code      Kind = "code"
)

// Span is a run of text of one look. A newline in Text is a line break that
// the page means: an address, a verse, a table of contents.
type Span struct {
	Text   string `json:"text"`
	URL    string `json:"url,omitempty"`
	Bold   bool   `json:"bold,omitempty"` // only where it differs within the block
	Italic bool   `json:"italic,omitempty"`
	Code   bool   `json:"code,omitempty"`
	Sup    bool   `json:"sup,omitempty"`
	Sub    bool   `json:"sub,omitempty"`
}

// Block is a piece of the page.
type Block struct {
	Kind   Kind     `json:"kind"`
	Level  int      `json:"level,omitempty"`  // of a heading 1 to 6 (set by Finish); of an item its depth from 1
	Marker string   `json:"marker,omitempty"` // of an item: "•", "3.", "(a)"
	Spans  []Span   `json:"spans,omitempty"`
	Rows   [][]Cell `json:"rows,omitempty"` // of a table; a cell covered by a span of another is left out, as in HTML
	Text   string   `json:"text,omitempty"` // of code: lines with their indentation
	Clue   Clue     `json:"clue"`
}

// Clue is what Finish decides by. It means nothing after that.
type Clue struct {
	Box     Rect    `json:"box"`
	Size    float64 `json:"size"` // of most of the block's letters
	Bold    bool    `json:"bold,omitempty"`
	Italic  bool    `json:"italic,omitempty"`
	Lines   int     `json:"lines,omitempty"`
	Chars   int     `json:"chars,omitempty"`   // without spaces
	Tagged  int     `json:"tagged,omitempty"`  // heading level by the tagged structure; -1: tagged as something else
	Outline int     `json:"outline,omitempty"` // level of the bookmark with this title
	Aside   bool    `json:"aside,omitempty"`   // rotated, or not in the flow of the text
	Entry   bool    `json:"entry,omitempty"`   // of a table of contents
}

// Cell is a cell of a table.
type Cell struct {
	Spans   []Span `json:"spans,omitempty"`
	Header  bool   `json:"header,omitempty"`
	ColSpan int    `json:"colspan,omitempty"` // 0 is 1
	RowSpan int    `json:"rowspan,omitempty"`
}

// Result is what was read of one page.
type Result struct {
	Number     int     `json:"number"`
	Width      float64 `json:"width"`
	Height     float64 `json:"height"`
	Blocks     []Block `json:"blocks"`
	Chars      int     `json:"chars"`                 // that can be seen, without spaces
	Hidden     int     `json:"hidden,omitempty"`      // characters left out because nobody sees them
	HiddenText string  `json:"hidden_text,omitempty"` // the first of them, for a warning
	Dropped    int     `json:"dropped,omitempty"`     // words beyond MaxWords that were not looked at
}
