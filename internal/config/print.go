package config

import (
	"strings"
)

// TOML writes the effective values as a file that [Load] reads back to the same
// Config. Secrets are left out: callers are printed as comments, their hashes
// shortened, so that a copy of this output lets nobody in.
func (c Config) TOML() string {
	var b strings.Builder
	section := ""
	for _, f := range fields() {
		if f.section() != section {
			section = f.section()
			b.WriteString("\n[" + section + "]\n")
		}
		v := f.at(&c).literal()
		if f.secret && v != quote("") {
			b.WriteString("# " + f.name() + " is set; it may hold a password and is not shown\n")
			continue
		}
		b.WriteString(f.name() + " = " + v + "\n")
	}
	for _, caller := range c.Callers {
		b.WriteString("\n# [[caller]]\n")
		for _, f := range callerFields() {
			v := f.at(&caller).literal()
			if f.secret {
				v = quote(caller.KeySHA256[:min(8, len(caller.KeySHA256))] + "…")
			}
			b.WriteString("# " + f.name() + " = " + v + "\n")
		}
	}
	return b.String()
}
