package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// terminal opens a pseudo-terminal and gives the end that a program uses, and
// what is written to it.
func terminal(t *testing.T) (*os.File, *output) {
	t.Helper()
	control, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(int(control.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(control.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	screen := newOutput()
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		_, _ = io.Copy(screen, control) // ends with an error when nobody has the other end
	}()
	t.Cleanup(func() {
		tty.Close()
		<-copied
		control.Close()
	})
	return tty, screen
}

func TestLongWorkCountsOnATerminalAndNowhereElse(t *testing.T) {
	t.Parallel()
	site, dir := newSite(t), t.TempDir()
	config := writeFile(t, dir, "sift.toml", site.settings(""))
	page := writeFile(t, dir, "page.html", articlePage)
	urls := []string{site.URL + "/n/1", site.URL + "/gone-page", site.URL + "/n/3"}
	for name, c := range map[string]struct {
		args  []string
		env   []string
		plain bool // standard output is a terminal too
		want  bool
	}{
		"fetch":                       {args: append([]string{"fetch", "--config", config}, urls...), want: true},
		"fetch, as JSON":              {args: append([]string{"fetch", "--json", "--config", config}, urls...), want: true},
		"convert":                     {args: []string{"convert", page, page, page}, want: true},
		"one page":                    {args: []string{"fetch", "--config", config, urls[0]}},
		"the content on it too":       {args: append([]string{"fetch", "--config", config}, urls...), plain: true},
		"a terminal that knows least": {args: append([]string{"fetch", "--config", config}, urls...), env: []string{"TERM=dumb"}},
	} {
		tty, screen := terminal(t)
		p := command(dir, append([]string{"TERM=xterm"}, c.env...), c.args...)
		p.Stderr = tty
		if c.plain {
			p.Stdout = tty
		}
		run := startIn(t, p)
		if _, err := run.end(); err != nil {
			t.Fatal(err)
		}
		// The terminal may hand on what was written after the end.
		fmt.Fprintln(tty, "end of the screen")
		if _, err := screen.wait(nil, 1, "end of the screen"); err != nil {
			t.Fatal(err)
		}
		shown := screen.String()
		for _, step := range []string{"0 of 3", "1 of 3", "2 of 3", "3 of 3"} {
			if strings.Contains(shown, step) != c.want {
				t.Errorf("%s: the terminal shows %q", name, shown)
				break
			}
		}
		if c.want && !strings.HasSuffix(shown, "3 of 3"+eraseLine+"end of the screen\r\n") {
			t.Errorf("%s: the line stays: %q", name, shown)
		}
		if !c.plain && strings.ContainsAny(run.out.String(), "\r\x1b") {
			t.Errorf("%s: the content is not clean: %q", name, run.out)
		}
		if len(urls) == 3 && c.want && name != "convert" && name != "fetch, as JSON" && !strings.Contains(shown, eraseLine+"sift: "+urls[1]) {
			t.Errorf("%s: the notice does not stand on a line of its own: %q", name, shown)
		}
	}
}

func TestCtrlCLeavesTheCountOfWhatWasDoneOnTheTerminal(t *testing.T) {
	t.Parallel()
	site, dir := newSite(t), t.TempDir()
	tty, screen := terminal(t)
	c := command(dir, []string{"TERM=xterm"}, "fetch", "--config", writeFile(t, dir, "sift.toml", site.settings("")),
		site.URL+"/n/1", site.URL+"/n/2", site.URL+"/held/x", site.URL+"/n/3")
	c.Stderr = tty
	p := startIn(t, c)
	receive(t, "the request", site.arrived)
	if _, err := p.out.wait(p.exited, 2, "Tides"); err != nil {
		t.Fatal(err)
	}
	p.signal(t, syscall.SIGINT)
	p.endsWith(t, exitInterrupted)
	fmt.Fprintln(tty, "end of the screen")
	if _, err := screen.wait(nil, 1, "end of the screen"); err != nil {
		t.Fatal(err)
	}
	want := eraseLine + "sift: stopped: 2 of 4 done\r\n" + eraseLine + "end of the screen\r\n"
	if shown := screen.String(); !strings.HasSuffix(shown, want) {
		t.Errorf("the terminal shows %q", shown)
	}
}

func TestAFetchWithoutAURLOnATerminalAsksForOneInsteadOfWaiting(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tty, _ := terminal(t)
	for _, args := range [][]string{{"fetch"}, {"explain"}} {
		c := command(dir, nil, args...)
		c.Stdin = tty
		p := startIn(t, c)
		p.endsWith(t, exitUsage)
		if !strings.Contains(p.log.String(), "no URL given") {
			t.Errorf("%q said %q", args, p.log)
		}
	}
}
