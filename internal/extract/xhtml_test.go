package extract_test

import (
	"context"
	"strings"
	"testing"

	"sift.build/sift/internal/extract"
	"sift.build/sift/internal/sift"
)

func TestAPageInXMLIsReadAsXMLMeansIt(t *testing.T) {
	const head = `<?xml version="1.0"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml" lang="en"><head><title>Pilot book</title><script src="a.js"/><style/></head><body><h1>Pilot book</h1>`
	for name, tt := range map[string]struct{ body, want string }{
		"closed in its own tag": {`<a id="top"/><div class="x" /><p>Keep the <i/>red buoy.</p><textarea name="q"/><iframe src="map"/><p>Anchor<br/>in sand.</p>`, "Keep the red buoy.\n\n[Embedded page at a.example](http://a.example/map)\n\nAnchor  \nin sand."},
		"a CDATA section":       {`<p>Two <![CDATA[N < 51 & <b>]]> cables.</p>`, "Two N < 51 & \\<b> cables."},
		"one that never ends":   {`<p>Two <![CDATA[cables`, "Two cables"},
		"a formula":             {`<p>Of <math xmlns="http://www.w3.org/1998/Math/MathML"><mi>x</mi><mspace/><mo>+</mo><mn>1</mn></math> cables</p>`, "Of $x +1$ cables"},
		"a script with a slash": {`<script>if (a) { b = "<p/>" }</script><p>Text.</p>`, "Text."},
	} {
		for _, contentType := range []string{"application/xhtml+xml", "application/xml", "text/xml; charset=utf-8"} {
			in := extract.Input{Body: []byte(head + tt.body), ContentType: contentType, URL: "http://a.example/"}
			doc := read(t, in)
			got := rendered(t, doc, sift.ModeFull)
			if doc.Kind != sift.KindHTML || got != "# Pilot book\n\n"+tt.want || doc.Title != "Pilot book" {
				t.Errorf("%s as %s: %q", name, contentType, got)
			}
			raw, _, _, err := extract.Decode(context.Background(), in)
			if err != nil || raw != string(in.Body) {
				t.Errorf("%s: raw is not verbatim", name)
			}
		}
	}
	// As HTML it is what browsers make of it: the script is never closed.
	doc := read(t, extract.Input{Body: []byte(head + "<p>Text.</p>"), ContentType: "text/html"})
	if got := rendered(t, doc, sift.ModeFull); strings.Contains(got, "Text") {
		t.Errorf("as HTML: %q", got)
	}
}
