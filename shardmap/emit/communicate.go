package emit

import (
	"slices"

	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/shardmap"
)

func communication() map[ir.Kind]handler {
	ops := map[ir.Kind]handler{
		ir.OpPartitionId:          single(func(*emitter, ir.OpID) (*expr, error) { return atom("jnp.uint32(0)"), nil }),
		ir.OpReplicaId:            single(func(*emitter, ir.OpID) (*expr, error) { return atom("jnp.uint32(0)"), nil }),
		ir.OpSdyManualComputation: (*emitter).manualComputation,
	}
	for _, kind := range []ir.Kind{ir.OpAllGather, ir.OpAllReduce, ir.OpCrossReplicaSum, ir.OpReduceScatter, ir.OpAllToAll,
		ir.OpCollectivePermute, ir.OpCollectiveBroadcast} {
		ops[kind] = (*emitter).inGroups
	}
	return ops
}

// inGroups writes a collective of StableHLO: one that has no form over axes, such as a product. On whole arrays it moves nothing.
func (e *emitter) inGroups(op ir.OpID) error {
	m := e.m
	kind := m.Kind(op)
	if e.typed == nil {
		for i, v := range m.Results(op) {
			if t := m.ValueType(v).DType; t != m.ValueType(m.Operand(op, i)).DType {
				e.assign(op, e.cast(m.Operand(op, i), t), v)
			} else {
				e.aliases[v] = m.Operand(op, i)
			}
		}
		return nil
	}
	groups, err := shardmap.GroupsOf(m, op, &e.file.coarse)
	if err != nil {
		return err
	}
	hasForm := kind == ir.OpCollectiveBroadcast
	if kind == ir.OpAllReduce || kind == ir.OpReduceScatter {
		size := len(groups[0])
		uneven := slices.ContainsFunc(groups, func(g []int64) bool { return len(g) != size })
		hasForm = len(groups)*size == int(e.file.mesh.Devices()) && !uneven
	}
	if !hasForm {
		return e.unsupported(op, "its groups leave out devices, or differ in size")
	}
	for i, v := range m.Results(op) {
		x, err := e.amongGroups(op, e.cast(m.Operand(op, i), m.ValueType(v).DType), groups)
		if err != nil {
			return err
		}
		e.assign(op, x, v)
	}
	return nil
}

// amongGroups returns what a collective makes of one of its operands.
func (e *emitter) amongGroups(op ir.OpID, x *expr, groups [][]int64) (*expr, error) {
	all := e.overAxes(e.typed.Manual.Axes())
	if e.m.Kind(op) == ir.OpCollectiveBroadcast {
		return e.helper("copy_from", x, list(lists.Map(senders(groups, e.file.mesh.Devices()), number)...), all), nil
	}
	combine, err := e.combiner(op, 0)
	if err != nil {
		return nil, err
	}
	var among []*expr
	if len(groups) > 1 {
		among = []*expr{groupsArgument(groups)}
	}
	if e.m.Kind(op) == ir.OpAllReduce {
		return e.helper("reduce_over", append([]*expr{x, combine, all}, among...)...), nil
	}
	dim := number(e.m.OpAttrs(op).Int("scatter_dimension", 0))
	return e.helper("reduce_scatter_over", append([]*expr{x, combine, dim, all}, among...)...), nil
}

// senders returns for each device the first member of its group, -1 for one without a group.
func senders(groups [][]int64, devices int64) []int64 {
	out := slices.Repeat([]int64{-1}, int(devices))
	for _, g := range groups {
		for _, d := range g {
			out[d] = g[0]
		}
	}
	return out
}

// manualComputation runs its body on the devices' blocks, in a program that sees whole tensors otherwise.
func (e *emitter) manualComputation(op ir.OpID) error {
	program := e.manual[op]
	if program == nil {
		return e.unsupported(op, "a manual computation inside another one has no form in JAX")
	}
	e.typed = program
	name, err := e.function("on_blocks", op, 0)
	e.typed = nil
	if err != nil {
		return err
	}
	out := e.specs(e.m.ResultValues(op))
	specs := tuple(out...)
	if len(out) == 1 {
		specs = out[0]
	}
	fn := e.scope.take("on_mesh")
	e.line(fn+" = ", call("on_devices", name, call("make_mesh"), tuple(e.specs(e.m.BlockArgs(e.m.RegionBlock(op, 0)))...), specs), "")
	e.assign(op, call(fn, e.refs(op)...), e.m.ResultValues(op)...)
	return nil
}

// specs returns the shardings of values as PartitionSpecs.
func (e *emitter) specs(values []ir.ValueID) (out []*expr) {
	return lists.Map(values, func(v ir.ValueID) *expr { return e.file.typedSpec(e.file.refining.Spec(e.specRefs(v))) })
}
