package extract

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"sift.build/sift/internal/sift"
)

type kindOf struct {
	Kind      sift.Kind
	MediaType string
}

func TestAKindIsDecidedByTheBytesFirst(t *testing.T) {
	page := "<!DOCTYPE html>\n<html><head><title>T</title></head><body><p>Words.</p></body></html>"
	tests := []struct {
		name, contentType, url, body string
		want                         kindOf
	}{
		{"a page", "text/html; charset=utf-8", "", page, kindOf{sift.KindHTML, "text/html"}},
		{"a page without a type", "", "", page, kindOf{sift.KindHTML, "text/html"}},
		{"a page labelled text/plain", "text/plain", "", page, kindOf{sift.KindHTML, "text/html"}},
		{"a page labelled as an image", "image/png", "", page, kindOf{sift.KindHTML, "text/html"}},
		{"a page at a PDF's address", "application/pdf", "http://a.example/x.pdf", page, kindOf{sift.KindHTML, "text/html"}},
		{"a page labelled JSON", "application/json", "", page, kindOf{sift.KindHTML, "text/html"}},
		{"a shell labelled Markdown", "text/markdown", "http://a.example/x.md", page, kindOf{sift.KindHTML, "text/html"}},
		{"comments in front of a page", "text/plain", "", "<!-- a --> <!-- b -->" + page, kindOf{sift.KindHTML, "text/html"}},
		{"XHTML", "application/xhtml+xml", "", `<?xml version="1.0"?><!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "x"><html xmlns="x"><body>x</body></html>`, kindOf{sift.KindHTML, "application/xhtml+xml"}},
		{"XHTML served as XML", "text/xml", "", `<?xml version="1.0"?><html xmlns="x"><body>x</body></html>`, kindOf{sift.KindHTML, "text/html"}},
		{"a fragment without a type", "", "", "<p>one<p>two", kindOf{sift.KindHTML, "text/html"}},
		{"a fragment of HTML", "text/html", "", "<p>one<p>two", kindOf{sift.KindHTML, "text/html"}},
		{"text labelled HTML", "text/html", "", "just\na line", kindOf{sift.KindText, "text/plain"}},
		{"text with a reference is HTML", "text/html", "", "a &amp; b", kindOf{sift.KindHTML, "text/html"}},

		{"JSON", "application/json", "", `{"a":1}`, kindOf{sift.KindJSON, "application/json"}},
		{"a vendor's JSON", "application/vnd.api+json", "", `{"a":1}`, kindOf{sift.KindJSON, "application/vnd.api+json"}},
		{"linked data", "application/ld+json; charset=utf-8", "", `{"@type":"Dataset"}`, kindOf{sift.KindJSON, "application/ld+json"}},
		{"broken JSON is JSON still", "application/json", "", `{"a":`, kindOf{sift.KindJSON, "application/json"}},
		{"JSON labelled HTML", "text/html", "", ` {"html":"<p>a &lt; b</p>"}`, kindOf{sift.KindJSON, "application/json"}},
		{"JSON labelled text", "text/plain", "", `[1,2]`, kindOf{sift.KindJSON, "application/json"}},
		{"JSON as octets", "application/octet-stream", "", `{"a":[]}`, kindOf{sift.KindJSON, "application/json"}},
		{"one value a line", "text/plain", "", "{\"a\":1}\n{\"a\":2}\n", kindOf{sift.KindJSON, "application/x-ndjson"}},
		{"one value a line, labelled", "application/x-ndjson", "", "{\"a\":1}\n", kindOf{sift.KindJSON, "application/x-ndjson"}},
		{"an INI file", "text/plain", "", "[section]\nkey=1\n", kindOf{sift.KindText, "text/plain"}},
		{"a number is no document", "text/plain", "", "42", kindOf{sift.KindText, "text/plain"}},

		{"Markdown", "text/markdown; charset=utf-8", "", "# T\n\n<div>x</div>", kindOf{sift.KindMarkdown, "text/markdown"}},
		{"Markdown by its address", "text/plain", "http://a.example/README.md?raw=1", "# T", kindOf{sift.KindMarkdown, "text/markdown"}},
		{"Markdown as octets", "application/octet-stream", "http://a.example/a.MARKDOWN", "# T", kindOf{sift.KindMarkdown, "text/markdown"}},
		{"Markdown that begins with markup", "text/plain", "http://a.example/README.md", "<p align=center><img src=x></p>\n\n# T", kindOf{sift.KindMarkdown, "text/markdown"}},

		{"text", "text/plain", "", "requests>=2.31,<3\n", kindOf{sift.KindText, "text/plain"}},
		{"text that holds a script", "text/plain", "", "see <script>x</script>", kindOf{sift.KindText, "text/plain"}},
		{"source code", "text/x-go", "", "package a\n", kindOf{sift.KindCode, "text/x-go"}},
		{"CSV", "text/csv", "", "a,b\n1,2\n", kindOf{sift.KindTable, "text/csv"}},
		{"YAML", "application/yaml", "", "a: 1\n", kindOf{sift.KindCode, "application/yaml"}},
		{"llms.txt", "text/plain", "http://a.example/llms.txt", "# Site\n> about\n", kindOf{sift.KindMarkdown, "text/markdown"}},
		{"a line of text labelled as an image", "image/png", "", "not found\n", kindOf{sift.KindText, "text/plain"}},
		{"terminal colours are text", "text/plain", "", "\x1b[31mred\x1b[0m\n", kindOf{sift.KindText, "text/plain"}},
		{"text that begins like a bitmap", "text/plain", "", "BMW and MZ and BZh and ID3 are words", kindOf{sift.KindText, "text/plain"}},
		{"text that speaks of PDF", "text/plain", "", "A file begins with %PDF-1.7 always.", kindOf{sift.KindText, "text/plain"}},

		{"XML", "application/xml", "", "<?xml version='1.0'?><catalog/>", kindOf{sift.KindCode, "application/xml"}},
		{"RSS", "application/rss+xml", "", "<?xml version='1.0'?><rss><title>T</title></rss>", kindOf{sift.KindFeed, "application/rss+xml"}},
		{"RSS without a type", "", "", "<?xml version='1.0'?><!-- x --><rss version='2.0'><title>T</title></rss>", kindOf{sift.KindFeed, "application/rss+xml"}},
		{"Atom labelled HTML", "text/html", "", "<?xml version='1.0'?><feed xmlns='x'><title>T</title></feed>", kindOf{sift.KindFeed, "application/atom+xml"}},
		{"a sitemap", "text/xml", "", "<?xml version='1.0'?><urlset><url><loc>http://a.example/</loc></url></urlset>", kindOf{sift.KindSitemap, "application/xml"}},
		{"a drawing without a type", "", "", "<svg xmlns='x'><text>hi</text></svg>", kindOf{sift.KindDrawing, "image/svg+xml"}},
		{"a drawing as HTML is a page", "text/html", "", "<svg xmlns='x'><text>hi</text></svg><p>x", kindOf{sift.KindHTML, "text/html"}},
		{"a drawing", "image/svg+xml", "", "<svg xmlns='x'><text>hi</text></svg>", kindOf{sift.KindDrawing, "image/svg+xml"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			doc, err := Extract(context.Background(), Input{Body: []byte(tt.body), ContentType: tt.contentType, URL: tt.url})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, kindOf{doc.Kind, doc.MediaType}); diff != "" {
				t.Error(diff)
			}
			if !doc.Kind.HasTree() && doc.Text != tt.body {
				t.Errorf("not verbatim: %q", doc.Text)
			}
		})
	}
}

func TestWhatHasNoTextIsRefusedWithItsTypeAndSize(t *testing.T) {
	noise := func(prefix string) string { return prefix + strings.Repeat("\x00\x01\x9c\xfe\x02\x03 z", 40) }
	tests := []struct{ name, contentType, body, want string }{
		{"a picture labelled text", "text/plain", noise("\x89PNG\r\n\x1a\n"), "an image has no text to read (image/png, 328 bytes)"},
		{"a photograph", "image/jpeg", noise("\xff\xd8\xff\xe0"), "an image has no text to read (image/jpeg, 324 bytes)"},
		{"an archive as octets", "application/octet-stream", noise("PK\x03\x04"), "an archive has no text to read (application/zip, 324 bytes)"},
		{"a text document", "application/octet-stream", noise("PK\x03\x04word/document.xml"), "a Word document is not read (application/vnd.openxmlformats-officedocument.wordprocessingml.document, 341 bytes)"},
		{"a PDF", "text/html", "%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "a PDF (application/pdf, 15 bytes) is no text by itself"},
		{"a PDF behind other lines", "application/pdf", "HTTP garbage\n\n%PDF-1.4\nstream", "a PDF (application/pdf, 29 bytes) is no text by itself"},
		{"a program", "text/plain", noise("\x7fELF\x02"), "a program has no text to read (application/x-executable, 325 bytes)"},
		{"a program for browsers", "", noise("\x00asm\x01"), "a program has no text to read (application/wasm, 325 bytes)"},
		{"a film", "video/mp4", noise("\x00\x00\x00\x18ftypmp42"), "a video has no text to read (video/mp4, 332 bytes)"},
		{"music", "", noise("ID3\x04"), "a sound file has no text to read (audio/mpeg, 324 bytes)"},
		{"a font", "font/woff2", noise("wOF2"), "a font has no text to read (font/woff2, 324 bytes)"},
		{"unknown bytes keep the type they came with", "application/x-thing", noise(""), "a binary file has no text to read (application/x-thing, 320 bytes)"},
		{"unknown bytes labelled text", "text/html", noise(""), "a binary file has no text to read (application/octet-stream, 320 bytes)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Extract(context.Background(), Input{Body: []byte(tt.body), ContentType: tt.contentType})
			var f *sift.Failure
			if !errors.As(err, &f) {
				t.Fatalf("got %v", err)
			}
			if diff := cmp.Diff(sift.Fail(sift.CodeUnsupported, "%s", tt.want), f); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestACompressedTextFileIsOpenedOnce(t *testing.T) {
	pack := func(s string) []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		if _, err := z.Write([]byte(s)); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	sitemap := "<?xml version='1.0'?><urlset><url/></urlset>"
	in := Input{Body: pack(sitemap), ContentType: "application/gzip", URL: "http://a.example/sitemap.xml.gz"}
	doc, err := Extract(context.Background(), in)
	if err != nil || doc.Text != sitemap || doc.MediaType != "application/xml" {
		t.Fatalf("%+v %v", doc, err)
	}
	var f *sift.Failure
	in.Body = pack(string(pack(sitemap)))
	if _, err := Extract(context.Background(), in); !errors.As(err, &f) || f.Code != sift.CodeUnsupported {
		t.Errorf("twice compressed: %v", err)
	}
	in.Body = pack(strings.Repeat("x", 2000))
	in.MaxText = 1999
	if _, err := Extract(context.Background(), in); !errors.As(err, &f) || f.Code != sift.CodeTooLong {
		t.Errorf("over the bound: %v", err)
	}
	in.Body = in.Body[:10]
	if _, err := Extract(context.Background(), in); !errors.As(err, &f) || f.Code != sift.CodeUnsupported {
		t.Errorf("cut short: %v", err)
	}
}

func TestAnEmptyBodyIsAnEmptyDocument(t *testing.T) {
	for _, in := range []Input{{}, {Body: []byte(" \n\t "), ContentType: "text/plain"}, {Body: []byte("\n\n"), ContentType: "text/html"}, {Body: []byte("\xef\xbb\xbf"), ContentType: "text/html"}} {
		doc, err := Extract(context.Background(), in)
		if err != nil || !warned(doc, sift.WarnEmpty) {
			t.Errorf("%q: %+v %v", in.Body, doc, err)
		}
	}
}

func FuzzKind(f *testing.F) {
	f.Add([]byte("<?xml version='1.0'?><!DOCTYPE rss [<!ENTITY a 'b'>]><rss/>"), "text/html", "/a.xml")
	f.Add([]byte("{\"a\":1}\n{}"), "text/plain", "/a.md")
	f.Add([]byte("\x1f\x8b\x08"), "application/gzip", "/a.gz")
	f.Add([]byte("PK\x03\x04"), "", "")
	f.Add([]byte("<!--"), "image/png", "")
	f.Add([]byte("<html><svg/><script/><![CDATA[<]]><a/><math><mi/>"), "application/xhtml+xml", "")
	f.Add([]byte("a;b\n1;2"), "text/csv", "")
	f.Add([]byte("\x04\x1f0\x04 \x00"), "text/plain", "/a.csv")
	f.Fuzz(func(t *testing.T, body []byte, contentType, path string) {
		b, err := open(context.Background(), Input{Body: body, ContentType: contentType, URL: "http://a.example" + path, MaxText: 1 << 20})
		if err != nil {
			var failure *sift.Failure
			if !errors.As(err, &failure) || !utf8.ValidString(failure.Message) {
				t.Fatalf("%v", err)
			}
			return
		}
		switch b.kind {
		case sift.KindHTML, sift.KindJSON, sift.KindMarkdown, sift.KindText, sift.KindFeed, sift.KindSitemap, sift.KindOPML, sift.KindTable, sift.KindDrawing, sift.KindCode:
		default:
			t.Errorf("kind %q", b.kind)
		}
		if b.mediaType == "" || strings.ToLower(b.mediaType) != b.mediaType || strings.ContainsAny(b.mediaType, "; \n") {
			t.Errorf("media type %q", b.mediaType)
		}
	})
}
