// Package engine reads PDF files with PDFium, compiled to WebAssembly and run
// by wazero: no cgo, and PDFium sees one file and its own memory, no file
// system, clock, network or randomness.
//
// Use it only inside a child process with limits, one document per process: a
// hostile file can make PDFium run for hours or trap, and the one way to end
// that is to end the process. In the child:
//
//	e, err := engine.Start(ctx, engine.Config{CacheDir: dir, Memory: 128 << 20})
//	d, err := e.Open(file, size, password)
//	info := d.Info()
//	for n := 1; n <= info.Pages; n++ {
//		p, err := d.Page(n) // ErrPage: this page only; ErrDead: stop
//	}
//
// PDFium is machine code that is compiled from WebAssembly once per host, by
// Fill, in another child (3.5 s of CPU and 350 MB); Start only reads what Fill
// has left in the cache directory and never compiles, so that a child with an
// empty or damaged cache fails at once with ErrCache instead of going over its
// limits. The caller then calls Clear and Fill and tries again.
//
// An Engine and its Documents belong to one goroutine.
package engine
