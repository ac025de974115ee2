package main

import "testing"

// An answer may be quoted in several ways, for the versions of a document that
// machines have. One of them has to stand there, and none so often that it could
// be found by chance.
func TestEveryAnswerStandsInItsDocument(t *testing.T) {
	l, err := newLibrary("../../testdata/questions")
	if err != nil {
		t.Fatal(err)
	}
	set, err := readSet(l.set)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range set {
		text, err := l.document(t.Context(), q.document)
		if err != nil {
			t.Errorf("%s: %v", q.file, err)
			continue
		}
		for _, x := range q.list {
			found := 0
			for _, a := range x.answers {
				n := len(placesOf(text.Content, a))
				if n > 3 {
					t.Errorf("%s: %s: %q stands there %d times", q.file, x.text, a, n)
				}
				found += n
			}
			if len(x.answers) > 0 && found == 0 {
				t.Errorf("%s: %s: none of %q stands there", q.file, x.text, x.answers)
			}
		}
	}
}
