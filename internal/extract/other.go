package extract

import (
	"bytes"
	"context"

	"sift.build/sift/internal/sift"
)

// readOther fills the document from a text that is no page. What turns out not
// to be the kind that it looked like is handed on as it stands.
func readOther(ctx context.Context, doc *sift.Document, text []byte, in Input) error {
	var ok bool
	var err error
	switch doc.Kind {
	case sift.KindFeed:
		if isJSONText(text) {
			ok, err = true, readJSONFeed(ctx, doc, text, in)
		} else if ok, err = readFeed(ctx, doc, text, in); !ok {
			asXML(doc, in)
		}
	case sift.KindSitemap:
		if ok, err = readSitemap(ctx, doc, text, in); !ok {
			asXML(doc, in)
		}
	case sift.KindOPML:
		if ok, err = readOPML(ctx, doc, text, in); !ok {
			asXML(doc, in)
		}
	case sift.KindTable:
		if ok, err = readTable(ctx, doc, text, in); !ok {
			doc.Kind = sift.KindText
		}
	case sift.KindDrawing:
		if ok, err = readDrawing(ctx, doc, text, in); !ok && err == nil {
			return refuse(doc.MediaType, len(in.Body), in.Partial)
		}
	}
	if err != nil {
		return err
	}
	if ok && doc.VisibleChars > 0 {
		return nil
	}
	doc.Main = nil
	if doc.Kind.HasTree() {
		doc.Kind = sift.KindText
	}
	doc.Text = string(text)
	doc.VisibleChars = countVisible(doc.Text)
	if doc.Language == "" {
		doc.Language = (&metadata{}).language(in.ContentLanguage)
	}
	if doc.VisibleChars == 0 {
		empty(doc)
	}
	return nil
}

// asXML makes the document source code in XML.
func asXML(doc *sift.Document, in Input) {
	doc.Kind, doc.MediaType = sift.KindCode, "application/xml"
	if isXML(in.ContentType) {
		doc.MediaType = mediaType(in.ContentType)
	}
}

// isJSONText says whether a text begins as a JSON value does.
func isJSONText(text []byte) bool {
	text = bytes.TrimLeft(text, " \t\r\n")
	return len(text) > 0 && (text[0] == '{' || text[0] == '[')
}
