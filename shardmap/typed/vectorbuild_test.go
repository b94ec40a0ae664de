package typed_test

import (
	"encoding/json"
	"slices"

	"autoshard/ir"
	"autoshard/shardmap/typed"
	"autoshard/subaxis"
)

// build makes the program of a vector, from its body or from the elaborated body.
func (v *vector) build(body []equation, results []string) (*typed.Program, map[string]string, error) {
	var mesh subaxis.Mesh
	for _, a := range v.Mesh {
		mesh.Axes = append(mesh.Axes, subaxis.Axis{Name: a[0].(string), Size: int64(a[1].(float64))})
	}
	r := &reader{b: typed.NewBuilder(v.ID, mesh, typed.Setup{Unchecked: !v.Check}), env: map[string]ir.ValueID{}, alias: map[string]string{}}
	for _, in := range v.Inputs {
		r.env[in.Name] = r.b.Param(in.Name, dtypeOf(in.Dtype), in.Shape, typed.Spec{Dims: in.Spec})
	}
	r.equations(body)
	for i, out := range v.Outputs {
		name := out.Var
		if results != nil {
			name = results[i]
		}
		r.b.Result(r.env[name], typed.Spec{Dims: out.Spec, Unreduced: out.Unreduced, Reduced: out.Reduced})
	}
	p, err := r.b.Finish()
	return p, r.alias, err
}

// reader builds the equations of vectors.
type reader struct {
	b     *typed.Builder
	env   map[string]ir.ValueID
	alias map[string]string // other names of values: parameters of bodies that stand for outer values
}

func (r *reader) equations(list []equation) {
	for _, e := range list {
		values := r.equation(e)
		for i, name := range e.Out {
			if r.b.Err() == nil {
				r.bind(name, values[i])
			}
		}
	}
}

func (r *reader) bind(name string, v ir.ValueID) {
	r.env[name] = v
	r.b.Name(v, name)
}

func (r *reader) values(names []string) []ir.ValueID {
	out := make([]ir.ValueID, len(names))
	for i, n := range names {
		out[i] = r.env[n]
	}
	return out
}

var unaryOps = map[string]ir.Kind{"sin": ir.OpSine, "cos": ir.OpCosine, "neg": ir.OpNegate, "exp": ir.OpExponential, "tanh": ir.OpTanh}

var binaryOps = map[string]ir.Kind{"add": ir.OpAdd, "sub": ir.OpSubtract, "mul": ir.OpMultiply, "div": ir.OpDivide,
	"max": ir.OpMaximum, "min": ir.OpMinimum, "rem": ir.OpRemainder}

func (r *reader) equation(e equation) []ir.ValueID {
	b, a, in := r.b, e.Attrs, r.values(e.In)
	one := func(v ir.ValueID) []ir.ValueID { return []ir.ValueID{v} }
	if kind, ok := unaryOps[e.Op]; ok {
		return one(b.Unary(kind, in[0]))
	}
	if kind, ok := binaryOps[e.Op]; ok {
		return one(b.Binary(kind, in[0], in[1]))
	}
	switch e.Op {
	case "scan":
		return r.scan(e)
	case "while":
		return b.While(in, func(args []ir.ValueID) ir.ValueID { return r.region(a.Cond, args)[0] },
			func(args []ir.ValueID) []ir.ValueID { return r.region(a.Body, args) })
	case "cond":
		return b.Cond(in[0], r.branches(a.Branches, e.In[1:])...)
	case "const":
		return one(b.Constant(dtypeOf(a.Dtype), a.Shape, numbers(a.Value)...))
	case "select":
		return one(b.Select(in[0], in[1], in[2]))
	case "compare":
		return one(b.Compare(a.Dir, in[0], in[1]))
	case "reshape":
		return one(b.Reshape(in[0], a.Shape...))
	case "transpose":
		return one(b.Transpose(in[0], pairsOrList[[]int64](a.Perm)...))
	case "broadcast":
		return one(b.Broadcast(in[0], a.Shape, a.Dims...))
	case "slice":
		return one(b.Slice(in[0], a.Start, a.Limit, a.Strides))
	case "pad":
		return one(b.Pad(in[0], in[1], a.Lo, a.Hi, a.Interior))
	case "concatenate":
		return one(b.Concatenate(a.Dim, in...))
	case "dynamic_slice":
		return one(b.DynamicSlice(in[0], a.Sizes, in[1:]...))
	case "dynamic_update_slice":
		return one(b.DynamicUpdateSlice(in[0], in[1], in[2:]...))
	case "reduce_sum":
		return one(b.Reduce(ir.OpAdd, in[0], a.Dims...))
	case "dot":
		return one(b.Dot(in[0], in[1], ir.DotDims{LhsBatch: a.LhsBatch, RhsBatch: a.RhsBatch, LhsContract: a.LhsContract,
			RhsContract: a.RhsContract}))
	}
	return one(r.collective(e, in))
}

func (r *reader) collective(e equation, in []ir.ValueID) ir.ValueID {
	b, a := r.b, e.Attrs
	tiled := a.Tiled == nil || *a.Tiled
	switch e.Op {
	case "psum":
		if a.Groups != nil {
			return b.PsumGroups(in[0], a.Groups, a.Axes...)
		}
		return b.Psum(in[0], a.Axes...)
	case "pmean":
		return b.Pmean(in[0], a.Axes...)
	case "pmax":
		return b.Pmax(in[0], a.Groups, a.Axes...)
	case "pmin":
		return b.Pmin(in[0], a.Groups, a.Axes...)
	case "all_gather":
		to := map[string]typed.Gathered{"": typed.ToVarying, "varying": typed.ToVarying, "invarying": typed.ToInvariant,
			"reduced": typed.ToReduced}[a.To]
		return b.AllGather(in[0], a.Dim, tiled, to, a.Groups, a.Axes...)
	case "psum_scatter":
		return b.PsumScatter(in[0], a.Dim, tiled, a.Groups, a.Axes...)
	case "pscatter":
		return b.Pscatter(in[0], a.Dim, tiled, a.Axes...)
	case "all_to_all":
		return b.AllToAll(in[0], a.Split, a.Concat, tiled, a.Groups, a.Axes...)
	case "ppermute":
		return b.Ppermute(in[0], pairsOrList[[][2]int64](a.Perm), a.Axes...)
	case "pshuffle":
		return b.Pshuffle(in[0], pairsOrList[[]int64](a.Perm), a.Axes...)
	case "ragged_all_to_all":
		return b.RaggedAllToAll(in[0], in[1], in[2], in[3], in[4], in[5], a.Axes...)
	case "axis_index":
		return b.AxisIndex(a.Axes...)
	case "cast":
		return b.Cast(in[0], a.Axes...)
	case "cast_reduced":
		return b.CastReduced(in[0], a.Axes...)
	case "cast_unreduced":
		return b.CastUnreduced(in[0], ir.ReduceSum, a.Axes...)
	}
	panic("op " + e.Op)
}

func pairsOrList[T any](raw json.RawMessage) (out T) {
	if err := json.Unmarshal(raw, &out); err != nil {
		panic(err)
	}
	return out
}

// numbers returns a number, truth value or nested list as a flat list.
func numbers(raw json.RawMessage) []float64 {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		panic(err)
	}
	var flat func(v any) []float64
	flat = func(v any) []float64 {
		switch v := v.(type) {
		case []any:
			var out []float64
			for _, e := range v {
				out = append(out, flat(e)...)
			}
			return out
		case bool:
			if v {
				return []float64{1}
			}
			return []float64{0}
		}
		return []float64{v.(float64)}
	}
	return flat(v)
}

// region builds the equations of a body over its arguments.
func (r *reader) region(g *region, args []ir.ValueID) []ir.ValueID {
	for i, name := range g.Params {
		r.bind(name, args[i])
	}
	r.equations(g.Eqns)
	return r.values(g.Results)
}

// branches builds branches, whose parameters stand for the operands of the op.
func (r *reader) branches(list []region, operands []string) []func() []ir.ValueID {
	var out []func() []ir.ValueID
	for _, g := range list {
		out = append(out, func() []ir.ValueID {
			for i, name := range g.Params {
				r.env[name], r.alias[name] = r.env[operands[i]], operands[i]
			}
			r.equations(g.Eqns)
			return r.values(g.Results)
		})
	}
	return out
}

func (r *reader) scan(e equation) []ir.ValueID {
	a, g := e.Attrs, e.Attrs.Body
	for i := range a.Consts {
		r.env[g.Params[i]], r.alias[g.Params[i]] = r.env[e.In[i]], e.In[i]
	}
	carry, xs := r.values(e.In[a.Consts:a.Consts+a.Carry]), r.values(e.In[a.Consts+a.Carry:])
	last, stacked := r.b.Scan(carry, xs, a.Length, a.Reverse, func(carry, row []ir.ValueID) (next, out []ir.ValueID) {
		for i, v := range slices.Concat(carry, row) {
			r.bind(g.Params[a.Consts+i], v)
		}
		r.equations(g.Eqns)
		all := r.values(g.Results)
		return all[:a.Carry], all[a.Carry:]
	})
	return append(last, stacked...)
}
