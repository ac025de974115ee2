package jq

import (
	"fmt"
	"slices"
	"strings"

	"github.com/itchyny/gojq"
)

// surveyed is what there is to know of a program without running it.
type surveyed struct {
	reads   bool       // it calls input or inputs
	imports string     // how it loads a module; "": it does not
	format  string     // a format that there is not
	calls   []string   // what it calls without arguments, variables included
	objects [][]string // the keys of the objects that it writes, in order
	defs    map[string]*gojq.FuncDef
	twice   map[string]bool // what is defined more than once
	params  map[string]bool // the arguments of all functions
	looks   map[string]bool // of the functions: whether they look at their input
}

func survey(q *gojq.Query) *surveyed {
	s := &surveyed{
		defs: make(map[string]*gojq.FuncDef), twice: make(map[string]bool),
		params: make(map[string]bool), looks: make(map[string]bool),
	}
	s.query(q)
	return s
}

// formats lists what may follow an @.
func formats() []string {
	return []string{"@text", "@json", "@html", "@uri", "@urid", "@csv", "@tsv", "@sh", "@base64", "@base64d"}
}

// refused says what a program asks for that cannot be had here.
func (s *surveyed) refused(program string) error {
	switch {
	case s.imports != "":
		return broken("the statement %s, and there are no modules here; write the functions into the program", s.imports)
	case s.format != "":
		return broken("the format %s, which is not defined%s; there are %s", clean(s.format, maxText), place(program, max(strings.Index(program, s.format), 0)), strings.Join(formats(), ", "))
	}
	for name, why := range map[string]string{
		"$__loc__":          "the place in a program is not known here",
		"$__prog_args":      "a program is given no arguments",
		"input_line_number": "the lines of the body are not counted here",
		"get_search_list":   "there are no modules here",
		"get_jq_origin":     "there are no files here",
		"get_prog_origin":   "there are no files here",
		"modulemeta":        "there are no modules here",
	} {
		if slices.Contains(s.calls, name) && s.defs[key(name, 0)] == nil {
			return broken("a use of %s%s: %s", name, place(program, find(program, name)), why)
		}
	}
	return nil
}

func key(name string, args int) string { return fmt.Sprintf("%s/%d", name, args) }

// query walks through all parts of a program.
func (s *surveyed) query(q *gojq.Query) {
	if q == nil {
		return
	}
	if q.Meta != nil {
		s.imports = "module"
	}
	for _, i := range q.Imports {
		s.imports = "import"
		if i.IncludePath != "" {
			s.imports = "include"
		}
	}
	for _, d := range q.FuncDefs {
		name := key(d.Name, len(d.Args))
		s.twice[name] = s.defs[name] != nil
		s.defs[name] = d
		for _, a := range d.Args {
			s.params[key(strings.TrimPrefix(a, "$"), 0)] = true
		}
		s.query(d.Body)
	}
	s.patterns(q.Patterns)
	s.query(q.Left)
	s.query(q.Right)
	s.term(q.Term)
}

func (s *surveyed) queries(qs ...*gojq.Query) {
	for _, q := range qs {
		s.query(q)
	}
}

func (s *surveyed) text(t *gojq.String) {
	if t != nil {
		s.queries(t.Queries...)
	}
}

func (s *surveyed) patterns(ps []*gojq.Pattern) {
	for _, p := range ps {
		s.patterns(p.Array)
		for _, o := range p.Object {
			s.text(o.KeyString)
			s.query(o.KeyQuery)
			if o.Val != nil {
				s.patterns([]*gojq.Pattern{o.Val})
			}
		}
	}
}

func (s *surveyed) index(i *gojq.Index) {
	if i != nil {
		s.text(i.Str)
		s.queries(i.Start, i.End)
	}
}

func (s *surveyed) term(t *gojq.Term) {
	if t == nil {
		return
	}
	s.index(t.Index)
	s.text(t.Str)
	s.query(t.Query)
	if t.Format != "" && !slices.Contains(formats(), t.Format) {
		s.format = t.Format
	}
	if f := t.Func; f != nil {
		if len(f.Args) == 0 {
			s.calls = append(s.calls, f.Name)
			s.reads = s.reads || f.Name == "input" || f.Name == "inputs"
		}
		s.queries(f.Args...)
	}
	if t.Object != nil {
		s.object(t.Object)
	}
	if t.Array != nil {
		s.query(t.Array.Query)
	}
	if t.Unary != nil {
		s.term(t.Unary.Term)
	}
	if i := t.If; i != nil {
		s.queries(i.Cond, i.Then, i.Else)
		for _, e := range i.Elif {
			s.queries(e.Cond, e.Then)
		}
	}
	if t.Try != nil {
		s.queries(t.Try.Body, t.Try.Catch)
	}
	if r := t.Reduce; r != nil {
		s.patterns(r.Patterns)
		s.queries(r.Query, r.Start, r.Update)
	}
	if f := t.Foreach; f != nil {
		s.patterns(f.Patterns)
		s.queries(f.Query, f.Start, f.Update, f.Extract)
	}
	if t.Label != nil {
		s.query(t.Label.Body)
	}
	for _, x := range t.SuffixList {
		s.index(x.Index)
	}
}

// object walks through an object, and notes its keys if all are known.
func (s *surveyed) object(o *gojq.Object) {
	var keys []string
	known := true
	for _, kv := range o.KeyVals {
		s.text(kv.KeyString)
		s.queries(kv.KeyQuery, kv.Val)
		var k string
		switch {
		case kv.Key != "" && kv.Key[0] == '$' && kv.Val != nil:
			known = false
		case kv.Key != "":
			k = strings.TrimPrefix(kv.Key, "$")
		case kv.KeyString != nil && kv.KeyString.Queries == nil:
			k = kv.KeyString.Str
		default:
			known = false
		}
		keys = append(keys, k)
	}
	if known {
		s.objects = append(s.objects, keys)
	}
}

// ignoring lists what ignores its input, by name/arity, and which of its
// arguments run on that input.
func ignoring() map[string][]int {
	return map[string][]int{
		"input/0": nil, "inputs/0": nil, "empty/0": nil, "halt/0": nil, "now/0": nil, "env/0": nil, "builtins/0": nil,
		"nan/0": nil, "infinite/0": nil, "input_filename/0": nil, "error/1": {0}, "add/1": {0}, "fromstream/1": {0},
		"range/1": {0}, "range/2": {0, 1}, "range/3": {0, 1, 2}, "first/1": {0}, "last/1": {0}, "nth/2": {0, 1},
		"limit/2": {0, 1}, "skip/2": {0, 1}, "isempty/1": {0}, "any/2": {0}, "all/2": {0}, "INDEX/2": {0}, "IN/2": {0, 1},
		"pow/2": {0, 1}, "atan2/2": {0, 1},
	}
}

// looksAtInput says whether a program may look at its own input. Where that is
// not certain it may.
func (s *surveyed) looksAtInput(q *gojq.Query) bool {
	switch {
	case q == nil:
		return false
	case q.Term != nil:
		return s.termLooks(q.Term)
	case q.Op == gojq.OpPipe && len(q.Patterns) == 0:
		return s.looksAtInput(q.Left) // what follows is given its outputs
	case q.Op >= gojq.OpAssign:
		return true
	default:
		return s.anyLooks(q.Left, q.Right)
	}
}

func (s *surveyed) anyLooks(qs ...*gojq.Query) bool { return slices.ContainsFunc(qs, s.looksAtInput) }

func (s *surveyed) textLooks(t *gojq.String) bool { return t != nil && s.anyLooks(t.Queries...) }

func (s *surveyed) termLooks(t *gojq.Term) bool {
	for _, x := range t.SuffixList {
		if i := x.Index; i != nil && (s.textLooks(i.Str) || s.anyLooks(i.Start, i.End)) {
			return true
		}
	}
	switch t.Type {
	case gojq.TermTypeNull, gojq.TermTypeTrue, gojq.TermTypeFalse, gojq.TermTypeNumber, gojq.TermTypeBreak:
		return false
	case gojq.TermTypeFunc:
		return s.callLooks(t.Func)
	case gojq.TermTypeObject:
		return slices.ContainsFunc(t.Object.KeyVals, func(kv *gojq.ObjectKeyVal) bool {
			return kv.Val == nil && !strings.HasPrefix(kv.Key, "$") || s.textLooks(kv.KeyString) || s.anyLooks(kv.KeyQuery, kv.Val)
		})
	case gojq.TermTypeArray:
		return s.looksAtInput(t.Array.Query)
	case gojq.TermTypeUnary:
		return s.termLooks(t.Unary.Term)
	case gojq.TermTypeFormat:
		return t.Str == nil || s.textLooks(t.Str)
	case gojq.TermTypeString:
		return s.textLooks(t.Str)
	case gojq.TermTypeIf:
		return t.If.Else == nil || s.anyLooks(t.If.Cond, t.If.Then, t.If.Else) ||
			slices.ContainsFunc(t.If.Elif, func(e *gojq.IfElif) bool { return s.anyLooks(e.Cond, e.Then) })
	case gojq.TermTypeTry:
		return s.looksAtInput(t.Try.Body)
	case gojq.TermTypeReduce:
		return s.anyLooks(t.Reduce.Query, t.Reduce.Start)
	case gojq.TermTypeForeach:
		return s.anyLooks(t.Foreach.Query, t.Foreach.Start)
	case gojq.TermTypeLabel:
		return s.looksAtInput(t.Label.Body)
	case gojq.TermTypeQuery:
		return s.looksAtInput(t.Query)
	default:
		return true // . and its parts
	}
}

func (s *surveyed) callLooks(f *gojq.Func) bool {
	if strings.HasPrefix(f.Name, "$") {
		return false
	}
	name := key(f.Name, len(f.Args))
	args, ignores := ignoring()[name]
	d := s.defs[name]
	defined := 0
	for _, is := range []bool{ignores, d != nil, s.params[name]} {
		if is {
			defined++
		}
	}
	switch {
	case defined != 1 || s.twice[name]:
		return true // or which of them is meant depends on the place
	case ignores:
		return slices.ContainsFunc(args, func(i int) bool { return s.looksAtInput(f.Args[i]) })
	case d == nil:
		return false // it runs on what the function was called with: looked at there
	}
	looks, known := s.looks[name]
	if !known {
		s.looks[name] = false // to itself it adds nothing
		looks = s.looksAtInput(d.Body)
		s.looks[name] = looks
	}
	return looks || s.anyLooks(f.Args...)
}
