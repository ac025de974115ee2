// Package archive finds archived copies of pages, by the protocols that
// archives speak: Memento (RFC 7089) and the availability interface of the
// Internet Archive.
//
//	c, err := archive.New(archive.Config{Base: "https://web.archive.org", Get: get})
//	copy, err := c.Find(ctx, "http://a.example/page", archive.Wanted{NotBefore: minDate})
//	switch {
//	case errors.Is(err, archive.ErrNone):
//		// there is none; err says why in words
//	case err != nil:
//		return err // a *sift.Failure: the archive could not be asked
//	}
//	defer copy.Response.Body.Close()
//
// It reaches nothing by itself: every request goes through Config.Get, so that
// guard, gate and limits are the caller's. What an archive says is a
// stranger's word. A copy counts only with a date, for the very page that was
// asked for, and with what the page itself said: not an error or a redirect
// that was archived, and not the archive's own error page.
//
// Links in a copy that is the original's bytes are resolved against Copy.Base.
// Where an archive hands out rewritten pages only, Unrewrite undoes that.
package archive
