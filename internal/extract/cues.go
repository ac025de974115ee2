package extract

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// A cue is what a word or phrase of a page hints at. A sentence has the cues of
// all that it says; what counts is most often two of them together.
type cue uint64

const (
	cueThing    cue = 1 << iota // what can be missing: a page, an article
	cueNotFound                 // not found
	cueGone                     // removed, no longer available
	cue404                      // the number
	cueError                    // error, oops
	cueNoHits                   // of a search
	cueNoMore                   // no longer
	cueWhen                     // after, when: of what is told, not of a page that is not there
	cueAdvice                   // what pages that stand for others say to be polite

	cueBot      // a bot check, in so many words
	cueCheck    // verify, confirm, make sure
	cueChecking // that it is being done
	cueHuman    // human, robot
	cueMachine  // browser, connection
	cueGuard    // what titles of bot checks say
	cueBlocked  // access denied
	cueIncident // a number to quote to the administrator
	cueWait     // just a moment
	cueRate     // too many requests
	cueTask     // what a captcha shows: characters, a slider, a puzzle
	cueDo       // what is to be done with it: type, slide, solve
	cueWork     // a proof of work

	cueScripts // JavaScript
	cueTurnOn  // enable, needs, without
	cueLoading

	cueCookies
	cueAgree   // accept, reject, consent
	cuePrivacy // personal data
	cueAds     // partners, advertising
	cueGoOn    // before you continue
	cuePerson  // we, you

	cueLogin      // log in
	cueCredential // password, user name, register
	cueMustLogin  // you must be logged in
	cueMust       // must, has to
	cueMember     // members
	cueOnly       // only for
	cuePaywall    // for subscribers
	cueOffer      // what a subscription is praised with

	cueUpkeep // down for maintenance
	cueSite   // what can be down

	cueTeach     // speaks about such pages: how to
	cueManual    // documentation
	cueDescribes // status code, indicates
)

// cueWords is the table of words: phrases in small letters, divided by bars.
// Signs are left out of them as they are of the text, an apostrophe without a
// gap. A star at the end means any ending. Languages share a row: a sentence
// seldom has words of two.
//
//nolint:misspell // most of it is not English
var cueWords = [...]struct {
	cue   cue
	words string
}{
	{cueThing, "page|webpage|web page|resource|requested url|requested address|url|file|document|article|content|product|item|post|listing|profile|topic|thread|video|entry|job|offer|" +
		"what you were looking for|what you are looking for|what youre looking for|you requested|youve requested|you are looking for|youre looking for|you were looking for|you tried to|at this location|at this address|" +
		"seite*|inhalt|adresse|artikel|dokument|datei|produkt|beitrag|ressource|anzeige|" +
		"contenu|document|produit|fichier|annonce|" +
		"página|pagina|artículo|contenido|producto|recurso|documento|archivo|publicación|entrada|anuncio|publicação|anúncio|annuncio|pubblicazione|ogłoszeni*|wpis|enlace|dirección|artigo|conteúdo|produto|endereço|arquivo|articolo|contenuto|prodotto|risorsa|indirizzo|" +
		"strona|strony|artykuł*|zasób|zasobu|страниц*|материал|документ|товар|адрес|ресурс|файл|объявлени*|статья|сторінк*|stránk*|článek|sidan|sida|siden|side|sivu*|sayfa*|oldal*|σελίδα|" +
		"trang|bài viết|halaman|ページ|商品|記事|页面|頁面|网页|網頁|文章|内容|內容|链接|鏈接|페이지|상품|게시물|게시글|الصفحة|صفحة|העמוד|הדף|หน้า|صفحه|पृष्ठ|पेज|" +
		"stelle|stellenangebot|angebot|inserat|oferta|oferty|oferta de empleo|inserzione|offerta|vacature|advertentie|bericht|produkty|ogłoszenie|вакансия|вакансии|товара|запись|публикация|запис*|inzerát|nabídka|annons|annonse|tuote|ilmoitus|ilan|ürün|termék|hirdetés|求人|投稿|動画|作品|お探しの商品|职位|視頻|视频|帖子|영상|공고|" +
		"user|member|account|event|image|photo|recipe|channel|group|thema|themen|benutzer|veranstaltung|sujet|discussion|événement|utilisateur|tema|usuario|evento|foto|argomento|utente|onderwerp|wątek|wydarzenie|użytkownik|тема|темы|пользователь|мероприятие|профиль|téma|ämne|emne|aihe|konu|スレッド|主题|帖"},
	{cueNotFound, "not found|notfound|cannot be found|cant be found|can not be found|could not be found|couldnt be found|was not found|wasnt found|isnt found|be located|could not locate|couldnt locate|" +
		"cannot find|cant find|can not find|could not find|couldnt find|cant seem to find|unable to find|unable to locate|did not find|didnt find|does not exist|doesnt exist|no longer exists|does not seem to exist|" +
		"doesnt seem to exist|not exist|nothing was found at|page missing|nothing here|no such page|no such file|no such article|there is no page|no page here|nothing to see here|nothing at this|no record|" +
		"nicht gefunden|nicht finden|nicht auffindbar|existiert nicht|existiert leider nicht|existiert nicht mehr|nicht existiert|nicht vorhanden|nicht mehr vorhanden|leider nicht mehr|gibt es nicht|gibt es leider nicht|finden wir nicht|finden wir leider nicht|" +
		"introuvable*|nexiste pas|nexiste plus|pas été trouvé*|pas trouvé*|non trouvé*|pas pu être trouvé*|ne trouvons pas|navons pas trouvé|trouvons plus|plus en ligne|" +
		"no encontrad*|no se ha encontrado|no se encontró|no se encuentra|no existe|no ha sido encontrad*|ya no existe|no pudimos encontrar|no podemos encontrar|no hemos encontrado|no hemos podido encontrar|no encontramos|no localizamos|no hallamos|no pudimos localizar|" +
		"não encontrad*|nao encontrad*|não foi encontrad*|não existe|não pôde ser encontrad*|não conseguimos encontrar|não encontramos|não localizamos|não pode ser encontrad*|" +
		"non trovat*|non è stata trovata|non è stato trovato|non esiste|inesistente|non riusciamo a trovare|non abbiamo trovato|non troviamo|non è stato possibile trovare|" +
		"niet gevonden|bestaat niet|niet bestaat|niet vinden|nie znaleziono|nie została znaleziona|nie został znaleziony|nie istnieje|nie została odnaleziona|nie odnaleziono|nie można znaleźć|nie mogliśmy znaleźć|nie znaleźliśmy|nie możemy znaleźć|" +
		"не найден*|не существует|не найти|не удалось найти|не знайдено|не існує|nenalezen*|nebyla nalezena|neexistuje|nebyl nalezen*|" +
		"hittades inte|finns inte|kunde inte hittas|hittas inte|kan inte hittas|hittade inte|ikke fundet|findes ikke|kunne ikke findes|ikke funnet|finnes ikke|fant ikke|kunne ikke finne|" +
		"ei löytynyt|ei löydy|ei ole olemassa|bulunamadı|bulunamıyor|mevcut değil|nem található|nem létezik|nu a fost găsit*|nu există|negăsit*|δεν βρέθηκε|δεν υπάρχει|" +
		"không tìm thấy|không tồn tại|tidak ditemukan|tidak dapat ditemukan|" +
		"見つかりません|見つかりませんでした|見つけることができません|存在しません|存在しない|不存在|找不到|未找到|没有找到|沒有找到|无法找到|無法找到|찾을 수 없|존재하지 않|" +
		"غير موجود|لم يتم العثور|لا توجد|לא נמצא|לא קיים|ไม่พบ|یافت نشد|پیدا نشد|وجود ندارد|नहीं मिल|" +
		"no such|never existed|couldnt find that page|never was|cannot be displayed|nothing at this address|gibt es nicht mehr|gibts nicht|wurde nicht gefunden|konnte nicht gefunden werden|wurde leider nicht gefunden|nicht mehr online|n est plus en ligne|nest plus disponible|na jamais existé|inexistante|no se puede encontrar|no se pudo encontrar|no ha podido encontrarse|no se ha encontrado nada|nunca existió|não está aqui|nunca existiu|non è più attiv*|non è più presente|non è presente|non è mai esistit*|bestaat niet meer|nooit bestaan|nie ma takiej|nie ma już|nie ma tu|nigdy nie istniał*|nieistniejąc*|nieaktualn*|такой страницы нет|нет такой страницы|страницы не существует|никогда не существовал*|не нашли|не нашлась|такого адреса нет|снято с публикации|больше не актуальн*|тут нет|такої сторінки|stránka neexistuje|jsme nenašli|se nepodařilo najít|nemohli jsme najít|existerar inte|eksisterer ikke|findes desværre ikke|ei enää ole|bulunamamıştır|nem találj*|nu a putut fi găsit*|お探しのページは|アクセスしようとした|页面走丢|頁面不存在|走丢了|" +
		"ya no está publicad*|gibt es hier nicht|gibts hier nicht|не знайдена|немає"},
	{cueGone, "no longer available|no longer here|has been removed|has been deleted|was removed|was deleted|been moved|may have moved|might have moved|is not available|isnt available|is unavailable|unavailable|been taken down|been removed|been deleted|exist any more|exist anymore|has expired|is gone|no longer in|no longer part of|no longer offered|" +
		"nicht mehr verfügbar|nicht verfügbar|gelöscht|verschoben|plus disponible|pas disponible|été supprimé*|été déplacé*|été retiré*|été archivé*|no está disponible|ya no está disponible|ha sido eliminad*|sido eliminad*|no disponible|fue eliminad*|ha sido borrad*|se ha eliminado|se ha movido|não está disponível|não está mais disponível|foi removid*|não disponível|indisponível|foi eliminad*|sido removid*|foi exclu*|" +
		"non è disponibile|non è più disponibile|non disponibile|stata rimossa|stato rimosso|stata spostata|stato spostato|niet beschikbaar|niet meer beschikbaar|verwijderd|została usunięta|удален*|удалён*|отсутствует|больше не доступн*|har tagits bort|er blevet fjernet|" +
		"削除された|削除されました|已删除|已刪除|已被删除|已下架|삭제되었|삭제된|" +
		"no longer online|no longer active|is inactive|has been archived|has ended|has been taken down|was taken down|has been filled|isnt here|has moved|abgelaufen|nicht mehr aktiv|nicht mehr im sortiment|wurde entfernt|wurde gelöscht|wurde verschoben|a été supprimé*|a été déplacé*|a été retiré*|a expiré|n est plus disponible|nest plus disponible|ha caducado|caducad*|fue borrad*|ha expirado|expirou|expirad*|foi movid*|è stato rimosso|è stata rimossa|è stato eliminato|è scadut*|scadut*|verlopen|verplaatst|verhuisd|został usunięty|zostało usunięte|została przeniesiona|wygasł*|usunięt*|nie jest już dostępn*|niedostępn*|была удалена|перемещен*|перенесен*|снят с публикации|истек*|tagits bort|flyttats|er flyttet|er slettet|byl odstraněn*|byla odstraněna|poistettu|kaldırıl*|silinmiş*|eltávolít*|移動した|変更された|販売が終了|販売終了|掲載が終了|終了しました|公開を終了|已失效|已过期|已搬家|만료된|판매가 종료|" +
		"снят с продажи|снята с продажи|нет в продаже|nicht mehr lieferbar|descatalogad*|fuori catalogo|niet meer leverbaar|wycofan*|utgått|udgået"},
	{cueNoMore, "no longer|any more|anymore|nicht mehr|n est plus|nest plus|n existe plus|nexiste plus|nont plus|ne sont plus|ya no|dado de baja|dada de baja|já não|não está mais|não existe mais|non è più|non esiste più|niet meer|nie jest już|już nie|больше не|уже не|більше не|inte längre|ikke længere|ikke lenger|ei ole enää|ei enää|artık|již není|už není|már nem|nu mai|δεν είναι πλέον|tidak lagi|không còn|もう存在|已不|더 이상|" +
		"больше нет|уже нет|не продается"},
	{cueWhen, "after|when|while|during|since|because|nach dem|nach der|beim|seit|während|après|quand|depuis|lorsque|después de|cuando|desde|depois|quando|dopo|tijdens|sinds|podczas|gdy|после|при|когда|efter|när|når"},
	{cue404, "404"},
	{cueError, "error|oops|ops|uh oh|whoops|fehler|erreur|errore|erro|fout|błąd|ошибка|chyba|fel|feil|fejl|virhe|hata|hiba|eroare|σφάλμα|lỗi|kesalahan|エラー|错误|錯誤|出错|오류|خطأ|שגיאה|" +
		"oups|ups|hoppla|hoppsan|hovsa|hupsista|jejda|ojej|упс|ой|おっと|哎呀|" +
		"fehlermeldung|message d erreur|mensaje de error|messaggio di errore|foutmelding|сообщение об ошибке|felmeddelande|chybové hlášení|エラーメッセージ"},
	{cueNoHits, "no results|0 results|no matches|search results|your search|your query|match your|matching your|matches your|search term*|keine ergebnisse|keine treffer|suchergebnisse|ihre suche|aucun résultat|résultats|votre recherche|" +
		"sin resultados|resultados|su búsqueda|sua busca|nessun risultato|risultati|geen resultaten|brak wyników|ничего не найдено|по вашему запросу|результат*|検索結果|搜索结果|검색결과|검색 결과"},
	{cueAdvice, "sorry|apologies|apologise|apologize|inconvenience|check the url|check the address|check the spelling|mistyped|typed|go back|go home|home page|homepage|back to|return to|contact us|contact the|administrator|try again|refresh|" +
		"search|a link|the link|broken link|old link|links below|wrong|entschuldig*|leider|startseite|prüfen sie|zurück|désolé*|accueil|retour|lo sentimos|inicio|volver|desculpe|página inicial|voltar|spiacenti|home|" +
		"helaas|terug|przepraszamy|strona główna|извините|к сожалению|главн*|tyvärr|beklager|valitettavasti|üzgünüz|sajnáljuk|申し訳|トップ|お探しの|抱歉|首页|首頁|返回|죄송|nginx|apache|iis|openresty|caddy|lighttpd|powered by|" +
		"the search|our menu|sitemap|site map|suche|suchfunktion|tippfehler|vertippt|versuchen sie|nutzen sie|rechercher|la recherche|moteur de recherche|plan du site|lien|liens|oups|buscador|búsqueda|buscar|enlaces|prueba|inténtalo|intente|busca|pesquis*|verifique|tente|cerca|ricerca|torna|riprova|collegament*|digitat*|zoekfunctie|zoeken|controleer|ga naar|ups|oj|wyszukiwark*|sprawdź|wróć|przejdź|spróbuj|поиск*|воспользуйтесь|вернитесь|перейдите|ошиблись|попробуйте|опечатк*|sök|startsidan|gå till|prova|forside*|prøv|etusivu*|hledat|úvodní|zkuste|zkontrolujte|ana sayfa*|főoldal*|ご確認|検索|戻る|お手数|请检查|跳转|重试|重新|다시 확인|홈으로|입력하신|" +
		"were sorry|we are sorry|" +
		"try later|a few minutes|wait a minute|versuch es|später erneut|erneut versuchen|in einigen minuten|réessayez|réessayer|quelques minutes|inténtelo|vuelva a intentarlo|unos minutos|tente novamente|alguns minutos|riprovi|qualche minuto|probeer het|enkele minuten|za chwilę|kilka minut|повторите|несколько минут|försök igen|några minuter|zkuste to|しばらくして|稍后再试|잠시 후"},

	{cueBot, "verify you are human|verify you are a human|verify that you are human|verify that you are a human|verify youre human|verify youre a human|verifying you are human|not a robot|youre not a robot|are you a robot|are you human|are you a human|robot or human|robot check|" +
		"not a bot|checking your browser|checking if the site connection is secure|review the security of your connection|pardon our interruption|pardon the interruption|unusual traffic|unusual activity from|suspicious activity|suspicious traffic|" +
		"automated access|automated queries|automated requests|automation tools|automated traffic|press hold|press and hold|activate and hold|complete the security check|security check to access|security checkpoint|complete the captcha|solve the captcha|" +
		"solve this captcha|captcha below|enter the characters you see|type the characters you see|think you were a bot|think that you are a bot|think you are a bot|ddos protection by|protected by anubis|human verification|human check|bot verification|bot check|verifying your browser|verify your browser|" +
		"attention required|access to this page has been denied|enable javascript and cookies to continue|enable js and disable any ad blocker|incapsula incident|you have been blocked|youve been blocked|been blocked in error|why have i been blocked|" +
		"blocked by network security|your access to this site has been limited|your access to this service has been limited|generated by wordfence|sucuri website firewall|client challenge|confirm you are human|confirm youre human|confirm that you are human|confirm that youre human|" +
		"confirm you are a human|prove you are human|prove youre human|prove that you are human|security service to protect itself|triggered the security solution|complete the challenge|solve the challenge|solve the puzzle|complete the puzzle|security verification|one more step|be a robot|be a bot|are a robot|are a bot|automated tool|automated program|automated script|automated visitor|automated software|like a bot|like a robot|stop bots|set up a check|aggressive scraping|aggressive scrapers|scraper bots|get past this challenge|pass this challenge|requests from your network|requests from this ip|requests from your ip|" +
		"kein roboter|kein bot|ein bot sind|sie ein roboter|sie ein mensch|ihr browser wird überprüft|ihr browser wird geprüft|sicherheitsüberprüfung|sicherheitsprüfung|sicherheitscheck|ungewöhnlichen datenverkehr|ungewöhnlicher datenverkehr|ungewöhnliche aktivität*|automatisierte anfragen|" +
		"êtes vous un robot|pas un robot|un robot|vérification de sécurité|contrôle de sécurité|trafic inhabituel|trafic exceptionnel|vous êtes humain|vous êtes un humain|vérifions votre navigateur|vérification de votre navigateur|" +
		"eres humano|es humano|no soy un robot|no eres un robot|es usted un robot|tráfico inusual|tráfico inusitado|comprobando su navegador|comprobando tu navegador|verificando su navegador|verificación de seguridad|comprobación de seguridad|" +
		"não sou um robô|não é um robô|você é humano|tráfego incomum|verificando seu navegador|verificando o seu navegador|verificação de segurança|non sono un robot|non sei un robot|sei umano|traffico insolito|traffico anomalo|verifica di sicurezza|controllo di sicurezza|" +
		"geen robot|een robot bent|ongebruikelijk verkeer|uw browser wordt gecontroleerd|beveiligingscontrole|nie jestem robotem|nie jesteś robotem|nietypowy ruch|jesteś człowiekiem|sprawdzanie przeglądarki|weryfikacja bezpieczeństwa|" +
		"не робот|вы человек|проверка браузера|проверяем ваш браузер|похожи на автоматические|автоматические запросы|подозрительный трафик|необычный трафик|подозрительная активность|проверка безопасности|nejste robot|nejsem robot|inte är en robot|ikke er en robot|et ole robotti|" +
		"robot değil*|robot olmadığınızı|olağan dışı trafik|güvenlik kontrolü|güvenlik doğrulaması|nem robot|không phải là robot|lưu lượng bất thường|bukan robot|lalu lintas yang tidak biasa|" +
		"ロボットではない|ロボットではありません|人間であること|通常と異なるトラフィック|セキュリティチェック|セキュリティ確認|ブラウザを確認しています|画像認証|人机验证|人機驗證|安全验证|安全驗證|您是真人|确认您是真人|不是机器人|不是機器人|检查您的浏览器|檢查您的瀏覽器|" +
		"异常流量|異常流量|访问过于频繁|操作过于频繁|请完成验证|请完成下列验证|请完成以下验证|完成验证|滑动验证|拖动滑块|安全检查|安全檢查|로봇이 아닙니다|로봇이 아님|사람인지 확인|비정상적인 트래픽|보안 확인|브라우저를 확인|자동화된 요청|لست روبوت|لست برنامج روبوت|אינך רובוט|ไม่ใช่หุ่นยนต์|拖动滑块|下方滑块|完成拼图|滑动验证|拼图验证|完成安全验证|进行安全验证|访问存在异常|访问异常|异常流量|異常流量|異常訪問|스팸 방지|자동화된 요청|" +
		"automated access is not|automatic access|bots and scrapers|shes not a bot|dass du kein bot bist|dass sie kein bot sind|automatisierter zugriff|automatisierte zugriffe|accès automatisé*|acceso automatizado|acessos automatizados|accessi automatizzati|что вы не бот|вы не бот|автоматический доступ|自動アクセス|자동 접속 방지|자동접속 방지|자동입력 방지|自動的なアクセス|输入验证码|" +
		"перевірка безпеки|перевіряємо ваш браузер|перевірка браузера|sikkerhedskontrol|sikkerhetskontroll|säkerhetskontroll|turvatarkistus|bezpečnostní kontrola|biztonsági ellenőrzés|verificare de securitate|έλεγχος ασφαλείας|kiểm tra bảo mật|pemeriksaan keamanan|لست روبوتا|التحقق الأمني|אימות אבטחה|du er et menneske|du är människa|olet ihminen|ember vagy|sunteți om"},
	{cueRate, "too many requests|too many attempts|rate limited|rate limit exceeded|exceeded the rate limit|exceeded the number of requests|making too many requests|" +
		"zu viele anfragen|ungewöhnlich viele anfragen|trop de requêtes|trop de demandes|demasiadas solicitudes|demasiadas peticiones|muitas solicitações|muitas requisições|troppe richieste|te veel verzoeken|zbyt wiele żądań|слишком много запросов|リクエストが多すぎ|请求过于频繁|访问过于频繁|操作过于频繁|请求次数过多|" +
		"so many requests|very many requests|unusually many requests|an unusual number of requests|a high number of requests|a large number of requests|sehr viele anfragen|viele zugriffe|trop grand nombre de requêtes|trop de connexions|un grand nombre de requêtes|demasiadas consultas|demasiados intentos|muitos pedidos|muitas tentativas|molte richieste|troppi accessi|troppi tentativi|erg veel verzoeken|zbyt dużo żądań|zbyt wiele zapytań|zbyt wiele prób|много запросов|частые запросы|příliš mnoho požadavků|för många förfrågningar|for mange forespørgsler|for mange forespørsler|liian monta pyyntöä|çok fazla istek|túl sok kérés|多くのアクセス|アクセスが集中|访问次数过多|访问太频繁|请求太频繁|요청이 너무 많|과도한 요청|" +
		"ha superado el número|ha superado el límite|límite de peticiones|límite de solicitudes|anfragelimit|limit an anfragen|limite de requêtes|dépassé le nombre de requêtes|limite de solicitações|limite di richieste|limiet van|limit żądań|limit zapytań|лимит запросов|превышен лимит"},
	{cueTask, "characters|letters|digits|code shown|code below|puzzle|slider|jigsaw|zeichen|buchstaben|schieberegler|regler|puzzleteil|caractères|lettres|curseur|caracteres|letras|control deslizante|rompecabezas|quebra cabeça|controle deslizante|caratteri|lettere|cursore|" +
		"tekens|letters|schuifregelaar|puzzel|znaki|litery|suwak|układank*|символы|символов|буквы|цифры|ползунок|пазл|znaky|písmena|posuvník|tecken|bokstäver|tegn|skyderen|merkit|karakterler*|harfleri|yapboz|文字|画像|スライダー|パズル|字符|滑块|拼图|图中|图片中|이미지|문자를|퍼즐|슬라이더"},
	{cueDo, "enter|type|slide|drag|solve|complete|eingeben|geben sie|tippen sie|schieben sie|ziehen sie|vervollständigen|lösen sie|saisissez|saisir|recopiez|tapez|entrez|glisser|glissez|faites glisser|compléter|complétez|introduce|introduzca|escriba|escribe|desliza|deslice|arrastra|arrastre|completa|complete|completar|" +
		"digite|arraste|deslize|inserisci|digita|trascina|risolvi|typ|voer|sleep|schuif|wpisz|przepisz|przesuń|przeciągnij|ułóż|введите|перетащите|сдвиньте|соберите|opište|zadejte|přetáhněte|skriv|dra|indtast|træk|kirjoita|vedä|yazın|girin|sürükleyin|kaydırın|入力|スライド|输入|滑动|拖动|完成|입력|밀어|" +
		"copy|recopier|reproduisez|reproduire|inscrivez|copiez|abschreiben|eintippen|abtippen|copie|copia|copiar|ricopia|overtypen|skriv av|přepište|перепишите|solves|solving|drag the|schieben|lösen"},
	{cueWork, "proof of work|proof of works|small calculation|short calculation|computes|is computing|is calculating|computational|does a calculation|arbeitsnachweis|rechenaufgabe|kleine berechnung|berechnung|preuve de travail|petit calcul|effectue un calcul|prueba de trabajo|pequeño cálculo|realizando un cálculo|prova de trabalho|pequeno cálculo|" +
		"prova di lavoro|piccolo calcolo|sta calcolando|kleine berekening|rekensom|dowód pracy|małe obliczenie|obliczenia|доказательство работы|небольшое вычисление|вычисляет|вычисления|liten beräkning|計算しています|計算を行|计算一个|工作量证明|작업 증명|" +
		"solves a short|solves a small|short puzzle|small puzzle|quick calculation|bit of maths|bit of math|quick sum|kurze berechnung|kleine rechenaufgabe|courte énigme|petite énigme"},
	{cueCheck, "verify*|verification|check|checks|checking|confirm*|prove|proving|ensure|ensuring|make sure|making sure|making certain|validat*|" +
		"überprüf*|prüf*|bestätig*|vérifi*|confirmer|confirmez|assurer|comprob*|verifi*|confirm*|asegur*|controll*|conferm*|controleren|bevestig*|sprawdz*|potwierd*|подтверд*|проверя*|проверить|проверка|doğrula*|kontrol|確認|検証|验证|驗證|检查|确认|확인|검증|" +
		"know youre|know that youre|know you are|know that you are|kontrollera*|bekräfta|kontroller|bekræft|bekreft|vahvista*|tarkist*|ověř*|ellenőr*|перевір*|xác minh|تحقق|אימות|" +
		"identified|detected|erkannt|identifizier*|identifié*|détecté*|identificad*|detectad*|identificat*|rilevat*|herkend|gedetecteerd|wykryt*|wykryliśmy|обнаружен*|обнаружили|определен*|upptäckt*|registreret|zjistili|検出|检测到|감지"},
	{cueChecking, "checking|verifying|making sure|making certain|validating|ensuring|wir überprüfen|wir prüfen|wird überprüft|wird geprüft|vérifions|vérification|comprobando|verificando|controllando|stiamo verificando|we controleren|wordt gecontroleerd|sprawdzamy|sprawdzanie|" +
		"проверяем|проверяется|проверка|kontrol ediliyor|kontrol ediyoruz|確認しています|確認中|検証中|正在检查|正在验证|正在檢查|正在驗證|확인 중|확인하고|" +
		"in corso|prüfung läuft|läuft|en cours|en curso|em andamento|w toku|kontrollerar|kontrollerer|tarkistetaan|ověřujeme|kontrolujeme|ellenőrizzük|перевіряємо|перевірка|verifica in corso|stiamo controllando|estamos verificando|estamos comprobando|nous vérifions|wird sichergestellt|đang kiểm tra|" +
		"varmistamme|doğruluyoruz|memeriksa|memverifikasi|đang xác minh|يتم التحقق|בודקים|กำลังตรวจสอบ|wird kontrolliert|wij controleren|se está comprobando|estamos a verificar"},
	{cueHuman, "human|humans|a person|real person|real people|robot|robots|bot|bots|automated|mensch*|roboter|humain|humano|robô|umano|mens|człowiek*|człowiekiem|człowieka|человек*|робот*|insan|人間|ロボット|真人|机器人|機器人|사람|로봇|" +
		"real visitor|real visitors|real user|real users|scraper|scrapers|automatisch abgerufen|automatisiert*|automatisé*|automatizad*|automatizzat*|zautomatyzowan*|автоматическ*|бот|боты|ботом|ботов|бота|boty|botem|bota|robotem|robotom|robotti|robotern|menneske|människa|ihminen|člověk|ember|άνθρωπος|ロボットでは|自動アクセス|自动化|자동 접속|بشر|روبوت|אנושי|" +
		"mensch|людина|роботом|не робот|robotlar|con người|manusia|roboto|روبوتا|إنسان|automated visits|automated traffic"},
	{cueGuard, "security check|bot protection|captcha|verification|human test|verifying|ddos protection|challenge|challenge validation|sicherheitscheck|verifizierung|vérification|verificación|verificação|verifica|verificatie|weryfikacja|проверка|капча|doğrulama|認証|验证|驗證|验证码|驗證碼|验证中心|安全中心|인증|" +
		"kurze prüfung|prüfung|überprüfung|contrôle|comprobación|controllo|controle|sprawdzenie|перевірка|ověření|verifiering|bekräftelse|godkendelse|vahvistus|ellenőrzés|驗證中心|アクセス確認|アクセスの確認|보안문자|자동입력 방지|자동 접속 방지"},
	{cueMachine, "browser|connection|browsers|device|gerät|appareil|dispositivo|verbindung|navigateur|connexion|navegador|conexión|conexão|connessione|verbinding|przeglądark*|połączeni*|браузер*|соединени*|tarayıcı*|bağlantı*|ブラウザ|接続|瀏覽器|浏览器|连接|브라우저|연결|" +
		"машин*|пристр*|з єднання|зєднання|prohlížeč*|připojení|webbläsar*|webbläsare|anslutning|forbindelse|tilkobling|nettleser*|selain|yhteys|böngésző|kapcsolat|browserul|conexiunea|trình duyệt|peramban|koneksi|المتصفح|הדפדפן"},
	{cueBlocked, "access denied|access is denied|access has been denied|access to this page|access to this site has been|access blocked|request blocked|request rejected|request was blocked|request has been blocked|request could not be satisfied|url was rejected|" +
		"permission to access|request unsuccessful|been blocked|is blocked|are blocked|blocked because|access restricted|zugriff verweigert|zugriff wurde verweigert|zugang verweigert|gesperrt|accès refusé|accès interdit|acceso denegado|acesso negado|accesso negato|toegang geweigerd|" +
		"odmowa dostępu|доступ запрещен|доступ запрещён|доступ ограничен|åtkomst nekad|adgang nægtet|erişim engellendi|アクセスが拒否|アクセス拒否|拒绝访问|访问被拒绝|访问被阻断|拒絕存取|접근이 거부|접근이 차단|" +
		"temporarily restricted|access limited|access temporarily|you have been blocked|zugriff eingeschränkt|zugriff vorübergehend eingeschränkt|zugriff blockiert|zugriff wurde blockiert|anfrage blockiert|anfrage wurde blockiert|vous avez été bloqué*|accès bloqué|accès limité|accès restreint|accès temporairement|requête bloquée|requête a été bloquée|ha sido denegado|ha sido bloquead*|has sido bloquead*|acceso bloqueado|acceso restringido|foi bloquead*|acesso bloqueado|acesso restrito|accesso bloccato|accesso limitato|è stato bloccato|sei stato bloccato|geblokkeerd|zablokowan*|dostęp ograniczony|заблокирован*|доступ закрыт|přístup odepřen|přístup zamítnut|blokerad|blokeret|blokkert|engellendi|アクセス制限|アクセスを制限|禁止访问|访问受限|차단되었습니다"},
	{cueIncident, "ray id|incident id|incident number|support id|event id|block id|request id|reference id|reference #*|reference number|error reference|your ip|ip address|client ip|vorgangsnummer|ihre ip*|votre ip|adresse ip|su ip|tu ip|seu ip|ваш ip|您的ip|事件编号|" +
		"ip adresse|ip adressen|indirizzo ip|dirección ip|endereço ip|adres ip|adresu ip|ip адрес*|ip アドレス|ipアドレス|ip地址|ip 地址|ip 주소|ip adresi|id de referencia|identifiant de la requête|id запроса|id żądania|numéro de référence|número de referencia|request blocked id|" +
		"la référence|referenznummer|die referenz|código de referencia|codice di riferimento|numer referencyjny|номер обращения"},
	{cueWait, "just a moment|one moment|please wait|please stand by|stand by|hang tight|a few seconds|few moments|being redirected|redirecting|einen moment|nur einen moment|bitte warten|einige sekunden|wenige sekunden|un instant|quelques instants|quelques secondes|patienter|" +
		"un momento|unos segundos|espere|aguarde|um momento|alguns segundos|attendere|qualche secondo|een ogenblik|moment geduld|chwileczkę|proszę czekać|подождите|один момент|несколько секунд|lütfen bekleyin|お待ちください|请稍候|请稍等|請稍候|잠시만|" +
		"opens by itself|open by itself|open automatically|opens automatically|reload automatically|continue automatically|taken to the page|forwarded automatically|automatisch weitergeleitet|automatisch fortgesetzt|öffnet sich|gleich weiter|redirigé*|s ouvrira|souvrira|se abrirá|abrirá sola|abrirá automáticamente|si aprirà|redirigid*|redirecionad*|reindirizzat*|pochi secondi|alcuni secondi|doorgestuurd|automatisch geopend|przekierowan*|cierpliwości|kilka sekund|otworzy się|перенаправлен*|откроется|skickas vidare|några sekunder|få sekunder|viderestilles|přesměrován*|několik sekund|自動的に開|自動的に移動|自动跳转|即将跳转|자동으로 이동|" +
		"зачекайте|кілька секунд|vänta|vent venligst|vennligst vent|et øjeblik|et øyeblikk|odota|okamžik|moment prosím|počkejte|bir saniye|birkaç saniye|bekleyiniz|várjon|egy pillanat|așteptați|περιμένετε|vui lòng đợi|mohon tunggu|tunggu sebentar|يرجى الانتظار|המתן|รอสักครู่|少々お待ち|" +
		"page reloads|reloads when|will reload|neu geladen|lädt neu|rechargera|rechargée|recargará|ricaricherà|ricaricata|recarregada|enkele seconden|enkele ogenblikken|gaat u automatisch|ga je automatisch|herladen|przeładuj*|обновится"},

	{cueScripts, "scripts|javascript|java script|scripting|javascripts|js|javascriptu|javascriptet|javascriptem"},
	{cueTurnOn, "switch it on|turn it on|enable it|are off|is off|enable|enabled|enabling|turn on|turned on|turning on|switch on|switched on|activate|activated|require|requires|required|need|needs|without|disabled|not supported|support|supports|run this|allow|aktivier*|benötig*|eingeschaltet|einschalten|deaktiviert|erforderlich|" +
		"activer|activez|activé|désactivé|nécessite|nécessaire|requis|habilit*|activar|activa|active|activado|necesita|requiere|ative|ativar|ativado|attiva*|abilit*|necessario|richiede|inschakel*|ingeschakeld|nodig|vereist|включит*|включен*|необходим*|требуется|увімкн*|włącz*|wymaga*|povol*|" +
		"zapn*|vyžaduje|aktiver*|aktivera|slå|kräver|krever|kræver|ota|salli|etkinleştir*|gerekli|gerekiyor|engedélyez*|activați|ενεργοποι*|bật|aktifkan|有効|必要|启用|啟用|開啟|开启|需要|사용|활성화|필요|تفعيل|تمكين|הפעל|เปิดใช้"},
	{cueLoading, "loading|please wait|one moment|initializing|initialising|starting|connecting|lädt|laden|wird geladen|chargement|cargando|carregando|caricamento|aan het laden|ładowanie|wczytywanie|загрузка|загружается|завантаження|načítání|laddar|indlæser|laster|ladataan|" +
		"yükleniyor|betöltés|se încarcă|φόρτωση|đang tải|memuat|読み込み中|読み込んでいます|ロード中|加载中|載入中|正在加载|加載中|로딩|불러오는 중|جاري التحميل|טוען|กำลังโหลด"},

	{cueCookies, "cookie|cookies|cookie*|куки|файлы cookie|クッキー|쿠키|ملفات تعريف الارتباط|" +
		"informasjonskapsler|informasjonskapslene|evästeet|evästeitä|evästeiden|sütik|süti|sütiket|ciasteczka|ciasteczek|galletas|çerez*|çerezler|кукі|файли cookie|кукита|kolačić*|piškotk*|küpsised|slapuk*|sīkdat*|μπισκότα|עוגיות|คุกกี้"},
	{cueAgree, "accept|accepts|accepting|accept all|agree|i agree|consent|consents|allow all|allow|reject all|reject|decline|refuse|akzeptier*|zustimm*|einwillig*|ablehnen|einverstanden|annehmen|accepter|acceptez|jaccepte|consentement|accord|tout accepter|tout refuser|refuser|continuer sans accepter|" +
		"aceptar|acepto|acepta|rechazar|consentimiento|aceitar|aceito|aceita|rejeitar|consentimento|accetta*|rifiuta*|consenso|accepteren|akkoord|weigeren|toestemming|zaakceptuj|akceptuj*|zgadzam|zgoda|zgodę|zgody|odrzuć|принять|принимаю|согласен|соглас*|отклонить|" +
		"přijmout|souhlas*|odmítnout|acceptera|godkänn*|samtycke|avvisa|acceptér|godta|samtykke|hyväksy*|suostumus|kabul|reddet|onay|elfogad*|同意|接受|동의|수락|موافق|قبول|" +
		"agreeing|disagree|do not consent|einverstanden bin|zustimmen und weiter|geht klar|tous les cookies acceptés|jaccepte tout|zgadzasz|wyrażasz zgodę|wyrazić zgodę|akceptujesz|przechodzę do serwisu|godta alle|tillåt alla|tillad alle|nesouhlasím|souhlasíte|承諾|許可|許可する|承認|" +
		"concordo|concorda|concordar|não concordo|discordo|recusar|recusar tudo|permitir|permitir todas|aceptar todo|permettre|autoriser|jautorise|tout autoriser|consentir|continuer et accepter|erlauben|zulassen|alle cookies zulassen|zustimme|stimme zu|stimmen sie|stimmen sie zu|stimmst du|einverständnis|ok verstanden|verstanden|accetto|acconsento|acconsenti|consenti|nega|nega tutto|toestaan|sta toe|ik ga akkoord|afwijzen|pozwól|zezwól|rozumiem|wyraź zgodę|разрешить|приймаю|прийняти|погоджуюся|відхилити|jag godkänner|neka|avvis|avvis alle|afvis|afvis alle|accepter alle|tillat alle|salli kaikki|sallin|hylkää|kaikki käyvät|tümünü kabul|reddediyorum|izin ver|elfogadom|elutasít*|accept toate|refuz|αποδέχομαι|αποδοχή|απόρριψη|đồng ý|setuju|terima|tolak|同意する|同意します|拒否|拒绝|拒絕|全部允许|모두 동의|거부|أوافق|קבל|אישור|ยอมรับ"},
	{cuePrivacy, "personal data|personal information|legitimate interest*|privacy|data protection|store and access|privatsphäre|personenbezogen*|datenschutz*|données personnelles|vie privée|datos personales|privacidad|dados pessoais|privacidade|" +
		"dati personali|persoonsgegevens|dane osobowe|prywatnoś*|персональн*|конфиденциальн*|gizlilik|integritet|persondata|隐私|隱私|個人情報|プライバシー|개인정보|" +
		"access information on a device|store information on|informationen auf einem gerät|informations sur un appareil|information på din enhet|soukromí|osobních údajů|tietosuoja|yksityisyy*|personvern|privatliv|personoplysninger|kişisel veri*|adatvédelm*|datele personale|informacji w urządzeniu|przechowywanie informacji|danych osobowych|informacje na urządzeniu|" +
		"personvernet|yksityisyytesi|приватність|персональних|gizliliğiniz|kişisel verileri*|quyền riêng tư|privasi"},
	{cueAds, "partners|vendors|personalised|personalized|purposes|advertising|ads|audience research|werbung|werbetracking|tracking|werbefrei*|zwecke*|partner|partnern|partenaires|publicité*|finalités|socios|publicidad|anuncios|parceiros|anúncios|pubblicità|advertenties|partnerzy|partnerami|партнер*|" +
		"ad free|without ads|without advertising|marketing|targeted|audience|measurement|anzeigen|werbezwecke*|zielgruppen|drittanbieter*|reichweitenmessung|mesure d audience|mesurer l audience|régie|annonceurs|fines publicitarios|medición|terceros|publicitári*|publicitari*|profilazione|inserzionisti|terze parti|reklam*|marketingow*|zaufan*|analitycz*|реклам*|annonser|annoncer|mainonta|annons*|広告|广告|廣告|광고|" +
		"annonsører|annoncører|kumppani*|mainok*|iş ortak*|partnere|partnerei*|hirdet*|reclame|διαφημ*|партнери|keine werbung|kein tracking|ohne werbung|mit werbung"},
	{cuePerson, "we|our|us|you|your|please|bitte|veuillez|por favor|prosím|proszę|пожалуйста|lütfen|ください|下さい|请|請|하세요|주세요|주십시오|wir|uns|unsere|unseren|sie|ihre|ihrer|ihren|du|deine|nous|notre|nos|vous|votre|vos|usted|ustedes|nuestro*|nuestra*|nosotros|su|sus|tu|tus|utilizamos|usamos|tratamos|nós|nosso*|nossa*|você|seu|seus|sua|suas|noi|nostro|nostri|utilizziamo|usiamo|tuo|tuoi|" +
		"wij|we|ons|onze|u|uw|je|jouw|nasz|nasi|nasze|używamy|twoje|twoich|мы|наш*|вы|ваш*|используем|my|naše|používáme|vi|våra|vår|vores|våre|dina|dine|me|käytämme|biz|kullanıyoruz|használunk|folosim|当社|私たち|弊社|お客様|我们|我們|您|저희|귀하|당신|نحن|نستخدم|אנחנו|אנו|" +
		"mir|dir|euch|toi|ton|tes|cię|ciebie|ty|twój|twoja|twojej|państwa|вам|вас|вашего|вашей|ваше|ваш|вами|dig|din|ditt|deg|sinä|sinun|vám|vás|váš|vaše|vašeho|siz|sizin|ön|önnek|貴方|あなた|ご利用|して|여러분|" +
		"naši|našimi|našich|našim|vaši|vašich|vaším|nasza|naszymi|naszych|naszym|nami|nás|nám|nossas|nossos|nostre|nostra|onzer|vore|" +
		"unser|unserer|unserem|unserm|eure|euer|" +
		"youre|youve|youll|weve|ви|ваші|ми|dere|deres|jeres|teidän|meidän|bizim|mi|önök|noastră|dumneavoastră|εμείς|σας|chúng tôi|bạn|kami|anda|يرجى|من فضلك|" +
		"merci de|prière de"},
	{cueGoOn, "before you continue|to continue|continue to|before continuing|continue with ads|continue with advertising|read with ads|accept and continue|agree and continue|bevor sie fortfahren|um fortzufahren|weiter mit werbung|mit werbung weiter*|mit werbung lesen|mit werbung nutzen|akzeptieren und weiter|avant de continuer|pour continuer|continuer avec la publicité|continuer avec publicité|continuer avec les publicités|accepter et continuer|antes de continuar|para continuar|continuar con publicidad|seguir con publicidad|aceptar y continuar|continuar com publicidade|aceitar e continuar|prima di continuare|per continuare|continua con la pubblicità|continuare con la pubblicità|accetta e continua|voordat je verdergaat|zanim przejdziesz|прежде чем|чтобы продолжить|続行する前に|继续之前|계속하기 전에|" +
		"to proceed|before proceeding|before we show you|fortzufahren|fortfahren|weiterzulesen|weiterlesen|pour accéder|avant d accéder|pour poursuivre|continuer sans|para acceder|para seguir|para prosseguir|per proseguire|per accedere|om door te gaan|aby kontynuować|przejdź do serwisu|przejdź dalej|чтобы перейти|för att fortsätta|for at fortsætte|for å fortsette|jatkaaksesi|pro pokračování|devam etmek için|続けるには|続行するには|继续访问|继续浏览|계속하려면|" +
		"and continue|et continuer|y continuar|e continuar|e continuare|und fortfahren|i kontynuuj|en ga verder|и продолжить|" +
		"free with ads|read free with ads|gratis mit werbung|kostenlos mit werbung|kostenfrei mit werbung|gratuit avec publicité|gratuitement avec publicité|gratis con publicidad|gratis con anuncios|grátis com publicidade|gratis con pubblicità|gratis met advertenties|za darmo z reklamami|бесплатно с рекламой|" +
		"before you read on|before you go on|before you start|before you enter|bevor es weitergeht|bevor sie weiterlesen|avant de lire|avant de poursuivre|antes de seguir|antes de leer|prima di proseguire|voor u verder leest|zanim zaczniesz|aby przejść|aby zobaczyć stronę|um zur seite|för att komma till"},

	{cueLogin, "login|log in|logging in|logon|log on|sign in|signin|signing in|log into|sign on|single sign on|anmelden|anmeldung|einloggen|connexion|se connecter|connectez vous|identifiez vous|identification|iniciar sesión|inicia sesión|inicio de sesión|acceder|iniciar sessão|entrar|fazer login|acesso|" +
		"accedi|accesso|inloggen|aanmelden|zaloguj*|logowanie|вход|войти|войдите|авторизация|авторизуйтесь|увійти|вхід|přihlásit*|přihlášení|logga in|inloggning|log ind|logg inn|kirjaudu*|kirjautuminen|giriş yap|oturum aç|bejelentkezés|autentificare|conectare|σύνδεση|" +
		"đăng nhập|masuk|ログイン|サインイン|登录|登入|登錄|로그인|تسجيل الدخول|התחבר|เข้าสู่ระบบ|ورود|" +
		"identify yourself|identificar*|identificarse|identificarte|identifíca*|identifier|mich anmelden|sich anmelden|melden sie sich an|melde dich an|anzumelden|einzuloggen|effettuare l accesso|autenticar*|autentica*|zalogować|zalogowan*|ingelogd|inloggad|logget ind|logget inn|přihlásit|přihlášen*|войти на форум|kirjautua|登录后|登入後|登录帐号|サインインして|" +
		"accedere|acceder a tu cuenta|zalogować się|" +
		"giriş yapın|giriş yapmanız|üye girişi|oturum açın|log in or sign up|logge ind|logge inn|du skal logge ind|přihlaste|přihlaste se|увійдіть|authentifi*|authentifizier*"},
	{cueCredential, "password|passwords|passcode|username|user name|user|email|e mail|phone|account|forgot|forgotten|remember me|keep me|stay signed|create account|create an account|register|sign up|new here|dont have an account|continue with|guest|passwort|benutzername|kennwort|registrieren|konto|angemeldet|" +
		"mot de passe|identifiant|compte|contraseña|usuario|cuenta|registr*|senha|usuário|conta|wachtwoord|gebruikersnaam|hasło|haslo|konto|пароль|логин|забыли|heslo|lösenord|adgangskode|passord|salasana|şifre|parola|jelszó|κωδικός|mật khẩu|kata sandi|パスワード|密码|密碼|비밀번호|كلمة المرور|סיסמה"},
	{cueMustLogin, "please log in|please login|please sign in|must be logged in|must be signed in|must log in|must login|must sign in|need to log in|need to login|need to sign in|need to be logged in|log in to continue|login to continue|sign in to continue|login required|log in required|sign in required|" +
		"authentication required|sign in to view|log in to view|login to view|members only|for members only|for registered users|for logged in users|available to members|reserved for members|restricted to members|only available to registered|log in to see|sign in to see|bitte melden sie sich an|bitte anmelden|bitte loggen sie sich ein|müssen sie sich anmelden|müssen angemeldet sein|nur für mitglieder|nur für registrierte|nur für angemeldete|nur nach anmeldung|nur mit anmeldung|veuillez vous connecter|vous devez être connecté|vous devez vous connecter|réservé aux membres|réservée aux membres|réservés aux membres|réservé aux adhérents|réservée aux adhérents|réservés aux adhérents|réservé aux utilisateurs|réservée aux utilisateurs|espace adhérents|espace membres|" +
		"debe iniciar sesión|debes iniciar sesión|inicia sesión para|inicie sesión para|solo para socios|solo para miembros|sólo para socios|exclusivo para socios|exclusivo para miembros|usuarios registrados|faça login para|é necessário fazer login|entre para continuar|effettua il login|devi effettuare|accedi per|riservato ai soci|riservata ai soci|riservato agli iscritti|riservata agli iscritti|riservata agli utenti|riservato agli utenti|log in om|moet ingelogd|zaloguj się aby|tylko dla zalogowanych|tylko dla członków|musisz się zalogować|необходимо войти|войдите чтобы|необходимо авторизоваться|" +
		"du måste logga in|du skal logge ind|du må logge inn|giriş yapmalısınız|ログインしてください|ログインが必要|请登录|请先登录|請登入|請先登入|로그인이 필요|로그인 후|" +
		"password protected|is protected by a password|enter the password below|passwortgeschützt|mit einem passwort geschützt|protégé par un mot de passe|protégée par un mot de passe|protegido con contraseña|protegida con contraseña|protegido por contraseña|protegido por senha|protetto da password|protetta da password|met een wachtwoord beveiligd|chroniony hasłem|chroniona hasłem|zabezpieczon* hasłem|защищено паролем|защищена паролем|パスワードで保護|密码保护|비밀번호로 보호|вы должны войти|вам нужно войти|только для зарегистрированных|только зарегистрированн*|log in first|login first|sign in first|need to be a member|must be a member|have to be a member|area riservata|zona privada|área privada|área restrita|strefa członk*|会員専用|会員限定ページ|회원 전용|회원전용|会员专享|仅限会员|仅对会员|" +
		"is private|private forum|private community|private wiki|private site|ist privat|nur für angemeldete benutzer|est privé|est privée|es privado|è privato|jest prywatn*|является закрытым|закрытый раздел|privat forum|giriş yapmanız gerek*|üye girişi gerek*"},
	{cueMust, "must|need to|needs to|have to|has to|required|requires|only after|you can only|müssen|musst|muss|erforderlich|erst nach|nur nach|veuillez|vous devez|devez|il faut|nécessite|nécessaire|debe|debes|tienes que|tiene que|hay que|es necesario|requiere|precisa|é necessário|é preciso|você deve|faça|devi|dovete|deve|è necessario|occorre|bisogna|effettua|" +
		"moet|dient|vereist|musisz|należy|trzeba|wymaga|wymagane|должны|необходимо|нужно|требуется|следует|потрібно|musíte|je nutné|måste|behöver|skal|må|täytyy|vaaditaan|gerekir|gerekiyor|gereklidir|kell|szükséges|trebuie|πρέπει|必要|してください|需要|请先|請先|必须|해야|하셔야|필요|يجب|יש ל|ต้อง"},
	{cueMember, "members|member|subscribers|registered users|registered members|logged in users|patrons|mitglieder|mitgliedern|abonnenten|registrierte|membres|adhérents|abonnés|inscrits|socios|miembros|suscriptores|usuarios registrados|sócios|membros|associados|assinantes|soci|iscritti|abbonati|utenti registrati|leden|abonnees|członków|członkom|zalogowanych|zarejestrowanych|prenumeratorów|" +
		"участников|участникам|зарегистрированных|зарегистрированным|членов|подписчиков|подписчикам|členy|členům|registrované|medlemmar|medlemmer|prenumeranter|jäsenille|üyeler|üyelere|tagok*|会員|会员|會員|회원|أعضاء|חברים|สมาชิก"},
	{cueOnly, "only|exclusive|exclusively|reserved|restricted|nur|ausschließlich|exklusiv|vorbehalten|réservé*|uniquement|exclusivement|seulement|exclusiv*|reservad*|solo|sólo|somente|apenas|riservat*|esclusiv*|soltanto|alleen|exclusief|uitsluitend|voorbehouden|tylko|wyłącznie|zarezerwowan*|только|лишь|доступно|доступен|доступна|pouze|jen|endast|enbart|kun|forbeholdt|vain|ainoastaan|sadece|yalnızca|özel|csak|限定|専用|のみ|仅限|仅对|专享|专属|专用|전용|한해|فقط"},
	{cuePaywall, "subscribe to continue|subscribe to read|subscribe now to|subscribe to keep|subscribers only|for subscribers|subscriber only|subscriber exclusive|already a subscriber|subscription required|become a member to|to continue reading|to keep reading|to read the full|unlock this article|" +
		"nur für abonnenten|für abonnenten|jetzt abonnieren|abonnement|bereits abonnent|réservé aux abonnés|réservé à nos abonnés|abonnez vous pour|déjà abonné*|exclusivo para suscriptores|solo para suscriptores|suscríbete para|suscríbase para|exclusivo para assinantes|assine para|já é assinante|" +
		"abbonati per|riservato agli abbonati|sei già abbonato|alleen voor abonnees|tylko dla subskrybentów|только для подписчиков|для подписчиков|会員限定|有料会員|订阅后|付费阅读|유료 회원|구독자|" +
		"limit of free articles|free articles|free article limit|your last free article|subscribe to unlock|this story is for subscribers|this article is for subscribers|exclusively for subscribers|keep reading with|weiterlesen mit|exklusiv für abonnent*|abonnentinnen|haben sie schon ein abo|schon ein abo|alle artikel lesen|article réservé|lisez la suite|lire la suite de l article|la suite est réservée|il vous reste|pour lire la suite|abonnez vous|sabonner|para seguir leyendo|seguir leyendo|ya eres suscriptor|eres suscriptor|continue lendo|leia sem limites|per continuare a leggere|contenuto riservato|abbonati|lees verder met|al abonnee|word abonnee|dla subskrybentów|dla prenumeratorów|czytaj dalej z|wykup dostęp|wykup subskrypcję|masz już subskrypcję|оформите подписку|по подписке|чтобы прочитать полностью|для подписчик*|endast för prenumeranter|för prenumeranter|bli prenumerant|for abonnenter|bliv abonnent|vain tilaajille|pro předplatitele|předplatné|有料記事|会員登録すると|この記事は会員|残り|订阅会员|구독하고|" +
		"redan prenumerant|allerede abonnent|oletko jo tilaaja|jo tilaaja|už jste předplatitel|уже подписаны|уже есть подписка|zaten abone|会員の方はこちら"},
	{cueOffer, "unlimited access|subscription options|subscribe for|subscribe now|subscribe today|full access|kostenlos testen|im probeabo|probeabo|offre d abonnement|ver suscripciones|acceso ilimitado|scopri le offerte|onbeperkt toegang|cancel anytime|cancel any time|free trial|jederzeit kündbar|sans engagement|disdici quando|maandelijks opzegbaar|月額|包月"},

	{cueUpkeep, "down for maintenance|under maintenance|undergoing maintenance|undergoing scheduled maintenance|performing maintenance|performing scheduled maintenance|maintenance mode|site maintenance|be right back|be back soon|be back shortly|back online shortly|temporarily unavailable|temporarily down|temporarily offline|" +
		"currently unavailable|service unavailable|internal server error|bad gateway|gateway timeout|gateway time out|server error|wartungsarbeiten|wartungsmodus|wegen wartung|derzeit nicht erreichbar|vorübergehend nicht erreichbar|en maintenance|en cours de maintenance|temporairement indisponible|en mantenimiento|" +
		"temporalmente fuera de servicio|em manutenção|temporariamente indisponível|in manutenzione|temporaneamente non disponibile|in onderhoud|tijdelijk niet beschikbaar|przerwa techniczna|prace konserwacyjne|технические работы|техническое обслуживание|на обслуживании|временно недоступен|underhåll|vedligeholdelse|vedlikehold|bakım çalışması|bakımdadır|" +
		"メンテナンス中|系统维护|正在维护|網站維護|점검 중|점검중|" +
		"error establishing a database connection|database error|database connection|out of service|back online|bald zurück|gleich wieder da|gleich zurück|technische störung|revenons|de retour bientôt|de retour très vite|volvemos pronto|volveremos|voltamos|torniamo|torneremo|zo weer terug|wracamy|przerwa konserwacyjna|скоро вернемся|скоро вернёмся|ведутся работы|strax tillbaka|snart tilbage|snart tilbake|odstávka|údržb*|karbantartás|huoltokatko|ただいまメンテナンス|システムメンテナンス|维护中|升级维护|점검 안내|" +
		"something went wrong|technischer fehler|technische probleme|es ist ein fehler aufgetreten|erreur technique|une erreur est survenue|une erreur sest produite|error técnico|ha ocurrido un error|se ha producido un error|algo salió mal|algo deu errado|ocorreu um erro|errore tecnico|si è verificato un errore|qualcosa è andato storto|er is iets misgegaan|er ging iets mis|błąd techniczny|wystąpił błąd|coś poszło nie tak|техническая ошибка|произошла ошибка|что то пошло не так|něco se pokazilo|došlo k chybě|något gick fel|ett fel uppstod|noget gik galt|noe gikk galt|エラーが発生|出错了|오류가 발생|hiba történt|bir hata oluştu|" +
		"down for scheduled maintenance|down for planned maintenance|down for essential maintenance|down for a few|offline for maintenance|closed for maintenance|well be back|will be back|be back online"},

	{cueSite, "site|website|web site|server|service|services|application|app|portal|platform|system|systems|webseite|internetseite|dienst|boutique|sitio|servicio|serviço|sito|servizio|serwis|strona|сайт|сервис|サイト|サービス|网站|網站|系统|사이트|서비스|" +
		"shop|store|onlineshop|web shop|online store|seite|portail|plateforme|tienda|loja|negozio|sklep|winkel|магазин|портал|butik*|obchod|ショップ|商城|쇼핑몰"},

	{cueTeach, "how to|how do|how can|howto|guide|tutorial|what is|what are|what does|what to do|why does|why do|explained|meaning|definition|defined|error handling|error page|error pages|custom|history|policy|policies|review|case study|survey|best practice*|" +
		"release notes|changelog|stuck|solved|fix|fixing|anleitung|wie man|was ist|was sind|bedeutung|richtlinie|erklärung|geschichte|comment faire|quest ce|politique|histoire|cómo|qué es|política|como|o que é|come fare|cosè|informativa|wat is|beleid|czym jest|co to jest|polityka|как|что такое|политика|" +
		"とは|方法|什么是|如何|教程|" +
		"page d erreur|pages d erreur|page derreur|fehlerseite*|página de error|páginas de error|página de erro|páginas de erro|pagina di errore|pagine di errore|foutpagina*|strona błędu|strony błędów|страница ошибки|страницы ошибок|エラーページ|错误页面|错误页|오류 페이지|" +
		"terms|terms of use|terms of service|terms and conditions|nutzungsbedingungen|conditions générales|condiciones|termos|termini|condizioni|voorwaarden|regulamin|правила|利用規約|服务条款|이용약관"},
	{cueManual, "mdn|docs|documentation|reference|manual|glossary|wikipedia|wiki|faq|dokumentation|handbuch|glossar|glossaire|glosario|glossario|" +
		"dictionary|encyclopedia|encyclopaedia|thesaurus|wörterbuch|enzyklopädie|lexikon|dictionnaire|encyclopédie|diccionario|enciclopedia|dicionário|enciclopédia|dizionario|woordenboek|encyclopedie|słownik|encyklopedia|словарь|энциклопедия|slovník|ordbok|ordbog|辞典|百科|词典|사전"},
	{cueDescribes, "status code|status codes|response code|response codes|web server|means that|indicates|refers to|occurs when|appears when|shown when|returned when|statuscode|bedeutet|signifie|significa|означает|意味"},
}

// A phrase is an entry of the table that texts are matched with.
type phrase struct {
	text  string // folded, with a space at the end unless any ending will do
	cue   cue
	solid bool // of a script without spaces between words
}

// cuesByStart has the phrases by their first three bytes.
var cuesByStart = func() map[[3]byte][]phrase {
	table := make(map[[3]byte][]phrase)
	var f folder
	for _, row := range cueWords {
		rest := row.words
		for rest != "" {
			word := rest
			rest = ""
			for i := range len(word) {
				if word[i] == '|' {
					word, rest = word[:i], word[i+1:]
					break
				}
			}
			open := word[len(word)-1] == '*'
			f.reset()
			f.write(word)
			p := phrase{text: string(f.b), cue: row.cue}
			if r, _ := utf8.DecodeRuneInString(p.text); isSolid(r) {
				p.solid = true
			}
			if !open && !p.solid {
				p.text += " "
			}
			key := startOf(p.text)
			table[key] = append(table[key], p)
		}
	}
	return table
}()

// startOf gives the first three bytes, filled up with spaces.
func startOf(s string) [3]byte {
	key := [3]byte{' ', ' ', ' '}
	copy(key[:], s)
	return key
}

// cuesIn gives the cues of a folded sentence. Each place of the text is looked
// up once; what begins there is compared with the few phrases that begin so.
func cuesIn(folded []byte) cue {
	found, _ := cuesOf(folded, 0)
	return found
}

// cuesOf gives the cues of a folded sentence, and how many of its bytes are in
// words that have one of the cues in among.
func cuesOf(folded []byte, among cue) (found cue, covered int) {
	s := string(folded) + " "
	upTo := 0
	start := true
	for i := 0; i < len(s); {
		c := s[i]
		if c == ' ' {
			start = true
			i++
			continue
		}
		size := 1
		solid := false
		if c >= utf8.RuneSelf {
			var r rune
			r, size = utf8.DecodeRuneInString(s[i:])
			solid = isSolid(r)
		}
		if start || solid {
			for _, p := range cuesByStart[startOf(s[i:])] {
				if (start || p.solid) && len(p.text) <= len(s)-i && s[i:i+len(p.text)] == p.text {
					found |= p.cue
					if p.cue&among == 0 {
						continue
					}
					end := i + len(p.text)
					for !p.solid && s[end-1] != ' ' { // to the end of the word
						end++
					}
					end = min(end, len(folded))
					covered += max(0, end-max(i, upTo))
					upTo = max(upTo, end)
				}
			}
		}
		start = solid // a word of letters may follow one of signs
		i += size
	}
	return found, covered
}

// isSolid says that words of a script are found inside of others: it is
// written without spaces, or with endings and articles joined to the word.
func isSolid(r rune) bool {
	switch {
	case r < 0x590:
		return false
	case r < 0x10a0, r >= 0x1780 && r < 0x1800:
		return true
	}
	return r >= 0x2e80 && r < 0xd7b0 || r >= 0xf900 && r < 0xfb00
}

// A folder makes texts comparable: small letters, one space where there were
// signs or white space, none where an apostrophe was.
type folder struct {
	b    []byte
	size int // letters and digits; two for each of a script without spaces
	gap  bool
}

func (f *folder) reset() { f.b, f.size, f.gap = f.b[:0], 0, false }

func (f *folder) write(s string) {
	for _, r := range s {
		f.rune(r)
	}
}

// elides says that the last word of a folded text is an article or preposition
// that an apostrophe joins to the word after it: l'adresse, dell'annuncio.
func elides(folded []byte) bool {
	switch last := folded[bytes.LastIndexByte(folded, ' ')+1:]; string(last) {
	case "l", "d", "un", "all", "dell", "dall", "nell", "sull", "quest":
		return true
	}
	return false
}

func (f *folder) rune(r rune) {
	switch {
	case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '#':
	case r >= 'A' && r <= 'Z':
		r += 'a' - 'A'
	case r == '\'' || r == '’' || r == 'ʼ':
		f.gap = f.gap || elides(f.b)
		return
	case r < utf8.RuneSelf:
		f.gap = len(f.b) > 0
		return
	case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
		r = unicode.ToLower(r)
	default:
		f.gap = len(f.b) > 0
		return
	}
	if f.gap {
		f.b = append(f.b, ' ')
		f.gap = false
	}
	f.b = utf8.AppendRune(f.b, r)
	f.size++
	if isSolid(r) {
		f.size++
	}
}
