package extract

import (
	"bytes"
	"strings"
)

// A mark is a name in scripts, ids, classes and addresses that says who made a
// page, or part of it.
type mark struct {
	kind  markKind
	maker string // for the message; "" where nobody is known by it
}

type markKind uint8

const (
	// markCheck is on pages that check for bots and on no others.
	markCheck markKind = iota + 1
	// markGuard is on pages that are guarded, the real ones too.
	markGuard
	// markCaptcha is a captcha to solve, wherever it stands.
	markCaptcha
	// markWidget is the place of one in the page.
	markWidget
	// markManager is of a manager of consent.
	markManager
	// markBundle is of a script that builds a page.
	markBundle
	// markStats is of a script that only counts visitors.
	markStats
	// markLoading is a class of what shows that something is being loaded.
	markLoading
	// markMissing is a class of pages that say that there is no page.
	markMissing
)

// markOf is the table of names: runs of small letters, digits, hyphens,
// underscores and dollar signs, as they stand in what scripts are called and
// what they say. Top-level domains are no part of them.
func markOf(name string) (m mark, ok bool) {
	switch name {
	case "challenge-running", "basedflare", "sgcaptcha", "sg-captcha", "bot-challenge", "checkboxcaptcha", "captcha-form":
		return mark{markCheck, ""}, true
	case "_cf_chl_opt", "chl_page", "challenge-error-text", "cf-challenge", "cf-challenge-running", "cf-please-wait", "cf_chl_prog",
		"jschl_vc", "jschl-answer", "cf_captcha_kind", "cf_chl_rc_m", "__cf_chl_tk", "__cf_chl_f_tk":
		return mark{markCheck, "Cloudflare"}, true
	case "captcha-delivery":
		return mark{markCheck, "DataDome"}, true
	case "px-captcha", "px-captcha-wrapper", "px-captcha-container", "_pxuuid":
		return mark{markCheck, "HUMAN"}, true
	case "bm-verify", "cp_challenge", "sec-if-cpt-container", "sec-cpt-if", "triggerinterstitialchallenge":
		return mark{markCheck, "Akamai"}, true
	case "swudnsai", "cwudnsai", "interstitial-inprogress", "reeseskipexpirationcheck", "distil_r_captcha",
		"distilidentificationblock", "onprotectioninitialized":
		return mark{markCheck, "Imperva"}, true
	case "gokuprops", "awswafcaptcha", "aws-waf-captcha":
		return mark{markCheck, "AWS WAF"}, true
	case "sucuri_cloudproxy_js", "sucuri-firewall-block":
		return mark{markCheck, "Sucuri"}, true
	case "ddg-captcha", "ddg-l10n-title":
		return mark{markCheck, "DDoS-Guard"}, true
	case "kp_uidz", "tkrm_alpekz_s1":
		return mark{markCheck, "Kasada"}, true
	case "bobcmn":
		return mark{markCheck, "F5"}, true
	case "anubis_challenge", "anubis_version", "anubis_base_prefix":
		return mark{markCheck, "Anubis"}, true
	case "afd_azwaf", "azwaf":
		return mark{markCheck, "Azure WAF"}, true
	case "__qrator", "qauth_utm":
		return mark{markCheck, "Qrator"}, true
	case "acw_sc__v2", "acw_sc__v3", "aliyun_waf_aa", "aliyun_waf_bb", "punish-component", "x5secdata", "_waf_is_mobile":
		return mark{markCheck, "Alibaba Cloud"}, true
	case "__tst_status", "eo_bot_ssid":
		return mark{markCheck, "Tencent EdgeOne"}, true
	case "wf-block":
		return mark{markCheck, "Wordfence"}, true
	case "challenge-container", "showcaptcha", "checkcaptcha", "validatecaptcha", "human-challenge", "humanchallenge", "challenge-form", "js-challenge", "botcheck", "bot-check", "go-away", "antibot", "anti-bot":
		return mark{markGuard, ""}, true
	case "cf-error-details", "challenge-platform":
		return mark{markGuard, "Cloudflare"}, true
	case "datadome":
		return mark{markGuard, "DataDome"}, true
	case "px-cdn", "px-cloud", "perimeterx", "_pxappid":
		return mark{markGuard, "HUMAN"}, true
	case "sec-container", "edgesuite", "akam":
		return mark{markGuard, "Akamai"}, true
	case "incident_id", "_incapsula_resource", "incapsula", "reese84":
		return mark{markGuard, "Imperva"}, true
	case "awswaf", "awswafintegration":
		return mark{markGuard, "AWS WAF"}, true
	case "sucuri":
		return mark{markGuard, "Sucuri"}, true
	case "kpsdk":
		return mark{markGuard, "Kasada"}, true
	case "ddos-guard":
		return mark{markGuard, "DDoS-Guard"}, true
	case "tspd", "tspd_101":
		return mark{markGuard, "F5"}, true
	case "anubis":
		return mark{markGuard, "Anubis"}, true
	case "wordfence":
		return mark{markGuard, "Wordfence"}, true
	case "captcha-container", "nocaptcha", "tencentcaptcha", "tcaptcha", "smartcaptcha", "recaptcha",
		"grecaptcha", "hcaptcha", "friendlycaptcha", "geetest", "funcaptcha", "arkoselabs":
		return mark{markCaptcha, ""}, true
	case "turnstile":
		return mark{markCaptcha, "Cloudflare"}, true
	case "onetrust", "otsdkstub", "didomi", "didomi-host", "usercentrics", "usercentrics-root", "sourcepoint", "sp_message", "sp-message",
		"privacy-mgmt", "quantcast", "cookiebot", "cybotcookiebotdialog", "consentmanager", "trustarc", "truste", "iubenda", "klaro",
		"axeptio", "fundingchoices", "fc-consent-root", "tarteaucitron", "cookieyes", "borlabs", "consent-form", "consent", "con-wizard",
		"cookie-consent", "cookieconsent", "cookie-wall", "cookiewall", "consent-wall", "consent-page", "cmp", "tcf", "tcfapi", "__tcfapi":
		return mark{markManager, ""}, true
	case "bundle", "main", "app", "runtime", "polyfills", "chunk", "chunks", "webpack", "chunk-vendors", "vendor", "vendors", "_next",
		"_nuxt", "flutter_bootstrap", "flutter", "_framework", "blazor", "__next_data__", "__nuxt__", "__initial_state__",
		"__vite_plugin_react_preamble_installed__", "unityloader", "ember":
		return mark{markBundle, ""}, true
	case "spinner", "loader", "loading", "preloader", "skeleton", "skeletons", "placeholder", "shimmer", "spinner-border", "lds-ring", "lds-ellipsis", "loading-spinner", "splash", "splash-screen",
		"page-loader", "app-loader", "app-loading", "placeholder-glow", "loading-indicator", "loading-screen":
		return mark{markLoading, ""}, true
	case "g-recaptcha", "h-captcha", "frc-captcha", "smart-captcha", "cf-turnstile", "mtcaptcha", "altcha-widget", "cap-widget":
		return mark{markWidget, ""}, true
	case "gtag", "gtm", "googletagmanager", "google-analytics", "googleanalyticsobject", "datalayer", "matomo", "piwik", "plausible",
		"cloudflareinsights", "fbevents", "hotjar", "adsbygoogle", "umami", "segment":
		return mark{markStats, ""}, true
	case "error404", "error-404", "page404", "page-404", "notfound", "not-found", "page-not-found", "pagenotfound", "error-page", "errorpage",
		"next-error-h1", "is-404", "template-404", "http-404", "status-404", "not_found":
		return mark{markMissing, ""}, true
	}
	if strings.HasPrefix(name, "_fs-ch-") || strings.HasPrefix(name, "__cf_chl_") || strings.HasPrefix(name, "cf-chl-") {
		return mark{markCheck, ""}, true
	}
	return mark{}, false
}

// longestMark is longer than any name in the table.
const longestMark = 48

// tally is what the marks of a page come to.
type tally struct {
	kinds   [markMissing + 1]int // how many different names of each kind
	maker   string               // of the surest bot check
	sure    markKind
	hint    bool // a script, an id or an address speaks of a captcha or challenge in a name of its own
	leads   bool // a script leads to another address
	bundles int  // scripts that are called as those that build pages are
	paints  int  // scripts that do more than count visitors
	works   bool // a script computes hashes, or has others work for it
}

// read tallies the marks of a page.
func (s *sight) read() *tally {
	t := &tally{}
	seen := make(map[string]bool)
	for _, src := range s.scripts {
		kinds := t.add(src, seen, true)
		if kinds&(1<<markStats) == 0 {
			t.paints++
		}
		if kinds&(1<<markBundle) != 0 {
			t.bundles++
		}
	}
	for _, name := range s.names {
		t.add(name, seen, true)
	}
	for _, body := range s.inline {
		if strings.Contains(body, "import(\"") || strings.Contains(body, "import('") {
			t.bundles++
		}
		t.works = t.works || strings.Contains(body, "new Worker(") || strings.Contains(body, "crypto.subtle.digest")
		kinds := t.add(body, seen, false)
		if kinds&(1<<markStats) == 0 {
			t.paints++
		}
		if strings.Contains(body, "location.replace(") || strings.Contains(body, "location.assign(") || strings.Contains(body, "location.href=") || strings.Contains(body, "location.href =") ||
			strings.Contains(body, "window.location=") || strings.Contains(body, "window.location =") || strings.Contains(body, "document.location=") || strings.Contains(body, "document.location =") || strings.Contains(body, "location.reload(") {
			t.leads = true
		}
	}
	return t
}

// add looks the names in a text up, and gives the kinds that it found as bits.
func (t *tally) add(s string, seen map[string]bool, named bool) (kinds uint) {
	var word [longestMark]byte
	n, long := 0, false
	end := func() {
		if n < 3 || long {
			n, long = 0, false
			return
		}
		w := word[:n]
		n = 0
		m, ok := markOf(string(w))
		if !ok {
			t.hint = t.hint || named && (bytes.Contains(w, []byte("captcha")) || bytes.HasPrefix(w, []byte("challenge")) || string(w) == "vcode")
			t.works = t.works || named && (string(w) == "pow" || string(w) == "proof-of-work" || string(w) == "proofofwork")
			return
		}
		kinds |= 1 << m.kind
		if seen[string(w)] {
			return
		}
		seen[string(w)] = true
		t.kinds[m.kind]++
		if m.maker != "" && (t.sure == 0 || m.kind < t.sure) {
			t.maker, t.sure = m.maker, m.kind
		}
	}
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= 'A' && c <= 'Z':
			c += 'a' - 'A'
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '_', c == '-', c == '$':
		default:
			end()
			continue
		}
		if n == len(word) {
			long = true
			continue
		}
		word[n] = c
		n++
	}
	end()
	return kinds
}
