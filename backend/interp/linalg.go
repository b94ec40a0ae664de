package interp

import (
	"slices"

	"autoshard/backend/tensor"
	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

// linalgCall is a custom call of linear algebra while it is compiled.
type linalgCall struct {
	*compiler
	op      ir.OpID
	target  string
	options ir.Attrs
	i       *instr
}

// linalgCalls builds the kernels of LAPACK's routines by name; ir.LinalgRoutine tells which targets mean them.
var linalgCalls = map[string]func(*linalgCall) error{
	"potrf": func(l *linalgCall) error {
		lower := l.m.LowerTriangle(l.op)
		return l.kernel(func(in []tensor.Tensor) []tensor.Tensor { return results(tensor.Potrf(in[0], lower)) }, square)
	},
	"getrf": (*linalgCall).getrf,
	"geqrf": func(l *linalgCall) error {
		return l.kernel(func(in []tensor.Tensor) []tensor.Tensor { return results(tensor.Geqrf(in[0])) })
	},
	"geqp3": func(l *linalgCall) error {
		return l.kernel(func(in []tensor.Tensor) []tensor.Tensor { return results(tensor.Geqp3(in[0], in[1])) }, pivotsFit)
	},
	"orgqr": func(l *linalgCall) error {
		return l.kernel(func(in []tensor.Tensor) []tensor.Tensor { return results(tensor.Orgqr(in[0], in[1])) }, reflectorsFit)
	},
	"ormqr": func(l *linalgCall) error {
		left, adjoint := l.options.Bool("left"), l.options.Bool("transpose")
		return l.kernel(func(in []tensor.Tensor) []tensor.Tensor {
			return results(tensor.Ormqr(in[0], in[1], in[2], left, adjoint))
		}, func(shapes [][]int64) bool { return productFits(shapes, left) })
	},
	"syevd": (*linalgCall).syevd,
	"geev":  (*linalgCall).geev,
	"gesdd": (*linalgCall).gesdd,
	"gees":  (*linalgCall).gees,
	"gehrd": (*linalgCall).gehrd,
	"sytrd": func(l *linalgCall) error {
		lower := l.m.LowerTriangle(l.op)
		return l.kernel(func(in []tensor.Tensor) []tensor.Tensor { return results(tensor.Sytrd(in[0], lower)) }, square)
	},
	"trsm":                     (*linalgCall).trsm,
	"gtsv":                     (*linalgCall).gtsv,
	"lu_pivots_to_permutation": (*linalgCall).permutation,
}

// buildLinalg builds the kernel of a routine.
func buildLinalg(c *compiler, op ir.OpID, i *instr, routine string) error {
	return linalgCalls[routine](&linalgCall{c, op, c.attrs(op).str("call_target_name"), c.m.CallOptions(op), i})
}

// kernel checks the operands against each other and sets a kernel whose results are checked against their types: the
// shapes and element types of custom calls have no verifier.
func (l *linalgCall) kernel(run func(in []tensor.Tensor) []tensor.Tensor, fits ...func(shapes [][]int64) bool) error {
	r := l.attrs(l.op)
	shapes := lists.Map(l.m.Operands(l.op), r.static)
	if r.err != nil {
		return r.err
	}
	fits = append([]func([][]int64) bool{l.elements, l.batched}, fits...)
	for _, fit := range fits {
		if !fit(shapes) {
			return l.mismatch()
		}
	}
	var want []paramType
	for _, v := range l.m.Results(l.op) {
		types, err := l.flatten(l.m.Type(v))
		if err != nil {
			return err
		}
		want = append(want, types...)
	}
	l.i.kernel = func(_ *frame, _ *instr, in []tensor.Tensor) ([]tensor.Tensor, error) {
		out := run(in)
		for k, t := range want {
			if len(out) != len(want) || out[k].DType != t.DType || !slices.Equal(out[k].Shape, t.Dims) {
				return nil, l.mismatch()
			}
		}
		return out, nil
	}
	return nil
}

func (l *linalgCall) mismatch() error {
	return diag.Invalid(diag.BadOp, diag.Position{}, "operands and results do not fit custom_call target %q", l.target)
}

func (l *linalgCall) unsupported(option, value string) error {
	return diag.Unsupported(diag.NotSupported, diag.Position{}, "custom_call target %q cannot be run with %s %s", l.target, option, value)
}

// elements says whether the operands are floats or complex numbers that LAPACK knows, all of one type, but for pivots.
func (l *linalgCall) elements(shapes [][]int64) bool {
	known := []dtype.Type{dtype.F32, dtype.F64, dtype.C64, dtype.C128}
	first := dtype.Type(0)
	for k := range shapes {
		switch t := l.m.ValueType(l.m.Operand(l.op, k)); {
		case t.Kind != ir.TensorKind || k > 0 && t.DType != first && t.DType != dtype.I32:
			return false
		case k == 0:
			first = t.DType
		}
	}
	return slices.Contains(known, first) || first == dtype.I32 && ir.LinalgRoutine(l.target) == "lu_pivots_to_permutation"
}

// batched says whether all operands have the batch dimensions of the first one.
func (l *linalgCall) batched(shapes [][]int64) bool {
	if len(shapes) == 0 {
		return false
	}
	independent := l.m.IndependentDims(l.op)
	n := 0
	for n < len(shapes[0]) && independent(n) {
		n++
	}
	core := len(shapes[0]) - n
	return core >= 1 && !slices.ContainsFunc(shapes, func(s []int64) bool {
		return len(s) <= n || len(s) > n+2 || !slices.Equal(s[:n], shapes[0][:n])
	}) && core == ir.ProblemRank(l.target)
}

// complex says whether the matrices are complex.
func (l *linalgCall) complex() bool {
	return l.m.ValueType(l.m.Operand(l.op, 0)).DType.Kind() == dtype.Complex
}

// tail returns the dimension at a place from the end, -1 where there is none.
func tail(shape []int64, back int) int64 {
	if len(shape) < back {
		return -1
	}
	return shape[len(shape)-back]
}

func square(shapes [][]int64) bool {
	return len(shapes) == 1 && tail(shapes[0], 1) == tail(shapes[0], 2)
}

func pivotsFit(shapes [][]int64) bool {
	return len(shapes) == 2 && len(shapes[1]) == len(shapes[0])-1 && tail(shapes[1], 1) == tail(shapes[0], 1)
}

// reflectorsFit says whether a matrix has a reflector for each factor, and no more columns than rows.
func reflectorsFit(shapes [][]int64) bool {
	return len(shapes) == 2 && len(shapes[1]) == len(shapes[0])-1 &&
		tail(shapes[1], 1) <= tail(shapes[0], 1) && tail(shapes[0], 1) <= tail(shapes[0], 2)
}

func productFits(shapes [][]int64, left bool) bool {
	if len(shapes) != 3 || len(shapes[1]) != len(shapes[0])-1 || len(shapes[2]) != len(shapes[0]) {
		return false
	}
	side := tail(shapes[2], 1)
	if left {
		side = tail(shapes[2], 2)
	}
	return tail(shapes[0], 2) == side && tail(shapes[1], 1) <= min(side, tail(shapes[0], 1))
}

// letter returns an option that is a letter of LAPACK, 0 where it is absent.
func (l *linalgCall) letter(name string) byte { return byte(l.options.Int(name, 0)) }
