package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
)

// Whatever a restricted caller does and whatever goes wrong with it, no byte
// of the log says what they read. Everything of theirs that may not appear
// holds one of these words.
const (
	secretHost  = "veiled"       // in host names
	secretPath  = "confidential" // in paths
	secretQuery = "token"        // in queries
)

func TestNothingThatARestrictedCallerReadsIsInTheLog(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"text", "json"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			site, dir := newSite(t), t.TempDir()
			settings := site.settings("[log]\nlevel = \"debug\"\nformat = \"" + format + "\"\n[fetch]\nmax_bytes = \"64KiB\"\n" +
				caller("hush", "restricted = true") + caller("plain"))
			s := serve(t, dir, nil, "--config", writeFile(t, dir, "sift.toml", settings))

			said := session(t, s, site, keyOf("hush"))
			if len(said) < 12 {
				t.Errorf("only these outcomes were seen, the session is not what it was: %v", said)
			}
			metrics := get(s.url + "/metrics")
			if metrics.status != 200 {
				t.Errorf("metrics: %+v", metrics)
			}
			s.stop(t)
			log := s.log.String()
			if n := strings.Count(log, "hush"); n < 20 {
				t.Errorf("the log has only %d lines about them:\n%s", n, log)
			}
			for where, text := range map[string]string{"the log": log, "the metrics": metrics.body, "standard output": s.out.String()} {
				for _, secret := range []string{secretHost, secretPath, secretQuery, "example.net", "10.0.0.7", "10.66.0.7", keyOf("hush")} {
					for line := range strings.Lines(text) {
						if strings.Contains(strings.ToLower(line), secret) {
							t.Errorf("%s tells %q: %s", where, secret, line)
						}
					}
				}
			}

			// The same session of another caller does appear, or this proves
			// nothing.
			s = serve(t, dir, nil, "--config", dir+"/sift.toml")
			session(t, s, site, keyOf("plain"))
			s.stop(t)
			for _, secret := range []string{secretHost, secretPath} {
				if !strings.Contains(s.log.String(), secret) {
					t.Errorf("nothing is logged of another caller either: %q", secret)
				}
			}
			if strings.Contains(s.log.String(), keyOf("plain")) {
				t.Error("a key is in the log")
			}
		})
	}
}

// session does what a caller may do, well and badly, and gives the outcomes:
// the statuses with the failure codes.
func session(t *testing.T, s *server, site *site, key string) map[string]int {
	t.Helper()
	_, port, _ := strings.Cut(site.addr, ":")
	at := func(host, path string) string {
		sep := "?"
		if strings.Contains(path, "?") {
			sep = "&"
		}
		return fmt.Sprintf("http://%s.%s:%s%s%s%s=1", secretHost+host, siteName, port, path, sep, secretQuery)
	}
	said := make(map[string]int)
	note := func(got reply) {
		t.Helper()
		if got.err != nil {
			t.Error(got.err)
			return
		}
		var f struct{ Code string }
		_ = json.Unmarshal([]byte(got.body), &f) // content alone is not JSON
		said[fmt.Sprint(got.status, " ", f.Code)]++
	}
	target := func(fields map[string]any) {
		t.Helper()
		b, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		note(ask(http.MethodPost, s.url+"/v1/fetch", key, string(b)))
	}

	page := at("", "/"+secretPath+"/page")
	urls := []string{
		page, page, // from the wire, from the cache
		at("", "/to?url="+url.QueryEscape(at("2", "/"+secretPath+"/moved"))),            // a redirect
		at("", "/to?url="+url.QueryEscape("http://10.66.0.7/"+secretPath)),              // into a private network
		at("", "/to?url="+url.QueryEscape("http://"+secretHost+".example.net:8080/")),   // to a closed port
		at("", "/to?url="+url.QueryEscape("http://"+secretHost+".nowhere.example.net")), // to no host
		"http://10.66.0.7/" + secretPath,
		"http://private.example.net/" + secretPath + "?" + secretQuery,
		"http://" + secretHost + ".nowhere.example.net/" + secretPath,
		"http://" + secretHost + ".example.net:8080/" + secretPath,
		"ftp://" + secretHost + ".example.net/" + secretPath,
		"http://user:" + secretQuery + "@" + secretHost + ".example.net/",
		"http://" + secretHost + ".example.net/%zz" + secretPath + "\x01",
		"http://" + secretHost + strings.Repeat("a", 300) + "/",
		secretHost + secretPath,
		"https" + strings.TrimPrefix(page, "http"), // no TLS there
		strings.Replace(page, port, "1", 1),
		at("", "/gone-page"), at("", "/broken"), at("", "/rude"), at("", "/picture"), at("", "/round"), at("", "/large"),
		at("", "/noise"), at("", "/cut"), at("", "/sjis"), at("", "/hidden"), at("", "/moved-by-meta"),
		at("3", "/unasked"), at("4", "/unasked"), at("5", "/unasked"), // on connections that nobody uses again
	}
	for _, u := range urls {
		target(map[string]any{"url": u})
	}
	for _, mode := range []string{"full", "text", "html", "raw", "links", "outline", secretPath} {
		target(map[string]any{"url": page, "mode": mode})
	}
	target(map[string]any{"url": page, "max_age": 0})
	target(map[string]any{"url": page, "offset": 1 << 20})
	target(map[string]any{"url": page, "snapshot": secretQuery})
	target(map[string]any{"url": at("", "/never"), "timeout": 0.05})
	target(map[string]any{"url": page, "question": secretQuery})
	target(map[string]any{"url": page, secretPath: secretQuery})
	target(map[string]any{secretPath: page})

	note(ask(http.MethodPost, s.url+"/v1/fetch", key, `{"url":"`+page+`"`))
	note(ask(http.MethodPost, s.url+"/v1/fetch?url="+url.QueryEscape(page), key, `{"url":"`+page+`"}`))
	// Refused before all of it has been sent, which not every client notices.
	if got := ask(http.MethodPost, s.url+"/v1/fetch", key, `{"url":"`+page+strings.Repeat("x", 70_000)+`"}`); got.err == nil {
		note(got)
	}
	get := s.url + "/v1/fetch?url=" + url.QueryEscape(page)
	note(ask(http.MethodGet, get, key, ""))
	note(ask(http.MethodHead, get, key, ""))
	note(ask(http.MethodDelete, get, key, ""))
	note(ask(http.MethodGet, get, key, "", "Accept", "text/markdown"))
	note(ask(http.MethodGet, get+";"+secretQuery, key, ""))
	note(ask(http.MethodGet, get+"&"+secretPath+"="+secretQuery, key, ""))
	note(ask(http.MethodGet, s.url+"/"+secretPath+"?"+secretQuery, key, ""))
	note(ask(http.MethodGet, s.url+"/"+secretPath+"/../v1/fetch?"+secretQuery, key, ""))
	note(ask(http.MethodGet, get, key+secretQuery, ""))
	note(ask(http.MethodGet, get, key, "", "Host", secretHost+".example.net", "Origin", "https://"+secretHost+".example.net"))
	note(ask(http.MethodGet, get, key, "", secretPath, strings.Repeat(secretQuery, 20_000)))

	// A host whose places are taken, and a caller who goes away.
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan error, 2)
	for i := range 2 {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/v1/fetch", strings.NewReader(fmt.Sprintf(`{"url":%q}`, at("", fmt.Sprintf("/held/%s%d", secretPath, i)))))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+key)
		go func() {
			resp, err := web.Do(r)
			if err == nil {
				resp.Body.Close()
			}
			left <- err
		}()
		receive(t, "a held request", site.arrived)
	}
	target(map[string]any{"url": at("", "/n/busy")})
	leave()
	for range 2 {
		if err := receive(t, "the end of a request that was left", left); err == nil {
			t.Error("a request that was left was answered")
		}
	}
	return said
}

// A library that prints to the standard logger prints past every level and
// redaction: net/http does, with bytes that a server sent.
func TestWhatAServerSendsUnaskedIsNotPrinted(t *testing.T) {
	t.Parallel()
	site, dir := newSite(t), t.TempDir()
	config := writeFile(t, dir, "sift.toml", site.settings(""))
	code, out, stderr := runSift(t, dir, nil, "fetch", "--config", config, site.URL+"/unasked?"+secretQuery, site.URL+"/article")
	if code != 0 || !strings.Contains(out, "hello") {
		t.Errorf("exit %d, %q", code, out)
	}
	if stderr != "" {
		t.Errorf("it printed %q", stderr)
	}
	if _, err := os.Stat(dir + "/state/sift.db"); err != nil {
		t.Error(err)
	}
}
