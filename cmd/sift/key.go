package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"sift.build/sift/internal/auth"
)

func (p *program) keyCommand() *cobra.Command {
	c := group(&cobra.Command{
		Use:     "key",
		Short:   "Make keys for callers",
		Long:    "Make the keys by which a service knows its callers.",
		Example: "  sift key new --name research",
	})
	var name string
	create := &cobra.Command{
		Use:   "new",
		Short: "Make a key and its hash",
		Long: `Print a new key and the hash of it. The key goes to the caller; the hash goes
into the configuration. The key is shown once and stored nowhere.`,
		Example: "  sift key new --name research",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if !auth.ValidName(name) {
				return usagef("--name %q: a name is 1 to 64 of a-z, 0-9, _ and -", name)
			}
			key, hash := auth.NewKey()
			_, err := fmt.Fprintf(p.out, `# For the caller, shown once: SIFT_KEY, or the header "Authorization: Bearer …".
key = "%s"

# For the server's configuration file; then send it SIGHUP.
[[caller]]
name = "%s"
key_sha256 = "%s"
`, key, name, hash)
			return err
		},
	}
	create.Flags().StringVar(&name, "name", "agent", "`NAME` of the caller")
	c.AddCommand(create)
	return c
}

// maxKeyFile bounds a key file.
const maxKeyFile = 4096

// key reads the client's key: from file, else from $SIFT_KEY. It is never a
// flag, since flags show in the list of processes.
func (p *program) key(file string) (string, error) {
	if file == "" {
		return p.env("SIFT_KEY"), nil
	}
	f, err := os.Open(file)
	if err != nil {
		return "", usagef("key file: %w", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxKeyFile+1))
	if err != nil {
		return "", usagef("key file: %w", err)
	}
	if len(b) > maxKeyFile {
		return "", usagef("key file %s is longer than %d bytes", file, maxKeyFile)
	}
	key := strings.TrimSpace(string(b))
	if key == "" {
		return "", usagef("key file %s is empty", file)
	}
	return key, nil
}
