package fetch

import (
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"

	"golang.org/x/net/publicsuffix"
)

const (
	maxCookies     = 50       // that one chain of redirects may set
	maxCookieBytes = 16 << 10 // of names, values and attributes together
)

// cookies live for one chain of redirects and are forgotten with it. They
// exist because many a site sets one, redirects to the same page and serves
// it only when the cookie comes back.
type cookies struct {
	jar   *cookiejar.Jar // made when the first cookie comes
	count int
	bytes int
}

// set takes the cookies of an answer from u. What is over the bounds is
// dropped: the page may then not come, but nothing else happens.
func (c *cookies) set(u *url.URL, header http.Header) error {
	if len(header["Set-Cookie"]) == 0 {
		return nil
	}
	if c.jar == nil {
		jar, err := cookiejar.New(&cookiejar.Options{PublicSuffixList: publicsuffix.List})
		if err != nil {
			return fmt.Errorf("make the cookie jar: %w", err)
		}
		c.jar = jar
	}
	var keep []*http.Cookie
	for _, k := range (&http.Response{Header: header}).Cookies() {
		size := len(k.Raw)
		if c.count >= maxCookies || c.bytes+size > maxCookieBytes {
			continue
		}
		c.count++
		c.bytes += size
		keep = append(keep, k)
	}
	c.jar.SetCookies(u, keep)
	return nil
}

// header is the Cookie header for a request to u, "" for none.
func (c *cookies) header(u *url.URL) string {
	if c.jar == nil {
		return ""
	}
	var b strings.Builder
	for _, k := range c.jar.Cookies(u) {
		if b.Len() > 0 {
			b.WriteString("; ")
		}
		b.WriteString((&http.Cookie{Name: k.Name, Value: k.Value, Quoted: k.Quoted}).String())
	}
	return b.String()
}
