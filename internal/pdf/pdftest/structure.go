package pdftest

import "fmt"

// A Tag is an element of the structure tree of a tagged document: its
// standard type (H1, P, L, LI, Lbl, LBody, Table, TR, TH, TD, Figure, …) and
// what may be said of it.
type Tag struct {
	Type             Name
	Alt, ActualText  string
	Title            string
	ColSpan, RowSpan int
}

type element struct {
	tag  Tag
	kids []any // *element, or marked
	ref  Ref
}

// marked is a piece of marked content on a page.
type marked struct {
	page Ref
	id   int
}

// Group makes t of the tags that items draw.
func (t Tag) Group(items ...Item) Item {
	return func(p *page) {
		e := &element{tag: t}
		p.group.kids = append(p.group.kids, e)
		before := p.group
		p.group = e
		draw(p, items)
		p.group = before
	}
}

// Mark makes t of what items draw.
func (t Tag) Mark(items ...Item) Item {
	return func(p *page) {
		e := &element{tag: t, ref: p.doc.file.Reserve()}
		id := len(p.parents)
		p.parents = append(p.parents, e.ref)
		e.kids = append(e.kids, marked{p.self, id})
		p.group.kids = append(p.group.kids, e)
		p.writef("/%s <</MCID %d>> BDC\n", t.Type, id)
		draw(p, items)
		p.writef("EMC\n")
	}
}

// Artifact marks what is not content: running headers, page numbers, rules.
func Artifact(items ...Item) Item { return within("/Artifact BMC", "EMC", items) }

func (e *element) write(f *File, parent Ref) Ref {
	if e.ref == 0 {
		e.ref = f.Reserve()
	}
	d := Dict{"Type": Name("StructElem"), "S": e.tag.Type, "P": parent}
	kids := Array{}
	for _, k := range e.kids {
		switch k := k.(type) {
		case *element:
			kids = append(kids, k.write(f, e.ref))
		case marked:
			d["Pg"] = k.page
			kids = append(kids, k.id)
		default:
			panic(fmt.Sprintf("pdftest: a %T in the structure tree", k))
		}
	}
	d["K"] = kids
	for key, v := range map[Name]string{"Alt": e.tag.Alt, "ActualText": e.tag.ActualText, "T": e.tag.Title} {
		if v != "" {
			d[key] = TextString(v)
		}
	}
	if e.tag.ColSpan > 1 || e.tag.RowSpan > 1 {
		d["A"] = Dict{"O": Name("Table"), "ColSpan": max(e.tag.ColSpan, 1), "RowSpan": max(e.tag.RowSpan, 1)}
	}
	f.Set(e.ref, d)
	return e.ref
}

func (e *element) tree(f *File, parents Array) Ref {
	root := f.Reserve()
	f.Set(root, Dict{"Type": Name("StructTreeRoot"), "K": Array{e.write(f, root)}, "ParentTree": f.Add(Dict{"Nums": parents}),
		"ParentTreeNextKey": len(parents) / 2})
	return root
}
