package normalize

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// mathDepth is how deep into presentation markup a formula is read; deeper
// than that there is only its text.
const mathDepth = 100

// presentation makes TeX from MathML that brings none along: plain, readable
// TeX rather than a faithful typesetting.
func presentation(n *html.Node) string {
	var w mathWriter
	w.children(n, 0)
	return w.b.String()
}

type mathWriter struct {
	b    strings.Builder
	last byte // last byte written
	word bool // a command's name stands at the end: a letter after it needs a space
}

func (w *mathWriter) put(s string) {
	if s == "" || w.b.Len() > texMax {
		return
	}
	if w.word && isLetter(s[0]) {
		w.b.WriteByte(' ')
	}
	w.b.WriteString(s)
	w.last = s[len(s)-1]
	w.word = false
	if isLetter(w.last) {
		i := len(s) - 1
		for i >= 0 && isLetter(s[i]) {
			i--
		}
		w.word = i >= 0 && s[i] == '\\'
	}
}

func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

func (w *mathWriter) children(n *html.Node, depth int) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		w.node(c, depth)
	}
}

// group writes n in braces, which a single sign does not need.
func (w *mathWriter) group(n *html.Node, depth int) {
	if n == nil {
		w.put("{}")
		return
	}
	var in mathWriter
	in.node(n, depth)
	s := in.b.String()
	if utf8.RuneCountInString(s) == 1 {
		w.put(s)
		return
	}
	w.put("{" + s + "}")
}

// braced is group with braces always, as after a command.
func (w *mathWriter) braced(n *html.Node, depth int) {
	w.put("{")
	if n != nil {
		w.node(n, depth)
	}
	w.put("}")
}

// parts gives the element children of n.
func parts(n *html.Node) (out [4]*html.Node, count int) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.ElementNode {
			if count < len(out) {
				out[count] = c
			}
			count++
		}
	}
	return out, count
}

func (w *mathWriter) node(n *html.Node, depth int) {
	if n.Type == html.TextNode {
		w.put(strings.Join(strings.Fields(n.Data), " "))
		return
	}
	if n.Type != html.ElementNode || w.b.Len() > texMax {
		return
	}
	if depth++; depth > mathDepth {
		w.put(plainText(n, texMax))
		return
	}
	k, _ := parts(n)
	switch n.Data {
	case "annotation", "annotation-xml", "mphantom", "maligngroup", "malignmark", "mprescripts", "none":
	case "mi", "mn", "mo", "mtext", "ms":
		w.token(n)
	case "mspace":
		w.put(" ")
	case "mfrac":
		w.put(`\frac`)
		w.braced(k[0], depth)
		w.braced(k[1], depth)
	case "msqrt":
		w.put(`\sqrt{`)
		w.children(n, depth)
		w.put("}")
	case "mroot":
		w.put(`\sqrt[`)
		if k[1] != nil {
			w.node(k[1], depth)
		}
		w.put("]")
		w.braced(k[0], depth)
	case "msup", "msub", "msubsup", "munder", "mover", "munderover", "mmultiscripts":
		w.scripts(n, k, depth)
	case "mfenced":
		w.fenced(n, depth)
	case "mtable":
		w.put(`\begin{matrix} `)
		first := true
		for r := n.FirstChild; r != nil; r = r.NextSibling {
			if r.Type != html.ElementNode {
				continue
			}
			if !first {
				w.put(` \\ `)
			}
			first = false
			cell := false
			for c := r.FirstChild; c != nil; c = c.NextSibling {
				if c.Type != html.ElementNode {
					continue
				}
				if cell {
					w.put(" & ")
				}
				cell = true
				w.children(c, depth)
			}
		}
		w.put(` \end{matrix}`)
	case "semantics":
		if k[0] != nil {
			w.node(k[0], depth)
		}
	default:
		w.children(n, depth)
	}
}

// accents are what mover and munder put over or under one sign.
var accents = map[string]string{
	"¯": `\overline`, "‾": `\overline`, "_": `\underline`, "^": `\hat`, "ˆ": `\hat`, "~": `\tilde`, "˜": `\tilde`, "→": `\vec`, "⃗": `\vec`,
	"˙": `\dot`, "¨": `\ddot`, "⏞": `\overbrace`, "⏟": `\underbrace`, "ˇ": `\check`, "˘": `\breve`, "´": `\acute`, "`": `\grave`,
}

func (w *mathWriter) scripts(n *html.Node, k [4]*html.Node, depth int) {
	if (n.Data == "mover" || n.Data == "munder") && k[1] != nil && k[0] != nil {
		if cmd, ok := accents[strings.TrimSpace(plainText(k[1], 16))]; ok && k[1].Data == "mo" {
			w.put(cmd)
			w.braced(k[0], depth)
			return
		}
	}
	if k[0] == nil {
		return
	}
	if k[0].Data == "mrow" || k[0].Data == "mstyle" {
		w.group(k[0], depth)
	} else {
		w.node(k[0], depth)
	}
	under, over := k[1], k[2]
	if n.Data == "msup" || n.Data == "mover" {
		under, over = nil, k[1]
	}
	if under != nil && under.Data != "none" {
		w.put("_")
		w.group(under, depth)
	}
	if over != nil && over.Data != "none" {
		w.put("^")
		w.group(over, depth)
	}
}

func (w *mathWriter) fenced(n *html.Node, depth int) {
	open, shut, sep := "(", ")", ","
	for _, a := range n.Attr {
		switch a.Key {
		case "open":
			open = a.Val
		case "close":
			shut = a.Val
		case "separators":
			sep = strings.TrimSpace(a.Val)
		}
	}
	w.put(cut(open, 4))
	first := true
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type != html.ElementNode {
			continue
		}
		if !first {
			w.put(cut(sep, 1))
		}
		first = false
		w.node(c, depth)
	}
	w.put(cut(shut, 4))
}

// token writes a name, number, operator or text.
func (w *mathWriter) token(n *html.Node) {
	s := strings.Join(strings.Fields(text(n, texMax)), " ")
	if s == "" {
		return
	}
	if n.Data == "mtext" || n.Data == "ms" {
		w.put(`\text{` + strings.NewReplacer("{", "", "}", "", `\`, "").Replace(s) + "}")
		return
	}
	ascii := true
	for i := range len(s) {
		ascii = ascii && s[i] < 0x80
	}
	if n.Data == "mi" && ascii && len(s) > 1 {
		switch s {
		case "sin", "cos", "tan", "cot", "sec", "csc", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "log", "ln", "lg", "exp", "lim", "max", "min",
			"sup", "inf", "det", "dim", "ker", "gcd", "deg", "arg", "Pr", "mod":
			w.put(`\` + s)
		default:
			w.put(`\mathrm{` + strings.NewReplacer("{", "", "}", "", `\`, "").Replace(s) + "}")
		}
		return
	}
	for i, r := range s {
		if cmd, ok := texNames[r]; ok {
			w.put(cmd)
			continue
		}
		switch r {
		case '{', '}', '%', '&', '#', '$', '_':
			w.put(`\` + string(r))
		case '\\':
			w.put(`\backslash`)
		case 0x2061, 0x2062, 0x2063, 0x2064, 0x200b: // invisible operators
		case utf8.RuneError:
		default:
			if unicode.IsSpace(r) && i == 0 {
				continue
			}
			w.put(string(r))
		}
	}
}

var texNames = map[rune]string{
	'α': `\alpha`, 'β': `\beta`, 'γ': `\gamma`, 'δ': `\delta`, 'ε': `\varepsilon`, 'ϵ': `\epsilon`, 'ζ': `\zeta`, 'η': `\eta`, 'θ': `\theta`, 'ϑ': `\vartheta`,
	'ι': `\iota`, 'κ': `\kappa`, 'λ': `\lambda`, 'μ': `\mu`, 'ν': `\nu`, 'ξ': `\xi`, 'π': `\pi`, 'ρ': `\rho`, 'σ': `\sigma`, 'ς': `\varsigma`, 'τ': `\tau`,
	'υ': `\upsilon`, 'φ': `\varphi`, 'ϕ': `\phi`, 'χ': `\chi`, 'ψ': `\psi`, 'ω': `\omega`,
	'Γ': `\Gamma`, 'Δ': `\Delta`, 'Θ': `\Theta`, 'Λ': `\Lambda`, 'Ξ': `\Xi`, 'Π': `\Pi`, 'Σ': `\Sigma`, 'Υ': `\Upsilon`, 'Φ': `\Phi`, 'Ψ': `\Psi`, 'Ω': `\Omega`,
	'∑': `\sum`, '∏': `\prod`, '∐': `\coprod`, '∫': `\int`, '∬': `\iint`, '∭': `\iiint`, '∮': `\oint`, '∂': `\partial`, '∇': `\nabla`, '√': `\surd`, '∞': `\infty`,
	'±': `\pm`, '∓': `\mp`, '×': `\times`, '÷': `\div`, '⋅': `\cdot`, '·': `\cdot`, '∗': `*`, '∘': `\circ`, '∙': `\bullet`, '⊕': `\oplus`, '⊗': `\otimes`,
	'≤': `\le`, '≥': `\ge`, '≠': `\ne`, '≈': `\approx`, '≡': `\equiv`, '≅': `\cong`, '∼': `\sim`, '≃': `\simeq`, '∝': `\propto`, '≪': `\ll`, '≫': `\gg`,
	'∈': `\in`, '∉': `\notin`, '∋': `\ni`, '⊂': `\subset`, '⊃': `\supset`, '⊆': `\subseteq`, '⊇': `\supseteq`, '∪': `\cup`, '∩': `\cap`, '∅': `\emptyset`, '∖': `\setminus`,
	'∀': `\forall`, '∃': `\exists`, '¬': `\neg`, '∧': `\wedge`, '∨': `\vee`, '⊥': `\perp`, '∥': `\parallel`, '∠': `\angle`,
	'→': `\to`, '←': `\leftarrow`, '↔': `\leftrightarrow`, '⇒': `\Rightarrow`, '⇐': `\Leftarrow`, '⇔': `\Leftrightarrow`, '↦': `\mapsto`, '↑': `\uparrow`, '↓': `\downarrow`,
	'…': `\ldots`, '⋯': `\cdots`, '⋮': `\vdots`, '⋱': `\ddots`, '′': `'`, '″': `''`, '−': `-`, '–': `-`, '∣': `|`, '⟨': `\langle`, '⟩': `\rangle`, '⌊': `\lfloor`, '⌋': `\rfloor`,
	'⌈': `\lceil`, '⌉': `\rceil`, 'ℝ': `\mathbb{R}`, 'ℕ': `\mathbb{N}`, 'ℤ': `\mathbb{Z}`, 'ℚ': `\mathbb{Q}`, 'ℂ': `\mathbb{C}`, 'ℓ': `\ell`, 'ℏ': `\hbar`, 'ℵ': `\aleph`,
	'ℜ': `\Re`, 'ℑ': `\Im`, '†': `\dagger`, '°': `^\circ`,
}
