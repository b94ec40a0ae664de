package plan

import (
	"slices"

	"autoshard/ir"
)

// replaced returns for each result of the main function the input whose place it takes in the next step, -1 for
// none: such pairs keep one sharding. Donation says so (tf.aliasing_output). Where a model donates nothing, results
// and inputs that begin alike, with the same types in the same order, are taken for the state of a training or
// decoding loop if they are more than one.
func replaced(m *ir.Module) []int {
	f := m.MainFunc()
	out := make([]int, len(f.ResultTypes))
	for i := range out {
		out[i] = -1
	}
	donated := false
	for arg, attrs := range f.ArgAttrs {
		if i := attrs.Int(ir.AliasAttr, -1); i >= 0 && int(i) < len(out) {
			out[i], donated = arg, true
		}
	}
	if n := alike(m, f); !donated && n > 1 {
		for i := range n {
			out[i] = i
		}
	}
	for i, arg := range out {
		if arg >= 0 && !compatible(m, f, i, arg) {
			out[i] = -1
		}
	}
	return out
}

// alike returns how many results at the start have the types of the inputs at the start.
func alike(m *ir.Module, f *ir.Func) int {
	args := m.BlockArgs(f.Body)
	n := 0
	for n < min(len(args), len(f.ResultTypes)) && m.Type(args[n]) == f.ResultTypes[n] {
		n++
	}
	return n
}

// compatible says whether a result and an input can share a sharding: the user did not ask for two different ones.
func compatible(m *ir.Module, f *ir.Func, i, arg int) bool {
	in, out := m.Sharding(m.BlockArgs(f.Body)[arg]), f.ResultShardings[i]
	return in == 0 || out == 0 || slices.EqualFunc(m.ShardingOf(in).Dims, m.ShardingOf(out).Dims,
		func(a, b ir.DimSharding) bool { return slices.Equal(a.Axes, b.Axes) })
}
