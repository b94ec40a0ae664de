package interp

import (
	"slices"
	"strings"

	"autoshard/backend/tensor"
	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

// getrf: on TPUs pivots count from zero, and their permutation takes the place of info.
func (l *linalgCall) getrf() error {
	onTPU := l.target == "LuDecomposition"
	return l.kernel(func(in []tensor.Tensor) []tensor.Tensor {
		lu, pivots, info := tensor.Getrf(in[0])
		if !onTPU {
			return []tensor.Tensor{lu, pivots, info}
		}
		zeroBased := tensor.Subtract(pivots, tensor.BroadcastInDim(tensor.FromInts(pivots.DType, nil, 1), nil, pivots.Shape))
		rows := in[0].Shape[in[0].Rank()-2]
		return []tensor.Tensor{lu, zeroBased, tensor.PivotsToPermutation(zeroBased, rows)}
	}, func(shapes [][]int64) bool { return len(shapes) == 1 })
}

// syevd: TPUs give no info.
func (l *linalgCall) syevd() error {
	lower, onTPU := l.m.LowerTriangle(l.op), l.target == "Eigh"
	if mode := l.letter("mode"); mode != 0 && mode != 'V' {
		return l.unsupported("mode", string(rune(mode)))
	}
	return l.kernel(func(in []tensor.Tensor) []tensor.Tensor {
		vectors, values, info := tensor.Syevd(in[0], lower)
		if onTPU {
			return []tensor.Tensor{vectors, values}
		}
		return []tensor.Tensor{vectors, values, info}
	}, square)
}

// geev: the eigenvalues of real matrices are two results, their real and imaginary parts.
func (l *linalgCall) geev() error {
	left := l.letter("compute_left") == 'V' || l.options.Bool("left")
	right := l.letter("compute_right") == 'V' || l.options.Bool("right")
	if l.target == "cusolver_geev_ffi" || l.target == "hipsolver_geev_ffi" {
		return l.unsupported("vectors", "packed by pairs")
	}
	complexElements := l.complex()
	return l.kernel(func(in []tensor.Tensor) []tensor.Tensor {
		w, vl, vr, info := tensor.Geev(in[0], left, right)
		if complexElements {
			return []tensor.Tensor{w, vl, vr, info}
		}
		return []tensor.Tensor{tensor.Real(w), tensor.Imag(w), vl, vr, info}
	}, square)
}

// gesdd: the algorithms of Jacobi and of the polar decomposition give v where the others give its adjoint, and a
// transposed problem gives vt before u.
func (l *linalgCall) gesdd() error {
	want, adjoint := tensor.NoVectors, ir.GivesV(l.target)
	switch mode := l.letter("mode"); {
	case mode == 'A' || l.options.Bool("compute_uv") && l.options.Bool("full_matrices"):
		want = tensor.AllVectors
	case mode == 'S' || l.options.Bool("compute_uv"):
		want = tensor.ThinVectors
	case mode != 0 && mode != 'N':
		return l.unsupported("mode", string(rune(mode)))
	}
	if l.m.NumResults(l.op) != 5 {
		return l.mismatch()
	}
	left, right := l.m.ValueType(l.m.Result(l.op, 2)), l.m.ValueType(l.m.Result(l.op, 3))
	swapped := l.options.Bool("transposed")
	return l.kernel(func(in []tensor.Tensor) []tensor.Tensor {
		s, u, vt, info := tensor.Gesdd(in[0], want)
		switch {
		case want == tensor.NoVectors:
			u, vt = tensor.New(left.DType, left.Dims), tensor.New(right.DType, right.Dims)
		case adjoint:
			vt = adjointOf(vt)
		case swapped:
			u, vt = vt, u
		}
		return []tensor.Tensor{in[0], s, u, vt, info}
	}, func(shapes [][]int64) bool { return len(shapes) == 1 })
}

// adjointOf returns the conjugate transposes of matrices.
func adjointOf(x tensor.Tensor) tensor.Tensor {
	perm := lists.Range[int64](x.Rank())
	n := len(perm)
	perm[n-1], perm[n-2] = perm[n-2], perm[n-1]
	return tensor.Conj(tensor.Transpose(x, perm))
}

// gees: no eigenvalues are selected.
func (l *linalgCall) gees() error {
	if sort := l.letter("sort"); sort != 'N' {
		return l.unsupported("sort", string(rune(sort)))
	}
	complexElements := l.complex()
	return l.kernel(func(in []tensor.Tensor) []tensor.Tensor {
		form, vectors, w, info := tensor.Gees(in[0])
		selected := tensor.New(info.DType, info.Shape)
		if complexElements {
			return []tensor.Tensor{form, vectors, tensor.Convert(w, form.DType), selected, info}
		}
		re, im := tensor.Convert(tensor.Real(w), form.DType), tensor.Convert(tensor.Imag(w), form.DType)
		return []tensor.Tensor{form, vectors, re, im, selected, info}
	}, square)
}

func (l *linalgCall) gehrd() error {
	low, high := l.options.Int("low", 1), l.options.Int("high", 1)
	return l.kernel(func(in []tensor.Tensor) []tensor.Tensor {
		return results(tensor.Gehrd(in[0], int(low), int(high)))
	}, square, func(shapes [][]int64) bool {
		n := tail(shapes[0], 1)
		return n == 0 || 1 <= low && low <= high && high <= n
	})
}

func (l *linalgCall) trsm() error {
	p := tensor.TriangularParams{LeftSide: l.letter("side") == 'L', Lower: l.m.LowerTriangle(l.op), UnitDiagonal: l.letter("diag") == 'U'}
	switch l.letter("trans_x") {
	case 'T':
		p.Transpose = tensor.TransposeA
	case 'C':
		p.Transpose = tensor.Adjoint
	}
	return l.kernel(func(in []tensor.Tensor) []tensor.Tensor {
		return results(tensor.TriangularSolve(in[0], in[1], p))
	}, func(shapes [][]int64) bool {
		if len(shapes) != 2 || len(shapes[0]) != len(shapes[1]) {
			return false
		}
		side := tail(shapes[1], 1)
		if p.LeftSide {
			side = tail(shapes[1], 2)
		}
		return tail(shapes[0], 1) == tail(shapes[0], 2) && tail(shapes[0], 1) == side
	})
}

// gtsv: cpu's gives the diagonals of the factors too, which nobody reads: they stay as they were.
func (l *linalgCall) gtsv() error {
	onGPU := ir.LinalgRoutine(l.target) == "gtsv" && !strings.HasPrefix(l.target, "lapack_")
	return l.kernel(func(in []tensor.Tensor) []tensor.Tensor {
		x, info := tensor.Gtsv(in[0], in[1], in[2], in[3])
		if onGPU {
			return []tensor.Tensor{x}
		}
		return []tensor.Tensor{in[0], in[1], in[2], x, info}
	}, func(shapes [][]int64) bool {
		if len(shapes) != 4 || len(shapes[3]) != len(shapes[0])+1 {
			return false
		}
		for _, s := range shapes[:3] {
			if len(s) != len(shapes[0]) || tail(s, 1) != tail(shapes[3], 2) {
				return false
			}
		}
		return true
	})
}

func (l *linalgCall) permutation() error {
	dims := l.attrs(l.op).static(l.m.Result(l.op, 0))
	return l.kernel(func(in []tensor.Tensor) []tensor.Tensor {
		return results(tensor.PivotsToPermutation(in[0], tail(dims, 1)))
	}, func(shapes [][]int64) bool { return len(shapes) == 1 && len(dims) == len(shapes[0]) })
}

// shapesOf returns the shapes of an op's operands, and an error where they are not n floats of one type.
func (c *compiler) shapesOf(op ir.OpID, n int, known ...dtype.Type) ([][]int64, error) {
	r := c.attrs(op)
	if c.m.NumOperands(op) != n {
		return nil, diag.Invalid(diag.BadOp, diag.Position{}, "%d operands are needed, %d are given", n, c.m.NumOperands(op))
	}
	var shapes [][]int64
	first := c.m.ValueType(c.m.Operand(op, 0)).DType
	for _, v := range c.m.Operands(op) {
		if t := c.m.ValueType(v); t.Kind != ir.TensorKind || t.DType != first || !slices.Contains(known, first) {
			return nil, diag.Invalid(diag.BadOp, diag.Position{}, "the operands have to be of one type, one of %v", known)
		}
		shapes = append(shapes, r.static(v))
	}
	return shapes, r.err
}

func buildThreeFry(c *compiler, op ir.OpID, i *instr) error {
	shapes, err := c.shapesOf(op, 4, dtype.UI32)
	if err != nil {
		return err
	}
	for _, s := range shapes {
		if !slices.Equal(s, shapes[0]) {
			return diag.Invalid(diag.BadOp, diag.Position{}, "keys and counters of shapes %v and %v differ", shapes[0], s)
		}
	}
	i.kernel = many(func(in []tensor.Tensor) []tensor.Tensor {
		return results(tensor.ThreeFry2x32(in[0], in[1], in[2], in[3]))
	})
	return nil
}

func buildSyrk(c *compiler, op ir.OpID, i *instr) error {
	shapes, err := c.shapesOf(op, 4, dtype.F32, dtype.F64)
	if err != nil {
		return err
	}
	transposed := c.m.CallOptions(op).Bool("transpose")
	a, sum := shapes[0], shapes[1]
	rows := tail(a, 2)
	if transposed {
		rows = tail(a, 1)
	}
	if len(a) < 2 || len(sum) != len(a) || !slices.Equal(sum[:len(a)-2], a[:len(a)-2]) || tail(sum, 1) != rows || tail(sum, 2) != rows ||
		len(shapes[2])+len(shapes[3]) != 0 {
		return diag.Invalid(diag.BadOp, diag.Position{}, "the product of a matrix %v with its transpose cannot be added to %v", a, sum)
	}
	i.kernel = one(func(in []tensor.Tensor) tensor.Tensor {
		return tensor.SymmetricProduct(in[0], in[1], in[2], in[3], transposed)
	})
	return nil
}

func buildCholeskyUpdate(c *compiler, op ir.OpID, i *instr) error {
	shapes, err := c.shapesOf(op, 2, dtype.F32, dtype.F64)
	if err != nil {
		return err
	}
	if len(shapes[0]) != 2 || len(shapes[1]) != 1 || tail(shapes[0], 1) != tail(shapes[0], 2) || tail(shapes[0], 1) != shapes[1][0] {
		return diag.Invalid(diag.BadOp, diag.Position{}, "a factor %v cannot be updated with a vector %v", shapes[0], shapes[1])
	}
	i.kernel = many(func(in []tensor.Tensor) []tensor.Tensor { return results(tensor.CholeskyUpdate(in[0], in[1])) })
	return nil
}
