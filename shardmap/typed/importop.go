package typed

import (
	"fmt"
	"slices"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/subaxis"
)

// imports are the collectives of StableHLO with their translations.
var imports map[ir.Kind]func(*importer, ir.OpID) error

func init() {
	imports = map[ir.Kind]func(*importer, ir.OpID) error{
		ir.OpAllReduce:           (*importer).allReduce,
		ir.OpAllGather:           (*importer).allGather,
		ir.OpReduceScatter:       (*importer).reduceScatter,
		ir.OpAllToAll:            (*importer).allToAll,
		ir.OpCollectivePermute:   (*importer).permute,
		ir.OpCollectiveBroadcast: (*importer).broadcast,
		ir.OpCustomCall:          (*importer).customCall,
	}
}

// customCall refuses calls that take functions of the module, such as the comparator of approximate maxima.
func (i *importer) customCall(op ir.OpID) error {
	if called, _ := i.m.Attr(op, "called_computations").(ir.ArrayAttr); len(called) > 0 {
		return diag.Unsupported(diag.NotSupported, i.m.OpPos(op),
			"the custom call `%s` calls functions of the module, which a shard_map program has no place for",
			i.m.OpAttrs(op).Str("call_target_name"))
	}
	return nil
}

// replace puts one op of this package per operand in the place of a collective. One over no axes is the identity. A region
// that reduces in a wider type than its operand's gets the operand in that type.
func (i *importer) replace(op ir.OpID, c Collective) error {
	b := Edit(i.p, op)
	if i.invariant && c.Kind == ir.OpShardMapAllGather && c.Groups == nil {
		c.Kind = ir.OpShardMapAllGatherInvariant
	}
	for k, x := range i.m.Operands(op) {
		if t := i.m.ValueType(i.m.Result(op, k)).DType; t != i.m.ValueType(x).DType {
			x = b.Convert(x, t)
		}
		v := x
		if len(c.Axes) > 0 {
			v = b.Emit(c, x)
		}
		if b.err != nil {
			return i.p.inOp(op, b.err)
		}
		if def := i.m.DefiningOp(v); def != 0 && v != x {
			i.m.SetLoc(def, i.m.OpLoc(op))
		}
		i.m.ReplaceUses(i.m.Result(op, k), v)
	}
	i.m.Erase(op)
	return nil
}

func (i *importer) allReduce(op ir.OpID) error {
	kind, err := i.reduction(op)
	if err != nil {
		return err
	}
	return i.grouped(op, Collective{Kind: kind})
}

// reduction returns the op for the region of a reduction. That of truth values is no psum, which counts them in JAX.
func (i *importer) reduction(op ir.OpID) (ir.Kind, error) {
	body := i.m.RegionBlock(op, 0)
	if err := i.convert(body); err != nil { // drops hints
		return 0, err
	}
	if r, ok := ir.ReductionOf(i.m, op, 0); ok {
		return map[ir.Reduction]ir.Kind{ir.ReduceSum: ir.OpShardMapPsum, ir.ReduceMax: ir.OpShardMapPmax, ir.ReduceMin: ir.OpShardMapPmin}[r], nil
	}
	return 0, diag.Unsupported(diag.NotSupported, i.m.OpPos(op),
		"`%s` with a region other than a sum, maximum or minimum has no form as a collective over axes", i.m.OpName(op))
}

func (i *importer) allGather(op ir.OpID) error {
	return i.grouped(op, Collective{Kind: ir.OpShardMapAllGather, Dim: i.m.OpAttrs(op).Int("all_gather_dim", 0)})
}

// reduceScatter makes of a maximum or minimum, which has no op of its own, a reduction of which each member keeps its
// chunk.
func (i *importer) reduceScatter(op ir.OpID) error {
	kind, err := i.reduction(op)
	if err != nil {
		return err
	}
	dim := i.m.OpAttrs(op).Int("scatter_dimension", 0)
	if kind == ir.OpShardMapPsum {
		return i.grouped(op, Collective{Kind: ir.OpShardMapPsumScatter, Dim: dim})
	}
	m := i.m
	b := m.BuilderBefore(op)
	x := m.Operand(op, 0)
	reduce := b.OpRegions(ir.OpAllReduce, []ir.TypeID{m.Type(x)}, m.OpAttrs(op).Without("scatter_dimension"), 0, x)
	m.AdoptRegions(reduce, m.Regions(op))
	c := Collective{Kind: ir.OpShardMapPscatter, Dim: dim}
	if err := i.axesOf(op, &c); err != nil {
		return err
	}
	if c.Groups != nil {
		return diag.Unsupported(diag.NotSupported, m.OpPos(op), "the groups of `%s` run along no axes, and its reduction is no sum", m.OpName(op))
	}
	m.SetOperand(op, 0, m.Result(reduce, 0))
	if err := i.replace(op, c); err != nil {
		return err
	}
	return i.grouped(reduce, Collective{Kind: kind})
}

func (i *importer) allToAll(op ir.OpID) error {
	a := i.m.OpAttrs(op)
	return i.grouped(op, Collective{Kind: ir.OpShardMapAllToAll, Split: a.Int("split_dimension", 0), Concat: a.Int("concat_dimension", 0)})
}

// broadcast sends from the first member of each group, which has the same number among the members of all groups.
func (i *importer) broadcast(op ir.OpID) error {
	c := Collective{Kind: ir.OpShardMapPbroadcast}
	first := map[int64]bool{}
	if g, ok := i.m.Attr(op, "replica_groups").(*ir.Dense); ok && i.m.TypeOf(g.Type).Elements() > 0 {
		groups, err := i.denseGroups(op, g)
		if err != nil {
			return err
		}
		for _, members := range groups {
			first[members[0]] = true
			slices.Sort(members)
		}
		i.m.SetAttrs(op, i.m.OpAttrs(op).With("replica_groups", i64Dense(g.Type, slices.Concat(groups...))))
	}
	if err := i.axesOf(op, &c); err != nil {
		return err
	}
	for k, members := range i.p.Mesh.Groups(refs(&i.p.Mesh, c.Axes)) {
		source := int64(max(0, slices.IndexFunc(members, func(d int64) bool { return first[d] })))
		if c.Groups != nil || k > 0 && source != c.Source {
			return diag.Unsupported(diag.NotSupported, i.m.OpPos(op), "the groups of `%s` run along no axes from one member", i.m.OpName(op))
		}
		c.Source = source
	}
	return i.replace(op, c)
}

// grouped replaces a collective whose groups are dense lists of devices or axes of a mesh.
func (i *importer) grouped(op ir.OpID, c Collective) error {
	if err := i.axesOf(op, &c); err != nil {
		return err
	}
	return i.replace(op, c)
}

// axesOf reads the groups of a collective.
func (i *importer) axesOf(op ir.OpID, c *Collective) error {
	switch g := i.m.Attr(op, "replica_groups").(type) {
	case *ir.MeshAxesGroups:
		for _, r := range g.Axes {
			own := i.ofMesh(g.Mesh, []subaxis.Ref{r})
			if own == nil {
				return diag.Unsupported(diag.NotSupported, i.m.OpPos(op), "the groups of `%s` run along %s of another mesh",
					i.m.OpName(op), i.m.Mesh(g.Mesh).Format(r))
			}
			for _, name := range i.refined.Names(i.refined.Axes(own)) {
				a, err := i.p.boundAxis(name, c.Axes)
				if err != nil {
					return i.p.inOp(op, err)
				}
				c.Axes = append(c.Axes, a)
			}
		}
	case *ir.Dense:
		groups, err := i.denseGroups(op, g)
		if err != nil {
			return err
		}
		if c.Axes, c.Groups = i.p.axesOfGroups(groups); !c.isManual(i.p) {
			return diag.Unsupported(diag.NotSupported, i.m.OpPos(op), "the groups of `%s` run along axes that are not manual", i.m.OpName(op))
		}
	default:
		return diag.Unsupported(diag.NotSupported, i.m.OpPos(op), "`%s` has replica groups of an unknown form", i.m.OpName(op))
	}
	return nil
}

func (c *Collective) isManual(p *Program) bool { return c.Set().In(p.Manual) }

// denseGroups reads lists of devices and checks that they part the mesh evenly.
func (i *importer) denseGroups(op ir.OpID, g *ir.Dense) ([][]int64, error) {
	dims, n := i.m.TypeOf(g.Type).Dims, i.p.Mesh.Devices()
	if len(dims) != 2 || dims[0]*dims[1] == 0 {
		all := make([]int64, n)
		for d := range all {
			all[d] = int64(d)
		}
		return [][]int64{all}, nil
	}
	values := g.Int64s()
	if g.Splat {
		values = slices.Repeat(values, int(min(dims[0]*dims[1], n+1)))
	}
	seen := map[int64]bool{}
	for _, d := range values {
		if d < 0 || d >= n || seen[d] {
			return nil, diag.Unsupported(diag.NotSupported, i.m.OpPos(op),
				"the groups of `%s` do not name every device of the mesh once", i.m.OpName(op))
		}
		seen[d] = true
	}
	if int64(len(values)) != n {
		return nil, diag.Unsupported(diag.NotSupported, i.m.OpPos(op), "the groups of `%s` name %d of %d devices", i.m.OpName(op), len(values), n)
	}
	return slices.Collect(slices.Chunk(values, int(dims[1]))), nil
}

// axesOfGroups returns the axes along which groups of devices run, in the order of their members. Groups that run
// along no axes as a whole come back as subgroups of all axes.
func (p *Program) axesOfGroups(groups [][]int64) ([]int, [][]int64) {
	k := slices.IndexFunc(groups, func(g []int64) bool { return slices.Contains(g, 0) })
	type placed struct{ axis, at int }
	var found []placed
	stride := p.Mesh.Devices()
	for a, axis := range p.Mesh.Axes {
		stride /= axis.Size
		if at := slices.Index(groups[k], stride); at >= 0 && axis.Size > 1 {
			found = append(found, placed{a, at})
		}
	}
	slices.SortFunc(found, func(x, y placed) int { return y.at - x.at }) // a step along a major axis goes further
	axes := make([]int, len(found))
	for i, f := range found {
		axes[i] = f.axis
	}
	want := p.Mesh.Groups(refs(&p.Mesh, axes))
	key := func(g []int64) string { return fmt.Sprint(g) }
	have := map[string]bool{}
	for _, g := range groups {
		have[key(g)] = true
	}
	same := len(want) == len(groups)
	for _, g := range want {
		same = same && have[key(g)]
	}
	if same {
		return axes, nil
	}
	return p.allAxes().Axes(), groups
}

// permute reads the pairs of a permute.
func (i *importer) permute(op ir.OpID) error {
	g, ok := i.m.Attr(op, "source_target_pairs").(*ir.Dense)
	n := i.p.Mesh.Devices()
	if !ok || len(i.m.TypeOf(g.Type).Dims) != 2 {
		return diag.Unsupported(diag.NotSupported, i.m.OpPos(op), "a permute needs a list of pairs")
	}
	values := g.Int64s()
	if g.Splat {
		values = slices.Repeat(values, 2)
	}
	pairs := map[[2]int64]bool{}
	for k := 0; k+1 < len(values); k += 2 {
		pair := [2]int64{values[k], values[k+1]}
		if pair[0] < 0 || pair[0] >= n || pair[1] < 0 || pair[1] >= n {
			return i.p.badAt(op, diag.BadOp, "E_PERM", "pair %v names a device that the mesh does not have", pair)
		}
		pairs[pair] = true
	}
	return i.permuteAlong(op, pairs)
}

// permuteAlong replaces a permute by one along the least axes along which the pairs of devices run in the same way in every
// group.
func (i *importer) permuteAlong(op ir.OpID, pairs map[[2]int64]bool) error {
	var moved AxisSet
	for pair := range pairs {
		for a := range i.p.Mesh.Axes {
			if r := i.p.Mesh.Full(a); i.p.Mesh.Coordinate(pair[0], r) != i.p.Mesh.Coordinate(pair[1], r) {
				moved |= 1 << a
			}
		}
	}
	for _, axes := range []AxisSet{moved, i.p.Manual, i.p.allAxes()} {
		if perm, ok := i.p.permAlong(axes.Axes(), pairs); ok && axes != 0 {
			c := Collective{Kind: ir.OpShardMapPpermute, Axes: axes.Axes(), Perm: perm}
			if !c.isManual(i.p) {
				break
			}
			return i.replace(op, c)
		}
	}
	return diag.Unsupported(diag.NotSupported, i.m.OpPos(op), "the pairs of `%s` run along axes that are not manual", i.m.OpName(op))
}

// permAlong returns pairs of devices as pairs of members along axes, if they are the same in all groups.
func (p *Program) permAlong(axes []int, pairs map[[2]int64]bool) ([][2]int64, bool) {
	r := refs(&p.Mesh, axes)
	members := map[[2]int64]bool{}
	for pair := range pairs {
		members[[2]int64{p.Mesh.ShardIndex(pair[0], r), p.Mesh.ShardIndex(pair[1], r)}] = true
	}
	var perm [][2]int64
	for pair := range members {
		perm = append(perm, pair)
	}
	slices.SortFunc(perm, func(x, y [2]int64) int { return slices.Compare(x[:], y[:]) })
	groups := p.Mesh.Groups(r)
	for _, g := range groups {
		for _, pair := range perm {
			if !pairs[[2]int64{g[pair[0]], g[pair[1]]}] {
				return nil, false
			}
		}
	}
	return perm, len(groups)*len(perm) == len(pairs)
}

// partition replaces a partition id: its quotient by the size of the minor axes, modulo the size of an axis, is the
// place along that axis.
func (i *importer) partition(op ir.OpID) error {
	m, id := i.m, i.m.Result(op, 0)
	for use := range m.Uses(id) {
		quotient, ok := i.byConstant(use.Op, ir.OpDivide, id)
		if !ok {
			continue
		}
		for inner := range m.Uses(m.Result(use.Op, 0)) {
			size, ok := i.byConstant(inner.Op, ir.OpRemainder, m.Result(use.Op, 0))
			if axes := i.axisBy(quotient, size); ok && axes != nil && i.p.Manual.Has(axes[0]) {
				i.axisIndex(op, axes, m.Result(inner.Op, 0))
			}
		}
	}
	if i.eraseUnused(op) {
		return nil
	}
	if i.p.Manual != i.p.allAxes() {
		return diag.Unsupported(diag.NotSupported, m.OpPos(op), "a partition id is used otherwise than for the place along a manual axis")
	}
	i.axisIndex(op, i.p.allAxes().Axes(), id)
	m.Erase(op)
	return nil
}

// eraseUnused erases an op if only ops use it whose results nobody uses, and these.
func (i *importer) eraseUnused(op ir.OpID) bool {
	for _, v := range i.m.ResultValues(op) {
		for use := range i.m.Uses(v) {
			if i.m.OpBlock(use.Op) == 0 {
				continue // used the value twice
			}
			if i.m.Kind(use.Op).IsTerminator() || !i.eraseUnused(use.Op) {
				return false
			}
		}
	}
	i.m.Erase(op)
	return true
}

// byConstant returns the constant second operand of an op of that kind whose first operand is a value.
func (i *importer) byConstant(op ir.OpID, kind ir.Kind, v ir.ValueID) (int64, bool) {
	if i.m.Kind(op) != kind || i.m.Operand(op, 0) != v {
		return 0, false
	}
	return i.m.ConstantInt(i.m.Operand(op, 1))
}

// axisBy returns the axes that make up the axis of the module's mesh of that size behind which the axes have that many
// devices, nil if there is none.
func (i *importer) axisBy(minor, size int64) []int {
	mesh, stride := &i.refined.Coarse, int64(1)
	for a := len(mesh.Axes) - 1; a >= 0; a-- {
		n := mesh.Axes[a].Size
		if stride == minor && n == size && n > 1 {
			return i.refined.Axes([]subaxis.Ref{mesh.Full(a)})
		}
		stride *= n
	}
	return nil
}

// axisIndex replaces a value of type ui32 by the place along axes, and conversions of it to i32 by that as it is.
func (i *importer) axisIndex(at ir.OpID, axes []int, v ir.ValueID) {
	m := i.m
	b := Edit(i.p, at)
	var index ir.ValueID
	if i.index != nil {
		index = i.index(axes)
	} else {
		index = b.Emit(Collective{Kind: ir.OpShardMapAxisIndex, Axes: axes})
	}
	unsigned := b.Convert(index, dtype.UI32)
	for use := range m.Uses(v) {
		if m.Kind(use.Op) == ir.OpConvert && m.Type(m.Result(use.Op, 0)) == m.Type(index) {
			m.ReplaceUses(m.Result(use.Op, 0), index)
		}
	}
	m.ReplaceUses(v, unsigned)
}
