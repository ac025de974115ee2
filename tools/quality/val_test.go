package main

import (
	"testing"
)

func TestVal(t *testing.T) {
	l, err := newLibrary("../../testdata/questions")
	if err != nil {
		t.Fatal(err)
	}
	set, err := readSet(l.set)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range set {
		if len(q.document) > 3 && q.document[:3] == "pdf" {
			continue
		}
		text, err := l.document(t.Context(), q.document)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, x := range q.list {
			for _, a := range x.answers {
				if n := len(placesOf(text.Content, a)); n == 0 || n > 3 {
					t.Errorf("%s %d: %s || %s", q.file, n, x.text, a)
				}
			}
		}
	}
}
