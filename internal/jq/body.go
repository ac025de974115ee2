package jq

import (
	"bytes"
	"fmt"
	"strings"

	"sift.build/sift/internal/sift"
)

// NotJSON is the refusal of a body of which it is known that it is something else:
// kind names what it is, such as "HTML", and mediaType what the server called it.
func NotJSON(kind, mediaType string) *sift.Failure {
	return (&Query{Kind: kind, MediaType: mediaType}).other()
}

// refuse says of a body what can be said without a child.
func (q *Query) refuse() *sift.Failure {
	body := bytes.TrimPrefix(q.Body, []byte(bom))
	body = bytes.TrimLeft(body, " \t\r\n\x1e")
	switch {
	case len(q.Body) > MaxBody:
		return sift.Fail(sift.CodeTooLong, "the JSON has %s; jq runs on at most %s; ask the site for less of it (a page, a filter)", size(len(q.Body)), size(MaxBody))
	case len(body) == 0:
		return q.empty()
	case strings.IndexByte(`{["-0123456789tfnNI`, body[0]) < 0 && q.isOther():
		return q.other()
	}
	return nil
}

// isOther says that the body is known to be something else than JSON.
func (q *Query) isOther() bool { return q.kind() != "" }

// kind names what the body is, if it is no JSON.
func (q *Query) kind() string {
	switch k := q.Kind; {
	case k != "" && !strings.EqualFold(k, "JSON") && !strings.EqualFold(k, "NDJSON"):
		return clean(k, sift.QuoteMax)
	case bytes.HasPrefix(bytes.TrimSpace(q.Body), []byte("<")):
		return "HTML or XML"
	case bytes.HasPrefix(q.Body, []byte("%PDF-")):
		return "PDF"
	case bytes.HasPrefix(q.Body, []byte("\xFE\xFF")), bytes.HasPrefix(q.Body, []byte("\xFF\xFE")):
		return "UTF-16"
	}
	return ""
}

// beginsLikeJSON says that a body is broken JSON rather than something else.
func (q *Query) beginsLikeJSON() bool {
	body := bytes.TrimLeft(bytes.TrimPrefix(q.Body, []byte(bom)), " \t\r\n\x1e")
	return len(body) > 0 && strings.IndexByte(`{["`, body[0]) >= 0
}

func (q *Query) called() string {
	if q.MediaType == "" {
		return ""
	}
	return " (" + clean(q.MediaType, 2*sift.QuoteMax) + ")"
}

func (q *Query) other() *sift.Failure {
	return sift.Fail(sift.CodeUnsupported, "this is not JSON but %s%s, and jq reads only JSON; leave jq out and use mode, section or grep, or fetch the address of the site's JSON", q.kind(), q.called())
}

func (q *Query) empty() *sift.Failure {
	return sift.Fail(sift.CodeUnsupported, "the body is empty%s: there is no JSON in it to run jq on", q.called())
}

// notJSON says where a body is broken.
func (q *Query) notJSON(e *end) *sift.Failure {
	b := e.Broken
	if b == nil {
		b = &brokenError{Found: "something else", Expected: aValue}
	}
	looks := ""
	if q.isOther() {
		if !q.beginsLikeJSON() {
			return q.other()
		}
		looks = ", and looks like " + q.kind()
	}
	var t strings.Builder
	fmt.Fprintf(&t, "the body%s is not valid JSON%s: at line %d, column %d (byte %d) stands %s, where %s is expected", q.called(), looks, b.Line, b.Column, b.Byte, clean(b.Found, maxText), clean(b.Expected, maxText))
	if b.AtEnd {
		t.Reset()
		fmt.Fprintf(&t, "the body%s is not valid JSON%s: it ends at line %d, column %d (byte %d), where %s is expected; it may have been cut off", q.called(), looks, b.Line, b.Column, b.Byte, clean(b.Expected, maxText))
	}
	if b.Before != "" || b.After != "" {
		fmt.Fprintf(&t, "; there: `%s ⟨here⟩ %s`", clean(b.Before, 2*shown), clean(b.After, 2*shown))
	}
	if b.Doc > 1 {
		fmt.Fprintf(&t, "; that is in document %d of the body", b.Doc)
	}
	t.WriteString("; mode raw shows the body as it is")
	return sift.Fail(sift.CodeUnsupported, "%s", t.String())
}
