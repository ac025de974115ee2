package extract

import "sift.build/sift/internal/sift"

// Blank says that a page has nothing to read, or nothing but what a script
// would fill: that it is surely not what its reader came for. It is the
// stricter sister of Shell, and says what the warnings say.
func Blank(doc *sift.Document) bool {
	for _, w := range doc.Warnings {
		switch w.Code {
		case sift.WarnNoText, sift.WarnEmpty, sift.WarnJSShell:
			return true
		default:
		}
	}
	return false
}
