// Package extract turns the bytes of one answer into a [sift.Document]: it
// decides the character set and the kind, parses HTML within bounds, finds the
// main content and reads what the page says about itself and of the pages
// around it. Of a page that shows nothing it finds what the page carries as
// data. It is pure: no network, no files, no clock, nothing shared between calls.
//
// # Bounds
//
// What goes over one of these is answered, never a crash or a stall:
//
//   - Decoded text is at most [MaxText] bytes (or Input.MaxText); more is
//     too_long.
//   - A tree is built only of a page whose estimate is at most 1.2 million
//     nodes. The estimate counts tags, attributes and the formatting elements
//     that the parser would open again in every block; see plan.go. Above it, and
//     for a page nested more than 512 deep, a single pass over the tags gives
//     headings, paragraphs, lists, code and links, with the warning
//     deep_markup.
//   - Decoding and parsing look at the context every 4 KiB of input, the rest
//     between its steps, each of which takes time linear in the size of the
//     page. An expired context ends the work with the code timeout.
//   - Data that a page carries about itself (JSON-LD, meta elements) is read up
//     to half a megabyte and a few hundred entries.
//   - Of the data in scripts and attributes, which [Embedded] reads, 250,000
//     values are kept, 200 levels deep; the rest is passed over. Of the prose in
//     it up to four megabytes of markup, of Markdown half a megabyte. Reading it
//     holds up to 120 MB beside the page.
//   - The lists that [Context] makes have the bounds that it names.
//   - A page whose text is over two megabytes is not held twice: its Document
//     has no Page, which can be asked for with [Page].
//
// [Weight] says beforehand how much memory a call may hold at once.
package extract
