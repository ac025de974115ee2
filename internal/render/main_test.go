package render

import (
	"flag"
	"os"
	"testing"
)

// TestMain gives the properties a fixed seed unless -rapid.seed names one: a
// test run must say the same of the same code. New seeds are for searching:
//
//	go test ./internal/render -run Structure -rapid.seed $RANDOM -rapid.checks 20000
func TestMain(m *testing.M) {
	flag.Parse()
	if f := flag.Lookup("rapid.seed"); f != nil && f.Value.String() == "0" {
		if err := f.Value.Set("1"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}
