package normalize

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func tagged(s string) string {
	var b strings.Builder
	for _, r := range s {
		b.WriteRune(0xe0000 + r)
	}
	return b.String()
}

func TestInvisibleCharactersGoAndTheSpellingOfWordsStays(t *testing.T) {
	england := "🏴" + tagged("gbeng") + "\U000e007f"
	for _, c := range []struct{ name, in, want string }{
		{"white space", "  a \t\r\n b  ", " a\nb "},
		{"only spaces", " \t ", " "},
		{"only a line break", " \n\t ", "\n"},
		{"no-break spaces", "12\u00a0000\u202f€ a\u2003b", "12 000 € a b"},
		{"the ideographic space is content", "東京\u3000大阪", "東京\u3000大阪"},
		{"line separators", "a\u2028b\u0085c", "a\nb\nc"},
		{"soft hyphens", "Donau\u00addampf\u00adschiff", "Donaudampfschiff"},
		{"zero width", "zero\u200bwidth\u2060x\ufeffy", "zerowidthxy"},
		{"joiners inside words", "pass\u200dword\u200cx", "passwordx"},
		{"an emoji's joiners", "👩\u200d👩\u200d👧\u200d👦 🏳\ufe0f\u200d🌈 ❤\ufe0f 1\ufe0f\u20e3", "👩\u200d👩\u200d👧\u200d👦 🏳\ufe0f\u200d🌈 ❤\ufe0f 1\ufe0f\u20e3"},
		{"Persian", "می\u200cخواهم", "می\u200cخواهم"},
		{"Hindi", "क्\u200dष", "क्\u200dष"},
		{"a flag", england + "!", england + "!"},
		{"Texas", "🏴" + tagged("ustx") + "\U000e007f", "🏴" + tagged("ustx") + "\U000e007f"},
		{"not a flag", "🏴" + tagged("send it") + "\U000e007f flies", "🏴 flies"},
		{"a flag without end", "🏴" + tagged("gbeng") + " x", "🏴 x"},
		{"tags in a word", "ma" + tagged("hi") + "st", "mast"},
		{"variation selectors that smuggle", "😀\ufe01\ufe02\U000e0101\U000e0102!", "😀!"},
		{"one variation selector too many", "❤\ufe0f\ufe0f\ufe0f", "❤\ufe0f"},
		{"ideographic variants", "葛\U000e0100飾", "葛\U000e0100飾"},
		{"Hangul fillers", "a\u3164b\uffa0c", "abc"},
		{"overrides and isolates", "a\u202eb\u202c\u2066c\u2069", "abc"},
		{"direction marks", "a\u200e\u200fb\u061c", "ab"},
		{"control characters", "a\x00b\x1b[31mc\x7f\u009b", "ab[31mc"},
		{"not characters", "a\ufffe\uffff\ufdd0b\U0010ffff", "ab"},
		{"annotations", "a\ufff9b\ufffbc", "abc"},
		{"bytes that are not UTF-8", "a\xffb", "a\ufffdb"},
		{"Chinese line breaks", "源码里\n  被分成\n了。\n\nand words\n漢字", "源码里被分成了。\nand words\n漢字"},
		{"Korean line breaks", "한국어\n문장", "한국어\n문장"},
		{"an icon font", "\ue800 \ue801", " "},
		{"a private character in a text", "x\ue800", "x\ue800"},
	} {
		p := &pass{}
		if got := p.text(c.in, false); got != c.want {
			t.Errorf("%s: %+q, want %+q", c.name, got, c.want)
		}
	}
}

func TestCodeKeepsItsWhiteSpace(t *testing.T) {
	p := &pass{}
	if got, want := p.text("a \t b\r\n\r\n\u00a0 c\u200b\r d", true), "a \t b\n\n  c\n d"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestRemovalsAreCounted(t *testing.T) {
	r := parse(t, "<p>a\u202eb\u2066c\u2069 pass\u200dword \x01 x\U000e0101 soft\u00adhyphen</p>")
	if r.Bidi != 3 || r.Invisible != 3 {
		t.Errorf("bidi %d, invisible %d", r.Bidi, r.Invisible)
	}
}

func TestTextIsCleanOnceItHasBeenCleaned(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOf(rapid.OneOf(rapid.Rune(), rapid.RuneFrom([]rune("a \n\t\u00a0\u200d\u200c\ufe0f❤🏴👩漢。‍\u202e\u00ad")), rapid.RuneFrom([]rune{0xe0067, 0xe0062, 0xe007f, 0xe0100, 0x1160, 0x3164}))).Draw(t, "s")
		pre := rapid.Bool().Draw(t, "pre")
		p := &pass{}
		once := p.text(s, pre)
		if !utf8.ValidString(once) {
			t.Fatalf("not UTF-8: %q", once)
		}
		if twice := p.text(once, pre); twice != once {
			t.Fatalf("%+q becomes %+q, then %+q", s, once, twice)
		}
	})
}
