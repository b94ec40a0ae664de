package typed

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"autoshard/backend/interp"
	"autoshard/backend/mesh"
	"autoshard/backend/tensor"
	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/subaxis"
)

// maxRunDevices bounds the devices of a run.
const maxRunDevices = 4096

// RunOptions says how to run a program.
type RunOptions struct {
	MaxBytes int64 // bound on the live bytes of all devices together; 0 means the default of package mesh
	Debug    bool  // compare the blocks of every value along the axes over which its type says that it is equal

	WholeWindows bool // see interp.Options

	Observe func(m *ir.Module, device int, s *interp.Step) error // sees the ops of the lowered program; nil: nobody looks
}

// mesh returns the options of running the lowered program.
func (o *RunOptions) mesh(m *ir.Module) mesh.Options {
	out := mesh.Options{MaxBytes: o.MaxBytes, WholeWindows: o.WholeWindows}
	if o.Observe != nil {
		out.Observe = func(device int, s *interp.Step) error { return o.Observe(m, device, s) }
	}
	return out
}

// Run is what a run returned.
type Run struct {
	Results []tensor.Tensor   // global arrays
	Blocks  [][]tensor.Tensor // by result, then by device of the manual axes in row-major order
	Traffic mesh.Traffic
}

// Run splits the arguments by their specs, runs the body on one virtual device per place along the manual axes, and
// joins the blocks by the output specs (specification: shardmap.md sections 1.2 and 1.3). Where the check is on, blocks
// of which one copy is taken are compared bit for bit; where it is off, the copy of the first device is taken.
//
// It returns an error of class diag.ErrInvalid for arguments that do not fit, diag.ErrTooLarge for more devices than
// this process should hold, diag.ErrFinding for copies that differ ("replication violated"), and the errors of
// mesh.Run.
func (p *Program) Run(ctx context.Context, args []tensor.Tensor, opts RunOptions) (*Run, error) {
	if p.Check {
		if err := p.typed(); err != nil {
			return nil, err
		}
	} else if err := p.Validate(); err != nil {
		return nil, err
	}
	grid, number := p.manualMesh()
	if n := grid.Devices(); n > maxRunDevices {
		return nil, diag.TooLarge(diag.InputTooLarge, diag.Position{}, "the program runs on %d devices, the limit is %d", n, maxRunDevices)
	}
	blocks, err := p.split(grid, number, args)
	if err != nil {
		return nil, err
	}
	l := newLowering(p, grid, number)
	if opts.Debug && p.Check {
		l.debug = &debugger{p: p}
	}
	l.block(l.m.Func(p.Func).Body)
	outs, traffic, err := mesh.Run(ctx, l.m, p.Func, int(grid.Devices()), blocks, opts.mesh(l.m))
	if err != nil {
		if l.debug != nil {
			err = l.debug.explain(err)
		}
		return nil, err
	}
	return p.join(grid, number, outs, traffic)
}

// typed checks that the program is elaborated. Types that JAX takes are
// enough, since the run finds out whether they hold.
func (p *Program) typed() error {
	if p.Variance == nil {
		return p.bad(diag.BadVariance, "E_TYPE", "the program has no types yet; elaborate it first")
	}
	if err := p.Typecheck(Options{}); err == nil {
		return nil
	}
	return p.Typecheck(Options{Unsound: true})
}

// local returns the axes of a spec as axes of the mesh of the manual axes, per dimension.
func (p *Program) local(s Spec, grid *subaxis.Mesh, number []int) [][]subaxis.Ref {
	dims, _ := p.axesOf(s)
	out := make([][]subaxis.Ref, len(dims))
	for d, axes := range dims {
		for _, a := range axes {
			out[d] = append(out[d], grid.Full(number[a]))
		}
	}
	return out
}

// split cuts every argument into the blocks of all devices.
func (p *Program) split(grid subaxis.Mesh, number []int, args []tensor.Tensor) ([][]*tensor.Tensor, error) {
	if len(args) != len(p.Params) {
		return nil, diag.Invalid(diag.BadInputs, diag.Position{}, "the program takes %d arguments, %d are given", len(p.Params), len(args))
	}
	out := make([][]*tensor.Tensor, grid.Devices())
	for i, param := range p.Params {
		want, x := p.Module.TypeOf(param.Type), args[i]
		if x.DType != want.DType || !slices.Equal(x.Shape, want.Dims) {
			return nil, diag.Invalid(diag.BadInputs, diag.Position{}, "argument %d is %s%s, input `%s` with spec %s takes %s",
				i, x.DType, formatDims(x.Shape), param.Name, param.Spec, formatType(want))
		}
		block := p.Module.Shape(p.Module.BlockArgs(p.Body())[i])
		axes := p.local(param.Spec, &grid, number)
		for d := range out {
			start, limit := slices.Repeat([]int64{0}, len(block)), slices.Clone(block)
			for k, list := range axes {
				start[k] = grid.ShardIndex(int64(d), list) * block[k]
				limit[k] += start[k]
			}
			t := tensor.Slice(x, start, limit, slices.Repeat([]int64{1}, len(block)))
			out[d] = append(out[d], &t)
		}
	}
	return out, nil
}

// join puts the blocks of each result together.
func (p *Program) join(grid subaxis.Mesh, number []int, outs [][]*tensor.Tensor, traffic mesh.Traffic) (*Run, error) {
	run := &Run{Traffic: traffic}
	for i, r := range p.Results {
		blocks := make([]tensor.Tensor, len(outs))
		for d := range outs {
			blocks[d] = *outs[d][i]
		}
		run.Blocks = append(run.Blocks, blocks)
		axes := p.local(r.Spec, &grid, number)
		_, t := p.axesOf(r.Spec)
		terms := make([]subaxis.Ref, 0)
		for _, a := range t.U.Axes() {
			terms = append(terms, grid.Full(number[a]))
		}
		whole, err := p.joinOne(i, &grid, axes, terms, blocks)
		if err != nil {
			return nil, err
		}
		run.Results = append(run.Results, whole)
	}
	return run, nil
}

// joinOne places one block per place along the axes of the spec, and adds up the terms along unreduced ones.
func (p *Program) joinOne(i int, grid *subaxis.Mesh, axes [][]subaxis.Ref, terms []subaxis.Ref, blocks []tensor.Tensor) (tensor.Tensor,
	error) {
	v := p.Module.Operand(p.Return(), i)
	whole := tensor.New(blocks[0].DType, p.GlobalDims(i))
	flat := slices.Concat(axes...)
	placed := map[[2]int64]int{} // place of the block and of the term, and the device whose copy it is
	for d, block := range blocks {
		place, term := grid.ShardIndex(int64(d), flat), grid.ShardIndex(int64(d), terms)
		if first, ok := placed[[2]int64{place, term}]; ok {
			if p.Check && !block.Equal(blocks[first]) {
				return whole, diag.Finding(diag.Mismatch, diag.Position{},
					"replication violated: output %d, %s with spec %s, differs between devices %d and %d, of which one copy would be taken", i,
					p.FormatValue(v), p.Results[i].Spec, first, d)
			}
			continue
		}
		placed[[2]int64{place, term}] = d
		if term > 0 {
			block = p.reduceTerm(v, whole, block, grid, axes, d)
		}
		write(whole, block, offsets(grid, axes, d, block.Shape))
	}
	return whole, nil
}

// reduceTerm combines a term with what the terms before it made at the same place.
func (p *Program) reduceTerm(v ir.ValueID, whole, block tensor.Tensor, grid *subaxis.Mesh, axes [][]subaxis.Ref, d int) tensor.Tensor {
	start := offsets(grid, axes, d, block.Shape)
	limit := slices.Clone(start)
	for k := range limit {
		limit[k] += block.Shape[k]
	}
	before := tensor.Slice(whole, start, limit, slices.Repeat([]int64{1}, len(start)))
	switch p.VarianceOf(v).Kind {
	case ir.ReduceMax:
		return tensor.Maximum(before, block)
	case ir.ReduceMin:
		return tensor.Minimum(before, block)
	}
	return tensor.Add(before, block)
}

// offsets returns where the block of a device begins.
func offsets(grid *subaxis.Mesh, axes [][]subaxis.Ref, d int, block []int64) []int64 {
	start := make([]int64, len(block))
	for k, list := range axes {
		start[k] = grid.ShardIndex(int64(d), list) * block[k]
	}
	return start
}

// write copies a block into a larger array, row by row.
func write(whole, block tensor.Tensor, start []int64) {
	width := int64(whole.DType.Bytes())
	rank := len(start)
	if block.Len() == 0 {
		return
	}
	row := width
	if rank > 0 {
		row *= block.Shape[rank-1]
	}
	index := make([]int64, rank)
	for from := int64(0); from < int64(len(block.Data)); from += row {
		to := int64(0)
		for k := range rank {
			to = to*whole.Shape[k] + start[k] + index[k]
		}
		copy(whole.Data[to*width:to*width+row], block.Data[from:from+row])
		for k := rank - 2; k >= 0; k-- {
			if index[k]++; index[k] < block.Shape[k] {
				break
			}
			index[k] = 0
		}
	}
}

// debugger adds to the program of one device a comparison after every equation: the block with that of the first
// member of the group along which the type says that all are equal.
type debugger struct {
	p         *Program // with types
	divergent AxisSet  // axes along which devices do not all come to the op at hand
	checks    []string // what each comparison is about
}

// enter notes that the inside of a loop or branch runs on some devices only, until the returned function is called. The
// predicate is that of the program with types, since lowering may have put another value in its place.
func (d *debugger) enter(op ir.OpID) func() {
	outer, m := d.divergent, d.p.Module
	which := m.Operand(op, 0)
	if m.Kind(op) == ir.OpWhile {
		which = m.Operand(m.LastOp(m.RegionBlock(op, 0)), 0)
	}
	d.divergent |= d.p.VarianceOf(which).V
	return func() { d.divergent = outer }
}

// check compares a value, as it is after lowering, between devices.
func (d *debugger) check(l *lowering, b *ir.Builder, v, lowered ir.ValueID) {
	t := d.p.VarianceOf(v)
	equal := d.p.Manual &^ (t.V | t.U | d.divergent)
	if equal == 0 || !l.m.ValueType(v).IsStatic() {
		return
	}
	bits := bitsOf(l.m, b, lowered)
	c := &Collective{Axes: equal.Axes()}
	for _, x := range bits {
		first := b.Op1(ir.OpCollectiveBroadcast, l.m.Type(x), l.grouped(l.groups(c)), x)
		op := b.Op(ir.OpCheckExpectEq, nil, nil, x, first)
		d.checks = append(d.checks, fmt.Sprintf("%s differs along %s", d.p.FormatValue(v), d.p.tuple(equal.Axes())))
		l.m.SetPos(op, diag.Position{Line: len(d.checks), Col: 1})
	}
}

// explain says which value a failed comparison is about, not on which device: several may fail, and any of them first.
func (d *debugger) explain(err error) error {
	var e *diag.Error
	if !errors.As(err, &e) || e.Class != diag.ErrFinding || len(e.Diagnostics) == 0 {
		return err
	}
	if k := e.Diagnostics[0].Pos.Line; k > 0 && k <= len(d.checks) {
		return diag.Finding(diag.Mismatch, diag.Position{}, "replication violated: %s", d.checks[k-1])
	}
	return err
}
