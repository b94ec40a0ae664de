package autoshard_test

import (
	"context"
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"autoshard"
	"autoshard/backend/run"
	"autoshard/backend/tensor"
	verifier "autoshard/backend/verify"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/mlir"
	"autoshard/shardmap"
	"autoshard/shardmap/ring"
	"autoshard/subaxis"
)

var planted = flag.Int("planted", 200, "how many bugs are planted")

// plantedPlan is a plan whose program of one device gets bugs.
type plantedPlan struct {
	name    string
	whole   *ir.Module
	program *shardmap.Program
	inputs  [][]*tensor.Tensor // those recorded, then random ones
	outputs [][]*tensor.Tensor // of the right program
	ops     []ir.OpID
}

// Bugs planted into programs of one device are all found: each that changes a bit of an output on the recorded inputs or
// on random ones, by verifying the run on those inputs.
func TestPlantedBugs(t *testing.T) {
	shared := os.Getenv("AUTOSHARD_SHARED")
	if shared == "" {
		t.Skip("AUTOSHARD_SHARED is not set: it names the folder with recorded models")
	}
	plans := plantedPlans(t, shared)
	rng := rand.New(rand.NewPCG(11, 3))
	found, equivalent, counts := 0, 0, map[string]int{}
	for round := 0; found < *planted && round < 100**planted; round++ {
		mutation := &mutations[round%len(mutations)]
		p := plans[rng.IntN(len(plans))]
		x, op := p.plant(mutation, rng)
		if x == nil {
			continue
		}
		inputs := p.harmed(t, x)
		if inputs == nil {
			equivalent++
			continue
		}
		counts[mutation.name]++
		found++
		if result, err := verifier.Run(deadline(t), p.whole, x, inputs, verifier.Options{}); err == nil && result.Wrong == 0 {
			t.Errorf("%s: %s at %s: not found in %d values", p.name, mutation.name, p.program.Module.OpName(op), result.Values)
		}
	}
	if found < *planted {
		t.Errorf("%d bugs planted, want %d", found, *planted)
	}
	for _, m := range mutations {
		t.Logf("%3d  %s", counts[m.name], m.name)
	}
	t.Logf("%d bugs planted, %d changes that change no output left out", found, equivalent)
}

func deadline(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// plant returns the program with a bug at a random op that takes it, nil where none does or the program is not valid.
func (p *plantedPlan) plant(mutation *mutation, rng *rand.Rand) (*shardmap.Program, ir.OpID) {
	for _, k := range rng.Perm(len(p.ops)) {
		x := *p.program
		x.Module = p.program.Module.Clone()
		if mutation.plant(&mutant{x.Module, x.Mesh.Devices(), rng}, p.ops[k]) && ir.Verify(context.Background(), x.Module) == nil {
			return &x, p.ops[k]
		}
	}
	return nil, 0
}

// harmed returns the first inputs on which a program does not give the same bits as the right one, or does not run; nil for
// none, which makes the change no bug.
func (p *plantedPlan) harmed(t *testing.T, x *shardmap.Program) []*tensor.Tensor {
	for i, inputs := range p.inputs {
		ran, err := run.Program(deadline(t), x, inputs, run.Options{WholeWindows: true})
		if errors.Is(err, context.DeadlineExceeded) {
			return nil // a loop that does not end: nobody would miss it
		}
		if err != nil {
			return inputs
		}
		for k, out := range ran.Outputs {
			if !out.Equal(*p.outputs[i][k]) {
				return inputs
			}
		}
	}
	return nil
}

func plantedPlans(t *testing.T, shared string) (plans []*plantedPlan) {
	wanted := map[string]bool{"mlp_train/chosen": true, "mlp_train/fsdp": true, "gpt_train/data_tensor": true, "moe_train/chosen": true,
		"lstm_train/chosen": true, "bf16_train/data_tensor": true, "convnet_train/chosen": true, "moe_sort_fwd/data_expert": true,
		"gqa_decode/data_tensor": true, "dropout_train/chosen": true, "mlp_fwd/tensor_parallel": true}
	o := autoshard.PlanOptions{Hardware: slowProcessor(t), Steps: 20_000}
	for _, c := range recordedCases(t, shared, func(model, plan string) bool { return wanted[model+"/"+plan] }) {
		o.Mesh = c.mesh
		plans = append(plans, newPlantedPlan(t, c, o)...)
	}
	rings := map[string]bool{"mlp_fwd/chosen": true, "transformer_train_megatron_sp/chosen": true}
	for _, c := range recordedCases(t, shared, func(model, plan string) bool { return rings[model+"/"+plan] }) {
		r := linked(t)
		if c.mesh != nil && !slices.Equal(c.mesh, r.Mesh) {
			continue
		}
		r.Mesh, r.Steps = c.mesh, 2_000_000
		model, err := autoshard.ReadModel(t.Context(), c.name+".mlir", c.text)
		if err != nil {
			t.Fatal(err)
		}
		r.Memory = makePlan(t, model, r).Baselines[0].Estimate.PeakBytes / 4
		c.name += "-rings"
		plans = append(plans, newPlantedPlan(t, c, r)...)
	}
	key, err := os.ReadFile("testdata/verify/key_bias.mlir")
	if err != nil {
		t.Fatal(err)
	}
	o.Mesh, o.Memory = []subaxis.Axis{{Name: "data", Size: 2}, {Name: "model", Size: 2}}, 14_000
	return append(plans, newPlantedPlan(t, emitCase{name: "key_bias", text: key, inputs: "testdata/verify/key_bias.in.npz"}, o)...)
}

func newPlantedPlan(t *testing.T, c emitCase, o autoshard.PlanOptions) []*plantedPlan {
	model, err := autoshard.ReadModel(t.Context(), c.name+".mlir", c.text)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := autoshard.MakePlan(t.Context(), model, o)
	if err != nil {
		t.Fatal(err)
	}
	p := &plantedPlan{name: c.name}
	local, err := mlir.Parse(t.Context(), []byte(plan.Program), mlir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p.whole = local.Clone()
	if p.program, err = shardmap.Lower(t.Context(), local, ir.MeshID(local.NumMeshes()-1)); err == nil {
		err = ring.Rewrite(t.Context(), p.program)
	}
	if err == nil {
		err = shardmap.LowerAxes(t.Context(), p.program)
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(p.program.Collectives) == 0 {
		return nil
	}
	local.Walk(local.Func(p.program.Main).Body, func(op ir.OpID) {
		if verifierSees(local, op) {
			p.ops = append(p.ops, op)
		}
	})
	p.inputs = append(p.inputs, readArrays(t, c.inputs, plan.Inputs))
	for seed := range uint64(2) {
		p.inputs = append(p.inputs, shuffled(p.inputs[0], seed))
	}
	for _, inputs := range p.inputs {
		ran, err := run.Program(t.Context(), p.program, inputs, run.Options{WholeWindows: true})
		if err != nil {
			t.Fatal(err)
		}
		p.outputs = append(p.outputs, ran.Outputs)
	}
	return []*plantedPlan{p}
}

// verifierSees leaves out terminators and what the regions of reductions hold.
func verifierSees(m *ir.Module, op ir.OpID) bool {
	for around := m.ParentOp(op); m.Kind(around) != ir.OpFunc; around = m.ParentOp(around) {
		if k := m.Kind(around); k != ir.OpWhile && k != ir.OpIf && k != ir.OpCase {
			return false
		}
	}
	return !m.Kind(op).IsTerminator() && m.Kind(op) != ir.OpWhile
}

// shuffled returns inputs with their floats changed a little at random.
func shuffled(inputs []*tensor.Tensor, seed uint64) []*tensor.Tensor {
	rng := rand.New(rand.NewPCG(seed, 5))
	out := make([]*tensor.Tensor, len(inputs))
	for i, x := range inputs {
		out[i] = x
		if x.DType.Kind() == dtype.Float {
			values := append([]float64(nil), x.Floats()...)
			for k := range values {
				values[k] *= 0.9 + 0.2*rng.Float64()
			}
			y := tensor.FromFloats(x.DType, x.Shape, values...)
			out[i] = &y
		}
	}
	return out
}
