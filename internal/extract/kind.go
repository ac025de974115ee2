package extract

import (
	"bytes"
	"encoding/json"
	"path"
	"strings"

	"sift.build/sift/internal/sift"
)

// sniffBytes is how much of a body the judgement on binary or text looks at.
const sniffBytes = 8 << 10

// mediaType gives the type of a Content-Type without parameters, lower case,
// or "".
func mediaType(contentType string) string {
	mt, _, _ := strings.Cut(contentType, ";")
	mt = strings.ToLower(strings.TrimSpace(mt))
	if len(mt) > 127 || !strings.Contains(mt, "/") || strings.ContainsFunc(mt, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return ""
	}
	return mt
}

// magic is how a format begins. One whose mark could also begin a text has
// weak set: it counts only when the bytes behind it are no text.
type magic struct {
	offset int
	mark   string
	name   string
	weak   bool
}

// magics lists the formats that are told by their first bytes. Where one mark
// is the beginning of another, the longer one comes first.
func magics() []magic {
	return []magic{
		{mark: "\x89PNG\r\n\x1a\n", name: "image/png"},
		{mark: "\xff\xd8\xff", name: "image/jpeg"},
		{mark: "GIF87a", name: "image/gif"},
		{mark: "GIF89a", name: "image/gif"},
		{mark: "BM", name: "image/bmp", weak: true},
		{mark: "II*\x00", name: "image/tiff"},
		{mark: "MM\x00*", name: "image/tiff"},
		{mark: "8BPS\x00", name: "image/vnd.adobe.photoshop"},
		{mark: "\x00\x00\x01\x00", name: "image/x-icon"},
		{mark: "\x00\x00\x02\x00", name: "image/x-icon"},
		{mark: "\x00\x00\x00\x0cjP  ", name: "image/jp2"},
		{mark: "\xff\x0a", name: "image/jxl", weak: true},
		{mark: "\x00\x00\x00\x0cJXL ", name: "image/jxl"},
		{offset: 8, mark: "WEBPVP", name: "image/webp"},
		{offset: 8, mark: "WAVE", name: "audio/wav", weak: true},
		{offset: 8, mark: "AVI ", name: "video/x-msvideo", weak: true},
		{offset: 4, mark: "ftypavif", name: "image/avif"},
		{offset: 4, mark: "ftyphei", name: "image/heic"},
		{offset: 4, mark: "ftypmif1", name: "image/heif"},
		{offset: 4, mark: "ftypM4A", name: "audio/mp4"},
		{offset: 4, mark: "ftypqt", name: "video/quicktime"},
		{offset: 4, mark: "ftyp", name: "video/mp4", weak: true},
		{mark: "\x1aE\xdf\xa3", name: "video/x-matroska"},
		{mark: "FLV\x01", name: "video/x-flv"},
		{mark: "\x00\x00\x01\xba", name: "video/mpeg"},
		{mark: "OggS\x00", name: "application/ogg"},
		{mark: "ID3", name: "audio/mpeg", weak: true},
		{mark: "\xff\xfb", name: "audio/mpeg", weak: true},
		{mark: "\xff\xf3", name: "audio/mpeg", weak: true},
		{mark: "\xff\xf1", name: "audio/aac", weak: true},
		{mark: "\xff\xf9", name: "audio/aac", weak: true},
		{mark: "fLaC\x00", name: "audio/flac"},
		{mark: "MThd\x00\x00\x00\x06", name: "audio/midi"},
		{mark: "FORM", name: "audio/aiff", weak: true},
		{mark: ".snd", name: "audio/basic", weak: true},
		{mark: "wOFF", name: "font/woff", weak: true},
		{mark: "wOF2", name: "font/woff2", weak: true},
		{mark: "\x00\x01\x00\x00", name: "font/ttf"},
		{mark: "OTTO\x00", name: "font/otf"},
		{mark: "ttcf\x00", name: "font/collection"},
		{mark: "\x1f\x8b\x08", name: "application/gzip"},
		{mark: "PK\x03\x04", name: "application/zip"},
		{mark: "PK\x05\x06", name: "application/zip"},
		{mark: "Rar!\x1a\x07", name: "application/vnd.rar"},
		{mark: "7z\xbc\xaf\x27\x1c", name: "application/x-7z-compressed"},
		{mark: "\xfd7zXZ\x00", name: "application/x-xz"},
		{mark: "BZh", name: "application/x-bzip2", weak: true},
		{mark: "\x28\xb5\x2f\xfd", name: "application/zstd"},
		{mark: "\x04\x22\x4d\x18", name: "application/x-lz4"},
		{mark: "LZIP\x01", name: "application/x-lzip"},
		{mark: "MSCF\x00", name: "application/vnd.ms-cab-compressed"},
		{offset: 257, mark: "ustar", name: "application/x-tar"},
		{mark: "!<arch>\ndebian-binary", name: "application/vnd.debian.binary-package"},
		{mark: "\x7fELF", name: "application/x-executable"},
		{mark: "MZ", name: "application/vnd.microsoft.portable-executable", weak: true},
		{mark: "\xcf\xfa\xed\xfe", name: "application/x-mach-binary"},
		{mark: "\xce\xfa\xed\xfe", name: "application/x-mach-binary"},
		{mark: "\xca\xfe\xba\xbe", name: "application/java-vm"},
		{mark: "\x00asm", name: "application/wasm"},
		{mark: "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", name: "application/x-ole-storage"},
		{mark: "SQLite format 3\x00", name: "application/vnd.sqlite3"},
		{mark: "PAR1", name: "application/vnd.apache.parquet", weak: true},
		{mark: "ARROW1\x00\x00", name: "application/vnd.apache.arrow.file"},
		{mark: "Obj\x01", name: "application/avro", weak: true},
		{mark: "\x89HDF\r\n\x1a\n", name: "application/x-hdf5"},
		{mark: "\x93NUMPY", name: "application/x-npy"},
		{mark: "GGUF\x03\x00", name: "application/x-gguf"},
		{offset: 2, mark: "\r\n", name: "application/x-python-code", weak: true},
		{mark: "{\\rtf", name: "application/rtf"},
		{mark: "%!PS-Adobe-", name: "application/postscript"},
	}
}

// pdfMark begins a PDF. Some servers put lines in front of it, and the readers
// of PDFs look for it in the first kilobyte.
const pdfMark = "%PDF-"

// binaryType names the format of bytes that are no text, or gives "". contentType
// is believed only about what the bytes leave open.
func binaryType(body []byte, contentType string) string {
	head := body[:min(len(body), sniffBytes)]
	if _, ok := byteOrderMark(head); ok {
		return ""
	}
	textual := isTextual(head)
	if isPDF(head, contentType, textual) {
		return "application/pdf"
	}
	for _, m := range magics() {
		if len(head) >= m.offset+len(m.mark) && string(head[m.offset:m.offset+len(m.mark)]) == m.mark && !(m.weak && textual) {
			if m.name == "application/zip" {
				return zipped(body, contentType)
			}
			return m.name
		}
	}
	if textual {
		return ""
	}
	if _, ok := wideText(body); ok {
		return ""
	}
	if cs, ok := lookup(headerLabel(contentType)); ok && strings.HasPrefix(cs.name, "utf-16") {
		return ""
	}
	if mt := mediaType(contentType); mt != "" && !isTextType(mt) && !isPlain(mt) {
		return mt
	}
	return "application/octet-stream"
}

// PDFLook is how many bytes IsPDF looks at.
const PDFLook = sniffBytes

// IsPDF says whether a body that begins with head is a PDF: by its mark, which
// some servers put lines in front of. contentType, the header as sent, is
// believed only where text stands before the mark.
func IsPDF(head []byte, contentType string) bool {
	head = head[:min(len(head), sniffBytes)]
	if _, ok := byteOrderMark(head); ok && !bytes.HasPrefix(head, []byte("\xef\xbb\xbf")) {
		return false
	}
	return isPDF(head, contentType, isTextual(head))
}

func isPDF(head []byte, contentType string, textual bool) bool {
	i := bytes.Index(head[:min(len(head), 1024)], []byte(pdfMark))
	return i == 0 || i > 0 && (!textual || mediaType(contentType) == "application/pdf")
}

// zipDirectory is how much of the end of an archive is searched for the names of
// its members.
const zipDirectory = 64 << 10

// zipped tells the formats apart that are ZIP archives underneath: by the first
// member where that is the type, else by the names of the members, which stand at
// the end once more. Nothing is unpacked.
func zipped(body []byte, contentType string) string {
	head := body[:min(len(body), sniffBytes)]
	if len(head) > 38 && bytes.HasPrefix(head[30:], []byte("mimetypeapplication/")) {
		mt := string(head[38:min(len(head), 38+127)])
		end := 0
		for end < len(mt) && (isLetter(mt[end]) || mt[end] >= '0' && mt[end] <= '9' || strings.IndexByte("/.+-", mt[end]) >= 0) {
			end++
		}
		// What follows is the next part of the archive, which begins with PK.
		return strings.ToLower(strings.TrimSuffix(mt[:end], "PK"))
	}
	tail := body[max(0, len(body)-zipDirectory):]
	has := func(name string) bool {
		return bytes.Contains(head, []byte(name)) || bytes.Contains(tail, []byte(name))
	}
	for _, f := range []struct{ name, mark string }{
		{"application/vnd.openxmlformats-officedocument.wordprocessingml.document", "word/document"},
		{"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xl/workbook"},
		{"application/vnd.openxmlformats-officedocument.presentationml.presentation", "ppt/presentation"},
		{"application/epub+zip", "META-INF/container.xml"},
		{"application/vnd.android.package-archive", "AndroidManifest.xml"},
		{"application/java-archive", "META-INF/MANIFEST.MF"},
	} {
		if has(f.mark) {
			return f.name
		}
	}
	if mt := mediaType(contentType); strings.Contains(mt, "zip") || strings.HasPrefix(mt, "application/vnd.") || strings.HasPrefix(mt, "application/java") {
		return mt
	}
	return "application/zip"
}

// isTextual says whether the bytes can be text in some single-byte or UTF-8
// character set: control bytes other than white space and escape make up about
// one in fifty at most. Compressed data has one in ten.
func isTextual(head []byte) bool {
	control := 0
	for _, c := range head {
		if c < 0x20 && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != 0x1b && c != '\v' {
			control++
		}
	}
	return control <= 2+len(head)/50
}

// isTextType says whether a media type promises text.
func isTextType(mt string) bool {
	if strings.HasPrefix(mt, "text/") || strings.HasSuffix(mt, "+xml") || strings.HasSuffix(mt, "+json") {
		return true
	}
	switch mt {
	case "application/json", "application/xml", "application/javascript", "application/octet-stream",
		"application/xhtml+xml", "application/yaml", "application/toml", "application/x-ndjson":
		return true
	}
	return false
}

// refuse is the answer to bytes with nothing to read in them.
func refuse(mt string, size int, partial bool) *sift.Failure {
	least := ""
	if partial {
		least = "at least "
	}
	if mt == "application/pdf" {
		return sift.Fail(sift.CodeUnsupported, "a PDF (%s, %s%d bytes) is no text by itself", mt, least, size)
	}
	if name := documentName(mt); name != "" {
		return sift.Fail(sift.CodeUnsupported, "%s is not read (%s, %s%d bytes)", name, mt, least, size)
	}
	return sift.Fail(sift.CodeUnsupported, "%s has no text to read (%s, %s%d bytes)", describe(mt), mt, least, size)
}

// documentName names the formats that hold text which is not read, "" for
// others.
func documentName(mt string) string {
	switch {
	case strings.HasSuffix(mt, "wordprocessingml.document"), mt == "application/msword":
		return "a Word document"
	case strings.HasSuffix(mt, "spreadsheetml.sheet"), mt == "application/vnd.ms-excel":
		return "an Excel workbook"
	case strings.HasSuffix(mt, "presentationml.presentation"), mt == "application/vnd.ms-powerpoint":
		return "a PowerPoint presentation"
	case mt == "application/vnd.oasis.opendocument.text":
		return "an OpenDocument text"
	case mt == "application/vnd.oasis.opendocument.spreadsheet":
		return "an OpenDocument spreadsheet"
	case mt == "application/vnd.oasis.opendocument.presentation":
		return "an OpenDocument presentation"
	case mt == "application/epub+zip":
		return "an EPUB book"
	case mt == "application/rtf":
		return "a rich text document"
	case mt == "application/postscript":
		return "a PostScript file"
	case strings.Contains(mt, "officedocument"), strings.Contains(mt, "opendocument"), mt == "application/x-ole-storage":
		return "an office document"
	}
	return ""
}

// describe names a class of formats for a sentence.
func describe(mt string) string {
	class, _, _ := strings.Cut(mt, "/")
	switch class {
	case "image":
		return "an image"
	case "audio":
		return "a sound file"
	case "video":
		return "a video"
	case "font":
		return "a font"
	}
	switch mt {
	case "application/java-archive":
		return "a Java archive"
	case "application/vnd.android.package-archive":
		return "an Android app"
	case "application/wasm", "application/java-vm", "application/x-python-code":
		return "a program"
	case "application/vnd.sqlite3":
		return "a database"
	case "application/vnd.apache.parquet", "application/vnd.apache.arrow.file", "application/avro", "application/x-hdf5", "application/x-npy", "application/x-gguf":
		return "a data file"
	case "application/x-lz4", "application/x-lzip", "application/vnd.rar":
		return "an archive"
	}
	switch {
	case strings.HasSuffix(mt, "zip") || strings.HasSuffix(mt, "compressed") || strings.HasSuffix(mt, "tar") || strings.HasSuffix(mt, "xz") ||
		strings.HasSuffix(mt, "bzip2") || strings.HasSuffix(mt, "zstd"):
		return "an archive"
	case strings.Contains(mt, "executable") || strings.Contains(mt, "mach-binary"):
		return "a program"
	}
	return "a binary file"
}

// isXML says whether a Content-Type promises XML.
func isXML(contentType string) bool {
	mt := mediaType(contentType)
	return strings.HasSuffix(mt, "/xml") || strings.HasSuffix(mt, "+xml")
}

// mayDeclare says whether a body may hold a meta element or an XML declaration
// that names its character set.
func mayDeclare(body []byte, contentType string) bool {
	mt := mediaType(contentType)
	if strings.HasSuffix(mt, "html") || strings.HasSuffix(mt, "html+xml") || isXML(contentType) {
		return true
	}
	return bytes.HasPrefix(bytes.TrimLeft(body[:min(len(body), 1024)], " \t\r\n\f"), []byte("<"))
}

// sniff decides the kind of a text and its media type, by the text first and
// by the header and the path where it leaves that open.
func sniff(text []byte, contentType, urlPath string) (sift.Kind, string) {
	mt := mediaType(contentType)
	ext := strings.ToLower(path.Ext(urlPath))
	trimmed := bytes.TrimLeft(text, " \t\r\n\f")
	root := rootElement(trimmed)
	switch {
	case root == "html":
		if mt == "application/xhtml+xml" {
			return sift.KindHTML, mt
		}
		return sift.KindHTML, "text/html"
	case isJSONType(mt):
		if isJSONP(trimmed) {
			return sift.KindCode, "text/javascript"
		}
		if isJSONFeed(trimmed) {
			return sift.KindFeed, mt
		}
		// Broken or not: who asks for JSON wants to be told where it breaks.
		return sift.KindJSON, mt
	case isMarkdownType(mt), isMarkdownPath(ext) && isPlain(mt), isPlain(mt) && isForModels(urlPath):
		return sift.KindMarkdown, "text/markdown"
	}
	if isPlain(mt) || mt == "text/html" || mt == "text/javascript" || mt == "application/javascript" {
		if t := jsonText(trimmed); t != "" {
			if isJSONFeed(trimmed) {
				return sift.KindFeed, t
			}
			return sift.KindJSON, t
		}
		if isJSONPath(ext) && isPlain(mt) && isJSONText(trimmed) {
			return sift.KindJSON, "application/json"
		}
	}
	if kind, t := xmlKindOf(root); kind != "" && mt != "application/xhtml+xml" && (kind != sift.KindDrawing || mt != "text/html") {
		if isXML(contentType) && mt != "text/xml" && mt != "application/xml" {
			t = mt
		}
		return kind, t
	}
	table, _ := isTableType(mt)
	switch {
	case table:
		return sift.KindTable, mt
	case mt == "text/html":
		if t := codeType(text, mt, urlPath); t != "" {
			return sift.KindCode, t
		}
		if !hasMarkup(text) {
			if isMarkdownPath(ext) {
				return sift.KindMarkdown, "text/markdown"
			}
			return sift.KindText, "text/plain"
		}
		return sift.KindHTML, mt
	case mt == "application/xhtml+xml":
		return sift.KindHTML, mt
	case isXML(contentType):
		return sift.KindCode, mt
	case ext == ".csv" && mayBeTable(mt):
		return sift.KindTable, "text/csv"
	case (ext == ".tsv" || ext == ".tab") && mayBeTable(mt):
		return sift.KindTable, "text/tab-separated-values"
	}
	if t := codeType(text, mt, urlPath); t != "" {
		return sift.KindCode, t
	}
	switch {
	case mt == "" && beginsAsHTML(root):
		return sift.KindHTML, "text/html"
	case bytes.HasPrefix(trimmed, []byte("<?xml")):
		return sift.KindCode, "application/xml"
	case isPlain(mt):
		return sift.KindText, "text/plain"
	case isTextType(mt) || strings.HasPrefix(mt, "application/"):
		return sift.KindText, mt
	}
	return sift.KindText, "text/plain" // an image/png that is a line of text
}

// mayBeTable says whether a body of this type at the address of a table is one.
// Spreadsheet programs are named for tables by servers that know only those.
func mayBeTable(mt string) bool {
	return isPlain(mt) || mt == "application/vnd.ms-excel" || mt == "application/x-msexcel" || mt == "application/excel"
}

// isForModels says whether an address is that of the Markdown that a site has
// for language models (llmstxt.org), which is served as plain text.
func isForModels(urlPath string) bool {
	switch strings.ToLower(path.Base(urlPath)) {
	case "llms.txt", "llms-full.txt", "llms-small.txt", "llms-ctx.txt", "llms-ctx-full.txt":
		return true
	}
	return false
}

func isJSONPath(ext string) bool {
	switch ext {
	case ".json", ".geojson", ".topojson", ".webmanifest", ".jsonld", ".ipynb", ".har":
		return true
	}
	return false
}

// isPlain says whether a media type says no more than "some bytes" or "text".
func isPlain(mt string) bool {
	switch mt {
	case "", "text/plain", "application/octet-stream", "binary/octet-stream", "application/x-download", "application/force-download":
		return true
	}
	return false
}

// isJSONType says whether a media type is JSON or one value a line.
func isJSONType(mt string) bool {
	switch mt {
	case "application/json", "text/json", "application/x-json", "text/x-json", "application/x-ndjson", "application/ndjson",
		"application/jsonl", "application/x-jsonlines", "application/jsonlines", "application/json-seq", "application/geo+json-seq":
		return true
	}
	return strings.HasSuffix(mt, "+json")
}

func isMarkdownType(mt string) bool {
	return mt == "text/markdown" || mt == "text/x-markdown" || mt == "text/x-web-markdown"
}

func isMarkdownPath(ext string) bool {
	switch ext {
	case ".md", ".markdown", ".mdown", ".mkd", ".mdx":
		return true
	}
	return false
}

// rootElement names the first element of a text that begins as a document
// does: white space, comments, a doctype and processing instructions may stand
// before it. "html" is also the answer for a doctype of it and for the parts
// that only a whole document begins with. A prefix is dropped.
func rootElement(text []byte) string {
	for range 64 {
		text = bytes.TrimLeft(text, " \t\r\n\f\ufeff")
		if len(text) < 2 || text[0] != '<' {
			return ""
		}
		switch {
		case bytes.HasPrefix(text, []byte("<!--")):
			i := bytes.Index(text, []byte("-->"))
			if i < 0 {
				return ""
			}
			text = text[i+len("-->"):]
			continue
		case text[1] == '?' || text[1] == '!':
			i := bytes.IndexByte(text, '>')
			if i < 0 {
				return ""
			}
			decl := strings.Fields(strings.ToLower(string(text[:min(i, 256)])))
			if decl[0] == "<!doctype" && len(decl) > 1 {
				if decl[1] == "html" {
					return "html"
				}
				// An internal subset holds brackets of its own.
				if j := bytes.IndexByte(text[:i], '['); j >= 0 {
					k := bytes.Index(text, []byte("]>"))
					if k < 0 {
						return decl[1]
					}
					i = k + 1
				}
			}
			text = text[i+1:]
			continue
		}
		end := 1
		for end < len(text) && end < 64 && text[end] != '>' && text[end] != '/' && text[end] > ' ' {
			end++
		}
		name := strings.ToLower(string(text[1:end]))
		if name == "head" || name == "body" || name == "title" || name == "meta" || name == "link" {
			// "<link" and "<meta" begin pages that leave html and head out.
			return "html"
		}
		return name
	}
	return ""
}

// beginsAsHTML says whether browsers take a body without a type for HTML, by
// its first element.
func beginsAsHTML(root string) bool {
	switch root {
	case "script", "iframe", "h1", "div", "font", "table", "a", "style", "b", "br", "p":
		return true
	}
	return false
}

// xmlKindOf gives the kind and media type of a document by its first element,
// for the families that are served under any label. A prefix says nothing.
func xmlKindOf(root string) (sift.Kind, string) {
	switch root[strings.LastIndexByte(root, ':')+1:] {
	case "rss", "rdf":
		return sift.KindFeed, "application/rss+xml"
	case "feed":
		return sift.KindFeed, "application/atom+xml"
	case "urlset", "sitemapindex":
		return sift.KindSitemap, "application/xml"
	case "opml":
		return sift.KindOPML, "text/x-opml"
	case "svg":
		return sift.KindDrawing, "image/svg+xml"
	}
	return "", ""
}

// hasMarkup says whether a text holds one tag, comment or character reference.
func hasMarkup(text []byte) bool {
	for i := 0; ; {
		j := bytes.IndexAny(text[i:], "<&")
		if j < 0 {
			return false
		}
		i += j + 1
		if i == len(text) {
			return false
		}
		c := text[i]
		if c|0x20 >= 'a' && c|0x20 <= 'z' || c == '/' || c == '!' || c == '#' {
			return true
		}
	}
}

// jsonText says whether a text is one JSON object or array, or one such value
// a line, and gives its media type or "".
func jsonText(text []byte) string {
	if len(text) == 0 || text[0] != '{' && text[0] != '[' {
		return ""
	}
	if json.Valid(text) {
		return "application/json"
	}
	lines := 0
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		if line[0] != '{' && line[0] != '[' || !json.Valid(line) {
			return ""
		}
		lines++
	}
	if lines < 2 {
		return ""
	}
	return "application/x-ndjson"
}
