package extract

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"sort"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/gogs/chardet"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
	"golang.org/x/text/transform"

	"sift.build/sift/internal/sift"
)

// MaxText is how many bytes a body may become as UTF-8 when Input.MaxText does
// not say: one byte of iso-2022-jp can become three.
const MaxText = 10 << 20

const (
	// prescanBytes is how far a declaration is looked for. Browsers look at
	// 1024 bytes before they parse and follow a later meta while they do; pages
	// with kilobytes of style in front of it are common.
	prescanBytes = 64 << 10
	// sampleBytes is how much text the detector sees; more changes nothing.
	sampleBytes = 32 << 10
	// longestLabel is longer than every label of the WHATWG table.
	longestLabel = 64
)

// Where a character set was found, as in Document.CharsetFrom.
const (
	fromBOM     = "bom"
	fromHeader  = "header"
	fromMeta    = "meta"
	fromXML     = "xml"
	fromContent = "content"
	fromDefault = "default"
)

// charset is a decision on how bytes become text.
type charset struct {
	name  string            // the WHATWG name, lower case
	from  string            // one of the constants above
	enc   encoding.Encoding // nil: UTF-8
	guess string            // "": declared or certain; else the sentence for the warning
}

// Decode gives the body as UTF-8, otherwise untouched, with the name of its
// character set and where that was found. The text is valid UTF-8 without NUL
// and without byte-order mark. Bytes that are no text are unsupported.
func Decode(ctx context.Context, in Input) (text, name, from string, err error) {
	b, err := open(ctx, in)
	if err != nil {
		return "", "", "", err
	}
	return string(b.text), b.charset.name, b.charset.from, nil
}

// decideCharset follows browsers: byte-order mark, header, declaration in the
// document, and only then the bytes. markup says that the document may hold a
// declaration at all.
func decideCharset(body []byte, contentType string, markup, partial bool) charset {
	if cs, ok := byteOrderMark(body); ok {
		return cs
	}
	var doubt string
	declared := func(label, from string) (charset, bool) {
		cs, ok := lookup(label)
		if !ok {
			if label != "" && doubt == "" {
				doubt = "the declared character set is not one that browsers know; "
			}
			return cs, false
		}
		cs.from = from
		if why := contradiction(cs, body, partial); why != "" {
			if doubt == "" {
				doubt = why
			}
			return cs, false
		}
		if doubt != "" {
			cs.guess = doubt + "read as " + cs.name
		}
		return cs, true
	}
	if cs, ok := declared(headerLabel(contentType), fromHeader); ok {
		return cs
	}
	// Bytes that are plainly two or four a character hold no declaration that
	// could be read before they are decoded.
	if cs, ok := wideText(body); ok {
		return cs
	}
	if markup {
		head := body[:min(len(body), prescanBytes)]
		if isXML(contentType) {
			if cs, ok := declared(xmlLabel(head), fromXML); ok {
				return cs
			}
		}
		if cs, ok := declared(metaLabel(head), fromMeta); ok {
			return cs
		}
		if cs, ok := declared(xmlLabel(head), fromXML); ok {
			return cs
		}
	}
	return detect(body, doubt, partial)
}

// lookup finds the encoding that browsers use for a label.
func lookup(label string) (charset, bool) {
	label = strings.ToLower(strings.Trim(label, " \t\r\n\f\"'"))
	if label == "" || len(label) > longestLabel {
		return charset{}, false
	}
	if label == "x-user-defined" {
		label = "windows-1252" // in a declaration; it maps bytes to private characters otherwise
	}
	enc, err := htmlindex.Get(label)
	if err != nil {
		return charset{}, false
	}
	name, err := htmlindex.Name(enc)
	if err != nil {
		return charset{}, false
	}
	switch name {
	case "utf-8":
		return charset{name: name}, true
	case "replacement":
		// Labels such as hz-gb-2312 that browsers refuse to read. An empty page
		// helps nobody; what the bytes say does.
		return charset{}, false
	case "gbk", "gb18030":
		// Browsers read gb2312 and gbk with the gb18030 decoder; that of x/text
		// for gbk does not know its four-byte characters.
		return charset{name: "gb18030", enc: simplifiedchinese.GB18030}, true
	}
	return charset{name: name, enc: enc}, true
}

// headerLabel gives the charset parameter of a Content-Type, also of one that
// the mime package refuses.
func headerLabel(contentType string) string {
	if _, params, err := mime.ParseMediaType(contentType); err == nil {
		return params["charset"]
	}
	for part := range strings.SplitSeq(contentType, ";") {
		key, value, ok := strings.Cut(part, "=")
		if ok && strings.EqualFold(strings.TrimSpace(key), "charset") {
			return strings.Trim(strings.TrimSpace(value), `"'`)
		}
	}
	return ""
}

// byteOrderMark reads the mark that outranks every declaration.
func byteOrderMark(b []byte) (charset, bool) {
	switch {
	case bytes.HasPrefix(b, []byte("\xef\xbb\xbf")):
		return charset{name: "utf-8", from: fromBOM}, true
	case bytes.HasPrefix(b, []byte("\xff\xfe\x00\x00")):
		return charset{name: "utf-32le", from: fromBOM, enc: utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM)}, true
	case bytes.HasPrefix(b, []byte("\x00\x00\xfe\xff")):
		return charset{name: "utf-32be", from: fromBOM, enc: utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM)}, true
	case bytes.HasPrefix(b, []byte("\xff\xfe")):
		return charset{name: "utf-16le", from: fromBOM, enc: unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)}, true
	case bytes.HasPrefix(b, []byte("\xfe\xff")):
		return charset{name: "utf-16be", from: fromBOM, enc: unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)}, true
	}
	return charset{}, false
}

// wideText recognises UTF-16 and UTF-32 without a mark by where the zero bytes
// of Latin letters, spaces and digits stand. Binary files have zeros too, so
// the sample must also decode to text.
func wideText(body []byte) (charset, bool) {
	sample := body[:min(len(body), 4096)&^3]
	if len(sample) < 8 {
		return charset{}, false
	}
	var zeros [4]int
	for i, c := range sample {
		if c == 0 {
			zeros[i&3]++
		}
	}
	quarter := len(sample) / 4
	even, odd := zeros[0]+zeros[2], zeros[1]+zeros[3]
	most := func(n int) bool { return n*10 >= quarter*9 }
	var cs charset
	switch {
	case most(zeros[0]) && most(zeros[1]) && zeros[3]*50 < quarter:
		cs = charset{name: "utf-32be", enc: utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM)}
	case most(zeros[2]) && most(zeros[3]) && zeros[0]*50 < quarter:
		cs = charset{name: "utf-32le", enc: utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM)}
	case odd*10 >= quarter*2*3 && even*50 < quarter*2:
		cs = charset{name: "utf-16le", enc: unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)}
	case even*10 >= quarter*2*3 && odd*50 < quarter*2:
		cs = charset{name: "utf-16be", enc: unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)}
	default:
		return charset{}, false
	}
	text, err := cs.enc.NewDecoder().Bytes(sample)
	if err != nil {
		return charset{}, false
	}
	bad, all := 0, 0
	for _, r := range string(text) {
		all++
		if r == utf8.RuneError || r < 0x20 && r != '\t' && r != '\n' && r != '\r' && r != '\f' || utf16.IsSurrogate(r) || r >= 0xfff0 && r <= 0xffff {
			bad++
		}
	}
	if bad*50 > all {
		return charset{}, false
	}
	cs.from = fromContent
	return cs, true
}

// contradiction says why a declared character set cannot be that of the bytes,
// or "". It speaks up only when they plainly say something else: one stray
// byte does not turn a page over.
func contradiction(cs charset, body []byte, partial bool) string {
	switch cs.name {
	case "utf-8":
		good, bad := countUTF8(body, partial)
		if bad > good {
			return "the bytes are not the declared utf-8; "
		}
	case "utf-16le", "utf-16be":
		sample := body[:min(len(body), 4096)]
		if bytes.IndexByte(sample, 0) < 0 && len(sample) > 0 && utf8.Valid(trimTail(sample)) {
			return "the bytes are not the declared utf-16; "
		}
	}
	return ""
}

// countUTF8 counts the well-formed sequences of more than one byte, and the
// malformed ones. A sequence cut by the end of a partial body is neither.
func countUTF8(b []byte, partial bool) (good, bad int) {
	if utf8.Valid(b) {
		return 1, 0 // how many does not matter
	}
	if partial {
		b = trimTail(b)
	}
	for i := 0; i < len(b); {
		if b[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			bad++
		} else {
			good++
		}
		i += n
	}
	return good, bad
}

// trimTail drops an unfinished UTF-8 sequence from the end.
func trimTail(b []byte) []byte {
	for i := 1; i <= utf8.UTFMax-1 && i <= len(b); i++ {
		c := b[len(b)-i]
		if utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRune(b[len(b)-i:]) {
				return b[:len(b)-i]
			}
			break
		}
	}
	return b
}

// xmlLabel reads the encoding of an XML declaration at the very beginning.
func xmlLabel(head []byte) string {
	head = bytes.TrimLeft(head, " \t\r\n") // not allowed, but frequent in feeds
	if !bytes.HasPrefix(head, []byte("<?xml")) {
		return ""
	}
	end := bytes.IndexByte(head[:min(len(head), 1024)], '>')
	if end < 0 {
		return ""
	}
	decl := string(head[:end])
	_, rest, ok := strings.Cut(decl, "encoding")
	if !ok {
		return ""
	}
	rest = strings.TrimLeft(rest, " \t\r\n")
	if !strings.HasPrefix(rest, "=") {
		return ""
	}
	rest = strings.TrimLeft(rest[1:], " \t\r\n")
	if rest == "" || rest[0] != '"' && rest[0] != '\'' {
		return ""
	}
	label, _, ok := strings.Cut(rest[1:], rest[:1])
	if !ok {
		return ""
	}
	return asWritten(label)
}

// metaLabel finds the first charset that a meta element declares, in either
// form. Comments, scripts and styles are no place for one. A label that no
// browser knows does not hide a good one behind it.
func metaLabel(head []byte) string {
	if !containsFold(head, "charset") {
		return ""
	}
	z := html.NewTokenizer(bytes.NewReader(head))
	first := ""
	for {
		switch z.Next() {
		case html.ErrorToken:
			return first
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := z.TagName()
			if string(name) != "meta" {
				continue
			}
			var label, content string
			pragma := false
			for more {
				var k, v []byte
				k, v, more = z.TagAttr()
				switch string(k) {
				case "charset":
					label = string(v)
				case "http-equiv":
					pragma = strings.EqualFold(strings.TrimSpace(string(v)), "content-type")
				case "content":
					content = string(v)
				}
			}
			if label == "" && pragma {
				label = contentLabel(content)
			}
			if label == "" {
				continue
			}
			if _, ok := lookup(label); ok {
				return asWritten(label)
			}
			if first == "" {
				first = label
			}
		}
	}
}

// asWritten corrects a declaration that cannot be true: whoever reads it as
// ASCII is not reading UTF-16.
func asWritten(label string) string {
	if cs, ok := lookup(label); ok && (cs.name == "utf-16le" || cs.name == "utf-16be") {
		return "utf-8"
	}
	return label
}

// contentLabel reads "text/html; charset=x" the way the HTML standard does.
func contentLabel(content string) string {
	rest := strings.ToLower(content)
	for {
		i := strings.Index(rest, "charset")
		if i < 0 {
			return ""
		}
		rest = strings.TrimLeft(rest[i+len("charset"):], " \t\r\n\f")
		if !strings.HasPrefix(rest, "=") {
			continue
		}
		rest = strings.TrimLeft(rest[1:], " \t\r\n\f")
		if rest == "" {
			return ""
		}
		if q := rest[0]; q == '"' || q == '\'' {
			label, _, ok := strings.Cut(rest[1:], string(q))
			if !ok {
				return ""
			}
			return label
		}
		if i := strings.IndexAny(rest, " \t\r\n\f;"); i >= 0 {
			rest = rest[:i]
		}
		return rest
	}
}

// detect decides by the bytes alone.
func detect(body []byte, doubt string, partial bool) charset {
	valid := body
	if partial {
		valid = trimTail(body)
	}
	if utf8.Valid(valid) {
		if enc, ok := escaped(body); ok {
			enc.guess = doubt + "no character set is declared; read as " + enc.name
			return enc
		}
		cs := charset{name: "utf-8", from: fromContent}
		if isASCII(valid) {
			cs.from = fromDefault
		}
		if doubt != "" {
			cs.guess = doubt + "read as utf-8"
		}
		return cs
	}
	if doubt == "" {
		doubt = "no character set is declared; "
	}
	// Mostly well-formed: UTF-8 with a few stray bytes.
	if good, bad := countUTF8(body, partial); good > 10*bad {
		return charset{name: "utf-8", from: fromContent, guess: doubt + "read as utf-8, which fits nearly all of it"}
	}
	if cs, ok := statistics(body); ok {
		cs.guess = doubt + "the bytes look like " + cs.name
		return cs
	}
	return charset{name: "windows-1252", from: fromDefault, enc: charmap.Windows1252, guess: doubt + "read as windows-1252, the default"}
}

// escaped recognises iso-2022-jp, whose bytes are all ASCII.
func escaped(body []byte) (charset, bool) {
	head := body[:min(len(body), prescanBytes)]
	for _, esc := range []string{"\x1b$B", "\x1b$@", "\x1b(J"} {
		if bytes.Contains(head, []byte(esc)) {
			cs, ok := lookup("iso-2022-jp")
			cs.from = fromContent
			return cs, ok
		}
	}
	return charset{}, false
}

// statistics asks the detector about the text that is not ASCII and its
// surroundings: markup would drown what there is to see.
func statistics(body []byte) (charset, bool) {
	sample := foreign(body)
	// A few accents fit every table; most pages that have no more are Western.
	if countHigh(sample) < 8 {
		return charset{}, false
	}
	// The recognisers run in goroutines of their own and answer in any order:
	// the order must not decide a tie.
	results, err := chardet.NewTextDetector().DetectAll(sample)
	if err != nil {
		results = nil
	}
	sort.SliceStable(results, func(i, j int) bool {
		if results[i].Confidence != results[j].Confidence {
			return results[i].Confidence > results[j].Confidence
		}
		return results[i].Charset < results[j].Charset
	})
	for _, r := range results {
		if r.Confidence < 20 {
			break
		}
		label := r.Charset
		if label == "GB-18030" {
			label = "gb18030"
		}
		if cs, ok := lookup(label); ok && cs.enc != nil {
			cs.from = fromContent
			return cs, true
		}
	}
	if looksThai(sample) {
		return charset{name: "windows-874", from: fromContent, enc: charmap.Windows874}, true
	}
	return charset{}, false
}

// foreign collects the texts between tags that are not all ASCII, up to
// sampleBytes of them.
func foreign(body []byte) []byte {
	var out []byte
	l := lexer{b: body}
	for len(out) < sampleBytes {
		kind := l.next()
		part := body[l.textFrom:l.textTo]
		if !isASCII(part) {
			part = part[:min(len(part), sampleBytes-len(out))]
			out = append(append(out, part...), '\n')
		}
		switch {
		case kind == lexEnd:
			return out
		case kind == lexStart:
			if name := atom.Atom(l.id()); name == atom.Script || name == atom.Style {
				l.skipRaw(name)
			}
		}
	}
	return out
}

func countHigh(b []byte) int {
	n := 0
	for _, c := range b {
		if c >= utf8.RuneSelf {
			n++
		}
	}
	return n
}

// looksThai recognises the one script in wide use that the detector does not
// know: words are long runs of bytes in the Thai block, without spaces.
func looksThai(sample []byte) bool {
	thai, other, runs := 0, 0, 0
	in := false
	for _, c := range sample {
		switch {
		case c >= 0xa1 && c <= 0xda || c >= 0xdf && c <= 0xfb:
			thai++
			if !in {
				runs++
			}
			in = true
		case c >= utf8.RuneSelf:
			other++
			in = true
		default:
			in = false
		}
	}
	return thai >= 12 && other*20 <= thai && thai >= 6*runs
}

// convert gives the body as valid UTF-8 without byte-order mark and NUL, at
// most limit bytes of it. It does not write to body, which the result may
// share.
func convert(ctx context.Context, body []byte, cs charset, limit int) ([]byte, error) {
	var out []byte
	if cs.enc == nil && utf8.Valid(body) {
		out = body
	} else {
		dec := unicode.UTF8.NewDecoder()
		if cs.enc != nil {
			dec = cs.enc.NewDecoder()
		}
		r := transform.NewReader(newSource(ctx, body), dec)
		var buf bytes.Buffer
		buf.Grow(min(len(body)+len(body)/2, limit) + bytes.MinRead)
		_, err := buf.ReadFrom(io.LimitReader(r, int64(limit)+1))
		if err != nil {
			return nil, fmt.Errorf("decode %s: %w", cs.name, err)
		}
		out = buf.Bytes()
	}
	for bytes.HasPrefix(out, []byte("\ufeff")) {
		out = out[len("\ufeff"):]
	}
	if len(out) > limit {
		return nil, sift.Fail(sift.CodeTooLong, "the page is over %d bytes as UTF-8", limit)
	}
	if bytes.IndexByte(out, 0) >= 0 {
		clean := make([]byte, 0, len(out))
		for part := range bytes.SplitSeq(out, []byte{0}) {
			clean = append(clean, part...)
		}
		out = clean
	}
	return out, nil
}

// source hands out bytes in small pieces and ends once expired says so, which
// ends whoever reads from it.
type source struct {
	expired func() error
	b       []byte
}

// errExpired marks that reading ended because of the context.
var errExpired = errors.New("the deadline passed while reading")

// newSource makes a reader of b that lives as long as ctx.
func newSource(ctx context.Context, b []byte) *source { return &source{expired: ctx.Err, b: b} }

func (s *source) Read(p []byte) (int, error) {
	if err := s.expired(); err != nil {
		return 0, fmt.Errorf("%w: %w", errExpired, err)
	}
	if len(s.b) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), 4096)], s.b)
	s.b = s.b[n:]
	return n, nil
}

func isASCII(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// containsFold says whether b holds the lower-case ASCII word w in any case.
func containsFold(b []byte, w string) bool {
	for i := 0; i+len(w) <= len(b); i++ {
		if b[i]|0x20 == w[0] && strings.EqualFold(string(b[i:i+len(w)]), w) {
			return true
		}
	}
	return false
}
