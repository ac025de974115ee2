package guard

import (
	"encoding/json"
	"os"
	"testing"
)

// testCase is one entry of testdata/ssrf_cases.json.
type testCase struct {
	ID       string
	Kind     string
	URL      string
	Expect   string
	Or       string
	Resolver map[string][]string
	Setup    string
	Hops     []struct {
		Location string
		Status   int
		URL      string
	}
}

func readCases(t testing.TB) []testCase {
	t.Helper()
	raw, err := os.ReadFile("testdata/ssrf_cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []testCase
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	return cases
}
