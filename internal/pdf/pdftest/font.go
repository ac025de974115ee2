package pdftest

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// The fonts that every reader has, so that none needs to be embedded.
const (
	Helvetica     = "Helvetica"
	HelveticaBold = "Helvetica-Bold"
	TimesRoman    = "Times-Roman"
	TimesBold     = "Times-Bold"
	TimesItalic   = "Times-Italic"
	Courier       = "Courier"
	CourierBold   = "Courier-Bold"
)

// A Font says how characters become codes. Zero is Helvetica with the
// Windows character set.
type Font struct {
	Name string // "": Helvetica; for CJK any name
	// Glyphs gives codes a glyph by its name, as old TeX fonts do: the only
	// hint at the character is the name.
	Glyphs map[byte]string
	// Unicode is the ToUnicode map. What Text writes goes through it
	// backwards, the longest match first.
	Unicode map[int]string
	// Wide makes a composite font of two-byte codes (Identity-H): it needs
	// Unicode, and is not embedded, so it cannot be seen, only read.
	Wide bool
	// CMap names a predefined map of two-byte characters, such as
	// UniJIS-UCS2-H or 90ms-RKSJ-H, for a font that is not embedded. Text
	// can write the Uni…-UCS2 ones; Codes writes all.
	CMap string
}

// glyphText says what the glyphs mean that stand for several letters.
func glyphText(name string) string {
	switch name {
	case "ff", "fi", "fl", "ffi", "ffl", "st", "ij":
		return name
	case "f_i", "f_f", "f_l", "f_f_i":
		return strings.ReplaceAll(name, "_", "")
	}
	return ""
}

// collection is the character collection that a predefined map belongs to
// (Table 116).
func collection(cmap string) string {
	switch {
	case strings.Contains(cmap, "JIS"), strings.Contains(cmap, "RKSJ"), strings.HasPrefix(cmap, "EUC-"), cmap == "H", cmap == "V":
		return "Japan1"
	case strings.Contains(cmap, "CNS"), strings.Contains(cmap, "B5"), strings.Contains(cmap, "ETen"):
		return "CNS1"
	case strings.Contains(cmap, "KS"):
		return "Korea1"
	default:
		return "GB1"
	}
}

func (f Font) name() string {
	if f.Name == "" {
		return Helvetica
	}
	return f.Name
}

// encode gives the codes of s in this font.
func (f Font) encode(s string) []byte {
	if strings.HasPrefix(f.CMap, "Uni") {
		return utf16be(s)
	}
	if f.CMap != "" {
		panic("pdftest: text in " + f.CMap + " must be given as Codes")
	}
	// Of two codes for one text the lower is taken: the bytes must not depend
	// on the order of a map.
	long := make(map[string]int)
	offer := func(text string, code int) {
		if had, ok := long[text]; !ok || code < had {
			long[text] = code
		}
	}
	for code, text := range f.Unicode {
		offer(text, code)
	}
	for code, name := range f.Glyphs {
		if t := glyphText(name); t != "" {
			offer(t, int(code))
		}
	}
	keys := slices.SortedFunc(maps.Keys(long), func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	var out []byte
next:
	for s != "" {
		for _, k := range keys {
			if k != "" && strings.HasPrefix(s, k) {
				if f.Wide {
					out = append(out, byte(long[k]>>8))
				}
				out = append(out, byte(long[k]))
				s = s[len(k):]
				continue next
			}
		}
		r, n := utf8.DecodeRuneInString(s)
		c, ok := winAnsi(r)
		if !ok || f.Wide {
			panic(fmt.Sprintf("pdftest: font %s has no %q", f.name(), r))
		}
		out = append(out, c)
		s = s[n:]
	}
	return out
}

// winAnsi is WinAnsiEncoding (Annex D): Latin-1 with 27 characters in the
// place of controls.
func winAnsi(r rune) (byte, bool) {
	if r >= 0x20 && r < 0x7f || r >= 0xa0 && r <= 0xff {
		return byte(r), true
	}
	const upper = "€\x00‚ƒ„…†‡ˆ‰Š‹Œ\x00Ž\x00\x00‘’“”•–—˜™š›œ\x00žŸ"
	i := 0
	for _, u := range upper {
		if u == r && r != 0 {
			return byte(0x80 + i), true
		}
		i++
	}
	return 0, false
}

// toUnicode writes a ToUnicode map (9.10.3).
func toUnicode(m map[int]string, wide bool) []byte {
	digits := 2
	if wide {
		digits = 4
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n/CMapName /Adobe-Identity-UCS def\n/CMapType 2 def\n"+
		"1 begincodespacerange\n<%0*x> <%s>\nendcodespacerange\n", digits, 0, strings.Repeat("f", digits))
	codes := slices.Sorted(maps.Keys(m))
	for part := range slices.Chunk(codes, 100) { // the most that one operator may have
		fmt.Fprintf(&b, "%d beginbfchar\n", len(part))
		for _, c := range part {
			fmt.Fprintf(&b, "<%0*x> <%x>\n", digits, c, utf16be(m[c]))
		}
		b.WriteString("endbfchar\n")
	}
	b.WriteString("endcmap\nCMapName currentdict /CMap defineresource pop\nend\nend\n")
	return b.Bytes()
}

// add writes the font's objects.
func (f Font) add(to *File) Ref {
	d := Dict{"Type": Name("Font"), "Subtype": Name("Type1"), "BaseFont": Name(f.name())}
	if len(f.Unicode) > 0 {
		d["ToUnicode"] = to.Add(Flate(nil, toUnicode(f.Unicode, f.Wide)))
	}
	switch {
	case f.Wide, f.CMap != "":
		info, encoding := Dict{"Registry": String("Adobe"), "Ordering": String("Identity"), "Supplement": 0}, "Identity-H"
		if f.CMap != "" {
			encoding = f.CMap
			info["Ordering"], info["Supplement"] = String(collection(f.CMap)), 2
		}
		descriptor := to.Add(Dict{"Type": Name("FontDescriptor"), "FontName": Name(f.name()), "Flags": 4, "FontBBox": Array{0, -200, 1000, 900},
			"ItalicAngle": 0, "Ascent": 900, "Descent": -200, "CapHeight": 700, "StemV": 80})
		descendant := to.Add(Dict{"Type": Name("Font"), "Subtype": Name("CIDFontType0"), "BaseFont": Name(f.name()), "CIDSystemInfo": info,
			"FontDescriptor": descriptor, "DW": 1000})
		d["Subtype"], d["Encoding"], d["DescendantFonts"] = Name("Type0"), Name(encoding), Array{descendant}
	case len(f.Glyphs) > 0:
		differences := Array{}
		for _, code := range slices.Sorted(maps.Keys(f.Glyphs)) {
			differences = append(differences, int(code), Name(f.Glyphs[code]))
		}
		d["Encoding"] = Dict{"Type": Name("Encoding"), "BaseEncoding": Name("WinAnsiEncoding"), "Differences": differences}
	default:
		d["Encoding"] = Name("WinAnsiEncoding")
	}
	return to.Add(d)
}
