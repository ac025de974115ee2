// Command sift fetches web pages for AI agents and hands back only what was
// asked for. It is a service, and a command line that works with or without
// one. Each file of this package is one subcommand.
package main

import (
	"context"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"

	"sift.build/sift/internal/app"
)

// version is set by the linker.
var version = "dev"

// stdio is what a command may read and write. Content goes to out and nothing
// else does; notices go to err.
type stdio struct {
	in       io.Reader
	out, err io.Writer
}

func main() {
	app.RunChild()
	// The first signal asks to stop; NotifyContext then restores the default,
	// so that a second one ends the process at once.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	// net/http prints what a misbehaving server sends unasked to this logger,
	// page bytes included. What sift has to say goes through slog.
	log.SetOutput(io.Discard)
	os.Exit(run(ctx, os.Args[1:], os.Environ(), stdio{in: os.Stdin, out: os.Stdout, err: os.Stderr}))
}
