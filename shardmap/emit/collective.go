package emit

import (
	"fmt"
	"slices"
	"strings"

	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/shardmap/typed"
)

// onMesh writes a collective or cast of a shard_map program.
func (e *emitter) onMesh(op ir.OpID) error {
	c, err := e.typed.Collective(op)
	if err != nil {
		return err
	}
	if c.IsCast() && !e.typed.Check {
		return e.pass(op)
	}
	x, err := e.collective(op, &c)
	if err == nil {
		e.define(op, x)
	}
	return err
}

// overAxes returns axes as an argument: one name, or a tuple of names.
func (e *emitter) overAxes(axes []int) *expr {
	names := e.file.axisNames(axes)
	if len(names) == 1 {
		return names[0]
	}
	return tuple(names...)
}

// axisNames returns the names of axes of the mesh.
func (f *file) axisNames(axes []int) []*expr {
	return lists.Map(axes, func(a int) *expr { return atom(quoted(f.mesh.Axes[a].Name)) })
}

// grouped adds the groups of a collective to its arguments.
func grouped(c *typed.Collective, args ...*expr) []*expr {
	if c.Groups == nil {
		return args
	}
	return append(args, groupsArgument(c.Groups))
}

func groupsArgument(groups [][]int64) *expr {
	rows := lists.Map(groups, func(members []int64) *expr { return list(lists.Map(members, number)...) })
	return keyword("axis_index_groups", list(rows...))
}

// collective returns the call for a collective or cast.
func (e *emitter) collective(op ir.OpID, c *typed.Collective) (*expr, error) {
	axes := e.overAxes(c.Axes)
	if c.Kind == ir.OpShardMapAxisIndex {
		return call("lax.axis_index", axes), nil
	}
	x, dim, tiled := e.ref(e.m.Operand(op, 0)), number(c.Dim), keyword("tiled", truth(true))
	switch c.Kind {
	case ir.OpShardMapPsum, ir.OpShardMapUnreducedPsum, ir.OpShardMapPmax, ir.OpShardMapUnreducedPmax, ir.OpShardMapPmin,
		ir.OpShardMapUnreducedPmin:
		return call("lax."+strings.TrimPrefix(c.Kind.ShardMapName(), "unreduced_"), grouped(c, x, axes)...), nil
	case ir.OpShardMapAllGather:
		return call("lax.all_gather", grouped(c, x, axes, keyword("axis", dim), tiled)...), nil
	case ir.OpShardMapAllGatherReduced:
		return call("lax.all_gather", x, axes, keyword("axis", dim), tiled, keyword("to", atom(quoted("reduced")))), nil
	case ir.OpShardMapAllGatherInvariant:
		if !e.typed.Check {
			return call("lax.all_gather", x, axes, keyword("axis", dim), tiled), nil
		}
		return e.helper("gather_equal", x, axes, dim), nil
	case ir.OpShardMapPsumScatter, ir.OpShardMapUnreducedPsumScatter:
		if c.Reduction != ir.ReduceSum {
			combine := atom(monoidNames[c.Reduction.Combiner()])
			return e.helper("reduce_scatter_over", grouped(c, x, combine, dim, axes)...), nil
		}
		return call("lax.psum_scatter", grouped(c, x, axes, keyword("scatter_dimension", dim), tiled)...), nil
	case ir.OpShardMapAllToAll:
		return call("lax.all_to_all", grouped(c, x, axes, number(c.Split), number(c.Concat), tiled)...), nil
	case ir.OpShardMapPpermute:
		return call("lax.ppermute", x, axes, permutation(c.Perm)), nil
	case ir.OpShardMapPbroadcast:
		return e.helper("broadcast_from", x, axes, number(c.Source)), nil
	case ir.OpShardMapRaggedAllToAll:
		return e.helper("ragged_all_to_all", append(e.refs(op), axes)...), nil
	case ir.OpShardMapPscatter:
		return e.helper("pscatter", x, axes, dim), nil
	case ir.OpShardMapPvary:
		return e.vary(x, c.Axes), nil
	case ir.OpShardMapReducedVaryCast:
		return call("lax.pcast", x, axes, keyword("to", atom(quoted("varying")))), nil
	case ir.OpShardMapPreduced:
		return call("lax.pcast", x, axes, keyword("to", atom(quoted("reduced")))), nil
	case ir.OpShardMapVaryUnreducedCast:
		if c.Reduction == ir.ReduceSum {
			return call("lax.pcast", x, axes, keyword("to", atom(quoted("unreduced")))), nil
		}
	}
	return nil, e.unsupported(op, "JAX has no function for it")
}

// permutation returns pairs of source and destination, each source once: a shift around a ring as a comprehension,
// which a list of many pairs hides.
func permutation(pairs [][2]int64) *expr {
	if n := int64(len(pairs)); n > 2 {
		shift := ((pairs[0][1]-pairs[0][0])%n + n) % n
		other := func(p [2]int64) bool { return p[0] >= n || (p[0]+shift)%n != p[1] }
		if shift > 0 && !slices.ContainsFunc(pairs, other) {
			to := fmt.Sprintf("src + %d", shift)
			if shift > n/2 {
				to = fmt.Sprintf("src - %d", n-shift)
			}
			return atom(fmt.Sprintf("[(src, (%s) %% %d) for src in range(%d)]", to, n, n))
		}
	}
	return list(lists.Map(pairs, func(p [2]int64) *expr { return ints(p[:]) })...)
}

// helper returns a call of a function of the prelude.
func (e *emitter) helper(name string, args ...*expr) *expr {
	e.file.use(name)
	return call(name, args...)
}

// vary returns x as varying along axes, x itself for none.
func (e *emitter) vary(x *expr, axes []int) *expr {
	if len(axes) == 0 {
		return x
	}
	return e.helper("vary", x, e.overAxes(axes))
}

// variedNumber is a number that all elements of a value are, and the axes along which it counts as varying.
type variedNumber struct {
	text string
	axes []int
	ok   bool
}

// varied returns the number that all elements of a value are, and the axes along which it counts as varying, for a
// constant that was cast.
func (e *emitter) varied(v ir.ValueID) (text string, axes []int, ok bool) {
	v = e.root(v)
	x, known := e.variedOf[v]
	if op := e.m.DefiningOp(v); !known && e.typed != nil && op != 0 {
		x = e.findVaried(op)
		e.variedOf[v] = x
	}
	return x.text, x.axes, x.ok
}

func (e *emitter) findVaried(op ir.OpID) (x variedNumber) {
	switch kind := e.m.Kind(op); {
	case kind == ir.OpBroadcastInDim || kind == ir.OpReshape:
		x.text, x.axes, x.ok = e.varied(e.m.Operand(op, 0))
	case e.m.Kind(op) == ir.OpShardMapPvary:
		c, err := e.typed.Collective(op)
		if x.text, x.ok = e.splat(e.m.Operand(op, 0)); !x.ok {
			x.text, x.axes, x.ok = e.varied(e.m.Operand(op, 0))
		}
		x.axes = slices.Sorted(slices.Values(slices.Concat(x.axes, c.Axes)))
		x.ok = x.ok && err == nil && len(slices.Compact(slices.Clone(x.axes))) == len(x.axes)
	}
	return x
}

// number returns the number that all elements of a value are, whether it was cast or not.
func (e *emitter) number(v ir.ValueID) (text string, ok bool) {
	if text, ok = e.splat(v); !ok {
		text, _, ok = e.varied(v)
	}
	return text, ok
}

// isNumber says whether a value is written where it is used, as a number.
func (e *emitter) isNumber(v ir.ValueID) bool {
	_, ok := e.number(v)
	return ok
}

// membersOf returns how many members an op numbers, for an op whose result is a device's number.
func (e *emitter) membersOf(op ir.OpID) (int64, bool) {
	if e.typed == nil || e.m.Kind(op) != ir.OpShardMapAxisIndex {
		return 0, false
	}
	c, err := e.typed.Collective(op)
	return e.typed.GroupSize(c.Axes), err == nil
}

// scanRows writes a loop over the rows of arrays.
func (e *emitter) scanRows(op ir.OpID) error {
	m, info := e.m, e.typed.ScanOf(op)
	b, n := m.RegionBlock(op, 0), info.Carries
	args, operands, results := m.BlockArgs(b), m.Operands(op), m.ResultValues(op)
	step := e.beginDef("step", param{"carry", args[:n]}, param{"row", args[n:]})
	outs, err := e.block(b)
	if err != nil {
		return err
	}
	e.line("return ", atom(e.orNone(outs[:n]).String()+", "+e.orNone(outs[n:]).String()), "")
	e.endDef()
	call := call("lax.scan", atom(step), e.orNone(operands[:n]), e.orNone(operands[n:]))
	if len(operands) == n {
		call.items[2] = keyword("length", number(info.Length))
	}
	if info.Reverse {
		call.items = append(call.items, keyword("reverse", truth(true)))
	}
	e.assignRows(call, results, n)
	return nil
}

// assignRows writes the assignment of a scan's results: the carries, then the stacked rows.
func (e *emitter) assignRows(x *expr, values []ir.ValueID, carries int) {
	last, types := e.declare("last", values[:carries])
	rows, more := e.declare("rows", values[carries:])
	left, right := target(last), target(rows)
	comment := e.typeComment(left+", "+right, append(types, more...))
	if e.indent+len(left)+len(right) <= lineLength-20 {
		e.line(left+", "+right+" = ", x, comment)
		return
	}
	whole := []string{e.scope.take("carries"), e.scope.take("stacks")}
	e.line(strings.Join(whole, ", ")+" = ", x, comment)
	for i, part := range [][]string{last, rows} {
		if len(part) > 0 {
			e.unpack(strings.Join(part, ", ") + " = " + whole[i])
		}
	}
}

// target returns one name as it is, several as a tuple, none as a name that is not used.
func target(names []string) string {
	switch len(names) {
	case 0:
		return "_"
	case 1:
		return names[0]
	}
	return tuple(lists.Map(names, atom)...).String()
}

// orNone returns one value as it is, several as a tuple, none as None.
func (e *emitter) orNone(values []ir.ValueID) *expr {
	if len(values) == 0 {
		return atom("None")
	}
	return e.bundle(values)
}
