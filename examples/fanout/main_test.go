package main

import (
	"bytes"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain puts this program on the PATH: one that hangs can only be tried from
// outside.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"fanout-example": main})
}

func runExample(args ...string) (code int, stdout, stderr string) {
	c := exec.Command("fanout-example", args...)
	var out, notices bytes.Buffer
	c.Stdout, c.Stderr = &out, &notices
	err := c.Run()
	if c.ProcessState == nil {
		return -1, "", err.Error()
	}
	return c.ProcessState.ExitCode(), out.String(), notices.String()
}

func TestWithRoomForTheWorstCaseItReturns(t *testing.T) {
	code, stdout, stderr := runExample("-patience", "1m")
	if code != 0 || stderr != "" || !strings.Contains(stdout, "it returned: context canceled\n") {
		t.Errorf("it ended with %d:\n%s%s", code, stdout, stderr)
	}
	for i := range runtime.NumCPU() {
		if !strings.Contains(stdout, fmt.Sprintf("item %d came to %d\n", i, (i+1)*(i+1))) {
			t.Errorf("item %d is missing:\n%s", i, stdout)
		}
	}
}

func TestWithRoomForOneResultAnItemItHangsAndTheWatchdogSaysWhy(t *testing.T) {
	code, stdout, stderr := runExample("-buffer", "small", "-patience", "200ms")
	n := runtime.NumCPU()
	if code != 1 || !strings.Contains(stderr, "the pool hangs") || !strings.Contains(stderr, fmt.Sprintf("%d sends, room for %d", 2*n, n)) {
		t.Errorf("it ended with %d:\n%s%s", code, stdout, stderr)
	}
	if strings.Contains(stdout, "it returned") {
		t.Errorf("it returned as well:\n%s", stdout)
	}
}

func TestWrongUsageIsRefused(t *testing.T) {
	for _, args := range [][]string{{"-buffer", "large"}, {"5"}, {"-nonsense"}} {
		if code, _, stderr := runExample(args...); code != 2 || stderr == "" {
			t.Errorf("%q ended with %d, %q", args, code, stderr)
		}
	}
}
