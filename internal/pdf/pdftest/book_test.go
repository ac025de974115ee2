package pdftest

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
)

func TestABookHasItsPagesAndItsSeedDecidesItsWords(t *testing.T) {
	const pages = 15 // more than two chapters; no text of it says 15 or 16
	book := Book(pages, 1)
	if !bytes.Equal(book, Book(pages, 1)) || bytes.Equal(book, Book(pages, 2)) {
		t.Error("the seed does not decide the book")
	}
	shown := shownText(t, book)
	// The number at the foot of a page is a piece by itself.
	if !slices.Contains(shown, fmt.Sprint(pages)) || slices.Contains(shown, fmt.Sprint(pages+1)) {
		t.Errorf("the book does not end with page %d", pages)
	}
}
