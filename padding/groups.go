package padding

import (
	"slices"

	"autoshard/ir"
	"autoshard/ir/dataflow"
	"autoshard/ir/rule"
	"autoshard/localform"
	"autoshard/subaxis"
)

// dimension is one of a value. Those that have to be padded alike are a group, of which one stands for all.
type dimension struct {
	size, padded int64
	shards       int64
	to           int32 // another one of its group, itself for the one that stands for it
	rigid        bool  // some op has it as it is
	uneven       bool
}

// find returns the dimension that stands for the group of one.
func (p *padder) find(i int32) int32 {
	for p.dims[i].to != i {
		p.dims[i].to = p.dims[p.dims[i].to].to
		i = p.dims[i].to
	}
	return i
}

func (p *padder) union(i, j int32) {
	i, j = p.find(i), p.find(j)
	a, b := &p.dims[min(i, j)], &p.dims[max(i, j)]
	b.to = min(i, j)
	a.rigid, a.uneven = a.rigid || b.rigid, a.uneven || b.uneven
}

// tie finds the groups: first those of ops and of what flows through loops and branches, then those of reshards, which need not be tied.
func (p *padder) tie() {
	for i := range p.dims {
		d := &p.dims[i]
		d.uneven = d.shards > 1 && d.size%d.shards != 0
	}
	var reshards []ir.OpID
	p.eachOp(p.body, func(op ir.OpID) {
		switch k := p.m.Kind(op); {
		case k == ir.OpSdyReshard:
			reshards = append(reshards, op)
		case p.enters(op):
			p.tieFlow(op)
		default:
			p.tieOp(op)
		}
	})
	for _, op := range reshards {
		from, to := p.m.Operand(op, 0), p.m.Result(op, 0)
		for d := range p.m.Shape(to) {
			i, j := p.find(p.at(from, d)), p.find(p.at(to, d))
			stays := func(d *dimension) bool { return d.rigid && !d.uneven }
			if p.cut(p.at(from, d)) && p.cut(p.at(to, d)) && !stays(&p.dims[i]) && !stays(&p.dims[j]) {
				p.union(i, j)
			}
		}
	}
}

func (p *padder) cut(i int32) bool { return p.dims[i].shards > 1 }

// tieFlow ties what a loop or the branches of an op make one.
func (p *padder) tieFlow(op ir.OpID) {
	for _, v := range p.m.Results(op) {
		if !p.has(v) {
			continue
		}
		others := dataflow.OtherTargets(p.m, v)
		for _, use := range dataflow.Sources(p.m, v) {
			others = append(others, p.m.Operand(use.Op, use.Index))
		}
		for _, o := range others {
			for d := range p.m.Shape(v) {
				p.union(p.at(v, d), p.at(o, d))
			}
		}
	}
}

// tieOp ties the dimensions of an op that are the same factor, but where elements move along it: sizes before and after differ there,
// except those of what a select_and_scatter chooses from and of what it makes. All others that are cut stay as they are.
func (p *padder) tieOp(op ir.OpID) {
	roles := p.rolesOf(op)
	p.roles[op] = roles
	group, chooses := map[int32]int32{}, p.m.Kind(op) == ir.OpSelectAndScatter
	visit := func(values []ir.ValueID, leading [][]int32) {
		for i, v := range values {
			if !p.has(v) {
				continue
			}
			for d := range p.m.Shape(v) {
				at, f := p.at(v, d), leading[i][d]
				if f < 0 {
					root := p.find(at)
					p.dims[root].rigid = p.dims[root].rigid || p.cut(at)
				} else if roles.moves(f) && !(chooses && i == 0) {
					continue
				} else if of, ok := group[f]; ok {
					p.union(of, at)
				} else {
					group[f] = at
					p.keepParts(at, roles.parts(f))
				}
			}
		}
	}
	visit(p.m.Operands(op), roles.operands)
	visit(p.m.ResultValues(op), roles.results)
}

// roles says how an op has the dimensions of its tensors: by the factor that pads them, -1 where the op has them unpadded.
type roles struct {
	rule              *ir.Rule
	runs              bool // it folds all elements up to one
	moving            bool // elements move along factors that do not pass through
	reduction         ir.Reduction
	operands, results [][]int32
}

// keepParts says that a dimension, which consists of so many equal parts, is padded by such parts, as the groups of a convolution are: it
// is tied to a dimension of as many elements.
func (p *padder) keepParts(at int32, parts int64) {
	if d := p.dims[at]; parts != 0 && parts != d.size {
		i := int32(len(p.dims))
		p.dims = append(p.dims, dimension{size: parts, shards: d.shards, to: i, uneven: d.shards > 1 && parts%d.shards != 0})
		p.union(at, i)
	}
}

// parts returns how many elements a factor has, 0 where the op has no rule.
func (r *roles) parts(f int32) int64 {
	if r.rule == nil {
		return 0
	}
	return r.rule.Sizes[f]
}

// moves says whether elements move along a factor.
func (r *roles) moves(f int32) bool {
	return r.moving && (slices.Contains(r.rule.Permutation, f) || slices.Contains(r.rule.NeedReplication, f))
}

func (p *padder) rolesOf(op ir.OpID) *roles {
	m := p.m
	free := m.Kind(op) == ir.OpConstant || m.Kind(op) == ir.OpSdyConstant || m.Kind(op) == ir.OpIota
	out := &roles{}
	var paddable []bool
	if out.rule = rule.Computing(m, op); out.rule != nil {
		paddable = p.paddable(op, out.rule)
		_, out.reduction = rule.Shardable(m, op, out.rule)
		_, out.runs = localform.Running(m, op, m.Shape)
		out.moving = !out.runs && len(localform.Dims(m, op, m.Shape)) > 0
	}
	leading := func(v ir.ValueID, mapping func() [][]int32) []int32 {
		list := make([]int32, len(m.Shape(v)))
		for d := range list {
			list[d] = -1
			if free {
				list[d] = int32(d)
			} else if out.rule != nil {
				if f, ok := rule.Leading(out.rule, mapping()[d]); ok && paddable[f] {
					list[d] = f
				}
			}
		}
		return list
	}
	for i := range m.NumOperands(op) {
		out.operands = append(out.operands, leading(m.Operand(op, i), func() [][]int32 { return out.rule.Operands[i] }))
	}
	for i, v := range m.Results(op) {
		out.results = append(out.results, leading(v, func() [][]int32 { return out.rule.Results[i] }))
	}
	return out
}

// paddable returns which factors of an op may be padded: those that [rule.Paddable] says, unless a dimension is cut along a minor
// factor, too. The first one is cut to single elements then, and stays so.
func (p *padder) paddable(op ir.OpID, r *ir.Rule) []bool {
	out := rule.Paddable(p.m, op, r)
	cut := map[int32][]subaxis.Ref{}
	visit := func(values []ir.ValueID, mapping [][][]int32) {
		for i, v := range values {
			for d, dim := range mapping[i] {
				f, ok := rule.Leading(r, dim)
				if !ok || !p.has(v) {
					continue
				}
				axes := p.axes(v, d)
				if before, ok := cut[f]; ok && !slices.Equal(before, axes) {
					out[f] = false
				}
				cut[f] = axes
			}
		}
	}
	visit(p.m.Operands(op), r.Operands)
	visit(p.m.ResultValues(op), r.Results)
	return out
}

// size finds the least sizes, in the proportions that the dimensions of a group have, that all of their axes divide.
func (p *padder) size() {
	unit, multiple := make([]int64, len(p.dims)), slices.Repeat([]int64{1}, len(p.dims))
	for i := range p.dims {
		root := p.find(int32(i))
		unit[root] = subaxis.GCD(unit[root], p.dims[i].size)
	}
	for i := range p.dims {
		if root := p.find(int32(i)); unit[root] > 0 {
			d := &p.dims[i]
			need := d.shards / subaxis.GCD(d.shards, d.size/unit[root])
			multiple[root] = multiple[root] / subaxis.GCD(multiple[root], need) * need
		}
	}
	for i := range p.dims {
		d, root := &p.dims[i], p.find(int32(i))
		if d.padded = d.size; unit[root] > 0 && p.dims[root].uneven {
			n := (unit[root] + multiple[root] - 1) / multiple[root] * multiple[root]
			d.padded = d.size / unit[root] * n
		}
	}
}

// padded returns the shape that a value has after padding. With an op that has some dimensions as they are, it is what the op has.
func (p *padder) padded(v ir.ValueID, leading []int32) []int64 {
	out := slices.Clone(p.m.Shape(v))
	if p.has(v) {
		for d := range out {
			if out[d] = p.dims[p.at(v, d)].padded; leading != nil && leading[d] < 0 {
				out[d] = p.dims[p.at(v, d)].size
			}
		}
	}
	return out
}
