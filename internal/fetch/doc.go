// Package fetch makes one bounded GET request, with its redirects: the only
// client with which sift reaches out.
//
//	c := fetch.New(fetch.Config{Guard: g, MaxRedirects: 5, UserAgent: "sift/1 (+contact)"})
//	defer c.Close()
//	resp, err := c.Get(ctx, fetch.Request{URL: u})
//	if err != nil {
//		return err // a *sift.Failure
//	}
//	defer resp.Body.Close()
//
// Every connection goes through the guard, and so does every redirect, be it
// a Location, a Refresh header or a meta refresh. Nothing of the environment
// counts: no proxy, no credentials. Cookies live for one chain of redirects.
//
// What a server may cost is bounded in every direction: connecting, the TLS
// handshake, the headers, the body on the wire and after each decoding, its
// rate, and all of it together by one deadline. What is cut short is an error
// or is marked as partial, never passed off as whole.
package fetch
