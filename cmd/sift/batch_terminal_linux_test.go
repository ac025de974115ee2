package main

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"sift.build/sift/internal/sift"
)

// screenOf runs sift with its notices on a terminal, its output too if both,
// and gives what the terminal got.
func screenOf(t *testing.T, env []string, input *os.File, both bool, args ...string) (p *process, shown string) {
	t.Helper()
	tty, screen := terminal(t)
	c := command(t.TempDir(), append([]string{"TERM=xterm"}, env...), args...)
	c.Stderr = tty
	if both {
		c.Stdout = tty
	}
	if input != nil {
		c.Stdin = input
	}
	p = startIn(t, c)
	if _, err := p.end(); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(tty, "end of the screen")
	if _, err := screen.wait(nil, 1, "end of the screen"); err != nil {
		t.Fatal(err)
	}
	return p, strings.TrimSuffix(screen.String(), "end of the screen\r\n")
}

func TestAWaitOnATerminalShowsABarAndEachOutcome(t *testing.T) {
	t.Parallel()
	s := newJobServer(t)
	rude := `{"idx":1,"url":"https://t.example/\u001b[2J","status":"failed","error":"timeout: too\u001b]0;owned slow","hint":"retry"}`
	s.set("one", sift.JobRunning, "", answered1(0), inFlight(1), pending(2))
	tty, screen := terminal(t)
	c := command(t.TempDir(), []string{"TERM=xterm", "SIFT_URL=" + s.URL}, "batch", "wait", "one")
	c.Stderr = tty
	p := startIn(t, c)
	seen := func(n int, words ...string) {
		t.Helper()
		if _, err := screen.wait(p.exited, n, words...); err != nil {
			t.Fatalf("%v: %q", err, screen)
		}
	}
	seen(1, "targets[0] ok https://t.example/0")
	s.set("one", sift.JobRunning, "", answered1(0), rude, inFlight(2))
	seen(1, "targets[1] failed https://t.example/\ufffd[2J: timeout: too\ufffd]0;owned slow (hint: retry)")
	s.set("one", sift.JobCancelled, "", answered1(0), rude, pending(2))
	p.endsWith(t, exitPartial)
	fmt.Fprintln(tty, "end of the screen")
	if _, err := screen.wait(nil, 1, "end of the screen"); err != nil {
		t.Fatal(err)
	}
	got := screen.String()
	for _, want := range []string{
		eraseLine + "[######..............] 1 of 3" + eraseLine, eraseLine + "[#############.......] 2 of 3, 1 failed" + eraseLine,
		eraseLine + "targets[2] not reached https://t.example/2\r\n",
		eraseLine + "sift: job one is cancelled: 2 of 3 targets finished, 1 failed\r\nend of the screen\r\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
	if out := p.out.String(); out != joined(answered1(0), rude, pending(2)) {
		t.Errorf("the output is %q", out)
	}
}

func TestABarIsOnlyShownWhereItCanBeWrittenOver(t *testing.T) {
	t.Parallel()
	s := newJobServer(t)
	s.set("one", sift.JobDone, "", answered1(0))
	env := []string{"SIFT_URL=" + s.URL}
	_, shown := screenOf(t, env, nil, true, "batch", "wait", "one")
	if want := eraseLine + answered1(0) + "\r\n" + "targets[0] ok https://t.example/0\r\n"; !strings.Contains(shown, want) {
		t.Errorf("both on one terminal: %q", shown)
	}
	if _, shown := screenOf(t, append(env, "TERM=dumb"), nil, false, "batch", "wait", "one"); shown != "sift: job one is done: 1 of 1 targets finished\r\n" {
		t.Errorf("a terminal that knows least: %q", shown)
	}
}

func TestCtrlCOnATerminalLeavesNoBar(t *testing.T) {
	t.Parallel()
	s := newJobServer(t)
	s.set("one", sift.JobRunning, "", answered1(0), inFlight(1))
	tty, screen := terminal(t)
	c := command(t.TempDir(), []string{"TERM=xterm", "SIFT_URL=" + s.URL}, "batch", "wait", "one")
	c.Stderr = tty
	p := startIn(t, c)
	if _, err := p.wait(p.out, answered1(0)); err != nil {
		t.Fatal(err)
	}
	p.signal(t, syscall.SIGINT)
	p.endsWith(t, exitInterrupted)
	if _, err := screen.wait(nil, 1, "or end it with: sift batch cancel one"); err != nil {
		t.Fatal(err)
	}
	if got := screen.String(); !strings.Contains(got, eraseLine+"sift: stopped waiting; the job goes on. Collect the rest with: sift batch wait --after 0 one\r\n") {
		t.Errorf("the terminal shows %q", got)
	}
}

func TestASubmitOnATerminalSaysHowToGoOn(t *testing.T) {
	t.Parallel()
	s := newJobServer(t)
	list := writeFile(t, t.TempDir(), "urls.txt", "https://t.example/0\n")
	env := []string{"SIFT_URL=" + s.URL}
	s.submit = func() string {
		return `202 {"success":true,"job_id":"one","status":"queued","targets":1,"reused":false}`
	}
	if _, shown := screenOf(t, env, nil, false, "batch", "submit", list); shown != "sift: go on with: sift batch wait one\r\n" {
		t.Errorf("a new job: %q", shown)
	}
	s.submit = func() string {
		return `202 {"success":true,"job_id":"one","status":"cancelled","targets":1,"reused":true,"hint":"fresh"}`
	}
	want := "sift: the same list was submitted before: this is that job, cancelled\r\nsift: --fresh makes a new one\r\nsift: go on with: sift batch wait one\r\n"
	if _, shown := screenOf(t, env, nil, false, "batch", "submit", list); shown != want {
		t.Errorf("an old one: %q", shown)
	}
}

func TestASubmitFromATerminalAsksForAListInsteadOfWaiting(t *testing.T) {
	t.Parallel()
	tty, _ := terminal(t)
	p, shown := screenOf(t, nil, tty, false, "batch", "submit", "-")
	p.endsWith(t, exitUsage)
	if !strings.Contains(shown, `"-" reads standard input, which is a terminal; pipe a list in, or name a file with one URL a line`) {
		t.Errorf("it said %q", shown)
	}
}
