package specialize

import (
	"cmp"
	"strconv"
	"strings"

	"autoshard/backend/tensor"
	"autoshard/internal/diag"
	"autoshard/ir"
)

// platformCalls are beginnings of targets of custom calls that one kind of hardware has.
var platformCalls = []struct{ prefix, platform string }{
	{"lapack_", "cpu"}, {"xla_python_cpu", "cpu"}, {"xla_ffi_python_cpu", "cpu"}, {"xla_ffi_partitioned_python_cpu", "cpu"},
	{"cusolver", "cuda"}, {"cublas", "cuda"}, {"cudnn", "cuda"}, {"cufft", "cuda"}, {"cu_", "cuda"}, {"__cublas", "cuda"},
	{"__cudnn", "cuda"},
	{"__gpu", "cuda"}, {"xla_python_gpu", "cuda"}, {"xla_ffi_python_gpu", "cuda"}, {"xla_ffi_partitioned_python_gpu", "cuda"},
	{"triton", "cuda"},
	{"mosaic_gpu", "cuda"}, {"hip", "rocm"}, {"roc", "rocm"},
	{"tpu_", "tpu"}, {"Mosaic", "tpu"}, {"Qr", "tpu"}, {"Eigh", "tpu"}, {"LuDecomposition", "tpu"}, {"ProductOfElementary", "tpu"},
}

// choosePlatform replaces the index of the platform, if the entry takes one, by a constant. It returns the index, -1
// where there is none to choose.
func (p *program) choosePlatform(wanted string, names []string) (int, error) {
	m := p.m
	f := m.Func(p.main)
	at := -1
	for i := range f.ArgAttrs {
		if isPlatform(f.ArgAttrs[i]) {
			at = i
		}
	}
	if at < 0 {
		if wanted != "" {
			return -1, diag.Invalid(diag.BadOption, diag.Position{}, "the model is for one platform; %q cannot be chosen", wanted)
		}
		return -1, nil
	}
	arg := m.BlockArgs(f.Body)[at]
	index, err := p.platform(arg, wanted, names)
	if err != nil {
		return -1, err
	}
	fixPlatform(m, p.main, arg, index)
	m.EraseFuncArg(p.main, at)
	return index, nil
}

// fixPlatform puts the index of a platform in the place of an argument, and what that platform does in the place of
// every choice.
func fixPlatform(m *ir.Module, main ir.FuncID, arg ir.ValueID, index int) {
	body := m.Func(main).Body
	m.ReplaceUses(arg, constant(m.BuilderBefore(m.FirstOp(body)), m, tensor.FromInts(m.ValueType(arg).DType, nil, int64(index))))
	(&refiner{folder: newFolder(m)}).choose(body)
}

// choose puts branches in the place of choices that follow from constants, and leaves everything else.
func (r *refiner) choose(b ir.BlockID) {
	for op := range r.m.Ops(b) {
		if k := r.m.Kind(op); (k == ir.OpCase || k == ir.OpIf) && r.takeBranch(op, r.choose) {
			continue
		}
		for inner := range r.m.InnerBlocks(op) {
			r.choose(inner)
		}
		r.op(op)
	}
}

// platform finds the index of a platform.
func (p *program) platform(arg ir.ValueID, wanted string, names []string) (int, error) {
	n := max(1, len(names))
	for use := range p.m.Uses(arg) {
		n = max(n, p.m.NumRegions(use.Op))
	}
	if index, err := strconv.Atoi(wanted); err == nil {
		if index < 0 || index >= n {
			return 0, diag.Invalid(diag.BadOption, diag.Position{}, "platform %d does not exist: the model is for %d, counted from 0", index, n)
		}
		return index, nil
	}
	given := names
	if given == nil {
		names = p.platformNames(arg, n)
	}
	for i, name := range names {
		if name == wanted || wanted == "" && (name == "cpu" || name == "") {
			return i, nil
		}
	}
	for i, name := range names {
		if name == "" && wanted == "cpu" { // it runs anywhere
			return i, nil
		}
	}
	switch {
	case wanted == "":
		return 0, nil
	case given != nil:
		return 0, diag.Invalid(diag.BadOption, diag.Position{}, "the model is for %s, not for %q", list(given), wanted)
	}
	return 0, diag.Invalid(diag.BadOption, diag.Position{},
		"the model does not say which of its %d platforms is %q; give its place among the platforms of the export, counted from 0", n, wanted)
}

// platformNames returns the names of the platforms by index, "" for those that nothing tells apart: by the custom calls
// that are left when an index is chosen.
func (p *program) platformNames(arg ir.ValueID, n int) []string {
	names := make([]string, n)
	for i := range names {
		c := p.m.Clone()
		fixPlatform(c, p.main, arg, i)
		for _, op := range c.OpsOf(c.Func(p.main).Body, ir.OpCustomCall) {
			names[i] = cmp.Or(names[i], platformOf(c.OpAttrs(op).Str("call_target_name")))
		}
	}
	return names
}

func platformOf(target string) string {
	for _, c := range platformCalls {
		if strings.HasPrefix(target, c.prefix) {
			return c.platform
		}
	}
	return ""
}
