package pdftest

import (
	"bytes"
	"fmt"
	"image"
	"maps"
	"strings"
)

// A Document is pages and what belongs to the file as a whole. Its zero value
// has no pages and is ready to use.
type Document struct {
	Info    Info
	Lang    string // the language of a tagged document
	Outline []Bookmark
	Labels  []Label
	Encrypt *Encryption
	Compact bool   // see File
	Plain   bool   // leave page contents uncompressed
	Catalog Dict   // more entries of the catalog
	Version string // see File

	pages [][]Item
}

// Info is the document's metadata. Dates are written as given, in the
// format's own form (D:20240501120000Z).
type Info struct {
	Title, Author, Subject, Keywords, Creator, Producer string
	Created, Modified                                   string
	XMP                                                 bool // write an XMP packet with the same
}

// A Bookmark is an entry of the outline.
type Bookmark struct {
	Title string
	Page  int     // from 1; 0 leads nowhere
	Y     float64 // where on the page; 0: its top
	Kids  []Bookmark
}

// A Label numbers pages from one page on.
type Label struct {
	From   int  // from 1
	Style  Name // D decimal, r roman, A letters; "": only the prefix
	Prefix string
	Start  int // 0: 1
}

// New is an empty document.
func New() *Document { return new(Document) }

// Page appends a page and returns the document.
func (d *Document) Page(items ...Item) *Document {
	d.pages = append(d.pages, items)
	return d
}

// Bytes writes the document.
func (d *Document) Bytes() []byte { return d.File().Bytes() }

// builder holds what pages share while a document is written.
type builder struct {
	file   *File
	fonts  map[string]Name
	refs   map[Name]Ref
	images map[*image.Gray]Ref
	fields Array
	root   *element // of the structure tree
}

// File makes the objects of the document, for a caller who wants to change
// some of them before they are written. The catalog is Trailer's Root.
func (d *Document) File() *File {
	f := &File{Compact: d.Compact, Version: d.Version}
	b := &builder{file: f, fonts: map[string]Name{}, refs: map[Name]Ref{}, images: map[*image.Gray]Ref{}, root: &element{tag: Tag{Type: "Document"}}}
	catalogRef, pagesRef := f.Reserve(), f.Reserve()
	f.Trailer = Dict{"Root": catalogRef}

	kids, parentTree := Array{}, Array{}
	for range d.pages {
		kids = append(kids, f.Reserve())
	}
	for i, items := range d.pages {
		p := &page{doc: b, self: kids[i].(Ref), fonts: Dict{}, images: Dict{}, group: b.root}
		p.dict = Dict{"Type": Name("Page"), "Parent": pagesRef, "MediaBox": Array{0, 0, 612, 792}}
		draw(p, items)
		resources := Dict{"Font": p.fonts}
		if len(p.images) > 0 {
			resources["XObject"] = p.images
		}
		p.dict["Resources"] = resources
		if len(p.annots) > 0 {
			p.dict["Annots"] = p.annots
		}
		if len(p.parents) > 0 {
			p.dict["StructParents"] = i
			parentTree = append(parentTree, i, p.parents)
		}
		content := Stream{Data: bytes.Clone(p.content.Bytes())}
		if !d.Plain {
			content = Flate(nil, content.Data)
		}
		p.dict["Contents"] = f.Add(content)
		f.Set(p.self, p.dict)
	}
	f.Set(pagesRef, Dict{"Type": Name("Pages"), "Kids": kids, "Count": len(kids)})

	catalog := Dict{"Type": Name("Catalog"), "Pages": pagesRef}
	if len(d.Outline) > 0 {
		catalog["Outlines"] = d.outline(f, kids)
	}
	if len(d.Labels) > 0 {
		catalog["PageLabels"] = labels(d.Labels)
	}
	if len(b.root.kids) > 0 {
		catalog["StructTreeRoot"] = b.root.tree(f, parentTree)
		catalog["MarkInfo"] = Dict{"Marked": true}
	}
	if d.Lang != "" {
		catalog["Lang"] = TextString(d.Lang)
	}
	if len(b.fields) > 0 {
		_, helvetica := b.font(Font{})
		catalog["AcroForm"] = f.Add(Dict{"Fields": b.fields, "DA": String("/Helv 12 Tf 0 g"), "DR": Dict{"Font": Dict{"Helv": helvetica}}})
	}
	if info := d.Info.dict(); len(info) > 0 {
		f.Trailer["Info"] = f.Add(info)
	}
	if d.Info.XMP {
		catalog["Metadata"] = f.Add(Stream{Dict: Dict{"Type": Name("Metadata"), "Subtype": Name("XML")}, Data: []byte(d.Info.xmp())})
	}
	maps.Copy(catalog, d.Catalog)
	f.Set(catalogRef, catalog)
	if d.Encrypt != nil {
		f.encrypt(*d.Encrypt)
	}
	return f
}

// font gives the name and number of a font; equal fonts share one.
func (b *builder) font(f Font) (Name, Ref) {
	key := fmt.Sprint(f) // maps are printed in the order of their keys
	name, ok := b.fonts[key]
	if !ok {
		name = Name(fmt.Sprintf("F%d", len(b.fonts)+1))
		b.fonts[key], b.refs[name] = name, f.add(b.file)
	}
	return name, b.refs[name]
}

func (b *builder) image(p *page, img *image.Gray) Name {
	ref, ok := b.images[img]
	if !ok {
		size := img.Bounds().Size()
		var pixels []byte
		for y := range size.Y {
			row := img.PixOffset(img.Rect.Min.X, img.Rect.Min.Y+y)
			pixels = append(pixels, img.Pix[row:row+size.X]...)
		}
		ref = b.file.Add(Flate(Dict{"Type": Name("XObject"), "Subtype": Name("Image"), "Width": size.X, "Height": size.Y,
			"ColorSpace": Name("DeviceGray"), "BitsPerComponent": 8}, pixels))
		b.images[img] = ref
	}
	name := Name(fmt.Sprintf("I%d", int(ref)))
	p.images[name] = ref
	return name
}

func (d *Document) outline(f *File, pages Array) Ref {
	var level func(parent Ref, marks []Bookmark) Dict
	level = func(parent Ref, marks []Bookmark) Dict {
		refs := make([]Ref, len(marks))
		for i := range marks {
			refs[i] = f.Reserve()
		}
		for i, m := range marks {
			e := Dict{"Title": TextString(m.Title), "Parent": parent}
			if m.Page > 0 {
				var top any // null: leave it as it is
				if m.Y != 0 {
					top = m.Y
				}
				e["Dest"] = Array{pages[m.Page-1], Name("XYZ"), nil, top, nil}
			}
			if i > 0 {
				e["Prev"] = refs[i-1]
			}
			if i < len(refs)-1 {
				e["Next"] = refs[i+1]
			}
			if len(m.Kids) > 0 {
				maps.Copy(e, level(refs[i], m.Kids))
			}
			f.Set(refs[i], e)
		}
		return Dict{"First": refs[0], "Last": refs[len(refs)-1], "Count": len(refs)}
	}
	root := f.Reserve()
	top := level(root, d.Outline)
	top["Type"] = Name("Outlines")
	f.Set(root, top)
	return root
}

func labels(ls []Label) Dict {
	nums := Array{}
	for _, l := range ls {
		e := Dict{}
		if l.Style != "" {
			e["S"] = l.Style
		}
		if l.Prefix != "" {
			e["P"] = TextString(l.Prefix)
		}
		if l.Start != 0 {
			e["St"] = l.Start
		}
		nums = append(nums, l.From-1, e)
	}
	return Dict{"Nums": nums}
}

func (i Info) dict() Dict {
	d := Dict{}
	for k, v := range map[Name]string{"Title": i.Title, "Author": i.Author, "Subject": i.Subject, "Keywords": i.Keywords,
		"Creator": i.Creator, "Producer": i.Producer, "CreationDate": i.Created, "ModDate": i.Modified} {
		if v != "" {
			d[k] = TextString(v)
		}
	}
	return d
}

// isoDate turns D:20240501120000Z into 2024-05-01T12:00:00Z.
func isoDate(d string) string {
	d = strings.TrimPrefix(d, "D:")
	if d == "" {
		return ""
	}
	if len(d) < 14 {
		panic("pdftest: the date " + d + " is not complete")
	}
	return fmt.Sprintf("%s-%s-%sT%s:%s:%sZ", d[:4], d[4:6], d[6:8], d[8:10], d[10:12], d[12:14])
}

func (i Info) xmp() string {
	escape := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace
	var b strings.Builder
	b.WriteString("<?xpacket begin=\"\ufeff\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>\n" +
		`<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">` +
		`<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmlns:pdf="http://ns.adobe.com/pdf/1.3/">`)
	b.WriteString("<dc:format>application/pdf</dc:format>")
	if i.Title != "" {
		b.WriteString(`<dc:title><rdf:Alt><rdf:li xml:lang="x-default">` + escape(i.Title) + "</rdf:li></rdf:Alt></dc:title>")
	}
	if i.Author != "" {
		b.WriteString("<dc:creator><rdf:Seq>")
		for a := range strings.SplitSeq(i.Author, ", ") {
			b.WriteString("<rdf:li>" + escape(a) + "</rdf:li>")
		}
		b.WriteString("</rdf:Seq></dc:creator>")
	}
	for _, e := range [][2]string{{"pdf:Keywords", i.Keywords}, {"pdf:Producer", i.Producer}, {"xmp:CreatorTool", i.Creator},
		{"xmp:CreateDate", isoDate(i.Created)}, {"xmp:ModifyDate", isoDate(i.Modified)}} {
		if e[1] != "" {
			b.WriteString("<" + e[0] + ">" + escape(e[1]) + "</" + e[0] + ">")
		}
	}
	b.WriteString("</rdf:Description></rdf:RDF></x:xmpmeta>\n<?xpacket end=\"w\"?>")
	return b.String()
}
