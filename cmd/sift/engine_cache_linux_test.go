package main

import (
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"sift.build/sift/internal/pdf/pdftest"
)

// Compiling the PDF engine takes a processor for seconds, and longer where many
// other tests run.
const compiling = 5 * time.Minute

// cold is a folder without a compiled engine, and the variable that names it.
func cold(t *testing.T) (folder string, env []string) {
	t.Helper()
	if testing.Short() {
		t.Skip("compiles the PDF engine, which takes seconds; make test does it")
	}
	home := t.TempDir()
	return filepath.Join(home, "sift"), []string{"XDG_CACHE_HOME=" + home}
}

// patient waits for the end of a process that may have to compile first.
func (p *process) patient(t *testing.T) (code int) {
	t.Helper()
	deadline := time.NewTimer(compiling)
	defer deadline.Stop()
	select {
	case <-p.exited:
	case <-deadline.C:
		t.Fatalf("it did not end; it wrote\n%s%s", p.out, p.log)
	}
	return p.ProcessState.ExitCode()
}

// holdsOneEngine fails unless the folder holds one compiled engine, its lock,
// and nothing else.
func holdsOneEngine(t *testing.T, folder string) {
	t.Helper()
	list, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range list {
		name, _, _ := strings.Cut(e.Name(), "-")
		names = append(names, name)
	}
	if !slices.Equal(names, []string{"pdfium", "pdfium.lock"}) {
		t.Errorf("the folder holds %v", list)
	}
}

// machineCode is the largest file in a folder.
func machineCode(t *testing.T, folder string) (name string, size int64) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() && info.Size() > size {
			name, size = path, info.Size()
		}
		return nil
	})
	if err != nil || size < 5<<20 {
		t.Fatalf("%s of %d bytes, %v", name, size, err)
	}
	return name, size
}

// flip damages one byte of a file.
func flip(t *testing.T, name string, at int64) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b := make([]byte, 1)
	if _, err := f.ReadAt(b, at); err != nil {
		t.Fatal(err)
	}
	b[0] ^= 0xff
	if _, err := f.WriteAt(b, at); err != nil {
		t.Fatal(err)
	}
}

func TestTwoProcessesThatBeginAtOnceCompileTheEngineOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	folder, env := cold(t)
	file := writeFile(t, dir, "three.pdf", string(pdftest.Markers(3)))
	both := []*process{startIn(t, command(dir, env, "convert", file)), startIn(t, command(dir, env, "convert", file))}
	said := 0
	for _, p := range both {
		if code := p.patient(t); code != 0 || !strings.Contains(p.out.String(), "marker-page-3") {
			t.Errorf("exit %d, %s%s", code, p.out, p.log)
		}
		said += strings.Count(p.log.String(), "preparing the PDF engine")
	}
	if said != 1 {
		t.Errorf("it was compiled %d times", said)
	}
	holdsOneEngine(t, folder)
}

func TestACompilationThatIsKilledIsMadeAgainAndLeavesNothing(t *testing.T) {
	t.Parallel()
	for _, who := range []string{"the command", "the compiler"} {
		t.Run(who, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			folder, env := cold(t)
			file := writeFile(t, dir, "three.pdf", string(pdftest.Markers(3)))

			p := startIn(t, command(dir, env, "convert", file))
			var pids []int
			lookFor(t, compiling, "the compiler is at work", 5*time.Millisecond, func() bool {
				work, _ := filepath.Glob(filepath.Join(folder, "tmp-*", "*"))
				pids = readersOf(p.Process.Pid, "pdf-warm")
				return len(work) > 0 && len(pids) > 0
			})
			victim := pids[0]
			if who == "the command" {
				victim = p.Process.Pid
			}
			if err := syscall.Kill(victim, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			p.patient(t)
			areGone(t, pids)
			if who == "the compiler" {
				// The command goes on with its second folder.
				if code := p.ProcessState.ExitCode(); code != 0 || !strings.Contains(p.out.String(), "marker-page-3") {
					t.Errorf("exit %d, %s%s", code, p.out, p.log)
				}
				if list, err := os.ReadDir(folder); err != nil || len(list) != 1 {
					t.Errorf("the compiler left %v, %v", list, err)
				}
			}

			p = startIn(t, command(dir, env, "convert", file))
			if code := p.patient(t); code != 0 || !strings.Contains(p.out.String(), "marker-page-3") {
				t.Errorf("afterwards: exit %d, %s%s", code, p.out, p.log)
			}
			holdsOneEngine(t, folder)
		})
	}
}

func TestAnEngineThatIsDamagedWhileTheServiceRunsIsMended(t *testing.T) {
	t.Parallel()
	site, dir := newPDFSite(t), t.TempDir()
	folder, env := cold(t)
	s := serve(t, dir, env, "--config", writeFile(t, dir, "sift.toml", site.settings("[fetch]\ntimeout = \"5m\"\n")))
	ready := func(times int) {
		t.Helper()
		lookFor(t, compiling, fmt.Sprintf("the engine was made %d times", times), 50*time.Millisecond, func() bool {
			return strings.Count(s.log.String(), "the PDF engine is ready") == times
		})
	}
	ready(1)
	name, size := machineCode(t, folder)
	patient := &http.Client{Timeout: compiling}
	defer patient.CloseIdleConnections()
	for i, damage := range []func(){
		func() { flip(t, name, size/2) },
		func() {
			if err := os.RemoveAll(folder); err != nil {
				t.Fatal(err)
			}
		},
	} {
		damage()
		// Two at once find it.
		var both sync.WaitGroup
		for _, query := range []string{"a", "b"} {
			both.Go(func() {
				resp, err := patient.Get(s.url + "/v1/fetch?url=" + site.at("", "pages", query+strconv.Itoa(i)))
				if err != nil {
					t.Error(err)
					return
				}
				defer resp.Body.Close()
				if body, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != 200 {
					t.Errorf("%d: %d %s, %v", i, resp.StatusCode, body, err)
				}
			})
		}
		both.Wait()
		ready(i + 2)
		holdsOneEngine(t, folder)
	}
	s.stop(t)
}

func TestAFolderForTheEngineThatCannotBeWrittenIsPassedOver(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		how     string
		size    int
		damaged bool
		says    string
	}{
		"read-only":                     {"ro", 1 << 20, false, "read-only file system"},
		"read-only, its engine damaged": {"ro", 64 << 20, true, "damaged and cannot be removed"},
		"full":                          {"rw", 4 << 20, false, "no space left on device"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			site, dir := newPDFSite(t), t.TempDir()
			_, env := cold(t)
			home := filepath.Join(dir, "cache")
			if c.damaged {
				file := writeFile(t, dir, "one.pdf", string(pdftest.Markers(1)))
				p := startIn(t, command(dir, append(env, "XDG_CACHE_HOME="+home+"-contents"), "convert", file))
				if code := p.patient(t); code != 0 {
					t.Fatal(p.log)
				}
				name, size := machineCode(t, home+"-contents")
				flip(t, name, size/2)
			}
			with := func(c *exec.Cmd) *exec.Cmd {
				c.Env = append(c.Env, "XDG_CACHE_HOME="+home, "SIFT_FETCH_TIMEOUT=5m")
				return c
			}
			file := writeFile(t, dir, "three.pdf", string(pdftest.Markers(3)))
			config := writeFile(t, dir, "sift.toml", site.settings(""))

			p := startIn(t, with(mounted(t, dir, home, c.size, c.how, "fetch", "--config", config, site.at("", "pages", ""))))
			if code := p.patient(t); code != 0 || !strings.Contains(p.out.String(), "marker-page-3") {
				t.Errorf("exit %d, %s%s", code, p.out, p.log)
			}
			holdsOneEngine(t, filepath.Join(dir, "state", "cache"))
			tidy(t, dir)

			// Without another folder it is one clear sentence, and the reason.
			cmd := with(mounted(t, dir, home, c.size, c.how, "convert", file))
			cmd.Env = append(cmd.Env, "SIFT_DATA_DIR="+home+"/state")
			p = startIn(t, cmd)
			if code := p.patient(t); code != exitFailure || !containsAll(strings.ReplaceAll(p.log.String(), "\n", " "), []string{
				"sift: ", "cause: the PDF engine cannot be kept anywhere", "$XDG_CACHE_HOME", home + "/sift", home + "/state/cache", c.says,
			}) {
				t.Errorf("exit %d, it said %s", code, p.log)
			}
			tidy(t, dir)
		})
	}
}

func TestAFullTemporaryFolderIsSaidAndNothingIsLeft(t *testing.T) {
	t.Parallel()
	prepare(t)
	site, dir := newPDFSite(t), t.TempDir()
	long := append(pdftest.Markers(3), make([]byte, 6<<20)...)
	site.files["long"] = func() []byte { return long }
	config := writeFile(t, dir, "sift.toml", site.settings(""))
	file := writeFile(t, dir, "long.pdf", string(long))
	tmp := filepath.Join(dir, "tmp")
	for name, c := range map[string]struct {
		args []string
		code int
	}{
		"fetch":   {[]string{"fetch", "--config", config, site.at("", "long", "")}, exitFailure},
		"convert": {[]string{"convert", file}, exitFailure},
	} {
		cmd := mounted(t, dir, tmp, 1<<20, "rw", c.args...)
		cmd.Env = append(cmd.Env, "TMPDIR="+tmp)
		p := startIn(t, cmd)
		p.endsWith(t, c.code)
		if got := p.log.String(); !containsAll(got, []string{"cause: ", "no space left on device"}) {
			t.Errorf("%s said %q", name, got)
		}
	}

	cmd := mounted(t, dir, tmp, 1<<20, "rw", "serve", "--listen", "127.0.0.1:0", "--config", config)
	cmd.Env = append(cmd.Env, "TMPDIR="+tmp)
	s, err := listening(startIn(t, cmd))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got := s.fetch("", site.at("", "long", "")); got.status != 500 || strings.Contains(got.body, "space") || strings.Contains(got.body, tmp) {
			t.Errorf("a long file: %+v", got)
		}
	}
	s.waitLog(t, "no space left on device")
	if got := s.fetch("", site.at("", "pages", "")); got.status != 200 {
		t.Errorf("a short one: %+v", got)
	}
	// The service is in a name space of its own, and its files are seen through it.
	var disk syscall.Statfs_t
	if err := syscall.Statfs(fmt.Sprintf("/proc/%d/root%s", s.Process.Pid, tmp), &disk); err != nil {
		t.Fatal(err)
	}
	if disk.Blocks*uint64(disk.Bsize) != 1<<20 || disk.Bfree != disk.Blocks {
		t.Errorf("%d of %d blocks are free", disk.Bfree, disk.Blocks)
	}
	s.stop(t)
}
