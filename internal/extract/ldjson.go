package extract

import (
	"encoding/json"
	"html"
	"strings"
)

const (
	ldJSON = "application/ld+json"
	// Bounds on what is read of the data that a page carries about itself.
	maxLDScripts = 20
	maxLDBytes   = 512 << 10
	maxLDObjects = 1000
	maxLDDepth   = 8
)

// linked is the schema.org data of a page: every object in it, flat.
type linked struct {
	objects []map[string]any
	byID    map[string]map[string]any
	scripts int
	bytes   int
}

// add reads one script. What is not JSON is no loss.
func (l *linked) add(script string) {
	if l.scripts >= maxLDScripts || l.bytes+len(script) > maxLDBytes {
		return
	}
	l.scripts++
	l.bytes += len(script)
	script = strings.TrimSpace(script)
	script = strings.TrimSuffix(strings.TrimPrefix(script, "<!--"), "-->")
	var v any
	if json.Unmarshal([]byte(script), &v) != nil {
		// Line breaks inside strings are the usual mistake.
		script = strings.Map(func(r rune) rune {
			if r < ' ' {
				return ' '
			}
			return r
		}, script)
		if json.Unmarshal([]byte(script), &v) != nil {
			return
		}
	}
	l.collect(v, 0)
}

// collect lists the objects in v. Those inside "author", "publisher" and the
// like are read where they stand.
func (l *linked) collect(v any, depth int) {
	if depth > maxLDDepth || len(l.objects) >= maxLDObjects {
		return
	}
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			l.collect(e, depth+1)
		}
	case map[string]any:
		l.objects = append(l.objects, v)
		if id, ok := v["@id"].(string); ok && len(v) > 1 {
			if l.byID == nil {
				l.byID = map[string]map[string]any{}
			}
			l.byID[id] = v
		}
		for _, key := range []string{"@graph", "mainEntity", "mainEntityOfPage"} {
			if inner, ok := v[key]; ok {
				l.collect(inner, depth+1)
			}
		}
	}
}

// types gives the names of an object's types, without the vocabulary.
func types(o map[string]any) []string {
	var out []string
	add := func(v any) {
		if s, ok := v.(string); ok {
			out = append(out, s[strings.LastIndexAny(s, "/#:")+1:])
		}
	}
	switch t := o["@type"].(type) {
	case []any:
		for _, e := range t {
			add(e)
		}
	default:
		add(t)
	}
	return out
}

// rank orders objects by how likely they are what the page is about.
func rank(o map[string]any) int {
	best := 0
	for _, t := range types(o) {
		r := 0
		switch {
		case strings.HasSuffix(t, "Article"), strings.HasSuffix(t, "BlogPosting"), t == "Report", t == "LiveBlogPosting", t == "APIReference":
			r = 5
		case t == "DiscussionForumPosting", t == "SocialMediaPosting", t == "QAPage", t == "Question", t == "Recipe", t == "Review", t == "HowTo":
			r = 4
		case t == "Product", t == "ProductGroup", t == "Book", t == "Course", t == "Event", t == "Movie", t == "SoftwareApplication", t == "VideoObject",
			t == "Dataset", t == "JobPosting", t == "PodcastEpisode", t == "CreativeWork", t == "Service":
			r = 3
		case strings.HasSuffix(t, "Page"):
			r = 2
		}
		best = max(best, r)
	}
	return best
}

// main gives the object that the page is about, or nil.
func (l *linked) main() map[string]any {
	var best map[string]any
	bestRank := 0
	for _, o := range l.objects {
		if r := rank(o); r > bestRank {
			best, bestRank = o, r
		}
	}
	return best
}

// names gives the names of people or organisations in a value: a string, an
// object with a name, a reference to one, or a list of these.
func (l *linked) names(v any, depth int) []string {
	if depth > maxLDDepth {
		return nil
	}
	switch v := v.(type) {
	case string:
		return []string{str(v)}
	case []any:
		var out []string
		for _, e := range v {
			if out = append(out, l.names(e, depth+1)...); len(out) > maxAuthors {
				break
			}
		}
		return out
	case map[string]any:
		if name := str(v["name"]); name != "" {
			return []string{name}
		}
		if given, family := str(v["givenName"]), str(v["familyName"]); given+family != "" {
			return []string{strings.TrimSpace(given + " " + family)}
		}
		if id, ok := v["@id"].(string); ok {
			if o := l.byID[id]; o != nil && str(o["name"]) != "" {
				return []string{str(o["name"])}
			}
		}
		if inner, ok := v["name"]; ok {
			return l.names(inner, depth+1)
		}
	}
	return nil
}

// site gives the name of the site: of a WebSite, else of who publishes.
func (l *linked) site() string {
	for _, o := range l.objects {
		for _, t := range types(o) {
			if t == "WebSite" && str(o["name"]) != "" {
				return str(o["name"])
			}
		}
	}
	if o := l.main(); o != nil {
		if n := l.names(o["publisher"], 0); len(n) > 0 {
			return n[0]
		}
	}
	return ""
}

// str gives a value that is one string, or the first of a list of them.
func str(v any) string {
	switch v := v.(type) {
	case string:
		return html.UnescapeString(v) // many write their JSON as if it were HTML
	case []any:
		if len(v) > 0 {
			if s, ok := v[0].(string); ok {
				return s
			}
		}
	case map[string]any:
		if s, ok := v["@value"].(string); ok {
			return s
		}
	}
	return ""
}
