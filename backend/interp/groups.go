package interp

import (
	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
)

// resolveGroups turns replica groups or source-target pairs into groups of processes (stablehlo.md section 3.1).
// The flags of the op say whether the numbers are replicas, partitions or processes.
func (c *compiler) resolveGroups(r *attrReader, d *Collective) error {
	global := r.bool("use_global_device_ids")
	if global && d.Channel <= 0 {
		return diag.Invalid(diag.BadAttribute, diag.Position{}, "use_global_device_ids needs a positive channel")
	}
	if d.Kind == ir.OpCollectivePermute {
		return c.resolvePairs(r, d)
	}
	groups, err := c.idGroups(r, d, global)
	if err != nil {
		return err
	}
	replicas, partitions := c.in.opts.Replicas, c.in.opts.Partitions
	reduction := d.Kind == ir.OpAllGather || d.Kind == ir.OpAllReduce || d.Kind == ir.OpReduceScatter
	switch {
	case global:
		d.Groups = groups
	case d.Channel > 0 && reduction: // cross_replica_and_partition
		for _, g := range groups {
			var members []int
			for p := range partitions {
				members = append(members, lists.Map(g, func(replica int) int { return replica*partitions + p })...)
			}
			d.Groups = append(d.Groups, members)
		}
	case d.Channel > 0: // cross_partition
		for _, g := range groups {
			for replica := range replicas {
				d.Groups = append(d.Groups, lists.Map(g, func(p int) int { return replica*partitions + p }))
			}
		}
	default: // cross_replica
		for _, g := range groups {
			for p := range partitions {
				d.Groups = append(d.Groups, lists.Map(g, func(replica int) int { return replica*partitions + p }))
			}
		}
	}
	return nil
}

// idRange returns how many replicas, partitions or processes the numbers of an op may name, and what they name.
func (c *compiler) idRange(d *Collective, global bool) (int, string) {
	reduction := d.Kind == ir.OpAllGather || d.Kind == ir.OpAllReduce || d.Kind == ir.OpReduceScatter
	switch {
	case global:
		return c.in.Processes(), "process"
	case d.Channel > 0 && !reduction:
		return c.in.opts.Partitions, "partition"
	}
	return c.in.opts.Replicas, "replica"
}

// idGroups reads replica_groups in either form. Numbers are unique, and every one is there except in a broadcast.
func (c *compiler) idGroups(r *attrReader, d *Collective, global bool) ([][]int, error) {
	n, what := c.idRange(d, global)
	var groups [][]int64
	if axes, ok := c.m.Attr(r.op, "replica_groups").(*ir.MeshAxesGroups); ok {
		groups = c.meshGroups(axes)
	} else {
		groups = c.denseGroups(r)
	}
	if r.err != nil {
		return nil, r.err
	}
	if len(groups) == 0 && (d.Kind != ir.OpCollectiveBroadcast || n == 1) {
		groups = [][]int64{lists.Range[int64](n)}
	}
	seen := make([]bool, n)
	count := 0
	var out [][]int
	for _, g := range groups {
		var members []int
		for _, id := range g {
			switch {
			case id < 0 || id >= int64(n):
				return nil, diag.Invalid(diag.BadAttribute, diag.Position{}, "replica_groups names %s %d of %d", what, id, n)
			case seen[id]:
				return nil, diag.Invalid(diag.BadAttribute, diag.Position{}, "replica_groups names %s %d twice", what, id)
			}
			seen[id] = true
			count++
			members = append(members, int(id))
		}
		if len(members) > 0 {
			out = append(out, members)
		}
	}
	if d.Kind != ir.OpCollectiveBroadcast && count != n {
		return nil, diag.Invalid(diag.BadAttribute, diag.Position{}, "replica_groups names %d of %d ids: each %s belongs to a group", count, n,
			what)
	}
	return out, nil
}

// denseGroups reads a matrix whose rows are groups, filled up with -1 at the end.
func (c *compiler) denseGroups(r *attrReader) [][]int64 {
	dense, ok := c.m.Attr(r.op, "replica_groups").(*ir.Dense)
	if !ok {
		return nil
	}
	flat := r.matrix(dense)
	dims := c.m.TypeOf(dense.Type).Dims
	if len(dims) != 2 {
		r.missing("replica_groups")
		return nil
	}
	var groups [][]int64
	for row := range dims[0] {
		g := lists.Filter(flat[row*dims[1]:(row+1)*dims[1]], func(id int64) bool { return id != -1 })
		groups = append(groups, g)
	}
	if dims[1] == 0 {
		return nil
	}
	return groups
}

// meshGroups returns the groups along axes of a mesh as device ids.
func (c *compiler) meshGroups(a *ir.MeshAxesGroups) [][]int64 {
	mesh := &c.m.Mesh(a.Mesh).Mesh
	groups := mesh.Groups(a.Axes)
	if mesh.DeviceIDs != nil {
		for _, g := range groups {
			for k, logical := range g {
				g[k] = mesh.DeviceIDs[logical]
			}
		}
	}
	return groups
}

// resolvePairs reads the pairs of a permute: each number is a source once and a target once.
func (c *compiler) resolvePairs(r *attrReader, d *Collective) error {
	n, what := c.idRange(d, false)
	pairs := r.pairs("source_target_pairs")
	if r.err != nil {
		return r.err
	}
	replicas, partitions := c.in.opts.Replicas, c.in.opts.Partitions
	sources, targets := make([]bool, n), make([]bool, n)
	for _, p := range pairs {
		for k, seen := range [][]bool{sources, targets} {
			role := [...]string{"source", "target"}[k]
			if p[k] < 0 || p[k] >= int64(n) {
				return diag.Invalid(diag.BadAttribute, diag.Position{}, "source_target_pairs names %s %d of %d", what, p[k], n)
			}
			if seen[p[k]] {
				return diag.Invalid(diag.BadAttribute, diag.Position{}, "%s %d is the %s of two pairs", what, p[k], role)
			}
			seen[p[k]] = true
		}
		s, t := int(p[0]), int(p[1])
		if d.Channel > 0 {
			for replica := range replicas {
				d.Pairs = append(d.Pairs, [2]int{replica*partitions + s, replica*partitions + t})
			}
			continue
		}
		for partition := range partitions {
			d.Pairs = append(d.Pairs, [2]int{s*partitions + partition, t*partitions + partition})
		}
	}
	return nil
}
