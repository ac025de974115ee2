package main

import (
	"fmt"
	"io"
)

// progress shows on a terminal how far long work has come, in one line that is
// written over and gone at the end. The nil progress shows nothing.
type progress struct {
	w           io.Writer
	total, done int
}

// newProgress shows the progress of many items, if somebody can see it: notices
// go to a terminal, and the content, which would otherwise run through the
// line, goes elsewhere.
func (p *program) newProgress(total int) *progress {
	if total < 2 || !isTerminal(p.err) || isTerminal(p.out) || p.env("TERM") == "dumb" {
		return nil
	}
	g := &progress{w: p.err, total: total}
	g.show()
	return g
}

const eraseLine = "\r\x1b[K"

func (g *progress) show() { fmt.Fprintf(g.w, "%s%d of %d", eraseLine, g.done, g.total) }

// step notes that one more item is done.
func (g *progress) step() {
	if g != nil {
		g.done++
		g.show()
	}
}

// clear makes room for another line, or for the prompt.
func (g *progress) clear() {
	if g != nil {
		_, _ = io.WriteString(g.w, eraseLine)
	}
}
