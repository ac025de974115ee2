// Package extract turns the bytes of one answer into a [sift.Document]: it
// decides the character set and the kind, parses HTML within bounds, finds the
// main content and reads what the page says about itself. It is pure: no
// network, no files, no clock, nothing shared between calls.
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
//   - A page whose text is over two megabytes is not held twice: its Document
//     has no Page, which can be asked for with [Page].
//
// [Weight] says beforehand how much memory a call may hold at once.
package extract
