package extract

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"

	"sift.build/sift/internal/sift"
)

func utf16Bytes(t testing.TB, order unicode.Endianness, s string) []byte {
	t.Helper()
	return encodeWith(t, unicode.UTF16(order, unicode.IgnoreBOM), s)
}

// TestDeclarationsAsTheyAreFoundInTheField holds the ways in which pages, feeds
// and files say what they are written in.
func TestDeclarationsAsTheyAreFoundInTheField(t *testing.T) {
	const ru, ja, ko, zh = "Паром отходит в девять утра с причала", "切符は桟橋で販売しています", "표는 부두에서 판매합니다", "船票在码头出售"
	tests := []struct {
		name, contentType, enc, text string
		charset, from                string
	}{
		{"spaces in the pragma", "text/html", "windows-1251", `<meta http-equiv = " content-type " content=" text/html ;  charset = windows-1251 ">` + ru, "windows-1251", "meta"},
		{"quotes in the pragma", "text/html", "koi8-r", `<meta http-equiv="Content-Type" content="text/html; charset='koi8-r'">` + ru, "koi8-r", "meta"},
		{"the pragma without a type", "text/html", "windows-1251", `<meta content="charset=windows-1251" http-equiv=content-type>` + ru, "windows-1251", "meta"},
		{"meta in the body", "text/html", "shift_jis", `<body><p>x</p><meta charset="Shift_JIS">` + ja, "shift_jis", "meta"},
		{"meta 60 KB into the page", "text/html", "windows-1251", "<head><script>" + strings.Repeat("var x='<p>';", 5000) + "</script><meta charset=windows-1251>" + ru, "windows-1251", "meta"},
		{"meta behind a comment that holds one", "text/html", "euc-kr", `<!--[if IE]><meta charset="utf-8"><![endif]--><meta charset="ks_c_5601-1987">` + ko, "euc-kr", "meta"},
		{"windows-949", "text/html;charset=windows-949", "euc-kr", ko, "euc-kr", "header"},
		{"windows-31j", "text/html; charset=windows-31j", "shift_jis", "①②" + ja, "shift_jis", "header"},
		{"x-sjis", "text/html", "shift_jis", "<meta charset=x-sjis>" + ja, "shift_jis", "meta"},
		{"a code page of Windows by number", "text/html; charset=cp936", "gb18030", zh, "gb18030", "header"},
		{"code page 932", "text/plain; charset=CP932", "shift_jis", ja, "shift_jis", "header"},
		{"code page 949", "text/plain; charset=cp949", "euc-kr", ko, "euc-kr", "header"},
		{"what a database calls utf-8", "text/html; charset=utf8mb4", "utf-8", ru, "utf-8", "header"},
		{"utf8 without a hyphen", "text/html; charset=UTF8", "utf-8", ru, "utf-8", "header"},
		{"latin1", "text/plain; charset=latin1", "windows-1252", "Größe “9”", "windows-1252", "header"},
		{"gb_2312-80", "text/html; charset=gb_2312-80", "gb18030", zh, "gb18030", "header"},
		{"big5-hkscs", "text/html; charset=big5-hkscs", "big5", "船票在碼頭出售", "big5", "header"},
		{"tis-620", "text/plain; charset=TIS-620", "windows-874", "เรือข้ามฟาก", "windows-874", "header"},
		{"logical Hebrew", "text/html; charset=iso-8859-8-i", "iso-8859-8-i", "שלום", "iso-8859-8-i", "header"},
		{"a feed that says so itself", "text/xml", "koi8-r", `<?xml version="1.0" encoding="koi8-r" standalone='yes'?><rss>` + ru + `</rss>`, "koi8-r", "xml"},
		{"a feed served as HTML", "text/html", "windows-1251", `<?xml version='1.0' encoding='windows-1251'?><rss>` + ru + `</rss>`, "windows-1251", "xml"},
		{"a feed as octets", "application/octet-stream", "euc-jp", "\n<?xml version=\"1.0\"\tencoding = \"EUC-JP\"?><rss>" + ja + `</rss>`, "euc-jp", "xml"},
		{"a drawing", "image/svg+xml", "windows-1251", `<?xml version="1.0" encoding="windows-1251"?><svg><text>` + ru + `</text></svg>`, "windows-1251", "xml"},
		{"XML that says utf-16 and is utf-8", "application/xml", "utf-8", `<?xml version="1.0" encoding="UTF-16"?><a>` + ru + `</a>`, "utf-8", "xml"},
		{"a style sheet", "text/css", "windows-1251", `@charset "windows-1251"; a{content:"` + ru + `"}`, "windows-1251", "meta"},
		{"the header before an XML declaration", "application/xml; charset=windows-1251", "windows-1251", `<?xml version="1.0" encoding="utf-8"?><a>` + ru + `</a>`, "windows-1251", "header"},
		{"an empty parameter", "text/html; charset=", "utf-8", "<meta charset=utf-8>" + ru, "utf-8", "meta"},
		{"a parameter with quotes on one side", `text/html; charset="utf-8`, "utf-8", ru, "utf-8", "header"},
		{"two types in one header", "text/html; charset=windows-1251, text/html", "windows-1251", ru, "windows-1251", "header"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text, charset, from, err := Decode(context.Background(), Input{Body: encode(t, tt.enc, tt.text), ContentType: tt.contentType})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(decoded{tt.text, tt.charset, tt.from}, decoded{text, charset, from}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestADeclarationThatIsNotUTF8GivesWayToPlainUTF8(t *testing.T) {
	long := "Zoë and Müller signed “at nine”, the café was open; é è ü ö ä ß ñ"
	tests := []struct{ name, contentType, body, charset string }{
		{"the server's default", "text/html; charset=iso-8859-1", "<p>" + long, "utf-8"},
		{"the server's default, and the page says otherwise", "text/html; charset=iso-8859-1", "<meta charset=utf-8><p>Zoë", "utf-8"},
		{"a page that was converted and kept its label", "text/html", "<meta charset=gb2312><p>渡轮早上九点出发。船票在码头出售，请提前准备零钱。", "utf-8"},
		{"too little to tell", "text/html; charset=iso-8859-1", "<p>Zoë", "windows-1252"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := Input{Body: []byte(tt.body), ContentType: tt.contentType}
			text, charset, _, err := Decode(context.Background(), in)
			if err != nil || charset != tt.charset || charset == "utf-8" && text != tt.body {
				t.Errorf("%s: %q %v", charset, text, err)
			}
			doc, err := Extract(context.Background(), in)
			if err != nil || warned(doc, sift.WarnCharsetGuess) != (charset == "utf-8") {
				t.Errorf("warnings %v, %v", doc.Warnings, err)
			}
		})
	}
	// What is declared and can be so is left alone.
	for _, text := range []string{"“€9” – it’s", "Ã", "naïve café, Ã© is a mistake"} {
		got, charset, _, err := Decode(context.Background(), Input{Body: encode(t, "windows-1252", text), ContentType: "text/plain; charset=windows-1252"})
		if err != nil || got != text || charset != "windows-1252" {
			t.Errorf("%q: %q %s %v", text, got, charset, err)
		}
	}
}

func TestAFewBadBytesDoNotTurnAPageOver(t *testing.T) {
	for name, tt := range map[string]struct {
		contentType string
		body        []byte
		want        string
	}{
		"in a short page of UTF-8":        {"text/html", []byte("<p>Zoë, Müller \xff"), "<p>Zoë, Müller \ufffd"},
		"in declared UTF-8":               {"text/html; charset=utf-8", []byte("<p>Zoë \xa0 x"), "<p>Zoë \ufffd x"},
		"in declared Shift_JIS":           {"text/html; charset=shift_jis", append(encode(t, "shift_jis", "<p>切符は桟橋で"), "\xff!"...), "<p>切符は桟橋で\ufffd!"},
		"in declared GBK":                 {"text/html; charset=gbk", append(encode(t, "gb18030", "<p>船票在码头"), "\xff!"...), "<p>船票在码头\ufffd!"},
		"half a character at a cut":       {"text/plain", []byte("Zoë and Müller signed\xe2\x80"), "Zoë and Müller signed\ufffd"},
		"one of Latin-1 in much of UTF-8": {"text/plain", []byte(strings.Repeat("Zoë ", 5) + "M\xfcller"), strings.Repeat("Zoë ", 5) + "M\ufffdller"},
	} {
		text, charset, _, err := Decode(context.Background(), Input{Body: tt.body, ContentType: tt.contentType})
		if err != nil || text != tt.want {
			t.Errorf("%s: %s %q %v", name, charset, text, err)
		}
	}
}

func TestWideTextIsToldFromBinary(t *testing.T) {
	const (
		zh = "渡轮早上九点出发。船票在码头出售，请提前准备零钱。图书馆周三闭馆整理，请读者谅解。渡轮晚上七点返回。"
		ja = "フェリーは朝九時に出航します。切符は桟橋で販売しています。小銭を事前にご用意ください。"
		ru = "Паром отходит в девять утра. Билеты продаются на причале, мелочь готовьте заранее."
		ko = "여객선은 아침 아홉 시에 출발합니다. 표는 부두에서 판매합니다. 잔돈을 미리 준비해 주세요."
		el = "Το πλοίο αναχωρεί στις εννέα το πρωί. Τα εισιτήρια πωλούνται στην προβλήτα."
		ar = "تغادر العبارة في التاسعة صباحا. تباع التذاكر على الرصيف، جهزوا النقود الصغيرة مسبقا."
	)
	for _, text := range []string{zh, ja, ru, ko, el, ar, ru + "\r\n" + zh} {
		for _, order := range []unicode.Endianness{unicode.LittleEndian, unicode.BigEndian} {
			for _, contentType := range []string{"text/plain", "", "text/plain; charset=utf-8", "text/plain; charset=utf-16"} {
				if contentType == "text/plain; charset=utf-16" && order == unicode.BigEndian {
					continue // browsers read the label as little-endian
				}
				got, charset, _, err := Decode(context.Background(), Input{Body: utf16Bytes(t, order, text), ContentType: contentType})
				if err != nil || got != text {
					t.Errorf("%q %v %.20s: %s %.60q %v", contentType, order, text, charset, got, err)
				}
			}
		}
	}
	if got, charset, _, err := Decode(context.Background(), Input{Body: encodeWith(t, utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM), ru), ContentType: "text/plain"}); err != nil || got != ru {
		t.Errorf("UTF-32: %s %q %v", charset, got, err)
	}
	// What is no text stays none, whatever it is called.
	x := uint32(1)
	noise := make([]byte, 4096)
	for i := range noise {
		x = x*1664525 + 1013904223
		noise[i] = byte(x >> 24)
	}
	table := make([]byte, 4096) // small numbers of 32 bits, as programs and pictures have
	for i := range table {
		if i%4 == 0 {
			table[i] = byte(i / 16)
		}
	}
	code := []byte(strings.Repeat("\x48\x8b\x45\xf8\x48\x89\xc7\xe8\x12\x00\x00\x00\x8b\x05\x34\x2e\x00\x00\xc9\xc3\x0f\x1f\x44\x00\x00", 100))
	samples16 := make([]byte, 4096) // a sound: values that wander
	v := int16(0)
	for i := 0; i < len(samples16); i += 2 {
		x = x*1664525 + 1013904223
		v += int16(x>>24) - 128
		samples16[i], samples16[i+1] = byte(v), byte(uint16(v)>>8)
	}
	for name, body := range map[string][]byte{"noise": noise, "a table of numbers": table, "machine code": code, "a sound": samples16} {
		for _, contentType := range []string{"text/plain", "text/html; charset=utf-8", "application/octet-stream", ""} {
			_, _, _, err := Decode(context.Background(), Input{Body: body, ContentType: contentType})
			var f *sift.Failure
			if !errors.As(err, &f) || f.Code != sift.CodeUnsupported {
				t.Errorf("%s as %q: %v", name, contentType, err)
			}
		}
	}
}

func TestMoreScriptsAreGuessed(t *testing.T) {
	for text, names := range map[string][]string{
		"המעבורת יוצאת בתשע בבוקר. הכרטיסים נמכרים ברציף, נא להכין כסף קטן מראש. תודה רבה לכולם.":                               {"windows-1255"},
		"Το πλοίο αναχωρεί στις εννέα το πρωί. Τα εισιτήρια πωλούνται στην προβλήτα, ετοιμάστε τα ψιλά. Ευχαριστούμε.":          {"windows-1253"},
		"Пором відпливає о дев’ятій ранку. Квитки продаються на причалі, дрібні гроші готуйте заздалегідь. Їжа є на борту.":     {"windows-1251"},
		"Trajekt odplouvá v devět hodin ráno. Lístky se prodávají na molu, připravte si prosím drobné. Děkujeme všem.":          {"windows-1250", "iso-8859-2"},
		"Die Fähre fährt um neun Uhr früh. Karten gibt es am Kai; bitte Kleingeld bereithalten, größere Scheine nützen nichts.": {"windows-1252"},
	} {
		for _, name := range names {
			got, charset, _, err := Decode(context.Background(), Input{Body: encode(t, name, strings.ReplaceAll(text, "’", "'")), ContentType: "text/plain"})
			if err != nil || got != strings.ReplaceAll(text, "’", "'") {
				t.Errorf("%s read as %s: %q %v", name, charset, got, err)
			}
		}
	}
}
