package normalize

// A Builder cleans text and links for a tree in the normal form that is built
// from something other than HTML. It counts what it removes as Page does. The
// zero value is ready; it is for one goroutine.
type Builder struct{ p pass }

// Text gives s as the normal form has text outside of code.
func (b *Builder) Text(s string) string { return b.p.text(s, false) }

// Code gives s as the normal form has text in code.
func (b *Builder) Code(s string) string { return b.p.text(s, true) }

// Line gives s as one clean line, as for a title.
func (b *Builder) Line(s string) string { return b.p.line(s) }

// Link gives an absolute link as the normal form has it; not ok is one that
// leads nowhere. private says that it leads to a private address or localhost,
// which is what data-private marks.
func (b *Builder) Link(href string) (abs string, private, ok bool) {
	abs, web := b.p.urls.resolve(href)
	return abs, web && b.p.urls.private(abs), abs != ""
}

// Removed is what was left out so far: TagChars, Invisible, Bidi.
func (b *Builder) Removed() Result { return b.p.res }
