package autoshard_test

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"autoshard"
	"autoshard/cost"
	"autoshard/rewrites"
)

// linked is options for a chip on a torus whose links take as long as its matrix units, for models of any size.
func linked(t testing.TB) autoshard.PlanOptions {
	t.Helper()
	o := options(t)
	o.Hardware = cost.Hardware{Name: "linked", Matrix: cost.Rates{BF16: 1e11}, VectorFLOPs: 1e12, HBMBytes: 16e9, HBMBandwidth: 1e12,
		Dispatch: 1e-9, Torus: &cost.Torus{Link: 1e9, Shape: []int64{4, 4}, Wrap: cost.WrapFull, HopLatency: 1e-9}}
	o.Steps = 20_000_000
	return o
}

// permutes adds up what the plan's permutes send.
func permutes(p *autoshard.Plan) int64 {
	total := int64(0)
	for _, c := range p.Collectives {
		if c.Kind == "collective_permute" {
			total += c.Bytes
		}
	}
	return total
}

// A transformer whose products wait for collectives runs faster with rings, sends as much, and computes the same; what
// it reads back does, too.
func TestCollectiveMatmul(t *testing.T) {
	model := readModel(t, "examples/transformer_train_megatron_priorities.mlir")
	o := linked(t)
	o.Memory = 500_000
	rings := makePlan(t, model, o)
	o.Without = rewrites.Of(rewrites.CollectiveMatmul)
	serial := makePlan(t, model, o)
	switch {
	case permutes(serial) > 0:
		t.Error("there are rings where they are off")
	case permutes(rings) == 0:
		t.Error("there are no rings")
	case rings.Estimate.Seconds >= serial.Estimate.Seconds:
		t.Errorf("rings take %g s, without them it is %g s", rings.Estimate.Seconds, serial.Estimate.Seconds)
	case rings.Estimate.SentBytes != serial.Estimate.SentBytes:
		t.Errorf("rings send %d bytes, without them it is %d", rings.Estimate.SentBytes, serial.Estimate.SentBytes)
	case rings.Estimate.PeakBytes > o.Memory:
		t.Errorf("rings need %d bytes of %d", rings.Estimate.PeakBytes, o.Memory)
	}
	back, err := autoshard.ReadPlan(t.Context(), "plan.json", rings.JSON())
	if err != nil {
		t.Fatal(err)
	}
	const arrays = "examples/transformer_train"
	for _, p := range []*autoshard.Plan{rings, back} {
		check := verify(t, p, arrays+".in.npz", arrays+".out.npz", 1e-4)
		if len(check.Collectives) != len(rings.Collectives) {
			t.Errorf("%d collectives ran, the plan has %d", len(check.Collectives), len(rings.Collectives))
		}
	}
}

// Rings are the same on any number of cores.
func TestCollectiveMatmulIsDeterministic(t *testing.T) {
	m := readModel(t, "examples/transformer_train_megatron_priorities.mlir")
	var first []byte
	for _, procs := range []int{1, 7} {
		before := runtime.GOMAXPROCS(procs)
		got := makePlan(t, m, linked(t)).JSON()
		runtime.GOMAXPROCS(before)
		if first == nil {
			first = got
		} else if !bytes.Equal(got, first) {
			t.Errorf("GOMAXPROCS=%d gives other bytes than 1", procs)
		}
	}
}

// sharedFolder returns the folder of models, without which the test is skipped.
func sharedFolder(t *testing.T) string {
	t.Helper()
	shared := os.Getenv("AUTOSHARD_SHARED")
	if shared == "" {
		t.Skip("AUTOSHARD_SHARED is not set: it names the folder of models")
	}
	return shared
}

// Recorded models in a part of the memory that they need on one device run with rings as JAX ran them: float and integer products, in
// forward and backward passes, written by hand in annotations too. Microbatches would be faster for transformer_train.
func TestRecordedModelsWithRings(t *testing.T) {
	models := filepath.Join(sharedFolder(t), "models")
	parts := map[string]int64{"mlp_fwd": 4, "bf16_fwd": 4, "int8_matmul": 4, "transformer_train": 6, "transformer_train_megatron_sp": 4}
	for _, m := range recorded(t, models) {
		if parts[m.Name] == 0 {
			continue
		}
		model, o := readModel(t, filepath.Join(models, m.Name+".mlir")), linked(t)
		o.Steps = 2_000_000
		if m.Annotated {
			o.Mesh = nil
		}
		o.Memory = makePlan(t, model, o).Baselines[0].Estimate.PeakBytes / parts[m.Name]
		o.Without = rewrites.Of(rewrites.Microbatches)
		p := makePlan(t, model, o)
		if !strings.Contains(p.Program, "autoshard.ring") {
			t.Errorf("%s: there are no rings", m.Name)
		}
		t.Logf("%s: permutes send %d of %d bytes", m.Name, permutes(p), p.Estimate.SentBytes)
		verify(t, p, filepath.Join(models, m.Inputs), filepath.Join(models, m.Outputs), max(m.Tolerance, 1e-4))
	}
}

// On real chips large models gain, too.
func TestCollectiveMatmulOfLargeModel(t *testing.T) {
	model := readModel(t, filepath.Join(sharedFolder(t), "models", "llama3_8b_train_scan_fsdp_tp.mlir"))
	o := options(t)
	o.Mesh, o.Steps = nil, 50_000_000
	var err error
	if o.Hardware, err = cost.Lookup("tpu-v5p"); err != nil {
		t.Fatal(err)
	}
	rings := makePlan(t, model, o)
	o.Without = rewrites.Of(rewrites.CollectiveMatmul)
	serial := makePlan(t, model, o)
	if permutes(rings) <= permutes(serial) || rings.Estimate.Seconds >= serial.Estimate.Seconds {
		t.Errorf("rings send %d bytes and take %g s, without them it is %g s", permutes(rings), rings.Estimate.Seconds, serial.Estimate.Seconds)
	}
	t.Logf("%.4g s with rings, %.4g s without", rings.Estimate.Seconds, serial.Estimate.Seconds)
}

// The emitted plan runs with its rings on JAX.
func TestCollectiveMatmulOnJAX(t *testing.T) {
	python := os.Getenv("AUTOSHARD_PYTHON")
	if python == "" {
		t.Skip("AUTOSHARD_PYTHON is not set: it names a Python with jax")
	}
	o := linked(t)
	o.Memory = 500_000
	p := makePlan(t, readModel(t, "examples/transformer_train_megatron_priorities.mlir"), o)
	text, err := lowered(t, p).Emit(t.Context(), "jax")
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "lax.ppermute("); n == 0 {
		t.Error("the emitted program has no rings")
	}
	inputs, err := os.ReadFile("examples/transformer_train.in.npz")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "rings.py")
	for name, data := range map[string][]byte{file: text, file + ".in.npz": inputs} {
		if err := os.WriteFile(name, data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	runEmitted(t, python, []string{file})
	if err := compareFile(file, &emitCase{expected: "examples/transformer_train.out.npz", tolerance: 1e-4}); err != nil {
		t.Error(err)
	}
}
