package verify

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"autoshard/backend/interp"
	"autoshard/backend/run"
	"autoshard/backend/tensor"
	"autoshard/collectives"
	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/padding"
	"autoshard/shardmap"
)

// checker executes the partitioned program on one device and puts what the devices computed in the place of each result.
type checker struct {
	whole  *ir.Module
	p      *shardmap.Program
	trace  *trace
	images map[ir.ValueID]ir.ValueID // values that are compared, and where the devices have them
	slack  map[ir.ValueID][]float64  // how far each element of a value here may lie from what the devices go on with

	doubted map[ir.ValueID]bool // values of which devices have different copies because the user's program says so
	result  Result
	most    int64 // see Options
}

func newChecker(whole *ir.Module, p *shardmap.Program) *checker {
	c := &checker{whole: whole, p: p, trace: newTrace(int(p.Mesh.Devices())), images: map[ir.ValueID]ir.ValueID{},
		slack: map[ir.ValueID][]float64{}, doubted: map[ir.ValueID]bool{}}
	all := images(whole, p)
	for v := ir.ValueID(1); int(v) < whole.NumValues(); v++ {
		local, ok := all[v]
		if ok && interp.Shown(whole, whole.DefiningOp(v)) && interp.Shown(p.Module, p.Module.DefiningOp(local)) &&
			c.trace.watch(p.Module, local) {
			c.images[v] = local
		}
	}
	return c
}

// run returns the outputs.
func (c *checker) run(ctx context.Context, inputs []*tensor.Tensor) ([]*tensor.Tensor, error) {
	main, _ := c.whole.Main()
	in, err := interp.New(c.whole, interp.Options{WholeWindows: true, MaxBytes: c.most,
		Manual: run.Manual(c.whole, run.Options{WholeWindows: true, MaxBytes: c.most, Differ: c.differ})})
	if err != nil {
		return nil, err
	}
	outs, _, err := in.RunProcess(ctx, main, interp.Process{Observe: c.observe}, inputs)
	return outs, err
}

// observe compares the results of an op and goes on with those of the devices.
func (c *checker) observe(s *interp.Step) error {
	for r, v := range c.whole.Results(s.Op) {
		if c.whole.ValueType(v).Kind != ir.TensorKind {
			continue
		}
		delete(c.slack, v)
		local, watched := c.images[v]
		if !watched {
			return c.unseen(s, r, v)
		}
		blocks, ok := c.trace.take(local)
		if !ok {
			return c.unseen(s, r, v)
		}
		layout, _ := layoutOf(c.whole, v)
		got := c.join(&layout, c.whole.Shape(v), blocks)
		if got.disagree && !c.doubted[v] {
			c.fault(s.Op, Fault{Type: dtype.Format(got.whole.DType, c.whole.Shape(v)), Replicas: true})
		}
		if err := c.compare(s, r, got, len(layout.Unreduced) > 0); err != nil {
			return err
		}
		if s.Results[r].Rank() > got.whole.Rank() { // devices keep one element; here it is read whole, as by manual computations
			got.whole = tensor.BroadcastInDim(got.whole, nil, s.Results[r].Shape)
		}
		s.Results[r] = got.whole
		if got.slack != nil {
			c.slack[v] = got.slack
		}
	}
	return nil
}

// unseen notes how far a value that no device shows may lie from what they have.
func (c *checker) unseen(s *interp.Step, r int, v ir.ValueID) error {
	limit, err := c.allowed(s, r, s.Results[r], true)
	if limit != nil {
		c.slack[v] = limit
	}
	return err
}

// compare checks one result of an op against what the devices have.
func (c *checker) compare(s *interp.Step, r int, got joined, partial bool) error {
	want := s.Results[r]
	if got.whole.Rank() != want.Rank() { // one of them repeats one element
		shape := got.whole.Shape
		if want.Rank() > got.whole.Rank() {
			shape = want.Shape
		}
		want, got.whole = spread(want, shape), spread(got.whole, shape)
		s.Results[r] = want
	}
	if c.doubted[c.whole.Result(s.Op, r)] {
		return nil
	}
	c.result.Values++
	if string(want.Data) == string(got.whole.Data) {
		c.result.Equal++
		return nil
	}
	d := newDifference(got.whole, want)
	if d.none() {
		return nil
	}
	limit, err := c.allowed(s, r, want, partial)
	if err != nil {
		return err
	}
	limit = plus(plus(limit, got.slack), got.slack) // each device rounds its part, one device the whole
	if !d.within(limit) && limit != nil {
		if err := c.widen(s, r, want, limit); err != nil {
			return err
		}
	}
	c.judge(s.Op, d, limit)
	return nil
}

// judge notes a fault where elements lie too far apart.
func (c *checker) judge(op ir.OpID, d *difference, limit []float64) {
	wrong, first, share := d.over(limit)
	if wrong == 0 {
		c.result.Nearest = max(c.result.Nearest, share)
		return
	}
	f := Fault{Type: dtype.Format(d.dtype, d.shape), Elements: wrong, Index: tensor.Unravel(int64(first/d.parts), d.shape), Got: d.got[first],
		Want: d.want[first]}
	if limit != nil {
		f.Allowed = limit[first/d.parts]
	}
	c.fault(op, f)
}

func (c *checker) fault(op ir.OpID, f Fault) {
	f.Op, f.Pos = c.whole.OpName(op), c.pos(op)
	c.result.Wrong++
	if len(c.result.Faults) < mostFaults {
		c.result.Faults = append(c.result.Faults, f)
	}
}

// pos returns where an op is in the model, or in the partitioned program where that is not known.
func (c *checker) pos(op ir.OpID) diag.Position {
	if pos, ok := c.whole.FilePos(c.whole.OpLoc(op)); ok {
		return pos
	}
	return c.whole.OpPos(op)
}

// outputs compares what the program returns: most outputs were compared as values already, but they may have been
// moved since. Those that are wrong count as values once more.
func (c *checker) outputs(want []*tensor.Tensor, outs [][]*tensor.Tensor) {
	ret, before := c.whole.LastOp(c.whole.MainFunc().Body), c.result.Wrong
	defer func() { c.result.Values += c.result.Wrong - before }()
	for i := range want {
		if c.doubted[c.whole.Operand(ret, i)] {
			continue
		}
		blocks := lists.Map(outs, func(of []*tensor.Tensor) tensor.Tensor { return *of[i] })
		got := c.join(&c.p.Outputs[i].Layout, c.p.Outputs[i].Stored(), blocks)
		if got.disagree {
			c.fault(ret, Fault{Type: dtype.Format(got.whole.DType, got.whole.Shape), Replicas: true})
		}
		v := c.whole.Operand(ret, i)
		slack := c.slack[v]
		if op := c.whole.DefiningOp(v); padding.AtBoundary(c.whole, op) {
			got.whole = cropped(got.whole, want[i].Shape)
			if slack = c.slack[c.whole.Operand(op, 0)]; slack != nil {
				part := cropped(tensor.Of(dtype.F64, c.p.Outputs[i].Stored(), slack...), want[i].Shape)
				slack = part.Floats()
			}
		}
		if d := newDifference(got.whole, *want[i]); !d.none() {
			c.judge(ret, d, slack)
		}
	}
}

// cropped returns the first elements of each dimension.
func cropped(x tensor.Tensor, dims []int64) tensor.Tensor {
	return tensor.Slice(x, make([]int64, len(dims)), dims, slices.Repeat([]int64{1}, len(dims)))
}

// joined is a value put together from the blocks of all devices.
type joined struct {
	whole    tensor.Tensor
	disagree bool      // devices that should hold the same block do not
	slack    []float64 // of a value that was summed from the devices' parts, what the order of the sum may change
}

// join puts blocks together. Parts of a sum are added up; they must each be the same on all devices that hold the part.
func (c *checker) join(l *collectives.Layout, dims []int64, blocks []tensor.Tensor) joined {
	mesh := &c.p.Mesh
	parts := map[int64]map[int64]tensor.Tensor{} // by block and place along the unreduced axes
	starts := map[int64][]int64{}
	out := joined{}
	for logical := range mesh.Devices() {
		start, index := run.Start(mesh, l, logical, dims)
		place := mesh.ShardIndex(logical, l.Unreduced)
		if parts[index] == nil {
			parts[index], starts[index] = map[int64]tensor.Tensor{}, start
		}
		block := blocks[mesh.DeviceID(logical)]
		if first, ok := parts[index][place]; ok {
			out.disagree = out.disagree || !sameNumbers(first, block)
		} else {
			parts[index][place] = block
		}
	}
	if first := blocks[0]; first.Rank() == 0 && len(dims) > 0 { // a scalar for a value that repeats one element
		if len(l.Unreduced) == 0 && !slices.ContainsFunc(blocks, func(b tensor.Tensor) bool { return !b.Equal(first) }) {
			out.whole = first
			return out
		}
	}
	out.whole = tensor.New(blocks[0].DType, dims)
	if len(l.Unreduced) > 0 && isFloating(blocks[0].DType) {
		out.slack = make([]float64, out.whole.Len())
	}
	local := l.LocalDims(dims)
	for index := range int64(len(parts)) {
		block, slack := fold(parts[index], l.Reduction, local)
		run.Put(&out.whole, &block, starts[index])
		if out.slack != nil {
			whole := tensor.Tensor{DType: dtype.F64, Shape: dims, Data: bytesOf(out.slack)}
			part := tensor.Of(dtype.F64, local, slack...)
			run.Put(&whole, &part, starts[index])
		}
	}
	return out
}

// fold combines the parts of a block, in the order of their places, and says what another order could change.
func fold(parts map[int64]tensor.Tensor, r ir.Reduction, dims []int64) (tensor.Tensor, []float64) {
	var list []tensor.Tensor
	for place := range int64(len(parts)) {
		list = append(list, spread(parts[place], dims))
	}
	if len(list) == 1 {
		return list[0], make([]float64, list[0].Len())
	}
	monoid := map[ir.Reduction]tensor.Monoid{ir.ReduceMax: tensor.MonoidMaximum, ir.ReduceMin: tensor.MonoidMinimum}[r]
	if monoid == tensor.MonoidNone {
		monoid = tensor.MonoidAdd
	}
	out, err := tensor.Fold(list, tensor.Combiner{Monoid: monoid})
	if err != nil {
		panic(err) // a known body does not fail
	}
	slack := make([]float64, out.Len())
	if monoid == tensor.MonoidAdd {
		for _, p := range list {
			for i, x := range magnitudes(p) {
				slack[i] += 2 * math.Sqrt(float64(len(list)-1)) * unit(out.DType) * x
			}
		}
	}
	return out, slack
}

// plus adds the elements of two lists; one of none is zeros.
func plus(a, b []float64) []float64 {
	if a == nil || b == nil {
		return slices.Concat(a, b)
	}
	sum := slices.Clone(a)
	floats.Add(sum, b)
	return sum
}

func spread(t tensor.Tensor, dims []int64) tensor.Tensor {
	if t.Rank() == 0 && len(dims) > 0 {
		return tensor.BroadcastInDim(t, nil, dims)
	}
	return t
}

// unit is half the distance of 1 to the next number of a type: the largest relative error of rounding to it.
func unit(t dtype.Type) float64 {
	return math.Ldexp(1, -t.Part().Mantissa()-1)
}
