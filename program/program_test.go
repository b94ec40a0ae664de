package program_test

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"autoshard/answer"
	"autoshard/backend/tensor"
	"autoshard/cost"
	"autoshard/cost/estimate"
	"autoshard/diag"
	"autoshard/ir/dtype"
	"autoshard/program"
)

// product waits for rows that four devices gather, in a ring.
const product = `sdy.mesh @mesh = <["x"=4]>
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %w: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> (tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %g = sdy.all_gather [{"x"}, {}] %x out_sharding=<@mesh, [{}, {}]> {autoshard.ring = "unidirectional"} : tensor<8x4xf32>
  %d = stablehlo.dot_general %g, %w, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  return %d : tensor<8x6xf32>
}
`

// read returns the program of one device of a partitioned text.
func read(t *testing.T, text string) *program.Program {
	t.Helper()
	m, _, err := program.Parse(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	inputs, outputs := answer.Tensors(m, func(int, int) bool { return false })
	p, err := program.Read(t.Context(), &program.Partitioned{Name: "product", Mesh: []answer.MeshAxis{{Name: "x", Size: 4}},
		Inputs: inputs, Outputs: outputs, Text: text})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// What does not fit a program, of a plan or typed, is said before anything runs it, in the words of a run.
func TestTakes(t *testing.T) {
	typed, err := program.ReadShardMap(t.Context(), "twice", []byte("shard_map @twice mesh=(x=4,) in_specs=(P('x'),) out_specs=(P('x'),)\n"+
		"lambda a:f32[2]\n  b:f32[2] = add a a\n  return b\n"))
	if err != nil {
		t.Fatal(err)
	}
	x, flat := tensor.New(dtype.F32, []int64{8}), tensor.New(dtype.F32, []int64{32})
	short := tensor.Tensor{DType: dtype.F32, Shape: []int64{8}, Data: x.Data[:4]}
	for _, c := range []struct {
		p      *program.Program
		inputs []*tensor.Tensor
		want   string
	}{
		{typed, nil, "takes 1 arguments"},
		{typed, []*tensor.Tensor{nil}, "input 0 (a, spec P('x')) is missing"},
		{typed, []*tensor.Tensor{&short}, "has 4 bytes of data, its type 32"},
		{read(t, product), []*tensor.Tensor{&x}, "takes 2 inputs"},
		{read(t, product), []*tensor.Tensor{&flat, &flat}, "input 0 is f32[32], the program takes f32[8,4]"},
	} {
		_, ran := c.p.Run(t.Context(), c.inputs)
		if err := c.p.Takes(c.inputs); !errors.Is(err, diag.ErrInvalid) || !strings.Contains(err.Error(), c.want) || ran.Error() != err.Error() {
			t.Errorf("got %v and, of a run, %v, want %q", err, ran, c.want)
		}
	}
	if err := typed.Takes([]*tensor.Tensor{&x}); err != nil {
		t.Error(err)
	}
}

// PerDevice makes the rings that a program asks for. Its estimate is the price of a step: times that add up, the largest memory, and
// the bytes of all collectives; the program that is read from the text has the same.
func TestEstimateOfStep(t *testing.T) {
	m, mesh, err := program.Parse(t.Context(), product)
	if err != nil {
		t.Fatal(err)
	}
	device, err := program.PerDevice(t.Context(), m, mesh)
	if err != nil || len(device.Rings) != 1 {
		t.Fatalf("%d rings, %v", len(device.Rings), err)
	}
	hw, err := cost.Lookup("tpu-v5e")
	if err != nil {
		t.Fatal(err)
	}
	model, err := estimate.New(hw, device.Mesh)
	if err != nil {
		t.Fatal(err)
	}
	step, err := model.Program(t.Context(), device)
	if err != nil {
		t.Fatal(err)
	}
	e := program.EstimateOf(device, &step)
	if math.Abs(e.ComputeSeconds+e.CollectiveSeconds-e.Seconds) > 1e-12 || e.Seconds*program.Picoseconds != float64(step.Total()) ||
		e.PeakBytes != step.Peak {
		t.Errorf("%+v is the price of %+v", e, step)
	}
	if want := int64(4 * 3 * 2 * 4 * 4); e.SentBytes != want { // to each of 4 devices the 2x4 numbers of 3 others
		t.Errorf("%d bytes are sent, want %d", e.SentBytes, want)
	}
	line, err := model.Simulate(t.Context(), device, program.DefaultAhead)
	if err != nil {
		t.Fatal(err)
	}
	overlap := program.OverlapOf(device, line, program.DefaultAhead, e.Seconds)
	if got := overlap.Seconds + overlap.Hidden; math.Abs(got-e.Seconds) > 1e-12 || overlap.Hidden <= 0 || len(overlap.Busy) == 0 {
		t.Errorf("beside other ops the ring leaves %+v of %g seconds", overlap, e.Seconds)
	}
	if again, err := read(t, product).Estimate(t.Context(), hw); err != nil || again != e {
		t.Errorf("read from the text, the program costs %+v, %v, not %+v", again, err, e)
	}
}

// A check that fails names the place of the element that is furthest from what was expected.
func TestWrongPlace(t *testing.T) {
	p := read(t, product)
	x, w := tensor.New(dtype.F32, []int64{8, 4}), tensor.New(dtype.F32, []int64{4, 6})
	expected := make([]float64, 48)
	expected[7*6+2], expected[0] = 5, 0.5
	want := tensor.FromFloats(dtype.F32, []int64{8, 6}, expected...)
	check, err := p.Verify(t.Context(), []*tensor.Tensor{&x, &w}, []*tensor.Tensor{&want}, program.Tolerance{})
	if !errors.Is(err, diag.ErrFinding) || check == nil || check.Passed || check.Outputs[0].Wrong == nil {
		t.Fatalf("%+v, %v", check, err)
	}
	wrong := check.Outputs[0].Wrong
	if wrong.Place() != "[7,2]" || wrong.Elements != 2 || wrong.Want != "5" || !strings.Contains(err.Error(), "[7,2]") {
		t.Errorf("wrong at %s: %+v, %v", wrong.Place(), wrong, err)
	}
}

// A shard_map program is told from MLIR by its first word behind comments, and MLIR that holds one by its manual computation.
func TestKindsOfTexts(t *testing.T) {
	for text, want := range map[string][2]bool{
		"# about it\n\n  shard_map @f mesh=(x=2,)": {true, false},
		"shard_maps @f":                   {false, false},
		"":                                {false, false},
		product:                           {false, false},
		`%0 = sdy.manual_computation(%x)`: {false, true},
		`{"program": "sdy.manual_computation(%arg0)"}`: {false, false},
	} {
		if got := [2]bool{program.IsShardMap([]byte(text)), program.IsManualComputation([]byte(text))}; got != want {
			t.Errorf("%q is a shard_map program and a manual computation: %v, want %v", text, got, want)
		}
	}
}

// A program is written in all forms. Those that hold its types are read back as the same program.
func TestFormsAreReadBack(t *testing.T) {
	p, err := program.ReadShardMap(t.Context(), "sum.shardmap", []byte(`shard_map @sum mesh=(x=2,) in_specs=(P('x'),) out_specs=(P(),)
lambda a:f32[4]
  v0:f32[4] = psum[axes=(x,)] a
  return v0
`))
	if err != nil {
		t.Fatal(err)
	}
	want, err := p.Emit(t.Context(), "shardmap")
	if err != nil {
		t.Fatal(err)
	}
	readBack := 0
	for _, form := range program.Forms() {
		text, err := p.Emit(t.Context(), form)
		if err != nil || len(text) == 0 {
			t.Errorf("%s: %v", form, err)
		}
		if form != "shardmap" && form != "sdy" {
			continue
		}
		again, err := program.ReadShardMap(t.Context(), "again", text)
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if got, err := again.Emit(t.Context(), "shardmap"); err != nil || string(got) != string(want) {
			t.Errorf("by way of %s it is\n%s, %v\nwant\n%s", form, got, err, want)
		}
		readBack++
	}
	if readBack != 2 {
		t.Errorf("%d forms of %v are read back", readBack, program.Forms())
	}
}

// Each stage of lowering is a program of its own: with the reshard of an operand, with the gather that this is, and with what one
// device does, which is a ring here. What asks for the ring is no part of the first two.
func TestStages(t *testing.T) {
	p := read(t, product)
	for stage, want := range map[string]string{
		"reshards":    "%0 = sdy.reshard %arg0 <@mesh, [{}, {}]> : tensor<8x4xf32>\n",
		"collectives": "%0 = sdy.all_gather [{\"x\"}, {}] %arg0 out_sharding=<@mesh, [{}, {}]> : tensor<8x4xf32>\n",
		"local":       "\"stablehlo.collective_permute\"(%arg0)",
	} {
		text, err := p.Stage(t.Context(), stage)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), want) || strings.Contains(string(text), "autoshard") {
			t.Errorf("stage %s is\n%s\nand has no\n%s", stage, text, want)
		}
	}
	if names := strings.Join(program.Stages(), ", "); names != "reshards, collectives, local" {
		t.Errorf("stages are %s", names)
	}
}

// sums are two that wait for nothing of each other.
const sums = `module attributes {autoshard.merged_bytes = 1024 : i64} {
  sdy.mesh @mesh = <["x"=4]>
  func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
    %0 = sdy.all_gather [{"x"}] %a out_sharding=<@mesh, [{}]> : tensor<8xf32>
    %1 = sdy.all_gather [{"x"}] %b out_sharding=<@mesh, [{}]> : tensor<4xf32>
    return %0, %1 : tensor<8xf32>, tensor<4xf32>
  }
}
`

// The last stage has every collective by itself, where the program that runs sends several as one.
func TestStageWithoutMergedCollectives(t *testing.T) {
	p := read(t, sums)
	merged, err := p.Emit(t.Context(), "stablehlo")
	if err != nil {
		t.Fatal(err)
	}
	apart, err := p.Stage(t.Context(), "local")
	if err != nil {
		t.Fatal(err)
	}
	const gather = "stablehlo.all_gather"
	if m, a := strings.Count(string(merged), gather), strings.Count(string(apart), gather); m != 1 || a != 2 {
		t.Errorf("%d gathers of the program, %d of the stage:\n%s\n%s", m, a, merged, apart)
	}
}

// There is no program on whole tensors behind a shard_map program, and no stage but those that are listed.
func TestNoSuchStage(t *testing.T) {
	blocks, err := program.ReadShardMap(t.Context(), "sum.shardmap", []byte(`shard_map @sum mesh=(x=2,) in_specs=(P('x'),) out_specs=(P(),)
lambda a:f32[2]
  b:f32[2] = psum[axes=(x,)] a
  return b
`))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := blocks.Stage(t.Context(), "local"); err != nil || !strings.Contains(string(text), "stablehlo.all_reduce") {
		t.Errorf("%v\n%s", err, text)
	}
	for _, test := range []struct {
		p     *program.Program
		stage string
	}{{blocks, "reshards"}, {blocks, "collectives"}, {read(t, product), "global"}} {
		if _, err := test.p.Stage(t.Context(), test.stage); !errors.Is(err, diag.ErrInvalid) {
			t.Errorf("stage %q: %v", test.stage, err)
		}
	}
}

// The shard_map program of a plan takes as long as the plan, and what it waits for adds up to the step, as the costs of its ops do.
func TestBreakdown(t *testing.T) {
	p := read(t, strings.Replace(product, " {autoshard.ring = \"unidirectional\"}", "", 1))
	text, err := p.Emit(t.Context(), "shardmap")
	if err != nil {
		t.Fatal(err)
	}
	typed, err := program.ReadShardMap(t.Context(), "product.shardmap", text)
	if err != nil {
		t.Fatal(err)
	}
	hw, err := cost.Lookup("h100")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []*program.Program{p, typed} {
		b, err := p.Breakdown(t.Context(), hw, program.DefaultAhead)
		if err != nil {
			t.Fatal(err)
		}
		groups, shares := 0.0, 0.0
		for _, g := range b.Groups {
			groups += g.Seconds
		}
		for _, s := range b.Shares {
			shares += s.Seconds
			if s.Doubled > b.Estimate.Seconds {
				t.Errorf("a step takes %v s, with %s twice as fast %v s", b.Estimate.Seconds, s.Resource, s.Doubled)
			}
		}
		if math.Abs(groups-b.Estimate.Seconds) > 1e-15 || math.Abs(shares-b.Estimate.Seconds) > 1e-15 {
			t.Errorf("ops take %v s, shares are %v s, the step is %v s", groups, shares, b.Estimate.Seconds)
		}
		if g := b.Groups[0]; g.Kind != "all_gather" || g.Axes != "x" || g.Type != "f32[8,4]" || g.Resource != cost.ResourceLatency {
			t.Errorf("the longest is %+v", g)
		}
		_, costs, err := p.Costs(t.Context(), hw)
		if err != nil {
			t.Fatal(err)
		}
		step, sent := int64(0), int64(0)
		for _, c := range costs {
			step, sent = step+c.Picoseconds, sent+c.Sent
		}
		if math.Abs(float64(step)/1e12-b.Estimate.Seconds) > 1e-15 || sent != b.Estimate.SentBytes || sent == 0 {
			t.Errorf("ops take %d ps and send %d bytes; a step is %+v", step, sent, b.Estimate)
		}
		if whole, err := p.Estimate(t.Context(), hw); err != nil || whole != b.Estimate {
			t.Errorf("estimates %+v and %+v, %v", whole, b.Estimate, err)
		}
	}
	one, err := p.Estimate(t.Context(), hw)
	if err != nil {
		t.Fatal(err)
	}
	if two, err := typed.Estimate(t.Context(), hw); err != nil || two != one {
		t.Errorf("the plan is %+v, its shard_map program %+v, %v", one, two, err)
	}
}

// What is held at the peak adds up to what the estimate says, class by class and along the curve, and inputs keep their names.
func TestMemory(t *testing.T) {
	hw, err := cost.Lookup("tpu-v5e")
	if err != nil {
		t.Fatal(err)
	}
	p := read(t, product)
	m, err := p.Memory(t.Context(), hw)
	if err != nil {
		t.Fatal(err)
	}
	e, err := p.Estimate(t.Context(), hw)
	if err != nil || m.PeakBytes != e.PeakBytes {
		t.Errorf("the peak is %d bytes, the estimate says %d, %v", m.PeakBytes, e.PeakBytes, err)
	}
	sum := func(list []int64) (n int64) {
		for _, b := range list {
			n += b
		}
		return n
	}
	most := int64(0)
	for _, s := range m.Curve {
		most = max(most, sum(s.Bytes))
	}
	if sum(m.AtPeak) != m.PeakBytes || most != m.PeakBytes || len(m.Again) != len(m.Classes) {
		t.Errorf("%d bytes at the peak, %d along the curve, want %d", sum(m.AtPeak), most, m.PeakBytes)
	}
	i := slices.IndexFunc(m.Largest, func(v program.HeldValue) bool { return v.Name == "arg1" })
	if i < 0 || m.Largest[i].Bytes != 96 || m.Largest[i].Class != "other inputs" || m.Padding <= 0 {
		t.Errorf("the largest are %+v, padding %d", m.Largest, m.Padding)
	}
}

// State that results replace is parameters where a product reads it, and an optimizer's otherwise.
func TestMemoryOfState(t *testing.T) {
	const text = `sdy.mesh @mesh = <["x"=4]>
func.func @main(%w: tensor<4x4xf32> {tf.aliasing_output = 0 : i32, sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %m: tensor<4x4xf32> {tf.aliasing_output = 1 : i32, sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> (tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %t = stablehlo.transpose %w, dims = [1, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %g = stablehlo.dot_general %w, %t, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %n = stablehlo.add %m, %g {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : tensor<4x4xf32>
  return %g, %n : tensor<4x4xf32>, tensor<4x4xf32>
}
`
	m, _, err := program.Parse(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	inputs, outputs := answer.Tensors(m, func(int, int) bool { return false })
	first, second := 0, 1
	outputs[0].Replaces, outputs[1].Replaces = &first, &second
	p, err := program.Read(t.Context(), &program.Partitioned{Name: "state", Mesh: []answer.MeshAxis{{Name: "x", Size: 4}}, Inputs: inputs,
		Outputs: outputs, Text: text})
	if err != nil {
		t.Fatal(err)
	}
	held, err := p.Memory(t.Context(), cost.Hardware{})
	if err != nil {
		t.Fatal(err)
	}
	if held.Classes[0] != "parameters" || held.Classes[1] != "optimizer state" || held.Donated != 128 {
		t.Errorf("classes %v, %d bytes are donated", held.Classes, held.Donated)
	}
}

// What a loop starts with and what it returns are one value in memory, which counts once among what the loop reads and writes.
func TestMemoryOfLoops(t *testing.T) {
	held, err := read(t, `sdy.mesh @mesh = <["x"=4]>
func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  %s = stablehlo.cosine %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : tensor<8xf32>
  %n = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>} dense<3> : tensor<i32>
  %w:2 = stablehlo.while(%i = %n, %v = %s) : tensor<i32>, tensor<8xf32>
    attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>, <@mesh, [{}]>]>}
    cond {
    %z = stablehlo.constant dense<0> : tensor<i32>
    %c = stablehlo.compare GT, %i, %z : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %o = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.subtract %i, %o : tensor<i32>
    %u = stablehlo.sine %v {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : tensor<8xf32>
    stablehlo.return %j, %u : tensor<i32>, tensor<8xf32>
  }
  %r = stablehlo.add %w#1, %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : tensor<8xf32>
  return %r : tensor<8xf32>
}
`).Memory(t.Context(), cost.Hardware{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range held.Curve {
		if slices.Min(s.Bytes) < 0 {
			t.Errorf("from op %d on %v bytes are held of %v", s.Op, s.Bytes, held.Classes)
		}
	}
}

// A timeline has the units and the links of a device as tracks, and each op of the simulated step as an event; that step is no longer than
// one op after the other.
func TestTimeline(t *testing.T) {
	hw, err := cost.Lookup("tpu-v5e")
	if err != nil {
		t.Fatal(err)
	}
	p := read(t, strings.Replace(product, " {autoshard.ring = \"unidirectional\"}", "", 1))
	text, err := p.Timeline(t.Context(), hw, program.DefaultAhead)
	if err != nil {
		t.Fatal(err)
	}
	var trace struct {
		TraceEvents []struct {
			Name, Ph string
			Ts, Dur  float64
			Tid      int
			Args     map[string]any
		}
	}
	if err := json.Unmarshal(text, &trace); err != nil {
		t.Fatal(err)
	}
	names, end := map[string]int{}, 0.0
	for _, e := range trace.TraceEvents {
		if e.Ph == "X" {
			names[e.Name] = e.Tid
			end = max(end, e.Ts+e.Dur)
		}
	}
	if tid, ok := names["dot_general"]; !ok || tid != 0 || names["all_gather over x"] == 0 {
		t.Errorf("events %+v", trace.TraceEvents)
	}
	b, err := p.Breakdown(t.Context(), hw, program.DefaultAhead)
	if err != nil || math.Abs(end*1e-6-b.Overlap.Seconds) > 1e-12 || b.Overlap.Seconds > b.Estimate.Seconds {
		t.Errorf("the timeline ends at %v us, the step takes %v s, %v s one op after the other, %v", end, b.Overlap.Seconds,
			b.Estimate.Seconds, err)
	}
	if s := b.Overlap.Stalls; len(s) != 1 || s[0].Kind != "all_gather" || s[0].Seconds != b.Estimate.CollectiveSeconds {
		t.Errorf("the units stand still for %+v", s)
	}
}
