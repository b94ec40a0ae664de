package specfmt

import (
	"fmt"
	"slices"
	"strings"

	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/subaxis"
)

// formatPlacements writes PyTorch's placements, one for each axis of the mesh: [Shard(0), Replicate(), Partial(sum)].
//
// Where several axes shard one dimension, PyTorch cuts by the first axis, then each piece by the next. An axis that is
// to come behind a later one in the order from major to minor is _StridedShard(dim, split_factor=k): the dimension is
// seen as k equal runs, each of which the axis cuts, so the k runs stay for the later axes to take.
func formatPlacements(l *Layout) (string, []string, error) {
	s := &l.Sharding
	mesh := &l.Mesh.Mesh
	if mesh.IsMaximal() {
		return "", nil, noDevice(DTensor, l.Mesh)
	}
	if len(l.Manual) > 0 {
		return "", nil, diag.Unsupported(diag.NotSupported, diag.Position{},
			"not expressible as %s: axis %s is manual here; the tensors of PyTorch's local_map have no placement",
			DTensor.title(), mesh.FormatList(l.Manual[:1]))
	}
	rest := lists.Map(s.Dims, func(d ir.DimSharding) ir.ShardAxes { return slices.Clone(d.Axes) })
	parts := make([]string, len(mesh.Axes))
	for i := range mesh.Axes {
		part, err := placement(l, int32(i), rest)
		if err != nil {
			return "", nil, err
		}
		parts[i] = part
	}
	var dropped left
	dropped.open(s, noneOpen)
	dropped.priorities(s)
	dropped.axes("replicated", mesh, s.Replicated)
	return "[" + strings.Join(parts, ", ") + "]", dropped.list, nil
}

// placement returns the placement of an axis and takes the axis out of rest, the axes of each dimension without those
// before this one.
func placement(l *Layout, axis int32, rest []ir.ShardAxes) (string, error) {
	of := func(r subaxis.Ref) bool { return r.Axis == axis }
	for d, refs := range rest {
		at := slices.IndexFunc(refs, of)
		if at < 0 {
			continue
		}
		if !l.Mesh.IsFull(refs[at]) {
			return "", inexpressible(DTensor, l, "dimension %d needs the sub-axis %s", d, l.Mesh.Format(refs[at]))
		}
		factor := subaxis.Product(refs[:at])
		rest[d] = subaxis.AppendMerge(nil, slices.Delete(refs, at, at+1)...)
		if factor > 1 {
			return fmt.Sprintf("_StridedShard(%d, split_factor=%d)", d, factor), nil
		}
		return fmt.Sprintf("Shard(%d)", d), nil
	}
	at := slices.IndexFunc(l.Sharding.Unreduced, of)
	switch {
	case at < 0:
		return "Replicate()", nil
	case !l.Mesh.IsFull(l.Sharding.Unreduced[at]):
		return "", inexpressible(DTensor, l, "the unreduced axes need the sub-axis %s", l.Mesh.Format(l.Sharding.Unreduced[at]))
	}
	return "Partial(" + l.Sharding.Reduction.String() + ")", nil
}

// placements reads a list of placements in the long, the short and the printed forms of PyTorch.
func (s *scanner) placements(rank int) (l Layout) {
	l.Mesh = s.mesh
	if rank == AnyRank {
		s.failf(diag.BadShardingRank, 0, "the rank of the tensor is needed to read placements")
	}
	end := "]"
	if !s.next("[") {
		end = ")"
		s.expect("(")
	}
	p := placementParser{scanner: s, rank: int64(rank)}
	s.list(end, p.placement)
	s.end()
	if len(p.list) != len(s.mesh.Axes) || s.mesh.IsMaximal() {
		s.failf(diag.BadSharding, 0, "%d placements for a mesh with %d axes, there must be one for each",
			len(p.list), len(s.mesh.Axes))
	}
	if s.pad(&l.Sharding, rank); s.err == nil {
		p.apply(&l.Sharding)
	}
	return l
}

// placementKind says what an axis does.
type placementKind uint8

const (
	replicate placementKind = iota
	shard
	partial
)

// onePlacement is what the text says of one axis.
type onePlacement struct {
	kind      placementKind
	at        int
	dim       int64
	factor    int64 // of a strided shard, otherwise 1
	reduction ir.Reduction
}

type placementParser struct {
	*scanner
	rank int64
	list []onePlacement
}

func (p *placementParser) placement() {
	p.space()
	one := onePlacement{at: p.at, factor: 1}
	name := p.word()
	switch name[strings.LastIndexByte(name, '.')+1:] {
	case "Replicate", "R":
		if p.next("(") {
			p.expect(")")
		}
	case "Shard", "S":
		one.kind = shard
		p.shard(&one, false)
	case "_StridedShard", "StridedShard", "_S":
		one.kind = shard
		p.shard(&one, true)
	case "Partial", "P":
		one.kind = partial
		p.partial(&one)
	default:
		p.at = one.at
		p.expected("Shard, Replicate, Partial or _StridedShard")
	}
	p.list = append(p.list, one)
}

// shard reads (dim), (dim=0) and, of strided shards, the split factor: (0, split_factor=2), (dim=0, sf=2) or (0, 2).
func (p *placementParser) shard(one *onePlacement, strided bool) {
	p.expect("(")
	p.next("dim=")
	at := p.at
	negative := p.next("-")
	if one.dim = p.number(32); negative {
		one.dim = p.rank - one.dim
	}
	if one.dim < 0 || one.dim >= p.rank {
		p.failf(diag.BadShardingRank, at, "placement shards dimension %s, the tensor has %d", p.text[at:p.at], p.rank)
	}
	if strided {
		p.expect(",")
		if !p.next("split_factor=") {
			p.next("sf=")
		}
		at := p.at
		if one.factor = p.number(32); one.factor < 1 {
			p.failf(diag.BadSharding, at, "split factor is %d, must be at least 1", one.factor)
		}
	}
	p.expect(")")
}

// partial reads nothing, (), (sum), ('sum') or (reduce_op='sum').
func (p *placementParser) partial(one *onePlacement) {
	if !p.next("(") || p.next(")") {
		return
	}
	p.next("reduce_op=")
	p.space()
	at := p.at
	name := p.word()
	if name == "" {
		name = p.quoted(pythonQuotes)
	}
	var ok bool
	if one.reduction, ok = ir.ParseReduction(name); !ok {
		p.fail(diag.Unsupported(diag.NotSupported, p.pos(at), "reduction `%s` of partial values is not supported: sum, max and min are", name))
	}
	p.expect(")")
}

// apply gives each axis its place, the last axis first: an axis with split factor k comes behind the first k blocks of
// what later axes make of the dimension.
func (p *placementParser) apply(s *ir.Sharding) {
	first := true
	for i := len(p.list) - 1; i >= 0; i-- {
		one, r := &p.list[i], p.mesh.Full(i)
		switch one.kind {
		case shard:
			axes, ok := insertBehind(s.Dims[one.dim].Axes, r, one.factor)
			if !ok {
				p.fail(diag.Unsupported(diag.NotSupported, p.pos(one.at),
					"placement of axis %q: no parts of the axes that follow it cut dimension %d into %d runs, so devices hold no blocks",
					p.mesh.Axes[i].Name, one.dim, one.factor))
				return
			}
			s.Dims[one.dim].Axes = axes
		case partial:
			if !first && s.Reduction != one.reduction {
				p.fail(diag.Unsupported(diag.NotSupported, p.pos(one.at),
					"one tensor with partial values of two reductions, %s and %s, is not supported", one.reduction, s.Reduction))
				return
			}
			first = false
			s.Reduction = one.reduction
			s.Unreduced = append(ir.ShardAxes{r}, s.Unreduced...)
		}
	}
}

// insertBehind inserts r into a list behind refs whose product is factor, splitting one of them if need be.
func insertBehind(list ir.ShardAxes, r subaxis.Ref, factor int64) (ir.ShardAxes, bool) {
	for i := 0; ; i++ {
		if factor == 1 {
			return slices.Insert(slices.Clone(list), i, r), true
		}
		if i == len(list) {
			return nil, false
		}
		cut := list[i]
		if size := int64(cut.Size); factor%size == 0 {
			factor /= size
			continue
		} else if size%factor != 0 {
			return nil, false
		}
		major := subaxis.Ref{Axis: cut.Axis, Pre: cut.Pre, Size: int32(factor)}
		minor := subaxis.Ref{Axis: cut.Axis, Pre: cut.Pre * int32(factor), Size: cut.Size / int32(factor)}
		return slices.Concat(list[:i], ir.ShardAxes{major, r, minor}, list[i+1:]), true
	}
}
