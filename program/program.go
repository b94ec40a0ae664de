// Package program runs, proves, prices and writes what every device of a mesh runs on its blocks: the program of a plan, or a
// shard_map program that a person or JAX has written.
//
//	p, err := plan.Lowered(ctx)                       // of a plan
//	p, err := program.ReadShardMap(ctx, file, text)   // or of a text
//	check, err := p.Verify(ctx, inputs, expected, program.Tolerance{Rel: 1e-4})
//	python, err := p.Emit(ctx, "jax")
package program

import (
	"context"

	"autoshard/answer"
	"autoshard/diag"
	"autoshard/ir"
	"autoshard/shardmap"
	"autoshard/shardmap/refine"
	"autoshard/shardmap/typed"
	"autoshard/subaxis"
)

// Program is what every device of a mesh runs on its blocks. Inputs and outputs are whole tensors, which are cut and put
// together as it says. Its methods leave it as it is, so that they may be called in any order and side by side.
type Program struct {
	Name     string
	Mesh     []answer.MeshAxis
	Inputs   []answer.Tensor
	Outputs  []answer.Tensor
	Notes    []string          // about how it was made, for people
	Warnings []diag.Diagnostic // about what is legal but probably not meant

	// Of a plan; nil and empty for a shard_map program.
	whole   *ir.Module        // with explicit collectives on whole tensors
	device  *shardmap.Program // what a device runs, over axes
	grouped *shardmap.Program // the same over device groups, for engines that know no axes
	dropped []string          // arguments of the model's function that are no inputs

	// Of a shard_map program; nil for that of a plan.
	typed   *typed.Program
	refined *refine.Mesh // of the plan that it comes from, and its refinement
	ports   [2][]string  // what that plan calls inputs and outputs
	stored  *storage     // of that plan, nil where all is stored as it is

	written *written // in the model that it comes from, nil if not known

	most int64 // bytes of values that all devices of a run may hold together; 0: the default of package mesh
}

// Within returns the program with a bound on the bytes of values that all devices of one of its runs hold together, whatever else asks for
// more. Runs that would hold more end with a diag.ErrTooLarge.
func (p *Program) Within(bytes int64) *Program {
	out := *p
	out.most = bytes
	return &out
}

// within returns the smaller of a bound on the bytes of a run, 0 for none, and that of the program.
func (p *Program) within(bytes int64) int64 {
	if p.most > 0 && (bytes == 0 || bytes > p.most) {
		return p.most
	}
	return bytes
}

// Partitioned is a program with explicit collectives on whole tensors, as plan.json holds it.
type Partitioned struct {
	Name    string
	Mesh    []answer.MeshAxis
	Inputs  []answer.Tensor
	Outputs []answer.Tensor
	Dropped []string // arguments of the model's function that are no inputs
	Text    string   // MLIR
}

// Read lowers a partitioned program. Errors are of class diag.ErrInvalid for a text that is none, or the context's.
func Read(ctx context.Context, t *Partitioned) (*Program, error) {
	m, mesh, err := Parse(ctx, t.Text)
	if err != nil {
		return nil, err
	}
	device, err := PerDevice(ctx, m.Clone(), mesh)
	if err != nil {
		return nil, atModel(m, err)
	}
	grouped := device.Clone()
	if err := shardmap.LowerAxes(ctx, grouped); err != nil {
		return nil, err
	}
	return &Program{Name: t.Name, Mesh: t.Mesh, Inputs: t.Inputs, Outputs: t.Outputs,
		whole: m, device: device, grouped: grouped, dropped: t.Dropped}, nil
}

// Devices returns the number of devices of the mesh.
func (p *Program) Devices() int64 { return (&subaxis.Mesh{Axes: p.Mesh}).Devices() }

// private returns a copy of what a device runs, for writers that change it. What only prices need is not in it.
func private(device *shardmap.Program) *shardmap.Program {
	d := device.Clone()
	ir.ForgetTrips(d.Module)
	return d
}
