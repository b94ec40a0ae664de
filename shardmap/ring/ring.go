// Package ring turns matrix products that wait for a collective into collective matmuls: the product is cut into
// chunks that are multiplied while others travel round the ring of the devices along some axes, one ppermute a step.
//
//	%1 = shard_map.all_gather_invariant {axes = {"x"}, dim = 0} %x : (tensor<4x8xf32>) -> tensor<8x8xf32>
//	%2 = stablehlo.dot_general %1, %w, contracting_dims = [1] x [0] : (...) -> tensor<8x16xf32>
//
// becomes, where k is the device's axis_index along "x" and x=2,
//
//	next = ppermute x from place j to place j-1
//	y    = dynamic_update_slice zeros, x @ w at row 4k
//	y    = dynamic_update_slice y, next @ w at row 4((k+1) mod 2)
//
// There are four forms: the gathered dimension may survive in the result, as here, or be contracted, and then the
// partial products are added up; it may be a batch dimension; and a product whose result is reduced and scattered
// sends partial sums round instead. In each, whole chunks walk one way, or half of each chunk walks either way.
// The collective to replace is marked by the attribute [Attr]. Gathers of dimensions that survive give the same bits;
// sums are added in another order.
//
// Specification: cost.md section 3.5, shardmap.md section 5 (G9, G10, G11).
package ring

import (
	"slices"

	"autoshard/collectives"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/shardmap"
)

// Attr is the attribute of a collective that asks for a ring in its place; its value is that of a Way. Package
// shardmap hands it on from the op of the partitioned program to the one beside the product.
const Attr = shardmap.RingAttr

// Forget removes the attribute from the ops of a module.
func Forget(m *ir.Module) {
	for _, op := range m.OpsWhere(m.Body(), ir.Kind.Communicates) {
		m.SetAttrs(op, m.OpAttrs(op).Without(Attr))
	}
}

// Way says how chunks walk round a ring.
type Way uint8

// The ways.
const (
	OneWay   Way = iota // whole chunks, from each device to the one before it
	BothWays            // the first half of each chunk to the device after, the second to the one before
)

var wayNames = [...]string{"unidirectional", "bidirectional"}

// String returns the value of the attribute.
func (w Way) String() string { return wayNames[w] }

// MostSteps bounds the rings: every step is written out.
const MostSteps = 64

// Candidate is a product and a collective beside it that can run as a ring: only products use what is gathered, each of
// which gathers it in a ring of its own then, or the reduction is the only user of the product.
type Candidate struct {
	Collective int          // index in the program's list
	Product    ir.OpID      // the dot_general
	Steps      int64        // devices along the axes, chunks of the product
	Extent     int64        // of a chunk along the dimension that is gathered or scattered
	op         ir.OpID      // the collective
	scatter    bool         // a reduce-scatter of the result, else an all-gather of an operand
	operand    int          // the gathered operand
	dims       [3]int       // the dimension that is cut into chunks in the operands and the result, -1 where there is none
	axes       *ir.AxesAttr // of the collective
}

// Allows says whether the chunks can walk that way: halves need an even extent, and more than two devices, so that the two
// neighbours differ.
func (c *Candidate) Allows(w Way) bool { return w == OneWay || c.Steps > 2 && c.Extent%2 == 0 }

// Find returns the candidates of a program in the order of its collectives; those of one collective stand together and become
// rings together. Collectives that the user wrote are none.
func Find(p *shardmap.Program) []Candidate {
	var out []Candidate
	for i := range p.Collectives {
		for _, c := range candidates(p.Module, &p.Collectives[i]) {
			c.Collective = i
			out = append(out, c)
		}
	}
	return out
}

// candidates returns those of a collective.
func candidates(m *ir.Module, x *shardmap.Collective) []Candidate {
	if x.From == 0 || x.Size < 2 || x.Size > MostSteps {
		return nil
	}
	var out []Candidate
	switch c := (Candidate{op: x.Op, Steps: x.Size}); x.Kind {
	case collectives.AllGather:
		out = c.gathers(m)
	case collectives.ReduceScatter:
		if c.scatters(m) {
			out = []Candidate{c}
		}
	}
	for i := range out {
		if c := &out[i]; !c.complete(m) {
			return nil
		}
	}
	return out
}

// complete checks what all candidates need.
func (c *Candidate) complete(m *ir.Module) bool {
	c.axes = m.Attr(c.op, "axes").(*ir.AxesAttr)
	for v := range slices.Values([]ir.ValueID{m.Operand(c.Product, 0), m.Operand(c.Product, 1), m.Result(c.Product, 0)}) {
		if !m.ValueType(v).IsStatic() {
			return false
		}
	}
	return c.Extent > 0 && m.OpBlock(c.Product) == m.OpBlock(c.op)
}

// gathers returns a candidate for every product that uses what the collective gathers; none if something else does, too.
func (c Candidate) gathers(m *ir.Module) []Candidate {
	var out []Candidate
	d := int(m.OpAttrs(c.op).Int("dim", 0))
	for u := range m.Uses(m.Result(c.op, 0)) {
		again := func(o Candidate) bool { return o.Product == u.Op }
		if m.Kind(u.Op) != ir.OpDotGeneral || slices.ContainsFunc(out, again) {
			return nil
		}
		c.Product, c.operand, c.dims = u.Op, u.Index, alongOperand(m, u.Op, u.Index, d)
		c.Extent = m.Shape(m.Operand(c.op, 0))[d]
		out = append(out, c)
	}
	return out
}

// scatters says whether the collective adds up and scatters what a product makes for nothing else.
func (c *Candidate) scatters(m *ir.Module) bool {
	v := m.Operand(c.op, 0)
	c.scatter, c.Product = true, m.DefiningOp(v)
	if c.Product == 0 || m.Kind(c.Product) != ir.OpDotGeneral || !m.HasOneUse(v) ||
		m.Attr(c.op, "kind") != nil || m.ValueType(v).DType == dtype.I1 {
		return false
	}
	d := int(m.OpAttrs(c.op).Int("dim", 0))
	c.dims = alongResult(m, c.Product, d)
	c.Extent = m.Shape(m.Result(c.op, 0))[d]
	return true
}

// alongOperand returns where the dimension d of an operand of a product is in both operands and in the result.
func alongOperand(m *ir.Module, product ir.OpID, operand, d int) [3]int {
	n := m.Attr(product, "dot_dimension_numbers").(*ir.DotDims)
	batch, contract := [2][]int64{n.LhsBatch, n.RhsBatch}, [2][]int64{n.LhsContract, n.RhsContract}
	dims := [3]int{-1, -1, -1}
	dims[operand] = d
	if i := slices.Index(batch[operand], int64(d)); i >= 0 {
		dims[1-operand], dims[2] = int(batch[1-operand][i]), i
		return dims
	}
	if i := slices.Index(contract[operand], int64(d)); i >= 0 {
		dims[1-operand] = int(contract[1-operand][i])
		return dims
	}
	dims[2] = slices.Index(resultDims(m, product, operand), d)
	return dims
}

// alongResult returns the same for the dimension d of the result.
func alongResult(m *ir.Module, product ir.OpID, d int) [3]int {
	for operand := range 2 {
		if at := resultDims(m, product, operand)[d]; at >= 0 {
			return alongOperand(m, product, operand, at)
		}
	}
	panic("ring: a product has a dimension of neither operand")
}

// resultDims returns for each dimension of a product's result the dimension of an operand that it is, -1 for none:
// batch dimensions come first, then what is left of the left and of the right operand.
func resultDims(m *ir.Module, product ir.OpID, operand int) []int {
	n := m.Attr(product, "dot_dimension_numbers").(*ir.DotDims)
	batch, contract := [2][]int64{n.LhsBatch, n.RhsBatch}, [2][]int64{n.LhsContract, n.RhsContract}
	out := lists.Map(batch[operand], func(d int64) int { return int(d) })
	for side := range 2 {
		for d := range m.Shape(m.Operand(product, side)) {
			switch {
			case slices.Contains(batch[side], int64(d)) || slices.Contains(contract[side], int64(d)):
			case side == operand:
				out = append(out, d)
			default:
				out = append(out, -1)
			}
		}
	}
	return out
}
