package autoshard

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"autoshard/answer"
	"autoshard/backend/mesh"
	"autoshard/backend/tensor"
	"autoshard/backend/verify"
	"autoshard/collectives"
	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/plan"
	"autoshard/shardmap"
	"autoshard/shardmap/emit"
	"autoshard/shardmap/refine"
	"autoshard/shardmap/transpose"
	"autoshard/shardmap/typed"
	"autoshard/subaxis"
)

// ShardMap is a shard_map program: what every device runs on its blocks, over named axes, with types that say along
// which axes each value varies. Inputs and Outputs are whole tensors.
//
//	program, err := plan.ShardMap(ctx)                      // of a plan
//	program, err := autoshard.ReadShardMap(ctx, file, text) // or of a text, which a person or JAX may have written
//	result, err := program.Run(ctx, inputs)
type ShardMap struct {
	Name     string
	Mesh     []MeshAxis
	Inputs   []Tensor
	Outputs  []Tensor
	Notes    []string     // about how it was made, for people
	Warnings []Diagnostic // about what is legal but probably not meant

	program *typed.Program
	mesh    *refine.Mesh // of the plan, and its refinement; nil for a text
	plan    *Plan        // where it comes from; nil for a text
}

// printForXLA prints a form of the program in MLIR with the names of the plan, which are no identifiers.
func (s *ShardMap) printForXLA(ctx context.Context, m *ir.Module) ([]byte, error) {
	inputs, outputs := s.Inputs, s.Outputs
	if s.plan != nil {
		inputs, outputs = s.plan.Inputs, s.plan.Outputs
	}
	return printForXLA(ctx, m, s.Name, s.program.Mesh.Devices(), nameList(inputs), nameList(outputs))
}

// shardMapOf describes a program.
func shardMapOf(p *typed.Program) *ShardMap {
	s := &ShardMap{Name: p.Name, program: p}
	for _, a := range p.Mesh.Axes {
		s.Mesh = append(s.Mesh, MeshAxis(a))
	}
	m := p.Module
	for i, param := range p.Params {
		t := m.TypeOf(param.Type)
		s.Inputs = append(s.Inputs, portOf(i, param.Name, t, t.Dims, m.ValueType(m.BlockArgs(p.Body())[i]), param.Spec))
	}
	for i, r := range p.Results {
		v := m.Operand(p.Return(), i)
		name := p.Names[v]
		if name == "" {
			name = fmt.Sprintf("out%d", i)
		}
		s.Outputs = append(s.Outputs, portOf(i, name, m.ValueType(v), p.GlobalDims(i), m.ValueType(v), r.Spec))
	}
	return s
}

func portOf(i int, name string, t *ir.Type, dims []int64, block *ir.Type, spec typed.Spec) Tensor {
	return Tensor{Index: i, Name: name, Type: answer.FormatType(t, dims), LocalType: answer.FormatType(block, block.Dims), Spec: spec.String(), Bytes: block.Bytes()}
}

// LowerToShardMap returns the plan's program as a shard_map program, on a mesh of whole axes where the plan uses parts of
// axes. Errors are of class diag.ErrUnsupported, at the op or input that such a program has no form for,
// or the context's.
func LowerToShardMap(ctx context.Context, p *Plan) (s *ShardMap, err error) {
	defer diag.Recover("emit", &err)
	program, err := lower(ctx, p)
	if err != nil {
		return nil, err
	}
	names := typed.Names{Program: p.Model}
	for i := range p.Inputs {
		names.Inputs = append(names.Inputs, p.Inputs[i].Name)
	}
	for i := range p.Outputs {
		names.Outputs = append(names.Outputs, p.Outputs[i].Name)
	}
	t, err := typed.FromDevice(ctx, program, names)
	if err != nil {
		return nil, plan.AtModel(program.Module, err)
	}
	s = shardMapOf(t.Program)
	s.Notes, s.mesh, s.plan = notesOf(t), t.Mesh, p
	return s, nil
}

// notesOf says what the text of a translated program does not.
func notesOf(t *typed.Translation) (notes []string) {
	for i, a := range t.Mesh.Coarse.Axes {
		fine := t.Mesh.Axes([]subaxis.Ref{t.Mesh.Coarse.Full(i)})
		if len(fine) < 2 {
			continue
		}
		parts := make([]string, len(fine))
		for k, axis := range fine {
			parts[k] = fmt.Sprintf("%s=%d", t.Mesh.Fine.Axes[axis].Name, t.Mesh.Fine.Axes[axis].Size)
		}
		notes = append(notes, fmt.Sprintf("%s=%d is refined to %s", a.Name, a.Size, strings.Join(parts, ", ")))
	}
	if t.Mesh.Coarse.DeviceIDs != nil {
		notes = append(notes, fmt.Sprintf("place k of the mesh is device %v[k]", t.Mesh.Coarse.DeviceIDs))
	}
	if t.Unchecked != nil {
		reason := strings.Join(strings.Fields(diag.Diagnostics(t.Unchecked)[0].Message), " ")
		if at := strings.Index(reason, ": output "); at >= 0 { // behind the return, which names all outputs
			reason = reason[at+2:]
		}
		notes = append(notes, "the check is off: "+reason)
	}
	return notes
}

// shardMapForms are the forms that a shard_map program can be written in.
var shardMapForms = []struct {
	name  string
	write func(context.Context, *ShardMap) ([]byte, error)
}{
	{"jax", func(ctx context.Context, s *ShardMap) ([]byte, error) { return emit.Typed(ctx, s.program, nil) }},
	{"stablehlo", func(ctx context.Context, s *ShardMap) ([]byte, error) {
		return s.printForXLA(ctx, s.program.Lower().Module)
	}},
	{"shardmap", func(_ context.Context, s *ShardMap) ([]byte, error) { return []byte(s.Text()), nil }},
	{"sdy", func(ctx context.Context, s *ShardMap) ([]byte, error) { return s.printForXLA(ctx, s.manual()) }},
}

// Emit writes the program in another form: as a Python file for JAX ("jax"), as the program of one device in StableHLO
// text ("stablehlo"), as its own text ("shardmap"), or as an sdy.manual_computation ("sdy"). Errors are of class
// diag.ErrInvalid for an unknown form, and diag.ErrUnsupported for a program that the form cannot hold; or they are the
// context's.
func (s *ShardMap) Emit(ctx context.Context, form string) (text []byte, err error) {
	defer diag.Recover("emit", &err)
	names := make([]string, len(shardMapForms))
	for i, f := range shardMapForms {
		if f.name == form {
			return f.write(ctx, s)
		}
		names[i] = f.name
	}
	return nil, diag.Invalid(diag.BadOption, diag.Position{}, "unknown form %q: forms are %s", form, strings.Join(names, ", "))
}

// Transpose returns the transpose of the program in the inputs of those names, in which it must be linear: it takes the
// cotangents of the outputs and then the other inputs, and returns the cotangents of these. Errors are of class
// diag.ErrInvalid for unknown inputs and a program that is not linear, and diag.ErrUnsupported for an op without a
// transpose.
func (s *ShardMap) Transpose(inputs []string) (*ShardMap, error) {
	return s.derived(transpose.Linear, inputs)
}

// Gradient returns the program of the derivatives of the only output, a scalar, by the inputs of those names: it takes
// the inputs of the program. Errors are like those of Transpose.
func (s *ShardMap) Gradient(inputs []string) (*ShardMap, error) {
	return s.derived(transpose.Gradient, inputs)
}

func (s *ShardMap) derived(derive func(*typed.Program, []int) (*typed.Program, error), inputs []string) (out *ShardMap, err error) {
	defer diag.Recover("transpose", &err)
	var numbers []int
	for _, name := range inputs {
		i := slices.IndexFunc(s.Inputs, func(t Tensor) bool { return t.Name == name })
		if i < 0 || slices.Contains(numbers, i) {
			names := make([]string, len(s.Inputs))
			for k := range names {
				names[k] = s.Inputs[k].Name
			}
			return nil, diag.Invalid(diag.BadOption, diag.Position{}, "no input is named %q, or it is named twice; inputs are %s", name, strings.Join(names, ", "))
		}
		numbers = append(numbers, i)
	}
	p, err := derive(s.program, numbers)
	if err != nil {
		return nil, err
	}
	out = shardMapOf(p)
	out.mesh = s.mesh
	return out, nil
}

// manual returns the program as a manual computation, on the mesh of the plan that it comes from.
func (s *ShardMap) manual() *ir.Module {
	if s.mesh == nil {
		return s.program.Export()
	}
	return s.program.ExportOver(s.mesh)
}

// Text returns the text of the program, with all casts, types, notes, and where known the places in the source.
func (s *ShardMap) Text() string {
	var b strings.Builder
	for _, note := range s.Notes {
		b.WriteString("# " + note + "\n")
	}
	b.WriteString(s.program.Format(typed.TextOptions{Sources: true}))
	return b.String()
}

// Run executes the program on virtual devices in this process and counts the bytes that collectives move.
func (s *ShardMap) Run(ctx context.Context, inputs []*tensor.Tensor) (result *RunResult, err error) {
	defer diag.Recover("run", &err)
	return s.run(ctx, inputs, nil)
}

// run is Run under the eyes of an observer, nil for none.
func (s *ShardMap) run(ctx context.Context, inputs []*tensor.Tensor, observe verify.Observer) (*RunResult, error) {
	args := make([]tensor.Tensor, len(inputs))
	for i, t := range inputs {
		args[i] = *t
	}
	run, err := s.program.Run(ctx, args, typed.RunOptions{WholeWindows: true, Observe: observe})
	if err != nil {
		return nil, err
	}
	result := &RunResult{Outputs: make([]*tensor.Tensor, len(run.Results))}
	for i := range run.Results {
		result.Outputs[i] = &run.Results[i]
	}
	result.Collectives = shardMapTraffic(s.program.Lower(), &run.Traffic)
	return result, nil
}

// shardMapTraffic compares the bytes that the collectives of a device's program moved with those of ring algorithms
// (specification: cost.md section 2.2).
func shardMapTraffic(d *typed.Device, traffic *mesh.Traffic) (checks []CollectiveCheck) {
	for _, t := range traffic.Collectives {
		kind, ok := map[ir.Kind]collectives.Kind{ir.OpAllGather: collectives.AllGather, ir.OpAllReduce: collectives.AllReduce,
			ir.OpReduceScatter: collectives.ReduceScatter, ir.OpAllToAll: collectives.AllToAll}[t.Kind]
		c := CollectiveCheck{Kind: strings.TrimPrefix(t.Kind.String(), "stablehlo."), Predicted: t.Bytes, Counted: t.Bytes}
		if ok && t.Group > 0 {
			size := int64(t.Group)
			ring := shardmap.Collective{Kind: kind, Groups: d.Mesh.Devices() / size, Size: size, Runs: t.Executions,
				Bytes: d.Module.ValueType(d.Module.Operand(t.Op, 0)).Bytes()}
			c.Predicted = ring.TotalBytes()
		}
		checks = append(checks, c)
	}
	return checks
}

// Compare compares the outputs of a run with expected ones, element by element. The relative part of the tolerance is one of
// the largest magnitude of an output; where it does not explain all, runs with moved roundings tell the noise of each element.
// A Check that did not pass comes with a diag.ErrFinding.
func (s *ShardMap) Compare(ctx context.Context, result *RunResult, inputs, expected []*tensor.Tensor, t Tolerance) (*Check, error) {
	check := &Check{Passed: true, Collectives: result.Collectives, Note: "a shard_map program has no unsharded form", Result: result, uncounted: result.Uncounted}
	if len(expected) != len(result.Outputs) {
		return nil, diag.Invalid(diag.BadInputs, diag.Position{}, "the program has %d outputs, %d are expected", len(result.Outputs), len(expected))
	}
	noise := s.noise(inputs, result.Outputs)
	for i, got := range result.Outputs {
		e := verify.RelativeError(got, expected[i], 0)
		o := OutputCheck{Index: i, Name: s.Outputs[i].Name, Passed: true, ExpectedError: &e}
		allowed := t.Abs + t.Rel*verify.Largest(expected[i])
		limit := func(_ float64, k int) float64 { return allowed + noiseShare*noise.Of[i][k] }
		wrong := verify.Over(got, expected[i], limit)
		for wrong != nil && noise.Runs < mostNoiseRuns {
			if err := noise.More(ctx); err != nil {
				return nil, err
			}
			wrong = verify.Over(got, expected[i], limit)
		}
		o.judge(wrong, "expected outputs")
		check.Passed = check.Passed && o.Passed
		check.Outputs = append(check.Outputs, o)
	}
	if !check.Passed {
		return check, check.finding()
	}
	return check, nil
}

// noise returns the noise of the program's outputs, for no run yet.
func (s *ShardMap) noise(inputs, outputs []*tensor.Tensor) *verify.Noise {
	return verify.NewNoiseOfRuns(s.program.Mesh.Devices(), outputs, func(ctx context.Context, observe verify.Observer) ([]*tensor.Tensor, error) {
		result, err := s.run(ctx, inputs, observe)
		if err != nil {
			return nil, err
		}
		return result.Outputs, nil
	})
}
