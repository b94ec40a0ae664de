package cost

import (
	"math"

	"autoshard/collectives"
	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir/dtype"
	"autoshard/subaxis"
)

// Side is where a set of mesh axes lies in an operand or in the result of a matrix product C[I,K] = A[I,J] B[J,K].
type Side uint8

// The sides. A has I and J, B has J and K, C has I and K; all may share batch dimensions.
const (
	Nowhere Side = iota
	OnI
	OnJ
	OnK
	OnBatch
	Unreduced // of C alone: every device holds a partial sum
)

var sideNames = [...]string{"-", "I", "J", "K", "batch", "unreduced"}

// String returns the dimension's name.
func (s Side) String() string { return sideNames[s] }

// Matmul is a matrix product, with batch dimensions, as the groups along one set of mesh axes see it: extents have all
// other mesh axes divided out, that set not. Sizes are bytes an element as it is stored and sent.
type Matmul struct {
	Batch, I, J, K      int64
	SizeA, SizeB, SizeC int64
	DType               dtype.Type // of the multiplication
}

// FLOPs returns the operations of the product: two for every combination of its dimensions (specification: cost.md
// section 3).
func (m *Matmul) FLOPs() float64 { return EinsumFLOPs(true, m.batch(), m.I, m.J, m.K) }

// BytesA returns the bytes of A; BytesB and BytesC those of B and C.
func (m *Matmul) BytesA() int64 {
	return collectives.Times(m.batch(), collectives.Times(m.SizeA, collectives.Times(m.I, m.J)))
}

// BytesB returns the bytes of B.
func (m *Matmul) BytesB() int64 {
	return collectives.Times(m.batch(), collectives.Times(m.SizeB, collectives.Times(m.J, m.K)))
}

// BytesC returns the bytes of C.
func (m *Matmul) BytesC() int64 {
	return collectives.Times(m.batch(), collectives.Times(m.SizeC, collectives.Times(m.I, m.K)))
}

func (m *Matmul) batch() int64 { return max(1, m.Batch) }

// EinsumFLOPs returns the operations of a contraction over the given extents of its distinct dimensions: their
// product, twice that where something is contracted.
func EinsumFLOPs(contracts bool, extents ...int64) float64 {
	flops := 1.0
	if contracts {
		flops = 2
	}
	for _, n := range extents {
		flops *= float64(n)
	}
	return flops
}

// local returns the product of one device's blocks, cut n ways on one dimension. Blocks are rounded up.
func (m Matmul) local(n int64, on Side) Matmul {
	switch on {
	case OnI:
		m.I = ceilDiv(m.I, n)
	case OnJ:
		m.J = ceilDiv(m.J, n)
	case OnK:
		m.K = ceilDiv(m.K, n)
	case OnBatch:
		m.Batch = ceilDiv(m.batch(), n)
	}
	return m
}

// LocalMatmul returns the roofline of a product on one chip, its dimensions padded to the chip's tile where the options
// say so (specification: cost.md section 3).
func (h *Hardware) LocalMatmul(m Matmul, o Options) Roofline {
	padded := m
	if tile := h.Tile; o.Padded && tile > 1 {
		padded.I, padded.J, padded.K = pad(m.I, tile), pad(m.J, tile), pad(m.K, tile)
	}
	bytes := float64(m.BytesA()) + float64(m.BytesB()) + float64(m.BytesC())
	return h.Op(Work{FLOPs: padded.FLOPs(), Bytes: bytes, DType: m.DType, Matrix: true}, o)
}

func pad(n, tile int64) int64 { return ceilDiv(n, tile) * tile }

// ProductSide returns where the axes lie in the product of blocks, for the sides of A and B. It fails with
// diag.ErrInvalid where the blocks have no product: C would use the axes twice and hold only its diagonal blocks, or
// the blocks do not meet.
func ProductSide(a, b Side) (Side, error) {
	switch [2]Side{a, b} {
	case [2]Side{Nowhere, Nowhere}:
		return Nowhere, nil
	case [2]Side{OnI, Nowhere}:
		return OnI, nil
	case [2]Side{Nowhere, OnK}:
		return OnK, nil
	case [2]Side{OnJ, OnJ}:
		return Unreduced, nil
	case [2]Side{OnBatch, OnBatch}:
		return OnBatch, nil
	case [2]Side{OnI, OnK}:
		return Nowhere, diag.Invalid(diag.BadSharding, diag.Position{}, "the result would be cut twice by one axis, gather one operand first")
	}
	return Nowhere, diag.Invalid(diag.BadSharding, diag.Position{}, "blocks of operands cut on %v and %v have no product", a, b)
}

// Move is one communication of a matmul option.
type Move struct {
	Operand byte // 'A', 'B' or 'C'
	Kind    collectives.Kind
	V       int64
	Cost    Cost
}

// MatmulOption is one way to compute a sharded product.
type MatmulOption struct {
	Name   string // as in cost.md section 3.2, such as "2a"
	A, B   Side   // where the axes cut the operands of the local product
	Result Side
	Moves  []Move // that send something, in order
	FLOPs  float64
	Local  Roofline
	Net    float64 // seconds of the moves
	Lower  float64 // seconds if everything overlaps
	Upper  float64 // seconds if nothing does: local product, then moves
}

// Seconds returns the option's time with compute and communication combined as asked.
func (o MatmulOption) Seconds(overlap Combine) float64 { return overlap.Of(o.Local.Seconds, o.Net) }

// recipe is a way to compute a product: the sides of the local product, and that of the result afterwards.
type recipe struct {
	name   string
	a, b   Side
	result Side
}

// recipes is the decision table of cost.md sections 3.1 and 3.2 for the axes on given sides of A and B.
// The move of every operand follows from its side before and in the local product.
var recipes = map[[2]Side][]recipe{
	{Nowhere, Nowhere}: {{"1", Nowhere, Nowhere, Nowhere}},
	{OnI, Nowhere}:     {{"1", OnI, Nowhere, OnI}, {"1 gather C", OnI, Nowhere, Nowhere}, {"1 gather A", Nowhere, Nowhere, Nowhere}},
	{Nowhere, OnK}:     {{"1", Nowhere, OnK, OnK}, {"1 gather C", Nowhere, OnK, Nowhere}, {"1 gather B", Nowhere, Nowhere, Nowhere}},
	{OnJ, Nowhere}: {
		{"2a", Nowhere, Nowhere, Nowhere}, {"2a'", Nowhere, OnK, OnK}, {"2b", OnJ, OnJ, Nowhere},
		{"2b'", OnJ, OnJ, OnI}, {"2b'", OnJ, OnJ, OnK}, {"2c", OnI, Nowhere, OnI},
	},
	{Nowhere, OnJ}: {
		{"2a", Nowhere, Nowhere, Nowhere}, {"2a'", OnI, Nowhere, OnI}, {"2b", OnJ, OnJ, Nowhere},
		{"2b'", OnJ, OnJ, OnI}, {"2b'", OnJ, OnJ, OnK}, {"2c", Nowhere, OnK, OnK},
	},
	{OnJ, OnJ}: {
		{"3a", OnJ, OnJ, Nowhere}, {"3b", OnJ, OnJ, OnI}, {"3b", OnJ, OnJ, OnK}, {"3c", OnJ, OnJ, Unreduced},
	},
	{OnI, OnK}: {
		{"4a", Nowhere, OnK, OnK}, {"4b", OnI, Nowhere, OnI}, {"4c", OnJ, OnJ, OnI}, {"4c", OnJ, OnJ, OnK},
	},
	{OnI, OnJ}:         {{"fsdp gather B", OnI, Nowhere, OnI}, {"fsdp exchange A", OnJ, OnJ, OnI}},
	{OnJ, OnK}:         {{"megatron gather A", Nowhere, OnK, OnK}, {"megatron exchange B", OnJ, OnJ, OnK}},
	{OnBatch, OnBatch}: {{"batch", OnBatch, OnBatch, OnBatch}},
	{OnBatch, Nowhere}: {{"batch slice B", OnBatch, OnBatch, OnBatch}},
	{Nowhere, OnBatch}: {{"batch slice A", OnBatch, OnBatch, OnBatch}},
}

// MatmulOptions returns the ways to compute a product whose operands a set of axes cuts on the given sides, in the
// order of cost.md section 3.2. It fails with diag.ErrInvalid where an operand has no such side or the table no row:
// then one operand must be gathered first.
func (t *Topology) MatmulOptions(m Matmul, axes []subaxis.Ref, a, b Side) ([]MatmulOption, error) {
	rows, ok := recipes[[2]Side{a, b}]
	if !ok {
		return nil, diag.Invalid(diag.BadSharding, diag.Position{},
			"no way to multiply operands cut on %v and %v by the same axes, gather one first", a, b)
	}
	return lists.Map(rows, func(r recipe) MatmulOption { return t.matmulOption(m, axes, a, b, r) }), nil
}

func (t *Topology) matmulOption(m Matmul, axes []subaxis.Ref, a, b Side, r recipe) MatmulOption {
	n := subaxis.Product(axes)
	o := MatmulOption{Name: r.name, A: r.a, B: r.b, Result: r.result}
	product, err := ProductSide(r.a, r.b)
	if err != nil {
		panic(err) // the table has only local products that exist
	}
	t.move(&o, axes, 'A', m.BytesA(), a, r.a)
	t.move(&o, axes, 'B', m.BytesB(), b, r.b)
	t.move(&o, axes, 'C', m.BytesC(), product, r.result)
	on := r.a
	if on == Nowhere {
		on = r.b
	}
	local := m.local(n, on)
	o.FLOPs = local.FLOPs()
	o.Local = t.hw.LocalMatmul(local, t.options)
	for _, move := range o.Moves {
		o.Net += move.Cost.Seconds
	}
	o.Lower, o.Upper = Largest.Of(o.Local.Seconds, o.Net), Sum.Of(o.Local.Seconds, o.Net)
	return o
}

// move adds the communication that takes an operand or the result from one side to another. Every V of cost.md section
// 3.2 is the bytes with the axes not divided out, also that of an exchange.
func (t *Topology) move(o *MatmulOption, axes []subaxis.Ref, operand byte, v int64, from, to Side) {
	var kind collectives.Kind
	switch {
	case from == to || from == Nowhere:
		return // nothing to do, or each device keeps a part of what it has
	case from == Unreduced && to == Nowhere:
		kind = collectives.AllReduce
	case from == Unreduced:
		kind = collectives.ReduceScatter
	case to == Nowhere:
		kind = collectives.AllGather
	default:
		kind = collectives.AllToAll
	}
	o.Moves = append(o.Moves, Move{operand, kind, v, t.Collective(kind, axes, v)})
}

// Fastest returns the index of the option that takes the least time among those whose result lies on a side, -1 if
// there is none. Times within 1e-12 of each other are equal, and the first option wins. A command
// that lists the options of a product will mark it.
func Fastest(options []MatmulOption, result Side, overlap Combine) int {
	best, least := -1, math.Inf(1)
	for i := range options {
		if s := options[i].Seconds(overlap); options[i].Result == result && s < least*(1-1e-12) {
			best, least = i, s
		}
	}
	return best
}
