package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"sift.build/sift/internal/app"
	"sift.build/sift/internal/config"
)

func (p *program) serveCommand() *cobra.Command {
	var listen, dataDir, level string
	c := &cobra.Command{
		Use:   "serve",
		Short: "Run the service",
		Long: `Run the service until Ctrl-C or SIGTERM. Requests in flight may finish, for 8
seconds at most; a second signal ends it at once. SIGHUP re-reads the callers of
the configuration file.

With no callers configured sift listens on loopback only, as one local caller.`,
		Example: `  sift serve
  sift serve --config /etc/sift/sift.toml
  sift serve --listen 127.0.0.1:9000 --data-dir ./data`,
		Args: cobra.NoArgs,
	}
	c.Flags().StringVar(&listen, "listen", "", "`ADDRESS` to listen on (key listen)")
	c.Flags().StringVar(&dataDir, "data-dir", "", "`FOLDER` of the store (key data_dir)")
	c.Flags().StringVar(&level, "log-level", "", "debug, info, warn or error (key log.level)")
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		overrides := map[string]string{}
		for flag, key := range map[string]string{"listen": "listen", "data-dir": "data_dir", "log-level": "log.level"} {
			if f := cmd.Flags().Lookup(flag); f.Changed {
				overrides[key] = f.Value.String()
			}
		}
		cfg, err := p.load(overrides)
		if err != nil {
			return err
		}
		if err := app.CheckModels(cfg); err != nil {
			return &usageError{err: err, elsewhere: true}
		}

		// One place: a signal that comes while callers are re-read is not lost,
		// and many at once are one.
		hup := make(chan os.Signal, 1)
		signal.Notify(hup, syscall.SIGHUP)
		defer signal.Stop(hup)
		reload := make(chan func() (config.Config, error))
		done := make(chan struct{})
		forwarded := make(chan struct{})
		go func() {
			defer close(forwarded)
			for {
				select {
				case <-hup:
				case <-done:
					return
				}
				select {
				case reload <- func() (config.Config, error) { return config.Load(p.configFile, p.environ, overrides) }:
				case <-done:
					return
				}
			}
		}()
		defer func() { close(done); <-forwarded }()
		// Whoever reads the log may go away; the service does not.
		signal.Ignore(syscall.SIGPIPE)
		err = app.Serve(cmd.Context(), cfg, app.ServeOptions{
			Version: version, Log: app.NewLogger(cfg.Log, p.err), Reload: reload,
		})
		if cmd.Context().Err() != nil && errors.Is(err, context.Canceled) {
			return nil // stopped, as asked, before it had started
		}
		return err
	}
	return c
}
