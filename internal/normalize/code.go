package normalize

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"sift.build/sift/internal/dom"
)

// codeClass says what a class of an element inside a code block means.
type codeClass int

const (
	codePlain codeClass = iota
	codeSkip            // line numbers, copy buttons, prompts' decoration
	codeLine            // one line of the code
)

// pre makes n the normal form's code block.
func (p *pass) pre(n *html.Node, a *attrs) (*html.Node, bool) {
	lang := p.named(n, language(n, a.class))
	code := p.codeText(n)
	if strings.Trim(code, " \n") == "" {
		return skip(n)
	}
	p.setCode(n, lang, code)
	return n, false
}

// named gives the language that a label in front of the code block n says, and
// takes the label away, which with a button to copy is the block's own head.
// lang is what the markup says, which goes before.
func (p *pass) named(n *html.Node, lang string) string {
	at := n
	for range 3 {
		if prev := prevElement(at); prev != nil {
			switch prev.DataAtom {
			case atom.Div, atom.Span, atom.Figcaption, atom.Header:
			default:
				return lang
			}
			label := languageLabel(plainText(prev, 40))
			head := eachToken(dom.Attr(prev, "class"), func(t string) bool {
				return hasWord(t, "lang") || hasWord(t, "header") || hasWord(t, "label") || hasWord(t, "title") || hasWord(t, "toolbar") || hasWord(t, "code")
			})
			if label == "" || lang != label && !head || lang != "" && lang != label {
				return lang
			}
			prev.Parent.RemoveChild(prev)
			return label
		}
		up := at.Parent
		if up == nil || up.DataAtom != atom.Div && up.DataAtom != atom.Figure || at.PrevSibling != nil && prevElement(at) == nil && strings.Trim(plainText(up, 8), " ") != "" {
			return lang
		}
		at = up
	}
	return lang
}

// languageLabel gives the name for a fence of a language as people write it.
func languageLabel(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	switch s {
	case "c#":
		return "csharp"
	case "f#":
		return "fsharp"
	case "objective-c":
		return "objectivec"
	case "shell session", "terminal":
		return "console"
	case "plain text", "plaintext", "text":
		return ""
	}
	if knownLang(s) && (len(s) > 1 || s == "c" || s == "r" || s == "d") {
		return cleanLang(s)
	}
	return ""
}

func (p *pass) setCode(n *html.Node, lang, code string) {
	rename(n, atom.Pre)
	n.Attr = keepAttr(p, n.Attr)
	removeAttr(n, "role") // a table's
	if lang != "" {
		setAttr(n, "data-lang", lang)
	}
	n.FirstChild, n.LastChild = nil, nil
	c := dom.Element(atom.Code)
	c.AppendChild(dom.Text(code))
	n.AppendChild(c)
	if len(p.tables) > 0 {
		p.tables[len(p.tables)-1].cell.headings++ // a block of code speaks for layout as much as a heading
		p.countText(code)
	}
}

// codeText gives the code under n, line by line, without what is not code.
func (p *pass) codeText(n *html.Node) string {
	if c := n.FirstChild; c != nil && c == n.LastChild { // <pre>text</pre>, <pre><code>text</code></pre>
		if c.DataAtom == atom.Code && c.FirstChild != nil && c.FirstChild == c.LastChild {
			c = c.FirstChild
		}
		if c.Type == html.TextNode {
			return trimCode(p.text(c.Data, true))
		}
	}
	b := make([]byte, 0, 1024)
	open := false // the last line element has not been ended by a newline
	at := func() bool { return len(b) == 0 || b[len(b)-1] == '\n' }
	newline := func() {
		if !at() {
			b = append(b, '\n')
		}
		open = false
	}
	for c := n.FirstChild; c != nil; {
		into := true
		switch c.Type {
		case html.TextNode:
			s := p.text(c.Data, true)
			if s != "" && tableGap(c) && strings.Trim(s, " \n\t") == "" {
				break // indentation between the rows of a table
			}
			if s != "" {
				b = append(b, s...)
				open = open && s[len(s)-1] != '\n'
			}
		case html.ElementNode:
			a := readAttr(c)
			kind := judgeCode(c, &a)
			if mark := dom.Attr(c, "data-code-marker"); mark != "" && len(mark) == 1 && at() {
				b = append(b, mark...)
			}
			switch {
			case kind == codeSkip:
				into = false
			default:
				if how, ok := p.unseen(c, &a); ok {
					p.hide(c, &p.res.HiddenText, how)
					into = false
				}
			}
			switch {
			case !into || kind == codeSkip:
			case c.DataAtom == atom.Br:
				b = append(b, '\n')
				open = false
			case kind == codeLine:
				if open {
					b = append(b, '\n')
				} else if IsBlock(c) {
					newline()
				}
			case c.DataAtom == atom.Td || c.DataAtom == atom.Th:
			case IsBlock(c):
				newline()
			}
		}
		if into && c.FirstChild != nil {
			c = c.FirstChild
			continue
		}
		for c != n {
			if c.Type == html.ElementNode {
				if isCodeLine(c) {
					open = !at() || c.FirstChild == nil
				} else if IsBlock(c) && c.DataAtom != atom.Td && c.DataAtom != atom.Th {
					if open {
						b = append(b, '\n')
					}
					newline()
				}
			}
			if c.NextSibling != nil {
				c = c.NextSibling
				break
			}
			c = c.Parent
		}
		if c == n {
			break
		}
	}
	return trimCode(string(b))
}

// tableGap says that the text c stands between the parts of a table.
func tableGap(c *html.Node) bool {
	switch c.Parent.DataAtom {
	case atom.Table, atom.Tbody, atom.Thead, atom.Tr, atom.Ol, atom.Ul:
		return true
	}
	return false
}

// trimCode takes off empty lines at both ends.
func trimCode(s string) string {
	s = strings.TrimRight(s, " \t\n")
	for {
		line, rest, ok := strings.Cut(s, "\n")
		if !ok || strings.Trim(line, " \t") != "" {
			return s
		}
		s = rest
	}
}

func isCodeLine(c *html.Node) bool {
	class := dom.Attr(c, "class")
	return class != "" && c.DataAtom != atom.Pre && c.DataAtom != atom.Code && classOfCode(class) == codeLine
}

func judgeCode(c *html.Node, a *attrs) codeClass {
	switch c.DataAtom {
	case atom.Button, atom.Script, atom.Style, atom.Template, atom.Svg, atom.Select, atom.Input, atom.Textarea, atom.Noscript, atom.Img:
		return codeSkip
	}
	if c.Namespace != "" || strings.HasPrefix(c.Data, "clipboard-copy") {
		return codeSkip
	}
	if a.style != "" && numbersByStyle(a.style, c) {
		return codeSkip
	}
	if a.class != "" {
		if k := classOfCode(a.class); k == codeSkip || k == codeLine && c.DataAtom != atom.Pre && c.DataAtom != atom.Code {
			return k
		}
		if hasToken(a.class, "ln") && digits(c) {
			return codeSkip
		}
	}
	if a.ariaHidden && (digits(c) || c.FirstChild == nil) {
		return codeSkip
	}
	if (dom.HasAttr(c, "data-line-number") || dom.HasAttr(c, "data-linenumber") || dom.HasAttr(c, "data-line-num")) && digits(c) {
		return codeSkip
	}
	return codePlain
}

// numbersByStyle knows line numbers by what keeps them out of a selection.
func numbersByStyle(style string, c *html.Node) bool {
	return strings.Contains(style, "user-select") && strings.Contains(style, "none") && digits(c)
}

// digits says that c holds a number, or several on lines of their own, or
// nothing.
func digits(c *html.Node) bool {
	s := text(c, 64<<10)
	return strings.Trim(s, "0123456789 \n\t\u00a0") == ""
}

func classOfCode(class string) codeClass {
	kind := codePlain
	eachToken(class, func(t string) bool {
		switch t {
		case "gutter", "lineno", "linenos", "linenodiv", "lineno-container", "line-number", "line-numbers-rows", "linenumber", "line_number", "line-num",
			"lnt", "hljs-ln-numbers", "hljs-ln-n", "blob-num", "rouge-gutter", "gl", "LineNumber", "lineNumber", "codeLineNumber", "react-syntax-highlighter-line-number",
			"copy", "copy-button", "copybtn", "copy-btn", "btn-copy", "code-copy", "copy-code-button", "btn-clipboard", "zeroclipboard-container",
			"clipboard", "code-copy-button", "toolbar", "toolbar-item", "highlight-toolbar", "headerlink", "line-numbers-wrapper", "crayon-nums", "wp-block-code-line-number":
			kind = codeSkip
		case "line", "code-line", "token-line", "codeLine", "view-line", "hljs-ln-line", "highlight-line", "ec-line", "cm-line", "CodeMirror-line", "code__line", "blob-code", "react-code-line", "crayon-line":
			kind = codeLine
		default:
			if strings.HasPrefix(t, "codeLineNumber_") || strings.HasPrefix(t, "lineNumber_") {
				kind = codeSkip
			} else if strings.HasPrefix(t, "codeLine_") {
				kind = codeLine
			}
		}
		return kind == codeSkip
	})
	return kind
}

// language finds the language of the code block n: from its own class and
// those of the code inside, then from what stands around it.
func language(n *html.Node, class string) string {
	if l := langOf(n, class, true); l != "" {
		return l
	}
	// In a table the pre of the line numbers, which names none, comes first.
	if c := find(n, 32, func(c *html.Node) bool {
		return (c.DataAtom == atom.Code || c.DataAtom == atom.Pre) && langOf(c, dom.Attr(c, "class"), true) != ""
	}); c != nil {
		return langOf(c, dom.Attr(c, "class"), true)
	}
	up := n.Parent
	for range 6 {
		if up == nil || up.DataAtom == atom.Body || up.DataAtom == atom.Article || up.DataAtom == atom.Section || up.DataAtom == atom.Li {
			break
		}
		if l := langOf(up, dom.Attr(up, "class"), false); l != "" {
			return l
		}
		up = up.Parent
	}
	return ""
}

// langOf reads the language from one element. Near: it is the code's own
// element, where a bare name beside hljs or sourceCode is a language too.
func langOf(n *html.Node, class string, near bool) string {
	for i := range n.Attr {
		switch at := &n.Attr[i]; at.Key {
		case "data-lang", "data-language", "data-code-language", "data-code-lang":
			if l := cleanLang(at.Val); l != "" {
				return l
			}
		case "lang":
			if near && n.DataAtom == atom.Pre && len(at.Val) > 2 && strings.IndexByte(at.Val, '-') < 0 {
				if l := cleanLang(at.Val); l != "" { // GitHub's <pre lang="shell">
					return l
				}
			}
		}
	}
	if class == "" {
		return ""
	}
	var found, bare string
	marked, brush := false, false
	eachToken(class, func(t string) bool {
		if brush {
			found = cleanLang(strings.TrimSuffix(t, ";"))
			return true
		}
		for _, prefix := range [...]string{"language-", "lang-", "highlight-source-", "highlight-text-", "src-", "sourceCode-", "brush:"} {
			if rest, ok := strings.CutPrefix(t, prefix); ok {
				if prefix == "brush:" && rest == "" {
					brush = true
					return false
				}
				if prefix == "highlight-text-" {
					rest = strings.TrimSuffix(rest, "-basic") // text.html.basic
				}
				found = cleanLang(strings.TrimSuffix(rest, ";"))
				return found != ""
			}
		}
		if rest, ok := strings.CutPrefix(t, "highlight-"); ok && !near { // Sphinx
			switch rest {
			case "default", "none", "wrapper", "container", "block", "lines", "table", "toolbar":
			default:
				found = cleanLang(rest)
				return found != ""
			}
		}
		switch t {
		case "hljs", "sourceCode", "highlight", "code", "prettyprint", "src", "brush:":
			marked = true
			brush = t == "brush:"
		case "syntax", "numberSource", "numberLines", "linenums", "copyable", "wrap", "no-wrap", "notranslate", "nohighlight", "line-numbers", "prism-code", "prettyprinted",
			"lineNumbers", "linenos", "codehilite", "literal-block", "chroma", "snippet", "shiki", "example", "programlisting":
		default:
			if bare == "" {
				bare = t
			}
		}
		return false
	})
	if found != "" {
		return found
	}
	if marked && bare != "" && (near || n.DataAtom == atom.Figure) && knownLang(bare) {
		return cleanLang(bare)
	}
	return ""
}

// cleanLang gives a language's name fit for a fence, "" when it says nothing.
func cleanLang(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	if s == "" || len(s) > 30 {
		return ""
	}
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '+', c == '#', c == '-', c == '_', c == '.':
		default:
			return ""
		}
	}
	switch s {
	case "none", "plain", "plaintext", "text", "txt", "nohighlight", "no-highlight", "auto", "default", "undefined", "null", "unknown", "code":
		return ""
	}
	return s
}

// knownLang knows the names that appear bare among other classes.
func knownLang(t string) bool {
	switch strings.ToLower(t) {
	case "bash", "sh", "shell", "zsh", "console", "powershell", "ps1", "bat", "c", "cpp", "c++", "cs", "csharp", "objectivec", "objc", "swift", "kotlin", "java",
		"scala", "groovy", "clojure", "javascript", "js", "jsx", "typescript", "ts", "tsx", "json", "json5", "yaml", "yml", "toml", "ini", "xml", "html", "css", "scss",
		"sass", "less", "php", "python", "py", "pycon", "ruby", "rb", "erb", "perl", "lua", "r", "julia", "matlab", "octave", "go", "golang", "rust", "rs", "zig", "nim",
		"haskell", "hs", "ocaml", "fsharp", "elixir", "erlang", "elm", "lisp", "scheme", "racket", "sql", "pgsql", "graphql", "dockerfile", "docker", "makefile", "make",
		"cmake", "nginx", "apache", "diff", "patch", "http", "markdown", "md", "latex", "tex", "vim", "viml", "awk", "sed", "asm", "nasm", "wasm", "dart", "d", "pascal",
		"delphi", "fortran", "cobol", "ada", "vb", "vbnet", "vba", "prolog", "solidity", "terraform", "hcl", "nix", "proto", "protobuf", "thrift", "svelte", "vue",
		"liquid", "twig", "jinja", "django", "handlebars", "mermaid", "gherkin", "crystal", "tcl", "verilog", "vhdl", "glsl", "hlsl", "cuda", "abap", "apex", "emacs-lisp", "elisp":
		return true
	}
	return false
}

// codeTable turns a table that lays out code, with its line numbers in a cell,
// into a code block.
func (p *pass) codeTable(n *html.Node, a *attrs) bool {
	is := a.class != "" && eachToken(a.class, func(t string) bool {
		switch t {
		case "highlighttable", "rouge-table", "lntable", "hljs-ln", "codehilitetable", "js-file-line-container", "crayon-table", "blob-wrapper", "diff-table", "syntaxhighlighter":
			return true
		}
		return false
	})
	if !is {
		// One look at the first cells: td.gutter, td.code, td.blob-num …
		seen := 0
		for c := n.FirstChild; c != nil && seen < 12 && !is; c = following(c, n, c.DataAtom == atom.Tbody || c.DataAtom == atom.Tr) {
			seen++
			if c.DataAtom == atom.Td {
				is = eachToken(dom.Attr(c, "class"), func(t string) bool {
					switch t {
					case "gutter", "blob-code", "blob-num", "hljs-ln-code", "rouge-code", "lntd", "linenos", "crayon-code", "codeCell":
						return true
					}
					return false
				})
			}
		}
	}
	if !is && !numbered(n, a) {
		return false
	}
	class := a.class
	lang := language(n, class)
	if find(n, 2_000, func(c *html.Node) bool { m := dom.Attr(c, "data-code-marker"); return m == "+" || m == "-" }) != nil {
		lang = "diff"
	}
	code := p.codeText(n)
	if strings.Trim(code, " \n") == "" {
		return false
	}
	p.setCode(n, lang, code)
	return true
}

// numbered says that a table, whose class or whose cells' speak of code, has
// nothing but the numbers of lines in front of lines.
func numbered(n *html.Node, a *attrs) bool {
	says := func(class string) bool {
		return eachToken(class, func(t string) bool {
			return hasWord(t, "code") || hasWord(t, "source") || hasWord(t, "src") || hasWord(t, "lines") || hasWord(t, "listing")
		})
	}
	named := says(a.class)
	rows := 0
	for c := n.FirstChild; c != nil; {
		if c.DataAtom != atom.Tr {
			if c.DataAtom == atom.Thead || c.DataAtom == atom.Caption || c.DataAtom == atom.Td {
				return false
			}
			c = following(c, n, c.DataAtom == atom.Tbody)
			continue
		}
		number := c.FirstChild
		for number != nil && number.Type != html.ElementNode {
			number = number.NextSibling
		}
		if number == nil || number.DataAtom != atom.Td {
			return false
		}
		line := nextElement(number)
		if line == nil || line.DataAtom != atom.Td || nextElement(line) != nil {
			return false
		}
		s := strings.TrimSpace(text(number, 16))
		if s == "" {
			s = firstOf(dom.Attr(number, "data-line"), dom.Attr(number, "data-line-number"), dom.Attr(number, "data-lineno"))
		}
		if s == "" || strings.Trim(s, "0123456789") != "" {
			return false
		}
		named = named || says(dom.Attr(line, "class")) || find(line, 4, func(c *html.Node) bool { return c.DataAtom == atom.Code || c.DataAtom == atom.Pre }) != nil
		if !named {
			return false
		}
		rows++
		c = following(c, n, false)
	}
	if rows == 0 {
		return false
	}
	// The numbers go, as the lines do that are in elements of their own.
	eachRow(n, func(r *html.Node) {
		for c := r.FirstChild; c != nil; c = c.NextSibling {
			if c.DataAtom == atom.Td {
				r.RemoveChild(c)
				return
			}
		}
	})
	return true
}

func firstOf(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// codeLines turns the <div class="syntaxhighlighter"> kind of code, which has
// no <pre>, into a code block. Its table is codeTable's.
func (p *pass) codeLines(n *html.Node, a *attrs) bool {
	if a.class == "" || n.DataAtom != atom.Div {
		return false
	}
	if !hasToken(a.class, "CodeMirror-code") && !hasToken(a.class, "cm-content") && !hasToken(a.class, "view-lines") && !hasToken(a.class, "crayon-pre") {
		return false
	}
	code := p.codeText(n)
	if strings.Trim(code, " \n") == "" {
		return false
	}
	p.setCode(n, language(n, a.class), code)
	return true
}

// breaks says that the inline code n has several lines, so that it is a block.
func breaks(n *html.Node) bool {
	if keepsLines(n) {
		return true
	}
	lines, bound := 0, 500 // nodes looked at: elements of code may be nested
	for c := n.FirstChild; c != nil && bound > 0; c = following(c, n, true) {
		bound--
		if c.DataAtom == atom.Br {
			if lines++; lines > 1 {
				return true
			}
		}
	}
	return lines > 0 && n.LastChild.DataAtom != atom.Br
}

// keepsLines says that the lines of the inline code n are shown as they are.
func keepsLines(n *html.Node) bool {
	class, style := dom.Attr(n, "class"), dom.Attr(n, "style")
	if class == "" && style == "" {
		return false
	}
	if !strings.Contains(style, "pre") && !eachToken(class, func(t string) bool {
		return strings.HasPrefix(t, "language-") || strings.HasPrefix(t, "whitespace-pre") || t == "hljs"
	}) {
		return false
	}
	return strings.IndexByte(strings.TrimRight(text(n, 64<<10), " \n\t"), '\n') > 0
}
