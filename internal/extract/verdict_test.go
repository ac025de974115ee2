package extract

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"sift.build/sift/internal/sift"
)

// A specimen is one page and what is to be said of it. The pages are made up
// after the kinds that sites send.
type specimen struct {
	name   string
	page   string
	status int
	url    string // where it came from; default https://a.example/report/q3
	asked  string // default: url
	typ    string // default text/html
	want   sift.WarningCode
	hint   sift.Hint
	says   string // in the message, in small letters
}

func (s *specimen) input() Input {
	in := Input{Body: []byte(s.page), Status: s.status, URL: s.url, Asked: s.asked, ContentType: s.typ}
	if in.URL == "" {
		in.URL = "https://a.example/report/q3"
	}
	if in.Asked == "" {
		in.Asked = in.URL
	}
	if in.ContentType == "" {
		in.ContentType = "text/html; charset=utf-8"
	}
	return in
}

// verdicts gives those of the codes of success that isn't that a document has.
func verdicts(doc *sift.Document) (out []sift.Warning) {
	for _, w := range doc.Warnings {
		switch w.Code {
		case sift.WarnChallenge, sift.WarnConsent, sift.WarnLogin, sift.WarnJSShell, sift.WarnSoft404, sift.WarnEmpty:
			out = append(out, w)
		default:
		}
	}
	return out
}

func head(title, rest string) string {
	return `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>` + title + `</title>` + rest + `</head>`
}

const siteMenu = `<header class="site-header"><a href="/">Acme</a><nav><ul><li><a href="/products">Products</a></li><li><a href="/prices">Prices</a></li>` +
	`<li><a href="/blog">Blog</a></li><li><a href="/support">Support</a></li></ul></nav></header>`

const siteFoot = `<footer><p>© 2026 Acme Ltd. All rights reserved.</p><a href="/imprint">Imprint</a> <a href="/privacy">Privacy</a></footer>`

const banner = `<div id="cookie-banner" class="cookie-consent" role="dialog"><p>We and our partners use cookies to personalise content and ads. You can accept all cookies or manage your choices.</p>` +
	`<button>Accept all</button><button>Reject all</button></div>`

// walls are pages that stand in the place of another.
var walls = []specimen{
	// Bot checks.
	{
		name: "Cloudflare's managed challenge", status: 200,
		page: head("Just a moment...", `<meta http-equiv="refresh" content="390">`) + `<body><div class="main-wrapper" role="main"><div class="main-content"><noscript><div class="h2"><span id="challenge-error-text">Enable JavaScript and cookies to continue</span></div></noscript></div></div><script>(function(){window._cf_chl_opt = {cvId: '3',cZone: 'a.example',cType: 'managed',cRay: '8f0'};var a = document.createElement('script');a.src = '/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1?ray=8f0';document.getElementsByTagName('head')[0].appendChild(a);}());</script></body></html>`,
		want: sift.WarnChallenge, hint: sift.HintBrowser, says: "captcha",
	},
	{
		name: "a challenge in other words", page: head("One moment, please", `<meta name="robots" content="noindex,nofollow">`) + `<body><div class="main-wrapper"><h2>We are making sure your connection is safe</h2><p>This takes a few seconds and then you will be sent on.</p></div><script src="/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1?ray=0"></script></body></html>`,
		want: sift.WarnChallenge, hint: sift.HintBrowser, says: "bot check",
	},
	{
		name: "the same in German, with 503", status: 503, page: head("Einen Moment bitte", "") + `<body><h1>a.example</h1><p>Wir überprüfen, ob Ihr Browser sicher ist. Das dauert einige Sekunden.</p><script>window._cf_chl_opt={}</script></body>`,
		want: sift.WarnChallenge,
	},
	{
		name: "DataDome", status: 403, page: head("a.example", "<style>#cmsg{animation: A 1.5s;}</style>") + `<body style="margin:0"><p id="cmsg">Please enable JS and disable any ad blocker</p><script data-cfasync="false">var dd={'rt':'c','cid':'AHrlq','hsh':'2211','t':'bv','s':1,'host':'geo.captcha-delivery.example'}</script><script data-cfasync="false" src="https://ct.captcha-delivery.example/c.js"></script></body></html>`,
		want: sift.WarnChallenge,
	},
	{
		name: "PerimeterX", status: 403, page: head("Access to this page has been denied.", "") + `<body><section class="container"><div class="customer-logo-wrapper"><img class="customer-logo" src="/logo.png" alt="Logo"></div><div class="page-title-wrapper"><h1>Please verify you are a human</h1></div><p>Access to this page has been denied because we believe you are using automation tools to browse the website.</p><ul><li>Javascript is disabled or blocked by an extension (ad blockers for example)</li><li>Your browser does not support cookies</li></ul><p>Reference ID: #e2b0a3c0</p><div id="px-captcha"></div></section><script>window._pxVid='';window._pxUuid='e2b0';window._pxAppId='PX1';</script><script src="/xhfk/captcha/captcha.js?a=c"></script></body></html>`,
		want: sift.WarnChallenge,
	},
	{
		name: "press and hold", page: head("Robot or human?", "") + `<body><div id="topmessage"><h1>Robot or human?</h1><p>Activate and hold the button to confirm that you're human. Thank You!</p><div id="px-captcha"></div></div></body>`,
		want: sift.WarnChallenge,
	},
	{
		name: "Akamai refuses", status: 403, page: `<HTML><HEAD><TITLE>Access Denied</TITLE></HEAD><BODY><H1>Access Denied</H1> You don't have permission to access "http&#58;&#47;&#47;a&#46;example&#47;" on this server.<P>Reference&#32;&#35;18&#46;2d351ab8&#46;1557333295&#46;a4e16ab<P>https&#58;&#47;&#47;errors&#46;edgesuite&#46;example&#47;18&#46;2d351ab8</BODY></HTML>`,
		want: sift.WarnChallenge, says: "bot check",
	},
	{
		name: "the same with 200", status: 200, page: `<HTML><HEAD><TITLE>Access Denied</TITLE></HEAD><BODY><H1>Access Denied</H1> You don't have permission to access "http://a.example/" on this server.<P>Reference #18.2d351ab8.1557333295.a4e16ab</BODY></HTML>`,
		want: sift.WarnChallenge,
	},
	{
		name: "Akamai's interstitial", page: `<html><head><meta http-equiv="refresh" content="5; URL='/report/q3?bm-verify=AAQAAAAJ'"/><title>&nbsp;</title></head><body><script>var i = 1670; var j = i + Number("1" + "88"); var xhr = new XMLHttpRequest(); xhr.open("POST", "/_sec/verify?provider=interstitial", false);</script><noscript><img src="/akam/13/pixel"></noscript></body></html>`,
		want: sift.WarnChallenge,
	},
	{
		name: "Incapsula's frame", page: `<html style="height:100%"><head><META NAME="ROBOTS" CONTENT="NOINDEX, NOFOLLOW"><meta name="format-detection" content="telephone=no"><script type="text/javascript" src="/_Incapsula_Resource?SWJIYLWA=719d34d31c8e3a6e6fffd425f7e032f3"></script></head><body style="margin:0px;height:100%"><iframe id="main-iframe" src="/_Incapsula_Resource?SWUDNSAI=31&xinfo=9-12&incident_id=123000-456&edet=12&cinfo=04" frameborder=0 width="100%" height="100%">Request unsuccessful. Incapsula incident ID: 123000-456</iframe></body></html>`,
		want: sift.WarnChallenge,
	},
	{
		name: "pardon our interruption", page: head("Pardon Our Interruption", `<meta name="robots" content="noindex">`) + `<body><h1>Pardon Our Interruption</h1><p>As you were browsing something about your browser made us think you were a bot. There are a few reasons this might happen:</p><ul><li>You've disabled JavaScript in your web browser.</li><li>You're a power user moving through this website with super-human speed.</li><li>You've disabled cookies in your web browser.</li></ul><p>To regain access, please make sure that cookies and JavaScript are enabled before reloading the page.</p></body>`,
		want: sift.WarnChallenge,
	},
	{
		name: "AWS WAF with 202", status: 202, page: `<!DOCTYPE html><html><head><title></title><script src="https://t.token.awswaf.example/challenge.js"></script></head><body><div id="challenge-container"></div><script>AwsWafIntegration.getToken()</script></body></html>`,
		want: sift.WarnChallenge,
	},
	{
		name: "AWS WAF's captcha", status: 405, page: head("Human Verification", `<script>window.gokuProps = {"key":"AQ","iv":"C"};</script><script src="https://x.edge.captcha.awswaf.example/captcha.js"></script>`) + `<body><div id="captcha-container"></div><noscript><h1>JavaScript is disabled</h1>In order to continue, we need to verify that you're not a robot. This requires JavaScript. Enable JavaScript and then reload the page.</noscript></body>`,
		want: sift.WarnChallenge,
	},
	{
		name: "Sucuri's redirect", page: `<html><title>You are being redirected...</title><noscript>Javascript is required. Please enable javascript before you are allowed to see this page.</noscript><script>var s={},u,c,U,r,i,l=0,a,e=eval,w=String.fromCharCode,sucuri_cloudproxy_js='',S='cz0i';L=S.length;</script></html>`,
		want: sift.WarnChallenge,
	},
	{
		name: "Sucuri's firewall", status: 403, page: head("Sucuri WebSite Firewall - Access Denied", `<link rel="stylesheet" href="https://cdn.sucuri.example/sucuri-firewall-block.css">`) + `<body><h1>Sucuri Website Firewall - Access Denied</h1><p>If you are the site owner (or you manage this site), please whitelist your IP.</p><table><tr><td>Your IP:</td><td>192.0.2.7</td></tr><tr><td>Block ID:</td><td>BNP010</td></tr></table></body>`,
		want: sift.WarnChallenge,
	},
	{
		name: "DDoS-Guard", status: 403, page: head("DDoS-Guard", "") + `<body><div id="title-text">Checking your browser before accessing a.example</div><p>Please wait a few seconds. Once this check is complete, the website will open automatically</p><script src="/.well-known/ddos-guard/js-challenge/index.js"></script></body>`,
		want: sift.WarnChallenge,
	},
	{
		name: "Kasada", status: 429, page: `<!DOCTYPE html><html><head></head><body><script>window.KPSDK={};KPSDK.now=typeof performance!=='undefined'&&performance.now?performance.now.bind(performance):Date.now.bind(Date);KPSDK.start=KPSDK.now();</script><script src="/149e9513-01fa-4fb0-aad4-566afd725d1b/2d206a39-8ed7-437e-a3be-862e0f06eea3/ips.js?KP_UIDz=0"></script></body></html>`,
		want: sift.WarnChallenge,
	},
	{
		name: "F5 refuses", page: `<html><head><title>Request Rejected</title></head><body>The requested URL was rejected. Please consult with your administrator.<br><br>Your support ID is: 10277304526912<br><br><a href='javascript:history.back();'>[Go Back]</a></body></html>`,
		want: sift.WarnChallenge,
	},
	{
		name: "F5's script", page: `<html><head><meta http-equiv="Pragma" content="no-cache"/><script type="text/javascript">(function(){window.bobcmn="101111101010102000000";})();</script><script type="text/javascript" src="/TSPD/08e8?type=9"></script><noscript>Please enable JavaScript to view the page content.<br/>Your support ID is: 102773</noscript></head><body></body></html>`,
		want: sift.WarnChallenge,
	},
	{
		name: "Anubis", page: head("Making sure you&#39;re not a bot!", `<link rel="stylesheet" href="/.within.website/x/xess/xess.min.css"><script id="anubis_challenge" type="application/json">{"rules":{"difficulty":4}}</script>`) + `<body id="top"><main><h1 id="title" class="centered-div">Making sure you&#39;re not a bot!</h1><div class="centered-div"><img id="image" src="/.within.website/x/cmd/anubis/static/img/pensive.webp"><p id="status">Loading...</p><script async type="module" src="/.within.website/x/cmd/anubis/static/js/main.mjs"></script><details><summary>Why am I seeing this?</summary><p>You are seeing this because the administrator of this website has set up Anubis to protect the server against the scourge of AI companies aggressively scraping websites. This can and does cause downtime for the websites, which makes their resources inaccessible for everyone.</p><p>Anubis is a compromise. Anubis uses a Proof-of-Work scheme in the vein of Hashcash, a proposed proof-of-work scheme for reducing email spam.</p></details></div></main><footer><p>Protected by Anubis from Techaro.</p></footer></body>`,
		want: sift.WarnChallenge,
	},
	{
		name: "an hCaptcha interstitial", page: head("a.example", `<script src="https://js.hcaptcha.example/1/api.js" async></script>`) + `<body><h2>Human check</h2><p>Please complete the security check to access a.example</p><form method="post" action="/verify"><div class="h-captcha" data-sitekey="x"></div><button>Submit</button></form></body>`,
		want: sift.WarnChallenge,
	},
	{
		name: "unusual traffic", status: 429, url: "https://search.example/sorry/index?continue=https://search.example/search%3Fq%3Dsift&q=EgQ", asked: "https://search.example/search?q=sift",
		page: `<html><head><meta http-equiv="content-type" content="text/html; charset=utf-8"><title>https://search.example/search?q=sift</title></head><body><div><form id="captcha-form" action="index" method="post"><noscript>In order to continue, please enable javascript on your web browser.</noscript><script src="https://www.google.example/recaptcha/enterprise.js" async defer></script><div id="recaptcha" class="g-recaptcha" data-sitekey="6L"></div></form><hr><b>About this page</b><br><br>Our systems have detected unusual traffic from your computer network. This page checks to see if it's really you sending the requests, and not a robot. <a href="#">Why did this happen?</a><br><br>IP address: 192.0.2.7<br>Time: 2026-01-01</div></body></html>`,
		want: sift.WarnChallenge,
	},
	{
		name: "a captcha to type", page: head("Robot Check", "") + `<body><h4>Enter the characters you see below</h4><p>Sorry, we just need to make sure you're not a robot. For best results, please make sure your browser is accepting cookies.</p><form method="get" action="/errors/validateCaptcha"><input type="hidden" name="amzn" value="x"><h4>Type the characters you see in this image:</h4><img src="/captcha/x.jpg"><input name="field-keywords" type="text"><button>Continue shopping</button></form><a href="/conditions">Conditions of Use</a></body>`,
		want: sift.WarnChallenge,
	},
	{
		name: "a check in French", status: 403, page: head("Vérification de sécurité", "") + `<body><h1>Êtes-vous un robot ?</h1><p>Nous avons détecté un trafic inhabituel. Veuillez confirmer que vous êtes humain pour continuer.</p><div class="g-recaptcha"></div></body>`,
		want: sift.WarnChallenge,
	},
	{
		name: "a check in Spanish", page: head("Comprobación de seguridad", "") + `<body><h1>Verifique que es humano</h1><p>Estamos comprobando su navegador. Un momento, por favor.</p><script src="/challenge/v2.js"></script></body>`,
		want: sift.WarnChallenge,
	},
	{
		name: "a check in Russian", url: "https://ya.example/showcaptcha?retpath=https%3A%2F%2Fya.example%2Fsearch", asked: "https://ya.example/search?text=x",
		page: head("Вы не робот?", "") + `<body><h1>Подтвердите, что запросы отправляли вы, а не робот</h1><p>Нам очень жаль, но запросы с вашего устройства похожи на автоматические.</p><form action="/checkcaptcha"><div id="smart-captcha"></div></form></body>`,
		want: sift.WarnChallenge,
	},
	{
		name: "a check in Chinese", page: head("安全验证", "") + `<body><div id="captcha-box"></div><p>请完成安全验证后继续访问</p><p>访问过于频繁，请拖动滑块</p><script src="/static/captcha.js"></script></body>`,
		want: sift.WarnChallenge,
	},
	{
		name: "a check in Japanese", status: 403, page: head("確認", "") + `<body><h1>ロボットではないことを確認してください</h1><p>お使いのネットワークから通常と異なるトラフィックが検出されました。</p><div class="g-recaptcha"></div></body>`,
		want: sift.WarnChallenge,
	},
	{
		name: "a security checkpoint", status: 429, page: head("Acme Security Checkpoint", "") + `<body><div id="root"><p id="header-text">We're verifying your browser</p><a href="#">Website owner? Click here to fix</a></div><script src="/.well-known/security/static/challenge.v2.min.js"></script><noscript>Enable JavaScript to continue</noscript></body>`,
		want: sift.WarnChallenge,
	},
	{
		name: "a proof of work", page: head("Client Challenge", "") + `<body><noscript>JavaScript is disabled in your browser. Please enable JavaScript to proceed.</noscript><div id="loading-error">A required part of this site couldn’t load. This may be due to a browser extension, network issues, or browser settings.</div><script src="/_fs-ch-1T1wmsGaOgGaSxcX/script.js"></script></body>`,
		want: sift.WarnChallenge,
	},
	{
		name: "blocked by a firewall plugin", status: 503, page: head("Your access to this site has been limited by the site owner", "") + `<body><h1>Your access to this site has been limited by the site owner</h1><p>Your access to this service has been limited. (HTTP response code 503)</p><p>If you think you have been blocked in error, contact the owner of this site for assistance.</p><h2>Block Technical Data</h2><table><tr><td>Block Reason:</td><td>Access from your area has been temporarily limited for security reasons.</td></tr></table></body>`,
		want: sift.WarnChallenge,
	},
	{
		name: "blocked", status: 403, page: head("Attention Required! | Cloudflare", "") + `<body><div id="cf-wrapper"><div id="cf-error-details" class="cf-error-details-wrapper"><h1 data-translate="block_headline">Sorry, you have been blocked</h1><h2>You are unable to access a.example</h2><h2>Why have I been blocked?</h2><p>This website is using a security service to protect itself from online attacks. The action you just performed triggered the security solution. There are several actions that could trigger this block including submitting a certain word or phrase, a SQL command or malformed data.</p><h2>What can I do to resolve this?</h2><p>You can email the site owner to let them know you were blocked. Please include what you were doing when this page came up and the Ray ID found at the bottom of this page.</p><p>Ray ID: 8f0 · Your IP: 192.0.2.7 · Performance &amp; security by Cloudflare</p></div></div></body>`,
		want: sift.WarnChallenge,
	},

	// Consent walls.
	{
		name: "a consent page after a redirect", url: "https://consent.search.example/m?continue=https://search.example/x&gl=DE", asked: "https://search.example/x",
		page: head("Before you continue to Search", "") + `<body><h1>Before you continue to Search</h1><div>We use cookies and data to</div><ul><li>Deliver and maintain services</li><li>Track outages and protect against spam, fraud, and abuse</li></ul><div>If you choose to “Accept all,” we will also use cookies and data to</div><ul><li>Develop and improve new services</li><li>Deliver and measure the effectiveness of ads</li><li>Show personalized content, depending on your settings</li></ul><form action="/save" method="POST"><input type="submit" value="Reject all"><input type="submit" value="Accept all"></form><a href="#">More options</a></body>`,
		want: sift.WarnConsent, says: "consent",
	},
	{
		name: "a consent page in German at its own address", url: "https://consent.portal.example/v2/collectConsent?sessionId=3_cc", asked: "https://portal.example/nachrichten",
		page: head("Portal ist Teil der Acme Familie", "") + `<body><div class="con-wizard"><form method="post" class="consent-form"><h1>Willkommen bei der Acme Familie</h1><p>Wenn Sie auf „Alle akzeptieren“ klicken, verwenden wir und unsere 239 Partner Cookies und personenbezogene Daten, um personalisierte Werbung anzuzeigen.</p><p>Wenn Sie nicht möchten, dass wir und unsere Partner Cookies für diese zusätzlichen Zwecke verwenden, klicken Sie auf „Alle ablehnen“.</p><button type="submit" name="agree" value="agree">Alle akzeptieren</button><button type="submit" name="reject" value="reject">Alle ablehnen</button></form></div></body>`,
		want: sift.WarnConsent,
	},
	{
		name: "a cookie wall in place", page: head("Acme News", "") + `<body><main><h1>We value your privacy</h1><p>We and our 812 partners store and access information on your device, such as cookies, and process personal data for personalised advertising, ad measurement and audience research.</p><p>Please accept cookies to continue to Acme News.</p><button>I agree</button><button>Manage options</button></main></body>`,
		want: sift.WarnConsent, says: "cookies",
	},
	{
		name: "accept cookies to continue", page: head("Cookies", "") + `<body><p>Please accept cookies to continue.</p><form action="/cookie-consent" method="post"><button>Accept</button></form></body>`,
		want: sift.WarnConsent,
	},
	{
		name: "a cookie wall in French", page: head("Le Quotidien", `<script src="https://sdk.privacy-center.example/didomi/loader.js"></script>`) + `<body><div id="didomi-host" role="dialog"><h2>Nous respectons votre vie privée</h2><p>Avec votre accord, nos 200 partenaires et nous utilisons des cookies pour stocker et accéder à des données personnelles. Vous pouvez retirer votre consentement à tout moment.</p><button>Tout accepter</button><button>Continuer sans accepter</button></div></body>`,
		want: sift.WarnConsent,
	},
	{
		name: "a cookie wall in Dutch", page: head("Toestemming", "") + `<body><main><h1>Cookies op deze site</h1><p>Wij en onze partners gebruiken cookies om advertenties te tonen. Wij vragen uw toestemming.</p><button>Akkoord</button><a href="/instellingen">Instellingen</a></main></body>`,
		want: sift.WarnConsent,
	},

	// Login pages.
	{
		name: "a login page after a redirect", url: "https://a.example/login?next=/report/q3", asked: "https://a.example/report/q3",
		page: head("Sign in", "") + `<body><main><h1>Sign in</h1><form><label>User <input name=u></label><label>Password <input type=password name=p></label><button>Sign in</button></form></main></body>`,
		want: sift.WarnLogin, hint: sift.HintAuth, says: "login",
	},
	{
		name: "another host asks", url: "https://accounts.b.example/v3/signin/identifier?continue=https%3A%2F%2Fdocs.b.example%2Fd%2F1", asked: "https://docs.b.example/d/1",
		page: head("Sign in - B Accounts", "") + `<body><div role="main"><h1>Sign in</h1><p>Use your B Account</p><form><input type="email" name="identifier" aria-label="Email or phone"><button>Next</button></form><p>Not your computer? Use Guest mode to sign in privately.</p><a href="/signup">Create account</a></div></body>`,
		want: sift.WarnLogin,
	},
	{
		name: "buttons of other services only", url: "https://app.example/login?redirect=%2Fboards%2F7", asked: "https://app.example/boards/7",
		page: head("Log in · App", "") + `<body>` + siteMenu + `<main><h1>Log in to App</h1><a class="btn" href="/auth/google">Continue with Google</a><a class="btn" href="/auth/sso">Use single sign-on</a></main>` + siteFoot + `</body>`,
		want: sift.WarnLogin,
	},
	{
		name: "a login form in the place of the page", page: head("Anmelden – Intranet", "") + `<body><form action="/session" method="post"><h1>Anmelden</h1><label>Benutzername<input type="text" name="user"></label><label>Passwort<input type="password" name="pw"></label><button>Anmelden</button><a href="/vergessen">Passwort vergessen?</a></form></body>`,
		want: sift.WarnLogin,
	},
	{
		name: "a forum for members", page: head("Log in required", "") + `<body>` + siteMenu + `<div class="message">You must be logged in to view this topic.</div><form action="/ucp/login" method="post"><input type="text" name="username"><input type="password" name="password"><input type="checkbox" name="auto"> Remember me <input type="submit" value="Login"></form>` + siteFoot + `</body>`,
		want: sift.WarnLogin,
	},
	{
		name: "a login page in Japanese", url: "https://a.example/signin?return_to=%2Freport%2Fq3", asked: "https://a.example/report/q3",
		page: head("ログイン", "") + `<body><h1>ログイン</h1><form><input type="text" name="id"><input type="password" name="pw"><button>ログイン</button></form><a href="/reset">パスワードをお忘れの方</a></body>`,
		want: sift.WarnLogin,
	},
	{
		name: "a paywall and nothing else", page: head("Mill opens | The Daily", "") + `<body>` + siteMenu + `<main><h1>Mill opens</h1><div class="paywall"><p>This article is for subscribers only.</p><p>Subscribe to continue reading. Already a subscriber? Log in.</p><a href="/subscribe">Subscribe now</a></div></main>` + siteFoot + `</body>`,
		want: sift.WarnLogin, says: "paywall",
	},

	// Script shells.
	{
		name: "an empty root", page: head("Console", `<script defer src="/static/js/main.a81c.js"></script>`) + `<body><noscript>This application will not run until scripting is switched on.</noscript><div id="root"></div></body></html>`,
		want: sift.WarnJSShell, hint: sift.HintBrowser, says: "javascript",
	},
	{
		name: "create-react-app", page: head("React App", `<script defer="defer" src="/static/js/main.0e5c1e5f.js"></script><link href="/static/css/main.css" rel="stylesheet">`) + `<body><noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div></body></html>`,
		want: sift.WarnJSShell,
	},
	{
		name: "an article only in its data", page: head("Bridge reopens", `<script type="application/ld+json">{"@context":"https://schema.org","@type":"NewsArticle","headline":"Bridge reopens","articleBody":"The east bridge reopened at dawn after nine weeks of work. Cyclists crossed first, followed by the milk lorry."}</script><script src="/app.js" defer></script>`) + `<body><div id="app"></div></body></html>`,
		want: sift.WarnJSShell, hint: sift.HintRecover,
	},
	{
		name: "Vite", page: head("Vite App", `<script type="module" crossorigin src="/assets/index-4f2d.js"></script>`) + `<body><div id="app"></div></body></html>`,
		want: sift.WarnJSShell,
	},
	{
		name: "Angular", page: head("Shop", `<base href="/">`) + `<body><app-root></app-root><script src="runtime.7f.js" type="module"></script><script src="polyfills.js" type="module"></script><script src="main.1b.js" type="module"></script></body></html>`,
		want: sift.WarnJSShell,
	},
	{
		name: "Angular with a spinner", page: head("Shop", `<base href="/">`) + `<body><app-root><div class="spinner"><img src="/loader.gif" alt=""></div><p>Loading...</p></app-root><script src="main.js" type="module"></script></body></html>`,
		want: sift.WarnJSShell,
	},
	{
		name: "Flutter", page: head("flutter_app", `<meta name="description" content="A new Flutter project.">`) + `<body><script src="flutter_bootstrap.js" async></script></body></html>`,
		want: sift.WarnJSShell,
	},
	{
		name: "Blazor", page: head("BlazorApp", `<base href="/">`) + `<body><div id="app"><svg class="loading-progress"><circle r="40%"/></svg><div class="loading-progress-text"></div></div><div id="blazor-error-ui">An unhandled error has occurred. <a href="" class="reload">Reload</a> <a class="dismiss">🗙</a></div><script src="_framework/blazor.webassembly.js"></script></body></html>`,
		want: sift.WarnJSShell,
	},
	{
		name: "Next with nothing in it", page: head("Dash", "") + `<body><div id="__next"></div><script id="__NEXT_DATA__" type="application/json">{"props":{"pageProps":{}},"page":"/","query":{},"buildId":"x"}</script><script src="/_next/static/chunks/main.js" defer></script></body></html>`,
		want: sift.WarnJSShell,
	},
	{
		name: "Nuxt's loader", page: head("Nuxt", "") + `<body><div id="__nuxt"><style>.nuxt-loading{}</style><div id="nuxt-loading" role="status"><div>Loading...</div></div></div><script>window.__NUXT__={config:{}}</script><script src="/_nuxt/runtime.js" defer></script></body></html>`,
		want: sift.WarnJSShell,
	},
	{
		name: "a skeleton under the site's menu", page: head("Listing", "") + `<body>` + siteMenu + `<main><div id="listing-root"><div class="skeleton"></div><div class="skeleton"></div></div></main>` + siteFoot + `<script src="/assets/bundle.js"></script></body>`,
		want: sift.WarnJSShell,
	},
	{
		name: "a call for JavaScript in the page", page: head("Board", "") + `<body><div id="content">This page requires JavaScript. Please turn on JavaScript in your browser and reload the page.</div><script src="/main.js"></script></body>`,
		want: sift.WarnJSShell,
	},
	{
		name: "the same in German", page: head("Karte", "") + `<body><div id="map-app">Bitte aktivieren Sie JavaScript, um diese Seite zu nutzen.</div><script src="/karte.js"></script></body>`,
		want: sift.WarnJSShell,
	},
	{
		name: "a script that leads on", page: `<html><head></head><body><script>window.location.replace("/de/start")</script></body></html>`,
		want: sift.WarnJSShell,
	},
	{
		name: "loading in Chinese", page: head("首页", "") + `<body><div id="app">加载中...</div><script src="/js/chunk-vendors.8a.js"></script><script src="/js/app.77.js"></script></body>`,
		want: sift.WarnJSShell,
	},
	{
		name: "a root of any name", page: head("Portal", "") + `<body><div id="portal-view"></div><script type="module" src="/portal.mjs"></script></body>`,
		want: sift.WarnJSShell,
	},

	// Pages that are not there.
	{
		name: "not found", page: head("Page not found | Acme", "") + `<body><nav><a href='/'>Home</a></nav><main><h1>Page not found</h1><p>We could not find what you were looking for. It may have been moved.</p></main></body>`,
		want: sift.WarnSoft404, hint: sift.HintRecover, says: "not found",
	},
	{
		name: "a bare 404", page: `<html><head><title>404 Not Found</title></head><body><center><h1>404 Not Found</h1></center><hr><center>nginx</center></body></html>`,
		want: sift.WarnSoft404,
	},
	{
		name: "oops", page: head("Acme", "") + `<body class="error404">` + siteMenu + `<main><h1>Oops! That page can’t be found.</h1><p>It looks like nothing was found at this location. Maybe try one of the links below or a search?</p><form role="search"><input type="search" name="s"></form></main>` + siteFoot + `</body>`,
		want: sift.WarnSoft404,
	},
	{
		name: "a product that is gone", url: "https://shop.example/product/x9", page: head("Product not found – Shop", "") + `<body>` + siteMenu + `<main><h1>Sorry, this product could not be found</h1><p>It may have been removed from our range.</p><h2>You may also like</h2><ul><li><a href="/p/1">Garden chair, green</a> 49.00</li><li><a href="/p/2">Garden table, oak</a> 149.00</li><li><a href="/p/3">Parasol</a> 79.00</li></ul></main>` + siteFoot + `</body>`,
		want: sift.WarnSoft404,
	},
	{
		name: "Next's own", page: `<html><head><title>404: This page could not be found</title></head><body><div id="__next"><div><div><style>.x{}</style><h1 class="next-error-h1">404</h1><div><h2>This page could not be found.</h2></div></div></div></div><script src="/_next/static/chunks/main.js"></script></body></html>`,
		want: sift.WarnSoft404,
	},
	{
		name: "German", page: head("Seite nicht gefunden", "") + `<body><h1>Fehler 404</h1><p>Die gewünschte Seite existiert leider nicht. Bitte prüfen Sie die Adresse.</p><a href="/">Zur Startseite</a></body>`,
		want: sift.WarnSoft404,
	},
	{
		name: "French", page: head("Page introuvable - Mairie", "") + `<body><h1>Page introuvable</h1><p>La page que vous recherchez n’existe pas ou a été déplacée.</p></body>`,
		want: sift.WarnSoft404,
	},
	{
		name: "Spanish", page: head("Error 404", "") + `<body><h1>Página no encontrada</h1><p>Lo sentimos, la página que busca no existe.</p></body>`,
		want: sift.WarnSoft404,
	},
	{
		name: "Portuguese", page: head("Ops!", "") + `<body><h1>Ops! Página não encontrada</h1><p>O endereço digitado não existe.</p></body>`,
		want: sift.WarnSoft404,
	},
	{
		name: "Polish", page: head("Nie znaleziono strony", "") + `<body><h1>Nie znaleziono strony</h1><p>Strona, której szukasz, nie istnieje.</p></body>`,
		want: sift.WarnSoft404,
	},
	{
		name: "Russian", page: head("Страница не найдена", "") + `<body><h1>Ошибка 404</h1><p>К сожалению, запрашиваемая страница не существует или была удалена.</p></body>`,
		want: sift.WarnSoft404,
	},
	{
		name: "Japanese", page: head("ページが見つかりません", "") + `<body><h1>ページが見つかりません</h1><p>お探しのページは削除されたか、URLが変更された可能性があります。</p></body>`,
		want: sift.WarnSoft404,
	},
	{
		name: "Chinese", page: head("404", "") + `<body><h1>404</h1><p>抱歉，您访问的页面不存在</p><a href="/">返回首页</a></body>`,
		want: sift.WarnSoft404,
	},
	{
		name: "Korean", page: head("페이지를 찾을 수 없습니다", "") + `<body><h2>페이지를 찾을 수 없습니다.</h2><p>요청하신 페이지가 존재하지 않습니다.</p></body>`,
		want: sift.WarnSoft404,
	},
	{
		name: "sent to the page of errors", url: "https://a.example/404.html", asked: "https://a.example/report/q3", page: head("Acme", "") + `<body>` + siteMenu + `<p>Sorry, this page is no longer available.</p>` + siteFoot + `</body>`,
		want: sift.WarnSoft404,
	},
	{
		name: "maintenance", status: 200, page: head("Site under maintenance", "") + `<body><h1>We&rsquo;ll be back soon!</h1><p>Sorry for the inconvenience. We are currently down for maintenance and will be back online shortly.</p></body>`,
		want: sift.WarnSoft404, hint: sift.HintRetry, says: "maintenance",
	},

	// Nothing.
	{name: "no bytes", page: "", want: sift.WarnEmpty, hint: sift.HintRetry, says: "empty"},
	{name: "white space", page: " \r\n\t", want: sift.WarnEmpty},
	{name: "a body with nothing in it", page: "<html><head></head><body></body></html>", want: sift.WarnEmpty, says: "empty"},
}

func TestPagesThatStandInThePlaceOfAnotherAreTold(t *testing.T) {
	for _, s := range append(moreWalls(), walls...) {
		doc, err := Extract(context.Background(), s.input())
		if err != nil {
			t.Errorf("%s: %v", s.name, err)
			continue
		}
		got := verdicts(doc)
		if len(got) != 1 || got[0].Code != s.want {
			t.Errorf("%s: %v, want %s\n\t%s", s.name, got, s.want, explain(s.input()))
			continue
		}
		if s.hint != "" && doc.Hint != s.hint {
			t.Errorf("%s: hint %q, want %q", s.name, doc.Hint, s.hint)
		}
		if doc.Hint == "" {
			t.Errorf("%s: no hint", s.name)
		}
		if !strings.Contains(strings.ToLower(got[0].Message), s.says) {
			t.Errorf("%s: %q does not say %q", s.name, got[0].Message, s.says)
		}
	}
}

const fourLines = "<p>The side door opens with the year of the flood.</p><p>Turn the key twice, and mind the step.</p>"

// realPages are short pages, and pages that speak of what walls are made of.
var realPages = []specimen{
	{name: "it works", page: "<html><head><title>It works</title></head><body><h1>It works!</h1></body></html>"},
	{name: "sixteen words", page: head("Door code", "") + `<body><h1>Door code</h1><p>The side door opens with the year of the flood.</p></body>`},
	{name: "three lines", page: "<p>One.</p><p>Two.</p><p>Three.</p>"},
	{name: "a word", page: "ok"},
	{name: "a poem", page: head("The mill", "") + `<body><h1>The mill</h1><p>The wheel goes round,<br>the water sings,<br>and nobody is home.</p></body>`},
	{name: "a poem that is called not found", page: head("Not found", "") + `<body><h1>Not found</h1><p>I looked for you along the weir,<br>between the stones and in the reeds,<br>and all I heard was water, clear<br>as any answer that one needs.</p></body>`},
	{name: "a poem that asks", page: head("Are you human?", "") + `<body><h1>Are you human?</h1><p>asked the heron of the reed.<br>I bend, it said, and then I stand.<br>It is enough for what I need.</p></body>`},
	{name: "a song", page: head("Just a moment...", "") + `<body><h1>Just a moment...</h1><p>Just a moment, said the rain,<br>and fell upon the river plain.</p></body>`},
	{name: "a paragraph", page: head("Weir", "") + `<body><p>The lower weir was dry for the first time since spring. Records from the first decade are kept on paper.</p></body>`},
	{name: "a short page with a banner", page: head("Door code", "") + `<body>` + banner + `<h1>Door code</h1><p>The side door opens with the year of the flood.</p></body>`},
	{name: "it works with a banner", page: head("It works", "") + `<body><h1>It works!</h1>` + banner + `</body>`},
	{name: "a line with a banner", page: head("Hello", "") + `<body>` + banner + `<p>Hello world</p></body>`},
	{name: "an article about captchas", page: head("What is a CAPTCHA?", "") + `<body><h1>What is a CAPTCHA?</h1><p>A CAPTCHA is a test that tells people and robots apart. Sites ask visitors to verify that they are human before they may post.</p></body>`},
	{name: "help with a check that never ends", page: head("Stuck on “Checking your browser before accessing”", "") + `<body><h1>Stuck on “Checking your browser before accessing”</h1><p>Since Monday my reader only shows “Checking your browser before accessing” and “Just a moment”. Has anybody found a way around that? I have cleared the cookies and tried two other machines in the office, to no avail.</p><p>Set the clock of the machine, then it goes away.</p></body>`},
	{name: "a contact form with a captcha", page: head("Contact", `<script src="https://www.google.com/recaptcha/api.js" async></script>`) + `<body><h1>Contact</h1><form><label>Name<input name=n></label><label>Mail<input type=email name=m></label><textarea></textarea><p>Please confirm that you are not a robot.</p><div class='g-recaptcha'></div><button>Send</button></form></body>`},
	{name: "a short page behind a shield", page: head("Door code", "") + `<body><h1>Door code</h1>` + fourLines + `<script>(function(){window.__CF$cv$params={r:'8f0',t:'MTc='};var a=document.createElement('script');a.src='/cdn-cgi/challenge-platform/scripts/jsd/main.js';document.getElementsByTagName('head')[0].appendChild(a);})();</script></body>`},
	{name: "a short page watched by others", page: head("Door code", `<script src="https://js.datadome.co/tags.js"></script><script>window._pxAppId='PX1'</script><script src="//client.perimeterx.net/PX1/main.min.js"></script><script src="https://x.edge.sdk.awswaf.com/x/challenge.js" defer></script><script src="/_Incapsula_Resource?SWJIYLWA=719d"></script>`) + `<body><h1>Door code</h1>` + fourLines + `</body>`},
	{name: "a coding challenge", page: head("Challenge 7: prime numbers", "") + `<body id="challenge-page"><h1>Challenge 7: prime numbers</h1><div id="challenge"><p>Print the primes below one hundred.</p></div><script src="/js/challenge.js"></script></body>`},
	{name: "a recipe", page: head("Oat cookies", "") + `<body><h1>Oat cookies</h1><p>Mix 200 g of oats with butter and sugar. Bake the cookies for twelve minutes and accept no less.</p></body>`},
	{name: "a short cookie policy", url: "https://a.example/cookie-policy", page: head("Cookie policy", "") + `<body>` + banner + `<h1>Cookie policy</h1><p>We use cookies to remember your choices. You can accept or reject them, and withdraw your consent at any time.</p></body>`},
	{name: "an article about cookies", page: head("Third-party cookies are going", "") + `<body>` + banner + `<article><h1>Third-party cookies are going</h1><p>Browsers have begun to refuse cookies that other sites set. Publishers who live from personalised advertising have to find other ways, and consent banners may become rarer.</p></article></body>`},
	{name: "MDN", page: head("404 Not Found - HTTP | MDN", "") + `<body><main><h1>404 Not Found</h1><p>The HTTP 404 Not Found client error response status code indicates that the server cannot find the requested resource. Links that lead to a 404 page are often called broken or dead links.</p></main></body>`},
	{name: "a glossary", page: head("404 error | Glossary", "") + `<body><h1>404 error</h1><p>A message that a web server sends when a page was not found.</p></body>`},
	{name: "docs of an error", page: head("Error handling: page not found", "") + `<body><h1>Error handling: page not found</h1><p>Return NotFound from a handler to show the page not-found.tsx of the nearest route.</p><pre><code>return NotFound()</code></pre></body>`},
	{name: "how to make one", page: head("How to create a custom 404 page", "") + `<body><h1>How to create a custom 404 page</h1><p>Put a file 404.html at the root. Say that the page could not be found and link to the home page.</p></body>`},
	{name: "a car", page: head("Peugeot 404", "") + `<body><h1>Peugeot 404</h1><p>A large family car that was made from 1960 to 1975.</p></body>`},
	{name: "a room", page: head("Room 404", "") + `<body><h1>Room 404</h1><p>Seats twelve.</p></body>`},
	{name: "no hits", url: "https://a.example/search?q=heron", page: head("Search results for heron", "") + `<body><h1>Search results for heron</h1><p>No results found. We couldn't find any pages that match your search.</p></body>`},
	{name: "no hits in a shop", url: "https://a.example/catalog?q=heron", page: head("heron – Shop", "") + `<body><h1>Nothing found</h1><p>Sorry, we could not find what you are looking for. Try other words.</p></body>`},
	{name: "lost and found", page: head("Lost and found", "") + `<body><h1>Lost and found</h1><p>The article was not found in the hall. Ask at the desk.</p></body>`},
	{name: "news of a page", page: head("Missing page of the chronicle found", "") + `<body><h1>Missing page of the chronicle found</h1><p>The page that could not be found for ninety years lay in the mill.</p></body>`},
	{name: "a product that is sold out", page: head("Garden chair", "") + `<body><h1>Garden chair</h1><p>Green, oak. 49.00</p><p>This product is no longer available.</p></body>`},
	{name: "a login page that was asked for", url: "https://a.example/login", page: head("Sign in", "") + `<body><h1>Sign in</h1><form><input name=u><input type=password name=p><button>Sign in</button></form></body>`},
	{name: "the same, asked for under another path of its own", url: "https://a.example/de/login", asked: "https://a.example/login", page: head("Sign in", "") + `<body><h1>Sign in</h1><form><input name=u><input type=password name=p><button>Sign in</button></form></body>`},
	{name: "a page to register", url: "https://a.example/register", page: head("Create account", "") + `<body><h1>Create account</h1><form><input name=u><input type=password name=p><input type=password name=q><button>Sign up</button></form></body>`},
	{name: "a short page with a login box", page: head("Opening hours", "") + `<body><div class="login-box"><form action="/login"><input name=u><input type=password name=p><button>Log in</button></form></div><h1>Opening hours</h1><p>Monday to Friday from nine to five.</p></body>`},
	{name: "help with logging in", page: head("How to log in", "") + `<body><h1>How to log in</h1><p>Enter your user name and your password, then press “Sign in”. If you forgot your password, ask at the desk.</p></body>`},
	{name: "a real page after a redirect", url: "https://a.example/blog/login-news?next=1", asked: "https://a.example/b/1", page: head("A new login page", "") + `<body><article><h1>A new login page</h1><p>From Monday on you sign in with your library card. The old passwords go away, and nobody will miss them. Bring the card to the desk if it does not work, and we will print another one while you wait for it.</p><p>The reading room stays open meanwhile. Terminals one to four have been set up for the new cards already.</p></article></body>`},
	{name: "the first lines of an article", page: head("Mill opens", "") + `<body><article><h1>Mill opens</h1><p>The old mill turns again from Saturday. Volunteers have rebuilt the wheel from oak, and the millers of three villages have lent their stones. The first flour goes to the bakery by the bridge, which has promised rolls at the old price for a week.</p><p>Subscribe to continue reading.</p></article></body>`},
	{name: "an article about paywalls", page: head("Paywalls pay", "") + `<body><h1>Paywalls pay</h1><p>More readers subscribe to continue reading than publishers had hoped, a survey among eighty local papers shows.</p></body>`},
	{name: "a short page that an app has rendered", page: head("Door code", `<script type="module" src="/assets/index-4f2d.js"></script>`) + `<body><div id="root"><h1>Door code</h1><p>The side door opens with the year of the flood.</p></div><noscript>You need to enable JavaScript to run this app.</noscript></body>`},
	{name: "it works, rendered", page: head("It works", `<script defer src="/static/js/main.js"></script>`) + `<body><div id="root"><h1>It works!</h1></div></body>`},
	{name: "a page beside an empty root", page: head("Door code", "") + `<body><h1>Door code</h1>` + fourLines + `<div id="root"></div><script src="/chat/main.js"></script></body>`},
	{name: "a page with a noscript", page: head("Door code", "") + `<body><h1>Door code</h1><noscript>Please enable JavaScript for the map.</noscript><p>The side door opens with the year of the flood.</p><script src="/map.js"></script></body>`},
	{name: "an article about JavaScript", page: head("How to enable JavaScript", "") + `<body><h1>How to enable JavaScript</h1><p>Open the settings of your browser, look for scripts and turn them on. Most pages need it.</p><script src="/main.js"></script></body>`},
	{name: "a page of links", page: head("Links", "") + `<body><ul><li><a href="/a">One</a></li><li><a href="/b">Two</a></li><li><a href="/c">Three</a></li></ul><script src="/stats.js"></script></body>`},
	{name: "a picture", page: head("The mill", "") + `<body><img src="/mill.jpg" alt="The mill at dusk"><script src="/zoom.js"></script></body>`},
	{name: "a frame", page: head("Map", "") + `<body><iframe src="https://maps.example/embed?x=1" width="600" height="400"></iframe><script src="/s.js"></script></body>`},
	{name: "notice of works", page: head("Scheduled maintenance on Sunday", "") + `<body><h1>Scheduled maintenance on Sunday</h1><p>The catalogue will not be available on Sunday from six to nine because of maintenance.</p></body>`},
	{name: "a default page", page: head("Welcome to nginx!", "") + `<body><h1>Welcome to nginx!</h1><p>If you see this page, the nginx web server is successfully installed and working. Further configuration is required.</p></body>`},
	{name: "a parked domain", page: head("mill.example", "") + `<body><h1>mill.example</h1><p>This domain is for sale. Inquire now.</p></body>`},
	{name: "a status page", page: head("All systems operational", "") + `<body><h1>All systems operational</h1><ul><li>API: up</li><li>Login: up</li><li>Captcha service: up</li></ul></body>`},
	{name: "JSON that says it all", typ: "application/json", page: `{"error":"Just a moment... verify you are human","captcha":"captcha-delivery.com","login":"/login","code":404,"message":"Page not found"}`},
	{name: "JSON sent as HTML", page: `{"error":"Page not found","captcha":true}`},
	{name: "a text that says it all", typ: "text/plain", page: "Checking your browser before accessing. Please log in. Page not found (404). Enable JavaScript. Accept all cookies."},
	{name: "a requirements file", typ: "text/plain", page: "requests>=2.31,<3\nflask==3.0.2\n"},
	{name: "a long article under a captcha", page: head("Weir repair", `<script src="https://www.google.com/recaptcha/api.js" async></script>`) + "<body><article><h1>Weir repair</h1>" + strings.Repeat("<p>The pump station was rebuilt in stages so that water never stopped flowing to the valley. Each valve carries a brass tag with a number.</p>", 8) + "</article><form><textarea></textarea><div class='g-recaptcha'></div></form></body>"},
	{name: "the first line of a log", page: head("Access denied: a history", "") + `<body><h1>Access denied: a history</h1><p>For ninety years nobody but the miller had a key. Reference: mill archive, folder 18.</p></body>`},
	{name: "privacy", url: "https://a.example/datenschutz", page: head("Datenschutz", "") + `<body>` + banner + `<h1>Datenschutz</h1><p>Wir verwenden Cookies nur mit Ihrer Einwilligung. Personenbezogene Daten geben wir nicht an Partner weiter.</p></body>`},
}

func TestRealPagesAreNotTakenForWalls(t *testing.T) {
	for _, s := range append(moreRealPages(), realPages...) {
		doc, err := Extract(context.Background(), s.input())
		if err != nil {
			t.Errorf("%s: %v", s.name, err)
			continue
		}
		if got := verdicts(doc); len(got) != 0 || doc.Hint != "" {
			t.Errorf("%s: %v, hint %q\n\t%s", s.name, got, doc.Hint, explain(s.input()))
		}
		if Blank(doc) && !warned(doc, sift.WarnNoText) {
			t.Errorf("%s: is blank", s.name)
		}
		if code, message, _, ok := Wall(s.input()); ok {
			t.Errorf("%s: as the body of an error %s: %s", s.name, code, message)
		}
	}
}

// explain gives the scores of a page, for who looks after the tables.
func explain(in Input) string {
	b, err := open(context.Background(), in)
	if err != nil || b.kind != sift.KindHTML {
		return fmt.Sprint("no page: ", err)
	}
	return explainScores(b.text, in)
}
