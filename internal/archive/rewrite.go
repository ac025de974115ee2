package archive

import (
	"bytes"
	"strings"
)

// Unrewrite undoes what an archive built like the Wayback Machine does to the
// links of a page, so that they are those of the original again, and takes
// out its banner. A raw copy, one of another kind of archive, and a body that
// is no text come back as they are. The body is not changed; without
// anything to undo it is returned itself.
//
// Such an archive writes /web/20190304050607/http://a.example/x for
// http://a.example/x, with or without its own scheme and host in front and
// letters such as im_ behind the date; in scripts each slash may have a
// backslash. One layer is taken off, so a link to an archive's copy stays one.
func Unrewrite(body []byte, copyURL string) []byte {
	w, ok := parseWayback(copyURL)
	if !ok || w.isRaw() || isBinary(body) {
		return body
	}
	_, rest, _ := strings.Cut(w.prefix, "://")
	host, path, _ := strings.Cut(rest, "/")
	u := unrewriter{host: host, path: "/" + path}
	return u.links(withoutBanner(body))
}

// isBinary: a PDF or a picture that an archive has not rewritten either.
func isBinary(body []byte) bool {
	head := body[:min(len(body), 1024)]
	return bytes.IndexByte(head, 0) >= 0 || bytes.Contains(head, []byte("%PDF-"))
}

// withoutBanner cuts out what the Internet Archive puts between two comments.
func withoutBanner(body []byte) []byte {
	begin, end := []byte("<!-- BEGIN WAYBACK TOOLBAR INSERT -->"), []byte("<!-- END WAYBACK TOOLBAR INSERT -->")
	before, rest, ok := bytes.Cut(body, begin)
	if !ok {
		return body
	}
	_, after, ok := bytes.Cut(rest, end)
	if !ok {
		return body
	}
	return append(bytes.Clone(before), after...)
}

// unrewriter takes off the prefix of one archive.
type unrewriter struct {
	host string
	path string // of the archive's copies, up to the date: /web/
}

func (u *unrewriter) links(body []byte) []byte {
	var out []byte
	kept := 0  // of the body, what is in out or was left out of it
	least := 0 // where a prefix may begin: behind the start of a link that stays
	scheme := []byte("http")
	for at := 0; ; {
		i := bytes.Index(body[at:], scheme)
		if i < 0 {
			break
		}
		i += at
		at = i + len(scheme)
		if from, ok := u.prefix(body, i, least); ok && isLink(body[i:]) {
			out = append(out, body[kept:from]...)
			kept, least = i, at
		}
	}
	if kept == 0 {
		return body
	}
	return append(out, body[kept:]...)
}

// prefix finds where the prefix begins that ends at end, not before least.
func (u *unrewriter) prefix(body []byte, end, least int) (from int, ok bool) {
	if end, ok = backward(body, end, least, "/"); !ok {
		return 0, false
	}
	if end-3 >= least && isFlag(string(body[end-3:end])) {
		end -= 3
	}
	date := end
	for date > least && end-date < len(waybackForm) && '0' <= body[date-1] && body[date-1] <= '9' {
		date--
	}
	if date == end {
		return 0, false
	}
	if from, ok = backward(body, date, least, u.path); !ok {
		return 0, false
	}
	// What stands in front: the archive's own host, or the border of a value.
	if host, ok := backward(body, from, least, "//"+u.host); ok {
		for _, scheme := range []string{"https:", "http:"} {
			if whole, ok := backward(body, host, least, scheme); ok {
				return whole, true
			}
		}
		from = host
	}
	return from, isBorder(body, from)
}

// backward finds text that ends at end, whose slashes may have backslashes.
func backward(body []byte, end, least int, text string) (from int, ok bool) {
	for i := len(text) - 1; i >= 0; i-- {
		if end--; end < least || body[end] != text[i] {
			return 0, false
		}
		if text[i] == '/' && end > least && body[end-1] == '\\' {
			end--
		}
	}
	return end, true
}

// isLink reports whether a URL begins here, its slashes with or without
// backslashes.
func isLink(body []byte) bool {
	rest, ok := bytes.CutPrefix(body, []byte("https:"))
	if !ok {
		rest, ok = bytes.CutPrefix(body, []byte("http:"))
	}
	return ok && len(rest) > 1 && (rest[0] == '/' || rest[0] == '\\' && rest[1] == '/')
}

// isBorder reports whether a URL may begin here: not in the middle of one.
func isBorder(body []byte, at int) bool {
	return at == 0 || strings.IndexByte("\"'`=(,; \t\r\n>\\", body[at-1]) >= 0
}
