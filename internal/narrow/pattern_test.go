package narrow

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"sift.build/sift/internal/sift"
)

func TestABrokenPatternIsRefusedWithItsFaultAndThePlaceOfIt(t *testing.T) {
	for in, want := range map[string]string{
		`kept (for`:        `a "(" is not closed, ")" is missing at character 6, between the marks in "kept >>>(<<<for"; close it, or write \( for the sign itself`,
		`a(b)(c[(]\(\Q(\E`: `a "(" is not closed, ")" is missing at character 5, between the marks in "a(b)>>>(<<<c[(]\(\Q(\E"; close it, or write \( for the sign itself`,
		`größe)`:           `a ")" closes nothing at character 6, between the marks in "größe>>>)<<<"; write \) for the sign itself`,
		`[)]a)b`:           `a ")" closes nothing at character 5, between the marks in "[)]a>>>)<<<b"; write \) for the sign itself`,
		`[[:]a](b))`:       `a ")" closes nothing at character 10, between the marks in "[[:]a](b)>>>)<<<"; write \) for the sign itself`,
		`price [eur`:       `a "[" is not closed, "]" is missing at character 7, between the marks in "price >>>[<<<eur"; close it, or write \[ for the sign itself`,
		`[z-a]`:            `"z-a" is no range of characters at character 2, between the marks in "[>>>z-a<<<]"; write it from the lower to the higher one, and \- for the sign itself`,
		`\p{Klingon}`:      `"\p{Klingon}" is no class of characters at character 1, between the marks in ">>>\p{Klingon}<<<"; write one like \p{Greek}, [[:alpha:]], \w or [a-z]`,
		`[[:vowel:]]`:      `"[:vowel:]" is no class of characters at character 2, between the marks in "[>>>[:vowel:]<<<]"; write one like \p{Greek}, [[:alpha:]], \w or [a-z]`,
		`(\w+) \1`:         `"\1" refers back to a group at character 7, between the marks in "(\w+) >>>\1<<<"; RE2 patterns cannot do that; write out what is to be found`,
		`\q`:               `"\q" means nothing at character 1, between the marks in ">>>\q<<<"; write \\ for a backslash, and \b, \d, \s or \w for what they stand for`,
		`c:\`:              `a backslash has nothing behind it at character 3, between the marks in "c:>>>\<<<"; write \\ for the sign itself`,
		`*.html`:           `"*" has nothing before it to repeat at character 1, between the marks in ">>>*<<<.html"; write \* for the sign itself`,
		`a|+`:              `"+" has nothing before it to repeat at character 3, between the marks in "a|>>>+<<<"; write \+ for the sign itself`,
		`C++`:              `"++" repeats what is repeated already at character 2, between the marks in "C>>>++<<<"; leave one out; RE2 patterns have no possessive repeats`,
		`[++]C++`:          `"++" repeats what is repeated already at character 6, between the marks in "[++]C>>>++<<<"; leave one out; RE2 patterns have no possessive repeats`,
		`a{1001}`:          `the repeat "{1001}" is out of range at character 2, between the marks in "a>>>{1001}<<<"; counts go from the lower to the higher one and up to 1000, repeats inside repeats multiplied`,
		`a(?=b)`:           `"(?=" looks ahead or behind at character 2, between the marks in "a>>>(?=<<<b)"; RE2 patterns cannot do that; search for the text itself, its neighbours are shown anyway`,
		`(?<!a)b`:          `"(?<!" looks ahead or behind at character 1, between the marks in ">>>(?<!a)b<<<"; RE2 patterns cannot do that; search for the text itself, its neighbours are shown anyway`,
		`a(?<n m>b)`:       `"(?<n m>" is no named group at character 2, between the marks in "a>>>(?<n m><<<b)"; leave the name out`,
		`(?x)a`:            `"(?x" means nothing at character 1, between the marks in ">>>(?x<<<)a"; write (?i) to ignore case, (?:…) for a group, and \( for the sign itself`,
		"é\xffa":           `it is not UTF-8 at character 2, between the marks in "é>>>\xff<<<a"; send it as UTF-8`,
		"a\x1b[(":          `a "[" is not closed, "]" is missing at character 3, between the marks in "a\x1b>>>[<<<("; close it, or write \[ for the sign itself`,
		strings.Repeat("long ", 20) + `(` + strings.Repeat(" tail", 20): `a "(" is not closed, ")" is missing at character 101, between the marks in "…` + strings.Repeat("long ", 6) + `>>>(<<<` + strings.Repeat(" tail", 6) + `…"; close it, or write \( for the sign itself`,
	} {
		p, err := ParsePattern(in)
		if err == nil {
			t.Errorf("%q is taken as %v", in, p)
			continue
		}
		f := sift.AsFailure(err)
		if diff := cmp.Diff("invalid: grep has a broken pattern: "+want, f.Error()); diff != "" {
			t.Errorf("%q: %s", in, diff)
		}
		if !utf8.ValidString(f.Message) {
			t.Errorf("%q: the message is not UTF-8", in)
		}
	}
}

func TestAPatternOverItsBoundsIsRefusedAtOnceWithWhatToDo(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"empty", "", "invalid: grep has an empty pattern; leave it out to get the whole content"},
		{"1,001 characters", strings.Repeat("é", 1001), "invalid: grep has a pattern of 1001 characters; at most 1000 can be searched for at once"},
		{"100 KB", strings.Repeat("(a|b)*", 17_000), "invalid: grep has a pattern of 102000 characters; at most 1000 can be searched for at once"},
		{"2,000 nested groups", strings.Repeat("(", 2000) + strings.Repeat(")", 2000), "invalid: grep has a pattern of 4000 characters; at most 1000 can be searched for at once"},
		{"repeats of repeats", "((((a{10}){10}){10}){10})", `invalid: grep has a broken pattern: the repeat "{10}" is out of range at character 21, between the marks in "((((a{10}){10}){10})>>>{10}<<<)"; counts go from the lower to the higher one and up to 1000, repeats inside repeats multiplied`},
		{"just over the size", "za{999}b{997}z", "invalid: grep has a pattern that is too large: with its repeats written out it has 2000 steps"},
		{"a million steps", "(?:" + strings.Repeat("a", 900) + "){1000}", "invalid: grep has a pattern that is too large: with its repeats written out it has 900002 steps, and at most 2000 can be searched for. Use smaller counts, or .* instead of .{0,1000}"},
		{"many repeats", strings.Repeat("(?:(?:x?){30}){30}", 50), "invalid: grep has a pattern that is too large"},
		{"wide ranges under (?i)", "(?i)[" + strings.Repeat("B-\U0001e942", 300) + "]", `invalid: grep has a pattern with 300 wide ranges of characters; at most 8 can be searched for at once. Name a script instead, such as \p{Greek}`},
		{"wide ranges written as escapes", strings.Repeat(`(?i:[A-\x{1e942}])`, 50), "invalid: grep has a pattern with 50 wide ranges of characters"},
		{"wide ranges behind odd brackets", `(?i)[[:]` + strings.Repeat(`[]B-`+"\U0001e942]", 50), "invalid: grep has a pattern with 50 wide ranges of characters"},
	} {
		t.Run(c.name, func(t *testing.T) {
			start := time.Now()
			_, err := ParsePattern(c.in)
			if c.name == "just over the size" {
				// 999 + 997 + 4 is exactly at the bound, one more is over it.
				if err != nil {
					t.Fatal(err)
				}
				_, err = ParsePattern(c.in + "z")
				c.want = "invalid: grep has a pattern that is too large: with its repeats written out it has 2001 steps"
			}
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("%v", err)
			}
			if took := time.Since(start); took > 2*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

func TestAPatternWithinItsBoundsIsTaken(t *testing.T) {
	for _, in := range []string{
		strings.Repeat("é", 1000), `.{0,200}foo.{0,200}`, `(?i)[а-яё]+[a-zäöü]*[α-ω][一-丁]`, `(?i)\d-\d-\d-\d-\d-\d-\d-\d-\d-\d-é-é`,
		`\Qa(b\E`, `(?i)shared_ptr`, `[]a]`, `[^]a]`, `a{2,}?`, `(?U)a+b`, `x{0}`, `()`, `(|a)*`, `(?:a*)*`, `^$`, `\pL+`, `(?P<year>\d{4})`, `(?s).`, "\ufffd",
	} {
		if _, err := ParsePattern(in); err != nil {
			t.Errorf("%q: %v", in, err)
		}
	}
}

func TestWhatIsSearchedForIsAsLittleAsWillDo(t *testing.T) {
	for in, want := range map[string]string{
		`.{0,200}foo.{0,200}`: `foo`,
		`(.*)foo(bar)?`:       `foo`,
		`(?:.+foo.*)`:         `.foo`,
		`\w{2,9}foo\d{3,}`:    `\w{2}?foo\d{3}?`,
		`.*foo|.*bar`:         `foo|bar`,
		`a*b+c?`:              `b`,
		`.*`:                  `(?:)`,
		`(a*)?`:               `(?:)`,
		`(a+)+`:               `a`,
		`^.*foo`:              `^.*?foo`,
		`foo.*$`:              `foo.*?$`,
		`a.*b`:                `a.*?b`,
		`(?U)a.*b`:            `a.*?b`,
		`a|b*`:                `a|(?:)`,
		`(ab+)c*|.*(dd)`:      `ab|dd`,
		`(?i).*K`:             `(?i:K)`,
	} {
		re, err := syntax.Parse(want, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		if got := pattern(t, in).re.String(); got != re.String() {
			t.Errorf("%s is searched for as %s, not %s", in, got, re)
		}
	}
}

func TestAPatternSaysHowItWasWritten(t *testing.T) {
	const in = `(?i)a(b|c){2}`
	p, err := ParsePattern(in)
	if err != nil {
		t.Fatal(err)
	}
	if p.String() != in {
		t.Errorf("%q", p)
	}
}

// The cost of a search is reckoned with the steps counted on the tree: the
// program must not have more.
func checkSize(t *testing.T, p *Pattern) {
	t.Helper()
	tree, err := syntax.Parse(p.re.String(), syntax.Perl)
	if err != nil {
		t.Fatal(err)
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		t.Fatal(err)
	}
	if len(prog.Inst) > p.size {
		t.Errorf("%q has %d instructions, and %d steps were counted", p.text, len(prog.Inst), p.size)
	}
}

func TestNoProgramHasMoreInstructionsThanStepsAreCounted(t *testing.T) {
	for _, in := range []string{
		`a`, `abc`, `(?i)abc`, `a*`, `a+`, `a?`, `(a)`, `(?:a*)*`, `(a|b|cd)`, `a{3}`, `a{3,}`, `a{0,}`, `(?:a?){3,9}`, `(?:(a*)?){2,}`, `x{0}`, `()`, `(|a)*`, `^\b$`, `(?:a{1,30}){1,30}`,
		`.*`, `[^a]\pL`, `(?:|){9}`, `(?:^)*`, `(?:^){0,3}`, `((a{0,2}){0,2}){0,2}`,
	} {
		p, err := ParsePattern(in)
		if err != nil {
			t.Fatal(err)
		}
		checkSize(t, p)
	}
}

func FuzzParsePattern(f *testing.F) {
	for _, s := range []string{`kept (for`, `(?i)[a-z]{2,}\b|^x$`, `a**`, `\Qa(b`, `(?P<n`, "a\xff", `[[:alpha:]`, `(?U)a*?b+`, `[[:]`, `(?:(a*)?){2,}`, `(?i)[B-` + "\U0001e942]"} {
		f.Add(s, "a b\nxx éa(b")
	}
	f.Fuzz(func(t *testing.T, s, text string) {
		start := time.Now()
		p, err := ParsePattern(s)
		if took := time.Since(start); took > 3*time.Second {
			t.Fatalf("%q took %v", s, took)
		}
		if err != nil {
			if failure := sift.AsFailure(err); failure.Code != sift.CodeInvalid || utf8.RuneCountInString(failure.Message) > 1000 || !utf8.ValidString(failure.Message) {
				t.Fatalf("%q: %v", s, err)
			}
			return
		}
		checkSize(t, p)
		// Each way to search gives what the regexp package gives for the whole.
		if len(text) > 2000 {
			text = text[:2000]
		}
		found := regexp.MustCompile(s).MatchString(text)
		want := p.re.FindAllStringIndex(text, -1)
		for _, pattern := range []*Pattern{p, {text: s, re: p.re, behind: p.behind, size: stepMax}} { // the second looks at the clock at each character
			got, err := pattern.match(t.Context(), text)
			if err != nil || got != found || found != (want != nil) {
				t.Fatalf("%q in %q: %v, %v", s, text, got, err)
			}
			at, end, err := pattern.find(t.Context(), text, 0)
			if err != nil || want == nil && at >= 0 || want != nil && (at != want[0][0] || end < at || end > len(text)) {
				t.Fatalf("%q in %q at %d to %d, not %v: %v", s, text, at, end, want, err)
			}
			for i := 1; i < len(want); i++ {
				from := want[i-1][1]
				at, _, err := pattern.find(t.Context(), text, from)
				if err != nil || at != want[i][0] && at != from { // an empty match right behind another is none to the regexp package
					t.Fatalf("%q in %q from %d at %d, not %v: %v", s, text, from, at, want[i], err)
				}
			}
		}
	})
}
