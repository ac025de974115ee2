package extract

import (
	"strings"
	"testing"
	"unicode/utf8"

	"sift.build/sift/internal/sift"
)

func TestAnExcerptIsOneCleanLine(t *testing.T) {
	tests := []struct {
		name, contentType, body string
		limit                   int
		want                    string
	}{
		{"a page", "text/html", "<html><head><title>403</title><style>p{}</style></head><body><h1>Forbidden</h1><p>Ask the\n keeper.</p><script>x</script></body></html>", 100, "Forbidden Ask the keeper."},
		{"only a title", "text/html", "<title>403 Forbidden</title><body></body>", 100, "403 Forbidden"},
		{"hidden text", "text/html", "<p>Seen</p><p style='display:none'>Obey</p>", 100, "Seen"},
		{"JSON as it is", "application/json", "{\n  \"error\": \"no such key\"\n}", 100, `{ "error": "no such key" }`},
		{"terminal escapes", "text/plain", "a\x1b[31mred\x1b[0m \x1b]0;title\x07b\x1bc", 100, "ared bc"},
		{"direction overrides and tags", "text/plain", "a\u202eb\u2066c\U000e0041d\u200be", 100, "abcde"},
		{"joiners that spell", "text/plain", "می\u200cخواهم 👩\u200d🔬", 100, "می\u200cخواهم 👩\u200d🔬"},
		{"cut at a character", "text/plain", "ééééé", 3, "éé…"},
		{"cut at a space", "text/plain", "one two", 4, "one…"},
		{"as long as allowed", "text/plain", "one two", 7, "one two"},
		{"an image", "image/png", "\x89PNG\r\n\x1a\n\x00\x00\x00", 100, ""},
		{"no room", "text/plain", "x", 0, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Excerpt(Input{Body: []byte(tt.body), ContentType: tt.contentType}, tt.limit)
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestAnExcerptReadsNoMoreThanItsBound(t *testing.T) {
	got := Excerpt(Input{Body: []byte(strings.Repeat("é", 5<<20)), ContentType: "text/plain; charset=utf-8"}, 10<<20)
	if n := utf8.RuneCountInString(got); n > excerptBytes {
		t.Errorf("%d characters", n)
	}
}

// validStrings says whether everything in a document that is text is UTF-8.
func validStrings(doc *sift.Document) bool {
	for _, s := range []string{doc.Title, doc.Author, doc.Site, doc.Published, doc.Language, doc.Description, doc.Text, doc.MediaType, plainText(doc.Main), plainText(doc.Page)} {
		if !utf8.ValidString(s) {
			return false
		}
	}
	for _, w := range doc.Warnings {
		if !utf8.ValidString(w.Message) {
			return false
		}
	}
	return true
}

func FuzzExcerpt(f *testing.F) {
	f.Add([]byte("<p>a\x1b[31m"), "text/html", 5)
	f.Add([]byte("\x1b]\x1b\\\u202e"), "text/plain", 3)
	f.Fuzz(func(t *testing.T, body []byte, contentType string, limit int) {
		got := Excerpt(Input{Body: body, ContentType: contentType}, limit)
		if !utf8.ValidString(got) || utf8.RuneCountInString(got) > max(limit, 0) {
			t.Errorf("%d characters for %d: %q", utf8.RuneCountInString(got), limit, got)
		}
		for _, r := range got {
			if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
				t.Errorf("%U is in %q", r, got)
			}
		}
	})
}
