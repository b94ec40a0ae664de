package ir

import "autoshard/ir/dtype"

func checkRng(v *verifier, op OpID) error {
	for i := range 2 {
		if len(v.in(op, i).Dims) != 0 {
			return badType("operand #%d must be a 0D tensor, but got '%s'", i, v.inText(op, i))
		}
	}
	if err := v.sizesOperand(op, 2); err != nil {
		return err
	}
	if n := v.in(op, 2).Dims[0]; n != int64(v.out(op, 0).Rank()) {
		return badType("shape has %d entries, but the result has rank %d", n, v.out(op, 0).Rank())
	}
	return nil
}

// checkRngBitGenerator checks the state; the op says the type of the random numbers.
func checkRngBitGenerator(v *verifier, op OpID) error {
	state := v.in(op, 0)
	if state.Rank() != 1 {
		return badType("output state shape must be rank 1, but got '%s'", v.inText(op, 0))
	}
	if n := state.Dims[0]; state.DType != dtype.UI64 && state.DType != dtype.UI32 {
		return badType("operand #0 must be a tensor of ui32 or ui64 values, but got '%s'", v.inText(op, 0))
	} else if algorithm := v.m.OpAttrs(op).Str("rng_algorithm"); state.DType == dtype.UI64 && n != Dynamic {
		if algorithm == "THREE_FRY" && n != 2 {
			return badType("output state shape must be of size 2 for THREE_FRY algorithm, but got '%s'", v.inText(op, 0))
		}
		if algorithm == "PHILOX" && n != 2 && n != 3 {
			return badType("output state shape must be of size 2 or 3 for PHILOX algorithm, but got '%s'", v.inText(op, 0))
		}
	}
	return v.agrees(op, 0, &inferred{elem: state, dims: state.Dims})
}
