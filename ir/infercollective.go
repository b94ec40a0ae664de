package ir

import (
	"cmp"
	"slices"

	"autoshard/ir/dtype"
	"autoshard/subaxis"
)

// groupSize checks the groups of a collective and returns how many processes a group has, 0 where that is not known.
func (f *inference) groupSize(padded bool) (int64, error) {
	if g, ok := f.attrs.Get("replica_groups").(*MeshAxesGroups); ok {
		return subaxis.Product(g.Axes), nil
	}
	return f.denseGroups(f.attrs.Get("replica_groups").(*Dense), padded)
}

func (f *inference) denseGroups(g *Dense, padded bool) (int64, error) {
	t := f.m.TypeOf(g.Type)
	if len(t.Dims) != 2 {
		return 0, badAttr("replica groups should be a rank 2 tensor, but got '%s'", f.m.FormatType(g.Type))
	}
	if t.DType != dtype.I64 {
		return 0, badAttr("replica groups must be 64-bit integers, but got '%s'", f.m.FormatType(g.Type))
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

// globalGroupSize is groupSize for collectives whose groups may be of global ids, which come with a channel.
func (f *inference) globalGroupSize(padded bool) (int64, error) {
	size, err := f.groupSize(padded)
	return size, cmp.Or(err, f.channel())
}

// channel checks that global ids come with a channel.
func (f *inference) channel() error {
	a := f.attrs
	c, _ := a.Get("channel_handle").(ChannelHandle)
	least := int64(1)
	if f.kind == OpAllGather {
		least = 0 // MLIR is less strict here
	}
	if a.Bool("use_global_device_ids") && c.Handle < least {
		return badAttr("channel_id must be positive when useGlobalDeviceIds is set but got: %d", c.Handle)
	}
	return nil
}

func inferAllGather(f *inference) error {
	size, err := f.globalGroupSize(false)
	if err != nil {
		return err
	}
	d := f.attrs.Int("all_gather_dim", -1)
	for i := range f.operands {
		x := f.operand(i)
		if d < 0 || d >= int64(x.Rank()) {
			return badAttr("all_gather_dim must be a valid index of operand: %d of rank %d", d, x.Rank())
		}
		if x.Dims[d] == 0 {
			return badType("dimension size of operand at 'all_gather_dim' cannot be zero")
		}
		f.result(x, f.withSize(i, d, times(x.Dims[d], max(size, 1))))
	}
	return nil
}

func inferAllReduce(f *inference) error {
	_, err := f.globalGroupSize(true)
	x := f.operand(0)
	if err := cmp.Or(err, f.reducer([]*Type{x}, []*Type{x})); err != nil {
		return err
	}
	for i := range f.operands {
		f.sized(f.operand(i), f.operand(i).Dims)
	}
	return nil
}

func inferReduceScatter(f *inference) error {
	size, err := f.globalGroupSize(false)
	if err != nil {
		return err
	}
	x := f.operand(0)
	d := f.attrs.Int("scatter_dimension", -1)
	if d < 0 || d >= int64(x.Rank()) {
		return badAttr("scatter dim should be less than operand/result rank, but got %d", d)
	}
	if err := f.reducer([]*Type{x}, []*Type{x}); err != nil {
		return err
	}
	n, ok := divided(x.Dims[d], max(size, 1))
	if !ok {
		return badType("operand scatter dimension has size %d, expected to be a multiple of the group size %d", x.Dims[d], size)
	}
	return f.sized(x, f.withSize(0, d, n))
}

func inferCollectiveReduce(f *inference) error {
	_, err := f.globalGroupSize(false)
	x := f.operand(0)
	return cmp.Or(err, f.reducer([]*Type{x}, []*Type{x}), f.rooted())
}

func inferAllToAll(f *inference) error {
	size, err := f.groupSize(false)
	if err != nil {
		return err
	}
	a := f.attrs
	split, concat, count := a.Int("split_dimension", -1), a.Int("concat_dimension", -1), a.Int("split_count", 0)
	if count <= 0 {
		return badAttr("AllToAll split_count must be > 0, but got %d", count)
	}
	if size != 0 && size != count {
		return badAttr("group size of replica_groups must be the same as split_count: %d vs %d", size, count)
	}
	for i := range f.operands {
		x := f.operand(i)
		rank := int64(x.Rank())
		if split < 0 || split >= rank || concat < 0 || concat >= rank {
			return badAttr("AllToAll split_dimension %d or concat_dimension %d is out-of-bounds for input rank %d", split, concat, rank)
		}
		n, ok := divided(x.Dims[split], count)
		if !ok {
			return badType("split dimension has size %d, expected to be a multiple of split_count %d", x.Dims[split], count)
		}
		dims := f.withSize(i, split, n)
		dims[concat] = times(dims[concat], count)
		f.result(x, dims)
	}
	return nil
}

func inferCollectivePermute(f *inference) error {
	pairs := f.attrs.Get("source_target_pairs").(*Dense)
	t := f.m.TypeOf(pairs.Type)
	if len(t.Dims) != 2 || t.Dims[1] != 2 {
		return badAttr("expect source_target_pairs attribute of shape (N, 2), but got '%s'", f.m.FormatType(pairs.Type))
	}
	if pairs.Splat && t.Dims[0] > 1 {
		return badAttr("duplicate sources not allowed")
	}
	ids := f.m.Int64s(pairs)
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
	return inferSame(f)
}

func inferCollectiveBroadcast(f *inference) error {
	if g, ok := f.attrs.Get("replica_groups").(*Dense); ok {
		ids := g.Int64s()
		if t := f.m.TypeOf(g.Type); len(t.Dims) != 2 || g.Splat && t.Elements() > 1 || !unique(ids) {
			return badAttr("replica ids in replica_groups must be unique")
		}
		if slices.ContainsFunc(ids, func(id int64) bool { return id < 0 }) {
			return badAttr("replica_groups values must be positive")
		}
	}
	return f.rooted()
}

// rooted checks the values of a collective that may have a root: the last operand says for each value which member of
// the group it is.
func (f *inference) rooted() error {
	n := len(f.operands)
	if f.attrs.Bool("has_dynamic_root") {
		n--
		if n == 0 {
			return badOp("with has_dynamic_root=true requires at least two operands (data + root)")
		}
		if root := f.operand(n); root.DType != dtype.I32 || root.Rank() != 1 {
			return badType("last operand with has_dynamic_root=true must be a rank-1 i32 tensor, but got '%s'", f.text(n))
		} else if root.Dims[0] != Dynamic && root.Dims[0] != int64(n) {
			return badType("last operand with has_dynamic_root=true must have the same number of elements as data operands (%d), but got %d",
				n, root.Dims[0])
		}
	}
	for _, id := range f.operands[:n] {
		f.same(id)
	}
	return nil
}

// times returns a multiple of a size, divided a part of it; ok is false where that leaves a rest.
func times(size, n int64) int64 {
	if size == Dynamic {
		return Dynamic
	}
	return size * n
}

func divided(size, n int64) (part int64, ok bool) {
	if size == Dynamic {
		return Dynamic, true
	}
	return size / n, size%n == 0
}
