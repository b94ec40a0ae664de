package shardmap

import (
	"cmp"
	"slices"

	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/subaxis"
)

// GroupsOf returns the groups of a collective of StableHLO as places in a mesh (specification: stablehlo.md section 3.1, for one
// replica). Devices may be in none of them, and groups may differ in size. Errors are of class diag.ErrUnsupported: the groups
// name a device that the mesh does not have, or one twice.
func GroupsOf(m *ir.Module, op ir.OpID, mesh *subaxis.Mesh) ([][]int64, error) {
	all := lists.Range[int64](mesh.Devices())
	channel, _ := m.Attr(op, "channel_handle").(ir.ChannelHandle)
	global := m.OpAttrs(op).Bool("use_global_device_ids")
	switch kind := m.Kind(op); {
	case channel.Handle <= 0 && !global: // between replicas, of which there is one
		return slices.Collect(slices.Chunk(all, 1)), nil
	case !global && (kind == ir.OpAllGather || kind == ir.OpAllReduce || kind == ir.OpReduceScatter):
		return [][]int64{all}, nil
	}
	groups := listedGroups(m, op)
	if len(groups) == 0 {
		return [][]int64{all}, nil
	}
	return groups, place(m, op, mesh, true, groups...)
}

// listedGroups returns the groups that a collective lists, of device ids. Groups that are shorter than others are filled up with -1.
func listedGroups(m *ir.Module, op ir.OpID) (groups [][]int64) {
	switch g := m.Attr(op, "replica_groups").(type) {
	case *ir.MeshAxesGroups:
		mesh := &m.Mesh(g.Mesh).Mesh
		for _, members := range mesh.Groups(g.Axes) {
			for k, d := range members {
				members[k] = mesh.DeviceID(d)
			}
			groups = append(groups, members)
		}
	case *ir.Dense:
		if dims := m.TypeOf(g.Type).Dims; len(dims) == 2 && dims[1] > 0 {
			for members := range slices.Chunk(m.Int64s(g), int(dims[1])) {
				if members = slices.DeleteFunc(members, func(id int64) bool { return id == -1 }); len(members) > 0 {
					groups = append(groups, members)
				}
			}
		}
	}
	return groups
}

// namedAxes returns the axes of a collective whose groups, which are given too, the user named by axes of the mesh.
func namedAxes(m *ir.Module, op ir.OpID, mesh *subaxis.Mesh, groups [][]int64) ([]subaxis.Ref, bool) {
	g, ok := m.Attr(op, "replica_groups").(*ir.MeshAxesGroups)
	if !ok || !m.Mesh(g.Mesh).Equal(mesh) || !slices.EqualFunc(groups, mesh.Groups(g.Axes), slices.Equal) {
		return nil, false
	}
	return g.Axes, true
}

// pairsOf returns the pairs of source and target of a permutation as places in a mesh.
func pairsOf(m *ir.Module, op ir.OpID, mesh *subaxis.Mesh) (map[[2]int64]bool, error) {
	d, _ := m.Attr(op, "source_target_pairs").(*ir.Dense)
	pairs := map[[2]int64]bool{}
	if d == nil {
		return pairs, nil
	}
	for pair := range slices.Chunk(m.Int64s(d), 2) {
		if err := place(m, op, mesh, false, pair); err != nil {
			return nil, err
		}
		pairs[[2]int64(pair)] = true
	}
	return pairs, nil
}

// place turns ids of devices into their places, in place. Each may stand in the lists once, if that is asked for.
func place(m *ir.Module, op ir.OpID, mesh *subaxis.Mesh, once bool, lists ...[]int64) error {
	n := mesh.Devices()
	places := map[int64]int64{}
	for d := range mesh.DeviceIDs {
		places[mesh.DeviceID(int64(d))] = int64(d)
	}
	seen := map[int64]bool{}
	for _, list := range lists {
		for k, id := range list {
			d, ok := places[id]
			if mesh.DeviceIDs == nil {
				d, ok = id, id >= 0 && id < n
			}
			if !ok || once && seen[d] {
				problem := "names device %d, which the mesh does not have"
				if ok {
					problem = "names device %d twice"
				}
				return diag.Unsupported(diag.NotSupported, m.OpPos(op), "`%s` "+problem, m.OpName(op), id)
			}
			seen[d] = true
			list[k] = d
		}
	}
	return nil
}

// PermAlong returns pairs of places as pairs of members along axes, ordered, if they are the same in all groups.
func PermAlong(mesh *subaxis.Mesh, axes []subaxis.Ref, pairs map[[2]int64]bool) ([][2]int64, bool) {
	members := map[[2]int64]bool{}
	for pair := range pairs {
		members[[2]int64{mesh.ShardIndex(pair[0], axes), mesh.ShardIndex(pair[1], axes)}] = true
	}
	perm := make([][2]int64, 0, len(members))
	for pair := range members {
		perm = append(perm, pair)
	}
	slices.SortFunc(perm, func(x, y [2]int64) int { return cmp.Or(cmp.Compare(x[0], y[0]), cmp.Compare(x[1], y[1])) })
	groups := mesh.Groups(axes)
	for _, group := range groups {
		for _, pair := range perm {
			if !pairs[[2]int64{group[pair[0]], group[pair[1]]}] {
				return nil, false
			}
		}
	}
	return perm, len(groups)*len(perm) == len(pairs)
}

// permOver returns axes with pairs of members along them: the given ones, or all where the groups along those do not all exchange their
// blocks in the same way.
func permOver(mesh *subaxis.Mesh, axes []subaxis.Ref, pairs map[[2]int64]bool) ([]subaxis.Ref, [][2]int64) {
	perm, ok := PermAlong(mesh, axes, pairs)
	if !ok {
		axes = mesh.All()
		perm, _ = PermAlong(mesh, axes, pairs)
	}
	return axes, perm
}
