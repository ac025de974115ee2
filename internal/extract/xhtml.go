package extract

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// closeTags writes a page in XML as one in HTML. There "<script/>" opens a script
// that the rest of the page belongs to, and "<![CDATA[" a comment. Drawings and
// formulas are left alone: in them HTML reads both as XML does.
func closeTags(text []byte) []byte {
	if !bytes.Contains(text, []byte("/>")) && !bytes.Contains(text, []byte("<![CDATA[")) {
		return text
	}
	var out bytes.Buffer
	out.Grow(len(text) + len(text)/16)
	from := 0
	foreign := 0 // open svg and math elements
	l := lexer{b: text}
	for {
		kind := l.next()
		at := l.textTo
		switch kind {
		case lexEnd:
			out.Write(text[from:])
			return out.Bytes()
		case lexComment:
			section, ok := bytes.CutPrefix(text[at:], []byte("<![CDATA["))
			if !ok || foreign > 0 {
				continue
			}
			end := bytes.Index(section, []byte("]]>"))
			if end < 0 {
				end = len(section)
			}
			out.Write(text[from:at])
			out.WriteString(html.EscapeString(string(section[:end])))
			from = min(at+len("<![CDATA[")+end+len("]]>"), len(text))
			l.pos = from
		case lexStart:
			switch id := atom.Atom(l.id()); {
			case id == atom.Svg || id == atom.Math:
				if !l.closed {
					foreign++
				}
			case l.closed && foreign == 0:
				name := strings.ToLower(string(l.name))
				if standsAlone(name) || len(l.name) == maxTagName {
					continue
				}
				slash := bytes.LastIndexByte(text[at:l.pos], '/')
				out.Write(text[from : at+slash])
				out.WriteString("></")
				out.WriteString(name)
				out.WriteByte('>')
				from = l.pos
			}
		case lexClose:
			if id := atom.Atom(l.id()); (id == atom.Svg || id == atom.Math) && foreign > 0 {
				foreign--
			}
		}
	}
}
