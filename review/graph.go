package review

import (
	"context"
	"strings"

	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/names"
)

// graph writes a program into a document.
type graph struct {
	*tables
	ops    []ir.OpID // in the document's order
	opAt   map[ir.OpID]int32
	valAt  map[ir.ValueID]int32
	result int32 // the value of the program's first result
}

// write adds operations, values and scopes. Label names values, results the results of the program.
func (t *tables) write(ctx context.Context, label func(ir.ValueID) string, results []string) (*graph, error) {
	g := &graph{tables: t, opAt: map[ir.OpID]int32{}, valAt: map[ir.ValueID]int32{}}
	body := t.m.MainFunc().Body
	for _, v := range t.m.BlockArgs(body) {
		g.value(v, none, label(v))
	}
	if err := g.block(ctx, body, none, label); err != nil {
		return nil, err
	}
	d := t.d
	for _, op := range g.ops {
		d.Ops.First = append(d.Ops.First, int32(len(d.Ops.Operands)))
		for _, v := range t.m.Operands(op) {
			d.Ops.Operands = append(d.Ops.Operands, g.number(v))
		}
	}
	d.Ops.First = append(d.Ops.First, int32(len(d.Ops.Operands)))
	g.results(results)
	g.scopes()
	return g, ctx.Err()
}

// number returns the number of a value, -1 for one that is in no text.
func (g *graph) number(v ir.ValueID) int32 {
	if i, ok := g.valAt[v]; ok {
		return i
	}
	return none
}

func (g *graph) value(v ir.ValueID, op int32, name string) {
	values := &g.d.Values
	g.valAt[v] = int32(len(values.Op))
	values.Name = append(values.Name, g.text(name))
	values.Type = append(values.Type, g.typ(g.m.Type(v)))
	values.Sharding = append(values.Sharding, g.sharding(g.m.Sharding(v)))
	values.Op = append(values.Op, op)
}

// block adds the operations of a block, and of the regions in them.
func (g *graph) block(ctx context.Context, b ir.BlockID, inside int32, label func(ir.ValueID) string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m := g.m
	for op := range m.Ops(b) {
		at := int32(len(g.ops))
		g.opAt[op] = at
		g.ops = append(g.ops, op)
		g.d.Ops.Kind = append(g.d.Ops.Kind, g.text(m.OpName(op)))
		g.d.Ops.Source = append(g.d.Ops.Source, g.source(m.OpLoc(op)))
		g.d.Ops.Inside = append(g.d.Ops.Inside, inside)
		for _, v := range m.ResultValues(op) {
			g.value(v, at, label(v))
		}
		if !m.Kind(op).HasBodies() {
			continue
		}
		for inner := range m.InnerBlocks(op) {
			for _, v := range m.BlockArgs(inner) {
				g.value(v, at, label(v))
			}
			if err := g.block(ctx, inner, at, label); err != nil {
				return err
			}
		}
	}
	return nil
}

// results adds the results of the program, which are what its last operation reads.
func (g *graph) results(labels []string) {
	f := g.m.MainFunc()
	values := &g.d.Values
	g.result = int32(len(values.Op))
	for i, typ := range f.ResultTypes {
		values.Name = append(values.Name, g.text(labels[i]))
		values.Type = append(values.Type, g.typ(typ))
		values.Sharding = append(values.Sharding, g.sharding(f.ResultShardings[i]))
		values.Op = append(values.Op, -2)
	}
}

// scopes gives each operation its part of the program. Where the program says its structure (package ir/names), parts are what it says;
// else they are what repeats itself, and the operations between.
func (g *graph) scopes() {
	s := &scoper{graph: g, index: map[string]int32{}}
	s.add(g.text(g.d.Model), none)
	paths := lists.Map(g.ops, func(op ir.OpID) string { return names.Scope(g.m, g.m.OpLoc(op)) })
	named := 0
	for _, path := range paths {
		if strings.Contains(path, "/") {
			named++
		}
	}
	if 2*named >= len(paths) {
		s.byName(paths)
	} else {
		s.byRepetition()
	}
	s.markLike()
}

// scoper makes the tree of scopes.
type scoper struct {
	*graph
	index map[string]int32 // by path
}

func (s *scoper) add(name, parent int32) int32 {
	sc := &s.d.Scopes
	at := int32(len(sc.Name))
	sc.Name, sc.Parent, sc.Like = append(sc.Name, name), append(sc.Parent, parent), append(sc.Like, at)
	return at
}

// byName puts each operation where its scope says; the last part of that is the operation itself. What the program gives none is in the
// scope of what it belongs to.
func (s *scoper) byName(paths []string) {
	for i, path := range paths {
		at := int32(0)
		if inside := s.d.Ops.Inside[i]; path == "" && inside >= 0 {
			at = s.d.Ops.Scope[inside]
		}
		parts := strings.Split(path, "/")
		for k := range len(parts) - 1 {
			key := strings.Join(parts[:k+1], "/")
			next, ok := s.index[key]
			if !ok {
				next = s.add(s.text(parts[k]), at)
				s.index[key] = next
			}
			at = next
		}
		s.d.Ops.Scope = append(s.d.Ops.Scope, at)
	}
}

// markLike finds parts that do the same as an earlier one beside them: operations of the same kinds and types in the same order.
func (s *scoper) markLike() {
	sc := &s.d.Scopes
	own := make([][]uint64, len(sc.Name))
	for i, op := range s.ops {
		own[s.d.Ops.Scope[i]] = append(own[s.d.Ops.Scope[i]], signature(s.m, op))
	}
	children := make([][]int32, len(sc.Name))
	sums := make([]uint64, len(sc.Name))
	for i := len(sc.Name) - 1; i >= 0; i-- {
		sums[i] = mix(own[i]...)
		for k := len(children[i]) - 1; k >= 0; k-- { // they were met backwards
			sums[i] = mix(sums[i], sums[children[i][k]])
		}
		if p := sc.Parent[i]; p >= 0 {
			children[p] = append(children[p], int32(i))
		}
	}
	type key struct {
		parent int32
		sum    uint64
	}
	first := map[key]int32{}
	for i := range sc.Name {
		k := key{sc.Parent[i], sums[i]}
		if at, ok := first[k]; ok {
			sc.Like[i] = at
		} else {
			first[k] = int32(i)
		}
	}
}
