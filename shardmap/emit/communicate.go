package emit

import (
	"fmt"
	"slices"

	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/shardmap/refine"
	"autoshard/subaxis"
)

func communication() map[ir.Kind]handler {
	return map[ir.Kind]handler{
		ir.OpAllGather:            (*emitter).allGather,
		ir.OpAllReduce:            (*emitter).allReduce,
		ir.OpCrossReplicaSum:      (*emitter).allReduce,
		ir.OpReduceScatter:        single((*emitter).reduceScatter),
		ir.OpAllToAll:             (*emitter).allToAll,
		ir.OpCollectivePermute:    (*emitter).permute,
		ir.OpCollectiveBroadcast:  (*emitter).sendAll,
		ir.OpPartitionId:          single((*emitter).partitionID),
		ir.OpReplicaId:            single(func(*emitter, ir.OpID) (*expr, error) { return atom("jnp.uint32(0)"), nil }),
		ir.OpSdyManualComputation: (*emitter).manualComputation,
	}
}

// grouping is how a collective divides the devices: along axes of the mesh, or by lists of places.
type grouping struct {
	refs   []subaxis.Ref
	byAxes bool
	groups [][]int64 // logical devices
	alone  bool      // every group has one device
}

// findGroups works out the groups of the collectives, and cuts the mesh so that they run along whole axes where they
// can.
func (e *emitter) findGroups(b ir.BlockID) error {
	if e.mesh == nil {
		return nil
	}
	var problem error
	e.m.Walk(b, func(op ir.OpID) {
		switch e.m.Kind(op) {
		case ir.OpAllGather, ir.OpAllReduce, ir.OpReduceScatter, ir.OpAllToAll, ir.OpCollectiveBroadcast, ir.OpCrossReplicaSum:
			g, err := e.groupsOf(op)
			if err != nil && problem == nil {
				problem = err
			}
			e.groups[op] = g
		}
	})
	return problem
}

func (e *emitter) groupsOf(op ir.OpID) (*grouping, error) {
	g := &grouping{groups: e.logicalGroups(op)}
	seen := make([]bool, e.mesh.Devices())
	g.alone = true
	for _, members := range g.groups {
		g.alone = g.alone && len(members) == 1
		for _, d := range members {
			if d < 0 || d >= int64(len(seen)) || seen[d] {
				return nil, e.unsupported(op, "its groups do not fit a mesh of %d devices", len(seen))
			}
			seen[d] = true
		}
	}
	if slices.Contains(seen, false) {
		if e.m.Kind(op) != ir.OpCollectiveBroadcast {
			return nil, e.unsupported(op, "its groups leave out devices")
		}
		return g, nil
	}
	if refs, ok := refine.FindGroups(&e.mesh.Mesh, g.groups); ok && e.mesh.cut(refs) {
		g.refs, g.byAxes = refs, true
	}
	return g, nil
}

// logicalGroups returns the groups of a collective as places in the mesh's list of devices (specification:
// stablehlo.md section 3.1, for one replica).
func (e *emitter) logicalGroups(op ir.OpID) [][]int64 {
	m := e.m
	kind := m.Kind(op)
	reduction := kind == ir.OpAllGather || kind == ir.OpAllReduce || kind == ir.OpReduceScatter
	channel, _ := m.Attr(op, "channel_handle").(ir.ChannelHandle)
	all := make([]int64, e.mesh.Devices())
	var alone [][]int64
	for i := range all {
		all[i] = int64(i)
		alone = append(alone, []int64{int64(i)})
	}
	global := m.OpAttrs(op).Bool("use_global_device_ids")
	switch {
	case channel.Handle <= 0 && !global:
		return alone
	case reduction && !global:
		return [][]int64{all}
	}
	groups := e.replicaGroups(op)
	if len(groups) == 0 {
		return [][]int64{all}
	}
	return groups
}

// replicaGroups returns the groups that a collective lists, as places in the mesh's list of devices: -1 stands for a
// device that the mesh does not have.
func (e *emitter) replicaGroups(op ir.OpID) [][]int64 {
	m := e.m
	var groups [][]int64
	places := e.mesh.logical()
	switch a := m.Attr(op, "replica_groups").(type) {
	case *ir.MeshAxesGroups:
		own := &m.Mesh(a.Mesh).Mesh
		for _, g := range own.Groups(a.Axes) {
			for k, d := range g {
				g[k] = places[own.DeviceID(d)]
			}
			groups = append(groups, g)
		}
	case *ir.Dense:
		ids, dims := e.intList(op, "replica_groups"), m.TypeOf(a.Type).Dims
		for row := int64(0); len(dims) == 2 && row < dims[0]; row++ {
			var g []int64
			for _, id := range ids[row*dims[1] : (row+1)*dims[1]] {
				if place, ok := places[id]; ok {
					g = append(g, place)
				} else if id != -1 {
					g = append(g, -1)
				}
			}
			if len(g) > 0 {
				groups = append(groups, g)
			}
		}
	}
	return groups
}

// over returns the axis argument of a collective, and axis_index_groups where axes alone do not say the groups.
func (e *emitter) over(op ir.OpID) (axes *expr, groups []*expr) {
	g := e.groups[op]
	if g.byAxes {
		return e.mesh.axes(g.refs), nil
	}
	rows := make([]*expr, len(g.groups))
	for i, members := range g.groups {
		rows[i] = list(numbers(members)...)
	}
	return e.mesh.all(), []*expr{keyword("axis_index_groups", list(rows...))}
}

// local says whether a collective moves nothing: each device is alone, or sees whole tensors.
func (e *emitter) local(op ir.OpID) bool { return e.mesh == nil || e.groups[op].alone }

func (e *emitter) allGather(op ir.OpID) error {
	for i, v := range e.m.Results(op) {
		if e.local(op) {
			e.aliases[v] = e.m.Operand(op, i)
			continue
		}
		axes, groups := e.over(op)
		args := []*expr{e.ref(e.m.Operand(op, i)), axes, keyword("axis", number(e.m.OpAttrs(op).Int("all_gather_dim", 0))),
			keyword("tiled", truth(true))}
		e.assign(op, call("lax.all_gather", append(args, groups...)...), v)
	}
	return nil
}

// reducers are the collectives for regions of one op.
var reducers = map[ir.Kind]string{ir.OpAdd: "lax.psum", ir.OpMaximum: "lax.pmax", ir.OpMinimum: "lax.pmin"}

func (e *emitter) allReduce(op ir.OpID) error {
	for i, v := range e.m.Results(op) {
		x, t := e.m.Operand(op, i), e.m.ValueType(v).DType
		if e.local(op) {
			e.aliases[v] = x
			continue
		}
		kind := ir.OpAdd
		if e.m.NumRegions(op) > 0 {
			kind = e.monoidOf(op, 0)
			t = e.regionTypes(op, 0)[0]
		}
		axes, groups := e.over(op)
		if fn := reducers[kind]; fn != "" && t != dtype.I1 {
			e.assign(op, call(fn, append([]*expr{e.cast(x, t), axes}, groups...)...), v)
			continue
		}
		combine, err := e.combiner(op, 0)
		if err != nil {
			return err
		}
		e.file.use("reduce_over")
		e.assign(op, call("reduce_over", append([]*expr{e.cast(x, t), combine, axes}, groups...)...), v)
	}
	return nil
}

func (e *emitter) reduceScatter(op ir.OpID) (*expr, error) {
	x, t := e.m.Operand(op, 0), e.regionTypes(op, 0)[0]
	if e.local(op) {
		return e.cast(x, t), nil
	}
	axes, groups := e.over(op)
	d := number(e.m.OpAttrs(op).Int("scatter_dimension", 0))
	if e.monoidOf(op, 0) == ir.OpAdd {
		args := []*expr{e.cast(x, t), axes, keyword("scatter_dimension", d), keyword("tiled", truth(true))}
		return call("lax.psum_scatter", append(args, groups...)...), nil
	}
	combine, err := e.combiner(op, 0)
	if err != nil {
		return nil, err
	}
	e.file.use("reduce_scatter_over")
	return call("reduce_scatter_over", append([]*expr{e.cast(x, t), combine, d, axes}, groups...)...), nil
}

func (e *emitter) allToAll(op ir.OpID) error {
	a := e.m.OpAttrs(op)
	for i, v := range e.m.Results(op) {
		if e.local(op) {
			e.aliases[v] = e.m.Operand(op, i)
			continue
		}
		axes, groups := e.over(op)
		args := []*expr{e.ref(e.m.Operand(op, i)), axes, number(a.Int("split_dimension", 0)), number(a.Int("concat_dimension", 0)),
			keyword("tiled", truth(true))}
		e.assign(op, call("lax.all_to_all", append(args, groups...)...), v)
	}
	return nil
}

// permute names only the axes along which blocks move, where all devices move them alike.
func (e *emitter) permute(op ir.OpID) error {
	for i, v := range e.m.Results(op) {
		x := e.m.Operand(op, i)
		if e.mesh == nil {
			e.aliases[v] = x
			continue
		}
		places := e.mesh.logical()
		flat := e.intList(op, "source_target_pairs")
		moves := make([][2]int64, len(flat)/2)
		for k := range moves {
			from, ok1 := places[flat[2*k]]
			to, ok2 := places[flat[2*k+1]]
			if !ok1 || !ok2 {
				return e.unsupported(op, "its pairs do not fit a mesh of %d devices", e.mesh.Devices())
			}
			moves[k] = [2]int64{from, to}
		}
		axes, moves := e.mesh.alongPieces(moves)
		e.assign(op, call("lax.ppermute", e.ref(x), axes, permutation(moves)), v)
	}
	return nil
}

// alongPieces rewrites moves between devices as moves along the pieces of axes in which some source and target
// differ, if devices that differ elsewhere all move alike. Pieces are in mesh order, as JAX demands.
func (x *mesh) alongPieces(moves [][2]int64) (*expr, [][2]int64) {
	whole := subaxis.Mesh{Axes: x.pieces()}
	var pieces []int
	var refs []subaxis.Ref
	for i := range x.pieces() {
		r := whole.Full(i)
		if slices.ContainsFunc(moves, func(m [2]int64) bool { return whole.Coordinate(m[0], r) != whole.Coordinate(m[1], r) }) {
			pieces, refs = append(pieces, i), append(refs, r)
		}
	}
	var along [][2]int64
	count := map[[2]int64]int64{}
	for _, m := range moves {
		p := [2]int64{whole.ShardIndex(m[0], refs), whole.ShardIndex(m[1], refs)}
		if count[p] == 0 {
			along = append(along, p)
		}
		count[p]++
	}
	others := x.Devices() / subaxis.Product(refs)
	for _, n := range count {
		if n != others {
			return x.all(), moves
		}
	}
	if len(pieces) == 0 {
		return x.all(), moves
	}
	slices.SortFunc(along, func(a, b [2]int64) int { return int(a[0] - b[0]) })
	return x.piecesExpr(pieces), along
}

// sendAll gives every member of a group what its first member has, and zeros to devices without a group.
func (e *emitter) sendAll(op ir.OpID) error {
	for i, v := range e.m.Results(op) {
		x := e.m.Operand(op, i)
		if e.local(op) {
			e.aliases[v] = x
			continue
		}
		source := slices.Repeat([]int64{-1}, int(e.mesh.Devices()))
		for _, g := range e.groups[op].groups {
			for _, d := range g {
				source[d] = g[0]
			}
		}
		e.file.use("copy_from")
		e.assign(op, call("copy_from", e.ref(x), list(numbers(source)...), e.mesh.all()), v)
	}
	return nil
}

// partitionID is the id of the device: its place in the mesh's list, or what the mesh says of that place.
func (e *emitter) partitionID(op ir.OpID) (*expr, error) {
	if e.mesh == nil {
		return atom("jnp.uint32(0)"), nil
	}
	place := call("lax.axis_index", e.mesh.all())
	if e.mesh.DeviceIDs != nil {
		return atom(fmt.Sprintf("%s[%s]", call("jnp.array", list(numbers(e.mesh.DeviceIDs)...), e.dtypeOf(dtype.UI32)), place)), nil
	}
	return method(place, "astype", e.dtypeOf(dtype.UI32)), nil
}

// axisIndex writes a value that is the device's index along axes.
func (e *emitter) axisIndex(op ir.OpID, at deviceIndex) {
	x := call("lax.axis_index", e.mesh.axes(at.refs))
	if t := e.m.ValueType(e.m.Result(op, 0)).DType; t != dtype.I32 {
		x = method(x, "astype", e.dtypeOf(t))
	}
	e.define(op, x)
}

// manualComputation runs its body on the devices' blocks, in a program that sees whole tensors otherwise.
func (e *emitter) manualComputation(op ir.OpID) error {
	if e.mesh != nil || e.blocks == nil {
		return e.unsupported(op, "a manual computation inside another one has no form in JAX")
	}
	body := e.m.RegionBlock(op, 0)
	e.mesh = e.blocks
	name, err := e.def("on_blocks", body, nil, each("x", e.m.BlockArgs(body))...)
	e.mesh = nil
	if err != nil {
		return err
	}
	var in, out []*expr
	for _, arg := range e.m.BlockArgs(body) {
		in = append(in, e.blocks.spec(e.specRefs(arg)))
	}
	for _, v := range e.m.ResultValues(op) {
		out = append(out, e.blocks.spec(e.specRefs(v)))
	}
	specs := tuple(out...)
	if len(out) == 1 {
		specs = out[0]
	}
	fn := e.scope.take("on_mesh")
	e.line(fn+" = ", call("on_devices", atom(name), call("make_mesh"), tuple(in...), specs), "")
	e.assign(op, call(fn, e.refs(op)...), e.m.ResultValues(op)...)
	return nil
}
