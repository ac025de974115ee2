package sift

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// PageRange is a run of pages, first and last included, counted from 1. Last
// is 0 where the run goes to the end of the file.
type PageRange struct{ First, Last int }

// PageRanges is a choice of pages. The empty choice is all of them.
type PageRanges []PageRange

// Bounds on what a choice of pages may be. No PDF has more pages than maxPage:
// that is the most indirect objects that one may hold.
const (
	maxPage       = 8_388_607
	maxPageRanges = 100
)

// ParsePages reads a choice of pages such as "1-3,7,10-". Blanks around a
// number are allowed. Pages may be named in any order and more than once; they
// are read once each, in the order of the file. The error is a Failure with
// code invalid.
func ParsePages(s string) (PageRanges, error) {
	if strings.TrimSpace(s) == "" {
		return nil, nil
	}
	parts := strings.Split(s, ",")
	if len(parts) > maxPageRanges {
		return nil, Fail(CodeInvalid, "pages has %d ranges; at most %d can be asked for at once", len(parts), maxPageRanges)
	}
	ranges := make(PageRanges, 0, len(parts))
	for _, part := range parts {
		r, err := parsePageRange(strings.TrimSpace(part))
		if err != nil {
			return nil, err
		}
		ranges = append(ranges, r)
	}
	return ranges, nil
}

func parsePageRange(s string) (PageRange, error) {
	from, to, isRange := strings.Cut(s, "-")
	first, err := parsePage(from, s)
	if err != nil {
		return PageRange{}, err
	}
	if !isRange {
		return PageRange{first, first}, nil
	}
	if strings.TrimSpace(to) == "" {
		return PageRange{first, 0}, nil
	}
	last, err := parsePage(to, s)
	if err != nil {
		return PageRange{}, err
	}
	if last < first {
		return PageRange{}, Fail(CodeInvalid, "the page range %d-%d is turned round; write %d-%d", first, last, last, first)
	}
	return PageRange{first, last}, nil
}

// parsePage reads one number of the range s.
func parsePage(number, s string) (int, error) {
	number = strings.TrimSpace(number)
	n, err := strconv.Atoi(number)
	switch {
	case number == "" || strings.Trim(number, "0123456789") != "":
		return 0, Fail(CodeInvalid, "pages has %s where a page or a range should be; write pages like 1-3,7,10-", Quote(s))
	case err != nil || n > maxPage:
		return 0, Fail(CodeInvalid, "pages names %s, and no PDF has that many pages", Quote(number))
	case n < 1:
		return 0, Fail(CodeInvalid, "pages names page 0; the first page is 1")
	}
	return n, nil
}

// Has says whether page n is among those chosen.
func (p PageRanges) Has(n int) bool {
	for _, r := range p {
		if n >= r.First && (r.Last == 0 || n <= r.Last) {
			return true
		}
	}
	return len(p) == 0
}

// Within says whether the choice can be answered from a file with that many
// pages: the error, a Failure with code invalid, names the first range that
// lies behind its end. A range that only reaches beyond it ends there.
func (p PageRanges) Within(total int) error {
	for _, r := range p {
		if r.First > total {
			return Fail(CodeInvalid, "page %d is out of range: the PDF has %s", r.First, pageCount(total)).WithHint(HintPages)
		}
	}
	return nil
}

func pageCount(n int) string {
	if n == 1 {
		return "1 page"
	}
	return strconv.Itoa(n) + " pages"
}

// String writes the choice as ParsePages reads it: sorted, each page once, so
// that two spellings of one choice are equal.
func (p PageRanges) String() string {
	var b strings.Builder
	for i, r := range p.sorted() {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(r.First))
		switch r.Last {
		case r.First:
		case 0:
			b.WriteByte('-')
		default:
			b.WriteByte('-')
			b.WriteString(strconv.Itoa(r.Last))
		}
	}
	return b.String()
}

// sorted gives the choice as separate ranges in order, joined where they touch.
func (p PageRanges) sorted() PageRanges {
	in := slices.Clone(p)
	slices.SortFunc(in, func(a, b PageRange) int { return cmp.Compare(a.First, b.First) })
	var out PageRanges
	for _, r := range in {
		if n := len(out); n > 0 {
			if last := &out[n-1]; last.Last == 0 {
				break // it goes to the end
			} else if r.First <= last.Last+1 {
				if r.Last == 0 {
					last.Last = 0
				} else {
					last.Last = max(last.Last, r.Last)
				}
				continue
			}
		}
		out = append(out, r)
	}
	return out
}
