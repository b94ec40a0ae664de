package shardmap

import (
	"slices"

	"autoshard/collectives"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/subaxis"
)

// communications are the ops that users write in manual computations: over axes, or in StableHLO where they have no form over axes. What a
// device sends to another one by itself is a permute of the pairs of its devices.
var communications = map[ir.Kind]collectives.Kind{
	ir.OpAllGather:           collectives.AllGather,
	ir.OpReduceScatter:       collectives.ReduceScatter,
	ir.OpAllReduce:           collectives.AllReduce,
	ir.OpCrossReplicaSum:     collectives.AllReduce,
	ir.OpAllToAll:            collectives.AllToAll,
	ir.OpCollectivePermute:   collectives.Permute,
	ir.OpSend:                collectives.Permute,
	ir.OpCollectiveBroadcast: collectives.Broadcast,
	ir.OpCollectiveReduce:    collectives.Reduce,

	ir.OpShardMapAllGather:          collectives.AllGather,
	ir.OpShardMapAllGatherInvariant: collectives.AllGather,
	ir.OpShardMapPsumScatter:        collectives.ReduceScatter,
	ir.OpShardMapPsum:               collectives.AllReduce,
	ir.OpShardMapPmax:               collectives.AllReduce,
	ir.OpShardMapPmin:               collectives.AllReduce,
	ir.OpShardMapAllToAll:           collectives.AllToAll,
	ir.OpShardMapPpermute:           collectives.Permute,
	ir.OpShardMapPbroadcast:         collectives.Broadcast,

	ir.OpShardMapAllGatherReduced:     collectives.AllGather,
	ir.OpShardMapUnreducedPsumScatter: collectives.ReduceScatter,
	ir.OpShardMapUnreducedPsum:        collectives.AllReduce,
	ir.OpShardMapUnreducedPmax:        collectives.AllReduce,
	ir.OpShardMapUnreducedPmin:        collectives.AllReduce,
}

// NoteCollectives notes the collectives of a program over axes that does not come from a partitioned one.
func (p *Program) NoteCollectives() {
	l := &lowerer{m: p.Module, p: p, runs: 1}
	for op := range p.Module.Ops(p.Module.Func(p.Main).Body) {
		l.userCollectives(op)
	}
}

// userCollectives notes the collectives in and under an op that the user wrote in a manual computation.
func (l *lowerer) userCollectives(op ir.OpID) {
	m := l.m
	runs, varies := l.runs, l.varies
	defer func() { l.runs, l.varies = runs, varies }()
	switch m.Kind(op) {
	case ir.OpWhile:
		l.enterLoop(op)
	case ir.OpCase, ir.OpIf:
		l.varies = true
	}
	if c, ok := Written(m, op, &l.p.Mesh); ok {
		c.Runs, c.Varies = l.runs, l.varies
		l.p.Collectives = append(l.p.Collectives, c)
		return
	}
	for i := range m.NumRegions(op) {
		for inner := range m.Ops(m.RegionBlock(op, i)) {
			l.userCollectives(inner)
		}
	}
}

// Written returns the collective that an op is which the user wrote in a manual computation, run once, and false for other ops.
func Written(m *ir.Module, op ir.OpID, mesh *subaxis.Mesh) (c Collective, ok bool) {
	kind, ok := communications[m.Kind(op)]
	if !ok || ofHost(m, op) {
		return Collective{}, false
	}
	c = Collective{Op: op, Kind: kind, Source: m.OpLoc(op), Runs: 1}
	for _, v := range operandsOf(m, op) {
		c.Bytes += m.ValueType(v).Bytes()
	}
	c.among(m, mesh)
	return c, true
}

// ofHost says whether an op sends to the host, and to no device.
func ofHost(m *ir.Module, op ir.OpID) bool { return m.OpAttrs(op).Bool("is_host_transfer") }

// operandsOf returns what a collective sends: all its operands but the places of the roots in their groups.
func operandsOf(m *ir.Module, op ir.OpID) []ir.ValueID {
	operands := m.Operands(op)
	if m.OpAttrs(op).Bool("has_dynamic_root") {
		return operands[:len(operands)-1]
	}
	return operands
}

// among notes between whom a collective communicates that the user wrote.
func (c *Collective) among(m *ir.Module, mesh *subaxis.Mesh) {
	if c.Kind == collectives.Permute {
		c.between(m, mesh)
		return
	}
	c.Axes = AxesOf(m, c.Op)
	members := mesh.Groups(c.Axes)
	if listed := ListsOf(m.Attr(c.Op, "groups")); listed != nil {
		members = lists.Map(listed, func(group []int64) []int64 { return lists.Pick(members[0], group) })
		c.Axes, c.Members = alongAxes(mesh, members)
	} else if groups, err := GroupsOf(m, c.Op, mesh); c.Axes == nil && err == nil {
		members = groups
		c.Axes, c.Members = alongAxes(mesh, members)
	}
	c.Groups = int64(len(members))
	for _, group := range members {
		c.Size = max(c.Size, int64(len(group)))
	}
}

// alongAxes returns the axes along which the devices of groups are, in whatever order, or the groups where there are none.
func alongAxes(mesh *subaxis.Mesh, groups [][]int64) ([]subaxis.Ref, [][]int64) {
	ordered := lists.Map(groups, func(members []int64) []int64 { return slices.Sorted(slices.Values(members)) })
	if axes, ok := mesh.FindGroups(ordered); ok {
		return axes, nil
	}
	return nil, groups
}

// between notes between whom a permute sends.
func (c *Collective) between(m *ir.Module, mesh *subaxis.Mesh) {
	c.Axes, c.Fetch = AxesOf(m, c.Op), PermOf(m, c.Op)
	if m.Attr(c.Op, "perm") == nil {
		pairs, err := pairsOf(m, c.Op, mesh)
		if err != nil {
			pairs = nil
		}
		c.Axes, c.Fetch = permOver(mesh, mesh.All(), pairs)
	}
	c.Size = subaxis.Product(c.Axes)
	c.Groups = mesh.Devices() / c.Size
	c.Pairs = moving(c.Fetch) * c.Groups
}
