package digest

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func words(s string) []string {
	var out []string
	l := lexer{emit: func(t token) { out = append(out, t.text) }}
	l.run(s)
	return out
}

func TestWordsAreCutAndCompoundsKept(t *testing.T) {
	for _, c := range []struct {
		in   string
		want string
	}{
		{"Plain words, here.", "plain words here"},
		{"MaxBytesReader", "max bytes reader maxbytesreader"},
		{"HTTPServer", "http server httpserver"},
		{"snake_case", "snake case snake_case"},
		{"import net/http now", "import net http net/http now"},
		{"v1.2.3", "1.2.3 1.2 v1.2.3"},
		{"Go 1.22", "go 1.22"},
		{"RFC 9110", "rfc 9110"},
		{"RFC9110", "rfc 9110 rfc9110"},
		{"status 404.", "status 404"},
		{"10,000 files", "10000 files"},
		{"1,2 and 3", "1 2 and 3"},
		{"sha256", "sha 256 sha256"},
		{"x86-64", "x86-64"},
		{"mail ann.lee@example.org", "mail ann lee example org ann.lee@example.org"},
		{"/etc/passwd", "etc passwd etc/passwd"},
		{"go test -race --dry-run", "go test race -race dry run dry-run --dry-run"},
		{"C++ and C# are not C", "c c++ and c c# are not c"},
		{"std::vector a->b", "std vector std::vector a->b"},
		{"don't the server's", "don t the server s"},
		{"l'école", "l école"},
		{"x := <-ch && y", "x := ch && y"},
		{"中文分词", "中文 文分 分词"},
		{"用Go写", "用 go 写"},
		{"한국어 책", "한국 국어 책"},
		{"สวัสดี", "สวั วัส สดี"},
		{"ＦＵＬＬ　ｗｉｄｔｈ", "full width"},
		{"ﬁle", "file"},
		{"Ёлка", "елка"},
		{"naïve cafe\u0301", "naïve café"},
		{"…—!?", ""},
		{"can maps be compared with ==?", "can maps be compared with =="},
		{"use `==`, (!=) or \"<=\". a := b?", "use == != or <= a := b"},
		{"is it &&!", "is it &&"},
		{"is it <?", "is it"},
		{"why??? really?! ??", "why really"},
		{"what does ?? do", "what does ?? do"},
		{"what are ... and ?: for", "what are ... and ?: for"},
	} {
		if diff := cmp.Diff(c.want, strings.Join(words(c.in), " ")); diff != "" {
			t.Errorf("%s: %s", c.in, diff)
		}
	}
}

func TestTheFormsOfOneWordShareItsPlace(t *testing.T) {
	var got []int
	l := lexer{emit: func(t token) { got = append(got, t.pos) }}
	n := l.run("call MaxBytesReader first")
	if want := []int{0, 1, 2, 3, 1, 4}; !slices.Equal(got, want) || n != 5 {
		t.Errorf("places %v of %d words, want %v of 5", got, n, want)
	}
}

func TestSignsOfMarkdownAreNotRead(t *testing.T) {
	r := reader{markdown: true}
	for in, want := range map[string]string{
		`shared\_ptr`:                             "shared_ptr",
		"**bold** and `code`":                     "bold and code",
		"[the page](https://example.org/a_(b)) x": "[the page  x",
		"m<sup>2</sup> a<br>b":                    "m2 a b",
		"a < b":                                   "a < b",
		"2*3":                                     "2*3",
	} {
		if got := r.of(in); got != want {
			t.Errorf("%s is read as %q, want %q", in, got, want)
		}
	}
}

func FuzzWords(f *testing.F) {
	for _, s := range []string{"MaxBytesReader net/http v1.2.3 10,000", "中文 สวัสดี 한국어", "a'b c++ --x", "\u0301\u200d9.", "1.2.3.4.5.", "ǅAa"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		last, total := 0, 0
		l := lexer{emit: func(tok token) {
			if tok.text == "" || tok.pos < 0 || tok.at < 0 || tok.end <= tok.at || tok.end > len(s) {
				t.Fatalf("token %+v of %q", tok, s)
			}
			if !utf8.ValidString(tok.text) && utf8.ValidString(s) {
				t.Fatalf("token %q of valid text is not valid", tok.text)
			}
			if tok.kind != tokenWhole || tok.words > 0 { // an operator has the place of the next word
				last = max(last, tok.pos+1)
			}
			total += len(tok.text)
		}}
		if n := l.run(s); n < last {
			t.Fatalf("%d words, and one is number %d", n, last)
		}
		if total > 16*len(s)+64 {
			t.Fatalf("%d bytes of words out of %d", total, len(s))
		}
		for _, lang := range listed() {
			m := newMatcher(&question{tongues: []tongue{lang}})
			for _, w := range words(s) {
				lang.stem(m.env, w)
			}
		}
	})
}
