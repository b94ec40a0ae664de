package transpose

import (
	"slices"

	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/shardmap/typed"
)

// JVP returns the program of the derivative of p in a direction: it takes the inputs of p and then a tangent for each
// of the inputs of the numbers in wrt, of the same type and spec, and returns the tangent of each output that depends
// on them. It is linear in the tangents. An output of integers or truth values has no tangent.
//
// The error is of class diag.ErrInvalid for an input in wrt that is not of floats, and for an op without derivative on
// the way, as pmax is; it is of class diag.ErrUnsupported for ops whose derivative is not known here.
func JVP(p *typed.Program, wrt []int) (*typed.Program, error) {
	p, err := prepared(p)
	if err != nil {
		return nil, err
	}
	w, err := newRewrite(p, wrt, true)
	if err != nil {
		return nil, err
	}
	j := &tangents{rewrite: w, of: map[ir.ValueID]ir.ValueID{}}
	args := j.m.BlockArgs(p.Body())
	for k, param := range p.Params {
		t := j.m.TypeOf(param.Type)
		j.env[args[k]] = j.b.Param(param.Name, t.DType, t.Dims, param.Spec)
	}
	for _, k := range wrt {
		t := j.m.TypeOf(p.Params[k].Type)
		if !isFloat(j.m, args[k]) {
			return nil, diag.Invalid(diag.BadOption, diag.Position{}, "input %s has no derivative, only floats have", p.FormatValue(args[k]))
		}
		j.set(args[k], j.b.Param(j.fresh("d_"+p.Params[k].Name), t.DType, t.Dims, p.Params[k].Spec))
	}
	j.residuals(p.Body())
	j.walk(p.Body())
	for i, v := range j.m.Operands(p.Return()) {
		if j.on[v] {
			j.b.Result(j.tangent(v), p.Results[i].Spec)
		}
	}
	return j.finish(func(v typed.Variance) typed.Variance { return v })
}

// VJP returns the program of the transposed derivative: it takes the cotangent of each output that depends on the
// inputs in wrt, in order, and then all inputs of p, and returns the cotangent of each input in wrt. What the
// derivative needs of p is computed again. Errors are those of JVP and Linear.
func VJP(p *typed.Program, wrt []int) (*typed.Program, error) {
	return reverse(p, wrt, request{zeros: true})
}

// Gradient returns the program of the gradient of p, whose only output is a scalar of floats: it takes the inputs of p
// and returns the derivatives by the inputs in wrt. Errors are those of VJP, and one of class diag.ErrInvalid for a
// program with other outputs.
func Gradient(p *typed.Program, wrt []int) (*typed.Program, error) {
	out := p.Module.Operands(p.Return())
	if len(out) != 1 || len(p.Module.Shape(out[0])) != 0 || !isFloat(p.Module, out[0]) {
		return nil, diag.Invalid(diag.BadOption, diag.Position{}, "a gradient is that of one scalar of floats; use VJP for other outputs")
	}
	return reverse(p, wrt, request{zeros: true, seed: true})
}

func reverse(p *typed.Program, wrt []int, r request) (*typed.Program, error) {
	forward, err := JVP(p, wrt)
	if err != nil {
		return nil, err
	}
	return run(forward, lists.Of(len(wrt), func(k int) int { return len(p.Params) + k }), r)
}

// tangents writes the derivative of a program in a direction.
type tangents struct {
	*rewrite
	of map[ir.ValueID]ir.ValueID // zero without an entry
}

// set records the tangent of a value.
func (j *tangents) set(v, tangent ir.ValueID) {
	if tangent == 0 || !j.on[v] {
		return
	}
	j.of[v] = tangent
	j.pairs = append(j.pairs, pair{v, tangent})
}

// tangent returns the tangent of a value, zeros of its type if there is none.
func (j *tangents) tangent(v ir.ValueID) ir.ValueID {
	if d, ok := j.of[v]; ok {
		return d
	}
	return zeros(j.b, j.m.Type(v), j.p.VarianceOf(v))
}

// walk writes the tangents of the ops of a block in order.
func (j *tangents) walk(b ir.BlockID) {
	for op := range j.m.Ops(b) {
		if j.err != nil || j.b.Err() != nil || j.m.Kind(op).IsTerminator() || !j.active(op) {
			continue
		}
		j.op(op)
	}
}

func (j *tangents) op(op ir.OpID) {
	m := j.m
	switch kind := m.Kind(op); {
	case kind == ir.OpShardMapScan:
		j.scan(op)
	case kind == ir.OpIf || kind == ir.OpCase:
		j.branches(op)
	case kind.IsShardMap():
		j.collective(op)
	case kind == ir.OpSort:
		j.sort(op)
	case kind == ir.OpOptimizationBarrier:
		for i, v := range m.Operands(op) {
			j.set(m.Result(op, i), j.of[v])
		}
	case !slices.ContainsFunc(m.Operands(op), func(v ir.ValueID) bool { return j.of[v] != 0 }): // its tangents are zero
	default:
		rule, ok := derivatives[kind]
		if !ok || m.NumResults(op) != 1 {
			j.unknown(op)
			return
		}
		j.set(m.Result(op, 0), rule(j, op))
	}
}

// unknown refuses an op without a rule.
func (j *tangents) unknown(op ir.OpID) {
	if j.m.Kind(op) == ir.OpWhile {
		if !j.leads(op) {
			return
		}
		j.fail(diag.Unsupported(diag.NotSupported, j.m.OpPos(op),
			"%s has no derivative, since only the run knows its number of rounds; count from a constant to a constant, or write a scan",
			j.p.Describe(op)))
		return
	}
	j.fail(diag.Unsupported(diag.NotSupported, j.m.OpPos(op),
		"%s has no derivative here; leave its operands out of what is differentiated, or write it with other ops",
		j.p.Describe(op)))
}

func (j *tangents) collective(op ir.OpID) {
	c, err := j.p.Collective(op)
	if err != nil {
		j.fail(err)
		return
	}
	_, ok := mirror[c.Kind]
	if (!ok && c.Kind != ir.OpShardMapPbroadcast) || c.Reduction != ir.ReduceSum || j.m.NumOperands(op) != 1 {
		j.unknown(op)
		return
	}
	if x, ok := j.of[j.m.Operand(op, 0)]; ok {
		j.set(j.m.Result(op, 0), j.b.Emit(c, x))
	}
}

// scan writes a scan of the tangents, which takes what it needs of the values as rows.
func (j *tangents) scan(op ir.OpID) {
	body, info := j.m.RegionBlock(op, 0), j.p.ScanOf(op)
	args, ret := j.m.BlockArgs(body), j.m.LastOp(body)
	var ins, outs []int
	var carry, xs []ir.ValueID
	for i, v := range j.m.Operands(op) {
		if !j.on[args[i]] {
			continue
		}
		ins = append(ins, i)
		if i < info.Carries {
			carry = append(carry, j.tangent(v))
		} else {
			xs = append(xs, j.tangent(v))
		}
	}
	for i := info.Carries; i < j.m.NumResults(op); i++ {
		if j.on[j.m.Result(op, i)] {
			outs = append(outs, i)
		}
	}
	arrays, bind := j.again(op)
	last, stacked := j.b.Scan(carry, append(xs, arrays...), info.Length, info.Reverse, func(carry, row []ir.ValueID) (next, out []ir.ValueID) {
		defer j.inside()()
		bind(row[len(xs):])
		for n, v := range slices.Concat(carry, row[:len(xs)]) {
			j.set(args[ins[n]], v)
		}
		j.walk(body)
		next = lists.Map(ins[:len(carry)], func(k int) ir.ValueID { return j.tangent(j.m.Operand(ret, k)) })
		for _, i := range outs {
			out = append(out, j.tangent(j.m.Operand(ret, i)))
		}
		return next, out
	})
	for n, d := range last {
		j.set(j.m.Result(op, ins[n]), d)
	}
	for n, d := range stacked {
		j.set(j.m.Result(op, outs[n]), d)
	}
}

// branches writes a branch op of the tangents, which computes what it needs of the values in a branch again.
func (j *tangents) branches(op ir.OpID) {
	results := lists.Filter(j.m.ResultValues(op), func(v ir.ValueID) bool { return j.on[v] })
	out := j.conditional(op, func(body ir.BlockID) (out []ir.ValueID) {
		j.walk(body)
		for _, v := range results {
			out = append(out, j.tangent(j.m.Operand(j.m.LastOp(body), j.m.Index(v))))
		}
		return out
	})
	for i, v := range results {
		if j.b.Err() == nil {
			j.set(v, out[i])
		}
	}
}
