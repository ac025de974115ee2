package sift

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPagesAreReadAsWritten(t *testing.T) {
	for _, tt := range []struct {
		in, canonical string
		has, not      []int
	}{
		{"", "", []int{1, 2, 1000}, nil},
		{"3", "3", []int{3}, []int{1, 2, 4}},
		{"1-3,7,10-", "1-3,7,10-", []int{1, 2, 3, 7, 10, 11, 5000}, []int{4, 6, 8, 9}},
		{" 2 - 4 , 9 ", "2-4,9", []int{2, 3, 4, 9}, []int{1, 5}},
		{"9,2,2,1-3", "1-3,9", []int{1, 2, 3, 9}, []int{4}},
		{"5-,7-9,6", "5-", []int{5, 100}, []int{4}},
		{"1-2,3-4,2-9", "1-9", []int{9}, []int{10}},
		{"007", "7", []int{7}, []int{1}},
	} {
		p, err := ParsePages(tt.in)
		if err != nil {
			t.Errorf("%q: %v", tt.in, err)
			continue
		}
		if got := p.String(); got != tt.canonical {
			t.Errorf("%q is written %q, not %q", tt.in, got, tt.canonical)
		}
		for _, n := range tt.has {
			if !p.Has(n) {
				t.Errorf("%q lacks page %d", tt.in, n)
			}
		}
		for _, n := range tt.not {
			if p.Has(n) {
				t.Errorf("%q has page %d", tt.in, n)
			}
		}
	}
}

func TestPagesThatMeanNothingAreRefusedWithWhatToWrite(t *testing.T) {
	for in, want := range map[string]string{
		"4-2":                     "invalid: the page range 4-2 is turned round; write 2-4",
		"0":                       "invalid: pages names page 0; the first page is 1",
		"0-3":                     "invalid: pages names page 0; the first page is 1",
		"-3":                      `invalid: pages has "-3" where a page or a range should be; write pages like 1-3,7,10-`,
		"1,,2":                    `invalid: pages has "" where a page or a range should be; write pages like 1-3,7,10-`,
		"1-2-3":                   `invalid: pages has "1-2-3" where a page or a range should be; write pages like 1-3,7,10-`,
		"two":                     `invalid: pages has "two" where a page or a range should be; write pages like 1-3,7,10-`,
		"+1":                      `invalid: pages has "+1" where a page or a range should be; write pages like 1-3,7,10-`,
		"1;2":                     `invalid: pages has "1;2" where a page or a range should be; write pages like 1-3,7,10-`,
		"99999999999999999999":    `invalid: pages names "99999999999999999999", and no PDF has that many pages`,
		"8388608":                 `invalid: pages names "8388608", and no PDF has that many pages`,
		strings.Repeat("1,", 100): "invalid: pages has 101 ranges; at most 100 can be asked for at once",
	} {
		_, err := ParsePages(in)
		if err == nil || err.Error() != want {
			t.Errorf("%q: %v", in, err)
		}
	}
}

func TestARangeBehindTheEndNamesHowManyPagesThereAre(t *testing.T) {
	for in, want := range map[string]string{
		"9":    "invalid: page 9 is out of range: the PDF has 5 pages",
		"1,6-": "invalid: page 6 is out of range: the PDF has 5 pages",
		"4-9":  "", // what there is of it
		"5":    "",
		"":     "",
	} {
		p, err := ParsePages(in)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := p.Within(5); err != nil {
			got = err.Error()
			if AsFailure(err).Hint != HintPages {
				t.Errorf("%q: hint %q", in, AsFailure(err).Hint)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", in, diff)
		}
	}
}

func FuzzParsePages(f *testing.F) {
	for _, s := range []string{"1-3,7,10-", "4-2", " 1 ", "-", "1,,2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := ParsePages(s)
		if err != nil {
			return
		}
		again, err := ParsePages(p.String())
		if err != nil || again.String() != p.String() {
			t.Fatalf("%q is written %q, which is read as %q, %v", s, p, again, err)
		}
		for n := 1; n < 40; n++ {
			if p.Has(n) != again.Has(n) {
				t.Fatalf("%q and %q differ at page %d", s, p, n)
			}
		}
	})
}
