package digest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"sift.build/sift/internal/sift"
)

func extract(t testing.TB, text Text, question string, o Options) sift.Digest {
	t.Helper()
	d, err := Extract(t.Context(), text, question, o)
	if err != nil {
		t.Fatal(err)
	}
	holds(t, text, d, o)
	return d
}

// holds is what every digest has to hold.
func holds(t testing.TB, text Text, d sift.Digest, o Options) {
	t.Helper()
	runes := []rune(text.Content)
	total, last := 0, 0
	for i, p := range d.Passages {
		if p.N != i+1 {
			t.Errorf("passage %d has number %d", i+1, p.N)
		}
		if p.Start < last || p.End <= p.Start || p.End > len(runes) || string(runes[p.Start:p.End]) != p.Text {
			t.Errorf("passage %d:%d of %d characters is %q", p.Start, p.End, len(runes), p.Text)
		}
		last = p.End
		total += p.End - p.Start
	}
	if o.MaxChars == 0 {
		o.MaxChars = DefaultChars
	}
	if o.MaxPassages == 0 {
		o.MaxPassages = DefaultPassages
	}
	if total > o.MaxChars || len(d.Passages) > o.MaxPassages {
		t.Errorf("%d characters in %d passages, want at most %d in %d", total, len(d.Passages), o.MaxChars, o.MaxPassages)
	}
	if d.Passages == nil || d.Answer == "" || d.Method != sift.DigestExtractive {
		t.Errorf("digest %+v has no list of passages, no answer or no method", d)
	}
}

// manual is a page with a section for each thing that it explains.
const manual = `# Keeper

Keeper stores boxes for archives. It is a service with one binary.

## Install

Download the package and unpack it into /opt/keeper. Then start the service with systemctl.

## Limits

| Plan | Requests per minute | Storage |
| --- | --- | --- |
| Free | 60 | 1 GB |
| Team | 600 | 50 GB |
| Enterprise | 6000 | unlimited |

## Backups

Backups are taken every night at two. They are kept for thirty days and then deleted.

To restore one, stop the service and run:

` + "```sh\nkeeper restore --from backup.tar\n```" + `

## Configuration

The function MaxBoxSize in net/keeper limits what one box may hold. See snake_case names such as max_box_size in the file.

An error 507 means that the disk is full. Version v2.4.1 fixed a leak.

Questions go to help@keeper.example.

## Flags

- --verbose prints more
- --quiet prints nothing
- --color=auto decides by the terminal
`

func TestTheBestPassageIsTheOneThatAnswers(t *testing.T) {
	for question, want := range map[string]string{
		"How long is a backup kept before it is deleted?": "kept for thirty days",
		"how do I restore": "keeper restore --from",
		"How many requests per minute does Team get?":    "| Team | 600 |",
		"What does MaxBoxSize do?":                       "The function MaxBoxSize",
		"what does maxboxsize do":                        "The function MaxBoxSize",
		"max box size":                                   "The function MaxBoxSize",
		"net/keeper":                                     "The function MaxBoxSize",
		"max_box_size":                                   "max_box_size",
		"What is error 507?":                             "An error 507",
		"what changed in 2.4.1":                          "Version v2.4.1",
		"what changed in version 2.4?":                   "Version v2.4.1",
		"Who can I write to, is it help@keeper.example?": "help@keeper.example",
		"what is --quiet for?":                           "--quiet prints nothing",
		"installation folder":                            "/opt/keeper",
		"Wo liegt /opt/keeper?":                          "/opt/keeper",
		"`start` the service":                            "start the service",
	} {
		r, err := Rank(t.Context(), markdown(manual), question, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Passages) == 0 || !strings.Contains(r.Passages[0].Text, want) {
			t.Errorf("%s: first of %d is %+v, want %q in it", question, len(r.Passages), r.Passages[:min(1, len(r.Passages))], want)
		}
		if !r.Answered {
			t.Errorf("%s: counts as not answered", question)
		}
	}
}

func TestADigestIsWrittenAsTheContractSays(t *testing.T) {
	text := markdown("# Keeper\n\n## Backups\n\nBackups are kept for thirty days. Then they are deleted.\n\n## Fire\n\nDoors close.\n")
	b, err := json.Marshal(extract(t, text, "How long are backups kept?", Options{}))
	if err != nil {
		t.Fatal(err)
	}
	var d sift.Digest
	if err := json.Unmarshal(b, &d); err != nil {
		t.Fatal(err)
	}
	d.Passages[0].Score = 0.5
	if b, err = json.Marshal(d); err != nil {
		t.Fatal(err)
	}
	want := `{"question":"How long are backups kept?","method":"extractive","answer":"Backups are kept for thirty days.",` +
		`"passages":[{"n":1,"text":"Backups are kept for thirty days. Then they are deleted.","heading":"Keeper \u003e Backups","start":22,"end":78,"score":0.5}]}`
	if diff := cmp.Diff(want, string(b)); diff != "" {
		t.Error(diff)
	}
}

func TestNothingIsAnAnswerOfItsOwn(t *testing.T) {
	for question, want := range map[string]string{
		"Which Kubernetes operators are allowed?":      "Nothing on this page answers the question. Not on the page: Kubernetes, operators, allowed.",
		`Does it say "kept for ever" of backups?`:      `Nothing on this page answers the question. Not on the page: "kept for ever".`,
		"Wann wurde der Eiffelturm in Paris gebaut?":   "Nothing on this page answers the question. Not on the page: Eiffelturm, Paris, gebaut.",
		"Is macOS or x86-64 supported ???":             "Nothing on this page answers the question. Not on the page: macOS, x86-64, supported.",
		"Which ISO-8859-1 goes with BAKE-opt/keepers?": "Nothing on this page answers the question. Not on the page: ISO-8859-1, goes, BAKE-opt/keepers.",
		"Is it overloaded by != or === or <=>?":        "Nothing on this page answers the question. Not on the page: overloaded, !=, ===, <=>.",
		"how does one bake sourdough bread at home":    "Nothing on this page answers the question. Not on the page: bake, sourdough, bread, home.",
	} {
		d := extract(t, markdown(manual), question, Options{})
		if d.Answer != want || len(d.Passages) != 0 {
			t.Errorf("%s: %q with %d passages, want %q", question, d.Answer, len(d.Passages), want)
		}
	}
	b, err := json.Marshal(extract(t, Text{}, "anything about boats?", Options{}))
	if err != nil || !strings.Contains(string(b), `"passages":[]`) {
		t.Errorf("an empty page gives %s, %v", b, err)
	}
}

func TestAQuestionThatIsNoneSaysWhatToAsk(t *testing.T) {
	for question, want := range map[string]string{
		"":                        "question is empty",
		" \n ":                    "question is empty",
		"what is it?":             "no word to look for",
		"?!…":                     "no word to look for",
		"\"\"":                    "no word to look for",
		strings.Repeat("é", 1001): "has 1001 characters, and may have 1000",
		"box \xff":                "not valid UTF-8",
	} {
		_, err := Extract(t.Context(), markdown(manual), question, Options{})
		f, ok := errors.AsType[*sift.Failure](err)
		if !ok || f.Code != sift.CodeInvalid || !strings.Contains(f.Message, want) {
			t.Errorf("%.20q: %v, want invalid with %q", question, err, want)
		}
	}
	extract(t, markdown(manual), strings.Repeat("é", 1000), Options{})
	extract(t, markdown(manual), `"to be or not to be"`, Options{})
}

func TestAQuotedPhraseMustStandInThePassage(t *testing.T) {
	text := markdown("Backups of boxes are kept.\n\nKept backups need **much** space, boxes do not.\n\n# Boxes\n\nNothing.\n")
	for _, question := range []string{`what of "Kept Backups" and boxes?`, `what of “kept backups” and boxes?`, `« kept, backups » boxes`} {
		d := extract(t, text, question, Options{})
		if len(d.Passages) != 1 || !strings.HasPrefix(d.Passages[0].Text, "Kept") && !strings.Contains(d.Passages[0].Text, "Kept backups") {
			t.Errorf("%s: %+v", question, d.Passages)
		}
	}
	if d := extract(t, text, `is "back" a box?`, Options{}); len(d.Passages) != 0 {
		t.Errorf("a part of a word is taken for the phrase: %+v", d.Passages)
	}
	if d := extract(t, Text{Content: "我们在夜里备份数据。"}, "「备份数据」什么时候", Options{}); len(d.Passages) != 1 {
		t.Errorf("a phrase without spaces is not found: %+v", d)
	}
}

func TestEachOfSeveralQuestionsGetsItsPassage(t *testing.T) {
	d := extract(t, markdown(manual), "How long are backups kept and how many requests per minute does the Free plan have?", Options{MaxPassages: 2})
	if len(d.Passages) != 2 || !strings.Contains(d.Passages[0].Text, "| Free | 60 |") || !strings.Contains(d.Passages[1].Text, "thirty days") {
		t.Errorf("%+v", d.Passages)
	}
}

func TestTheAnswerIsOfEachOfSeveralQuestionsTheSentenceThatFits(t *testing.T) {
	d := extract(t, markdown(manual), "How long are backups kept and how many requests per minute does the Free plan have?", Options{})
	if want := "They are kept for thirty days and then deleted.\n| Free | 60 | 1 GB |"; d.Answer != want {
		t.Errorf("answer %q, want %q", d.Answer, want)
	}
}

func TestAnotherMeasureCanDecideTheOrder(t *testing.T) {
	r, err := Rank(t.Context(), markdown(manual), "backups and requests of the service", Options{MaxPassages: 2})
	if err != nil || len(r.Passages) < 3 {
		t.Fatal(len(r.Passages), err)
	}
	d := r.DigestOf(Choice{Method: "hybrid", Order: []int{2, 99, -1, 0, 1}})
	got := []string{d.Passages[0].Text, d.Passages[1].Text}
	want := []string{r.Passages[0].Text, r.Passages[2].Text}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" || d.Method != "hybrid" || !strings.Contains(r.Passages[2].Text, d.Answer) {
		t.Errorf("%s, method %s, answer %s", diff, d.Method, d.Answer)
	}
	if d := r.DigestOf(Choice{Method: "hybrid"}); len(d.Passages) != 0 || !strings.HasPrefix(d.Answer, "Nothing on this page") {
		t.Errorf("%+v", d)
	}
}

func TestPassagesThatSayTheSameAreGivenOnce(t *testing.T) {
	var b strings.Builder
	for i := range 5 {
		fmt.Fprintf(&b, "# Copy %d\n\nThe archive keeps every box for ninety days, and then the box is given back to whoever brought it.\n\n", i)
	}
	d := extract(t, markdown(b.String()), "how long does the archive keep a box", Options{})
	n := 0
	for _, p := range d.Passages {
		if strings.Contains(p.Text, "ninety days") {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d copies, want 1: %+v", n, d.Passages)
	}
}

func TestTheBudgetIsHeldWhateverItIs(t *testing.T) {
	for chars := 1; chars < 1500; chars += 37 {
		for _, n := range []int{1, 3, 50} {
			extract(t, markdown(manual), "backups service requests box", Options{MaxChars: chars, MaxPassages: n})
		}
	}
}

func TestWhatIsAnsweredIsAnsweredWithinAnyBudget(t *testing.T) {
	const question = "How long is a backup kept before it is deleted?"
	for _, content := range []string{
		manual,
		strings.ReplaceAll(manual, "## ", "\n"), // one long section
		"## Backups\n\n" + strings.Repeat("Nothing of that is said here, in a sentence that has no end, ", 30) + "though backups are kept for thirty days and then deleted.\n",
		"## 备份\n\n" + strings.Repeat("我们在夜里备份所有的数据", 40) + " backups kept deleted",
	} {
		text := markdown(content)
		for chars := 1; chars < 700; chars += 1 + chars/20 {
			d := extract(t, text, question, Options{MaxChars: chars})
			if len(d.Passages) == 0 || strings.HasPrefix(d.Answer, "Nothing on this page") {
				t.Fatalf("nothing within %d characters: %+v", chars, d)
			}
			runes := []rune(content)
			for _, p := range d.Passages {
				if p.Text != strings.TrimSpace(p.Text) || chars > 40 && p.Start > 0 && letter(runes[p.Start-1]) && letter(runes[p.Start]) {
					t.Errorf("%d characters: %q begins in a word", chars, p.Text)
				}
				if chars > 40 && p.End < len(runes) && letter(runes[p.End-1]) && letter(runes[p.End]) {
					t.Errorf("%d characters: %q ends in a word", chars, p.Text)
				}
			}
			if all := fmt.Sprint(d.Passages); chars > 60 && content == manual && !strings.Contains(all, "kept for thirty days") {
				t.Errorf("%d characters: the sentence that answers is not among %s", chars, all)
			}
		}
	}
}

// letter says that r is one of a word that is parted from the next by a space.
func letter(r rune) bool { return r < 0x3000 && unicode.IsLetter(r) }

func TestWordsOfTheHeadingsCount(t *testing.T) {
	text := markdown("# Guide\n\n## Linux\n\nRun the script as root, it takes a minute.\n\n## Windows\n\nRun the script as administrator, it takes a minute.\n")
	if d := extract(t, text, "run the script on Windows", Options{MaxPassages: 1}); len(d.Passages) != 1 || !strings.Contains(d.Passages[0].Text, "administrator") {
		t.Errorf("%+v", d.Passages)
	}
}

func TestLanguagesAreToldByTheDocumentElseByTheWords(t *testing.T) {
	german := "Die Sicherungen werden jede Nacht erstellt und dann für dreißig Tage aufbewahrt, bevor sie gelöscht werden. Das ist nicht zu ändern."
	for _, c := range []struct {
		text, says string
		want       tongue
	}{
		{german, "de-AT", "de"},
		{german, "", "de"},
		{german, "en", "de"},
		{german, "x-klingon!", "de"},
		{"Short text.", "fr", "fr"},
		{"Резервные копии хранятся тридцать дней.", "en", "ru"},
		{"备份保留三十天。", "zh-CN", "zh"},
		{"Kopie zapasowe są przechowywane przez trzydzieści dni.", "pl", "pl"},
		{"", "", ""},
		{"Sikkerhetskopier er ikke noe som bare kan slettes, men det er mulig.", "nb", "no"},
	} {
		if got := languageOf(c.text, c.says); got != c.want {
			t.Errorf("%.30q which says %q is in %q, want %q", c.text, c.says, got, c.want)
		}
	}
}

func TestFormsOfAWordAreFoundInEachLanguage(t *testing.T) {
	for _, c := range []struct{ language, content, question, want string }{
		{"de", "Sicherungen werden dreißig Tage aufbewahrt.\n\nDie Türen schließen um acht.", "Wie lange wird eine Sicherung aufbewahrt?", "Sicherungen"},
		{"de", "Die Höchstgeschwindigkeit beträgt fünfzig.\n\nDie Türen schließen um acht.", "Welche Geschwindigkeit ist erlaubt?", "Höchst"},
		{"fr", "Les sauvegardes sont conservées trente jours.\n\nLes portes ferment à huit heures.", "Combien de temps la sauvegarde est-elle conservée ?", "sauvegardes"},
		{"fr", "L'été, le musée ferme.\n\nLes portes ferment à huit heures.", "musee en ete", "musée"},
		{"es", "Las copias se guardan treinta días.\n\nLas puertas cierran a las ocho.", "¿Cuánto tiempo se guarda una copia?", "copias"},
		{"ru", "Резервные копии хранятся тридцать дней.\n\nДвери закрываются в восемь.", "Сколько дней хранится резервная копия?", "Резервные"},
		{"sv", "Säkerhetskopior sparas i trettio dagar.\n\nDörrarna stängs klockan åtta.", "Hur länge sparas en säkerhetskopia?", "Säkerhets"},
		{"tr", "Yedekler otuz gün saklanır.\n\nKapılar sekizde kapanır.", "Yedek kaç gün saklanıyor?", "Yedekler"},
		{"pl", "Kopie zapasowe są przechowywane przez trzydzieści dni.\n\nDrzwi zamykane są o ósmej.", "Jak długo przechowywana jest kopia zapasowa?", "Kopie"},
		{"zh", "备份保留三十天，然后删除。\n\n大门八点关闭。", "备份会保留多少天？", "备份"},
		{"ja", "バックアップは三十日間保存されます。\n\n扉は八時に閉まります。", "バックアップはどのくらい保存されますか", "バックアップ"},
		{"ko", "백업은 삼십 일 동안 보관됩니다.\n\n문은 여덟 시에 닫힙니다.", "백업을 얼마나 보관하나요?", "백업"},
		{"th", "สำรองข้อมูลเก็บไว้สามสิบวัน\n\nประตูปิดตอนแปดโมง", "ข้อมูลสำรองเก็บกี่วัน", "สำรอง"},
		{"en", "The Téléphérique opens at eight.\n\nDoors close.", "when does the telepherique open", "Téléphérique"},
	} {
		text := markdown("# 1\n\n" + strings.Replace(c.content, "\n\n", "\n\n# 2\n\n", 1) + "\n")
		text.Language = c.language
		r, err := Rank(t.Context(), text, c.question, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Passages) == 0 || !strings.Contains(r.Passages[0].Text, c.want) {
			t.Errorf("%s: %+v, want the one with %s", c.question, r.Passages, c.want)
		}
	}
}

func TestAQuestionInAnotherLanguageIsReadInBoth(t *testing.T) {
	got := questionLanguages("Wie viele Tage werden die backups aufbewahrt?", "en")
	if diff := cmp.Diff([]tongue{"en", "de"}, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]tongue{"en"}, questionLanguages("how many days", "en")); diff != "" {
		t.Error(diff)
	}
}

func TestAnEndedContextIsSaidAsWhatItWas(t *testing.T) {
	for code, with := range map[sift.Code]func() context.Context{
		sift.CodeCancel: func() context.Context {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			return ctx
		},
		sift.CodeTimeout: func() context.Context {
			ctx, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
			t.Cleanup(cancel)
			return ctx
		},
	} {
		_, err := Extract(with(), markdown(manual), "how long are backups kept", Options{})
		if f := sift.AsFailure(err); f.Code != code {
			t.Errorf("%v, want %s", err, code)
		}
	}
}

// hostile are texts of about size bytes, each made to be dear.
func hostile(size int) map[string]Text {
	heads := markdown(strings.Repeat("# box\n\nbox\n", size/11))
	fill := func(s string) string { return strings.Repeat(s, size/len(s)) }
	deep := markdown(fill("###### box box box\n\nx\n\n"))
	return map[string]Text{
		"prose":            {Content: fill("The archive keeps a box of backups for some thirty days. ")},
		"paragraphs":       {Content: fill("The archive keeps a box of backups for thirty days.\n\n"), Markdown: true},
		"headings":         heads,
		"deep headings":    deep,
		"one word":         {Content: fill("box"), Markdown: true},
		"one line":         {Content: fill("box.box-"), Markdown: true},
		"points":           {Content: fill(". ) "), Markdown: true},
		"brackets":         {Content: fill("]("), Markdown: true},
		"pipes":            {Content: fill("a|b\n"), Markdown: true},
		"items":            {Content: fill("- box\n"), Markdown: true},
		"fences":           {Content: fill("```\n"), Markdown: true},
		"marks":            {Content: fill("e\u0301\u0301\u0301"), Markdown: true},
		"characters":       {Content: fill("备份保留三十天"), Markdown: true},
		"blank lines":      {Content: fill("\n \n"), Markdown: true},
		"other words":      {Content: distinct(size), Markdown: true},
		"emoji":            {Content: fill("👨\u200d👩\u200d👧\u200d"), Markdown: true},
		"escapes":          {Content: fill(`\_`), Markdown: true},
		"carriage returns": {Content: fill("box\r"), Markdown: true},
	}
}

func distinct(size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "w%xq box\n\n", i*7919)
	}
	return b.String()
}

// The question has many words, so that each word of the text costs most.
var dear = "box backups " + strings.Repeat("备份 ", 3) + `thirty days w1 "box"`

func TestTheMemoryForAHostileTextIsBounded(t *testing.T) {
	// What docs/question.md says: at most 16 bytes for each byte of the content,
	// and two megabytes.
	const size = 1 << 20
	for name, text := range hostile(size) {
		for _, all := range []bool{false, true} {
			if held := heldFor(t, text, all); held > 16*size+2<<20 {
				t.Errorf("%s, all %v: %d bytes are held for %d", name, all, held, size)
			}
		}
	}
}

// heldFor says how many bytes are held while a text is ranked.
func heldFor(t *testing.T, text Text, all bool) int64 {
	t.Helper()
	var before, after runtime.MemStats
	q, err := parseQuestion(dear, text.Content, "")
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	runtime.ReadMemStats(&before)
	r, err := newRanking(t.Context(), text, q, sizesFor(DefaultChars), all)
	if err != nil {
		t.Fatal(err)
	}
	best, err := r.best(t.Context(), candidateMax)
	if err != nil {
		t.Fatal(err)
	}
	others, _ := r.others(best, 512)
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(r)
	runtime.KeepAlive(others)
	runtime.KeepAlive(text)
	return int64(after.HeapAlloc) - int64(before.HeapAlloc)
}

func FuzzExtract(f *testing.F) {
	f.Add(manual, "How long are backups kept and what is `--quiet`?", "en", 500, true)
	f.Add("备份保留三十天。\n\nバックアップ", "备份 \"保留\" 多少天", "zh", 10, false)
	f.Add("\x10\f", "aZK0 A9", "0", 1, true) // a passage without a word
	f.Add("|a|b|\n|-|-|\n|1,000|v1.2.3|", "1000 v1.2 a/b; c?", "xx-!", 1, true)
	f.Fuzz(func(t *testing.T, content, question, says string, chars int, md bool) {
		content = strings.ToValidUTF8(content, "\uFFFD")
		text := Text{Content: content, Markdown: md, Language: says}
		if md {
			text.Headings = headingsOf(content)
		}
		o := Options{MaxChars: max(0, chars%4000)}
		d, err := Extract(t.Context(), text, question, o)
		if err != nil {
			if f, ok := errors.AsType[*sift.Failure](err); !ok || f.Code != sift.CodeInvalid {
				t.Fatal(err)
			}
			return
		}
		if !utf8.ValidString(d.Answer) {
			t.Errorf("answer %q is not valid", d.Answer)
		}
		holds(t, text, d, o)
		k, err := RankAll(t.Context(), text, question, o, 20)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(d, k.Digest()); diff != "" {
			t.Error("with all passages the digest is another: ", diff)
		}
		var order []int
		for i := range k.Passages {
			order = append(order, i)
			if k.Lead(i); len(k.Sentences(i)) == 0 && strings.TrimSpace(k.Passages[i].Text) != "" && !strings.ContainsAny(k.Passages[i].Text, "|`~-=") {
				t.Errorf("passage %q has no sentence", k.Passages[i].Text)
			}
		}
		slices.Reverse(order)
		if len(order) > 0 {
			other := k.DigestOf(Choice{Method: sift.DigestExtractive, Order: order})
			holds(t, text, other, o)
		}
		held := k.Hold(question, content)
		if share, ok := Share(held.Words); ok && (share < 0 || share > 1+1e-9) {
			t.Errorf("a share of %v", share)
		}
		for _, w := range held.Words {
			if w.At < 0 || w.End <= w.At || w.End > len(question) {
				t.Errorf("%+v is a word of %q", w, question)
			}
		}
	})
}
