package digest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAClaimHasTheWordsOfWhatSupportsIt(t *testing.T) {
	const text = "Copies are taken every night at two. They are kept for thirty days and then deleted."
	english := rankAll(t, markdown(manual), "How long are backups kept?", Options{}, 100)
	german := rankAll(t, markdown(manual), "Wie lange werden die backups aufbewahrt?", Options{}, 100)
	japanese := rankAll(t, Text{Content: "会議は来週の月曜日に開催されます。場所は本社です。", Language: "ja"}, "会議はいつですか", Options{}, 100)
	for _, c := range []struct {
		r              Ranking
		claim, text    string
		least, most    float64
		foreign, asked bool
	}{
		{english, "They are kept for thirty days and then deleted.", text, 1, 1, false, false},
		{english, "Backups are kept thirty days before their deletion.", text, 0.5, 0.9, false, false},
		{english, "A tractor stands behind the house of the warden.", text, 0, 0.1, false, false},
		{english, "It is.", text, -1, -1, false, false},
		{english, "", text, -1, -1, false, false},
		{english, "Sie werden dreißig Tage lang aufbewahrt und dann gelöscht.", text, 0, 0, true, false},
		{german, "Sie werden dreißig Tage lang aufbewahrt und dann gelöscht.", text, 0, 0, true, true},
		{english, "会議は来週の月曜日に開催されます。", text, 0, 0, true, false},
		{japanese, "会議は来週の月曜日に開催されます。", "会議は来週の月曜日に開催されます。", 0.9, 1, false, false},
		{japanese, "弁当は美味しかった。", "会議は来週の月曜日に開催されます。", 0, 0.3, false, false},
		{japanese, "The meeting takes place next Monday.", "会議は来週の月曜日に開催されます。", 0, 0, true, false},
	} {
		got := c.r.Hold(c.claim, c.text)
		share, ok := Share(got.Words)
		if !ok {
			share = -1
		}
		if got.Foreign != c.foreign || got.Asked != c.asked || share < c.least || share > c.most {
			t.Errorf("%s: %v, %+v, want %v to %v, foreign %v, asked %v", c.claim, share, got, c.least, c.most, c.foreign, c.asked)
		}
	}
}

func TestTheWordsOfAClaimAreWhereTheyStandInIt(t *testing.T) {
	r := rankAll(t, markdown(manual), "How long are backups kept?", Options{}, 100)
	claim := "The copies, copies and more of MaxBoxSize: delete `net/keeper` in 30 days."
	var got []string
	for _, w := range r.Hold(claim, "Copies are in net/keeper for 30 days.").Words {
		word := claim[w.At:w.End]
		if w.Has == 1 {
			word = strings.ToUpper(word)
		}
		got = append(got, word)
	}
	want := []string{"COPIES", "COPIES", "Max", "Box", "Size", "delete", "NET", "KEEPER", "30", "DAYS"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
