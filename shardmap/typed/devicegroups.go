package typed

import (
	"encoding/binary"
	"slices"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/shardmap/refine"
)

// groups rewrites the groups and pairs of the collectives that the user wrote as lists of places in the mesh, and refines
// the mesh so that they run along whole axes where they can.
func (r *deviceReader) groups() error {
	var problem error
	r.m.Walk(r.m.Func(r.src.Main).Body, func(op ir.OpID) {
		if problem != nil {
			return
		}
		switch r.m.Kind(op) {
		case ir.OpAllGather, ir.OpAllReduce, ir.OpReduceScatter, ir.OpAllToAll, ir.OpCollectiveBroadcast:
			problem = r.placeGroups(op)
		case ir.OpCollectivePermute:
			problem = r.placePairs(op)
		}
	})
	return problem
}

// placeGroups rewrites the groups of a collective.
func (r *deviceReader) placeGroups(op ir.OpID) error {
	groups, err := r.groupsOf(op)
	if err != nil {
		return err
	}
	size := len(groups[0])
	if slices.ContainsFunc(groups, func(g []int64) bool { return len(g) != size }) {
		return diag.Unsupported(diag.NotSupported, r.m.OpPos(op), "the groups of `%s` have different sizes", r.m.OpName(op))
	}
	if refs, ok := refine.FindGroups(&r.src.Mesh, groups); ok {
		_ = r.cuts.Add(refs...) // else they stay groups
	}
	t := r.m.TensorType(dtype.I64, int64(len(groups)), int64(size))
	r.m.SetAttrs(op, r.m.OpAttrs(op).With("replica_groups", i64Dense(t, slices.Concat(groups...))))
	return nil
}

// groupsOf returns the groups of a collective as places in the mesh (specification: stablehlo.md section 3.1, for one
// replica).
func (r *deviceReader) groupsOf(op ir.OpID) ([][]int64, error) {
	m, n := r.m, r.src.Mesh.Devices()
	kind := m.Kind(op)
	channel, _ := m.Attr(op, "channel_handle").(ir.ChannelHandle)
	global := m.OpAttrs(op).Bool("use_global_device_ids")
	all := make([]int64, n)
	for d := range all {
		all[d] = int64(d)
	}
	switch {
	case channel.Handle <= 0 && !global: // between replicas, of which there is one
		return slices.Collect(slices.Chunk(all, 1)), nil
	case (kind == ir.OpAllGather || kind == ir.OpAllReduce || kind == ir.OpReduceScatter) && !global:
		return [][]int64{all}, nil
	}
	var groups [][]int64
	switch g := m.Attr(op, "replica_groups").(type) {
	case *ir.MeshAxesGroups:
		own := &m.Mesh(g.Mesh).Mesh
		for _, list := range own.Groups(g.Axes) {
			for k, d := range list {
				list[k] = own.DeviceID(d)
			}
			groups = append(groups, list)
		}
	case *ir.Dense:
		dims, values := m.TypeOf(g.Type).Dims, g.Int64s()
		if len(dims) == 2 && dims[0]*dims[1] > 0 && (g.Splat || int64(len(values)) == dims[0]*dims[1]) {
			if g.Splat {
				values = slices.Repeat(values, int(min(dims[0]*dims[1], n+1)))
			}
			groups = slices.Collect(slices.Chunk(values, int(min(dims[1], n+1))))
		}
	}
	if len(groups) == 0 {
		return [][]int64{all}, nil
	}
	return groups, r.place(op, groups)
}

// place turns ids of devices into their places, in place.
func (r *deviceReader) place(op ir.OpID, lists [][]int64) error {
	places := map[int64]int64{}
	for d := range r.src.Mesh.Devices() {
		places[r.src.Mesh.DeviceID(d)] = d
	}
	for _, list := range lists {
		for k, id := range list {
			d, ok := places[id]
			if !ok {
				return diag.Unsupported(diag.NotSupported, r.m.OpPos(op), "`%s` names device %d, which the mesh does not have", r.m.OpName(op), id)
			}
			list[k] = d
		}
	}
	return nil
}

// placePairs rewrites the pairs of a permutation.
func (r *deviceReader) placePairs(op ir.OpID) error {
	g, ok := r.m.Attr(op, "source_target_pairs").(*ir.Dense)
	if !ok || r.src.Mesh.DeviceIDs == nil {
		return nil
	}
	values := slices.Clone(g.Int64s())
	if err := r.place(op, [][]int64{values}); err != nil {
		return err
	}
	d := i64Dense(g.Type, values)
	d.Splat = g.Splat
	r.m.SetAttrs(op, r.m.OpAttrs(op).With("source_target_pairs", d))
	return nil
}

// i64Dense returns a constant of i64; equal elements are stored once, as in text.
func i64Dense(t ir.TypeID, values []int64) *ir.Dense {
	d := &ir.Dense{Type: t, Splat: len(values) > 0}
	for _, v := range values {
		d.Splat = d.Splat && v == values[0]
	}
	if d.Splat {
		values = values[:1]
	}
	for _, v := range values {
		d.Data = binary.LittleEndian.AppendUint64(d.Data, uint64(v))
	}
	return d
}
