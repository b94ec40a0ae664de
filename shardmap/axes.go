package shardmap

import (
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/subaxis"
)

// AllReduce returns the op over axes that combines what devices have.
func AllReduce(r ir.Reduction) ir.Kind {
	return [...]ir.Kind{ir.OpShardMapPsum, ir.OpShardMapPmax, ir.OpShardMapPmin}[r]
}

// AxesOf returns the axes of an op over axes, in the order in which members are numbered, major to minor: nil for a
// pscatter, which has some for each dimension, and for ops of other kinds.
func AxesOf(m *ir.Module, op ir.OpID) []subaxis.Ref {
	if axes, ok := m.Attr(op, "axes").(*ir.AxesAttr); ok {
		return axes.Axes
	}
	return nil
}

// Places are the numbers of this device along axes, each computed once at the start of a block.
type Places struct {
	p    *Program
	body ir.BlockID
	last ir.OpID // of the ops that compute them
	of   map[string]ir.ValueID
}

// NewPlaces returns those of a program, of which none is computed yet.
func NewPlaces(p *Program) *Places { return newPlaces(p, p.Module.Func(p.Main).Body) }

func newPlaces(p *Program, body ir.BlockID) *Places {
	return &Places{p: p, body: body, of: map[string]ir.ValueID{}}
}

// Along returns the number of this device along axes, given as the attribute of an op, an i32 scalar.
func (x *Places) Along(axes *ir.AxesAttr) ir.ValueID {
	m, key := x.p.Module, x.p.Mesh.FormatList(axes.Axes)
	if v, ok := x.of[key]; ok {
		return v
	}
	b := m.BuilderBefore(m.FirstOp(x.body))
	if x.last != 0 {
		b = m.BuilderAfter(x.last)
	}
	v := b.Op1(ir.OpShardMapAxisIndex, m.TensorType(dtype.I32), ir.MakeAttrs(ir.Named("axes", axes)))
	x.last, x.of[key] = m.DefiningOp(v), v
	return v
}

// PermOf returns the pairs of source and target members of a ppermute.
func PermOf(m *ir.Module, op ir.OpID) [][2]int64 {
	return lists.Map(ListsOf(m.Attr(op, "perm")), func(pair []int64) [2]int64 { return [2]int64(pair) })
}

// Perm is the inverse of PermOf: it returns the attribute `perm`.
func Perm(perm [][2]int64) ir.Attr {
	return Lists(lists.Map(perm, func(pair [2]int64) []int64 { return pair[:] }))
}

// ListsOf returns the lists of integers of an attribute, such as `groups`; nil where it is none.
func ListsOf(a ir.Attr) [][]int64 {
	list, ok := a.(ir.ArrayAttr)
	if !ok {
		return nil
	}
	return lists.Map(list, func(a ir.Attr) []int64 {
		ints, _ := a.(ir.Ints)
		return ints
	})
}

// Lists is the inverse of ListsOf.
func Lists(list [][]int64) ir.Attr {
	return ir.ArrayAttr(lists.Map(list, func(ints []int64) ir.Attr { return ir.Ints(ints) }))
}
