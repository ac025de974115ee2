package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"sift.build/sift/internal/app"
	"sift.build/sift/internal/config"
	"sift.build/sift/internal/sift"
)

// program is what every subcommand shares.
type program struct {
	stdio
	environ    []string
	configFile string
}

// run is the whole program but for the process around it. It returns the exit
// code.
func run(ctx context.Context, args, environ []string, io stdio) int {
	p := &program{stdio: io, environ: environ}
	root := p.root()
	root.SetArgs(args)
	root.SetIn(io.in)
	root.SetOut(io.out)
	root.SetErr(io.err)
	err := root.ExecuteContext(ctx)
	code, show := codeOf(ctx, err)
	if show {
		p.complain(err)
	}
	if code == exitUsage && show {
		fmt.Fprintln(p.err, "Run 'sift --help' or 'sift COMMAND --help' for usage.")
	}
	return code
}

// complain prints an error with the next step, where there is one.
func (p *program) complain(err error) {
	fmt.Fprintln(p.err, "sift:", err)
	if f, ok := errors.AsType[*sift.Failure](err); ok && f.Hint != "" {
		fmt.Fprintf(p.err, "hint: %s\n", hintText(f.Hint))
	}
}

// hintText says in words what a hint means.
func hintText(h sift.Hint) string {
	switch h {
	case sift.HintBrowser:
		return "browser (the page needs a real browser)"
	case sift.HintRetry:
		return "retry (the same request may work later)"
	case sift.HintAuth:
		return "auth (a login or a key is wanted)"
	case sift.HintFresh:
		return "fresh (ask for a new copy)"
	case sift.HintRecover, sift.HintPages, sift.HintOCR, sift.HintPassword:
		return string(h)
	}
	return string(h)
}

func (p *program) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "sift",
		Short: "Fetch web pages for AI agents and hand back only what was asked for",
		Long: `sift fetches web pages for AI agents, hands back only what was asked for, and
never lets an agent reach the internal network.

Try:  sift fetch https://example.com/
      sift serve`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cmd.Help()
		},
	}
	root.PersistentFlags().StringVar(&p.configFile, "config", "", "configuration `FILE` (default: $SIFT_CONFIG, else $XDG_CONFIG_HOME/sift/sift.toml if there is one)")
	root.CompletionOptions.DisableDefaultCmd = false
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return &usageError{suggestFlag(cmd, err)} })
	root.AddCommand(
		p.serveCommand(), p.fetchCommand(), p.convertCommand(), p.explainCommand(),
		p.keyCommand(), p.configCommand(), p.versionCommand(), exitCodesTopic(),
	)
	for _, c := range root.Commands() {
		wrapArgs(c)
	}
	wrapArgs(root)
	return root
}

// wrapArgs makes every complaint about arguments a usage error.
func wrapArgs(c *cobra.Command) {
	if check := c.Args; check != nil {
		c.Args = func(cmd *cobra.Command, args []string) error {
			if err := check(cmd, args); err != nil {
				return &usageError{err}
			}
			return nil
		}
	}
	for _, sub := range c.Commands() {
		wrapArgs(sub)
	}
}

// group is a command that only has subcommands.
func group(c *cobra.Command) *cobra.Command {
	c.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		text := fmt.Sprintf("unknown command %q for %q", args[0], cmd.CommandPath())
		if s := cmd.SuggestionsFor(args[0]); len(s) > 0 {
			text += "; did you mean " + strings.Join(s, " or ") + "?"
		}
		return errors.New(text)
	}
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := cmd.Usage(); err != nil {
			return err
		}
		return &exitError{exitUsage}
	}
	return c
}

// load reads the configuration. Its mistakes are usage errors.
func (p *program) load(overrides map[string]string) (config.Config, error) {
	cfg, err := config.Load(p.configFile, p.environ, overrides)
	if err != nil {
		return cfg, &usageError{err}
	}
	return cfg, nil
}

// quietLog is the log of a command that is not the service: warnings and
// errors, on stderr.
func (p *program) quietLog() *slog.Logger {
	return app.NewLogger(config.Log{Level: "warn", Format: "text"}, p.err)
}

// env looks up a variable of the environment that run was given.
func (p *program) env(name string) string {
	for _, kv := range p.environ {
		if k, v, ok := strings.Cut(kv, "="); ok && k == name {
			return v
		}
	}
	return ""
}

// isTerminal reports whether v is a terminal.
func isTerminal(v any) bool {
	f, ok := v.(*os.File)
	if !ok {
		return false
	}
	st, err := f.Stat()
	return err == nil && st.Mode()&os.ModeCharDevice != 0
}
