package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"runtime"
	"slices"

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
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("no file given; name one, or \"-\" for standard input")
			}
			return nil
		},
	}
	f := c.Flags()
	f.StringVar(&mode, "mode", string(sift.ModeClean), "`MODE`: "+modeList())
	f.StringVar(&base, "base-url", "", "`URL` that relative links are resolved against; without it they become text")
	f.BoolVar(&asJSON, "json", false, `print one JSON envelope a line, with "file"; failures too`)
	_ = c.RegisterFlagCompletionFunc("mode", cobra.FixedCompletions(modeNames(), cobra.ShellCompDirectiveNoFileComp))
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if !slices.Contains(sift.Modes(), sift.Mode(mode)) {
			return unknownMode(mode)
		}
		if base != "" {
			if u, err := url.Parse(base); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
				return usagef("--base-url %q is not an absolute http or https URL", base)
			}
		}
		if n := slices.Index(args, "-"); n >= 0 && slices.Contains(args[n+1:], "-") {
			return errTwoInputs()
		}
		cfg, err := p.loadWithoutStore()
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
	answer  *sift.Answer
	failure *sift.Failure // where there is no answer
}

func (p *program) convertAll(ctx context.Context, conv *app.Converter, files []string, asJSON bool) error {
	return each(ctx, p, files, runtime.NumCPU(), func(ctx context.Context, file string) (*sift.Answer, error) {
		body, err := p.readFile(ctx, file, conv.MaxBytes())
		if err != nil {
			return nil, err
		}
		return conv.Convert(ctx, file, body)
	}, func(i int, a *sift.Answer, f *sift.Failure) error {
		return p.printConverted(files[i], converted{answer: a, failure: f}, asJSON, len(files) > 1)
	})
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
		if r.failure != nil {
			p.confess(r.failure)
			if rest, err = json.Marshal(r.failure.JSON()); err != nil {
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
	if r.answer == nil {
		p.complain(fmt.Errorf("%s: %w", file, r.failure))
		return nil
	}
	for _, w := range r.answer.Warnings {
		fmt.Fprintf(p.err, "%s: %s: %s\n", file, w.Code, w.Message)
	}
	return p.content(r.answer.Content, many)
}
