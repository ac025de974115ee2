package dcache

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"sift.build/sift/internal/batch/storetest"
)

func TestANewStoreIsPrivateToItsUser(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	db := openStore(t, Config{Dir: dir, MaxBytes: 1 << 20})
	put(t, db, testEntry("k", 10))
	for name, want := range map[string]fs.FileMode{
		dir: fs.ModeDir | 0o700, db.path: 0o600, db.path + "-wal": 0o600, db.path + "-shm": 0o600,
	} {
		if info, err := os.Stat(name); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v; want %v", name, info.Mode(), err, want)
		}
	}
}

func TestTheFolderMayHaveAnyName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a b", "a?b=c&_txlock=x", "a#b", "100%41", "ü", "file:x"} {
		db := openStore(t, Config{Dir: filepath.Join(t.TempDir(), name), MaxBytes: 1 << 20})
		put(t, db, testEntry("k", 10))
		if _, err := os.Stat(db.path); err != nil {
			t.Error(err)
		}
		if names, err := filepath.Glob(filepath.Join(filepath.Dir(db.dir), "*")); err != nil || len(names) != 1 {
			t.Errorf("%q: beside the folder there is more: %q", name, names)
		}
	}
}

func TestConnectionsAreSetUpAsTheyMustBe(t *testing.T) {
	db := openStore(t, Config{MaxBytes: 1 << 20})
	want := map[string]string{
		"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "busy_timeout": "5000",
		"temp_store": "2", "auto_vacuum": "2", "trusted_schema": "0", "journal_size_limit": "4194304",
	}
	for name, pool := range map[string]*sql.DB{"writer": db.writer, "reader": db.reader} {
		want["query_only"] = map[string]string{"writer": "0", "reader": "1"}[name]
		for pragma, value := range want {
			var got string
			if err := pool.QueryRowContext(t.Context(), "PRAGMA "+pragma).Scan(&got); err != nil || got != value {
				t.Errorf("%s: %s is %q, %v; want %q", name, pragma, got, err, value)
			}
		}
	}
	if _, err := db.reader.ExecContext(t.Context(), "DELETE FROM content"); kindOf(err) != ErrReadOnly {
		t.Errorf("a reader can write: %v", err)
	}
}

func TestEverythingIsThereAfterClosingAndOpeningAgain(t *testing.T) {
	dir := t.TempDir()
	e := testEntry("k", 5000)
	db, err := Open(t.Context(), Config{Dir: dir, MaxBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	put(t, db, e)
	for range 2 {
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if names, _ := filepath.Glob(filepath.Join(dir, "*")); !slices.Equal(names, []string{filepath.Join(dir, fileName)}) {
		t.Errorf("a closed store leaves %q", names)
	}
	db = openStore(t, Config{Dir: dir, MaxBytes: 1 << 20})
	if got, ok, err := db.Latest(t.Context(), "default", "k"); !ok || err != nil || !bytes.Equal(got.Body, e.Body) {
		t.Errorf("%v, %v", ok, err)
	}
}

func TestAStoreOfANewerSiftIsRefusedAndLeftAsItIs(t *testing.T) {
	dir := t.TempDir()
	db, err := Open(t.Context(), Config{Dir: dir, MaxBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	put(t, db, testEntry("k", 10))
	if _, err := db.writer.ExecContext(t.Context(), "INSERT INTO migration (number, name) VALUES (7, 'later'); DROP TABLE content_part"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(db.path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Open(t.Context(), Config{Dir: dir, MaxBytes: 1 << 20})
	if !errors.Is(err, ErrNewer) || errors.Is(err, ErrCorrupt) {
		t.Fatalf("error is %v", err)
	}
	for _, part := range []string{db.path, "layout 7", "up to 3", "newer sift", "data_dir"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
	after, err := os.ReadFile(db.path)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file was changed, %v", err)
	}
}

func TestAFileThatIsNoStoreIsRefusedAndLeftAsItIs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db, err := Open(t.Context(), Config{Dir: dir, MaxBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	put(t, db, testEntry("k", 50_000))
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(db.path)
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(dir, "other.db")
	foreign, err := sql.Open("sqlite", other)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := foreign.ExecContext(t.Context(), "CREATE TABLE content (id INTEGER PRIMARY KEY)"); err != nil {
		t.Fatal(err)
	}
	if err := foreign.Close(); err != nil {
		t.Fatal(err)
	}
	otherBytes, err := os.ReadFile(other)
	if err != nil {
		t.Fatal(err)
	}
	badSchema := bytes.Clone(good)
	copy(badSchema[100:4096], noise("x", 3996)) // the root of the schema, behind the header of the file

	for name, content := range map[string][]byte{
		"a text":              []byte("hello, this is a text and nothing else\n" + strings.Repeat("x", 5000)),
		"a short text":        []byte("hello\n"),
		"noise":               noise("x", 20_000),
		"half a store":        good[:len(good)/2],
		"another's database":  otherBytes,
		"a store with a hole": badSchema,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, fileName)
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := Open(t.Context(), Config{Dir: dir, MaxBytes: 1 << 20})
			if !errors.Is(err, ErrCorrupt) {
				t.Fatalf("error is %v", err)
			}
			if !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "move it") {
				t.Errorf("%q does not say which file or what to do", err)
			}
			if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, content) {
				t.Errorf("the file was changed, %v", err)
			}
		})
	}
}

func TestAnEmptyFileBecomesAStore(t *testing.T) {
	// What a kill between the making of the file and its first page leaves.
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, fileName), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	db := openStore(t, Config{Dir: dir, MaxBytes: 1 << 20})
	put(t, db, testEntry("k", 10))
}

func TestAFolderThatCannotBeIsExplained(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{file, filepath.Join(file, "sub")} {
		if _, err := Open(t.Context(), Config{Dir: dir}); err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("error is %v", err)
		}
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, fileName), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), Config{Dir: dir}); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("error is %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(ctx, Config{Dir: t.TempDir()}); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
}

func TestMigrationsThatHaveShippedAreNeverEdited(t *testing.T) {
	want := []string{
		"1 content ed1da0ff",
		"2 batch ae7f6472",
		"3 caches b891e06e",
	}
	all, err := readMigrations(migrationFiles)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range all {
		got = append(got, fmt.Sprintf("%d %s %.4x", m.number, m.name, sha256.Sum256([]byte(m.sql))))
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("a change to the layout is a new file (-want +got):\n%s", d)
	}
}

func TestAnOlderStoreIsBroughtUpToDateInOneStep(t *testing.T) {
	files := shippedMigrations(t, 3)
	files["migrations/0004_more.sql"] = &fstest.MapFile{Data: []byte("CREATE TABLE more (id INTEGER PRIMARY KEY) STRICT;")}
	files["migrations/0005_broken.sql"] = &fstest.MapFile{Data: []byte("CREATE TABLE yet_more (id INTEGER PRIMARY KEY); INSERT INTO nothing VALUES (1);")}
	db := openStore(t, Config{MaxBytes: 1 << 20})
	e := testEntry("k", 10)
	put(t, db, e)
	applied := func() (names []string) {
		rows, err := db.reader.QueryContext(t.Context(), "SELECT name FROM migration ORDER BY number")
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var name string
			if err := rows.Scan(&name); err != nil {
				t.Fatal(err)
			}
			names = append(names, name)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		return names
	}
	if err := db.migrate(t.Context(), files); err == nil || !strings.Contains(err.Error(), "migration 5 (broken)") {
		t.Fatalf("error is %v", err)
	}
	if d := cmp.Diff([]string{"content", "batch", "caches"}, applied()); d != "" {
		t.Errorf("after one that fails (-want +got):\n%s", d)
	}
	delete(files, "migrations/0005_broken.sql")
	for range 2 {
		if err := db.migrate(t.Context(), files); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff([]string{"content", "batch", "caches", "more"}, applied()); d != "" {
		t.Errorf("after one that works (-want +got):\n%s", d)
	}
	if !held(t, db, e.Snapshot) {
		t.Error("an entry was lost on the way")
	}
}

// shippedMigrations are the first n that there are.
func shippedMigrations(t *testing.T, n int) fstest.MapFS {
	t.Helper()
	names, err := fs.Glob(migrationFiles, "migrations/*.sql")
	if err != nil || len(names) < n {
		t.Fatal(names, err)
	}
	files := fstest.MapFS{}
	for _, name := range names[:n] {
		text, err := fs.ReadFile(migrationFiles, name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = &fstest.MapFile{Data: text}
	}
	return files
}

// oldStore makes a folder with a file as a sift of that layout left it: see
// testdata/README.md.
func oldStore(t *testing.T, layout int) string {
	t.Helper()
	names, err := filepath.Glob(fmt.Sprintf("testdata/layout-%d.*.gz", layout))
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	dir := t.TempDir()
	for _, name := range names {
		packed, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer packed.Close()
		r, err := gzip.NewReader(packed)
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		_, ending, _ := strings.Cut(strings.TrimSuffix(filepath.Base(name), ".gz"), ".")
		if err := os.WriteFile(filepath.Join(dir, "sift."+ending), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestAStoreOfAnOlderLayoutIsUpgradedInPlace(t *testing.T) {
	t.Parallel()
	for layout := 1; layout <= 2; layout++ {
		t.Run(fmt.Sprint("layout ", layout), func(t *testing.T) {
			dir := oldStore(t, layout)
			config := Config{Dir: dir, MaxBytes: 1 << 20, RecoveredBytes: 1 << 20, DigestBytes: 1 << 20, EmbedBytes: 1 << 20}
			for round := range 2 { // once to upgrade it, once as it is then
				db, err := Open(t.Context(), config)
				if err != nil {
					t.Fatal(err)
				}
				checkSound(t, db)
				if d := cmp.Diff([]string{"second", "third", "fourth", "first"}, lastUsed(t, db)); d != "" && round == 0 {
					t.Errorf("order of use (-want +got):\n%s", d)
				}
				for _, e := range []struct{ class, url, snapshot string }{
					{"default", "https://example.org/a", "first"}, {"default", "https://example.org/b", "second"}, {"other", "https://example.org/a", "fourth"},
				} {
					got, ok, err := db.Latest(t.Context(), e.class, e.url)
					if err != nil || !ok || got.Snapshot != e.snapshot || got.ETag != `"`+e.snapshot+`"` || got.Recovered != nil ||
						string(got.Body) != strings.Repeat("<p>"+e.snapshot+"</p>\n", 500) || string(got.Document) != `{"title":"`+e.snapshot+`"}` {
						t.Errorf("%+v: %v, %v, %+v", e, ok, err, got)
					}
					if _, ok, err := db.LatestRecovered(t.Context(), e.class, e.url); ok || err != nil {
						t.Errorf("a copy of a page is a recovered one: %v, %v", ok, err)
					}
				}
				if _, ok, err := db.BySnapshot(t.Context(), "default", "third"); !ok || err != nil {
					t.Errorf("a copy that answers no other request: %v, %v", ok, err)
				}
				want := map[Cache]int64{CacheContent: 4, CacheRecovered: 0, CacheDigest: 0, CacheEmbed: 0}
				for cache, n := range want {
					if s, err := db.StatsOf(t.Context(), cache); err != nil || s.Entries != n {
						t.Errorf("%s: %+v, %v", cache, s, err)
					}
				}
				if layout == 2 {
					if j, found, err := storetest.Whole(t.Context(), db, "a", "job", -1, leaseAt(0)); err != nil || !found || j.TargetsDone != 1 || len(j.Targets[0].Result) != 100 {
						t.Errorf("the job: %+v, %v, %v", j, found, err)
					}
				}
				if err := db.Close(); err != nil {
					t.Fatal(err)
				}
			}
			// And it does all that a new one does.
			db := openStore(t, config)
			createJob(t, db, "b", 3)
			e := recoveredEntry("https://example.org/a", 10)
			put(t, db, e)
			if got, ok, err := db.LatestRecovered(t.Context(), e.Class, e.Key); !ok || err != nil || got.Snapshot != e.Snapshot {
				t.Errorf("%v, %v", ok, err)
			}
			if err := db.PutValues(t.Context(), CacheDigest, "default", map[string][]byte{"k": []byte("v")}); err != nil {
				t.Error(err)
			}
			checkSound(t, db)
		})
	}
}

func TestAGapOrAnOddNameAmongMigrationsIsRefused(t *testing.T) {
	for _, names := range [][]string{{"0002_b.sql"}, {"0001_a.sql", "0003_c.sql"}, {"1_a.sql"}, {"0001.sql"}, {"0001_a.sql", "0001_b.sql"}} {
		files := fstest.MapFS{}
		for _, name := range names {
			files["migrations/"+name] = &fstest.MapFile{}
		}
		if _, err := readMigrations(files); err == nil {
			t.Errorf("%q were taken", names)
		}
	}
}

func TestProcessesMayOpenANewOrAnOldFolderAtOnce(t *testing.T) {
	t.Parallel()
	for layout := range 3 {
		dir := filepath.Join(t.TempDir(), "new")
		if layout > 0 { // or one that each of them finds too old
			dir = oldStore(t, layout)
		}
		var children []*child
		for range 4 {
			children = append(children, startChild(t, "open", dir))
		}
		for _, c := range children { // the starting signal
			if err := c.in.Close(); err != nil {
				t.Fatal(err)
			}
		}
		var snapshots []string
		for _, c := range children {
			snapshots = append(snapshots, c.lines()...)
			c.end(t)
		}
		db := openStore(t, Config{Dir: dir, MaxBytes: 1 << 30})
		if len(snapshots) != len(children) {
			t.Errorf("%d children printed %q", len(children), snapshots)
		}
		for _, s := range snapshots {
			if !held(t, db, s) {
				t.Errorf("%s is lost", s)
			}
		}
		checkSound(t, db)
	}
}
