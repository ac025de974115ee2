package fetch

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"sift.build/sift/internal/sift"
)

// packed compresses body with one coding.
func packed(c coding, body string) string {
	var b bytes.Buffer
	var w io.WriteCloser
	switch c {
	case gzipCoding:
		w = gzip.NewWriter(&b)
	case zlibCoding:
		w = zlib.NewWriter(&b)
	case rawDeflate:
		w = must(flate.NewWriter(&b, flate.DefaultCompression))
	case brCoding:
		w = brotli.NewWriterLevel(&b, 3)
	case zstdCoding:
		w = must(zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1)))
	default:
		return body
	}
	_ = must(io.WriteString(w, body))
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.String()
}

// bomb is n zeros packed with one coding, made once for each.
func bomb(c coding, n int) string { return packed(c, strings.Repeat("\x00", n)) }

func TestEveryContentCodingIsUndone(t *testing.T) {
	const page = "<html><body><p>The last boat leaves the north pier at 21:40.</p></body></html>"
	long := page + text(300<<10)
	pdf := "%PDF-1.7\n%\xe2\xe3\xcf\xd3\n" + string(noise(3000))
	for _, tt := range []struct {
		name     string
		encoding []string
		typ      string
		wire     string
		want     string
	}{
		{"gzip", []string{"gzip"}, "text/html", packed(gzipCoding, page), page},
		{"x-gzip in capitals", []string{"X-GZIP"}, "text/html", packed(gzipCoding, long), long},
		{"deflate with a zlib wrapper", []string{"deflate"}, "text/html", packed(zlibCoding, long), long},
		{"deflate without one", []string{"deflate"}, "text/html", packed(rawDeflate, page), page},
		{"br", []string{"br"}, "text/html", packed(brCoding, long), long},
		{"br, short", []string{"br"}, "text/html", packed(brCoding, "OK"), "OK"},
		{"zstd", []string{"zstd"}, "text/html", packed(zstdCoding, long), long},
		{"two in one line", []string{"br, gzip"}, "text/html", packed(gzipCoding, packed(brCoding, page)), page},
		{"two in two lines", []string{"gzip", "zstd"}, "text/html", packed(zstdCoding, packed(gzipCoding, page)), page},
		{"gzip twice", []string{"gzip, gzip"}, "text/html", packed(gzipCoding, packed(gzipCoding, page)), page},
		{"gzip twice, named once", []string{"gzip"}, "text/html", packed(gzipCoding, packed(gzipCoding, page)), page},
		{"gzip once, named twice", []string{"gzip, gzip"}, "text/html", packed(gzipCoding, page), page},
		{"tokens that name no coding", []string{"identity, gzip, none", "utf-8", ""}, "text/html", packed(gzipCoding, page), page},
		{"nothing but such tokens", []string{"identity", "UTF-8"}, "text/html", page, page},
		{"says gzip, is plain", []string{"gzip"}, "text/html", page, page},
		{"says deflate, is plain JSON", []string{"deflate"}, "application/json", `{"a":1}`, `{"a":1}`},
		{"says br, is plain", []string{"br"}, "text/html", page, page},
		{"says zstd, is plain", []string{"zstd"}, "text/html", page, page},
		{"says gzip, is plain Latin-1", []string{"gzip"}, "text/html", "<html>caf\xe9</html>", "<html>caf\xe9</html>"},
		{"says gzip, is a PDF", []string{"gzip"}, "application/pdf", pdf, pdf},
		{"says br, is gzip", []string{"br"}, "text/html", packed(gzipCoding, page), page},
		{"says gzip, is zstd", []string{"gzip"}, "text/html", packed(zstdCoding, page), page},
		{"says gzip, is deflate", []string{"gzip"}, "text/html", packed(zlibCoding, page), page},
		{"says deflate, is gzip", []string{"deflate"}, "text/html", packed(gzipCoding, page), page},
		{"says nothing, is gzip", nil, "text/html", packed(gzipCoding, page), page},
		{"says nothing, is zstd", nil, "application/xml", packed(zstdCoding, page), page},
		{"no type, is gzip", nil, "", packed(gzipCoding, page), page},
		{"a gzip file", nil, "application/gzip", packed(gzipCoding, page), packed(gzipCoding, page)},
		{"a gzip file of an older type", nil, "application/x-gzip", packed(gzipCoding, page), packed(gzipCoding, page)},
		{"a gzip file without a type of its own", nil, "application/octet-stream", packed(gzipCoding, page), packed(gzipCoding, page)},
		{"a tar file", nil, "application/x-tar", packed(gzipCoding, page), packed(gzipCoding, page)},
		{"a gzip file in a gzip transfer", []string{"gzip"}, "application/gzip", packed(gzipCoding, packed(gzipCoding, page)), packed(gzipCoding, page)},
		{"garbage after gzip", []string{"gzip"}, "text/html", packed(gzipCoding, page) + "\x00\x00garbage", page},
		{"garbage like gzip after gzip", []string{"gzip"}, "text/html", packed(gzipCoding, page) + "\x1f\x8b\x07garbage", page},
		{"garbage after deflate", []string{"deflate"}, "text/html", packed(zlibCoding, page) + "garbage", page},
		{"garbage after br", []string{"br"}, "text/html", packed(brCoding, page) + "garbage", page},
		{"garbage after zstd", []string{"zstd"}, "text/html", packed(zstdCoding, page) + "garbage!", page},
		{"several gzip members", []string{"gzip"}, "text/html", packed(gzipCoding, page) + packed(gzipCoding, "") + packed(gzipCoding, page), page + page},
		{"several zstd frames", []string{"zstd"}, "text/html", packed(zstdCoding, page) + packed(zstdCoding, page), page + page},
		{"zstd behind a skippable frame", []string{"zstd"}, "text/html", "\x5a\x2a\x4d\x18\x03\x00\x00\x00abc" + packed(zstdCoding, page), page},
		{"an empty body named gzip", []string{"gzip"}, "text/html", "", ""},
		{"gzip of nothing", []string{"gzip"}, "text/html", packed(gzipCoding, ""), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var headers []string
			for _, e := range tt.encoding {
				headers = append(headers, "Content-Encoding: "+e)
			}
			w := newWorld(t)
			w.host("a.example", 80, always(ok(tt.typ, tt.wire, headers...)))
			r := mustGet(t, w.client(), "http://a.example/page")
			if got := bodyOf(t, r); got != tt.want {
				t.Errorf("%d bytes %.80q, want %d bytes %.80q", len(got), got, len(tt.want), tt.want)
			}
			if r.Partial {
				t.Errorf("partial: %s", r.PartialReason)
			}
			if r.WireBytes > int64(len(tt.wire)) || r.WireBytes < int64(len(tt.wire)-10) {
				t.Errorf("%d bytes on the wire, want %d", r.WireBytes, len(tt.wire))
			}
		})
	}
}

func TestAFileWithoutATypeIsToldByItsName(t *testing.T) {
	w := newWorld(t)
	file := packed(gzipCoding, "<urlset/>")
	w.host("a.example", 80, always(ok("", file)))
	c := w.client()
	for path, want := range map[string]string{"/sitemap.xml.gz": file, "/sitemap.xml": "<urlset/>", "/a.TGZ?x=.html": file} {
		if got := bodyOf(t, mustGet(t, c, "http://a.example"+path)); got != want {
			t.Errorf("%s: %q", path, got)
		}
	}
}

func TestWhatCannotBeDecodedIsAFailureThatSaysSo(t *testing.T) {
	zstdFrame := func(window int) string {
		// A frame header without a single segment: the window in the form of
		// RFC 8878 section 3.1.1.1.2, here 2^(10+e).
		e := 0
		for 1<<(10+e) < window {
			e++
		}
		return "\x28\xb5\x2f\xfd\x00" + string(rune(e<<3)) + "\x01\x00\x00"
	}
	var dict bytes.Buffer
	dw := must(zlib.NewWriterLevelDict(&dict, zlib.BestCompression, []byte("the dictionary")))
	_ = must(io.WriteString(dw, "the dictionary is needed"))
	_ = dw.Close()
	for _, tt := range []struct {
		name, encoding, wire string
		code                 sift.Code
		words                string
	}{
		{"an unknown coding", "x-foo", "abc", sift.CodeUnsupported, "content encoding x-foo"},
		{"an old coding", "compress", "\x1f\x9dabc", sift.CodeUnsupported, "content encoding compress"},
		{"a coding with a dictionary", "dcb", "abc", sift.CodeUnsupported, "content encoding dcb"},
		{"a coding with a bad name", "x\u202e-\xff", "abc", sift.CodeUnsupported, "content encoding x-\uFFFD;"},
		{"three codings", "gzip, br, gzip", "abc", sift.CodeUnsupported, "more than 2"},
		{"fifty codings", strings.Repeat("gzip, ", 49) + "gzip", "abc", sift.CodeUnsupported, "more than 2"},
		{"a zstd window of 512 MiB", "zstd", zstdFrame(512 << 20), sift.CodeUnsupported, "window over 8 MiB"},
		{"too many gzip members", "gzip", strings.Repeat(packed(gzipCoding, ""), maxMembers+1), sift.CodeUnsupported, "members"},
		{"noise that says gzip", "gzip", "\x00\x01" + string(noise(2000)), sift.CodeUnreachable, "Content-Encoding"},
		{"noise that says br", "br", "\xff\xff" + string(noise(2000)), sift.CodeUnreachable, "Content-Encoding"},
		{"noise that says zstd", "zstd", "\x00\x01" + string(noise(2000)), sift.CodeUnreachable, "Content-Encoding"},
		{"gzip damaged from the start", "gzip", "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xff\xff\xff\xff\xff", sift.CodeUnreachable, "damaged"},
		{"zlib with a dictionary", "deflate", dict.String(), sift.CodeUnreachable, "Content-Encoding"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.host("a.example", 80, always(ok("text/html", tt.wire, "Content-Encoding: "+tt.encoding)))
			r, err := get(t, w.client(), "http://a.example/")
			if err == nil {
				t.Fatalf("came back: %.80q, partial %v %s", bodyOf(t, r), r.Partial, r.PartialReason)
			}
			t.Log(wantFailure(t, err, tt.code, tt.words))
		})
	}
}

func TestACompressedBodyThatIsCutShortIsPartial(t *testing.T) {
	page := text(200 << 10)
	for _, c := range []coding{gzipCoding, zlibCoding, rawDeflate, brCoding, zstdCoding} {
		t.Run(string(c), func(t *testing.T) {
			body := packed(c, page+string(noise(100<<10)))
			damaged := []byte(body)
			for i := range 100 {
				damaged[len(damaged)-200+i] ^= 0x55
			}
			name := map[coding]string{rawDeflate: "deflate"}[c]
			if name == "" {
				name = string(c)
			}
			short := body[:len(body)*6/10]
			for kind, answer := range map[string]string{
				"by the server":       ok("text/html", short, "Content-Encoding: "+name),
				"with the connection": "HTTP/1.1 200 OK\r\nContent-Encoding: " + name + fmt.Sprintf("\r\nContent-Length: %d\r\n\r\n", len(body)) + short,
				"without an end":      "HTTP/1.1 200 OK\r\nContent-Encoding: " + name + fmt.Sprintf("\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n", len(short)) + short + "\r\n",
				"and damaged":         ok("text/html", string(damaged), "Content-Encoding: "+name),
			} {
				w := newWorld(t)
				w.host("a.example", 80, always(answer))
				r := mustGet(t, w.client(), "http://a.example/")
				got := bodyOf(t, r)
				if kind == "and damaged" && (c == rawDeflate || c == brCoding) {
					continue // they have no checksum
				}
				if !r.Partial || !strings.Contains(r.PartialReason, "cut short") && !strings.Contains(r.PartialReason, "damaged") {
					t.Errorf("%s: partial %v, %q", kind, r.Partial, r.PartialReason)
				}
				if len(got) < 100<<10 || !strings.HasPrefix(got, page[:100<<10]) {
					t.Errorf("%s: %d bytes came through", kind, len(got))
				}
			}
		})
	}
}

func TestABombStopsAtTheCap(t *testing.T) {
	zeros := func(c coding) string {
		const size = 256 << 20
		// The zstd encoder has a checksum to make: a frame of run-length
		// blocks is written by hand.
		if c == zstdCoding {
			var b bytes.Buffer
			b.WriteString("\x28\xb5\x2f\xfd\x00\x38") // window 128 KiB
			for range size / (128 << 10) {
				var h [4]byte
				binary.LittleEndian.PutUint32(h[:], (128<<10)<<3|1<<1)
				b.Write(h[:3])
				b.WriteByte(0)
			}
			b.WriteString("\x01\x00\x00")
			return b.String()
		}
		return bomb(c, 4<<20)
	}
	for _, c := range []coding{gzipCoding, zlibCoding, brCoding, zstdCoding} {
		t.Run(string(c), func(t *testing.T) {
			wire := zeros(c)
			w := newWorld(t)
			w.host("a.example", 80, raw(func(r request) string {
				if r.path() == "/twice" {
					return ok("text/html", packed(gzipCoding, wire), "Content-Encoding: "+string(c)+", gzip")
				}
				if r.path() == "/302" {
					return status(302, "text/html", wire, "Location: /end", "Content-Encoding: "+string(c))
				}
				if r.path() == "/end" {
					return ok("text/plain", "end")
				}
				return ok("text/html", wire, "Content-Encoding: "+string(c))
			}))
			cl := w.client(func(c *Config, _ *limits) { c.MaxBytes = 1 << 20 })
			for _, path := range []string{"/once", "/twice"} {
				_, err := get(t, cl, "http://a.example"+path)
				wantFailure(t, err, sift.CodeTooLong, "1 MiB after decompression", "[fetch] max_bytes")
			}
			if got := bodyOf(t, mustGet(t, cl, "http://a.example/302")); got != "end" {
				t.Errorf("a bomb in the body of a redirect: %q", got)
			}
		})
	}
}

func TestTheTextOfBrotlisErrorIsWhatWeCompareWith(t *testing.T) {
	_, err := io.ReadAll(brotli.NewReader(strings.NewReader(packed(brCoding, "x") + "more")))
	if err == nil || err.Error() != "brotli: excessive input" {
		t.Errorf("error %v", err)
	}
}

func TestCodingsAreReadInTheOrderOfTheLines(t *testing.T) {
	got, err := codings([]string{"gzip", `"br" , identity`})
	if d := cmp.Diff([]coding{gzipCoding, brCoding}, got); d != "" || err != nil {
		t.Error(d, err)
	}
	_, err = codings([]string{"gzip", "X-Foo"})
	if e, ok := errors.AsType[*unknownCodingError](err); !ok || e.token != "x-foo" {
		t.Errorf("error %v", err)
	}
}
