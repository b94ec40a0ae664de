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
	lists := ListsOf(m.Attr(op, "perm"))
	perm := make([][2]int64, len(lists))
	for i, pair := range lists {
		perm[i] = [2]int64(pair)
	}
	return perm
}

// Perm is the inverse of PermOf: it returns the attribute `perm`.
func Perm(perm [][2]int64) ir.Attr {
	lists := make([][]int64, len(perm))
	for i, pair := range perm {
		lists[i] = pair[:]
	}
	return Lists(lists)
}

// ListsOf returns the lists of integers of an attribute, such as `groups`; nil where it is none.
func ListsOf(a ir.Attr) [][]int64 {
	list, ok := a.(ir.ArrayAttr)
	if !ok {
		return nil
	}
	out := make([][]int64, len(list))
	for i, e := range list {
		out[i], _ = e.(ir.Ints)
	}
	return out
}

// Lists is the inverse of ListsOf.
func Lists(lists [][]int64) ir.Attr {
	out := make(ir.ArrayAttr, len(lists))
	for i, list := range lists {
		out[i] = ir.Ints(list)
	}
	return out
}
