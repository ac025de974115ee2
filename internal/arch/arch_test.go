package arch

import (
	"go/build"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "sift.build/sift"

// packages reads every package of the module. It reads the files itself: a
// test that shells out to `go list` is cached and goes stale.
func packages(t *testing.T) map[string]*build.Package {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string]*build.Package)
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		name := d.Name()
		if path != root && (strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata") {
			return filepath.SkipDir
		}
		p, err := build.Default.ImportDir(path, 0)
		if _, none := err.(*build.NoGoError); none {
			return nil
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		found[filepath.ToSlash(rel)] = p
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func under(path string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return path == p || strings.HasPrefix(path, p+"/") })
}

func TestEveryImportStandsInTheTable(t *testing.T) {
	table := Table()
	found := packages(t)
	for dir, p := range found {
		rule, ok := table[dir]
		if !ok {
			t.Errorf("%s is not in the table of package arch", dir)
			continue
		}
		for _, imp := range p.Imports {
			switch {
			case strings.HasPrefix(imp, module+"/"):
				if name := strings.TrimPrefix(imp, module+"/internal/"); !slices.Contains(rule.Ours, name) {
					t.Errorf("%s must not import %s", dir, imp)
				}
			case strings.Contains(strings.SplitN(imp, "/", 2)[0], "."):
				if !under(imp, rule.Outside) {
					t.Errorf("%s must not import %s", dir, imp)
				}
			default:
				if rule.Std != nil && slices.Contains(StdDenied(), imp) && !slices.Contains(rule.Std, imp) {
					t.Errorf("%s is pure and must not import %s", dir, imp)
				}
				if under(imp, []string{"testing"}) && !rule.Tests {
					t.Errorf("%s is production code and must not import %s", dir, imp)
				}
			}
		}
	}
	for dir := range table {
		if _, ok := found[dir]; !ok {
			t.Errorf("the table lists %s, which does not exist", dir)
		}
	}
}

func TestNoTestsOfOthersAreInTheProduct(t *testing.T) {
	table := Table()
	for dir, rule := range table {
		for _, ours := range rule.Ours {
			if table["internal/"+ours].Tests {
				t.Errorf("the table lets %s import %s", dir, ours)
			}
		}
	}
}

func TestNothingInTheCoreReachesUp(t *testing.T) {
	up := []string{"api", "app", "config", "metrics", "client"}
	for dir, rule := range Table() {
		switch dir {
		case "cmd/sift", "internal/app":
			continue
		}
		for _, u := range up {
			if slices.Contains(rule.Ours, u) {
				t.Errorf("the table lets %s import %s", dir, u)
			}
		}
	}
	if slices.Contains(Table()["internal/fetch"].Ours, "dcache") {
		t.Error("the table lets fetch import dcache")
	}
}
