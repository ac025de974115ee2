package fetch

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"time"

	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"
)

const (
	// refreshScan is how much of a page is searched for a meta refresh.
	refreshScan = 64 << 10

	// refreshDelay is the longest delay that still means “this page is
	// somewhere else”. A page that sends its reader on later than that is
	// one to be read, or one that reloads itself.
	refreshDelay = 5 * time.Second
)

// refresh is the content of a Refresh header or of a meta refresh.
type refresh struct {
	delay time.Duration
	url   string // "": the page itself
}

// parseRefresh reads the content of a Refresh header or meta refresh as the
// HTML standard says (“shared declarative refresh steps”, step 5 on). It
// reports false where the standard gives up.
func parseRefresh(s string) (refresh, bool) {
	s = strings.TrimLeft(s, htmlSpace)
	digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
	if digits == 0 && !strings.HasPrefix(s, ".") {
		return refresh{}, false
	}
	var r refresh
	for _, c := range []byte(s[:digits]) {
		if r.delay = r.delay*10 + time.Duration(c-'0')*time.Second; r.delay > time.Hour {
			r.delay = time.Hour // all that matters is that it is long
		}
	}
	s = strings.TrimLeft(s[digits:], "0123456789.")
	if s == "" {
		return r, true
	}
	if !strings.ContainsRune(";,"+htmlSpace, rune(s[0])) {
		return refresh{}, false
	}
	s = strings.TrimLeft(s, htmlSpace)
	if s != "" && (s[0] == ';' || s[0] == ',') {
		s = s[1:]
	}
	s = strings.TrimLeft(s, htmlSpace)
	// “url”, “=” are both optional: without them all of the rest is the URL.
	if rest, ok := cutPrefixFold(s, "url"); ok {
		if rest, ok = strings.CutPrefix(strings.TrimLeft(rest, htmlSpace), "="); ok {
			s = strings.TrimLeft(rest, htmlSpace)
			if s != "" && (s[0] == '"' || s[0] == '\'') {
				s, _, _ = strings.Cut(s[1:], s[:1])
			}
		}
	}
	r.url = strings.Trim(s, htmlSpace)
	return r, true
}

// htmlSpace is ASCII white space in the words of the HTML standard.
const htmlSpace = "\t\n\f\r "

func cutPrefixFold(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}

// metaRefresh finds the first meta refresh in the start of an HTML page, and
// the href of the base element before it. What a browser that runs scripts
// would not act on does not count: comments (conditional ones are comments to
// every browser of today), noscript, template, and the text of script, style,
// textarea and title.
func metaRefresh(head []byte, contentType string) (r refresh, base string, ok bool) {
	// The charset package also reads UTF-16 pages, whose tags would not be
	// seen otherwise, and makes UTF-8 of a target outside ASCII.
	text, err := charset.NewReader(bytes.NewReader(head), contentType)
	if err != nil {
		text = bytes.NewReader(head)
	}
	z := html.NewTokenizer(io.LimitReader(text, 3*refreshScan))
	z.SetMaxBuf(refreshScan)
	template := 0
	for {
		switch z.Next() {
		case html.ErrorToken:
			return refresh{}, "", false
		case html.StartTagToken, html.SelfClosingTagToken:
			name, hasAttr := z.TagName()
			switch string(name) {
			case "template":
				template++
			case "base":
				if template == 0 && base == "" && hasAttr {
					base = attributes(z, "href")[0]
				}
			case "meta":
				if template > 0 || !hasAttr {
					continue
				}
				a := attributes(z, "http-equiv", "content")
				if !strings.EqualFold(strings.Trim(a[0], htmlSpace), "refresh") {
					continue
				}
				if r, ok := parseRefresh(a[1]); ok {
					return r, base, true
				}
			}
		case html.EndTagToken:
			if name, _ := z.TagName(); string(name) == "template" && template > 0 {
				template--
			}
		}
	}
}

// attributes gives the values of the named attributes of the current tag.
// The first of two with one name counts.
func attributes(z *html.Tokenizer, names ...string) []string {
	out := make([]string, len(names))
	seen := make([]bool, len(names))
	for more := true; more; {
		var key, value []byte
		key, value, more = z.TagAttr()
		for i, n := range names {
			if !seen[i] && string(key) == n {
				out[i], seen[i] = string(value), true
			}
		}
	}
	return out
}

// isHTML reports whether a page is one in which a meta refresh counts.
func isHTML(mediaType string, head []byte) bool {
	switch mediaType {
	case "text/html", "application/xhtml+xml":
		return true
	case "":
		return strings.HasPrefix(http.DetectContentType(head), "text/html")
	}
	return false
}

// mediaTypeOf is the type in a Content-Type, without its parameters. It takes
// what mime.ParseMediaType refuses.
func mediaTypeOf(contentType string) string {
	t, _, _ := strings.Cut(contentType, ";")
	t, _, _ = strings.Cut(t, ",")
	return strings.ToLower(strings.TrimSpace(t))
}
