package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// What Linux tells about a process from outside. There is no such thing
// elsewhere; figures that need it are then left out, and the table says so.

func hasProc() bool {
	_, err := os.Stat("/proc/self/status")
	return err == nil
}

// memoryOf reads one of the Vm… lines of a process, in bytes.
func memoryOf(pid int, field string) (int64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	return statusField(b, field)
}

func statusField(status []byte, field string) (int64, error) {
	lines := bufio.NewScanner(bytes.NewReader(status))
	for lines.Scan() {
		value, ok := strings.CutPrefix(lines.Text(), field+":")
		if !ok {
			continue
		}
		number, isKB := strings.CutSuffix(strings.TrimSpace(value), " kB")
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil || !isKB {
			return 0, fmt.Errorf("%s is %q, which is no number of kB", field, value)
		}
		return n * 1024, nil
	}
	return 0, fmt.Errorf("no line %s in the status", field)
}

// ticksPerSecond is USER_HZ, which is 100 on every platform of Linux that Go
// runs on.
const ticksPerSecond = 100

// cpuOf reads how much CPU time a process has used so far.
func cpuOf(pid int) (time.Duration, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	return statCPU(b)
}

func statCPU(stat []byte) (time.Duration, error) {
	// The second field is the name in brackets, which may hold anything.
	i := bytes.LastIndexByte(stat, ')')
	fields := strings.Fields(string(stat[i+1:]))
	if i < 0 || len(fields) < 13 {
		return 0, fmt.Errorf("unknown form of /proc/PID/stat: %q", stat)
	}
	var ticks int64
	for _, f := range fields[11:13] { // utime and stime, fields 14 and 15 of the whole
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("unknown form of /proc/PID/stat: %w", err)
		}
		ticks += n
	}
	return time.Duration(ticks) * (time.Second / ticksPerSecond), nil
}
