package interp

import (
	"strings"

	"autoshard/backend/tensor"
	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

// customCalls are the targets that can be run (stablehlo.md section 2.12).
var customCalls = map[string]builder{
	"check.eq":                   buildEqResult,
	"check.expect_eq":            func(_ *compiler, _ ir.OpID, i *instr) error { return buildCheck(i, equal) },
	"check.expect_almost_eq":     func(_ *compiler, _ ir.OpID, i *instr) error { return buildCheck(i, almostEqual(1e-3)) },
	"check.expect_close":         func(_ *compiler, _ ir.OpID, i *instr) error { return buildCheck(i, ulpsBetween(0, 3)) },
	"shape_assertion":            buildShapeAssertion,
	"Sharding":                   identity,
	"LayoutConstraint":           identity,
	"InspectSharding":            identity,
	"MoveToDevice":               identity,
	"MoveToHost":                 identity,
	"annotate_device_placement":  identity,
	"xla.sdy.FuncResultSharding": identity,
	"SPMDFullToShardShape":       buildShardShape,
	"SPMDShardToFullShape":       buildShardShape,
	"mhlo.acos":                  pure1(tensor.Acos),
	"mhlo.acosh":                 pure1(tensor.Acosh),
	"mhlo.asin":                  pure1(tensor.Asin),
	"mhlo.asinh":                 pure1(tensor.Asinh),
	"mhlo.atanh":                 pure1(tensor.Atanh),
	"mhlo.cosh":                  pure1(tensor.Cosh),
	"mhlo.erf":                   pure1(tensor.Erf),
	"mhlo.sinh":                  pure1(tensor.Sinh),
	"mhlo.tan":                   pure1(tensor.Tan),
	"mhlo.topk":                  buildTopKCall,
	"stablehlo.dynamic_top_k":    buildDynamicTopK,
	"ApproxTopK":                 buildApproxTopK,
	"cu_threefry2x32_ffi":        buildThreeFry,
	"hip_threefry2x32_ffi":       buildThreeFry,
	"cusolver_syrk_ffi":          buildSyrk,
	"cu_cholesky_update_ffi":     buildCholeskyUpdate,
}

func buildCustomCall(c *compiler, op ir.OpID, i *instr) error {
	target := c.attrs(op).str("call_target_name")
	if build, ok := customCalls[target]; ok {
		return build(c, op, i)
	}
	if routine := ir.LinalgRoutine(target); routine != "" {
		return buildLinalg(c, op, i, routine)
	}
	if ir.IsPythonCallback(target) {
		return buildCallback(c, op, i)
	}
	return diag.Unsupported(diag.NotSupported, diag.Position{},
		"custom_call target %q is not supported: write what it does with StableHLO ops", target)
}

// buildShardShape passes a value on where one device sees all of it.
func buildShardShape(c *compiler, op ir.OpID, i *instr) error {
	if c.m.Type(c.m.Operand(op, 0)) != c.m.Type(c.m.Result(op, 0)) {
		return diag.Unsupported(diag.NotSupported, diag.Position{},
			"a change between whole tensors and blocks cannot be run: use sdy.manual_computation")
	}
	return identity(c, op, i)
}

// buildEqResult compares as check.expect_almost_eq does, and returns the answer.
func buildEqResult(_ *compiler, _ ir.OpID, i *instr) error {
	if len(i.in) != 2 {
		return diag.Invalid(diag.BadOp, diag.Position{}, "a check compares two values")
	}
	agree := almostEqual(1e-4)
	i.kernel = one(func(in []tensor.Tensor) tensor.Tensor {
		holds := byte(1)
		if expect(in[0], in[1], agree) != nil {
			holds = 0
		}
		return tensor.Tensor{DType: dtype.I1, Shape: []int64{}, Data: []byte{holds}}
	})
	return nil
}

// buildShapeAssertion fails where its first operand is false; the others fill the placeholders of the message.
func buildShapeAssertion(c *compiler, op ir.OpID, i *instr) error {
	message := c.attrs(op).str("error_message")
	if len(i.in) == 0 {
		return diag.Invalid(diag.BadOp, diag.Position{}, "an assertion needs a condition")
	}
	i.kernel = func(_ *frame, _ *instr, in []tensor.Tensor) ([]tensor.Tensor, error) {
		if in[0].Ints()[0] != 0 {
			return nil, nil
		}
		text := message
		for k, x := range in[1:] {
			text = strings.ReplaceAll(text, "{"+string(rune('0'+k))+"}", elementText(x, 0))
		}
		return nil, diag.Invalid(diag.BadInputs, diag.Position{}, "shape assertion failed: %s", text)
	}
	return nil
}

// buildCallback skips a Python function that is called for what it does, such as to print. One that computes something
// is needed, and is not here.
func buildCallback(c *compiler, op ir.OpID, i *instr) error {
	for _, v := range c.m.Results(op) {
		if c.m.ValueType(v).Kind != ir.TokenKind {
			return diag.Unsupported(diag.NotSupported, diag.Position{},
				"a Python callback cannot be run here: its function is in the process that lowered the program; "+
					"compute what it returns before, and make that an input")
		}
	}
	return buildNothing(c, op, i)
}
