package lint

import (
	"fmt"
	"slices"
	"strings"

	"autoshard/ir"
	"autoshard/ir/names"
	"autoshard/ir/rule"
	"autoshard/propagate"
	"autoshard/subaxis"
)

// quiet are the targets of custom calls that are known to have no rule: Shardy says nothing about them either
// (source: shardy.md section 2.3).
var quiet = []string{"sdy_testonly", "tpu_custom_call", "xla_python_cpu_callback", "xla_python_gpu_callback",
	"xla_ffi_python_cpu_callback", "xla_ffi_python_gpu_callback", "xla.debug.Log"}

func (l *linter) customOps() {
	l.m.Walk(l.m.Body(), func(op ir.OpID) {
		k := l.m.Kind(op)
		if k != ir.OpCustomCall && k != ir.OpUnregistered || !l.tensors(op) || rule.Of(l.m, op, false) != nil {
			return
		}
		name := l.m.OpName(op)
		if k == ir.OpCustomCall {
			if name = l.m.OpAttrs(op).Str("call_target_name"); slices.Contains(quiet, name) {
				return
			}
		}
		l.report(op, "no sharding passes through `%s`: it has no sharding rule", name)
	})
}

// tensors says whether an operation maps tensors that are no scalars to others.
func (l *linter) tensors(op ir.OpID) bool {
	some := func(list []ir.ValueID) bool {
		return slices.ContainsFunc(list, func(v ir.ValueID) bool {
			t := l.m.ValueType(v)
			return t.Kind == ir.TensorKind && t.Rank() > 0
		})
	}
	return some(l.m.Operands(op)) && some(l.m.ResultValues(op))
}

func (l *linter) deadShardings() {
	l.m.Walk(l.m.Body(), func(op ir.OpID) {
		name := l.m.OpName(op)
		pure := (strings.HasPrefix(name, "stablehlo.") || strings.HasPrefix(name, "chlo.")) && l.m.NumRegions(op) == 0 &&
			l.m.Kind(op) != ir.OpCustomCall && !l.m.Kind(op).Transfers()
		results := l.m.ResultValues(op)
		if pure && !slices.ContainsFunc(results, l.m.HasUses) &&
			slices.ContainsFunc(results, func(v ir.ValueID) bool { return l.m.Sharding(v) != 0 }) {
			l.report(op, "the result of `%s` has a sharding, but nothing uses it", name)
		}
	})
}

func (l *linter) unevenShardings() {
	for f := range l.m.Definitions() {
		fn, args, results := l.m.Func(f), names.Args(l.m, f), names.Results(l.m, f)
		for i, v := range l.m.BlockArgs(fn.Body) {
			l.uneven(fn.Op, args.Describe(i), l.m.Sharding(v), l.m.Type(v))
		}
		for i, s := range fn.ResultShardings {
			l.uneven(fn.Op, results.Describe(i)+" of @"+ir.FormatSymbol(fn.Name), s, fn.ResultTypes[i])
		}
	}
	l.m.Walk(l.m.Body(), func(op ir.OpID) {
		for i, v := range l.m.ResultValues(op) {
			what := fmt.Sprintf("the result of `%s`", l.m.OpName(op))
			if l.m.NumResults(op) > 1 {
				what = fmt.Sprintf("result %d of `%s`", i, l.m.OpName(op))
			}
			l.uneven(op, what, l.m.Sharding(v), l.m.Type(v))
		}
	})
}

func (l *linter) uneven(op ir.OpID, what string, id ir.ShardingID, typ ir.TypeID) {
	t := l.m.TypeOf(typ)
	if id == 0 || t.Kind != ir.TensorKind {
		return
	}
	s := l.m.ShardingOf(id)
	mesh := l.m.Mesh(s.Mesh)
	for d, dim := range s.Dims {
		devices := subaxis.Product(dim.Axes)
		if d >= t.Rank() || t.Dims[d] < 0 || t.Dims[d]%devices == 0 {
			continue
		}
		l.report(op, "dimension %d of %s has size %d, which is no multiple of the %d devices along %s", d, what, t.Dims[d], devices,
			mesh.FormatList(dim.Axes))
	}
}

// largeArgument is the size in bytes from which on an argument should not stay whole unnoticed.
const largeArgument = 1 << 20

// replicatedArguments propagates the shardings of a copy of the program. Where that is not possible, other findings say
// why.
func (l *linter) replicatedArguments() {
	c := l.m.Clone()
	if len(l.uses.axes) == 0 || ir.InlineCalls(l.ctx, c) != nil || propagate.Import(l.ctx, c) != nil {
		return
	}
	main, _ := c.Main()
	args := names.Args(c, main)
	given := map[int]bool{}
	for i, v := range c.BlockArgs(c.Func(main).Body) {
		given[i] = c.Sharding(v) != 0
	}
	if _, err := propagate.Run(l.ctx, c, propagate.Options{CompleteRules: true}); err != nil {
		return
	}
	if propagate.Close(l.ctx, c) != nil {
		return
	}
	for i, v := range c.BlockArgs(c.Func(main).Body) {
		t := c.ValueType(v)
		if given[i] || t.Kind != ir.TensorKind || !t.IsStatic() || t.Bytes() < largeArgument || c.Sharding(v) != 0 && isCut(c, c.Sharding(v)) {
			continue
		}
		l.report(c.Func(main).Op, "%s of %d MiB has no sharding, and none reaches it: every device holds all of it", args.Describe(i),
			t.Bytes()>>20)
	}
}

func isCut(m *ir.Module, id ir.ShardingID) bool {
	return slices.ContainsFunc(m.ShardingOf(id).Dims, func(d ir.DimSharding) bool { return len(d.Axes) > 0 })
}
