package layout

import "strings"

// What an element of the tagged structure makes of the words it holds.
type role uint8

const (
	roleText role = iota
	roleHeading
	roleItem
	roleCell
	roleCode
)

// owner is an element that stands for a block: a paragraph, a heading, a list
// item, a cell.
type owner struct {
	role  role
	level int   // of a heading, of a list
	table int32 // of a cell
	row   int32
	col   int32 // which cell of its row
}

// tree is the tagged structure of a page, turned round: from the content to
// the block that it belongs to.
type tree struct {
	owners []owner
	of     map[int]int32 // by marked-content id; negative: a label, -1-id
	tables []tagTable
	nodes  int
	plain  bool // no split by owners: the tags are finer than paragraphs
}

type tagTable struct {
	rows   [][]tagCell
	layout bool // holds another table: used to place things
}

type tagCell struct {
	header           bool
	colspan, rowspan int
}

// growTree reads the tags of a page; nil if there are none.
func growTree(root *Tag) *tree {
	if root == nil {
		return nil
	}
	t := &tree{of: map[int]int32{}}
	t.walk(root, branch{owner: -1, table: -1}, 0)
	if len(t.of) == 0 {
		return nil
	}
	for i := range t.owners {
		if o := &t.owners[i]; o.role == roleCell && t.tables[o.table].layout {
			o.role = roleText
		}
	}
	return t
}

// branch is what the elements above say.
type branch struct {
	owner int32 // the block so far, -1: none
	item  bool  // the block is a list item or a cell: paragraphs within are part of it
	label bool
	lists int
	table int32
}

func (t *tree) walk(tag *Tag, at branch, depth int) {
	if t.nodes++; t.nodes > maxTags || depth > maxDepth {
		return
	}
	switch kind := tag.Type; kind {
	case "P", "Caption", "BlockQuote", "Quote", "Note", "FENote", "TOCI", "BibEntry", "Figure", "Formula", "Index", "Aside", "Form":
		if !at.item {
			at.owner = t.add(owner{role: roleText})
		}
	case "H", "H1", "H2", "H3", "H4", "H5", "H6", "Title":
		if at.owner >= 0 && t.owners[at.owner].role == roleCell {
			break // a cell in large type
		}
		level := 1
		if len(kind) == 2 {
			level = int(kind[1] - '0')
		}
		at.owner = t.add(owner{role: roleHeading, level: level})
		at.item = true
	case "L":
		at.lists++
	case "LI":
		if at.owner >= 0 && t.owners[at.owner].role == roleCell {
			break
		}
		at.owner = t.add(owner{role: roleItem, level: max(at.lists, 1)})
		at.item = true
	case "Lbl":
		at.label = at.owner >= 0 && t.owners[at.owner].role == roleItem
	case "Code":
		if !at.item && at.owner < 0 {
			at.owner = t.add(owner{role: roleCode})
		}
	case "Table":
		if at.table >= 0 {
			t.tables[at.table].layout = true
		}
		at.table = int32(len(t.tables))
		t.tables = append(t.tables, tagTable{})
		at.owner, at.item = -1, false
	case "TR":
		if at.table >= 0 {
			t.tables[at.table].rows = append(t.tables[at.table].rows, nil)
		}
	case "TH", "TD":
		if at.table < 0 {
			break
		}
		tab := &t.tables[at.table]
		if len(tab.rows) == 0 {
			tab.rows = append(tab.rows, nil)
		}
		row := len(tab.rows) - 1
		at.owner = t.add(owner{role: roleCell, table: at.table, row: int32(row), col: int32(len(tab.rows[row]))})
		at.item = true
		tab.rows[row] = append(tab.rows[row], tagCell{header: kind == "TH", colspan: spanOf(tag.ColSpan), rowspan: spanOf(tag.RowSpan)})
	case "Artifact":
		at.owner, at.item = -1, false
	default:
		if at.owner < 0 && len(tag.MCIDs) > 0 && !strings.HasPrefix(kind, "NonStruct") && inBlock(kind) {
			// Content right under a section, a link or a span: a block of its own.
			at.owner = t.add(owner{role: roleText})
		}
	}
	for _, id := range tag.MCIDs {
		if id < 0 || at.owner < 0 || len(t.of) >= maxTags {
			continue
		}
		if at.label {
			t.of[id] = -1 - at.owner
		} else {
			t.of[id] = at.owner
		}
	}
	for _, kid := range tag.Kids {
		if kid != nil {
			t.walk(kid, at, depth+1)
		}
	}
}

// inBlock says whether loose content under such an element is likely to be a
// block rather than a piece of a line.
func inBlock(kind string) bool {
	switch kind {
	case "Div", "Sect", "Part", "Art", "Document", "LBody", "":
		return true
	}
	return false
}

func spanOf(n int) int { return min(max(n, 1), 1000) }

func (t *tree) add(o owner) int32 {
	t.owners = append(t.owners, o)
	return int32(len(t.owners) - 1)
}

func (t *tree) owner(mcid int) (id int32, isLabel bool) {
	if mcid < 0 {
		return -1, false
	}
	id, ok := t.of[mcid]
	switch {
	case !ok:
		return -1, false
	case id < 0:
		return -1 - id, true
	}
	return id, false
}

// judge says whether the tags are worth following: elements finer than
// paragraphs, or that leave out much of the page, would only tear it up.
func (t *tree) judge(words []word) {
	owned, changes := 0, 0
	last := int32(-1)
	for i := range words {
		o := words[i].owner
		if o < 0 || t.owners[o].role == roleCell {
			continue
		}
		owned++
		if o != last {
			changes++
			last = o
		}
	}
	t.plain = owned < 3*changes && changes > 8
}

func (t *tree) heading(id int32) int {
	if t == nil || id < 0 || t.owners[id].role != roleHeading {
		return 0
	}
	return t.owners[id].level
}
