package dom

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

func parse(t *testing.T, s string) *html.Node {
	t.Helper()
	root, err := html.Parse(strings.NewReader(s))
	if err != nil {
		t.Fatal(err)
	}
	return root.FirstChild.LastChild
}

func TestEveryNodeInsideIsSteppedOnOnce(t *testing.T) {
	body := parse(t, "<body><div><p>a<b>b</b></p></div><i>c</i>")
	var all, outer []string
	for n := body; n != nil; n = Next(n, body) {
		all = append(all, n.Data)
	}
	if got := strings.Join(all, " "); got != "body div p a b b i c" {
		t.Errorf("stepped on %q", got)
	}
	for n := body.FirstChild; n != nil; n = Behind(n, body) {
		outer = append(outer, n.Data)
	}
	if got := strings.Join(outer, " "); got != "div i" {
		t.Errorf("stepped on %q", got)
	}
	// What stands behind top is not inside.
	if div := body.FirstChild; Next(div.FirstChild.LastChild.FirstChild, div) != nil {
		t.Error("it went on outside")
	}
}

func TestACopySharesNothing(t *testing.T) {
	n := Element(atom.A, html.Attribute{Key: "href", Val: "/x"}, html.Attribute{Namespace: "xlink", Key: "title", Val: "other"})
	n.AppendChild(Text("in it"))
	c := Shallow(n)
	if c.FirstChild != nil || c.Parent != nil || Attr(c, "href") != "/x" {
		t.Errorf("%+v", c)
	}
	c.Attr[0].Val = "/y"
	if Attr(n, "href") != "/x" {
		t.Error("the attributes are shared")
	}
	if Attr(n, "title") != "" || HasAttr(n, "title") || !HasAttr(n, "href") {
		t.Error("attributes of another namespace are taken for its own")
	}
}

func TestHeadingLevels(t *testing.T) {
	for i, a := range []atom.Atom{atom.P, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6} {
		if got := HeadingLevel(Element(a)); got != i {
			t.Errorf("%s: %d", a, got)
		}
	}
}
