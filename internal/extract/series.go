package extract

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
)

// numbers are the pages of a series by the numbers that links to them have.
type numbers struct {
	links map[int]string
	own   int // the number that is no link, 0 when there is none or several
}

// maxParts is how many numbered links are looked at, and the largest number.
const maxParts = 999

// link takes a link that has the number of a page: "3" among others in a pager,
// or "Page 3" to an address like this page's own.
func (p *numbers) link(n *html.Node, text, href, page string) {
	if len(p.links) >= maxParts {
		return
	}
	k := number(text)
	switch {
	case k > 0 && inPager(n):
	case k > 0:
		return
	default:
		if k = partNumber(text); k == 0 || !likeAddress(href, page) {
			return
		}
	}
	if p.links == nil {
		p.links = map[int]string{}
	}
	if p.links[k] == "" {
		p.links[k] = href
	}
}

// plain takes a text of the page that may be its own number in a pager.
func (p *numbers) plain(n *html.Node) {
	k := number(n.Data)
	if k == 0 || !inPager(n.Parent) {
		return
	}
	for up := n.Parent; up != nil; up = up.Parent {
		if up.Data == "a" {
			return
		}
	}
	if p.own == 0 {
		p.own = k
	} else if p.own != k {
		p.own = -1
	}
}

// around gives the addresses before and after the page itself. Its number is the
// one that is no link; else the gap in the numbers, or what they leave at one end.
func (p *numbers) around() (before, after string) {
	if len(p.links) == 0 {
		return "", ""
	}
	own, last := p.own, 0
	for k := range p.links {
		last = max(last, k)
	}
	if own <= 0 || p.links[own] != "" {
		own = 0
		for k := 2; k < last && own == 0; k++ {
			if p.links[k] == "" && p.links[k-1] != "" && p.links[k+1] != "" {
				own = k
			}
		}
		switch {
		case own > 0:
		case p.links[1] == "":
			own = 1
		case last == len(p.links):
			own = last + 1
		}
	}
	return p.links[own-1], p.links[own+1]
}

// number reads a text that is the number of a page and nothing else.
func number(s string) int {
	s = strings.Trim(s, " \n[]()|·")
	if s == "" || len(s) > 3 {
		return 0
	}
	k, err := strconv.Atoi(s)
	if err != nil || k < 1 {
		return 0
	}
	return k
}

// partNumber reads the number in "Page 2", "Continue on page 2", "第2页".
func partNumber(s string) int {
	if len(s) > 100 {
		return 0
	}
	fields := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return strings.ContainsRune(" \n:,.;()[]»›→|/", r) })
	for i, word := range fields {
		switch word {
		case "page", "part", "seite", "teil", "partie", "página", "pagina", "parte", "sida", "side", "del", "deel", "strona", "część", "strana", "страница", "часть", "sayfa", "หน้า", "페이지":
			if i+1 < len(fields) {
				if k := number(fields[i+1]); k > 0 {
					return k
				}
			}
		default:
			for _, mark := range [...][2]string{{"第", "页"}, {"第", "頁"}, {"", "ページ"}} {
				if rest, ok := strings.CutPrefix(word, mark[0]); ok {
					if rest, ok = strings.CutSuffix(rest, mark[1]); ok {
						if k := number(rest); k > 0 {
							return k
						}
					}
				}
			}
		}
	}
	return 0
}

// likeAddress says that an address is another part of what is at page: it has
// one more number or parameter, or differs from it in a number.
func likeAddress(href, page string) bool {
	a, have := stem(href)
	b, want := stem(page)
	if want != "" && have != "" && have != want {
		return false // another record
	}
	return a == b || len(b) > len("https://a.example/") && strings.HasPrefix(a, b) && len(a) <= len(b)+len("/page-page=")
}

// stem takes from an address its ending, its numbers at the end and what leads
// to them, and gives the parameters that are not the number of a page apart.
func stem(u string) (path, query string) {
	path, all, _ := strings.Cut(withoutFragment(u), "?")
	path = strings.TrimSuffix(strings.TrimRight(path, "/"), "/index")
	if i := strings.LastIndexByte(path, '.'); i > strings.LastIndexByte(path, '/') && len(path)-i <= 6 {
		path = path[:i]
	}
	path = strings.TrimSuffix(strings.TrimRight(path, "0123456789"), "page")
	path = strings.TrimRight(path, "/-_.,")
	for part := range strings.SplitSeq(all, "&") {
		switch key, _, _ := strings.Cut(part, "="); key {
		case "", "page", "p", "pg", "paged", "seite", "pagina", "start", "offset", "pageno", "part":
		default:
			query += "&" + part
		}
	}
	return path, query
}
