package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"sift.build/sift/internal/app"
	"sift.build/sift/internal/sift"
)

func (p *program) convertCommand() *cobra.Command {
	var mode, base string
	var asJSON bool
	c := &cobra.Command{
		Use:   "convert [flags] FILE…",
		Short: "Convert local HTML files to Markdown",
		Long: `Convert local HTML files, whole, on all cores. The content goes to standard
output in the order of the files; notices go to standard error. "-" reads one
file from standard input. No network and no cache are used.`,
		Example: `  sift convert page.html
  sift convert --base-url https://example.com/docs/ --mode links page.html
  sift convert --json *.html > pages.jsonl`,
		Args: cobra.MinimumNArgs(1),
	}
	f := c.Flags()
	f.StringVar(&mode, "mode", string(sift.ModeClean), "`MODE`: "+modeList())
	f.StringVar(&base, "base-url", "", "`URL` that relative links are resolved against")
	f.BoolVar(&asJSON, "json", false, `print one JSON envelope a line, with "file"; failures too`)
	_ = c.RegisterFlagCompletionFunc("mode", cobra.FixedCompletions(modeNames(), cobra.ShellCompDirectiveNoFileComp))
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if !slices.Contains(sift.Modes(), sift.Mode(mode)) {
			return usagef("unknown mode %q; the modes are %s", mode, modeList())
		}
		if base != "" {
			if u, err := url.Parse(base); err != nil || !u.IsAbs() || u.Host == "" {
				return usagef("--base-url %q is not an absolute URL", base)
			}
		}
		if n := slices.Index(args, "-"); n >= 0 && slices.Contains(args[n+1:], "-") {
			return usagef(`"-" stands for standard input and can be given once`)
		}
		cfg, err := p.load(nil)
		if err != nil {
			return err
		}
		conv := app.NewConverter(cfg, base, sift.Mode(mode))
		return p.convertAll(cmd.Context(), conv, args, asJSON)
	}
	return c
}

// converted is what one file came to.
type converted struct {
	answer *sift.Answer
	err    error
}

func (p *program) convertAll(ctx context.Context, conv *app.Converter, files []string, asJSON bool) error {
	results := make([]chan converted, len(files))
	for i := range results {
		results[i] = make(chan converted, 1)
	}
	workers := min(runtime.NumCPU(), len(files))
	// No worker runs far ahead of the printing: what is finished is held in
	// memory until its turn.
	ahead := make(chan struct{}, 4*workers)
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	next := make(chan int)
	wg.Go(func() {
		defer close(next)
		for i := range files {
			select {
			case ahead <- struct{}{}:
			case <-ctx.Done():
				return
			}
			select {
			case next <- i:
			case <-ctx.Done():
				return
			}
		}
	})
	for range workers {
		wg.Go(func() {
			for i := range next {
				results[i] <- p.convertOne(ctx, conv, files[i])
			}
		})
	}

	failed, code := 0, exitOK
	for i, file := range files {
		var r converted
		select {
		case r = <-results[i]:
			<-ahead
		case <-ctx.Done():
			return ctx.Err()
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if r.err != nil {
			failed++
			c, _ := codeOf(ctx, r.err)
			if code == exitOK {
				code = c
			}
		}
		if err := p.printConverted(file, r, asJSON, len(files) > 1); err != nil {
			return err
		}
	}
	switch {
	case failed == 0:
		return nil
	case failed < len(files):
		return &exitError{exitPartial}
	default:
		return &exitError{code}
	}
}

func (p *program) convertOne(ctx context.Context, conv *app.Converter, file string) converted {
	in := p.in
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return converted{err: &usageError{err}}
		}
		defer f.Close()
		in = f
	}
	body, err := io.ReadAll(io.LimitReader(in, conv.MaxBytes()+1))
	if err != nil {
		return converted{err: fmt.Errorf("read %s: %w", file, err)}
	}
	a, err := conv.Convert(ctx, file, body)
	return converted{answer: a, err: err}
}

func (p *program) printConverted(file string, r converted, asJSON, many bool) error {
	if asJSON {
		name, err := json.Marshal(file)
		if err != nil {
			return fmt.Errorf("encode file name: %w", err)
		}
		line := bytes.NewBufferString(`{"file":`)
		line.Write(name)
		line.WriteByte(',')
		var rest []byte
		if r.err != nil {
			f := sift.AsFailure(r.err)
			if _, ok := errors.AsType[*usageError](r.err); ok {
				f = sift.Fail(sift.CodeInvalid, "%v", r.err)
			}
			if rest, err = json.Marshal(f.JSON()); err != nil {
				return fmt.Errorf("encode failure: %w", err)
			}
		} else {
			rest = (&sift.Envelope{Answer: r.answer}).AppendJSON(nil)
		}
		line.Write(rest[1:])
		line.WriteByte('\n')
		_, err = line.WriteTo(p.out)
		return err
	}
	if r.err != nil {
		fmt.Fprintf(p.err, "sift: %s: %v\n", file, r.err)
		return nil
	}
	for _, w := range r.answer.Warnings {
		fmt.Fprintf(p.err, "%s: %s: %s\n", file, w.Code, w.Message)
	}
	text := r.answer.Content
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	if many {
		text += "\n"
	}
	_, err := io.WriteString(p.out, text)
	return err
}
