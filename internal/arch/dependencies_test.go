package arch

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What a module's licence may be, so that the binary stays under Apache-2.0.
func compatible() []string {
	return []string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MPL-2.0"}
}

func TestEveryLinkedModuleIsListedWithACompatibleLicence(t *testing.T) {
	doc, err := os.ReadFile("../../docs/dependencies.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := make(map[string]string)
	for _, m := range regexp.MustCompile(`(?m)^\| (\S+\.\S+) \| (\S+) \|$`).FindAllStringSubmatch(string(doc), -1) {
		listed[m[1]] = m[2]
		if !slices.Contains(compatible(), m[2]) {
			t.Errorf("%s has the licence %s, which is not among %v", m[1], m[2], compatible())
		}
	}

	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	var modules []string
	for _, m := range regexp.MustCompile(`(?m)^\t(\S+\.\S+) v`).FindAllStringSubmatch(string(mod), -1) {
		modules = append(modules, m[1])
	}
	for m := range listed {
		if !slices.Contains(modules, m) {
			t.Errorf("%s is listed and not in go.mod", m)
		}
	}

	// What production code imports must be listed. What those modules import
	// in turn is seen when the list is made: go version -m bin/sift.
	for dir, p := range packages(t) {
		if dir == "demo" || strings.HasPrefix(dir, "demo/") || strings.HasPrefix(dir, "tools/") {
			continue
		}
		for _, imp := range p.Imports {
			if !strings.Contains(strings.SplitN(imp, "/", 2)[0], ".") || strings.HasPrefix(imp, module+"/") {
				continue
			}
			found := false
			for m := range listed {
				found = found || imp == m || strings.HasPrefix(imp, m+"/")
			}
			if !found {
				t.Errorf("%s imports %s, whose module is not in docs/dependencies.md", dir, imp)
			}
		}
	}
}
