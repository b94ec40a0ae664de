package typed_test

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"autoshard/backend/tensor"
	"autoshard/ir/dtype"
	"autoshard/subaxis"
)

// randomProgram is a program in the form that testdata/jax_peer.py reads. Values have numbers, inputs first.
type randomProgram struct {
	Mesh    [][2]any       `json:"mesh"`
	Manual  []string       `json:"manual"`
	Inputs  []randomInput  `json:"inputs"`
	Steps   []*randomStep  `json:"steps"`
	Outputs []randomOutput `json:"outputs"`

	VJP       bool `json:"vjp"`       // also derivatives
	Unchecked bool `json:"unchecked"` // no types
	TraceOnly bool `json:"traceOnly"` // a run would not end: not all members come to a collective

	axes    []subaxis.Axis
	refusal string // the error that the program has, "" for none
	loose   bool   // JAX types promise too much
	values  map[int]drawn
	exact   bool // no arithmetic in 16 bits
}

type randomInput struct {
	DType string     `json:"dtype"`
	Shape []int64    `json:"shape"`
	Spec  [][]string `json:"spec"`
	Data  []float64  `json:"data"`
}

type randomOutput struct {
	Value int        `json:"value"`
	Spec  [][]string `json:"spec"`
}

// randomStep is an op with the attributes that it has of these; Mode says which of its kind it is.
type randomStep struct {
	Op       string       `json:"op"`
	Mode     string       `json:"mode,omitempty"`
	In       []int        `json:"in,omitempty"`
	Out      []int        `json:"out"`
	Axes     []string     `json:"axes,omitempty"`
	Groups   [][]int64    `json:"groups,omitempty"`
	Perm     [][2]int64   `json:"perm,omitempty"`
	Dims     []int64      `json:"dims,omitempty"`
	Shape    []int64      `json:"shape,omitempty"`
	Dim      int64        `json:"dim"`
	Concat   int64        `json:"concat"`
	Untiled  bool         `json:"untiled,omitempty"`
	DType    string       `json:"dtype,omitempty"`
	Low      []int64      `json:"low,omitempty"`
	High     []int64      `json:"high,omitempty"`
	Interior []int64      `json:"interior,omitempty"`
	Contract [2][]int64   `json:"contract"`
	Batch    [2][]int64   `json:"batch"`
	Value    float64      `json:"value"`
	Reverse  bool         `json:"reverse"`
	Length   int64        `json:"length"`
	Source   int64        `json:"source"`
	Form     string       `json:"form,omitempty"`
	Bodies   []randomBody `json:"bodies,omitempty"`
}

type randomBody struct {
	Params  []int         `json:"params"`
	Steps   []*randomStep `json:"steps"`
	Results []int         `json:"results"`
}

// axisMask is a set of axes of the mesh.
type axisMask uint

// drawn is a value of a random program.
type drawn struct {
	id     int
	t      dtype.Type
	dims   []int64
	v      axisMask // axes that JAX says it varies over
	real   axisMask // axes that it may vary over
	bound  float64  // of magnitudes
	coarse bool     // computed in 16 bits: not for decisions
	given  bool     // as in an input: elements are equal or far apart
}

func (x drawn) size() int64 {
	n := int64(1)
	for _, d := range x.dims {
		n *= d
	}
	return n
}

func (x drawn) float() bool { return x.t.Kind() == dtype.Float }
func (x drawn) like(y drawn) bool {
	return x.t == y.t && slices.Equal(x.dims, y.dims)
}

// drawing draws a random program. It keeps its own account of types, apart from that of the package.
type drawing struct {
	*randomProgram
	pick      func(n int) int // a number below n
	steps     *[]*randomStep
	env       []drawn
	next      int
	divergent axisMask // axes along which devices may not all come to the step at hand
	depth     int
}

// maxElements bounds the blocks of random programs.
const maxElements = 96

var randomMeshes = [][]int64{{4}, {2}, {3}, {2, 2}, {2, 3}, {3, 2}, {4, 2}, {1, 4}, {2, 1}, {2, 2, 2}, {2, 3, 2}, {2, 1, 3}, {4, 2, 2}}

// programOf returns the program of a number in the sequence of a seed.
func programOf(seed uint64, number int) *randomProgram {
	rng := rand.New(rand.NewPCG(seed, uint64(number)))
	return draw(rng.IntN)
}

// draw draws a program, one in eight with an error on purpose.
func draw(pick func(n int) int) *randomProgram {
	d := &drawing{randomProgram: &randomProgram{values: map[int]drawn{}, exact: true}, pick: pick}
	d.steps = &d.Steps
	for k, size := range randomMeshes[pick(len(randomMeshes))] {
		d.axes = append(d.axes, subaxis.Axis{Name: "ijk"[k : k+1], Size: size})
		d.Mesh = append(d.Mesh, [2]any{d.axes[k].Name, size})
	}
	manual := d.all()
	if len(d.axes) > 1 && d.chance(8) { // partial-auto
		manual &^= 1 << pick(len(d.axes))
	}
	d.Manual = d.names(manual)
	d.Unchecked = d.chance(4)
	d.VJP = d.chance(2)
	mistake := ""
	if d.chance(8) {
		mistake = mistakes[pick(len(mistakes))]
		d.VJP = false
	}
	for k := range 1 + pick(3) {
		d.input(k == 0)
	}
	if mistake != "" && d.badInput(mistake) {
		d.Outputs = []randomOutput{{0, d.Inputs[0].Spec}}
		return d.randomProgram
	}
	for range 1 + pick(12) {
		d.step()
	}
	if mistake != "" && d.refusal == "" {
		d.badStep(mistake)
	}
	for k := range 1 + pick(3) {
		x := d.env[len(d.env)-1]
		if k > 0 || d.VJP {
			x, _ = d.one(anything)
		}
		d.output(x, mistake)
	}
	return d.randomProgram
}

func (d *drawing) chance(n int) bool { return d.pick(n) == 0 }

func (d *drawing) all() axisMask { return 1<<len(d.axes) - 1 }

func (d *drawing) manual() (m axisMask) {
	for k, a := range d.axes {
		if slices.Contains(d.Manual, a.Name) {
			m |= 1 << k
		}
	}
	return m
}

// partial says whether some axes are not manual. XLA for CPU ends itself over sums of 16 bits then.
func (d *drawing) partial() bool { return len(d.Manual) < len(d.axes) }

// names returns the names of axes in mesh order.
func (p *randomProgram) names(m axisMask) (out []string) {
	for k, a := range p.axes {
		if m>>k&1 == 1 {
			out = append(out, a.Name)
		}
	}
	return out
}

func (p *randomProgram) mask(names []string) (m axisMask) {
	for k, a := range p.axes {
		if slices.Contains(names, a.Name) {
			m |= 1 << k
		}
	}
	return m
}

func (p *randomProgram) members(names []string) int64 {
	n := int64(1)
	for _, a := range p.axes {
		if slices.Contains(names, a.Name) {
			n *= a.Size
		}
	}
	return n
}

// some returns some of the axes, in any order.
func (d *drawing) some(m axisMask, least int) []string {
	names := d.names(m)
	d.shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	n := bits.OnesCount(uint(m))
	if n < least {
		return nil
	}
	return names[:least+d.pick(n-least+1)]
}

func (d *drawing) shuffle(n int, swap func(i, j int)) {
	for i := n - 1; i > 0; i-- {
		swap(i, d.pick(i+1))
	}
}

// spread returns a spec that puts axes on dimensions of an array.
func (d *drawing) spread(axes []string, rank int) [][]string {
	if rank == 0 {
		return nil
	}
	spec := make([][]string, rank)
	for _, a := range axes {
		k := d.pick(rank)
		spec[k] = append(spec[k], a)
	}
	for len(spec) > 0 && len(spec[len(spec)-1]) == 0 && d.chance(2) {
		spec = spec[:len(spec)-1]
	}
	return spec
}

func (d *drawing) define(x drawn) drawn {
	x.id = d.next
	d.next++
	if d.Unchecked {
		x.v = 0
	}
	d.env = append(d.env, x)
	d.values[x.id] = x
	return x
}

var inputTypes = []dtype.Type{dtype.F32, dtype.F32, dtype.F32, dtype.F32, dtype.BF16, dtype.F16, dtype.I32, dtype.I32, dtype.I8, dtype.UI8,
	dtype.I1}

// input adds an input.
func (d *drawing) input(plain bool) {
	x := drawn{t: dtype.F32, bound: 2}
	if !plain {
		x.t = inputTypes[d.pick(len(inputTypes))]
	}
	for x.float() && x.t != dtype.F32 && d.partial() {
		x.t = inputTypes[d.pick(len(inputTypes))]
	}
	x.dims = d.shape(4)
	spec := d.spread(d.some(d.manual(), 0), len(x.dims))
	global := slices.Clone(x.dims)
	for k, axes := range spec {
		x.v |= d.mask(axes)
		global[k] *= d.members(axes)
	}
	x.real = x.v
	x.coarse, x.given = x.float() && x.t != dtype.F32, true
	d.exact = d.exact && !x.coarse
	n := int64(1)
	for _, s := range global {
		n *= s
	}
	data, seed := make([]float64, n), uint32(d.pick(1<<16))
	for k := range data {
		h := (uint32(k)*2654435761 + seed*40503) * 2246822519
		v := int64(h>>16)%33 - 16
		switch {
		case x.float():
			data[k] = float64(v) / 8
		case x.t == dtype.I1:
			data[k] = float64(v & 1)
		case x.t == dtype.UI8:
			data[k] = math.Abs(float64(v % 5))
		default:
			data[k] = float64(v % 5)
		}
	}
	d.Inputs = append(d.Inputs, randomInput{x.t.String(), global, spec, data})
	d.define(x)
}

// shape returns the shape of a small block.
func (d *drawing) shape(largest int) []int64 {
	dims := make([]int64, []int{0, 1, 1, 2, 2, 2, 3}[d.pick(7)])
	for k := range dims {
		dims[k] = int64(1 + d.pick(largest))
	}
	return dims
}

// output returns a value, joined along all axes that it varies over, and perhaps more.
func (d *drawing) output(x drawn, mistake string) {
	axes := x.v
	if d.Unchecked {
		axes = x.real
	}
	if len(x.dims) == 0 && (axes != 0 || d.chance(2)) {
		x = d.reshape(x, []int64{1})
	}
	names := d.names(axes)
	if len(x.dims) > 0 {
		names = append(names, d.some(d.manual()&^axes, 0)...)
		d.shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	}
	out := randomOutput{x.id, d.spread(names, len(x.dims))}
	d.badOutput(mistake, x, axes, &out)
	d.Outputs = append(d.Outputs, out)
}

// arguments returns the inputs, as the program takes them.
func (p *randomProgram) arguments() []tensor.Tensor {
	var out []tensor.Tensor
	for _, in := range p.Inputs {
		out = append(out, tensor.FromFloats(typeNamed(in.DType), in.Shape, in.Data...))
	}
	return out
}

func typeNamed(name string) dtype.Type {
	return inputTypes[slices.IndexFunc(inputTypes, func(t dtype.Type) bool { return t.String() == name })]
}

// one returns a value for which ok holds, recent ones rather than others, and of floats if there are to be derivatives.
func (d *drawing) one(ok func(drawn) bool) (drawn, bool) {
	list := slices.DeleteFunc(slices.Clone(d.env), func(x drawn) bool { return !ok(x) })
	if len(list) == 0 {
		return drawn{}, false
	}
	floats := slices.DeleteFunc(slices.Clone(list), func(x drawn) bool { return !x.float() })
	if d.VJP && len(floats) > 0 && !d.chance(4) {
		list = floats
	}
	if n := min(len(list), 3); !d.chance(3) {
		list = list[len(list)-n:]
	}
	return list[d.pick(len(list))], true
}

// emit adds a step with one result that is computed from its operands alone; operands are cast to each other.
func (d *drawing) emit(s randomStep, t dtype.Type, dims []int64, bound float64, in ...drawn) drawn {
	out := drawn{t: t, dims: dims, bound: bound}
	for _, x := range in {
		s.In = append(s.In, x.id)
		out.v |= x.v
		out.real |= x.real
		out.coarse = out.coarse || x.coarse
	}
	for _, x := range in {
		d.casts(x, out.v&^x.v)
	}
	return d.add(&s, out)
}

// casts notes that a value is cast. The transpose is a sum, to which all must come.
func (d *drawing) casts(x drawn, axes axisMask) {
	if axes&d.divergent != 0 && x.float() {
		d.VJP = false
	}
}

// add adds a step with one result, and one that makes it smaller if it may be large.
func (d *drawing) add(s *randomStep, out drawn) drawn {
	out.coarse = out.float() && (out.coarse || out.t != dtype.F32)
	d.exact = d.exact && !out.coarse
	*d.steps = append(*d.steps, s)
	out = d.define(out)
	s.Out = []int{out.id}
	if out.float() && out.bound > 32 {
		k := math.Exp2(-math.Ceil(math.Log2(out.bound / 4)))
		out = d.emit(randomStep{Op: "with", Mode: "mul", Value: k}, out.t, out.dims, out.bound*k, out)
	}
	return out
}
