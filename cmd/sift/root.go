package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sift.build/sift/internal/config"
	"sift.build/sift/internal/sift"
)

// program is what every subcommand shares.
type program struct {
	stdio
	args       []string
	environ    []string
	configFile string
}

// run is the whole program but for the process around it. It returns the exit
// code.
func run(ctx context.Context, args, environ []string, io stdio) int {
	p := &program{stdio: io, args: args, environ: environ}
	root := p.root()
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	code, show := codeOf(ctx, err)
	if show {
		p.complain(err)
	}
	if u, ok := errors.AsType[*usageError](err); ok && show && !u.elsewhere {
		fmt.Fprintf(p.err, "Run '%s --help' for usage.\n", cmd.CommandPath())
	}
	return code
}

// complain prints an error with the next step, where there is one.
func (p *program) complain(err error) {
	fmt.Fprintln(p.err, "sift:", err)
	f, ok := errors.AsType[*sift.Failure](err)
	if !ok {
		return
	}
	if f.Hint != "" {
		fmt.Fprintf(p.err, "hint: %s\n", hintText(f.Hint))
	}
	p.confess(f)
}

// confess prints the cause of a fault of ours. Its text sends people to the
// operator's log; here the operator is who reads this.
func (p *program) confess(f *sift.Failure) {
	if f.Code == sift.CodeInternal && f.Cause != nil {
		fmt.Fprintln(p.err, "cause:", f.Cause)
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
	root := group(&cobra.Command{
		Use:   "sift",
		Short: "Fetch web pages for AI agents and hand back only what was asked for",
		Long: `sift fetches web pages for AI agents, hands back only what was asked for, and
never lets an agent reach the internal network.`,
		Example: `  sift fetch https://example.com/
  sift serve
  sift help exit-codes`,
		Version:       versionText(),
		SilenceUsage:  true,
		SilenceErrors: true,
	})
	root.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	root.SetIn(p.in)
	root.SetOut(p.out)
	root.SetErr(p.err)
	root.SetVersionTemplate("{{.Version}}\n")
	root.PersistentFlags().StringVar(&p.configFile, "config", "", "configuration `FILE` (default: $SIFT_CONFIG, else $XDG_CONFIG_HOME/sift/sift.toml if there is one)")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return &usageError{err: suggestFlag(cmd, err)} })
	root.AddCommand(
		p.serveCommand(), p.fetchCommand(), p.batchCommand(), p.convertCommand(), p.explainCommand(),
		p.keyCommand(), p.configCommand(), p.versionCommand(), exitCodesTopic(),
	)
	root.SetHelpCommand(helpCommand())
	root.InitDefaultHelpCmd()
	completions(root)
	wrapArgs(root)
	return root
}

// completions adds cobra's own command, made to refuse a shell it does not
// know: its answer would otherwise be the help, on its way into a file.
func completions(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() != "completion" {
			continue
		}
		group(c)
		c.Short = "Print the completions for a shell"
		c.Example = "  source <(sift completion bash)\n  sift completion fish > ~/.config/fish/completions/sift.fish"
		for _, shell := range c.Commands() {
			shell.Short = "Print the completions for " + shell.Name()
			shell.Example = "  sift completion " + shell.Name()
		}
	}
}

// helpCommand stands in for cobra's own, which prints the general help for a
// command that does not exist and calls that a success.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "Help about any command",
		Long:    "Print the help of a command, with its flags and examples, or of a topic.",
		Example: "  sift help fetch\n  sift help exit-codes",
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			c, err := commandUnder(cmd.Root(), args)
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return names(c), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return helpOf(cmd.Root(), args)
		},
	}
}

// commandUnder finds a command by the words behind another.
func commandUnder(c *cobra.Command, words []string) (*cobra.Command, error) {
	for _, name := range words {
		i := slices.IndexFunc(c.Commands(), func(sub *cobra.Command) bool { return sub.Name() == name })
		if i < 0 {
			return nil, unknownCommand(c, name)
		}
		c = c.Commands()[i]
	}
	return c, nil
}

func helpOf(c *cobra.Command, words []string) error {
	c, err := commandUnder(c, words)
	if err != nil {
		return &usageError{err: err}
	}
	c.InitDefaultHelpFlag() // or --help is not in the list
	return c.Help()
}

// names lists the subcommands of c.
func names(c *cobra.Command) []string {
	var out []string
	for _, sub := range c.Commands() {
		out = append(out, sub.Name())
	}
	return out
}

func unknownCommand(c *cobra.Command, name string) error {
	for _, sub := range c.Commands() {
		if slices.Contains(sub.SuggestFor, name) { // another word for it
			return fmt.Errorf("unknown command %q for %q; did you mean %s?", name, c.CommandPath(), sub.Name())
		}
	}
	return fmt.Errorf("unknown command %q for %q%s", name, c.CommandPath(), didYouMean(name, names(c)))
}

// wrapArgs makes every complaint about arguments a usage error.
func wrapArgs(c *cobra.Command) {
	if check := c.Args; check != nil {
		c.Args = func(cmd *cobra.Command, args []string) error {
			if err := check(cmd, args); err != nil {
				return &usageError{err: err}
			}
			return nil
		}
	}
	for _, sub := range c.Commands() {
		wrapArgs(sub)
	}
}

// group makes c a command that only has subcommands. As many people expect,
// "help" and one of them behind it is the help of that.
func group(c *cobra.Command) *cobra.Command {
	c.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 || args[0] == "help" {
			return nil
		}
		return unknownCommand(cmd, args[0])
	}
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return helpOf(cmd, args[1:])
		}
		return usagef("%s needs one of its commands: %s", cmd.CommandPath(), strings.Join(names(cmd), ", "))
	}
	return c
}

// load reads the configuration. Its mistakes are usage errors.
func (p *program) load(overrides map[string]string) (config.Config, error) {
	cfg, err := config.Load(p.configFile, p.environ, overrides)
	if err != nil {
		return cfg, &usageError{err: err, elsewhere: true}
	}
	return cfg, nil
}

// loadWithoutStore is load for a command that can do without a data folder:
// where not even a home folder is known, as in many a container, DataDir is
// empty.
func (p *program) loadWithoutStore() (config.Config, error) {
	cfg, err := p.load(nil)
	e, ok := errors.AsType[*config.Error](err)
	// A data_dir that somebody wrote has a place; this is the default's.
	if !ok || e.More > 0 || len(e.Mistakes) != 1 || e.Mistakes[0].Key != "data_dir" || e.Mistakes[0].File+e.Mistakes[0].Source != "" {
		return cfg, err
	}
	cfg, err = p.load(map[string]string{"data_dir": os.DevNull})
	cfg.DataDir = ""
	return cfg, err
}

// quietLog is the log of a command that is not the service: warnings and
// errors, as notices.
func (p *program) quietLog() *slog.Logger { return slog.New(&noticeHandler{w: p.err}) }

// env looks up a variable of the environment that run was given.
func (p *program) env(name string) string {
	for _, kv := range p.environ {
		if k, v, ok := strings.Cut(kv, "="); ok && k == name {
			return v
		}
	}
	return ""
}

// isTerminal reports whether v is a terminal. The null device, a character
// device too, is none.
func isTerminal(v any) bool {
	f, ok := v.(*os.File)
	if !ok {
		return false
	}
	st, err := f.Stat()
	if err != nil || st.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(st, null)
}
