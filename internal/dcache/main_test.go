package dcache

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"go.uber.org/goleak"
)

// The test binary plays other processes too: childEnv names what to do.
const childEnv = "DCACHE_TEST_CHILD"

func TestMain(m *testing.M) {
	if role := os.Getenv(childEnv); role != "" {
		if err := playChild(role, os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, role+":", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func playChild(role string, args []string) error {
	ctx := context.Background()
	switch role {
	case "open": // DIR: opens a store, waits for the end of standard input, stores one entry
		if _, err := io.ReadAll(os.Stdin); err != nil {
			return err
		}
		db, err := Open(ctx, Config{Dir: args[0], MaxBytes: 1 << 30})
		if err != nil {
			return err
		}
		e := testEntry("k", 1000)
		if err := db.Put(ctx, e); err != nil {
			return err
		}
		fmt.Println(e.Snapshot)
		return db.Close()

	case "store": // DIR SEED N: stores N entries, prints each snapshot once it is stored, reads what others store
		seed, err := strconv.ParseUint(args[1], 10, 64)
		if err != nil {
			return err
		}
		n, err := strconv.Atoi(args[2])
		if err != nil {
			return err
		}
		db, err := Open(ctx, Config{Dir: args[0], MaxBytes: 1 << 30})
		if err != nil {
			return err
		}
		r := rand.New(rand.NewPCG(seed, 0))
		for i := range n {
			e := testEntry(fmt.Sprintf("%d", i), r.IntN(300_000))
			if err := db.Put(ctx, e); err != nil {
				return err
			}
			fmt.Println(e.Snapshot)
			got, ok, err := db.Latest(ctx, e.Class, e.Key) // may be another process's by now
			if err != nil || !ok {
				return fmt.Errorf("latest %q: %v, %w", e.Key, ok, err)
			}
			if err := intact(got); err != nil {
				return err
			}
		}
		return db.Close()

	case "values": // DIR PREFIX N: stores values N times, prints the name of each call
		n, err := strconv.Atoi(args[2])
		if err != nil {
			return err
		}
		return playValues(ctx, args[0], args[1], n)

	case "batch": // DIR: drains batch jobs until it is killed
		return playBatch(ctx, args[0])

	case "batchsteps": // DIR N: the first N transactions of a job, then waits to be killed
		n, err := strconv.Atoi(args[1])
		if err != nil {
			return err
		}
		db, err := Open(ctx, Config{Dir: args[0], MaxBytes: 1 << 20})
		if err != nil {
			return err
		}
		for _, step := range batchSteps(ctx, db)[:n] {
			if err := step(); err != nil {
				return err
			}
		}
		fmt.Println("there")
		_, err = io.ReadAll(os.Stdin)
		return err

	case "lock": // DIR: locks it and waits to be killed
		if _, err := LockServer(args[0]); err != nil {
			return err
		}
		fmt.Println("locked")
		_, err := io.ReadAll(os.Stdin)
		return err

	case "mount": // DIR: finds out whether a file system can be mounted there
		return tryMount(args[0])

	case "hold": // waits for the end of standard input
		fmt.Println("started")
		_, err := io.ReadAll(os.Stdin)
		return err
	}
	return fmt.Errorf("no such role")
}

type child struct {
	*exec.Cmd
	in     io.WriteCloser
	out    *bufio.Scanner
	stderr bytes.Buffer
}

func startChild(t *testing.T, role string, args ...string) *child {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := &child{Cmd: exec.CommandContext(t.Context(), self, args...)}
	c.Env = append(os.Environ(), childEnv+"="+role)
	c.Stderr = &c.stderr
	if c.in, err = c.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.out = bufio.NewScanner(out)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c
}

// lines reads what the child still prints.
func (c *child) lines() []string {
	var all []string
	for c.out.Scan() {
		all = append(all, c.out.Text())
	}
	return all
}

// end waits for the child, which must succeed.
func (c *child) end(t *testing.T) {
	t.Helper()
	if err := c.Wait(); err != nil {
		t.Fatalf("child: %v: %s", err, c.stderr.String())
	}
}

func openStore(t testing.TB, c Config) *DB {
	t.Helper()
	if c.Dir == "" {
		c.Dir = filepath.Join(t.TempDir(), "data")
	}
	db, err := Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// noise is n bytes that do not compress and differ by seed.
func noise(seed string, n int) []byte {
	var key [32]byte
	copy(key[:], seed)
	b := make([]byte, n)
	_, _ = rand.NewChaCha8(key).Read(b)
	return b
}

// testEntry is an entry whose body can be told from its snapshot and length.
func testEntry(key string, size int) Entry {
	e := Entry{Snapshot: NewSnapshot(), Class: "default", Key: key, Status: 200, Reusable: true}
	e.Body = noise(e.Snapshot, size)
	e.Document = fmt.Appendf(nil, "%d bytes", size)
	return e
}

func intact(e Entry) error {
	if !bytes.Equal(e.Body, noise(e.Snapshot, len(e.Body))) || string(e.Document) != fmt.Sprintf("%d bytes", len(e.Body)) {
		return fmt.Errorf("entry %s came back changed", e.Snapshot)
	}
	return nil
}

func put(t testing.TB, db *DB, e Entry) {
	t.Helper()
	if err := db.Put(t.Context(), e); err != nil {
		t.Fatal(err)
	}
}

// held reports whether the class default still has the copy.
func held(t testing.TB, db *DB, snapshot string) bool {
	t.Helper()
	var n int
	if err := db.reader.QueryRowContext(t.Context(), "SELECT count(*) FROM content WHERE snapshot = ?", snapshot).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n == 1
}

// checkSound lets SQLite look at every page and index of the file, and
// compares what is counted with what is there. It may be a cleanup.
func checkSound(t testing.TB, db *DB) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	var result string
	if err := db.reader.QueryRowContext(ctx, "PRAGMA integrity_check").Scan(&result); err != nil || result != "ok" {
		t.Fatalf("integrity_check: %s, %v", result, err)
	}
	for cache, rows := range map[string]string{
		"content": "content WHERE recovered IS NULL", "recovered": "content WHERE recovered IS NOT NULL",
		"digest": "value WHERE cache = 'digest'", "embed": "value WHERE cache = 'embed'",
		"batch": "batch_job",
	} {
		var want, got Stats
		if err := db.reader.QueryRowContext(ctx, "SELECT count(*), coalesce(sum(nbytes), 0) FROM "+rows).Scan(&want.Entries, &want.Bytes); err != nil {
			t.Fatal(err)
		}
		if err := db.reader.QueryRowContext(ctx, "SELECT entries, bytes FROM usage WHERE cache = ?", cache).Scan(&got.Entries, &got.Bytes); err != nil || got != want {
			t.Fatalf("usage of %s is %+v, %v; the rows say %+v", cache, got, err, want)
		}
	}
	for what, query := range map[string]string{
		"parts without an entry": "SELECT count(*) FROM content_part WHERE content_id NOT IN (SELECT id FROM content)",
		"values without data":    "SELECT count(*) FROM value WHERE id NOT IN (SELECT id FROM value_data)",
		"data without a value":   "SELECT count(*) FROM value_data WHERE id NOT IN (SELECT id FROM value)",
		"targets without a job":  "SELECT count(*) FROM batch_target WHERE job_id NOT IN (SELECT id FROM batch_job)",
		"jobs whose number of targets is wrong": `SELECT count(*) FROM batch_job AS j
			WHERE targets_total <> (SELECT count(*) FROM batch_target WHERE job_id = j.id)`,
		"jobs whose number of targets done is wrong": `SELECT count(*) FROM batch_job AS j
			WHERE targets_done <> (SELECT count(*) FROM batch_target WHERE job_id = j.id AND status IN ('done', 'failed'))`,
		"targets that run where none can": `SELECT count(*) FROM batch_target AS t JOIN batch_job AS j ON j.id = t.job_id
			WHERE t.status = 'running' AND j.status NOT IN ('running', 'cancelled')`,
		"live jobs with nothing left to do": "SELECT count(*) FROM batch_job WHERE status IN ('queued', 'running') AND targets_done = targets_total",
		"jobs whose bytes are wrong": `SELECT count(*) FROM batch_job AS j WHERE nbytes <> octet_length(error)
			+ (SELECT sum(octet_length(error) + octet_length(hint) + coalesce(octet_length(result), 0)) FROM batch_target WHERE job_id = j.id)`,
		"jobs whose lists are counted wrong": `SELECT count(*) FROM batch_job AS j WHERE list_bytes <> 640
			+ octet_length(id) + octet_length(caller) + octet_length(caller_class) + octet_length(idem_key)
			+ (SELECT sum(256 + octet_length(url) + octet_length(options)) FROM batch_target WHERE job_id = j.id)`,
	} {
		var n int
		if err := db.reader.QueryRowContext(ctx, query).Scan(&n); err != nil || n != 0 {
			t.Fatalf("%d %s, %v", n, what, err)
		}
	}
}
