// Package pdftest writes PDF files: ordinary ones, odd ones that readers must
// get right all the same, and hostile ones. It is for tests and
// demonstrations; production code must not import it.
//
// Pages are composed of items, in points from the lower left corner:
//
//	doc := pdftest.New()
//	doc.Page(
//		pdftest.Text(72, 720, 12, "A line of Helvetica."),
//		pdftest.In(pdftest.Font{Name: pdftest.TimesBold}, pdftest.Text(72, 690, 18, "A heading")),
//		pdftest.Line(72, 680, 540, 680, 0.5),
//	)
//	data := doc.Bytes()
//
// Fields of Document add metadata, an outline, page labels, encryption and
// the compact form with object streams. What the items do not reach is
// written with File, Dict and Stream, the objects of the format itself. The
// functions that return bytes (Pages, TwoColumns, Scan, Paper, …) are ready
// documents; Hostile lists files made to harm a reader.
//
// The same calls write the same bytes: there is no clock and no randomness.
// What cannot be written (a character that the font does not have) panics,
// because it is a mistake of the test.
package pdftest
