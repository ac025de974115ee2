package main

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestASectionOfAPageAndOfAPDF(t *testing.T) {
	t.Parallel()
	site, dir := newSite(t), t.TempDir()
	config := writeFile(t, dir, "sift.toml", site.settings(""))
	code, out, stderr := runSift(t, dir, nil, "fetch", "--config", config, "--section", "The channels", site.URL+"/article")
	if code != 0 || !strings.HasPrefix(out, "## The channels\n") || strings.Contains(out, "Ten million birds") {
		t.Errorf("%d: %s%s", code, out, stderr)
	}
	code, out, stderr = runSift(t, dir, nil, "fetch", "--config", config, "--section", "The tides", site.URL+"/article")
	if code != exitUsage || out != "" || !containsAll(stderr, []string{"The channels", "The birds"}) {
		t.Errorf("an unknown one: %d: %s%s", code, out, stderr)
	}
	code, out, stderr = runSift(t, dir, nil, "fetch", "--config", config, "--json", "--section", "introduction", site.URL+"/download/paper")
	var env struct {
		Content string
		Section struct{ Text string }
		Pages   struct {
			Total    int
			Returned []int
		}
	}
	if code != 0 || json.Unmarshal([]byte(out), &env) != nil {
		t.Fatalf("%d: %s%s", code, out, stderr)
	}
	if env.Section.Text != "1 Introduction" || env.Pages.Total != 6 || len(env.Pages.Returned) == 0 || env.Pages.Returned[0] != 1 || len(env.Pages.Returned) == 6 ||
		!strings.Contains(env.Content, "Rain is easy to hear") {
		t.Errorf("section %q, pages %+v: %.200q", env.Section.Text, env.Pages, env.Content)
	}
}
