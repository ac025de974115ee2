package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"sift.build/sift/internal/app"
)

func (p *program) explainCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "explain [flags] URL…",
		Short: "Say what the guard decides about a URL, and why",
		Long: `Say for each URL whether the guard lets it through: allow, refused (by its
form, before anything is looked up), blocked (by an address) or unresolved (the
name has no address). Names are looked up; nothing is connected to.

"-", or no URL with a list piped in, reads one URL a line from standard input.`,
		Example: `  sift explain http://169.254.169.254/
  sift explain --json - < urls.txt`,
	}
	c.ValidArgsFunction = cobra.NoFileCompletions
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		urls, err := p.list(cmd.Context(), args)
		if err != nil {
			return err
		}
		cfg, err := p.loadWithoutStore()
		if err != nil {
			return err
		}
		g, err := app.NewGuard(cfg.Guard)
		if err != nil {
			return err
		}
		for _, u := range urls {
			v := g.Explain(cmd.Context(), u)
			if err := cmd.Context().Err(); err != nil {
				return err
			}
			if asJSON {
				b, err := json.Marshal(v)
				if err != nil {
					return fmt.Errorf("encode verdict: %w", err)
				}
				if _, err := fmt.Fprintf(p.out, "%s\n", b); err != nil {
					return err
				}
				continue
			}
			line := fmt.Sprintf("%-10s %q", v.Verdict, v.URL)
			if v.Reason != "" {
				line += ": " + v.Reason
			}
			if len(v.Addresses) > 0 {
				line += fmt.Sprintf(" [%s]", joinAddresses(v.Addresses))
			}
			if _, err := fmt.Fprintln(p.out, line); err != nil {
				return err
			}
		}
		return nil
	}
	return c
}

func joinAddresses[T any](addrs []T) string {
	s := make([]string, len(addrs))
	for i, a := range addrs {
		s[i] = fmt.Sprint(a)
	}
	return strings.Join(s, " ")
}
