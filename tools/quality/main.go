// Command quality measures how well sift finds the passages that answer a
// question: over the questions in testdata/questions, beside plain BM25 over
// windows of a fixed size.
//
//	go run ./tools/quality -misses
//
// docs/question.md says what the figures mean.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"text/tabwriter"

	"sift.build/sift/internal/child"
	"sift.build/sift/internal/pdf"
)

func main() {
	child.Main(pdf.Workers())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the command without its process.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("quality", flag.ContinueOnError)
	flags.SetOutput(stderr)
	set := flags.String("questions", "testdata/questions", "folder of the questions")
	documents := flags.Bool("documents", false, "a line for each document")
	misses := flags.Bool("misses", false, "the questions of the tuning half that were not answered rightly")
	show := flags.String("show", "", "write a document, as \"goroot doc/go_mem.html\", the way that it is searched, and nothing else")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	l, err := newLibrary(*set)
	if err == nil {
		defer l.pdfs.Close()
		if *show != "" {
			err = l.show(ctx, stdout, *show)
		} else {
			err = l.report(ctx, stdout, *documents, *misses)
		}
	}
	if err != nil {
		fmt.Fprintln(stderr, "quality:", err)
		return 1
	}
	return 0
}

func (l *library) show(ctx context.Context, out io.Writer, name string) error {
	text, err := l.document(ctx, name)
	if err != nil {
		return err
	}
	_, err = io.WriteString(out, text.Content)
	return err
}

// report measures every document and prints the tables.
func (l *library) report(ctx context.Context, out io.Writer, documents, misses bool) error {
	all, err := l.all(ctx, func(questions) bool { return true })
	if err != nil {
		return err
	}
	for _, h := range []half{tuning, heldOut} {
		ours, plain := sum(all, h)
		fmt.Fprintf(out, "\n%s half: %d questions with an answer, %d without\n\n", h, ours.answerable, ours.unanswerable)
		table(out, []row{{"plain BM25, windows", plain}, {"sift", ours}})
	}
	if documents {
		fmt.Fprintln(out)
		var rows []row
		for _, m := range all {
			rows = append(rows, row{m.file + " (" + string(m.half) + ")", m.ours}, row{"  plain", m.plain})
		}
		table(out, rows)
	}
	if misses {
		for _, m := range all {
			for _, q := range m.missed {
				if m.half == tuning {
					fmt.Fprintf(out, "%s: %s\n", m.file, q)
				}
			}
		}
	}
	return nil
}

// all measures the documents that keep says.
func (l *library) all(ctx context.Context, keep func(questions) bool) ([]measured, error) {
	set, err := readSet(l.set)
	if err != nil {
		return nil, err
	}
	var out []measured
	for _, q := range set {
		if !keep(q) {
			continue
		}
		m, err := l.measure(ctx, q)
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

// sum adds up the documents of one half.
func sum(all []measured, h half) (ours, plain figures) {
	for _, m := range all {
		if m.half == h {
			ours.add(m.ours)
			plain.add(m.plain)
		}
	}
	return ours, plain
}

type row struct {
	name string
	figures
}

func table(out io.Writer, rows []row) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\trecall@1\trecall@3\trecall@5\tMRR\thanded back\tnothing: wrongly\trightly\tchars\ttokens\tof the page\t")
	for _, r := range rows {
		f := r.figures
		n := max(f.answerable, 1)
		fmt.Fprintf(w, "%s\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%d of %d\t%d of %d\t%d\t%d\t%.1f%%\t\n",
			r.name, f.recall(0), f.recall(1), f.recall(2), f.mrr(), share(f.given, f.answerable),
			f.falseNothing, f.answerable, f.trueNothing, f.unanswerable, f.chars/n, f.tokens/n, 100*share(f.tokens, f.pageTokens))
	}
	_ = w.Flush() // to the terminal, or to a buffer
}
