package extract

import (
	"context"
	"os"
	"strconv"
	"strings"
	"testing"

	"sift.build/sift/internal/sift"
)

// TestPagesAreToldAsTheirListSays judges the pages of testdata/walls.txt: walls
// and as many real pages, written before the clues were fitted to them.
func TestPagesAreToldAsTheirListSays(t *testing.T) {
	raw, err := os.ReadFile("testdata/walls.txt")
	if err != nil {
		t.Fatal(err)
	}
	list := strings.Split(string(raw), "\n=== ")[1:]
	if len(list) < 300 {
		t.Fatalf("%d pages", len(list))
	}
	for _, entry := range list {
		line, page, _ := strings.Cut(entry, "\n")
		field := strings.Split(line, " |")
		if len(field) != 5 {
			t.Fatalf("%q has %d fields", line, len(field))
		}
		for i := range field {
			field[i] = strings.TrimSpace(field[i])
		}
		status, err := strconv.Atoi(field[4])
		if err != nil {
			t.Fatal(line, err)
		}
		s := specimen{name: field[0], page: strings.TrimSuffix(page, "\n"), status: status, asked: field[2], url: field[3], want: sift.WarningCode(strings.TrimPrefix(field[1], "-"))}
		in := s.input()
		var got sift.WarningCode
		if status >= 400 {
			got, _, _, _ = Wall(in)
		} else {
			doc, err := Extract(context.Background(), in)
			if err != nil {
				t.Errorf("%s: %v", s.name, err)
				continue
			}
			if told := verdicts(doc); len(told) > 0 {
				got = told[0].Code
			}
		}
		if got != s.want {
			t.Errorf("%s: told %q, want %q\n%s", s.name, got, s.want, explain(in))
		}
	}
}

// TestSentencesSpeakOfWalls has sentences in several languages whose parts, not
// whose phrases, make them speak of a wall; and such as have one part only.
func TestSentencesSpeakOfWalls(t *testing.T) {
	for _, tc := range []struct {
		says string
		of   wall
		want bool
	}{
		{"Please type the characters shown in the picture", wallCheck, true},
		{"Bitte geben Sie die Zeichen ein", wallCheck, true},
		{"Ваш браузер вычисляет небольшую задачу", wallCheck, true},
		{"Wir haben automatisierte Anfragen erkannt", wallCheck, true},
		{"A puzzle of forty pieces", wallCheck, false},
		{"Council had too many requests for garden bins in the months of spring and summer", wallCheck, false},
		{"Too many requests", wallCheck, true},
		{"Per vedere questa pagina devi accedere", wallLogin, true},
		{"Esta página está reservada a los socios", wallLogin, true},
		{"The sauna is for members only on Wednesdays", wallLogin, true}, // of a page that says more
		{"Members may swim from six", wallLogin, false},
		{"L’annuncio è stato rimosso", wallMissing, true},
		{"Cette annonce n’est plus en ligne", wallMissing, true},
		{"The statue is no longer there", wallMissing, false},
	} {
		var f folder
		f.write(tc.says)
		if got := speaksOf(cuesIn(f.b), f.size)[tc.of]; got != tc.want {
			t.Errorf("%q: %v", tc.says, got)
		}
	}
}
