package extract

import (
	"cmp"
	"hash/maphash"
	"html"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

const (
	// ownProse is how much text of its own makes an object that has the title or
	// address of the page what the page is about.
	ownProse = 300
	// otherPiece is how long one text has to be in an object of which nothing
	// says that it is the page's.
	otherPiece = 1000
)

// choose picks what the page is about out of all prose of its data, or gives
// nil: the object that has the page's title or address, else the one that most
// of the prose stands in. Wrong content is worse than none, so of the latter
// much is wanted.
func (r *reader) choose(meta *metadata, base *url.URL) *found {
	pieces := r.different()
	if len(pieces) == 0 {
		return nil
	}
	who := newIdentity(meta, base)
	own := make([]bool, len(r.frames)) // objects that are the page's
	strong := make([]int, len(r.frames))
	for i := range r.frames {
		own[i] = i > 0 && r.isOwn(int32(i), who)
	}
	thread := meta.about(base).thread
	for _, p := range pieces {
		weight := p.size
		switch {
		case p.trust == trustLow, p.reader && !thread:
		case p.trust == trustWeak:
			weight *= 2
		default:
			weight *= 6
		}
		if !p.named {
			weight /= 2
		}
		for i := p.frame; i >= 0; i = r.frames[i].up {
			r.frames[i].total += weight
			if p.trust > trustLow && (thread || !p.reader) {
				strong[i] += p.size
			}
		}
	}
	owner, most := int32(0), 0
	for i, is := range own {
		if is && strong[i] > most {
			owner, most = int32(i), strong[i]
		}
	}
	if most >= ownProse && (4*most >= strong[0] || most >= 5*ownProse) {
		// The innermost of those that are the page's which has most of it.
		for i := owner + 1; i < r.frames[owner].end; i++ {
			if own[i] && 4*strong[i] >= 3*most {
				owner = i
			}
		}
	} else {
		owner = r.owner()
		t := letters(r.frames[owner].title)
		biggest, sum, named, headed := 0, 0, false, t != ""
		for _, p := range pieces {
			if r.inside(p.frame, owner) && p.trust == trustStrong && (thread || !p.reader) {
				biggest, sum, named = max(biggest, p.size), sum+p.size, named || p.named
				headed = headed || strings.Contains(p.html, "<h1")
			}
		}
		switch {
		case own[owner] && sum >= leastProse:
		case !named:
			return nil
		case who.vague: // nothing to know it by
			if sum < leastProse || !headed && sum < 3*leastProse {
				return nil
			}
		case t != "", biggest < otherPiece, 5*biggest < sum:
			return nil // it has a title, and not this page's; or it is a heap of things
		}
	}
	f := &found{from: fromState, title: r.frames[owner].title}
	r.collect(f, owner, pieces, thread)
	r.describe(f, owner)
	for up := r.frames[owner].up; f.title == "" && up > 0; up = r.frames[up].up {
		if own[up] {
			f.title = r.frames[up].title
		}
	}
	if len(f.parts) == 0 {
		return nil
	}
	return f
}

// An identity is what tells the object of a page among others.
type identity struct {
	titles []string // of the page, letters only
	slug   string   // the last part of its address
	vague  bool     // the page has no title but that of its site
}

func newIdentity(meta *metadata, base *url.URL) identity {
	var id identity
	host := ""
	if base != nil {
		host = base.Hostname()
		id.slug = slugOf(base)
	}
	id.vague = true
	site := firstOf(meta.first("og:site_name", "application-name"), meta.linked.site())
	main := meta.linked.main()
	for _, t := range []string{meta.title, meta.first("og:title"), meta.first("twitter:title"), str(main["headline"]), str(main["name"])} {
		t = oneLine(plainOf(t), maxTitle)
		if l := letters(t); len(l) >= 4 && !slices.Contains(id.titles, l) {
			id.titles = append(id.titles, l)
		}
		if t != "" && !isLoading(t) && !isSite(t, site, host) && len(strings.Fields(t)) > 2 {
			id.vague = false
		}
	}
	return id
}

// slugOf gives the last part of an address's path, without what stands behind
// a dot.
func slugOf(u *url.URL) string {
	if u == nil {
		return ""
	}
	slug := strings.ToLower(strings.Trim(u.Path, "/"))
	slug, _, _ = strings.Cut(slug[strings.LastIndexByte(slug, '/')+1:], ".")
	return slug
}

// different gives the pieces that do not say what a larger one says, in their
// order: the same text stands in data as HTML, as plain text and shortened.
func (r *reader) different() []piece {
	order := make([]int, len(r.pieces))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		p, q := &r.pieces[a], &r.pieces[b]
		return cmp.Or(cmp.Compare(q.trust, p.trust), cmp.Compare(strings.Count(q.html[:min(len(q.html), 1<<16)], "<"), strings.Count(p.html[:min(len(p.html), 1<<16)], "<")), cmp.Compare(q.size, p.size))
	})
	seed := maphash.MakeSeed()
	said := map[uint64]struct{}{}
	keep := make([]bool, len(r.pieces))
	for _, i := range order {
		if !r.v.tick() {
			return nil
		}
		w := gramWriter{seed: seed}
		var hashes []uint64
		known := 0
		w.words(plainOf(r.pieces[i].html), func(h uint64) bool {
			if _, ok := said[h]; ok {
				known++
			}
			hashes = append(hashes, h)
			return len(hashes) < maxGrams
		})
		if len(hashes) == 0 || known*10 >= len(hashes)*6 {
			if len(hashes) > 0 {
				continue
			}
		}
		keep[i] = true
		if len(said) < 10*maxGrams {
			for _, h := range hashes {
				said[h] = struct{}{}
			}
		}
	}
	var out []piece
	for i, p := range r.pieces {
		if keep[i] {
			out = append(out, p)
		}
	}
	return out
}

// isOwn says whether a frame's object is the one that the page is about: by
// its title, or by the last part of the page's address.
func (r *reader) isOwn(i int32, who identity) bool {
	f := &r.frames[i]
	if f.value < 0 || r.v.list[f.value].kind != valueObject {
		return false
	}
	if t := letters(f.title); len(t) >= 4 {
		for _, title := range who.titles {
			if title == t || len(t) >= 12 && strings.Contains(title, t) || len(title) >= 12 && strings.Contains(t, title) {
				return true
			}
		}
	}
	if len(who.slug) < 4 {
		return false
	}
	at := r.v.get(f.value, "slug", "url", "path", "permalink", "canonicalUrl", "canonical_url", "uri", "href", "link", "id", "_id")
	if r.v.kind(at) == valueObject {
		at = r.v.get(at, "current", "slug", "url") // Sanity
	}
	s := strings.ToLower(strings.Trim(r.v.numberText(at), "/"))
	return s != "" && len(s) < 2048 && s[strings.LastIndexByte(s, '/')+1:] == who.slug
}

// owner finds the object that most of the prose stands in.
func (r *reader) owner() int32 {
	frames := r.frames
	i := int32(0)
	for {
		best := int32(-1)
		for j := i + 1; j < frames[i].end; j = frames[j].end {
			if best < 0 || frames[j].total > frames[best].total {
				best = j
			}
		}
		if best < 0 || frames[best].total*3 < frames[i].total*2 {
			break
		}
		i = best
	}
	// The object with a title around it, and where that is a part of a page the
	// page.
	for n := 0; n < 12 && i > 0; n++ {
		up := frames[i].up
		switch {
		case up <= 0:
			return i
		case frames[i].title == "" && r.titledAbove(i, 5):
			i = up
		case r.isPart(i) && r.titledAbove(i, 4):
			i = up
		default:
			return i
		}
	}
	return i
}

// titledAbove says whether an object with a title stands close above.
func (r *reader) titledAbove(i int32, levels int) bool {
	for range levels {
		if i = r.frames[i].up; i <= 0 {
			return false
		}
		if r.frames[i].title != "" {
			return true
		}
	}
	return false
}

// isPart says whether a frame is a member of a list whose members are parts of
// one thing.
func (r *reader) isPart(i int32) bool {
	f := &r.frames[i]
	return f.up > 0 && r.v.list[r.frames[f.up].value].kind == valueArray && blockKey(f.key)
}

// collect writes the pieces inside a frame in their order, those of a part
// with a title of its own under that.
func (r *reader) collect(f *found, owner int32, pieces []piece, thread bool) {
	strong, rest := false, 0
	for _, p := range pieces {
		if r.inside(p.frame, owner) {
			strong = strong || p.trust > trustLow
			if !p.reader {
				rest += p.size
			}
		}
	}
	// What readers wrote is no part of an article, as everywhere.
	readers := thread || rest < leastContent
	last := owner
	total := 0
	for _, p := range pieces {
		if !r.inside(p.frame, owner) || strong && p.trust == trustLow && p.frame != owner || p.reader && !readers {
			continue
		}
		at := r.titled(p.frame, owner)
		if at != last && at != owner {
			level := 2
			for up := r.titled(r.frames[at].up, owner); up != owner && level < 4; up = r.titled(r.frames[up].up, owner) {
				level++
			}
			if t := r.frames[at].title; t != "" && letters(t) != letters(f.title) && !strings.HasPrefix(letters(plainOf(p.html[:min(len(p.html), 1000)])), letters(t)) {
				tag := "h" + strconv.Itoa(level)
				f.add("<" + tag + ">" + html.EscapeString(t) + "</" + tag + ">")
			}
		}
		last = at
		f.add(p.html)
		f.size += p.size
		total += len(p.html)
		if total > maxEmbedded {
			f.cut = true
			break
		}
	}
}

func (r *reader) inside(i, top int32) bool { return i >= top && i < r.frames[top].end }

// titled gives the innermost frame with a title from i upwards, owner at most.
func (r *reader) titled(i, owner int32) int32 {
	for i > owner && r.frames[i].title == "" {
		i = r.frames[i].up
	}
	return max(i, owner)
}

// describe reads what the owner of the prose says of itself.
func (r *reader) describe(f *found, owner int32) {
	n := 0
	for i := owner; i > 0 && n < 4; i = r.frames[i].up {
		n++
		v := r.frames[i].value
		if r.v.list[v].kind != valueObject {
			continue
		}
		if len(f.author) == 0 {
			f.author = r.people(r.v.get(v, "author", "authors", "byline", "creator", "writer", "writers", "contributors", "postedBy", "user", "owner", "authorName", "author_name"), 0)
		}
		if f.date == "" {
			f.date = r.date(r.v.get(v, "datePublished", "publishedAt", "published_at", "firstPublishedAt", "first_published_at", "publishDate", "publish_date", "publicationDate", "publication_date", "published",
				"publishedDate", "published_date", "pubDate", "publishedOn", "date", "dateTime", "createdAt", "created_at", "created", "dateCreated", "_createdAt", "date_gmt", "display_date", "first_publish_date"))
		}
		if f.about == "" {
			if s := r.v.text(r.v.get(v, "metaDescription", "seoDescription", "description", "excerpt", "summary", "standfirst", "subtitle")); len(s) < 10*maxDescription {
				f.about = s
			}
		}
		if f.lang == "" {
			if s := r.v.text(r.v.get(v, "inLanguage", "language", "locale", "lang")); len(s) < 36 {
				f.lang = s
			}
		}
		if f.title != "" && len(f.author) > 0 && f.date != "" {
			return
		}
	}
}
