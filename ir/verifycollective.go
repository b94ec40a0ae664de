package ir

import (
	"cmp"
	"slices"

	"autoshard/internal/diag"
	"autoshard/subaxis"
)

// collective is an sdy collective with the shardings before and after it. An operand without a sharding counts as
// replicated where the op allows that.
type collective struct {
	*verifier
	op            OpID
	mesh          *subaxis.Mesh
	before, after *Sharding
}

// asCollective returns the check of a collective: what all of them have in common (specification: shardy.md section 1.6), and
// what is its own.
func asCollective(needsSharding, sameMesh bool, own func(*collective) error) func(*verifier, OpID) error {
	return func(v *verifier, op OpID) error {
		c, err := v.collective(op, needsSharding, sameMesh)
		if err != nil {
			return err
		}
		return own(&c)
	}
}

func (v *verifier) collective(op OpID, needsSharding, sameMesh bool) (c collective, err error) {
	m := v.m
	c.verifier, c.op = v, op
	if err := v.sameTypes(op); err != nil {
		return c, err
	}
	out := m.Sharding(m.Result(op, 0))
	if out == 0 {
		return c, badSharding(diag.BadSharding, "requires an out_sharding")
	}
	c.after = m.ShardingOf(out)
	c.mesh = &m.Mesh(c.after.Mesh).Mesh
	in := v.inner(m.Operand(op, 0))
	switch {
	case in != nil:
		c.before = in
	case needsSharding:
		return c, badSharding(diag.BadSharding, "collective on operand without sharding")
	default:
		c.before = &Sharding{Mesh: c.after.Mesh, Dims: make([]DimSharding, len(c.after.Dims))}
	}
	if sameMesh && c.before.Mesh != c.after.Mesh && !m.Mesh(c.before.Mesh).Equal(c.mesh) {
		return c, badSharding(diag.BadSharding, "result mesh does not match operand mesh")
	}
	if len(c.before.Dims) != len(c.after.Dims) {
		return c, badSharding(diag.BadShardingRank, "result sharding rank %d does not match operand sharding rank %d", len(c.after.Dims),
			len(c.before.Dims))
	}
	return c, nil
}

// inner returns the sharding of a value as the ops around its uses see it: of an argument of a loop, that of the loop's
// result or of its edge; of an argument of a manual computation, without the manual axes; nil if there is none
// (specification: shardy.md section 1.5).
func (v *verifier) inner(x ValueID) *Sharding {
	m := v.m
	var op OpID
	if b := m.ArgBlock(x); b != 0 {
		op = m.BlockOp(b)
	}
	if op != 0 && m.Kind(op) == OpWhile && m.Index(x) < m.NumResults(op) {
		x = m.Result(op, m.Index(x))
		if edge := m.EdgeOf(x); edge != 0 {
			x = m.Result(edge, 0)
		}
	}
	id := m.Sharding(x)
	if id == 0 {
		return nil
	}
	if op == 0 || m.Kind(op) != OpSdyManualComputation {
		return m.ShardingOf(id)
	}
	manual, _ := m.Attr(op, "manual_axes").(*AxesAttr)
	if manual == nil || len(manual.Axes) == 0 {
		return m.ShardingOf(id)
	}
	isManual := func(r subaxis.Ref) bool {
		return slices.ContainsFunc(manual.Axes, func(a subaxis.Ref) bool { return a.Axis == r.Axis })
	}
	s := m.ShardingOf(id).Clone()
	for d := range s.Dims {
		s.Dims[d].Axes = slices.DeleteFunc(s.Dims[d].Axes, isManual)
	}
	s.Replicated, s.Unreduced = slices.DeleteFunc(s.Replicated, isManual), slices.DeleteFunc(s.Unreduced, isManual)
	return &s
}

// perDim returns the axes of a collective for each dimension, checked.
func (c *collective) perDim(attr string) ([]ShardAxes, error) {
	list, ok := c.m.Attr(c.op, attr).(*AxesPerDimAttr)
	if !ok {
		return nil, badAttr("requires axes for each dimension")
	}
	if len(list.Dims) != len(c.after.Dims) {
		return nil, badSharding(diag.BadShardingRank, "result sharding has rank %d but collective axes has rank %d", len(c.after.Dims),
			len(list.Dims))
	}
	used := axisUse{mesh: c.mesh}
	for _, axes := range list.Dims {
		if err := used.add(axes); err != nil {
			return nil, err
		}
	}
	return list.Dims, nil
}

// gathered returns what is left of a dimension's axes when others are taken from their end.
func (c *collective) gathered(axes, gather ShardAxes, dim int, what string) (ShardAxes, error) {
	rest := slices.Clone(axes)
	for i := len(gather) - 1; i >= 0; i-- {
		g := gather[i]
		if len(rest) == 0 || !g.SuffixOf(rest[len(rest)-1]) {
			return nil, badSharding(diag.BadSharding, "can't apply %s axis %s to operand sharding on dimension %d", what, c.mesh.Format(g), dim)
		}
		last := rest[len(rest)-1]
		rest = rest[:len(rest)-1]
		if g != last {
			rest = append(rest, subaxis.Ref{Axis: last.Axis, Pre: last.Pre, Size: last.Size / g.Size})
		}
	}
	return rest, nil
}

// sliced returns a dimension's axes with others behind them.
func sliced(axes, slice ShardAxes) ShardAxes {
	return subaxis.AppendMerge(slices.Clone(axes), slice...)
}

// expect checks the axes of one dimension of the result.
func (c *collective) expect(dim int, want ShardAxes) error {
	if !slices.Equal(c.after.Dims[dim].Axes, want) {
		return badSharding(diag.BadSharding, "result sharding doesn't match expected sharding [%s] on dimension %d", c.mesh.FormatList(want), dim)
	}
	return nil
}

func (c *collective) allGather() error {
	return c.gatherDims("gathering_axes", "gathering")
}

func (c *collective) gatherDims(attr, what string) error {
	dims, err := c.perDim(attr)
	if err != nil {
		return err
	}
	for d, axes := range dims {
		rest, err := c.gathered(c.before.Dims[d].Axes, axes, d, what)
		if err != nil {
			return err
		}
		if err := c.expect(d, rest); err != nil {
			return err
		}
	}
	return nil
}

func (c *collective) allSlice() error {
	return c.sliceDims("slicing_axes")
}

func (c *collective) sliceDims(attr string) error {
	dims, err := c.perDim(attr)
	if err != nil {
		return err
	}
	for d, axes := range dims {
		if err := c.expect(d, sliced(c.before.Dims[d].Axes, axes)); err != nil {
			return err
		}
	}
	return nil
}

func (c *collective) allToAll() error {
	a, ok := c.m.Attr(c.op, "params").(*AllToAllAttr)
	if !ok || len(a.Moves) == 0 {
		return badAttr("all-to-all must have at least one parameter")
	}
	if err := c.checkMoves(a.Moves); err != nil {
		return err
	}
	moved := make([]bool, len(c.after.Dims))
	for _, move := range a.Moves {
		moved[move.Src], moved[move.Dst] = true, true
		rest, err := c.gathered(c.before.Dims[move.Src].Axes, move.Axes, int(move.Src), "all-to-all")
		if err != nil {
			return err
		}
		if err := c.expect(int(move.Src), rest); err != nil {
			return err
		}
		if err := c.expect(int(move.Dst), sliced(c.before.Dims[move.Dst].Axes, move.Axes)); err != nil {
			return err
		}
	}
	for d := range c.after.Dims {
		if !moved[d] {
			if err := c.expect(d, c.before.Dims[d].Axes); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkMoves checks the dimensions and axes of an all-to-all by themselves.
func (c *collective) checkMoves(moves []AllToAllMove) error {
	used := axisUse{mesh: c.mesh}
	rank := int64(len(c.after.Dims))
	seen := map[int64]bool{}
	for i, move := range moves {
		if err := used.add(move.Axes); err != nil {
			return err
		}
		for _, d := range []struct {
			name string
			dim  int64
		}{{"source", move.Src}, {"target", move.Dst}} {
			if d.dim < 0 || d.dim >= rank {
				return badAttr("%s dimension %d is out of range [0, %d)", d.name, d.dim, rank)
			}
			if seen[d.dim] {
				return badAttr("overlapping source/target dimensions in all-to-all params: %d", d.dim)
			}
			seen[d.dim] = true
		}
		if i > 0 && move.Src <= moves[i-1].Src {
			return badAttr("source dimensions are not sorted in ascending order: %d appears after %d", move.Src, moves[i-1].Src)
		}
	}
	return nil
}

func (c *collective) permute() error {
	before := c.m.Mesh(c.before.Mesh)
	if !slices.Equal(before.Axes, c.mesh.Axes) {
		return badSharding(diag.BadSharding, "result mesh has different axes than operand mesh")
	}
	if c.before.Mesh != c.after.Mesh && slices.Equal(before.DeviceIDs, c.mesh.DeviceIDs) {
		return badSharding(diag.BadSharding, "result mesh name is different but same device ids as operand")
	}
	for d := range c.after.Dims {
		if slices.Equal(c.before.Dims[d].Axes, c.after.Dims[d].Axes) {
			continue
		}
		if in, out := c.before.Shards(d), c.after.Shards(d); in != out {
			return badSharding(diag.BadSharding, "sharded size of result doesn't match operand on dimension %d: %d != %d", d, out, in)
		}
	}
	return nil
}

// listed returns the axes of a collective that has one list, sorted and without duplicates.
func (c *collective) listed(attr, what string) (ShardAxes, error) {
	list, ok := c.m.Attr(c.op, attr).(*AxesAttr)
	if !ok {
		return nil, badAttr("requires a list of axes")
	}
	if !slices.IsSortedFunc(list.Axes, subaxis.Compare) {
		return nil, badSharding(diag.BadSharding, "%s axes are not ordered w.r.t. mesh", what)
	}
	used := axisUse{mesh: c.mesh}
	return list.Axes, used.add(list.Axes)
}

// dimAxes returns the axes of all dimensions.
func (s *Sharding) dimAxes() ShardAxes {
	var all ShardAxes
	for _, d := range s.Dims {
		all = append(all, d.Axes...)
	}
	return all
}

func (s *Sharding) sameDimAxes(o *Sharding) bool {
	return slices.EqualFunc(s.Dims, o.Dims, func(a, b DimSharding) bool { return slices.Equal(a.Axes, b.Axes) })
}

// removes is what a collective may do with unreduced axes: remove those that combine by its reduction.
func (c *collective) removes() reductionRule {
	removed, _ := ParseReduction(c.m.OpAttrs(c.op).Str("reduction_op"))
	return reductionRule{removed: removed}
}

func (c *collective) allReduce() error {
	if !c.before.sameDimAxes(c.after) {
		return badSharding(diag.BadSharding, "operand and result sharding have different axes")
	}
	axes, err := c.listed("reduction_axes", "reduction")
	if err != nil {
		return err
	}
	for _, r := range axes {
		if _, ok := subaxis.Overlapping(append(c.before.dimAxes(), c.before.Replicated...), r); ok {
			return badSharding(diag.BadSharding, "reduction axis %s overlaps with operand dimension sharding or replicated axes", c.mesh.Format(r))
		}
		if _, ok := subaxis.Overlapping(c.after.Unreduced, r); ok {
			return badSharding(diag.BadSharding, "reduction axis %s overlaps with result unreduced axes", c.mesh.Format(r))
		}
	}
	return c.unreducedChange(c.before, c.after, c.removes())
}

func (c *collective) reduceScatter() error {
	return cmp.Or(c.unreducedChange(c.before, c.after, c.removes()), c.sliceDims("reduce_scatter_axes"))
}

func (c *collective) shardedToUnreduced() error {
	if err := cmp.Or(c.keepsReduction(), c.gatherDims("axes", "shard-to-unreduce")); err != nil {
		return err
	}
	want := slices.Clone(c.before.Unreduced)
	for _, axes := range c.m.Attr(c.op, "axes").(*AxesPerDimAttr).Dims {
		want = append(want, axes...)
	}
	if !slices.Equal(subaxis.SortMerge(want), c.after.Unreduced) {
		return badSharding(diag.BadSharding, "out_unreduced_axes should be in_unreduced_axes + sharded_to_unreduced_axes")
	}
	return nil
}

// keepsReduction checks that axes that were unreduced before go on combining as they did.
func (c *collective) keepsReduction() error {
	if len(c.before.Unreduced) > 0 && c.before.Reduction != c.after.Reduction {
		return badSharding(diag.BadSharding, "cannot change the reduction of existing unreduced axes")
	}
	return nil
}

func (c *collective) replicatedToUnreduced() error {
	if !slices.EqualFunc(c.before.Dims, c.after.Dims, func(a, b DimSharding) bool {
		return a.Closed == b.Closed && a.Priority == b.Priority && slices.Equal(a.Axes, b.Axes)
	}) {
		return badSharding(diag.BadSharding, "input and output must share the same dimension shardings")
	}
	axes, err := c.listed("axes", "r2u")
	if err != nil {
		return err
	}
	if len(axes) == 0 {
		return badAttr("r2u axes must not be empty")
	}
	for _, r := range axes {
		if _, ok := subaxis.Overlapping(c.before.dimAxes(), r); ok {
			return badSharding(diag.BadSharding, "r2u axis %s overlaps with operand dimension sharding", c.mesh.Format(r))
		}
		if _, ok := subaxis.Overlapping(c.before.Unreduced, r); ok {
			return badSharding(diag.BadSharding, "r2u axis %s overlaps with operand unreduced axes", c.mesh.Format(r))
		}
	}
	if err := c.keepsReduction(); err != nil {
		return err
	}
	if !slices.Equal(subaxis.SortMerge(append(slices.Clone(c.before.Unreduced), axes...)), c.after.Unreduced) {
		return badSharding(diag.BadSharding, "out_unreduced_axes should be in_unreduced_axes + r2u_axes")
	}
	return nil
}

// reductionRule says what an op may do with unreduced axes.
type reductionRule struct {
	introduce bool
	removed   Reduction // how those combine that it may remove
}

// unreducedChange checks the unreduced axes before and after an op. Shardings on two meshes are not compared.
func (v *verifier) unreducedChange(before, after *Sharding, rule reductionRule) error {
	if before.Mesh != after.Mesh {
		return nil
	}
	mesh := &v.m.Mesh(after.Mesh).Mesh
	introduced := subaxis.Difference(after.Unreduced, before.Unreduced)
	removed := subaxis.Difference(before.Unreduced, after.Unreduced)
	switch {
	case len(introduced) > 0 && !rule.introduce:
		return badSharding(diag.BadSharding, "cannot introduce unreduced axes: %s", mesh.FormatList(introduced))
	case len(removed) > 0 && before.Reduction != rule.removed:
		return badSharding(diag.BadSharding, "cannot reduce with %s axes whose partial values combine by %s", rule.removed, before.Reduction)
	}
	for _, r := range after.Unreduced {
		if _, ok := subaxis.Overlapping(before.Unreduced, r); ok && before.Reduction != after.Reduction {
			return badSharding(diag.BadSharding, "cannot change the reduction operator of kept unreduced axes from %s to %s", before.Reduction,
				after.Reduction)
		}
	}
	return nil
}
