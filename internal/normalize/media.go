package normalize

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"sift.build/sift/internal/dom"
)

// img resolves an image to its real address. Spacers and counting pixels go; an
// image without an address is kept for its alt.
func (p *pass) img(n *html.Node) (*html.Node, bool) {
	src, alt := p.imageSource(n), ""
	var tiny [2]bool
	for i := range n.Attr {
		switch at := &n.Attr[i]; at.Key {
		case "alt":
			alt = p.line(cut(at.Val, attrMax))
		case "width":
			tiny[0] = isTiny(at.Val)
		case "height":
			tiny[1] = isTiny(at.Val)
		}
	}
	if tiny[0] || tiny[1] || src == "" && alt == "" || alt == "" && dom.HasAttr(n, "alt") && (ornament(dom.Attr(n, "class")) || bullet(src)) {
		return skip(n)
	}
	keep := n.Attr[:0]
	for _, at := range n.Attr {
		switch at.Key {
		case "id", "class", "itemprop":
			if len(at.Val) <= attrMax && at.Namespace == "" {
				keep = append(keep, at)
			}
		}
	}
	if src != "" {
		keep = append(keep, html.Attribute{Key: "src", Val: src})
	}
	n.Attr = append(keep, html.Attribute{Key: "alt", Val: alt})
	n.FirstChild, n.LastChild = nil, nil
	return n, false
}

// ornament says that a picture without a word for it is a face or a sign beside
// what is said.
func ornament(class string) bool {
	return eachToken(class, func(t string) bool {
		return hasWord(t, "avatar") || hasWord(t, "gravatar") || hasWord(t, "icon") || hasWord(t, "emblem") || hasWord(t, "spacer")
	})
}

// bullet says that the file of a picture is called what makers of layout tables
// called their dots and spacers.
func bullet(src string) bool {
	name := strings.ToLower(src[strings.LastIndexByte(src, '/')+1:])
	name, _, _ = strings.Cut(name, ".")
	switch name {
	case "dot", "bullet", "spacer", "space", "pixel", "blank", "clear", "trans", "transparent", "shim", "s", "arrow", "line", "1x1":
		return true
	}
	return false
}

// isTiny says that a width or height attribute is one pixel or none.
func isTiny(s string) bool {
	s = strings.TrimSuffix(strings.TrimSpace(s), "px")
	return s == "0" || s == "1"
}

// imageSource finds the real address of an image: what lazy loading has put
// aside, src, or the largest of a srcset; "" when there is none to show.
func (p *pass) imageSource(n *html.Node) string {
	var src, lazy, set, lazySet string
	rank := 99
	for i := range n.Attr {
		at := &n.Attr[i]
		k := -1
		switch at.Key {
		case "src":
			src = at.Val
		case "srcset":
			set = at.Val
		case "data-srcset", "data-lazy-srcset":
			lazySet = at.Val
		case "data-src":
			k = 0
		case "data-original":
			k = 1
		case "data-lazy-src":
			k = 2
		case "data-lazy":
			k = 3
		case "data-original-src", "data-orig-src", "data-actualsrc", "data-image-src", "data-hires", "data-li-src", "data-delayed-url", "data-url", "data-full-src", "data-source":
			k = 4
		}
		if k >= 0 && k < rank && looksLikeImage(at.Val) {
			rank, lazy = k, at.Val
		}
	}
	for _, s := range [...]string{lazy, largest(lazySet)} {
		if abs := p.image(s); abs != "" {
			return abs
		}
	}
	if !placeholder(src) {
		if abs := p.image(src); abs != "" {
			return abs
		}
	}
	if abs := p.image(largest(set)); abs != "" {
		return abs
	}
	if len(src) > 5 && strings.EqualFold(src[:5], "data:") {
		return ""
	}
	return p.image(src) // a placeholder is better than nothing
}

// picture gives an image that names no source of its own the first that the
// <picture> around it offers.
func picture(n *html.Node) {
	img := find(n, 32, func(c *html.Node) bool { return c.DataAtom == atom.Img })
	if img == nil || dom.HasAttr(img, "srcset") || dom.HasAttr(img, "data-src") || dom.HasAttr(img, "data-srcset") || !placeholder(dom.Attr(img, "src")) {
		return
	}
	for s := n.FirstChild; s != nil; s = s.NextSibling {
		if s.DataAtom != atom.Source {
			continue
		}
		for _, key := range [...]string{"srcset", "data-srcset"} {
			if set := dom.Attr(s, key); set != "" && !strings.HasPrefix(set, "data:") {
				img.Attr = append(img.Attr, html.Attribute{Key: "srcset", Val: set})
				return
			}
		}
	}
}

// image resolves the address of an image; "" when it is not http or https.
func (p *pass) image(src string) string {
	if src == "" {
		return ""
	}
	if src = strings.TrimSpace(src); src == "" || src[0] == '#' {
		return ""
	}
	abs, web := p.urls.resolve(src)
	if !web {
		return ""
	}
	return abs
}

// looksLikeImage says that the value of a data- attribute can be an address.
func looksLikeImage(s string) bool {
	s = strings.TrimSpace(s)
	return s != "" && !strings.ContainsAny(s, " {[<") && (strings.IndexByte(s, '.') >= 0 || strings.IndexByte(s, '/') >= 0)
}

// placeholder knows the names of pictures that stand in until the real one is
// loaded.
func placeholder(src string) bool {
	if src == "" || len(src) > 5 && strings.EqualFold(src[:5], "data:") || src == "about:blank" {
		return true
	}
	if len(src) > 512 {
		return false
	}
	name := src
	if i := strings.IndexAny(name, "?#"); i >= 0 {
		name = name[:i]
	}
	name = name[strings.LastIndexByte(name, '/')+1:]
	switch name {
	case "s.gif", "clear.gif", "spacer.gif", "blank.gif", "pixel.gif", "transparent.gif", "transparent.png", "1x1.gif", "1x1.png", "t.gif", "grey.gif", "dot.gif", "trans.gif":
		return true
	}
	return hasWord(name, "placeholder") || hasWord(name, "lazyload") || hasWord(name, "spacer") || hasWord(name, "loading.") || hasWord(name, "blank.") || hasWord(name, "1x1")
}

// largest gives the address with the greatest width or density in a srcset.
// Addresses may hold commas, so a candidate ends at a comma that white space
// follows, or that ends its descriptor.
func largest(set string) string {
	if len(set) > 64<<10 {
		return ""
	}
	best, size := "", -1.0
	for i := 0; i < len(set); {
		for i < len(set) && (isSpace(set[i]) || set[i] == ',') {
			i++
		}
		start := i
		for i < len(set) && !isSpace(set[i]) {
			i++
		}
		u := set[start:i]
		if u == "" {
			break
		}
		var descriptor string
		if strings.HasSuffix(u, ",") {
			u = strings.TrimRight(u, ",")
		} else {
			start = i
			for i < len(set) && set[i] != ',' {
				i++
			}
			descriptor = strings.TrimSpace(set[start:i])
		}
		w := 1.0
		if descriptor != "" {
			if v, err := strconv.ParseFloat(strings.TrimRight(descriptor, "wxh"), 64); err == nil {
				w = v
			}
		}
		if w > size && !strings.HasPrefix(u, "data:") {
			best, size = u, w
		}
	}
	return best
}

// media turns a video, an audio, a frame or an embedded object into a link to
// it.
func (p *pass) media(n *html.Node, a *attrs) (*html.Node, bool) {
	if isTiny(a.width) || isTiny(a.height) {
		return skip(n)
	}
	var src, title string
	for i := range n.Attr {
		switch at := &n.Attr[i]; at.Key {
		case "src", "data":
			src = at.Val
		case "data-src", "data-lazy-src":
			if src == "" || src == "about:blank" {
				src = at.Val
			}
		case "title":
			title = p.line(cut(at.Val, attrMax))
		}
	}
	kind := "Embedded page"
	switch n.DataAtom {
	case atom.Video:
		kind = "Video"
	case atom.Audio:
		kind = "Audio"
	case atom.Object, atom.Embed:
		kind = "Embedded file"
	}
	if src == "" {
		if s := find(n, 32, func(c *html.Node) bool { return c.DataAtom == atom.Source && dom.Attr(c, "src") != "" }); s != nil {
			src = dom.Attr(s, "src")
		}
	}
	abs, web := p.urls.resolve(src)
	if src == "" || !web {
		if n.DataAtom == atom.Object { // what it falls back to
			rename(n, atom.Div)
			n.Attr = keepAttr(p, n.Attr)
			return n, true
		}
		return skip(n)
	}
	if n.DataAtom == atom.Iframe && tracker(abs) {
		return skip(n)
	}
	if better, ok := watchPage(abs); ok {
		abs, kind = better, "Video"
	}
	if title == "" || tooVague(title) {
		title = p.line(a.label)
	}
	host := abs[strings.Index(abs, "//")+2:]
	if i := strings.IndexAny(host, "/?#"); i >= 0 {
		host = host[:i]
	}
	host = strings.TrimPrefix(host, "www.")
	label := kind + ": " + title
	if title == "" || tooVague(title) {
		label = kind + " at " + host
	}
	n.Attr = []html.Attribute{{Key: "href", Val: abs}}
	n.FirstChild, n.LastChild = nil, nil
	rename(n, atom.A)
	n.AppendChild(dom.Text(label))
	if p.urls.public && p.urls.private(abs) {
		setAttr(n, "data-private", "")
		p.res.PrivateLinks++
	}
	if up := n.Parent; up.DataAtom != atom.P && IsBlock(up) && n.DataAtom == atom.A {
		block := dom.Element(atom.P)
		replace(n, block)
		block.AppendChild(n)
		return block, false
	}
	return n, false
}

func tooVague(title string) bool {
	switch strings.ToLower(title) {
	case "youtube video player", "embedded content", "embedded video", "iframe", "video", "video player", "youtube", "vimeo", "audio", "embed", "youtube video":
		return true
	}
	return false
}

// watchPage gives the page on which people watch an embedded video.
func watchPage(abs string) (string, bool) {
	_, rest, _ := strings.Cut(abs, "://")
	host, path, _ := strings.Cut(rest, "/")
	host = strings.TrimPrefix(host, "www.")
	end := strings.IndexAny(path, "?&#")
	if end < 0 {
		end = len(path)
	}
	switch host {
	case "youtube.com", "youtube-nocookie.com", "m.youtube.com":
		if id, ok := strings.CutPrefix(path[:end], "embed/"); ok && id != "" && id != "videoseries" {
			return "https://www.youtube.com/watch?v=" + strings.TrimRight(id, "/"), true
		}
	case "player.vimeo.com":
		if id, ok := strings.CutPrefix(path[:end], "video/"); ok && id != "" {
			return "https://vimeo.com/" + strings.TrimRight(id, "/"), true
		}
	}
	return "", false
}

// tracker knows frames that are no content.
func tracker(abs string) bool {
	_, rest, _ := strings.Cut(abs, "://")
	host, _, _ := strings.Cut(rest, "/")
	for _, h := range [...]string{"googletagmanager.com", "doubleclick.net", "google.com/recaptcha", "recaptcha.net", "facebook.com/tr", "hotjar.com", "googlesyndication.com", "adnxs.com", "criteo.net"} {
		if host == h || strings.HasSuffix(host, "."+h) || strings.IndexByte(h, '/') > 0 && strings.Contains(rest, h) {
			return true
		}
	}
	return false
}

// amp turns AMP's elements into what they stand for.
func (p *pass) amp(n *html.Node, a *attrs) (*html.Node, bool) {
	switch n.Data {
	case "amp-img", "amp-anim":
		rename(n, atom.Img)
		return p.img(n)
	case "amp-iframe", "amp-video", "amp-audio":
		switch n.Data {
		case "amp-video":
			rename(n, atom.Video)
		case "amp-audio":
			rename(n, atom.Audio)
		default:
			rename(n, atom.Iframe)
		}
		return p.media(n, a)
	case "amp-youtube":
		if id := dom.Attr(n, "data-videoid"); id != "" {
			n.Attr = []html.Attribute{{Key: "src", Val: "https://www.youtube.com/embed/" + id}}
			rename(n, atom.Iframe)
			return p.media(n, a)
		}
		return skip(n)
	case "amp-ad", "amp-analytics", "amp-pixel", "amp-auto-ads", "amp-sticky-ad", "amp-consent", "amp-sidebar", "amp-user-notification":
		return skip(n)
	}
	n.Attr = keepAttr(p, n.Attr)
	return n, true
}
