package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sift.build/sift/internal/sift"
)

// The table, written out once more: a new code must be given an exit code on
// purpose.
func TestEveryFailureCodeHasItsExitCode(t *testing.T) {
	want := map[sift.Code]int{
		"invalid": 2, "unauthorized": 9, "blocked": 3, "busy": 8, "timeout": 4, "upstream_4xx": 5, "upstream_5xx": 5,
		"unreachable": 6, "unsupported": 7, "too_long": 7, "cap": 8, "not_found": 10, "gone": 10, "cancel": 130, "internal": 1,
	}
	for _, c := range sift.Codes() {
		w, ok := want[c]
		if !ok {
			t.Errorf("%s has no exit code in this test", c)
		} else if got := exitCode(c); got != w {
			t.Errorf("%s ends with %d, want %d", c, got, w)
		}
	}
}

func TestTheExitCodesAreDocumentedInBothPlaces(t *testing.T) {
	doc, err := os.ReadFile("../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	var inDoc, inHelp []string
	for _, m := range regexp.MustCompile(`(?m)^\| (\d+) \| (.*) \|$`).FindAllStringSubmatch(string(doc), -1) {
		inDoc = append(inDoc, m[1]+" "+strings.ReplaceAll(m[2], "`", ""))
	}
	for _, m := range regexp.MustCompile(`(?m)^ *(\d+)  (.*)$`).FindAllStringSubmatch(exitCodesTopic().Long, -1) {
		inHelp = append(inHelp, m[1]+" "+m[2])
	}
	if !slices.Equal(inDoc, inHelp) {
		t.Errorf("docs/cli.md and the help topic differ:\n%q\n%q", inDoc, inHelp)
	}
	codes := []int{exitOK, exitFailure, exitUsage, exitBlocked, exitTimeout, exitUpstream, exitUnreachable, exitUnsupported, exitBusy, exitAuth, exitGone, exitPartial, exitInterrupted}
	if len(inDoc) != len(codes) {
		t.Errorf("%d codes are documented, there are %d", len(inDoc), len(codes))
	}
	for _, c := range codes {
		if !slices.ContainsFunc(inDoc, func(line string) bool { return strings.HasPrefix(line, fmt.Sprint(c)+" ") }) {
			t.Errorf("exit code %d is not documented", c)
		}
	}
	for _, c := range sift.Codes() {
		if c != sift.CodeInvalid && c != sift.CodeCancel && c != sift.CodeInternal && !strings.Contains(strings.Join(inDoc, "\n"), string(c)) {
			t.Errorf("the code %s is not in the table", c)
		}
	}
}

// commands lists every command with the words it is called by.
func commands(t *testing.T) map[string]*cobra.Command {
	t.Helper()
	all := make(map[string]*cobra.Command)
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		all[c.CommandPath()] = c
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk((&program{}).root())
	if len(all) < 15 {
		t.Fatalf("only %d commands", len(all))
	}
	return all
}

func TestEveryCommandIsListedInTheCommandLineReference(t *testing.T) {
	doc, err := os.ReadFile("../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	for path, c := range commands(t) {
		if c.Parent() != nil && c.Parent().Name() == "completion" {
			continue // one line stands for every shell
		}
		if c.HasSubCommands() && c.Name() != "completion" {
			continue
		}
		if !strings.Contains(string(doc), "| `"+path) {
			t.Errorf("docs/cli.md does not list `%s`", path)
		}
	}
}

func TestTheHelpOfEveryCommandHasAnExample(t *testing.T) {
	for path, c := range commands(t) {
		if !strings.Contains(c.Example, "sift ") || c.Short == "" || c.Long == "" {
			t.Errorf("%s: short %q, long %q, example %q", path, c.Short, c.Long, c.Example)
		}
		if c.HasSubCommands() && c.Parent() != nil && c.Name() != "completion" && !strings.Contains(c.Example, path) {
			t.Errorf("%s: the example %q is of something else", path, c.Example)
		}
	}
}

// Every flag of the reference exists and the other way round; flags that every
// command has are not repeated there.
func TestTheFlagsOfTheReferenceExist(t *testing.T) {
	doc, err := os.ReadFile("../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{"--help": true, "--version": true} // cobra adds them when it runs
	for _, c := range commands(t) {
		c.Flags().VisitAll(func(f *pflag.Flag) { known["--"+f.Name] = true })
		c.PersistentFlags().VisitAll(func(f *pflag.Flag) { known["--"+f.Name] = true })
	}
	for _, flag := range regexp.MustCompile(`--[a-z][a-z-]+`).FindAllString(string(doc), -1) {
		if !known[flag] {
			t.Errorf("docs/cli.md names %s, which no command has", flag)
		}
	}
}
