package extract_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"sift.build/sift/internal/extract"
	"sift.build/sift/internal/sift"
)

// zipOf makes an archive of these members, their content stored as noise does.
func zipOf(t *testing.T, names ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range names {
		method := zip.Deflate
		if name == "mimetype" {
			method = zip.Store
		}
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: method})
		if err != nil {
			t.Fatal(err)
		}
		content := strings.Repeat(name+" \x00\x01\x02 lorem ipsum ", 2000)
		if name == "[Content_Types].xml" { // long and hard to compress: it pushes the names out of the beginning
			var noise strings.Builder
			x := uint32(7)
			for range 20 << 10 {
				x = x*1664525 + 1013904223
				noise.WriteByte(byte(x >> 24))
			}
			content = noise.String()
		}
		if _, err := io.WriteString(w, content); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestWhatIsNoTextIsNamedInWords(t *testing.T) {
	noise := func(prefix string) []byte { return []byte(prefix + strings.Repeat("\x00\x01\x9c\xfe\x02\x03 z", 40)) }
	stored := func(mimetype string) []byte {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		w, err := z.CreateHeader(&zip.FileHeader{Name: "mimetype", Method: zip.Store})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, mimetype); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	tar := make([]byte, 1024)
	copy(tar, "dir/file.txt")
	copy(tar[257:], "ustar\x0000")
	tests := []struct {
		name string
		body []byte
		want string // the words and the type
	}{
		{"Word", zipOf(t, "[Content_Types].xml", "_rels/.rels", "docProps/app.xml", "word/document.xml"), "a Word document is not read (application/vnd.openxmlformats-officedocument.wordprocessingml.document, "},
		{"Excel", zipOf(t, "[Content_Types].xml", "_rels/.rels", "xl/workbook.xml"), "an Excel workbook is not read (application/vnd.openxmlformats-officedocument.spreadsheetml.sheet, "},
		{"PowerPoint", zipOf(t, "[Content_Types].xml", "_rels/.rels", "ppt/presentation.xml"), "a PowerPoint presentation is not read (application/vnd.openxmlformats-officedocument.presentationml.presentation, "},
		{"OpenDocument text", stored("application/vnd.oasis.opendocument.text"), "an OpenDocument text is not read (application/vnd.oasis.opendocument.text, "},
		{"OpenDocument sheet", stored("application/vnd.oasis.opendocument.spreadsheet"), "an OpenDocument spreadsheet is not read (application/vnd.oasis.opendocument.spreadsheet, "},
		{"EPUB", stored("application/epub+zip"), "an EPUB book is not read (application/epub+zip, "},
		{"a Java archive", zipOf(t, "META-INF/MANIFEST.MF", "a/B.class"), "a Java archive has no text to read (application/java-archive, "},
		{"an Android app", zipOf(t, "AndroidManifest.xml", "classes.dex"), "an Android app has no text to read (application/vnd.android.package-archive, "},
		{"any other archive", zipOf(t, "a.txt", "words/b.txt"), "an archive has no text to read (application/zip, "},
		{"a Word document of old", noise("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), "an office document is not read (application/x-ole-storage, "},
		{"rich text", []byte("{\\rtf1\\ansi{\\fonttbl}\\f0 Hello}"), "a rich text document is not read (application/rtf, "},
		{"PostScript", []byte("%!PS-Adobe-3.0\n/Times findfont\n"), "a PostScript file is not read (application/postscript, "},
		{"a tar archive", tar, "an archive has no text to read (application/x-tar, "},
		{"WebP", noise("RIFF\x24\x00\x00\x00WEBPVP8 "), "an image has no text to read (image/webp, "},
		{"AVIF", noise("\x00\x00\x00\x20ftypavif"), "an image has no text to read (image/avif, "},
		{"Matroska", noise("\x1aE\xdf\xa3\x01\x00B\x82\x88matroska"), "a video has no text to read (video/x-matroska, "},
		{"WAVE", noise("RIFF\x24\x00\x00\x00WAVEfmt "), "a sound file has no text to read (audio/wav, "},
		{"AAC", noise("\xff\xf1\x50\x80"), "a sound file has no text to read (audio/aac, "},
		{"a Python bytecode file", noise("\xa7\x0d\x0d\x0a"), "a program has no text to read (application/x-python-code, "},
		{"Parquet", noise("PAR1"), "a data file has no text to read (application/vnd.apache.parquet, "},
		{"HDF5", noise("\x89HDF\r\n\x1a\n"), "a data file has no text to read (application/x-hdf5, "},
		{"SQLite", noise("SQLite format 3\x00"), "a database has no text to read (application/vnd.sqlite3, "},
		{"a Mac image", noise("\xca\xfe\xba\xbe"), "a program has no text to read (application/java-vm, "},
		{"LZ4", noise("\x04\x22\x4d\x18"), "an archive has no text to read (application/x-lz4, "},
	}
	for _, tt := range tests {
		for _, contentType := range []string{"text/html; charset=utf-8", "text/plain", "application/octet-stream", ""} {
			t.Run(tt.name+" as "+contentType, func(t *testing.T) {
				_, err := extract.Extract(context.Background(), extract.Input{Body: tt.body, ContentType: contentType})
				var f *sift.Failure
				if !errors.As(err, &f) || f.Code != sift.CodeUnsupported || !strings.HasPrefix(f.Message, tt.want) || !strings.HasSuffix(f.Message, " bytes)") {
					t.Errorf("got %v", err)
				}
			})
		}
	}
}
