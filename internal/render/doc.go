// Package render gives a Document as Markdown, plain text, sanitised HTML, a
// list of links or an outline, and cuts what it gave into windows. It is pure,
// and reads pages in the normal form of package normalize only.
//
// # Markdown
//
// GitHub-flavoured Markdown. Structure in it comes from the page's structure
// alone: text that looks like Markdown is escaped, as little as will do, so
// that it parses back as text. What GitHub's flavour has no sign for is written
// so that a reader of the source understands it:
//
//   - formulas as $TeX$, and on a line of their own as $$TeX$$;
//   - footnotes as [^1], when the note is in the part rendered;
//   - a term as a bold paragraph, its definitions as list items under it;
//   - a table cell's paragraphs and lists on one line, with <br> between; a cell
//     that spans columns or rows followed by empty ones; a table without header
//     cells gets its first row as header;
//   - sub and sup as <sub> and <sup>, where leaving them out would change the
//     meaning (m<sup>2</sup>), else as plain text (1st);
//   - the summary of details as a bold paragraph;
//   - the beginning of a page of a PDF as <!-- page 3 -->, as plain text [page 3],
//     in HTML <section data-page="3">; a line of the file's own that reads like one
//     has a backslash in front of it;
//   - an image without an address as (Image: its alt).
//
// # Outline
//
// One line a heading, nested by level: "- [text](#anchor) (offset 120, 345
// characters)", or "- text (offset …)" for a heading without an anchor, in a PDF
// "- text (page 3, offset …)". A PDF that has an outline of its own is shown by
// that: an entry that no heading of its page is named like stands at the
// beginning of the page. Offset
// is the position in the clean content, in characters, where the heading's line
// starts; the characters reach to the next heading of the same or a higher
// level.
//
// A heading that is only a picture is none, nor is one in a table's cell.
package render
