package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// realPages unpacks pages into dir and says what they are: every n-th
// page of the WCXB set where there is one, which is enough of every kind for a
// steady figure and few enough for a short run, else the pages of Go's own doc
// folder.
func realPages(ctx context.Context, wcxb, dir string, everyNth int) (files []string, what string, err error) {
	packed, err := filepath.Glob(filepath.Join(wcxb, "html", "*.html.gz"))
	if err != nil {
		return nil, "", err
	}
	if len(packed) == 0 {
		doc, err := goDoc(ctx)
		if err != nil {
			return nil, "", err
		}
		if files, err = filepath.Glob(filepath.Join(doc, "*.html")); err != nil {
			return nil, "", err
		}
		if len(files) == 0 {
			return nil, "", fmt.Errorf("no WCXB pages in %s and no HTML pages in %s", wcxb, doc)
		}
		return files, fmt.Sprintf("%d pages of Go's documentation (no WCXB pages in %s)", len(files), wcxb), nil
	}
	slices.Sort(packed)
	for i := 0; i < len(packed); i += everyNth {
		file := filepath.Join(dir, strings.TrimSuffix(filepath.Base(packed[i]), ".gz"))
		if err := unpack(packed[i], file); err != nil {
			return nil, "", fmt.Errorf("unpack %s: %w", packed[i], err)
		}
		files = append(files, file)
	}
	return files, fmt.Sprintf("every %dth of the WCXB pages, %d in all", everyNth, len(files)), nil
}

func unpack(from, to string) error {
	packed, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = packed.Close() }()
	z, err := gzip.NewReader(packed)
	if err != nil {
		return err
	}
	const limit = 64 << 20
	b, err := io.ReadAll(io.LimitReader(z, limit+1))
	if err != nil {
		return err
	}
	if len(b) > limit {
		return fmt.Errorf("more than %d bytes", limit)
	}
	return os.WriteFile(to, b, 0o600)
}

// goDoc finds the folder of HTML pages that comes with Go.
func goDoc(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOROOT: %w", err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "doc"), nil
}

// bigPage makes a page of exactly size bytes out of what long pages are made
// of: sections with paragraphs, links, lists, tables and code. The same seed
// gives the same page.
func bigPage(size int, seed uint64) []byte {
	const end = "</article></main>\n<footer><p>The end of a long page</p></footer>\n</body>\n</html>\n"
	w := writer{random: rand.New(rand.NewPCG(seed, 1)), words: strings.Fields(vocabulary)}
	page := make([]byte, 0, size)
	page = fmt.Appendf(page, "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>Long page %d</title></head>\n<body>\n"+
		"<nav><ul><li><a href=\"/\">Home</a></li><li><a href=\"/about\">About</a></li></ul></nav>\n<main><article>\n<h1>A long page</h1>\n", seed)
	for n := 1; ; n++ {
		w.section(n)
		if len(page)+w.out.Len()+len(end) > size {
			break
		}
		page = append(page, w.out.Bytes()...)
		w.out.Reset()
	}
	page = append(page, bytes.Repeat([]byte("\n"), max(0, size-len(page)-len(end)))...)
	return append(page, end...)
}

// writer writes sections of made-up text.
type writer struct {
	random *rand.Rand
	words  []string
	out    bytes.Buffer
}

// text writes n words.
func (w *writer) text(n int) {
	for i := range n {
		if i > 0 {
			w.out.WriteByte(' ')
		}
		w.out.WriteString(w.words[w.random.IntN(len(w.words))])
	}
}

// in writes n words between two pieces of markup.
func (w *writer) in(before string, n int, after string) {
	w.out.WriteString(before)
	w.text(n)
	w.out.WriteString(after)
}

func (w *writer) section(n int) {
	w.in(fmt.Sprintf("<h2 id=\"s%d\">", n), 4, "</h2>\n")
	for range 2 + w.random.IntN(4) {
		w.in("<p>", 20+w.random.IntN(60), "")
		w.in(fmt.Sprintf(" <a href=\"/topic/%d\">", w.random.IntN(1000)), 2, "</a> ")
		w.in("", 10+w.random.IntN(20), " ")
		w.in("<em>", 1, "</em>.</p>\n")
	}
	switch n % 4 {
	case 1:
		w.out.WriteString("<ul>\n")
		for range 5 {
			w.in("<li>", 8, "</li>\n")
		}
		w.out.WriteString("</ul>\n")
	case 2:
		w.out.WriteString("<table>\n<tr><th>Name</th><th>Count</th><th>Share</th></tr>\n")
		for range 8 {
			w.in("<tr><td>", 1, "</td>")
			fmt.Fprintf(&w.out, "<td>%d</td><td>%d %%</td></tr>\n", w.random.IntN(10_000), w.random.IntN(100))
		}
		w.out.WriteString("</table>\n")
	case 3:
		w.out.WriteString("<pre><code class=\"language-go\">")
		for range 6 {
			fmt.Fprintf(&w.out, "x%d := f(%d) &amp; mask\n", w.random.IntN(100), w.random.IntN(100))
		}
		w.out.WriteString("</code></pre>\n")
	}
}

const vocabulary = `the a river stone house garden letter winter morning engine paper window bridge market signal
	harbour ladder number answer kitchen question station silver corner mountain teacher theatre village weather
	animal history science measure pattern problem process quality reason record result season shape side simple
	small sound source story strong system table thing travel under until value water where which while world
	write yellow young carries follows holds keeps leaves makes opens reaches shows stands takes`
