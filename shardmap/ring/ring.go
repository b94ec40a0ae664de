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
// Products that read one gather are one ring, each in its form: a chunk is sent once, and all of them multiply it meanwhile.
// Those that need another one's result come later, in a ring that gathers again.
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

// Sends returns the permutations of n devices that send side by side in a step: of chunks, or of their halves.
func (w Way) Sends(n int64) [][][2]int64 {
	if w == OneWay {
		return [][][2]int64{shifted(n, -1)}
	}
	return [][][2]int64{shifted(n, 1), shifted(n, -1)}
}

// shifted returns the permutation from every place j to place j+by.
func shifted(n, by int64) [][2]int64 {
	perm := make([][2]int64, n)
	for j := range n {
		perm[j] = [2]int64{j, (j + by + n) % n}
	}
	return perm
}

// MostSteps bounds the rings: every step is written out.
const MostSteps = 64

// Candidate is a collective with products beside it that can run as a ring: products that need none of each other and read what
// is gathered, which nothing but products reads, or the product whose result is reduced for nothing else.
type Candidate struct {
	Collective int          // index in the program's list
	Steps      int64        // devices along the axes, chunks of the products
	Extent     int64        // of a chunk along the dimension that is gathered or scattered
	op         ir.OpID      // the collective
	scatter    bool         // a reduce-scatter of the result, else an all-gather of an operand
	forms      []form       // of the products
	off        []ir.OpID    // what stands before the last product and needs an earlier one, in order
	axes       *ir.AxesAttr // of the collective
}

// form is how a product is cut into chunks.
type form struct {
	product ir.OpID
	operand int    // the gathered one
	dims    [3]int // the dimension that is cut in the operands and the result, -1 where there is none
}

// Allows says whether the chunks can walk that way: halves need an even extent, and more than two devices, so that the two
// neighbours differ.
func (c *Candidate) Allows(w Way) bool { return w == OneWay || c.Steps > 2 && c.Extent%2 == 0 }

// Products returns the dot_generals of a candidate in the order of the program.
func (c *Candidate) Products() []ir.OpID {
	return lists.Map(c.forms, func(f form) ir.OpID { return f.product })
}

// Products returns those of some candidates.
func Products(candidates []Candidate) []ir.OpID {
	return slices.Concat(lists.Map(candidates, func(c Candidate) []ir.OpID { return c.Products() })...)
}

// last returns the product beside which the ring stands.
func (c *Candidate) last() ir.OpID { return c.forms[len(c.forms)-1].product }

// Find returns the candidates of a program in the order of its collectives; those of one collective stand together and become
// rings together. Collectives that the user wrote are none.
func Find(p *shardmap.Program) []Candidate {
	var out []Candidate
	for i := range p.Collectives {
		out = append(out, candidates(p, i, nil)...)
	}
	return out
}

// candidates returns those of a collective of a program in which some ops are those of rings.
func candidates(p *shardmap.Program, i int, rings map[ir.OpID]bool) []Candidate {
	m, x := p.Module, &p.Collectives[i]
	if x.From == 0 || x.Size < 2 || x.Size > MostSteps {
		return nil
	}
	c := Candidate{Collective: i, op: x.Op, Steps: x.Size}
	switch x.Kind {
	case collectives.AllGather:
		c.gathers(m)
	case collectives.ReduceScatter:
		c.scatters(m)
	}
	if len(c.forms) == 0 || !c.complete(m) {
		return nil
	}
	return c.apart(m, rings)
}

// complete checks what all candidates need.
func (c *Candidate) complete(m *ir.Module) bool {
	c.axes = m.Attr(c.op, "axes").(*ir.AxesAttr)
	for _, f := range c.forms {
		for v := range slices.Values([]ir.ValueID{m.Operand(f.product, 0), m.Operand(f.product, 1), m.Result(f.product, 0)}) {
			if !m.ValueType(v).IsStatic() {
				return false
			}
		}
		if m.OpBlock(f.product) != m.OpBlock(c.op) {
			return false
		}
	}
	return c.Extent > 0
}

// gathers finds the products that use what the collective gathers; none if something else does, too.
func (c *Candidate) gathers(m *ir.Module) {
	d := int(m.OpAttrs(c.op).Int("dim", 0))
	c.Extent = m.Shape(m.Operand(c.op, 0))[d]
	for u := range m.Uses(m.Result(c.op, 0)) {
		again := func(f form) bool { return f.product == u.Op }
		if m.Kind(u.Op) != ir.OpDotGeneral || slices.ContainsFunc(c.forms, again) {
			c.forms = nil
			return
		}
		c.forms = append(c.forms, form{u.Op, u.Index, alongOperand(m, u.Op, u.Index, d)})
	}
}

// scatters finds the product whose result the collective adds up and scatters, if nothing else uses that.
func (c *Candidate) scatters(m *ir.Module) {
	v := m.Operand(c.op, 0)
	product := m.DefiningOp(v)
	if product == 0 || m.Kind(product) != ir.OpDotGeneral || !m.HasOneUse(v) ||
		m.Attr(c.op, "kind") != nil || m.ValueType(v).DType == dtype.I1 {
		return
	}
	d := int(m.OpAttrs(c.op).Int("dim", 0))
	c.scatter, c.forms = true, []form{{product: product, dims: alongResult(m, product, d)}}
	c.Extent = m.Shape(m.Result(c.op, 0))[d]
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
