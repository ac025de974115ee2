package extract_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"sift.build/sift/internal/extract"
	"sift.build/sift/internal/sift"
)

func utf16le(s string) string {
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		b = append(b, byte(u), byte(u>>8))
	}
	return string(b)
}

func TestASmallTableIsShownAsOne(t *testing.T) {
	tests := []struct{ name, contentType, url, body, want string }{
		{"pipes, line breaks and quotes", "text/csv", "", "part,description,price\nA-1,\"light | strong\",2\nA-2,\"first line\nsecond line\",3\nA-3,\"says \"\"go\"\"\",4\n",
			"| part | description | price |\n| --- | --- | --- |\n| A-1 | light \\| strong | 2 |\n| A-2 | first line<br>second line | 3 |\n| A-3 | says \"go\" | 4 |"},
		{"semicolons", "text/csv; charset=utf-8", "", "Name;Betrag\r\nMüller;1,50\r\nMeier;2,00\r\n", "| Name | Betrag |\n| --- | --- |\n| Müller | 1,50 |\n| Meier | 2,00 |"},
		{"tabs", "text/tab-separated-values", "", "a\tb\n1\t2, 3\n", "| a | b |\n| --- | --- |\n| 1 | 2, 3 |"},
		{"by its address", "text/plain", "http://s.example/x.csv?dl=1", "a,b\n1,2\n", "| a | b |\n| --- | --- |\n| 1 | 2 |"},
		{"as a spreadsheet", "application/vnd.ms-excel", "http://s.example/x.csv", "a,b\n1,2\n", "| a | b |\n| --- | --- |\n| 1 | 2 |"},
		{"as octets", "application/octet-stream", "http://s.example/x.tsv", "a\tb\n1\t2\n", "| a | b |\n| --- | --- |\n| 1 | 2 |"},
		{"a byte-order mark", "text/csv", "", "\xef\xbb\xbfid,name\n1,x\n", "| id | name |\n| --- | --- |\n| 1 | x |"},
		{"UTF-16", "text/csv", "", "\xff\xfe" + utf16le("id\tname\r\n1\tÄ\r\n"), "| id | name |\n| --- | --- |\n| 1 | Ä |"},
		{"UTF-16 without a mark", "text/csv", "", utf16le("id;name\r\n1;Bee\r\n2;Cee\r\n"), "| id | name |\n| --- | --- |\n| 1 | Bee |\n| 2 | Cee |"},
		{"the sign named in the first line", "text/csv", "", "sep=;\na;b,c\n1;2,5\n", "| a | b,c |\n| --- | --- |\n| 1 | 2,5 |"},
		{"rows of different lengths", "text/csv", "", "a,b,c\n1,2\n3,4,5,6\n", "| a | b | c |  |\n| --- | --- | --- | --- |\n| 1 | 2 |  |  |\n| 3 | 4 | 5 | 6 |"},
		{"no header", "text/csv", "", "1,Oslo,2.5\n2,Bergen,3.5\n", "| | | |\n| --- | --- | --- |\n| 1 | Oslo | 2.5 |\n| 2 | Bergen | 3.5 |"},
		{"no header, words only", "text/csv", "", "red,apple\nred,cherry\n", "| | |\n| --- | --- |\n| red | apple |\n| red | cherry |"},
		{"years are names of columns", "text/csv", "", "country,2019,2020\nNorway,5,6\n", "| country | 2019 | 2020 |\n| --- | --- | --- |\n| Norway | 5 | 6 |"},
		{"an unnamed first column", "text/csv", "", ",x,y\n0,1,2\n", "| | x | y |\n| --- | --- | --- |\n| 0 | 1 | 2 |"},
		{"empty fields", "text/csv", "", "a,b,c\n,,\n1,,\n", "| a | b | c |\n| --- | --- | --- |\n| | | |\n| 1 | | |"},
		{"empty lines", "text/csv", "", "a,b\n\n1,2\n\n", "| a | b |\n| --- | --- |\n| 1 | 2 |"},
		{"long numbers", "text/csv", "", "id,v\n9007199254740993,0.10\n0012,1e5\n", "| id | v |\n| --- | --- |\n| 9007199254740993 | 0.10 |\n| 0012 | 1e5 |"},
		{"markup in a cell", "text/csv", "", "a,b\n<b>x</b>,*y*\n", "| a | b |\n| --- | --- |\n| \\<b>x\\</b> | \\*y\\* |"},
		{"a quote inside a field", "text/csv", "", "a,b\n6\" pipe,2\n", "| a | b |\n| --- | --- |\n| 6\" pipe | 2 |"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := extract.Input{Body: []byte(tt.body), ContentType: tt.contentType, URL: tt.url}
			doc := read(t, in)
			if doc.Kind != sift.KindTable {
				t.Errorf("kind %s", doc.Kind)
			}
			if diff := cmp.Diff(tt.want, rendered(t, doc, sift.ModeClean)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestATableCanBeHadInEveryMode(t *testing.T) {
	doc := read(t, extract.Input{Body: []byte("id,note\n1,\"a | b\"\n2,http://s.example/x_y\n"), ContentType: "text/csv"})
	for mode, want := range map[sift.Mode]string{
		sift.ModeFull:    "| id | note |\n| --- | --- |\n| 1 | a \\| b |\n| 2 | <http://s.example/x_y> |",
		sift.ModeText:    "id | note\n1 | a | b\n2 | http://s.example/x_y",
		sift.ModeHTML:    "<table><thead><tr><th>id</th>\n<th>note</th>\n</tr>\n</thead>\n<tbody><tr><td>1</td>\n<td>a | b</td>\n</tr>\n<tr><td>2</td>\n<td><a href=\"http://s.example/x_y\" rel=\"nofollow\">http://s.example/x_y</a></td>\n</tr>\n</tbody>\n</table>",
		sift.ModeLinks:   "- [http://s.example/x_y](http://s.example/x_y)",
		sift.ModeOutline: "",
	} {
		if diff := cmp.Diff(want, rendered(t, doc, mode)); diff != "" {
			t.Errorf("%s: %s", mode, diff)
		}
	}
}

func TestWhatIsNoSmallTableIsHandedOnAsItIs(t *testing.T) {
	var long, wide strings.Builder
	long.WriteString("a,b\n")
	for i := range 3000 {
		fmt.Fprintf(&long, "%d,%d\n", i, i)
	}
	wide.WriteString(strings.Repeat("a,", 60) + "z\n" + strings.Repeat("1,", 60) + "2\n")
	for name, body := range map[string]string{
		"more cells than a table has":   long.String(),
		"more columns than a table has": wide.String(),
		"more bytes than a table has":   "a,b\n\"" + strings.Repeat("x", 300<<10) + "\",1\n",
		"one column":                    "name\nAnna\nBo\n",
		"one line":                      "a,b,c",
		"a quote that nothing closes":   "a,b\n\"x,1\ny,2\n",
		"prose":                         "This is no table\nat all\n",
	} {
		in := extract.Input{Body: []byte(body), ContentType: "text/csv"}
		doc := read(t, in)
		if got := rendered(t, doc, sift.ModeClean); got != body || doc.Kind != sift.KindText {
			t.Errorf("%s: %s %.80q", name, doc.Kind, got)
		}
	}
}

func FuzzTable(f *testing.F) {
	f.Add([]byte("a,b\n\"1\"\"\",2\r\n"))
	f.Add([]byte("sep=;\na;b\n;\n"))
	f.Add([]byte("\"\na\tb\r\r\n|||"))
	f.Add([]byte("a|b\n\"x\"y|2"))
	f.Fuzz(func(t *testing.T, body []byte) {
		checkAnswer(t, extract.Input{Body: body, ContentType: "text/csv", URL: "http://a.example/t.csv"})
	})
}
