package guard

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"

	"sift.build/sift/internal/sift"
)

// nameServer is a DNS server on loopback, over UDP and TCP.
type nameServer struct {
	addr string

	mu     sync.Mutex
	asked  []string          // "name TYPE net" of each question
	parsed map[string]dns.RR // by their text; parsing a thousand takes a while
}

func (s *nameServer) record(t *testing.T, text string) dns.RR {
	s.mu.Lock()
	defer s.mu.Unlock()
	rr, ok := s.parsed[text]
	if !ok {
		var err error
		if rr, err = dns.NewRR(text); err != nil {
			t.Errorf("%s: %v", text, err)
			rr = &dns.NULL{}
		}
		s.parsed[text] = rr
	}
	return rr
}

// serveDNS starts a server that answers with the records that zone gives for
// a question, in zone file syntax; nil is NXDOMAIN. An answer that is only
// an RCODE is written as "SERVFAIL", and "DROP" is none at all.
func serveDNS(t *testing.T, zone func(name, qtype string) []string) *nameServer {
	t.Helper()
	s := &nameServer{parsed: map[string]dns.RR{}}
	handler := dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		question := q.Question[0]
		qtype := dns.TypeToString[question.Qtype]
		s.mu.Lock()
		s.asked = append(s.asked, question.Name+" "+qtype+" "+w.RemoteAddr().Network())
		s.mu.Unlock()
		m := new(dns.Msg)
		m.SetReply(q)
		m.RecursionAvailable = true
		m.Compress = true
		records := zone(strings.TrimSuffix(question.Name, "."), qtype)
		switch {
		case records == nil:
			m.Rcode = dns.RcodeNameError
		case len(records) == 1 && records[0] == "DROP":
			return
		case len(records) == 1 && dns.StringToRcode[records[0]] != 0:
			m.Rcode = dns.StringToRcode[records[0]]
		default:
			for _, text := range records {
				m.Answer = append(m.Answer, s.record(t, text))
			}
			if w.RemoteAddr().Network() == "udp" {
				size := dns.MinMsgSize
				if opt := q.IsEdns0(); opt != nil {
					size = int(opt.UDPSize())
				}
				m.Truncate(size)
			}
		}
		_ = w.WriteMsg(m) // the asker may have gone
	})
	packets, listener := listenDNS(t)
	s.addr = packets.LocalAddr().String()
	servers := []*dns.Server{{PacketConn: packets, Handler: handler}, {Listener: listener, Handler: handler}}
	var done sync.WaitGroup
	for _, server := range servers {
		started := make(chan struct{})
		server.NotifyStartedFunc = func() { close(started) }
		done.Go(func() {
			if err := server.ActivateAndServe(); err != nil {
				t.Error(err)
			}
		})
		<-started
	}
	t.Cleanup(func() {
		for _, server := range servers {
			if err := server.Shutdown(); err != nil {
				t.Error(err)
			}
		}
		done.Wait()
	})
	return s
}

// listenDNS opens one port for UDP and TCP; the one that the kernel picks for
// the first may be taken for the second.
func listenDNS(t *testing.T) (net.PacketConn, net.Listener) {
	t.Helper()
	for range 20 {
		packets, err := net.ListenPacket("udp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		if listener, err := net.Listen("tcp", packets.LocalAddr().String()); err == nil {
			return packets, listener
		}
		packets.Close()
	}
	t.Fatal("no port is free for both UDP and TCP")
	return nil, nil
}

// questions gives what was asked so far, sorted.
func (s *nameServer) questions() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(slices.Values(s.asked))
}

// guardAsking is a Guard with the real lookup, asking the given server.
func guardAsking(t *testing.T, s *nameServer, allow ...string) (*Guard, *world) {
	t.Helper()
	w := &world{}
	g, err := New(Config{Resolver: s.addr, Connect: w.connect, LocalAddrs: noOwnAddresses, Allow: allow})
	if err != nil {
		t.Fatal(err)
	}
	return g, w
}

// records is a zone that never changes: "name TYPE" to its answers.
func records(table map[string][]string) func(name, qtype string) []string {
	return func(name, qtype string) []string {
		if answers, ok := table[name+" "+qtype]; ok {
			return answers
		}
		for key := range table {
			if strings.HasPrefix(key, name+" ") {
				return []string{} // the name is there, but not this type
			}
		}
		return nil
	}
}

func TestANameIsLookedUpInBothFamilies(t *testing.T) {
	s := serveDNS(t, records(map[string][]string{
		"both.example A":           {"both.example. 60 IN A 93.184.216.34"},
		"both.example AAAA":        {"both.example. 60 IN AAAA 2606:4700:4700::1111"},
		"four.example A":           {"four.example. 60 IN A 93.184.216.34", "four.example. 60 IN A 93.184.216.34"},
		"six.example AAAA":         {"six.example. 60 IN AAAA 2606:4700:4700::1111"},
		"xn--mnchen-3ya.example A": {"xn--mnchen-3ya.example. 60 IN A 93.184.216.34"},
	}))
	g, w := guardAsking(t, s)
	for raw, want := range map[string][]string{
		"http://both.example/":    {"2606:4700:4700::1111", "93.184.216.34"},
		"http://four.example/":    {"93.184.216.34"}, // each once
		"http://six.example/":     {"2606:4700:4700::1111"},
		"http://münchen.example/": {"93.184.216.34"},
	} {
		v := g.Explain(t.Context(), raw)
		var got []string
		for _, a := range v.Addresses {
			got = append(got, a.String())
		}
		slices.Sort(got)
		if v.Verdict != VerdictAllow || !slices.Equal(got, want) {
			t.Errorf("%s: %+v, want %v", raw, v, want)
		}
	}
	if len(w.connected) > 0 {
		t.Errorf("Explain connected to %v", w.connected)
	}
}

// A search list would turn "intranet" into whatever the operator's domain
// holds under that name.
func TestNamesAreLookedUpAbsolutely(t *testing.T) {
	s := serveDNS(t, records(nil))
	g, _ := guardAsking(t, s)
	err := dial(t, g, "no-such-single-label:80")
	f := sift.AsFailure(err)
	if f.Error() != "unreachable: the name no-such-single-label has no address; check its spelling" || f.Hint != "" {
		t.Errorf("%v (hint %q)", err, f.Hint)
	}
	want := []string{"no-such-single-label. A udp", "no-such-single-label. AAAA udp"}
	if diff := cmp.Diff(want, s.questions()); diff != "" {
		t.Error(diff)
	}
}

func TestACNAMEIsJudgedByItsAddress(t *testing.T) {
	s := serveDNS(t, records(map[string][]string{
		"cname.example A": {"cname.example. 60 IN CNAME intranet.corp.example.", "intranet.corp.example. 60 IN A 10.0.0.9"},
		"chain.example A": {"chain.example. 60 IN CNAME a.example.", "a.example. 60 IN CNAME b.example.", "b.example. 60 IN A 93.184.216.34", "b.example. 60 IN A 127.0.0.1"},
		"fine.example A":  {"fine.example. 60 IN CNAME www.example.", "www.example. 60 IN A 93.184.216.34"},
		"loop.example A":  {"loop.example. 60 IN CNAME loop.example."},
	}))
	g, w := guardAsking(t, s)
	wantBlocked(t, dial(t, g, "cname.example:80"), "private address 10.0.0.9")
	wantBlocked(t, dial(t, g, "chain.example:80"), "private address 127.0.0.1")
	if v := g.Explain(t.Context(), "http://loop.example/"); v.Verdict != VerdictUnresolved {
		t.Errorf("a CNAME loop is %+v", v)
	}
	if err := dial(t, g, "fine.example:80"); err != nil {
		t.Error(err)
	}
	if len(w.connected) != 1 {
		t.Errorf("connected to %v", w.connected)
	}
}

func thousandAnswers(last string) func(name, qtype string) []string {
	return func(name, qtype string) []string {
		if qtype != "A" {
			return []string{}
		}
		var out []string
		for i := range 999 {
			out = append(out, fmt.Sprintf("%s. 60 IN A 93.184.%d.%d", name, i/250, i%250))
		}
		return append(out, name+". 60 IN A "+last)
	}
}

func TestTheLastOfAThousandAnswersIsJudged(t *testing.T) {
	s := serveDNS(t, thousandAnswers("127.0.0.1"))
	g, w := guardAsking(t, s)
	wantBlocked(t, dial(t, g, "big.example:80"), "private address 127.0.0.1")
	if len(w.connected) > 0 {
		t.Errorf("connected to %v", w.connected)
	}
	if v := g.Explain(t.Context(), "http://big.example/"); v.Verdict != VerdictBlocked || len(v.Addresses) != 1000 {
		t.Errorf("%s with %d addresses", v.Verdict, len(v.Addresses))
	}
	if !slices.Contains(s.questions(), "big.example. A tcp") {
		t.Errorf("the truncated answer was not asked for again over TCP: %v", s.questions())
	}

	s = serveDNS(t, thousandAnswers("93.184.216.34"))
	g, w = guardAsking(t, s)
	if err := dial(t, g, "big.example:80"); err != nil || len(w.connected) != 1 {
		t.Errorf("%v, connected to %v", err, w.connected)
	}
}

// The first AAAA question is lost, so that the answer comes 200 ms after the
// A answer, on the second try; it counts all the same.
func TestALateLoopbackAnswerBlocksTheName(t *testing.T) {
	var mu sync.Mutex
	asked := map[string]int{}
	s := serveDNS(t, func(name, qtype string) []string {
		mu.Lock()
		defer mu.Unlock()
		asked[qtype]++
		switch {
		case qtype == "A":
			return []string{name + ". 0 IN A 93.184.216.34"}
		case asked[qtype] == 1:
			return []string{"DROP"}
		}
		return []string{name + ". 0 IN AAAA ::1"}
	})
	g, w := guardAsking(t, s)
	g.queryTimeout = 200 * time.Millisecond
	wantBlocked(t, dial(t, g, "rb4.example:80"), "private address ::1")
	if len(w.connected) > 0 {
		t.Errorf("connected to %v", w.connected)
	}
	if n := len(s.questions()); n != 3 {
		t.Errorf("asked %d questions: %v", n, s.questions())
	}
}

func TestEveryNewConnectionLooksTheNameUpAgain(t *testing.T) {
	var mu sync.Mutex
	asked := map[string]int{}
	s := serveDNS(t, func(name, qtype string) []string {
		if qtype != "A" {
			return []string{}
		}
		mu.Lock()
		defer mu.Unlock()
		asked[name]++
		if asked[name] == 1 {
			return []string{name + ". 0 IN A 93.184.216.34"}
		}
		return []string{name + ". 0 IN A 127.0.0.1"}
	})
	g, w := guardAsking(t, s)
	if err := dial(t, g, "rb.example:80"); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		wantBlocked(t, dial(t, g, "rb.example:80"), "private address 127.0.0.1")
	}
	// What Explain saw gives the dial no permission.
	if v := g.Explain(t.Context(), "http://rb2.example/"); v.Verdict != VerdictAllow {
		t.Errorf("%+v", v)
	}
	wantBlocked(t, dial(t, g, "rb2.example:80"), "private address 127.0.0.1")
	if len(w.connected) != 1 || w.connected[0].String() != "93.184.216.34:80" {
		t.Errorf("connected to %v", w.connected)
	}
}

func TestALookupThatFailsIsNoPermission(t *testing.T) {
	const failed, late, none = ": the name server failed", " in time", " has no address; check its spelling"
	for _, tt := range []struct {
		a, aaaa []string
		want    string
		hint    sift.Hint
	}{
		{[]string{"SERVFAIL"}, []string{"SERVFAIL"}, failed, sift.HintRetry},
		{[]string{"REFUSED"}, []string{"REFUSED"}, failed, sift.HintRetry},
		{[]string{"DROP"}, []string{"DROP"}, late, sift.HintRetry},
		// Half an answer is none: the other half might be the private one.
		{[]string{"rr.example. 0 IN A 93.184.216.34"}, []string{"SERVFAIL"}, failed, sift.HintRetry},
		{[]string{"rr.example. 0 IN A 93.184.216.34"}, []string{"DROP"}, late, sift.HintRetry},
		{[]string{"DROP"}, []string{"rr.example. 0 IN AAAA 2606:4700:4700::1111"}, late, sift.HintRetry},
		{[]string{}, []string{}, none, ""},
		{nil, nil, none, ""},
	} {
		t.Run(fmt.Sprint(tt.a, tt.aaaa), func(t *testing.T) {
			s := serveDNS(t, func(_, qtype string) []string {
				if qtype == "A" {
					return tt.a
				}
				return tt.aaaa
			})
			g, w := guardAsking(t, s)
			g.queryTimeout = 20 * time.Millisecond
			err := dial(t, g, "rr.example:80")
			f := sift.AsFailure(err)
			want := "the name rr.example could not be looked up" + tt.want
			if tt.want == none {
				want = "the name rr.example" + none
			}
			if f.Code != sift.CodeUnreachable || f.Message != want || f.Hint != tt.hint {
				t.Errorf("%v (hint %q), want %s", f, f.Hint, want)
			}
			if len(w.connected) > 0 {
				t.Errorf("connected to %v", w.connected)
			}
			v := g.Explain(t.Context(), "http://rr.example/")
			text, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			if want := `{"url":"http://rr.example/","verdict":"unresolved","reason":"` + want + `","addresses":[]}`; string(text) != want {
				t.Errorf("%s, want %s", text, want)
			}
		})
	}
}

func TestALostPacketIsAskedForAgain(t *testing.T) {
	var mu sync.Mutex
	lost := map[string]bool{}
	s := serveDNS(t, func(name, qtype string) []string {
		mu.Lock()
		defer mu.Unlock()
		if !lost[qtype] {
			lost[qtype] = true
			return []string{"DROP"}
		}
		if qtype == "A" {
			return []string{name + ". 0 IN A 93.184.216.34"}
		}
		return []string{}
	})
	g, _ := guardAsking(t, s)
	g.queryTimeout = 20 * time.Millisecond
	if err := dial(t, g, "lossy.example:80"); err != nil {
		t.Error(err)
	}
}

func TestAnAAAARecordWithAnIPv4AddressInsideIsJudged(t *testing.T) {
	s := serveDNS(t, func(name, qtype string) []string {
		inside, _, _ := strings.Cut(name, ".")
		if qtype == "A" {
			return []string{name + ". 0 IN A 93.184.216.34"}
		}
		return []string{name + ". 0 IN AAAA " + map[string]string{
			"mapped": "::ffff:169.254.169.254", "compat": "::7f00:1", "isatap": "2606:4700::5efe:7f00:1", "fine": "::ffff:8.8.8.8",
		}[inside]}
	})
	g, w := guardAsking(t, s)
	wantBlocked(t, dial(t, g, "mapped.example:80"), "private address 169.254.169.254")
	wantBlocked(t, dial(t, g, "compat.example:80"), "private address ::7f00:1 (IPv4-compatible, ::/96)")
	wantBlocked(t, dial(t, g, "isatap.example:80"), "private address 2606:4700::5efe:7f00:1 (ISATAP with 127.0.0.1 inside)")
	if len(w.connected) > 0 {
		t.Errorf("connected to %v", w.connected)
	}
	if v := g.Explain(t.Context(), "http://fine.example/"); v.Verdict != VerdictAllow || !slices.Contains(v.Addresses, netip.MustParseAddr("8.8.8.8")) {
		t.Errorf("%+v", v)
	}
}

// Go's resolver alone would say "no such host" to each of these.
func TestLabelsWithHyphensAtTheirEdgesAreLookedUp(t *testing.T) {
	for _, host := range []string{"-a.example", "a-.example", "--a--.b-.example", "-.example", "r3---sn-.example", "xn--mnchen-3ya.a-.example"} {
		t.Run(host, func(t *testing.T) {
			for _, n := range []int{1, 200} { // 200 answers come over TCP
				s := serveDNS(t, func(name, qtype string) []string {
					if name != host {
						t.Errorf("asked for %s", name)
						return nil
					}
					if qtype == "AAAA" {
						return []string{name + ". 0 IN CNAME other.example.", "other.example. 0 IN AAAA 2606:4700:4700::1111"}
					}
					var out []string
					for i := range n {
						out = append(out, fmt.Sprintf("%s. 0 IN A 93.184.216.%d", name, i))
					}
					return out
				})
				g, _ := guardAsking(t, s)
				if v := g.Explain(t.Context(), "http://"+host+"/"); v.Verdict != VerdictAllow || len(v.Addresses) != n+1 {
					t.Errorf("%d answers: %+v", n, v)
				}
			}
		})
	}
	s := serveDNS(t, func(_, _ string) []string { return nil })
	g, _ := guardAsking(t, s)
	if v := g.Explain(t.Context(), "http://-gone.example/"); v.Verdict != VerdictUnresolved || v.Reason != "the name -gone.example has no address; check its spelling" {
		t.Errorf("%+v", v)
	}
}

// An answer about another name than the one that was asked for is a forgery,
// also where the name was respelt on the way.
func TestAnAnswerToAnotherQuestionIsDropped(t *testing.T) {
	for _, host := range []string{"plain.example", "-a.example"} {
		packets, err := net.ListenPacket("udp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			b := make([]byte, 1500)
			for {
				n, from, err := packets.ReadFrom(b)
				if err != nil {
					return
				}
				q := new(dns.Msg)
				if err := q.Unpack(b[:n]); err != nil {
					t.Error(err)
					return
				}
				for _, name := range []string{"_a.example.", "other.example.", ""} {
					m := new(dns.Msg)
					m.SetReply(q)
					m.Question[0].Name = name
					if name == "" {
						m.Question = nil
					}
					if rr, err := dns.NewRR(host + ". 0 IN A 10.0.0.1"); err == nil {
						m.Answer = append(m.Answer, rr)
					}
					if out, err := m.Pack(); err == nil {
						_, _ = packets.WriteTo(out, from)
					}
				}
				_, _ = packets.WriteTo(b[:5], from) // and a stump
			}
		}()
		w := &world{}
		g, err := New(Config{Resolver: packets.LocalAddr().String(), Connect: w.connect, LocalAddrs: noOwnAddresses})
		if err != nil {
			t.Fatal(err)
		}
		g.queryTimeout = 30 * time.Millisecond
		if err := dial(t, g, host+":80"); sift.AsFailure(err).Message != "the name "+host+" could not be looked up in time" {
			t.Errorf("%s: %v", host, err)
		}
		packets.Close()
		<-ended
	}
}

func TestALookupErrorOfAnyKindIsAFailureAndNotAnAddress(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want string
	}{
		{&net.DNSError{Err: "no such host", IsNotFound: true}, "the name example.com has no address; check its spelling"},
		{&net.DNSError{Err: "server misbehaving", IsTemporary: true}, "the name example.com could not be looked up: the name server failed"},
		{&net.DNSError{Err: "i/o timeout", IsTimeout: true}, "the name example.com could not be looked up in time"},
		{net.ErrClosed, "the name example.com could not be looked up: the name server failed"},
		{nil, "the name example.com has no address; check its spelling"},
	} {
		g, w := newGuard(t, Config{Lookup: func(context.Context, string) ([]netip.Addr, error) { return nil, tt.err }})
		f := sift.AsFailure(dial(t, g, "example.com:80"))
		if f.Code != sift.CodeUnreachable || f.Message != tt.want {
			t.Errorf("%v: %v", tt.err, f)
		}
		if len(w.connected) > 0 {
			t.Errorf("%v: connected to %v", tt.err, w.connected)
		}
	}
}

func TestAResolverIsNamedByItsAddress(t *testing.T) {
	for text, want := range map[string]string{
		"127.0.0.1:5353": "127.0.0.1:5353", "127.0.0.1": "127.0.0.1:53", "[fd00::53]:53": "[fd00::53]:53", "fd00::53": "[fd00::53]:53",
	} {
		if got, err := parseResolver(text); err != nil || got != want {
			t.Errorf("%s is read as %s, %v", text, got, err)
		}
	}
	for _, text := range []string{"localhost:53", "127.0.0.1:0", "127.0.0.1:", "127.1:53", ":53"} {
		if got, err := parseResolver(text); err == nil {
			t.Errorf("%s is read as %s", text, got)
		}
	}
}

func FuzzDNSAnswer(f *testing.F) {
	_, a := respell("-a.b-.example")
	m := new(dns.Msg)
	m.SetQuestion("-a.b-.example.", dns.TypeA)
	packed, err := m.Pack()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(packed)
	f.Add([]byte{})
	f.Add(packed[:12])
	f.Fuzz(func(t *testing.T, msg []byte) {
		before := slices.Clone(msg)
		a.answer(msg)
		if len(msg) >= dnsHeader && !slices.Equal(msg[:dnsHeader], before[:dnsHeader]) {
			t.Fatal("the header was changed")
		}
		if end := dnsHeader + len(a.real); len(msg) > end && !slices.Equal(msg[end:], before[end:]) {
			t.Fatal("something behind the name was changed")
		}
		alias{}.answer(msg)
	})
}

func BenchmarkCheckURL(b *testing.B) {
	g, _ := newGuard(b, Config{})
	for _, raw := range []string{"https://example.com/a/b/c?d=e", "https://münchen.example/straße"} {
		b.Run(raw, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := g.CheckURL(raw); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
