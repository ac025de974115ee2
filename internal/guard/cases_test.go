package guard

import (
	"encoding/json"
	"errors"
	"maps"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
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

// The three outcomes in a case's words.
const (
	refuse = "refuse-at-precheck"
	block  = "block-at-connect"
	allow  = "allow"
)

func (c testCase) accepts(outcome string) bool { return outcome == c.Expect || outcome == c.Or }

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

// shownHere names, for each case without a URL of its own, the test of this
// package that shows what the guard does about it. The cases with a URL are
// all run by TestEveryURLCaseEndsAsExpected.
var shownHere = map[string]func(*testing.T){
	"dns-28":    TestACNAMEIsJudgedByItsAddress,
	"dns-29":    TestTheLastOfAThousandAnswersIsJudged,
	"rebind-01": TestEveryNewConnectionLooksTheNameUpAgain,
	"rebind-02": TestEveryNewConnectionLooksTheNameUpAgain,
	"rebind-03": TestEveryNewConnectionLooksTheNameUpAgain,
	"rebind-04": TestALateLoopbackAnswerBlocksTheName,
	"rebind-06": TestALookupThatTimedOutMarksNothingAsSafe,
	"rebind-07": TestEveryNewConnectionLooksTheNameUpAgain,
	"redir-30":  TestLengthLimitsHold,
	"path-10":   TestAnExceptionOpensExactlyItsRange,
	"path-12":   TestANameCannotBeOpenedAndMetadataStaysClosed,
	"path-13":   TestADeclaredTranslationPrefixIsDecodedAndReached,
	"path-15":   TestAnAddressThatIsNoneFailsClosed,
	"path-16":   TestControlFailsClosed,
	"path-19":   TestABlockedAddressIsNeverConnectedTo,
}

// shownByFetch names the cases that need HTTP: package fetch shows them. The
// Location of every redirect case with hops is judged here as well.
var shownByFetch = map[string]string{
	"rebind-05": "a connection that is kept alive",
	"redir-25":  "the limit on redirects: a page that redirects to itself",
	"redir-26":  "the limit on redirects: two hosts in a circle",
	"redir-27":  "the limit on redirects: one hop too many",
	"redir-29":  "a 302 without a Location, or with an empty one",
	"redir-31":  "the body of a redirect is not read",
	"redir-32":  "a Refresh header is a redirect",
	"redir-33":  "a meta refresh is a redirect",
	"redir-34":  "from https to http",
	"redir-36":  "cookies end with the redirect chain",
	"path-01":   "robots.txt goes through the same client",
	"path-08":   "proxies of the environment are ignored",
	"path-17":   "Alt-Svc is ignored",
}

// shownElsewhere names the cases that another package's design decides.
var shownElsewhere = map[string]string{
	"path-03": "extract is pure: it cannot fetch an external entity",
	"path-04": "extract is pure: it cannot fetch what SVG, XSLT or CSS import",
	"path-07": "api refuses a field that it does not know, such as a proxy, by name",
}

// waiting names the cases whose door is not built yet.
var waiting = map[string]string{
	"path-02": "no feature reads what a page links to; recover will",
	"path-05": "the PDF child process",
	"path-18": "MCP and batch; REST and the command line call CheckURL and DialContext like these tests",
}

func TestEveryCaseHasATestThatShowsIt(t *testing.T) {
	homes := map[string]int{}
	cases := readCases(t)
	if len(cases) != 275 {
		t.Errorf("%d cases", len(cases))
	}
	for _, c := range cases {
		if _, twice := homes[c.ID]; twice {
			t.Errorf("%s is there twice", c.ID)
		}
		homes[c.ID] = 0
		if c.URL != "" {
			homes[c.ID]++ // TestEveryURLCaseEndsAsExpected
		}
		if len(c.Hops) > 0 && shownByFetch[c.ID] == "" {
			homes[c.ID]++ // TestEveryRedirectCaseEndsAsExpected
		}
	}
	for _, ids := range [][]string{
		slices.Collect(maps.Keys(shownHere)), slices.Collect(maps.Keys(shownByFetch)),
		slices.Collect(maps.Keys(shownElsewhere)), slices.Collect(maps.Keys(waiting)),
	} {
		for _, id := range ids {
			if _, ok := homes[id]; !ok {
				t.Errorf("%s is not a case", id)
			}
			homes[id]++
		}
	}
	for id, n := range homes {
		if n != 1 {
			t.Errorf("%s is claimed by %d tests", id, n)
		}
	}
	for id, show := range shownHere {
		t.Run(id, show)
	}
}

func TestEveryURLCaseEndsAsExpected(t *testing.T) {
	for _, c := range readCases(t) {
		if c.URL == "" {
			continue
		}
		t.Run(c.ID, func(t *testing.T) {
			g, w := newGuard(t, Config{})
			w.names = c.Resolver

			// What the dialer does, as a client would use it.
			outcome := refuse
			u, err := g.CheckURL(c.URL)
			if err == nil {
				h := u.HTTP()
				outcome = dialOutcome(t, g, net.JoinHostPort(h.Hostname(), strconv.Itoa(int(u.Port()))))
			} else if _, ok := Refused(err); !ok {
				t.Errorf("%v is no refusal", err)
			}
			if !c.accepts(outcome) {
				t.Errorf("%q: %s, want %s %s", c.URL, outcome, c.Expect, c.Or)
			}
			if reached := len(w.connected) > 0; reached != (outcome == allow) {
				t.Errorf("%q: %s, and connected to %v", c.URL, outcome, w.connected)
			}

			// Explain says the same, and connects to nothing.
			w.connected = nil
			v := g.Explain(t.Context(), c.URL)
			want := map[string]string{refuse: VerdictRefused, block: VerdictBlocked, allow: VerdictAllow}[outcome]
			if v.Verdict != want || v.Reason == "" || v.Addresses == nil || v.URL != c.URL {
				t.Errorf("explained as %+v", v)
			}
			if v.Verdict == VerdictBlocked && !strings.HasPrefix(v.Reason, "private address ") {
				t.Errorf("blocked because %q", v.Reason)
			}
			if len(w.connected) > 0 {
				t.Errorf("Explain connected to %v", w.connected)
			}

			// By way of a redirect it gets no further. A text that is no
			// absolute URL is a path there, and stays on its host.
			base, err := g.CheckURL("https://start.example/")
			if err != nil {
				t.Fatal(err)
			}
			hop, err := g.CheckReference(base, c.URL)
			if err != nil || hop.Host() == base.Host() {
				return
			}
			hopOutcome := dialOutcome(t, g, net.JoinHostPort(hop.Host(), strconv.Itoa(int(hop.Port()))))
			if !c.accepts(hopOutcome) && (hopOutcome == allow || c.Expect == allow) {
				t.Errorf("%q by redirect: %s, want %s %s", c.URL, hopOutcome, c.Expect, c.Or)
			}
		})
	}
}

// dialOutcome connects and gives the outcome in a case's words.
func dialOutcome(t *testing.T, g *Guard, address string) string {
	t.Helper()
	err := dial(t, g, address)
	if err == nil {
		return allow
	}
	if _, ok := errors.AsType[*AddressError](err); !ok {
		t.Errorf("%s: %v is not about an address", address, err)
	}
	f, ok := Refused(err)
	if !ok || !strings.HasPrefix(f.Error(), "blocked: private address ") {
		t.Errorf("%s: %v", address, err)
	}
	return block
}

func TestEveryRedirectCaseEndsAsExpected(t *testing.T) {
	for _, c := range readCases(t) {
		if len(c.Hops) == 0 || shownByFetch[c.ID] != "" {
			continue
		}
		t.Run(c.ID, func(t *testing.T) {
			g, w := newGuard(t, Config{})
			w.names = map[string][]string{"priv.example": {"10.0.0.5"}, "localhost": {"127.0.0.1"}}
			u, err := g.CheckURL(c.Hops[0].URL)
			if err != nil {
				t.Fatal(err)
			}
			outcome := ""
			for i := 0; outcome == ""; i++ {
				switch got := dialOutcome(t, g, net.JoinHostPort(u.Host(), strconv.Itoa(int(u.Port())))); {
				case got == block:
					outcome = block
				case i == len(c.Hops):
					outcome = allow
				default:
					if u, err = g.CheckReference(u, c.Hops[i].Location); err != nil {
						if _, ok := Refused(err); !ok {
							t.Errorf("%v is no refusal", err)
						}
						outcome = refuse
					}
				}
			}
			if !c.accepts(outcome) {
				t.Errorf("%s: %s, want %s %s", c.Setup, outcome, c.Expect, c.Or)
			}
			for _, to := range w.connected {
				if to.Addr().String() != "93.184.216.34" {
					t.Errorf("%s: connected to %s", c.Setup, to)
				}
			}
		})
	}
}

func TestALookupThatTimedOutMarksNothingAsSafe(t *testing.T) {
	var answers atomic.Bool
	s := serveDNS(t, func(name, qtype string) []string {
		switch {
		case !answers.Load():
			return []string{"DROP"}
		case qtype == "A":
			return []string{name + ". 0 IN A 169.254.169.254"}
		}
		return []string{}
	})
	g, w := guardAsking(t, s)
	g.lookupTimeout = 30 * time.Millisecond
	if v := g.Explain(t.Context(), "http://rb6.example/"); v.Verdict != VerdictUnresolved || v.Reason != "the name rb6.example could not be looked up in time" {
		t.Errorf("%+v", v)
	}
	answers.Store(true)
	g.lookupTimeout = lookupTimeout
	wantBlocked(t, dial(t, g, "rb6.example:80"), "private address 169.254.169.254")
	if len(w.connected) > 0 {
		t.Errorf("connected to %v", w.connected)
	}
}

func TestAnExceptionOpensExactlyItsRange(t *testing.T) {
	g, w := newGuard(t, Config{Allow: []string{"10.1.0.0/16"}})
	if v := g.Explain(t.Context(), "http://10.1.2.3/"); v.Verdict != VerdictAllow || v.Reason != "opened by the exception 10.1.0.0/16" {
		t.Errorf("%+v", v)
	}
	if err := dial(t, g, "10.1.2.3:80"); err != nil {
		t.Error(err)
	}
	for _, outside := range []string{"10.0.255.255", "10.2.0.0"} {
		wantBlocked(t, dial(t, g, outside+":80"), "private address "+outside)
	}
	if len(w.connected) != 1 {
		t.Errorf("connected to %v", w.connected)
	}
}

func TestANameCannotBeOpenedAndMetadataStaysClosed(t *testing.T) {
	if _, err := New(Config{Allow: []string{"files.example"}, LocalAddrs: noOwnAddresses}); err == nil {
		t.Error("a name was accepted as an exception")
	}
	g, w := newGuard(t, Config{Allow: []string{"169.254.0.0/16"}})
	w.names = map[string][]string{"files.example": {"169.254.169.254"}}
	wantBlocked(t, dial(t, g, "files.example:80"), "private address 169.254.169.254")
}

func TestADeclaredTranslationPrefixIsDecodedAndReached(t *testing.T) {
	g, w := newGuard(t, Config{NAT64: []string{"64:ff9b::/96"}})
	w.names = map[string][]string{
		"nat64.example": {"64:ff9b::808:808"},
		"inner.example": {"64:ff9b::a00:1"},
	}
	if err := dial(t, g, "nat64.example:443"); err != nil {
		t.Error(err)
	}
	if want := netip.MustParseAddrPort("[64:ff9b::808:808]:443"); len(w.connected) != 1 || w.connected[0] != want {
		t.Errorf("connected to %v, want %v", w.connected, want)
	}
	wantBlocked(t, dial(t, g, "inner.example:443"), "private address 64:ff9b::a00:1 (NAT64 with 10.0.0.1 inside)")
}
