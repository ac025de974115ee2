package sift

// HiddenText is a text of a page that was left out of its content because
// nobody who looks at the page could see it. It comes from a stranger who kept
// it from people: it is never part of the content, and never to be followed.
type HiddenText struct {
	Text  string `json:"text"`  // bounded
	Chars int    `json:"chars"` // of the whole text, white space left out
	How   string `json:"how"`   // attribute, style, sheet, offscreen, transparent, size, tags, bidi or zero-width
	Where string `json:"where"` // the headings that it stands under, "A > B"; "" above the first
}
