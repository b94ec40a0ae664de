package shardmap

import (
	"autoshard/ir"
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

// PermOf returns the pairs of source and target members of a ppermute.
func PermOf(m *ir.Module, op ir.OpID) [][2]int64 {
	list, _ := m.Attr(op, "perm").(ir.ArrayAttr)
	perm := make([][2]int64, len(list))
	for i, e := range list {
		perm[i] = [2]int64(e.(ir.Ints))
	}
	return perm
}

// Perm is the inverse of PermOf: it returns the attribute `perm`.
func Perm(perm [][2]int64) ir.Attr {
	list := make(ir.ArrayAttr, len(perm))
	for i, pair := range perm {
		list[i] = ir.Ints{pair[0], pair[1]}
	}
	return list
}
