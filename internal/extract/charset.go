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
	b, err := decode(ctx, in)
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
	// Bytes that are plainly two or four a character hold no declaration that
	// could be read before they are decoded, and are nothing else, whatever the
	// header says.
	header := headerLabel(contentType)
	if cs, ok := wideText(body); ok {
		if said, ok := lookup(header); ok && said.name == cs.name {
			cs.from = fromHeader
		} else if ok {
			cs.guess = "the bytes are not the declared " + said.name + "; read as " + cs.name
		}
		return cs
	}
	head := body[:min(len(body), prescanBytes)]
	if markup && doubtfulHeader(header, head, body, partial) {
		doubt = "the header names another character set than the page, whose own fits; "
	} else if cs, ok := declared(header, fromHeader); ok {
		return cs
	}
	if cs, ok := declared(styleLabel(head), fromMeta); ok {
		return cs
	}
	if markup {
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
	label, _, _ = strings.Cut(label, ",") // of two headers in one
	label = strings.ToLower(strings.Trim(label, " \t\r\n\f\"'"))
	if label == "" || len(label) > longestLabel {
		return charset{}, false
	}
	switch label {
	case "x-user-defined":
		label = "windows-1252" // in a declaration; it maps bytes to private characters otherwise
	// Not in the table of browsers, but plain all the same.
	case "utf8mb4", "utf8mb3", "utf-8-sig", "utf_8", "cp65001":
		label = "utf-8"
	case "cp936", "ms936", "windows-936", "gb18030-2000", "gb18030-2005", "gb18030-2022":
		label = "gb18030"
	case "cp932", "windows-932":
		label = "shift_jis"
	case "cp949", "ms949", "uhc":
		label = "euc-kr"
	case "cp950", "ms950", "windows-950":
		label = "big5"
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
		return wideForeign(sample)
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

// wideForeign recognises UTF-16 without a mark whose characters have no zero
// bytes: those of any script but the Latin. Bytes that could be text in any other
// way are not looked at, because two ASCII letters make a Chinese character. Here
// nearly all must be of scripts in wide use, and there must be signs between the
// words; of random bytes only half are, and of programs and sounds fewer.
func wideForeign(sample []byte) (charset, bool) {
	if isTextual(sample) {
		return charset{}, false
	}
	for _, c := range []charset{
		{name: "utf-16le", from: fromContent, enc: unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)},
		{name: "utf-16be", from: fromContent, enc: unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)},
	} {
		all, bad, signs := 0, 0, 0
		kinds := [8]int{}
		for i := 0; i+1 < len(sample); i += 2 {
			u := rune(sample[i]) | rune(sample[i+1])<<8
			if c.name == "utf-16be" {
				u = rune(sample[i])<<8 | rune(sample[i+1])
			}
			all++
			switch {
			case u == ' ' || u == '\n' || u == '\r' || u == '\t' || u >= 0x3000 && u <= 0x3002 || u == 0xff0c || u == ',' || u == '.':
				signs++
			case u >= 0x21 && u < 0x7f, u >= 0xa0 && u < 0x250, u >= 0x2010 && u < 0x2070, u >= 0x3003 && u < 0x3040, u >= 0xff01 && u < 0xffef:
			case u >= 0x370 && u < 0x530: // Greek, Cyrillic
				kinds[0]++
			case u >= 0x590 && u < 0x700: // Hebrew, Arabic
				kinds[1]++
			case u >= 0x900 && u < 0xe00: // of India
				kinds[2]++
			case u >= 0xe00 && u < 0xf00: // Thai, Lao
				kinds[3]++
			case u >= 0x3040 && u < 0x3100: // Japanese syllables
				kinds[4]++
			case u >= 0x4e00 && u < 0xa000: // Chinese characters
				kinds[5]++
			case u >= 0xac00 && u < 0xd7a4: // Korean
				kinds[6]++
			default:
				bad++
			}
		}
		scripts, foreign := 0, 0
		for _, n := range kinds {
			foreign += n
			if n*100 > all {
				scripts++
			}
		}
		if all >= 16 && bad*50 <= all && signs*100 >= all && foreign*10 >= all && scripts <= 3 {
			return c, true
		}
	}
	return charset{}, false
}

// doubtfulHeader says whether a header that names a character set stands against
// a page that says utf-8 and is: servers have a default that they put on
// everything.
func doubtfulHeader(header string, head, body []byte, partial bool) bool {
	cs, ok := lookup(header)
	if !ok || cs.enc == nil || utf8Sequences(body, partial) == 0 {
		return false
	}
	for _, label := range []string{metaLabel(head), xmlLabel(head)} {
		if said, ok := lookup(label); ok {
			return said.name == "utf-8"
		}
	}
	return false
}

// utf8Sequences counts the characters beyond ASCII of bytes that are well-formed
// UTF-8, and gives 0 for those that are not.
func utf8Sequences(b []byte, partial bool) int {
	if partial {
		b = trimTail(b)
	}
	if !utf8.Valid(b) {
		return 0
	}
	n := 0
	for _, c := range b {
		if c >= 0xc0 {
			n++
		}
	}
	return n
}

// styleLabel reads the rule that a style sheet names its character set with. It
// must be written in exactly this way.
func styleLabel(head []byte) string {
	rest, ok := bytes.CutPrefix(head, []byte(`@charset "`))
	if !ok {
		return ""
	}
	label, _, ok := bytes.Cut(rest[:min(len(rest), 128)], []byte(`";`))
	if !ok {
		return ""
	}
	return asWritten(string(label))
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
	default:
		// Text in another character set does not turn out as well-formed UTF-8,
		// but for a word or two.
		least := 4
		switch cs.name {
		case "gb18030", "big5", "euc-kr", "euc-jp", "shift_jis":
			least = 10
		}
		if utf8Sequences(body, partial) >= least {
			return "the bytes are utf-8, not the declared " + cs.name + "; "
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
	// A last character that is cut says nothing about the others.
	valid := trimTail(body)
	if !partial && isASCII(valid) {
		valid = body
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
	if good, bad := countUTF8(valid, partial); good > 10*bad || good > 1 && good >= 2*bad {
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
	// NULs may stand between marks.
	for more := true; more; {
		out, more = bytes.CutPrefix(bytes.TrimLeft(out, "\x00"), []byte("\ufeff"))
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
