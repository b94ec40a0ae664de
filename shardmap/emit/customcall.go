package emit

import (
	"autoshard/ir"
)

// customCalls are targets of custom calls that change nothing or have a function in JAX.
var customCalls = map[string]string{
	"Sharding": "", "LayoutConstraint": "", "InspectSharding": "", "MoveToDevice": "", "MoveToHost": "", "annotate_device_placement": "",
	"xla.sdy.FuncResultSharding": "", "SPMDFullToShardShape": "", "SPMDShardToFullShape": "",
	"mhlo.acos": "lax.acos", "mhlo.acosh": "lax.acosh", "mhlo.asin": "lax.asin", "mhlo.asinh": "lax.asinh", "mhlo.atanh": "lax.atanh",
	"mhlo.cosh": "lax.cosh", "mhlo.erf": "lax.erf", "mhlo.sinh": "lax.sinh", "mhlo.tan": "lax.tan",
}

func (e *emitter) customCall(op ir.OpID) error {
	target := e.m.OpAttrs(op).Str("call_target_name")
	switch target {
	case "check.expect_eq", "check.expect_almost_eq", "check.expect_close", "shape_assertion":
		return nil
	case "mhlo.topk":
		attrs, _ := e.m.Attr(op, "mhlo.attributes").(ir.DictAttr)
		if ir.Attrs(attrs).Get("largest") != ir.BoolAttr(false) {
			return e.topK(op, ir.Attrs(attrs).Int("k", -1))
		}
	}
	fn, ok := customCalls[target]
	switch {
	case ir.IsPythonCallback(target):
		return e.callback(op)
	case target == "ApproxTopK":
		return e.approxTopK(op)
	case !ok && e.linalg(op, target):
		return nil
	case !ok:
		return e.unsupported(op, "the target %q has no function in JAX: write what it does with StableHLO ops", target)
	case fn != "":
		e.define(op, call(fn, e.ref(e.m.Operand(op, 0))))
		return nil
	case e.m.NumOperands(op) != e.m.NumResults(op) || e.m.Type(e.m.Operand(op, 0)) != e.m.Type(e.m.Result(op, 0)):
		return e.unsupported(op, "the target %q between whole tensors and blocks has no function in JAX: use sdy.manual_computation", target)
	}
	return e.pass(op)
}

// callback leaves out a Python function that is called for what it does; one that computes something is not here.
func (e *emitter) callback(op ir.OpID) error {
	for _, v := range e.m.Results(op) {
		if e.m.ValueType(v).Kind != ir.TokenKind {
			return e.unsupported(op,
				"a Python callback is in the process that lowered the program: compute what it returns before, and make that an input")
		}
	}
	for _, v := range e.m.Results(op) {
		e.assign(op, tuple(), v)
	}
	return nil
}

// approxTopK writes the search for the largest or smallest elements, with their indices, along a dimension.
func (e *emitter) approxTopK(op ir.OpID) error {
	m, o := e.m, e.m.CallOptions(op)
	function := map[string]string{"GT": "lax.approx_max_k", "LT": "lax.approx_min_k"}[e.direction(op)]
	indices := ir.OpID(0)
	if m.NumOperands(op) == 4 {
		indices = m.DefiningOp(m.Operand(op, 1))
	}
	recall, ok := o.Get("recall_target").(ir.FloatAttr)
	searched := o.Int("reduction_dim", -1)
	if function == "" || indices == 0 || m.Kind(indices) != ir.OpIota || m.OpAttrs(indices).Int("iota_dimension", -1) != searched || !ok {
		return e.unsupported(op, "JAX has approximate searches for the largest and the smallest elements and their indices only")
	}
	target, _ := floatLiteral(m.TypeOf(recall.Type).DType, recall.Bits)
	e.assign(op, call(function, e.ref(m.Operand(op, 0)), number(o.Int("top_k", 0)),
		keyword("reduction_dimension", number(searched)), keyword("recall_target", atom(target)),
		keyword("reduction_input_size_override", number(o.Int("reduction_input_size_override", -1))),
		keyword("aggregate_to_topk", truth(o.Bool("aggregate_to_topk")))), m.ResultValues(op)...)
	return nil
}

// direction returns GT or LT where the one function that an op calls compares its first two arguments so.
func (e *emitter) direction(op ir.OpID) string {
	m := e.m
	called, _ := m.Attr(op, "called_computations").(ir.ArrayAttr)
	if len(called) != 1 {
		return ""
	}
	symbol, _ := called[0].(ir.SymbolAttr)
	if len(symbol) != 1 {
		return ""
	}
	fn, ok := m.LookupFunc(symbol[0])
	if !ok || m.IsDeclaration(fn) {
		return ""
	}
	body := m.Func(fn).Body
	first, args := m.FirstOp(body), m.BlockArgs(body)
	if m.Kind(first) != ir.OpCompare || m.NextOp(first) != m.LastOp(body) || len(args) < 2 ||
		m.Operand(first, 0) != args[0] || m.Operand(first, 1) != args[1] {
		return ""
	}
	return m.OpAttrs(first).Str("comparison_direction")
}

// otherCalls write targets that are more than a routine of linear algebra.
var otherCalls = map[string]func(e *emitter, op ir.OpID, o ir.Attrs) *expr{
	"LuDecomposition": ofArrays("lax.linalg.lu"), "cu_cholesky_update_ffi": ofArrays("cholesky_update"),
	"cu_threefry2x32_ffi": ofArrays("threefry"), "hip_threefry2x32_ffi": ofArrays("threefry"),
	"Eigh": func(e *emitter, op ir.OpID, _ ir.Attrs) *expr {
		return call("lax.linalg.eigh", append(e.with(op, "lower", e.m.LowerTriangle(op)), keyword("symmetrize_input", truth(false)))...)
	},
	"cusolver_syrk_ffi": func(e *emitter, op ir.OpID, o ir.Attrs) *expr {
		return e.helper("syrk", e.with(op, "transpose", o.Bool("transpose"))...)
	},
}

// linalg writes a custom call of linear algebra, and says whether the target is one.
func (e *emitter) linalg(op ir.OpID, target string) bool {
	write := otherCalls[target]
	if write == nil {
		write = linalgCalls[ir.LinalgRoutine(target)]
	}
	if write == nil {
		return false
	}
	e.assign(op, write(e, op, e.m.CallOptions(op)), e.m.ResultValues(op)...)
	return true
}

// linalgCalls write the routines of linear algebra with JAX's functions, which run on every platform.
var linalgCalls = map[string]func(e *emitter, op ir.OpID, o ir.Attrs) *expr{
	"potrf": ofTriangle("potrf"), "syevd": ofTriangle("syevd"), "sytrd": ofTriangle("sytrd"),
	"getrf": ofArrays("getrf"), "geqrf": ofArrays("geqrf"), "geqp3": ofArrays("geqp3"),
	"gees": ofArrays("gees"), "gehrd": ofArrays("gehrd"),
	"orgqr": ofArrays("lax.linalg.householder_product"),
	"ormqr": func(e *emitter, op ir.OpID, o ir.Attrs) *expr {
		return call("lax.linalg.ormqr", append(e.with(op, "left", o.Bool("left")), keyword("transpose", truth(o.Bool("transpose"))))...)
	},
	"geev": func(e *emitter, op ir.OpID, o ir.Attrs) *expr {
		left := o.Bool("left") || o.Int("compute_left", 0) == 'V'
		right := o.Bool("right") || o.Int("compute_right", 0) == 'V'
		return e.helper("geev", append(e.with(op, "left", left), keyword("right", truth(right)))...)
	},
	"gesdd": func(e *emitter, op ir.OpID, o ir.Attrs) *expr {
		mode := o.Int("mode", 0)
		full := o.Bool("full_matrices") || mode == 'A'
		x := e.helper("gesdd", append(e.with(op, "full", full), keyword("vectors", truth(o.Bool("compute_uv") || mode == 'A' || mode == 'S')))...)
		switch target := e.m.OpAttrs(op).Str("call_target_name"); {
		case ir.GivesV(target):
			return e.helper("adjoint_last", x)
		case o.Bool("transposed"):
			return e.helper("vectors_swapped", x)
		}
		return x
	},
	"trsm": func(e *emitter, op ir.OpID, o ir.Attrs) *expr {
		args := append(e.with(op, "left_side", o.Int("side", 0) == 'L'), keyword("lower", truth(e.m.LowerTriangle(op))))
		transpose := o.Int("trans_x", 'N')
		return call("lax.linalg.triangular_solve", append(args, keyword("transpose_a", truth(transpose != 'N')),
			keyword("conjugate_a", truth(transpose == 'C')), keyword("unit_diagonal", truth(o.Int("diag", 0) == 'U')))...)
	},
	"gtsv": func(e *emitter, op ir.OpID, _ ir.Attrs) *expr {
		if e.m.NumResults(op) == 1 {
			return call("lax.linalg.tridiagonal_solve", e.refs(op)...)
		}
		return e.helper("gtsv", e.refs(op)...)
	},
	"lu_pivots_to_permutation": func(e *emitter, op ir.OpID, _ ir.Attrs) *expr {
		dims := e.m.Shape(e.m.Result(op, 0))
		return call("lax.linalg.lu_pivots_to_permutation", append(e.refs(op), number(dims[len(dims)-1]))...)
	},
}

// ofArrays writes a function of JAX or of the prelude of the operands, and ofTriangle one that asks besides which triangle of a
// matrix is stored.
func ofArrays(fn string) func(e *emitter, op ir.OpID, o ir.Attrs) *expr {
	return func(e *emitter, op ir.OpID, _ ir.Attrs) *expr { return e.helper(fn, e.refs(op)...) }
}

func ofTriangle(fn string) func(e *emitter, op ir.OpID, o ir.Attrs) *expr {
	return func(e *emitter, op ir.OpID, _ ir.Attrs) *expr {
		return e.helper(fn, e.with(op, "lower", e.m.LowerTriangle(op))...)
	}
}

// with returns an op's operands and a truth value by name.
func (e *emitter) with(op ir.OpID, name string, value bool) []*expr {
	return append(e.refs(op), keyword(name, truth(value)))
}
