// Package normalize rewrites a parsed HTML page to one plain form, the normal
// form, which package extract selects the main content from and stores, and
// which package render reads. It is pure: no network, no files, no clock.
//
// # The normal form
//
// The result of Page is one detached <body> element. In it:
//
//   - There are only elements and text: no comments, no doctype, no script,
//     style, template, noscript, svg, math or form control (but see task
//     lists), and no element that a reader of the page would not see.
//   - Attributes are only id, class, role, itemprop, itemtype, rel, title,
//     aria-label, lang, dir, datetime, href, src, alt, colspan, rowspan, scope,
//     start, value, reversed, type, checked, open, and the data- attributes named here.
//     The text of title and aria-label is not part of the page's text.
//   - href and src are absolute, resolved against the page's address and
//     <base>; characters that would break out of Markdown are percent-encoded.
//     A link's scheme is http, https, mailto, tel or another from a short list;
//     other links (javascript:, data:, file:, a bare #) have become their
//     contents. A link from a public page to a private address or localhost
//     has data-private.
//   - An image is <img> with one src and its alt; an image without src is only
//     its alt (a data: URI was dropped). Video, audio and frames are <a>
//     elements whose text names them.
//   - A formula is <span data-math="inline">TeX</span> or
//     <span data-math="block">TeX</span>: one text child, one line.
//   - A code block is <pre data-lang="go"><code>text</code></pre>: one text
//     child, without gutter, line numbers and copy buttons; data-lang is absent
//     when the page names no language. Inline code is <code>, and may hold
//     other inline elements.
//   - A task list item is an <li> whose first child is
//     <input type="checkbox">, with checked when it is done.
//   - A list holds only <li>; nested lists are inside an item. A definition
//     list holds only <dt> and <dd>.
//   - A <table> is a table of data; tables used for layout have become <div>
//     elements that keep their class. No table is inside another; colspan is
//     at most 1000 and rowspan at most 65534.
//   - <section data-page="3"> holds page 3 of a PDF. It comes from the PDF
//     reader only: the attribute of an HTML page is dropped.
//   - A heading's permalink sign is gone; its id is where a link to it leads.
//   - A footnote reference is <a data-noteref="ID">, ID being the id of the
//     element that holds the note; the links back from notes are gone.
//   - Text outside code has each run of white space as one space, or as one
//     newline when the run held a newline (which counts as a space, except that
//     none stands between two characters of Chinese or Japanese). No-break
//     spaces are spaces. Soft hyphens, zero-width, tag and other invisible
//     characters and direction overrides are gone, except where they are part
//     of an emoji, a flag or the spelling of a word.
package normalize
