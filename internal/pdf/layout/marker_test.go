package layout

import "testing"

func TestListsAreRead(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(b *builder)
		want string
	}{
		{"bullets with a hanging indent", func(b *builder) {
			b.line(72, 100, 10, "•")
			b.lines(84, 100, 10, 12, "The first item goes on in a second\nline to the right of its mark.")
			b.line(72, 124, 10, "•")
			b.line(84, 124, 10, "The second one is short.")
		}, `
* • The first item goes on in a second line to the right of its mark.
* • The second one is short.
`},
		{"depth", func(b *builder) {
			b.lines(72, 100, 10, 12, "• outer\n>– inner one\n>– inner two\n• outer again")
		}, `
* • outer
  * – inner one
  * – inner two
* • outer again
`},
		{"numbers that count on", func(b *builder) {
			b.lines(72, 100, 10, 14, "1. Measure the tank.\n2. Open the valve.\n3. Start the pump.")
		}, `
* 1. Measure the tank.
* 2. Open the valve.
* 3. Start the pump.
`},
		{"letters in brackets", func(b *builder) {
			b.lines(72, 100, 10, 14, "(a) the first of them,\n(b) the second of them.")
		}, `
* (a) the first of them,
* (b) the second of them.
`},
		{"Roman numbers", func(b *builder) {
			b.lines(72, 100, 10, 14, "iv. the fourth of them\nv. the fifth of them\nvi. the sixth of them")
		}, `
* iv. the fourth of them
* v. the fifth of them
* vi. the sixth of them
`},
		{"a bullet glued to its text", func(b *builder) {
			b.lines(72, 100, 10, 14, "•First of all\n•Second")
		}, `
* • First of all
* • Second
`},
		{"a book list", func(b *builder) {
			b.line(72, 100, 10, "[1]")
			b.lines(90, 100, 10, 12, "A. Adams. The first book of a list of\nbooks. Town, 1990.")
			b.line(72, 124, 10, "[2]")
			b.line(90, 124, 10, "B. Baker. The second. Town, 1991.")
		}, `
* [1] A. Adams. The first book of a list of books. Town, 1990.
* [2] B. Baker. The second. Town, 1991.
`},
		{"text after a list", func(b *builder) {
			b.lines(72, 100, 10, 12, "• one item\n• another item\nThe text goes on at the left margin again and is no item.")
		}, `
* • one item
* • another item
P The text goes on at the left margin again and is no item.
`},
		{"a number at the beginning of a line of prose", func(b *builder) {
			b.justified(72, 100, 10, 12, "The tank was measured in the winter of the year\n12. It was found to hold some water then, and in the\nyears after that it held no more.")
		}, `
P The tank was measured in the winter of the year 12. It was found to hold some water then, and in the years after that it held no more.
`},
		{"a dash in prose", func(b *builder) {
			b.justified(72, 100, 10, 12, "There are such harbours elsewhere along the coast\n– or so they say in the town – but nobody has ever\nbeen there to see them.")
		}, `
P There are such harbours elsewhere along the coast – or so they say in the town – but nobody has ever been there to see them.
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newPage(1)
			c.set(b)
			wantShown(t, read(nil, b), c.want)
		})
	}
}

func TestTaggedListsKeepTheirLabelsAndDepth(t *testing.T) {
	b := newPage(1)
	b.line(72, 100, 10, "A.1", with{mcid: 1})
	b.line(100, 100, 10, "outer item", with{mcid: 2})
	b.line(90, 114, 10, "A.1.1", with{mcid: 3})
	b.line(130, 114, 10, "inner item", with{mcid: 4})
	item := func(label, body int, more ...*Tag) *Tag {
		return &Tag{Type: "LI", Kids: []*Tag{{Type: "Lbl", MCIDs: []int{label}}, {Type: "LBody", MCIDs: []int{body}, Kids: more}}}
	}
	b.page.Tags = &Tag{Type: "Document", Kids: []*Tag{{Type: "L", Kids: []*Tag{
		item(0, 1, &Tag{Type: "L", Kids: []*Tag{item(2, 3)}}),
	}}}}
	wantShown(t, read(nil, b), `
* A.1 outer item
  * A.1.1 inner item
`)
}

func TestMarkersAreRead(t *testing.T) {
	for _, c := range []struct {
		in     string
		kind   string
		value  int
		isMark bool
	}{
		{"•", "•", 0, true},
		{"1.", ".1", 1, true},
		{"12)", ")1", 12, true},
		{"(3)", "(1", 3, true},
		{"[10]", "[1", 10, true},
		{"a)", ")a", 1, true},
		{"C.", ".A", 3, true},
		{"iii.", ".a", 3, true},
		{"XIV.", ".A", 14, true},
		{"1990.", "", 0, false},
		{"word.", "", 0, false},
		{"1.5", "", 0, false},
		{"(see", "", 0, false},
		{"", "", 0, false},
	} {
		m, ok := markerOf(c.in, true)
		if ok != c.isMark || ok && (m.kind != c.kind || m.value != c.value) {
			t.Errorf("markerOf(%q) = %q %d %v, want %q %d %v", c.in, m.kind, m.value, ok, c.kind, c.value, c.isMark)
		}
	}
}
