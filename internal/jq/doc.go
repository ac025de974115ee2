// Package jq runs jq programs on JSON that came from strangers. A program of
// fifteen bytes can ask for gigabytes, and no deadline stops that: so each runs
// in a child process with limits (package child), which has no environment, no
// files and no network, and only so many run at once (package pdfpool).
//
// The program has to offer the workers that the children run:
//
//	func main() {
//		child.Main(jq.Workers())
//		…
//	}
//
// Check a caller's program with Parse before anything is fetched for it, and
// run it with a Runner:
//
//	r := jq.New(jq.Config{Launcher: launcher})
//	result, err := r.Run(ctx, jq.Query{Program: ".items[].id", Body: body, Caller: name})
//
// The errors of both are *sift.Failure and say what to do. The language is that
// of gojq, with integers of any size; docs/jq.md says what works and what does
// not.
package jq
