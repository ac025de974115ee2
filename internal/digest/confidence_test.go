package digest

import (
	"strings"
	"testing"
)

// shelf is a page on which much of what is asked below stands, and no answer.
const shelf = `# Keeper

Keeper is a program for Debian. Install the package and its dependencies with the command install; a package has a version.

## Lock files

Lock files are stored within /var/lock. Each has a name that begins with LCK.

## Licence

The program is under the MIT license. Its colour is gray.

## Shares

The swap partition is found on the first disk. Each package is maintained by a group of people who were found by the archive.

## Reports

Report an error to the group, with the version of the package and the name of the disk.
`

func TestAWordThatAnAnswerDoesWithoutDoesNotHideIt(t *testing.T) {
	for _, question := range []string{
		"Where do lock files belong?", "Where do lock files go?", "Where do lock files live?", "Where do lock files reside?", "Which place do lock files need?",
		"What licence is it under?", "What license does it use?", "Which licence applies?", "What color does it get?",
	} {
		if d := extract(t, markdown(shelf), question, Options{}); len(d.Passages) == 0 {
			t.Errorf("%s: %s", question, d.Answer)
		}
	}
}

func TestANameThatIsNowhereOrAKindThatIsMissingMakesAnAnswerUnlikely(t *testing.T) {
	for question, missing := range map[string]string{
		"How do I install the package on an iPhone?":          "iPhone",
		"How do I install the package on FreeBSD?":            "FreeBSD",
		"When was Debian founded?":                            "founded",
		"How do I pin the package?":                           "pin",
		"Does the package support zstd or macOS?":             "zstd, macOS",
		"Who elects the group?":                               "elects",
		"What are the exponents of the disk?":                 "exponents",
		"Wie lange dauert die Installation vom package?":      "",
		"How many disks does the swap partition take on MVS?": "MVS",
	} {
		d := extract(t, markdown(shelf), question, Options{})
		if len(d.Passages) > 0 || !strings.Contains(d.Answer, missing) {
			t.Errorf("%s: %s", question, d.Answer)
		}
	}
}

func TestWhatKindOfThingIsAskedFor(t *testing.T) {
	for question, want := range map[string]wanted{
		"How many boxes are there?": wantsNumber, "how long are they kept": wantsNumber, "Wie viele Tage sind es?": wantsNumber, "Wie lange dauert es?": wantsNumber,
		"Combien de jours?": wantsNumber, "сколько дней": wantsNumber,
		"When was it founded?": wantsDate, "In which year was it built?": wantsDate, "what year did the club begin": wantsDate, "Wann wurde das Haus gebaut?": wantsDate,
		"When is the gate open?": wantsAnything, "How do I install it?": wantsAnything, "How is a year counted?": wantsAnything, "Why so many boxes?": wantsAnything,
	} {
		q, err := parseQuestion(question+" box", "", "")
		if err != nil || q.wants != want {
			t.Errorf("%s: %v, %v, want %v", question, q.wants, err, want)
		}
	}
	for text, want := range map[string][2]bool{ // number, date
		"They are kept for thirty days.": {true, false},
		"Es sind 30.":                    {true, false},
		"It was built in 1904.":          {true, true},
		"Seit Mai ist das so.":           {false, true},
		"The gate is near the house.":    {false, false},
		"三十天":                            {true, true},
	} {
		if got := [2]bool{wantsNumber.has(text), wantsDate.has(text)}; got != want || !wantsAnything.has(text) {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}
