package extract

import "sift.build/sift/internal/sift"

// Blank says that a page has nothing to read, or nothing but a call to turn
// JavaScript on: that it is surely not what its reader came for. It is the
// stricter sister of Shell.
func Blank(doc *sift.Document) bool {
	for _, w := range doc.Warnings {
		switch w.Code {
		case sift.WarnNoText, sift.WarnEmpty, sift.WarnJSShell:
			return true
		}
	}
	return doc.Kind == sift.KindHTML && doc.VisibleChars < 4*shellChars && asksForScripts(doc.Main)
}
