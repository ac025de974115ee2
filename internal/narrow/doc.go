// Package narrow gives the part of a rendered content that was asked for. It is
// pure: what it is given is all that it reads, and the deadline of the context
// is the only clock.
//
// # Grep
//
// A pattern is an RE2 one, as the regexp package of Go reads it: (?i) in front
// ignores case, there are no look-arounds and no back-references. It is tried on
// each line by itself, so that ^ and $ are the ends of the line. A line of
// Markdown is tried as it stands and as a reader sees it, without escapes,
// emphasis, the signs of code and the destinations of links: shared_ptr is found
// in shared\_ptr, and "opening hours" in opening **hours** and in
// opening [hours](/h). Signs at the beginning of a line, such as ## and -, belong
// to it in both. A pattern has at most 1,000 characters and, its repeats written
// out, 2,000 steps.
//
// What comes back is text:
//
//	2 matching lines
//
//	[page 4, offset 5120] Policy > Storage
//	41-Each archive has a keeper.
//	43:Records are kept for ninety days.
//	45-They are counted in spring.
//	--
//	[page 4, offset 6033] Policy > Backups
//	61:Backup retention is thirty days.
//
// The first line counts the matching lines, or says "no line matches"; when there
// are more than are shown it is "first 200 of 1250 matching lines". A line of the
// content has its number in front, counted from 1 in the whole content, then a
// colon if it matches and a hyphen if it stands near one that does. A line in
// brackets begins each group: the page, in a PDF; the offset of the group's first
// line, in characters of the whole content, from where one can go on reading; the
// headings that it stands under. Every other line is empty or "--", so that no
// page can make up a number, a heading or a group.
//
// Empty lines separate blocks in Markdown. They are neither matches nor
// neighbours, though they are counted: the two lines around a match are the
// nearest ones with something on them, within its section and its page. The line
// that begins a page is the page's marker, not text, and never matches. A heading
// can match; as a neighbour it is left out, since it stands in brackets already.
//
// A line longer than 2,000 characters is shown around its first matches, a
// neighbour up to 500 characters, the part that is next to the match. A … stands
// wherever something was left out.
package narrow
