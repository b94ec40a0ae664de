package resharding

import (
	"context"
	"slices"
	"sort"

	"autoshard/answer"
	"autoshard/blocks"
	"autoshard/collectives"
	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/mlir"
	"autoshard/ir/specfmt"
	"autoshard/program"
	"autoshard/shardmap"
)

// way is a sequence of steps with what it takes.
type way struct {
	Totals
	picoseconds int64
	steps       []Step
	program     string
}

// follow says what steps take. What they send is counted in the program of one device. It fails with diag.ErrUnsupported for steps that are
// none.
func (f *finder) follow(ctx context.Context, steps []collectives.Step) (*way, error) {
	w := &way{}
	m, mesh, err := f.expanded(ctx, steps)
	if err != nil {
		return nil, err
	}
	text, err := mlir.Write(ctx, m, mlir.PrintOptions{})
	if err != nil {
		return nil, err
	}
	w.program = string(text)
	device, err := shardmap.Lower(ctx, m.Clone(), mesh)
	if err != nil {
		return nil, err
	}
	sending := device.Collectives // in the order of the steps that send
	before := &f.reshard.From
	for i := range steps {
		c := &steps[i]
		s := f.step(m, mesh, c)
		operand := f.reshard.Bytes / before.Shards()
		if c.Kind != collectives.AllSlice {
			s.Bytes, sending = sending[0].TotalBytes(), sending[1:]
			w.Collectives++
		}
		price := f.model.Price(c.Kind, c.Axes, operand)
		s.Seconds, s.PeakBytes = float64(price)/program.Picoseconds, operand+f.reshard.Bytes/c.After.Shards()
		w.picoseconds += price
		w.Bytes, w.PeakBytes = w.Bytes+s.Bytes, max(w.PeakBytes, s.PeakBytes)
		w.steps, before = append(w.steps, s), &c.After
	}
	w.Seconds = float64(w.picoseconds) / program.Picoseconds
	if len(steps) == 0 {
		w.PeakBytes = f.reshard.Bytes / before.Shards()
	}
	return w, nil
}

// expanded returns a function that takes the tensor as it lies, and returns it as it is to lie, by the steps.
func (f *finder) expanded(ctx context.Context, steps []collectives.Step) (*ir.Module, ir.MeshID, error) {
	m := ir.NewModule()
	m.Name = "reshard"
	mesh := m.AddMesh(f.mesh.Name, f.mesh.Mesh, nil, 0)
	from, to := f.reshard.From.Sharding(mesh), f.reshard.To.Sharding(mesh)
	main := m.AddFunc(ir.FuncSpec{Name: "main", Args: []ir.TypeID{m.TensorType(f.element, f.reshard.Shape...)}})
	fn := m.Func(main)
	arg := m.BlockArgs(fn.Body)[0]
	m.SetSharding(arg, m.InternSharding(from))
	b := m.BuilderAtEnd(fn.Body)
	v := b.Reshard(arg, m.InternSharding(to))
	b.Op(ir.OpReturn, nil, nil, v)
	fn.ResultTypes, fn.ResultAttrs = []ir.TypeID{m.Type(v)}, make([]ir.Attrs, 1)
	fn.ResultShardings = []ir.ShardingID{m.InternSharding(to)}
	order := func(*collectives.Reshard) []collectives.Step { return steps }
	return m, mesh, collectives.Expand(ctx, m, collectives.Expansion{Order: order})
}

// step describes a step, but for what it takes.
func (f *finder) step(m *ir.Module, mesh ir.MeshID, c *collectives.Step) Step {
	s := Step{Kind: c.Kind.String(), Axes: answer.FormatRefs(&f.mesh.Mesh, c.Axes), Spec: f.spec(m, mesh, &c.After), Block: f.block(&c.After)}
	switch c.Kind {
	case collectives.AllReduce, collectives.Permute:
	case collectives.AllToAll:
		s.Dim, s.Cuts = &c.Dim, &c.To
	default:
		s.Dim = &c.Dim
	}
	return s
}

func (f *finder) spec(m *ir.Module, mesh ir.MeshID, l *collectives.Layout) string {
	return specfmt.Notation(m, m.InternSharding(l.Sharding(mesh)))
}

func (f *finder) block(l *collectives.Layout) string {
	return dtype.Format(f.element, l.LocalDims(f.reshard.Shape))
}

// place says where the blocks of a layout lie.
func (f *finder) place(l *collectives.Layout) blocks.Place {
	s := l.Sharding(0)
	return blocks.Of(f.mesh, &s, f.element, f.reshard.Shape)
}

// infeasible names the smallest limit for which there is a way. What a step takes are the bytes of two blocks.
func (f *finder) infeasible(p *collectives.Planner, shardy *way) error {
	var blocks, limits []int64
	for n := int64(1); n <= f.mesh.Devices(); n++ {
		if f.mesh.Devices()%n == 0 {
			blocks = append(blocks, f.reshard.Bytes/n)
		}
	}
	for i, a := range blocks {
		for _, b := range blocks[i:] {
			limits = append(limits, a+b)
		}
	}
	slices.Sort(limits)
	least := limits[sort.Search(len(limits)-1, func(i int) bool { _, ok := p.Within(&f.reshard, limits[i]); return ok })]
	if shardy != nil {
		least = min(least, shardy.PeakBytes)
	}
	return diag.Infeasible(diag.MemoryLimit, diag.Position{}, "no sequence of collectives fits in %s per device; the smallest limit that "+
		"works is %s", diag.Bytes(f.Memory), diag.Bytes(least))
}
