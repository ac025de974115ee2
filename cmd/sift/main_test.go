package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain puts this very program on the PATH, under its own name, so that
// every test drives the real thing: its flags, its exit codes, its signals.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"sift":            main,
		"sift-on-a-mount": onMount,
	})
}
