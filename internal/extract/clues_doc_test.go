package extract

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// The tables of docs/extraction-signals.md are those of the code.
func TestTheDocumentListsTheCluesAsTheyAre(t *testing.T) {
	raw, err := os.ReadFile("../../docs/extraction-signals.md")
	if err != nil {
		t.Fatal(err)
	}
	for w, name := range [wallCount]string{
		wallCheck: "Bot check: `challenge`", wallConsent: "Consent wall: `consent`", wallLogin: "Login page: `login`", wallPaywall: "Paywall with nothing else: `login`",
		wallMissing: "Not found: `soft_404`", wallUpkeep: "Site down: `soft_404`", wallShell: "Script shell: `js_shell`",
	} {
		var b strings.Builder
		fmt.Fprintf(&b, "#### %s\n\n| points | seen |\n| ---: | --- |\n", name)
		for _, c := range clues {
			if c.wall == wall(w) {
				fmt.Fprintf(&b, "| %+d | %s |\n", c.points, c.what)
			}
		}
		if !strings.Contains(string(raw), b.String()) {
			t.Errorf("docs/extraction-signals.md lacks:\n\n%s", b.String())
		}
	}
}
