package extract

import (
	"html"
	"strconv"
	"strings"
	"unicode"
)

// fromLinked gives the text that the schema.org data of the page has, or nil.
func (m *metadata) fromLinked() *found {
	var best *found
	var about map[string]any
	score := 0
	for _, o := range m.linked.objects {
		r := rank(o)
		if r == 0 {
			continue
		}
		f := &found{from: fromLinkedData}
		m.linked.write(f, o, 0)
		f.size = 0
		for _, p := range f.parts {
			n, _ := measure(plainOf(p))
			f.size += int(n)
		}
		s := f.size * r
		if f.sure {
			s *= 4
		}
		if s > score {
			best, about, score = f, o, s
		}
	}
	if best == nil {
		return nil
	}
	best.title = oneLine(plainOf(firstOf(str(about["headline"]), str(about["name"]), str(about["title"]))), maxTitle)
	if best.title == "" { // of a page with one question
		if q, ok := about["mainEntity"].(map[string]any); ok {
			best.title = oneLine(plainOf(str(q["name"])), maxTitle)
		}
	}
	best.author = append(m.linked.names(about["author"], 0), m.linked.names(about["creator"], 0)...)
	best.date = firstDate(str(about["datePublished"]), str(about["dateCreated"]), str(about["uploadDate"]), str(about["datePosted"]))
	best.lang = str(about["inLanguage"])
	best.about = str(about["description"])
	if names := m.linked.names(about["publisher"], 0); len(names) > 0 {
		best.site = names[0]
	}
	return best
}

func firstDate(dates ...string) string {
	for _, d := range dates {
		if out := rfc3339(d); out != "" {
			return out
		}
	}
	return ""
}

// ldText gives a text of schema.org, which may be a list of paragraphs.
func ldText(v any) string {
	list, ok := v.([]any)
	if !ok {
		return str(v)
	}
	var parts []string
	for _, e := range list {
		if s := str(e); s != "" && len(parts) < 1000 {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, "\n\n")
}

// maxLDParts is how many answers, steps, comments or updates are read.
const maxLDParts = 500

// write adds what an object says to f.
func (l *linked) write(f *found, o map[string]any, depth int) {
	if depth > maxLDDepth || len(f.parts) > 4*maxLDParts {
		return
	}
	body := false
	for _, key := range []string{"articleBody", "text", "reviewBody", "transcript"} {
		if s := ldText(o[key]); likeWords(plainOf(s)) {
			f.add(proseHTML(s))
			f.sure, body = true, true
			break
		}
	}
	if !body && depth == 0 && rank(o) != 2 { // of a mere page it is a summary for search engines
		if s := ldText(o["description"]); likeWords(plainOf(s)) {
			f.add(proseHTML(s))
			f.short = rank(o) == 5
		}
	}
	for _, t := range types(o) {
		switch t {
		case "Recipe":
			l.strings(f, "Ingredients", o["recipeIngredient"], "ul")
			l.steps(f, "Instructions", o["recipeInstructions"], depth)
		case "HowTo":
			l.steps(f, "Steps", o["step"], depth)
		case "JobPosting":
			for _, key := range []string{"responsibilities", "qualifications", "skills", "experienceRequirements", "educationRequirements", "jobBenefits"} {
				if s := ldText(o[key]); s != "" {
					f.add("<h2>" + html.EscapeString(spaced(key)) + "</h2>" + proseHTML(s))
				}
			}
		case "Question":
			l.each(o["acceptedAnswer"], func(a map[string]any) { l.said(f, "Answer", a, depth) })
			l.each(o["suggestedAnswer"], func(a map[string]any) { l.said(f, "Answer", a, depth) })
		case "QAPage", "FAQPage":
			l.each(o["mainEntity"], func(q map[string]any) {
				if name := ldText(q["name"]); name != "" {
					f.add("<h2>" + html.EscapeString(plainOf(name)) + "</h2>")
				}
				l.write(f, q, depth+1)
				f.sure = true
			})
		case "DiscussionForumPosting", "SocialMediaPosting":
			l.each(o["comment"], func(c map[string]any) { l.said(f, "Comment", c, depth) })
		case "LiveBlogPosting":
			l.each(o["liveBlogUpdate"], func(u map[string]any) {
				if h := str(u["headline"]); h != "" {
					f.add("<h2>" + html.EscapeString(plainOf(h)) + "</h2>")
				}
				l.write(f, u, depth+1)
			})
		case "Product", "ProductGroup":
			l.product(f, o)
		}
	}
}

// said adds an answer or a comment with the name of who wrote it.
func (l *linked) said(f *found, what string, o map[string]any, depth int) {
	s := ldText(o["text"])
	if s == "" {
		return
	}
	head := what
	if names := l.names(o["author"], 0); len(names) > 0 && author(names[0]) != "" {
		head += " by " + author(names[0])
	}
	f.add("<h3>" + html.EscapeString(head) + "</h3>" + proseHTML(s))
	l.each(o["comment"], func(c map[string]any) {
		if depth < maxLDDepth {
			l.said(f, "Comment", c, depth+1)
		}
	})
}

// product adds what a shop says of a thing beside its description.
func (l *linked) product(f *found, o map[string]any) {
	var rows strings.Builder
	row := func(name, value string) {
		if name != "" && value != "" {
			rows.WriteString("<tr><th>" + html.EscapeString(plainOf(name)) + "</th><td>" + html.EscapeString(plainOf(value)) + "</td></tr>")
		}
	}
	if names := l.names(o["brand"], 0); len(names) > 0 {
		row("Brand", names[0])
	}
	row("SKU", scalar(o["sku"]))
	n := 0
	l.each(o["offers"], func(of map[string]any) {
		if price := firstOf(scalar(of["price"]), scalar(of["lowPrice"])); price != "" && n < 20 {
			n++
			row("Price", strings.TrimSpace(price+" "+str(of["priceCurrency"])))
		}
	})
	l.each(o["additionalProperty"], func(p map[string]any) { row(str(p["name"]), scalar(p["value"])) })
	if rows.Len() > 0 {
		f.add("<table>" + rows.String() + "</table>")
	}
	l.each(o["review"], func(r map[string]any) {
		if s := ldText(r["reviewBody"]); s != "" {
			l.said(f, "Review", map[string]any{"text": s, "author": r["author"]}, maxLDDepth)
		}
	})
}

// scalar gives a string or number as text.
func scalar(v any) string {
	if n, ok := v.(float64); ok {
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	return str(v)
}

// spaced writes a key as words.
func spaced(key string) string {
	var b strings.Builder
	for i, c := range key {
		switch {
		case i == 0:
			c = unicode.ToUpper(c)
		case unicode.IsUpper(c):
			b.WriteByte(' ')
			c = unicode.ToLower(c)
		}
		b.WriteRune(c)
	}
	return b.String()
}

// each calls f for an object, or for the objects of a list; a reference is
// followed.
func (l *linked) each(v any, f func(map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		if id, ok := v["@id"].(string); ok && len(v) == 1 && l.byID[id] != nil {
			v = l.byID[id]
		}
		f(v)
	case []any:
		for i, e := range v {
			if i >= maxLDParts {
				return
			}
			if _, list := e.([]any); !list {
				l.each(e, f)
			}
		}
	}
}

func (l *linked) strings(f *found, title string, v any, tag string) {
	list, ok := v.([]any)
	if !ok {
		if s := str(v); s != "" {
			f.add("<h2>" + title + "</h2>" + proseHTML(s))
		}
		return
	}
	var b strings.Builder
	for i, e := range list {
		if s := str(e); s != "" && i < maxLDParts {
			b.WriteString("<li>" + html.EscapeString(plainOf(s)) + "</li>")
		}
	}
	if b.Len() > 0 {
		f.add("<h2>" + title + "</h2><" + tag + ">" + b.String() + "</" + tag + ">")
	}
}

// steps adds instructions: a text, a list of texts, or steps in sections.
func (l *linked) steps(f *found, title string, v any, depth int) {
	if depth > 3 {
		return
	}
	list, ok := v.([]any)
	if !ok {
		if o, is := v.(map[string]any); is {
			list = []any{o}
		} else {
			l.strings(f, title, v, "ol")
			f.sure = f.sure || str(v) != ""
			return
		}
	}
	var b strings.Builder
	flush := func() {
		if b.Len() > 0 {
			f.add("<ol>" + b.String() + "</ol>")
			b.Reset()
			f.sure = true
		}
	}
	if title != "" && len(list) > 0 {
		f.add("<h2>" + html.EscapeString(title) + "</h2>")
	}
	for i, e := range list {
		if i >= maxLDParts {
			break
		}
		o, is := e.(map[string]any)
		switch {
		case !is:
			if s := str(e); s != "" {
				b.WriteString("<li>" + html.EscapeString(plainOf(s)) + "</li>")
			}
		case o["itemListElement"] != nil && str(o["text"]) == "":
			flush()
			if name := str(o["name"]); name != "" {
				f.add("<h3>" + html.EscapeString(plainOf(name)) + "</h3>")
			}
			l.steps(f, "", o["itemListElement"], depth+1)
		default:
			if s := firstOf(str(o["text"]), str(o["description"]), str(o["name"])); s != "" {
				b.WriteString("<li>" + html.EscapeString(plainOf(s)) + "</li>")
			}
		}
	}
	flush()
}

// proseHTML writes a text that may be HTML already.
func proseHTML(s string) string {
	if !strings.Contains(s, "<") && strings.Contains(s, "&lt;") {
		s = html.UnescapeString(s)
	}
	if isHTML(s) {
		return s
	}
	return textHTML(html.UnescapeString(s))
}
