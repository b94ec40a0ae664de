package interp

import (
	"slices"

	"autoshard/backend/tensor"
	"autoshard/internal/diag"
	"autoshard/ir"
)

// buildTopKCall reads k from the attributes that JAX gives mhlo.topk.
func buildTopKCall(c *compiler, op ir.OpID, i *instr) error {
	attrs, _ := c.m.Attr(op, "mhlo.attributes").(ir.DictAttr)
	k, largest := ir.Attrs(attrs).Int("k", -1), ir.Attrs(attrs).Get("largest")
	if k < 0 || largest == ir.BoolAttr(false) {
		return diag.Unsupported(diag.NotSupported, diag.Position{},
			"custom_call target %q is supported with k and for the largest elements only", "mhlo.topk")
	}
	return topK(c, op, i, k)
}

// buildDynamicTopK reads k from the second operand.
func buildDynamicTopK(c *compiler, op ir.OpID, i *instr) error {
	if len(i.in) != 2 || c.attrs(op).rank(0) == 0 || c.attrs(op).rank(1) != 0 {
		return diag.Invalid(diag.BadOp, diag.Position{}, "a tensor and the number of elements to choose are needed")
	}
	i.kernel = func(_ *frame, _ *instr, in []tensor.Tensor) ([]tensor.Tensor, error) {
		k, n := in[1].Ints()[0], in[0].Shape[in[0].Rank()-1]
		if k < 0 || k > n {
			return nil, badShape("%d elements cannot be chosen from %d", k, n)
		}
		return results(tensor.TopK(in[0], k)), nil
	}
	return nil
}

// buildApproxTopK finds the best elements along a dimension exactly, as XLA does on CPUs: the operands, values and their
// indices, are sorted by the comparator that the call names, and as many are kept as the results hold. The initial
// values, which only fill incomplete groups, are not needed.
func buildApproxTopK(c *compiler, op ir.OpID, i *instr) error {
	n := c.m.NumResults(op)
	called, _ := c.m.Attr(op, "called_computations").(ir.ArrayAttr)
	if n == 0 || len(i.in) != 2*n || len(called) != 1 {
		return diag.Invalid(diag.BadOp, diag.Position{}, "%d operands and as many initial values are needed, and one comparator", n)
	}
	fn, err := c.named(called[0], "the comparator is no function")
	if err != nil {
		return err
	}
	r := c.attrs(op)
	dims, shape := r.static(c.m.Result(op, 0)), r.static(c.m.Operand(op, 0))
	d := c.m.CallOptions(op).Int("reduction_dim", -1)
	if r.err != nil {
		return r.err
	}
	if d < 0 || d >= int64(len(shape)) || !fits(dims, shape, d) {
		return diag.Invalid(diag.BadAttribute, diag.Position{},
			"the best elements of shape %v along dimension %d do not have shape %v", shape, d, dims)
	}
	compare, err := c.comparator(fn, n)
	if err != nil {
		return err
	}
	i.kernel = func(f *frame, _ *instr, in []tensor.Tensor) ([]tensor.Tensor, error) {
		out, err := tensor.Sort(slices.Clone(in[:n]), d, tensor.Comparator{Body: compare(f)})
		for k := range out {
			out[k] = tensor.Slice(out[k], make([]int64, len(dims)), dims, slices.Repeat([]int64{1}, len(dims)))
		}
		return out, err
	}
	return nil
}

// fits says whether dims are those of shape, with no more along dimension d.
func fits(dims, shape []int64, d int64) bool {
	return len(dims) == len(shape) && dims[d] <= shape[d] && slices.Equal(dims[:d], shape[:d]) && slices.Equal(dims[d+1:], shape[d+1:])
}

// comparator returns a function that compares two elements of n tensors as a body of sort.
func (c *compiler) comparator(fn ir.FuncID, n int) (func(f *frame) tensor.Body, error) {
	callee, err := c.in.function(unit{fn, c.fuses})
	if err != nil {
		return nil, err
	}
	if len(callee.params) != 2*n || len(c.m.Func(fn).ResultTypes) != 1 {
		return nil, diag.Invalid(diag.BadOp, diag.Position{}, "the comparator of %d tensors takes %d arguments and returns %d values",
			n, len(callee.params), len(c.m.Func(fn).ResultTypes))
	}
	return func(f *frame) tensor.Body {
		return func(args []tensor.Tensor) ([]tensor.Tensor, error) {
			p := f.p
			for _, x := range args {
				p.taken = append(p.taken, value{x, foreign})
			}
			looks := p.observe
			p.observe = nil // what compares elements is a part of the op, like a region
			p.regions++
			err := p.call(callee)
			p.regions--
			p.observe = looks
			if err != nil {
				return nil, err
			}
			last := len(p.taken) - 1
			result := p.taken[last].t
			p.taken = p.taken[:last]
			return []tensor.Tensor{result}, nil
		}
	}, nil
}
