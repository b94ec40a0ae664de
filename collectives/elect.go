package collectives

import (
	"cmp"
	"slices"

	"autoshard/ir"
	"autoshard/ir/dataflow"
	"autoshard/ir/rule"
	"autoshard/localform"
	"autoshard/subaxis"
)

// election chooses the factors of one op from the wishes of its tensors.
type election struct {
	m         *ir.Module
	op        ir.OpID
	rule      *ir.Rule
	parts     []int64
	padded    []bool // factors that axes may cut that do not divide them; nil until the first is asked for
	reduction ir.Reduction
	votes     []vote // those for more bytes first
	displaced []vote // that axes go along with those of another factor, as theirs has to be whole
}

// vote is the wish of one tensor to have a factor cut by some axes.
type vote struct {
	factor int
	axes   []subaxis.Ref
	bytes  int64
}

func newElection(m *ir.Module, op ir.OpID, r *ir.Rule) *election {
	e := &election{m: m, op: op, rule: r}
	e.parts, e.reduction = rule.Shardable(m, op, r)
	for i, mapping := range r.Operands {
		if v := m.Operand(op, i); !isMade(m, v) {
			e.collect(v, mapping)
		}
	}
	for i, mapping := range r.Results {
		e.collect(m.Result(op, i), mapping)
	}
	slices.SortStableFunc(e.votes, func(a, b vote) int { return cmp.Compare(b.bytes, a.bytes) })
	return e
}

// factors returns the outcome of the election: what most of the bytes want, unless less is sent where another wish comes first.
func (e *election) factors() Factors {
	best := e.outcome(e.votes)
	// They need not, where they have the tensor whole.
	searches := slices.Contains([]ir.Kind{ir.OpDynamicSlice, ir.OpGather, ir.OpSort}, e.m.Kind(e.op))
	if e.unanimous(best) && len(e.displaced) == 0 && !searches {
		return best
	}
	least := e.sent(best)
	try := func(votes ...vote) {
		other := e.outcome(votes)
		if sent := e.sent(other); sent < least {
			best, least = other, sent
		}
	}
	for i, v := range e.votes {
		try(slices.Concat([]vote{v}, e.votes)...)
		if searches && (e.reduces(v.factor) || e.sorts(v.factor)) {
			try(slices.Delete(slices.Clone(e.votes), i, i+1)...)
		}
	}
	for _, v := range e.displaced {
		try(slices.Concat([]vote{v}, e.votes)...)
	}
	return best
}

// reduces says whether results are partial where a factor is cut.
func (e *election) reduces(factor int) bool { return slices.Contains(e.rule.Reduction, int32(factor)) }

// sorts says whether devices sort along a factor by exchanging all that they have.
func (e *election) sorts(factor int) bool {
	return e.m.Kind(e.op) == ir.OpSort && slices.Contains(e.rule.Permutation, int32(factor))
}

// collect adds the wishes of one tensor, joining equal ones.
func (e *election) collect(v ir.ValueID, mapping [][]int32) {
	id := e.sharding(v)
	if id == 0 {
		return
	}
	s, bytes := e.m.ShardingOf(id), e.m.ValueType(v).Bytes()
	for d, dim := range mapping {
		for i, axes := range splitAxes(s.Dims[d].Axes, dim, e.rule.Sizes, e.m.Shape(v)[d]) {
			f := int(dim[i])
			switch {
			case len(axes) == 0:
			case e.parts[f] > 1 || e.pads(f):
				e.votes = addVote(e.votes, vote{f, axes, bytes})
				if e.sorts(f) {
					e.displace(s, mapping, axes)
				}
			default:
				e.displace(s, mapping, axes)
			}
		}
	}
}

// pads says whether axes may cut a factor that do not divide it.
func (e *election) pads(factor int) bool {
	if e.padded == nil {
		e.padded = rule.Paddable(e.m, e.op, e.rule)
	}
	return e.padded[factor]
}

// displace wishes that axes go along with those of another dimension, whichever that is.
func (e *election) displace(s *ir.Sharding, mapping [][]int32, axes []subaxis.Ref) {
	for d, dim := range mapping {
		if f := int(dim[0]); len(dim) == 1 && e.parts[f] > 1 && !e.reduces(f) && !e.sorts(f) {
			all := subaxis.AppendMerge(slices.Clone(s.Dims[d].Axes), axes...)
			e.displaced = addVote(e.displaced, vote{f, subaxis.Dividing(all, e.parts[f]), 0})
		}
	}
}

func addVote(votes []vote, v vote) []vote {
	for i := range votes {
		if o := &votes[i]; o.factor == v.factor && subaxis.PrefixStatus(o.axes, v.axes) == subaxis.EqualLists {
			o.bytes += v.bytes
			return votes
		}
	}
	return append(votes, v)
}

// sharding returns how a value lies, 0 where that is not known; the arguments of a loop's regions lie as its results do.
func (e *election) sharding(v ir.ValueID) ir.ShardingID {
	if !isTensor(e.m, v) {
		return 0
	}
	return dataflow.ShardingOf(e.m, v)
}

// outcome returns the factors that votes make, one after the other.
func (e *election) outcome(votes []vote) Factors {
	factors := make(Factors, len(e.rule.Sizes))
	for _, v := range votes {
		e.elect(factors, v)
	}
	return factors
}

// elect gives a factor the axes of a vote as far as no other factor has them and every tensor can be cut so.
func (e *election) elect(factors Factors, v vote) {
	if len(factors[v.factor]) > 0 {
		return
	}
	for _, taken := range factors {
		v.axes = subaxis.TruncateOverlap(v.axes, taken)
	}
	if e.parts[v.factor]%subaxis.Product(v.axes) != 0 && !e.pads(v.factor) {
		v.axes = subaxis.Dividing(v.axes, e.parts[v.factor])
	}
	factors[v.factor] = v.axes
	if _, _, ok := Project(e.rule, factors, e.reduction); !ok || !factors.near(e.m, e.op, e.rule) {
		factors[v.factor] = nil
	}
}

// near says whether an op that is cut so has what it needs of other blocks nearby.
func (f Factors) near(m *ir.Module, op ir.OpID, r *ir.Rule) bool {
	return rule.Near(m, op, r, func(factor int32) []subaxis.Ref { return f[factor] })
}

// unanimous says whether factors are what every vote wants.
func (e *election) unanimous(f Factors) bool {
	return !slices.ContainsFunc(e.votes, func(v vote) bool { return !slices.Equal(f[v.factor], v.axes) })
}

// sent returns how many bytes a device sends around the op, which is cut by factors: to bring it its operands, and its results to where
// their values lie, and to sort. What a loop carries round unchanged is brought once.
func (e *election) sent(f Factors) float64 {
	operands, results, _ := Project(e.rule, f, e.reduction)
	total := e.sorting(f)
	for i, v := range e.m.Operands(e.op) {
		if id := e.sharding(v); id != 0 && !isMade(e.m, v) {
			total += leastSent(LayoutOf(e.m.ShardingOf(id)), operands[i], e.m.ValueType(v).Bytes()) / float64(repeats(e.m, v))
		}
	}
	for i, v := range e.m.ResultValues(e.op) {
		if id := e.sharding(v); id != 0 {
			total += leastSent(results[i], LayoutOf(e.m.ShardingOf(id)), e.m.ValueType(v).Bytes())
		}
	}
	return total
}

// sorting returns how many bytes a device sends at most while it sorts along a dimension that is cut.
func (e *election) sorting(f Factors) float64 {
	if e.m.Kind(e.op) != ir.OpSort {
		return 0
	}
	s := localform.Sorted(e.m, e.op, localform.Counts(e.m))
	axes := f[e.rule.Operands[0][s.Dim][0]]
	row, shape := 0, e.m.Shape(e.m.Operand(e.op, 0))
	for _, v := range e.m.Operands(e.op) {
		row += e.m.ValueType(v).DType.Bytes()
	}
	if !s.Total && s.Index < 0 {
		row += localform.NumberType(shape[s.Dim]).Bytes()
	}
	block := float64(e.m.ValueType(e.m.Operand(e.op, 0)).Elements()) / float64(subaxis.Product(slices.Concat(f...)))
	return block * float64(row*len(localform.Network(subaxis.Product(axes))))
}

// leastSent returns how many bytes a device sends at least for a tensor to go from one layout to another, permutations left out: it slices
// what it has, reduces it, moves axes to other dimensions and gathers what is left.
func leastSent(from, to Layout, bytes int64) float64 {
	before, after := slices.Concat(from.Dims...), slices.Concat(to.Dims...)
	n := func(axes []subaxis.Ref) float64 { return float64(subaxis.Product(axes)) }
	reduced := n(subaxis.Difference(from.Unreduced, after))
	scattered := n(from.Unreduced) / reduced
	moved := 1.0
	for d, axes := range from.Dims {
		left := subaxis.Difference(axes, to.Dims[d])
		moved *= n(left) / n(subaxis.Difference(left, after))
	}
	gathered := n(subaxis.Difference(before, after))
	block := float64(bytes) / n(before) / n(subaxis.Difference(subaxis.Difference(after, before), from.Unreduced))
	total := block * (1 - 1/scattered)
	block /= scattered
	return total + block*(2-2/reduced) + block*(1-1/moved) + block*(gathered-1)
}
