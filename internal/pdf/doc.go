// Package pdf reads PDF files into Documents. Each file is read by a child
// process with limits (package child), so that a hostile one can harm nothing
// but itself; what the child has read before it died is kept.
//
// The program has to offer the workers that the children run:
//
//	func main() {
//		child.Main(pdf.Workers())
//		…
//	}
//
// and then reads with a Reader:
//
//	r := pdf.New(pdf.Config{Launcher: launcher, CacheDirs: dirs, …})
//	doc, err := r.Read(ctx, pdf.Request{Body: body})
//
// The text comes from PDFium (package engine), its order and structure from
// package layout. PDFium is compiled to machine code once per host; Reader.Warm
// does that ahead of the first file, in a child of its own with low priority,
// and Read does it when it has not been done.
//
// Pages without a text layer are read by OCR where Config.OCR names tesseract.
package pdf
