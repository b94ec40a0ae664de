package mlir

import (
	"slices"

	"autoshard/ir"
)

// axesAttr prints lists of axes in the ops' own syntax.
func (pr *printer) axesAttr(a ir.Attr) {
	switch v := a.(type) {
	case *ir.AxesAttr:
		pr.axes(v.Mesh, v.Axes)
	case *ir.AxesPerDimAttr:
		pr.byte('[')
		each(pr, v.Dims, func(axes ir.ShardAxes) { pr.axes(v.Mesh, axes) })
		pr.byte(']')
	case *ir.AllToAllAttr:
		pr.byte('[')
		each(pr, v.Moves, func(move ir.AllToAllMove) {
			pr.axes(v.Mesh, move.Axes)
			pr.str(": ")
			pr.int(move.Src)
			pr.str("->")
			pr.int(move.Dst)
		})
		pr.byte(']')
	}
}

func (pr *printer) axes(mesh ir.MeshID, axes ir.ShardAxes) {
	pr.byte('{')
	if len(axes) > 0 {
		pr.str(pr.m.Mesh(mesh).FormatList(axes))
	}
	pr.byte('}')
}

// sharding prints a sharding without #sdy.sharding before it.
func (pr *printer) sharding(s ir.ShardingID) {
	if int(s) >= len(pr.shardText) {
		pr.str(pr.m.FormatSharding(s))
		return
	}
	if pr.shardText[s] == "" {
		pr.shardText[s] = pr.m.FormatSharding(s)
	}
	pr.str(pr.shardText[s])
}

// opSharding says whether the dictionary of an op has its results' shardings.
func (pr *printer) opSharding(op ir.OpID) bool {
	return pr.m.IsSharded(op) && ownSharding(pr.m.Kind(op)) == ""
}

// resultShardingList returns the shardings of all results of an op. Those without one are open on the others' mesh.
func (pr *printer) resultShardingList(op ir.OpID) ir.ShardingsAttr {
	return pr.shardingList(pr.m.ResultValues(op))
}

func (pr *printer) shardingList(values []ir.ValueID) ir.ShardingsAttr {
	m := pr.m
	mesh := ir.MeshID(0)
	for _, v := range values {
		if s := m.Sharding(v); s != 0 && (mesh == 0 || m.Mesh(mesh).IsMaximal()) {
			mesh = m.ShardingOf(s).Mesh
		}
	}
	list := make(ir.ShardingsAttr, len(values))
	for i, v := range values {
		list[i] = m.Sharding(v)
		if list[i] == 0 {
			list[i] = m.Replicated(mesh, m.ValueType(v).Rank(), false)
		}
	}
	return list
}

func (pr *printer) resultShardings(op ir.OpID) { each(pr, pr.resultShardingList(op), pr.sharding) }

// argShardingList returns the shardings of the arguments of an op's first region, nil if none has one.
func (pr *printer) argShardingList(op ir.OpID) ir.Attr {
	args := pr.m.BlockArgs(pr.m.RegionBlock(op, 0))
	if !pr.anySharding(args) {
		return nil
	}
	return pr.shardingList(args)
}

func (pr *printer) argShardings(op ir.OpID) {
	if list, ok := pr.argShardingList(op).(ir.ShardingsAttr); ok {
		each(pr, list, pr.sharding)
	}
}

func (pr *printer) anySharding(values []ir.ValueID) bool {
	return slices.ContainsFunc(values, func(v ir.ValueID) bool { return pr.m.Sharding(v) != 0 })
}

// rule prints #sdy.op_sharding_rule<…>.
func (pr *printer) rule(r *ir.Rule) { pr.str("#sdy.op_sharding_rule<" + r.Format() + ">") }
