package extract

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// month gives the month that a word in small letters names in one of the
// languages that pages are written in most, or 0. No word names two months in
// two of them.
func month(w string) time.Month {
	switch w {
	case "january", "jan", "januar", "jänner", "janvier", "janv", "enero", "ene", "gennaio", "gen", "janeiro", "januari", "stycznia", "styczeń", "sty",
		"января", "январь", "янв", "ledna", "leden", "ocak":
		return time.January
	case "february", "feb", "februar", "februari", "février", "fevrier", "févr", "fév", "febrero", "febbraio", "fevereiro", "fev", "lutego", "luty", "lut",
		"февраля", "февраль", "фев", "февр", "února", "únor", "şubat":
		return time.February
	case "march", "mar", "märz", "maerz", "mär", "mrz", "mars", "marzo", "março", "marco", "maart", "mrt", "marca", "marzec", "marts",
		"марта", "март", "мар", "března", "březen", "mart":
		return time.March
	case "april", "apr", "avril", "avr", "abril", "abr", "aprile", "kwietnia", "kwiecień", "kwi", "апреля", "апрель", "апр", "dubna", "duben", "nisan":
		return time.April
	case "may", "mai", "mayo", "maggio", "mag", "maio", "mei", "maja", "maj", "мая", "май", "května", "květen", "mayıs":
		return time.May
	case "june", "jun", "juni", "juin", "junio", "giugno", "giu", "junho", "czerwca", "czerwiec", "cze", "июня", "июнь", "июн", "června", "červen", "haziran":
		return time.June
	case "july", "jul", "juli", "juillet", "juil", "julio", "luglio", "lug", "julho", "lipca", "lipiec", "lip", "июля", "июль", "июл", "července", "červenec", "temmuz":
		return time.July
	case "august", "aug", "août", "aout", "agosto", "ago", "augustus", "augusti", "sierpnia", "sierpień", "sie", "августа", "август", "авг", "srpna", "srpen", "ağustos":
		return time.August
	case "september", "sep", "sept", "septembre", "septiembre", "setiembre", "settembre", "set", "setembro", "września", "wrzesień", "wrz",
		"сентября", "сентябрь", "сен", "сент", "září", "eylül":
		return time.September
	case "october", "oct", "oktober", "okt", "octobre", "octubre", "ottobre", "ott", "outubro", "out", "października", "październik", "paź",
		"октября", "октябрь", "окт", "října", "říjen", "ekim":
		return time.October
	case "november", "nov", "novembre", "noviembre", "novembro", "listopada", "listopad", "lis", "ноября", "ноябрь", "ноя", "нояб", "kasım":
		return time.November
	case "december", "dec", "dezember", "dez", "décembre", "decembre", "déc", "diciembre", "dic", "dicembre", "dezembro", "grudnia", "grudzień", "gru",
		"декабря", "декабрь", "дек", "prosince", "prosinec", "aralık":
		return time.December
	}
	return 0
}

// token is a number, a word or a sign of a line.
type token struct {
	text   string // a word in small letters
	number int    // -1 for what is no number
	digits int
	start  int
	end    int
}

// maxTokens bounds how far into a line a date is looked for.
const maxTokens = 80

// tokensOf divides a line. White space is no token.
func tokensOf(s string) []token {
	var out []token
	for i := 0; i < len(s) && len(out) < maxTokens; {
		r, n := utf8.DecodeRuneInString(s[i:])
		end := i + n
		switch {
		case unicode.IsSpace(r):
			i = end
			continue
		case r >= '0' && r <= '9':
			for end < len(s) && s[end] >= '0' && s[end] <= '9' {
				end++
			}
			p := token{text: s[i:end], number: -1, digits: end - i, start: i, end: end}
			if p.digits <= 4 {
				p.number, _ = strconv.Atoi(p.text)
			}
			out = append(out, p)
		case unicode.IsLetter(r) && !unicode.In(r, unicode.Han, unicode.Hangul):
			for end < len(s) {
				r, n := utf8.DecodeRuneInString(s[end:])
				if !unicode.IsLetter(r) && !unicode.Is(unicode.Mn, r) || unicode.In(r, unicode.Han, unicode.Hangul) {
					break
				}
				end += n
			}
			out = append(out, token{text: strings.ToLower(s[i:end]), number: -1, start: i, end: end})
		default:
			out = append(out, token{text: s[i:end], number: -1, start: i, end: end})
		}
		i = end
	}
	return out
}

// written is a date in a line.
type written struct {
	date       string // as RFC 3339 has it
	start, end int
}

// maxWritten is how many dates of one line are read.
const maxWritten = 4

// datesIn finds the dates of a line that name a day. order says how three
// numbers are read that fit both ways: 'd' with the day in front, 'm' with the
// month, and otherwise not at all.
func datesIn(s string, order rune) []written {
	ps := tokensOf(s)
	var out []written
	for i := 0; i < len(ps) && len(out) < maxWritten; {
		y, m, d, n := dateAt(ps[i:], order)
		if n == 0 || !isDay(y, m, d) {
			i++
			continue
		}
		date := time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
		out = append(out, written{date, ps[i].start, ps[i+n-1].end})
		i += n
	}
	return out
}

// isDay says whether there was such a day, since there are pages.
func isDay(y int, m time.Month, d int) bool {
	return y >= firstYear && y <= 2200 && m >= 1 && m <= 12 && d >= 1 && d <= time.Date(y, m+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// dateAt reads a date that begins with the first of the tokens, and says how
// many it has: 0 for none.
func dateAt(ps []token, order rune) (y int, m time.Month, d, n int) {
	first := ps[0]
	switch {
	case first.digits == 4 && len(ps) >= 5 && oneOf(ps[1].text, "-", "/", "."):
		if ps[2].digits > 0 && ps[2].digits <= 2 && ps[3].text == ps[1].text && ps[4].digits > 0 && ps[4].digits <= 2 {
			return first.number, time.Month(ps[2].number), ps[4].number, 5
		}
	case first.digits == 4 && len(ps) >= 5 && oneOf(ps[1].text, "年", "년"):
		if ps[2].digits > 0 && oneOf(ps[3].text, "月", "월") && ps[4].digits > 0 {
			return first.number, time.Month(ps[2].number), ps[4].number, 5
		}
	case first.digits == 4:
		return yearFirst(ps)
	case first.digits == 1 || first.digits == 2:
		if y, m, d, n := threeNumbers(ps, order); n > 0 {
			return y, m, d, n
		}
		return dayThenMonth(ps)
	case month(first.text) != 0:
		return monthThenDay(ps)
	}
	return 0, 0, 0, 0
}

// yearFirst reads "2024. március 12" and "2024 May 1".
func yearFirst(ps []token) (y int, m time.Month, d, n int) {
	i := skip(ps, 1, ".", ",")
	if i >= len(ps) || month(ps[i].text) == 0 {
		return 0, 0, 0, 0
	}
	k := skip(ps, i+1, ".")
	if k >= len(ps) || ps[k].digits == 0 || ps[k].digits > 2 {
		return 0, 0, 0, 0
	}
	return ps[0].number, month(ps[i].text), ps[k].number, k + 1
}

// threeNumbers reads "12.03.2024", "12/03/2024" and "12-03-2024".
func threeNumbers(ps []token, order rune) (y int, m time.Month, d, n int) {
	if len(ps) < 5 || ps[2].digits == 0 || ps[2].digits > 2 || ps[1].text != ps[3].text || ps[4].digits != 4 || !oneOf(ps[1].text, ".", "/", "-") {
		return 0, 0, 0, 0
	}
	a, b := ps[0].number, ps[2].number
	switch {
	case ps[1].text == "." || order == 'd' || a > 12 || a == b:
		if b > 12 { // a page that says otherwise about its language
			return ps[4].number, time.Month(a), b, 5
		}
		return ps[4].number, time.Month(b), a, 5
	case order == 'm' || b > 12:
		return ps[4].number, time.Month(a), b, 5
	}
	return 0, 0, 0, 0
}

// dayThenMonth reads "12 March 2024", "12. März 2024", "12 de marzo de 2024",
// "30th of March, 2024" and "4-Aug-2021".
func dayThenMonth(ps []token) (y int, m time.Month, d, n int) {
	i := skip(ps, 1, ".", "st", "nd", "rd", "th", "er", "º", "ª", "°", "-", "/")
	i = skip(ps, i, "of", "de", "d", "'", "’", "-")
	if i >= len(ps) || month(ps[i].text) == 0 {
		return 0, 0, 0, 0
	}
	k := skip(ps, i+1, ".", ",", "-", "/", "'", "’")
	k = skip(ps, k, "de", "del", "of")
	if k >= len(ps) || ps[k].digits != 4 {
		return 0, 0, 0, 0
	}
	return ps[k].number, month(ps[i].text), ps[0].number, k + 1
}

// monthThenDay reads "March 12, 2024", "Mar. 12th 2024" and "March 12 - 2024".
func monthThenDay(ps []token) (y int, m time.Month, d, n int) {
	i := skip(ps, 1, ".", "-", "/")
	if i >= len(ps) || ps[i].digits == 0 || ps[i].digits > 2 {
		return 0, 0, 0, 0
	}
	k := skip(ps, i+1, "st", "nd", "rd", "th")
	k = skip(ps, k, ",", ".", "-", "/")
	if k >= len(ps) || ps[k].digits != 4 {
		return 0, 0, 0, 0
	}
	return ps[k].number, month(ps[0].text), ps[i].number, k + 1
}

// skip passes over up to two tokens that are among the words.
func skip(ps []token, i int, words ...string) int {
	for range 2 {
		if i < len(ps) && oneOf(ps[i].text, words...) {
			i++
		}
	}
	return i
}

func oneOf(s string, list ...string) bool { return slices.Contains(list, s) }
