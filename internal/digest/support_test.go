package digest

import "testing"

func TestAClaimHasTheWordsOfWhatSupportsIt(t *testing.T) {
	const text = "Copies are taken every night at two. They are kept for thirty days and then deleted."
	english := rankAll(t, markdown(manual), "How long are backups kept?", Options{}, 100)
	japanese := rankAll(t, Text{Content: "会議は来週の月曜日に開催されます。場所は本社です。", Language: "ja"}, "会議はいつですか", Options{}, 100)
	for _, c := range []struct {
		r           Ranking
		claim, text string
		least, most float64
		ok          bool
	}{
		{english, "They are kept for thirty days and then deleted.", text, 1, 1, true},
		{english, "Backups are kept thirty days before their deletion.", text, 0.5, 0.9, true},
		{english, "A tractor stands behind the house of the warden.", text, 0, 0.1, true},
		{english, "It is.", text, 0, 0, false},
		{english, "", text, 0, 0, false},
		{english, "Sie werden dreißig Tage lang aufbewahrt und dann gelöscht.", text, 0, 0, false},
		{english, "会議は来週の月曜日に開催されます。", text, 0, 0, false},
		{japanese, "会議は来週の月曜日に開催されます。", "会議は来週の月曜日に開催されます。", 0.9, 1, true},
		{japanese, "弁当は美味しかった。", "会議は来週の月曜日に開催されます。", 0, 0.3, true},
		{japanese, "The meeting takes place next Monday.", "会議は来週の月曜日に開催されます。", 0, 0, false},
	} {
		if share, ok := c.r.Support(c.claim, c.text); ok != c.ok || share < c.least || share > c.most {
			t.Errorf("%s: %v, %v, want %v to %v, %v", c.claim, share, ok, c.least, c.most, c.ok)
		}
	}
}
