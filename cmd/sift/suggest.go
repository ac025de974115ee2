package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sift.build/sift/internal/spelling"
)

// didYouMean ends a complaint about a word that is not in the list with the
// word that was probably meant; "" where there is none.
func didYouMean(word string, known []string) string {
	best, least := "", 3 // further away is another word
	for _, k := range known {
		if d := spelling.Distance([]byte(word), []byte(k)); d < least && d < len(word) {
			best, least = k, d
		}
	}
	for _, k := range known {
		if best == "" && word != "" && strings.HasPrefix(k, word) {
			best = k
		}
	}
	if best == "" {
		return ""
	}
	return "; did you mean " + best + "?"
}

// suggestFlag adds the nearest flag to a complaint about an unknown one.
func suggestFlag(cmd *cobra.Command, err error) error {
	unknown, ok := strings.CutPrefix(err.Error(), "unknown flag: ")
	if !ok {
		return err
	}
	var flags []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { flags = append(flags, "--"+f.Name) })
	return fmt.Errorf("%w%s", err, didYouMean(unknown, flags))
}
