package ir

import (
	"slices"

	"autoshard/ir/dtype"
	"autoshard/subaxis"
)

// collectiveChecks are the rules of StableHLO's collectives (specification: stablehlo.md sections 2.15 and 3).
var collectiveChecks = map[Kind]func(*verifier, OpID) error{
	OpAllGather:           checkAllGather,
	OpAllReduce:           checkAllReduce,
	OpReduceScatter:       checkReduceScatter,
	OpAllToAll:            checkAllToAll,
	OpCollectivePermute:   checkCollectivePermute,
	OpCollectiveBroadcast: checkCollectiveBroadcast,
	OpCollectiveReduce:    checkCollectiveReduce,
	OpCrossReplicaSum:     checkCrossReplicaSum,
}

// groupSize checks the groups of a collective and returns how many processes a group has, 0 where that is not known.
func (v *verifier) groupSize(op OpID, padded bool) (int64, error) {
	switch g := v.m.Attr(op, "replica_groups").(type) {
	case *MeshAxesGroups:
		return subaxis.Product(g.Axes), nil
	case *Dense:
		return v.denseGroups(g, padded)
	case nil:
		return 0, missing("replica_groups")
	}
	return 0, badAttr("replica_groups must be a constant of rank 2 or axes of a mesh")
}

func (v *verifier) denseGroups(g *Dense, padded bool) (int64, error) {
	t := v.m.TypeOf(g.Type)
	if len(t.Dims) != 2 {
		return 0, badAttr("replica groups should be a rank 2 tensor, but got '%s'", v.m.FormatType(g.Type))
	}
	if t.DType != dtype.I64 {
		return 0, badAttr("replica groups must be 64-bit integers, but got '%s'", v.m.FormatType(g.Type))
	}
	ids := g.Int64s()
	if g.Splat && t.Elements() > 1 {
		return 0, badAttr("replica id #%d seen more than once", ids[0])
	}
	seen := map[int64]bool{}
	for _, id := range ids {
		if id == -1 && padded {
			continue
		}
		if id < 0 {
			return 0, badAttr("invalid replica id %d", id)
		}
		if seen[id] {
			return 0, badAttr("replica id #%d seen more than once", id)
		}
		seen[id] = true
	}
	for id := range int64(len(seen)) {
		if !seen[id] {
			return 0, badAttr("replica id #%d not seen in replica groups", id)
		}
	}
	return t.Dims[1], nil
}

// channel checks that global ids come with a channel.
func (v *verifier) channel(op OpID) error {
	a := v.m.OpAttrs(op)
	c, _ := a.Get("channel_handle").(ChannelHandle)
	least := int64(1)
	if v.m.Kind(op) == OpAllGather {
		least = 0 // MLIR is less strict here
	}
	if a.Bool("use_global_device_ids") && c.Handle < least {
		return badAttr("channel_id must be positive when useGlobalDeviceIds is set but got: %d", c.Handle)
	}
	return nil
}

func checkAllGather(v *verifier, op OpID) error {
	size, err := v.groupSize(op, false)
	if err != nil {
		return err
	}
	if err := v.channel(op); err != nil {
		return err
	}
	d := v.m.OpAttrs(op).Int("all_gather_dim", -1)
	for i := range v.m.NumOperands(op) {
		x := v.in(op, i)
		if d < 0 || d >= int64(x.Rank()) {
			return badAttr("all_gather_dim must be a valid index of operand: %d of rank %d", d, x.Rank())
		}
		if x.Dims[d] == 0 {
			return badType("dimension size of operand at 'all_gather_dim' cannot be zero")
		}
		dims := slices.Clone(x.Dims)
		if dims[d] != Dynamic && size > 0 {
			dims[d] *= size
		}
		if err := v.infers(op, i, x, dims); err != nil {
			return err
		}
	}
	return nil
}

func checkAllReduce(v *verifier, op OpID) error {
	if _, err := v.groupSize(op, true); err != nil {
		return err
	}
	if err := v.channel(op); err != nil {
		return err
	}
	x := v.in(op, 0)
	if err := v.reducer(op, []*Type{x}, []*Type{x}); err != nil {
		return err
	}
	for i := range v.m.NumOperands(op) {
		if err := v.infers(op, i, v.out(op, i), v.in(op, i).Dims); err != nil {
			return err
		}
	}
	return nil
}

func checkReduceScatter(v *verifier, op OpID) error {
	size, err := v.groupSize(op, false)
	if err != nil {
		return err
	}
	if err := v.channel(op); err != nil {
		return err
	}
	x := v.in(op, 0)
	d := v.m.OpAttrs(op).Int("scatter_dimension", -1)
	if d < 0 || d >= int64(x.Rank()) {
		return badAttr("scatter dim should be less than operand/result rank, but got %d", d)
	}
	if err := v.reducer(op, []*Type{x}, []*Type{x}); err != nil {
		return err
	}
	dims := slices.Clone(x.Dims)
	if dims[d] != Dynamic && size > 0 {
		if dims[d]%size != 0 {
			return badType("operand scatter dimension has size %d, expected to be a multiple of the group size %d", dims[d], size)
		}
		dims[d] /= size
	}
	return v.infers(op, 0, v.out(op, 0), dims)
}

func checkCollectiveReduce(v *verifier, op OpID) error {
	if _, err := v.groupSize(op, false); err != nil {
		return err
	}
	if err := v.channel(op); err != nil {
		return err
	}
	x := v.in(op, 0)
	if err := v.reducer(op, []*Type{x}, []*Type{x}); err != nil {
		return err
	}
	return v.rooted(op)
}

func checkCrossReplicaSum(v *verifier, op OpID) error {
	return v.infers(op, 0, v.in(op, 0), v.in(op, 0).Dims)
}

func checkAllToAll(v *verifier, op OpID) error {
	size, err := v.groupSize(op, false)
	if err != nil {
		return err
	}
	a := v.m.OpAttrs(op)
	split, concat, count := a.Int("split_dimension", -1), a.Int("concat_dimension", -1), a.Int("split_count", 0)
	if count <= 0 {
		return badAttr("AllToAll split_count must be > 0, but got %d", count)
	}
	if size != 0 && size != count {
		return badAttr("group size of replica_groups must be the same as split_count: %d vs %d", size, count)
	}
	for i := range v.m.NumOperands(op) {
		x := v.in(op, i)
		rank := int64(x.Rank())
		if split < 0 || split >= rank || concat < 0 || concat >= rank {
			return badAttr("AllToAll split_dimension %d or concat_dimension %d is out-of-bounds for input rank %d", split, concat, rank)
		}
		dims := slices.Clone(x.Dims)
		if dims[split] != Dynamic {
			if dims[split]%count != 0 {
				return badType("split dimension has size %d, expected to be a multiple of split_count %d", dims[split], count)
			}
			dims[split] /= count
		}
		if dims[concat] != Dynamic {
			dims[concat] *= count
		}
		if err := v.infers(op, i, x, dims); err != nil {
			return err
		}
	}
	return nil
}

func checkCollectivePermute(v *verifier, op OpID) error {
	pairs, ok := v.m.Attr(op, "source_target_pairs").(*Dense)
	if !ok {
		return missing("source_target_pairs")
	}
	t := v.m.TypeOf(pairs.Type)
	if len(t.Dims) != 2 || t.Dims[1] != 2 {
		return badAttr("expect source_target_pairs attribute of shape (N, 2), but got '%s'", v.m.FormatType(pairs.Type))
	}
	ids := pairs.Int64s()
	if pairs.Splat {
		if t.Dims[0] > 1 {
			return badAttr("duplicate sources not allowed")
		}
		ids = append(ids, ids...)
	}
	sources, targets := map[int64]bool{}, map[int64]bool{}
	for i := 0; i+1 < len(ids); i += 2 {
		switch {
		case ids[i] < 0 || ids[i+1] < 0:
			return badAttr("replica ids in source_target_pairs must be >= 0")
		case sources[ids[i]]:
			return badAttr("duplicate sources not allowed: %d", ids[i])
		case targets[ids[i+1]]:
			return badAttr("duplicate targets not allowed: %d", ids[i+1])
		}
		sources[ids[i]], targets[ids[i+1]] = true, true
	}
	return v.infers(op, 0, v.in(op, 0), v.in(op, 0).Dims)
}

func checkCollectiveBroadcast(v *verifier, op OpID) error {
	if g, ok := v.m.Attr(op, "replica_groups").(*Dense); ok {
		ids := g.Int64s()
		if t := v.m.TypeOf(g.Type); len(t.Dims) != 2 || g.Splat && t.Elements() > 1 || !unique(ids) {
			return badAttr("replica ids in replica_groups must be unique")
		}
		if slices.ContainsFunc(ids, func(id int64) bool { return id < 0 }) {
			return badAttr("replica_groups values must be positive")
		}
	}
	return v.rooted(op)
}

// rooted checks the values of a collective that may have a root: the last operand says for each value which member of
// the group it is.
func (v *verifier) rooted(op OpID) error {
	n := v.m.NumOperands(op)
	if v.m.OpAttrs(op).Bool("has_dynamic_root") {
		n--
		if n == 0 {
			return badOp("with has_dynamic_root=true requires at least two operands (data + root)")
		}
		if root := v.in(op, n); root.DType != dtype.I32 || root.Rank() != 1 {
			return badType("last operand with has_dynamic_root=true must be a rank-1 i32 tensor, but got '%s'", v.m.FormatType(v.m.Type(v.m.Operand(op, n))))
		} else if root.Dims[0] != Dynamic && root.Dims[0] != int64(n) {
			return badType("last operand with has_dynamic_root=true must have the same number of elements as data operands (%d), but got %d", n, root.Dims[0])
		}
	}
	if n != v.m.NumResults(op) {
		return badOp("has %d results, expected %d: one for each value", v.m.NumResults(op), n)
	}
	for i := range n {
		if err := v.infers(op, i, v.in(op, i), v.in(op, i).Dims); err != nil {
			return err
		}
	}
	return nil
}
