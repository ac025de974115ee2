package extract

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"

	"sift.build/sift/internal/sift"
)

// encode writes text in one of the encodings of the WHATWG table.
func encode(t testing.TB, name, text string) []byte {
	t.Helper()
	enc, err := htmlindex.Get(name)
	if err != nil {
		t.Fatal(err)
	}
	return encodeWith(t, enc, text)
}

func encodeWith(t testing.TB, enc encoding.Encoding, text string) []byte {
	t.Helper()
	b, err := enc.NewEncoder().Bytes([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// decoded is what Decode says.
type decoded struct{ Text, Charset, From string }

func TestADeclaredCharacterSetIsReadAsBrowsersReadIt(t *testing.T) {
	meta := func(label, text string) string {
		return `<!DOCTYPE html><html><head><meta charset="` + label + `"></head><body>` + text + `</body></html>`
	}
	pragma := func(label, text string) string {
		return `<html><head><META content='text/html; charset=` + label + `' HTTP-EQUIV=Content-Type></head><body>` + text
	}
	late := `<html><head><style>` + strings.Repeat(".a{color:red}", 4000) + `</style><meta charset=utf-8><body>“late”`
	tests := []struct {
		name, contentType string
		body              []byte
		want              decoded
	}{
		{"gb2312 in meta is gb18030", "text/html", encode(t, "gb18030", meta("gb2312", "镕城 喆字")), decoded{meta("gb2312", "镕城 喆字"), "gb18030", "meta"}},
		{"gbk knows four-byte characters", "text/html", encode(t, "gb18030", meta("GBK", "𠮷田")), decoded{meta("GBK", "𠮷田"), "gb18030", "meta"}},
		{"Shift_JIS from the header", "text/html; charset=Shift_JIS", encode(t, "shift_jis", "①ソケット能力"), decoded{"①ソケット能力", "shift_jis", "header"}},
		{"quotes and case in the header", `text/html;CHARSET="Windows-1251"`, encode(t, "windows-1251", "Паром"), decoded{"Паром", "windows-1251", "header"}},
		{"a header that mime refuses", "text/html; charset=utf-8; charset=utf-8", []byte("<p>é"), decoded{"<p>é", "utf-8", "header"}},
		{"x-euc-jp is an alias", "text/html", encode(t, "euc-jp", meta("x-euc-jp", "終バス")), decoded{meta("x-euc-jp", "終バス"), "euc-jp", "meta"}},
		{"a pragma in any case and order", "text/html", encode(t, "windows-1251", pragma("windows-1251", "Расписание")), decoded{pragma("windows-1251", "Расписание"), "windows-1251", "meta"}},
		{"meta beyond a kilobyte", "text/html", []byte(late), decoded{late, "utf-8", "meta"}},
		{"meta in a comment does not count", "text/html", []byte(`<!-- <meta charset=koi8-r> --><meta charset=utf-8>é`), decoded{`<!-- <meta charset=koi8-r> --><meta charset=utf-8>é`, "utf-8", "meta"}},
		{"meta in a script does not count", "text/html", []byte(`<script>"<meta charset=koi8-r>"</script><meta charset=utf-8>é`), decoded{`<script>"<meta charset=koi8-r>"</script><meta charset=utf-8>é`, "utf-8", "meta"}},
		{"an unknown label does not hide a known one", "text/html", []byte(`<meta charset=bogus><meta charset=utf-8>é`), decoded{`<meta charset=bogus><meta charset=utf-8>é`, "utf-8", "meta"}},
		{"utf-16 in meta is utf-8", "text/html", []byte(`<meta charset=utf-16>é`), decoded{`<meta charset=utf-16>é`, "utf-8", "meta"}},
		{"the header comes before meta", "text/html; charset=windows-1252", []byte("<meta charset=utf-8>\x93x\x94"), decoded{"<meta charset=utf-8>“x”", "windows-1252", "header"}},
		{"declared windows-1252 is meant", "text/html", encode(t, "windows-1252", meta("windows-1252", "“€9” – …")), decoded{meta("windows-1252", "“€9” – …"), "windows-1252", "meta"}},
		{"iso-8859-1 is windows-1252", "text/html", encode(t, "windows-1252", meta("iso-8859-1", "It’s")), decoded{meta("iso-8859-1", "It’s"), "windows-1252", "meta"}},
		{"a UTF-8 mark outranks the header", "text/html; charset=windows-1252", []byte("\xef\xbb\xbfRäume"), decoded{"Räume", "utf-8", "bom"}},
		{"a UTF-16LE mark", "text/plain", append([]byte("\xff\xfe"), encodeWith(t, unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), "Größe\n")...), decoded{"Größe\n", "utf-16le", "bom"}},
		{"a UTF-16BE mark", "application/xml", append([]byte("\xfe\xff"), encodeWith(t, unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), "<a>Wäsche</a>")...), decoded{"<a>Wäsche</a>", "utf-16be", "bom"}},
		{"a UTF-32LE mark", "text/plain", append([]byte("\xff\xfe\x00\x00"), encodeWith(t, utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM), "Größe")...), decoded{"Größe", "utf-32le", "bom"}},
		{"UTF-16 without a mark", "text/plain", encodeWith(t, unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), "Read me first.\nGröße 3\n"), decoded{"Read me first.\nGröße 3\n", "utf-16le", "content"}},
		{"UTF-16BE without a mark", "text/html", encodeWith(t, unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), "<p>Read me first.</p>"), decoded{"<p>Read me first.</p>", "utf-16be", "content"}},
		{"an XML declaration", "application/rss+xml", encode(t, "windows-1256", `<?xml version="1.0" encoding="windows-1256"?><rss>أخبار</rss>`), decoded{`<?xml version="1.0" encoding="windows-1256"?><rss>أخبار</rss>`, "windows-1256", "xml"}},
		{"an XML declaration without a header", "", []byte(`<?xml version='1.0' encoding = 'UTF-8' ?><rss>’</rss>`), decoded{`<?xml version='1.0' encoding = 'UTF-8' ?><rss>’</rss>`, "utf-8", "xml"}},
		{"JSON that speaks of charsets", "application/json", []byte(`{"a":"<meta charset=koi8-r>é"}`), decoded{`{"a":"<meta charset=koi8-r>é"}`, "utf-8", "content"}},
		{"nothing but ASCII", "text/plain", []byte("plain"), decoded{"plain", "utf-8", "default"}},
		{"NUL is dropped", "text/html", []byte("<p>a\x00b"), decoded{"<p>ab", "utf-8", "default"}},
		{"two marks", "text/plain", []byte("\xef\xbb\xbf\xef\xbb\xbfx"), decoded{"x", "utf-8", "bom"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text, charset, from, err := Decode(context.Background(), Input{Body: tt.body, ContentType: tt.contentType})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, decoded{text, charset, from}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Samples of a few sentences each, as much as a short page has.
func samples() map[string][]string {
	return map[string][]string{
		"Паром отходит в девять утра. Билеты продаются на причале, мелочь готовьте заранее. Обратно паром идёт в семь вечера.": {"windows-1251", "koi8-r", "iso-8859-5"},
		"Zażółć gęślą jaźń. Pociąg odjeżdża o godzinie ósmej rano z peronu drugiego, proszę się pośpieszyć.":                   {"windows-1250", "iso-8859-2"},
		"Το πλοίο αναχωρεί στις εννέα το πρωί. Τα εισιτήρια πωλούνται στην προβλήτα, ετοιμάστε τα ψιλά.":                       {"iso-8859-7"},
		"Feribot sabah dokuzda kalkıyor. Biletler iskelede satılıyor, bozuk paranızı önceden hazırlayın. Teşekkür ederiz.":     {"windows-1254"},
		"تغادر العبارة في التاسعة صباحا. تباع التذاكر على الرصيف، جهزوا النقود الصغيرة مسبقا. شكرا لكم.":                       {"windows-1256"},
		"เรือข้ามฟากออกเวลาเก้าโมงเช้า ตั๋วมีขายที่ท่าเรือ กรุณาเตรียมเงินทอนล่วงหน้า":                                         {"windows-874"},
		"フェリーは朝九時に出航します。切符は桟橋で販売しています。小銭を事前にご用意ください。":                                                                          {"shift_jis", "euc-jp", "iso-2022-jp"},
		"渡轮早上九点出发。船票在码头出售，请提前准备零钱。图书馆周三闭馆整理，请读者谅解。":                                                                            {"gb18030"},
		"渡輪早上九點出發。船票在碼頭出售，請提前準備零錢。圖書館週三閉館整理，請讀者諒解。":                                                                            {"big5"},
		"여객선은 아침 아홉 시에 출발합니다. 표는 부두에서 판매합니다. 잔돈을 미리 준비해 주세요.":                                                                  {"euc-kr"},
		"Crème brûlée maison, café compris, 12 €. Le pâté est servi à midi. Après l’été, les élèves reviennent à l’école.":     {"windows-1252"},
	}
}

func TestAnUndeclaredCharacterSetIsGuessedFromTheBytesAndSaid(t *testing.T) {
	for text, names := range samples() {
		for _, name := range names {
			t.Run(name, func(t *testing.T) {
				page := "<html><head><title>A page</title><style>.a{margin:0}</style></head><body><p>" + text + "</p></body></html>"
				doc, err := Extract(context.Background(), Input{Body: encode(t, name, page), ContentType: "text/html"})
				if err != nil {
					t.Fatal(err)
				}
				if got := strings.TrimSpace(plainText(doc.Main)); !strings.Contains(got, text) {
					t.Errorf("%s read as %s: %s", name, doc.Charset, got)
				}
				if !warned(doc, sift.WarnCharsetGuess) {
					t.Error("the guess is not said")
				}
			})
		}
	}
}

func TestAFewAccentsAreWestern(t *testing.T) {
	for _, text := range []string{"<p>Café", "<p>A naïve résumé", "<p>© 2024 Acme®", "<p>São Paulo", "<p>12 € per m²"} {
		got, charset, from, err := Decode(context.Background(), Input{Body: encode(t, "windows-1252", text), ContentType: "text/html"})
		if err != nil || got != text || charset != "windows-1252" || from != "default" {
			t.Errorf("%q: %q %s %s %v", text, got, charset, from, err)
		}
	}
}

func TestWellFormedUTF8IsNoGuess(t *testing.T) {
	doc, err := Extract(context.Background(), Input{Body: []byte("<p>Zoë signed at nine."), ContentType: "text/html"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"utf-8", "content"}, []string{doc.Charset, doc.CharsetFrom}); diff != "" {
		t.Error(diff)
	}
	if len(doc.Warnings) > 0 {
		t.Error(doc.Warnings)
	}
}

func TestOneStrayByteDoesNotTurnAPageOver(t *testing.T) {
	body := []byte("<p>" + strings.Repeat("Zoë and Müller signed. ", 50) + "\xff and the list goes on.")
	for _, contentType := range []string{"text/html; charset=utf-8", "text/html"} {
		text, charset, _, err := Decode(context.Background(), Input{Body: body, ContentType: contentType})
		if err != nil || charset != "utf-8" || !strings.Contains(text, "Müller signed. \ufffd and the list") {
			t.Errorf("%s: %s %q %v", contentType, charset, text, err)
		}
	}
}

func TestBytesThatContradictADeclarationAreBelieved(t *testing.T) {
	tests := []struct {
		name, contentType string
		body              []byte
		want              decoded
	}{
		{"the header says utf-8, the bytes windows-1252", "text/html; charset=utf-8", encode(t, "windows-1252", "<p>Crème brûlée, 12 €. Le pâté."), decoded{"<p>Crème brûlée, 12 €. Le pâté.", "windows-1252", "default"}},
		{"meta says utf-8, the bytes windows-1251", "text/html", encode(t, "windows-1251", "<meta charset=utf-8><p>Паром отходит в девять утра с причала."), decoded{"<meta charset=utf-8><p>Паром отходит в девять утра с причала.", "windows-1251", "content"}},
		{"the header says utf-8, meta is right", "text/html; charset=utf-8", encode(t, "koi8-r", "<meta charset=koi8-r><p>Паром"), decoded{"<meta charset=koi8-r><p>Паром", "koi8-r", "meta"}},
		{"the header says utf-16, the bytes are ASCII", "text/html; charset=utf-16", []byte("<p>plain"), decoded{"<p>plain", "utf-8", "default"}},
		{"an unknown label", "text/html; charset=utf-7", []byte("<p>plain é"), decoded{"<p>plain é", "utf-8", "content"}},
		{"a label of a megabyte", "text/html; charset=" + strings.Repeat("x", 1<<20), []byte("<p>é"), decoded{"<p>é", "utf-8", "content"}},
		{"an encoding that browsers refuse", "text/html; charset=hz-gb-2312", []byte("<p>plain"), decoded{"<p>plain", "utf-8", "default"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := Input{Body: tt.body, ContentType: tt.contentType}
			text, charset, from, err := Decode(context.Background(), in)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, decoded{text, charset, from}); diff != "" {
				t.Error(diff)
			}
			doc, err := Extract(context.Background(), in)
			if err != nil || !warned(doc, sift.WarnCharsetGuess) {
				t.Errorf("no warning: %v %v", doc, err)
			}
		})
	}
}

func TestAPartialBodyThatEndsInsideACharacterIsStillUTF8(t *testing.T) {
	text, charset, _, err := Decode(context.Background(), Input{Body: []byte("<p>Zo\xc3"), ContentType: "text/html; charset=utf-8", Partial: true})
	if err != nil || charset != "utf-8" || text != "<p>Zo\ufffd" {
		t.Errorf("%q %s %v", text, charset, err)
	}
}

func TestTextThatGrowsOverTheBoundIsTooLong(t *testing.T) {
	body := append([]byte("\x1b$B"), bytes.Repeat([]byte("0!"), 1000)...) // two bytes become three
	in := Input{Body: body, ContentType: "text/plain; charset=iso-2022-jp", MaxText: 2500}
	_, _, _, err := Decode(context.Background(), in)
	var f *sift.Failure
	if !errors.As(err, &f) || f.Code != sift.CodeTooLong {
		t.Errorf("got %v", err)
	}
	in.MaxText = 3000
	if text, _, _, err := Decode(context.Background(), in); err != nil || len(text) != 3000 {
		t.Errorf("at the bound: %d bytes, %v", len(text), err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("<meta charset=koi8-r>\xc1\xc2"), "text/html", false)
	f.Add([]byte("\xff\xfea\x00"), "text/plain; charset=utf-8", true)
	f.Add([]byte("<?xml encoding='big5'?>\xa4\xa4"), "text/xml", false)
	f.Add([]byte("\x1b$B0!"), "", false)
	f.Fuzz(func(t *testing.T, body []byte, contentType string, partial bool) {
		in := Input{Body: body, ContentType: contentType, Partial: partial, MaxText: 1 << 20}
		before := bytes.Clone(body)
		text, charset, from, err := Decode(context.Background(), in)
		if !bytes.Equal(before, body) {
			t.Fatal("the body was written to")
		}
		if err != nil {
			if _, ok := errors.AsType[*sift.Failure](err); !ok {
				t.Fatalf("not a failure: %v", err)
			}
			return
		}
		if !utf8.ValidString(text) || strings.ContainsRune(text, 0) || strings.HasPrefix(text, "\ufeff") {
			t.Errorf("not clean UTF-8: %q", text)
		}
		if charset == "" || from == "" || len(text) > 1<<20 {
			t.Errorf("%q %q %d", charset, from, len(text))
		}
		if len(text) > 3*len(body) && !isGzip(body) {
			t.Errorf("%d bytes became %d", len(body), len(text))
		}
		plainBytes(t, in, text, charset, from)
		again, charset2, _, _ := Decode(context.Background(), in)
		if again != text || charset2 != charset {
			t.Errorf("a second run read %s, the first %s", charset2, charset)
		}
	})
}

// plainBytes holds what is true whatever a server or a page says of a character
// set: a mark at the beginning decides, and bytes that can only be ASCII, or are
// UTF-8 with more than a few characters, are not changed.
func plainBytes(t *testing.T, in Input, text, charset, from string) {
	t.Helper()
	body := string(in.Body)
	for mark, name := range map[string]string{"\xef\xbb\xbf": "utf-8", "\xfe\xff": "utf-16be", "\xff\xfe": "utf-16le", "\xff\xfe\x00\x00": "utf-32le", "\x00\x00\xfe\xff": "utf-32be"} {
		if strings.HasPrefix(body, mark) && (charset != name || from != fromBOM) && !(name == "utf-16le" && charset == "utf-32le") {
			t.Errorf("%q begins with the mark of %s and was read as %s by its %s", body, name, charset, from)
		}
	}
	beyond := 0
	for _, r := range body {
		switch {
		case r < ' ' && r != '\n' && r != '\r' && r != '\t', r == utf8.RuneError:
			return // an escape of iso-2022-jp, bytes of UTF-16, a gzip file
		case r >= utf8.RuneSelf:
			beyond++
		}
	}
	if beyond == 0 || beyond >= 10 {
		if want := strings.TrimLeft(body, "\ufeff"); text != want {
			t.Errorf("%q with %q became %q, read as %s by its %s", body, in.ContentType, text, charset, from)
		}
	}
}
