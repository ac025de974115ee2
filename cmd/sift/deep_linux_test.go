package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What is deep or large on purpose, as large as a body may be: the text in front
// of it, in it and behind it comes out, for no more time and memory than a page
// of that size may take. The figures are bounds, several times what is needed:
// the machine may be busy.
func TestDeepAndLargeInputTakesBoundedTimeAndMemoryAndItsTextComesOut(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const mega = 1_000_000
	fill := func(piece string) string { return strings.Repeat(piece, 99*mega/10/len(piece)) }
	word := func(c string) string { return strings.Repeat(c, mega) }
	row := func(cell string) string { return "<tr>" + strings.Repeat(cell, 100_000) }
	for _, c := range []struct {
		name, file, in string
		within         []string // that come out too
		most           int      // bytes of output
	}{
		{"600 nested divs", "a.html", strings.Repeat("<div>", 600) + "<p>In the middle hangs a lamp.</p>" + strings.Repeat("</div>", 600), []string{"hangs a lamp"}, 1000},
		{"100,000 table columns", "a.html", "<table>" + row("<th>a") + row("<td>b") + "</table>", []string{strings.Repeat("| a ", 100_000) + "|", strings.Repeat("| b ", 100_000) + "|"}, 2 * mega},
		{"one line of 10 MB", "a.html", "<p>" + fill("The tide turns twice a day. "), []string{strings.TrimSpace(fill("The tide turns twice a day. "))}, 10 * mega},
		{"code of one line of 10 MB", "a.html", "<pre>" + fill("The tide turns twice a day. ") + "</pre>", []string{strings.TrimSpace(fill("The tide turns twice a day. "))}, 10 * mega},
		{"spans of 1,000,000,000", "a.html", "<table>" + fill("<tr><th colspan=1000000000>a<th rowspan=1000000000>b<td>lamp") + "</table>", []string{"lamp"}, 30 * mega},
		{"many tables with wide cells", "a.html", fill("<table><tr><th colspan=999>a<th>b<tr><td>c<td>lamp</table>"), []string{"lamp"}, 30 * mega},
		{"attributes of a megabyte", "a.html", `<p data-a="` + word("a") + `" style="` + word("b") + `" class="` + word("c") + `" id="` + word("d") + `" title="` + word("e") + `" hidden-x="` + word("f") +
			`">A lamp, <a href="https://x.example/` + word("g") + `">a long link</a>, <img alt="` + word("h") + `" src="/i.png"> <b aria-label="` + word("i") + `">and more</b>.`, []string{"A lamp, ", "a long link", "and more"}, 4 * mega},
		{"a feed with an entry of 10 MB", "a.xml", `<rss version="2.0"><channel><title>T</title><item><title>Start here: before it stands a bell</title><description>` + fill("The tide turns twice a day. ") + `at the bottom lies a coin</description></item></channel></rss>`,
			[]string{fill("The tide turns twice a day. ")}, 11 * mega},
		{"CSV of 100,000 columns", "a.csv", "stands a bell" + strings.Repeat(",a", 100_000) + "\n" + strings.Repeat("b,", 100_000) + "lies a coin\n", nil, mega},
		{"JSON of one line of 10 MB", "a.json", `["stands a bell"` + fill(`,"The tide turns twice a day."`) + `,"lies a coin"]`, []string{`,"The tide turns twice a day."`}, 30 * mega},
		{"Markdown of one line of 10 MB", "a.md", "# stands a bell\n\n" + fill("The *tide* turns [twice](x) a day. ") + "\n\nlies a coin\n", []string{fill("The *tide* turns [twice](x) a day. ")}, 10 * mega},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := c.in
			if strings.HasSuffix(c.file, ".html") {
				in = "<!doctype html><title>T</title><h1>Start here</h1><p>Before it stands a bell.</p>" + in + "<p>And at the bottom lies a coin.</p>"
			}
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, c.file), []byte(in), 0o600); err != nil {
				t.Fatal(err)
			}
			var out, log bytes.Buffer
			cmd := command(dir, nil, "convert", c.file)
			cmd.Stdout, cmd.Stderr = &out, &log
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			held := watch(cmd.Process.Pid)
			err := cmd.Wait()
			held.end()
			if err != nil {
				t.Fatalf("%v: %s", err, log.String())
			}
			for _, s := range append([]string{"stands a bell", "lies a coin"}, c.within...) {
				if !strings.Contains(out.String(), s) {
					t.Errorf("%s did not come out of %d bytes: %.100q…", fmt.Sprintf("%.40q", s), len(in), out.String())
				}
			}
			if out.Len() > c.most {
				t.Errorf("%d bytes became %d", len(in), out.Len())
			}
			cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
			t.Logf("%d bytes became %d in %v of CPU time and %d MB", len(in), out.Len(), cpu, held.servicePeak>>20)
			if cpu > 15*time.Second || held.servicePeak > 500<<20 {
				t.Errorf("took %v of CPU time and %d MB", cpu, held.servicePeak>>20)
			}
		})
	}
}
