package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
)

func (p *program) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Long:    "Print the version of sift, of the Go it was built with, and the platform it was built for.",
		Example: "  sift version",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(p.out, versionText())
			return err
		},
	}
}

func versionText() string {
	return fmt.Sprintf("sift %s %s %s/%s", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// exitCodesTopic is the help topic that lists the exit codes.
func exitCodesTopic() *cobra.Command {
	return &cobra.Command{
		Use:     "exit-codes",
		Short:   "What the exit codes mean",
		Example: `  sift fetch https://example.com/ || test $? -eq 5`,
		Long: `  0  everything was answered
  1  something went wrong inside sift
  2  usage: a wrong command, flag, argument, request or configuration
  3  blocked: the guard refused
  4  timeout
  5  upstream_4xx, upstream_5xx: the server answered with an error
  6  unreachable: no such name, refused, TLS failure, broken transfer
  7  unsupported, too_long: nothing to read in it, or over a size limit
  8  busy, cap: try again later
  9  unauthorized: no key, or not a known one
 10  not_found, gone: the job or snapshot is not held
 11  of several targets some were answered and some failed
130  interrupted

sift batch wait ends by how the job ended: with 0 when it is done, 11 when it is
partial, after a failed job with the code of its first target's failure (1 where
the job itself failed: restart, store), after a cancelled one with 11 when some
targets were answered, else with 1. Ctrl-C (130) and --timeout (4) leave the job
alone.`,
	}
}
