package engine

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sift.build/sift/internal/pdf/layout"
	"sift.build/sift/internal/pdf/pdftest"
)

func TestADocumentSaysWhatItIs(t *testing.T) {
	doc := pdftest.New().Page(pdftest.Text(72, 720, 12, "x")).Page(pdftest.Text(72, 720, 12, "y"))
	doc.Info = pdftest.Info{
		Title: "Größe und 𝜋", Author: "Ada Example", Subject: "A subject", Keywords: "a, b", Creator: "Writer 1", Producer: "Press 2",
		Created: "D:20240501123000+02'00'", Modified: "D:20240502",
	}
	doc.Lang = "de-AT"
	doc.Labels = []pdftest.Label{{From: 1, Style: "r", Start: 4}, {From: 2, Style: "D", Prefix: "A-"}}
	d := open(t, doc.Bytes(), "")
	want := Info{
		Pages: 2, Title: "Größe und 𝜋", Author: "Ada Example", Subject: "A subject", Keywords: "a, b", Creator: "Writer 1", Producer: "Press 2",
		Created: time.Date(2024, 5, 1, 12, 30, 0, 0, time.FixedZone("", 7200)), Modified: time.Date(2024, 5, 2, 0, 0, 0, 0, time.UTC),
	}
	got := d.Info()
	got.Language, got.Tagged = "", false // stands below
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if a, b, none := d.Label(1), d.Label(2), d.Label(3); a != "iv" || b != "A-1" || none != "" {
		t.Errorf("labels %q, %q and %q", a, b, none)
	}

	tagged := open(t, pdftest.Tagged(), "").Info()
	if !tagged.Tagged || tagged.Language != "en-GB" {
		t.Errorf("tagged %v, language %q", tagged.Tagged, tagged.Language)
	}
	if i := open(t, pdftest.Pages("no metadata"), "").Info(); i.Title != "" || i.Tagged || i.Encrypted || !i.Created.IsZero() {
		t.Errorf("a bare file says %+v", i)
	}
}

func TestPasswords(t *testing.T) {
	for name, cipher := range map[string]pdftest.Cipher{"AES-256": pdftest.AES256, "AES-128": pdftest.AES128, "RC4": pdftest.RC4} {
		t.Run(name, func(t *testing.T) {
			locked, free := pdftest.EncryptedWith(cipher, "sésam 1"), pdftest.EncryptedWith(cipher, "")
			e := start(t, Config{})
			for _, wrong := range []string{"", "sesam", "sésam 1 ", "a\x00b", strings.Repeat("x", 5000)} {
				if _, err := e.Open(bytes.NewReader(locked), int64(len(locked)), wrong); !errors.Is(err, ErrPassword) {
					t.Errorf("with %.10q: %v", wrong, err)
				}
			}
			for _, c := range []struct {
				file     []byte
				password string
			}{{locked, "sésam 1"}, {free, ""}, {free, "needless"}} {
				d, err := e.Open(bytes.NewReader(c.file), int64(len(c.file)), c.password)
				if err != nil {
					t.Errorf("with %q: %v", c.password, err)
					continue
				}
				if got := plain(readPage(t, d, 1)); got != "The vault is open." || !d.Info().Encrypted {
					t.Errorf("with %q: %q, encrypted %v", c.password, got, d.Info().Encrypted)
				}
				d.Close()
			}
		})
	}
}

func TestFilesThatAreNoneAreToldApart(t *testing.T) {
	unknown := pdftest.New().Page(pdftest.Text(72, 720, 12, "x")).File()
	unknown.Trailer["Encrypt"] = unknown.Add(pdftest.Dict{"Filter": pdftest.Name("Nobody.Knows"), "V": 1, "R": 2, "P": -1, "O": pdftest.String(strings.Repeat("o", 32)), "U": pdftest.String(strings.Repeat("u", 32))})
	unknown.Trailer["ID"] = pdftest.Array{pdftest.String("0123456789abcdef"), pdftest.String("0123456789abcdef")}
	e := start(t, Config{})
	for _, c := range []struct {
		name string
		file []byte
		want error
	}{
		{"nothing", nil, ErrFormat},
		{"a web page", []byte("<html>this is not a PDF</html>"), ErrFormat},
		{"a mere header", []byte("%PDF-1.7\n%%EOF\n"), ErrFormat},
		{"another security handler", unknown.Bytes(), ErrSecurity},
	} {
		if _, err := e.Open(bytes.NewReader(c.file), int64(len(c.file)), ""); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
	if _, err := e.Open(strings.NewReader("x"), 1<<40, ""); !errors.Is(err, ErrFormat) {
		t.Errorf("a terabyte: %v", err)
	}
}

func TestJunkBeforeAFileDoesNotMatter(t *testing.T) {
	if got := plain(onlyPage(t, pdftest.JunkBefore(pdftest.Pages("found again")))); got != "found again" {
		t.Errorf("got %q", got)
	}
}

// failing is a file whose disk breaks behind some bytes.
type failing struct {
	r    io.ReaderAt
	from int64
}

func (f failing) ReadAt(b []byte, at int64) (int, error) {
	if at+int64(len(b)) > f.from {
		return 0, errors.New("the disk is broken")
	}
	return f.r.ReadAt(b, at)
}

func TestAFailingDiskIsNotABadFile(t *testing.T) {
	data := pdftest.Pages("text")
	_, err := start(t, Config{}).Open(failing{bytes.NewReader(data), 100}, int64(len(data)), "")
	if err == nil || errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "the disk is broken") {
		t.Errorf("got %v", err)
	}
}

func TestTheOutline(t *testing.T) {
	got := open(t, pdftest.Outline(), "").Info()
	want := []layout.Bookmark{
		{Level: 1, Title: "Part I - Definitions", Page: 1, Y: 52},
		{Level: 1, Title: "Part II - Terms", Page: 2, Y: 52},
		{Level: 2, Title: "2.1 Payment", Page: 2, Y: 92},
		{Level: 3, Title: "2.1.1 Größe der Raten", Page: 2, Y: 102},
		{Level: 2, Title: "2.2 Delivery", Page: 2},
		{Level: 1, Title: "Part III - Ending", Page: 3, Y: 52},
	}
	if diff := cmp.Diff(want, got.Bookmarks); diff != "" || got.BookmarksCut {
		t.Errorf("cut %v %s", got.BookmarksCut, diff)
	}
}

func TestTooManyBookmarksAreCut(t *testing.T) {
	many := pdftest.New().Page()
	for i := range maxBookmarks + 10 {
		many.Outline = append(many.Outline, pdftest.Bookmark{Title: fmt.Sprint(i), Page: 1})
	}
	deep := pdftest.New().Page()
	for range maxLevel + 5 {
		deep.Outline = []pdftest.Bookmark{{Title: "x", Page: 1, Kids: deep.Outline}}
	}
	for name, c := range map[string]struct {
		doc  *pdftest.Document
		want int
	}{"many": {many, maxBookmarks}, "deep": {deep, maxLevel}} {
		if i := open(t, c.doc.Bytes(), "").Info(); len(i.Bookmarks) != c.want || !i.BookmarksCut {
			t.Errorf("%s: %d bookmarks, cut %v", name, len(i.Bookmarks), i.BookmarksCut)
		}
	}
}

func TestDates(t *testing.T) {
	for s, want := range map[string]string{
		"D:20240501123456Z":         "2024-05-01T12:34:56Z",
		"D:20240501123456+05'30'":   "2024-05-01T12:34:56+05:30",
		"D:20240501123456-08'00":    "2024-05-01T12:34:56-08:00",
		"20240501123456-0800":       "2024-05-01T12:34:56-08:00",
		" D:20240501 ":              "2024-05-01T00:00:00Z",
		"D:2024":                    "2024-01-01T00:00:00Z",
		"D:202405":                  "2024-05-01T00:00:00Z",
		"2024-05-01T12:34:56Z":      "2024-05-01T12:34:56Z",
		"D:20240230":                "", // no such day
		"D:20241301":                "",
		"D:20240501126000":          "",
		"D:00000501":                "",
		"D:199":                     "",
		"yesterday":                 "",
		"":                          "",
		"D:20240501123456+99'99'":   "2024-05-01T12:34:56Z",
		"D:20240501123456+١٢":       "2024-05-01T12:34:56Z",
		"Wed May 1 12:34:56 2024":   "",
		"D:20240501123456789012345": "2024-05-01T12:34:56Z",
	} {
		got := ""
		if d := parseDate(s); !d.IsZero() {
			got = d.Format(time.RFC3339)
		}
		if got != want {
			t.Errorf("%q is %q, want %q", s, got, want)
		}
	}
}

func FuzzParseDate(f *testing.F) {
	f.Add("D:20240501123456+05'30'")
	f.Fuzz(func(t *testing.T, s string) {
		d := parseDate(s)
		if y := d.Year(); y < 0 || y > 9999 {
			t.Errorf("%q is %v", s, d)
		}
		if _, err := d.MarshalJSON(); err != nil {
			t.Errorf("%q cannot be sent on: %v", s, err)
		}
	})
}

func TestTextsOfTheFileAreCleaned(t *testing.T) {
	for in, want := range map[string]string{
		" a\tb\r\nc ":                    "a b  c",
		"a\x00\x01\x1fb":                 "ab",
		"\x1ben\x1bTitle":                "Title",
		"\x1benUS\x1bOne \x1bde\x1bzwei": "One zwei",
		"\x1b":                           "",
		"a\x1bb":                         "ab",
		"\ufeffa\ufffe\uffffb":           "ab",
		"a\u0085\u009fb":                 "ab",
		"שלום":                           "שלום",
	} {
		if got := clean(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}
