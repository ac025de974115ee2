package dcache

import (
	"errors"
	"math/rand/v2"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

func TestWhatWasStoredBeforeAKillIsReadableAfterIt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var printed []string
	for round := range 8 {
		c := startChild(t, "store", dir, strconv.Itoa(round), "1000000")
		for range 1 + rand.IntN(12) {
			if !c.out.Scan() {
				break
			}
			printed = append(printed, c.out.Text())
		}
		if err := c.Process.Signal(syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		printed = append(printed, c.lines()...) // those it printed before it died
		err := c.Wait()
		if c.stderr.Len() > 0 || err == nil || c.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
			t.Fatalf("child ended by itself: %v: %s", err, c.stderr.String())
		}
	}
	db := openStore(t, Config{Dir: dir, MaxBytes: 1 << 30})
	checkSound(t, db)
	if len(printed) < 8 {
		t.Fatalf("only %d entries were stored", len(printed))
	}
	// Copies of one key beyond the newest four have gone by rule.
	gone := 0
	for _, s := range printed {
		e, ok, err := db.BySnapshot(t.Context(), "default", s)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			gone++
			continue
		}
		if err := intact(e); err != nil {
			t.Error(err)
		}
	}
	stats, err := db.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// At most one of each round was stored without being printed.
	if held := len(printed) - gone; int64(held) > stats.Entries || stats.Entries > int64(held)+8 {
		t.Errorf("%d were printed, %d of them are readable, %d are held", len(printed), held, stats.Entries)
	}
	var over int
	if err := db.reader.QueryRowContext(t.Context(), "SELECT count(*) FROM (SELECT count(*) AS n FROM content GROUP BY key) WHERE n > 4").Scan(&over); err != nil || over != 0 {
		t.Errorf("%d keys have more than four copies, %v", over, err)
	}
}

func TestTwoProcessesStoreAndReadAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db := openStore(t, Config{Dir: dir, MaxBytes: 1 << 30}) // and this one makes three
	var children []*child
	for i := range 2 {
		children = append(children, startChild(t, "store", dir, strconv.Itoa(i), "40"))
	}
	var printed []string
	for range 20 {
		e := testEntry(NewSnapshot(), 5000)
		put(t, db, e)
		printed = append(printed, e.Snapshot)
		if _, ok, err := db.Latest(t.Context(), e.Class, e.Key); !ok || err != nil {
			t.Fatal(ok, err)
		}
	}
	for _, c := range children {
		lines := c.lines()
		if len(lines) != 40 {
			t.Errorf("a child stored %d", len(lines))
		}
		printed = append(printed, lines...)
		c.end(t)
	}
	for _, s := range printed {
		e, ok, err := db.BySnapshot(t.Context(), "default", s)
		if !ok || err != nil {
			t.Fatalf("%s: %v, %v", s, ok, err)
		}
		if err := intact(e); err != nil {
			t.Error(err)
		}
	}
	checkSound(t, db)
}

func TestASecondServerIsToldWhoHasTheFolder(t *testing.T) {
	dir := t.TempDir()
	c := startChild(t, "lock", dir)
	if !c.out.Scan() {
		t.Fatalf("child: %s", c.stderr.String())
	}
	_, err := LockServer(dir)
	if !errors.Is(err, ErrInUse) {
		t.Fatalf("error is %v", err)
	}
	for _, part := range []string{dir, "pid " + strconv.Itoa(c.Process.Pid) + ")", "data_dir"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
	// The lock goes with the process, however that ends.
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	l, err := LockServer(dir)
	if err != nil {
		t.Fatal(err)
	}
	// A child of ours does not keep it.
	held := startChild(t, "hold")
	if !held.out.Scan() {
		t.Fatalf("child: %s", held.stderr.String())
	}
	if _, err := LockServer(dir); !errors.Is(err, ErrInUse) {
		t.Errorf("error is %v", err)
	}
	if err := l.Release(); err != nil {
		t.Error(err)
	}
	if l, err = LockServer(dir); err != nil {
		t.Fatal(err)
	}
	if err := l.Release(); err != nil {
		t.Error(err)
	}
	if err := held.in.Close(); err != nil {
		t.Error(err)
	}
	held.end(t)
}

func TestAStoreCanBeOpenedBesideALockedServer(t *testing.T) {
	dir := t.TempDir()
	l, err := LockServer(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Release()
	db := openStore(t, Config{Dir: dir, MaxBytes: 1 << 20})
	put(t, db, testEntry("k", 10))
}
