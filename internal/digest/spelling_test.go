package digest

import (
	"strings"
	"testing"

	"github.com/blevesearch/snowballstem"
)

func TestBothSpellingsOfEnglishHaveTheSameStem(t *testing.T) {
	env := snowballstem.NewEnv("")
	stem := func(word string) string { return tongue("en").stem(env, word) }
	for pair := range strings.FieldsSeq(`licence/license licences/licenses licenced/licensed colour/color coloured/colored colouring/coloring
		colourful/colorful behaviour/behavior behavioural/behavioral favourite/favorite neighbours/neighbors honour/honor harbour/harbor rumour/rumor
		organise/organize organisation/organization organisations/organizations serialised/serialized initialising/initializing optimiser/optimizer
		customisable/customizable analyse/analyze analysed/analyzed analyser/analyzer paralyse/paralyze centre/center centres/centers centred/centered
		metre/meter kilometres/kilometers litre/liter theatre/theater fibre/fiber calibre/caliber catalogue/catalog catalogues/catalogs catalogued/cataloged
		dialogue/dialog analogue/analog programme/program programmes/programs defence/defense offence/offense pretence/pretense practise/practice
		practising/practicing judgement/judgment acknowledgement/acknowledgment artefact/artifact grey/gray cancelled/canceled travelling/traveling
		kept/keep found/find written/writes children/child indices/index took/taking labelled/labeled modelling/modeling fulfil/fulfill`) {
		british, other, _ := strings.Cut(pair, "/")
		if a, b := stem(british), stem(other); a != b {
			t.Errorf("%s is %s, and %s is %s", british, a, other, b)
		}
	}
	if stem("founded") == stem("found") {
		t.Error("what was founded counts as found")
	}
	for _, pair := range []string{"four/for", "your/yor", "hour/hor", "tour/tor", "our/or", "course/corse", "source/sorce", "sure/suer", "fence/fense", "rogue/rog", "ogre/oger", "wise/wize", "rise/rize", "blogged/blog"} {
		word, other, _ := strings.Cut(pair, "/")
		if american(word) == other {
			t.Errorf("%s is taken for %s", word, other)
		}
	}
	for question, content := range map[string]string{"What licence is it under?": "It is under the MIT license.", "How is the color set?": "The colour is set by a flag.", "Which center organizes it?": "The centre organises it."} {
		if d := extract(t, Text{Content: content, Language: "en"}, question, Options{}); len(d.Passages) != 1 {
			t.Errorf("%s: %+v", question, d)
		}
	}
}
