package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

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

func TestEveryCommandIsListedInTheCommandLineReference(t *testing.T) {
	doc, err := os.ReadFile("../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	p := &program{}
	for _, c := range p.root().Commands() {
		names := []string{c.Name()}
		if c.HasSubCommands() {
			names = nil
			for _, sub := range c.Commands() {
				names = append(names, c.Name()+" "+sub.Name())
			}
		}
		for _, n := range names {
			if !strings.Contains(string(doc), "`sift "+n) {
				t.Errorf("docs/cli.md does not mention `sift %s`", n)
			}
		}
	}
}
