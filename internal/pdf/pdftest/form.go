package pdftest

import "fmt"

// A Field is a field of a form with its widget on the page.
type Field struct {
	Name       string
	Value      string // of a check box: "on" or ""
	X, Y, W, H float64
	Options    []string // makes it a list to choose from
	Check      bool     // makes it a check box
	Bare       bool     // leave out the appearance: only the value is there
}

// FormField puts a field on the page. It is a text field unless f says more.
func FormField(f Field) Item {
	return func(p *page) {
		_, helvetica := p.doc.font(Font{})
		form := func(content string) Ref {
			return p.doc.file.Add(Flate(Dict{"Type": Name("XObject"), "Subtype": Name("Form"), "BBox": Array{0, 0, f.W, f.H},
				"Resources": Dict{"Font": Dict{"Helv": helvetica}}}, []byte(content)))
		}
		w := Dict{"Subtype": Name("Widget"), "T": TextString(f.Name), "F": 4, "DA": String("/Helv 12 Tf 0 g")}
		var look Dict
		switch {
		case f.Check:
			state := Name("Off")
			if f.Value != "" {
				state = "On"
			}
			w["FT"], w["V"], w["AS"] = Name("Btn"), state, state
			look = Dict{"N": Dict{"On": form(fmt.Sprintf("0 0 m %[1]s %[2]s l 0 %[2]s m %[1]s 0 l S", number(f.W), number(f.H))), "Off": form("")}}
		default:
			w["FT"], w["V"] = Name("Tx"), TextString(f.Value)
			if f.Options != nil {
				options := Array{}
				for _, o := range f.Options {
					options = append(options, TextString(o))
				}
				w["FT"], w["Opt"] = Name("Ch"), options
			}
			look = Dict{"N": form(fmt.Sprintf("/Tx BMC q BT /Helv 12 Tf 0 g 2 %s Td %s Tj ET Q EMC", number(f.H/2-4), literal(Font{}.encode(f.Value))))}
		}
		if !f.Bare {
			w["AP"] = look
		}
		before := len(p.annots)
		Annotation(f.X, f.Y, f.W, f.H, w)(p)
		p.doc.fields = append(p.doc.fields, p.annots[before:]...)
	}
}
