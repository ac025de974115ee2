package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// didYouMean ends a complaint about a word that is not in the list with the
// word that was probably meant; "" where there is none.
func didYouMean(word string, known []string) string {
	best, least := "", 3 // further away is another word
	for _, k := range known {
		if d := distance(word, k); d < least && d < len(word) {
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

// distance counts the bytes to insert, drop, replace or swap with their
// neighbour to get from a to b (optimal string alignment).
func distance(a, b string) int {
	before := make([]int, len(b)+1) // two rows up
	last := make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j]+cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
