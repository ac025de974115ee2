package main

import (
	"context"
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
	var mode, base, pages, passwordFile, dir, explain string
	var asJSON bool
	c := &cobra.Command{
		Use:   "convert [flags] FILE…",
		Short: "Convert local HTML and PDF files to Markdown",
		Long: `Convert local HTML and PDF files, whole, on all cores. The content goes to
standard output in the order of the files, or into files of a folder; notices go
to standard error. "-" reads one file from standard input. No network and no
cache are used.

With -o each file's content is written to a file of its own in the folder, which
is made when it is not there: page.html becomes page.md, or page.html.md where
that name is another file's too. Files that are there already are replaced.`,
		Example: `  sift convert page.html
  sift convert -o markdown *.pdf
  sift convert --pages 1-3 paper.pdf
  sift convert --base-url https://example.com/docs/ --mode links page.html
  sift convert --json *.html > pages.jsonl
  sift convert --explain=html page.html > why.html`,
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
	f.StringVar(&pages, "pages", "", "`PAGES` of each PDF, such as 1-3,7,10-")
	f.StringVar(&passwordFile, "password-file", "", "`FILE` with the password of the PDFs")
	f.StringVarP(&dir, "output-dir", "o", "", "write each content to a file in `FOLDER` instead of standard output")
	f.BoolVar(&asJSON, "json", false, `print one JSON envelope a line, with "file"; failures too`)
	f.StringVar(&explain, "explain", "", "instead of the content say which blocks of the page are its main content and why, as `text` or html")
	f.Lookup("explain").NoOptDefVal = string(app.ExplainText)
	_ = c.RegisterFlagCompletionFunc("explain", cobra.FixedCompletions([]string{string(app.ExplainText), string(app.ExplainHTML)}, cobra.ShellCompDirectiveNoFileComp))
	_ = c.MarkFlagDirname("output-dir")
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
		opts := app.ConvertOptions{BaseURL: base, Mode: sift.Mode(mode), Notice: func(s string) { fmt.Fprintln(p.err, "sift:", s) }}
		var err error
		if opts.Pages, opts.Password, err = p.pdfOptions(cmd.Context(), pages, passwordFile); err != nil {
			return err
		}
		switch opts.Explain = app.Explain(explain); opts.Explain {
		case app.ExplainNothing:
		case app.ExplainText, app.ExplainHTML:
			if asJSON || pages != "" || cmd.Flags().Changed("mode") {
				return usagef("--explain is an output of its own; leave out --json, --mode and --pages")
			}
			if opts.Mode = sift.ModeText; opts.Explain == app.ExplainHTML {
				opts.Mode = sift.ModeHTML // for the names of files
			}
		default:
			return usagef("--explain %q: say text or html", explain)
		}
		out := converts{p: p, asJSON: asJSON, many: len(args) > 1}
		if dir != "" {
			if err := out.into(dir, args, opts.Mode); err != nil {
				return err
			}
		}
		cfg, err := p.loadWithoutStore()
		if err != nil {
			return err
		}
		conv := app.NewConverter(cfg, opts)
		defer conv.Close()
		return p.convertAll(cmd.Context(), conv, args, &out)
	}
	return c
}

func (p *program) convertAll(ctx context.Context, conv *app.Converter, files []string, out *converts) error {
	return each(ctx, p, files, runtime.NumCPU(), func(ctx context.Context, file string) (*sift.Answer, error) {
		body, err := p.readFile(ctx, file, conv.MaxBytes())
		if err != nil {
			return nil, err
		}
		return conv.Convert(ctx, file, body)
	}, func(i int, a *sift.Answer, f *sift.Failure) error {
		return out.put(i, files[i], a, f)
	})
}
