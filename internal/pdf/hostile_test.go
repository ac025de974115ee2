package pdf

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sift.build/sift/internal/child"
	"sift.build/sift/internal/pdf/pdftest"
	"sift.build/sift/internal/sift"
)

// What no file may make a child take, whatever is in it.
const (
	mostMemory = 200 << 20
	mostCPU    = 20 * time.Second
)

// tooMuch are the files that PDFium cannot read within the bounds, and why. A
// typed failure is right for them, as it is for those that have no text; all
// others end by themselves.
func tooMuch() map[string]string {
	return map[string]string{
		"saves-1m":   "memory: a hundred bytes for each saved state",
		"words-100k": "memory: a kilobyte for each piece of text",
	}
}

// hostileEnv makes this program write the hostile files into the folder that it
// names. A process of its own does that, since what the kernel counts as a
// child's memory begins with its parent's.
const (
	hostileEnv = "SIFT_TEST_WRITES_HOSTILE_PDFS"
	quickEnv   = "SIFT_TEST_QUICK"
)

// writeHostile writes those of the files that test wants.
func writeHostile(dir string) error {
	for i, h := range pdftest.Hostile() {
		if !wanted(i, os.Getenv(quickEnv) != "") {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, h.Name), h.Make(), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// wanted says which of the files are read: all, or in a quick run a few.
func wanted(i int, quick bool) bool { return !quick || i%9 == 4 }

// hostileFiles gives a folder with the files of pdftest.Hostile that are wanted.
func hostileFiles(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), self)
	c.Env = []string{hostileEnv + "=" + dir}
	if testing.Short() {
		c.Env = append(c.Env, quickEnv+"=1")
	}
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("write the files: %v\n%s", err, out)
	}
	return dir
}

// trial is one file on its way through a reader, and what became of it.
type trial struct {
	name    string
	path    string
	request Request
	doc     *sift.Document
	failure *sift.Failure
	outcome Outcome
}

// text is what was read, as plain text.
func (tr *trial) text(t *testing.T) string {
	t.Helper()
	if tr.doc == nil {
		return ""
	}
	return content(t, tr.doc, sift.ModeText)
}

func (tr *trial) String() string {
	s := fmt.Sprintf("%-20s %6.2f s CPU  %3d MB  %-8s", tr.name, tr.outcome.Usage.CPU.Seconds(), tr.outcome.Usage.MaxRSS>>20, tr.outcome.Result)
	if tr.outcome.Killed != "" {
		s += " killed: " + string(tr.outcome.Killed)
	}
	if tr.failure != nil {
		s += fmt.Sprintf(" %s: %s", tr.failure.Code, tr.failure.Message)
	}
	return s
}

// try reads the files, two at a time as the product does, each with the limits
// of the product and a good file right after it, and holds each to the bounds.
func try(t *testing.T, trials []*trial) {
	t.Helper()
	// What other tests have held does not count.
	debug.FreeOSMemory()
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // where there is no such file nothing is counted
	before := left(t)
	temp := t.TempDir()
	launcher := child.New(child.Config{Memory: 640 << 20})
	next := make(chan *trial)
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			var told Outcome
			r := New(Config{
				Launcher: launcher, CacheDirs: []string{filepath.Join(pdftest.CacheHome(), "sift")}, TempDir: temp,
				// A child that gets little of a busy machine is no slower for it.
				Wall:  10 * time.Minute,
				Trace: &Trace{Done: func(o Outcome) { told = o }},
			})
			defer r.Close()
			for tr := range next {
				if f, err := os.Open(tr.path); err != nil {
					t.Error(err)
				} else {
					tr.request.File = f
					doc, err := r.Read(t.Context(), tr.request)
					tr.doc, tr.outcome = doc, told
					if err != nil {
						tr.failure = sift.AsFailure(err)
					}
					_ = f.Close()
					tr.check(t)
				}
				stillGood(t, r)
			}
		})
	}
	for _, tr := range trials {
		next <- tr
	}
	close(next)
	all.Wait()

	if files, err := os.ReadDir(temp); err != nil || len(files) > 0 {
		t.Errorf("in the folder for temporary files there are %v, %v", files, err)
	}
	if used, waiting := launcher.Load(); used != 0 || waiting != 0 {
		t.Errorf("%d bytes are still given out, %d wait for some", used, waiting)
	}
	if after := left(t); after != before {
		t.Errorf("before there were\n%s\nand afterwards there are\n%s", before, after)
	}
	if own := ownPeak(t); own > mostMemory*3/4 {
		t.Errorf("this process has held %d MB, so that a child's count says nothing", own>>20)
	}
	for title, by := range map[string]func(a, b *trial) int{
		"most CPU":    func(a, b *trial) int { return cmp.Compare(b.outcome.Usage.CPU, a.outcome.Usage.CPU) },
		"most memory": func(a, b *trial) int { return cmp.Compare(b.outcome.Usage.MaxRSS, a.outcome.Usage.MaxRSS) },
	} {
		slices.SortStableFunc(trials, by)
		for _, tr := range trials[:min(5, len(trials))] {
			t.Logf("%s: %s", title, tr)
		}
	}
}

// check holds what became of one file to what must hold for every file.
func (tr *trial) check(t *testing.T) {
	t.Helper()
	u := tr.outcome.Usage
	if u.MaxRSS > mostMemory {
		t.Errorf("%s took more than %d MB", tr, mostMemory>>20)
	}
	if u.CPU > mostCPU || tr.outcome.Killed != "" {
		t.Errorf("%s did not end by itself in time", tr)
	}
	if tr.failure == nil {
		return
	}
	switch tr.failure.Code {
	case sift.CodeUnsupported, sift.CodeTooLong, sift.CodeTimeout:
	default:
		t.Errorf("%s (%v) is no failure of a file", tr, tr.failure.Cause)
	}
	switch tr.outcome.Result {
	case ResultOK, ResultPartial, ResultNoText, ResultError:
		t.Errorf("%s failed and counts as %s", tr, tr.outcome.Result)
	}
}

// left is what a test must leave as it was: the children of this process and
// its descriptors.
func left(t *testing.T) string {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Logf("NOT CHECKED: nothing tells the descriptors and children of a process on %s: %v", runtime.GOOS, err)
		return ""
	}
	var list []string
	for _, fd := range fds {
		if to, err := os.Readlink("/proc/self/fd/" + fd.Name()); err == nil && !strings.HasPrefix(to, "/proc/") {
			list = append(list, to)
		}
	}
	slices.Sort(list)
	return fmt.Sprintf("children %v, descriptors %v", children(t, os.Getpid()), list)
}

// children lists the children of a process.
func children(t *testing.T, of int) []string {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, name := range stats {
		b, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		var state string
		var parent int
		_, rest, _ := strings.Cut(string(b), ") ")
		if _, err := fmt.Sscan(rest, &state, &parent); err == nil && parent == of {
			found = append(found, string(b[:len(b)-len(rest)])+state)
		}
	}
	return found
}

// ownPeak is the most memory that this process has held.
func ownPeak(t *testing.T) int64 {
	t.Helper()
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(b), "VmHWM:")
	var kib int64
	if _, err := fmt.Sscan(rest, &kib); err != nil {
		t.Fatal(err)
	}
	return kib << 10
}

// warmed sees to it that what happens once has happened before something is
// measured.
func warmed(t *testing.T) {
	t.Helper()
	stillGood(t, newReader(t, nil))
}

func TestNoFileHarmsMoreThanItsOwnReading(t *testing.T) {
	warmed(t)
	dir := hostileFiles(t)
	var trials []*trial
	files := map[string]pdftest.HostileFile{}
	for i, h := range pdftest.Hostile() {
		if !wanted(i, testing.Short()) {
			continue
		}
		files[h.Name] = h
		trials = append(trials, &trial{name: h.Name, path: filepath.Join(dir, h.Name)})
	}
	start := time.Now()
	try(t, trials)
	var cpu time.Duration
	for _, tr := range trials {
		h := files[tr.name]
		cpu += tr.outcome.Usage.CPU
		if h.Text == "" || strings.Contains(tr.text(t), h.Text) {
			continue
		}
		if why, known := tooMuch()[h.Name]; known {
			t.Logf("%s (%s)", tr, why)
		} else {
			t.Errorf("%s: %s\n%q is not in %q", tr, h.Why, h.Text, tr.text(t))
		}
	}
	t.Logf("%d of %d files in %v, %v of processor time", len(trials), len(pdftest.Hostile()), time.Since(start).Round(time.Second), cpu.Round(time.Second))
}

// The painter and tesseract are held to the same bounds. Two of these pictures
// would be painted for minutes.
func TestHostilePicturesHarmNothingWhenTheyAreRecognised(t *testing.T) {
	if testing.Short() {
		t.Skip("paints for half a minute; make test does it")
	}
	const cpu = 3 * time.Second
	painted := 0
	for _, h := range pdftest.Hostile() {
		if !strings.HasPrefix(h.Name, "image-") && !strings.HasPrefix(h.Name, "jbig2-") && !strings.HasPrefix(h.Name, "jpx-") {
			continue
		}
		r := newReader(t, func(c *Config) {
			c.OCR, c.CPU, c.Wall = true, cpu, 10*time.Minute
			c.Launcher = child.New(child.Config{Memory: 640 << 20, Trace: &child.Trace{Ended: func(name string, u child.Usage, err error) {
				if u.CPU > cpu+time.Second && name != "tesseract" || u.MaxRSS > mostMemory {
					t.Errorf("%s: %s took %v and %d MB, %v", h.Name, name, u.CPU, u.MaxRSS>>20, err)
				}
				if name == workerRender {
					painted++
				}
			}}})
		})
		doc := read(t, r, Request{Body: h.Make()})
		for _, w := range doc.Warnings {
			if w.Code != sift.WarnNoText && w.Code != sift.WarnFallback {
				t.Errorf("%s: %v", h.Name, w)
			}
		}
		stillGood(t, r)
	}
	if painted < 6 {
		t.Errorf("only %d pictures were painted", painted)
	}
}
