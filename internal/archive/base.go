package archive

import (
	"errors"
	"net/url"
	"strings"
)

// entry is a URL of the archive's into which that of a page is put.
type entry struct {
	before, after string
	encoded       bool // percent-encoded, since it goes into a query
}

// of gives the URL to ask about a page. In a path the page's URL stands as it
// is, query and all, as in the examples of RFC 7089; in a query it has to be
// encoded.
func (e entry) of(page string) string {
	if e.encoded {
		page = url.QueryEscape(page)
	}
	return e.before + page + e.after
}

// doors are the ways into one archive. Those that are nil or "" it has not.
type doors struct {
	host         string // of the archive, for what is said of it
	secured      string // the host whose http links are followed by https; "": none
	timegate     *entry
	timemap      *entry
	availability string // the URL, without its query

	// otherwise are the ways in where these lead to nothing: what stands at a root
	// need not be laid out like the Wayback Machine.
	otherwise *doors
}

// placeholder stands in a configured URL where the page's goes.
const placeholder = "{url}"

// open reads what an operator configured:
//
//   - a root without a path (https://web.archive.org) is an archive laid out
//     like the Wayback Machine: TimeGate at /web/, TimeMap at
//     /web/timemap/link/, availability at /wayback/available; where nothing
//     is to be had there, like OpenWayback: /timegate/ and /timemap/link/
//   - a URL with a path segment “timemap” is a TimeMap's, without a TimeGate
//   - any other path is a TimeGate's
//
// The page's URL goes where {url} stands; without that, behind it all.
func open(base string) (doors, error) {
	before, after, placed := strings.Cut(base, placeholder)
	u, err := url.Parse(strings.ReplaceAll(base, placeholder, "x"))
	switch {
	case err != nil:
		return doors{}, errors.New("is not a URL")
	case u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "", u.Opaque != "":
		return doors{}, errors.New("is not an http or https URL")
	case u.User != nil:
		return doors{}, errors.New("has a user name or password in it")
	case strings.Contains(base, "#"):
		return doors{}, errors.New("has a fragment")
	case strings.Contains(after, placeholder):
		return doors{}, errors.New("has {url} in it twice")
	case placed && strings.Count(before, "/") < 3:
		return doors{}, errors.New("has {url} where its host should be")
	}
	d := doors{host: strings.ToLower(u.Hostname())}
	if u.Scheme == "https" && (u.Port() == "" || u.Port() == "443") {
		d.secured = d.host
	}
	path, query := u.EscapedPath(), strings.Contains(before, "?")
	if !placed && !query && strings.Trim(path, "/") == "" {
		d.wayback(u)
		return d, nil
	}
	if !placed && !query && !strings.HasSuffix(before, "/") {
		before += "/"
	}
	e := &entry{before: before, after: after, encoded: query}
	if strings.Contains(path+"/", "/timemap/") {
		d.timemap = e
		return d, nil
	}
	d.timegate = e
	if !placed && !query {
		// A TimeGate names its TimeMap in its Link header. This is for when
		// it does not answer: the layout of OpenWayback, ipwb, MemGator and
		// the aggregators, or else that of pywb.
		prefix, isGate := strings.CutSuffix(before, "/timegate/")
		if !isGate {
			prefix = strings.TrimSuffix(before, "/")
		}
		d.timemap = &entry{before: prefix + "/timemap/link/"}
	}
	return d, nil
}

// wayback fills in the layout of the Wayback Machine.
func (d *doors) wayback(u *url.URL) {
	web, available := u.Scheme+"://"+u.Host, u.Scheme+"://"+u.Host
	switch strings.ToLower(u.Host) {
	case "web.archive.org", "archive.org":
		// The Internet Archive's own interfaces are on two hosts
		// (https://archive.org/help/wayback_api.php).
		d.host = "web.archive.org"
		if d.secured != "" {
			d.secured = d.host
		}
		web, available = u.Scheme+"://web.archive.org", u.Scheme+"://archive.org"
	}
	d.timegate = &entry{before: web + "/web/"}
	d.timemap = &entry{before: web + "/web/timemap/link/"}
	d.availability = available + "/wayback/available"
	if d.host != "web.archive.org" {
		d.otherwise = &doors{
			host: d.host, secured: d.secured,
			timegate: &entry{before: web + "/timegate/"}, timemap: &entry{before: web + "/timemap/link/"},
		}
	}
}

// secure writes https where a link of an archive that is reached by https
// says http for the same host: the Internet Archive's own lists do.
func (d *doors) secure(link string) string {
	rest, ok := strings.CutPrefix(link, "http://")
	if !ok || d.secured == "" {
		return link
	}
	host, _, _ := strings.Cut(rest, "/")
	if strings.TrimSuffix(host, ":80") != d.secured {
		return link
	}
	return "https://" + d.secured + rest[len(host):]
}
