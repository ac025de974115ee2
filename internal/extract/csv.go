package extract

import (
	"bytes"
	"context"
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"sift.build/sift/internal/dom"
	"sift.build/sift/internal/normalize"
	"sift.build/sift/internal/sift"
)

// What is larger than one of these is handed on as it stands: a model reads a
// long table better, and for fewer tokens, in the form that it has.
const (
	maxTableBytes   = 256 << 10
	maxTableCells   = 5000
	maxTableColumns = 50
)

// isTableType says whether a media type promises comma-separated values or
// their like, and whether what separates them is the tab.
func isTableType(mt string) (table, tabs bool) {
	switch mt {
	case "text/csv", "application/csv", "text/x-csv", "application/x-csv", "text/comma-separated-values", "text/x-comma-separated-values":
		return true, false
	case "text/tab-separated-values", "text/tsv", "application/tsv", "text/x-tsv":
		return true, true
	}
	return false, false
}

// readTable makes a table of comma-separated values. Not ok is what is too large
// for one, has a single column, or is not well formed: it is handed on as text.
func readTable(ctx context.Context, doc *sift.Document, text []byte, in Input) (ok bool, err error) {
	if len(text) > maxTableBytes || bytes.IndexByte(text, '\n') < 0 && bytes.IndexByte(text, '\r') < 0 {
		return false, nil
	}
	s := string(text)
	sep, s := separator(s, strings.HasSuffix(doc.MediaType, "tab-separated-values"))
	if sep == 0 {
		return false, nil
	}
	rows, ok := records(s, sep)
	if !ok || len(rows) < 2 {
		return false, nil
	}
	if err := alive(ctx); err != nil {
		return false, err
	}
	l := newLister(in)
	table := dom.Element(atom.Table)
	head := rows[0]
	if !hasHeader(rows) {
		// The first row of a Markdown table is its header. Empty names keep the
		// first record from being taken for one.
		head = make([]string, len(rows[0]))
	} else {
		rows = rows[1:]
	}
	part := dom.Element(atom.Thead)
	part.AppendChild(l.row(head, atom.Th))
	table.AppendChild(part)
	part = dom.Element(atom.Tbody)
	for _, r := range rows {
		part.AppendChild(l.row(r, atom.Td))
	}
	table.AppendChild(part)
	doc.Kind, doc.Main = sift.KindTable, dom.Element(atom.Body)
	doc.Main.AppendChild(table)
	doc.Language = (&metadata{}).language(in.ContentLanguage)
	doc.VisibleChars = normalize.CountVisible(doc.Main)
	removed := l.clean.Removed()
	unseen(doc, &removed)
	return doc.VisibleChars > 0, nil
}

// row makes a row of a table. A line of a cell that is nothing but an address is
// a link.
func (l *lister) row(cells []string, a atom.Atom) *html.Node {
	row := dom.Element(atom.Tr)
	for _, s := range cells {
		cell := dom.Element(a)
		first := true
		for line := range strings.SplitSeq(strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")), "\n") {
			if !first {
				cell.AppendChild(dom.Element(atom.Br))
			}
			first = false
			line = strings.TrimSpace(l.clean.Text(line))
			switch {
			case line == "":
			case isWebAddress(line) && strings.IndexByte(line, ' ') < 0:
				cell.AppendChild(l.link(line, line))
			default:
				cell.AppendChild(dom.Text(line))
			}
		}
		row.AppendChild(cell)
	}
	return row
}

// separator finds what separates the fields, 0 when nothing does: "sep=;" in
// the first line says so, as spreadsheets write it; else it is the sign that
// divides most of the first records into the same number of fields. The rest is
// the text behind such a line.
func separator(s string, tabs bool) (sep byte, rest string) {
	if line, after, ok := strings.Cut(s, "\n"); ok && len(line) < 16 {
		if f := strings.TrimSpace(strings.ToLower(strings.Trim(strings.TrimRight(line, "\r"), `"`))); strings.HasPrefix(f, "sep=") && len(f) == 5 {
			return f[4], after
		}
		if strings.HasPrefix(line, "sep=\t") {
			return '\t', after
		}
	}
	if tabs && strings.Contains(s, "\t") {
		return '\t', s
	}
	best := 0
	for _, c := range []byte{',', ';', '\t', '|'} {
		if score := evenness(s, c); score > best {
			best, sep = score, c
		}
	}
	return sep, s
}

// evenness says how well a sign divides the first records: by how many of them
// have the same number of fields as the first, and how many that are.
func evenness(s string, sep byte) int {
	const most = 20
	fields, first, same, lines := 1, 0, 0, 0
	quoted := false
	end := func() {
		if lines++; lines == 1 {
			first = fields
		}
		if fields == first {
			same++
		}
		fields = 1
	}
	for i := 0; i < len(s) && lines < most; i++ {
		switch c := s[i]; {
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == sep:
			fields++
		case c == '\n':
			end()
		}
	}
	if fields > 1 && lines < most {
		end()
	}
	if first < 2 || lines == 0 {
		return 0
	}
	return 1000*same/lines + min(first, 100)
}

// records divides the text into its fields, by RFC 4180 as spreadsheets read it:
// a quote counts only at the beginning of a field, and what follows the closing
// one belongs to the field. Not ok is a text with a quote that nothing closes, or
// one that is too large for a table.
func records(s string, sep byte) (rows [][]string, ok bool) {
	var row []string
	cells := 0
	for i := 0; i < len(s); {
		var field string
		if s[i] == '"' {
			var b strings.Builder
			i++
			for {
				end := strings.IndexByte(s[i:], '"')
				if end < 0 {
					return nil, false
				}
				b.WriteString(s[i : i+end])
				i += end + 1
				if i >= len(s) || s[i] != '"' {
					break
				}
				b.WriteByte('"')
				i++
			}
			end := i
			for end < len(s) && s[end] != sep && s[end] != '\n' && s[end] != '\r' {
				end++
			}
			b.WriteString(strings.TrimRight(s[i:end], " "))
			i = end
			field = b.String()
		} else {
			end := i
			for end < len(s) && s[end] != sep && s[end] != '\n' && s[end] != '\r' {
				end++
			}
			field = s[i:end]
			i = end
		}
		row = append(row, field)
		if cells++; cells > maxTableCells || len(row) > maxTableColumns {
			return nil, false
		}
		if i < len(s) && s[i] == sep {
			if i++; i == len(s) || s[i] == '\n' || s[i] == '\r' {
				row = append(row, "") // an empty last field
			} else {
				continue
			}
		}
		if i < len(s) && s[i] == '\r' {
			i++
		}
		if i < len(s) && s[i] == '\n' {
			i++
		}
		if len(row) > 1 || strings.TrimSpace(row[0]) != "" { // an empty line is no record
			rows = append(rows, row)
		}
		row = nil
	}
	return rows, true
}

// hasHeader tells a row of names from a first record: every name is there, none
// is a number or a date, none stands twice, and where every record below has a
// number in a column, that is no reason to doubt. Names that look like all the
// records below them are doubtful only when those are few words long and repeat
// one of them.
func hasHeader(rows [][]string) bool {
	seen := make(map[string]bool, len(rows[0]))
	for i, s := range rows[0] {
		name := strings.ToLower(strings.TrimSpace(s))
		if name == "" && i > 0 && i < len(rows[0])-1 || len(name) > 200 {
			return false
		}
		if isValue(name) || name != "" && seen[name] {
			return false
		}
		seen[name] = true
	}
	// A name that stands again below it in its own column is a value.
	for i, s := range rows[0] {
		if s = strings.TrimSpace(s); s == "" {
			continue
		}
		for _, r := range rows[1:] {
			if i < len(r) && strings.TrimSpace(r[i]) == s {
				return false
			}
		}
	}
	return true
}

// isValue says whether a field is a number, an amount, a date or a time rather
// than a name. A bare year is a name: tables have a column for each.
func isValue(s string) bool {
	digits, letters, other := 0, 0, 0
	for _, r := range s {
		switch {
		case unicode.IsDigit(r):
			digits++
		case unicode.IsLetter(r):
			letters++
		case !unicode.IsSpace(r):
			other++
		}
	}
	if digits == 0 || letters > 2 {
		return false
	}
	if digits == 4 && letters == 0 && other == 0 && (strings.HasPrefix(s, "19") || strings.HasPrefix(s, "20")) {
		return false
	}
	return letters == 0 || letters <= 1 && strings.ContainsAny(s, ":.-/") // 2024-01-02T…, 12.5k
}
