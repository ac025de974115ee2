// Package narrow gives the part of a rendered content that was asked for. It is
// pure: what it is given is all that it reads, and the deadline of the context
// is the only clock.
//
// # Section
//
// A section is what stands under one heading: from the line that the heading is on
// to the next heading of the same or a higher level, or to the end. White space at
// its end is not part of it. Of an outline it is the headings, of a list of links
// the links that stand there.
//
// A heading answers to its anchor, with or without #, percent-encoded or at the
// end of an address, and to its text. The first of these by which any does counts:
//
//  1. its anchor, to the letter; 2. its text, to the letter;
//  3. its text but for case, white space, the spelling of characters in Unicode,
//     the signs of Markdown, and punctuation and emoji at the ends;
//  4. that text without the number in front of it, or with one: Install answers to
//     "2.1 Install", and "2.1 Install" to Install, but not to "3.1 Install";
//  5. the number alone: 2.1, "section 2.1";
//  6. a trail, "Parent > Child" or Parent/Child: the last is the heading's name, the
//     others are of headings around it, in this order, though not of all of them;
//  7. its letters, digits and symbols, whatever stands between them: getting-started;
//  8. the beginning of its text, and 9. any part of it, where that of no other is.
//
// If several answer in the same way, it is the first of them, and Others says how
// many more there are. A trail tells them apart.
//
// A section is a content of its own. With one, everything counts in it: an offset
// and next_offset, total_chars, the windows that join to the whole, the offsets of
// an outline and the offsets and line numbers that Grep gives. So whatever offset an
// answer has, one can go on reading there by asking for the same section with that
// offset, in mode clean instead of outline and without a pattern. A section goes
// with the pages asked for of a PDF: only headings on these are known, and a section
// ends where they do. Of a snapshot it is the same section always.
//
// Of a PDF the headings are the entries of its own outline, and under each those of
// its pages. Of an outline more is shown than in the whole one where a PDF's own
// outline leaves headings out. An entry that no heading is named like begins with
// its page, as those next to it on the same page do. Where a section begins in the
// middle of a page, that page is the first of its pages.
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
// content has its number in front, counted from 1 in the whole content, or in the
// section if one was asked for, then a
// colon if it matches and a hyphen if it stands near one that does. A line in
// brackets begins each group: the page, in a PDF; the offset of the group's first
// line, in characters of the same, from where one can go on reading; the headings
// that it stands under, those around the section included. Of a long line that is
// shown from its middle on, the offset is of what is shown. Every other line is empty or "--", so that no
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
