package tensor

import (
	"fmt"
	"slices"

	"autoshard/internal/lists"
	"autoshard/ir/dtype"
)

// Body is the region of an op such as reduce or sort, run by the interpreter: it takes and returns one tensor
// per block argument and returned value.
type Body func(args []Tensor) ([]Tensor, error)

// Monoid is a body that a kernel knows: two scalars in, one out.
type Monoid uint8

// The known bodies.
const (
	MonoidNone Monoid = iota // run the Body
	MonoidAdd                // stablehlo.add of the two arguments
	MonoidMultiply
	MonoidMaximum
	MonoidMinimum
	MonoidAnd
	MonoidOr
	MonoidXor
	MonoidSecond // return the second argument: an overwriting scatter
)

// Combiner is the body of reduce, reduce_window, scatter, select_and_scatter or map. With a Monoid it is one of
// the known bodies, which acts on every operand by itself, and Body is not called. Otherwise Body is called
// with rank-0 tensors, or, where Elementwise says that the region consists of elementwise ops only, with tensors
// of any one shape [n], which does many positions in one call; scalar constants may then stay scalars because
// elementwise kernels broadcast rank-0 operands.
type Combiner struct {
	Monoid      Monoid
	Body        Body
	Elementwise bool
	Blocks      int64 // inputs are so many blocks along their first dimension, each folded as it would be by itself; 0 means 1
}

var monoidNames = [...]string{"none", "add", "multiply", "maximum", "minimum", "and", "or", "xor", "second"}

// String returns the op's name.
func (m Monoid) String() string { return monoidNames[m] }

// kernel returns the elementwise kernel of a known body.
func (m Monoid) kernel() func(x, y Tensor) Tensor {
	switch m {
	case MonoidAdd:
		return Add
	case MonoidMultiply:
		return Multiply
	case MonoidMaximum:
		return Maximum
	case MonoidMinimum:
		return Minimum
	case MonoidAnd:
		return And
	case MonoidOr:
		return Or
	case MonoidXor:
		return Xor
	case MonoidSecond:
		return func(_, y Tensor) Tensor { return y }
	}
	panic(fmt.Sprintf("tensor: %v is not a known body", m))
}

// monoidOps are the ops of the known bodies; MonoidSecond has none.
var monoidOps = [...]BinaryOp{
	MonoidAdd: OpAdd, MonoidMultiply: OpMultiply, MonoidMaximum: OpMaximum, MonoidMinimum: OpMinimum, MonoidAnd: OpAnd, MonoidOr: OpOr,
	MonoidXor: OpXor,
}

// combine puts what a known body makes of x and y into memory that is there, which may be that of an operand.
func (m Monoid) combine(out, x, y Tensor) {
	if m == MonoidSecond {
		copy(out.Data, y.Data)
		return
	}
	monoidOps[m].Into(out, x, y)
}

// call combines accumulators with elements, all of one shape.
func (c Combiner) call(acc, elems []Tensor) ([]Tensor, error) {
	if c.Monoid != MonoidNone {
		return lists.Of(len(acc), func(i int) Tensor { return c.Monoid.kernel()(acc[i], elems[i]) }), nil
	}
	args := make([]Tensor, 0, 2*len(acc))
	return c.Body(append(append(args, acc...), elems...))
}

// each combines accumulators with elements, all of one shape, calling a body that is not elementwise once per
// position.
func (c Combiner) each(acc, elems []Tensor) ([]Tensor, error) {
	if c.Monoid != MonoidNone || acc[0].Rank() == 0 {
		return c.call(acc, elems)
	}
	outs, err := Map(append(slices.Clone(acc), elems...), c, lists.Map(acc, func(t Tensor) dtype.Type { return t.DType }))
	return outs, err
}

// Map applies body to the inputs, which have one shape, position by position; the results have the element types
// out. A known body takes two inputs.
func Map(inputs []Tensor, body Combiner, out []dtype.Type) ([]Tensor, error) {
	shape := inputs[0].Shape
	if body.Monoid != MonoidNone {
		return []Tensor{body.Monoid.kernel()(inputs[0], inputs[1])}, nil
	}
	results := lists.Map(out, func(t dtype.Type) Tensor { return New(t, shape) })
	n := inputs[0].Len()
	if n == 0 {
		return results, nil
	}
	if !body.Elementwise {
		return results, mapScalars(inputs, results, body.Body)
	}
	values, err := body.Body(lists.Map(inputs, func(x Tensor) Tensor { return Reshape(x, []int64{int64(n)}) }))
	if err != nil {
		return nil, err
	}
	for i, v := range values {
		results[i] = Reshape(expand(v, []int64{int64(n)}), shape)
	}
	return results, nil
}

// mapScalars calls body once per position.
func mapScalars(inputs, results []Tensor, body Body) error {
	args := make([]Tensor, len(inputs))
	for i := range inputs[0].Len() {
		for k, x := range inputs {
			args[k] = x.at(i)
		}
		values, err := body(slices.Clone(args))
		if err != nil {
			return err
		}
		for k, v := range values {
			copy(results[k].at(i).Data, v.Data)
		}
	}
	return nil
}

// at returns element i as a scalar that shares Data.
func (t Tensor) at(i int) Tensor {
	width := t.DType.Bytes()
	return Tensor{t.DType, []int64{}, t.Data[i*width : (i+1)*width : (i+1)*width]}
}
