// Package shardmap turns a program with explicit collectives over global tensors into the program that every device
// runs on its blocks.
//
//	%1 = sdy.all_gather [{}, {"y"}] %0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x16xf32>
//
// becomes, over the mesh x=2, y=4,
//
//	%1 = shard_map.all_gather_invariant {axes = {"y"}, dim = 1} %0 : (tensor<4x4xf32>) -> tensor<4x16xf32>
//
// The result is StableHLO but for the ops over axes, whose members are numbered along a list of axes of the mesh, and of
// parts of axes, in row-major order:
//
//	op over axes             attributes besides axes    of StableHLO
//	psum, pmax, pmin                                    all_reduce
//	all_gather_invariant     dim                        all_gather; all_gather where the user wrote it
//	psum_scatter             dim, kind if not a sum     reduce_scatter
//	all_to_all               split, concat              all_to_all
//	ppermute                 perm                       collective_permute
//	pbroadcast               source                     collective_broadcast
//	axis_index                                          a look-up by partition id
//	pscatter                 axes for each dimension    dynamic_slice at the starts that are its other operands
//
// Collectives that the user wrote in manual computations are in this form too ([OverAxes]), but for those that have none.
// Everything that looks at communication reads it off this form. [LowerAxes] turns it into plain StableHLO that any runtime
// with device groups executes, one copy per device.
// Specification: shardy.md section 5.8, stablehlo.md section 3.
package shardmap

import (
	"context"
	"maps"
	"slices"

	"autoshard/collectives"
	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/subaxis"
)

// Program is what every device of a mesh runs. Device i of the mesh's row-major order is partition i, or
// partition Mesh.DeviceIDs[i] where the mesh lists ids.
type Program struct {
	Module      *ir.Module
	Main        ir.FuncID
	Mesh        subaxis.Mesh
	Inputs      []Port
	Outputs     []Port
	Collectives []Collective // in program order
	Rings       []Ring       // what package shardmap/ring made of products that it cut into chunks

	moved map[ir.ValueID]ir.ValueID
}

// Clone returns an independent copy with the same ids.
func (p *Program) Clone() *Program {
	c := *p
	c.Module, c.Collectives, c.Rings, c.moved = p.Module.Clone(), slices.Clone(p.Collectives), slices.Clone(p.Rings), maps.Clone(p.moved)
	return &c
}

// Move notes that what a value stood for is in another one now.
func (p *Program) Move(from, to ir.ValueID) {
	if p.moved == nil {
		p.moved = map[ir.ValueID]ir.ValueID{}
	}
	if from != to {
		p.moved[from] = to
	}
}

// Image returns the value that holds this device's block of a value of the partitioned program, or, of an input or output that is stored
// padded, its block of what is stored. A value keeps its number unless its op became another one; that it still has an op is for the
// caller to see.
func (p *Program) Image(v ir.ValueID) ir.ValueID {
	for range len(p.moved) {
		to, ok := p.moved[v]
		if !ok {
			break
		}
		v = to
	}
	return v
}

// RingAttr is the attribute of an all-gather or a reduce-scatter of the partitioned program that asks package
// shardmap/ring for a ring. The collective over axes beside the product has it too: the last of a gather, the first of
// a reduce-scatter.
const RingAttr = "autoshard.ring"

// JoinedAttr is the attribute of a reduce-scatter of the partitioned program that package shardmap/merge may send as one with others, and
// of an op whose all-gathers it may send as one with those along other dimensions. Its ops over axes have it too.
const JoinedAttr = "autoshard.joined"

// RecomputedAttr is the attribute of an op of the partitioned program that makes a value again (package remat).
const RecomputedAttr = "autoshard.recomputed"

// Ring is products of one gather, or one that is reduced and scattered, that are computed chunk by chunk while chunks travel round the
// devices along the axes (specification: cost.md section 3.5).
type Ring struct {
	Steps []RingStep
	Ops   []ir.OpID // all ops of the ring, in order
}

// RingStep is a step of a ring.
type RingStep struct {
	Permutes []ir.OpID // that send side by side
	Compute  []ir.OpID // that need nothing of what they send
}

// Port is an input or output: the shape of the whole tensor and how it is cut. Where the axes do not divide it, or not all axes that cut
// it on the way through the program do, it is stored padded: blocks of an input are filled up, and what pads an output is left out.
type Port struct {
	Dims   []int64
	Layout collectives.Layout
	Padded []int64 // the shape that is cut; nil for that of the tensor
}

// Stored returns the shape that is cut into equal blocks.
func (p *Port) Stored() []int64 {
	if p.Padded != nil {
		return p.Padded
	}
	return p.Dims
}

// Collective describes one communication op of the program.
type Collective struct {
	Op     ir.OpID
	From   ir.OpID // the op of the partitioned program that it stands for; 0 for one that the user wrote
	Kind   collectives.Kind
	Axes   []subaxis.Ref // nil where its groups run along none
	Source ir.LocID
	Groups int64 // number of groups that communicate side by side
	Size   int64 // devices per group, of the largest where they differ
	Pairs  int64 // for a permute: pairs of two different devices
	Bytes  int64 // of one device's operands
	Runs   int64 // executions per step: the trip counts of the loops around it
	Varies bool  // inside a branch, or a loop whose trip count is not plain: Runs is a guess, the data decides

	// The pairs of members along Axes of a permute that the user wrote, or by which an op fetches what it needs of other blocks; nil for
	// other collectives.
	Fetch [][2]int64

	Members [][]int64 // the groups, as places in the mesh, where they run along no axes; nil for others
}

// TotalBytes returns what all devices together send in one step, in the ring algorithms of [collectives.SentBytes] and, of a
// permute, in its pairs of two different devices.
func (c *Collective) TotalBytes() int64 {
	if c.Kind == collectives.Permute {
		return c.Pairs * c.Bytes * c.Runs
	}
	sent := c.Groups * c.sentBy(c.Size)
	if c.Members != nil {
		sent = collectives.SentAmong(c.Kind, c.Members, c.Bytes)
	}
	return sent * c.Runs
}

// sentBy returns what a group of n devices sends in one run.
func (c *Collective) sentBy(n int64) int64 {
	return collectives.SentBytes(c.Kind, n, collectives.GroupBytes(c.Kind, n, c.Bytes))
}

// Lower turns a partitioned module into the program of one device over axes, in place. Every tensor value has a sharding on
// the one mesh; dimensions divide evenly, as package padding has them. Errors are of class diag.ErrInvalid or diag.ErrUnsupported, or the
// context's.
func Lower(ctx context.Context, m *ir.Module, mesh ir.MeshID) (*Program, error) {
	main, ok := m.Main()
	if !ok {
		return nil, diag.Invalid(diag.Undefined, diag.Position{}, "the module has no function `main`")
	}
	p := &Program{Module: m, Main: main, Mesh: m.Mesh(mesh).Mesh}
	f := m.Func(main)
	for _, arg := range m.BlockArgs(f.Body) {
		p.Inputs = append(p.Inputs, port(m, m.Type(arg), m.Sharding(arg)))
	}
	for i, t := range f.ResultTypes {
		p.Outputs = append(p.Outputs, port(m, t, f.ResultShardings[i]))
	}
	if err := p.boundary(); err != nil {
		return nil, err
	}
	OverAxes(m, f.Body, mesh, p.Move)
	l := newLowerer(ctx, p, mesh, NewPlaces(p))
	if err := l.block(f.Body); err != nil {
		return nil, err
	}
	for i, t := range f.ResultTypes {
		if padded := p.Outputs[i].Padded; padded != nil {
			t = m.WithDims(t, padded)
		}
		f.ResultTypes[i] = localType(m, t, f.ResultShardings[i])
		f.ResultShardings[i] = 0
	}
	l.finish()
	ir.EraseDead(m)
	p.Collectives = slices.DeleteFunc(p.Collectives, func(c Collective) bool { return m.OpBlock(c.Op) == 0 })
	return p, nil
}

func port(m *ir.Module, t ir.TypeID, s ir.ShardingID) Port {
	if s == 0 {
		return Port{Dims: m.TypeOf(t).Dims}
	}
	return Port{Dims: m.TypeOf(t).Dims, Layout: collectives.LayoutOf(m.ShardingOf(s))}
}

func localType(m *ir.Module, t ir.TypeID, s ir.ShardingID) ir.TypeID {
	if s == 0 || m.TypeOf(t).Kind != ir.TensorKind {
		return t
	}
	return m.WithDims(t, m.ShardingOf(s).LocalDims(m.TypeOf(t).Dims))
}
