package propagate

import (
	"autoshard/ir"
	"autoshard/ir/rule"
	"autoshard/subaxis"
)

// factorSharding is how one tensor is sharded along one factor. Overflow holds axes of the dimension that fit no
// factor because a size does not divide; they are visible to other factors as conflicts.
type factorSharding struct {
	axes, overflow    []subaxis.Ref
	mapped            bool // the tensor has the factor
	closed, minorMost bool
}

// tensorFactors is the projection of one tensor: its shardings by factor and what it keeps for the whole.
type tensorFactors struct {
	factors               []factorSharding // by factor
	replicated, unreduced []subaxis.Ref
	reduction             ir.Reduction
	size                  int64 // product of the sizes of its factors
	updated               bool
}

// projection restates the shardings of an op's tensors, operands first, in terms of the factors of its rule
// (source: shardy.md section 3).
type projection struct {
	rule     *ir.Rule
	mesh     *ir.MeshDecl
	operands int
	tensors  []tensorFactors

	factors []factorSharding
	arena   []subaxis.Ref

	newDims []ir.DimSharding // memory of transient
	newAxes []subaxis.Ref
}

// dims returns the factors of each dimension of a tensor.
func (p *projection) dims(t int) [][]int32 {
	if t < p.operands {
		return p.rule.Operands[t]
	}
	return p.rule.Results[t-p.operands]
}

// project fills the projection. Tensors without a sharding are open everywhere.
func (p *projection) project(m *ir.Module, mesh ir.MeshID, r *ir.Rule, shardings []ir.ShardingID) {
	p.rule, p.mesh, p.operands = r, m.Mesh(mesh), len(r.Operands)
	n := len(r.Sizes)
	p.factors = resize(p.factors, n*len(shardings))
	p.tensors = resize(p.tensors, len(shardings))
	p.arena = p.arena[:0]
	for t, id := range shardings {
		tf := &p.tensors[t]
		*tf = tensorFactors{factors: p.factors[t*n : (t+1)*n], size: 1}
		var s *ir.Sharding
		if id != 0 {
			s = m.ShardingOf(id)
			tf.replicated, tf.unreduced, tf.reduction = s.Replicated, s.Unreduced, s.Reduction
		}
		for d, factors := range p.dims(t) {
			var dim ir.DimSharding
			if s != nil {
				dim = s.Dims[d]
			}
			p.projectDim(tf, dim, factors)
		}
	}
}

// resize returns a cleared slice of length n, in the old memory where that suffices.
func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	s = s[:n]
	clear(s)
	return s
}

// projectDim distributes the axes of a dimension over its factors, major to minor: each takes what divides it, the
// last takes the rest (source: shardy.md section 3.2).
func (p *projection) projectDim(tf *tensorFactors, dim ir.DimSharding, factors []int32) {
	left := rule.AxesOf(dim.Axes)
	for i, f := range factors {
		fs := &tf.factors[f]
		fs.mapped, fs.closed, fs.minorMost = true, dim.Closed, i == len(factors)-1
		size := p.rule.Sizes[f]
		tf.size *= size
		start := len(p.arena)
		if fs.minorMost {
			p.arena = left.Rest(p.arena, start)
			fs.axes = p.arena[start:len(p.arena):len(p.arena)]
			return
		}
		var rest int64
		p.arena, rest = left.Dividing(p.arena, size)
		fs.axes = p.arena[start:len(p.arena):len(p.arena)]
		if rest > 1 && left.Left() {
			start = len(p.arena)
			p.arena = left.Rest(p.arena, start)
			fs.overflow = p.arena[start:len(p.arena):len(p.arena)]
			next := &tf.factors[factors[i+1]]
			next.mapped, next.closed, next.minorMost = true, true, i+1 == len(factors)-1
			tf.size *= p.rule.Sizes[factors[i+1]]
			return
		}
	}
}

// expand replaces the axes of a factor where the old ones are a strict prefix of the new ones.
func (t *tensorFactors) expand(f int32, axes []subaxis.Ref) {
	if fs := &t.factors[f]; fs.mapped && subaxis.PrefixStatus(fs.axes, axes) == subaxis.StrictPrefix {
		fs.axes = axes
		t.updated = true
	}
}

// sharding returns the tensor's sharding after the update (source: shardy.md section 3.3).
func (p *projection) sharding(t int, mesh ir.MeshID) ir.Sharding {
	return p.shardingIn(make([]ir.DimSharding, len(p.dims(t))), nil, t, mesh)
}

// transient is sharding in memory that the next call takes again: most shardings are known already.
func (p *projection) transient(t int, mesh ir.MeshID) ir.Sharding {
	p.newDims = resize(p.newDims, len(p.dims(t)))
	if p.newAxes == nil {
		p.newAxes = make([]subaxis.Ref, 0, 64)
	}
	return p.shardingIn(p.newDims, p.newAxes, t, mesh)
}

// shardingIn is sharding with the memory for dimensions and, where that suffices, for axes.
func (p *projection) shardingIn(dims []ir.DimSharding, axes []subaxis.Ref, t int, mesh ir.MeshID) ir.Sharding {
	tf := &p.tensors[t]
	for d, factors := range p.dims(t) {
		dims[d] = p.dimSharding(axes, tf, factors)
		n := min(len(dims[d].Axes), cap(axes))
		axes = axes[n:n]
	}
	return ir.Sharding{Mesh: mesh, Dims: dims, Replicated: tf.replicated, Unreduced: tf.unreduced, Reduction: tf.reduction}
}

// dimSharding appends the axes of a dimension to an empty list.
func (p *projection) dimSharding(axes []subaxis.Ref, tf *tensorFactors, factors []int32) ir.DimSharding {
	dim := ir.DimSharding{Axes: axes, Priority: ir.NoPriority}
	for _, f := range factors {
		fs := &tf.factors[f]
		dim.Closed = dim.Closed || fs.closed
		dim.Axes = appendFactorAxes(dim.Axes, fs.axes)
		if len(fs.overflow) > 0 {
			dim.Axes = appendFactorAxes(dim.Axes, fs.overflow)
			break
		}
		if subaxis.Product(fs.axes) < p.rule.Sizes[f] {
			break
		}
	}
	return dim
}

// appendFactorAxes appends the axes of a factor; only at the boundary between factors do neighbours merge.
func appendFactorAxes(list, axes []subaxis.Ref) []subaxis.Ref {
	if len(axes) == 0 {
		return list
	}
	list = subaxis.AppendMerge(list, axes[0])
	return append(list, axes[1:]...)
}
