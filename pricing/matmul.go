package pricing

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"autoshard/cost"
	"autoshard/cost/notation"
	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir/dtype"
	"autoshard/subaxis"
)

// MatmulSchema identifies the JSON form of a MatmulAnswer.
const MatmulSchema = "autoshard.matmul/v1"

// MatmulRequest asks for the ways to compute a sharded product.
type MatmulRequest struct {
	Setting
	Product string // A[I_X, J_Y] · B[J_Y, K] -> C[I_X, K]; without an arrow the result may be sharded in any way
}

// MatmulAnswer are all ways. Times are in seconds, sizes in bytes.
type MatmulAnswer struct {
	Schema  string `json:"schema"`
	Product string `json:"product"`
	Place
	FLOPs      float64    `json:"flops"`      // of the whole product, once
	Strategies []Strategy `json:"strategies"` // whose result is sharded as asked for, the fastest first
	Others     []Strategy `json:"others"`     // with other results, the fastest first
	dimensions []string
}

// Strategy is one way to compute a product.
type Strategy struct {
	Name   string  `json:"name"` // for each set of axes the row of the book's cases, such as 2a
	Result string  `json:"result"`
	Steps  []Move  `json:"steps"` // that send something; the local product is before those of C
	FLOPs  float64 `json:"flops"` // of one device
	Price
	SentBytes int64    `json:"sentBytes"`      // by all devices
	Ours      *float64 `json:"ours,omitempty"` // seconds by the conventions that plans are made by, where the book's were asked for
}

// Price is what a product takes on one device.
type Price struct {
	Compute float64 `json:"computeSeconds"`
	Memory  float64 `json:"memorySeconds"`  // of reading the operands and writing the result
	Network float64 `json:"networkSeconds"` // of all steps
	Lower   float64 `json:"lowerSeconds"`   // if everything overlaps
	Upper   float64 `json:"upperSeconds"`   // if nothing does
	Seconds float64 `json:"seconds"`        // by the conventions that were asked for
	Bound   string  `json:"bound"`          // what takes longest: compute, memory or network
}

// Move is a communication.
type Move struct {
	Kind    string  `json:"kind"`
	Array   string  `json:"array"` // A, B or C
	Axes    string  `json:"axes"`
	Bytes   int64   `json:"bytes"` // V: of the array in one group
	Seconds float64 `json:"seconds"`
	Bound   string  `json:"bound"` // bandwidth or latency
}

// productFile names the text of a product in errors.
const productFile = "PRODUCT"

// product is a product that was read.
type product struct {
	*question
	text     string
	notation *notation.Product
	roles    map[string]cost.Side // of dimensions
	matmul   cost.Matmul
	cuts     []cost.Cut
	wanted   []cost.Side // of the result, nil where any will do
}

// Matmul returns the ways to compute a sharded product. Errors are of class diag.ErrInvalid.
func Matmul(r *MatmulRequest) (*MatmulAnswer, error) {
	p, err := newProduct(r)
	if err != nil {
		return nil, err
	}
	a := &MatmulAnswer{Schema: MatmulSchema, Product: r.Product, Place: p.place(), FLOPs: p.matmul.FLOPs(),
		Strategies: []Strategy{}, Others: []Strategy{}, dimensions: slices.Sorted(maps.Keys(p.roles))}
	options, err := p.asked.MatmulOptions(p.matmul, p.cuts)
	if err != nil {
		return nil, err
	}
	ours, err := p.ours.MatmulOptions(p.matmul, p.cuts)
	if err != nil {
		return nil, err
	}
	if p.wanted != nil && cost.Fastest(options, p.wanted, p.overlap()) < 0 {
		for i := range options {
			options[i] = p.asked.To(p.matmul, p.cuts, options[i], p.wanted)
			ours[i] = p.ours.To(p.matmul, p.cuts, ours[i], p.wanted)
		}
	}
	for i := range options {
		s := p.strategy(&options[i])
		if p.Book {
			s.Ours = &ours[i].Upper
		}
		if p.wanted == nil || slices.Equal(options[i].Result, p.wanted) {
			a.Strategies = append(a.Strategies, s)
		} else {
			a.Others = append(a.Others, s)
		}
	}
	byTime := func(x, y Strategy) int { return cmp.Compare(x.Seconds, y.Seconds) }
	slices.SortStableFunc(a.Strategies, byTime)
	slices.SortStableFunc(a.Others, byTime)
	return a, nil
}

func newProduct(r *MatmulRequest) (*product, error) {
	q, err := r.Setting.read()
	if err != nil {
		return nil, err
	}
	p := &product{question: q, text: r.Product}
	if p.notation, err = notation.ParseProduct(productFile, r.Product, &q.mesh); err != nil {
		return nil, err
	}
	if len(p.notation.A.Unreduced)+len(p.notation.B.Unreduced) > 0 {
		return nil, p.fail("operands that are partial sums must be reduced first: a product of sums is no sum of products")
	}
	if err := p.assign(); err != nil {
		return nil, err
	}
	if err := p.measure(); err != nil {
		return nil, err
	}
	return p, p.cut()
}

func (p *product) fail(format string, args ...any) error {
	e := diag.Invalid(diag.BadSharding, diag.Position{File: productFile, Line: 1, Col: 1}, format, args...)
	e.Diagnostics[0].Source = p.text
	return e
}

// assign says which role each dimension has: what only A and C have is I, what only B and C have K, what A and B sum over J, and what all
// have batch. Without C, what both operands have is summed over.
func (p *product) assign() error {
	p.roles = map[string]cost.Side{}
	a, b, c := &p.notation.A, &p.notation.B, p.notation.C
	for _, d := range slices.Concat(a.Dims, b.Dims) {
		inA, inB, inC := a.Find(d.Name) != nil, b.Find(d.Name) != nil, c != nil && c.Find(d.Name) != nil
		switch {
		case d.Size > 0:
			return p.fail("the dimensions of a product need names, which say what is summed over: not %s", d.Name)
		case inA && inB && inC:
			p.roles[d.Name] = cost.OnBatch
		case inA && inB:
			p.roles[d.Name] = cost.OnJ
		case c != nil && !inC:
			return p.fail("dimension %q is in one operand alone, and not in the result: sum over it before", d.Name)
		case inA:
			p.roles[d.Name] = cost.OnI
		default:
			p.roles[d.Name] = cost.OnK
		}
	}
	if c == nil {
		return nil
	}
	for _, d := range c.Dims {
		if _, ok := p.roles[d.Name]; !ok {
			return p.fail("dimension %q of the result is in no operand", d.Name)
		}
	}
	return nil
}

// measure fills in the sizes.
func (p *product) measure() error {
	a, err := p.sized(productFile, p.text, &p.notation.A)
	if err != nil {
		return err
	}
	b, err := p.sized(productFile, p.text, &p.notation.B)
	if err != nil {
		return err
	}
	result := &notation.Array{}
	if p.notation.C != nil {
		result = p.notation.C
	}
	c, err := p.sized(productFile, p.text, result)
	if err != nil {
		return err
	}
	size := func(t dtype.Type) int64 { return int64(t.Bytes()) }
	p.matmul = cost.Matmul{Batch: 1, I: 1, J: 1, K: 1, SizeA: size(a.dtype), SizeB: size(b.dtype), SizeC: size(c.dtype), DType: a.dtype}
	if b.dtype.Bits() > a.dtype.Bits() {
		p.matmul.DType = b.dtype // the wider one decides which units multiply
	}
	extents := map[cost.Side]*int64{cost.OnBatch: &p.matmul.Batch, cost.OnI: &p.matmul.I, cost.OnJ: &p.matmul.J, cost.OnK: &p.matmul.K}
	for name, role := range p.roles {
		if *extents[role] > maxExtent/p.sizes[name] {
			return p.fail("the dimensions are larger than %d together", int64(maxExtent))
		}
		*extents[role] *= p.sizes[name]
	}
	return nil
}

// maxExtent bounds the product of the dimensions of one role.
const maxExtent = 1 << 48

// cut groups the axes of the mesh by where they lie in operands and result.
func (p *product) cut() error {
	type place struct{ a, b, c cost.Side }
	var places []place
	for i := range p.mesh.Axes {
		r := p.mesh.Full(i)
		at := place{p.side(&p.notation.A, r), p.side(&p.notation.B, r), cost.Nowhere}
		if p.notation.C != nil {
			at.c = p.side(p.notation.C, r)
		}
		k := slices.Index(places, at)
		if k < 0 {
			k = len(places)
			places = append(places, at)
			p.cuts = append(p.cuts, cost.Cut{A: at.a, B: at.b})
			if p.notation.C != nil {
				p.wanted = append(p.wanted, at.c)
			}
		}
		p.cuts[k].Axes = append(p.cuts[k].Axes, r)
	}
	for i, c := range p.cuts {
		if p.wanted != nil && p.wanted[i] == cost.Unreduced && (c.A != cost.OnJ || c.B != cost.OnJ) {
			return p.fail("the result can be partial sums along %s only where both operands are cut there along what is summed over",
				notation.Subscript(&p.mesh, c.Axes))
		}
	}
	return nil
}

// side returns where an axis lies in an array.
func (p *product) side(a *notation.Array, r subaxis.Ref) cost.Side {
	if slices.Contains(a.Unreduced, r) {
		return cost.Unreduced
	}
	for _, d := range a.Dims {
		if slices.Contains(d.Axes, r) {
			return p.roles[d.Name]
		}
	}
	return cost.Nowhere
}

// strategy describes an option.
func (p *product) strategy(o *cost.MatmulOption) Strategy {
	s := Strategy{Steps: []Move{}, FLOPs: o.FLOPs, Result: p.result(o.Result), Price: Price{Compute: o.Local.Math, Memory: o.Local.HBM,
		Network: o.Net, Lower: o.Lower, Upper: o.Upper, Seconds: o.Seconds(p.overlap()), Bound: "compute"}}
	if s.Memory > s.Compute {
		s.Bound = "memory"
	}
	if s.Network > max(s.Compute, s.Memory) {
		s.Bound = "network"
	}
	s.Name = strings.Join(lists.Of(len(p.cuts), func(i int) string {
		return notation.Subscript(&p.mesh, p.cuts[i].Axes) + " " + o.Names[i]
	}), "; ")
	for _, m := range o.Moves {
		s.SentBytes += m.Cost.TotalBytes
		s.Steps = append(s.Steps, Move{Kind: m.Kind.String(), Array: string(m.Operand), Axes: notation.Subscript(&p.mesh, m.Axes), Bytes: m.V,
			Seconds: m.Cost.Seconds, Bound: boundOf(&m.Cost)})
	}
	return s
}

// boundOf says what a communication waits for.
func boundOf(c *cost.Cost) string {
	if c.Latency+c.Overhead > c.Bandwidth {
		return "latency"
	}
	return "bandwidth"
}

// result writes where a strategy leaves the result: I, J and K for the dimensions of each role.
func (p *product) result(sides []cost.Side) string {
	c := notation.Array{Name: "C"}
	var names []string
	if p.notation.C != nil {
		c.Name, c.Dims = p.notation.C.Name, slices.Clone(p.notation.C.Dims)
	} else {
		for _, d := range slices.Concat(p.notation.A.Dims, p.notation.B.Dims) {
			if p.roles[d.Name] != cost.OnJ && !slices.Contains(names, d.Name) {
				names = append(names, d.Name)
				c.Dims = append(c.Dims, notation.Dim{Name: d.Name})
			}
		}
	}
	for i := range c.Dims {
		c.Dims[i].Axes = nil
	}
	for k, side := range sides {
		if side == cost.Unreduced {
			c.Unreduced = append(c.Unreduced, p.cuts[k].Axes...)
			continue
		}
		if i := slices.IndexFunc(c.Dims, func(d notation.Dim) bool { return p.roles[d.Name] == side }); i >= 0 {
			c.Dims[i].Axes = append(c.Dims[i].Axes, p.cuts[k].Axes...)
		}
	}
	return c.Format(&p.mesh)
}
