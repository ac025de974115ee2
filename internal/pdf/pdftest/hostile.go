package pdftest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// A HostileFile is a file that was made to harm a reader: to keep it busy
// for ever, to fill its memory, to crash it, or to make it act.
type HostileFile struct {
	Name string
	Why  string        // what it tries
	Text string        // what a good reader finds in it all the same; "" where finding nothing is right too
	Make func() []byte // builds it: some seconds at most, and at most 32 MB of file
}

// Hostile lists the hostile files, in a fixed order.
func Hostile() []HostileFile {
	return slices.Concat(hostileStreams(), hostilePages(), hostileTables(), hostileNesting(), hostileTrees(), hostileFonts(), hostileImages(),
		hostileLayout(), hostileLocks(), hostileActs(), hostileNoise())
}

// bones is the least file that shows something, with its dictionaries at
// hand: what is changed in them before Bytes is what is written.
type bones struct {
	File
	catalog, pages, page, fonts Dict
	pagesRef, pageRef, content  Ref
}

const shown = "BT /F1 12 Tf 72 700 Td (%s) Tj ET"

// skeleton is a page that says text.
func skeleton(text string) *bones {
	return skeletonOf(Stream{Data: fmt.Appendf(nil, shown, text)})
}

// skeletonOf is a page with the given content.
func skeletonOf(content Stream) *bones {
	b := &bones{catalog: Dict{"Type": Name("Catalog")}, pages: Dict{"Type": Name("Pages"), "Count": 1}, page: Dict{"Type": Name("Page")}}
	root := b.Add(b.catalog)
	b.pagesRef, b.pageRef, b.content = b.Add(b.pages), b.Add(b.page), b.Add(content)
	b.fonts = Dict{"F1": b.Add(Dict{"Type": Name("Font"), "Subtype": Name("Type1"), "BaseFont": Name(Helvetica)})}
	b.Trailer = Dict{"Root": root}
	b.catalog["Pages"] = b.pagesRef
	b.pages["Kids"] = Array{b.pageRef}
	b.page["Parent"], b.page["Contents"] = b.pagesRef, b.content
	b.page["MediaBox"] = Array{0, 0, 612, 792}
	b.page["Resources"] = Dict{"Font": b.fonts}
	return b
}

func (b *bones) resources() Dict { return b.page["Resources"].(Dict) }

// xobject adds a form that draws content with the given resources.
func xobject(content string, resources Dict) Stream {
	return Stream{Dict: Dict{"Type": Name("XObject"), "Subtype": Name("Form"), "BBox": Array{0, 0, 612, 792}, "Resources": resources}, Data: []byte(content)}
}

const mega = 1 << 20

// textLines is about a megabyte of text, line by line.
func textLines() []byte {
	return bytes.Repeat([]byte("(The quick brown fox jumps over the lazy dog 0123456789) Tj T*\n"), mega/64)
}

func hostileStreams() []HostileFile {
	flated := func(data []byte) Stream { return Stream{Dict: Dict{"Filter": Name("FlateDecode")}, Data: data} }
	text := func(n int) func() []byte {
		return func() []byte {
			return skeletonOf(flated(repeated([]byte("BT /F1 8 Tf 9 TL 10 700 Td\n"), textLines(), n, []byte("ET")))).Bytes()
		}
	}
	double := func(n int) func() []byte {
		return func() []byte {
			s := Flate(nil, repeated(nil, bytes.Repeat([]byte(" "), mega), n, nil))
			s.Dict["Filter"] = Array{Name("FlateDecode"), Name("FlateDecode")}
			return skeletonOf(s).Bytes()
		}
	}
	return []HostileFile{
		{"flate-1g", "a stream of 1 MB that becomes 1 GB of blanks", "", func() []byte {
			return skeletonOf(flated(repeated(nil, bytes.Repeat([]byte(" "), mega), 1024, nil))).Bytes()
		}},
		{"flate-double-8m", "a stream compressed twice: under a kilobyte becomes 8 MB", "", double(8)},
		{"flate-double-4g", "a stream compressed twice: some kilobytes become 4 GB", "", double(4096)},
		{"text-10m", "10 MB of text on one page", "", text(10)},
		{"text-200m", "200 MB of text on one page", "", text(200)},
		{"filters-1000", "a chain of a thousand filters", "a thousand filters", func() []byte {
			var z deflater
			data, chain := fmt.Appendf(nil, shown, "a thousand filters"), Array{}
			for range 1000 {
				data, chain = z.bytes(data), append(chain, Name("FlateDecode"))
			}
			return skeletonOf(Stream{Dict: Dict{"Filter": chain}, Data: data}).Bytes()
		}},
		{"predictor-wide", "a predictor whose rows have two thousand million columns", "", func() []byte {
			s := Flate(nil, fmt.Appendf(nil, shown, "wide rows"))
			s.Dict["DecodeParms"] = Dict{"Predictor": 15, "Columns": 2147483647, "Colors": 32, "BitsPerComponent": 16}
			return skeletonOf(s).Bytes()
		}},
		{"hex-open", "a hexadecimal string that never ends", "", func() []byte {
			return skeletonOf(Stream{Data: []byte("BT /F1 12 Tf 72 700 Td <48656c6c6f")}).Bytes()
		}},
		{"string-open", "a string of a million open brackets", "", func() []byte {
			return skeletonOf(Stream{Data: []byte("BT /F1 12 Tf 72 700 Td " + strings.Repeat("(", mega))}).Bytes()
		}},
		{"length-huge", "a stream that says it is longer than the file", "longer than it is", func() []byte {
			s := Stream{Dict: Dict{"Length": 2147483647}, Data: fmt.Appendf(nil, shown, "longer than it is")}
			return skeletonOf(s).Bytes()
		}},
		{"length-self", "a stream whose length is the stream itself", "as long as itself", func() []byte {
			b := skeleton("")
			b.Set(b.content, Stream{Dict: Dict{"Length": b.content}, Data: fmt.Appendf(nil, shown, "as long as itself")})
			return b.Bytes()
		}},
	}
}

func hostilePages() []HostileFile {
	count := func(n int) func() []byte {
		return func() []byte {
			b := skeleton("one page there is")
			b.pages["Count"] = n
			return b.Bytes()
		}
	}
	return []HostileFile{
		{"kids-self", "a page tree whose only kid is itself", "", func() []byte {
			b := skeleton("")
			b.pages["Kids"] = Array{b.pagesRef}
			return b.Bytes()
		}},
		{"kids-loop", "a page tree that holds itself twice beside a page", "looped", func() []byte {
			b := skeleton("looped")
			b.pages["Kids"], b.pages["Count"] = Array{b.pagesRef, b.pagesRef, b.pageRef}, 3
			return b.Bytes()
		}},
		{"parent-self", "a page that is its own parent, so that what it inherits is looked for in itself", "orphan", func() []byte {
			b := skeleton("orphan")
			b.page["Parent"] = b.pageRef
			delete(b.page, "Resources")
			delete(b.page, "MediaBox")
			return b.Bytes()
		}},
		{"pages-deep", "a page tree ten thousand levels deep", "", func() []byte {
			b := skeleton("deep down")
			parent := b.pagesRef
			for i := range 10000 {
				node := Dict{"Type": Name("Pages"), "Count": 1, "Parent": parent, "Kids": Array{b.pageRef}}
				ref := b.Add(node)
				if i == 0 {
					b.pages["Kids"] = Array{ref}
				} else {
					b.objects[parent-1].(Dict)["Kids"] = Array{ref}
				}
				parent = ref
			}
			b.page["Parent"] = parent
			return b.Bytes()
		}},
		{"count-lie", "one page, and a count of 2,147,483,647", "one page there is", count(2147483647)},
		{"count-2g", "one page, and a count of 2,000,000,000", "one page there is", count(2000000000)},
		{"count-negative", "one page, and a count below nothing", "one page there is", count(-1)},
		{"pages-none", "no pages at all", "", func() []byte {
			b := skeleton("")
			b.pages["Kids"], b.pages["Count"] = Array{}, 0
			return b.Bytes()
		}},
		{"pages-100k-shared", "a hundred thousand pages that are all the same object", "the same page", func() []byte {
			b := skeleton("the same page")
			b.pages["Kids"], b.pages["Count"] = slices.Repeat(Array{b.pageRef}, 100000), 100000
			return b.Bytes()
		}},
		{"pages-100k", "a hundred thousand pages in object streams, in a small file", "page of many", func() []byte {
			b := skeleton("page of many")
			kids := Array{b.pageRef}
			for len(kids) < 100000 {
				kids = append(kids, b.Add(b.page))
			}
			b.pages["Kids"], b.pages["Count"] = kids, len(kids)
			b.Compact = true
			return b.Bytes()
		}},
		{"page-giant", "a page of 10^12 points by 10^12, shown 75,000 times as big", "big paper", func() []byte {
			b := skeleton("big paper")
			b.page["MediaBox"], b.page["UserUnit"] = Array{0, 0, Raw("1000000000000"), Raw("1000000000000")}, 75000
			return b.Bytes()
		}},
		{"page-flat", "a page without any height, its corners in the wrong order and not numbers", "no paper", func() []byte {
			b := skeleton("no paper")
			b.page["MediaBox"], b.page["CropBox"], b.page["Rotate"] = Array{612, 0, 0, 0}, Array{Name("a"), nil, Raw("--5"), Raw("1e99")}, 1234567
			return b.Bytes()
		}},
	}
}

// replaceEnd cuts a file off before its table and puts another end there,
// made from where that is.
func replaceEnd(file []byte, end func(offset int) string) []byte {
	head := CutBeforeTrailer(file)
	return append(head, end(len(head))...)
}

func hostileTables() []HostileFile {
	ending := func(text, trailer string) func() []byte {
		return func() []byte {
			return replaceEnd(skeleton(text).Bytes(), func(at int) string {
				return fmt.Sprintf("xref\n0 1\n0000000000 65535 f \ntrailer\n"+strings.ReplaceAll(trailer, "HERE", "%[1]d")+"\nstartxref\n%[1]d\n%%%%EOF\n", at)
			})
		}
	}
	return []HostileFile{
		{"prev-self", "a cross-reference table whose predecessor is itself", "found all the same", ending("found all the same", "<</Root 1 0 R/Size 6/Prev HERE>>")},
		{"prev-stream-self", "a table whose cross-reference stream is the table", "found all the same", ending("found all the same", "<</Root 1 0 R/Size 6/XRefStm HERE/Prev HERE>>")},
		{"size-huge", "a trailer that says there are two thousand million objects", "few objects", ending("few objects", "<</Root 1 0 R/Size 2147483647>>")},
		{"xref-count-huge", "a table that says it has two thousand million entries", "few entries", func() []byte {
			return replaceEnd(skeleton("few entries").Bytes(), func(at int) string {
				return fmt.Sprintf("xref\n0 2000000000\n0000000000 65535 f \ntrailer\n<</Root 1 0 R/Size 2000000000>>\nstartxref\n%d\n%%%%EOF\n", at)
			})
		}},
		{"xref-wrong", "a table in which every offset is wrong", "put right again", func() []byte {
			file := skeleton("put right again").Bytes()
			at := bytes.LastIndex(file, []byte("\nxref\n"))
			for i := at; i < len(file); i++ {
				if bytes.HasPrefix(file[i:], []byte(" 00000 n ")) {
					copy(file[i-4:], "7777")
				}
			}
			return file
		}},
		{"startxref-nowhere", "a file whose table lies beyond its end", "put right again", func() []byte {
			return replaceEnd(skeleton("put right again").Bytes(), func(int) string {
				return "trailer\n<</Root 1 0 R/Size 6>>\nstartxref\n999999999999\n%%EOF\n"
			})
		}},
		{"xref-stream-huge", "a cross-reference stream of two thousand million entries that is a bomb besides", "few entries", func() []byte {
			return replaceEnd(skeleton("few entries").Bytes(), func(at int) string {
				data := repeated(nil, make([]byte, mega), 512, nil)
				return fmt.Sprintf("9 0 obj\n<</Type/XRef/Root 1 0 R/Size 2000000000/Index[0 2000000000]/W[1 8 8]/Filter/FlateDecode/Length %d>>\nstream\n%s\nendstream\nendobj\nstartxref\n%d\n%%%%EOF\n",
					len(data), data, at)
			})
		}},
		{"objstm-self", "an object stream that says it holds itself and extends itself", "", func() []byte {
			b := skeleton("")
			b.Compact = true
			file := b.Bytes()
			// The holder's number is known: the first after the objects.
			return bytes.Replace(file, []byte("/Type /ObjStm"), fmt.Appendf(nil, "/Type /ObjStm/Extends %d 0 R", len(b.objects)+1), 1)
		}},
		{"root-missing", "a trailer whose root does not exist", "", ending("", "<</Root 77 0 R/Size 6>>")},
	}
}

func hostileNesting() []HostileFile {
	object := func(open, end string, n int) func() []byte {
		return func() []byte {
			b := skeleton("beside the nest")
			b.catalog["PieceInfo"] = b.Add(Raw(strings.Repeat(open, n) + strings.Repeat(end, n)))
			return b.Bytes()
		}
	}
	content := func(open, end string, n int) func() []byte {
		return func() []byte {
			block := bytes.Repeat([]byte(open), n/64)
			head := fmt.Appendf(nil, shown+"\n", "before the nest")
			return skeletonOf(Stream{Dict: Dict{"Filter": Name("FlateDecode")}, Data: repeated(head, block, 64, bytes.Repeat([]byte(end), n))}).Bytes()
		}
	}
	return []HostileFile{
		{"arrays-200k", "200,000 arrays, each in the one before", "beside the nest", object("[", "]", 200000)},
		{"arrays-5m", "5,000,000 arrays, each in the one before", "beside the nest", object("[", "]", 5000000)},
		{"dicts-200k", "200,000 dictionaries, each in the one before", "beside the nest", object("<</A", ">>", 200000)},
		{"content-arrays-5m", "5,000,000 arrays, each in the one before, in a page's content", "before the nest", content("[", "]", 5000000)},
		{"content-dicts-500k", "500,000 dictionaries, each in the one before, in a page's content", "before the nest", content("/P <</A ", ">> BDC ", 500000)},
		{"saves-1m", "a million saved graphics states", "before the nest", content("q ", "Q ", 1000000)},
		{"marks-200k", "200,000 marked contents, each in the one before", "", content("/P <</MCID 1>> BDC ", "EMC ", 200000)},
		{"forms-billion", "forms that draw forms ten times each, ten levels deep", "", func() []byte {
			b := skeletonOf(Stream{Data: []byte(strings.Repeat("/X Do ", 10))})
			next := b.Add(xobject("BT /F1 8 Tf (lol) Tj ET", Dict{"Font": b.fonts}))
			for range 9 {
				next = b.Add(xobject(strings.Repeat("/X Do ", 10), Dict{"XObject": Dict{"X": next}}))
			}
			b.resources()["XObject"] = Dict{"X": next}
			return b.Bytes()
		}},
		{"form-self", "a form that draws itself", "", func() []byte {
			b := skeletonOf(Stream{Data: []byte("/X Do " + fmt.Sprintf(shown, "outside the form"))})
			self := b.Reserve()
			b.Set(self, xobject("/X Do /X Do", Dict{"XObject": Dict{"X": self}}))
			b.resources()["XObject"] = Dict{"X": self}
			return b.Bytes()
		}},
		{"pattern-self", "a pattern that is painted with itself", "on the pattern", func() []byte {
			b := skeletonOf(Stream{Data: []byte("/Pattern cs /P scn 0 0 612 792 re f " + fmt.Sprintf(shown, "on the pattern"))})
			self := b.Reserve()
			b.Set(self, Stream{Dict: Dict{"Type": Name("Pattern"), "PatternType": 1, "PaintType": 1, "TilingType": 1, "BBox": Array{0, 0, 1, 1},
				"XStep": 0.001, "YStep": 0.001, "Resources": Dict{"Pattern": Dict{"P": self}}}, Data: []byte("/Pattern cs /P scn 0 0 1 1 re f")})
			b.resources()["Pattern"] = Dict{"P": self}
			return b.Bytes()
		}},
		{"function-self", "a shading whose function is made of itself", "on the shading", func() []byte {
			b := skeletonOf(Stream{Data: []byte("/S sh " + fmt.Sprintf(shown, "on the shading"))})
			self := b.Reserve()
			b.Set(self, Dict{"FunctionType": 3, "Domain": Array{0, 1}, "Functions": Array{self, self}, "Bounds": Array{0.5}, "Encode": Array{0, 1, 0, 1}})
			b.resources()["Shading"] = Dict{"S": Dict{"ShadingType": 2, "ColorSpace": Name("DeviceGray"), "Coords": Array{0, 0, 612, 0}, "Function": self}}
			return b.Bytes()
		}},
		{"colours-self", "a colour space that is based on itself", "on the colour", func() []byte {
			b := skeletonOf(Stream{Data: []byte("/C cs 0 sc 0 0 612 792 re f " + fmt.Sprintf(shown, "on the colour"))})
			self := b.Reserve()
			b.Set(self, Array{Name("Indexed"), self, 255, String("abc")})
			b.resources()["ColorSpace"] = Dict{"C": self}
			return b.Bytes()
		}},
	}
}

// hostileTrees are outlines, structure, names and forms that are cyclic,
// endless or deep.
func hostileTrees() []HostileFile {
	outline := func(fill func(b *bones, root Ref, top Dict)) func() []byte {
		return func() []byte {
			b := skeleton("the page is sound")
			top := Dict{"Type": Name("Outlines"), "Count": 2}
			root := b.Add(top)
			b.catalog["Outlines"] = root
			fill(b, root, top)
			return b.Bytes()
		}
	}
	node := func(key Name, wrap func(root Ref) any) func() []byte {
		return func() []byte {
			b := skeleton("the page is sound")
			root := b.Reserve()
			b.Set(root, Dict{"Kids": Array{root, root}, "Limits": Array{String("a"), String("z")}})
			b.catalog[key] = wrap(root)
			b.catalog["OpenAction"] = String("m")
			return b.Bytes()
		}
	}
	return []HostileFile{
		{"outline-next-cycle", "two bookmarks, each the next of the other", "the page is sound", outline(func(b *bones, root Ref, top Dict) {
			first, second := b.Reserve(), b.Reserve()
			b.Set(first, Dict{"Title": String("A"), "Parent": root, "Next": second})
			b.Set(second, Dict{"Title": String("B"), "Parent": root, "Next": first, "Prev": first})
			top["First"], top["Last"] = first, second
		})},
		{"outline-child-cycle", "two bookmarks, each the first child of the other", "the page is sound", outline(func(b *bones, root Ref, top Dict) {
			first, second := b.Reserve(), b.Reserve()
			b.Set(first, Dict{"Title": String("A"), "Parent": root, "First": second, "Last": second})
			b.Set(second, Dict{"Title": String("B"), "Parent": first, "First": first, "Last": first})
			top["First"], top["Last"] = first, first
		})},
		{"outline-200k", "200,000 bookmarks side by side", "the page is sound", outline(func(b *bones, root Ref, top Dict) {
			const n = 200000
			first := Ref(len(b.objects) + 1)
			for i := range n {
				d := Dict{"Title": String("x"), "Parent": root}
				if i < n-1 {
					d["Next"] = first + Ref(i) + 1
				}
				b.Add(d)
			}
			top["First"], top["Last"], top["Count"] = first, first+n-1, n
		})},
		{"outline-deep", "100,000 bookmarks, each the child of the one before", "the page is sound", outline(func(b *bones, root Ref, top Dict) {
			parent, above := root, top
			for range 100000 {
				d := Dict{"Title": String("down"), "Parent": parent}
				ref := b.Add(d)
				above["First"], above["Last"] = ref, ref
				parent, above = ref, d
			}
		})},
		{"outline-title-16m", "a bookmark whose title has 16 million letters", "the page is sound", outline(func(b *bones, root Ref, top Dict) {
			ref := b.Add(Dict{"Title": String(strings.Repeat("title ", 16*mega/6)), "Parent": root})
			top["First"], top["Last"] = ref, ref
		})},
		{"structure-cycle", "a structure tree whose elements hold each other", "tagged in a circle", func() []byte {
			b := skeletonOf(Stream{Data: []byte("/P <</MCID 0>> BDC " + fmt.Sprintf(shown, "tagged in a circle") + " EMC")})
			root, first, second := b.Reserve(), b.Reserve(), b.Reserve()
			b.Set(root, Dict{"Type": Name("StructTreeRoot"), "K": Array{first, root}, "ParentTree": Dict{"Nums": Array{0, Array{first}}}})
			b.Set(first, Dict{"Type": Name("StructElem"), "S": Name("Sect"), "P": second, "Pg": b.pageRef, "K": Array{second, 0}})
			b.Set(second, Dict{"Type": Name("StructElem"), "S": Name("Sect"), "P": first, "Pg": b.pageRef, "K": Array{first, first, 0}})
			b.catalog["StructTreeRoot"], b.catalog["MarkInfo"], b.page["StructParents"] = root, Dict{"Marked": true}, 0
			return b.Bytes()
		}},
		{"structure-deep", "a structure tree 100,000 levels deep", "tagged deep down", func() []byte {
			b := skeletonOf(Stream{Data: []byte("/P <</MCID 0>> BDC " + fmt.Sprintf(shown, "tagged deep down") + " EMC")})
			root := Dict{"Type": Name("StructTreeRoot")}
			parent, above := b.Add(root), root
			b.catalog["StructTreeRoot"], b.catalog["MarkInfo"], b.page["StructParents"] = parent, Dict{"Marked": true}, 0
			for range 100000 {
				d := Dict{"Type": Name("StructElem"), "S": Name("Div"), "P": parent, "Pg": b.pageRef}
				ref := b.Add(d)
				above["K"] = Array{ref}
				parent, above = ref, d
			}
			above["K"] = Array{0}
			root["ParentTree"] = Dict{"Nums": Array{0, Array{parent}}}
			return b.Bytes()
		}},
		{"structure-wide", "a page of 100,000 tagged pieces", "", func() []byte {
			var content bytes.Buffer
			content.WriteString("BT /F1 1 Tf 72 700 Td\n")
			b := skeleton("")
			root := Dict{"Type": Name("StructTreeRoot")}
			rootRef := b.Add(root)
			kids := Array{}
			for i := range 100000 {
				fmt.Fprintf(&content, "/P <</MCID %d>> BDC (x) Tj EMC\n", i)
				kids = append(kids, b.Add(Dict{"Type": Name("StructElem"), "S": Name("P"), "P": rootRef, "Pg": b.pageRef, "K": i}))
			}
			content.WriteString("ET")
			b.Set(b.content, Flate(nil, content.Bytes()))
			root["K"], root["ParentTree"] = kids, Dict{"Nums": Array{0, kids}}
			b.catalog["StructTreeRoot"], b.catalog["MarkInfo"], b.page["StructParents"] = rootRef, Dict{"Marked": true}, 0
			return b.Bytes()
		}},
		{"names-cycle", "a tree of names that holds itself, and a name to look for in it", "the page is sound", node("Names", func(r Ref) any { return Dict{"Dests": r} })},
		{"labels-cycle", "a tree of page labels that holds itself", "the page is sound", node("PageLabels", func(r Ref) any { return r })},
		{"fields-cycle", "a form whose fields hold each other", "the page is sound", func() []byte {
			b := skeleton("the page is sound")
			first, second := b.Reserve(), b.Reserve()
			for _, pair := range [][2]Ref{{first, second}, {second, first}} {
				b.Set(pair[0], Dict{"Type": Name("Annot"), "Subtype": Name("Widget"), "FT": Name("Tx"), "T": String("a"), "Parent": pair[1],
					"Kids": Array{pair[1], pair[0]}, "Rect": Array{0, 0, 10, 10}})
			}
			b.catalog["AcroForm"], b.page["Annots"] = Dict{"Fields": Array{first}}, Array{first, second}
			return b.Bytes()
		}},
		{"fields-50k", "a form of 50,000 fields", "the page is sound", func() []byte {
			b := skeleton("the page is sound")
			fields := Array{}
			look := b.Add(xobject("BT /F1 1 Tf (v) Tj ET", Dict{"Font": b.fonts}))
			for i := range 50000 {
				fields = append(fields, b.Add(Dict{"Type": Name("Annot"), "Subtype": Name("Widget"), "FT": Name("Tx"), "T": String(fmt.Sprint("f", i)),
					"V": String("v"), "Rect": Array{i % 600, i / 600, i%600 + 1, i/600 + 1}, "AP": Dict{"N": look}}))
			}
			b.catalog["AcroForm"], b.page["Annots"] = Dict{"Fields": fields}, fields
			return b.Bytes()
		}},
		{"links-100k", "a page of 100,000 links", "the page is sound", func() []byte {
			b := skeleton("the page is sound")
			action := b.Add(Dict{"S": Name("URI"), "URI": String("https://example.com/")})
			links := Array{}
			for range 100000 {
				links = append(links, b.Add(Dict{"Type": Name("Annot"), "Subtype": Name("Link"), "Rect": Array{70, 690, 300, 720}, "A": action}))
			}
			b.page["Annots"] = links
			return b.Bytes()
		}},
	}
}

func hostileFonts() []HostileFile {
	with := func(text string, font func(b *bones) Dict) func() []byte {
		return func() []byte {
			b := skeleton(text)
			d := font(b)
			b.fonts["F1"] = b.Add(d)
			return b.Bytes()
		}
	}
	return []HostileFile{
		{"map-expands", "a ToUnicode map that makes 500 letters of each one", "", with(strings.Repeat("a", 60000), func(b *bones) Dict {
			long := map[int]string{'a': strings.Repeat("long", 125)}
			return Dict{"Type": Name("Font"), "Subtype": Name("Type1"), "BaseFont": Name(Helvetica), "ToUnicode": b.Add(Flate(nil, toUnicode(long, false)))}
		})},
		{"map-ranges", "a ToUnicode map of a hundred thousand ranges of 65,536 codes", "", with("ranges", func(b *bones) Dict {
			m := repeated([]byte("begincmap 1 begincodespacerange <0000> <ffff> endcodespacerange 100000 beginbfrange\n"),
				bytes.Repeat([]byte("<0000> <ffff> <0041>\n"), 1000), 100, []byte("endbfrange endcmap"))
			return Dict{"Type": Name("Font"), "Subtype": Name("Type1"), "BaseFont": Name(Helvetica),
				"ToUnicode": b.Add(Stream{Dict: Dict{"Filter": Name("FlateDecode")}, Data: m})}
		})},
		{"map-self", "a map of codes that is built on itself", "", with("maps", func(b *bones) Dict {
			self := b.Reserve()
			b.Set(self, Stream{Dict: Dict{"Type": Name("CMap"), "CMapName": Name("Loop"), "UseCMap": self,
				"CIDSystemInfo": Dict{"Registry": String("Adobe"), "Ordering": String("Japan1"), "Supplement": 0}},
				Data: []byte("/Loop usecmap begincmap 1 begincodespacerange <0000> <ffff> endcodespacerange 1 begincidrange <0000> <ffff> 0 endcidrange endcmap")})
			return Dict{"Type": Name("Font"), "Subtype": Name("Type0"), "BaseFont": Name("X"), "Encoding": self, "DescendantFonts": Array{b.Add(Dict{
				"Type": Name("Font"), "Subtype": Name("CIDFontType0"), "BaseFont": Name("X"), "CIDSystemInfo": Dict{"Registry": String("Adobe"), "Ordering": String("Japan1"), "Supplement": 0}})}}
		})},
		{"font-self", "a font whose letters are drawn with itself", "", func() []byte {
			b := skeleton("aaaa")
			self := b.Reserve()
			glyph := b.Add(Stream{Data: []byte("1000 0 d0 BT /F1 1 Tf (aaaa) Tj ET")})
			b.fonts["F1"] = self
			b.Set(self, Dict{"Type": Name("Font"), "Subtype": Name("Type3"), "FontBBox": Array{0, 0, 1, 1}, "FontMatrix": Array{1, 0, 0, 1, 0, 0},
				"FirstChar": 97, "LastChar": 97, "Widths": Array{1000}, "CharProcs": Dict{"a": glyph},
				"Encoding": Dict{"Differences": Array{97, Name("a")}}, "Resources": Dict{"Font": Dict{"F1": self}}})
			return b.Bytes()
		}},
		{"font-descendant-self", "a composite font that is its own descendant", "", func() []byte {
			b := skeleton("aaaa")
			self := b.Reserve()
			b.fonts["F1"] = self
			b.Set(self, Dict{"Type": Name("Font"), "Subtype": Name("Type0"), "BaseFont": Name("X"), "Encoding": Name("Identity-H"), "DescendantFonts": Array{self}})
			return b.Bytes()
		}},
		{"font-file-noise", "an embedded font whose file is noise behind a good beginning", "in a broken font", with("in a broken font", func(b *bones) Dict {
			file := b.Add(Flate(nil, append([]byte("\x00\x01\x00\x00\xff\xff\x00\x80\x00\x03\x00\x70"), noise(1, 64<<10)...)))
			return Dict{"Type": Name("Font"), "Subtype": Name("TrueType"), "BaseFont": Name("ABCDEF+Noise"), "Encoding": Name("WinAnsiEncoding"),
				"FirstChar": 0, "LastChar": 255, "FontDescriptor": b.Add(Dict{"Type": Name("FontDescriptor"), "FontName": Name("ABCDEF+Noise"), "Flags": 32, "FontFile2": file})}
		})},
		{"fonts-20k", "a page that uses 20,000 fonts", "", func() []byte {
			b := skeleton("")
			var content bytes.Buffer
			for i := range 20000 {
				name := Name(fmt.Sprint("G", i))
				b.fonts[name] = b.Add(Dict{"Type": Name("Font"), "Subtype": Name("Type1"), "BaseFont": Name(fmt.Sprint("Font", i))})
				fmt.Fprintf(&content, "BT /%s 8 Tf 72 %d Td (x) Tj ET\n", name, i%700)
			}
			b.Set(b.content, Flate(nil, content.Bytes()))
			return b.Bytes()
		}},
	}
}

// jbig2 is a bitmap of the given size: one segment that says so, and n
// regions that fill it (ITU-T T.88, 7.4). Their coded data is a few bytes;
// a decoder makes the missing ones up and draws every pixel.
func jbig2(width, height uint32, n int) []byte {
	var b []byte
	segment := func(number int, kind byte, data []byte) {
		b = binary.BigEndian.AppendUint32(b, uint32(number))
		b = append(b, kind, 0, 1)
		b = binary.BigEndian.AppendUint32(b, uint32(len(data)))
		b = append(b, data...)
	}
	size := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, width), height)
	segment(0, 48, append(bytes.Clone(size), make([]byte, 11)...))
	for i := range n {
		region := append(bytes.Clone(size), make([]byte, 9)...)                         // at 0, 0; OR
		region = append(region, 0, 0x03, 0xff, 0xfd, 0xff, 0x02, 0xfe, 0xfe, 0xfe)      // template 0 and its adaptive pixels
		segment(i+1, 38, append(region, bytes.Repeat([]byte{0x5a, 0x17, 0xc3}, 40)...)) // arithmetic code
	}
	return b
}

func hostileImages() []HostileFile {
	// with draws the image over the whole page, n times.
	with := func(n int, image func(b *bones) Stream) func() []byte {
		return func() []byte {
			b := skeletonOf(Stream{Data: []byte(fmt.Sprintf(shown, "text over an image") + strings.Repeat("\nq 612 0 0 792 0 0 cm /I Do Q", n))})
			s := image(b)
			s.Dict["Type"], s.Dict["Subtype"] = Name("XObject"), Name("Image")
			b.resources()["XObject"] = Dict{"I": b.Add(s)}
			return b.Bytes()
		}
	}
	dict := func(w, h, bits int, space Name) Dict {
		return Dict{"Width": w, "Height": h, "BitsPerComponent": bits, "ColorSpace": space}
	}
	const text = "text over an image"
	return []HostileFile{
		{"image-giant", "an image that says it is 100,000 by 100,000 in colour", text, with(1, func(*bones) Stream {
			s := Stream{Dict: dict(100000, 100000, 8, "DeviceRGB"), Data: repeated(nil, make([]byte, mega), 64, nil)}
			s.Dict["Filter"] = Name("FlateDecode")
			return s
		})},
		{"image-30000", "an image of 30,000 by 30,000 that is really there", text, with(1, func(*bones) Stream {
			s := Stream{Dict: dict(30000, 30000, 8, "DeviceGray"), Data: repeated(nil, bytes.Repeat([]byte{0xff}, mega), 860, nil)}
			s.Dict["Filter"] = Name("FlateDecode")
			return s
		})},
		{"image-10k-times", "an image of 2,000 by 2,000 drawn ten thousand times", text, with(10000, func(*bones) Stream {
			return Flate(dict(2000, 2000, 1, "DeviceGray"), make([]byte, 2000*250))
		})},
		{"image-mask-self", "an image whose mask is the image itself", text, with(1, func(b *bones) Stream {
			s := Stream{Dict: dict(8, 8, 8, "DeviceGray"), Data: make([]byte, 64)}
			s.Dict["SMask"] = Ref(len(b.objects) + 1)
			return s
		})},
		{"jbig2-image", "a picture of 60,000 by 60,000 in a few hundred bytes", text, with(1, func(*bones) Stream {
			s := Stream{Dict: dict(60000, 60000, 1, "DeviceGray"), Data: jbig2(60000, 60000, 1)}
			s.Dict["Filter"] = Name("JBIG2Decode")
			return s
		})},
		{"jbig2-regions", "a picture of 5,000 by 5,000 that is drawn over a thousand times", text, with(1, func(*bones) Stream {
			s := Stream{Dict: dict(5000, 5000, 1, "DeviceGray"), Data: jbig2(5000, 5000, 1000)}
			s.Dict["Filter"] = Name("JBIG2Decode")
			return s
		})},
		{"jbig2-content", "a page whose content is decoded as a picture of 60,000 by 60,000", "after the picture", func() []byte {
			b := skeleton("after the picture")
			picture := b.Add(Stream{Dict: Dict{"Filter": Name("JBIG2Decode")}, Data: jbig2(60000, 60000, 1)})
			b.page["Contents"] = Array{picture, b.content, picture, picture}
			return b.Bytes()
		}},
		{"jpx-noise", "JPEG 2000 and JPEG images of noise behind good beginnings", text, with(1, func(b *bones) Stream {
			jpeg := dict(65000, 65000, 8, "DeviceRGB")
			jpeg["Filter"], jpeg["Type"], jpeg["Subtype"] = Name("DCTDecode"), Name("XObject"), Name("Image")
			head := "\xff\xd8\xff\xc0\x00\x11\x08\xfd\xe8\xfd\xe8\x03\x01\x22\x00\x02\x11\x01\x03\x11\x01"
			mask := b.Add(Stream{Dict: jpeg, Data: append([]byte(head), noise(2, 4096)...)})
			s := Stream{Dict: Dict{"Width": 65000, "Height": 65000, "Filter": Name("JPXDecode"), "SMask": mask}}
			s.Data = append([]byte("\xff\x4f\xff\x51\x00\x2f\x00\x00\x00\x00\xfd\xe8\x00\x00\xfd\xe8\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x01"+
				"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x03\x07\x01\x01\x07\x01\x01\x07\x01\x01"), noise(3, 4096)...)
			return s
		})},
	}
}

// hostileLayout are pages that are sound and have too much on them: what
// hurts is what a reader does with it.
func hostileLayout() []HostileFile {
	drawn := func(n int, one func(r *rand.Rand, b *bytes.Buffer, i int)) func() []byte {
		return func() []byte {
			var content bytes.Buffer
			r := rand.New(rand.NewPCG(1, uint64(n)))
			fmt.Fprintf(&content, shown+"\n", "among the many")
			for i := range n {
				one(r, &content, i)
			}
			return skeletonOf(Flate(nil, content.Bytes())).Bytes()
		}
	}
	return []HostileFile{
		{"rules-200k", "200,000 lines, as of tables", "among the many", drawn(200000, func(r *rand.Rand, b *bytes.Buffer, _ int) {
			x, y := r.IntN(600), r.IntN(780)
			fmt.Fprintf(b, "%d %d m %d %d l S\n", x, y, x+r.IntN(100), y)
		})},
		{"grid-2000", "a grid of 2,000 by 2,000 lines: four million cells of a table", "among the many", drawn(2000, func(_ *rand.Rand, b *bytes.Buffer, i int) {
			at := number(float64(i) * 0.3)
			fmt.Fprintf(b, "0 %s m 600 %s l S %s 0 m %s 600 l S\n", at, at, at, at)
		})},
		{"words-100k", "100,000 words in any places", "among the many", drawn(100000, func(r *rand.Rand, b *bytes.Buffer, i int) {
			fmt.Fprintf(b, "BT /F1 %d Tf %d %d Td (w%d) Tj ET\n", 1+r.IntN(20), r.IntN(600), r.IntN(780), i)
		})},
		{"stacked-100k", "100,000 letters in one place", "among the many", drawn(100000, func(_ *rand.Rand, b *bytes.Buffer, _ int) {
			b.WriteString("BT /F1 12 Tf 300 300 Td (o) Tj ET\n")
		})},
		{"word-4m", "one word of four million letters", "", func() []byte {
			word := repeated([]byte("BT /F1 1 Tf 0 300 Td ("), bytes.Repeat([]byte("abcdefgh"), mega/8), 4, []byte(") Tj ET"))
			return skeletonOf(Stream{Dict: Dict{"Filter": Name("FlateDecode")}, Data: word}).Bytes()
		}},
		{"sizes-wild", "letters of sizes and places at the ends of what numbers can be", "", func() []byte {
			var content bytes.Buffer
			for _, v := range []string{"0", "-12", "0.0000001", "1000000000", "99999999999999999999999999999999999999999999", "340282350000000000000000000000000000000", "--1", "1e308"} {
				fmt.Fprintf(&content, "BT /F1 %[1]s Tf %[1]s %[1]s Td (wild) Tj ET BT /F1 12 Tf %[1]s 0 0 %[1]s 0 %[1]s Tm (wild) Tj ET q %[1]s %[1]s %[1]s %[1]s %[1]s %[1]s cm BT /F1 12 Tf (wild) Tj ET Q\n", v)
			}
			return skeletonOf(Stream{Data: content.Bytes()}).Bytes()
		}},
		{"info-16m", "a title of 16 million letters and an XMP packet that grows without end", "", func() []byte {
			b := skeleton("the page is sound")
			b.Trailer["Info"] = b.Add(Dict{"Title": String(strings.Repeat("title ", 16*mega/6)), "Author": TextString(strings.Repeat("é", mega))})
			var entities strings.Builder
			for i := 1; i < 12; i++ {
				fmt.Fprintf(&entities, `<!ENTITY e%d "%s">`, i, strings.Repeat(fmt.Sprintf("&e%d;", i-1), 10))
			}
			xmp := `<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e0 "lol"><!ENTITY f SYSTEM "file:///etc/passwd">` + entities.String() + `]><x>&e11;&f;</x>`
			b.catalog["Metadata"] = b.Add(Stream{Dict: Dict{"Type": Name("Metadata"), "Subtype": Name("XML")}, Data: []byte(xmp)})
			return b.Bytes()
		}},
		{"xmp-1g", "an XMP packet that becomes 1 GB", "", func() []byte {
			b := skeleton("the page is sound")
			b.catalog["Metadata"] = b.Add(Stream{Dict: Dict{"Type": Name("Metadata"), "Subtype": Name("XML"), "Filter": Name("FlateDecode")},
				Data: repeated([]byte("<x>"), bytes.Repeat([]byte("a"), mega), 1024, []byte("</x>"))})
			return b.Bytes()
		}},
	}
}

func hostileLocks() []HostileFile {
	with := func(d Dict) func() []byte {
		return func() []byte {
			b := skeleton("locked")
			d["Filter"] = Name("Standard")
			b.Trailer["Encrypt"] = b.Add(d)
			return b.Bytes()
		}
	}
	return []HostileFile{
		{"lock-short", "encryption whose strings are too short", "", with(Dict{"V": 5, "R": 6, "Length": 256, "P": -1, "U": String("a"), "UE": String(""), "O": String("b"), "OE": nil, "Perms": String("c")})},
		{"lock-unknown", "encryption of a kind that does not exist", "", with(Dict{"V": 99, "R": 99, "Length": 1 << 30, "P": -1, "U": String(strings.Repeat("u", 32)), "O": String(strings.Repeat("o", 32))})},
		{"lock-long", "encryption with a key longer than any buffer", "", with(Dict{"V": 2, "R": 3, "Length": 65536, "P": -1, "U": String(strings.Repeat("u", 4096)), "O": String(strings.Repeat("o", 4096))})},
		{"lock-self", "an encryption dictionary that is the catalog", "", func() []byte {
			b := skeleton("locked")
			b.Trailer["Encrypt"] = b.Trailer["Root"]
			return b.Bytes()
		}},
	}
}

// hostileActs is what would act if it were let: open addresses, start
// programs, read other files.
func hostileActs() []HostileFile {
	const text = "nothing must happen"
	return []HostileFile{
		{"acts", "scripts, launches, external files, submissions and embedded files", text, func() []byte {
			b := skeleton(text)
			script := Dict{"S": Name("JavaScript"), "JS": String(`app.launchURL("http://127.0.0.1:1/js"); while (true) {}`)}
			b.catalog["OpenAction"] = script
			b.catalog["AA"] = Dict{"WC": script, "DS": script}
			b.catalog["URI"] = Dict{"Base": String("http://127.0.0.1:1/")}
			file := b.Add(Stream{Dict: Dict{"Type": Name("EmbeddedFile"), "Subtype": Name("application/x-sh")}, Data: []byte("#!/bin/sh\ntouch /tmp/harm\n")})
			b.catalog["Names"] = Dict{
				"JavaScript":    Dict{"Names": Array{String("a"), script}},
				"EmbeddedFiles": Dict{"Names": Array{String("run.sh"), Dict{"Type": Name("Filespec"), "F": String("run.sh"), "EF": Dict{"F": file}}}},
			}
			b.page["AA"] = Dict{"O": Dict{"S": Name("Launch"), "F": String("/bin/sh"), "Next": Dict{"S": Name("GoToR"), "F": String(`\\127.0.0.1\share\x.pdf`), "D": Array{0, Name("Fit")}}}}
			b.page["Annots"] = Array{
				b.Add(Dict{"Type": Name("Annot"), "Subtype": Name("Link"), "Rect": Array{0, 0, 612, 792}, "A": Dict{"S": Name("URI"), "URI": String("javascript:alert(1)")}}),
				b.Add(Dict{"Type": Name("Annot"), "Subtype": Name("Widget"), "FT": Name("Btn"), "T": String("send"), "Rect": Array{0, 0, 10, 10},
					"A": Dict{"S": Name("SubmitForm"), "F": Dict{"FS": Name("URL"), "F": String("http://127.0.0.1:1/submit")}}}),
				b.Add(Dict{"Type": Name("Annot"), "Subtype": Name("FileAttachment"), "Rect": Array{0, 0, 10, 10}, "FS": Dict{"F": String("run.sh"), "EF": Dict{"F": file}}}),
			}
			return b.Bytes()
		}},
		{"acts-external", "a page content and an image that lie in other files and at addresses", text, func() []byte {
			b := skeleton(text)
			outside := b.Add(Stream{Dict: Dict{"F": Dict{"Type": Name("Filespec"), "F": String("/etc/passwd")}}})
			remote := b.Add(Stream{Dict: Dict{"F": Dict{"FS": Name("URL"), "F": String("http://127.0.0.1:1/content")}}})
			b.page["Contents"] = Array{b.content, outside, remote}
			return b.Bytes()
		}},
		{"acts-xfa", "an XFA form that reads a file and grows without end", text, func() []byte {
			b := skeleton(text)
			xfa := `<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">` +
				`<!ENTITY f SYSTEM "file:///etc/passwd">]><xdp:xdp xmlns:xdp="http://ns.adobe.com/xdp/"><template xmlns="http://www.xfa.org/schema/xfa-template/3.3/">&c;&f;</template></xdp:xdp>`
			b.catalog["AcroForm"] = Dict{"Fields": Array{}, "XFA": Array{String("template"), b.Add(Stream{Data: []byte(xfa)})}}
			b.catalog["NeedsRendering"] = true
			return b.Bytes()
		}},
	}
}

// noise is n bytes that look like nothing, the same for the same seed.
func noise(seed uint64, n int) []byte {
	r := rand.New(rand.NewPCG(seed, 0))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func hostileNoise() []HostileFile {
	return []HostileFile{
		{"header-only", "a file that ends after its first line", "", func() []byte { return []byte("%PDF-1.7\n") }},
		{"noise", "a megabyte of noise after the first line", "", func() []byte { return append([]byte("%PDF-1.7\n"), noise(4, mega)...) }},
		{"objects-noise", "ten thousand objects that are noise", "", func() []byte {
			b := []byte("%PDF-1.7\n")
			data := noise(5, 100*10000)
			for i := range 10000 {
				b = fmt.Appendf(b, "%d 0 obj\n%s\nendobj\n", i+1, data[i*100:(i+1)*100])
			}
			return append(b, "trailer<</Root 1 0 R>>"...)
		}},
		{"half", "the first half of a good file", "", func() []byte {
			file := Markers(20)
			return file[:len(file)/2]
		}},
	}
}
