package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"sift.build/sift/internal/app"
)

// TestMain puts this very program on the PATH, under its own name, so that
// every test drives the real thing: its flags, its exit codes, its signals.
//
// The program's child processes are this one again.
func TestMain(m *testing.M) {
	app.RunChild()
	testscript.Main(m, map[string]func(){
		"sift":            main,
		"sift-on-a-mount": onMount,
	})
}
