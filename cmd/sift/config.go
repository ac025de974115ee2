package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"sift.build/sift/internal/app"
	"sift.build/sift/internal/config"
)

func (p *program) configCommand() *cobra.Command {
	c := group(&cobra.Command{
		Use:     "config",
		Short:   "Check or show the configuration",
		Long:    "Check the configuration, or show what holds after defaults, file and environment.",
		Example: "  sift config check\n  sift config show",
	})
	c.AddCommand(
		&cobra.Command{
			Use:   "check",
			Short: "Report every mistake in the configuration",
			Long: `Read the configuration file and the environment, and report every mistake at
once with its line. Ends with 0 when there is none, else with 2.`,
			Example: "  sift config check --config /etc/sift/sift.toml",
			Args:    cobra.NoArgs,
			RunE: func(*cobra.Command, []string) error {
				for _, m := range config.Suspicious(p.environ) {
					fmt.Fprintln(p.err, "note:", m)
				}
				cfg, err := p.load(nil)
				if err != nil {
					return err
				}
				if _, err := app.NewGuard(cfg.Guard); err != nil {
					return err
				}
				if err := app.CheckModels(cfg); err != nil {
					return &usageError{err: err, elsewhere: true}
				}
				path, err := config.Path(p.configFile, p.environ)
				if err != nil {
					return err
				}
				if path == "" {
					path = "no file; defaults and environment"
				}
				_, err = fmt.Fprintf(p.out, "ok: %s\n", path)
				return err
			},
		},
		&cobra.Command{
			Use:   "show",
			Short: "Print the effective values, without secrets",
			Long: `Print what holds after defaults, file and environment, as a configuration file.
Callers stand there as comments, with only the beginning of their hashes.`,
			Example: "  SIFT_FETCH_TIMEOUT=10s sift config show",
			Args:    cobra.NoArgs,
			RunE: func(*cobra.Command, []string) error {
				cfg, err := p.load(nil)
				if err != nil {
					return err
				}
				_, err = fmt.Fprint(p.out, cfg.TOML())
				return err
			},
		},
	)
	return c
}
