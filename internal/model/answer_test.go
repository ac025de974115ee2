package model

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestAnAnswerIsReadInTheFormsThatModelsUse(t *testing.T) {
	one := draft{true, []sentence{{"They are kept for thirty days.", []int{1, 3}}}}
	nothing := draft{}
	for name, c := range map[string]struct {
		text string
		want draft
	}{
		"as asked for":         {`{"answered": true, "sentences": [{"text": "They are kept for thirty days.", "cites": [1, 3]}]}`, one},
		"without answered":     {`{"sentences": [{"text": "They are kept for thirty days.", "cites": [3, 1, 1]}]}`, one},
		"list alone":           {`[{"text": "They are kept for thirty days.", "cites": [1, 3]}]`, one},
		"sentences as strings": {`{"answered": true, "sentences": ["They are kept for thirty days. [1][3]"]}`, one},
		"cites as strings":     {`{"answered": true, "sentences": [{"text": "They are kept for thirty days.", "cites": ["1", "[3]"]}]}`, one},
		"cites in the text":    {`{"answered": true, "sentences": [{"text": "They are kept for thirty days [1, 3].", "cites": null}]}`, one},
		"both":                 {`{"answered": true, "sentences": [{"text": "They are kept [1] for thirty days.", "cites": 3}]}`, one},
		"other fields":         {`{"confidence": 0.9, "answered": true, "sentences": [{"id": 7, "text": "They are kept for thirty days.", "cites": [1, 3]}], "notes": {}}`, one},
		"fence":                {"```json\n{\"answered\": true, \"sentences\": [{\"text\": \"They are kept for thirty days.\", \"cites\": [1, 3]}]}\n```", one},
		"words around":         {"Sure {here it is}: {\"answered\": true, \"sentences\": [{\"text\": \"They are kept for thirty days.\", \"cites\": [1, 3]}]}\nAnything else?", one},
		"thoughts":             {"<think>They {\"answered\": false}</think>\n{\"answered\": true, \"sentences\": [{\"text\": \"They are kept for thirty days.\", \"cites\": [1, 3]}]}", one},
		"thoughts begun":       {"Hm, they {\"answered\": false} do.</think>{\"answered\": true, \"sentences\": [{\"text\": \"They are kept for thirty days.\", \"cites\": [1, 3]}]}", one},
		"two kinds of thought": {"<THINKING>a</THINKING><reasoning>b</reasoning>They are kept for thirty days. [1][3]", one},
		"plain":                {"They are kept for thirty days [1][3].", one},
		"plain, mark behind":   {"They are kept for thirty days. [1-1, 3]", one},
		"plain, other marks":   {"They are kept for thirty days【1†L3-L4】【3】.", one},
		"plain, footnotes":     {"- They are kept for thirty days[^1] [^3].", one},
		"plain, numbered":      {"1. They are kept for **thirty** days [1] [3].", one},
		"plain, two": {"They are kept for thirty days [1]. Then they go. [2]\n", draft{true, []sentence{
			{"They are kept for thirty days.", []int{1}}, {"Then they go.", []int{2}},
		}}},
		"plain, range":             {"They are kept [1-3].", draft{true, []sentence{{"They are kept.", []int{1, 2, 3}}}}},
		"plain, without citations": {"They are kept for thirty days.", draft{true, []sentence{{"They are kept for thirty days.", nil}}}},
		"index in code":            {"{\"sentences\": [{\"text\": \"Write `a[1]` for it.\", \"cites\": [2]}]}", draft{true, []sentence{{"Write `a[1]` for it.", []int{2}}}}},
		"nothing":                  {`{"answered": false, "sentences": []}`, nothing},
		"nothing, with a reason":   {`{"answered": false, "sentences": [{"text": "The passages do not say.", "cites": []}]}`, nothing},
		"nothing, in short":        {`{"answered": false}`, nothing},
		"the last one counts":      {`{"answered": false, "sentences": []} No, wait: {"answered": true, "sentences": [{"text": "They are kept for thirty days.", "cites": [1, 3]}]}`, one},
		"cites that are none":      {`{"sentences": [{"text": "They are kept.", "cites": ["one", 1.5, {}]}]}`, draft{true, []sentence{{"They are kept.", []int{noPassage}}}}},
		"what does not show":       {"{\"sentences\": [{\"text\": \"They\\u200b are\\u202e\\tkept\\u0007 for\\n\\u2028thirty\\ue000 days\\ufe0f\\udb40\\udc41.\", \"cites\": [1,3]}]}", one},
	} {
		got, err := readAnswer(c.text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestAnAnswerThatCannotBeUsedIsAFailure(t *testing.T) {
	for name, text := range map[string]string{
		"empty":              "",
		"thoughts alone":     "<think>They are kept [1]. And so on",
		"broken object":      `{"answered": true, "sentences": [{"text": "They are kept [1].`,
		"broken in a fence":  "```json\n{\"answered\": true, \"sentences\": [{\"text\": \"They are kept [1].",
		"another object":     `{"error": "overloaded"}`,
		"answered, and how?": `{"answered": true, "sentences": []}`,
		"empty sentences":    `{"answered": true, "sentences": [{"text": " \u200b ", "cites": [1]}]}`,
		"another type":       `{"answered": "yes", "sentences": [{"text": "They are kept.", "cites": [1]}]}`,
		"no text":            `{"answered": true, "sentences": [{"cites": [1]}]}`,
		"far too much":       `{"answered": true, "sentences": [` + strings.Repeat(`{"text": "They are kept.", "cites": [1]},`, sentencesMax) + `{"text": "They are kept.", "cites": [1]}]}`,
		"endless":            strings.Repeat("They are kept [1]. ", draftMax/10),
	} {
		if d, err := readAnswer(text); err == nil {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

func TestADeepAnswerCostsLittle(t *testing.T) {
	for _, text := range []string{strings.Repeat("{", draftMax), strings.Repeat(`{"a":`, draftMax/5), strings.Repeat("[{", draftMax/2), strings.Repeat("<think>", draftMax/7), strings.Repeat("[1-9999]", draftMax/8), strings.Repeat("`[1", draftMax/3)} {
		start := time.Now()
		d, err := readAnswer(text)
		if err == nil {
			if good, _ := d.check("q", evidence, untold); len(good.Sentences) > 0 {
				t.Errorf("%.20q: %d good sentences", text, len(good.Sentences))
			}
		}
		if took := time.Since(start); took > 3*time.Second {
			t.Errorf("%.20q took %v", text, took)
		}
	}
}

func FuzzReadAnswer(f *testing.F) {
	for _, s := range []string{
		`{"answered": true, "sentences": [{"text": "They are kept [1].", "cites": [1, "3"]}]}`, "They are kept [1]. They go. [2-4]【5†x】",
		"<think>x</think>```json\n[{\"text\":\"a\"}]\n```", `{"answered":false}`, "{\"sentences\":[\"a `b[1]` c [^2]\"]}",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := readAnswer(text)
		if err != nil {
			return
		}
		if d.Answered != (len(d.Sentences) > 0) || len(d.Sentences) > sentencesMax {
			t.Fatalf("%+v", d)
		}
		for _, s := range d.Sentences {
			if s.Text == "" && len(s.Cites) == 0 || !utf8.ValidString(s.Text) || strings.ContainsFunc(s.Text, func(r rune) bool {
				return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
			}) {
				t.Errorf("%q", s.Text)
			}
			if len(s.Cites) > citesMax {
				t.Errorf("%d citations", len(s.Cites))
			}
		}
		// What is kept comes back as it was.
		b, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		var again draft
		if err := json.Unmarshal(b, &again); err != nil || !cmp.Equal(d.Answered, again.Answered) || len(d.Sentences) != len(again.Sentences) {
			t.Errorf("%v: %s", err, cmp.Diff(d, again))
		}
	})
}
