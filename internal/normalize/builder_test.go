package normalize

import "testing"

func TestWhatIsBuiltIsCleanedAsAPageIs(t *testing.T) {
	var b Builder
	if got := b.Text("a  b\u200b\u202ec\U000e0041\U000e0042\ufeff"); got != "a bc" {
		t.Errorf("text %q", got)
	}
	if got := b.Code("a  b\tc"); got != "a  b\tc" {
		t.Errorf("code %q", got)
	}
	if got := b.Line("  a\n b "); got != "a b" {
		t.Errorf("line %q", got)
	}
	if r := b.Removed(); r.TagChars != 2 || r.Bidi != 1 {
		t.Errorf("removed %+v", r)
	}
	for href, want := range map[string]struct {
		abs         string
		private, ok bool
	}{
		"https://a.example/x y":  {"https://a.example/x%20y", false, true},
		"http://10.0.0.1/admin":  {"http://10.0.0.1/admin", true, true},
		"http://localhost:8080/": {"http://localhost:8080/", true, true},
		"mailto:a@b.example":     {"mailto:a@b.example", false, true},
		"javascript:alert(1)":    {"", false, false},
		"file:///etc/passwd":     {"", false, false},
		"relative.html":          {"", false, false},
	} {
		abs, private, ok := b.Link(href)
		if abs != want.abs || private != want.private || ok != want.ok {
			t.Errorf("%q: %q, private %v, ok %v", href, abs, private, ok)
		}
	}
}
