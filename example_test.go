package autoshard_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"slices"
	"strings"

	"autoshard"
	"autoshard/backend/tensor"
	"autoshard/cost"
	"autoshard/report"
	"autoshard/subaxis"
)

// A product of x, whose rows the user cuts along "data", with a weight.
const product = `sdy.mesh @mesh = <["data"=2, "model"=2]>
func.func @main(%x: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %w: tensor<8x6xf32>) -> tensor<4x6xf32> {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}
`

// A program over an axis of two devices, which add up their halves of a.
const sum = `shard_map @sum mesh=(x=2,) manual=(x,) check=true
  in_specs=(P('x'),)
  out_specs=(P(),)
lambda a:f32[4]
  b:f32[4] = psum[axes=(x,)] a
  return b
`

func exampleModel() *autoshard.Model {
	model, err := autoshard.ReadModel(context.Background(), "product.mlir", []byte(product))
	if err != nil {
		log.Fatal(err)
	}
	return model
}

func examplePlan() *autoshard.Plan {
	p, err := autoshard.MakePlan(context.Background(), exampleModel(), autoshard.PlanOptions{})
	if err != nil {
		log.Fatal(err)
	}
	return p
}

func exampleProgram() *autoshard.Program {
	p, err := examplePlan().Lowered(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	return p
}

// ones returns arrays of ones for a program.
func ones(p *autoshard.Program) []*tensor.Tensor {
	out := make([]*tensor.Tensor, len(p.Inputs))
	for i, in := range p.Inputs {
		dt, shape, _ := in.Shape()
		t := tensor.New(dt, shape)
		t = tensor.FromFloats(dt, shape, slices.Repeat([]float64{1}, t.Len())...)
		out[i] = &t
	}
	return out
}

func ExampleReadModel() {
	_, err := autoshard.ReadModel(context.Background(), "product.mlir", []byte(strings.Replace(product, `{"data"}`, `{"date"}`, 1)))
	if errors.Is(err, autoshard.ErrInvalid) {
		for _, d := range autoshard.Diagnostics(err) {
			fmt.Println(d.Pos.Line, d.Code, d.Message)
		}
	}
	// Output:
	// 2 AS1203 unknown axis name: "date"; mesh @mesh has "data", "model"; did you mean "data"?
}

func ExamplePropagate() {
	p, err := autoshard.Propagate(context.Background(), exampleModel(), autoshard.PropagateOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p.Outputs[0].Spec)
	fmt.Print(p.Trace.Text(-1))
	// Output:
	// P('data', None)
	// user priority 0
	//   op priority 2
	//     "data" moves from %arg0[0] to %0[0] through %0 = stablehlo.dot_general (product.mlir:3)
	//     "data" moves from %0[0] to result 0[0] through the function's result
}

func ExampleExplain() {
	x, err := autoshard.Explain(context.Background(), exampleModel(), autoshard.ExplainOptions{Value: "out0[0]"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(report.Explanation(x))
	// Output:
	// result 0: f32[4,6], result of func.func
	//
	// result 0[0] is sharded along "data"
	//   "data" is given at %arg0[0], as annotated at argument 0 (product.mlir:2)
	//   └ "data" moves from %arg0[0] to %0[0] through %0 = stablehlo.dot_general (product.mlir:3) [user priority 0, op priority 2]
	//   └ "data" moves from %0[0] to result 0[0] through the function's result [user priority 0, op priority 2]
}

func ExampleNewExplainer() {
	ctx := context.Background()
	e, err := autoshard.NewExplainer(ctx, exampleModel(), autoshard.PropagateOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, value := range e.Values() {
		x, err := e.Explain(ctx, value, "")
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s %s along %q\n", value, x.Type, x.Dims[0].Axes)
	}
	// Output:
	// %arg0 f32[4,8] along "\"data\""
	// %arg1 f32[8,6] along ""
	// %0 f32[4,6] along "\"data\""
	// result 0 f32[4,6] along "\"data\""
}

func ExampleMakePlan() {
	p, err := autoshard.MakePlan(context.Background(), exampleModel(), autoshard.PlanOptions{Memory: 1 << 20})
	if err != nil {
		log.Fatal(err)
	}
	for _, t := range p.Inputs {
		fmt.Println(t.Name, t.Spec, "of", t.Bytes, "bytes a device")
	}
	fmt.Println(p.Certificate.Status)
	// Output:
	// arg0 P('data', None) of 64 bytes a device
	// arg1 P(None, 'model') of 96 bytes a device
	// optimal
}

func ExampleMakePlan_infeasible() {
	_, err := autoshard.MakePlan(context.Background(), exampleModel(), autoshard.PlanOptions{Memory: 64})
	fmt.Println(errors.Is(err, autoshard.ErrInfeasible))
	for _, d := range autoshard.Diagnostics(err) {
		fmt.Println(d.Message)
		for _, n := range d.Notes {
			fmt.Println(" ", n.Message)
		}
	}
	// Output:
	// true
	// no plan found that fits in 64 B per device; the smallest limit known to work is 184 B, 120 B more
	//   no plan of those that were searched can need less than 112 B
	//   160 B of it are other inputs, the largest arg1 96 B, arg0 64 B
	//   24 B of it are computed values, the largest `stablehlo.dot_general` f32[2,3] (product.mlir:3) 24 B
	//   `--memory 184B` has a plan
	//   twice the devices along "data" would save up to 32 B of the inputs
	//   no plan of the batch in parts, of up to 4 microbatches, was found to need less
}

func ExampleReadPlan() {
	p, err := autoshard.ReadPlan(context.Background(), "plan.json", examplePlan().JSON())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p.Model, p.Mesh, p.Hardware)
	// Output:
	// product [data=2 model=2] tpu-v5e
}

func ExampleReadProgram() {
	p, err := autoshard.ReadProgram(context.Background(), "plan.json", examplePlan().JSON())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p.Name, "on", p.Devices(), "devices")
	// Output:
	// product on 4 devices
}

func ExampleReadShardMap() {
	ctx := context.Background()
	p, err := autoshard.ReadShardMap(ctx, "sum.shardmap", []byte(sum))
	if err != nil {
		log.Fatal(err)
	}
	result, err := p.Run(ctx, ones(p))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Outputs[0].Floats(), result.Collectives[0].Kind, result.Collectives[0].Counted, "bytes")
	// Output:
	// [2 2 2 2] all_reduce 32 bytes
}

func ExampleConvertSpec() {
	specs, err := autoshard.ConvertSpec(autoshard.SpecRequest{Text: "P('data', None)", From: "partition-spec", To: "gspmd",
		Axes: []subaxis.Axis{{Name: "data", Size: 2}, {Name: "model", Size: 2}}, Ranks: []int{2}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(specs[0].Spec)
	// Output:
	// {devices=[2,1,2]<=[4] last_tile_dim_replicate}
}

func ExampleProgram_run() {
	p := exampleProgram()
	result, err := p.Run(context.Background(), ones(p))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Outputs[0].Shape, result.Outputs[0].Floats()[0])
	// Output:
	// [4 6] 8
}

func ExampleProgram_verify() {
	p := exampleProgram()
	check, err := p.Verify(context.Background(), ones(p), nil, autoshard.Tolerance{})
	if err != nil { // of class ErrFinding where it did not pass
		log.Fatal(err)
	}
	fmt.Println(check.Passed, check.Proof.Exact, "of", check.Proof.Values, "values bit for bit")
	// Output:
	// true 1 of 1 values bit for bit
}

func ExampleProgram_emit() {
	text, err := exampleProgram().Emit(context.Background(), "shardmap")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(string(text))
	// Output:
	// shard_map @product mesh=(data=2, model=2) manual=(data, model) check=true
	//   in_specs=(P('data'), P(None, 'model'))
	//   out_specs=(P('data', 'model'),)
	// lambda arg0:f32[2,8]{data} arg1:f32[8,3]{model}
	//   c1:f32[2,8]{data,model} = pvary[axes=(model,)] arg0  # product.mlir:3
	//   c2:f32[8,3]{data,model} = pvary[axes=(data,)] arg1  # product.mlir:3
	//   out0:f32[2,3]{data,model} = dot_general[dot_dimension_numbers=(((1,), (0,)), ((), ()))] c1 c2  # product.mlir:3
	//   return out0
}

func ExampleProgram_estimate() {
	hardware, err := cost.Lookup("h100")
	if err != nil {
		log.Fatal(err)
	}
	e, err := exampleProgram().Estimate(context.Background(), hardware)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(e.PeakBytes, "bytes at the peak,", e.SentBytes, "sent")
	// Output:
	// 184 bytes at the peak, 0 sent
}

func ExampleProgram_transpose() {
	ctx := context.Background()
	p, err := autoshard.ReadShardMap(ctx, "sum.shardmap", []byte(sum))
	if err != nil {
		log.Fatal(err)
	}
	transpose, err := p.Derive(ctx, autoshard.Transpose, []string{"a"})
	if err != nil {
		log.Fatal(err)
	}
	result, err := transpose.Run(ctx, ones(transpose))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Outputs[0].Floats())
	// Output:
	// [1 1 1 1 1 1 1 1]
}
