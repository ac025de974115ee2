package extract

import (
	"net/url"
	"strings"
)

// about says what selection goes by.
func (m *metadata) about(address *url.URL) about {
	return about{thread: m.isThread(address), product: m.isProduct(), site: m.siteHeading}
}

// isProduct says whether the page offers one thing for sale.
func (m *metadata) isProduct() bool {
	if t := m.first("og:type"); t == "product" || t == "og:product" || t == "product.item" {
		return true
	}
	// An article about products carries their data too, beside its own.
	for _, t := range types(m.linked.main()) {
		if t == "Product" || t == "ProductGroup" {
			return true
		}
	}
	return false
}

// isThread says whether a page is one where readers write what it is about: a
// forum thread, a question with answers. What is an appendix elsewhere, its
// comments, is the content here.
func (m *metadata) isThread(address *url.URL) bool {
	for _, o := range m.linked.objects {
		for _, t := range types(o) {
			if t == "DiscussionForumPosting" || t == "QAPage" {
				return true
			}
		}
	}
	if m.thread {
		return true
	}
	switch engine, _, _ := strings.Cut(strings.ToLower(m.first("generator")), " "); engine {
	case "discourse", "xenforo", "phpbb", "vbulletin", "mybb", "flarum", "nodebb", "vanilla", "fluxbb", "smf":
		return true
	}
	return address != nil && threadPath(address)
}

// threadPath says whether an address has a part that forums have.
func threadPath(u *url.URL) bool {
	for part := range strings.FieldsFuncSeq(strings.ToLower(u.Path+"?"+u.RawQuery), func(r rune) bool {
		return r == '/' || r == '?' || r == '=' || r == '&' || r == '.'
	}) {
		switch part {
		case "forum", "forums", "thread", "threads", "topic", "viewtopic", "showthread", "question", "questions", "discussion", "discussions",
			"board", "boards", "comments", "community", "item":
			return true
		}
	}
	return false
}
